package sonic

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
)

// TestPatchMoves: an interface leaves its VRF before it is in another.
func TestPatchMoves(t *testing.T) {
	d := tor() // Vlan100 shall be in Vrf-host
	with := func(rows map[string]any) []byte {
		db := stock(t, d)
		db["VRF"] = map[string]any{"Vrf-old": map[string]any{}, "Vrf-host": map[string]any{}}
		db["VLAN"].(map[string]any)["Vlan100"] = map[string]any{"vlanid": "100"}
		db["VLAN_INTERFACE"] = rows
		return bytesOf(t, db)
	}
	for name, c := range map[string]struct {
		rows  map[string]any
		moves bool
	}{
		"in none":        {map[string]any{"Vlan100": map[string]any{}, "Vlan100|10.100.0.1/24": map[string]any{}}, true},
		"in another":     {map[string]any{"Vlan100": map[string]any{"vrf_name": "Vrf-old"}, "Vlan100|10.100.0.1/24": map[string]any{}}, true},
		"where it shall": {map[string]any{"Vlan100": map[string]any{"vrf_name": "Vrf-host"}, "Vlan100|10.100.0.1/24": map[string]any{}}, false},
		"not there":      {map[string]any{"Vlan3000": map[string]any{}}, false},
	} {
		db := with(c.rows)
		patch, loads, rest, list := Patch(db, d)
		if len(list) > 0 {
			t.Fatalf("%s: %v", name, list)
		}
		_, whole := after(t, db, patch, loads, rest)
		oracle.Yang(t, whole)
		if again, _, _, _ := Patch(whole, d); again != nil {
			t.Errorf("%s: a second patch does something: %s", name, again)
		}
		var out emit.Out
		rebase(d, targets.Captured{Files: map[string][]byte{running: db}}, &out)
		clear, script := "", ""
		for _, a := range out.Artifacts {
			switch {
			case strings.HasSuffix(a.Path, ".clear.patch.json"):
				clear = string(a.Bytes)
			case a.Path == "apply.sh":
				script = string(a.Bytes)
				oracle.Shell(t, a.Path, a.Bytes)
			}
		}
		waits := strings.Contains(script, "clear.patch.json\nfor try in {1..60}; do\n    [ -n \"$(sonic-db-cli STATE_DB KEYS 'INTERFACE_TABLE|Vlan100')\" ] || break\n")
		if goes := strings.Contains(clear, "/VLAN_INTERFACE"); goes != c.moves || waits != c.moves {
			t.Errorf("%s: it goes first: %t, and apply.sh waits for that: %t", name, goes, waits)
		}
	}
	d = leaf()
	for i := range d.Ifaces {
		if d.Ifaces[i].Kind == intent.Loopback {
			d.Ifaces[i].VRF = "Vrf-x"
		}
	}
	db := stock(t, d)
	db["LOOPBACK_INTERFACE"] = map[string]any{"Loopback0": map[string]any{}}
	if _, _, _, list := Patch(bytesOf(t, db), d); !list.HasErrors() || !strings.Contains(list[0].Summary, "Loopback0 is in the default VRF and shall be in Vrf-x") {
		t.Errorf("Loopback0: %v", list)
	}
}

// TestPatchRates: a LAG that there is keeps its LACP rate, which the switch does not say.
func TestPatchRates(t *testing.T) {
	d := pair() // PortChannel1 shall be fast
	for rate, warns := range map[string]bool{"true": false, "false": true, "": true, "no LAG": false} {
		db := stock(t, d)
		switch rate {
		case "no LAG":
		case "":
			db["PORTCHANNEL"] = map[string]any{"PortChannel1": map[string]any{"admin_status": "up"}}
		default:
			db["PORTCHANNEL"] = map[string]any{"PortChannel1": map[string]any{"fast_rate": rate}}
		}
		patch, _, _, list := Patch(bytesOf(t, db), d)
		if patch == nil || list.HasErrors() || (len(list) == 1) != warns || warns && !strings.Contains(list[0].Summary, "PortChannel1 is there with another LACP rate than fast") {
			t.Errorf("%q: %v", rate, list)
		}
	}
}

// TestPatchLeavesVRF: an interface of no VRF leaves the one it is in.
func TestPatchLeavesVRF(t *testing.T) {
	d := tor()
	for i := range d.Ifaces {
		d.Ifaces[i].VRF = ""
	}
	db := stock(t, d)
	db["VRF"] = map[string]any{"Vrf-old": map[string]any{}}
	db["VLAN"].(map[string]any)["Vlan100"] = map[string]any{"vlanid": "100"}
	db["VLAN_INTERFACE"] = map[string]any{"Vlan100": map[string]any{"vrf_name": "Vrf-old"}, "Vlan100|10.100.0.1/24": map[string]any{}}
	patch, loads, rest, list := Patch(bytesOf(t, db), d)
	if len(list) > 0 {
		t.Fatal(list)
	}
	_, whole := after(t, bytesOf(t, db), patch, loads, rest)
	oracle.Yang(t, whole)
	got, list := parse(d, captured(whole))
	if len(list) > 0 {
		t.Fatal(list)
	}
	for _, x := range intent.Diff(d, got) {
		if x.Path.Field == "vrf" {
			t.Errorf("%s stays in %s", x.Path, x.Before)
		}
	}
	if strings.Contains(string(patch), "/vrf_name") || !strings.Contains(string(patch), `{"op": "remove", "path": "/VLAN_INTERFACE`) {
		t.Errorf("it does not go before it comes again:\n%s", patch)
	}
	if again, _, _, _ := Patch(whole, d); again != nil {
		t.Errorf("a second patch does something: %s", again)
	}
}
