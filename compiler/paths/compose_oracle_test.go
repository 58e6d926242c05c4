package paths

import (
	"slices"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
)

// packets follows one packet at a time: no kinds, no sets, no folding. It shares
// with the proof the numbers of faults and the rows of the fabric, nothing else.
type packets struct {
	*plot
	facts *derive.Facts
	mask  *fabric.Mask
	ways  map[key][][]fabric.PortID // ports by which packets left, up to the one that broke
}

func newPackets(m *plot, facts *derive.Facts, mask *fabric.Mask) *packets {
	return &packets{plot: m, facts: facts, mask: mask, ways: map[key][][]fabric.PortID{}}
}

func (x *packets) alive(l fabric.LinkID) bool {
	a, b := x.Ports[x.Links[l].A].Device, x.Ports[x.Links[l].B].Device
	return x.mask == nil || !x.mask.Links[l] && !x.mask.Devices[a] && !x.mask.Devices[b]
}

func (x *packets) all() {
	for s := fabric.PortID(1); int(s) < len(x.Ports); s++ {
		for d := fabric.PortID(1); int(d) < len(x.Ports); d++ {
			if s != d && x.nic(s) && x.nic(d) && (x.Ports[s].LAG != x.Ports[d].LAG || x.homes(d) == nil) {
				x.pair(s, d)
			}
		}
	}
}

func (x *packets) nic(p fabric.PortID) bool {
	port := &x.Ports[p]
	dev := &x.Devices[port.Device]
	return dev.Kind == fabric.Node && dev.Trusted && port.Peer != 0 && port.Profile != 0 && x.alive(port.Link)
}

// on are the segments of a port.
func (x *packets) on(p fabric.PortID) (tagged, all []fabric.SegmentID) {
	port := &x.Ports[p]
	tagged = x.VLANSets[port.VLANs]
	all = slices.Clone(tagged)
	if port.Native != 0 {
		all = append(all, port.Native)
	}
	return tagged, all
}

// realm is every segment that one can come to from a segment, and whether it is
// routed; 0 is where ports without segments are.
func (x *packets) realm(s fabric.SegmentID) (set map[fabric.SegmentID]bool, routed bool) {
	set = map[fabric.SegmentID]bool{s: true}
	seg := &x.Segments[s]
	if s != 0 && !seg.Gateway.IsValid() {
		return set, false
	}
	vrf := seg.VRF
	for o := 1; o < len(x.Segments); o++ {
		if x.Segments[o].Gateway.IsValid() && x.Segments[o].VRF == vrf {
			set[fabric.SegmentID(o)] = true
		}
	}
	if vrf == 0 {
		set[0] = true
	}
	return set, true
}

// pair sends from one NIC to another, in each realm that both are in.
func (x *packets) pair(s, d fabric.PortID) {
	_, from := x.on(s)
	_, to := x.on(d)
	if len(from) == 0 {
		from = []fabric.SegmentID{0}
	}
	if len(to) == 0 {
		to = []fabric.SegmentID{0}
	}
	for _, a := range from {
		set, routed := x.realm(a)
		for _, b := range to {
			if set[b] {
				x.within(s, d, set, routed)
			}
		}
	}
}

// carries reports whether a link between switches carries a realm, and tagged.
func (x *packets) carries(set map[fabric.SegmentID]bool, routed bool, a, b fabric.PortID) (ok, tagged bool) {
	ta, all := x.on(a)
	tb, other := x.on(b)
	if len(all)+len(other) == 0 {
		return routed, false
	}
	for _, s := range ta {
		if set[s] && slices.Contains(tb, s) {
			return true, true
		}
	}
	n := x.Ports[a].Native
	return n != 0 && n == x.Ports[b].Native && set[n], false
}

// packet is where a packet is and what is known of it.
type packet struct {
	class    Class
	dscp     uint8
	tag      int
	bytes    uint16
	priority int // in the device, -1 = at its sender
	at, from Switch
	by       int // of the net's links, -1 = none
}

// homes are the cables of a bond that is on both switches of a pair, nil if a NIC is
// of none.
func (x *packets) homes(nic fabric.PortID) (links []fabric.LinkID) {
	lag := &x.LAGs[x.Ports[nic].LAG]
	if x.Ports[nic].LAG == 0 || lag.Mode == fabric.ActiveBackup {
		return nil
	}
	for _, pair := range x.MLAGs[1:] {
		on := map[fabric.DeviceID]bool{}
		links = nil
		for _, m := range lag.Members {
			at := x.Ports[x.Ports[m].Peer].Device
			if slices.Contains(pair.Switches[:], at) {
				on[at], links = true, append(links, x.Ports[m].Link)
			}
		}
		if len(on) == 2 && x.site(nic)[pair.Switches[0]] && x.site(nic)[pair.Switches[1]] {
			return links
		}
	}
	return nil
}

