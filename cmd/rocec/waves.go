package main

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// waves is the rollout as plans and deliveries take it.
type waves struct {
	f  *fabric.Fabric
	of map[string]fabric.DeviceID // by address; nil: no rollout is written
}

func (p *project) waves() waves {
	w := waves{f: p.res.Fabric}
	if w.f.Rollout.Decl == 0 {
		return w
	}
	w.of = make(map[string]fabric.DeviceID, len(w.f.Devices))
	for d := fabric.DeviceID(1); int(d) < len(w.f.Devices); d++ {
		w.of[w.f.Text(w.f.Devices[d].Address)] = d
	}
	return w
}

func (w waves) wave(address string) int {
	if w.of == nil {
		return 0
	}
	return w.f.Rollout.Of[w.of[address]]
}

// planned are the waves for a plan.
func (w waves) planned() plan.Waves {
	out := plan.Waves{Of: w.wave}
	for i := range w.f.Rollout.Waves {
		out.Names = append(out.Names, w.f.Text(w.f.Rollout.Waves[i].Name))
	}
	return out
}

// order puts what was handed over into the order of the waves, and inside of
// them into the rollout's.
func (w waves) order(d *apply.Delivery) {
	if w.of == nil {
		return
	}
	var list []apply.Wave
	for i := range w.f.Rollout.Waves {
		wave := &w.f.Rollout.Waves[i]
		list = append(list, apply.Wave{Name: w.f.Text(wave.Name), By: groups[wave.GroupBy], Then: after(wave)})
	}
	d.InWaves(list, func(address string) (wave, rank int) {
		return w.wave(address), rankOf(w.f, w.of[address])
	})
}

// groups are the words for the parts of a wave.
var groups = map[fabric.GroupBy]string{
	fabric.GroupRail: "rail", fabric.GroupPlane: "plane", fabric.GroupPod: "pod", fabric.GroupRack: "rack", fabric.GroupCluster: "cluster", fabric.GroupDevice: "device",
}

// after says what a wave waits for.
func after(w *fabric.Wave) string {
	var parts []string
	if w.SoakMs > 0 {
		parts = append(parts, "watch for "+lint.Millis(uint64(w.SoakMs)))
	}
	for i, gate := range []string{"rocec verify finds nothing", "no storm of pauses", "no discards in lossless queues", "RDMA pings pass"} { // in the order of the bits
		if w.Gates>>i&1 == 1 {
			parts = append(parts, gate)
		}
	}
	return strings.Join(parts, ", ")
}

// undrained is the half of ROCE901 that a plan decides: changes that interrupt
// ports of switches in a wave from which no traffic was moved away.
func (w waves) undrained(pl *plan.Plan) diag.List {
	if w.of == nil {
		return nil
	}
	ports := make([]int, len(w.f.Rollout.Waves))
	first := make([]string, len(w.f.Rollout.Waves))
	for i := range pl.Changes {
		c := &pl.Changes[i]
		n := w.wave(c.Owner)
		if n == 0 || c.Interrupts == 0 || c.Action == plan.Create || w.f.Devices[w.of[c.Owner]].Kind != fabric.Switch || w.f.Rollout.Waves[n-1].Drain {
			continue
		}
		if ports[n-1] += c.Interrupts; first[n-1] == "" {
			first[n-1] = c.Address
		}
	}
	var found diag.List
	for i := range ports {
		if ports[i] == 0 {
			continue
		}
		wave := &w.f.Rollout.Waves[i]
		what := first[i]
		if n := ports[i] - 1; n > 0 {
			what += fmt.Sprintf(" and %d more", n)
		}
		found.Add(diag.Diagnostic{
			Rule: planDrain.ID, Severity: diag.Warning, Summary: fmt.Sprintf("wave %s interrupts %s, and no traffic is moved away before", w.f.Text(wave.Name), what), Address: first[i],
			Labels: []diag.Label{w.f.Label(wave.Decl, 0, schema.ADrain, "")}, Help: "drain the devices first, and write drain = true",
		})
	}
	return found
}

// planDrain is the rule of undrained. It is decided where a plan is made. The
// catalogue has it as an error, on ports that carry traffic: whether they do is
// what a plan cannot tell, and as an error it would have people write drain = true
// where nothing was drained.
var planDrain = diag.Rule{
	ID: "ROCE901", Name: "plan_drain", Severity: diag.Warning, When: diag.Both,
	Title: "buffers change on ports that carry traffic, and nothing drains them first",
	Why: "a change of lossless buffers or of PFC stops the port: what is on its way is lost, and RDMA goes back to the beginning. " +
		"It is a warning and stops no plan, because no plan knows whether a port carries traffic at that hour: there are maintenance windows, spare ways, and switches before their first day",
	Fix: "move traffic away from the devices of the wave, and write drain = true on it",
	Source: "Juniper Networks, Class of Service User Guide, shared buffer configuration (a change restarts the packet forwarding " +
		"engine's buffers: traffic stops); sonic-net/SONiC doc/roce, RoCEv2 HLD",
	Bad:  handedOver(""),
	Good: handedOver("\n    drain = true"),
}
