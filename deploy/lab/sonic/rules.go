package sonic

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// rule is what the models say of several fields or rows at once, in a must, a when or a max-elements.
type rule struct {
	table, key string // the key where the table has rows of several forms
	at         string // the field or the choice and case that it is about, "" for the row
	when       bool   // that it may be there at all
	says       string
	holds      func(entry) bool
}

// text is a field or a part of the key, or what the model has in its place.
func (e entry) text(field string) string {
	if i := slices.Index(e.form.key, field); i >= 0 {
		return e.parts[i]
	}
	if s, is := e.row[field].(string); is || e.form.fields[field] == nil {
		return s
	}
	return e.form.fields[field][0].fallback
}

// number is a field as a number; none compares with nothing, as in XPath.
func (e entry) number(field string) float64 { return number(e.text(field)) }

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func (e entry) has(field string) bool { return e.row[field] != nil }

// device is a field of the switch itself.
func (e entry) device(field string) string { return e.db.text("DEVICE_METADATA", "localhost", field) }

// aclType is the type of the table of a rule for traffic.
func (e entry) aclType() string { return e.db.text("ACL_TABLE", e.parts[0], "type") }

// any tells whether rows of a table are such.
func (e entry) any(table string, such func(key string, row map[string]any) bool) bool {
	for key, row := range e.db[table] {
		if such(key, row) {
			return true
		}
	}
	return false
}

// alone: "all" stands for all others.
func alone(field string) func(entry) bool {
	return func(e entry) bool {
		list, _ := e.values("commas", field)
		return len(list) <= 1 || !slices.Contains(list, "all")
	}
}

// atLeast compares two numbers, of which both have to be there.
func atLeast(field, other string) func(entry) bool {
	return func(e entry) bool { return e.number(field) >= e.number(other) }
}

func positive(field string) func(entry) bool {
	return func(e entry) bool { return e.number(field) > 0 }
}

// protocol: what a rule says of addresses or ICMP has to be of the protocol that it says.
func protocol(types ...string) func(entry) bool {
	return func(e entry) bool { return !e.has("IP_TYPE") || slices.Contains(types, e.text("IP_TYPE")) }
}

var (
	protocol4 = protocol("ANY", "IP", "IPV4", "IPv4ANY", "IPV4ANY", "ARP")
	protocol6 = protocol("ANY", "IP", "IPV6", "IPv6ANY", "IPV6ANY")
)

func family(e entry) bool {
	return e.text("family") == map[bool]string{true: "IPv6", false: "IPv4"}[strings.Contains(e.parts[1], ":")]
}

func layer2(e entry) bool { return e.aclType() == "L2" }

func voq(e entry) bool { return e.device("switch_type") == "voq" }

func notVOQ(e entry) bool { return !voq(e) }

func onPort(e entry) bool { return e.key != "GLOBAL" }

func onAll(e entry) bool { return e.key == "GLOBAL" }

// polled: the watchdog cannot be faster than it polls.
func polled(field string) func(entry) bool {
	return func(e entry) bool {
		all := e.db["PFC_WD"]["GLOBAL"]
		return all == nil || e.number(field) >= number(e.db.text("PFC_WD", "GLOBAL", "POLL_INTERVAL"))
	}
}

// notBelowMin: a colour is marked for certain where it begins to be, or later.
func notBelowMin(colour string) rule {
	least, most := colour+"_min_threshold", colour+"_max_threshold"
	return rule{"WRED_PROFILE", "", most, false, "it is " + least + " or more", atLeast(most, least)}
}

const (
	address  = "name|ip-prefix"
	voqQueue = "hostname|asic_name|ifname|qindex"
)

