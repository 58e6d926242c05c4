package lint

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on paths that asks which leaves a node is cabled to.

var roce810 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE810", Name: "nic_rail", Severity: diag.Error,
		Title: "a NIC is cabled to a leaf of another rail",
		Why:   "peers on its rail are reached over spines instead of one leaf, and its subnet is not on that leaf at all",
		Fix:   "move the cable, or correct rail",
		Source: "Qian et al., Alibaba HPN: A Data Center Network for Large Language Model Training, SIGCOMM 2024 (each NIC of a " +
			"node has a leaf of its own rail); NVIDIA/nccl docs/env: NCCL_CROSS_NIC",
		Bad:  fourNodes(``, `rail = self.name == "n4" ? 1 : 0`),
		Good: fourNodes(``, `rail = 0`),
	},
	Run: nicRail,
}

func nicRail(p *Pass) {
	f := p.Fabric
	railOf := func(id fabric.PortID) (int32, bool) {
		nic := f.Ports[f.Ports[id].Peer].NIC
		return f.NICs[nic].Rail, nic != 0 && f.NICs[nic].Rail >= 0
	}
	p.eachLeaf(func(d fabric.DeviceID, down, _ []fabric.PortID) {
		dev := &f.Devices[d]
		rail, whose := dev.Rail, "is of"
		if dev.Tier == fabric.NoTier || rail < 0 {
			if dev.Tier != fabric.NoTier {
				return // one leaf for all rails
			}
			var rails tally[int32, fabric.PortID]
			for _, id := range down {
				if r, ok := railOf(id); ok {
					rails.add(r, id)
				}
			}
			most, ok := rails.most()
			// A leaf that is shared by rails has no rail: it takes a clear majority to be of one.
			if !ok || 4*len(most.rows) < 3*rails.of {
				return
			}
			rail, whose = most.value, fmt.Sprintf("has %d of %d NICs of", len(most.rows), rails.of)
		}
		for _, id := range down {
			r, ok := railOf(id)
			if !ok || r == rail {
				continue
			}
			leaf, nic := p.End(id), p.End(f.Ports[id].Peer)
			cable := p.Fabric.LinkLabel(leaf.Port.Link, schema.AEnds, "the cable")
			if _, _, put := f.Origin(nic.Port.Decl, nic.Port.Layers, schema.AAt); put {
				cable = p.AtPort(nic, schema.AAt, "the cable")
			}
			p.Report(p.AboutLink(leaf.Port.Link, nic, leaf, diag.Diagnostic{
				Summary: fmt.Sprintf("nic %s is of rail %d and cabled to %s, which %s rail %d", p.Name(nic), r, p.Name(leaf), whose, rail),
				Labels:  []diag.Label{p.AtPort(nic, schema.ARail, ""), cable}, Help: "move the cable, or correct rail",
			}))
		}
	})
}

var roce817 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE817", Name: "node_single_leaf", Severity: diag.Warning,
		Title:  "a node is cabled to fewer leaves than its classes ask for",
		Why:    "when the one leaf fails, or is upgraded, the node is gone with it",
		Fix:    "cable the node to another leaf, or lower redundancy of the class",
		Source: "Qian et al., Alibaba HPN: A Data Center Network for Large Language Model Training, SIGCOMM 2024, on dual-ToR",
		Bad:    dualHomed("tor"),
		Good:   dualHomed("tor2"),
	},
	Run: singleLeaf,
}

// dualHomed is twoNodes whose nodes have a second NIC on one of two switches,
// and whose class asks for two leaves.
func dualHomed(second string) string {
	ports := func(on string) string {
		if on != second {
			return ""
		}
		return "  port \"Ethernet[8-12:4]\" {\n    speed    = \"100G\"\n    fec      = \"rs\"\n    untagged = segment.storage2\n  }\n"
	}
	tor2 := ""
	if second == "tor2" {
		tor2 = "switch \"tor2\" {\n  model = \"nvidia/sn3700\"\n  os    = \"sonic/202505\"\n  role  = \"second\"\n" + ports("tor2") + "}\n"
	}
	return edit(twoNodes(``), `ecn       = "auto"`, "ecn       = \"auto\"\n    redundancy = 2", `switch "tor" {`, `segment "storage2" {
  vlan   = 101
  subnet = "10.101.0.0/24"
  qos    = qos.roce
  mtu      = 9000
}
`+tor2+`switch "tor" {
`+ports("tor"), `  nic "rail0" {`, `  nic "rail1" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage2
  }
  nic "rail0" {`) + `link "second" {
  for_each = { n1 = "Ethernet8", n2 = "Ethernet12" }
  ends     = [node.n[each.key].nic["rail1"], switch.` + second + `.port[each.value]]
  cable    = { media = "dac", length = "3m" }
}
`
}

func singleLeaf(p *Pass) {
	f := p.Fabric
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Node || f.Devices[d].Manage == fabric.HandsOff {
			continue
		}
		if c := p.redundant(d); c != nil {
			p.leavesOf(d, c)
		}
	}
}

// redundant is the class of a node's NICs that asks for the most leaves, nil if
// none asks.
func (p *Pass) redundant(d fabric.DeviceID) *fabric.Class {
	var most *fabric.Class
	var last fabric.QoSID
	first, end := p.Fabric.PortsOf(d)
	for id := first; id < end; id++ {
		q := p.Fabric.Profiles[p.Fabric.Ports[id].Profile].QoS
		if q == last || p.Fabric.Ports[id].Link == 0 {
			continue
		}
		last = q
		for i := range p.Fabric.QoS[q].Classes {
			if c := &p.Fabric.QoS[q].Classes[i]; c.Redundancy > 0 && (most == nil || c.Redundancy > most.Redundancy) {
				most = c
			}
		}
	}
	return most
}

// leavesOf reports a node with fewer leaves than a class asks for.
func (p *Pass) leavesOf(d fabric.DeviceID, c *fabric.Class) {
	f := p.Fabric
	var leaves []fabric.DeviceID
	var at fabric.PortID
	first, end := f.PortsOf(d)
	for id := first; id < end; id++ {
		port := &f.Ports[id]
		carries := slices.ContainsFunc(f.QoS[f.Profiles[port.Profile].QoS].Classes, func(o fabric.Class) bool { return o.Name == c.Name })
		if port.Peer == 0 || !carries || !f.Up(port.Link, nil) {
			continue
		}
		if leaf := f.Ports[port.Peer].Device; f.Devices[leaf].Kind == fabric.Switch && !slices.Contains(leaves, leaf) {
			leaves = append(leaves, leaf)
			at = id
		}
	}
	if len(leaves) == 0 || len(leaves) >= int(c.Redundancy) {
		return
	}
	names := make([]string, len(leaves))
	for i, leaf := range leaves {
		names[i] = f.Text(f.Devices[leaf].Name)
	}
	node := &f.Devices[d]
	p.Report(diag.Diagnostic{
		Summary: fmt.Sprintf("%s is cabled to %s only, and class %s asks for %d leaves", f.Text(node.Name), list(names), f.Text(c.Name), c.Redundancy), Address: f.Text(node.Address),
		Concerns: []string{f.PortAddress(at)},
		Labels:   []diag.Label{f.DeclLabel(node.Decl, ""), f.Label(c.Decl, 0, schema.ARedundancy, "the class")}, Help: "cable the node to another leaf, or lower redundancy of the class",
	})
}
