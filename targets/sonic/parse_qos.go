package sonic

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// unset names the QoS of ports that ConfigDB binds to nothing.
const unset = "unset"

// qos reads the QoS of a port and returns the name of the value, which is shared
// with the ports that have the same.
func (p *parser) qos(port string) string {
	const table = "PORT_QOS_MAP"
	var q intent.QoS
	q.Trust, q.DSCP, q.PCP = p.trust(port)
	q.TC = full[[8]uint8](p, "TC_TO_QUEUE_MAP", p.db.ref(table, port, "tc_to_queue_map"), 8)
	q.Group = full[[8]uint8](p, "TC_TO_PRIORITY_GROUP_MAP", p.db.ref(table, port, "tc_to_pg_map"), 8)
	q.PFCQueue = full[[8]uint8](p, "MAP_PFC_PRIORITY_TO_QUEUE", p.db.ref(table, port, "pfc_to_queue_map"), 8)
	q.Rewrite = full[[8]uint8](p, "TC_TO_DSCP_MAP", p.db.ref(table, port, "tc_to_dscp_map"), 64)
	q.PFC = p.priorities(port, "pfc_enable")
	q.Lossless = q.PFC.Value
	q.Sched, q.ECN = p.queues(port)
	q.Watchdog = p.watchdog(port, q.PFC.Value)
	p.lossless(port, &q)
	return p.intern(q, p.qosName(port))
}

// qosName is the name that the objects of a port have: the intent's where rocec
// made them, else the first map's.
func (p *parser) qosName(port string) string {
	for _, field := range []string{"tc_to_queue_map", "dscp_to_tc_map", "dot1p_to_tc_map", "tc_to_pg_map", "pfc_to_queue_map", "tc_to_dscp_map"} {
		if name := p.db.ref("PORT_QOS_MAP", port, field); name != "" {
			return p.named(name)
		}
	}
	for queue := range 8 {
		for _, field := range []string{"scheduler", "wred_profile"} {
			if name, _ := p.queueRef(port, queue, field); ours(name) {
				return p.named(stem(name))
			}
		}
	}
	return unset
}

func (p *parser) named(object string) string {
	if name, ok := p.names[object]; ok {
		return name
	}
	if name, ok := p.names[stem(object)]; ok {
		return name
	}
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, strings.TrimPrefix(stem(object), prefix))
	if clean == "" {
		return unset
	}
	return clean
}

// intern adds a value once. A second value of the same name gets a number.
func (p *parser) intern(q intent.QoS, name string) string {
	for n := 1; ; n++ {
		q.Name = name
		if n > 1 {
			q.Name = name + "-" + strconv.Itoa(n)
		}
		i := slices.IndexFunc(p.seen.QoS, func(o intent.QoS) bool { return o.Name == q.Name })
		if i < 0 {
			p.seen.QoS = append(p.seen.QoS, q)
			return q.Name
		}
		if same(p.seen.QoS[i], q) {
			return q.Name
		}
	}
}

func same(a, b intent.QoS) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// trust: a port trusts by the maps bound to it, DSCP first. The map of the
// other mark is looked up by name: it is there when rocec made both.
func (p *parser) trust(port string) (intent.Opt[intent.Trust], intent.Opt[[64]uint8], intent.Opt[[8]uint8]) {
	const table = "PORT_QOS_MAP"
	byDSCP, byPCP := p.db.ref(table, port, "dscp_to_tc_map"), p.db.ref(table, port, "dot1p_to_tc_map")
	trust := intent.Opt[intent.Trust]{State: intent.Default}
	name := byDSCP
	switch {
	case byDSCP == "" && byPCP != "":
		trust, name = intent.Some(intent.TrustPCP), byPCP
	case ours(byDSCP) && strings.HasSuffix(byDSCP, untrustedSuffix):
		trust, name = intent.Some(intent.TrustNone), strings.TrimSuffix(byDSCP, untrustedSuffix)
	case byDSCP != "":
		trust = intent.Some(intent.TrustDSCP)
	}
	if byPCP == "" && ours(name) {
		byPCP = name
	}
	if byDSCP == "" || trust.Value == intent.TrustNone {
		byDSCP = ""
		if ours(name) {
			byDSCP = name
		}
	}
	return trust, full[[64]uint8](p, "DSCP_TO_TC_MAP", byDSCP, 8), full[[8]uint8](p, "DOT1P_TO_TC_MAP", byPCP, 8)
}

