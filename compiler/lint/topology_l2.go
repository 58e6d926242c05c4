package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/platform"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on paths that looks at bridging: tables that age, loops
// and overlays.

var roce818 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE818", Name: "switch_arp_mac", Severity: diag.Warning,
		Title: "a switch forgets MAC addresses before it forgets ARP entries",
		Why: "an entry of ARP without one of MAC makes the switch flood what it routes: of lossless frames that fills buffers in a circle, and the fabric stands still. " +
			"Where a time is not written it is that of the system. SONiC keeps ARP entries for 30 minutes and MAC addresses for 10, and does no harm: " +
			"its arp_update asks every neighbour of a VLAN again each 5 minutes, which keeps the MAC of a host that lives and ends the entry of one that does not",
		Fix: "raise mac_timeout to arp_timeout or above",
		Source: "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, 4.2 (4 hours of ARP, 5 minutes of MAC); sonic-net/sonic-buildimage files/scripts/arp_update, " +
			"dockers/docker-orchagent/switch.json.j2 (fdb_aging_time), files/image_config/sysctl/sysctl-net.conf (base_reachable_time_ms); " +
			"Cumulus Linux user guide, Address Resolution Protocol (18 minutes) and Ethernet Bridging (bridge ageing 1800 s)",
		Formula: "flooding is possible for ARP time - MAC time (s); the ARP time is that of the next request which the system " +
			"sends by itself, where it does",
		Bad:  aging("300s"),
		Good: aging("1800s"),
	},
	Run: arpBeforeMAC,
}

// aging is two nodes on a switch with Cumulus Linux that routes for them and keeps MAC addresses for some time.
func aging(mac string) string {
	return strings.NewReplacer(`"sonic/202505"`, "\"cumulus-linux/5.13\"\n  mac_timeout = \""+mac+`"
  interface "vlan100" {
    on      = segment.storage
    address = ["10.100.0.1/24"]
  }`, "Ethernet0", "swp1", "Ethernet4", "swp2").Replace(twoNodes(""))
}

func arpBeforeMAC(p *Pass) {
	f := p.Fabric
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Kind != fabric.Switch || dev.ARPMs == 0 && dev.MACMs == 0 && dev.OSName == 0 {
			continue
		}
		arp, mac, how := p.ages(dev)
		if arp == 0 || mac == 0 || arp <= mac || dev.ARPMs == 0 && !p.bridgesAndRoutes(d) {
			continue
		}
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			e := p.End(id)
			if e.Port.VLANs == 0 && e.Port.Native == 0 || e.Port.Link == 0 || !p.Lossless(e) {
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s keeps ARP entries for %d s and MAC addresses for %d s: between the two it floods lossless frames", f.Text(dev.Name), arp/1000, mac/1000), Address: f.Text(dev.Address),
				Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.AMACTimeout, ""), f.Label(dev.Decl, dev.Layers, schema.AARPTimeout, "ARP")}, Help: fmt.Sprintf("write mac_timeout = \"%ds\" or more", arp/1000),
				Notes: noted(how),
			})
			break
		}
	}
}

// ages are for how long a switch takes the address of a neighbour for known, and a MAC address, as written or by
// its system, and a note that says which is not written. 0 is not known.
func (p *Pass) ages(dev *fabric.Device) (arp, mac uint32, how string) {
	own := platform.Of(p.Fabric.Text(dev.OSName))
	switch arp, mac = dev.ARPMs, dev.MACMs; {
	case arp == 0 && mac == 0:
		how = "neither is written: both are what the system does by itself"
	case arp == 0:
		how = "the time of ARP entries is what the system does by itself"
	case mac == 0:
		how = "the time of MAC addresses is what the system does by itself"
	}
	if arp == 0 {
		arp = own.ARPMs
	}
	if own.RefreshMs != 0 {
		arp = min(arp, own.RefreshMs)
	}
	if mac == 0 {
		mac = own.MACMs
	}
	return arp, mac, how
}

