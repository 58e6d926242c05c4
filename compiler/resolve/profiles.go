package resolve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// profile is what a port does with traffic: its contract laid out as maps, and
// whatever the port or its device restates laid over them.
func (r *resolver) profile(p fabric.PortID, s *scope, segments []lang.BlockID) fabric.ProfileID {
	row := &r.f.Ports[p]
	host := r.f.Devices[row.Device].Kind == fabric.Node
	q, kept := r.contractOf(p, s, segments)
	if q == 0 {
		return 0
	}
	if kept {
		row.Flags |= fabric.Kept
	}
	prof := r.lay(q, host)
	r.deviate(&prof, s, host)
	r.keepOf(&prof, p, s)
	r.found(&prof, p, s, host)
	r.compose(&prof)
	return r.profileID(prof)
}

// profileID interns a profile.
func (r *resolver) profileID(prof fabric.Profile) fabric.ProfileID {
	if id, ok := r.profiles[prof]; ok {
		return id
	}
	id := fabric.ProfileID(len(r.f.Profiles))
	r.f.Profiles = append(r.f.Profiles, prof)
	r.profiles[prof] = id
	return id
}

// contractOf finds the qos of a port: the nearest written one, else that of its
// segments, else that of the defaults. An external port has qos.untrusted unless it or
// its LAG says otherwise: what is said of many does not make an outside peer trusted.
func (r *resolver) contractOf(p fabric.PortID, s *scope, segments []lang.BlockID) (q fabric.QoSID, kept bool) {
	row := &r.f.Ports[p]
	v, from := s.where(schema.AQoS)
	by := from.by
	if row.Flags&fabric.External != 0 && v.Kind == lang.Handle && from.height != fabric.AtItself && from.height != fabric.AtLAG {
		return r.untrusted, false
	}
	if by != 0 && r.cfg.Blocks[by].Kind == schema.Segment {
		v = lang.Value{}
		if q, ok := r.segmentContract(p, segments); ok {
			return q, false
		}
	}
	switch {
	case v.Kind == lang.Handle:
		return r.qosOf[lang.BlockID(v.N)], false
	case r.cfg.IsWord(v, "keep"):
		return r.keptContract(p, s, by), true
	case row.Flags&fabric.External != 0:
		return r.untrusted, false
	}
	return 0, false
}

// segmentContract is the one qos of the segments on a port. Two different ones
// are an error until the port says.
func (r *resolver) segmentContract(p fabric.PortID, segments []lang.BlockID) (fabric.QoSID, bool) {
	var from lang.BlockID
	var q fabric.QoSID
	for _, b := range segments {
		mine := r.f.Segments[r.segmentOf[b]].QoS
		if mine == 0 {
			continue
		}
		if q != 0 && mine != q {
			r.fail(fmt.Sprintf("port %s carries segment %s with qos %s and segment %s with qos %s", r.f.PortName(p),
				r.blockName(from), r.f.Text(r.f.QoS[q].Name), r.blockName(b), r.f.Text(r.f.QoS[mine].Name)),
				"write qos on the port", r.f.PortLabel(p, schema.ASegments, ""), r.at(from, schema.AQoS, "one"), r.at(b, schema.AQoS, "the other"))
			return q, true
		}
		q, from = mine, b
	}
	return q, q != 0
}

// keptContract is the vendor's default, as the model's data states it.
func (r *resolver) keptContract(p fabric.PortID, s *scope, by lang.BlockID) fabric.QoSID {
	q, model := r.vendorDefault(p, s)
	if q != 0 {
		return q
	}
	os := r.f.Text(r.f.Devices[r.f.Ports[p].Device].OSName)
	r.fail(fmt.Sprintf("qos of %s is kept at the vendor's default, and the data of model %s does not state it for os %s", r.f.PortName(p), model, os),
		"write a qos, or add defaults to the model", r.at(by, schema.AQoS, ""))
	return 0
}

