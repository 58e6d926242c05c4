package machines

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/targets"
)

// switches is the first switch with SONiC of an example, nil for none.
func switches(t *testing.T, example string) *made {
	t.Helper()
	all := compiled(t, example)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].target.Name == "sonic" {
			return all[name]
		}
	}
	return nil
}

// TestSONiC: what the examples say of SONiC applies on machines that take only
// what SONiC's models accept.
func TestSONiC(t *testing.T) {
	list, err := os.ReadDir("../../../examples")
	if err != nil {
		t.Fatal(err)
	}
	some := 0
	for _, e := range list {
		if !e.IsDir() {
			continue
		}
		m := switches(t, e.Name())
		if m == nil {
			continue
		}
		some++
		if e.Name() == "storage" || e.Name() == "smb-direct" {
			continue // TestLive and TestApply have theirs
		}
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			x := begun(t, m)
			x.lay("a1")
			x.do("a1", targets.VerbBegin, targets.VerbChange, targets.VerbConfirm)
			if left := x.left(false); len(left) > 0 {
				t.Errorf("after the change:\n%s", strings.Join(left, "\n"))
			}
		})
	}
	if some < 4 {
		t.Errorf("%d switches", some)
	}
}

// TestSONiCRefuses: a value that the models do not accept stops the change with
// what the config updater says, and the switch is as it was.
func TestSONiCRefuses(t *testing.T) {
	t.Parallel()
	for what, words := range map[string][2]string{
		"a DSCP of 99":                  {`"48"`, `"99"`},
		"a profile that does not exist": {`"wred_profile": "`, `"wred_profile": "no`},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			x := begun(t, switches(t, "smb-direct"))
			shown := func() string {
				return run(t, x.machine, 0, "sonic-cfggen -d --print-data; cat /etc/sonic/config_db.json")
			}
			before, wrong := shown(), 0
			x.rebase()
			for i, a := range x.out.Artifacts {
				if strings.HasSuffix(a.Path, ".json") && bytes.Contains(a.Bytes, []byte(words[0])) {
					x.out.Artifacts[i].Bytes = bytes.ReplaceAll(a.Bytes, []byte(words[0]), []byte(words[1]))
					wrong++
				}
			}
			if wrong == 0 {
				t.Fatalf("nothing has %s", words[0])
			}
			x.laid("a1")
			x.do("a1", targets.VerbBegin)
			if code, out := x.verb(t, x.machine, targets.VerbChange, "a1"); code == 0 {
				t.Errorf("the change is taken: %s", out)
			}
			if log := run(t, x.machine, 0, "cat "+x.target.Live.Root+"/a1.state/log"); !strings.Contains(log, "Data Loading Failed") && !strings.Contains(log, "do not accept") {
				t.Errorf("the log does not say why:\n%s", log)
			}
			x.do("a1", targets.VerbRevert)
			if diff := cmp.Diff(before, shown()); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}
