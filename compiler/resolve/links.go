package resolve

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// links joins the two ends of every cable. A port that several links name keeps
// the first as its peer: the rule on ports used twice says so.
func (r *resolver) links() {
	r.linkOf = map[lang.BlockID]fabric.LinkID{}
	for _, c := range r.cables() {
		row := fabric.Link{A: c.a, B: c.b, Decl: r.decl(c.from), Name: r.str(r.cfg.Blocks[c.from].Label), Key: r.str(r.cfg.Blocks[c.from].Key)}
		r.cableBy(&row, c.from)
		r.linkOf[c.from] = r.addLink(row, c.from)
	}
}

// written is the ports that a link block joins.
type written struct {
	a, b fabric.PortID // a < b, unless a block names one port twice
	from lang.BlockID
}

// cables are the ends of all link blocks, in the order of the ports.
func (r *resolver) cables() []written {
	var list []written
	for _, b := range r.cfg.Top {
		if r.cfg.Blocks[b].Kind != schema.Link {
			continue
		}
		if ends, ok := r.ends(b); ok {
			list = append(list, written{min(ends[0], ends[1]), max(ends[0], ends[1]), b})
		}
	}
	byEnds := func(x, y written) int {
		if c := cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)); c != 0 || x.from == y.from {
			return c
		}
		return strings.Compare(r.cfg.Address(x.from), r.cfg.Address(y.from))
	}
	if !slices.IsSortedFunc(list, byEnds) { // as they are mostly
		slices.SortFunc(list, byEnds)
	}
	return list
}

// linkSays is an attribute of a link, by its block or the defaults for links, and the block that says so.
func (r *resolver) linkSays(b lang.BlockID, n schema.Attr) (lang.Value, lang.BlockID) {
	if r.cfg.Blocks[b].Kind == schema.NIC { // its words are of its own end
	} else if r.spokenOf(b) {
		s := r.alone(b)
		if v, l := s.nearest(n); l.by != 0 {
			return v, l.by
		}
	} else if v := r.cfg.Attr(b, n); v.Kind != lang.Absent {
		return v, b
	}
	for _, d := range r.defaultsFor(b, "link") {
		if v := r.cfg.Attr(d, n); v.Kind != lang.Absent {
			return v, d
		}
	}
	return lang.Value{}, 0
}

// cableBy reads what the block of a link says of its cable, or who speaks for it.
func (r *resolver) cableBy(l *fabric.Link, b lang.BlockID) {
	v, by := r.linkSays(b, schema.ACable)
	r.cable(l, v)
	if by != 0 && by != b {
		r.saidBy(l, by)
	}
}

// saidBy notes who says what a cable is.
func (r *resolver) saidBy(l *fabric.Link, by lang.BlockID) {
	if l.Media != 0 {
		l.MediaBy = r.decl(by)
	}
	if l.LengthWritten || l.DelayNs != 0 {
		l.LengthBy = r.decl(by)
	}
}

// roomForLinks makes room for about n more links. Counts that do not fit the
// ports may say anything.
func (r *resolver) roomForLinks(n int) {
	n = min(n, len(r.f.Ports))
	r.f.Links, r.linkBlocks = slices.Grow(r.f.Links, n), slices.Grow(r.linkBlocks, n)
}

func (r *resolver) addLink(row fabric.Link, from lang.BlockID) fabric.LinkID {
	id := fabric.LinkID(len(r.f.Links))
	r.f.Links = append(r.f.Links, row)
	if len(r.linkBlocks) == 0 {
		r.linkBlocks = append(r.linkBlocks, 0)
	}
	r.linkBlocks = append(r.linkBlocks, from)
	a, b := &r.f.Ports[row.A], &r.f.Ports[row.B]
	if a.Link == 0 && b.Link == 0 && row.A != row.B {
		a.Link, b.Link, a.Peer, b.Peer = id, id, row.B, row.A
	}
	return id
}

