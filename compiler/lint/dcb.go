package lint

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The second half of the family on classes: negotiation, congestion
// notification, and what hosts do with classes.

var roce214 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE214", Name: "link_dcbx_willing", Severity: diag.Error,
		Title: "both ends of a link are DCBX willing",
		Why: "both advertise, and each is ready to take what the other has: for PFC the MAC addresses break the tie, for ETS " +
			"each takes the recommendation of the other. A NIC that is replaced may so set the PFC of the switch",
		Fix:   "let the switch advertise without being willing, or turn DCBX off",
		Steps: "write PFC, ETS and trust on both ends first, then change DCBX",
		Source: "IEEE 802.1Q-2018, clause 38, symmetric attribute passing (PFC) and asymmetric attribute passing (ETS); " +
			"intel/openlldp lldp_8021qaz.c, pfc_sm() and ets_sm()",
		Bad:  bothDCBX(`{ mode = "willing" }`, `{ mode = "willing" }`),
		Good: bothDCBX(`{ mode = "advertise" }`, `{ mode = "willing" }`),
	},
	Run: bothWilling,
}

// bothDCBX is two hosts that rocec does not manage on a switch it does not
// manage either, with DCBX on each side: rules on negotiation alone speak.
func bothDCBX(port, nic string) string {
	return edit(twoNodes(`dcbx = `+port), `os    = "sonic/202505"`, `os    = "sonic/202505"`+"\n  manage = \"verify\"",
		`os       = "ubuntu/24.04"`, `os       = "ubuntu/24.04"`+"\n  manage = \"verify\"", `fec      = "rs"`, `fec      = "rs"`+"\n    dcbx = "+nic)
}

func bothWilling(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if a.Profile.DCBX.Mode != fabric.DCBXWilling || b.Profile.DCBX.Mode != fabric.DCBXWilling {
			return
		}
		p.Report(p.AboutLink(l, a, b, diag.Diagnostic{
			Summary: fmt.Sprintf("ports %s and %s are both DCBX willing: which of them sets PFC is a matter of MAC addresses", p.Name(a), p.Name(b)),
			Labels:  []diag.Label{p.AtPort(a, schema.ADCBX, ""), p.AtPort(b, schema.ADCBX, "other end")},
			Help:    "let the switch advertise without being willing, or turn DCBX off",
		}))
	})
}

var roce215 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE215", Name: "link_dcbx_version", Severity: diag.Error,
		Title: "the two ends of a link speak different versions of DCBX",
		Why:   "IEEE and CEE frames are not understood by each other: the settings never arrive",
		Fix:   "use IEEE on both ends",
		Steps: "write PFC, ETS and trust on both ends first, then change DCBX",
		Source: "intel/openlldp lldp_8021qaz.c and lldp_dcbx.c: IEEE frames have the OUI 00-80-C2, CEE frames 00-1B-21, and a " +
			"station evaluates one of them",
		Bad:  bothDCBX(`{ mode = "advertise", version = "cee" }`, `{ mode = "willing", version = "ieee" }`),
		Good: bothDCBX(`{ mode = "advertise", version = "ieee" }`, `{ mode = "willing", version = "ieee" }`),
	},
	Run: dcbxVersion,
}

func dcbxVersion(p *Pass) {
	speaks := func(e End) bool {
		m := e.Profile.DCBX.Mode
		return (m == fabric.DCBXAdvertise || m == fabric.DCBXWilling) && e.Profile.DCBX.VersionSet
	}
	word := func(e End) string {
		if e.Profile.DCBX.CEE {
			return "CEE"
		}
		return "IEEE"
	}
	p.Links(func(l fabric.LinkID, a, b End) {
		if !speaks(a) || !speaks(b) || a.Profile.DCBX.CEE == b.Profile.DCBX.CEE {
			return
		}
		p.Report(p.AboutLink(l, a, b, diag.Diagnostic{
			Summary: fmt.Sprintf("port %s speaks %s DCBX, its peer %s speaks %s", p.Name(a), word(a), p.Name(b), word(b)),
			Labels:  []diag.Label{p.AtPort(a, schema.ADCBX, ""), p.AtPort(b, schema.ADCBX, "other end")}, Help: `use version = "ieee" on both ends`,
		}))
	})
}

