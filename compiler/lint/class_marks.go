package lint

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on classes that is about the marks that a fabric's own
// traffic needs: those of CNPs, of routing protocols, and of the outer header of
// an overlay.

var roce237 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE237", Name: "class_cnp_missing", Severity: diag.Warning,
		Title: "switches mark a class, and no class carries the CNPs that answer",
		Why: "CNPs then wait in the default queue among everything else: under load, which is when they are sent, senders hear of " +
			"congestion too late and the fabric runs on pauses. " +
			"Contracts of Windows hosts are left out, where no cmdlet sets the mark of CNPs and the switch configuration that " +
			"Microsoft publishes gives them no class either, " +
			"and those of NICs of which nobody states it",
		Fix: `add a class with carries = "cnp", its DSCP (48 is what NICs send) and a priority of its own; ` +
			`or write ecn = "off" where PFC alone shall do`,
		Steps: "the class on switches first, hosts last",
		Source: "Zhu et al., SIGCOMM 2015, section 3: CNPs are sent at high priority; NVIDIA Cumulus Linux 5, RDMA over Converged " +
			"Ethernet: CNPs in a strict queue; " +
			"for Windows Azure/AzureLocal-Supportability, TSG/Networking/Top-Of-Rack-Switch/Reference-TOR-QOS-Policy-Configuration.md",
		Bad:  twoNodesEdit(cnpClass, ""),
		Good: twoNodes(``),
	},
	Run: cnpMissing,
}

func cnpMissing(p *Pass) {
	f := p.Fabric
	hosts := p.contractHosts()
	type queued struct {
		class  *fabric.Class // that is marked
		at     End
		mark   string
		queue  uint8
		served bool // CNPs go first, or are ROCE220
	}
	found := make([]queued, len(f.QoS))
	p.Managed(func(e End) {
		w := &found[e.Profile.QoS]
		if e.Device.Kind != fabric.Switch || e.Port.Link == 0 || w.served || w.class != nil || p.untrusted(e) || p.contested(e.Profile.QoS) {
			return
		}
		var marked *fabric.Class
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if marked == nil && p.reacts(c) && on.Queue < 8 && p.marksECN(e, on) {
				marked = c
			}
		})
		if marked == nil || p.cnpClass(e) != nil {
			return
		}
		p.cnp(e, func(_ diag.Label, mark string, on fabric.ClassOn, _ bool) {
			*w = queued{class: marked, at: e, mark: mark, queue: on.Queue, served: e.Profile.Sched[on.Queue&7].Strict}
			p.Classes(e, func(c *fabric.Class, o fabric.ClassOn) {
				w.served = w.served || o.Queue == on.Queue && c.Carries == fabric.CarriesRDMA
			})
		})
	})
	for q, w := range found {
		if h := hosts(fabric.QoSID(q)); w.class == nil || w.served || h.windows || h.unknownCNP {
			continue
		}
		marks := "dscp = [48] and a priority of its own"
		if w.at.Profile.Trust == fabric.TrustPCP {
			marks = "priority = 6"
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("class %s is marked on %s, and qos %s has no class for CNPs: with %s, they wait in queue %d, which "+
				"is not strict",
				f.Text(w.class.Name), p.Name(w.at), f.Text(f.QoS[q].Name), w.mark, w.queue),
			Address: f.PortAddress(w.at.ID),
			Labels:  []diag.Label{f.DeclLabel(f.QoS[q].Decl, ""), f.Label(w.class.Decl, 0, schema.AECN, "the marking")},
			Help:    fmt.Sprintf(`add a class with carries = "cnp", %s, or write ecn = "off"`, marks),
		})
	}
}

// contractHosts is what is among the hosts that run RDMA by a contract.
type contractHosts struct {
	any, windows bool
	unknownCNP   bool // a model whose CNPs nobody states the mark of
}

// contractHosts tells of a contract what is among its hosts, those of the whole fabric where it has none.
func (p *Pass) contractHosts() func(fabric.QoSID) contractHosts {
	of := make([]contractHosts, len(p.Fabric.QoS)) // [0]: of the fabric
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Node || !p.RDMA(e) {
			return
		}
		unknown := false
		if e.Port.NIC != 0 {
			m := &p.Fabric.NICModels[p.Fabric.NICs[e.Port.NIC].Model]
			unknown = m.CNPDSCP < 0 && m.CNPPriority < 0
		}
		for _, q := range [3]fabric.QoSID{0, e.Profile.QoS, p.End(e.Port.Peer).Profile.QoS} {
			h := &of[q]
			h.any, h.windows, h.unknownCNP = true, h.windows || p.windows(e.Device), h.unknownCNP || unknown
		}
	})
	return func(q fabric.QoSID) contractHosts {
		if !of[q].any {
			q = 0
		}
		return of[q]
	}
}

var roce238 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE238", Name: "class_control_mark", Severity: diag.Warning,
		Title: "RDMA has the marks of routing protocols",
		Why: "BGP, BFD and LACP are sent with CS6 or CS7, or in priority 6 or 7: bulk data beside them delays them, and a pause " +
			"of that priority stops the protocols that hold the fabric together",
		Fix:   "give RDMA another code point and priority, as DSCP 26 and priority 3",
		Steps: "the new class on switches first, hosts next, the old class last",
		Source: "RFC 4594, section 3.2: network control has CS6, and CS7 is kept for it; IEEE 802.1Q-2018, annex I: priorities 7 " +
			"and 6 are network and internetwork control",
		Bad:  twoNodesEdit("dscp      = [26]\n    priority  = 3", "dscp      = [56]\n    priority  = 7"),
		Good: twoNodes(``),
	},
	Run: controlMark,
}

