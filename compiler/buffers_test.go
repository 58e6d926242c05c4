package compiler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/compiler/paths"
	"github.com/rocec/rocec/lang/diag"
)

// wired is the source of a fabric that is given by its cables between switches.
type wired struct {
	hosts   []string
	tiers   map[string]string // of switches; none: no switch has one
	cables  []string          // "a-b"
	routing string            // attributes of the routing block
	table   []string          // "at from to next priority"
	more    string
	edge    bool // hosts, one of each switch, have the first class alone
}

func (w *wired) text() string {
	contract, _, _ := strings.Cut(lint.Find("ROCE301").Good, `segment "storage"`)
	contract = strings.Replace(contract, `  class "cnp" {`, "  class \"storage\" {\n    carries   = \"rdma\"\n    dscp      = [34]\n    priority  = 4\n    bandwidth = 20\n    ecn       = \"auto\"\n  }\n  class \"cnp\" {", 1)
	contract = strings.Replace(contract, "bandwidth = 50", "bandwidth = 30", 1)
	var b strings.Builder
	b.WriteString(contract)
	nicQoS, hostPort := "qos.roce", ""
	if w.edge {
		one, _, _ := strings.Cut(lint.Find("ROCE301").Good, `segment "storage"`)
		b.WriteString(strings.Replace(one, `qos "roce"`, `qos "edge"`, 1))
		nicQoS, hostPort = "qos.edge", "  port \"Ethernet0\" {\n    speed = \"100G\"\n    fec = \"rs\"\n    qos = qos.edge\n  }\n"
	}
	var names []string
	ports := map[string]int{}
	port := func(name string) string {
		if ports[name] == 0 {
			names = append(names, name)
		}
		ports[name]++
		return fmt.Sprintf("switch.%s.port[\"Ethernet%d\"]", name, 4*(ports[name]-1))
	}
	for i, h := range w.hosts {
		fmt.Fprintf(&b, "node \"n-%s\" {\n  os = \"ubuntu/24.04\"\n  slot = %d\n  nic \"rail0\" {\n    model = \"nvidia/connectx-6-dx\"\n    speed = \"100G\"\n    fec = \"rs\"\n    qos = %s\n  }\n}\n", h, i+1, nicQoS)
		fmt.Fprintf(&b, "link \"n-%s\" {\n  ends = [node.n-%s.nic[\"rail0\"], %s]\n  cable = { media = \"dac\", length = \"3m\" }\n}\n", h, h, port(h))
	}
	for _, c := range w.cables {
		a, z, _ := strings.Cut(c, "-")
		fmt.Fprintf(&b, "link \"%s\" {\n  ends = [%s, %s]\n  cable = { media = \"dac\", length = \"3m\" }\n}\n", c, port(a), port(z))
	}
	for _, name := range names {
		place := ""
		if tier := w.tiers[name]; tier != "" {
			place = "  place = { tier = \"" + tier + "\" }\n"
		}
		fmt.Fprintf(&b, "switch \"%s\" {\n  model = \"nvidia/sn3700\"\n  os = \"sonic/202505\"\n  qos = qos.roce\n%s%s  port \"Ethernet[%d-%d:4]\" {\n    speed = \"100G\"\n    fec = \"rs\"\n  }\n}\n",
			name, place, hostPort, min(len(hostPort), 1)*4, 4*(ports[name]-1))
	}
	fmt.Fprintf(&b, "routing \"default\" {\n  default = true\n%s\n}\n%s", w.routing, w.more)
	if len(w.table) > 0 {
		b.WriteString("-- ways.csv --\nat,from,to,next,priority\n")
		for _, row := range w.table {
			f := strings.Fields(row)
			b.WriteString(strings.Join(f, ",") + strings.Repeat(",", 5-len(f)) + "\n")
		}
	}
	return b.String()
}

const aTable = "  paths = \"table\"\n  file = \"ways.csv\""