// bridgesAndRoutes reports whether a switch has an interface in a segment that carries RDMA.
func (p *Pass) bridgesAndRoutes(d fabric.DeviceID) bool {
	return slices.ContainsFunc(p.Facts.IfacesOf(d), func(i fabric.IfaceID) bool { return p.rdmaSegment(p.Fabric.Ifaces[i].Segment) })
}

var roce819 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE819", Name: "vlan_loop", Severity: diag.Error,
		Title:      "a VLAN goes round in a circle of switches without a spanning tree",
		Why:        "a broadcast in the circle never ends: it fills every link of the VLAN within seconds, lossless classes included",
		Fix:        "take the VLAN off one link, run a spanning tree, or make two of the switches a pair",
		Steps:      "take the VLAN off the link that no traffic uses, or switch the spanning tree on in a maintenance window",
		Interrupts: "ports that the spanning tree blocks while it starts: 30 s with the timers of 802.1D, a few with rapid spanning tree",
		Source:     "IEEE 802.1D-2004 clause 17 (forward delay 15 s, twice); Guo et al., SIGCOMM 2016, 4.2",
		Bad:        triangle(`observed = { stp = "off" }`, `tagged = segment.storage`),
		Good:       triangle(`observed = { stp = "rstp" }`, `tagged = segment.storage`),
	},
	Run: vlanLoop,
}

// triangle is three switches in a circle; sw is said of each, port of the ports
// between them.
func triangle(sw, port string) string {
	return twoNodes(``) + `switch "ring" {
  for_each = toset(["a", "b", "c"])
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  ` + sw + `
  port "Ethernet[0-4:4]" {
    speed    = "100G"
    fec      = "rs"
    ` + port + `
  }
}
link "ring" {
  for_each = { a = "b", b = "c", c = "a" }
  ends     = [switch.ring[each.key].port["Ethernet0"], switch.ring[each.value].port["Ethernet4"]]
  cable    = { media = "dac", length = "3m" }
}
`
}

// bridges are the switches of one VLAN and the links between them that carry it,
// as a forest: pairs are one, and so are the links of a LAG.
type bridges struct {
	parent map[fabric.DeviceID]fabric.DeviceID
	next   map[fabric.DeviceID][]fabric.LinkID // of the forest
	joined map[joint]bool
}

// joint is a LAG between two switches: the one of a switch that is in no pair, as
// of pairs the LAGs of both switches may be legs of one.
type joint struct {
	low, high fabric.DeviceID
	lag       fabric.LAGID
}

func vlanLoop(p *Pass) {
	f := p.Fabric
	if !p.anyDevice(func(d *fabric.Device) bool { return d.STP == fabric.STPOff }) {
		return // of a spanning tree nothing is known, or one runs
	}
	// A spanning tree that one switch runs, or may run, ends the circle there: only
	// those without are looked at.
	off := func(d fabric.DeviceID) bool {
		return f.Devices[d].STP == fabric.STPOff && f.Devices[p.asOne(d)].STP == fabric.STPOff
	}
	all := map[uint16]*bridges{}
	said := map[uint16]bool{}
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		link := &f.Links[l]
		a, b := p.End(link.A), p.End(link.B)
		if link.PeerLink != 0 || a.Device.Kind != fabric.Switch || b.Device.Kind != fabric.Switch || (a.Port.Flags|b.Port.Flags)&fabric.ShutDown != 0 || !off(a.Port.Device) || !off(b.Port.Device) {
			continue
		}
		for _, vlan := range p.bridgedVLANs(a, b) {
			if said[vlan] {
				continue
			}
			if all[vlan] == nil {
				all[vlan] = &bridges{map[fabric.DeviceID]fabric.DeviceID{}, map[fabric.DeviceID][]fabric.LinkID{}, map[joint]bool{}}
			}
			x, y := p.asOne(a.Port.Device), p.asOne(b.Port.Device)
			by := joint{low: min(x, y), high: max(x, y)}
			switch {
			case a.Device.MLAG == 0 && a.Port.LAG != 0:
				by.lag = a.Port.LAG
			case b.Device.MLAG == 0:
				by.lag = b.Port.LAG
			}
			if circle := all[vlan].join(p, l, x, y, by, a.Port.LAG != 0 || b.Port.LAG != 0); circle != nil {
				said[vlan] = true
				p.vlanCircle(vlan, l, circle)
			}
		}
	}
}

