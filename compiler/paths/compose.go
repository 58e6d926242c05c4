package paths

import (
	"slices"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
)

// Hop is a frame on one cable: how it leaves a device, and what the port at the
// other end takes it for.
type Hop struct {
	In       fabric.PortID // by which it came into the device that sends it; 0: it begins there
	Out, To  fabric.PortID // the ends of the cable
	Mark     Mark          // on the wire
	Priority uint8         // in the device that sends it
	Queue    uint8         // of Out
	Next     uint8         // the priority at To
	Fault    Fault         // what its treatment breaks by
}

// Fault is how a class loses its treatment at a hop.
type Fault uint8

// Faults, in the order in which a hop is judged by them [theory I2, I4 to I7, I9].
const (
	Sound      Fault = iota
	Parted           // its priority changes from one device to the next, and no class declares that
	Remarked         // the port that takes it gives it another mark, without a class that declares it
	Unpaused         // it is lossless, and the priority that it arrives in has no PFC at one end of the cable
	Unstopped        // a pause for that priority stops another queue than the one it leaves by
	Unbuffered       // there is no headroom for that priority
	Unmarked         // it reacts to ECN, and the queue that it leaves by does not mark
	Mixed            // it is lossy, and comes into a queue or priority that is lossless
	Oversized        // its packets are larger than the MTU
)

// String is a word for each.
func (f Fault) String() string {
	return [...]string{"sound", "parted", "remarked", "unpaused", "unstopped", "unbuffered", "unmarked", "mixed", "oversized"}[f]
}

// Class is a class of a contract.
type Class struct {
	QoS   fabric.QoSID
	Index int // in QoS.Classes
}

// Break is a class that loses its treatment on a way that packets may take.
type Break struct {
	Class Class // as its sender has it
	Fault Fault // of the hop Way[At]
	Way   []Hop // from the NIC that sends to the one that receives
	At    int
	// Local says that the two ends of the cable show it by themselves, whatever
	// came before: rules on links speak of it.
	Local bool
	Ports int // by which the same happens; Way shows the first
	// Alike are the ports by which it happens, ascending: all of them, or as many as
	// can be told where alike devices were followed once.
	Alike []fabric.PortID
	Kind  Kind // of the same fabric, what makes two breaks the same whatever is down
}

// Kind is a hop by all that its verdict follows from. It is comparable.
type Kind struct {
	class    Class
	fault    Fault
	priority uint8 // in the device that sends
	out, to  int32 // kinds of the ports
}

// Composition is what is proven of the classes of a fabric along its ways.
type Composition struct {
	Breaks []Break // in the order of the ports where they happen
	// Always says that there are none whatever the ways are, over all links, up
	// or down: no failure and no change of routing can bring one.
	Always bool
	Limit  *LimitError // the work was more than is done; Breaks are not all
	Judged int         // distinct hops that were judged: variety, not size
	Steps  int64       // that following the ways took, 0 where it took none
}

// Composer proves that each class keeps its treatment from NIC to NIC: the mark
// that its sender writes gives it one priority in each device, that priority has
// PFC and headroom behind every cable if the class is lossless, the pause for it
// stops the queue that it is in, and queues mark it where it reacts to ECN; no
// lossy class comes among lossless ones, and its packets fit every MTU [theory
// I4 to I7, I9, I2]. Inside a switch it is the port by which a frame came in
// that classifies it, and the port by which it goes that queues it. A priority that
// a row of a routing table gives is taken to go with the frame from there.
//
// Two steps: all hops between any ports of a switch are judged, once for each
// distinct pair of profiles, mark and kind of cable. If none breaks, none does on
// any way. Else the ways of the routing are followed, and a break counts where
// an endpoint sends the class over it to one that has that class and shares a
// segment or VRF with it.
type Composer struct {
	f      *fabric.Fabric
	facts  *derive.Facts
	judge  *judge
	swept  bool
	across bool // some hop breaks by what came before its cable
	local  bool // some hop breaks by its cable
	ground *ground
	whole  *Composition // with nothing down
	steps  int64
}

// NewComposer prepares the proof of a fabric.
func NewComposer(f *fabric.Fabric, facts *derive.Facts) *Composer {
	return &Composer{f: f, facts: facts, judge: newJudge(f, facts), steps: DefaultSteps / 8}
}

// Clean reports whether no hop between any two ports of a switch breaks by
// anything but its own cable.
func (c *Composer) Clean() bool {
	c.sweep()
	return !c.across
}