// pods is T2c of theory C.3.
func pods(routing string) *wired {
	w := &wired{routing: routing, tiers: map[string]string{"s1": "core", "s2": "core"}}
	for t := 1; t <= 4; t++ {
		w.hosts = append(w.hosts, fmt.Sprint("t", t))
		w.tiers[fmt.Sprint("t", t)], w.tiers[fmt.Sprint("l", t)] = "leaf", "spine"
	}
	for l := 1; l <= 4; l++ {
		for t := 1; t <= 2; t++ {
			w.cables = append(w.cables, fmt.Sprintf("t%d-l%d", (l-1)/2*2+t, l))
		}
		w.cables = append(w.cables, fmt.Sprintf("l%d-s1", l), fmt.Sprintf("l%d-s2", l))
	}
	return w
}

// tree is the fat-tree of k ports.
func tree(k int) *wired {
	w := &wired{routing: `  paths = "up_down"`, tiers: map[string]string{}}
	for p := range k {
		for i := range k / 2 {
			e := fmt.Sprintf("e%d_%d", p, i)
			w.hosts, w.tiers[e] = append(w.hosts, e), "leaf"
			for j := range k / 2 {
				a := fmt.Sprintf("a%d_%d", p, j)
				w.tiers[a] = "spine"
				w.cables = append(w.cables, e+"-"+a)
				if i == 0 {
					for c := range k / 2 {
						w.tiers[fmt.Sprintf("c%d_%d", j, c)] = "core"
						w.cables = append(w.cables, fmt.Sprintf("%s-c%d_%d", a, j, c))
					}
				}
			}
		}
	}
	return w
}

// circled is a ring of n switches; what has at most far hops to go clockwise goes
// that way, and a row that crosses from the last to the first has a tag.
func circled(n, far int, tag string) *wired {
	w := &wired{routing: aTable}
	for i := range n {
		w.hosts = append(w.hosts, fmt.Sprint("r", i))
		w.cables = append(w.cables, fmt.Sprintf("r%d-r%d", i, (i+1)%n))
		for d := 1; d < n; d++ {
			next, with := (i+1)%n, ""
			if d > far {
				next = (i + n - 1) % n
			} else if next == 0 {
				with = tag
			}
			w.table = append(w.table, fmt.Sprintf("r%d * r%d r%d %s", i, (i+d)%n, next, with))
		}
	}
	return w
}

// dragonfly has a*h+1 groups of a routers with h global ports each; minimal ways.
func dragonfly(a, h int, tag string) *wired {
	w, groups := &wired{routing: aTable}, a*h+1
	name := func(g, i int) string { return fmt.Sprintf("g%d_%d", g, i) }
	exit := func(g, to int) int {
		for i := range a {
			for j := range h {
				if (g+1+i*h+j)%groups == to {
					return i
				}
			}
		}
		return -1
	}
	for g := range groups {
		for i := range a {
			w.hosts = append(w.hosts, name(g, i))
			for j := range i {
				w.cables = append(w.cables, name(g, j)+"-"+name(g, i))
			}
			for to := range groups {
				for k := range a {
					switch {
					case g == to && i == k:
					case g == to: // from another group it comes over the global link, and has its tag since
						w.table = append(w.table, fmt.Sprintf("%s * %s %s", name(g, i), name(to, k), name(to, k)))
					case i != exit(g, to):
						w.table = append(w.table, fmt.Sprintf("%s * %s %s", name(g, i), name(to, k), name(g, exit(g, to))))
					default:
						w.table = append(w.table, strings.TrimSpace(fmt.Sprintf("%s * %s %s %s", name(g, i), name(to, k), name(to, exit(to, g)), tag)))
					}
				}
			}
		}
		for to := range g {
			w.cables = append(w.cables, name(g, exit(g, to))+"-"+name(to, exit(to, g)))
		}
	}
	return w
}

