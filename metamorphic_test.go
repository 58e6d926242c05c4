package rocec_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/langtest"
)

// Where a thing is written never changes a verdict. The tests here write a fabric in
// other ways that mean the same and demand the same findings at the same addresses.

// verdict is what is found, without the places in the source where it stands: by rule
// and severity how often, and the first address. How findings are folded follows from
// the places.
type verdict map[string]judged

type judged struct {
	Count int
	First string
}

// instance is the key of a device that a block with for_each makes: see eachOfOne.
var instance = regexp.MustCompile(`\["only"\]`)

func verdictOf(found diag.List) verdict {
	v := verdict{}
	others := slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && !slices.Contains(lint.Refusals, d.Rule)
	})
	for _, d := range found {
		if slices.Contains(lint.Refusals, d.Rule) && others {
			continue // what a target refuses of a fabric that is wrong follows from where the wrong thing is said
		}
		key := d.Severity.String() + " " + d.Rule
		if d.Rule == "" {
			key += instance.ReplaceAllString(d.Summary, "")
		}
		address := instance.ReplaceAllString(d.Address, "")
		j, seen := v[key]
		if !seen || address < j.First {
			j.First = address
		}
		j.Count += max(d.Count, 1)
		v[key] = j
	}
	return v
}

// sources are files by name.
type sources map[string]string

