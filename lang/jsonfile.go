package lang

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/schema"
)

// jsonReader turns the JSON form of a file into the native tree, guided by the
// schema: a key is an attribute or a block by what its block takes. From there
// on both syntaxes are one.
type jsonReader struct {
	shape    jsonShape // nil: the schema's
	src      []byte
	diags    hcl.Diagnostics // of texts that do not parse
	wrong    hcl.Diagnostics // of the structure; the rest is still read
	comments []jsonComment
}

// jsonComment is a "//" property.
type jsonComment struct {
	text  string
	at    hcl.Range
	inner hcl.Range // the object it stands in
	root  bool
}

// jsonShape are words of files that hold no configuration: how many labels a
// block has, by the block that it stands in ("" at the top) and its own word.
// All other words are attributes.
type jsonShape map[[2]string]int

// testsJSON is the shape of files of tests.
var testsJSON = jsonShape{{"", "variables"}: 0, {"", "run"}: 1, {"run", "assert"}: 0, {"run", "expect_artifact"}: 1}

// parseJSON reads a file of configuration, or of another shape.
func parseJSON(src []byte, name string, start hcl.Pos, shape jsonShape) (*hclsyntax.Body, *jsonReader, hcl.Diagnostics) {
	r := &jsonReader{src: src, shape: shape}
	e, diags := hcljson.ParseExpressionWithStartPos(src, name, start)
	if diags.HasErrors() {
		return nil, r, diags
	}
	body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: e.Range(), EndRange: e.Range()}
	for _, obj := range r.objects(e) {
		if shape != nil {
			r.shaped(body, obj, "")
		} else {
			r.body(body, obj, schema.None, true)
		}
	}
	return body, r, r.diags
}

func (r *jsonReader) fail(at hcl.Range, summary, detail string) {
	r.wrong = append(r.wrong, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at})
}

// objects returns an object as a list of one, or the objects of a list.
func (r *jsonReader) objects(e hcl.Expression) []hcl.Expression {
	if isJSONObject(e) {
		return []hcl.Expression{e}
	}
	list, diags := hcl.ExprList(e)
	if diags.HasErrors() {
		r.fail(e.Range(), "an object is needed here", "Write { ... }, or a list of such.")
		return nil
	}
	for _, el := range list {
		if !isJSONObject(el) {
			r.fail(el.Range(), "an object is needed here", "Write { ... }, or a list of such.")
			return nil
		}
	}
	return list
}

func isJSONObject(e hcl.Expression) bool {
	_, diags := hcl.ExprMap(e)
	return !diags.HasErrors()
}

// body reads the properties of an object as attributes and blocks of a kind.
func (r *jsonReader) body(into *hclsyntax.Body, e hcl.Expression, kind schema.Kind, root bool) {
	pairs, _ := hcl.ExprMap(e)
	for _, kv := range pairs {
		name, at := jsonKey(kv.Key)
		if name == "//" {
			if v, _ := kv.Value.Value(nil); v.Type() == cty.String && !v.IsNull() {
				r.comments = append(r.comments, jsonComment{v.AsString(), kv.Value.Range(), e.Range(), root})
			}
			continue
		}
		word, labels := blockShape(kind, name)
		if word {
			r.blocks(into, name, at, kv.Value, kind, labels, nil, nil)
			continue
		}
		if kind == schema.None {
			// The reducer reports it, with suggestions.
			into.Blocks = append(into.Blocks, &hclsyntax.Block{Type: name, Body: emptyBody(at), TypeRange: at, OpenBraceRange: at, CloseBraceRange: at})
			continue
		}
		if old, ok := into.Attributes[name]; ok {
			r.fail(at, "attribute "+quoteWord(name)+" is written twice", "It was written before at line "+strconv.Itoa(old.NameRange.Start.Line)+".")
			continue
		}
		into.Attributes[name] = &hclsyntax.Attribute{Name: name, Expr: r.expr(kv.Value), SrcRange: hcl.RangeBetween(at, kv.Value.Range()), NameRange: at, EqualsRange: at}
	}
}

// shaped reads the properties of an object as attributes and blocks of a shape.
func (r *jsonReader) shaped(into *hclsyntax.Body, e hcl.Expression, in string) {
	pairs, _ := hcl.ExprMap(e)
	for _, kv := range pairs {
		name, at := jsonKey(kv.Key)
		if name == "//" {
			continue
		}
		labels, word := r.shape[[2]string{in, name}]
		switch {
		case word && labels == 0:
			r.shapedBlocks(into, name, at, kv.Value, nil, nil)
		case word:
			for _, obj := range r.objects(kv.Value) {
				named, _ := hcl.ExprMap(obj)
				for _, b := range named {
					if label, labelAt := jsonKey(b.Key); label != "//" {
						r.shapedBlocks(into, name, labelAt, b.Value, []string{label}, []hcl.Range{labelAt})
					}
				}
			}
		case into.Attributes[name] != nil:
			r.fail(at, "attribute "+quoteWord(name)+" is written twice", "It was written before at line "+strconv.Itoa(into.Attributes[name].NameRange.Start.Line)+".")
		default:
			into.Attributes[name] = &hclsyntax.Attribute{Name: name, Expr: r.expr(kv.Value), SrcRange: hcl.RangeBetween(at, kv.Value.Range()), NameRange: at, EqualsRange: at}
		}
	}
}

func (r *jsonReader) shapedBlocks(into *hclsyntax.Body, word string, head hcl.Range, e hcl.Expression, names []string, places []hcl.Range) {
	for _, obj := range r.objects(e) {
		body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: obj.Range(), EndRange: obj.Range()}
		r.shaped(body, obj, word)
		into.Blocks = append(into.Blocks, &hclsyntax.Block{
			Type: word, Labels: names, Body: body, TypeRange: head, LabelRanges: places,
			OpenBraceRange: hcl.Range{Filename: head.Filename, Start: head.End, End: head.End}, CloseBraceRange: obj.Range(),
		})
	}
}

