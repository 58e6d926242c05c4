package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// Pass is what a rule sees, and where it reports.
type Pass struct {
	Fabric *fabric.Fabric
	Facts  *derive.Facts
	AsOf   string // YYYY-MM-DD, "" = no date given

	prover *Prover // shared by all passes
	once   *once   // likewise

	everyRow bool // walks skip nothing: for tests
	each     bool // ports that are alike are judged one by one
	limits   Limits

	rule   *Rule
	found  diag.List
	groups []groupID // by PortID, made on first use
	sizes  []int     // by groupID
	known  map[majorityKey]majority
	alike  alikeRows // made on first use, as what follows

	// Made on first use.
	kind      *kinds
	headrooms alikeRows
	marking   alikeRows

	inUse map[fabric.DeclID]bool // declarations of ports with a cable or in a bond

	namedAlike map[ifaceName][2]int // how many carry RDMA, and how many there are

	// Room that is used again.
	subnets []subnet   // of one device
	homes   []uint64   // likewise, as numbers
	spines  []parallel // of one leaf

	// Of floods, made on first use.
	carriers [][]fabric.DeviceID // by SegmentID
	edges    [][]fabric.PortID   // by DeviceID
}

// Report adds a finding of the running rule, whose code and severity are
// filled in; a severity the finding sets may only be weaker than the rule's.
func (p *Pass) Report(d diag.Diagnostic) {
	d.Rule = p.rule.ID
	d.Severity = max(d.Severity, p.rule.Severity)
	if live := p.rule.OnLive(); live != "" {
		d.Help = strings.TrimPrefix(d.Help+"; "+live, "; ")
	}
	if d.Edits == nil {
		d.Edits = mended(p.rule.mends, d.Labels)
	}
	p.found.Add(d)
}

// option is the value of an option of the running rule.
func (p *Pass) option(name string) int64 {
	if n, ok := p.limits[p.rule.ID][name]; ok {
		return n
	}
	for _, o := range p.rule.Options {
		if o.Name == name {
			return o.Default
		}
	}
	panic("rule " + p.rule.ID + " has no option " + name)
}

// End is one end of a link, with what a rule about links asks most.
type End struct {
	ID      fabric.PortID
	Port    *fabric.Port
	Profile *fabric.Profile
	Device  *fabric.Device
}

// End returns the row of a port with its neighbours.
func (p *Pass) End(id fabric.PortID) End {
	port := &p.Fabric.Ports[id]
	return End{id, port, &p.Fabric.Profiles[port.Profile], &p.Fabric.Devices[port.Device]}
}

// Links calls visit for every link, declared backup links included, that can
// yield a finding: of links that are alike to a rule, all if the first yields
// one. What visit does besides reporting must not depend on it. The ends come in
// the order of their addresses.
func (p *Pass) Links(visit func(l fabric.LinkID, a, b End)) {
	k := p.kinds()
	p.walk(k.links, k.firstLink, func(row int) {
		a, b := p.Fabric.Links[row].A, p.Fabric.Links[row].B
		if p.before(b, a) < 0 {
			a, b = b, a
		}
		visit(fabric.LinkID(row), p.End(a), p.End(b))
	})
}

// Managed calls visit for every port that a profile speaks for, as Links does
// for links. A rule may look at the port and at its peer.
func (p *Pass) Managed(visit func(End)) {
	k := p.kinds()
	p.walk(k.pairs, k.firstPair, func(row int) {
		if p.Fabric.Ports[row].Profile != 0 {
			visit(p.End(fabric.PortID(row)))
		}
	})
}

// Classes calls visit for every class of a port's contract, with where it lands.
func (p *Pass) Classes(e End, visit func(c *fabric.Class, on fabric.ClassOn)) {
	q := &p.Fabric.QoS[e.Profile.QoS]
	for i := range q.Classes {
		visit(&q.Classes[i], e.Profile.On[i])
	}
}

// Name is a port as messages name it.
func (p *Pass) Name(e End) string { return p.Fabric.PortName(e.ID) }

// AtPort is a label at the attribute of a port that a finding is about.
func (p *Pass) AtPort(e End, n schema.Attr, text string, values ...string) diag.Label {
	l := p.Fabric.PortLabel(e.ID, n, text)
	l.Values = values
	return l
}

