package paths

import (
	"math/bits"
	"slices"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
)

// Mark is what ports classify a frame by.
type Mark struct {
	DSCP uint8
	PCP  int8 // of its tag, -1 = it has none
}

// Priority is the one that a port gives to what comes in with a mark.
func Priority(f *fabric.Fabric, p *fabric.Profile, m Mark) uint8 {
	switch {
	case p.Trust == fabric.TrustDSCP:
		return p.DSCP[m.DSCP&63] & 7
	case p.Trust == fabric.TrustPCP && m.PCP >= 0:
		return p.PCP[m.PCP&7] & 7
	case p.Trust == fabric.TrustPCP:
		return p.PCP[0] & 7
	}
	for i := range f.QoS[p.QoS].Classes {
		if f.QoS[p.QoS].Classes[i].Default {
			return p.On[i].Priority & 7
		}
	}
	return 0
}

// Rewrite is the mark with which a frame leaves by a port that writes marks
// anew: one on which a class with remap has another priority than its contract
// says. Each priority gets the first code point of its class there, 0 without one.
func Rewrite(f *fabric.Fabric, p *fabric.Profile, priority uint8) (dscp uint8, does bool) {
	classes := f.QoS[p.QoS].Classes
	first := true
	for i := range classes {
		c, prio := &classes[i], p.On[i].Priority&7
		does = does || c.Remap && prio != c.Priority
		if c.DSCP != 0 && prio == priority && first {
			dscp, first = uint8(bits.TrailingZeros64(c.DSCP)), false
		}
	}
	return dscp, does && !p.Host
}

// frameID numbers distinct frames.
type frameID int32

// frame is a class on its way.
type frame struct {
	class Class
	dscp  uint8
	pcp   int8   // that its sender writes where there is a tag
	bytes uint16 // of its largest IP packet, 0 = any
	tag   uint8  // 1 + the priority that a row of a routing table gave it, 0 = none did
}

// cable is one direction of a cable, and whether the frame has a tag on it.
type cable struct {
	out, to fabric.PortID
	tagged  bool
}

// endKind is all that judging a hop sees of a port.
type endKind struct {
	profile fabric.ProfileID
	fact    derive.FactID
	mtu     uint16
	device  fabric.DeviceKind
	hands   bool // nobody writes or compares it
}

// hopKind is all that a verdict follows from.
type hopKind struct {
	in      int8 // priority in the device, -1 = what the port out gives it: it begins there
	frame   frameID
	out, to int32 // endKinds
	tagged  bool
}

// begins is the priority of what a device sends itself.
const begins int8 = -1

// verdict is what becomes of a frame at a hop.
type verdict struct {
	next  frameID
	prio  int8 // in the next device
	fault Fault
	local bool // the ends of the cable show the fault by themselves
	ends  bool // nothing is known of what follows
}

// judge judges hops, each distinct one once.
type judge struct {
	f      *fabric.Fabric
	facts  *derive.Facts
	known  map[hopKind]verdict
	last   hopKind // and what is known of it: neighbours are mostly alike
	said   verdict
	frames []frame
	ids    map[frame]frameID
	kinds  map[endKind]int32
	ends   []endKind
	kindOf []int32 // by PortID
	pcp    bool    // some profile trusts PCP
	sends  map[sender][]frameID
	points []uint64 // code points that every map treats alike
	out    [][]fabric.PortID
	seen   map[outKind]bool // by the ports of one device
}

type sender struct {
	profile fabric.ProfileID
	bytes   uint16
}

func newJudge(f *fabric.Fabric, facts *derive.Facts) *judge {
	j := &judge{
		f: f, facts: facts, known: map[hopKind]verdict{}, ids: map[frame]frameID{}, kinds: map[endKind]int32{}, kindOf: make([]int32, len(f.Ports)),
		sends: map[sender][]frameID{}, seen: map[outKind]bool{}, frames: make([]frame, 1), ends: make([]endKind, 1),
	}
	for id := range f.Ports {
		port := &f.Ports[id]
		k := endKind{port.Profile, facts.Of[id], port.MTU, f.Devices[port.Device].Kind, port.Manage == fabric.HandsOff}
		if id > 0 && k == j.ends[j.kindOf[id-1]] {
			j.kindOf[id] = j.kindOf[id-1] // neighbours are mostly alike
			continue
		}
		n, ok := j.kinds[k]
		if !ok {
			n = int32(len(j.ends))
			j.kinds[k], j.ends = n, append(j.ends, k)
		}
		j.kindOf[id] = n
	}
	used := make([]bool, len(f.Profiles))
	for _, k := range j.ends {
		used[k.profile] = true
		j.pcp = j.pcp || f.Profiles[k.profile].Trust == fabric.TrustPCP
	}
	j.points = alikePoints(f, used)
	return j
}