// vendorDefault is the contract that a port has out of the box, as the data of its model
// state it, 0 if they do not; and the name of the model.
func (r *resolver) vendorDefault(p fabric.PortID, s *scope) (fabric.QoSID, string) {
	dev := &r.f.Devices[r.f.Ports[p].Device]
	os := r.f.Text(dev.OSName)
	if dev.Kind == fabric.Node {
		m := &r.f.NICModels[r.nicModel[r.cfg.Text(s.get(schema.AModel))]]
		return m.Defaults[os], r.f.Text(m.Name)
	}
	m := &r.f.Models[dev.Model]
	return m.Defaults[os], r.f.Text(m.Name)
}

// keptOf are the parts of a profile that a port can keep as the device has them, and how
// one of them is taken from the vendor's default. Marking and the watchdog have a mode for
// it, as classes can keep them too.
var keptOf = []struct {
	attr schema.Attr
	bit  uint16
	take func(p, from *fabric.Profile)
}{
	{schema.ATrust, fabric.DeviatesTrust, func(p, from *fabric.Profile) { p.Trust = from.Trust }},
	{schema.ADSCPMap, fabric.DeviatesDSCP, func(p, from *fabric.Profile) { p.DSCP = from.DSCP }},
	{schema.APCPMap, fabric.DeviatesPCP, func(p, from *fabric.Profile) { p.PCP = from.PCP }},
	{schema.AQueueMap, fabric.DeviatesQueue, func(p, from *fabric.Profile) { p.Queue = from.Queue }},
	{schema.AGroupMap, fabric.DeviatesGroup, func(p, from *fabric.Profile) { p.Group = from.Group }},
	{schema.APFC, fabric.DeviatesPFC, func(p, from *fabric.Profile) { p.PFC = from.PFC }},
	{schema.APFCQueueMap, fabric.DeviatesPFCQueue, func(p, from *fabric.Profile) { p.PFCQueue = from.PFCQueue }},
	{schema.APause, fabric.DeviatesPause, func(p, from *fabric.Profile) { p.Pause = from.Pause }},
	{schema.AETS, fabric.DeviatesETS, func(p, from *fabric.Profile) { p.Sched = from.Sched }},
	{schema.ADCBX, fabric.DeviatesDCBX, func(p, _ *fabric.Profile) { p.DCBX = fabric.DCBX{} }},
	{schema.AECN, fabric.DeviatesECN, func(p, _ *fabric.Profile) {
		for q := range p.ECN {
			if p.ECN[q].Mode != fabric.Unwritten {
				p.ECN[q] = fabric.ECN{Mode: fabric.Keep}
			}
		}
	}},
	{schema.AWatchdog, fabric.DeviatesWatchdog, func(p, _ *fabric.Profile) { p.Watchdog = fabric.Watchdog{Mode: fabric.Keep} }},
}

// keepOf lays over a profile what the port or its device keeps: the vendor's default where
// that is stated. Where it is not, the contract's stays, and whoever proves something by it
// has to know that it is not known.
func (r *resolver) keepOf(prof *fabric.Profile, p fabric.PortID, s *scope) {
	if !r.folds.keeps {
		return
	}
	vendor := fabric.Profile{}
	for _, k := range keptOf {
		if !s.keeps(k.attr) {
			continue
		}
		if prof.Kept == 0 {
			vendor = *prof
			if q, _ := r.vendorDefault(p, s); q != 0 {
				vendor, prof.Known = r.lay(q, prof.Host), true
			}
		}
		prof.Kept |= k.bit
		prof.Deviates |= k.bit
		k.take(prof, &vendor)
	}
}

// laid are the priorities whose queue or group some class has written.
type laid struct{ queue, group [8]bool }

