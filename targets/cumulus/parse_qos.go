package cumulus

import (
	"fmt"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
)

// quality reads what a port does with traffic: the profiles it names, those of
// all ports where it names none, and what the RoCE mode says for all.
func (p *parser) quality(n *node, hint, out *intent.Port) {
	r := &reading{parser: p, port: n}
	r.mode()
	q := intent.QoS{Pause: intent.Some(n.get("qos", "link-pause", "profile") != nil)}
	r.mapping(&q)
	q.TC = intent.Some(r.queues())
	h := p.hint.QoSNamed(hint.QoS)
	if want, ok, _ := queueMap(p.hint); ok && h != nil && h.TC.IsSet() && want == q.TC.Value {
		q.TC = h.TC // what the one map of the switch makes of it
	}
	r.pfc(&q, hint, out)
	r.scheduler(&q, h)
	r.marking(&q)
	r.remark(&q)
	r.dcbx(&q)
	r.watchdog(&q, h)
	if h != nil && h.DCBX.IsSet() && q.DCBX.IsSet() && h.DCBX.Value.Mode == q.DCBX.Value.Mode {
		q.DCBX.Value.Version = h.DCBX.Value.Version
	}
	out.QoS = p.named(q, hint.QoS)
}

// named finds or adds a QoS value. It is called as the intent calls that of the
// port, with a number if ports of that name differ.
func (p *parser) named(q intent.QoS, hint string) string {
	key := fmt.Sprintf("%s %+v", hint, q)
	if i, ok := p.qos[key]; ok {
		return p.seen.QoS[i].Name
	}
	if hint == "" {
		hint = "seen"
	}
	q.Name = hint
	for n := 2; p.seen.QoSNamed(q.Name) != nil; n++ {
		q.Name = hint + "-" + strconv.Itoa(n)
	}
	p.qos[key] = len(p.seen.QoS)
	p.seen.QoS = append(p.seen.QoS, q)
	return q.Name
}

// reading is one port under way.
type reading struct {
	*parser
	port     *node
	roce     bool // the RoCE mode is on
	lossless bool // and pauses
}

// mode reads the RoCE mode. Naming it switches it on [RoCE].
func (r *reading) mode() {
	n := r.root.get("qos", "roce")
	if n == nil || !r.enabled(n).Or(true) {
		return
	}
	mode := n.value("mode")
	r.roce = mode == "" || mode == "lossless" || mode == "lossless-single-ipool" || mode == "lossy"
	r.lossless = r.roce && mode != "lossy"
	if !r.roce {
		r.odd(n.get("mode"), "mode of qos roce")
	}
}

// profile is the profile of a kind that the port has: its own, that of all
// ports, nil if there is neither.
func (r *reading) profile(kind string) *node {
	name := r.port.value("qos", kind, "profile")
	if name == "" {
		name = global
	}
	n := r.root.get("qos", kind, name)
	if n == nil && name != global {
		r.warn(r.place[r.port.get("qos", kind, "profile")], fmt.Sprintf("the %s profile %q does not exist", kind, name))
	}
	return n
}

// entries calls back with the number of each item of a collection below limit.
func (r *reading) entries(n *node, collection string, limit int, each func(i int, item *node)) {
	for _, key := range n.items(collection) {
		item := n.get(collection, key)
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < limit {
			each(i, item)
			continue
		}
		r.pass(item, fmt.Sprintf("%s %q is none", collection, key))
	}
}

// mapping reads trust and maps: by default the PCP 1:1, with the DSCP n/8 idle
// [Quality of Service, Classification].
func (r *reading) mapping(q *intent.QoS) {
	n := r.profile("mapping")
	trust := n.value("trust")
	switch {
	case trust == "" && r.roce:
		trust = "both"
	case trust == "":
		trust = "l2"
	}
	var dscp [64]uint8
	var pcp [8]uint8
	for i := range dscp {
		dscp[i] = uint8(i / 8)
	}
	for i := range pcp {
		pcp[i] = uint8(i)
	}
	one := func(into []uint8) func(int, *node) {
		return func(i int, item *node) {
			if v := count[uint8](r.parser, item, 7, "switch-priority"); v.IsSet() {
				into[i] = v.Value
			}
		}
	}
	r.entries(n, "dscp", 64, one(dscp[:]))
	r.entries(n, "pcp", 8, one(pcp[:]))
	switch trust {
	case "l3", "both": // with both, the DSCP goes first
		q.Trust = intent.Some(intent.TrustDSCP)
	case "l2":
		q.Trust = intent.Some(intent.TrustPCP)
	case "port":
		q.Trust = intent.Some(intent.TrustNone)
		all := count[uint8](r.parser, n, 7, "port-default-sp").Or(0)
		for i := range dscp {
			dscp[i] = all
		}
		for i := range pcp {
			pcp[i] = all
		}
	default:
		r.odd(n.get("trust"), "trust of the mapping profile")
		return
	}
	q.DSCP, q.PCP = intent.Some(dscp), intent.Some(pcp)
}

