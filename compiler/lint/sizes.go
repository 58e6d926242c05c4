package lint

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on buffers that looks at the sizes of single groups.

var roce510 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE510", Name: "buffer_xon", Severity: diag.Error, Fixable: true,
		Title:  "a pause ends at or near the fill at which it begins",
		Why:    "with no room between the two the port pauses and resumes with every frame: the link is busy with pauses, and the next frame meets a full buffer",
		Fix:    "write an xon two frames or more below the fill at which the port pauses, or leave it to the device",
		Source: "Zhu et al., SIGCOMM 2015, section 4: resume two packets below the pause",
		Formula: "xon + 2 * largest frame <= alpha * shared / (1 + alpha) in bytes, shared = pool after headroom in bytes, alpha " +
			"= the dynamic threshold of the group",
		Bad:  tightXon(`"150KB"`),
		Good: tightXon(`"100KB"`),
	},
	Run:   xonBelow,
	mends: drop("buffer.xon"),
}

// tightXon is twoNodes with a small buffer to share: a port pauses at 160 KB or
// before.
func tightXon(xon string) string {
	return twoNodesEdit(`ecn       = "auto"`, "ecn       = { min = \"70KB\", max = \"150KB\", probability = 5 }\n    buffer    = { xon = "+xon+` }`, `switch "tor" {`, "switch \"tor\" {\n  buffer = { shared = \"320KB\", alpha = 1 }")
}

func xonBelow(p *Pass) {
	f := p.Fabric
	p.eachDerived(func(e End, ports int) {
		facts := p.Facts.Port(e.ID)
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if c.XonBytes == 0 || on.Queue > 7 || facts.Headroom[on.Priority&7].Xoff == 0 {
				return
			}
			// The most that the port can hold before it pauses: it alone is congested.
			pauses := facts.ECN[on.Queue].RelaxedBytes
			frame := uint32(max(e.Port.MTU, 1500))
			if pauses == 0 || uint64(c.XonBytes)+2*uint64(frame) <= uint64(pauses) {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("class %s resumes at %d B on %s, which pauses at %d B at the latest: frames there have up to %d B", f.Text(c.Name), c.XonBytes, p.Name(e), pauses, frame),
				Address: f.PortAddress(e.ID), Count: ports, Labels: []diag.Label{f.Label(c.Decl, 0, schema.ABuffer, ""), f.Label(e.Device.Decl, e.Device.Layers, schema.ABuffer, "what the switch shares")},
				Help: "write an xon two frames or more below, or leave it to the device",
			})
		})
	})
}

// shortHeadroom calls visit for each priority whose written headroom is less
// than the reference formula gives, and not so little that ROCE501 refuses it.
// What the vendor itself computes or lists is enough.
func (p *Pass) shortHeadroom(visit func(e End, priority int, h derive.Headroom, ports int)) {
	p.eachHeadroom(func(e End, priority int, h derive.Headroom, ports int) {
		vendor := h.Table
		if vendor == 0 {
			vendor = h.Formula
		}
		if h.Source != derive.SourceOperator || h.Xoff >= h.Reference || vendor != 0 && h.Xoff >= vendor || h.Xoff < h.Minimum || h.Table != 0 {
			return
		}
		visit(e, priority, h, ports)
	})
}

// atHeadroom is where a headroom is written: on the port, or for the class.
func (p *Pass) atHeadroom(e End, priority int) diag.Label {
	if _, _, ok := p.Fabric.Origin(e.Port.Decl, e.Port.Layers, schema.AHeadroom); ok {
		return p.AtPort(e, schema.AHeadroom, "")
	}
	l := p.AtPort(e, schema.AQoS, "")
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
		if c.HeadroomBytes > 0 && int(on.Priority) == priority {
			l = p.Fabric.Label(c.Decl, 0, schema.ABuffer, "")
		}
	})
	return l
}

var roce511 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE511", Name: "buffer_headroom_frames", Severity: diag.Warning, Fixable: true,
		Title:      "headroom counts the frames of the class, and the port carries larger ones",
		Why:        "the pause waits behind the frame that the port has just begun, of whichever class: a jumbo frame of TCP is more than the headroom allows for",
		Fix:        "compute headroom with the largest MTU of the port, or leave it to be computed",
		Interrupts: recarves,
		Source:     "Cisco white paper C11-542809, Distance Limitations; IEEE 802.1Qbb-2011, annex O",
		Formula: "headroom in bytes = largest frame of the port + frame of the class + 168 + 64 * pause quanta + 125 * metres * " +
			"Gb/s / 99",
		Bad:  twoNodes(`headroom = 39168`),
		Good: twoNodes(`headroom = 44064`),
	},
	Run:   headroomFrames,
	mends: drop("headroom", "buffer.headroom"),
}

