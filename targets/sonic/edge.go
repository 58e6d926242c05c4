package sonic

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// What keeps RDMA out are two tables for each list of kinds that some port has:
// one for IPv4 and for EtherTypes, one for IPv6, as a table of the type L3 matches
// no IPv6 header. Nothing but the drops is in them: what no rule matches goes
// on. [sonic-acl.yang; sonic-swss orchagent/aclorch.cpp initDefaultTableTypes,
// alike from 202205 to master]
const (
	aclTable  = "ACL_TABLE"
	aclRule   = "ACL_RULE"
	edgeTable = prefix + "deny" // and the kinds
	edgeIPv6  = "_ipv6"
)

// rule is one entry, with the fields that say what it drops. A protocol is matched
// in IP packets only if the rule says so: acl-loader adds IP_TYPE for that, and to
// every rule of an IPv6 table IPV6ANY [sonic-utilities acl_loader/main.py,
// sonic-mgmt#23960], which the models of 202205 have in another case and aclorch
// reads in any. IPv6 tables take IP_PROTOCOL for the next header. [aclorch.cpp]
type rule struct {
	name, priority string
	match          map[string]string
}

var (
	ruleRoCEv2 = rule{"RULE_10", "9990", map[string]string{"IP_TYPE": "IP", "IP_PROTOCOL": "17", "L4_DST_PORT": "4791"}}
	ruleIPv6   = rule{"RULE_10", "9990", map[string]string{"IP_TYPE": "IPv6ANY", "IP_PROTOCOL": "17", "L4_DST_PORT": "4791"}}
	ruleRoCEv1 = rule{"RULE_20", "9980", map[string]string{"ETHER_TYPE": "0x8915"}} // ETHERTYPE_ROCE of acl-loader
)

// kinds are the lists of RDMA that a port can drop, nothing apart.
var kinds = [][]intent.RDMA{{intent.RoCEv2}, {intent.RoCEv1}, {intent.RoCEv2, intent.RoCEv1}}

// edgeName is the table for a list: rocec_deny_v2_v1.
func edgeName(list []intent.RDMA) string {
	name := edgeTable
	for _, k := range list {
		name += "_" + strings.TrimPrefix(string(k), "roce_")
	}
	return name
}

// bound is a port or LAG and what it drops.
type bound struct {
	name string
	deny []intent.RDMA
	from intent.Path
}

// edge lists the written ports and LAGs of which it is managed what they drop.
func edge(d *intent.Device) []bound {
	var list []bound
	for i := range d.Ports {
		if p := &d.Ports[i]; p.Deny.IsSet() && !p.Verify {
			list = append(list, bound{p.Name, p.Deny.Value, intent.Path{Object: intent.OfPort, Name: p.Name, Field: "deny"}})
		}
	}
	for i := range d.LAGs {
		if g := &d.LAGs[i]; g.Deny.IsSet() {
			list = append(list, bound{g.Name, g.Deny.Value, intent.Path{Object: intent.OfLAG, Name: g.Name, Field: "deny"}})
		}
	}
	return list
}

// edge writes the tables that ports are bound to.
func (b *builder) edge() {
	all := edge(b.device)
	for _, list := range kinds {
		var ports []string
		var from intent.Path
		for _, x := range all {
			if slices.Equal(sortedKinds(x.deny), list) {
				if ports == nil {
					from = x.from
				}
				ports = append(ports, x.name)
			}
		}
		if ports == nil {
			continue
		}
		name := edgeName(list)
		b.acl(name, "L3", ports, from)
		if slices.Contains(list, intent.RoCEv2) {
			b.drop(name, ruleRoCEv2, from)
			b.acl(name+edgeIPv6, "L3V6", ports, from)
			b.drop(name+edgeIPv6, ruleIPv6, from)
		}
		if slices.Contains(list, intent.RoCEv1) {
			b.drop(name, ruleRoCEv1, from)
		}
	}
}

// sortedKinds is a list in the order of kinds.
func sortedKinds(list []intent.RDMA) []intent.RDMA {
	return slices.SortedFunc(slices.Values(list), func(x, y intent.RDMA) int { return strings.Compare(string(y), string(x)) })
}

func (b *builder) acl(name, kind string, ports []string, from intent.Path) {
	r := b.normal.row(aclTable, name)
	r.set("policy_desc", "rocec: RDMA from outside", from)
	r.set("type", kind, from)
	r.set("stage", "ingress", from)
	r.list("ports", ports, from)
}

func (b *builder) drop(table string, x rule, from intent.Path) {
	r := b.normal.row(aclRule, table+"|"+x.name)
	r.set("PRIORITY", x.priority, from)
	r.set("PACKET_ACTION", "DROP", from)
	for field, value := range x.match {
		r.set(field, value, from)
	}
}

// edgeAbsences are the tables of lists that no port has any more.
func edgeAbsences(all []absence, d *intent.Device) []absence {
	managed := edge(d)
	if len(managed) == 0 {
		return all
	}
	for _, list := range kinds {
		if slices.ContainsFunc(managed, func(x bound) bool { return slices.Equal(sortedKinds(x.deny), list) }) {
			continue
		}
		for _, name := range []string{edgeName(list), edgeName(list) + edgeIPv6} {
			all = append(all, absence{table: aclRule, key: name + "|*", row: true, alone: true, from: managed[0].from}, absence{table: aclTable, key: name, row: true, from: managed[0].from})
		}
	}
	return all
}

// denied reads what a port drops as it comes in, by whichever tables: RoCEv2 only
// if it does so over IPv4 and IPv6.
func (p *parser) denied(port string) intent.Opt[[]intent.RDMA] {
	var v4, v6, v1 bool
	for _, table := range p.db.keys(aclTable) {
		if !slices.Contains(strings.Split(p.db.value(aclTable, table, "ports"), ","), port) || strings.EqualFold(p.db.value(aclTable, table, "stage"), "egress") {
			continue
		}
		kind := p.db.value(aclTable, table, "type")
		v4 = v4 || kind != "L3V6" && p.drops(table, ruleRoCEv2)
		v6 = v6 || kind != "L3" && (p.drops(table, ruleIPv6) || p.drops(table, ruleRoCEv2))
		v1 = v1 || p.drops(table, ruleRoCEv1)
	}
	list := []intent.RDMA{}
	if v4 && v6 {
		list = append(list, intent.RoCEv2)
	}
	if v1 {
		list = append(list, intent.RoCEv1)
	}
	return intent.Some(list)
}

// drops reports whether a table has a rule that drops just that, without another condition.
func (p *parser) drops(table string, x rule) bool {
	for key, fields := range p.db.rows(aclRule) {
		if owner, _, _ := strings.Cut(key, "|"); owner != table || text(fields["PACKET_ACTION"]) != "DROP" {
			continue
		}
		all := len(fields) == len(x.match)+2 // the action and PRIORITY
		for field, value := range x.match {
			all = all && strings.EqualFold(text(fields[field]), value)
		}
		if all {
			return true
		}
	}
	return false
}
