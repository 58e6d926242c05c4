package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
	"github.com/rocec/rocec/lang/schema"
)

// proven is a property of a class at a port, and what it rests on.
type proven struct {
	Property string   `json:"property"` // "lossless", "composition", "ecn", "mtu"
	Class    string   `json:"class"`
	Holds    bool     `json:"holds"`
	Because  []string `json:"because"` // each a fact, or what is wrong
}

// prover says why what is proven of a port holds there.
type prover struct {
	f     *fabric.Fabric
	facts *derive.Facts
	all   *paths.Composition
}

func (p *project) prover() *prover {
	return &prover{f: p.res.Fabric, facts: p.res.Facts, all: paths.Compose(p.res.Fabric, p.res.Facts, nil)}
}

// port is what is proven of a port.
func (x *prover) port(id fabric.PortID) (list []proven) {
	port := &x.f.Ports[id]
	profile := &x.f.Profiles[port.Profile]
	if port.Profile == 0 || port.Peer == 0 {
		return nil
	}
	for i := range x.f.QoS[profile.QoS].Classes {
		c, on := &x.f.QoS[profile.QoS].Classes[i], profile.On[i]
		if c.Default {
			continue
		}
		if c.Lossless {
			list = append(list, x.lossless(id, c, on))
		}
		list = append(list, x.composition(paths.Class{QoS: profile.QoS, Index: i}, on))
		if c.Carries != fabric.CarriesRDMA {
			continue
		}
		if !profile.Host && c.Congestion != fabric.Receiver && (c.ECN.Mode == fabric.Auto || c.ECN.Mode == fabric.Written) {
			list = append(list, x.marking(id, c, on))
		}
		if x.facts.Port(id).NeedClass == uint8(i) && x.facts.Port(id).NeedMTU > 0 {
			list = append(list, x.mtu(id, c))
		}
	}
	return list
}

// proof collects facts; one that does not hold takes the property with it.
type proof struct{ proven }

func newProof(property string, f *fabric.Fabric, c *fabric.Class) *proof {
	return &proof{proven{Property: property, Class: f.Text(c.Name), Holds: true, Because: []string{}}}
}

func (p *proof) fact(holds bool, yes, no string) {
	if !holds {
		p.Holds = false
		yes = "not so: " + no
	}
	p.Because = append(p.Because, yes)
}

// lossless: both ends of the cable pause the class, the pause stops its queue,
// and what is on its way until then has room [theory I5].
func (x *prover) lossless(id fabric.PortID, c *fabric.Class, on fabric.ClassOn) proven {
	f := x.f
	port := &f.Ports[id]
	own, peer := &f.Profiles[port.Profile], &f.Profiles[f.Ports[port.Peer].Profile]
	p := newProof("lossless", f, c)
	prio := on.Priority & 7
	p.fact(!on.Split, fmt.Sprintf("%s is priority %d here", x.marks(c, own), prio), fmt.Sprintf("%s is several priorities here", x.marks(c, own)))
	there := f.PortName(port.Peer)
	switch {
	case f.Ports[port.Peer].Profile == 0:
		p.fact(false, "", there+" has no qos")
	default:
		p.fact(own.PFC>>prio&1 == 1 && peer.PFC>>prio&1 == 1, fmt.Sprintf("priority %d has PFC at both ends, here and at %s", prio, there),
			fmt.Sprintf("priority %d has PFC %s here and %s at %s", prio, onOff(own.PFC>>prio&1 == 1), onOff(peer.PFC>>prio&1 == 1), there))
	}
	stops := own.PFCQueue[prio]
	if own.Host {
		stops = own.Queue[prio]
	}
	p.fact(stops == on.Queue, fmt.Sprintf("a pause for it stops queue %d, which the class leaves by", on.Queue), fmt.Sprintf("a pause for it stops queue %d, and the class leaves by queue %d", stops, on.Queue))
	h, facts := &x.facts.Port(id).Headroom[prio], x.facts.Port(id)
	switch {
	case own.Host && h.Source == derive.SourceNone: // the adapter sees to it
	case h.Source == derive.SourceNone:
		p.fact(false, "", fmt.Sprintf("priority %d has no headroom", prio))
	case h.Source == derive.SourceKept:
		p.fact(true, "its headroom is left to the device", "")
	default:
		length := fmt.Sprintf("%.4gm of cable", float64(facts.CableMm)/1000)
		if h.AssumedMm > 0 {
			length += ", which is assumed"
		}
		p.fact(h.Xoff >= h.Minimum, fmt.Sprintf("it has %d B above the pause, by %s, for %s at %s; the physical minimum is %d B", h.Xoff, sourceName(h.Source), length, fabric.Speed(port.Mbps), h.Minimum),
			fmt.Sprintf("it has %d B above the pause, and the physical minimum is %d B for %s at %s", h.Xoff, h.Minimum, length, fabric.Speed(port.Mbps)))
	}
	return p.proven
}

// marks are the code points of a class, as a port sees them.
func (x *prover) marks(c *fabric.Class, p *fabric.Profile) string {
	if p.Trust == fabric.TrustPCP {
		return fmt.Sprintf("PCP %d", c.Priority)
	}
	var list []string
	for d := range 64 {
		if c.DSCP>>d&1 == 1 {
			list = append(list, fmt.Sprint(d))
		}
	}
	if len(list) == 0 || p.Trust != fabric.TrustDSCP {
		return "the class"
	}
	return "DSCP " + strings.Join(list, ", ")
}

