package lang

import "hash/maphash"

// strTable numbers texts in the order in which they come, after "", which has 0. A
// map would do, but holds each text a second time for the collector to look at, and
// hashes those of a file again when they get their numbers in the Config: a large
// fabric has a million, most of which no other block mentions.
type strTable struct {
	strs  []string
	slots []strSlot // a power of two, tried one after the other from the sum on; half are free
}

// strSlot is a text's number, and its sum, by which others are told from it without a
// look at them. The zero value is free.
type strSlot struct {
	sum uint32
	str Str
}

// strSeed lets nobody write texts that all fall on one place. Numbers do not depend
// on it.
var strSeed = maphash.MakeSeed()

func strSum(s string) uint32 { return uint32(maphash.String(strSeed, s)) }

// newStrTable has room for n texts.
func newStrTable(n int) *strTable {
	t := &strTable{strs: make([]string, 1, 64+n)}
	t.expect(n)
	return t
}

// expect makes room for n texts besides those that are there.
func (t *strTable) expect(n int) {
	n += len(t.strs)
	size := max(len(t.slots), 16)
	for size < 2*n {
		size *= 2
	}
	if size > len(t.slots) {
		sums := t.sums()
		t.slots = touched(make([]strSlot, size))
		for i := 1; i < len(sums); i++ { // in the order of numbers, for cut
			t.slots[t.free(sums[i])] = strSlot{sums[i], Str(i)}
		}
	}
	t.strs = grow(t.strs, n-len(t.strs))
}

// sums are those of the texts, by number; "" has none.
func (t *strTable) sums() []uint32 {
	sums := make([]uint32, len(t.strs))
	for _, s := range t.slots {
		sums[s.str] = s.sum
	}
	return sums
}

func (t *strTable) free(sum uint32) int {
	at := int(sum) & (len(t.slots) - 1)
	for t.slots[at].str != 0 {
		at = (at + 1) & (len(t.slots) - 1)
	}
	return at
}

// find is the number of a text with a sum; false: it was never entered.
func find[T string | []byte](t *strTable, text T, sum uint32) (Str, bool) {
	if len(text) == 0 {
		return 0, true
	}
	for at := int(sum) & (len(t.slots) - 1); t.slots[at].str != 0; at = (at + 1) & (len(t.slots) - 1) {
		if s := t.slots[at]; s.sum == sum && t.strs[s.str] == string(text) {
			return s.str, true
		}
	}
	return 0, false
}

// lookup is the number of a text; false: it was never entered.
func (t *strTable) lookup(s string) (Str, bool) { return find(t, s, strSum(s)) }

// str is the number of a text, which is entered if need be.
func (t *strTable) str(s string) Str { return t.strOf(s, strSum(s)) }

func (t *strTable) strOf(s string, sum uint32) Str {
	if n, ok := find(t, s, sum); ok {
		return n
	}
	return t.enter(s, sum)
}

// bytesStr is str without allocating when the text is there.
func (t *strTable) bytesStr(b []byte) Str {
	sum := uint32(maphash.Bytes(strSeed, b))
	if n, ok := find(t, b, sum); ok {
		return n
	}
	return t.enter(string(b), sum)
}

func (t *strTable) enter(s string, sum uint32) Str {
	n := Str(len(t.strs))
	if 2*len(t.strs) >= len(t.slots) {
		t.expect(len(t.strs))
	}
	t.slots[t.free(sum)] = strSlot{sum, n}
	t.strs = append(t.strs, s)
	return n
}

// cut takes out all texts from a number on. No text that stays was put behind one of
// them: it came before.
func (t *strTable) cut(from int) {
	for n := from; n < len(t.strs); n++ {
		at := int(strSum(t.strs[n])) & (len(t.slots) - 1)
		for t.slots[at].str != Str(n) {
			at = (at + 1) & (len(t.slots) - 1)
		}
		t.slots[at] = strSlot{}
	}
	t.strs = t.strs[:from]
}
