package lint

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on paths that looks at what is joined: bonds and pairs of
// switches; lags.go has what LAGs end on.

var roce812 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE812", Name: "bond_adapters", Severity: diag.Error,
		Title:  "the members of a bond that carries RDMA are on two adapters",
		Why:    "an adapter bonds RDMA over its own ports only: over two of them there is no RDMA device for the bond, and connections stay on the port that they began on",
		Fix:    "bond two ports of one adapter, or address each NIC by itself",
		Source: "NVIDIA MLNX_OFED documentation, RoCE over LAG: bonding of the ports of one adapter",
		Bad:    twoAdapters("0000:5e:00.0"),
		Good:   twoAdapters("0000:3b:00.1"),
	},
	Run: bondAdapters,
}

// twoAdapters is a bond whose second port has a PCI address.
func twoAdapters(pci string) string {
	return edit(bonded("speed = \"100G\"\n    pci   = \""+pci+"\""), `nic "p0" {`, "nic \"p0\" {\n    pci   = \"0000:3b:00.0\"")
}

func bondAdapters(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.LAGs); id++ {
		lag := &f.LAGs[id]
		dev := &f.Devices[lag.Device]
		// A SET team gives each vNIC an adapter of its own, and other teams of Windows are ROCE718.
		if dev.Kind != fabric.Node || dev.Manage == fabric.HandsOff || !p.onLinux(dev) || len(lag.Members) < 2 || !p.RDMA(p.End(lag.Members[0])) {
			continue
		}
		first := p.End(lag.Members[0])
		a := &f.NICs[first.Port.NIC]
		for _, m := range lag.Members[1:] {
			e := p.End(m)
			b := &f.NICs[e.Port.NIC]
			var how string
			switch {
			case a.Model != b.Model && a.Model != 0 && b.Model != 0:
				how = fmt.Sprintf("%s is a %s, %s a %s", p.Name(first), f.Text(f.NICModels[a.Model].Name), p.Name(e), f.Text(f.NICModels[b.Model].Name))
			case a.Adapter != b.Adapter && a.Adapter != 0 && b.Adapter != 0:
				how = fmt.Sprintf("%s is on %s, %s on %s", p.Name(first), f.Text(a.Adapter), p.Name(e), f.Text(b.Adapter))
			default:
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s of %s carries RDMA over two adapters: %s", f.Text(lag.Name), f.Text(dev.Name), how), Address: f.LAGAddress(fabric.LAGID(id)),
				Concerns: []string{f.PortAddress(first.ID), f.PortAddress(m)},
				Labels:   []diag.Label{f.Label(lag.Decl, 0, schema.AMembers, ""), p.atAdapter(e)}, Help: "bond two ports of one adapter, or address each NIC by itself",
			})
			break
		}
	}
}

// atAdapter is where it is written on which card a NIC is.
func (p *Pass) atAdapter(e End) diag.Label {
	for _, n := range [2]schema.Attr{schema.AAdapter, schema.APCI} {
		if _, ok := p.Fabric.PortOrigin(e.ID, n); ok {
			return p.AtPort(e, n, "the other adapter")
		}
	}
	return p.AtPort(e, schema.AModel, "the other adapter")
}

var roce814 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE814", Name: "mlag_peers", Severity: diag.Error,
		Title: "the two switches of a pair treat what they share in different ways",
		Why: "a flow is on one leg or the other by its hash: what differs hits half of the connections of a host, and all of " +
			"them when a leg fails",
		Fix: "write it on both, or on neither",
		Source: "Cumulus Linux user guide, Multi-Chassis Link Aggregation (both peers have the same bonds, VLANs and MTU); IEEE " +
			"802.1AX-2020, Distributed Resilient Network Interconnect",
		Bad:  pairedLegs(`dcbx = self.name == "tor1" ? "advertise" : "off"`),
		Good: pairedLegs(`dcbx = "off"`),
	},
	Run: mlagPeers,
}

// pairedLegs is a host bonded to a pair of switches; port is said of its port on
// one of them.
func pairedLegs(port string) string {
	head, _, _ := strings.Cut(twoNodesText, `switch "tor" {`)
	return head + `switch "tor" {
  for_each = toset(["tor1", "tor2"])
  model    = "nvidia/sn3700"
  os       = "cumulus-linux/5.9"
  mgmt     = self.name == "tor1" ? "192.0.2.1" : "192.0.2.2"
  port "swp1" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
    ` + port + `
  }
  port "swp[31-32]" {
    speed = "100G"
    fec   = "rs"
  }
}
mlag "pair" {
  switches  = [switch.tor["tor1"], switch.tor["tor2"]]
  peer_link = "swp[31-32]"
  keepalive = { addresses = { tor1 = "192.0.2.1", tor2 = "192.0.2.2" } }
  cable     = { media = "dac", length = "1m" }
}
node "n" {
  os   = "ubuntu/24.04"
  slot = 1
  nic "p[0-1]" {
    model   = "nvidia/connectx-6-dx"
    speed   = "100G"
    fec     = "rs"
    adapter = "cx6"
  }
  bond "bond0" {
    mode    = "lacp"
    members = "p[0-1]"
    untagged = segment.storage
  }
}
link "leg" {
  for_each = { p0 = "tor1", p1 = "tor2" }
  ends     = [node.n.nic[each.key], switch.tor[each.value].port["swp1"]]
  cable    = { media = "dac", length = "3m" }
}
`
}

