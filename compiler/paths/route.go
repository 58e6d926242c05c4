package paths

import (
	"math/bits"
	"slices"
)

// router finds the next hops of one destination after another. What it holds is
// of the last one, and the memory is used again.
type router struct {
	n       *Net
	c       *channels
	r       *Routing
	frozen  bool       // LocalRepair after a failure: the ways are those before it
	falls   []bool     // by switch, the way to the destination goes down; of UpDown with peer links
	spare   [][]int32  // peer links by switch, those that are up; nil: none
	passed  bool       // to the destination, some switch has a way by a peer link alone
	held    []bool     // channels from nodes that are down, by which ways to the node lead on; nil: none
	kept    []bool     // legs of bonds that are down, by which ways lead on; nil: none
	beside  [][2]int32 // legs of a bond out of one switch to both of a pair: by the first comes the second
	instead [][2]int32 // a leg out of the other switch of a pair, and one that is used instead of the peer link to it
	hashed  []uint64   // legs that hashes take besides the ways to the destination, by channel; nil: none
	own     []uint64   // those of them that stand for a peer link
	hashes  bool       // there are some
	sink    []bool     // that are up
	still   []bool     // that send nothing on; nil: none
	skip    []bool     // destinations that are left out; nil: none
	size    []int64    // switches behind each one of a folded net, else nil
	alive   []uint64   // per switch, by channel: some link of it is up
	wordOff []int32    // of each switch in the sets by channel
	nh      []uint64   // next hops to the destination, by channel of each switch
	dist    []int32    // hops that are left, -1 = no way
	order   []Switch   // with a way, farthest first
	ups     []Switch   // by level, highest first; of UpDown
	rows    [][]int32  // rows by destination
	here    []int32    // those of the destination
	queue   []Switch
	count   []int32 // room of the sort by distance
}

func newRouter(n *Net, r *Routing, d *Down) *router {
	x := &router{n: n, c: layChannels(n, d), r: r, frozen: r.LocalRepair && !d.empty(), sink: n.sinkSet(), still: n.stillSet()}
	if d != nil {
		for _, s := range d.Switches {
			x.sink[s] = false
		}
	}
	x.wordOff = make([]int32, n.Switches+1)
	for s := range n.Switches {
		x.wordOff[s+1] = x.wordOff[s] + int32(x.c.degree(Switch(s))+63)/64
	}
	x.nh = make([]uint64, x.wordOff[n.Switches])
	x.alive = make([]uint64, len(x.nh))
	for k := range x.c.to {
		if x.c.width[k] > 0 {
			x.set(x.alive, int32(k))
		}
	}
	x.gone()
	x.spares(d)
	x.legs()
	x.dist = make([]int32, n.Switches)
	if r.Base == UpDown {
		x.ups, x.falls = byLevel(n), make([]bool, n.Switches)
	}
	if len(r.Rows) > 0 {
		x.rows = make([][]int32, n.Switches)
		for i, row := range r.Rows {
			x.rows[row.To] = append(x.rows[row.To], int32(i))
		}
		for _, list := range x.rows {
			slices.SortStableFunc(list, func(a, b int32) int { return int(r.Rows[a].At) - int(r.Rows[b].At) })
		}
	}
	return x
}

// byLevel is every switch, highest level first.
func byLevel(n *Net) []Switch {
	list := make([]Switch, n.Switches)
	for s := range list {
		list[s] = Switch(s)
	}
	slices.SortStableFunc(list, func(a, b Switch) int { return int(n.level(b)) - int(n.level(a)) })
	return list
}

// set puts a channel into a set by channel of its sender.
func (x *router) set(set []uint64, k int32) {
	s := x.c.from[k]
	i := k - x.c.off[s]
	set[x.wordOff[s]+i>>6] |= 1 << (i & 63)
}

// has reports whether a channel is in a set by channel of its sender.
func (x *router) has(set []uint64, k int32) bool {
	s := x.c.from[k]
	i := k - x.c.off[s]
	return set[x.wordOff[s]+i>>6]>>(i&63)&1 == 1
}

