// Package paths follows traffic through a fabric. Deadlock takes switches, the
// links between them and a model of routing, and says whether the buffers of
// lossless priorities can wait for each other in a circle; if so it gives the
// shortest circle and a flow for each of its steps; Ways says what never arrives.
// Parts makes that input from a compiled fabric; Down takes links and switches out
// of it, and Failures lists what may fail, one of all that stand alike. Composer
// follows classes over the same ways, and says where one loses its treatment.
//
// A circle is necessary for deadlock, not sufficient [Hu et al., HotNets 2016]:
// a finding says that deadlock is possible. Lossless floods of VLANs are followed
// with what is routed [Guo et al., SIGCOMM 2016, 4.2]; that there are none is a
// matter of rules of their own. The package reports nothing itself.
package paths

import (
	"cmp"
	"fmt"
	"slices"
)

// Switch is a switch of a Net, from 0.
type Switch int32

// Anywhere is no switch in particular: a Row from there holds for what hosts of
// the switch send as well as for what any neighbour does.
const Anywhere Switch = -1

// Hosts is the neighbour of a Row that holds for what the hosts of a switch send.
const Hosts Switch = -2

// Net is what a frame can cross: switches and the links between them. Hosts are
// where traffic begins and ends, and no part of it [theory C.1].
type Net struct {
	Switches int
	// Level is the rank of each switch, from 1 for those with hosts upwards; 0
	// is none, and so is a nil slice. Up and down exist between levels only.
	Level []uint8
	// Sinks are the switches with hosts, ascending: flows begin and end there.
	Sinks []Switch
	Links []Link
	// Still are sinks that send nothing on, ascending: nodes that are cabled to
	// several switches, as part of the net.
	Still []Switch
}

// Link is one cable between two switches. A link from a switch to itself is
// never crossed.
type Link struct {
	A, B     Switch
	Lossless uint8 // set of the priorities that have PFC at both ends
	// Peer is a cable of the peer link of an MLAG pair. No way is by it as long as
	// there is another: it carries what its switch has lost the way for, and what is
	// for hosts of the other one alone.
	Peer bool
	// Bond is the LAG over an MLAG pair that the cable is a leg of, seen as one from
	// both of its ends; 0 is none. A switch of the pair that has lost its legs sends
	// over the peer link, and nobody but the pair learns of it.
	Bond int32
}

// peers reports whether some link is of an MLAG pair.
func (n *Net) peers() bool { return slices.ContainsFunc(n.Links, func(l Link) bool { return l.Peer }) }

// hashed reports whether some LAG over an MLAG pair may send over its peer link.
func (n *Net) hashed() bool {
	return n.peers() && slices.ContainsFunc(n.Links, func(l Link) bool { return l.Bond != 0 })
}

// Turns reports whether some switch has others above it: what came down to one
// such may turn up again, and nothing else may.
func (n *Net) Turns() bool {
	return slices.ContainsFunc(n.Links, func(l Link) bool {
		return n.level(l.A) != n.level(l.B) && n.level(l.A) != 0 && n.level(l.B) != 0
	})
}

// kind is all that tells links between the same switches apart.
func (l *Link) kind() uint32 {
	kind := uint32(l.Lossless) | uint32(l.Bond)<<bondShift
	if l.Peer {
		kind |= peerBit
	}
	return kind
}

// Beside the priorities of a kind: the link is of an MLAG pair, and its bond.
const (
	peerBit   = 1 << 8
	bondShift = 9
	maxBonds  = 1<<(32-bondShift) - 1
)

// Down is what has failed, by index in Net.Links and by switch.
type Down struct {
	Links    []int
	Switches []Switch
}

// empty reports whether nothing has failed.
func (d *Down) empty() bool { return d == nil || len(d.Links)+len(d.Switches) == 0 }

// Base is how a switch picks the next one when nothing else is said.
type Base uint8

// Bases. UpDown climbs until the destination is below and then only descends,
// the shortest such ways in equal shares. Shortest takes all shortest ways.
// ByTable knows the ways of the rows and no other.
const (
	UpDown Base = iota
	Shortest
	ByTable
)

// String is the word of the language.
func (b Base) String() string { return [...]string{"up_down", "ecmp", "table"}[b] }

// Routing is the ways that frames may take.
type Routing struct {
	Base Base
	// Rows speak before the base: where some speak for a switch and destination,
	// those alone do, and those that name the neighbour before the others.
	Rows []Row
	// LocalRepair keeps every way as it was before the failure: a switch drops
	// those whose next link is down, and one that had some and has none left
	// sends to all neighbours above it, else to all others. Without it, routing has converged.
	LocalRepair bool
	// MayReturn lets a frame go back to the switch it came from while a repair
	// is under way: what happens until the others know [theory T4c].
	MayReturn bool
	// Remap changes the priority on the way; nil keeps it.
	Remap Remap
}

