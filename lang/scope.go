package lang

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// scope is where an expression stands: which names it sees.
type scope struct {
	ld    *loader
	mod   *modinst
	inst  instID // the block instance whose attribute it is; 0 outside of blocks
	each  *eachVal
	below instID // of the `cable` of a tier: the switch at the lower end
	self  instID // of a connection: the device it is evaluated for
	ctx   *hcl.EvalContext
}

// scopeName is the variable of the library's context that carries the scope. It
// cannot be written in an expression.
const scopeName = "\x00scope"

var scopeType = cty.Capsule("scope", reflect.TypeFor[scope]())

func scopeOf(ctx *hcl.EvalContext) *scope {
	for c := ctx; c != nil; c = c.Parent() {
		if v, ok := c.Variables[scopeName]; ok {
			return v.EncapsulatedValue().(*scope)
		}
	}
	return nil
}

// context is the library's context for a scope. Functions are made when an
// expression calls one.
func (s *scope) context(d deps) *hcl.EvalContext {
	parent := s.mod.ctx
	if d&needsFuncs != 0 && parent.Functions == nil {
		s.ld.functions(s.mod)
	}
	if s.ctx == nil {
		s.ctx = parent.NewChild()
		s.ctx.Variables = map[string]cty.Value{scopeName: cty.CapsuleVal(scopeType, s)}
	}
	return s.ctx
}

var rootNames = []string{
	"var", "local", "module", "each", "self", "port", "nic", "interface", "leaf", "spine", "core",
	"connection", "qos", "segment", "switch", "node", "mlag", "link", "topology", "routing",
}

// resolve follows a reference from its root.
func (s *scope) resolve(trav hcl.Traversal) (val, hcl.Diagnostics) {
	at := trav[0].SourceRange()
	v, m := s.root(trav.RootName())
	if m != nil {
		return val{v: cty.DynamicVal}, hcl.Diagnostics{mistakeAt(at, m)}
	}
	return walk(nil, v, trav[1:])
}

func (s *scope) root(name string) (val, *mistake) {
	v := val{ld: s.ld, mod: s.mod, inst: s.inst}
	if kind, ok := rootKind(name); ok {
		v.form, v.kind = isRoot, kind
		return v, nil
	}
	switch name {
	case "var":
		v.form = isVars
	case "local":
		v.form = isLocals
	case "module":
		v.form = isModules
	case "each":
		v.form, v.each = isEach, s.eachOf()
		if v.each == nil {
			return v, &mistake{"`each` stands for nothing here", "only blocks with for_each, and those inside, have it"}
		}
	case "self":
		v.form = isSelf
		if v.inst = s.self; v.inst == 0 {
			v.inst = s.ld.deviceOf(s.inst)
		}
		if v.inst == 0 {
			return v, &mistake{"`self` stands for nothing here", "it is the switch or node around"}
		}
	case "port", "nic", "interface":
		v.form = isMember
		if v.inst = s.ld.memberOf(s.inst, name); v.inst == 0 {
			return v, &mistake{"`" + name + "` stands for nothing here", "it is the member of a `" + name + "` block; a port of a switch is switch.NAME.port[\"NAME\"]"}
		}
	case "leaf", "spine", "core":
		v.form, v.inst = isTier, s.tierOf(name)
		if v.inst == 0 {
			return v, s.noTier(name)
		}
	default:
		if s.ld.bound.Full(diag.Error) { // only counted
			return v, &mistake{"there is nothing called " + quoteWord(name) + " here", ""}
		}
		return v, &mistake{"there is nothing called " + quoteWord(name) + " here", rootHelp(name)}
	}
	return v, nil
}

func rootHelp(name string) string {
	if n := Nearest(name, rootNames); n != "" {
		return "did you mean " + quoteWord(n) + "? texts stand in quotes"
	}
	return "references start with one of " + quotedPlain(rootNames) + "; texts stand in quotes"
}

func (s *scope) eachOf() *eachVal {
	if s.each != nil {
		return s.each
	}
	for id := s.inst; id != 0; id = s.ld.insts[id].parent {
		if e := s.ld.insts[id].each; e != 0 {
			return s.ld.eaches[e]
		}
	}
	return nil
}

