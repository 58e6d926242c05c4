package lang

import (
	"slices"

	"github.com/rocec/rocec/lang/schema"
)

// tables holds what values point to: strings, lists, maps and ratios. Each file
// fills tables of its own while it is reduced, and they are appended to the
// Config's afterwards.
type tables struct {
	*strTable
	lists  [][]Value
	maps   [][]Pair
	ratios []Ratio
	values []Value // chunk that lists are cut from
	pairs  []Pair  // chunk that maps are cut from
}

func newTables() tables { return tablesFor(0) }

// bytesApart is how far a file goes from one new text to the next, as a guess: a
// block.
const bytesApart = 128

// tablesFor is newTables with room for the texts of a file of so many bytes.
func tablesFor(bytes int) tables { return tables{strTable: newStrTable(bytes / bytesApart)} }

func (t *tables) text(s string) Value { return Value{Text, int64(t.str(s))} }
func (t *tables) word(s string) Value { return Value{Word, int64(t.str(s))} }

func (t *tables) ratio(num, den int64) Value {
	t.ratios = append(t.ratios, Ratio{num, den})
	return Value{Ratio_, int64(len(t.ratios) - 1)}
}

const chunkLen = 1024

// newValues returns a slice of n values out of the current chunk.
func (t *tables) newValues(n int) []Value {
	if n > chunkLen/4 {
		return make([]Value, n)
	}
	if len(t.values)+n > cap(t.values) {
		t.values = make([]Value, 0, chunkLen)
	}
	from := len(t.values)
	t.values = t.values[:from+n]
	return t.values[from : from+n : from+n]
}

func (t *tables) newPairs(n int) []Pair {
	if n > chunkLen/4 {
		return make([]Pair, n)
	}
	if len(t.pairs)+n > cap(t.pairs) {
		t.pairs = make([]Pair, 0, chunkLen)
	}
	from := len(t.pairs)
	t.pairs = t.pairs[:from+n]
	return t.pairs[from : from+n : from+n]
}

func (t *tables) list(vs []Value) Value {
	t.lists = append(t.lists, vs)
	return Value{List, int64(len(t.lists) - 1)}
}

func (t *tables) pairsOf(kind ValueKind, ps []Pair) Value {
	t.maps = append(t.maps, ps)
	return Value{kind, int64(len(t.maps) - 1)}
}

// Forms of values that exist only between reducing a file and evaluating it.
const (
	valExpr     ValueKind = 200 + iota // N: index+1 of an expression of the file; of an attr only
	valRef                             // N: as of refValue
	valPendList                        // N: list with references in it
	valPendMap                         // N: map with references in it
	valPendObj                         // N: object with references in it
)

func pending(k ValueKind) bool { return k >= valRef }

// shift adds the places at which a file's tables were appended to another's.
type shift struct {
	strs                []Str
	lists, maps, ratios int64
}

func (s *shift) value(v Value) Value {
	switch v.Kind {
	case Text, Word:
		v.N = int64(s.strs[v.N])
	case List, valPendList:
		v.N += s.lists
	case Map, Object, valPendMap, valPendObj:
		v.N += s.maps
	case Ratio_:
		v.N += s.ratios
	}
	return v
}

// number gives the rows of a file's tables their numbers in these, and returns
// them. The rows themselves are put there later.
func (t *tables) number(f *tables) *shift {
	s := &shift{
		strs:  make([]Str, len(f.strs)),
		lists: int64(len(t.lists)), maps: int64(len(t.maps)), ratios: int64(len(t.ratios)),
	}
	sums := f.sums()
	for i := 1; i < len(f.strs); i++ {
		s.strs[i] = t.strOf(f.strs[i], sums[i])
	}
	t.lists = slices.Grow(t.lists, len(f.lists))[:len(t.lists)+len(f.lists)]
	t.maps = slices.Grow(t.maps, len(f.maps))[:len(t.maps)+len(f.maps)]
	t.ratios = append(t.ratios, f.ratios...)
	return s
}

// grow makes room for n more rows, as slices.Grow does. What is large is not
// cleared row by row, as memory from the system is clear already, and has room for
// the few rows of capability data that come after those of the files: they would
// have all of it copied.
func grow[T any](rows []T, n int) []T {
	if n < 1<<16 || cap(rows)-len(rows) >= n {
		return slices.Grow(rows, n)
	}
	more := make([]T, len(rows)+n+n/32)
	copy(more, rows)
	return more[:len(rows)]
}

// touched are new rows of up to 32 bytes that will be read before they are written. The
// system gives a page of zeros to who reads, and another to who writes then, for which it
// stops all cores; so each page is written to at once.
func touched[T any](rows []T) []T {
	var zero T
	for i := 0; i < len(rows); i += 4096 / 32 {
		rows[i] = zero
	}
	return rows
}

// put puts the rows of a file's tables in their places. Those of several files may
// be put there at once.
func (t *tables) put(f *tables, s *shift) {
	for _, l := range f.lists {
		for i := range l {
			l[i] = s.value(l[i])
		}
	}
	for _, m := range f.maps {
		for i := range m {
			m[i].Key, m[i].Val = s.value(m[i].Key), s.value(m[i].Val)
		}
	}
	copy(t.lists[s.lists:], f.lists)
	copy(t.maps[s.maps:], f.maps)
}

// fieldKey is the key of an object's field.
func fieldKey(n schema.Attr) Value { return Value{Int, int64(n)} }
