package lint

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var pfc = []*Rule{
	roce301, roce302, roce303, roce304, roce305, roce306, roce307, roce308, roce309, roce310, roce311, roce312, roce313, roce314, roce315, roce316,
	roce320, roce321, roce322, roce323, roce324, roce325,
}

// carving is what a change of PFC stops, as rocec plan says of each port.
const carving = "both ports while their buffers are carved again"

var roce301 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE301", Name: "link_pfc_priorities", Severity: diag.Error, Hard: true, Fixable: true,
		Title:      "PFC priorities differ across a link",
		Why:        "a pause for one priority does not stop traffic sent on another: the receiver's buffer overruns and a lossless class loses frames, late and under load",
		Fix:        "give both ends the same qos, or make the class lossy on both",
		Interrupts: carving,
		Source: "IEEE 802.1Q-2018, clause 36 (802.1Qbb: a pause names the priorities that it stops); NVIDIA MLNX_OFED user manual, Flow " +
			"Control, " +
			"Configuring PFC; Microsoft host network requirements, Data Center Bridging (host and switch alike)",
		Bad:  twoNodes(`pfc = [4]`),
		Good: twoNodes(``),
	},
	Run:   linkPFC,
	mends: drop("pfc"),
}

func linkPFC(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if a.Port.Profile == 0 || b.Port.Profile == 0 || a.Profile.PFC == b.Profile.PFC || p.shuns(a) || p.shuns(b) {
			return
		}
		first, second, note := p.Deviant(a, b, func(e End) string { return Priorities(e.Profile.PFC) }, schema.APFC)
		p.Report(p.AboutLink(l, first, second, diag.Diagnostic{
			Summary: fmt.Sprintf("PFC priorities differ: %s has %s, %s has %s", p.Name(first), Priorities(first.Profile.PFC), p.Name(second), Priorities(second.Profile.PFC)),
			Labels:  p.withContract(first, second, schema.APFC, p.atPFC(first, second, ""), p.atPFC(second, first, "other end")),
			Help:    "give both ends the same qos, or make the class lossy on both", Notes: noted(note, p.brokenClasses(first, second)),
		}))
	})
}

// shuns reports whether a port takes no marks from the node it faces, which is not
// trusted: defaults may give that a contract like to all others.
func (p *Pass) shuns(e End) bool { return p.hostile(e) && p.untrusted(e) }

// brokenClasses names the lossless classes that one of two ends does not pause.
func (p *Pass) brokenClasses(ends ...End) string {
	var broken []string
	seen := map[string]bool{}
	for _, e := range ends {
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			name := p.Fabric.Text(c.Name)
			for _, o := range ends {
				if c.Lossless && !seen[name] && o.Profile.PFC>>c.Priority&1 == 0 {
					seen[name] = true
					broken = append(broken, name)
				}
			}
		})
	}
	if len(broken) == 0 {
		return ""
	}
	return "what breaks: " + list(broken) + " is not lossless on this link"
}

var roce302 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE302", Name: "path_lossless", Severity: diag.Error, Fixable: true,
		Title:      "a lossless class becomes lossy at a hop",
		Why:        "one hop without PFC drops frames of a class that was promised not to lose any: go-back-N retransmits whole windows",
		Fix:        "enable PFC for the class's priority there",
		Interrupts: carving,
		Source:     "IEEE 802.1Q-2018, clause 36; Guo et al., SIGCOMM 2016, 2 (PFC works hop by hop) and 4.1 (what loss does to RDMA)",
		Bad:        edit(twoNodes(`pfc = []`), `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`+"\n    pfc = []", `fec      = "rs"`, `fec      = "rs"`+"\n    pfc = []"),
		Good:       twoNodes(``),
	},
	Run: pathLossless,
}

