package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on ECN that is about the ends: NICs that send and heed
// congestion notifications.

// factCNPAtReceiver is the fact of a NIC model that says who merges CNPs: 1 = the
// receiver, which sends one for many marks; 0 = the sender, which gets one for each.
const factCNPAtReceiver = "cnp_at_receiver"

var roce410 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE410", Name: "class_cnp_generations", Severity: diag.Warning,
		Title:  "NICs of one class merge CNPs at different ends",
		Why:    "a NIC that is sent a CNP for every mark, and expects one for many, slows down to nothing: between generations of NICs throughput collapses in one direction",
		Fix:    "set one CNP interval on all of them, and say so: cnp_interval on the class",
		Source: "Bai et al., NSDI 2023, 7.2: three generations of NICs, and a CNP interval that each keeps at another end",
		Needs: "facts = { cnp_at_receiver = 1 } or 0 in the nic_model. The paper does not name its generations, and what " +
			"vendors document of the interval (MIN_TIME_BETWEEN_CNPS of mlxconfig, min_time_between_cnps of bnxt_re) does " +
			"not say at which end it is kept",
		Bad:  generations(``),
		Good: generations(`observed = { cnp_interval = "4us" }`),
	},
	Run: cnpGenerations,
}

// generations is twoNodes with NICs that merge CNPs at different ends.
func generations(class string) string {
	return twoNodesEdit("    ecn       = \"auto\"\n", "    ecn       = \"auto\"\n    "+class+"\n", `model    = "nvidia/connectx-6-dx"`, `model    = "example/cnp-${self.name}"`) + cnpNIC("n1", "1") + cnpNIC("n2", "0")
}

func cnpNIC(name, atReceiver string) string {
	return `
nic_model "example/cnp-` + name + `" {
  vendor          = "example"
  driver          = "mlx5"
  roce            = ["v2"]
  speeds          = ["100G"]
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  max_mtu         = 9978
  facts           = { cnp_at_receiver = ` + atReceiver + ` }
}
`
}

func cnpGenerations(p *Pass) {
	f := p.Fabric
	type key struct {
		qos   fabric.QoSID
		model fabric.NICModelID
	}
	first := map[key]fabric.PortID{}
	var order []key
	var last key
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		port := &f.Ports[id]
		if port.NIC == 0 || port.Profile == 0 || port.Link == 0 {
			continue
		}
		k := key{f.Profiles[port.Profile].QoS, f.NICs[port.NIC].Model}
		if k == last {
			continue
		}
		last = k
		if first[k] == 0 {
			first[k] = id
			order = append(order, k)
		}
	}
	said := map[fabric.QoSID]bool{}
	for i, k := range order {
		mine, known := f.NICModels[k.model].Facts[factCNPAtReceiver]
		if !known || said[k.qos] {
			continue
		}
		at := slices.IndexFunc(order[:i], func(o key) bool {
			theirs, known := f.NICModels[o.model].Facts[factCNPAtReceiver]
			return o.qos == k.qos && known && (theirs != 0) != (mine != 0)
		})
		if at < 0 {
			continue
		}
		said[k.qos] = true
		receiver, sender := p.End(first[order[at]]), p.End(first[k])
		if mine != 0 {
			receiver, sender = sender, receiver
		}
		p.reportGenerations(k.qos, receiver, sender)
	}
}

func (p *Pass) reportGenerations(q fabric.QoSID, receiver, sender End) {
	f := p.Fabric
	for i := range f.QoS[q].Classes {
		c := &f.QoS[q].Classes[i]
		if !p.reacts(c) || c.CNPIntervalUs != 0 {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("class %s: %s (%s) merges CNPs at the receiver, %s (%s) at the sender", f.Text(c.Name), p.Name(receiver), p.nicModel(receiver), p.Name(sender), p.nicModel(sender)),
			Address: f.PortAddress(receiver.ID), Concerns: []string{f.PortAddress(sender.ID)},
			Labels: []diag.Label{p.AtPort(receiver, schema.AModel, ""), p.AtPort(sender, schema.AModel, "the other"), f.DeclLabel(c.Decl, "the class")},
			Help:   "set one CNP interval on all of them, and say so: cnp_interval on the class",
		})
	}
}

// reacts reports whether the NICs of a class slow down by DCQCN.
func (p *Pass) reacts(c *fabric.Class) bool {
	marked := c.ECN.Mode == fabric.Auto || c.ECN.Mode == fabric.Written
	return c.Carries == fabric.CarriesRDMA && c.Transport != fabric.IWARP && c.Congestion != fabric.Receiver && !c.ByRTT && (marked || c.Congestion == fabric.DCQCN)
}

var roce412 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE412", Name: "host_dcqcn", Severity: diag.Warning, When: diag.Both,
		Title: "NICs have DCQCN off for the priority of a class that switches mark",
		Why:   "marks that nobody answers slow nobody down: the class runs into its pauses, or its drops, as if there were no ECN",
		Fix:   "enable notification and reaction point on the priority",
		Source: "NVIDIA MLNX_OFED, Explicit Congestion Notification: ecn/roce_np/enable and ecn/roce_rp/enable, by priority; " +
			"NVIDIA ConnectX-6 Dx firmware 22.45.1020, known issue 4394475: one setting for all priorities",
		Bad:  foundHosts(`observed = { dcqcn = [0, 1] }`, ``),
		Good: foundHosts(`observed = { dcqcn = [3] }`, ``),
	},
	Run: hostDCQCN,
}

// globalCC reports whether a NIC reacts on all priorities once it reacts on any.
func (p *Pass) globalCC(e End) bool {
	if e.Port.NIC == 0 {
		return false
	}
	n := &p.Fabric.NICs[e.Port.NIC]
	from := p.Fabric.NICModels[n.Model].Facts[fabric.FactCCGlobal] / 1000
	parts := strings.Split(p.Fabric.Text(n.Firmware), ".")
	if from == 0 || len(parts) < 2 {
		return false
	}
	release, err := strconv.ParseInt(parts[1], 10, 64)
	return err == nil && release >= from
}

func hostDCQCN(p *Pass) {
	p.Managed(func(e End) {
		if !e.Profile.DCQCNSet || e.Profile.DCQCN != 0 && p.globalCC(e) {
			return
		}
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if !p.reacts(c) || Displaced(c, on) || e.Profile.DCQCN>>(on.Priority&7)&1 == 1 {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("DCQCN is off for priority %d, class %s, on %s", on.Priority, p.Fabric.Text(c.Name), p.Name(e)), Address: p.Fabric.PortAddress(e.ID),
				Labels: []diag.Label{p.AtPort(e, schema.ADCQCN, ""), p.Fabric.Label(c.Decl, 0, schema.AECN, "the class")}, Help: "enable notification and reaction point on the priority",
			})
		})
	})
}