// TestBufferGraphs: the topologies of theory C.3, from source text to the counts
// of the published or independently found answers. The contract has two lossless
// classes, so that counts are twice those of one where nothing is tagged.
func TestBufferGraphs(t *testing.T) {
	for _, c := range []struct {
		id              string
		source          *wired
		down            []string
		times           int64
		vertices, edges int64
		circles         []int64
		length          int
	}{
		{id: "T1a", source: tree(4), times: 2, vertices: 64, edges: 128},
		{id: "T2c", source: pods(`  paths = "up_down"`), times: 2, vertices: 32, edges: 56},
		{id: "T2d", source: pods("  model = \"up_down\"\n  repair = \"local\""), down: []string{"t1-l1"}, times: 2, vertices: 30, edges: 54},
		{id: "T2e", source: pods("  model = \"up_down\"\n  repair = \"local\""), down: []string{"t1-l1", "t4-l3"}, times: 2, vertices: 28, edges: 52, circles: []int64{4, 4}, length: 4},
		{id: "T3a", source: circled(3, 2, ""), times: 2, vertices: 3, edges: 3, circles: []int64{3}, length: 3},
		{id: "T3b", source: circled(3, 1, ""), times: 2, vertices: 6, edges: 0},
		{id: "T3c", source: circled(4, 2, ""), times: 2, vertices: 8, edges: 4, circles: []int64{4}, length: 4},
		{id: "T5a", source: dragonfly(2, 1, ""), times: 2, vertices: 12, edges: 12, circles: []int64{6, 6}, length: 6},
	} {
		t.Run(c.id, func(t *testing.T) {
			res, diags, view := compileText(t, c.source.text())
			if res == nil || res.Fabric == nil {
				t.Fatal(shown(diags, view))
			}
			b := graphOf(t, res, c.down)
			var circles []int64
			for _, n := range c.circles {
				for range c.times {
					circles = append(circles, n)
				}
			}
			if b.Vertices != c.times*c.vertices || b.Edges != c.times*c.edges || !slices.Equal(b.Circles, circles) || len(b.Cycle) != c.length {
				t.Errorf("%d vertices, %d edges, circles of %v, shortest %d; want %d, %d, %v, %d", b.Vertices, b.Edges, b.Circles, len(b.Cycle), c.times*c.vertices, c.times*c.edges, circles, c.length)
			}
			if cyclic := slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Rule == "ROCE801" }); len(c.down) == 0 && cyclic != (c.circles != nil) {
				t.Errorf("ROCE801 is found: %v\n%s", cyclic, shown(diags, view))
			}
		})
	}
}

// graphOf is the buffer graph of a fabric of one part, with links down.
func graphOf(t *testing.T, res *Result, down []string) *paths.Buffers {
	t.Helper()
	parts := paths.Parts(res.Fabric)
	if len(parts) != 1 {
		t.Fatalf("%d parts", len(parts))
	}
	o := parts[0].Options(0)
	o.Search, o.Down = true, parts[0].Down(linksDown(t, res.Fabric, down))
	b, err := paths.Deadlock(&parts[0].Net, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func linksDown(t *testing.T, f *fabric.Fabric, names []string) *fabric.Mask {
	t.Helper()
	m := &fabric.Mask{Links: map[fabric.LinkID]bool{}}
	for _, name := range names {
		l := slices.IndexFunc(f.Links, func(l fabric.Link) bool { return f.Text(l.Name) == name })
		if l < 1 {
			t.Fatalf("no link %s", name)
		}
		m.Links[fabric.LinkID(l)] = true
	}
	return m
}

// TestVirtualChannels: hosts send in the priorities of their own classes. The priority that a table gives after the dateline of a ring,
// or the global hop of a dragonfly, is none of them, and what is acyclic from theirs is not told as a deadlock.
func TestVirtualChannels(t *testing.T) {
	for _, c := range []struct {
		name   string
		source *wired
		cyclic bool
	}{
		{"ring", circled(3, 2, "4"), false},
		{"dragonfly", dragonfly(2, 1, "4"), false},
		{"larger dragonfly", dragonfly(3, 1, "4"), false},
		{"ring without a tag", circled(3, 2, ""), true},
		{"dragonfly without a tag", dragonfly(2, 1, ""), true},
	} {
		for _, edge := range []bool{true, false} {
			c.source.edge = edge
			res, diags, view := compileText(t, c.source.text())
			if res == nil || res.Fabric == nil {
				t.Fatal(shown(diags, view))
			}
			cyclic := slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Rule == "ROCE801" })
			if want := c.cyclic || !edge; cyclic != want { // hosts with both classes start in both priorities
				t.Errorf("%s, a contract of the edge: %v: ROCE801 is found: %v\n%s", c.name, edge, cyclic, shown(diags, view))
			}
		}
	}
}

