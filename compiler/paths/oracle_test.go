package paths

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// buffer is a vertex of the naive graph: one end of one link, one priority.
type buffer struct {
	link     int
	from, to Switch
	priority uint8
}

// naive is the buffer graph made the slow way, link by link, with maps and by
// the definition: distances by relaxation, parts by reachability.
type naive struct {
	n        *Net
	o        *Options
	deadLink map[int]bool
	deadAt   map[Switch]bool
	edges    map[buffer]map[buffer]bool
	holes    map[[2]Switch]bool
}

const far = 1 << 20

func newNaive(n *Net, o *Options) *naive {
	x := &naive{n: n, o: o, deadLink: map[int]bool{}, deadAt: map[Switch]bool{}, edges: map[buffer]map[buffer]bool{}, holes: map[[2]Switch]bool{}}
	if o.Down != nil {
		for _, l := range o.Down.Links {
			x.deadLink[l] = true
		}
		for _, s := range o.Down.Switches {
			x.deadAt[s] = true
		}
	}
	for _, d := range n.Sinks {
		if !x.deadAt[d] && !x.gone(d) {
			x.destination(d)
		}
	}
	for _, f := range o.Floods {
		x.flood(f)
	}
	return x
}

// flood sends a priority out of every switch by all links but those back. What
// came over a peer link leaves by no bond that the sender has a leg of, and what
// came by a bond not by the same.
func (x *naive) flood(f Flood) {
	on := func(l int) bool {
		return slices.ContainsFunc(f.Links, func(m int) bool {
			a, b := x.n.Links[l], x.n.Links[m]
			return a.Lossless == b.Lossless && a.Peer == b.Peer && a.Bond == b.Bond && min(a.A, a.B) == min(b.A, b.B) && max(a.A, a.B) == max(b.A, b.B)
		})
	}
	legs := map[Switch]map[int32]bool{}
	x.cables(func(l int, from, _ Switch) {
		if legs[from] == nil {
			legs[from] = map[int32]bool{}
		}
		legs[from][x.n.Links[l].Bond] = true
	})
	x.cables(func(l int, u, v Switch) {
		in := buffer{l, u, v, f.Priority}
		if !on(l) || !x.lossless(in) {
			return
		}
		if x.edges[in] == nil {
			x.edges[in] = map[buffer]bool{}
		}
		x.cables(func(m int, from, w Switch) {
			out := buffer{m, v, w, f.Priority}
			if from != v || w == u || !on(m) || !x.lossless(out) {
				return
			}
			if bond := x.n.Links[m].Bond; bond != 0 && (x.n.Links[l].Bond == bond || x.n.Links[l].Peer && legs[u][bond]) {
				return
			}
			x.edges[in][out] = true
		})
	})
}

func (x *naive) up(l int) bool {
	link := x.n.Links[l]
	return !x.deadLink[l] && !x.deadAt[link.A] && !x.deadAt[link.B] && link.A != link.B
}

// gone reports whether a node has had cables, and none is left, while others go
// round failures.
func (x *naive) gone(s Switch) bool {
	had, has := false, false
	for l, link := range x.n.Links {
		if (link.A == s) != (link.B == s) {
			had, has = true, has || x.up(l)
		}
	}
	return x.frozen() && slices.Contains(x.n.Still, s) && had && !has
}

// ends calls visit for both directions of every link that is none of a pair.
func (x *naive) ends(all bool, visit func(l int, from, to Switch)) {
	for l, link := range x.n.Links {
		if link.A != link.B && !link.Peer && (all || x.up(l)) {
			visit(l, link.A, link.B)
			visit(l, link.B, link.A)
		}
	}
}

// known calls visit for what a way may be by, as far as all have learnt of it.
func (x *naive) known(all bool, d Switch, visit func(l int, from, to Switch)) {
	x.ends(true, func(l int, from, to Switch) {
		if all || x.up(l) || to == d && x.held(l, d) || x.kept(l) {
			visit(l, from, to)
		}
	})
}

// peers are the switches at the other ends of the peer links of one that are up.
func (x *naive) peers(v Switch) map[Switch]bool {
	set := map[Switch]bool{}
	for l, link := range x.n.Links {
		if link.Peer && x.up(l) {
			if link.A == v {
				set[link.B] = true
			}
			if link.B == v {
				set[link.A] = true
			}
		}
	}
	return set
}

