package sonicent

import (
	"fmt"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// losslessOnly are the priorities that the switch has lossless buffers for
// [Broadcom RoCEv2 high level design].
const losslessOnly = intent.PrioritySet(1<<3 | 1<<4)

// Ranges of the grammar: POLL_INTERVAL, DETECT_TIME and RESTORE_TIME in ms,
// QoS_THRESHOLD in kB, QUEUE_CIR_PIR in kbit/s.
const (
	minPoll, maxPoll       = 100, 3000
	minDetect, maxDetect   = 100, 5000
	minRestore, maxRestore = 100, 60000
	maxThreshold           = 12_480_000
	maxRateMbps            = 400_000
)

func (l *limit) qos(q *intent.QoS) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	targets.LimitTrust(q, l.refuse)
	targets.LimitShares(q, "the weights of Enterprise SONiC begin at 1", l.refuse)
	l.pfc(q, at)
	for queue, s := range q.Sched.Value {
		switch {
		case s.Kind == intent.SchedIdle && s.CapMbps > 0:
			l.refuse(fmt.Sprintf("queue %d has a max_rate and no class", queue), "leave max_rate out", at(intent.OfQueue("cap", queue)))
		case s.CapMbps > maxRateMbps:
			l.refuse(fmt.Sprintf("queue %d has a max_rate of %d Mb/s", queue, s.CapMbps), fmt.Sprintf("write at most %d Mb/s", maxRateMbps), at(intent.OfQueue("cap", queue)))
		}
	}
	for queue, e := range q.ECN.Value {
		if e.On && (e.MinBytes%1000 != 0 || e.MaxBytes%1000 != 0 || e.MinBytes < 1000 || e.MaxBytes > maxThreshold || e.Probability == 0) {
			l.refuse(fmt.Sprintf("queue %d marks from %d to %d bytes at %d %%", queue, e.MinBytes, e.MaxBytes, e.Probability),
				"write whole kB (of 1000 bytes) from 1 to 12480 and a probability of 1 to 100", at(intent.OfQueue("ecn", queue)))
		}
	}
	if x := q.DCBX; x.IsSet() && x.Value.Mode == "off" && (x.Value.Version != "" || x.Value.Owner != "") {
		l.refuse("dcbx is off and has a version or an owner", `write dcbx = "off"`, at("dcbx"))
	}
	l.watchdog(q, at("watchdog"))
}

// pfc: groups and queues 3 and 4 are the lossless ones, whatever the maps say.
func (l *limit) pfc(q *intent.QoS, at func(string) intent.Path) {
	pausing := q.Lossless | q.PFC.Or(0)
	if pausing&^losslessOnly != 0 {
		l.refuse(fmt.Sprintf("qos %q makes %s lossless; the switch takes 3 and 4 only", q.Name, pausing), "give lossless classes priority 3 or 4", at("pfc"))
		return
	}
	if q.PFC.IsSet() && q.Lossless != q.PFC.Value {
		l.refuse(fmt.Sprintf("qos %q has PFC on %s and lossless classes on %s", q.Name, q.PFC.Value, q.Lossless), "make them the same: a class is lossless by its PFC", at("pfc"))
	}
	if q.Group.IsSet() {
		l.groups(q, at("group_map"))
	}
	for _, p := range pausing.List() {
		if q.TC.IsSet() && q.TC.Value[p] != p {
			l.refuse(fmt.Sprintf("lossless priority %d of qos %q is in queue %d", p, q.Name, q.TC.Value[p]),
				fmt.Sprintf("put it in queue %d: the lossless queues are 3 and 4", p), at("queue_map"))
		}
		if q.PFCQueue.IsSet() && q.TC.IsSet() && q.PFCQueue.Value[p] != q.TC.Value[p] {
			l.refuse(fmt.Sprintf("a pause for priority %d of qos %q stops queue %d, and its frames are in queue %d", p, q.Name, q.PFCQueue.Value[p], q.TC.Value[p]),
				"leave pfc_queue_map out", at("pfc_queue_map"))
		}
	}
}

