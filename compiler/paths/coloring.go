package paths

import (
	"cmp"
	"maps"
	"slices"
)

// coloring gives switches colours such that those of one colour have neighbours
// of the same colours: what a symmetry exchanges has one colour. Work follows
// what changes: a switch is looked at again when a neighbour got another colour,
// and of a colour that falls apart the largest part keeps it. Nothing rests on
// the order of switches, so that colours of two colourings can be compared.
type coloring struct {
	c       *channels
	color   []uint64
	sum     []uint64        // of the neighbours' colours
	settled map[uint64]cell // by colour, as back restores it
	cells   map[uint64]cell // those that are other since
	journal []recolored
	changed []int32 // those that have or had another colour since
	touched []int32 // those whose sum changed
	is      []bool  // touched
}

// cell is the switches of one colour.
type cell struct {
	size int
	sum  uint64 // of each of them, when they were last looked at
}

// recolored is a switch and the colour that it had.
type recolored struct {
	v   int32
	was uint64
}

// newColoring has a colour for each thing that switches are.
func newColoring(c *channels, keep []uint64) *coloring {
	n := len(keep)
	x := &coloring{c: c, color: make([]uint64, n), sum: make([]uint64, n), settled: map[uint64]cell{}, cells: map[uint64]cell{}, touched: singles(n), is: make([]bool, n)}
	for v, k := range keep {
		x.color[v], x.is[v] = mix(k), true
		x.cells[x.color[v]] = cell{size: x.cells[x.color[v]].size + 1}
	}
	for v := range x.sum {
		for k := c.off[v]; k < c.off[v+1]; k++ {
			x.sum[v] += x.part(k, x.color[c.to[k]])
		}
	}
	return x
}

// part is what a neighbour of a colour adds to the sum, by the channel to it.
func (x *coloring) part(k int32, color uint64) uint64 {
	return mix(color ^ uint64(x.c.width[k])<<16 ^ uint64(x.c.kind[k]))
}

func (x *coloring) cell(color uint64) cell {
	if c, ok := x.cells[color]; ok {
		return c
	}
	return x.settled[color]
}

// shared reports whether others have the colour of a switch.
func (x *coloring) shared(v int32) bool { return x.cell(x.color[v]).size > 1 }

// settle makes what is now what back restores, and returns a colouring alike.
func (x *coloring) settle() *coloring {
	maps.Copy(x.settled, x.cells)
	maps.DeleteFunc(x.settled, func(_ uint64, c cell) bool { return c.size == 0 })
	x.clear()
	return &coloring{
		c: x.c, color: slices.Clone(x.color), sum: slices.Clone(x.sum), settled: x.settled, cells: map[uint64]cell{}, is: make([]bool, len(x.is)),
	}
}

// clear forgets what changed, and what is still to be looked at.
func (x *coloring) clear() {
	for _, v := range x.touched {
		x.is[v] = false
	}
	clear(x.cells)
	x.journal, x.changed, x.touched = x.journal[:0], x.changed[:0], x.touched[:0]
}

// back restores what settled.
func (x *coloring) back() {
	for _, r := range slices.Backward(x.journal) {
		x.paint(r.v, r.was)
	}
	x.clear()
}

// mark gives one switch a colour of its own.
func (x *coloring) mark(v int32, by uint64) {
	was := x.color[v]
	x.recolor(v, mix(was^by))
	of := x.cell(was)
	of.size--
	x.cells[was] = of
	mine := x.cell(x.color[v])
	mine.size, mine.sum = mine.size+1, x.sum[v]
	x.cells[x.color[v]] = mine
}

func (x *coloring) recolor(v int32, color uint64) {
	x.journal, x.changed = append(x.journal, recolored{v, x.color[v]}), append(x.changed, v)
	x.paint(v, color)
}

// paint gives a switch a colour and its neighbours other sums.
func (x *coloring) paint(v int32, color uint64) {
	c, was := x.c, x.color[v]
	x.color[v] = color
	for k := c.off[v]; k < c.off[v+1]; k++ {
		u := int32(c.to[k])
		x.sum[u] += x.part(k, color) - x.part(k, was) // a link has one width and kind both ways
		if !x.is[u] {
			x.is[u] = true
			x.touched = append(x.touched, u)
		}
	}
}

// fragment is switches of one colour and sum: of a cell that falls apart, a part.
type fragment struct {
	first, end int // among those that were touched
	sum        uint64
}

// fragments are those of the colour that begins at an index of a sorted list, and
// where the next colour begins.
func (x *coloring) fragments(to []fragment, list []int32, from int) (groups []fragment, end int) {
	color := x.color[list[from]]
	for end = from; end < len(list) && x.color[list[end]] == color; end++ {
		if sum := x.sum[list[end]]; len(to) == 0 || to[len(to)-1].sum != sum {
			to = append(to, fragment{end, end, sum})
		}
		to[len(to)-1].end++
	}
	return to, end
}

// stays is the sum of the fragment that keeps the colour: of those that were not
// touched, or else of the largest. The cell is then what stays.
func (x *coloring) stays(groups []fragment, color uint64) uint64 {
	of := x.cell(color)
	touched, largest := 0, groups[0]
	for _, g := range groups {
		touched += g.end - g.first
		if g.end-g.first > largest.end-largest.first { // of equal ones that of the least sum
			largest = g
		}
	}
	if touched == of.size {
		x.cells[color] = cell{largest.end - largest.first, largest.sum}
		return largest.sum
	}
	for _, g := range groups {
		if g.sum != of.sum {
			of.size -= g.end - g.first
		}
	}
	x.cells[color] = of
	return of.sum
}

// refine gives other colours until none tells more apart, or nothing is left of
// the looks at an edge.
func (x *coloring) refine(left *int64) {
	type change struct {
		v     int32
		color uint64
	}
	var changes []change
	var groups []fragment
	for len(x.touched) > 0 && *left > 0 {
		list := slices.Clone(x.touched)
		for _, v := range list {
			x.is[v] = false
		}
		x.touched, changes = x.touched[:0], changes[:0]
		*left -= int64(4 * len(list))
		slices.SortFunc(list, func(a, b int32) int {
			return cmp.Or(cmp.Compare(x.color[a], x.color[b]), cmp.Compare(x.sum[a], x.sum[b]))
		})
		for from := 0; from < len(list); {
			color := x.color[list[from]]
			groups, from = x.fragments(groups[:0], list, from)
			stays := x.stays(groups, color)
			for _, g := range groups {
				if g.sum == stays {
					continue
				}
				next := mix(color ^ mix(g.sum))
				x.cells[next] = cell{x.cell(next).size + g.end - g.first, g.sum}
				for _, v := range list[g.first:g.end] {
					changes = append(changes, change{v, next})
				}
			}
		}
		for _, c := range changes {
			*left -= int64(x.c.degree(Switch(c.v)))
			x.recolor(c.v, c.color)
		}
	}
}