// of is the part of a set by channel that belongs to a switch.
func (x *router) of(set []uint64, s Switch) []uint64 { return set[x.wordOff[s]:x.wordOff[s+1]] }

func (x *router) usable(k int32) bool {
	return (x.frozen || x.c.width[k] > 0 || x.kept != nil && x.kept[k]) && (x.spare == nil || !x.c.peer(k))
}

// towards computes next hops and distances to a destination by the base. A
// distance falls by one with every hop, in both bases. It reports whether that
// is the whole truth for this destination: if not, neighbours matter (rows,
// repair) and next must be asked.
func (x *router) towards(d Switch) (plain bool) {
	clear(x.nh)
	for s := range x.dist {
		x.dist[s] = -1
	}
	x.order, x.here, x.passed = x.order[:0], nil, false
	switch x.r.Base {
	case UpDown:
		x.upDown(d)
	case Shortest:
		x.flood(d, func(int32) bool { return true })
		for found := x.bypass(); len(found) > 0; found = x.bypass() {
			x.behind(d, found)
		}
	case ByTable:
		x.dist[d] = 0
	}
	x.sortByDistance()
	if x.rows != nil {
		x.here = x.rows[d]
	}
	x.hash(d)
	repairs := x.repairs(d)
	return x.r.Base != ByTable && len(x.here) == 0 && !repairs && !x.hashes && !x.spared(d)
}

// flood gives distances from d against the traffic, over channels that it may
// come by, and the next hops that go with them.
func (x *router) flood(d Switch, comes func(k int32) bool) {
	c := x.c
	x.dist[d] = 0
	x.queue = append(x.queue[:0], d)
	for head := 0; head < len(x.queue); head++ {
		u := x.queue[head]
		if u != d && !x.sends(u) {
			continue
		}
		for k := c.off[u]; k < c.off[u+1]; k++ {
			v := c.to[k]
			if v == d || x.dist[v] >= 0 && x.dist[v] != x.dist[u]+1 || !x.usable(k) && (u != d || !x.holds(k)) || !comes(c.back[k]) {
				continue
			}
			if x.dist[v] < 0 {
				x.dist[v] = x.dist[u] + 1
				x.queue = append(x.queue, v)
			}
			x.set(x.nh, c.back[k])
		}
	}
}

// upDown floods d downwards, which a peer link adds to, and then has every other
// switch climb. Who then has no way descends to a switch of a pair that goes on
// downwards over its peer link, or gets the way of the other switch of its pair, and
// those below climb to it: a way goes up, and then down, and crosses in between.
func (x *router) upDown(d Switch) {
	c, level := x.c, x.n.level
	x.flood(d, func(k int32) bool { return level(c.to[k]) != 0 && level(c.from[k]) > level(c.to[k]) })
	x.bypass()
	if x.spare == nil {
		x.climb(d)
		return
	}
	for s := range x.falls {
		x.falls[s] = x.dist[s] >= 0
	}
	for again := true; again; {
		x.climb(d)
		again = x.descend(d)
		for _, v := range x.bypass() {
			again, x.falls[v] = true, !slices.ContainsFunc(x.spare[v], func(k int32) bool { return x.dist[c.to[k]] >= 0 && !x.falls[c.to[k]] })
		}
	}
}

// descend has every switch without a way, the lowest first, go to the neighbours
// below from which the way down is shortest.
func (x *router) descend(d Switch) (some bool) {
	c, level := x.c, x.n.level
	for i := len(x.ups) - 1; i >= 0; i-- {
		v := x.ups[i]
		if x.dist[v] >= 0 {
			continue
		}
		below := func(k int32) bool {
			w := c.to[k]
			return level(w) != 0 && level(w) < level(v) && x.falls[w] && x.usable(k) && x.sends(w)
		}
		best := int32(-1)
		for k := c.off[v]; k < c.off[v+1]; k++ {
			if below(k) && (best < 0 || x.dist[c.to[k]] < best) {
				best = x.dist[c.to[k]]
			}
		}
		if best < 0 {
			continue
		}
		for k := c.off[v]; k < c.off[v+1]; k++ {
			if below(k) && x.dist[c.to[k]] == best {
				x.set(x.nh, k)
			}
		}
		x.dist[v], x.falls[v], some = best+1, true, true
	}
	return some
}

