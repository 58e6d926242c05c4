package rocec_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/langtest"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// outcome is all that a source comes to, without its text: findings by rule, words and
// address, what every device is told, its files, and what was derived.
type outcome struct {
	text   string
	told   string // of it, what devices are told
	failed bool   // something was refused
	fabric *fabric.Fabric
}

// rows are all rows of the fabric, with texts in place of their numbers, and without what says only where something stands.
func (o *outcome) rows() string {
	if o.fabric == nil {
		return o.text
	}
	var out strings.Builder
	var print func(v reflect.Value)
	print = func(v reflect.Value) {
		switch x := v.Interface().(type) {
		case fabric.Str:
			fmt.Fprintf(&out, "%q ", o.fabric.Text(x))
			return
		case fabric.DeclID, fabric.LayersID, source.Span, fabric.PrefixTable:
			return
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					print(v.Field(i))
				}
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				print(v.Index(i))
			}
			out.WriteString("\n")
		default:
			fmt.Fprint(&out, v.Interface(), " ")
		}
	}
	f := reflect.ValueOf(o.fabric).Elem()
	for i := range f.NumField() {
		if t := f.Type().Field(i); t.IsExported() && t.Type.Kind() == reflect.Slice && t.Name != "Decls" && t.Name != "Layers" {
			out.WriteString(t.Name + "\n")
			print(f.Field(i))
		}
	}
	return out.String()
}

// differs reports whether something else comes of two sources. In the fabric, what is told of a word is where else it is read.
func (o outcome) differs(p outcome, inFabric bool) bool {
	return o.text != p.text || inFabric && o.rows() != p.rows()
}

func outcomeOf(files fstest.MapFS) outcome { return outcomeWith(files, packs.Files()) }

func outcomeWith(files fstest.MapFS, data fs.FS) outcome {
	var out strings.Builder
	cfg, diags := lang.Load(lang.Options{FS: files, Packs: data})
	var f *fabric.Fabric
	told := ""
	if !diags.HasErrors() {
		res := compiler.Compile(cfg, compiler.Options{AsOf: "2026-01-01", Rows: packs.HeadroomRows, Pedantic: true})
		diags = append(diags, res.Diags...)
		if !res.Diags.HasErrors() || res.Facts != nil {
			devices, refused := emitted(res)
			diags = append(diags, refused...)
			for _, d := range devices {
				fmt.Fprintln(&out, d.Address)
				for path, v := range d.Intent.Fields {
					fmt.Fprintln(&out, path, v.State, v.Text)
				}
				for _, f := range d.Files {
					fmt.Fprintf(&out, "%s %s %o\n%s\n", f.Path, f.Step, f.Mode, f.Bytes)
				}
			}
			told = out.String()
			f = res.Fabric
			for id := 1; id < len(f.Devices); id++ {
				way, ok, _ := res.Connection(fabric.DeviceID(id))
				fmt.Fprintf(&out, "%v %+v\n", ok, way)
			}
			fmt.Fprintln(&out, f.Analysis.Failures, f.Analysis.Properties, f.Analysis.BudgetSteps)
			for i := range f.Selections {
				fmt.Fprintln(&out, f.Text(f.Selections[i].Emitter), f.Text(f.Selections[i].Output), f.Text(f.Selections[i].Delivery))
			}
			r := &f.Rollout
			fmt.Fprintln(&out, r.UpstreamFirst, r.ConfirmMs, r.Stop, r.MaxSharePercent, r.MaxMismatchMs, r.Of)
			for i := range r.Waves {
				w := &r.Waves[i]
				fmt.Fprintln(&out, w.GroupBy, w.SoakMs, w.Gates, w.Drain, w.Firmware, w.Rest)
			}
			for p := range res.Facts.Of {
				fmt.Fprintln(&out, res.Facts.Rows[res.Facts.Of[p]])
			}
		}
	}
	for _, o := range cfg.Outputs {
		fmt.Fprintln(&out, o.Name, o.JSON, o.Sensitive)
	}
	record, _ := compiler.Recorded(cfg)
	for _, p := range cfg.Pairs(record) {
		fmt.Fprintln(&out, p.Key.N, p.Val.Kind, p.Val.N, cfg.Text(p.Val))
	}
	for _, d := range diags {
		if d.Rule == "ROCE923" {
			continue // where a word stands is not what it does
		}
		fmt.Fprintln(&out, d.Rule, d.Severity, d.Summary, d.Address, d.Notes)
	}
	return outcome{out.String(), told, diags.HasErrors(), f}
}

// wordText is a source that words are taken out of and put elsewhere in.
type wordText struct {
	name  string
	files fstest.MapFS // beside main
	main  string
}

func (w *wordText) with(text string) outcome {
	files := fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}}
	for name, f := range w.files {
		files[name] = f
	}
	return outcomeOf(files)
}

