package paths

// Stray is traffic that never arrives.
type Stray struct {
	To   Switch
	Path []Switch // from the switch whose hosts send, to where no way goes on or where it was before
	Loop bool     // it goes round: the last two switches of Path stand in it before
}

// Strays is all traffic that never arrives.
type Strays struct {
	Lost  int64 // pairs of a switch and a destination that it knows no way to
	Loops int64 // destinations to which some traffic goes round
	List  []Stray
	Steps int64 // that it took
}

// maxStrays is how many are listed.
const maxStrays = 64

// Ways follows what hosts send to every destination, whatever its priority, and
// returns what does not arrive. The error is one of the input or a *LimitError.
func Ways(n *Net, o Options) (*Strays, error) {
	if err := o.check(n); err != nil {
		return nil, err
	}
	open := o.bound()
	repairs := o.Routing.LocalRepair && !o.Down.empty()
	if len(o.Routing.Rows)+len(o.Skip) == 0 && o.Routing.Base != ByTable && !repairs && !n.peers() && !o.Whole {
		net, of, size, alike := o.folded(n, false, open)
		found, err := ways(net, alike, size, false)
		if err != nil || found.Lost == 0 {
			return found, err
		}
		if !o.Brief {
			switch named, err := ways(n, o, nil, true); {
			case err == nil:
				found.List = named.List
				found.Steps += named.Steps
				return found, nil
			case !limited(err):
				return nil, err
			}
		}
		found.unfold(of)
		return found, nil
	}
	return ways(n, o, nil, false)
}

// unfold names switches of the net as it is: two of those that stand alike where
// they have no way to each other. In a folded net no way is longer than its first
// switch.
func (s *Strays) unfold(of []int32) {
	u := unfolding{members: map[Switch][]Switch{}, of: of}
	for i := range s.List {
		l := &s.List[i]
		l.To = u.member(l.To, nil)
		l.Path[0] = u.member(l.Path[0], nil, l.To)
	}
}

// ways stops at a full list where only names are wanted.
func ways(n *Net, o Options, size []int64, names bool) (*Strays, error) {
	x := newRouter(n, &o.Routing, o.Down)
	x.size = size
	w := &wayfarer{x: x, found: &Strays{}, limit: o.Steps}
	if err := x.fits(o.Steps); err != nil {
		return nil, err
	}
	skip := make([]bool, n.Switches)
	for _, s := range o.Skip {
		skip[s] = true
	}
	for _, d := range n.Sinks {
		if !x.sink[d] || skip[d] {
			continue
		}
		if x.towards(d) {
			w.plain(d)
		} else if err := w.walk(d); err != nil {
			return nil, err
		}
		if names && len(w.found.List) == maxStrays {
			break
		}
	}
	w.found.Steps = x.work() + w.steps
	return w.found, nil
}

// wayfarer follows ways to one destination after another.
type wayfarer struct {
	x            *router
	found        *Strays
	steps, limit int64

	mark  []int32 // by channel that a frame came in by: the walk that met it last
	open  []bool  // it is on the way under way
	empty []int32 // by switch, the walk that found it without a way on
	walks int32
	trail []turn
	hops  []hop
}

// turn is a switch on the way, and which of its ways on are still to be taken.
type turn struct {
	in   int32 // channel the other way, -1 at the switch whose hosts send
	at   Switch
	list []hop
}

func (w *wayfarer) add(s Stray) {
	if len(w.found.List) < maxStrays {
		w.found.List = append(w.found.List, s)
	}
}

// plain finds the sources without a way where neighbours do not matter: then
// every way is as long as the distance, and none goes round.
func (w *wayfarer) plain(d Switch) {
	x := w.x
	g := graph{x: x, size: x.size}
	for _, s := range x.n.Sinks {
		if !x.sink[s] {
			continue
		}
		lost := s != d && x.dist[s] < 0
		if s == d && g.pairs(d, d) > 0 {
			w.hops = x.between(w.hops[:0], d)
			lost = len(w.hops) == 0
		}
		if lost {
			w.found.Lost += g.pairs(s, d)
			w.add(Stray{To: d, Path: []Switch{s}})
		}
	}
}

// walk follows every way, depth first.
func (w *wayfarer) walk(d Switch) error {
	x := w.x
	if w.mark == nil {
		w.mark, w.open, w.empty = make([]int32, len(x.c.to)), make([]bool, len(x.c.to)), make([]int32, x.n.Switches)
	}
	w.walks++
	loops := false
	for _, s := range x.n.Sinks {
		if s == d || !x.sink[s] {
			continue
		}
		w.trail = append(w.trail[:0], w.turn(s, -1, d))
		for len(w.trail) > 0 {
			t := &w.trail[len(w.trail)-1]
			if len(t.list) == 0 {
				if t.in >= 0 {
					w.open[t.in] = false
				}
				w.trail = w.trail[:len(w.trail)-1]
				continue
			}
			k := x.c.off[t.at] + t.list[0].out
			t.list = t.list[1:]
			in := x.c.back[k]
			switch to := x.c.to[k]; {
			case to == d:
			case w.mark[in] != w.walks:
				w.mark[in], w.open[in] = w.walks, true
				w.trail = append(w.trail, w.turn(to, in, d))
			case w.open[in]:
				if !loops {
					w.add(Stray{To: d, Path: append(w.path(), to), Loop: true})
				}
				loops = true
			}
		}
		if w.steps > w.limit {
			return &LimitError{"steps", w.steps, w.limit}
		}
	}
	if loops {
		w.found.Loops++
	}
	return nil
}

// turn is what a switch does with what came in by a channel.
func (w *wayfarer) turn(at Switch, in int32, d Switch) turn {
	x, from := w.x, int32(-1)
	if in >= 0 {
		from = in - x.c.off[at]
	}
	t := turn{in: in, at: at, list: x.next(nil, at, d, from)}
	w.steps += int64(len(t.list)) + 1
	if len(t.list) == 0 && w.empty[at] != w.walks {
		w.empty[at] = w.walks
		w.found.Lost++
		w.add(Stray{To: d, Path: append(w.path(), at)})
	}
	return t
}

// path is the switches of the way under way.
func (w *wayfarer) path() []Switch {
	list := make([]Switch, len(w.trail), len(w.trail)+1)
	for i := range w.trail {
		list[i] = w.trail[i].at
	}
	return list
}

// Round is the part of the path that goes round; nil if none does.
func (s *Stray) Round() []Switch {
	if !s.Loop {
		return nil
	}
	last := len(s.Path) - 1
	for i := 1; i < last; i++ {
		if s.Path[i-1] == s.Path[last-1] && s.Path[i] == s.Path[last] {
			return s.Path[i:last]
		}
	}
	return nil
}
