package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets/targettest"
)

const pod = "qos \"roce\" {\n  class \"rdma\" {\n    priority = 3\n  }\n}\n"

func rules(id string) *diag.Rule {
	if id == "ROCE301" {
		return &diag.Rule{ID: id, Name: "link_pfc_priorities", Severity: diag.Error, Title: "both ends pause the same priorities", Why: "the buffer overruns", Fix: "give both ends the same qos"}
	}
	return nil
}

// list are findings with s wherever a user has a say.
func list(files *source.Files, s string) diag.List {
	f := files.Add("pod 1/"+s+".hcl", []byte(pod))
	span := func(text string) source.Span {
		return source.Span{File: f, Start: uint32(strings.Index(pod, text)), Len: uint32(len(text))}
	}
	return diag.List{
		{
			Rule: "ROCE301", Summary: "priority " + s + " differs", Address: "qos." + s, Notes: []string{s}, Help: "write " + s,
			Labels: []diag.Label{
				{Span: span("priority = 3"), Where: s, Values: []string{s + " is " + s}},
				{Span: span("class \"rdma\" {\n    priority = 3\n  }"), Text: "other end of " + s},
				{Text: s},
			},
			Edits: []diag.Edit{{Span: span("3"), New: s}, {Span: span("rdma"), New: s + s}},
			Count: 3, Members: []diag.Member{{Address: s, Summary: s}, {Address: s + "1", Summary: s + " 1"}, {Address: s + "2", Summary: s}},
		},
		{Rule: "ROCE301", Severity: diag.Warning, Summary: s, Labels: []diag.Label{{Span: span("priority = 3")}}},
		{Rule: "ROCE999", Severity: diag.Warning, Summary: "a rule of another version", Labels: []diag.Label{{Span: source.Span{File: files.Add("gone.hcl", nil)}}}},
		{Severity: diag.Notice, Summary: s},
		{Severity: diag.Notice, Summary: "of a pack", Labels: []diag.Label{{Span: source.Span{File: files.Add("pack:x", []byte("x")), Len: 1}}}},
	}
}

func sample(s string) *Report {
	files := source.NewFiles()
	view := &source.View{Files: files, Read: func(name string) ([]byte, error) {
		if strings.HasPrefix(name, "pod 1/") {
			return []byte(pod), nil
		}
		return nil, errors.New("gone")
	}}
	r := &Report{
		Version: "1.2.3", Rules: rules, Fails: diag.Warning,
		Path: func(shown string) (string, bool) { return "sub/" + shown, !strings.HasPrefix(shown, "pack:") },
	}
	all := list(files, s)
	for _, d := range diag.JSON(all, view, rules) {
		r.Findings = append(r.Findings, Finding{JSONDiagnostic: d})
	}
	for i, d := range diag.JSON(all[:2], view, rules) {
		r.Exempt = append(r.Exempt, Finding{JSONDiagnostic: d, Exemption: &Exemption{InSource: i == 0, Reason: s}})
	}
	return r
}

func written(t require, f Form, r *Report) string {
	var b bytes.Buffer
	if err := f.Write(&b, r); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return b.String()
}

// require is what testing and rapid have in common.
type require interface {
	Fatalf(format string, args ...any)
}

func TestGolden(t *testing.T) {
	for _, f := range Forms {
		targettest.Golden(t, filepath.Join("testdata", f.Name+".golden"), written(t, f, sample("gpu07")))
		targettest.Golden(t, filepath.Join("testdata", f.Name+"-empty.golden"), written(t, f, &Report{Version: "1.2.3"}))
	}
}

// hostile are texts that try to leave the place they are put at.
var hostile = []string{
	"", "%0A::error::x", "a\nb\r\n::stop-commands::x", `"><script>`, "]]>", "&lt;", "<!--", "-->", "`|`", "a | b\n| --- |", "@team #12", "[x](http://e.example)",
	"{0}", "{{", "\\", "\x1b[31m", "\u202e", "\xff\xfe", "\x00", "a:b,c=d", "http://www.example.org", "\ufffe\uffff", "\U0001f600", "../../x", "?q#f", "%zz", "~~x~~", "$x$", "&#64;", "\u2028",
}

func texts() *rapid.Generator[string] {
	part := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }))
	return rapid.Map(rapid.SliceOfN(part, 1, 4), func(p []string) string { return strings.Join(p, "") })
}

