package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func exampleTor(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "example-tor.config_db.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edit merges rows into the example, table by table, and drops those set to null.
func edit(t *testing.T, change string) []byte {
	t.Helper()
	var db, ch map[string]map[string]any
	if err := json.Unmarshal([]byte(exampleTor(t)), &db); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(change), &ch); err != nil {
		t.Fatal(err)
	}
	for table, rows := range ch {
		if db[table] == nil {
			db[table] = map[string]any{}
		}
		for key, fields := range rows {
			if fields == nil {
				delete(db[table], key)
				continue
			}
			old, _ := db[table][key].(map[string]any)
			changed, ok := fields.(map[string]any)
			if old == nil || !ok {
				db[table][key] = fields
				continue
			}
			for name, v := range changed {
				old[name] = v
			}
		}
	}
	out, err := json.Marshal(db)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestYangAccepts(t *testing.T) {
	Need(t, SONiCModels)
	for name, change := range map[string]string{
		"the example":      `{}`,
		"comma leaf-list":  `{"PORT":{"Ethernet0":{"adv_speeds":"100000,200000","adv_interface_types":"CR4"}}}`,
		"union word":       `{"PORT":{"Ethernet0":{"adv_speeds":"all"}},"BUFFER_PG":{"Ethernet0|3":{"profile":"NULL"}}}`,
		"dot1p":            `{"DOT1P_TO_TC_MAP":{"ROCE":{"0":"0","3":"3"}},"PORT_QOS_MAP":{"Ethernet0":{"dot1p_to_tc_map":"ROCE"}}}`,
		"remark":           `{"TC_TO_DSCP_MAP":{"ROCE":{"3":"26"}},"PORT_QOS_MAP":{"Ethernet0":{"tc_to_dscp_map":"ROCE"}}}`,
		"no pfc":           `{"PORT_QOS_MAP":{"Ethernet0":{"pfc_enable":""}}}`,
		"negative alpha":   `{"BUFFER_PROFILE":{"ingress_lossy_profile":{"dynamic_th":"-2"}}}`,
		"loopback":         `{"LOOPBACK_INTERFACE":{"Loopback0":{},"Loopback0|10.1.0.1/32":{},"Loopback0|fc00::1/128":{}}}`,
		"breakout":         `{"BREAKOUT_CFG":{"Ethernet0":{"brkout_mode":"4x25G[10G]"}}}`,
		"dynamic model":    `{"DEFAULT_LOSSLESS_BUFFER_PARAMETER":{"AZURE":{"default_dynamic_th":"0","over_subscribe_ratio":"2"}},"LOSSLESS_TRAFFIC_PATTERN":{"AZURE":{"mtu":"1024","small_packet_percentage":"50"}}}`,
		"policed schedule": `{"SCHEDULER":{"limited":{"type":"STRICT","meter_type":"bytes","cir":"1000","pir":"2000","priority":"3"}}}`,
		"mclag": `{"PORTCHANNEL":{"PortChannel1":{"admin_status":"up","mtu":"9216"}},"PORTCHANNEL_MEMBER":{"PortChannel1|Ethernet248":{}},
			"INTERFACE":{"Ethernet248":null,"Ethernet248|10.0.0.2/31":null},
			"MCLAG_DOMAIN":{"1":{"source_ip":"10.0.0.1","peer_ip":"10.0.0.2","peer_link":"PortChannel1","keepalive_interval":"1","session_timeout":"30"}},
			"MCLAG_INTERFACE":{"1|PortChannel1":{"if_type":"PortChannel"}},"MCLAG_UNIQUE_IP":{"Vlan100":{"unique_ip":"enable"}}}`,
		"lldp": `{"LLDP":{"GLOBAL":{"enabled":"true","hello_time":"30"}}}`,
		"asn":  `{"DEVICE_METADATA":{"localhost":{"bgp_asn":"65001","synchronous_mode":"enable"}}}`,
		"lag hash": `{"SWITCH_HASH":{"GLOBAL":{"lag_hash":["INNER_SRC_IP","INNER_DST_IP"],"lag_hash_algorithm":"CRC_32LO"}},
			"FLEX_COUNTER_TABLE":{"WRED_ECN_QUEUE":{"FLEX_COUNTER_STATUS":"enable"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			Yang(t, edit(t, change))
		})
	}
}

func TestYangRejects(t *testing.T) {
	Need(t, SONiCModels)
	for _, c := range []struct{ name, change, want string }{
		{"unknown table", `{"QOS_MAP":{"x":{"a":"b"}}}`, "QOS_MAP: no such table"},
		{"unknown table without rows", `{"QOS_MAP":{}}`, "QOS_MAP: no such table"},
		{"unknown field", `{"PORT":{"Ethernet0":{"speeed":"1"}}}`, "PORT|Ethernet0: no field speeed"},
		{"unknown field of a named row", `{"SWITCH_HASH":{"GLOBAL":{"hash":"x"}}}`, "SWITCH_HASH|GLOBAL: no field hash"},
		{"unknown named row", `{"SWITCH_HASH":{"LOCAL":{}}}`, "SWITCH_HASH|LOCAL: no row"},
		{"key as field", `{"PORT":{"Ethernet0":{"name":"Ethernet0"}}}`, "no field name"},
		{"key too long", `{"QUEUE":{"Ethernet0|3|4":{"scheduler":"scheduler.be"}}}`, "no row of 3 part(s)"},
		{"key too short", `{"BUFFER_PG":{"Ethernet0":{"profile":"NULL"}}}`, "no row of 1 part(s)"},
		{"number", `{"PORT":{"Ethernet0":{"speed":200000}}}`, "PORT|Ethernet0|speed: a string is wanted"},
		{"boolean", `{"WRED_PROFILE":{"ROCE_LOSSLESS":{"wred_green_enable":true}}}`, "a string is wanted"},
		{"number in a map", `{"DSCP_TO_TC_MAP":{"ROCE":{"26":3}}}`, "DSCP_TO_TC_MAP|ROCE|26: a string is wanted"},
		{"string for a list", `{"SWITCH_HASH":{"GLOBAL":{"ecmp_hash":"SRC_IP,DST_IP"}}}`, "an array of strings is wanted"},
		{"row is no object", `{"PORT":{"Ethernet0":"up"}}`, "PORT|Ethernet0: fields are wanted"},
		{"bad enumeration", `{"PORT":{"Ethernet0":{"fec":"reed"}}}`, "fec"},
		{"bad ecn", `{"WRED_PROFILE":{"ROCE_LOSSLESS":{"ecn":"on"}}}`, "ecn"},
		{"bad boolean", `{"WRED_PROFILE":{"ROCE_LOSSLESS":{"wred_green_enable":"yes"}}}`, "wred_green_enable"},
		{"range", `{"PORT":{"Ethernet0":{"mtu":"9217"}}}`, "mtu"},
		{"range of a map", `{"DSCP_TO_TC_MAP":{"ROCE":{"26":"16"}}}`, "Invalid Traffic Class"},
		{"key of a map", `{"DSCP_TO_TC_MAP":{"ROCE":{"64":"0"}}}`, "DSCP"},
		{"range of a named row", `{"LOSSLESS_TRAFFIC_PATTERN":{"AZURE":{"mtu":"9217","small_packet_percentage":"50"}}}`, "LOSSLESS_TRAFFIC_PATTERN/LOSSLESS_TRAFFIC_PATTERN_LIST"},
		{"not a number", `{"SCHEDULER":{"scheduler.be":{"weight":"half"}}}`, "weight"},
		{"leading zero", `{"SCHEDULER":{"scheduler.be":{"weight":"050"}}}`, "weight"},
		{"weight", `{"SCHEDULER":{"scheduler.be":{"weight":"101"}}}`, "weight"},
		{"pattern", `{"CABLE_LENGTH":{"AZURE":{"Ethernet0":"5"}}}`, "length"},
		{"pfc list", `{"PORT_QOS_MAP":{"Ethernet0":{"pfc_enable":"3,8"}}}`, "pfc_enable"},
		{"dangling map", `{"PORT_QOS_MAP":{"Ethernet0":{"dscp_to_tc_map":"AZURE"}}}`, "AZURE"},
		{"dangling port", `{"QUEUE":{"Ethernet4|3":{"scheduler":"scheduler.roce"}}}`, "Ethernet4"},
		{"dangling profile in a list", `{"BUFFER_PORT_INGRESS_PROFILE_LIST":{"Ethernet0":{"profile_list":"ingress_lossless_profile,none"}}}`, "none"},
		{"must across fields", `{"WRED_PROFILE":{"ROCE_LOSSLESS":{"green_max_threshold":"1000"}}}`, "green"},
		{"must across rows", `{"PFC_WD":{"Ethernet0":{"detection_time":"100"}}}`, "detection_time"},
		{"vlan name", `{"VLAN":{"Vlan100":{"vlanid":"101"}}}`, "vlanid"},
		{"routed member", `{"VLAN_MEMBER":{"Vlan100|Ethernet240":{"tagging_mode":"tagged"}}}`, "router interface"},
		{"mandatory", `{"VLAN_MEMBER":{"Vlan100|Ethernet8":null,"Vlan100|Ethernet0":null,"Vlan100|Ethernet248":{}},"INTERFACE":{"Ethernet248":null,"Ethernet248|10.0.0.2/31":null}}`, "tagging_mode"},
		{"address", `{"VLAN_INTERFACE":{"Vlan100|10.100.0.256/24":{}}}`, "10.100.0.256"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := edit(t, c.change)
			rejects(t, c.want, func(t testing.TB) { Yang(t, db) })
		})
	}
}

func TestYangRejectsText(t *testing.T) {
	Need(t, SONiCModels)
	for _, c := range []struct{ text, want string }{
		{``, "EOF"},
		{`[]`, "object is wanted"},
		{`{"PORT":{}} x`, "text after"},
		{`{"PORT":{},"PORT":{}}`, "PORT is there twice"},
		{`{"PORT":{"Ethernet0":{"mtu":"1","mtu":"2"}}}`, "PORT|Ethernet0|mtu is there twice"},
		{`{"PORT":[]}`, "rows are wanted"},
	} {
		rejects(t, c.want, func(t testing.TB) { Yang(t, []byte(c.text)) })
	}
}

func TestTranslate(t *testing.T) {
	got, err := SONiC(t).translate([]byte(exampleTor(t)))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "example-tor.yang.json"))
	if err != nil {
		t.Fatal(err)
	}
	var g, w any
	if err := errors.Join(json.Unmarshal(got, &g), json.Unmarshal(want, &w)); err != nil {
		t.Fatal(err)
	}
	unordered := cmpopts.SortSlices(func(a, b any) bool { return fmt.Sprint(a) < fmt.Sprint(b) }) // lists of rows are in no order
	if diff := cmp.Diff(w, g, unordered); diff != "" {
		t.Errorf("example-tor (-want +got):\n%s", diff)
	}
}

func TestPrinted(t *testing.T) {
	for text, want := range map[string]*Statement{
		"module m {\n a;\n}\n":             {"module", "m", []*Statement{{"a", "", nil}}},
		"list L { key \"ab\"; leaf a\n; }": {"list", "L", []*Statement{{"key", "ab", nil}, {"leaf", "a", nil}}},
		`pattern "a\\d\"\n";`:              {"pattern", "a\\d\"\n", nil},
		"":                                 nil, "module m": nil, "module m {": nil, "{ }": nil, `m "x`: nil, "m x }": nil,
	} {
		p := printed{text: text}
		got, err := p.statement()
		if (err != nil) != (want == nil) {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" && want != nil {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	ms := SONiC(f)
	f.Add([]byte(`{"DSCP_TO_TC_MAP":{"R":{"1":"2"}},"PORT":{"E":{"adv_speeds":"1,all"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := ms.translate(text)
		if err == nil && !json.Valid(out) {
			t.Errorf("%q became %q, which is no JSON", text, out)
		}
	})
}
