package lint

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on classes that is about who writes their marks. Hosts
// that rocec writes mark both directions of every class: what is wrong here is
// said of hosts, applications and switches as found.

var roce212 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE212", Name: "class_unmarked", Severity: diag.Error,
		Title:  "hosts do not write the DSCP of the class that their RDMA is meant for",
		Why:    "switches classify by what the host really writes: RDMA without the mark of its class travels in the default class, lossy and among everything else",
		Fix:    "set the default ToS of RDMA connections, the traffic class of the device, or a policy of the operating system",
		Source: "NVIDIA MLNX_OFED, RoCE: default ToS of RDMA-CM (cma_roce_tos) and traffic_class; Guo et al., SIGCOMM 2016, section 3",
		Bad:    foundHosts(`observed = { tos = 0 }`, ``),
		Good:   foundHosts(`observed = { tos = 106 }`, ``),
	},
	Run: func(p *Pass) { foundToS(p, false) },
}

var roce213 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE213", Name: "class_tos_shifted", Severity: diag.Error,
		Title:  "a DSCP is written where the whole ToS byte is asked for",
		Why:    "tools ask for the whole byte: with the DSCP in its place, 26 becomes DSCP 6, and RDMA travels in the default class",
		Fix:    "write the DSCP times 4, and 2 more for ECT",
		Source: "RFC 2474, section 3: the DSCP is the upper six bits; dmf-mxl/mxl #603",
		Bad:    foundHosts(`observed = { tos = 26 }`, ``),
		Good:   foundHosts(`observed = { tos = 104 }`, ``),
	},
	Run: func(p *Pass) { foundToS(p, true) },
}

// foundHosts is twoNodes whose hosts rocec does not write; nic is said of their
// NICs, class of the class that carries RDMA.
func foundHosts(nic, class string) string {
	return twoNodesEdit("    ecn       = \"auto\"\n", "    ecn       = \"auto\"\n"+class, `os       = "ubuntu/24.04"`, "os       = \"ubuntu/24.04\"\n  manage   = \"verify\"", `fec      = "rs"`, "fec      = \"rs\"\n    "+nic)
}

// foundToS judges the ToS that hosts write: the DSCP of no RDMA class of theirs,
// and then whether it is the DSCP written as ToS.
func foundToS(p *Pass, shifted bool) {
	f := p.Fabric
	right := map[fabric.QoSID]bool{} // of contracts: some host marks
	p.EachProfile(func(e End, _ int) {
		if _, found := p.unmarked(e); e.Profile.Host && !found {
			right[e.Profile.QoS] = true
		}
	})
	p.EachProfile(func(e End, ports int) {
		c, found := p.unmarked(e)
		tos := e.Profile.ToS
		if !found || (tos < 64 && c.DSCP>>tos&1 == 1) != shifted {
			return
		}
		want := lowestDSCP(c)
		d := diag.Diagnostic{
			Address: f.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.AtPort(e, schema.AToS, ""), f.Label(c.Decl, 0, schema.ADSCP, "the class")}, Help: fmt.Sprintf("set ToS %d, or %d with ECT", want*4, want*4+2),
		}
		if shifted {
			d.Summary = fmt.Sprintf("nic %s writes ToS %d, which is DSCP %d and not %d", p.Name(e), tos, tos>>2, tos)
			p.Report(d)
			return
		}
		d.Summary = fmt.Sprintf("nic %s writes ToS %d into its RDMA, which is DSCP %d: class %s is DSCP %d", p.Name(e), tos, tos>>2, f.Text(c.Name), want)
		if !right[e.Profile.QoS] {
			d.Notes = []string{fmt.Sprintf("no host marks class %s with DSCP %d", f.Text(c.Name), want)}
		}
		p.Report(d)
	})
}

// unmarked is the RDMA class that a host writes the wrong ToS for. A host writes
// one ToS by default: where an application marks, or another RDMA class has it,
// nothing is wrong.
func (p *Pass) unmarked(e End) (class *fabric.Class, found bool) {
	if !e.Profile.Host || !e.Profile.ToSSet || e.Profile.Trust != fabric.TrustDSCP {
		return nil, false
	}
	d, right := e.Profile.ToS>>2, false
	p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
		if c.Carries != fabric.CarriesRDMA {
			return
		}
		right = right || c.MarkByApplication || c.DSCP == 0 || c.DSCP>>d&1 == 1
		if class == nil {
			class = c
		}
	})
	return class, class != nil && !right
}

