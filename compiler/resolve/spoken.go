package resolve

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// spoken notes which exceptions and overrides hold for which block, nearest first:
// overrides, the exceptions in the block, those that the exceptions of its device have
// for it. Everything that reads a block reads them before it, so that a word does there
// what it does in the block.
func (r *resolver) spoken() {
	r.heard, r.speak = make([]bool, len(r.cfg.Blocks)), map[lang.BlockID][]lang.BlockID{}
	add := func(b lang.BlockID, by ...lang.BlockID) {
		if len(by) > 0 {
			r.speak[b], r.heard[b] = append(r.speak[b], by...), true
		}
	}
	for b, by := range r.sets {
		add(b, by...)
	}
	var parents []lang.BlockID
	for b := range r.cfg.Blocks {
		if blk := &r.cfg.Blocks[b]; blk.Kind == schema.Except {
			add(blk.Parent, lang.BlockID(b))
			if n := len(parents); n == 0 || parents[n-1] != blk.Parent {
				parents = append(parents, blk.Parent)
			}
		}
	}
	for _, b := range parents {
		for _, e := range r.excepts(b) {
			first, end := r.cfg.Kids(e)
			for in := first; in < end; in++ {
				r.kids(b, r.cfg.Blocks[in].Kind, func(own lang.BlockID) {
					if r.cfg.Blocks[own].Name == r.cfg.Blocks[in].Name {
						add(own, in)
					}
				})
			}
		}
	}
	r.contradictions()
}

// contradictions refuses two overrides, or two exceptions of one place, that give one
// attribute of a block two values: neither is nearer, and order plays no part.
func (r *resolver) contradictions() {
	blocks := make([]lang.BlockID, 0, len(r.speak))
	for b := range r.speak {
		blocks = append(blocks, b)
	}
	slices.Sort(blocks)
	for _, b := range blocks {
		list := r.speak[b]
		for i, one := range list {
			for _, other := range list[:i] {
				if (r.cfg.Blocks[one].Kind == schema.Override) != (r.cfg.Blocks[other].Kind == schema.Override) {
					continue
				}
				for _, p := range r.wordsOf(other) {
					if n := schema.Attr(p.Key.N); n != schema.AReason {
						r.clash(n, r.cfg.Address(b), other, one)
					}
				}
			}
		}
	}
}

// clashKey are two declarations that give an attribute two values.
type clashKey struct {
	a, b fabric.DeclID
	num  schema.Attr
}

// clash refuses two blocks at one height that give an attribute of a thing two values,
// once for all things.
func (r *resolver) clash(n schema.Attr, address string, a, b lang.BlockID) {
	one, other := at(r.cfg, a, n), at(r.cfg, b, n)
	if one.Kind == lang.Absent || other.Kind == lang.Absent || r.sameSaid(one, other) || r.toldOf(a, b, n) {
		return
	}
	key := clashKey{min(r.decl(a), r.decl(b)), max(r.decl(a), r.decl(b)), n}
	r.fail(fmt.Sprintf("%s of %s is set twice, to two values", n.Name(), address), "one of them has to go: neither counts before the other",
		r.f.Label(key.a, 0, n, ""), r.f.Label(key.b, 0, n, "the other"))
}

// toldOf reports whether it was told before that two blocks give an attribute two values.
func (r *resolver) toldOf(a, b lang.BlockID, n schema.Attr) bool {
	key := clashKey{min(r.decl(a), r.decl(b)), max(r.decl(a), r.decl(b)), n}
	if r.clashes == nil {
		r.clashes = map[clashKey]bool{}
	}
	told := r.clashes[key]
	r.clashes[key] = true
	return told
}

// inside is what is written as an attribute of a block that is inside others: where it or
// an override of it says something, overrides of those count above that.
func (r *resolver) inside(b lang.BlockID, n schema.Attr, device lang.BlockID, segments ...fabric.SegmentID) lang.Value {
	own := r.wrote(b, n)
	if len(r.sets) == 0 || own.Kind == lang.Absent {
		return own
	}
	s := r.alone(b)
	for _, id := range segments {
		s.before, _ = r.stands(s.before, nil, r.segmentBlock(id), fabric.AtSegment)
	}
	s.before, _ = r.stands(s.before, nil, device, r.heightOf(device))
	s.clash = func(n schema.Attr, one, other lang.BlockID) { r.clash(n, r.cfg.Address(b), one, other) }
	v, _ := s.nearest(n)
	return v
}

// segmentBlock is the block of a segment, 0 of one that a leaf makes.
func (r *resolver) segmentBlock(id fabric.SegmentID) lang.BlockID {
	if r.segmentBlocks == nil {
		r.segmentBlocks = make([]lang.BlockID, len(r.f.Segments))
		for b, s := range r.segmentOf {
			r.segmentBlocks[s] = b
		}
	}
	return r.segmentBlocks[id]
}

