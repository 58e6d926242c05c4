package compiler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/compiler/paths"
	"github.com/rocec/rocec/lang/diag"
)

// paired is an MLAG pair a, b above switches that each have two cables to it, one
// node on each, in one VLAN. With lags, the cables of a switch are one LAG over the
// pair. segment is said of the VLAN.
type paired struct {
	lags    bool
	number  string // of the halves, an expression of self.name that is added
	segment string
	below   []string
	alone   []string // on a only
}

func (p *paired) text() string {
	contract, _, _ := strings.Cut(lint.Find("ROCE301").Good, `segment "storage"`)
	var b strings.Builder
	fmt.Fprintf(&b, "%ssegment \"storage\" {\n  vlan   = 100\n  subnet = \"10.100.0.0/24\"\n  qos    = qos.roce\n%s}\n", contract, p.segment)
	port := func(low, high int) string {
		return fmt.Sprintf("  port \"Ethernet[%d-%d:4]\" {\n    speed = \"100G\"\n    fec = \"rs\"\n    untagged = segment.storage\n  }\n", 4*low, 4*high)
	}
	halves := ""
	all := slices.Concat(p.below, p.alone)
	for i, name := range all {
		on := "ab"
		if slices.Contains(p.alone, name) {
			on = "a"
		}
		if p.lags && len(on) == 2 {
			halves += fmt.Sprintf("  lag \"PortChannel%d\" {\n    members = \"Ethernet%d\"\n    id = %d%s\n  }\n", i+1, 4*i, i+1, p.number)
		}
		fmt.Fprintf(&b, "switch \"%s\" {\n  model = \"nvidia/sn3700\"\n  os = \"sonic/202505\"\n%s", name, port(0, len(on)))
		if p.lags && len(on) == 2 {
			b.WriteString("  lag \"PortChannel1\" {\n    members = \"Ethernet[4-8:4]\"\n  }\n")
		}
		b.WriteString("}\n")
		for j, at := range on {
			fmt.Fprintf(&b, "link \"%s-%c\" {\n  ends = [switch.%s.port[\"Ethernet%d\"], switch.%c.port[\"Ethernet%d\"]]\n  cable = { media = \"dac\", length = \"3m\" }\n}\n", name, at, name, 4*(j+1), at, 4*i)
		}
		fmt.Fprintf(&b, "node \"n-%s\" {\n  os = \"ubuntu/24.04\"\n  slot = %d\n  nic \"rail0\" {\n    model = \"nvidia/connectx-6-dx\"\n    speed = \"100G\"\n    fec = \"rs\"\n    untagged = segment.storage\n  }\n}\n", name, i+1)
		fmt.Fprintf(&b, "link \"n-%s\" {\n  ends = [node.n-%s.nic[\"rail0\"], switch.%s.port[\"Ethernet0\"]]\n  cable = { media = \"dac\", length = \"3m\" }\n}\n", name, name, name)
	}
	for _, name := range []string{"a", "b"} {
		fmt.Fprintf(&b, "switch \"%s\" {\n  model = \"nvidia/sn3700\"\n  os = \"sonic/202505\"\n%s%s  port \"Ethernet100\" {\n    speed = \"100G\"\n    fec = \"rs\"\n  }\n}\n", name, port(0, max(1, len(all)-1)), halves)
	}
	b.WriteString("mlag \"pair\" {\n  switches = [switch.a, switch.b]\n  peer_link = \"Ethernet100\"\n  cable = { media = \"dac\", length = \"1m\" }\n}\n")
	return b.String()
}

// linkOf is the cable between two devices.
func linkOf(t *testing.T, f *fabric.Fabric, a, b string) fabric.LinkID {
	t.Helper()
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		x, y := f.Text(f.Devices[f.Ports[f.Links[l].A].Device].Name), f.Text(f.Devices[f.Ports[f.Links[l].B].Device].Name)
		if x == a && y == b || x == b && y == a {
			return l
		}
	}
	t.Fatalf("no link %s-%s", a, b)
	return 0
}

// waitsUnder are the waits of the buffer graph of priority 3 with its pairs, by name.
func waitsUnder(t *testing.T, f *fabric.Fabric, part *paths.Part, m *fabric.Mask) map[string]bool {
	t.Helper()
	name := func(s paths.Switch) string { return f.Text(f.Devices[part.Device(s)].Name) }
	o := part.HomedOptions(0)
	waits := map[string]bool{}
	o.Down, o.Search, o.Whole, o.Priorities = part.HomedDown(m), true, true, []uint8{3}
	o.Each = func(v, w paths.Vertex) {
		waits[fmt.Sprintf("%s>%s %s>%s", name(v.From), name(v.To), name(w.From), name(w.To))] = true
	}
	if _, err := paths.Deadlock(&part.Homed.Net, o); err != nil {
		t.Fatal(err)
	}
	return waits
}

