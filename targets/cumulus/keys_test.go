package cumulus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

// key is a row of testdata/oracles/cumulus/nvue-keys.csv: a path of NVUE's
// object model and what it takes, from the NVUE command reference in
// github.com/CumulusNetworks/docs. NVIDIA publishes no schema of 5.9 to 5.15.
type key struct {
	path         []string
	values       []string
	since, until release
}

func keys(t testing.TB) []key {
	t.Helper()
	var list []key
	for _, r := range oracle.Rows(t, "cumulus", "nvue-keys.csv") {
		k := key{path: strings.Fields(r[0]), until: release{Major: 1 << 20}}
		if r[1] != "" {
			k.values = strings.Split(r[1], "|")
		}
		var ok bool
		if k.since, ok = targets.ParseRelease(r[2]); !ok {
			t.Fatalf("since %q of %s", r[2], r[0])
		}
		if r[3] != "" {
			if k.until, ok = targets.ParseRelease(r[3]); !ok {
				t.Fatalf("until %q of %s", r[3], r[0])
			}
		}
		list = append(list, k)
	}
	return list
}

// numbered are the names of a path that are numbers.
var numbered = map[string]string{
	"<vid>": "1-4094", "<qos-tc-id>": "0-7", "<traffic-class-id>": "0-7", "<qos-sp-id>": "0-7", "<qos-pcp-id>": "0-7", "<qos-dscp-id>": "0-63",
}

// fits reports whether a word is one that a path or a value allows.
func fits(allowed, text string) bool {
	if of := numbered[allowed]; of != "" {
		allowed = of
	}
	if allowed == "*" || strings.HasPrefix(allowed, "<") {
		return text != ""
	}
	low, high, isRange := strings.Cut(allowed, "-")
	if from, err := strconv.ParseUint(low, 10, 32); isRange && err == nil {
		to, err := strconv.ParseUint(high, 10, 32)
		n, bad := strconv.ParseUint(text, 10, 32)
		return err == nil && bad == nil && from <= n && n <= to
	}
	return allowed == text
}

// takes reports whether a row has a path with its value. What is unset may end
// anywhere.
func (k *key) takes(words []string, at release, unset bool) bool {
	if k.path[0] != words[0] || k.since.Compare(at) > 0 || k.until.Compare(at) <= 0 {
		return false
	}
	whole := len(k.path)
	if len(k.values) > 0 {
		whole++
	}
	if len(words) > whole || len(words) < whole && !unset {
		return false
	}
	for i, w := range words {
		if i < len(k.path) {
			if !fits(k.path[i], w) {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(k.values, func(v string) bool { return fits(v, w) }) {
			return false
		}
	}
	return true
}

// known reports whether NVUE of a version has a path with its value.
func known(all []key, words []string, at release, unset bool) bool {
	return slices.ContainsFunc(all, func(k key) bool { return k.takes(words, at, unset) })
}

// expand takes apart the words that stand for several: the interfaces, and the
// numbers that are joined in one command.
func expand(words []string) [][]string {
	list := [][]string{{}}
	for i, w := range words {
		names := []string{w}
		if i == 1 && words[0] == "interface" || i > 0 && slices.Contains(joins, words[i-1]) {
			names, _ = expanded(w)
		}
		var next [][]string
		for _, so := range list {
			for _, name := range names {
				next = append(next, append(slices.Clone(so), name))
			}
		}
		list = next
	}
	return list
}

// yamlPaths are the paths of a YAML file by their part: each key on the way,
// and the value at its end.
func yamlPaths(text string) (map[string][][]string, error) {
	var parts []map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(text), &parts); err != nil {
		return nil, err
	}
	paths := map[string][][]string{}
	for _, part := range parts {
		for verb, top := range part {
			var walk func(n *yaml.Node, words []string)
			walk = func(n *yaml.Node, words []string) {
				for i := 0; i+1 < len(n.Content); i += 2 {
					walk(n.Content[i+1], append(slices.Clone(words), n.Content[i].Value))
				}
				if len(n.Content) > 0 {
					return
				}
				if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
					words = append(slices.Clone(words), n.Value)
				}
				paths[verb] = append(paths[verb], expand(words)...)
			}
			walk(&top, nil)
		}
	}
	return paths, nil
}

// unknown are the paths of artifacts that NVUE of a version does not have, and
// those that only one of the two forms has.
func unknown(all []key, files []emit.Artifact, version string) []string {
	byYAML, err := yamlPaths(targettest.Text(files, patchFile))
	if err != nil {
		return []string{err.Error()}
	}
	byCommand := map[string][][]string{}
	commands, err := calls(targettest.Text(files, commandsFile))
	if err != nil {
		return []string{err.Error()}
	}
	for _, c := range commands {
		byCommand[c[1]] = append(byCommand[c[1]], expand(c[2:])...)
	}
	var bad []string
	for _, verb := range []string{"set", "unset"} {
		both := [2][]string{}
		for i, paths := range [][][]string{byYAML[verb], byCommand[verb]} {
			for _, p := range paths {
				text := verb + " " + strings.Join(p, " ")
				both[i] = append(both[i], text)
				if !known(all, p, releaseOf(version), verb == "unset") {
					bad = append(bad, version+" does not have: "+text)
				}
			}
			slices.Sort(both[i])
		}
		if diff := cmp.Diff(both[0], both[1]); diff != "" {
			bad = append(bad, "YAML and commands differ: "+diff)
		}
	}
	return bad
}

