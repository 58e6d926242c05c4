package sonic

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

func (l *limit) qos(q *intent.QoS) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	targets.LimitTrust(q, l.refuse)
	targets.LimitShares(q, "the weights of SONiC begin at 1", l.refuse)
	l.pfc(q, at)
	if x := q.DCBX; x.IsSet() && x.Value.Mode == "off" && (x.Value.Version != "" || x.Value.Owner != "") {
		l.refuse("dcbx is off and has a version or an owner", `write dcbx = "off"`, at("dcbx"))
	}
	if q.Watchdog.IsSet() {
		l.watchdog(q, at("watchdog"))
	}
}

func (l *limit) pfc(q *intent.QoS, at func(string) intent.Path) {
	d := l.device
	f := familyOf(d.ASIC)
	lossless := q.Lossless | q.PFC.Or(0)
	if f.onlyThreeAndFour() && lossless&^(1<<3|1<<4) != 0 {
		l.refuse(fmt.Sprintf("qos %q makes %s lossless; SONiC on %s takes 3 and 4 only", q.Name, lossless, d.ASIC),
			"give lossless classes priority 3 or 4", at("pfc"))
	}
	if !q.PFC.IsSet() {
		return
	}
	if bufferModel(d) == dynamic {
		return
	}
	// The traditional buffer manager reads pfc_enable and nothing else, and takes
	// the priority for the number of the group (buffermgr.cpp, doSpeedUpdateTask).
	if q.Lossless != q.PFC.Value {
		l.refuse(fmt.Sprintf("qos %q has PFC on %s and lossless classes on %s", q.Name, q.PFC.Value, q.Lossless),
			"make them the same: the buffer manager gives headroom to every priority with PFC, and to no other", at("pfc"))
	}
	if !q.Group.IsSet() {
		return
	}
	for _, p := range q.PFC.Value.List() {
		if g := q.Group.Value[p]; g != p {
			l.refuse(fmt.Sprintf("priority %d of qos %q is in group %d", p, q.Name, g),
				fmt.Sprintf("put it in group %d: the buffer manager gives headroom to the group of the same number", p), at("group_map"))
		}
	}
}

func (l *limit) watchdog(q *intent.QoS, at intent.Path) {
	w := q.Watchdog.Value
	if !w.On {
		return
	}
	if q.PFC.Or(q.Lossless) == 0 {
		l.refuse(fmt.Sprintf("qos %q has a watchdog and no priority with PFC", q.Name), `write watchdog = "off"`, at)
	}
	if w.Action != "" && w.Action != "drop" && w.Action != "forward" && w.Action != "alert" {
		l.refuse(fmt.Sprintf("watchdog action %q is not known to SONiC", w.Action), `write "drop", "forward" or "alert"`, at)
	}
	own, poll := ownTimes(l.device, w), pollMs(l.device)
	// Where the SAI of Broadcom has its own recovery, its action is one for the
	// switch, and orchagent drops the row of a port that has another
	// [pfcwdorch.cpp createEntry, checkPfcDlrInitEnable, alike from 202205 to master].
	if o := otherAction(l.device, q, own.Action); o != nil && familyOf(l.device.ASIC) == broadcom {
		l.refuse(fmt.Sprintf("the watchdog of qos %q has the action %s, that of qos %q another", q.Name, own.Action, o.Name),
			"write one action: "+l.device.ASIC+" has one for the switch", at, intent.Path{Object: intent.OfQoS, Name: o.Name, Field: "watchdog"})
	}
	for _, t := range []struct {
		what      string
		ms        uint32
		low, high uint32
	}{{"detection", own.DetectMs, minDetect, maxDetect}, {"restoration", own.RestoreMs, minRestore, maxRestore}, {"polling", poll, minPoll, maxPoll}} {
		if t.ms < t.low || t.ms > t.high {
			l.refuse(fmt.Sprintf("watchdog %s time %d ms is not in %d to %d ms", t.what, t.ms, t.low, t.high), "write a time in that range", at)
		}
	}
	if own.DetectMs < poll || own.RestoreMs < poll {
		l.refuse(fmt.Sprintf("watchdog polls every %d ms, longer than its times of %d and %d ms", poll, own.DetectMs, own.RestoreMs), "write a shorter poll", at)
	}
	if w.PollMs > 0 && w.PollMs != poll {
		l.refuse(fmt.Sprintf("qos %q polls its watchdog every %d ms, another every %d ms", q.Name, w.PollMs, poll), "write one: the switch has one polling interval", at)
	}
}

// otherAction is a QoS before q whose watchdog has another action, nil if there is none.
func otherAction(d *intent.Device, q *intent.QoS, action string) *intent.QoS {
	for i := range d.QoS {
		o := &d.QoS[i]
		if o.Name == q.Name {
			break
		}
		if w := o.Watchdog; w.IsSet() && w.Value.On && ownTimes(d, w.Value).Action != action {
			return o
		}
	}
	return nil
}

