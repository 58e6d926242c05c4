package lint

import (
	"fmt"
	"net/netip"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on paths that looks at how traffic of hosts is spread:
// queue pairs, rails, packets in disorder, and the RDMA MTU they use.

var roce808 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE808", Name: "host_rdma_mtu", Severity: diag.Error,
		Title: "the MTU of a NIC gives a smaller RDMA MTU than its class asks for",
		Why: "Linux counts 96 bytes of headers, more than are ever on the wire, and takes the next smaller RDMA MTU: twice " +
			"the packets for the same data, and a path MTU that is pinned elsewhere fails",
		Fix:        "write an MTU of 4200 for RDMA MTU 4096, of 2200 for 2048",
		Steps:      "switches first and hosts last for a larger MTU, hosts first for a smaller one",
		Interrupts: "each NIC whose MTU changes, until its driver has opened its queues anew",
		Source: "torvalds/linux include/rdma/ib_addr.h, rdma_mtu_from_netdev and iboe_get_mtu (v6.6: iboe_get_mtu); " +
			"tensorflow/tensorflow #9432",
		Formula: "RDMA MTU = the largest of 256, 512, 1024, 2048, 4096 that is <= MTU - 96 (B)",
		Bad:     smallMTU("4160"),
		Good:    smallMTU("4200"),
	},
	Run: hostRDMAMTU,
}

func smallMTU(mtu string) string {
	return twoNodesEdit(`ecn       = "auto"`, "ecn       = \"auto\"\n    rdma_mtu  = 4096", `mtu      = 9000`, `mtu      = `+mtu)
}

func hostRDMAMTU(p *Pass) {
	f := p.Fabric
	p.Managed(func(e End) {
		x := p.Facts.Port(e.ID)
		if e.Port.NIC == 0 || x.RDMAMTU == 0 || e.Port.MTU < x.NeedMTU || !p.onLinux(e.Device) { // less is ROCE807
			return
		}
		p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
			if c.Carries != fabric.CarriesRDMA || c.RDMAMTU <= x.RDMAMTU || c.Transport == fabric.IWARP {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("MTU %d of %s gives RDMA MTU %d, and class %s asks for %d", e.Port.MTU, p.Name(e), x.RDMAMTU, f.Text(c.Name), c.RDMAMTU), Address: f.PortAddress(e.ID),
				Labels: []diag.Label{p.AtPort(e, schema.AMTU, ""), f.Label(c.Decl, 0, schema.ARDMAMTU, "the class")}, Help: raise(e, c, c.RDMAMTU),
			})
		})
	})
}

var roce813 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE813", Name: "class_queue_pairs", Severity: diag.Warning,
		Title:  "peers open one queue pair where several links lead to each other",
		Why:    "links are chosen by a hash over the flow, and a queue pair is one flow: with one of them all but one link idle",
		Fix:    "let applications open four queue pairs or more",
		Source: "NVIDIA/nccl #1015; Mellanox/nccl-rdma-sharp-plugins #76",
		Bad:    edit(twoSpines(``, ``, evenUplinks), `ecn       = "auto"`, "ecn       = \"auto\"\n    observed = { qps = 1 }"),
		Good:   edit(twoSpines(``, ``, evenUplinks), `ecn       = "auto"`, "ecn       = \"auto\"\n    observed = { qps = 4 }"),
	},
	Run: queuePairs,
}

