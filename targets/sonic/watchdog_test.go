package sonic

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wI2L/jsondiff"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
)

// sku makes a stock switch another one.
func sku(name, asic, version string) func(*intent.Device, map[string]any) {
	return func(d *intent.Device, db map[string]any) {
		d.ASIC, d.OS.Version = asic, version
		d.Options = map[string]string{optionModel: dynamic} // its buffers stay as they are
		db["DEVICE_METADATA"].(map[string]any)["localhost"].(map[string]any)["hwsku"] = name
	}
}

// TestPatchWatchdog: where the validators refuse PFC_WD, config load merges it.
func TestPatchWatchdog(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *intent.Device, db map[string]any)
		patch  bool
	}{
		"known SKU and branch":          {func(*intent.Device, map[string]any) {}, true},
		"branch too old":                {sku("ACS-SN5640", "spectrum-5", "202411"), false},
		"branch new enough":             {sku("ACS-SN5640", "spectrum-5", "202505"), true},
		"no validators":                 {sku("ACS-SN5640", "spectrum-5", "202211"), true},
		"unknown SKU of a known ASIC":   {sku("DellEMC-S5248f-P-25G", "trident3", "202505"), false},
		"no SKU":                        {sku("", "spectrum-4", "202505"), false},
		"a part of a SKU of Spectrum":   {sku("ACS-SN5600-custom", "spectrum-4", "202505"), false},
		"a part of a SKU of Broadcom":   {sku("arista-7050cx3-32s-c32-slb", "trident3", "202505"), true},
		"Broadcom that came later":      {sku("Nokia-IXR7220-D4-36D", "trident4", "202411"), false},
		"a SKU of master alone":         {sku("ACS-SN6810_LD", "spectrum-6", "202605"), false},
		"a SKU of master on the newest": {sku("ACS-SN6810_LD", "spectrum-6", "master"), true},
		"no GLOBAL row": {func(_ *intent.Device, db map[string]any) {
			delete(db["PFC_WD"].(map[string]any), "GLOBAL")
		}, false},
		"no table": {func(_ *intent.Device, db map[string]any) { delete(db, "PFC_WD") }, false},
	} {
		d := leaf()
		db := stock(t, d)
		rows := db["PFC_WD"].(map[string]any)
		rows["Ethernet1000"] = rows["Ethernet0"]
		delete(rows, "Ethernet0") // a watchdog that runs is another matter
		for _, p := range d.Ports {
			delete(db["PORT_QOS_MAP"].(map[string]any)[p.Name].(map[string]any), "pfcwd_sw_enable")
		}
		c.change(d, db)
		patch, loads, rest, list := Patch(bytesOf(t, db), d)
		if len(list) > 0 {
			t.Fatalf("%s: %v", name, list)
		}
		if got := strings.Contains(string(patch), "/PFC_WD"); got != c.patch {
			t.Errorf("%s: PFC_WD in the patch: %t", name, got)
		}
		if got := strings.Contains(string(loads), `"PFC_WD"`); got == c.patch {
			t.Errorf("%s: PFC_WD in the part for config load: %t", name, got)
		}
		if strings.Contains(string(rest), `"PFC_WD"`) {
			t.Errorf("%s: PFC_WD waits for a window", name)
		}
	}
}