// climb has every switch without a way, the highest first, climb to the neighbours
// above from which the way is shortest.
func (x *router) climb(d Switch) {
	c, level := x.c, x.n.level
	for _, v := range x.ups {
		if x.dist[v] >= 0 || level(v) == 0 {
			continue
		}
		best := int32(-1)
		for k := c.off[v]; k < c.off[v+1]; k++ {
			if w := c.to[k]; level(w) > level(v) && x.dist[w] >= 0 && (x.usable(k) || x.holds(c.back[k]) && w == d) && (w == d || x.sends(w)) && (best < 0 || x.dist[w] < best) {
				best = x.dist[w]
			}
		}
		if best < 0 {
			continue
		}
		x.dist[v] = best + 1
		for k := c.off[v]; k < c.off[v+1]; k++ {
			if w := c.to[k]; level(w) > level(v) && x.dist[w] == best && (x.usable(k) || x.holds(c.back[k]) && w == d) && (w == d || x.sends(w)) {
				x.set(x.nh, k)
			}
		}
	}
}

// sends reports whether a switch sends on what is not for it.
func (x *router) sends(s Switch) bool { return x.still == nil || !x.still[s] }

// sortByDistance fills order: a switch stands before those it sends to.
func (x *router) sortByDistance() {
	far := int32(-1)
	for _, n := range x.dist {
		far = max(far, n)
	}
	if cap(x.count) < int(far)+2 {
		x.count = make([]int32, int(far)+2)
	}
	count := x.count[:far+2]
	clear(count)
	for _, n := range x.dist {
		count[far-n]++ // no way: count[far+1]
	}
	total := int32(0)
	for i := range count {
		count[i], total = total, total+count[i]
	}
	if cap(x.order) < int(total) {
		x.order = make([]Switch, total)
	}
	x.order = x.order[:total]
	for s, n := range x.dist {
		x.order[count[far-n]] = Switch(s)
		count[far-n]++
	}
	if far >= 0 {
		x.order = x.order[:count[far]]
	} else {
		x.order = x.order[:0]
	}
}

// between appends the first hops from one of the switches behind a folded
// destination to another: those neighbours that have it next, and may be asked.
func (x *router) between(list []hop, d Switch) []hop {
	c, level := x.c, x.n.level
	for k := c.off[d]; k < c.off[d+1]; k++ {
		v, i := c.to[k], c.back[k]-c.off[c.to[k]]
		if x.r.Base == UpDown && level(v) <= level(d) || c.width[k] == 0 || c.peer(k) || !x.sends(v) {
			continue
		}
		if x.of(x.nh, v)[i>>6]>>(i&63)&1 == 1 {
			list = append(list, hop{k - c.off[d], -1})
		}
	}
	return list
}

// repairs takes what is down out of frozen next hops, and reports whether some
// switch has none left and so goes round the failure.
func (x *router) repairs(d Switch) bool {
	if !x.frozen && x.held == nil && x.kept == nil {
		return false
	}
	repair := false
	for s := range x.n.Switches {
		nh, alive := x.of(x.nh, Switch(s)), x.of(x.alive, Switch(s))
		had, has := uint64(0), uint64(0)
		for i := range nh {
			had |= nh[i]
			nh[i] &= alive[i]
			has |= nh[i]
		}
		repair = repair || had != 0 && has == 0 && Switch(s) != d
	}
	return repair
}

// hop is one way on: a channel out of the switch, counted from its first, and
// the priority that a row gives, -1 if none does.
type hop struct {
	out      int32
	priority int8
}