// site are the switches that cables join with that of a NIC, whatever is down.
func (x *packets) site(nic fabric.PortID) map[fabric.DeviceID]bool {
	set := map[fabric.DeviceID]bool{x.Ports[x.Ports[nic].Peer].Device: true}
	for range x.Devices {
		for l := 1; l < len(x.Links); l++ {
			a, b := x.Ports[x.Links[l].A].Device, x.Ports[x.Links[l].B].Device
			if x.Devices[a].Kind == fabric.Switch && x.Devices[b].Kind == fabric.Switch && (set[a] || set[b]) {
				set[a], set[b] = true, true
			}
		}
	}
	return set
}

// within sends in a realm: while switches repair by themselves, where they do, and
// when all have learnt of the failure.
func (x *packets) within(s, d fabric.PortID, set map[fabric.SegmentID]bool, routed bool) {
	for _, repair := range []bool{true, false} {
		x.over(s, d, set, routed, repair)
	}
}

// over sends in a realm. A bond on both switches of a pair is a switch below both.
func (x *packets) over(s, d fabric.PortID, set map[fabric.SegmentID]bool, routed, repair bool) {
	site := x.site(d)
	if !site[x.Ports[x.Ports[s].Peer].Device] {
		return
	}
	// The net of the realm, links of all switches.
	n := &Net{}
	var devices []fabric.DeviceID
	index := map[fabric.DeviceID]Switch{}
	for dev := fabric.DeviceID(1); int(dev) < len(x.Devices); dev++ {
		if x.Devices[dev].Kind == fabric.Switch {
			index[dev] = Switch(len(devices))
			devices = append(devices, dev)
		}
	}
	n.Switches = len(devices)
	n.Level = make([]uint8, len(devices))
	for i := range n.Level {
		n.Level[i] = 1
	}
	// Levels and rows are those of the whole fabric: other tests show them right.
	o := &Options{Down: &Down{}}
	for _, p := range Parts(x.Fabric) {
		for i, dev := range p.Devices {
			n.Level[index[dev]] = p.Net.Level[i]
		}
		if !site[p.Devices[0]] {
			continue
		}
		sw := func(s Switch) Switch {
			if s < 0 {
				return s
			}
			return index[p.Devices[s]]
		}
		// Parts that a peer link alone joins are one, of the model that allows most.
		o.Routing.Base, o.Routing.LocalRepair = max(o.Routing.Base, p.Routing.Base), o.Routing.LocalRepair || p.Routing.LocalRepair
		for _, r := range p.Routing.Rows {
			o.Routing.Rows = append(o.Routing.Rows, Row{At: sw(r.At), From: sw(r.From), To: sw(r.To), Next: sw(r.Next), Priority: -1})
		}
	}
	o.Routing.LocalRepair = o.Routing.LocalRepair && repair
	var links []fabric.LinkID
	crossed := func(l fabric.LinkID) bool {
		a, b := x.Links[l].A, x.Links[l].B
		if x.Devices[x.Ports[a].Device].Kind != fabric.Switch || !site[x.Ports[a].Device] || x.Devices[x.Ports[b].Device].Kind != fabric.Switch {
			return false
		}
		ok, _ := x.carries(set, routed, a, b)
		return ok
	}
	of := make([]fabric.LinkID, len(x.Links))
	for i := range of {
		of[i] = fabric.LinkID(i)
	}
	bonds, _ := bonds(x.Fabric, of) // another test shows them right
	for l := fabric.LinkID(1); int(l) < len(x.Links); l++ {
		a, b := x.Links[l].A, x.Links[l].B
		if !crossed(l) {
			continue
		}
		if !x.alive(l) {
			o.Down.Links = append(o.Down.Links, len(links))
		}
		links = append(links, l)
		n.Links = append(n.Links, Link{A: index[x.Ports[a].Device], B: index[x.Ports[b].Device], Peer: x.Links[l].PeerLink != 0, Bond: bonds[l]})
	}
	t := index[x.Ports[x.Ports[d].Peer].Device]
	if legs := x.homes(d); legs != nil {
		t = Switch(n.Switches)
		n.Switches++
		for i := range n.Level {
			if n.Level[i] > 0 {
				n.Level[i]++
			}
		}
		n.Level, n.Still, index[x.Ports[d].Device] = append(n.Level, 1), []Switch{t}, t
		ends := map[Switch]bool{}
		for _, l := range legs {
			at := index[x.Ports[x.Links[l].A].Device] + index[x.Ports[x.Links[l].B].Device] - t
			if !x.alive(l) {
				o.Down.Links = append(o.Down.Links, len(links))
			}
			links, ends[at] = append(links, l), true
			n.Links = append(n.Links, Link{A: at, B: t})
		}
		for _, r := range slices.Clone(o.Routing.Rows) {
			if ends[r.To] && !ends[r.At] {
				r.To = t
				o.Routing.Rows = append(o.Routing.Rows, r)
			}
		}
		for at := range ends {
			if o.Routing.Base == ByTable {
				o.Routing.Rows = append(o.Routing.Rows, Row{at, Anywhere, t, t, -1})
			}
		}
	}
	for dev, down := range maskDevices(x.mask) {
		if i, ok := index[dev]; ok && down && site[dev] {
			o.Down.Switches = append(o.Down.Switches, i)
		}
	}
	w := &way{packets: x, net: newNaive(n, o), links: links, devices: devices, index: index, set: set, routed: routed, d: d}
	w.t = t
	w.base = w.net.hops(w.t)
	if leaf := index[x.Ports[x.Ports[s].Peer].Device]; leaf != w.t && !w.known(leaf) {
		return // its own cable is judged where something goes on behind it
	}
	q := x.Profiles[x.Ports[s].Profile].QoS
	for i, c := range x.QoS[q].Classes {
		if c.Default || !w.wanted(c) {
			continue
		}
		for dscp := range uint8(64) {
			if c.DSCP>>dscp&1 == 0 {
				continue
			}
			bytes := uint16(0)
			if c.Carries == fabric.CarriesRDMA {
				bytes = min(x.facts.Port(s).NeedMTU, x.facts.Port(d).NeedMTU)
			}
			p := packet{class: Class{q, i}, dscp: dscp, tag: int(c.Priority), bytes: bytes, priority: -1, from: Hosts, by: -1}
			w.leave(p, s, nil)
		}
	}
}

