package sonic

import (
	"encoding/json"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
)

// oddRow is a row that cannot be read.
type oddRow struct {
	table, key string
	value      any
	ours       bool // it may be of a port that is written, or of a row that is
}

// oddRows are rows of every table that is written here which nobody can read: keys of the
// rows that are there and of foreign ones, spoilt, and good keys over fields that are none.
func oddRows(db map[string]any) []oddRow {
	var list []oddRow
	fields := func(table string) map[string]any {
		return map[string]map[string]any{
			"QUEUE": {"scheduler": "rocec_gone_q3"}, "BUFFER_PG": {"profile": "pg_lossless_100000_5m_profile"},
			"BUFFER_QUEUE": {"profile": "rocec_x"},
			"VLAN_MEMBER":  {"tagging_mode": "untagged"}, "PFC_WD": {"action": "drop", "detection_time": "200"},
			"PORT_QOS_MAP": {"dot1p_to_tc_map": "x", "pfc_enable": "3"},
		}[table]
	}
	spoil := func(table, key string, ours bool) {
		name, rest, cut := strings.Cut(key, "|")
		spoilt := []string{key + " ", " " + key, name + " |" + rest, key + "|x|y", name + "\t"}
		if cut {
			spoilt = append(spoilt, name+"|", "|"+rest, name+"||"+rest)
		}
		switch table {
		case "INTERFACE", "PORTCHANNEL_INTERFACE", "LOOPBACK_INTERFACE", "VLAN_INTERFACE":
			spoilt = append(spoilt, name+"|10.4.3.2", name+"|10.4.3.2/33", name+"|fc00::71/126 ", name+"|10.1.2.3/24/24", name+"|FC00::G/64",
				name+"|dhcp")
		case "QUEUE", "BUFFER_PG", "BUFFER_QUEUE":
			spoilt = append(spoilt, name+"|x", name+"|3-x", name+"|4-3", name+"|03", name+"|3-4-5", name+"|999", name+"|-1", name+"|all",
				name+","+name+"0|3 ")
		case "VLAN":
			spoilt = append(spoilt, strings.ToUpper(key), "Vlan0"+strings.TrimPrefix(key, "Vlan"), "Vlan4095", "100")
		case "VLAN_MEMBER":
			spoilt = append(spoilt, "vlan9|"+rest, "VLAN9|"+rest, "Vlan09|"+rest, "Vlan5000|"+rest)
		case "MCLAG_DOMAIN", "MCLAG_INTERFACE":
			spoilt = append(spoilt, "one|"+rest, "domain")
		}
		for _, s := range spoilt {
			list = append(list, oddRow{table, s, fields(table), ours})
		}
		for _, v := range []any{
			"text", 7.0, true,
			[]any{"a"},
			map[string]any{"profile": map[string]any{"deep": "x"}},
			map[string]any{"ports": []any{[]any{"a"}}},
		} {
			list = append(list, oddRow{table, key + "7", v, ours})
		}
	}
	for _, table := range order {
		rows, _ := db[table].(map[string]any)
		two := slices.SortedFunc(maps.Keys(rows), intent.Natural)
		if len(two) > 2 {
			two = []string{two[0], two[len(two)-1]}
		}
		for _, key := range two {
			spoil(table, key, true)
		}
		spoil(table, "Ethernet8888", false)
		spoil(table, "Ethernet8888|3-4", false)
		list = append(list, oddRow{table, "", fields(table), false}, oddRow{table, "|", fields(table), false}, oddRow{
			table, "|Ethernet8888",
			map[string]any{},
			false,
		})
	}
	return list
}

// put adds rows to a copy of a configuration, as what its JSON says, and returns those
// that took no other's place.
func put(t *testing.T, db map[string]any, rows ...oddRow) (map[string]any, []oddRow) {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(bytesOf(t, db), &all); err != nil {
		t.Fatal(err)
	}
	var added []oddRow
	for _, r := range rows {
		table, ok := all[r.table].(map[string]any)
		if !ok {
			table = map[string]any{}
			all[r.table] = table
		}
		if _, taken := table[r.key]; !taken {
			if m, isMap := r.value.(map[string]any); isMap && m == nil {
				r.value = map[string]any{}
			}
			table[r.key] = r.value
			added = append(added, r)
		}
	}
	return all, added
}

