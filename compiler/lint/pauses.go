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

// The part of the family on PFC that is about what is paused, in which
// direction, and over which distance.

var roce313 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE313", Name: "vlan_flood_lossless", Severity: diag.Error,
		Title: "frames without a mark, or floods, are lossless",
		Why:   "a lossless flood waits at every port of its VLAN at once: pauses then run in all directions, also against up and down, and a circle of them stands still for ever",
		Fix: "keep broadcast, multicast and unknown unicast in a lossy class; whether a switch drops lossless frames of which it knows " +
			"no port, ask its vendor",
		Source: "Guo et al., SIGCOMM 2016, 4.2 (deadlock by flooding)",
		Bad:    floodedAs("rdma"),
		Good:   floodedAs("default"),
	},
	Run: floodLossless,
}

func floodedAs(class string) string {
	return twoNodesEdit("  mtu      = 9000\n}\nswitch", "  mtu      = 9000\n  observed = { flood_class = \""+class+"\" }\n}\nswitch")
}

func floodLossless(p *Pass) {
	f := p.Fabric
	for id := fabric.SegmentID(1); int(id) < len(f.Segments); id++ {
		s := &f.Segments[id]
		for i := range f.QoS[s.Contract()].Classes {
			if c := &f.QoS[s.Contract()].Classes[i]; s.FloodClass != 0 && c.Name == s.FloodClass && c.Lossless {
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("flooded frames of segment %s, VLAN %d, are in class %s, which is lossless", f.Text(s.Name), s.VLAN, f.Text(c.Name)), Address: f.Text(s.Address),
					Labels: []diag.Label{f.Label(s.Decl, 0, schema.AFloodClass, ""), f.DeclLabel(c.Decl, "the class")}, Help: "map floods to a lossy class",
				})
			}
		}
	}
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Switch || e.Port.VLANs == 0 && e.Port.Native == 0 || e.Profile.PFC == 0 || e.Profile.PFC == 0xff || p.contested(e.Profile.QoS) {
			return // PFC on everything is ROCE306
		}
		mark, priority, attr := p.unmarkedFrames(e)
		if e.Profile.PFC>>(priority&7)&1 == 0 {
			return
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("frames without a mark, broadcasts among them, are lossless on %s: %s is priority %d, which has PFC", p.Name(e), mark, priority), Address: f.PortAddress(e.ID),
			Labels: []diag.Label{p.AtContract(e, attr, p.classOn(e, priority), schema.APriority, "")}, Help: "give them a priority without PFC",
		}
		if s := p.carried(e); s != 0 {
			d.Labels = append(d.Labels, f.DeclLabel(f.Segments[s].Decl, "the segment"))
		}
		p.Report(d)
	})
}

// unmarkedFrames says where a port puts frames that nobody marked, by which mark,
// and which attribute may restate that.
func (p *Pass) unmarkedFrames(e End) (mark string, priority uint8, attr schema.Attr) {
	switch e.Profile.Trust {
	case fabric.TrustDSCP:
		return "DSCP 0", e.Profile.DSCP[0], schema.ADSCPMap
	case fabric.TrustPCP:
		return "PCP 0", e.Profile.PCP[0], schema.APCPMap
	}
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
		if c.Default {
			priority = on.Priority
		}
	})
	return "everything", priority, schema.ATrust
}

// classOn is the class of a priority on a port, nil if it has none.
func (p *Pass) classOn(e End, priority uint8) (found *fabric.Class) {
	p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
		if c.Priority == priority && found == nil {
			found = c
		}
	})
	return found
}

// carried is one segment of a port, 0 if it has none.
func (p *Pass) carried(e End) fabric.SegmentID {
	if e.Port.Native != 0 || e.Port.VLANs == 0 {
		return e.Port.Native
	}
	return p.Fabric.VLANSets[e.Port.VLANs][0]
}

var roce315 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE315", Name: "port_pfc_asymmetric", Severity: diag.Warning,
		Title:      "PFC works in one direction of a port only",
		Why:        "a port that honours pauses and sends none drops what it cannot take; one that sends them and honours none overruns its peer",
		Fix:        "enable both directions, or accept it with an override",
		Interrupts: carving,
		Source: "sonic-net/SONiC doc/asymmetric-pfc; sonic-net/sonic-swss #1128; NVIDIA Onyx user manual 3.10, RoCE (lossless and " +
			"semi-lossless)",
		Bad:  foundSwitch(`observed = { pfc_direction = "receive" }`),
		Good: foundSwitch(`observed = { pfc_direction = "both" }`),
	},
	Run: oneWay,
}

