package paths

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// bond is a LAG over a pair, or two.
type bond struct {
	ends []fabric.DeviceID
	over []fabric.MLAGID
}

// bonds numbers the LAGs of switches that end on both switches of an MLAG pair, by
// link; 0 is none. The LAGs at the ends of its cables are one bond, those of both
// halves with them. An example is a leaf whose two uplinks are one LAG over a pair.
func bonds(f *fabric.Fabric, links []fabric.LinkID) (of []int32, list []bond) {
	of = make([]int32, len(links))
	if len(f.MLAGs) < 2 {
		return of, nil
	}
	root := singles(len(f.LAGs))
	for _, l := range links {
		if a, b := f.Ports[f.Links[l].A].LAG, f.Ports[f.Links[l].B].LAG; a != 0 && b != 0 {
			join(root, int32(a), int32(b))
		}
	}
	group := func(l fabric.LinkID) int32 {
		if f.Links[l].PeerLink != 0 {
			return 0
		}
		return find(root, int32(max(f.Ports[f.Links[l].A].LAG, f.Ports[f.Links[l].B].LAG)))
	}
	pairs := pairsOf(f)
	type half struct {
		group int32
		at    fabric.MLAGID
	}
	known, halves := map[int32]map[fabric.DeviceID]bool{}, map[half]int{}
	found := map[int32]*bond{} // by group
	for _, l := range links {
		g := group(l)
		if g == 0 {
			continue
		}
		for _, p := range [2]fabric.PortID{f.Links[l].A, f.Links[l].B} {
			d := f.Ports[p].Device
			if known[g] == nil {
				known[g], found[g] = map[fabric.DeviceID]bool{}, &bond{}
			}
			if known[g][d] {
				continue
			}
			known[g][d], found[g].ends = true, append(found[g].ends, d)
			for _, m := range pairs[d] {
				if halves[half{g, m}]++; halves[half{g, m}] == 2 {
					found[g].over = append(found[g].over, m)
				}
			}
		}
	}
	number := map[int32]int32{}
	for i, l := range links {
		g := group(l)
		if g == 0 || len(found[g].over) == 0 {
			continue
		}
		if number[g] == 0 {
			list = append(list, *found[g])
			number[g] = int32(len(list))
		}
		of[i] = number[g]
	}
	return of, list
}

// pairsOf are the pairs that each switch is of.
func pairsOf(f *fabric.Fabric) map[fabric.DeviceID][]fabric.MLAGID {
	pairs := map[fabric.DeviceID][]fabric.MLAGID{}
	for m := 1; m < len(f.MLAGs); m++ {
		of := f.MLAGs[m].Switches
		pairs[of[0]] = append(pairs[of[0]], fabric.MLAGID(m))
		if of[1] != of[0] {
			pairs[of[1]] = append(pairs[of[1]], fabric.MLAGID(m))
		}
	}
	return pairs
}

// bonds marks the legs of bonds over pairs.
func (p *Part) bonds(f *fabric.Fabric) {
	of, list := bonds(f, p.Links)
	for i := range p.Net.Links {
		p.Net.Links[i].Bond = of[i]
	}
	p.unfollowed(f, list)
}

// unfollowed names what the net does not have of bonds. Their hash takes legs to a
// switch that has no way of its own, as one for switches on one of the two has none.
// What becomes of it there is known where the pair has a peer link, and where no
// table says which leg to take.
func (p *Part) unfollowed(f *fabric.Fabric, list []bond) {
	type sum struct{ lags, both int }
	over := map[fabric.MLAGID]sum{}
	for _, b := range list {
		for i, m := range b.over {
			s := over[m]
			s.lags++
			if len(b.over) > 1 && i == 0 {
				s.both++
			}
			over[m] = s
		}
	}
	var beside map[fabric.DeviceID]map[fabric.DeviceID]bool // made where it is asked for
	for m := fabric.MLAGID(1); int(m) < len(f.MLAGs); m++ {
		pair := &f.MLAGs[m]
		why := ""
		switch {
		case over[m].lags == 0:
			continue
		case !livePeer(f, pair):
			why = "the pair has no peer link"
		case len(p.Routing.Rows) > 0 || p.Routing.Base == ByTable:
			why = "a table says the ways"
		default:
			continue
		}
		if beside == nil {
			beside = p.neighbours(f)
		}
		name := f.Text(pair.Name)
		if list := alone(beside, pair.Switches); len(list) > 0 {
			p.Gaps = append(p.Gaps, Gap{
				fmt.Sprintf("the hash of %s over mlag %s also takes the switch that has no cable to %s%s, and what it sends there is not followed, as %s",
					count(over[m].lags, "lag"), name, f.Text(f.Devices[list[0]].Name), others(len(list)-1), why), pair.Decl, false,
			})
		}
		if over[m].both > 0 {
			p.Gaps = append(p.Gaps, Gap{
				fmt.Sprintf("after a failure a switch of mlag %s that has lost one leg of a lag to another pair sends by its other leg, and what it sends there is not followed, as %s: %s of that kind",
					name, why, count(over[m].both, "lag")), pair.Decl, true,
			})
		}
	}
}

// neighbours are the switches that each one of the part has cables to.
func (p *Part) neighbours(f *fabric.Fabric) map[fabric.DeviceID]map[fabric.DeviceID]bool {
	beside := map[fabric.DeviceID]map[fabric.DeviceID]bool{}
	for _, d := range p.Devices {
		beside[d] = map[fabric.DeviceID]bool{}
	}
	for _, l := range p.Links {
		a, b := f.Ports[f.Links[l].A].Device, f.Ports[f.Links[l].B].Device
		beside[a][b], beside[b][a] = true, true
	}
	return beside
}

// alone are the switches with cables to one switch of a pair and not to the other,
// ascending.
func alone(beside map[fabric.DeviceID]map[fabric.DeviceID]bool, pair [2]fabric.DeviceID) (list []fabric.DeviceID) {
	for i, d := range pair {
		other := pair[1-i]
		for s := range beside[d] {
			if s != other && !beside[other][s] {
				list = append(list, s)
			}
		}
	}
	slices.Sort(list)
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