// ends are the two ports of a link; anything else is an error at its line.
func (r *resolver) ends(b lang.BlockID) (ends [2]fabric.PortID, ok bool) {
	list := r.cfg.List(r.attr(b, schema.AEnds))
	if len(list) != 2 {
		count := fmt.Sprintf("%d ends", len(list))
		if len(list) == 1 {
			count = "one end"
		}
		r.fail(fmt.Sprintf("%s has %s", r.cfg.Address(b), count), "a cable has two: ends = [one port or nic, the other]", r.at(b, schema.AEnds, ""))
		return ends, false
	}
	for i, v := range list {
		if v.Kind != lang.Handle {
			return ends, false // the loader has reported it
		}
		if ends[i] = r.portAt(lang.BlockID(v.N)); ends[i] == 0 {
			return ends, false // its device or port was refused
		}
	}
	return ends, true
}

func (r *resolver) cable(l *fabric.Link, v lang.Value) {
	if name := r.cfg.Text(r.cfg.Field(v, schema.AMediaName)); name != "" {
		l.Media = r.mediaNamed(name) // the loader has refused unknown media
	}
	if length := r.cfg.Field(v, schema.ALength); length.Kind == lang.Int {
		l.LengthWritten = true
		l.BadLength = length.N <= 0
		l.CableMm = uint32(max(length.N, 0))
	}
	l.DelayNs = uint32(r.cfg.Field(v, schema.ADelay).N)
}

// roles follow from the cable.
func (r *resolver) roles() {
	f := r.f
	for id := 1; id < len(f.Ports); id++ {
		p := &f.Ports[id]
		host := f.Devices[p.Device].Kind == fabric.Node
		switch {
		case host:
			p.Role = fabric.RoleHost
		case p.Peer == 0:
			p.Role = roleOf(r.cfg.Text(r.ofPort(fabric.PortID(id), schema.AFacing)))
		case f.Links[p.Link].PeerLink != 0:
			p.Role = fabric.RolePeerLink
		case f.Devices[f.Ports[p.Peer].Device].Kind == fabric.Node:
			p.Role = fabric.RoleNode
		default:
			p.Role = fabric.RoleFabric
		}
	}
}

func roleOf(word string) fabric.PortRole {
	switch word {
	case "node":
		return fabric.RoleNode
	case "fabric":
		return fabric.RoleFabric
	case "peer_link":
		return fabric.RolePeerLink
	}
	return fabric.RoleUnused
}

// mlags reads the pairs and makes the cables of their peer links.
func (r *resolver) mlags() {
	r.mlagOf = map[lang.BlockID]fabric.MLAGID{}
	r.top(schema.MLAG, func(b lang.BlockID) {
		switches := r.cfg.List(r.attr(b, schema.ASwitches))
		if len(switches) != 2 {
			r.fail(fmt.Sprintf("mlag %s has %d switches", r.blockName(b), len(switches)), "a pair has two", r.at(b, schema.ASwitches, ""))
			return
		}
		name := r.blockName(b)
		if key := r.cfg.Blocks[b].Key; key != 0 {
			name += `["` + r.cfg.String(key) + `"]`
		}
		m := fabric.MLAG{Name: r.f.Names.Add(name), Domain: 1, EVPN: r.attr(b, schema.AEVPN).N == 1, Decl: r.decl(b), Layers: r.layersOn(b)}
		for _, a := range []schema.Attr{schema.ADomain, schema.APeerLink, schema.AKeepalive, schema.ACable} {
			if m.EVPN && r.attr(b, a).Kind != lang.Absent {
				r.fail(fmt.Sprintf("mlag %s is multihomed by EVPN, and has %s", r.blockName(b), a.Name()), "leave it out: only an MLAG pair has one", r.at(b, a, ""), r.at(b, schema.AEVPN, "EVPN"))
			}
		}
		if v := r.attr(b, schema.ADomain); v.Kind == lang.Int {
			m.Domain = uint16(v.N)
		}
		for i, v := range switches {
			d := fabric.DeviceID(0)
			if v.Kind == lang.Handle {
				d = r.deviceOf[v.N]
			}
			if d == 0 {
				return
			}
			if r.f.Devices[d].MLAG != 0 || (i == 1 && d == m.Switches[0]) {
				r.fail(fmt.Sprintf("switch %s is in two pairs", r.f.Text(r.f.Devices[d].Name)), "a switch has one partner", r.at(b, schema.ASwitches, ""))
				return
			}
			m.Switches[i] = d
		}
		r.keepalive(b, &m)
		id := fabric.MLAGID(len(r.f.MLAGs))
		r.f.MLAGs = append(r.f.MLAGs, m)
		for _, d := range m.Switches {
			r.f.Devices[d].MLAG = id
		}
		r.mlagOf[b] = id
		r.peerLink(b, id)
	})
}

