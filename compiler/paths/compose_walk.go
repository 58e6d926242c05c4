package paths

import (
	"encoding/binary"
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
	twin     *node         // another way by which the same comes, where by is of a NIC
	sole     fabric.PortID // the one NIC from which it comes, 0 = several do
}

// group is endpoints behind one switch that take the same frames.
type group struct {
	qos   fabric.QoSID
	bytes uint16
	legs  []leg
}

// leg is the last cable to an endpoint, or the last two: by a pair's peer link,
// where its own switch has lost it.
type leg struct {
	over *cable
	cable
	same int
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
	twin cable // another of them, if there are several
	same int
}

// site follows what endpoints of one site send each other.
func (w *walker) site(s *site, r *realm, ends []fabric.PortID) {
	var sources []source
	type end struct {
		own, peer int32
		at        Switch
		tagged    bool
	}
	at := map[end]int{}
	groups, alone := map[Switch][]group{}, map[Switch][]group{}
	var sinks []Switch
	for _, nic := range ends {
		port := w.f.Ports[nic].Peer
		t := w.ground.at[w.f.Ports[port].Device]
		tagged := w.judge.pcp && w.tagOn(r, nic, port)
		k := end{w.judge.kindOf[nic], w.judge.kindOf[port], t, tagged}
		if i, ok := at[k]; ok {
			sources[i].same++
			sources[i].twin = cable{nic, port, tagged}
		} else {
			at[k] = len(sources)
			sources = append(sources, source{at: t, cable: cable{nic, port, tagged}, same: 1})
		}
		if groups[t] == nil {
			sinks = append(sinks, t)
		}
		groups[t] = w.enter(groups[t], nic, leg{cable: cable{port, nic, tagged}, same: 1})
		if s.pairs && !w.twice(nic) {
			alone[t] = w.enter(alone[t], nic, leg{cable: cable{port, nic, tagged}, same: 1})
		}
	}
	for _, d := range w.detours(s, r) {
		t := w.ground.at[w.f.Ports[d.over.out].Device]
		if groups[t] == nil {
			sinks = append(sinks, t)
		}
		groups[t] = w.enter(groups[t], d.to, d)
	}
	slices.Sort(sinks)
	plain := w.lay(s, r, false)
	var peers *plane
	if s.pairs {
		peers = w.lay(s, r, true)
	}
	for _, t := range w.sinks(plain, peers, sinks, groups) {
		left := w.towards(plain, t.at, t.times, groups[t.at], sources)
		if len(left) > 0 && peers != nil {
			w.towards(peers, t.at, t.times, alone[t.at], left)
		}
		if w.out.Limit != nil {
			return
		}
	}
}

// twice reports whether a NIC is of a bond that is on both switches of a pair:
// each of them has its own cable to it, and uses the peer link only when that fails.
func (w *walker) twice(nic fabric.PortID) bool {
	f := w.f
	port := &f.Ports[nic]
	if port.LAG == 0 || f.LAGs[port.LAG].Mode == fabric.ActiveBackup || f.LAGs[port.LAG].Mode == fabric.SET {
		return false
	}
	at := &f.Devices[f.Ports[port.Peer].Device]
	return at.MLAG != 0 && slices.ContainsFunc(f.LAGs[port.LAG].Members, func(m fabric.PortID) bool {
		peer := f.Ports[m].Peer
		return peer != 0 && w.up(m) && f.Ports[peer].Device != f.Ports[port.Peer].Device && f.Devices[f.Ports[peer].Device].MLAG == at.MLAG
	})
}

// tagOn reports whether frames of a realm have a tag on the cable of a NIC.
func (w *walker) tagOn(r *realm, a, b fabric.PortID) bool {
	set := w.f.VLANSets[w.f.Ports[b].VLANs]
	return slices.ContainsFunc(w.f.VLANSets[w.f.Ports[a].VLANs], func(s fabric.SegmentID) bool { return r.segments[s] && slices.Contains(set, s) })
}

// enter adds an endpoint to the groups of its switch.
func (w *walker) enter(groups []group, nic fabric.PortID, l leg) []group {
	q, bytes := w.f.Profiles[w.f.Ports[nic].Profile].QoS, w.facts.Port(nic).NeedMTU
	i := slices.IndexFunc(groups, func(g group) bool { return g.qos == q && g.bytes == bytes })
	if i < 0 {
		i = len(groups)
		groups = append(groups, group{qos: q, bytes: bytes})
	}
	g := &groups[i]
	kind := w.judge.kindOf
	j := slices.IndexFunc(g.legs, func(o leg) bool {
		return kind[o.out] == kind[l.out] && kind[o.to] == kind[l.to] && o.tagged == l.tagged && (o.over == nil) == (l.over == nil)
	})
	if j >= 0 && l.over == nil {
		g.legs[j].same++
	} else {
		g.legs = append(g.legs, l)
	}
	return groups
}

// detours are the ways over the peer link of a pair to bonds that have lost the
// cable to one of its switches: what was sent to that one goes on to the other.
func (w *walker) detours(s *site, r *realm) (list []leg) {
	if w.mask == nil || !s.pairs {
		return nil
	}
	f := w.f
	for _, nic := range r.ends {
		lost, port := f.Ports[nic].Peer, &f.Ports[nic]
		d := f.Ports[lost].Device
		if w.up(nic) || port.LAG == 0 || f.Devices[d].MLAG == 0 || w.mask.Devices[d] {
			continue
		}
		for _, other := range f.LAGs[port.LAG].Members {
			to := f.Ports[other].Peer
			if other == nic || to == 0 || !w.up(other) || f.Ports[to].Device == d || f.Devices[f.Ports[to].Device].MLAG != f.Devices[d].MLAG {
				continue
			}
			for _, l := range f.MLAGs[f.Devices[d].MLAG].Links {
				ok, tagged := w.ground.crosses(r, l)
				if !ok || !f.Up(l, w.mask) {
					continue
				}
				c := cable{f.Links[l].A, f.Links[l].B, tagged}
				if f.Ports[c.out].Device != d {
					c.out, c.to = c.to, c.out
				}
				list = append(list, leg{over: &c, cable: cable{to, other, w.judge.pcp && w.tagOn(r, to, other)}, same: 1})
			}
		}
	}
	return list
}

