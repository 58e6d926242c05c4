package lower

import (
	"math/bits"
	"reflect"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// qosKey is all that a QoS value of one device depends on.
type qosKey struct {
	profile fabric.ProfileID
	ecn     [8]intent.ECN
	caps    [8]uint32
}

// qos is the name of the QoS value of a port. Equal values of one qos are one,
// named after it; others of that qos get a number.
func (b *builder) qos(p fabric.PortID) string {
	facts := b.facts.Port(p)
	key := qosKey{profile: b.f.Ports[p].Profile, caps: facts.CapMbps}
	for q := range facts.ECN {
		key.ecn[q] = markingOf(&facts.ECN[q])
	}
	if i, ok := b.qosKeys[key]; ok {
		return b.out.QoS[i].Name
	}
	q := b.value(key)
	contract := b.f.Profiles[key.profile].QoS
	for i, first := range b.uses {
		q.Name = b.out.QoS[i].Name
		if b.f.Profiles[b.f.Ports[first].Profile].QoS == contract && reflect.DeepEqual(q, b.out.QoS[i]) {
			b.qosKeys[key] = i
			return q.Name
		}
	}
	q.Name = b.unique(plain(b.f.Text(b.f.QoS[contract].Name)))
	b.qosKeys[key] = len(b.out.QoS)
	b.out.QoS = append(b.out.QoS, q)
	b.uses = append(b.uses, p)
	return q.Name
}

// unique is a name that no QoS of the device has yet.
func (b *builder) unique(name string) string {
	next := name
	for n := 2; ; n++ {
		taken := false
		for i := range b.out.QoS {
			taken = taken || b.out.QoS[i].Name == next
		}
		if !taken {
			return next
		}
		next = name + "-" + strconv.Itoa(n)
	}
}

// plain is a name in the letters that intents allow.
func plain(name string) string {
	clean := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, name)
	if clean == "" {
		return "qos"
	}
	return clean
}

func markingOf(e *derive.ECN) intent.ECN {
	if !e.On {
		return intent.ECN{}
	}
	return intent.ECN{On: true, MinBytes: e.MinBytes, MaxBytes: e.MaxBytes, Probability: e.Probability}
}

// value is the QoS of a key, without its name.
func (b *builder) value(key qosKey) intent.QoS {
	p := &b.f.Profiles[key.profile]
	classes := b.f.QoS[p.QoS].Classes
	q := intent.QoS{TC: intent.Some(p.Queue), PFC: intent.Some(intent.PrioritySet(p.PFC)), Sched: intent.Some(schedule(p, key.caps))}
	for i := range classes {
		if classes[i].Lossless {
			q.Lossless = q.Lossless.With(p.On[i].Priority)
		}
	}
	classification(p, classes, &q)
	if b.host {
		q.DSCP, q.PCP = hostMaps(p)
	}
	if p.PauseSet {
		q.Pause = intent.Some(p.Pause)
	} else if p.PFC != 0 { // a link runs one of the two
		q.Pause = intent.Some(false)
	}
	if b.host {
		q.Marks = b.marks(p, classes)
		keepIn(p, &q)
		return q
	}
	q.Group, q.PFCQueue = intent.Some(p.Group), intent.Some(p.PFCQueue)
	q.ECN = ecnOf(p, key.ecn)
	if p.DCBX.Mode != fabric.DCBXUnset {
		q.DCBX = intent.Some(dcbxOf(p.DCBX))
	}
	q.Watchdog = b.watchdog(p, uint8(q.Lossless)&p.PFC != 0)
	q.Rewrite = b.rewrite(p, classes)
	keepIn(p, &q)
	return q
}

