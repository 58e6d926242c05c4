package lint

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce611 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE611", Name: "vlan_open_port", Severity: diag.Warning, Pedantic: true,
		Title:      "a free port is in an RDMA VLAN",
		Why:        "whoever plugs in there is beside memory that has no password",
		Fix:        "shut the port, or take the segment off it",
		Steps:      "first see by LLDP and the MAC table who is on the port",
		Interrupts: "whoever is on the port",
		Source:     "Rothenberger et al., ReDMArk: Bypassing RDMA Security Mechanisms, USENIX Security 2021",
		Bad:        twoNodesEdit(`port "Ethernet4" {`, "port \"Ethernet8\" {\n    untagged = segment.storage\n    qos    = qos.untrusted\n  }\n  port \"Ethernet4\" {"),
		Good:       twoNodesEdit(`port "Ethernet4" {`, "port \"Ethernet8\" {\n    admin = \"down\"\n    untagged  = segment.storage\n    qos     = qos.untrusted\n  }\n  port \"Ethernet4\" {"),
	},
	Run: openPort,
}

func openPort(p *Pass) {
	f := p.Fabric
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		port := &f.Ports[id]
		if port.Native == 0 || port.Link != 0 || port.LAG != 0 || port.Flags&(fabric.External|fabric.ShutDown|fabric.IsLAG) != 0 || port.Manage == fabric.HandsOff {
			continue
		}
		e := p.End(id)
		if e.Device.Kind != fabric.Switch || !p.rdmaSegment(port.Native) {
			continue
		}
		seg := &f.Segments[port.Native]
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s has no cable and is in RDMA VLAN %d (%s): anyone can plug in", p.Name(e), seg.VLAN, f.Text(seg.Name)), Address: f.PortAddress(id), Concerns: []string{f.Text(seg.Address)},
			Labels: []diag.Label{p.AtPort(e, schema.ANative, ""), f.DeclLabel(seg.Decl, "the RDMA VLAN")}, Help: "write admin = \"down\" on it, or take the segment off",
		})
	}
}

var roce612 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE612", Name: "vlan_pxe", Severity: diag.Warning,
		Title:  "a node boots over the network and finds no untagged VLAN",
		Why:    "the boot ROM sends without a tag: on a port that has tagged VLANs only, the node never starts",
		Fix:    "give the switch port an untagged segment, and classify by DSCP",
		Source: "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 3",
		Bad:    pxe(``) + given("boot"),
		Good:   pxe("untagged = segment.boot"),
	},
	Run: bootsUntagged,
}

// pxe is twoNodes with tags and hosts that boot over the RDMA NIC; port is said
// of the switch ports.
func pxe(port string) string {
	text := strings.ReplaceAll(twoNodes(``), "    untagged = segment.storage\n    \n  }\n", "    tagged = segment.storage\n    "+port+"\n  }\n")
	text = strings.Replace(text, "    untagged = segment.storage\n  }\n}\nnode", "    tagged = segment.storage\n    "+port+"\n  }\n}\nnode", 1)
	return edit(text, `switch "tor" {`, "segment \"boot\" {\n  vlan = 7\n}\nswitch \"tor\" {", "    untagged = segment.storage", "    segment = segment.storage\n    observed = { pxe = true }")
}

func bootsUntagged(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.NICs); id++ {
		nic := &f.NICs[id]
		if !nic.PXE || nic.Port == 0 || f.Ports[nic.Port].Peer == 0 {
			continue
		}
		e, peer := p.End(nic.Port), p.End(f.Ports[nic.Port].Peer)
		tagged := peer.Port.VLANs != 0
		untagged := peer.Port.Native != 0
		if lag := peer.Port.LAG; lag != 0 {
			tagged, untagged = tagged || f.LAGs[lag].VLANs != 0, untagged || f.LAGs[lag].Native != 0
		}
		if peer.Device.Kind != fabric.Switch || untagged || !tagged {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s boots over the network, and %s has no untagged VLAN", p.Name(e), p.Name(peer)), Address: f.PortAddress(e.ID), Concerns: []string{f.PortAddress(peer.ID)},
			Labels: []diag.Label{p.AtPort(e, schema.APXE, ""), p.AtPort(peer, schema.ASegments, "tagged only")}, Help: "write untagged on the switch port, and trust DSCP",
		})
	}
}

var roce613 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE613", Name: "vlan_default_route", Severity: diag.Warning, Fixable: true,
		Title:  "a host has a gateway on an isolated segment",
		Why:    "a route out of the segment sends other traffic into it, and answers out of it",
		Fix:    "leave the gateway out",
		Source: "RFC 1122, 3.3.1.1 (what is in no subnet of the host goes to a gateway); docs/language/blocks.md, segment: isolated",
		Bad: twoNodesEdit(`qos    = qos.roce`, "qos    = qos.roce\n  isolated = true", `untagged = segment.storage
  }
}
link`, "untagged = segment.storage\n    gateway = \"10.100.0.1\"\n    address = \"10.100.0.${each.value + 10}/24\"\n  }\n}\nlink"),
		Good: twoNodesEdit(`untagged = segment.storage
  }
}
link`, "untagged = segment.storage\n    gateway = \"10.100.0.1\"\n    external_gateway = true\n    address = \"10.100.0.${each.value + 10}/24\"\n  }\n}\nlink"),
	},
	Run:   isolatedGateway,
	mends: drop("gateway"),
}

func isolatedGateway(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.Ifaces); id++ {
		iface := &f.Ifaces[id]
		seg := &f.Segments[iface.Segment]
		if iface.Gateway.Len() == 0 || iface.Segment == 0 || !seg.Isolated || f.Devices[iface.Device].Kind != fabric.Node {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s has gateway %s, and its segment %s is isolated", p.ifaceName(fabric.IfaceID(id)), f.Gateway(iface), f.Text(seg.Name)), Address: f.IfaceAddress(fabric.IfaceID(id)), Concerns: []string{f.Text(seg.Address)},
			Labels: []diag.Label{p.atGateway(fabric.IfaceID(id), ""), f.Label(seg.Decl, 0, schema.AIsolated, "isolated")}, Help: "leave the gateway out",
		})
	}
}
