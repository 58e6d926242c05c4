package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// gpus lists the GPUs of every node.
func (r *resolver) gpus() {
	r.gpuAt = make([]uint32, len(r.f.Devices)+1)
	for id := 1; id < len(r.f.Devices); id++ {
		d := fabric.DeviceID(id)
		r.gpuAt[id] = uint32(len(r.f.GPUs))
		if r.f.Devices[d].Kind != fabric.Node {
			continue
		}
		r.kidsByName(r.blockOf[d], schema.GPU, func(b lang.BlockID) {
			row := fabric.GPU{Device: d, Name: r.str(r.cfg.Blocks[b].Name), Switch: r.text(r.attr(b, schema.APCIeSwitch)), NUMA: -1, Decl: r.decl(b)}
			if v := r.attr(b, schema.ANUMA); v.Kind == lang.Int {
				row.NUMA = int16(v.N)
			}
			r.f.GPUs = append(r.f.GPUs, row)
		})
		own := r.f.GPUs[r.gpuAt[id]:]
		slices.SortStableFunc(own, func(a, b fabric.GPU) int { return intent.Natural(r.f.Text(a.Name), r.f.Text(b.Name)) })
		for i := 1; i < len(own); i++ {
			if own[i].Name == own[i-1].Name {
				r.fail(fmt.Sprintf("%s has two GPUs %q", r.f.Text(r.f.Devices[d].Address), r.f.Text(own[i].Name)), "give each a name of its own",
					r.f.DeclLabel(own[i].Decl, ""), r.f.DeclLabel(own[i-1].Decl, "the other"))
			}
		}
	}
	r.gpuAt[len(r.f.Devices)] = uint32(len(r.f.GPUs))
}

// beside finds the GPU of a NIC: the one that it names, else the first on its
// PCIe switch. A node without `gpu` blocks may name any.
func (r *resolver) beside(p fabric.PortID, n *fabric.NIC, s *scope) {
	n.GPU, n.Switch = r.text(s.get(schema.AGPU)), r.text(s.get(schema.APCIeSwitch))
	d := r.f.Ports[p].Device
	own := r.f.GPUs[r.gpuAt[d]:r.gpuAt[d+1]]
	if len(own) == 0 {
		return
	}
	if n.GPU == 0 {
		if i := slices.IndexFunc(own, func(g fabric.GPU) bool { return n.Switch != 0 && g.Switch == n.Switch }); i >= 0 {
			n.GPU = own[i].Name
		}
		return
	}
	if slices.ContainsFunc(own, func(g fabric.GPU) bool { return g.Name == n.GPU }) {
		return
	}
	names := make([]string, len(own))
	for i, g := range own {
		names[i] = fmt.Sprintf("%q", r.f.Text(g.Name))
	}
	r.fail(fmt.Sprintf("nic %s is beside the GPU %q, which its node does not have", r.f.PortName(p), r.f.Text(n.GPU)),
		"write one of "+strings.Join(names, ", ")+", or another gpu block", r.f.Label(r.f.Ports[p].Decl, s.id, schema.AGPU, ""))
}
