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
// a fabric of pods and planes needs about as many as it has pods and planes.
func (k *failureKinds) symmetries(n *Net, d *Down) {
	folded, _, size, _ := fold(n, d, false)
	s := newSymmetry(folded, size)
	s.left = maxTries
	stable := s.refine(slices.Clone(s.base))
	byColor := map[uint64]int32{}
	for v := range int32(folded.Switches) {
		r, ok := byColor[stable[v]]
		if !ok {
			byColor[stable[v]] = v
			continue
		}
		if find(k.switches, r) != find(k.switches, v) {
			k.exchange(s, stable, [][2]int32{{r, v}})
		}
	}
	type edgeColor struct {
		a, b     uint64
		lossless uint8
	}
	edges := map[edgeColor]int32{}
	for i, l := range k.links {
		a, b := l.a, l.b
		if cmp.Compare(stable[a], stable[b]) > 0 {
			a, b = b, a
		}
		c := edgeColor{stable[a], stable[b], l.lossless}
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
			if !k.exchange(s, stable, [][2]int32{{x, a}, {y, b}}) && stable[a] == stable[b] {
				k.exchange(s, stable, [][2]int32{{x, b}, {y, a}})
			}
		}
	}
}

// exchange looks for a symmetry that takes the first of each pair to the second,
// and joins what it moves.
func (k *failureKinds) exchange(s *symmetry, stable []uint64, pairs [][2]int32) bool {
	to := s.search(stable, pairs)
	if to == nil {
		return false
	}
	for v, w := range to {
		join(k.switches, int32(v), w)
	}
	for i, l := range k.links {
		if other, ok := k.at[k.kindOf(to[l.a], to[l.b], l.lossless)]; ok {
			join(k.edges, int32(i), other)
		}
	}
	return true
}

// symmetry is a folded net with what a symmetry must keep: of a switch its
// level, whether it has hosts, and how many stand behind it; of a link how many
// there are and for which priorities they have PFC.
type symmetry struct {
	c    *channels
	base []uint64 // colour of each switch
	keep []uint64 // what a switch is, exactly
	left int64    // looks at an edge
}

func newSymmetry(n *Net, size []int64) *symmetry {
	s := &symmetry{c: layChannels(n, nil), base: make([]uint64, n.Switches), keep: make([]uint64, n.Switches)}
	sink := n.sinkSet()
	for v := range s.base {
		s.keep[v] = uint64(size[v])<<16 | uint64(n.level(Switch(v)))<<8 | flag(sink[v])
		s.base[v] = mix(s.keep[v])
	}
	return s
}

// refine gives switches other colours until those of one colour have neighbours
// of the same colours. The order of switches has no part in it.
func (s *symmetry) refine(color []uint64) []uint64 {
	c := s.c
	next := make([]uint64, len(color))
	for cells := distinct(color); ; {
		for v := range color {
			sum := uint64(0)
			for k := c.off[v]; k < c.off[v+1]; k++ {
				sum += mix(color[c.to[k]] ^ uint64(c.width[k])<<8 ^ uint64(c.lossless[k]))
			}
			next[v] = mix(color[v] ^ mix(sum))
		}
		s.left -= int64(len(c.to) + 8*len(color)) // a map is slow
		color, next = next, color
		more := distinct(color)
		if more == cells || s.left < 0 {
			return color
		}
		cells = more
	}
}

func distinct(color []uint64) int {
	seen := make(map[uint64]struct{}, len(color))
	for _, c := range color {
		seen[c] = struct{}{}
	}
	return len(seen)
}

// maxChoices bounds how many switches are fixed by choice before a candidate is
// given up.
const maxChoices = 64

// search is a symmetry that takes the first of each pair to the second, nil if
// none is found. From two equal colourings, one around each side of the pairs, a
// candidate follows: what has its colour on both sides stays, and the rest of a
// colour is matched in order. If that is none, one more switch is fixed.
func (s *symmetry) search(stable []uint64, pairs [][2]int32) []int32 {
	one, other := slices.Clone(stable), slices.Clone(stable)
	for choice := 0; choice < maxChoices && s.left > 0; choice++ {
		for i, p := range pairs {
			mark := mix(uint64(choice)<<32 ^ uint64(i) ^ 0x5ca1ab1e)
			one[p[0]] ^= mark
			other[p[1]] ^= mark
		}
		one, other = s.refine(one), s.refine(other)
		to, open := match(one, other)
		if to == nil {
			return nil
		}
		if s.keeps(to) {
			return to
		}
		if open < 0 {
			return nil
		}
		pairs = [][2]int32{{open, to[open]}}
	}
	return nil
}

// match takes each switch of one colouring to one of the same colour in the
// other, itself if it can be; nil where colours differ. open is a switch whose
// colour others share, -1 if there is none.
func match(one, other []uint64) (to []int32, open int32) {
	free := make(map[uint64][]int32, len(one)) // of the other colouring, those without a match
	for v, c := range other {
		if one[v] != c {
			free[c] = append(free[c], int32(v))
		}
	}
	to, open = make([]int32, len(one)), -1
	shared := make(map[uint64]bool, len(one))
	for v, c := range one {
		if again, seen := shared[c]; !again {
			shared[c] = seen
		}
		if other[v] == c {
			to[v] = int32(v)
			continue
		}
		list := free[c]
		if len(list) == 0 {
			return nil, -1
		}
		to[v], free[c] = list[0], list[1:]
	}
	// Those that move are tried first: what stays rarely stands in the way.
	for v, c := range one {
		if shared[c] && (open < 0 || to[open] == open && to[v] != int32(v)) {
			open = int32(v)
		}
	}
	return to, open
}

// keeps reports whether a map of switches is a symmetry.
func (s *symmetry) keeps(to []int32) bool {
	c := s.c
	s.left -= int64(len(c.to))
	hit := make([]bool, len(to))
	for v, w := range to {
		if hit[w] || s.keep[v] != s.keep[w] || c.degree(Switch(v)) != c.degree(Switch(w)) {
			return false
		}
		hit[w] = true
		for k := c.off[v]; k < c.off[v+1]; k++ {
			if !s.has(Switch(w), Switch(to[c.to[k]]), c.width[k], c.lossless[k]) {
				return false
			}
		}
	}
	return true
}

// has reports whether a switch has a channel to another of a width and kind.
func (s *symmetry) has(v, w Switch, width int32, lossless uint8) bool {
	c := s.c
	i, _ := slices.BinarySearchFunc(c.to[c.off[v]:c.off[v+1]], w, func(a, b Switch) int { return int(a) - int(b) })
	for k := c.off[v] + int32(i); k < c.off[v+1] && c.to[k] == w; k++ {
		if c.width[k] == width && c.lossless[k] == lossless {
			return true
		}
	}
	return false
}
