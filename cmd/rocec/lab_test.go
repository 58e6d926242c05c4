package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
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
