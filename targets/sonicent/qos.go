package sonicent

import (
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// A traffic class of SONiC is one priority here, TC n for priority n; the
// intent's traffic classes are SONiC's queues.

// lossyGroup is the priority group of everything that is not lossless, the only
// one with a lossy profile [Broadcom RoCEv2 high level design].
const lossyGroup = 7

// table is one kind of map: how it is entered and how its entries are spelled.
type table struct {
	kind     string // as in qos map KIND and qos-map KIND
	key, val string
	keys     int
	values   int
}

var (
	dscpTable  = table{"dscp-tc", "dscp", "traffic-class", 64, 8}
	dot1pTable = table{"dot1p-tc", "dot1p", "traffic-class", 8, 8}
	queueTable = table{"tc-queue", "traffic-class", "queue", 8, 8}
	groupTable = table{"tc-pg", "traffic-class", "priority-group", 8, 8}
	markTable  = table{"tc-dscp", "traffic-class", "dscp", 8, 64}
	pauseTable = table{"pfc-priority-queue", "pfc-priority", "queue", 8, 8}
	tables     = []*table{&dscpTable, &dot1pTable, &queueTable, &groupTable, &markTable, &pauseTable}
)

// write makes a map with every key, the keys of one value in one command as the
// CLI shows them [grammar qos_map_dscp.xml DSCP_RANGE; AMD listing].
func (t *table) write(b *builder, name string, values []uint8, from intent.Path) {
	l := line{text: "qos map " + t.kind + " " + name, from: from}
	for v := range uint8(t.values) {
		var keys []int
		for k, to := range values {
			if to == v {
				keys = append(keys, k)
			}
		}
		if len(keys) > 0 {
			l.add(from, t.key+" "+ranges(keys)+" "+t.val+" "+decimal(v))
		}
	}
	b.put(l)
}

// maps writes what the ports' QoS is made of, once for each value in use.
func (b *builder) maps() {
	var poll uint32
	var pollFrom intent.Path
	pauses := false
	for i := range b.device.QoS {
		q := &b.device.QoS[i]
		if !slices.ContainsFunc(b.device.Ports, func(p intent.Port) bool { return p.QoS == q.Name && !p.Verify }) {
			continue
		}
		at := func(field string) intent.Path {
			return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
		}
		b.classes(q, at)
		if q.PFCQueue.IsSet() && !pauses {
			pauseTable.write(b, pfcMap, q.PFCQueue.Value[:], at("pfc_queue_map"))
			pauses = true
		}
		b.scheduler(q, at)
		b.marking(q, at)
		if w := q.Watchdog; w.IsSet() && w.Value.On && w.Value.PollMs > 0 {
			poll, pollFrom = w.Value.PollMs, at("watchdog")
		}
	}
	if poll > 0 {
		b.put(line{text: "priority-flow-control watchdog polling-interval " + decimal(poll), from: pollFrom})
	}
	if n := b.device.Buffer.HeadroomBytes; n.IsSet() {
		b.put(line{text: "buffer pool ingress_lossless_pool shared-headroom-size " + decimal(n.Value), from: intent.Path{Object: intent.OfDevice, Field: "buffer"}})
	}
}

// classes writes the maps of marks, queues and groups.
func (b *builder) classes(q *intent.QoS, at func(string) intent.Path) {
	name := base(q.Name)
	if q.Trust.IsSet() && q.Trust.Value == intent.TrustNone {
		all := slices.Repeat([]uint8{targets.Untrusted(q)}, 64)
		dscpTable.write(b, name+untrustedSuffix, all, at("trust"))
		dot1pTable.write(b, name+untrustedSuffix, all[:8], at("trust"))
	} else {
		if q.DSCP.IsSet() {
			dscpTable.write(b, name, q.DSCP.Value[:], at("dscp_map"))
		}
		if q.PCP.IsSet() {
			dot1pTable.write(b, name, q.PCP.Value[:], at("pcp_map"))
		}
	}
	if q.TC.IsSet() {
		queueTable.write(b, name, q.TC.Value[:], at("queue_map"))
	}
	if q.Group.IsSet() {
		groups := groupsOf(q.Lossless)
		groupTable.write(b, name, groups[:], at("group_map"))
	}
	if q.Rewrite.IsSet() {
		markTable.write(b, name, q.Rewrite.Value[:], at("remap"))
	}
}

// groupsOf are the priority groups of all priorities.
func groupsOf(lossless intent.PrioritySet) [8]uint8 {
	var g [8]uint8
	for p := range uint8(8) {
		g[p] = lossyGroup
		if lossless.Has(p) {
			g[p] = p
		}
	}
	return g
}

func (b *builder) scheduler(q *intent.QoS, at func(string) intent.Path) {
	if !q.Sched.IsSet() {
		return
	}
	l := line{text: "qos scheduler-policy " + policyName(q), from: at("ets")}
	for queue, s := range q.Sched.Value {
		if s.Kind == intent.SchedIdle {
			continue
		}
		x := line{text: "queue " + strconv.Itoa(queue), from: at("ets")}
		if s.Kind == intent.SchedStrict {
			x.from = at("strict")
			x.add(at("strict"), "type strict")
		} else {
			x.add(at("ets"), "type dwrr")
			x.add(at("ets"), "weight "+decimal(s.Percent))
		}
		if s.CapMbps > 0 {
			x.add(at("cap"), "pir "+decimal(uint64(s.CapMbps)*1000))
		}
		l.in = append(l.in, x)
	}
	b.put(l)
}

// marking writes one policy per queue that marks. Nothing colours packets here,
// so all are green.
func (b *builder) marking(q *intent.QoS, at func(string) intent.Path) {
	if !q.ECN.IsSet() {
		return
	}
	for queue, e := range q.ECN.Value {
		if !e.On {
			continue
		}
		l := line{text: "qos wred-policy " + queueName(q.Name, queue), from: at("ecn")}
		l.add(at("ecn"), "green minimum-threshold "+decimal(e.MinBytes/1000)+" maximum-threshold "+decimal(e.MaxBytes/1000)+" drop-probability "+decimal(e.Probability))
		l.add(at("ecn"), "ecn green")
		b.put(l)
	}
}

// quality binds a port to what its QoS is made of.
func (b *builder) quality(l *line, p *intent.Port, here func(string) intent.Path) {
	q := b.device.QoSNamed(p.QoS)
	if q == nil {
		if p.CableMm.IsSet() {
			l.add(here("cable"), "cable-length "+cableWord(p.CableMm.Value))
		}
		return
	}
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	for _, text := range b.drop.quality(p.Name, q) {
		l.add(at(""), text)
	}
	if q.ECN.IsSet() {
		for queue, e := range q.ECN.Value {
			if e.On {
				l.add(at("ecn"), "queue "+strconv.Itoa(queue)+" wred-policy "+queueName(q.Name, queue))
			}
		}
	}
	if q.Sched.IsSet() {
		l.add(at("ets"), "scheduler-policy "+policyName(q))
	}
	if p.CableMm.IsSet() {
		l.add(here("cable"), "cable-length "+cableWord(p.CableMm.Value))
	}
	for _, x := range bindings(q) {
		l.add(at(x.field), "qos-map "+x.table.kind+" "+x.name)
	}
	for _, prio := range q.PFC.Or(0).List() {
		l.add(at("pfc"), "priority-flow-control priority "+decimal(prio))
	}
	if q.Watchdog.IsSet() {
		watchdog(l, q.Watchdog.Value, at("watchdog"))
	}
}

// binding is a map that a port names.
type binding struct {
	table       *table
	name, field string
}

// bindings are the maps of a port with a QoS value. A port that trusts the PCP
// has no DSCP map, which would go first for IP packets.
func bindings(q *intent.QoS) []binding {
	var list []binding
	name := base(q.Name)
	if q.Trust.IsSet() {
		marks := name
		if q.Trust.Value == intent.TrustNone {
			marks += untrustedSuffix
		}
		if q.Trust.Value != intent.TrustPCP {
			list = append(list, binding{&dscpTable, marks, "trust"})
		}
		if q.Trust.Value != intent.TrustDSCP || q.PCP.IsSet() {
			list = append(list, binding{&dot1pTable, marks, "trust"})
		}
	}
	if q.TC.IsSet() {
		list = append(list, binding{&queueTable, name, "queue_map"})
	}
	if q.Group.IsSet() {
		list = append(list, binding{&groupTable, name, "group_map"})
	}
	if q.Rewrite.IsSet() {
		list = append(list, binding{&markTable, name, "remap"})
	}
	if q.PFCQueue.IsSet() {
		list = append(list, binding{&pauseTable, pfcMap, "pfc_queue_map"})
	}
	return list
}

// What the image's own RoCE configuration gives a watchdog [AMD listing]; a
// restoration time that is left out is twice the detection time.
const watchdogDetect, watchdogAction = 200, "drop"

// ownTimes fills in what a watchdog leaves to the device, which has nothing until
// it is told.
func ownTimes(w intent.Watchdog) intent.Watchdog {
	if w.DetectMs == 0 {
		w.DetectMs = watchdogDetect
	}
	if w.RestoreMs == 0 {
		w.RestoreMs = 2 * w.DetectMs
	}
	if w.Action == "" {
		w.Action = watchdogAction
	}
	return w
}

func watchdog(l *line, w intent.Watchdog, at intent.Path) {
	if !w.On {
		l.add(at, "priority-flow-control watchdog off")
		return
	}
	w = ownTimes(w)
	l.add(at, "priority-flow-control watchdog action "+w.Action)
	l.add(at, "priority-flow-control watchdog on detect-time "+decimal(w.DetectMs))
	l.add(at, "priority-flow-control watchdog restore-time "+decimal(w.RestoreMs))
}
