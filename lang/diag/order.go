package diag

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rocec/rocec/lang/source"
)

// Sort puts findings, in place, in the one order that every command prints:
// file by name, offset, rule, address. Findings without a place come first. It
// returns the list. Sort before Fold, so that what stands for many is the first.
func Sort(list List, files *source.Files) List {
	name := func(s source.Span) string {
		if files == nil {
			return ""
		}
		return files.Name(s.File)
	}
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		x, y := a.Span(), b.Span()
		return cmp.Or(
			cmp.Compare(name(x), name(y)),
			cmp.Compare(x.Start, y.Start),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Address, b.Address),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Summary, b.Summary),
		)
	})
	return list
}

// Span is where the finding stands: the first of its labels that has a place.
func (d *Diagnostic) Span() source.Span {
	for _, l := range d.Labels {
		if !l.Span.IsZero() {
			return l.Span
		}
	}
	return source.Span{}
}

// Fold merges equal findings into the first of them, which keeps its place and
// gets their Count and, in Also, its address and how many more there are; so
// does a finding that was counted where it was found. Two findings are equal
// when rule, severity, the spans and values of their labels, and their words
// apart from names are the same: what one declaration causes at each of its
// instances. A label without a span counts by its Where.
func Fold(list List) List {
	first := map[string]int{}
	var out List
	var merged []fold
	for _, d := range list {
		k := d.key()
		i, seen := first[k]
		if !seen {
			i = len(out)
			first[k] = i
			out, merged = append(out, d), append(merged, fold{})
		} else {
			out[i].Count = max(out[i].Count, 1) + max(d.Count, 1)
			out[i].mergeEdits(d.Edits)
			merged[i].any = true
		}
		merged[i].see(&d)
	}
	for i := range out {
		switch d := &out[i]; {
		case merged[i].any:
			d.Also = merged[i].also(d.Count)
		case d.Count > 1 && d.Also == "" && d.Address != "": // counted where it was found
			d.Also = d.Address + ", and " + strconv.Itoa(d.Count-1) + " more"
		}
	}
	return out
}

// mergeEdits adds the edits of a finding that is folded into this one: what is
// said of one place may be mended at several.
func (d *Diagnostic) mergeEdits(more []Edit) {
	for _, e := range more {
		if !slices.Contains(d.Edits, e) {
			d.Edits = append(d.Edits[:len(d.Edits):len(d.Edits)], e)
		}
	}
}

// fold is what is known of the findings that became one.
type fold struct {
	any       bool
	many      bool     // one of them was folded before
	addresses []string // distinct, two at most
}

func (f *fold) see(d *Diagnostic) {
	f.many = f.many || d.Count > 2
	if len(f.addresses) < 2 && d.Address != "" && !slices.Contains(f.addresses, d.Address) {
		f.addresses = append(f.addresses, d.Address)
	}
}

func (f *fold) also(count int) string {
	if len(f.addresses) == 0 {
		return ""
	}
	if !f.many && (len(f.addresses) == 1 || count == 2) {
		return strings.Join(f.addresses, ", ")
	}
	return f.addresses[0] + ", and " + strconv.Itoa(count-1) + " more"
}

func (d *Diagnostic) key() string {
	var b strings.Builder
	part := func(s string) {
		b.WriteString(strconv.Itoa(len(s)))
		b.WriteByte(':')
		b.WriteString(s)
	}
	number := func(n uint32) { part(strconv.FormatUint(uint64(n), 10)) }
	names := addressNames(d.Address)
	part(d.Rule)
	number(uint32(d.Severity))
	part(nameless(d.Summary, names))
	part(nameless(d.Help, names))
	for _, n := range d.Notes {
		part(nameless(n, names))
	}
	for _, l := range d.Labels {
		part("label")
		number(uint32(l.Span.File))
		number(l.Span.Start)
		number(l.Span.Len)
		if l.Span.IsZero() {
			part(l.Where)
		}
		part(nameless(l.Text, names))
		for _, v := range l.Values {
			part(v)
		}
	}
	return b.String()
}

// addressNames are the names in `switch.tor.port["Ethernet0"]`: its words but
// those of blocks, which a sentence on a port and one on a NIC both may use.
func addressNames(address string) []string {
	words := strings.FieldsFunc(address, func(r rune) bool { return strings.ContainsRune(`.[]"`, r) })
	return slices.DeleteFunc(words, func(w string) bool {
		switch w {
		case "bond", "interface", "lag", "link", "mlag", "module", "nic", "node", "port", "qos", "segment", "switch", "target":
			return true
		}
		return false
	})
}

// nameless is a sentence with the names in it blotted out, so that what is said
// of two ports reads the same: quoted text, words of the address, words with a
// slash or bracket, addresses, words such as leaf01, and what a device or check is
// called: in each call of a module it has another name. Values such as 400G stay.
func nameless(s string, names []string) string {
	var b strings.Builder
	for i, quoted := range strings.Split(s, `"`) {
		if i%2 == 1 {
			b.WriteString(`"`)
			continue
		}
		before := ""
		for w := range strings.FieldsSeq(quoted) {
			core := strings.Trim(w, ",;:()'")
			called := before == "node" || before == "switch" || before == "check"
			if before = w; core != "" && (called || isName(core) || slices.Contains(names, core)) {
				w = strings.Replace(w, core, "*", 1)
			}
			b.WriteString(w)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func isName(w string) bool {
	if _, err := netip.ParseAddr(w); err == nil { // of one host or port as much as its name
		return true
	}
	if _, err := netip.ParsePrefix(w); err == nil {
		return true
	}
	letter := strings.ContainsFunc(w, unicode.IsLetter)
	if strings.ContainsAny(w, "/[") {
		return letter
	}
	return letter && !unicode.IsDigit(rune(w[0])) && strings.ContainsFunc(w, unicode.IsDigit)
}
