package sonic

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/wI2L/jsondiff"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

// stock is a switch after config qos reload, with what another tool and an
// earlier rocec left: rows for ranges, old VLANs, an unused map.
func stock(t testing.TB, d *intent.Device) map[string]any {
	db := image(t, d)
	object := func(fields ...string) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(fields); i += 2 {
			m[fields[i]] = fields[i+1]
		}
		return m
	}
	wred := object("ecn", "ecn_all", "green_min_threshold", "1048576", "green_max_threshold", "2097152")
	queue, member, first := map[string]any{}, map[string]any{}, d.Ports[0].Name
	for _, p := range d.Ports {
		queue[p.Name+"|0-2"] = object("scheduler", "scheduler.0")
		queue[p.Name+"|3-4"] = object("scheduler", "scheduler.1", "wred_profile", "AZURE_LOSSLESS")
		queue[p.Name+"|5"] = object("scheduler", "scheduler.0")
		db["PORT_QOS_MAP"].(map[string]any)[p.Name] = object("dscp_to_tc_map", "AZURE", "pfc_enable", "3,4", "pfcwd_sw_enable", "3,4")
	}
	member["Vlan3000|"+first] = object("tagging_mode", "untagged")
	member["Vlan3000|Ethernet1000"] = object("tagging_mode", "tagged")
	db["PORT"].(map[string]any)["Ethernet1000"] = object("lanes", "999", "alias", "foreign", "speed", "10000")
	db["VLAN"] = map[string]any{"Vlan3000": object("vlanid", "3000")}
	db["VLAN_MEMBER"] = member
	db["SCHEDULER"] = map[string]any{"scheduler.0": object("type", "DWRR", "weight", "14"), "scheduler.1": object("type", "DWRR", "weight", "15"), "rocec_gone_q3": object("type", "STRICT")}
	db["WRED_PROFILE"] = map[string]any{"AZURE_LOSSLESS": wred}
	db["DOT1P_TO_TC_MAP"] = map[string]any{"rocec_gone": object("0", "0")}
	db["QUEUE"] = queue
	db["PFC_WD"] = map[string]any{"GLOBAL": object("POLL_INTERVAL", "400"), first: object("action", "forward", "detection_time", "400", "restoration_time", "400")}
	return db
}

func bytesOf(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// after applies a patch and merges fragments, nil ones aside.
func after(t testing.TB, db, patch []byte, fragments ...[]byte) (patched, whole []byte) {
	t.Helper()
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		t.Fatalf("patch: %v\n%s", err, patch)
	}
	patched, err = p.Apply(db)
	if err != nil {
		t.Fatalf("apply: %v\n%s", err, patch)
	}
	var all map[string]any
	if err := json.Unmarshal(patched, &all); err != nil {
		t.Fatal(err)
	}
	part := tables{}
	for _, fragment := range fragments {
		if fragment == nil {
			continue
		}
		var more map[string]map[string]map[string]any
		if err := json.Unmarshal(fragment, &more); err != nil {
			t.Fatal(err)
		}
		for table, rows := range more {
			for key, fields := range rows {
				r := part.row(table, key)
				for f, v := range fields {
					r.set(f, text(v), intent.Path{})
				}
			}
		}
	}
	return patched, loaded(t, all, part)
}

