package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/platform"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on paths that looks at the shape of the fabric: tiers
// and uplinks.

// rank is how far above the nodes a switch is: its tier, else 1 with a node on
// one of its ports and 2 without. Nodes are 0.
func (p *Pass) rank(d fabric.DeviceID) uint8 { return p.shared().ranks()[d] }

func (p *Pass) tierRanks() []uint8 {
	f := p.Fabric
	ranks := make([]uint8, len(f.Devices))
	untiered := false
	for id := range ranks {
		if dev := &f.Devices[id]; dev.Kind == fabric.Switch {
			ranks[id] = 2
			if dev.Tier != fabric.NoTier {
				ranks[id] = uint8(dev.Tier)
			} else {
				untiered = true
			}
		}
	}
	for id := 1; untiered && id < len(f.Links); id++ {
		l := &f.Links[id]
		a, b := f.Ports[l.A].Device, f.Ports[l.B].Device
		for _, ends := range [2][2]fabric.DeviceID{{a, b}, {b, a}} {
			if dev := &f.Devices[ends[0]]; dev.Kind == fabric.Switch && dev.Tier == fabric.NoTier && f.Devices[ends[1]].Kind == fabric.Node {
				ranks[ends[0]] = 1
			}
		}
	}
	return ranks
}

// tiered is a switch of a rank: its ports towards lower devices and those towards
// higher switches.
type tiered struct {
	device   fabric.DeviceID
	rank     uint8
	down, up []fabric.PortID
}

// eachLeaf calls visit for each switch with nodes. The slices are shared: visit
// reads them.
func (p *Pass) eachLeaf(visit func(d fabric.DeviceID, down, up []fabric.PortID)) {
	p.eachSwitch(1, visit)
}

// eachSwitch is eachLeaf for the switches of another rank, or of any: 0.
func (p *Pass) eachSwitch(rank uint8, visit func(d fabric.DeviceID, down, up []fabric.PortID)) {
	for _, s := range p.shared().switches() {
		if rank == 0 || s.rank == rank {
			visit(s.device, s.down, s.up)
		}
	}
}

func (p *Pass) tieredSwitches() []tiered {
	f, ranks := p.Fabric, p.shared().ranks()
	var list []tiered
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Switch {
			continue
		}
		own := ranks[d]
		first, end := f.PortsOf(d)
		down, up := make([]fabric.PortID, 0, end-first), []fabric.PortID(nil)
		for id := first; id < end; id++ {
			port := &f.Ports[id]
			if port.Peer == 0 || f.Links[port.Link].PeerLink != 0 || port.Flags&fabric.ShutDown != 0 {
				continue
			}
			switch to := ranks[f.Ports[port.Peer].Device]; {
			case to < own:
				down = append(down, id)
			case to > own:
				up = append(up, id)
			}
		}
		list = append(list, tiered{d, own, down, up})
	}
	return list
}

// twoSpines is twoNodes with two spines above tor; tor and spine are said of
// the switches, cables are the uplinks: from a port of tor to a spine and port.
func twoSpines(tor, spine, cables string) string {
	return edit(twoNodes(``), `os    = "sonic/202505"`, `os    = "sonic/202505"`+"\n  "+tor) + `switch "spine" {
  for_each = toset(["spine1", "spine2"])
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  ` + spine + `
}
link "up" {
  for_each = {
` + cables + `  }
  ends  = [switch.tor.port[each.key], switch.spine[each.value[0]].port[each.value[1]]]
  cable = { media = "dac", length = "3m" }
}
`
}

// uplink is a cable of twoSpines.
func uplink(tor, spine, port string) string {
	return "    " + tor + ` = ["` + spine + `", "` + port + "\"]\n"
}

var evenUplinks = uplink("Ethernet8", "spine1", "Ethernet0") + uplink("Ethernet12", "spine2", "Ethernet0")

var roce809 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE809", Name: "leaf_oversubscription", Severity: diag.Warning,
		Title: "a switch takes more from below than its uplinks carry and the class allows",
		Why: "what does not fit pauses or drops at the uplinks, of a leaf or of a spine alike: a training step takes as long " +
			"as its slowest flow",
		Fix: "add uplinks, or write the max_oversubscription that the class can live with",
		Source: "Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024 (1:1 below, 7:1 " +
			"above the cluster switches); Qian et al., Alibaba HPN, SIGCOMM 2024 (15:1 above the aggregation)",
		Formula: "oversubscription = sum of the speeds of ports to lower tiers (Gb/s) / sum of the speeds of ports to higher " +
			"tiers (Gb/s), for each switch that has both",
		Bad:  oversubscribed("1"),
		Good: oversubscribed("2"),
	},
	Run: oversubscription,
}

