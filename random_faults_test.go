package rocec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// fault puts one mistake into a fabric that is right.
type fault struct {
	name  string
	rules []string // any of them names it
	put   func(r *rand.Rand, s *site) []string
}

// where are the addresses by which a finding about an end may go: its own, its
// peer's, their cable's and devices'.
func (e *end) where() []string {
	list := []string{e.address, "link." + label(e.link)}
	for _, x := range []*end{e, e.peer} {
		device := "switch." + label(x.device)
		if x.host {
			device = "node." + label(x.device)
		}
		list = append(list, x.address, device)
	}
	return list
}

// ported are the ends that a test accepts.
func (s *site) ported(is func(*end) bool) []*end {
	return slices.DeleteFunc(slices.Clone(s.ends), func(e *end) bool { return !is(e) })
}

func anyEnd(*end) bool     { return true }
func onSwitch(e *end) bool { return !e.host }
func onHost(e *end) bool   { return e.host }

// deviate is a fault that writes one attribute of one end, or of one port of a
// generated switch. Its value may depend on the fabric; "" means that the fault
// does not fit it.
func deviate(name string, fits func(*end) bool, attr string, value func(s *site) string, rules ...string) fault {
	return fault{name, rules, func(r *rand.Rand, s *site) []string {
		v := value(s)
		if v == "" {
			return nil
		}
		if s.topology != nil {
			return s.exceptPort(r, attr, v, fits)
		}
		ends := s.ported(fits)
		if len(ends) == 0 {
			return nil
		}
		e := pick(r, ends...)
		e.block.set(attr, v)
		return e.where()
	}}
}

// exceptPort lets one port of one generated leaf or one NIC deviate.
func (s *site) exceptPort(r *rand.Rand, attr, value string, fits func(*end) bool) []string {
	leaf := s.topology.kids[0]
	if !fits(&end{site: s}) { // of hosts only
		node := pick(r, s.nodes...)
		nic := node.kids[0]
		name := "rail0"
		nic.add(fmt.Sprintf("except %q", name), attr, value, "reason", quote("a fault"))
		return []string{fmt.Sprintf("node.%s.nic[%q]", label(node), name), "node." + label(node)}
	}
	ports := strings.Split(strings.Trim(leaf.get(pick(r, "node_ports", "up_ports")), "[]"), ", ")
	if s.kind == "ring" || s.kind == "full_mesh" {
		ports = strings.Split(strings.Trim(leaf.get("node_ports"), "[]"), ", ")
	}
	port := pick(r, ports...)
	x := leaf.add(`except "t-leaf0"`, "reason", quote("a fault"))
	x.add("port "+port, attr, value)
	return []string{fmt.Sprintf("topology.t.leaf[0].port[%s]", port), "topology.t.leaf[0]"}
}

// on gives a value where something holds.
func on(holds func(s *site) bool, value string) func(*site) string {
	return func(s *site) string {
		if holds(s) {
			return value
		}
		return ""
	}
}

func always(*site) bool     { return true }
func lossless(s *site) bool { return s.lossless }

// other is a priority that the RDMA class does not have.
func other(s *site) string {
	if s.rdma.get("priority") == "3" {
		return "4"
	}
	return "3"
}

func dscpOf(s *site) string { return strings.Trim(s.rdma.get("dscp"), "[]") }

// anywhere is where a fault of the contract may be found: at any port.
const anywhere = "*"

