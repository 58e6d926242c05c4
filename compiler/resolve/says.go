package resolve

import (
	"strconv"
	"sync"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// tellers let the fabric ask who writes an attribute of a row, nearest first: provenance is
// looked up and not stored. They may be asked by several at a time.
func (r *resolver) tellers() {
	r.portOf, r.ifaceBlock, r.kidRoom, r.subnetOf = nil, nil, nil, nil // the rest is asked for
	var mu sync.Mutex
	r.f.Says = func(p fabric.PortID, n schema.Attr) []fabric.Said {
		mu.Lock()
		defer mu.Unlock()
		a := r.around(r.f.Ports[p].Device)
		tagged, native := r.segmentsOn(p)
		return r.sayings(r.portScope(p, &a, r.purposeOf(p, tagged, native)), n)
	}
	r.f.SaysAt = func(address string, n schema.Attr) ([]fabric.Said, schema.Kind) {
		mu.Lock()
		defer mu.Unlock()
		var found []lang.BlockID
		for _, b := range r.cfg.Top {
			if found = r.globbed(found, b, address); len(found) > 0 {
				break
			}
		}
		if len(found) != 1 {
			return nil, schema.None
		}
		b := found[0]
		kind := r.cfg.Blocks[b].Kind
		s := r.alone(b)
		switch d := r.deviceOf[r.cfg.Blocks[b].Parent]; {
		case r.deviceOf[b] != 0:
			s = *r.deviceLayers(b)
		case d != 0:
			s.before, _ = r.stands(s.before, nil, r.blockOf[d], r.heightOf(r.blockOf[d]))
		case kind == schema.Link:
			s.chain = r.defaultLayers(nil, b, kind.String())
		}
		return r.sayings(&s, n), kind
	}
}

// sayings lists the layers of a scope that write an attribute.
func (r *resolver) sayings(s *scope, n schema.Attr) []fabric.Said {
	var list []fabric.Said
	add := func(l layer) {
		if v := s.says(l, n); v.Kind != lang.Absent {
			list = append(list, fabric.Said{Layer: fabric.Layer{By: r.decl(l.by), At: l.height}, Text: r.valueText(v), Form: r.formOf(l.by)})
		}
	}
	for _, l := range s.before {
		add(l)
	}
	if s.own != 0 {
		add(layer{by: s.own})
	}
	for _, l := range s.chain {
		add(l)
	}
	return list
}

// valueText is a value as text where it is one, a number or a block.
func (r *resolver) valueText(v lang.Value) string {
	switch v.Kind {
	case lang.Text, lang.Word:
		return r.cfg.Text(v)
	case lang.Int, lang.Percent:
		return strconv.FormatInt(v.N, 10)
	case lang.Handle:
		return r.cfg.Address(lang.BlockID(v.N))
	}
	return ""
}

// formOf is how a block comes to say something of a row.
func (r *resolver) formOf(b lang.BlockID) fabric.Form {
	blk := &r.cfg.Blocks[b]
	switch {
	case blk.Kind == schema.Override:
		return fabric.ByOverride
	case blk.Kind == schema.Except || r.cfg.Blocks[blk.Parent].Kind == schema.Except:
		return fabric.ByExcept
	}
	return fabric.ByBlock
}
