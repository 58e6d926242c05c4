package targets

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/intent"
)

// sound refuses what no device could be, whatever its platform: names that name
// nothing or two things, numbers outside the standards, words outside the
// model. The compiler writes none of it, but an intent may come from a file.
// What a platform has fewer of, or spells otherwise, is the matter of Limits.
func (c *check) sound() {
	s := &soundness{check: c, member: map[string]string{}, address: map[placed]string{}}
	d := c.device
	s.names()
	for i := range d.VLANs {
		s.vlan(d.VLANs[i].ID, path(intent.OfVLAN, fmt.Sprint(d.VLANs[i].ID), "id"))
	}
	for i := range d.Ports {
		s.port(&d.Ports[i])
	}
	for i := range d.LAGs {
		s.lag(&d.LAGs[i])
	}
	for i := range d.Ifaces {
		s.iface(&d.Ifaces[i])
	}
	for i := range d.QoS {
		s.qos(&d.QoS[i])
	}
}

type soundness struct {
	*check
	member  map[string]string // port -> LAG
	address map[placed]string // address -> interface
}

// placed is an address in a VRF.
type placed struct {
	vrf  string
	addr netip.Addr
}

func path(o intent.Object, name, field string) intent.Path {
	return intent.Path{Object: o, Name: name, Field: field}
}

// names: ports and LAGs share one space of names on every platform.
func (s *soundness) names() {
	d := s.device
	seen := map[string]intent.Path{}
	one := func(p intent.Path) {
		first, taken := seen[p.Name]
		switch {
		case p.Name == "":
			s.refuse(fmt.Sprintf("a %s has no name", p.Object), "name it", p)
		case taken:
			s.refuse(fmt.Sprintf("%s %q and %s %q have one name", first.Object, p.Name, p.Object, p.Name), "rename one of them", p, first)
		default:
			seen[p.Name] = p
		}
	}
	for i := range d.Ports {
		one(path(intent.OfPort, d.Ports[i].Name, "name"))
	}
	for i := range d.LAGs {
		one(path(intent.OfLAG, d.LAGs[i].Name, "name"))
	}
	clear(seen)
	for i := range d.QoS {
		one(path(intent.OfQoS, d.QoS[i].Name, "name"))
	}
}

// IEEE 802.1Q: 0 and 4095 are no VLANs.
const maxVLAN = 4094

func (s *soundness) vlan(id uint16, at intent.Path) {
	if id == 0 || id > maxVLAN {
		s.refuse(fmt.Sprintf("VLAN %d is not one of 1 to %d", id, maxVLAN), "use another VLAN", at)
	}
}

// vlans are those of a port or LAG.
func (s *soundness) vlans(o intent.Object, name string, native intent.Opt[uint16], tagged intent.Opt[[]uint16]) {
	if native.IsSet() {
		s.vlan(native.Value, path(o, name, "native"))
	}
	for i, id := range tagged.Or(nil) {
		at := path(o, name, "segments")
		s.vlan(id, at)
		if slices.Contains(tagged.Value[:i], id) || native.IsSet() && native.Value == id {
			s.refuse(fmt.Sprintf("%s %q is in VLAN %d twice", o, name, id), "name it once, tagged or untagged", at)
		}
	}
}

func (s *soundness) port(p *intent.Port) {
	at := func(field string) intent.Path { return path(intent.OfPort, p.Name, field) }
	s.hasQoS(p.QoS, at("qos"))
	s.vlans(intent.OfPort, p.Name, p.Native, p.Tagged)
	s.denies(p.Deny, at("deny"))
	if p.FEC.IsSet() && !slices.Contains([]intent.FEC{intent.FECNone, intent.FECRS, intent.FECFC, intent.FECAuto}, p.FEC.Value) {
		s.refuse(fmt.Sprintf("port %q has fec %q", p.Name, p.FEC.Value), `write "none", "rs", "fc" or "auto"`, at("fec"))
	}
	if p.Mbps.IsSet() && p.Mbps.Value == 0 {
		s.refuse(fmt.Sprintf("port %q has no speed", p.Name), "write its speed, or leave it out", at("speed"))
	}
	for _, h := range p.Headroom {
		if h.Group > 7 {
			s.refuse(fmt.Sprintf("port %q has headroom for group %d", p.Name, h.Group), "use a group from 0 to 7", at("headroom"))
		}
	}
	if p.NIC != nil {
		s.dcbx(p.NIC.DCBX, at("dcbx"))
	}
}