func queuePairs(p *Pass) {
	f := p.Fabric
	single := false
	p.eachRDMAClass(func(_ *fabric.QoS, c *fabric.Class) { single = single || c.QPs == 1 })
	if !single {
		return
	}
	type way struct {
		links int
		where diag.Label
		name  string
	}
	ways := map[fabric.QoSID]way{}
	more := func(q fabric.QoSID, links int, name string, at diag.Label) {
		if links > ways[q].links {
			ways[q] = way{links, at, name}
		}
	}
	for id := 1; id < len(f.LAGs); id++ {
		lag := &f.LAGs[id]
		if f.Devices[lag.Device].Kind == fabric.Node && (lag.Mode == fabric.LACP || lag.Mode == fabric.Static) && len(lag.Members) > 1 {
			more(p.End(lag.Members[0]).Profile.QoS, len(lag.Members), f.Text(lag.Name)+" of "+f.Text(f.Devices[lag.Device].Name), f.DeclLabel(lag.Decl, "the bond"))
		}
	}
	p.eachLeaf(func(d fabric.DeviceID, down, up []fabric.PortID) {
		last := fabric.QoSID(0)
		for _, id := range down {
			if q := p.End(id).Profile.QoS; q != last && len(up) > 1 {
				last = q
				more(q, len(up), "the uplinks of "+f.Text(f.Devices[d].Name), f.DeclLabel(f.Devices[d].Decl, "the switch"))
			}
		}
	})
	for q := fabric.QoSID(1); int(q) < len(f.QoS); q++ {
		w := ways[q]
		for i := range f.QoS[q].Classes {
			c := &f.QoS[q].Classes[i]
			if w.links < 2 || c.QPs != 1 || c.Carries != fabric.CarriesRDMA {
				continue
			}
			d := p.ofClass(&f.QoS[q], c, schema.AQPs, fmt.Sprintf("peers of class %s open 1 queue pair, which uses 1 of %d links: %s", f.Text(c.Name), w.links, w.name), "let applications open four queue pairs or more")
			d.Labels = append(d.Labels, w.where)
			p.Report(d)
		}
	}
}

var roce821 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE821", Name: "nic_reordering", Severity: diag.Error,
		Title: "NICs under adaptive routing do not take packets in any order, or nothing says that they are set to",
		Why: "packets of one connection overtake each other: a NIC that does not expect it takes the first gap for a loss and asks for everything again. " +
			"A NIC that can is to be told so: it is off unless it is set for each queue pair, or forced in its firmware. An error for a NIC that cannot, a warning where it is not known or not said",
		Fix: "use NICs that place packets out of order, set them to, and write observed = { reordering = true } in the " +
			"routing; or keep the class off adaptive routing",
		Steps: "NICs first, adaptive routing of the switches last",
		Source: "NVIDIA MLNX_OFED documentation, Out-of-Order Data Placement (ConnectX-5 and later, for each queue pair); NVIDIA " +
			"Adaptive Retransmission: Parameters Control, ROCE_ACCL adaptive_routing_forced_en (0 unless set); " +
			"deepseek-ai/DeepEP #74",
		Bad:  adaptiveWith("nvidia/connectx-4", "adaptive = true"),
		Good: adaptiveWith("nvidia/connectx-6-dx", "adaptive = true, reordering = true"),
	},
	Run: reordering,
}

func adaptiveWith(model, observed string) string {
	return edit(twoNodes(``), `model    = "nvidia/connectx-6-dx"`, `model    = "`+model+`"`) + `routing "default" {
  paths    = "ecmp"
  observed = { ` + observed + ` }
  default  = true
}
`
}

func reordering(p *Pass) {
	f := p.Fabric
	var rest fabric.RoutingID // of what no topology connects
	some := false
	for r := 1; r < len(f.Routings); r++ {
		some = some || f.Routings[r].Adaptive
		if f.Routings[r].Default {
			rest = fabric.RoutingID(r)
		}
	}
	if !some {
		return
	}
	of := make([]fabric.RoutingID, len(f.Devices))
	for d := range of {
		of[d] = rest
	}
	for t := 1; t < len(f.Topologies); t++ {
		for _, d := range f.Topologies[t].Nodes {
			of[d] = f.RoutingOf(fabric.TopologyID(t))
		}
	}
	unsaid := make([]End, len(f.Routings)) // a NIC that can, under a routing that does not say that it does
	defer func() {
		for r, e := range unsaid {
			if e.ID != 0 {
				p.unsaidOrder(&f.Routings[r], e)
			}
		}
	}()
	p.hostRDMA(func(e End, _ *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		r := of[e.Port.Device]
		if r == 0 || !f.Routings[r].Adaptive || c.Transport == fabric.IWARP {
			return
		}
		if m.Reordering == fabric.Yes {
			if unsaid[r].ID == 0 && !f.Routings[r].Reordering {
				unsaid[r] = e
			}
			return
		}
		severity := diag.Error
		if m.Reordering == fabric.Unknown {
			severity = diag.Warning
		}
		does := map[fabric.Fact]string{fabric.No: "does not take", fabric.Unknown: "is not known to take"}[m.Reordering]
		p.Report(diag.Diagnostic{
			Severity: severity,
			Summary:  fmt.Sprintf("nic %s (%s) %s packets out of order, and its fabric routes adaptively", p.Name(e), f.Text(m.Name), does), Address: f.PortAddress(e.ID), Concerns: []string{f.Text(f.Routings[r].Address)},
			Labels: []diag.Label{p.AtPort(e, schema.AModel, ""), f.Label(f.Routings[r].Decl, 0, schema.AAdaptive, "the routing")}, Help: "use NICs that place packets out of order, or keep the class off adaptive routing",
		})
	})
}

