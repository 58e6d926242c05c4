package paths

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// walker follows the classes of a fabric over the ways that are left.
type walker struct {
	*Composer
	mask  *fabric.Mask
	found map[Kind]int // into out.Breaks
	ports map[breakPort]bool
	done  int64 // steps
	room  []hop // used again, and so are nodes
	nodes []node
	out   *Composition
}

// node is a frame in a switch, and how it came there.
type node struct {
	at       Switch
	priority int8
	frame    frameID
	in       int32 // channel out of at towards where it came from, -1 = from a NIC
	by       cable
	sent     int8 // priority in the device before
	was      frameID
	prev     int32         // node in that device, -1 = it is a NIC
	below    int32         // the node before it in the same switch, -1 = none
	who      fabric.PortID // endpoint of by, where that is of a NIC
	twin     *node         // another way by which the same comes, from another endpoint
	sole     fabric.PortID // the one endpoint from which it comes, 0 = several do
}

// group is endpoints behind one switch, or in one home, that take the same frames.
type group struct {
	qos   fabric.QoSID
	bytes uint16
	legs  []leg
}

// leg is the last cable to an endpoint.
type leg struct {
	cable
	same int
	who  fabric.PortID // of the one endpoint that it is to, 0 = there are several
	twin cable         // to another endpoint, if there are several
}

// realms follows what the endpoints of each realm send each other.
func (w *walker) realms() {
	w.ports = map[breakPort]bool{}
	w.direct()
	for i := range w.ground.realms {
		r := &w.ground.realms[i]
		bySite := map[int32][]fabric.PortID{}
		var sites []int32
		for _, nic := range r.ends {
			port := &w.f.Ports[nic]
			at := w.ground.siteOf[w.f.Ports[port.Peer].Device]
			if at < 0 || !w.up(nic) {
				continue
			}
			if bySite[at] == nil {
				sites = append(sites, at)
			}
			bySite[at] = append(bySite[at], nic)
		}
		for _, s := range sites {
			if len(bySite[s]) > 1 {
				w.site(w.ground.sites[s], r, bySite[s])
			}
		}
	}
}

func (w *walker) up(nic fabric.PortID) bool { return w.f.Up(w.f.Ports[nic].Link, w.mask) }

// direct judges cables from NIC to NIC.
func (w *walker) direct() {
	for l := fabric.LinkID(1); int(l) < len(w.f.Links); l++ {
		ends := &w.f.Links[l]
		if !endpoint(w.f, ends.A) || !endpoint(w.f, ends.B) || !w.f.Up(l, w.mask) {
			continue
		}
		for _, c := range [2]cable{{ends.A, ends.B, false}, {ends.B, ends.A, false}} {
			for _, x := range w.judge.sent(c.out) {
				c.tagged = w.tagged(c.out, c.to)
				if w.takes(c.to, w.judge.classOf(x)) {
					x = w.smaller(x, w.facts.Port(c.to).NeedMTU)
					if v := w.judge.hop(begins, x, c); v.fault != Sound {
						w.add(begins, x, c, v, 1, func() []Hop { return nil }, nil)
					}
				}
			}
		}
	}
}

// tagged reports whether two ports share a tagged segment.
func (w *walker) tagged(a, b fabric.PortID) bool {
	set := w.f.VLANSets[w.f.Ports[b].VLANs]
	return slices.ContainsFunc(w.f.VLANSets[w.f.Ports[a].VLANs], func(s fabric.SegmentID) bool { return slices.Contains(set, s) })
}

// source is NICs of one kind behind a switch.
type source struct {
	at Switch
	cable
	who  fabric.PortID
	twin cable         // of another endpoint, if there are several
	also fabric.PortID // that one
	same int
}

// several reports whether a source is more than one endpoint.
func (s *source) several() bool { return s.twin.out != 0 }