func (s sources) build() made {
	fsys := fstest.MapFS{}
	for name, text := range s {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return build(fsys, "2026-06-01")
}

// rewriting is another way to write a source. It returns nil where it does not fit.
type rewriting struct {
	name string
	of   func(r *rand.Rand, root *block) sources
}

func (b *block) sources() sources {
	return sources{"fabric.roce.hcl": (&site{root: *b}).String()}
}

// each calls visit for a block and all blocks in it.
func (b *block) each(visit func(*block)) {
	visit(b)
	for _, k := range b.kids {
		k.each(visit)
	}
}

// eachWritten is each without exceptions.
func (b *block) eachWritten(visit func(*block)) {
	if b.is("except") {
		return
	}
	visit(b)
	for _, k := range b.kids {
		k.eachWritten(visit)
	}
}

// is reports whether a block is of one of some types.
func (b *block) is(words ...string) bool {
	word, _, _ := strings.Cut(b.head, " ")
	return slices.Contains(words, word)
}

// moved is a rewriting that writes the contract elsewhere. It fits a source whose
// segments and topologies have one contract, whose ports all get it from these, and
// whose segments all have hosts.
func moved(place string, put func(r *rand.Rand, root *block, contract func(*block))) rewriting {
	return rewriting{"contract " + place, func(r *rand.Rand, root *block) sources {
		qos, fits := "", true
		generated := slices.ContainsFunc(root.kids, func(b *block) bool { return b.is("topology") })
		hosts := strings.Builder{}
		root.eachWritten(func(b *block) {
			if b.is("nic", "bond", "interface") {
				b.write(&hosts, "")
			}
		})
		root.eachWritten(func(b *block) {
			switch {
			case b.is("segment", "topology") && !(b.is("segment") && generated):
				fits = fits && (generated || strings.Contains(hosts.String(), "segment."+label(b)))
				fits = fits && b.get("qos") != "" && (qos == "" || qos == b.get("qos"))
				qos = b.get("qos")
				b.set("qos", "")
			case b.is("defaults"), b.is("segment") && b.get("qos") != "":
				fits = false
			case b.is("port", "nic"):
				fits = fits && (generated || b.inVLAN() || root.has("mlag"))
			case b.is("switch", "node"):
				fits = fits && b.get("qos") == ""
			}
		})
		if !fits || qos == "" {
			return nil
		}
		put(r, root, func(b *block) {
			if b.get("qos") == "" && b.get("external") == "" {
				b.set("qos", qos)
			}
		})
		return root.sources()
	}}
}

func (b *block) has(word string) bool {
	return slices.ContainsFunc(b.kids, func(k *block) bool { return k.is(word) })
}

// inVLAN reports whether a port or NIC says in which VLANs it is.
func (b *block) inVLAN() bool {
	return b.get("untagged") != "" || b.get("segment") != "" || b.get("tagged") != ""
}

var rewritings = []rewriting{
	moved("on ports and NICs", func(_ *rand.Rand, root *block, contract func(*block)) {
		root.eachWritten(func(b *block) {
			if b.is("port", "nic", "leaf", "spine", "core") {
				contract(b)
			}
		})
	}),
	moved("on devices", func(_ *rand.Rand, root *block, contract func(*block)) {
		root.eachWritten(func(b *block) {
			if b.is("switch", "node", "leaf", "spine", "core") {
				contract(b)
			}
		})
	}),
	moved("in defaults", func(_ *rand.Rand, root *block, contract func(*block)) {
		contract(root.add(`defaults "port"`))
		contract(root.add(`defaults "nic"`))
	}),
	moved("in defaults of devices", func(_ *rand.Rand, root *block, contract func(*block)) {
		contract(root.add(`defaults "switch"`))
		contract(root.add(`defaults "node"`))
	}),
	moved("here and there", func(r *rand.Rand, root *block, contract func(*block)) {
		contract(root.add(`defaults "port"`))
		root.eachWritten(func(b *block) {
			if b.is("segment", "topology", "leaf", "switch") && r.IntN(2) == 0 || b.is("nic") {
				contract(b)
			}
		})
	}),
	{"reversed", func(_ *rand.Rand, root *block) sources {
		root.each(func(b *block) {
			if !b.is("rollout") { // waves are in an order
				slices.Reverse(b.kids)
			}
			slices.Reverse(b.attrs)
		})
		return root.sources()
	}},
	{"in many files", func(r *rand.Rand, root *block) sources {
		files := sources{}
		for i, n := range r.Perm(len(root.kids)) {
			var out strings.Builder
			root.kids[n].write(&out, "")
			files[fmt.Sprintf("%03d.roce.hcl", i)] = out.String()
		}
		return files
	}},
	{"in JSON", func(_ *rand.Rand, root *block) sources {
		text, err := json.MarshalIndent(root.object(), "", "  ")
		if err != nil {
			panic(err)
		}
		return sources{"fabric.roce.json": string(text)}
	}},
	{"by for_each", func(_ *rand.Rand, root *block) sources {
		var names []string
		for _, k := range root.kids {
			if k.is("switch", "node") && k.get("for_each") == "" && k.get("name") == "" {
				k.set("for_each", `{ only = 1 }`).set("name", quote(label(k)))
				names = append(names, regexp.QuoteMeta(strings.ReplaceAll(strings.ReplaceAll(k.head, ` "`, "."), `"`, "")))
			}
		}
		if names == nil {
			return nil
		}
		files := root.sources()
		for name, text := range files {
			files[name] = regexp.MustCompile(`\b(`+strings.Join(names, "|")+`)\b([^"\w-])`).ReplaceAllString(text, `$1["only"]$2`)
		}
		return files
	}},
	{"links in tiers", func(_ *rand.Rand, root *block) sources {
		some := false
		root.each(func(b *block) {
			if !b.is("leaf", "spine", "core") {
				return
			}
			link := &block{head: "link"}
			for _, name := range []string{"cable", "speed", "fec", "autoneg", "macsec"} {
				if v := b.get(name); v != "" {
					link.set(name, v)
					b.set(name, "")
				}
			}
			if len(link.attrs) > 0 {
				b.kids = append(b.kids, link)
				some = true
			}
		})
		if !some {
			return nil
		}
		return root.sources()
	}},
	{"by ranges", func(_ *rand.Rand, root *block) sources {
		some := false
		for _, k := range root.kids {
			if k.is("switch", "node") {
				some = k.ranged() || some
			}
		}
		if !some {
			return nil
		}
		return root.sources()
	}},
}

// object is a block as the JSON form has it.
func (b *block) object() map[string]any {
	o := map[string]any{}
	for _, a := range b.attrs {
		if a[1] != "" {
			o[a[0]] = "${" + a[1] + "}"
		}
	}
	for _, k := range b.kids {
		words := strings.Fields(k.head)
		at := o
		for _, w := range words[:len(words)-1] {
			name := strings.Trim(w, `"`)
			if at[name] == nil {
				at[name] = map[string]any{}
			}
			at = at[name].(map[string]any)
		}
		name := strings.Trim(words[len(words)-1], `"`)
		list, _ := at[name].([]any)
		at[name] = append(list, k.object())
	}
	return o
}

// ranged writes ports or NICs that are alike and in a row as one block, and reports
// whether there are such.
func (b *block) ranged() (some bool) {
	split := func(k *block) (stem string, n int, ok bool) {
		name := label(k)
		stem = strings.TrimRight(name, "0123456789")
		n, err := strconv.Atoi(name[len(stem):])
		return stem, n, err == nil && k.is("port", "nic") && len(k.kids) == 0
	}
	var kids []*block
	for i := 0; i < len(b.kids); {
		k := b.kids[i]
		stem, first, ok := split(k)
		step, last, n := 0, first, 1
		for ok && i+n < len(b.kids) {
			s, at, ok := split(b.kids[i+n])
			if !ok || s != stem || at <= last || step > 0 && at-last != step || !slices.Equal(b.kids[i+n].attrs, k.attrs) {
				break
			}
			step, last = at-last, at
			n++
		}
		if n > 1 {
			k.head = fmt.Sprintf("%s %q", strings.Fields(k.head)[0], fmt.Sprintf("%s[%d-%d:%d]", stem, first, last, step))
			some = true
		}
		kids = append(kids, k)
		i += n
	}
	b.kids = kids
	return some
}

// rewritten compares what is found in a source with what is found in it rewritten; make
// gives the source, new each time. It returns how many ways it was rewritten in.
func rewritten(t *testing.T, name string, seed uint64, make func() *block) (ways int) {
	t.Helper()
	want := verdictOf(make().sources().build().Diags)
	for _, w := range rewritings {
		files := w.of(rand.New(rand.NewPCG(seed, 31)), make())
		if files == nil {
			continue
		}
		ways++
		m := files.build()
		if d := cmp.Diff(want, verdictOf(m.Diags)); d != "" {
			t.Errorf("%s, %s (-as it was +rewritten):\n%s\n%s\n%s", name, w.name, d, m.Findings, numbered(files.text()))
		}
	}
	return ways
}

// TestRewrittenFaults: one random fault in each fabric, of whatever kind, is judged
// alike however the fabric is written.
func TestRewrittenFaults(t *testing.T) {
	t.Parallel()
	for seed := *seedFlag; seed < *seedFlag+uint64(*runsFlag/10); seed++ {
		rewritten(t, fmt.Sprintf("seed %d", seed), seed, func() *block {
			r := rand.New(rand.NewPCG(seed, 29))
			for range 20 {
				s, f := siteOf(seed), pick(r, faults...)
				if f.put(r, s) != nil {
					return &s.root
				}
			}
			return &siteOf(seed).root
		})
	}
}

// TestRewrittenSources: incidents, the same repaired, fabrics with one mistake, and what
// each rule calls bad are judged alike however they are written.
func TestRewrittenSources(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for _, glob := range []string{"testdata/incidents/*.txtar", "testdata/broken/*.txtar"} {
		for _, file := range cases(t, glob, 12) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range a.Files {
				if strings.HasSuffix(f.Name, ".roce.hcl") {
					texts[caseName(file)+"/"+f.Name] = string(f.Data)
				}
				if len(a.Files) > 2 && strings.HasSuffix(f.Name, ".csv") {
					delete(texts, caseName(file)+"/fabric.roce.hcl") // it is not all
				}
			}
		}
	}
	for _, r := range lint.All {
		texts[r.ID] = r.Bad
	}
	ways := 0
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		tree, err := langtest.Parse([]byte(text), name)
		if err != nil || strings.Contains(text, "rocec-ignore") {
			continue
		}
		refused := func(d diag.Diagnostic) bool { return d.Rule == "" && d.Severity == diag.Error }
		if slices.ContainsFunc(buildText(text).Diags, refused) {
			continue // before it is a fabric
		}
		ways += rewritten(t, name, 1, func() *block { return blockOf(tree) })
	}
	if ways < 1000 {
		t.Errorf("%d sources were written in %d ways", len(texts), ways)
	}
}

// blockOf copies a tree.
func blockOf(t *langtest.Tree) *block {
	b := &block{head: t.Head, attrs: slices.Clone(t.Attrs)}
	for _, k := range t.Kids {
		b.kids = append(b.kids, blockOf(k))
	}
	return b
}

func (s sources) text() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		all = append(all, s[name])
	}
	return strings.Join(all, "")
}
