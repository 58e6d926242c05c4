package paths

// Failure is one link or switch that may fail, and how many stand alike: what
// holds when it fails holds for each of them.
type Failure struct {
	Down  Down
	Alike int
}

// Failures lists what may fail besides what is down already: links, then
// switches, one of each kind. Two are of a kind where an exchange of switches
// that changes nothing takes one to the other: switches that have the same
// links, and those that a symmetry of the net exchanges. Where rows, floods or
// a remap tell switches apart, or with Whole, each is of its own kind. Links of a switch to
// itself do not fail. steps is what finding them took.
func Failures(n *Net, o *Options) (list []Failure, steps int64) {
	repairs := o.Routing.LocalRepair && !o.Down.empty() // what was lost has a part in where frames go
	ruled := o.Whole || len(o.Routing.Rows)+len(o.Floods) > 0 || o.Routing.Remap != nil
	of, first := classes(n, layChannels(n, o.Down), o.Down, repairs)
	if ruled {
		first = make([]Switch, n.Switches)
		for s := range of {
			of[s], first[s] = int32(s), Switch(s)
		}
	}
	gone, dead := make([]bool, n.Switches), make([]bool, len(n.Links))
	if o.Down != nil {
		for _, s := range o.Down.Switches {
			gone[s] = true
		}
		for _, l := range o.Down.Links {
			dead[l] = true
		}
	}
	kinds := newKinds(n, gone, dead, of, first)
	steps = int64(4 * (len(n.Links) + n.Switches))
	if !ruled && !repairs {
		steps += kinds.symmetries(n, o.Down)
	}
	return kinds.list(), steps
}

// Work is about what proofs of a net with what is down take, in steps: what
// stands alike is looked at once.
func Work(n *Net, o *Options) int64 {
	if !o.Whole && len(o.Routing.Rows)+len(o.Floods)+len(o.Skip) == 0 && o.Routing.Base != ByTable && o.Routing.Remap == nil {
		n, _, _, _ = fold(n, o.Down, o.Routing.LocalRepair && !o.Down.empty())
	}
	return int64(len(n.Sinks)) * int64(2*len(n.Links)+n.Switches)
}

// linkKind is a link by the classes of its ends.
type linkKind struct {
	a, b int32
	kind uint32
}

// failureKinds are the classes of switches and the kinds of links between them,
// and which of either a symmetry takes to another.
type failureKinds struct {
	of       []int32 // class of each switch
	first    []Switch
	count    []int // switches of each class
	links    []linkKind
	at       map[linkKind]int32
	firstOf  []int // by kind of link, its first link
	howMany  []int
	switches []int32 // union-find over classes
	edges    []int32 // union-find over kinds of links
}

func newKinds(n *Net, gone, dead []bool, of []int32, first []Switch) *failureKinds {
	k := &failureKinds{of: of, first: first, count: make([]int, len(first)), at: map[linkKind]int32{}}
	for s, class := range of {
		if !gone[s] {
			k.count[class]++
		}
	}
	for i, l := range n.Links {
		if l.A == l.B || dead[i] || gone[l.A] || gone[l.B] {
			continue
		}
		kind := k.kindOf(of[l.A], of[l.B], l.kind())
		at, ok := k.at[kind]
		if !ok {
			at = int32(len(k.links))
			k.at[kind] = at
			k.links, k.firstOf, k.howMany = append(k.links, kind), append(k.firstOf, i), append(k.howMany, 0)
		}
		k.howMany[at]++
	}
	k.switches, k.edges = singles(len(first)), singles(len(k.links))
	return k
}

func (k *failureKinds) kindOf(a, b int32, kind uint32) linkKind {
	return linkKind{min(a, b), max(a, b), kind}
}

// list is one failure for each set of kinds.
func (k *failureKinds) list() []Failure {
	var list []Failure
	at := map[int32]int{}
	add := func(root int32, d Down, alike int) {
		if i, ok := at[root]; ok {
			list[i].Alike += alike
			return
		}
		at[root] = len(list)
		list = append(list, Failure{d, alike})
	}
	for i := range k.links {
		add(find(k.edges, int32(i)), Down{Links: []int{k.firstOf[i]}}, k.howMany[i])
	}
	clear(at)
	for i, s := range k.first {
		if k.count[i] > 0 {
			add(find(k.switches, int32(i)), Down{Switches: []Switch{s}}, k.count[i])
		}
	}
	return list
}

// With is a failure on top of what is down already.
func (d *Down) With(f *Down) *Down {
	if d == nil {
		return f
	}
	return &Down{Links: append(append([]int(nil), d.Links...), f.Links...), Switches: append(append([]Switch(nil), d.Switches...), f.Switches...)}
}

// singles is a union-find in which each stands alone.
func singles(n int) []int32 {
	root := make([]int32, n)
	for i := range root {
		root[i] = int32(i)
	}
	return root
}

func find(root []int32, i int32) int32 {
	for root[i] != i {
		root[i] = root[root[i]]
		i = root[i]
	}
	return i
}

// join makes one set of two; the lowest number stands for it.
func join(root []int32, a, b int32) bool {
	a, b = find(root, a), find(root, b)
	root[max(a, b)] = min(a, b)
	return a != b
}
