package cumulus

import (
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// profile is the names of the profiles that a QoS value is made of; "" where
// it has none. A name says what is in a collection (t036: traffic classes, p3:
// priorities, 40m: cable), because a patch adds to a collection and does not
// empty it: what is not wanted any more stands in a profile that no port names.
type profile struct {
	mapping, scheduler, shaper, marking, remark string
}

func (b *builder) profileOf(q *intent.QoS) *profile {
	if p := b.profiles[q.Name]; p != nil {
		return p
	}
	p := &profile{}
	b.profiles[q.Name] = p
	stem := base(q.Name)
	if q.Trust.IsSet() {
		p.mapping = stem
	}
	if q.Sched.IsSet() {
		var used, capped intent.PrioritySet
		for tc, s := range q.Sched.Value {
			if s.Kind != intent.SchedIdle {
				used = used.With(uint8(tc))
			}
			if s.CapMbps > 0 {
				capped = capped.With(uint8(tc))
			}
		}
		p.scheduler = stem + "_t" + digits(used)
		if capped != 0 {
			p.shaper = stem + "_c" + digits(capped)
		}
	}
	if q.ECN.IsSet() {
		p.marking = stem
	}
	if q.Rewrite.IsSet() {
		p.remark = stem
	}
	return p
}

// pfcProfile is the PFC profile of a port, "" if its priorities are not managed
// or none pauses.
func pfcProfile(q *intent.QoS, p *intent.Port) string {
	if !q.PFC.IsSet() || q.PFC.Value == 0 {
		return ""
	}
	profile := base(q.Name) + "_p" + digits(q.PFC.Value)
	if p.CableMm.IsSet() {
		profile += "_l" + strconv.Itoa(metres(p.CableMm.Value)) + "m"
	}
	return profile
}

// bind writes what the ports of one key have of a QoS value, and the profiles
// when they are named for the first time.
func (b *builder) bind(n *node, q *intent.QoS, pfc string) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	if !b.roce {
		p := b.profileOf(q)
		for _, x := range []struct{ kind, profile, field string }{
			{"congestion-control", p.marking, "ecn"},
			{"egress-scheduler", p.scheduler, "ets"},
			{"egress-shaper", p.shaper, "cap"},
			{"mapping", p.mapping, "trust"},
			{"pfc", pfc, "pfc"},
			{"remark", p.remark, "remap"},
		} {
			if x.profile == "" {
				continue
			}
			n.set(name, x.profile, at(x.field), "qos", x.kind, "profile")
			if b.root.get("qos", x.kind, x.profile) == nil {
				b.fill(b.root.at(at(x.field), "qos", x.kind, x.profile), x.kind, q, at)
			}
		}
		b.cable(q, pfc, at)
		if q.DCBX.IsSet() {
			for _, tlv := range []string{"dcbx-ets-config-tlv", "dcbx-ets-recomm-tlv", "dcbx-pfc-tlv"} {
				n.set(word, b.words.flag(q.DCBX.Value.Mode == "advertise"), at("dcbx"), "lldp", tlv)
			}
		}
	}
	if q.Watchdog.IsSet() && (q.Watchdog.Value.On || q.PFC.Or(q.Lossless) != 0) {
		n.set(word, enableDisable(q.Watchdog.Value.On), at("watchdog"), "qos", "pfc-watchdog", "state")
	}
}

// cable writes the length of a PFC profile, which stands in its name.
func (b *builder) cable(q *intent.QoS, pfc string, at func(string) intent.Path) {
	if pfc == "" {
		return
	}
	if m := lengthed.FindStringSubmatch(pfc); m != nil {
		b.root.set(number, m[1], at("pfc"), "qos", "pfc", pfc, "cable-length")
	}
}

// fill writes a profile.
func (b *builder) fill(n *node, kind string, q *intent.QoS, at func(string) intent.Path) {
	switch kind {
	case "mapping":
		mapping(n, q, at)
	case "pfc":
		n.set(word, "enable", at("pfc"), "tx")
		n.set(word, "enable", at("pfc"), "rx")
		for _, p := range q.PFC.Value.List() {
			n.at(at("pfc"), "switch-priority", decimal(p))
		}
	case "egress-scheduler":
		for tc, s := range q.Sched.Value {
			switch s.Kind {
			case intent.SchedETS:
				if s.Percent == 0 {
					continue // a class that the profile leaves out has the weight 0; NVUE takes 1 to 100 [Egress Scheduler]
				}
				n.set(word, "dwrr", at("ets"), "traffic-class", strconv.Itoa(tc), "mode")
				n.set(number, decimal(s.Percent), at("ets"), "traffic-class", strconv.Itoa(tc), "bw-percent")
			case intent.SchedStrict:
				n.set(word, "strict", at("strict"), "traffic-class", strconv.Itoa(tc), "mode")
			}
		}
	case "egress-shaper":
		for tc, s := range q.Sched.Value {
			if s.CapMbps > 0 { // in kbit/s
				n.set(number, strconv.FormatUint(uint64(s.CapMbps)*1000, 10), at("cap"), "traffic-class", strconv.Itoa(tc), "max-rate")
			}
		}
	case "congestion-control":
		for tc, e := range q.ECN.Value {
			c := n.at(at("ecn"), "traffic-class", strconv.Itoa(tc))
			c.set(word, enableDisable(e.On), at("ecn"), "ecn")
			if e.On {
				c.set(number, decimal(e.MinBytes), at("ecn"), "min-threshold")
				c.set(number, decimal(e.MaxBytes), at("ecn"), "max-threshold")
				c.set(number, decimal(e.Probability), at("ecn"), "probability")
				c.set(word, "disable", at("ecn"), "red")
			}
		}
	case "remark":
		// The flag is read on the port of ingress, the map on that of egress
		// [Quality of Service, Remarking]; one profile holds both.
		n.set(word, "l3", at("remap"), "rewrite")
		for p, dscp := range q.Rewrite.Value {
			n.set(number, decimal(dscp), at("remap"), "switch-priority", strconv.Itoa(p), "dscp")
		}
	}
}