// changed is what the artifacts of a plan make of a configuration: the patches in their
// order, and the rows that pfcwd stop takes out.
func changed(t *testing.T, db map[string]any, out *emit.Out) map[string]any {
	t.Helper()
	text := bytesOf(t, db)
	for _, suffix := range []string{".clear.patch.json", ".patch.json"} {
		for _, a := range out.Artifacts {
			if !strings.HasSuffix(a.Path, suffix) || suffix == ".patch.json" && strings.HasSuffix(a.Path, ".clear.patch.json") {
				continue
			}
			p, err := jsonpatch.DecodePatch(a.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			if text, err = p.Apply(text); err != nil {
				t.Fatalf("%v\n%s", err, a.Bytes)
			}
		}
	}
	var after map[string]any
	if err := json.Unmarshal(text, &after); err != nil {
		t.Fatal(err)
	}
	for _, a := range out.Artifacts {
		if !strings.HasSuffix(a.Path, stopSuffix) {
			continue
		}
		var gone map[string]map[string]any
		if err := json.Unmarshal(a.Bytes, &gone); err != nil {
			t.Fatal(err)
		}
		for table, rows := range gone {
			for key := range rows {
				delete(after[table].(map[string]any), key)
			}
		}
	}
	return after
}

func says(list diag.List, r oddRow) bool {
	return slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
		return strings.Contains(d.Summary, r.table+"|"+r.key+" of ") && d.Help != ""
	})
}

// told demands that findings name every row, or the first of a table and how many more.
func told(t *testing.T, list diag.List, rows []oddRow) {
	t.Helper()
	count, named := map[string]int{}, map[string]int{}
	for _, r := range rows {
		count[r.table]++
		if says(list, r) {
			named[r.table]++
		}
	}
	for table, n := range count {
		more := slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return strings.Contains(d.Summary, " more rows of "+table+" of ") })
		if named[table] != n && !more {
			t.Errorf("%s: %d of %d rows are named, and that there are more is said: %t", table, named[table], n, more)
		}
	}
}

// stays demands that a plan leaves rows as they are and says so, or refuses and says for
// which of them, and returns the others.
func stays(t *testing.T, d *intent.Device, db map[string]any, rows []oddRow) (free []oddRow) {
	t.Helper()
	all, added := put(t, db, rows...)
	c := captured(bytesOf(t, all))
	_, read := parse(d, c)
	told(t, read, added)
	var out emit.Out
	list := rebase(d, c, &out)
	if list.HasErrors() {
		bad := slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
		for _, r := range added {
			if !says(bad, r) {
				free = append(free, r)
			} else if !r.ours && r.table != "MCLAG_DOMAIN" {
				t.Errorf("%s|%q = %v is nobody's, and stands in the way of a plan", r.table, r.key, r.value)
			}
		}
		return free
	}
	told(t, list, added)
	after := changed(t, all, &out)
	for _, r := range added {
		table, _ := after[r.table].(map[string]any)
		if have, is := table[r.key]; !is || !reflect.DeepEqual(have, r.value) {
			t.Errorf("%s|%q = %v: the plan makes it %v (there: %t)", r.table, r.key, r.value, have, is)
		}
	}
	return added
}

// TestUnreadStays: what the reader passes over in a table that is written is there after
// the plan as it was before, and is told; where it cannot stand beside what is wanted there
// is no plan. What is of nobody's port never stands in the way.
func TestUnreadStays(t *testing.T) {
	oracle.Need(t, "python3")
	for name, device := range fixtures {
		d := device()
		for which, db := range map[string]map[string]any{"stock": stock(t, d), "own": decoded(t, given(t, d).Files[running])} {
			t.Run(name+"/"+which, func(t *testing.T) {
				all := oddRows(db)
				free := stays(t, d, db, all)
				if again := stays(t, d, db, free); len(free) == len(all) || len(again) < len(all)/2 || len(again) != len(free) {
					t.Errorf("of %d rows %d stay, and of these %d", len(all), len(free), len(again))
				}
				silent(t, d, db, free)
			})
		}
	}
}