func pathLossless(p *Pass) {
	f := p.Fabric
	p.Links(func(l fabric.LinkID, a, b End) {
		for _, ends := range [2][2]End{{a, b}, {b, a}} {
			e, other := ends[0], ends[1]
			if e.Device.Kind != fabric.Switch {
				continue // between two NICs it is ROCE322
			}
			if e.Port.Profile == 0 {
				p.noContract(l, e, other)
				continue
			}
			if e.Profile.PFC != other.Profile.PFC && other.Port.Profile != 0 {
				continue // ROCE301 says which end differs
			}
			p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
				if !c.Lossless || on.PFC && !on.Split || p.contested(e.Profile.QoS) || p.parts(c, on, other) {
					return
				}
				p.Report(p.AboutLink(l, e, other, diag.Diagnostic{
					Summary: fmt.Sprintf("class %s becomes lossy at %s: priority %d has no PFC there, on the way to %s", f.Text(c.Name), p.Name(e), on.Priority, p.Name(other)),
					Labels:  []diag.Label{p.AtContract(e, schema.APFC, c, schema.APriority, ""), p.Fabric.LinkLabel(l, schema.AEnds, "the link")},
					Help:    fmt.Sprintf("enable PFC for priority %d there", on.Priority), Edits: mended(drop("pfc"), []diag.Label{p.AtContract(e, schema.APFC, nil, 0, ""), p.AtContract(other, schema.APFC, nil, 0, "")}),
				}))
			})
		}
	})
	crossedLossless(p)
}

// parts reports whether a class lands in another priority at the other end:
// ROCE205 and 208 say so.
func (p *Pass) parts(c *fabric.Class, on fabric.ClassOn, other End) bool {
	if other.Port.Profile == 0 {
		return false
	}
	at := other.Profile.On[p.indexOf(other, c)]
	return at.Priority != on.Priority || at.Split != on.Split
}

// noContract reports a hop that carries a lossless segment and was told nothing.
func (p *Pass) noContract(l fabric.LinkID, e, other End) {
	f := p.Fabric
	if e.Port.Manage == fabric.HandsOff && other.Port.Profile == 0 {
		return
	}
	report := func(q fabric.QoSID, what string) bool {
		for i := range f.QoS[q].Classes {
			if c := &f.QoS[q].Classes[i]; c.Lossless {
				p.Report(p.AboutLink(l, e, other, diag.Diagnostic{
					Summary: fmt.Sprintf("class %s becomes lossy at %s: %s, and the port has no qos", f.Text(c.Name), p.Name(e), what),
					Labels:  []diag.Label{p.AtPort(e, schema.AQoS, ""), f.DeclLabel(f.QoS[q].Decl, "the class")},
					Help:    "write qos on the port, or take the segment off it",
				}))
				return true
			}
		}
		return false
	}
	if other.Port.Profile != 0 && report(other.Profile.QoS, "its peer "+p.Name(other)+" sends it") {
		return
	}
	for _, s := range append(append([]fabric.SegmentID(nil), f.VLANSets[e.Port.VLANs]...), e.Port.Native) {
		if s != 0 && report(f.Segments[s].Contract(), "it carries segment "+f.Text(f.Segments[s].Name)) {
			return
		}
	}
}

var roce303 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE303", Name: "port_pause", Severity: diag.Error, Hard: true,
		Title: "global pause and PFC are on together",
		Why:   "global pause stops every class, and drivers treat all buffers as lossless then: 802.3x and 802.1Qbb exclude each other",
		Fix:   "turn global pause off",
		Steps: "write PFC first, on both ends, and take global pause off then: between the two the class would be lossy",
		Source: "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c, fill_pfc_en; IEEE 802.1Q-2018, clause 36 " +
			"(802.3x pause is not used " +
			"with PFC); Nokia SR Linux quality of service guide, priority-based flow control",
		Bad:  twoNodes(`global_pause = true`),
		Good: twoNodes(`global_pause = false`),
	},
	Run: globalPause,
}

func globalPause(p *Pass) {
	p.Managed(func(e End) {
		if !e.Profile.Pause || e.Profile.PFC == 0 {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("global pause and PFC %s are both on at %s", Priorities(e.Profile.PFC), p.Name(e)), Address: p.Fabric.PortAddress(e.ID),
			Labels: []diag.Label{p.AtPort(e, schema.APause, "")}, Help: "turn global pause off",
		})
	})
}

var roce304 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE304", Name: "port_pfc_unused", Severity: diag.Warning, Fixable: true,
		Title:      "PFC is on for a priority that no class uses",
		Why:        "a lossless priority that nothing uses still reserves headroom on every port",
		Fix:        "remove it",
		Interrupts: carving,
		Source: "Guo et al., SIGCOMM 2016, 2 (headroom of each lossless class and port); sonic-net/sonic-swss cfgmgr/buffer_pool_mellanox.lua " +
			"(pools are what headroom leaves)",
		Bad: edit(foundSwitch(`pfc = [3, 4]`), `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`+"\n    pfc = [3, 4]",
			`slot     = each.value`, "slot     = each.value\n  manage = \"verify\"", `fec      = "rs"`, `fec      = "rs"`+"\n    pfc = [3, 4]"),
		Good: twoNodes(``),
	},
	Run: pfcUnused,
}