func emptyBody(at hcl.Range) *hclsyntax.Body {
	return &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: at, EndRange: at}
}

// blockShape reports whether a word is a block inside a kind, and its labels.
func blockShape(parent schema.Kind, word string) (bool, int) {
	switch {
	case parent == schema.Variable && word == "validation", parent == schema.Check && word == "assert":
		return true, 0
	case parent == schema.Except:
		for k := schema.None + 1; k < schema.KindCount; k++ {
			if schema.Def(k).Word == word && innerKind(k) {
				return true, len(schema.Def(k).Labels)
			}
		}
		return false, 0
	}
	k := schema.ByWord(parent, word)
	if k == schema.None {
		return false, 0
	}
	return true, len(schema.Def(k).Labels)
}

func innerKind(k schema.Kind) bool {
	switch k {
	case schema.Port, schema.LAG, schema.Interface, schema.NIC, schema.Bond, schema.GPU:
		return true
	}
	return false
}

// blocks reads a block's labels, one nested object each, then its bodies.
func (r *jsonReader) blocks(into *hclsyntax.Body, word string, at hcl.Range, e hcl.Expression, parent schema.Kind, labels int, names []string, places []hcl.Range) {
	if labels > 0 {
		for _, obj := range r.objects(e) {
			pairs, _ := hcl.ExprMap(obj)
			for _, kv := range pairs {
				name, nameAt := jsonKey(kv.Key)
				if name == "//" {
					continue
				}
				r.blocks(into, word, at, kv.Value, parent, labels-1,
					append(names[:len(names):len(names)], name), append(places[:len(places):len(places)], nameAt))
			}
		}
		return
	}
	kind := schema.ByWord(parent, word)
	if parent == schema.Except {
		for k := schema.None + 1; k < schema.KindCount; k++ {
			if schema.Def(k).Word == word && innerKind(k) {
				kind = k
			}
		}
	}
	if word == "validation" || word == "assert" {
		kind = schema.Check
	}
	for _, obj := range r.objects(e) {
		body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: obj.Range(), EndRange: obj.Range()}
		r.body(body, obj, kind, false)
		head := at
		if len(places) > 0 {
			head = places[len(places)-1]
		}
		into.Blocks = append(into.Blocks, &hclsyntax.Block{
			Type: word, Labels: names, Body: body, TypeRange: head, LabelRanges: places,
			OpenBraceRange: hcl.Range{Filename: at.Filename, Start: head.End, End: head.End}, CloseBraceRange: obj.Range(),
		})
	}
}

func jsonKey(e hcl.Expression) (string, hcl.Range) {
	v, _ := e.Value(nil)
	return v.AsString(), e.Range()
}

// expr turns a JSON value into the native expression it stands for. Texts are
// templates.
func (r *jsonReader) expr(e hcl.Expression) hclsyntax.Expression {
	at := e.Range()
	if pairs, diags := hcl.ExprMap(e); !diags.HasErrors() {
		obj := &hclsyntax.ObjectConsExpr{SrcRange: at, OpenRange: at}
		for _, kv := range pairs {
			name, keyAt := jsonKey(kv.Key)
			if name == "//" {
				continue
			}
			key := r.template(name, keyAt)
			obj.Items = append(obj.Items, hclsyntax.ObjectConsItem{
				KeyExpr:   &hclsyntax.ObjectConsKeyExpr{Wrapped: key, ForceNonLiteral: true},
				ValueExpr: r.expr(kv.Value),
			})
		}
		return obj
	}
	if list, diags := hcl.ExprList(e); !diags.HasErrors() {
		tuple := &hclsyntax.TupleConsExpr{SrcRange: at, OpenRange: at, Exprs: make([]hclsyntax.Expression, len(list))}
		for i, el := range list {
			tuple.Exprs[i] = r.expr(el)
		}
		return tuple
	}
	v, diags := e.Value(nil)
	r.diags = append(r.diags, diags...)
	if v.Type() == cty.String && !v.IsNull() && v.IsKnown() {
		return r.template(v.AsString(), at)
	}
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: at}
}

func (r *jsonReader) template(text string, at hcl.Range) hclsyntax.Expression {
	plain := &hclsyntax.TemplateExpr{
		Parts:    []hclsyntax.Expression{&hclsyntax.LiteralValueExpr{Val: cty.StringVal(text), SrcRange: at}},
		SrcRange: at,
	}
	if !strings.Contains(text, "${") && !strings.Contains(text, "%{") {
		return plain
	}
	if p := checkTemplateDepth([]byte(text)); p != nil {
		r.fail(at, p.summary, "")
		return plain
	}
	// Inside the quotes the bytes are those of the file unless something is escaped.
	start := at.Start
	start.Byte++
	start.Column++
	e, diags := hclsyntax.ParseTemplate([]byte(text), at.Filename, start)
	for _, d := range diags {
		if d.Subject != nil && d.Subject.End.Byte > at.End.Byte {
			d.Subject = &at
		}
	}
	r.diags = append(r.diags, diags...)
	return e
}

// refText is the expression for a text where a reference is wanted: in JSON
// "qos.roce" may be written for "${qos.roce}".
func refText(text, name string, start hcl.Pos) (hcl.Traversal, bool) {
	i := strings.IndexByte(text, '.')
	if i <= 0 || schema.ByWord(schema.None, text[:i]) == schema.None || strings.ContainsAny(text, "*?") {
		return nil, false
	}
	t, diags := hclsyntax.ParseTraversalAbs([]byte(text), name, start)
	return t, !diags.HasErrors()
}
