package compiler

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// Exempt are findings that one place of the source takes out: a comment that
// silences a rule, or an override that accepts it.
type Exempt struct {
	Findings diag.List
	Comment  bool // else an override
	Reason   string
	At       source.Span
}

// accept takes out the findings that an override accepts, and judges the
// overrides themselves: their dates, rules that nothing may accept, and those
// that no longer accept anything (only when every rule ran).
func accept(f *fabric.Fabric, found diag.List, opt *Options, complete bool) (diag.List, []Exempt) {
	var out diag.List
	used := make([]bool, len(f.Overrides))
	taken := make([]diag.List, len(f.Overrides))
	state := make([]standing, len(f.Overrides))
	covers := make([]coverage, len(f.Overrides))
	for i := range f.Overrides {
		state[i] = judge(f, &f.Overrides[i], opt, &out)
		covers[i] = coverageOf(f, &f.Overrides[i])
	}
	for _, d := range found {
		i := slices.IndexFunc(covers, func(c coverage) bool { return c.has(&d) })
		if i >= 0 {
			used[i] = true
		}
		switch {
		case i < 0 || state[i] == wrong:
			out.Add(d)
		case state[i] == expired: // one message: what is wrong, and why it is now said
			o := &f.Overrides[i]
			d.Labels = append(d.Labels, f.Label(o.Decl, 0, schema.AExpires, "the override that accepted it"))
			d.Notes = append(d.Notes, "it was accepted until "+f.Text(o.Expires))
			out.Add(d)
		default:
			taken[i].Add(d)
		}
	}
	var exempt []Exempt
	for i := range f.Overrides {
		o := &f.Overrides[i]
		if len(taken[i]) > 0 {
			exempt = append(exempt, Exempt{Findings: taken[i], Reason: f.Text(o.Reason), At: f.Decls[o.Decl].Span})
		}
		if state[i] == expired && !used[i] {
			out.Add(diag.Diagnostic{
				Summary: "override expired on " + f.Text(o.Expires), Labels: []diag.Label{f.Label(o.Decl, 0, schema.AExpires, "")},
				Help: "mend what it was for and delete it, or agree on a new date",
			})
		}
		if complete && state[i] == inForce && !used[i] && len(o.Accept) > 0 {
			out.Add(diag.Diagnostic{
				Severity: diag.Warning, Summary: "override accepts " + names(f, o.Accept) + ", which finds nothing here",
				Labels: []diag.Label{f.Label(o.Decl, 0, schema.AAccept, "")}, Help: "delete the override",
			})
		}
	}
	return out, exempt
}

// standing is how an override stands on the day that is asked for.
type standing uint8

const (
	wrong   standing = iota // reported, and accepts nothing
	expired                 // to be reported with what it accepted
	inForce
)

// judge reports on an override itself and says how it stands.
func judge(f *fabric.Fabric, o *fabric.Override, opt *Options, out *diag.List) standing {
	expires := f.Text(o.Expires)
	at := f.Label(o.Decl, 0, schema.AExpires, "")
	add := func(s diag.Severity, summary, help string) {
		out.Add(diag.Diagnostic{Severity: s, Summary: summary, Help: help, Labels: []diag.Label{at}})
	}
	for _, a := range o.Accept {
		r := lint.Find(f.Text(a))
		label := f.Label(o.Decl, 0, schema.AAccept, "")
		switch later := opt.elsewhere(f.Text(a)); {
		case r == nil && later != nil:
			out.Add(diag.Diagnostic{Summary: fmt.Sprintf("nothing may accept %s %s", later.ID, later.Name), Notes: []string{foundLater}, Help: later.Fix, Labels: []diag.Label{label}})
			return wrong
		case r == nil:
			out.Add(diag.Diagnostic{
				Summary: fmt.Sprintf("override accepts %q, which is not a rule", f.Text(a)),
				Help:    "write the code or the name of a rule: rocec lint --list-rules", Labels: []diag.Label{label},
			})
			return wrong
		case r.Hard:
			out.Add(diag.Diagnostic{Summary: fmt.Sprintf("nothing may accept %s %s", r.ID, r.Name), Help: r.Fix, Labels: []diag.Label{label}})
			return wrong
		}
	}
	end, err := time.Parse(time.DateOnly, expires)
	if err != nil {
		add(diag.Error, fmt.Sprintf("override ends on %q, which is not a date", expires), "write expires as YYYY-MM-DD")
		return wrong
	}
	now, err := time.Parse(time.DateOnly, opt.AsOf)
	switch {
	case err != nil:
		add(diag.Notice, "the end date of this override is not judged", "give --as-of=DATE; pipelines pass the date of the commit")
	case !now.Before(end):
		return expired
	case end.Sub(now) <= 30*24*time.Hour:
		add(diag.Warning, fmt.Sprintf("override ends on %s, in %d days", expires, int(end.Sub(now).Hours()/24)), "mend what it accepts before then")
	}
	return inForce
}