func maskDevices(m *fabric.Mask) map[fabric.DeviceID]bool {
	if m == nil {
		return nil
	}
	return m.Devices
}

// way is one realm and destination.
type way struct {
	*packets
	net     *naive
	links   []fabric.LinkID
	devices []fabric.DeviceID
	index   map[fabric.DeviceID]Switch
	set     map[fabric.SegmentID]bool
	routed  bool
	d       fabric.PortID
	t       Switch
	base    map[Switch]map[Switch]bool
	seen    []packet
}

// known reports whether a switch sends on what its hosts send.
func (w *way) known(s Switch) bool {
	sends := false
	for to := range w.net.ways(w.base, Hosts, -1, s, w.t) {
		w.net.cables(func(l int, a, b Switch) { sends = sends || a == s && b == to.to && to.takes(w.net.n.Links[l]) })
	}
	return sends
}

func (w *way) wanted(c fabric.Class) bool {
	for _, o := range w.QoS[w.Profiles[w.Ports[w.d].Profile].QoS].Classes {
		if o.Name == c.Name && o.Carries == c.Carries && !o.Default {
			return true
		}
	}
	return false
}

// give is the priority that a port gives.
func (w *way) give(p *fabric.Profile, dscp uint8, tag int) int {
	switch {
	case p.Trust == fabric.TrustDSCP:
		return int(p.DSCP[dscp])
	case tag >= 0:
		return int(p.PCP[tag])
	}
	return int(p.PCP[0])
}

