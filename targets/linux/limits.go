package linux

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// limit finds what depends on values. Every finding goes to refuse.
type limit struct {
	*host
	refuse targets.Refuse
}

func limits(d *intent.Device, refuse targets.Refuse) {
	l := &limit{newHost(d), refuse}
	l.system()
	l.names()
	for i := range d.Ports {
		l.portOf(&d.Ports[i])
	}
	for i := range d.LAGs {
		l.lagOf(&d.LAGs[i])
	}
	for i := range d.Ifaces {
		l.iface(&d.Ifaces[i])
	}
	for i := range d.QoS {
		l.qosOf(&d.QoS[i])
	}
	l.environments()
}

// environments: one file tells applications how to use a class.
func (l *limit) environments() {
	for _, e := range l.classes(func(a, b *environment) {
		l.refuse(fmt.Sprintf("class %q is not the same on ports %q and %q, and applications are told of it once", a.class, a.port, b.port),
			"give it the same mark on both, or another name on one",
			at(intent.OfQoS, b.qos, "class."+b.class), at(intent.OfQoS, a.qos, "class."+a.class))
	}) {
		if !plainName(e.class) {
			l.refuse(fmt.Sprintf("class %q names a file of settings for its applications", e.class),
				fmt.Sprintf("name it with letters, digits, dot, underscore and hyphen, at most %d", maxClassName), at(intent.OfQoS, e.qos, "class."+e.class))
		}
	}
}

// oldest are the first versions with iproute2 5.12 (dcb app), netplan 0.104
// (embedded-switch-mode) and systemd 248 (ActivationPolicy).
var oldest = map[string]string{"ubuntu": "22.04", "debian": "12"}

func (l *limit) system() {
	if first := oldest[l.OS.Name]; first != "" && l.OS.Version != "" && compareVersions(l.OS.Version, first) < 0 {
		l.refuse(fmt.Sprintf("%s %s has no dcb with the app table", l.OS.Name, l.OS.Version),
			fmt.Sprintf("use %s %s or newer", l.OS.Name, first), at(intent.OfDevice, "", "os"))
	}
	if l.Model != "" || l.ASIC != "" {
		l.refuse(fmt.Sprintf("host %q has a switch model", l.Name), "remove the model of the node", at(intent.OfDevice, "", "model"))
	}
	if l.MLAG != nil {
		l.refuse(fmt.Sprintf("host %q cannot be half of an MLAG pair", l.Name), "write the pair for its switches", at(intent.OfDevice, "", "mlag"))
	}
}

// isDeviceName: dev_valid_name of Linux allows more, but each of these files
// and tools has a meaning of its own for the rest.
func isDeviceName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && (i == 0 || c != '.' && c != '-') {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 15
}

// reserved are names with a meaning of their own in sysctl and netplan, which takes "renderer" among
// devices for the program that sets them up [canonical/netplan src/parse.c at 009be5b8, handle_network_type].
var reserved = []string{"all", "default", "lo", "bonding_masters", "renderer"}

func (l *limit) name(name string, p intent.Path) {
	switch {
	case len(name) > 15:
		l.refuse(fmt.Sprintf("%s %q has %d bytes, Linux takes 15", p.Object, name, len(name)), "choose a shorter name", p)
	case !isDeviceName(name):
		l.refuse(fmt.Sprintf("%s %q is no name of a Linux network device", p.Object, name),
			"use letters, digits, dot, underscore and hyphen", p)
	case strings.Trim(name, "0123456789") == "":
		// [systemd/systemd src/basic/socket-util.c, ifname_valid_full]
		l.refuse(fmt.Sprintf("%s %q is a number, which systemd and tools take for the index of a device", p.Object, name),
			"begin the name with a letter", p)
	case slices.Contains(reserved, name):
		l.refuse(fmt.Sprintf("%s %q has a name that Linux keeps for itself", p.Object, name), "choose another name", p)
	}
}

func (l *limit) names() {
	seen := map[string]intent.Path{}
	for i := range l.Ports {
		p := at(intent.OfPort, l.Ports[i].Name, "name")
		l.name(p.Name, p)
		seen[p.Name] = p
	}
	for i := range l.LAGs {
		p := at(intent.OfLAG, l.LAGs[i].Name, "name")
		l.name(p.Name, p)
		seen[p.Name] = p
	}
	for i := range l.Ifaces {
		p := at(intent.OfIface, l.Ifaces[i].Name, "name")
		if l.Ifaces[i].Kind != intent.VLANDev {
			continue
		}
		l.name(p.Name, p)
		if first, ok := seen[p.Name]; ok {
			l.refuse(fmt.Sprintf("two devices have the name %q", p.Name), "give each port, bond and VLAN device a name of its own", p, first)
		}
		seen[p.Name] = p
	}
}