// denies refuses what names no traffic, and what names one twice.
func (s *soundness) denies(x intent.Opt[[]intent.RDMA], at intent.Path) {
	for i, kind := range x.Or(nil) {
		switch {
		case kind != intent.RoCEv2 && kind != intent.RoCEv1:
			s.refuse(fmt.Sprintf("%s %q denies %q", at.Object, at.Name, kind), `write "roce_v2" or "roce_v1"`, at)
		case slices.Contains(x.Value[:i], kind):
			s.refuse(fmt.Sprintf("%s %q denies %s twice", at.Object, at.Name, kind), "name it once", at)
		}
	}
}

// hasQoS refuses the name of a QoS value that the device does not have.
func (s *soundness) hasQoS(qos string, at intent.Path) {
	if qos != "" && s.device.QoSNamed(qos) == nil {
		s.refuse(fmt.Sprintf("%s %q names qos %q, which the device does not have", at.Object, at.Name, qos), "name a qos of the device", at)
	}
}

func (s *soundness) lag(g *intent.LAG) {
	at := func(field string) intent.Path { return path(intent.OfLAG, g.Name, field) }
	if g.Rate != "" && g.Rate != "fast" && g.Rate != "slow" {
		s.refuse(fmt.Sprintf("LAG %q has the rate %q", g.Name, g.Rate), `write "fast" or "slow"`, at("rate"))
	}
	if g.Rate != "" && g.Mode != "lacp" {
		s.refuse(fmt.Sprintf("LAG %q has an LACP rate and the mode %q", g.Name, g.Mode), `remove rate, or write mode = "lacp"`, at("rate"), at("mode"))
	}
	s.denies(g.Deny, at("deny"))
	for i, m := range g.Members {
		if p := s.device.PortNamed(m); p != nil && p.Deny.IsSet() {
			s.refuse(fmt.Sprintf("port %q drops RDMA and is in LAG %q", m, g.Name), "write it for the LAG: what comes in at a member comes in at the LAG", path(intent.OfPort, m, "deny"), at("members"))
		}
		switch owner := s.member[m]; {
		case s.device.PortNamed(m) == nil:
			s.refuse(fmt.Sprintf("LAG %q has the member %q, which the device does not have", g.Name, m), "name a port of the device", at("members"))
		case slices.Contains(g.Members[:i], m):
			s.refuse(fmt.Sprintf("LAG %q names its member %q twice", g.Name, m), "name it once", at("members"))
		case owner != "":
			s.refuse(fmt.Sprintf("port %q is in LAG %q and in LAG %q", m, owner, g.Name), "take it out of one of them", at("members"), path(intent.OfLAG, owner, "members"))
		}
		s.member[m] = g.Name
	}
	s.vlans(intent.OfLAG, g.Name, g.Native, g.Tagged)
}

func (s *soundness) iface(f *intent.Iface) {
	at := func(field string) intent.Path { return path(intent.OfIface, f.Name, field) }
	s.hasQoS(f.QoS, at("qos"))
	switch f.Kind {
	case intent.Routed, intent.Direct, intent.VLANDev, intent.VNIC:
		if s.device.PortNamed(f.On) == nil && s.device.LAGNamed(f.On) == nil {
			s.refuse(fmt.Sprintf("interface %q is on %q, which is no port or LAG of the device", f.Name, f.On), "name a port or LAG", at("on"))
		}
	}
	if f.VLAN != 0 {
		s.vlan(f.VLAN, at("segment"))
	}
	for _, a := range f.Addresses.Or(nil) {
		key := placed{f.VRF, a.Addr()}
		switch owner, taken := s.address[key]; {
		case !a.IsValid() || a.Addr().IsUnspecified() || a.Addr().IsMulticast() || a.Addr().Is4In6():
			s.refuse(fmt.Sprintf("interface %q has the address %s", f.Name, a), "write a unicast address with its prefix length, such as 10.0.0.1/24", at("address"))
		case taken:
			s.refuse(fmt.Sprintf("interfaces %q and %q have one address, %s", owner, f.Name, a.Addr()), "correct one of them",
				at("address"), path(intent.OfIface, owner, "address"))
		}
		s.address[key] = f.Name
	}
}