// kept reports whether a leg of a bond that is down is one that only the pair
// misses: it is of one of the two, and the other has a leg that is up.
func (x *naive) kept(l int) bool {
	link := x.n.Links[l]
	if !x.deadLink[l] || link.Bond == 0 || link.Peer || x.deadAt[link.A] || x.deadAt[link.B] {
		return false
	}
	kept := false
	for _, at := range []Switch{link.A, link.B} {
		for other := range x.peers(at) {
			x.cables(func(m int, from, _ Switch) { kept = kept || from == other && x.n.Links[m].Bond == link.Bond })
		}
	}
	return kept
}

// held reports whether a cable that is down is one that only the pair misses: its
// node has another to the other switch, and there is a peer link to there.
func (x *naive) held(l int, node Switch) bool {
	if !x.deadLink[l] {
		return false
	}
	for _, end := range [2][2]Switch{{x.n.Links[l].A, x.n.Links[l].B}, {x.n.Links[l].B, x.n.Links[l].A}} {
		at := end[1]
		if end[0] != node || !slices.Contains(x.n.Still, node) || x.deadAt[node] {
			continue
		}
		for other := range x.peers(at) {
			for m, link := range x.n.Links {
				if x.up(m) && !link.Peer && (link.A == node && link.B == other || link.A == other && link.B == node) {
					return true
				}
			}
		}
	}
	return false
}

// distances relaxes until nothing changes. keep[v] are the switches whose own
// distance stands already.
func (x *naive) distances(all bool, d Switch, dist []int, fixed []bool, may func(from, to Switch) bool) {
	for again := true; again; {
		again = false
		x.known(all, d, func(_ int, from, to Switch) {
			if (dist[to] == 0 || !slices.Contains(x.n.Still, to)) && !fixed[from] && may(from, to) && dist[to]+1 < dist[from] {
				dist[from], again = dist[to]+1, true
			}
		})
	}
}

// hops are the switches that the base of the routing has next to d.
func (x *naive) hops(d Switch) map[Switch]map[Switch]bool {
	all := x.frozen()
	dist, fixed := make([]int, x.n.Switches), make([]bool, x.n.Switches)
	for s := range dist {
		dist[s] = far
	}
	dist[d] = 0
	next := map[Switch]map[Switch]bool{}
	pick := func(may func(from, to Switch) bool) {
		x.known(all, d, func(_ int, from, to Switch) {
			if (to == d || !slices.Contains(x.n.Still, to)) && from != d && !fixed[from] && dist[from] < far && dist[to]+1 == dist[from] && may(from, to) {
				if next[from] == nil {
					next[from] = map[Switch]bool{}
				}
				next[from][to] = true
			}
		})
	}
	// cross gives those without a way that of the other end of their peer link.
	cross := func() (some bool) {
		was := slices.Clone(dist)
		for v := range was {
			for peer := range x.peers(Switch(v)) {
				if was[v] == far && was[peer]+1 < dist[v] {
					dist[v] = was[peer] + 1
				}
			}
			if was[v] == far && dist[v] < far {
				next[Switch(v)], some = map[Switch]bool{}, true // by the peer link alone
			}
		}
		for s := range fixed {
			fixed[s] = dist[s] < far
		}
		return some
	}
	switch x.o.Routing.Base {
	case Shortest:
		may := func(_, _ Switch) bool { return true }
		for again := true; again; again = cross() {
			x.distances(all, d, dist, fixed, may)
			pick(may)
		}
	case UpDown:
		down := func(from, to Switch) bool { return x.n.level(to) > 0 && x.n.level(to) < x.n.level(from) }
		x.distances(all, d, dist, fixed, down)
		pick(down)
		cross()
		falls := slices.Clone(fixed) // the way goes down, over a peer link at most
		up := func(from, to Switch) bool { return down(to, from) }
		below := func(from, to Switch) bool { return down(from, to) && (falls[to] || !fixed[to]) }
		for again := true; again; {
			x.distances(all, d, dist, fixed, up)
			pick(up)
			for s := range fixed {
				fixed[s] = dist[s] < far
			}
			x.distances(all, d, dist, fixed, below)
			pick(below)
			again = false
			for s := range fixed {
				falls[s] = falls[s] || !fixed[s] && dist[s] < far
				again = again || !fixed[s] && dist[s] < far
			}
			was := slices.Clone(dist)
			again = cross() || again
			for v := range dist {
				if was[v] == far && dist[v] < far {
					falls[v] = true
					for peer := range x.peers(Switch(v)) {
						falls[v] = falls[v] && (was[peer] == far || falls[peer])
					}
				}
			}
		}
	}
	return next
}

