package linux

import (
	"fmt"

	"github.com/rocec/rocec/compiler/intent"
)

// fits refuses what a QoS needs of the adapter of a port.
func (l *limit) fits(p *intent.Port, q *intent.QoS) {
	if p.NIC.Driver == rxe {
		l.softRoCE(p, q)
		return
	}
	if p.NIC.RoCE.Or("") == "v1" && q.Trust.Or("") == intent.TrustDSCP && l.rdma(p) {
		l.refuse(fmt.Sprintf("port %q runs RoCE v1, which has no DSCP, and trusts it", p.Name), `write roce_mode = "v2", or trust = "pcp"`,
			at(intent.OfPort, p.Name, "roce_mode"), at(intent.OfQoS, q.Name, "trust"))
	}
	for _, m := range q.Marks {
		if want := roceVersion(m.Transport); want != "" && p.NIC.RoCE.IsSet() && p.NIC.RoCE.Value != want && m.Carries == "rdma" {
			l.refuse(fmt.Sprintf("class %q is of transport %s, port %q runs RoCE %s", m.Class, m.Transport, p.Name, p.NIC.RoCE.Value), "write one of them in both places",
				at(intent.OfQoS, q.Name, "class."+m.Class), at(intent.OfPort, p.Name, "roce_mode"))
		}
	}
	if most, ok := p.NIC.Facts["max_tc"]; ok && q.TC.IsSet() {
		for prio, tc := range q.TC.Value {
			if int64(tc) >= most {
				l.refuse(fmt.Sprintf("port %q has %d traffic classes, qos %q puts priority %d into class %d", p.Name, most, q.Name, prio, tc),
					"use fewer classes", at(intent.OfQoS, q.Name, "queue_map"), at(intent.OfPort, p.Name, "model"))
				return
			}
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

// softRoCE: rdma_rxe sends through the netdev and has neither queues nor CNPs.
func (l *limit) softRoCE(p *intent.Port, q *intent.QoS) {
	here := func(field string) { // one finding for each setting, at both ends
		l.refuse(fmt.Sprintf("port %q is soft-RoCE, which has no %s in hardware", p.Name, field), "use a qos that only marks RDMA, or an mlx5 adapter",
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
		{q.Pause.IsSet(), "pause"},
	} {
		if s.set {
			here(s.field)
		}
	}
	for _, m := range q.Marks {
		if m.Carries == "cnp" || m.Congestion != "" || m.Transport == "roce_v1" {
			here("class." + m.Class)
		}
	}
	if p.NIC.DCBX.IsSet() {
		l.refuse(fmt.Sprintf("port %q is soft-RoCE, which has no DCBX", p.Name), "remove dcbx", at(intent.OfPort, p.Name, "dcbx"))
	}
}

func (l *limit) qosOf(q *intent.QoS) {
	here := func(field string) intent.Path { return at(intent.OfQoS, q.Name, field) }
	dscp := q.Trust.Or("") == intent.TrustDSCP
	if dscp && !q.DSCP.IsSet() {
		l.refuse(fmt.Sprintf("qos %q trusts DSCP and has no map of it", q.Name), "decide all 64 DSCPs", here("trust"))
	}
	if q.DSCP.IsSet() && !dscp {
		l.refuse(fmt.Sprintf("qos %q maps DSCPs and does not trust them", q.Name), `write trust = "dscp"; on mlx5 a map of DSCPs and trust in them are one`,
			here("dscp_map"), here("trust"))
	}
	for prio, got := range q.PCP.Or([8]uint8{0, 1, 2, 3, 4, 5, 6, 7}) {
		if int(got) != prio {
			l.refuse(fmt.Sprintf("qos %q maps PCP %d to priority %d, mlx5 takes the PCP as the priority", q.Name, prio, got), "leave the map out", here("pcp_map"))
			break
		}
	}
	for d, p := range q.DSCP.Value {
		if p > 7 {
			l.refuse(fmt.Sprintf("qos %q maps DSCP %d to priority %d", q.Name, d, p), "use a priority from 0 to 7", here("dscp_map"))
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
	if q.PFC.Or(0) != q.Lossless {
		l.refuse(fmt.Sprintf("qos %q has PFC on %s and lossless classes on %s", q.Name, q.PFC.Or(0), q.Lossless), "write PFC for the lossless classes only",
			here("pfc"))
	}
	if q.PFC.Or(0) != 0 && q.Pause.Or(false) {
		l.refuse(fmt.Sprintf("qos %q has global pause and PFC, which exclude each other", q.Name), "write pause = false", here("pause"), here("pfc"))
	}
}

// maxCapMbps is what the 8-bit field of older adapters holds.
const maxCapMbps = 255_000

func (l *limit) sched(q *intent.QoS) {
	here := func(field string) intent.Path { return at(intent.OfQoS, q.Name, field) }
	if q.TC.IsSet() != q.Sched.IsSet() {
		l.refuse(fmt.Sprintf("qos %q has one of traffic classes and their schedulers", q.Name), "write both: a port takes them in one command", here("queue_map"), here("ets"))
		return
	}
	if !q.TC.IsSet() {
		return
	}
	var used [8]bool
	for prio, tc := range q.TC.Value {
		if tc > 7 {
			l.refuse(fmt.Sprintf("qos %q puts priority %d into traffic class %d", q.Name, prio, tc), "use 0 to 7", here("queue_map"))
			return
		}
		used[tc] = true
	}
	sum := 0
	for tc, s := range q.Sched.Value {
		switch {
		case used[tc] && s.Kind == intent.SchedIdle:
			l.refuse(fmt.Sprintf("qos %q uses traffic class %d, which has no scheduler", q.Name, tc), "give it a share, or make it strict", here("ets"), here("queue_map"))
		case !used[tc] && s.Kind != intent.SchedIdle:
			l.refuse(fmt.Sprintf("qos %q schedules traffic class %d, which no priority uses", q.Name, tc), "leave it idle", here("ets"), here("queue_map"))
		case s.Kind == intent.SchedETS && (s.Percent == 0 || s.Percent > 100):
			l.refuse(fmt.Sprintf("qos %q gives traffic class %d %d %%", q.Name, tc, s.Percent), "give it 1 to 100 %", here("ets"))
		case s.Kind == intent.SchedETS:
			sum += int(s.Percent)
		}
		l.rateCap(q, tc, s)
	}
	if sum != 0 && sum != 100 {
		l.refuse(fmt.Sprintf("the shares of qos %q sum to %d %%, mlx5 demands 100", q.Name, sum), "make them sum to 100", here("ets"))
	}
}

func (l *limit) rateCap(q *intent.QoS, tc int, s intent.Sched) {
	here := at(intent.OfQoS, q.Name, "cap")
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
					"write application = true for the classes whose applications set the TOS", here)
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
	if m.Priority > 7 || m.DSCP.Or(0) > 63 {
		no("use priorities 0 to 7 and DSCPs 0 to 63", "has priority %d and DSCP %d", m.Priority, m.DSCP.Or(0))
		return
	}
	if m.DSCP.IsSet() && q.DSCP.IsSet() && q.DSCP.Value[m.DSCP.Value] != m.Priority {
		no("make the map and the class agree", "has priority %d, DSCP %d goes to %d", m.Priority, m.DSCP.Value, q.DSCP.Value[m.DSCP.Value])
	}
	if m.Default != (m.Carries == "") {
		no("write carries, or default = true", "is the default class and carries %q", m.Carries)
	}
	if m.Transport == "iwarp" || m.Transport != "" && m.Transport != "roce_v2" && m.Carries != "rdma" || m.Transport != "" && m.Carries != "rdma" && m.Carries != "cnp" {
		no(`write transport = "roce_v2" for classes of RDMA`, "carries %q over %s", m.Carries, m.Transport)
	}
	switch m.Carries {
	case "rdma":
		l.rdmaMark(q, m, no)
	case "cnp":
		if m.Application || m.ECT || m.Congestion != "" {
			no("remove application, ecn and congestion: the adapter itself writes CNPs", "carries CNPs as an application's traffic")
		}
	default:
		if m.Congestion != "" || m.ECT {
			no("remove ecn and congestion: this target sets them for RDMA", "carries %q with congestion control of RDMA", m.Carries)
		}
		if m.DSCP.Or(0) != 0 && !m.Application {
			no("write application = true where the application sets the mark", "wants DSCP %d, and nothing on the host writes it", m.DSCP.Value)
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
	if m.Application && (m.ECT || m.Congestion == "dcqcn") && !m.DSCP.IsSet() {
		no("write its dscp", "is marked by its application with no mark")
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
