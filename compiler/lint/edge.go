package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce608 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE608", Name: "path_denied", Severity: diag.Error,
		Title:  "a filter inside the fabric drops the RDMA that goes through it",
		Why:    "connections are set up over TCP and pass; then every RDMA packet is dropped, and completions fail with retry exceeded",
		Fix:    "let RDMA pass inside the class, and deny it at the edge",
		Source: "InfiniBand Architecture Specification, Annex A17 (RoCEv2: UDP destination port 4791)",
		Bad:    twoNodes(`deny   = ["roce_v2"]`),
		Good:   twoNodes(`deny   = ["roce_v1"]`),
	},
	Run: denied,
}

func denied(p *Pass) {
	f := p.Fabric
	p.Links(func(l fabric.LinkID, a, b End) {
		for _, ends := range [2][2]End{{a, b}, {b, a}} {
			e, other := ends[0], ends[1]
			if p.faces(e) || p.faces(other) || !p.RDMA(e) {
				continue
			}
			what, class := p.deniedClass(e)
			if class == nil {
				continue
			}
			p.Report(p.AboutLink(l, e, other, diag.Diagnostic{
				Summary: fmt.Sprintf("%s drops %s, and class %s comes in there from %s", p.Name(e), what, f.Text(class.Name), p.Name(other)),
				Labels:  []diag.Label{p.AtPort(e, schema.ADeny, ""), p.AtPort(other, schema.AQoS, "other end"), f.DeclLabel(class.Decl, "the class")}, Help: "let it pass here, and deny it on external ports",
			}))
		}
	})
}

// deniedClass is an RDMA class of a port whose transport the port drops, and the
// word for that transport.
func (p *Pass) deniedClass(e End) (what string, class *fabric.Class) {
	q := &p.Fabric.QoS[e.Profile.QoS]
	for i := range q.Classes {
		c := &q.Classes[i]
		if c.Carries != fabric.CarriesRDMA {
			continue
		}
		switch t := transportOf(q, c); {
		case t == fabric.RoCEv2 && e.Port.Flags&fabric.DenyRoCEv2 != 0:
			return "RoCEv2 (UDP port 4791)", c
		case t == fabric.RoCEv1 && e.Port.Flags&fabric.DenyRoCEv1 != 0:
			return "RoCEv1 (EtherType 0x8915)", c
		}
	}
	return "", nil
}

// transportOf is the transport of a class that carries RDMA.
func transportOf(q *fabric.QoS, c *fabric.Class) fabric.Transport {
	switch {
	case c.Transport != fabric.TransportUnset:
		return c.Transport
	case q.Transport != fabric.TransportUnset:
		return q.Transport
	}
	return fabric.RoCEv2
}

var roce609 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE609", Name: "route_open_edge", Severity: diag.Warning,
		Title:      "RDMA gets in where the fabric ends",
		Why:        "whoever is outside can send to endpoints that ask for no password, and mark it as the lossless class",
		Fix:        "deny it on external ports: rocec does, unless deny is written",
		Steps:      "first count UDP 4791 on the external ports, as replication and other fabrics may use it",
		Interrupts: "RDMA that crosses the edge today: connections still set up over TCP, and then fail",
		Source: "InfiniBand Architecture Specification, Annex A17 (RoCEv2: UDP destination port 4791); Rothenberger et al., " +
			"ReDMArk: Bypassing RDMA Security Mechanisms, USENIX Security 2021",
		Bad:  external(`deny     = []`),
		Good: external(`deny     = ["roce_v2", "roce_v1"]`),
	},
	Run: openEdge,
}

func openEdge(p *Pass) {
	f := p.Fabric
	var v1, v2 bool // in use
	p.EachProfile(func(e End, _ int) {
		q := &f.QoS[e.Profile.QoS]
		for i := range q.Classes {
			if c := &q.Classes[i]; c.Carries == fabric.CarriesRDMA {
				t := transportOf(q, c)
				v1, v2 = v1 || t == fabric.RoCEv1, v2 || t == fabric.RoCEv2
			}
		}
	})
	for _, id := range p.outward() {
		e := p.End(id)
		if e.Port.Flags&fabric.DenySet == 0 || e.Device.Kind != fabric.Switch {
			continue // rocec denies it, or nothing is known
		}
		var open []string
		if v2 && e.Port.Flags&fabric.DenyRoCEv2 == 0 {
			open = append(open, "RoCEv2 (UDP port 4791)")
		}
		if v1 && e.Port.Flags&fabric.DenyRoCEv1 == 0 {
			open = append(open, "RoCEv1 (EtherType 0x8915)")
		}
		if len(open) == 0 {
			continue
		}
		labels := []diag.Label{p.AtPort(e, schema.ADeny, "")}
		if p.hostile(e) {
			labels = append(labels, p.atTrusted(e))
		} else {
			labels = append(labels, p.AtPort(e, schema.AExternal, "external"))
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s lets %s in from outside the fabric", p.Name(e), list(open)), Address: f.PortAddress(id), Labels: labels, Help: "deny it there, or leave deny out",
		})
	}
}