func TestPatch(t *testing.T) {
	for name, device := range fixtures {
		d := device()
		before := bytesOf(t, stock(t, d))
		oracle.Yang(t, before)
		patch, loads, rest, list := Patch(before, d)
		if len(list) > 0 {
			t.Fatalf("%s: %v", name, list)
		}
		patched, whole := after(t, before, patch, loads, rest)
		oracle.Yang(t, patched)
		oracle.Yang(t, whole)

		got, list := parse(d, captured(whole))
		if len(list) > 0 {
			t.Fatalf("%s: %v", name, list)
		}
		want := stated(d)
		keep := func(p intent.Port) bool { return p.Name == "Ethernet1000" }
		got.Ports = slices.DeleteFunc(got.Ports, keep)
		got.VLANs = slices.DeleteFunc(got.VLANs, func(v intent.VLAN) bool { return v.ID == 3000 })
		got.QoS = slices.DeleteFunc(got.QoS, func(q intent.QoS) bool { return q.Name == unset })
		if diff := cmp.Diff(want, seen(want, got), equal); diff != "" {
			t.Errorf("%s: the patched switch is not as wanted (-want +got):\n%s", name, diff)
		}

		again, loads, more, list := Patch(whole, d)
		if again != nil || loads != nil || more != nil || len(list) > 0 {
			t.Errorf("%s: a second patch does something: %s %s %v", name, again, more, list)
		}
		wellFormed(t, name, before, patch)
		targettest.Golden(t, filepath.Join("testdata", name+".patch.json"), string(patch))
	}
}

type operation struct {
	Op    string
	Path  string
	Value any
}

// cleared is how many removals, and ports that go down for them, lead a patch.
func cleared(ops []operation) int {
	return slices.IndexFunc(ops, func(op operation) bool { return op.Op != "remove" && !closes(op) })
}

func closes(op operation) bool {
	return op.Op == "replace" && strings.HasSuffix(op.Path, "/admin_status") && op.Value == "down"
}

// wellFormed checks what apply-patch demands beyond RFC 6902, and that foreign
// objects are left alone.
func wellFormed(t *testing.T, name string, before, patch []byte) {
	t.Helper()
	var ops []operation
	if err := json.Unmarshal(patch, &ops); err != nil {
		t.Fatal(err)
	}
	removing := false
	last := -1
	for i, op := range ops {
		table, rest, _ := strings.Cut(op.Path[1:], "/")
		key, _, _ := strings.Cut(rest, "/")
		rank := slices.Index(order, table)
		switch {
		case rank < 0:
			t.Errorf("%s: %s is not a table rocec manages", name, op.Path)
		case table == "BUFFER_POOL" || table == "BUFFER_PROFILE":
			t.Errorf("%s: %s is refused by apply-patch", name, op.Path)
		case strings.Contains(op.Path, "AZURE") && table != "CABLE_LENGTH" || strings.Contains(op.Path, "scheduler.0") || strings.Contains(op.Path, "1000"):
			t.Errorf("%s: %s %s touches what rocec does not manage", name, op.Op, op.Path)
		case strings.Contains(key, "/"):
			t.Errorf("%s: %s has a bare / in its key", name, op.Path)
		case i < cleared(ops):
			continue // the step before
		case op.Op != "remove" && (removing || rank < last):
			t.Errorf("%s: %s %s stands behind what refers to it", name, op.Op, op.Path)
		case op.Op == "remove" && removing && rank > last:
			t.Errorf("%s: %s is removed before what refers to it", name, op.Path)
		case op.Op != "remove" && op.Value == nil:
			t.Errorf("%s: %s has no value", name, op.Path)
		}
		if rows, ok := op.Value.(map[string]any); ok && rest == "" && len(rows) == 0 {
			t.Errorf("%s: %s becomes an empty table", name, op.Path)
		}
		if table == "PFC_WD" && (rest == "" || key == "GLOBAL" && !strings.HasSuffix(op.Path, "POLL_INTERVAL")) {
			t.Errorf("%s: the validators of PFC_WD refuse the path %s", name, op.Path)
		}
		removing = removing || op.Op == "remove"
		last = rank
	}
	for _, gone := range []string{"/SCHEDULER/rocec_gone_q3", "rocec_gone"} {
		if !strings.Contains(string(patch), gone) {
			t.Errorf("%s: %s, which rocec made and nothing uses, stays", name, gone)
		}
	}
}

