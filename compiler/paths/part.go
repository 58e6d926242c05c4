package paths

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// Options are what to ask of a part: its routing and floods. steps bounds the
// work, 0 stands for DefaultSteps.
func (p *Part) Options(steps int64) Options {
	o := Options{Routing: p.Routing, Floods: p.Floods, Steps: steps}
	o.Priorities = p.starts
	if p.Routing.Remap != nil {
		o.Remapped = []uint8{0, 1, 2, 3, 4, 5, 6, 7}
	}
	return o
}

// Lossless reports whether some link of the part has PFC.
func (p *Part) Lossless() bool {
	return slices.ContainsFunc(p.Net.Links, func(l Link) bool { return l.Lossless != 0 })
}

// floods finds the VLANs between switches whose floods are lossless: unknown
// unicast keeps the priority of its class, and what has no mark comes in that of
// the default class [Guo et al., SIGCOMM 2016, 4.2]. Of VLANs that are on the same
// ports one is enough.
func (p *Part) floods(f *fabric.Fabric) {
	on := trunked(f)
	seen := map[string]bool{}
	for s := fabric.SegmentID(1); int(s) < len(f.Segments); s++ {
		set := losslessFlood(f, s)
		if set == 0 {
			continue
		}
		if on[s].native == 0 {
			key := fmt.Sprint(set, on[s].sets)
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		var links []int
		for i, l := range p.Links {
			if on[s].carries(f, f.Links[l].A) && on[s].carries(f, f.Links[l].B) {
				links = append(links, i)
			}
		}
		if len(links) == 0 {
			continue
		}
		for pr := range uint8(8) {
			if set>>pr&1 == 1 {
				p.Floods, p.Flooded = append(p.Floods, Flood{pr, links}), append(p.Flooded, s)
			}
		}
	}
}

// losslessFlood is the set of priorities in which a segment floods without loss.
func losslessFlood(f *fabric.Fabric, s fabric.SegmentID) (set uint8) {
	seg := &f.Segments[s]
	for i := range f.QoS[seg.Contract()].Classes {
		c := &f.QoS[seg.Contract()].Classes[i]
		floods := c.Default || seg.Unknown == fabric.UnknownFlood
		if seg.FloodClass != 0 {
			floods = c.Name == seg.FloodClass
		}
		if c.Lossless && floods {
			set |= 1 << c.Priority
		}
	}
	return set
}

// trunk is where a segment is: the VLAN sets that have it, ascending, and itself
// if it is the native one of some port or LAG.
type trunk struct {
	sets   []fabric.VLANSetID
	native fabric.SegmentID
}

// trunked is where each segment of a fabric is.
func trunked(f *fabric.Fabric) []trunk {
	on := make([]trunk, max(len(f.Segments), 1)) // 0 is where ports without a VLAN are
	for i, set := range f.VLANSets {
		for _, s := range set {
			if n := len(on[s].sets); n == 0 || on[s].sets[n-1] != fabric.VLANSetID(i) {
				on[s].sets = append(on[s].sets, fabric.VLANSetID(i))
			}
		}
	}
	for i := range f.Ports {
		on[f.Ports[i].Native].native = f.Ports[i].Native
	}
	for i := range f.LAGs {
		on[f.LAGs[i].Native].native = f.LAGs[i].Native
	}
	return on
}

// carries reports whether a port is in the VLAN of the segment.
func (t *trunk) carries(f *fabric.Fabric, p fabric.PortID) bool {
	port := &f.Ports[p]
	lag := &f.LAGs[port.LAG]
	has := func(set fabric.VLANSetID) bool { _, ok := slices.BinarySearch(t.sets, set); return ok }
	return t.native != 0 && (port.Native == t.native || lag.Native == t.native) || has(port.VLANs) || has(lag.VLANs)
}

// gaps names what the net leaves out: a peer link that joins two parts, and one on
// which it is not known what a class becomes. Over one to a switch that has no
// other link nothing waits in a circle, as what came by it does not go back.
func (p *Part) gaps(f *fabric.Fabric, part []uint32) {
	p.Homed = p.homed(f)
	for m := 1; m < len(f.MLAGs); m++ {
		pair := &f.MLAGs[m]
		_, a := p.switchOf[pair.Switches[0]]
		_, b := p.switchOf[pair.Switches[1]]
		name := f.Text(pair.Name)
		switch {
		case !livePeer(f, pair):
		case a != b && part[pair.Switches[0]] != 0 && part[pair.Switches[1]] != 0:
			p.Gaps = append(p.Gaps, Gap{fmt.Sprintf("after a failure the peer link of mlag %s carries traffic between switches that nothing else joins", name), pair.Decl, true})
		case a && b && p.Homed != nil && p.Homed.Clash:
			p.Gaps = append(p.Gaps, Gap{fmt.Sprintf("after a failure the peer link of mlag %s carries traffic, and its cables and those of others do not agree on the priority of a class that is remapped", name), pair.Decl, true})
		}
	}
}

// livePeer reports whether a pair has a peer link that is up.
func livePeer(f *fabric.Fabric, pair *fabric.MLAG) bool {
	return slices.ContainsFunc(pair.Links, func(l fabric.LinkID) bool { return f.Up(l, nil) })
}

// remap follows classes whose priority differs between the links of the part:
// a frame keeps its class, and has the priority of that class at the port it
// comes in by. Where no priority differs there is nothing to follow.
func (p *Part) remap(f *fabric.Fabric) {
	t := newRemapTable(f)
	if !t.differ(p) {
		if slices.ContainsFunc(p.Routing.Rows, func(r Row) bool { return r.Priority >= 0 }) {
			p.starts = p.entering(f)
		}
		return
	}
	t.part(p)
	if t.clash {
		p.Gaps = append(p.Gaps, Gap{fmt.Sprintf("class %s is remapped, and two cables between the same switches, or two nodes on one, do not agree on its priority", f.Text(t.name)), t.decl, false})
		return
	}
	for pr := range uint8(8) {
		for s := range p.Devices {
			if class, ok := t.in[[2]Switch{Hosts, Switch(s)}][pr]; ok && t.kept[class] {
				p.starts = append(p.starts, pr)
				break
			}
		}
	}
	p.Routing.Remap = t.remap
}

// entering are the priorities without loss that frames of hosts have in a part: those in which the maps of ports to nodes and to
// other networks put frames. A priority that only a routing table gives, as that of a second virtual channel, is none of them
// [Dally and Seitz 1987]. nil if the part has no such port.
func (p *Part) entering(f *fabric.Fabric) []uint8 {
	set, hosts, last := uint8(0), false, fabric.ProfileID(0)
	for _, d := range p.Devices {
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			port := &f.Ports[id]
			if !facesHosts(f, port) || hosts && port.Profile == last {
				continue
			}
			hosts, last = true, port.Profile
			set |= landing(&f.Profiles[last], last != 0)
		}
	}
	if !hosts {
		return nil
	}
	starts := []uint8{}
	for pr := range uint8(8) {
		if set>>pr&1 == 1 && slices.ContainsFunc(p.Net.Links, func(l Link) bool { return l.Lossless>>pr&1 == 1 }) {
			starts = append(starts, pr)
		}
	}
	return starts
}