func headroomFrames(p *Pass) {
	p.shortHeadroom(func(e End, priority int, h derive.Headroom, ports int) {
		if h.WrittenMm != 0 || h.ClassOnly == 0 || h.Xoff < h.ClassOnly {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("headroom of priority %d on %s is %d B: enough for frames of RDMA, and the port carries frames of %d B, for which it takes %d B", priority, p.Name(e), h.Xoff, e.Port.MTU, h.Reference),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.atHeadroom(e, priority)}, Notes: []string{fmt.Sprintf("with frames of RDMA alone it would take %d B", h.ClassOnly)},
			Help: fmt.Sprintf("use %d B, or leave it to be computed", h.Reference),
		})
	})
}

var roce513 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE513", Name: "nic_receive_buffer", Severity: diag.Error,
		Title:   "the receive buffer of a NIC holds less than its headroom and a frame",
		Why:     "the driver refuses the buffer, or pauses too late: frames are lost in the adapter, which no switch counts",
		Fix:     "enlarge the buffer, or lower the MTU",
		Source:  "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c, calculate_xoff and update_xoff_threshold",
		Formula: "buffer >= xoff + max(largest MTU, 9216) + cell; xoff in bytes = (301 + 216 * metres / 100) * Gb/s + 272 * MTU / 100",
		Bad:     twoNodesEdit("    fec      = \"rs\"\n    untagged = segment.storage\n  }\n}\nlink", "    fec      = \"rs\"\n    untagged = segment.storage\n    observed = { receive_buffer = 60000 }\n  }\n}\nlink"),
		Good:    twoNodesEdit("    fec      = \"rs\"\n    untagged = segment.storage\n  }\n}\nlink", "    fec      = \"rs\"\n    untagged = segment.storage\n    observed = { receive_buffer = 70000 }\n  }\n}\nlink"),
	},
	Run: receiveBuffer,
}

func receiveBuffer(p *Pass) {
	f := p.Fabric
	p.Managed(func(e End) {
		if e.Port.NIC == 0 || f.NICs[e.Port.NIC].RxBytes == 0 {
			return
		}
		n := &f.NICs[e.Port.NIC]
		least, headroom := uint32(0), uint32(0)
		for _, h := range &p.Facts.Port(e.ID).Headroom {
			if h.Source != derive.SourceFormula {
				continue
			}
			need := h.Size
			if need == 0 { // the cell is not known, and small
				need = h.Xoff + max(uint32(f.NICModels[n.Model].MaxMTU), leastMaxMTU)
			}
			least, headroom = max(least, need), max(headroom, h.Xoff)
		}
		if n.RxBytes >= least {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("the receive buffer of %s is %d B, and %d B of headroom and a frame take %d B", p.Name(e), n.RxBytes, headroom, least), Address: f.PortAddress(e.ID),
			Labels: []diag.Label{p.AtPort(e, schema.AReceiveBuffer, ""), f.LinkLabel(e.Port.Link, schema.ACable, "the cable")}, Help: fmt.Sprintf("enlarge it to %d B", least),
		})
	})
}

// leastMaxMTU is what mlx5 takes for the largest frame where the device accepts
// less [Linux mlx5 en/port_buffer.c, MINIMUM_MAX_MTU; theory A.8].
const leastMaxMTU = 9216

var roce514 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE514", Name: "buffer_headroom_cable", Severity: diag.Warning, Fixable: true,
		Title:      "a written headroom is for another cable than the one there",
		Why:        "a size that was computed for a shorter cable loses what is on the rest of it",
		Fix:        "compute it again for the cable, or leave it to be computed",
		Interrupts: recarves,
		Source:     "IEEE 802.1Qbb-2011, annex O: two lengths of cable are part of it",
		Formula:    "bytes on the cable, there and back = 125 * metres * Gb/s / 99",
		Bad:        twoNodesEdit("    untagged = segment.storage\n    ", "    untagged = segment.storage\n    headroom = 58752", `media = "dac", length = "3m"`, `media = "fr", length = each.key == "n1" ? "200m" : "3m"`),
		Good:       twoNodesEdit("    untagged = segment.storage\n    ", "    untagged = segment.storage\n    headroom = 68976", `media = "dac", length = "3m"`, `media = "fr", length = each.key == "n1" ? "200m" : "3m"`),
	},
	Run:   headroomCable,
	mends: drop("headroom", "buffer.headroom"),
}

func headroomCable(p *Pass) {
	p.eachHeadroom(func(e End, priority int, h derive.Headroom, ports int) {
		if h.WrittenMm == 0 {
			return
		}
		mm := max(p.Fabric.Links[e.Port.Link].CableMm, h.AssumedMm)
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("headroom of priority %d on %s is %d B, which is for a cable of %s, and the cable has %s", priority, p.Name(e), h.Xoff, Meters(h.WrittenMm), Meters(mm)),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.atHeadroom(e, priority), p.Fabric.LinkLabel(e.Port.Link, schema.ACable, "the cable")},
			Help: fmt.Sprintf("use %d B, or leave it to be computed", h.Reference),
		})
	})
}