var roce218 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE218", Name: "class_count", Severity: diag.Error,
		Title: "classes outnumber the traffic classes of a device",
		Why:   "where classes outnumber traffic classes a driver refuses the whole setting; Windows then sends nothing to the NIC",
		Fix:   "merge classes",
		Steps: "the new marks on switches first, hosts next, the old marks last",
		Source: "traffic_classes of the nic_model and queues of the asic in lang/packs, each with its source; Microsoft Learn, " +
			"New-NetQosTrafficClass",
		Bad:  strings.Replace(twoNodes(``), "nvidia/connectx-6-dx", "example/two-tc", 1) + twoTC,
		Good: twoNodes(``),
	},
	Run: classCount,
}

const twoTC = `
nic_model "example/two-tc" {
  vendor          = "example"
  driver          = "mlx5"
  roce            = ["v2"]
  speeds          = ["100G"]
  traffic_classes = 2
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  max_mtu         = 9978
}
`

func classCount(p *Pass) {
	p.Managed(func(e End) {
		used := 0
		for _, s := range e.Profile.Sched {
			if s.Used {
				used++
			}
		}
		have := 0
		if e.Device.Kind == fabric.Node {
			have = int(p.Fabric.NICModels[p.Fabric.NICs[e.Port.NIC].Model].TrafficClasses)
		} else {
			have = int(p.Fabric.Models[e.Device.Model].Queues)
		}
		if have == 0 || used <= have {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("the classes of qos %s need %d traffic classes, and %s has %d", p.Fabric.Text(p.Fabric.QoS[e.Profile.QoS].Name), used, p.Name(e), have),
			Address: p.Fabric.PortAddress(e.ID), Labels: []diag.Label{p.AtPort(e, schema.AQoS, ""), p.AtPort(e, schema.AModel, "the model")}, Help: "merge classes",
		})
	})
}

var roce220 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE220", Name: "class_cnp_queue", Severity: diag.Warning,
		Title: "CNPs are in the queue that they report on, or in a class that is not strict",
		Why:   "a congestion signal that waits in the congested queue arrives when it is too late",
		Fix:   "put CNP in a strict queue",
		Source: "Zhu et al., SIGCOMM 2015, section 3: CNPs are sent at high priority; NVIDIA Cumulus Linux 5, RDMA over " +
			"Converged Ethernet: CNPs in a strict queue",
		Bad:  twoNodesEdit("priority = 6\n", "priority = 6\n    strict   = false\n    bandwidth = 1\n", "bandwidth = 50", "bandwidth = 49"),
		Good: twoNodes(``),
	},
	Run: cnpQueue,
}

func cnpQueue(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		if p.untrusted(e) || p.contested(e.Profile.QoS) {
			return
		}
		p.cnp(e, func(at diag.Label, mark string, on fabric.ClassOn, own bool) {
			rdma, shared := "", false
			p.Classes(e, func(c *fabric.Class, o fabric.ClassOn) {
				// A lossless queue that a CNP class shares is ROCE227.
				if c.Carries == fabric.CarriesRDMA && p.marksECN(e, o) && o.Queue == on.Queue && !(own && c.Lossless) {
					rdma, shared = p.Fabric.Text(c.Name), true
				}
			})
			switch {
			case shared:
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("CNPs (%s) are in queue %d of class %s on %s", mark, on.Queue, rdma, p.Name(e)), Address: p.Fabric.PortAddress(e.ID), Count: ports,
					Labels: []diag.Label{at}, Help: "put CNP in a strict queue",
				})
			case own && !e.Profile.Sched[on.Queue&7].Strict && !p.losslessQueue(e, on.Queue):
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("CNPs (%s) are in queue %d of %s, which is not strict", mark, on.Queue, p.Name(e)), Address: p.Fabric.PortAddress(e.ID), Count: ports,
					Labels: []diag.Label{at}, Help: "put CNP in a strict queue",
				})
			}
		})
	})
}

// losslessQueue reports whether a lossless class is in a queue.
func (p *Pass) losslessQueue(e End, queue uint8) bool {
	found := false
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) { found = found || c.Lossless && on.Queue == queue })
	return found
}

// marksECN reports whether the queue of a class marks on a port; on hosts,
// whether the class does.
func (p *Pass) marksECN(e End, on fabric.ClassOn) bool {
	if e.Profile.Host {
		return true
	}
	m := e.Profile.ECN[on.Queue&7].Mode
	return m == fabric.Auto || m == fabric.Written
}