// sameSaid reports whether two values say the same, lists of blocks and numbers in
// whatever order.
func (r *resolver) sameSaid(a, b lang.Value) bool {
	if a.Kind != lang.List || b.Kind != lang.List {
		return string(r.appendValue(nil, a)) == string(r.appendValue(nil, b))
	}
	set := func(v lang.Value) []string {
		var list []string
		for _, e := range r.cfg.List(v) {
			list = append(list, string(r.appendValue(nil, e)))
		}
		if len(list) > 0 && r.cfg.List(v)[0].Kind != lang.Text {
			slices.Sort(list)
			list = slices.Compact(list)
		}
		return list
	}
	return slices.Equal(set(a), set(b))
}

// wordsOf are the attributes that an exception or override sets.
func (r *resolver) wordsOf(b lang.BlockID) []lang.Pair {
	if r.cfg.Blocks[b].Kind == schema.Override {
		return r.cfg.Pairs(r.cfg.Attr(b, schema.ASet))
	}
	attrs := r.cfg.AttrsOf(b)
	list := make([]lang.Pair, 0, len(attrs))
	for _, a := range attrs {
		list = append(list, lang.Pair{Key: lang.Value{Kind: lang.Int, N: int64(a.Num)}, Val: a.Val()})
	}
	return list
}

// strays refuses what exceptions say of blocks inside a device that it does not have,
// and what is said of a port without a block and only a block can say.
func (r *resolver) strays() {
	said := map[lang.DeclID]bool{}
	for id := range r.cfg.Blocks {
		in := &r.cfg.Blocks[id]
		if in.Parent == 0 || r.cfg.Blocks[in.Parent].Kind != schema.Except {
			continue
		}
		b := lang.BlockID(id)
		owner := r.cfg.Blocks[in.Parent].Parent
		d := r.deviceOf[owner]
		if d == 0 {
			continue // refused
		}
		has := false
		r.kids(owner, in.Kind, func(own lang.BlockID) { has = has || r.cfg.Blocks[own].Name == in.Name })
		switch {
		case has:
		case in.Kind == schema.Port && r.port(d, r.str(in.Name)) != 0:
			r.onlyBlocks(r.port(d, r.str(in.Name)), b)
		case !said[in.Decl]:
			said[in.Decl] = true
			r.fail(fmt.Sprintf("%s has no %s %s to be excepted", r.f.Text(r.f.Devices[d].Name), in.Kind, r.blockName(b)),
				r.nameMeant(d, owner, in.Kind, r.blockName(b)), r.f.DeclLabel(r.decl(b), ""), r.f.DeclLabel(r.decl(owner), "the device"))
		}
	}
	ports := make([]fabric.PortID, 0, len(r.portSets))
	for p := range r.portSets {
		ports = append(ports, p)
	}
	slices.Sort(ports)
	for _, p := range ports {
		for _, o := range r.portSets[p] {
			r.onlyBlocks(p, o)
			if r.cfg.Field(r.cfg.Attr(o, schema.ASet), schema.ABreakout).Kind != lang.Absent {
				r.needsBlock(p, o, schema.ABreakout)
			}
		}
	}
}

// nameMeant helps with the name of a block that a device does not have.
func (r *resolver) nameMeant(d fabric.DeviceID, owner lang.BlockID, k schema.Kind, name string) string {
	var names []string
	if k == schema.Port {
		for _, p := range r.portsOf[d].ports {
			names = append(names, r.f.Text(p.name))
		}
	} else {
		r.kids(owner, k, func(own lang.BlockID) { names = append(names, r.blockName(own)) })
	}
	if len(names) == 0 {
		return "it has none: name another device, or write the block"
	}
	has := "it has " + summarize(names)
	if near := lang.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q? %s", near, has)
	}
	return has
}

// onlyBlocks refuses what is read where the block of a port is, for one that has none.
func (r *resolver) onlyBlocks(p fabric.PortID, by lang.BlockID) {
	for _, n := range [2]schema.Attr{schema.AAddress, schema.AVRF} {
		if at(r.cfg, by, n).Kind != lang.Absent {
			r.needsBlock(p, by, n)
		}
	}
}

func (r *resolver) needsBlock(p fabric.PortID, by lang.BlockID, n schema.Attr) {
	r.fail(fmt.Sprintf("%s is set on port %s, which no block speaks of", n.Name(), r.f.PortName(p)), "write a `port` block for it: only there it is read",
		r.f.Label(r.decl(by), 0, n, ""))
}
