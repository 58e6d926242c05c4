package cumulus

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// node is a part of NVUE's tree: a branch, a leaf with a value, or an item of a
// collection that has nothing under it.
type node struct {
	key  string
	form form
	text string
	from intent.Path
	kids []*node
	by   map[string]*node // kids by key, once there are many
}

// form is that of a value.
type form uint8

const (
	noForm form = iota
	word        // a word of NVUE, plain in YAML even where YAML 1.1 has a flag of that name
	number      // a number
	name        // text of the intent, quoted where it has to be
)

// at is the node under some keys; what is missing is made.
func (n *node) at(from intent.Path, keys ...string) *node {
	for _, key := range keys {
		n = n.kid(from, key)
	}
	return n
}

func (n *node) kid(from intent.Path, key string) *node {
	if k := n.get(key); k != nil {
		return k
	}
	k := &node{key: key, from: from}
	n.kids = append(n.kids, k)
	switch {
	case n.by != nil:
		n.by[key] = k
	case len(n.kids) > fewKids:
		n.by = make(map[string]*node, 2*len(n.kids))
		for _, k := range n.kids {
			n.by[k.key] = k
		}
	}
	return k
}

// fewKids is how many keys are searched one by one.
const fewKids = 16

// set gives the node under some keys a value.
func (n *node) set(as form, value string, from intent.Path, keys ...string) {
	k := n.at(from, keys...)
	k.form, k.text, k.from = as, value, from
}

// get finds the node under some keys, nil if there is none.
func (n *node) get(keys ...string) *node {
	for _, key := range keys {
		switch {
		case n == nil:
			return nil
		case n.by != nil:
			n = n.by[key]
			continue
		}
		i := slices.IndexFunc(n.kids, func(k *node) bool { return k.key == key })
		if i < 0 {
			return nil
		}
		n = n.kids[i]
	}
	return n
}

// value is the text of a leaf, "" if there is none.
func (n *node) value(keys ...string) string {
	if k := n.get(keys...); k != nil {
		return k.text
	}
	return ""
}

// items are the keys under some keys in natural order.
func (n *node) items(keys ...string) []string {
	k := n.get(keys...)
	if k == nil {
		return nil
	}
	list := make([]string, 0, len(k.kids))
	for _, x := range k.kids {
		list = append(list, x.key)
	}
	slices.SortFunc(list, byName)
	return list
}

// sort puts keys in the order in which NVUE prints them.
func (n *node) sort() {
	slices.SortStableFunc(n.kids, func(a, b *node) int { return byName(a.key, b.key) })
	for _, k := range n.kids {
		k.sort()
	}
}

// yaml writes what is under a node, two blanks deeper for each level. An item
// without anything is {} in a set, and nothing in an unset.
func (n *node) yaml(f *emit.File, indent int, unset bool) {
	blanks := strings.Repeat(" ", indent)
	for _, k := range n.kids {
		key := yamlText(k.key)
		switch {
		case len(k.kids) > 0 || k.form == noForm && unset:
			f.Put(k.from, blanks, key, ":")
		case k.form == noForm:
			f.Put(k.from, blanks, key, ": {}")
		default:
			value := k.text
			if k.form == name {
				value = yamlText(value)
			}
			f.Put(k.from, blanks, key, ": ", value)
		}
		k.yaml(f, indent+2, unset)
	}
}

// yamlText is a key or a text. Plain words stay plain and numbers are quoted,
// as NVUE writes them; everything else is quoted too.
func yamlText(s string) string {
	plain := s != "" && !strings.Contains(yamlWords, " "+strings.ToLower(s)+" ")
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		plain = letter || i > 0 && (c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' || c == ',')
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// yamlWords are words that some version of YAML takes for something else.
const yamlWords = " y n yes no on off true false null nan inf infinity "

// joins are the collections for which the documents give several items to one
// command: dscp 10,21,36, pcp 2,3,4, traffic-class 4,5,7 and vlan 10,20.
var joins = []string{"dscp", "pcp", "traffic-class", "vlan"}

// commands writes one command for each value and each bare item under a tree.
func (n *node) commands(f *emit.File, verb string) {
	if len(n.kids) > 0 {
		n.command(f, "nv "+verb)
	}
}

func (n *node) command(f *emit.File, path string) {
	if len(n.kids) == 0 {
		if n.form != noForm {
			path += " " + shell(n.text)
		}
		f.Put(n.from, path)
		return
	}
	join := slices.Contains(joins, n.key)
	var done []bool
	if join {
		done = make([]bool, len(n.kids))
	}
	for i, k := range n.kids {
		if !join || !allDigits(k.key) {
			k.command(f, path+" "+shell(k.key))
			continue
		}
		if done[i] {
			continue
		}
		keys := k.key
		for j := i + 1; j < len(n.kids); j++ {
			if !done[j] && allDigits(n.kids[j].key) && same(k, n.kids[j]) {
				done[j] = true
				keys += "," + n.kids[j].key
			}
		}
		k.command(f, path+" "+keys)
	}
}

// same reports whether two nodes hold the same under different keys.
func same(a, b *node) bool {
	if a.form != b.form || a.text != b.text || len(a.kids) != len(b.kids) {
		return false
	}
	for i := range a.kids {
		if a.kids[i].key != b.kids[i].key || !same(a.kids[i], b.kids[i]) {
			return false
		}
	}
	return true
}

// shell is a word of a command. Limits refuses what a shell cannot carry.
func shell(s string) string {
	q, err := emit.Shell(s)
	if err != nil {
		return "''"
	}
	return q
}