func mlagPeers(p *Pass) {
	f := p.Fabric
	for m := 1; m < len(f.MLAGs); m++ {
		pair := &f.MLAGs[m]
		a, b := &f.Devices[pair.Switches[0]], &f.Devices[pair.Switches[1]]
		if a.Manage == fabric.HandsOff || b.Manage == fabric.HandsOff || a.Buffer == b.Buffer {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s and %s are a pair and share their buffers in different ways: %s", f.Text(a.Name), f.Text(b.Name), bufferDiffers(a.Buffer, b.Buffer)), Address: f.Text(a.Address), Concerns: []string{f.Text(b.Address)},
			Labels: []diag.Label{f.Label(a.Decl, a.Layers, schema.ABuffer, ""), f.Label(b.Decl, b.Layers, schema.ABuffer, "the other"), f.Label(pair.Decl, 0, schema.ASwitches, "the pair")}, Help: "write it on both, or on neither",
		})
	}
	for bond := 1; bond < len(f.LAGs); bond++ {
		first := fabric.PortID(0)
		for _, m := range f.LAGs[bond].Members {
			peer := f.Ports[m].Peer
			if peer == 0 || f.Devices[f.Ports[peer].Device].MLAG == 0 || f.Ports[peer].Manage == fabric.HandsOff || f.Links[f.Ports[peer].Link].PeerLink != 0 {
				continue
			}
			if first == 0 {
				first = peer
			}
			x, y := p.End(first), p.End(peer)
			if x.Port.Device == y.Port.Device || x.Device.MLAG != y.Device.MLAG {
				continue
			}
			p.legs(fabric.LAGID(bond), x, y)
			break
		}
	}
}

// legs reports what differs between the ports of a pair that lead to one bond.
func (p *Pass) legs(bond fabric.LAGID, x, y End) {
	f := p.Fabric
	if a, b := &f.LAGs[x.Port.LAG], &f.LAGs[y.Port.LAG]; x.Port.LAG != 0 && y.Port.LAG != 0 && a.Number != b.Number {
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s and %s are the legs of %s and have two numbers: %s is %d, %s is %d", p.Name(x), p.Name(y), f.Text(f.LAGs[bond].Name), f.Text(a.Name), a.Number, f.Text(b.Name), b.Number), Address: f.PortAddress(x.ID),
			Concerns: []string{f.PortAddress(y.ID), f.LAGAddress(bond)},
			Labels:   []diag.Label{f.Label(a.Decl, 0, schema.AID, ""), f.Label(b.Decl, 0, schema.AID, "the other leg")}, Help: "give both the same id: by it a pair knows that they are one",
		})
		return
	}
	attr, what, one, other := schema.AQoS, "", "", ""
	switch {
	case x.Port.VLANs != y.Port.VLANs || x.Port.Native != y.Port.Native:
		attr, what, one, other = p.vlanAttr(x), "VLANs", p.vlanWords(x), p.vlanWords(y)
	case x.Port.MTU != y.Port.MTU:
		attr, what, one, other = schema.AMTU, "MTU", fmt.Sprint(x.Port.MTU), fmt.Sprint(y.Port.MTU)
	case x.Port.Profile != y.Port.Profile:
		attr, what = p.qosAttr(x.Profile, y.Profile), "QoS"
	case x.Port.Headroom != y.Port.Headroom:
		attr, what = schema.AHeadroom, "headroom"
	default:
		return
	}
	values := ""
	if one != "" {
		values = fmt.Sprintf(": %s and %s", one, other)
	}
	p.Report(diag.Diagnostic{
		Summary: fmt.Sprintf("%s and %s are the legs of %s and differ in %s%s", p.Name(x), p.Name(y), f.Text(f.LAGs[bond].Name), what, values), Address: f.PortAddress(x.ID),
		Concerns: []string{f.PortAddress(y.ID), f.LAGAddress(bond)},
		Labels:   []diag.Label{p.AtPort(x, attr, ""), p.AtPort(y, attr, "the other leg")}, Help: "write it on both, or on neither",
	})
}

func (p *Pass) vlanWords(e End) string {
	var words []string
	if e.Port.Native != 0 {
		words = append(words, fmt.Sprintf("%d untagged", p.Fabric.Segments[e.Port.Native].VLAN))
	}
	for _, s := range p.Fabric.VLANSets[e.Port.VLANs] {
		words = append(words, fmt.Sprint(p.Fabric.Segments[s].VLAN))
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// qosAttr is the attribute by which two profiles of one contract differ.
func (p *Pass) qosAttr(x, y *fabric.Profile) schema.Attr {
	switch {
	case x.QoS != y.QoS:
		return schema.AQoS
	case x.Trust != y.Trust:
		return schema.ATrust
	case x.PFC != y.PFC:
		return schema.APFC
	case x.ECN != y.ECN:
		return schema.AECN
	case x.DSCP != y.DSCP:
		return schema.ADSCPMap
	case x.Sched != y.Sched:
		return schema.AETS
	case x.Watchdog != y.Watchdog:
		return schema.AWatchdog
	case x.DCBX != y.DCBX:
		return schema.ADCBX
	}
	return schema.AQoS
}

func bufferDiffers(a, b fabric.DeviceBuffer) string {
	size := func(n uint64) string {
		if n == 0 {
			return "none written"
		}
		return fmt.Sprintf("%d B", n)
	}
	switch {
	case a.Alpha != b.Alpha:
		return fmt.Sprintf("alpha is %s and %s", alphaWords(a.Alpha), alphaWords(b.Alpha))
	case a.HeadroomBytes != b.HeadroomBytes:
		return fmt.Sprintf("shared headroom is %s and %s", size(a.HeadroomBytes), size(b.HeadroomBytes))
	case a.SharedBytes != b.SharedBytes:
		return fmt.Sprintf("the shared pool is %s and %s", size(a.SharedBytes), size(b.SharedBytes))
	}
	return "they allow another oversubscription"
}
