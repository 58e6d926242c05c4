package lint

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
)

// cut reports whether the loss of a way from one switch to another parts two
// nodes: one below each that reach each other by no other of their switches
// either. A node that is bonded to a pair needs one of the two.
func (p *Pass) cut(r Routed, from, to paths.Switch) bool {
	if r.Strays.Lost+r.Strays.Loops > int64(len(r.Strays.List)) {
		return true // which other ways are lost is not known
	}
	lost := map[[2]paths.Switch]bool{}
	for i := range r.Strays.List {
		if s := &r.Strays.List[i]; !s.Loop {
			lost[[2]paths.Switch{s.Path[0], s.To}] = true
		}
	}
	for _, a := range p.below(r.Part, from) {
		for _, b := range p.below(r.Part, to) {
			reach := slices.ContainsFunc(a, func(s paths.Switch) bool {
				return slices.ContainsFunc(b, func(d paths.Switch) bool { return s == d || !lost[[2]paths.Switch{s, d}] })
			})
			if !reach {
				return true
			}
		}
	}
	return false
}

// below are the switches that nodes below one are on, each set once.
func (p *Pass) below(part *paths.Part, s paths.Switch) (sets [][]paths.Switch) {
	f := p.Fabric
	first, end := f.PortsOf(part.Devices[s])
	for id := first; id < end; id++ {
		peer := f.Ports[id].Peer
		if external := f.Ports[id].Flags&fabric.External != 0; !f.Up(f.Ports[id].Link, nil) || !external && (peer == 0 || f.Devices[f.Ports[peer].Device].Kind != fabric.Node) {
			continue
		}
		on := []paths.Switch{s}
		if lag := f.Ports[peer].LAG; peer != 0 && lag != 0 {
			for _, d := range p.switches(lag, nil) {
				if other, ok := part.Switch(d); ok && !slices.Contains(on, other) {
					on = append(on, other)
				}
			}
		}
		if !slices.ContainsFunc(sets, func(o []paths.Switch) bool { return slices.Equal(o, on) }) {
			sets = append(sets, on)
		}
	}
	return sets
}
