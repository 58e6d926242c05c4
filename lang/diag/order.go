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
// returns the list.
func Sort(list List, files *source.Files) List {
	name := func(s source.Span) string {
		if files == nil {
			return ""
		}
		return files.Name(s.File)
	}
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		x, y := a.Span(), b.Span()
		if a.Rest != b.Rest { // it is about what else was found
			if a.Rest {
				return 1
			}
			return -1
		}
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

// Fold makes one finding of those that one cause has: of the same rule, severity
// and fact, with the same declarations in their labels, whatever names and numbers
// their words have. What a declaration is, is what was written: a block or attribute
// that stands for many ports, and the row of a table where Rows put it first. Of
// labels without a span Where counts, and the words (without names) of what has no rule or place.
//
// The first in natural order of addresses stays, switches before hosts, with all of them as its Members.
func Fold(list List) List {
	var f Folder
	for i := range list {
		f.Add(&list[i])
	}
	return f.List()
}

// Folder folds findings one by one, so that never all of them need to be held. The
// zero value is ready.
type Folder struct {
	at   map[string]int
	list List
}

// Add adds a finding.
func (f *Folder) Add(d *Diagnostic) {
	if f.at == nil {
		f.at = map[string]int{}
	}
	k := d.key()
	if i, seen := f.at[k]; seen {
		f.list[i].join(d)
		return
	}
	f.at[k] = len(f.list)
	f.list = append(f.list, *d)
}

// List is what was added, folded. Nothing is added after that.
func (f *Folder) List() List {
	for i := range f.list {
		f.list[i].settle()
	}
	return f.list
}

// join adds a finding of the same cause to this one. What it says besides its
// address and summary is this one's already, but for edits and what follows.
func (d *Diagnostic) join(o *Diagnostic) {
	d.Members = append(d.members(), o.members()...)
	d.Count = max(d.Count, 1) + max(o.Count, 1)
	for _, e := range o.Edits { // what is said of one place may be mended at several
		if !slices.Contains(d.Edits, e) {
			d.Edits = append(d.Edits[:len(d.Edits):len(d.Edits)], e)
		}
	}
	d.Follows = append(d.Follows[:len(d.Follows):len(d.Follows)], o.Follows...)
}

func (d *Diagnostic) members() []Member {
	if d.Members != nil {
		return d.Members
	}
	return []Member{{Address: d.Address, Summary: d.Summary}}
}

// settle puts what was joined in order, and has the finding speak of its first member.
// It is as severe as the gravest of what follows from it, so that none of that is lost.
func (d *Diagnostic) settle() {
	d.Follows = Fold(d.Follows)
	for i := range d.Follows {
		d.Severity = min(d.Severity, d.Follows[i].Severity)
	}
	if d.Members == nil {
		return
	}
	slices.SortStableFunc(d.Members, func(a, b Member) int {
		return cmp.Or(cmp.Compare(hostsLast(a.Address), hostsLast(b.Address)), natural(a.Address, b.Address), natural(a.Summary, b.Summary))
	})
	all := len(d.Members)
	d.Members = slices.Compact(d.Members)
	d.Count = max(d.Count-(all-len(d.Members)), 1)
	if len(d.Steps) == 0 { // else they are the path of this one
		d.Address, d.Summary = d.Members[0].Address, d.Members[0].Summary
	}
	if len(d.Members) == 1 {
		d.Members = nil
	}
}

func hostsLast(address string) int {
	if strings.HasPrefix(address, "node.") || strings.Contains(address, ".node.") {
		return 1
	}
	return 0
}

// key is what findings of one cause have in common.
func (d *Diagnostic) key() string {
	b := make([]byte, 0, 128)
	part := func(s string) {
		b = strconv.AppendInt(b, int64(len(s)), 10)
		b = append(append(b, ':'), s...)
	}
	number := func(n uint32) { b = append(strconv.AppendUint(b, uint64(n), 10), ',') }
	part(d.Rule)
	number(uint32(d.Severity))
	part(d.Fact)
	placed := false
	for _, l := range d.Labels {
		placed = placed || !l.Span.IsZero()
		number(uint32(l.Span.File))
		number(l.Span.Start)
		number(l.Span.Len)
		if l.Span.IsZero() {
			part(l.Where)
		}
	}
	if d.Rule == "" || !placed {
		names := addressNames(d.Address)
		part(nameless(d.Summary, names))
		part(nameless(d.Help, names))
	}
	return string(b)
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
