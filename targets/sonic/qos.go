package sonic

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// A traffic class of SONiC is one priority here, TC n for priority n: the DSCP
// and dot1p maps give priorities, and TC_TO_QUEUE_MAP has the intent's traffic
// classes, which are SONiC's queues.

// qos writes the maps, schedulers and WRED profiles of one QoS value.
func (b *builder) qos(q *intent.QoS) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	name := base(q.Name)
	if q.Trust.IsSet() && q.Trust.Value == intent.TrustNone {
		whole(b, "DSCP_TO_TC_MAP", name+untrustedSuffix, untrusted(q), at("trust"))
	}
	if q.DSCP.IsSet() {
		whole(b, "DSCP_TO_TC_MAP", name, q.DSCP.Value[:], at("dscp_map"))
	}
	if q.PCP.IsSet() {
		whole(b, "DOT1P_TO_TC_MAP", name, q.PCP.Value[:], at("pcp_map"))
	}
	if q.TC.IsSet() {
		whole(b, "TC_TO_QUEUE_MAP", name, q.TC.Value[:], at("queue_map"))
	}
	if q.Group.IsSet() {
		whole(b, "TC_TO_PRIORITY_GROUP_MAP", name, q.Group.Value[:], at("group_map"))
		if familyOf(b.device.ASIC).mapsPFCToGroup() {
			for _, p := range q.PFC.Or(0).List() {
				b.normal.row("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", name).set(decimal(p), decimal(q.Group.Value[p]), at("group_map"))
			}
		}
	}
	if q.PFCQueue.IsSet() {
		whole(b, "MAP_PFC_PRIORITY_TO_QUEUE", name, q.PFCQueue.Value[:], at("pfc_queue_map"))
	}
	if q.Rewrite.IsSet() {
		whole(b, "TC_TO_DSCP_MAP", name, q.Rewrite.Value[:], at("remap"))
	}
	for queue := range 8 {
		b.queue(q, queue, at)
	}
}

// queue writes the scheduler and the WRED profile of one queue.
func (b *builder) queue(q *intent.QoS, queue int, at func(string) intent.Path) {
	name := queueName(q.Name, queue)
	if s := q.Sched.Value[queue]; q.Sched.IsSet() && s.Kind != intent.SchedIdle {
		r := b.normal.row("SCHEDULER", name)
		if s.Kind == intent.SchedStrict {
			r.set("type", "STRICT", at("strict"))
		} else {
			r.set("type", "DWRR", at("ets"))
			r.set("weight", decimal(s.Percent), at("ets"))
		}
	}
	e := q.ECN.Value[queue]
	if !q.ECN.IsSet() || !e.On {
		return
	}
	// All colours alike: nothing colours packets here, and ASICs differ in the
	// colour of unmetered ones.
	r := b.normal.row("WRED_PROFILE", name)
	r.set("ecn", "ecn_all", at("ecn"))
	for _, colour := range []string{"green", "yellow", "red"} {
		r.set("wred_"+colour+"_enable", "true", at("ecn"))
		r.set(colour+"_min_threshold", decimal(e.MinBytes), at("ecn"))
		r.set(colour+"_max_threshold", decimal(e.MaxBytes), at("ecn"))
		r.set(colour+"_drop_probability", decimal(e.Probability), at("ecn"))
	}
}

// whole writes a map with every key.
func whole(b *builder, table, name string, values []uint8, from intent.Path) {
	for key, v := range values {
		b.normal.row(table, name).set(strconv.Itoa(key), decimal(v), from)
	}
}

// untrusted is the DSCP map of a port that ignores marks: one priority for
// every DSCP, that of the value's own maps, which Limits has found constant.
func untrusted(q *intent.QoS) []uint8 {
	p := q.PCP.Or([8]uint8{})[0]
	p = q.DSCP.Or([64]uint8{0: p})[0]
	return slices.Repeat([]uint8{p}, 64)
}

// binding is what all ports with one QoS have.
type binding struct {
	port     row    // of PORT_QOS_MAP
	queues   [8]row // of QUEUE, nil where a queue has none
	watchdog row    // of PFC_WD, nil if it is not on
}

