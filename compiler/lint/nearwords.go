package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce924 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE924", Name: "word_near_another", Severity: diag.Notice,
		Title: "two free words are almost alike",
		Why: "a routing table, cluster, tenant, rack, site or role is a word that somebody makes up: two spellings of one word are two of them, " +
			"and nothing else is wrong with either. Uplinks whose ends are in \"gpu\" and \"gup\" carry nothing between the two",
		Fix:    "write one word in both places; where two are meant, choose words that nobody takes for one another",
		Source: "docs/language/blocks.md: vrf, cluster, tenant, rack, site and role are free words",
		Bad:    clusters("storage", "stroage"),
		Good:   clusters("storage", "compute"),
	},
	Run: wordsNear,
}

// clusters is twoNodes whose hosts are in clusters.
func clusters(first, second string) string {
	return twoNodesEdit(`  slot     = each.value`, fmt.Sprintf("  slot     = each.value\n  cluster  = each.value == 1 ? %q : %q", first, second))
}

// freeWord is a word of an attribute that takes any.
type freeWord struct {
	text string
	form string // without digits, in small letters
	uses int

	address fabric.Str // of the first
	decl    fabric.DeclID
	layer   fabric.LayersID
}

// freeWords are the words of one attribute, by their text.
type freeWords struct {
	num   schema.Attr
	words map[fabric.Str]*freeWord
}

func (w *freeWords) add(f *fabric.Fabric, word, address fabric.Str, decl fabric.DeclID, layer fabric.LayersID) {
	if word == 0 {
		return
	}
	at := w.words[word]
	if at == nil {
		at = &freeWord{text: f.Text(word), form: withoutDigits(f.Text(word)), address: address, decl: decl, layer: layer}
		w.words[word] = at
	}
	at.uses++
}

func wordsNear(p *Pass) {
	f := p.Fabric
	table := func(n schema.Attr) *freeWords { return &freeWords{num: n, words: map[fabric.Str]*freeWord{}} }
	vrf, cluster, tenant, rack, site, role := table(schema.AVRF), table(schema.ACluster), table(schema.ATenant), table(schema.ARack), table(schema.ASite), table(schema.ARole)
	for d := 1; d < len(f.Devices); d++ {
		dev := &f.Devices[d]
		cluster.add(f, dev.Cluster, dev.Address, dev.Decl, dev.Layers)
		tenant.add(f, dev.Tenant, dev.Address, dev.Decl, dev.Layers)
		rack.add(f, dev.Rack, dev.Address, dev.Decl, dev.Layers)
		site.add(f, dev.Site, dev.Address, dev.Decl, dev.Layers)
		role.add(f, dev.Role, dev.Address, dev.Decl, dev.Layers)
	}
	for s := 1; s < len(f.Segments); s++ {
		vrf.add(f, f.Segments[s].VRF, f.Segments[s].Address, f.Segments[s].Decl, f.Segments[s].Layers)
	}
	for i := 1; i < len(f.Ifaces); i++ {
		vrf.add(f, f.Ifaces[i].VRF, f.Devices[f.Ifaces[i].Device].Address, f.Ifaces[i].Decl, f.Ifaces[i].Layers)
	}
	for _, w := range []*freeWords{vrf, cluster, tenant, rack, site, role} {
		w.report(p)
	}
}

// report tells the words that are near another, the rarer of the two.
func (w *freeWords) report(p *Pass) {
	list := slices.SortedFunc(maps.Values(w.words), func(a, b *freeWord) int {
		return cmp.Or(cmp.Compare(a.form, b.form), cmp.Compare(b.uses, a.uses), cmp.Compare(a.text, b.text))
	})
	list = slices.CompactFunc(list, func(a, b *freeWord) bool { return a.form == b.form }) // r1, r2 and r17 are as near to others as one of them
	forms := map[string]bool{}
	for _, x := range list {
		forms[x.form] = true
	}
	slices.SortStableFunc(list, func(a, b *freeWord) int { return cmp.Compare(b.uses, a.uses) })
	var known []*freeWord
	for _, x := range list {
		if i := slices.IndexFunc(known, func(k *freeWord) bool { return w.mistyped(x.form, k.form) && !series(x.form, k.form, forms) }); i >= 0 {
			other := known[i]
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s %q is almost %q", w.num.Name(), x.text, other.text), Address: p.Fabric.Text(x.address),
				Labels: []diag.Label{p.Fabric.Label(x.decl, x.layer, w.num, ""), p.Fabric.Label(other.decl, other.layer, w.num, "the other")},
				Help:   fmt.Sprintf("write %q where it is meant; two words that are meant to differ should differ in more", other.text),
			})
		}
		known = append(known, x)
	}
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// mistyped reports whether a slip of the fingers makes one word of another: a letter or two, not the first one, and none that is only
// missing at the end. Racks and sites have names of a letter and a number.
func (w *freeWords) mistyped(a, b string) bool {
	short, long := a, b
	if len(b) < len(a) {
		short, long = b, a
	}
	least := 2
	if w.num == schema.ARack || w.num == schema.ASite {
		least = 3
	}
	if len(short) < least || short[0] != long[0] || strings.HasPrefix(long, short) {
		return false
	}
	limit := 1
	if len(short) >= 6 {
		limit = 2
	}
	return diag.Distance(a, b, limit) <= limit
}

// series reports whether two words are of a row of letters: row-a and row-b, vrfa and vrfc among vrfa, vrfb and vrfc.
func series(a, b string, words map[string]bool) bool {
	at := -1
	for i := 0; i < len(a) && len(a) == len(b); i++ {
		switch {
		case a[i] == b[i]:
		case at >= 0:
			return false
		default:
			at = i
		}
	}
	if at < 0 {
		return false
	}
	letter := func(i int) bool { return i >= 0 && i < len(a) && a[i] >= 'a' && a[i] <= 'z' }
	if !letter(at) || !letter(at-1) && !letter(at+1) {
		return true // a sign, or a letter by itself
	}
	for c := min(a[at], b[at]); c < max(a[at], b[at]); c++ {
		if !words[a[:at]+string(rune(c))+a[at+1:]] {
			return false
		}
	}
	return true // the letters that stand there follow each other
}
