package windows

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// teamOf is the SET team that a port is a member of, nil if none.
func teamOf(d *intent.Device, port string) *intent.LAG {
	for i := range d.LAGs {
		if slices.Contains(d.LAGs[i].Members, port) {
			return &d.LAGs[i]
		}
	}
	return nil
}

// hostQoS is the one QoS of the host, nil if none is managed: NetQos has one
// table for all adapters. With written, ports under Verify do not count.
func hostQoS(d *intent.Device, written bool) *intent.QoS {
	for i := range d.Ports {
		p := &d.Ports[i]
		if p.QoS == "" || written && p.Verify {
			continue
		}
		for j := range d.QoS {
			if d.QoS[j].Name == p.QoS {
				return &d.QoS[j]
			}
		}
	}
	return nil
}

// vlanID is what the VlanID keyword of an adapter gets: the tagged VLAN, 0 for
// untagged frames and for members of a team. Managed is false where the intent
// says nothing.
func vlanID(d *intent.Device, p *intent.Port) (id uint16, managed bool) {
	if teamMember(d, p.Name) {
		return 0, true
	}
	if len(p.Tagged.Value) > 0 && p.Tagged.IsSet() {
		return p.Tagged.Value[0], true
	}
	return 0, p.Tagged.IsSet() || p.Native.IsSet()
}

// portMTU is the IP MTU of a port, which a team may set for its members.
func portMTU(d *intent.Device, p *intent.Port) (mtu uint16, managed bool) {
	if p.MTU.IsSet() {
		return p.MTU.Value, true
	}
	if l := teamOf(d, p.Name); l != nil && l.MTU.IsSet() {
		return l.MTU.Value, true
	}
	return 0, false
}

// ethernetHeader is what *JumboPacket counts beyond the IP MTU; the FCS is not
// counted (Validate-DCB, 9014 for 9000).
const ethernetHeader = 14

// teamVLANs are the tagged VLANs of a team and the one that is untagged: those
// of the LAG, else those of its first member that names any.
func teamVLANs(d *intent.Device, l *intent.LAG) (tagged []uint16, untagged uint16) {
	tagged, untagged = l.Tagged.Or(nil), l.Native.Or(0)
	for _, m := range l.Members {
		p := d.PortNamed(m)
		if p == nil {
			continue
		}
		if !l.Tagged.IsSet() && len(tagged) == 0 {
			tagged = p.Tagged.Or(nil)
		}
		if !l.Native.IsSet() && untagged == 0 {
			untagged = p.Native.Or(0)
		}
	}
	return tagged, untagged
}

// vnicVLAN is the access VLAN of a vNIC, 0 for untagged.
func vnicVLAN(d *intent.Device, f *intent.Iface) uint16 {
	if l := d.LAGNamed(f.On); l != nil {
		if _, untagged := teamVLANs(d, l); untagged != 0 && untagged == f.VLAN {
			return 0
		}
	}
	return f.VLAN
}

// rdmaVNICs reports whether a team carries a vNIC with RDMA. Its members need
// RDMA then, whatever they carry themselves.
func rdmaVNICs(d *intent.Device, l *intent.LAG) bool {
	return l != nil && slices.ContainsFunc(d.Ifaces, func(f intent.Iface) bool {
		return f.Kind == intent.VNIC && f.On == l.Name && f.RDMA
	})
}

// portRDMA is the RDMA setting of an adapter.
func portRDMA(d *intent.Device, p *intent.Port) intent.Opt[bool] {
	if rdmaVNICs(d, teamOf(d, p.Name)) {
		return intent.Some(true)
	}
	if p.NIC == nil || !p.NIC.RDMA.IsSet() {
		return intent.Opt[bool]{}
	}
	return p.NIC.RDMA
}

// technology is the value of *NetworkDirectTechnology and of RdmaTechnology
// (NDK_RDMA_TECHNOLOGY), 0 where the intent says nothing.
func technology(n *intent.NIC) int {
	switch {
	case n == nil:
		return 0
	case n.IWARP:
		return 1
	case n.RoCE.IsSet() && n.RoCE.Value == "v1":
		return 3
	case n.RoCE.IsSet() && n.RoCE.Value == "v2":
		return 4
	}
	return 0
}