// queues are the traffic classes of the switch, 1:1 by default.
func (r *reading) queues() [8]uint8 {
	tc := [8]uint8{0, 1, 2, 3, 4, 5, 6, 7}
	if r.roce {
		tc = [8]uint8{3: 3, 6: 6}
	}
	r.entries(r.root.get("qos", "egress-queue-mapping", global), "switch-priority", 8, func(i int, item *node) {
		if v := count[uint8](r.parser, item, 7, "traffic-class"); v.IsSet() {
			tc[i] = v.Value
		}
	})
	return tc
}

// pfc reads the priorities that pause, and what follows from them: lossless
// classes, groups, queues. A profile pauses both ways by default. With the RoCE
// mode on, the profile of all ports changes what it names and leaves the rest
// [RoCE, Change RoCE Configuration]; its cable-length is that of the mode [NVUE
// command reference, qos pfc cable-length: qos roce cable-length until 5.3].
func (r *reading) pfc(q *intent.QoS, hint, out *intent.Port) {
	n := r.profile("pfc")
	var set intent.PrioritySet
	length := intent.Opt[uint32]{State: intent.Default}
	if r.lossless && (n == nil || n.key == global) {
		length = intent.Some(uint32(roceCableMm))
		if len(n.items("switch-priority")) == 0 {
			set = 1 << 3
		}
	}
	if n != nil {
		r.entries(n, "switch-priority", 8, func(i int, _ *node) { set = set.With(uint8(i)) })
		tx, rx := r.flag(n, "tx").Or(true), r.flag(n, "rx").Or(true)
		if set != 0 && tx != rx {
			r.warn(r.place[n], "the pfc profile "+strconv.Quote(n.key)+" pauses one way only")
			return
		}
		if !tx {
			set = 0
		}
		if m := count[uint32](r.parser, n, maxMetres, "cable-length"); m.IsSet() {
			length = intent.Some(m.Value * 1000)
		}
	}
	if hint.CableMm.IsSet() && length.IsSet() && metres(hint.CableMm.Value) == metres(length.Value) {
		length = hint.CableMm
	}
	out.CableMm = length
	var group [8]uint8
	for _, p := range set.List() {
		group[p] = p
	}
	q.PFC, q.Lossless, q.Group, q.PFCQueue = intent.Some(set), set, intent.Some(group), q.TC
}

// scheduler reads shares and caps: by default 12 and 13 percent in turn [Quality
// of Service, Egress Scheduler]. A class that a profile of its own leaves out has
// the weight 0: what is wanted says whether it is used.
func (r *reading) scheduler(q, want *intent.QoS) {
	var s [8]intent.Sched
	n := r.profile("egress-scheduler")
	switch {
	case n != nil && n.key != global: // a profile of its own says it all
	case r.roce:
		s[0], s[3], s[6] = intent.Sched{Kind: intent.SchedETS, Percent: 50}, intent.Sched{Kind: intent.SchedETS, Percent: 50}, intent.Sched{Kind: intent.SchedStrict}
	default:
		for i := range s {
			s[i] = intent.Sched{Kind: intent.SchedETS, Percent: 12 + uint8(i&1)}
		}
	}
	r.entries(n, "traffic-class", 8, func(i int, item *node) {
		percent := count[uint8](r.parser, item, 100, "bw-percent").Or(0)
		switch mode := item.value("mode"); {
		case mode == "strict":
			s[i] = intent.Sched{Kind: intent.SchedStrict}
		case percent > 0:
			s[i] = intent.Sched{Kind: intent.SchedETS, Percent: percent}
		default:
			s[i] = intent.Sched{}
		}
	})
	for i := range s {
		if left := (intent.Sched{Kind: intent.SchedETS}); want != nil && s[i] == (intent.Sched{}) && want.Sched.Value[i].Kind == left.Kind && want.Sched.Value[i].Percent == 0 {
			s[i] = left
		}
	}
	r.entries(r.profile("egress-shaper"), "traffic-class", 8, func(i int, item *node) {
		if v := count[uint32](r.parser, item, maxRateKbps, "max-rate"); v.IsSet() && v.Value < maxRateKbps {
			s[i].CapMbps = v.Value / 1000
		}
	})
	q.Sched = intent.Some(s)
}

