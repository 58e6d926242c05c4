package paths

import (
	"cmp"
	"slices"
)

// maxTries bounds the search for symmetries, in looks at an edge of the folded
// net. What is not found in it stays apart: that costs time later, and nothing else.
const maxTries = 50_000_000

// symmetries joins the kinds that an automorphism of the folded net exchanges.
// Candidates are found by refining colours until neighbours tell no more apart,
// and each is then verified link by link, so that nothing rests on the colours.
// One that is verified joins all that it moves, not only what it was looked for:
// a fabric of pods and planes needs about as many as it has pods and planes. It
// returns the looks that it took.
func (k *failureKinds) symmetries(n *Net, d *Down) int64 {
	folded, _, size, _ := fold(n, d, false)
	s := newSymmetry(folded, size)
	stable := slices.Clone(s.one.color)
	at := make([][]int32, len(k.first)) // kinds of links by the classes they join
	for i, l := range k.links {
		at[l.a] = append(at[l.a], int32(i))
		if l.b != l.a {
			at[l.b] = append(at[l.b], int32(i))
		}
	}
	byColor := map[uint64]int32{}
	for v := range int32(folded.Switches) {
		r, ok := byColor[stable[v]]
		if !ok {
			byColor[stable[v]] = v
			continue
		}
		if find(k.switches, r) != find(k.switches, v) {
			k.exchange(s, at, [][2]int32{{r, v}})
		}
	}
	type edgeColor struct {
		a, b uint64
		kind uint32
	}
	edges := map[edgeColor]int32{}
	for i, l := range k.links {
		a, b := l.a, l.b
		if cmp.Compare(stable[a], stable[b]) > 0 {
			a, b = b, a
		}
		c := edgeColor{stable[a], stable[b], l.kind}
		r, ok := edges[c]
		if !ok {
			edges[c] = int32(i)
			continue
		}
		if find(k.edges, r) != find(k.edges, int32(i)) {
			x, y := k.links[r].a, k.links[r].b
			if stable[x] != stable[a] {
				x, y = y, x
			}
			if !k.exchange(s, at, [][2]int32{{x, a}, {y, b}}) && stable[a] == stable[b] {
				k.exchange(s, at, [][2]int32{{x, b}, {y, a}})
			}
		}
	}
	return maxTries - s.left
}

// exchange looks for a symmetry that takes the first of each pair to the second,
// and joins what it moves.
func (k *failureKinds) exchange(s *symmetry, at [][]int32, pairs [][2]int32) bool {
	moved := s.search(pairs)
	for _, v := range moved {
		join(k.switches, v, s.to[v])
		for _, i := range at[v] {
			l := k.links[i]
			if other, ok := k.at[k.kindOf(s.to[l.a], s.to[l.b], l.kind)]; ok {
				join(k.edges, i, other)
			}
		}
	}
	for _, v := range moved {
		s.to[v] = v
	}
	return len(moved) > 0
}

// symmetry is a folded net with what a symmetry must keep: of a switch its
// level, whether it has hosts, and how many stand behind it; of a link how many
// there are and for which priorities they have PFC.
type symmetry struct {
	c          *channels
	keep       []uint64 // what a switch is, exactly
	one, other *coloring
	to         []int32 // the candidate: each switch to itself but for those that move
	hit        []bool  // of the candidate, some switch goes there
	left       int64   // looks at an edge
}

func newSymmetry(n *Net, size []int64) *symmetry {
	s := &symmetry{c: layChannels(n, nil), keep: make([]uint64, n.Switches), to: singles(n.Switches), hit: make([]bool, n.Switches), left: maxTries}
	sink := n.sinkSet()
	for v := range s.keep {
		s.keep[v] = uint64(size[v])<<16 | uint64(n.level(Switch(v)))<<8 | flag(sink[v])
	}
	for _, v := range n.Still {
		s.keep[v] |= 2
	}
	s.one = newColoring(s.c, s.keep)
	s.one.refine(&s.left)
	s.other = s.one.settle()
	return s
}