func TestPatchRanges(t *testing.T) {
	d := leaf()
	d.OS.Version = "202511"
	patch, _, _, list := Patch(bytesOf(t, stock(t, d)), d)
	if len(list) > 0 {
		t.Fatal(list)
	}
	for _, want := range []string{
		`{"op": "remove", "path": "/QUEUE/Ethernet0|3-4"}`,
		`{"op": "add", "path": "/QUEUE/Ethernet0|4", "value": {"scheduler":"scheduler.1"}}`,
		`{"op": "add", "path": "/QUEUE/Ethernet0|3", "value": {"scheduler":"rocec_roce_q3","wred_profile":"rocec_roce_q3"}}`,
		`{"op": "remove", "path": "/BUFFER_PG/Ethernet0|3-4"}`,
		`{"op": "add", "path": "/BUFFER_PG/Ethernet0|3", "value": {"profile":"NULL"}}`,
		`{"op": "remove", "path": "/BUFFER_PG/Ethernet504|3-4"}`,
		`{"op": "add", "path": "/BUFFER_PG/Ethernet504|3", "value": {"profile":"NULL"}}`,
		`{"op": "add", "path": "/INTERFACE", "value": {"Ethernet496":{},"Ethernet496|10.0.0.0/31":{}`,
		`{"op": "remove", "path": "/VLAN_MEMBER/Vlan3000|Ethernet0"}`,
	} {
		if !strings.Contains(string(patch), want) {
			t.Errorf("the patch lacks %s:\n%s", want, patch)
		}
	}
}

// TestPatchEscapes: a key with a slash is one token of the pointer.
func TestPatchEscapes(t *testing.T) {
	d := tor()
	db := stock(t, d)
	db["VRF"] = map[string]any{"Vrf-host": map[string]any{}}
	db["VLAN"].(map[string]any)["Vlan100"] = map[string]any{"vlanid": "100"}
	db["VLAN_INTERFACE"] = map[string]any{"Vlan100": map[string]any{"vrf_name": "Vrf-host"}, "Vlan100|192.0.2.1/24": map[string]any{}}
	patch, _, _, list := Patch(bytesOf(t, db), d)
	if len(list) > 0 {
		t.Fatal(list)
	}
	for _, want := range []string{`"/VLAN_INTERFACE/Vlan100|10.100.0.1~124"`, `{"op": "remove", "path": "/VLAN_INTERFACE/Vlan100|192.0.2.1~124"}`} {
		if !strings.Contains(string(patch), want) {
			t.Errorf("the patch lacks %s:\n%s", want, patch)
		}
	}
}

// TestPatchWRED: where the validators refuse WRED profiles, config load merges
// them, and what names them; in the patch the queues keep the profile they have.
func TestPatchWRED(t *testing.T) {
	for version, byPatch := range map[string]bool{"202205": false, "202211": true, "202405": false, "202505": false, "202511": true, "master": true} {
		d := leaf()
		d.OS.Version = version
		db := bytesOf(t, stock(t, d))
		patch, loads, rest, list := Patch(db, d)
		if len(list) > 0 {
			t.Fatalf("%s: %v", version, list)
		}
		if got := strings.Contains(string(patch), `"/WRED_PROFILE/`); got != byPatch {
			t.Errorf("%s: a WRED profile in the patch: %t", version, got)
		}
		queue := `"/QUEUE/Ethernet0|3", "value": {"scheduler":"rocec_roce_q3","wred_profile":"AZURE_LOSSLESS"}`
		if got := strings.Contains(string(patch), queue); got == byPatch {
			t.Errorf("%s: the queue keeps its profile: %t", version, got)
		}
		if got := strings.Contains(string(loads), `"wred_profile": "rocec_roce_q3"`); got == byPatch {
			t.Errorf("%s: the queue's profile in the part for config load: %t", version, got)
		}
		patched, _ := after(t, db, patch, loads, rest)
		oracle.Yang(t, patched)
		var out emit.Out
		rebase(d, targets.Captured{Files: map[string][]byte{running: db}}, &out)
		for _, f := range out.Artifacts {
			if f.Path == qosFile && !strings.Contains(string(f.Bytes), "WRED_PROFILE") {
				t.Errorf("%s: apply.sh does not verify the WRED profile", version)
			}
			if strings.HasSuffix(f.Path, loadSuffix) && !strings.HasSuffix(f.Path, stopSuffix) && strings.Contains(string(f.Bytes), "WRED_PROFILE") == byPatch {
				t.Errorf("%s: apply.sh loads the profile: %t", version, byPatch)
			}
		}
	}
}

