package lint

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on classes that is about what runs on hosts: who speaks
// DCBX there, and what clusters need.

var roce216 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE216", Name: "link_dcbx_silent", Severity: diag.Warning,
		Title: "a willing NIC faces a switch that sends no DCBX",
		Why:   "a willing NIC takes its classes from the switch: where that sends no DCBX it keeps what it came with, which has no PFC",
		Fix:   "let the switch advertise, or set the NIC by itself",
		Steps: "write PFC, ETS and trust to the NIC before its DCBX is turned off",
		Source: "IEEE 802.1Q-2018, clause 38: without the TLV of a peer a willing station keeps its own settings; intel/openlldp " +
			"lldp_8021qaz.c, pfc_sm()",
		Bad:  bothDCBX(`"off"`, `{ mode = "willing" }`),
		Good: bothDCBX(`"advertise"`, `{ mode = "willing" }`),
	},
	Run: dcbxSilent,
}

func dcbxSilent(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if a.Profile.DCBX.Mode != fabric.DCBXWilling {
			a, b = b, a
		}
		// Of a peer that nothing is said of nothing is known.
		if a.Profile.DCBX.Mode != fabric.DCBXWilling || b.Port.Profile == 0 || b.Profile.DCBX.Mode != fabric.DCBXOff {
			return
		}
		p.Report(p.AboutLink(l, a, b, diag.Diagnostic{
			Summary: fmt.Sprintf("port %s is DCBX willing, and its peer %s sends no DCBX: it waits for settings that never come", p.Name(a), p.Name(b)),
			Labels:  []diag.Label{p.AtPort(a, schema.ADCBX, ""), p.AtContract(b, schema.ADCBX, nil, 0, "other end")},
			Help:    "let the switch advertise, or set the NIC by itself",
		}))
	})
}

var roce217 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE217", Name: "host_dcbx_owners", Severity: diag.Warning, When: diag.Both,
		Title:  "several agents of a host speak DCBX on one port",
		Why:    "firmware and a daemon of the host each answer the switch and each write the NIC: what holds is what came last",
		Fix:    "choose one: the firmware, the operating system, or the daemon",
		Steps:  "let the one that stays write PFC, ETS and trust before the other is stopped",
		Source: "Mellanox/mlnx-tools python/mlnx_qos: option -d, os or fw",
		Bad:    bothDCBX(`"advertise"`, `{ mode = "willing", owner = ["firmware", "lldpad"] }`),
		Good:   bothDCBX(`"advertise"`, `{ mode = "willing", owner = "firmware" }`),
	},
	Run: dcbxRivals,
}

func dcbxRivals(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		if !e.Profile.DCBX.Rivals {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("several agents do DCBX on %s", p.Name(e)), Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.AtPort(e, schema.ADCBX, "")}, Help: "choose one owner",
		})
	})
}

var roce219 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE219", Name: "host_heartbeat", Severity: diag.Warning,
		Title:  "nodes of a Windows cluster have no class for its heartbeat",
		Why:    "a heartbeat that waits behind storage traffic is late: the cluster takes the node for dead and moves its load to the others",
		Fix:    "add a class that carries the cluster: priority 7, 1 to 2 percent",
		Steps:  "the class on switches first, then one node at a time, paused in its cluster",
		Source: "Microsoft Learn, Azure Local, Host network requirements, Cluster traffic class",
		Bad:    clusterPair(``),
		Good: clusterPair(`  class "heartbeat" {
    carries   = "cluster"
    priority  = 7
    bandwidth = 1
  }
`),
	},
	Run: heartbeat,
}

// clusterPair is windowsPair in a cluster; class stands in the qos.
func clusterPair(class string) string {
	text := strings.Replace(windowsPair(`match = { netdirect_port = 445 }`), `os       = "windows-server/2025"`, "os       = \"windows-server/2025\"\n  cluster  = \"s2d\"", 1)
	text += "target \"netqos\" {\n  select = node.n\n}\n"
	if class == "" {
		return text
	}
	return edit(text, `  class "default" {`, class+`  class "default" {`, "bandwidth = 50", "bandwidth = 49")
}

func heartbeat(p *Pass) {
	f := p.Fabric
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Kind != fabric.Node || dev.Cluster == 0 || !p.windows(dev) {
			continue
		}
		var rdma fabric.PortID
		has := false
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			e := p.End(id)
			if e.Port.Profile == 0 {
				continue
			}
			p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) { has = has || c.Carries == fabric.CarriesCluster })
			if rdma == 0 && p.RDMA(e) {
				rdma = id
			}
		}
		if rdma == 0 || has {
			continue
		}
		q := &f.QoS[p.End(rdma).Profile.QoS]
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("node %s is in cluster %s, and qos %s has no class for its heartbeat", f.Text(dev.Name), f.Text(dev.Cluster), f.Text(q.Name)), Address: f.Text(dev.Address),
			Labels: []diag.Label{f.DeclLabel(q.Decl, ""), f.Label(dev.Decl, dev.Layers, schema.ACluster, "the cluster")}, Help: "add a class that carries the cluster: priority 7, 1 to 2 %",
		})
	}
}

// windows reports whether a node runs Windows, of which Azure Local is one.
func (p *Pass) windows(d *fabric.Device) bool {
	os := p.Fabric.Text(d.OSName)
	return strings.HasPrefix(os, "windows") || strings.HasPrefix(os, "azure")
}