// maxChoices bounds how many switches are fixed by choice before a candidate is
// given up.
const maxChoices = 64

// search is the switches that a symmetry moves which takes the first of each pair
// to the second, none if no such is found; where they go is in to. From two equal
// colourings, one around each side of the pairs, a candidate follows: what has its
// colour on both sides stays, and the rest of a colour is matched in order. If
// that is none, one more switch is fixed.
func (s *symmetry) search(pairs [][2]int32) []int32 {
	defer s.one.back()
	defer s.other.back()
	for choice := 0; choice < maxChoices && s.left > 0; choice++ {
		for i, p := range pairs {
			mark := mix(uint64(choice)<<32 ^ uint64(i) ^ 0x5ca1ab1e)
			s.one.mark(p[0], mark)
			s.other.mark(p[1], mark)
		}
		s.one.refine(&s.left)
		s.other.refine(&s.left)
		moved, ok := s.match()
		if ok && s.keeps(moved) {
			return moved
		}
		open := int32(-1)
		if ok {
			open = s.open(moved)
		}
		if open >= 0 {
			pairs = [][2]int32{{open, s.to[open]}}
		}
		for _, v := range moved {
			s.to[v] = v
		}
		if open < 0 {
			return nil
		}
	}
	return nil
}

// match takes each switch of one colouring to one of the same colour in the
// other, itself if it can be, and returns those that move; false where colours differ.
func (s *symmetry) match() (moved []int32, ok bool) {
	one, other := s.one, s.other
	changed := slices.Concat(one.changed, other.changed)
	slices.Sort(changed)
	changed = slices.Compact(changed)
	s.left -= int64(8 * len(changed)) // a map is slow
	free := map[uint64][]int32{}      // of the other colouring, those without a match
	for _, v := range changed {
		if c := other.color[v]; one.color[v] != c {
			free[c] = append(free[c], v)
		}
	}
	for _, v := range changed {
		c := one.color[v]
		if other.color[v] == c {
			continue
		}
		list := free[c]
		if len(list) == 0 {
			return moved, false
		}
		s.to[v], free[c] = list[0], list[1:]
		moved = append(moved, v)
	}
	return moved, true
}

// open is a switch whose colour others share, -1 if there is none. Those that
// move come first: what stays rarely stands in the way.
func (s *symmetry) open(moved []int32) int32 {
	for _, v := range moved {
		if s.one.shared(v) {
			return v
		}
	}
	for v := range int32(len(s.to)) {
		if s.one.shared(v) {
			return v
		}
	}
	return -1
}

// keeps reports whether the candidate is a symmetry. Links between switches that
// stay are kept anyway.
func (s *symmetry) keeps(moved []int32) bool {
	c := s.c
	defer func() {
		for _, v := range moved {
			s.hit[s.to[v]] = false
		}
	}()
	for _, v := range moved {
		w := s.to[v]
		if s.hit[w] || s.keep[v] != s.keep[w] || c.degree(Switch(v)) != c.degree(Switch(w)) {
			return false
		}
		s.hit[w] = true
		s.left -= int64(c.degree(Switch(v)))
		for k := c.off[v]; k < c.off[v+1]; k++ {
			if !s.has(Switch(w), Switch(s.to[c.to[k]]), c.width[k], c.kind[k]) {
				return false
			}
		}
	}
	return true
}

// has reports whether a switch has a channel to another of a width and kind.
func (s *symmetry) has(v, w Switch, width int32, kind uint32) bool {
	c := s.c
	i, _ := slices.BinarySearchFunc(c.to[c.off[v]:c.off[v+1]], w, func(a, b Switch) int { return int(a) - int(b) })
	for k := c.off[v] + int32(i); k < c.off[v+1] && c.to[k] == w; k++ {
		if c.width[k] == width && c.kind[k] == kind {
			return true
		}
	}
	return false
}
