package linux

import (
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

func write(d *intent.Device, out *emit.Out) { writeHost(newHost(d), out) }

// writeHost writes the files of a host, and says where each of its folder belongs.
func writeHost(h *host, out *emit.Out) []placed {
	d := h.Device
	h.head = out.Header(d)
	out.Use(kit())
	h.netplan(out)
	files := []placed{{netplanFile, placeOf(netplanFile), 0o600}}
	files = append(files, h.systemFiles(out)...)
	files = append(files, h.environments(out)...)
	files = append(files, placed{dataFile, placeOf(dataFile), 0o644})
	h.data(out, files)
	return files
}

// systemFiles writes the small files that the system reads at boot and that
// depend on the host, and says where each belongs.
func (h *host) systemFiles(out *emit.Out) []placed {
	var list []placed
	file := func(from string) *emit.File {
		list = append(list, placed{from, placeOf(from), 0o644})
		f := out.File(from, 0o644, emit.Data)
		h.header(f)
		return f
	}
	for i := range h.Ports {
		h.linkFile(&h.Ports[i], file)
	}
	h.egressFiles(file)
	if names := h.multiRail(); len(names) > 0 {
		f := file("sysctl.d/60-rocec.conf")
		f.Line("# Answer and ask ARP for an address only on the rail that has it.")
		for _, n := range names {
			// Slashes, since a name may have a dot in it: sysctl.d(5).
			for _, s := range railSettings {
				f.Put(intent.Path{}, railFolder, n, "/", s.name, " = ", s.value)
			}
		}
	}
	return list
}

// linkFile names a port by its PCI address, which netplan cannot match.
func (h *host) linkFile(p *intent.Port, file func(from string) *emit.File) {
	if p.NIC.PCI == "" || p.NIC.MAC != "" || p.Verify {
		return
	}
	name := "systemd/network/05-rocec-" + p.Name + ".link"
	f := file(name)
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
func (h *host) egressFiles(file func(from string) *emit.File) {
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
		f := file(name)
		f.Line("[VLAN]")
		f.From(at(intent.OfIface, v.Name, "qos"), "EgressQOSMaps=%s", join(maps))
	}
}

// checks writes what verify.sh compares besides the settings that rocec-qos --check reads.
func (h *host) checks(f *emit.File) {
	f.Line("check_network() {")
	count := 0
	check := func(p intent.Path, words ...string) {
		count++
		f.Put(p, "\t", join(words))
	}
	for i := range h.Ports {
		p := &h.Ports[i]
		if p.NIC.RDMA.Or(false) {
			check(at(intent.OfPort, p.Name, "rdma"), "check_rdma", p.Name)
		}
		if p.NIC.RDMAMTU != 0 {
			check(at(intent.OfPort, p.Name, "mtu"), "check_rdma_mtu", p.Name, itoa(p.NIC.RDMAMTU))
		}
	}
	for _, g := range h.LAGs {
		peers := "the switch does not bundle them"
		if g.MLAG {
			peers = "the two switches of the MLAG pair do not bundle them"
		}
		check(at(intent.OfLAG, g.Name, "mode"), "check_bond", g.Name, quote(bondModes[g.Mode].proc), quote(peers), join(g.Members))
	}
	for i := range h.Ifaces {
		v := &h.Ifaces[i]
		here := func(field string) intent.Path { return at(intent.OfIface, v.Name, field) }
		if v.Kind == intent.VLANDev {
			mtu := "''"
			if v.MTU.IsSet() {
				mtu = itoa(v.MTU.Value)
			}
			check(here("vlan"), "check_vlan", v.Name, v.On, itoa(v.VLAN), mtu)
		}
		for _, a := range v.Addresses.Or(nil) {
			check(here("address"), "check_address", device(v), a.String(), quote(v.Name))
		}
		if v.RDMA {
			check(here("rdma"), "check_gid", device(v))
		}
	}
	for _, r := range h.rails() {
		for _, a := range r.iface.Addresses.Value {
			check(at(intent.OfIface, r.iface.Name, "gateway"), "check_rule", a.Addr().String(), itoa(r.table))
		}
	}
	for _, name := range h.multiRail() {
		check(intent.Path{}, "check_arp", name)
	}
	if count == 0 {
		f.Line("\t:")
	}
	f.Line("}")
}

// list writes an array of the shell.
func list(f *emit.File, name string, words []string) {
	f.Put(intent.Path{}, name, "=(", join(words), ")")
}
