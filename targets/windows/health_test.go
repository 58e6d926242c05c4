package windows

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
)

// counters are what health.ps1 prints on a host, read for its device.
func counters(t *testing.T, name string, faults *lab.Faults) *targets.Vitals {
	t.Helper()
	d, h := hostFor(name)
	h.Dropped = func(counter string) uint64 { return faults.Count(lab.FaultDrops, counter) }
	h.PFC[3] = true
	for _, n := range h.NICs {
		n.WinOF = d.Ports[0].NIC.Driver == "mlx5"
	}
	code, lines, out := h.Run(scripts(d), healthFile, nil)
	expect(t, healthFile, 0, code, lines)
	if len(h.Changes) > 0 {
		t.Errorf("it changes %v", h.Changes)
	}
	v, found := health.Read(d, targets.Captured{Files: map[string][]byte{counted: []byte(out[0].(string))}})
	if len(found) > 0 {
		t.Fatal(found)
	}
	return v
}

// Counters of a host: those of WinOF-2 by port and priority, and none where a
// driver brings none.
func TestHealth(t *testing.T) {
	faults := &lab.Faults{}
	before := counters(t, "s2d", faults)
	if n := len(before.Ports); n != 2 {
		t.Fatalf("counters of %d ports", n)
	}
	want := map[targets.Counter]uint64{}
	for priority := range int8(8) {
		for _, of := range []targets.Count{targets.PauseReceived, targets.PauseSent, targets.Discarded} {
			want[targets.Counter{Of: of, Priority: priority}] = 0
		}
	}
	for _, of := range []targets.Count{targets.Uncorrected, targets.Marked, targets.CNPSent, targets.OutOfSequence, targets.AckTimeouts} {
		want[targets.Counter{Of: of, Priority: targets.NoPriority}] = 0
	}
	if diff := cmp.Diff(want, before.Ports["smb_a"].Counters); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	faults.Inject(lab.Fault{Kind: lab.FaultDrops})
	after := counters(t, "s2d", faults)
	if n := after.Ports["smb_b"].Counters[targets.Counter{Of: targets.Discarded, Priority: 3}]; n == 0 {
		t.Error("what is dropped is not counted")
	}
	if n := after.Ports["smb_b"].Counters[targets.Counter{Of: targets.Discarded, Priority: 4}]; n != 0 {
		t.Errorf("%d frames are dropped in another priority", n)
	}
	if v := counters(t, "iwarp", faults); len(v.Ports) != 0 {
		t.Errorf("a driver without counters has those of %v", v.Ports)
	}
}

// What a set calls its instances leads to one port and one priority, or to none.
func TestHealthInstances(t *testing.T) {
	adapters := `"Adapters":[{"Name":"smb_a","InterfaceDescription":"NVIDIA ConnectX-6 Dx (A)"},{"Name":"smb_b","InterfaceDescription":"NVIDIA ConnectX-6 Dx (A) #2"},` +
		`{"Name":"Twin 1","InterfaceDescription":"Twin"},{"Name":"Twin 2","InterfaceDescription":"Twin"}]`
	for instance, want := range map[string]string{
		"smb_a Priority 3":                    "smb_a 3",
		"SMB_A, priority 3":                   "smb_a 3",
		"Priority 5: smb_b":                   "smb_b 5",
		"NVIDIA ConnectX-6 Dx [A] - 3":        "smb_a 3",
		"NVIDIA ConnectX-6 Dx [A] _2 - Prio4": "smb_b 4",
		"smb_a":                               "",
		"smb_a Priority 8":                    "",
		"smb_a Priority 3 of 8":               "",
		"smb_a Priority 33":                   "",
		"Twin Priority 3":                     "",
		"_Total":                              "",
		"":                                    "",
	} {
		name, err := json.Marshal(instance)
		if err != nil {
			t.Fatal(err)
		}
		text := `{"Schema":1,"Computer":"N1",` + adapters + `,"PortQoS":{"Name":` + string(name) + `,"RcvPauseFrames":"18446744073709551615"}}`
		v, found := health.Read(s2d(), targets.Captured{Files: map[string][]byte{counted: []byte(text)}})
		if len(found) > 0 {
			t.Fatal(found)
		}
		got := ""
		for port, p := range v.Ports {
			for c, n := range p.Counters {
				if n != 1<<64-1 || c.Of != targets.PauseReceived {
					t.Errorf("%s: %v %d", instance, c, n)
				}
				got += port + " " + string(rune('0'+c.Priority))
			}
		}
		if got != want {
			t.Errorf("%q is of %q, wanted %q", instance, got, want)
		}
	}
	for text, says := range map[string]string{"{": "cannot be read", `{"Schema":2}`: "schema is 2", `{"Schema":1,"PortQoS":7}`: "cannot be read"} {
		if v, found := health.Read(s2d(), targets.Captured{Files: map[string][]byte{counted: []byte(text)}}); v != nil || len(found) != 1 || !strings.Contains(found[0].Summary, says) {
			t.Errorf("%s: %v %v", text, v, found)
		}
	}
	if v, found := health.Read(s2d(), targets.Captured{}); v == nil || len(found) > 0 {
		t.Errorf("without a capture: %v %v", v, found)
	}
}

