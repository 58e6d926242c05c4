package paths

import "slices"

// fold makes one switch of all that stand alike: same level, with or without
// hosts, and the same links to the same neighbours. Exchanging two of them
// changes nothing that the bases look at, so the buffer graph has a circle if
// and only if the folded one has: a step of one is a step of the other, and
// where a folded circle comes back to a switch from which it just came, it comes
// to another of those behind it. size is how many stand behind each.
//
// A folded destination is one of those behind it, and nothing on the way to it
// passes another: whoever could send to that one has the destination itself next.
// Only what goes round a failure may, which fill looks out for.
//
// What is down is left out, or with frozen it stays and is down in the folded
// net as well: ways are then those before the failure, and switches stand alike
// only where they have lost the same.
func fold(n *Net, d *Down, frozen bool) (folded *Net, classOf []int32, size []int64, down *Down) {
	c := layChannels(n, d)
	of, first := classes(n, c, d, frozen)
	classOf = of
	folded, down = &Net{Switches: len(first)}, &Down{}
	if n.Level != nil {
		folded.Level = make([]uint8, len(first))
	}
	size = make([]int64, len(first))
	for _, k := range classOf {
		size[k]++
	}
	sink, wasSink, still := sinksUp(n, d), n.sinkSet(), n.stillSet()
	for k, s := range first {
		if n.Level != nil {
			folded.Level[k] = n.Level[s]
		}
		if sink[s] || frozen && wasSink[s] {
			folded.Sinks = append(folded.Sinks, Switch(k))
		}
		if still != nil && still[s] {
			folded.Still = append(folded.Still, Switch(k))
		}
		for ch := c.off[s]; ch < c.off[s+1]; ch++ {
			to := classOf[c.to[ch]]
			if c.width[ch] == 0 && !frozen || to < int32(k) || c.to[ch] != first[to] {
				continue
			}
			if c.width[ch] == 0 {
				down.Links = append(down.Links, len(folded.Links))
			}
			for range max(c.width[ch], 1) {
				folded.Links = append(folded.Links, Link{A: Switch(k), B: Switch(to), Lossless: c.lossless(ch), Peer: c.peer(ch), Bond: c.bond(ch)})
			}
		}
	}
	if d != nil && frozen {
		for _, s := range d.Switches {
			if k := Switch(classOf[s]); !slices.Contains(down.Switches, k) {
				down.Switches = append(down.Switches, k)
			}
		}
	}
	return folded, classOf, size, down
}

// sinksUp is the sinks that are not down, as a set.
func sinksUp(n *Net, d *Down) []bool {
	set := n.sinkSet()
	if d != nil {
		for _, s := range d.Switches {
			set[s] = false
		}
	}
	return set
}

// classes numbers the classes of switches that stand alike, and gives the first
// switch of each. Classes are in the order of their first switches.
func classes(n *Net, c *channels, d *Down, frozen bool) (of []int32, first []Switch) {
	sink := sinksUp(n, d)
	if frozen {
		sink = n.sinkSet()
	}
	down := make([]bool, n.Switches)
	if d != nil {
		for _, s := range d.Switches {
			down[s] = true
		}
	}
	still := n.stillSet()
	if still == nil {
		still = make([]bool, n.Switches)
	}
	of = make([]int32, n.Switches)
	byHash := map[uint64][]int32{}
	for s := range n.Switches {
		h := mix(uint64(n.level(Switch(s)))<<3 | flag(still[s])<<2 | flag(sink[s])<<1 | flag(down[s]))
		for k := c.off[s]; k < c.off[s+1]; k++ {
			if c.width[k] > 0 || frozen {
				h = mix(h ^ uint64(c.to[k])<<32 ^ uint64(c.width[k])<<16 ^ uint64(c.kind[k]))
			}
		}
		of[s] = -1
		for _, class := range byHash[h] {
			if f := first[class]; still[s] == still[f] && sink[s] == sink[f] && down[s] == down[f] && n.level(Switch(s)) == n.level(f) && alike(c, Switch(s), f, frozen) {
				of[s] = class
				break
			}
		}
		if of[s] < 0 {
			of[s] = int32(len(first))
			first = append(first, Switch(s))
			byHash[h] = append(byHash[h], of[s])
		}
	}
	return of, first
}

// alike reports whether two switches have the same links that are up, and with
// all the same that are down.
func alike(c *channels, a, b Switch, all bool) bool {
	i, j := c.off[a], c.off[b]
	for {
		for i < c.off[a+1] && c.width[i] == 0 && !all {
			i++
		}
		for j < c.off[b+1] && c.width[j] == 0 && !all {
			j++
		}
		if i == c.off[a+1] || j == c.off[b+1] {
			return i == c.off[a+1] && j == c.off[b+1]
		}
		if c.to[i] != c.to[j] || c.width[i] != c.width[j] || c.kind[i] != c.kind[j] {
			return false
		}
		i++
		j++
	}
}

// mix spreads bits [Steele et al., SplittableRandom, OOPSLA 2014].
func mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