// alikePoints parts the 64 code points into sets that the map of every profile in
// use sends to one priority: one of each set stands for all.
func alikePoints(f *fabric.Fabric, used []bool) []uint64 {
	sets := []uint64{^uint64(0)}
	split := func(of func(dscp int) uint8) {
		var finer []uint64
		for _, s := range sets {
			var by [256]uint64
			for rest := s; rest != 0; rest &= rest - 1 {
				d := bits.TrailingZeros64(rest)
				by[of(d)] |= 1 << d
			}
			for _, part := range by {
				if part != 0 {
					finer = append(finer, part)
				}
			}
		}
		sets = finer
	}
	for i := 1; i < len(f.Profiles); i++ {
		if used[i] {
			split(func(d int) uint8 { return f.Profiles[i].DSCP[d] })
			if f.Profiles[i].Remarks {
				split(func(d int) uint8 { return f.Profiles[i].Remark[d] })
			}
		}
	}
	return sets
}

// id numbers a frame.
func (j *judge) id(x frame) frameID {
	if id, ok := j.ids[x]; ok {
		return id
	}
	id := frameID(len(j.frames))
	j.ids[x], j.frames = id, append(j.frames, x)
	return id
}

// classOf is the class of a frame.
func (j *judge) classOf(x frameID) *fabric.Class {
	c := j.frames[x].class
	return &j.f.QoS[c.QoS].Classes[c.Index]
}

// sent are the frames that a NIC sends: of each class that its contract declares,
// one for each set of code points that no map tells apart.
func (j *judge) sent(nic fabric.PortID) []frameID {
	s := sender{j.f.Ports[nic].Profile, j.facts.Port(nic).NeedMTU}
	if list, ok := j.sends[s]; ok {
		return list
	}
	list := []frameID{}
	q := j.f.Profiles[s.profile].QoS
	for i := range j.f.QoS[q].Classes {
		c := &j.f.QoS[q].Classes[i]
		if c.Default || c.Transport == fabric.IWARP {
			continue
		}
		x := frame{class: Class{q, i}, pcp: int8(c.Priority & 7)}
		if c.Carries == fabric.CarriesRDMA {
			x.bytes = s.bytes
		}
		found := &j.f.Profiles[s.profile]
		known := found.ToSSet && c.Carries == fabric.CarriesRDMA // DSCP 0 too: a host that does not mark
		if known {
			x.dscp = found.ToS >> 2
		}
		if known || c.DSCP == 0 {
			list = append(list, j.id(x))
			continue
		}
		for _, set := range j.points {
			if own := set & c.DSCP; own != 0 {
				x.dscp = uint8(bits.TrailingZeros64(own))
				list = append(list, j.id(x))
			}
		}
	}
	j.sends[s] = list
	return list
}

// hop judges what becomes of a frame that has a priority in a device and leaves
// it over a cable.
func (j *judge) hop(in int8, x frameID, c cable) verdict {
	k := hopKind{in, x, j.kindOf[c.out], j.kindOf[c.to], c.tagged && j.pcp}
	if k == j.last {
		return j.said
	}
	v, ok := j.known[k]
	if !ok {
		v = j.decide(k)
		j.known[k] = v
	}
	j.last, j.said = k, v
	return v
}

