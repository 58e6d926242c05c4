package rocec_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// block is a block of a generated source.
type block struct {
	head  string
	attrs [][2]string
	kids  []*block
}

// set writes an attribute, or takes it away with "".
func (b *block) set(name, expr string) *block {
	for i := range b.attrs {
		if b.attrs[i][0] == name {
			b.attrs[i][1] = expr
			return b
		}
	}
	b.attrs = append(b.attrs, [2]string{name, expr})
	return b
}

func (b *block) get(name string) string {
	for _, a := range b.attrs {
		if a[0] == name {
			return a[1]
		}
	}
	return ""
}

func (b *block) add(head string, attrs ...string) *block {
	k := &block{head: head}
	for i := 0; i+1 < len(attrs); i += 2 {
		if attrs[i+1] != "" {
			k.set(attrs[i], attrs[i+1])
		}
	}
	b.kids = append(b.kids, k)
	return k
}

func (b *block) write(out *strings.Builder, indent string) {
	fmt.Fprintf(out, "%s%s {\n", indent, b.head)
	for _, a := range b.attrs {
		if a[1] != "" {
			fmt.Fprintf(out, "%s  %s = %s\n", indent, a[0], a[1])
		}
	}
	for _, k := range b.kids {
		k.write(out, indent+"  ")
	}
	fmt.Fprintf(out, "%s}\n", indent)
}

// end is one end of a cable of a generated source.
type end struct {
	block   *block
	device  *block
	address string
	peer    *end
	link    *block
	host    bool
	site    *site
}

// site is a generated fabric that is right, with what a fault needs to know.
type site struct {
	root     block
	kind     string // tor, twin, pair, ...
	trust    string // dscp, pcp
	lossless bool
	ecn      bool
	tagged   bool
	linux    bool // all hosts
	qos      *block
	rdma     *block // its class
	cnp      *block
	segments []*block
	switches []*block
	nodes    []*block
	ends     []*end // of written cables, both of each
	topology *block
	mbps     int
	least    int // of hosts on a switch and of switches under one, which are then of one model
}

// count is a number of hosts or switches.
func (s *site) count(n int) int { return max(n, s.least) }

func (s *site) String() string {
	var out strings.Builder
	for _, k := range s.root.kids {
		k.write(&out, "")
	}
	return out.String()
}

// switchType is a switch that sites are made of.
type switchType struct {
	model, os string
	port      string // of a number from 0
	step      int
	first     int
	mbps      int
	ports     int
	mlag      bool
	deviate   bool // its emitter can write a single port otherwise
}

var switchTypes = []switchType{
	{"nvidia/sn3700", "sonic/202505", "Ethernet", 4, 0, 100, 32, true, true},
	{"nvidia/sn3700c", "sonic/202411", "Ethernet", 4, 0, 100, 32, true, true},
	{"arista/7060cx-32s", "sonic/202405", "Ethernet", 4, 0, 100, 32, true, true},
	{"dell/s5248f-on", "sonic/202505", "Ethernet", 1, 0, 25, 48, true, true},
	{"nvidia/sn5400", "sonic/202505", "Ethernet", 8, 0, 400, 64, true, true},
	{"nvidia/sn3700c", "cumulus-linux/5.11", "swp", 1, 1, 100, 32, true, true},
	{"nvidia/sn5600", "cumulus-linux/5.14", "swp", 1, 1, 400, 64, true, true},
}

// alike is a type with ports of the same speed.
func alike(r *rand.Rand, as switchType) switchType {
	for {
		if t := pick(r, switchTypes...); t.mbps == as.mbps {
			return t
		}
	}
}

// adapters by speed; the first is one that does everything.
var adapters = map[int][]string{
	25:  {"nvidia/connectx-6-lx", "nvidia/connectx-5"},
	100: {"nvidia/connectx-6-dx", "nvidia/connectx-5", "nvidia/connectx-6"},
	400: {"nvidia/connectx-7"},
}

// mixed are further adapters, which go together with a contract without a class
// for CNPs.
var mixed = map[int][]string{
	25:  {"intel/e810", "broadcom/bcm575xx"},
	100: {"intel/e810", "broadcom/bcm575xx"},
	400: {},
}

