package lang

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// Unused is something that is declared for others to refer to, and that no
// expression or reference of its folder names. A reference counts even where nothing
// comes of it: in a block whose for_each is empty, or on the side of a conditional
// that is not taken. Hardware is named by text, in any folder: what counts is the text
// that comes of an expression.
type Unused struct {
	Kind    schema.Kind // Variable, Locals of one of them, QoS, Segment, or hardware: SwitchModel, NICModel, ASIC, Media
	Name    string
	Address string // of the first instance of its module: "module.pod.var.mtu"
	Span    source.Span
	Decl    DeclID
}

// mention is a root of references with the name behind it, "" where that is
// computed or all are meant.
type mention struct{ root, name string }

// mention notes what an expression refers to.
func (r *reducer) mention(trav hcl.Traversal) {
	m := mention{root: trav.RootName()}
	if !declaredFor(m.root) {
		return
	}
	if len(trav) > 1 {
		switch s := trav[1].(type) {
		case hcl.TraverseAttr:
			m.name = s.Name
		case hcl.TraverseIndex:
			m.name, _ = keyString(s.Key)
		}
	}
	if m == r.own {
		return // the validation of a variable is no use of it
	}
	if r.named == nil {
		r.named = map[mention]bool{}
	}
	r.named[m] = true
}

func declaredFor(root string) bool {
	switch root {
	case "var", "local", "qos", "segment":
		return true
	}
	return false
}

// unused lists what is declared in the folders of modules and that nothing names, in
// the order of modules, files and lines.
func (ld *loader) unused() (list []Unused) {
	seen := map[*unit]bool{}
	for _, m := range ld.mods {
		if u := m.unit; !seen[u] && u.dir != packDir {
			seen[u] = true
			list = append(list, ld.unusedOf(m)...)
		}
	}
	return list
}

// unusedOf is unused for the folder of a module instance.
func (ld *loader) unusedOf(m *modinst) (list []Unused) {
	named := ld.mentions(m.unit)
	add := func(kind schema.Kind, root, name string, at source.Span, decl int32) {
		if !named[mention{root, name}] && !named[mention{root, ""}] {
			list = append(list, Unused{kind, name, m.addr + root + "." + name, at, m.declBase + DeclID(decl)})
		}
	}
	for _, f := range m.unit.files {
		for i := range f.progs {
			switch p := &f.progs[i]; p.kind {
			case schema.Variable:
				add(p.kind, "var", p.name, m.unit.spanOf(&m.unit.decls[p.decl]), p.decl)
			case schema.Locals:
				for _, a := range p.args {
					add(p.kind, "local", a.name, a.nmAt.in(f.id), p.decl)
				}
			}
		}
	}
	for _, f := range m.families {
		if len(f.insts) == 0 {
			continue // what is not there is not declared
		}
		at := m.unit.spanOf(&m.unit.decls[f.decl])
		switch f.kind {
		case schema.QoS, schema.Segment:
			add(f.kind, f.kind.String(), ld.strs[f.label], at, f.decl)
		case schema.SwitchModel, schema.NICModel, schema.ASIC, schema.Media:
			if key := (famKey{f.kind, f.label}); !ld.wanted[key] && !ld.asked[key] {
				name := ld.strs[f.label]
				list = append(list, Unused{f.kind, name, topAddress(m.addr, f.kind, name, ""), at, m.declBase + DeclID(f.decl)})
			}
		}
	}
	return list
}

// mentions are what the expressions and references of a folder name.
func (ld *loader) mentions(u *unit) map[mention]bool {
	all := map[mention]bool{}
	words := map[Str]string{}
	for _, w := range []string{"qos", "segment"} {
		if n, ok := ld.lookup(w); ok {
			words[n] = w
		}
	}
	var last Str // most references are to devices
	for _, f := range u.files {
		for m := range f.named {
			all[m] = true
		}
		for _, r := range f.refs {
			steps := f.steps[r.first : r.first+r.n]
			root := f.shift.strs[steps[0].text]
			if root == last {
				continue
			}
			if w := words[root]; w == "" {
				last = root
			} else if len(steps) > 1 {
				all[mention{w, ld.strs[f.shift.strs[steps[1].text]]}] = true
			}
		}
	}
	return all
}
