package linux

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// fits refuses what a QoS needs of the adapter of a port.
func (l *limit) fits(p *intent.Port, q *intent.QoS) {
	if !familyOf(p).dcb {
		l.noDCB(p, q)
		return
	}
	if p.NIC.RoCE.Or("") == "v1" && q.Trust.Or("") == intent.TrustDSCP && l.rdma(p) {
		l.refuse(fmt.Sprintf("port %q runs RoCE v1, which has no DSCP, and trusts it", p.Name), `write roce_mode = "v2", or trust = "pcp"`,
			at(intent.OfPort, p.Name, "roce_mode"), at(intent.OfQoS, q.Name, "trust"))
	}
	l.transports(p, q)
	if most, ok := p.NIC.Facts["max_tc"]; ok && q.TC.IsSet() {
		for prio, tc := range q.TC.Value {
			if int64(tc) >= most {
				l.refuse(fmt.Sprintf("port %q has %d traffic classes, qos %q puts priority %d into class %d", p.Name, most, q.Name, prio, tc),
					"use fewer classes", at(intent.OfQoS, q.Name, "queue_map"), at(intent.OfPort, p.Name, "model"))
				return
			}
		}
	}
	if most, ok := p.NIC.Facts["pfc_priorities"]; ok && int64(len(q.PFC.Value.List())) > most {
		l.refuse(fmt.Sprintf("port %q has PFC on %d of its priorities at most, qos %q wants %s", p.Name, most, q.Name, q.PFC.Value), "use fewer lossless classes",
			at(intent.OfQoS, q.Name, "pfc"), at(intent.OfPort, p.Name, "model"))
	}
	if s := q.Sched.Value; !familyOf(p).caps {
		for tc := range s {
			if s[tc].CapMbps != 0 {
				l.refuse(fmt.Sprintf("qos %q limits traffic class %d, and port %q is driven by %s, which has no rate limits", q.Name, tc, p.Name, p.NIC.Driver), "remove the limit",
					at(intent.OfQoS, q.Name, intent.OfQueue("cap", tc)), at(intent.OfPort, p.Name, "model"))
			}
		}
	}
	if p.NIC.Driver != mlx5 {
		targets.LimitShares(q, fmt.Sprintf("port %q is driven by %s, which has no such share", p.Name, p.NIC.Driver), l.refuse)
	}
	switch p.NIC.Driver {
	case ice:
		l.fitsIce(p, q)
	case bnxt:
		if _, _, one := rocePriority(q); !one {
			l.refuse(fmt.Sprintf("qos %q has RDMA classes of several priorities, and bnxt gives RoCE one on port %q", q.Name, p.Name), "give them one priority",
				at(intent.OfQoS, q.Name, "class"), at(intent.OfPort, p.Name, "model"))
		}
	}
}

func (l *limit) transports(p *intent.Port, q *intent.QoS) {
	for _, m := range q.Marks {
		if want := roceVersion(m.Transport); want != "" && m.Carries == "rdma" && !slices.Contains(familyOf(p).roce, want) {
			l.refuse(fmt.Sprintf("class %q is of transport %s, port %q is driven by %s, which has no RoCE %s", m.Class, m.Transport, p.Name, p.NIC.Driver, want),
				"choose another transport, or another adapter", at(intent.OfQoS, q.Name, "class."+m.Class), at(intent.OfPort, p.Name, "model"))
			continue
		}
		if want := roceVersion(m.Transport); want != "" && p.NIC.RoCE.IsSet() && p.NIC.RoCE.Value != want && m.Carries == "rdma" {
			l.refuse(fmt.Sprintf("class %q is of transport %s, port %q runs RoCE %s", m.Class, m.Transport, p.Name, p.NIC.RoCE.Value), "write one of them in both places",
				at(intent.OfQoS, q.Name, "class."+m.Class), at(intent.OfPort, p.Name, "roce_mode"))
		}
	}
}

