package windows

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

func prefixWith(f *intent.Iface) func(netip.Prefix) bool {
	return func(p netip.Prefix) bool { return p.Contains(f.Gateway.Value) }
}

// hostWide refuses what would need a second table: NetQos and DCB tables are
// the host's, and adapters that differ would take each other's.
func (l *limiter) hostWide() {
	first := ""
	for i := range l.d.Ports {
		p := &l.d.Ports[i]
		at := intent.Path{Object: intent.OfPort, Name: p.Name, Field: "qos"}
		switch {
		case p.QoS == "":
		case first == "":
			first = p.Name
		case l.d.PortNamed(first).QoS != p.QoS:
			l.refuse(fmt.Sprintf("adapter %q has qos %q, adapter %q has %q: Windows has one QoS table for the host",
				p.Name, p.QoS, first, l.d.PortNamed(first).QoS),
				`give all nics of the node one qos, or qos = "keep" to those that carry no RDMA`,
				at, intent.Path{Object: intent.OfPort, Name: first, Field: "qos"})
		}
	}
}

func (l *limiter) qos(q *intent.QoS) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	l.pfc(q, at)
	if q.DCBX.IsSet() {
		l.refuse(fmt.Sprintf("qos %q has dcbx, which on a node stands at the nic", q.Name), "write dcbx on the nic", at("dcbx"))
	}
	l.scheduling(q, at)
	l.maps(q, at)
	names := map[string]string{}
	defaults := 0
	for i := range q.Marks {
		m := &q.Marks[i]
		l.mark(q, m, at("class."+m.Class))
		if m.Default {
			defaults++
		}
		name := strings.ToLower(policyName(m))
		if other, taken := names[name]; taken {
			l.refuse(fmt.Sprintf("classes %q and %q of qos %q are both policy %q on Windows", other, m.Class, q.Name, policyName(m)),
				"rename one, or join them: NetworkDirect port 445, the cluster class and the default class exist once", at("class."+m.Class))
		}
		names[name] = m.Class
	}
	if len(q.Marks) > 0 && defaults != 1 {
		l.refuse(fmt.Sprintf("qos %q has %d default classes", q.Name, defaults), "mark one class with default = true", at("class"))
	}
}

// pfc refuses priorities that Microsoft excludes, and lossless classes
// without PFC or the reverse (host-network-requirements; conv-nic step 4).
func (l *limiter) pfc(q *intent.QoS, at func(string) intent.Path) {
	for _, p := range []uint8{0, 7} {
		if q.PFC.IsSet() && q.PFC.Value.Has(p) {
			l.refuse(fmt.Sprintf("qos %q has PFC on priority %d, which Windows keeps for default and cluster traffic", q.Name, p),
				"give the lossless class a priority from 1 to 6, by custom 3", at("pfc"))
		}
	}
	if q.Trust.Or("") == intent.TrustDSCP && q.PFC.Or(0) != 0 {
		l.refuse(fmt.Sprintf("qos %q trusts DSCP and has PFC on %s; the priority of a frame is its tag's on Windows", q.Name, q.PFC.Value), `use trust = "pcp"`, at("trust"), at("pfc"))
	}
	switch {
	case q.PFC.IsSet() && q.PFC.Value != q.Lossless:
		l.refuse(fmt.Sprintf("qos %q is lossless on %s and has PFC on %s", q.Name, q.Lossless, q.PFC.Value), "make the two agree", at("pfc"))
	case !q.PFC.IsSet() && q.Lossless != 0:
		l.refuse(fmt.Sprintf("qos %q is lossless on %s and leaves PFC unmanaged", q.Name, q.Lossless), "manage pfc, or make the class lossy", at("pfc"))
	}
}

