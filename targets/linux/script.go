package linux

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// settings are the variables of rocec-qos, one set for each port. An empty one
// is not managed.
var settings = []string{
	"compare_only", "model", "driver", "pci", "mac", "firmware", "driver_version", "bond", "siblings",
	"admin", "autoneg", "speed", "fec", "mtu", "untagged", "pause",
	"dcbx", "trust", "dscp_prio", "dscp_rest", "prio_tc", "tsa", "bw", "rate", "pfc", "cable", "headroom", "egress",
	"vfs", "vf_mode", "vf_vlan", "vf_trust", "vf_rdma",
	"rdma", "roce_mode", "roce_tos", "dcqcn", "dcqcn_off", "cnp_dscp", "cnp_prio",
}

// qosScript writes rocec-qos: the wanted settings of every port as shell
// variables, then the program that compares and sets them.
func (h *host) qosScript(out *emit.Out) {
	f := h.script(out, qosScript, emit.Data, "")
	f.Line("ports=(%s)", h.portNames())
	f.Line("")
	f.Line("# want PORT says what a port should be. What is empty is not managed.")
	f.Line("want() {")
	for i := 0; i < len(settings); i += 10 {
		f.Line("\t%s", strings.Join(settings[i:min(i+10, len(settings))], "='' ")+"=''")
	}
	f.Line("\tcase $1 in")
	for i := range h.Ports {
		p := &h.Ports[i]
		f.From(at(intent.OfPort, p.Name, "name"), "\t%s)", p.Name)
		w := &wants{f: f}
		h.portWants(w, p)
		f.Line("\t\t;;")
	}
	f.Line("\t*) return 1 ;;")
	f.Line("\tesac")
	f.Line("}")
	f.Line("")
	if h.tool == mlnxTool {
		f.Text(mlnxBody)
	} else {
		f.Text(dcbBody)
	}
	f.Text(qosBody)
}

// wants writes the variables of one port.
type wants struct{ f *emit.File }

func (w *wants) set(p intent.Path, name, value string) {
	w.f.From(p, "\t\t%s=%s", name, quote(value))
}

func (h *host) portWants(w *wants, p *intent.Port) {
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
	h.linkWants(w, p, here)
	q := h.qos[p.QoS]
	if q != nil {
		h.qosWants(w, p, q)
	}
	if p.CableMm.IsSet() {
		w.set(here("cable"), "cable", itoa(metres(p.CableMm.Value)))
	}
	h.egressWants(w, p)
	if n.VFs.IsSet() {
		vfWants(w, n.VFs.Value, here("vfs"))
	}
	if h.rdma(p) {
		h.rdmaWants(w, p, q)
	}
}

func (h *host) linkWants(w *wants, p *intent.Port, here func(string) intent.Path) {
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

func (h *host) qosWants(w *wants, p *intent.Port, q *intent.QoS) {
	here := func(field string) intent.Path { return at(intent.OfQoS, q.Name, field) }
	for _, m := range q.Marks {
		w.f.From(here("class."+m.Class), "\t\t# %s", emit.Comment(describe(m)))
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
	if q.TC.IsSet() {
		w.set(here("queue_map"), "prio_tc", numbers(q.TC.Value))
	}
	if q.Sched.IsSet() {
		h.schedWants(w, q.Sched.Value, here)
	}
	if q.PFC.IsSet() {
		var on [8]uint8
		for _, p := range q.PFC.Value.List() {
			on[p] = 1
		}
		w.set(here("pfc"), "pfc", numbers(on))
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
func (h *host) schedWants(w *wants, sched [8]intent.Sched, here func(string) intent.Path) {
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
	if h.tool == mlnxTool {
		w.set(here("cap"), "rate", join(rate))
	}
}

// egressWants: networkd sets the map only when it makes the VLAN device.
func (h *host) egressWants(w *wants, p *intent.Port) {
	var list []string
	for _, f := range h.on(h.carries(p), intent.VLANDev) {
		if f.QoS == "" {
			continue
		}
		if m := pairs(egress(h.qos[f.QoS]), ":"); len(m) > 0 {
			list = append(list, f.Name+"="+strings.Join(m, ","))
		}
	}
	if len(list) > 0 {
		w.set(at(intent.OfQoS, p.QoS, "trust"), "egress", join(list))
	}
}

func vfWants(w *wants, v intent.VFs, here intent.Path) {
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

func (h *host) rdmaWants(w *wants, p *intent.Port, q *intent.QoS) {
	w.set(at(intent.OfPort, p.Name, "rdma"), "rdma", "yes")
	if q == nil {
		q = &intent.QoS{}
	}
	here := func(m intent.Mark) intent.Path { return at(intent.OfQoS, q.Name, "class."+m.Class) }
	var on, off []string
	for _, m := range q.Marks {
		switch m.Congestion {
		case "dcqcn":
			on = append(on, itoa(m.Priority))
		case "receiver":
			off = append(off, itoa(m.Priority))
		}
	}
	if v := p.NIC.RoCE; v.IsSet() {
		// The only two words that default_roce_mode takes (cma_configfs.c).
		w.set(at(intent.OfPort, p.Name, "roce_mode"), "roce_mode", pick(v.Value == "v2", "RoCE v2", "IB/RoCE v1"))
	}
	for _, m := range q.Marks {
		if t, ok := roceTOS(q); ok && m.Carries == "rdma" && !m.Application {
			w.set(here(m), "roce_tos", fmt.Sprint(t))
			break
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