// fitsIce: one traffic class with PFC (Intel 635330); in DSCP mode the class of a
// priority is its own number (ice_dcbnl_setets); classes begin at 0 and have no
// gap (ice_dcb_get_num_tc); a bonded port takes no change (ice_dcbnl_setets of
// newer kernels).
func (l *limit) fitsIce(p *intent.Port, q *intent.QoS) {
	here := func(field string) intent.Path { return at(intent.OfQoS, q.Name, field) }
	model := at(intent.OfPort, p.Name, "model")
	if len(q.PFC.Value.List()) > 1 && p.NIC.Facts["pfc_priorities"] != 1 {
		l.refuse(fmt.Sprintf("qos %q has PFC on %s, and an E810 has it on one priority", q.Name, q.PFC.Value), "use one lossless class", here("pfc"), model)
	}
	if b := l.bond[p.Name]; b != nil && (q.Trust.IsSet() || q.TC.IsSet() || q.PFC.IsSet()) {
		l.refuse(fmt.Sprintf("port %q is driven by ice, which takes no DCB setting while it is in a bond such as %q", p.Name, b.Name), "leave the ports apart, or give them no qos",
			at(intent.OfLAG, b.Name, "members"), at(intent.OfPort, p.Name, "qos"))
	}
	for _, m := range q.Marks {
		if m.Carries == "cnp" {
			l.refuse(fmt.Sprintf("class %q marks CNPs, and no setting of irdma does on port %q", m.Class, p.Name), "give the port a qos without a class for CNPs",
				here("class."+m.Class), model)
		}
	}
	if !q.TC.IsSet() || !q.Sched.IsSet() {
		return
	}
	if isOwn(p, q) {
		if _, _, ok := ownClasses(q); !ok {
			l.refuse(fmt.Sprintf("qos %q gives two priorities one traffic class, and while an E810 trusts DSCP each has its own", q.Name), "give every class of the qos a priority of its own",
				here("queue_map"), model)
		}
		return
	}
	var used [8]bool
	most := uint8(0)
	for _, tc := range q.TC.Value {
		used[tc&7] = true
		most = max(most, tc&7)
	}
	for tc := range most {
		if !used[tc] {
			l.refuse(fmt.Sprintf("qos %q leaves out traffic class %d, and those of an E810 have no gap", q.Name, tc), "number the traffic classes from 0 without a gap", here("queue_map"), model)
			return
		}
	}
}

func roceVersion(transport string) string {
	switch transport {
	case "roce_v2":
		return "v2"
	case "roce_v1":
		return "v1"
	}
	return ""
}

// noQoS is what to do about a port whose QoS the host cannot set: with none it keeps its addresses and its link, and
// what the switch does is stated there.
const noQoS = "take the qos off this end: write it on the port of the switch and not on the segment; or use an adapter of mlx5, bnxt or ice"

// noDCB refuses, one finding for each setting and at both ends, what the host
// cannot set on a port.
func (l *limit) noDCB(p *intent.Port, q *intent.QoS) {
	l.transports(p, q)
	here := func(field string) {
		l.refuse(fmt.Sprintf("port %q cannot have %s set: %s", p.Name, field, familyOf(p).why), noQoS,
			at(intent.OfQoS, q.Name, field), at(intent.OfPort, p.Name, "model"))
	}
	for _, s := range []struct {
		set   bool
		field string
	}{
		{q.Trust.IsSet(), "trust"},
		{q.DSCP.IsSet(), "dscp_map"},
		{q.PCP.IsSet(), "pcp_map"},
		{q.TC.IsSet(), "queue_map"},
		{q.Sched.IsSet(), "ets"},
		{q.PFC.IsSet() || q.Lossless != 0, "pfc"},
		{q.Pause.IsSet() && p.NIC.Driver == rxe, "pause"},
	} {
		if s.set {
			here(s.field)
		}
	}
	for _, m := range q.Marks {
		if m.Carries == "cnp" || m.Congestion != "" {
			here("class." + m.Class)
		}
	}
	if p.NIC.DCBX.IsSet() {
		l.refuse(fmt.Sprintf("port %q cannot have DCBX set: %s", p.Name, familyOf(p).why), noQoS, at(intent.OfPort, p.Name, "dcbx"))
	}
}

