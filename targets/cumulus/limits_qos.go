package cumulus

import (
	"fmt"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

func (l *limit) qos(q *intent.QoS) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	targets.LimitTrust(q, l.refuse)
	l.pfc(q, at)
	l.sched(q, at)
	for queue, e := range q.ECN.Value {
		if e.On && (e.MaxBytes > documentedThresholds || e.Probability == 0) {
			l.refuse(fmt.Sprintf("queue %d marks from %d to %d bytes at %d %%", queue, e.MinBytes, e.MaxBytes, e.Probability),
				fmt.Sprintf("write at most %d and a probability of 1 to 100", documentedThresholds), at(intent.OfQueue("ecn", queue)))
		}
	}
	if x := q.DCBX; x.IsSet() {
		switch {
		case x.Value.Mode == "off" && x.Value.Version != "":
			l.refuse("dcbx is off and has a version", `write dcbx = "off"`, at("dcbx"))
		case x.Value.Version != "" && x.Value.Version != "ieee":
			l.refuse(fmt.Sprintf("dcbx has the version %q", x.Value.Version), `write "ieee": Cumulus sends no others`, at("dcbx"))
		case x.Value.Owner != "":
			l.refuse(fmt.Sprintf("dcbx has the owner %q", x.Value.Owner), "leave it out: a switch has one", at("dcbx"))
		}
	}
	l.watchdog(q, at("watchdog"))
}

// pfc: switchd derives groups and queues from the priorities that pause.
func (l *limit) pfc(q *intent.QoS, at func(string) intent.Path) {
	if q.PFC.IsSet() && q.Lossless != q.PFC.Value {
		l.refuse(fmt.Sprintf("qos %q has PFC on %s and lossless classes on %s", q.Name, q.PFC.Value, q.Lossless),
			"make them the same: switchd gives headroom to every priority with PFC, and to no other", at("pfc"))
	}
	pausing := q.PFC.Or(q.Lossless)
	for p := range uint8(8) {
		want := uint8(0)
		if pausing.Has(p) {
			want = p
		}
		if g := q.Group.Value[p]; q.Group.IsSet() && g != want {
			l.refuse(fmt.Sprintf("priority %d of qos %q is in group %d", p, q.Name, g),
				fmt.Sprintf("put it in group %d: switchd makes a group for each priority with PFC and leaves the others in one", want), at("group_map"))
			break
		}
	}
	if q.PFCQueue.IsSet() && q.TC.IsSet() && q.PFCQueue.Value != q.TC.Value {
		l.refuse(fmt.Sprintf("qos %q stops other queues on a pause than those its priorities are in", q.Name), "leave pfc_queue_map out", at("pfc_queue_map"))
	}
	if q.PFCQueue.IsSet() && !q.TC.IsSet() {
		l.refuse(fmt.Sprintf("qos %q has a map from pauses to queues and none from priorities", q.Name), "manage queue_map too", at("pfc_queue_map"))
	}
}

func (l *limit) sched(q *intent.QoS, at func(string) intent.Path) {
	for queue, s := range q.Sched.Value {
		switch {
		case s.Kind == intent.SchedIdle && s.CapMbps > 0:
			l.refuse(fmt.Sprintf("queue %d has a max_rate and no class", queue), "leave max_rate out", at(intent.OfQueue("cap", queue)))
		case uint64(s.CapMbps)*1000 > maxRateKbps:
			l.refuse(fmt.Sprintf("queue %d has a max_rate of %d Mb/s", queue, s.CapMbps), fmt.Sprintf("write at most %d Mb/s", maxRateKbps/1000), at(intent.OfQueue("cap", queue)))
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
	if w.RestoreMs > 0 {
		l.refuse(fmt.Sprintf("the watchdog of qos %q has a restoration time", q.Name), "leave restore out: Cumulus lets go when a polling interval has passed without a pause", at)
	}
	if w.Action != "" && w.Action != "drop" {
		l.refuse(fmt.Sprintf("the watchdog of qos %q has the action %q", q.Name, w.Action), `write "drop" or leave action out: Cumulus always drops what is queued`, at)
	}
	if poll, _, ok := timing(w); !ok {
		l.refuse(fmt.Sprintf("the watchdog detects after %d ms and polls every %d ms", w.DetectMs, poll), "write a detection time that is a multiple of poll", at)
	}
}

// switchWide refuses settings of ports that the switch has once, where ports
// differ.
func (l *limit) switchWide() {
	d := l.device
	at := func(q *intent.QoS, field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	if !l.queues(at) {
		return
	}
	var times, remap *intent.QoS
	plain := ""
	for i := range d.Ports {
		p := &d.Ports[i]
		q := d.QoSNamed(p.QoS)
		if p.Verify {
			continue
		}
		if q == nil || !q.Rewrite.IsSet() {
			plain = p.Name
		}
		if q == nil {
			continue
		}
		if w := q.Watchdog; w.IsSet() && w.Value.On && (w.Value.DetectMs > 0 || w.Value.PollMs > 0) {
			if times != nil && (times.Watchdog.Value.DetectMs != w.Value.DetectMs || times.Watchdog.Value.PollMs != w.Value.PollMs) {
				l.refuse(fmt.Sprintf("the watchdogs of qos %q and qos %q have other times", q.Name, times.Name), "write the same: the switch has one for all ports",
					at(q, "watchdog"), at(times, "watchdog"))
				return
			}
			times = q
		}
		if q.Rewrite.IsSet() {
			remap = q
		}
	}
	if remap != nil && plain != "" {
		l.refuse(fmt.Sprintf("qos %q rewrites marks and port %s does not", remap.Name, plain), "rewrite on every port of the switch: what comes in where nothing is rewritten keeps its mark",
			intent.Path{Object: intent.OfQoS, Name: remap.Name, Field: "remap"}, intent.Path{Object: intent.OfPort, Name: plain, Field: "qos"})
	}
	if a := d.Buffer.AlphaExponent; a.IsSet() && (a.Value < minAlpha || a.Value > maxAlpha) {
		l.refuse(fmt.Sprintf("alpha 2^%d is not in 2^%d to 2^%d", a.Value, minAlpha, maxAlpha), "write an alpha of 1/128 to 64", intent.Path{Object: intent.OfDevice, Field: "buffer"})
	}
}
