package paths

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// ground is what ways lie on: the switches of a fabric in sites that no cable
// joins, and the realms of endpoints that may talk.
type ground struct {
	f      *fabric.Fabric
	sites  []*site
	siteOf []int32 // by DeviceID, of switches; -1 = of none
	at     []Switch
	realms []realm
	of     map[fabric.PortID][]int // realms of an endpoint
}

// site is switches that cables join, peer links of pairs included.
type site struct {
	net     Net // Links and Sinks are those of a realm, and made for it
	routing Routing
	devices []fabric.DeviceID
	links   []fabric.LinkID
	bonds   []int32 // LAGs over pairs, by link
}

// realm is endpoints that may talk: those of a segment, and of all segments that
// share a VRF and have gateways, or that a leak joins.
type realm struct {
	segments map[fabric.SegmentID]bool
	routed   bool
	ends     []fabric.PortID // ascending
}

func newGround(f *fabric.Fabric) *ground {
	g := &ground{f: f, siteOf: make([]int32, len(f.Devices)), at: make([]Switch, len(f.Devices)), of: map[fabric.PortID][]int{}}
	g.findSites()
	g.findRealms()
	return g
}

// joins are the switches at the ends of a link that frames can cross.
func joins(f *fabric.Fabric, l fabric.LinkID) (a, b fabric.DeviceID, ok bool) {
	p, q := &f.Ports[f.Links[l].A], &f.Ports[f.Links[l].B]
	return p.Device, q.Device, p.Device != q.Device && f.Up(l, nil) &&
		f.Devices[p.Device].Kind == fabric.Switch && f.Devices[q.Device].Kind == fabric.Switch
}

func (g *ground) findSites() {
	f := g.f
	root := make([]fabric.DeviceID, len(f.Devices))
	for d := range root {
		root[d] = fabric.DeviceID(d)
	}
	find := func(d fabric.DeviceID) fabric.DeviceID {
		for root[d] != d {
			root[d] = root[root[d]]
			d = root[d]
		}
		return d
	}
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		if a, b, ok := joins(f, l); ok {
			x, y := find(a), find(b)
			root[max(x, y)] = min(x, y)
		}
	}
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		g.siteOf[d] = -1
		if f.Devices[d].Kind != fabric.Switch {
			continue
		}
		r := find(d)
		if r == d {
			g.siteOf[d] = int32(len(g.sites))
			g.sites = append(g.sites, &site{})
		}
		g.siteOf[d] = g.siteOf[r]
		s := g.sites[g.siteOf[d]]
		g.at[d] = Switch(len(s.devices))
		s.devices = append(s.devices, d)
	}
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		if a, _, ok := joins(f, l); ok {
			s := g.sites[g.siteOf[a]]
			s.links = append(s.links, l)
		}
	}
	for _, s := range g.sites {
		s.bonds, _ = bonds(f, s.links)
		s.net.Switches, s.net.Level = len(s.devices), make([]uint8, len(s.devices))
		for i := range s.net.Level {
			s.net.Level[i] = 1 // a switch with no other link than one to its peer
		}
	}
	for _, p := range Parts(f) {
		s := g.sites[g.siteOf[p.Devices[0]]]
		for i, d := range p.Devices {
			s.net.Level[g.at[d]] = p.Net.Level[i]
		}
		s.routing.Base = max(s.routing.Base, p.Routing.Base)
		s.routing.LocalRepair = s.routing.LocalRepair || p.Routing.LocalRepair
		s.routing.MayReturn = s.routing.MayReturn || p.Routing.MayReturn
		to := func(x Switch) Switch {
			if x < 0 {
				return x
			}
			return g.at[p.Devices[x]]
		}
		for _, r := range p.Routing.Rows {
			s.routing.Rows = append(s.routing.Rows, Row{At: to(r.At), From: to(r.From), To: to(r.To), Next: to(r.Next), Priority: r.Priority})
		}
	}
}