// wordCorpus is every source of the repository that is about a word: the examples of
// rules, which are right or have one fault, those of examples/, and those below.
func wordCorpus(t *testing.T) []wordText {
	t.Helper()
	var list []wordText
	add := func(name, text string) {
		a := txtar.Parse([]byte(text))
		w := wordText{name: name, main: string(a.Comment), files: fstest.MapFS{}}
		for _, f := range a.Files {
			w.files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
		list = append(list, w)
	}
	for _, text := range wordSources() {
		add("a source of its own", text)
	}
	for _, r := range lint.All {
		add(r.ID+" good", r.Good)
		add(r.ID+" bad", r.Bad)
	}
	paths, err := filepath.Glob("examples/*/*.roce.hcl")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		w := wordText{name: path, main: string(text), files: fstest.MapFS{}}
		dir := filepath.Dir(path)
		others, err := filepath.Glob(dir + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range others {
			if b, err := fs.ReadFile(os.DirFS(dir), filepath.Base(o)); err == nil && o != path {
				w.files[filepath.Base(o)] = &fstest.MapFile{Data: b}
			}
		}
		list = append(list, w)
	}
	return list
}

// wordAt is a word of a source.
type wordAt struct {
	text *wordText
	langtest.Word
}

func (w *wordAt) without() string { return w.text.main[:w.Start] + w.text.main[w.End:] }

func wordsIn(w *wordText) []wordAt {
	var list []wordAt
	for _, x := range langtest.Words(w.main) {
		list = append(list, wordAt{w, x})
	}
	return list
}

// allWords are the words of the language: attributes of blocks, and their fields.
func allWords() []string {
	var list []string
	for k := schema.None + 1; k < schema.KindCount; k++ {
		for i := range schema.Def(k).Attrs {
			a := &schema.Def(k).Attrs[i]
			if a.Num == schema.AObserved {
				continue // its fields are attributes of the block
			}
			name := k.String() + "." + a.Num.Name()
			list = append(list, name)
			t := a.Type
			if t.Base == schema.Map && t.Elem != nil {
				t = *t.Elem
			}
			for _, f := range t.Fields {
				list = append(list, name+"."+f.Num.Name())
			}
		}
	}
	return list
}

// mostTries and mostWrites bound how often a word is taken out, and written.
const mostTries, mostWrites = 12, 24

// TestEveryWordActs takes each attribute of each block, and each field of those that
// are objects, out of sources that write it, and demands that something comes of it in
// one of them: what a device is told, a derived value, a finding or a refusal. A word
// of the schema that no source writes to any effect fails, so that none can be added,
// or stop to be read, in silence.
func TestEveryWordActs(t *testing.T) {
	words := allWords()
	for key, by := range heldBy {
		if strings.HasPrefix(by, "ROCE") && lint.Find(by) == nil {
			t.Errorf("%s: there is no rule %s", key, by)
		} else if _, err := os.Stat(strings.TrimPrefix(by, "refused: ")); strings.Contains(by, "/") && err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if !slices.ContainsFunc(words, func(w string) bool { return w == key || strings.HasSuffix(key, ".") && strings.HasPrefix(w, key) }) {
			t.Errorf("%s is no word", key)
		}
	}
	corpus := wordCorpus(t)
	byKey := map[string][]wordAt{}
	for i := range corpus {
		for _, w := range wordsIn(&corpus[i]) {
			if list := byKey[w.Key]; len(list) < mostTries && !slices.ContainsFunc(list, func(o wordAt) bool { return o.text == w.text }) {
				byKey[w.Key] = append(list, w)
			}
		}
	}
	whole := sync.Map{}
	before := func(w *wordText) outcome {
		if o, ok := whole.Load(w); ok {
			return o.(outcome)
		}
		o := w.with(w.main)
		whole.Store(w, o)
		return o
	}
	bases := append(wordBases(), corpus...)
	var mu sync.Mutex
	var idle []string
	var work sync.WaitGroup
	queue := make(chan string)
	for range 2 {
		work.Go(func() {
			for key := range queue {
				acts, elsewhere := false, whoHolds(key) != ""
				for i := range byKey[key] {
					w := &byKey[key][i]
					if acts = before(w.text).differs(w.text.with(w.without()), elsewhere); acts {
						break
					}
				}
				tries := mostWrites
				for i := range bases {
					if acts || tries <= 0 {
						break
					}
					acts = spelledOut(&bases[i], key, before, &tries, elsewhere)
				}
				if parts := strings.Split(key, "."); !acts && ofPacks[parts[0]] {
					acts = packWord(bases, parts, before)
				}
				if by := whoHolds(key); !acts && strings.HasPrefix(by, "ROCE") {
					acts = actsIn(lint.Find(by), key, before)
				} else if !acts {
					acts = by == "text" || strings.HasPrefix(by, "refused: ")
				}
				if !acts {
					mu.Lock()
					idle = append(idle, fmt.Sprintf("%s (in %d sources)", key, len(byKey[key])))
					mu.Unlock()
				}
			}
		})
	}
	for _, key := range words {
		queue <- key
	}
	close(queue)
	work.Wait()
	slices.Sort(idle)
	for _, key := range idle {
		t.Errorf("%s: nothing comes of it", key)
	}
}

// actsIn takes a word out of the examples of a rule, and out of the data of the hardware that they name, and reports whether something
// came of it.
func actsIn(r *lint.Rule, key string, before func(*wordText) outcome) bool {
	var list []wordText
	for _, text := range []string{r.Good, r.Bad} {
		a := txtar.Parse([]byte(text))
		w := wordText{main: string(a.Comment), files: fstest.MapFS{}}
		for _, f := range a.Files {
			w.files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
		list = append(list, w)
	}
	for i := range list {
		w := &list[i]
		for _, x := range wordsIn(w) {
			if x.Key == key && w.with(x.without()).text != before(w).text {
				return true
			}
		}
	}
	parts := strings.Split(key, ".")
	return ofPacks[parts[0]] && packWord(list, parts, before)
}

// wordBases are random fabrics that are right, each as it is and with nothing written
// by rocec, beside blocks for words to refer to.
func wordBases() []wordText {
	var list []wordText
	kinds := map[string]bool{}
	for seed := uint64(1); seed < 60; seed++ {
		s := siteOf(seed)
		if kinds[s.kind] {
			continue
		}
		kinds[s.kind] = true
		list = append(list, wordText{name: fmt.Sprint("seed ", seed), main: s.String() + wordMore})
		for _, b := range append(s.switches, s.nodes...) {
			b.set("manage", quote("verify"))
		}
		list = append(list, wordText{name: fmt.Sprint("seed ", seed, " not written"), main: s.String() + wordMore})
	}
	return list
}

// written writes a word into the first blocks of its kind in a source, or in place of
// what is there, and reports whether something came of it.
func spelledOut(w *wordText, key string, before func(*wordText) outcome, tries *int, inFabric bool) bool {
	parts := strings.Split(key, ".")
	values := wordValues[parts[0]+"."+parts[1]]
	if values == nil {
		values = wordValues[parts[1]]
	}
	if values == nil {
		return false
	}
	for _, b := range langtest.Blocks(w.main, parts[0], 1) {
		if _, ok := b.Attrs[schema.AObserved.Name()]; ok && schema.Field(kindOf(parts[0]), parts[1]) != nil {
			continue // it may stand there already, and twice is refused
		}
		for _, v := range values {
			*tries--
			at, end, line := b.Open, b.Open, "\n"+parts[1]+" = "+v
			if old, ok := b.Attrs[parts[1]]; ok {
				at, end, line = old[0], old[1], parts[1]+" = "+v
			}
			if w.main[end:end+1] != "\n" {
				line += "\n"
			}
			text := w.main[:at] + line + w.main[end:]
			if len(parts) == 2 {
				if w.with(text).differs(before(w), inFabric) {
					return true
				}
				continue
			}
			with := *w
			with.main = text
			for _, x := range wordsIn(&with) {
				if x.Key == key && with.with(text).differs(with.with(x.without()), inFabric) {
					return true
				}
			}
		}
	}
	return false
}

func kindOf(word string) schema.Kind {
	for k := schema.None + 1; k < schema.KindCount; k++ {
		if k.String() == word {
			return k
		}
	}
	return schema.None
}

// ofPacks are the blocks that data of hardware is in.
var ofPacks = map[string]bool{"asic": true, "switch_model": true, "nic_model": true, "media": true, "pcie": true}

// packWord blanks a word of the embedded data, and reports whether something came of it
// in some source.
func packWord(bases []wordText, parts []string, before func(*wordText) outcome) bool {
	without := fstest.MapFS{}
	entries, err := fs.ReadDir(packs.Files(), ".")
	if err != nil {
		return false
	}
	for _, e := range entries {
		text, err := fs.ReadFile(packs.Files(), e.Name())
		if err != nil {
			return false
		}
		w := &wordText{main: string(text)}
		if strings.HasSuffix(e.Name(), ".hcl") {
			for _, x := range wordsIn(w) {
				if x.Key == strings.Join(parts, ".") {
					blank := strings.Map(func(r rune) rune {
						if r == '\n' {
							return r
						}
						return ' '
					}, w.main[x.Start:x.End])
					w.main = w.main[:x.Start] + blank + w.main[x.End:]
				}
			}
		}
		without[e.Name()] = &fstest.MapFile{Data: []byte(w.main)}
	}
	for i := range bases[:min(len(bases), 24)] {
		files := fstest.MapFS{"fabric.roce.hcl": {Data: []byte(bases[i].main)}}
		for name, f := range bases[i].files {
			files[name] = f
		}
		if outcomeWith(files, without).text != before(&bases[i]).text {
			return true
		}
	}
	return false
}

// heldBy are words that these sources bring to no effect beyond the fabric: its rows have to change with them. A name that ends in a dot
// is of all fields. What is there is the test or the code that reads it from the rows, or the word that the same code reads; a rule has to
// say something else of its own examples without the word; "text" is read by people only, and what is refused on hosts is so as a whole.
var heldBy = map[string]string{
	// Text, and settings of the program.
	"asic.vendor": "text", "asic.source": "text", "asic.sources": "text", "media.source": "text", "media.sources": "text", "nic_model.source": "text",
	"nic_model.sources": "text",
	"pcie.source":       "text", "pcie.sources": "text", "switch_model.source": "text", "switch_model.sources": "text", "except.reason": "text",
	"rocec.required_version": "refused: cmd/rocec/project.go", "rocec.language": "refused: lang/language_test.go",
	// Refused as a whole on hosts: TestDroppedWords.
	"nic.ecn.": "refused: compiler/resolve/profiles.go", "nic.watchdog.": "refused: compiler/resolve/profiles.go",
	"node.ecn.": "refused: compiler/resolve/profiles.go", "node.watchdog.": "refused: compiler/resolve/profiles.go",
	// Data of models that a fabric has to exceed.
	"asic.compensation": "compiler/headroom/spectrum_test.go", "asic.max_lossless": "ROCE305", "media.class": "compiler/lint/physical.go",
	"nic_model.autoneg": "ROCE122", "nic_model.infiniband": "compiler/resolve/interfaces.go", "nic_model.iwarp": "ROCE703",
	"nic_model.pcie.": "compiler/resolve/interfaces.go", "pcie.usable": "ROCE110", "switch_model.facts": "compiler/derive/place.go",
	"switch_model.speeds": "compiler/resolve/interfaces.go",
	// Lists, pictures, applications and waves.
	"cabling.default_cable.": "lang/testdata/cabling.txtar", "gpu.numa": "compiler/resolve/gpus_test.go",
	"nic.pcie.numa": "compiler/resolve/gpus_test.go", "node.rack": "compiler/resolve/rollout_test.go", "switch.rack": "compiler/resolve/rollout_test.go", "leaf.rack": "switch.rack", "spine.rack": "switch.rack", "core.rack": "switch.rack",
	"node.site": "compiler/lint/isolation.go", "override.set": "dropped_words_test.go", "switch.place.": "compiler/resolve/topology_test.go",
	// Read for tiers by what reads them for switches.
	"leaf.buffer.": "switch.buffer", "leaf.cable.media": "link.cable.media", "leaf.mgmt": "switch.mgmt", "leaf.pools.": "switch.pools",
	"leaf.role": "switch.role", "leaf.site": "switch.site", "leaf.stp": "switch.stp",
	"leaf.macsec": "link.macsec", "leaf.macsec.": "link.macsec", "spine.macsec": "link.macsec", "spine.macsec.": "link.macsec",
	"core.macsec": "link.macsec", "core.macsec.": "link.macsec",
	"spine.buffer.": "switch.buffer", "spine.cable.media": "link.cable.media", "spine.mgmt": "switch.mgmt", "spine.pools.": "switch.pools",
	"spine.role": "switch.role", "spine.site": "switch.site", "spine.stp": "switch.stp",
	"core.buffer.": "switch.buffer", "core.cable.media": "link.cable.media", "core.mgmt": "switch.mgmt", "core.pools.": "switch.pools",
	"core.role": "switch.role", "core.site": "switch.site", "core.stp": "switch.stp",
}

// whoHolds is what heldBy says of a word, "" if it has to act by itself.
func whoHolds(key string) string {
	if strings.HasSuffix(key, ".description") {
		return "text"
	}
	return cmp.Or(heldBy[key], heldBy[key[:strings.LastIndexByte(key, '.')+1]])
}

// wordMore is what words refer to.
const wordMore = `
qos "other" {
  trust = "dscp"
  class "default" {
    priority  = 0
    bandwidth = 100
    default   = true
  }
}
segment "other" {
  vlan   = 999
  subnet = "10.99.9.0/24"
}
routing "other" {
  paths = "up_down"
}
connection "other" {
  address = "192.0.2.9"
}
`

// wordSources are sources for words that stand in blocks which other sources lack, or
// that matter in few fabrics.
func wordSources() []string {
	two := lint.Find("ROCE209").Good // two hosts on one switch
	put := func(text, at, more string) string { return strings.Replace(text, at, at+"\n"+more, 1) }
	lag := func(name string) string {
		return "  port \"Ethernet[16-20:4]\" {\n    speed = \"100G\"\n  }\n  lag \"ten\" {\n    name = \"" + name + "\"\n    members = [\"Ethernet[16-20:4]\"]\n    mode = \"static\"\n    rate = \"fast\"\n" +
			"    hash_policy = \"layer2\"\n    id = 55\n    qos = qos.roce\n    tagged = [segment.other]\n    untagged = segment.storage\n    mtu = 4000\n  }\n"
	}
	list := []string{
		two + "rollout {\n  order = \"upstream_first\"\n  confirm = \"5m\"\n  on_failure = \"stop\"\n  max_share = 10\n  max_mismatch = \"5s\"\n  wave \"a\" {\n    select = \"*\"\n  }\n}\n",
		two + "analysis {\n  failures = 1\n  budget = 2000000\n  properties = [\"reachability\"]\n}\n",
		two + "target \"sonic\" {\n  output = \"x\"\n  delivery = \"bundle\"\n}\n",
		two + "variable \"a\" {\n  type = number\n  default = \"1\"\n}\noutput \"x\" {\n  value = var.a\n  sensitive = true\n}\n",
		two + "variable \"a\" {\n  sensitive = true\n  default = \"1\"\n}\noutput \"x\" {\n  value = var.a\n}\n",
		two + "variable \"a\" {\n  nullable = false\n  default = null\n}\noutput \"x\" {\n  value = var.a\n}\n",
		put(two, `switch "tor" {`, lag("PortChannel7")) + "segment \"other\" {\n  vlan = 333\n}\nswitch \"far\" {\n  model = \"nvidia/sn3700\"\n  os    = \"sonic/202505\"\n" + lag("PortChannel8") +
			"}\nlink \"far\" {\n  for_each = toset([\"Ethernet16\", \"Ethernet20\"])\n  ends = [switch.tor.port[each.key], switch.far.port[each.key]]\n  fec = \"fc\"\n  autoneg = false\n}\n",
		two + "segment \"x\" {\n  name = \"zz\"\n  vlan = 300\n  subnet = \"10.1.1.0/24\"\n  gateway = \"10.9.9.9\"\n}\n",
		put(two, `switch "tor" {`, "  interface \"i\" {\n    name = \"lo7\"\n    on = \"loopback\"\n    address = \"192.0.2.1/32\"\n  }\n  vars = { a = \"renamed\" }\n") + "output \"x\" {\n  value = switch.tor.vars.a\n}\n",
		put(two, `switch "tor" {`, "  port \"Ethernet64\" {\n    speed = \"100G\"\n    facing = \"fabric\"\n  }\n"),
		put(two, `node "n" {`, "  vars = { a = \"renamed\" }\n") + "output \"x\" {\n  value = node.n[\"n1\"].vars.a\n}\n",
		put(lint.Find("ROCE205").Bad, `carries  = "cnp"`, "remap = true"),
		put(two, `switch "tor" {`, "  place = { tier = \"leaf\", index = 1, group = 1, plane = 1, rail = 1, pod = 1 }\n"),
		two + "override {\n  on = switch.tor\n  set = { mtu = 4000 }\n  reason = \"r\"\n  expires = \"2099-01-01\"\n}\n",
		two + "module \"m\" {\n  source = \"./m\"\n}\n-- m/x.roce.hcl --\nqos \"in\" {\n  trust = \"dscp\"\n}\n-- n/x.roce.hcl --\n",
		two + "rocec {\n  required_version = \">= 99\"\n}\n",
		two + "node \"own\" {\n  os = \"ubuntu/24.04\"\n  mtu = 4000\n  nic \"p0\" {\n    model = \"nvidia/connectx-6-dx\"\n    qos = qos.roce\n  }\n}\n",
		put(lint.Find("ROCE504").Bad, `switch "tor" {`, "  role = \"edge\"\n"),
		put(lint.Find("ROCE504").Bad, `switch "tor" {`, "  place = { tier = \"spine\" }\n"),
		put(lint.Find("ROCE709").Bad, `node "n" {`, "  role = self.name == \"n1\" ? \"old\" : \"new\"\n"),
		put(put(two, `storage" {`, "  isolated = true\n  vrf = \"v\"\n"), `switch "tor" {`, "  interface \"Vlan100\" {\n    on = segment.storage\n    address = \"10.100.0.1/24\"\n  }\n  interface \"Vlan333\" {\n    on = segment.b\n    address = \"10.33.0.1/24\"\n  }\n") +
			"segment \"b\" {\n  vlan = 333\n  subnet = \"10.33.0.0/24\"\n}\nrouting \"default\" {\n  paths = \"ecmp\"\n  leak = [{ from = segment.storage, to = segment.b }]\n  default = true\n}\n",
		put(two, `nic "rail0" {`, "    pcie = { gen = 4, lanes = 16, slot = \"s\", numa = 1 }\n") + "",
		put(put(two, `node "n" {`, "  gpu \"g0\" {\n    numa = 1\n  }\n  gpu \"g1\" {\n    numa = 0\n  }\n"), `nic "rail0" {`, "    pcie = { gen = 4, lanes = 16, numa = 1 }\n"),
		two + "media \"own\" {\n  class = \"copper\"\n  reach = [{ min_speed = \"100G\", max_length = \"1m\" }]\n}\n",
		strings.Replace(two, `media = "dac"`, `media = "own"`, 1) + "media \"own\" {\n  class = \"copper\"\n  reach = [{ min_speed = \"50G\", max_length = \"1m\" }]\n}\n",
		strings.Replace(two, `media = "dac"`, `media = "own"`, 1) + "media \"own\" {\n  class = \"copper\"\n  reach = [{ min_speed = \"400G\", max_length = \"1m\" }]\n}\n",
	}
	for _, r := range lint.All {
		if strings.Contains(r.Good, "peer_link") {
			list = append(list, strings.Replace(r.Good, `cable     = { media = "dac", length = "1m" }`, `cable     = { media = "dac", length = "30m" }`, 1))
			before, rest, _ := strings.Cut(r.Good, "  peer_link = ")
			_, rest, _ = strings.Cut(rest, "\n}\n")
			list = append(list, before+"  evpn = true\n}\n"+rest)
			break
		}
	}
	list = append(list, hardwareSources(two, put)...)
	cables, _, _ := strings.Cut(two, `link "tor"`)
	list = append(list,
		cables+"cabling \"a\" {\n  file = \"a.csv\"\n  format = \"csv\"\n  mode = \"define\"\n  columns = { a_device = \"From\", a_port = \"Port\", b_device = \"To\", b_port = \"Its\" }\n"+
			"  rename = { \"leaf\" = \"tor\" }\n  default_cable = { media = \"aoc\", length = \"7m\", delay = \"1us\" }\n}\n"+
			"-- a.csv --\nFrom,Port,To,Its\nn1,rail0,leaf,Ethernet0\nn2,rail0,leaf,Ethernet4\n",
		two+"variable \"a\" {\n  type = number\n  default = \"1\"\n}\noutput \"x\" {\n  value = var.a\n}\n",
		two+"variable \"a\" {\n  type = number\n  default = null\n  nullable = true\n}\noutput \"x\" {\n  value = var.a == null ? 1 : 2\n}\n",
		put(two, `switch "tor" {`, "  port \"Ethernet64\" {\n    speed = \"100G\"\n    address = \"10.77.0.0/31\"\n    vrf = \"Vrf_a\"\n    qos = qos.roce\n    external = true\n  }"))
	if text, err := os.ReadFile("testdata/broken/core_without_qos.txtar"); err == nil {
		for _, f := range txtar.Parse(text).Files {
			if f.Name == "fabric.roce.hcl" {
				list = append(list, put(string(f.Data), "  core {", "    vars = { a = \"7us\" }\n    arp_timeout = self.vars.a"))
			}
		}
	}
	for _, tier := range []string{"leaf", "spine"} { // that say what is free and use it
		for _, r := range lint.All {
			if strings.Contains(r.Good, "\n  "+tier+" {") {
				list = append(list, put(r.Good, "  "+tier+" {", "    vars = { a = \"7us\" }\n    arp_timeout = self.vars.a"))
				break
			}
		}
	}
	for _, backend := range []string{
		`backend = "local", source = "there"`, `backend = "git", remote = "r", branch = "b", push = true`,
		`backend = "s3", bucket = "b", region = "r", endpoint = "https://e.example.net", prefix = "p", path_style = true`,
		`backend = "http", address = "https://a.example.net/x", update_method = "PUT", lock_address = "https://a.example.net/l", lock_method = "POST", unlock_address = "https://a.example.net/u", unlock_method = "POST", username_env = "U", password_env = "P", client_certificate = "c.pem", client_key = "k.pem"`,
	} {
		list = append(list, two+"rocec {\n  record = { "+backend+" }\n}\n")
	}
	return append(list, put(two, `switch "tor" {`, "  connection = connection.a\n  mgmt = \"192.0.2.1\"\n")+
		"connection \"a\" {\n  port = 2222\n  user = \"u\"\n  identity = [\"k\"]\n  agent = true\n  password_env = \"P\"\n  enable_env = \"E\"\n  jump = [connection.b]\n  known_hosts = [\"h\"]\n"+
		"  host_key = \"SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"\n  legacy_algorithms = true\n}\nconnection \"b\" {\n  address = \"192.0.2.2\"\n  password_command = [\"pass\"]\n}\n")
}

// hardwareSources are fabrics on hardware of their own, each at the limit that one word of it states.
func hardwareSources(two string, put func(text, at, more string) string) []string {
	own := func(text, asic, model, nic string) string {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "nvidia/sn3700", "own/switch"), "nvidia/connectx-6-dx", "own/nic")
		return text + "asic \"own/asic\" {\n  vendor = \"own\"\n  family = \"own\"\n  cell = 256\n  buffer = \"32MB\"\n  max_lossless = 2\n  queues = 8\n" +
			"  dscp_pfc = true\n  has_pfc = true\n  has_ecn = true\n  has_ets = true\n  has_watchdog = true\n  max_mtu = 9216\n  speeds = [\"100G\"]\n" + asic +
			"}\nswitch_model \"own/switch\" {\n  asic = \"own/asic\"\n  ports = { sonic = \"Ethernet[0-124:4]\" }\n  speeds = { \"*\" = \"100G\" }\n  lanes = 4\n" + model +
			"}\nnic_model \"own/nic\" {\n  vendor = \"own\"\n  driver = \"mlx5\"\n  roce = [\"v2\"]\n  speeds = [\"100G\"]\n  traffic_classes = 8\n  pfc_priorities = 8\n" +
			"  dscp_trust = true\n  resilient = true\n  max_mtu = 9978\n" + nic + "}\n"
	}
	class := func(mark string) string { // that takes what the adapter marks its CNPs with
		return strings.Replace(strings.Replace(two, "dscp      = [26]", "dscp      = ["+mark+"]", 1), "    dscp     = [48]\n", "    dscp     = [46]\n", 1)
	}
	noCNP := func(text string) string {
		before, rest, _ := strings.Cut(text, `  class "cnp" {`)
		_, after, _ := strings.Cut(rest, "\n  }\n")
		return before + after
	}
	second := strings.Replace(put(two, `qos "roce" {`, "  class \"two\" {\n    carries = \"rdma\"\n    dscp = [34]\n    priority = 4\n    bandwidth = 20\n    ecn = \"auto\"\n  }"),
		"bandwidth = 50", "bandwidth = 30", 1)
	far := put(two, `switch "tor" {`, "  port \"Ethernet64\" {\n    speed = \"100G\"\n    fec = \"rs\"\n    untagged = segment.storage\n  }") +
		"switch \"far\" {\n  model = \"own/switch\"\n  os = \"sonic/202505\"\n  port \"Ethernet64\" {\n    speed = \"100G\"\n    fec = \"rs\"\n    untagged = segment.storage\n  }\n}\n" +
		"link \"far\" {\n  ends = [switch.tor.port[\"Ethernet64\"], switch.far.port[\"Ethernet64\"]]\n  cable = { media = \"dac\", length = \"3m\" }\n}\n"
	kept := func(text, at string) string {
		return put(text, at, "    qos = \"keep\"\n    headroom = \"keep\"") + "qos \"left\" {\n  from = qos.roce\n  trust = \"none\"\n}\n"
	}
	vendors := "  defaults = { sonic = qos.left, ubuntu = qos.left }\n"
	validated := strings.Replace(lint.Find("ROCE708").Good, `"22.39.1002"] }`, `"22.39.1002"], driver = ["23.10-*"] }`, 1)
	macsec := put(put(two, `nic "rail0" {`, "    macsec = { pfc_frames = \"protected\" }"), `port "Ethernet0" {`, "    macsec = { pfc_frames = \"clear\" }")
	speeds := regexp.MustCompile(`(?m)^ +speed .*\n`).ReplaceAllString(two, "")
	return []string{
		put(speeds, `link "tor" {`, "    speed = \"40G\""),
		strings.Replace(own(two, "  headroom_share = 1\n", "", ""), "32MB", "8MB", 1),
		own(two, "", "  max_mtu = 1500\n", ""),
		own(two, "", "  has_watchdog = { sonic = false }\n", ""),
		own(second, "", "  max_lossless = 1\n", ""),
		own(far, "", "  pause_response = \"20us\"\n", ""),
		strings.Replace(own(put(far, `link "far" {`, "  macsec = \"on\""), "", "", ""), `model = "own/switch"`, `model = "nvidia/sn3700"`, 1),
		own(noCNP(class("26, 48")), "", "", "  cnp_dscp = 48\n"),
		own(noCNP(strings.Replace(two, `trust = "dscp"`, `trust = "pcp"`, 1)), "", "", "  cnp_priority = 3\n"),
		own(kept(two, `port "Ethernet0" {`), "", vendors, ""), own(kept(two, `nic "rail0" {`), "", "", vendors),
		own(put(two, `nic "rail0" {`, "    link_layer = \"infiniband\""), "", "", "  infiniband = true\n"),
		own(two, "", "", "  pcie = { gen = 1, lanes = 1 }\n"),
		own(strings.ReplaceAll(lint.Find("ROCE821").Good, "nvidia/sn5600", "own/switch"), "", "", "  reordering = true\n"),
		own(put(two, `switch "tor" {`, "  port \"Ethernet8\" {\n    breakout = \"4x25G\"\n  }"), "", "  breakouts = { \"Ethernet[0-124:4]\" = { lanes = \"[1-128]\", index = \"[1-32]\", modes = { \"4x25G\" = \"etp[1-32][a-d]\" } } }\n", ""),
		own(two, "", "  facts = { image_pool_bytes = 200000 }\n", ""),
		own(two, "  formula = \"spectrum\"\n  compensation = \"18KiB\"\n", "", ""),
		put(validated, "    firmware = \"22.41.1000\"", "    driver = \"24.04-0.6.6\""), macsec,
	}
}