var faults = []fault{
	deviate("PFC on another priority", onSwitch, "pfc", func(s *site) string {
		if !s.lossless {
			return ""
		}
		return "[" + other(s) + "]"
	}, "ROCE301", "ROCE302"),
	deviate("no PFC", onSwitch, "pfc", on(lossless, "[]"), "ROCE301", "ROCE302"),
	deviate("no PFC on a NIC", onHost, "pfc", on(lossless, "[]"), "ROCE301", "ROCE302", "ROCE322"),
	deviate("PFC on all priorities", onSwitch, "pfc", on(lossless, "[0, 1, 2, 3, 4, 5, 6, 7]"), "ROCE306", "ROCE301"),
	deviate("PFC where nothing is lossless", onSwitch, "pfc", on(func(s *site) bool { return !s.lossless }, "[3]"), "ROCE301", "ROCE304"),
	deviate("global pause", anyEnd, "global_pause", on(lossless, "true"), "ROCE303"),
	deviate("DSCP in another priority", onSwitch, "dscp_map", func(s *site) string {
		if s.trust != "dscp" {
			return ""
		}
		return fmt.Sprintf("{ %s = %s }", dscpOf(s), other(s))
	}, "ROCE205", "ROCE208", "ROCE302", "ROCE209"),
	deviate("another DSCP in the class's priority", onSwitch, "dscp_map", func(s *site) string {
		if s.trust != "dscp" || !s.lossless {
			return ""
		}
		return fmt.Sprintf("{ 10 = %s }", s.rdma.get("priority"))
	}, "ROCE205", "ROCE210", "ROCE208", "ROCE209"),
	deviate("PCP in another priority", onSwitch, "pcp_map", func(s *site) string {
		if s.trust != "pcp" {
			return ""
		}
		return fmt.Sprintf("{ %s = %s }", s.rdma.get("priority"), other(s))
	}, "ROCE205", "ROCE208", "ROCE302", "ROCE209"),
	deviate("trust none", onSwitch, "trust", on(always, quote("none")), "ROCE208", "ROCE205", "ROCE302", "ROCE206"),
	deviate("lossy traffic in the lossless queue", onSwitch, "queue_map", func(s *site) string {
		if !s.lossless {
			return ""
		}
		return fmt.Sprintf("{ 0 = %s }", s.rdma.get("priority"))
	}, "ROCE210", "ROCE227"),
	deviate("lossy traffic in the lossless group", onSwitch, "group_map", func(s *site) string {
		if !s.lossless {
			return ""
		}
		return fmt.Sprintf("{ 0 = %s }", s.rdma.get("priority"))
	}, "ROCE210"),
	deviate("pauses stop another queue", onSwitch, "pfc_queue_map", func(s *site) string {
		if !s.lossless {
			return ""
		}
		return fmt.Sprintf("{ %s = 5 }", s.rdma.get("priority"))
	}, "ROCE310"),
	deviate("no ECN", onSwitch, "ecn", on(func(s *site) bool { return s.ecn }, quote("off")), "ROCE404"),
	deviate("no watchdog", onSwitch, "watchdog", on(lossless, quote("off")), "ROCE307"),
	deviate("too little headroom", onSwitch, "headroom", on(lossless, quote("2KB")), "ROCE501"),
	deviate("no headroom", onSwitch, "headroom", on(lossless, "0"), "ROCE512", "ROCE501"),
	deviate("ETS beyond 100", onSwitch, "ets", func(s *site) string { return fmt.Sprintf("{ 0 = 90, %s = 90 }", s.rdma.get("priority")) }, "ROCE201"),
	deviate("nothing for the class", onSwitch, "ets", func(s *site) string { return fmt.Sprintf("{ 0 = 100, %s = 0 }", s.rdma.get("priority")) }, "ROCE202"),
	deviate("DCBX willing", onHost, "dcbx", on(always, `{ mode = "willing", version = "ieee", owner = "firmware" }`), "ROCE228"),
	deviate("another speed", onHost, "speed", on(always, quote("10G")), "ROCE101"),
	deviate("no FEC", onHost, "fec", on(always, quote("none")), "ROCE102", "ROCE109"),
	{"negotiation on one end only", []string{"ROCE103"}, func(r *rand.Rand, s *site) []string {
		if len(s.ends) == 0 {
			return nil
		}
		e := pick(r, s.ends...)
		e.block.set("autoneg", "true")
		e.peer.block.set("autoneg", "false")
		return e.where()
	}},
	deviate("a small MTU", onHost, "mtu", on(func(s *site) bool { return s.rdma.get("rdma_mtu") == quote("4096") }, "1500"), "ROCE806", "ROCE807", "ROCE808"),
	{"a small MTU between switches", []string{"ROCE806", "ROCE807"}, func(r *rand.Rand, s *site) []string {
		if s.topology == nil || len(s.topology.kids) < 2 {
			return nil
		}
		ports := strings.Split(strings.Trim(s.topology.kids[0].get("up_ports"), "[]"), ", ")
		port := pick(r, ports...)
		s.topology.kids[0].add(`except "t-leaf0"`, "reason", quote("a fault")).add("port "+port, "mtu", "1500")
		return []string{fmt.Sprintf("topology.t.leaf[0].port[%s]", port), "topology.t.leaf[0]"}
	}},
	{"another native VLAN", []string{"ROCE602", "ROCE601", "ROCE617"}, func(r *rand.Rand, s *site) []string {
		ends := s.ported(func(e *end) bool { return !e.host && e.block.get("untagged") != "" })
		if len(ends) == 0 {
			return nil
		}
		s.root.add(`segment "stray"`, "vlan", "999", "qos", "qos.q", "mtu", s.segments[0].get("mtu"))
		e := pick(r, ends...)
		e.block.set("untagged", "segment.stray")
		return e.where()
	}},
	{"a VLAN missing", []string{"ROCE601"}, func(r *rand.Rand, s *site) []string {
		ends := s.ported(func(e *end) bool { return !e.host && e.block.get("tagged") != "" && s.kind != "pair" })
		if len(ends) == 0 {
			return nil
		}
		s.root.add(`segment "stray"`, "vlan", "999", "qos", "qos.q", "mtu", s.segments[0].get("mtu"))
		e := pick(r, ends...)
		e.block.set("tagged", "segment.stray")
		return e.where()
	}},
	{"an address twice", []string{"ROCE614"}, func(r *rand.Rand, s *site) []string {
		if s.topology != nil || len(s.nodes) < 2 {
			return nil
		}
		a, b := s.nodes[0], s.nodes[1+r.IntN(len(s.nodes)-1)]
		b.set("slot", a.get("slot"))
		return []string{"node." + label(a), "node." + label(b)}
	}},
	deviate("an address outside of its segment", onHost, "address", func(s *site) string {
		if s.kind == "pair" || s.topology != nil && s.topology.kids[0].get("subnet") == "" {
			return ""
		}
		return quote("10.77.0.9/24")
	}, "ROCE620", "ROCE621", "ROCE623"),
	{"an interface of the switch outside of its segment", []string{"ROCE620"}, func(r *rand.Rand, s *site) []string {
		if len(s.switches) == 0 || len(s.segments) == 0 {
			return nil
		}
		sw := pick(r, s.switches...)
		sw.add(`interface "svi"`, "on", "segment.s0", "address", quote("10.77.0.1/24"))
		return []string{"switch." + label(sw) + `.interface["Vlan100"]`}
	}},
	{"the ends of a routed link in two subnets", []string{"ROCE621"}, func(r *rand.Rand, s *site) []string {
		if s.kind != "tor" || s.trust != "dscp" || s.tagged {
			return nil
		}
		e := pick(r, s.ported(onHost)...)
		mtu := s.segments[0].get("mtu")
		for _, x := range []*end{e, e.peer} {
			x.block.set("untagged", "").set("qos", "qos.q").set("mtu", mtu)
		}
		e.block.set("address", quote("10.77.0.5/31"))
		e.peer.block.set("address", quote("10.77.0.2/31"))
		return append(e.where(), strings.Replace(e.peer.address, ".port[", ".interface[", 1), strings.Replace(e.address, ".nic[", ".interface[", 1))
	}},
	{"a gateway that the switch does not have", []string{"ROCE622"}, func(r *rand.Rand, s *site) []string {
		if s.kind != "tor" || s.segments[0].get("isolated") != "" {
			return nil
		}
		s.segments[0].set("gateway", quote("10.100.0.1"))
		s.switches[0].add(`interface "svi"`, "on", "segment.s0", "address", quote("10.100.0.2/24"))
		return []string{"segment.s0"}
	}},
	{"a port cabled twice", []string{"ROCE104"}, func(r *rand.Rand, s *site) []string {
		if len(s.ends) < 4 {
			return nil
		}
		hosts := s.ported(onHost)
		a := hosts[0]
		b := pick(r, hosts[1:]...)
		if a.device == b.device || a.peer.host {
			return nil
		}
		b.link.set("ends", fmt.Sprintf("[%s, %s]", b.address, a.peer.address))
		return append(a.where(), b.where()...)
	}},
	{"a cable too long for its kind", []string{"ROCE106"}, func(r *rand.Rand, s *site) []string {
		if len(s.ends) == 0 {
			return nil
		}
		e := pick(r, s.ends...)
		e.link.set("cable", `{ media = "dac", length = "30m" }`)
		return e.where()
	}},
	{"a length of zero", []string{"ROCE108"}, func(r *rand.Rand, s *site) []string {
		if len(s.ends) == 0 || !s.lossless {
			return nil
		}
		e := pick(r, s.ends...)
		e.link.set("cable", `{ media = "dac", length = "0m" }`)
		return e.where()
	}},
	{"an untrusted node in the VLAN", []string{"ROCE603", "ROCE311", "ROCE604"}, func(r *rand.Rand, s *site) []string {
		if s.topology != nil || s.kind == "direct" {
			return nil
		}
		n := pick(r, s.nodes...)
		n.set("trusted", "false")
		where := []string{"node." + label(n)}
		for _, e := range s.ends {
			if e.device == n {
				where = append(where, e.where()...)
			}
		}
		return where
	}},
	{"an uplink with the VLAN", []string{"ROCE604", "ROCE605", "ROCE311"}, func(r *rand.Rand, s *site) []string {
		if len(s.switches) == 0 || len(s.segments) == 0 {
			return nil
		}
		sw := pick(r, s.switches...)
		name := "Ethernet40"
		if strings.Contains(sw.get("os"), "cumulus") {
			name = "swp20"
		}
		sw.add(fmt.Sprintf("port %q", name), "external", "true", pick(r, "tagged", "untagged"), "segment.s0")
		return []string{fmt.Sprintf("switch.%s.port[%q]", label(sw), name)}
	}},
	{"marking from min above max", []string{"ROCE403"}, func(_ *rand.Rand, s *site) []string {
		if !s.ecn || s.kind == "direct" { // no switch marks
			return nil
		}
		s.rdma.set("ecn", `{ min = "2MB", max = "1MB", probability = 5 }`)
		return []string{anywhere}
	}},
	{"CNPs lossless", []string{"ROCE221"}, func(_ *rand.Rand, s *site) []string {
		if s.cnp == nil || !s.lossless {
			return nil
		}
		s.cnp.set("lossless", "true")
		return []string{anywhere}
	}},
	{"two classes with one code point", []string{"ROCE209"}, func(_ *rand.Rand, s *site) []string {
		if s.trust != "dscp" {
			return nil
		}
		s.qos.add(`class "bulk"`, "carries", quote("other"), "dscp", s.rdma.get("dscp"), "priority", "1", "bandwidth", "1")
		d := s.qos.kids[slices.IndexFunc(s.qos.kids, func(k *block) bool { return label(k) == "default" })]
		var share int
		fmt.Sscan(d.get("bandwidth"), &share)
		d.set("bandwidth", fmt.Sprint(share-1))
		return []string{anywhere}
	}},
	{"an adapter without RDMA on lossy Ethernet", []string{"ROCE409", "ROCE705"}, func(r *rand.Rand, s *site) []string {
		if s.lossless || s.topology != nil || s.mbps == 400 {
			return nil
		}
		e := pick(r, s.ported(onHost)...)
		e.block.set("model", quote("nvidia/connectx-3-pro")).set("speed", quote("40G"))
		e.peer.block.set("speed", quote("40G"))
		e.block.set("fec", "")
		e.peer.block.set("fec", "")
		return e.where()
	}},
	{"a NIC on the leaf of another rail", []string{"ROCE810", "ROCE104"}, func(r *rand.Rand, s *site) []string {
		if s.kind != "rail_optimized" {
			return nil
		}
		i := r.IntN(len(s.nodes))
		port := strings.Split(strings.Trim(s.topology.kids[0].get("node_ports"), "[]"), ", ")[i]
		nic := s.nodes[i].kids[0]
		nic.add(`except "rail0"`, "at", fmt.Sprintf("topology.t.leaf[1].port[%s]", port), "reason", quote("a fault"))
		nic.add(`except "rail1"`, "at", fmt.Sprintf("topology.t.leaf[0].port[%s]", port), "reason", quote("a fault"))
		return []string{"node." + label(s.nodes[i])}
	}},
}