func pfcUnused(p *Pass) {
	p.Managed(func(e End) {
		if e.Port.Peer != 0 {
			if peer := p.End(e.Port.Peer); peer.Port.Profile != 0 && peer.Profile.PFC != e.Profile.PFC {
				return // ROCE301
			}
		}
		unused := e.Profile.PFC
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			unused &^= 1 << (on.Priority & 7)
			if c.Lossless {
				unused &^= 1 << c.Priority // ROCE205 and 302 say what is wrong then
			}
		})
		if unused == 0 || e.Profile.PFC == 0xff {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("PFC %s is on at %s, and no class uses it", Priorities(unused), p.Name(e)), Address: p.Fabric.PortAddress(e.ID),
			Labels: []diag.Label{p.AtContract(e, schema.APFC, nil, 0, "")}, Help: "take it out of pfc, or make a class of that priority lossless",
			Edits: setAt(p.AtContract(e, schema.APFC, nil, 0, ""), "pfc", Priorities(e.Profile.PFC&^unused)),
		})
	})
}

var roce305 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE305", Name: "switch_lossless_count", Severity: diag.Error,
		Options: []diag.Option{{Name: "most", Default: 2, Min: 1, Max: 8, Doc: "lossless priorities of a switch, where its model states " +
			"no limit"}},
		Title: "a switch has many lossless priorities, or more than its model carries",
		Why: "every lossless priority takes headroom on every port: with many of them little is left to share, and pauses come early. " +
			"Past a limit of " +
			"the hardware or image, which max_lossless of the model states, the extra ones are silently lossy, and that is an error",
		Fix:   "merge lossless classes to two, or to what the device has",
		Steps: "write the class that stays on all switches, then on the hosts, and take the other away last",
		Source: "Guo et al., SIGCOMM 2016, 2 (two classes fit into 9 and 12 MB at 300 m); sonic-net/sonic-buildimage " +
			"files/build_templates/qos_config.j2, " +
			"LOSSLESS_TC (two by default, others can be written); the source of max_lossless where a model states it; two is a house limit",
		Bad:  manyLossless,
		Good: twoNodes(``),
	},
	Run: losslessCount,
}

var manyLossless = edit(twoNodes(""), `  class "default" {`, `  class "two" {
    carries   = "other"
    marked_by = "application"
    lossless  = true
    dscp      = [34]
    priority  = 4
    bandwidth = 10
  }
  class "three" {
    carries   = "other"
    marked_by = "application"
    lossless  = true
    dscp      = [42]
    priority  = 5
    bandwidth = 10
  }
  class "default" {`, "bandwidth = 50", "bandwidth = 30")

func losslessCount(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.Devices); id++ {
		dev := &f.Devices[id]
		if dev.Kind != fabric.Switch {
			continue
		}
		var set uint8
		var at fabric.PortID
		first, end := f.PortsOf(fabric.DeviceID(id))
		for port := first; port < end; port++ {
			if more := f.Profiles[f.Ports[port].Profile].PFC; more&^set != 0 && more != 0xff {
				set |= more
				at = port
			}
		}
		n, carries := len(intent.PrioritySet(set).List()), int(f.Models[dev.Model].MaxLossless)
		most := cmp.Or(carries, int(p.option("most")))
		if at == 0 || n <= most {
			continue
		}
		d := diag.Diagnostic{
			Severity: diag.Warning, Address: f.Text(dev.Address), Labels: []diag.Label{f.PortLabel(at, schema.AQoS, ""), f.DeclLabel(dev.Decl, "the switch")},
			Summary: fmt.Sprintf("switch %s has %d lossless priorities: %s", f.Text(dev.Name), n, Priorities(set)),
			Help:    fmt.Sprintf("merge them to %d, or state max_lossless in the switch_model, with its source", most),
		}
		if carries > 0 {
			d.Severity = diag.Error
			d.Summary += fmt.Sprintf(", and its model carries %d", carries)
			d.Help = fmt.Sprintf("merge them to %d", carries)
		}
		p.Report(d)
	}
}

