package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/observe"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// local runs what a session is given on this machine, where it finds programs in
// one folder first.
type local struct {
	t        *testing.T
	programs string
	closed   bool
	changes  []session.Change
	answer   *session.Output // of Configure
}

func (l *local) Run(ctx context.Context, command string, stdin []byte) (session.Output, error) {
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Env = []string{"PATH=" + l.programs + string(filepath.ListSeparator) + os.Getenv("PATH"), "FOLDER=" + l.programs}
	c.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return session.Output{}, err
	}
	return session.Output{Stdout: out.Bytes(), Stderr: errs.Bytes(), Exit: c.ProcessState.ExitCode()}, nil
}

func (l *local) Configure(_ context.Context, c session.Change) (session.Output, error) {
	l.changes = append(l.changes, c)
	return *l.answer, nil
}

func (l *local) Close() error {
	l.closed = true
	return nil
}

// device is a machine with programs, by name and text.
func device(t *testing.T, programs map[string]string) *local {
	t.Helper()
	l := &local{t: t, programs: t.TempDir()}
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(l.programs, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// target reads with three commands, one for each port.
var target = &targets.Target{
	Name:   "fake",
	Live:   &targets.Live{Shell: targets.POSIX, Root: "/var/lib/rocec"},
	Probes: []targets.Probe{{File: "all.json", Command: "showall --json"}, {File: "gone.txt", Command: "gone"}, {File: "%s/port.txt", Command: "showport %s", PerPort: true}},
	Parse:  func(*intent.Device, targets.Captured) (*intent.Device, diag.List) { return nil, nil },
}

func ports(names ...string) *intent.Device {
	d := &intent.Device{Name: "sw1"}
	for _, n := range names {
		d.Ports = append(d.Ports, intent.Port{Name: n})
	}
	return d
}

// hostile prints what could be taken for the script's own lines, if it were not encoded.
const hostile = `
echo "rocec-x 1"; echo "rocec-x end"; printf '%s\n' "$1"; printf 'no end of line \000\377'
cat # the script itself, were it to be had
exit 7
`

func TestRead(t *testing.T) {
	s := device(t, map[string]string{"showall": `echo "{\"argument\": \"$1\"}"; echo complaint >&2`, "showport": hostile})
	c, err := observe.Read(t.Context(), s, ports("eth0", "it's $(HOME); `id`"), target)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, text := range c.Files {
		got[name] = string(text)
	}
	port := func(name string) string {
		return "rocec-x 1\nrocec-x end\n" + name + "\nno end of line \x00\xff"
	}
	want := map[string]string{
		"all.json": "{\"argument\": \"--json\"}\n", "eth0/port.txt": port("eth0"), "it's $(HOME); `id`/port.txt": port("it's $(HOME); `id`"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if l := c.Label("eth0/port.txt", 3, 1); l.Where != "sw1, output of showport eth0" {
		t.Errorf("a finding points at %q", l.Where)
	}
}

// A login that is not root runs all of it by sudo, where sudo asks for nothing.
func TestElevated(t *testing.T) {
	sudo := `[ "$1" = -n ] || exit 1; shift; ROOT=1 exec "$@"`
	for name, c := range map[string]struct{ id, sudo, want string }{
		"root":          {"echo 0", "exit 1", "uid 0 root=\n"},
		"sudo":          {"echo 1000", sudo, "uid 1000 root=1\n"},
		"asks for more": {"echo 1000", "exit 1", "uid 1000 root=\n"},
	} {
		s := device(t, map[string]string{"id": c.id, "sudo": c.sudo, "showall": `echo "uid $(id -u) root=$ROOT"`})
		got, err := observe.Read(t.Context(), s, ports(), target)
		if err != nil || string(got.Files["all.json"]) != c.want {
			t.Errorf("%s: %q (%v), want %q", name, got.Files["all.json"], err, c.want)
		}
	}
}

func TestReadFails(t *testing.T) {
	blank := *target
	blank.Parse = nil
	prompt := *target
	prompt.Live = &targets.Live{Shell: targets.Prompt}
	none := *target
	none.Live = nil
	needed := *target
	needed.Probes = slices.Clone(target.Probes)
	needed.Probes[len(needed.Probes)-1].Needed = true
	half := device(t, map[string]string{"showall": "echo '{}'", "showport": "echo 'showport: not found' >&2; exit 127"})
	quiet := device(t, map[string]string{"showall": "echo first >&2; echo 'showall: only \033[31mroot may' >&2; exit 3", "showport": "exit 0"})
	for name, c := range map[string]struct {
		on     *local
		target *targets.Target
		want   string
	}{
		"says why":     {quiet, target, "read sw1: none of its commands printed anything; showall --json ended with exit code 3: showall: only \\x1b[31mroot may"},
		"half of it":   {half, &needed, "read sw1: showport eth0 ended with exit code 127: showport: not found"},
		"no parse":     {quiet, &blank, "read sw1: target fake reads nothing back"},
		"prompt":       {quiet, &prompt, "read sw1: target fake says no way to read it over a session"},
		"bundles only": {quiet, &none, "read sw1: target fake says no way to read it over a session"},
		"no base64":    {device(t, map[string]string{"base64": "exit 127"}), target, "read sw1: answer 1 of 3: it is empty: the device needs head and base64"},
		"no encoding":  {device(t, map[string]string{"base64": "cat; echo '*'"}), target, "read sw1: answer 1 of 3: it is not base64"},
		"other shell":  {device(t, map[string]string{"sh": "echo This account is not available. >&2; exit 1"}), target, "read sw1: the shell of the device did not run the commands; it said: This account is not available."},
	} {
		_, err := observe.Read(t.Context(), c.on, ports("eth0"), c.target)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// windows is a target whose program reads.
func windows(root string) *targets.Target {
	kit := emit.NewKit("win", []emit.Artifact{
		{Path: "apply.ps1", Mode: 0o644, Step: emit.Apply, Bytes: []byte("apply")}, {Path: "capture.ps1", Mode: 0o644, Step: emit.Verify, Bytes: []byte("capture")},
	})
	return &targets.Target{
		Name: "win", Live: &targets.Live{Shell: targets.PowerShell, Root: root}, Capture: "capture.ps1",
		Probes: []targets.Probe{{File: "state.json", Command: "powershell.exe -File capture.ps1"}},
		Emit:   func(_ *intent.Device, out *emit.Out) { out.Use(kit) },
		Parse:  target.Parse,
	}
}

func TestReadPowerShell(t *testing.T) {
	s := &local{answer: &session.Output{Stdout: []byte("\xff\xfe{\x00}\x00\r\x00\n\x00")}}
	c, err := observe.Read(t.Context(), s, ports(), windows("C:/ProgramData/rocec/"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(c.Files["state.json"]); got != "{}\n" {
		t.Errorf("captured %q", got)
	}
	folder := s.changes[0].Folder
	if rest, ok := strings.CutPrefix(folder, "C:/ProgramData/rocec/read-only/win-"); !ok || len(rest) != 12 {
		t.Errorf("the program lies in %s", folder)
	}
	want := []session.Change{{Folder: folder, Files: []session.File{{Path: "capture.ps1", Mode: 0o644, Bytes: []byte("capture")}}, Command: "powershell.exe -File capture.ps1"}}
	if diff := cmp.Diff(want, s.changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	s.answer = &session.Output{Stdout: []byte("FAILED  access denied\r\n"), Exit: 1}
	if _, err := observe.Read(t.Context(), s, ports(), windows("C:/x")); err == nil || err.Error() != "read sw1: capture.ps1 ended with exit code 1: FAILED  access denied" {
		t.Errorf("a program that fails: %v", err)
	}
}

// dialer opens sessions to devices by name; some cannot be reached.
type dialer struct {
	sync.Mutex
	open     map[string]*local
	now, top int
}

func (d *dialer) Dial(_ context.Context, to session.Spec) (session.Session, error) {
	d.Lock()
	defer d.Unlock()
	if d.now++; d.now > d.top {
		d.top = d.now
	}
	s, ok := d.open[to.Device]
	if !ok {
		d.now--
		return nil, &session.Error{Device: to.Device, Op: "connect", Kind: session.KindUnreachable, Err: errors.New("no route")}
	}
	return &counted{s, d}, nil
}

type counted struct {
	*local
	d *dialer
}

func (c *counted) Close() error {
	c.d.Lock()
	defer c.d.Unlock()
	c.d.now--
	return c.local.Close()
}

func TestAll(t *testing.T) {
	d := &dialer{open: map[string]*local{}}
	var list []observe.Device
	for i := range 12 {
		name := fmt.Sprintf("sw%d", i)
		if i%4 != 3 {
			d.open[name] = device(t, map[string]string{"showall": "echo " + name})
		}
		list = append(list, observe.Device{Spec: session.Spec{Device: name}, Target: target, Intent: func() *intent.Device { return &intent.Device{Name: name} }})
	}
	got := make([]string, len(list))
	observe.All(t.Context(), list, d, 3, func(i int, c targets.Captured, err error) {
		got[i] = string(c.Files["all.json"])
		if err != nil {
			got[i] = err.Error()
		}
	})
	for i, text := range got {
		want := fmt.Sprintf("sw%d\n", i)
		if i%4 == 3 {
			want = fmt.Sprintf("sw%d: connect: no route", i)
		}
		if text != want {
			t.Errorf("device %d: %q, want %q", i, text, want)
		}
	}
	if d.top > 3 || d.now != 0 {
		t.Errorf("%d sessions at once, %d left open", d.top, d.now)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	observe.All(ended, list[:1], d, 3, func(_ int, _ targets.Captured, err error) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of the context: %v", err)
		}
	})
}
