package paths

// fold makes one switch of all that stand alike: same level, with or without
// hosts, and the same links to the same neighbours. Exchanging two of them
// changes nothing that the bases look at, so the buffer graph has a circle if
// and only if the folded one has: a step of one is a step of the other, and
// where a folded circle comes back to a switch from which it just came, it comes
// to another of those behind it. size is how many stand behind each.
//
// What is down is left out.
func fold(n *Net, d *Down) (folded *Net, size []int64) {
	c := layChannels(n, d)
	classOf, first := classes(n, c, d)
	folded = &Net{Switches: len(first)}
	if n.Level != nil {
		folded.Level = make([]uint8, len(first))
	}
	size = make([]int64, len(first))
	for _, k := range classOf {
		size[k]++
	}
	sink := sinksUp(n, d)
	for k, s := range first {
		if n.Level != nil {
			folded.Level[k] = n.Level[s]
		}
		if sink[s] {
			folded.Sinks = append(folded.Sinks, Switch(k))
		}
		for ch := c.off[s]; ch < c.off[s+1]; ch++ {
			to := classOf[c.to[ch]]
			if c.width[ch] == 0 || to < int32(k) || c.to[ch] != first[to] {
				continue
			}
			for range c.width[ch] {
				folded.Links = append(folded.Links, Link{Switch(k), Switch(to), c.lossless[ch]})
			}
		}
	}
	return folded, size
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
func classes(n *Net, c *channels, d *Down) (of []int32, first []Switch) {
	sink := sinksUp(n, d)
	down := make([]bool, n.Switches)
	if d != nil {
		for _, s := range d.Switches {
			down[s] = true
		}
	}
	of = make([]int32, n.Switches)
	byHash := map[uint64][]int32{}
	for s := range n.Switches {
		h := mix(uint64(n.level(Switch(s)))<<2 | flag(sink[s])<<1 | flag(down[s]))
		for k := c.off[s]; k < c.off[s+1]; k++ {
			if c.width[k] > 0 {
				h = mix(h ^ uint64(c.to[k])<<32 ^ uint64(c.width[k])<<8 ^ uint64(c.lossless[k]))
			}
		}
		of[s] = -1
		for _, class := range byHash[h] {
			if f := first[class]; sink[s] == sink[f] && down[s] == down[f] && n.level(Switch(s)) == n.level(f) && alike(c, Switch(s), f) {
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

// alike reports whether two switches have the same links that are up.
func alike(c *channels, a, b Switch) bool {
	i, j := c.off[a], c.off[b]
	for {
		for i < c.off[a+1] && c.width[i] == 0 {
			i++
		}
		for j < c.off[b+1] && c.width[j] == 0 {
			j++
		}
		if i == c.off[a+1] || j == c.off[b+1] {
			return i == c.off[a+1] && j == c.off[b+1]
		}
		if c.to[i] != c.to[j] || c.width[i] != c.width[j] || c.lossless[i] != c.lossless[j] {
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

// Failure is one link or switch that may fail, and how many stand alike: what
// holds when it fails holds for each of them.
type Failure struct {
	Down  Down
	Alike int
}

// Failures lists single failures of links, then of switches, one of each kind.
// Links are of a kind where their ends stand alike and they carry the same
// priorities without loss: an exchange of switches that changes nothing takes
// one to the other. Links of a switch to itself do not fail.
func Failures(n *Net) []Failure {
	c := layChannels(n, nil)
	of, first := classes(n, c, nil)
	type kind struct {
		a, b     int32
		lossless uint8
	}
	at := map[kind]int{}
	var list []Failure
	for i, l := range n.Links {
		if l.A == l.B {
			continue
		}
		k := kind{min(of[l.A], of[l.B]), max(of[l.A], of[l.B]), l.Lossless}
		if f, ok := at[k]; ok {
			list[f].Alike++
			continue
		}
		at[k] = len(list)
		list = append(list, Failure{Down{Links: []int{i}}, 1})
	}
	counts := make([]int, len(first))
	for _, k := range of {
		counts[k]++
	}
	for k, s := range first {
		list = append(list, Failure{Down{Switches: []Switch{s}}, counts[k]})
	}
	return list
}