// facesHosts reports whether a port is one to a node or to another network.
func facesHosts(f *fabric.Fabric, port *fabric.Port) bool {
	hosts := port.Flags&fabric.External != 0
	switch {
	case hosts || port.Peer == 0 || port.Role == fabric.RoleFabric: // which says it without a look at the other end
	default:
		hosts = f.Devices[f.Ports[port.Peer].Device].Kind == fabric.Node
	}
	return hosts && port.Flags&fabric.ShutDown == 0 && f.Up(port.Link, nil)
}

// landing is the set of priorities that the maps of a port put frames in, all of them where the port is not known.
func landing(p *fabric.Profile, known bool) (set uint8) {
	if !known {
		return 0xff
	}
	switch p.Trust {
	case fabric.TrustDSCP:
		for _, pr := range p.DSCP {
			set |= 1 << pr
		}
	case fabric.TrustPCP:
		for _, pr := range p.PCP {
			set |= 1 << pr
		}
	default:
		set = 1 << p.PCP[0]
	}
	return set
}

// Tied is a net of the part with one more sink for each of some sets of switches,
// which sends nothing on and has cables that carry nothing. It is to tell failures
// apart, as what takes all of a set and what takes some of it: nodes may have
// nothing but the set. A set that is not within the part is left out.
func (p *Part) Tied(n *Net, sets [][]fabric.DeviceID) *Net {
	tied := *n
	tied.Sinks, tied.Still, tied.Links, tied.Level = slices.Clone(n.Sinks), slices.Clone(n.Still), slices.Clone(n.Links), slices.Clone(n.Level)
	for _, set := range sets {
		if !p.Has(set) {
			continue
		}
		s := Switch(tied.Switches)
		tied.Switches++
		tied.Sinks, tied.Still = append(tied.Sinks, s), append(tied.Still, s)
		if tied.Level != nil {
			tied.Level = append(tied.Level, 0) // no node of Homed has that
		}
		for _, d := range set {
			tied.Links = append(tied.Links, Link{A: p.switchOf[d], B: s})
		}
	}
	return &tied
}

// Has reports whether all of some switches are of the part.
func (p *Part) Has(set []fabric.DeviceID) bool {
	return !slices.ContainsFunc(set, func(d fabric.DeviceID) bool { _, ok := p.switchOf[d]; return !ok })
}

// priorities are the classes of one side of a link by their priorities.
type priorities map[uint8]fabric.Str