// next appends the ways on from v to d for what came in by a channel (counted
// as v's own channel the other way), or from v's hosts with in = -1.
func (x *router) next(list []hop, v, d Switch, in int32) []hop {
	first := len(list)
	if rows, spoken := x.byRow(list, v, in); spoken {
		if len(rows) == first && x.spare != nil {
			if rows = x.across(rows, v, d, in); len(rows) == first {
				rows = x.over(rows, v, d, in)
			}
		}
		return rows
	}
	if x.hashes && in >= 0 && x.has(x.hashed, x.c.back[x.c.off[v]+in]) {
		return x.pass(list, v, in)
	}
	nh := x.of(x.nh, v)
	back := x.frozen && !x.r.MayReturn // split horizon
	some := false
	for i, word := range nh {
		some = some || word != 0
		for ; word != 0; word &= word - 1 {
			if k := int32(i<<6 + bits.TrailingZeros64(word)); !back || !x.same(v, k, in) {
				list = append(list, hop{k, -1})
			}
		}
	}
	if x.spare != nil {
		if list = x.across(list, v, d, in); !some && len(list) == first {
			list = x.over(list, v, d, in)
		}
		some = some || len(list) > first
	}
	if !x.frozen || some || x.dist[v] < 0 || x.r.Base == ByTable {
		return list
	}
	return x.around(list, v, in)
}

// around is where a switch sends what it has no way for after a failure: to all
// neighbours above it, else to all others.
func (x *router) around(list []hop, v Switch, in int32) []hop {
	c, first := x.c, len(list)
	for _, above := range [2]bool{true, false} {
		for k := c.off[v]; k < c.off[v+1]; k++ {
			if out := k - c.off[v]; c.width[k] > 0 && !c.peer(k) && x.sends(c.to[k]) && (x.n.level(c.to[k]) > x.n.level(v)) == above && (x.r.MayReturn || !x.same(v, out, in)) {
				list = append(list, hop{out, -1})
			}
		}
		if len(list) > first {
			break
		}
	}
	return list
}

// aside reports whether a switch beside d that has lost all its ways there has a
// cable to it that was none of them: going round, it sends by that one, too.
func (x *router) aside(d Switch) bool {
	c := x.c
	for k := c.off[d]; k < c.off[d+1]; k++ {
		v := c.to[k]
		lost := !slices.ContainsFunc(x.of(x.nh, v), func(word uint64) bool { return word != 0 })
		if lost && c.width[k] > 0 && !c.peer(k) && x.dist[v] >= 0 {
			return true
		}
	}
	return false
}

// same reports whether two channels of v lead to the same neighbour: one switch,
// and not several that are folded.
func (x *router) same(v Switch, a, b int32) bool {
	if b < 0 || x.c.to[x.c.off[v]+a] != x.c.to[x.c.off[v]+b] {
		return false
	}
	return x.size == nil || x.size[x.c.to[x.c.off[v]+b]] == 1
}

// byRow are the ways on that rows give; spoken is false where none speaks.
func (x *router) byRow(list []hop, v Switch, in int32) (_ []hop, spoken bool) {
	if len(x.here) == 0 {
		return list, false
	}
	from := Hosts
	if in >= 0 {
		from = x.c.to[x.c.off[v]+in]
	}
	first, _ := slices.BinarySearchFunc(x.here, v, func(i int32, v Switch) int { return int(x.r.Rows[i].At) - int(v) })
	for _, want := range [2]Switch{from, Anywhere} {
		for _, i := range x.here[first:] {
			row := &x.r.Rows[i]
			if row.At != v {
				break
			}
			if row.From != want {
				continue
			}
			spoken = true
			for k := x.c.off[v]; k < x.c.off[v+1]; k++ {
				if x.c.to[k] == row.Next && x.c.width[k] > 0 {
					list = append(list, hop{k - x.c.off[v], row.Priority})
				}
			}
		}
		if spoken {
			break
		}
	}
	return list, spoken
}
