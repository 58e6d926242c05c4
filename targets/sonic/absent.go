package sonic

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// absence is what must not stand in ConfigDB: a managed setting whose value is
// none. Key and Value may hold one "*" for anything. A row or field that the
// wanted configuration has is never meant.
type absence struct {
	table string
	key   string
	field string   // "" = the row, whatever it holds
	value string   // of the field
	row   bool     // the row goes, not the field alone
	keep  []string // keys that may stay
	alone bool     // what is wanted excludes any such row, also one that cannot be read
	from  intent.Path
}

// absences lists them. A merge cannot remove: the fragments stop before such
// rows, a patch takes them out.
func absences(d *intent.Device) []absence {
	const perPort = 20 // most have fewer
	all := make([]absence, 0, perPort*len(d.Ports))
	for i := range d.Ports {
		if p := &d.Ports[i]; !p.Verify {
			all = portAbsences(all, d, p)
		}
	}
	if familyOf(d.ASIC) == broadcom && globalMap(d) == nil {
		// Ports that trust PCP have no DSCP map, and the switch's own would take its place.
		if p := pcpPort(d); p != nil {
			all = append(all, absence{
				table: "PORT_QOS_MAP", key: "global", field: "dscp_to_tc_map", value: "*",
				from: intent.Path{Object: intent.OfQoS, Name: p.QoS, Field: "trust"},
			})
		}
	}
	for i := range d.LAGs {
		g := &d.LAGs[i]
		at := func(field string) intent.Path {
			return intent.Path{Object: intent.OfLAG, Name: g.Name, Field: field}
		}
		all = append(all, absence{table: "PORTCHANNEL_MEMBER", key: g.Name + "|*", row: true, from: at("members")})
		for _, m := range g.Members {
			all = notBridged(notRouted(all, m, at("members")), m, at("members"))
			all = append(all, absence{table: "PORTCHANNEL_MEMBER", key: "*|" + m, row: true, alone: true, from: at("members")})
		}
		all = vlanAbsences(all, g.Name, g.Native, g.Tagged, at)
		if d.MLAG != nil {
			all = append(all, absence{table: "MCLAG_INTERFACE", key: decimal(d.MLAG.Domain) + "|" + g.Name, row: true, from: at("mlag")})
		}
	}
	all = edgeAbsences(all, d)
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		table, name := place(f)
		if f.Kind == intent.Routed {
			all = notBridged(all, name, intent.Path{Object: intent.OfIface, Name: f.Name, Field: "on"})
		}
		if f.Addresses.IsSet() {
			all = append(all, absence{table: table, key: name + "|*", row: true, from: intent.Path{Object: intent.OfIface, Name: f.Name, Field: "address"}})
		}
		if inDefault(f) {
			all = append(all, absence{table: table, key: name, field: "vrf_name", value: "*", from: intent.Path{Object: intent.OfIface, Name: f.Name, Field: "vrf"}})
		}
	}
	return all
}

// notYet lets stay what a maintenance window will replace: until then such a row
// is in no fragment that would say that it is wanted.
func notYet(all []absence, later tables) []absence {
	for i := range all {
		a := &all[i]
		for key := range later.each(a.table) {
			if matches(a.key, key) {
				a.keep = append(a.keep, key)
			}
		}
		slices.Sort(a.keep)
	}
	return all
}

func vlanAbsences(all []absence, port string, native intent.Opt[uint16], tagged intent.Opt[[]uint16], at func(string) intent.Path) []absence {
	member := absence{table: "VLAN_MEMBER", key: "*|" + port, field: "tagging_mode", row: true}
	if native.IsSet() {
		member.value, member.from = "untagged", at("native")
		all = append(all, member)
	}
	if tagged.IsSet() {
		member.value, member.from = "tagged", at("segments")
		all = append(all, member)
	}
	if native.IsSet() || tagged.IsSet() && len(tagged.Value) > 0 {
		all = notRouted(all, port, at("segments"))
	}
	return all
}

// notRouted and notBridged are what the YANG models demand of a port that is in
// a VLAN or LAG, and of one that has addresses.
func notRouted(all []absence, port string, from intent.Path) []absence {
	table := "INTERFACE"
	if lagName.MatchString(port) {
		table = "PORTCHANNEL_INTERFACE"
	}
	return append(all, absence{table: table, key: port, row: true, alone: true, from: from}, absence{table: table, key: port + "|*", row: true, alone: true, from: from})
}

func notBridged(all []absence, port string, from intent.Path) []absence {
	return append(all, absence{table: "VLAN_MEMBER", key: "*|" + port, row: true, alone: true, from: from})
}

