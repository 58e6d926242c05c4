package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on links that looks at speeds and negotiation of one end by
// what is known of its hardware.

var roce122 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE122", Name: "link_autoneg_default", Severity: diag.Warning,
		Title: "one end of a link is told whether to negotiate, and the default of the other is the opposite",
		Why: "the end that nobody told does what its device does by default, which may be the opposite: then the link does not come up, or " +
			"comes up at another speed",
		Fix:        "write autoneg on both ends, or on the link",
		Interrupts: "the link until both ends have it",
		Source: "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md; Cumulus Linux user guide 5.14, Switch Port " +
			"Attributes; the source of " +
			"autoneg in the asic block",
		Bad: twoNodes("autoneg = false"),
		Good: twoNodesEdit("    fec      = \"rs\"\n", "    fec      = \"rs\"\n    autoneg = true\n", "    fec      = \"rs\"\n",
			"    fec      = \"rs\"\n    autoneg = true\n", "    fec      = \"rs\"\n", "    fec      = \"rs\"\n    autoneg = true\n"),
	},
	Run: autonegDefault,
}

// autonegDefault passes over ends whose default is what the other one is told, and those
// that take no setting of it. Where a port is forced besides, ROCE103 speaks.
func autonegDefault(p *Pass) {
	p.Links(func(l fabric.LinkID, a, b End) {
		if a.Port.Flags&fabric.AutonegSet == 0 {
			a, b = b, a
		}
		if a.Port.Flags&fabric.AutonegSet == 0 || b.Port.Flags&fabric.AutonegSet != 0 || p.negotiation(b) != unsaid {
			return
		}
		told := p.negotiation(a)
		if told == forced && p.mustNegotiate(a) && p.mustNegotiate(b) {
			return
		}
		does := p.byDefault(b)
		if does == told || does == unsaid && p.windows(b.Device) {
			return
		}
		words := [...]string{unsaid: "which its data do not state", negotiates: "which negotiates", forced: "which does not negotiate"}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("port %s is told autoneg = %t, and its peer %s is left to its default, %s", p.Name(a), told == negotiates,
				p.Name(b), words[does]),
			Labels: []diag.Label{p.AtPort(a, schema.AAutoneg, ""), p.AtPort(b, schema.AAutoneg, "other end", "autoneg is not written")},
			Help:   "write autoneg alike on both ends",
		}
		p.Report(p.AboutLink(l, a, b, d))
	})
}

// byDefault is what a port does that nobody told, as far as its data say so.
func (p *Pass) byDefault(e End) negotiation {
	does := p.Fabric.NICModels[p.Fabric.NICs[e.Port.NIC].Model].Autoneg
	if e.Device.Kind == fabric.Switch {
		does = fabric.Unknown
		if is, stated := p.Fabric.Models[e.Device.Model].Autoneg[p.Fabric.Text(e.Device.OSName)]; stated && is {
			does = fabric.Yes
		} else if stated {
			does = fabric.No
		}
	}
	return [...]negotiation{fabric.Unknown: unsaid, fabric.No: forced, fabric.Yes: negotiates}[does]
}

var roce123 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE123", Name: "port_speed", Severity: diag.Error,
		Title: "a port is told to run at a speed that its hardware does not have",
		Why: "a device refuses a speed that it does not have, or keeps the one it had: the link stays down, and headroom, ECN and ETS were " +
			"computed for another",
		Fix: "write a speed of the hardware, or leave it to the model",
		Source: "the source of speeds in the asic, switch_model or nic_model block, as sonic-net/sonic-buildimage platform.json, " +
			"breakout_modes, or the " +
			"data sheet of the NIC",
		Bad: strings.Replace(strings.ReplaceAll(withNIC(), `= "100G"`, `= "50G"`), `speeds          = ["100G"]`,
			`speeds          = ["25G", "100G"]`, 1),
		Good: strings.Replace(strings.ReplaceAll(withNIC(), `= "100G"`, `= "50G"`), `speeds          = ["100G"]`,
			`speeds          = ["50G", "100G"]`, 1),
	},
	Run: portSpeed,
}