// full reads a map. It is set when every key is there: what a port does with a
// mark that has no entry is the ASIC's matter and not known.
func full[A [8]uint8 | [64]uint8](p *parser, table, name string, limit uint64) intent.Opt[A] {
	if name == "" || p.db.rows(table)[name] == nil {
		return intent.Opt[A]{State: intent.Default}
	}
	var values A
	for i := range len(values) {
		key := strconv.Itoa(i)
		if !p.db.has(table, name, key) {
			return intent.Opt[A]{}
		}
		n, err := strconv.ParseUint(p.db.value(table, name, key), 10, 8)
		if err != nil || n >= limit {
			p.odd(table, name, key)
			return intent.Opt[A]{}
		}
		values[i] = uint8(n)
	}
	return intent.Some(values)
}

// priorities reads pfc_enable or pfcwd_sw_enable. Without it a port has no PFC, or no
// watchdog on any.
func (p *parser) priorities(port, field string) intent.Opt[intent.PrioritySet] {
	var set intent.PrioritySet
	v := p.db.value("PORT_QOS_MAP", port, field)
	if v == "" {
		return intent.Some(set)
	}
	for _, word := range strings.Split(v, ",") {
		n, err := strconv.ParseUint(word, 10, 8)
		if err != nil || n > 7 {
			p.odd("PORT_QOS_MAP", port, field)
			return intent.Opt[intent.PrioritySet]{}
		}
		set = set.With(uint8(n))
	}
	return intent.Some(set)
}

// queueRef is what a queue of a port names, by its own row or by a row for a range.
func (p *parser) queueRef(port string, queue int, field string) (name, key string) {
	own := port + "|" + strconv.Itoa(queue)
	if name := p.db.ref("QUEUE", own, field); name != "" {
		return name, own
	}
	for _, key := range p.db.keys("QUEUE") {
		owner, low, high, ok := span(key)
		if ok && owner == port && low <= queue && queue <= high {
			if name := p.db.ref("QUEUE", key, field); name != "" {
				return name, key
			}
		}
	}
	return "", ""
}

func (p *parser) queues(port string) (intent.Opt[[8]intent.Sched], intent.Opt[[8]intent.ECN]) {
	var sched [8]intent.Sched
	var ecn [8]intent.ECN
	made := false // rocec made a scheduler of this port
	for queue := range 8 {
		name, _ := p.queueRef(port, queue, "scheduler")
		made = made || ours(name)
	}
	for queue := range 8 {
		name, _ := p.queueRef(port, queue, "scheduler")
		// Where rocec schedules a port, the image's own schedulers are left on the
		// queues that no class uses.
		if name != "" && (!made || ours(name)) {
			sched[queue] = p.scheduler(name)
		}
		if name, _ := p.queueRef(port, queue, "wred_profile"); name != "" {
			ecn[queue] = p.wred(name)
		}
	}
	return intent.Some(sched), intent.Some(ecn)
}

func (p *parser) scheduler(name string) intent.Sched {
	const table = "SCHEDULER"
	s := intent.Sched{Kind: intent.SchedETS, Percent: 1} // weight 1 is the default of sonic-scheduler.yang
	if p.db.value(table, name, "type") == "STRICT" {
		s = intent.Sched{Kind: intent.SchedStrict}
	} else if w := number[uint8](p, table, name, "weight", 100); w.IsSet() {
		s.Percent = w.Value
	}
	if pir := number[uint64](p, table, name, "pir", 1<<40); pir.IsSet() && p.db.value(table, name, "meter_type") != "packets" {
		s.CapMbps = uint32(min(pir.Value*8/1_000_000, 1<<31))
	}
	return s
}

