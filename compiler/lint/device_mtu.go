package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// deviceMTUs reports an MTU that a switch writes for its ports and that one of them does
// not have, as its host sends more: a segment says more of that port, or the model does,
// as what is written there is a floor. What the port itself writes is told at its link.
func (p *Pass) deviceMTUs() {
	f := p.Fabric
	for d := 1; d < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.MTU == 0 || dev.Kind != fabric.Switch {
			continue
		}
		first, end := f.PortsOf(fabric.DeviceID(d))
		for id := first; id < end; id++ {
			port := &f.Ports[id]
			if port.Peer == 0 || port.MTU <= dev.MTU || f.Ports[port.Peer].NIC == 0 || port.Flags&fabric.RoutedPort != 0 {
				continue
			}
			e, host := p.End(id), p.End(port.Peer)
			own := port.Decl
			if port.Flags&fabric.Implicit != 0 {
				own = 0 // the declaration is that of the switch, which is among the layers
			}
			by, height, written := f.Height(own, port.Layers, schema.AMTU)
			around := !written || height == fabric.AtSegment || height == fabric.AtDevice || height == fabric.AtTier
			if host.Port.MTU <= dev.MTU || host.Port.MTU > port.MTU || !around {
				continue
			}
			note := "on a bridged switch port mtu is a floor"
			if height == fabric.AtSegment {
				note = fmt.Sprintf("%s says what the port is for, and stands above its switch", f.Where(by))
			}
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Address: f.Text(dev.Address), Concerns: []string{f.PortAddress(id), f.LinkAddress(port.Link)},
				Summary: fmt.Sprintf("mtu %d of %s does not hold: its port %s takes %d, and the peer %s sends %d",
					dev.MTU, f.Text(dev.Name), p.Name(e), port.MTU, p.Name(host), host.Port.MTU),
				Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.AMTU, ""), p.AtPort(host, schema.AMTU, "other end")},
				Notes:  []string{note}, Help: "leave it out, or write the MTU once, on the segment",
			})
			break
		}
	}
}