// transports are the words for each technology.
var transports = map[int]string{1: "iwarp", 3: "roce_v1", 4: "roce_v2"}

// Kinds of matches, as the data block names them.
const (
	matchNetDirect = "NetDirect"
	matchCluster   = "Cluster"
	matchDefault   = "Default"
	matchTCP       = "TCP"
	matchUDP       = "UDP"
)

// smbDirectPort is the NetworkDirect port of SMB.
const smbDirectPort = 445

// matches lists how a class is matched. More than one is refused, none is right
// only where the application marks.
func matches(m *intent.Mark) []string {
	var kinds []string
	for _, k := range []struct {
		kind string
		used bool
	}{
		{matchDefault, m.Default},
		{matchCluster, m.Carries == "cluster"},
		{matchNetDirect, m.NetDirectPort > 0},
		{matchTCP, m.TCPPort > 0},
		{matchUDP, m.UDPPort > 0},
	} {
		if k.used {
			kinds = append(kinds, k.kind)
		}
	}
	return kinds
}

func matchPort(m *intent.Mark) uint16 { return m.NetDirectPort + m.TCPPort + m.UDPPort }

// policyName is the name of a class in NetQos. The three that Microsoft and
// Network ATC name are called so here, that no host ends up with both.
func policyName(m *intent.Mark) string {
	switch {
	case m.Default:
		return "Default"
	case m.Carries == "cluster":
		return "Cluster"
	case m.NetDirectPort == smbDirectPort:
		return "SMB_Direct"
	}
	return m.Class
}

// class is one traffic class that gets a name; [Default] keeps the others.
type class struct {
	name       string
	kind       intent.SchedKind
	percent    uint8
	priorities []uint8
}

// queueOf is the traffic class of a priority.
func queueOf(q *intent.QoS, priority uint8) uint8 {
	if q.TC.IsSet() {
		return q.TC.Value[priority&7] & 7
	}
	return priority & 7
}

// queues are the priorities of each traffic class.
func queues(q *intent.QoS) (by [8][]uint8) {
	for p := range uint8(8) {
		by[queueOf(q, p)] = append(by[queueOf(q, p)], p)
	}
	return by
}

// defaultQueue is the traffic class that is [Default] on Windows. Without a
// queue map it takes every priority that no class has.
func defaultQueue(q *intent.QoS) uint8 { return queueOf(q, defaultPriority(q)) }

func defaultPriority(q *intent.QoS) uint8 {
	for i := range q.Marks {
		if q.Marks[i].Default {
			return q.Marks[i].Priority & 7
		}
	}
	return 0
}

// trafficClasses are the named classes by queue number, and the share that is
// left to [Default]. Limits has seen to it that every queue in use is served.
func trafficClasses(q *intent.QoS) (classes []class, rest int) {
	rest = 100
	by := queues(q)
	for tc := range uint8(8) {
		s := q.Sched.Value[tc]
		if tc == defaultQueue(q) || s.Kind == intent.SchedIdle || len(by[tc]) == 0 {
			continue
		}
		c := class{name: "TC" + strconv.Itoa(int(tc)), kind: s.Kind, priorities: by[tc]}
		if s.Kind == intent.SchedETS {
			c.percent = s.Percent
			rest -= int(s.Percent)
		}
		for i := range q.Marks {
			if slices.Contains(c.priorities, q.Marks[i].Priority) {
				c.name = policyName(&q.Marks[i])
				break
			}
		}
		classes = append(classes, c)
	}
	return classes, rest
}

