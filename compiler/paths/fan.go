package paths

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// Traffic is the packets that ways are asked for.
type Traffic struct {
	From, To fabric.PortID // NICs
	Class    Class         // of the contract of From
	Mark     Mark          // that the sender writes
}

// Shape is ways that treat a frame alike at each hop.
type Shape struct {
	Way   []Hop  // the first of them
	Count uint64 // how many; math.MaxUint64 stands for more than that
}

// Fan is all ways that the routing has for some traffic.
type Fan struct {
	Shapes []Shape
	Count  uint64          // of all shapes
	More   bool            // there are more shapes than are listed
	Peer   bool            // they go by the peer link of a pair: there is no other
	Loop   bool            // some lead back to where they were, and are left out
	Barred []fabric.LinkID // where there is no way: links around it whose ends are in two subnets
}

// maxShapes is the most shapes that are listed, of one destination.
const maxShapes = 64

// ErrApart is that two endpoints share no segment and no VRF.
var ErrApart = errors.New("they share no segment, and no VRF with gateways")

// Classify is the class that a mark makes a frame of in a contract: the one that
// declares it, else the default.
func Classify(f *fabric.Fabric, q fabric.QoSID, m Mark, byPCP bool) Class {
	c := Class{QoS: q}
	for i := range f.QoS[q].Classes {
		k := &f.QoS[q].Classes[i]
		switch {
		case byPCP && m.PCP >= 0 && k.Priority == uint8(m.PCP), !byPCP && k.DSCP>>(m.DSCP&63)&1 == 1:
			return Class{q, i}
		case k.Default:
			c.Index = i
		}
	}
	return c
}

// Marks is what a NIC writes into frames of a class of its contract: the first
// code point, unless its profile knows what the host really writes, and the
// priority where there is a tag.
func Marks(f *fabric.Fabric, c Class, sender *fabric.Profile) Mark {
	k := &f.QoS[c.QoS].Classes[c.Index]
	m := Mark{PCP: int8(k.Priority & 7)}
	if k.DSCP != 0 {
		m.DSCP = uint8(bits.TrailingZeros64(k.DSCP))
	}
	if sender.ToSSet && k.Carries == fabric.CarriesRDMA {
		m.DSCP = sender.ToS >> 2 // as found, even where that is no mark at all
	}
	return m
}

// Fan finds the ways of some traffic, with what a mask has down.
func (c *Composer) Fan(t Traffic, m *fabric.Mask) (*Fan, error) {
	f := c.f
	for _, p := range [2]fabric.PortID{t.From, t.To} {
		if end := f.ShutEnd(f.Ports[p].Link); end != 0 {
			return nil, fmt.Errorf("%s is down: admin = \"down\" at %s", f.PortName(p), f.PortName(end))
		}
		if !endpoint(f, p) {
			return nil, fmt.Errorf("%s sends nothing: it has no cable or no contract, or its node is not trusted", f.PortName(p))
		}
		if !f.Up(f.Ports[p].Link, m) {
			return nil, fmt.Errorf("%s is down", f.PortName(p))
		}
		if err := reached(f, p); err != nil {
			return nil, err
		}
	}
	if c.ground == nil {
		c.ground = newGround(f)
	}
	w := &walker{Composer: c, mask: m, out: &Composition{}}
	x := frame{class: t.Class, dscp: t.Mark.DSCP, pcp: t.Mark.PCP}
	if f.QoS[t.Class.QoS].Classes[t.Class.Index].Carries == fabric.CarriesRDMA {
		x.bytes = min(c.facts.Port(t.From).NeedMTU, c.facts.Port(t.To).NeedMTU)
	}
	first := c.judge.id(x)
	if f.Ports[t.From].Peer == t.To {
		way := w.hops(first, []stride{{cable{t.From, t.To, w.tagged(t.From, t.To)}, -1}})
		return &Fan{Shapes: []Shape{{way, 1}}, Count: 1}, nil
	}
	shared := false
	for _, i := range c.ground.of[t.From] {
		if !slices.Contains(c.ground.of[t.To], i) {
			continue
		}
		shared = true
		if ways := w.between(t, &c.ground.realms[i], first); ways != nil {
			return ways, nil
		}
	}
	if !shared {
		return nil, apart(f, t.From, t.To)
	}
	fan := &Fan{}
	if at := c.ground.siteOf[f.Ports[f.Ports[t.From].Peer].Device]; at >= 0 {
		fan.Barred = c.ground.sites[at].barred(f)
	}
	return fan, nil
}

