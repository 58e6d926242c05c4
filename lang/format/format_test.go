package format

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite expected output")

// Each archive has a file "in" and its canonical form "want".
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, problem := Source("x.roce.hcl", ar.Files[0].Data)
			if problem != nil {
				t.Fatalf("problem: %+v", problem)
			}
			if *update {
				ar.Files[1].Data = got
				if err := os.WriteFile(file, txtar.Format(ar), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			check(t, ar.Files[0].Data)
		})
	}
}

func TestSource(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"blank only", " \n\n\t\n", ""},
		{"final newline", "a = 1", "a = 1\n"},
		{"trailing space at the end", "a = 1  \t", "a = 1\n"},
		{"leading blank lines", "\n\n# c\na=1\n", "# c\na = 1\n"},
		{"runs of blank lines", "a=1\n\n\n \n\nb=2\n\n\n", "a = 1\n\nb = 2\n"},
		{"comment at the end", "a = 1\n# end", "a = 1\n# end\n"},
		{"space after a comment", "# c  \t\na = 1 # d \n", "# c\na = 1 # d\n"},
		{"block comment stays", "/* a  \n\n\n   b */\na=1", "/* a  \n\n\n   b */\na = 1\n"},
		{"blank lines inside a list", "a = [\n1,\n\n\n2\n]\n", "a = [\n  1,\n\n  2\n]\n"},
		{"crlf", "a=1\r\n\r\n\r\nbb=2 # c \r\n", "a = 1\r\n\r\nbb = 2 # c\r\n"},
		{"crlf added", "a=1\r\nbb=2", "a  = 1\r\nbb = 2\r\n"},
		{"interpolation stays", "a=\"${ x }  ${y}\" #c\nbb=1 #d\n", "a  = \"${ x }  ${y}\" #c\nbb = 1              #d\n"},
		{"wide interpolation", "a=\"é${ \"ü\" }\" #c\nb=\"éééééééééé\" #d\n", "a = \"é${ \"ü\" }\"  #c\nb = \"éééééééééé\" #d\n"},
		{"heredoc stays", "a=<<E\n  x  \n\n\n\ty${ z  }\nE\nb=1", "a = <<E\n  x  \n\n\n\ty${ z  }\nE\nb = 1\n"},
		{"flush heredoc stays", "b \"x\" {\na=<<-E\n  x  \n    ${ z  }\n    E\n}\n", "b \"x\" {\n  a = <<-E\n  x  \n    ${ z  }\n    E\n}\n"},
		{"heredoc in a list", "a = [<<E\n ${ x }\nE\n,\n2]\n", "a = [<<E\n ${ x }\nE\n  ,\n2]\n"},
		{"several lines in an interpolation", "a = \"${f(\n1,\n2)}\" # c\nbbb = 1 # d\n", ""},
		{"legacy index", "a = b.0.c\n", "a = b.0.c\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problem := Source("x.roce.hcl", []byte(tt.in))
			if problem != nil {
				t.Fatalf("problem: %+v", problem)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" && tt.want != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			check(t, []byte(tt.in))
		})
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name, file, in string
		want           Problem
		message        string
	}{
		{"syntax", "x.roce.hcl", "a = 1\nb = [1\n", Problem{Offset: 10, Line: 2, Column: 5}, "closing bracket"},
		{"not utf-8", "x.roce.hcl", "a = \"\xff\"\n", Problem{Offset: 5, Line: 1, Column: 6}, "UTF-8"},
		{"unclosed block", "x.roce.hcl", "b {\n", Problem{Offset: 2, Line: 1, Column: 3}, "closing brace"},
		{"too deep", "x.roce.hcl", "a = " + strings.Repeat("[", 200000), Problem{Offset: 1004, Line: 1, Column: 1005}, "deeper"},
		{"meaning would change", "x.roce.hcl", "a = b.0 .1\n", Problem{Offset: 6, Line: 1, Column: 7}, "meaning"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problem := Source(tt.file, []byte(tt.in))
			if string(got) != tt.in {
				t.Errorf("source with a problem was changed to %.100q", got)
			}
			if problem == nil {
				t.Fatal("no problem")
			}
			if !strings.Contains(problem.Message, tt.message) {
				t.Errorf("message %q lacks %q", problem.Message, tt.message)
			}
			problem.Message = ""
			if diff := cmp.Diff(&tt.want, problem); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestJSONIsLeftAlone(t *testing.T) {
	in := "{ \"a\":1 }"
	if got, problem := Source("x.roce.json", []byte(in)); string(got) != in || problem != nil {
		t.Errorf("got %q, %v", got, problem)
	}
}

// Where there are no templates, blank lines or trailing spaces to treat, and no
// blocks whose attributes have an order, the layout is that of hclwrite, and with it of terraform fmt.
func TestSameAsHclwrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := []byte(strings.NewReplacer("${", "$${", "%{", "%%{").Replace(randomSource(t)))
		tokens, _ := hclsyntax.LexConfig(src, "x", hcl.InitialPos)
		plain, _, _ := tidy(src, tokens)
		got, problem := Source("x.rocetest.hcl", plain)
		if problem != nil {
			return
		}
		want := hclwrite.Format(plain)
		if again := hclwrite.Format(want); !bytes.Equal(again, want) {
			return // the bug that Source iterates away
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("-hclwrite +got:\n%s", diff)
		}
	})
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { check(t, []byte(randomSource(t))) })
	// Sources that do not parse prove nothing: of these, always the same, enough must.
	parsed, sources := 0, rapid.Custom(randomSource)
	for seed := range 100 {
		if check(t, []byte(sources.Example(seed))) {
			parsed++
		}
	}
	if parsed < 20 {
		t.Errorf("only %d of 100 sources parsed", parsed)
	}
}