func (x *naive) frozen() bool { return x.o.Routing.LocalRepair && !x.o.Down.empty() }

type onward struct {
	to       Switch
	priority int8
	by       string // "" = links of no pair, "peer" = those of one, "row" = any, "hash" = legs of bond
	bond     int32
}

// takes reports whether a way is by a link.
func (w onward) takes(l Link) bool {
	switch w.by {
	case "row":
		return true
	case "hash":
		return l.Bond == w.bond
	}
	return l.Peer == (w.by == "peer")
}

// legs are those out of v that are used besides the ways to d, by the switch they
// go to, where w sends by a bond: what is one port to v is a leg to b that is on the
// way, and a leg to a, which hands over to b. w is v, or the other one of a pair.
func (x *naive) legs(base map[Switch]map[Switch]bool, v, w, d Switch) map[onward]bool {
	list := map[onward]bool{}
	if v == d && v != w {
		return list
	}
	x.known(x.frozen(), d, func(l int, from, b Switch) {
		bond := x.n.Links[l].Bond
		if from != w || bond == 0 || !base[w][b] {
			return
		}
		for a := range x.peers(b) {
			x.known(x.frozen(), -1, func(m int, from, to Switch) {
				if from == v && to == a && x.n.Links[m].Bond == bond && !base[v][a] {
					list[onward{a, -1, "hash", bond}] = true
				}
			})
		}
	})
	return list
}

// hashed are the legs out of v besides the ways to d, and those that stand for its
// peer link.
func (x *naive) hashed(base map[Switch]map[Switch]bool, v, d Switch) (beside, own map[onward]bool) {
	own = map[onward]bool{}
	for w := range x.peers(v) {
		maps.Copy(own, x.legs(base, v, w, d))
	}
	return x.legs(base, v, v, d), own
}

// ways are where v sends what came from a neighbour by a link; -1 is none.
func (x *naive) ways(base map[Switch]map[Switch]bool, from Switch, in int, v, d Switch) map[onward]bool {
	list := map[onward]bool{}
	for _, want := range []Switch{from, Anywhere} {
		spoken := false
		for _, r := range x.o.Routing.Rows {
			if r.At == v && r.To == d && r.From == want {
				spoken = true
				list[onward{r.Next, r.Priority, "row", 0}] = true
			}
		}
		if spoken {
			sent := false
			for w := range list {
				x.cables(func(_ int, a, b Switch) { sent = sent || a == v && b == w.to })
			}
			if !sent {
				x.across(base, from, v, d, list)
			}
			return list
		}
	}
	if in >= 0 {
		came := onward{v, -1, "hash", x.n.Links[in].Bond}
		if beside, own := x.hashed(base, from, d); beside[came] || own[came] {
			_, own = x.hashed(base, v, d)
			x.cables(func(l int, a, b Switch) {
				for w := range own {
					if a == v && b == w.to && w.takes(x.n.Links[l]) && (b != from || x.o.Routing.MayReturn) {
						list[w] = true
					}
				}
			})
			if len(list) > 0 {
				return list
			}
			for other := range x.peers(v) {
				if other != from || x.o.Routing.MayReturn {
					list[onward{other, -1, "peer", 0}] = true
				}
			}
			return list
		}
	}
	live := map[Switch]bool{}
	for l, link := range x.n.Links {
		if x.up(l) && !link.Peer {
			if link.A == v {
				live[link.B] = true
			}
			if link.B == v {
				live[link.A] = true
			}
		}
	}
	back := func(s Switch) bool { return s == from && x.frozen() && !x.o.Routing.MayReturn }
	some := false
	for s := range base[v] {
		if live[s] {
			some = true
			if !back(s) {
				list[onward{s, -1, "", 0}] = true
			}
		}
	}
	legs, own := x.hashed(base, v, d)
	if len(base[v]) == 0 {
		maps.Copy(legs, own)
	}
	for w := range legs {
		x.cables(func(l int, a, b Switch) {
			if a == v && b == w.to && w.takes(x.n.Links[l]) {
				some = true
				if !back(b) {
					list[w] = true
				}
			}
		})
	}
	if some {
		x.partner(from, v, d, list)
	} else if x.across(base, from, v, d, list); len(list) > 0 {
		return list
	}
	if some || !x.frozen() || base[v] == nil || x.o.Routing.Base == ByTable {
		return list
	}
	for _, s := range x.n.Still {
		delete(live, s)
	}
	for s := range live {
		if x.n.level(s) > x.n.level(v) && !back(s) {
			list[onward{s, -1, "", 0}] = true
		}
	}
	if len(list) == 0 {
		for s := range live {
			if !back(s) {
				list[onward{s, -1, "", 0}] = true
			}
		}
	}
	return list
}

