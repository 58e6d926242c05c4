package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/rocec/rocec/lang/schema"
)

// typeReader reads the type of a variable: Terraform's type constraints, and
// the words of blocks for references to them.
type typeReader struct {
	ld   *loader
	file *file
}

// handleWords are the blocks whose words are types.
var handleWords = []schema.Kind{
	schema.Connection, schema.QoS, schema.Segment, schema.Switch, schema.Node, schema.MLAG, schema.Link, schema.Topology, schema.Routing,
	schema.Port, schema.NIC, schema.LAG, schema.Bond, schema.Interface,
}

// cableType is the type `cable`: the object of a link.
var cableType = cty.ObjectWithOptionalAttrs(map[string]cty.Type{"media": cty.String, "length": cty.String, "delay": cty.String}, []string{"media", "length", "delay"})

func wordType(word string) (cty.Type, bool) {
	switch word {
	case "string":
		return cty.String, true
	case "number":
		return cty.Number, true
	case "bool":
		return cty.Bool, true
	case "any":
		return cty.DynamicPseudoType, true
	case "cable":
		return cableType, true
	}
	for _, k := range handleWords {
		if schema.Def(k).Word == word {
			return handleTypes[k], true
		}
	}
	return cty.DynamicPseudoType, false
}

func typeWords() []string {
	words := []string{"string", "number", "bool", "any", "list", "map", "set", "object", "tuple", "cable"}
	for _, k := range handleWords {
		words = append(words, schema.Def(k).Word)
	}
	return words
}

func (r *typeReader) fail(at hcl.Range, summary, help string) (cty.Type, *typeexpr.Defaults) {
	r.ld.fail(placeOf(at).in(r.file.id), summary, help)
	return cty.DynamicPseudoType, nil
}

// read returns the type an expression stands for, and the defaults in it.
func (r *typeReader) read(e hclsyntax.Expression) (cty.Type, *typeexpr.Defaults) {
	if p, ok := e.(*hclsyntax.ParenthesesExpr); ok {
		return r.read(p.Expression)
	}
	if word := hcl.ExprAsKeyword(e); word != "" {
		if t, ok := wordType(word); ok {
			return t, nil
		}
		switch word {
		case "list", "map", "set", "object", "tuple":
			return r.fail(e.Range(), "type `"+word+"` needs what is in it", "write "+word+"(string), for example")
		}
		return r.fail(e.Range(), "there is no type "+quoteWord(word), choiceHelp(word, "types are ", typeWords()))
	}
	call, ok := e.(*hclsyntax.FunctionCallExpr)
	if !ok {
		return r.fail(e.Range(), "this is no type", "types are "+quotedPlain(typeWords()))
	}
	if len(call.Args) != 1 {
		return r.fail(e.Range(), "type `"+call.Name+"` takes one argument, and has "+itoa(len(call.Args)), "write the type of what is in it, as in list(string) or object({ name = string })")
	}
	switch call.Name {
	case "list", "set", "map":
		et, d := r.read(call.Args[0])
		t := map[string]func(cty.Type) cty.Type{"list": cty.List, "set": cty.Set, "map": cty.Map}[call.Name](et)
		if d == nil {
			return t, nil
		}
		return t, &typeexpr.Defaults{Type: t, Children: map[string]*typeexpr.Defaults{"": d}}
	case "object":
		return r.object(call.Args[0])
	case "tuple":
		return r.tuple(call.Args[0])
	case "optional":
		return r.fail(e.Range(), "`optional` stands for a field of an object only", "write object({ name = optional(string) }); a variable is optional by its `default`")
	}
	return r.fail(call.NameRange, "there is no type "+quoteWord(call.Name), choiceHelp(call.Name, "types are ", typeWords()))
}

func (r *typeReader) tuple(e hclsyntax.Expression) (cty.Type, *typeexpr.Defaults) {
	list, ok := e.(*hclsyntax.TupleConsExpr)
	if !ok {
		return r.fail(e.Range(), "`tuple` takes a list of types", "write tuple([string, number])")
	}
	types := make([]cty.Type, len(list.Exprs))
	children := map[string]*typeexpr.Defaults{}
	for i, el := range list.Exprs {
		t, d := r.read(el)
		types[i] = t
		if d != nil {
			children[itoa(i)] = d
		}
	}
	t := cty.Tuple(types)
	if len(children) == 0 {
		return t, nil
	}
	return t, &typeexpr.Defaults{Type: t, Children: children}
}

