package diag

import (
	"fmt"
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

func TestFold(t *testing.T) {
	sameAt := func(n int) func(*Diagnostic) {
		return func(d *Diagnostic) {
			d.Summary = fmt.Sprintf("port leaf%02d/swp%d runs at 400G, its peer gpu%03d/eth2 at 200G", n, n, n)
			d.Address = fmt.Sprintf(`switch.leaf%02d.port["swp%d"]`, n, n)
			d.Help = fmt.Sprintf("write speed on %q", fmt.Sprintf("swp%d", n))
			d.Labels[0].Where = fmt.Sprintf("port %q", fmt.Sprintf("swp%d", n))
		}
	}
	apart := map[string]func(*Diagnostic){
		"rule":     func(d *Diagnostic) { d.Rule = "ROCE102" },
		"severity": func(d *Diagnostic) { d.Severity = Warning },
		"span":     func(d *Diagnostic) { d.Labels[1].Span.Start = 1 },
		"values":   func(d *Diagnostic) { d.Labels[0].Values = []string{"self.speed is 200G"} },
		"speed":    func(d *Diagnostic) { d.Summary = "port leaf01/swp1 runs at 100G, its peer gpu001/eth2 at 200G" },
		"feature":  func(d *Diagnostic) { d.Summary = "port leaf01/swp1 walks at 400G, its peer gpu001/eth2 at 200G" },
		"note":     func(d *Diagnostic) { d.Notes = nil },
		"labels":   func(d *Diagnostic) { d.Labels = d.Labels[:1] },
		"nowhere":  func(d *Diagnostic) { d.Labels[0].Span = source.Span{} },
	}
	for _, s := range []string{"switch %s has no model", "check module.%s.mtu fails: it is small", "RDMA is on in node %s: it is lossy"} {
		called := func(name string) Diagnostic {
			return finding(func(d *Diagnostic) { d.Summary, d.Address = fmt.Sprintf(s, name), "" })
		}
		if got := Fold(List{called("east-tor"), called("west-tor")}); len(got) != 1 || got[0].Count != 2 {
			t.Errorf("%s: %+v", s, got)
		}
	}
	address := func(ip string) Diagnostic {
		return finding(func(d *Diagnostic) { d.Summary = ip + " is used by gpu001/eth2 and gpu002/eth2" })
	}
	for _, ip := range []string{"10.64.0.3", "2001:db8::3"} {
		if got := Fold(List{address("10.64.0.1"), address(ip)}); len(got) != 1 || got[0].Count != 2 {
			t.Errorf("%s: %+v", ip, got)
		}
	}
	list := List{finding(nil)}
	for n := 2; n <= 256; n++ {
		list = append(list, finding(sameAt(n)))
	}
	for _, change := range apart {
		list = append(list, finding(change))
	}
	got := Fold(list)
	if len(got) != 1+len(apart) {
		t.Fatalf("%d findings", len(got))
	}
	if got[0].Count != 256 || got[0].Also != `switch.leaf01.port["swp1"], and 255 more` {
		t.Errorf("count %d, also %q", got[0].Count, got[0].Also)
	}
	for _, d := range got[1:] {
		if d.Count > 1 || d.Also != "" {
			t.Errorf("%+v", d)
		}
	}
	if Tally(got) != "264 errors, 1 warning" {
		t.Errorf("tally %q", Tally(got))
	}
}

func TestFoldOfFew(t *testing.T) {
	other := func(d *Diagnostic) { d.Address = `switch.leaf01.port["swp2"]` }
	none := func(d *Diagnostic) { d.Address = "" }
	counted := func(d *Diagnostic) { d.Count = 4 }
	label := func(text string) func(*Diagnostic) { return func(d *Diagnostic) { d.Labels[1].Text = text } }
	nic := func(d *Diagnostic) {
		d.Address, d.Summary = `node.gpu001.nic["eth2"]`, "port gpu001/eth2 runs at 400G, its peer leaf01/swp1 at 200G"
	}
	for name, c := range map[string]struct {
		list List
		also string
	}{
		"two":           {List{finding(nil), finding(other)}, `switch.leaf01.port["swp1"], switch.leaf01.port["swp2"]`},
		"the same":      {List{finding(nil), finding(nil)}, `switch.leaf01.port["swp1"]`},
		"no address":    {List{finding(none), finding(none)}, ""},
		"label":         {List{finding(label("used by gpu001/eth2")), finding(label("used by gpu002/eth2"))}, `switch.leaf01.port["swp1"]`},
		"port and nic":  {List{finding(nil), finding(nic)}, `switch.leaf01.port["swp1"], node.gpu001.nic["eth2"]`},
		"counted":       {List{finding(counted)}, `switch.leaf01.port["swp1"], and 3 more`},
		"counted twice": {Fold(List{finding(counted)}), `switch.leaf01.port["swp1"], and 3 more`},
		"folded before": {Fold(List{finding(nil), finding(other), finding(nil)}), `switch.leaf01.port["swp1"], and 2 more`},
	} {
		got := Fold(c.list)
		if len(got) != 1 || got[0].Also != c.also {
			t.Errorf("%s: %d findings, also %q", name, len(got), got[0].Also)
		}
	}
	if Fold(nil) != nil {
		t.Error("nothing folds into something")
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
