package lint

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The second half of the family on what can be touched: spare ports, and cables
// as somebody listed them.

var roce107 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE107", Name: "link_length_assumed", Severity: diag.Warning,
		Title: "nobody wrote the length of a lossless cable",
		Why:   "headroom follows from the length; where none is written rocec takes what the device itself assumes, and frames are lost on every cable that is longer",
		Fix:   `write cable = { media = ..., length = ... } on the link, the tier or in the cable list`,
		Source: "sonic-net/SONiC doc/qos/dynamically-headroom-calculation.md (cable length); Cumulus Linux user guide 5.13, Quality of " +
			"Service, " +
			"link pause and PFC cable length (100 m); torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.h, " +
			"MLX5E_DEFAULT_CABLE_LEN (7 m)",
		Bad:  twoNodesEdit(`, length = "3m"`, ``),
		Good: twoNodes(``),
	},
	Run: lengthAssumed,
}

func lengthAssumed(p *Pass) {
	f := p.Fabric
	sized := make([]bool, len(f.Cablings)) // lists with some length at least
	for i := range f.Links {
		if l := &f.Links[i]; l.List != 0 && (l.CableMm > 0 || l.BadLength) {
			sized[l.List] = true
		}
	}
	p.Links(func(id fabric.LinkID, a, b End) {
		l := &f.Links[id]
		if l.CableMm > 0 || l.BadLength {
			return
		}
		var assumes []string
		for _, e := range [2]End{a, b} {
			if mm := p.assumed(e); mm > 0 {
				assumes = append(assumes, Meters(mm)+" on "+p.Name(e))
			}
		}
		if len(assumes) == 0 {
			return
		}
		at, help := f.LinkLabel(id, schema.ACable, ""), "write the real length"
		if l.List != 0 && !sized[l.List] { // one mistake, of the list and not of each row
			at, help = f.DeclLabel(f.Cablings[l.List].Decl, ""), "add the lengths to the list, or write default_cable"
		}
		p.Report(p.AboutLink(id, a, b, diag.Diagnostic{
			Summary: fmt.Sprintf("no cable length between %s and %s: headroom assumes %s", p.Name(a), p.Name(b), list(assumes)),
			Labels:  []diag.Label{at}, Help: help,
		}))
	})
}

// assumed is the cable length that a port's headroom was computed for because
// none is written, 0 if none was.
func (p *Pass) assumed(e End) uint32 {
	var most uint32
	for _, h := range &p.Facts.Port(e.ID).Headroom {
		if h.Source != derive.SourceOperator && h.Source != derive.SourceKept {
			most = max(most, h.AssumedMm)
		}
	}
	return most
}

var roce118 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE118", Name: "port_spare_lossless", Severity: diag.Notice, Fixable: true,
		Title:      "a port without a cable holds lossless buffer",
		Why:        "headroom is reserved for every port with PFC, cabled or not, and missing from what all ports share",
		Fix:        "write admin = \"down\" on spare ports, or take the qos off them",
		Interrupts: "whoever is plugged in and missing from the source: look at LLDP and the MAC table first",
		Source:     "sonic-net/SONiC doc/qos/reclaim-reserved-buffer.md; Zhu et al., SIGCOMM 2015 (DCQCN), section 4, buffer settings",
		Bad:        twoNodes("}\n  port \"Ethernet8\" {\n    speed    = \"100G\"\n    untagged = segment.storage"),
		Good:       twoNodes("}\n  port \"Ethernet8\" {\n    speed   = \"100G\"\n    untagged = segment.storage\n    admin = \"down\""),
	},
	Run: spareLossless,
}