// scheduling refuses what traffic classes of Windows cannot be.
func (l *limiter) scheduling(q *intent.QoS, at func(string) intent.Path) {
	if !q.Sched.IsSet() {
		if q.TC.IsSet() {
			l.refuse(fmt.Sprintf("qos %q maps priorities to queues and leaves their scheduling unmanaged", q.Name),
				"write bandwidths too: a traffic class of Windows has both", at("queue_map"))
		}
		return
	}
	targets.LimitShares(q, "a traffic class of Windows has 1 percent at least", l.refuse)
	by := queues(q)
	for tc := range uint8(8) {
		s := q.Sched.Value[tc]
		switch s.Kind {
		case intent.SchedIdle:
			if q.TC.IsSet() && len(by[tc]) > 0 {
				l.refuse(fmt.Sprintf("qos %q sends priority %d to queue %d, which is not served", q.Name, by[tc][0], tc),
					"give the queue a bandwidth", at("queue_map"), at("ets"))
			}
			if tc == defaultQueue(q) {
				l.refuse(fmt.Sprintf("qos %q gives the default class no bandwidth", q.Name), "give it 1 percent at least", at("ets"))
			}
			continue
		case intent.SchedStrict:
			if tc == defaultQueue(q) {
				l.refuse(fmt.Sprintf("qos %q serves the default class strictly; [Default] of Windows is always ETS", q.Name), "give it a bandwidth", at("strict"))
			}
		}
		if len(by[tc]) == 0 {
			l.refuse(fmt.Sprintf("qos %q serves queue %d, to which no priority goes", q.Name, tc), "map a priority to it, or remove its share", at("queue_map"), at("ets"))
		}
	}
	l.room(q, at("queue_map"))
}

// room refuses more traffic classes than a NIC of the host has: Windows then
// programs none of them.
func (l *limiter) room(q *intent.QoS, at intent.Path) {
	classes, _ := trafficClasses(q)
	for i := range l.d.Ports {
		p := &l.d.Ports[i]
		if p.NIC == nil || p.QoS != q.Name {
			continue
		}
		if most := p.NIC.Facts["max_tc"]; most > 0 && int64(len(classes)+1) > most {
			l.refuse(fmt.Sprintf("qos %q has %d traffic classes, adapter %q has %d", q.Name, len(classes)+1, p.Name, most),
				"use fewer classes: with too many, Windows programs none", at, intent.Path{Object: intent.OfPort, Name: p.Name, Field: "model"})
		}
	}
}

// maps refuses maps of received marks that a NIC under Windows does not have:
// the PCP of a frame is its priority, and a DSCP is written, never read.
func (l *limiter) maps(q *intent.QoS, at func(string) intent.Path) {
	for pcp := range uint8(8) {
		if !q.PCP.IsSet() {
			break
		}
		to := q.PCP.Value[pcp] & 7
		declared := slices.ContainsFunc(q.Marks, func(m intent.Mark) bool { return m.Priority == pcp })
		if to != pcp && (declared || !sameService(q, pcp, to)) {
			l.refuse(fmt.Sprintf("qos %q maps PCP %d to priority %d; on a NIC they are one, and the two are served differently", q.Name, pcp, to),
				"remove pcp_map from the node, or let both priorities share a queue", at("pcp_map"))
		}
	}
	if !q.DSCP.IsSet() {
		return
	}
	for dscp, priority := range q.DSCP.Value {
		want := defaultPriority(q)
		for i := range q.Marks {
			if m := &q.Marks[i]; m.DSCP.IsSet() && int(m.DSCP.Value) == dscp {
				want = m.Priority
			}
		}
		if priority != want {
			l.refuse(fmt.Sprintf("qos %q maps DSCP %d to priority %d; Windows reads no DSCP and only writes those of its classes", q.Name, dscp, priority),
				"remove dscp_map from the node", at("dscp_map"))
			return
		}
	}
}

// sameService reports whether two priorities share traffic class and PFC, so
// that it does not matter which one a frame has.
func sameService(q *intent.QoS, a, b uint8) bool {
	if q.PFC.Or(0).Has(a) != q.PFC.Or(0).Has(b) {
		return false
	}
	named := func(p uint8) string {
		classes, _ := trafficClasses(q)
		for _, c := range classes {
			if slices.Contains(c.priorities, p) {
				return c.name
			}
		}
		return ""
	}
	return named(a) == named(b)
}

