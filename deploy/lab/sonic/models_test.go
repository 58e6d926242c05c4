package sonic

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/targets/oracle"
)

var (
	update = flag.Bool("update", false, "rewrite models.csv from the models among the oracles")
	all    = flag.Bool("all", false, "hold every variant against yanglint")
)

// templates are the modules that are made when an image is built.
var templates = []string{"sonic-acl", "sonic-policer"}

// TestFacts: models.csv says of every table that it holds exactly what the models say, leaf by leaf, and names all others.
func TestFacts(t *testing.T) {
	ms := oracle.SONiC(t)
	r := csv.NewReader(strings.NewReader(modelsText))
	r.Comment = '#'
	have, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]bool{}
	for _, f := range have[1:] {
		held[f[0]] = held[f[0]] || f[1] != ""
	}
	want := [][]string{have[0]}
	for _, table := range slices.Sorted(maps.Keys(ms.Tables)) {
		source := "yang-models/" + ms.Module[table] + ".yang"
		if slices.Contains(templates, ms.Module[table]) {
			source = "yang-templates/" + ms.Module[table] + ".yang.j2"
		}
		if !held[table] {
			want = append(want, []string{table, "", "", "", "", "", "", "", "", source})
			continue
		}
		for i, row := range ms.Tables[table].Nodes() {
			key := "'" + row.Arg + "'"
			if row.Keyword == "list" {
				key = strings.Join(row.Keys(), "|")
			}
			have := map[string]int{}
			for _, r := range models()[table][i].rules {
				have[r.at]++
			}
			if diff := cmp.Diff(rulesOf(row), have); diff != "" {
				t.Errorf("rules of %s %s (-models +rules.go):\n%s", table, key, diff)
			}
			for _, f := range fieldsOf(t, table, row) {
				want = append(want, slices.Concat([]string{table, key}, f, []string{source}))
			}
		}
	}
	if *update {
		comment, _, _ := strings.Cut(modelsText, "\n")
		b := bytes.NewBufferString(comment + "\n")
		if err := csv.NewWriter(b).WriteAll(want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("models.csv", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("models.csv (-models +file):\n%s", diff)
	}
}

// rulesOf counts what the models say of several fields or rows at once, by the field or the choice and case that it is about.
func rulesOf(row *oracle.Statement) map[string]int {
	n := map[string]int{}
	count := func(at string, s *oracle.Statement) {
		for _, c := range s.Sub {
			switch {
			case c.Keyword == "must", c.Keyword == "when", c.Keyword == "unique", c.Keyword == "min-elements" && c.Arg != "0",
				c.Keyword == "max-elements" && c.Arg != "4294967295":
				n[at]++
			}
		}
	}
	count("", row)
	for _, c := range row.Nodes() {
		count(c.Arg, c)
	}
	for _, choice := range row.All("choice") {
		count(choice.Arg, choice)
		for _, c := range choice.All("case") {
			count(choice.Arg+"/"+c.Arg, c)
		}
	}
	return n
}

// fieldsOf are the facts of the fields of a row: field, need, case, type, allowed, default, reference.
func fieldsOf(t *testing.T, table string, row *oracle.Statement) (list [][]string) {
	t.Helper()
	inet := oracle.InetTypes(t, "ipv4-address", "ipv6-address", "ipv4-prefix", "ipv6-prefix")
	in := map[*oracle.Statement]string{}
	for _, choice := range row.All("choice") {
		for _, c := range choice.All("case") {
			for _, n := range c.Nodes() {
				in[n] = choice.Arg + "/" + c.Arg
			}
		}
	}
	for _, n := range row.Nodes() {
		need := "optional"
		switch {
		case slices.Contains(row.Keys(), n.Arg):
			need = "key"
		case n.Keyword == "list":
			for i, f := range fieldsOf(t, table, n) {
				f[1] = []string{"name", "value"}[i]
				list = append(list, f)
			}
			continue
		case n.Keyword == "container":
			t.Fatalf("%s %s has %s in it", table, row.Arg, n.Arg)
		case n.ArgOf("mandatory") == "true":
			need = "mandatory"
		case n.Keyword == "leaf-list" && oracle.CommaList(table, n.Arg):
			need = "commas"
		case n.Keyword == "leaf-list":
			need = "list"
		}
		for _, typ := range n.Types() {
			f := []string{n.Arg, need, in[n], typ.Arg, "", n.ArgOf("default"), ""}
			switch typ.Arg {
			case "leafref":
				path := strings.Split(typ.ArgOf("path"), "/")
				_, f[6], _ = strings.Cut(path[len(path)-3], ":")
				if f[6] == "" {
					f[6] = strings.TrimSuffix(path[len(path)-2], "_LIST")
				}
			case "enumeration":
				f[4] = strings.ReplaceAll(typ.Args("enum"), "\n", "|")
			case "string":
				f[4] = typ.Args("pattern")
				if name := inet[f[4]]; name != "" {
					f[3], f[4] = name, ""
				}
				if f[4] == "" && len(typ.All("pattern")) > 0 { // the empty text alone
					f[4] = "()"
				}
				if length := typ.ArgOf("length"); length != "" {
					f[3] += " " + length
				}
			case "decimal64":
				f[3] += " " + typ.ArgOf("fraction-digits")
			default:
				f[4] = typ.ArgOf("range")
			}
			list = append(list, f)
		}
	}
	return list
}

// whole has a row of every form that the models hold, except those of chassis.
const whole = `{
"DEVICE_METADATA":{"localhost":{"hostname":"tor1","hwsku":"ACS-MSN4700","buffer_model":"dynamic"}},
"PORT":{"Ethernet0":{"lanes":"0","speed":"200000"},"Ethernet4":{"lanes":"4","speed":"200000"},"Ethernet8":{"lanes":"8","speed":"200000"},
	"Ethernet12":{"lanes":"12","speed":"200000"}},
"BREAKOUT_CFG":{"Ethernet0":{"brkout_mode":"1x200G"}},
"VRF":{"Vrfa":{}},
"PORTCHANNEL":{"PortChannel1":{"admin_status":"up"},"PortChannel2":{"admin_status":"up"}},
"PORTCHANNEL_MEMBER":{"PortChannel1|Ethernet4":{}},
"PORTCHANNEL_INTERFACE":{"PortChannel2":{},"PortChannel2|10.2.0.1/24":{}},
"VLAN":{"Vlan100":{"vlanid":"100"},"Vlan200":{"vlanid":"200"}},
"VLAN_MEMBER":{"Vlan100|Ethernet8":{"tagging_mode":"untagged"},"Vlan200|Ethernet8":{"tagging_mode":"tagged"}},
"VLAN_INTERFACE":{"Vlan100":{},"Vlan100|10.1.0.1/24":{}},
"INTERFACE":{"Ethernet0":{},"Ethernet0|10.0.0.1/31":{}},
"LOOPBACK_INTERFACE":{"Loopback0":{},"Loopback0|fc00::1/128":{}},
"MCLAG_DOMAIN":{"1":{"peer_link":"PortChannel2"}},
"MCLAG_INTERFACE":{"1|PortChannel1":{"if_type":"PortChannel"}},"MCLAG_UNIQUE_IP":{"Vlan100":{"unique_ip":"enable"}},
"ACL_TABLE":{"EDGE":{"type":"L3","stage":"ingress","ports":["Ethernet0"]},"L2T":{"type":"L2"},"OWN":{"type":"OWN"},
	"CTL":{"type":"CTRLPLANE","services":["SSH"]}},
"ACL_TABLE_TYPE":{"OWN":{"MATCHES":["TCP_FLAGS"],"BIND_POINTS":["PORT"]}},
"ACL_RULE":{"EDGE|R":{"PRIORITY":"9","PACKET_ACTION":"DROP"},"L2T|R":{"PRIORITY":"9"},
	"OWN|R":{"PRIORITY":"9","TCP_FLAGS":"0x12"},"CTL|R":{"PRIORITY":"9","PACKET_ACTION":"DROP"}},
"MIRROR_SESSION":{"m":{"type":"SPAN","dst_port":"Ethernet12"}},
"SWITCH_HASH":{"GLOBAL":{"ecmp_hash":["SRC_IP"]}},
"DSCP_TO_TC_MAP":{"a":{"26":"3"}},"DOT1P_TO_TC_MAP":{"a":{"3":"3"}},
"TC_TO_QUEUE_MAP":{"a":{"3":"3"}},"TC_TO_PRIORITY_GROUP_MAP":{"a":{"3":"3"}},
"MAP_PFC_PRIORITY_TO_QUEUE":{"a":{"3":"3"}},"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP":{"a":{"3":"3"}},"TC_TO_DSCP_MAP":{"a":{"3":"26"}},
"SCHEDULER":{"s":{"type":"DWRR","weight":"50","cir":"10","pir":"20"}},
"WRED_PROFILE":{"w":{"green_min_threshold":"10","yellow_min_threshold":"10","red_min_threshold":"10"}},
"BUFFER_POOL":{"p":{"type":"ingress","mode":"dynamic"}},"BUFFER_PROFILE":{"b":{"pool":"p","size":"0"}},
"DEFAULT_LOSSLESS_BUFFER_PARAMETER":{"a":{"default_dynamic_th":"0"}},
"CABLE_LENGTH":{"a":{"Ethernet0":"5m"}},"BUFFER_PG":{"Ethernet0|3":{"profile":"b"}},"BUFFER_QUEUE":{"Ethernet0|3":{"profile":"b"}},
"BUFFER_PORT_INGRESS_PROFILE_LIST":{"Ethernet0":{"profile_list":"b"}},"BUFFER_PORT_EGRESS_PROFILE_LIST":{"Ethernet0":{"profile_list":"b"}},
"QUEUE":{"Ethernet0|3":{"scheduler":"s"}},"PORT_QOS_MAP":{"Ethernet0":{"pfc_enable":"3"},"global":{"dscp_to_tc_map":"a"}},
"PFC_WD":{"GLOBAL":{"POLL_INTERVAL":"200"},"Ethernet0":{"action":"drop","detection_time":"200","restoration_time":"400"}}}`

// chassis are the rows that a switch has in one.
const chassis = `{
"DEVICE_METADATA":{"localhost":{"hostname":"tor1","switch_type":"voq","asic_name":"asic0"}},
"PORT":{"Ethernet0":{"lanes":"0","speed":"200000"}},"SCHEDULER":{"s":{}},
"BUFFER_POOL":{"p":{"type":"ingress","mode":"dynamic"}},"BUFFER_PROFILE":{"b":{"pool":"p","size":"0"}},
"QUEUE":{"tor1|asic0|Ethernet0|3":{"scheduler":"s"},"tor2|asic0|Ethernet9|3":{}},"BUFFER_QUEUE":{"tor1|asic0|Ethernet0|3":{"profile":"b"}}}`

// variant is a database with one change.
type variant struct {
	where, what string // the field of a form of rows, and what was done
	db          database
}

// variants have another value in one field, of every row and every field that a row of its form may have.
func variants(t *testing.T, text string) (list []variant) {
	t.Helper()
	base, err := read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	list = []variant{{"", "as it is", base}}
	for _, table := range slices.Sorted(maps.Keys(base)) {
		for _, key := range slices.Sorted(maps.Keys(base[table])) {
			e := entry{parts: strings.Split(key, "|"), key: key}
			i := slices.IndexFunc(models()[table], e.is)
			if i < 0 || key == "Ethernet12" {
				continue // a table that is taken as it is, and a port that one names
			}
			f, row := models()[table][i], base[table][key]
			change := func(field, what, key string, row map[string]any) {
				db := base.clone()
				if db[table][key] = row; row == nil {
					delete(db[table], key)
				}
				list = append(list, variant{table + " " + strings.Join(f.key, "|") + " " + field, table + "|" + key + ": " + what, db})
			}
			with := func(name string, v any) {
				r := maps.Clone(row)
				r[name] = v
				change(name, fmt.Sprintf("%s %q", name, v), key, r)
			}
			change("", "gone", key, nil)
			for name := range row {
				r := maps.Clone(row)
				delete(r, name)
				change(name, "without "+name, key, r)
			}
			with("no_such_field", "1")
			for _, name := range f.names {
				facts := f.fields[name]
				for _, v := range trials(facts) {
					switch need := facts[0].need; need {
					case "key":
						parts := slices.Clone(e.parts)
						parts[slices.Index(f.key, name)] = v
						change(name, "as "+v, strings.Join(parts, "|"), row)
					case "name":
						with(v, "3")
					case "value":
						change(name, "value "+v, key, map[string]any{slices.Sorted(maps.Keys(row))[0]: v})
					case "list":
						with(name, []any{v})
						with(name, []any{v, v})
					case "commas":
						with(name, v+",all")
						fallthrough
					default:
						with(name, v)
					}
				}
			}
		}
	}
	return list
}

// besides are rows besides those of whole and chassis, for what shows in more than one field.
var besides = []struct{ to, rows string }{
	{whole, `{"ACL_RULE":{"EDGE|R":{"IP_TYPE":"IPV6","SRC_IP":"10.0.0.0/24"}}}`},
	{whole, `{"ACL_RULE":{"EDGE|R":{"IP_TYPE":"ARP","SRC_IP":"10.0.0.0/24","ICMP_TYPE":"8"}}}`},
	{whole, `{"ACL_RULE":{"EDGE|R":{"IP_TYPE":"IPV4","SRC_IPV6":"fc00::/64"}}}`},
	{whole, `{"ACL_RULE":{"EDGE|R":{"IP_TYPE":"IPV6ANY","SRC_IPV6":"fc00::/64","ICMPV6_TYPE":"8"}}}`},
	{whole, `{"ACL_RULE":{"EDGE|R":{"IP_TYPE":"IPV6","ICMP_TYPE":"8"}}}`},
	{whole, `{"ACL_RULE":{"EDGE|R":{"IP_TYPE":"IPV4","ICMPV6_CODE":"8"}}}`},
	{whole, `{"ACL_RULE":{"EDGE|R":{"SRC_IP":"10.0.0.0/24","SRC_IPV6":"fc00::/64"}}}`},
	{whole, `{"ACL_RULE":{"EDGE|R":{"L4_DST_PORT":"8","L4_DST_PORT_RANGE":"8-9"}}}`},
	{whole, `{"BUFFER_POOL":{"p":{"size":"1","percentage":"1"}}}`},
	{whole, `{"INTERFACE":{"Ethernet0|10.0.0.1/31":{"family":"IPv6"}}}`},
	{whole, `{"INTERFACE":{"Ethernet0|fc00::1/64":{"family":"IPv6"}}}`},
	{whole, `{"VLAN_INTERFACE":{"Vlan100|10.1.0.1/24":{"family":"IPv6"}}}`},
	{whole, `{"VLAN_INTERFACE":{"Vlan100":{"static_anycast_gateway":"true"}}}`},
	{whole, `{"VLAN_INTERFACE":{"Vlan100":{"static_anycast_gateway":"true"}},"SAG":{"GLOBAL":{"gateway_mac":"00:11:22:33:44:55"}}}`},
	{whole, `{"VLAN_MEMBER":{"Vlan100|Ethernet4":{"tagging_mode":"tagged"}}}`},
	{whole, `{"VLAN_MEMBER":{"Vlan200|PortChannel1":{"tagging_mode":"tagged"}}}`},
	{whole, `{"SCHEDULER":{"s":{"cbs":"30","pbs":"20"}}}`},
	{whole, `{"SCHEDULER":{"s":{"cbs":"30","pbs":"30"}}}`},
	{whole, `{"QUEUE":{"tor1|asic0|Ethernet0|3":{}}}`},
	{whole, `{"BUFFER_QUEUE":{"tor1|asic0|Ethernet0|3":{"profile":"b"}}}`},
	{whole, `{"DEVICE_METADATA":{"localhost":{"hwsku":"msft_four_asic_vs"}}}`},
	{whole, `{"DEVICE_METADATA":{"localhost":{"buffer_model":"traditional"}},"BUFFER_POOL":{"p":{"percentage":"1"}}}`},
	{chassis, `{"QUEUE":{"Ethernet0|3":{}}}`},
	{chassis, `{"BUFFER_QUEUE":{"Ethernet0|3":{"profile":"b"}}}`},
	{chassis, `{"VLAN":{"Vlan2":{}},"MCLAG_UNIQUE_IP":{"Vlan2":{}}}`},
	{`{}`, `{"DEVICE_METADATA":{"localhost":{"hwsku":"msft_four_asic_vs"}},"PORT":{"Ethernet0":{"speed":"1"}}}`},
	{`{}`, `{"NO_SUCH_TABLE":{}}`},
}

// trials are values at the borders of what a field takes.
func trials(facts []*fact) []string {
	list := []string{"", "x", strings.Repeat("y", 300), "3", "03"}
	for _, x := range facts {
		switch {
		case x.kind == "leafref":
			list = append(list, "Ethernet0", "Ethernet12", "PortChannel1", "Vlan100", "Vlan200", "a", "b", "s", "w", "EDGE", "m", "Vrfa")
		case strings.HasPrefix(x.kind, "ip"):
			list = append(list, "10.0.0.7", "10.0.0.256", "fc00::7", "10.9.0.1/24", "10.9.0.1/33", "fc00::9/64", "fc00::9/129")
		case x.kind == "boolean":
			list = append(list, "true", "True")
		case x.kind == "decimal64":
			list = append(list, "-1.5", "1.55", "7")
		case x.kind == "string" || x.kind == "enumeration":
			list = append(list, strings.Split(x.allowed, "|")[0], "3-4", "3,4", "0x8915", "00:11:22:33:44:55", "Vlan1", "Vlan4095",
				"PortChannel12345", "Vrfb", "asic1", "63", "64", "7m")
		default:
			least, most := -129.0, 65535.0
			if x.most > 0 {
				least, most = x.least, x.most
			}
			for _, v := range []float64{least - 1, least, most, most + 1} {
				list = append(list, strconv.FormatFloat(v, 'f', -1, 64))
			}
			list = append(list, "99999999999999999999", "1.0", "9", "500")
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestSameVerdict: the switch takes what yanglint takes, and nothing else. Of what is taken or refused for the same reason in the same
// field one database is tried, unless -all is set.
func TestSameVerdict(t *testing.T) {
	t.Parallel()
	ms := oracle.SONiC(t)
	var list []variant
	var texts [][]byte
	verdicts, seen, refused := []error(nil), map[string]int{}, map[string]bool{}
	tried := append(variants(t, whole), variants(t, chassis)...)
	for _, b := range besides {
		db, err := read([]byte(b.to))
		rows, wrong := read([]byte(b.rows))
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		db.merge(rows)
		tried = append(tried, variant{b.rows, b.rows, db})
	}
	for _, v := range tried {
		err := v.db.valid()
		reason := ""
		if err != nil {
			reason = inQuotes.ReplaceAllString(err.Error(), "")
			for i := range rules {
				r := &rules[i]
				if strings.HasPrefix(reason, r.table+"|") && strings.HasSuffix(reason, ": "+r.says+".") && strings.Contains(reason, r.at) {
					refused[r.table+r.at+r.says] = true
				}
			}
			_, reason, _ = strings.Cut(reason, ": ")
		}
		if seen[v.where+reason]++; seen[v.where+reason] == 1 || *all {
			list, texts, verdicts = append(list, v), append(texts, v.db.print()), append(verdicts, err)
		}
	}
	for i, accepted := range ms.Accepts(t, texts) {
		if accepted != (verdicts[i] == nil) {
			t.Errorf("%s: taken by yanglint: %t, here: %v", list[i].what, accepted, verdicts[i])
		}
	}
	for _, r := range rules {
		if !refused[r.table+r.at+r.says] {
			t.Errorf("nothing shows that the rule of %s %s %q refuses anything", r.table, r.at, r.says)
		}
	}
	t.Logf("%d databases", len(list))
}

var inQuotes = regexp.MustCompile(`"[^"]*"`)

func FuzzValid(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"QUEUE":{"|||":{}},"VLAN_INTERFACE":{"|":{"family":""}},"CABLE_LENGTH":{"":{"":[]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if db, err := read(text); err == nil {
			_ = db.valid()
		}
	})
}
