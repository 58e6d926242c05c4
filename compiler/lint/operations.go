package lint

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var operations = []*Rule{
	roce902, roce903, roce905, roce906, roce907, roce909, roce910, roce911, roce914, roce915, roce917, roce918,
	roce919, roce920, roce921, roce922, roce923, roce924, roce925,
}

var roce917 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE917", Name: "target_twice", Severity: diag.Error,
		Title:  "two emitters manage one device",
		Why:    "two definitions that write one setting undo each other, and each reports drift",
		Fix:    "select the device in one target block",
		Source: "docs/language/blocks.md, target: select",
		Bad:    twoNodes(``) + "target \"linux\" {\n  select = node.n\n}\ntarget \"linux\" {\n  select = [node.n[\"n1\"]]\n  options = { qos_tool = \"dcb\" }\n}\n",
		Good:   twoNodes(``) + "target \"linux\" {\n  select = node.n\n}\n",
	},
	Run: targetTwice,
}

func targetTwice(p *Pass) {
	f := p.Fabric
	by := map[fabric.DeviceID]int{}
	for i := range f.Selections {
		for _, d := range f.Selections[i].Devices {
			other, taken := by[d]
			if !taken {
				by[d] = i
				continue
			}
			if other == i {
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s is selected by target %s and by target %s", f.Text(f.Devices[d].Name), f.Text(f.Selections[other].Emitter), f.Text(f.Selections[i].Emitter)), Address: f.Text(f.Devices[d].Address),
				Labels: []diag.Label{f.Label(f.Selections[i].Decl, 0, schema.ASelect, ""), f.Label(f.Selections[other].Decl, 0, schema.ASelect, "the other")}, Help: "select it in one of them",
			})
		}
	}
}

// eachRDMAClass calls visit for every class that carries RDMA and that some
// port has.
func (p *Pass) eachRDMAClass(visit func(q *fabric.QoS, c *fabric.Class)) {
	used := make([]bool, len(p.Fabric.QoS))
	p.EachProfile(func(e End, _ int) { used[e.Profile.QoS] = true })
	for id := range p.Fabric.QoS {
		q := &p.Fabric.QoS[id]
		for i := range q.Classes {
			if used[id] && q.Classes[i].Carries == fabric.CarriesRDMA {
				visit(q, &q.Classes[i])
			}
		}
	}
}

// ofClass is a finding about a class.
func (p *Pass) ofClass(q *fabric.QoS, c *fabric.Class, n schema.Attr, summary, help string) diag.Diagnostic {
	return diag.Diagnostic{Summary: summary, Address: p.Fabric.Text(q.Address), Labels: []diag.Label{p.Fabric.Label(c.Decl, 0, n, "")}, Help: help}
}

// operated is twoNodes with what is said of its RDMA class.
func operated(class string) string {
	return twoNodesEdit(`    ecn       = "auto"`, "    ecn       = \"auto\"\n    "+class)
}

// recorded is twoNodes with what is watched of its RDMA class, and with more that is recorded of it.
func recorded(watched, more string) string {
	return operated(`observed = { monitor = ["` + watched + `"], ` + more + ` }`)
}

const watchedAll = `pause", "ecn", "cnp", "discards", "latency`

var roce903 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE903", Name: "host_persistent", Severity: diag.Warning,
		Title:  "the RDMA settings of a host are lost at a reboot",
		Why:    "a host that comes back without PFC loses frames that everybody else holds back for, and nothing looks different from outside",
		Fix:    "set them by a unit at boot, or let rocec write the host",
		Source: "Mellanox/mlnx-tools, mlnx_qos (what it sets is not kept); iproute2 dcb(8)",
		Bad:    twoNodesEdit(`  slot     = each.value`, "  slot     = each.value\n  manage     = \"verify\"\n  observed = { persistent = false }"),
		Good:   twoNodesEdit(`  slot     = each.value`, "  slot     = each.value\n  manage     = \"verify\"\n  observed = { persistent = true }"),
	},
	Run: func(p *Pass) {
		f := p.Fabric
		for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
			if dev := &f.Devices[d]; dev.Persistent == fabric.No && dev.Manage != fabric.Full {
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("RDMA settings of %s are lost at a reboot", f.Text(dev.Name)), Address: f.Text(dev.Address),
					Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.APersistent, "")}, Help: "set them by a unit at boot, or let rocec write the host",
				})
			}
		}
	},
}