func (j *judge) decide(k hopKind) verdict {
	out, to := &j.ends[k.out], &j.ends[k.to]
	class := j.classOf(k.frame)
	if out.profile == 0 || to.profile == 0 {
		if class.Lossless && !out.hands && !to.hands {
			// Where one end has a contract, the cable by itself shows it.
			return verdict{fault: Unpaused, local: out.profile != to.profile}
		}
		return verdict{ends: true}
	}
	h, next := j.take(k)
	if tag := j.frames[k.frame].tag; tag != 0 && !j.lossless(out.profile, tag-1) {
		return verdict{ends: true, next: next, prio: int8(h.Next)} // sent on as what may be dropped, by the operator's own word
	}
	v := verdict{next: next, prio: int8(h.Next), fault: j.fault(k, h)}
	switch {
	case v.fault == Sound:
	case v.fault == Remarked:
		v.local = j.has(to.profile, class)
	case v.fault == Oversized:
		v.local = out.mtu != to.mtu || j.facts.Rows[out.fact].NeedMTU > out.mtu || j.facts.Rows[to.fact].NeedMTU > to.mtu
	case k.in == begins:
		v.local = true
	default:
		v.local = j.alone(k, out.profile, v.fault) || j.alone(k, to.profile, v.fault)
		if !v.local && j.remaps(k, class) { // what is remapped may be lossy from there, by the word of the ends
			alone := k
			alone.in = begins
			h, _ = j.take(alone)
			v.local = j.fault(alone, h) == v.fault && (j.has(out.profile, class) || j.has(to.profile, class))
		}
	}
	return v
}

// alone reports whether the two ends of a cable show a fault by themselves: the
// frame as if it came in where it goes out, and its class as the contract of one of
// the ends has it, which need not be what its sender asks for.
func (j *judge) alone(k hopKind, end fabric.ProfileID, fault Fault) bool {
	x := j.frames[k.frame]
	name, q := j.classOf(k.frame).Name, j.f.Profiles[end].QoS
	i := slices.IndexFunc(j.f.QoS[q].Classes, func(c fabric.Class) bool { return c.Name == name })
	if i < 0 {
		return false
	}
	x.class = Class{q, i}
	k.in, k.frame = begins, j.id(x)
	h, _ := j.take(k)
	return j.fault(k, h) == fault
}

// take is the hop of a kind without its ports, and the frame that arrives.
func (j *judge) take(k hopKind) (Hop, frameID) {
	f := j.f
	x := j.frames[k.frame]
	out, to := &f.Profiles[j.ends[k.out].profile], &f.Profiles[j.ends[k.to].profile]
	h := Hop{Mark: Mark{x.dscp, -1}, Priority: uint8(k.in)}
	if k.in == begins {
		m := h.Mark
		if k.tagged || out.Host {
			m.PCP = x.pcp // a host has it in mind, whether there is a tag or not
		}
		h.Priority = Priority(f, out, m)
	}
	h.Queue = out.Queue[h.Priority]
	if dscp, does := Rewrite(f, out, h.Priority); does {
		x.dscp, h.Mark.DSCP = dscp, dscp
	}
	if k.tagged {
		h.Mark.PCP = x.pcp
	}
	h.Next = Priority(f, to, h.Mark)
	if x.tag != 0 {
		h.Next = x.tag - 1 // Tagger's tag goes with the frame, and each switch knows it
	}
	if to.Remarks {
		x.dscp = to.Remark[x.dscp&63] & 63 // what it was classified by is gone then
	}
	return h, j.id(x)
}

// remarks reports whether a port gives what comes in a mark that its class does
// not have.
func remarks(p *fabric.Profile, c *fabric.Class, dscp uint8) bool {
	to := p.Remark[dscp&63]
	return p.Remarks && to != dscp && c.DSCP>>(to&63)&1 == 0
}

// lossless reports whether the contract of a profile has a lossless class in a
// priority.
func (j *judge) lossless(p fabric.ProfileID, priority uint8) bool {
	return slices.ContainsFunc(j.f.QoS[j.f.Profiles[p].QoS].Classes, func(c fabric.Class) bool { return c.Lossless && c.Priority == priority })
}

// tag is a frame in a switch that sends it on by a row of a routing table, and
// its priority there. Tags are of lossless traffic: what may be dropped needs none.
func (j *judge) tag(priority int8, x frameID, h hop) (int8, frameID) {
	if h.priority < 0 || !j.classOf(x).Lossless {
		return priority, x
	}
	fr := j.frames[x]
	fr.tag = uint8(h.priority) + 1
	return h.priority, j.id(fr)
}

