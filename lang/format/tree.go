package format

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Tree is a file in which attributes are to be written otherwise.
type Tree struct {
	name   string
	src    []byte
	values map[int]held             // by the byte at which a value starts
	blocks map[int]*hclsyntax.Block // by the byte at which a block's word starts
}

// held is an attribute and the block that it stands in; nil at the top of a file.
type held struct {
	attr *hclsyntax.Attribute
	in   *hclsyntax.Block
}

// Setting is a value that an attribute is to have.
type Setting struct {
	At    int    // byte at which its present value starts, or the word of the block that is to have it
	Path  string // "mtu", or "watchdog.detect" for a field of an object
	Value string // as it is written; "" takes the attribute out
}

// Change replaces bytes of a file.
type Change struct {
	Start, End int
	Text       string
	// What is the attribute that it changes: two changes of one that are not equal
	// cannot both be made.
	What string
}

// Parse reads a file. JSON is refused, as it has no layout to keep.
func Parse(name string, src []byte) (*Tree, *Problem) {
	if strings.HasSuffix(name, ".json") {
		return nil, &Problem{0, 1, 1, "files in JSON are not rewritten"}
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	if p := deep(tokens); p != nil {
		return nil, p
	}
	tree, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, problemOf(diags)
	}
	t := &Tree{name: name, src: src, values: map[int]held{}, blocks: map[int]*hclsyntax.Block{}}
	t.index(tree.Body.(*hclsyntax.Body), nil)
	return t, nil
}

// BlockEnd is the byte after the block whose word starts at a byte. It is false
// where no block starts.
func (t *Tree) BlockEnd(at int) (int, bool) {
	b, ok := t.blocks[at]
	if !ok {
		return 0, false
	}
	return b.CloseBraceRange.End.Byte, true
}

func (t *Tree) index(body *hclsyntax.Body, in *hclsyntax.Block) {
	for _, a := range body.Attributes {
		t.values[a.Expr.Range().Start.Byte] = held{a, in}
	}
	for _, b := range body.Blocks {
		t.blocks[b.TypeRange.Start.Byte] = b
		t.index(b.Body, b)
	}
}

// Set is the change that gives an attribute its value, and leaves all else in the
// file as it is. It is false where there is no such attribute or block, where the
// value is worked out from others and not written, and where it is so already.
func (t *Tree) Set(s Setting) (Change, bool) {
	name, field, _ := strings.Cut(s.Path, ".")
	h, ok := t.values[s.At]
	if !ok {
		b := t.blocks[s.At]
		if b == nil {
			return Change{}, false
		}
		if h = (held{b.Body.Attributes[name], b}); h.attr == nil {
			return t.insert(b, s, name, field)
		}
	}
	if h.attr.Name != name || !plain(h.attr.Expr) {
		return Change{}, false
	}
	what := fmt.Sprint(h.attr.NameRange.Start.Byte, " ", field)
	switch {
	case field != "":
		return t.setField(h, what, field, s.Value)
	case s.Value == "":
		return t.remove(h, what), true
	}
	return t.replace(h.attr.Expr, what, s.Value)
}

// replace is false where nothing changes.
func (t *Tree) replace(e hclsyntax.Expression, what, value string) (Change, bool) {
	r := e.Range()
	return Change{r.Start.Byte, r.End.Byte, value, what}, string(t.src[r.Start.Byte:r.End.Byte]) != value
}

// plain reports whether a value is written where it stands: it refers to nothing
// and calls nothing.
func plain(e hclsyntax.Expression) bool {
	if len(e.Variables()) > 0 {
		return false
	}
	ok := true
	hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n.(type) {
		case *hclsyntax.FunctionCallExpr, *hclsyntax.ConditionalExpr, *hclsyntax.ForExpr, *hclsyntax.BinaryOpExpr:
			ok = false
		}
		return nil
	})
	return ok
}

// setField sets or takes out a field of an object. With its last field an object
// is taken out as well.
func (t *Tree) setField(h held, what, field, value string) (Change, bool) {
	o, ok := h.attr.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return Change{}, false
	}
	i := slices.IndexFunc(o.Items, func(x hclsyntax.ObjectConsItem) bool { return keyOf(x.KeyExpr) == field })
	switch {
	case i >= 0 && value != "":
		return t.replace(o.Items[i].ValueExpr, what, value)
	case i >= 0 && len(o.Items) == 1:
		return t.remove(h, what), true
	case i >= 0:
		return t.removeItem(o, i, what), true
	case value == "":
		return Change{}, false
	}
	text := field + " = " + value
	if len(o.Items) == 0 {
		r := o.SrcRange
		return Change{r.Start.Byte, r.End.Byte, "{ " + text + " }", what}, true
	}
	last := o.Items[len(o.Items)-1]
	end := last.ValueExpr.Range().End
	if close := o.SrcRange.End; close.Line > end.Line { // one field a line
		at := t.lineEnd(end.Byte)
		return Change{at, at, t.newline() + t.indent(last.KeyExpr.Range().Start.Byte) + text, what}, !bytes.HasPrefix(bytes.TrimLeft(t.src[end.Byte:], " \t"), []byte(","))
	}
	return Change{end.Byte, end.Byte, ", " + text, what}, true
}

// removeItem takes a field out with the comma or the line that parts it from its
// neighbour.
func (t *Tree) removeItem(o *hclsyntax.ObjectConsExpr, i int, what string) Change {
	from, to := o.Items[i].KeyExpr.Range().Start.Byte, o.Items[i].ValueExpr.Range().End.Byte
	if i+1 < len(o.Items) {
		to = o.Items[i+1].KeyExpr.Range().Start.Byte
	} else {
		from = o.Items[i-1].ValueExpr.Range().End.Byte
	}
	return Change{from, to, t.comments(from, to), what}
}