// isPCI reports whether a text is a PCI address such as "0000:3b:00.0".
func isPCI(s string) bool {
	const form = "xxxx:xx:bx.o"
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch form[i] {
		case 'x':
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		case 'b': // 32 devices
			if c != '0' && c != '1' {
				return false
			}
		case 'o': // 8 functions
			if c < '0' || c > '7' {
				return false
			}
		default:
			if c != form[i] {
				return false
			}
		}
	}
	return true
}

func (l *limit) portOf(p *intent.Port) {
	here := func(field string) intent.Path { return at(intent.OfPort, p.Name, field) }
	n := p.NIC
	if n == nil {
		l.refuse(fmt.Sprintf("port %q has no adapter", p.Name), "write the model of the adapter", here("model"))
		return
	}
	if _, ok := families[n.Driver]; !ok {
		l.refuse(fmt.Sprintf("linux cannot configure the driver %q of port %q", n.Driver, p.Name),
			"use an adapter whose driver is "+familyNames, here("model"))
		return
	}
	l.match(p)
	l.link(p)
	l.vlans(p.Name, p.Native, p.Tagged, intent.OfPort)
	l.rdmaOf(p)
	l.storm(p)
	l.vfs(p)
	if x := n.DCBX; x.IsSet() {
		if x.Value.Version != "" && x.Value.Version != "ieee" {
			l.refuse(fmt.Sprintf("port %q wants DCBX version %q, this target sets only ieee", p.Name, x.Value.Version), `write version = "ieee"`, here("dcbx"))
		}
		if x.Value.Owner != "" && x.Value.Owner != "os" {
			l.refuse(fmt.Sprintf("port %q leaves DCBX to %q, and this target sets the port itself", p.Name, x.Value.Owner), `write owner = "os"`, here("dcbx"))
		}
	}
	if q := l.qos[p.QoS]; q != nil {
		l.fits(p, q)
	}
}

// match refuses addresses of adapters that match nothing, or two ports.
func (l *limit) match(p *intent.Port) {
	n := p.NIC
	if n.MAC != "" {
		if m, err := net.ParseMAC(n.MAC); err != nil || len(m) != 6 || m.String() != n.MAC {
			l.refuse(fmt.Sprintf("port %q has the MAC address %q", p.Name, n.MAC), `write it as "b8:3f:d2:00:00:01"`, at(intent.OfPort, p.Name, "mac"))
		}
	}
	if n.PCI != "" && !isPCI(n.PCI) {
		l.refuse(fmt.Sprintf("port %q has the PCI address %q", p.Name, n.PCI), `write it as "0000:3b:00.0"`, at(intent.OfPort, p.Name, "pci"))
	}
	if n.PCI != "" && n.MAC == "" && n.VFs.Or(intent.VFs{}).Mode == "switchdev" {
		l.refuse(fmt.Sprintf("port %q is found by its PCI address, which its representors share in switchdev mode", p.Name),
			"write the MAC address of the port as well", at(intent.OfPort, p.Name, "pci"))
	}
	for i := range l.Ports {
		o := &l.Ports[i]
		if o == p {
			return
		}
		if o.NIC == nil {
			continue
		}
		if n.MAC != "" && n.MAC == o.NIC.MAC {
			l.refuse(fmt.Sprintf("ports %q and %q have one MAC address, %s", o.Name, p.Name, n.MAC), "correct one of them",
				at(intent.OfPort, p.Name, "mac"), at(intent.OfPort, o.Name, "mac"))
		}
		if n.PCI != "" && n.PCI == o.NIC.PCI {
			l.refuse(fmt.Sprintf("ports %q and %q have one PCI address, %s", o.Name, p.Name, n.PCI), "correct one of them",
				at(intent.OfPort, p.Name, "pci"), at(intent.OfPort, o.Name, "pci"))
		}
	}
}

var fecWords = map[intent.FEC]string{intent.FECNone: "off", intent.FECRS: "rs", intent.FECFC: "baser", intent.FECAuto: "auto"}

// maxCableMetres is below MLX5E_MAX_CABLE_LENGTH, which the driver ignores.
const maxCableMetres = 999

// metres is the length of a cable as mlx5 takes it, rounded up.
func metres(mm uint32) uint32 { return (mm + 999) / 1000 }