// mark refuses classes that NetQos cannot match or mark.
func (l *limiter) mark(q *intent.QoS, m *intent.Mark, at intent.Path) {
	if l.name(m.Class, at) && strings.ContainsFunc(m.Class, func(r rune) bool {
		return !strings.ContainsRune("._- ", r) && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) {
		l.refuse(fmt.Sprintf("class %q cannot be the name of a NetQos policy", m.Class), "use letters, digits, blanks, dots, underscores and hyphens", at)
	}
	kinds := matches(m)
	switch {
	case len(kinds) > 1:
		l.refuse(fmt.Sprintf("class %q is matched in %d ways (%s), a NetQos policy has one", m.Class, len(kinds), strings.Join(kinds, ", ")),
			"split the class, or remove a match", at)
	case len(kinds) == 0 && !m.Application && m.Carries == "rdma":
		l.refuse(fmt.Sprintf("class %q carries RDMA and has no match", m.Class), "write match = { netdirect_port = 445 } for SMB Direct, or the port of the application", at)
	case len(kinds) == 0 && !m.Application && m.Carries != "cnp": // those of a NIC no policy matches, and their mark is refused
		l.refuse(fmt.Sprintf("class %q has no match", m.Class), `write match = { tcp_port = ... }, or marked_by = "application"`, at)
	case len(kinds) == 1 && m.Application:
		l.refuse(fmt.Sprintf("class %q is marked by the application and matched by the host", m.Class), "remove marked_by or match", at)
	}
	if m.NetDirectPort > 0 && m.Carries != "rdma" {
		l.refuse(fmt.Sprintf("class %q matches NetworkDirect port %d and does not carry RDMA", m.Class, m.NetDirectPort), `write carries = "rdma"`, at)
	}
	if m.Carries == "rdma" && (m.DSCP.IsSet() || q.Trust.Or("") == intent.TrustDSCP) {
		dscp := at
		dscp.Field += ".dscp"
		l.refuse(fmt.Sprintf("class %q carries RDMA by DSCP; a NetQos policy cannot mark RDMA, and the NIC's own table is set by vendor tools only", m.Class),
			`use trust = "pcp" with tagged segments and remove dscp`, dscp)
	}
	if m.Application && m.DSCP.IsSet() {
		l.refuse(fmt.Sprintf("class %q is marked by the application; its DSCP %d is not the host's to write", m.Class, m.DSCP.Value), `remove dscp or marked_by = "application"`, at)
	}
	if m.ECT && m.Carries != "rdma" {
		l.refuse(fmt.Sprintf("class %q shall send ECN-capable TCP or UDP; Windows decides that for all of TCP at once", m.Class), "leave ecn to classes that carry RDMA", at)
	}
	if m.Congestion == "receiver" {
		l.refuse(fmt.Sprintf("class %q has receiver-driven congestion control, which no cmdlet sets", m.Class), "remove congestion_control", at)
	}
	l.transport(q, m, at)
}

// transport refuses a transport that an adapter of the class does not speak.
func (l *limiter) transport(q *intent.QoS, m *intent.Mark, at intent.Path) {
	if m.Transport == "" {
		return
	}
	if m.Carries != "rdma" {
		l.refuse(fmt.Sprintf("class %q has the transport %s and carries no RDMA", m.Class, m.Transport), "remove transport", at)
		return
	}
	for i := range l.d.Ports {
		p := &l.d.Ports[i]
		speaks := transports[technology(p.NIC)]
		if p.QoS == q.Name && portRDMA(l.d, p).Value && speaks != "" && speaks != m.Transport {
			l.refuse(fmt.Sprintf("class %q is %s, adapter %q speaks %s", m.Class, m.Transport, p.Name, speaks),
				"make transport and roce_mode agree", at, intent.Path{Object: intent.OfPort, Name: p.Name, Field: "roce_mode"})
		}
	}
}

func (l *limiter) options() {
	at := intent.Path{Object: intent.OfOption, Name: optionLiveMigration}
	percent, err := strconv.Atoi(option(l.d, optionLiveMigration))
	if err != nil || percent == 0 {
		return
	}
	if percent < 0 || percent > 100 {
		l.refuse(fmt.Sprintf("option live_migration is %d percent", percent), "write 1 to 100, or 0 to leave it alone", at)
		return
	}
	// The cmdlet takes no less than 1 MB.
	if liveMigrationBytes(l.d) < 1<<20 {
		l.refuse("option live_migration needs the speed of every RDMA nic and the bandwidth of a class with netdirect_port = 445",
			"write speed on the nics and bandwidth on the class", at)
	}
}
