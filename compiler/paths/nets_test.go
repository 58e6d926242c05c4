package paths

import (
	"fmt"
	"slices"
	"strings"
)

// drawn is a net whose switches have names.
type drawn struct {
	Net
	names []string
	at    map[string]Switch
}

func (n *drawn) add(name string, level uint8, sink bool) {
	if n.at == nil {
		n.at = map[string]Switch{}
	}
	s := Switch(n.Switches)
	n.at[name] = s
	n.names = append(n.names, name)
	n.Switches++
	n.Level = append(n.Level, level)
	if sink {
		n.Sinks = append(n.Sinks, s)
	}
}

const rdma = 3

// link joins two switches by a link that has PFC for priorities 3 and 4.
func (n *drawn) link(a, b string) {
	n.Links = append(n.Links, Link{A: n.at[a], B: n.at[b], Lossless: 1<<rdma | 1<<4})
}

// down are the links between pairs of switches: "l1-t1".
func (n *drawn) down(pairs ...string) *Down {
	d := &Down{}
	for _, pair := range pairs {
		a, b, _ := strings.Cut(pair, "-")
		i := slices.IndexFunc(n.Links, func(l Link) bool {
			return l.A == n.at[a] && l.B == n.at[b] || l.A == n.at[b] && l.B == n.at[a]
		})
		if i < 0 {
			panic("no link " + pair)
		}
		d.Links = append(d.Links, i)
	}
	return d
}

// hop writes a vertex, without its priority where that is rdma.
func (n *drawn) hop(v Vertex) string {
	s := n.names[v.From] + ">" + n.names[v.To]
	if v.Priority != rdma {
		s += fmt.Sprintf("/%d", v.Priority)
	}
	return s
}

func (n *drawn) hops(list []Vertex) string {
	var s []string
	for _, v := range list {
		s = append(s, n.hop(v))
	}
	return strings.Join(s, ", ")
}

// rows reads a table: "at from to next", from may be *.
func (n *drawn) rows(lines ...string) (rows []Row) {
	for _, l := range lines {
		w := strings.Fields(l)
		from := Anywhere
		if w[1] != "*" {
			from = n.at[w[1]]
		}
		rows = append(rows, Row{At: n.at[w[0]], From: from, To: n.at[w[2]], Next: n.at[w[3]], Priority: -1})
	}
	return rows
}

// fatTree is the k-ary fat-tree of theory C.3: e{p}.{i} to all a{p}.*, a{p}.{i} to the cores c{i}.*.
func fatTree(k int) *drawn {
	n := &drawn{}
	h := k / 2
	for p := range k {
		for i := range h {
			n.add(fmt.Sprintf("e%d.%d", p, i), 1, true)
			n.add(fmt.Sprintf("a%d.%d", p, i), 2, false)
		}
	}
	for i := range h {
		for j := range h {
			n.add(fmt.Sprintf("c%d.%d", i, j), 3, false)
			for p := range k {
				n.link(fmt.Sprintf("a%d.%d", p, i), fmt.Sprintf("c%d.%d", i, j))
			}
		}
	}
	for p := range k {
		for i := range h {
			for j := range h {
				n.link(fmt.Sprintf("e%d.%d", p, i), fmt.Sprintf("a%d.%d", p, j))
			}
		}
	}
	return n
}

// twoPods is T2c: two pods of two ToRs and two leaves, and two spines over all leaves.
func twoPods() *drawn {
	n := &drawn{}
	for t := 1; t <= 4; t++ {
		n.add(fmt.Sprintf("t%d", t), 1, true)
	}
	for l := 1; l <= 4; l++ {
		n.add(fmt.Sprintf("l%d", l), 2, false)
	}
	n.add("s1", 3, false)
	n.add("s2", 3, false)
	for l := 1; l <= 4; l++ {
		for t := 1; t <= 2; t++ {
			n.link(fmt.Sprintf("l%d", l), fmt.Sprintf("t%d", (l-1)/2*2+t))
		}
		n.link(fmt.Sprintf("l%d", l), "s1")
		n.link(fmt.Sprintf("l%d", l), "s2")
	}
	return n
}

