package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rocec/rocec/deploy/lab"
)

// pages is output that is read while it is written.
type pages struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *pages) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *pages) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// TestLab: the lab of a configuration starts, is asked, serves a plan and stops.
func TestLab(t *testing.T) {
	t.Chdir(".") // --chdir is the process's: back when it ends
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "lossy-ecn"))); err != nil {
		t.Fatal(err)
	}
	rocec := func(code int, env []string, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if got := newApp(strings.NewReader(""), &out, &out, env).run(t.Context(), args); got != code {
			t.Errorf("%v: exit %d, wanted %d:\n%s", args, got, code, out.String())
		}
		return out.String()
	}
	file := filepath.Join(dir, ".rocec", "lab", "lab.json")
	if out := rocec(1, nil, "lab", "status", dir); !strings.Contains(out, "no lab runs there") {
		t.Error(out)
	}
	rocec(1, nil, "lab", "up", "--fault=nonsense", dir)
	rocec(1, nil, "lab", "up", "--fault=nobody=down", dir)
	rocec(1, nil, "lab", "up", "--addr=192.0.2.1", dir)
	var out pages
	done := make(chan int)
	go func() {
		done <- newApp(strings.NewReader(""), &out, &out, []string{"ROCEC_LAB=" + file}).run(t.Context(), []string{"lab", "up", dir})
	}()
	for !strings.Contains(out.String(), "Ctrl-C stops the lab.") {
		select {
		case code := <-done:
			t.Fatalf("exit %d:\n%s", code, out.String())
		default:
			runtime.Gosched()
		}
	}
	if text := out.String(); !strings.Contains(text, "These devices are simulated") || !strings.Contains(text, "export ROCEC_LAB="+file) {
		t.Error(text)
	}
	if text := rocec(0, nil, "lab", "status", dir); !strings.Contains(text, "simulated devices, 0 in use") {
		t.Error(text)
	}
	if text := rocec(1, nil, "lab", "up", dir); !strings.Contains(text, "a lab runs there already") {
		t.Error(text)
	}
	rocec(0, nil, "lab", "fault", "--dir", dir, "gpu1=down")
	rocec(1, nil, "lab", "fault", "--dir", dir, "gpu1=sideways")
	rocec(0, nil, "lab", "heal", "--dir", dir, "gpu1")
	if text := rocec(0, []string{"ROCEC_LAB=" + file}, "--chdir="+dir, "plan", "--summary"); !strings.Contains(text, "Plan:") || strings.Contains(text, "Plan: 0 to add, 0 to change") {
		t.Error(text)
	}
	if text := rocec(0, nil, "lab", "status", dir); strings.Contains(text, ", 0 in use") {
		t.Errorf("the plan asked nobody: %s", text)
	}
	rocec(0, nil, "lab", "down", dir)
	if code := <-done; code != 0 {
		t.Errorf("lab up ends with %d:\n%s", code, out.String())
	}
	rocec(1, nil, "lab", "down", dir)
}

// TestLabDetached: a lab in the background goes on when the command has ended, and
// with --keep the next one starts with what its devices had stored.
func TestLabDetached(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "lossy-ecn"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ".rocec", "lab", "lab.json")
	process := func(code int, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "rocec", args...)
		c.Dir, c.Env = filepath.Dir(dir), append(os.Environ(), "ROCEC_LAB=")
		out, err := c.CombinedOutput()
		if c.ProcessState == nil || c.ProcessState.ExitCode() != code {
			t.Fatalf("%q: %v, exit %d wanted:\n%s", args, err, code, out)
		}
		return string(out)
	}
	if runtime.GOOS == "windows" {
		if out := process(1, "lab", "up", "--detach", dir); !strings.Contains(out, "--detach works on Linux and macOS") {
			t.Error(out)
		}
		return
	}
	t.Cleanup(func() { _, _ = lab.Ask(file, "down") })
	device := ""
	for i, start := range [][]string{{"lab", "up", "--detach", "--keep", dir}, {"--chdir=" + filepath.Base(dir), "lab", "up", "--keep", "--detach"}} {
		out := process(0, start...)
		if !strings.Contains(out, "rocec lab down") || !strings.Contains(out, "writes into ") || strings.Contains(out, "Ctrl-C") {
			t.Error(out)
		}
		if out := process(1, "lab", "up", "--detach", dir); !strings.Contains(out, "a lab runs there already") {
			t.Error(out)
		}
		if out := process(0, "lab", "status", dir); !strings.Contains(out, "simulated devices") {
			t.Error(out)
		}
		specs, err := lab.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range specs {
			if device = max(device, name); s.User != "root" {
				device = name // the switch
			}
		}
		if i == 0 {
			onDevice(t, file, device, "echo kept > /var/lib/note; echo lost > /run/note")
		} else {
			onDevice(t, file, device, "grep -q kept /var/lib/note && ! test -e /run/note")
		}
		if out := process(0, "lab", "down", dir); out != "stopped\n" {
			t.Error(out)
		}
	}
	if out := process(1, "lab", "up", "--detach", "--addr=192.0.2.1", dir); !strings.Contains(out, "is no loopback address") {
		t.Error(out)
	}
}

// TestLabKeepRefuses: what cannot be kept is refused before anything starts.
func TestLabKeepRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "smb-direct"))); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := newApp(strings.NewReader(""), &out, &out, nil).run(t.Context(), []string{"lab", "up", "--keep", dir})
	if code != 1 || !strings.Contains(out.String(), "--keep: the state of ") || !strings.Contains(out.String(), "it is a simulation for netqos") {
		t.Errorf("exit %d: %s", code, out.String())
	}
}
