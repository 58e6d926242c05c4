package plan_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/sonic"
	"github.com/rocec/rocec/targets/sonicent"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func text(t testing.TB, p *plan.Plan, o plan.TextOptions) string {
	t.Helper()
	var b strings.Builder
	if err := p.Text(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoldens(t *testing.T) {
	full := plan.Options{RocecVersion: "0.1.0", View: view(), Full: true}
	small := pod()[:1]
	tagged := func(name string) func(string) string {
		return func(s string) string { return "<" + name + ">" + s + "</>" }
	}
	style := plan.Style{Add: tagged("add"), Change: tagged("change"), Destroy: tagged("destroy"), Interrupt: tagged("!"), Read: tagged("read"), Heading: tagged("h"), Faint: tagged("faint")}
	golden(t, "pod.txt", text(t, compute(pod(), full), plan.TextOptions{}))
	golden(t, "mixed.txt", text(t, compute(mixed(), full), plan.TextOptions{}))
	golden(t, "mixed-verbose.txt", text(t, compute(mixed(), full), plan.TextOptions{Verbose: true}))
	golden(t, "long.txt", text(t, compute(small, full), plan.TextOptions{Verbose: true}))
	golden(t, "colour.txt", text(t, compute(mixed(), full), plan.TextOptions{Style: style}))
	golden(t, "none.txt", text(t, compute(nil, full), plan.TextOptions{}))
	var b, indented bytes.Buffer
	if err := compute(mixed(), full).JSON(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&indented, b.Bytes(), "", " "); err != nil {
		t.Fatal(err)
	}
	golden(t, "mixed.json", indented.String())
}

// The words that programs look for.
func TestWords(t *testing.T) {
	out := text(t, compute(pod(), plan.Options{}), plan.TextOptions{})
	for _, want := range []string{
		"rocec will perform the following actions:\n\n", "\nPlan: 0 to add, 256 to change, 1 to destroy.\n",
		"  # topology.pod1.leaf[0..7].port[\"swp[1-32]\"]  (256 ports, identical)\n", "! ~ pfc      = [3, 4] -> [3] ",
		"\nImpact: 256 ports interrupted on 8 devices.\n", "  # switch.old  (1 device)\n  - destroy  # no longer in configuration\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the plan lacks %q:\n%s", want, out)
		}
	}
	if got := text(t, compute(nil, plan.Options{}), plan.TextOptions{}); got != "No changes. Your fabric matches the configuration.\n" {
		t.Errorf("%q", got)
	}
}

func TestExit(t *testing.T) {
	if code := compute(pod(), plan.Options{}).DetailedExit(); code != 2 {
		t.Errorf("with changes %d", code)
	}
	var same []plan.Device
	for _, d := range mixed() {
		if d.Address == "switch.same" || strings.HasPrefix(d.Address, "switch.waiting") {
			same = append(same, d)
		}
	}
	p := compute(same, plan.Options{})
	if code := p.DetailedExit(); code != 0 || len(p.Awaiting) != 2 {
		t.Errorf("without changes %d, %d await confirmation", code, len(p.Awaiting))
	}
}

// Every list is there and never null, and before and after are null where
// nothing was or will be: what other programs rely on.
func TestJSONShape(t *testing.T) {
	for name, p := range map[string]*plan.Plan{"empty": compute(nil, plan.Options{}), "mixed": compute(mixed(), plan.Options{})} {
		var b bytes.Buffer
		if err := p.JSON(&b); err != nil {
			t.Fatal(err)
		}
		var top map[string]json.RawMessage
		if err := json.Unmarshal(b.Bytes(), &top); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"format_version", "rocec_version", "resource_changes", "drift", "summary", "awaiting"} {
			if v, ok := top[key]; !ok || string(v) == "null" {
				t.Errorf("%s: %s is %s", name, key, v)
			}
		}
		var list []struct {
			Address string
			Group   string
			Fields  []struct{ Name string }
			Change  struct {
				Actions       []string
				Before, After map[string]string
			}
		}
		if err := json.Unmarshal(top["resource_changes"], &list); err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if c.Address == "" || c.Group == "" || len(c.Change.Actions) == 0 || c.Fields == nil {
				t.Errorf("%s: %+v", name, c)
			}
			if slices.Equal(c.Change.Actions, []string{"create"}) != (c.Change.Before == nil) || slices.Equal(c.Change.Actions, []string{"delete"}) != (c.Change.After == nil) {
				t.Errorf("%s: %s %v has before %v, after %v", name, c.Address, c.Change.Actions, c.Change.Before, c.Change.After)
			}
		}
	}
}

