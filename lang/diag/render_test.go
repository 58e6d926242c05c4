package diag

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/lang/source"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

const pod = `qos "roce" {
  trust = "dscp"

  class "rdma" {
    carries   = "rdma"
    dscp      = 26

    # the same on every leaf
    priority  = 3
  }
}
`

const legacy = "switch \"old\" {\r\n  model = \"dell/s5248f-on\"\r\n  os    = \"dell-os10/10.5\"\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n  port \"swp7\" {\r\n\t# array\r\n    qos = qos.legacy\r\n  }\r\n}\r\n"

// fixture is the files of the tests, and a function that finds text in them.
func fixture() (*source.View, func(file, text string) source.Span) {
	disk := map[string]string{
		"pod1.roce.hcl": pod, "legacy.roce.hcl": legacy,
		"hosts.csv": "name,slot\nhv\x1b[31m01,\u202e7\xff\n",
	}
	files := source.NewFiles()
	for _, name := range []string{"pod1.roce.hcl", "legacy.roce.hcl", "hosts.csv"} {
		files.Add(name, []byte(disk[name]))
	}
	files.Add("gone.hcl", []byte("x"))
	view := &source.View{Files: files, Read: func(name string) ([]byte, error) {
		if s, ok := disk[name]; ok {
			return []byte(s), nil
		}
		return nil, errors.New("gone")
	}}
	return view, func(file, text string) source.Span {
		i := strings.Index(disk[file], text)
		if i < 0 {
			panic(text)
		}
		return source.Span{File: files.Lookup(file), Start: uint32(i), Len: uint32(len(text))}
	}
}

func rules(id string) *Rule {
	if id == "ROCE301" {
		return &Rule{ID: id, Name: "link_pfc_priorities"}
	}
	return nil
}

func sample(view *source.View, at func(file, text string) source.Span) List {
	return List{
		{
			Rule: "ROCE301", Summary: "PFC priorities differ across a link", Address: `node.gpu["gpu07"].nic["rail2"]`,
			Labels: []Label{
				{Span: at("pod1.roce.hcl", "priority  = 3"), Where: `qos "roce", class "rdma"`},
				{
					Span: at("legacy.roce.hcl", "qos = qos.legacy"), Where: `switch "old", port "swp7"`, Text: "other end",
					Values: []string{`qos.legacy.class["rdma"].priority is 4`},
				},
			},
			Notes: []string{"a pause for priority 4 does not stop traffic sent on priority 3; the buffer overruns"},
			Help:  "give both ends the same qos, or make the port lossy",
			Edits: []Edit{{Span: at("legacy.roce.hcl", "qos.legacy"), New: "qos.roce\n"}},
			Count: 10, Members: rails(10), Follows: List{
				{Rule: "ROCE302", Summary: "class rdma becomes lossy at old/swp7", Address: "old", Count: 2, Labels: []Label{{Span: at("legacy.roce.hcl", "qos = qos.legacy")}}},
				{Rule: "ROCE998", Severity: Warning, Summary: "a queue fills"},
			},
		},
		{
			Rule: "ROCE999", Severity: Warning, Summary: "two things over lines",
			Labels: []Label{{Span: at("legacy.roce.hcl", "port \"swp7\" {\r\n\t# array\r\n    qos = qos.legacy\r\n  }\r\n")}},
			Help:   "mlx5 does it by itself",
		},
		{
			Severity: Notice, Summary: "a file that is not at hand",
			Labels: []Label{{Span: source.Span{File: view.Files.Lookup("gone.hcl")}, Where: `node "x"`}},
		},
		{Severity: Error, Summary: "nowhere", Labels: []Label{{Where: "switch.tor.mtu"}}, Notes: []string{"first line\n  kept as it is, however long it may be, because it starts with a blank and is meant so\nlast"}},
		{Severity: Error, Summary: "no labels at all"},
		{
			Rule: "R\x1b[0m", Severity: Warning, Summary: "name \x1b[2J is hostile\nand long", Address: "node.\u009b0m",
			Labels: []Label{{
				Span: at("hosts.csv", "01,\u202e7\xff"), Where: "row\x07", Text: "csv\u2028", Values: []string{"self.name is \x00"},
			}},
			Notes: []string{"see \x1b]8;;http://x\x07"}, Help: "rename \u200eit", Count: 2, Members: []Member{{Address: "a\rb", Summary: "one"}, {Address: "node.\u009b0m", Summary: "two\x07 of it"}},
		},
	}
}

// rails are as many NICs of one node.
func rails(n int) (list []Member) {
	for i := range n {
		list = append(list, Member{Address: fmt.Sprintf(`node.gpu["gpu07"].nic["rail%d"]`, i), Summary: "PFC priorities differ across a link"})
	}
	return list
}