// site follows what endpoints of one site send each other.
func (w *walker) site(s *site, r *realm, ends []fabric.PortID) {
	var sources []source
	type end struct {
		own, peer int32
		at        Switch
		tagged    bool
	}
	at := map[end]int{}
	groups := map[Switch][]group{}
	var homes []home
	homeAt := map[home]Switch{}
	var sinks []Switch
	for _, nic := range ends {
		port := w.f.Ports[nic].Peer
		t := w.ground.at[w.f.Ports[port].Device]
		tagged := w.judge.pcp && w.tagOn(r, nic, port)
		k := end{w.judge.kindOf[nic], w.judge.kindOf[port], t, tagged}
		who := w.who(nic)
		if i, ok := at[k]; ok {
			sources[i].same++
			if who != sources[i].who {
				sources[i].twin, sources[i].also = cable{nic, port, tagged}, who
			}
		} else {
			at[k] = len(sources)
			sources = append(sources, source{at: t, cable: cable{nic, port, tagged}, who: who, same: 1})
		}
		legs := []leg{{cable: cable{port, nic, tagged}, same: 1, who: who}}
		if h, ok := w.home(nic); ok {
			if t, ok = homeAt[h]; !ok {
				t = Switch(len(s.devices) + len(homes))
				homeAt[h], homes = t, append(homes, h)
			}
			legs = w.others(legs, nic, r)
		}
		if groups[t] == nil {
			sinks = append(sinks, t)
		}
		for _, l := range legs {
			groups[t] = w.enter(groups[t], nic, l)
		}
	}
	slices.Sort(sinks)
	planes := w.planes(s, r, homes)
	for _, t := range w.sinks(planes[0], sinks, groups) {
		for _, p := range planes {
			w.towards(p, t.at, t.times, groups[t.at], sources)
		}
		if w.out.Limit != nil {
			return
		}
	}
}

// tagOn reports whether frames of a realm have a tag on the cable of a NIC.
func (w *walker) tagOn(r *realm, a, b fabric.PortID) bool {
	set := w.f.VLANSets[w.f.Ports[b].VLANs]
	return slices.ContainsFunc(w.f.VLANSets[w.f.Ports[a].VLANs], func(s fabric.SegmentID) bool { return r.segments[s] && slices.Contains(set, s) })
}

// others adds the cables of a bond to NICs that do not take the same frames as one
// of them: the sender does not know by which its frames come.
func (w *walker) others(legs []leg, nic fabric.PortID, r *realm) []leg {
	q, bytes := w.taken(nic)
	for _, m := range w.f.LAGs[w.f.Ports[nic].LAG].Members {
		port := w.f.Ports[m].Peer
		if port == 0 || !w.up(m) {
			continue
		}
		if other, size := w.taken(m); other != q || size != bytes {
			legs = append(legs, leg{cable: cable{port, m, w.judge.pcp && w.tagOn(r, port, m)}, same: 1, who: legs[0].who})
		}
	}
	return legs
}

// taken is what frames a NIC takes: by the contract, and of what size.
func (w *walker) taken(nic fabric.PortID) (fabric.QoSID, uint16) {
	return w.f.Profiles[w.f.Ports[nic].Profile].QoS, w.facts.Port(nic).NeedMTU
}

// enter adds a cable to the group of an endpoint.
func (w *walker) enter(groups []group, nic fabric.PortID, l leg) []group {
	q, bytes := w.taken(nic)
	i := slices.IndexFunc(groups, func(g group) bool { return g.qos == q && g.bytes == bytes })
	if i < 0 {
		i = len(groups)
		groups = append(groups, group{qos: q, bytes: bytes})
	}
	g := &groups[i]
	kind := w.judge.kindOf
	j := slices.IndexFunc(g.legs, func(o leg) bool {
		return kind[o.out] == kind[l.out] && kind[o.to] == kind[l.to] && o.tagged == l.tagged && w.f.Ports[o.out].Device == w.f.Ports[l.out].Device
	})
	if j < 0 {
		g.legs = append(g.legs, l)
		return groups
	}
	if g.legs[j].same++; g.legs[j].who != l.who {
		if g.legs[j].who != 0 {
			g.legs[j].twin = l.cable
		}
		g.legs[j].who = 0
	}
	return groups
}

// towards follows what sources send to the endpoints behind a switch, or in a home.
func (w *walker) towards(p *plane, t Switch, times int, groups []group, sources []source) {
	plain := p.x.towards(t)
	some := make([]source, 0, len(sources))
	for _, s := range sources {
		w.room = p.x.next(w.room[:0], s.at, t, -1)
		if s.at == t || len(w.room) > 0 {
			some = append(some, s)
		}
	}
	for i := range groups {
		f := follow{walker: w, p: p, t: t, times: times, near: p.unit(w.f, t), group: &groups[i], plain: plain, heads: p.heads(), nodes: w.nodes[:0]}
		f.run(some)
		w.nodes = f.nodes
		if w.out.Limit != nil {
			break
		}
	}
}

// follow is the way of all frames to one group of endpoints.
type follow struct {
	*walker
	p     *plane
	t     Switch
	times int
	near  []Switch // t, and what stands for others with it
	group *group
	plain bool
	heads []int32 // by switch, the last node there, -1 = none
	nodes []node
	last  []int32 // nodes at a switch of the home
	hops  []hop
}

