package apply

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func newTestStage(t *testing.T, parent, text string) *stage {
	t.Helper()
	s, err := newStage(parent, ".out.rocec-")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.fill([]File{{"a/x", 0o644, []byte(text)}}, filepath.Join(parent, "none"), nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s holds %q, %v; want %q", path, b, err, want)
	}
}

// Where two names cannot be exchanged, two renames do, and a process that dies
// between them has its work undone by the next run.
func TestTwoRenames(t *testing.T) {
	parent := t.TempDir()
	place := filepath.Join(parent, "out")
	one := newTestStage(t, parent, "1")
	if err := errors.Join(one.swap("out"), one.close()); err != nil {
		t.Fatal(err)
	}
	two := newTestStage(t, parent, "2")
	if err := errors.Join(two.twoRenames(place, "out"), two.close()); err != nil {
		t.Fatal(err)
	}
	holds(t, filepath.Join(place, "a", "x"), "2")

	three := newTestStage(t, parent, "3")
	if err := os.RemoveAll(three.fresh()); err != nil {
		t.Fatal(err)
	}
	if err := three.twoRenames(place, "out"); err == nil {
		t.Error("a folder that is gone is put in place")
	}
	holds(t, filepath.Join(place, "a", "x"), "2")
	if err := three.close(); err != nil {
		t.Fatal(err)
	}

	four := newTestStage(t, parent, "4")
	if err := os.WriteFile(filepath.Join(four.dir, stageSwap), []byte("out"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(place, filepath.Join(four.dir, stageOld)); err != nil {
		t.Fatal(err)
	}
	if err := sweep(parent, ".out.rocec-"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(place); err == nil {
		t.Error("the stage of a living process was swept")
	}
	if err := four.lock.Unlock(); err != nil { // it dies
		t.Fatal(err)
	}
	if err := sweep(parent, ".out.rocec-"); err != nil {
		t.Fatal(err)
	}
	holds(t, filepath.Join(place, "a", "x"), "2")
	if left, _ := filepath.Glob(filepath.Join(parent, ".out*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What a process left that died before it locked its stage goes; a folder that
// only has such a name, and a note that leads elsewhere, do no harm.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	empty := filepath.Join(parent, ".out.rocec-empty")
	mine := filepath.Join(parent, ".out.rocec-mine")
	evil := filepath.Join(parent, ".out.rocec-evil")
	for _, dir := range []string{empty, filepath.Join(mine, "x"), filepath.Join(evil, stageOld)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{stageLock: "", stageSwap: "../outside"} {
		if err := os.WriteFile(filepath.Join(evil, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := sweep(parent, ".out.rocec-"); err != nil {
		t.Fatal(err)
	}
	for dir, stays := range map[string]bool{empty: false, mine: true, evil: false} {
		if _, err := os.Lstat(dir); (err == nil) != stays {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(parent), "outside")); err == nil {
		t.Error("a note led out of the folder")
	}
}

// Parts are put in place together; what a process left that died between the two
// renames of one of them is put back, and the other stays as it came to lie.
func TestParts(t *testing.T) {
	parent := t.TempDir()
	fill := func(s *stage, rel, text string) *part {
		t.Helper()
		p, err := s.part(rel)
		if err == nil {
			err = p.fill([]File{{"x", 0o644, []byte(text)}}, filepath.Join(parent, filepath.FromSlash(rel)), map[string]bool{"x": true})
		}
		if err != nil {
			t.Fatal(err)
		}
		s.parts = append(s.parts, p)
		return p
	}
	s, err := newStage(parent, ".out.rocec-")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"1", "2"} { // once into nothing, once in place of the others
		fill(s, "a", text)
		fill(s, "in/b", text)
		if err := s.settle(); err != nil {
			t.Fatal(err)
		}
		holds(t, filepath.Join(parent, "a", "x"), text)
		holds(t, filepath.Join(parent, "in", "b", "x"), text)
	}
	if left, _ := os.ReadDir(s.dir); len(left) != 1 {
		t.Errorf("the stage has %v, not its lock alone", left)
	}
	done, half := fill(s, "a", "3"), fill(s, "in/b", "3")
	if err := done.twoRenames(done.place("a"), "a"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half.dir, stageSwap), []byte("in/b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(half.place("in/b"), filepath.Join(half.dir, stageOld)); err != nil {
		t.Fatal(err)
	}
	if err := s.lock.Unlock(); err != nil { // it dies
		t.Fatal(err)
	}
	if err := sweep(parent, ".out.rocec-"); err != nil {
		t.Fatal(err)
	}
	holds(t, filepath.Join(parent, "a", "x"), "3")
	holds(t, filepath.Join(parent, "in", "b", "x"), "2")
	if left, _ := filepath.Glob(filepath.Join(parent, ".out*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