// bridgedVLANs are the VLANs that a link carries between bridged ports.
func (p *Pass) bridgedVLANs(a, b End) []uint16 {
	f := p.Fabric
	var ids []uint16
	for _, s := range f.VLANSets[a.Port.VLANs] {
		if slices.Contains(f.VLANSets[b.Port.VLANs], s) {
			ids = append(ids, f.Segments[s].VLAN)
		}
	}
	if a.Port.Native != 0 && a.Port.Native == b.Port.Native && !f.Segments[a.Port.Native].Tier {
		ids = append(ids, f.Segments[a.Port.Native].VLAN)
	}
	return ids
}

// asOne is a switch, the first of its pair if it has one.
func (p *Pass) asOne(d fabric.DeviceID) fabric.DeviceID {
	if m := p.Fabric.Devices[d].MLAG; m != 0 {
		return p.Fabric.MLAGs[m].Switches[0]
	}
	return d
}

func (t *bridges) root(d fabric.DeviceID) fabric.DeviceID {
	for t.parent[d] != 0 {
		if up := t.parent[t.parent[d]]; up != 0 {
			t.parent[d] = up
		}
		d = t.parent[d]
	}
	return d
}

// join adds a link. If that closes a circle, it returns the switches of it in
// their order.
func (t *bridges) join(p *Pass, l fabric.LinkID, x, y fabric.DeviceID, by joint, lag bool) []fabric.DeviceID {
	if x == y || lag && t.joined[by] {
		return nil
	}
	if lag {
		t.joined[by] = true
	}
	rx, ry := t.root(x), t.root(y)
	if rx == ry {
		return t.way(p, x, y)
	}
	t.parent[rx] = ry
	t.next[x], t.next[y] = append(t.next[x], l), append(t.next[y], l)
	return nil
}

// way is the only way from one switch to another in the forest.
func (t *bridges) way(p *Pass, from, to fabric.DeviceID) []fabric.DeviceID {
	came := map[fabric.DeviceID]fabric.DeviceID{from: from}
	for queue := []fabric.DeviceID{from}; len(queue) > 0; queue = queue[1:] {
		d := queue[0]
		for _, l := range t.next[d] {
			link := &p.Fabric.Links[l]
			for _, end := range [2]fabric.PortID{link.A, link.B} {
				n := p.asOne(p.Fabric.Ports[end].Device)
				if _, seen := came[n]; !seen {
					came[n] = d
					queue = append(queue, n)
				}
			}
		}
	}
	list := []fabric.DeviceID{to}
	for d := to; d != from; {
		d = came[d]
		list = append(list, d)
	}
	return list
}

// vlanCircle reports a circle of switches without a spanning tree.
func (p *Pass) vlanCircle(vlan uint16, l fabric.LinkID, circle []fabric.DeviceID) {
	f := p.Fabric
	names := make([]string, 0, len(circle)+1)
	for _, d := range circle {
		names = append(names, f.Text(f.Devices[d].Name))
	}
	names = append(names, names[0])
	link := &f.Links[l]
	a, b := p.End(link.A), p.End(link.B)
	p.Report(p.AboutLink(l, a, b, diag.Diagnostic{
		Summary: fmt.Sprintf("VLAN %d goes round in a circle: %s", vlan, strings.Join(names, " > ")),
		Labels:  []diag.Label{p.AtPort(a, p.vlanAttr(a), ""), p.AtPort(b, p.vlanAttr(b), "the other end"), p.atDevice(circle[0], schema.ASTP, "no spanning tree")},
		Help:    "take the VLAN off one link, run a spanning tree, or make two of the switches a pair",
	}))
}

