package format

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// describe prints a body: attributes by name, blocks in order, and each
// expression as its tree of nodes with every field that is not a position.
func describe(b *strings.Builder, body *hclsyntax.Body) {
	names := make([]string, 0, len(body.Attributes))
	for n := range body.Attributes {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		b.WriteString(n + "=")
		tree(b, reflect.ValueOf(body.Attributes[n].Expr))
		b.WriteByte('\n')
	}
	for _, blk := range body.Blocks {
		fmt.Fprintf(b, "%s %q {\n", blk.Type, blk.Labels)
		describe(b, blk.Body)
		b.WriteString("}\n")
	}
}

func tree(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		tree(b, v.Elem())
	case reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			tree(b, v.Index(i))
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[cty.Value]() {
			val := v.Interface().(cty.Value)
			if val.Type() == cty.Number && !val.IsNull() {
				b.WriteString(val.AsBigFloat().Text('p', 0)) // 1e99999999 in decimals takes minutes
				return
			}
			fmt.Fprintf(b, "%#v", val)
			return
		}
		b.WriteString(v.Type().Name() + "{")
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Type == reflect.TypeFor[hcl.Range]() || f.Type == reflect.TypeFor[*hcl.Range]() || !f.IsExported() {
				continue
			}
			if f.Name == "Impl" || f.Name == "Type" && f.Type.Kind() != reflect.String {
				continue
			}
			b.WriteString(f.Name + ":")
			tree(b, v.Field(i))
			b.WriteByte(' ')
		}
		b.WriteByte('}')
	default:
		fmt.Fprintf(b, "%v", v)
	}
}