// ring is n routers r0 to r(n-1), each with hosts.
func ring(n int) *drawn {
	x := &drawn{}
	for i := range n {
		x.add(fmt.Sprintf("r%d", i), 0, true)
	}
	for i := range n {
		x.link(fmt.Sprintf("r%d", i), fmt.Sprintf("r%d", (i+1)%n))
	}
	return x
}

// clockwise is the table that sends what has at most far hops to go clockwise
// that way, and the rest the other way.
func clockwise(n, far int) (rows []Row) {
	for at := range n {
		for d := 1; d < n; d++ {
			next := at + 1
			if d > far {
				next = at + n - 1
			}
			rows = append(rows, Row{Switch(at), Anywhere, Switch((at + d) % n), Switch(next % n), -1})
		}
	}
	return rows
}

// leafSpine is leaves l1.. and spines s1.., all joined by width links.
func leafSpine(leaves, spines, width int) *drawn {
	n := &drawn{}
	for l := 1; l <= leaves; l++ {
		n.add(fmt.Sprintf("l%d", l), 1, true)
	}
	for s := 1; s <= spines; s++ {
		n.add(fmt.Sprintf("s%d", s), 2, false)
		for l := 1; l <= leaves; l++ {
			for range width {
				n.link(fmt.Sprintf("l%d", l), fmt.Sprintf("s%d", s))
			}
		}
	}
	return n
}

// dragonfly is g = a*h+1 groups of a routers, each joined to all others of its
// group; router i of group G owns the global ports j to group (G+1+i*h+j) mod g.
// The table is the minimal way: local, global, local.
func dragonfly(a, h int) (*drawn, []Row) {
	n, groups := &drawn{}, a*h+1
	name := func(g, i int) string { return fmt.Sprintf("g%d.%d", g, i) }
	for g := range groups {
		for i := range a {
			n.add(name(g, i), 0, true)
		}
	}
	exit := make([][]int, groups) // the router of a group that is joined to another
	for g := range groups {
		exit[g] = make([]int, groups)
		for i := range a {
			for j := range h {
				exit[g][(g+1+i*h+j)%groups] = i
			}
			for j := range i {
				n.link(name(g, j), name(g, i))
			}
		}
	}
	for g := range groups {
		for to := range g {
			n.link(name(g, exit[g][to]), name(to, exit[to][g]))
		}
	}
	var rows []Row
	for g := range groups {
		for i := range a {
			for to := range groups {
				for k := range a {
					next := name(to, k)
					switch {
					case g == to && i == k:
						continue
					case g == to:
					case i != exit[g][to]:
						next = name(g, exit[g][to])
					default:
						next = name(to, exit[to][g])
					}
					rows = append(rows, Row{n.at[name(g, i)], Anywhere, n.at[name(to, k)], n.at[next], -1})
				}
			}
		}
	}
	return n, rows
}

// clos is a fabric of pods with leaves and spines, and cores over the spines of
// one position in every pod; up is the links of a leaf, spineUp of a spine.
func clos(pods, leaves, up, spines, spineUp, cores int) *Net {
	n := &Net{}
	add := func(level uint8) Switch {
		n.Switches++
		n.Level = append(n.Level, level)
		return Switch(n.Switches - 1)
	}
	core := make([]Switch, cores)
	for i := range core {
		core[i] = add(3)
	}
	for range pods {
		leaf := make([]Switch, leaves)
		for i := range leaf {
			leaf[i] = add(1)
			n.Sinks = append(n.Sinks, leaf[i])
		}
		for j := range spines {
			s := add(2)
			for _, l := range leaf {
				for range up / spines {
					n.Links = append(n.Links, Link{A: l, B: s, Lossless: 1 << rdma})
				}
			}
			plane := cores / spines
			for u := range spineUp {
				n.Links = append(n.Links, Link{A: s, B: core[j*plane+u%plane], Lossless: 1 << rdma})
			}
		}
	}
	return n
}

func meta24k() *Net    { return clos(8, 192, 18, 18, 28, 36) }
func fabric4k() *Net   { return clos(1, 64, 64, 32, 0, 0) }
func fabric100k() *Net { return clos(25, 64, 64, 64, 64, 1024) }