// Row is a line of a routing table: at a switch, traffic from a neighbour to a
// destination goes on to the next switch. Several that fit share the traffic.
type Row struct {
	At, From, To, Next Switch // From may be Anywhere or Hosts
	Priority           int8   // the new priority, -1 = the one it came with
}

// Lossy is the priority of what is not lossless any more.
const Lossy uint8 = 0xff

// Remap is the priority with which a frame goes on, Lossy where it may be
// dropped from there. It is asked for what comes from a neighbour and for what
// the hosts of a switch send, with from = Hosts.
type Remap func(from, at, next Switch, priority uint8) uint8

// Tag is one rule of Tagger: match of (tag, ingress port, egress port), and the
// new tag, here the priority that the tag selects [Hu et al., CoNEXT 2017].
type Tag struct {
	At, From, Next Switch // each may be Anywhere; such a From matches neighbours only
	Priority, New  uint8  // New may be Lossy
}

// Tags is the remap of a list of rules; the first that fits counts.
func Tags(rules []Tag) Remap {
	fits := func(rule, s Switch) bool { return rule == Anywhere || rule == s }
	return func(from, at, next Switch, priority uint8) uint8 {
		for _, r := range rules {
			if from != Hosts && r.Priority == priority && fits(r.At, at) && fits(r.From, from) && fits(r.Next, next) {
				return r.New
			}
		}
		return priority
	}
}

// Bounces is Tagger for fabrics with levels: at each turn from down to up a
// frame takes the next priority of the ladder, and after the last it is lossy.
// Tolerating k bounces takes k+1 priorities [theory C.4].
func Bounces(level []uint8, ladder []uint8) Remap {
	return func(from, at, next Switch, priority uint8) uint8 {
		i := slices.Index(ladder, priority)
		switch {
		case from == Hosts || i < 0 || level[from] <= level[at] || level[next] <= level[at]:
			return priority
		case i+1 == len(ladder):
			return Lossy
		}
		return ladder[i+1]
	}
}

// check says what is wrong with a net and a routing, by index.
func check(n *Net, r *Routing, d *Down) error {
	in := func(s Switch) bool { return s >= 0 && int(s) < n.Switches }
	if n.Level != nil && len(n.Level) != n.Switches {
		return fmt.Errorf("%d levels for %d switches", len(n.Level), n.Switches)
	}
	for i, l := range n.Links {
		if !in(l.A) || !in(l.B) {
			return fmt.Errorf("link %d joins switches %d and %d of %d", i, l.A, l.B, n.Switches)
		}
		if l.Bond < 0 || l.Bond > maxBonds {
			return fmt.Errorf("link %d is of bond %d, and the highest is %d", i, l.Bond, maxBonds)
		}
	}
	for i, s := range n.Sinks {
		if !in(s) || i > 0 && n.Sinks[i-1] >= s {
			return fmt.Errorf("sink %d is switch %d of %d, or not after the one before it", i, s, n.Switches)
		}
	}
	for i, s := range n.Still {
		if !in(s) || i > 0 && n.Still[i-1] >= s {
			return fmt.Errorf("still %d is switch %d of %d, or not after the one before it", i, s, n.Switches)
		}
	}
	for i, row := range r.Rows {
		if !in(row.At) || !in(row.To) || !in(row.Next) || row.From != Anywhere && row.From != Hosts && !in(row.From) {
			return fmt.Errorf("row %d names a switch beyond the %d there are", i, n.Switches)
		}
		if row.Priority < -1 || row.Priority > 7 {
			return fmt.Errorf("row %d has priority %d", i, row.Priority)
		}
	}
	if d != nil {
		for _, l := range d.Links {
			if l < 0 || l >= len(n.Links) {
				return fmt.Errorf("link %d of %d is down", l, len(n.Links))
			}
		}
		for _, s := range d.Switches {
			if !in(s) {
				return fmt.Errorf("switch %d of %d is down", s, n.Switches)
			}
		}
	}
	return nil
}

// sinkSet is the sinks as a set.
func (n *Net) sinkSet() []bool {
	set := make([]bool, n.Switches)
	for _, s := range n.Sinks {
		set[s] = true
	}
	return set
}

// stillSet is those that send nothing on, as a set; nil: none.
func (n *Net) stillSet() []bool {
	if len(n.Still) == 0 {
		return nil
	}
	set := make([]bool, n.Switches)
	for _, s := range n.Still {
		set[s] = true
	}
	return set
}

