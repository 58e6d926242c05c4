package funcs

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"go.yaml.in/yaml/v3"
)

// yamlDecode reads one document: mappings become objects, sequences tuples,
// other scalars than null, bool and number text. Aliases and merge keys are
// followed, within the limit on elements.
func yamlDecode(args []cty.Value) (v cty.Value, err error) {
	src := args[0].AsString()
	if strings.Count(src, ",")+strings.Count(src, "\n")+strings.Count(src, "[")+strings.Count(src, "{") > MaxElements {
		return cty.NilVal, elementLimit(MaxElements + 1)
	}
	// The library reports some errors of its scanner by panicking.
	defer func() {
		if r := recover(); r != nil {
			v, err = cty.NilVal, function.NewArgErrorf(0, "the YAML text does not read")
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(src))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return cty.NullVal(dyn), nil
	case err != nil:
		return cty.NilVal, function.NewArgErrorf(0, "the YAML text does not read: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return cty.NilVal, function.NewArgErrorf(0, "more than one YAML document")
	}
	r := yamlReader{left: MaxElements, open: map[*yaml.Node]bool{}}
	return r.value(&doc, 0)
}

type yamlReader struct {
	left int
	open map[*yaml.Node]bool // anchors being followed
}

func yamlFail(n *yaml.Node, format string, args ...any) error {
	return function.NewArgErrorf(0, "YAML line %d: %s", n.Line, fmt.Sprintf(format, args...))
}

func (r *yamlReader) value(n *yaml.Node, depth int) (cty.Value, error) {
	r.left--
	if r.left < 0 {
		return cty.NilVal, elementLimit(MaxElements + 1)
	}
	if depth > maxDepth {
		return cty.NilVal, yamlFail(n, "values are nested deeper than %d", maxDepth)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return r.value(n.Content[0], depth)
	case yaml.AliasNode:
		if r.open[n.Alias] {
			return cty.NilVal, yamlFail(n, "%q contains itself", clip(n.Value))
		}
		r.open[n.Alias] = true
		v, err := r.value(n.Alias, depth+1)
		delete(r.open, n.Alias)
		return v, err
	case yaml.SequenceNode:
		return r.sequence(n, depth)
	case yaml.MappingNode:
		return r.mapping(n, depth)
	}
	return yamlScalar(n)
}

func (r *yamlReader) sequence(n *yaml.Node, depth int) (cty.Value, error) {
	if tag := n.ShortTag(); tag != "!!seq" {
		return cty.NilVal, yamlFail(n, "tag %q is not supported", clip(tag))
	}
	vals := make([]cty.Value, len(n.Content))
	for i, c := range n.Content {
		v, err := r.value(c, depth+1)
		if err != nil {
			return cty.NilVal, err
		}
		vals[i] = v
	}
	return cty.TupleVal(vals), nil
}

func (r *yamlReader) mapping(n *yaml.Node, depth int) (cty.Value, error) {
	if tag := n.ShortTag(); tag != "!!map" {
		return cty.NilVal, yamlFail(n, "tag %q is not supported", clip(tag))
	}
	attrs := make(map[string]cty.Value, len(n.Content)/2)
	var merged []cty.Value
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		v, err := r.value(val, depth+1)
		if err != nil {
			return cty.NilVal, err
		}
		if key.ShortTag() == "!!merge" {
			list := []cty.Value{v}
			if v.Type().IsTupleType() && !v.IsNull() {
				list = v.AsValueSlice()
			}
			merged = append(merged, list...)
			continue
		}
		name, err := yamlKey(key)
		if err != nil {
			return cty.NilVal, err
		}
		if _, ok := attrs[name]; ok {
			return cty.NilVal, yamlFail(key, "key %q is there twice", clip(name))
		}
		attrs[name] = v
	}
	for _, m := range merged {
		if !m.Type().IsObjectType() || m.IsNull() {
			return cty.NilVal, yamlFail(n, "only mappings can be merged")
		}
		for name, v := range m.AsValueMap() {
			if r.left--; r.left < 0 {
				return cty.NilVal, elementLimit(MaxElements + 1)
			}
			if _, ok := attrs[name]; !ok {
				attrs[name] = v
			}
		}
	}
	return cty.ObjectVal(attrs), nil
}

func yamlKey(n *yaml.Node) (string, error) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return "", yamlFail(n, "a key is text or a number")
	}
	return cty.NormalizeString(n.Value), nil
}

func yamlScalar(n *yaml.Node) (cty.Value, error) {
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return cty.NullVal(dyn), nil
	case "!!str", "!!timestamp", "!!binary":
		return cty.StringVal(n.Value), nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return cty.NilVal, yamlFail(n, "%q is not a bool", clip(n.Value))
		}
		return cty.BoolVal(b), nil
	case "!!int", "!!float":
		return yamlNumber(n)
	default:
		return cty.NilVal, yamlFail(n, "tag %q is not supported", clip(tag))
	}
}

// yamlNumber keeps all digits of decimal numbers, which the library would
// round.
func yamlNumber(n *yaml.Node) (cty.Value, error) {
	var v any
	if err := n.Decode(&v); err != nil || len(n.Value) > 4096 {
		return cty.NilVal, yamlFail(n, "%q is not a number", clip(n.Value))
	}
	switch v := v.(type) {
	case int:
		return cty.NumberIntVal(int64(v)), nil
	case int64:
		return cty.NumberIntVal(v), nil
	case uint64:
		return cty.NumberUIntVal(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return cty.NilVal, yamlFail(n, "%s is not a finite number", clip(n.Value))
		}
		plain := strings.TrimPrefix(strings.ReplaceAll(n.Value, "_", ""), "+")
		if exact, err := cty.ParseNumberVal(plain); err == nil {
			return exact, nil
		}
		return cty.NumberFloatVal(v), nil
	}
	return cty.NilVal, yamlFail(n, "%q is not a number", clip(n.Value))
}