// rules are all of the tables of models.csv, in the order of the models.
var rules = []rule{
	{"ACL_RULE", "", "", false, "a rule of a CTRLPLANE table has a PACKET_ACTION", func(e entry) bool {
		return e.aclType() != "CTRLPLANE" || e.has("PACKET_ACTION")
	}},
	{"ACL_RULE", "", "", false, "the type of the table matches TCP_FLAGS", func(e entry) bool {
		matches, _ := e.db["ACL_TABLE_TYPE"][e.aclType()]["MATCHES"].([]any)
		return !e.has("TCP_FLAGS") || slices.Contains(matches, any("TCP_FLAGS"))
	}},
	{"ACL_RULE", "", "src_dst_address/l2_src_dst_address", true, "the table is of type L2", layer2},
	{"ACL_RULE", "", "src_dst_address/ip4_prefix", true, "IP_TYPE takes IPv4", protocol4},
	{"ACL_RULE", "", "src_dst_address/ip6_prefix", true, "IP_TYPE takes IPv6", protocol6},
	{"ACL_RULE", "", "icmp/icmp4", true, "IP_TYPE takes IPv4", protocol4},
	{"ACL_RULE", "", "icmp/icmp6", true, "IP_TYPE takes IPv6", protocol6},
	{"ACL_RULE", "", "PCP", true, "the table is of type L2", layer2},
	{"ACL_RULE", "", "DEI", true, "the table is of type L2", layer2},
	{"ACL_TABLE", "", "", false, "a CTRLPLANE table has services", func(e entry) bool {
		list, _ := e.values("list", "services")
		return e.text("type") != "CTRLPLANE" || len(list) > 0
	}},
	{"BUFFER_POOL", "", "percentage", false, "there is no size beside it", func(e entry) bool { return !e.has("size") }},
	{"BUFFER_POOL", "", "percentage", false, "the buffer model is dynamic", func(e entry) bool {
		return e.device("buffer_model") == "dynamic"
	}},
	{"BUFFER_QUEUE", "port|qindex", "", true, "switch_type is not voq", notVOQ},
	{"BUFFER_QUEUE", "hostname|asic_name|port|qindex", "", true, "switch_type is voq", voq},
	{"INTERFACE", address, "name", false, "INTERFACE has a row of the port alone", func(e entry) bool {
		return e.db["INTERFACE"][e.parts[0]] != nil
	}},
	{"INTERFACE", address, "family", false, "it is that of the address", family},
	{"LOOPBACK_INTERFACE", address, "family", false, "it is that of the address", family},
	{"MCLAG_DOMAIN", "", "", false, "there is one domain at most", func(e entry) bool { return len(e.db["MCLAG_DOMAIN"]) <= 1 }},
	{"MCLAG_DOMAIN", "", "", false, "session_timeout is three times keepalive_interval or more", func(e entry) bool {
		return e.number("keepalive_interval")*3 <= e.number("session_timeout")
	}},
	{"MCLAG_UNIQUE_IP", "", "", false, "there is an MCLAG_DOMAIN", func(e entry) bool { return len(e.db["MCLAG_DOMAIN"]) > 0 }},
	{"PFC_WD", "", "action", false, "it is a port's, not GLOBAL's", onPort},
	{"PFC_WD", "", "detection_time", false, "it is a port's, not GLOBAL's", onPort},
	{"PFC_WD", "", "detection_time", false, "it is POLL_INTERVAL or more", polled("detection_time")},
	{"PFC_WD", "", "restoration_time", false, "it is a port's, not GLOBAL's", onPort},
	{"PFC_WD", "", "restoration_time", false, "it is POLL_INTERVAL or more", polled("restoration_time")},
	{"PFC_WD", "", "pfc_stat_history", false, "it is a port's, not GLOBAL's", onPort},
	{"PFC_WD", "", "POLL_INTERVAL", false, "it is GLOBAL's, not a port's", onAll},
	{"PORT", "", "", false, "all stands alone in adv_speeds", alone("adv_speeds")},
	{"PORT", "", "", false, "all stands alone in adv_interface_types", alone("adv_interface_types")},
	{"PORT", "", "lanes", true, "the switch is no part of a chassis", func(e entry) bool {
		return e.device("asic_name") != "" || !slices.Contains([]string{"voq", "chassis-packet", "fabric"}, e.device("switch_type")) &&
			!slices.Contains([]string{"msft_four_asic_vs", "msft_multi_asic_vs"}, e.device("hwsku"))
	}},
	{"QUEUE", "ifname|qindex", "", true, "switch_type is not voq", notVOQ},
	{"QUEUE", voqQueue, "", true, "switch_type is voq", voq},
	{"QUEUE", voqQueue, "ifname", false, "it is a port of this switch and ASIC", func(e entry) bool {
		return e.parts[0] != e.device("hostname") || e.parts[1] != e.device("asic_name") || e.db["PORT"][e.parts[2]] != nil
	}},
	{"SCHEDULER", "", "pir", false, "there is a cir above 0", positive("cir")},
	{"SCHEDULER", "", "pir", false, "it is cir or more", atLeast("pir", "cir")},
	{"SCHEDULER", "", "cbs", false, "there is a cir above 0", positive("cir")},
	{"SCHEDULER", "", "pbs", false, "there is a pir above 0", positive("pir")},
	{"SCHEDULER", "", "pbs", false, "it is cbs or more", func(e entry) bool { return !e.has("cbs") || e.number("pbs") >= e.number("cbs") }},
	{"VLAN", "", "vlanid", false, "it is the number of the name", func(e entry) bool { return e.key == "Vlan"+e.text("vlanid") }},
	{"VLAN_INTERFACE", "name", "static_anycast_gateway", false, "SAG GLOBAL has a gateway_mac", func(e entry) bool {
		return e.text("static_anycast_gateway") == "false" || e.db.text("SAG", "GLOBAL", "gateway_mac") != ""
	}},
	{"VLAN_INTERFACE", address, "name", false, "VLAN_INTERFACE has a row of the VLAN alone", func(e entry) bool {
		return e.db["VLAN_INTERFACE"][e.parts[0]] != nil
	}},
	{"VLAN_INTERFACE", address, "family", false, "it is that of the address", family},
	{"VLAN_MEMBER", "", "port", false, "no mirror session sends to it", func(e entry) bool {
		return !e.any("MIRROR_SESSION", func(_ string, row map[string]any) bool { return row["dst_port"] == e.parts[1] })
	}},
	{"VLAN_MEMBER", "", "port", false, "it is no member of a port channel", func(e entry) bool {
		return !e.any("PORTCHANNEL_MEMBER", func(key string, _ map[string]any) bool { return strings.HasSuffix(key, "|"+e.parts[1]) })
	}},
	{"VLAN_MEMBER", "", "port", false, "it is no router interface", func(e entry) bool { return e.db["INTERFACE"][e.parts[1]] == nil }},
	{"VLAN_MEMBER", "", "port", false, "it is untagged in one VLAN at most", func(e entry) bool {
		n := 0
		e.any("VLAN_MEMBER", func(key string, row map[string]any) bool {
			if strings.HasSuffix(key, "|"+e.parts[1]) && row["tagging_mode"] == "untagged" {
				n++
			}
			return n > 1
		})
		return n <= 1
	}},
	notBelowMin("yellow"),
	notBelowMin("green"),
	notBelowMin("red"),
}
