package lang

import (
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// modinst is one instance of a module: the root, or one call of a folder.
type modinst struct {
	id       uint32
	ld       *loader
	unit     *unit
	addr     string // "" or "module.pod1."
	parent   *modinst
	depth    int
	declBase DeclID // of the unit's first decl
	ctx      *hcl.EvalContext
	late     map[string]function.Function // as they are once the fabric is there; nil: not needed yet

	vars, locals, outs             map[string]*cell
	varNames, localNames, outNames []string
	variables                      map[string]*variable
	calls                          map[string]*modCall
	callNames                      []string
	byName                         map[famKey]*family
	families                       []*family
	state                          []declState // index = the unit's decl
	partly                         []*partlyShared
	settled                        map[settledRef]Value
	pods                           progress // of indexing the pods of its topologies
}

// variable is what is declared of an input.
type variable struct {
	file      *file
	prog      *prog
	typ       cty.Type
	defaults  *typeexpr.Defaults
	sensitive bool
	nullable  bool
	given     *given
}

// given is a value for an input, from wherever.
type given struct {
	at      source.Span
	compute func(v *variable) (cty.Value, bool)
	next    *provenance
}

// newModule makes an instance of a folder. Nothing is evaluated yet.
func (ld *loader) newModule(u *unit, parent *modinst, addr string) *modinst {
	m := &modinst{
		id: uint32(len(ld.mods)), ld: ld, unit: u, addr: addr, parent: parent,
		ctx:  &hcl.EvalContext{},
		vars: map[string]*cell{}, locals: map[string]*cell{}, outs: map[string]*cell{},
		variables: map[string]*variable{}, calls: map[string]*modCall{}, byName: map[famKey]*family{}, settled: map[settledRef]Value{},
		state: touched(make([]declState, len(u.decls))),
	}
	if parent != nil {
		m.depth = parent.depth + 1
	}
	ld.mods = append(ld.mods, m)
	ld.addDecls(m)
	for _, t := range u.top {
		ld.addFamily(m, t)
	}
	for _, f := range u.files {
		for i := range f.progs {
			ld.addProg(m, f, &f.progs[i])
		}
	}
	return m
}

// unwritten is the number of an attribute that is written to be null, which is as if
// it were not written: nothing comes from there.
const unwritten = ^schema.Attr(0)

// addDecls enters the decls and spans of a unit for one instance of it.
func (ld *loader) addDecls(m *modinst) {
	c, u := ld.cfg, m.unit
	m.declBase = DeclID(len(c.Decls))
	first := make([]uint32, len(u.decls)+1) // where the spans of a decl begin
	first[0] = uint32(len(c.Spans))
	for i := range u.decls {
		first[i+1] = first[i] + u.decls[i].attrs.n
	}
	var room sync.WaitGroup                                                        // to clear it takes a while where there are many
	room.Go(func() { ld.insts = grow(ld.insts, len(u.decls)) })                    // most are one at least
	room.Go(func() { c.Attrs = grow(c.Attrs, int(first[len(u.decls)]-first[0])) }) // as blocks that are written once have theirs
	room.Go(func() { c.Decls = grow(c.Decls, len(u.decls))[:len(c.Decls)+len(u.decls)] })
	room.Go(func() { c.Spans = grow(c.Spans, int(first[len(u.decls)])-len(c.Spans))[:first[len(u.decls)]] })
	room.Wait()
	ld.inParts(len(u.decls), leastDecls, func(from, end int) {
		for i := from; i < end; i++ {
			d := &u.decls[i]
			row := Decl{Kind: d.kind, Span: u.spanOf(d), Module: m.id, Head: d.head, First: d.first, spans: span32{first[i], d.attrs.n}}
			if d.parent >= 0 {
				row.Parent = m.declBase + DeclID(d.parent)
			}
			for k := range u.attrsOf(d) {
				a := u.attr(d, k)
				sp := Span{Num: a.num, Start: a.at.start, Len: a.at.length}
				if a.kind == Absent && !a.bad {
					sp.Num = unwritten
				}
				c.Spans[int(first[i])+k] = sp
			}
			c.Decls[int(m.declBase)+i] = row
		}
	})
}

// leastDecls is how many decls are worth a goroutine.
const leastDecls = 4096

func (ld *loader) addProg(m *modinst, f *file, p *prog) {
	d := &m.unit.decls[p.decl]
	span := m.unit.spanOf(d)
	switch p.kind {
	case schema.Variable:
		if c, ok := m.vars[p.name]; ok {
			ld.fail(span, "variable "+quoteWord(p.name)+" is written twice", twiceHelp, diag.Label{Span: c.span, Text: "first written"})
			return
		}
		v := &variable{file: f, prog: p}
		m.variables[p.name] = v
		c := &cell{what: "var." + p.name, span: span}
		c.compute = func() (cty.Value, bool) { return ld.variable(m, c, v) }
		m.vars[p.name], m.varNames = c, append(m.varNames, p.name)
		ld.declare(m, v)
	case schema.Locals:
		for i := range p.args {
			a := &p.args[i]
			at := a.at.in(f.id)
			if c, ok := m.locals[a.name]; ok {
				ld.fail(a.nmAt.in(f.id), "local "+quoteWord(a.name)+" is written twice", twiceHelp, diag.Label{Span: c.span, Text: "first written"})
				continue
			}
			e := &f.exprs[a.expr-1]
			m.locals[a.name] = &cell{what: "local." + a.name, span: at, origin: at, next: &provenance{m, e.tree}, compute: func() (cty.Value, bool) {
				return (&scope{ld: ld, mod: m}).eval(f, e)
			}}
			m.localNames = append(m.localNames, a.name)
		}
	case schema.Output:
		if c, ok := m.outs[p.name]; ok {
			ld.fail(span, "output "+quoteWord(p.name)+" is written twice", twiceHelp, diag.Label{Span: c.span, Text: "first written"})
			return
		}
		a := p.arg("value")
		if a == nil {
			return
		}
		e := &f.exprs[a.expr-1]
		c := &cell{what: "output." + p.name, span: a.at.in(f.id), origin: a.at.in(f.id), next: &provenance{m, e.tree}}
		c.compute = func() (cty.Value, bool) {
			v, ok := (&scope{ld: ld, mod: m}).eval(f, e)
			if c.sensitive = ld.flag(m, f, p, "sensitive"); c.sensitive && ok {
				v = v.WithMarks(cty.NewValueMarks(funcs.Sensitive, secret{"output." + p.name, c.span}))
			}
			return v, ok
		}
		m.outs[p.name], m.outNames = c, append(m.outNames, p.name)
	case schema.Module:
		if c, ok := m.calls[p.name]; ok {
			ld.fail(span, "module "+quoteWord(p.name)+" is written twice", twiceHelp, diag.Label{Span: c.span, Text: "first written"})
			return
		}
		m.calls[p.name] = &modCall{mod: m, file: f, prog: p, what: "module." + p.name, span: span}
		m.callNames = append(m.callNames, p.name)
	}
}

// flag reads an argument that is true or false.
func (ld *loader) flag(m *modinst, f *file, p *prog, name string) bool {
	a := p.arg(name)
	if a == nil {
		return false
	}
	v, ok := (&scope{ld: ld, mod: m}).eval(f, &f.exprs[a.expr-1])
	if !ok {
		return false
	}
	v, _ = v.Unmark()
	b, err := convert.Convert(v, cty.Bool)
	if err != nil || b.IsNull() {
		ld.fail(a.at.in(f.id), name+" takes true or false", "write "+name+" = true, or leave it out")
		return false
	}
	return b.True()
}

// declare reads the type and flags of a variable.
func (ld *loader) declare(m *modinst, v *variable) {
	v.typ, v.nullable = cty.DynamicPseudoType, true
	if a := v.prog.arg("type"); a != nil {
		p := typeReader{ld: ld, file: v.file}
		v.typ, v.defaults = p.read(v.file.exprs[a.expr-1].tree)
	}
	v.sensitive = ld.flag(m, v.file, v.prog, "sensitive")
	if v.prog.arg("nullable") != nil {
		v.nullable = ld.flag(m, v.file, v.prog, "nullable")
	}
}

// variable computes the value of an input: what was given, else its default.
func (ld *loader) variable(m *modinst, c *cell, v *variable) (cty.Value, bool) {
	name := v.prog.name
	dflt := v.prog.arg("default")
	val, ok := cty.NullVal(cty.DynamicPseudoType), true
	at := c.span
	if v.given != nil {
		val, ok = v.given.compute(v)
		at, c.next = v.given.at, v.given.next
	}
	if !ok {
		return val, false
	}
	plain, marks := val.Unmark()
	if v.given == nil || plain.IsNull() && !v.nullable {
		if dflt == nil {
			if v.given != nil {
				ld.fail(at, "variable "+quoteWord(name)+" takes no null", "give it a value, or leave out nullable = false where it is declared", diag.Label{Span: c.span, Text: "declared here"})
				return val, false
			}
			return val, ld.notGiven(m, c, name)
		}
		at = dflt.at.in(v.file.id)
		e := &v.file.exprs[dflt.expr-1]
		if plain, ok = (&scope{ld: ld, mod: m}).eval(v.file, e); !ok {
			return plain, false
		}
		if plain, marks = plain.Unmark(); plain.IsNull() && !v.nullable {
			ld.fail(at, "variable "+quoteWord(name)+" takes no null, and its default is null", "write another default, or leave out nullable = false")
			return val, false
		}
	}
	c.origin = at
	out, msg := fit(plain, v.typ, v.defaults)
	if msg != "" {
		if v.sensitive {
			msg = "it is of another type"
		}
		ld.fail(at, "variable "+quoteWord(name)+" takes "+typeName(v.typ)+": "+msg, "write such a value, or another `type` where it is declared", declaredAt(at, c.span)...)
		return out, false
	}
	if v.sensitive {
		marks = join(marks, cty.NewValueMarks(funcs.Sensitive, secret{"var." + name, c.span}))
	}
	if len(marks) > 0 {
		out = out.WithMarks(marks)
	}
	c.val, c.ok, c.done = out, true, true // the conditions refer to it
	return out, ld.validate(m, v, at)
}

func declaredAt(at, span source.Span) []diag.Label {
	if at.File == span.File {
		return nil
	}
	return []diag.Label{{Span: span, Text: "declared here"}}
}

func (ld *loader) notGiven(m *modinst, c *cell, name string) bool {
	help := "give it with --var " + name + "=..., in fabric.rocevars.hcl or as ROCEC_VAR_" + name + ", or write a default"
	if m.parent != nil {
		help = "write it in the module block, or give it a default"
	}
	ld.fail(c.span, "variable "+quoteWord(name)+" has no value", help)
	return false
}

// validate runs the validation blocks of a variable.
func (ld *loader) validate(m *modinst, v *variable, at source.Span) bool {
	ok := true
	s := &scope{ld: ld, mod: m}
	for _, a := range v.prog.asserts {
		holds, done := ld.holds(s, v.file, a)
		if !done {
			ok = false
			continue
		}
		if holds {
			continue
		}
		ok = false
		msg, _ := ld.message(s, v.file, a)
		said := len(ld.diags)
		ld.fail(at, "variable "+quoteWord(v.prog.name)+" is refused: "+msg, "give it another value",
			diag.Label{Span: v.file.exprs[a.cond-1].at.in(v.file.id), Text: "condition"})
		for i := said; i < len(ld.diags); i++ {
			ld.diags[i].Address = m.addr + "var." + v.prog.name // tests expect it by this
		}
	}
	return ok
}

func (ld *loader) holds(s *scope, f *file, a assert) (bool, bool) {
	e := &f.exprs[a.cond-1]
	v, ok := s.eval(f, e)
	if !ok {
		return false, false
	}
	v, _ = v.Unmark()
	b, err := convert.Convert(v, cty.Bool)
	if err != nil || b.IsNull() {
		ld.fail(e.at.in(f.id), "condition is neither true nor false", "compare something, as in condition = var.mtu >= 4096")
		return false, false
	}
	return b.True(), true
}

func (ld *loader) message(s *scope, f *file, a assert) (string, bool) {
	e := &f.exprs[a.msg-1]
	v, ok := s.eval(f, e)
	if !ok {
		return "", false
	}
	if v.HasMarkDeep(funcs.Sensitive) {
		return "the message holds a secret", true
	}
	v, _ = v.Unmark()
	t, err := convert.Convert(v, cty.String)
	if err != nil || t.IsNull() {
		ld.fail(e.at.in(f.id), "error_message is no text", "write what is wrong and what to do, in quotes")
		return "", false
	}
	return strings.TrimSpace(t.AsString()), true
}

func (m *modinst) outputsValue(ld *loader) (cty.Value, *mistake) {
	return allOf(ld, m.outNames, m.outs)
}

func (ld *loader) allVars(m *modinst) (cty.Value, *mistake) { return allOf(ld, m.varNames, m.vars) }
func (ld *loader) allLocals(m *modinst) (cty.Value, *mistake) {
	return allOf(ld, m.localNames, m.locals)
}

func allOf(ld *loader, names []string, cells map[string]*cell) (cty.Value, *mistake) {
	obj := make(map[string]cty.Value, len(names))
	for _, n := range names {
		v, ok := ld.force(cells[n])
		if !ok {
			return cty.DynamicVal, silent
		}
		obj[n] = v
	}
	return cty.ObjectVal(obj), nil
}

// quoteKey writes a text as a quoted one of the language.
func quoteKey(s string) string {
	if !strings.ContainsAny(s, "\\\"\n\r\t$%") {
		return `"` + s + `"`
	}
	return `"` + keyEscapes.Replace(s) + `"`
}

var keyEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "${", "$${", "%{", "%%{")

func (m *modinst) text(s Str) string { return m.ld.strs[s] }
