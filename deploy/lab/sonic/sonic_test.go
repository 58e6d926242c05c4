package sonic

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

func device(model string) *intent.Device {
	return &intent.Device{
		Name: "leaf1", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202405"}, Model: model, ASIC: "spectrum-2",
		Ports: []intent.Port{
			{Name: "Ethernet0", Breakout: "2x50G", Split: &intent.Split{Parent: "Ethernet0", Mode: "2x50G", Number: 1, Lanes: "0,1", Alias: "etp1a", Index: 1}},
			{Name: "Ethernet2", Split: &intent.Split{Parent: "Ethernet0", Mode: "2x50G", Number: 2, Lanes: "2,3", Alias: "etp1b", Index: 1}},
			{Name: "Ethernet4"},
		},
	}
}

func start(t testing.TB, model string) *Machine {
	t.Helper()
	m := New(device(model), lab.Environment{Clock: lab.RealTime{}, User: "admin"}, &posix.Scripts{})
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func (m *Machine) say(line string) string {
	var b bytes.Buffer
	code := m.Exec(context.Background(), line, nil, &b, &b)
	return fmt.Sprintf("%sexit %d", b.String(), code)
}

// TestConfig: the commands answer with the texts of sonic-utilities, and what
// they refuse changes nothing.
func TestConfig(t *testing.T) {
	m := start(t, "nvidia/sn3700c")
	put := func(name, text string) {
		if err := m.Disk().WriteFile("/home/admin/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("vlan.json", `{"VLAN":{"Vlan100":{"vlanid":"100"}}}`)
	put("member.json", `{"VLAN_MEMBER":{"Vlan100|Ethernet0":{"tagging_mode":"tagged"}}}`)
	put("add.json", `[{"op":"add","path":"/VLAN/Vlan200","value":{"vlanid":"200"}}]`)
	put("empty.json", `[{"op":"remove","path":"/VLAN/Vlan100"},{"op":"remove","path":"/VLAN/Vlan200"}]`)
	put("pool.json", `[{"op":"replace","path":"/BUFFER_POOL/ingress_lossless_pool/size","value":"1"}]`)
	put("bad.json", `[{"op":"add","path":"/VLAN/Vlan300","value":{"vlanid":"poison"}}]`)
	put("wred.json", `{"WRED_PROFILE":{"ROCE":{"green_min_threshold":"1000000","green_max_threshold":"1500000","ecn":"ecn_all"}}}`)
	put("wd.json", `[{"op":"add","path":"/PFC_WD","value":{"GLOBAL":{"POLL_INTERVAL":"200"},"Ethernet4":{"action":"drop","detection_time":"200","restoration_time":"400"}}}]`)
	put("wdless.json", `[{"op":"remove","path":"/PFC_WD/GLOBAL"}]`)
	for _, c := range []struct{ line, want string }{
		{"config checkpoint a", "Root privileges are required for this operation\nexit 1"},
		{"sudo config checkpoint a", "Checkpoint created successfully.\nexit 0"},
		{"sudo config list-checkpoints", "[\n    \"a\"\n]\nexit 0"},
		{"sudo config load vlan.json", "Aborted!\nexit 1"},
		{"sudo config load -y nowhere.json", "The config_db file nowhere.json doesn't exist\nexit 0"},
		{"sudo config load -y vlan.json", "--write-to-db\nexit 0"},
		{"sudo config apply-patch add.json", "Patch applied successfully.\nexit 0"},
		{"sudo config apply-patch nowhere.json", "Failed to apply patch due to: [Errno 2] No such file or directory: 'nowhere.json'"},
		{"sudo config apply-patch empty.json", "given patch is not valid because it will result in empty tables"},
		{"sudo config apply-patch pool.json", "Modification of BUFFER_POOL table is illegal-"},
		{"sudo config apply-patch bad.json", "field vlanid: Invalid type uint16 value \"poison\".\nexit 2"},
		{"sudo config apply-patch wd.json", "Patch applied successfully.\nexit 0"},
		{"sudo config apply-patch wdless.json", "Operation: remove is illegal on field: /PFC_WD/GLOBAL\nexit 2"},
		{"pfcwd show config", "     PORT    ACTION    DETECTION TIME    RESTORATION TIME    HISTORY\n---------  --------  ----------------  ------------------  ---------\nEthernet4      drop               200                 400    disable\nexit 0"},
		{"sudo config load -y wred.json; ecnconfig -l", "Profile: ROCE\n-------------------  -------\necn                  ecn_all\ngreen_max_threshold  1500000\ngreen_min_threshold  1000000\n-------------------  -------\n\nexit 0"},
		{"show lldp table", "LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr\n-----------  --------------  --------------  ------------  -----------------\n"},
		{"sonic-cfggen -d --var-json VLAN", `"Vlan200": {`},
		{"sonic-cfggen -d -v DEVICE_METADATA.localhost.hwsku", "ACS-MSN3700C\nexit 0"},
		{"sudo config interface breakout Ethernet4 2x50G -f -y", "[ERROR] Ethernet4 interface is NOT present in BREAKOUT_CFG table of CONFIG DB"},
		{"sudo config interface breakout Ethernet0 8x10G -f -y", "[ERROR] Target mode 8x10G is not available for the port Ethernet0"},
		{"sudo config interface breakout Ethernet0 2x50G", "Do you want to Breakout the port, continue? [y/N]: \nAborted!\nexit 1"},
		{"sudo config load -y member.json", "--write-to-db\nexit 0"},
		{"sudo config interface breakout Ethernet0 2x50G -y", "Dependencies Exist. No further action will be taken\n*** Printing dependencies ***\nVLAN_MEMBER|Vlan100|Ethernet0\nexit 1"},
		{"sudo config interface breakout Ethernet0 2x50G -f -y", "Ports to be added : \n {\n    \"Ethernet0\": \"50000\",\n    \"Ethernet2\": \"50000\"\n}\nBreakout process got successfully completed."},
		{"sudo config interface breakout Ethernet0 2x50G -f -y", "[WARNING] No action will be taken as current and desired Breakout Mode are same.\nexit 0"},
		{"sonic-cfggen -d --var-json PORT | grep -c lanes", "3\nexit 0"},
		{"sudo config rollback nowhere", "Failed to rollback config\nUsage: config rollback"},
		{"sudo config rollback a", "Modification of WRED_PROFILE table is illegal-"},
		{"sudo sonic-db-cli CONFIG_DB DEL 'WRED_PROFILE|ROCE'; sudo config rollback a", "Config rolled back successfully.\nexit 0"},
		{"sonic-cfggen -d --var-json PORT | grep -c lanes; sonic-cfggen -d --var-json VLAN", "2\nnull\nexit 0"},
		{"sudo config save", "Aborted!\nexit 1"},
		{"sudo config save -y && grep -c Vlan /etc/sonic/config_db.json", "0\nexit 1"},
		{"sudo config delete-checkpoint a && sudo config delete-checkpoint a", "Error: Checkpoint 'a' does not exist\nexit 2"},
		{"sudo config nonsense", "No such command 'nonsense'"},
		{"sudo config apply-patch", "Missing argument 'PATCH_FILE_PATH'."},
		{"show version; show nonsense", "HwSKU: ACS-MSN3700C"},
	} {
		if got := m.say(c.line); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nwanted %q", c.line, got, c.want)
		}
	}
}

// TestModels: on no way does a switch take what the models do not accept, and
// where SONiC has words for that it says them.
func TestModels(t *testing.T) {
	m := start(t, "nvidia/sn3700c")
	for name, text := range map[string]string{
		"good.json":   `[{"op":"add","path":"/DSCP_TO_TC_MAP","value":{"ROCE":{"26":"3"}}}]`,
		"dscp.json":   `[{"op":"add","path":"/DSCP_TO_TC_MAP/ROCE/99","value":"3"}]`,
		"none.json":   `[{"op":"add","path":"/BUFFER_PG","value":{"Ethernet4|3":{"profile":"none"}}}]`,
		"table.json":  `[{"op":"add","path":"/QOS_MAP","value":{"a":{"b":"c"}}}]`,
		"lanes.json":  `[{"op":"replace","path":"/PORT/Ethernet0/lanes","value":"1,9001"},{"op":"replace","path":"/PORT/Ethernet4/lanes","value":"1"}]`,
		"part.json":   `{"BUFFER_PG":{"Ethernet4|3":{"profile":"none"}}}`,
		"field.json":  `{"PORT":{"Ethernet4":{"mtu":"9217"}}}`,
		"plain.json":  `"text"`,
		"fields.json": `[{"op":"add","path":"/PORT/Ethernet4/speeed","value":"it's\n"}]`,
	} {
		if err := m.Disk().WriteFile("/home/admin/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.say("sudo config apply-patch good.json && sudo config save -y && sudo config checkpoint kept"); !strings.Contains(got, "Checkpoint created successfully.\nexit 0") {
		t.Fatal(got)
	}
	shown := func() string { return m.say("sonic-cfggen -d --print-data; cat /etc/sonic/config_db.json") }
	before := shown()
	const scopes = "Failed to apply patch due to: Failed to apply patch on the following scopes:\n- localhost: "
	for _, c := range []struct{ line, want, why string }{
		{"sudo config apply-patch dscp.json", "Failed to apply patch due to: Validate json patch: [{'op': 'add', 'path': '/DSCP_TO_TC_MAP/ROCE/99', 'value': '3'}] failed due to: Data Loading Failed\n", "DSCP"},
		{"sudo config apply-patch none.json", "'value': {'Ethernet4|3': {'profile': 'none'}}}] failed due to: Data Loading Failed\n", "none"},
		{"sudo config apply-patch table.json", scopes + "Given patch is not valid because it has changes to tables without YANG models\n", "exit 2"},
		{"sudo config apply-patch lanes.json", scopes + "Given patch will produce invalid config. Error: '1' lane is used multiple times in PORT: {'Ethernet4', 'Ethernet0'}\n", "exit 2"},
		{"sudo config apply-patch fields.json", `'value': 'it\'s\n'}] failed due to: Data Loading Failed`, "no field speeed in the models"},
		{"sudo config apply-patch -d dscp.json", "Data Loading Failed", "exit 2"},
		{"sudo config load -y part.json", "rocec lab: SONiC's YANG models do not accept the result, so that nothing changes: Data Loading Failed\n", "none"},
		{"sudo sonic-cfggen -j field.json --write-to-db", "rocec lab: SONiC's YANG models do not accept", "mtu"},
		{"sonic-cfggen -d --print-data | sed 's/\"9100\"/\"9217\"/' > wrong.json; sudo config replace wrong.json", "Failed to replace config\nUsage: config replace [OPTIONS]\nTry 'config replace -h' for help.\n\nError: Given patch will produce invalid config. Error: Data Loading Failed\n", "mtu"},
		{"sudo cp wrong.json /etc/sonic/checkpoints/wrong.cp.json; sudo config rollback wrong", "Failed to rollback config\n", "Given patch will produce invalid config. Error: Data Loading Failed\n"},
		{"sudo config reload -y wrong.json", "wrong.json fails YANG validation! Error: Data Loading Failed\n", "Aborted!\nexit 1"},
		{"sudo config reload -y -f wrong.json", "wrong.json fails YANG validation! Error: Data Loading Failed\n", "Aborted!\nexit 1"},
		{"sudo config reload -y nowhere.json", "Exception: [Errno 2] No such file or directory: 'nowhere.json'\nexit 1", ""},
		{"sudo config reload -y plain.json", "Exception: ", "exit 1"},
		{"sudo config reload plain.json", "Clear current config and reload config in config_db from the file(s) plain.json ? [y/N]: \nAborted!", ""},
		{"sudo config rollback kept", "Config rolled back successfully.\nexit 0", ""},
		{"sudo config reload -y", "Restarting SONiC target ...\nexit 0", ""},
	} {
		got := m.say(c.line)
		if !strings.Contains(got, c.want) || !strings.Contains(got, c.why) {
			t.Errorf("%s:\n%s\nwanted %q and %q", c.line, got, c.want, c.why)
		}
		if diff := cmp.Diff(before, shown()); diff != "" {
			t.Fatalf("%s changes the switch (-before +after):\n%s", c.line, diff)
		}
	}
	// The database itself checks nothing, as Redis: what came in there is not saved.
	got := m.say("sudo sonic-db-cli CONFIG_DB HSET 'PORT|Ethernet4' mtu 9217; sudo config save -y; grep -c 9217 /etc/sonic/config_db.json; sudo config reload -y -f; sonic-cfggen -d -v PORT.Ethernet4.mtu")
	if !strings.Contains(got, "do not accept the result") || !strings.HasSuffix(got, "0\nStopping SONiC target ...\nRunning command: /usr/local/bin/sonic-cfggen -j /etc/sonic/config_db.json --write-to-db\nRestarting SONiC target ...\n9100\nexit 0") {
		t.Error(got)
	}
	m.say("sed 's/\"9100\"/\"9217\"/' /etc/sonic/config_db.json > edited.json; sudo cp edited.json /etc/sonic/config_db.json")
	for _, c := range []struct{ line, want string }{
		{"sudo config reload -y", "/etc/sonic/config_db.json fails YANG validation! Error: Data Loading Failed\n"},
		{"sudo config reload -y -f", "rocec lab: SONiC's YANG models do not accept"},
		{"sudo mv /etc/sonic/config_db.json away; sudo config reload -y", "The config file /etc/sonic/config_db.json doesn't exist\nAborted!\nexit 1"},
	} {
		if got := m.say(c.line); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nwanted %q", c.line, got, c.want)
		}
	}
}

// TestACL: the type of a table and one of its rules do not change at once.
func TestACL(t *testing.T) {
	rows := func(kind, packet string) database {
		db := database{}
		db.set("ACL_TABLE", "EDGE", "type", kind)
		db.set("ACL_RULE", "EDGE|r1", "PACKET_ACTION", packet)
		return db
	}
	for _, c := range []struct {
		to   database
		want string
	}{
		{rows("L3V6", "DROP"), ""},
		{rows("L3", "FORWARD"), ""},
		{rows("CTRLPLANE", "FORWARD"), ""},
		{database{}, ""},
		{rows("L3V6", "FORWARD"), "Modification of dataacl rule EDGE|r1 is illegal: "},
	} {
		if err := aclAllowed(rows("L3", "DROP"), c.to); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%v: %v, wanted %q", c.to, err, c.want)
		}
	}
}

// TestUnknownSKU: the config updater refuses what it restricts on a model that it does not know.
func TestUnknownSKU(t *testing.T) {
	m := start(t, "dell/s5224f-on")
	if err := m.Disk().WriteFile("/home/admin/wd.json", []byte(`[{"op":"add","path":"/PFC_WD","value":{"GLOBAL":{"POLL_INTERVAL":"200"}}}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := m.say("sudo config apply-patch wd.json"); !strings.Contains(got, "Modification of PFC_WD table is illegal-") {
		t.Error(got)
	}
}

// TestOlder: an old image does not take what came into the models later.
func TestOlder(t *testing.T) {
	qos := func(field, value string) database {
		db := database{}
		db.set("PORT_QOS_MAP", "Ethernet0", field, value)
		return db
	}
	rewrite := database{}
	rewrite.set("TC_TO_DSCP_MAP", "x", "3", "26")
	for _, c := range []struct {
		db    database
		since string
	}{{qos("pfc_enable", ""), "202505"}, {qos("pfcwd_sw_enable", ""), "202505"}, {qos("tc_to_dscp_map", "x"), "202411"}, {rewrite, "202411"}, {qos("pfc_enable", "3"), ""}} {
		for _, version := range []string{"202205", "202405", "202411", "202505", "master", ""} {
			m := &Machine{device: &intent.Device{OS: intent.OS{Version: version}}}
			if err := m.older(c.db); (err != nil) != (len(version) == 6 && version[0] == '2' && version < c.since) {
				t.Errorf("%v on %q: %v", c.db, version, err)
			}
		}
	}
}

// TestShuts: the config updater shuts the ports that are up and whose rows of port-critical tables change, opens them last, and
// touches no other.
func TestShuts(t *testing.T) {
	m := start(t, "nvidia/sn3700c")
	file := func(name, text string) {
		if err := m.Disk().WriteFile("/home/admin/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const line = `Patch Applier:   * [{"op": "replace", "path": "/PORT/%s/admin_status", "value": "%s"}]`
	moves := func(port string) string { return fmt.Sprintf(line+"\n"+line+"\n", port, "down", port, "up") }
	file("map.json", `[{"op":"add","path":"/DSCP_TO_TC_MAP","value":{"a":{"26":"3"}}},{"op":"add","path":"/SCHEDULER","value":{"s":{"type":"STRICT"}}}]`)
	file("qos.json", `[{"op":"add","path":"/PORT_QOS_MAP","value":{"Ethernet0":{"dscp_to_tc_map":"a"},"Ethernet4":{"dscp_to_tc_map":"a"}}}]`)
	file("pg.json", `[{"op":"add","path":"/BUFFER_PG","value":{"Ethernet4|3-4":{"profile":"NULL"}}}]`)
	file("close.json", `[{"op":"replace","path":"/PORT/Ethernet4/admin_status","value":"down"},{"op":"remove","path":"/BUFFER_PG"}]`)
	file("open.json", `[{"op":"replace","path":"/PORT/Ethernet4/admin_status","value":"up"},{"op":"add","path":"/QUEUE","value":{"Ethernet4|3":{"scheduler":"s"}}}]`)
	file("up.json", `[{"op":"replace","path":"/PORT/Ethernet0/admin_status","value":"up"},{"op":"replace","path":"/PORT/Ethernet4/admin_status","value":"up"}]`)
	if got := m.say("sonic-cfggen -d -v PORT.Ethernet4.admin_status"); got != "down\nexit 0" {
		t.Errorf("a port of a new image is %s", got)
	}
	m.say("sudo config apply-patch up.json")
	m.say("sudo config checkpoint a")
	for _, c := range []struct{ line, want string }{
		{"sudo config apply-patch map.json", ""},
		{"sudo config apply-patch --dry-run qos.json", ""},
		{"sudo config apply-patch qos.json", fmt.Sprintf(line+"\n"+line+"\n"+line+"\n"+line+"\n", "Ethernet0", "down", "Ethernet4", "down", "Ethernet0", "up", "Ethernet4", "up")},
		{"sudo config apply-patch pg.json", moves("Ethernet4")},
		{"sudo config apply-patch close.json", fmt.Sprintf(line+"\n", "Ethernet4", "down")},
		{"sudo config apply-patch open.json", ""}, // it is down when its rows change
		{"sudo config rollback a", fmt.Sprintf(line+"\n"+line+"\n"+line+"\n"+line+"\n", "Ethernet0", "down", "Ethernet4", "down", "Ethernet0", "up", "Ethernet4", "up")},
	} {
		var got strings.Builder
		for l := range strings.Lines(m.say(c.line)) {
			if strings.HasPrefix(l, "Patch Applier:   * ") {
				got.WriteString(l)
			}
		}
		if diff := cmp.Diff(c.want, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.line, diff)
		}
	}
	if got := m.say("sonic-cfggen -d -v PORT.Ethernet4.admin_status"); got != "up\nexit 0" {
		t.Error(got)
	}
}

// TestBufferManager: what buffermgrd hears of, and what it does then, by branch.
func TestBufferManager(t *testing.T) {
	for version, gone := range map[string]struct{ row, cable bool }{"202405": {}, "202505": {}, "202511": {cable: true}, "202605": {row: true, cable: true}, "master": {row: true, cable: true}} {
		d := device("dell/s5224f-on")
		d.OS.Version, d.ASIC = version, "trident3"
		m := New(d, lab.Environment{Clock: lab.RealTime{}, User: "admin"}, &posix.Scripts{})
		t.Cleanup(func() { _ = m.Close() })
		set := func(row, field, value string) {
			m.say("sudo sonic-db-cli CONFIG_DB HSET '" + row + "' " + field + " '" + value + "'")
		}
		remove := func(row, field string) {
			m.say("sudo sonic-db-cli CONFIG_DB " + map[bool]string{true: "DEL", false: "HDEL"}[field == ""] + " '" + row + "' " + field)
		}
		groups := func(when, want string) {
			t.Helper()
			var list []string
			for _, key := range slices.Sorted(maps.Keys(m.snapshot()["BUFFER_PG"])) {
				list = append(list, key+" "+m.snapshot().text("BUFFER_PG", key, "profile"))
			}
			if got := strings.Join(list, ", "); got != want {
				t.Errorf("%s, %s: %q, wanted %q", version, when, got, want)
			}
		}
		const three = "Ethernet4|3 pg_lossless_100000_5m_profile"
		set("PORT_QOS_MAP|Ethernet4", "pfc_enable", "3")
		groups("without a cable", "")
		set("CABLE_LENGTH|AZURE", "Ethernet4", "5m")
		groups("with all", three)
		remove("BUFFER_PG|Ethernet4|3", "")
		groups("taken away", "")
		remove("PORT_QOS_MAP|Ethernet4", "pfc_enable") // and with its last field the row
		set("PORT|Ethernet4", "mtu", "9000")
		again := three
		if gone.row {
			again = ""
		}
		groups("the port changes without PFC", again)
		remove("BUFFER_PG|Ethernet4|3", "")
		set("PORT_QOS_MAP|Ethernet4", "tc_to_pg_map", "a")
		set("PORT_QOS_MAP|Ethernet4", "pfc_enable", "4")
		remove("PORT_QOS_MAP|Ethernet4", "pfc_enable") // the row stays
		remove("BUFFER_PG|Ethernet4|4", "")
		set("PORT|Ethernet4", "mtu", "9100")
		groups("the field of PFC goes", "Ethernet4|4 pg_lossless_100000_5m_profile")
		set("PORT_QOS_MAP|Ethernet4", "pfc_enable", "3")
		set("CABLE_LENGTH|AZURE", "Ethernet4", "40m")
		four, after := "Ethernet4|4 pg_lossless_100000_5m_profile", three
		if gone.cable {
			after = "Ethernet4|3 pg_lossless_100000_40m_profile"
		}
		groups("another priority, another cable", after+", "+four)
		set("PORT|Ethernet4", "mtu", "9000")
		groups("the port changes", "Ethernet4|3 pg_lossless_100000_40m_profile, "+four)
	}
}

// TestProfiles: which buffer and ECN profiles the updater lets come, go and change, by branch.
func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		version, table, before, after string
		want                          bool
	}{
		{"202405", "BUFFER_PROFILE", `{}`, `{"a":{"xoff":"1"}}`, false},
		{"202505", "BUFFER_PROFILE", `{"a":{"xoff":"1"}}`, `{}`, false},
		{"202511", "BUFFER_PROFILE", `{"a":{"xoff":"1"}}`, `{"b":{"xoff":"1"}}`, true},
		{"202405", "BUFFER_PROFILE", `{"a":{"xoff":"1"}}`, `{"a":{"xoff":"2"}}`, true},
		{"202511", "BUFFER_PROFILE", `{"a":{"xoff":"1"}}`, `{"a":{"xon":"1"}}`, false},
		{"202511", "BUFFER_PROFILE", `{"a":{"xon":"1"}}`, `{"a":{"xon":"2"}}`, false},
		{"202405", "WRED_PROFILE", `{}`, `{"a":{"ecn":"ecn_all"}}`, false},
		{"202405", "WRED_PROFILE", `{"AZURE_LOSSLESS":{"green_max_threshold":"1"}}`, `{"AZURE_LOSSLESS":{"green_max_threshold":"2"}}`, true},
		{"202411", "WRED_PROFILE", `{"a":{"green_max_threshold":"1"}}`, `{"a":{"green_max_threshold":"2"}}`, false},
		{"202505", "WRED_PROFILE", `{"a":{"green_max_threshold":"1"}}`, `{"a":{"green_max_threshold":"2"}}`, true},
		{"202505", "WRED_PROFILE", `{"a":{"ecn":"ecn_all"}}`, `{"a":{"ecn":"ecn_none"}}`, false},
		{"202511", "WRED_PROFILE", `{}`, `{"a":{"ecn":"ecn_all"}}`, true},
		{"202211", "BUFFER_PROFILE", `{}`, `{"a":{"xoff":"1"}}`, true},
	} {
		d := device("nvidia/sn3700c")
		d.OS.Version = c.version
		m := &Machine{device: d, known: true}
		db := func(rows string) database {
			db, err := read([]byte(`{"` + c.table + `":` + rows + `}`))
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
		if err := m.allowed(db(c.before), db(c.after)); (err == nil) != c.want {
			t.Errorf("%s %s: %s to %s: %v", c.version, c.table, c.before, c.after, err)
		}
	}
}

// TestRuns: the buffer manager has one row for groups that are neighbours.
func TestRuns(t *testing.T) {
	for groups, want := range map[string]string{"": "", "3": "3", "3,4": "3-4", "2,3,4,6": "2-4 6", "0,7": "0 7", "6,7": "6-7"} {
		if got := strings.Join(runs(groups), " "); got != want {
			t.Errorf("%q: %q, wanted %q", groups, got, want)
		}
	}
}

// TestStopWatchdog: pfcwd takes rows out that the config updater keeps.
func TestStopWatchdog(t *testing.T) {
	m := start(t, "dell/s5224f-on")
	m.say("sudo sonic-db-cli CONFIG_DB HSET 'PFC_WD|Ethernet0' action drop")
	if got := m.say("pfcwd stop Ethernet0"); !strings.Contains(got, "Root privileges") {
		t.Error(got)
	}
	m.say("sudo pfcwd stop Ethernet0 Ethernet9999")
	if got := m.say("sonic-cfggen -d --print-data"); strings.Contains(got, "PFC_WD") {
		t.Error(got)
	}
}

// TestReboot: what was not saved is gone.
func TestReboot(t *testing.T) {
	m := start(t, "nvidia/sn3700c")
	if err := m.Disk().WriteFile("/home/admin/v.json", []byte(`{"VLAN":{"Vlan7":{"vlanid":"7"}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, save := range []bool{false, true} {
		m.say("sudo config load -y v.json")
		if save {
			m.say("sudo config save -y")
		}
		m.Reboot()
		if got := strings.Contains(m.say("sonic-cfggen -d --print-data"), "Vlan7"); got != save {
			t.Errorf("saved %v, there %v", save, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"A":{"k|x":{"f":"v","l":["a"]}},"B":{"NULL":{"NULL":"NULL"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		db, err := read(b)
		if err != nil {
			return
		}
		if again, err := read(db.print()); err != nil || !bytes.Equal(again.print(), db.print()) {
			t.Errorf("%q: %v", b, err)
		}
		db.forget("x")
	})
}
