package diag

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/lang/source"
)

func TestSort(t *testing.T) {
	files := source.NewFiles()
	b, a := files.Add("b.hcl", nil), files.Add("a.hcl", nil)
	at := func(f source.FileID, start uint32) []Label {
		return []Label{{Span: source.Span{File: f, Start: start}}}
	}
	want := List{
		{Summary: "nowhere"},
		{Summary: "a9", Labels: at(a, 9)},
		{Summary: "a10", Labels: at(a, 10)},
		{Summary: "b1", Rule: "ROCE101", Address: "z", Labels: append([]Label{{Where: "no span"}}, at(b, 1)...)},
		{Summary: "b1", Rule: "ROCE301", Address: "x", Labels: at(b, 1)},
		{Summary: "b1", Rule: "ROCE301", Address: "y", Labels: at(b, 1)},
		{Summary: "b1", Rule: "ROCE301", Address: "y", Severity: Notice, Labels: at(b, 1)},
	}
	rapid.Check(t, func(t *rapid.T) {
		got := List(rapid.Permutation([]Diagnostic(want)).Draw(t, "order"))
		got = Sort(got, files)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func finding(change func(*Diagnostic)) Diagnostic {
	d := Diagnostic{
		Rule: "ROCE101", Summary: "port leaf01/swp1 runs at 400G, its peer gpu001/eth2 at 200G", Address: `switch.leaf01.port["swp1"]`,
		Notes: []string{"seven of eight leaves run at 400G"}, Help: `write speed on "swp1"`,
		Labels: []Label{{Span: source.Span{File: 1, Start: 5, Len: 2}, Where: `port "swp1"`, Values: []string{"self.speed is 400G"}}, {Span: source.Span{File: 2}}},
	}
	if change != nil {
		change(&d)
	}
	return d
}

// TestFold: one declaration is one finding, whatever names and numbers its words have,
// and another declaration is another finding, though the words are the same.
func TestFold(t *testing.T) {
	one := map[string]func(*Diagnostic){
		"index": func(d *Diagnostic) { d.Address, d.Summary = `switch.leaf[3].port["swp3"]`, "priority 3 of leaf3/swp3" },
		"key a": func(d *Diagnostic) { d.Address, d.Help = `switch.tor["a"].port["swp1"]`, "write a time" },
		"name":  func(d *Diagnostic) { d.Address, d.Summary = "node.alpha", "RDMA is on in alpha" },
		"VLAN":  func(d *Diagnostic) { d.Summary = "VLAN 120 is missing on leaf01/swp1" },
		"note":  func(d *Diagnostic) { d.Notes = nil },
		"label": func(d *Diagnostic) { d.Labels[1].Text = "used by gpu002/eth2" },
		"value": func(d *Diagnostic) { d.Labels[0].Values = []string{"self.speed is 200G"} },
	}
	apart := map[string]func(*Diagnostic){
		"rule":     func(d *Diagnostic) { d.Rule = "ROCE102" },
		"severity": func(d *Diagnostic) { d.Severity = Warning },
		"fact":     func(d *Diagnostic) { d.Fact = "watchdog.restore" },
		"block":    func(d *Diagnostic) { d.Labels[0].Span.Start = 1 },
		"peer":     func(d *Diagnostic) { d.Labels[1].Span.Start = 1 },
		"labels":   func(d *Diagnostic) { d.Labels = d.Labels[:1] },
		"nowhere":  func(d *Diagnostic) { d.Labels[0].Span = source.Span{} },
	}
	for name, change := range one {
		if got := Fold(List{finding(nil), finding(change)}); len(got) != 1 {
			t.Errorf("%s: %d findings of one declaration", name, len(got))
		}
	}
	for name, change := range apart {
		if got := Fold(List{finding(nil), finding(change)}); len(got) != 2 || got[0].Count > 1 || got[0].Members != nil || got[0].Others() != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// Of what has no rule, the words tell what it is.
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"switch east-tor has no model", "switch west-tor has no model", 1},
		{"10.64.0.1 is used by gpu001/eth2", "2001:db8::3 is used by gpu002/eth2", 1},
		{"switch east-tor has no model", "switch east-tor has no os", 2},
	} {
		of := func(s string) Diagnostic { return finding(func(d *Diagnostic) { d.Rule, d.Summary = "", s }) }
		if got := Fold(List{of(c.a), of(c.b)}); len(got) != c.want {
			t.Errorf("%q and %q are %d findings", c.a, c.b, len(got))
		}
	}
	if Fold(nil) != nil {
		t.Error("nothing folds into something")
	}
}

// TestMembers: who is meant is said by name up to eight, as ranges beyond; no order
// of findings changes it, and what was folded before folds again.
func TestMembers(t *testing.T) {
	at := func(address, summary string) Diagnostic {
		return finding(func(d *Diagnostic) { d.Address, d.Summary = address, summary })
	}
	ports := func(format string, from, to, step int) (list List) {
		for n := from; n <= to; n += step {
			list = append(list, at(fmt.Sprintf(format, n), fmt.Sprintf("port x/swp%d is slow", n)))
		}
		return list
	}
	for name, c := range map[string]struct {
		list   List
		others string
		differ int
	}{
		"two":          {ports(`switch.tor.port["swp%d"]`, 9, 10, 1), `switch.tor.port["swp9"], switch.tor.port["swp10"]`, 0},
		"eight":        {ports("n%d", 1, 8, 1), "n1, n2, n3, n4, n5, n6, n7, n8", 0},
		"nine":         {ports("n%d", 1, 9, 1), "n[1-9]", 0},
		"padded":       {ports(`node.h["h%02d"]`, 1, 32, 1), `node.h["h[01-32]"]`, 0},
		"steps":        {ports("Ethernet%d", 0, 124, 4), "Ethernet[0-124:4]", 0},
		"gaps":         {append(ports("n%d", 1, 12, 1), ports("n%d", 20, 21, 1)...), "n[1-12,20-21]", 0},
		"grid":         {append(ports(`a[0].p%d`, 1, 9, 1), ports(`a[1].p%d`, 1, 9, 1)...), `a[0-1].p[1-9]`, 0},
		"the same":     {List{finding(nil), finding(nil)}, "", 0},
		"hosts last":   {List{at("node.a", "a is slow"), at("switch.b", "b is slow")}, "switch.b, node.a", 0},
		"counted":      {List{finding(func(d *Diagnostic) { d.Count = 4 })}, `switch.leaf01.port["swp1"], and 3 more`, 0},
		"another VLAN": {List{at("a", "VLAN 110 is missing"), at("a", "VLAN 120 is missing"), at("b", "VLAN 120 is missing")}, "a, b", 1},
		"no address":   {List{at("", "this"), at("", "that")}, "", 1},
	} {
		got := Fold(Fold(c.list))
		back := slices.Clone(c.list)
		slices.Reverse(back)
		if len(got) != 1 || got[0].Others() != c.others || len(got[0].Differing()) != c.differ {
			t.Errorf("%s: %d findings, %q, %q", name, len(got), got[0].Others(), got[0].Differing())
		} else if diff := cmp.Diff(got, Fold(back)); diff != "" {
			t.Errorf("%s, in another order (-want +got):\n%s", name, diff)
		}
	}
	many := Fold(ports("n%d", 1, 300, 1))
	if len(many[0].Members) != 300 || many[0].Count != 300 || Tally(many) != "300 errors" {
		t.Errorf("%d members, %d in all, %s", len(many[0].Members), many[0].Count, Tally(many))
	}
}

// TestFoldEdits: what is folded brings its edits along, each once.
func TestFoldEdits(t *testing.T) {
	at := func(start uint32) Edit {
		return Edit{Span: source.Span{File: 1, Start: start}, Attr: "enabled", New: "false"}
	}
	shared := []Label{{Span: source.Span{File: 1, Start: 3, Len: 2}}}
	list := Fold(List{
		{Rule: "R", Address: "a", Labels: shared, Edits: []Edit{at(10)}},
		{Rule: "R", Address: "b", Labels: shared, Edits: []Edit{at(10), at(20)}},
		{Rule: "R", Address: "c", Labels: shared, Edits: []Edit{at(30)}},
	})
	if len(list) != 1 || list[0].Count != 3 {
		t.Fatalf("%+v", list)
	}
	if d := cmp.Diff([]Edit{at(10), at(20), at(30)}, list[0].Edits); d != "" {
		t.Error(d)
	}
}
