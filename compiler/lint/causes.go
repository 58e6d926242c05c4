package lint

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// lead is one row of leads.
type lead struct{ Cause, Effects string }

// leads says which findings follow from which: the rule that speaks of the cause, and
// the rules that speak of what comes of it, where both are about one port, link, segment
// or line of the source. No rule leads to itself, not even by way of others.
var leads = []lead{
	{anError, refused + " ROCE726 ROCE814"}, // a target refuses what is wrong anyway, and what is wrong differs from what is alike
	{"ROCE101", "ROCE240"},                    // a port at another speed takes another share for heartbeats
	{"ROCE102", "ROCE109"},                  // FEC of one end is that of no such speed
	{"ROCE104", "ROCE601 ROCE602"},          // a port cabled twice has a peer that was meant for another
	{"ROCE108", "ROCE117"},                  // a cable of no length is no cable like the others of the LAG
	{"ROCE201", "ROCE202 ROCE220 ROCE225"},  // shares that do not add up
	{"ROCE202", "ROCE220"},                  // a class without a share
	{"ROCE205", refused},                    // marks in other priorities
	{"ROCE209", refused},                    // of two classes of one priority the shares and maps are those of one
	{"ROCE221", refused},                    // CNPs that are lossless
	{"ROCE227", "ROCE220 " + refused},       // a queue that is shared
	{"ROCE228", "ROCE216"},                  // who is willing is told nothing
	{"ROCE303", refused},                    // global pause
	{"ROCE306", "ROCE301 ROCE304"},          // PFC on all priorities differs from that of the peer
	{"ROCE301", "ROCE307"},                  // PFC where nothing is lossless has no watchdog
	{"ROCE603", "ROCE311"},                  // who is not trusted sends pauses too
	{"ROCE604", refused},                    // the VLAN of RDMA leads out
	{"ROCE705", "ROCE409 ROCE710 ROCE722"},  // an adapter that cannot
	{"ROCE905", "ROCE910 ROCE914"},          // nothing is recorded of how a class is run
	{"ROCE910", "ROCE914"},
	{"ROCE806", refused + " ROCE807 ROCE808"}, // an MTU that is not that of the others
	{"ROCE621", "ROCE620 ROCE622 ROCE623"},    // an address of another subnet
}

// anError stands for every rule that finds an error, but for those that follow from any, and
// refused for those of what targets refuse.
const (
	anError = "error"
	refused = "refused"
)

// Refusals are the rules of what targets refuse.
var Refusals = strings.Fields("ROCE717 ROCE734 ROCE735 ROCE736 ROCE737 ROCE738 ROCE739 ROCE740 ROCE741 " +
	"ROCE742 ROCE743 ROCE744 ROCE745 ROCE746 ROCE747")

// kindOf is the word of leads for a rule.
func kindOf(rule string) string {
	if slices.Contains(Refusals, rule) {
		return refused
	}
	return rule
}

// Consequences puts what follows from another finding under it. A finding whose own
// cause is found too goes to the first cause of all. Fold afterwards.
func Consequences(list diag.List) diag.List {
	causes := map[string][]string{} // by the rule of the effect
	for _, row := range leads {
		for _, effect := range strings.Fields(row.Effects) {
			causes[effect] = append(causes[effect], row.Cause)
		}
	}
	if !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return causes[kindOf(d.Rule)] != nil }) {
		return list
	}
	first := map[subject]int{}
	enter := func(at subject, rule string, i int) {
		at.rule = rule
		if _, known := first[at]; !known {
			first[at] = i
		}
	}
	for i := range list {
		for _, at := range subjects(&list[i]) {
			enter(at, kindOf(list[i].Rule), i)
			if at.where == "" && list[i].Severity == diag.Error && !slices.Contains(causes[kindOf(list[i].Rule)], anError) {
				enter(at, anError, i)
			}
		}
	}
	parent := make([]int, len(list))
	for i := range list {
		parent[i] = i
		for _, at := range subjects(&list[i]) {
			for _, at.rule = range causes[kindOf(list[i].Rule)] {
				if c, found := first[at]; found && (parent[i] == i || c < parent[i]) {
					parent[i] = c
				}
			}
		}
	}
	root := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	under := map[int]diag.List{}
	for i, d := range list {
		if r := root(i); r != i {
			follows := d.Follows
			d.Follows = nil
			under[r] = append(append(under[r], d), follows...)
		}
	}
	var out diag.List
	for i, d := range list {
		if parent[i] == i {
			d.Follows = slices.Concat(d.Follows, under[i])
			out = append(out, d)
		}
	}
	return out
}

// subject is one of the things that a finding of a rule is about.
type subject struct {
	rule    string
	address string
	span    source.Span
	where   string
}

// subjects are what a finding is about: ports, links and segments by address, lines of
// the source, and the blocks that these stand in. What a target refuses is about lines and
// blocks only: of a port much may be wrong.
func subjects(d *diag.Diagnostic) (list []subject) {
	for _, l := range d.Labels {
		if !l.Span.IsZero() {
			list = append(list, subject{span: l.Span})
		}
		if l.Where != "" {
			list = append(list, subject{where: l.Where})
		}
	}
	if kindOf(d.Rule) == refused {
		return list
	}
	for _, a := range append([]string{d.Address}, d.Concerns...) {
		if a != "" {
			list = append(list, subject{address: a})
		}
	}
	for _, m := range d.Members {
		if m.Address != "" {
			list = append(list, subject{address: m.Address})
		}
	}
	return list
}
