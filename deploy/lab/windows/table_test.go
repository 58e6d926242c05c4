package windows

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/powershell"
	"github.com/rocec/rocec/targets/oracle"
)

var update = flag.Bool("update", false, "write cmdlets.json anew")

// TestTable: cmdlets.json is what the table of the documents says of the
// cmdlets that are answered.
func TestTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(oracle.Dir(t), "powershell-cmdlets.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Origin  map[string]struct{ Repo, Commit string }
		Common  []string          `json:"common_parameters"`
		Aliases map[string]string `json:"common_parameter_aliases"`
		Cmdlets map[string]struct {
			Sets       map[string]struct{ Mandatory, Optional, Positional []string } `json:"parameter_sets"`
			Parameters map[string]struct {
				Switch   bool
				Accepted []string
				Pipeline []string
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	want := cmdletTable{Origin: map[string]string{}, Common: doc.Common, Cmdlets: map[string]*cmdletEntry{}}
	for _, o := range doc.Origin {
		want.Origin[o.Repo] = o.Commit
	}
	answered := answered()
	for name, c := range doc.Cmdlets {
		if !slices.Contains(answered, strings.ToLower(name)) {
			continue
		}
		e := &cmdletEntry{Accepted: map[string][]string{}}
		for p, x := range c.Parameters {
			if x.Switch {
				e.Switches = append(e.Switches, p)
			}
			if len(x.Accepted) > 0 {
				e.Accepted[p] = x.Accepted
			}
		}
		slices.Sort(e.Switches)
		for _, s := range c.Sets {
			set := parameterSet{Mandatory: s.Mandatory, Optional: s.Optional, Positional: len(s.Positional)}
			for _, p := range s.Mandatory {
				if len(c.Parameters[p].Pipeline) > 0 {
					set.Piped = append(set.Piped, p)
				}
			}
			e.Sets = append(e.Sets, set)
		}
		slices.SortFunc(e.Sets, func(a, b parameterSet) int {
			return slices.Compare(append(slices.Clone(a.Mandatory), a.Optional...), append(slices.Clone(b.Mandatory), b.Optional...))
		})
		want.Cmdlets[name] = e
	}
	for _, name := range answered {
		if !slices.ContainsFunc(sortedKeys(want.Cmdlets), func(s string) bool { return strings.EqualFold(s, name) }) {
			t.Errorf("%s is answered and not documented", name)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	if err := e.Encode(want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("cmdlets.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("cmdlets.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, b.Bytes()) {
		t.Error("cmdlets.json is not what the documents say; run the test with -update")
	}
}

func sortedKeys(m map[string]*cmdletEntry) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// answered are the cmdlets of a host that has everything.
func answered() []string {
	h := NewHost("N1", "a")
	h.Features = []string{"Data-Center-Bridging", "Hyper-V", "FS-SMBBW", "NetworkATC", "Failover-Clustering"}
	h.ATC = NewCluster("s2d")
	r := &powershell.Runner{Host: powershell.Host{Cmdlets: map[string]func(*powershell.Call) []any{}}}
	h.register(r)
	newMachine(h, lab.Environment{}, nil).scheduler(r)
	names := powershell.Builtins()
	for name := range r.Cmdlets {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