// TestSARIF holds the form against the schema that OASIS publishes, and reads
// back what must survive it.
func TestSARIF(t *testing.T) {
	schema := sarifSchema(t)
	check := func(t require, s string) {
		r := sample(s)
		text := written(t, *Find("sarif"), r)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Fatalf("%q: %v\n%s", s, err, text)
		}
		results := doc.(map[string]any)["runs"].([]any)[0].(map[string]any)["results"].([]any)
		if len(results) != len(r.Findings)+len(r.Exempt) {
			t.Fatalf("%d results", len(results))
		}
		prints := map[any]bool{}
		for i, x := range results {
			x := x.(map[string]any)
			prints[x["partialFingerprints"].(map[string]any)["rocec/v1"]] = true
			if _, suppressed := x["suppressions"]; suppressed != (i >= len(r.Findings)) {
				t.Fatalf("result %d: suppressed is %v", i, suppressed)
			}
			said := x["message"].(map[string]any)["text"].(string)
			plain := strings.NewReplacer("{{", "{", "}}", "}", `\](`, "](").Replace(said)
			if want := diag.Printable(s); i == 3 && plain != want && !strings.Contains(s, `\](`) {
				t.Fatalf("message %q, want %q", plain, want)
			}
		}
		if len(prints) != len(results) {
			t.Fatalf("%d fingerprints of %d results", len(prints), len(results))
		}
	}
	for _, s := range hostile {
		check(t, s)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, texts().Draw(t, "text")) })
}

// TestSARIFSchemaNotices shows that the yardstick measures.
func TestSARIFSchemaNotices(t *testing.T) {
	schema := sarifSchema(t)
	text := written(t, *Find("sarif"), sample("x"))
	for _, change := range [][2]string{{`"level": "error"`, `"level": "fatal"`}, {`"version": "2.1.0"`, `"version": "2.1"`}, {`"startLine": 3`, `"startLine": 0`}, {`"inSource"`, `"comment"`}} {
		broken := strings.Replace(text, change[0], change[1], 1)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(broken))
		if err != nil || broken == text {
			t.Fatalf("%s: %v", change[0], err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("%s instead of %s passes", change[1], change[0])
		}
	}
}

// sarifSchema is the schema that OASIS publishes. Its terms ask for a notice that
// the file does not carry, so that no copy of it stands here: the library that
// writes reports ships one, and the sums of the module file hold it fast.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	pkg, err := build.Import("github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == 1 && v.Names[0].Name == "schema" {
			text, err = strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		}
		return true
	})
	if err != nil || !strings.Contains(text, `"`+schemaAt+`"`) {
		t.Fatalf("the library has no schema %s: %v", schemaAt, err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(schemaAt, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(schemaAt)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestXML reads both forms back, strictly: the elements are those of a tame text,
// and the text is the finding's.
func TestXML(t *testing.T) {
	for _, name := range []string{"checkstyle", "junit"} {
		f := *Find(name)
		want := elements(t, written(t, f, sample("tame")))
		rapid.Check(t, func(t *rapid.T) {
			s := texts().Draw(t, "text")
			text := written(t, f, sample(s))
			if diff := cmp.Diff(want, elements(t, text)); diff != "" {
				t.Fatalf("%s of %q (-want +got):\n%s", name, s, diff)
			}
			var back struct {
				Errors []struct {
					Message string `xml:"message,attr"`
				} `xml:"file>error"`
				Cases []struct {
					Name string `xml:"name,attr"`
				} `xml:"testsuite>testcase"`
			}
			if err := xml.Unmarshal([]byte(text), &back); err != nil {
				t.Fatalf("%s of %q: %v", name, s, err)
			}
			plain := strings.NewReplacer("\ufffe", "\ufffd", "\uffff", "\ufffd").Replace(diag.Printable(s)) // XML has no such characters
			ok := len(back.Errors) == 5 && back.Errors[3].Message == plain || len(back.Cases) == 7 && back.Cases[3].Name == plain
			if !ok {
				t.Fatalf("%s of %q reads back as %q", name, s, back)
			}
		})
	}
}

// elements are the names of elements and attributes of a document, in order.
func elements(t require, text string) []string {
	d := xml.NewDecoder(strings.NewReader(text))
	var names []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if e, ok := token.(xml.StartElement); ok {
			name := e.Name.Local
			for _, a := range e.Attr {
				name += " " + a.Name.Local
			}
			names = append(names, name)
		}
	}
}

// TestGitHub reads commands as the runner does (actions/runner, ActionCommand.cs):
// one line each, properties up to the second "::", then data.
func TestGitHub(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := texts().Draw(t, "text")
		r := sample(s)
		text := written(t, *Find("github"), r)
		lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
		if len(lines) != len(r.Findings) {
			t.Fatalf("%d lines of %d findings:\n%s", len(lines), len(r.Findings), text)
		}
		for i, line := range lines {
			head, data, ok := strings.Cut(strings.TrimPrefix(line, "::"), "::")
			word, props, _ := strings.Cut(head, " ")
			if !ok || !strings.HasPrefix(line, "::") || word != r.Findings[i].Severity {
				t.Fatalf("%q", line)
			}
			for p := range strings.SplitSeq(props, ",") {
				if name, value, _ := strings.Cut(p, "="); name == "file" && i == 0 {
					if got := unquote(value); got != "sub/"+r.Findings[0].Range.Filename {
						t.Fatalf("file %q", got)
					}
				}
			}
			if got := unquote(data); i == 3 && got != diag.Printable(s) {
				t.Fatalf("data %q of %q", got, s)
			}
		}
	})
}

