package sonic

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/posix"
	"github.com/rocec/rocec/targets/targettest"
)

// asWanted is what a switch runs that is as its intent says.
func asWanted(t testing.TB, d *intent.Device) []byte {
	c := build(d)
	return loaded(t, bare(t, d), c.breakouts, c.normal, c.maintenance)
}

// edited is a configuration in which a field has another value, or a table or row is
// gone.
func edited(t testing.TB, db []byte, value string, at ...string) []byte {
	t.Helper()
	var all map[string]map[string]map[string]any
	if err := json.Unmarshal(db, &all); err != nil {
		t.Fatal(err)
	}
	switch len(at) {
	case 1:
		delete(all, at[0])
	case 2:
		delete(all[at[0]], at[1])
	default:
		all[at[0]][at[1]][at[2]] = value
	}
	return bytesOf(t, all)
}

// added is a configuration with more rows, each with the field that its name is given, of the
// value "NULL".
func added(t testing.TB, db []byte, rows map[string]string) []byte {
	t.Helper()
	var all map[string]map[string]map[string]any
	if err := json.Unmarshal(db, &all); err != nil {
		t.Fatal(err)
	}
	for row, field := range rows {
		table, key, _ := strings.Cut(row, "|")
		if all[table] == nil {
			all[table] = map[string]map[string]any{}
		}
		all[table][key] = map[string]any{}
		if field != "" {
			all[table][key][field] = map[string]any{"tagging_mode": "tagged"}[field]
			if all[table][key][field] == nil {
				all[table][key][field] = "NULL"
			}
		}
	}
	return bytesOf(t, all)
}

// TestStored: what the stored configuration has otherwise than the running one, in
// managed fields alone.
func TestStored(t *testing.T) {
	d := leaf()
	now := asWanted(t, d)
	mtu := intent.Difference{Path: intent.Path{Object: intent.OfPort, Name: "Ethernet0", Field: "stored.mtu"}, Before: "1500", After: "9000"}
	whole := func(before string) []intent.Difference {
		return []intent.Difference{{Path: intent.Path{Object: intent.OfDevice, Field: "stored"}, Before: before, After: "what runs"}}
	}
	for _, c := range []struct {
		name            string
		running, stored []byte
		want            []intent.Difference
		warns           bool
	}{
		{name: "old captures", running: now},
		{name: "saved", running: now, stored: append([]byte("\n"), now...)},
		{name: "saved in another order", running: now, stored: edited(t, now, "9000", "PORT", "Ethernet0", "mtu")},
		{name: "of others", running: now, stored: edited(t, now, "x", "DEVICE_METADATA", "localhost", "hostname")},
		{name: "edited", running: now, stored: edited(t, now, "1500", "PORT", "Ethernet0", "mtu"), want: []intent.Difference{mtu}},
		{name: "running wrong too", running: edited(t, now, "1500", "PORT", "Ethernet0", "mtu"), stored: edited(t, now, "1501", "PORT", "Ethernet0", "mtu")},
		{
			name: "a row is missing", running: now, stored: edited(t, now, "", "VLAN", "Vlan200"),
			want: []intent.Difference{{Path: intent.Path{Object: intent.OfVLAN, Name: "200", Field: "stored"}, After: intent.Present}},
		},
		{name: "nothing", running: now, stored: []byte("{}\n"), want: whole("nothing")},
		{name: "cut off", running: now, stored: now[:len(now)/2], want: whole("no JSON"), warns: true},
		{name: "the buffer manager had not run", running: now, stored: edited(t, now, "", "BUFFER_PG")},
		{
			name: "what is gone comes back", running: now, stored: added(t, now, map[string]string{
				"INTERFACE|Ethernet0": "", "INTERFACE|Ethernet0|10.9.9.0/31": "", "VLAN_MEMBER|Vlan200|Ethernet496": "tagging_mode", "BUFFER_PG|Ethernet16|3-4": "profile", "VLAN|Vlan3000": "vlanid",
			}),
			want: []intent.Difference{
				{Path: intent.Path{Object: intent.OfPort, Name: "Ethernet0", Field: "stored.segments"}, Before: "INTERFACE|Ethernet0", After: "absent"},
				{Path: intent.Path{Object: intent.OfPort, Name: "Ethernet0", Field: "stored.segments"}, Before: "INTERFACE|Ethernet0|10.9.9.0/31", After: "absent"},
				{Path: intent.Path{Object: intent.OfPort, Name: "Ethernet16", Field: "stored.pfc"}, Before: "BUFFER_PG|Ethernet16|3-4", After: "absent"},
				{Path: intent.Path{Object: intent.OfIface, Name: "Ethernet496", Field: "stored.on"}, Before: "VLAN_MEMBER|Vlan200|Ethernet496", After: "absent"},
			},
		},
		{
			name: "seen as a setting", running: now, stored: added(t, edited(t, now, "", "VLAN_MEMBER", "Vlan200|Ethernet0"), map[string]string{"VLAN_MEMBER|Vlan3000|Ethernet0": "tagging_mode", "VLAN|Vlan3000": "vlanid"}),
			want: []intent.Difference{{Path: intent.Path{Object: intent.OfPort, Name: "Ethernet0", Field: "stored.native"}, Before: intent.AtDefault, After: "200"}},
		},
		{name: "it runs too", running: added(t, now, map[string]string{"INTERFACE|Ethernet0": ""}), stored: added(t, now, map[string]string{"INTERFACE|Ethernet0": "", "VLAN|Vlan3000": "vlanid"})},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string][]byte{running: c.running}
			if c.stored != nil {
				files[stored] = c.stored
			}
			got, list := boots(d, targets.Captured{Files: files})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if list.HasErrors() || (len(list) > 0) != c.warns || c.warns && !strings.HasPrefix(list[0].Summary, "config_db.json is not JSON") {
				t.Errorf("findings: %v", list)
			}
		})
	}
}