// portSpeed judges speeds that are written. Those above all that a model has do not
// compile; where a chip states none, a port has those of its model. A cable with one
// that neither end has is told once.
func portSpeed(p *Pass) {
	f := p.Fabric
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		e := p.End(id)
		name, has, bad := p.speedless(e)
		if !bad {
			continue
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("port %s is told to run at %s, which %s does not have", p.Name(e), fabric.Speed(e.Port.Mbps), f.Text(name)),
			Address: f.PortAddress(id),
			Labels:  []diag.Label{p.atSpeed(e, ""), p.atHardware(e, "the hardware")}, Help: "write one of " + speedList(has),
		}
		if len(has) == 0 {
			d.Summary = fmt.Sprintf("port %s is told to run at %s, and the data of %s do not state speeds", p.Name(e), fabric.Speed(e.Port.Mbps),
				f.Text(name))
			d.Help = "state speeds in the asic block, with the source of it"
		}
		if peer := p.End(e.Port.Peer); e.Port.Peer != 0 && peer.Port.Mbps == e.Port.Mbps {
			if other, _, too := p.speedless(peer); too && len(has) > 0 {
				if e.Port.Peer < id {
					continue
				}
				d.Summary = fmt.Sprintf("port %s and its peer %s are told to run at %s, which neither %s nor %s has", p.Name(e), p.Name(peer),
					fabric.Speed(e.Port.Mbps), f.Text(name), f.Text(other))
				d.Concerns = []string{f.PortAddress(e.Port.Peer)}
				d.Labels = append(d.Labels, p.atSpeed(peer, "other end"))
			}
		}
		if !p.RDMA(e) {
			d.Severity = diag.Warning
		}
		p.Report(d)
	}
}

// speedless reports whether a port is told to run at a speed that its hardware is not
// known to have. Of a NIC whose model states none ROCE722 tells.
func (p *Pass) speedless(e End) (name fabric.Str, has []uint32, bad bool) {
	if e.Port.Flags&fabric.SpeedSet == 0 || e.Port.Flags&fabric.InfiniBand != 0 {
		return 0, nil, false
	}
	name, has = p.speeds(e)
	return name, has, !slices.Contains(has, e.Port.Mbps) && (len(has) > 0 || e.Port.NIC == 0 && !p.nominal(e))
}

// atHardware is where the model of a port is named.
func (p *Pass) atHardware(e End, text string) diag.Label {
	if e.Device.Kind == fabric.Switch {
		return p.Fabric.Label(e.Device.Decl, e.Device.Layers, schema.AModel, text)
	}
	return p.AtPort(e, schema.AModel, text)
}

// speeds are those that a port's hardware has, and what states them.
func (p *Pass) speeds(e End) (name fabric.Str, mbps []uint32) {
	if e.Port.NIC != 0 {
		m := &p.Fabric.NICModels[p.Fabric.NICs[e.Port.NIC].Model]
		return m.Name, m.Mbps
	}
	m := &p.Fabric.Models[e.Device.Model]
	return m.Name, m.Speeds
}

// nominal reports whether a port of a switch, or the split that it is a child of, has
// the speed that is written by the model, or whether there is no model to ask.
func (p *Pass) nominal(e End) bool {
	m := &p.Fabric.Models[e.Device.Model]
	if b, _ := p.Fabric.SplitOf(e.ID); e.Device.Model == 0 || b != nil && b.Mbps == e.Port.Mbps {
		return true
	}
	for _, mbps := range m.Mbps {
		if mbps == e.Port.Mbps {
			return true
		}
	}
	return false
}

func speedList(mbps []uint32) string {
	words := make([]string, len(mbps))
	for i, m := range mbps {
		words[i] = fabric.Speed(m)
	}
	return list(words)
}