// bind gives a port its QoS.
func (b *builder) bind(p *intent.Port, q *intent.QoS) {
	x := b.bindings[q.Name]
	if x == nil {
		x = b.binding(q)
		b.bindings[q.Name] = x
	}
	if len(x.port) > 0 {
		b.normal.share("PORT_QOS_MAP", p.Name, x.port)
	}
	for queue, r := range x.queues {
		if r != nil {
			b.normal.share("QUEUE", p.Name+"|"+strconv.Itoa(queue), r)
		}
	}
	if x.watchdog != nil {
		b.normal.share("PFC_WD", p.Name, x.watchdog)
	}
}

func (b *builder) binding(q *intent.QoS) *binding {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	x := &binding{port: row{}}
	name, set := base(q.Name), func(field, value, from string) { x.port.set(field, value, at(from)) }
	if dscp := dscpMap(q); dscp != "" {
		set("dscp_to_tc_map", dscp, "trust")
	}
	if q.Trust.IsSet() && q.Trust.Value == intent.TrustPCP {
		// Alone: a port that also had a DSCP map would follow the DSCP (qos_config.j2
		// binds one or the other).
		set("dot1p_to_tc_map", name, "trust")
	}
	if q.TC.IsSet() {
		set("tc_to_queue_map", name, "queue_map")
	}
	if q.Group.IsSet() {
		set("tc_to_pg_map", name, "group_map")
		if familyOf(b.device.ASIC).mapsPFCToGroup() && q.PFC.Or(0) != 0 {
			set("pfc_to_pg_map", name, "group_map")
		}
	}
	if q.PFCQueue.IsSet() {
		set("pfc_to_queue_map", name, "pfc_queue_map")
	}
	if q.Rewrite.IsSet() {
		set("tc_to_dscp_map", name, "remap")
	}
	if q.PFC.IsSet() && (q.PFC.Value != 0 || emptySets(b.device)) {
		set("pfc_enable", priorities(q.PFC.Value), "pfc")
	}
	for queue := range x.queues {
		r := row{}
		if q.Sched.IsSet() && q.Sched.Value[queue].Kind != intent.SchedIdle {
			r.set("scheduler", queueName(q.Name, queue), at("ets"))
		}
		if q.ECN.IsSet() && q.ECN.Value[queue].On {
			r.set("wred_profile", queueName(q.Name, queue), at("ecn"))
		}
		if len(r) > 0 {
			x.queues[queue] = r
		}
	}
	if q.Watchdog.IsSet() {
		b.watchdog(x, q, at("watchdog"))
	}
	return x
}

// dscpMap is the DSCP map that a port with this QoS is bound to, "" if none.
func dscpMap(q *intent.QoS) string {
	switch {
	case !q.Trust.IsSet() || q.Trust.Value == intent.TrustPCP:
		return ""
	case q.Trust.Value == intent.TrustNone:
		return base(q.Name) + untrustedSuffix
	}
	return base(q.Name)
}

// global binds the switch's own DSCP map, which Broadcom ASICs use for what no
// port's map covers (sonic-swss#2023). It is the map most ports have. Changing it
// while the switch runs is something the Broadcom SAI lacks (sonic-mgmt#21985),
// so it waits for a maintenance window with a reload.
func (b *builder) global() {
	if familyOf(b.device.ASIC) != broadcom {
		return
	}
	if most := globalMap(b.device); most != nil {
		b.maintenance.row("PORT_QOS_MAP", "global").set("dscp_to_tc_map", dscpMap(most),
			intent.Path{Object: intent.OfQoS, Name: most.Name, Field: "trust"})
	}
}

// globalMap is the QoS value whose DSCP map most written ports are bound to.
func globalMap(d *intent.Device) *intent.QoS {
	uses := map[string]int{}
	var most *intent.QoS
	for i := range d.Ports {
		q := d.QoSNamed(d.Ports[i].QoS)
		if d.Ports[i].Verify || q == nil || dscpMap(q) == "" {
			continue
		}
		uses[q.Name]++
		if n := uses[q.Name]; most == nil || n > uses[most.Name] || n == uses[most.Name] && q.Name < most.Name {
			most = q
		}
	}
	return most
}

// priorities is a set as pfc_enable has it: "3,4".
func priorities(s intent.PrioritySet) string {
	var words []string
	for _, p := range s.List() {
		words = append(words, decimal(p))
	}
	return strings.Join(words, ",")
}