// on is a hop with its ports.
func (j *judge) on(in fabric.PortID, priority int8, x frameID, c cable) Hop {
	k := hopKind{priority, x, j.kindOf[c.out], j.kindOf[c.to], c.tagged && j.pcp}
	h, _ := j.take(k)
	h.In, h.Out, h.To, h.Fault = in, c.out, c.to, j.hop(priority, x, c).fault
	return h
}

// has reports whether the contract of a profile has a class of that name.
func (j *judge) has(p fabric.ProfileID, c *fabric.Class) bool {
	_, ok := named(j.f, j.f.Profiles[p].QoS, c.Name)
	return ok
}

// named is the class of a name in a contract.
func named(f *fabric.Fabric, q fabric.QoSID, name fabric.Str) (*fabric.Class, bool) {
	for i := range f.QoS[q].Classes {
		if c := &f.QoS[q].Classes[i]; c.Name == name {
			return c, true
		}
	}
	return nil, false
}

// fault is the first thing that is wrong with a hop.
func (j *judge) fault(k hopKind, h Hop) Fault {
	f := j.f
	x, class := &j.frames[k.frame], j.classOf(k.frame)
	outEnd, toEnd := &j.ends[k.out], &j.ends[k.to]
	out, to := &f.Profiles[outEnd.profile], &f.Profiles[toEnd.profile]
	if h.Priority != h.Next && !j.remaps(k, class) {
		return Parted
	}
	if remarks(to, class, h.Mark.DSCP) && !j.remaps(k, class) {
		return Remarked
	}
	if class.Lossless {
		stops := out.PFCQueue[h.Next]
		if out.Host {
			stops = out.Queue[h.Next] // a NIC stops the traffic class of the priority
		}
		switch {
		case out.PFC>>h.Next&1 == 0 || to.PFC>>h.Next&1 == 0, out.Direction == fabric.SendOnly || to.Direction == fabric.ReceiveOnly:
			return Unpaused
		case stops != h.Queue:
			return Unstopped
		case toEnd.device == fabric.Switch && j.facts.Rows[toEnd.fact].Headroom[h.Next].Source == derive.SourceNone:
			return Unbuffered
		}
	} else if j.among(out, to, h) {
		return Mixed
	}
	if outEnd.device == fabric.Switch && reacts(class) && !marks(out, h.Queue) {
		return Unmarked
	}
	if x.bytes > 0 && (outEnd.mtu != 0 && outEnd.mtu < x.bytes || toEnd.mtu != 0 && toEnd.mtu < x.bytes) {
		return Oversized
	}
	return Sound
}

// remaps reports whether a change of priority is declared, by the sender's class
// or by that of one of the ends.
func (j *judge) remaps(k hopKind, class *fabric.Class) bool {
	if class.Remap {
		return true
	}
	for _, p := range [2]fabric.ProfileID{j.ends[k.out].profile, j.ends[k.to].profile} {
		if c, ok := named(j.f, j.f.Profiles[p].QoS, class.Name); ok && c.Remap {
			return true
		}
	}
	return false
}

// among reports whether what is lossy leaves by a queue, or arrives in a
// priority, that a lossless class of that port has.
func (j *judge) among(out, to *fabric.Profile, h Hop) bool {
	lossless := func(p *fabric.Profile, fits func(on fabric.ClassOn) bool) bool {
		for i := range j.f.QoS[p.QoS].Classes {
			if on := p.On[i]; j.f.QoS[p.QoS].Classes[i].Lossless && on.PFC && fits(on) {
				return true
			}
		}
		return false
	}
	return lossless(out, func(on fabric.ClassOn) bool { return on.Queue == h.Queue }) || lossless(to, func(on fabric.ClassOn) bool { return on.Priority == h.Next })
}

// reacts reports whether the senders of a class slow down by ECN.
func reacts(c *fabric.Class) bool {
	return c.Carries == fabric.CarriesRDMA && c.Congestion != fabric.Receiver &&
		(c.ECN.Mode == fabric.Auto || c.ECN.Mode == fabric.Written || c.Congestion == fabric.DCQCN)
}

// marks reports whether a queue marks, or is left to do what it does.
func marks(p *fabric.Profile, queue uint8) bool {
	if queue > 7 {
		return false
	}
	m := p.ECN[queue].Mode
	return m == fabric.Auto || m == fabric.Written || m == fabric.Keep
}
