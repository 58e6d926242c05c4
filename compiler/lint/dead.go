package lint

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// Rules on what is described, valid, and dead all the same: nothing leads there, or
// nothing is said of it.

var roce830 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE830", Name: "device_without_cable", Severity: diag.Warning,
		Title: "a switch, or a node that carries RDMA, has no cable",
		Why: "no proof speaks of a device that no cable leads to: its settings are written, " +
			"and its peers know nothing of it. Mostly the rows of its cables were lost. " +
			"A NIC alone without a cable is ROCE805 where most of its peers have one",
		Fix:    "add its cables, or leave the device out until it is there",
		Source: "docs/language/blocks.md, link",
		Bad:    twoNodes(``) + loneSwitch,
		Good:   twoNodes(``),
	},
	Run: withoutCable,
}

const loneSwitch = `switch "spare" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
}
`

func withoutCable(p *Pass) {
	f := p.Fabric
	var lone []fabric.DeviceID
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Manage != fabric.HandsOff && p.lone(d) {
			lone = append(lone, d)
		}
	}
	if len(lone) == 0 || len(f.Links) < 2 || p.doubled() {
		return // no cable is described at all, or some is listed at the wrong port: ROCE104
	}
	told := map[fabric.DeviceID]bool{} // by a list (ROCE121), or NIC by NIC (ROCE805)
	for _, m := range f.Mismatches {
		for _, port := range [...]fabric.PortID{m.A, m.B} {
			told[f.Ports[port].Device] = true
		}
	}
	for _, u := range p.uncabled() {
		told[f.Ports[u.nic].Device] = true
	}
	for _, d := range lone {
		dev := &f.Devices[d]
		if told[d] {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("no cable leads to %s %s", deviceWords[dev.Kind], f.Text(dev.Name)),
			Address: f.Text(dev.Address),
			Labels:  []diag.Label{f.DeclLabel(dev.Decl, "")}, Help: "add its cables, or leave it out until it is there",
		})
	}
}

// deviceWords are the kinds of devices in the words of the language.
var deviceWords = [...]string{fabric.Switch: "switch", fabric.Node: "node"}

// lone reports whether a device has no cable, though it should: it is a switch that
// leads nowhere else, or it has NICs that carry RDMA and are not shut.
func (p *Pass) lone(d fabric.DeviceID) bool {
	f := p.Fabric
	open := f.Devices[d].Kind == fabric.Switch
	first, end := f.PortsOf(d)
	for id := first; id < end; id++ {
		port := &f.Ports[id]
		if port.Link != 0 || port.Flags&fabric.External != 0 {
			return false
		}
		const quiet = fabric.ShutDown | fabric.IsLAG | fabric.IsVNIC
		open = open || port.NIC != 0 && port.Flags&quiet == 0 && p.RDMA(p.End(id)) && !likeRange(f.Text(port.Name))
	}
	return open
}

var roce831 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE831", Name: "link_shut", Severity: diag.Warning,
		Title: "a cable is shut at one end only",
		Why: "the open end waits for a peer that never answers: it keeps its buffers, raises alarms, and whoever " +
			"enables it believes that the way is there",
		Fix:    "take admin = \"down\" away, or write it at both ends",
		Source: "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, admin_status",
		Bad:    fourNodes(`admin = "down"`, ``),
		Good:   fourNodes(``, ``),
	},
	Run:    linkShut,
	yields: true, // to what the shut port breaks
}

func linkShut(p *Pass) {
	unseen := func(e End) bool { return e.Port.Manage == fabric.HandsOff || e.Device.Manage == fabric.HandsOff }
	p.Links(func(l fabric.LinkID, a, b End) {
		if (a.Port.Flags^b.Port.Flags)&fabric.ShutDown == 0 || unseen(a) || unseen(b) {
			return
		}
		if b.Port.Flags&fabric.ShutDown != 0 {
			a, b = b, a
		}
		p.Report(p.AboutLink(l, a, b, diag.Diagnostic{
			Summary: fmt.Sprintf("%s is shut, and its peer %s is not", p.Name(a), p.Name(b)),
			Labels:  []diag.Label{p.AtPort(a, schema.AAdmin, ""), p.AtPort(b, schema.AAdmin, "other end")},
			Help:    "take admin = \"down\" away, or write it at both ends",
		}))
	})
}