func (ld *loader) deviceOf(id instID) instID {
	for ; id != 0; id = ld.insts[id].parent {
		if ld.insts[id].kind.Device() {
			return id
		}
	}
	return 0
}

func (ld *loader) memberOf(id instID, word string) instID {
	for ; id != 0; id = ld.insts[id].parent {
		if schema.Def(ld.insts[id].kind).Word == word {
			return id
		}
	}
	return 0
}

// eval computes an expression. What goes wrong is reported; ok says whether the
// value can be used.
func (s *scope) eval(f *file, e *expr) (cty.Value, bool) {
	before := s.ld.steps
	if !s.ld.late {
		s.ld.steps = 0 // each expression has its own; conditions have one with all that they ask for
	}
	v, diags := e.tree.Value(s.context(e.deps))
	if !s.ld.late {
		s.ld.steps = before
	}
	if diags.HasErrors() && s.secretIn(e) {
		for _, d := range diags {
			if _, own := d.Extra.(*mistake); !own {
				d.Summary, d.Detail = "this fails, and what it fails on is a secret", "Try it with a value that is none, by --var."
			}
		}
	}
	if !s.ld.report(diags, e.at.in(f.id)) {
		return cty.DynamicVal, false
	}
	known, why := tooLarge(v)
	if why != "" {
		s.ld.fail(e.at.in(f.id), why, "write it in parts, or compute less")
		return cty.DynamicVal, false
	}
	if !known {
		return cty.DynamicVal, false
	}
	return v, true
}

// report adds what the library found. The place is where the expression stands,
// for findings without one.
func (ld *loader) report(diags hcl.Diagnostics, at source.Span) bool {
	ok := true
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		ok = false
		span := at
		if d.Subject != nil {
			if id := ld.files.Lookup(d.Subject.Filename); id != 0 {
				at := placeOf(*d.Subject)
				if size, ok := ld.sizes[id]; ok {
					at = at.within(size)
				}
				span = at.in(id)
			}
		}
		ld.sayHCL(d, span)
	}
	return ok
}

func (ld *loader) sayHCL(d *hcl.Diagnostic, span source.Span) {
	if m, ok := d.Extra.(*mistake); ok {
		ld.fail(span, m.summary, m.help)
		return
	}
	if call, ok := d.Extra.(hclsyntax.FunctionCallUnknownDiagExtra); ok {
		name := call.CalledFunctionName()
		ld.fail(span, "there is no function "+quoteWord(name), ld.functionHelp(name))
		return
	}
	found := fromHCL(d, span)
	before := len(ld.diags)
	ld.fail(span, found.Summary, found.Help)
	if len(ld.diags) > before {
		ld.diags[before].Notes = found.Notes
	}
}

// secretIn reports whether an expression computes with a secret, whose text the
// library's messages may repeat.
func (s *scope) secretIn(e *expr) bool {
	found := false
	ctx := s.context(e.deps)
	hclsyntax.VisitAll(e.tree, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *rootNode:
			if v, diags := n.Value(ctx); !diags.HasErrors() && v.HasMarkDeep(funcs.Sensitive) {
				found = true
			}
		case *hclsyntax.FunctionCallExpr:
			found = found || n.Name == "sensitive"
		}
		return nil
	})
	return found
}

func (ld *loader) functionHelp(name string) string {
	if slices.Contains(Questions, name) {
		return "it asks the compiled fabric, which only check blocks, tests and the console can"
	}
	switch name {
	case "findings", "artifact", "artifacts":
		return "it asks what came of a command, which only tests can"
	}
	if why := funcs.Absent(name); why != "" {
		return why
	}
	var names []string
	for _, f := range funcs.Table(funcs.Env{}) {
		names = append(names, f.Name)
	}
	return choiceHelp(name, "functions are ", names)
}

// frame is something that is being evaluated: a cell, a family, an attribute,
// or the blocks inside of an instance.
type frame struct {
	key  any
	inst instID // of the last, and of an attribute
	head Str    // of an attribute: the block it stands in
	what string
	at   source.Span
}

