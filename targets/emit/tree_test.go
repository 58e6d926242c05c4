package emit_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

func document() *emit.Object {
	o := new(emit.Object)
	mtu := intent.Path{Object: intent.OfPort, Name: "eth0", Field: "mtu"}
	eth := o.Object("network").Object("ethernets").Object("eth0", intent.Path{Object: intent.OfPort, Name: "eth0"})
	eth.Set("macaddress", emit.Text("10:20:30:40:50:10"))
	eth.Set("mtu", emit.Int(9000), mtu)
	eth.Set("dhcp4", emit.Bool(false))
	eth.Set("enable", emit.Word("on"))
	eth.Set("addresses", emit.Texts("10.0.0.1/24", "2001:db8::1/64"))
	eth.Set("none", new(emit.Array))
	eth.Set("empty", new(emit.Object))
	routes := eth.Array("routes")
	r := routes.Object()
	r.Set("to", emit.Text("default"))
	r.Set("on-link", emit.Text("no"))
	inner := routes.Object().Array("nested")
	inner.Add(emit.Ints(uint16(1), 2))
	inner.Add(emit.Text("it's <b> & \"x\""))
	o.Set("version", emit.Int(2))
	o.Object("network").Set("renderer", emit.Text("networkd")) // goes on after ethernets
	return o
}

func written(write func(*emit.File)) emit.Artifact {
	out := emit.Out{Trace: true}
	write(out.File("x", 0o644, emit.Data))
	return out.Artifacts[0]
}

func TestYAML(t *testing.T) {
	a := written(func(f *emit.File) { f.Line("# head"); f.YAML(document()) })
	want := `# head
network:
  ethernets:
    eth0:
      macaddress: "10:20:30:40:50:10"
      mtu: 9000
      dhcp4: false
      enable: on
      addresses:
        - "10.0.0.1/24"
        - "2001:db8::1/64"
      none: []
      empty: {}
      routes:
        - to: default
          on-link: "no"
        - nested:
            - - 1
              - 2
            - "it's <b> & \"x\""
  renderer: networkd
version: 2
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(a.Bytes), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a.Lines[0].Number != 4 || a.Lines[0].Path.Field != "" || a.Lines[2].Number != 6 || a.Lines[2].Path.Field != "mtu" || a.Lines[3].Path.Name != "eth0" {
		t.Errorf("origins %+v", a.Lines)
	}
	list := new(emit.Array)
	list.Object().Object("header").Set("model", emit.Text("vx"))
	list.Object().Set("set", emit.Texts("a"))
	if got := string(written(func(f *emit.File) { f.YAML(list) }).Bytes); got != "- header:\n    model: vx\n- set:\n    - a\n" {
		t.Errorf("a list at the root is\n%s", got)
	}
}

func TestJSON(t *testing.T) {
	a := written(func(f *emit.File) { f.JSON(document(), 4) })
	want := `{
    "network": {
        "ethernets": {
            "eth0": {
                "macaddress": "10:20:30:40:50:10",
                "mtu": 9000,
                "dhcp4": false,
                "enable": "on",
                "addresses": [
                    "10.0.0.1/24",
                    "2001:db8::1/64"
                ],
                "none": [],
                "empty": {},
                "routes": [
                    {
                        "to": "default",
                        "on-link": "no"
                    },
                    {
                        "nested": [
                            [
                                1,
                                2
                            ],
                            "it's <b> & \"x\""
                        ]
                    }
                ]
            }
        },
        "renderer": "networkd"
    },
    "version": 2
}
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(a.Bytes), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var line int
	for _, l := range a.Lines {
		if l.Path.Field == "mtu" {
			line = l.Number
		}
	}
	if line != 6 {
		t.Errorf("mtu comes from line %d", line)
	}
}

func TestObject(t *testing.T) {
	o := new(emit.Object)
	o.Set("b", emit.Int(1))
	o.Set("a", emit.Int(2))
	o.Set("b", emit.Int(3))                   // keeps its place
	made, list := o.Object("o"), o.Array("l") // made by the first call, found by the next
	if o.Len() != 4 || !o.Has("a") || o.Has("c") || o.Object("o") != made || o.Array("l") != list {
		t.Error("keys")
	}
	if got := string(written(func(f *emit.File) { f.JSON(o, 0) }).Bytes); got != "{\n\"b\": 3,\n\"a\": 2,\n\"o\": {},\n\"l\": []\n}\n" {
		t.Errorf("%s", got)
	}
	o.SortKeys(strings.Compare)
	if got := string(written(func(f *emit.File) { f.YAML(o) }).Bytes); got != "a: 2\nb: 3\nl: []\no: {}\n" {
		t.Errorf("%s", got)
	}
}

// traps are strings that some reader of YAML takes for something else.
var traps = []string{
	"on", "Off", "YES", "no", "y", "N", "true", "FALSE", "null", "Null", "~", "", "1e3", "08", "0o7", "0x1F", "0b1", "1_000", "+1", "-1", ".5", "1.", "12:34:56", "10:20:30:40:50:10",
	"190:20:30", ".inf", "-.INF", ".nan", "nan", "Infinity", "2024-01-01", "2001-12-14t21:59:43.10-05:00", "<<", "=", "!", "&a", "*a", "- a", "? a", "a: b", "a #b", "#a", "%a", "@a", "`a`",
	"|", ">", "'", "\"", "{}", "[]", ",", "a\n\nb", " a", "a ", "\ta", "---", "...", "\u0085", "\u2028", "\ufeff", "\x00", "\x7f", "\U0001f600", "\ufffe", "é", "a\\b", "e1", "E3", "null.",
}

