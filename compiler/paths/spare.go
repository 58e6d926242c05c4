package paths

import (
	"math"
	"slices"
)

// A peer link stands in for ways that are gone. What a switch of an MLAG pair has
// lost the way for goes to the other one, and from there by its own ways; what
// came that way never goes back by it. Nobody but the pair learns of a cable that
// a node on both switches has lost: the others go on sending to either of them.
// And what has come to one of the two for hosts of the other alone may cross.

// gone takes out what sends nothing on and has lost its last cable: that is a node
// that is down, to which nothing goes, and not one that others go round to.
func (x *router) gone() {
	if !x.frozen || x.still == nil {
		return
	}
	for s, still := range x.still {
		if still && x.c.degree(Switch(s)) > 0 && !slices.ContainsFunc(x.of(x.alive, Switch(s)), func(word uint64) bool { return word != 0 }) {
			x.sink[s] = false
		}
	}
}

// filtered reports whether a switch sends nothing that came by one channel out of
// another, both as channels out of it: they are legs of one bond, or the first is
// a peer link and the other switch of the pair has a leg of the same bond.
func (x *router) filtered(in, out int32) bool {
	c := x.c
	bond := c.bond(out)
	return bond != 0 && (c.bond(in) == bond || c.peer(in) && x.legged(c.to[in], bond))
}

// legged reports whether a switch has a leg of a bond that is up.
func (x *router) legged(s Switch, bond int32) bool {
	c := x.c
	for k := c.off[s]; k < c.off[s+1]; k++ {
		if c.bond(k) == bond && c.width[k] > 0 {
			return true
		}
	}
	return false
}

// spares finds the peer links that are up, and what they stand in for.
func (x *router) spares(d *Down) {
	c := x.c
	for k := range int32(len(c.to)) {
		if !c.peer(k) {
			continue
		}
		if x.spare == nil { // peer links that are down are none of the others either
			x.spare = make([][]int32, x.n.Switches)
		}
		if c.width[k] > 0 {
			x.spare[c.from[k]] = append(x.spare[c.from[k]], k)
		}
	}
	if x.spare == nil || d.empty() {
		return
	}
	for k := range int32(len(c.to)) {
		if c.width[k] > 0 || c.peer(k) || slices.Contains(d.Switches, c.to[k]) || slices.Contains(d.Switches, c.from[k]) {
			continue
		}
		if bond := c.bond(k); bond != 0 && slices.ContainsFunc(x.spare[c.from[k]], func(over int32) bool { return x.legged(c.to[over], bond) }) {
			if x.kept == nil {
				x.kept = make([]bool, len(c.to))
			}
			x.kept[k], x.kept[c.back[k]] = true, true
		}
		if x.still == nil || !x.still[c.to[k]] {
			continue
		}
		if slices.ContainsFunc(x.spare[c.from[k]], func(over int32) bool { return x.joined(c.to[over], c.to[k]) }) {
			if x.held == nil {
				x.held = make([]bool, len(c.to))
			}
			x.held[c.back[k]] = true
		}
	}
}

// joined reports whether a cable between two switches is up.
func (x *router) joined(a, b Switch) bool {
	c := x.c
	for k := c.off[a]; k < c.off[a+1]; k++ {
		if c.to[k] == b && c.width[k] > 0 && !c.peer(k) {
			return true
		}
	}
	return false
}

// bypass gives those that have no way one by a peer link, so that switches below
// them, or beside, send to them.
func (x *router) bypass() (found []Switch) {
	if x.spare == nil {
		return nil
	}
	var dist []int32
	for v, list := range x.spare {
		if x.dist[v] >= 0 {
			continue
		}
		best := int32(-1)
		for _, k := range list {
			if n := x.dist[x.c.to[k]]; n >= 0 && (best < 0 || n < best) {
				best = n
			}
		}
		if best >= 0 {
			found, dist = append(found, Switch(v)), append(dist, best+1)
		}
	}
	for i, v := range found {
		x.dist[v], x.passed = dist[i], true
	}
	return found
}

// behind gives those that have no way one to the nearest of some that have one by a
// peer link. None of them has a cable to others with a way: it would have one, too.
func (x *router) behind(d Switch, found []Switch) {
	c := x.c
	slices.SortStableFunc(found, func(a, b Switch) int { return int(x.dist[a]) - int(x.dist[b]) })
	at := func(list []Switch, head int) int32 {
		if head < len(list) {
			return x.dist[list[head]]
		}
		return math.MaxInt32
	}
	x.queue = x.queue[:0]
	fresh := make([]bool, x.n.Switches)
	for head, first := 0, 0; head < len(x.queue) || first < len(found); {
		var u Switch
		if at(found, first) <= at(x.queue, head) {
			u = found[first]
			first++
		} else {
			u = x.queue[head]
			head++
		}
		if !x.sends(u) {
			continue
		}
		for k := c.off[u]; k < c.off[u+1]; k++ {
			v := c.to[k]
			if v == d || !x.usable(k) || x.dist[v] >= 0 && (!fresh[v] || x.dist[v] != x.dist[u]+1) {
				continue
			}
			if x.dist[v] < 0 {
				x.dist[v], fresh[v] = x.dist[u]+1, true
				x.queue = append(x.queue, v)
			}
			x.set(x.nh, c.back[k])
		}
	}
}

// holds reports whether a channel from a node is down, and still leads to it.
func (x *router) holds(k int32) bool { return x.held != nil && x.held[k] }

// spared reports whether some switch may send to a destination by a peer link.
func (x *router) spared(d Switch) bool {
	if x.spare == nil {
		return false
	}
	if x.passed || len(x.spare[d]) > 0 {
		return true
	}
	for v, list := range x.spare {
		if x.dist[v] < 0 && slices.ContainsFunc(list, func(k int32) bool { return x.dist[x.c.to[k]] >= 0 }) {
			return true
		}
	}
	return false
}

// across is the peer link of v, where the destination is its other end.
func (x *router) across(list []hop, v, d Switch, in int32) []hop {
	for _, k := range x.spare[v] {
		if out := k - x.c.off[v]; x.c.to[k] == d && !x.back(v, out, in) {
			list = append(list, hop{out, -1})
		}
	}
	return list
}

// over is the peer link of v for what v has no way for, where there was one or
// the other switch has one.
func (x *router) over(list []hop, v, d Switch, in int32) []hop {
	for _, k := range x.spare[v] {
		out, to := k-x.c.off[v], x.c.to[k]
		if to == d || x.back(v, out, in) || x.dist[v] < 0 && x.dist[to] < 0 && !x.ruled(to) {
			continue
		}
		list = append(list, hop{out, -1})
	}
	return list
}

// back reports whether a channel of v leads to where a frame came from, and that
// is no way for it.
func (x *router) back(v Switch, out, in int32) bool { return !x.r.MayReturn && x.same(v, out, in) }

// ruled reports whether rows say where a switch sends to the destination.
func (x *router) ruled(v Switch) bool {
	return slices.ContainsFunc(x.here, func(i int32) bool { return x.r.Rows[i].At == v })
}
