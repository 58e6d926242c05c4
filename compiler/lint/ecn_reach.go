package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on ECN that is about how far a fabric reaches: over
// tiers and over long links.

var roce420 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE420", Name: "class_no_ecn", Severity: diag.Notice,
		Title: "a lossless class over two tiers of switches has PFC alone",
		Why: "a pause holds whoever is behind it: over two tiers trees of pauses grow from one slow receiver, and stop hosts that " +
			"send it nothing. Marks slow the senders before that",
		Fix: `write ecn = "auto" on the class; where receivers or round-trip times slow the senders, say so: ` +
			`congestion_control = "receiver", or observed = { slowed_by = "rtt" }; ` +
			`where it is meant, ecn = "off" with an ignore that says why`,
		Steps: "marking on every switch first, then DCQCN on the hosts",
		Source: "Zhu et al., SIGCOMM 2015, section 2: unfairness and victim flows of PFC alone; against it in storage of one " +
			"tier Juniper JVD, Thor2 DCQCN; for receivers Gangidi et al., SIGCOMM 2024",
		Bad:  withSpine(twoTiers(), ""),
		Good: withSpine(twoTiers(), "    observed  = { slowed_by = \"rtt\" }\n"),
	},
	Run: classNoECN,
}

// twoTiers are two leaves with hosts under a spine.
func twoTiers() string {
	return twoNodesEdit(`switch "tor" {`, `switch "spine" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  port "Ethernet[0-4:4]" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
    mtu      = 9216
  }
}
switch "leaf2" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  port "Ethernet[0,8]" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
    mtu      = 9216
  }
}
node "far" {
  os   = "ubuntu/24.04"
  slot = 9
  nic "rail0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
  }
}
link "far" {
  ends  = [node.far.nic["rail0"], switch.leaf2.port["Ethernet0"]]
  cable = { media = "dac", length = "3m" }
}
link "up" {
  for_each = { tor = 0, leaf2 = 4 }
  ends     = [each.key == "tor" ? switch.tor.port["Ethernet8"] : switch.leaf2.port["Ethernet8"], switch.spine.port["Ethernet${each.value}"]]
  cable    = { media = "dac", length = "3m" }
}
switch "tor" {
  port "Ethernet8" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
    mtu      = 9216
  }`)
}

// withSpine is a fabric in which the class that carries RDMA has no ECN; class is said of it.
func withSpine(text, class string) string {
	return edit(text, "    ecn       = \"auto\"\n", class)
}

func classNoECN(p *Pass) {
	f := p.Fabric
	of := make([]*fabric.Class, len(f.QoS))
	any := false
	for q := range f.QoS {
		for i := range f.QoS[q].Classes {
			c := &f.QoS[q].Classes[i]
			off := c.ECN.Mode == fabric.Unwritten || c.ECN.Mode == fabric.Off
			if c.Carries == fabric.CarriesRDMA && c.Lossless && off && !c.CongestionSet && !c.ByRTT &&
				c.Transport != fabric.IWARP && of[q] == nil {
				of[q], any = c, true
			}
		}
	}
	if !any {
		return
	}
	type way struct {
		over fabric.DeviceID
		qos  fabric.QoSID
	}
	under := map[way]fabric.DeviceID{} // the first switch with nodes that a higher one joins to others
	said := make([]bool, len(f.QoS))
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		low, high := p.End(f.Links[l].A), p.End(f.Links[l].B)
		if p.rank(low.Port.Device) > p.rank(high.Port.Device) {
			low, high = high, low
		}
		q := low.Profile.QoS
		c := of[q]
		if c == nil || said[q] || low.Device.Kind != fabric.Switch ||
			p.rank(low.Port.Device) == p.rank(high.Port.Device) || high.Profile.QoS != q ||
			p.marksECN(low, low.Profile.On[p.indexOf(low, c)]) {
			continue
		}
		k := way{high.Port.Device, q}
		if first := under[k]; first == 0 || first == low.Port.Device {
			under[k] = low.Port.Device
			continue
		}
		said[q] = true
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("class %s of qos %s has PFC alone, and goes from %s over %s "+
				"to %s", f.Text(c.Name), f.Text(f.QoS[q].Name), f.Text(f.Devices[under[k]].Name), f.Text(high.Device.Name), f.Text(low.Device.Name)),
			Address: f.Text(f.QoS[q].Address), Labels: []diag.Label{f.DeclLabel(c.Decl, "")},
			Help: `write ecn = "auto", or say what slows the senders in place of marks`,
		})
	}
}

var roce421 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE421", Name: "ecn_long_link", Severity: diag.Warning,
		Title: "the ECN minimum is less than a long link keeps in flight",
		Why: "senders whose marks come back late need a queue that lasts meanwhile: with less the queue runs empty after each " +
			"mark, and the link is never full",
		Fix: "raise the ECN minimum on the ports of the long link",
		Options: []diag.Option{{Name: "part", Default: 7, Min: 1, Max: 100, Doc: "part of what is in flight that the minimum has to " +
			"cover, as the number that it is divided by"}},
		Source:  "Alizadeh et al., SIGCOMM 2010 (DCTCP), section 3.4: K > C * RTT / 7; Bai et al., NSDI 2023, 7.3: round trips of a region",
		Formula: "ecn.min in bytes >= Gb/s * metres * 1.25 / 0.99 / part: rate * 2 * length / 198,000,000 m/s, one part in 7 of it",
		Bad:     regionLink("150KB"),
		Good:    regionLink("300KB"),
	},
	Run: ecnLongLink,
}

// regionLink is twoTors with 10 km between the switches, lossy, and with an ECN minimum.
func regionLink(least string) string {
	return edit(twoTors(`qos = qos.roce`, `{ media = "lr", length = "10km" }`, ""),
		`ecn       = "auto"`, `ecn       = { min = "`+least+`", max = "2MB", probability = 5 }
    lossless  = false`)
}

func ecnLongLink(p *Pass) {
	f := p.Fabric
	p.Links(func(l fabric.LinkID, a, b End) {
		for _, e := range [2]End{a, b} {
			if e.Device.Kind != fabric.Switch || e.Port.Profile == 0 {
				continue
			}
			// Gb/s * m * 125 / 99 bytes are there and back.
			flight := uint64(e.Port.Mbps) * uint64(f.Links[l].CableMm) / 1_000_000 * 125 / 99
			least := flight / uint64(p.option("part"))
			p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
				if !p.reacts(c) || on.Queue > 7 || Displaced(c, on) {
					return
				}
				x := p.Facts.Port(e.ID).ECN[on.Queue]
				if !x.On || uint64(x.MinBytes) >= least {
					return
				}
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("ECN of class %s starts at %d B on %s, and its cable of %s holds %d B there and "+
						"back", f.Text(c.Name), x.MinBytes, p.Name(e), Meters(f.Links[l].CableMm), flight),
					Address: f.PortAddress(e.ID), Concerns: []string{f.LinkAddress(l)},
					Labels: []diag.Label{p.AtContract(e, schema.AECN, c, schema.AECN, ""), f.LinkLabel(l, schema.ACable, "the cable")},
					Help:   fmt.Sprintf("write a minimum of %d B or more on this port", least),
				})
			})
		}
	})
}
