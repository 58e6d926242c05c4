package lang

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

func textAt(files fstest.MapFS, c *Config, s source.Span) string {
	f := files[c.Files.Name(s.File)]
	if f == nil || int(s.End()) > len(f.Data) {
		return fmt.Sprintf("outside of %q", c.Files.Name(s.File))
	}
	return string(f.Data[s.Start:s.End()])
}

// TestProvenance: each attribute's place, and where its value was written when
// it came through variables, locals and modules.
func TestProvenance(t *testing.T) {
	files := fstest.MapFS{
		"a.roce.hcl": {Data: []byte(`
variable "mtu" {
  default = 9000
}
variable "role" {}
locals {
  vlan  = 77
  again = local.vlan
}
segment "s" {
  vlan = local.again
  mtu  = var.mtu
}
switch "tor" {
  os   = "sonic/202405"
  role = "x-${var.role}"
  port "Ethernet[0-4:4]" {
    mtu = 1500
  }
}
module "m" {
  source = "./m"
  size   = var.mtu
}
`)},
		"m/a.roce.hcl": {Data: []byte(`
variable "size" {}
segment "inner" {
  vlan = 5
  mtu  = var.size
}
`)},
		"fabric.rocevars.hcl": {Data: []byte("role = \"leaf\"\n")},
	}
	c := mustLoad(t, Options{FS: files})
	got := map[string]string{}
	for id := 1; id < len(c.Blocks); id++ {
		b := c.Block(BlockID(id))
		addr := c.Address(BlockID(id))
		got[addr] = textAt(files, c, c.Decls[b.Decl].Span) + " | " + c.String(c.Decls[b.Decl].Head)
		for _, s := range c.SpansOf(b.Decl) {
			got[addr+" "+s.Num.Name()] = textAt(files, c, c.SpanOf(b.Decl, s.Num))
		}
	}
	want := map[string]string{
		`segment.s`:                        `segment "s" | segment "s"`,
		`segment.s vlan`:                   `local.again`,
		`segment.s mtu`:                    `var.mtu`,
		`switch.tor`:                       `switch "tor" | switch "tor"`,
		`switch.tor os`:                    `"sonic/202405"`,
		`switch.tor role`:                  `"x-${var.role}"`,
		`switch.tor.port["Ethernet0"]`:     `port "Ethernet[0-4:4]" | port "Ethernet[0-4:4]"`,
		`switch.tor.port["Ethernet0"] mtu`: `1500`,
		`switch.tor.port["Ethernet4"]`:     `port "Ethernet[0-4:4]" | port "Ethernet[0-4:4]"`,
		`switch.tor.port["Ethernet4"] mtu`: `1500`,
		`module.m.segment.inner`:           `segment "inner" | segment "inner"`,
		`module.m.segment.inner vlan`:      `5`,
		`module.m.segment.inner mtu`:       `var.size`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// TestSharing: instances whose values cannot differ share one range of
// attributes: those of one member even across nodes.
func TestSharing(t *testing.T) {
	files := fstest.MapFS{"a.roce.hcl": {Data: []byte(`
variable "mtu" { default = 9000 }
segment "s" { vlan = 5 }
node "n" {
  for_each = toset(["a", "b", "c"])
  os       = "ubuntu/24.04"
  nic "plain[1-4]" {
    mtu    = var.mtu
    tagged = segment.s
  }
  nic "each[1-4]" {
    ifname = each.key
  }
  nic "self[1-4]" {
    ifname = self.name
  }
  nic "member[1-4]" {
    ifname = nic.name
  }
}
`)}}
	c := mustLoad(t, Options{FS: files})
	ranges := map[string]map[span32]bool{}
	for _, b := range c.Blocks {
		if b.Kind == schema.NIC {
			word := strings.TrimRight(c.String(b.Name), "1234")
			if ranges[word] == nil {
				ranges[word] = map[span32]bool{}
			}
			ranges[word][b.attrs] = true
		}
	}
	got := map[string]int{}
	for word, set := range ranges {
		got[word] = len(set)
	}
	if d := cmp.Diff(map[string]int{"plain": 1, "each": 3, "self": 3, "member": 4}, got); d != "" {
		t.Errorf("distinct ranges: -want +got\n%s", d)
	}
}

func TestIgnores(t *testing.T) {
	files := fstest.MapFS{
		"a.roce.hcl": {Data: []byte(`# rocec-ignore-file: naming_case # generated
switch "a" {
  mtu = 9000 # rocec-ignore: mtu_a, mtu_b # short
  # rocec-ignore: ROCE101
  # more words
  os = "sonic/202405"
  # rocec-ignore: in_block # why not
  port "x" {
    mtu = 1500
  }
  role = "# rocec-ignore: text"
}
// rocec-ignore: whole_block
switch "b" {
  // rocec-ignore
  mtu = 9000
  /*   rocec-ignore:  one ,two	three # of several lines
  */
  role = "leaf"
}
`)},
		"b.roce.json": {Data: []byte(`{"switch": {"c": {"//": "rocec-ignore: x # y", "mtu": 9000}}}`)},
	}
	c := mustLoad(t, Options{FS: files})
	var got []string
	for _, ig := range c.Ignores {
		covers := textAt(files, c, ig.Covers)
		if ig.Covers.Len > 80 {
			covers = "file"
		}
		got = append(got, fmt.Sprintf("%v %q %q", ig.Rules, ig.Reason, covers))
		if !strings.Contains(textAt(files, c, ig.At), ignoreWord) {
			t.Errorf("comment is at %q", textAt(files, c, ig.At))
		}
		for i, at := range ig.Names { // JSON has none
			if text := textAt(files, c, at); text != ig.Rules[i] {
				t.Errorf("rule %s is at %q", ig.Rules[i], text)
			}
		}
	}
	want := []string{
		`[naming_case] "generated" "file"`,
		`[mtu_a mtu_b] "short" "  mtu = 9000 # rocec-ignore: mtu_a, mtu_b # short\n"`,
		`[ROCE101] "" "os = \"sonic/202405\""`,
		`[in_block] "why not" "port \"x\" {\n    mtu = 1500\n  }"`,
		`[whole_block] "" "file"`,
		`[one two three] "of several lines" "role = \"leaf\""`,
		`[x] "y" "{\"//\": \"rocec-ignore: x # y\", \"mtu\": 9000}"`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// fakeView answers with rows that show what was asked.
type fakeView struct{}

func (fakeView) Ask(function string, args []string) ([]map[string]any, error) {
	switch function {
	case "links":
		return []map[string]any{{"a": map[string]any{"index": 1, "args": args}, "b": map[string]any{"index": 1, "up": true}}}, nil
	case "peers":
		return []map[string]any{{"of": args[0]}}, nil
	case "paths":
		if len(args) < 2 {
			return nil, fmt.Errorf("two ends are needed, and there are %d", len(args))
		}
		return []map[string]any{{"ways": uint64(len(args))}}, nil
	}
	return nil, nil
}

func TestChecks(t *testing.T) {
	files := fstest.MapFS{"a.roce.hcl": {Data: []byte(`
switch "tor" { os = "sonic/202405" }
locals { one = 1 }
check "holds" {
  assert {
    condition     = alltrue([for l in links("node", switch.tor) : l.a.index == l.b.index && l.b.up && l.a.args[1] == "switch.tor"])
    error_message = "no"
  }
}
check "fails" {
  assert {
    condition     = peers(switch.tor.port["Ethernet0"])[0].of == "x"
    error_message = "peer is ${peers(switch.tor)[0].of}, ${length(ports())} ports, ${local.one}"
  }
}
check "ways" {
  assert {
    condition     = paths(switch.tor, "x")[0].ways == 2
    error_message = "no"
  }
}
check "one_end" {
  assert {
    condition     = length(paths("x")) == 0
    error_message = "no"
  }
}
check "breaks" {
  assert {
    condition     = links("x")[0].nosuch
    error_message = "no"
  }
}
`)}}
	c := mustLoad(t, Options{FS: files})
	var got []string
	for _, ch := range c.Checks {
		ok, msg, ds := c.Eval(ch, fakeView{})
		got = append(got, fmt.Sprintf("%s %v %s%s", ch.Name, ok, msg, showDiags(c, ds, files)))
	}
	want := []string{
		"holds true ",
		"fails false peer is switch.tor, 0 ports, 1",
		"ways true ",
		"one_end false error: error in function call: call to function \"paths\" failed: two ends are needed, and there are 1\n  at a.roce.hcl:24: paths(  (in check \"one_end\")\n",
		"breaks false error: there is no attribute \"nosuch\"\n  at a.roce.hcl:30: .nosuch  (in check \"breaks\")\n  help: there is \"a\", \"b\"\n",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if out, ds := Console(c, "links()", nil); out != "" || !ds.HasErrors() {
		t.Errorf("console without a view gives %q", out)
	}
}

// shuffled cuts files into their top-level blocks and deals these out anew.
func shuffled(files fstest.MapFS, seed int64) fstest.MapFS {
	rng := rand.New(rand.NewSource(seed))
	out := fstest.MapFS{}
	var blocks []string
	for name, f := range files {
		if strings.HasSuffix(name, ".roce.hcl") && !strings.Contains(name, "/") {
			blocks = append(blocks, strings.SplitAfter(string(f.Data), "\n}\n")...)
			continue
		}
		out[name] = f
	}
	slices.Sort(blocks)
	rng.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
	parts := make([]string, 1+rng.Intn(4))
	for _, b := range blocks {
		i := rng.Intn(len(parts))
		parts[i] += b
	}
	for i, p := range parts {
		out[fmt.Sprintf("part%d.roce.hcl", i)] = &fstest.MapFile{Data: []byte(p)}
	}
	return out
}

// TestShuffle: the order of blocks and the files they stand in say nothing, and
// neither does the number of workers.
func TestShuffle(t *testing.T) {
	type fabric struct {
		name  string
		o     Options
		files fstest.MapFS
		want  string
	}
	var fabrics []fabric
	for _, name := range []string{"s2d", "converged", "expand", "modules", "packs"} {
		a, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		o, files := caseOptions(a)
		fabrics = append(fabrics, fabric{name, o, files, dump(mustLoad(t, o), true)})
	}
	rapid.Check(t, func(rt *rapid.T) {
		f := rapid.SampledFrom(fabrics).Draw(rt, "fabric")
		o := f.o
		o.FS = shuffled(f.files, rapid.Int64().Draw(rt, "seed"))
		o.Workers = rapid.IntRange(1, 8).Draw(rt, "workers")
		c, ds := Load(o)
		if ds.HasErrors() {
			rt.Fatal(showDiags(c, ds, o.FS))
		}
		if d := cmp.Diff(strings.Split(f.want, "\n"), strings.Split(dump(c, true), "\n")); d != "" {
			rt.Fatalf("%s: -want +got\n%s", f.name, d)
		}
	})
}

// TestWorkers: the Config is the same to the last number for any number of
// workers, findings included.
func TestWorkers(t *testing.T) {
	files, _ := writtenOut(210)
	files["zz.roce.hcl"] = &fstest.MapFile{Data: []byte("switch \"x\" {\n  mtu = 1\n}\nlink \"y\" {\n  ends = [node.nosuch, 1]\n}\n")}
	text := func(workers int) string {
		c, ds := Load(Options{FS: files, Workers: workers})
		return dump(c, false) + showDiags(c, ds, files) + fmt.Sprint(c.strings, c.Attrs, c.Lists, c.Maps)
	}
	one := text(1)
	for range 2 {
		if text(8) != one {
			t.Fatal("8 workers give another Config than one")
		}
	}
}

// TestHostile: what would exhaust memory or the stack is one finding with a
// place.
func TestHostile(t *testing.T) {
	deep := func(open, inner, shut string, n int) string {
		return "locals {\n  a = " + strings.Repeat(open, n) + inner + strings.Repeat(shut, n) + "\n}\n"
	}
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("locals {\n")
		for i := range n {
			fmt.Fprintf(&b, "  l%d = local.l%d\n", i, i+1)
		}
		fmt.Fprintf(&b, "  l%d = 1\n}\n", n)
		return b.String()
	}
	cases := map[string]struct{ name, src, want string }{
		"brackets":   {"a.roce.hcl", deep("[", "1", "]", 100000), "nested deeper"},
		"parens":     {"a.roce.hcl", deep("(", "1", ")", 100000), "nested deeper"},
		"braces":     {"a.roce.hcl", deep("{a=", "1", "}", 100000), "nested deeper"},
		"templates":  {"a.roce.hcl", deep(`"${`, "1", `}"`, 100000), "nested deeper"},
		"unclosed":   {"a.roce.hcl", strings.Repeat("[", 1000000), "nested deeper"},
		"hidden":     {"a.roce.hcl", "locals {\n a = \"" + strings.Repeat("(", 600) + "\"\n b = " + strings.Repeat("(/*)*/", 600) + "\n}", "nested deeper"},
		"odd text":   {"a.roce.hcl", "locals {\n a = \"x\n b = " + strings.Repeat("[", 100000), "does not end on its line"},
		"unary":      {"a.roce.hcl", "locals {\n  a = " + strings.Repeat("!", 100000) + "true\n}\n", "operators"},
		"sum":        {"a.roce.hcl", "locals {\n  a = 1" + strings.Repeat("+1", 100000) + "\n}\n", "operators"},
		"ternary":    {"a.roce.hcl", "locals {\n  a = " + strings.Repeat("true ? 1 : ", 100000) + "1\n}\n", "operators"},
		"traversal":  {"a.roce.hcl", "locals {\n  a = local" + strings.Repeat(".a", 100000) + "\n}\n", "operators"},
		"json":       {"a.roce.json", strings.Repeat("[", 100000), "nested deeper"},
		"json text":  {"a.roce.json", `{"locals": {"a": "` + strings.Repeat("${[", 100000) + `"}}`, "nested deeper"},
		"chain":      {"a.roce.hcl", chain(5000), "waits for more than"},
		"binary":     {"a.roce.hcl", "switch \x00\x01", "is zero"},
		"utf-8":      {"a.roce.hcl", "switch \"\xff\"", "not text in UTF-8"},
		"utf-16":     {"a.roce.hcl", "\xff\xfes\x00w\x00", "UTF-16"},
		"range":      {"a.roce.hcl", "switch \"a\" {\n  port \"swp[1-999999999]\" {}\n}\n", "more than 65536 members"},
		"except":     {"a.roce.hcl", "node \"a\" {\n  os = \"ubuntu/24.04\"\n  nic \"p[0-3]\" {\n    except \"p[0-1000000000]\" {\n      mtu    = 9000\n      reason = \"x\"\n    }\n  }\n}\n", "at most 65536"},
		"tier":       {"a.roce.hcl", "topology \"leaf_spine\" \"t\" {\n  leaf {\n    count = 1000000000\n  }\n}\n", "count does not take 1000000000"},
		"tier ports": {"a.roce.hcl", "topology \"leaf_spine\" \"t\" {\n  leaf {\n    count = 1\n    node_ports = \"swp[1-1000000000]\"\n  }\n}\n", "at most 65536"},
		"pairs":      {"a.roce.hcl", "topology \"leaf_spine\" \"t\" {\n  leaf {\n    count = 65536\n  }\n  spine {\n    count = 65536\n    link {\n      cable = { length = \"${leaf.index}m\" }\n    }\n  }\n}\n", "more than 262144 pairs"},
		"self pods":  {"a.roce.hcl", "topology \"leaf_spine\" \"t\" {\n  leaf {\n    count = 1 + leaf.pod\n  }\n}\ntopology \"clos3\" \"c\" {\n  pods = [for i in range(topology.t.leaf[0].index + 1) : topology.t]\n  core {\n    count = 1\n  }\n}\n", "stands for nothing"},
		"pod ring":   {"a.roce.hcl", "topology \"leaf_spine\" \"t\" {\n  leaf {\n    count = 2\n    name = \"l${leaf.pod}\"\n  }\n}\ntopology \"clos3\" \"c\" {\n  pods = [for i in range(topology.t.leaf[0].index + 1) : topology.t]\n  core {\n    count = 1\n  }\n}\n", "refers to itself"},
		"members":    {"a.roce.hcl", "mlag \"a\" {\n  switches = []\n  peer_link = \"swp[1-999999999]\"\n}\n", "at most 65536"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{c.name: {Data: []byte(c.src)}}
			conf, ds := Load(Options{FS: files})
			if !ds.HasErrors() || !strings.Contains(ds[0].Summary, c.want) || ds[0].Labels[0].Span.IsZero() || len(ds) > 3 {
				t.Errorf("want %q, got %.2000s", c.want, showDiags(conf, ds, files))
			}
		})
	}
	many := fstest.MapFS{"a.roce.hcl": {Data: []byte("switch \"a\" {\n  for_each = toset(expand_range(\"s[1-600]\"))\n  port \"swp[1-600]\" {}\n}\nnode \"b\" {}\nnode \"c\" {}\n")}}
	ld := newLoader(Options{FS: many})
	ld.limit = 100000
	ld.load()
	if conf, ds := ld.finish(); strings.Count(showDiags(conf, ds, many), "more than 100000 blocks") != 1 {
		t.Errorf("many blocks: %s", showDiags(conf, ds, many))
	}
	files := fstest.MapFS{"a.roce.hcl": {Data: make([]byte, 2000)}}
	if conf, ds := Load(Options{FS: files, MaxFileBytes: 1000}); !strings.Contains(showDiags(conf, ds, files), "larger than 1000 bytes") {
		t.Errorf("large file: %s", showDiags(conf, ds, files))
	}
	if conf, ds := Load(Options{FS: fstest.MapFS{}}); !strings.Contains(showDiags(conf, ds, fstest.MapFS{}), "holds no configuration") {
		t.Errorf("empty folder: %s", showDiags(conf, ds, fstest.MapFS{}))
	}
}

// TestFalseAlarm: much text that is not nested is not taken for nesting.
func TestFalseAlarm(t *testing.T) {
	src := "# " + strings.Repeat("((( ", 1000) + "\nlocals {\n  a = \"" + strings.Repeat("([{", 1000) + "\"\n  b = <<-EOT\n" +
		strings.Repeat("  ((( ${1 + 1} \" [[[\n", 1000) + "  EOT\n  c = [" + strings.Repeat("-1, 1 + 2 * 3, ", 20000) + "]\n}\nswitch \"x\" {\n}\n"
	mustLoad(t, Options{FS: fstest.MapFS{"a.roce.hcl": {Data: []byte(src)}}})
}
