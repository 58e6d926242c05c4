package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
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

// dualToR is two leaves that a node is bonded to, without a peer link, below two
// spines, with local repair; more is what analysis says besides.
func dualToR(more string) string {
	return lint.NetOf("t3", "t1-s1 t2-s1 t3-s1 t1-s2 t2-s2 t3-s2", "model  = \"up_down\"\n  repair = \"local\"") + `
mlag "pair" {
  switches = [switch.t1, switch.t2]
}
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
    mode    = "lacp"
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
analysis {
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
				about = about || strings.Contains(d.Summary, "dual") && strings.Contains(d.Summary, "other")
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
	text := lint.NetOf("l1 l2 l3 l4", "l1-s1 l2-s1 l3-s1 l4-s1 l1-s2 l2-s2 l3-s2 l4-s2", "model  = \"up_down\"\n  repair = \"local\"")
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