// comments are those between two bytes, a line each, and a line end behind them.
func (t *Tree) comments(from, to int) string {
	tokens, _ := hclsyntax.LexConfig(t.src[from:to], t.name, hcl.InitialPos)
	var b strings.Builder
	for _, k := range tokens {
		if k.Type == hclsyntax.TokenComment {
			b.WriteString(" " + strings.TrimRight(string(k.Bytes), "\r\n") + t.newline())
		}
	}
	return b.String()
}

func keyOf(e hclsyntax.Expression) string {
	if k, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		if word := hcl.ExprAsKeyword(k.Wrapped); word != "" {
			return word
		}
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.IsNull() || v.Type().FriendlyName() != "string" {
		return ""
	}
	return v.AsString()
}

// remove takes an attribute out with its line. A comment behind it stays, on the
// line alone.
func (t *Tree) remove(h held, what string) Change {
	from, to := h.attr.SrcRange.Start.Byte, h.attr.SrcRange.End.Byte
	if b := h.in; b != nil && b.OpenBraceRange.Start.Line == b.CloseBraceRange.Start.Line {
		return Change{b.OpenBraceRange.End.Byte, b.CloseBraceRange.Start.Byte, "", what}
	}
	end := t.lineEnd(to)
	if rest := bytes.TrimLeft(t.src[to:max(to, end)], " \t\r"); len(rest) > 0 {
		return Change{from, end - len(rest), "", what}
	}
	// With the line end before it: what is written behind the line has its own.
	from -= len(t.indent(from))
	if from > 0 {
		from = t.lineEnd(from)
	}
	return Change{from, end, "", what}
}

// insert writes an attribute behind those that stand before the blocks of a body.
func (t *Tree) insert(b *hclsyntax.Block, s Setting, name, field string) (Change, bool) {
	if s.Value == "" {
		return Change{}, false
	}
	text := name + " = " + s.Value
	if field != "" {
		text = name + " = { " + field + " = " + s.Value + " }"
	}
	what := fmt.Sprint(b.TypeRange.Start.Byte, " ", name)
	outer := t.indent(b.TypeRange.Start.Byte)
	inner := outer + "  "
	open, close := b.OpenBraceRange, b.CloseBraceRange
	if open.Start.Line == close.Start.Line {
		lines := []string{"", inner + text, outer}
		if has := strings.TrimSpace(string(t.src[open.End.Byte:close.Start.Byte])); has != "" {
			lines = slices.Insert(lines, 1, inner+has)
		}
		return Change{open.End.Byte, close.Start.Byte, strings.Join(lines, t.newline()), what}, true
	}
	at := open.End.Byte
	first := close.Start.Byte // the first block in it
	for _, x := range b.Body.Blocks {
		first = min(first, x.TypeRange.Start.Byte)
	}
	for _, a := range b.Body.Attributes {
		if r := a.SrcRange; r.End.Byte > at && r.End.Byte <= first {
			at, inner = r.End.Byte, t.indent(r.Start.Byte)
		}
	}
	at = t.lineEnd(at)
	return Change{at, at, t.newline() + inner + text, what}, true
}

// lineEnd is the offset of what ends the line of a byte.
func (t *Tree) lineEnd(at int) int {
	if at > 0 && t.src[at-1] == '\n' {
		at-- // a heredoc ends with its line
	}
	n := bytes.IndexByte(t.src[at:], '\n')
	if n < 0 {
		return len(t.src)
	}
	if end := at + n; end > at && t.src[end-1] == '\r' {
		return end - 1
	}
	return at + n
}

// indent is the white space before a byte, "" where there is anything else.
func (t *Tree) indent(at int) string {
	line := t.src[bytes.LastIndexByte(t.src[:at], '\n')+1 : at]
	if len(bytes.TrimLeft(line, " \t")) > 0 {
		return ""
	}
	return string(line)
}

func (t *Tree) newline() string {
	if bytes.Contains(t.src, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// Clash reports whether two changes cannot both be made. Equal ones can: they are
// made once.
func Clash(a, b Change) bool {
	switch {
	case a == b:
		return false
	case a.What != "" && a.What == b.What:
		return true
	}
	return a.Start < b.End && b.Start < a.End // an insertion at the edge of another change is beside it
}

// Apply makes changes that do not clash. A file in canonical layout is in it
// afterwards; of any other, only the bytes of the changes differ. With a problem
// it returns the file as it was.
func (t *Tree) Apply(changes []Change) ([]byte, *Problem) {
	list := slices.Clone(changes)
	slices.SortStableFunc(list, func(a, b Change) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	var out []byte
	at := 0
	var made []Change
	for _, c := range list {
		if slices.Contains(made, c) {
			continue
		}
		if slices.ContainsFunc(made, func(m Change) bool { return Clash(m, c) }) || c.Start < at || c.End < c.Start || c.End > len(t.src) {
			return t.src, &Problem{c.Start, 1, 1, fmt.Sprintf("two changes of the bytes at %d", c.Start)}
		}
		made = append(made, c)
		out = append(append(out, t.src[at:c.Start]...), c.Text...)
		at = c.End
	}
	out = append(out, t.src[at:]...)
	if tidied, problem := Source(t.name, t.src); problem == nil && bytes.Equal(tidied, t.src) {
		if tidied, problem = Source(t.name, out); problem != nil {
			return t.src, problem
		}
		return tidied, nil
	}
	if _, diags := hclsyntax.ParseConfig(out, t.name, hcl.InitialPos); diags.HasErrors() {
		return t.src, problemOf(diags)
	}
	return out, nil
}
