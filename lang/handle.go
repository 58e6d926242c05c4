package lang

import (
	"reflect"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
)

// handle is what a reference to a block is inside of a cty value: an opaque
// value of a type of its own for each kind of block. What can be read through
// it is looked up when it is asked for.
type handle struct {
	ld *loader
	id instID
}

// handleTypes has the cty type of references to each kind of block.
var handleTypes = func() (ts [schema.KindCount]cty.Type) {
	for k := schema.None + 1; k < schema.KindCount; k++ {
		ts[k] = cty.CapsuleWithOps(schema.Def(k).Word, reflect.TypeFor[handle](), &cty.CapsuleOps{
			GoString:     func(v any) string { h := v.(*handle); return h.ld.addrOf(h.id) },
			TypeGoString: func(reflect.Type) string { return schema.Def(k).Word },
			RawEquals:    func(a, b any) bool { return a.(*handle).id == b.(*handle).id },
			HashKey:      func(v any) string { return strconv.Itoa(int(v.(*handle).id)) },
		})
	}
	ts[schema.Leaf], ts[schema.Spine], ts[schema.Core] = ts[schema.Switch], ts[schema.Switch], ts[schema.Switch] // where a switch is taken, so are they
	return ts
}()

func isHandleType(t cty.Type) bool {
	return t.IsCapsuleType() && t.EncapsulatedType() == reflect.TypeFor[handle]()
}

// handleOf returns the block that a value refers to, 0 if it does not.
func handleOf(v cty.Value) instID {
	if v.IsMarked() || !isHandleType(v.Type()) || v.IsNull() || !v.IsKnown() {
		return 0
	}
	return v.EncapsulatedValue().(*handle).id
}

func (ld *loader) handle(id instID) cty.Value {
	return cty.CapsuleVal(handleTypes[ld.insts[id].kind], &handle{ld, id})
}

// inKeyOrder makes a list of a map.
func inKeyOrder(v cty.Value) cty.Value {
	if v.LengthInt() == 0 {
		return cty.ListValEmpty(v.Type().ElementType())
	}
	out := make([]cty.Value, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, el := it.Element()
		out = append(out, el)
	}
	return cty.ListVal(out)
}

type valForm uint8

const (
	isCty     valForm = iota
	isInst            // a block
	isFamily          // a block with for_each, not yet told which
	isKids            // the blocks of a kind inside a block
	isRoot            // `node`, before the name
	isVars            // `var`
	isLocals          // `local`
	isModules         // `module`
	isCall            // a module call with for_each
	isModule          // an instance of a module
	isEach            // `each`
	isSelf            // the device around
	isMember          // `port`, `nic`, `interface`
	isTier            // `leaf`, `spine`, `core`: a generated switch
	isRow             // a row of a table: `each.value` under for_each = rows(...)
)

// val is a value on its way through a reference.
type val struct {
	v     cty.Value
	form  valForm
	kind  schema.Kind
	ld    *loader
	mod   *modinst
	fam   *family
	call  *modCall
	each  *eachVal
	inst  instID
	marks cty.ValueMarks
}

// cty makes a value that expressions can compute with.
func (v val) cty(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	out, m := v.plain()
	if m != nil {
		d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: m.summary, Detail: "", Extra: m}
		return cty.DynamicVal, hcl.Diagnostics{d}
	}
	if len(v.marks) > 0 {
		out = out.WithMarks(v.marks)
	}
	return out, nil
}

func (v val) plain() (cty.Value, *mistake) {
	switch v.form {
	case isCty:
		return v.v, nil
	case isInst:
		return v.ld.handle(v.inst), nil
	case isFamily:
		return v.fam.asMap(v.ld), nil
	case isKids:
		if v.kind.Tier() {
			return v.ld.tierList(v.inst, v.kind)
		}
		return v.ld.kidsMap(v.inst, v.kind), nil
	case isModule:
		return v.mod.outputsValue(v.ld)
	case isCall:
		obj := map[string]cty.Value{}
		for i, key := range v.call.keys {
			out, m := v.call.insts[i].outputsValue(v.ld)
			if m != nil {
				return cty.DynamicVal, m
			}
			obj[key] = out
		}
		return cty.ObjectVal(obj), nil
	case isRow:
		return v.each.whole(), nil
	case isEach:
		return cty.ObjectVal(map[string]cty.Value{"key": v.each.keyValue(), "value": v.each.whole()}), nil
	case isMember, isSelf, isTier:
		obj := map[string]cty.Value{}
		for _, name := range v.names() {
			out, m := v.ld.step(v, name)
			if m != nil {
				return cty.DynamicVal, m
			}
			obj[name] = out.v
		}
		return cty.ObjectVal(obj), nil
	case isRoot:
		return cty.DynamicVal, &mistake{"`" + v.kind.String() + "` alone is no value", "name one: " + v.kind.String() + ".NAME"}
	case isVars:
		return v.ld.allVars(v.mod)
	case isLocals:
		return v.ld.allLocals(v.mod)
	}
	return cty.DynamicVal, &mistake{"`module` alone is no value", "name one: module.NAME.OUTPUT"}
}

var (
	selfNames   = []string{"name", "index", "slot", "rack", "role", "os", "model", "vars"}
	memberNames = []string{"name", "key", "keys", "index"}
	tierNames   = []string{"name", "index", "pod", "group", "plane", "rail"}
)

