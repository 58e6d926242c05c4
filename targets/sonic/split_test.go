package sonic

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

// unsplitDB is the switch before its ports are split: the two parents whole,
// with settings that refer to them.
func unsplitDB(t testing.TB, d *intent.Device) map[string]any {
	db := image(t, d)
	port := db["PORT"].(map[string]any)
	for _, p := range d.Ports {
		if p.Split == nil {
			continue
		}
		for _, table := range []string{"BUFFER_PG", "BUFFER_QUEUE"} {
			rows := db[table].(map[string]any)
			for key := range rows {
				if strings.HasPrefix(key, p.Name+"|") {
					delete(rows, key)
				}
			}
		}
		delete(port, p.Name)
		delete(db["CABLE_LENGTH"].(map[string]any)[shared].(map[string]any), p.Name)
	}
	whole := func(name, lanes, mode string) {
		port[name] = map[string]any{"lanes": lanes, "alias": "whole" + name, "index": "1", "subport": "0", "speed": "200000", "admin_status": "up"}
		db[breakoutTable].(map[string]any)[name] = map[string]any{breakoutColumn: mode}
	}
	whole("Ethernet0", "0,1,2,3", "1x200G[100G,50G,40G,25G,10G,1G]")
	whole("Ethernet4", "4,5,6,7", "1x200G[100G,50G,40G,25G,10G,1G]")
	return db
}

// TestSplitFirst: while a port is whole there is no patch, only the step that
// splits it; apply.sh of the fragments stops at the same place.
func TestSplitFirst(t *testing.T) {
	d := split()
	accepted(t, d)
	db := bytesOf(t, unsplitDB(t, d))
	oracle.Yang(t, db)
	patch, loads, rest, list := Patch(db, d)
	if patch != nil || loads != nil || rest != nil || list.HasErrors() || len(list) != 1 || !strings.Contains(list[0].Summary, "have to be split before anything else") {
		t.Errorf("a patch of a switch whose ports are whole:\n%s\n%s\n%v", patch, rest, list)
	}
	out := &emit.Out{}
	list = rebase(d, targets.Captured{Files: map[string][]byte{running: db}}, out)
	if list.HasErrors() {
		t.Fatal(list)
	}
	var names []string
	for _, f := range out.Artifacts {
		names = append(names, f.Path)
	}
	if got, want := strings.Join(names, " "), strings.Join([]string{breakoutFile, splitScript, splitUndo}, " "); got != want {
		t.Errorf("artifacts %s, want %s", got, want)
	}
	after := bytesOf(t, image(t, d))
	if patch, _, _, list := Patch(after, d); len(list) > 0 || patch == nil || strings.Contains(string(patch), `"/PORT/Ethernet1"`) || strings.Contains(string(patch), "lanes") {
		t.Errorf("after the split the patch changes lanes, or there is none:\n%s\n%v", patch, list)
	}
}

func TestSplitRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*intent.Device)
		want   string
	}{
		"split":             {func(*intent.Device) {}, ""},
		"no data":           {func(d *intent.Device) { d.Ports[0].Split = nil }, "the data of model nvidia/sn3700 have no lanes and no breakout modes for the port that is split into Ethernet0"},
		"mode":              {func(d *intent.Device) { d.Ports[0].Split.Mode = "4x25G; reboot" }, "in mode"},
		"another mode":      {func(d *intent.Device) { d.Ports[0].Split.Mode = "2x100G" }, "port Ethernet0 is split 4x25G in mode 2x100G"},
		"mode without 25G":  {func(d *intent.Device) { d.Ports[0].Split.Mode = "4x50G[10G]" }, "port Ethernet0 is split 4x25G in mode 4x50G[10G]"},
		"lanes":             {func(d *intent.Device) { d.Ports[1].Split.Lanes = "a" }, `with the lanes "a"`},
		"number":            {func(d *intent.Device) { d.Ports[1].Split.Number = 0 }, "number 0 of a split"},
		"parent":            {func(d *intent.Device) { d.Ports[0].Split.Parent = "Ethernet8" }, "port Ethernet0 is child 1 of Ethernet8"},
		"breakout of other": {func(d *intent.Device) { d.Ports[1].Breakout = "4x25G" }, "port Ethernet1 is child 2 of Ethernet0"},
		"speed":             {func(d *intent.Device) { d.Ports[1].Mbps = intent.Opt[uint32]{} }, "states no speed"},
	} {
		t.Run(name, func(t *testing.T) {
			d := split()
			c.change(d)
			targettest.Limit(t, &Target, d, c.want)
		})
	}
}

