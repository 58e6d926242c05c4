package format

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/schema"
)

// piece is an attribute that goes elsewhere, with the comments above and behind it.
type piece struct {
	from, to int // bytes: whole lines where it has them for itself
	above    []string
	text     string
	behind   string
	alone    bool // nothing but comments stands on its lines
}

// plain reports whether it can stand on a line with others.
func (p piece) plain() bool {
	return len(p.above) == 0 && p.behind == "" && !strings.Contains(p.text, "\n")
}

// lines are those of the piece, each with its end.
func (p piece) lines(end string) string {
	var b strings.Builder
	for _, c := range p.above {
		b.WriteString(c + end)
	}
	b.WriteString(strings.TrimRight(p.text, "\r\n"))
	if p.behind != "" {
		b.WriteString(" " + p.behind)
	}
	return b.String() + end
}

// pieceOf cuts a pair out of a body or object.
func (f *fixer) pieceOf(p pair) piece {
	start, end := p.start, p.value.Range().End.Byte
	text := string(f.src[start:end])
	if name, value := string(f.src[p.start:p.end]), p.value.Range().Start.Byte; strings.Trim(string(f.src[p.end:value]), " \t=:") == "" {
		text = strings.Trim(name, `"`) + " = " + string(f.src[value:end])
	}
	out := piece{from: start, to: end, text: text}
	first := bytes.LastIndexByte(f.src[:start], '\n') + 1
	last, tail := end, ""
	if f.src[end-1] != '\n' { // a heredoc ends with its line
		last = f.lineEnd(end)
		tail = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(f.src[end:last])), ","))
	}
	if len(bytes.TrimSpace(f.src[first:start])) > 0 || tail != "" && !isComment(tail) {
		return out
	}
	for first > 0 {
		above := bytes.LastIndexByte(f.src[:first-1], '\n') + 1
		line := strings.TrimSpace(string(f.src[above:first]))
		if !isComment(line) {
			break
		}
		out.above = slices.Insert(out.above, 0, line)
		first = above
	}
	if last < len(f.src) && last == f.lineEnd(last) && f.src[end-1] != '\n' {
		last += len(f.lineBreak(last))
	}
	out.from, out.to, out.behind, out.alone = first, last, tail, true
	return out
}

func isComment(line string) bool {
	return strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//")
}

