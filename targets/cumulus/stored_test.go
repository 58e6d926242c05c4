package cumulus

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

// TestStored: what startup.yaml has otherwise than the applied configuration, in
// managed fields alone.
func TestStored(t *testing.T) {
	d := tor()
	now := targettest.Text(targettest.Emit(&Target, d), patchFile)
	if strings.Count(now, "mtu: 9216") == 0 {
		t.Fatal(now)
	}
	for _, c := range []struct {
		name, stored string
		lost         bool
		first        string
		warns        bool
	}{
		{name: "old captures"},
		{name: "saved", stored: "- header:\n    model: x\n" + now},
		{name: "of others", stored: now + "    service:\n      ntp: {}\n"},
		{name: "another MTU", stored: strings.ReplaceAll(now, "mtu: 9216", "mtu: 1500"), lost: true, first: ".stored.mtu"},
		{name: "no set", stored: "- header: {}\n", lost: true, first: "stored", warns: true},
		{name: "as installed", stored: "- set:\n    system:\n      hostname: cumulus\n", lost: true, first: "stored."},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := captured(now)
			if c.stored != "" {
				seen.Files[stored] = []byte(c.stored)
			}
			got, list := boots(d, seen)
			if (len(got) > 0) != c.lost || c.lost && !strings.Contains(got[0].Path.String(), c.first) {
				t.Errorf("%v", got)
			}
			if list.HasErrors() || (len(list) > 0) != c.warns || c.warns && !strings.HasPrefix(list[0].Summary, stored) {
				t.Errorf("findings: %v", list)
			}
		})
	}
	wrong := captured(strings.ReplaceAll(now, "mtu: 9216", "mtu: 1500"))
	wrong.Files[stored] = []byte(strings.ReplaceAll(now, "mtu: 9216", "mtu: 1600"))
	if got, _ := boots(d, wrong); len(got) > 0 {
		t.Errorf("what does not run is to change anyway: %v", got)
	}
	var out emit.Out
	if list := rebase(d, wrong, &out); list.HasErrors() || targettest.Text(out.Artifacts, patchFile) == "" {
		t.Error("what does not run gets no patch")
	}
}

// TestStoredApply: the scripts store what is applied and nothing else, and put back
// what was stored.
func TestStoredApply(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"bash", "flock", "setsid"} {
		oracle.Need(t, p)
	}
	d := tor()
	d.Name = "leaf-1"
	seen := captured(targettest.Text(targettest.Emit(&Target, d), patchFile))
	seen.Files[stored] = []byte("- set:\n    system:\n      hostname: cumulus\n")
	var out emit.Out
	if list := rebase(d, seen, &out); len(list) > 0 {
		t.Fatal(list)
	}
	if !targets.Returns(&out) {
		t.Error("there is no way back")
	}
	files := map[string]string{}
	for _, a := range out.Artifacts {
		files[a.Path] = string(a.Bytes)
		oracle.Shell(t, a.Path, a.Bytes)
	}
	if diff := cmp.Diff(2, len(files)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	s := targettest.NewLiveDevice(t, kit().Artifacts[0].Bytes, map[string]string{"nv": nv}, files)
	s.Write("nvue/rev/2", "new\n")
	s.Write("nvue/state/2", "applied")
	s.Write("nvue/applied", "2")
	s.Write("nvue/no-auto-save", "")
	s.Write("etc/nvue.d/startup.yaml", "older\n")
	s.Do("a1", "begin", "change")
	holds(t, s, "changed", "new", "older")
	if code := s.Expire("a1"); code != 0 {
		t.Errorf("the timer ends with %d", code)
	}
	holds(t, s, "the timer", "new", "older")
	s.Do("b2", "begin", "change", "confirm")
	holds(t, s, "confirmed", "new", "new")
	s.Do("b2", "revert")
	holds(t, s, "undone", "new", "older")
	if asked := s.Read("nvue/asked"); strings.Contains(asked, "--confirm-yes") || strings.Contains(asked, "patch") {
		t.Errorf("it asks for:\n%s", asked)
	}
}
