package linux

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// data writes host.sh, all that the scripts need to know of a host: lists, the
// wanted settings of every port, and what verify.sh looks at.
func (h *host) data(out *emit.Out, files []placed) {
	f := out.File(dataFile, 0o644, emit.Data)
	f.Grow(2048 + 512*len(h.Ports))
	h.header(f)
	f.Line("# shellcheck shell=bash disable=SC2034 # read by the scripts of the kit, and by rocec-qos at boot as /etc/rocec/host.sh")
	f.Put(at(intent.OfDevice, "", "name"), "host="+quote(h.Name))
	f.Put(at(intent.OfOption, "qos_tool", ""), "tool="+h.tool)
	var ports []string
	for _, p := range h.Ports {
		ports = append(ports, quote(p.Name))
	}
	list(f, "ports", ports)
	list(f, "programs", h.programs())
	list(f, "packages", h.packages())
	list(f, "parts", h.parts())
	h.network(f)
	f.Line("files=(")
	for _, p := range files {
		f.Put(intent.Path{}, "\t"+quote(p.from+"|"+p.to+"|"+strconv.FormatUint(uint64(p.mode), 8)))
	}
	f.Line(")")
	f.Line("")
	h.wanted(f, out)
	f.Line("")
	h.checks(f)
}

// wanted writes what wants does: many hosts have it alike, unless it has a MAC
// address in it.
func (h *host) wanted(f *emit.File, out *emit.Out) {
	if slices.ContainsFunc(h.Ports, func(p intent.Port) bool { return p.NIC.MAC != "" }) {
		h.wants(f)
		return
	}
	made := out.Parts("wants", h.Device, unaddressed, func(d *intent.Device, out *emit.Out) { newHost(d).wants(out.File(dataFile, 0o644, emit.Data)) })
	f.Insert(&made[0])
}

// unaddressed leaves of a device what the settings of its ports depend on.
func unaddressed(d *intent.Device) {
	d.Name = ""
	d.Ifaces = slices.Clone(d.Ifaces)
	for i := range d.Ifaces {
		d.Ifaces[i].Addresses.Value, d.Ifaces[i].Gateway.Value = nil, netip.Addr{}
	}
}

// network lists what networkd and netplan apply leave on a host when no file says it any more: the devices that are configured,
// lower ones first, those of them that exist only by the netplan file, upper ones first, and the addresses and rules.
func (h *host) network(f *emit.File) {
	var links, made, owns, rules []string
	for i := range h.Ports {
		if !h.Ports[i].Verify {
			links = append(links, quote(h.Ports[i].Name))
		}
	}
	for _, g := range h.LAGs {
		links, made = append(links, quote(g.Name)), append(made, quote(g.Name))
	}
	for i := range h.Ifaces {
		v := &h.Ifaces[i]
		if v.Kind == intent.VLANDev {
			links, made = append(links, quote(v.Name)), append(made, quote(v.Name))
		}
		for _, a := range v.Addresses.Or(nil) {
			owns = append(owns, quote(device(v)+"="+a.String()))
		}
	}
	for _, r := range h.rails() {
		for _, a := range r.iface.Addresses.Value {
			rules = append(rules, quote(itoa(r.table)+"="+a.Addr().String()))
		}
	}
	slices.Reverse(made)
	list(f, "links", links)
	list(f, "made", made)
	list(f, "owns", owns)
	list(f, "rules", rules)
}

// row is one line of a port's settings and the field that it came from.
type row struct {
	at   intent.Path
	text string
}

// wants writes the function that sets what a port should be. What ports have in
// common by their qos stands once.
func (h *host) wants(f *emit.File) {
	shared := map[shape]string{}
	var w rows
	for i := range h.Ports {
		p := &h.Ports[i]
		q := h.qos[p.QoS]
		key := shape{q, p.NIC.Driver, h.rdma(p)}
		if q == nil || shared[key] != "" {
			continue
		}
		shared[key] = "qos" + itoa(len(shared)+1)
		f.Put(intent.Path{}, shared[key], "() {")
		w = h.qosWants(w[:0], p, q)
		for _, r := range w {
			f.Put(r.at, "\t", r.text)
		}
		f.Line("\t:") // there may be comments only
		f.Line("}")
	}
	f.Line("want() {")
	f.Line("\tcase $1 in")
	for i := range h.Ports {
		p := &h.Ports[i]
		f.Put(at(intent.OfPort, p.Name, "name"), "\t", p.Name, ")")
		w = h.portWants(w[:0], p)
		for _, r := range w {
			f.Put(r.at, "\t\t", r.text)
		}
		if name := shared[shape{h.qos[p.QoS], p.NIC.Driver, h.rdma(p)}]; name != "" {
			f.Put(at(intent.OfPort, p.Name, "qos"), "\t\t", name)
		}
		f.Line("\t\t;;")
	}
	f.Line("\t*) return 1 ;;")
	f.Line("\tesac")
	f.Line("}")
}

