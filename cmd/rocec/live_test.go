package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/machines"
	"github.com/rocec/rocec/lang"
)

// liveSite is a folder with a configuration, and simulated devices for it.
type liveSite struct {
	t   *testing.T
	dir string
	lab *lab.Lab
	env []string
}

// onLab starts simulated devices for a configuration of testdata.
func onLab(t *testing.T, name string) *liveSite {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("testdata", name, "fabric.roce.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "fabric.roce.hcl", text)
	a := newApp(strings.NewReader(""), io.Discard, io.Discard, nil)
	p, err := a.loadFrom(dir, noInputs(), false)
	if err != nil {
		t.Fatal(err)
	}
	devices := p.devices()
	if p.diags.HasErrors() {
		t.Fatal(p.diags)
	}
	makers := new(machines.All)
	var list []lab.Device
	for i := range devices {
		s := &devices[i]
		list = append(list, lab.Device{
			Name: s.name, Target: s.target.Name, User: machines.User(s.target.Name), Shell: s.target.Live.Shell, Make: makers.Maker(s.target.Name),
			Intent: func() *intent.Device { return p.alone(s) },
		})
	}
	l, err := lab.Up(context.Background(), list, dir, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return &liveSite{t: t, dir: dir, lab: l, env: []string{"ROCEC_LAB=" + l.File}}
}

func noInputs() *inputs {
	list := &[]lang.Var{}
	return &inputs{vars: orderedVars{list, false}, varFiles: orderedVars{list, true}}
}

// run runs rocec and demands its exit code and some of what it prints.
func (s *liveSite) run(code int, args []string, says ...string) string {
	s.t.Helper()
	got, out, errOut := rocec(s.t, s.dir, s.env, args...)
	all := out + errOut
	if got != code {
		s.t.Errorf("rocec %q: exit code %d, expected %d:\n%s", args, got, code, all)
	}
	for _, x := range says {
		if !strings.Contains(all, x) {
			s.t.Errorf("rocec %q does not say %q:\n%s", args, x, all)
		}
	}
	return all
}

// edit changes the configuration.
func (s *liveSite) edit(from, to string) {
	s.t.Helper()
	path := filepath.Join(s.dir, "fabric.roce.hcl")
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if !strings.Contains(string(text), from) {
		s.t.Fatalf("the configuration has no %q", from)
	}
	put(s.t, s.dir, "fabric.roce.hcl", []byte(strings.ReplaceAll(string(text), from, to)))
}

// TestLive applies to simulated devices, sees that nothing is left to do, changes,
// holds, confirms and takes back.
func TestLive(t *testing.T) {
	t.Parallel()
	s := onLab(t, "live")
	t.Log(s.run(2, []string{"plan", "--detailed-exitcode"}, "4 to add"))
	t.Log(s.run(0, []string{"apply", "--auto-approve"}, "Apply complete: 4 applied"))
	t.Log(s.run(0, []string{"plan", "--detailed-exitcode"}, "No changes."))
}