func controlMark(p *Pass) {
	f := p.Fabric
	const control = 1<<48 | 1<<56
	said := map[fabric.DeclID]bool{}
	p.EachProfile(func(e End, _ int) {
		if p.untrusted(e) {
			return
		}
		p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
			dscp := c.DSCP & control
			if e.Profile.Trust != fabric.TrustDSCP {
				dscp = 0
			}
			if c.Carries != fabric.CarriesRDMA || said[c.Decl] || dscp == 0 && c.Priority < 6 {
				return
			}
			said[c.Decl] = true
			var has []string
			if dscp != 0 {
				has = append(has, fmt.Sprintf("DSCP %d (CS%d)", bits.TrailingZeros64(dscp), bits.TrailingZeros64(dscp)/8))
			}
			attr := schema.ADSCP
			if c.Priority >= 6 {
				has = append(has, fmt.Sprintf("priority %d", c.Priority))
				attr = schema.APriority
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("class %s of qos %s carries RDMA with %s, which routing "+
					"protocols use", f.Text(c.Name), f.Text(f.QoS[e.Profile.QoS].Name), strings.Join(has, " and ")),
				Address: f.Text(f.QoS[e.Profile.QoS].Address), Labels: []diag.Label{f.Label(c.Decl, 0, attr, "")},
				Help: "give it another code point and priority, as DSCP 26 and priority 3",
			})
		})
	})
}

// overlayKeeps are the operating systems that copy DSCP and ECN into the outer header of VXLAN and bring marks back unless they are told
// otherwise. SONiC: opencomputeproject/SAI inc/saitunnel.h, defaults of SAI_TUNNEL_ATTR_ENCAP_DSCP_MODE (uniform), ENCAP_ECN_MODE and
// DECAP_ECN_MODE (standard, RFC 6040).
var overlayKeeps = map[string]bool{"sonic": true, "sonic-enterprise": true}

var roce242 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE242", Name: "overlay_marks", Severity: diag.Error,
		Title: "marks of a class do not survive an overlay, or nobody knows",
		Why: "between the switches only the outer header counts: without the class's DSCP in it the class has no PFC there, and a " +
			"congestion mark that is not brought back into the inner header " +
			"slows nobody down. Cumulus Linux derives the outer DSCP from the switch priority unless told to copy; of other systems " +
			"it has to be looked up",
		Fix: `have every switch that encapsulates copy DSCP and ECN and bring marks back, ` +
			`and say so: observed = { overlay_marks = "kept" } in the segment`,
		Source: "RFC 6040; NVIDIA Cumulus Linux 5.7, VXLAN Tunnel DSCP Operations: derive is the default; opencomputeproject/SAI " +
			"inc/saitunnel.h: SONiC's default is uniform",
		Bad:  overlaidMarks("sonic/202505", `overlay = "vxlan", overlay_marks = "lost"`),
		Good: overlaidMarks("sonic/202505", `overlay = "vxlan", overlay_marks = "kept"`),
	},
	Run: overlayMarks,
}

// overlaidMarks is overlaid with room for the header, an operating system of its switches, and what was seen of the segment.
func overlaidMarks(os, observed string) string {
	return strings.NewReplacer("sonic/202505", os, `overlay = "vxlan"`, observed).Replace(overlaid("9050"))
}

func overlayMarks(p *Pass) {
	f := p.Fabric
	said := make([]bool, len(f.Segments))
	judge := func(e End, s fabric.SegmentID) {
		seg := &f.Segments[s]
		class := p.rdmaClass(e)
		os := f.Text(e.Device.OSName)
		if !seg.Overlay || said[s] || class == nil {
			return
		}
		if seg.OverlayMarks == fabric.MarksKept || seg.OverlayMarks == fabric.MarksUnknown && overlayKeeps[os] {
			return
		}
		said[s] = true
		d := diag.Diagnostic{
			Severity: diag.Warning, Address: f.Text(seg.Address),
			Summary: fmt.Sprintf("class %s goes through the overlay of segment %s, and whether %s (%s) copies its marks into the "+
				"outer header nobody says", f.Text(class.Name), f.Text(seg.Name), f.Text(e.Device.Name), os),
			Labels: []diag.Label{f.Label(seg.Decl, seg.Layers, schema.AOverlay, ""), f.DeclLabel(class.Decl, "the class")},
			Help:   `have it copy DSCP and ECN and bring marks back, and write overlay_marks = "kept" in observed of the segment`,
		}
		if seg.OverlayMarks == fabric.MarksLost {
			d.Severity, d.Summary = diag.Error, fmt.Sprintf("class %s goes through the overlay of segment %s, which loses its "+
				"marks: between switches it is not class %[1]s", f.Text(class.Name), f.Text(seg.Name))
		}
		p.Report(d)
	}
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Switch || e.Port.Link == 0 || p.untrusted(e) {
			return
		}
		judge(e, e.Port.Native)
		for _, s := range f.VLANSets[e.Port.VLANs] {
			judge(e, s)
		}
	})
}