var roce905 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE905", Name: "class_monitoring", Severity: diag.Warning, Pedantic: true,
		Title:  "nothing says how a class that carries RDMA is watched",
		Why:    "pauses, marks and discards are the only early sign of a port that differs; after the fact nobody can say when it began",
		Fix:    "collect the counters of every port, and write observed = { monitor = [...] } in the class",
		Source: "Guo et al., SIGCOMM 2016, section 5",
		Bad:    recorded("latency", `baseline = "measurements/2026-01.csv", fallback = { to = "none" }`),
		Good:   recorded(watchedAll, `baseline = "measurements/2026-01.csv", fallback = { to = "none" }`),
	},
	Run: func(p *Pass) {
		p.eachRDMAClass(func(q *fabric.QoS, c *fabric.Class) {
			want := fabric.WatchDiscards | fabric.WatchLatency
			if c.Lossless {
				want |= fabric.WatchPause
			}
			if c.ECN.Mode != fabric.Off && c.ECN.Mode != fabric.Unwritten {
				want |= fabric.WatchECN | fabric.WatchCNP
			}
			if lacking := watchWords(want &^ c.Monitor); len(lacking) > 0 {
				p.Report(p.ofClass(q, c, schema.AMonitor, fmt.Sprintf("nothing says how class %s is watched: %s", p.Fabric.Text(c.Name), list(lacking)), "collect them, and write observed = { monitor = [...] }"))
			}
		})
	},
}

// watchWords are the words of a set of what is watched.
func watchWords(set fabric.Watched) []string {
	var words []string
	for i, w := range []string{"pause", "ecn", "cnp", "discards", "latency"} { // in the order of the bits
		if set>>i&1 == 1 {
			words = append(words, w)
		}
	}
	return words
}

var roce909 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE909", Name: "plan_inband", Severity: diag.Warning,
		Title:  "a switch is managed over the network that it forwards",
		Why:    "reloading QoS resets the classes of the control plane too: the session that carries the change is cut by it",
		Fix:    "manage it out of band",
		Source: "sonic-net/SONiC doc/roce (RoCEv2 HLD)",
		Bad:    twoNodesEdit(`os    = "sonic/202505"`, "os    = \"sonic/202505\"\n  mgmt  = \"10.20.0.5\"", `port "Ethernet0" {`, "port \"Ethernet12\" {\n    address = \"10.20.0.1/24\"\n  }\n  port \"Ethernet0\" {"),
		Good:   twoNodesEdit(`os    = "sonic/202505"`, "os    = \"sonic/202505\"\n  mgmt  = \"10.30.0.5\"", `port "Ethernet0" {`, "port \"Ethernet12\" {\n    address = \"10.20.0.1/24\"\n  }\n  port \"Ethernet0\" {"),
	},
	Run: inBand,
}

func inBand(p *Pass) {
	f := p.Fabric
	var managed []fabric.DeviceID
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Mgmt == 0 || dev.Kind != fabric.Switch || dev.Manage != fabric.Full {
			continue
		}
		if _, ok := f.MgmtAddr(d); ok {
			managed = append(managed, d)
		}
	}
	if len(managed) == 0 {
		return
	}
	on := map[netip.Prefix]bool{} // of switches' interfaces
	var lengths []int             // of these, few: a fabric may have a subnet for each cable
	for i := 1; i < len(f.Ifaces); i++ {
		if f.Devices[f.Ifaces[i].Device].Kind != fabric.Switch {
			continue
		}
		for _, a := range f.Addresses(&f.Ifaces[i]) {
			if a.Addr().IsLinkLocalUnicast() {
				continue
			}
			on[a.Masked()] = true
			if !slices.Contains(lengths, a.Bits()) {
				lengths = append(lengths, a.Bits())
			}
		}
	}
	for _, d := range managed {
		dev := &f.Devices[d]
		a, _ := f.MgmtAddr(d)
		for _, bits := range lengths {
			subnet, err := a.Prefix(bits)
			if err != nil || !on[subnet] {
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s is managed at %s, which is in %s of the fabric itself", f.Text(dev.Name), a, subnet), Address: f.Text(dev.Address),
				Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.AMgmt, "")}, Help: "manage it out of band, or apply from a console",
			})
			break
		}
	}
}

var roce910 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE910", Name: "class_baseline", Severity: diag.Warning, Pedantic: true,
		Title:  "nothing says how a class that carries RDMA was measured",
		Why:    "without numbers from a good day nobody can tell a slow fabric from a normal one",
		Fix:    "run a bandwidth and latency test between pairs of nodes, and write where the results are",
		Source: "Guo et al., SIGCOMM 2016, section 5.1",
		Bad:    recorded(watchedAll, `fallback = { to = "none" }`),
		Good:   recorded(watchedAll, `baseline = "measurements/2026-01.csv", fallback = { to = "none" }`),
	},
	Run: func(p *Pass) {
		p.eachRDMAClass(func(q *fabric.QoS, c *fabric.Class) {
			if c.Baseline == 0 {
				p.Report(p.ofClass(q, c, schema.ABaseline, fmt.Sprintf("nothing says how class %s was measured", p.Fabric.Text(c.Name)), "measure it, and write observed = { baseline = ... }"))
			}
		})
	},
}