// keepIn takes out of a QoS what its ports leave as the device has it.
func keepIn(p *fabric.Profile, q *intent.QoS) {
	for _, k := range []struct {
		bit   uint16
		clear func()
	}{
		{fabric.DeviatesTrust, func() { q.Trust = intent.Opt[intent.Trust]{} }},
		{fabric.DeviatesDSCP, func() { q.DSCP = intent.Opt[[64]uint8]{} }},
		{fabric.DeviatesPCP, func() { q.PCP = intent.Opt[[8]uint8]{} }},
		{fabric.DeviatesQueue, func() { q.TC = intent.Opt[[8]uint8]{} }},
		{fabric.DeviatesGroup, func() { q.Group = intent.Opt[[8]uint8]{} }},
		{fabric.DeviatesPFC, func() { q.PFC = intent.Opt[intent.PrioritySet]{} }},
		{fabric.DeviatesPFCQueue, func() { q.PFCQueue = intent.Opt[[8]uint8]{} }},
		{fabric.DeviatesPause, func() { q.Pause = intent.Opt[bool]{} }},
		{fabric.DeviatesETS, func() { q.Sched = intent.Opt[[8]intent.Sched]{} }},
	} {
		if p.Kept&k.bit != 0 {
			k.clear()
		}
	}
}

// classification is the trust with both maps. A port that trusts nothing puts
// every frame where the default class is.
func classification(p *fabric.Profile, classes []fabric.Class, q *intent.QoS) {
	dscp, pcp := p.DSCP, p.PCP
	switch p.Trust {
	case fabric.TrustDSCP:
		q.Trust = intent.Some(intent.TrustDSCP)
	case fabric.TrustPCP:
		q.Trust = intent.Some(intent.TrustPCP)
	case fabric.TrustNone:
		q.Trust = intent.Some(intent.TrustNone)
		prio := uint8(0)
		for i := range classes {
			if classes[i].Default {
				prio = p.On[i].Priority
			}
		}
		for i := range dscp {
			dscp[i] = prio
		}
		for i := range pcp {
			pcp[i] = prio
		}
	}
	q.DSCP, q.PCP = intent.Some(dscp), intent.Some(pcp)
}

// hostMaps are the maps of a NIC: that of the mark it trusts, and what the source
// restates of the other, which is idle otherwise. A NIC takes the PCP for the
// priority, so a map that sends an undeclared PCP where the default class is says
// nothing else than identity as long as both priorities are served alike.
func hostMaps(p *fabric.Profile) (dscp intent.Opt[[64]uint8], pcp intent.Opt[[8]uint8]) {
	if p.Trust == fabric.TrustDSCP || p.Deviates&fabric.DeviatesDSCP != 0 {
		dscp = intent.Some(p.DSCP)
	}
	if p.Deviates&fabric.DeviatesPCP != 0 {
		return dscp, intent.Some(p.PCP)
	}
	if p.Trust == fabric.TrustPCP {
		m := p.PCP
		for i := range m {
			to := m[i] & 7
			if p.Queue[i] == p.Queue[to] && p.PFC>>i&1 == p.PFC>>to&1 {
				m[i] = uint8(i)
			}
		}
		pcp = intent.Some(m)
	}
	return dscp, pcp
}

// schedule is how each traffic class is served; those that no class uses are idle.
func schedule(p *fabric.Profile, caps [8]uint32) (s [8]intent.Sched) {
	for q := range p.Sched {
		switch x := &p.Sched[q]; {
		case !x.Used:
		case x.Strict:
			s[q] = intent.Sched{Kind: intent.SchedStrict, CapMbps: caps[q]}
		default:
			s[q] = intent.Sched{Kind: intent.SchedETS, Percent: x.Percent, CapMbps: caps[q]}
		}
	}
	return s
}

// ecnOf is managed if any class says something of marking, and left at the
// vendor's default if all that is said is "keep".
func ecnOf(p *fabric.Profile, marking [8]intent.ECN) intent.Opt[[8]intent.ECN] {
	kept, decided := false, false
	for q := range p.ECN {
		switch p.ECN[q].Mode {
		case fabric.Keep:
			kept = true
		case fabric.Off, fabric.Auto, fabric.Written:
			decided = true
		}
	}
	switch {
	case decided:
		return intent.Some(marking)
	case kept:
		return intent.Kept(marking)
	}
	return intent.Opt[[8]intent.ECN]{}
}