func (r *resolver) keepalive(b lang.BlockID, m *fabric.MLAG) {
	v := r.attr(b, schema.AKeepalive)
	m.IntervalMs = uint32(r.cfg.Field(v, schema.AInterval).N / 1000)
	m.TimeoutMs = uint32(r.cfg.Field(v, schema.ATimeout).N / 1000)
	for _, p := range r.cfg.Pairs(r.cfg.Field(v, schema.ASource4)) {
		name := r.cfg.Text(p.Key)
		found := false
		for i, d := range m.Switches {
			if r.f.Text(r.f.Devices[d].Name) == name {
				m.Keepalive[i], _ = netip.ParseAddr(r.cfg.Text(p.Val))
				found = true
			}
		}
		if !found {
			r.fail(fmt.Sprintf("keepalive of mlag %s names %s, which is not one of its switches", r.f.Text(m.Name), name),
				"name the two switches of the pair", r.at(b, schema.AKeepalive, ""), r.at(b, schema.ASwitches, "the switches"))
		}
	}
}

// peerLink makes one link for each port name that both switches have, and a
// LAG on each side when there are several, or the OS has no peer link without.
func (r *resolver) peerLink(b lang.BlockID, id fabric.MLAGID) {
	m := &r.f.MLAGs[id]
	var members [2][]fabric.PortID
	for _, v := range r.cfg.List(r.attr(b, schema.APeerLink)) {
		var ends [2]fabric.PortID
		for i, d := range m.Switches {
			p := r.port(d, r.text(v))
			if p == 0 {
				r.fail(fmt.Sprintf("switch %s has no port %s for the peer link of mlag %s", r.f.Text(r.f.Devices[d].Name), r.cfg.Text(v), r.f.Text(m.Name)),
					"name ports that both switches have", r.at(b, schema.APeerLink, ""))
				return
			}
			ends[i] = p
			members[i] = append(members[i], p)
		}
		row := fabric.Link{A: min(ends[0], ends[1]), B: max(ends[0], ends[1]), Decl: m.Decl, Name: m.Name, Key: r.text(v), PeerLink: id, Origin: fabric.OfMLAG}
		r.cableBy(&row, b)
		m.Links = append(m.Links, r.addLink(row, 0))
	}
	var names [2]string
	for i, d := range m.Switches {
		names[i] = peerLinkName(r.f.Text(r.f.Devices[d].OSName))
	}
	if len(members[0]) < 2 && names == [2]string{} {
		return
	}
	for i, d := range m.Switches {
		m.LAGs[i] = r.addLAG(fabric.LAG{Device: d, Name: r.f.Names.Add(names[i]), Mode: fabric.LACP, Fast: true, RateSet: true, Members: members[i], Decl: m.Decl, Implied: true}, 0)
	}
	r.f.LAGs[m.LAGs[0]].Peer, r.f.LAGs[m.LAGs[1]].Peer = m.LAGs[1], m.LAGs[0]
}

// peerLinkName is the name that an OS demands of the LAG of a peer link, one
// port or more, "" where any will do [Cumulus Linux 5.x user guide, Multi-Chassis
// Link Aggregation: the interface is peerlink].
func peerLinkName(os string) string {
	if os == "cumulus-linux" {
		return "peerlink"
	}
	return ""
}