// groups: lossless priorities have the group of their number, and the others
// have one group together, which is written as 7.
func (l *limit) groups(q *intent.QoS, at intent.Path) {
	lossy := -1
	for p, g := range q.Group.Value {
		switch {
		case q.Lossless.Has(uint8(p)):
			if int(g) != p {
				l.refuse(fmt.Sprintf("lossless priority %d of qos %q is in group %d", p, q.Name, g), fmt.Sprintf("put it in group %d: the lossless groups are 3 and 4", p), at)
				return
			}
		case lossy >= 0 && int(g) != lossy || losslessOnly.Has(g):
			l.refuse(fmt.Sprintf("lossy priority %d of qos %q is in group %d", p, q.Name, g), "put all lossy priorities in one group that is neither 3 nor 4: the switch has one for them", at)
			return
		default:
			lossy = int(g)
		}
	}
}

func (l *limit) watchdog(q *intent.QoS, at intent.Path) {
	w := q.Watchdog.Value
	if !q.Watchdog.IsSet() || !w.On {
		return
	}
	if q.PFC.Or(q.Lossless) == 0 {
		l.refuse(fmt.Sprintf("qos %q has a watchdog and no priority with PFC", q.Name), `write watchdog = "off"`, at)
	}
	if w.Action != "" && w.Action != "drop" && w.Action != "forward" && w.Action != "alert" {
		l.refuse(fmt.Sprintf("watchdog action %q is not known", w.Action), `write "drop", "forward" or "alert"`, at)
	}
	own := ownTimes(w)
	for _, t := range []struct {
		what          string
		ms, low, high uint32
	}{{"detection time", own.DetectMs, minDetect, maxDetect}, {"restoration time", own.RestoreMs, minRestore, maxRestore}, {"polling interval", w.PollMs, minPoll, maxPoll}} {
		if t.ms != 0 && (t.ms < t.low || t.ms > t.high) {
			l.refuse(fmt.Sprintf("watchdog %s %d ms is not in %d to %d ms", t.what, t.ms, t.low, t.high), "write a time in that range", at)
		}
	}
	if own.DetectMs < w.PollMs || own.RestoreMs < w.PollMs {
		l.refuse(fmt.Sprintf("watchdog polls every %d ms, longer than its times of %d and %d ms", w.PollMs, own.DetectMs, own.RestoreMs), "write a shorter poll", at)
	}
}

// switchWide refuses settings of ports that the switch has once, where ports differ.
func (l *limit) switchWide() {
	d := l.device
	var pauses, poll *intent.QoS
	for i := range d.Ports {
		q := d.QoSNamed(d.Ports[i].QoS)
		if q == nil || d.Ports[i].Verify {
			continue
		}
		at := func(q *intent.QoS, field string) intent.Path {
			return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
		}
		if q.PFCQueue.IsSet() {
			if pauses != nil && pauses.PFCQueue != q.PFCQueue {
				l.refuse(fmt.Sprintf("qos %q and qos %q stop other queues on a pause", q.Name, pauses.Name), "write one pfc_queue_map: the switch has one map",
					at(q, "pfc_queue_map"), at(pauses, "pfc_queue_map"))
				return
			}
			pauses = q
		}
		if w := q.Watchdog; w.IsSet() && w.Value.On && w.Value.PollMs > 0 {
			if poll != nil && poll.Watchdog.Value.PollMs != w.Value.PollMs {
				l.refuse(fmt.Sprintf("the watchdogs of qos %q and qos %q poll in other intervals", q.Name, poll.Name), "write one poll: the switch has one interval",
					at(q, "watchdog"), at(poll, "watchdog"))
				return
			}
			poll = q
		}
	}
	if n := d.Buffer.HeadroomBytes; n.IsSet() {
		at := intent.Path{Object: intent.OfDevice, Field: "buffer"}
		switch {
		case !pausesAny(d):
			l.refuse("the switch has a shared headroom pool and no port with PFC", "leave headroom of buffer out", at)
		case n.Value == 0 || n.Value > 1<<32-1:
			l.refuse(fmt.Sprintf("a shared headroom pool of %d bytes", n.Value), "write its size", at)
		}
	}
}