// remapTable is what each link makes of a class.
type remapTable struct {
	f     *fabric.Fabric
	in    map[[2]Switch]priorities           // by where a frame comes from and is, Hosts included
	out   map[[2]Switch]map[fabric.Str]uint8 // by where it is and goes, the priority there
	kept  map[fabric.Str]bool                // classes that are lossless somewhere
	clash bool
	name  fabric.Str    // a class that is remapped
	decl  fabric.DeclID // and its declaration
}

func newRemapTable(f *fabric.Fabric) *remapTable {
	return &remapTable{f: f, in: map[[2]Switch]priorities{}, out: map[[2]Switch]map[fabric.Str]uint8{}, kept: map[fabric.Str]bool{}}
}

// part enters the links of a part, and what its hosts send.
func (t *remapTable) part(p *Part) {
	f := t.f
	t.keep(p)
	for _, l := range p.Links {
		t.link(p, f.Links[l].A, f.Links[l].B)
		t.link(p, f.Links[l].B, f.Links[l].A)
	}
	for s, d := range p.Devices {
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			if peer := f.Ports[id].Peer; peer != 0 && f.Devices[f.Ports[peer].Device].Kind == fabric.Node && f.Up(f.Ports[id].Link, nil) {
				t.enter([2]Switch{Hosts, Switch(s)}, id)
			}
		}
	}
}

// keep finds the classes that are lossless somewhere in a part: what has no PFC
// where it comes in may have it further on.
func (t *remapTable) keep(p *Part) {
	seen := map[fabric.QoSID]bool{}
	for _, d := range p.Devices {
		first, end := t.f.PortsOf(d)
		for id := first; id < end; id++ {
			q := t.f.Profiles[t.f.Ports[id].Profile].QoS
			if seen[q] {
				continue
			}
			seen[q] = true
			for i := range t.f.QoS[q].Classes {
				c := &t.f.QoS[q].Classes[i]
				t.kept[c.Name] = t.kept[c.Name] || c.Lossless
			}
		}
	}
}

// remap is the priority with which a frame goes on.
func (t *remapTable) remap(from, at, next Switch, priority uint8) uint8 {
	class, ok := t.in[[2]Switch{from, at}][priority]
	if !ok {
		return priority
	}
	if to, ok := t.out[[2]Switch{at, next}][class]; ok {
		return to
	}
	return priority
}

// differ reports whether some class of the part has two priorities, and may be
// remapped: one contract that says so is enough.
func (t *remapTable) differ(p *Part) bool {
	type known struct {
		priority uint8
		two, may bool
		decl     fabric.DeclID // of a contract that says it may
	}
	at, last := map[fabric.Str]known{}, fabric.ProfileID(0)
	for _, d := range p.Devices {
		first, end := t.f.PortsOf(d)
		for id := first; id < end; id++ {
			port := &t.f.Ports[id]
			if port.Profile == last || port.Link == 0 || !t.f.Up(port.Link, nil) {
				continue
			}
			last = port.Profile
			q := &t.f.QoS[t.f.Profiles[last].QoS]
			for i := range q.Classes {
				c, on := &q.Classes[i], t.f.Profiles[last].On[i].Priority
				had, ok := at[c.Name]
				if !ok {
					had.priority = on
				}
				had.two = had.two || had.priority != on
				if c.Remap && !had.may {
					had.may, had.decl = true, c.Decl
				}
				if at[c.Name] = had; had.two && had.may {
					t.name, t.decl = c.Name, had.decl
					return true
				}
			}
		}
	}
	return false
}

// link enters what comes in at a port from the other end of its cable.
func (t *remapTable) link(p *Part, from, to fabric.PortID) {
	a, b := p.switchOf[t.f.Ports[from].Device], p.switchOf[t.f.Ports[to].Device]
	t.enter([2]Switch{a, b}, to)
	t.leave([2]Switch{a, b}, to)
}

// leave enters what goes from one to the other and comes in at a port there.
func (t *remapTable) leave(at [2]Switch, to fabric.PortID) {
	q, profile := &t.f.QoS[t.f.Profiles[t.f.Ports[to].Profile].QoS], &t.f.Profiles[t.f.Ports[to].Profile]
	out := t.out[at]
	if out == nil {
		out = map[fabric.Str]uint8{}
		t.out[at] = out
	}
	for i := range q.Classes {
		had, ok := out[q.Classes[i].Name]
		t.clash = t.clash || ok && had != profile.On[i].Priority
		out[q.Classes[i].Name] = profile.On[i].Priority
	}
}

func (t *remapTable) enter(at [2]Switch, port fabric.PortID) {
	profile := &t.f.Profiles[t.f.Ports[port].Profile]
	in := t.in[at]
	if in == nil {
		in = priorities{}
		t.in[at] = in
	}
	for i, c := range t.f.QoS[profile.QoS].Classes {
		had, ok := in[profile.On[i].Priority]
		t.clash = t.clash || ok && had != c.Name && (t.kept[c.Name] || t.kept[had])
		if !ok || t.kept[c.Name] {
			in[profile.On[i].Priority] = c.Name
		}
	}
}
