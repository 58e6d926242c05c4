package machines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/targets"
)

// switches is the first switch with SONiC of an example, nil for none.
func switches(t *testing.T, example string) *made {
	t.Helper()
	all := compiled(t, example)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].target.Name == "sonic" {
			return all[name]
		}
	}
	return nil
}

// TestSONiC: what the examples say of SONiC applies on machines that take only
// what SONiC's models accept.
func TestSONiC(t *testing.T) {
	list, err := os.ReadDir("../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	some := 0
	for _, e := range list {
		if !e.IsDir() {
			continue
		}
		m := switches(t, e.Name())
		if m == nil {
			continue
		}
		some++
		if e.Name() == "storage" || e.Name() == "smb-direct" {
			continue // TestLive and TestApply have theirs
		}
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			x := begun(t, m)
			x.lay("a1")
			x.do("a1", targets.VerbBegin, targets.VerbChange, targets.VerbConfirm)
			if left := x.left(false); len(left) > 0 {
				t.Errorf("after the change:\n%s", strings.Join(left, "\n"))
			}
		})
	}
	if some < 4 {
		t.Errorf("%d switches", some)
	}
}

// TestSONiCRefuses: a value that the models do not accept stops the change with
// what the config updater says, and the switch is as it was.
func TestSONiCRefuses(t *testing.T) {
	t.Parallel()
	for what, words := range map[string][2]string{
		"a DSCP of 99":                  {`"48"`, `"99"`},
		"a profile that does not exist": {`"wred_profile": "`, `"wred_profile": "no`},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			x := begun(t, switches(t, "smb-direct"))
			shown := func() string {
				return run(t, x.machine, 0, "sonic-cfggen -d --print-data; cat /etc/sonic/config_db.json")
			}
			before, wrong := shown(), 0
			x.rebase()
			for i, a := range x.out.Artifacts {
				if strings.HasSuffix(a.Path, ".json") && bytes.Contains(a.Bytes, []byte(words[0])) {
					x.out.Artifacts[i].Bytes = bytes.ReplaceAll(a.Bytes, []byte(words[0]), []byte(words[1]))
					wrong++
				}
			}
			if wrong == 0 {
				t.Fatalf("nothing has %s", words[0])
			}
			x.laid("a1")
			x.do("a1", targets.VerbBegin)
			if code, out := x.verb(t, x.machine, targets.VerbChange, "a1"); code == 0 {
				t.Errorf("the change is taken: %s", out)
			}
			if log := run(t, x.machine, 0, "cat "+x.target.Live.Root+"/a1.state/log"); !strings.Contains(log, "Data Loading Failed") && !strings.Contains(log, "do not accept") {
				t.Errorf("the log does not say why:\n%s", log)
			}
			x.do("a1", targets.VerbRevert)
			if diff := cmp.Diff(before, shown()); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

// TestSONiCBack: on every branch and with both buffer models, a switch with the image's own QoS becomes what it shall, with the
// lossless groups of its priorities, speeds and cables and no others, and goes back to what it was, row by row.
func TestSONiCBack(t *testing.T) {
	for _, c := range []struct{ example, device, version string }{
		{"storage", "tor-a", "202605"},
		{"smb-direct", "tor", "202205"},
		{"smb-direct", "tor", "202505"},
		{"smb-direct", "tor", "202605"},
	} {
		t.Run(c.device+" "+c.version, func(t *testing.T) {
			t.Parallel()
			m := compiled(t, c.example)[c.device]
			m.d.OS.Version = c.version
			x := &trial{made: m, t: t} // on the clock of this computer: scripts wait for what the buffer manager does
			x.machine = m.machine(t, lab.Environment{User: User(m.target.Name), Faults: &x.faults})
			x.stock()
			shown := func() string {
				return run(t, x.machine, 0, "sonic-cfggen -d --print-data")
			}
			back := func(what, id string) {
				t.Helper()
				before := shown()
				x.lay(id)
				x.do(id, targets.VerbBegin, targets.VerbChange)
				if left := x.left(false); len(left) > 0 {
					t.Errorf("%s:\n%s", what, strings.Join(left, "\n"))
				}
				x.groups(what)
				x.do(id, targets.VerbRevert)
				if diff := cmp.Diff(before, shown()); diff != "" {
					t.Errorf("%s and back (-before +after):\n%s", what, diff)
				}
			}
			back("first change", "a1")
			x.lay("b2")
			x.do("b2", targets.VerbBegin, targets.VerbChange, targets.VerbConfirm)
			for i := range x.d.Ports {
				if p := &x.d.Ports[i]; p.CableMm.IsSet() {
					p.CableMm.Value += 40_000
				}
			}
			back("longer cables", "c3")
			plain := *x.d.QoSNamed(x.d.Ports[0].QoS)
			plain.Name, plain.PFC, plain.Lossless, plain.Watchdog = "plain", intent.Some(intent.PrioritySet(0)), 0, intent.Some(intent.Watchdog{})
			x.d.QoS = append(x.d.QoS, plain)
			x.d.Ports[0].QoS = plain.Name
			back("without PFC", "d4")
		})
	}
}

// stock gives a switch the QoS of its image, in the words of qos_config.j2 and buffers_config.j2.
func (x *trial) stock() {
	x.t.Helper()
	type rows map[string]map[string]string
	db := map[string]rows{
		"DSCP_TO_TC_MAP": {"AZURE": {"3": "3", "4": "4"}}, "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "14"}, "scheduler.1": {"type": "DWRR", "weight": "15"}},
		"CABLE_LENGTH": {"AZURE": {}}, "PORT_QOS_MAP": {}, "QUEUE": {}, "BUFFER_PG": {}, "BUFFER_QUEUE": {},
	}
	for _, p := range x.d.Ports {
		db["CABLE_LENGTH"]["AZURE"][p.Name] = "300m"
		db["PORT_QOS_MAP"][p.Name] = map[string]string{"dscp_to_tc_map": "AZURE", "pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"}
		db["BUFFER_PG"][p.Name+"|0"] = map[string]string{"profile": "ingress_lossy_profile"}
		if strings.HasPrefix(x.d.ASIC, "spectrum") {
			db["BUFFER_PG"][p.Name+"|3-4"] = map[string]string{"profile": "NULL"}
		}
		db["BUFFER_QUEUE"][p.Name+"|3-4"] = map[string]string{"profile": "egress_lossless_profile"}
		for _, queue := range []string{"0", "3", "4"} {
			db["QUEUE"][p.Name+"|"+queue] = map[string]string{"scheduler": "scheduler.1"}
		}
	}
	b, err := json.Marshal(db)
	if err == nil {
		err = x.machine.Disk().WriteFile("/var/tmp/stock.json", b, 0o644)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	run(x.t, x.machine, 0, "sudo config load -y /var/tmp/stock.json && sudo config save -y")
}

// groups demands that ports have lossless groups for their priorities with PFC and for no others, of their speed and cable.
func (x *trial) groups(when string) {
	x.t.Helper()
	var have map[string]map[string]string
	if err := json.Unmarshal([]byte(run(x.t, x.machine, 0, "sonic-cfggen -d --var-json BUFFER_PG")), &have); err != nil {
		x.t.Fatal(err)
	}
	for i := range x.d.Ports {
		p := &x.d.Ports[i]
		var got, want []string
		for key, row := range have {
			if strings.HasPrefix(key, p.Name+"|") && row["profile"] != "ingress_lossy_profile" {
				got = append(got, key+" "+row["profile"])
			}
		}
		profile := "NULL"
		if !strings.HasPrefix(x.d.ASIC, "spectrum") {
			profile = fmt.Sprintf("pg_lossless_%d_%dm_profile", p.Mbps.Value, (p.CableMm.Value+999)/1000)
		}
		for _, g := range x.d.QoSNamed(p.QoS).PFC.Value.List() {
			want = append(want, fmt.Sprintf("%s|%d %s", p.Name, g, profile))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			x.t.Errorf("%s: %s has the groups %q, wanted %q", when, p.Name, got, want)
		}
	}
}
