package plan

import (
	"strings"
)

// item is one group of equal changes as lines of plain text, for the forms that
// may leave items out. An item is whole or not there.
type item struct {
	section int
	lines   []string
}

// Sections of a plan, the gravest first: what is left out is left out of the last.
const (
	unsettled = iota
	grave
	others
	drifted
	awaiting
	unseen
	sections
)

// titles are the headings of sections.
func (p *Plan) titles() [sections]string {
	t := [sections]string{
		unsettled: "Not settled, what was read there does not stay",
		grave:     "Interrupts traffic or destroys", others: "Other changes", drifted: "Differs on the device, expected -> found",
		awaiting: "Awaiting confirmation", unseen: "Could not be seen",
	}
	if p.RefreshOnly {
		t[drifted] = "Differs on the device, recorded -> found"
	}
	return t
}

// items are the contents of a plan in the order of sections.
func (p *Plan) items(verbose bool) []item {
	var list [sections][]item
	for i := range p.Open {
		list[unsettled] = append(list[unsettled], item{unsettled, []string{"! " + printable(p.Open[i].String())}})
	}
	fold := blocks
	if verbose {
		fold = each
	}
	put := func(changes []Change, section func(*Change) int) {
		all := fold(changes)
		for i := range all {
			t := &text{verbose: verbose}
			t.block(changes, &all[i])
			s := section(&changes[all[i].members[0]])
			list[s] = append(list[s], item{s, strings.Split(strings.TrimSuffix(t.String(), "\n"), "\n")})
		}
	}
	put(p.Changes, func(c *Change) int {
		if c.Interrupts > 0 || c.Action == Delete || c.Action == Replace {
			return grave
		}
		return others
	})
	put(p.Drift, func(*Change) int { return drifted })
	t := &text{verbose: verbose}
	var waiting []string
	for _, a := range p.Awaiting {
		waiting = append(waiting, a.Address)
	}
	for _, s := range t.listed(waiting) {
		list[awaiting] = append(list[awaiting], item{awaiting, []string{" <= read " + printable(s)}})
	}
	for _, part := range UnseenParts(p.Unseen, verbose) {
		for _, s := range part.Lines {
			list[unseen] = append(list[unseen], item{unseen, []string{"  " + printable(s)}})
		}
	}
	var out []item
	for _, l := range list {
		out = append(out, l...)
	}
	return out
}

// chosen says which items fit into so many bytes. After one of a section that does
// not fit smaller ones of it may, and those of later sections, which matter less,
// are left out.
func chosen(items []item, room int, size func(*item) int) (fits []bool, left int) {
	fits = make([]bool, len(items))
	full := -1
	for i := range items {
		n := size(&items[i])
		if n > room || full >= 0 && items[i].section > full {
			if left++; full < 0 {
				full = items[i].section
			}
			continue
		}
		fits[i] = true
		room -= n
	}
	return fits, left
}