// lay lays a contract out as maps. Every code point that no class declares goes
// to the default class: nothing undeclared becomes lossless.
func (r *resolver) lay(id fabric.QoSID, host bool) fabric.Profile {
	q := &r.f.QoS[id]
	p := fabric.Profile{QoS: id, Host: host, Trust: q.Trust}
	def := fabric.Class{}
	for _, c := range q.Classes {
		if c.Default {
			def = c
		}
	}
	for i := range p.DSCP {
		p.DSCP[i] = def.Priority
	}
	for i := range p.PCP {
		p.PCP[i], p.Queue[i], p.Group[i], p.PFCQueue[i] = def.Priority, def.Queue, def.Group, def.Queue
	}
	if host {
		p.DCBX = fabric.DCBX{Mode: fabric.DCBXOff}
	} else {
		p.DCBX = q.DCBX
	}
	var said laid
	// What two classes claim is that of the greater priority, whichever comes first.
	inOrder := slices.SortedStableFunc(slices.Values(q.Classes), func(a, b fabric.Class) int { return cmp.Compare(a.Priority, b.Priority) })
	for _, c := range inOrder {
		r.layClass(&p, c, host, &said)
	}
	if q.Trust == fabric.TrustNone {
		for i := range p.DSCP {
			p.DSCP[i] = def.Priority
		}
		for i := range p.PCP {
			p.PCP[i] = def.Priority
		}
	}
	// Global pause would make everything lossless, whatever the classes say.
	p.PauseSet = true
	return p
}

// layClass lays one class. Two that write otherwise of what they share are ROCE230.
func (r *resolver) layClass(p *fabric.Profile, c fabric.Class, host bool, said *laid) {
	for d := range p.DSCP {
		if c.DSCP>>d&1 == 1 {
			p.DSCP[d] = c.Priority
		}
	}
	p.PCP[c.Priority] = c.Priority
	// Of classes with one priority what is written counts, not what goes without saying.
	if c.QueueSet || !said.queue[c.Priority] {
		p.Queue[c.Priority], p.PFCQueue[c.Priority], said.queue[c.Priority] = c.Queue, c.Queue, c.QueueSet
	}
	if c.GroupSet || !said.group[c.Priority] {
		p.Group[c.Priority], said.group[c.Priority] = c.Group, c.GroupSet
	}
	if c.Queue < 8 {
		s := &p.Sched[c.Queue]
		s.Used = true
		s.Strict = s.Strict || c.Strict
		if !c.Strict {
			s.Percent += c.Percent
			s.PercentSet = s.PercentSet || c.PercentSet
		}
		s.CapMbps, s.CapPercent = max(s.CapMbps, c.CapMbps), max(s.CapPercent, c.CapPercent)
		if !host && c.ECN.Mode != fabric.Unwritten {
			p.ECN[c.Queue] = c.ECN
		}
	}
	if !c.Lossless {
		return
	}
	p.PFC |= 1 << c.Priority
	if host {
		return
	}
	switch w := c.Watchdog; {
	case w.Mode != fabric.Unwritten:
		p.Watchdog = w
	case p.Watchdog.Mode == fabric.Unwritten:
		p.Watchdog.Mode = fabric.Auto
	}
}