func TestPatchRefuses(t *testing.T) {
	d := leaf()
	for name, c := range map[string]struct {
		change func(db map[string]any)
		want   string
	}{
		"missing port": {func(db map[string]any) { delete(db["PORT"].(map[string]any), "Ethernet8") }, "has no port Ethernet8"},
		"buffer model": {func(db map[string]any) {
			db["DEVICE_METADATA"].(map[string]any)["localhost"].(map[string]any)["buffer_model"] = traditional
		}, "runs the traditional buffer model"},
		"virtual queues": {func(db map[string]any) {
			db["DEVICE_METADATA"].(map[string]any)["localhost"].(map[string]any)["switch_type"] = "voq"
		}, "has virtual output queues"},
		"dual ToR": {func(db map[string]any) {
			db["SYSTEM_DEFAULTS"] = map[string]any{"tunnel_qos_remap": map[string]any{"status": "enabled"}}
		}, "is one half of a dual ToR"},
	} {
		db := stock(t, d)
		c.change(db)
		patch, loads, rest, list := Patch(bytesOf(t, db), d)
		if patch != nil || loads != nil || rest != nil || len(list) != 1 || !strings.Contains(list[0].Summary, c.want) {
			t.Errorf("%s: %s %s %v", name, patch, rest, list)
		}
	}
}

func TestRebase(t *testing.T) {
	for name, device := range fixtures {
		d := device()
		var out emit.Out
		list := rebase(d, targets.Captured{Files: map[string][]byte{running: bytesOf(t, stock(t, d))}}, &out)
		if len(list) > 0 {
			t.Fatalf("%s: %v", name, list)
		}
		var names []string
		for _, f := range out.Artifacts {
			names = append(names, f.Path)
			switch filepath.Ext(f.Path) {
			case ".sh":
				oracle.Shell(t, name+"/"+f.Path, f.Bytes)
			case ".json":
				if !json.Valid(f.Bytes) {
					t.Errorf("%s/%s is not JSON", name, f.Path)
				}
			}
		}
		want := []string{"rocec-" + d.Name + ".clear.patch.json", absentFile, linksFile, qosFile, "rocec-" + d.Name + ".patch.json", "apply.sh", "verify.sh", "rollback.sh"}
		if name == "split" {
			want = append(want, breakoutFile)
		} else { // it writes headroom
			want = append(want, "rocec-"+d.Name+".maintenance.json", "apply-maintenance.sh")
		}
		want = append(want, "rocec-"+d.Name+loadSuffix, "rocec-"+d.Name+stopSuffix)
		slices.Sort(names)
		slices.Sort(want)
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s: artifacts (-want +got):\n%s", name, diff)
		}
	}
	var out emit.Out
	if list := rebase(leaf(), targets.Captured{}, &out); !list.HasErrors() || len(out.Artifacts) > 0 {
		t.Errorf("without a capture: %v", list)
	}
}

