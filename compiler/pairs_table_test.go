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

// dual is a node that is bonded to t1 and t2, which are a pair; peer is said of the
// pair besides.
func dual(peer string) string {
	return `mlag "pair" {
  switches = [switch.t1, switch.t2]
` + peer + `}
node "dual" {
  os   = "ubuntu/24.04"
  slot = 99
  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    fec   = "rs"
    qos   = qos.roce
  }
  bond "b" {
    mode    = "lacp"
    members = "p[0-1]"
  }
}
link "dual0" {
  ends  = [node.dual.nic["p0"], switch.t1.port["Ethernet8"]]
  cable = { media = "dac", length = "3m" }
}
link "dual1" {
  ends  = [node.dual.nic["p1"], switch.t2.port["Ethernet8"]]
  cable = { media = "dac", length = "3m" }
}
`
}

const peerLink = "  peer_link = \"Ethernet100\"\n  cable = { media = \"dac\", length = \"1m\" }\n"

// TestTableOfBonded: rows to a node on both switches of a pair hold for either of
// them, whichever they name; what has lost its cable to the node crosses the peer
// link, and a row may name that itself.
func TestTableOfBonded(t *testing.T) {
	toHost := []string{"t1 * n-t3 s1", "t2 * n-t3 s1", "s1 * n-t3 t3"}
	for _, c := range []struct {
		name  string
		table []string
		found []string        // rules
		want  map[string]bool // waits with the cable from t1 to the node down
	}{
		{
			"by one of the two",
			[]string{"t3 * dual s1", "s1 * dual t1"},
			nil,
			map[string]bool{"t3>s1 s1>t1": true, "s1>t1 t1>t2": true, "t1>t2 t2>dual": true, "t1>s1 s1>t3": true, "t2>s1 s1>t3": true},
		},
		{
			"by both",
			[]string{"t3 * dual s1", "s1 * dual t1", "s1 * dual t2"},
			nil,
			map[string]bool{"t3>s1 s1>t1": true, "s1>t1 t1>t2": true, "t1>t2 t2>dual": true, "t3>s1 s1>t2": true, "s1>t2 t2>dual": true, "t1>s1 s1>t3": true, "t2>s1 s1>t3": true},
		},
		{
			"to the switches",
			[]string{"t3 * t1 s1", "t3 * t2 s1", "s1 * t1 t1", "s1 * t2 t2"},
			nil,
			map[string]bool{"t3>s1 s1>t1": true, "s1>t1 t1>t2": true, "t1>t2 t2>dual": true, "t3>s1 s1>t2": true, "s1>t2 t2>dual": true, "t1>s1 s1>t3": true, "t2>s1 s1>t3": true},
		},
		{"no way from the other", []string{"s1 * dual t1"}, []string{"ROCE805"}, nil},
	} {
		w := &wired{hosts: []string{"t3"}, cables: []string{"t1-s1", "t2-s1", "t3-s1"}, routing: aTable, table: append(slices.Clone(c.table), toHost...), more: dual(peerLink)}
		res, diags, view := compileText(t, w.text())
		var found []string
		for i := range diags {
			if strings.HasPrefix(diags[i].Rule, "ROCE80") && !slices.Contains(found, diags[i].Rule) {
				found = append(found, diags[i].Rule)
			}
		}
		if d := cmp.Diff(c.found, found); d != "" {
			t.Errorf("%s (-want +got):\n%s%s", c.name, d, shown(diags, view))
		}
		if c.want == nil {
			continue
		}
		f := res.Fabric
		part := paths.Parts(f)[0]
		lost := &fabric.Mask{Links: map[fabric.LinkID]bool{linkOf(t, f, "t1", "dual"): true}}
		if d := cmp.Diff(c.want, waitsUnder(t, f, part, lost)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		for _, v := range lint.NewProver(f, res.Facts).Prove(lost, lint.ByPath).Verdicts {
			if len(v.Broken)+len(v.Open) > 0 {
				t.Errorf("%s: %s: %+v %q", c.name, v.Property, v.Broken, v.Open)
			}
		}
	}
}

// TestTableOverPeerLink: a row may send over a peer link, and give a priority there.
func TestTableOverPeerLink(t *testing.T) {
	for _, c := range []struct {
		name, priority string
		found          []string
	}{
		{"as it is", "", nil},
		{"a lossless priority", " 4", nil},
		{"one that no class has", " 5", []string{"ROCE804"}},
	} {
		w := &wired{
			hosts: []string{"t1", "t2", "t3"}, cables: []string{"t1-s1", "t3-s1"}, routing: aTable,
			table: []string{"t1 * t3 s1", "s1 * t3 t3", "t2 * t3 t1" + c.priority, "t3 * t1 s1", "s1 * t1 t1", "t3 * t2 s1", "s1 * t2 t1", "t1 * t2 t2" + c.priority, "t2 * t1 t1" + c.priority},
			more:  dual(peerLink),
		}
		w.cables = append(w.cables, "t2-s2") // so that t2 is of the part
		w.cables = append(w.cables, "s2-t1")
		_, diags, view := compileText(t, w.text())
		var found []string
		for i := range diags {
			if strings.HasPrefix(diags[i].Rule, "ROCE80") && diags[i].Severity == diag.Error && !slices.Contains(found, diags[i].Rule) {
				found = append(found, diags[i].Rule)
			}
		}
		if d := cmp.Diff(c.found, found); d != "" {
			t.Errorf("%s (-want +got):\n%s%s", c.name, d, shown(diags, view))
		}
	}
}

// TestRemapOverPeerLink: a class that has another priority on the peer link of a
// pair is followed over it and back; where two cables of the peer link do not
// agree, deadlock after a failure is not ruled out.
func TestRemapOverPeerLink(t *testing.T) {
	for _, c := range []struct {
		name  string
		ports []string        // of the peer link that have the other contract
		want  map[string]bool // waits at the peer link with a cable of the node down
		open  string
	}{
		{"one priority", nil, map[string]bool{"s1>t1/3 t1>t2/3": true, "t1>t2/3 t2>dual/3": true, "dual>t2/3 t2>t1/3": true}, ""},
		{"another on the peer link", []string{"Ethernet100", "Ethernet104"}, map[string]bool{"s1>t1/3 t1>t2/5": true, "t1>t2/5 t2>dual/3": true, "dual>t2/3 t2>t1/5": true}, ""},
		{"on one of its cables", []string{"Ethernet104"}, nil, "the peer link of mlag pair carries traffic, and its cables and those of others do not agree on the priority of a class that is remapped"},
	} {
		w := &wired{
			hosts: []string{"t3"}, cables: []string{"t1-s1", "t2-s1", "t3-s1"}, routing: `  paths = "ecmp"`,
			tiers: map[string]string{"t1": "leaf", "t2": "leaf", "t3": "leaf", "s1": "spine"},
			more:  dual(strings.Replace(peerLink, `"Ethernet100"`, `"Ethernet[100-104:4]"`, 1)) + "qos \"bounced\" {\n  from = qos.roce\n  class \"rdma\" {\n    priority = 5\n    remap = true\n  }\n}\n",
		}
		text := w.text()
		for _, p := range c.ports {
			port := "  port \"" + p + "\" {\n    qos = qos.bounced\n  }\n"
			for _, s := range []string{"t1", "t2"} {
				head := "switch \"" + s + "\" {\n"
				text = strings.Replace(text, head, head+port, 1)
			}
		}
		res, diags, view := compileText(t, text)
		if res == nil || res.Facts == nil {
			t.Fatalf("%s: %s", c.name, shown(diags, view))
		}
		f := res.Fabric
		part := paths.Parts(f)[0]
		lost := &fabric.Mask{Links: map[fabric.LinkID]bool{linkOf(t, f, "t1", "dual"): true}}
		if c.want != nil {
			name := func(v paths.Vertex) string {
				return fmt.Sprintf("%s>%s/%d", f.Text(f.Devices[part.Device(v.From)].Name), f.Text(f.Devices[part.Device(v.To)].Name), v.Priority)
			}
			o := part.HomedOptions(0)
			o.Down, o.Search, o.Whole, o.Priorities = part.HomedDown(lost), true, true, []uint8{3}
			got := map[string]bool{}
			o.Each = func(v, w paths.Vertex) {
				if wait := name(v) + " " + name(w); strings.Contains(wait, "t1>t2") || strings.Contains(wait, "t2>t1") {
					got[wait] = true
				}
			}
			if _, err := paths.Deadlock(&part.Homed.Net, o); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, d)
			}
		}
		open := ""
		for _, v := range lint.NewProver(f, res.Facts).Prove(lost, fabric.PropertySet(0).With(fabric.Deadlock)).Verdicts {
			open += strings.Join(v.Open, "; ")
			if len(v.Broken) > 0 {
				t.Errorf("%s: %s", c.name, v.Broken[0].Summary)
			}
		}
		if (open == "") != (c.open == "") || !strings.Contains(open, c.open) {
			t.Errorf("%s: not proven %q", c.name, open)
		}
	}
}