// deviate lays over the maps what the port or its device restates.
func (r *resolver) deviate(p *fabric.Profile, s *scope, host bool) {
	set := func(n schema.Attr, bit uint16) (lang.Value, bool) {
		v := s.get(n)
		if v.Kind == lang.Absent {
			return v, false
		}
		p.Deviates |= bit
		return v, true
	}
	if v, ok := set(schema.ATrust, fabric.DeviatesTrust); ok {
		p.Trust = trustOf(r.cfg.Text(v))
	}
	r.overlay(s, schema.ADSCPMap, fabric.DeviatesDSCP, p, p.DSCP[:])
	r.overlay(s, schema.APCPMap, fabric.DeviatesPCP, p, p.PCP[:])
	r.overlay(s, schema.AQueueMap, fabric.DeviatesQueue, p, p.Queue[:])
	r.overlay(s, schema.AGroupMap, fabric.DeviatesGroup, p, p.Group[:])
	r.overlay(s, schema.APFCQueueMap, fabric.DeviatesPFCQueue, p, p.PFCQueue[:])
	if v, ok := set(schema.APFC, fabric.DeviatesPFC); ok {
		p.PFC = r.prioritySet(v)
	}
	if v, ok := set(schema.APause, fabric.DeviatesPause); ok {
		p.Pause, p.PauseSet = v.N == 1, true
	}
	if v, ok := set(schema.AETS, fabric.DeviatesETS); ok {
		r.ets(p, v)
	}
	if v, ok := set(schema.ADCBX, fabric.DeviatesDCBX); ok {
		p.DCBX = r.dcbx(v)
	}
	if host {
		for _, n := range [3]schema.Attr{schema.AECN, schema.AWatchdog, schema.AGroupMap} {
			if _, by := s.find(n); by != 0 {
				r.fail(fmt.Sprintf("%s is for ports of switches: a NIC has none", n.Name()), "write it on the switch port, or leave it out", r.at(by, n, ""))
			}
		}
		return
	}
	if v, ok := set(schema.AECN, fabric.DeviatesECN); ok {
		e, marks := r.ecn(v), false
		for q := range p.ECN {
			if p.ECN[q].Mode == fabric.Auto || p.ECN[q].Mode == fabric.Written {
				p.ECN[q], marks = e, true
			}
		}
		// What is said of many is of those that mark.
		if _, l := s.where(schema.AECN); !marks && e.Mode != fabric.Off && l.height == fabric.AtItself {
			r.fail(fmt.Sprintf("ecn is written for a port, and no class of its qos %s marks", r.f.Text(r.f.QoS[p.QoS].Name)),
				"write ecn in the class that is to mark, or leave it out here", r.at(l.by, schema.AECN, ""), r.f.DeclLabel(r.f.QoS[p.QoS].Decl, "the qos"))
		}
	}
	if v, ok := set(schema.AWatchdog, fabric.DeviatesWatchdog); ok {
		p.Watchdog = r.watchdog(v)
	}
}

func (r *resolver) overlay(s *scope, n schema.Attr, bit uint16, p *fabric.Profile, m []uint8) {
	v := s.get(n)
	if v.Kind != lang.Map {
		return
	}
	p.Deviates |= bit
	for _, e := range r.cfg.Pairs(v) {
		if k := e.Key.N; k >= 0 && int(k) < len(m) {
			m[k] = uint8(e.Val.N)
		}
	}
}

// ets takes the shares as found: by traffic class, a percent or "strict".
func (r *resolver) ets(p *fabric.Profile, v lang.Value) {
	p.Sched = [8]fabric.Sched{}
	for _, e := range r.cfg.Pairs(v) {
		s := &p.Sched[e.Key.N&7]
		s.Used = true
		if r.cfg.IsWord(e.Val, "strict") {
			s.Strict = true
		} else {
			s.Percent, s.PercentSet = uint8(e.Val.N), true
		}
	}
}

// compose finds where each class of the contract lands on this port, by its
// maps as they are, deviations included.
func (r *resolver) compose(p *fabric.Profile) {
	q := &r.f.QoS[p.QoS]
	var declared uint64
	def := uint8(0)
	for _, c := range q.Classes {
		declared |= c.DSCP
		if c.Default {
			def = c.Priority
		}
	}
	for i, c := range q.Classes {
		on := &p.On[i]
		on.Priority = def
		first := true
		visit := func(priority uint8) {
			if first {
				on.Priority, first = priority, false
			} else if priority != on.Priority {
				on.Split = true
			}
		}
		switch {
		case p.Trust == fabric.TrustDSCP:
			points := c.DSCP
			if c.Default {
				points |= ^declared
			}
			for d := range p.DSCP {
				if points>>d&1 == 1 {
					visit(p.DSCP[d])
				}
			}
		case p.Trust == fabric.TrustPCP:
			visit(p.PCP[c.Priority])
		}
		on.Queue, on.Group = p.Queue[on.Priority&7], p.Group[on.Priority&7]
		on.PFC = p.PFC>>on.Priority&1 == 1
	}
}