// Equal intents make an empty plan, whether the device was captured or recorded.
func TestEqualIsEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn(t, "device")
		e := entryOf(d, "switch.x", record.Applied)
		for _, x := range []plan.Device{{Have: d}, {Recorded: e}, {Have: d, Recorded: e}} {
			x.Address, x.Target, x.Want = "switch.x", fake, d
			p := compute([]plan.Device{x}, plan.Options{})
			if p.HasChanges() || len(p.Drift) > 0 || len(p.Unseen) > 0 {
				t.Fatalf("%+v", p)
			}
		}
	})
}

// A plan from a to b names what one from b to a names, with before and after
// exchanged, up to the words for settings that are not managed.
func TestSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn(t, "a"), drawn(t, "b")
		forth, back := changes(a, b), changes(b, a)
		for k, v := range forth {
			if w, ok := back[k]; !ok || w != [2]string{v[1], v[0]} {
				t.Fatalf("%s: %q there, %q back", k, v, back[k])
			}
		}
		if len(forth) != len(back) {
			t.Fatalf("%d there, %d back", len(forth), len(back))
		}
		if (intent.Digest(a) == intent.Digest(b)) != (len(forth) == 0) {
			t.Fatalf("%d changes between %s and %s", len(forth), intent.Digest(a), intent.Digest(b))
		}
	})
}

func changes(from, to *intent.Device) map[string][2]string {
	p := compute([]plan.Device{{Address: "switch.x", Target: fake, Want: to, Recorded: entryOf(from, "switch.x", record.Applied)}}, plan.Options{})
	plain := func(s string) string {
		if strings.HasPrefix(s, "(") || s == intent.AtDefault {
			return ""
		}
		return s
	}
	m := map[string][2]string{}
	for _, c := range p.Changes {
		if c.Action != plan.Update {
			m[c.Address] = map[plan.Action][2]string{plan.Create: {"", "x"}, plan.Delete: {"x", ""}}[c.Action]
			continue // a new object states its fields, one that goes does not
		}
		for i, f := range c.Fields {
			if i > 0 && c.Fields[0].Name == "manage" {
				break // a port that is new states its fields, one that is left alone does not
			}
			m[c.Address+" "+f.Name] = [2]string{plain(f.Before), plain(f.After)}
		}
	}
	return m
}

func drawn(t *rapid.T, label string) *intent.Device {
	return leaf("x", rapid.IntRange(0, 5).Draw(t, label+" ports"), func(d *intent.Device) {
		d.VLANs = d.VLANs[:rapid.IntRange(0, 2).Draw(t, label+" vlans")]
		for i := range d.Ports {
			p := &d.Ports[i]
			p.MTU = rapid.SampledFrom([]intent.Opt[uint16]{{}, intent.Some(uint16(1500)), intent.Some(uint16(9000))}).Draw(t, label+" mtu")
			p.CableMm = rapid.SampledFrom([]intent.Opt[uint32]{{}, intent.Some(uint32(1000)), intent.Some(uint32(3000))}).Draw(t, label+" cable")
		}
		d.QoS[0].PFC = rapid.SampledFrom([]intent.Opt[intent.PrioritySet]{{}, intent.Some(intent.PrioritySet(8)), intent.Some(intent.PrioritySet(24))}).Draw(t, label+" pfc")
	})
}

// Whatever the order of the devices, the plan is the same.
func TestOrder(t *testing.T) {
	want := text(t, compute(mixed(), plan.Options{}), plan.TextOptions{})
	rapid.Check(t, func(rt *rapid.T) {
		if got := text(t, compute(rapid.Permutation(mixed()).Draw(rt, "order"), plan.Options{}), plan.TextOptions{}); got != want {
			rt.Fatalf("another order, another plan:\n%s", cmp.Diff(want, got))
		}
	})
}

// Names and values of users and devices reach a terminal as printable text.
func TestHostileText(t *testing.T) {
	evil := "x\x1b[2J\u202e\"]\n+ create"
	d := leaf("tor", 1, func(d *intent.Device) {
		d.Ports[0].Name = evil
		d.LAGs = []intent.LAG{{Name: evil, Mode: evil, Hash: evil}}
	})
	old := leaf("tor", 1, func(d *intent.Device) { d.Ports[0].Name, d.Ports[0].MTU.Value = evil, 1500 })
	p := compute([]plan.Device{
		{Address: "switch.tor", Target: fake, Selected: evil, Want: d, Recorded: entryOf(old, "switch.tor", record.Applied)},
		{Address: "switch.new", Target: fake, Selected: evil, Want: d},
	}, plan.Options{Full: true})
	for _, verbose := range []bool{false, true} {
		out := text(t, p, plan.TextOptions{Verbose: verbose})
		if strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(out, `\x1b`) || strings.Contains(out, "\n+ create") {
			t.Errorf("%q", out)
		}
	}
}