// oversubscribed is two nodes at 100G and one uplink at 100G, under a limit.
func oversubscribed(limit string) string {
	slow := "port \"Ethernet8\" {\n    speed = \"100G\"\n  }"
	return edit(strings.Replace(twoSpines(slow, slow, uplink("Ethernet8", "spine1", "Ethernet8")), `["spine1", "spine2"]`, `["spine1"]`, 1), `ecn       = "auto"`, "ecn       = \"auto\"\n    max_oversubscription = "+limit)
}

func oversubscription(p *Pass) {
	f := p.Fabric
	if !slices.ContainsFunc(f.QoS, func(q fabric.QoS) bool {
		return slices.ContainsFunc(q.Classes, func(c fabric.Class) bool { return c.MaxOversubscription.Den != 0 })
	}) {
		return
	}
	p.eachSwitch(0, func(d fabric.DeviceID, down, up []fabric.PortID) {
		limit := p.limit(down)
		from, to := p.capacity(down), p.capacity(up)
		unknown := slices.ContainsFunc(up, func(id fabric.PortID) bool { return f.Ports[id].Mbps == 0 })
		if limit == nil || unknown || to == 0 || from*uint64(limit.MaxOversubscription.Den) <= to*uint64(limit.MaxOversubscription.Num) {
			return
		}
		below, ports := "lower switches", "ports to lower switches"
		if p.rank(d) == 1 {
			below, ports = "nodes", "ports to nodes"
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s takes %s from %s and its uplinks carry %s: %s:1, and class %s allows %s:1",
				f.Text(f.Devices[d].Name), fabric.Speed(uint32(from)), below, fabric.Speed(uint32(to)), hundredths(from, to), f.Text(limit.Name), hundredths(uint64(limit.MaxOversubscription.Num), uint64(limit.MaxOversubscription.Den))),
			Address: f.Text(f.Devices[d].Address),
			Labels:  []diag.Label{f.DeclLabel(f.Devices[d].Decl, ""), f.Label(limit.Decl, 0, schema.AMaxOversubscription, "the class")},
			Notes:   []string{fmt.Sprintf("%s: %d, uplinks: %d", ports, len(down), len(up))}, Help: "add uplinks, or write the max_oversubscription that the class can live with",
		})
	})
}

// limit is the class of some ports that allows the least oversubscription, nil
// if none has a limit.
func (p *Pass) limit(ports []fabric.PortID) *fabric.Class {
	var least *fabric.Class
	var last fabric.QoSID
	for _, id := range ports {
		q := p.Fabric.Profiles[p.Fabric.Ports[id].Profile].QoS
		if q == last {
			continue
		}
		last = q
		for i := range p.Fabric.QoS[q].Classes {
			c := &p.Fabric.QoS[q].Classes[i]
			r := c.MaxOversubscription
			if r.Den != 0 && (least == nil || int64(r.Num)*int64(least.MaxOversubscription.Den) < int64(least.MaxOversubscription.Num)*int64(r.Den)) {
				least = c
			}
		}
	}
	return least
}

func (p *Pass) capacity(ports []fabric.PortID) (mbps uint64) {
	for _, id := range ports {
		mbps += uint64(p.Fabric.Ports[id].Mbps)
	}
	return mbps
}

// hundredths shows a ratio with at most two places, rounded up: what is just
// above a limit is not shown as the limit.
func hundredths(num, den uint64) string {
	n := (num*100 + den - 1) / den
	switch {
	case n%100 == 0:
		return fmt.Sprint(n / 100)
	case n%10 == 0:
		return fmt.Sprintf("%d.%d", n/100, n%100/10)
	}
	return fmt.Sprintf("%d.%02d", n/100, n%100)
}