func portAbsences(all []absence, d *intent.Device, p *intent.Port) []absence {
	all = vlanAbsences(all, p.Name, p.Native, p.Tagged, func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	})
	q := d.QoSNamed(p.QoS)
	if q == nil {
		return all
	}
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	if q.Trust.IsSet() {
		// The two maps of marks exclude each other.
		other := "dot1p_to_tc_map"
		if q.Trust.Value == intent.TrustPCP {
			other = "dscp_to_tc_map"
		}
		all = append(all, absence{table: "PORT_QOS_MAP", key: p.Name, field: other, value: "*", from: at("trust")})
	}
	for queue := range 8 {
		key := p.Name + "|" + strconv.Itoa(queue)
		if q.ECN.IsSet() && !q.ECN.Value[queue].On {
			all = append(all, absence{table: "QUEUE", key: key, field: "wred_profile", value: "*", from: at("ecn")})
		}
		if q.Sched.IsSet() && q.Sched.Value[queue].Kind == intent.SchedIdle {
			// The image's scheduler on a queue that no class uses does no harm.
			all = append(all, absence{table: "QUEUE", key: key, field: "scheduler", value: prefix + "*", from: at("ets")})
		}
	}
	if !emptySets(d) {
		for _, x := range []struct {
			field, from string
			none        bool
		}{{"pfc_enable", "pfc", q.PFC.IsSet() && q.PFC.Value == 0}, {"pfcwd_sw_enable", "watchdog", q.Watchdog.IsSet() && !q.Watchdog.Value.On}} {
			if x.none {
				all = append(all, absence{table: "PORT_QOS_MAP", key: p.Name, field: x.field, value: "*", from: at(x.from)})
			}
		}
	}
	if q.PFC.IsSet() && bufferModel(d) == traditional {
		// The buffer manager adds the row for the new priorities and leaves the old one.
		gone := absence{table: "BUFFER_PG", key: p.Name + "|*", field: "profile", value: looked + "*", row: true, from: at("pfc")}
		for _, run := range runs(q.PFC.Value.List()) {
			gone.keep = append(gone.keep, p.Name+"|"+run)
		}
		all = append(all, gone)
	}
	if q.PFC.IsSet() && bufferModel(d) == dynamic {
		for _, profile := range []string{computed, prefix + "*"} {
			all = append(all, absence{table: "BUFFER_PG", key: p.Name + "|*", field: "profile", value: profile, row: true, from: at("pfc")})
		}
	}
	if q.Watchdog.IsSet() && !q.Watchdog.Value.On {
		all = append(all, absence{table: "PFC_WD", key: p.Name, row: true, from: at("watchdog")})
	}
	return all
}

// matches compares with a pattern that holds at most one "*".
func matches(pattern, s string) bool {
	head, tail, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	return len(s) >= len(head)+len(tail) && strings.HasPrefix(s, head) && strings.HasSuffix(s, tail)
}

// writeAbsences writes the list for the checking program: what is forbidden
// alike in many rows stands once, with their keys, one per line.
func writeAbsences(all []absence, f *emit.File) {
	type kind struct {
		table, field, value string
		row                 bool
	}
	of := map[kind][]int{}
	var kinds []kind
	for i := range all {
		k := kind{all[i].table, all[i].field, all[i].value, all[i].row}
		if of[k] == nil {
			kinds = append(kinds, k)
		}
		of[k] = append(of[k], i)
	}
	size := 0
	for i := range all {
		size += 16 + len(all[i].key)
	}
	f.Grow(size + 128*len(kinds))
	f.Line("[")
	for n, k := range kinds {
		f.Line(`    {"table": %s, "field": %s, "value": %s, "row": %t, "keys": [`, quote(k.table), quote(k.field), quote(k.value), k.row)
		var keep []string
		for j, i := range of[k] {
			f.Put(all[i].from, "        ", quote(all[i].key), comma(j, len(of[k])))
			for _, key := range all[i].keep {
				keep = append(keep, quote(key))
			}
		}
		f.Put(intent.Path{}, `    ], "keep": [`, strings.Join(keep, ", "), "]}", comma(n, len(kinds)))
	}
	f.Line("]")
}

// pcpPort is the first written port that trusts PCP.
func pcpPort(d *intent.Device) *intent.Port {
	for i := range d.Ports {
		p := &d.Ports[i]
		if q := d.QoSNamed(p.QoS); q != nil && !p.Verify && q.Trust.IsSet() && q.Trust.Value == intent.TrustPCP {
			return p
		}
	}
	return nil
}