// unsaidOrder reports a routing that does not say that its NICs are set to take packets in any order.
func (p *Pass) unsaidOrder(r *fabric.Routing, e End) {
	p.Report(diag.Diagnostic{
		Severity: diag.Warning,
		Summary:  fmt.Sprintf("routing %s is adaptive, and nothing says that its NICs, %s among them, are set to take packets in any order", p.Fabric.Text(r.Name), p.Name(e)),
		Address:  p.Fabric.Text(r.Address), Concerns: []string{p.Fabric.PortAddress(e.ID)},
		Labels: []diag.Label{p.Fabric.Label(r.Decl, 0, schema.AAdaptive, ""), p.AtPort(e, schema.AModel, "a NIC")},
		Help:   "switch it on for each queue pair, or in the firmware (ROCE_ACCL, adaptive_routing_forced_en), and write observed = { reordering = true }",
	})
}

var roce824 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE824", Name: "nic_cross_rail", Severity: diag.Warning,
		Title:  "a NIC does not reach the other rails, and its class expects that",
		Why:    "a NIC with its own subnet and no router sends what is for another rail out of the wrong NIC, or nowhere: jobs hang when ranks pair up across rails",
		Fix:    "write a gateway for each rail, or drop cross_rail",
		Source: "NVIDIA/nccl #1109, #1348",
		Bad:    crossRail(``),
		Good:   crossRail("gateway = \"10.%s.0.1\"\n  external_gateway = true"),
	},
	Run: otherRails,
}

// crossRail is nodes with two rails on one switch; gateway is that of a rail's
// segment.
func crossRail(gateway string) string {
	of := func(second string) string {
		if gateway == "" {
			return ""
		}
		return fmt.Sprintf(gateway, second) + "\n  "
	}
	return edit(dualHomed("tor"), "redundancy = 2", "observed = { cross_rail = true }", `segment "storage" {`, "segment \"storage\" {\n  "+of("100"), `segment "storage2" {`, "segment \"storage2\" {\n  "+of("101"),
		`nic "rail1" {`, "nic \"rail1\" {\n    rail = 1", `nic "rail0" {`, "nic \"rail0\" {\n    rail = 0")
}

func otherRails(p *Pass) {
	f := p.Fabric
	expects := func(e End) *fabric.Class {
		var found *fabric.Class
		p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
			if c.CrossRail && c.Carries == fabric.CarriesRDMA {
				found = c
			}
		})
		return found
	}
	some := false
	p.eachRDMAClass(func(_ *fabric.QoS, c *fabric.Class) { some = some || c.CrossRail })
	if !some {
		return
	}
	railOf := func(i *fabric.Iface) int32 {
		if nic := f.Ports[i.On].NIC; nic != 0 {
			return f.NICs[nic].Rail
		}
		return -1 // a bond, or no port at all
	}
	home := func(i *fabric.Iface) netip.Prefix { return f.Addresses(i)[0].Masked() }
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if dev := &f.Devices[d]; dev.Kind != fabric.Node || dev.Manage == fabric.HandsOff {
			continue
		}
		ifaces := p.Facts.IfacesOf(d)
		for _, i := range ifaces {
			iface := &f.Ifaces[i]
			rail := railOf(iface)
			if rail < 0 || iface.Addresses.Len() == 0 || iface.Gateway.Len() > 0 {
				continue
			}
			c := expects(p.End(iface.On))
			if c == nil {
				continue
			}
			for _, o := range ifaces {
				other := &f.Ifaces[o]
				far := railOf(other)
				if far < 0 || far == rail || other.Addresses.Len() == 0 || home(iface) == home(other) {
					continue
				}
				e := p.End(iface.On)
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("nic %s cannot reach %s of rail %d: it has no gateway, and class %s crosses rails", p.Name(e), home(other), far, f.Text(c.Name)), Address: f.PortAddress(e.ID),
					Labels: []diag.Label{p.AtPort(e, schema.AGateway, ""), f.Label(c.Decl, 0, schema.ACrossRail, "the class")}, Help: "write a gateway for each rail, or drop cross_rail",
				})
				break
			}
		}
	}
}
