//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tree is what a folder of artifacts holds, without what is left of stages.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := files(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	maps.DeleteFunc(list, func(name, _ string) bool { return strings.HasPrefix(name, ".") })
	return list
}

// device are the files of one device of a tree.
func device(list map[string]string, name string) map[string]string {
	out := map[string]string{}
	for path, text := range list {
		if strings.HasPrefix(path, name+"/") {
			out[path] = text
		}
	}
	return out
}

// TestKill kills build and apply at random moments. The tree is the old one or
// the new one, every device of a bundle likewise, the record reads, and the next
// run goes through.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := small(t)
	variants := []string{"--var=smb_share=50", "--var=smb_share=60"}
	var whole []map[string]string
	for _, v := range variants {
		if code, _, errOut := rocec(t, dir, nil, "build", v); code != 0 {
			t.Fatal(errOut)
		}
		whole = append(whole, tree(t, filepath.Join(dir, "out")))
	}
	begun := time.Now()
	if code, _, errOut := rocec(t, dir, nil, "apply", "--auto-approve", variants[1]); code != 0 {
		t.Fatal(errOut)
	}
	takes := time.Since(begun)
	killed := 0
	for i := range 16 {
		v := variants[i%2]
		args := [][]string{{"build", v}, {"apply", "--auto-approve", v}}[i/2%2]
		c := exec.Command("rocec", args...)
		c.Dir = dir
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(takes))
		_ = c.Process.Kill()
		if c.Wait() != nil {
			killed++
		}
		if got := tree(t, filepath.Join(dir, "out")); !maps.Equal(got, whole[0]) && !maps.Equal(got, whole[1]) {
			t.Fatalf("kill %d in %s: the tree is neither the old nor the new one: %v", i, args, slices.Sorted(maps.Keys(got)))
		}
		bundle := tree(t, filepath.Join(dir, "bundle"))
		for _, d := range []string{"tor", "n1", "n2"} {
			if got := device(bundle, d); !maps.Equal(got, device(whole[0], d)) && !maps.Equal(got, device(whole[1], d)) {
				t.Fatalf("kill %d in %s: %s is neither the old nor the new one: %v", i, args, d, slices.Sorted(maps.Keys(got)))
			}
		}
		if code, out, errOut := rocec(t, dir, nil, "record", "list"); code != 0 || strings.Count(out, "\n") != 3 {
			t.Fatalf("kill %d in %s: the record: %d, %s%s", i, args, code, out, errOut)
		}
	}
	if killed == 0 {
		t.Error("nothing was killed: the test says nothing")
	}
	// What was left is swept by who writes anew, so there has to be something to write.
	for _, args := range [][]string{{"build"}, {"apply", "--auto-approve", "--var=smb_share=55"}, {"apply", "--auto-approve"}, {"plan", "--detailed-exitcode"}, {"build", "--check"}} {
		if code, _, errOut := rocec(t, dir, nil, args...); code != 0 {
			t.Errorf("afterwards %s: exit code %d, %s", args, code, errOut)
		}
	}
	// A stage that its process had not locked yet is swept when it is a minute old.
	for _, pattern := range []string{".*rocec-*/lock", "bundle/.rocec-*/lock"} {
		if left, _ := filepath.Glob(filepath.Join(dir, pattern)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// TestFullDisk runs out of space at many sizes: 1 and a message; the tree and
// the record are as they were, every device of the bundle is the old or the new.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := small(t)
	if code, _, errOut := rocec(t, dir, nil, "build", "--var=smb_share=60", "--out-dir=next"); code != 0 {
		t.Fatal(errOut)
	}
	next := tree(t, filepath.Join(dir, "next"))
	for _, args := range [][]string{{"build"}, {"apply", "--auto-approve"}, {"plan", "--out=p.rocplan"}} {
		if code, _, errOut := rocec(t, dir, nil, args...); code != 0 {
			t.Fatal(errOut)
		}
	}
	state := func() map[string]string {
		list := map[string]string{}
		for _, part := range []string{"out", "record"} {
			for name, text := range tree(t, filepath.Join(dir, part)) {
				if !strings.HasPrefix(filepath.Base(name), ".") {
					list[part+"/"+name] = text
				}
			}
		}
		return list
	}
	before, old := state(), tree(t, filepath.Join(dir, "bundle"))
	for _, blocks := range []string{"0", "1", "4", "16"} { // of 512 bytes in POSIX, of 1024 in bash
		for _, args := range []string{"build", "apply --auto-approve", "build --archive=a.tar", "plan --out=p.rocplan"} {
			if blocks == "16" && !strings.Contains(args, "archive") {
				continue // what is new in the others is smaller
			}
			c := exec.Command("sh", "-c", `ulimit -f "$0" && exec rocec $1 --var=smb_share=60`, blocks, args)
			var errOut bytes.Buffer
			c.Dir, c.Stdout, c.Stderr = dir, io.Discard, &errOut
			err := c.Run()
			if err == nil {
				t.Errorf("%s goes through with %s blocks", args, blocks)
				continue
			}
			if c.ProcessState.ExitCode() != 1 || !strings.Contains(errOut.String(), "file too large") {
				t.Errorf("%s with %s blocks: %v, %s", args, blocks, err, errOut.String())
			}
			if got := state(); !maps.Equal(got, before) {
				t.Fatalf("%s with %s blocks changed what was there", args, blocks)
			}
			bundle := tree(t, filepath.Join(dir, "bundle"))
			for _, d := range []string{"tor", "n1", "n2"} {
				if got := device(bundle, d); !maps.Equal(got, device(old, d)) && !maps.Equal(got, device(next, d)) {
					t.Fatalf("%s with %s blocks: %s is neither the old nor the new one", args, blocks, d)
				}
			}
		}
	}
	if code, _, errOut := rocec(t, dir, nil, "apply", "p.rocplan"); code != 0 {
		t.Errorf("the plan from before: %d, %s", code, errOut)
	}
	if code, _, errOut := rocec(t, dir, nil, "apply", "--auto-approve", "--var=smb_share=60"); code != 0 {
		t.Errorf("with space again: %d, %s", code, errOut)
	}
}

// TestFullOutput: what could not be printed was not done well.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		return // a system without /dev/full
	}
	defer full.Close()
	dir := small(t)
	for _, args := range [][]string{{"plan"}, {"plan", "--json"}, {"validate"}, {"version"}, {"explain", "ROCE301"}, {"lint", "--list-rules"}, {"plan", "--json-into=/dev/full"}} {
		c := exec.Command("rocec", args...)
		c.Dir = dir
		if args[len(args)-1] != "--json-into=/dev/full" {
			c.Stdout = full
		}
		if _ = c.Run(); c.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: exit code %d", args, c.ProcessState.ExitCode())
		}
	}
}

