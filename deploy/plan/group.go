package plan

import (
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// block is a set of equal changes.
type block struct {
	members []int    // indexes of the changes, ascending
	groups  []string // of each member: the range address that covers it
	ranges  []string // all range addresses, in order
	names   []string // range of the objects' names in each, beside ranges; for notes
}

// blocks folds equal changes, in the order of their first ones. Two changes are
// equal if they do the same to the same fields with the same effect, whatever
// the names of their objects, which notes may mention.
func blocks(list []Change) []block {
	var out []block
	at := map[string]int{}
	for i := range list {
		key := likeness(&list[i])
		j, ok := at[key]
		if !ok {
			j = len(out)
			at[key] = j
			out = append(out, block{})
		}
		out[j].members = append(out[j].members, i)
	}
	for i := range out {
		out[i].cover(list)
	}
	return out
}

// each is every change as a block of its own.
func each(list []Change) []block {
	out := make([]block, len(list))
	for i := range list {
		out[i] = block{members: []int{i}, groups: []string{list[i].Address}, ranges: []string{list[i].Address}, names: []string{list[i].Name}}
	}
	return out
}

func likeness(c *Change) string {
	var b strings.Builder
	put := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
			b.WriteByte(0)
		}
	}
	put(string(c.Action), string(c.Object), keyword(c), rename(c.Note, c.Name, "\x01"))
	if c.Object == intent.OfDevice && (c.Action == Create || c.Action == Replace) {
		return b.String() // its fields have its own addresses in them
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		interrupts := ""
		if f.Interrupts {
			interrupts = "!"
		}
		put(f.Name, f.Before, f.After, interrupts, rename(f.Note, c.Name, "\x01"))
	}
	return b.String()
}

// keyword is "port", "nic": what stands before the name in the address.
func keyword(c *Change) string {
	tail, _, _ := strings.Cut(strings.TrimPrefix(c.Address, c.Owner), "[")
	return tail
}

// rename puts another name for an object's in a note of its target.
func rename(note, name, by string) string {
	if name == "" || !strings.Contains(note, name) {
		return note
	}
	words := strings.Split(note, " ")
	for i, w := range words {
		if strings.Trim(w, ",;:()\"") == name {
			words[i] = strings.Replace(w, name, by, 1)
		}
	}
	return strings.Join(words, " ")
}

// cover finds the range addresses of a block: names within each device first,
// then the devices that have the same ranges of names.
func (b *block) cover(list []Change) {
	if len(b.members) == 1 {
		c := &list[b.members[0]]
		b.groups, b.ranges, b.names = []string{c.Address}, []string{c.Address}, []string{c.Name}
		return
	}
	first := &list[b.members[0]]
	names := map[string][]string{} // device address -> names
	var owners []string
	for _, m := range b.members {
		c := &list[m]
		if _, ok := names[c.Owner]; !ok {
			owners = append(owners, c.Owner)
		}
		names[c.Owner] = append(names[c.Owner], c.Name)
	}
	alike := map[string][]string{} // ranges of names -> device addresses
	var sets []string
	for _, o := range owners {
		key := strings.Join(Ranges(names[o]), "\x00")
		if _, ok := alike[key]; !ok {
			sets = append(sets, key)
		}
		alike[key] = append(alike[key], o)
	}
	type place struct{ owner, name string }
	covers := map[place]string{}
	for _, set := range sets {
		owners := alike[set]
		for _, n := range spans(names[owners[0]]) {
			for _, o := range addresses(owners) {
				text := o.text
				if first.Object != intent.OfDevice {
					text += keyword(first) + `["` + n.text + `"]`
				}
				b.ranges, b.names = append(b.ranges, text), append(b.names, n.text)
				for _, owner := range o.names {
					for _, name := range n.names {
						covers[place{owner, name}] = text
					}
				}
			}
		}
	}
	for _, m := range b.members {
		b.groups = append(b.groups, covers[place{list[m].Owner, list[m].Name}])
	}
}