var roce832 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE832", Name: "topology_without_qos", Severity: diag.Warning,
		Title: "the ports of a topology have no qos",
		Why: "without one every class is the default class: nothing is marked, lossless or proven on the cables of the " +
			"topology, and its devices keep what they came with",
		Fix:    "write qos in the topology, or qos = \"keep\" where the devices have theirs from somebody else",
		Source: "docs/language/blocks.md, qos",
		Bad: smallPod("") + `output "unused_qos" {
  value = qos.roce.name
}
`,
		Good: smallPod("qos   = qos.roce"),
	},
	Run: topologyContract,
}

// smallPod is a topology of two leaves and two spines; text is said of it.
func smallPod(text string) string {
	qos, _, _ := strings.Cut(twoNodes(``), "segment ")
	return qos + `node "gpu" {
  for_each = { gpu1 = 1, gpu2 = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "rail[0-1]" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    mtu   = 9000
  }
}
topology "rail_optimized" "pod" {
  nodes = node.gpu
  ` + text + `
  leaf {
    count      = 2
    model      = "nvidia/sn3700"
    os         = "cumulus-linux/5.14"
    node_ports = "swp[1-2]"
    up_ports   = "swp[17-18]"
    subnet     = "10.${1 + leaf.index}.0.0/24"
    speed      = "100G"
    fec        = "rs"
    cable      = { media = "dac", length = "3m" }
  }
  spine {
    count = 2
    model = "nvidia/sn3700"
    os    = "cumulus-linux/5.14"
    ports = "swp[1-2]"
    speed = "100G"
    fec   = "rs"
    cable = { media = "dr", length = "20m" }
  }
}
`
}

func topologyContract(p *Pass) {
	f := p.Fabric
	for t := 1; t < len(f.Topologies); t++ {
		top := &f.Topologies[t]
		said := len(top.Pods) > 0 // the pods have theirs, and ROCE302 asks for that of the core
		for _, tier := range top.Tiers {
			said = said || p.contracted(tier)
		}
		if said || p.contracted(top.Nodes) {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("no port of topology %s has a qos: nothing is lossless, marked or proven there", f.Text(top.Name)),
			Address: f.Text(top.Address),
			Labels:  []diag.Label{f.DeclLabel(top.Decl, "")}, Help: "write qos = qos.NAME in the topology",
		})
	}
}

// contracted reports whether a port of some devices has a contract, or is left to the
// device by the source's own word.
func (p *Pass) contracted(devices []fabric.DeviceID) bool {
	f := p.Fabric
	for _, d := range devices {
		if f.Devices[d].Manage == fabric.HandsOff {
			return true // and is taken as it is
		}
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			if port := &f.Ports[id]; port.Profile != 0 && !p.untrusted(p.End(id)) || port.Flags&fabric.Kept != 0 {
				return true
			}
		}
	}
	return false
}

var roce833 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE833", Name: "port_never_enabled", Severity: diag.Warning,
		Title: "a cabled port is not enabled, and others of its system are",
		Why: "on SONiC a port without admin_status is down: a switch that starts without a preset " +
			"brings up the ports that the source enables, and this cable stays dark. " +
			"Where the source enables no port of the system at all, that is taken to be somebody else's, as the " +
			"presets of the image enable all of them",
		Fix: "write admin = \"up\" on the port",
		Source: "sonic-net/sonic-buildimage: sonic-port.yang, admin_status has default down; sonic-config-engine " +
			"config_samples.py, presets t1, l1, l2 and l3 write up, empty writes none",
		Bad:  twoNodes(`admin = "up"`),
		Good: edit(twoNodes(`admin = "up"`), `port "Ethernet4" {`, "port \"Ethernet4\" {\n    admin = \"up\""),
	},
	Run: neverEnabled,
}

