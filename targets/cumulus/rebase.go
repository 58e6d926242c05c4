package cumulus

import (
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// rebase is Target.Rebase: the same set, after an unset of what the captured
// configuration has and the intent says is not there. A patch merges, so VLANs,
// addresses and members that have to go would stay otherwise.
func rebase(d *intent.Device, c targets.Captured, out *emit.Out) diag.List {
	captured, ok := c.Files[running]
	if !ok {
		return diag.List{{Summary: "there is no " + running, Help: "capture it with " + capture}}
	}
	doc := decode(running, captured, c.Label)
	if doc.list.HasErrors() {
		return doc.list
	}
	if savesOnly(d, c) {
		save(d, out)
		return doc.list
	}
	doc.device(d) // what is not understood
	set := build(d)
	spell(set, doc.root)
	goes := stale(d, doc, set)
	if len(goes.kids) > 0 && !doc.spare(d.Name, goes, doc.root, nil) {
		goes = &node{}
	}
	doc.splits(d)
	doc.fits(d.Name, spread(set), doc.root, nil)
	if !doc.list.HasErrors() {
		files(d, set, goes, out)
	}
	return doc.list
}

// stale is the tree of what goes. Set and unset never name one object, which
// NVUE would not take in one patch [NVUE CLI, Replace and Patch].
func stale(d *intent.Device, have *document, set *node) *node {
	s := &staleness{have: have.root, root: &node{}, want: spread(set), roce: isRoCE(d)}
	alone := map[string]bool{} // in no bridge: ports with an address and members of a bond
	for i := range d.LAGs {
		for _, m := range d.LAGs[i].Members {
			alone[m] = true
		}
	}
	for i := range d.Ifaces {
		if f := &d.Ifaces[i]; f.Kind == intent.Routed {
			alone[f.On] = true
		}
	}
	for i := range d.Ports {
		if p := &d.Ports[i]; !p.Verify {
			at := func(field string) intent.Path {
				return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
			}
			if alone[p.Name] {
				s.drop(at("segments"), "interface", p.Name, "bridge")
			} else {
				s.bridge(p.Name, p.Native, p.Tagged, at)
			}
			s.denials(p.Name, p.Deny, at("deny"))
			s.split(p, at("breakout"))
			s.quality(p.Name, d.QoSNamed(p.QoS))
		}
	}
	for i := range d.LAGs {
		g := &d.LAGs[i]
		at := func(field string) intent.Path {
			return intent.Path{Object: intent.OfLAG, Name: g.Name, Field: field}
		}
		s.bridge(g.Name, g.Native, g.Tagged, at)
		s.denials(g.Name, g.Deny, at("deny"))
		s.extra(at("members"), "interface", g.Name, "bond", "member")
	}
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		if f.Addresses.IsSet() && s.want.get("interface", place(f)) != nil {
			s.addresses(f)
			s.vrf(f)
		}
	}
	if d.MLAG != nil {
		s.extra(intent.Path{Object: intent.OfDevice, Field: "mlag"}, "mlag", "backup")
	}
	s.root.sort()
	if all := s.root.get("interface"); all != nil { // children before the split that makes them
		whole := func(n *node) int {
			if parentOf(n.key) == "" {
				return 1
			}
			return 0
		}
		slices.SortStableFunc(all.kids, func(a, b *node) int { return whole(a) - whole(b) })
	}
	return s.root
}

type staleness struct {
	have, want, root *node
	roce             bool
}

// spread is a tree of a set with every key of several interfaces taken apart.
func spread(set *node) *node {
	out := &node{}
	for _, k := range set.kids {
		if k.key != "interface" {
			out.kids = append(out.kids, k)
			continue
		}
		all := out.kid(k.from, k.key)
		for _, group := range k.kids {
			names, _ := expanded(group.key)
			for _, name := range names {
				one := all.kid(group.from, name)
				one.kids = append(one.kids, group.kids...)
			}
		}
	}
	return out
}

// drop unsets what stands under some keys, if it is there.
func (s *staleness) drop(from intent.Path, keys ...string) {
	if s.have.get(keys...) != nil {
		s.root.at(from, keys...)
	}
}

// extra unsets the items of a collection that the set does not have.
func (s *staleness) extra(from intent.Path, keys ...string) {
	for _, item := range s.have.items(keys...) {
		if path := append(slices.Clone(keys), item); s.want.get(path...) == nil {
			s.root.at(from, path...)
		}
	}
}