func (p switchType) name(i int) string { return fmt.Sprintf("%s%d", p.port, p.first+i*p.step) }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func quote(s string) string { return `"` + s + `"` }

// randomSite makes a fabric that is right.
func randomSite(r *rand.Rand) *site {
	return largerSite(r, 0)
}

// largerSite is randomSite with at least so many hosts on a switch.
func largerSite(r *rand.Rand, least int) *site {
	s := &site{trust: "dscp", lossless: true, ecn: true, linux: true, least: least}
	s.kind = pick(r, "tor", "tor", "twin", "pair", "direct", "trunk", "rail_optimized", "leaf_spine", "clos3", "dual_tor", "full_mesh", "ring")
	on := pick(r, switchTypes...)
	s.mbps = on.mbps
	switch s.kind {
	case "rail_optimized", "leaf_spine", "clos3", "dual_tor", "full_mesh", "ring":
		for on.os != "cumulus-linux/5.14" && on.os != "cumulus-linux/5.11" && on.model != "nvidia/sn5400" && on.model != "nvidia/sn3700" {
			on = pick(r, switchTypes...)
		}
		s.mbps = on.mbps
		s.contract(r)
		s.generated(r, on)
		return s
	}
	s.contract(r)
	switch s.kind {
	case "tor":
		s.segmented(r, 1+r.IntN(2))
		sw := s.newSwitch("tor", on)
		s.hosts(r, []switchType{on}, []*block{sw}, s.count(2+r.IntN(4)), len(s.segments))
	case "twin":
		s.segmented(r, 2)
		far := alike(r, on) // of another maker, perhaps
		a, b := s.newSwitch("tor-a", on), s.newSwitch("tor-b", far)
		s.hosts(r, []switchType{on, far}, []*block{a, b}, s.count(2+r.IntN(4)), 2)
	case "pair":
		s.pair(r, on)
	case "direct":
		s.direct(r)
	case "trunk":
		s.trunk(r, on)
	}
	return s
}

// contract writes the qos: lossless by DSCP or PCP, lossy with ECN, or paused
// without ECN where the receiver sets the pace.
func (s *site) contract(r *rand.Rand) {
	style := pick(r, "dscp", "dscp", "pcp", "lossy", "receiver")
	switch s.kind {
	case "rail_optimized", "leaf_spine", "clos3", "dual_tor", "full_mesh", "ring":
		if style == "pcp" {
			style = "dscp" // routed
		}
	}
	if s.kind == "ring" {
		style = "lossy" // four and more switches in a ring can wait for each other
	}
	q := s.root.add(`qos "q"`, "trust", quote("dscp"))
	s.qos = q
	share := 30 + r.IntN(60)
	priority := pick(r, 3, 4)
	s.rdma = q.add(`class "rdma"`, "carries", quote("rdma"), "priority", fmt.Sprint(priority), "bandwidth", fmt.Sprint(share))
	if style == "pcp" {
		s.trust, s.tagged = "pcp", true
		q.set("trust", quote("pcp"))
	}
	dscp := pick(r, 24, 26, 34)
	if style == "pcp" {
		dscp = 26 // whose TOS has a kernel priority of its own
	}
	s.rdma.set("dscp", fmt.Sprintf("[%d]", dscp))
	s.rdma.set("ecn", quote("auto")).set("rdma_mtu", pick(r, quote("4096"), quote("4096"), quote("1024"), ""))
	switch style {
	case "lossy":
		s.lossless = false
		s.rdma.set("lossless", "false").set("congestion_control", quote("dcqcn"))
	case "receiver":
		s.ecn = false
		s.rdma.set("ecn", quote("off")).set("congestion_control", quote("receiver"))
	}
	if style != "receiver" && s.trust == "dscp" && r.IntN(3) > 0 {
		s.cnp = q.add(`class "cnp"`, "carries", quote("cnp"), "dscp", "[48]", "priority", "6")
	}
	q.add(`class "default"`, "priority", "0", "bandwidth", fmt.Sprint(100-share), "default", "true")
	if style != "pcp" {
		s.tagged = r.IntN(3) == 0
	}
}