func spareLossless(p *Pass) {
	f := p.Fabric
	spares := p.spares()
	if len(spares) == 0 {
		return
	}
	waiting := p.waiting(spares, p.uncabled())
	for _, id := range spares {
		if len(waiting[p.fit(id)]) > 0 {
			continue // a NIC has no cable either: ROCE805
		}
		e := p.End(id)
		held := uint32(0)
		for _, h := range &p.Facts.Port(e.ID).Headroom {
			held += h.Xoff
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("port %s has no cable and PFC %s", p.Name(e), Priorities(e.Profile.PFC)), Address: f.PortAddress(e.ID),
			Labels: []diag.Label{p.AtPort(e, schema.AQoS, "")}, Help: "write admin = \"down\", or take the qos off it", Edits: p.shutSpare(e),
		}
		if held > 0 {
			d.Summary += fmt.Sprintf(": it reserves %d B", held)
		}
		p.Report(d)
	}
}

// spares are the ports of switches that have PFC and no cable.
func (p *Pass) spares() (list []fabric.PortID) {
	f := p.Fabric
	if p.doubled() {
		return nil // some cable is listed at the wrong port: ROCE104
	}
	const quiet = fabric.ShutDown | fabric.IsLAG | fabric.IsVNIC | fabric.External | fabric.Implicit
	cabled := make([]bool, len(f.Devices)) // a switch without any cable lacks no buffer
	for id := range f.Ports {
		if f.Ports[id].Link != 0 {
			cabled[f.Ports[id].Device] = true
		}
	}
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		if f.Ports[id].Link != 0 || f.Ports[id].Flags&quiet != 0 || !cabled[f.Ports[id].Device] {
			continue
		}
		e := p.End(id)
		if e.Device.Kind != fabric.Switch || e.Profile.PFC == 0 || p.unreachable(e) {
			continue
		}
		list = append(list, id)
	}
	return list
}

// doubled reports whether two links are at one port.
func (p *Pass) doubled() bool {
	for id := 1; id < len(p.Fabric.Links); id++ {
		l := &p.Fabric.Links[id]
		if p.Fabric.Ports[l.A].Link != fabric.LinkID(id) || p.Fabric.Ports[l.B].Link != fabric.LinkID(id) {
			return true
		}
	}
	return false
}

// unreachable reports whether the lossless class of a port without a cable needs
// a tag that the port does not have: ROCE314 says so.
func (p *Pass) unreachable(e End) bool {
	return e.Profile.Trust == fabric.TrustPCP && e.Port.Native != 0 && !p.Tagged(e)
}

var roce119 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE119", Name: "cable_neighbour", Severity: diag.Error, When: diag.Both,
		Title:  "a port sees another neighbour than the source says",
		Why:    "all that was proven was proven of another cable: the port has the priorities, VLANs and headroom of somebody else's peer",
		Fix:    "re-cable, or correct the source and build again",
		Source: "IEEE 802.1AB-2016, 8.5 (chassis ID and port ID); lldpd(8), lldpcli(8) show neighbors",
		Bad:    twoNodes(``) + captured("n2", "n1"),
		Good:   twoNodes(``) + captured("n1", "n2"),
	},
	Run: func(p *Pass) { p.mismatches(true) },
}

var roce121 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE121", Name: "cable_list", Severity: diag.Error,
		Title:  "a cable list in verify mode and the source differ",
		Why:    "whoever plugs by the list builds another fabric than the one that was proven",
		Fix:    "correct the list, or the source",
		Source: "Cray-HPE/canu README, validate shcs-cabling (a cable list against what switches hear); docs/language/blocks.md, cabling",
		Bad:    twoNodes(``) + listed("Ethernet8"),
		Good:   twoNodes(``) + listed("Ethernet4"),
	},
	Run: func(p *Pass) { p.mismatches(false) },
}

// listed is a cable list of twoNodes; the second cable is at port.
func listed(port string) string {
	return `cabling "as_built" {
  file   = "cables.csv"
  format = "csv"
  mode   = "verify"
}
-- cables.csv --
a_device,a_port,b_device,b_port,media,length,length_unit
tor,Ethernet0,n1,rail0,dac,3,m
tor,` + port + `,n2,rail0,dac,3,m
`
}

