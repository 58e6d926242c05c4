package lint

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var ecn = []*Rule{roce401, roce402, roce403, roce404, roce405, roce406, roce407, roce408, roce409, roce410, roce411, roce412, roce413, roce414, roce415, roce416, roce418, roce420, roce421}

var roce401 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE401", Name: "ecn_before_pfc", Severity: diag.Error, Fixable: true,
		Title: "PFC pauses before ECN marks",
		Why:   "when the pause comes first, senders never learn to slow down: the fabric runs on pauses, and they spread",
		Fix:   "lower the ECN minimum, or raise alpha",
		Source: "Zhu et al., SIGCOMM 2015, section 4; Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998: what one queue gets of a " +
			"shared buffer",
		Formula: "ecn.min in bytes < alpha * shared / (1 + alpha), shared = pool after headroom in bytes, alpha = the dynamic " +
			"threshold of the group",
		Bad:  edit(twoNodes(``), `ecn       = "auto"`, `ecn       = { min = "1MB", max = "2MB", probability = 5 }`, `os    = "sonic/202505"`, `os    = "sonic/202505"`+"\n"+`  buffer = { shared = "12MB", alpha = "1/32" }`),
		Good: twoNodes(``),
	},
	Run: ecnBeforePFC,
}

func ecnBeforePFC(p *Pass) {
	p.eachMarking(func(e End, c *fabric.Class, queue uint8, ports int) {
		x := p.Facts.Port(e.ID).ECN[queue]
		if !c.Lossless || x.RelaxedBytes == 0 || x.MinBytes < x.RelaxedBytes {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("queue %d of %s: PFC fires at %d B, before ECN at %d B", queue, p.Name(e), x.RelaxedBytes, x.MinBytes), Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.AtContract(e, schema.AECN, c, schema.AECN, ""), p.Fabric.Label(e.Device.Decl, e.Device.Layers, schema.ABuffer, "the buffer")},
			Help:   "lower the ECN minimum, or raise alpha", Edits: p.earlierECN(e, c, queue),
		})
	})
}

// earlierECN are the edits that bring the thresholds of a queue below the fill at
// which PFC fires. Where the maximum has to come down as well, the minimum is a
// quarter of it, so that a ramp is left.
func (p *Pass) earlierECN(e End, c *fabric.Class, queue uint8) []diag.Edit {
	x, at := p.Facts.Port(e.ID).ECN[queue], p.AtContract(e, schema.AECN, c, schema.AECN, "")
	if e.Profile.ECN[queue].MaxBytes == 0 || x.MaxBytes <= x.RelaxedBytes {
		return atMost(at, "ecn.min", x.RelaxedBytes)
	}
	low, high := atMost(at, "ecn.min", x.RelaxedBytes/4), atMost(at, "ecn.max", x.RelaxedBytes)
	if low == nil {
		return nil
	}
	return append(low, high...)
}

// eachMarking calls visit for each class that a switch port marks, once for
// every distinct profile and set of derived facts, and for all where that finds something.
func (p *Pass) eachMarking(visit func(e End, c *fabric.Class, queue uint8, ports int)) {
	if p.marking.rows == nil {
		p.marking.rows, p.marking.find = p.shared().marking(), p.markingRows
	}
	for i := range p.marking.rows {
		p.marking.visit(p, i, func(e End, ports int) {
			p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
				if on.Queue < 8 && p.Facts.Port(e.ID).ECN[on.Queue].On {
					visit(e, c, on.Queue, ports)
				}
			})
		})
	}
}

func (p *Pass) markingRows(other func(row int, id fabric.PortID)) []alike {
	type key struct {
		profile fabric.ProfileID
		fact    derive.FactID
	}
	of := func(id fabric.PortID) key { return key{p.Fabric.Ports[id].Profile, p.Facts.Of[id]} }
	rows := []alike{}
	at := map[key]int{}
	alone := p.single()
	var last int // neighbours are mostly alike
	for id := fabric.PortID(1); int(id) < len(p.Fabric.Ports); id++ {
		port := &p.Fabric.Ports[id]
		if port.Profile == 0 || p.Fabric.Devices[port.Device].Kind != fabric.Switch {
			continue
		}
		k := of(id)
		i, seen := last, last < len(rows) && of(rows[last].first) == k
		if !seen {
			i, seen = at[k]
		}
		if !seen || alone {
			i = len(rows)
			at[k] = i
			rows = append(rows, alike{first: id})
		} else if other != nil {
			other(i, id)
		}
		rows[i].ports++
		last = i
	}
	return rows
}

