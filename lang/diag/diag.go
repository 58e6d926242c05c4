// Package diag is the one form of a finding: a severity, one line of summary,
// any number of labelled spans across files, what to do, and the rule it comes
// from. Stages return lists of diagnostics beside their values; renderers turn
// the same list into text, JSON or one-line forms.
//
// How to write one: summary in lower case, no full stop, with the names and
// both values in it ("port leaf01/swp3 runs at 400G, its peer gpu007/eth2 at
// 200G"); Labels[0] is the cause, the others are the other end, the origin of a
// value or the hop; at most three labels; the smallest span that shows it.
// No blame, no "invalid", no "please". Help says what to do, as an imperative.
package diag

import (
	"strings"

	"github.com/rocec/rocec/lang/source"
)

// Severity orders findings. The zero value is Error, so that a forgotten field
// is never a silent pass.
type Severity uint8

// The three severities. Notice is the catalogue's "I".
const (
	Error Severity = iota
	Warning
	Notice
)

// String is the lower-case word used in JSON and settings.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "notice"
}

// Label is one place that a finding points to.
type Label struct {
	Span source.Span
	// Where says in which block the span stands, as the user would write it:
	// `switch "tor", port "Ethernet0"`. It may be empty.
	Where string
	// Text says what the place has to do with the finding: "" for the cause,
	// else "other end", "value comes from", "first written".
	Text string
	// Values are lines such as `qos.legacy.class["rdma"].priority is 4`.
	Values []string
}

// Edit is one optional fix. Without Attr it replaces the bytes of Span by New.
// With it, Span is the value of the attribute or the block that is to have it,
// New is its value as it is written in the source, and "" takes it out; which
// bytes that are depends on the text (lang/format).
type Edit struct {
	Span source.Span
	New  string
	Attr string // "mtu"; "watchdog.detect" is a field of an object
}

// Diagnostic is one finding.
type Diagnostic struct {
	Rule     string // "ROCE301"; "" for syntax, type and reference errors
	Severity Severity
	Summary  string
	Address  string   // what it is about: `switch.tor.port["Ethernet0"]`
	Concerns []string // addresses of everything else it concerns: the other end, the link; overrides reach it by these
	Labels   []Label
	Notes    []string // consequences, measured values, the majority
	Help     string
	Edits    []Edit
	Steps    []Step // a counterexample, hop by hop
	// Fact tells apart what one declaration may do to one rule in more than one way;
	// "" for rules that find one thing. Findings of two facts are not folded.
	Fact    string
	Count   int      // findings of one cause folded into this one; 0 and 1 both mean one
	Members []Member // all that were folded, this one too, in natural order; nil where it stands for itself
	Follows List     // what the same cause leads to, folded; none has findings of its own
	Rest    bool     // it stands for Count findings that are not kept, see Bound
}

// Member is one of the findings that were folded into one.
type Member struct {
	Address string
	Summary string      // what was said of this one
	Row     source.Span // the row of a table or key of a for_each that it comes of; zero if of none
}

// List is an ordered list of findings.
type List []Diagnostic

// Add appends one finding.
func (l *List) Add(d Diagnostic) { *l = append(*l, d) }

// All are the findings with what follows from them.
func (l List) All() List {
	var out List
	for _, d := range l {
		out = append(append(out, d), d.Follows...)
	}
	return out
}

// Keep are the findings that pass. What follows from one that does not stands for itself.
func (l List) Keep(passes func(*Diagnostic) bool) List {
	var out List
	for i := range l {
		if d := l[i]; passes(&d) {
			out = append(out, d)
		} else {
			out = append(out, d.Follows.Keep(passes)...)
		}
	}
	return out
}

// HasErrors reports whether any finding is an error.
func (l List) HasErrors() bool {
	for i := range l {
		if l[i].Severity == Error {
			return true
		}
	}
	return false
}

// When says at which time a rule can be decided.
type When uint8

// Compile: from the source alone. Live: needs read-back. Both: a half of each.
const (
	Compile When = iota
	Live
	Both
)

// Option is a limit of a rule that settings may put elsewhere.
type Option struct {
	Name     string
	Unit     string // "%", "ms", "m"; "" for a plain number
	Default  int64
	Min, Max int64
	Doc      string
}

// OnLive says what a change that mends a finding of the rule asks of a live
// fabric: the order of its steps and the traffic that stops. It is empty where
// the change is safe at any time.
func (r *Rule) OnLive() string {
	var parts []string
	if r.Steps != "" {
		parts = append(parts, "on a live fabric: "+r.Steps)
	}
	if r.Interrupts != "" {
		parts = append(parts, "this interrupts "+r.Interrupts)
	}
	return strings.Join(parts, "; ")
}

// Rule is what a rule says of itself. Rules that run over the fabric add a Run
// function (compiler/lint); those that need a target's table or a plan live
// with it. The same value feeds explain, the pages, the JSON and the tests.
type Rule struct {
	ID       string // "ROCE301", never renumbered
	Name     string // "link_pfc_priorities"
	Severity Severity
	When     When
	Hard     bool // starred in the catalogue: not even an override silences it
	Fixable  bool // its findings may carry edits; those of Bad do, and mend it
	Pedantic bool // asks of a whole fabric for facts that nothing else needs: found only where it is asked for. Never an error
	Options  []Option
	Title    string // what is wrong, one line
	Why      string // what goes wrong on the wire then
	Fix      string // what to do

	// Steps is the order in which Fix is done on a live fabric, Interrupts the
	// traffic that stops meanwhile. Both follow the help of every finding. What
	// needs an order is never written by --fix.
	Steps, Interrupts string

	Source  string // document and section, version or commit that a reader can open; "house limit" for a number of our own
	Formula string // the formula that the rule computes, with its units
	Needs   string // facts that no shipped file states: without them the rule finds nothing
	Bad     string // a fabric that yields exactly this rule
	Good    string // the same fabric, mended
}