// liveMigrationBytes is the SMB limit in bytes per second: the option's percent
// of the share that the SMB Direct class has of all RDMA ports together
// (host-network-requirements: two ports of 25G, 50 %, 29 % make 7.25 Gbit/s).
// It is 0 where it cannot be reckoned or is not wanted.
func liveMigrationBytes(d *intent.Device) uint64 {
	percent, err := strconv.ParseUint(option(d, optionLiveMigration), 10, 8)
	q := hostQoS(d, true)
	if err != nil || percent == 0 || percent > 100 || q == nil || !q.Sched.IsSet() {
		return 0
	}
	var mbps, share uint64
	for i := range d.Ports {
		p := &d.Ports[i]
		if r := portRDMA(d, p); r.Value && !p.Verify {
			if !p.Mbps.IsSet() {
				return 0
			}
			mbps += uint64(p.Mbps.Value)
		}
	}
	for i := range q.Marks {
		if q.Marks[i].NetDirectPort == smbDirectPort {
			share = uint64(q.Sched.Value[queueOf(q, q.Marks[i].Priority)].Percent)
		}
	}
	return mbps * (1_000_000 / 8) * share * percent / 10_000
}

func option(d *intent.Device, name string) string {
	for _, o := range options {
		if o.Name == name {
			return o.Value(d)
		}
	}
	return ""
}

// transportWords are what Set-VMHost calls the transports of live migration.
var transportWords = map[string]string{"smb": "SMB", "compression": "Compression", "tcpip": "TCPIP"}

// networkDirect is what the host as a whole allows: "" where nothing carries
// RDMA, "enabled", or "routed" where an RDMA interface has a gateway.
func networkDirect(d *intent.Device) string {
	mode := ""
	for i := range d.Ports {
		if r := portRDMA(d, &d.Ports[i]); r.Value && !d.Ports[i].Verify {
			mode = "enabled"
		}
	}
	for i := range d.Ifaces {
		if f := &d.Ifaces[i]; mode != "" && f.Gateway.IsSet() && ifaceRDMA(d, f) {
			return "routed"
		}
	}
	return mode
}

func ifaceRDMA(d *intent.Device, f *intent.Iface) bool {
	if f.RDMA {
		return true
	}
	p := d.PortNamed(f.On)
	return f.Kind == intent.Direct && p != nil && portRDMA(d, p).Value
}

// willing is the DCBX setting of the host as a whole: managed as soon as one
// port's is, and willing only where all are.
func willing(d *intent.Device) (value, managed bool) {
	value = true
	for i := range d.Ports {
		if n := d.Ports[i].NIC; n != nil && n.DCBX.IsSet() && !d.Ports[i].Verify {
			managed = true
			value = value && n.DCBX.Value.Mode == "willing"
		}
	}
	return value && managed, managed
}

// serverFeatures are the Windows features that the settings need.
func serverFeatures(d *intent.Device) []string {
	var list []string
	if _, managed := willing(d); managed || hostQoS(d, true) != nil {
		list = append(list, "Data-Center-Bridging")
	}
	if len(d.LAGs) > 0 || transportWords[option(d, optionTransport)] != "" {
		list = append(list, "Hyper-V")
	}
	if liveMigrationBytes(d) > 0 {
		list = append(list, "FS-SMBBW")
	}
	return list
}

// pciAddress is a PCI address in the form 0000:3b:00.0, "" if it is none.
func pciAddress(s string) string {
	s = strings.ToLower(s)
	if strings.Count(s, ":") == 1 {
		s = "0000:" + s
	}
	var parts []string
	for _, p := range strings.Split(s, ":") {
		parts = append(parts, strings.Split(p, ".")...)
	}
	if len(parts) != 4 || strings.Count(s, ":") != 2 || strings.Count(s, ".") != 1 {
		return ""
	}
	for i, width := range []int{4, 2, 2, 1} {
		if _, err := strconv.ParseUint(parts[i], 16, 16); err != nil || len(parts[i]) != width {
			return ""
		}
	}
	return s
}

// macDigits are the 12 digits of a MAC address, "" if it is none.
func macDigits(s string) string {
	digits := strings.ToLower(strings.NewReplacer(":", "", "-", "").Replace(s))
	if _, err := strconv.ParseUint(digits, 16, 64); err != nil || len(digits) != 12 {
		return ""
	}
	return digits
}