// cables calls visit for both directions of every link that is up, of any kind.
func (x *naive) cables(visit func(l int, from, to Switch)) {
	for l, link := range x.n.Links {
		if x.up(l) {
			visit(l, link.A, link.B)
			visit(l, link.B, link.A)
		}
	}
}

// partner adds the peer link of v where the destination is its other end.
func (x *naive) partner(from, v, d Switch, list map[onward]bool) {
	if x.peers(v)[d] && (d != from || x.o.Routing.MayReturn) {
		list[onward{d, -1, "peer", 0}] = true
	}
}

// across adds the peer link of v where nothing else is left: to the destination,
// else to a switch that has a way there, or to any if v had one itself.
func (x *naive) across(base map[Switch]map[Switch]bool, from, v, d Switch, list map[onward]bool) {
	if x.partner(from, v, d, list); len(list) > 0 && slices.ContainsFunc(slices.Collect(maps.Keys(list)), func(w onward) bool { return w.by == "peer" }) {
		return
	}
	for peer := range x.peers(v) {
		speaks := slices.ContainsFunc(x.o.Routing.Rows, func(r Row) bool { return r.At == peer && r.To == d })
		if peer != d && (peer != from || x.o.Routing.MayReturn) && (base[v] != nil || base[peer] != nil || speaks) {
			list[onward{peer, -1, "peer", 0}] = true
		}
	}
}

// destination follows what every source sends to d.
func (x *naive) destination(d Switch) {
	base := x.hops(d)
	done := map[buffer]bool{}
	var follow func(in *buffer, v Switch, priority uint8)
	follow = func(in *buffer, v Switch, priority uint8) {
		if v == d {
			return
		}
		from, by := Hosts, -1
		if in != nil {
			from, by = in.from, in.link
		}
		ways := x.ways(base, from, by, v, d)
		sent := false
		x.cables(func(l int, a, b Switch) {
			if a != v {
				return
			}
			for w := range ways {
				if w.to != b || !w.takes(x.n.Links[l]) {
					continue
				}
				sent = true
				p := priority
				if w.priority >= 0 {
					p = uint8(w.priority)
				} else if x.o.Routing.Remap != nil {
					p = x.o.Routing.Remap(from, v, b, p)
				}
				if p == Lossy {
					continue
				}
				out := buffer{l, v, b, p}
				if x.lossless(out) {
					if x.edges[out] == nil {
						x.edges[out] = map[buffer]bool{}
					}
					if in != nil && x.lossless(*in) {
						x.edges[*in][out] = true
					}
				}
				if !done[out] {
					done[out] = true
					follow(&out, b, p)
				}
			}
		})
		if !sent {
			x.holes[[2]Switch{v, d}] = true
		}
	}
	for _, s := range x.n.Sinks {
		if s == d || x.deadAt[s] || x.gone(s) {
			continue
		}
		for _, p := range x.o.Priorities {
			follow(nil, s, p)
		}
	}
}

func (x *naive) lossless(b buffer) bool { return x.n.Links[b.link].Lossless>>b.priority&1 == 1 }

// summary is what both sides say of a graph.
type summary struct {
	Vertices, Edges, Holes, Valleys int64
	Circles                         []int64
	Shortest                        int
}

func (x *naive) summary() summary {
	s := summary{Vertices: int64(len(x.edges)), Holes: int64(len(x.holes))}
	reach := map[buffer]map[buffer]int{} // to what, in how many steps
	for v, next := range x.edges {
		s.Edges += int64(len(next))
		for w := range next {
			if x.n.level(v.to) > 0 && x.n.level(v.from) > x.n.level(v.to) && x.n.level(w.to) > x.n.level(v.to) {
				s.Valleys++
			}
		}
		steps := map[buffer]int{}
		wave := []buffer{v}
		for n := 1; len(wave) > 0; n++ {
			var more []buffer
			for _, u := range wave {
				for w := range x.edges[u] {
					if steps[w] == 0 {
						steps[w] = n
						more = append(more, w)
					}
				}
			}
			wave = more
		}
		reach[v] = steps
		if n := steps[v]; n > 0 && (s.Shortest == 0 || n < s.Shortest) {
			s.Shortest = n
		}
	}
	counted := map[buffer]bool{}
	for v := range x.edges {
		if counted[v] || reach[v][v] == 0 {
			continue
		}
		size := int64(0)
		for w := range reach[v] {
			if reach[w][v] > 0 {
				counted[w] = true
				size++
			}
		}
		s.Circles = append(s.Circles, size)
	}
	slices.Sort(s.Circles)
	slices.Reverse(s.Circles)
	return s
}

