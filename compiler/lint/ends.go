package lint

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The two ends of a link: which of them a finding begins with, and where it says what each one is.

// before compares two ports by address, so that the order of blocks in the source is nobody's fault.
func (p *Pass) before(a, b fabric.PortID) int {
	f := p.Fabric
	x, y := &f.Ports[a], &f.Ports[b]
	return cmp.Or(
		strings.Compare(f.Text(f.Devices[x.Device].Address), f.Text(f.Devices[y.Device].Address)),
		strings.Compare(f.Text(x.Name), f.Text(y.Name)), cmp.Compare(a, b),
	)
}

// culprit orders two ends of one role each as every other of their role is: first the one that writes on its own what
// the other leaves to its contract, else the one whose contract is not that of its segments, else the first by
// address.
func (p *Pass) culprit(a, b End, deviations ...schema.Attr) (first, second End) {
	own := func(e End) bool {
		return slices.ContainsFunc(deviations, e.Profile.DeviatesIn)
	}
	for _, odd := range []func(End) bool{own, p.foreign} {
		switch x, y := odd(a), odd(b); {
		case x && !y:
			return a, b
		case y && !x:
			return b, a
		}
	}
	if p.before(b.ID, a.ID) < 0 {
		a, b = b, a
	}
	return a, b
}

// foreign reports whether the segments of a port have contracts, and none of them is its own.
func (p *Pass) foreign(e End) bool {
	f, some := p.Fabric, false
	for _, s := range append(slices.Clone(f.VLANSets[e.Port.VLANs]), e.Port.Native) {
		switch q := f.Segments[s].QoS; {
		case s == 0 || q == 0:
		case q == e.Profile.QoS:
			return false
		default:
			some = true
		}
	}
	return some && e.Profile.QoS != 0
}

// AtClass is AtContract for a class by its name: the class that the contract of this end has, whichever end it was met at.
func (p *Pass) AtClass(e End, deviation schema.Attr, class fabric.Str, n schema.Attr, text string) diag.Label {
	return p.AtContract(e, deviation, p.namedClass(e, class), n, text)
}

// atPFC is a label at what gives a port its priorities with PFC: its own list, else of the first class in which the
// contracts of the two ends differ the priority or that it is lossy, else its contract.
func (p *Pass) atPFC(e, other End, text string) diag.Label {
	if e.Profile.DeviatesIn(schema.APFC) {
		return p.AtPort(e, schema.APFC, text)
	}
	apart := e.Profile.PFC ^ other.Profile.PFC
	for _, of := range [2]uint8{apart & e.Profile.PFC, apart & other.Profile.PFC} {
		if of == 0 {
			continue
		}
		for _, from := range [2]End{e, other} {
			classes := p.Fabric.QoS[from.Profile.QoS].Classes
			i := slices.IndexFunc(classes, func(c fabric.Class) bool { return c.Lossless && int(c.Priority) == bits.TrailingZeros8(of) })
			if i < 0 {
				continue
			}
			own := p.namedClass(e, classes[i].Name)
			switch {
			case own == nil:
			case own.Lossless:
				return p.Fabric.Label(own.Decl, 0, schema.APriority, text)
			default:
				return p.Fabric.Label(own.Decl, 0, schema.ALossless, text)
			}
		}
	}
	return p.AtContract(e, schema.APFC, nil, 0, text)
}

// atTrust is a label at what a port trusts: its own word, else that of its contract.
func (p *Pass) atTrust(e End, text string) diag.Label {
	if e.Profile.DeviatesIn(schema.ATrust) || e.Profile.QoS == 0 {
		return p.AtPort(e, schema.ATrust, text)
	}
	q := &p.Fabric.QoS[e.Profile.QoS]
	return p.Fabric.Label(q.Decl, q.Layers, schema.ATrust, text)
}

// atMTU is a label at the MTU of a port, or at the port where that is not what its segment says: then the model or the OS has it.
func (p *Pass) atMTU(e End, text string) diag.Label {
	f, at := p.Fabric, p.AtPort(e, schema.AMTU, text)
	for _, s := range append(slices.Clone(f.VLANSets[e.Port.VLANs]), e.Port.Native) {
		seg := &f.Segments[s]
		if span, _, ok := f.Origin(seg.Decl, seg.Layers, schema.AMTU); ok && s != 0 && span == at.Span && seg.MTU != e.Port.MTU {
			return f.DeclLabel(e.Port.Decl, text)
		}
	}
	return at
}

// atQueue is a label at what puts a class into its queue on a port: the port's own map, else the class, at one of its attributes.
func (p *Pass) atQueue(e End, c *fabric.Class, n schema.Attr, text string) diag.Label {
	return p.AtContract(e, schema.AQueueMap, c, n, text)
}

// beside are labels at an attribute of a class on a port, or at a word of the port that stands above it, and before
// them at its queue map where the port has one of its own: what is said of a queue holds of the class only where that
// puts it.
func (p *Pass) beside(e End, deviation schema.Attr, c *fabric.Class, n schema.Attr, text string) []diag.Label {
	at := p.AtContract(e, deviation, c, n, "")
	if !e.Profile.DeviatesIn(schema.AQueueMap) {
		return []diag.Label{at}
	}
	at.Text = text
	return []diag.Label{p.AtPort(e, schema.AQueueMap, ""), at}
}

// withContract adds to the labels of two ends where the first one has its contract from, if they are of two contracts
// and it does not deviate from its own in an attribute.
func (p *Pass) withContract(first, second End, deviation schema.Attr, labels ...diag.Label) []diag.Label {
	at := p.AtPort(first, schema.AQoS, "its contract")
	if first.Profile.QoS == second.Profile.QoS || first.Profile.QoS == 0 || first.Profile.DeviatesIn(deviation) ||
		slices.ContainsFunc(labels, func(l diag.Label) bool { return l.Span == at.Span }) {
		return labels
	}
	return append(labels, at)
}
