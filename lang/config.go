// Package lang turns files in the rocec language into a Config: every block
// instance with its values evaluated, typed, in canonical units, and with the
// span each was written at. It resolves variables, locals, modules, for_each,
// label ranges and references; it knows HCL and cty, and nothing below it
// does. It does not know what a fabric is: names of ports, addresses and the
// order of precedence are the business of compiler/resolve.
//
// Files are parsed one by one, in parallel; each is reduced to rows with
// file-local numbers and dropped, so that a fabric written out block by block
// costs little more than parsing it.
package lang

import (
	"strings"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

type (
	// BlockID is the index of a block instance in Config.Blocks. 0 = none.
	BlockID uint32
	// DeclID is the index of a written block in Config.Decls. 0 = none.
	DeclID uint32
	// Str is an interned string of a Config. 0 = "".
	Str uint32
)

// Config is the evaluated configuration of a fabric. It is immutable.
type Config struct {
	Files  *source.Files
	Blocks []Block   // index = BlockID; the children of a block are contiguous
	Attrs  []Attr    // owned by blocks as ranges; instances of one range share theirs
	Decls  []Decl    // index = DeclID
	Spans  []Span    // owned by decls as ranges
	Lists  [][]Value // of List values
	Maps   [][]Pair  // of Map and Object values; an object's keys are attribute numbers
	Ratios []Ratio

	Top     []BlockID   // blocks at the top of files, in the order of files and lines
	Checks  []Check     // conditions, evaluated after compile
	Cables  []CableList // of cabling blocks, in the order of Top
	Routes  []RouteList // of routing blocks that have a file and are by table, in the order of Top
	Ignores []Ignore    // comments that silence rules: data that rules see
	Inputs  []Input     // variables from outside, by digest only
	// SecretFiles are files of values that set a variable which is declared sensitive.
	SecretFiles []source.FileID
	Outputs     []OutputVal // of the root module, rendered
	Former      diag.List   // words of earlier editions: warnings that carry their edits
	Unused      []Unused    // what is declared and never named, in the order of modules and files
	Misplaced   []Misplaced // what was seen and stands among what is wanted, in the same order
	strings     []string
	modules     []string // module address prefixes, index = Decl.Module
	numbers     *strTable
	nulls       map[declAttr]bool   // attributes that are null in some instance of a decl
	pairs       map[BlockID][]Value // cables of tiers that depend on the switch below: index = its index
	late        *loader             // what conditions and connections are evaluated with; nil if there are none
	insts       []instID            // by BlockID, what it was while it was evaluated; nil without connections
	variables   []string            // of the root, by name
	places      []eachPlaces        // of for_each at the top of files
}

// Block is one instance of a written block. Parent and children are rows of
// the same table; a range in a label makes one instance for each member.
type Block struct {
	Kind   schema.Kind
	Name   Str     // device, port, class...: the label, key, member or `name`
	Key    Str     // for_each key, or the member's varying part; 0 if neither
	Label  Str     // the last label as written
	Parent BlockID // 0 at the top
	Decl   DeclID
	Index  uint32 // among the members of its range or for_each, from 0
	attrs  span32 // range of Config.Attrs
	kids   span32 // range of Config.Blocks
}

type span32 struct{ first, n uint32 }

// Attr is one written attribute of a block. It holds its value in parts, which takes
// 16 bytes in place of 24, of which a large fabric has three million.
type Attr struct {
	Num  schema.Attr
	kind ValueKind
	n    int64
}

// Val is the value.
func (a Attr) Val() Value { return Value{a.kind, a.n} }

// ValueKind is the form of a Value.
type ValueKind uint8

// Forms of values.
const (
	Absent  ValueKind = iota // not written, or null
	Int                      // N: number in the canonical unit of its type, or bool as 0 and 1
	Text                     // N: Str
	Word                     // N: Str; a plain word a type accepts besides: "auto", "off", "keep"
	Ratio_                   // N: index in Config.Ratios
	Handle                   // N: BlockID of what is referred to
	List                     // N: index in Config.Lists
	Map                      // N: index in Config.Maps
	Object                   // N: index in Config.Maps; keys are attribute numbers as Int
	Percent                  // N: percent, where a type takes a speed or a percent
)

// Value is a typed value in canonical form.
type Value struct {
	Kind ValueKind
	N    int64
}

// Pair is one entry of a map or object.
type Pair struct{ Key, Val Value }

// Ratio is an exact decimal or fraction.
type Ratio struct{ Num, Den int64 }

// Decl is one block as written: all instances that came of it share it.
type Decl struct {
	Kind   schema.Kind
	Span   source.Span // from the block's word to its opening brace
	Parent DeclID
	Module uint32 // index of the module instance's address prefix; 0 = root
	Head   Str    // as written: `port "Ethernet[0-3]"`
	First  Str    // the first of two labels: the kind of a topology; 0 elsewhere
	spans  span32
}

// CableList is one cabling block with the rows of its files. Names are as the list has them, but for `rename`, which is applied.
type CableList struct {
	Name   Str
	Block  BlockID
	Decl   DeclID
	Define bool          // its rows are links; else they are compared
	Format string        // "netbox", "csv", "dot", "lldp"
	File   source.FileID // the first of its files
	Rows   []CableRow    // in the order of files and lines

	Renames []Rename // in the order of the names of the list
}

// Rename is one entry of `rename`.
type Rename struct {
	From, To Str
	Used     bool // a row has the name
}

// LLDP reports whether a list is of captures: each row is what device A hears.
func (l *CableList) LLDP() bool { return l.Format == "lldp" }

// CableRow is one cable of a list. A side that a list does not know (a capture of one end knows both) is never empty; media may be.
type CableRow struct {
	ADevice, APort, BDevice, BPort Str
	Media, Label                   Str // 0 if the list does not say; Label of a capture: what port B calls itself besides
	LengthMm                       uint32
	HasLength                      bool
	Cut                            bool        // leads no further than to B, the port of a panel
	Panels                         uint8       // patch panels on the way; the lengths of all pieces are added
	OffMm                          uint16      // by how much a length that was rounded in feet, inches or miles may differ
	Span                           source.Span // the row
	start                          [6]uint32
	length                         [6]uint16
}

// Cell is one cell of a CableRow.
type Cell uint8

// The cells of a row.
const (
	CellADevice Cell = iota
	CellAPort
	CellBDevice
	CellBPort
	CellMedia
	CellLength
)

// Cell is where a cell of a row stands, the whole row if it has no place of its own.
func (r *CableRow) Cell(c Cell) source.Span {
	if r.length[c] == 0 {
		return r.Span
	}
	return source.Span{File: r.Span.File, Start: r.start[c], Len: uint32(r.length[c])}
}

// RouteList is the routing table of one routing block.
type RouteList struct {
	Block BlockID
	Decl  DeclID
	File  source.FileID
	Rows  []RouteRow // in the order of lines
}

// RouteRow is one row of a routing table: at a switch, packets from a neighbour
// to a destination go to the next device. Names are as the file has them.
type RouteRow struct {
	At, From, To, Next Str         // From 0: from wherever
	Priority           int8        // the new priority, -1 = the one a packet has
	Span               source.Span // the row
	start              [4]uint32
	length             [4]uint16
}

// RouteCell is one cell of a RouteRow.
type RouteCell uint8

// The cells of a row that hold names.
const (
	CellAt RouteCell = iota
	CellFrom
	CellTo
	CellNext
)

// Cell is where a cell of a row stands, the whole row if it has no place of its own.
func (r *RouteRow) Cell(c RouteCell) source.Span {
	if r.length[c] == 0 {
		return r.Span
	}
	return source.Span{File: r.Span.File, Start: r.start[c], Len: uint32(r.length[c])}
}

// Span is where one attribute of a Decl was written. Where its value comes from is
// looked up when it is asked for.
type Span struct {
	Num   schema.Attr
	Start uint32 // of the value, in the Decl's file
	Len   uint32
}

// Check is one assert of a check block, kept until the fabric is compiled.
type Check struct {
	Name    string
	Decl    DeclID
	Span    source.Span // of the condition
	Message string
	eval    checkExpr
}

// Ignore is one comment `rocec-ignore: rule # reason`, or its file form.
type Ignore struct {
	Rules  []string
	Names  []source.Span // of each of Rules, where it is written; nil in JSON
	Reason string
	At     source.Span // of the comment
	Covers source.Span // what it silences: a line, a block or a file
}

// Input is a variable given from outside the files.
type Input struct {
	Name   string
	From   string // "ROCEC_VAR_x", "--var", a file's name
	Digest source.Digest
	Secret bool // it is declared sensitive: the digest would tell it to whoever guesses
}

// OutputVal is one output of the root module as text (JSON).
type OutputVal struct {
	Name      string
	JSON      string
	Sensitive bool
}

// String returns the text of an interned string.
func (c *Config) String(s Str) string { return c.strings[s] }

// Intern returns the number of a string that is already in the table.
func (c *Config) Intern(s string) (Str, bool) { return c.numbers.lookup(s) }

// Block returns a block row; id must not be 0.
func (c *Config) Block(id BlockID) *Block { return &c.Blocks[id] }

// Kids returns the IDs of the children of a block as a range [first, end).
func (c *Config) Kids(id BlockID) (first, end BlockID) {
	k := c.Blocks[id].kids
	return BlockID(k.first), BlockID(k.first + k.n)
}

// AttrsOf returns the written attributes of a block, ascending by number.
func (c *Config) AttrsOf(id BlockID) []Attr {
	a := c.Blocks[id].attrs
	return c.Attrs[a.first : a.first+a.n]
}

// Attr returns one attribute of a block, Absent if it is not written.
func (c *Config) Attr(id BlockID, n schema.Attr) Value {
	for _, a := range c.AttrsOf(id) {
		if a.Num == n {
			return a.Val()
		}
	}
	return Value{}
}

// TopologyKind is the kind of a topology block: "rail_optimized", "leaf_spine", "clos3", "dual_tor", "ring" or "full_mesh".
func (c *Config) TopologyKind(id BlockID) string { return c.strings[c.Decls[c.Blocks[id].Decl].First] }

// CableTo is the `cable` of a spine or core for its links to one switch of the tier below: by its index in that tier, for a core of a clos3 with
// pods by the index of the pod. It is the attribute of the block unless that depends on the switch below.
func (c *Config) CableTo(id BlockID, below int) Value {
	if vs, ok := c.pairs[id]; ok {
		if below < 0 || below >= len(vs) {
			return Value{}
		}
		return vs[below]
	}
	return c.Attr(id, schema.ACable)
}

// Text is the text of a Text or Word value, "" of others.
func (c *Config) Text(v Value) string {
	if v.Kind == Text || v.Kind == Word {
		return c.strings[v.N]
	}
	return ""
}

// IsWord reports whether a value is one of the plain words.
func (c *Config) IsWord(v Value, word string) bool { return v.Kind == Word && c.strings[v.N] == word }

// List returns the elements of a List; a single value is a list of one.
func (c *Config) List(v Value) []Value {
	switch v.Kind {
	case List:
		return c.Lists[v.N]
	case Absent:
		return nil
	}
	return []Value{v}
}

// Pairs returns the entries of a Map or Object, in the order written.
func (c *Config) Pairs(v Value) []Pair {
	if v.Kind == Map || v.Kind == Object {
		return c.Maps[v.N]
	}
	return nil
}

// Field returns a field of an Object, Absent if it is not written.
func (c *Config) Field(v Value, n schema.Attr) Value {
	if v.Kind != Object {
		return Value{}
	}
	for _, p := range c.Maps[v.N] {
		if p.Key.N == int64(n) {
			return p.Val
		}
	}
	return Value{}
}

// Fraction returns the ratio of a Ratio_ value, or N/1 of an Int.
func (c *Config) Fraction(v Value) Ratio {
	if v.Kind == Ratio_ {
		return c.Ratios[v.N]
	}
	return Ratio{v.N, 1}
}

// SpanOf is where an attribute of a decl was written, zero if it was not.
func (c *Config) SpanOf(d DeclID, n schema.Attr) source.Span {
	decl := &c.Decls[d]
	var all source.Span // of `observed` that is an expression
	for _, s := range c.SpansOf(d) {
		if s.Num != n && s.Num != schema.AObserved {
			continue
		}
		at := source.Span{File: decl.Span.File, Start: s.Start, Len: s.Len}
		if s.Num == n {
			return at
		}
		all = at
	}
	if !all.IsZero() && schema.Field(c.kindOf(d), n.Name()) == nil {
		return source.Span{}
	}
	return all
}

// kindOf is the kind of block whose attributes a decl has: that of what an except stands in, and that of defaults.
func (c *Config) kindOf(d DeclID) schema.Kind {
	switch decl := &c.Decls[d]; decl.Kind {
	case schema.Except:
		return c.kindOf(decl.Parent)
	case schema.Defaults:
		return defaultsOf(strings.Trim(strings.TrimPrefix(c.strings[decl.Head], decl.Kind.String()), " \t\""))
	default:
		return decl.Kind
	}
}

// SometimesNull reports whether an attribute of a decl is an expression that is null in
// some of its instances: there it is as if it were not written.
func (c *Config) SometimesNull(d DeclID, n schema.Attr) bool { return c.nulls[declAttr{d, n}] }

// declAttr is an attribute of a decl.
type declAttr struct {
	decl DeclID
	num  schema.Attr
}

func (c *Config) noteNull(d DeclID, n schema.Attr) {
	key := declAttr{d, n}
	if c.nulls == nil {
		c.nulls = map[declAttr]bool{}
	}
	if !c.nulls[key] {
		c.nulls[key] = true
	}
}

// SpansOf lists the attributes written in a decl, with their places.
func (c *Config) SpansOf(d DeclID) []Span {
	r := c.Decls[d].spans
	return c.Spans[r.first : r.first+r.n]
}

// Address is the address of a block instance as commands take it:
// `module.pod1.switch.tor.port["Ethernet0"]`.
func (c *Config) Address(id BlockID) string { return c.address(id) }

// Strings is the string table: index = Str. It must not be changed.
func (c *Config) Strings() []string { return c.strings }

// ModulePrefix is the address prefix of the module that a decl stands in:
// "module.pod1.", "" for the root.
func (c *Config) ModulePrefix(d DeclID) string {
	if n := c.Decls[d].Module; int(n) < len(c.modules) {
		return c.modules[n]
	}
	return ""
}

// Members expands a range of names: `Ethernet[0-8:4]` is Ethernet0, Ethernet4
// and Ethernet8. What is not a range stands for itself.
func Members(text string) ([]string, error) {
	r, err := funcs.ParseRange(text)
	if err != nil {
		return nil, err
	}
	return r.Names()
}
