package lang

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// file is the reduced form of one file: rows with numbers of their own, made
// without looking at any other file. Only expressions that need others to be
// evaluated are kept as trees.
type file struct {
	name    string
	id      source.FileID
	src     []byte
	part    place // of src that is read: all of it but in packs
	json    bool
	broken  bool // does not parse
	foreign bool // is in an edition of the language that is not known
	tables
	decls   []decl
	attrs   []attr
	refs    []span32 // ranges of steps; what is written alike has one
	refNum  map[string]uint32
	steps   []step
	exprs   []expr
	progs   []prog
	named   map[mention]bool // by expressions
	ignores []Ignore
	formers []former
	outside []misplaced
	beside  diag.List // what tiers write beside their `link` blocks
	diags   diag.List
	bound   diag.Bound // of diags
	shift   *shift
}

// decl is a written block. Blocks inside it follow it, up to end.
type decl struct {
	kind   schema.Kind
	of     schema.Kind // whose attributes it takes: of except and defaults
	flags  declFlags
	label  Str // the last label; 0 if none
	first  Str // the first of two labels
	head   Str
	at     place // from its word to the brace
	labelP place
	parent int32 // -1 at the top
	end    int32 // after the last block inside it
	attrs  span32
}

type declFlags uint8

const (
	hasForEach declFlags = 1 << iota
	hasEnabled
	hasName
	hasRange   // its label is a range
	hasDynamic // an attribute is not a plain value
)

// attr is a written attribute of a block. Its value is final, or refers to the
// file's refs and exprs. There are millions, so that nothing is left between the
// fields.
type attr struct {
	n    int64 // of its Value; of valExpr the index+1 in exprs
	at   place
	num  schema.Attr
	kind ValueKind
	def  attrDef
	bad  bool // a diagnostic was given already
}

func (a *attr) set(v Value) { a.kind, a.n = v.Kind, v.N }

// value is absent where an expression was written.
func (a *attr) value() Value {
	if a.kind == valExpr {
		return Value{}
	}
	return Value{a.kind, a.n}
}

// expr is the index+1 in exprs; 0: value.
func (a *attr) expr() int32 {
	if a.kind == valExpr {
		return int32(a.n)
	}
	return 0
}

// attrDef finds the definition of an attribute. It is no pointer: there are
// millions of rows, and the collector does not look into rows without any.
type attrDef struct {
	kind schema.Kind // None: one of those that blocks of any kind take
	ix   uint8
}

var everyDef = [...]*schema.AttrDef{&forEachDef, &enabledDef, &adminFormer}

func (a attrDef) of() *schema.AttrDef {
	if a.kind == schema.None {
		return everyDef[a.ix]
	}
	return &schema.Def(a.kind).Attrs[a.ix]
}

// defOf is the number of a definition that a block takes.
func defOf(d *decl, def *schema.AttrDef) attrDef {
	for _, k := range [...]schema.Kind{d.kind, d.of} {
		attrs := schema.Def(k).Attrs
		for i := range attrs {
			if &attrs[i] == def {
				return attrDef{k, uint8(i)}
			}
		}
	}
	for i, e := range everyDef {
		if e == def {
			return attrDef{schema.None, uint8(i)}
		}
	}
	return attrDef{}
}

// step is one part of a written reference.
type step struct {
	text  Str
	index bool  // in brackets
	at    place // from where the reference starts
}

// refValue is a reference: one of the file's, and where it is written.
func refValue(start, ref uint32) Value {
	return Value{valRef, int64(uint64(start)<<32 | uint64(ref))}
}

func (v Value) ref() (start, ref uint32) { return uint32(uint64(v.N) >> 32), uint32(v.N) }

// deps says what an expression cannot be evaluated without.
type deps uint8

const (
	needsEach deps = 1 << iota
	needsSelf
	needsMember
	needsFuncs
	needsLeaf
	needsSpine
	needsCore
	needsTier = needsLeaf | needsSpine | needsCore
)

// expr is an expression kept as a tree, rewritten so that references are
// resolved by this package.
type expr struct {
	tree hclsyntax.Expression
	deps deps
	at   place
}

// prog is a block of the language itself: variable, locals, output, module,
// check.
type prog struct {
	kind    schema.Kind
	decl    int32
	name    string
	args    []arg
	asserts []assert
}

// arg is a named expression of such a block.
type arg struct {
	name string
	expr int32 // index+1 in exprs
	at   place // of the value
	nmAt place
}

// assert is a condition with its message: of a validation or a check.
type assert struct {
	cond, msg int32 // index+1 in exprs
	at        place
}

func (p *prog) arg(name string) *arg {
	for i := range p.args {
		if p.args[i].name == name {
			return &p.args[i]
		}
	}
	return nil
}

// isProg reports whether a kind of block says something about the language and
// not about the fabric.
func isProg(k schema.Kind) bool {
	switch k {
	case schema.Variable, schema.Locals, schema.Output, schema.Module, schema.Check:
		return true
	}
	return false
}
