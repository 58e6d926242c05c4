package lang

import (
	"slices"

	"github.com/rocec/rocec/lang/schema"
)

// foreignBlocks are words that other tools have for blocks, and what to write here, by where they stand: at the top of a file, or in a block. The
// first row that fits counts.
var foreignBlocks = []struct {
	words []string
	in    []schema.Kind // nil: anywhere
	help  string
}{
	{[]string{"host", "server", "machine", "hypervisor", "compute"}, nil, "write `node \"NAME\" { ... }` at the top of a file"},
	{[]string{"vlan", "bridge_domain", "vxlan", "subnet"}, nil, "write `segment \"NAME\" { vlan = 100 }` at the top of a file"},
	{[]string{"network"}, nil, "a VLAN with its subnet is `segment \"NAME\" { ... }` at the top of a file"},
	{[]string{"router", "tor", "leaf_switch"}, nil, "write `switch \"NAME\" { ... }` at the top of a file"},
	{[]string{"device"}, nil, "write `switch \"NAME\" { ... }` or `node \"NAME\" { ... }` at the top of a file"},
	{[]string{"resource", "data"}, nil, "blocks have no types of resources: write `node \"NAME\" { ... }`, `switch \"NAME\" { ... }` or another block of the language"},
	{[]string{"provider", "terraform"}, nil, "there are no providers: settings of the configuration as a whole stand in `rocec { ... }`"},
	{[]string{"dynamic"}, nil, "write for_each in the block itself"},
	{[]string{"local"}, []schema.Kind{schema.None}, "write `locals { ... }`"},
	{[]string{"vars", "variables"}, []schema.Kind{schema.None}, "write `variable \"NAME\" { ... }`, one for each"},
	{[]string{"interface"}, []schema.Kind{schema.None, schema.Leaf, schema.Spine, schema.Core}, "the port of a switch is `port`, the adapter of a host `nic`, inside of their block"},
	{[]string{"port", "ethernet"}, []schema.Kind{schema.None}, "write it inside of its switch: `switch \"NAME\" { port \"PORT\" { ... } }`"},
	{[]string{"nic", "adapter", "hca"}, []schema.Kind{schema.None}, "write it inside of its host: `node \"NAME\" { nic \"NIC\" { ... } }`"},
	{[]string{"port", "ethernet", "adapter", "hca", "nics"}, []schema.Kind{schema.Node}, "the adapter of a host is `nic \"NAME\" { ... }`"},
	{[]string{"nic", "ethernet", "ports"}, []schema.Kind{schema.Switch, schema.Leaf, schema.Spine, schema.Core}, "the port of a switch is `port \"NAME\" { ... }`"},
	{[]string{"bridge", "vswitch", "team", "bonding"}, []schema.Kind{schema.Node}, "adapters that are joined are `bond \"NAME\" { members = ... mode = ... }`, a SET team with mode = \"set\""},
	{[]string{"bridge"}, nil, "bridging follows from what ports carry: write tagged and untagged on them"},
	{[]string{"bond", "port_channel", "portchannel", "port-channel", "team", "trunk", "ae"}, []schema.Kind{schema.Switch}, "links of a switch that are joined are `lag \"NAME\" { members = ... }`"},
	{[]string{"lag", "port_channel"}, []schema.Kind{schema.Node}, "adapters that are joined are `bond \"NAME\" { members = ... mode = ... }`"},
	{[]string{"bond", "lag"}, []schema.Kind{schema.None}, "write `bond` inside of a node, and `lag` inside of a switch"},
	{[]string{"svi", "vlan_interface"}, nil, "write `interface \"NAME\" { on = segment.NAME }` inside of the switch"},
	{[]string{"cable", "connection_to", "wire"}, []schema.Kind{schema.None}, "write `link \"NAME\" { ends = [...] }`"},
	{[]string{"fabric", "pod", "clos"}, []schema.Kind{schema.None}, "a fabric that is generated is `topology \"leaf_spine\" \"NAME\" { ... }`"},
	{[]string{"policy", "qos_policy", "service_policy", "dcb"}, nil, "write `qos \"NAME\" { ... }` at the top of a file, with a `class` for each kind of traffic"},
	{[]string{"traffic_class", "queue", "priority_group", "class_map", "tc"}, nil, "write `class \"NAME\" { ... }` inside of a `qos`"},
	{[]string{"vpc", "clag"}, nil, "two switches that share LAGs are `mlag \"NAME\" { switches = [...] }`"},
}