func TestText(t *testing.T) {
	view, at := fixture()
	for name, o := range map[string]TextOptions{
		"text.golden":  {Width: 100, Rules: rules},
		"plain.golden": {Limit: 2},
		"color.golden": {Width: 100, Color: true, Rules: rules, Limit: 5},
	} {
		var b bytes.Buffer
		if err := Text(&b, sample(view, at), view, o); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if o.Color {
			got = strings.ReplaceAll(got, "\x1b", "ESC")
		}
		golden(t, name, got)
		shown := got
		if strings.ContainsFunc(shown, func(r rune) bool { return r != '\n' && hidden(r) }) {
			t.Errorf("%s holds a raw control character", name)
		}
	}
}

// The box of the language reference, section on diagnostics, but for colours.
func TestTextBox(t *testing.T) {
	view, at := fixture()
	var b bytes.Buffer
	if err := Text(&b, sample(view, at)[:1], view, TextOptions{Color: true, Width: 102, Rules: rules}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, code := range []string{reset, bold, underline, noLine, red} {
		got = strings.ReplaceAll(got, code, "")
	}
	want := `╷
│ Error: PFC priorities differ across a link
│
│   on pod1.roce.hcl line 9, in qos "roce", class "rdma":
│    9:     priority  = 3
│   used by node.gpu["gpu07"].nic["rail[0-9]"]
│
│   other end: on legacy.roce.hcl line 14, in switch "old", port "swp7":
│   14:     qos = qos.legacy
│     ├────────────────
│     │ qos.legacy.class["rdma"].priority is 4
│
│ A pause for priority 4 does not stop traffic sent on priority 3; the buffer overruns. Give both ends
│ the same qos, or make the port lossy. Rule: ROCE301 link_pfc_priorities (rocec explain ROCE301).
│
│ And follows from it: ROCE302 class rdma becomes lossy at old/swp7 (2)
│                      ROCE998 a queue fills
╵
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTextWithoutView(t *testing.T) {
	view, at := fixture()
	var b bytes.Buffer
	if err := Text(&b, sample(view, at), nil, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "PFC priorities differ") || strings.Contains(b.String(), "line 9") {
		t.Errorf("%s", b.String())
	}
}

func TestCompact(t *testing.T) {
	view, at := fixture()
	var b bytes.Buffer
	if err := Compact(&b, sample(view, at), view, rules); err != nil {
		t.Fatal(err)
	}
	golden(t, "compact.golden", b.String())
	if n := strings.Count(b.String(), "\n"); n != len(sample(view, at)) {
		t.Errorf("%d lines for %d findings", n, len(sample(view, at)))
	}
	if strings.ContainsFunc(b.String(), func(r rune) bool { return r != '\n' && hidden(r) }) {
		t.Error("a raw control character")
	}
}

func TestJSON(t *testing.T) {
	view, at := fixture()
	list := JSON(sample(view, at), view, rules)
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "json.golden", string(b)+"\n")
	s := list[0].Snippet
	if got := s.Code[s.HighlightStartOffset:s.HighlightEndOffset]; got != "priority  = 3" {
		t.Errorf("highlighted %q", got)
	}
	if r := list[0].Range; r.Start.Line != 9 || r.Start.Column != 5 || pod[r.Start.Byte:r.End.Byte] != "priority  = 3" {
		t.Errorf("range %+v", r)
	}
	for _, d := range list {
		for _, text := range []string{d.Summary, d.Detail, d.Address, d.Also, d.Rule} {
			if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
				t.Errorf("%q", text)
			}
		}
	}
	if empty, _ := json.Marshal(JSON(nil, nil, nil)); string(empty) != "[]" {
		t.Errorf("no findings are %s", empty)
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 漢 ─": "plain é 漢 ─", "\x1b[31m": `\x1b[31m`, "a\nb\tc\r": `a\nb\tc\x0d`, "\u009b": `\x9b`, "\xff": `\xff`,
		"\u202e\u2028": `\u202e\u2028`, "\U000e0001": `\U000e0001`, "\ufffd": "\ufffd",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "remove it": "Remove it.", "Remove it.": "Remove it.", "mlx5 has it": "mlx5 has it.",
		`did you mean "a"?`: `Did you mean "a"?`, "qos.x is 3": "qos.x is 3.", "école": "École.",
	} {
		if got := sentence(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	long := "aa bb  cc\n  kept as it is\ndddddddddd e"
	if diff := cmp.Diff([]string{"aa bb", "cc", "  kept as it is", "dddddddddd", "e"}, Wrap(long, 5)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.Split(long, "\n"), Wrap(long, 0)); diff != "" {
		t.Errorf("unlimited (-want +got):\n%s", diff)
	}
}
