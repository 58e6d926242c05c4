package packs

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
)

var update = flag.Bool("update", false, "rewrite index.json")

// block is one block at the top of a file.
type block struct {
	file, kind, name string
	body             *hclsyntax.Body
	src              []byte
}

func (b block) String() string { return b.file + `: ` + b.kind + ` "` + b.name + `"` }

// blocks parses every file.
func blocks(t *testing.T) []block {
	t.Helper()
	names, err := fs.Glob(files, "*.roce.hcl")
	if err != nil || len(names) == 0 {
		t.Fatalf("no files: %v", err)
	}
	var all []block
	for _, name := range names {
		src, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		f, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		body := f.Body.(*hclsyntax.Body)
		if len(body.Attributes) > 0 {
			t.Errorf("%s has attributes at its top", name)
		}
		for _, b := range body.Blocks {
			if len(b.Labels) != 1 {
				t.Errorf("%s: %s has %d labels", name, b.Type, len(b.Labels))
				continue
			}
			all = append(all, block{name, b.Type, b.Labels[0], b.Body, src})
		}
	}
	return all
}

func TestIndexListsEveryBlock(t *testing.T) {
	want := map[string]map[string]string{}
	for _, b := range blocks(t) {
		if want[b.kind] == nil {
			want[b.kind] = map[string]string{}
		}
		if other, twice := want[b.kind][b.name]; twice {
			t.Errorf("%s stands in %s too", b, other)
		}
		want[b.kind][b.name] = b.file
	}
	text, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile("index.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := fs.ReadFile(Files(), "index.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(got)); diff != "" {
		t.Errorf("index.json is not what the files hold (-want +got), run go test -update:\n%s", diff)
	}
	if diff := cmp.Diff(want, Index()); diff != "" {
		t.Error(diff)
	}
}

func TestFilesAreFormatted(t *testing.T) {
	names, err := fs.Glob(files, "*.roce.hcl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		src, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		out, bad := format.Source(name, src)
		if bad != nil {
			t.Errorf("%s: %v", name, bad)
			continue
		}
		if diff := format.Diff(name, src, out); diff != "" {
			t.Error(diff)
		}
	}
}

// TestBlocksFitTheSchema holds names against the tables of the language; values
// are TestEveryModelLoads' business.
func TestBlocksFitTheSchema(t *testing.T) {
	for _, b := range blocks(t) {
		kind := schema.ByWord(schema.None, b.kind)
		switch kind {
		case schema.SwitchModel, schema.NICModel, schema.ASIC, schema.Media, schema.PCIe, schema.QoS:
			fits(t, b.String(), kind, b.body)
		default:
			t.Errorf("%s is not data of a capability", b)
		}
	}
}

func fits(t *testing.T, where string, kind schema.Kind, body *hclsyntax.Body) {
	t.Helper()
	for name := range body.Attributes {
		if schema.Lookup(kind, name) == nil {
			t.Errorf("%s: there is no attribute %s", where, name)
		}
	}
	for _, a := range schema.Def(kind).Attrs {
		if _, has := body.Attributes[a.Num.Name()]; a.Required && !has {
			t.Errorf("%s lacks %s", where, a.Num.Name())
		}
	}
	for _, in := range body.Blocks {
		inner := schema.ByWord(kind, in.Type)
		if inner == schema.None {
			t.Errorf("%s has a block %s", where, in.Type)
			continue
		}
		fits(t, where+", "+in.Type, inner, in.Body)
	}
}

// TestEveryBlockHasASource also keeps sources from outliving their facts. A qos
// has no attribute for it and says it in the comment above.
func TestEveryBlockHasASource(t *testing.T) {
	for _, b := range blocks(t) {
		if b.kind == "qos" {
			if !strings.Contains(commentAbove(b), "# Source: ") {
				t.Errorf("%s has no comment with its source", b)
			}
			continue
		}
		if s, ok := text(b.body, "source"); !ok || len(s) < 10 {
			t.Errorf("%s has no source", b)
		}
		kind := schema.ByWord(schema.None, b.kind)
		for key, value := range object(b.body, "sources") {
			if b.body.Attributes[key] == nil {
				t.Errorf("%s has a source for %s and no such fact", b, key)
			}
			if schema.Lookup(kind, key) == nil || value == "" {
				t.Errorf("%s: source of %s is %q", b, key, value)
			}
		}
	}
}

