package lint

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// What ports that are shut part. A cable with one at either end is down in every
// proof; what no other way stands in for is told here and in ROCE805.

var roce827 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE827", Name: "rdma_shut", Severity: diag.Error,
		Title:  "RDMA has one NIC that is up in a segment, or none",
		Why:    "a port that is shut is down: where none or one is left, nobody has anyone to talk to",
		Fix:    "enable the ports, or take the RDMA off them until they are needed",
		Source: "docs/language/blocks.md, port: admin",
		Bad:    bothEnds("admin = \"down\""),
		Good:   bothEnds("admin = \"up\""),
	},
	Run: rdmaShut,
}

// bothEnds is twoNodes with something said of the ports at both ends of each cable.
func bothEnds(port string) string {
	return twoNodesEdit(`port "Ethernet0" {`, "port \"Ethernet0\" {\n    "+port, `port "Ethernet4" {`, "port \"Ethernet4\" {\n    "+port,
		`model    = "nvidia/connectx-6-dx"`, `model    = "nvidia/connectx-6-dx"`+"\n    "+port)
}

// shut are the cabled links with a port that is shut, ascending.
func (p *Pass) shut() (list []fabric.LinkID) {
	if p.Fabric.NoneShut {
		return nil
	}
	for l := fabric.LinkID(1); int(l) < len(p.Fabric.Links); l++ {
		if p.Fabric.ShutEnd(l) != 0 {
			list = append(list, l)
		}
	}
	return list
}

func rdmaShut(p *Pass) {
	f := p.Fabric
	if len(p.shut()) == 0 {
		return
	}
	type members struct {
		up, shut int
		left     fabric.PortID // the last one that is up
		at       fabric.PortID // the first port that is shut
		class    *fabric.Class
	}
	all := map[speaker]*members{}
	var order []speaker
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		e := p.End(id)
		if e.Port.NIC == 0 || e.Port.Link == 0 || !e.Device.Trusted || p.rdmaClass(e) == nil {
			continue
		}
		for _, s := range p.spoken(p.End(e.Port.Peer)) {
			m := all[s]
			if m == nil {
				m = &members{class: p.rdmaClass(e)}
				all[s] = m
				order = append(order, s)
			}
			if end := f.ShutEnd(e.Port.Link); end == 0 {
				m.up++
				m.left = id
			} else if m.shut++; m.at == 0 {
				m.at = end
			}
		}
	}
	for _, s := range order {
		m := all[s]
		if m.shut == 0 || m.up > 1 {
			continue
		}
		where := "without a segment"
		if s.segment != 0 {
			where = "of segment " + f.Text(f.Segments[s.segment].Name)
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("all %d NICs %s that carry class %s are shut", m.shut, where, f.Text(m.class.Name)), Address: f.PortAddress(m.at),
			Labels: []diag.Label{p.AtPort(p.End(m.at), schema.AAdmin, ""), f.DeclLabel(m.class.Decl, "the class")},
			Help:   "enable the ports, or take the RDMA off them until they are needed",
		}
		if m.up == 1 {
			d.Summary = fmt.Sprintf("%s is alone with class %s: %d of %d NICs %s are shut", f.PortName(m.left), f.Text(m.class.Name), m.shut,
				m.shut+1, where)
			d.Concerns = []string{f.PortAddress(m.left)}
		}
		p.Report(d)
	}
}

// rdmaClass is the first class of a port that carries RDMA, nil if none does.
func (p *Pass) rdmaClass(e End) (found *fabric.Class) {
	p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
		if found == nil && c.Carries == fabric.CarriesRDMA {
			found = c
		}
	})
	return found
}