func (g *ground) findRealms() {
	f := g.f
	n := len(f.Segments)
	root := make([]int, n)
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	join := func(a, b int) {
		x, y := find(a), find(b)
		root[max(x, y)] = min(x, y)
	}
	vrfs := map[fabric.Str]int{}
	vrf := func(name fabric.Str) int {
		id, ok := vrfs[name]
		if !ok {
			id = len(root)
			vrfs[name], root = id, append(root, id)
		}
		return id
	}
	routed := map[int]bool{}
	for s := 1; s < n; s++ {
		if seg := &f.Segments[s]; (seg.Gateway.IsValid() || seg.Tier) && !seg.Unrouted {
			join(s, vrf(seg.VRF))
		}
	}
	for i := range f.Routings {
		for _, l := range f.Routings[i].Leaks {
			join(int(l.From), int(l.To))
			routed[int(l.From)] = true
		}
	}
	of := make([]fabric.Str, len(f.Ports)) // VRF of the addresses on ports
	for i := 1; i < len(f.Ifaces); i++ {
		if on := f.Ifaces[i].On; on != 0 {
			of[on] = f.Ifaces[i].VRF
		}
	}
	at := map[int]int{}
	enter := func(p fabric.PortID, node int, s fabric.SegmentID) {
		r := find(node)
		i, ok := at[r]
		if !ok {
			i = len(g.realms)
			at[r], g.realms = i, append(g.realms, realm{segments: map[fabric.SegmentID]bool{}})
		}
		x := &g.realms[i]
		if s != 0 {
			x.segments[s] = true
		}
		if !slices.Contains(g.of[p], i) {
			g.of[p] = append(g.of[p], i)
			x.ends = append(x.ends, p)
		}
	}
	for p := fabric.PortID(1); int(p) < len(f.Ports); p++ {
		if !endpoint(f, p) || f.Ports[p].Flags&fabric.Astray != 0 {
			continue
		}
		segments := segmentsOf(f, p)
		for _, s := range segments {
			enter(p, int(s), s)
		}
		if len(segments) == 0 {
			enter(p, vrf(of[f.Ports[p].Peer]), 0)
		}
	}
	for _, id := range vrfs {
		routed[id] = true
	}
	for node := range routed {
		if i, ok := at[find(node)]; ok {
			g.realms[i].routed = true
		}
	}
	for s := 1; s < n; s++ { // those without endpoints, through which ways may lead
		if i, ok := at[find(s)]; ok {
			g.realms[i].segments[fabric.SegmentID(s)] = true
		}
	}
}

// segmentsOf are the segments of a NIC on which its classes travel: those with a
// contract, and all where none has one.
func segmentsOf(f *fabric.Fabric, p fabric.PortID) []fabric.SegmentID {
	port := &f.Ports[p]
	all := slices.Clone(f.VLANSets[port.VLANs])
	if port.Native != 0 {
		all = append(all, port.Native)
	}
	if some := slices.DeleteFunc(slices.Clone(all), func(s fabric.SegmentID) bool { return f.Segments[s].QoS == 0 }); len(some) > 0 {
		return some
	}
	return all
}

// border reports whether a port ends the fabric: its contract trusts nobody, and what
// is behind it is of somebody else. Between two switches of the fabric such a port is
// a hop like any other, which the switches go on using.
func (g *ground) border(p *fabric.Port) bool {
	return p.Flags&fabric.External != 0 && g.f.QoS[g.f.Profiles[p.Profile].QoS].Untrusted
}

// crosses reports whether frames of a realm can take a link, and whether they
// have a tag on it.
func (g *ground) crosses(r *realm, l fabric.LinkID) (ok, tagged bool) {
	f := g.f
	a, b := &f.Ports[f.Links[l].A], &f.Ports[f.Links[l].B]
	if g.border(a) || g.border(b) {
		return false, false
	}
	bare := a.VLANs == 0 && b.VLANs == 0 && a.Native == 0 && b.Native == 0
	if bare {
		return (r.routed || len(r.segments) == 0) && !f.Unrouted(l), false
	}
	set := f.VLANSets[b.VLANs]
	for _, s := range f.VLANSets[a.VLANs] {
		if r.segments[s] && slices.Contains(set, s) {
			return true, true
		}
	}
	return a.Native != 0 && a.Native == b.Native && r.segments[a.Native], false
}
