package lang

import (
	"bytes"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/source"
)

const ignoreWord = "rocec-ignore"

// findIgnores reads the comments that silence rules. Trees hold no comments,
// so files that have the word are lexed for them.
func (f *file) findIgnores(body *hclsyntax.Body, comments []jsonComment) {
	if f.json {
		for _, c := range comments {
			f.jsonIgnore(c)
		}
		return
	}
	if !bytes.Contains(f.src, []byte(ignoreWord)) {
		return
	}
	tokens, _ := hclsyntax.LexConfig(f.src, f.name, hcl.InitialPos)
	lines := lineStarts(f.src)
	for i := range tokens {
		t := &tokens[i]
		if t.Type != hclsyntax.TokenComment || !bytes.Contains(t.Bytes, []byte(ignoreWord)) {
			continue
		}
		rules, reason, whole, ok := parseIgnore(string(t.Bytes))
		if !ok {
			continue
		}
		at := place{uint32(t.Range.Start.Byte), uint32(len(bytes.TrimRight(t.Bytes, "\r\n")))}
		ig := Ignore{Rules: rules, Reason: reason, At: at.in(f.id)}
		if whole {
			ig.Covers = source.Span{File: f.id, Len: uint32(len(f.src))}
		} else {
			ig.Covers = f.covers(body, lines, tokens, i).in(f.id)
		}
		f.ignores = append(f.ignores, ig)
	}
}

func (f *file) jsonIgnore(c jsonComment) {
	rules, reason, whole, ok := parseIgnore("# " + c.text)
	if !ok {
		return
	}
	ig := Ignore{Rules: rules, Reason: reason, At: placeOf(c.at).in(f.id), Covers: placeOf(c.inner).in(f.id)}
	if whole || c.root {
		ig.Covers = source.Span{File: f.id, Len: uint32(len(f.src))}
	}
	f.ignores = append(f.ignores, ig)
}

// parseIgnore reads `# rocec-ignore: rule_a, rule_b # reason`.
func parseIgnore(comment string) (rules []string, reason string, whole, ok bool) {
	s := strings.TrimSpace(comment)
	switch {
	case strings.HasPrefix(s, "#"):
		s = s[1:]
	case strings.HasPrefix(s, "//"):
		s = s[2:]
	case strings.HasPrefix(s, "/*"):
		s = strings.TrimSuffix(s[2:], "*/")
	}
	s = strings.TrimSpace(s)
	rest, found := strings.CutPrefix(s, ignoreWord)
	if !found {
		return nil, "", false, false
	}
	rest, whole = strings.CutPrefix(rest, "-file")
	rest, found = strings.CutPrefix(rest, ":")
	if !found {
		return nil, "", false, false
	}
	list, reason, _ := strings.Cut(rest, "#")
	rules = strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	return rules, strings.TrimSpace(reason), whole, len(rules) > 0
}

// covers is what the comment at token i silences: its own line if something
// stands before it there, else the block or line that follows.
func (f *file) covers(body *hclsyntax.Body, lines []int, tokens hclsyntax.Tokens, i int) place {
	t := &tokens[i]
	own := lineOfByte(lines, t.Range.Start.Byte)
	start := lines[own]
	if len(bytes.TrimSpace(f.src[start:t.Range.Start.Byte])) > 0 {
		return f.line(lines, own)
	}
	for _, next := range tokens[i+1:] {
		switch next.Type {
		case hclsyntax.TokenComment, hclsyntax.TokenNewline:
			continue
		case hclsyntax.TokenEOF:
			return f.line(lines, own)
		}
		line := lineOfByte(lines, next.Range.Start.Byte)
		if b := blockAt(body, next.Range.Start.Byte); b != nil {
			from := b.TypeRange.Start.Byte
			return place{uint32(from), uint32(b.CloseBraceRange.End.Byte - from)}
		}
		if a := attrAt(body, next.Range.Start.Byte); a != nil {
			return placeOf(a.SrcRange)
		}
		return f.line(lines, line)
	}
	return f.line(lines, own)
}

func (f *file) line(lines []int, n int) place {
	end := len(f.src)
	if n+1 < len(lines) {
		end = lines[n+1]
	}
	return place{uint32(lines[n]), uint32(end - lines[n])}
}

func lineStarts(src []byte) []int {
	lines := []int{0}
	for i, c := range src {
		if c == '\n' {
			lines = append(lines, i+1)
		}
	}
	return lines
}

func lineOfByte(lines []int, at int) int {
	return sort.Search(len(lines), func(i int) bool { return lines[i] > at }) - 1
}

// blockAt is the block whose word stands at an offset.
func blockAt(body *hclsyntax.Body, at int) *hclsyntax.Block {
	for _, b := range body.Blocks {
		if b.TypeRange.Start.Byte == at {
			return b
		}
		if b.TypeRange.Start.Byte < at && at < b.CloseBraceRange.End.Byte {
			return blockAt(b.Body, at)
		}
	}
	return nil
}

// attrAt is the attribute whose name stands at an offset: one of several lines
// is covered as a whole.
func attrAt(body *hclsyntax.Body, at int) *hclsyntax.Attribute {
	for _, a := range body.Attributes {
		if a.NameRange.Start.Byte == at {
			return a
		}
	}
	for _, b := range body.Blocks {
		if b.TypeRange.Start.Byte < at && at < b.CloseBraceRange.End.Byte {
			return attrAt(b.Body, at)
		}
	}
	return nil
}