// captured is what tor hears by LLDP on the two ports of twoNodes.
func captured(first, second string) string {
	neighbour := func(port, host string) string {
		return `{"` + port + `": {"chassis": {"` + host + `": {"id": {"type": "mac", "value": "00:00:5e:00:53:01"}}}, "port": {"id": {"type": "ifname", "value": "rail0"}}}}`
	}
	return `cabling "seen" {
  file   = "tor.json"
  format = "lldp"
  mode   = "verify"
  device = "tor"
}
-- tor.json --
{"lldp": {"interface": [
  ` + neighbour("Ethernet0", first) + `,
  ` + neighbour("Ethernet4", second) + `
]}}
`
}

// mismatches reports what lists in verify mode and the source say differently:
// captures of what neighbours say, or lists that somebody wrote.
func (p *Pass) mismatches(lldp bool) {
	type kind struct {
		list  fabric.CablingID
		fault fabric.CableFault
	}
	said, all := map[kind]int{}, map[kind]int{}
	for i := range p.Fabric.Mismatches {
		all[kind{p.Fabric.Mismatches[i].List, p.Fabric.Mismatches[i].Fault}]++
	}
	for i := range p.Fabric.Mismatches {
		m := &p.Fabric.Mismatches[i]
		list := &p.Fabric.Cablings[m.List]
		if list.LLDP != lldp {
			continue
		}
		k := kind{m.List, m.Fault}
		if said[k]++; said[k] > maxMismatches {
			p.Report(p.furtherMismatch(m, list, all[k]-maxMismatches))
			continue
		}
		p.Report(p.mismatch(m, list))
	}
	for i := range p.Fabric.Cablings {
		if list := &p.Fabric.Cablings[i]; list.LLDP == lldp && list.Beyond > 0 {
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s differs from the source in %d places more, which were counted only", p.Fabric.Text(list.Name), list.Beyond),
				Address: p.Fabric.Text(list.Address), Labels: []diag.Label{p.Fabric.Label(list.Decl, 0, schema.AFile, "")},
				Help: "compare the list with the source: it is of another fabric, or calls devices otherwise",
			})
		}
	}
}

// maxMismatches is how many differences of one kind and list are told one by
// one. What follows is one finding with a count, in which an override still
// reaches each of them.
const maxMismatches = 100

// furtherMismatch is a difference in the words that all of its kind share; there are further ones of them.
func (p *Pass) furtherMismatch(m *fabric.CableMismatch, from *fabric.Cabling, further int) diag.Diagnostic {
	f := p.Fabric
	what := map[fabric.CableFault]string{
		fabric.CableMissing: "cables of the source are missing", fabric.CableExtra: "cables are there that the source does not have",
		fabric.CableMoved: "cables are at other ports than in the source", fabric.CableSwapped: "pairs of cables are swapped",
		fabric.CableMedia: "cables are of other media than in the source", fabric.CableLength: "cables are of another length than in the source",
	}[m.Fault]
	x := mismatched{p: p, m: m, from: from, Diagnostic: diag.Diagnostic{
		Summary: fmt.Sprintf("%d more %s in %s, beyond the first %d", further, what, f.Text(from.Name), maxMismatches), Count: 1,
		Labels: []diag.Label{f.Label(from.Decl, 0, schema.AFile, "")}, Help: "mend those that are told one by one first",
	}}
	for _, l := range m.Links {
		if l != 0 {
			x.Concerns = append(x.Concerns, f.LinkAddress(l))
		}
	}
	x.about(m.A)
	x.about(m.B)
	return x.Diagnostic
}