// foreignBlock is what to write in place of a block of another tool, "" if its word is of none.
func foreignBlock(word string, in schema.Kind) string {
	for _, f := range foreignBlocks {
		if slices.Contains(f.words, word) && (f.in == nil || slices.Contains(f.in, in)) {
			return f.help
		}
	}
	return ""
}

// foreignAttrs are words that other tools have for attributes, and ours. One is offered where the block takes it.
var foreignAttrs = []struct {
	words []string
	ours  string
}{
	{[]string{"untagged_vlan", "access_vlan", "native_vlan", "pvid", "access", "untagged_vlans", "switchport_access_vlan"}, "untagged"},
	{[]string{"tagged_vlan", "tagged_vlans", "trunk", "trunk_vlans", "allowed_vlans", "vlans", "trunk_allowed_vlan", "vlan_members"}, "tagged"},
	{[]string{"vlan_id", "vlan-id", "vid", "tag"}, "vlan"},
	{[]string{"vlan", "vlan_id"}, "untagged"},
	{[]string{"max-rate", "maxrate", "rate_limit", "shaper", "shape", "pir", "max_bandwidth"}, "max_rate"},
	{[]string{"weight", "share", "bandwidth_percent", "ets_share"}, "bandwidth"},
	{[]string{"pg", "priority-group", "buffer_group"}, "priority_group"},
	{[]string{"no_drop", "no-drop", "nodrop", "pause_no_drop"}, "lossless"},
	{[]string{"tc", "traffic_class", "egress_queue"}, "queue"},
	{[]string{"cos", "pcp", "dot1p"}, "priority"},
	{[]string{"wred", "ecn_profile", "red"}, "ecn"},
	{[]string{"dscps", "code_points", "codepoints"}, "dscp"},
	{[]string{"flow_control", "flowcontrol", "link_pause", "pause_frames"}, "global_pause"},
	{[]string{"priority_flow_control", "pfc_enable", "pfc_priorities"}, "pfc"},
	{[]string{"interface_name", "if_name", "iface", "netdev", "device_name", "os_name"}, "ifname"},
	{[]string{"mac_address", "hwaddr"}, "mac"},
	{[]string{"pci_address", "bus", "bdf"}, "pci"},
	{[]string{"ip", "ips", "ip_address", "ipv4", "addresses", "primary_ip", "primary_ip4"}, "address"},
	{[]string{"mgmt_ip", "management", "management_ip", "oob", "oob_ip"}, "mgmt"},
	{[]string{"platform", "nos", "operating_system", "os_version"}, "os"},
	{[]string{"device_type", "hw", "hardware", "hwsku", "type"}, "model"},
	{[]string{"device_role", "function"}, "role"},
	{[]string{"comment", "comments", "desc", "alias", "label"}, "description"},
	{[]string{"auto_negotiation", "auto_neg", "autonegotiation"}, "autoneg"},
	{[]string{"xmit_hash_policy", "transmit_hash_policy", "lag_hash"}, "hash_policy"},
	{[]string{"lacp_rate"}, "rate"},
	{[]string{"interfaces", "slaves", "ports"}, "members"},
	{[]string{"peer", "connected_to", "connects_to", "switch_port", "uplink"}, "at"},
	{[]string{"default_gateway", "gw", "router"}, "gateway"},
	{[]string{"prefix", "cidr", "ip_range"}, "subnet"},
	{[]string{"port_type", "usage", "port_role"}, "facing"},
	{[]string{"rack_name", "rack_id"}, "rack"},
	{[]string{"u", "unit", "host_number"}, "slot"},
	{[]string{"admin_status", "admin_state", "shutdown"}, "admin"},
	{[]string{"admin_status", "admin_state", "shutdown", "enable"}, "enabled"},
}

// foreignAttr is what to write in place of an attribute of another tool, of those that a block takes, "" if its word is of none.
func foreignAttr(word string, takes []string) string {
	for _, f := range foreignAttrs {
		if slices.Contains(f.words, word) && slices.Contains(takes, f.ours) && !slices.Contains(takes, word) {
			return "it is called `" + f.ours + "` here"
		}
	}
	return ""
}