// randomSource strings together pieces of source with random white space.
func randomSource(t *rapid.T) string {
	space := rapid.SampledFrom([]string{" ", "", "   ", "\t"})
	expr := rapid.SampledFrom([]string{
		`1`, `"s"`, `"a${ x }b"`, `"${a}"`, `-x`, `a - -b`, `!x`, `f( 1,2 )`, `[1,2]`, `[ for x in y:x ]`, `{a=1,b = 2}`, `{}`, `a.b[0].c`,
		`a[ "x" ]`, `x?1:2`, `(1+ 2)*3`, "[\n1,\n\n\n2\n]", "{\n  a=1\n bb = 2 # c\n}", "<<E\n  t ${ x } \n\n\nE", "<<-E\n\ta\n    E",
		"\"${f(\n1\n)}\"", `a.*.b`, `a ? { b = 1 } : null`, "f(\n  1, # c\n2)", `"%{ if x }y%{ endif }"`, "/* c */ 1", `"é世"`,
	})
	var b strings.Builder
	for range rapid.IntRange(0, 12).Draw(t, "lines") {
		s := func() string { return space.Draw(t, "space") }
		name := rapid.SampledFrom([]string{"a", "bb", "ccc", "speed"}).Draw(t, "name")
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0, 1, 2:
			b.WriteString(s() + name + s() + "=" + s() + expr.Draw(t, "expr") + s() + rapid.SampledFrom([]string{"", "# c", "//d ", "/* e */"}).Draw(t, "comment") + s() + "\n")
		case 3:
			b.WriteString(s() + "block " + s() + `"l"` + s() + "{" + s() + "\n" + s() + "x=1\n" + s() + "yy = \"${ z}\"" + s() + "\n" + s() + "}" + s() + "\n")
		case 4:
			b.WriteString("port \"swp1\" { a =" + s() + "1 }\n")
		case 5:
			b.WriteString(s() + "# comment" + s() + "\n")
		case 6:
			b.WriteString(s() + "\n" + s() + "\n" + s() + "\n")
		case 7:
			b.WriteString(s() + "/* a\n   b */" + s() + "\n")
		case 8:
			b.WriteString("node \"h\" {\n")
			for _, word := range rapid.Permutation([]string{"mtu", "rack", "name", "memlock", "enabled", "nothing", "slot", "qos"}).Draw(t, "attributes") {
				switch rapid.IntRange(0, 9).Draw(t, "between") {
				case 0:
					b.WriteString(s() + "\n")
				case 1:
					b.WriteString(s() + "# above" + s() + "\n")
				case 2:
					b.WriteString("nic \"a\" { device = \"" + word + "\" }\n")
				}
				b.WriteString(s() + word + s() + "=" + expr.Draw(t, "expr") + rapid.SampledFrom([]string{"", "# c", "//d ", "/* e */", "/* f\n# g\n */"}).Draw(t, "comment") + "\n")
			}
			b.WriteString("}\n")
		}
	}
	src := b.String()
	if rapid.Bool().Draw(t, "crlf") {
		src = strings.ReplaceAll(src, "\n", "\r\n")
	}
	if rapid.Bool().Draw(t, "cut") {
		src = strings.TrimSuffix(src, "\n")
	}
	return src
}