// level is the rank of a switch, 0 if it has none.
func (n *Net) level(s Switch) uint8 {
	if n.Level == nil {
		return 0
	}
	return n.Level[s]
}

// channels are the directed links, parallel ones of one kind as one with a
// width. Those out of switch s are off[s]:off[s+1], by the switch they go to. A
// channel's position among those of its sender is also the position of its
// reverse among those that enter the sender: every link has two directions.
type channels struct {
	off   []int32
	to    []Switch
	from  []Switch
	back  []int32  // the channel the other way
	width []int32  // links in it that are up, 0 = all down
	kind  []uint32 // of its links
}

// lossless are the priorities that are lossless on a channel.
func (c *channels) lossless(k int32) uint8 { return uint8(c.kind[k]) }

// peer reports whether a channel is the peer link of an MLAG pair.
func (c *channels) peer(k int32) bool { return c.kind[k]&peerBit != 0 }

// bond is the LAG over a pair that a channel is of, 0 if none.
func (c *channels) bond(k int32) int32 { return int32(c.kind[k] >> bondShift) }

// by is the channel that a link is in, out of its end A; -1 of one to itself.
func (c *channels) by(l *Link) int32 {
	if l.A == l.B {
		return -1
	}
	first, kind := c.off[l.A], l.kind()
	i, _ := slices.BinarySearch(c.to[first:c.off[l.A+1]], l.B)
	k := first + int32(i)
	for c.kind[k] != kind {
		k++
	}
	return k
}

// layChannels bundles the links of a net. It keeps channels that are down.
func layChannels(n *Net, d *Down) *channels {
	dead := make([]bool, len(n.Links))
	if d != nil {
		for _, l := range d.Links {
			dead[l] = true
		}
	}
	gone := make([]bool, n.Switches)
	if d != nil {
		for _, s := range d.Switches {
			gone[s] = true
		}
	}
	// Links in the order (low, high, lossless): a counting sort by low, and a
	// comparison within what is then short.
	start := make([]int32, n.Switches+1)
	for _, l := range n.Links {
		if l.A != l.B {
			start[min(l.A, l.B)+1]++
		}
	}
	for s := range n.Switches {
		start[s+1] += start[s]
	}
	order := make([]int32, start[n.Switches])
	next := slices.Clone(start[:n.Switches])
	for i, l := range n.Links {
		if l.A != l.B {
			low := min(l.A, l.B)
			order[next[low]] = int32(i)
			next[low]++
		}
	}
	type bundle struct {
		low, high Switch
		kind      uint32
		width     int32
	}
	bundles := make([]bundle, 0, len(order))
	deg := make([]int32, n.Switches+1)
	for s := range n.Switches {
		mine := order[start[s]:start[s+1]]
		slices.SortFunc(mine, func(x, y int32) int {
			a, b := &n.Links[x], &n.Links[y]
			return cmp.Or(cmp.Compare(max(a.A, a.B), max(b.A, b.B)), cmp.Compare(a.kind(), b.kind()))
		})
		for _, i := range mine {
			l := &n.Links[i]
			low, high := min(l.A, l.B), max(l.A, l.B)
			up := int32(1)
			if dead[i] || gone[low] || gone[high] {
				up = 0
			}
			if k := len(bundles) - 1; k >= 0 && bundles[k].low == low && bundles[k].high == high && bundles[k].kind == l.kind() {
				bundles[k].width += up
				continue
			}
			bundles = append(bundles, bundle{low, high, l.kind(), up})
			deg[low+1]++
			deg[high+1]++
		}
	}
	c := &channels{
		off: deg, to: make([]Switch, 2*len(bundles)), from: make([]Switch, 2*len(bundles)), back: make([]int32, 2*len(bundles)),
		width: make([]int32, 2*len(bundles)), kind: make([]uint32, 2*len(bundles)),
	}
	for s := range n.Switches {
		c.off[s+1] += c.off[s]
	}
	// Bundles come by (low, high), so each switch gets its neighbours ascending.
	at := slices.Clone(c.off[:n.Switches])
	for _, b := range bundles {
		x, y := at[b.low], at[b.high]
		at[b.low]++
		at[b.high]++
		c.from[x], c.to[x], c.back[x], c.width[x], c.kind[x] = b.low, b.high, y, b.width, b.kind
		c.from[y], c.to[y], c.back[y], c.width[y], c.kind[y] = b.high, b.low, x, b.width, b.kind
	}
	return c
}

// degree is the number of channels out of a switch, and of those into it.
func (c *channels) degree(s Switch) int { return int(c.off[s+1] - c.off[s]) }