// drawNet draws a regular fabric with some links gone, or a random graph, with
// parallel links, links to oneself and links without PFC among them.
func drawNet(t *rapid.T) *Net {
	n := &Net{}
	draw := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
	switch draw("shape", 0, 5) {
	case 4:
		*n = drawPaired(draw)
	case 5:
		*n = drawPairs(draw)
	case 0:
		*n = leafSpine(draw("leaves", 1, 5), draw("spines", 1, 3), draw("width", 1, 2)).Net
	case 1:
		*n = twoPods().Net
	case 2:
		*n = *clos(draw("pods", 1, 3), draw("leaves", 1, 3), 2, 2, 2, 2)
	case 3:
		n.Switches = draw("switches", 1, 7)
		for s := range n.Switches {
			n.Level = append(n.Level, uint8(draw("level", 0, 3)))
			if rapid.Bool().Draw(t, "sink") {
				n.Sinks = append(n.Sinks, Switch(s))
			}
		}
		if rapid.Bool().Draw(t, "flat") {
			n.Level = nil
		}
		for range draw("links", 0, 12) {
			n.Links = append(n.Links, Link{A: Switch(draw("a", 0, n.Switches-1)), B: Switch(draw("b", 0, n.Switches-1)), Lossless: 1<<rdma | 1<<4})
		}
	}
	for range draw("spoiled", 0, 2) {
		if len(n.Links) > 0 {
			i := draw("link", 0, len(n.Links)-1)
			n.Links[i].Lossless = rapid.SampledFrom([]uint8{0, 1 << rdma, 1 << 4}).Draw(t, "lossless")
		}
	}
	for range draw("missing", 0, 2) {
		if len(n.Links) > 0 {
			i := draw("link", 0, len(n.Links)-1)
			n.Links = slices.Delete(n.Links, i, i+1)
		}
	}
	if n.Switches > 1 && !n.peers() && draw("pairs", 0, 1) == 0 {
		paired := map[Switch]Switch{} // a switch is of one pair
		for range draw("peer links", 1, 3) {
			a := Switch(draw("peer", 0, n.Switches-1))
			b := Switch(draw("other", 0, n.Switches-1))
			p, okA := paired[a]
			q, okB := paired[b]
			if okA && p != b || okB && q != a || slices.Contains(n.Still, a) || slices.Contains(n.Still, b) {
				continue
			}
			paired[a], paired[b] = b, a
			n.Links = append(n.Links, Link{A: a, B: b, Lossless: rapid.SampledFrom([]uint8{1<<rdma | 1<<4, 1 << rdma, 0}).Draw(t, "peer pfc"), Peer: true})
			if n.Level != nil && len(n.Sinks) > 0 && a != b && draw("on both", 0, 1) == 0 { // a node of the pair
				n.Level, n.Sinks, n.Still = append(n.Level, 1), append(n.Sinks, Switch(n.Switches)), append(n.Still, Switch(n.Switches))
				for _, s := range []Switch{a, b} {
					n.Links = append(n.Links, Link{A: s, B: Switch(n.Switches), Lossless: 1<<rdma | 1<<4})
				}
				n.Switches++
			}
		}
	}
	for _, pair := range slices.Clone(n.Links) { // bonds over pairs, each to one switch
		if !pair.Peer || draw("bonded", 0, 1) == 1 {
			continue
		}
		to := Switch(draw("bonded to", 0, n.Switches-1))
		for i := range n.Links {
			l := &n.Links[i]
			if other := l.A + l.B - to; !l.Peer && (l.A == to || l.B == to) && (other == pair.A || other == pair.B) && other != to {
				l.Bond = 1 + int32(to)
			}
		}
	}
	if len(n.Links) > 0 && draw("odd bond", 0, 5) == 0 {
		n.Links[draw("odd", 0, len(n.Links)-1)].Bond = 1
	}
	if len(n.Still) == 0 && draw("still", 0, 2) == 0 {
		for _, s := range n.Sinks {
			if draw("sends nothing on", 0, 2) == 0 {
				n.Still = append(n.Still, s)
			}
		}
	}
	return n
}

