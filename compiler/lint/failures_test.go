package lint_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
)

// TestFailuresLeft: with more failures than are looked at, ROCE822 reports what
// it saw and says how many it did not see.
func TestFailuresLeft(t *testing.T) {
	const lossy = "lossless  = false"
	few := findings(compiled(t, lint.BackupWay(lossy, "")+"analysis {\n  failures = 1\n}\n"), "ROCE822")
	more, last := "", "r2"
	for i := range 31 { // 34 switches and as many links: 34 * 2 failures, and pairs of them
		next := fmt.Sprintf("x%d", i)
		more, last = more+" "+last+"-"+next, next
	}
	many := findings(compiled(t, lint.BackupWay(lossy, more)+"analysis {\n  failures = 2\n}\n"), "ROCE822")
	if len(few) == 0 {
		t.Fatal("nothing is found")
	}
	const left = "ROCE822: whether ways that stand in for others treat each class alike is not known: "
	var said []string
	for _, f := range many {
		if strings.HasPrefix(f, left) {
			said = append(said, f)
		}
	}
	for _, f := range few {
		if strings.HasPrefix(f, left) {
			t.Errorf("with one failure: %s", f)
		}
	}
	if len(many) <= len(said) {
		t.Errorf("what was seen is not reported: %q", many)
	}
	want := []string{left + "4 failures or more were not looked at: classes lose their treatment already, so that each failure is looked at by itself, and the limits are 4096 of them and 50000000 steps"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}

// TestFailuresBudget: pairs of failures on a fabric in which no two switches
// stand alike are looked at as far as the budget goes, and the rest is counted.
func TestFailuresBudget(t *testing.T) {
	cables := ""
	for i := range 40 {
		cables += fmt.Sprintf(" x%d-x%d", i, i+1)
		if i%3 == 0 && i < 38 {
			cables += fmt.Sprintf(" x%d-x%d", i, min(40, i+2+i/4))
		}
	}
	text := lint.NetOf("x0 x7 x20 x33 x40", strings.TrimSpace(cables), "model = \"ecmp\"")
	for _, c := range []struct {
		analysis string
		want     []string
	}{
		{"failures = 1\n  properties = [\"reachability\", \"deadlock\"]", nil},
		{"failures = 2\n  budget = 1000000\n  properties = [\"reachability\"]", []string{"ROCE805"}},
		{"failures = 2\n  budget = 1000000\n  properties = [\"reachability\", \"deadlock\"]", []string{"ROCE801"}},
	} {
		var got []string
		for _, d := range compiled(t, text+"analysis {\n  "+c.analysis+"\n}\n") {
			if strings.Contains(d.Summary, "failures or more were not looked at: those under ") && strings.Contains(d.Summary, "; raise budget of analysis above ") {
				got = append(got, d.Rule)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.analysis, diff)
		}
	}
}

// dualNode is a node with a bond of a mode to both switches of a pair.
func dualNode(mode string) string {
	return `
node "dual" {
  os   = "ubuntu/24.04"
  slot = 9
  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    fec   = "rs"
    qos   = qos.roce
    mtu   = 9000
  }
  bond "b" {
    mode    = "` + mode + `"
    members = "p[0-1]"
  }
}
link "dual0" {
  ends  = [node.dual.nic["p0"], switch.t1.port["Ethernet40"]]
  cable = { media = "dac", length = "3m" }
}
link "dual1" {
  ends  = [node.dual.nic["p1"], switch.t2.port["Ethernet40"]]
  cable = { media = "dac", length = "3m" }
}
`
}

// dualToR is two leaves that a node is bonded to, without a peer link, below two
// spines, with local repair; more is what analysis says besides.
func dualToR(more string) string {
	return lint.NetOf("t3", "t1-s1 t2-s1 t3-s1 t1-s2 t2-s2 t3-s2", "model    = \"up_down\"\n  repair = \"local\"") + `
mlag "pair" {
  switches = [switch.t1, switch.t2]
}
` + dualNode("lacp") + `analysis {
  properties = ["deadlock", "reachability"]
  ` + more + `
}
`
}

// TestHostLinks: under local repair the cables of a node on both switches of a
// pair fail like any other, and what follows is proven: one of them makes frames
// bounce, which is no circle, and two of two nodes make one.
func TestHostLinks(t *testing.T) {
	for _, c := range []struct {
		name, more string
		want       []string
	}{
		{"one failure", "failures = 1", nil},
		{"two failures", "failures = 2", []string{"ROCE801 "}},
	} {
		text := dualToR(c.more)
		if c.more == "failures = 2" { // a second node, so that each switch of the pair may lose one
			i, j := strings.Index(text, `node "dual"`), strings.Index(text, "analysis {")
			second := strings.NewReplacer("dual", "other", "Ethernet40", "Ethernet44", "slot = 9", "slot = 10").Replace(text[i:j])
			text = text[:j] + second + text[j:]
		}
		var got []string
		about := false
		for _, d := range compiled(t, text) {
			if d.Rule == "ROCE801" {
				if strings.Contains(d.Summary, "not ruled out") {
					t.Errorf("%s: %s", c.name, d.Summary)
				}
				if !slices.Contains(got, "ROCE801 ") {
					got = append(got, "ROCE801 ")
				}
				for _, m := range append(d.Members, diag.Member{Summary: d.Summary}) {
					about = about || strings.Contains(m.Summary, "dual") && strings.Contains(m.Summary, "other")
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if len(c.want) > 0 && !about {
			t.Errorf("%s: none of them is by cables of nodes", c.name)
		}
	}
	// whatif: one cable of the node, and the only one of another.
	res := compiledResult(t, dualToR("failures = 1"))
	v := lint.NewProver(res.Fabric, res.Facts)
	for l := 1; l < len(res.Fabric.Links); l++ {
		m := &fabric.Mask{Links: map[fabric.LinkID]bool{fabric.LinkID(l): true}}
		o := v.Prove(m, fabric.AllProperties)
		for _, x := range o.Verdicts {
			if len(x.Open) > 0 || len(x.Broken) > 0 && x.Property == fabric.Deadlock {
				t.Errorf("%s: %s: %q, %d broken", o.Names, x.Property, x.Open, len(x.Broken))
			}
		}
	}
	outcomes, open := v.Failures(nil, 1, fabric.PropertySet(0).With(fabric.Deadlock))
	cables := 0
	for _, o := range outcomes {
		if strings.Contains(o.Names, "dual/p") {
			cables += o.Alike
		}
	}
	if cables != 2 || len(open) > 0 {
		t.Errorf("%d cables of the node fail, want 2; %q", cables, open)
	}
}

// TestFailuresPeerLink: two spines that repair by themselves and have each lost a
// leaf are a circle [theory T4d]. As an MLAG pair they send over their peer link,
// and no circle is left, under any single failure either.
func TestFailuresPeerLink(t *testing.T) {
	text := lint.NetOf("l1 l2 l3 l4", "l1-s1 l2-s1 l3-s1 l4-s1 l1-s2 l2-s2 l3-s2 l4-s2", "model    = \"up_down\"\n  repair = \"local\"")
	const pair = "mlag \"pair\" {\n  switches  = [switch.s1, switch.s2]\n  peer_link = \"Ethernet16\"\n  cable     = { media = \"dac\", length = \"1m\" }\n}\n"
	for name, c := range map[string]struct {
		text   string
		circle bool
	}{
		"two spines": {text, true},
		"a pair":     {text + pair, false},
	} {
		res := compiledResult(t, c.text)
		f := res.Fabric
		link := func(a, b string) fabric.LinkID {
			for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
				x, y := f.Text(f.Devices[f.Ports[f.Links[l].A].Device].Name), f.Text(f.Devices[f.Ports[f.Links[l].B].Device].Name)
				if x == a && y == b || x == b && y == a {
					return l
				}
			}
			t.Fatalf("%s: no link %s-%s", name, a, b)
			return 0
		}
		set := fabric.PropertySet(0).With(fabric.Deadlock).With(fabric.Reachability)
		v := lint.NewProver(f, res.Facts)
		o := v.Prove(&fabric.Mask{Links: map[fabric.LinkID]bool{link("l1", "s1"): true, link("l4", "s2"): true}}, set)
		var found, open []string
		for _, verdict := range o.Verdicts {
			for _, d := range verdict.Broken {
				found = append(found, d.Rule)
			}
			open = append(open, verdict.Open...)
		}
		if slices.Contains(found, "ROCE801") != c.circle || len(open) > 0 {
			t.Errorf("%s, l1-s1 and l4-s2: found %q, not proven %q", name, found, open)
		}
		if !c.circle && len(found) > 0 {
			t.Errorf("%s: %q, and l1 reaches l4 over the peer link", name, found)
		}
		outcomes, left := v.Failures(nil, 1, set)
		kinds := map[string]bool{}
		for _, o := range outcomes {
			kinds[o.Names] = true
			for _, verdict := range o.Verdicts {
				if len(verdict.Broken)+len(verdict.Open) > 0 {
					t.Errorf("%s, %s: %+v", name, o.Names, verdict)
				}
			}
		}
		if len(left) > 0 || len(outcomes) < 3 || kinds["the link s1/Ethernet16 - s2/Ethernet16"] != !c.circle {
			t.Errorf("%s: %d outcomes of %v, %v", name, len(outcomes), kinds, left)
		}
	}
}

// TestFailuresPlanes: two pairs with a switch in each of two planes, and what joins
// the planes fails: their peer links stand in for it on the way up and on the way
// down, which is a circle. No other failure makes one.
func TestFailuresPlanes(t *testing.T) {
	text := lint.NetOf("a b c d s r", "a-s b-r c-s d-r s-top r-top", `model = "up_down"`)
	for _, pair := range [][2]string{{"a", "b"}, {"c", "d"}} {
		text += fmt.Sprintf("mlag \"%s%s\" {\n  switches  = [switch.%s, switch.%s]\n  peer_link = \"Ethernet16\"\n  cable     = { media = \"dac\", length = \"1m\" }\n}\n", pair[0], pair[1], pair[0], pair[1])
	}
	res := compiledResult(t, text)
	tiers := map[string]fabric.Tier{"s": fabric.SpineTier, "r": fabric.SpineTier, "top": fabric.CoreTier}
	for d := range res.Fabric.Devices {
		if dev := &res.Fabric.Devices[d]; dev.Kind == fabric.Switch {
			dev.Tier = max(fabric.LeafTier, tiers[res.Fabric.Text(dev.Name)])
		}
	}
	v := lint.NewProver(res.Fabric, res.Facts)
	if b := v.Parts()[0].Buffers; b == nil || !b.Acyclic() {
		t.Fatalf("with everything up: %+v", b)
	}
	outcomes, open := v.Failures(nil, 1, fabric.PropertySet(0).With(fabric.Deadlock))
	if len(open) > 0 {
		t.Error(open)
	}
	var got []string
	for _, o := range outcomes {
		for _, verdict := range o.Verdicts {
			for _, d := range verdict.Broken {
				got = append(got, d.Rule+" "+o.Names)
			}
			if len(verdict.Open) > 0 {
				t.Errorf("%s: %q", o.Names, verdict.Open)
			}
		}
	}
	want := []string{"ROCE801 the link r/Ethernet12 - top/Ethernet4", "ROCE801 top"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("circles (-want +got):\n%s", diff)
	}
}

// lossyPeers is three leaves below two spines, of which two are a pair whose peer
// link is lossy, with a node on both of them; legs says how it has its two cables.
func lossyPeers(legs string) string {
	return lossyPair(legs, "t3", "t1-s1 t2-s1 t3-s1 t1-s2 t2-s2 t3-s2")
}

// lossyPair is the pair among other switches, with nodes on hosts.
func lossyPair(legs, hosts, cables string) string {
	port := "  port \"Ethernet48\" {\n    speed = \"100G\"\n    fec   = \"rs\"\n    mtu   = 9000\n    qos   = qos.backup\n  }\n"
	text := lint.NetOf(hosts, cables, `model = "up_down"`)
	for _, s := range []string{"t1", "t2"} {
		text = strings.Replace(text, "switch \""+s+"\" {\n", "switch \""+s+"\" {\n"+port, 1)
	}
	return strings.Replace(text, "node \"n-t3\"", "qos \"backup\" {\n  from = qos.roce\n  class \"rdma\" {\n    lossless = false\n  }\n}\nnode \"n-t3\"", 1) + `
mlag "pair" {
  switches  = [switch.t1, switch.t2]
  peer_link = "Ethernet48"
  cable     = { media = "dac", length = "1m" }
}
` + dualNode(legs)
}

// TestFailuresLeg: a node on both switches of a pair loses a cable, and its class
// goes by a peer link that is lossy: a way of hops, each with its source. A bond
// that uses one cable at a time has the peer link on its way with everything up.
func TestFailuresLeg(t *testing.T) {
	for _, c := range []struct{ mode, want string }{
		{"lacp", "ROCE822: class rdma goes by t1/Ethernet48 to t2/Ethernet48 with the link t1/Ethernet40 - dual/p0 down, and loses its treatment there: no PFC"},
		{"active_backup", "ROCE302: class rdma becomes lossy at t2/Ethernet48: priority 3 has no PFC there, on the way to t1/Ethernet48"},
	} {
		var got []string
		for _, d := range compiled(t, lossyPeers(c.mode)) {
			if d.Rule != "ROCE822" && d.Rule != "ROCE302" {
				continue
			}
			got = append(got, d.Rule+": "+d.Summary)
			var way []string
			for _, s := range d.Steps {
				if way = append(way, s.At); s.Label.Span.IsZero() {
					t.Errorf("%s: %s has no source", c.mode, s.At)
				}
			}
			want := []string{"n-t3/rail0 > t3/Ethernet0", "t3/Ethernet4 > s1/Ethernet8", "s1/Ethernet0 > t1/Ethernet0", "t1/Ethernet48 > t2/Ethernet48", "t2/Ethernet40 > dual/p1"}
			if c.mode != "lacp" {
				want = []string{"dual/p1 > t2/Ethernet40", "t2/Ethernet48 > t1/Ethernet48", "t1/Ethernet40 > dual/p0"}
			}
			if diff := cmp.Diff(want, way); diff != "" {
				t.Errorf("%s: way (-want +got):\n%s", c.mode, diff)
			}
		}
		if diff := cmp.Diff([]string{c.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.mode, diff)
		}
	}
}

// TestFailuresLegAlone: the cables of a node to a pair that no other cable joins to the
// rest fail by themselves only, which is said of the one property that goes by them.
func TestFailuresLegAlone(t *testing.T) {
	for text, want := range map[string]int{
		lossyPair("lacp", "t1 t2 t3", "t3-s1"): 2,
		lossyPeers("lacp"):                     0, // in pairs with all else
	} {
		res := compiledResult(t, text)
		v := lint.NewProver(res.Fabric, res.Facts)
		for _, n := range []int{1, 2} {
			told := 0
			outcomes, open := v.Failures(nil, n, lint.ByPath)
			for _, o := range outcomes {
				for _, of := range o.Verdicts {
					for _, why := range of.Open {
						if count, ok := strings.CutSuffix(why, " cables of nodes to both switches of a pair fail one at a time, and not with something else: --fail takes out more"); ok && of.Property == fabric.Composition {
							told, _ = strconv.Atoi(count)
						}
					}
				}
			}
			if n == 1 && told != 0 || n == 2 && told != want || len(open) > 0 {
				t.Errorf("%d failures: %d cables are told to fail alone, want %d; open: %v", n, told, want, open)
			}
		}
	}
}

// TestLossyCore: a class that its nodes ask to be lossless is lossy between two
// switches, whose contract agrees at both ends.
func TestLossyCore(t *testing.T) {
	text := lint.NetOf("r0 r1", "r0-r1", `model = "ecmp"`)
	port := "  port \"Ethernet4\" {\n    speed = \"100G\"\n    fec   = \"rs\"\n    mtu   = 9000\n    qos   = qos.inside\n  }\n"
	for _, s := range []string{"r0", "r1"} {
		text = strings.Replace(text, "switch \""+s+"\" {\n", "switch \""+s+"\" {\n"+port, 1)
	}
	text = strings.ReplaceAll(text, "Ethernet[0-4:4]", "Ethernet0")
	for _, c := range []struct {
		lossless string
		want     []string
	}{
		{"true", nil},
		{"false", []string{"ROCE302: class rdma becomes lossy at r1/Ethernet4: priority 3 has no PFC there, on the way to r0/Ethernet4"}},
	} {
		inside := "qos \"inside\" {\n  from = qos.roce\n  class \"rdma\" {\n    lossless = " + c.lossless + "\n  }\n}\n"
		if diff := cmp.Diff(c.want, findings(compiled(t, strings.Replace(text, "node \"n-r0\"", inside+"node \"n-r0\"", 1)), "ROCE302")); diff != "" {
			t.Errorf("lossless = %s (-want +got):\n%s", c.lossless, diff)
		}
	}
}

// TestLostNames: who loses the way by a failure is named, and not who has its
// place among the switches of which those that stand alike are one.
func TestLostNames(t *testing.T) {
	text := lint.NetOf("x1 x2 x3 z", "x1-a x2-a x3-a z-a x1-b x2-b x3-b", `model = "up_down"`) + "analysis {\n  failures = 1\n  properties = [\"reachability\"]\n}\n"
	want := []string{
		"ROCE805: no path from the nodes of z to those of x1 with a down",
		"ROCE805: no path from the nodes of z to those of x1 with the link a/Ethernet0 - x1/Ethernet4 down",
	}
	if diff := cmp.Diff(want, findings(compiled(t, text), "ROCE805")); diff != "" {
		t.Error(diff)
	}
}

// twoCables is four leaves that cables join, and nodes with cables to two of them.
func twoCables(cables string, pairs ...[2]string) string {
	text := lint.NetOf("l1 l2 l3 l4", cables, `model = "up_down"`)
	for i, on := range pairs {
		name := fmt.Sprintf("dual%d", i)
		text += fmt.Sprintf(`
node "%s" {
  os   = "ubuntu/24.04"
  slot = %d
  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    fec   = "rs"
    qos   = qos.roce
    mtu   = 9000
  }
}
`, name, 10+i)
		for j, leaf := range on {
			text += fmt.Sprintf("link \"%s-%d\" {\n  ends  = [node.%s.nic[\"p%d\"], switch.%s.port[\"Ethernet40\"]]\n  cable = { media = \"dac\", length = \"3m\" }\n}\n", name, j, name, j, leaf)
		}
	}
	return text + "analysis {\n  failures = 2\n  properties = [\"reachability\"]\n}\n"
}

// TestCutOff: leaves that are all that a node has do not stand for others that are
// not, whichever they are.
func TestCutOff(t *testing.T) {
	const spines = "l1-s1 l2-s1 l3-s1 l4-s1 l1-s2 l2-s2 l3-s2 l4-s2"
	for _, c := range []struct {
		cables string
		pairs  [][2]string
		want   []string
		notes  string
	}{
		{spines, [][2]string{{"l1", "l2"}, {"l3", "l4"}}, []string{"ROCE805: dual0 is cut off with l1 and l2 down"}, "4 failures stand alike"},
		{spines, [][2]string{{"l1", "l3"}, {"l2", "l4"}}, []string{"ROCE805: dual0 is cut off with l1 and l3 down"}, "4 failures stand alike"},
		{spines, [][2]string{{"l2", "l3"}}, []string{"ROCE805: dual0 is cut off with l2 and l3 down"}, "2 failures stand alike"},
		{"l1-s1 l2-s1 l1-s2 l2-s2 l3-s3 l4-s3 l3-s4 l4-s4", [][2]string{{"l2", "l3"}}, []string{"ROCE805: dual0 is cut off with l2 and l3 down"}, "2 failures stand alike"},
		{spines, nil, nil, ""},
	} {
		var got []string
		for _, d := range compiled(t, twoCables(c.cables, c.pairs...)) {
			if d.Rule == "ROCE805" && strings.Contains(d.Summary, "cut off") {
				got = append(got, d.Rule+": "+d.Summary)
				if !slices.Contains(d.Notes, c.notes) {
					t.Errorf("%v: notes %q, want %s", c.pairs, d.Notes, c.notes)
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: %s", c.pairs, diff)
		}
	}
}

// TestFailuresSteps: under failures no circle is looked for in a part that has one
// anyway; what else they take is counted, and ends at the budget.
func TestFailuresSteps(t *testing.T) {
	cables := ""
	for i := range 24 {
		cables += fmt.Sprintf(" x%d-x%d", i, (i+1)%24)
		if i%5 == 0 {
			cables += fmt.Sprintf(" x%d-x%d", i, (i+9)%24)
		}
	}
	res := compiledResult(t, lint.NetOf("x0 x3 x7 x8 x13 x16 x20 x22", strings.TrimSpace(cables), "model = \"ecmp\""))
	const links, switches = 29, 24
	for _, c := range []struct {
		budget int64
		most   int // failures that are looked at
		left   bool
	}{
		{0, links + switches, false},
		{8000, 16, true},
	} {
		res.Fabric.Analysis.BudgetSteps = c.budget
		v := lint.NewProver(res.Fabric, res.Facts)
		if b := v.Parts()[0].Buffers; b == nil || b.Acyclic() {
			t.Fatal("no circle with everything up")
		}
		outcomes, open := v.Failures(nil, 1, fabric.PropertySet(0).With(fabric.Deadlock))
		left := slices.ContainsFunc(open, func(s string) bool {
			return strings.Contains(s, "failures or more were not looked at: those under ")
		})
		if len(outcomes) > c.most || len(outcomes) == 0 || left != c.left || !left && len(outcomes) != c.most {
			t.Errorf("budget %d: %d failures are looked at, at most %d; left %v: %q", c.budget, len(outcomes), c.most, left, open)
		}
		for _, o := range outcomes {
			const ways = 8 * (2*links + switches)
			if got := lint.StepsOf(o); got > int64(ways+len(res.Fabric.Ports)) || got == 0 {
				t.Errorf("%s: %d steps, and the ways take %d", o.Names, got, ways)
			}
		}
	}
}

// TestRepairsBudget: the search for a bounce under local repair ends at the budget,
// and is none where no switch is above another.
func TestRepairsBudget(t *testing.T) {
	thick := "" // two cables each: no single failure leaves a switch without a way
	for l := range 3 {
		for s := range 2 {
			thick += fmt.Sprintf(" l%d-s%d s%d-l%d", l, s, s, l)
		}
	}
	leaves := lint.NetOf("l0 l1 l2", strings.TrimSpace(thick), "model    = \"up_down\"\n  repair = \"local\"")
	ring := lint.NetOf("r0 r1 r2", "r0-r1 r1-r2 r2-r0", "model    = \"ecmp\"\n  repair = \"local\"")
	for _, c := range []struct {
		name, text string
		budget     int64
		want       []string
	}{
		{"all looked at", leaves, 0, nil},
		{"out of steps", leaves, 1200, []string{"2 of 3 kinds of failures take"}},
		{"none above another", ring, 1, nil},
	} {
		res := compiledResult(t, c.text)
		res.Fabric.Analysis.BudgetSteps = c.budget
		var got []string
		for _, d := range lint.RunEvery(res.Fabric, res.Facts, []*lint.Rule{lint.Find("ROCE825")}) {
			_, why, _ := strings.Cut(d.Summary, "is not known: ")
			got = append(got, strings.Join(strings.Fields(why)[:min(7, len(strings.Fields(why)))], " "))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
