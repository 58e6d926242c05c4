package checkout

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// repository is a work tree with a commit, a submodule's kind of link to its repository, and a committed repository.
func repository(t *testing.T) string {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	dir := t.TempDir()
	run(t, dir, "init", "--quiet", "--initial-branch=main")
	write(t, filepath.Join(dir, "fab", "a.txt"), "one\n")
	write(t, filepath.Join(dir, ".gitattributes"), "*.txt filter=loud\n")
	run(t, dir, "add", ".")
	run(t, dir, "commit", "--quiet", "-m", "first")
	write(t, filepath.Join(dir, "evil", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(dir, "evil", "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n")
	write(t, filepath.Join(dir, "evil", "objects", "x"), "")
	write(t, filepath.Join(dir, "evil", "refs", "x"), "")
	return dir
}

// TestIn: a work tree is found from its folders, a repository among its files is none, and neither is one that an
// older git, which knows no safe.bareRepository, would find.
func TestIn(t *testing.T) {
	dir := repository(t)
	further := filepath.Join(t.TempDir(), "further")
	run(t, dir, "worktree", "add", "--quiet", further)
	for folder, want := range map[string]string{dir: "", filepath.Join(dir, "fab"): "fab", filepath.Join(further, "fab"): "fab"} {
		tree, err := In(t.Context(), folder)
		if err != nil || tree.Prefix != want {
			t.Errorf("%s: %+v, %v", folder, tree, err)
		}
	}
	evil := filepath.Join(dir, "evil")
	if _, err := In(t.Context(), evil); !errors.Is(err, ErrCommitted) {
		t.Errorf("a committed repository: %v", err)
	}
	for _, worktree := range []string{".", ".."} { // what git says of them without the guard
		run(t, evil, "config", "--file", "config", "core.worktree", worktree)
		found := strings.Split(run(t, evil, "rev-parse", "--absolute-git-dir", "--show-toplevel"), "\n")
		if filepath.Base(found[0]) != "evil" || owns(found[1], found[0]) {
			t.Errorf("worktree %s: git finds %q, and owns says that it is its own", worktree, found)
		}
	}
	if _, err := In(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder in no repository")
	}
}

// TestCheckRemote: what the user's git knows by name, and what another machine answers, may be named; a folder, a file
// and a program may not.
func TestCheckRemote(t *testing.T) {
	dir := repository(t)
	run(t, dir, "remote", "add", "origin", t.TempDir())
	for _, remote := range []string{"origin", "https://git.example.net/a.git", "ssh://git@h/a", "git@h.example.net:a/b.git", "host:/srv/a.git", "git@[2001:db8::1]:a"} {
		if err := CheckRemote(t.Context(), dir, remote); err != nil {
			t.Error(err)
		}
	}
	for _, remote := range []string{
		"evil", "./evil", "../x", "/srv/a.git", "file:///srv/a", "ext::sh -c id", "fd::3", "x::https://h/a", "-o", "--upload-pack=id", `C:\a`, "c:/a", "ssh://-oProxyCommand=id/a",
		"-oProxyCommand=x:y", "", ".", "fab", "origin\nx", "./a:b",
	} {
		var refused *RemoteError
		if err := CheckRemote(t.Context(), dir, remote); !errors.As(err, &refused) {
			t.Errorf("%q: %v", remote, err)
		}
	}
}

// TestFiles: the files of a folder at a commit, with the bytes that were committed, whatever drivers there are.
func TestFiles(t *testing.T) {
	dir := repository(t)
	run(t, dir, "config", "filter.loud.smudge", "cat; echo smudged")
	if err := os.Symlink("a.txt", filepath.Join(dir, "fab", "link")); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "add", "fab")
	run(t, dir, "commit", "--quiet", "-m", "second")
	got := map[string]string{}
	err := Files(t.Context(), filepath.Join(dir, "fab"), "HEAD", func(f File) error {
		got[f.Path] = string(f.Text)
		if f.Link {
			got[f.Path] = "-> " + got[f.Path]
		}
		return nil
	})
	if err != nil || len(got) != 2 || got["a.txt"] != "one\n" || got["link"] != "-> a.txt" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Run(t.Context(), filepath.Join(dir, "evil"), "log"); !errors.Is(err, ErrCommitted) {
		t.Errorf("a command in a committed repository: %v", err)
	}
}

// TestOneHelper: no other package starts git.
func TestOneHelper(t *testing.T) {
	seen := false
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, a := range call.Args {
				if l, ok := a.(*ast.BasicLit); ok && l.Value == `"git"` && strings.Contains(name(call.Fun), "Command") {
					if seen = true; filepath.Base(path) != "checkout.go" {
						t.Errorf("%s starts git: use the package checkout", path)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil || !seen {
		t.Errorf("seen %v, %v", seen, err)
	}
}

func name(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		return name(s.X) + "." + s.Sel.Name
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