func (l *limit) link(p *intent.Port) {
	here := func(field string) intent.Path { return at(intent.OfPort, p.Name, field) }
	l.fec(p)
	if p.Autoneg.IsSet() && !p.Autoneg.Value && !p.Mbps.IsSet() {
		l.refuse(fmt.Sprintf("port %q has no autonegotiation and no speed", p.Name), "write the speed", here("autoneg"))
	}
	if p.CableMm.IsSet() {
		m := metres(p.CableMm.Value)
		switch {
		case !familyOf(p).cable:
			l.refuse(fmt.Sprintf("port %q is driven by %s, which takes no length of a cable", p.Name, p.NIC.Driver), "remove the length, or use an mlx5 adapter", here("cable"))
		case m == 0 || m > maxCableMetres:
			l.refuse(fmt.Sprintf("port %q has a cable of %d m, mlx5 takes 1 to %d", p.Name, m, maxCableMetres), "use a shorter cable", here("cable"))
		}
	}
	if b := l.bond[p.Name]; b != nil && (!p.Native.IsZero() || !p.Tagged.IsZero()) {
		l.refuse(fmt.Sprintf("port %q is in the bond %q and has VLANs of its own", p.Name, b.Name), "write the VLANs at the bond",
			here("segments"), at(intent.OfLAG, b.Name, "segments"))
	}
}

// fec refuses what cannot be read back: qede and cxgb4 show what they can do and
// what the link has, not what they were told (qede_get_fecparam, get_fecparam of
// cxgb4_ethtool.c), and an ice that was told auto shows the modes that this means
// for its module, which may be one (ice_cfg_phy_fec).
func (l *limit) fec(p *intent.Port) {
	here := at(intent.OfPort, p.Name, "fec")
	switch driver := p.NIC.Driver; {
	case !p.FEC.IsSet():
	case driver == qede, driver == cxgb4:
		l.refuse(fmt.Sprintf("port %q is driven by %s, which does not show what FEC it was told", p.Name, driver), "remove fec from this end: the adapter follows the switch",
			here, at(intent.OfPort, p.Name, "model"))
	case driver == ice && p.FEC.Value == intent.FECAuto:
		l.refuse(fmt.Sprintf("port %q is driven by ice, which does not show that its FEC is auto", p.Name), "remove fec: auto is what an E810 begins with", here)
	}
}

// vlans demands that something on the host uses each tagged VLAN, and nothing
// tags the untagged one.
func (l *limit) vlans(name string, native intent.Opt[uint16], tagged intent.Opt[[]uint16], o intent.Object) {
	devices := l.on(name, intent.VLANDev)
	uses := func(id uint16) bool {
		if p := l.port[name]; p != nil && p.NIC != nil && p.NIC.VFs.Or(intent.VFs{}).VLAN == id {
			return true
		}
		return slices.ContainsFunc(devices, func(f *intent.Iface) bool { return f.VLAN == id })
	}
	for _, id := range tagged.Or(nil) {
		if !uses(id) {
			l.refuse(fmt.Sprintf("nothing on %q uses the tagged VLAN %d", name, id), "write an interface for it, or remove the segment",
				at(o, name, "segments"))
		}
	}
	if native.IsSet() && uses(native.Value) {
		l.refuse(fmt.Sprintf("VLAN %d is untagged on %q and tagged as well", native.Value, name), "use it in one way",
			at(o, name, "native"), at(o, name, "segments"))
	}
}

// rdmaOverhead are the headers that ib_mtu_int_to_enum's caller subtracts
// (iboe_get_mtu of include/rdma/ib_addr.h).
const rdmaOverhead = 96

func (l *limit) rdmaOf(p *intent.Port) {
	n := p.NIC
	here := func(field string) intent.Path { return at(intent.OfPort, p.Name, field) }
	if n.RoCE.IsSet() && !l.rdma(p) {
		l.refuse(fmt.Sprintf("port %q has a RoCE version and carries no RDMA", p.Name), "write rdma = true, or remove roce_mode", here("roce_mode"))
	}
	if v := n.RoCE; v.IsSet() && v.Value != "v1" && v.Value != "v2" {
		l.refuse(fmt.Sprintf("port %q wants RoCE %q", p.Name, v.Value), `write "v2" or "v1"`, here("roce_mode"))
	}
	if v := n.RoCE; v.IsSet() && (v.Value == "v1" || v.Value == "v2") && !slices.Contains(familyOf(p).roce, v.Value) {
		l.refuse(fmt.Sprintf("port %q is driven by %s, which has no RoCE %s", p.Name, n.Driver, v.Value), "choose another mode, or another adapter", here("roce_mode"), here("model"))
	}
	if n.IWARP && !familyOf(p).iwarp {
		l.refuse(fmt.Sprintf("port %q is driven by %s, which has no iWARP", p.Name, n.Driver), "use RoCE, or an adapter of ice, qede or cxgb4", here("model"))
	}
	if n.IWARP && n.RoCE.IsSet() {
		l.refuse(fmt.Sprintf("port %q has classes of iWARP and RoCE %s, and runs one of them", p.Name, n.RoCE.Value), "give all its RDMA classes one transport", here("roce_mode"))
	}
	switch n.RDMAMTU {
	case 0, 256, 512, 1024, 2048, 4096:
	default:
		l.refuse(fmt.Sprintf("port %q has an RDMA MTU of %d", p.Name, n.RDMAMTU), "use 1024, 2048 or 4096", here("mtu"))
	}
	if n.RDMAMTU != 0 && !l.rdma(p) {
		l.refuse(fmt.Sprintf("port %q has an RDMA MTU and carries no RDMA", p.Name), "write rdma = true", here("rdma"))
	}
	c, _ := l.carrier(l.carries(p))
	if mtu := l.linkMTU(c); n.RDMAMTU != 0 && mtu.Or(1500) < n.RDMAMTU+rdmaOverhead {
		l.refuse(fmt.Sprintf("port %q has MTU %d, its RDMA MTU of %d needs %d", p.Name, mtu.Or(1500), n.RDMAMTU, n.RDMAMTU+rdmaOverhead),
			"raise the MTU of the port", here("mtu"))
	}
	if n.RDMA.IsSet() && !n.RDMA.Value {
		for _, f := range l.on(p.Name, intent.Direct) {
			if f.RDMA {
				l.refuse(fmt.Sprintf("interface %q carries RDMA, its port %q does not", f.Name, p.Name), "write rdma = true at the port",
					at(intent.OfIface, f.Name, "rdma"), here("rdma"))
			}
		}
	}
}