// marking reads ECN: by default queue 0 alone marks, from 150 to 1500 kB
// [Quality of Service, Congestion Control]; what a profile does not say of a
// queue that it names is the same.
func (r *reading) marking(q *intent.QoS) {
	def := intent.ECN{On: true, MinBytes: roceMin, MaxBytes: roceMax, Probability: roceProbability}
	var e [8]intent.ECN
	n := r.profile("congestion-control")
	if n == nil || n.key == global {
		e[0] = def
		if r.roce {
			e[3] = def
		}
	}
	r.entries(n, "traffic-class", 8, func(i int, item *node) {
		if !r.flag(item, "ecn").Or(true) {
			e[i] = intent.ECN{}
			return
		}
		e[i] = intent.ECN{
			On: true, MinBytes: count[uint32](r.parser, item, documentedThresholds, "min-threshold").Or(def.MinBytes),
			MaxBytes:    count[uint32](r.parser, item, documentedThresholds, "max-threshold").Or(def.MaxBytes),
			Probability: count[uint8](r.parser, item, 100, "probability").Or(def.Probability),
		}
	})
	q.ECN = intent.Some(e)
}

// remark reads the DSCP that is written, if the port writes one for every priority.
func (r *reading) remark(q *intent.QoS) {
	q.Rewrite.State = intent.Default
	n := r.profile("remark")
	if n == nil || n.value("rewrite") != "l3" && n.value("rewrite") != "both" {
		return
	}
	var marks [8]uint8
	known := 0
	r.entries(n, "switch-priority", 8, func(i int, item *node) {
		if v := count[uint8](r.parser, item, 63, "dscp"); v.IsSet() {
			marks[i] = v.Value
			known++
		}
	})
	if known == len(marks) {
		q.Rewrite = intent.Some(marks)
		return
	}
	q.Rewrite = intent.Opt[[8]uint8]{}
}

// dcbx reads the TLVs, none of which is sent by default; the RoCE mode sends them.
func (r *reading) dcbx(q *intent.QoS) {
	on := 0
	tlvs := []string{"dcbx-pfc-tlv", "dcbx-ets-config-tlv", "dcbx-ets-recomm-tlv"}
	for _, tlv := range tlvs {
		if r.flag(r.port, "lldp", tlv).Or(false) {
			on++
		}
	}
	switch {
	case on == len(tlvs) || on == 0 && r.lossless:
		q.DCBX = intent.Some(intent.DCBX{Mode: "advertise"})
	case on == 0:
		q.DCBX = intent.Some(intent.DCBX{Mode: "off"})
	}
}

// watchdog reads the state of the port and the times of the switch. Where they
// are what the intent's would be written as, they come back in its form.
func (r *reading) watchdog(q *intent.QoS, hint *intent.QoS) {
	state := r.port.get("qos", "pfc-watchdog")
	if state == nil || !r.flag(state, "state").Or(true) { // naming it switches it on
		q.Watchdog = intent.Some(intent.Watchdog{})
		return
	}
	w := intent.Watchdog{On: true}
	n := r.root.get("qos", "pfc-watchdog")
	poll, robustness := count[uint32](r.parser, n, 1<<20, "polling-interval"), count[uint32](r.parser, n, 1<<10, "robustness")
	if poll.IsSet() {
		w.PollMs = poll.Value
	}
	if robustness.IsSet() {
		w.DetectMs = poll.Or(defaultPoll) * robustness.Value
	}
	if hint != nil && hint.Watchdog.IsSet() && hint.Watchdog.Value.On {
		h := hint.Watchdog.Value
		p, times, ok := timing(h)
		if ok && (p == 0 || p == poll.Or(defaultPoll)) && (times == 0 || times == robustness.Or(defaultRobustness)) {
			w.PollMs, w.DetectMs = h.PollMs, h.DetectMs
		}
	}
	q.Watchdog = intent.Some(w)
}
