package disk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocec/rocec/deploy/disk"
)

// git runs the program in a folder, without settings of whoever runs the test.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.net", "-c", "protocol.file.allow=always"}, args...)...)
	c.Dir, c.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTracked asks for what git itself has put into each form of its index.
func TestTracked(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string) (top string){
		"version 2": func(_ *testing.T, dir string) string { git(t, dir, "update-index", "--index-version=2"); return dir },
		"version 3": func(_ *testing.T, dir string) string {
			put(t, filepath.Join(dir, "later"))
			git(t, dir, "add", "--intent-to-add", "later") // needs the longer flags
			return dir
		},
		"version 4": func(_ *testing.T, dir string) string { git(t, dir, "update-index", "--index-version=4"); return dir },
		"split": func(_ *testing.T, dir string) string {
			git(t, dir, "update-index", "--split-index")
			put(t, filepath.Join(dir, "more"))
			git(t, dir, "add", "more")
			return dir
		},
		"work tree": func(_ *testing.T, dir string) string {
			git(t, dir, "worktree", "add", "-q", "../second")
			return filepath.Join(filepath.Dir(dir), "second")
		},
		"submodule": func(_ *testing.T, dir string) string {
			outer := filepath.Join(filepath.Dir(dir), "outer")
			git(t, filepath.Dir(dir), "init", "-q", "outer")
			git(t, outer, "submodule", "--quiet", "add", dir, "inner")
			return filepath.Join(outer, "inner")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "first")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "init", "-q")
			for _, f := range []string{"a", "fab/.rocec/journal/default/x.ndjson", "fab/.rocecx/y", "fab/fabric.roce.hcl", strings.Repeat("long/", 40) + "z", "UP/Case"} {
				put(t, filepath.Join(dir, filepath.FromSlash(f)))
			}
			git(t, dir, "add", "-f", ".")
			git(t, dir, "commit", "-q", "-m", "x")
			top := make(t, dir)
			c, err := disk.CheckoutOf(filepath.Join(top, "fab"))
			if err != nil {
				t.Fatal(err)
			}
			for path, want := range map[string]string{
				"fab/.rocec":                            "fab/.rocec/journal/default/x.ndjson",
				"fab/.rocec/journal/default":            "fab/.rocec/journal/default/x.ndjson",
				"fab/.rocec/journal/default/x.ndjson":   "fab/.rocec/journal/default/x.ndjson",
				"fab/.rocec/record":                     "",
				"fab/.roce":                             "",
				".rocec":                                "",
				"up/case":                               "UP/Case",
				strings.Repeat("long/", 40) + "z":       strings.Repeat("long/", 40) + "z",
				"../elsewhere":                          "",
				"fab/.rocec/journal/default/x.ndjson/y": "fab/.rocec/journal/default/x.ndjson",
			} {
				if got, err := c.Tracked(filepath.Join(top, filepath.FromSlash(path))); err != nil || got != want {
					t.Errorf("%s: %q, %v; want %q", path, got, err, want)
				}
			}
		})
	}
}

// TestTrackedAsOne has a link and a submodule in the place of the folder.
func TestTrackedAsOne(t *testing.T) {
	top := t.TempDir()
	sub, dir := filepath.Join(top, "sub"), filepath.Join(top, "dir")
	for _, d := range []string{sub, dir} {
		git(t, top, "init", "-q", d)
	}
	put(t, filepath.Join(sub, "journal/x.ndjson"))
	git(t, sub, "add", ".")
	git(t, sub, "commit", "-q", "-m", "x")
	git(t, dir, "submodule", "--quiet", "add", "-f", sub, ".rocec")
	if err := os.Symlink("elsewhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "link")
	c, err := disk.CheckoutOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{".rocec/journal": ".rocec", "link/journal": "link"} {
		if got, err := c.Tracked(filepath.Join(dir, filepath.FromSlash(path))); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
}

// TestTrackedSHA256 has a repository whose objects have the longer names.
func TestTrackedSHA256(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "--object-format=sha256")
	put(t, filepath.Join(dir, "a/b"))
	put(t, filepath.Join(dir, "c/d"))
	git(t, dir, "add", ".")
	c, err := disk.CheckoutOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Tracked(filepath.Join(dir, "c")); err != nil || got != "c/d" {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzTracked hands in files that are no index.
func FuzzTracked(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("\x00", 80)))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02" + strings.Repeat("\x81", 200)))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".git", "index"), b, 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := disk.CheckoutOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Tracked(filepath.Join(dir, "x"))
	})
}

// TestCheck has links at every place of a path, and checkouts that are reached through one.
func TestCheck(t *testing.T) {
	top := t.TempDir()
	repo := filepath.Join(top, "repo")
	for _, d := range []string{"repo/.git", "repo/fab/sub", "out", "repo/in"} {
		if err := os.MkdirAll(filepath.Join(top, filepath.FromSlash(d)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(repo, "fab", "file"))
	for name, to := range map[string]string{
		"way": "repo/fab", "repo/fab/up": "../in", "repo/fab/out": "../../out", "repo/fab/abs": filepath.Join(top, "out"), "repo/fab/dangling": "../../nothing", "repo/fab/inner": "nothing",
		"repo/fab/twice": "up", "repo/fab/loop": "loop", "out/back": "../repo",
	} {
		if err := os.Symlink(to, filepath.Join(top, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range []string{"repo/fab", "way"} {
		c, err := disk.CheckoutOf(filepath.Join(top, filepath.FromSlash(from)))
		if err != nil {
			t.Fatal(err)
		}
		for path, link := range map[string]string{
			"repo/fab/file": "", "repo/fab/new/x/y": "", "repo/fab/up": "", "repo/fab/up/x": "", "repo/fab/inner": "", "repo/fab/inner/x": "", "repo/fab/twice/x": "",
			"out": "", "out/back/fab/out": "", "repo": "",
			"repo/fab/out": "out", "repo/fab/out/x/y": "out", "repo/fab/abs": "abs", "repo/fab/dangling": "dangling", "repo/fab/dangling/x": "dangling", "repo/fab/loop": "loop",
		} {
			err := c.Check(filepath.Join(top, filepath.FromSlash(path)))
			if link == "" && err != nil || link != "" && (err == nil || !strings.Contains(err.Error(), filepath.Join("fab", link)+" is a link to ")) {
				t.Errorf("from %s, %s: %v; want %q", from, path, err, link)
			}
		}
	}
}