// foundLater is why nothing in the source silences some rules.
const foundLater = "it is found on devices, or while something is done to them"

func (o *Options) elsewhere(codeOrName string) *diag.Rule {
	if o.Elsewhere == nil {
		return nil
	}
	return o.Elsewhere(codeOrName)
}

// coverage is what an override accepts, laid out for many questions.
type coverage struct {
	rules     map[string]bool // codes
	addresses map[string]bool
}

func coverageOf(f *fabric.Fabric, o *fabric.Override) coverage {
	c := coverage{rules: codes(f, o.Accept), addresses: map[string]bool{}}
	if len(c.rules) > 0 {
		for _, a := range addresses(f, o) {
			c.addresses[a] = true
		}
	}
	return c
}

// has reports whether an override accepts a finding: one of its rules, about
// something the override names or that is part of it.
func (c coverage) has(d *diag.Diagnostic) bool {
	if !c.rules[d.Rule] {
		return false
	}
	return c.names(d.Address) || slices.ContainsFunc(d.Concerns, c.names)
}

// names reports whether an address is one of the override's, or part of one.
func (c coverage) names(address string) bool {
	for end := len(address); end > 0; end = strings.LastIndexByte(address[:end], '.') {
		if c.addresses[address[:end]] {
			return true
		}
	}
	return false
}

// codes are the codes of rules that are written by code or name; what is no
// rule has none.
func codes(f *fabric.Fabric, rules []fabric.Str) map[string]bool {
	set := map[string]bool{}
	for _, n := range rules {
		if r := lint.Find(f.Text(n)); r != nil {
			set[r.ID] = true
		}
	}
	return set
}

func addresses(f *fabric.Fabric, o *fabric.Override) []string {
	var list []string
	for _, d := range o.Devices {
		list = append(list, f.Text(f.Devices[d].Address))
	}
	for _, p := range o.Ports {
		list = append(list, f.PortAddress(p))
	}
	for _, l := range o.Links {
		list = append(list, f.LinkAddress(l))
	}
	for _, l := range o.LAGs {
		list = append(list, f.LAGAddress(l))
	}
	for _, s := range o.Segments {
		list = append(list, f.Text(f.Segments[s].Address))
	}
	for _, q := range o.QoS {
		list = append(list, f.Text(f.QoS[q].Address))
	}
	for _, o := range o.Orders {
		list = append(list, f.Text(o))
	}
	return list
}

// silence takes out warnings and notices that a comment silences. A rule in a
// comment that finds nothing there is a finding itself (only when every rule ran).
func silence(f *fabric.Fabric, found diag.List, opt *Options, complete bool) (diag.List, []Exempt) {
	if len(f.Ignores) == 0 {
		return found, nil
	}
	used := make([]map[string]bool, len(f.Ignores)) // of each comment, the codes that found something
	taken := make([]diag.List, len(f.Ignores))
	rules := make([]map[string]bool, len(f.Ignores))
	for i := range f.Ignores {
		used[i], rules[i] = map[string]bool{}, codes(f, f.Ignores[i].Rules)
	}
	var out diag.List
	for _, d := range found {
		i := -1
		for n := range f.Ignores {
			if rules[n][d.Rule] && touches(f.Ignores[n].Covers, &d) {
				i = n
				break
			}
		}
		if i < 0 {
			out.Add(d)
			continue
		}
		used[i][d.Rule] = true
		if d.Severity == diag.Error {
			d.Notes = append(d.Notes, "a comment does not silence an error; an override block with a reason and an end date does")
			out.Add(d)
			continue
		}
		taken[i].Add(d)
	}
	var exempt []Exempt
	for i := range f.Ignores {
		ig := &f.Ignores[i]
		if len(taken[i]) > 0 {
			exempt = append(exempt, Exempt{Findings: taken[i], Comment: true, Reason: f.Text(ig.Reason), At: ig.At})
		}
		if complete {
			unused(f, ig, used[i], opt, &out)
		}
	}
	return out, exempt
}