// Against a real target: PFC of a QoS interrupts the ports that name it, and
// what a capture of a matching device shows makes no changes.
func TestSonic(t *testing.T) {
	d := &intent.Device{
		Version: intent.Version, Name: "tor", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202405"}, ASIC: "trident3",
		QoS: []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(8))}},
	}
	for i := range 3 {
		d.Ports = append(d.Ports, intent.Port{Name: fmt.Sprintf("Ethernet%d", 4*i), MTU: intent.Some(uint16(9100)), Mbps: intent.Some(uint32(100000)), QoS: "roce"})
	}
	capture := func(pfc, speed string) *intent.Device {
		rows := func(value string) string {
			var list []string
			for i := range 3 {
				list = append(list, fmt.Sprintf(`"Ethernet%d": %s`, 4*i, value))
			}
			return "{" + strings.Join(list, ", ") + "}"
		}
		db := `{"PORT": ` + rows(`{"mtu": "9100", "speed": "`+speed+`"}`) + `, "PORT_QOS_MAP": ` + rows(`{"pfc_enable": "`+pfc+`"}`) + "}"
		seen, findings := sonic.Target.Parse(d, targets.Captured{Files: map[string][]byte{"running-config.json": []byte(db)}})
		if seen == nil || findings.HasErrors() {
			t.Fatalf("%+v", findings)
		}
		return seen
	}
	p := compute([]plan.Device{{Address: "switch.tor", Target: &sonic.Target, Want: d, Have: capture("3,4", "40000")}}, plan.Options{})
	golden(t, "sonic.txt", text(t, p, plan.TextOptions{}))
	if p.Summary.Interrupted[intent.OfPort] != 3 {
		t.Errorf("%+v", p.Summary)
	}
}

// A first configuration counts fields; what stops the whole device is said of it.
func TestCreateSaysWhatStopsTheDevice(t *testing.T) {
	d := &intent.Device{
		Version: intent.Version, Name: "leaf", Kind: intent.Switch, OS: intent.OS{Name: "sonic-enterprise", Version: "4.2"}, ASIC: "tomahawk3",
		QoS:   []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(8))}},
		Ports: []intent.Port{{Name: "Ethernet0", QoS: "roce"}},
	}
	out := text(t, compute([]plan.Device{{Address: "switch.leaf", Target: &sonicent.Target, Want: d}}, plan.Options{}), plan.TextOptions{})
	if !strings.Contains(out, "buffer init lossless saves the configuration and reboots the switch") {
		t.Error(out)
	}
	d.QoS[0].PFC = intent.Some(intent.PrioritySet(0))
	out = text(t, compute([]plan.Device{{Address: "switch.leaf", Target: &sonicent.Target, Want: d}}, plan.Options{}), plan.TextOptions{})
	if strings.Contains(out, "reboots") {
		t.Error(out)
	}
}