func (v val) names() []string {
	switch v.form {
	case isSelf:
		return selfNames
	case isTier:
		return tierNames
	}
	return memberNames
}

// walk follows the steps of a traversal.
func walk(ctx *hcl.EvalContext, v val, trav hcl.Traversal) (val, hcl.Diagnostics) {
	for _, t := range trav {
		var diags hcl.Diagnostics
		switch t := t.(type) {
		case hcl.TraverseAttr:
			v, diags = attrOf(v, t)
		case hcl.TraverseIndex:
			v, diags = index(ctx, v, t.Key, t.SrcRange)
		default:
			diags = hcl.Diagnostics{errorAt(t.SourceRange(), "this form of a reference is not supported", "")}
		}
		if diags.HasErrors() {
			return val{v: cty.DynamicVal}, diags
		}
	}
	return v, nil
}

// unwrap turns a cty value that is a handle into a block.
func (v val) unwrap() val {
	if v.form != isCty {
		return v
	}
	plain, marks := v.v.Unmark()
	if isHandleType(plain.Type()) && plain.IsKnown() && !plain.IsNull() {
		h := plain.EncapsulatedValue().(*handle)
		return val{form: isInst, ld: h.ld, inst: h.id, marks: marks}
	}
	return v
}

func attrOf(v val, t hcl.TraverseAttr) (val, hcl.Diagnostics) {
	v = v.unwrap()
	if v.form != isCty {
		return native1(v, t.Name, t.SrcRange)
	}
	if isHandleType(v.v.Type()) {
		if v.v.IsNull() {
			return v, hcl.Diagnostics{errorAt(t.SrcRange, "the reference is null", "It has no attribute "+quoteWord(t.Name)+".")}
		}
		return val{v: cty.DynamicVal}, nil
	}
	out, diags := hcl.GetAttr(v.v, t.Name, &t.SrcRange)
	if diags.HasErrors() {
		if names := attrNames(v.v); names != nil {
			return v, hcl.Diagnostics{withHelp(errorAt(t.SrcRange, "there is no attribute "+quoteWord(t.Name), ""), listHelp(t.Name, names))}
		}
		if plain, _ := v.v.Unmark(); plain.IsKnown() && !plain.IsNull() && plain.Type().IsPrimitiveType() {
			return v, hcl.Diagnostics{withHelp(errorAt(t.SrcRange, "there is no attribute "+quoteWord(t.Name)+": this is a "+plain.Type().FriendlyName(), ""), "leave ."+t.Name+" out, or make an object of what it goes on after")}
		}
	}
	return val{v: out}, diags
}

func attrNames(v cty.Value) []string {
	if v.IsMarked() || v.IsNull() || !v.IsKnown() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return nil
	}
	var names []string
	for it := v.ElementIterator(); it.Next() && len(names) < 1000; {
		k, _ := it.Element()
		names = append(names, k.AsString())
	}
	if v.LengthInt() == 0 {
		return []string{}
	}
	return names
}

func index(ctx *hcl.EvalContext, v val, key cty.Value, at hcl.Range) (val, hcl.Diagnostics) {
	v = v.unwrap()
	if v.form != isCty {
		if key.HasMark(funcs.Sensitive) {
			return v, hcl.Diagnostics{mistakeAt(at, &mistake{"a secret cannot pick a block", "pick it by a key that is no secret"})}
		}
		text, ok := keyString(key)
		if !ok {
			return v, hcl.Diagnostics{errorAt(at, "a key is a text or a whole number", "")}
		}
		_, marks := key.Unmark()
		out, diags := native1(v, text, at)
		out.marks = join(out.marks, marks)
		return out, diags
	}
	out, diags := hcl.Index(v.v, key, &at)
	if diags.HasErrors() {
		if names := attrNames(v.v); names != nil {
			if text, ok := keyString(key); ok && !key.IsMarked() {
				return v, hcl.Diagnostics{withHelp(errorAt(at, "there is no element "+quoteWord(text), ""), listHelp(text, names))}
			}
		}
	}
	return val{v: out}, diags
}

func join(a, b cty.ValueMarks) cty.ValueMarks {
	if len(b) == 0 {
		return a
	}
	out := cty.ValueMarks{}
	for m := range a {
		out[m] = struct{}{}
	}
	for m := range b {
		out[m] = struct{}{}
	}
	return out
}

func native1(v val, name string, at hcl.Range) (val, hcl.Diagnostics) {
	if v.form == isKids && v.kind == schema.Port {
		if id := v.ld.files.Lookup(at.Filename); id != 0 {
			v.ld.refAt = placeOf(at).in(id) // a port may be implied here
		}
	}
	out, m := v.ld.step(v, name)
	if v.form == isInst && v.ld.stepped != nil {
		v.ld.formerStep(placeOf(at).in(v.ld.files.Lookup(at.Filename)), name)
	}
	if m != nil {
		return v, hcl.Diagnostics{mistakeAt(at, m)}
	}
	out.marks = join(out.marks, v.marks)
	return out, nil
}

// withHelp and mistakeAt carry our own help through the library.
func withHelp(d *hcl.Diagnostic, help string) *hcl.Diagnostic {
	d.Extra = &mistake{d.Summary, help}
	return d
}

func mistakeAt(at hcl.Range, m *mistake) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: m.summary, Subject: &at, Extra: m}
}