// lowestDSCP is the first code point of a class that has one.
func lowestDSCP(c *fabric.Class) int { return bits.TrailingZeros64(c.DSCP) }

var roce222 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE222", Name: "class_mark_one_way", Severity: diag.Error,
		Title:  "only one side of a connection marks a class",
		Why:    "read responses, acknowledgements and whole replies leave the other side with DSCP 0: half of the traffic is lossy, unmarked and late",
		Fix:    "mark on both ends: set the ToS of the device or of connections for the whole host, not in one application",
		Source: "openucx/ucx #10325",
		Bad:    foundHosts(``, "    marked_by      = \"application\"\n    observed = { mark_on = [\"initiators\"] }\n"),
		Good:   foundHosts(``, "    marked_by      = \"application\"\n    observed = { mark_on = [\"initiators\", \"responders\"] }\n"),
	},
	Run: markedOneWay,
}

func markedOneWay(p *Pass) {
	f := p.Fabric
	seen := make([]bool, len(f.QoS))
	p.EachProfile(func(e End, _ int) {
		q := &f.QoS[e.Profile.QoS]
		if seen[e.Profile.QoS] || q.Trust != fabric.TrustDSCP {
			return
		}
		seen[e.Profile.QoS] = true
		for i := range q.Classes {
			c := &q.Classes[i]
			if c.DSCP == 0 || c.MarkedOn == 0 || c.MarkedOn == fabric.Initiators|fabric.Responders {
				continue
			}
			lost, by := "responses", "initiators"
			if c.MarkedOn == fabric.Responders {
				lost, by = "requests", "responders"
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s of class %s leave their node with DSCP 0: only %s mark it", lost, f.Text(c.Name), by), Address: f.Text(q.Address),
				Labels: []diag.Label{f.Label(c.Decl, 0, schema.AMarkOn, "")}, Help: "mark on both ends",
			})
		}
	})
}

var roce224 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE224", Name: "path_remark", Severity: diag.Error,
		Title:  "something on the path rewrites the DSCP of a class",
		Why:    "behind the hop that rewrites it the class is another one: no PFC, another queue, and CNPs that never arrive",
		Fix:    "exclude the class from the rule, or declare the rewrite with remap = true",
		Source: "RFC 2475, section 2.3.3.2, markers; Guo et al., SIGCOMM 2016, section 3: the DSCP has to survive the path",
		Bad:    foundSwitch(`observed = { remark = { 26 = 0 } }`),
		Good:   foundSwitch(`observed = { remark = { 10 = 0 } }`),
	},
	Run: remarked,
}

// foundSwitch is twoNodes whose switch rocec does not write; port is said of one
// of its ports.
func foundSwitch(port string) string {
	return edit(twoNodes(port), `os    = "sonic/202505"`, "os    = \"sonic/202505\"\n  manage = \"verify\"")
}

func remarked(p *Pass) {
	f := p.Fabric
	p.EachProfile(func(e End, ports int) {
		if !e.Profile.Remarks || p.untrusted(e) {
			return
		}
		p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
			if c.Default || c.Remap {
				return
			}
			var moved []string
			for d := range e.Profile.Remark {
				if to := e.Profile.Remark[d]; c.DSCP>>d&1 == 1 && c.DSCP>>to&1 == 0 {
					moved = append(moved, fmt.Sprintf("%d to %d", d, to))
				}
			}
			if len(moved) == 0 {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("port %s rewrites DSCP %s: class %s is lost behind it", p.Name(e), strings.Join(moved, ", "), f.Text(c.Name)),
				Address: f.PortAddress(e.ID), Count: ports,
				Labels: []diag.Label{p.AtPort(e, schema.ARemark, ""), f.Label(c.Decl, 0, schema.ADSCP, "the class")}, Help: "exclude the class from the rule",
			})
		})
	})
}
