package lang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/cabling"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// finish gives the instances their numbers in the Config, children next to each
// other, and hands it over.
func (ld *loader) finish() (*Config, diag.List) {
	ld.qosCycles()
	c := ld.cfg
	number := ld.number()
	for i := range c.Attrs {
		if a := &c.Attrs[i]; a.kind == Handle {
			a.n = int64(number[a.n])
		}
	}
	for _, l := range ld.lists {
		for i := range l {
			renumber(&l[i], number)
		}
	}
	for _, m := range ld.maps {
		for i := range m {
			renumber(&m[i].Val, number)
		}
	}
	c.pairs = make(map[BlockID][]Value, len(ld.pairVals))
	for id, vs := range ld.pairVals {
		c.pairs[number[id]] = vs
	}
	for i := range c.Cables {
		c.Cables[i].Block = number[c.Cables[i].Block]
	}
	for i := range c.Routes {
		c.Routes[i].Block = number[c.Routes[i].Block]
	}
	c.Lists, c.Maps, c.Ratios = ld.lists, ld.maps, ld.ratios
	c.strings, c.numbers = ld.strs, ld.strTable
	c.modules = make([]string, max(len(ld.mods), 1))
	for _, m := range ld.mods {
		c.modules[m.id] = m.addr
	}
	if len(ld.mods) > 0 {
		c.variables = ld.mods[0].varNames
	}
	c.Unused, c.Former, c.Misplaced = ld.unused(), append(ld.formerFindings(), ld.besideLinks()...), ld.misplacedIn()
	if len(c.Checks) > 0 || ld.Keep || ld.ways != nil {
		c.late = ld
	}
	slices.SortFunc(c.Inputs, func(a, b Input) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Outputs, func(a, b OutputVal) int { return strings.Compare(a.Name, b.Name) })
	return c, ld.sorted()
}

// number fills Config.Blocks breadth first, and returns the new number of each
// instance.
func (ld *loader) number() []BlockID {
	c := ld.cfg
	number := make([]BlockID, len(ld.insts))
	order := make([]instID, 1, len(ld.insts))
	for _, m := range ld.mods {
		for _, f := range m.families {
			for _, id := range f.insts {
				number[id] = BlockID(len(order))
				order = append(order, id)
				c.Top = append(c.Top, number[id])
			}
		}
	}
	c.Blocks = make([]Block, 1, len(ld.insts))
	for i := 1; i < len(order); i++ {
		id := order[i]
		in := &ld.insts[id]
		b := Block{
			Kind: in.kind, Name: in.name, Key: in.key, Label: in.label, Parent: number[in.parent],
			Decl: in.declID, Index: in.index, attrs: in.attrs, kids: span32{uint32(len(order)), 0},
		}
		for kid := in.first; kid != 0; kid = ld.insts[kid].next {
			number[kid] = BlockID(len(order))
			order = append(order, kid)
			b.kids.n++
		}
		c.Blocks = append(c.Blocks, b)
		if in.kind == schema.Connection {
			ld.ways = append(ld.ways, number[id])
		}
	}
	if ld.ways != nil {
		c.insts = order
	}
	return number
}

func renumber(v *Value, number []BlockID) {
	if v.Kind == Handle {
		v.N = int64(number[v.N])
	}
}

// sorted puts the findings in the order of files and places.
func (ld *loader) sorted() diag.List {
	out := ld.diags
	key := func(d *diag.Diagnostic) (string, uint32) {
		if len(d.Labels) == 0 {
			return "", 0
		}
		return ld.files.Name(d.Labels[0].Span.File), d.Labels[0].Span.Start
	}
	slices.SortStableFunc(out, func(a, b diag.Diagnostic) int {
		an, as := key(&a)
		bn, bs := key(&b)
		if c := strings.Compare(an, bn); c != 0 {
			return c
		}
		if as != bs {
			return int(int64(as) - int64(bs))
		}
		return strings.Compare(a.Summary, b.Summary)
	})
	return append(out, ld.bound.Rest()...)
}

// noteValue keeps what is looked for in values as they are evaluated: names of
// models, and ports that need the predeclared contract.
func (ld *loader) noteValue(m *modinst, d *udecl, a *attr, v Value) {
	if m.unit.dir == packDir && a.num != schema.AASIC && a.num != schema.APCIe {
		return
	}
	ld.noteOf(d.of, a.num, v, writtenAt{m.unit, d, a})
}

