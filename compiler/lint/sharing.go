package lint

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce230 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE230", Name: "classes_disagree", Severity: diag.Error, Hard: true,
		Title:  "classes that share a queue, priority, priority group or port say different things of it",
		Why:    "a queue has one marking and one rate, a group one buffer, a port one watchdog: of two that are written one would be dropped",
		Fix:    "write the same in both classes, or give each a queue, priority and group of its own",
		Source: "IEEE 802.1Q-2018, clause 8.6: what is kept for each port, queue and priority",
		Bad:    twoWatchdogs("400ms"),
		Good:   twoWatchdogs("200ms"),
	},
	Run: classesDisagree,
}

// twoWatchdogs is twoNodes with a second lossless class, whose watchdog detects after
// a time.
func twoWatchdogs(detect string) string {
	of := func(t string) string {
		return "    watchdog  = { detect = \"" + t + "\", restore = \"800ms\", action = \"drop\" }\n"
	}
	return twoNodesEdit("    bandwidth = 50\n", "    bandwidth = 30\n"+of("200ms"), "  class \"cnp\" {", `  class "control" {
    carries   = "rdma"
    marked_by      = "application"
    dscp      = [34]
    priority  = 4
    bandwidth = 20
    ecn       = "auto"
`+of(detect)+"  }\n  class \"cnp\" {")
}

// shared is something that classes have together where they share it.
type shared struct {
	attr  schema.Attr
	where func(a, b *fabric.Class) string // what they share, "" for nothing
	one   func(c *fabric.Class) any       // what a class writes of it, nil for nothing
	what  string                          // there is one of
}

// written is a value, nil where it is the zero value: nothing is written.
func written[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func onePriority(a, b *fabric.Class) string {
	if a.Priority != b.Priority {
		return ""
	}
	return fmt.Sprintf("priority %d", a.Priority)
}

func oneQueue(a, b *fabric.Class) string {
	if a.Queue != b.Queue {
		return ""
	}
	return fmt.Sprintf("queue %d", a.Queue)
}

func oneGroup(a, b *fabric.Class) string {
	if a.Group != b.Group || !a.Lossless || !b.Lossless {
		return ""
	}
	return fmt.Sprintf("priority group %d", a.Group)
}

func onePort(a, b *fabric.Class) string {
	if !a.Lossless || !b.Lossless {
		return ""
	}
	return "a port"
}

func oneNIC(a, b *fabric.Class) string {
	if a.Carries != fabric.CarriesRDMA || b.Carries != fabric.CarriesRDMA {
		return ""
	}
	return "a NIC"
}

// sharings are all things of which a class has no own: each row is one of them.
var sharings = []shared{
	{schema.AECN, oneQueue, func(c *fabric.Class) any { return written(c.ECN) }, "ECN marking"},
	{schema.ACap, oneQueue, func(c *fabric.Class) any { return written([2]uint32{c.CapMbps, uint32(c.CapPercent)}) }, "largest rate"},
	{schema.AStrict, oneQueue, func(c *fabric.Class) any {
		switch {
		case c.Strict:
			return true
		case c.PercentSet:
			return false
		}
		return nil
	}, "scheduling, strict or by share"},
	{schema.AQueue, onePriority, func(c *fabric.Class) any {
		if !c.QueueSet {
			return nil
		}
		return c.Queue
	}, "queue"},
	{schema.APriorityGroup, onePriority, func(c *fabric.Class) any {
		if !c.GroupSet {
			return nil
		}
		return c.Group
	}, "priority group"},
	{schema.ACongestion, onePriority, func(c *fabric.Class) any { return written(c.Congestion) }, "congestion control"},
	{schema.ABuffer, oneGroup, func(c *fabric.Class) any { return written(c.Alpha) }, "alpha"},
	{schema.ABuffer, oneGroup, func(c *fabric.Class) any {
		if c.HeadroomZero {
			return uint32(0)
		}
		return written(c.HeadroomBytes)
	}, "headroom"},
	{schema.ABuffer, oneGroup, func(c *fabric.Class) any { return written(c.XonBytes) }, "xon"},
	{schema.AWatchdog, onePort, func(c *fabric.Class) any { return written(c.Watchdog) }, "watchdog"},
	{schema.ATransport, oneNIC, func(c *fabric.Class) any {
		if c.Transport != fabric.RoCEv1 && c.Transport != fabric.RoCEv2 {
			return nil
		}
		return c.Transport
	}, "RoCE version"},
}

// matches are the ports by which hosts find the traffic of a class: of two classes
// with one port a host takes either.
var matches = []struct {
	what string
	of   func(c *fabric.Class) uint16
}{
	{"NetworkDirect port", func(c *fabric.Class) uint16 { return c.NetDirectPort }},
	{"TCP port", func(c *fabric.Class) uint16 { return c.TCPPort }},
	{"UDP port", func(c *fabric.Class) uint16 { return c.UDPPort }},
}

func classesDisagree(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.QoS); id++ {
		q := &f.QoS[id]
		for j := range q.Classes {
			for i := range j {
				p.disagree(q, &q.Classes[i], &q.Classes[j])
			}
		}
	}
}