func neverEnabled(p *Pass) {
	f := p.Fabric
	cabled := func(visit func(fabric.PortID, *fabric.Port)) {
		for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
			dev := &f.Devices[d]
			if dev.Kind != fabric.Switch || dev.Manage != fabric.Full || !lower.StartsShut(f.Text(dev.OSName)) {
				continue
			}
			first, end := f.PortsOf(d)
			for id := first; id < end; id++ {
				if port := &f.Ports[id]; port.Link != 0 && port.Flags&fabric.IsLAG == 0 && port.Manage != fabric.HandsOff {
					visit(id, port)
				}
			}
		}
	}
	var enabled fabric.PortID // an example
	cabled(func(id fabric.PortID, port *fabric.Port) {
		if enabled == 0 && port.Flags&fabric.EnabledSet != 0 && port.Flags&fabric.ShutDown == 0 {
			enabled = id
		}
	})
	if enabled == 0 {
		return
	}
	type row struct {
		first fabric.PortID
		ports int
	}
	rows := map[fabric.DeclID]*row{} // what is written once is told once
	var order []fabric.DeclID
	cabled(func(id fabric.PortID, port *fabric.Port) {
		if port.Flags&fabric.EnabledSet != 0 {
			return
		}
		if rows[port.Decl] == nil {
			rows[port.Decl] = &row{first: id}
			order = append(order, port.Decl)
		}
		rows[port.Decl].ports++
	})
	for _, decl := range order {
		first := rows[decl].first
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s has a cable, and nothing enables it", f.PortName(first)),
			Address: f.PortAddress(first),
			Count:   rows[decl].ports,
			Labels:  []diag.Label{f.DeclLabel(decl, ""), f.PortLabel(enabled, schema.AAdmin, f.PortName(enabled)+" is enabled")},
			Help:    "write admin = \"up\": a port that nothing enables is down",
		})
	}
}

var roce920 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE920", Name: "name_like_range", Severity: diag.Warning,
		Title: "a name looks like a range and is none",
		Why: "a range stands in brackets: without them \"rail0-7\" is one NIC of that name, which no device has, and " +
			"the eight that were meant are not there",
		Fix:    "write rail[0-7]",
		Source: "docs/language/blocks.md, ranges of labels",
		Bad:    twoNodes(``) + rangeHost("rail0-7"),
		Good:   twoNodes(``) + rangeHost("rail[0-7]"),
	},
	Run: likeRanges,
}

// likeRange reports whether a name looks like a range that its writer had in mind:
// what is said of the NIC follows from that.
func likeRange(name string) bool {
	_, is := asRange(name)
	return is
}

// rangeHost is a host whose NICs, which carry no RDMA, have a name.
func rangeHost(name string) string {
	return `node "m" {
  os = "ubuntu/24.04"
  nic "` + name + `" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
  }
}
`
}

func likeRanges(p *Pass) {
	f := p.Fabric
	var looks []uint8 // by name: 0 not asked, 1 no, 2 yes
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		port := &f.Ports[id]
		if port.Flags&(fabric.Implicit|fabric.IsVNIC) != 0 {
			continue
		}
		if n := int(port.Name); n >= len(looks) {
			looks = append(looks, make([]uint8, n+1-len(looks))...)
		}
		if looks[port.Name] == 0 {
			looks[port.Name] = 1
			if likeRange(f.Text(port.Name)) {
				looks[port.Name] = 2
			}
		}
		if looks[port.Name] != 2 || port.Link != 0 && f.Links[port.Link].Origin != fabric.OfTopology {
			continue // a cable to it was written by that name
		}
		name := f.Text(port.Name)
		meant, _ := asRange(name)
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s is one port of that name, and no range", f.PortName(id)), Address: f.PortAddress(id),
			Labels: []diag.Label{f.DeclLabel(port.Decl, "")}, Help: fmt.Sprintf("write %q for all of them", meant),
		})
	}
}

// asRange is the range that a name such as rail0-7 looks like: digits, a dash and a
// higher number at the end of a word.
func asRange(name string) (meant string, ok bool) {
	before, last, found := strings.Cut(name, "-")
	word := strings.TrimRight(before, "0123456789")
	if !found || word == "" || word == before {
		return "", false
	}
	from, err := strconv.Atoi(before[len(word):])
	to, err2 := strconv.Atoi(last)
	if err != nil || err2 != nil || to <= from || last[0] == '+' {
		return "", false
	}
	return word + "[" + before[len(word):] + "-" + last + "]", true
}