// lineBreak is the line end at a byte.
func (f *fixer) lineBreak(at int) string {
	if bytes.HasPrefix(f.src[at:], []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// maxWidth is the longest line that an object of several attributes is written on.
const maxWidth = 80

// object is what pieces are as an object.
func (f *fixer) object(pieces []piece, indent string) string {
	end := f.newline()
	if len(pieces) <= 3 && !slices.ContainsFunc(pieces, func(p piece) bool { return !p.plain() }) {
		var texts []string
		for _, p := range pieces {
			texts = append(texts, p.text)
		}
		if line := "{ " + strings.Join(texts, ", ") + " }"; len(pieces) == 1 || utf8.RuneCountInString(indent+line) <= maxWidth {
			return line
		}
	}
	return "{" + end + f.indented(pieces, indent+"  ") + indent + "}"
}

func (f *fixer) indented(pieces []piece, indent string) string {
	end := f.newline()
	var b strings.Builder
	for _, p := range pieces {
		lines := strings.SplitAfter(p.lines(end), end)
		for i, line := range lines[:len(lines)-1] {
			if i <= len(p.above) {
				line = indent + line
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

// seen gathers what was seen in `observed`.
func (f *fixer) seen(b *hclsyntax.Block, body *hclsyntax.Body, s site) {
	if b != nil && s.innermost() != schema.None {
		open, close := b.OpenBraceRange, b.CloseBraceRange
		f.gather(bodyPairs(body), []schema.Kind{s.innermost()}, open.Start.Line == close.Start.Line)
	}
	if o, kinds := f.set(b, s); o != nil {
		f.gather(objectPairs(o), kinds, false)
	}
}

func (f *fixer) gather(list []pair, kinds []schema.Kind, single bool) {
	into := find(list, "observed")
	var o *hclsyntax.ObjectConsExpr
	if into != nil {
		o, _ = into.value.(*hclsyntax.ObjectConsExpr)
	}
	var pairs []pair
	var pieces []piece
	for _, p := range list {
		def, _ := oneOf(kinds, p.name)
		if def == nil || !def.Observed {
			continue
		}
		switch {
		case into != nil && o == nil:
			f.byPerson(p.start, "%s is a field of observed, which is worked out here: write it there", p.name)
			continue
		case o != nil && find(objectPairs(o), p.name) != nil:
			f.byPerson(p.start, "%s is a field of observed, which says it too: leave one of them out", p.name)
			continue
		}
		pairs, pieces = append(pairs, p), append(pieces, f.pieceOf(p))
	}
	if len(pieces) == 0 {
		return
	}
	inline := slices.ContainsFunc(pieces, func(p piece) bool { return !p.alone })
	switch {
	case single: // the one attribute of a block on one line
		f.replace(pieces[0].from, pieces[0].to, "observed = { "+pieces[0].text+" }")
		return
	case inline && !f.onePerLine(list):
		f.gatherInline(list, pairs, pieces, o)
		return
	case inline:
		f.byPerson(pairs[0].start, "%s is a field of observed now: write it there", pairs[0].name)
		return
	}
	indent := f.indent(pairs[0].start)
	for _, p := range pieces[min(len(pieces), 1):] {
		f.replace(p.from, p.to, "")
	}
	if o == nil {
		f.replace(pieces[0].from, pieces[0].to, indent+"observed = "+f.object(pieces, indent)+f.newline())
		return
	}
	f.replace(pieces[0].from, pieces[0].to, "")
	f.merge(o, pieces, f.indent(into.start))
}

// onePerLine reports whether the pairs of a body or object begin on lines of their own.
func (f *fixer) onePerLine(list []pair) bool {
	return len(list) > 0 && f.indent(list[0].start) != "" && !slices.ContainsFunc(list, func(p pair) bool {
		return len(bytes.TrimSpace(f.src[bytes.LastIndexByte(f.src[:p.start], '\n')+1:p.start])) > 0
	})
}

// gatherInline does so in an object on one line, of which each field is written anew.
func (f *fixer) gatherInline(list, moved []pair, pieces []piece, o *hclsyntax.ObjectConsExpr) {
	first, last := list[0].start, list[len(list)-1].value.Range().End.Byte
	if f.comments(first, last) != "" || bytes.ContainsRune(f.src[first:last], '\n') {
		f.byPerson(moved[0].start, "%s is a field of observed now: write it there", moved[0].name)
		return
	}
	var fields []string
	if o != nil {
		for _, p := range objectPairs(o) {
			fields = append(fields, f.pieceOf(p).text)
		}
	}
	for _, p := range pieces {
		fields = append(fields, p.text)
	}
	var texts []string
	for _, p := range list {
		if p.name != "observed" && find(moved, p.name) == nil {
			texts = append(texts, string(f.src[p.start:p.value.Range().End.Byte]))
		}
	}
	texts = append(texts, "observed = { "+strings.Join(fields, ", ")+" }")
	f.replace(first, last, strings.Join(texts, ", "))
}

// merge writes pieces at the end of an object that is there.
func (f *fixer) merge(o *hclsyntax.ObjectConsExpr, pieces []piece, indent string) {
	open, close := o.SrcRange.Start.Byte, o.SrcRange.End.Byte-1
	lines := bytes.ContainsRune(f.src[open:close], '\n')
	if lines && f.indent(close) == "" && bytes.LastIndexByte(f.src[:close], '\n')+1 != close {
		lines = false
	}
	if lines {
		at := bytes.LastIndexByte(f.src[:close], '\n') + 1
		f.changes = append(f.changes, Change{Start: at, End: at, Text: f.indented(pieces, indent+"  ")})
		return
	}
	var all []piece
	for _, p := range objectPairs(o) {
		all = append(all, piece{text: string(f.src[p.start:p.value.Range().End.Byte])})
	}
	f.replace(open, close+1, f.object(append(all, pieces...), indent))
}

// colors takes the colours that a switch marks out of `ecn`: they were seen, and the rest of it is a setting.
func (f *fixer) colors(b *hclsyntax.Block, body *hclsyntax.Body, s site) {
	marks := func(k schema.Kind) bool { return schema.Lookup(k, schema.AECNColors.Name()) != nil }
	if b != nil && s.innermost() != schema.None && marks(s.innermost()) {
		f.split(bodyPairs(body), func(text string) {
			if c, ok := f.insert(b, Setting{Value: text}, schema.AECNColors.Name(), ""); ok {
				f.changes = append(f.changes, c)
			}
		})
	}
	if o, kinds := f.set(b, s); o != nil && slices.ContainsFunc(kinds, marks) {
		list := objectPairs(o)
		f.split(list, func(text string) {
			at := list[0].start
			f.changes = append(f.changes, Change{Start: at, End: at, Text: schema.AECNColors.Name() + " = " + text + ", "})
		})
	}
}

// split takes the field out where the attribute says the same, and has the attribute written before.
func (f *fixer) split(list []pair, write func(text string)) {
	ecn := find(list, schema.AECN.Name())
	if ecn == nil {
		return
	}
	o, _ := ecn.value.(*hclsyntax.ObjectConsExpr)
	if o == nil {
		return
	}
	fields := objectPairs(o)
	i := slices.IndexFunc(fields, func(p pair) bool { return p.name == schema.AColors.Name() })
	if i < 0 {
		return
	}
	name := schema.AECNColors.Name()
	text := f.textOf(fields[i].value)
	now := find(list, name)
	if seen := find(list, schema.AObserved.Name()); now == nil && seen != nil {
		if o, ok := seen.value.(*hclsyntax.ObjectConsExpr); ok {
			now = find(objectPairs(o), name)
		}
	}
	switch {
	case len(fields) == 1 && now == nil:
		f.replace(ecn.start, ecn.value.Range().End.Byte, name+" = "+text)
	case now == nil:
		write(text)
	case f.textOf(now.value) == text && len(fields) > 1:
		f.changes = append(f.changes, f.removeItem(o, i, ""))
	default:
		f.byPerson(fields[i].start, "colors is %s of observed now, which is written here too: leave one of them out", name)
	}
}

func (f *fixer) textOf(e hclsyntax.Expression) string {
	r := e.Range()
	return string(f.src[r.Start.Byte:r.End.Byte])
}

// ofLinks are attributes of a tier that speak of the links below it, and stand in its block `link`.
var ofLinks = []schema.Attr{schema.ASpeed, schema.AFEC, schema.AAutoneg, schema.ACable}

// cables gathers what a tier says of its links.
func (f *fixer) cables(b *hclsyntax.Block, body *hclsyntax.Body, s site) {
	kind := s.innermost()
	word := schema.Link.String()
	if b == nil || !kind.Tier() || schema.ByWord(kind, word) == schema.None {
		return
	}
	var pieces []piece
	list := bodyPairs(body)
	last := 0 // where the attributes end
	into := slices.IndexFunc(body.Blocks, func(x *hclsyntax.Block) bool { return x.Type == word })
	for _, p := range list {
		cut := f.pieceOf(p)
		last = cut.to
		switch {
		case !slices.ContainsFunc(ofLinks, func(n schema.Attr) bool { return n.Name() == p.name }):
		case into >= 0 && body.Blocks[into].Body.Attributes[p.name] != nil:
			f.byPerson(p.start, "%s is written in `%s` too: leave one of them out", p.name, word)
		default:
			pieces = append(pieces, cut)
		}
	}
	if len(pieces) == 0 {
		return
	}
	end, indent := f.newline(), f.indent(b.TypeRange.Start.Byte)
	open, close := b.OpenBraceRange, b.CloseBraceRange
	write := func(indent string) string {
		return indent + word + " {" + end + f.indented(pieces, indent+"  ") + indent + "}" + end
	}
	if open.Start.Line == close.Start.Line {
		f.replace(open.End.Byte, close.Start.Byte, end+write(indent+"  ")+indent)
		return
	}
	if into >= 0 {
		f.intoBlock(body.Blocks[into], pieces)
	} else {
		f.changes = append(f.changes, Change{Start: last, End: last, Text: write(f.indent(list[0].start))})
	}
	for _, p := range pieces {
		f.changes = append(f.changes, Change{Start: p.from, End: p.to})
	}
}

// intoBlock writes pieces at the end of a block that is there, but for what it says itself.
func (f *fixer) intoBlock(b *hclsyntax.Block, pieces []piece) {
	open, close := b.OpenBraceRange, b.CloseBraceRange
	end, indent := f.newline(), f.indent(b.TypeRange.Start.Byte)
	lines := f.indented(pieces, indent+"  ")
	if open.Start.Line < close.Start.Line {
		at := bytes.LastIndexByte(f.src[:close.Start.Byte], '\n') + 1
		f.changes = append(f.changes, Change{Start: at, End: at, Text: lines})
		return
	}
	if has := strings.TrimSpace(string(f.src[open.End.Byte:close.Start.Byte])); has != "" {
		lines = indent + "  " + has + end + lines
	}
	f.replace(open.End.Byte, close.Start.Byte, end+lines+indent)
}
