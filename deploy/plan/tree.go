package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// Tree prints what changes device by device, an object a line and without values;
// devices that change alike stand together.
func (p *Plan) Tree(w io.Writer, o TextOptions) error {
	t := &text{style: o.Style, verbose: o.Verbose}
	type branch struct{ owners, lines []string }
	var order []*branch
	alike := map[string]*branch{}
	for _, list := range [][]Change{p.Changes, p.Drift} {
		for first := 0; first < len(list); {
			last := first + 1
			for last < len(list) && list[last].Owner == list[first].Owner {
				last++
			}
			lines := t.leaves(list[first:last])
			owner := list[first].Owner
			key := strings.Join(lines, "\n")
			if o.Verbose {
				key += "\n" + owner
			}
			if alike[key] == nil {
				alike[key] = &branch{lines: lines}
				order = append(order, alike[key])
			}
			alike[key].owners = append(alike[key].owners, owner)
			first = last
		}
		if p.RefreshOnly {
			continue
		}
		break // drift of a plan with changes is what they undo
	}
	for _, b := range order {
		for i, a := range addresses(b.owners) {
			note := ""
			if n := len(a.names); n > 1 {
				note = "  (" + plural(n, "device") + ", identical)"
			}
			if i > 0 {
				t.line("")
			}
			t.line("%s", paint(t.style.Heading, printable(a.text)+note))
			for j, l := range b.lines {
				twig := "├─ "
				if j == len(b.lines)-1 {
					twig = "└─ "
				}
				t.line("%s", twig+l)
			}
		}
		t.line("")
	}
	t.line("%s", p.headline())
	if len(p.Changes) > 0 {
		t.line("%s%s", p.Summary.Impact(), printable(waveLine(p.Waves)))
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// leaves are the changes of one device, equal ones of several objects as one.
func (t *text) leaves(list []Change) []string {
	all := blocks(list)
	if t.verbose {
		all = each(list)
	}
	var lines []string
	for i := range all {
		b := &all[i]
		c := &list[b.members[0]]
		var names []string
		for _, r := range b.ranges {
			names = append(names, strings.TrimPrefix(strings.TrimPrefix(r, c.Owner), "."))
		}
		name := strings.Join(names, ", ")
		if c.Object == intent.OfDevice || name == "" {
			name = "the device"
		}
		mark := " "
		if c.Interrupts > 0 {
			mark = paint(t.style.Interrupt, "!")
		}
		what := ""
		switch fields := t.fields(c); {
		case c.Action != Update:
			what = "  " + verb(c.Action)
		case fields != "":
			what = "  " + fields
		}
		if n := len(b.members); n > 1 {
			what += fmt.Sprintf("  (%d)", n)
		}
		lines = append(lines, mark+" "+t.symbol(c.Action)+" "+printable(name+what))
	}
	return lines
}

// fields are the names of the settings that change, each once.
func (t *text) fields(c *Change) string {
	var names []string
	for i := range c.Fields {
		if !slices.Contains(names, c.Fields[i].Name) {
			names = append(names, c.Fields[i].Name)
		}
	}
	return strings.Join(names, ", ")
}
