package cumulus

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

// TestQueueOfOthers: a priority that only some ports use is in their queue on all, whichever QoS value comes first, where it is idle on the
// others; and what the switch then shows is no drift.
func TestQueueOfOthers(t *testing.T) {
	virtual := func(first bool) *intent.Device {
		d := leaf()
		q := roce("hops", intent.TrustDSCP, 50)
		q.Watchdog = d.QoS[0].Watchdog
		q.DSCP.Value[27], q.TC.Value[4], q.PFCQueue.Value[4], q.Group.Value[4] = 4, 4, 4, 4
		q.PFC, q.Lossless = intent.Some(intent.PrioritySet(1<<3|1<<4)), 1<<3|1<<4
		q.Sched.Value[0].Percent, q.Sched.Value[4] = 10, intent.Sched{Kind: intent.SchedETS, Percent: 40}
		d.QoS = append(d.QoS, q)
		port := 3
		if first {
			port = 0
		}
		d.Ports[port].QoS = "hops"
		return d
	}
	for _, first := range []bool{true, false} {
		d := virtual(first)
		if list := targets.Check(&Target, d, nil); len(list) > 0 {
			t.Fatalf("refused:\n%s", targettest.Refusals(list))
		}
		files := targettest.Emit(&Target, d)
		lines := slices.Collect(strings.Lines(targettest.Text(files, commandsFile)))
		if !slices.Contains(lines, "nv set qos egress-queue-mapping default-global switch-priority 4 traffic-class 4\n") {
			t.Error("priority 4 is not in queue 4")
		}
		seen, _ := Target.Parse(d, captured(targettest.Text(files, patchFile)+"- header: {}\n"))
		for _, p := range []string{d.Ports[0].Name, d.Ports[3].Name} {
			if got, want := seen.QoSNamed(seen.PortNamed(p).QoS).TC, d.QoSNamed(d.PortNamed(p).QoS).TC; got != want {
				t.Errorf("%s is read with %v, not %v", p, got, want)
			}
		}
	}
	for name, change := range map[string]func(d *intent.Device){
		"in use":    func(d *intent.Device) { d.QoS[0].DSCP.Value[9] = 4 },
		"shared":    func(d *intent.Device) { d.QoS[0].DSCP.Value[9], d.QoS[0].TC.Value[5] = 5, 4 },
		"scheduled": func(d *intent.Device) { d.QoS[0].Sched.Value[4].Kind = intent.SchedStrict },
	} {
		d := virtual(true)
		change(d)
		if got := targettest.Refusals(targets.Check(&Target, d, nil)); !strings.Contains(got, "and the switch has one map from priorities to queues") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
