package rocec_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/schema"
)

// outcome is all that a source comes to, without its text: findings by rule, words and
// address, what every device is told, its files, and what was derived.
type outcome struct {
	text   string
	failed bool // something was refused
}

func outcomeOf(files fstest.MapFS) outcome {
	var out strings.Builder
	cfg, diags := lang.Load(lang.Options{FS: files, Packs: packs.Files()})
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
			f := res.Fabric
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
	for _, d := range diags {
		fmt.Fprintln(&out, d.Rule, d.Severity, d.Summary, d.Address, d.Notes)
	}
	return outcome{out.String(), diags.HasErrors()}
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
	for name, text := range wordSources {
		add(name, text)
	}
	slices.SortFunc(list, func(a, b wordText) int { return strings.Compare(a.name, b.name) })
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

// word is one attribute, or one field of one, as it stands in a source.
type wordAt struct {
	text  *wordText
	kinds []schema.Kind // of the blocks around it, outermost first
	block []*hclsyntax.Block
	attr  schema.Attr
	field schema.Attr // 0 for the whole attribute
	at    hcl.Range   // what is cut out
	value string
}

func (w *wordAt) key() string {
	last := w.kinds[len(w.kinds)-1]
	name := last.String() + "." + w.attr.Name()
	if w.field != 0 {
		name += "." + w.field.Name()
	}
	return name
}

func (w *wordAt) without() string { return w.text.main[:w.at.Start.Byte] + w.text.main[w.at.End.Byte:] }

// wordsIn lists the words of a source whose blocks and attributes are in the schema.
func wordsIn(w *wordText) []wordAt {
	file, diags := hclsyntax.ParseConfig([]byte(w.main), "fabric.roce.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		return nil
	}
	var list []wordAt
	var visit func(body *hclsyntax.Body, kinds []schema.Kind, blocks []*hclsyntax.Block)
	visit = func(body *hclsyntax.Body, kinds []schema.Kind, blocks []*hclsyntax.Block) {
		if len(kinds) > 0 {
			kind := kinds[len(kinds)-1]
			for name, a := range body.Attributes {
				def := schema.Lookup(kind, name)
				if def == nil {
					continue
				}
				cut := a.SrcRange
				one := wordAt{text: w, kinds: kinds, block: blocks, attr: def.Num, at: cut, value: w.main[a.Expr.Range().Start.Byte:a.Expr.Range().End.Byte]}
				list = append(list, one)
				list = append(list, fieldsIn(w, one, def.Type, a.Expr)...)
			}
		}
		for _, b := range body.Blocks {
			parent := schema.None
			if len(kinds) > 0 {
				parent = kinds[len(kinds)-1]
			}
			if k := schema.ByWord(parent, b.Type); k != schema.None {
				visit(b.Body, append(kinds[:len(kinds):len(kinds)], k), append(blocks[:len(blocks):len(blocks)], b))
			}
		}
	}
	visit(file.Body.(*hclsyntax.Body), nil, nil)
	slices.SortFunc(list, func(a, b wordAt) int { return a.at.Start.Byte - b.at.Start.Byte })
	return list
}

// fieldsIn are the fields of an object that is written out.
func fieldsIn(w *wordText, of wordAt, t schema.Type, e hclsyntax.Expression) []wordAt {
	var list []wordAt
	switch x := e.(type) {
	case *hclsyntax.TupleConsExpr:
		for _, in := range x.Exprs {
			list = append(list, fieldsIn(w, of, t, in)...)
		}
	case *hclsyntax.ObjectConsExpr:
		if t.Base == schema.Map && t.Elem != nil {
			for _, it := range x.Items {
				list = append(list, fieldsIn(w, of, *t.Elem, it.ValueExpr)...)
			}
			return list
		}
		for i, it := range x.Items {
			name := hcl.ExprAsKeyword(it.KeyExpr)
			for _, f := range t.Fields {
				if f.Num.Name() != name {
					continue
				}
				one := of
				one.field = f.Num
				one.at = hcl.RangeBetween(it.KeyExpr.Range(), it.ValueExpr.Range())
				if i+1 < len(x.Items) {
					one.at.End = x.Items[i+1].KeyExpr.Range().Start
				} else if i > 0 {
					one.at.Start = x.Items[i-1].ValueExpr.Range().End
				}
				list = append(list, one)
			}
		}
	}
	return list
}

// allWords are the words of the language: attributes of blocks, and their fields.
func allWords() []string {
	var list []string
	for k := schema.None + 1; k < schema.KindCount; k++ {
		for i := range schema.Def(k).Attrs {
			a := &schema.Def(k).Attrs[i]
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

const mostTries = 30

// TestEveryWordActs takes each attribute of each block, and each field of those that
// are objects, out of sources that write it, and demands that something comes of it in
// one of them: what a device is told, a derived value, a finding or a refusal. A word
// of the schema that no source writes to any effect fails, so that none can be added,
// or stop to be read, in silence.
func TestEveryWordActs(t *testing.T) {
	corpus := wordCorpus(t)
	byKey := map[string][]wordAt{}
	for i := range corpus {
		for _, w := range wordsIn(&corpus[i]) {
			if list := byKey[w.key()]; len(list) < mostTries && !slices.ContainsFunc(list, func(o wordAt) bool { return o.text == w.text }) {
				byKey[w.key()] = append(list, w)
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
	var mu sync.Mutex
	var idle []string
	var work sync.WaitGroup
	queue := make(chan string)
	for range 2 {
		work.Go(func() {
			for key := range queue {
				acts := false
				for i := range byKey[key] {
					w := &byKey[key][i]
					if acts = before(w.text).text != w.text.with(w.without()).text; acts {
						break
					}
				}
				if !acts && ownWitness[key] == "" {
					mu.Lock()
					idle = append(idle, fmt.Sprintf("%s (in %d sources)", key, len(byKey[key])))
					mu.Unlock()
				}
			}
		})
	}
	for _, key := range allWords() {
		queue <- key
	}
	close(queue)
	work.Wait()
	slices.Sort(idle)
	for _, key := range idle {
		t.Errorf("%s: nothing comes of it", key)
	}
}

// ownWitness are words that no fabric changes by, as they are about the people or the
// program: who shows that each of them acts.
var ownWitness = map[string]string{}

// wordSources are sources for words that no example of a rule writes to effect.
var wordSources = map[string]string{}

var _ = bytes.Equal
