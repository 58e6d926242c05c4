package lang

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// expandKids makes the instances of the blocks inside a block.
func (ld *loader) expandKids(id instID) *mistake {
	in := &ld.insts[id]
	if in.kids == finished || in.decl < 0 {
		return nil
	}
	m := ld.mods[in.mod]
	di := in.decl
	if m.unit.decls[di].end == di+1 && len(m.unit.more) == 0 {
		in.kids = finished
		return nil
	}
	if !ld.enterKids(id) {
		return silent
	}
	in.kids = underWay
	m.unit.kids(di, func(k int32) {
		ld.instances(m, k, id, nobody)
	})
	ld.insts[id].kids = finished
	ld.leave()
	ld.twice(id)
	return nil
}

func nobody(instID) {}

// twice reports members that two blocks inside one block name.
func (ld *loader) twice(id instID) {
	if ld.insts[id].count < 2 {
		return
	}
	if st := &ld.mods[ld.insts[id].mod].state[ld.insts[id].decl]; ld.plainKids(id) {
		if st.kidsSeen {
			return // they are those of the instance before
		}
		st.kidsSeen = true
	}
	type key = famKey
	var small [64]key
	var seen map[key]instID
	n := 0
	for kid := ld.insts[id].first; kid != 0; kid = ld.insts[kid].next {
		in := &ld.insts[kid]
		k := key{in.kind, in.name}
		if in.kind == schema.Except || in.kind.Tier() {
			continue
		}
		first := instID(0)
		if seen == nil && n < len(small) {
			if i := slices.Index(small[:n], k); i >= 0 {
				first = ld.kidNamed(id, k.kind, k.label)
			}
			small[n] = k
			n++
		} else {
			if seen == nil {
				seen = ld.roomForKids(int(ld.insts[id].count))
				for c := ld.insts[id].first; c != kid; c = ld.insts[c].next {
					seen[key{ld.insts[c].kind, ld.insts[c].name}] = c
				}
			}
			first = seen[k]
			seen[k] = kid
		}
		if first == 0 {
			continue
		}
		ld.fail(ld.spanOfInst(kid), in.kind.String()+" "+quoteWord(ld.strs[in.name])+" of `"+ld.addrOf(id)+"` is written twice",
			"leave it out of one of them; `except` changes single members of a range",
			diag.Label{Span: ld.spanOfInst(first), Where: ld.whereIs(ld.spanOfInst(first)), Text: "first written"})
	}
}

// roomForKids is a map for the names of n blocks inside one. Most have some
// hundred, and share it; clearing it costs what the largest took.
func (ld *loader) roomForKids(n int) map[famKey]instID {
	const most = 1024
	if n > most {
		return make(map[famKey]instID, n)
	}
	if ld.kidSeen == nil {
		ld.kidSeen = make(map[famKey]instID, n)
	}
	clear(ld.kidSeen)
	return ld.kidSeen
}

// plainKids reports whether the blocks inside have the same names in every
// instance.
func (ld *loader) plainKids(id instID) bool {
	in := &ld.insts[id]
	u := ld.mods[in.mod].unit
	plain := true
	u.kids(in.decl, func(k int32) {
		d := &u.decls[k]
		if d.flags&(hasForEach|hasName|hasEnabled) != 0 {
			plain = false
		}
	})
	return plain
}

func (ld *loader) kidNamed(parent instID, k schema.Kind, name Str) instID {
	for kid := ld.insts[parent].first; kid != 0; kid = ld.insts[kid].next {
		if ld.insts[kid].kind == k && ld.insts[kid].name == name {
			return kid
		}
	}
	return 0
}

func (ld *loader) spanOfInst(id instID) source.Span {
	in := &ld.insts[id]
	if in.decl < 0 {
		return ld.cfg.Decls[in.declID].Span
	}
	return ld.mods[in.mod].unit.spanOf(&ld.mods[in.mod].unit.decls[in.decl])
}

type kidKey struct {
	parent instID
	kind   schema.Kind
	name   Str
}

// kid finds a child by name. Blocks with many children are indexed.
func (ld *loader) kid(parent instID, k schema.Kind, name Str) instID {
	p := &ld.insts[parent]
	if p.count <= 24 {
		return ld.kidNamed(parent, k, name)
	}
	if !ld.kidHas[parent] {
		for id := p.first; id != 0; id = ld.insts[id].next {
			key := kidKey{parent, ld.insts[id].kind, ld.insts[id].name}
			if _, ok := ld.kidIx[key]; !ok {
				ld.kidIx[key] = id
			}
		}
		ld.kidHas[parent] = true
	}
	return ld.kidIx[kidKey{parent, k, name}]
}

const blocksHelp = "check where ranges and for_each end, or divide the fabric"

// impliedPort is a port of a switch that no block speaks of: its model has it,
// which is for compiler/resolve to see.
func (ld *loader) impliedPort(sw instID, name string) (instID, *mistake) {
	if len(ld.insts) > ld.limit {
		return 0, &mistake{"the configuration has more than " + itoa(maxInstances) + " blocks", blocksHelp}
	}
	n := ld.str(name)
	c := ld.cfg
	id := DeclID(len(c.Decls))
	c.Decls = append(c.Decls, Decl{
		Kind: schema.Port, Span: ld.refAt, Parent: ld.insts[sw].declID,
		Module: ld.insts[sw].mod, Head: ld.str("port " + quoteKey(name)), spans: span32{uint32(len(c.Spans)), 0},
	})
	many := ld.kidHas[sw]
	port := ld.link(inst{kind: schema.Port, kids: finished, done: true, name: n, label: n, mod: ld.insts[sw].mod, decl: -1, declID: id, parent: sw})
	if many {
		ld.kidIx[kidKey{sw, schema.Port, n}] = port
		ld.kidHas[sw] = true
	}
	return port, nil
}

// exceptOf puts an except block under the instance it speaks of: its label is
// the name or key of the parent, or a range with it.
func (ld *loader) exceptOf(m *modinst, di int32, parent instID, each func(instID)) bool {
	d := &m.unit.decls[di]
	in := &ld.insts[parent]
	name, key := in.name, in.key
	label := ld.strs[d.label]
	hit := d.label == name || d.label == key && key != 0
	if !hit && strings.ContainsAny(label, "[]") {
		r, err := funcs.ParseRange(label)
		if err != nil {
			ld.fail(d.labelP.in(m.unit.files[d.file].id), "label "+rangeProblem(label, err), rangeHelp(r, err))
			return false
		}
		hit = r.Has(ld.strs[name]) || key != 0 && r.Has(ld.strs[key])
	}
	if !hit {
		return true // an except that nothing matches is reported when all is expanded
	}
	id := ld.newInst(m, di, parent)
	if id == 0 {
		return false
	}
	ld.insts[id].name = name
	m.state[di].matched = true
	each(id)
	return true
}