// cnp calls visit with where CNPs land on a port: those of the contract's CNP
// class, else those that the NIC at the link's end sends by default.
func (p *Pass) cnp(e End, visit func(at diag.Label, mark string, on fabric.ClassOn, own bool)) {
	found := false
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
		if c.Carries == fabric.CarriesCNP {
			found = true
			if !Displaced(c, on) && on.Queue < 8 {
				at := p.AtContract(e, p.mapAttr(e), c, schema.APriority, "")
				if on.Queue != c.Queue && e.Profile.DeviatesIn(schema.AQueueMap) {
					at = p.AtPort(e, schema.AQueueMap, "")
				}
				visit(at, marksOf(c), on, true)
			}
		}
	})
	if found || !p.ecnWanted(e) {
		return
	}
	host := e
	if e.Device.Kind == fabric.Switch {
		if e.Port.Peer == 0 {
			return
		}
		host = p.End(e.Port.Peer)
	}
	if host.Port.NIC == 0 {
		return
	}
	m := &p.Fabric.NICModels[p.Fabric.NICs[host.Port.NIC].Model]
	var priority uint8
	mark := ""
	switch {
	case e.Profile.Trust == fabric.TrustDSCP && m.CNPDSCP >= 0:
		priority, mark = e.Profile.DSCP[m.CNPDSCP], fmt.Sprintf("DSCP %d, the default of %s", m.CNPDSCP, p.Fabric.Text(m.Name))
	case e.Profile.Trust == fabric.TrustPCP && m.CNPPriority >= 0:
		priority, mark = e.Profile.PCP[m.CNPPriority], fmt.Sprintf("PCP %d, the default of %s", m.CNPPriority, p.Fabric.Text(m.Name))
	default:
		return
	}
	on := fabric.ClassOn{Priority: priority, Queue: e.Profile.Queue[priority&7], Group: e.Profile.Group[priority&7], PFC: e.Profile.PFC>>priority&1 == 1}
	visit(p.Fabric.DeclLabel(p.Fabric.QoS[e.Profile.QoS].Decl, ""), mark, on, false)
}

// ecnWanted reports whether some RDMA class of a port is marked.
func (p *Pass) ecnWanted(e End) bool {
	want := false
	p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
		want = want || c.Carries == fabric.CarriesRDMA && (c.ECN.Mode == fabric.Auto || c.ECN.Mode == fabric.Written)
	})
	return want
}

func marksOf(c *fabric.Class) string {
	if c.DSCP != 0 {
		return fmt.Sprintf("DSCP %d", bits.TrailingZeros64(c.DSCP))
	}
	return fmt.Sprintf("priority %d", c.Priority)
}

var roce221 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE221", Name: "class_cnp_lossless", Severity: diag.Error, Fixable: true,
		Title:  "CNPs are in a lossless priority",
		Why:    "a pause stops the congestion signals together with the congestion they report",
		Fix:    "take their priority out of PFC",
		Source: "NVIDIA Cumulus Linux 5, RDMA over Converged Ethernet: PFC on priority 3, CNPs in priority 6 without it",
		Bad:    twoNodesEdit("priority = 6\n", "priority = 6\n    lossless = true\n"),
		Good:   twoNodes(``),
	},
	Run: cnpLossless,
}

func cnpLossless(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		p.cnp(e, func(at diag.Label, mark string, on fabric.ClassOn, _ bool) {
			if !on.PFC || e.Profile.PFC == 0xff || p.mixed(e.Profile.QoS) {
				return // PFC on everything is ROCE306
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("CNPs (%s) land in lossless priority %d on %s: congestion signals can be paused", mark, on.Priority, p.Name(e)),
				Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{at}, Help: "give CNPs a priority without PFC", Edits: p.lossyCNP(e),
			})
		})
	})
}

// lossyCNP are the edits that make the CNP class of a port lossy, none where it is.
func (p *Pass) lossyCNP(e End) []diag.Edit {
	if c := p.cnpClass(e); c != nil && c.Lossless {
		return setAt(p.Fabric.DeclLabel(c.Decl, ""), "lossless", "false")
	}
	return nil
}

var roce226 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE226", Name: "windows_smb_direct", Severity: diag.Error, Fixable: true,
		Title:  "a Windows class for SMB Direct matches no NetworkDirect port",
		Why:    "policies by TCP port never match RDMA: without a NetworkDirect policy SMB Direct travels in the default class",
		Fix:    "write match = { netdirect_port = 445 } on the class",
		Source: "Microsoft Learn, New-NetQosPolicy, -NetDirectPortMatchCondition",
		Bad:    windowsPair(``),
		Good:   windowsPair(`match = { netdirect_port = 445 }`),
	},
	Run: smbDirect,
}