func (w *follow) run(sources []source) {
	dest := w.group.legs[0].to
	for _, s := range sources {
		if !s.several() && !slices.ContainsFunc(w.group.legs, func(l leg) bool { return l.who != s.who }) {
			continue // nobody sends to itself
		}
		sole := s.who
		if s.several() {
			sole = 0 // twin is another
		}
		for _, x := range w.judge.sent(s.out) {
			if !w.takes(dest, w.judge.classOf(x)) {
				continue
			}
			x = w.smaller(x, w.group.bytes)
			v := w.judge.hop(begins, x, s.cable)
			switch {
			case v.fault != Sound:
				w.report(-1, begins, x, s.cable, v, s.same)
			case !v.ends:
				w.arrive(node{at: s.at, priority: v.prio, frame: v.next, in: -1, by: s.cable, sent: begins, was: x, prev: -1, who: s.who, sole: sole})
				if s.several() {
					w.arrive(node{at: s.at, priority: v.prio, frame: v.next, in: -1, by: s.twin, sent: begins, was: x, prev: -1, who: s.also})
				}
			}
		}
	}
	for i := 0; i < len(w.nodes) && w.out.Limit == nil; i++ {
		if w.nodes[i].at != w.t {
			w.onward(int32(i))
		}
	}
	for i := w.heads[w.t]; i >= 0; i = w.nodes[i].below { // who sends what is known only now
		w.deliver(i)
	}
	for _, i := range w.last {
		w.deliver(i)
	}
}

// arrive enters a node unless there is one like it. Where it comes from matters
// only where the routing asks.
func (w *follow) arrive(n node) {
	for i := w.heads[n.at]; i >= 0; i = w.nodes[i].below {
		w.done++ // of a switch with very many cables that is most of the work
		old := &w.nodes[i]
		if old.priority != n.priority || old.frame != n.frame || !w.plain && old.in != n.in {
			continue
		}
		if old.sole != n.sole || n.sole == 0 {
			old.sole = 0
			if old.prev < 0 && old.twin == nil && old.who != n.who {
				twin := n
				old.twin = &twin
			}
		}
		return
	}
	n.below = w.heads[n.at]
	w.heads[n.at] = int32(len(w.nodes))
	w.nodes = append(w.nodes, n)
}

// onward sends a frame out of a switch by all of its next hops.
func (w *follow) onward(i int32) {
	n := w.nodes[i]
	x := w.p.x
	in := n.in
	if w.plain {
		in = -1
	}
	w.hops = x.next(w.hops[:0], n.at, w.t, in)
	w.step(len(w.hops))
	for _, h := range w.hops {
		k := x.c.off[n.at] + h.out
		if x.c.to[k] == w.t && w.p.home(w.t) {
			w.last = append(w.last, i)
			continue
		}
		priority, was := w.judge.tag(n.priority, n.frame, h)
		for _, s := range w.p.cables[k] {
			v := w.judge.hop(priority, was, s.cable)
			if v.fault != Sound {
				ports := s.same
				if slices.Contains(w.near, x.c.to[k]) {
					ports *= w.times
				}
				w.report(i, priority, was, s.cable, v, ports)
				continue
			}
			if !v.ends {
				w.arrive(node{at: x.c.to[k], priority: v.prio, frame: v.next, in: x.c.back[k] - x.c.off[x.c.to[k]], by: s.cable, sent: priority, was: was, prev: i})
			}
		}
	}
}

// deliver sends a frame to the endpoints of the group.
func (w *follow) deliver(i int32) {
	n := w.nodes[i]
	w.step(len(w.group.legs))
	for _, l := range w.group.legs {
		if l.who == n.sole && l.who != 0 || !w.on(l, n.at) {
			continue // nobody sends to itself
		}
		if v := w.judge.hop(n.priority, n.frame, l.cable); v.fault != Sound {
			if n.twin != nil && n.who == w.who(l.to) {
				w.nodes[i] = *n.twin // for the way of the example: nobody sends to itself
			}
			to := l.cable
			if n.sole != 0 && n.sole == w.who(to.to) && w.on(leg{cable: l.twin}, n.at) {
				to = l.twin
			}
			w.report(i, n.priority, n.frame, to, v, l.same*w.times)
			w.nodes[i] = n
		}
	}
}

// on reports whether a leg is of a switch.
func (w *follow) on(l leg, s Switch) bool { return w.ground.at[w.f.Ports[l.out].Device] == s }

func (w *walker) step(n int) {
	if w.done += int64(n) + 1; w.done > w.steps && w.out.Limit == nil {
		w.out.Limit = &LimitError{"steps", w.done, w.steps}
	}
}