var roce826 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE826", Name: "overlay_mtu", Severity: diag.Warning,
		Title: "a link under an overlay has no room for its header",
		Why: "VXLAN adds 50 bytes to every frame, 70 over IPv6: what fills the MTU of a host does not fit between the " +
			"switches, and is dropped without a word",
		Fix:        "raise the MTU between switches, or lower that of the segment",
		Steps:      "switches first and hosts last for a larger MTU, hosts first for a smaller one",
		Interrupts: "large packets on the link, while the MTU of its ends differs",
		Source:     "RFC 7348, section 5: outer Ethernet 14, IPv4 20 or IPv6 40, UDP 8 and VXLAN 8 bytes",
		Formula:    "MTU between switches >= MTU of the segment + 50 B (70 B over IPv6)",
		Bad:        overlaid("9000"),
		Good:       overlaid("9050"),
	},
	Run: overlayMTU,
}

// overlaid is twoNodes with a segment in VXLAN and a routed link of the switch.
func overlaid(mtu string) string {
	return edit(twoNodes(``), `mtu      = 9000`, "mtu      = 9000\n  observed = { overlay = \"vxlan\" }", `switch "tor" {`, `switch "spine" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  port "Ethernet0" {
    speed   = "100G"
    fec     = "rs"
    mtu     = `+mtu+`
    qos     = qos.roce
    address = "10.0.0.0/31"
  }
}
link "up" {
  ends  = [switch.tor.port["Ethernet8"], switch.spine.port["Ethernet0"]]
  cable = { media = "dac", length = "3m" }
}
switch "tor" {
  port "Ethernet8" {
    speed   = "100G"
    fec     = "rs"
    mtu     = `+mtu+`
    qos     = qos.roce
    address = "10.0.0.1/31"
  }`)
}

// VXLAN over IPv4: outer Ethernet 14, IP 20, UDP 8, VXLAN 8 [RFC 7348, section 5].
const overlayBytes = 50

func overlayMTU(p *Pass) {
	f := p.Fabric
	var island []int
	largest := map[int]fabric.SegmentID{} // by what cables join to it
	for s := fabric.SegmentID(1); int(s) < len(f.Segments); s++ {
		if !f.Segments[s].Overlay {
			continue
		}
		if island == nil {
			island = p.islands()
		}
		for _, d := range p.carriersOf(s) {
			if at := island[d]; f.Segments[s].MTU > f.Segments[largest[at]].MTU {
				largest[at] = s
			}
		}
	}
	if len(largest) == 0 {
		return
	}
	// Two links of a kind may be in different fabrics: this looks at each.
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		a, b := p.End(f.Links[l].A), p.End(f.Links[l].B)
		of := largest[island[a.Port.Device]]
		if of == 0 {
			continue
		}
		need := uint32(f.Segments[of].MTU) + overlayBytes
		for _, e := range [2]End{a, b} {
			if a.Device.Kind != fabric.Switch || b.Device.Kind != fabric.Switch || e.Port.VLANs != 0 || e.Port.Native != 0 || e.Port.MTU == 0 || uint32(e.Port.MTU) >= need {
				continue
			}
			other := b
			if e.ID == b.ID {
				other = a
			}
			p.Report(p.AboutLink(l, e, other, diag.Diagnostic{
				Summary: fmt.Sprintf("MTU %d of %s is below the %d that segment %s takes in VXLAN", e.Port.MTU, p.Name(e), need, f.Text(f.Segments[of].Name)),
				Labels:  []diag.Label{p.AtPort(e, schema.AMTU, ""), f.Label(f.Segments[of].Decl, 0, schema.AMTU, "the segment")}, Help: fmt.Sprintf("raise it to %d, or more over IPv6", need),
			}))
		}
	}
}
