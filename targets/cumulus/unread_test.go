package cumulus

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

// oddity is something that cannot be read, or that is nothing of what is read, under
// some keys.
type oddity struct {
	path  []string
	key   string
	value any
	told  bool // the reader says so
}

// oddities are such things for every tree that is written.
func oddities(tree map[string]any) []oddity {
	var list []oddity
	add := func(told bool, value any, key string, path ...string) {
		list = append(list, oddity{path, key, value, told})
	}
	none := map[string]any{}
	interfaces, _ := tree["interface"].(map[string]any)
	for name := range interfaces {
		if !slices.Contains([]string{"swp1", "swp3", "swp5", "swp41", "swp1s0", "vlan100", "vlan711", "bond1", "lo", "peerlink", "swp5s0"},
			name) {
			continue
		}
		for _, vlan := range []string{"4095", "0", "abc", "10 "} {
			add(false, none, vlan, "interface", name, "bridge", "domain", bridge, "vlan")
		}
		for _, a := range []string{"10.0.0.300/24", "10.4.3.2", "fc00::1/129", "FC00::G/64", "fc00::71/126 ", "dhcp", ""} {
			add(a != "dhcp" && (name == "lo" || strings.HasPrefix(name, "vlan")), none, a, "interface", name, "ipv4", "address")
			add(a != "dhcp" && (name == "lo" || strings.HasPrefix(name, "vlan")), none, a, "interface", name, "ip", "address")
		}
		add(true, none, "3y", "interface", name, "link", "breakout")
		add(false, "x", "unknown", "interface", name, "link")
		add(false, map[string]any{"a": "b"}, "unknown", "interface", name)
		add(false, map[string]any{"vlan": map[string]any{"7": none}}, "br_other", "interface", name, "bridge", "domain")
		add(false, "x", "unknown", "interface", name, "bridge")
	}
	for _, name := range []string{"SWP1", "swp1 ", "swp-x", "1", ""} {
		add(false, map[string]any{"description": "theirs"}, name, "interface")
	}
	add(true, none, "7-x,", "interface")
	add(true, none, "5000", "bridge", "domain", bridge, "vlan")
	add(false, map[string]any{"vlan": map[string]any{"abc": none}}, "br_other", "bridge", "domain")
	add(false, none, "peer.example", "mlag", "backup")
	for _, kind := range []string{
		"congestion-control", "egress-scheduler", "egress-shaper", "mapping", "pfc", "link-pause", "remark",
		"egress-queue-mapping", "traffic-pool",
	} {
		add(false, map[string]any{"traffic-class": map[string]any{"x": none}}, "theirs", "qos", kind)
	}
	add(false, map[string]any{"switch-priority": "3"}, "99", "qos", "mapping", global, "dscp")
	add(false, none, "x", "qos", "pfc", global, "switch-priority")
	add(false, none, "unknown", "qos")
	add(false, none, "unknown", "system")
	add(false, none, "unknown")
	return list
}

// under is the map under some keys; what is missing is made, nil if a value is there.
func under(tree map[string]any, path []string) map[string]any {
	for _, key := range path {
		next, ok := tree[key].(map[string]any)
		if !ok {
			if tree[key] != nil {
				return nil
			}
			next = map[string]any{}
			tree[key] = next
		}
		tree = next
	}
	return tree
}

// patched is what a patch of NVUE makes of a tree: what is unset goes with all that is
// under it, then what is set comes to what is there. Keys of several names are taken
// apart in the patches of these tests.
func patched(t *testing.T, tree map[string]any, patch []byte) map[string]any {
	t.Helper()
	var parts []map[string]any
	if err := yaml.Unmarshal(patch, &parts); err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if gone, ok := part["unset"].(map[string]any); ok {
			unset(tree, gone)
		}
		if more, ok := part["set"].(map[string]any); ok {
			merged(tree, more)
		}
	}
	return tree
}

func unset(tree, gone map[string]any) {
	for key, v := range gone {
		for _, name := range apart(key) {
			kids, deeper := v.(map[string]any)
			if have, ok := tree[name].(map[string]any); ok && deeper && len(kids) > 0 {
				unset(have, kids)
			} else {
				delete(tree, name)
			}
		}
	}
}

func merged(tree, more map[string]any) {
	for key, v := range more {
		for _, name := range apart(key) {
			kids, deeper := v.(map[string]any)
			if have, ok := tree[name].(map[string]any); ok && deeper {
				merged(have, kids)
			} else {
				tree[name] = v
			}
		}
	}
}