// composition: the class keeps its treatment from NIC to NIC. That is of the
// fabric, and not of the port alone: a class that breaks elsewhere is broken.
func (x *prover) composition(class paths.Class, on fabric.ClassOn) proven {
	f := x.f
	c := &f.QoS[class.QoS].Classes[class.Index]
	p := newProof("composition", f, c)
	for i := range x.all.Breaks {
		b := &x.all.Breaks[i]
		if f.QoS[b.Class.QoS].Classes[b.Class.Index].Name != c.Name {
			continue
		}
		last := &b.Way[b.At]
		where := f.PortName(last.Out)
		if b.Ports > 1 {
			where += " and " + count(b.Ports-1, "more port")
		}
		p.fact(false, "", fmt.Sprintf("at %s, on the way from %s to %s: %s", where, f.PortName(b.Way[0].Out), f.PortName(b.Way[len(b.Way)-1].To), faultText(f, last)))
	}
	judged := count(x.all.Judged, "distinct hop") + " judged"
	switch {
	case x.all.Limit != nil:
		p.fact(false, "", fmt.Sprintf("following the classes takes %d steps or more, and the limit is %d", x.all.Limit.Need, x.all.Limit.Limit))
	case !p.Holds:
	case x.all.Always:
		p.fact(true, fmt.Sprintf("it is priority %d in queue %d here, and every hop between any two ports of a switch keeps it: so does every way, whatever fails (%s)", on.Priority, on.Queue, judged), "")
	default:
		p.fact(true, fmt.Sprintf("it is priority %d in queue %d here, and every way that the routing has keeps it (%s)", on.Priority, on.Queue, judged), "")
	}
	return p.proven
}

// marking: congestion shows in the marks before it shows in pauses.
func (x *prover) marking(id fabric.PortID, c *fabric.Class, on fabric.ClassOn) proven {
	p := newProof("ecn", x.f, c)
	e := &x.facts.Port(id).ECN[on.Queue&7]
	p.fact(e.On, fmt.Sprintf("queue %d marks from %d to %d B, up to %d %%", on.Queue, e.MinBytes, e.MaxBytes, e.Probability), fmt.Sprintf("queue %d does not mark", on.Queue))
	if e.On && c.Lossless && e.RelaxedBytes > 0 {
		p.fact(e.MinBytes < e.RelaxedBytes, fmt.Sprintf("that is before PFC pauses, at %d B with one queue fed by one port", e.RelaxedBytes), fmt.Sprintf("PFC pauses before that, at %d B", e.RelaxedBytes))
	}
	return p.proven
}

// mtu: the packets of the class fit.
func (x *prover) mtu(id fabric.PortID, c *fabric.Class) proven {
	p := newProof("mtu", x.f, c)
	need, have := x.facts.Port(id).NeedMTU, x.f.Ports[id].MTU
	if have == 0 {
		return p.proven
	}
	p.fact(need <= have, fmt.Sprintf("its packets take %d B, and the MTU is %d", need, have), fmt.Sprintf("its packets take %d B, and the MTU is %d", need, have))
	return p.proven
}

// text prints a property.
func (p *proven) text(w io.Writer) {
	word := map[string]string{"lossless": "is lossless here", "composition": "keeps its treatment on every way", "ecn": "is marked in time", "mtu": "fits"}[p.Property]
	if p.Holds {
		fmt.Fprintf(w, "  proven: class %s %s, because\n", p.Class, word)
	} else {
		fmt.Fprintf(w, "  not proven: that class %s %s\n", p.Class, word)
	}
	for _, b := range p.Because {
		fmt.Fprintf(w, "    - %s\n", b)
	}
}

// restsOn says which properties rest on an attribute, wherever it stands.
func restsOn(n schema.Attr) []string {
	switch n {
	case schema.ADSCP, schema.APriority, schema.ADSCPMap, schema.APCPMap, schema.ATrust, schema.ARemap:
		return []string{"composition", "deadlock"}
	case schema.AQueue, schema.AQueueMap, schema.APriorityGroup, schema.AGroupMap, schema.APFCQueueMap:
		return []string{"composition"}
	case schema.ALossless, schema.APFC:
		return []string{"composition", "deadlock", "buffers"}
	case schema.AECN, schema.ACongestion:
		return []string{"composition", "buffers"}
	case schema.AHeadroom, schema.ABuffer, schema.ACable, schema.ASpeed:
		return []string{"buffers"}
	case schema.AMTU:
		return []string{"composition", "mtu", "buffers"}
	case schema.ARDMAMTU:
		return []string{"composition", "mtu"}
	case schema.AQoS:
		return []string{"composition", "deadlock", "buffers", "mtu"}
	case schema.ASegment, schema.ASegments, schema.ANative, schema.AVLAN, schema.AVRF, schema.AGateway, schema.ALeak:
		return []string{"composition", "isolation", "reachability"}
	case schema.AAddress, schema.ASubnet:
		return []string{"composition", "deadlock", "reachability"}
	case schema.AExternal, schema.ATrusted, schema.AIsolated, schema.AAnnounce:
		return []string{"isolation"}
	case schema.ARepair, schema.ARouting, schema.AEnds:
		return []string{"composition", "deadlock", "reachability"}
	}
	return nil
}