var roce403 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE403", Name: "ecn_range", Severity: diag.Error, Fixable: true,
		Title:  "the ECN minimum is above the maximum, or the probability is not 1 to 100",
		Why:    "devices refuse the profile, or mark everything or nothing",
		Fix:    "swap or correct the values",
		Source: "Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993: RED; sonic-net/sonic-buildimage sonic-wred-profile.yang",
		Bad:    twoNodesEdit(`ecn       = "auto"`, `ecn       = { min = "1500KB", max = "150KB", probability = 5 }`),
		Good:   twoNodes(``),
	},
	Run: ecnRange,
}

func ecnRange(p *Pass) {
	p.eachMarking(func(e End, c *fabric.Class, queue uint8, ports int) {
		x := p.Facts.Port(e.ID).ECN[queue]
		// Equal values are a step, DCTCP's form, where all is marked above them: ROCE418.
		// With less there is no slope on which that probability would hold.
		own := &e.Profile.ECN[queue]
		flat := own.MinBytes != 0 && own.MinBytes == own.MaxBytes && x.MinBytes == x.MaxBytes && x.Probability < 100
		if x.MinBytes <= x.MaxBytes && x.Probability >= 1 && x.Probability <= 100 && !flat {
			return
		}
		wrong, help := fmt.Sprintf("from %d B up to %d B, which is less", x.MinBytes, x.MaxBytes), "make min smaller than max"
		switch {
		case x.MinBytes > x.MaxBytes:
		case x.Probability < 1 || x.Probability > 100:
			wrong, help = fmt.Sprintf("with a probability of %d %%, and it is 1 to 100", x.Probability), "write a probability of 1 to 100"
		default:
			wrong, help = fmt.Sprintf("%d %% between %d B and %d B, which are one", x.Probability, x.MinBytes, x.MaxBytes), "make min smaller than max, or write a probability of 100 for a step"
		}
		at := p.AtContract(e, schema.AECN, c, schema.AECN, "")
		var edits []diag.Edit
		if x.MinBytes > x.MaxBytes {
			edits = append(setAt(at, "ecn.min", roundBytes(uint64(x.MaxBytes))), setAt(at, "ecn.max", roundBytes(uint64(x.MinBytes)))...)
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("ECN of class %s on %s marks %s", p.Fabric.Text(c.Name), p.Name(e), wrong),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{at}, Help: help, Edits: edits,
		})
	})
}

var roce404 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE404", Name: "path_ecn", Severity: diag.Error, Fixable: true,
		Title:  "a class that reacts to ECN is not marked at some hop",
		Why:    "the one queue that does not mark is where the pauses start, or where a lossy class drops",
		Fix:    "attach ECN there",
		Source: "Zhu et al., SIGCOMM 2015, section 3.1: every switch on the path is a congestion point",
		Bad:    twoNodes(`ecn = "off"`),
		Good:   twoNodes(``),
	},
	Run: pathECN,
}

func pathECN(p *Pass) {
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Switch || e.Port.Link == 0 || p.untrusted(e) {
			return
		}
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			wants := c.Carries == fabric.CarriesRDMA && c.Congestion != fabric.Receiver &&
				(c.ECN.Mode == fabric.Auto || c.ECN.Mode == fabric.Written || c.Congestion == fabric.DCQCN)
			if !wants || on.Queue >= 8 || Displaced(c, on) || p.marksECN(e, on) || e.Profile.ECN[on.Queue].Mode == fabric.Keep {
				return
			}
			off := p.unmarks(e, c, on.Queue)
			if off != nil && off.Queue == c.Queue {
				return // they write two: ROCE230
			}
			d := diag.Diagnostic{
				Summary: fmt.Sprintf("class %s is not ECN marked at %s, queue %d", p.Fabric.Text(c.Name), p.Name(e), on.Queue), Address: p.Fabric.PortAddress(e.ID),
				Labels: []diag.Label{p.AtContract(e, schema.AECN, c, schema.AECN, ""), p.AtContract(e, 0, c, schema.ACongestion, "the class")}, Help: `write ecn = "auto" there`, Edits: p.ecnBack(e, c),
			}
			switch own := e.Profile.DeviatesIn(schema.AECN); {
			case own || !e.Profile.DeviatesIn(schema.AQueueMap) || on.Queue == c.Queue:
			case off != nil:
				name := p.Fabric.Text(off.Name)
				d.Summary += fmt.Sprintf(", where it shares the marking of class %s, which is off", name)
				d.Labels = []diag.Label{p.AtPort(e, schema.AQueueMap, ""), p.Fabric.Label(off.Decl, 0, schema.AECN, "the marking of that queue")}
				d.Help, d.Edits = "leave the class in the queue that its contract gives it, or mark that queue", nil
			default:
				d.Labels, d.Edits = p.beside(e, schema.AECN, c, schema.AECN, "marked where its contract has it"), nil
				d.Help = `leave the class in the queue that its contract gives it, or write ecn on the port too`
			}
			if m, ok := p.majority(e, func(o End) string { return onOff(p.marksECN(o, o.Profile.On[p.indexOf(o, c)])) }); ok && m.value == "on" {
				d.Notes = append(d.Notes, fmt.Sprintf("%s is the one that differs: %d of %d ports of its role mark it", p.Name(e), m.have, m.of))
			}
			p.Report(d)
		})
	})
	crossedMarking(p)
}

