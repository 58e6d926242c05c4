package lang

import (
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/source"
)

// eachVal is what `each` stands for in one instance. A row of a table is not
// made a value unless it is asked for as a whole.
type eachVal struct {
	key   string
	value cty.Value
	rows  *funcs.Rows
	row   int
}

func (e *eachVal) keyValue() cty.Value { return cty.StringVal(e.key) }

func (e *eachVal) whole() cty.Value {
	if e.rows == nil {
		return e.value
	}
	m := make(map[string]cty.Value, len(e.rows.Header))
	for i, h := range e.rows.Header {
		m[h] = cty.StringVal(e.rows.Records[e.row][i])
	}
	return cty.ObjectVal(m)
}

func (e *eachVal) cell(name string) (val, *mistake) {
	for i, h := range e.rows.Header {
		if h == name {
			return val{v: cty.StringVal(e.rows.Records[e.row][i])}, nil
		}
	}
	return val{}, &mistake{"the table has no column " + quoteWord(name), listHelp(name, e.rows.Header)}
}

// rowTable is a CSV file with a key, read once.
type rowTable struct {
	rows  *funcs.Rows
	order []int // by key
	err   error
}

// forEach evaluates for_each: a map, a set of strings, or rows(...), which is
// read without becoming a value.
func (ld *loader) forEach(s *scope, f *file, num int32, at place) ([]*eachVal, bool) {
	e := &f.exprs[num-1]
	if call, ok := e.tree.(*hclsyntax.FunctionCallExpr); ok && call.Name == "rows" && len(call.Args) == 2 && !call.ExpandFinal {
		return ld.forRows(s, f, e, call)
	}
	v, ok := s.eval(f, e)
	if !ok {
		return nil, false
	}
	span := at.in(f.id)
	if v.HasMark(funcs.Sensitive) {
		ld.fail(span, "for_each is a secret, and its keys would land in artifacts", "go over names that are no secret, and look the secret up by each.key", secretLabels(v)...)
		return nil, false
	}
	v, _ = v.Unmark()
	t := v.Type()
	if v.IsNull() {
		ld.fail(span, "for_each is null", "write {} for none")
		return nil, false
	}
	if v.CanIterateElements() {
		if n := v.LengthInt(); n > maxKeys { // said before anything goes over them: that sorts
			ld.fail(span, "for_each has "+itoa(n)+" elements, at most "+itoa(maxKeys)+" are allowed", "divide the fabric, check what makes so many, or read a table: rows(\"nodes.csv\", \"name\")")
			return nil, false
		}
	}
	var out []*eachVal
	switch {
	case t.IsMapType() || t.IsObjectType():
		for it := v.ElementIterator(); it.Next(); {
			k, el := it.Element()
			out = append(out, &eachVal{key: k.AsString(), value: el})
		}
		slices.SortFunc(out, func(a, b *eachVal) int { return strings.Compare(a.key, b.key) })
	case t.IsSetType() && (t.ElementType() == cty.String || t.ElementType() == cty.DynamicPseudoType):
		for it := v.ElementIterator(); it.Next(); {
			_, el := it.Element()
			if el.IsNull() || el.Type() != cty.String || el.IsMarked() {
				ld.fail(span, "for_each takes a map or a set of texts, and this set holds something else", "write texts: toset([\"a\", \"b\"])")
				return nil, false
			}
			out = append(out, &eachVal{key: el.AsString(), value: el})
		}
		slices.SortFunc(out, func(a, b *eachVal) int { return strings.Compare(a.key, b.key) })
	case t.IsTupleType() || t.IsListType():
		ld.fail(span, "for_each takes a map or a set of texts, not a list", "write toset([...])")
		return nil, false
	default:
		ld.fail(span, "for_each takes a map or a set of texts, not "+typeName(t), "write toset([\"a\", \"b\"]), { a = ..., b = ... } or rows(\"file.csv\", \"name\")")
		return nil, false
	}
	for _, e := range out {
		if why := badKey(e.key); why != "" {
			ld.fail(span, "key "+quoteWord(e.key)+" of for_each "+why, keyHelp)
			return nil, false
		}
	}
	return out, true
}

