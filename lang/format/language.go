package format

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/schema"
)

// Language is the edition of the language that a file says its folder is written in, 0 if it says none, and whether it has the block
// that would.
func Language(name string, src []byte) (edition int, has bool) {
	if strings.HasSuffix(name, ".json") {
		edition, has, _ = jsonLanguage(name, src)
		return edition, has
	}
	tree, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return 0, false
	}
	for _, b := range tree.Body.(*hclsyntax.Body).Blocks {
		if b.Type != schema.Rocec.String() {
			continue
		}
		has = true
		if a := b.Body.Attributes["language"]; a != nil {
			if v, diags := a.Expr.Value(nil); !diags.HasErrors() && v.IsKnown() && !v.IsNull() && v.Type().FriendlyName() == "number" {
				n, _ := v.AsBigFloat().Int64()
				edition = int(n)
			}
		}
	}
	return edition, has
}

// SetLanguage writes the newest edition of the language into the `rocec` block of a file, or into a new one at its top, below the
// comment that stands there for the file as a whole. With a problem it returns src itself.
func SetLanguage(name string, src []byte) ([]byte, *Problem) {
	attr, value := schema.ALanguage.Name(), strconv.Itoa(schema.Language)
	if strings.HasSuffix(name, ".json") {
		text := `"` + attr + `": ` + value
		_, has, at := jsonLanguage(name, src)
		if !has {
			return src, &Problem{0, 1, 1, "files in JSON get no new block"}
		}
		if rest := bytes.TrimSpace(src[at:]); len(rest) > 0 && rest[0] != '}' {
			text += ", "
		}
		return slices.Concat(src[:at], []byte(text), src[at:]), nil
	}
	tree, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return src, problemOf(diags)
	}
	t := Tree{name: name, src: src}
	for _, b := range tree.Body.(*hclsyntax.Body).Blocks {
		if b.Type != schema.Rocec.String() {
			continue
		}
		open, close, end := b.OpenBraceRange, b.CloseBraceRange, t.newline()
		indent := t.indent(b.TypeRange.Start.Byte)
		text := end + indent + "  " + attr + " = " + value
		if open.Start.Line == close.Start.Line {
			if has := strings.TrimSpace(string(src[open.End.Byte:close.Start.Byte])); has != "" {
				text += end + indent + "  " + has
			}
			return slices.Concat(src[:open.End.Byte], []byte(text+end+indent), src[close.Start.Byte:]), nil
		}
		return slices.Concat(src[:open.End.Byte], []byte(text), src[open.End.Byte:]), nil
	}
	at := t.heading()
	text := schema.Rocec.String() + " {" + t.newline() + "  " + attr + " = " + value + t.newline() + "}" + t.newline()
	if len(bytes.TrimSpace(src[at:])) > 0 {
		text += t.newline()
	}
	return slices.Concat(src[:at], []byte(text), src[at:]), nil
}

// heading is where the comment ends that speaks of the file as a whole: at its top, and parted from what follows by a blank line.
func (t *Tree) heading() int {
	text := bytes.TrimPrefix(t.src, []byte("\ufeff"))
	mark := t.src[:len(t.src)-len(text)]
	at := len(mark)
	for line := range bytes.Lines(text) {
		said := string(bytes.TrimSpace(line))
		switch {
		case said == "" && at > len(mark):
			return at + len(line)
		case !isComment(said):
			return len(mark)
		}
		at += len(line)
	}
	return len(mark)
}
