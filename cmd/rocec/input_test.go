package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rocec runs the program in a folder and returns its exit code, -1 for a signal.
func rocec(t *testing.T, dir string, env []string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	c := exec.Command("rocec", args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(os.Environ(), env...), &o, &e
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if strings.Contains(e.String(), "goroutine ") {
		t.Fatalf("rocec %q panics:\n%s", args, e.String())
	}
	return c.ProcessState.ExitCode(), o.String(), e.String()
}

// small is a folder with the small fabric.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"fabric.roce.hcl", "nodes.roce.hcl"} {
		text, err := os.ReadFile(filepath.Join("testdata", "smb", name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, name, text)
	}
	return dir
}

func put(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestHugeInput hands in what would exhaust a stack, the memory or patience.
func TestHugeInput(t *testing.T) {
	const million, many = 1_000_000, 20_000
	nest := func(open, inside, close string, n int) []byte {
		return []byte("locals {\n  a = " + strings.Repeat(open, n) + inside + strings.Repeat(close, n) + "\n}\n")
	}
	for _, c := range []struct {
		name, file string
		text       []byte
		want       string
	}{
		{"lists", "a.roce.hcl", nest("[", "", "]", million), "nested deeper than 500 levels"},
		{"parentheses", "a.roce.hcl", nest("(", "1", ")", many), "nested deeper than 500 levels"},
		{"open", "a.roce.hcl", nest("[", "", "", many), "nested deeper than 500 levels"},
		{"templates", "a.roce.hcl", nest(`"${`, "1", `}"`, many), "nested deeper than 500 levels"},
		{"minus", "a.roce.hcl", nest("-", "1", "", many), "operators in one expression"},
		{"blocks", "a.roce.hcl", []byte(strings.Repeat("a {\n", many)), "nested deeper than 500 levels"},
		{"json", "a.roce.json", []byte(`{"locals":{"a":` + strings.Repeat("[", many) + strings.Repeat("]", many) + "}}"), "nested deeper than 500 levels"},
		{"values", "fabric.rocevars.hcl", []byte("a = " + strings.Repeat("[", many)), "nested deeper than 500 levels"},
		{"zeros", "a.roce.hcl", make([]byte, million), "file is not text: byte 0 is zero"},
		{"zero", "a.roce.hcl", []byte("switch \"a\x00b\" {\n}\n"), "file is not text: byte 9 is zero"},
		{"not UTF-8", "a.roce.hcl", []byte("locals {\n  a = \"\xff\xfe\"\n}\n"), "file is not text in UTF-8: byte 16"},
		{"noise", "a.roce.hcl", noise(100_000), "file is not text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, "b.roce.hcl", []byte("locals {\n}\n"))
			put(t, dir, c.file, c.text)
			for _, args := range [][]string{{"validate"}, {"build"}} {
				code, _, errOut := rocec(t, dir, nil, args...)
				if code != 1 || !strings.Contains(errOut, c.want) || !strings.Contains(errOut, c.file) || len(errOut) > 10_000 {
					t.Errorf("%s: exit code %d, %.2000s", args, code, errOut)
				}
			}
			if code, _, errOut := rocec(t, dir, nil, "fmt", c.file); code != 2 && !strings.HasSuffix(c.file, ".json") || len(errOut) > 10_000 {
				t.Errorf("fmt: exit code %d, %.2000s", code, errOut)
			}
			if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
				t.Error("something was written")
			}
		})
	}
}

// TestLongFindings: what a source has too much of is cut where it is told, and
// said to be cut.
func TestLongFindings(t *testing.T) {
	const many = 20_000
	long := strings.Repeat("a", many)
	for _, c := range []struct{ name, text, want string }{
		{"device", "switch \"" + long + "\" {\n}\n", "has 20000 characters"},
		{"reference", "locals {\n  a = local." + long + "\n}\noutput \"b\" {\n  value = local.a\n}\n", "there is no local"},
		{"segment", "segment \"" + long + "\" {\n  vlan = 5000\n}\n", "characters)..."},
		{"qos", "qos \"" + long + "\" {\n  class \"" + long + "\" {\n    priority = 9\n  }\n}\n", "characters)..."},
		{"blocks", unknownBlocks(many), "Not shown: 19800 errors (--verbose shows them)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, "a.roce.hcl", []byte(c.text))
			if code, _, errOut := rocec(t, dir, nil, "validate"); code != 1 || !strings.Contains(errOut, c.want) || len(errOut) > 100_000 {
				t.Errorf("exit code %d, %d bytes, %.2000s", code, len(errOut), errOut)
			}
		})
	}
}

func unknownBlocks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "foo%d {\n}\n", i)
	}
	return b.String()
}

func noise(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	r.Read(b)
	return b
}

// TestLargeFile: a file of 100 MB that is no text is refused at once, one beyond
// the limit unread.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bytes int64
		want  string
	}{{100 << 20, "file is not text"}, {1 << 40, "larger than 256 MiB"}} {
		dir := t.TempDir()
		put(t, dir, "a.roce.hcl", nil)
		if err := os.Truncate(filepath.Join(dir, "a.roce.hcl"), c.bytes); err != nil {
			t.Fatal(err)
		}
		for command, want := range map[string]int{"validate": 1, "fmt": 2} {
			code, _, errOut := rocec(t, dir, nil, command)
			if command == "fmt" && c.bytes > 256<<20 {
				want = 1
			}
			if code != want || !strings.Contains(errOut, c.want) {
				t.Errorf("%s of %d bytes: exit code %d, %.2000s", command, c.bytes, code, errOut)
			}
		}
	}
}

// TestDeterminism builds the same blocks on one core and on eight, in the order
// they were written and shuffled over other files: every artifact has the same
// bytes.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	dir := small(t)
	build := func(dir string, env ...string) map[string]string {
		t.Helper()
		code, _, errOut := rocec(t, dir, env, "build")
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, errOut)
		}
		list, err := files(filepath.Join(dir, "out"))
		if err != nil || len(list) < 10 {
			t.Fatalf("%d files, %v", len(list), err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
			t.Fatal(err)
		}
		return list
	}
	one := build(dir, "GOMAXPROCS=1")
	if diff := cmp.Diff(one, build(dir, "GOMAXPROCS=8")); diff != "" {
		t.Errorf("one core and eight (-one +eight):\n%s", diff)
	}
	delete(one, "manifest.json") // names the files of the source
	var blocks []string
	for _, name := range []string{"fabric.roce.hcl", "nodes.roce.hcl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for block := range strings.SplitSeq(string(text), "\n}\n") {
			if strings.TrimSpace(block) != "" {
				blocks = append(blocks, block+"\n}\n")
			}
		}
	}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
		parts := map[string]string{}
		for _, b := range blocks {
			parts[strconv.Itoa(r.IntN(4))+".roce.hcl"] += b
		}
		shuffled := t.TempDir()
		for name, text := range parts {
			put(t, shuffled, name, []byte(text))
		}
		got := build(shuffled)
		delete(got, "manifest.json")
		if diff := cmp.Diff(one, got); diff != "" {
			t.Errorf("shuffled with seed %d over %v (-want +got):\n%s", seed, slices.Sorted(maps.Keys(parts)), diff)
		}
	}
}