var roce921 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE921", Name: "os_not_seen", Severity: diag.Notice,
		Title: "rocec never sees some ends of the fabric",
		Why: "no target serves the system of these devices: what the source says of them is taken for true by every " +
			"proof and compared with nothing, before or after a change",
		Fix:    "compare them by other means, and keep the source in step",
		Source: "rocec capabilities",
		Bad:    unseenHosts(`"esxi/8.0"`),
		Good:   twoNodes(``),
	},
	Run: osNotSeen,
}

// unseenHosts is twoNodes with hosts of another system.
func unseenHosts(os string) string {
	return edit(twoNodes(``), `os       = "ubuntu/24.04"`, "os       = "+os+"\n  manage   = \"none\"")
}

func osNotSeen(p *Pass) {
	f := p.Fabric
	type group struct {
		first fabric.DeviceID
		n     int
	}
	groups := map[fabric.Str]*group{}
	var order []fabric.Str
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		// Those of somebody else, and those that carry no RDMA, are nobody's to compare.
		if dev.Manage != fabric.HandsOff || dev.OSName == 0 || lower.Served(f.Text(dev.OSName)) ||
			!dev.Trusted && dev.Kind == fabric.Node || !p.anyRDMA(d) {
			continue
		}
		g := groups[dev.OSName]
		if g == nil {
			g = &group{first: d}
			groups[dev.OSName], order = g, append(order, dev.OSName)
		}
		g.n++
	}
	for _, os := range order {
		g := groups[os]
		dev := &f.Devices[g.first]
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("rocec sees nothing of %s: no target reads %s, and what the source says of it is taken for true",
				f.Text(dev.Name), f.Text(os)),
			Address: f.Text(dev.Address), Count: g.n, Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.AOS, "")},
			Help: "compare it by other means after each change; rocec capabilities lists what is read",
		})
	}
}

// anyRDMA reports whether a cabled port of a device carries RDMA.
func (p *Pass) anyRDMA(d fabric.DeviceID) bool {
	first, end := p.Fabric.PortsOf(d)
	for id := first; id < end; id++ {
		if e := p.End(id); e.Port.Link != 0 && p.RDMA(e) {
			return true
		}
	}
	return false
}

var roce922 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE922", Name: "slot_without_address", Severity: diag.Warning,
		Title: "a NIC that carries RDMA on a node with a slot has no address",
		Why: "addresses follow the slot where there is a subnet to count in. Where there is none nothing gives the NIC " +
			"an address, and RDMA over UDP has no path",
		Fix:    "write subnet on the segment or NIC, or address on the NIC",
		Source: "docs/language/blocks.md, slot; InfiniBand Annex A17 (RoCEv2 is routed by IP)",
		Bad:    strings.Replace(twoNodes(``), "  subnet = \"10.100.0.0/24\"\n", "", 1),
		Good:   twoNodes(``),
	},
	Run: slotAddress,
}

func slotAddress(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.Ifaces); id++ {
		i := &f.Ifaces[id]
		dev := &f.Devices[i.Device]
		if dev.Kind != fabric.Node || dev.Slot == 0 || dev.Manage != fabric.Full || !i.RDMA || i.Addresses.Len() > 0 {
			continue
		}
		labels := []diag.Label{f.Label(i.Decl, i.Layers, schema.AAddress, "")}
		if i.Segment != 0 {
			labels = append(labels, f.DeclLabel(f.Segments[i.Segment].Decl, "the segment, which has no subnet"))
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s/%s carries RDMA and gets no address: the slot counts in no subnet", f.Text(dev.Name), f.Text(i.Name)),
			Address: f.IfaceAddress(fabric.IfaceID(id)), Labels: append(labels, f.Label(dev.Decl, dev.Layers, schema.ASlot, "the slot")),
			Help: "write subnet on the segment or the NIC, or address on the NIC",
		})
	}
}