var roce515 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE515", Name: "buffer_idle_ports", Severity: diag.Notice,
		Title:  "ports that are shut down and have no cable hold lossless buffer",
		Why:    "their headroom is reserved for nothing, and missing from what all other ports share",
		Fix:    "take the qos off them",
		Source: "sonic-net/SONiC doc/qos/reclaim-reserved-buffer-sequence-flow.md: ports that are down keep their groups on platforms that do not reclaim them",
		Bad:    idlePort("qos = qos.roce"),
		Good:   idlePort("qos = qos.untrusted"),
	},
	Run: idlePorts,
}

func idlePort(qos string) string {
	return edit(twoNodes("}\n  port \"Ethernet8\" {\n    speed   = \"100G\"\n    admin = \"down\"\n    "+qos), `"nvidia/sn3700"`, `"example/no-dscp"`) + noDSCP("true")
}

func idlePorts(p *Pass) {
	f := p.Fabric
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		// The buffer manager of NVIDIA images takes them back by itself.
		if dev.Kind != fabric.Switch || dev.Manage == fabric.HandsOff || f.Text(dev.OSName) == "sonic" && f.Text(f.Models[dev.Model].Formula) == "spectrum" {
			continue
		}
		ports, held := 0, uint64(0) // of those without a cable: what one with a cable is shut for is a matter of that (ROCE831)
		var at fabric.PortID
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			port := &f.Ports[id]
			if port.Flags&fabric.ShutDown == 0 || port.Link != 0 || port.Profile == 0 || port.Manage == fabric.HandsOff {
				continue
			}
			bytes := uint64(0)
			for _, h := range &p.Facts.Port(id).Headroom {
				bytes += uint64(h.Xoff)
			}
			if bytes > 0 {
				ports, held, at = ports+1, held+bytes, max(at, id)
			}
		}
		if ports == 0 {
			continue
		}
		holds := fmt.Sprintf("%d ports of %s are shut down and hold", ports, f.Text(dev.Name))
		if ports == 1 {
			holds = fmt.Sprintf("port %s is shut down and holds", f.PortName(at))
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s %d B of lossless buffer", holds, held), Address: f.PortAddress(at),
			Labels: []diag.Label{p.AtPort(p.End(at), schema.AQoS, ""), p.AtPort(p.End(at), schema.AAdmin, "shut down")}, Help: "take the qos off them",
		})
	}
}

var roce517 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE517", Name: "buffer_cells", Severity: diag.Notice, Fixable: true,
		Title:  "a written headroom is no whole number of buffer cells",
		Why:    "the chip allocates whole cells: what it reserves is not what the source says",
		Fix:    "write the rounded size",
		Source: "cell of the asic in lang/packs, with its source",
		Bad:    twoNodes(`headroom = 50000`),
		Good:   twoNodes(`headroom = 50112`),
	},
	Run: wholeCells,
}

func wholeCells(p *Pass) {
	f := p.Fabric
	p.eachHeadroom(func(e End, priority int, h derive.Headroom, ports int) {
		m := &f.Models[e.Device.Model]
		if h.Source != derive.SourceOperator || m.CellBytes == 0 || h.Xoff%m.CellBytes == 0 {
			return
		}
		whole := (uint64(h.Xoff)/uint64(m.CellBytes) + 1) * uint64(m.CellBytes)
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("headroom of priority %d on %s is %d B, and will be %d B: %s allocates %d B at a time", priority, p.Name(e), h.Xoff, whole, f.Text(m.Name), m.CellBytes),
			Address: f.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.atHeadroom(e, priority)}, Help: fmt.Sprintf("write %d", whole),
			Edits: append(setAt(p.atHeadroom(e, priority), "headroom", fmt.Sprint(whole)), setAt(p.atHeadroom(e, priority), "buffer.headroom", fmt.Sprint(whole))...),
		})
	})
}

var roce518 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE518", Name: "buffer_lanes", Severity: diag.Warning,
		Title:      "a port of eight lanes is computed as one of four",
		Why:        "a port of eight lanes has twice the pipeline latency: with the figures of four it pauses too late",
		Fix:        "write lanes = 8 in the switch_model",
		Interrupts: recarves,
		Source:     "sonic-net/sonic-swss cfgmgr/buffer_headroom_mellanox.lua: eight lanes have twice the pipeline latency",
		Bad:        laneSwitch("4"),
		Good:       laneSwitch("8"),
	},
	Run: eightLanes,
}

