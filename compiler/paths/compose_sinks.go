package paths

import (
	"encoding/binary"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// sink is a switch, or a home, that stands for others with the same cables and
// endpoints.
type sink struct {
	at    Switch
	times int
}

// unit is what stands for others only together: both switches of a pair and the
// homes there, in an order that is the same for all, or a switch of no pair.
func (p *plane) unit(f *fabric.Fabric, t Switch) []Switch {
	pair := fabric.MLAGID(0)
	if p.home(t) {
		pair = p.homes[int(t)-len(p.devices)].pair
	} else {
		pair = f.Devices[p.devices[t]].MLAG
	}
	if pair == 0 {
		return []Switch{t}
	}
	var list []Switch
	for _, d := range f.MLAGs[pair].Switches {
		if s, ok := slices.BinarySearch(p.devices, d); ok {
			list = append(list, Switch(s))
		}
	}
	if len(list) < 2 {
		return []Switch{t}
	}
	for _, up := range [3][2]bool{{true, true}, {true, false}, {false, true}} {
		if i := slices.Index(p.homes, home{pair, up}); i >= 0 {
			list = append(list, Switch(len(p.devices)+i))
		}
	}
	return list
}

// sinks picks one of those that stand alike.
func (w *walker) sinks(p *plane, all []Switch, groups map[Switch][]group) []sink {
	var list []sink
	at := map[string]int{}
	for _, t := range all {
		if len(p.x.r.Rows) > 0 || p.x.frozen {
			list = append(list, sink{t, 1})
			continue
		}
		unit := p.unit(w.f, t)
		key := binary.LittleEndian.AppendUint32(nil, uint32(slices.Index(unit, t)))
		for i := range unit {
			key = w.likeness(key, p, unit, i, groups)
		}
		if i, ok := at[string(key)]; ok {
			list[i].times++
			continue
		}
		at[string(key)] = len(list)
		list = append(list, sink{t, 1})
	}
	return list
}

// likeness appends all of one of a unit that tells it apart: its level, its cables
// and endpoints, and what of the unit it is cabled to.
func (w *walker) likeness(key []byte, p *plane, unit []Switch, i int, groups map[Switch][]group) []byte {
	put := func(n ...int32) {
		for _, v := range n {
			key = binary.LittleEndian.AppendUint32(key, uint32(v))
		}
	}
	t, c := unit[i], p.x.c
	put(-2, int32(p.net.Level[t]))
	if p.home(t) {
		up := p.homes[int(t)-len(p.devices)].up
		put(int32(flag(up[0])), int32(flag(up[1])))
	}
	for k := c.off[t]; k < c.off[t+1]; k++ {
		to := int32(c.to[k])
		if j := slices.Index(unit, c.to[k]); j >= 0 {
			to = int32(-3 - j)
		}
		for _, dir := range [2]int32{k, c.back[k]} {
			for _, s := range p.cables[dir] {
				put(to, int32(c.kind[k]), w.judge.kindOf[s.out], w.judge.kindOf[s.to], int32(s.same), int32(flag(s.tagged)))
			}
		}
	}
	for _, g := range groups[t] {
		put(-1, int32(g.qos), int32(g.bytes))
		for _, l := range g.legs {
			side := slices.Index(unit, w.ground.at[w.f.Ports[l.out].Device])
			put(int32(side), w.judge.kindOf[l.out], w.judge.kindOf[l.to], int32(l.same), int32(flag(l.who != 0)), int32(flag(l.tagged)))
		}
	}
	return key
}