func oneWay(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		if e.Profile.Direction == fabric.BothWays || e.Profile.PFC == 0 {
			return
		}
		how := "honours pauses and sends none"
		if e.Profile.Direction == fabric.SendOnly {
			how = "sends pauses and honours none"
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("port %s %s, for priorities %s", p.Name(e), how, Priorities(e.Profile.PFC)), Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.AtPort(e, schema.APFCDirection, "")}, Help: "enable both directions",
		})
	})
}

var roce316 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE316", Name: "link_macsec_pfc", Severity: diag.Error,
		Title:  "the ends of an encrypted link treat PFC frames differently, or nothing says how",
		Why:    "MACsec does not say whether pauses are encrypted: where one end sends them in clear and the other expects them encrypted, they count as corrupt and pause nobody",
		Fix:    `set PFC frames to clear on both ends, and say so: observed = { macsec = { pfc_frames = "clear" } }`,
		Source: "Bai et al., NSDI 2023, 8.3",
		Bad:    encrypted(`"on"`),
		Good:   encrypted(`{ pfc_frames = "clear" }`),
	},
	Run: macsecPFC,
}

// encrypted is two switches of different makers with an encrypted link.
func encrypted(macsec string) string {
	return strings.Replace(twoTors("", `{ media = "dac", length = "3m", delay = "500ns" }`, "observed = { macsec = "+macsec+" }"), `switch "far" {
  model = "nvidia/sn3700"`, `switch "far" {
  model = "edgecore/as7726-32x"`, 1)
}

func macsecPFC(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		ma, mb := a.Port.MACsec, b.Port.MACsec
		if ma < fabric.MACsecOn || mb < fabric.MACsecOn || a.Profile.PFC|b.Profile.PFC == 0 {
			return
		}
		d := diag.Diagnostic{
			Labels: []diag.Label{p.atMACsec(l, a, ""), p.atMACsec(l, b, "other end")},
			Help:   `set PFC frames to clear on both ends, and say so: observed = { macsec = { pfc_frames = "clear" } }`,
		}
		va, vb := p.maker(a), p.maker(b)
		switch stated := ma != fabric.MACsecOn && mb != fabric.MACsecOn; {
		case stated && ma == mb:
			return
		case stated:
			d.Summary = fmt.Sprintf("%s sends PFC frames %s, and its peer %s %s", p.Name(a), macsecWord(ma), p.Name(b), macsecWord(mb))
		case va == vb || va == "" || vb == "":
			return // two of a kind agree, and of others nothing is known
		default:
			d.Summary = fmt.Sprintf("the link between %s (%s) and %s (%s) has MACsec and PFC, and nothing says whether pauses are encrypted", p.Name(a), va, p.Name(b), vb)
		}
		if d.Labels[0].Span == d.Labels[1].Span {
			d.Labels = d.Labels[:1]
		}
		p.Report(p.AboutLink(l, a, b, d))
	})
}

func macsecWord(m fabric.MACsec) string {
	if m == fabric.MACsecClear {
		return "in clear"
	}
	return "encrypted"
}

// atMACsec points at what is said of encryption on a port, or else on its link.
func (p *Pass) atMACsec(l fabric.LinkID, e End, text string) diag.Label {
	if at, by, ok := p.Fabric.Origin(e.Port.Decl, e.Port.Layers, schema.AMACsec); ok {
		return diag.Label{Span: at, Where: p.Fabric.Where(by), Text: text}
	}
	return p.Fabric.LinkLabel(l, schema.AMACsec, text)
}

// maker is who made a port's device, "" if that is not known. The vendor of a
// switch model is that of its ASIC: who made the box stands before its name.
func (p *Pass) maker(e End) string {
	model := p.Fabric.Models[e.Device.Model].Name
	if e.Port.NIC != 0 {
		model = p.Fabric.NICModels[p.Fabric.NICs[e.Port.NIC].Model].Name
	}
	name, _, _ := strings.Cut(p.Fabric.Text(model), "/")
	return name
}

// longHopMm is the longest lossless hop that Microsoft ran with.
const longHopMm = 300_000

var roce321 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE321", Name: "link_long_lossless", Severity: diag.Notice,
		Options: []diag.Option{{Name: "length", Unit: "m", Default: longHopMm / 1000, Min: 1, Max: 100_000, Doc: "longest lossless hop"}},
		Title:   "a lossless hop is longer than 300 m",
		Why:     "what is on the way when a pause starts has to be kept: headroom grows with the length, and takes the buffer that bursts need",
		Fix:     "check the buffer of both ends, or make the class lossy there",
		Source:  "Guo et al., SIGCOMM 2016, 2 and 8.1 (300 m is the longest that they ran; it can be set)",
		Bad:     longLink("400m"),
		Good:    longLink("300m"),
	},
	Run: longHop,
}