func commentAbove(b block) string {
	start := b.body.SrcRange.Start.Byte
	lines := strings.Split(string(b.src[:start]), "\n")
	lines = lines[:len(lines)-1] // the block's own
	i := len(lines)
	for i > 0 && strings.HasPrefix(lines[i-1], "#") {
		i--
	}
	return strings.Join(lines[i:], "\n")
}

// text is a string attribute that is written plainly.
func text(body *hclsyntax.Body, name string) (string, bool) {
	a := body.Attributes[name]
	if a == nil {
		return "", false
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() || v.IsNull() || v.Type().FriendlyName() != "string" {
		return "", false
	}
	return v.AsString(), true
}

func object(body *hclsyntax.Body, name string) map[string]string {
	m := map[string]string{}
	a := body.Attributes[name]
	if a == nil {
		return m
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() {
		return m
	}
	for it := v.ElementIterator(); it.Next(); {
		k, el := it.Element()
		if el.Type().FriendlyName() == "string" {
			m[k.AsString()] = el.AsString()
		}
	}
	return m
}

func TestNamesOfChipsAndTables(t *testing.T) {
	chips := Index()["asic"]
	for _, b := range blocks(t) {
		if b.kind != "switch_model" {
			continue
		}
		if asic, _ := text(b.body, "asic"); chips[asic] == "" {
			t.Errorf("%s names asic %q, which no file has", b, asic)
		}
		platform, has := text(b.body, "platform")
		sku, both := text(b.body, "hwsku")
		if has != both {
			t.Errorf("%s has one of platform and hwsku", b)
		}
		if !has {
			continue
		}
		rows := HeadroomRows(platform)
		if !slices.ContainsFunc(rows, hasSKU(sku)) {
			t.Errorf("%s: the table has no rows for %s %s", b, platform, sku)
		}
	}
}

// TestSpeedsNamePorts expands the ranges of speeds: each names ports of the
// model, no port has two speeds, and under SONiC each port has one.
func TestSpeedsNamePorts(t *testing.T) {
	for _, b := range blocks(t) {
		if b.kind != "switch_model" {
			continue
		}
		speeds := object(b.body, "speeds")
		if _, all := speeds["*"]; all {
			if len(speeds) > 1 {
				t.Errorf("%s has a speed for all ports and for some", b)
			}
			continue
		}
		speed := map[string]string{}
		for key, value := range speeds {
			for _, port := range members(t, key) {
				if speed[port] != "" {
					t.Errorf("%s: port %s has two speeds", b, port)
				}
				speed[port] = value
			}
		}
		ports := map[string]bool{}
		for os, names := range portNames(t, b) {
			for _, port := range names {
				ports[port] = true
				if os == "sonic" && speed[port] == "" && !(b.name == "nvidia/sn6600-ld" && port == "Ethernet512") {
					t.Errorf("%s: port %s has no speed", b, port)
				}
			}
		}
		for port := range speed {
			if !ports[port] {
				t.Errorf("%s has a speed for %s and no such port", b, port)
			}
		}
	}
}

// portNames are the names of a model's ports by operating system.
func portNames(t *testing.T, b block) map[string][]string {
	t.Helper()
	v, diags := b.body.Attributes["ports"].Expr.Value(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	names := map[string][]string{}
	for it := v.ElementIterator(); it.Next(); {
		os, el := it.Element()
		if el.Type().FriendlyName() == "string" {
			names[os.AsString()] = members(t, el.AsString())
			continue
		}
		for more := el.ElementIterator(); more.Next(); {
			_, r := more.Element()
			names[os.AsString()] = append(names[os.AsString()], members(t, r.AsString())...)
		}
	}
	return names
}

func members(t *testing.T, text string) []string {
	t.Helper()
	r, err := funcs.ParseRange(text)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	err = r.Each(func(m funcs.Member) bool {
		names = append(names, m.Name)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestPortCounts holds the sizes of models against what their names and the
// makers say.
func TestPortCounts(t *testing.T) {
	want := map[string]map[string]int{
		"nvidia/sn2700":       {"sonic": 32, "cumulus-linux": 32},
		"nvidia/sn2410":       {"sonic": 56, "cumulus-linux": 56},
		"nvidia/sn3420":       {"sonic": 60, "cumulus-linux": 60},
		"nvidia/sn3700":       {"sonic": 32, "cumulus-linux": 32},
		"nvidia/sn4410":       {"sonic": 32, "cumulus-linux": 32},
		"nvidia/sn4600c":      {"sonic": 64, "cumulus-linux": 64},
		"nvidia/sn4700":       {"sonic": 32, "cumulus-linux": 32},
		"nvidia/sn5400":       {"sonic": 66, "cumulus-linux": 66},
		"nvidia/sn5600":       {"sonic": 65, "cumulus-linux": 65},
		"dell/s5248f-on":      {"sonic": 56, "dell-os10": 56, "sonic-enterprise": 56},
		"dell/s5232f-on":      {"sonic": 34, "dell-os10": 34, "sonic-enterprise": 34},
		"dell/z9264f-on":      {"sonic": 66, "dell-os10": 66},
		"dell/z9864f-on":      {"sonic": 66},
		"arista/7060cx-32s":   {"sonic": 32},
		"celestica/ds3000":    {"sonic": 33},
		"edgecore/as7816-64x": {"sonic": 64},
	}
	for _, b := range blocks(t) {
		counts, checked := want[b.name]
		if !checked {
			continue
		}
		got := map[string]int{}
		for os, names := range portNames(t, b) {
			got[os] = len(names)
		}
		if diff := cmp.Diff(counts, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", b, diff)
		}
		delete(want, b.name)
	}
	for name := range want {
		t.Errorf("there is no %s", name)
	}
}

// everything is a fabric that names every block of an index.
func everything(ix map[string]map[string]string) string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(ix["switch_model"])) {
		fmt.Fprintf(&b, "switch \"s%d\" {\n  model = %q\n  os = \"sonic/202511\"\n}\n", i, name)
	}
	b.WriteString("node \"n\" {\n  os = \"ubuntu/24.04\"\n")
	for i, name := range slices.Sorted(maps.Keys(ix["nic_model"])) {
		fmt.Fprintf(&b, "  nic \"n%d\" {\n    model = %q\n  }\n", i, name)
	}
	for i, name := range slices.Sorted(maps.Keys(ix["media"])) {
		fmt.Fprintf(&b, "  nic \"m%d\" {\n    model = \"linux/rxe\"\n    cable = { media = %q, length = \"1m\" }\n  }\n", i, name)
	}
	for i, name := range slices.Sorted(maps.Keys(ix["qos"])) {
		fmt.Fprintf(&b, "  nic \"q%d\" {\n    model = \"linux/rxe\"\n    qos = qos.%s\n  }\n", i, name)
	}
	for i, name := range slices.Sorted(maps.Keys(ix["pcie"])) {
		fmt.Fprintf(&b, "  nic \"p%d\" {\n    model = \"linux/rxe\"\n    pcie = { gen = %s, lanes = 16 }\n  }\n", i, name)
	}
	b.WriteString("}\n")
	return b.String()
}

func TestEveryModelLoads(t *testing.T) {
	src := everything(Index())
	fsys := fstest.MapFS{"fabric.roce.hcl": {Data: []byte(src)}}
	cfg, diags := lang.Load(lang.Options{FS: fsys, Packs: Files()})
	for _, d := range diags {
		where := ""
		if len(d.Labels) > 0 {
			where = cfg.Files.Name(d.Labels[0].Span.File) + ": "
		}
		if d.Severity == diag.Error || d.Severity == diag.Warning {
			t.Errorf("%s%s (%s)", where, d.Summary, d.Help)
		}
	}
	got := map[string]map[string]string{}
	for id := 1; id < len(cfg.Blocks); id++ {
		kind := cfg.Blocks[id].Kind.String()
		if Index()[kind] == nil {
			continue
		}
		if got[kind] == nil {
			got[kind] = map[string]string{}
		}
		name := cfg.String(cfg.Blocks[id].Name)
		got[kind][name] = Index()[kind][name]
	}
	want := Index()
	// No switch here has them.
	for _, chip := range []string{"broadcom/trident2"} {
		delete(want["asic"], chip)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what was loaded is not what there is (-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("names are not in order, or stand twice")
	}
	for _, want := range []string{"nvidia/sn3700", "nvidia/connectx-7", "broadcom/trident3", "dac", "s2d", "4"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no %s", want)
		}
		if file, ok := FileOf(want); !ok || !strings.HasSuffix(file, ".roce.hcl") {
			t.Errorf("FileOf(%q) = %q, %v", want, file, ok)
		}
	}
	if file, ok := FileOf("nvidia/sn3701"); ok {
		t.Errorf("FileOf of nothing = %q", file)
	}
	ix := Index()
	ix["qos"]["mine"] = "x"
	if Index()["qos"]["mine"] != "" {
		t.Error("the index can be changed from outside")
	}
}