func (r *typeReader) object(e hclsyntax.Expression) (cty.Type, *typeexpr.Defaults) {
	obj, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return r.fail(e.Range(), "`object` takes fields and their types", "write object({ name = string })")
	}
	types, optional := map[string]cty.Type{}, []string{}
	values, children := map[string]cty.Value{}, map[string]*typeexpr.Defaults{}
	for _, it := range obj.Items {
		name := hcl.ExprAsKeyword(it.KeyExpr)
		if name == "" {
			r.fail(it.KeyExpr.Range(), "a field's name is a plain word", "write object({ name = string })")
			continue
		}
		if _, ok := types[name]; ok {
			r.fail(it.KeyExpr.Range(), "field "+quoteWord(name)+" is written twice", "leave one out")
			continue
		}
		te := it.ValueExpr
		var dflt hclsyntax.Expression
		if call, ok := te.(*hclsyntax.FunctionCallExpr); ok && call.Name == "optional" {
			if n := len(call.Args); n != 1 && n != 2 {
				r.fail(call.Range(), "`optional` takes a type and at most a default", "write optional(number, 9000)")
				continue
			}
			te = call.Args[0]
			optional = append(optional, name)
			if len(call.Args) == 2 {
				dflt = call.Args[1]
			}
		}
		t, d := r.read(te)
		types[name] = t
		if d != nil {
			children[name] = d
		}
		if dflt == nil {
			continue
		}
		v, diags := dflt.Value(nil)
		if diags.HasErrors() {
			r.fail(dflt.Range(), "a default in a type is a plain value", "write it out: no references and no calls")
			continue
		}
		v, err := convert.Convert(v, t.WithoutOptionalAttributesDeep())
		if err != nil {
			r.fail(dflt.Range(), "the default of "+quoteWord(name)+" does not fit its type: "+err.Error(), "write one or the other differently")
			continue
		}
		values[name] = v
	}
	t := cty.ObjectWithOptionalAttrs(types, optional)
	if len(values) == 0 && len(children) == 0 {
		return t, nil
	}
	return t, &typeexpr.Defaults{Type: t, DefaultValues: values, Children: children}
}

// fit converts a value to the type of a variable. The text says what does not
// fit, and holds no values.
func fit(v cty.Value, t cty.Type, d *typeexpr.Defaults) (cty.Value, string) {
	v = familiesAsLists(v, t)
	if d != nil && !v.IsNull() {
		v = d.Apply(v)
	}
	if t == cty.DynamicPseudoType {
		return v, ""
	}
	out, err := convert.Convert(v, t)
	if err != nil {
		return cty.DynamicVal, errorText(err)
	}
	return out, ""
}

// errorText is the message of a conversion, with the path to what is wrong.
func errorText(err error) string {
	pe, ok := err.(cty.PathError)
	if !ok || len(pe.Path) == 0 {
		return lowerFirst(err.Error())
	}
	var b strings.Builder
	for _, s := range pe.Path {
		switch s := s.(type) {
		case cty.GetAttrStep:
			b.WriteString("." + s.Name)
		case cty.IndexStep:
			if text, ok := keyString(s.Key); ok {
				b.WriteString("[" + text + "]")
			}
		}
	}
	return "at " + strings.TrimPrefix(b.String(), ".") + ": " + lowerFirst(err.Error())
}

// familiesAsLists makes lists of the maps of references that stand where a list
// is wanted: a block with for_each gives its values in key order.
func familiesAsLists(v cty.Value, t cty.Type) cty.Value {
	if v.IsNull() || !v.IsKnown() || v.IsMarked() {
		return v
	}
	vt := v.Type()
	switch {
	case t.IsListType() || t.IsSetType():
		if vt.IsMapType() && isHandleType(vt.ElementType()) {
			return inKeyOrder(v)
		}
		if vt.IsObjectType() && v.LengthInt() > 0 && allHandles(v) {
			return cty.TupleVal(sortedElements(v))
		}
	case t.IsObjectType() && vt.IsObjectType():
		obj := v.AsValueMap()
		for name, at := range t.AttributeTypes() {
			if el, ok := obj[name]; ok {
				obj[name] = familiesAsLists(el, at)
			}
		}
		if len(obj) > 0 {
			return cty.ObjectVal(obj)
		}
	}
	return v
}

func allHandles(v cty.Value) bool {
	for it := v.ElementIterator(); it.Next(); {
		if _, el := it.Element(); handleOf(el) == 0 {
			return false
		}
	}
	return true
}

// sortedElements lists the values of an object or map in key order.
func sortedElements(v cty.Value) []cty.Value {
	m := v.AsValueMap()
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make([]cty.Value, len(keys))
	for i, k := range keys {
		out[i] = m[k]
	}
	return out
}

// typeName writes a type as one writes it.
func typeName(t cty.Type) string {
	switch {
	case t == cty.DynamicPseudoType:
		return "any value"
	case t == cty.String, t == cty.Number, t == cty.Bool:
		return t.FriendlyName()
	case isHandleType(t):
		for _, k := range handleWords {
			if t.Equals(handleTypes[k]) {
				return schema.Def(k).Word
			}
		}
	case t.IsListType():
		return "list(" + typeName(t.ElementType()) + ")"
	case t.IsSetType():
		return "set(" + typeName(t.ElementType()) + ")"
	case t.IsMapType():
		return "map(" + typeName(t.ElementType()) + ")"
	case t.IsObjectType():
		return "an object"
	case t.IsTupleType():
		return "a tuple"
	}
	return t.FriendlyName()
}
