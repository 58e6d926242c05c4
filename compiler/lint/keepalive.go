package lint

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce834 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE834", Name: "mlag_keepalive_path", Severity: diag.Warning,
		Title: "the keepalive of an MLAG pair has no path but its peer link",
		Why: "a pair that loses its peer link asks over the keepalive whether the other switch lives: where that is gone too," +
			" both forward as if alone, and hosts with a leg to each get frames twice or not at all",
		Fix: "use the management addresses where uplinks are bridged, or loopback addresses where they are routed",
		Source: "Cumulus Linux user guide, Multi-Chassis Link Aggregation - MLAG: the backup IP is reachable by a route" +
			" that does not use the peer link",
		Bad:  keptAlive("alive", "segment.keep", "198.51.100.${self.index + 1}/24"),
		Good: keptAlive("lo", `"loopback"`, "198.51.100.${self.index + 1}/32"),
	},
	Run: keepalivePath,
}

// keptAlive is pairedLegs with a keepalive between the addresses of an interface.
func keptAlive(name, on, address string) string {
	return edit(pairedLegs(``), `switch "tor" {`, `segment "keep" {
  vlan   = 4000
  subnet = "198.51.100.0/24"
}
switch "tor" {`, `  port "swp[31-32]" {`, `  interface "`+name+`" {
    on      = `+on+`
    address = "`+address+`"
  }
  port "swp[31-32]" {
    tagged = segment.keep`, "192.0.2.1\", tor2 = \"192.0.2.2", "198.51.100.1\", tor2 = \"198.51.100.2")
}

func keepalivePath(p *Pass) {
	f := p.Fabric
	said := map[fabric.MLAGID]bool{}
	for id := 1; id < len(f.Ifaces); id++ {
		i := &f.Ifaces[id]
		of := f.Devices[i.Device].MLAG
		if of == 0 || said[of] {
			continue
		}
		pair, side := &f.MLAGs[of], 0
		if i.Device == f.MLAGs[of].Switches[1] {
			side = 1
		}
		mine := func(a netip.Prefix) bool { return a.Addr() == pair.Keepalive[side] }
		if !slices.ContainsFunc(f.Addresses(i), mine) || !p.overPeerLink(pair, side, i) {
			continue
		}
		said[of] = true
		over := "the peer link itself"
		labels := []diag.Label{f.Label(pair.Decl, pair.Layers, schema.AKeepalive, ""), f.DeclLabel(i.Decl, "its interface")}
		if s := i.Segment; s != 0 {
			over = fmt.Sprintf("VLAN %d (%s), which only the peer link carries", f.Segments[s].VLAN, f.Text(f.Segments[s].Name))
			e := p.End(p.sideOf(pair.Links[0], i.Device))
			labels = append(labels, p.AtPort(e, p.carriedBy(e, f.Segments[s].VLAN), "the peer link"))
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("the keepalive of %s goes from %s over %s", f.Text(pair.Name), pair.Keepalive[side], over),
			Address: f.Text(f.Devices[i.Device].Address), Concerns: []string{f.Text(f.Devices[pair.Switches[1-side]].Address)},
			Labels: labels, Help: "write the management addresses of the two, or loopback addresses that the uplinks route to",
		})
	}
}

// overPeerLink reports whether an interface of one switch of a pair reaches the other over the peer link alone.
func (p *Pass) overPeerLink(pair *fabric.MLAG, side int, i *fabric.Iface) bool {
	f := p.Fabric
	if len(pair.Links) == 0 || !pair.Keepalive[side].IsValid() {
		return false
	}
	if i.OnLAG != 0 && i.OnLAG == pair.LAGs[side] || i.On != 0 && f.Links[f.Ports[i.On].Link].PeerLink != 0 {
		return true
	}
	vlan := f.Segments[i.Segment].VLAN
	if i.Segment == 0 || !p.carries(p.End(p.sideOf(pair.Links[0], i.Device)), vlan) {
		return false
	}
	first, end := f.PortsOf(i.Device)
	for id := first; id < end; id++ { // another path is by a switch, or by who knows what
		e := p.End(id)
		if e.Port.Link != 0 && f.Links[e.Port.Link].PeerLink != 0 || e.Port.Flags&fabric.ShutDown != 0 || !p.carries(e, vlan) {
			continue
		}
		if e.Port.Peer == 0 || f.Devices[f.Ports[e.Port.Peer].Device].Kind != fabric.Node {
			return false
		}
	}
	return true
}

// sideOf is the end of a link on one of its devices.
func (p *Pass) sideOf(l fabric.LinkID, d fabric.DeviceID) fabric.PortID {
	link := &p.Fabric.Links[l]
	if p.Fabric.Ports[link.A].Device == d {
		return link.A
	}
	return link.B
}