// longLink is two switches with a cable of some length between them.
func longLink(length string) string {
	return twoTors("", `{ media = "fr", length = "`+length+`" }`, "")
}

func longHop(p *Pass) {
	f := p.Fabric
	p.Links(func(id fabric.LinkID, a, b End) {
		l := &f.Links[id]
		if int64(l.CableMm) <= 1000*p.option("length") || l.BadLength || a.Profile.PFC == 0 || b.Profile.PFC == 0 {
			return
		}
		if _, beyond := p.beyondReach(id, a, b); beyond {
			return // the length is not what it is: ROCE106
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("the lossless link between %s and %s is %s long", p.Name(a), p.Name(b), Meters(l.CableMm)),
			Labels:  []diag.Label{f.LinkLabel(id, schema.ACable, "")}, Help: "check the buffer of both ends",
		}
		for _, e := range [...]End{a, b} {
			if p.noRow(e) {
				return // ROCE503
			}
			if h, priority := p.largestHeadroom(e); h > 0 {
				d.Notes = append(d.Notes, fmt.Sprintf("headroom of %s is %d B for priority %d", p.Name(e), h, priority))
			}
		}
		p.Report(p.AboutLink(id, a, b, d))
	})
}

// noRow reports whether a port looks its headroom up and finds none.
func (p *Pass) noRow(e End) bool {
	return slices.ContainsFunc(p.Facts.Port(e.ID).Headroom[:], func(h derive.Headroom) bool { return h.TableMiss })
}

// largestHeadroom is the most that a port keeps for one priority, in bytes.
func (p *Pass) largestHeadroom(e End) (size uint32, priority int) {
	for i, h := range p.Facts.Port(e.ID).Headroom {
		if n := max(h.Xoff, h.Size); n > size {
			size, priority = n, i
		}
	}
	return size, priority
}

var roce323 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE323", Name: "switch_semi_lossless", Severity: diag.Warning,
		Title:      "some switches of a lossless class pass pauses on, and some do not",
		Why:        "a semi-lossless switch takes pauses and sends none: it drops what its lossless neighbours would have held back, and nobody upstream slows down",
		Fix:        "make the modes equal",
		Interrupts: carving,
		Source:     "NVIDIA Onyx user manual 3.10, RoCE: roce lossless, semi-lossless and lossy",
		Bad:        semiLossless("true"),
		Good:       semiLossless("false"),
	},
	Run: semiLosslessMixed,
}

// semiLossless is two switches of which rocec writes one.
func semiLossless(is string) string {
	return twoTors("manage = \"verify\"\n  observed = { semi_lossless = "+is+" }", `{ media = "dac", length = "3m" }`, "")
}

func semiLosslessMixed(p *Pass) {
	f := p.Fabric
	var t tally[bool, fabric.DeviceID]
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind == fabric.Switch && p.pausesAt(d) != 0 {
			t.add(f.Devices[d].SemiLossless, d)
		}
	}
	report := func(d fabric.DeviceID, note string) {
		dev := &f.Devices[d]
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("switch %s is semi-lossless: it takes pauses and passes none on", f.Text(dev.Name)), Address: f.Text(dev.Address), Notes: noted(note),
			Labels: []diag.Label{p.atDevice(d, schema.ASemiLossless, "")}, Help: "make the modes equal",
		})
	}
	uneven(&t, func(d fabric.DeviceID, semi bool, most counted[bool, fabric.DeviceID]) {
		if semi {
			report(d, fmt.Sprintf("%d of %d switches are lossless", len(most.rows), t.of))
			return
		}
		dev := &f.Devices[d]
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("switch %s is lossless, and %d of %d switches are semi-lossless", f.Text(dev.Name), len(most.rows), t.of), Address: f.Text(dev.Address),
			Labels: []diag.Label{p.atDevice(d, schema.ASemiLossless, ""), p.atDevice(most.rows[0], schema.ASemiLossless, "the others")}, Help: "make the modes equal",
		})
	}, func(values []counted[bool, fabric.DeviceID]) {
		semi, other := values[0], values[1]
		if other.value {
			semi, other = other, semi
		}
		for _, d := range semi.rows {
			report(d, fmt.Sprintf("its fabric has lossless switches too, such as %s", f.Text(f.Devices[other.rows[0]].Name)))
		}
	})
}

// pausesAt is the set of priorities with PFC on the cabled ports of a switch.
func (p *Pass) pausesAt(d fabric.DeviceID) intent.PrioritySet {
	var set uint8
	first, end := p.Fabric.PortsOf(d)
	for id := first; id < end; id++ {
		if port := &p.Fabric.Ports[id]; port.Link != 0 {
			set |= p.Fabric.Profiles[port.Profile].PFC
		}
	}
	return intent.PrioritySet(set)
}