func TestYAMLTraps(t *testing.T) {
	o := new(emit.Object)
	want := map[string]string{}
	for _, s := range append(traps, targettest.HostileStrings()...) {
		if !utf8.ValidString(s) {
			continue
		}
		o.Set(s, emit.Text(s))
		want[s] = s
	}
	doc := written(func(f *emit.File) { f.YAML(o) }).Bytes
	var got map[string]any
	if err := yaml.Unmarshal(doc, &got); err != nil {
		t.Fatal(err)
	}
	for s := range want {
		if got[s] != s {
			t.Errorf("%q reads as %#v", s, got[s])
		}
	}
	// A reader of YAML 1.1, where there is one.
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import yaml").Run() != nil {
		t.Log("no PyYAML here")
		return
	}
	cmd := exec.Command(python, "-c", "import sys,json,yaml\nd=yaml.safe_load(sys.stdin.buffer.read())\njson.dump([[k,v] for k,v in d.items()],sys.stdout)")
	cmd.Stdin = bytes.NewReader(doc)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var pairs [][2]any
	if err := json.Unmarshal(out, &pairs); err != nil {
		t.Fatal(err)
	}
	if len(pairs) != len(want) {
		t.Errorf("PyYAML reads %d of %d keys", len(pairs), len(want))
	}
	for _, p := range pairs {
		if s, ok := p[0].(string); !ok || p[1] != s || want[s] != s {
			t.Errorf("PyYAML reads %#v: %#v", p[0], p[1])
		}
	}
}

func FuzzYAML(f *testing.F) {
	seed(f)
	for _, s := range traps {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o := new(emit.Object)
		o.Set(s, emit.Text(s))
		o.Object("w").Set("x", emit.Word(s))
		o.Array("l").Object().Set(s, emit.Texts(s, s))
		doc := written(func(f *emit.File) { f.YAML(o) }).Bytes
		s = strings.ToValidUTF8(s, "") // what is not UTF-8 becomes U+FFFD
		var got map[string]any
		if err := yaml.Unmarshal(doc, &got); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if !utf8.ValidString(string(doc)) {
			t.Fatalf("%q is not UTF-8", doc)
		}
		if strings.Contains(string(doc), "\ufffd") || s == "w" || s == "l" {
			return
		}
		want := map[string]any{s: s, "w": map[string]any{"x": got["w"].(map[string]any)["x"]}, "l": []any{map[string]any{s: []any{s, s}}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, doc)
		}
	})
}

func FuzzJSON(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		o := new(emit.Object)
		o.Set(s, emit.Text(s))
		o.Array("list").Add(emit.Word(s))
		doc := written(func(f *emit.File) { f.JSON(o, 2) }).Bytes
		var got map[string]any
		if err := json.Unmarshal(doc, &got); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		s = strings.ToValidUTF8(s, "\ufffd")
		if s == "list" || strings.Contains(s, "\ufffd") {
			return
		}
		if diff := cmp.Diff(map[string]any{s: s, "list": []any{s}}, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// Any tree reads back as itself, from YAML and from JSON.
func TestTreesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, want := tree(t, 3)
		o := new(emit.Object)
		o.Set("root", n)
		doc := written(func(f *emit.File) { f.YAML(o) }).Bytes
		var got map[string]any
		if err := yaml.Unmarshal(doc, &got); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if diff := cmp.Diff(want, got["root"]); diff != "" {
			t.Fatalf("YAML (-want +got):\n%s\n%s", diff, doc)
		}
		wantJSON, err := json.Marshal(map[string]any{"root": want})
		if err != nil {
			t.Fatal(err)
		}
		for _, indent := range []int{0, 2, 4} {
			doc := written(func(f *emit.File) { f.JSON(o, indent) }).Bytes
			var a, b any
			if json.Unmarshal(wantJSON, &a) != nil || json.Unmarshal(doc, &b) != nil {
				t.Fatalf("no JSON:\n%s", doc)
			}
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("JSON (-want +got):\n%s\n%s", diff, doc)
			}
		}
	})
}

func tree(t *rapid.T, depth int) (emit.Node, any) {
	kinds := 4
	if depth == 0 {
		kinds = 2
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		n := rapid.IntRange(-1<<40, 1<<40).Draw(t, "int")
		return emit.Int(n), n
	case 1:
		b := rapid.Bool().Draw(t, "bool")
		return emit.Bool(b), b
	case 2:
		s := rapid.SampledFrom(traps).Draw(t, "text")
		return emit.Text(s), s
	case 3:
		o, want := new(emit.Object), map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			k := rapid.SampledFrom([]string{"a", "b", "on", "1", "a b", strings.Repeat("long", 300)}).Draw(t, "key")
			n, v := tree(t, depth-1)
			o.Set(k, n)
			want[k] = v
		}
		return o, want
	}
	a, want := new(emit.Array), []any{}
	for range rapid.IntRange(0, 3).Draw(t, "len") {
		n, v := tree(t, depth-1)
		a.Add(n)
		want = append(want, v)
	}
	return a, want
}
