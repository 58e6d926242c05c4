package plan_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
)

func markdown(t testing.TB, p *plan.Plan, o plan.MarkupOptions) string {
	t.Helper()
	var b strings.Builder
	if err := p.Markdown(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkup(t *testing.T) {
	p := compute(mixed(), plan.Options{RocecVersion: "0.1.0", View: view()})
	golden(t, "mixed.md", markdown(t, p, plan.MarkupOptions{}))
	golden(t, "none.md", markdown(t, compute(nil, plan.Options{}), plan.MarkupOptions{}))
	var page, tree strings.Builder
	if err := p.HTML(&page, plan.MarkupOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "mixed.html", page.String())
	if err := p.Tree(&tree, plan.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "mixed-tree.txt", tree.String())
	tree.Reset()
	if err := compute(pod(), plan.Options{}).Tree(&tree, plan.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "pod-tree.txt", tree.String())
}

// groups are the items of a plan in markdown: the paragraphs of its fences.
func groups(text string) []string {
	var out []string
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			out = append(out, strings.Split(strings.TrimSpace(strings.TrimPrefix(part, "diff\n")), "\n\n")...)
		}
	}
	return out
}

// Whatever the bound, it is kept; each group is whole or not there; what
// interrupts or destroys comes before what does not; what is missing is counted.
func TestMarkupBound(t *testing.T) {
	p := compute(mixed(), plan.Options{RocecVersion: "0.1.0", View: view()})
	whole := markdown(t, p, plan.MarkupOptions{})
	all := map[string]bool{}
	for _, g := range groups(whole) {
		all[g] = true
	}
	fewest := len(whole)
	for bound := 1; bound <= len(whole)+200; bound += 7 {
		var b strings.Builder
		if err := p.Markdown(&b, plan.MarkupOptions{MaxBytes: bound}); err != nil {
			if bound > 2000 {
				t.Errorf("%d bytes: %v", bound, err)
			}
			continue
		}
		got := b.String()
		fewest = min(fewest, len(got))
		if len(got) > bound {
			t.Fatalf("%d bytes were asked for, %d written", bound, len(got))
		}
		if !strings.HasPrefix(got, "**Plan: 4 to add, 9 to change, 2 to destroy.**\n\nImpact: 8 ports, 3 lags interrupted on 3 devices.\n") {
			t.Fatalf("%d bytes have no summary:\n%s", bound, got)
		}
		there := 0
		for _, g := range groups(got) {
			if g == "" {
				continue
			}
			for _, line := range strings.Split(g, "\n") {
				if !strings.Contains(whole, line) {
					t.Fatalf("%d bytes: a line of its own:\n%s", bound, line)
				}
			}
			there++
		}
		if missing := strings.Contains(got, "left out"); missing == (got == whole) {
			t.Fatalf("%d bytes: %d groups, and what is missing is not said:\n%s", bound, there, got)
		}
		if strings.Contains(got, "Other changes") && !strings.Contains(got, "switch.edited.lag") {
			t.Fatalf("%d bytes: other changes took the room of grave ones:\n%s", bound, got)
		}
	}
	if fewest > 1000 {
		t.Errorf("the least is %d bytes", fewest)
	}
	if got := markdown(t, p, plan.MarkupOptions{MaxBytes: len(whole) + 1000}); got != whole {
		t.Errorf("there is room for all:\n%s", got)
	}
	err := p.Markdown(&strings.Builder{}, plan.MarkupOptions{MaxBytes: 100})
	if err == nil || !strings.HasPrefix(err.Error(), "a plan does not fit into 100 bytes: its summary alone takes ") {
		t.Errorf("100 bytes: %v", err)
	}
}

// Names of users and devices are text in a page, and stay in their fence.
func TestMarkupHostile(t *testing.T) {
	evil := "x`````\n```\n</pre><script>alert(1)</script> @everyone [a](javascript:b) \x1b[2J"
	d := leaf("tor", 1, func(d *intent.Device) {
		d.Ports[0].Name = evil
		d.LAGs = []intent.LAG{{Name: evil, Mode: evil}}
	})
	old := leaf("tor", 1, func(d *intent.Device) { d.Ports[0].Name, d.Ports[0].MTU.Value = evil, 1500 })
	o := plan.Options{Waves: plan.Waves{Names: []string{evil}, Of: func(string) int { return 1 }}}
	p := compute([]plan.Device{{Address: "switch.tor", Target: fake, Want: d, Recorded: entryOf(old, "switch.tor", record.Applied)}}, o)
	got := markdown(t, p, plan.MarkupOptions{})
	outside := strings.Split(got, "``````")
	for i, part := range outside {
		if i%2 == 0 && (strings.Contains(part, "script") || strings.Contains(part, "everyone")) {
			t.Errorf("outside of a fence:\n%s", part)
		}
	}
	if len(outside)%2 == 0 || strings.ContainsRune(got, '\x1b') {
		t.Errorf("fences are not closed:\n%s", got)
	}
	var page strings.Builder
	if err := p.HTML(&page, plan.MarkupOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), "<script>alert") {
		t.Errorf("a script in the page:\n%s", page.String())
	}
	allowed := map[string]bool{"doctype": true, "html": true, "head": true, "meta": true, "title": true, "style": true, "body": true, "h1": true, "p": true, "details": true, "summary": true, "pre": true, "span": true}
	for _, tag := range regexp.MustCompile(`<[/!]?([A-Za-z0-9]+)`).FindAllStringSubmatch(page.String(), -1) {
		if !allowed[strings.ToLower(tag[1])] {
			t.Errorf("an element %s that the plan does not write", tag[1])
		}
	}
}

func BenchmarkMarkdown(b *testing.B) {
	var list []plan.Device
	for i := range 100 {
		name := fmt.Sprintf("leaf%d", i)
		list = append(list, plan.Device{Address: "switch." + name, Target: fake, Want: leaf(name, 64, nil), Recorded: entryOf(leaf(name, 64, oldLeaf), "switch."+name, record.Applied)})
	}
	p := compute(list, plan.Options{})
	b.ReportAllocs()
	for b.Loop() {
		_ = markdown(b, p, plan.MarkupOptions{MaxBytes: 60000})
	}
}