var roce815 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE815", Name: "uplinks_unequal", Severity: diag.Warning,
		Title: "the uplinks of a leaf differ in speed, or in number from those of its peers",
		Why:   "flows are spread over uplinks as if all were equal: the slower one is full while others idle",
		Fix:   "make the uplinks equal",
		Source: "RFC 2992, Analysis of an Equal-Cost Multi-Path Algorithm, section 2: each next hop gets an equal share; IEEE " +
			"802.1AX-2020 clause 6.7.1: a link aggregation group has links of one rate",
		Bad:  unevenSpeed("200G"),
		Good: unevenSpeed("100G"),
	},
	Run: unequalUplinks,
}

// unevenSpeed is one uplink at 100G and one at another speed.
func unevenSpeed(speed string) string {
	return twoSpines("port \"Ethernet[8-12:4]\" {\n    speed = port.index == 0 ? \"100G\" : \""+speed+"\"\n  }",
		"port \"Ethernet0\" {\n    speed = self.name == \"spine1\" ? \"100G\" : \""+speed+"\"\n  }", evenUplinks)
}

func unequalUplinks(p *Pass) {
	f := p.Fabric
	var counts tallies[int, fabric.DeviceID]
	p.eachLeaf(func(d fabric.DeviceID, _, up []fabric.PortID) {
		up = p.toSpines(up)
		for _, id := range up {
			a, b := p.End(up[0]), p.End(id)
			if a.Port.Mbps == b.Port.Mbps || a.Port.Mbps == 0 || b.Port.Mbps == 0 {
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("uplinks of %s differ: %s runs at %s, %s at %s", f.Text(f.Devices[d].Name), p.Name(a), fabric.Speed(a.Port.Mbps), p.Name(b), fabric.Speed(b.Port.Mbps)),
				Address: f.Text(f.Devices[d].Address), Concerns: []string{f.PortAddress(a.ID), f.PortAddress(b.ID)},
				Labels: []diag.Label{p.AtPort(a, schema.ASpeed, ""), p.AtPort(b, schema.ASpeed, "the other")}, Help: "make the uplinks equal",
			})
			return
		}
		if least, most := p.perSpine(up); least.links != most.links || len(up) == 0 {
			return // ROCE823, or a switch without uplinks
		}
		counts.of(p.roleKey(&f.Devices[d])).add(len(up), d)
	})
	for _, t := range counts.list {
		uneven(t, func(d fabric.DeviceID, n int, most counted[int, fabric.DeviceID]) {
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s has %s, %d of %d switches of %s have %d", f.Text(f.Devices[d].Name), uplinks(n), len(most.rows), t.of, p.roleName(&f.Devices[d]), most.value), Address: f.Text(f.Devices[d].Address),
				Labels: []diag.Label{f.DeclLabel(f.Devices[d].Decl, "")}, Help: "cable it as its peers are",
			})
		}, func([]counted[int, fabric.DeviceID]) {}) // halves of a role with other uplinks are two designs
	}
}

func uplinks(n int) string {
	if n == 1 {
		return "1 uplink"
	}
	return fmt.Sprintf("%d uplinks", n)
}

// parallel is the links that a leaf has to one switch above it.
type parallel struct {
	spine fabric.DeviceID
	links int
}

// toSpines are the uplinks of a leaf that go to the most frequent role above it:
// a border switch beside the spines is another matter.
func (p *Pass) toSpines(up []fabric.PortID) []fabric.PortID {
	key := func(id fabric.PortID) alikeKey {
		return p.roleKey(&p.Fabric.Devices[p.Fabric.Ports[p.Fabric.Ports[id].Peer].Device])
	}
	var roles tally[alikeKey, fabric.PortID]
	for _, id := range up {
		roles.add(key(id), id)
	}
	if len(roles.values) < 2 {
		return up
	}
	return slices.MaxFunc(roles.values, func(a, b counted[alikeKey, fabric.PortID]) int { return cmp.Compare(len(a.rows), len(b.rows)) }).rows
}

// perSpine is the switch above that has the fewest of some uplinks, and the one
// that has the most; the first of several.
func (p *Pass) perSpine(up []fabric.PortID) (least, most parallel) {
	p.spines = p.spines[:0]
	for _, id := range up {
		d := p.Fabric.Ports[p.Fabric.Ports[id].Peer].Device
		i := slices.IndexFunc(p.spines, func(s parallel) bool { return s.spine == d })
		if i < 0 {
			i = len(p.spines)
			p.spines = append(p.spines, parallel{spine: d})
		}
		p.spines[i].links++
	}
	for i, s := range p.spines {
		if i == 0 || s.links < least.links {
			least = s
		}
		if s.links > most.links {
			most = s
		}
	}
	return least, most
}

