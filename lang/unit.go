package lang

import (
	"slices"
	"sort"
	"strings"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// unit is the files of one folder, joined: what all instances of a module
// share.
type unit struct {
	dir      string
	files    []*file
	decls    []udecl
	top      []int32            // blocks of the fabric at the top
	ranges   map[int32][]member // of blocks whose label is a range, once asked for
	defaults []int32            // blocks of defaults at the top
	broken   bool
}

// udecl is a decl of a unit: its numbers are the unit's, its strings the
// Config's. Like attrDef it holds no pointer, nor does any row that there are as
// many of: the collector would read them while they are filled.
type udecl struct {
	decl
	self int32 // its own index
	file int32
}

// member is one name of a range.
type member struct{ name, key Str }

// joinUnit appends the tables of files to each other, in the order of names. They
// are numbered by then.
func (ld *loader) joinUnit(dir string, files []*file) *unit {
	u := &unit{dir: dir, files: files, ranges: map[int32][]member{}}
	decls := make([]int, len(files)+1) // where those of a file begin
	for i, f := range files {
		decls[i+1] = decls[i] + len(f.decls)
	}
	u.decls = make([]udecl, decls[len(files)])
	foreign := slices.ContainsFunc(files, func(f *file) bool { return f.foreign })
	for _, f := range files {
		u.broken = u.broken || f.broken
		ld.sizes[f.id] = len(f.src)
		if f.foreign || !foreign { // what is said of words that nobody knows is no finding
			for _, d := range f.diags {
				ld.say(d)
			}
			ld.bound.Add(&f.bound)
		}
		ld.cfg.Ignores = append(ld.cfg.Ignores, f.ignores...)
	}
	tops := make([][]int32, len(files))
	ld.inParts(len(files), 1, func(from, end int) {
		for i := from; i < end; i++ {
			ld.tables.put(&files[i].tables, files[i].shift)
			tops[i] = u.add(int32(i), files[i], int32(decls[i]))
		}
	})
	u.top = slices.Concat(tops...)
	if foreign {
		return u
	}
	for _, t := range u.top {
		if u.decls[t].kind == schema.Defaults {
			u.defaults = append(u.defaults, t)
		}
	}
	ld.formerAdmin(u)
	ld.register(u)
	return u
}

// add moves a file's blocks into the unit, where they begin at base, and returns
// those of the fabric at the top. Attributes stay with the file.
func (u *unit) add(fi int32, f *file, base int32) (top []int32) {
	for i := range f.decls {
		d := udecl{decl: f.decls[i], self: base + int32(i), file: fi}
		if d.parent >= 0 {
			d.parent += base
		} else if !isProg(d.kind) {
			top = append(top, base+int32(i))
		}
		d.end += base
		d.label, d.first, d.head = f.shift.strs[d.label], f.shift.strs[d.first], f.shift.strs[d.head]
		u.decls[base+int32(i)] = d
	}
	for i := range f.decls {
		d := &u.decls[base+int32(i)]
		d.attrs.n = uint32(len(leftOut(f.attrs[d.attrs.first : d.attrs.first+d.attrs.n])))
	}
	for i := range f.attrs {
		f.attrs[i].set(f.shift.value(Value{f.attrs[i].kind, f.attrs[i].n}))
	}
	for i := range f.progs {
		f.progs[i].decl += base
	}
	for i := range f.outside {
		f.outside[i].decl += base
	}
	f.decls = nil
	f.tables = tables{}
	return top
}

// leftOut takes out of the attributes of a block those that are null: they are as if they were not written.
func leftOut(attrs []attr) []attr {
	if !slices.ContainsFunc(attrs, isNull) {
		return attrs
	}
	return slices.DeleteFunc(attrs, isNull)
}

func isNull(a attr) bool { return a.kind == Absent && !a.bad && a.num != schema.AForEach }

func (u *unit) attrsOf(d *udecl) []attr {
	return u.files[d.file].attrs[d.attrs.first : d.attrs.first+d.attrs.n]
}

func (u *unit) attr(d *udecl, i int) *attr { return &u.files[d.file].attrs[int(d.attrs.first)+i] }

// fileOf is the file an attribute was written in.
func (u *unit) fileOf(d *udecl, _ *attr) *file { return u.files[d.file] }

func (u *unit) spanOf(d *udecl) source.Span { return d.at.in(u.files[d.file].id) }

// kids calls f for the blocks inside a block.
func (u *unit) kids(d int32, f func(int32)) {
	for i := d + 1; i < u.decls[d].end; i = u.decls[i].end {
		f(i)
	}
}

// around names the blocks around an offset of a file.
func (u *unit) around(fi int32, at uint32, ld *loader) string {
	first := sort.Search(len(u.decls), func(i int) bool { return u.decls[i].file >= fi })
	end := sort.Search(len(u.decls), func(i int) bool { return u.decls[i].file > fi })
	n := sort.Search(end-first, func(i int) bool { return u.decls[first+i].at.start > at })
	if n == 0 {
		return ""
	}
	var heads []string
	for d := int32(first + n - 1); d >= 0; d = u.decls[d].parent {
		heads = append([]string{ld.strs[u.decls[d].head]}, heads...)
	}
	return strings.Join(heads, ", ")
}

// register checks that no two blocks of the folder have one name.
func (ld *loader) register(u *unit) {
	type key struct {
		kind  schema.Kind
		label Str
	}
	seen := map[key]int32{}
	for _, t := range u.top {
		d := &u.decls[t]
		if d.kind == schema.Target || d.kind == schema.Override {
			continue
		}
		if name := ld.strs[d.label]; d.kind == schema.QoS && u.dir != packDir && ld.predeclared(name) {
			ld.fail(u.spanOf(d), "`qos."+name+"` is predeclared", "call yours otherwise; what it shall have in common with that one it takes over by from = qos."+name)
			d.flags |= isTwice
			continue
		}
		k := key{d.kind, d.label}
		if first, ok := seen[k]; ok {
			ld.fail(u.spanOf(d), "`"+ld.strs[d.head]+"` is written twice", "give one another name, or join them", diag.Label{Span: u.spanOf(&u.decls[first]), Text: "first written"})
			d.flags |= isTwice
			continue
		}
		seen[k] = t
		ld.formerDefault(u, d)
	}
	for i := range u.decls {
		ld.required(u, int32(i))
	}
}

const isTwice declFlags = 1 << 7 // or has the name of what is predeclared

// required reports attributes that a block must have.
func (ld *loader) required(u *unit, i int32) {
	d := &u.decls[i]
	if d.kind == schema.Except || d.kind == schema.Defaults || isProg(d.kind) {
		return
	}
	for p := d.parent; p >= 0; p = u.decls[p].parent {
		if u.decls[p].kind == schema.Except {
			return
		}
	}
	if d.kind == schema.Topology {
		ld.tiersFit(u, i)
	}
	def := schema.Def(d.kind)
	for k := range def.Attrs {
		if ad := &def.Attrs[k]; ad.Required && !u.has(d, ad.Num) {
			ld.fail(u.spanOf(d), "`"+ld.strs[d.head]+"` needs `"+ad.Num.Name()+"`", "write "+wanted(&ad.Type)+"; "+ad.Doc)
			return
		}
	}
	if d.flags&hasForEach != 0 && d.parent >= 0 && d.flags&hasName == 0 {
		ld.fail(u.spanOf(d), "`"+ld.strs[d.head]+"` has for_each and no `name`", "inside a block the label holds no expression: write name = each.key")
	}
	if d.flags&hasForEach != 0 && d.flags&hasRange != 0 {
		ld.fail(u.spanOf(d), "`"+ld.strs[d.head]+"` has a range and for_each", "use one of them")
	}
}

func (u *unit) has(d *udecl, n schema.Attr) bool {
	for _, a := range u.attrsOf(d) {
		if a.num == n {
			return true
		}
	}
	return false
}