// wred reads a profile. ECN counts as on when green packets are marked: without
// meters every packet is green.
func (p *parser) wred(name string) intent.ECN {
	const table = "WRED_PROFILE"
	mode := p.db.value(table, name, "ecn")
	if mode != "ecn_all" && !strings.Contains(mode, "green") {
		return intent.ECN{}
	}
	e := intent.ECN{On: true, Probability: 100} // the default of sonic-wred-profile.yang
	e.MinBytes = number[uint32](p, table, name, "green_min_threshold", 1<<32-1).Or(0)
	e.MaxBytes = number[uint32](p, table, name, "green_max_threshold", 1<<32-1).Or(0)
	if pr := number[uint8](p, table, name, "green_drop_probability", 100); pr.IsSet() {
		e.Probability = pr.Value
	}
	return e
}

// watchdog reads PFC_WD. Times that the intent leaves to the device come back
// as zero when they are the device's own. It watches what pfcwd_sw_enable names and,
// without that, nothing [sonic-swss orchagent/qosorch.cpp], so a port that pauses a
// priority that is not in it has none.
func (p *parser) watchdog(port string, pausing intent.PrioritySet) intent.Opt[intent.Watchdog] {
	const table = "PFC_WD"
	if p.db.rows(table)[port] == nil || pausing&^p.priorities(port, "pfcwd_sw_enable").Or(pausing) != 0 {
		return intent.Some(intent.Watchdog{})
	}
	w := intent.Watchdog{
		On: true, Action: p.db.value(table, port, "action"),
		DetectMs:  number[uint32](p, table, port, "detection_time", maxDetect).Or(0),
		RestoreMs: number[uint32](p, table, port, "restoration_time", maxRestore).Or(0),
		PollMs:    number[uint32](p, table, "GLOBAL", "POLL_INTERVAL", maxPoll).Or(0),
	}
	q := p.hint.QoSNamed(p.port(port).QoS)
	if q == nil || !q.Watchdog.IsSet() || !q.Watchdog.Value.On {
		return intent.Some(w)
	}
	want, own := q.Watchdog.Value, ownTimes(p.hint, q.Watchdog.Value)
	if want.DetectMs == 0 && w.DetectMs == own.DetectMs {
		w.DetectMs = 0
	}
	if want.RestoreMs == 0 && w.RestoreMs == own.RestoreMs {
		w.RestoreMs = 0
	}
	if want.PollMs == 0 && w.PollMs == pollMs(p.hint) {
		w.PollMs = 0
	}
	if want.Action == "" && w.Action == own.Action {
		w.Action = ""
	}
	return intent.Some(w)
}

// lossless sees what the dynamic model makes lossless without PFC.
func (p *parser) lossless(port string, q *intent.QoS) {
	if bufferModel(p.seen) != dynamic || !q.Group.IsSet() {
		return
	}
	var set intent.PrioritySet
	for priority, group := range q.Group.Value {
		for key, fields := range p.db.rows("BUFFER_PG") {
			owner, low, high, ok := span(key)
			if ok && owner == port && low <= int(group) && int(group) <= high && p.isLossless(text(fields["profile"])) {
				set = set.With(uint8(priority))
			}
		}
	}
	if set&^q.PFC.Value == 0 && q.PFC.IsSet() && !p.dynamicRows(port) {
		return // computed rows are not in ConfigDB on this port; PFC says it
	}
	q.Lossless = set
}

func (p *parser) dynamicRows(port string) bool {
	for key := range p.db.rows("BUFFER_PG") {
		if owner, _, _, ok := span(key); ok && owner == port {
			return true
		}
	}
	return false
}

func (p *parser) isLossless(profile string) bool {
	if strings.EqualFold(profile, computed) {
		return true
	}
	return p.db.has("BUFFER_PROFILE", profile, "xoff")
}