func TestSplitCapture(t *testing.T) {
	d := split()
	for name, c := range map[string]struct {
		change func(db map[string]any)
		want   string
	}{
		"no table":    {func(db map[string]any) { delete(db, breakoutTable) }, "the switch has no BREAKOUT_CFG row for Ethernet"},
		"other lanes": {func(db map[string]any) { db["PORT"].(map[string]any)["Ethernet2"].(map[string]any)["lanes"] = "7" }, `port Ethernet2 has lanes "7", the data of its model have "2"`},
	} {
		t.Run(name, func(t *testing.T) {
			db := image(t, d)
			c.change(db)
			_, _, _, list := Patch(bytesOf(t, db), d)
			if !list.HasErrors() || !strings.Contains(list[0].Summary, c.want) {
				t.Errorf("got %v, want %q", list, c.want)
			}
		})
	}
}

// TestSplitSeen: a plan shows that a port is whole, and that its children are missing.
func TestSplitSeen(t *testing.T) {
	d := split()
	got, list := parse(d, captured(bytesOf(t, unsplitDB(t, d))))
	if len(list) > 0 {
		t.Fatal(list)
	}
	before := map[string]string{}
	for _, x := range intent.Diff(d, got) {
		if x.Path.Object == intent.OfPort && x.Path.Field == "breakout" {
			before[x.Path.Name] = x.Before + " to " + x.After
		}
		if x.Path.Object == intent.OfPort && x.Creates() {
			before[x.Path.Name] = "new"
		}
	}
	want := map[string]string{
		"Ethernet0": "1x200G to 4x25G", "Ethernet1": "new", "Ethernet2": "new", "Ethernet3": "new", "Ethernet4": "1x200G to 2x100G", "Ethernet6": "new",
	}
	if diff := cmp.Diff(want, before); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSplitScript runs the scripts against commands that act as the switch's do,
// and note what they are told.
func TestSplitScript(t *testing.T) {
	oracle.Need(t, "python3")
	d := split()
	dir, bin := delivered(t, d), t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	db := filepath.Join(dir, "db.json")
	before, after := string(bytesOf(t, unsplitDB(t, d))), string(bytesOf(t, image(t, d)))
	write(db, before, 0o644)
	write(filepath.Join(dir, "after.json"), after, 0o644)
	write(filepath.Join(bin, "sonic-cfggen"), "#!/bin/sh\ncat db.json\n", 0o755)
	write(filepath.Join(bin, "id"), "#!/bin/sh\necho 0\n", 0o755)
	// A breakout of the last port makes the switch what the fragment says.
	write(filepath.Join(bin, "config"), "#!/bin/sh\necho \"$*\" >> log\ncase \"$*\" in \"interface breakout Ethernet4 2\"*) cp after.json db.json;; esac\n", 0o755)
	run := func(script string) (string, error) {
		t.Helper()
		cmd := exec.Command("bash", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	log := func() string {
		b, _ := os.ReadFile(filepath.Join(dir, "log"))
		_ = os.Remove(filepath.Join(dir, "log"))
		return string(b)
	}
	if out, err := run("apply.sh"); err == nil || !strings.Contains(out, "ports have to be split first") || log() != "" {
		t.Errorf("apply.sh before the split: %v\n%s", err, out)
	}
	out, err := run(splitScript)
	want := "interface breakout Ethernet0 4x50G[25G,10G,1G] -f -y\n" +
		"qos reload --ports Ethernet0,Ethernet1,Ethernet2,Ethernet3\n" +
		"interface breakout Ethernet4 2x100G[50G,25G,10G,1G] -f -y\n" +
		"qos reload --ports Ethernet4,Ethernet6\n" +
		"save -y\n"
	if got := log(); err != nil || got != want {
		t.Errorf("%s: %v\n%s\ncommands:\n%swant:\n%s", splitScript, err, out, got, want)
	}
	if out, err := run(splitScript); err != nil || !strings.Contains(out, "every port is split as wanted") || log() != "" {
		t.Errorf("%s for the second time: %v\n%s", splitScript, err, out)
	}
	out, err = run(splitUndo)
	want = "interface breakout Ethernet0 1x200G[100G,50G,40G,25G,10G,1G] -f -y\n" +
		"interface breakout Ethernet4 1x200G[100G,50G,40G,25G,10G,1G] -f -y\n" +
		"load -y " + splitBefore + "\n" +
		"save -y\n"
	if got := log(); err != nil || got != want {
		t.Errorf("%s: %v\n%s\ncommands:\n%swant:\n%s", splitUndo, err, out, got, want)
	}
	write(db, strings.Replace(before, breakoutTable, "OTHER", 1), 0o644)
	if out, err := run(splitScript); err == nil || !strings.Contains(out, "BREAKOUT_CFG|Ethernet0 is missing") || strings.Contains(log(), "breakout") {
		t.Errorf("%s without the table: %v\n%s", splitScript, err, out)
	}
}