// drawPaired draws an MLAG pair with switches below, and perhaps above, that are
// on both by a bond, or on one or both by cables of their own.
func drawPaired(draw func(name string, low, high int) int) Net {
	n := &drawn{}
	n.add("a", 2, draw("hosts of a", 0, 1) == 0)
	n.add("b", 2, draw("hosts of b", 0, 1) == 0)
	n.link("a", "b")
	n.Links[0].Peer = true
	for i := range draw("around", 1, 4) {
		name := string(rune('p' + i))
		n.add(name, uint8(1+2*draw("above", 0, 1)), draw("hosts", 0, 3) > 0)
		how := draw("how", 0, 4) // a bond with two legs is the most
		for j, on := range [2]string{"a", "b"} {
			if how == 3+j {
				continue
			}
			n.link(on, name)
			if how < 2 {
				n.Links[len(n.Links)-1].Bond = int32(i + 1)
			}
		}
	}
	if draw("flat", 0, 3) == 0 {
		n.Level = nil
	}
	return n.Net
}

// drawPairs draws an MLAG pair over another, joined by one LAG of some legs or by
// cables of their own, and switches beside them, that are on one of the switches of
// a pair or on both.
func drawPairs(draw func(name string, low, high int) int) Net {
	n := &drawn{}
	for i, s := range []string{"p", "q", "a", "b"} {
		n.add(s, uint8(3-i/2), draw("hosts of a pair", 0, 2) == 0)
	}
	n.link("p", "q")
	n.link("a", "b")
	n.Links[0].Peer, n.Links[1].Peer = true, true
	leg := func(a, b string, bond int32) {
		n.link(a, b)
		n.Links[len(n.Links)-1].Bond = bond
	}
	lag := int32(1)
	if draw("no LAG", 0, 4) == 0 {
		lag = 0
	}
	for _, ends := range []string{"pa", "qb", "pb", "qa"}[:draw("legs", 1, 4)] {
		leg(ends[:1], ends[1:], lag)
	}
	for i := range draw("around", 1, 4) {
		name, on := string(rune('v'+i)), []string{"pq", "p", "q", "ab", "a", "b"}[draw("on", 0, 5)]
		level := uint8(draw("level", 1, 4))
		n.add(name, level, draw("hosts", 0, 3) > 0)
		bond := int32(i + 2)
		if draw("cables of its own", 0, 2) == 0 {
			bond = 0
		}
		for _, s := range on {
			leg(string(s), name, bond)
		}
	}
	if draw("flat", 0, 3) == 0 {
		n.Level = nil
	}
	return n.Net
}

func drawOptions(t *rapid.T, n *Net) Options {
	draw := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
	pick := func(name string) Switch { return Switch(draw(name, 0, n.Switches-1)) }
	o := Options{
		Priorities: rapid.SampledFrom([][]uint8{{rdma}, {rdma, 4}, {4}}).Draw(t, "priorities"),
		Search:     true, Whole: rapid.Bool().Draw(t, "whole"),
		Routing: Routing{
			Base: rapid.SampledFrom([]Base{UpDown, Shortest, ByTable}).Draw(t, "base"), LocalRepair: rapid.Bool().Draw(t, "repair"),
			MayReturn: rapid.Bool().Draw(t, "return"),
		},
	}
	if rapid.Bool().Draw(t, "fails") {
		o.Down = &Down{}
		for range draw("links down", 0, 2) {
			if len(n.Links) > 0 {
				o.Down.Links = append(o.Down.Links, draw("link down", 0, len(n.Links)-1))
			}
		}
		if draw("switch fails", 0, 4) == 0 {
			o.Down.Switches = []Switch{pick("switch down")}
		}
	}
	rows := draw("rows", -4, 10)
	if o.Routing.Base == ByTable {
		rows = draw("rows", 5, 40)
	}
	for range max(rows, 0) {
		if len(n.Links) == 0 {
			break
		}
		l := n.Links[draw("along", 0, len(n.Links)-1)]
		if rapid.Bool().Draw(t, "back") {
			l.A, l.B = l.B, l.A
		}
		from := rapid.SampledFrom([]Switch{Anywhere, Anywhere, Hosts, pick("from")}).Draw(t, "neighbour")
		o.Routing.Rows = append(o.Routing.Rows, Row{l.A, from, pick("to"), l.B, rapid.SampledFrom([]int8{-1, -1, rdma, 4}).Draw(t, "row priority")})
	}
	if draw("floods", 0, 3) == 0 && len(n.Links) > 0 {
		f := Flood{Priority: rdma}
		if draw("all flooded", 0, 1) == 0 {
			for i := range n.Links {
				f.Links = append(f.Links, i)
			}
		}
		for range draw("flooded links", 1, 6) {
			f.Links = append(f.Links, draw("flooded", 0, len(n.Links)-1))
		}
		o.Floods = []Flood{f}
	}
	switch draw("remap", 0, 4) {
	case 0:
		o.Routing.Remap, o.Remapped = Tags([]Tag{
			{At: pick("tag at"), From: Anywhere, Next: Anywhere, Priority: rdma, New: 4},
			{At: Anywhere, From: pick("tag from"), Next: Anywhere, Priority: 4, New: rapid.SampledFrom([]uint8{rdma, Lossy}).Draw(t, "new")},
		}), []uint8{rdma, 4}
	case 1:
		if n.Level != nil {
			o.Routing.Remap, o.Remapped = Bounces(n.Level, []uint8{rdma, 4}), []uint8{rdma, 4}
		}
	}
	return o
}

