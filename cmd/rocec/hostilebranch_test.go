package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// branch is a repository of a stranger, who wants a program of his to run: whatever runs it leaves the file ran.
type branch struct {
	t         *testing.T
	dir, ran  string
	fresh     string // its clone, as a runner or a reviewer has it
	env       []string
	canaryEnv string
}

func newBranch(t *testing.T) *branch {
	t.Helper()
	top := t.TempDir()
	b := &branch{t: t, dir: filepath.Join(top, "branch"), ran: filepath.Join(top, "ran"), fresh: filepath.Join(top, "fresh"), canaryEnv: "canary-3b1f"}
	b.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + top, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.net", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.net",
		"CANARY=" + b.canaryEnv,
	}
	if err := os.CopyFS(b.dir, os.DirFS("testdata/smb")); err != nil {
		t.Fatal(err)
	}
	b.git(b.dir, "init", "--quiet", "--initial-branch=main")
	return b
}

func (b *branch) git(dir string, args ...string) {
	b.t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, b.env
	if out, err := c.CombinedOutput(); err != nil {
		b.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (b *branch) write(file, text string) {
	b.t.Helper()
	name := filepath.Join(b.dir, file)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o755)); err != nil {
		b.t.Fatal(err)
	}
}

// program is one that leaves the file, with all that it was told.
func (b *branch) program(file string) {
	b.write(file, fmt.Sprintf("#!/bin/sh\n{ id; env; } >>'%s'\ncat\nexit 0\n", b.ran))
}

// clone commits all and clones it.
func (b *branch) clone() {
	b.t.Helper()
	b.git(b.dir, "add", "--force", ".")
	b.git(b.dir, "commit", "--quiet", "--message", "innocent")
	b.git(filepath.Dir(b.dir), "clone", "--quiet", b.dir, b.fresh)
}

// rocec runs a command in a folder of the clone, and returns what it printed.
func (b *branch) rocec(folder string, args ...string) (string, error) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.t.Context(), time.Minute) // a program may have been started, and wait
	defer stop()
	c := exec.CommandContext(ctx, "rocec", args...)
	c.Dir, c.Env, c.WaitDelay = filepath.Join(b.fresh, folder), b.env, time.Second
	out, err := c.CombinedOutput()
	if text, e := os.ReadFile(b.ran); e == nil {
		b.t.Errorf("rocec %q ran a program of the branch:\n%.600s", args, text)
		_ = os.Remove(b.ran)
	}
	return string(out), err
}

// embedded commits into a folder what git takes for a repository, with settings.
func (b *branch) embedded(folder, config string) {
	b.write(folder+"/HEAD", "ref: refs/heads/main\n")
	b.write(folder+"/objects/info/k", "x\n")
	b.write(folder+"/refs/heads/k", "x\n")
	b.write(folder+"/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n"+config)
}

const recordBlock = "rocec {\n  record = { backend = \"git\", push = true%s }\n}\n"

// TestBranchRepository: files of a branch that look like a repository of git are none to any command.
func TestBranchRepository(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	b.write("rocec.roce.hcl", fmt.Sprintf(recordBlock, ""))
	b.program("record/pwn.sh")
	b.embedded("record", "[remote \"origin\"]\n\turl = ext::sh ./pwn.sh\n[protocol \"ext\"]\n\tallow = always\n")
	b.clone()
	for _, args := range [][]string{
		{"plan", "--refresh=false", "--lock=false"}, {"record", "list"}, {"apply", "--auto-approve"}, {"force-unlock", "x"}, {"plan", "--untrusted"},
	} {
		out, err := b.rocec(".", args...)
		if err == nil || !strings.Contains(out, "is in no work tree of git: files of the work tree look like a repository") && args[1] != "--untrusted" {
			t.Errorf("rocec %q: %v\n%s", args, err, out)
		}
	}
}

