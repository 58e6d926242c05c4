package sonic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/feature"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

var fixtures = map[string]func() *intent.Device{"tor": tor, "leaf": leaf, "pair": pair, "split": split}

func TestGolden(t *testing.T) {
	for name, device := range fixtures {
		targettest.Golden(t, filepath.Join("testdata", name+".txtar"), targettest.EmitString(&Target, device()))
	}
}

func TestEveryField(t *testing.T) {
	exempt := targettest.Exempt{
		"QoS.Pause":       "802.3x pause is off on every port and has no setting",
		"QoS.DCBX":        "DCBX is off on every port and has no setting",
		"Port.CableMm":    "whole metres, and on the traditional model the lengths of pg_profile_lookup.ini",
		"Watchdog.Action": "drop is what pfcwd takes where none is written",
		"MLAG.OutOfBand":  "MCLAG_DOMAIN has the addresses alone, of whatever interface",
		"Device.Options":  "the model that the ASIC has by default may also be written",
	}
	targettest.EveryFieldExcept(t, &Target, exempt, tor(), leaf(), pair(), split())
}

func TestEveryString(t *testing.T) {
	check := func(files []emit.Artifact) error {
		for _, f := range files {
			switch filepath.Ext(f.Path) {
			case ".json":
				if !json.Valid(f.Bytes) {
					return fmt.Errorf("%s is not JSON", f.Path)
				}
			case ".sh":
				file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(string(f.Bytes)), f.Path)
				if err != nil {
					return err
				}
				bad := error(nil)
				syntax.Walk(file, func(n syntax.Node) bool {
					if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && strings.Contains(c.Args[0].Lit(), "touch") {
						bad = errors.New("a string became a command")
					}
					return true
				})
				if bad != nil {
					return bad
				}
			case ".py":
				if !strings.HasSuffix(string(f.Bytes), checkProgram) {
					return fmt.Errorf("%s is not the program", f.Path)
				}
				if head := strings.TrimSuffix(string(f.Bytes), checkProgram); strings.Count(head, "\n") != 2 {
					return fmt.Errorf("%s has a header of other than two lines", f.Path)
				}
			}
		}
		return nil
	}
	d := pair()
	d.Ifaces[1].VRF = "Vrf-blue"
	targettest.EveryString(t, &Target, d, check)
}

func TestTable(t *testing.T) {
	rows := map[feature.ID]feature.Row{}
	for _, r := range features.Rows {
		if r.Source == "" {
			t.Errorf("%s has no source", r.ID)
		}
		if r.Support != feature.Native && r.Note == "" {
			t.Errorf("%s is %s without a note", r.ID, r.Support)
		}
		rows[r.ID] = r
	}
	for _, id := range feature.All {
		if _, ok := rows[id]; !ok {
			t.Errorf("no row for %s", id)
		}
	}
	if len(features.Rows) != len(feature.All) {
		t.Errorf("%d rows for %d features", len(features.Rows), len(feature.All))
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"202405", "202411", -1}, {"202605", "202511", 1}, {"master", "202605", 1}, {"", "master", 0}, {"202405.1", "202405", 0}, {"202205", "", -1}} {
		got := compare(c.a, c.b)
		if got < 0 && c.want >= 0 || got > 0 && c.want <= 0 || got == 0 && c.want != 0 {
			t.Errorf("compare(%q, %q) = %d, want sign of %d", c.a, c.b, got, c.want)
		}
	}
}

// TestScripts runs the checkers of nobody here over every script.
func TestScripts(t *testing.T) {
	for name, device := range fixtures {
		for _, f := range targettest.Emit(&Target, device()) {
			if strings.HasSuffix(f.Path, ".sh") {
				oracle.Shell(t, name+"/"+f.Path, f.Bytes)
			}
		}
	}
}

// delivered is the folder of a device on the switch, with what it shares with others
// beside it.
func delivered(t *testing.T, d *intent.Device) string {
	t.Helper()
	var out emit.Out
	write(d, &out)
	dir := filepath.Join(t.TempDir(), "device")
	put := func(name string, f emit.Artifact) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.Bytes, os.FileMode(f.Mode))); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range out.Artifacts {
		put(f.Path, f)
	}
	for _, k := range out.Kits {
		for _, f := range k.Artifacts {
			put(k.Folder()+"/"+f.Path, f)
		}
	}
	return dir
}