func TestSaved(t *testing.T) {
	devices := mixed()
	p := compute(devices, plan.Options{RocecVersion: "0.1.0", View: view(), Full: true})
	path := filepath.Join(t.TempDir(), "a.rocplan")
	if err := plan.Snapshot("default", record.Digest(nil), compare(devices, plan.Options{}), p).Save(path); err != nil {
		t.Fatal(err)
	}
	s, err := plan.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, s.Plan, cmpopts.IgnoreUnexported(plan.Field{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the plan changed in its file (-saved +loaded):\n%s", diff)
	}
	o := plan.TextOptions{Verbose: true}
	if diff := cmp.Diff(text(t, p, o), text(t, s.Plan, o)); diff != "" {
		t.Error(diff)
	}
	if err := s.Stale(plan.Snapshot("default", record.Digest(nil), compare(mixed(), plan.Options{}), p)); err != nil {
		t.Errorf("nothing moved: %v", err)
	}
	moved := mixed()
	moved[0].Want.Ports[0].MTU.Value = 1500             // intent
	moved[1].Version = "sha256:1"                       // record
	moved[2].Artifacts["apply.sh"] = record.Digest(nil) // emitter
	moved[6].Have.Ports[0].MTU.Value = 1                // device
	moved = slices.Delete(moved, 5, 6)                  // gone
	moved = append(moved, plan.Device{Address: "switch.z", Want: leaf("z", 1, nil)})
	s.Plan.Variables = map[string]string{"gone": "sha256:1", "other": "sha256:1", "same": "sha256:1"}
	p.Variables = map[string]string{"new": "sha256:1", "other": "sha256:2", "same": "sha256:1"}
	err = s.Stale(plan.Snapshot("default", record.Digest([]byte("x")), compare(moved, plan.Options{}), p))
	want := "Saved plan is stale: the sources have changed; variable gone is not given; variable new is given, and was not; variable other has another value; new: switch.z; gone: switch.same; the intent has changed of switch.new; " +
		"the artifacts have changed of switch.files; what was captured has changed of switch.captured; the record has changed of switch.replaced"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestLoadRefuses(t *testing.T) {
	p := compute(nil, plan.Options{})
	path := filepath.Join(t.TempDir(), "a.rocplan")
	if err := plan.Snapshot("default", "", compare(nil, plan.Options{}), p).Save(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	good := string(b)
	for name, c := range map[string]struct{ text, want string }{
		"half":        {good[:len(good)/2], "line 1, column"},
		"other file":  {`{"format_version":"1.0"}`, "it is not a saved plan"},
		"next major":  {strings.Replace(good, `"format_version":"1.0"`, `"format_version":"2.0"`, 1), `it is "2.0", known is "1.0"`},
		"next inside": {strings.Replace(good, `"plan":{"format_version":"1.0"`, `"plan":{"format_version":"2.0"`, 1), `it is "2.0", known is "1.0"`},
		"no plan":     {`{"kind":"rocec plan","format_version":"1.0"}`, "it holds no plan"},
		"bad device":  {strings.Replace(good, `"devices":{}`, `"devices":{"../x":{}}`, 1), `device name "../x"`},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Load(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
	if _, err := plan.Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a plan that is not there is loaded")
	}
}

func FuzzSaved(f *testing.F) {
	devices := mixed()
	path := filepath.Join(f.TempDir(), "a.rocplan")
	err := plan.Snapshot("default", "", compare(devices, plan.Options{}), compute(devices, plan.Options{})).Save(path)
	if err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"kind":"rocec plan","format_version":"1.0","plan":{"format_version":"1.0","resource_changes":[{"object":"port"},{"object":"port"}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := plan.DecodeSaved(b)
		if err != nil {
			return
		}
		_ = text(t, s.Plan, plan.TextOptions{})
		_ = s.Stale(s)
	})
}

func BenchmarkCompute(b *testing.B) {
	var list []plan.Device
	for i := range 100 {
		name := fmt.Sprintf("leaf%d", i)
		list = append(list, plan.Device{Address: "switch." + name, Target: fake, Want: leaf(name, 64, nil), Recorded: entryOf(leaf(name, 64, oldLeaf), "switch."+name, record.Applied)})
	}
	b.ReportAllocs()
	for b.Loop() {
		p := compute(list, plan.Options{})
		if p.Summary.Change != 6400 {
			b.Fatal(p.Summary)
		}
	}
}

// An expected version that a device does not have is drift and no change.
func TestExpected(t *testing.T) {
	device := func(firmware string) *intent.Device {
		return &intent.Device{Version: intent.Version, Name: "tor", Kind: intent.Switch, Firmware: firmware, Ports: []intent.Port{{Name: "Ethernet0", MTU: intent.Some(uint16(9100))}}}
	}
	for have, drift := range map[string]int{"28.43.2026": 0, "28.44.1": 1} {
		p := compute([]plan.Device{{Address: "switch.tor", Target: &sonic.Target, Want: device("28.43.*"), Have: device(have)}}, plan.Options{})
		if len(p.Changes) > 0 || len(p.Drift) != drift {
			t.Errorf("%s: changes %+v, drift %+v", have, p.Changes, p.Drift)
		}
		if drift > 0 && p.Drift[0].Note != "expected, never installed" {
			t.Errorf("%s: %+v", have, p.Drift[0])
		}
	}
	created := compute([]plan.Device{{Address: "switch.tor", Target: &sonic.Target, Want: device("28.43.*")}}, plan.Options{})
	if out := text(t, created, plan.TextOptions{Verbose: true}); strings.Contains(out, "firmware") {
		t.Errorf("a plan that installs firmware:\n%s", out)
	}
}
