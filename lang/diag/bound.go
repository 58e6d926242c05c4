package diag

import "fmt"

// MostKept is how many findings of one severity are kept of one configuration, and
// are listed by any one output. Nobody reads the thousandth before the first is
// mended; what a folded finding stands for is kept as a whole, and counts as one.
const MostKept = 1000

// Bound counts findings while they are found: the first MostKept of each severity
// have room, of the others only the number is kept. The zero value is ready.
type Bound struct{ kept, rest [Notice + 1]int }

// Full reports whether a finding of that severity would only be counted: what it
// would say need not be put together.
func (b *Bound) Full(s Severity) bool { return b.kept[min(s, Notice)] >= MostKept }

// Take counts one more finding, and reports whether it has room.
func (b *Bound) Take(s Severity) bool {
	s = min(s, Notice)
	if b.kept[s] >= MostKept {
		b.rest[s]++
		return false
	}
	b.kept[s]++
	return true
}

// Add counts the rest of another one.
func (b *Bound) Add(o *Bound) {
	for s, n := range o.rest {
		b.rest[s] += n
	}
}

// Rest is a finding for each severity of which there are more than are kept. Each
// counts for all that it stands for, so that a list with it has as many as there are.
func (b *Bound) Rest() List {
	var list List
	for s, n := range b.rest {
		if n == 0 {
			continue
		}
		words, are := fmt.Sprintf("%d more %ss", n, Severity(s)), "are"
		if n == 1 {
			words, are = "1 more "+Severity(s).String(), "is"
		}
		list.Add(Diagnostic{
			Severity: Severity(s), Summary: words + " " + are + " not listed", Count: n, Rest: true,
			Help: fmt.Sprintf("mend those that are listed, then run the command again: of each severity the first %d are listed", MostKept),
		})
	}
	return list
}

// Bounded is a list of which each severity has at most MostKept findings, in its
// order, and behind them how many more there are.
func Bounded(list List) List {
	if len(list) <= MostKept {
		return list
	}
	var b Bound
	var out List
	for i := range list {
		d := &list[i]
		switch {
		case d.Rest:
			b.rest[min(d.Severity, Notice)] += d.Count
		case b.Take(d.Severity):
			out = append(out, *d)
		default:
			b.rest[min(d.Severity, Notice)] += max(d.Count, 1) - 1
		}
	}
	return append(out, b.Rest()...)
}