// TestCanHash runs the script against switches that can choose the function of
// the hash and such that cannot.
func TestCanHash(t *testing.T) {
	oracle.Need(t, "python3")
	d := leaf()
	dir, bin := delivered(t, d), t.TempDir()
	db := string(loaded(t, bare(t, d)))
	for name, text := range map[string]string{
		"id": "echo 0", "sonic-cfggen": "cat <<'END'\n" + db + "\nEND", "config": "echo \"$*\" >> log",
		"sonic-db-cli": `case "$4" in ECMP_HASH_ALGORITHM_CAPABLE) echo "$CAN";; ECMP_HASH_ALGORITHM) echo "$LIST";; esac`,
		"sleep":        "exit 0",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		can, list string
		want      bool
	}{
		{"true", "CRC,XOR,CRC_32LO", true},
		{"true", "CRC_32LO", true},
		{"true", "N/A", true},
		{"true", "CRC,XOR,CRC_32LOW", false},
		{"true", "", false},
		{"false", "CRC_32LO", false},
		{"", "", false},
	} {
		log := filepath.Join(dir, "log")
		_ = os.Remove(log)
		cmd := exec.Command("bash", "apply.sh")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CAN="+c.can, "LIST="+c.list)
		out, err := cmd.CombinedOutput()
		told, _ := os.ReadFile(log)
		if began := strings.Contains(string(told), "load -y"); began != c.want {
			t.Errorf("capable %q of %q: began to load: %t, want %t: %v\n%s", c.can, c.list, began, c.want, err, out)
		}
		if refused := strings.Contains(string(out), "cannot hash by CRC_32LO"); refused == c.want {
			t.Errorf("capable %q of %q: %s", c.can, c.list, out)
		}
	}
}

// image is the part of config_db.json that the platform brings: lanes, pools
// and the rows the QoS and buffer templates make for two lossless priorities.
// skus are those that sonic-buildimage device/*/*/default_sku names.
var skus = map[string]string{
	"nvidia/sn5600": "ACS-SN5600", "nvidia/sn3700": "ACS-MSN3700", "dell/s5232f": "DellEMC-S5232f-C32", "dell/z9332f": "DellEMC-Z9332f-O32",
}

func image(t testing.TB, d *intent.Device) map[string]any {
	t.Helper()
	rows := func() map[string]any { return map[string]any{} }
	port, pg, queues, cables, splits := rows(), rows(), rows(), rows(), rows()
	for i, p := range d.Ports {
		port[p.Name] = map[string]any{"lanes": fmt.Sprint(200 + 8*i), "alias": fmt.Sprintf("etp%d", i+1), "index": fmt.Sprint(i + 1), "speed": "100000", "mtu": "9100", "admin_status": "up"}
		if s := p.Split; s != nil {
			port[p.Name].(map[string]any)["lanes"], port[p.Name].(map[string]any)["alias"] = s.Lanes, s.Alias
			port[p.Name].(map[string]any)["index"], port[p.Name].(map[string]any)["subport"] = decimal(s.Index), decimal(s.Number)
			splits[s.Parent] = map[string]any{breakoutColumn: s.Mode}
		}
		profile := "pg_lossless_100000_300m_profile"
		if bufferModel(d) == dynamic {
			profile = computed
		}
		pg[p.Name+"|3-4"] = map[string]any{"profile": profile}
		pg[p.Name+"|0"] = map[string]any{"profile": "ingress_lossy_profile"}
		for run, profile := range map[string]string{"0-2": "egress_lossy_profile", "3-4": losslessQueue, "5-6": "egress_lossy_profile"} { // buffers_config.j2
			queues[p.Name+"|"+run] = map[string]any{"profile": profile}
		}
		cables[p.Name] = "300m"
	}
	profile := func(pool, size string) map[string]any {
		return map[string]any{"pool": pool, "size": size, "dynamic_th": "0"}
	}
	lossless := profile(losslessPool, "18432")
	lossless["xon"], lossless["xoff"] = "18432", "165888"
	db := map[string]any{
		"DEVICE_METADATA": map[string]any{"localhost": map[string]any{"hostname": "sonic", "hwsku": cmp.Or(skus[d.Model], "other"), "buffer_model": bufferModel(d), "mac": "00:11:22:33:44:55"}},
		"PORT":            port,
		"BUFFER_POOL": map[string]any{
			losslessPool:           map[string]any{"type": "ingress", "mode": "dynamic", "size": "26451968"},
			"egress_lossless_pool": map[string]any{"type": "egress", "mode": "dynamic", "size": "60817392"},
			"egress_lossy_pool":    map[string]any{"type": "egress", "mode": "dynamic", "size": "26451968"},
		},
		"BUFFER_PROFILE": map[string]any{
			"ingress_lossy_profile": profile(losslessPool, "0"), losslessQueue: profile("egress_lossless_pool", "0"),
			"egress_lossy_profile": profile("egress_lossy_pool", "9216"), "pg_lossless_100000_300m_profile": lossless,
		},
		"BUFFER_PG": pg, "BUFFER_QUEUE": queues, "CABLE_LENGTH": map[string]any{shared: cables},
		"DSCP_TO_TC_MAP": map[string]any{"AZURE": map[string]any{"3": "3", "4": "4"}},
		"PORT_QOS_MAP":   map[string]any{"global": map[string]any{"dscp_to_tc_map": "AZURE"}},
	}
	if len(splits) > 0 {
		db[breakoutTable] = splits
	}
	return db
}

