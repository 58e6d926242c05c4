package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce610 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE610", Name: "route_roce_v1", Severity: diag.Error,
		Title: "endpoints of a RoCE v1 class are in different broadcast domains",
		Why:   "RoCE v1 is an Ethernet frame without IP: a router drops it, and two nodes that only routers join never talk",
		Fix:   "use RoCE v2, or give the nodes a segment in common",
		Source: "InfiniBand Architecture Specification, Annex A16 (RoCE: EtherType 0x8915, no IP header); torvalds/linux " +
			"include/uapi/linux/if_ether.h, ETH_P_IBOE",
		Bad:  routedV1(`roce_v1`),
		Good: routedV1(`roce_v2`),
	},
	Run: routedRoCEv1,
}

// routedV1 is two hosts in two segments of one VRF with a transport.
func routedV1(transport string) string {
	return edit(twoNodes(``), `trust = "dscp"`, "trust = \"dscp\"\n  transport = \""+transport+"\"", `segment "storage" {
  vlan   = 100
  subnet = "10.100.0.0/24"`, `segment "far" {
  vlan    = 101
  subnet  = "10.101.0.0/24"
  gateway = "10.101.0.1"
  external_gateway = true
  qos     = qos.roce
  mtu     = 9000
}
segment "storage" {
  vlan    = 100
  subnet  = "10.100.0.0/24"
  gateway = "10.100.0.1"
  external_gateway = true`, `port "Ethernet4" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage`, `port "Ethernet4" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.far`, `untagged = segment.storage`, `untagged = each.key == "n2" ? segment.far : segment.storage`)
}

// v1Node is nodes whose NICs of a RoCE v1 class are in the same segments, by the
// first: any of them reaches another node by any of these.
type v1Node struct {
	nic fabric.PortID
	on  []fabric.SegmentID // ascending
}

// maxV1 bounds the kinds of nodes that are compared with each other.
const maxV1 = 2048

func routedRoCEv1(p *Pass) {
	f := p.Fabric
	v1 := make([]*fabric.Class, len(f.QoS))
	some := false
	for q := 1; q < len(f.QoS); q++ {
		v1[q] = p.v1Class(fabric.QoSID(q))
		some = some || v1[q] != nil
	}
	if !some {
		return
	}
	joined := p.routedTogether()
	nodes, seen := map[fabric.Str][]v1Node{}, map[fabric.Str]map[string]bool{}
	class := map[fabric.Str]*fabric.Class{}
	var order []fabric.Str
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Node {
			continue
		}
		for name, n := range p.v1On(d, v1, class) {
			slices.Sort(n.on)
			n.on = slices.Compact(n.on)
			if seen[name] == nil {
				seen[name], order = map[string]bool{}, append(order, name)
			}
			if key := fmt.Sprint(n.on); !seen[name][key] && len(nodes[name]) < maxV1 {
				seen[name][key], nodes[name] = true, append(nodes[name], n)
			}
		}
	}
	slices.SortFunc(order, func(a, b fabric.Str) int { return strings.Compare(f.Text(a), f.Text(b)) })
	for _, name := range order {
		p.routedV1(class[name], nodes[name], joined)
	}
}

// v1On are the NICs of a node that carry a RoCE v1 class, by its name.
func (p *Pass) v1On(d fabric.DeviceID, v1 []*fabric.Class, class map[fabric.Str]*fabric.Class) map[fabric.Str]v1Node {
	f := p.Fabric
	var found map[fabric.Str]v1Node
	first, end := f.PortsOf(d)
	for id := first; id < end; id++ {
		port := &f.Ports[id]
		c := v1[f.Profiles[port.Profile].QoS]
		if c == nil || port.Peer == 0 || port.Flags&fabric.ShutDown != 0 {
			continue
		}
		for _, s := range append(slices.Clone(f.VLANSets[port.VLANs]), port.Native) {
			if s == 0 || !f.SendsRDMA(id, s) {
				continue
			}
			if found == nil {
				found = map[fabric.Str]v1Node{}
			}
			n := found[c.Name]
			if n.nic == 0 {
				n.nic = id
			}
			n.on = append(n.on, s)
			found[c.Name] = n
			if class[c.Name] == nil {
				class[c.Name] = c
			}
		}
	}
	return found
}

// routedTogether numbers the segments that routers join: those of a VRF that have
// gateways, and those that a leak joins; 0 = by itself.
func (p *Pass) routedTogether() []int {
	f := p.Fabric
	set := make([]int, len(f.Segments))
	vrf := map[fabric.Str]int{}
	for s := 1; s < len(f.Segments); s++ {
		seg := &f.Segments[s]
		if !seg.Gateway.IsValid() && !seg.Tier {
			continue
		}
		if vrf[seg.VRF] == 0 {
			vrf[seg.VRF] = s
		}
		set[s] = vrf[seg.VRF]
	}
	for i := range f.Routings {
		for _, l := range f.Routings[i].Leaks {
			a, b := cmp.Or(set[l.From], int(l.From)), cmp.Or(set[l.To], int(l.To))
			set[l.From], set[l.To] = a, b
			for s := range set {
				if set[s] == b {
					set[s] = a
				}
			}
		}
	}
	return set
}

// routedV1 reports the first two nodes that have a class of RoCE v1 and reach each
// other by routers only.
func (p *Pass) routedV1(class *fabric.Class, nodes []v1Node, joined []int) {
	f := p.Fabric
	for i, b := range nodes {
		for _, a := range nodes[:i] {
			if slices.ContainsFunc(a.on, func(s fabric.SegmentID) bool { return slices.Contains(b.on, s) }) {
				continue
			}
			for _, s := range a.on {
				at := slices.IndexFunc(b.on, func(t fabric.SegmentID) bool { return joined[s] != 0 && joined[s] == joined[t] })
				if at < 0 {
					continue
				}
				o, t := &f.Segments[s], &f.Segments[b.on[at]]
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("%s in segment %s and %s in segment %s reach each other by routers, and class %s is RoCE v1, which no router passes on", f.PortName(a.nic), f.Text(o.Name), f.PortName(b.nic), f.Text(t.Name), f.Text(class.Name)),
					Address: f.PortAddress(b.nic), Concerns: []string{f.PortAddress(a.nic), f.Text(t.Address), f.Text(o.Address)},
					Labels: []diag.Label{f.Label(t.Decl, 0, schema.AGateway, ""), f.Label(o.Decl, 0, schema.AGateway, "the other"), f.Label(class.Decl, 0, schema.ATransport, "the class")}, Help: "use roce_v2, or put the endpoints into one segment",
				})
				return
			}
		}
	}
}

// v1Class is a class of a contract that carries RoCE v1, nil if there is none.
func (p *Pass) v1Class(id fabric.QoSID) *fabric.Class {
	q := &p.Fabric.QoS[id]
	for i := range q.Classes {
		c := &q.Classes[i]
		if c.Carries == fabric.CarriesRDMA && transportOf(q, c) == fabric.RoCEv1 {
			return c
		}
	}
	return nil
}