// unmarks is the class that keeps a queue of a port from being marked: another one of the contract that is in it and has ECN off. nil if the
// port itself says what it marks, or no class does.
func (p *Pass) unmarks(e End, victim *fabric.Class, queue uint8) (culprit *fabric.Class) {
	if e.Profile.DeviatesIn(schema.AECN) {
		return nil
	}
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
		if culprit == nil && c.Name != victim.Name && on.Queue == queue && c.ECN.Mode == fabric.Off {
			culprit = c
		}
	})
	return culprit
}

// ecnBack are the edits that make a port mark a class: as its contract says, if
// the port deviates from it, else by the defaults.
func (p *Pass) ecnBack(e End, c *fabric.Class) []diag.Edit {
	at := p.AtContract(e, schema.AECN, c, schema.AECN, "")
	if l, own := p.Fabric.PortOrigin(e.ID, schema.AECN); own && l.Span == at.Span {
		return setAt(at, "ecn", "")
	}
	return setAt(at, "ecn", `"auto"`)
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// indexOf is the index of a class of the same name in a port's contract, 0 if
// it has none.
func (p *Pass) indexOf(e End, c *fabric.Class) int {
	for i, k := range p.Fabric.QoS[e.Profile.QoS].Classes {
		if k.Name == c.Name {
			return i
		}
	}
	return 0
}

var roce406 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE406", Name: "ecn_cnp_mark", Severity: diag.Error,
		Title:  "a host sends CNPs under another mark than the switch expects",
		Why:    "CNPs under another mark land in the default queue and arrive late, or never",
		Fix:    "use one DSCP for CNPs on both sides; 48 is the NICs' default",
		Steps:  "both marks on switches first, hosts next, the old mark last",
		Source: "NVIDIA MLNX_OFED, Explicit Congestion Notification: roce_np/cnp_dscp (48) and cnp_802p_prio (6)",
		Bad: edit(twoNodes(`qos = qos.other`), `segment "storage" {`, `qos "other" {
  from = qos.roce
  class "cnp" {
    dscp = [46]
  }
}
segment "storage" {`),
		Good: twoNodes(``),
	},
	Run: cnpMark,
}

func cnpMark(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if !p.cnpMarksDiffer(a, b) {
			return
		}
		first, second, note := p.Deviant(a, b, func(e End) string {
			if c := p.cnpClass(e); c != nil {
				return "CNPs at " + marksOf(c)
			}
			return "no CNP class"
		})
		one, other := p.cnpClass(first), p.cnpClass(second)
		p.Report(p.AboutLink(l, first, second, diag.Diagnostic{
			Summary: fmt.Sprintf("CNPs are %s on %s, and %s on its peer %s", marksOf(one), p.Name(first), marksOf(other), p.Name(second)),
			Labels:  []diag.Label{p.Fabric.Label(one.Decl, 0, schema.ADSCP, ""), p.Fabric.Label(other.Decl, 0, schema.ADSCP, "other end")}, Help: "use one value; 48 is the NICs' default", Notes: noted(note),
		}))
	})
}

// cnpMarksDiffer reports whether two ends have CNP classes with other DSCPs.
func (p *Pass) cnpMarksDiffer(a, b End) bool {
	ca, cb := p.cnpClass(a), p.cnpClass(b)
	return ca != nil && cb != nil && ca.DSCP != cb.DSCP && a.Profile.Trust == fabric.TrustDSCP && b.Profile.Trust == fabric.TrustDSCP
}

func (p *Pass) cnpClass(e End) *fabric.Class {
	var found *fabric.Class
	p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
		if c.Carries == fabric.CarriesCNP {
			found = c
		}
	})
	return found
}