// TestStoredLabels: what is odd in the stored configuration is pointed at there.
func TestStoredLabels(t *testing.T) {
	d := leaf()
	now := asWanted(t, d)
	_, list := boots(d, targets.Captured{
		Files: map[string][]byte{running: now, stored: edited(t, now, "many", "PORT", "Ethernet0", "mtu")},
		Label: func(file string, _, _ int) diag.Label { return diag.Label{Where: file} },
	})
	if len(list) != 1 || len(list[0].Labels) != 1 || list[0].Labels[0].Where != stored {
		t.Errorf("%+v", list)
	}
}

// TestStoredApply: where the switch runs as it shall and would not start so, the
// scripts store it and nothing else, and put back what was stored.
func TestStoredApply(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"bash", "flock", "setsid", "python3"} {
		oracle.Need(t, p)
	}
	d := leaf()
	d.Name = "leaf-1"
	now := asWanted(t, d)
	old := edited(t, now, "1500", "PORT", "Ethernet0", "mtu")
	var out emit.Out
	if list := rebase(d, targets.Captured{Files: map[string][]byte{running: now, stored: now}}, &out); len(list) > 0 || len(out.Artifacts) > 0 {
		t.Fatalf("a switch that starts as it runs gets %d artifacts: %v", len(out.Artifacts), list)
	}
	if list := rebase(d, targets.Captured{Files: map[string][]byte{running: now, stored: old}}, &out); len(list) > 0 {
		t.Fatal(list)
	}
	if !targets.Returns(&out) {
		t.Error("there is no way back")
	}
	files := map[string]string{}
	for _, a := range out.Artifacts {
		if _, twice := files[a.Path]; twice {
			t.Errorf("%s twice", a.Path)
		}
		files[a.Path] = string(a.Bytes)
		if strings.HasSuffix(a.Path, ".sh") {
			oracle.Shell(t, a.Path, a.Bytes)
		}
	}
	var program []byte
	for _, a := range kit().Artifacts {
		files[path.Join(kit().Folder(), a.Path)] = string(a.Bytes)
		if a.Path == posix.File {
			program = a.Bytes
		} else {
			files["../common/kit/"+a.Path] = string(a.Bytes)
		}
	}
	s := targettest.NewLiveDevice(t, program, liveCommands, files)
	s.Write("db.json", string(now))
	s.Write("etc/sonic/config_db.json", string(old))
	is := func(when string, want []byte) {
		t.Helper()
		if s.Read("db.json") != string(now) || s.Read("etc/sonic/config_db.json") != string(want) {
			t.Errorf("%s: the switch runs or starts with something else", when)
		}
	}
	s.Do("a1", "begin", "change")
	is("changed", old)
	if code := s.Expire("a1"); code != 0 {
		t.Errorf("the timer ends with %d", code)
	}
	is("not confirmed", old)
	s.Do("b2", "begin", "change", "confirm")
	is("confirmed", now)
	s.Do("b2", "revert")
	is("reverted", old)

	// by hand
	run := func(script string) {
		t.Helper()
		c := s.Program("a1", script)
		c.Env = append(c.Env, "PATH="+filepath.Join(s.Root, "bin")+":"+os.Getenv("PATH"))
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, said)
		}
	}
	s.Remove("var/live/a1/leaf-1/" + storedFile)
	run("./apply.sh")
	is("by hand", now)
	run("./rollback.sh")
	is("by hand and back", old)
}
