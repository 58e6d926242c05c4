package paths

import (
	"errors"
	"fmt"
	"slices"
)

// Options say what Deadlock proves and how.
type Options struct {
	Routing Routing
	Down    *Down // what has failed; nil: nothing
	// Priorities are those that hosts send with, ascending; nil stands for every
	// priority that some link has PFC for.
	Priorities []uint8
	// Remapped are those that Routing.Remap leads to besides.
	Remapped []uint8
	// Search leaves out the proof by ranks, and so counts vertices and edges.
	Search bool
	// Whole leaves out the folding of switches that stand alike.
	Whole bool
	// Brief takes what the folded net shows: where that has circles, valleys or
	// holes, switches are named from those behind the folded ones. Circles are then
	// sizes in the folded net, and valleys come without flows. Without Brief that is
	// what there is of a net that is too large to be followed as it is.
	Brief bool
	// Floods are followed besides what is routed.
	Floods []Flood
	// Skip are destinations that are not followed.
	Skip []Switch
	// Each is called for every wait of the graph, if it is searched whole.
	Each func(v, w Vertex)
	// Steps bounds the work, in looks at an edge; 0 stands for DefaultSteps, and for
	// AloneSteps where folding was tried and left more than half of the switches.
	Steps int64
}

// Flood is lossless traffic that a switch sends out of every link of a set but
// the one it came by: broadcast, multicast and unknown unicast of a VLAN.
type Flood struct {
	Priority uint8
	Links    []int // by index in Net.Links
}

// Bounds of the work. Meta's 24,576 hosts take 2e8 steps and 2 MiB of matrix,
// followed one by one, and fabrics that folding makes small take next to none. A
// step costs most in long thin nets in which few switches stand alike, as a ring
// of 10,000, which takes 3e8: AloneSteps ends before that.
const (
	DefaultSteps = 4_000_000_000
	AloneSteps   = 250_000_000
	maxWords     = 1 << 26 // 512 MiB of bit matrix
)

// LimitError is the refusal to prove a net that is too large.
type LimitError struct {
	What        string // "steps" or "bytes of bit matrix"
	Need, Limit int64  // Need is what was asked, or done when it was enough
}

// Error names both numbers.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the buffer graph takes %d %s or more, and the limit is %d", e.Need, e.What, e.Limit)
}

// limited reports whether an error is that refusal.
func limited(err error) bool {
	var limit *LimitError
	return errors.As(err, &limit)
}

// RemapError is a remap that leads to a priority which Options do not name.
type RemapError struct {
	At, Next Switch
	Priority uint8
}

// Error names the place and the priority.
func (e *RemapError) Error() string {
	return fmt.Sprintf("at switch %d towards %d frames are remapped to priority %d, which is not among those to follow", e.At, e.Next, e.Priority)
}

// Proof is how an answer was found.
type Proof uint8

// Proofs. ByRank did not look at single flows: vertices, edges and holes are not
// counted. Folded has counted, on the switches that differ. Searched has
// followed every flow.
const (
	ByRank Proof = iota + 1
	Folded
	Searched
)

// String is a word for each.
func (p Proof) String() string { return [...]string{"", "rank", "folded", "search"}[p] }

// Vertex is the ingress buffer of a priority at To for what comes from From. It
// stands for those of all links between the two that are of one kind.
type Vertex struct {
	From, To Switch
	Priority uint8
}

// Flow is a way that the routing allows: switches from the one of the sender to
// the one of the receiver, or to where a loop closes or no way goes on.
type Flow struct {
	From, To Switch
	Path     []Switch
	Priority []uint8 // on each hop of the path, Lossy included
}

// Valley is lossless traffic that went down to At and goes up again. One bounce
// is no circle, but two opposite ones are [theory C.3 T2a, T2b].
type Valley struct {
	From, At, Next Switch
	Priority, New  uint8 // they differ where a tag covers the bounce
	Flow           Flow  // one that takes it
}

// Hole is a destination for which a switch has no way. At may be passed by
// traffic of others, or have hosts that send.
type Hole struct{ At, To Switch }

// Examples that are listed, of as many as there are.
const (
	maxValleys = 64
	maxHoles   = 16
	maxFlows   = 256
)