// atShut are labels at ports between switches that are shut, of links that some
// finding is about; two of them are enough to find the others by.
func (p *Pass) atShut(about func(a, b fabric.DeviceID) bool) (labels []diag.Label) {
	f := p.Fabric
	for _, l := range p.shut() {
		a, b := f.Ports[f.Links[l].A].Device, f.Ports[f.Links[l].B].Device
		if len(labels) == 2 || f.Devices[a].Kind != fabric.Switch || f.Devices[b].Kind != fabric.Switch || !about(a, b) {
			continue
		}
		labels = append(labels, p.AtPort(p.End(f.ShutEnd(l)), schema.AAdmin, "shut: "+f.PortName(f.ShutEnd(l))))
	}
	return labels
}

// wiring numbers what the links between switches join, by device: with all of them,
// and without those that are shut.
func (p *Pass) wiring() (wired, up []fabric.DeviceID) {
	f := p.Fabric
	wired = make([]fabric.DeviceID, len(f.Devices))
	for d := range wired {
		wired[d] = fabric.DeviceID(d)
	}
	up = slices.Clone(wired)
	join := func(root []fabric.DeviceID, a, b fabric.DeviceID) {
		x, y := find(root, a), find(root, b)
		root[max(x, y)] = min(x, y)
	}
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		a, b := f.Ports[f.Links[l].A].Device, f.Ports[f.Links[l].B].Device
		if f.Devices[a].Kind != fabric.Switch || f.Devices[b].Kind != fabric.Switch {
			continue
		}
		if join(wired, a, b); f.Up(l, nil) {
			join(up, a, b)
		}
	}
	for d := range up {
		wired[d], up[d] = find(wired, fabric.DeviceID(d)), find(up, fabric.DeviceID(d))
	}
	return wired, up
}

func find(root []fabric.DeviceID, d fabric.DeviceID) fabric.DeviceID {
	for root[d] != d {
		root[d] = root[root[d]]
		d = root[d]
	}
	return d
}

// shutOff reports routed RDMA that ports which are shut part from others that it may
// talk to: a part of ROCE805. What is bridged is told by apart. A bond that has legs in
// several parts reaches them all.
func (p *Pass) shutOff() {
	f := p.Fabric
	if len(p.atShut(func(fabric.DeviceID, fabric.DeviceID) bool { return true })) == 0 {
		return
	}
	wired, up := p.wiring()
	type member struct {
		island, at fabric.DeviceID
		who        speaker
	}
	var members []member // one of each island and speaker
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		e := p.End(id)
		if !p.speaks(e) || slices.ContainsFunc(p.switches(f.Ports[e.Port.Peer].LAG, nil),
			func(d fabric.DeviceID) bool { return up[d] != up[e.Port.Device] }) {
			continue
		}
		for _, s := range p.spoken(e) {
			m := member{up[e.Port.Device], e.Port.Device, s}
			if p.leaves(s) && !slices.ContainsFunc(members, func(o member) bool { return o.island == m.island && o.who == s }) {
				members = append(members, m)
			}
		}
	}
	said := map[fabric.DeviceID]bool{} // by island
	for i, b := range members {
		for _, a := range members[:i] {
			if a.island == b.island || wired[a.at] != wired[b.at] || said[b.island] || !p.mayTalk(a.who, b.who) {
				continue
			}
			said[b.island] = true
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("no path from the nodes of %s to those of %s: what joins them is shut", f.Text(f.Devices[a.at].Name),
					f.Text(f.Devices[b.at].Name)),
				Address: f.Text(f.Devices[b.at].Address), Concerns: []string{f.Text(f.Devices[a.at].Address)},
				Labels: p.atShut(func(x, y fabric.DeviceID) bool { return up[x] != up[y] && (up[x] == b.island || up[y] == b.island) }),
				Help:   "enable a port on each way between them",
			})
		}
	}
}

// leaves reports whether traffic of a speaker leaves its VLAN.
func (p *Pass) leaves(s speaker) bool {
	seg := &p.Fabric.Segments[s.segment]
	return s.segment == 0 || seg.Overlay || seg.Gateway.IsValid()
}
