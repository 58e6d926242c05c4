package paths

import "slices"

// unfold names switches of the net as it is for those of a folded one. Any of
// those that stand alike will do, as long as traffic that comes back to a folded
// switch goes to another of those behind it. It is false where that leaves no
// name for some switch of the circle.
func (b *Buffers) unfold(of []int32) (named bool) {
	u := unfolding{members: map[Switch][]Switch{}, of: of}
	for i := range b.Valley {
		v := &b.Valley[i]
		path := u.path([]Switch{v.From, v.At, v.Next}, nil, 0)
		v.From, v.At, v.Next = path[0], path[1], path[2]
	}
	for i := range b.Hole {
		h := &b.Hole[i]
		h.At, h.To = u.member(h.At, nil), u.member(h.To, []Switch{u.member(h.At, nil)})
	}
	if len(b.Cycle) == 0 {
		return true
	}
	round := u.circle(b.Cycle)
	if round == nil { // a lap ends at another of those behind its first switch, the next one at that
		if len(b.Flows) == len(b.Cycle) {
			b.Flows = append(b.Flows, cloned(b.Flows)...)
		}
		b.Cycle, b.Shortest = slices.Concat(b.Cycle, b.Cycle), false // one lap of a longer one may be shorter than two
		round = u.circle(b.Cycle)
	}
	if round == nil {
		return false
	}
	for i := range b.Flows {
		f, n := &b.Flows[i], len(round)
		if len(f.Path) == 0 {
			continue
		}
		step := []Switch{round[i], round[(i+1)%n], round[(i+2)%n]}
		classes := []Switch{b.Cycle[i].From, b.Cycle[i].To, b.Cycle[(i+1)%n].To}
		at := 0
		for ; at+2 < len(f.Path)-1 && !slices.Equal(f.Path[at:at+3], classes); at++ {
		}
		arrives := f.Path[len(f.Path)-1] == f.To
		f.Path = u.path(f.Path, step, at)
		f.From = f.Path[0]
		if arrives {
			f.To = f.Path[len(f.Path)-1]
		} else {
			f.To = u.member(f.To, nil, f.Path...)
		}
	}
	for i := range b.Cycle {
		b.Cycle[i].From, b.Cycle[i].To = round[i], round[(i+1)%len(round)]
	}
	return true
}

func cloned(flows []Flow) []Flow {
	list := slices.Clone(flows)
	for i := range list {
		list[i].Path, list[i].Priority = slices.Clone(list[i].Path), slices.Clone(list[i].Priority)
	}
	return list
}

// unfolding finds the switches behind folded ones.
type unfolding struct {
	of      []int32 // class of each switch
	members map[Switch][]Switch
}

// behind are the switches of a class, no more than a path is long.
func (u *unfolding) behind(class Switch, most int) []Switch {
	if list, ok := u.members[class]; ok {
		return list[:min(len(list), most)]
	}
	var list []Switch
	for s, k := range u.of {
		if Switch(k) == class {
			list = append(list, Switch(s))
		}
	}
	u.members[class] = list
	return list[:min(len(list), most)]
}

// member is the first switch of a class that is none of those next to it or
// used, else none of those next to it, else the first.
func (u *unfolding) member(class Switch, next []Switch, used ...Switch) Switch {
	list := u.behind(class, len(next)+len(used)+1)
	for _, s := range list {
		if !slices.Contains(used, s) && !slices.Contains(next, s) {
			return s
		}
	}
	for _, s := range list {
		if !slices.Contains(next, s) {
			return s
		}
	}
	return list[0]
}

// path names the switches of a path. What stands in fixed is given, from index
// at on; every other one is none that the path has elsewhere, as far as there
// are so many, and never the one two hops before or after.
func (u *unfolding) path(classes, fixed []Switch, at int) []Switch {
	path := make([]Switch, len(classes))
	used := slices.Clone(fixed)
	for i, class := range classes {
		if i >= at && i < at+len(fixed) {
			path[i] = fixed[i-at]
			continue
		}
		var next []Switch
		if j := i + 2 - at; j >= 0 && j < len(fixed) {
			next = append(next, fixed[j])
		}
		if i >= 2 {
			next = append(next, path[i-2])
		}
		path[i] = u.member(class, next, used...)
		used = append(used, path[i])
	}
	return path
}

// circle names the switches of a circle, from where each of its buffers is
// filled; nil if they cannot be named in one lap.
func (u *unfolding) circle(cycle []Vertex) []Switch {
	n := len(cycle)
	round := make([]Switch, n)
	for i, v := range cycle {
		var next []Switch
		if i+2 >= n {
			next = append(next, round[(i+2)%n])
		}
		if i >= 2 {
			next = append(next, round[i-2])
		}
		round[i] = u.member(v.From, next, round[:i]...)
	}
	for i := range round {
		if round[i] == round[(i+2)%n] {
			return nil
		}
	}
	return round
}