// Buffers is the buffer dependency graph, summed up: vertices are (link,
// direction, lossless priority) that traffic reaches, and an edge joins two that
// one flow fills one after the other, so that the first waits for the second.
type Buffers struct {
	Proof    Proof
	Vertices int64
	Edges    int64
	Circles  []int64  // sizes of the strongly connected parts with a circle, largest first
	Cycle    []Vertex // the shortest circle, each waits for the next and the last for the first; nil: none
	Shortest bool     // Cycle is known to be the shortest; false: a bound came first
	Flows    []Flow   // for each step of Cycle one that takes it, of a very long Cycle for its beginning; no Path: flooded, or beyond a bound
	Valleys  int64    // edges that turn from down to up
	Valley   []Valley // the first of each switch and priority
	Holes    int64    // pairs of a switch and a destination
	Hole     []Hole   // the first of them
	Steps    int64    // that it took
}

// Acyclic reports whether PFC cannot deadlock: without a circle of waiting
// buffers there is no deadlock [theory C.1].
func (b *Buffers) Acyclic() bool { return len(b.Circles) == 0 }

// Deadlock builds the buffer dependency graph of a net and looks for circles.
// The error is one of the input (indices that do not exist) or a *LimitError.
//
// Where traffic can only climb and then descend, and no peer link stands in for
// a way, ranks prove that there is no circle: let the buffer of a link up from level i have rank i, and that of a
// link down into level i rank 2L-i; then every step raises the rank [theory
// C.2]. Elsewhere all flows are followed into bit matrices, one for each switch,
// and strongly connected parts are looked for [Tarjan 1972].
func Deadlock(n *Net, o Options) (*Buffers, error) {
	if err := o.check(n); err != nil {
		return nil, err
	}
	open := o.bound()
	repairs := o.Routing.LocalRepair && !o.Down.empty()
	ruled := len(o.Routing.Rows)+len(o.Floods)+len(o.Skip) > 0
	peers := n.peers()
	if !ruled && !repairs && !peers && o.Routing.Base == UpDown && n.Level != nil && !o.Search {
		return &Buffers{Proof: ByRank}, nil
	}
	returns := o.Routing.MayReturn && (repairs || peers) || n.hashed() // which a folded net takes for a way to another of those behind a switch
	folds := !ruled && o.Routing.Base != ByTable && o.Routing.Remap == nil && !o.Whole && !returns
	if open && n.hashed() {
		o.Steps = AloneSteps
	}
	if folds {
		net, of, size, alike := o.folded(n, repairs || peers, open)
		b, err := search(net, alike, size)
		switch {
		case errors.Is(err, errFold):
			folds = false
		case err != nil:
			return nil, err
		// Switches of a circle or valley are named from the net as it is.
		case o.Brief || b.Acyclic() && b.Valleys == 0 && b.Holes == 0:
			if b.Proof = Folded; b.unfold(of) {
				return b, nil
			}
		}
	}
	b, err := search(n, o, nil)
	if folds && !o.Brief && limited(err) {
		o.Brief = true
		return Deadlock(n, o)
	}
	return b, err
}

// bound puts a bound on the work, and reports whether none was asked for.
func (o *Options) bound() (open bool) {
	if open = o.Steps == 0; open {
		o.Steps = DefaultSteps
	}
	return open
}

// folded is a net of one switch for all that stand alike, and what is asked of
// it. An open bound becomes that of nets in which few do.
func (o *Options) folded(n *Net, frozen, open bool) (net *Net, of []int32, size []int64, alike Options) {
	net, of, size, down := fold(n, o.Down, frozen)
	if open && 2*net.Switches > n.Switches {
		o.Steps = AloneSteps
	}
	alike = *o
	alike.Down = down
	return net, of, size, alike
}

// fits refuses work that would take more steps than a bound, before it begins.
func (x *router) fits(steps int64) error {
	if work := x.work(); work > steps {
		return &LimitError{"steps", work, steps}
	}
	return nil
}

// work is what the next hops to all destinations take, in steps.
func (x *router) work() int64 {
	return int64(len(x.n.Sinks)) * int64(len(x.c.to)+x.n.Switches)
}

// errFold is that a folded net cannot stand for the one it was made from.
var errFold = errors.New("the folded net leaves something out")

