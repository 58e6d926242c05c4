package resolve

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

var (
	groupings = map[string]fabric.GroupBy{
		"rail": fabric.GroupRail, "plane": fabric.GroupPlane, "pod": fabric.GroupPod, "rack": fabric.GroupRack, "cluster": fabric.GroupCluster, "device": fabric.GroupDevice,
	}
	gates = map[string]fabric.Gates{
		"verify": fabric.GateVerify, "no_pause_storm": fabric.GateNoPauseStorm, "no_discards": fabric.GateNoDiscards, "rdma_ping": fabric.GateRDMAPing,
	}
)

// rollout reads the waves: a device is in the first that selects it, and one
// without select takes the rest.
func (r *resolver) rollout() {
	var first lang.BlockID
	r.top(schema.Rollout, func(b lang.BlockID) {
		if first != 0 {
			r.fail("a second rollout is written", "a fabric has one order of changes: join the two", r.f.DeclLabel(r.decl(b), ""), r.f.DeclLabel(r.decl(first), "the first"))
			return
		}
		first = b
		order := r.attr(b, schema.AOrder)
		mismatch := r.attr(b, schema.AMaxMismatch)
		r.f.Rollout = fabric.Rollout{
			OrderSet: order.Kind != lang.Absent, UpstreamFirst: r.cfg.Text(order) == "upstream_first", ConfirmMs: r.millis(b, schema.AConfirm),
			Stop: r.cfg.Text(r.attr(b, schema.AOnFailure)) == "stop", MaxSharePercent: uint8(r.attr(b, schema.AMaxShare).N),
			MaxMismatchMs: r.millis(b, schema.AMaxMismatch), MismatchSet: mismatch.Kind != lang.Absent,
			Of: make([]int, len(r.f.Devices)), Decl: r.decl(b),
		}
		r.waves(b)
	})
}

func (r *resolver) millis(b lang.BlockID, n schema.Attr) uint32 {
	return uint32(min(r.attr(b, n).N/1000, 1<<32-1))
}

func (r *resolver) waves(rollout lang.BlockID) {
	out := &r.f.Rollout
	var rest lang.BlockID
	written := false
	r.kids(rollout, schema.Wave, func(b lang.BlockID) {
		name := r.blockName(b)
		written = true
		wave := fabric.Wave{
			Name: r.str(r.cfg.Blocks[b].Name), GroupBy: groupings[r.cfg.Text(r.attr(b, schema.AGroupBy))], SoakMs: r.millis(b, schema.ASoak),
			Drain: r.attr(b, schema.ADrain).N == 1, Firmware: r.attr(b, schema.AWithFirmware).N == 1, Rest: r.attr(b, schema.ASelect).Kind == lang.Absent, Decl: r.decl(b),
		}
		for _, v := range r.cfg.List(r.attr(b, schema.AGate)) {
			wave.Gates |= gates[r.cfg.Text(v)]
		}
		var members []fabric.DeviceID
		switch {
		case rest != 0:
			r.fail(fmt.Sprintf("wave %s comes after %s, which takes all that is left", name, r.blockName(rest)), "write select on the earlier one, or put it last", r.f.DeclLabel(wave.Decl, ""), r.f.DeclLabel(r.decl(rest), "takes the rest"))
			return
		case wave.Rest:
			rest = b
			for d := 1; d < len(r.f.Devices); d++ {
				members = append(members, fabric.DeviceID(d))
			}
		default:
			members = r.selected(b)
		}
		out.Waves = append(out.Waves, wave)
		took := false
		for _, d := range members {
			if out.Of[d] == 0 && r.f.Devices[d].Manage != fabric.HandsOff {
				out.Of[d] = len(out.Waves)
				took = true
			}
		}
		if !took && !wave.Rest && len(members) > 0 {
			r.fail(fmt.Sprintf("wave %s has no device of its own: those it selects are in waves before it", name), "a device is in the first wave that selects it: put this wave before, or take it out", r.at(b, schema.ASelect, ""))
		}
	})
	if !written {
		r.fail("the rollout has no wave", `write wave "NAME" blocks: which devices change first`, r.f.DeclLabel(out.Decl, ""))
		return
	}
	if rest == 0 {
		r.left()
	}
}

// left refuses devices that no wave takes: they would never change.
func (r *resolver) left() {
	out, count, one := &r.f.Rollout, 0, fabric.DeviceID(0)
	for d := fabric.DeviceID(1); int(d) < len(r.f.Devices); d++ {
		if r.f.Devices[d].Manage == fabric.Full && out.Of[d] == 0 {
			if count++; one == 0 {
				one = d
			}
		}
	}
	if count == 0 {
		return
	}
	dev := &r.f.Devices[one]
	summary := fmt.Sprintf("%s is in no wave", r.f.Text(dev.Name))
	switch {
	case count == 2:
		summary = fmt.Sprintf("%s and 1 other device are in no wave", r.f.Text(dev.Name))
	case count > 2:
		summary = fmt.Sprintf("%s and %d other devices are in no wave", r.f.Text(dev.Name), count-1)
	}
	r.fail(summary, `select it in a wave, or end with a wave that has no select: it takes the rest`, r.f.DeclLabel(out.Decl, ""), r.f.DeclLabel(dev.Decl, "the device"))
}
