package cumulus

import (
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
)

// rocePort is the UDP port of RoCEv2.
const rocePort = 4791

// acl is what keeps RoCEv2 out: one list for each version of IP, of one rule
// that drops it. What no rule matches goes on. [Access Control List
// Configuration, Install and Manage ACL Rules with NVUE; the match on the port
// stands under udp since 5.7: What's New in Cumulus Linux 5.7]
//
// A port takes both. NVUE has its lists by name, nv show interface <id> acl is a
// table of them, and each rule becomes one of iptables or ip6tables, which switchd
// joins in one table, IPv6 first [How Rules Parse and Apply]. NVIDIA binds two
// lists inbound itself: acl-default-dos and acl-default-whitelist to the control
// plane [Cumulus Linux 5.9 to 5.15, Firewall Rules], and on NVOS, which runs NVUE
// too, ACL_MGMT_INBOUND_DEFAULT and ACL_MGMT_INBOUND_DEFAULT_IPV6 to one interface
// [NVOS 25.02 user manual, nv show acl]. No page shows two on a swp.
type acl struct{ name, kind string }

var acls = []acl{{prefix + "deny_ipv4", "ipv4"}, {prefix + "deny_ipv6", "ipv6"}}

const dropRule = "10"

// deniesRoCE reports whether a port or bond is to drop RoCEv2. RoCEv1 cannot be matched.
func deniesRoCE(x intent.Opt[[]intent.RDMA]) bool { return slices.Contains(x.Or(nil), intent.RoCEv2) }

// deny binds a port or bond to the lists, which are made with the first.
func (b *builder) deny(n *node, from intent.Path) {
	for _, a := range acls {
		n.at(from, "acl", a.name, "inbound")
		if b.root.get("acl", a.name) != nil {
			continue
		}
		list := b.root.at(from, "acl", a.name)
		list.set(word, a.kind, from, "type")
		list.set(word, "udp", from, "rule", dropRule, "match", "ip", "protocol")
		list.at(from, "rule", dropRule, "match", "ip", "udp", "dest-port", strconv.Itoa(rocePort))
		list.at(from, "rule", dropRule, "action", "deny")
	}
}

// denied reads what a port or bond drops as it comes in: RoCEv2 if one of its
// lists does so for IPv4 and one for IPv6.
func (p *parser) denied(n *node) intent.Opt[[]intent.RDMA] {
	drops := map[string]bool{}
	for _, name := range n.items("acl") {
		if n.get("acl", name, "inbound") == nil {
			continue
		}
		list := p.root.get("acl", name)
		for _, id := range list.items("rule") {
			if dropsRoCE(list.get("rule", id)) {
				drops[list.value("type")] = true
			}
		}
	}
	if drops["ipv4"] && drops["ipv6"] {
		return intent.Some([]intent.RDMA{intent.RoCEv2})
	}
	return intent.Some([]intent.RDMA{})
}

// dropsRoCE reports whether a rule drops all of RoCEv2, without another condition.
func dropsRoCE(r *node) bool {
	match := r.get("match", "ip")
	ports := match.items("udp", "dest-port")
	return r.get("action", "deny") != nil && match.value("protocol") == "udp" && len(ports) == 1 && ports[0] == strconv.Itoa(rocePort) &&
		len(r.items("match")) == 1 && len(match.kids) == 2 && len(match.items("udp")) == 1
}

// denials unsets the lists that a port or bond is bound to and shall not be.
func (s *staleness) denials(name string, x intent.Opt[[]intent.RDMA], from intent.Path) {
	if !x.IsSet() || deniesRoCE(x) {
		return
	}
	for _, a := range acls {
		s.drop(from, "interface", name, "acl", a.name)
	}
}