// mapping writes a trust and both maps, as the switch has both and the trust
// picks one. Frames without a trusted mark go where the mark 0 goes. [Quality
// of Service, Classification]
func mapping(n *node, q *intent.QoS, at func(string) intent.Path) {
	trust := map[intent.Trust]string{intent.TrustDSCP: "l3", intent.TrustPCP: "l2", intent.TrustNone: "port"}
	unmarked := targets.Untrusted(q)
	if q.Trust.Value == intent.TrustPCP {
		unmarked = q.PCP.Value[0]
	}
	n.set(word, trust[q.Trust.Value], at("trust"), "trust")
	n.set(number, decimal(unmarked), at("trust"), "port-default-sp")
	for mark, p := range q.DSCP.Value {
		if q.DSCP.IsSet() {
			n.set(number, decimal(p), at("dscp_map"), "dscp", strconv.Itoa(mark), "switch-priority")
		}
	}
	for mark, p := range q.PCP.Value {
		if q.PCP.IsSet() {
			n.set(number, decimal(p), at("pcp_map"), "pcp", strconv.Itoa(mark), "switch-priority")
		}
	}
}

func enableDisable(on bool) string {
	if on {
		return "enable"
	}
	return "disable"
}

// wide writes what the switch has once: the queues, the pools, the times of the
// watchdog, the RoCE mode.
func (b *builder) wide() {
	d := b.device
	tc, _, _ := queueMap(d)
	var pausing *intent.QoS
	for i := range d.QoS {
		q := &d.QoS[i]
		if !used(d, q.Name) {
			continue
		}
		at := func(field string) intent.Path {
			return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
		}
		if q.TC.IsSet() && !b.roce {
			for p, tc := range tc {
				b.root.set(number, decimal(tc), at("queue_map"), "qos", "egress-queue-mapping", global, "switch-priority", strconv.Itoa(p), "traffic-class")
			}
		}
		if pausing == nil && q.PFC.Or(0) != 0 {
			pausing = q
		}
		if w := q.Watchdog; w.IsSet() && w.Value.On {
			if poll, robustness, _ := timing(w.Value); poll > 0 {
				b.root.set(number, decimal(poll), at("watchdog"), "qos", "pfc-watchdog", "polling-interval")
				if robustness > 0 {
					b.root.set(number, decimal(robustness), at("watchdog"), "qos", "pfc-watchdog", "robustness")
				}
			}
		}
	}
	if pausing != nil {
		b.pools(intent.Path{Object: intent.OfQoS, Name: pausing.Name, Field: "pfc"})
	}
	if a := d.Buffer.AlphaExponent; a.IsSet() {
		b.root.set(word, alphas[a.Value-minAlpha], intent.Path{Object: intent.OfDevice, Field: "buffer"},
			"qos", "advance-buffer-config", global, "ingress-lossless-buffer", "shared-alpha")
	}
}

// pools are those of lossless and of other traffic without the RoCE mode, and
// poolPercent the share that each gets.
var pools = []string{"default-lossless", "default-lossy"}

const poolPercent = "50"

// pools gives lossless traffic its half of the packet buffer, which PFC needs
// first [Quality of Service, Flow Control Buffers]. There is one lossless pool:
// that of the RoCE mode or this one, so the mode is switched off.
func (b *builder) pools(at intent.Path) {
	if b.roce {
		b.root.set(word, b.words.on, at, "qos", "roce", b.words.enable)
		b.root.set(word, "lossless", at, "qos", "roce", "mode")
		return
	}
	b.root.set(word, b.words.off, at, "qos", "roce", b.words.enable)
	for _, pool := range pools {
		b.root.set(number, poolPercent, at, "qos", "traffic-pool", pool, "memory-percent")
	}
}

// used reports whether a port that is written names a QoS value.
func used(d *intent.Device, qos string) bool {
	for i := range d.Ports {
		if p := &d.Ports[i]; p.QoS == qos && !p.Verify {
			return true
		}
	}
	return false
}

// defaultPoll is how often the watchdog looks, in milliseconds, where nothing
// says otherwise, and defaultRobustness how often in a row it has to see a
// pause [Quality of Service, PFC Watchdog].
const defaultPoll, defaultRobustness = 100, 3

// timing turns a detection time into polling intervals. Zeros mean that the
// switch keeps its own; ok is false if the time is no multiple of the interval.
func timing(w intent.Watchdog) (poll, robustness uint32, ok bool) {
	poll = w.PollMs
	if w.DetectMs == 0 {
		return poll, 0, true
	}
	if poll == 0 {
		poll = defaultPoll
	}
	return poll, w.DetectMs / poll, w.DetectMs%poll == 0
}