// apart is swp1-3 as its names: the one form of ranges of these tests' patches.
func apart(key string) []string {
	names, ok := expanded(key)
	if !ok || !strings.HasPrefix(key, "swp") && !strings.HasPrefix(key, "bond") {
		return []string{key}
	}
	return names
}

func treeOf(t *testing.T, patch string) map[string]any {
	t.Helper()
	return patched(t, map[string]any{}, []byte(patch))
}

func jsonOf(t *testing.T, tree map[string]any) targets.Captured {
	t.Helper()
	b, err := json.Marshal([]any{map[string]any{"set": tree}})
	if err != nil {
		t.Fatal(err)
	}
	return captured(string(b))
}

// others is a device with more of everything than another has: what a patch unsets.
func others(d *intent.Device) {
	d.VLANs = append(d.VLANs, intent.VLAN{ID: 3001})
	for i := range d.Ports {
		if p := &d.Ports[i]; i%3 == 0 && p.Tagged.IsSet() {
			p.Tagged = intent.Some([]uint16{3001})
		}
	}
	for i := range d.Ifaces {
		if f := &d.Ifaces[i]; f.Addresses.IsSet() && f.Kind != intent.Loopback {
			f.Addresses = prefixes("192.0.2."+decimal(i+1)+"/24", "2001:db8::"+decimal(i+1)+"/64")
		}
	}
	if d.MLAG != nil {
		d.MLAG.PeerAddress = d.MLAG.PeerAddress.Next()
	}
}

// TestUnreadStays: what the reader passes over in a tree that is written is there after
// the patch as it was before; where it cannot stay there is no patch.
func TestUnreadStays(t *testing.T) {
	for name, device := range map[string]func() *intent.Device{"leaf": leaf, "tor": tor, "pair": pair, "lossy": lossy} {
		d, before := device(), device()
		others(before)
		for which, have := range map[string]string{"as wanted": artifact(t, d, patchFile), "another": artifact(t, before, patchFile)} {
			t.Run(name+"/"+which, func(t *testing.T) {
				kept, refused := 0, 0
				for _, o := range oddities(treeOf(t, have)) {
					tree := treeOf(t, have)
					at := under(tree, o.path)
					if at == nil || at[o.key] != nil {
						continue
					}
					at[o.key] = o.value
					var out emit.Out
					list := rebase(d, jsonOf(t, tree), &out)
					_, read := parse(d, jsonOf(t, tree))
					said := func(x diag.Diagnostic) bool { return strings.Contains(x.Summary, o.key) && x.Help != "" }
					if o.told && !slices.ContainsFunc(read, said) {
						t.Errorf("%v %q: no finding names it: %v", o.path, o.key, read)
					}
					if list.HasErrors() {
						refused++
						bad := slices.DeleteFunc(slices.Clone(list), func(x diag.Diagnostic) bool { return x.Severity != diag.Error })
						if !slices.ContainsFunc(bad, said) || !slices.Contains([]string{"interface", "mlag"}, o.path[0]) && o.path[0] != "qos" {
							t.Errorf("%v %q: refused: %v", o.path, o.key, bad)
						}
						continue
					}
					kept++
					after := patched(t, tree, []byte(targettest.Text(out.Artifacts, patchFile)))
					if now := under(after, o.path); now == nil || !reflect.DeepEqual(now[o.key], o.value) {
						t.Errorf("%v %q = %v is %v after the patch", o.path, o.key, o.value, now[o.key])
					}
				}
				if kept < 4*refused || kept < 40 {
					t.Errorf("%d stay and %d are refused", kept, refused)
				}
			})
		}
	}
}

// TestSpelling: an address in capitals is what is wanted: nothing is added beside it.
func TestSpelling(t *testing.T) {
	d := leaf()
	d.Ifaces[1].Addresses = prefixes("10.100.0.1/24", "2001:db8:0:a::1/64")
	have := strings.Replace(artifact(t, d, patchFile), "2001:db8:0:a::1/64", "2001:DB8:0:A::1/64", 1)
	var out emit.Out
	if list := rebase(d, captured(have), &out); list.HasErrors() {
		t.Fatal(list)
	}
	if patch := targettest.Text(out.Artifacts, patchFile); strings.Contains(patch, "2001:db8") || strings.Contains(patch, "unset") {
		t.Errorf("the address is renamed:\n%s", patch)
	}
	seen, _ := parse(d, captured(have))
	if differs, _ := intent.Compare(d, seen); len(differs) > 0 {
		t.Errorf("%v", differs)
	}
}