// failer is what rapid, tests and fuzzing have in common.
type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// check holds what must be true of any source, and reports whether it was
// formatted.
func check(t failer, src []byte) bool {
	t.Helper()
	before := bytes.Clone(src)
	out, problem := Source("x", src)
	if !bytes.Equal(src, before) {
		t.Fatalf("the source itself was written to")
	}
	if problem != nil {
		if !bytes.Equal(out, src) {
			t.Fatalf("problem %q, but the source was changed to %q", problem.Message, out)
		}
		if problem.Offset < 0 || problem.Offset > len(src) || problem.Line < 1 || problem.Column < 1 || problem.Message == "" {
			t.Fatalf("problem is not at a place in the source: %+v", problem)
		}
		return false
	}
	again, problem := Source("x", out)
	if problem != nil || !bytes.Equal(again, out) {
		t.Fatalf("not idempotent (%v):\n%q\n%q", problem, out, again)
	}
	if a, b := words(src), words(out); !cmp.Equal(a, b) {
		// Attributes changed places: each has its tokens, with the comment behind it, and each body its attributes.
		if a, b := attributes(t, src), attributes(t, out); !cmp.Equal(a, b) {
			t.Fatalf("attributes differ:\n%s", cmp.Diff(a, b))
		}
		if slices.Sort(a); !cmp.Equal(a, sorted(b)) {
			t.Fatalf("tokens differ:\n%s", cmp.Diff(a, sorted(b)))
		}
	}
	if a, b := meaning(t, src), meaning(t, out); a != b {
		t.Fatalf("meaning differs:\n%s\n%s", a, b)
	}
	checkLines(t, out)
	return true
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// attributes lists the attributes of each body, by its place in the file, with their tokens and the comments behind them.
func attributes(t failer, src []byte) []string {
	f, diags := hclsyntax.ParseConfig(src, "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%v\n%q", diags, src)
	}
	var list []string
	var walk func(path string, body *hclsyntax.Body)
	walk = func(path string, body *hclsyntax.Body) {
		for _, a := range body.Attributes {
			from, to := a.SrcRange.Start.Byte, a.SrcRange.End.Byte
			if src[to-1] != '\n' {
				rest, _, _ := bytes.Cut(src[to:], []byte("\n"))
				to += len(rest)
			}
			list = append(list, path+": "+strings.Join(words(src[from:to]), " "))
		}
		for i, b := range body.Blocks {
			walk(path+"/"+strconv.Itoa(i), b.Body)
		}
	}
	walk("", f.Body.(*hclsyntax.Body))
	return sorted(list)
}

// words lists type and bytes of each token; runs of newlines count once, and
// white space at the end of a comment not at all.
func words(src []byte) []string {
	tokens, _ := hclsyntax.LexConfig(src, "x", hcl.InitialPos)
	list := []string{}
	newline := true
	for _, tok := range tokens {
		if tok.Type == hclsyntax.TokenEOF {
			break
		}
		if tok.Type == hclsyntax.TokenNewline {
			if !newline {
				list = append(list, "newline")
			}
			newline = true
			continue
		}
		word := string(tok.Bytes)
		newline = false
		if tok.Type == hclsyntax.TokenComment {
			if strings.HasPrefix(word, "#") || strings.HasPrefix(word, "//") {
				newline = true
			}
			word = strings.TrimRight(word, " \t\r\n")
			list = append(list, tok.Type.GoString()+" "+word)
			if newline {
				list = append(list, "newline")
			}
			continue
		}
		list = append(list, tok.Type.GoString()+" "+word)
	}
	if !newline {
		list = append(list, "newline")
	}
	return list
}

// meaning prints the parsed tree without its positions.
func meaning(t failer, src []byte) string {
	f, diags := hclsyntax.ParseConfig(src, "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("result does not parse: %v\n%q", diags, src)
	}
	var b strings.Builder
	describe(&b, f.Body.(*hclsyntax.Body))
	return b.String()
}

// checkLines looks at the ends of lines outside of templates, which stay byte for
// byte as they are.
func checkLines(t failer, out []byte) {
	if len(out) == 0 {
		return
	}
	if out[len(out)-1] != '\n' || out[0] == '\n' || bytes.HasPrefix(out, []byte("\r\n")) {
		t.Fatalf("newlines at the start or end are wrong: %q", out)
	}
	tokens, _ := hclsyntax.LexConfig(out, "x", hcl.InitialPos)
	newlines := 0
	end := 0
	inside := 0 // templates that are open
	for _, tok := range tokens {
		gap := out[end:tok.Range.Start.Byte]
		end = tok.Range.End.Byte
		switch tok.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			inside++
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			inside--
		}
		if inside > 0 || tok.Type != hclsyntax.TokenNewline {
			newlines = 0
			if endsLine(tok) {
				newlines = 1
			}
			continue
		}
		if len(gap) > 0 {
			t.Fatalf("white space before the newline at byte %d of %q", tok.Range.Start.Byte, out)
		}
		if newlines++; newlines > 2 {
			t.Fatalf("more than one blank line before byte %d of %q", tok.Range.Start.Byte, out)
		}
	}
}