var roce816 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE816", Name: "hash_polarised", Severity: diag.Warning,
		Title: "switches of consecutive tiers hash alike",
		Why: "a switch that hashes as the one below it did sees only flows with one result: all of them take one uplink, and the others idle. " +
			"Where nothing is written the system decides: SONiC gives each switch the seed of its type in DEVICE_METADATA, and its presets make every switch " +
			"a LeafRouter; Cumulus Linux gives each switch a random seed of its own, which does no harm",
		Fix:        "write another hash seed for each tier, or another function where the platform has no seed",
		Steps:      "one tier at a time, and of a tier one switch at a time",
		Interrupts: "flows that take another link and arrive out of order; on Cumulus Linux every port, as a new seed restarts switchd",
		Source: "Qian et al., Alibaba HPN, SIGCOMM 2024, on hash polarisation; sonic-net/sonic-buildimage dockers/docker-orchagent/switch.json.j2 (ecmp_hash_seed) " +
			"and src/sonic-config-engine/config_samples.py (type of the presets); Cumulus Linux user guide, Equal Cost Multipath Load Sharing, Unique Hash Seed",
		Bad:  threeTiers(``, ``),
		Good: threeTiers(`hash = { function = "CRC" }`, `hash = { function = "XOR" }`),
	},
	Run: hashPolarised,
}

// threeTiers is twoSpines with two switches above the spines; tor and spine are said
// of the lower switches.
func threeTiers(tor, spine string) string {
	return twoSpines(tor, "place = { tier = \"spine\" }\n  "+spine, evenUplinks) + `switch "core" {
  for_each = toset(["core1", "core2"])
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  place    = { tier = "core" }
}
link "core" {
  for_each = { Ethernet8 = "core1", Ethernet12 = "core2" }
  ends     = [switch.spine["spine1"].port[each.key], switch.core[each.value].port["Ethernet0"]]
  cable    = { media = "dac", length = "3m" }
}
link "core2" {
  for_each = { Ethernet8 = "core1", Ethernet12 = "core2" }
  ends     = [switch.spine["spine2"].port[each.key], switch.core[each.value].port["Ethernet4"]]
  cable    = { media = "dac", length = "3m" }
}
`
}

func hashPolarised(p *Pass) {
	f := p.Fabric
	type pair struct {
		low, high alikeKey
		hash      fabric.Hash
	}
	type met struct {
		low, high fabric.DeviceID
		links     int
	}
	at := map[pair]int{}
	var list []met
	alone := p.Accepting()
	var up, down []bool // by DeviceID: it chooses among several links
	for id := 1; id < len(f.Links); id++ {
		low, high := f.Ports[f.Links[id].A].Device, f.Ports[f.Links[id].B].Device
		h := p.hash(&f.Devices[low])
		if p.rank(low) == 0 || p.rank(low) == p.rank(high) || h != p.hash(&f.Devices[high]) {
			continue
		}
		if h == (fabric.Hash{}) && (f.Devices[low].OSName != f.Devices[high].OSName || platform.Of(f.Text(f.Devices[low].OSName)).Seed == "") {
			continue
		}
		if p.rank(low) > p.rank(high) {
			low, high = high, low
		}
		if up == nil {
			up, down = p.spreading()
		}
		// Links that are parallel are spread well by one seed too, or not, by the order of the next hops.
		if p.rank(low) == 0 || !up[low] || !up[high] && (h == (fabric.Hash{}) || !down[high]) {
			continue
		}
		k := pair{p.roleKey(&f.Devices[low]), p.roleKey(&f.Devices[high]), h}
		i, seen := at[k]
		if !seen || alone && (list[i].low != low || list[i].high != high) {
			i = len(list)
			at[k] = i
			list = append(list, met{low: low, high: high})
		}
		list[i].links++
	}
	for _, m := range list {
		low, high := &f.Devices[m.low], &f.Devices[m.high]
		how := "and neither has a seed"
		if low.Hash.SeedSet {
			how = fmt.Sprintf("with seed %d", low.Hash.Seed)
		}
		function := "in the same way"
		if low.Hash.Function != 0 {
			function = "by " + f.Text(low.Hash.Function)
		}
		summary := fmt.Sprintf("%s and %s above it both hash %s, %s", f.Text(low.Name), f.Text(high.Name), function, how)
		notes := []string{fmt.Sprintf("%d links join switches of the two tiers that hash alike", m.links)}
		help := "write another seed for each tier, or another function where the platform has no seed"
		if low.Hash == (fabric.Hash{}) || low.Hash != high.Hash {
			summary = fmt.Sprintf("nothing makes %s and %s above it hash differently: their system gives both one seed", f.Text(low.Name), f.Text(high.Name))
			notes = append([]string{platform.Of(f.Text(low.OSName)).Seed}, notes...)
			help = "write hash = { function = ... } with another function for each tier; where the types of the switches differ by tier already, say so in a comment that silences this"
		}
		p.Report(diag.Diagnostic{
			Summary: summary, Address: f.Text(low.Address), Concerns: []string{f.Text(high.Address)},
			Labels: []diag.Label{f.Label(low.Decl, low.Layers, schema.AHash, ""), f.Label(high.Decl, high.Layers, schema.AHash, "the tier above")},
			Notes:  notes, Help: help,
		})
	}
}