func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var db map[string]any
	if err := json.Unmarshal(text, &db); err != nil {
		t.Fatal(err)
	}
	return db
}

// silent demands that what the scripts of the plan look for on the switch is not a row
// that the plan leaves.
func silent(t *testing.T, d *intent.Device, db map[string]any, rows []oddRow) {
	t.Helper()
	rows = slices.DeleteFunc(slices.Clone(rows), func(r oddRow) bool {
		_, ok := r.value.(map[string]any)
		return !ok ||
			strings.HasSuffix(r.key, "7")
	})
	all, _ := put(t, db, rows...)
	var out emit.Out
	if list := rebase(d, captured(bytesOf(t, all)), &out); list.HasErrors() {
		t.Fatal(list)
	}
	after := bytesOf(t, changed(t, all, &out))
	for _, a := range out.Artifacts {
		if a.Path != absentFile {
			continue
		}
		said, _ := runCheck(t, "absent", string(after), string(a.Bytes))
		for _, r := range rows {
			if strings.Contains(said, r.table+"|"+r.key+" has to go") || strings.Contains(said, r.table+"|"+r.key+" "+"=") {
				t.Errorf("the switch's own check demands that %s|%q goes", r.table, r.key)
			}
		}
	}
}

// TestUnreadTable: a table that holds no rows is left too, and refused where rows of it
// are to be written.
func TestUnreadTable(t *testing.T) {
	d := leaf()
	want := build(d)
	for _, table := range order {
		for _, v := range []any{"text", 7.0, []any{}} {
			db := decoded(t, given(t, d).Files[running])
			db[table] = v
			c := captured(bytesOf(t, db))
			var out emit.Out
			list := rebase(d, c, &out)
			if !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return strings.HasPrefix(d.Summary, "table "+table+" of ") }) &&
				table != breakoutTable && table != "PORT" {
				t.Errorf("%s: no finding names it: %v", table, list)
			}
			written := want.normal[table] != nil || want.maintenance[table] != nil
			if list.HasErrors() != written {
				t.Errorf("%s is to be written: %t, refused: %t: %v", table, written, list.HasErrors(), list)
			}
			if !list.HasErrors() && !reflect.DeepEqual(changed(t, db, &out)[table], v) {
				t.Errorf("%s = %v is %v after the plan", table, v, changed(t, db, &out)[table])
			}
		}
	}
}

// TestSpelling: one address is one address: in capitals, with blanks about it, in another
// form. It is what is wanted, nothing is added beside it, and nothing is renamed.
func TestSpelling(t *testing.T) {
	d := leaf()
	for i := range d.Ifaces {
		if d.Ifaces[i].Name == "Ethernet496" {
			d.Ifaces[i].Addresses.Value = append(d.Ifaces[i].Addresses.Value, netip.MustParsePrefix("2001:db8:0:a::1/126"))
		}
	}
	key := "Ethernet496|2001:db8:0:a::1/126"
	for _, other := range []string{
		"2001:DB8:0:A::1/126", "2001:db8:0:a::1/126 ", " 2001:db8:0:a::1/126", "2001:0db8:0:000a:0:0:0:1/126",
		"2001:DB8:0:A::1/126 ",
	} {
		db := decoded(t, given(t, d).Files[running])
		rows := db["INTERFACE"].(map[string]any)
		if rows[key] == nil {
			t.Fatalf("%s is not written", key)
		}
		delete(rows, key)
		rows["Ethernet496|"+other] = map[string]any{}
		c := captured(bytesOf(t, db))
		seen, list := parse(d, c)
		if list.HasErrors() || len(intent.Diff(d, seen)) > 0 && strings.Contains(differences(d, seen), "address") {
			t.Errorf("%q: %v %s", other, list, differences(d, seen))
		}
		var out emit.Out
		if list := rebase(d, c, &out); list.HasErrors() {
			t.Errorf("%q: %v", other, list)
		}
		for _, a := range out.Artifacts {
			if strings.HasSuffix(a.Path, ".patch.json") && strings.Contains(string(a.Bytes), "/INTERFACE") {
				t.Errorf("%q: %s", other, a.Bytes)
			}
		}
	}
}