// rows are settings in the order in which they were made.
type rows []row

func (w *rows) add(p intent.Path, text string) { *w = append(*w, row{p, text}) }

func (w *rows) set(p intent.Path, name, value string) { w.add(p, name+"="+quote(value)) }

// shape is all that the settings of a qos depend on.
type shape struct {
	qos    *intent.QoS
	driver string
	rdma   bool
}

// portWants adds the settings of a port itself.
func (h *host) portWants(w rows, p *intent.Port) rows {
	n := p.NIC
	here := func(field string) intent.Path { return at(intent.OfPort, p.Name, field) }
	text := func(field, name, value string) {
		if value != "" {
			w.set(here(field), name, value)
		}
	}
	if p.Verify {
		w.set(here("verify"), "compare_only", "yes")
	}
	model := n.Model
	if n.Adapter != "" {
		model += ", adapter " + n.Adapter
	}
	if n.GPU != "" {
		model += ", beside GPU " + n.GPU
	}
	w.set(here("model"), "model", model)
	w.set(here("model"), "driver", n.Driver)
	text("pci", "pci", n.PCI)
	text("mac", "mac", n.MAC)
	text("firmware", "firmware", n.Firmware)
	text("driver", "driver_version", n.DriverV)
	if b := h.bond[p.Name]; b != nil {
		w.set(at(intent.OfLAG, b.Name, "members"), "bond", b.Name)
		var others []string
		for _, m := range b.Members {
			if m != p.Name {
				others = append(others, m)
			}
		}
		if len(others) > 0 {
			w.set(at(intent.OfLAG, b.Name, "members"), "siblings", join(others))
		}
	}
	h.linkWants(&w, p, here)
	if p.CableMm.IsSet() {
		w.set(here("cable"), "cable", itoa(metres(p.CableMm.Value)))
	}
	if q := h.qos[p.QoS]; q != nil {
		headroomWants(&w, p, q)
	}
	if n.StormMs.IsSet() {
		w.set(here("pause_storm_timeout"), "storm", itoa(n.StormMs.Value))
	}
	h.egressWants(&w, p)
	if n.VFs.IsSet() {
		vfWants(&w, n.VFs.Value, here("vfs"))
	}
	if h.rdma(p) {
		w.set(here("rdma"), "rdma", pick(n.IWARP, "iwarp", "roce"))
		if v := n.RoCE; v.IsSet() {
			// The only two words that default_roce_mode takes (cma_configfs.c).
			w.set(here("roce_mode"), "roce_mode", pick(v.Value == "v2", "RoCE v2", "IB/RoCE v1"))
		}
	}
	return w
}