// leave takes a packet over the cable at a port.
func (w *way) leave(p packet, out fabric.PortID, path []fabric.PortID) {
	path = append(path[:len(path):len(path)], out)
	to := w.Ports[out].Peer
	a, b := &w.Profiles[w.Ports[out].Profile], &w.Profiles[w.Ports[to].Profile]
	host := w.Devices[w.Ports[out].Device].Kind == fabric.Node
	class := &w.QoS[p.class.QoS].Classes[p.class.Index]
	if p.priority < 0 {
		p.priority = w.give(a, p.dscp, p.tag)
	}
	broken := func(f Fault, priority int) {
		k := keyOf(w.Fabric, p.class, &Hop{Out: out, To: to, Fault: f, Priority: uint8(max(priority, 0))})
		w.ways[k] = append(w.ways[k], path)
	}
	if w.Ports[out].Profile == 0 || w.Ports[to].Profile == 0 {
		if class.Lossless {
			broken(Unpaused, p.priority)
		}
		return
	}
	wire := -1
	if ta, _ := w.on(out); len(ta) > 0 {
		if tb, _ := w.on(to); slices.ContainsFunc(ta, func(s fabric.SegmentID) bool { return w.set[s] && slices.Contains(tb, s) }) {
			wire = p.tag
		}
	}
	queue := a.Queue[p.priority]
	if !host { // a remapped class on a port where it is moved
		moved := false
		mark := uint8(0)
		for i := len(w.QoS[a.QoS].Classes) - 1; i >= 0; i-- {
			c := &w.QoS[a.QoS].Classes[i]
			if moved = moved || c.Remap && a.On[i].Priority != c.Priority; c.DSCP != 0 && int(a.On[i].Priority) == p.priority {
				for mark = 0; c.DSCP>>mark&1 == 0; mark++ {
				}
			}
		}
		if moved {
			p.dscp = mark
		}
	}
	next := w.give(b, p.dscp, wire)
	declared := class.Remap
	for _, q := range []fabric.QoSID{a.QoS, b.QoS} {
		for _, c := range w.QoS[q].Classes {
			declared = declared || c.Name == class.Name && c.Remap
		}
	}
	is := func(set uint8, prio int) bool { return set>>prio&1 == 1 }
	stopped := a.PFCQueue[next]
	if host {
		stopped = a.Queue[next]
	}
	toSwitch := w.Devices[w.Ports[to].Device].Kind == fabric.Switch
	mixed := false
	for i, c := range w.QoS[a.QoS].Classes {
		mixed = mixed || c.Lossless && a.On[i].PFC && a.On[i].Queue == queue
	}
	for i, c := range w.QoS[b.QoS].Classes {
		mixed = mixed || c.Lossless && b.On[i].PFC && int(b.On[i].Priority) == next
	}
	small := func(q fabric.PortID) bool { return w.Ports[q].MTU < p.bytes }
	fault := Sound
	switch {
	case p.priority != next && !declared:
		fault = Parted
	case b.Remarks && b.Remark[p.dscp] != p.dscp && class.DSCP>>b.Remark[p.dscp]&1 == 0 && !declared:
		fault = Remarked
	case class.Lossless && !(is(a.PFC, next) && is(b.PFC, next)):
		fault = Unpaused
	case class.Lossless && stopped != queue:
		fault = Unstopped
	case class.Lossless && toSwitch && w.facts.Port(to).Headroom[next] == (derive.Headroom{}):
		fault = Unbuffered
	case !class.Lossless && mixed:
		fault = Mixed
	case !host && class.Carries == fabric.CarriesRDMA && a.ECN[queue].Mode == fabric.Unwritten:
		fault = Unmarked
	case small(out) || small(to):
		fault = Oversized
	}
	if fault != Sound {
		broken(fault, p.priority)
		return
	}
	if b.Remarks {
		p.dscp = b.Remark[p.dscp]
	}
	p.priority = next
	if !toSwitch {
		return
	}
	p.from, p.by = Hosts, -1
	if !host {
		p.from, p.by = w.index[w.Ports[out].Device], slices.Index(w.links, w.Ports[out].Link)
	}
	p.at = w.index[w.Ports[to].Device]
	w.forward(p, path)
}

// forward sends a packet out of a switch by every way.
func (w *way) forward(p packet, path []fabric.PortID) {
	if slices.Contains(w.seen, p) {
		return // a loop
	}
	w.seen = append(w.seen, p)
	defer func() { w.seen = w.seen[:len(w.seen)-1] }()
	if p.at == w.t {
		w.leave(p, w.Ports[w.d].Peer, path)
		return
	}
	for to := range w.net.ways(w.base, p.from, p.by, p.at, w.t) {
		for i, l := range w.links {
			for _, out := range []fabric.PortID{w.Links[l].A, w.Links[l].B} {
				if w.net.up(i) && to.takes(w.net.n.Links[i]) && w.index[w.Ports[out].Device] == p.at && w.index[w.Ports[w.Ports[out].Peer].Device] == to.to {
					w.leave(p, out, path)
				}
			}
		}
	}
}