// segmented writes VLANs with a subnet each.
func (s *site) segmented(r *rand.Rand, n int) {
	mtu := pick(r, "9000", "4200", "9000")
	for i := range n {
		s.segments = append(s.segments, s.root.add(fmt.Sprintf("segment \"s%d\"", i), "vlan", fmt.Sprint(100+i), "subnet", quote(fmt.Sprintf("10.%d.0.0/24", 100+i)),
			"qos", "qos.q", "mtu", mtu, "isolated", pick(r, "true", "")))
	}
}

func (s *site) newSwitch(name string, on switchType) *block {
	sw := s.root.add(fmt.Sprintf("switch %q", name), "model", quote(on.model), "os", quote(on.os))
	s.switches = append(s.switches, sw)
	return sw
}

func label(b *block) string {
	_, rest, _ := strings.Cut(b.head, `"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// carry puts a segment on a port or NIC.
func (s *site) carry(b *block, segment int, host bool) {
	at := fmt.Sprintf("segment.s%d", segment)
	switch {
	case !s.tagged:
		b.set("untagged", at)
	case host:
		b.set("segment", at)
	default:
		b.set("tagged", at)
	}
}

func (s *site) cableOf(r *rand.Rand) string {
	if s.mbps == 400 {
		return pick(r, `{ media = "dac", length = "2m" }`, `{ media = "dr", length = "40m" }`, `{ media = "aoc", length = "30m" }`)
	}
	return pick(r, `{ media = "dac", length = "3m" }`, `{ media = "aoc", length = "30m" }`, `{ media = "sr", length = "40m" }`)
}

// join cables two ends.
func (s *site) join(name string, a, b *end, cable string) {
	l := s.root.add(fmt.Sprintf("link %q", name), "ends", fmt.Sprintf("[%s, %s]", a.address, b.address), "cable", cable)
	a.peer, b.peer, a.link, b.link = b, a, l, l
	s.ends = append(s.ends, a, b)
}

func (s *site) port(sw *block, on switchType, i int) *end {
	p := sw.add(fmt.Sprintf("port %q", on.name(i)), "speed", quote(fmt.Sprintf("%dG", on.mbps)), "fec", quote("rs"))
	return &end{block: p, device: sw, address: fmt.Sprintf("switch.%s.port[%q]", label(sw), on.name(i)), site: s}
}

func (s *site) nic(n *block, name, model string) *end {
	b := n.add(fmt.Sprintf("nic %q", name), "model", quote(model), "speed", quote(fmt.Sprintf("%dG", s.mbps)), "fec", quote("rs"))
	return &end{block: b, device: n, address: fmt.Sprintf("node.%s.nic[%q]", label(n), name), host: true, site: s}
}

// models are the adapters that go with the contract.
func (s *site) models(r *rand.Rand) []string {
	list := adapters[s.mbps]
	if s.least > 0 {
		return []string{pick(r, list...)}
	}
	if s.cnp == nil && s.lossless && s.trust == "dscp" && r.IntN(2) == 0 {
		list = append(list[:len(list):len(list)], mixed[s.mbps]...)
	}
	return list
}

// hosts writes nodes whose NIC i is on switch i.
func (s *site) hosts(r *rand.Rand, on []switchType, switches []*block, nodes, nics int) {
	os := pick(r, "ubuntu/24.04", "ubuntu/22.04", "debian/12")
	models := s.models(r)
	for n := range nodes {
		node := s.root.add(fmt.Sprintf("node \"n%d\"", n), "os", quote(os), "slot", fmt.Sprint(n+1))
		s.nodes = append(s.nodes, node)
		model := pick(r, models...)
		for i := range nics {
			nic := s.nic(node, fmt.Sprintf("rail%d", i), model)
			segment := i % len(s.segments)
			s.carry(nic.block, segment, true)
			sw := switches[i%len(switches)]
			port := s.port(sw, on[i%len(on)], n*nics+i)
			s.carry(port.block, segment, false)
			s.join(fmt.Sprintf("n%d-%d", n, i), nic, port, s.cableOf(r))
		}
	}
}

// pair is two switches that share LACP bonds.
func (s *site) pair(r *rand.Rand, on switchType) {
	s.segmented(r, 1)
	a, b := s.newSwitch("tor-a", on), s.newSwitch("tor-b", on)
	last := on.ports - 1
	for n, sw := range []*block{a, b} {
		if strings.HasPrefix(on.os, "cumulus") { // its backup connection ends at an address of the device
			sw.add(`interface "lo"`, "on", quote("loopback"), "address", quote(fmt.Sprintf("192.0.2.%d/32", n+1)))
		}
		for _, i := range []int{last - 1, last} {
			sw.add(fmt.Sprintf("port %q", on.name(i)), "speed", quote(fmt.Sprintf("%dG", on.mbps)), "fec", quote("rs"))
		}
	}
	s.root.add(`mlag "m"`, "switches", "[switch.tor-a, switch.tor-b]", "peer_link", fmt.Sprintf("[%q, %q]", on.name(last-1), on.name(last)),
		"keepalive", `{ addresses = { "tor-a" = "192.0.2.1", "tor-b" = "192.0.2.2" } }`, "cable", `{ media = "dac", length = "1m" }`)
	for n := range s.count(2 + r.IntN(3)) {
		node := s.root.add(fmt.Sprintf("node \"n%d\"", n), "os", quote("ubuntu/24.04"), "slot", fmt.Sprint(n+1))
		s.nodes = append(s.nodes, node)
		var nics []*end
		cable := s.cableOf(r)
		for i := range 2 {
			nic := s.nic(node, fmt.Sprintf("p%d", i), adapters[s.mbps][0])
			nic.block.set("pci", quote(fmt.Sprintf("0000:%02x:00.%d", 16+n, i)))
			nics = append(nics, nic)
		}
		node.add(`bond "bond0"`, "mode", quote("lacp"), "members", quote("p[0-1]"), "rate", quote("fast"))
		bond := node.kids[len(node.kids)-1]
		if s.tagged {
			bond.set("segment", "segment.s0")
		} else {
			bond.set("untagged", "segment.s0")
		}
		for i, sw := range []*block{a, b} {
			port := s.port(sw, on, n)
			s.carry(port.block, 0, false)
			s.join(fmt.Sprintf("n%d-%d", n, i), nics[i], port, cable)
		}
	}
}

// direct is two hosts on one cable, or two.
func (s *site) direct(r *rand.Rand) {
	s.mbps = pick(r, 25, 100)
	nics := 1 + r.IntN(2)
	s.segmented(r, nics)
	var both [2][]*end
	model := pick(r, adapters[s.mbps]...)
	for n := range 2 {
		node := s.root.add(fmt.Sprintf("node \"n%d\"", n), "os", quote("ubuntu/24.04"), "slot", fmt.Sprint(n+1))
		s.nodes = append(s.nodes, node)
		for i := range nics {
			nic := s.nic(node, fmt.Sprintf("rail%d", i), model)
			s.carry(nic.block, i, true)
			both[n] = append(both[n], nic)
		}
	}
	for i := range nics {
		s.join(fmt.Sprintf("d%d", i), both[0][i], both[1][i], `{ media = "dac", length = "1m" }`)
	}
}

// trunk is leaves under one spine that carries their VLAN.
func (s *site) trunk(r *rand.Rand, on switchType) {
	s.segmented(r, 1)
	above := alike(r, on)
	spine := s.newSwitch("spine", above)
	slot := 0
	models := s.models(r)
	for l := range s.count(2 + r.IntN(2)) {
		leaf := s.newSwitch(fmt.Sprintf("leaf%d", l), on)
		up, down := s.port(leaf, on, on.ports-1), s.port(spine, above, l)
		s.carry(up.block, 0, false)
		s.carry(down.block, 0, false)
		s.join(fmt.Sprintf("up%d", l), down, up, s.cableOf(r))
		for n := range 1 + r.IntN(3) {
			slot++
			node := s.root.add(fmt.Sprintf("node \"n%d\"", slot), "os", quote("ubuntu/24.04"), "slot", fmt.Sprint(slot))
			s.nodes = append(s.nodes, node)
			nic := s.nic(node, "rail0", pick(r, models...))
			s.carry(nic.block, 0, true)
			port := s.port(leaf, on, n)
			s.carry(port.block, 0, false)
			s.join(fmt.Sprintf("n%d", slot), nic, port, s.cableOf(r))
		}
	}
}

// generated is a fabric that a topology wires, of any kind.
func (s *site) generated(r *rand.Rand, on switchType) {
	nics := 1
	leaves, spines := 2, 2
	ring := s.kind == "ring" || s.kind == "full_mesh"
	slots := 4
	switch s.kind {
	case "rail_optimized":
		nics = pick(r, 2, 4)
		leaves = nics
	case "dual_tor":
		nics = 2
	case "leaf_spine", "clos3":
		leaves = 2 + r.IntN(2)
	case "full_mesh":
		leaves = 3 + r.IntN(2)
	case "ring":
		leaves = 3 + r.IntN(4)
	}
	nodes := slots
	if s.kind == "leaf_spine" || s.kind == "clos3" || ring {
		nodes = slots * leaves
	}
	for n := range nodes {
		node := s.root.add(fmt.Sprintf("node \"n%02d\"", n+1), "os", quote("ubuntu/24.04"), "slot", fmt.Sprint(n+1))
		s.nodes = append(s.nodes, node)
		node.add(fmt.Sprintf("nic \"rail[0-%d]\"", nics-1), "model", quote(adapters[s.mbps][0]), "speed", quote(fmt.Sprintf("%dG", s.mbps)), "mtu", "9000")
	}
	var names []string
	for _, n := range s.nodes {
		names = append(names, "node."+label(n))
	}
	t := s.root.add(fmt.Sprintf("topology %q \"t\"", s.kind), "qos", "qos.q", "nodes", "["+strings.Join(names, ", ")+"]")
	s.topology = t
	nodePorts := slots
	subnet := `cidrsubnet("10.64.0.0/13", 8, leaf.index)`
	leaf := t.add("leaf", "count", fmt.Sprint(leaves), "model", quote(on.model), "os", quote(on.os), "vrf", quote("Vrf_rdma"),
		"node_ports", fmt.Sprintf("[%s]", portList(on, 0, nodePorts)), "speed", quote(fmt.Sprintf("%dG", on.mbps)), "fec", quote("rs"),
		"cable", s.cableOf(r), "subnet", subnet, "addressing", quote("per_port"), "loopback", `cidrsubnet("10.254.0.0/24", 8, 11 + leaf.index)`)
	switch {
	case s.kind == "ring":
		leaf.set("up_ports", fmt.Sprintf("[%s]", portList(on, 16, 2))).set("fabric_subnet", quote("10.253.0.0/22"))
		return
	case s.kind == "full_mesh":
		leaf.set("up_ports", fmt.Sprintf("[%s]", portList(on, 16, leaves-1))).set("fabric_subnet", quote("10.253.0.0/22"))
		return
	}
	ups := 4
	leaf.set("up_ports", fmt.Sprintf("[%s]", portList(on, 16, ups))).set("fabric_subnet", quote("10.253.0.0/22"))
	down := leaves * ups / spines
	spine := t.add("spine", "count", fmt.Sprint(spines), "speed", quote(fmt.Sprintf("%dG", on.mbps)), "fec", quote("rs"), "vrf", quote("Vrf_rdma"),
		"cable", s.cableOf(r), "loopback", `cidrsubnet("10.254.0.0/24", 8, 101 + spine.index)`)
	if s.kind != "clos3" {
		spine.set("ports", fmt.Sprintf("[%s]", portList(on, 0, down)))
		return
	}
	spine.set("down_ports", fmt.Sprintf("[%s]", portList(on, 0, down))).set("up_ports", fmt.Sprintf("[%s]", portList(on, 16, 2))).set("fabric_subnet", quote("10.252.0.0/22"))
	t.add("core", "count", "2", "ports", fmt.Sprintf("[%s]", portList(on, 0, spines)), "speed", quote(fmt.Sprintf("%dG", on.mbps)), "fec", quote("rs"), "vrf", quote("Vrf_rdma"),
		"cable", s.cableOf(r), "loopback", `cidrsubnet("10.254.0.0/24", 8, 201 + core.index)`)
}

func portList(on switchType, first, n int) string {
	var names []string
	for i := range n {
		names = append(names, quote(on.name(first+i)))
	}
	return strings.Join(names, ", ")
}
