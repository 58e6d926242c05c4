package resolve

import (
	"fmt"
	"net/netip"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// routings reads what the proofs may assume of paths, and which topology names
// which. Devices and segments exist by now.
func (r *resolver) routings() {
	of := map[lang.BlockID]fabric.RoutingID{}
	r.top(schema.Routing, func(b lang.BlockID) {
		row := fabric.Routing{
			Name: r.str(r.cfg.Blocks[b].Name), Address: r.f.Names.Add(r.cfg.Address(b)), Default: r.blockName(b) == "default", Decl: r.decl(b),
			LocalRepair: r.cfg.Text(r.attr(b, schema.ARepair)) == "local", Model: routingModel(r.cfg.Text(r.attr(b, schema.AModel))),
		}
		for _, v := range r.cfg.List(r.attr(b, schema.ALeak)) {
			from, to := r.cfg.Field(v, schema.AFrom), r.cfg.Field(v, schema.ATo)
			if from.Kind == lang.Handle && to.Kind == lang.Handle {
				row.Leaks = append(row.Leaks, fabric.Leak{From: r.segmentOf[lang.BlockID(from.N)], To: r.segmentOf[lang.BlockID(to.N)]})
			}
		}
		for _, v := range r.cfg.List(r.attr(b, schema.AAnnounce)) {
			p, err := netip.ParsePrefix(r.cfg.Text(v))
			if err != nil {
				continue // the loader has checked its form
			}
			if p != p.Masked() {
				r.fail(fmt.Sprintf("announced prefix %s has bits set beyond its length", p), fmt.Sprintf("write %s", p.Masked()), r.at(b, schema.AAnnounce, ""))
			}
			row.Announce = append(row.Announce, p.Masked())
		}
		file := r.attr(b, schema.AFile)
		switch {
		case row.Model == fabric.TableRouting:
			r.fail(fmt.Sprintf("routing %s is by table, and this version of rocec reads none", r.blockName(b)), `write model = "up_down" or "ecmp"`, r.at(b, schema.AModel, ""))
		case file.Kind != lang.Absent:
			r.fail(fmt.Sprintf("routing %s has a file, and its model is not table", r.blockName(b)), `write model = "table", or leave out file`,
				r.at(b, schema.AFile, ""), r.at(b, schema.AModel, "the model"))
		}
		of[b] = fabric.RoutingID(len(r.f.Routings))
		r.f.Routings = append(r.f.Routings, row)
	})
	for _, t := range r.topos[1:] {
		if v := r.attr(t.block, schema.ARouting); v.Kind == lang.Handle {
			r.f.Topologies[t.id].Routing = of[lang.BlockID(v.N)]
		}
	}
}

func routingModel(word string) fabric.RoutingModel {
	switch word {
	case "up_down":
		return fabric.UpDown
	case "ecmp":
		return fabric.ECMP
	case "table":
		return fabric.TableRouting
	}
	return fabric.RoutingUnset
}
