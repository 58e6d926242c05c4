package rocec_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/langtest"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/schema"
)

// specialWords are the words that mean the same thing for every attribute that takes them.
var specialWords = []string{"auto", "off", "keep"}

// specialIdle are places where nothing comes of one of them in the fabrics of this test, and where it is read.
var specialIdle = map[string]string{
	`leaf.stp = "off"`: "compiler/resolve/known.go", `spine.stp = "off"`: "compiler/resolve/known.go", `core.stp = "off"`: "compiler/resolve/known.go",
	`leaf.macsec = "off"`: "compiler/resolve/found.go", `spine.macsec = "off"`: "compiler/resolve/found.go", `core.macsec = "off"`: "compiler/resolve/found.go",
}

// specialWord is one of them in one place.
type specialWord struct{ kind, attr, word string }

func (w specialWord) String() string { return w.kind + "." + w.attr + " = " + w.word }

// allSpecial are all places of these words: as plain words of an attribute, or among the words that it takes.
func allSpecial() []specialWord {
	var list []specialWord
	for k := schema.None + 1; k < schema.KindCount; k++ {
		for i := range schema.Def(k).Attrs {
			a := &schema.Def(k).Attrs[i]
			for _, w := range specialWords {
				if slices.Contains(a.Type.Words, w) || slices.Contains(a.Type.Enum, w) {
					list = append(list, specialWord{k.String(), a.Num.Name(), quote(w)})
				}
			}
		}
	}
	return list
}