var roce306 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE306", Name: "port_pfc_all", Severity: diag.Error, Fixable: true,
		Title:      "PFC is on for all eight priorities",
		Why:        "PFC on all eight priorities is global pause by another name: everything stops together, and deadlock is near",
		Fix:        "list only the lossless ones",
		Interrupts: carving,
		Source: "Hu et al., HotNets 2016 (deadlocks need cyclic waits for buffers); Microsoft host network requirements, Data Center " +
			"Bridging (PFC on the RDMA " +
			"priority alone)",
		Bad:  edit(twoNodes(allPFC), `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`+"\n    "+allPFC, `fec      = "rs"`, `fec      = "rs"`+"\n    "+allPFC),
		Good: twoNodes(``),
	},
	Run:   pfcAll,
	mends: drop("pfc"),
}

const allPFC = "pfc = [0, 1, 2, 3, 4, 5, 6, 7]"

func pfcAll(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		if e.Profile.PFC != 0xff {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("PFC on all priorities of %s is global pause", p.Name(e)), Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.AtContract(e, schema.APFC, nil, 0, "")}, Help: "list only the lossless ones",
		})
	})
}

var roce310 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE310", Name: "port_pfc_queue", Severity: diag.Error, Fixable: true,
		Title: "a received pause stops another queue than that of its class",
		Why:   "a pause that stops another queue leaves the lossless one sending into a full buffer",
		Fix:   "align the PFC-to-queue map with the queue map",
		Source: "IEEE 802.1Q-2018, clause 36 (a paused priority stops its traffic class); sonic-net/sonic-buildimage " +
			"files/build_templates/qos_config.j2, " +
			"MAP_PFC_PRIORITY_TO_QUEUE",
		Bad:  twoNodes(`pfc_queue_map = { 3 = 4 }`),
		Good: twoNodes(``),
	},
	Run:   pfcQueue,
	mends: drop("pfc_queue_map"),
}

func pfcQueue(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if !c.Lossless || !on.PFC || e.Profile.PFCQueue[on.Priority&7] == on.Queue {
				return
			}
			attr := schema.APFCQueueMap
			if !e.Profile.DeviatesIn(attr) {
				attr = schema.AQueueMap
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("pausing priority %d on %s stops queue %d, and class %s is in queue %d", on.Priority, p.Name(e), e.Profile.PFCQueue[on.Priority&7], p.Fabric.Text(c.Name), on.Queue),
				Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.AtContract(e, attr, c, schema.AQueue, "")},
				Help: "align the PFC-to-queue map with the queue map",
			})
		})
	})
	crossedPause(p)
}

var roce311 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE311", Name: "port_pfc_untrusted", Severity: diag.Error,
		Title: "pauses from outside the fabric, or from who is not trusted, reach a lossless port",
		Why: "whoever may send pause frames may stop the fabric. A pause frame itself ends at the port that takes it, but the queue it stops fills its switch, and that switch pauses its own neighbours: " +
			"so a pause travels over every link with PFC as far as the VLAN does. A port towards the outside that has PFC is reported itself. Where nothing is known of that port, because its switch is not managed " +
			"and no qos is written there, it is taken to let pauses in, and the first port with PFC that they come to is reported, with the way",
		Fix:    "turn PFC off towards the outside, or say that it is off there: qos = qos.untrusted",
		Source: "Guo et al., SIGCOMM 2016, 4.3 (one pausing port stops others)",
		Bad:    external(`qos = qos.roce`+behindTor) + behindProvider(``),
		Good:   external(behindTor) + behindProvider(`qos = qos.untrusted`),
	},
	Run: pfcUntrusted,
}

// behindProvider is a switch of somebody else's behind one more port of tor; a
// node that nobody trusts is on it, and shares a VLAN that carries no RDMA with
// tor. port is said of that node's switch port.
func behindProvider(port string) string {
	return `
segment "office" {
  vlan = 10
}
switch "provider" {
  manage = "none"
  port "eth1" {
    speed    = "100G"
    tagged = segment.office
    qos      = qos.roce
  }
  port "eth2" {
    speed    = "100G"
    untagged = segment.office
    ` + port + `
  }
}
node "kiosk" {
  manage  = "none"
  trusted = false
  nic "eth0" {
    speed = "100G"
  }
}
link "kiosk" {
  ends  = [switch.provider.port["eth2"], node.kiosk.nic["eth0"]]
  cable = { media = "dac", length = "3m" }
}
link "provider" {
  ends  = [switch.provider.port["eth1"], switch.tor.port["Ethernet16"]]
  cable = { media = "dac", length = "3m" }
}
`
}

// behindTor ends the external port of tor and begins the one towards provider.
const behindTor = "\n  }\n  port \"Ethernet16\" {\n    speed    = \"100G\"\n    qos      = qos.roce\n    tagged = segment.office"

