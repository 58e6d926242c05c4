package rollout

import (
	"cmp"
	"slices"
	"time"

	"github.com/rocec/rocec/compiler/intent"
)

// batch is devices that change in step: all of them begin, then all change, then
// all are read back, then all are confirmed.
type batch struct {
	wave    int    // as Device.Wave
	part    string // Device.Group
	devices []int  // indices in Plan.Devices
}

// schedule is the order of a plan: waves, the parts of a wave one after the
// other, in a part by rank, and of one rank so many together as the plan allows.
// Devices that a link joins stand beside each other.
func (p *Plan) schedule() []batch {
	var out []batch
	byWave := map[int][]int{}
	for i := range p.Devices {
		byWave[p.Devices[i].Wave] = append(byWave[p.Devices[i].Wave], i)
	}
	for w := 1; w <= len(p.Waves)+1; w++ {
		wave := w
		if w > len(p.Waves) {
			wave = 0 // devices of no wave come last
		}
		list := byWave[wave]
		slices.SortStableFunc(list, func(a, b int) int {
			x, y := &p.Devices[a], &p.Devices[b]
			return cmp.Or(intent.Natural(x.Group, y.Group), cmp.Compare(x.Rank, y.Rank))
		})
		for len(list) > 0 {
			first := &p.Devices[list[0]]
			n := 1
			for n < len(list) && p.Devices[list[n]].Group == first.Group && p.Devices[list[n]].Rank == first.Rank {
				n++
			}
			for _, devices := range p.split(p.joined(list[:n])) {
				out = append(out, batch{wave: wave, part: first.Group, devices: devices})
			}
			list = list[n:]
		}
	}
	return out
}

// joined puts devices that links join beside each other, the first ones first.
func (p *Plan) joined(list []int) []int {
	index := make(map[string]int, len(list))
	for _, i := range list {
		index[p.Devices[i].Name] = i
	}
	out, queue := make([]int, 0, len(list)), []int{}
	for _, start := range list {
		queue = append(queue, start)
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			if _, waiting := index[p.Devices[i].Name]; !waiting {
				continue
			}
			delete(index, p.Devices[i].Name)
			out = append(out, i)
			for _, peer := range p.Devices[i].Peers {
				if next, ok := index[peer]; ok {
					queue = append(queue, next)
				}
			}
		}
	}
	return out
}

// split takes as many at a time as may change together.
func (p *Plan) split(list []int) [][]int {
	var out [][]int
	for len(list) > 0 {
		var now, later []int
		roles := map[string]int{}
		for _, i := range list {
			role := p.Devices[i].Role
			if len(now) < max(p.Parallelism, 1) && p.shareLeft(role, roles[role]) {
				now = append(now, i)
				roles[role]++
			} else {
				later = append(later, i)
			}
		}
		out = append(out, now)
		list = later
	}
	return out
}

// shareLeft reports whether one more device of a role may change.
func (p *Plan) shareLeft(role string, taken int) bool {
	all := p.Roles[role]
	return taken == 0 || p.MaxSharePercent == 0 || all == 0 || (taken+1)*100 <= all*p.MaxSharePercent
}

// Apart is two devices whose link has different settings at its ends for a while,
// since one changes before the other.
type Apart struct {
	First, Second string        // addresses
	Wave, Then    string        // their waves, "" = none
	Watched       time.Duration // for how long parts of waves are watched between the two
}

// Apart are the links whose ends do not change together, each pair of devices once.
func (p *Plan) Apart() []Apart {
	type place struct{ batch, device int }
	at := make(map[string]place, len(p.Devices))
	order := p.schedule()
	watched := make([]time.Duration, len(order)) // before a batch
	for b := range order {
		if b > 0 {
			watched[b] = watched[b-1]
			if last := &order[b-1]; last.wave > 0 && (last.wave != order[b].wave || last.part != order[b].part) {
				watched[b] += p.Waves[last.wave-1].Watched()
			}
		}
		for _, i := range order[b].devices {
			at[p.Devices[i].Name] = place{b, i}
		}
	}
	var out []Apart
	for b := range order {
		for _, i := range order[b].devices {
			d := &p.Devices[i]
			peers := slices.Clone(d.Peers)
			slices.Sort(peers)
			for _, peer := range slices.Compact(peers) {
				if to, ok := at[peer]; ok && to.batch > b {
					other := &p.Devices[to.device]
					out = append(out, Apart{First: d.Address, Second: other.Address, Wave: p.waveName(d.Wave), Then: p.waveName(other.Wave), Watched: watched[to.batch] - watched[b]})
				}
			}
		}
	}
	return out
}

func (p *Plan) waveName(wave int) string {
	if wave < 1 || wave > len(p.Waves) {
		return ""
	}
	return p.Waves[wave-1].Name
}