// TestTagged: a dateline in a ring of three, and a tag on the global hop of a
// dragonfly, break the circles that the same ways have without them.
func TestTagged(t *testing.T) {
	for _, c := range []struct {
		name   string
		source *wired
	}{
		{"T3d", circled(3, 2, "4")},
		{"T5c, smaller", dragonfly(2, 1, "4")},
	} {
		res, diags, view := compileText(t, c.source.text())
		if res == nil || res.Fabric == nil {
			t.Fatal(shown(diags, view))
		}
		part := paths.Parts(res.Fabric)[0]
		o := part.Options(0)
		o.Priorities = []uint8{3}
		b, err := paths.Deadlock(&part.Net, o)
		if err != nil || !b.Acyclic() {
			t.Errorf("%s: circles of %v, %v", c.name, b.Circles, err)
		}
		if slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Rule == "ROCE804" }) {
			t.Errorf("%s: priority 4 has a class\n%s", c.name, shown(diags, view))
		}
	}
}

// TestFailures: what analysis asks for is found, and by the right rule.
func TestFailures(t *testing.T) {
	local := "  model = \"up_down\"\n  repair = \"local\""
	thin := &wired{hosts: []string{"t1", "t2"}, cables: []string{"t1-s1", "t2-s1"}, routing: `  paths = "up_down"`, more: "analysis {\n  failures = 1\n}\n"}
	twice := pods(local)
	twice.more = "analysis {\n  failures = 2\n  properties = [\"deadlock\"]\n}\n"
	calm := pods(`  paths = "up_down"`)
	calm.more = "analysis {\n  failures = 1\n}\n"
	quiet := *thin
	quiet.more = "analysis {\n  failures   = 1\n  properties = [\"deadlock\"]\n}\n"
	for _, c := range []struct {
		name   string
		source *wired
		want   map[string]bool // rules that are found, and that are not
	}{
		{"the only spine fails", thin, map[string]bool{"ROCE805": true, "ROCE801": false}},
		{"and nobody asks for reachability", &quiet, map[string]bool{"ROCE805": false}},
		{"two bounces", twice, map[string]bool{"ROCE801": true, "ROCE825": true, "ROCE805": false}},
		{"nothing is lost", calm, map[string]bool{"ROCE801": false, "ROCE803": false, "ROCE805": false, "ROCE825": false}},
	} {
		_, diags, view := compileText(t, c.source.text())
		for rule, want := range c.want {
			if slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Rule == rule }) != want {
				t.Errorf("%s: %s is found: %v\n%s", c.name, rule, !want, shown(diags, view))
			}
		}
	}
}

// TestAssumed: without a routing block nothing is assumed that leaves nodes
// without a way, and what follows from an assumption says so.
func TestAssumed(t *testing.T) {
	chain := &wired{hosts: []string{"l1", "l2", "l3"}, cables: []string{"l1-s1", "l2-s1", "l2-s2", "l3-s2"}}
	_, diags, view := compileText(t, strings.Replace(chain.text(), "routing \"default\" {\n  default = true\n\n}\n", "", 1))
	for _, d := range diags {
		if strings.HasPrefix(d.Rule, "ROCE80") && d.Rule <= "ROCE805" {
			t.Errorf("%s is found\n%s", d.Rule, shown(diags, view))
		}
	}
	ring := circled(5, 2, "")
	ring.table = nil
	_, diags, view = compileText(t, strings.Replace(ring.text(), "routing \"default\" {\n  default = true\n"+aTable+"\n}\n", "", 1))
	if !strings.Contains(shown(diags, view), "every shortest way is assumed") {
		t.Errorf("a ring of five has a circle\n%s", shown(diags, view))
	}
}