func pfcUntrusted(p *Pass) {
	f := p.Fabric
	for _, id := range p.outward() {
		e := p.End(id)
		if e.Profile.PFC == 0 || p.pauses(e) == unknownPauses {
			continue
		}
		peer, label := p.outsider(e)
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("port %s accepts pauses %s from %s", p.Name(e), Priorities(e.Profile.PFC), peer), Address: f.PortAddress(e.ID),
			Labels: []diag.Label{p.AtContract(e, schema.APFC, nil, 0, ""), label}, Help: "turn PFC off there: qos = qos.untrusted",
		})
	}
	p.pauseFlood(func(e, outside End, path []step) {
		peer, label := p.outsider(outside)
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("port %s accepts pauses %s that can start at %s, %s", p.Name(e), Priorities(e.Profile.PFC), peer, p.via(path)), Address: f.PortAddress(e.ID),
			Concerns: []string{f.PortAddress(outside.ID)},
			Labels:   []diag.Label{p.AtContract(e, schema.APFC, nil, 0, ""), p.AtPort(outside, schema.AQoS, "nothing is known of PFC here"), label},
			Help:     fmt.Sprintf("say what %s does: qos = qos.untrusted, if it has no PFC; or take the VLAN off one of the hops", p.Name(outside)),
		})
	})
}

// outsider is whom a port faces that may not pause the fabric, for a message,
// and the place that says so.
func (p *Pass) outsider(e End) (who string, at diag.Label) {
	if e.Port.Flags&fabric.External != 0 {
		return "a peer outside the fabric", p.AtPort(e, schema.AExternal, "declared external")
	}
	return p.Fabric.PortName(e.Port.Peer) + ", which is not trusted", p.atTrusted(e)
}

var roce312 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE312", Name: "class_iwarp_pfc", Severity: diag.Notice, Fixable: true,
		Title:  "PFC is spent on iWARP, which does not need it",
		Why:    "iWARP runs over TCP and recovers by itself: PFC takes buffer and brings its risks for nothing",
		Fix:    "write lossless = false on the class",
		Source: "Microsoft host network requirements, RDMA (iWARP: DCB optional); RFC 5044 and RFC 5040 (iWARP over TCP)",
		Bad:    iwarpPair(``),
		Good:   iwarpPair(`lossless  = false`),
	},
	Run:   iwarpPFC,
	mends: set("lossless", "false"),
}

func iwarpPFC(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.QoS); id++ {
		q := &f.QoS[id]
		var iwarp *fabric.Class
		other := false
		for i := range q.Classes {
			c := &q.Classes[i]
			if !c.Lossless {
				continue
			}
			if c.Transport == fabric.IWARP {
				iwarp = c
			} else {
				other = true
			}
		}
		if iwarp == nil || other {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("class %s of qos %s is iWARP: PFC is optional", f.Text(iwarp.Name), f.Text(q.Name)), Address: f.Text(q.Address),
			Labels: []diag.Label{f.DeclLabel(iwarp.Decl, "")}, Help: "write lossless = false on the class",
		})
	}
}

var roce314 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE314", Name: "port_pcp_access", Severity: diag.Warning,
		Title: "an access port is lossless by PCP",
		Why:   "an access port has no tag, so nothing plugged into it can ever reach the lossless priority",
		Fix:   "carry the segment tagged, or trust DSCP",
		Source: "IEEE 802.1Q-2018, 6.9.3 (the priority of a frame is that of its tag; without one, the default of the port); Guo et al., " +
			"SIGCOMM 2016, 3",
		Bad:  pcpAccess(`untagged   = segment.storage`),
		Good: pcpAccess("speed = \"100G\"\n    fec   = \"rs\"\n    tagged = segment.storage") + spareHost,
	},
	Run: pcpAccessPort,
}

func pcpAccessPort(p *Pass) {
	p.Managed(func(e End) {
		// A port with a cable is ROCE206.
		if e.Device.Kind != fabric.Switch || e.Port.Link != 0 || e.Profile.Trust != fabric.TrustPCP || e.Profile.PFC == 0 || e.Port.Native == 0 || p.Tagged(e) {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("port %s is access, and its lossless class needs a tag", p.Name(e)), Address: p.Fabric.PortAddress(e.ID),
			Labels: []diag.Label{p.AtPort(e, schema.ANative, "")}, Help: "carry the segment tagged, or trust DSCP",
		})
	})
}

