package rocec_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/source"
)

// command builds rocec.
func command(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rocec")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", name, "./cmd/rocec").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// rocecIn runs the command in a folder, away from settings and variables of whoever runs the tests.
func rocecIn(t *testing.T, dir, command string, args ...string) (string, int) {
	t.Helper()
	c := exec.Command(command, args...)
	c.Dir, c.Env = dir, []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// TestExamplesTestThemselves: each example has tests, which hold, and which see a
// change of what the example is about.
func TestExamplesTestThemselves(t *testing.T) {
	rocec := command(t)
	for dir, change := range map[string]struct{ file, from, to, run string }{
		"smb-direct": {"fabric.roce.hcl", "netdirect_port = 445", "netdirect_port = 446", "without_the_switch"},
		"storage":    {"fabric.roce.hcl", "dscp      = [26]", "dscp      = [24]", "marks_and_pauses_agree"},
		"lossy-ecn":  {"fabric.roce.hcl", "lossless           = false", "lossless           = true", "no_port_pauses"},
		"gpu-pod":    {"fabric.roce.hcl", "priority = 6", "priority = 3", "rails"},
		"nvme-of":    {"fabric.roce.hcl", "priority  = 3", "priority  = 4", "one_class_is_lossless"},
		"hci":        {"fabric.roce.hcl", "netdirect_port = 445", "netdirect_port = 446", "who_writes_what"},
		"gitops":     {"fabric.roce.hcl", "priority  = 3", "priority  = 4", "rdma_keeps_its_mark"},
	} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			at := filepath.Join(t.TempDir(), dir)
			if err := os.CopyFS(at, os.DirFS(filepath.Join("examples", dir))); err != nil {
				t.Fatal(err)
			}
			out, code := rocecIn(t, at, rocec, "test")
			if code != 0 || !regexp.MustCompile(`(?m)^Success! [1-9]\d* passed, 0 failed\.$`).MatchString(out) {
				t.Errorf("exit code %d:\n%s", code, out)
			}
			text, err := os.ReadFile(filepath.Join(at, change.file))
			if err != nil || strings.Count(string(text), change.from) != 1 {
				t.Fatalf("%q is in %s %d times, %v", change.from, change.file, strings.Count(string(text), change.from), err)
			}
			if err := os.WriteFile(filepath.Join(at, change.file), []byte(strings.Replace(string(text), change.from, change.to, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, code = rocecIn(t, at, rocec, "test"); code != 1 || !strings.Contains(out, `run "`+change.run+`"... fail`) {
				t.Errorf("with %q, exit code %d:\n%s", change.to, code, out)
			}
		})
	}
	entries, err := os.ReadDir("examples")
	if err != nil || len(entries) != 7 {
		t.Errorf("%d examples, %v: name what a test of each has to see", len(entries), err)
	}
}

// TestExampleTestsAreFormatted: those files show how one writes tests.
func TestExampleTestsAreFormatted(t *testing.T) {
	files, err := fs.Glob(os.DirFS("examples"), "*/*.rocetest.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		src, err := os.ReadFile(filepath.Join("examples", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		tidy, problem := format.Source(name, src)
		if problem != nil || format.Diff(name, src, tidy) != "" {
			t.Errorf("rocec fmt changes %s: %v\n%s", name, problem, format.Diff(name, src, tidy))
		}
		if !strings.HasPrefix(string(src), "# ") {
			t.Errorf("%s does not begin with what it shows", name)
		}
	}
}

// TestTestsPage: every example of the page on tests reads.
func TestTestsPage(t *testing.T) {
	page, err := os.ReadFile("docs/tests.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 3 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, b := range blocks {
		runs, diags := lang.ReadTests(source.NewFiles(), "docs.rocetest.hcl", []byte(b[1]))
		if len(diags) > 0 || len(runs) == 0 {
			t.Errorf("%s\n%v", b[1], diags)
		}
		if tidy, _ := format.Source("docs.rocetest.hcl", []byte(b[1])); string(tidy) != b[1] {
			t.Errorf("rocec fmt changes it:\n%s", format.Diff("docs/tests.md", []byte(b[1]), tidy))
		}
	}
}