// disagree reports what two classes of a contract write otherwise of what they share, whichever stands first.
func (p *Pass) disagree(q *fabric.QoS, a, b *fabric.Class) {
	f := p.Fabric
	if cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(f.Text(a.Name), f.Text(b.Name))) > 0 {
		a, b = b, a
	}
	if _, found := clash(a, b); found {
		return // ROCE209: they cannot be told apart
	}
	report := func(n schema.Attr, summary, help string) {
		p.Report(diag.Diagnostic{
			Summary: summary, Address: f.Text(q.Address) + `.class["` + f.Text(b.Name) + `"]`, Concerns: []string{f.Text(q.Address)},
			Labels: []diag.Label{f.Label(b.Decl, 0, n, ""), f.Label(a.Decl, 0, n, "the other class")}, Help: help,
		})
	}
	for i := range sharings {
		s := &sharings[i]
		where, x, y := s.where(a, b), s.one(a), s.one(b)
		if where == "" || x == nil || y == nil || x == y {
			continue
		}
		report(s.attr, fmt.Sprintf("classes %s and %s of qos %s share %s, which has one %s: they write two",
			f.Text(a.Name), f.Text(b.Name), f.Text(q.Name), where, s.what),
			"write the same in both, or keep them apart: neither counts before the other")
	}
	for _, m := range matches {
		if port := m.of(a); port != 0 && port == m.of(b) && a.Priority != b.Priority {
			report(schema.AMatch, fmt.Sprintf("classes %s and %s of qos %s both match %s %d: a host cannot tell them apart",
				f.Text(a.Name), f.Text(b.Name), f.Text(q.Name), m.what, port),
				"match another port in one of them")
		}
	}
}

var roce231 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE231", Name: "switch_lossless_priority", Severity: diag.Error,
		Title:  "a switch has PFC on a priority that its ASIC cannot make lossless",
		Why:    "some ASICs pause certain priorities only: on the others PFC is taken and nothing is held back",
		Fix:    "give the lossless class one of the priorities that the ASIC has",
		Steps:  "PFC, headroom and marks of the new priority on switches first, hosts next, the old priority last",
		Source: "lossless_priorities of the asic in lang/packs, with its source",
		Bad:    onlyLossless("[4, 5]"),
		Good:   onlyLossless("[3, 4]"),
	},
	Run: losslessPriority,
}

// onlyLossless is twoNodes on an ASIC that can make some priorities lossless.
func onlyLossless(priorities string) string {
	return strings.ReplaceAll(twoNodes(""), "nvidia/sn3700", "example/no-dscp") +
		strings.Replace(noDSCP("true"), "  family", "  lossless_priorities = "+priorities+"\n  family", 1)
}

func losslessPriority(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		m := &p.Fabric.Models[e.Device.Model]
		if e.Device.Kind != fabric.Switch || m.LosslessPriorities == 0 || e.Profile.PFC&^m.LosslessPriorities == 0 || e.Profile.PFC == 0xff {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("PFC %s is on at %s, and the ASIC of %s can make only %s lossless",
				Priorities(e.Profile.PFC&^m.LosslessPriorities), p.Name(e), p.Fabric.Text(m.Name), Priorities(m.LosslessPriorities)),
			Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.AtPort(e, schema.AQoS, ""), p.Fabric.Label(e.Device.Decl, e.Device.Layers, schema.AModel, "the switch")},
			Help:   "give the lossless class one of those priorities",
		})
	})
}
