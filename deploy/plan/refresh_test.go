package plan_test

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
)

// Against the record: what moved is named, nothing is planned, and what was
// accepted before is what the next look is compared with.
func TestRefresh(t *testing.T) {
	was := leaf("tor", 3, nil)
	now := leaf("tor", 3, func(d *intent.Device) { d.Ports[0].MTU.Value, d.Ports[1].MTU.Value = 1500, 1500 })
	device := func(e *record.Entry, have *intent.Device) plan.Device {
		return plan.Device{
			Address: "switch.tor", Target: fake, Want: leaf("tor", 3, func(d *intent.Device) { d.Ports[2].MTU.Value = 4000 }),
			Recorded: e, Have: have, From: plan.FromDevice,
		}
	}
	o := plan.Options{RefreshOnly: true}
	entry := entryOf(was, "switch.tor", record.Applied)
	p := compute([]plan.Device{device(entry, now)}, o)
	if p.HasChanges() || !p.Moved() || p.DetailedExit() != 2 || p.Line() != "Refresh: 2 objects of 1 device differ from the record." {
		t.Errorf("%s, %+v", p.Line(), p.Changes)
	}
	out := text(t, p, plan.TextOptions{})
	for _, want := range []string{"Differs on the device, recorded -> found:", "  # switch.tor.port[\"swp[1-2]\"]  (2 ports, identical)\n  ~ mtu = 9000 -> 1500\n", p.Line() + "\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in:\n%s", want, out)
		}
	}
	parts := compare([]plan.Device{device(entry, now)}, o)
	if name, seen := parts[0].Moved(); name != "tor" || seen != now {
		t.Errorf("%s moved to %v", name, seen)
	}
	accepted := *entry
	accepted.Observed = now
	for _, d := range []plan.Device{device(&accepted, now), device(entry, was), device(nil, now), device(entry, nil)} {
		p := compute([]plan.Device{d}, o)
		if p.Moved() || p.DetailedExit() != 0 || text(t, p, plan.TextOptions{}) != "No changes. Your devices match the record.\n" || p.Line() != plan.NotMoved {
			t.Errorf("%+v", p.Drift)
		}
	}
	if p := compute([]plan.Device{device(&accepted, was)}, o); !p.Moved() {
		t.Error("it went back, and nobody says so")
	}
}

// A plan says where it knows devices from.
func TestFrom(t *testing.T) {
	d := leaf("tor", 1, nil)
	list := []plan.Device{
		{Address: "switch.a", Target: fake, Want: d},
		{Address: "switch.b", Target: fake, Want: d, Have: d},
		{Address: "switch.c", Target: fake, Want: d, Have: d, From: plan.FromDevice},
		{Address: "switch.d", Target: fake, Want: d, Have: d, From: plan.FromRecord},
		{Address: "switch.e", Target: fake, Want: d, From: plan.FromDevice}, // it was read, and showed nothing
	}
	p := compute(list, plan.Options{})
	if p.Read[plan.FromRecord] != 3 || p.Read[plan.FromCaptures] != 1 || p.Read[plan.FromDevice] != 1 {
		t.Errorf("%v", p.Read)
	}
	saved := plan.Snapshot("default", "", compare(list[2:3], plan.Options{}), p)
	if f := saved.Devices["tor"]; f.From != plan.FromDevice || f.Observed != intent.Digest(d) {
		t.Errorf("%+v", f)
	}
}
