package sonic

import (
	"slices"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// TestImpactShuts: a plan says that ports go down exactly where the patch has rows for
// which the config updater shuts them, the two models of buffers and an old and a new
// branch alike.
func TestImpactShuts(t *testing.T) {
	for what, change := range map[string]func(d *intent.Device, q *intent.QoS){
		"nothing": func(*intent.Device, *intent.QoS) {},
		"PFC on another priority": func(_ *intent.Device, q *intent.QoS) {
			q.PFC, q.Lossless = intent.Some(intent.PrioritySet(1<<4)), 1<<4
			q.Group.Value[4] = 4
		},
		"PFC off": func(_ *intent.Device, q *intent.QoS) {
			q.PFC, q.Lossless, q.Watchdog = intent.Some(intent.PrioritySet(0)), 0, intent.Some(intent.Watchdog{})
		},
		"trust":               func(_ *intent.Device, q *intent.QoS) { q.Trust = intent.Some(intent.TrustPCP) },
		"a mark":              func(_ *intent.Device, q *intent.QoS) { q.DSCP.Value[10] = 3 },
		"another queue":       func(_ *intent.Device, q *intent.QoS) { q.TC.Value[1] = 1 },
		"weights":             func(_ *intent.Device, q *intent.QoS) { q.Sched.Value[0].Percent, q.Sched.Value[3].Percent = 40, 60 },
		"one more scheduler":  func(_ *intent.Device, q *intent.QoS) { q.Sched.Value[1] = intent.Sched{Kind: intent.SchedStrict} },
		"thresholds":          func(_ *intent.Device, q *intent.QoS) { q.ECN.Value[3].MaxBytes = 2_000_000 },
		"ECN on another one":  func(_ *intent.Device, q *intent.QoS) { q.ECN.Value[0] = q.ECN.Value[3] },
		"ECN off":             func(_ *intent.Device, q *intent.QoS) { q.ECN.Value[3] = intent.ECN{} },
		"times of watchdogs":  func(_ *intent.Device, q *intent.QoS) { q.Watchdog.Value.DetectMs = 400 },
		"action of watchdogs": func(_ *intent.Device, q *intent.QoS) { q.Watchdog.Value.Action = "forward" },
		"watchdogs off":       func(_ *intent.Device, q *intent.QoS) { q.Watchdog = intent.Some(intent.Watchdog{}) },
		"MTU":                 func(d *intent.Device, _ *intent.QoS) { d.Ports[0].MTU = intent.Some(uint16(1500)) },
		"a VLAN":              func(d *intent.Device, _ *intent.QoS) { d.Ports[0].Native = intent.Opt[uint16]{} },
	} {
		for _, version := range []string{"202205", "202605"} {
			for _, model := range []string{dynamic, traditional} {
				fixture := func() *intent.Device {
					d := leaf()
					d.OS.Version, d.Hash, d.Buffer, d.Options = version, intent.Hash{}, intent.Buffer{}, map[string]string{optionModel: model}
					for i := range d.Ports {
						d.Ports[i].Headroom = nil
					}
					return d
				}
				runs := fixture()
				db := asWanted(t, runs)
				d := fixture()
				change(d, &d.QoS[0])
				accepted(t, d)
				have, list := parse(d, captured(db))
				if len(list) > 0 {
					t.Fatal(list)
				}
				said := false
				for _, x := range intent.Diff(d, have) {
					at := x.Path
					for _, p := range []intent.Path{at, {Object: intent.OfQoS, Name: d.QoS[0].Name, Field: at.Field}} {
						i := impact(d, targets.Change{Path: p, Before: x.Before, After: x.After})
						said = said || i.Interrupts && i.Note == shuts
					}
				}
				r, list := rebased(db, d, nil)
				if len(list) > 0 {
					t.Fatal(list)
				}
				// Before 202511 a queue gets its first profile by config load, unless the profile is there already.
				spared := what == "ECN on another one" && !wredPatchable(d)
				if does := shutsPorts(r.first) || shutsPorts(r.ops); does != said && !(spared && said) {
					t.Errorf("%s on %s, %s: ports are shut: %t, the plan says so: %t\n%s", what, version, model, does, said, printPatch(slices.Concat(r.first, r.ops)))
				}
			}
		}
	}
}
