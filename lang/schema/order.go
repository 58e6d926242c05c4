package schema

import "strings"

// order is in which order the attributes of a block are written: what it stands for and how often, who it is, where it is, what it is
// made of, its link, its VLANs, its addresses, its contract, and what was seen of it. A new attribute is a word in one of the rows.
var order = strings.Fields(`
	for_each enabled count switches nodes nics planes pods ends from
	name description model os ifname role facing mgmt connection manage vars
	site rack slot cluster tenant trusted place at on pin
	ports node_ports up_ports down_ports pci mac adapter pcie rail plane pcie_switch gpu numa link_layer roce_mode pause_storm_timeout firmware driver vfs
	mode members rate hash_policy id domain evpn peer_link keepalive
	breakout admin speed fec autoneg cable external
	vlan segment untagged tagged
	loopback vrf subnet first address gateway external_gateway fabric_subnet addressing routing
	spare_ports hash arp_timeout mac_timeout
	carries qos peer isolated rdma mtu deny
	trust dscp priority queue priority_group lossless bandwidth strict max_rate match ecn congestion_control watchdog buffer
	marked_by transport rdma_mtu redundancy max_oversubscription latency_budget remap default
	dscp_map pcp_map queue_map group_map pfc pfc_queue_map global_pause ets dcbx headroom
	observed
`)

// ordered are the kinds of blocks whose attributes have an order: those that have an address, and what is in them. What was seen has
// none of its own: its fields follow those of its block.
var ordered = [KindCount]bool{
	QoS: true, Class: true, Segment: true, Switch: true, Port: true, LAG: true, Interface: true, Node: true, NIC: true, GPU: true, Bond: true,
	MLAG: true, Link: true, Topology: true, Leaf: true, Spine: true, Core: true,
}

var ranks = func() map[string]int {
	r := make(map[string]int, len(order))
	for i, word := range order {
		r[word] = i + 1
	}
	return r
}()

// Rank is the place of an attribute, by its name of now or before, among those of a block. It is 0 where the attributes of the kind
// are written in any order; what is unknown, or stands outside of `observed` where it is one of its fields, comes last.
func Rank(k Kind, name string) int {
	if !ordered[k] {
		return 0
	}
	if def := LookupFormer(k, name); def != nil {
		if name = def.Num.Name(); def.Observed {
			name = AObserved.Name()
		}
	}
	if r := ranks[name]; r > 0 {
		return r
	}
	return ranks[AObserved.Name()]
}
