package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
	"mvdan.cc/sh/v3/shell"
)

// TestTour types what the README's tour says, in a copy of the example that it
// names, and demands the output that it shows.
func TestTour(t *testing.T) {
	t.Chdir(".") // --chdir is the process's: back when it ends
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tour, ok := strings.Cut(string(text), "## A tour without hardware\n")
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(tour, 2)
	if !ok || len(blocks) != 2 {
		t.Fatal("the README has no tour of two blocks")
	}
	folder, _, _ := strings.Cut(strings.TrimPrefix(blocks[0][1], "$ cd "), "\n")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", filepath.FromSlash(folder)))); err != nil {
		t.Fatal(err)
	}
	var out pages
	done := make(chan int)
	go func() {
		done <- newApp(strings.NewReader(""), &out, &out, nil).run(t.Context(), []string{"lab", "up", dir})
	}()
	for !strings.Contains(out.String(), "Ctrl-C stops the lab.") {
		select {
		case code := <-done:
			t.Fatalf("exit %d:\n%s", code, out.String())
		default:
			runtime.Gosched()
		}
	}
	file := filepath.Join(dir, ".rocec", "lab", "lab.json")
	defer func() {
		var b bytes.Buffer
		if code := newApp(strings.NewReader(""), &b, &b, nil).run(t.Context(), []string{"lab", "down", dir}); code != 0 {
			t.Errorf("lab down: exit %d: %s", code, b.String())
		}
		<-done
	}()

	codes := map[string]int{"rocec verify": 2} // it finds the drift
	var typed []string
	for _, step := range strings.Split(blocks[1][1], "$ ")[1:] {
		line, shown, _ := strings.Cut(step, "\n")
		line, _, _ = strings.Cut(line, "  #")
		words, err := shell.Fields(line, func(string) string { return "" })
		if err != nil || len(words) == 0 {
			t.Fatalf("%s: %v", line, err)
		}
		typed = append(typed, words[0])
		switch words[0] {
		case "export":
			if words[1] != "ROCEC_LAB=.rocec/lab/lab.json" {
				t.Errorf("the lab is not in %s", words[1])
			}
		case "ssh":
			onDevice(t, file, words[len(words)-2], words[len(words)-1])
		case "rocec":
			var b bytes.Buffer
			code := newApp(strings.NewReader("yes\n"), &b, &b, []string{"ROCEC_LAB=" + file}).run(t.Context(), append([]string{"--chdir=" + dir}, words[1:]...))
			if want := codes[strings.TrimSpace(line)]; code != want {
				t.Errorf("%s: exit %d, wanted %d:\n%s", line, code, want, b.String())
			}
			if !strings.Contains(b.String(), strings.TrimSpace(shown)) {
				t.Errorf("%s does not say %q:\n%s", line, shown, b.String())
			}
		default:
			t.Errorf("nobody knows what %s does", words[0])
		}
	}
	if len(typed) < 8 {
		t.Errorf("the tour is %q", typed)
	}
}

// onDevice runs a command on a device of a lab.
func onDevice(t *testing.T, file, device, command string) {
	t.Helper()
	specs, err := lab.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	spec := specs[device]
	spec.Shell = targets.POSIX
	s, err := (&session.Client{}).Dial(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	answer, err := s.Run(t.Context(), command, nil)
	if err != nil || answer.Exit != 0 {
		t.Fatalf("%s on %s: exit %d, %v: %s", command, device, answer.Exit, err, answer.Stderr)
	}
}