// TestPatchClears: a row for a range goes in a step before the rows for its
// parts come, and takes the rows that it overlaps along.
func TestPatchClears(t *testing.T) {
	d := tor()
	db := stock(t, d)
	db["BUFFER_PG"].(map[string]any)["Ethernet0|3"] = map[string]any{"profile": "pg_lossless_100000_300m_profile"}
	r, list := rebased(bytesOf(t, db), d, nil)
	if len(list) > 0 {
		t.Fatal(list)
	}
	has := func(ops jsondiff.Patch, op, path string) bool {
		return slices.ContainsFunc(ops, func(o jsondiff.Operation) bool { return o.Type == op && o.Path == path })
	}
	for _, c := range []struct {
		ops      jsondiff.Patch
		op, path string
	}{
		{r.first, "remove", "/QUEUE/Ethernet0|3-4"},
		{r.first, "remove", "/BUFFER_PG/Ethernet0|3-4"},
		{r.first, "remove", "/BUFFER_PG/Ethernet0|3"},
		{r.ops, "add", "/BUFFER_PG/Ethernet0|3"},
	} {
		if !has(c.ops, c.op, c.path) {
			t.Errorf("no %s of %s in %s", c.op, c.path, printPatch(c.ops))
		}
	}
	var down, up []string
	for _, o := range r.first {
		if at := strings.Split(o.Path, "/"); o.Type == "replace" && at[1] == "PORT" && at[3] == "admin_status" && o.Value == "down" {
			down = append(down, at[2])
		} else if o.Type != "remove" {
			t.Errorf("the first step does %s", o)
		}
	}
	for _, o := range r.ops {
		if at := strings.Split(o.Path, "/"); o.Type == "replace" && at[1] == "PORT" && at[3] == "admin_status" && o.Value == "up" {
			up = append(up, at[2])
		}
	}
	if want := []string{"Ethernet0", "Ethernet4"}; !slices.Equal(down, want) || !slices.Equal(up, want) { // not Ethernet1000, which nobody touches
		t.Errorf("ports that go down: %q, that come up: %q", down, up)
	}
	for _, o := range r.ops {
		if o.Type == "remove" && (strings.HasPrefix(o.Path, "/QUEUE/") || strings.HasPrefix(o.Path, "/BUFFER_PG/")) && strings.Contains(o.Path, "-") {
			t.Errorf("the second step does %s", o)
		}
	}
}

// TestPatchEmptySets: models before 202505 take no empty pfc_enable and pfcwd_sw_enable, so there the fields go.
func TestPatchEmptySets(t *testing.T) {
	for version, empty := range map[string]bool{"202205": false, "202411": false, "202505": true, "master": true} {
		for _, model := range []string{dynamic, traditional} {
			d := leaf() // its last host port has neither PFC nor a watchdog
			d.OS.Version, d.Hash, d.Options = version, intent.Hash{}, map[string]string{optionModel: model}
			if model == traditional {
				d.Buffer = intent.Buffer{}
				for i := range d.Ports {
					d.Ports[i].Headroom = nil
				}
			}
			accepted(t, d)
			db := bytesOf(t, stock(t, d))
			patch, loads, rest, list := Patch(db, d)
			if len(list) > 0 {
				t.Fatalf("%s: %v", version, list)
			}
			_, whole := after(t, db, patch, loads, rest)
			var have map[string]map[string]map[string]any
			if err := json.Unmarshal(whole, &have); err != nil {
				t.Fatal(err)
			}
			for _, field := range []string{"pfc_enable", "pfcwd_sw_enable"} {
				if v, there := have["PORT_QOS_MAP"]["Ethernet16"][field]; there != empty || there && v != "" {
					t.Errorf("%s, %s: %s is %v", version, model, field, v)
				}
			}
			if _, there := have["BUFFER_PG"]["Ethernet16|3-4"]; there {
				t.Errorf("%s, %s: the lossless group is there", version, model)
			}
			got, list := parse(d, captured(whole))
			if q := got.QoSNamed(got.PortNamed("Ethernet16").QoS); len(list) > 0 || q.PFC != intent.Some(intent.PrioritySet(0)) || q.Watchdog != intent.Some(intent.Watchdog{}) {
				t.Errorf("%s, %s: read back as %v, %v: %v", version, model, q.PFC, q.Watchdog, list)
			}
			if again, loads, more, _ := Patch(whole, d); again != nil || loads != nil || more != nil {
				t.Errorf("%s, %s: a second patch does something: %s %s %s", version, model, again, loads, more)
			}
			for _, r := range build(d).normal.each("PORT_QOS_MAP") {
				for _, field := range []string{"pfc_enable", "pfcwd_sw_enable"} {
					if c, there := r[field]; there && c.value == "" && !empty {
						t.Errorf("%s, %s: the fragment has an empty %s", version, model, field)
					}
				}
			}
		}
	}
}