// TestLAGOverPair: the LAG of a switch over a pair has two halves with one number
// on the pair; and when a leg fails, nobody but the pair learns of it, so that
// traffic crosses the peer link.
func TestLAGOverPair(t *testing.T) {
	down := func(f *fabric.Fabric) *fabric.Mask {
		return &fabric.Mask{Links: map[fabric.LinkID]bool{linkOf(t, f, "a", "x"): true}}
	}
	for _, c := range []struct {
		name string
		of   paired
		want map[string]bool // with the cable from a to x down
	}{
		{"LAGs", paired{lags: true, below: []string{"x", "y"}}, map[string]bool{"y>b b>x": true, "x>b b>y": true, "y>a a>b": true, "a>b b>x": true}},
		{"cables of their own", paired{below: []string{"x", "y"}}, map[string]bool{"y>b b>x": true, "x>b b>y": true}},
	} {
		res, diags, view := compileText(t, c.of.text())
		if diags.HasErrors() {
			t.Fatalf("%s: %s", c.name, shown(diags, view))
		}
		f := res.Fabric
		for id := range f.LAGs {
			lag := &f.LAGs[id]
			d := &f.Devices[lag.Device]
			if half := d.MLAG != 0 && lag.Decl != f.MLAGs[1].Decl; id > 0 && half != (lag.MLAG != 0) {
				t.Errorf("%s: %s of %s: half of a LAG over the pair is %v", c.name, f.Text(lag.Name), f.Text(d.Name), lag.MLAG != 0)
			}
		}
		part := paths.Parts(f)[0]
		if len(part.Gaps) > 0 || part.Homed == nil {
			t.Fatalf("%s: %+v", c.name, part.Gaps)
		}
		if d := cmp.Diff(c.want, waitsUnder(t, f, part, down(f))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		outcomes, open := lint.NewProver(f, res.Facts).Failures(nil, 2, lint.ByPath)
		for _, o := range outcomes {
			for _, v := range o.Verdicts {
				open = append(open, v.Open...)
				if v.Property == fabric.Deadlock && len(v.Broken) > 0 {
					t.Errorf("%s: %s with %s down", c.name, v.Broken[0].Summary, o.Names)
				}
			}
		}
		if len(open) > 0 || len(outcomes) < 10 {
			t.Errorf("%s: %d failures, %q", c.name, len(outcomes), open)
		}
	}
	two := paired{lags: true, below: []string{"x", "y"}, number: ` + (self.name == "a" ? 0 : 40)`}
	_, diags, view := compileText(t, two.text())
	if text := shown(diags, view); !strings.Contains(text, "have two numbers") || !strings.Contains(text, "ROCE814") {
		t.Errorf("halves with two numbers: %s", text)
	}
}

// TestPairHashed: the hash of a LAG over a pair also takes the switch that has no
// cable to another one, and what it sends there crosses the peer link, with
// everything up; nothing is left out of the proof, and no failure makes a circle.
func TestPairHashed(t *testing.T) {
	for _, c := range []struct {
		name   string
		of     paired
		across map[string]bool // waits by the peer link
	}{
		{"a switch on one of the two", paired{lags: true, below: []string{"x", "y"}, alone: []string{"z"}}, map[string]bool{"x>b b>a": true, "y>b b>a": true, "b>a a>z": true}},
		{"and no LAG", paired{below: []string{"x", "y"}, alone: []string{"z"}}, map[string]bool{}},
		{"none", paired{lags: true, below: []string{"x", "y"}}, map[string]bool{}},
	} {
		res, diags, view := compileText(t, c.of.text())
		if text := shown(diags, view); diags.HasErrors() || strings.Contains(text, "not followed") || strings.Contains(text, "not ruled out") {
			t.Fatalf("%s: %s", c.name, text)
		}
		across := map[string]bool{}
		for w := range waitsUnder(t, res.Fabric, paths.Parts(res.Fabric)[0], nil) {
			if strings.Contains(w, "a>b") || strings.Contains(w, "b>a") {
				across[w] = true
			}
		}
		if d := cmp.Diff(c.across, across); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		v := lint.NewProver(res.Fabric, res.Facts)
		if b := v.Parts()[0].Buffers; b == nil || !b.Acyclic() || len(c.across) > 0 && b.Edges == 0 {
			t.Errorf("%s: %+v", c.name, b)
		}
		outcomes, open := v.Failures(nil, 1, lint.ByPath)
		for _, o := range outcomes {
			for _, v := range o.Verdicts {
				if open = append(open, v.Open...); v.Property == fabric.Deadlock && len(v.Broken) > 0 {
					t.Errorf("%s: %s with %s down", c.name, v.Broken[0].Summary, o.Names)
				}
			}
		}
		if len(open) > 0 || len(outcomes) < 5 {
			t.Errorf("%s: %d failures, %q", c.name, len(outcomes), open)
		}
	}
}

// TestFloodOverPair: a lossless flood crosses the peer link of a pair, and no bond
// that both switches have takes it on. Bridged by cables of their own, it goes
// round.
func TestFloodOverPair(t *testing.T) {
	const flood = "  unknown_unicast = \"flood\"\n"
	for _, c := range []struct {
		name   string
		of     paired
		circle bool
		across map[string]bool // waits for what has crossed the peer link
	}{
		{"LAGs", paired{lags: true, below: []string{"x", "y"}, segment: flood}, false, map[string]bool{}},
		{"LAGs, and a switch on one of the two", paired{lags: true, below: []string{"x", "y"}, alone: []string{"z"}, segment: flood}, false, map[string]bool{"b>a a>z": true}},
		{"cables of their own", paired{below: []string{"x", "y"}, segment: flood}, true, map[string]bool{"a>b b>x": true, "a>b b>y": true, "b>a a>x": true, "b>a a>y": true}},
		{"a switch on one of the two, and no circle but over the peer link", paired{below: []string{"x"}, segment: flood}, true, map[string]bool{"a>b b>x": true, "b>a a>x": true}},
	} {
		res, diags, view := compileText(t, c.of.text())
		found := slices.ContainsFunc(diags, func(d diag.Diagnostic) bool {
			return d.Rule == "ROCE801" && strings.HasPrefix(d.Summary, "deadlock possible")
		})
		if found != c.circle {
			t.Errorf("%s: a circle is found: %v\n%s", c.name, found, shown(diags, view))
		}
		across := map[string]bool{}
		for w := range waitsUnder(t, res.Fabric, paths.Parts(res.Fabric)[0], nil) {
			if w[:3] == "a>b" || w[:3] == "b>a" {
				across[w] = true
			}
		}
		if d := cmp.Diff(c.across, across); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