// Every counter that is read is a property of its class, and health.ps1 asks for it.
func TestHealthNamesAreCIMProperties(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(oracle.Dir(t), "windows-cim-classes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var db struct {
		Classes map[string]struct{ Properties map[string]string }
	}
	if err := json.Unmarshal(b, &db); err != nil {
		t.Fatal(err)
	}
	script := assemble("health")
	names := 0
	for _, list := range []map[string]targets.Count{ofPriority, ofPort} {
		for name := range list {
			found := false
			for class, c := range db.Classes {
				if end, ok := strings.CutPrefix(class, "Win32_PerfFormattedData_"); ok && c.Properties[name] == "uint64" && strings.Contains(script, "'"+end+"' -Name ") {
					_, line, _ := strings.Cut(script, "'"+end+"' -Name ")
					line, _, _ = strings.Cut(line, ")")
					found = found || strings.Contains(line, "'"+name+"'")
				}
			}
			if !found {
				t.Errorf("%s is no property of the class that is read", name)
			}
			names++
		}
	}
	if names < 9 {
		t.Errorf("only %d counters", names)
	}
}

func FuzzHealth(f *testing.F) {
	f.Add([]byte(`{"Schema":1,"Computer":"N1","Adapters":[{"Name":"smb_a"}],"PortQoS":[{"Name":"smb_a Priority 3","RcvPauseFrames":"1"}]}`))
	f.Add([]byte(`{"Schema":1,"Adapters":{"Name":"smb_a"},"Diagnostics":{"Name":"smb_a","RequesterTimeoutReceived":7}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, found := health.Read(s2d(), targets.Captured{Files: map[string][]byte{counted: b}})
		if (v == nil) != found.HasErrors() {
			t.Errorf("vitals %v with %v", v, found)
		}
		if v != nil {
			for name := range v.Ports {
				if s2d().PortNamed(name) == nil {
					t.Errorf("counters of %q", name)
				}
			}
		}
	})
}

// Over a session the program that counts is put on the host and started, as that
// of the settings is.
func TestHealthIsAsked(t *testing.T) {
	for _, tg := range []*targets.Target{&Target, &NetworkATC} {
		ask := tg.Asking(tg.Health.Capture, tg.Health.Probes...)
		var out emit.Out
		ask.Emit(s2d(), &out)
		there := 0
		for _, k := range out.Kits {
			for _, a := range k.Artifacts {
				if a.Path == ask.Capture {
					there++
				}
			}
		}
		if ask.Capture != healthFile || there != 1 {
			t.Errorf("%s asks with %q, of which the kit has %d", tg.Name, ask.Capture, there)
		}
	}
}