// unused reports the rules of a comment that are none, and those that find
// nothing where it stands.
func unused(f *fabric.Fabric, ig *fabric.Ignore, used map[string]bool, opt *Options, out *diag.List) {
	var idle []fabric.Str
	var unknown []string
	for _, n := range ig.Rules {
		switch r, later := lint.Find(f.Text(n)), opt.elsewhere(f.Text(n)); {
		case r == nil && later != nil:
			out.Add(diag.Diagnostic{
				Severity: diag.Warning, Summary: "comment silences " + later.Name + ", which no comment silences",
				Labels: []diag.Label{{Span: ig.At}}, Notes: []string{foundLater}, Help: later.Fix,
			})
		case r == nil:
			unknown = append(unknown, fmt.Sprintf("%q", f.Text(n)))
		case !used[r.ID]:
			idle = append(idle, n)
		}
	}
	if len(unknown) > 0 {
		which := "which is not a rule"
		if len(unknown) > 1 {
			which = "which are not rules"
		}
		out.Add(diag.Diagnostic{
			Severity: diag.Warning, Summary: "comment silences " + strings.Join(unknown, ", ") + ", " + which,
			Labels: []diag.Label{{Span: ig.At}}, Help: "write the code or the name of a rule: rocec lint --list-rules",
		})
	}
	help := "delete the comment"
	if len(idle) < len(ig.Rules) { // others find something, or are told above
		help = "delete " + names(f, idle) + " from the comment"
	}
	if len(idle) > 0 {
		d := diag.Diagnostic{
			Severity: diag.Warning, Summary: "comment silences " + names(f, idle) + ", which finds nothing here",
			Labels: []diag.Label{{Span: ig.At}}, Help: help,
		}
		if len(idle) == len(ig.Rules) {
			d.Edits = []diag.Edit{{Span: ig.At}} // the whole comment
		} else {
			d.Edits = without(f, ig, idle)
		}
		out.Add(d)
	}
}

// without takes rules out of a comment that names others as well. Each that stays
// is written over itself and those around it that go, so that what stands between
// the others stays as it is; those before the first that stays go with it.
func without(f *fabric.Fabric, ig *fabric.Ignore, idle []fabric.Str) (edits []diag.Edit) {
	if len(ig.Names) != len(ig.Rules) {
		return nil
	}
	first, stays, gone := 0, -1, false
	end := func(last int) {
		if stays >= 0 && gone {
			span := ig.Names[first]
			span.Len = ig.Names[last].End() - span.Start
			edits = append(edits, diag.Edit{Span: span, New: f.Text(ig.Rules[stays])})
		}
	}
	for i, n := range ig.Rules {
		switch {
		case slices.Contains(idle, n):
			gone = true
		case stays < 0:
			stays = i
		default:
			end(i - 1)
			first, stays, gone = i, i, false
		}
	}
	end(len(ig.Rules) - 1)
	return edits
}

// touches reports whether a finding points into a range of source.
func touches(covers source.Span, d *diag.Diagnostic) bool {
	return slices.ContainsFunc(d.Labels, func(l diag.Label) bool {
		return l.Span.File == covers.File && l.Span.Start >= covers.Start && l.Span.Start < covers.End()
	})
}

func names(f *fabric.Fabric, rules []fabric.Str) string {
	list := make([]string, len(rules))
	for i, r := range rules {
		list[i] = f.Text(r)
	}
	return strings.Join(list, ", ")
}