// Bounds of mlx5e_set_pfc_prevention_tout in mlx5/core/en_ethtool.c.
const minStormMs, maxStormMs = 80, 8000

func (l *limit) storm(p *intent.Port) {
	here := at(intent.OfPort, p.Name, "pause_storm_timeout")
	switch ms := p.NIC.StormMs.Or(0); {
	case !p.NIC.StormMs.IsSet():
	case !familyOf(p).storms:
		l.refuse(fmt.Sprintf("port %q is driven by %s, which takes no time after which it stops pausing", p.Name, p.NIC.Driver),
			"remove pause_storm_timeout, and leave storms to the watchdog of the switch", here, at(intent.OfPort, p.Name, "model"))
	case ms != 0 && (ms < minStormMs || ms > maxStormMs):
		l.refuse(fmt.Sprintf("port %q may pause for %d ms, mlx5 takes %d to %d", p.Name, ms, minStormMs, maxStormMs),
			`write "auto", which is 100 ms`, here)
	}
}

func (l *limit) vfs(p *intent.Port) {
	if !p.NIC.VFs.IsSet() {
		return
	}
	v, here := p.NIC.VFs.Value, at(intent.OfPort, p.Name, "vfs")
	switch {
	case p.NIC.Driver == rxe:
		l.refuse(fmt.Sprintf("port %q is soft-RoCE, which has no virtual functions", p.Name), "remove vfs", here)
	case v.Mode != "" && v.Mode != "legacy" && v.Mode != "switchdev":
		l.refuse(fmt.Sprintf("port %q wants virtual functions in mode %q", p.Name, v.Mode), `write "legacy" or "switchdev"`, here)
	case v.Mode != "" && p.NIC.Driver != mlx5:
		l.refuse(fmt.Sprintf("port %q is driven by %s, and netplan sets the mode of virtual functions for mlx5", p.Name, p.NIC.Driver), "remove the mode", here)
	case v.Mode == "switchdev" && (v.VLAN != 0 || v.Trust):
		l.refuse(fmt.Sprintf("port %q is in switchdev mode, where VLAN and trust of a virtual function belong to its representor", p.Name),
			"remove them, or use legacy mode", here)
	case v.Count == 0 && (v.VLAN != 0 || v.Trust || v.RDMA):
		l.refuse(fmt.Sprintf("port %q has settings for virtual functions and none of them", p.Name), "write their count", here)
	case v.VLAN != 0 && v.RDMA && l.qos[p.QoS] != nil && l.qos[p.QoS].Trust.Or("") == intent.TrustPCP:
		// ip-link(8): one priority for all frames of the VLAN, 0 unless written.
		l.refuse(fmt.Sprintf("virtual functions of port %q get VLAN %d from the adapter, with PCP 0 for all their frames, and switches classify by PCP", p.Name, v.VLAN),
			`write trust = "dscp" in the qos, or let the guests tag: remove the segment of vfs`, here, at(intent.OfQoS, p.QoS, "trust"))
	case v.VLAN > 4094:
		l.refuse(fmt.Sprintf("port %q wants virtual functions in VLAN %d", p.Name, v.VLAN), "use 1 to 4094", here)
	case v.VLAN != 0 && p.Tagged.IsSet() && !slices.Contains(p.Tagged.Value, v.VLAN):
		l.refuse(fmt.Sprintf("virtual functions of port %q are in VLAN %d, which the port does not carry", p.Name, v.VLAN), "add the segment to the port",
			here, at(intent.OfPort, p.Name, "segments"))
	}
}

func join(list []string) string { return strings.Join(list, " ") }
