package format

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const settings = `# head
defaults  {
  port {
    mtu = 9216 # all of them
  }
}
switch "tor" { # why
  # what is above
  port "e0" {
    mtu      = 1500 # too small
    pause    = true
    watchdog = { detect = "50ms", restore = "400ms" } # fast
    pools = {
      # the one
      ingress = "1MB" # in
      egress  = var.out
    }
    computed = var.mtu + 1
    empty    = {}

    inner {}
  }
  port "e1" { mtu = 1500 }
  port "e2" {}
}
`

func TestSet(t *testing.T) {
	at := func(text string) int { return strings.Index(settings, text) }
	for _, c := range []struct {
		name     string
		set      Setting
		old, new string // "" and "": nothing can be done
	}{
		{"value", Setting{at(`1500 # too`), "mtu", "9216"}, "1500 # too", "9216 # too"},
		{"value by its block", Setting{at(`port "e0"`), "mtu", "9216"}, "1500 # too", "9216 # too"},
		{"another attribute", Setting{at(`1500 # too`), "pause", "false"}, "", ""},
		{"no place", Setting{at(`# what`), "mtu", "9216"}, "", ""},
		{"as it is", Setting{at(`1500 # too`), "mtu", "1500"}, "", ""},
		{"worked out", Setting{at(`var.mtu`), "computed", "1"}, "", ""},
		{"worked out, taken out", Setting{at(`var.mtu`), "computed", ""}, "", ""},
		{"taken out", Setting{at("true\n"), "pause", ""}, "    pause    = true\n", ""},
		{"taken out, comment stays", Setting{at(`1500 # too`), "mtu", ""}, "mtu      = 1500 # too small", "# too small"},
		{"taken out of one line", Setting{at(`1500 }`), "mtu", ""}, "{ mtu = 1500 }", "{}"},
		{"not there", Setting{at(`port "e2"`), "mtu", ""}, "", ""},
		{"field", Setting{at(`{ detect`), "watchdog.detect", `"200ms"`}, `"50ms"`, `"200ms"`},
		{"last field", Setting{at(`{ detect`), "watchdog.restore", ""}, `, restore = "400ms"`, ""},
		{"first field", Setting{at(`{ detect`), "watchdog.detect", ""}, `detect = "50ms", `, ""},
		{"one more field", Setting{at(`{ detect`), "watchdog.poll", `"200ms"`}, `"400ms" }`, `"400ms", poll = "200ms" }`},
		{"field of an empty object", Setting{at(`{}`), "empty.x", "1"}, "= {}", "= { x = 1 }"},
		{"field of no object", Setting{at("true\n"), "pause.x", "1"}, "", ""},
		{"object of which a part is worked out", Setting{at(`{
      # the`), "pools.ingress", ""}, "", ""},
		{"new", Setting{at(`port "e0"`), "enabled", "false"}, "empty    = {}\n", "empty    = {}\n    enabled = false\n"},
		{"new field", Setting{at(`port "e0"`), "buffer.alpha", `"1/8"`}, "empty    = {}\n", "empty    = {}\n    buffer = { alpha = \"1/8\" }\n"},
		{"new beside one", Setting{at(`port "e1"`), "enabled", "false"}, "{ mtu = 1500 }", "{\n    mtu = 1500\n    enabled = false\n  }"},
		{"new in an empty block", Setting{at(`port "e2"`), "enabled", "false"}, "\"e2\" {}", "\"e2\" {\n    enabled = false\n  }"},
		{"new before blocks", Setting{at(`switch`), "role", `"leaf"`}, "# why\n", "# why\n  role = \"leaf\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, problem := Parse("f.roce.hcl", []byte(settings))
			if problem != nil {
				t.Fatal(problem)
			}
			change, ok := tree.Set(c.set)
			if ok != (c.old != "") {
				t.Fatalf("%v: %+v", ok, change)
			}
			if !ok {
				return
			}
			got, problem := tree.Apply([]Change{change, change})
			if problem != nil {
				t.Fatal(problem)
			}
			if d := cmp.Diff(strings.Replace(settings, c.old, c.new, 1), string(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			windows := strings.ReplaceAll(settings, "\n", "\r\n")
			c.set.At += strings.Count(settings[:c.set.At], "\n")
			if tree, problem = Parse("f.roce.hcl", []byte(windows)); problem != nil {
				t.Fatal(problem)
			}
			change, _ = tree.Set(c.set)
			got, _ = tree.Apply([]Change{change})
			if bytes.Count(got, []byte("\n")) != bytes.Count(got, []byte("\r\n")) || string(got) == windows {
				t.Errorf("line ends are not those of the file: %q", got)
			}
		})
	}
}

// TestApply: a file in canonical layout stays in it, and changes that exclude
// each other are refused.
func TestApply(t *testing.T) {
	const src = "port \"e0\" {\n  mtu     = 1500 # small\n  enabled = true\n}\n"
	tree, problem := Parse("f.roce.hcl", []byte(src))
	if problem != nil {
		t.Fatal(problem)
	}
	set := func(s Setting) Change {
		c, ok := tree.Set(s)
		if !ok {
			t.Fatalf("%+v", s)
		}
		return c
	}
	got, problem := tree.Apply([]Change{set(Setting{0, "watchdog", `"auto"`}), set(Setting{0, "enabled", ""}), set(Setting{0, "pause", "false"})})
	if want := "port \"e0\" {\n  mtu      = 1500 # small\n  watchdog = \"auto\"\n  pause    = false\n}\n"; problem != nil || string(got) != want {
		t.Errorf("%v\n%s", problem, got)
	}
	for name, two := range map[string][2]Change{
		"two values":     {set(Setting{0, "mtu", "9000"}), set(Setting{0, "mtu", "9216"})},
		"two new values": {set(Setting{0, "pause", "true"}), set(Setting{0, "pause", "false"})},
		"bytes":          {{Start: 2, End: 8, What: "a"}, {Start: 4, End: 9, What: "b"}},
		"no syntax":      {{Start: 0, End: 0, Text: "{", What: "a"}, {Start: 0, End: 0, Text: "{", What: "b"}},
	} {
		if got, problem := tree.Apply(two[:]); problem == nil || string(got) != src {
			t.Errorf("%s: %v, %q", name, problem, got)
		}
	}
	if _, problem := Parse("f.roce.json", []byte("{}")); problem == nil {
		t.Error("JSON is rewritten")
	}
	if _, problem := Parse("f.roce.hcl", []byte("a {")); problem == nil {
		t.Error("what does not parse is rewritten")
	}
}

// FuzzSet: whatever is set, the file parses, and only what was to change differs.
func FuzzSet(f *testing.F) {
	for at := range len(settings) {
		if at%7 == 0 {
			f.Add([]byte(settings), uint16(at), "mtu", true)
		}
	}
	f.Add([]byte("a {\n  b = <<E\nx\nE\n}\n"), uint16(0), "b", false)
	f.Add([]byte("a {\n  b = <<E\nx\nE\n}\n"), uint16(0), "c", true)
	f.Add([]byte("a {\n b = { c = 1, d = 2 }\n}"), uint16(0), "b.c", false)
	f.Add([]byte("a {\n b = {\n c = 1 # c\n d = 2 // d\n }\n}"), uint16(0), "b.d", false)
	f.Add([]byte("a {\n b = {\n c = 1 # c\n d = 2 // d\n }\n}"), uint16(0), "b.e", true)
	f.Fuzz(func(t *testing.T, src []byte, at uint16, path string, write bool) {
		name, field, _ := strings.Cut(path, ".")
		if !hclsyntax.ValidIdentifier(name) || field != "" && !hclsyntax.ValidIdentifier(field) {
			return // rules name attributes
		}
		tree, problem := Parse("f", src)
		if problem != nil {
			return
		}
		s := Setting{At: int(at), Path: path}
		if write {
			s.Value = "1"
		}
		c, ok := tree.Set(s)
		if !ok {
			return
		}
		got, problem := tree.Apply([]Change{c})
		if problem != nil {
			t.Fatalf("%+v: %v\n%q", c, problem, src)
		}
		again, problem := Parse("f", got)
		if problem != nil {
			t.Fatalf("%+v: %v\n%q\n%q", c, problem, src, got)
		}
		if a, b := comments(t, src), comments(t, got); a != b {
			t.Errorf("comments %q became %q", a, b)
		}
		if h, b := tree.values[s.At], tree.blocks[s.At]; h.attr == nil && b != nil && again.blocks[s.At] == nil {
			t.Errorf("no block at %d any more: %q", s.At, got)
		}
	})
}

func comments(t *testing.T, src []byte) string {
	t.Helper()
	tokens, _ := hclsyntax.LexConfig(src, "f", hcl.InitialPos)
	var b strings.Builder
	for _, k := range tokens {
		if k.Type == hclsyntax.TokenComment {
			b.WriteString(strings.TrimSpace(string(k.Bytes)) + "\n")
		}
	}
	return b.String()
}