// between are the ways in one realm, nil if there are none. A bond that is on both
// switches of a pair is reached by any of its NICs.
func (w *walker) between(t Traffic, r *realm, x frameID) *Fan {
	f := w.f
	a, b := f.Ports[t.From].Peer, f.Ports[t.To].Peer
	at, to := w.ground.siteOf[f.Ports[a].Device], w.ground.siteOf[f.Ports[b].Device]
	if at < 0 || at != to {
		return nil
	}
	s := &shaper{walker: w, t: w.ground.at[f.Ports[b].Device], ends: []fabric.PortID{t.To}, r: r, strides: map[strideKind]int32{}, shapes: map[[2]int32]int32{}}
	var homes []home
	if h, ok := w.home(t.To); ok {
		homes, s.t, s.ends = []home{h}, Switch(len(w.ground.sites[at].devices)), f.LAGs[f.Ports[t.To].LAG].Members
	}
	var ways []*bundle
	for _, s.p = range w.planes(w.ground.sites[at], r, homes) {
		s.known, s.open = map[[2]int32][]*bundle{}, map[[2]int32]bool{}
		s.plain = s.p.x.towards(s.t)
		for _, b := range s.from(w.ground.at[f.Ports[a].Device], -1) {
			if !slices.ContainsFunc(ways, func(o *bundle) bool { return o.shape == b.shape }) {
				ways = append(ways, b) // others are the same while switches repair and when all have learnt of it
			}
		}
	}
	if len(ways) == 0 {
		return nil
	}
	fan := &Fan{Peer: true, Loop: s.loop, More: s.more}
	for _, b := range ways {
		cables, crosses := []stride{{cable{t.From, a, w.tagOn(r, t.From, a)}, -1}}, false
		for c := b; c != nil; c = c.rest {
			cables, crosses = append(cables, c.first), crosses || f.Links[f.Ports[c.first.out].Link].PeerLink != 0
		}
		fan.Shapes = append(fan.Shapes, Shape{w.hops(x, cables), b.count})
		fan.Count, fan.Peer = plus(fan.Count, b.count), fan.Peer && crosses
	}
	return fan
}

// hops takes a frame over cables, whatever is wrong with them.
func (w *walker) hops(x frameID, cables []stride) []Hop {
	var way []Hop
	priority, in := begins, fabric.PortID(0)
	for _, s := range cables {
		c := s.cable
		priority, x = w.judge.tag(priority, x, hop{priority: s.priority})
		way = append(way, w.judge.on(in, priority, x, c))
		v := w.judge.hop(priority, x, c)
		if v.next == 0 {
			break // a port without a contract: nothing is known of what follows
		}
		priority, x, in = v.prio, v.next, c.to
	}
	return way
}

// stride is a cable, and the priority that a row of a routing table gives to what
// goes over it, -1 = none.
type stride struct {
	cable
	priority int8
}

// bundle is ways onward of one shape: a cable, and what follows it.
type bundle struct {
	shape int32
	first stride
	rest  *bundle // nil: it is the last
	count uint64
}

// strideKind is all of a stride that treatment depends on.
type strideKind struct {
	out, to  int32
	tagged   bool
	priority int8
}

// shaper gathers ways to one endpoint by shape.
type shaper struct {
	*walker
	p       *plane
	r       *realm
	t       Switch
	ends    []fabric.PortID // of the endpoint
	plain   bool
	known   map[[2]int32][]*bundle // by switch, and by the channel it came in by where that matters
	open    map[[2]int32]bool
	strides map[strideKind]int32
	shapes  map[[2]int32]int32 // by the kind of the first stride and the shape of the rest, 0 = none
	loop    bool
	more    bool
}

// from are the ways on from a switch.
func (s *shaper) from(at Switch, in int32) (list []*bundle) {
	if s.plain {
		in = -1
	}
	if at == s.t {
		return s.last(nil, at)
	}
	k := [2]int32{int32(at), in}
	if list, ok := s.known[k]; ok {
		return list
	}
	if s.open[k] {
		s.loop = true
		return nil
	}
	s.open[k] = true
	defer delete(s.open, k)
	x := s.p.x
	for _, h := range x.next(nil, at, s.t, in) {
		ch := x.c.off[at] + h.out
		if x.c.to[ch] == s.t && s.p.home(s.t) {
			list = s.last(list, at)
			continue
		}
		rest := s.from(x.c.to[ch], x.c.back[ch]-x.c.off[x.c.to[ch]])
		for _, strand := range s.p.cables[ch] {
			for _, r := range rest {
				list = s.add(list, stride{strand.cable, h.priority}, r, times(uint64(strand.same), r.count))
			}
		}
	}
	s.known[k] = list
	return list
}

// last adds the cables from a switch to the endpoint.
func (s *shaper) last(list []*bundle, at Switch) []*bundle {
	for _, nic := range s.ends {
		port := s.f.Ports[nic].Peer
		if port != 0 && s.ground.at[s.f.Ports[port].Device] == at && s.up(nic) {
			list = s.add(list, stride{cable{port, nic, s.tagOn(s.r, port, nic)}, -1}, nil, 1)
		}
	}
	return list
}

// add enters ways of a shape.
func (s *shaper) add(list []*bundle, first stride, rest *bundle, count uint64) []*bundle {
	shape := [2]int32{number(s.strides, strideKind{s.judge.kindOf[first.out], s.judge.kindOf[first.to], first.tagged, first.priority}), 0}
	if rest != nil {
		shape[1] = rest.shape
	}
	id := number(s.shapes, shape)
	if i := slices.IndexFunc(list, func(o *bundle) bool { return o.shape == id }); i >= 0 {
		list[i].count = plus(list[i].count, count)
		return list
	}
	if len(list) == maxShapes {
		s.more = true
		return list
	}
	return append(list, &bundle{id, first, rest, count})
}

// number is that of a key, from 1 in the order in which they come.
func number[K comparable](of map[K]int32, key K) int32 {
	n, ok := of[key]
	if !ok {
		n = int32(len(of)) + 1
		of[key] = n
	}
	return n
}

func plus(a, b uint64) uint64 {
	if s, carry := bits.Add64(a, b, 0); carry == 0 {
		return s
	}
	return math.MaxUint64
}

func times(a, b uint64) uint64 {
	if hi, lo := bits.Mul64(a, b); hi == 0 {
		return lo
	}
	return math.MaxUint64
}