// TestAgainstNaive compares every count with the naive graph, and follows the
// flows in it.
func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNet(t)
		o := drawOptions(t, n)
		b, err := Deadlock(n, o)
		if err != nil {
			t.Fatal(err)
		}
		x := newNaive(n, &o)
		got := summary{b.Vertices, b.Edges, b.Holes, b.Valleys, b.Circles, len(b.Cycle)}
		if diff := cmp.Diff(x.summary(), got); diff != "" {
			t.Fatalf("(-naive +got):\n%s\n%+v\n%+v\nholes %v, naive %v, down %+v", diff, n, o, b.Hole, x.holes, o.Down)
		}
		if len(o.Floods) > 0 {
			return // no flow takes what is flooded
		}
		for i, v := range b.Cycle {
			checkFlow(t, x, b.Flows[i], v, b.Cycle[(i+1)%len(b.Cycle)])
		}
		for _, v := range b.Valley {
			checkFlow(t, x, v.Flow, Vertex{v.From, v.At, v.Priority}, Vertex{v.At, v.Next, v.New})
		}
	})
}

// checkFlow walks a flow by the naive routing, and demands the step in it.
func checkFlow(t *rapid.T, x *naive, f Flow, v, w Vertex) {
	if len(f.Path) < 3 || len(f.Priority) != len(f.Path)-1 || f.Path[0] != f.From || !slices.Contains(x.n.Sinks, f.From) || !slices.Contains(x.n.Sinks, f.To) {
		t.Fatalf("flow %+v for %v, %v", f, v, w)
	}
	base, takes := x.hops(f.To), false
	for i := 0; i+1 < len(f.Path); i++ {
		from, at, next := Hosts, f.Path[i], f.Path[i+1]
		ok := false
		for _, p := range x.o.Priorities {
			if i > 0 {
				from, p = f.Path[i-1], f.Priority[i-1]
			}
			came := []int{-1}
			if i > 0 {
				came = came[:0]
				x.cables(func(l int, a, b Switch) {
					if a == from && b == at {
						came = append(came, l)
					}
				})
			}
			for _, in := range came {
				for way := range x.ways(base, from, in, at, f.To) {
					q := p
					switch {
					case way.priority >= 0:
						q = uint8(way.priority)
					case x.o.Routing.Remap != nil:
						q = x.o.Routing.Remap(from, at, next, p)
					}
					ok = ok || way.to == next && q == f.Priority[i]
				}
			}
		}
		if !ok {
			t.Fatalf("flow %+v: no way from %d over %d to %d", f, from, at, next)
		}
		takes = takes || i > 0 && from == v.From && at == v.To && next == w.To && f.Priority[i-1] == v.Priority && f.Priority[i] == w.Priority
	}
	if !takes {
		t.Fatalf("flow %+v does not take %v, %v", f, v, w)
	}
}