func (p *Pass) mismatch(m *fabric.CableMismatch, from *fabric.Cabling) diag.Diagnostic {
	f := p.Fabric
	x := mismatched{p: p, m: m, from: from}
	name := f.Text(from.Name)
	near, far := f.PortName(m.A), p.far(m)
	switch m.Fault {
	case fabric.CableMissing:
		x.Summary = fmt.Sprintf("%s and %s are cabled in the source, and %s has no such row", near, far, name)
		if from.LLDP {
			x.Summary = fmt.Sprintf("%s and %s are cabled in the source, and %s does not hear them", near, far, name)
		}
		x.Help = "plug the cable, or take it out of the source"
		x.link(0, schema.AEnds, "")
		x.Labels = append(x.Labels, f.Label(from.Decl, 0, schema.AFile, "the list"))
	case fabric.CableExtra:
		x.Summary = fmt.Sprintf("%s is cabled to %s in %s, and not in the source", near, far, name)
		x.Notes = noted(p.inSource(m.A), p.inSource(m.B))
		x.Help = "unplug the cable, or add it to the source"
		x.row(0, "")
		x.link(0, schema.AEnds, "the source")
		x.link(1, schema.AEnds, "and here")
	case fabric.CableMoved:
		x.Summary = fmt.Sprintf("%s is cabled to %s in %s, and to %s in the source", near, far, name, p.peerName(m.A))
		x.Notes = noted(p.inSource(m.B))
		x.Help = "plug it where the source has it, or correct the source"
		x.row(0, "")
		x.link(0, schema.AEnds, "the source")
		x.link(1, schema.AEnds, "and here")
	case fabric.CableSwapped:
		x.Summary = fmt.Sprintf("%s and %s are swapped: %s has %s at %s and %s at %s, the source has them the other way round",
			near, p.peerName(m.B), name, near, far, p.peerName(m.B), p.peerName(m.A))
		x.Help = "exchange the two plugs, or correct the source"
		x.row(0, "")
		x.row(1, "the other row")
		x.link(0, schema.AEnds, "the source")
		x.link(1, schema.AEnds, "and the other cable")
	case fabric.CableMedia:
		have, listed := f.Text(f.Media[f.Links[m.Links[0]].Media].Name), f.Text(m.MediaWord)
		if m.Media != 0 {
			listed = f.Text(f.Media[m.Media].Name)
		}
		x.Summary = fmt.Sprintf("the cable between %s and %s is %s in %s and %s in the source", near, far, listed, name, have)
		x.Help = "correct whichever is wrong: headroom and reach follow from the medium"
		x.row(0, "")
		x.link(0, schema.ACable, "the source")
	case fabric.CableLength:
		x.Summary = fmt.Sprintf("the cable between %s and %s is %s long in %s and %s in the source", near, far, Meters(m.CableMm), name, Meters(f.Links[m.Links[0]].CableMm))
		x.Help = "correct whichever is wrong: headroom follows from the length"
		x.row(0, "")
		x.link(0, schema.ACable, "the source")
	}
	x.about(m.A)
	x.about(m.B)
	return x.Diagnostic
}

// mismatched is a finding on a cable, in the making.
type mismatched struct {
	diag.Diagnostic
	p    *Pass
	m    *fabric.CableMismatch
	from *fabric.Cabling
}

// row shows a row of the list.
func (x *mismatched) row(i int, text string) {
	if !x.m.Rows[i].IsZero() {
		x.Labels = append(x.Labels, diag.Label{Span: x.m.Rows[i], Where: x.p.Fabric.Text(x.from.Address), Text: text})
	}
}

// link shows a cable of the source, if there is one and it is not shown yet.
func (x *mismatched) link(i int, n schema.Attr, text string) {
	l := x.m.Links[i]
	if l == 0 || i == 1 && l == x.m.Links[0] {
		return
	}
	x.Concerns = append(x.Concerns, x.p.Fabric.LinkAddress(l))
	at := x.p.Fabric.LinkLabel(l, n, text)
	if !slices.ContainsFunc(x.Labels, func(o diag.Label) bool { return o.Span == at.Span }) {
		x.Labels = append(x.Labels, at)
	}
}

