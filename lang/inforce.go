package lang

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
)

// written is the value of an attribute in force among what is written of its block, for
// expressions that read it through a reference: what exceptions of the block and of the
// device around it say, else the block, else the defaults of its kind. What else stands
// around it, and overrides, are for later: they may speak of what expressions make. Null
// if it is not written.
func (ld *loader) written(id instID, n schema.Attr) (cty.Value, *mistake) {
	key := attrKey{id, n}
	c, ok := ld.memo[key]
	if !ok {
		places, m := ld.placesOf(id, n)
		if m != nil {
			return cty.DynamicVal, m
		}
		if len(places) == 0 {
			return cty.NullVal(cty.DynamicPseudoType), nil
		}
		first := &places[0]
		f := first.mod.unit.fileOf(first.decl, first.attr)
		c = &cell{what: n.Name() + " of " + ld.strs[first.decl.head], span: first.attr.at.in(f.id)}
		c.compute = func() (v cty.Value, ok bool) {
			for i := range places {
				if v, ok = ld.valueAt(&places[i], n); !ok || !v.IsNull() {
					return v, ok
				}
			}
			return v, ok
		}
		ld.memo[key] = c
	}
	v, ok := ld.force(c)
	if !ok {
		return cty.DynamicVal, silent
	}
	return v, nil
}

// writtenIn is an attribute in one of the blocks that say it of an instance.
type writtenIn struct {
	mod  *modinst
	decl *udecl
	attr *attr
	inst instID // whose names its expression sees
}

// writes is what writes an attribute in a block that speaks of instances of a kind: that attribute, or an `observed` that is an
// expression, of which it is a field.
func (u *unit) writes(d *udecl, of schema.Kind, n schema.Attr) *attr {
	if a := u.find(d, n); a != nil || schema.Field(of, n.Name()) == nil {
		return a
	}
	return u.find(d, schema.AObserved)
}

func (ld *loader) valueAt(p *writtenIn, n schema.Attr) (cty.Value, bool) {
	f := p.mod.unit.fileOf(p.decl, p.attr)
	e := ld.tree(f, p.attr)
	if e == nil || p.attr.bad {
		return cty.DynamicVal, false
	}
	v, ok := (&scope{ld: ld, mod: p.mod, inst: p.inst}).eval(f, e)
	if ok && p.attr.num == schema.AObserved && n != schema.AObserved {
		v = observedField(v, n)
	}
	return v, ok
}

// placesOf lists where an attribute of an instance is written, nearest first.
func (ld *loader) placesOf(id instID, n schema.Attr) ([]writtenIn, *mistake) {
	in := ld.insts[id]
	m := ld.mods[in.mod]
	var list []writtenIn
	if in.decl >= 0 {
		var bad *mistake
		if list, bad = ld.exceptsOf(list, m, id, n); bad != nil {
			return nil, bad
		}
	}
	if in.parent != 0 && ld.insts[in.parent].decl >= 0 {
		var bad *mistake
		if list, bad = ld.innerExceptsOf(list, m, id, n); bad != nil {
			return nil, bad
		}
	}
	if in.decl >= 0 {
		d := &m.unit.decls[in.decl]
		if a := m.unit.writes(d, in.kind, n); a != nil {
			list = append(list, writtenIn{m, d, a, id})
		}
	}
	return ld.defaultsOf(list, m, in.kind, n), nil
}

// exceptsOf adds the exceptions in the block of an instance that speak of it.
func (ld *loader) exceptsOf(list []writtenIn, m *modinst, id instID, n schema.Attr) (_ []writtenIn, bad *mistake) {
	in := ld.insts[id]
	m.unit.kids(in.decl, func(k int32) {
		d := &m.unit.decls[k]
		if d.kind != schema.Except {
			return
		}
		a := m.unit.writes(d, in.kind, n)
		switch {
		case a == nil:
		case in.naming && (in.key == 0 || !ld.labelHas(d, in.key)):
			bad = &mistake{"`" + n.Name() + "` is what an `except` may change, by the name that is computed here", "make the name of each.key or self.index"}
		case ld.labelHas(d, in.name) || in.key != 0 && ld.labelHas(d, in.key):
			list = append(list, writtenIn{m, d, a, id})
		}
	})
	return list, bad
}

// innerExceptsOf adds what the exceptions of the device around an instance say of it.
func (ld *loader) innerExceptsOf(list []writtenIn, m *modinst, id instID, n schema.Attr) (_ []writtenIn, bad *mistake) {
	in, parent := ld.insts[id], ld.insts[ld.insts[id].parent]
	m.unit.kids(parent.decl, func(k int32) {
		e := &m.unit.decls[k]
		if e.kind != schema.Except || !ld.labelHas(e, parent.name) && (parent.key == 0 || !ld.labelHas(e, parent.key)) {
			return
		}
		m.unit.kids(k, func(i int32) {
			d := &m.unit.decls[i]
			a := m.unit.writes(d, in.kind, n)
			if d.kind != in.kind || a == nil {
				return
			}
			named, at := d.flags&(hasForEach|hasName) == 0, id
			if named && !ld.labelHas(d, in.name) {
				return
			}
			if f := m.unit.fileOf(d, a); !named || a.expr() != 0 && f.exprs[a.expr()-1].deps&needsMember != 0 {
				if at, bad = ld.innerInst(in.parent, k, i, in.name); at == 0 || bad != nil {
					return // of another
				}
			}
			list = append(list, writtenIn{m, d, a, at})
		})
	})
	return list, bad
}

// innerInst is the instance that a block inside an exception of a device makes for a name.
func (ld *loader) innerInst(device instID, except, inner int32, name Str) (instID, *mistake) {
	if bad := ld.expandKids(device); bad != nil {
		return 0, bad
	}
	for e := ld.insts[device].first; e != 0; e = ld.insts[e].next {
		if ld.insts[e].decl != except {
			continue
		}
		if bad := ld.expandKids(e); bad != nil {
			return 0, bad
		}
		for in := ld.insts[e].first; in != 0; in = ld.insts[in].next {
			if ld.insts[in].decl == inner && ld.insts[in].name == name {
				return in, nil
			}
		}
	}
	return 0, nil
}

// labelHas reports whether the label of a block is a name, or a range with it.
func (ld *loader) labelHas(d *udecl, name Str) bool {
	if d.label == name {
		return true
	}
	label := ld.strs[d.label]
	if !strings.ContainsAny(label, "[]") {
		return false
	}
	r, err := funcs.ParseRange(label) // what is wrong with it is told where it is expanded
	return err == nil && r.Has(ld.strs[name])
}

// defaultsOf adds the defaults of a kind, of the module and of those around it.
func (ld *loader) defaultsOf(list []writtenIn, m *modinst, k schema.Kind, n schema.Attr) []writtenIn {
	if k.Tier() {
		k = schema.Switch
	}
	for ; m != nil; m = m.parent {
		for _, i := range m.unit.defaults {
			d := &m.unit.decls[i]
			if a := m.unit.writes(d, k, n); a != nil && ld.strs[d.label] == schema.Def(k).Word {
				list = append(list, writtenIn{m, d, a, 0})
			}
		}
	}
	return list
}