// TestSpecialValues writes each special word into each place that takes it, over each value that sources of this
// repository, or the tests' own, have there: what comes of it differs from what comes of one of those values, or is a refusal.
func TestSpecialValues(t *testing.T) {
	bases := append(wordBases(), wordCorpus(t)...)
	bases = slices.DeleteFunc(bases, func(w wordText) bool { return strings.Contains(w.name, " bad") })
	for key, by := range specialIdle {
		if _, err := os.Stat(by); err != nil {
			t.Errorf("%s: %v", key, err)
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
	acts := func(at specialWord) bool {
		values := wordValues[at.kind+"."+at.attr]
		if values == nil {
			values = wordValues[at.attr]
		}
		for i := range bases {
			w := &bases[i]
			for _, b := range langtest.Blocks(w.main, at.kind, 1) {
				with := w.with(putIn(w.main, b, at.attr, at.word))
				if with.text != before(w).text {
					return true // it differs from what is written there, or from what is left out, or is refused
				}
				for _, v := range values {
					if v != at.word && !before(w).failed && with.text != w.with(putIn(w.main, b, at.attr, v)).text {
						return true
					}
				}
			}
		}
		return false
	}
	var mu sync.Mutex
	var idle []string
	var work sync.WaitGroup
	queue := make(chan specialWord)
	for range 2 {
		work.Go(func() {
			for at := range queue {
				if specialIdle[at.String()] == "" && !acts(at) {
					mu.Lock()
					idle = append(idle, at.String())
					mu.Unlock()
				}
			}
		})
	}
	for _, at := range allSpecial() {
		queue <- at
	}
	close(queue)
	work.Wait()
	slices.Sort(idle)
	for _, at := range idle {
		t.Errorf("%s: nothing comes of it", at)
	}
}

// putIn writes an attribute into a block, in place of what is there.
func putIn(text string, b langtest.Block, attr, value string) string {
	at, end, line := b.Open, b.Open, "\n"+attr+" = "+value
	if old, ok := b.Attrs[attr]; ok {
		at, end, line = old[0], old[1], attr+" = "+value
	}
	if text[end:end+1] != "\n" {
		line += "\n"
	}
	return text[:at] + line + text[end:]
}

// TestNull: null is the same as leaving an attribute out, for every attribute in every block, whether something around writes it or not.
func TestNull(t *testing.T) {
	tried := 0
	for _, w := range append(wordBases()[:6], wordText{name: "values of all kinds", main: keepBase("sonic/202505", "nvidia/sn3700", "Ethernet", "ubuntu/24.04")}) {
		out := w.with(w.main)
		for k := schema.None + 1; k < schema.KindCount; k++ {
			blocks := langtest.Blocks(w.main, k.String(), 1)
			if len(blocks) == 0 {
				continue
			}
			// All that the block does not write at once: what one of them does shows.
			text, at := "", blocks[0].Open
			for i := range schema.Def(k).Attrs {
				a := &schema.Def(k).Attrs[i]
				if _, written := blocks[0].Attrs[a.Num.Name()]; !written && !a.Required && a.Num != schema.ALanguage {
					text += "\n" + a.Num.Name() + " = null"
					tried++
				}
			}
			if got := w.with(w.main[:at] + text + "\n" + w.main[at:]); got.text != out.text {
				t.Errorf("%s: null in %s comes to something else than what is left out:\n%s", w.name, k, firstDifference(out.text, got.text))
			}
			// And what it writes, one by one: as if it were not there.
			for name := range blocks[0].Attrs {
				if name == "for_each" { // an empty list is what says that there is none
					continue
				}
				without := name + " = null"
				span := blocks[0].Attrs[name]
				tried++
				one, none := w.with(w.main[:span[0]]+without+w.main[span[1]:]), w.with(w.main[:span[0]]+w.main[span[1]:])
				// Of tiers, what goes together is asked before anything is computed.
				if maybe := w.with(w.main[:span[0]] + name + " = 1 == 1 ? null : null" + w.main[span[1]:]); maybe.text != none.text && !maybe.failed && !k.Tier() {
					t.Errorf("%s: %s.%s that comes to null comes to something else than what is left out:\n%s", w.name, k, name, firstDifference(none.text, maybe.text))
				}
				if one.text != none.text {
					t.Errorf("%s: %s.%s = null comes to something else than what is left out:\n%s", w.name, k, name, firstDifference(none.text, one.text))
				}
			}
		}
	}
	if tried < 500 {
		t.Errorf("%d were tried", tried)
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "- " + x[i] + "\n+ " + y[i]
		}
	}
	return fmt.Sprint(len(x), " and ", len(y), " lines")
}

// keepBase is two hosts on one switch; what of a port can be kept is written around it. The marks in it are replaced by what the
// first port or the NICs say.
func keepBase(os, model, port, hosts string) string {
	first, second, trust, untagged, match := port+"0", port+"4", "dscp", "untagged", ""
	mark := "dscp      = 26"
	if port == "swp" {
		first, second = "swp1", "swp2"
	}
	if strings.HasPrefix(hosts, "windows") {
		trust, untagged, match = "pcp", "tagged", "netdirect_port = 445"
		mark = ""
	}
	return `qos "roce" {
  trust = "` + trust + `"
  class "rdma" {
    carries   = "rdma"
    ` + mark + `
    priority  = 3
    bandwidth = 50
    ecn       = { min = "150KB", max = "1500KB", probability = 5 }
    match     = { ` + match + ` }
  }
  class "rest" {
    default   = true
    priority  = 0
    bandwidth = 50
  }
}
segment "storage" {
  vlan   = 100
  subnet = "10.0.0.0/24"
  qos    = qos.roce
}
defaults "port" {
  qos          = qos.roce
  admin        = "up"
  speed        = "100G"
  fec          = "rs"
  mtu          = 9000
  ` + untagged + ` = segment.storage
  deny         = []
}
defaults "nic" {
  qos   = qos.roce
  admin = "up"
  speed = "100G"
  mtu   = 9000
}
switch "tor" {
  model = "` + model + `"
  os    = "` + os + `"
  port "` + first + `" {
    #PORT
  }
  port "` + second + `" {
  }
}
node "n" {
  for_each = { n1 = 1, n2 = 2 }
  os       = "` + hosts + `"
  slot     = each.value
  nic "rail0" {
    model = "nvidia/connectx-6-dx"
    ` + map[string]string{"untagged": "untagged", "tagged": "segment"}[untagged] + ` = segment.storage
    #NIC
  }
}
link "cable" {
  for_each = { n1 = "` + first + `", n2 = "` + second + `" }
  ends     = [node.n[each.key].nic["rail0"], switch.tor.port[each.value]]
  cable    = { media = "dac", length = "3m" }
}
`
}

// intentWords are the fields of an intent that an attribute has under another name.
var intentWords = map[string]string{"admin": "enabled", "tagged": "segments", "untagged": "native", "global_pause": "pause"}

// keptSet lists the fields of an attribute that the intents of ports set.
func keptSet(m made, attr string) []string {
	word := cmp.Or(intentWords[attr], attr)
	var list []string
	for _, d := range m.Devices {
		for p, v := range d.Intent.Fields {
			if p.Object == intent.OfPort && p.Word() == word && v.State == intent.Set {
				list = append(list, d.Address+" "+p.Name)
			}
		}
	}
	return list
}

// madeOf is buildText that goes on to what devices are told where a rule has something against it.
func madeOf(text string) made {
	m := buildText(text)
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}}, Packs: packs.Files()})
	if len(m.Devices) == 0 && !diags.HasErrors() {
		if res := compiler.Compile(cfg, compiler.Options{AsOf: "2026-01-01", Rows: packs.HeadroomRows}); res.Facts != nil {
			m.Devices, _ = emitted(res)
		}
	}
	return m
}