func smbDirect(p *Pass) {
	f := p.Fabric
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Node || e.Port.Manage == fabric.HandsOff || !p.windows(e.Device) {
			return
		}
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if c.Carries != fabric.CarriesRDMA || c.NetDirectPort != 0 {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("SMB Direct of %s is not mapped to priority %d: class %s matches no NetworkDirect port", f.Text(e.Device.Name), c.Priority, f.Text(c.Name)),
				Address: f.PortAddress(e.ID), Labels: []diag.Label{f.Label(c.Decl, 0, schema.ACarries, ""), f.DeclLabel(e.Port.Decl, "used by")},
				Help: "write match = { netdirect_port = 445 } on the class", Edits: setAt(f.DeclLabel(c.Decl, ""), "match.netdirect_port", "445"),
			})
		})
	})
}

var roce227 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE227", Name: "class_queue_shared", Severity: diag.Error, Fixable: true,
		Title:  "lossless and lossy priorities share a queue",
		Why:    "a pause stops the queue: the lossy class stops with it, and its backlog fills the lossless buffer",
		Fix:    "give the lossy class another queue",
		Source: "IEEE 802.1Q-2018, clause 36 and 8.6.8: a pause stops the queue that serves the priority",
		Bad:    twoNodesEdit("dscp     = [48]\n", "dscp     = [48]\n    queue    = 3\n    strict   = false\n"),
		Good:   twoNodes(``),
	},
	Run: queueShared,
}

func queueShared(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		p.pairs(e, func(lossless, lossy *fabric.Class, a, b fabric.ClassOn) {
			if a.Queue != b.Queue || a.Priority == b.Priority {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("priorities %d (%s, lossless) and %d (%s) share queue %d on %s", a.Priority, p.Fabric.Text(lossless.Name), b.Priority, p.Fabric.Text(lossy.Name), a.Queue, p.Name(e)),
				Address: p.Fabric.PortAddress(e.ID), Count: ports,
				Labels: []diag.Label{p.atQueue(e, lossy, schema.AQueue, ""), p.AtContract(e, 0, lossless, schema.AQueue, "the lossless class")},
				Help:   "give the lossy class another queue", Edits: p.otherQueue(e, lossy),
			})
		})
	})
}

// otherQueue are the edits that leave the queue of a lossy class to its priority.
// That of CNPs is strict then.
func (p *Pass) otherQueue(e End, c *fabric.Class) []diag.Edit {
	edits := setAt(p.AtContract(e, schema.AQueueMap, c, schema.AQueue, ""), "queue", "")
	if c.Carries == fabric.CarriesCNP {
		edits = append(edits, setAt(p.Fabric.DeclLabel(c.Decl, ""), "strict", "")...)
	}
	return edits
}

var roce228 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE228", Name: "host_dcbx_willing", Severity: diag.Error,
		Title: "a NIC that rocec manages is DCBX willing",
		Why:   "a willing NIC takes PFC and ETS from its peer at any time: what was written to it does not stay",
		Fix:   `leave dcbx off, or set manage = "verify" where the switch shall decide`,
		Steps: "see that the NIC itself has PFC, ETS and trust, then turn willing off: the settings that came by DCBX go with it",
		Source: "Microsoft Learn, Set-NetQosDcbxSetting, -Willing; intel/openlldp lldp_8021qaz.c: a willing station takes PFC of " +
			"a peer that is not",
		Bad:  twoNodesEdit(`model    = "nvidia/connectx-6-dx"`, `model    = "nvidia/connectx-6-dx"`+"\n    dcbx   = { mode = \"willing\" }"),
		Good: twoNodes(``),
	},
	Run: nicWilling,
}

func nicWilling(p *Pass) {
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Node || e.Port.Manage != fabric.Full || e.Profile.DCBX.Mode != fabric.DCBXWilling {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("nic %s is DCBX willing: its peer may overwrite PFC and ETS at any time", p.Name(e)), Address: p.Fabric.PortAddress(e.ID),
			Labels: []diag.Label{p.AtPort(e, schema.ADCBX, "")}, Help: `leave dcbx off, or set manage = "verify"`,
		})
	})
}