// TestPatchRestarts: a watchdog that runs is stopped before it gets another action, other times or other priorities.
func TestPatchRestarts(t *testing.T) {
	for name, c := range map[string]struct {
		row      map[string]any // nil: none
		mask     string
		restarts bool // by pfcwd and config load
		patches  bool
	}{
		"nothing yet":                            {nil, "", false, true},
		"as it shall":                            {map[string]any{"action": "drop", "detection_time": "200", "restoration_time": "200", "pfc_stat_history": "enable"}, "3", false, false},
		"other action":                           {map[string]any{"action": "forward", "detection_time": "200", "restoration_time": "200"}, "3", true, false},
		"other times":                            {map[string]any{"action": "drop", "detection_time": "400", "restoration_time": "200"}, "3", true, false},
		"other priorities":                       {map[string]any{"action": "drop", "detection_time": "200", "restoration_time": "200"}, "3,4", true, false},
		"none, and other priorities on the port": {nil, "4", true, false},
	} {
		d := leaf()
		db := stock(t, d)
		rows := db["PFC_WD"].(map[string]any)
		delete(rows, "Ethernet0")
		for _, p := range d.Ports {
			if p.QoS == "untrusted" {
				continue
			}
			if c.row != nil {
				rows[p.Name] = maps.Clone(c.row)
			}
			bound := db["PORT_QOS_MAP"].(map[string]any)[p.Name].(map[string]any)
			if bound["pfcwd_sw_enable"] = c.mask; c.mask == "" {
				delete(bound, "pfcwd_sw_enable")
			}
		}
		rows["GLOBAL"] = map[string]any{"POLL_INTERVAL": "200"}
		captured := bytesOf(t, db)
		r, list := rebased(captured, d, nil)
		if len(list) > 0 {
			t.Fatalf("%s: %v", name, list)
		}
		stops, loads := r.stops.at("PFC_WD", "Ethernet0"), r.loads.at("PFC_WD", "Ethernet0")
		patches := slices.ContainsFunc(r.ops, func(o jsondiff.Operation) bool { return strings.HasPrefix(o.Path, "/PFC_WD") })
		if (loads != nil) != c.restarts || (stops != nil) != (c.restarts && c.row != nil) || patches != c.patches {
			t.Errorf("%s: stopped %v, loaded %v, patched %t", name, stops, loads, patches)
		}
		if loads != nil && (loads["action"].value != "drop" || loads["detection_time"].value != "200") {
			t.Errorf("%s: %v is loaded", name, loads)
		}
		patch, fragment, rest, _ := Patch(captured, d)
		_, whole := after(t, captured, patch, fragment, rest)
		if again, fragment, rest, _ := Patch(whole, d); again != nil || fragment != nil || rest != nil {
			t.Errorf("%s: a second patch does something: %s %s %s", name, again, fragment, rest)
		}
		restarts := pythonChecks(t, "restarts", captured, build(d).normal)
		if got := strings.Contains(restarts, "Ethernet0\n"); got != (c.restarts && c.row != nil) {
			t.Errorf("%s: without a patch %q restart", name, restarts)
		}
	}
}

// pythonChecks is what the program of the artifacts prints.
func pythonChecks(t *testing.T, verb string, db []byte, fragment tables) string {
	t.Helper()
	oracle.Need(t, "python3")
	dir := t.TempDir()
	for file, text := range map[string][]byte{"db.json": db, "fragment.json": bytesOf(t, fragment.plain()), checkFile: []byte(checkProgram)} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("python3", checkFile, verb, "db.json", "fragment.json")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s", verb, err, out)
	}
	return string(out)
}

// TestPatchStop: where the validators refuse PFC_WD, pfcwd takes a watchdog off, and what it had comes back.
func TestPatchStop(t *testing.T) {
	oracle.Need(t, "python3")
	for name, c := range map[string]struct {
		change func(*intent.Device, map[string]any)
		patch  bool
	}{
		"known SKU":   {func(*intent.Device, map[string]any) {}, true},
		"unknown SKU": {sku("DellEMC-S5248f-P-25G", "trident3", "202505"), false},
	} {
		d := leaf()
		d.QoS[0].Watchdog = intent.Some(intent.Watchdog{})
		db := stock(t, d)
		c.change(d, db)
		captured := bytesOf(t, db)
		var out emit.Out
		if list := rebase(d, targets.Captured{Files: map[string][]byte{running: captured}}, &out); len(list) > 0 {
			t.Fatalf("%s: %v", name, list)
		}
		files := map[string]string{}
		for _, a := range out.Artifacts {
			files[a.Path] = string(a.Bytes)
		}
		stops := "rocec-" + d.Name + stopSuffix
		if got := strings.Contains(files["rocec-"+d.Name+".patch.json"], "/PFC_WD/Ethernet0"); got != c.patch {
			t.Errorf("%s: PFC_WD in the patch: %t", name, got)
		}
		if got := strings.Contains(files["apply.sh"], "pfcwd stop Ethernet0\n"); got == c.patch {
			t.Errorf("%s: pfcwd stop in apply.sh: %t", name, got)
		}
		if got := strings.Contains(files["rollback.sh"], stops); got == c.patch {
			t.Errorf("%s: %s in rollback.sh: %t", name, stops, got)
		}
		if c.patch {
			continue
		}
		dir := t.TempDir()
		for file, text := range map[string]string{beforeFile: string(captured), stops: files[stops], checkFile: checkProgram} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("python3", checkFile, "back", beforeFile, beforeFile, stops)
		cmd.Dir = dir
		back, err := cmd.CombinedOutput()
		want := "DEL\x1fPFC_WD|Ethernet0\nHSET\x1fPFC_WD|Ethernet0\x1faction\x1fforward\nHSET\x1fPFC_WD|Ethernet0\x1fdetection_time\x1f400\nHSET\x1fPFC_WD|Ethernet0\x1frestoration_time\x1f400\n"
		if err != nil || string(back) != want {
			t.Errorf("%s: %v: %q", name, err, back)
		}
	}
}