// TestInterrupt: 130, nothing written, no lock left, while asking and while
// waiting for somebody else's lock.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	dir := small(t)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		c, out := started(t, dir, "apply")
		waitFor(t, out, "Enter a value")
		_ = c.Process.Signal(sig)
		_ = c.Wait()
		said, _ := io.ReadAll(out)
		if code := c.ProcessState.ExitCode(); code != 130 || !strings.HasSuffix(string(said), "rocec: interrupted\n") {
			t.Errorf("%s at the question: exit code %d, %q", sig, code, said)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "bundle")); err == nil {
		t.Error("a bundle was written")
	}
	if _, err := os.Stat(filepath.Join(dir, "record", "default", ".lock.json")); err == nil {
		t.Error("the lock is still there")
	}
	if code, _, errOut := rocec(t, dir, nil, "apply", "--auto-approve"); code != 0 {
		t.Fatalf("afterwards: %d, %s", code, errOut)
	}
	put(t, filepath.Join(dir, "record", "default"), ".lock.json", []byte(`{"id": "abc", "operation": "apply", "who": "alice", "host": "far-away", "version": "1", "created": "2026-01-02T03:04:05Z"}`))
	guard := filepath.Join(dir, "record", "default", ".guard")
	if err := os.Remove(guard); err != nil {
		t.Fatal(err)
	}
	c, out := started(t, dir, "apply", "--auto-approve", "--lock-timeout=1h", "--var=smb_share=60")
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for _, err := os.Stat(guard); err != nil; _, err = os.Stat(guard) { // it asks for the lock
		select {
		case <-ended:
			said, _ := io.ReadAll(out)
			t.Fatalf("it ended before it asked for the lock: %s", said)
		case <-time.After(time.Millisecond):
		}
	}
	_ = c.Process.Signal(os.Interrupt)
	<-ended
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("waiting for a lock: exit code %d", code)
	}
}

// started runs the program with an input that stays open. It is killed in the end.
func started(t *testing.T, dir string, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "rocec", args...)
	c.Dir = dir
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	c.Stdout, c.Stderr = w, w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return c, r
}

func waitFor(t *testing.T, r io.Reader, text string) {
	t.Helper()
	var got []byte
	b := make([]byte, 4096)
	for !bytes.Contains(got, []byte(text)) {
		n, err := r.Read(b)
		got = append(got, b[:n]...)
		if err != nil {
			t.Fatalf("%v before %q: %s", err, text, got)
		}
	}
}

// TestLabInterrupted: a lab keeps no temporary files, and leaves none where it is interrupted.
func TestLabInterrupted(t *testing.T) {
	t.Parallel()
	dir, tmp := t.TempDir(), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "lossy-ecn"))); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "rocec", "lab", "up", dir)
	c.Env = append(os.Environ(), "TMPDIR="+tmp, "ROCEC_LAB=")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); s.Scan() && s.Text() != "Ctrl-C stops the lab."; {
	}
	if there, err := os.ReadDir(tmp); err != nil || len(there) > 0 {
		t.Errorf("a running lab keeps %v (%v)", there, err)
	}
	_ = c.Process.Signal(os.Interrupt)
	_ = c.Wait()
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
