package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
)

// maxIslands is how many parts of a VLAN are told apart.
const maxIslands = 64

// apart reports segments whose hosts are on switches that nothing joins in that
// VLAN: a part of ROCE805. What is routed or carried in an overlay is joined
// above, and VLANs of tiers are the same number on each leaf on purpose.
func (p *Pass) apart() {
	f := p.Fabric
	p.eachRDMA(func(s fabric.SegmentID) {
		seg := &f.Segments[s]
		on := p.carriersOf(s)
		if seg.Tier || seg.Overlay || seg.Gateway.IsValid() || len(on) < 2 {
			return
		}
		island := p.islandsOf(s, on)
		if island == nil {
			return
		}
		type member struct {
			host    fabric.DeviceID
			islands uint64
		}
		var members []member
		for _, d := range on {
			first, end := f.PortsOf(d)
			for id := first; id < end; id++ {
				e := p.End(id)
				if e.Port.Peer == 0 || p.faces(e) || f.Devices[f.Ports[e.Port.Peer].Device].Kind != fabric.Node {
					continue
				}
				if nic := p.End(e.Port.Peer); !p.carries(nic, seg.VLAN) || !p.carries(e, seg.VLAN) || !f.Up(e.Port.Link, nil) {
					continue
				}
				host := f.Ports[e.Port.Peer].Device
				bit := uint64(1) << island[d]
				if n := len(members); n > 0 && members[n-1].host == host {
					members[n-1].islands |= bit
					continue
				}
				known := false
				for i := range members {
					if members[i].host == host {
						members[i].islands |= bit
						known = true
					}
				}
				if !known && len(members) < 4*maxIslands { // the others are alike, mostly
					members = append(members, member{host, bit})
				}
			}
		}
		for i := range members {
			for j := range i {
				a, b := members[j], members[i]
				if a.islands&b.islands != 0 {
					continue
				}
				x, y := &f.Devices[min(a.host, b.host)], &f.Devices[max(a.host, b.host)]
				shut := p.atShut(func(from, to fabric.DeviceID) bool { return island[from] != island[to] })
				how, help := fmt.Sprintf("no link carries VLAN %d between their switches", seg.VLAN),
					"carry the segment on a link between the switches, or give each part a segment and subnet of its own"
				if shut != nil {
					how, help = fmt.Sprintf("what carries VLAN %d between their switches is shut", seg.VLAN),
						"enable a port on a way between the switches that carries the segment"
				}
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("%s and %s are both in segment %s, and %s", f.Text(x.Name), f.Text(y.Name), f.Text(seg.Name), how),
					Address: f.Text(seg.Address), Concerns: []string{f.Text(x.Address), f.Text(y.Address)},
					Labels: append([]diag.Label{f.DeclLabel(seg.Decl, ""), f.DeclLabel(x.Decl, "one node"), f.DeclLabel(y.Decl, "the other")}, shut...),
					Help:   help,
				})
				return
			}
		}
	})
}

// carries reports whether a port, or the LAG that it is in, is in a VLAN.
func (p *Pass) carries(e End, vlan uint16) bool {
	tagged, untagged := p.hasVLAN(e, vlan)
	if tagged || untagged || e.Port.LAG == 0 {
		return tagged || untagged
	}
	lag := &p.Fabric.LAGs[e.Port.LAG]
	as := e
	port := *e.Port
	port.VLANs, port.Native = lag.VLANs, lag.Native
	as.Port = &port
	tagged, untagged = p.hasVLAN(as, vlan)
	return tagged || untagged
}

// islandsOf numbers the parts of a segment's VLAN by the switches that carry it;
// nil if it is whole, or in more parts than can be told apart.
func (p *Pass) islandsOf(s fabric.SegmentID, on []fabric.DeviceID) map[fabric.DeviceID]int {
	island := make(map[fabric.DeviceID]int, len(on))
	count := 0
	for _, d := range on {
		if _, seen := island[d]; seen {
			continue
		}
		around := spread{came: map[place]step{}}
		around.enter(place{d, p.Fabric.Segments[s].VLAN}, step{})
		for at, more := around.next(); more; at, more = around.next() {
			island[at.device] = count
			for _, id := range p.edgesOf(at.device) {
				if to, ok := p.cross(at, p.End(id), nil); ok && p.Fabric.Devices[to.device].Kind == fabric.Switch {
					around.enter(to, step{at, id})
				}
			}
		}
		if count++; count > maxIslands {
			return nil
		}
	}
	if count < 2 {
		return nil
	}
	return island
}