func (h *host) linkWants(w *rows, p *intent.Port, here func(string) intent.Path) {
	if p.Enabled.IsSet() {
		w.set(here("enabled"), "admin", pick(p.Enabled.Value, "up", "down"))
	}
	if p.Autoneg.IsSet() {
		w.set(here("autoneg"), "autoneg", pick(p.Autoneg.Value, "on", "off"))
	}
	if p.Mbps.IsSet() {
		w.set(here("speed"), "speed", itoa(p.Mbps.Value))
	}
	if p.FEC.IsSet() {
		w.set(here("fec"), "fec", fecWords[p.FEC.Value])
	}
	c, _ := h.carrier(h.carries(p))
	mtu := h.linkMTU(c)
	if p.MTU.IsSet() {
		mtu = p.MTU
	}
	if mtu.IsSet() {
		w.set(here("mtu"), "mtu", itoa(mtu.Value))
	}
	if c.native.IsSet() {
		w.set(here("native"), "untagged", itoa(c.native.Value))
	}
	if x := p.NIC.DCBX; x.IsSet() && x.Value.Mode == "off" {
		w.set(here("dcbx"), "dcbx", "host")
	}
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// qosWants adds the settings that follow from a qos, on a port of a family.
func (h *host) qosWants(w rows, p *intent.Port, q *intent.QoS) rows {
	here := func(field string) intent.Path { return at(intent.OfQoS, q.Name, field) }
	for _, m := range q.Marks {
		w.add(here("class."+m.Class), "# "+emit.Comment(describe(m)))
	}
	if q.Pause.IsSet() {
		w.set(here("pause"), "pause", pick(q.Pause.Value, "on", "off"))
	}
	if q.Trust.IsSet() {
		w.set(here("trust"), "trust", string(q.Trust.Value))
	}
	if q.DSCP.IsSet() {
		rest, exceptions := mostFrequent(q.DSCP.Value)
		w.set(here("dscp_map"), "dscp_prio", join(exceptions))
		w.set(here("dscp_map"), "dscp_rest", itoa(rest))
	}
	if q.TC.IsSet() && q.Sched.IsSet() {
		tc, sched := classesOn(p, q)
		w.set(here("queue_map"), "prio_tc", numbers(tc))
		h.schedWants(&w, p, sched, here)
	}
	if q.PFC.IsSet() {
		var on [8]uint8
		for _, p := range q.PFC.Value.List() {
			on[p] = 1
		}
		w.set(here("pfc"), "pfc", numbers(on))
	}
	if h.rdma(p) {
		rdmaWants(&w, p, q)
	}
	return w
}

// headroomWants: only mlx5 shows its receive buffers.
func headroomWants(w *rows, p *intent.Port, q *intent.QoS) {
	if p.NIC.Driver != mlx5 {
		return
	}
	var room []string
	for _, r := range p.Headroom {
		if need := max(r.XoffBytes, r.SizeBytes); need > 0 && q.Lossless.Has(r.Group) {
			room = append(room, itoa(r.Group)+":"+itoa(need))
		}
	}
	if len(room) > 0 {
		w.set(at(intent.OfPort, p.Name, "headroom"), "headroom", join(room))
	}
}

// describe is a class as the reader of the script sees it.
func describe(m intent.Mark) string {
	s := "class " + m.Class
	if m.Carries != "" {
		s += " carries " + m.Carries
	}
	if m.Transport != "" {
		s += " over " + m.Transport
	}
	s += ", priority " + itoa(m.Priority)
	if m.DSCP.IsSet() {
		s += ", DSCP " + itoa(m.DSCP.Value)
	}
	if m.ECT {
		s += ", ECN-capable"
	}
	if m.Congestion != "" {
		s += ", congestion control " + m.Congestion
	}
	if m.Application {
		s += ", marked by the application"
	}
	if m.Default {
		s += ", default"
	}
	return s
}

// mostFrequent is the priority of most DSCPs, the lowest of equals, and the
// DSCPs that differ as DSCP:PRIORITY.
func mostFrequent(m [64]uint8) (rest uint8, exceptions []string) {
	var count [8]int
	for _, p := range m {
		count[p]++
	}
	for p := range uint8(8) {
		if count[p] > count[rest] {
			rest = p
		}
	}
	for d, p := range m {
		if p != rest {
			exceptions = append(exceptions, itoa(d)+":"+itoa(p))
		}
	}
	return rest, exceptions
}

func numbers(m [8]uint8) string {
	list := make([]string, 8)
	for i, v := range m {
		list[i] = itoa(v)
	}
	return join(list)
}

// schedWants: an idle class is strict, as IEEE 802.1Q has it by default. The
// bandwidth of a class that is not ets is no value: mlx5 reports 100 for it.
func (h *host) schedWants(w *rows, p *intent.Port, sched [8]intent.Sched, here func(string) intent.Path) {
	var tsa, bw, rate []string
	for _, s := range sched {
		if s.Kind == intent.SchedETS {
			tsa, bw = append(tsa, "ets"), append(bw, itoa(s.Percent))
		} else {
			tsa, bw = append(tsa, "strict"), append(bw, "-")
		}
		rate = append(rate, itoa(s.CapMbps/1000))
	}
	w.set(here("ets"), "tsa", join(tsa))
	w.set(here("ets"), "bw", join(bw))
	if h.tool == mlnxTool && familyOf(p).caps {
		w.set(here("cap"), "rate", join(rate))
	}
}

// egressWants: networkd sets the map only when it makes the VLAN device.
func (h *host) egressWants(w *rows, p *intent.Port) {
	var list []string
	for _, f := range h.on(h.carries(p), intent.VLANDev) {
		if f.QoS == "" {
			continue
		}
		// A device that stays keeps the map that an earlier configuration gave it, and starts without: none is set too.
		list = append(list, f.Name+"="+cmp.Or(strings.Join(pairs(egress(h.qos[f.QoS]), ":"), ","), "none"))
	}
	if len(list) > 0 {
		w.set(at(intent.OfQoS, p.QoS, "trust"), "egress", join(list))
	}
}

func vfWants(w *rows, v intent.VFs, here intent.Path) {
	w.set(here, "vfs", itoa(v.Count))
	w.set(here, "vf_mode", v.Mode)
	w.set(here, "vf_trust", pick(v.Trust, "on", "off"))
	if v.VLAN != 0 {
		w.set(here, "vf_vlan", itoa(v.VLAN))
	}
	if v.RDMA {
		w.set(here, "vf_rdma", "yes")
	}
}

// rdmaWants are the marks of RDMA and what answers congestion.
func rdmaWants(w *rows, p *intent.Port, q *intent.QoS) {
	here := func(m intent.Mark) intent.Path { return at(intent.OfQoS, q.Name, "class."+m.Class) }
	var on, off []string
	ecn := false
	for _, m := range q.Marks {
		switch m.Congestion {
		case "dcqcn":
			on = append(on, itoa(m.Priority))
		case "receiver":
			off = append(off, itoa(m.Priority))
		}
		ecn = ecn || m.ECT
	}
	for _, m := range q.Marks {
		if t, ok := roceTOS(q); ok && m.Carries == "rdma" && !m.Application {
			w.set(here(m), "roce_tos", itoa(t))
			break
		}
	}
	if p.NIC.Driver == bnxt {
		if prio, some, _ := rocePriority(q); some {
			w.set(at(intent.OfQoS, q.Name, "class"), "roce_prio", itoa(prio))
		}
		if ecn {
			w.set(at(intent.OfQoS, q.Name, "class"), "ecn", "yes")
		}
	}
	slices.Sort(on)
	slices.Sort(off)
	if on = slices.Compact(on); len(on) > 0 {
		w.set(at(intent.OfQoS, q.Name, "class"), "dcqcn", join(on))
	}
	if off = slices.Compact(off); len(off) > 0 {
		w.set(at(intent.OfQoS, q.Name, "class"), "dcqcn_off", join(off))
	}
	for _, m := range q.Marks {
		if m.Carries == "cnp" {
			if m.DSCP.IsSet() {
				w.set(here(m), "cnp_dscp", itoa(m.DSCP.Value))
			}
			w.set(here(m), "cnp_prio", itoa(m.Priority))
		}
	}
}

// programs are the commands that the scripts start.
func (h *host) programs() []string {
	list := []string{"ip", "netplan", "systemctl", "systemd-escape", "flock", "ethtool"}
	any := func(is func(*intent.Port) bool) bool {
		for i := range h.Ports {
			if is(&h.Ports[i]) {
				return true
			}
		}
		return false
	}
	if any(func(p *intent.Port) bool { return familyOf(p).dcb }) {
		list = append(list, "dcb")
	}
	switch {
	case h.tool == mlnxTool && any(func(p *intent.Port) bool { return p.NIC != nil && p.NIC.Driver == mlx5 }):
		list = append(list, mlnxTool)
	case h.tool != mlnxTool && any(h.takesDCBX):
		list = append(list, "python3") // dcbx.py
	}
	if drivers := h.drivers(); len(drivers) > 0 {
		list = append(list, "rdma")
		if slices.Contains(drivers, ice) {
			list = append(list, "devlink")
		}
	}
	return list
}

// takesDCBX: the way back gives the port's DCBX to the firmware again, for which dcb has no word.
func (h *host) takesDCBX(p *intent.Port) bool {
	return !p.Verify && p.NIC != nil && p.NIC.Driver == mlx5 && p.NIC.DCBX.IsSet()
}

// packages are the names that Debian and Ubuntu share.
func (h *host) packages() []string {
	list := []string{"ethtool", "iproute2", "kmod", "netplan.io", "procps"}
	if drivers := h.drivers(); len(drivers) > 0 {
		list = append(list, "ibverbs-providers", "ibverbs-utils", "perftest", "rdma-core", "rdmacm-utils")
		if slices.Contains(drivers, mlx5) && slices.ContainsFunc(h.QoS, func(q intent.QoS) bool {
			return slices.ContainsFunc(q.Marks, func(m intent.Mark) bool { return m.Congestion == "dcqcn" })
		}) {
			list = append(list, "mstflint")
		}
	}
	slices.Sort(list)
	return list
}

// parts are the groups of common files that the host takes besides the unit.
func (h *host) parts() []string {
	if drivers := h.drivers(); len(drivers) > 0 {
		return append([]string{rdmaPart}, drivers...)
	}
	return nil
}