var roce914 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE914", Name: "class_fallback", Severity: diag.Warning, Pedantic: true,
		Title:  "nothing says what replaces RDMA when it stops",
		Why:    "a service that has no way besides RDMA stops with it; one whose way nobody tried may",
		Fix:    "write fallback, and try it",
		Source: "Bai et al., NSDI 2023, section 9",
		Bad:    recorded(watchedAll, `baseline = "measurements/2026-01.csv", fallback = { to = "tcp", alarm = true }`),
		Good:   recorded(watchedAll, `baseline = "measurements/2026-01.csv", fallback = { to = "tcp", alarm = true, tested = true }`),
	},
	Run: func(p *Pass) {
		p.eachRDMAClass(func(q *fabric.QoS, c *fabric.Class) {
			name := p.Fabric.Text(c.Name)
			switch {
			case !c.Fallback.Written:
				p.Report(p.ofClass(q, c, schema.AFallback, fmt.Sprintf("nothing says what replaces class %s when RDMA stops", name), `write observed = { fallback = { to = "tcp" } }, or { to = "none" }`))
			case c.Fallback.TCP && !c.Fallback.Tested:
				p.Report(p.ofClass(q, c, schema.AFallback, fmt.Sprintf("nobody has tried the fallback of class %s", name), "try it, and write tested = true"))
			}
		})
	},
}

var roce915 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE915", Name: "class_fallback_alarm", Severity: diag.Warning,
		Title:  "a service falls back to TCP, and nobody is told",
		Why:    "a service that quietly runs on TCP is slow for weeks before anybody looks at RDMA",
		Fix:    "raise an alarm on the transport in use",
		Source: "Bai et al., NSDI 2023, section 9",
		Bad:    operated(`observed = { fallback = { to = "tcp", tested = true } }`),
		Good:   operated(`observed = { fallback = { to = "tcp", tested = true, alarm = true } }`),
	},
	Run: func(p *Pass) {
		p.eachRDMAClass(func(q *fabric.QoS, c *fabric.Class) {
			if c.Fallback.TCP && !c.Fallback.Alarm {
				p.Report(p.ofClass(q, c, schema.AFallback, fmt.Sprintf("class %s falls back to TCP, and nobody is told", p.Fabric.Text(c.Name)), "raise an alarm on the transport in use, and write alarm = true"))
			}
		})
	},
}

var roce918 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE918", Name: "port_unmanaged", Severity: diag.Warning,
		Title:      "a port of a managed switch is left alone in an RDMA VLAN",
		Why:        "what nobody manages nobody checks: a port with other settings, or another device, is in the VLAN",
		Fix:        "say what it is cabled to, manage it, or shut it",
		Steps:      "first see by LLDP and the MAC table who is on the port",
		Interrupts: "whoever is on a port that is shut",
		Source:     "Rothenberger et al., ReDMArk: Bypassing RDMA Security Mechanisms, USENIX Security 2021",
		Bad:        twoNodesEdit(`port "Ethernet4" {`, "port \"Ethernet8\" {\n    manage = \"none\"\n    untagged = segment.storage\n    qos    = qos.untrusted\n  }\n  port \"Ethernet4\" {"),
		Good:       twoNodesEdit(`port "Ethernet4" {`, "port \"Ethernet8\" {\n    manage = \"none\"\n  }\n  port \"Ethernet4\" {"),
	},
	Run: unmanagedPort,
}

func unmanagedPort(p *Pass) {
	f := p.Fabric
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		port := &f.Ports[id]
		if port.Manage != fabric.HandsOff || port.Link != 0 || port.Flags&(fabric.External|fabric.ShutDown) != 0 {
			continue
		}
		e := p.End(id)
		if e.Device.Kind != fabric.Switch || e.Device.Manage == fabric.HandsOff {
			continue
		}
		carried := append([]fabric.SegmentID{port.Native}, f.VLANSets[port.VLANs]...)
		for _, s := range carried {
			if !p.rdmaSegment(s) {
				continue
			}
			seg := &f.Segments[s]
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s is not managed, has no cable in the source and is in RDMA VLAN %d (%s)", p.Name(e), seg.VLAN, f.Text(seg.Name)), Address: f.PortAddress(id), Concerns: []string{f.Text(seg.Address)},
				Labels: []diag.Label{p.AtPort(e, schema.AManage, ""), p.AtPort(e, p.carriedBy(e, seg.VLAN), "the VLAN")}, Help: "manage it, say what it is cabled to, or write admin = \"down\"",
			})
			break
		}
	}
}
