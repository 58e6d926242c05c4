package rollout

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// TestMoved: what could not be seen before the change is no difference after the
// way back; what was at its default, or not there, is.
func TestMoved(t *testing.T) {
	at := func(change func(*intent.Device)) *intent.Device {
		d := &intent.Device{Kind: intent.Node, Name: "n1", Ports: []intent.Port{{Name: "nic", MTU: intent.Some(uint16(1500))}}}
		change(d)
		return d
	}
	for name, c := range map[string]struct {
		before, now func(*intent.Device)
		want        string
	}{
		"the same":      {func(*intent.Device) {}, func(*intent.Device) {}, ""},
		"another value": {func(*intent.Device) {}, func(d *intent.Device) { d.Ports[0].MTU = intent.Some(uint16(9000)) }, `node.s.nic["nic"].mtu is 9000, expected 1500`},
		"seen only now": {func(d *intent.Device) { d.Ports[0].MTU = intent.Opt[uint16]{} }, func(*intent.Device) {}, ""},
		"one more interface": {func(*intent.Device) {}, func(d *intent.Device) {
			d.Ifaces = append(d.Ifaces, intent.Iface{Name: "vlan100"})
		}, `node.s.interface["vlan100"] is there, and was not`},
		"one less": {func(d *intent.Device) { d.Ifaces = append(d.Ifaces, intent.Iface{Name: "vlan100"}) }, func(*intent.Device) {}, `node.s.interface["vlan100"] is missing`},
	} {
		before, now := at(c.before), at(c.now)
		packed, err := packDevice(before)
		if err != nil {
			t.Fatal(err)
		}
		u := &unit{device: &Device{Address: "node.s"}, base: intent.Digest(before), before: packed}
		if got := u.moved(now); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWithheld: what a transaction would not change is refused before one begins,
// unless nobody wants it written.
func TestWithheld(t *testing.T) {
	tg := &targets.Target{Impact: func(_ *intent.Device, c targets.Change) targets.Impact {
		return targets.Impact{Withheld: c.Path.Field == "mtu", Note: "it needs a restart"}
	}}
	at := func(mtu uint16, verify bool) *intent.Device {
		return &intent.Device{Kind: intent.Node, Name: "n1", Ports: []intent.Port{{Name: "nic", Verify: verify, Enabled: intent.Some(mtu < 2000), MTU: intent.Some(mtu)}}}
	}
	if got := withheld("node.s", at(9000, false), at(1500, false), tg); got != `node.s.nic["nic"].mtu: it needs a restart` {
		t.Errorf("%q", got)
	}
	for _, have := range []*intent.Device{at(9000, false), {Kind: intent.Node, Name: "n1", Ports: []intent.Port{{Name: "nic", MTU: intent.Some[uint16](9000)}}}} {
		if got := withheld("node.s", at(9000, false), have, tg); got != "" {
			t.Errorf("%q", got)
		}
	}
	if got := withheld("node.s", at(9000, true), at(1500, true), tg); got != "" {
		t.Errorf("of a port that is compared only: %q", got)
	}
}

// TestNothingLeft: a device of which a transaction would change nothing is refused before
// one begins, with what happened or what is to be run.
func TestNothingLeft(t *testing.T) {
	for name, c := range map[string]struct {
		files []emit.Artifact
		want  string // "" = it is changed
	}{
		"all is done":      {nil, "Saved plan is stale: nothing is left to do on it: it was changed, or what it runs was stored, since it was planned for; plan again"},
		"a window is left": {[]emit.Artifact{{Path: "w.sh", Step: emit.Maintenance, Run: "sudo ./w.sh"}, {Path: "back.sh", Step: emit.Rollback}}, "all that is left on it needs a maintenance window: there, run sudo ./w.sh of the bundle"},
		"something":        {[]emit.Artifact{{Path: "a.sh", Step: emit.Apply}, {Path: "w.sh", Step: emit.Maintenance, Run: "sudo ./w.sh"}}, ""},
	} {
		s := newSite(t, "a")
		d, patches, files := &s.plan.Devices[0], *fakeTarget, c.files
		patches.Rebase = func(*intent.Device, targets.Captured, *emit.Out) diag.List { return nil }
		whole := d.Make
		d.Target, d.Make = &patches, func(c targets.Captured) (*apply.Device, error) {
			made, err := whole(c)
			made.Artifacts = append(made.Artifacts, files...)
			return made, err
		}
		rep := s.run(t.Context())
		if c.want == "" && rep.Count(Applied) != 1 || c.want != "" && (rep.Count(Unchanged) != 1 || !strings.Contains(reportText(rep), c.want)) {
			t.Errorf("%s: %s", name, reportText(rep))
		}
	}
}