// Under is the composition with what a mask has down; nil: nothing.
func (c *Composer) Under(m *fabric.Mask) *Composition {
	c.sweep()
	if !c.across && !c.local {
		return &Composition{Always: true, Judged: len(c.judge.known)}
	}
	if m == nil && c.whole != nil {
		return c.whole
	}
	if c.ground == nil {
		c.ground = newGround(c.f)
	}
	w := &walker{Composer: c, mask: m, found: map[Kind]int{}, out: &Composition{}}
	w.realms()
	w.unfold()
	slices.SortStableFunc(w.out.Breaks, func(a, b Break) int { return int(a.Way[a.At].Out) - int(b.Way[b.At].Out) })
	w.out.Judged, w.out.Steps = len(c.judge.known), w.done
	if m == nil {
		c.whole = w.out
	}
	return w.out
}

// Compose is the composition of a fabric with what a mask has down.
func Compose(f *fabric.Fabric, facts *derive.Facts, m *fabric.Mask) *Composition {
	return NewComposer(f, facts).Under(m)
}

// sweep judges every hop that any frame of any NIC could come by, over all links
// and between all ports.
func (c *Composer) sweep() {
	if c.swept {
		return
	}
	c.swept = true
	for i := range c.f.Routings {
		// Rows that change priorities are seen on the ways only.
		c.across = c.across || slices.ContainsFunc(c.f.Routings[i].Table, func(r fabric.Route) bool { return r.Priority >= 0 })
	}
	type visit struct {
		at       fabric.DeviceID
		priority int8
		frame    frameID
	}
	f := c.f
	seen := make([][]visit, len(f.Devices)) // a few in each
	var queue []visit
	cross := func(priority int8, x frameID, out fabric.PortID) {
		to := f.Ports[out].Peer
		for _, tagged := range c.judge.tags(out, to) {
			v := c.judge.hop(priority, x, cable{out, to, tagged})
			if v.fault != Sound {
				c.local = c.local || v.local
				c.across = c.across || !v.local
				continue
			}
			d := f.Ports[to].Device
			if v.ends || f.Devices[d].Kind != fabric.Switch {
				continue
			}
			if next := (visit{d, v.prio, v.next}); !slices.Contains(seen[d], next) {
				seen[d] = append(seen[d], next)
				queue = append(queue, next)
			}
		}
	}
	step := func(priority int8, x frameID, out fabric.PortID) {
		to := f.Ports[out].Peer
		if f.Devices[f.Ports[to].Device].Kind != fabric.Node {
			cross(priority, x, out)
			return
		}
		ends := []fabric.PortID{to}
		if lag := c.judge.uneven(to); lag != 0 {
			ends = f.LAGs[lag].Members // which one it comes in by is not the sender's choice
		}
		for _, nic := range ends {
			if endpoint(f, nic) && c.takes(nic, c.judge.classOf(x)) { // else it is not for that one
				cross(priority, c.smaller(x, c.facts.Port(nic).NeedMTU), out)
			}
		}
	}
	for p := fabric.PortID(1); int(p) < len(f.Ports); p++ {
		if endpoint(f, p) {
			for _, x := range c.judge.sent(p) {
				step(begins, x, p)
			}
		}
	}
	for len(queue) > 0 {
		v := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, out := range c.judge.outs(v.at) {
			step(v.priority, v.frame, out)
		}
	}
}

// endpoint reports whether a port is a NIC that sends and receives classes: it
// has a contract and a cable, and its node is trusted.
func endpoint(f *fabric.Fabric, p fabric.PortID) bool {
	port := &f.Ports[p]
	dev := &f.Devices[port.Device]
	return dev.Kind == fabric.Node && dev.Trusted && port.Profile != 0 && port.Peer != 0 && f.Up(port.Link, nil) &&
		!f.QoS[f.Profiles[port.Profile].QoS].Untrusted
}

// takes reports whether the contract of an endpoint has a class like another.
func (c *Composer) takes(nic fabric.PortID, class *fabric.Class) bool {
	own, ok := named(c.f, c.f.Profiles[c.f.Ports[nic].Profile].QoS, class.Name)
	return ok && own.Carries == class.Carries && !own.Default
}

// smaller is a frame for a receiver that takes packets up to so many bytes: the
// two ends agree on the smaller.
func (c *Composer) smaller(x frameID, bytes uint16) frameID {
	fr := c.judge.frames[x]
	if fr.bytes == 0 || bytes >= fr.bytes {
		return x
	}
	fr.bytes = bytes
	return c.judge.id(fr)
}