// loaded is what config load makes of a configuration and fragments.
func loaded(t testing.TB, db map[string]any, parts ...tables) []byte {
	t.Helper()
	for _, part := range parts {
		for table, rows := range part.plain() {
			have, ok := db[table].(map[string]any)
			if !ok {
				have = map[string]any{}
				db[table] = have
			}
			for key, fields := range rows.(map[string]any) {
				row, ok := have[key].(map[string]any)
				if !ok {
					row = map[string]any{}
					have[key] = row
				}
				for f, v := range fields.(map[string]any) {
					row[f] = v
				}
			}
		}
	}
	b, err := json.MarshalIndent(db, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// accepted fails unless the intent is not refused.
func accepted(t testing.TB, d *intent.Device) {
	t.Helper()
	if list := targets.Check(&Target, d, nil); list.HasErrors() {
		t.Fatalf("%s is refused:\n%s", d.Name, targettest.Refusals(list))
	}
}

func TestYang(t *testing.T) {
	for _, device := range fixtures {
		d := device()
		accepted(t, d)
		c := build(d)
		oracle.Yang(t, loaded(t, image(t, d), c.normal, c.maintenance))
		oracle.Yang(t, loaded(t, image(t, d), c.normal))
		oracle.Yang(t, loaded(t, bare(t, d), c.breakouts, c.normal))
	}
}

// TestChecker runs the program of the artifacts as the scripts do.
func TestChecker(t *testing.T) {
	oracle.Need(t, "python3")
	d := leaf()
	dir := delivered(t, d)
	c := build(d)
	other := image(t, d)
	other["QUEUE"] = map[string]any{"Ethernet0|4": map[string]any{"wred_profile": "AZURE_LOSSLESS", "scheduler": "scheduler.1"}}
	other["VLAN_MEMBER"] = map[string]any{"Vlan300|Ethernet0": map[string]any{"tagging_mode": "untagged"}}
	for name, db := range map[string][]byte{
		"other.json": loaded(t, other), "fresh.json": loaded(t, bare(t, d), c.normal),
		"stock.json": loaded(t, image(t, d)), "loaded.json": loaded(t, image(t, d), c.normal),
		"vrf.json":   []byte(`{"VLAN_INTERFACE": {"Vlan9": {"vrf_name": "Vrf-a"}, "Vlan9|10.0.0.1/24": {}}}`),
		"moved.json": []byte(`{"VLAN_INTERFACE": {"Vlan9": {"vrf_name": "Vrf-b"}}}`),
		"plain.json": []byte(`{"VLAN_INTERFACE": {"Vlan9": {}}}`),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), db, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string // of the complaint; "" for none
	}{
		{[]string{"missing", "stock.json", linksFile, qosFile}, "QUEUE|Ethernet0|3 is missing"},
		{[]string{"missing", "loaded.json", linksFile, qosFile}, ""},
		{[]string{"overlap", "stock.json", qosFile}, "BUFFER_PG|Ethernet0|3-4 overlaps with BUFFER_PG|Ethernet0|3"},
		{[]string{"overlap", "stock.json", linksFile}, ""},
		{[]string{"absent", "stock.json", absentFile, linksFile, qosFile}, "BUFFER_PG|Ethernet0|3-4 has to go"},
		{[]string{"absent", "fresh.json", absentFile, linksFile, qosFile}, ""},
		{[]string{"absent", "other.json", absentFile, linksFile, qosFile}, "QUEUE|Ethernet0|4 wred_profile = AZURE_LOSSLESS has to go"},
		{[]string{"absent", "other.json", absentFile, linksFile, qosFile}, "VLAN_MEMBER|Vlan300|Ethernet0 has to go"},
		{[]string{"groups", "stock.json", qosFile}, "Ethernet0 has PFC on priority 3 and no lossless group"},
		{[]string{"moves", "stock.json", "vrf.json"}, ""},
		{[]string{"moves", "moved.json", "vrf.json"}, "VLAN_INTERFACE|Vlan9 is in Vrf-b and has to leave it first"},
		{[]string{"moves", "plain.json", "vrf.json"}, "VLAN_INTERFACE|Vlan9 is in the default VRF and has to leave it first"},
		{[]string{"moves", "vrf.json", "vrf.json"}, ""},
		{[]string{"nonsense", "stock.json", qosFile}, "usage"},
	} {
		cmd := exec.Command("python3", append([]string{kit().Folder() + "/" + checkFile}, c.args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if (err != nil) != (c.want != "") || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v\n%.600s\nwant %q", c.args, err, out, c.want)
		}
	}
}

// overlaps are the rows of a configuration that a fragment meets without being the same, as the scripts look for them.
func overlaps(t *testing.T, db, fragment []byte) (list []string) {
	t.Helper()
	var have, more map[string]map[string]any
	if err := errors.Join(json.Unmarshal(db, &have), json.Unmarshal(fragment, &more)); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"QUEUE", "BUFFER_PG", "BUFFER_QUEUE"} {
		for ours := range more[table] {
			for other := range have[table] {
				if other != ours && overlap(other, ours) {
					list = append(list, table+"|"+other)
				}
			}
		}
	}
	return list
}

// TestLosslessQueues: the image's own lossless queues are left alone, others are
// taken out of its lossy ones, in a window.
func TestLosslessQueues(t *testing.T) {
	d := leaf()
	q := &d.QoS[0]
	q.Lossless, q.PFC = 1<<3|1<<5, intent.Some(intent.PrioritySet(1<<3|1<<5))
	q.TC.Value[5], q.Group.Value[5] = 5, 5
	accepted(t, d)
	db := bytesOf(t, stock(t, d))
	patch, loads, rest, list := Patch(db, d)
	patched, whole := after(t, db, patch, loads, rest)
	oracle.Yang(t, whole)
	if got := overlaps(t, patched, rest); len(list) > 0 || len(got) > 0 {
		t.Errorf("after the patch the window's rows overlap with %v: %v", got, list)
	}
	if again, loads, rest, _ := Patch(whole, d); again != nil || loads != nil || rest != nil {
		t.Errorf("a second patch does something: %s %s %s", again, loads, rest)
	}
	c := build(d)
	if rows := c.normal["BUFFER_QUEUE"]; rows != nil {
		t.Errorf("a normal run has %v", rows)
	}
	for key, want := range map[string]string{"Ethernet0|5": losslessQueue, "Ethernet0|3": "", "Ethernet0|3-5": "", "Ethernet16|5": ""} {
		if got := c.maintenance.at("BUFFER_QUEUE", key)["profile"].value; got != want {
			t.Errorf("BUFFER_QUEUE|%s is %q, want %q", key, got, want)
		}
	}
	for _, key := range []string{"Ethernet0|3", "Ethernet0|5", "Ethernet504|5"} {
		if got := c.normal.at("BUFFER_PG", key)["profile"].value; got != computed {
			t.Errorf("BUFFER_PG|%s is %q", key, got)
		}
	}
	oracle.Yang(t, loaded(t, image(t, d), c.normal, c.maintenance))
}