// switchWide refuses settings of ports that the switch has once.
func (l *limit) switchWide() {
	d := l.device
	if familyOf(d.ASIC) != broadcom {
		return
	}
	// The switch's own DSCP map must be absent where dot1p is bound (qos_config.j2,
	// require_global_dscp_to_tc_map) and present where DSCP is.
	var first [2]*intent.Port
	for i := range d.Ports {
		p := &d.Ports[i]
		q := d.QoSNamed(p.QoS)
		if q == nil || p.Verify || !q.Trust.IsSet() {
			continue
		}
		k := 0
		if q.Trust.Value == intent.TrustPCP {
			k = 1
		}
		if first[k] == nil {
			first[k] = p
		}
	}
	if first[0] != nil && first[1] != nil {
		at := func(p *intent.Port) intent.Path {
			return intent.Path{Object: intent.OfQoS, Name: p.QoS, Field: "trust"}
		}
		l.refuse(fmt.Sprintf("port %s trusts PCP and port %s does not; %s has one DSCP map for the switch", first[1].Name, first[0].Name, d.ASIC),
			"trust the same mark on every port", at(first[1]), at(first[0]))
	}
}

// headrooms checks sizes of lossless groups.
func (l *limit) headrooms() {
	d := l.device
	at := func(p *intent.Port) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: "headroom"}
	}
	used := false
	profiles := map[string]*intent.Port{}
	for i := range d.Ports {
		p := &d.Ports[i]
		if p.Verify {
			continue
		}
		groups := []uint8(nil)
		if q := d.QoSNamed(p.QoS); q != nil {
			groups = losslessGroups(q)
		}
		for _, h := range p.Headroom {
			if h.Written {
				l.headroom(p, h, groups, at(p))
				used = used || h.Alpha == nil
			}
		}
		if bufferModel(d) == traditional {
			l.oneProfile(p, groups, profiles, at)
		}
	}
	if a := d.Buffer.AlphaExponent; a.IsSet() {
		where := intent.Path{Object: intent.OfDevice, Field: "buffer"}
		if a.Value < -8 || a.Value > 7 {
			l.refuse(fmt.Sprintf("alpha 2^%d is not in 2^-8 to 2^7", a.Value), "write an alpha of 1/256 to 128", where)
		}
		if bufferModel(d) == traditional && !used {
			l.refuse("the traditional buffer model takes alpha from the image's own profiles", "write headroom for the ports too, or use buffer_model dynamic", where)
		}
	}
}

func (l *limit) headroom(p *intent.Port, h intent.Headroom, groups []uint8, at intent.Path) {
	d := l.device
	th, ok := threshold(d, h)
	switch {
	case !slices.Contains(groups, h.Group):
		l.refuse(fmt.Sprintf("port %s has headroom for group %d, which no lossless priority uses", p.Name, h.Group), "leave it out", at)
	case h.XoffBytes == 0:
		l.refuse(fmt.Sprintf("port %s has no headroom for group %d", p.Name, h.Group), "write a size", at)
	case sizeOf(d, h) == 0:
		l.refuse(fmt.Sprintf("port %s states no reserved size for group %d", p.Name, h.Group), "use the row of the vendor's table: a profile of "+d.ASIC+" has one", at)
	case !ok:
		l.refuse(fmt.Sprintf("port %s states no alpha for group %d", p.Name, h.Group), "write alpha: a profile of a fixed size needs its own", at)
	case th < -8 || th > 7:
		l.refuse(fmt.Sprintf("alpha 2^%d of port %s is not in 2^-8 to 2^7", th, p.Name), "write an alpha of 1/256 to 128", at)
	}
}

// oneProfile: the traditional buffer manager has one profile for all ports of
// one speed and cable and for all their lossless groups.
func (l *limit) oneProfile(p *intent.Port, groups []uint8, profiles map[string]*intent.Port, at func(*intent.Port) intent.Path) {
	if len(groups) == 0 {
		return
	}
	if !p.Mbps.IsSet() || !p.CableMm.IsSet() {
		if slices.ContainsFunc(p.Headroom, func(h intent.Headroom) bool { return h.Written }) {
			l.refuse(fmt.Sprintf("port %s has written headroom and no managed speed or cable", p.Name),
				"manage both: the buffer manager names its profile by them", at(p))
		}
		return
	}
	want := uniform(p, groups)
	if want == nil {
		l.refuse(fmt.Sprintf("port %s has different headroom for its lossless groups", p.Name), "write one size for all: the buffer manager binds one profile to them", at(p))
		return
	}
	name := lookupProfile(l.device, p)
	o := profiles[name]
	if o == nil {
		profiles[name] = p
		return
	}
	if q := l.device.QoSNamed(o.QoS); !sameHeadroom(*uniform(o, losslessGroups(q)), *want) {
		l.refuse(fmt.Sprintf("ports %s and %s have one speed and cable and different headroom", o.Name, p.Name),
			"write the same for both: they share the profile "+name, at(p), at(o))
	}
}

// uniform is the headroom that all lossless groups of a port have, a zero one
// where none is written, nil where they differ.
func uniform(p *intent.Port, groups []uint8) *intent.Headroom {
	var all []intent.Headroom
	for _, g := range groups {
		i := slices.IndexFunc(p.Headroom, func(h intent.Headroom) bool { return h.Group == g && h.Written })
		if i < 0 {
			all = append(all, intent.Headroom{})
			continue
		}
		all = append(all, p.Headroom[i])
	}
	for _, h := range all[1:] {
		if !sameHeadroom(h, all[0]) {
			return nil
		}
	}
	return &all[0]
}

func sameHeadroom(a, b intent.Headroom) bool {
	alpha := func(h intent.Headroom) int {
		if h.Alpha == nil {
			return 127
		}
		return int(*h.Alpha)
	}
	x, y := alpha(a), alpha(b)
	a.Group, b.Group, a.Alpha, b.Alpha = 0, 0, nil, nil
	return a == b && x == y
}