func (s *soundness) qos(q *intent.QoS) {
	at := func(field string) intent.Path { return path(intent.OfQoS, q.Name, field) }
	s.below(q, 8, q.DSCP.Value[:], "dscp_map", "DSCP %d goes to priority %d")
	s.below(q, 8, q.PCP.Value[:], "pcp_map", "PCP %d goes to priority %d")
	s.below(q, 8, q.TC.Value[:], "queue_map", "priority %d goes to queue %d")
	s.below(q, 8, q.Group.Value[:], "group_map", "priority %d goes to group %d")
	s.below(q, 8, q.PFCQueue.Value[:], "pfc_queue_map", "PFC for priority %d stops queue %d")
	s.below(q, 64, q.Rewrite.Value[:], "remap", "priority %d gets DSCP %d")
	s.sched(q)
	for queue, e := range q.ECN.Value {
		if e.On && (e.MaxBytes == 0 || e.MinBytes > e.MaxBytes || e.Probability > 100) {
			s.refuse(fmt.Sprintf("qos %q marks queue %d from %d to %d bytes at %d %%", q.Name, queue, e.MinBytes, e.MaxBytes, e.Probability),
				"write min at most max and a probability of at most 100", at(intent.OfQueue("ecn", queue)))
		}
	}
	if q.Pause.Or(false) && q.PFC.Or(0) != 0 {
		s.refuse(fmt.Sprintf("qos %q has global pause and PFC on %s, which exclude each other", q.Name, q.PFC.Value), "write global_pause = false", at("pause"), at("pfc"))
	}
	s.dcbx(q.DCBX, at("dcbx"))
	for _, m := range q.Marks {
		if m.Priority > 7 || m.DSCP.Or(0) > 63 {
			s.refuse(fmt.Sprintf("class %q of qos %q has priority %d and DSCP %d", m.Class, q.Name, m.Priority, m.DSCP.Or(0)),
				"use priorities 0 to 7 and DSCPs 0 to 63", at("class."+m.Class))
		}
	}
}

// below refuses the first entry of a map that leads to what does not exist.
func (s *soundness) below(q *intent.QoS, limit uint8, values []uint8, field, what string) {
	for key, v := range values {
		if v >= limit {
			s.refuse(fmt.Sprintf("in qos %q "+what, q.Name, key, v), fmt.Sprintf("use a number below %d", limit), path(intent.OfQoS, q.Name, field))
			return
		}
	}
}

// sched refuses shares that are none. What a share of an idle or strict queue
// would mean, nothing says.
func (s *soundness) sched(q *intent.QoS) {
	at, sum, shared := path(intent.OfQoS, q.Name, "ets"), 0, false
	for queue, x := range q.Sched.Value {
		sum += int(x.Percent)
		switch x.Kind {
		case intent.SchedIdle:
			if x.Percent != 0 {
				s.refuse(fmt.Sprintf("qos %q gives %d %% to queue %d, which is idle", q.Name, x.Percent, queue), "remove the share", at)
			}
		case intent.SchedStrict:
			if x.Percent != 0 {
				s.refuse(fmt.Sprintf("qos %q gives %d %% to queue %d, which is strict", q.Name, x.Percent, queue), "remove one of the two", at)
			}
		case intent.SchedETS:
			shared = true
			if x.Percent > 100 {
				s.refuse(fmt.Sprintf("qos %q gives queue %d %d %%", q.Name, queue, x.Percent), "give it 0 to 100 %", at)
			}
		default:
			s.refuse(fmt.Sprintf("qos %q serves queue %d by %q", q.Name, queue, x.Kind), "use bandwidth or strict", at)
		}
	}
	if q.Sched.IsSet() && shared && sum != 100 {
		s.refuse(fmt.Sprintf("the bandwidths of qos %q sum to %d %%", q.Name, sum), "make them sum to 100", at)
	}
}

func (s *soundness) dcbx(x intent.Opt[intent.DCBX], at intent.Path) {
	if !x.IsSet() {
		return
	}
	for _, w := range []struct {
		what, have string
		known      []string
	}{
		{"mode", x.Value.Mode, []string{"off", "advertise", "willing"}},
		{"version", x.Value.Version, []string{"", "ieee", "cee"}},
		{"owner", x.Value.Owner, []string{"", "os", "firmware", "lldpad"}},
	} {
		if !slices.Contains(w.known, w.have) {
			s.refuse(fmt.Sprintf("%s %q has the DCBX %s %q", at.Object, at.Name, w.what, w.have), "write one of "+join(w.known), at)
		}
	}
}
