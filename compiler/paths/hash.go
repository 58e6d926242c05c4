package paths

import (
	"math/bits"
	"slices"
)

// A LAG over an MLAG pair is one port of the switch at its other end: where one of
// its legs is on the way, the hash takes the other ones, too. The switch of the pair
// that is not on the way has learnt from the other one where the frame goes, and
// sends it there over the peer link. Where the other one sends it out by a bond of
// both, a switch of the pair uses its own legs of it instead.

// legs finds which legs of bonds stand beside which.
func (x *router) legs() {
	if x.spare == nil {
		return
	}
	c := x.c
	for k := range int32(len(c.to)) {
		if c.bond(k) == 0 {
			continue
		}
		v := c.from[k]
		x.beside = x.joint(x.beside, k, v)
		for _, over := range x.spare[v] {
			x.instead = x.joint(x.instead, k, c.to[over])
		}
	}
	if len(x.beside)+len(x.instead) > 0 {
		x.hashed, x.own = make([]uint64, len(x.nh)), make([]uint64, len(x.nh))
	}
}

// joint appends the legs out of v that end on the other switch of the pair on which
// a leg of the same bond ends.
func (x *router) joint(list [][2]int32, leg int32, v Switch) [][2]int32 {
	c := x.c
	for _, over := range x.spare[c.to[leg]] {
		for k := c.off[v]; k < c.off[v+1]; k++ {
			if c.to[k] == c.to[over] && c.bond(k) == c.bond(leg) && x.usable(k) {
				list = append(list, [2]int32{leg, k})
			}
		}
	}
	return list
}

// hash adds to the ways to a destination what bonds take besides.
func (x *router) hash(d Switch) {
	x.hashes = false
	if x.hashed == nil {
		return
	}
	clear(x.hashed)
	clear(x.own)
	for _, legs := range x.instead {
		if v := x.c.from[legs[1]]; v != d && x.has(x.nh, legs[0]) && !x.has(x.nh, legs[1]) {
			x.set(x.own, legs[1])
			x.hashes = true
		}
	}
	for _, legs := range x.beside {
		if x.has(x.nh, legs[0]) && !x.has(x.nh, legs[1]) {
			x.set(x.hashed, legs[1])
			x.hashes = true
		}
	}
	if !x.hashes {
		return
	}
	for s := range x.n.Switches {
		nh, own, hashed := x.of(x.nh, Switch(s)), x.of(x.own, Switch(s)), x.of(x.hashed, Switch(s))
		none := !slices.ContainsFunc(nh, func(word uint64) bool { return word != 0 })
		for i := range nh {
			if nh[i] |= hashed[i]; none {
				nh[i] |= own[i]
			}
			hashed[i] |= own[i]
		}
	}
}

// pass is where a switch sends what came by a leg that only the hash took.
func (x *router) pass(list []hop, v Switch, in int32) []hop {
	first := len(list)
	own, alive := x.of(x.own, v), x.of(x.alive, v)
	for i, word := range own {
		for word &= alive[i]; word != 0; word &= word - 1 {
			if out := int32(i<<6 + bits.TrailingZeros64(word)); !x.back(v, out, in) {
				list = append(list, hop{out, -1})
			}
		}
	}
	if len(list) > first {
		return list
	}
	for _, k := range x.spare[v] {
		if out := k - x.c.off[v]; !x.back(v, out, in) {
			list = append(list, hop{out, -1})
		}
	}
	return list
}