func TestDiff(t *testing.T) {
	got := Diff("x.hcl", []byte("a=1\nb = 2\n"), []byte("a = 1\nb = 2\n"))
	want := "--- old/x.hcl\n+++ new/x.hcl\n@@ -1,2 +1,2 @@\n-a=1\n+a = 1\n b = 2\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Diff("x", []byte("a"), []byte("a")); got != "" {
		t.Errorf("equal texts differ: %q", got)
	}
}

// TestDiffLines: every part of a diff says where it stands in either text.
func TestDiffLines(t *testing.T) {
	lines := func(change map[int]string) []byte {
		var b strings.Builder
		for i := range 60 {
			if text, ok := change[i]; ok {
				b.WriteString(text)
				continue
			}
			b.WriteString("line " + strconv.Itoa(i) + "\n")
		}
		return []byte(b.String())
	}
	diff := Diff("f", lines(nil), lines(map[int]string{5: "a\nb\n", 9: "", 10: "", 30: "c\n", 34: "@@ -1 +1 @@\n", 50: "d\ne\n"}))
	var heads []string
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "@@") {
			heads = append(heads, strings.TrimSpace(line))
		}
	}
	if want := []string{"@@ -3,12 +3,11 @@", "@@ -28,11 +27,11 @@", "@@ -48,7 +47,8 @@"}; !slices.Equal(heads, want) {
		t.Errorf("%q\n%s", heads, diff)
	}
	if got := Diff("f", nil, []byte("a\n")); !strings.Contains(got, "@@ -0,0 +1 @@") {
		t.Error(got)
	}
}

// TestOrder: attributes are in the order of the schema within each paragraph, and what parts paragraphs stays where it is.
func TestOrder(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"one paragraph, comments behind", "node \"h\" {\n  mtu  = 9000 # wide\n  name = \"x\"\n  for_each = {}\n}\n", "node \"h\" {\n  for_each = {}\n  name     = \"x\"\n  mtu      = 9000 # wide\n}\n"},
		{"a blank line", "node \"h\" {\n  mtu = 1\n\n  rack = \"r\"\n  name = \"x\"\n}\n", "node \"h\" {\n  mtu = 1\n\n  name = \"x\"\n  rack = \"r\"\n}\n"},
		{"a comment keeps its attribute", "node \"h\" {\n  mtu = 1\n  # of the rack\n  slot = 1\n  rack = \"r\"\n  name = \"x\"\n}\n", "node \"h\" {\n  mtu = 1\n  # of the rack\n  slot = 1\n  name = \"x\"\n  rack = \"r\"\n}\n"},
		{"several lines", "node \"h\" {\n  vars = {\n    a = 1\n  }\n  name = <<-E\n    x\n  E\n}\n", "node \"h\" {\n  name = <<-E\n    x\n  E\n  vars = {\n    a = 1\n  }\n}\n"},
		{"former names", "switch \"s\" {\n  port \"p\" {\n    segments = []\n    role     = \"node\"\n  }\n}\n", "switch \"s\" {\n  port \"p\" {\n    role     = \"node\"\n    segments = []\n  }\n}\n"},
		{"defaults and except", "defaults \"nic\" {\n  mtu = 1\n  model = \"m\"\n}\nnode \"h\" {\n  except \"a\" {\n    mtu = 1\n    rack = \"r\"\n  }\n}\n", "defaults \"nic\" {\n  model = \"m\"\n  mtu   = 1\n}\nnode \"h\" {\n  except \"a\" {\n    rack = \"r\"\n    mtu  = 1\n  }\n}\n"},
		{"what has no order", "locals {\n  mtu  = 1\n  name = 2\n}\nmodule \"m\" {\n  mtu    = 1\n  source = \"./m\"\n}\n", "locals {\n  mtu  = 1\n  name = 2\n}\nmodule \"m\" {\n  mtu    = 1\n  source = \"./m\"\n}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problem := Source("x.roce.hcl", []byte(tt.in))
			if problem != nil || string(got) != tt.want {
				t.Errorf("%v\n%s", problem, cmp.Diff(tt.want, string(got)))
			}
			check(t, []byte(tt.in))
		})
	}
}