// TestBranchFilter: neither do its filters run where lint and plan compare with another revision.
func TestBranchFilter(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	fab := filepath.Join(b.dir, "fab")
	if err := os.CopyFS(fab, os.DirFS("testdata/smb")); err != nil {
		t.Fatal(err)
	}
	b.program("fab/pwn.sh")
	b.write("fab/.gitattributes", "*.hcl filter=e\n")
	b.git(fab, "init", "--quiet", "--bare", ".")
	b.git(fab, "config", "--file", "config", "core.bare", "false")
	b.git(fab, "config", "--file", "config", "core.worktree", ".")
	b.git(fab, "--git-dir=.", "--work-tree=.", "add", "--force", ".gitattributes", "fabric.roce.hcl")
	b.git(fab, "--git-dir=.", "--work-tree=.", "commit", "--quiet", "--message", "base")
	b.git(fab, "--git-dir=.", "update-ref", "refs/remotes/origin/main", "HEAD")
	for _, verb := range []string{"clean", "smudge"} {
		b.git(fab, "config", "--file", "config", "filter.e."+verb, "sh '"+filepath.Join(b.fresh, "fab", "pwn.sh")+"'")
	}
	b.clone()
	for _, args := range [][]string{
		{"lint", "--format=github", "--output=sarif=x.sarif", "--new-from-rev=origin/main", "--", "fab"},
		{"--chdir=fab", "plan", "--against=origin/main"},
		{"--chdir=fab", "lint", "--new-from-rev=HEAD"},
	} {
		out, err := b.rocec(".", args...)
		if err == nil || !strings.Contains(out, "look like a repository of git") {
			t.Errorf("rocec %q: %v\n%s", args, err, out)
		}
	}
}

// TestBranchHooks: a remote in the checkout, whose hooks are the branch's, is none; nor do hooks run that the user's own
// settings look for in the checkout. The remote that the user has goes on to work, in a folder as well.
func TestBranchHooks(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	b.write("rocec.roce.hcl", fmt.Sprintf(recordBlock, `, remote = "./evil.git", branch = "rocec-record"`))
	b.git(b.dir, "init", "--quiet", "--bare", "evil.git")
	b.write("evil.git/refs/heads/k", "")
	b.write("evil.git/objects/pack/k", "")
	for _, hook := range []string{"pre-receive", "update", "post-update", "reference-transaction"} {
		b.program("evil.git/hooks/" + hook)
		b.program("hooks/" + hook)
	}
	b.program("hooks/pre-push")
	b.clone()
	out, err := b.rocec(".", "apply", "--auto-approve", "--refresh=false")
	if err == nil || !strings.Contains(out, `remote "./evil.git" is neither the name of a remote that git knows here nor an address over a network`) ||
		!strings.Contains(out, "rocec.roce.hcl") {
		t.Errorf("%v\n%s", err, out)
	}
	b.git(b.fresh, "config", "core.hooksPath", "hooks")
	if err := os.WriteFile(filepath.Join(b.fresh, "rocec.roce.hcl"), fmt.Appendf(nil, recordBlock, `, branch = "rocec-record"`), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := b.rocec(".", "apply", "--auto-approve", "--refresh=false"); err != nil {
		t.Errorf("the user's own remote: %v\n%s", err, out)
	}
	b.git(b.dir, "rev-parse", "--verify", "refs/heads/rocec-record")
}

// TestRecordFolder: a record is kept inside of the checkout, links included, and in no other repository of it.
func TestRecordFolder(t *testing.T) {
	t.Parallel()
	for source, backend := range map[string]string{"../out": "local", "link": "local", "link/deeper": "git", "nested/record": "git"} {
		b := newBranch(t)
		b.write("rocec.roce.hcl", fmt.Sprintf("rocec {\n  record = { backend = %q, source = %q }\n}\n", backend, source))
		if err := os.Symlink("../out", filepath.Join(b.dir, "link")); err != nil {
			t.Fatal(err)
		}
		b.clone()
		out := filepath.Join(filepath.Dir(b.dir), "out")
		if err := os.MkdirAll(out, 0o755); err != nil {
			t.Fatal(err)
		}
		b.git(filepath.Dir(b.dir), "init", "--quiet", filepath.Join(b.fresh, "nested"))
		said, err := b.rocec(".", "apply", "--auto-approve")
		if err == nil || !strings.Contains(said, "leads out of the checkout") && !strings.Contains(said, "in another work tree of git") {
			t.Errorf("%s: %v\n%s", source, err, said)
		}
		if list, _ := os.ReadDir(out); len(list) > 0 {
			t.Errorf("%s: written there: %v", source, list)
		}
	}
}