func (x *mismatched) about(port fabric.PortID) {
	switch {
	case port == 0:
	case x.Address == "":
		x.Address = x.p.Fabric.PortAddress(port)
	default:
		x.Concerns = append(x.Concerns, x.p.Fabric.PortAddress(port))
	}
}

// far is the far end of a row, as the list calls it where it is not of the fabric.
func (p *Pass) far(m *fabric.CableMismatch) string {
	if m.B != 0 {
		return p.Fabric.PortName(m.B)
	}
	return p.Fabric.Text(m.Far[0]) + "/" + p.Fabric.Text(m.Far[1])
}

// peerName is the port at the other end of a port's cable in the source.
func (p *Pass) peerName(port fabric.PortID) string {
	return p.Fabric.PortName(p.Fabric.Ports[port].Peer)
}

// inSource says where the source has the cable of a port, "" if it has none.
func (p *Pass) inSource(port fabric.PortID) string {
	if port == 0 || p.Fabric.Ports[port].Peer == 0 {
		return ""
	}
	return fmt.Sprintf("the source has %s at %s", p.peerName(port), p.Fabric.PortName(port))
}

var roce125 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE125", Name: "link_macsec_delay", Severity: diag.Warning,
		Title: "a lossless link is encrypted, and its headroom counts no delay for that",
		Why: "both ends of an encrypted link hold every frame, pauses too, until it is encrypted or checked, and each grows by up to 32 " +
			"B: what arrives " +
			"meanwhile has to fit into headroom as well",
		Fix: `write what the makers state for both ends: cable = { media = ..., length = ..., delay = "..." }, or headroom on the ports`,
		Source: "IEEE 802.1AE-2018, clause 9 (SecTAG of 8 or 16 B, ICV of 16 B); IEEE 802.1Q-2018, D.2.10 (MACsec bypass capability) and " +
			"annex N (delays that " +
			"headroom covers); dcb-pfc(8), macsec-bypass and delay; Bai et al., NSDI 2023, 8.3",
		Formula: "headroom in bytes += 2 x delay x speed / 8: the pause on its way out, and what is on its way in",
		Bad:     encryptedAlike(""),
		Good:    encryptedAlike(`, delay = "500ns"`),
	},
	Run: macsecDelay,
}

// encryptedAlike is two switches of one maker with an encrypted link; delay is said of
// its cable.
func encryptedAlike(delay string) string {
	return twoTors("", `{ media = "dac", length = "3m"`+delay+` }`, `observed = { macsec = { pfc_frames = "clear" } }`)
}

func macsecDelay(p *Pass) {
	p.Links(func(id fabric.LinkID, a, b End) {
		encrypted := a.Port.MACsec >= fabric.MACsecOn || b.Port.MACsec >= fabric.MACsecOn
		if !encrypted || p.Fabric.Links[id].DelayNs > 0 || !p.computed(a) && !p.computed(b) {
			return
		}
		p.Report(p.AboutLink(id, a, b, diag.Diagnostic{
			Summary: fmt.Sprintf("the lossless link between %s and %s has MACsec, and its cable no delay: headroom is too small by what "+
				"encryption takes",
				p.Name(a), p.Name(b)),
			Labels: []diag.Label{p.atMACsec(id, a, ""), p.Fabric.LinkLabel(id, schema.ACable, "the cable")},
			Help:   "write delay in cable, as the makers of both ends state it, or headroom on the ports",
		}))
	})
}

// computed reports whether some headroom of a port is what rocec or a table makes of its cable.
func (p *Pass) computed(e End) bool {
	return slices.ContainsFunc(p.Facts.Port(e.ID).Headroom[:], func(h derive.Headroom) bool {
		return max(h.Xoff, h.Size) > 0 && h.Source != derive.SourceOperator && h.Source != derive.SourceKept
	})
}