// media is the capability data that a word for a cable asks for: a block of that name where the source has one, else the word of this language
// for one of NetBox's types.
func (ld *loader) media(v Value) Value {
	word := ld.strs[v.N]
	for _, m := range ld.mods {
		for _, f := range m.families {
			if f.kind == schema.Media && ld.strs[f.label] == word {
				return v
			}
		}
	}
	return ld.text(cabling.Media(word))
}

// noteOf is noteValue for an attribute of a kind of block, wherever it is written.
func (ld *loader) noteOf(of schema.Kind, n schema.Attr, v Value, at writtenAt) {
	switch n {
	case schema.AModel:
		kind := schema.SwitchModel
		if of == schema.NIC {
			kind = schema.NICModel
		}
		ld.want(kind, v, at)
	case schema.AASIC:
		ld.want(schema.ASIC, v, at)
	case schema.ACable, schema.ADefaultCable:
		if v.Kind != Object {
			return
		}
		for _, p := range ld.maps[v.N] {
			if p.Key == fieldKey(schema.AMediaName) {
				ld.want(schema.Media, ld.media(p.Val), at)
			}
		}
	case schema.APCIe:
		if v.Kind != Object {
			return
		}
		for _, p := range ld.maps[v.N] {
			if p.Key == fieldKey(schema.AGen) {
				ld.want(schema.PCIe, ld.text(strconv.FormatInt(p.Val.N, 10)), at)
			}
		}
	case schema.AECN:
		if v.Kind == Object && slices.ContainsFunc(ld.maps[v.N], func(p Pair) bool { return p.Key == fieldKey(schema.AColors) }) {
			f := at.u.fileOf(at.d, at.a)
			f.outside = append(f.outside, misplaced{at.d.self, schema.AECNColors, at.a.at})
		}
	case schema.AExternal:
		ld.extern = ld.extern || v.N == 1
	}
}

// writtenAt is the place of an attribute, computed when it is shown.
type writtenAt struct {
	u *unit
	d *udecl
	a *attr
}

func (ld *loader) want(k schema.Kind, v Value, at writtenAt) {
	if v.Kind != Text {
		return
	}
	key := famKey{k, Str(v.N)}
	if !ld.wanted[key] {
		ld.wanted[key] = true
		ld.wants = append(ld.wants, want{kind: k, name: key.label, at: at.a.at.in(at.u.fileOf(at.d, at.a).id)})
	}
}

func (ld *loader) spanOfAttr(id instID, n schema.Attr) source.Span {
	in := &ld.insts[id]
	if in.decl < 0 {
		return source.Span{}
	}
	u := ld.mods[in.mod].unit
	d := &u.decls[in.decl]
	if a := u.find(d, n); a != nil {
		return a.at.in(u.fileOf(d, a).id)
	}
	return u.spanOf(d)
}

// addrOf is the address of an instance while it is evaluated.
func (ld *loader) addrOf(id instID) string {
	in := &ld.insts[id]
	if in.parent != 0 {
		return ld.addrOf(in.parent) + innerAddress(in.kind, ld.strs[in.name], ld.strs[in.key])
	}
	return topAddress(ld.mods[in.mod].addr, in.kind, ld.strs[in.label], ld.strs[in.key])
}

func topAddress(module string, k schema.Kind, label, key string) string {
	s := module + k.String()
	switch {
	case label == "":
	case isIdent(label):
		s += "." + label
	default:
		s += "[" + quoteKey(label) + "]"
	}
	if key != "" {
		s += "[" + quoteKey(key) + "]"
	}
	return s
}

// isIdent reports whether a label may stand behind a dot. The library scans it, which
// those of ASCII do not need.
func isIdent(s string) bool {
	plain := s != "" && identStart(s[0])
	for i := 0; plain && i < len(s); i++ {
		plain = identByte(s[i])
	}
	return plain || hclsyntax.ValidIdentifier(s)
}

// innerAddress is what a block inside another adds to its address. A switch of a tier goes by its index, a tier of written switches by its word.
func innerAddress(k schema.Kind, name, key string) string {
	switch {
	case k.Tier() && key == "":
		return "." + k.String()
	case k.Tier():
		return "." + k.String() + "[" + key + "]"
	}
	return "." + k.String() + "[" + quoteKey(name) + "]"
}

func (c *Config) address(id BlockID) string {
	b := &c.Blocks[id]
	if b.Parent != 0 {
		return c.address(b.Parent) + innerAddress(b.Kind, c.strings[b.Name], c.strings[b.Key])
	}
	return topAddress(c.modules[c.Decls[b.Decl].Module], b.Kind, c.strings[b.Label], c.strings[b.Key])
}