// hash is how a switch hashes: as written, where that is not what its system does by itself.
func (p *Pass) hash(dev *fabric.Device) fabric.Hash {
	h := dev.Hash
	if own := platform.Of(p.Fabric.Text(dev.OSName)).Hash; h.Function != 0 && p.Fabric.Text(h.Function) == own {
		h.Function = 0
	}
	return h
}

// spreading tells which switches choose among several links on the way up, and which among several to one
// lower switch.
func (p *Pass) spreading() (up, down []bool) {
	f := p.Fabric
	up, down = make([]bool, len(f.Devices)), make([]bool, len(f.Devices))
	last := make([]fabric.DeviceID, len(f.Devices)) // the switch that a lower one was last met from
	p.eachSwitch(0, func(d fabric.DeviceID, lower, higher []fabric.PortID) {
		up[d] = len(higher) > 1
		for _, id := range lower {
			to := f.Ports[f.Ports[id].Peer].Device
			down[d] = down[d] || f.Devices[to].Kind == fabric.Switch && last[to] == d
			last[to] = d
		}
	})
	return up, down
}

var roce823 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE823", Name: "spine_links", Severity: diag.Warning,
		Title:  "a leaf has more links to one spine than to another",
		Why:    "spines are equal to routing: the one with fewer links gets the same share of traffic, and its links are full first",
		Fix:    "make the counts equal",
		Source: "RFC 2992, Analysis of an Equal-Cost Multi-Path Algorithm, section 2: each next hop gets an equal share",
		Bad:    twoSpines(``, ``, evenUplinks+uplink("Ethernet16", "spine1", "Ethernet4")),
		Good:   twoSpines(``, ``, evenUplinks),
	},
	Run: spineLinks,
}

func spineLinks(p *Pass) {
	f := p.Fabric
	p.eachLeaf(func(d fabric.DeviceID, _, up []fabric.PortID) {
		up = p.toSpines(up)
		least, most := p.perSpine(up)
		if least.links == most.links {
			return
		}
		first := func(spine fabric.DeviceID) fabric.LinkID {
			i := slices.IndexFunc(up, func(id fabric.PortID) bool { return f.Ports[f.Ports[id].Peer].Device == spine })
			return f.Ports[up[i]].Link
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s has %d links to %s and %d to %s", f.Text(f.Devices[d].Name), most.links, f.Text(f.Devices[most.spine].Name), least.links, f.Text(f.Devices[least.spine].Name)),
			Address: f.Text(f.Devices[d].Address), Concerns: []string{f.Text(f.Devices[least.spine].Address), f.Text(f.Devices[most.spine].Address), f.LinkAddress(first(most.spine)), f.LinkAddress(first(least.spine))},
			Labels: []diag.Label{p.Fabric.LinkLabel(first(most.spine), schema.AEnds, ""), p.Fabric.LinkLabel(first(least.spine), schema.AEnds, "the fewer")}, Help: "make the counts equal, or give a switch that is no spine a role of its own",
		})
	})
}