// sink is a switch that stands for others with the same cables and endpoints.
type sink struct {
	at    Switch
	times int
}

// sinks picks one of the switches that stand alike.
func (w *walker) sinks(p, peers *plane, all []Switch, groups map[Switch][]group) []sink {
	var list []sink
	at := map[string]int{}
	var key []byte
	put := func(n ...int32) {
		for _, v := range n {
			key = binary.LittleEndian.AppendUint32(key, uint32(v))
		}
	}
	for _, t := range all {
		if len(p.x.r.Rows) > 0 || p.x.frozen || peers != nil {
			list = append(list, sink{t, 1})
			continue
		}
		key = key[:0]
		put(int32(p.net.Level[t]))
		c := p.x.c
		for k := c.off[t]; k < c.off[t+1]; k++ {
			for _, dir := range [2]int32{k, c.back[k]} {
				for _, s := range p.cables[dir] {
					put(int32(c.to[k]), w.judge.kindOf[s.out], w.judge.kindOf[s.to], int32(s.same), int32(flag(s.tagged)))
				}
			}
		}
		for _, g := range groups[t] {
			put(-1, int32(g.qos), int32(g.bytes))
			for _, l := range g.legs {
				put(w.judge.kindOf[l.out], w.judge.kindOf[l.to], int32(l.same), int32(flag(l.tagged)))
			}
		}
		if i, ok := at[string(key)]; ok {
			list[i].times++
			continue
		}
		at[string(key)] = len(list)
		list = append(list, sink{t, 1})
	}
	return list
}

// towards follows what sources send to the endpoints behind a switch, and
// returns the sources that have no way there.
func (w *walker) towards(p *plane, t Switch, times int, groups []group, sources []source) (left []source) {
	plain := p.x.towards(t)
	some := make([]source, 0, len(sources))
	for _, s := range sources {
		w.room = p.x.next(w.room[:0], s.at, t, -1)
		if s.at != t && len(w.room) == 0 {
			left = append(left, s)
			continue
		}
		some = append(some, s)
	}
	for i := range groups {
		f := follow{walker: w, p: p, t: t, times: times, group: &groups[i], plain: plain, heads: p.heads(), nodes: w.nodes[:0]}
		f.run(some)
		w.nodes = f.nodes
		if w.out.Limit != nil {
			break
		}
	}
	return left
}

// follow is the way of all frames to one group of endpoints.
type follow struct {
	*walker
	p     *plane
	t     Switch
	times int
	group *group
	plain bool
	heads []int32 // by switch, the last node there, -1 = none
	nodes []node
	hops  []hop
}

func (w *follow) run(sources []source) {
	dest := w.group.legs[0].to
	for _, s := range sources {
		if s.same == 1 && len(w.group.legs) == 1 && w.group.legs[0].same == 1 && dest == s.out {
			continue // nobody sends to itself
		}
		sole := s.out
		if s.same > 1 {
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
				w.arrive(node{at: s.at, priority: v.prio, frame: v.next, in: -1, by: s.cable, sent: begins, was: x, prev: -1, sole: sole})
				if s.same > 1 {
					w.arrive(node{at: s.at, priority: v.prio, frame: v.next, in: -1, by: s.twin, sent: begins, was: x, prev: -1})
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
			if old.prev < 0 && old.twin == nil && old.by.out != n.by.out {
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
		priority, was := w.judge.tag(n.priority, n.frame, h)
		for _, s := range w.p.cables[k] {
			v := w.judge.hop(priority, was, s.cable)
			if v.fault != Sound {
				ports := s.same
				if x.c.to[k] == w.t {
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
		if l.to == n.sole && l.same == 1 {
			continue // nobody sends to itself
		}
		priority, x := n.priority, n.frame
		if l.over != nil {
			v := w.judge.hop(priority, x, *l.over)
			if v.fault != Sound {
				w.report(i, priority, x, *l.over, v, 1)
			}
			if v.fault != Sound || v.ends {
				continue
			}
			w.nodes = append(w.nodes, node{at: w.t, priority: v.prio, frame: v.next, by: *l.over, sent: priority, was: x, prev: i, in: -1})
			last := int32(len(w.nodes) - 1)
			if v := w.judge.hop(v.prio, v.next, l.cable); v.fault != Sound {
				w.report(last, w.nodes[last].priority, w.nodes[last].frame, l.cable, v, 1)
			}
			w.nodes = w.nodes[:last]
			continue
		}
		if v := w.judge.hop(priority, x, l.cable); v.fault != Sound {
			if n.by.out == l.to && n.twin != nil {
				w.nodes[i] = *n.twin // for the way of the example: nobody sends to itself
			}
			w.report(i, priority, x, l.cable, v, l.same*w.times)
			w.nodes[i] = n
		}
	}
}

func (w *walker) step(n int) {
	if w.done += int64(n) + 1; w.done > w.steps && w.out.Limit == nil {
		w.out.Limit = &LimitError{"steps", w.done, w.steps}
	}
}