// TestRoundHolds: where Round has nothing followed after one failure, as all have a
// way without peer links before and after it, there is no circle with them.
func TestRoundHolds(t *testing.T) {
	asked := 0
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
		n := &Net{}
		var rows [3][]Switch
		for level := range rows {
			for range draw("pairs", 1, 2) {
				for range 2 {
					s := Switch(n.Switches)
					n.Switches++
					n.Level, rows[level] = append(n.Level, uint8(level+2)), append(rows[level], s)
					if level == 0 || draw("hosts", 0, 3) == 0 {
						n.Sinks = append(n.Sinks, s)
					}
				}
			}
		}
		for level := range rows[1:] {
			for _, a := range rows[level] {
				for _, b := range rows[level+1] {
					if draw("cable", 0, 2) > 0 {
						n.Links = append(n.Links, Link{A: a, B: b, Lossless: 1 << rdma})
					}
				}
			}
		}
		plain := *n
		plain.Links, plain.Sinks = slices.Clone(n.Links), slices.Clone(n.Sinks)
		for level, list := range rows {
			for i := 0; i < len(list); i += 2 {
				if draw("pair", 0, 3) == 0 {
					continue
				}
				n.Links = append(n.Links, Link{A: list[i], B: list[i+1], Lossless: 1 << rdma, Peer: true})
				if level == 0 && draw("node on both", 0, 1) == 0 {
					s := Switch(n.Switches)
					n.Switches++
					n.Level, n.Sinks, n.Still = append(n.Level, 1), append(n.Sinks, s), append(n.Still, s)
					for _, at := range list[i : i+2] {
						n.Links = append(n.Links, Link{A: at, B: s, Lossless: 1 << rdma})
					}
				}
			}
		}
		down := &Down{}
		if i := draw("fails", 0, len(n.Links)+plain.Switches-1); i < len(n.Links) {
			down.Links = []int{i}
		} else {
			down.Switches = []Switch{Switch(i - len(n.Links))}
		}
		below := *down
		below.Links = slices.DeleteFunc(slices.Clone(down.Links), func(l int) bool { return l >= len(plain.Links) })
		for _, d := range []*Down{nil, &below} {
			if s, err := Ways(&plain, Options{Down: d, Brief: true}); err != nil || s.Lost > 0 {
				return
			}
		}
		asked++
		b, err := Deadlock(n, Options{Down: down, Priorities: []uint8{rdma}, Search: true})
		if err != nil || !b.Acyclic() {
			t.Fatalf("%v, circles of %v: %v\n%+v\n%+v", err, b.Circles, b.Cycle, n, down)
		}
	})
	if asked == 0 {
		t.Error("no net has all its ways: the test shows nothing")
	}
}

// TestRanksHold: what the ranks prove without looking, the search finds. Of nets
// with peer links they prove nothing.
func TestRanksHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNet(t)
		n.Links = slices.DeleteFunc(n.Links, func(l Link) bool { return l.Peer })
		o := Options{Priorities: []uint8{rdma}}
		ranked, err := Deadlock(n, o)
		if err != nil {
			t.Fatal(err)
		}
		if n.Level != nil && ranked.Proof != ByRank {
			t.Fatalf("proof by %s", ranked.Proof)
		}
		o.Search, o.Whole = true, true
		b, err := Deadlock(n, o)
		if err != nil {
			t.Fatal(err)
		}
		if !b.Acyclic() || b.Valleys != 0 || b.Proof != Searched {
			t.Fatalf("%s: circles of %v, %d valleys", b.Proof, b.Circles, b.Valleys)
		}
	})
	// Two pairs, each of a switch on top of one way up and one at the foot of the
	// other: what the tops have no way for crosses to the feet, and climbs again, and
	// what goes down to the feet crosses to the tops.
	n := &drawn{}
	for i, s := range []string{"foot1", "mid1", "top1", "foot2", "mid2", "top2"} {
		n.add(s, uint8(1+i%3), true)
	}
	for _, ends := range [][2]string{{"foot1", "mid1"}, {"mid1", "top2"}, {"foot2", "mid2"}, {"mid2", "top1"}, {"top1", "foot1"}, {"top2", "foot2"}} {
		n.link(ends[0], ends[1])
	}
	n.Links[4].Peer, n.Links[5].Peer = true, true
	b, err := Deadlock(&n.Net, Options{Priorities: []uint8{rdma}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := n.hops(b.Cycle), "mid1>foot1, foot1>top1, top1>mid2, mid2>foot2, foot2>top2, top2>mid1"; got != want {
		t.Errorf("circle of %s, want %s", got, want)
	}
}