var roce408 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE408", Name: "class_no_control", Severity: diag.Warning, Fixable: true,
		Title: "an RDMA class has neither PFC nor ECN",
		Why:   "with neither, congestion shows as loss, and RoCE recovers from loss badly",
		Fix:   "enable one of them; where the NICs go by round-trip times, say so: observed = { slowed_by = \"rtt\" } in the class",
		Source: "NVIDIA, Zero Touch RoCE: the one RoCE that vendors run with neither, by round-trip times; Guo et al., SIGCOMM " +
			"2016, section 4.1: what a loss costs the others",
		Bad:  twoNodesEdit(`ecn       = "auto"`, `lossless  = false`),
		Good: twoNodes(``),
	},
	Run:   noControl,
	mends: set("ecn", `"auto"`),
}

// pausedElsewhere tells of a port where global pause keeps a class that nothing else keeps.
func (p *Pass) pausedElsewhere(id fabric.PortID) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("global pause keeps it on %s, and not on all of its ports: write global_pause = true on the others as well where they have "+
		"it", p.Fabric.PortName(id))
}

func noControl(p *Pass) {
	f := p.Fabric
	used, paused := map[fabric.QoSID]bool{}, map[fabric.QoSID]fabric.PortID{}
	p.Managed(func(e End) {
		if e.Profile.Pause || e.Port.Manage == fabric.HandsOff && p.End(e.Port.Peer).Profile.Pause {
			paused[e.Profile.QoS] = e.ID // pauses keep what it carries, and its peer says so for what others see to
		} else {
			used[e.Profile.QoS] = true
		}
	})
	for id := 1; id < len(f.QoS); id++ {
		for i := range f.QoS[id].Classes {
			c := &f.QoS[id].Classes[i]
			ecnOff := c.ECN.Mode == fabric.Unwritten || c.ECN.Mode == fabric.Off
			if !used[fabric.QoSID(id)] || c.Carries != fabric.CarriesRDMA || c.Lossless || !ecnOff || c.ByRTT || c.Transport == fabric.IWARP {
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("class %s of qos %s has neither PFC nor ECN", f.Text(c.Name), f.Text(f.QoS[id].Name)), Address: f.Text(f.QoS[id].Address),
				Labels: []diag.Label{f.DeclLabel(c.Decl, "")}, Help: `make it lossless, or write ecn = "auto"; where round-trip times slow its senders, observed = { slowed_by = "rtt" }`,
				Notes: noted(p.pausedElsewhere(paused[fabric.QoSID(id)])),
			})
		}
	}
}

var roce409 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE409", Name: "nic_resilient", Severity: diag.Error,
		Title:  "a NIC of a lossy RDMA class has no congestion control of its own in hardware",
		Why:    "nothing slows it down before the switch drops: loss is common, and each loss makes it send a window again",
		Fix:    "use PFC, or newer NICs",
		Steps:  "headroom and PFC on switches first, hosts last",
		Source: "NVIDIA, Resilient RoCE (DOC-2499): DCQCN in hardware from ConnectX-4 on; Zhu et al., SIGCOMM 2015, section 3",
		Bad:    strings.NewReplacer(`ecn       = "auto"`, "ecn       = \"auto\"\n    lossless  = false", "nvidia/connectx-6-dx", "example/fragile").Replace(twoNodes(``)) + fragileNIC("false"),
		Good:   strings.NewReplacer(`ecn       = "auto"`, "ecn       = \"auto\"\n    lossless  = false", "nvidia/connectx-6-dx", "example/fragile").Replace(twoNodes(``)) + fragileNIC("true"),
	},
	Run: nicResilient,
}

func fragileNIC(resilient string) string {
	return `
nic_model "example/fragile" {
  vendor          = "example"
  driver          = "mlx5"
  roce            = ["v1", "v2"]
  speeds          = ["100G"]
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = ` + resilient + `
  max_mtu         = 9978
}
`
}

func nicResilient(p *Pass) {
	f := p.Fabric
	p.Managed(func(e End) {
		if e.Port.NIC == 0 {
			return
		}
		m := &f.NICModels[f.NICs[e.Port.NIC].Model]
		if m.Resilient != fabric.No || f.Text(m.Driver) == "mlx4" {
			return // ConnectX-3 is ROCE705
		}
		p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
			if c.Carries != fabric.CarriesRDMA || c.Lossless || c.Transport == fabric.IWARP || c.ECN.Mode == fabric.Unwritten || c.ECN.Mode == fabric.Off {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("nic %s (%s) needs a lossless class, and %s is lossy", p.Name(e), f.Text(m.Name), f.Text(c.Name)), Address: f.PortAddress(e.ID),
				Labels: []diag.Label{p.AtPort(e, schema.AModel, ""), f.Label(c.Decl, 0, schema.ALossless, "the class")}, Help: "make the class lossless, or use NICs with DCQCN in hardware",
			})
		})
	})
}