var roce320 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE320", Name: "switch_dscp_pfc", Severity: diag.Error,
		Title:  "a switch trusts DSCP, and cannot pause by it",
		Why:    "without DSCP-based PFC the lossless class lands in the default priority group and is dropped",
		Fix:    "use PCP and tags, or another device",
		Source: "Guo et al., SIGCOMM 2016, 3 (DSCP-based PFC); the source of dscp_pfc in the asic block",
		Bad:    strings.ReplaceAll(twoNodes(``), "nvidia/sn3700", "example/no-dscp") + noDSCP("false"),
		Good:   strings.ReplaceAll(twoNodes(``), "nvidia/sn3700", "example/no-dscp") + noDSCP("true"),
	},
	Run: dscpPFC,
}

func dscpPFC(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		m := &p.Fabric.Models[e.Device.Model]
		if e.Device.Kind != fabric.Switch || e.Profile.Trust != fabric.TrustDSCP || e.Profile.PFC == 0 || m.DSCPPFC != fabric.No {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("port %s trusts DSCP with PFC, and %s cannot do DSCP-based PFC", p.Name(e), p.Fabric.Text(m.Name)), Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.AtContract(e, schema.ATrust, nil, 0, ""), p.Fabric.Label(e.Device.Decl, e.Device.Layers, schema.AModel, "the model")},
			Help:   "use trust = \"pcp\" with tagged segments, or another device",
		})
	})
}

var roce322 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE322", Name: "nic_pfc", Severity: diag.Error, Fixable: true,
		Title:      "the NIC of a lossless class has no PFC for it, or nothing is said of it",
		Why:        "a NIC that ignores pauses overruns the switch; one that sends none loses what it cannot take",
		Fix:        "enable PFC for the class's priority on the NIC",
		Interrupts: carving,
		Source: "NVIDIA MLNX_OFED user manual, Flow Control, Configuring PFC on ConnectX-4 and above; Microsoft host network " +
			"requirements, Data Center Bridging",
		Bad:  backToBack(`pfc = []`),
		Good: backToBack(``),
	},
	Run:   nicPFC,
	mends: drop("pfc"),
}

func nicPFC(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		p.untold(l, a, b)
		p.untold(l, b, a)
	})
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Node || e.Port.Link == 0 {
			return
		}
		peer := p.End(e.Port.Peer)
		if peer.Port.Profile != 0 && (peer.Profile.PFC != e.Profile.PFC || peer.Device.Kind == fabric.Switch) {
			return // ROCE301 says which end differs, ROCE302 speaks of switches
		}
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if !c.Lossless || on.PFC || p.contested(e.Profile.QoS) || p.parts(c, on, peer) {
				return
			}
			p.Report(p.AboutLink(e.Port.Link, e, peer, diag.Diagnostic{
				Summary: fmt.Sprintf("nic %s neither sends nor honours PFC %d of class %s", p.Name(e), c.Priority, p.Fabric.Text(c.Name)),
				Labels:  []diag.Label{p.AtContract(e, schema.APFC, c, schema.APriority, ""), p.AtPort(peer, schema.AQoS, "other end")},
				Help:    fmt.Sprintf("enable PFC for priority %d on the NIC", c.Priority),
			}))
		})
	})
}

// untold reports a NIC that can do RDMA, behind a port with PFC, of which nothing is
// said: no proof covers what it sends.
func (p *Pass) untold(l fabric.LinkID, e, peer End) {
	f := p.Fabric
	if e.Port.NIC == 0 || e.Port.Profile != 0 || e.Port.Manage == fabric.HandsOff || peer.Device.Kind != fabric.Switch || peer.Port.Profile == 0 || peer.Profile.PFC == 0 {
		return
	}
	m := &f.NICModels[f.NICs[e.Port.NIC].Model]
	if f.NICs[e.Port.NIC].Model == 0 || m.RoCEv1 != fabric.Yes && m.RoCEv2 != fabric.Yes {
		return
	}
	p.Report(p.AboutLink(l, e, peer, diag.Diagnostic{
		Severity: diag.Warning,
		Summary:  fmt.Sprintf("nic %s has no qos, and its peer %s has PFC %s: whether it honours pauses, and as what it sends, is not known", p.Name(e), p.Name(peer), Priorities(peer.Profile.PFC)),
		Labels:   []diag.Label{p.AtPort(e, schema.AQoS, ""), p.AtPort(peer, schema.AQoS, "other end")},
		Help:     "write qos on the NIC, its node, segment or topology, or manage = \"none\" where others see to it",
	}))
}