func differences(want, have *intent.Device) string {
	differs, _ := intent.Compare(want, have)
	var b strings.Builder
	for _, x := range differs {
		b.WriteString(x.Path.String() + " ")
	}
	return b.String()
}

// TestUnreadReal: of configurations of real switches, read and planned as they are, no
// row is taken away or renamed whose address nobody can read, and odd rows that are put
// into them stay.
func TestUnreadReal(t *testing.T) {
	files := oracle.Others(t, oracle.SONiCConfigs, "*.json")
	met := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		db := decoded(t, text)
		if strings.HasSuffix(file, ".flat.json") {
			db = nested(db)
		}
		d, list := parse(nil, captured(bytesOf(t, db)))
		if d == nil || list.HasErrors() {
			t.Errorf("%s: %v", file, list)
			continue
		}
		d.Name, d.OS.Version = "switch", "202505"
		var out emit.Out
		if list := rebase(d, captured(bytesOf(t, db)), &out); list.HasErrors() {
			continue // virtual output queues
		}
		after := changed(t, db, &out)
		for _, table := range ifaceTables {
			rows, _ := db[table].(map[string]any)
			for key, value := range rows {
				name, address, ok := strings.Cut(key, "|")
				if _, plain := rows[name]; !ok || plain && strings.Trim(address, "0123456789abcdef:./") == "" && strings.Contains(address, "/") {
					continue
				}
				met++
				left, _ := after[table].(map[string]any)
				if have, is := left[key]; !is || !reflect.DeepEqual(have, value) {
					t.Errorf("%s: %s|%q is %v after a plan of what it says itself", filepath.Base(file), table, key, have)
				}
			}
		}
		if free := stays(t, d, db, oddRows(db)); len(stays(t, d, db, free)) != len(free) {
			t.Errorf("%s: rows that were not named stand in the way", filepath.Base(file))
		}
	}
	if len(files) >= 20 && met < 40 { // .ci/oracles lays some of them only
		t.Errorf("%d odd addresses only", met)
	}
}

// nested makes tables of a flat dump.
func nested(flat map[string]any) map[string]any {
	db := map[string]any{}
	for name, row := range flat {
		if table, key, ok := strings.Cut(name, "|"); ok {
			if db[table] == nil {
				db[table] = map[string]any{}
			}
			db[table].(map[string]any)[key] = row
		}
	}
	return db
}

// FuzzUnread: a row of which the reader says that it cannot be read is there after every
// plan, whatever it is.
func FuzzUnread(f *testing.F) {
	f.Add(uint8(8), "Ethernet0|10.4.3.2", `{}`)
	f.Add(uint8(31), "Ethernet0|3 ", `{"scheduler": "rocec_gone_q3"}`)
	f.Add(uint8(6), "vlan1|Ethernet0", `{"tagging_mode": "untagged"}`)
	f.Add(uint8(29), "", `[1]`)
	d := tor() // small: each run makes a whole plan
	f.Fuzz(func(t *testing.T, table uint8, key, value string) {
		var v any
		if json.Unmarshal([]byte(value), &v) != nil || v == nil {
			return
		}
		db := stock(t, d)
		name := order[int(table)%len(order)]
		all, added := put(t, db, oddRow{table: name, key: key, value: v})
		c := captured(bytesOf(t, all))
		var out emit.Out
		list := rebase(d, c, &out)
		if len(added) == 0 || !says(list, added[0]) || list.HasErrors() {
			return
		}
		text := bytesOf(t, changed(t, all, &out)[name].(map[string]any)[key])
		var have any
		if json.Unmarshal(text, &have) != nil || !reflect.DeepEqual(decoded(t, bytesOf(t, all))[name].(map[string]any)[key], have) {
			t.Errorf("%s|%q = %s is %s after the plan", name, key, value, text)
		}
	})
}