func unquote(s string) string {
	return strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",").Replace(s)
}

func TestGitLab(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := texts().Draw(t, "text")
		r := sample(s)
		var issues []map[string]any
		if err := json.Unmarshal([]byte(written(t, *Find("gitlab"), r)), &issues); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		seen := map[any]bool{}
		for i, x := range issues {
			at := x["location"].(map[string]any)
			line := at["lines"].(map[string]any)["begin"].(float64)
			if x["description"] == nil || x["check_name"] == "" || seen[x["fingerprint"]] || at["path"] == "" || line < 1 {
				t.Fatalf("issue %d: %v", i, x)
			}
			if i == 3 && x["description"] != diag.Printable(s) {
				t.Fatalf("description %q of %q", x["description"], s)
			}
			seen[x["fingerprint"]] = true
		}
		if len(issues) != len(r.Findings) {
			t.Fatalf("%d issues", len(issues))
		}
	})
}

// TestMarkdown: a table stays one, and no mark of a text stands bare.
func TestMarkdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := texts().Draw(t, "text")
		r := sample(s)
		text := written(t, *Find("markdown"), r)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if want := 6 + len(r.Findings); len(lines) != want || !utf8.ValidString(text) {
			t.Fatalf("%d lines, want %d:\n%s", len(lines), want, text)
		}
		for _, line := range lines[6:] {
			line = strings.NewReplacer("<!-- -->", "", "<br>", "").Replace(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"))
			cells := 1
			for i := 0; i < len(line); i++ {
				switch c := line[i]; {
				case c == '\\':
					i++
				case c == '|':
					cells++
				case strings.IndexByte("<>&`*_[]@#~!$\"':.(){}=+-/%^,?", c) >= 0 && !strings.HasPrefix(line[i:], "; used by"):
					t.Fatalf("%q stands bare in %q", c, line)
				}
			}
			if cells != 4 {
				t.Fatalf("%d cells in %q", cells, line)
			}
		}
	})
}

// TestFingerprints: lines may move, other text may not pass for the same.
func TestFingerprints(t *testing.T) {
	r := sample("x")
	before := r.fingerprints(r.Findings)
	for i := range r.Findings {
		if at := r.Findings[i].Range; at != nil && at.Start.Line > 0 {
			at.Start.Line, at.End.Line, at.Start.Byte, at.End.Byte = at.Start.Line+7, at.End.Line+7, at.Start.Byte+70, at.End.Byte+70
			r.Findings[i].Snippet.StartLine += 7
		}
	}
	if diff := cmp.Diff(before, r.fingerprints(r.Findings)); diff != "" {
		t.Errorf("lines moved (-want +got):\n%s", diff)
	}
	for name, change := range map[string]func(*Finding){
		"rule": func(f *Finding) { f.Rule = "ROCE302" }, "address": func(f *Finding) { f.Address = "y" },
		"file": func(f *Finding) { f.Range.Filename = "y" }, "text": func(f *Finding) { f.Snippet.Code = strings.ToUpper(f.Snippet.Code) },
	} {
		r := sample("x")
		change(&r.Findings[0])
		if r.fingerprints(r.Findings)[0] == before[0] {
			t.Errorf("%s: the same fingerprint", name)
		}
	}
}

// broken takes no byte.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteErrors(t *testing.T) {
	for _, f := range Forms {
		if err := f.Write(broken{}, sample("x")); err == nil || !strings.Contains(fmt.Sprint(err), "full") {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