func (ld *loader) frameName(f *frame) string {
	if a, ok := f.key.(*attr); ok {
		return a.num.Name() + " of " + ld.strs[f.head]
	}
	if f.inst != 0 {
		return "`" + ld.addrOf(f.inst) + "`"
	}
	return f.what
}

// enter notes that something is being evaluated, and finds cycles. On false the
// caller gives up: the finding has been reported.
func (ld *loader) enter(key any, what string, at source.Span) bool {
	return ld.push(frame{key: key, what: what, at: at})
}

// enterKids is enter for the blocks inside of an instance.
func (ld *loader) enterKids(id instID) bool {
	return ld.push(frame{inst: id, at: ld.spanOfInst(id)})
}

func (ld *loader) push(f frame) bool {
	for i := len(ld.stack) - 1; i >= 0; i-- {
		if ld.stack[i].key == f.key && ld.stack[i].inst == f.inst {
			ld.cycle(ld.stack[i:])
			return false
		}
	}
	if len(ld.stack) >= maxFrames {
		if ld.deep {
			return false
		}
		ld.deep = true
		ld.fail(f.at, ld.frameName(&f)+" waits for more than "+strconv.Itoa(maxFrames)+" others", "write one of them out")
		return false
	}
	ld.stack = append(ld.stack, f)
	return true
}

func (ld *loader) leave() { ld.stack = ld.stack[:len(ld.stack)-1] }

// cycle reports things that need each other.
func (ld *loader) cycle(ring []frame) {
	ring = slices.Clone(ring)
	for i := range ring {
		ring[i].what = ld.frameName(&ring[i])
	}
	summary := ring[0].what + " refers to itself"
	var via []string
	var labels []diag.Label
	for i, f := range ring[1:] {
		if i < 8 {
			via = append(via, f.what)
			labels = append(labels, diag.Label{Span: f.at, Where: ld.whereIs(f.at), Text: "which refers to " + ring[(i+2)%len(ring)].what})
		}
	}
	if len(ring) > 9 {
		via = append(via, strconv.Itoa(len(ring)-9)+" more")
	}
	if len(via) > 0 {
		summary += " through " + strings.Join(via, ", ")
	}
	ld.fail(ring[0].at, summary, "one of them has to be written out", labels...)
}

// silent is the mistake of something that failed where it stands: who asked
// for it says nothing more.
var silent = &mistake{}

// cell is a value that is computed when it is first asked for.
type cell struct {
	what      string // "local.x"
	span      source.Span
	origin    source.Span // where the value was written: a default, a file of values, a local
	compute   func() (cty.Value, bool)
	val       cty.Value
	done, ok  bool
	sensitive bool // of an output: declared so
	next      *provenance
}

// provenance is the expression a value was taken from unchanged, so that its
// origin can be followed further.
type provenance struct {
	mod  *modinst
	expr hclsyntax.Expression
}

// force computes a cell once.
func (ld *loader) force(c *cell) (cty.Value, bool) {
	if c.done {
		return c.val, c.ok
	}
	if !ld.enter(c, c.what, c.span) {
		return cty.DynamicVal, false
	}
	v, ok := c.compute()
	ld.leave()
	if !c.done {
		c.val, c.ok, c.done = v, ok, true
	}
	return c.val, c.ok
}

func (ld *loader) ask(c *cell) (val, *mistake) {
	v, ok := ld.force(c)
	if !ok {
		return val{}, silent
	}
	return val{v: v}, nil
}

// secret is the mark that tells which variable a secret came from.
type secret struct {
	name string
	at   source.Span
}

func secretLabels(v cty.Value) []diag.Label {
	var out []diag.Label
	for s := range cty.ValueMarksOfTypeDeep[secret](v) {
		out = append(out, diag.Label{Span: s.at, Text: "secret comes from " + s.name})
	}
	slices.SortFunc(out, func(a, b diag.Label) int { return strings.Compare(a.Text, b.Text) })
	return out[:min(len(out), 2)]
}

func itoa(n int) string { return strconv.Itoa(n) }