// search follows all flows. size is the number of switches behind each one of a
// folded net, else nil.
func search(n *Net, o Options, size []int64) (*Buffers, error) {
	x := newRouter(n, &o.Routing, o.Down)
	x.skip = make([]bool, n.Switches)
	for _, s := range o.Skip {
		x.skip[s] = true
	}
	if err := x.fits(o.Steps); err != nil {
		return nil, err
	}
	b := &Buffers{Proof: Searched, Shortest: true, Steps: x.work()}
	units, err := unitsOf(n, &o)
	if err != nil {
		return nil, err
	}
	for i, u := range units {
		g, err := newGraph(x, u, o.Steps)
		if err != nil {
			return nil, err
		}
		g.size, x.size = size, size
		if err := g.fill(b, i == 0); err != nil {
			return nil, err
		}
		if err := g.flood(o.Floods); err != nil {
			return nil, err
		}
		if o.Each != nil && size == nil {
			for v := range g.each {
				for w := range g.next(v) {
					o.Each(g.vertex(v), g.vertex(w))
				}
			}
		}
		wanted := g.sum(b)
		if size != nil && o.Brief {
			wanted = nil // flows of valleys are not asked for
		}
		if err := g.judge(b, wanted); err != nil {
			return nil, err
		}
		b.Steps += g.steps + g.scans
	}
	slices.SortFunc(b.Circles, func(p, q int64) int { return int(q - p) })
	return b, nil
}

// check says what is wrong with a net and what is asked of it, by index.
func (o *Options) check(n *Net) error {
	if err := check(n, &o.Routing, o.Down); err != nil {
		return err
	}
	for _, s := range o.Skip {
		if s < 0 || int(s) >= n.Switches {
			return fmt.Errorf("switch %d of %d is left out", s, n.Switches)
		}
	}
	for i, f := range o.Floods {
		if f.Priority > 7 {
			return fmt.Errorf("flood %d has priority %d", i, f.Priority)
		}
		for _, l := range f.Links {
			if l < 0 || l >= len(n.Links) {
				return fmt.Errorf("flood %d goes over link %d of %d", i, l, len(n.Links))
			}
		}
	}
	return nil
}

// unit is a set of priorities between which frames change, followed in one
// graph. Where none changes there is a unit for each set of links, and it
// stands for as many priorities as have PFC on just those links.
type unit struct {
	layers []uint8
	starts []uint8
	times  int64
}

func unitsOf(n *Net, o *Options) ([]unit, error) {
	starts := o.Priorities
	if starts == nil {
		all := uint8(0)
		for i := range n.Links {
			all |= n.Links[i].Lossless
		}
		for p := range uint8(8) {
			if all>>p&1 == 1 {
				starts = append(starts, p)
			}
		}
	}
	layers := append(slices.Clone(starts), o.Remapped...)
	remaps := o.Routing.Remap != nil
	for _, row := range o.Routing.Rows {
		if row.Priority >= 0 {
			layers, remaps = append(layers, uint8(row.Priority)), true
		}
	}
	var flooded []uint8 // and not sent by hosts
	for _, f := range o.Floods {
		if !slices.Contains(layers, f.Priority) && !slices.Contains(flooded, f.Priority) {
			flooded = append(flooded, f.Priority)
		}
	}
	if remaps {
		layers = append(layers, flooded...)
	}
	slices.Sort(layers)
	layers = slices.Compact(layers)
	if len(layers) > 0 && layers[len(layers)-1] > 7 {
		return nil, fmt.Errorf("priority %d is not one of 0 to 7", layers[len(layers)-1])
	}
	if remaps {
		return []unit{{layers, starts, 1}}, nil
	}
	var units []unit
	for _, p := range starts {
		same := slices.IndexFunc(units, func(u unit) bool {
			if len(o.Floods) > 0 || o.Each != nil {
				return false // each is of one priority
			}
			for i := range n.Links {
				if bits := n.Links[i].Lossless; bits>>p&1 != bits>>u.layers[0]&1 {
					return false
				}
			}
			return true
		})
		if same >= 0 {
			units[same].times++
			continue
		}
		units = append(units, unit{[]uint8{p}, []uint8{p}, 1})
	}
	for _, p := range flooded {
		units = append(units, unit{[]uint8{p}, nil, 1})
	}
	return units, nil
}
