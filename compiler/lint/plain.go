package lint

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce628 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE628", Name: "vlan_nic_without_rdma", Severity: diag.Warning,
		Title: "a NIC without RDMA is in an isolated RDMA VLAN",
		Why: "memory that is read and written over RDMA has no password: whoever is in the VLAN may ask for it, and what is isolated on " +
			"paper is shared with what that NIC is for",
		Fix:    "give the NIC a segment of its own, or the RDMA qos if it is meant to be there",
		Source: "Rothenberger et al., ReDMArk: Bypassing RDMA Security Mechanisms, USENIX Security 2021",
		Bad:    plainMember("storage"),
		Good:   plainMember("office"),
	},
	Run: plainMembers,
}

// plainMember is twoNodes with an isolated segment, and a third node whose NIC carries
// no RDMA.
func plainMember(segment string) string {
	return edit(moreTor("Ethernet8", "100G", `segment "office" {
  vlan   = 200
  subnet = "10.200.0.0/24"
  mtu      = 9000
}
qos "plain" {
  trust = "dscp"
  class "default" {
    priority  = 0
    bandwidth = 100
    default   = true
  }
}
node "x" {
  os   = "ubuntu/24.04"
  slot = 7
  nic "lan" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    qos    = qos.plain
    untagged = segment.`+segment+`
  }
}
link "x" {
  ends  = [node.x.nic["lan"], switch.tor.port["Ethernet8"]]
  cable = { media = "dac", length = "3m" }
}
`), "  qos    = qos.roce\n", "  qos    = qos.roce\n  isolated = true\n", "port \"Ethernet8\" {\n    speed    = \"100G\"\n    untagged = segment.storage",
		"port \"Ethernet8\" {\n    speed    = \"100G\"\n    qos    = qos.plain\n    untagged = segment."+segment) + given("office")
}

// plainMembers passes over NICs of which something else is told: one behind a port that
// carries RDMA (ROCE301 and its like), one with an address of its own there (ROCE606),
// and those that nobody trusts (ROCE603).
func plainMembers(p *Pass) {
	f := p.Fabric
	p.Links(func(l fabric.LinkID, nic, port End) {
		if nic.Port.NIC == 0 {
			nic, port = port, nic
		}
		if nic.Port.NIC == 0 || port.Device.Kind != fabric.Switch || !nic.Device.Trusted ||
			nic.Port.Flags&(fabric.Kept|fabric.InfiniBand) != 0 || p.RDMA(nic) || p.RDMA(port) {
			return
		}
		if nic.Port.Profile == 0 && (nic.Port.Manage == fabric.HandsOff || p.speaksRoCE(nic)) {
			return // nothing is known of it
		}
		for _, s := range append(slices.Clone(f.VLANSets[nic.Port.VLANs]), nic.Port.Native) {
			if s == 0 || !f.Segments[s].Isolated || !p.rdmaSegment(s) || p.addressed(nic, s) {
				continue
			}
			how, at := "tagged", p.AtPort(nic, schema.ASegments, "")
			if s == nic.Port.Native {
				how, at = "untagged", p.AtPort(nic, schema.ANative, "")
			}
			p.Report(p.AboutLink(l, nic, port, diag.Diagnostic{
				Summary: fmt.Sprintf("nic %s carries no RDMA and is %s in VLAN %d (%s), which is isolated for RDMA", p.Name(nic), how,
					f.Segments[s].VLAN, f.Text(f.Segments[s].Name)),
				Labels: []diag.Label{at, f.DeclLabel(f.Segments[s].Decl, "the segment")},
				Help:   "give it a segment of its own, or the RDMA qos if it is meant to be there",
			}))
		}
	})
}

// speaksRoCE reports whether the model of a NIC does.
func (p *Pass) speaksRoCE(e End) bool {
	m := &p.Fabric.NICModels[p.Fabric.NICs[e.Port.NIC].Model]
	return m.RoCEv1 == fabric.Yes || m.RoCEv2 == fabric.Yes
}

// addressed reports whether a NIC has an address without RDMA in a segment.
func (p *Pass) addressed(e End, s fabric.SegmentID) bool {
	return slices.ContainsFunc(p.Facts.IfacesOf(e.Port.Device), func(id fabric.IfaceID) bool {
		iface := &p.Fabric.Ifaces[id]
		return iface.On == e.ID && iface.Segment == s && !iface.RDMA && iface.Addresses.Len() > 0
	})
}