// wordValues are values of attributes by name, or by block and name: some of them differ
// from what is in force in some fabric.
var wordValues = map[string][]string{
	"name": {`"renamed"`}, "os": {`"sonic/202305"`}, "mgmt": {`"192.0.2.7"`}, "connection": {`connection.other`},
	"manage": {`"verify"`, `"none"`, `"full"`},
	"site":   {`"far"`}, "model": {`"nvidia/sn5400"`}, "role": {`"odd"`, `"node"`}, "qos": {`qos.other`}, "mtu": {`4000`, `2000`},
	"firmware":     {`"1.2.3"`},
	"buffer":       {`{ shared = "2MB", headroom = "1MB", alpha = "1/64", max_oversubscription = 1 }`},
	"hash":         {`{ function = "CRC", seed = 7 }`},
	"class.buffer": {`{ alpha = "1/64", headroom = 30000, xon = 20000 }`}, "lag.hash_policy": {`"layer3+4"`}, "bond.hash_policy": {`"layer3+4"`},
	"spare_ports": {`"shut"`}, "pools": {`{ ingress = "1MB", headroom = "1MB", egress_lossy = "900MB", egress_lossless = "1MB" }`},
	"stp":         {`"off"`, `"rstp"`},
	"arp_timeout": {`"1m"`}, "mac_timeout": {`"1m"`}, "remark": {`{ 26 = 0 }`, `{ 34 = 0 }`, `{ 24 = 0 }`}, "semi_lossless": {`true`},
	"trust":    {`"pcp"`, `"none"`},
	"dscp_map": {`{ 26 = 1, 24 = 1, 34 = 1 }`}, "pcp_map": {`{ 3 = 1, 4 = 1 }`}, "queue_map": {`{ 3 = 1, 4 = 1 }`},
	"group_map": {`{ 3 = 1, 4 = 1 }`},
	"pfc":       {`[5]`}, "pfc_queue_map": {`{ 3 = 1, 4 = 1 }`}, "global_pause": {`true`}, "pfc_direction": {`"receive"`}, "ets": {`{ 0 = 90, 3 = 10 }`},
	"dcbx":     {`{ mode = "advertise", version = "cee", owner = "lldpad" }`, `{ mode = "willing", version = "cee", owner = "firmware" }`},
	"ecn":      {`{ min = "9KB", max = "80KB", probability = 7, colors = ["red"] }`, `{ min = "9KB", max = "80KB", probability = 7 }`},
	"headroom": {`20000`},
	"watchdog": {`{ detect = "200ms", restore = "100ms", poll = "100ms", action = "alert" }`, `{ detect = "200ms", restore = "900ms", poll = "100ms", action = "forward" }`},
	"place":    {`{ tier = "leaf", index = 0, group = 0, plane = 0, rail = 0, pod = 0 }`}, "vars": {`{ a = 1 }`},
	"cable": {`{ media = "aoc", length = "17m", delay = "900ns" }`, `{ media = "dac", length = "1m", delay = "900ns" }`},
	"speed": {`"10G"`, `"200G"`}, "fec": {`"none"`, `"fc"`}, "autoneg": {`true`, `false`}, "loopback": {`"10.250.0.0/16"`},
	"vrf": {`"apart"`}, "count": {`3`},
	"switches": {`[]`}, "node_ports": {`["swp1"]`}, "up_ports": {`["swp1"]`}, "down_ports": {`["swp1"]`}, "ports": {`["swp1"]`},
	"subnet":     {`"10.77.0.0/24"`},
	"addressing": {`"per_port"`}, "fabric_subnet": {`"10.78.0.0/16"`}, "enabled": {`false`}, "admin": {`"down"`, `"up"`}, "external": {`true`},
	"tagged": {`[segment.other]`}, "untagged": {`segment.other`},
	"deny": {`["roce_v2"]`}, "address": {`"10.66.0.5/24"`}, "macsec": {`{ pfc_frames = "protected" }`, `"on"`},
	"at":   {`switch.tor.port["Ethernet0"]`},
	"rate": {`"fast"`, `"slow"`}, "id": {`77`}, "mode": {`"static"`, `"lacp"`, `"active_backup"`}, "members": {`["rail0"]`},
	"rdma": {`false`, `true`}, "segment": {`segment.other`},
	"ifname": {`"eth9"`}, "cabling.device": {`"eth9"`}, "facing": {`"fabric"`, `"node"`}, "routing.default": {`true`}, "pci": {`"0000:41:00.0"`}, "mac": {`"02:00:00:00:00:01"`}, "adapter": {`"card1"`}, "driver": {`"1.2.3"`},
	"rail": {`3`}, "plane": {`3`}, "gpu": {`"g0"`},
	"pcie": {`{ gen = 3, lanes = 1, slot = "s1", numa = 1 }`}, "pcie_switch": {`"x"`}, "gid_index": {`0`}, "receive_buffer": {`1000`},
	"pxe": {`true`}, "gateway": {`"10.66.0.1"`},
	"vfs":        {`{ count = 4, mode = "switchdev", rdma = true, segment = segment.other, trusted = true }`, `{ count = 4, mode = "legacy", rdma = true, segment = segment.other, trusted = true }`},
	"ecn_colors": {`["green"]`},
	"tos":        {`4`}, "dcqcn": {`[]`}, "rack": {`"r9"`}, "slot": {`9`}, "cluster": {`"c"`}, "trusted": {`false`}, "tenant": {`"t"`},
	"acs": {`true`}, "virtualised": {`true`}, "persistent": {`false`}, "memlock": {`1000`}, "modules": {`["ext4"]`},
	"consumers": {`["nccl"]`},
	"domain":    {`7`},
	"keepalive": {`{ addresses = { "tor-a" = "192.0.2.1", "tor-b" = "192.0.2.2" }, interval = "300ms", timeout = "3s" }`},
	"peer_link": {`[]`},
	"transport": {`"roce_v1"`, `"iwarp"`}, "remap": {`true`},
	"match":               {`{ netdirect_port = 445, tcp_port = 3260, udp_port = 4791 }`, `{ tcp_port = 3260 }`, `{ udp_port = 4000 }`},
	"pause_storm_timeout": {`"auto"`, `"off"`, `"300ms"`},
	"first":               {`50`}, "routing": {`routing.other`}, "nics": {`["rail0"]`}, "planes": {`2`}, "pods": {`[]`}, "nodes": {`[]`},
}
