package paths

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// bonds numbers the LAGs of switches that end on both switches of an MLAG pair, by
// link; 0 is none. The LAGs at the ends of its cables are one bond, those of both
// halves with them. An example is a leaf whose two uplinks are one LAG over a pair.
func bonds(f *fabric.Fabric, links []fabric.LinkID) (of []int32, list []bond) {
	if len(f.MLAGs) < 2 {
		return make([]int32, len(links)), nil
	}
	root := singles(len(f.LAGs))
	for _, l := range links {
		if a, b := f.Ports[f.Links[l].A].LAG, f.Ports[f.Links[l].B].LAG; a != 0 && b != 0 {
			join(root, int32(a), int32(b))
		}
	}
	group := func(l fabric.LinkID) int32 {
		return find(root, int32(max(f.Ports[f.Links[l].A].LAG, f.Ports[f.Links[l].B].LAG)))
	}
	ends := map[int32][]fabric.DeviceID{}
	for _, l := range links {
		for _, p := range [2]fabric.PortID{f.Links[l].A, f.Links[l].B} {
			if d, g := f.Ports[p].Device, group(l); g != 0 && f.Links[l].PeerLink == 0 && !slices.Contains(ends[g], d) {
				ends[g] = append(ends[g], d)
			}
		}
	}
	of = make([]int32, len(links))
	number := map[int32]int32{}
	for i, l := range links {
		g := group(l)
		if number[g] == 0 {
			b := bond{ends: ends[g]}
			for m := fabric.MLAGID(1); int(m) < len(f.MLAGs); m++ {
				if pair := f.MLAGs[m].Switches; slices.Contains(ends[g], pair[0]) && slices.Contains(ends[g], pair[1]) {
					b.over = append(b.over, m)
				}
			}
			if len(b.over) == 0 {
				continue
			}
			list = append(list, b)
			number[g] = int32(len(list))
		}
		if f.Links[l].PeerLink == 0 {
			of[i] = number[g]
		}
	}
	return of, list
}

// bond is a LAG over a pair, or two.
type bond struct {
	ends []fabric.DeviceID
	over []fabric.MLAGID
}

// bonds marks the legs of bonds over pairs.
func (p *Part) bonds(f *fabric.Fabric) {
	of, list := bonds(f, p.Links)
	for i := range p.Net.Links {
		p.Net.Links[i].Bond = of[i]
	}
	p.unfollowed(f, list)
}

// unfollowed names what the net does not have of bonds: what the hash of one sends
// to the switch of a pair that has no way of its own, and so crosses the peer
// link. With everything up that is for switches on one of the two only; and where
// both ends are pairs, for a switch that has lost one of its legs to the other pair.
func (p *Part) unfollowed(f *fabric.Fabric, list []bond) {
	for m := fabric.MLAGID(1); int(m) < len(f.MLAGs); m++ {
		pair := &f.MLAGs[m]
		lags, both := 0, 0
		for _, b := range list {
			if slices.Contains(b.over, m) {
				lags++
			}
			if len(b.over) > 1 && b.over[0] == m {
				both++
			}
		}
		if lags == 0 {
			continue
		}
		name := f.Text(pair.Name)
		if alone := p.alone(f, pair.Switches); len(alone) > 0 {
			p.Gaps = append(p.Gaps, Gap{
				fmt.Sprintf("the hash of %s over mlag %s also takes the switch that has no cable to %s%s, and what it sends there crosses the peer link, which is not followed",
					count(lags, "lag"), name, f.Text(f.Devices[alone[0]].Name), others(len(alone)-1)), pair.Decl, false,
			})
		}
		if both > 0 {
			p.Gaps = append(p.Gaps, Gap{
				fmt.Sprintf("after a failure a switch of mlag %s that has lost one leg of a lag to another pair sends by its other leg, and what crosses the peer link there is not followed: %s of that kind", name, count(both, "lag")), pair.Decl, true,
			})
		}
	}
}

// alone are the switches with cables to one switch of a pair and not to the other.
func (p *Part) alone(f *fabric.Fabric, pair [2]fabric.DeviceID) (list []fabric.DeviceID) {
	beside := map[fabric.DeviceID]uint8{}
	for _, l := range p.Links {
		a, b := f.Ports[f.Links[l].A].Device, f.Ports[f.Links[l].B].Device
		for i, d := range pair {
			switch d {
			case a:
				beside[b] |= 1 << i
			case b:
				beside[a] |= 1 << i
			}
		}
	}
	for _, d := range p.Devices {
		if on := beside[d]; on == 1 || on == 2 {
			list = append(list, d)
		}
	}
	return list
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