func (l *limit) qosOf(q *intent.QoS) {
	here := func(field string) intent.Path { return at(intent.OfQoS, q.Name, field) }
	dscp := q.Trust.Or("") == intent.TrustDSCP
	if dscp && !q.DSCP.IsSet() {
		l.refuse(fmt.Sprintf("qos %q trusts DSCP and has no map of it: adapters take both together", q.Name),
			`decide all 64 DSCPs: leave dscp_map = "keep" out`, here("trust"))
	}
	switch {
	case q.DSCP.IsSet() && q.Trust.IsZero():
		l.refuse(fmt.Sprintf("qos %q writes a map of DSCPs and leaves trust as the device has it: on adapters the two are one", q.Name),
			`leave trust = "keep" out, or keep dscp_map too`, here("dscp_map"), here("trust"))
	case q.DSCP.IsSet() && !dscp:
		l.refuse(fmt.Sprintf("qos %q maps DSCPs and does not trust them", q.Name), `write trust = "dscp"; on adapters a map of DSCPs and trust in them are one`,
			here("dscp_map"), here("trust"))
	}
	for prio, got := range q.PCP.Or([8]uint8{0, 1, 2, 3, 4, 5, 6, 7}) {
		if int(got) != prio {
			l.refuse(fmt.Sprintf("qos %q maps PCP %d to priority %d, adapters take the PCP as the priority", q.Name, prio, got), "leave the map out", here("pcp_map"))
			break
		}
	}
	if q.DCBX.IsSet() {
		l.refuse(fmt.Sprintf("qos %q has DCBX of a switch port", q.Name), "write dcbx at the port of the host", here("dcbx"))
	}
	l.lossless(q)
	l.sched(q)
	l.marks(q)
}

func (l *limit) lossless(q *intent.QoS) {
	here := func(field string) intent.Path { return at(intent.OfQoS, q.Name, field) }
	switch {
	case q.PFC.IsZero() && q.Lossless != 0:
		l.refuse(fmt.Sprintf("qos %q leaves PFC as the device has it, and its classes on %s are lossless: "+
			"no host is told of those without their PFC", q.Name, q.Lossless), `leave pfc = "keep" out, or write nothing to the host: manage = "verify" compares it`, here("pfc"))
	case q.PFC.Or(0) != q.Lossless:
		l.refuse(fmt.Sprintf("qos %q has PFC on %s and lossless classes on %s", q.Name, q.PFC.Or(0), q.Lossless), "write PFC for the lossless classes only",
			here("pfc"))
	}
}

// maxCapMbps is what the 8-bit field of older adapters holds.
const maxCapMbps = 255_000

func (l *limit) sched(q *intent.QoS) {
	here := func(field string) intent.Path { return at(intent.OfQoS, q.Name, field) }
	if q.TC.IsSet() != q.Sched.IsSet() {
		written, kept := "queue_map", "ets"
		if q.Sched.IsSet() {
			written, kept = kept, written
		}
		l.refuse(fmt.Sprintf("qos %q writes %s and leaves %s as the device has it: a port takes them in one command", q.Name, written, kept),
			"leave "+kept+` = "keep" out, or keep both`, here("queue_map"), here("ets"))
		return
	}
	if !q.TC.IsSet() {
		return
	}
	var used [8]bool
	for _, tc := range q.TC.Value {
		used[tc&7] = true
	}
	for tc, s := range q.Sched.Value {
		switch {
		case used[tc] && s.Kind == intent.SchedIdle:
			l.refuse(fmt.Sprintf("qos %q uses traffic class %d, which has no scheduler", q.Name, tc), "give it a share, or make it strict", here("ets"), here("queue_map"))
		case !used[tc] && s.Kind != intent.SchedIdle:
			l.refuse(fmt.Sprintf("qos %q schedules traffic class %d, which no priority uses", q.Name, tc), "leave it idle", here("ets"), here("queue_map"))
		}
		l.rateCap(q, tc, s)
	}
}

func (l *limit) rateCap(q *intent.QoS, tc int, s intent.Sched) {
	here := at(intent.OfQoS, q.Name, intent.OfQueue("cap", tc))
	switch {
	case s.CapMbps == 0:
	case l.tool == dcbTool:
		l.refuse(fmt.Sprintf("qos %q limits traffic class %d to %d Mbit/s, and dcb before iproute2 6.18 sets rates 125 times off", q.Name, tc, s.CapMbps),
			`write qos_tool = "mlnx_qos" in the target block`, here, at(intent.OfOption, "qos_tool", ""))
	case s.Kind == intent.SchedIdle:
		l.refuse(fmt.Sprintf("qos %q limits traffic class %d, which nothing uses", q.Name, tc), "remove the limit", here)
	case s.CapMbps%1000 != 0 || s.CapMbps > maxCapMbps:
		l.refuse(fmt.Sprintf("qos %q limits traffic class %d to %d Mbit/s", q.Name, tc, s.CapMbps), "use whole Gbit/s, up to 255", here)
	}
}