// TestKeep: on the way of each target, in each place that is nearer than what writes a setting, "keep" takes it out of what the
// device is told, or the target refuses, at the line that says so; and it stays at all other ports.
func TestKeep(t *testing.T) {
	reached := map[string]int{}
	for _, on := range [][4]string{
		{"sonic/202505", "nvidia/sn3700", "Ethernet", "ubuntu/24.04"},
		{"sonic-enterprise/4.5.0", "dell/s5232f-on", "Ethernet", "ubuntu/24.04"},
		{"cumulus-linux/5.14", "nvidia/sn3700c", "swp", "windows-server/2025"},
	} {
		base := keepBase(on[0], on[1], on[2], on[3])
		plain := buildText(base)
		if plain.Diags.HasErrors() {
			t.Fatalf("%s:\n%s", on[0], plain.Findings)
		}
		first := on[2] + "0"
		if on[2] == "swp" {
			first = "swp1"
		}
		for _, kind := range []schema.Kind{schema.Port, schema.NIC} {
			mark, handle, own := "#PORT", `switch.tor.port["`+first+`"]`, "switch.tor "+first
			if kind == schema.NIC {
				mark, handle, own = "#NIC", `node.n["n1"].nic["rail0"]`, `node.n["n1"] rail0`
			}
			for _, a := range schema.Def(kind).Attrs {
				if !slices.Contains(a.Type.Words, "keep") {
					continue
				}
				name := a.Num.Name()
				line := name + ` = "keep"`
				before := keptSet(plain, name)
				for place, text := range map[string]string{
					"block":    strings.Replace(base, mark, line, 1),
					"override": base + "override {\n  on = " + handle + "\n  set = { " + line + " }\n  reason = \"r\"\n  expires = \"2099-01-01\"\n}\n",
				} {
					at := fmt.Sprint(on[0], " ", kind, " ", place, ": ", line)
					m := madeOf(text)
					if refusedIn(m.Findings) && strings.Contains(m.Findings, line) {
						reached[name+" refused"]++
						continue
					}
					if slices.Contains(keptSet(m, name), own) {
						t.Errorf("%s: it is written", at)
					}
					if !strings.Contains(m.Findings, "ROCE") && len(m.Devices) == 0 {
						reached[name+" refused"]++ // by the language
					}
					if len(m.Devices) > 0 && slices.Contains(before, own) {
						reached[name]++
					}
				}
			}
		}
	}
	for _, name := range []string{"admin", "speed", "fec", "mtu", "untagged", "tagged", "trust", "pfc", "dscp_map", "ets", "ecn", "watchdog", "queue_map", "dcbx", "roce_mode", "global_pause"} {
		if reached[name]+reached[name+" refused"] == 0 {
			t.Errorf("%s was written around no port that keeps it", name)
		}
	}
}

// refusedIn reports whether findings name what a target refuses.
func refusedIn(findings string) bool {
	return slices.ContainsFunc(lint.Refusals, func(code string) bool { return strings.Contains(findings, code) })
}
