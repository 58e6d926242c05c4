package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// parrot is a machine that says what it is told, and notes it.
type parrot struct {
	disk *lab.Disk
	mu   sync.Mutex
	told []string
	gate chan struct{} // "wait" ends when it is closed
}

func (p *parrot) Exec(ctx context.Context, line string, stdin io.Reader, stdout, stderr io.Writer) int {
	p.mu.Lock()
	p.told = append(p.told, line)
	p.mu.Unlock()
	switch {
	case line == "wait":
		select {
		case <-p.gate:
		case <-ctx.Done():
			return -1
		}
	case line == "yes": // a loop that asks nobody whether it is heard
		for ctx.Err() == nil {
			_, _ = stdout.Write(make([]byte, 1<<20))
		}
		return 0
	case line == "cat":
		_, _ = io.Copy(stdout, stdin)
		return 0
	case strings.HasPrefix(line, "fail"):
		fmt.Fprintln(stderr, "it fails")
		return 7
	}
	fmt.Fprintln(stdout, line)
	return 0
}
func (p *parrot) Disk() *lab.Disk { return p.disk }
func (p *parrot) Reboot()         {}
func (p *parrot) Close() error    { return nil }

func (p *parrot) lines() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.told, ",")
}

// parrots starts a lab of n of them, named d0 and so on.
func parrots(t testing.TB, n int, o lab.Options) (*lab.Lab, []*parrot) {
	t.Helper()
	var list []lab.Device
	var all []*parrot
	for i := range n {
		p := &parrot{disk: lab.NewDisk(lab.DiskOptions{}), gate: make(chan struct{})}
		all = append(all, p)
		list = append(list, lab.Device{
			Name: fmt.Sprintf("d%d", i), Target: "linux", User: "root", Shell: targets.POSIX, Intent: func() *intent.Device { return &intent.Device{} },
			Make: func(*intent.Device, lab.Environment) (lab.Machine, error) { return p, nil },
		})
	}
	l, err := lab.Up(context.Background(), list, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, all
}

func dial(t testing.TB, l *lab.Lab, name string) (session.Session, error) {
	t.Helper()
	spec, err := l.Spec(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := new(session.Client).Dial(t.Context(), spec)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

func kind(err error) session.Kind {
	var e *session.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return session.Kind(fmt.Sprint(err))
}

func TestSessions(t *testing.T) {
	l, all := parrots(t, 2, lab.Options{})
	s, err := dial(t, l, "d1")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.Run(t.Context(), "hello", nil); err != nil || string(out.Stdout) != "hello\n" || out.Exit != 0 {
		t.Errorf("%v %+v", err, out)
	}
	if out, err := s.Run(t.Context(), "fail now", nil); err != nil || string(out.Stderr) != "it fails\n" || out.Exit != 7 {
		t.Errorf("%v %+v", err, out)
	}
	if out, err := s.Run(t.Context(), "cat", []byte("given")); err != nil || string(out.Stdout) != "given" {
		t.Errorf("%v %+v", err, out)
	}
	_, err = s.Configure(t.Context(), session.Change{Folder: "/var/x", Files: []session.File{{Path: "a/b", Mode: 0o750, Bytes: []byte("text")}}, Dir: "a", Command: "go"})
	if err != nil {
		t.Fatal(err)
	}
	info, err := all[1].disk.Stat("/var/x/a/b")
	b, _ := all[1].disk.ReadFile("/var/x/a/b")
	if err != nil || info.Mode() != 0o750 || string(b) != "text" {
		t.Errorf("%v %v %q", err, info, b)
	}
	if all[0].lines() != "" || l.Used() != 1 {
		t.Errorf("the other device was told %q, %d are in use", all[0].lines(), l.Used())
	}
}

// TestFaults: what each fault makes of a session.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		fault lab.Fault
		on    func(l *lab.Lab, p *parrot) string // what came of it
		want  string
	}{
		{lab.Fault{Kind: lab.FaultHostKey}, nil, "host_key"},
		{lab.Fault{Kind: lab.FaultDown}, nil, "unreachable"},
		{lab.Fault{Kind: lab.FaultDropBefore, Match: regexp.MustCompile("two")}, nil, "one=ok two=lost told=one"},
		{lab.Fault{Kind: lab.FaultDrop, Match: regexp.MustCompile("two")}, nil, "one=ok two=lost told=one,two"},
		{lab.Fault{Kind: lab.FaultDropAfter, Nth: 2}, nil, "one=ok two=lost told=one,two"},
		{lab.Fault{Kind: lab.FaultFull}, nil, "one=ok two=ok told=one,two files=refused"},
	} {
		t.Run(string(c.fault.Kind), func(t *testing.T) {
			t.Parallel()
			l, all := parrots(t, 1, lab.Options{})
			all[0].disk.SetLimit(0)
			if err := l.Inject("d0", c.fault); err != nil {
				t.Fatal(err)
			}
			got := ""
			s, err := dial(t, l, "d0")
			if err != nil {
				got = string(kind(err))
			} else {
				for _, line := range []string{"one", "two"} {
					word := "ok"
					if _, err := s.Run(t.Context(), line, nil); err != nil {
						word = string(kind(err))
					}
					got += line + "=" + word + " "
				}
				got += "told=" + all[0].lines()
				if c.fault.Kind == lab.FaultFull {
					_, err := s.Configure(t.Context(), session.Change{Folder: "/x", Files: []session.File{{Path: "f", Mode: 0o644, Bytes: make([]byte, 5000)}}})
					got += " files=" + string(kind(err))
				}
			}
			if got != c.want {
				t.Errorf("%q, wanted %q (%v)", got, c.want, err)
			}
			if err := l.Heal("d0"); err != nil {
				t.Fatal(err)
			}
			if s, err := dial(t, l, "d0"); err != nil {
				t.Errorf("healed: %v", err)
			} else if _, err := s.Configure(t.Context(), session.Change{Folder: "/x", Files: []session.File{{Path: "f", Mode: 0o644, Bytes: make([]byte, 5000)}}}); err != nil {
				t.Errorf("healed: %v", err)
			}
		})
	}
}

// TestMute: a device that never answers is left by whoever waits.
func TestMute(t *testing.T) {
	l, all := parrots(t, 1, lab.Options{Faults: map[string][]lab.Fault{"d0": {{Kind: lab.FaultMute}}}})
	s, err := dial(t, l, "d0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.Run(ctx, "one", nil)
		done <- err
	}()
	cancel()
	if err := <-done; err == nil || all[0].lines() != "" {
		t.Errorf("%v, told %q", err, all[0].lines())
	}
}

// TestSlow: a slow device answers when its time has come.
func TestSlow(t *testing.T) {
	clock := lab.NewManualTime(time.Unix(0, 0))
	l, _ := parrots(t, 1, lab.Options{Clock: clock, Faults: map[string][]lab.Fault{"d0": {{Kind: lab.FaultSlow, Delay: time.Hour}}}})
	s, err := dial(t, l, "d0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := s.Run(t.Context(), "one", nil)
		done <- err
	}()
	for clock.Waiting() == 0 {
		runtime.Gosched()
	}
	clock.Advance(time.Hour)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestControl(t *testing.T) {
	l, _ := parrots(t, 3, lab.Options{})
	ask := func(command, want string) {
		t.Helper()
		if got, err := lab.Ask(l.File, command); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %q %v, wanted %q", command, got, err, want)
		}
	}
	ask("status", "3 simulated devices, 0 in use")
	ask("fault d1=down", "")
	if _, err := dial(t, l, "d1"); err == nil {
		t.Error("the fault has no effect")
	}
	ask("heal d1", "")
	if _, err := dial(t, l, "d1"); err != nil {
		t.Error(err)
	}
	ask("reboot d1", "")
	for _, bad := range []string{"fault d1=nonsense", "fault nobody=down", "heal nobody", "reboot nobody", "sing"} {
		if _, err := lab.Ask(l.File, bad); err == nil {
			t.Errorf("%s is well", bad)
		}
	}
	specs, err := lab.Load(l.File)
	if err != nil {
		t.Fatal(err)
	}
	want, err := l.Spec("d2")
	if err != nil {
		t.Fatal(err)
	}
	want.Shell = ""
	if diff := cmp.Diff(want, specs["d2"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, f := range []string{"known_hosts", "ssh_config", "key"} {
		if b, err := os.ReadFile(filepath.Join(l.Dir, f)); err != nil || len(b) == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	if info, err := os.Stat(filepath.Join(l.Dir, "key")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the key has mode %v, %v", info.Mode(), err)
	}
	root := filepath.Dir(filepath.Dir(l.Dir))
	if _, err := lab.Up(t.Context(), nil, root, lab.Options{}); err == nil || !strings.Contains(err.Error(), "runs there already") {
		t.Errorf("a second lab: %v", err)
	}
	ask("down", "stopped")
	<-l.Done()
	if _, err := lab.Ask(l.File, "status"); !errors.Is(err, lab.ErrNotRunning) {
		t.Errorf("after the end: %v", err)
	}
}

func TestUpRefuses(t *testing.T) {
	make1 := func(*intent.Device, lab.Environment) (lab.Machine, error) { return nil, nil }
	for _, c := range []struct {
		devices []lab.Device
		o       lab.Options
		want    string
	}{
		{nil, lab.Options{Address: "0.0.0.0"}, "no loopback address"},
		{nil, lab.Options{Address: "host"}, "no loopback address"},
		{[]lab.Device{{Name: "a", Make: make1}, {Name: "a", Make: make1}}, lab.Options{}, "two devices are called a"},
		{nil, lab.Options{Faults: map[string][]lab.Fault{"b": nil}}, "no device of the lab is called b"},
	} {
		dir := t.TempDir()
		if _, err := lab.Up(t.Context(), c.devices, dir, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, wanted %q", err, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, ".rocec", "lab", "lab.json")); err == nil {
			t.Error("lab.json is there")
		}
	}
}

// TestMakerFails: a machine that cannot be made says why to whoever comes.
func TestMakerFails(t *testing.T) {
	l, err := lab.Up(t.Context(), []lab.Device{{
		Name: "d0", Target: "linux", User: "root", Shell: targets.POSIX, Intent: func() *intent.Device { return &intent.Device{} },
		Make: func(*intent.Device, lab.Environment) (lab.Machine, error) { return nil, errors.New("it has no ports") },
	}}, t.TempDir(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	s, err := dial(t, l, "d0")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.Run(t.Context(), "hello", nil); err != nil || string(out.Stderr) != "rocec lab: it has no ports\n" || out.Exit != 255 {
		t.Errorf("%v %+v", err, out)
	}
}

// TestAskOther: what listens where a lab was is no lab.
func TestAskOther(t *testing.T) {
	l, _ := parrots(t, 1, lab.Options{})
	text, err := os.ReadFile(l.File)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() {
		for c, err := other.Accept(); err == nil; c, err = other.Accept() {
			_, _ = c.Write([]byte("220 mail\r\n"))
			_ = c.Close()
		}
	}()
	var f map[string]any
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	f["control"].(map[string]any)["port"] = other.Addr().(*net.TCPAddr).Port
	if text, err = json.Marshal(f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.File, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Ask(l.File, "status"); !errors.Is(err, lab.ErrNotRunning) {
		t.Errorf("%v", err)
	}
}

// TestMany: a thousand devices start, and cost only those who are asked.
func TestMany(t *testing.T) {
	l, all := parrots(t, 1000, lab.Options{})
	for _, name := range []string{"d0", "d500", "d999"} {
		s, err := dial(t, l, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), name, nil); err != nil {
			t.Error(err)
		}
	}
	if l.Used() != 3 || all[500].lines() != "d500" {
		t.Errorf("%d are in use, one was told %q", l.Used(), all[500].lines())
	}
}

func TestParseFault(t *testing.T) {
	for text, want := range map[string]string{
		"leaf1=drop": "leaf1 drop 0 ", "leaf1=refuse:3": "leaf1 refuse 3 ", "a=lie:2:^dcb (pfc|ets):x": "a lie 2 ^dcb (pfc|ets):x",
		"=drop": "is not ADDRESS=KIND", "leaf1": "is not ADDRESS=KIND", "a=b": `no fault is called "b"`, "a=refuse:0": "is no number", "a=refuse:x": "is no number",
		"a=refuse:1:(": "pattern of", "a=down:1": "no number goes with it",
	} {
		name, f, err := lab.ParseFault(text)
		got := fmt.Sprint(err)
		if err == nil {
			pattern := ""
			if f.Match != nil {
				pattern = f.Match.String()
			}
			got = fmt.Sprintf("%s %s %d %s", name, f.Kind, f.Nth, pattern)
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: %s, wanted %s", text, got, want)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"leaf1=drop", "a=refuse:3:^x", "a=b:c:d", "="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, fault, err := lab.ParseFault(s)
		if err == nil && (name == "" || fault.Kind == "") {
			t.Errorf("%q is %q %+v", s, name, fault)
		}
	})
}
