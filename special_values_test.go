package rocec_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang/langtest"
	"github.com/rocec/rocec/lang/schema"
)

// specialWords are the words that mean the same thing for every attribute that takes them.
var specialWords = []string{"auto", "off", "keep"}

// specialIdle are places where nothing comes of one of them in the fabrics of this test, and where it is read.
var specialIdle = map[string]string{
	`leaf.stp = "off"`: "compiler/resolve/known.go", `spine.stp = "off"`: "compiler/resolve/known.go", `core.stp = "off"`: "compiler/resolve/known.go",
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
			var blocks = langtest.Blocks(w.main, k.String(), 1)
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
				if maybe := w.with(w.main[:span[0]] + name + " = 1 == 1 ? null : null" + w.main[span[1]:]); maybe.text != none.text && !maybe.failed {
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

// keepBase is two hosts on one switch, where all that rocec can write of a port is written around it.
func keepBase(os, model, port, hosts string) string {
	first, second := port+"0", port+"4"
	if port == "swp" {
		first, second = "swp1", "swp2"
	}
	return `qos "roce" {
  trust = "dscp"
  dcbx  = "off"
  class "rdma" {
    carries   = "rdma"
    dscp      = 26
    priority  = 3
    bandwidth = 50
    ecn       = { min = "150KB", max = "1500KB", probability = 5 }
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
segment "more" {
  vlan = 200
}
switch "tor" {
  model = "` + model + `"
  os    = "` + os + `"
  port "` + first + `" {
    speed  = "100G"
    fec    = "rs"
    native = segment.storage
    #PORT
  }
  port "` + second + `" {
    speed  = "100G"
    fec    = "rs"
    native = segment.storage
  }
  #SWITCH
}
node "n" {
  for_each = { n1 = 1, n2 = 2 }
  os       = "` + hosts + `"
  slot     = each.value
  nic "rail0" {
    model  = "nvidia/connectx-6-dx"
    speed  = "100G"
    native = segment.storage
    #NIC
  }
  #NODE
}
link "cable" {
  for_each = { n1 = "` + first + `", n2 = "` + second + `" }
  ends     = [node.n[each.key].nic["rail0"], switch.tor.port[each.value]]
  cable    = { media = "dac", length = "3m" }
}
`
}

func keepOutcome(text string) outcome {
	return outcomeOf(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}})
}