// laneSwitch is two nodes at 400G on a switch whose chip has lanes of 50G.
func laneSwitch(lanes string) string {
	model := strings.NewReplacer("example/no-dscp", "example/lanes", "lanes     = 4", "lanes     = "+lanes, `"100G"`, `"400G"`).Replace(noDSCP("true"))
	model = strings.Replace(model, "  max_mtu      = 9216\n", "  max_mtu      = 9216\n  formula          = \"spectrum\"\n  pipeline_latency = \"19KiB\"\n  mac_phy_delay    = 819\n  facts            = { lane_gbps = 50 }\n", 1)
	return strings.NewReplacer("nvidia/sn3700", "example/lanes", `"100G"`, `"400G"`, "nvidia/connectx-6-dx", "nvidia/connectx-7").Replace(twoNodes(``)) + model
}

// factLane is the rate of one lane of a chip's serdes in Gb/s, as data of a
// model may state it.
const factLane = "lane_gbps"

func eightLanes(p *Pass) {
	f := p.Fabric
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		port := &f.Ports[id]
		dev := &f.Devices[port.Device]
		if dev.Kind != fabric.Switch || port.Profile == 0 || port.Split != 0 {
			continue
		}
		m := &f.Models[dev.Model]
		formula := f.Text(m.Formula)
		lane := uint32(m.Facts[factLane]) // thousandths of Gb/s
		if formula != "spectrum" && formula != "mlxsw" || lane == 0 || m.Lanes >= 8 || (port.Mbps+lane-1)/lane != 8 {
			continue
		}
		e := p.End(id)
		if !p.Lossless(e) {
			continue
		}
		has := fmt.Sprintf("its model says %d", m.Lanes)
		if m.Lanes == 0 {
			has = "its model does not say how many it has"
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("port %s takes 8 lanes to run at %s, and %s: headroom counts half of the pipeline latency", p.Name(e), fabric.Speed(port.Mbps), has), Address: f.PortAddress(id),
			Labels: []diag.Label{f.DeclLabel(m.Decl, ""), p.AtPort(e, schema.ASpeed, "the port")}, Help: "write lanes = 8 in the switch_model",
		})
	}
}

var roce519 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE519", Name: "buffer_headroom_budget", Severity: diag.Warning, Fixable: true,
		Title:      "headroom is less than a peer may send before it stops",
		Why:        "IEEE 802.3 gives the sender a response time: one that takes all of it loses frames, and whether yours does nobody has said",
		Fix:        "use the size of the reference formula, or state pause_response in the model of the peer",
		Interrupts: recarves,
		Source:     "IEEE 802.3, 31B.3.7: response times by speed; as a table in sonic-net/sonic-swss cfgmgr/buffer_headroom_mellanox.lua",
		Formula: "headroom in bytes = largest frame of the port + frame of the class + 168 + 64 * pause quanta + 125 * metres * " +
			"Gb/s / 99",
		Bad:  twoNodes(`headroom = 28800`),
		Good: twoNodes(`headroom = 44064`),
	},
	Run:   headroomBudget,
	mends: drop("headroom", "buffer.headroom"),
}

// enough is a headroom that may be written: what the reference formula gives, or what
// arrives for certain where that knows no response for the speed, in whole cells.
func (p *Pass) enough(e End, h derive.Headroom) uint32 {
	cell := max(p.Fabric.Models[e.Device.Model].CellBytes, 1)
	return (max(h.Reference, h.Minimum) + cell - 1) / cell * cell
}

func headroomBudget(p *Pass) {
	p.shortHeadroom(func(e End, priority int, h derive.Headroom, ports int) {
		if h.WrittenMm != 0 || h.ClassOnly != 0 && h.Xoff >= h.ClassOnly {
			return // ROCE514, ROCE511
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("headroom of priority %d on %s is %d B, and the budget of IEEE 802.3 is %d B", priority, p.Name(e), h.Xoff, h.Reference),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.atHeadroom(e, priority), p.Fabric.LinkLabel(e.Port.Link, schema.ACable, "the cable")},
			Notes: []string{fmt.Sprintf("%d B arrive even if the peer stops at once", h.Minimum)}, Help: fmt.Sprintf("use %d B, or state pause_response in the model of the peer", p.enough(e, h)),
		})
	})
	p.eachHeadroom(func(e End, priority int, h derive.Headroom, ports int) {
		whose := "the vendor's table gives"
		switch {
		case h.Xoff >= h.Minimum || h.TableMiss:
			return
		case h.Source == derive.SourceFormula:
			whose = "the vendor's formula gives"
		case h.Source != derive.SourceTable:
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("headroom of priority %d on %s: %s %d B, and %d B arrive even if the peer stops at once", priority, p.Name(e), whose, h.Xoff, h.Minimum),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.Fabric.LinkLabel(e.Port.Link, schema.ACable, "")}, Help: fmt.Sprintf("write headroom = %d on the port", p.enough(e, h)),
		})
	})
}