// AtContract is a label at a deviation the port restates, else at the class
// attribute of its contract, else at the port's qos.
func (p *Pass) AtContract(e End, deviation schema.Attr, c *fabric.Class, n schema.Attr, text string, values ...string) diag.Label {
	if at, by, ok := p.Fabric.Origin(e.Port.Decl, e.Port.Layers, deviation); ok && e.Profile.DeviatesIn(deviation) {
		return diag.Label{Span: at, Where: p.Fabric.Where(by), Text: text, Values: values}
	}
	var l diag.Label
	switch {
	case c != nil && c.Decl != 0:
		l = p.Fabric.Label(c.Decl, 0, n, text)
	default:
		l = p.Fabric.PortLabel(e.ID, schema.AQoS, text)
	}
	l.Values = values
	return l
}

// AboutLink fills in what every finding on a link says: the addresses of both
// ends and of the link, and the majority where one end deviates from its peers.
func (p *Pass) AboutLink(l fabric.LinkID, a, b End, d diag.Diagnostic) diag.Diagnostic {
	d.Address = p.Fabric.PortAddress(a.ID)
	d.Concerns = append(d.Concerns, p.Fabric.PortAddress(b.ID), p.Fabric.LinkAddress(l))
	return d
}

// Priorities shows a set of priorities: "[3, 4]".
func Priorities(set uint8) string { return intent.PrioritySet(set).String() }

// groupID numbers the groups of ports that should be alike. 0 = in none.
type groupID uint32

// Deviant says which of two ends differs from the ports of its role, judged by
// a value of each port. It returns the ends with the deviant first, and a note
// that names it, the majority value and how many have it; the note is "" when
// there is no majority: then the culprit comes first, the end that writes one of
// the deviations itself.
func (p *Pass) Deviant(a, b End, value func(End) string, deviations ...schema.Attr) (first, second End, note string) {
	na, oka := p.majority(a, value)
	nb, okb := p.majority(b, value)
	switch {
	case oka && value(a) != na.value:
		return a, b, p.deviantNote(a, value(a), na)
	case okb && value(b) != nb.value:
		return b, a, p.deviantNote(b, value(b), nb)
	}
	switch same := func(m majority) bool { return m.of > 1 && m.have == m.of }; { // two of a role are no majority, and are alike or not
	case same(nb) && na.of > 1 && !same(na):
		return a, b, ""
	case same(na) && nb.of > 1 && !same(nb):
		return b, a, ""
	}
	first, second = p.culprit(a, b, deviations...)
	return first, second, ""
}

func (p *Pass) deviantNote(e End, v string, m majority) string {
	return fmt.Sprintf("%s is the one that differs: it has %s, %d of %d ports of its role have %s", p.Name(e), v, m.have, m.of, m.value)
}

type majority struct {
	value    string
	have, of int
}

// majority is the value that more than half of a port's group have, the port
// itself included; groups of fewer than three have none.
func (p *Pass) majority(e End, value func(End) string) (majority, bool) {
	p.group()
	g := p.groups[e.ID]
	if g == 0 || p.sizes[g] < 2 {
		return majority{}, false
	}
	k := majorityKey{p.rule, g}
	if m, done := p.known[k]; done {
		return m, m.rules()
	}
	counts := map[string]int{}
	best := ""
	for id := 1; id < len(p.groups); id++ {
		if p.groups[id] != g {
			continue
		}
		v := value(p.End(fabric.PortID(id)))
		counts[v]++
		if counts[v] > counts[best] {
			best = v
		}
	}
	m := majority{best, counts[best], p.sizes[g]}
	if p.known == nil {
		p.known = map[majorityKey]majority{}
	}
	p.known[k] = m
	return m, m.rules()
}

// rules reports whether a value is that of more than half, of three or more.
func (m majority) rules() bool { return m.of >= 3 && 2*m.have > m.of }

// majorityKey: a rule asks one value of each port, so that one count serves
// all its findings.
type majorityKey struct {
	rule  *Rule
	group groupID
}

// group puts every port with a profile into the group of ports that should be
// like it: same kind and role of device, same role of port.
func (p *Pass) group() {
	if p.groups != nil {
		return
	}
	ids := map[alikeKey]groupID{}
	p.groups = make([]groupID, len(p.Fabric.Ports))
	p.sizes = make([]int, 1)
	for id := 1; id < len(p.Fabric.Ports); id++ {
		e := p.End(fabric.PortID(id))
		if e.Port.Profile == 0 || e.Port.Link == 0 {
			continue
		}
		k := p.roleKey(e.Device)
		k.port = e.Port.Role
		g, ok := ids[k]
		if !ok {
			g = groupID(len(p.sizes))
			ids[k] = g
			p.sizes = append(p.sizes, 0)
		}
		p.groups[id] = g
		p.sizes[g]++
	}
}

// noted are the notes of a finding, without the empty ones.
func noted(notes ...string) []string {
	return slices.DeleteFunc(notes, func(n string) bool { return n == "" })
}

// list joins words for a sentence: "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
