package linux

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// systemFiles writes the small files that the system reads at boot, and says
// where each belongs.
func (h *host) systemFiles(out *emit.Out) []placed {
	var list []placed
	file := func(from, to string) *emit.File {
		list = append(list, placed{from, to, 0o644})
		f := out.File(from, 0o644, emit.Data)
		h.header(f)
		return f
	}
	h.unit(file)
	for i := range h.Ports {
		h.linkFile(&h.Ports[i], file)
	}
	h.egressFiles(file)
	if names := h.multiRail(); len(names) > 0 {
		f := file("sysctl.d/60-rocec.conf", "/etc/sysctl.d/60-rocec.conf")
		f.Line("# Answer and ask ARP for an address only on the rail that has it.")
		for _, n := range names {
			// Slashes, since a name may have a dot in it: sysctl.d(5).
			f.Line("net/ipv4/conf/%s/arp_ignore = 1", n)
			f.Line("net/ipv4/conf/%s/arp_announce = 2", n)
			f.Line("net/ipv4/conf/%s/rp_filter = 2", n)
		}
	}
	if h.anyRDMA() {
		h.rdmaFiles(file)
	}
	return list
}

func (h *host) unit(file func(from, to string) *emit.File) {
	f := file("systemd/system/rocec-qos@.service", "/etc/systemd/system/rocec-qos@.service")
	f.Text(`[Unit]
Description=RoCE settings of %I
BindsTo=sys-subsystem-net-devices-%i.device
After=sys-subsystem-net-devices-%i.device network-pre.target systemd-networkd.service systemd-modules-load.service lldpad.service
Before=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/rocec-qos %I
TimeoutStartSec=300

[Install]
WantedBy=sys-subsystem-net-devices-%i.device
`)
}

// linkFile names a port by its PCI address, which netplan cannot match.
func (h *host) linkFile(p *intent.Port, file func(from, to string) *emit.File) {
	if p.NIC.PCI == "" || p.NIC.MAC != "" || p.Verify {
		return
	}
	name := "systemd/network/05-rocec-" + p.Name + ".link"
	f := file(name, "/etc/"+name)
	f.Line("[Match]")
	f.From(at(intent.OfPort, p.Name, "pci"), "Path=pci-%s", p.NIC.PCI)
	f.Line("")
	f.Line("[Link]")
	f.From(at(intent.OfPort, p.Name, "name"), "Name=%s", p.Name)
	c, _ := h.carrier(h.carries(p))
	if mtu := h.linkMTU(c); mtu.IsSet() {
		f.From(at(intent.OfPort, p.Name, "mtu"), "MTUBytes=%d", mtu.Value)
	}
}

// egressFiles completes the VLAN devices of netplan, which has no word for it.
func (h *host) egressFiles(file func(from, to string) *emit.File) {
	for i := range h.Ifaces {
		v := &h.Ifaces[i]
		if v.Kind != intent.VLANDev || v.QoS == "" {
			continue
		}
		maps := pairs(egress(h.qos[v.QoS]), "-")
		if len(maps) == 0 {
			continue
		}
		name := "systemd/network/10-netplan-" + v.Name + ".netdev.d/qos.conf"
		f := file(name, "/etc/"+name)
		f.Line("[VLAN]")
		f.From(at(intent.OfIface, v.Name, "qos"), "EgressQOSMaps=%s", join(maps))
	}
}

// rdmaFiles: settings of an RDMA device end with it, so that they are made
// anew whenever one appears, also without a new network device.
func (h *host) rdmaFiles(file func(from, to string) *emit.File) {
	f := file("systemd/system/rocec-qos.service", "/etc/systemd/system/rocec-qos.service")
	f.Text(`[Unit]
Description=RoCE settings of all ports
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=/usr/local/sbin/rocec-qos --all
TimeoutStartSec=300
`)
	f = file("udev/70-rocec.rules", "/etc/udev/rules.d/70-rocec.rules")
	f.Line(`ACTION=="add", SUBSYSTEM=="infiniband", TAG+="systemd", ENV{SYSTEMD_WANTS}+="rocec-qos.service"`)
	f = file("modules-load.d/rocec.conf", "/etc/modules-load.d/rocec.conf")
	for _, m := range h.modules() {
		f.Line("%s", m)
	}
	f = file("limits.d/60-rocec.conf", "/etc/security/limits.d/60-rocec.conf")
	f.Line("# RDMA registers memory by locking it. The star does not cover root.")
	for _, who := range []string{"*", "root"} {
		f.Line("%s soft memlock unlimited", who)
		f.Line("%s hard memlock unlimited", who)
	}
}

func (h *host) modules() []string {
	list := []string{"ib_uverbs", "rdma_cm", "rdma_ucm"}
	if h.anyDriver(mlx5) {
		list = append(list, "mlx5_ib")
	}
	if h.anyDriver(rxe) {
		list = append(list, "rdma_rxe")
	}
	return list
}

// packages are the names that Debian and Ubuntu share.
func (h *host) packages(out *emit.Out) {
	f := out.File("packages.txt", 0o644, emit.Data)
	h.header(f)
	list := []string{"ethtool", "iproute2", "kmod", "netplan.io"}
	if h.anyRDMA() {
		list = append(list, "ibverbs-providers", "ibverbs-utils", "perftest", "rdma-core", "rdmacm-utils")
	}
	if slices.ContainsFunc(h.QoS, func(q intent.QoS) bool {
		return slices.ContainsFunc(q.Marks, func(m intent.Mark) bool { return m.Congestion == "dcqcn" })
	}) {
		list = append(list, "mstflint")
	}
	slices.Sort(list)
	f.Text(strings.Join(list, "\n"))
}