// watchdog is that of a switch port with a lossless class, on by itself where
// the device has one.
func (b *builder) watchdog(p *fabric.Profile, lossless bool) intent.Opt[intent.Watchdog] {
	w := &p.Watchdog
	switch has := b.hasWatchdog(); {
	case w.Mode == fabric.Keep:
		return intent.Kept(intent.Watchdog{})
	case !lossless: // nothing of the port can be stuck by a pause
	case w.Mode == fabric.Written:
		actions := [...]string{fabric.ActionUnset: "", fabric.Drop: "drop", fabric.Forward: "forward", fabric.Alert: "alert"}
		return intent.Some(intent.Watchdog{On: true, DetectMs: w.DetectMs, RestoreMs: w.RestoreMs, PollMs: w.PollMs, Action: actions[w.Action]})
	case w.Mode == fabric.Off && has:
		return intent.Some(intent.Watchdog{})
	case w.Mode != fabric.Off && has:
		return intent.Some(intent.Watchdog{On: true})
	}
	return intent.Opt[intent.Watchdog]{}
}

func (b *builder) hasWatchdog() bool {
	if b.model == nil {
		return false
	}
	if has, stated := b.model.Watchdog[b.out.OS.Name]; stated {
		return has
	}
	return b.model.Watchdog["*"]
}

// rewrite is the mark written on the way out, where a class with remap has
// another priority on this port than its contract says. Every priority then
// gets the first code point of its class, as the map of a device is total.
func (b *builder) rewrite(p *fabric.Profile, classes []fabric.Class) intent.Opt[[8]uint8] {
	var m [8]uint8
	var taken uint8
	declared := false
	for _, i := range b.classOrder(p, classes) {
		c, prio := &classes[i], p.On[i].Priority&7
		declared = declared || c.Remap && prio != c.Priority
		if c.DSCP != 0 && taken>>prio&1 == 0 {
			m[prio] = lowest(c.DSCP)
			taken |= 1 << prio
		}
	}
	if !declared {
		return intent.Opt[[8]uint8]{}
	}
	return intent.Some(m)
}

// lowest is the first code point of a set that is not empty.
func lowest(set uint64) uint8 { return uint8(bits.TrailingZeros64(set)) & 63 }

// marks are the classes as a host has to mark and match them. A DSCP that a class
// writes is marked under trust in PCP too: Linux finds the PCP of RDMA by it.
// Congestion control
// is said only where the source says it: adapters run DCQCN by themselves where
// switches mark, and a target should not have to refuse what nobody wrote.
func (b *builder) marks(p *fabric.Profile, classes []fabric.Class) []intent.Mark {
	carries := [...]string{
		fabric.CarriesDefault: "", fabric.CarriesRDMA: "rdma", fabric.CarriesCNP: "cnp", fabric.CarriesCluster: "cluster", fabric.CarriesOther: "other",
	}
	list := make([]intent.Mark, 0, len(classes))
	for _, i := range b.classOrder(p, classes) {
		c := &classes[i]
		m := intent.Mark{
			Class: b.f.Text(c.Name), Carries: carries[c.Carries], Priority: p.On[i].Priority, Application: c.MarkByApplication,
			NetDirectPort: c.NetDirectPort, TCPPort: c.TCPPort, UDPPort: c.UDPPort, Default: c.Default,
		}
		if p.Trust != fabric.TrustNone && c.DSCP != 0 && !c.Default && !c.MarkByApplication {
			m.DSCP = intent.Some(lowest(c.DSCP))
		}
		if c.CongestionSet {
			m.Congestion = [...]string{fabric.CongestionNone: "", fabric.DCQCN: "dcqcn", fabric.Receiver: "receiver"}[c.Congestion]
		}
		if c.Carries == fabric.CarriesRDMA {
			m.Transport = [...]string{fabric.TransportUnset: "roce_v2", fabric.RoCEv2: "roce_v2", fabric.RoCEv1: "roce_v1", fabric.IWARP: "iwarp"}[c.Transport]
			m.ECT = m.Transport == "roce_v2" && (c.ECN.Mode == fabric.Auto || c.ECN.Mode == fabric.Written)
		}
		list = append(list, m)
	}
	return list
}