func (l *limit) marks(q *intent.QoS) {
	var rdma, cnp, fallback int
	for _, m := range q.Marks {
		here := at(intent.OfQoS, q.Name, "class."+m.Class)
		l.mark(q, m, here)
		switch {
		case m.Default:
			if fallback++; fallback == 2 {
				l.refuse(fmt.Sprintf("qos %q has two default classes", q.Name), "keep one", here)
			}
		case m.Carries == "rdma" && !m.Application && (m.DSCP.IsSet() || m.ECT):
			if rdma++; rdma == 2 {
				l.refuse(fmt.Sprintf("qos %q has two RDMA classes that the host marks, and rdma_cm has one default TOS", q.Name),
					"write marked_by = \"application\" for the classes whose applications set the TOS", here)
			}
		case m.Carries == "cnp":
			if cnp++; cnp == 2 {
				l.refuse(fmt.Sprintf("qos %q has two CNP classes", q.Name), "keep one: an adapter has one mark for CNPs", here)
			}
		}
	}
}

func (l *limit) mark(q *intent.QoS, m intent.Mark, here intent.Path) {
	no := func(help, format string, args ...any) {
		l.refuse(fmt.Sprintf("class %q of qos %q ", m.Class, q.Name)+fmt.Sprintf(format, args...), help, here)
	}
	if m.DSCP.Or(0) > 63 {
		return // refused elsewhere
	}
	if m.DSCP.IsSet() && q.DSCP.IsSet() && q.DSCP.Value[m.DSCP.Value] != m.Priority {
		no("make the map and the class agree", "has priority %d, DSCP %d goes to %d", m.Priority, m.DSCP.Value, q.DSCP.Value[m.DSCP.Value])
	}
	if m.Default != (m.Carries == "") {
		no("write carries, or default = true", "is the default class and carries %q", m.Carries)
	}
	if m.Transport != "" && m.Transport != "roce_v2" && m.Carries != "rdma" || m.Transport != "" && m.Carries != "rdma" && m.Carries != "cnp" {
		no("write transport for classes of RDMA", "carries %q over %s", m.Carries, m.Transport)
	}
	switch m.Carries {
	case "rdma":
		l.rdmaMark(q, m, no)
	case "cnp":
		if m.Application || m.ECT || m.Congestion != "" {
			no("remove application, ecn and congestion_control: the adapter itself writes CNPs", "carries CNPs as an application's traffic")
		}
	default:
		if m.Congestion != "" || m.ECT {
			no("remove ecn and congestion_control: this target sets them for RDMA", "carries %q with congestion control of RDMA", m.Carries)
		}
		if m.DSCP.Or(0) != 0 && !m.Application {
			no("write marked_by = \"application\" where the application sets the mark", "wants DSCP %d, and nothing on the host writes it", m.DSCP.Value)
		}
		if m.Default && q.DSCP.IsSet() && !marked(q, 0) && q.DSCP.Value[0] != m.Priority {
			no("make the map and the class agree", "has priority %d, unmarked traffic goes to %d", m.Priority, q.DSCP.Value[0])
		}
	}
}

func (l *limit) rdmaMark(q *intent.QoS, m intent.Mark, no func(help, format string, args ...any)) {
	if q.Trust.Or("") == intent.TrustDSCP && !m.DSCP.IsSet() && !m.Application {
		no("write its dscp", "has no DSCP on ports that trust it")
	}
	if m.Application && q.Trust.Or("") == intent.TrustDSCP && m.Transport != "iwarp" {
		if _, ok := classTOS(q, m); !ok {
			no("give the class a DSCP and a priority of its own", "is marked by its application, and no DSCP leads to it alone")
		}
	}
	// cma_connect_iw gives a connection the TOS that its application set, and never the default.
	if m.Transport == "iwarp" && (m.DSCP.IsSet() || m.ECT || m.Congestion != "") && !m.Application {
		no("remove its dscp, ecn and congestion_control, or write marked_by = \"application\"", "is of iWARP, which only applications mark")
	}
	switch m.Congestion {
	case "", "receiver":
	case "dcqcn":
		if !m.ECT {
			no(`write ecn = "auto"`, "runs DCQCN and sends packets that no switch may mark")
		}
	default:
		no(`write "dcqcn" or "receiver"`, "wants congestion control %q", m.Congestion)
	}
}

// marked reports whether a class says which DSCP it has.
func marked(q *intent.QoS, dscp uint8) bool {
	for _, m := range q.Marks {
		if m.DSCP.IsSet() && m.DSCP.Value == dscp && !m.Default {
			return true
		}
	}
	return false
}