func badKey(s string) string {
	if s == "" {
		return "is empty"
	}
	return badLabel(s)
}

func (ld *loader) forRows(s *scope, f *file, e *expr, call *hclsyntax.FunctionCallExpr) ([]*eachVal, bool) {
	var args [2]string
	for i, a := range call.Args {
		v, diags := a.Value(s.context(e.deps))
		at := placeOf(a.Range()).in(f.id)
		if !ld.report(diags, at) {
			return nil, false
		}
		v, _ = v.Unmark()
		v, err := convert.Convert(v, cty.String)
		if err != nil || v.IsNull() {
			ld.fail(at, "rows takes the name of a file and of a column", "write rows(\"nodes.csv\", \"name\")")
			return nil, false
		}
		args[i] = v.AsString()
	}
	t := ld.table(s.mod, args[0], args[1])
	if t.err != nil {
		ld.failRows(t.err, e.at.in(f.id))
		return nil, false
	}
	if len(t.rows.Keys) > maxInstances {
		ld.fail(e.at.in(f.id), "the table has "+itoa(len(t.rows.Keys))+" rows, at most "+itoa(maxInstances)+" are allowed", "divide the fabric")
		return nil, false
	}
	block := make([]eachVal, len(t.order))
	out := make([]*eachVal, len(t.order))
	for i, row := range t.order {
		block[i] = eachVal{key: t.rows.Keys[row], rows: t.rows, row: row}
		out[i] = &block[i]
		if why := badKey(out[i].key); why != "" {
			at, here := t.rows.KeyOffset[row], e.at.in(f.id)
			ld.fail(source.Span{File: ld.rowFiles[t.rows], Start: at.Start, Len: at.Len}, "table "+quoteWord(ld.files.Name(ld.rowFiles[t.rows]))+", row "+itoa(int(at.Row))+": key "+quoteWord(out[i].key)+" "+why,
				"name another column as the key, or mend the row: "+keyHelp, diag.Label{Span: here, Where: ld.whereIs(here), Text: "read here"})
			return nil, false
		}
	}
	return out, true
}

// table reads a CSV file once for each key column.
func (ld *loader) table(m *modinst, name, key string) *rowTable {
	at := m.unit.dir + "\x00" + name + "\x00" + key
	if t, ok := ld.tabs[at]; ok {
		return t
	}
	t := &rowTable{}
	ld.tabs[at] = t
	full, err := insideModule(m.unit.dir, name)
	if err != nil {
		t.err = err
		return t
	}
	src, err := readLimited(ld.FS, full, funcs.MaxFileBytes)
	if err != nil {
		t.err = errors.New("file " + quoteWord(name) + " cannot be read: " + pathError(err))
		return t
	}
	file := ld.files.Add(full, src)
	if t.rows, t.err = funcs.ParseRows(src, full, key); t.err != nil {
		return t
	}
	ld.rowFiles[t.rows] = file
	t.order = make([]int, len(t.rows.Keys))
	for i := range t.order {
		t.order[i] = i
	}
	slices.SortFunc(t.order, func(a, b int) int { return strings.Compare(t.rows.Keys[a], t.rows.Keys[b]) })
	return t
}

func (ld *loader) failRows(err error, at source.Span) {
	var re *funcs.RowsError
	if !errors.As(err, &re) {
		ld.fail(at, err.Error(), "name a file by its path from the folder of the module, which it does not leave")
		return
	}
	span := source.Span{File: ld.files.Lookup(re.File), Start: uint32(re.Start), Len: uint32(re.Len)}
	summary := re.Msg
	if re.Row > 0 {
		summary = "row " + itoa(re.Row) + ": " + summary
	}
	ld.fail(span, "table "+quoteWord(re.File)+", "+summary, re.Help, diag.Label{Span: at, Where: ld.whereIs(at), Text: "read here"})
}
