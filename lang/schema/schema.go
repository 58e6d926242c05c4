// Package schema is the shape of the language: which blocks there are, which
// attributes and blocks each takes, of which type, and what each means. The
// decoder walks these tables, the documentation is printed from them, and
// unknown names are compared with them. It holds data only.
package schema

import (
	"slices"
	"sync"
)

// Kind is a kind of block.
type Kind uint8

// Kinds of blocks. The zero value is no block.
const (
	None Kind = iota
	Rocec
	Variable
	Locals
	Output
	Module
	Defaults
	Connection
	QoS
	Class
	Segment
	Switch
	Port
	LAG
	Interface
	Node
	NIC
	Bond
	MLAG
	Link
	Check
	Target
	Except
	Override
	SwitchModel
	NICModel
	ASIC
	Media
	PCIe
	Topology
	Leaf
	Spine
	Core
	Cabling
	Routing
	Rollout
	Wave
	Analysis
	GPU
	KindCount
)

// Attr is the number of an attribute. One name has one number, in whatever
// block it stands, so that layers of blocks can be compared attribute by
// attribute.
type Attr uint16

// Base is the form of a value.
type Base uint8

// Forms of values. The comment gives the canonical form in lang.Value.
const (
	String  Base = iota // Str
	Bool                // Int 0 or 1
	Int                 // Int within Min..Max
	Percent             // Int 0..100
	Speed               // Int, Mb/s
	Length              // Int, mm
	Time                // Int, microseconds
	Bytes               // Int, bytes
	DSCP                // Int 0..63, by number or name
	Alpha               // Ratio
	Cap                 // Int Mb/s, or Percent kind
	Range               // List of Str: a string or list of strings, ranges expanded
	CIDR                // Str, netip.Prefix form with host bits kept
	Addr                // Str, netip.Addr form
	Date                // Str, YYYY-MM-DD
	Ref                 // Block; one of Refs
	Object              // Object with Fields
	Map                 // Map of Key to Elem
	Number              // Ratio: any decimal number
	Any                 // not kept; expressions only
	Scalar              // Str: a string, number or bool in canonical text
	Delay               // Int, nanoseconds
	Host                // Str, a host name or an IP address
	EnvVar              // Str, the name of an environment variable; messages never show it, as somebody may write the secret itself
	HostKey             // Str, "SHA256:..." or "ssh-ed25519 AAAA..."
)

// Type is the type of an attribute.
type Type struct {
	Base     Base
	Min, Max int64             // of Int; Max 0 means no limit
	Words    []string          // plain words accepted besides: "auto", "off", "keep"
	Was      map[string]string // words of earlier editions, and what is written now: another word, or "[]"
	Enum     []string          // of String: the only values
	Refs     []Kind            // of Ref
	Many     bool              // a list of these; a single value counts as a list of one
	Pair     bool              // of a list of Ref: the elements are single references, for which no family stands
	Key      *Type             // of Map; of another base: a map of Key to Elem is taken too
	Elem     *Type
	Fields   []AttrDef
}

// Element is the type of the elements where a list is written for the attribute; false where none may be. Ranges are merged, and what
// takes anything takes lists of it. An element of a list of references may be a list itself, as all blocks of a for_each and of a tier
// are: `select = [node.s, node.c]`. Lists that such elements leave are joined.
func (t *Type) Element() (Type, bool) {
	one := *t
	one.Many = t.Joins() && t.Base == Ref
	return one, t.Many || t.Base == Range || t.Base == Any
}

// Joins reports whether elements of a list that are lists are merged into it.
func (t *Type) Joins() bool { return t.Base == Range || t.Base == Ref && t.Many && !t.Pair }

// AttrDef is one attribute of a block, or one field of an object.
type AttrDef struct {
	Num      Attr
	Type     Type
	Required bool
	Secret   bool     // takes references to secrets only; nothing takes a sensitive value
	Observed bool     // a field of the block's `observed`: what was seen, never what is written to a device
	Former   []string // names that it had in earlier editions of the language
	Doc      string
}

// Label is one label of a block.
type Label struct {
	Name string
	Enum []string // the only values
}

// BlockDef is one kind of block.
type BlockDef struct {
	Kind   Kind
	Word   string
	Labels []Label
	Ranged bool // the last label may be a range
	Each   bool // takes for_each and enabled
	Free   bool // attributes of any name: locals, module inputs
	Attrs  []AttrDef
	Blocks []Kind
	Doc    string
}

// Def returns the definition of a kind of block.
func Def(k Kind) *BlockDef { return &blocks[k] }

// ByWord returns the kind of a block word among those allowed inside parent
// (None: at the top of a file), or None.
func ByWord(parent Kind, word string) Kind {
	for _, k := range Inside(parent) {
		if blocks[k].Word == word {
			return k
		}
	}
	return None
}

// Inside lists the kinds allowed inside a block, or at the top of a file.
func Inside(parent Kind) []Kind {
	if parent == None {
		return top
	}
	return blocks[parent].Blocks
}

// Lookup returns the definition of a named attribute of a kind, or nil.
func Lookup(k Kind, name string) *AttrDef { return index[k]()[name] }

// LookupFormer is Lookup that finds an attribute by a name of earlier editions too.
func LookupFormer(k Kind, name string) *AttrDef {
	if ad := Lookup(k, name); ad != nil {
		return ad
	}
	return Named(blocks[k].Attrs, name)
}

// Named returns the one of some attributes, or fields of an object, that has a name now or had it in an earlier edition, or nil.
func Named(defs []AttrDef, name string) *AttrDef {
	var former *AttrDef
	for i := range defs {
		if names[defs[i].Num] == name {
			return &defs[i]
		}
		if slices.Contains(defs[i].Former, name) {
			former = &defs[i]
		}
	}
	return former
}

// Name is the word of an attribute.
func (a Attr) Name() string { return names[a] }

// Tier reports whether a kind is a tier of a topology, whose instances are switches.
func (k Kind) Tier() bool { return k == Leaf || k == Spine || k == Core }

// Device reports whether the instances of a kind are devices: switches, the generated ones among them, and nodes.
func (k Kind) Device() bool { return k == Switch || k == Node || k.Tier() }

// String is the word of a kind.
func (k Kind) String() string { return blocks[k].Word }

// index is made for a kind when a block of it is met: a fabric has few of them.
var index = func() (ix [KindCount]func() map[string]*AttrDef) {
	for k := range ix {
		ix[k] = sync.OnceValue(func() map[string]*AttrDef {
			m := make(map[string]*AttrDef, len(blocks[k].Attrs))
			for i := range blocks[k].Attrs {
				m[names[blocks[k].Attrs[i].Num]] = &blocks[k].Attrs[i]
			}
			return m
		})
	}
	return ix
}()

// Later lists block words that the language foresees and this version does not
// have, with what they will do. They are refused plainly.
var Later = map[string]string{
	"moved":  "renames without replacement",
	"import": "imports of running configurations",
}
