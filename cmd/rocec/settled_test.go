package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/lang"
)

// planOf is the plan of the working folder, as people and programs see it, and
// how many devices were known to be settled. It is "" where the source has errors.
func planOf(t *testing.T, cache string) (shown string, settled int) {
	t.Helper()
	a := newApp(nil, &bytes.Buffer{}, &bytes.Buffer{}, []string{"ROCEC_CACHE_DIR=" + cache})
	a.settledFrom, a.now = 1, func() time.Time { return time.Now().Add(time.Minute) }
	f := &planFlags{in: inputs{vars: orderedVars{list: &[]lang.Var{}}}}
	p, devices, err := a.compiled(&f.in, &f.pick)
	if err != nil {
		return "", 0
	}
	pl, err := a.plan(t.Context(), f, p, devices)
	if err != nil {
		return "error: " + err.Error(), 0
	}
	var b bytes.Buffer
	if err := pl.plan.Text(&b, plan.TextOptions{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if err := pl.plan.JSON(&b); err != nil {
		t.Fatal(err)
	}
	if err := pl.snapshot().Save("saved.json"); err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile("saved.json")
	if err != nil {
		t.Fatal(err)
	}
	if pl.kept != nil {
		for _, at := range pl.kept.at {
			if at.found {
				settled++
			}
		}
	}
	return b.String() + string(saved), settled
}

// applied puts an example into a new folder, works in it and records it.
func applied(t *testing.T, example string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	errOut := &bytes.Buffer{}
	a := newApp(nil, &bytes.Buffer{}, errOut, []string{"ROCEC_CACHE_DIR=off"})
	if code := a.run(context.Background(), []string{"apply", "--auto-approve"}); code != 0 {
		t.Fatalf("apply: exit code %d: %s", code, errOut)
	}
}

// TestSettledPlans plans every example, and every example after edits of its
// source and its record, with what earlier plans found and without: the plans
// are the same to the last byte.
func TestSettledPlans(t *testing.T) {
	examples, err := filepath.Glob("../../examples/*")
	if err != nil || len(examples) < 5 {
		t.Fatal(examples, err)
	}
	// Its record is on a remote, and what a plan finds is kept for folders only.
	examples = slices.DeleteFunc(examples, func(e string) bool { return filepath.Base(e) == "gitops" })
	for i := range examples {
		if examples[i], err = filepath.Abs(examples[i]); err != nil {
			t.Fatal(err)
		}
	}
	const edits = 4
	planned, changed, known := 0, 0, 0
	for i, example := range examples {
		t.Run(filepath.Base(example), func(t *testing.T) {
			applied(t, example)
			compare := func(what string) (found int) {
				t.Helper()
				want, _ := planOf(t, "off")
				got, found := planOf(t, "cache")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %d devices settled (-made again +settled):\n%s", what, found, diff)
				}
				if want != "" {
					planned++
				}
				if strings.Contains(want, "Plan: ") && !strings.Contains(want, "Plan: 0 to add, 0 to change, 0 to destroy") {
					changed++
				}
				return found
			}
			if n := compare("first plan"); n != 0 {
				t.Errorf("%d devices are settled before anybody planned", n)
			}
			all := compare("second plan")
			if all < 2 {
				t.Errorf("%d devices are settled after a plan", all)
			}
			r := rand.New(rand.NewPCG(7, uint64(i)))
			some := edits
			if all > 20 {
				some = 1 // a larger one takes longer
			}
			for n, tries := 0, 0; n < some && tries < 20*edits; tries++ {
				undo, what := edit(t, r)
				if text, _ := planOf(t, "off"); text == "" { // it does not compile
					undo()
					continue
				}
				known += compare(what)
				if n++; n%2 == 0 {
					undo() // else the next edit comes on top
				}
			}
			records, err := filepath.Glob("record/default/*.json")
			if err != nil || len(records) < 2 {
				t.Fatal(records, err)
			}
			if err := os.Remove(records[0]); err != nil {
				t.Fatal(err)
			}
			compare("without an entry")
			text, err := os.ReadFile(records[1])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(records[1], bytes.Replace(text, []byte(`"handed_over"`), []byte(`"applied"`), 1), 0o644); err != nil {
				t.Fatal(err)
			}
			compare("with an entry that was confirmed")
			if err := os.WriteFile(records[1], text[:len(text)/2], 0o644); err != nil {
				t.Fatal(err)
			}
			compare("with half an entry")
		})
	}
	if planned < 5*edits || changed < edits || known < edits {
		t.Errorf("%d plans, %d of them with changes, %d devices settled in them: too few to say anything", planned, changed, known)
	}
}

// edit changes a number, a word or a line of some source file.
func edit(t *testing.T, r *rand.Rand) (undo func(), what string) {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		top, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		if err == nil && !e.IsDir() && !slices.Contains([]string{"record", "bundle", "cache"}, top) && (strings.HasSuffix(name, ".roce.hcl") || strings.HasSuffix(name, ".csv")) {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	name := names[r.IntN(len(names))]
	was, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(was), "\n")
	for {
		i := r.IntN(len(lines))
		line := lines[i]
		digit := strings.IndexAny(line, "123456789")
		switch {
		case digit >= 0 && r.IntN(4) > 0:
			lines[i] = line[:digit] + string("123456789"[r.IntN(9)]) + line[digit+1:]
		case strings.Contains(line, " = ") && !strings.ContainsAny(line, "{["):
			lines[i] = "# " + line
		}
		if lines[i] != line {
			what = fmt.Sprintf("%s:%d: %s", name, i+1, lines[i])
			break
		}
	}
	put := func(text []byte) {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put([]byte(strings.Join(lines, "\n")))
	return func() { put(was) }, what
}

// TestSettledFiles: a file that was damaged or cannot be written changes nothing,
// and small fabrics keep none.
func TestSettledFiles(t *testing.T) {
	example, err := filepath.Abs("../../examples/storage")
	if err != nil {
		t.Fatal(err)
	}
	applied(t, example)
	want, _ := planOf(t, "off")
	if _, err := os.Stat("off"); err == nil {
		t.Error("a folder is made although nothing is kept")
	}
	planOf(t, "cache")
	list, err := filepath.Glob("cache/*")
	if err != nil || len(list) != 1 {
		t.Fatalf("files: %v, %v", list, err)
	}
	good, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, good[:len(good)-1], append([]byte("x"), good...), bytes.Repeat([]byte{0xff}, 1000)} {
		if err := os.WriteFile(list[0], bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, n := planOf(t, "cache"); got != want || n != 0 {
			t.Errorf("with a damaged file %d devices are settled: %s", n, cmp.Diff(want, got))
		}
		if mended, err := os.ReadFile(list[0]); err != nil || !bytes.Equal(mended, good) {
			t.Errorf("a damaged file is not written anew: %v", err)
		}
	}
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, _ := planOf(t, "file/cache"); got != want {
		t.Errorf("in a place that is none: %s", cmp.Diff(want, got))
	}
	out := &bytes.Buffer{}
	if code := newApp(nil, out, out, nil).run(context.Background(), []string{"plan"}); code != 0 {
		t.Fatal(out)
	}
	if _, err := os.Stat(".rocec"); err == nil {
		t.Error("a small fabric keeps what it does not need")
	}
}