// bridge unsets the VLANs that a port or bond is not in, and the leaf of the
// other kind of port.
func (s *staleness) bridge(name string, native intent.Opt[uint16], tagged intent.Opt[[]uint16], at func(string) intent.Path) {
	if !tagged.IsSet() {
		return
	}
	domain := []string{"interface", name, "bridge", "domain", bridge}
	if s.want.get(domain...) == nil {
		goes := domain[:3]
		if s.others(name) {
			goes = domain
		}
		s.drop(at("segments"), goes...)
		return
	}
	s.extra(at("segments"), append(domain, "vlan")...)
	for _, leaf := range []string{"access", "untagged"} {
		if s.want.get(append(slices.Clone(domain), leaf)...) == nil {
			s.drop(at("native"), append(slices.Clone(domain), leaf)...)
		}
	}
}

// others reports whether a port has anything of another bridge.
func (s *staleness) others(name string) bool {
	own := s.have.get("interface", name, "bridge")
	return own != nil && (len(own.kids) != 1 || own.kids[0].key != "domain" || len(own.kids[0].kids) != 1)
}

// split unsets another split of the port that a first child belongs to, the split
// of a port that shall be whole, and what is said of the children that go with it.
// The user guide unsets the children, applies, and unsets the split [Switch Port
// Attributes, Remove a Breakout Port]; NVIDIA's cheat sheet lists both in that order
// with nothing applied between them [NVUE Cheat Sheet, Breakout Interfaces], and so
// does a patch.
func (s *staleness) split(p *intent.Port, at intent.Path) {
	count, _, ok := splitOf(p.Breakout)
	parent := parentOf(p.Name)
	switch {
	case ok:
		s.extra(at, "interface", parent, "link", "breakout")
	case parent == "":
		if parent = p.Name; exists(s.have, parent) {
			return
		}
		s.drop(at, "interface", parent, "link", "breakout")
	default:
		return // its first child says it
	}
	for _, name := range s.have.items("interface") {
		if _, child := portID(name); parentOf(name) == parent && child >= count {
			s.drop(at, "interface", name)
		}
	}
}

// addresses unsets those that an interface does not have, whatever family they
// stand under.
func (s *staleness) addresses(f *intent.Iface) {
	from := intent.Path{Object: intent.OfIface, Name: f.Name, Field: "address"}
	for _, family := range families {
		for _, key := range s.have.items("interface", place(f), family, "address") {
			a, err := netip.ParsePrefix(key)
			if err == nil && !slices.Contains(f.Addresses.Value, a) {
				s.root.at(from, "interface", place(f), family, "address", key)
			}
		}
	}
}

// vrf unsets the VRF of an interface that is in none.
func (s *staleness) vrf(f *intent.Iface) {
	if f.VRF != "" {
		return
	}
	from := intent.Path{Object: intent.OfIface, Name: f.Name, Field: "vrf"}
	for _, keys := range vrfs {
		if at := append([]string{"interface", place(f)}, keys...); s.have.value(at...) != "default" {
			s.drop(from, at...)
		}
	}
}

// quality unsets profiles that a port must not have: it says that the feature
// is off, or the RoCE mode says it all. Without a profile of its own a port has that
// of all ports, so this goes with it.
func (s *staleness) quality(port string, q *intent.QoS) {
	if q == nil {
		return
	}
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	for _, x := range []struct {
		kind, field string
		managed     bool
	}{
		{"congestion-control", "ecn", q.ECN.IsSet()},
		{"egress-scheduler", "ets", q.Sched.IsSet()},
		{"egress-shaper", "cap", q.Sched.IsSet()},
		{"mapping", "trust", q.Trust.IsSet()},
		{"pfc", "pfc", q.PFC.IsSet()},
		{"link-pause", "pause", q.Pause.IsSet() || q.PFC.Or(0) != 0},
	} {
		if x.managed && s.want.get("interface", port, "qos", x.kind) == nil {
			s.drop(at(x.field), "interface", port, "qos", x.kind)
			s.drop(at(x.field), "qos", x.kind, global)
		}
	}
	if q.Watchdog.IsSet() && s.want.get("interface", port, "qos", "pfc-watchdog") == nil {
		s.drop(at("watchdog"), "interface", port, "qos", "pfc-watchdog")
	}
	// There is one lossless pool at a time, and the pools share the memory: that of the
	// other mode goes [NVUE command reference, qos traffic-pool memory-percent]. The
	// shares of those that stay are not rocec's with the mode on.
	switch {
	case s.roce:
		s.drop(at("pfc"), "qos", "egress-queue-mapping")
		s.drop(at("pfc"), "qos", "traffic-pool", "default-lossless")
	case s.want.get("qos", "traffic-pool") != nil:
		s.drop(at("pfc"), "qos", "traffic-pool", "roce-lossless")
		s.drop(at("pfc"), "qos", "traffic-pool", "roce-lossy")
	case q.PFC.IsSet() && hasRoCE(s.have): // no port pauses [RoCE, Remove RoCE Configuration]
		s.drop(at("pfc"), "qos", "roce")
	}
}
