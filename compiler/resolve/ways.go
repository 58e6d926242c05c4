package resolve

import (
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// ways makes a row for each connection block.
func (r *resolver) ways() {
	r.wayOf = map[lang.BlockID]fabric.ConnectionID{}
	eachWay(r.cfg, func(b lang.BlockID) {
		r.wayOf[b] = fabric.ConnectionID(len(r.f.Ways))
		r.f.Ways = append(r.f.Ways, fabric.Way{Name: r.str(r.cfg.Blocks[b].Name), Address: r.f.Names.Add(r.cfg.Address(b)), Decl: r.decl(b)})
	})
}

func eachWay(cfg *lang.Config, visit func(lang.BlockID)) {
	for _, b := range cfg.Top {
		if cfg.Blocks[b].Kind == schema.Connection {
			visit(b)
		}
	}
}

// way is the connection that a device names, or its defaults do.
func (r *resolver) way(base *scope) fabric.ConnectionID {
	if len(r.wayOf) == 0 {
		return 0
	}
	if v := base.get(schema.AConnection); v.Kind == lang.Handle {
		return r.wayOf[lang.BlockID(v.N)]
	}
	return 0
}

// Sources are the blocks behind the devices and the connections of a fabric that
// was built without an error, by their IDs.
func Sources(cfg *lang.Config) (devices, ways []lang.BlockID) {
	devices, ways = append(make([]lang.BlockID, 1), devicesOf(cfg)...), make([]lang.BlockID, 1)
	eachWay(cfg, func(b lang.BlockID) { ways = append(ways, b) })
	return devices, ways
}
