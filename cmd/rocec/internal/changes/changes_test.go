package changes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const diff = `diff --git a/pod.roce.hcl b/pod.roce.hcl
index 1..2 100644
--- a/pod.roce.hcl
+++ b/pod.roce.hcl
@@ -3 +3,2 @@ qos "x" {
-  a = 1
+  a = 2
++++ b/evil
@@ -9,2 +10,0 @@
--- a/evil
-x
\ No newline at end of file
diff --git a/with blank b/with blank
--- a/with blank	
+++ b/with blank	
@@ -0,0 +1 @@
+x
diff --git "a/t\303\251\"\t" "b/t\303\251\"\t"
--- /dev/null
+++ "b/t\303\251\"\t"
@@ -0,0 +1,3 @@
+1
+2
+3
diff --git a/gone b/gone
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/old b/new
similarity index 100%
rename from old
rename to new
`

func TestParse(t *testing.T) {
	got, err := Parse([]byte(diff))
	if err != nil {
		t.Fatal(err)
	}
	want := Lines{"pod.roce.hcl": {{3, 4}, {10, 11}}, "with blank": {{1, 1}}, "té\"\t": {{1, 3}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		from, to int
		want     bool
	}{{1, 2, false}, {2, 3, true}, {4, 4, true}, {5, 9, false}, {1, 99, true}, {12, 12, false}} {
		if got.Touch("pod.roce.hcl", c.from, c.to) != c.want {
			t.Errorf("lines %d to %d", c.from, c.to)
		}
	}
	if got.Touch("evil", 1, 99) || !(Lines{"x": {All}}).Touch("x", 7, 7) {
		t.Error("files")
	}
}

func TestParseMistakes(t *testing.T) {
	for src, want := range map[string]string{
		"+++ x":                  `does not begin with b/`,
		`+++ "b/x`:               `not quoted`,
		"@@ -1 +1":               "no head of a change",
		"@@ -1 +a @@":            "no range of lines",
		"@@ -1,-1 +1 @@":         "no range of lines",
		"@@ 1 +1 @@":             "no range of lines",
		"@@ -1 +1 @@\n-x\n":      "ends within a change",
		"@@ -1 +1 @@\n-x\n x\n":  "line 3 of the diff is neither",
		"@@ -1 +9999999999 @@\n": "no range of lines",
	} {
		if got, err := Parse([]byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", src, got, err)
		}
	}
}

// TestGit holds the reader against git: of two texts, the lines that it names are
// those without which the second is contained in the first.
func TestGit(t *testing.T) {
	dir := t.TempDir()
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "++ b/x\n", "-- a/x\n", "@@ -1 +1 @@\n", "\n"}), 0, 8)
	before, after := map[string][]string{}, map[string][]string{}
	for n := range 200 {
		name := fmt.Sprintf("%s %d", []string{"x.hcl", "ä \" b.csv", "-dash", "tab\t.hcl"}[n%4], n)
		before[name], after[name] = lines.Example(2*n), lines.Example(2*n+1)
	}
	for sub, texts := range map[string]map[string][]string{"a": before, "b": after} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range texts {
			if err := os.WriteFile(filepath.Join(dir, sub, name), []byte(strings.Join(text, "")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := exec.Command("git", "diff", "--no-index", "--unified=0", "--text", "--no-prefix", "--no-renames", "--", "a", "b")
	c.Dir = dir
	out, err := c.Output() // exits 1 because they differ
	if c.ProcessState == nil || c.ProcessState.ExitCode() != 1 {
		t.Fatal(err)
	}
	changed, err := Parse(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, old := range before {
		if differ := strings.Join(old, "") != strings.Join(after[name], ""); (len(changed[name]) > 0) != differ {
			t.Errorf("%q: %v", name, changed[name])
		}
		i := 0
		for n, line := range after[name] {
			if changed.Touch(name, n+1, n+1) {
				continue
			}
			for i < len(old) && old[i] != line {
				i++
			}
			if i == len(old) {
				t.Errorf("%q: line %d is not said to be changed from %q to %q", name, n+1, old, after[name])
				break
			}
			i++
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(diff))
	f.Add([]byte("+++ \"b/\\777\"\n@@ -1,2 +3,4 @@"))
	f.Fuzz(func(t *testing.T, src []byte) {
		lines, err := Parse(src)
		if err != nil {
			return
		}
		for name, list := range lines {
			for _, r := range list {
				if name == "" || r.From < 0 || r.From > r.To {
					t.Fatalf("%q %v", name, r)
				}
			}
		}
	})
}
