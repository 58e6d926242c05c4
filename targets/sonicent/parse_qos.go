package sonicent

import (
	"fmt"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// quality reads what a port does with traffic: what it is bound to.
func (p *parser) quality(name string, f *iface, hint, out *intent.Port) {
	h := p.hint.QoSNamed(hint.QoS)
	q := intent.QoS{Pause: intent.Some(false)}
	p.classes(f, &q)
	p.pauses(name, f, &q, h)
	p.scheduler(name, f, &q)
	p.marking(name, f, &q)
	if !p.dcbx {
		q.DCBX = intent.Some(intent.DCBX{Mode: "off"})
	}
	p.watchdog(name, f, &q, h)
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

// bound is the map of a kind that a port names: every entry, with rest where
// nothing stands. It reports false where there is none.
func (p *parser) bound(t *table, name string, rest func(key int) uint8) ([]uint8, bool) {
	values, ok := p.maps[t.kind][name]
	if !ok {
		return nil, false
	}
	list := make([]uint8, len(values))
	for k, v := range values {
		list[k] = rest(k)
		if v >= 0 {
			list[k] = uint8(v)
		}
	}
	return list, true
}

func same(key int) uint8 { return uint8(key) }
func zero(int) uint8     { return 0 }

// classes reads trust and maps. Marks that a map does not name are of traffic
// class 0; the other maps are 1:1 [AMD listing: what roce enable writes out].
func (p *parser) classes(f *iface, q *intent.QoS) {
	dscp, pcp := f.maps[dscpTable.kind], f.maps[dot1pTable.kind]
	other := dscp
	switch {
	case dscp != "" && len(dscp) > len(untrustedSuffix) && dscp[len(dscp)-len(untrustedSuffix):] == untrustedSuffix:
		q.Trust = intent.Some(intent.TrustNone)
	case dscp != "":
		q.Trust = intent.Some(intent.TrustDSCP)
	case pcp != "":
		q.Trust, other = intent.Some(intent.TrustPCP), pcp
	default:
		q.Trust.State = intent.Default
	}
	q.DSCP.State, q.PCP.State, q.TC.State, q.Group.State, q.PFCQueue.State, q.Rewrite.State =
		intent.Default, intent.Default, intent.Default, intent.Default, intent.Default, intent.Default
	if dscp == "" {
		dscp = other // the map of the same name that the port is not bound to
	}
	if v, ok := p.bound(&dscpTable, dscp, zero); ok {
		q.DSCP = intent.Some([64]uint8(v))
	}
	if v, ok := p.bound(&dot1pTable, pcp, zero); ok {
		q.PCP = intent.Some([8]uint8(v))
	}
	if v, ok := p.bound(&queueTable, f.maps[queueTable.kind], same); ok {
		q.TC = intent.Some([8]uint8(v))
	}
	if v, ok := p.bound(&pauseTable, f.maps[pauseTable.kind], same); ok {
		q.PFCQueue = intent.Some([8]uint8(v))
	}
	if v, ok := p.bound(&groupTable, f.maps[groupTable.kind], same); ok {
		q.Group = intent.Some([8]uint8(v))
	}
	if v, ok := p.maps[markTable.kind][f.maps[markTable.kind]]; ok {
		q.Rewrite = intent.Opt[[8]uint8]{}
		var marks [8]uint8
		known := 0
		for i, mark := range v {
			if mark >= 0 {
				marks[i] = uint8(mark)
				known++
			}
		}
		if known == len(marks) {
			q.Rewrite = intent.Some(marks)
		}
	}
}

// pauses reads the priorities with PFC. Without lossless buffers a pause keeps
// nothing from being dropped, so there are none then, unless the intent leaves
// buffers to others.
func (p *parser) pauses(name string, f *iface, q *intent.QoS, hint *intent.QoS) {
	var set intent.PrioritySet
	for _, text := range f.pfc {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 7 {
			p.odd("a priority of "+name, text)
			continue
		}
		set = set.With(uint8(n))
	}
	if set != 0 && !p.buffers && !p.roce && bufferSetup.Value(p.hint) != buffersKept {
		if !p.said {
			p.said = true
			p.list.Add(diag.Diagnostic{
				Severity: diag.Warning, Summary: "port " + name + " has PFC and the switch has no lossless buffers", Help: "run maintenance.sh buffers: until then nothing is lossless",
			})
		}
		set = 0
	}
	q.PFC, q.Lossless = intent.Some(set), set
	// The group of all lossy priorities is the intent's, which is written as 7.
	if hint != nil && hint.Group.IsSet() && q.Group.IsSet() && q.Group.Value == groupsOf(hint.Lossless) {
		q.Group = hint.Group
	}
}

func (p *parser) scheduler(name string, f *iface, q *intent.QoS) {
	q.Sched.State = intent.Default
	if f.policy == "" {
		return
	}
	policy, ok := p.policies[f.policy]
	if !ok {
		p.odd("scheduler-policy of "+name, f.policy)
		q.Sched = intent.Opt[[8]intent.Sched]{}
		return
	}
	var s [8]intent.Sched
	for queue, x := range policy {
		if queue >= len(s) {
			continue
		}
		switch x.kind {
		case "strict":
			s[queue].Kind = intent.SchedStrict
		case "dwrr", "wrr", "":
			if x.weight != "" {
				s[queue] = intent.Sched{Kind: intent.SchedETS, Percent: count[uint8](p, x.weight, 100, "weight of "+f.policy).Or(0)}
			}
		default:
			p.odd("type of "+f.policy, x.kind)
		}
		if kbps := count[uint64](p, x.pir, 1<<40, "pir of "+f.policy).Or(0); s[queue].Kind != intent.SchedIdle {
			s[queue].CapMbps = uint32(kbps / 1000)
		}
	}
	q.Sched = intent.Some(s)
}

func (p *parser) marking(name string, f *iface, q *intent.QoS) {
	var e [8]intent.ECN
	for queue := range e {
		policy := f.queues[queue]
		if policy == "" {
			continue
		}
		w, ok := p.marks[policy]
		if !ok {
			p.odd("wred-policy of "+name, policy)
			continue
		}
		if w.green {
			e[queue] = intent.ECN{
				On:       true,
				MinBytes: count[uint32](p, w.min, maxThreshold/1000, "minimum-threshold of "+policy).Or(0) * 1000,
				MaxBytes: count[uint32](p, w.max, maxThreshold/1000, "maximum-threshold of "+policy).Or(0) * 1000,

				Probability: count[uint8](p, w.probability, 100, "drop-probability of "+policy).Or(0),
			}
		}
	}
	q.ECN = intent.Some(e)
}

// watchdog reads the times. Where they are what the intent's would be written
// as, they come back in its form.
func (p *parser) watchdog(name string, f *iface, q *intent.QoS, hint *intent.QoS) {
	if !f.watching {
		q.Watchdog = intent.Some(intent.Watchdog{})
		return
	}
	w := intent.Watchdog{
		On: true, Action: f.action,
		DetectMs:  count[uint32](p, f.detect, maxDetect, "detect-time of "+name).Or(0),
		RestoreMs: count[uint32](p, f.restore, maxRestore, "restore-time of "+name).Or(0),
		PollMs:    count[uint32](p, p.poll, maxPoll, "polling-interval").Or(0),
	}
	if hint != nil && hint.Watchdog.IsSet() && hint.Watchdog.Value.On {
		h := hint.Watchdog.Value
		own := ownTimes(h)
		own.PollMs = w.PollMs
		if own == w && (h.PollMs == 0 || h.PollMs == w.PollMs) {
			w = h
		}
	}
	q.Watchdog = intent.Some(w)
}