// TestKeys: every key of the YAML, every command and every value is one that
// the command reference has at that version.
func TestKeys(t *testing.T) {
	all := keys(t)
	for name, device := range fixtures {
		for minor := oldest.Minor; minor <= newest.Minor; minor++ {
			d := device()
			d.OS.Version = fmt.Sprintf("5.%d", minor)
			if list := targets.Check(&Target, d, nil); list.HasErrors() {
				t.Fatalf("%s at %s:\n%s", name, d.OS.Version, targettest.Refusals(list))
			}
			for _, bad := range unknown(all, targettest.Emit(&Target, d), d.OS.Version) {
				t.Errorf("%s: %s", name, bad)
			}
		}
	}
}

// TestKeysGenerated is the same for random devices on their way to others.
func TestKeysGenerated(t *testing.T) {
	t.Parallel()
	all := keys(t)
	rapid.Check(t, func(r *rapid.T) {
		d, before := generated(r), generated(r)
		d.OS = before.OS
		var out emit.Out
		if list := rebase(d, captured(targettest.Text(targettest.Emit(&Target, before), patchFile)+"- header: {}\n"), &out); len(list) > 0 {
			r.Fatalf("rebase: %v", list)
		}
		if bad := unknown(all, out.Artifacts, d.OS.Version); len(bad) > 0 {
			r.Fatalf("%s", bad)
		}
	})
}

// TestKeysRefuse: the table tells versions and values apart.
func TestKeysRefuse(t *testing.T) {
	all := keys(t)
	for _, c := range []struct {
		path, version string
		unset, want   bool
	}{
		{"qos roce enable on", "5.14", false, true},
		{"qos roce enable on", "5.15", false, false},
		{"qos roce state enabled", "5.14", false, false},
		{"interface swp1 ip address 10.0.0.0/31", "5.14", false, true},
		{"interface swp1 ip address 10.0.0.0/31", "5.15", false, false},
		{"interface swp1 ipv4 address 10.0.0.0/31", "5.15", false, true},
		{"qos pfc x switch-priority 8", "5.11", false, false},
		{"qos pfc x restore 200", "5.11", false, false},
		{"qos pfc-watchdog action drop", "5.11", false, false},
		{"qos mapping x trust dscp", "5.11", false, false},
		{"interface swp1 link mtu 9300", "5.11", false, false},
		{"interface swp1 link state", "5.11", false, false},
		{"interface swp1 link state", "5.11", true, true},
		{"interface swp1 qos", "5.11", true, true},
		{"interface swp1 quality", "5.11", true, false},
	} {
		if got := known(all, strings.Fields(c.path), releaseOf(c.version), c.unset); got != c.want {
			t.Errorf("%s at %s: %v, want %v", c.path, c.version, got, c.want)
		}
	}
}

// single are the paths that rest on the command reference alone: neither the
// Ansible collection has them nor a switch that printed them. <id> is any name.
var single []string

// printed reads testdata/oracles/cumulus/nvue-printed.csv: paths, and values,
// that switches print themselves.
func printed(t testing.TB) []key { return keysIn(t, "nvue-printed.csv") }

// keysIn are the rows of a file with the paths and values of a second source.
func keysIn(t testing.TB, name string) []key {
	t.Helper()
	var list []key
	for _, r := range oracle.Rows(t, "cumulus", name) {
		k := key{path: strings.Fields(r[0]), until: release{Major: 1 << 20}}
		if r[1] != "" {
			k.values = strings.Split(r[1], "|")
		}
		list = append(list, k)
	}
	return list
}

// secondSource reads testdata/oracles/cumulus/nvidia-nvue.csv: paths and choices
// of NVIDIA's Ansible collection nvidia.nvue 1.2.5.
func secondSource(t testing.TB) []key { return keysIn(t, "nvidia-nvue.csv") }

// TestSecondSource: what is emitted for versions that the collection knows is in
// it, in its form and with one of its choices, or was printed by a switch in that
// form, or is listed as resting on one source.
func TestSecondSource(t *testing.T) {
	all, third := secondSource(t), printed(t)
	var alone []key
	for _, path := range single {
		alone = append(alone, key{path: strings.Fields(path), until: release{Major: 1 << 20}})
	}
	used, usedThird := make([]bool, len(single)), make([]bool, len(third))
	for name, device := range fixtures {
		for minor := oldest.Minor; minor < renamed.Minor; minor++ {
			d := device()
			d.OS.Version = fmt.Sprintf("5.%d", minor)
			paths, err := yamlPaths(targettest.Text(targettest.Emit(&Target, d), patchFile))
			if err != nil {
				t.Fatal(err)
			}
			for _, words := range paths["set"] {
				if known(all, words, renamed, false) {
					continue
				}
				if i := slices.IndexFunc(third, func(k key) bool { return k.takes(words, renamed, false) }); i >= 0 {
					usedThird[i] = true
					continue
				}
				i := slices.IndexFunc(alone, func(k key) bool {
					return k.takes(words, renamed, false) || len(words) > 1 && k.takes(words[:len(words)-1], renamed, false)
				})
				if i < 0 {
					t.Errorf("%s at %s: the collection does not have, and no switch printed: %s", name, d.OS.Version, strings.Join(words, " "))
					continue
				}
				used[i] = true
			}
		}
	}
	for i, path := range single {
		if !used[i] {
			t.Errorf("%s is emitted by no fixture", path)
		}
	}
	for i, k := range third {
		if !usedThird[i] {
			t.Errorf("%s is emitted by no fixture, or the collection has it", strings.Join(k.path, " "))
		}
	}
}
