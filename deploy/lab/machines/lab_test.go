package machines

import (
	"context"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// up starts the lab of an example.
func up(t *testing.T, devices map[string]*made, o lab.Options) *lab.Lab {
	t.Helper()
	var all All
	var list []lab.Device
	for name, m := range devices {
		maker := all.Maker(m.target.Name)
		if maker == nil {
			continue
		}
		list = append(list, lab.Device{
			Name: name, Target: m.target.Name, User: User(m.target.Name), Shell: m.target.Live.Shell, Intent: func() *intent.Device { return m.d }, Make: maker,
		})
	}
	l, err := lab.Up(t.Context(), list, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func dial(t *testing.T, l *lab.Lab, name string) session.Session {
	t.Helper()
	spec, err := l.Spec(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := new(session.Client).Dial(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (m *made) files() []session.File {
	var list []session.File
	for _, a := range m.out.Artifacts {
		list = append(list, session.File{Path: path.Join(m.d.Name, a.Path), Mode: a.Mode, Bytes: a.Bytes})
	}
	for _, k := range m.out.Kits {
		for _, a := range k.Artifacts {
			list = append(list, session.File{Path: path.Join(m.d.Name, k.Folder(), a.Path), Mode: a.Mode, Bytes: a.Bytes})
		}
	}
	return list
}

// TestOverSSH is a whole transaction over sessions.
func TestOverSSH(t *testing.T) {
	devices := compiled(t, "storage")
	for name, m := range devices {
		if m.target.Name != "linux" || name > "stor02" {
			delete(devices, name)
		}
	}
	l := up(t, devices, lab.Options{})
	for name, m := range devices {
		s := dial(t, l, name)
		tx := targets.Transaction{ID: "a1", Device: m.d, Confirm: 10 * time.Minute}
		live := m.target.Live
		if _, err := s.Run(context.Background(), live.Prepare(tx), nil); err != nil {
			t.Fatal(err)
		}
		for _, v := range []targets.Verb{targets.VerbBegin, targets.VerbChange, targets.VerbConfirm} {
			c := session.Change{Folder: live.Root + "/a1", Dir: name, Command: live.Command(v, tx)}
			if v == targets.VerbBegin {
				c.Files = m.files()
			}
			out, err := s.Configure(context.Background(), c)
			if err != nil || out.Exit != 0 {
				t.Fatalf("%s: %v, exit %d\n%s%s", v, err, out.Exit, out.Stdout, out.Stderr)
			}
		}
		out, err := s.Run(context.Background(), live.Command(targets.VerbStatus, tx), nil)
		if err != nil || !strings.Contains(string(out.Stdout), `"phase":"confirmed"`) {
			t.Fatalf("%v: %s", err, out.Stdout)
		}
	}
}
