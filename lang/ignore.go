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
		said, ok := parseIgnore(string(t.Bytes))
		if !ok {
			continue
		}
		at := place{uint32(t.Range.Start.Byte), uint32(len(bytes.TrimRight(t.Bytes, "\r\n")))}
		ig := Ignore{Rules: said.rules, Reason: said.reason, At: at.in(f.id)}
		for i, name := range said.rules {
			ig.Names = append(ig.Names, place{at.start + uint32(said.at[i]), uint32(len(name))}.in(f.id))
		}
		if said.whole {
			ig.Covers = source.Span{File: f.id, Len: uint32(len(f.src))}
		} else {
			ig.Covers = f.covers(body, lines, tokens, i).in(f.id)
		}
		f.ignores = append(f.ignores, ig)
	}
}

func (f *file) jsonIgnore(c jsonComment) {
	said, ok := parseIgnore("# " + c.text)
	if !ok {
		return
	}
	ig := Ignore{Rules: said.rules, Reason: said.reason, At: placeOf(c.at).in(f.id), Covers: placeOf(c.inner).in(f.id)}
	if said.whole || c.root {
		ig.Covers = source.Span{File: f.id, Len: uint32(len(f.src))}
	}
	f.ignores = append(f.ignores, ig)
}

// silencing is what a comment says that silences rules.
type silencing struct {
	rules  []string
	at     []int // of each rule, bytes from the beginning of the comment
	reason string
	whole  bool // it holds for the file
}

// parseIgnore reads `# rocec-ignore: rule_a, rule_b # reason`.
func parseIgnore(comment string) (said silencing, ok bool) {
	s := strings.TrimSpace(comment)
	end := strings.Index(comment, s) + len(s)
	switch {
	case strings.HasPrefix(s, "#"):
		s = s[1:]
	case strings.HasPrefix(s, "//"):
		s = s[2:]
	case strings.HasPrefix(s, "/*"):
		cut, closed := strings.CutSuffix(s[2:], "*/")
		if s = cut; closed {
			end -= len("*/")
		}
	}
	body := strings.TrimRight(s, " \t\r\n")
	end -= len(s) - len(body)
	rest, found := strings.CutPrefix(strings.TrimSpace(body), ignoreWord)
	if !found {
		return said, false
	}
	rest, said.whole = strings.CutPrefix(rest, "-file")
	rest, found = strings.CutPrefix(rest, ":")
	if !found {
		return said, false
	}
	list, reason, _ := strings.Cut(rest, "#")
	said.reason = strings.TrimSpace(reason)
	first := end - len(rest) // where the list begins
	between := func(c byte) bool { return c == ',' || c == ' ' || c == '\t' }
	for i := 0; i < len(list); i++ {
		if between(list[i]) {
			continue
		}
		from := i
		for i < len(list) && !between(list[i]) {
			i++
		}
		said.rules, said.at = append(said.rules, list[from:i]), append(said.at, first+from)
	}
	return said, len(said.rules) > 0
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
