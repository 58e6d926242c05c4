package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/targets/oracle"
)

// forge is what the fake of GitHub's command line keeps, as JSON in a file.
type forge struct {
	Comments []comment
	Analyses []analysis
}

type comment struct {
	ID   int
	Bot  bool
	Body string
}

type analysis struct{ Commit, Ref, SARIF string }

const findComment = `.[] | select(.user.type == "Bot") | [.id, (.body | split("\n")[0] | rtrimstr("\r"))] | @tsv`

// fakeGH answers what the action asks of `gh api`: the comments of a pull request,
// one more, another text for one, and the upload of an analysis.
func fakeGH() {
	if err := answerGH(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gh:", err)
		os.Exit(1)
	}
}

func answerGH(args []string) error {
	file := os.Getenv("FAKE_FORGE")
	f := &forge{}
	if text, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(text, f); err != nil {
			return err
		}
	}
	// As gh 2.23.0 was seen to: the token for a server of one's own has its own
	// variable, and what names no host goes to github.com.
	if os.Getenv("GH_HOST") != "github.example.net" || os.Getenv("GH_ENTERPRISE_TOKEN") != "token-of-the-run" {
		return fmt.Errorf("no host, or no token for it")
	}
	method, path, filter, fields := "GET", "", "", map[string]string{}
	for i := 1; i < len(args); i++ {
		switch a := args[i]; a {
		case "--paginate", "--silent":
		case "--method":
			i++
			method = args[i]
		case "--jq":
			i++
			filter = args[i]
		case "-f", "-F":
			i++
			name, value, _ := strings.Cut(args[i], "=")
			if from, ok := strings.CutPrefix(value, "@"); ok && a == "-F" {
				text, err := os.ReadFile(from)
				if err != nil {
					return err
				}
				value = string(text)
			}
			fields[name] = value
		default:
			path = a
		}
	}
	const pull = "repos/example/fabric/issues/7/comments"
	id := 0
	_, _ = fmt.Sscanf(path, "repos/example/fabric/issues/comments/%d", &id)
	switch {
	case args[0] == "api" && method == "GET" && path == pull && filter == findComment:
		for _, c := range f.Comments {
			if first, _, _ := strings.Cut(c.Body, "\n"); c.Bot {
				fmt.Printf("%d\t%s\n", c.ID, strings.TrimSuffix(first, "\r"))
			}
		}
		return nil
	case method == "POST" && path == pull:
		f.Comments = append(f.Comments, comment{100 + len(f.Comments), true, fields["body"]})
	case method == "PATCH" && id > 0:
		at := slices.IndexFunc(f.Comments, func(c comment) bool { return c.ID == id })
		if at < 0 {
			return fmt.Errorf("no comment %d", id)
		}
		f.Comments[at].Body = fields["body"]
	case method == "POST" && path == "repos/example/fabric/code-scanning/sarifs":
		f.Analyses = append(f.Analyses, analysis{fields["commit_sha"], fields["ref"], fields["sarif"]})
	default:
		return fmt.Errorf("%s %s is not simulated: %q", method, path, args)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// pipeline is a repository with the example in it, a bare one that it is pushed
// to, and a lab of its devices.
type pipeline struct {
	*runner
	forge  string
	secret string // a file outside of it all
}

func newPipeline(t *testing.T) *pipeline {
	t.Helper()
	top := t.TempDir()
	p := &pipeline{runner: &runner{t: t, repo: filepath.Join(top, "work"), temp: filepath.Join(top, "temp"), artifacts: filepath.Join(top, "artifacts")}, forge: filepath.Join(top, "forge.json")}
	if err := os.CopyFS(p.repo, os.DirFS(gitopsDir)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{p.temp, p.artifacts} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + top, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.net", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.net",
		"RUNNER_TEMP=" + p.temp, "GITHUB_WORKSPACE=" + p.repo, "GITHUB_REPOSITORY=example/fabric", "GITHUB_SERVER_URL=https://github.example.net", "GITHUB_RUN_ID=42", "GITHUB_ACTIONS=true", "FAKE_FORGE=" + p.forge,
	}
	p.context = map[string]string{
		"github.token": "token-of-the-run", "github.ref": "refs/pull/7/merge", "github.sha": "0123456789012345678901234567890123456789", "github.base_ref": "main", "github.event.pull_request.number": "7",
		"runner.temp": p.temp, "secrets.ROCEC_FABRIC_PASSWORD": "hunter2", "vars.ROCEC_DATA_DIR": filepath.Join(top, "data"),
	}
	bare := filepath.Join(top, "origin.git")
	p.git("init", "--quiet", "--bare", "--initial-branch=main", bare)
	p.git("init", "--quiet", "--initial-branch=main")
	p.git("remote", "add", "origin", bare)
	p.commit("the fabric")
	return p
}

func (p *pipeline) git(args ...string) string {
	p.t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = p.repo, p.env
	out, err := c.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *pipeline) commit(what string) {
	p.t.Helper()
	p.git("add", "--all")
	p.git("commit", "--quiet", "--message", what)
	p.git("push", "--quiet", "origin", "HEAD:main")
	p.git("fetch", "--quiet", "origin")
}

func (p *pipeline) replace(file, old, new string) {
	p.t.Helper()
	name := filepath.Join(p.repo, file)
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), old) {
		p.t.Fatalf("%s has no %q: %v", file, old, err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pipeline) kept() (f forge) {
	p.t.Helper()
	text, err := os.ReadFile(p.forge)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// lab starts the devices of the repository, and has all commands reach them.
func (p *pipeline) lab() {
	p.t.Helper()
	c := exec.Command("rocec", "lab", "up")
	c.Dir, c.Env = p.repo, p.env
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan bool)
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	p.t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		<-ended
		if p.t.Failed() {
			p.t.Logf("lab: %s", &out)
		}
	})
	file := filepath.Join(p.repo, ".rocec", "lab", "lab.json")
	for {
		status := exec.Command("rocec", "lab", "status")
		status.Dir, status.Env = p.repo, p.env
		if err := status.Run(); err == nil {
			break
		}
		select {
		case <-ended:
			p.t.Fatal("the lab does not start")
		default:
		}
	}
	p.env = append(p.env, "ROCEC_LAB="+file)
}

// must runs a workflow and demands which jobs ran and how it ended.
func (p *pipeline) must(file string, w workflow, ran []string, failed bool) {
	p.t.Helper()
	p.log.Reset()
	p.summary = ""
	got, bad := p.run(w)
	if !slices.Equal(got, ran) || bad != failed {
		p.t.Fatalf("%s: ran %v, failed %v; want %v, %v\n%s", file, got, bad, ran, failed, &p.log)
	}
}

// TestPipeline runs the workflows of examples/gitops as they are written, with the
// scripts of action.yml, against simulated devices.
func TestPipeline(t *testing.T) {
	t.Parallel()
	w := workflows(t)
	p := newPipeline(t)
	p.lab()

	// A pull request: all checks, and one comment.
	p.must("pull-request.yml", w["pull-request.yml"], []string{"check"}, false)
	f := p.kept()
	if len(f.Comments) != 1 || len(f.Analyses) != 1 {
		t.Fatalf("%d comments, %d analyses", len(f.Comments), len(f.Analyses))
	}
	body := f.Comments[0].Body
	for _, want := range []string{"<!-- rocec plan ", "**Plan: 3 to add", "https://github.example.net/example/fabric/actions/runs/42"} {
		if !strings.Contains(body, want) {
			t.Errorf("the comment has no %q:\n%s", want, body)
		}
	}
	if !strings.Contains(p.summary, "**Plan: 3 to add") {
		t.Errorf("job summary: %s", p.summary)
	}
	if len(body) > 65_535 {
		t.Errorf("the comment has %d bytes", len(body))
	}
	sarif := unpacked(t, f.Analyses[0].SARIF)
	if f.Analyses[0].Ref != "refs/pull/7/merge" || !strings.Contains(sarif, `"2.1.0"`) {
		t.Errorf("analysis of %s: %.300s", f.Analyses[0].Ref, sarif)
	}

	// The merge: planned on the devices, applied, looked at, recorded.
	p.context["github.event.pull_request.number"] = ""
	p.must("merge.yml", w["merge.yml"], []string{"plan", "apply"}, false)
	if !strings.Contains(p.log.String(), "Verify: 3 in sync, 0 drift, 0 unknown.") {
		t.Errorf("%s", &p.log)
	}
	// That of a lab is a folder, whatever the source says.
	if _, err := os.Stat(filepath.Join(p.repo, "record", "lab", "tor.json")); err != nil {
		t.Error(err)
	}
	if strings.Contains(p.log.String(), "hunter2") {
		t.Error("the log has the password")
	}
	// Once more: nothing changes, and nothing is applied.
	p.must("merge.yml", w["merge.yml"], []string{"plan"}, false)
	p.must("nightly.yml", w["nightly.yml"], []string{"verify"}, false)

	// The next pull request edits the comment, and leaves those of others alone.
	f.Comments = append([]comment{{ID: 5, Body: strings.SplitN(body, "\n", 2)[0] + "\nby somebody"}}, f.Comments...)
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.forge, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p.context["github.event.pull_request.number"] = "7"
	p.replace("fabric.roce.hcl", "default     = 60", "default     = 70")
	p.must("pull-request.yml", w["pull-request.yml"], []string{"check"}, false)
	f = p.kept()
	if len(f.Comments) != 2 || !strings.HasSuffix(f.Comments[0].Body, "by somebody") || !strings.Contains(f.Comments[1].Body, "-> 0:30% 3:70% 6:strict") {
		t.Errorf("comments: %+v", f.Comments)
	}

	// A runner without a folder of its own leaves the journal as an artifact.
	p.context["github.event.pull_request.number"], p.context["vars.ROCEC_DATA_DIR"] = "", ""
	p.must("merge.yml", w["merge.yml"], []string{"plan", "apply"}, false)
	if kept, _ := filepath.Glob(filepath.Join(p.artifacts, "rocec-journal", "lab", "*.ndjson")); len(kept) != 1 {
		t.Errorf("journals that are kept: %q", kept)
	}
	p.context["github.event.pull_request.number"] = "7"

	// What is wrong stops it, with an annotation at the line.
	p.replace("fabric.roce.hcl", "vlan   = 100", "vlan   = 4095")
	p.must("pull-request.yml", w["pull-request.yml"], []string{"check"}, true)
	if !strings.Contains(p.log.String(), "::error file=fabric.roce.hcl,line=59,endLine=59,col=12,endColumn=16::vlan does not take 4095.") {
		t.Errorf("no annotation:\n%s", &p.log)
	}
}

func unpacked(t *testing.T, text string) string {
	t.Helper()
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestActionRefuses: a command that is none runs nothing, and arguments reach
// rocec as they are, whatever a shell would make of them.
func TestActionRefuses(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	for _, with := range []map[string]string{
		{"command": "plan; touch oops"},
		{"command": "validate", "args": "--var=rdma_share=$(touch oops)\n`touch oops`"},
		{"command": "validate", "args": "; touch oops"},
		{"command": "lint", "working-directory": "$(touch oops)"},
	} {
		if _, err := p.composite(with, nil); err == nil {
			t.Errorf("%v: no failure\n%s", with, &p.log)
		}
	}
	// Annotations name files as the repository has them, wherever the fabric stands.
	if err := os.CopyFS(filepath.Join(p.repo, "pod 1"), os.DirFS(gitopsDir)); err != nil {
		t.Fatal(err)
	}
	p.replace("pod 1/fabric.roce.hcl", "vlan   = 100", "vlan   = 4095")
	if _, err := p.composite(map[string]string{"command": "lint", "working-directory": "pod 1"}, nil); err == nil || !strings.Contains(p.log.String(), "::error file=pod 1/fabric.roce.hcl,line=59,") {
		t.Errorf("%v\n%s", err, &p.log)
	}
	if found, _ := filepath.Glob(filepath.Join(p.repo, "*oops*")); len(found) > 0 {
		t.Errorf("a shell has read arguments: %v", found)
	}
}

// TestSetup runs the script of setup-rocec with a Go that builds at once.
func TestSetup(t *testing.T) {
	t.Parallel()
	a := parsed[action](t, setupFile)
	install := a.Runs.Steps[len(a.Runs.Steps)-1]
	for _, c := range []struct {
		version, checksum string
		fails             bool
	}{
		{"latest", "", true},
		{"", "", true},
		{"v1.2.3", "", false},
		{"v1.2.3", "h1:sum=", false},
		{"v1.2.3", "h1:other=", true},
		{"main; touch oops", "", true},
		{"v1.2.3 $(touch oops)", "", true},
	} {
		p := newPipeline(t)
		bin := filepath.Join(p.temp, "bin")
		text := "#!/bin/sh\ncase $1 in\nmod) printf '{\\n\\t\"Path\": \"x\",\\n\\t\"Sum\": \"h1:sum=\"\\n}\\n' ;;\ninstall) printf '#!/bin/sh\\necho rocec v1.2.3\\n' >\"$GOBIN/rocec\" && chmod +x \"$GOBIN/rocec\" ;;\nesac\n"
		if err := os.Mkdir(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, "go"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(p.temp, "path")
		p.env = append(p.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GITHUB_PATH="+path)
		out, err := p.script(&install, map[string]string{}, map[string]string{"VERSION": c.version, "CHECKSUM": c.checksum})
		if (err != nil) != c.fails {
			t.Errorf("%s %s: %v\n%s", c.version, c.checksum, err, &p.log)
			continue
		}
		if added, _ := os.ReadFile(path); !c.fails && (out["version"] != "rocec v1.2.3" || filepath.Dir(out["path"]) != strings.TrimSpace(string(added))) {
			t.Errorf("%s: outputs %v, path %s", c.version, out, added)
		}
	}
}

// pinned is what uses an action of others by its commit, or one of ours by its version.
var pinned = regexp.MustCompile(`^\s*(- )?uses: ([a-z-]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|rocec/rocec(/[a-z./-]+)?@v\d+\.\d+\.\d+)$`)

// TestPipelineFiles: what GitHub, pre-commit and GitLab document of their files
// holds of ours, no text from outside is part of a script, every action of others
// is pinned to a commit, and every script is one.
func TestPipelineFiles(t *testing.T) {
	script := func(where, text string) {
		if strings.Contains(text, "${{") {
			t.Errorf("%s: an expression is part of the script", where)
		}
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), where); err != nil {
			t.Errorf("%v", err)
		}
	}
	files := []string{actionFile, setupFile, "../../.github/workflows/ci.yml"}
	for name, w := range workflows(t) {
		files = append(files, filepath.Join(gitopsDir, ".github", "workflows", name))
		if w.Name == "" || w.Permissions["contents"] != "read" || len(w.Jobs) == 0 {
			t.Errorf("%s: %+v", name, w)
		}
		for id, j := range w.Jobs {
			for _, s := range j.Steps {
				if (s.Run == "") == (s.Uses == "") {
					t.Errorf("%s, %s: a step runs something or uses an action", name, id)
				}
				script(name, s.Run)
			}
		}
	}
	for _, file := range []string{actionFile, setupFile} {
		a := parsed[action](t, file)
		if a.Name == "" || a.Description == "" || a.Runs.Using != "composite" {
			t.Errorf("%s: %+v", file, a)
		}
		for name, i := range a.Inputs {
			if i.Description == "" {
				t.Errorf("%s: input %s says nothing", file, name)
			}
		}
		for name, o := range a.Outputs {
			if o.Description == "" || o.Value == "" {
				t.Errorf("%s: output %s says nothing", file, name)
			}
		}
		for _, s := range a.Runs.Steps {
			if s.Run != "" && s.Shell != "bash" { // required of composite actions
				t.Errorf("%s: a step without a shell", file)
			}
			script(file, s.Run)
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\n"); strings.Contains(line, "uses: ") && !pinned.MatchString(line) {
				t.Errorf("%s: not pinned: %s", file, line)
			}
		}
	}
}

// TestHooks: the hooks are those that pre-commit can run, and take the files they
// should.
func TestHooks(t *testing.T) {
	t.Parallel()
	type hook struct {
		ID, Name, Description, Entry, Language, Files string
		PassFilenames                                 *bool `yaml:"pass_filenames"`
	}
	hooks := parsed[[]hook](t, hooksFile)
	var ids []string
	for _, h := range hooks {
		ids = append(ids, h.ID)
		re, err := regexp.Compile(h.Files)
		if err != nil || h.Name == "" || h.Language != "golang" || !strings.HasPrefix(h.Entry, "rocec ") {
			t.Fatalf("%+v: %v", h, err)
		}
		for name, want := range map[string]bool{"pod1/a.roce.hcl": true, "fabric.rocevars.hcl": true, "tests/a.rocetest.hcl": h.ID != "rocec-build-check", "a.hcl": false, "a.roce.hcl.bak": false} {
			if re.MatchString(name) != want {
				t.Errorf("%s takes %s: %v", h.ID, name, !want)
			}
		}
		if passes := h.PassFilenames == nil || *h.PassFilenames; passes != (h.ID == "rocec-fmt") {
			t.Errorf("%s is given names of files: %v", h.ID, passes)
		}
	}
	if d := cmp.Diff([]string{"rocec-fmt", "rocec-lint", "rocec-validate", "rocec-build-check"}, ids); d != "" {
		t.Error(d)
	}
	// As pre-commit runs them: rocec fmt is given names, and fails when it changed one.
	p := newPipeline(t)
	p.replace("fabric.roce.hcl", "  trust = \"dscp\"", "  trust   = \"dscp\"")
	for _, h := range hooks {
		args := strings.Fields(h.Entry)[1:]
		if h.ID == "rocec-build-check" {
			continue // no artifacts are committed there
		}
		if h.ID == "rocec-fmt" {
			args = append(args, "fabric.roce.hcl", "fabric.rocetest.hcl")
		}
		c := exec.Command("rocec", args...)
		c.Dir, c.Env = p.repo, p.env
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", h.ID, err, out)
		}
	}
	if changed := p.git("diff", "--name-only"); changed != "" { // back to what is committed
		t.Errorf("rocec fmt leaves %s", changed)
	}
}

// TestGitLab: the jobs of the template have what GitLab wants of a job, and
// scripts that parse.
func TestGitLab(t *testing.T) {
	type gitlabJob struct {
		Stage, Extends, Environment, Image string
		Script                             []string
		BeforeScript                       []string `yaml:"before_script"`
		Needs, Tags                        []string
		Rules                              []map[string]string
		Artifacts                          map[string]yaml.Node
	}
	top := parsed[map[string]yaml.Node](t, gitlabFile)
	var stages []string
	node := top["stages"]
	if err := node.Decode(&stages); err != nil {
		t.Fatal(err)
	}
	jobs := map[string]gitlabJob{}
	for name, n := range top {
		if name == "stages" || name == "variables" {
			continue
		}
		var j gitlabJob
		if err := n.Decode(&j); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		jobs[name] = j
	}
	for name, j := range jobs {
		if j.Extends != "" && jobs[j.Extends].Extends == "" && jobs[j.Extends].Image == "" {
			t.Errorf("%s extends %s", name, j.Extends)
		}
		for _, need := range j.Needs {
			if _, ok := jobs[need]; !ok {
				t.Errorf("%s needs %s", name, need)
			}
		}
		for _, line := range slices.Concat(j.BeforeScript, j.Script) {
			if _, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), name); err != nil {
				t.Error(err)
			}
		}
		if strings.HasPrefix(name, ".") {
			continue
		}
		rules := j.Rules
		if len(rules) == 0 {
			rules = jobs[j.Extends].Rules
		}
		if len(j.Script) == 0 || !slices.Contains(stages, j.Stage) || len(rules) == 0 {
			t.Errorf("%s: %+v", name, j)
		}
	}
	if j := jobs["rocec-apply"]; j.Environment != "fabric" || j.Rules[0]["when"] != "manual" {
		t.Errorf("rocec-apply: %+v", j)
	}
}

// notes is the part of GitLab's interface that the template uses: the notes of
// one merge request, two to a page.
type notes struct {
	mu   sync.Mutex
	list []string
	said []string
}

func (n *notes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	const path = "/projects/12/merge_requests/7/notes"
	n.said = append(n.said, r.Method+" "+r.URL.String())
	var sent struct{ Body string }
	id := 0
	_, _ = fmt.Sscanf(r.URL.Path, path+"/%d", &id)
	switch {
	case r.Header.Get("PRIVATE-TOKEN") != "token-of-the-project":
		http.Error(w, "401 Unauthorized", http.StatusUnauthorized)
	case r.Method == http.MethodGet && r.URL.Path == path:
		page := 1
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
		next, shown := "", []map[string]any{}
		for i := (page - 1) * 2; i < min(page*2, len(n.list)); i++ {
			shown = append(shown, map[string]any{"id": i + 1, "body": n.list[i]})
		}
		if page*2 < len(n.list) {
			next = strconv.Itoa(page + 1)
		}
		w.Header().Set("X-Next-Page", next)
		_ = json.NewEncoder(w).Encode(shown)
	case r.Header.Get("Content-Type") != "application/json" || json.NewDecoder(r.Body).Decode(&sent) != nil:
		http.Error(w, "400 Bad Request", http.StatusBadRequest)
	case r.Method == http.MethodPost && r.URL.Path == path:
		n.list = append(n.list, sent.Body)
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut && id > 0 && id <= len(n.list):
		n.list[id-1] = sent.Body
	default:
		http.NotFound(w, r)
	}
}

// TestGitLabRuns runs the template in a runner that nobody here wrote, which holds
// it against GitLab's schema first: a merge request, a merge, drift.
func TestGitLabRuns(t *testing.T) {
	t.Parallel()
	oracle.Need(t, oracle.GitLabTool)
	for _, program := range []string{"curl", "jq"} {
		oracle.Need(t, program)
	}
	p := newPipeline(t)
	if err := copyTo(gitlabFile, filepath.Join(p.repo, "rocec.gitlab-ci.yml")); err != nil {
		t.Fatal(err)
	}
	p.replace(".gitlab-ci.yml", "- remote: https://raw.githubusercontent.com/rocec/rocec/v1.0.0/.gitlab/rocec.gitlab-ci.yml", "- local: rocec.gitlab-ci.yml")
	p.commit("the template")
	if err := os.WriteFile(filepath.Join(p.repo, ".git", "info", "exclude"), []byte(".gitlab-ci-local\n.rocec\nrecord\nrocec*.json\nrocec*.md\nrocec*.xml\nrocec*.sarif\nrocec.rocplan\nnote*.json\nheaders.txt\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.lab()
	n := &notes{list: []string{"by somebody", "by somebody else"}}
	server := httptest.NewServer(n)
	defer server.Close()
	run := func(source string, fails bool, args ...string) string {
		t.Helper()
		for _, v := range []string{
			"CI_PIPELINE_SOURCE=" + source, "CI_MERGE_REQUEST_DIFF_BASE_SHA=" + strings.TrimSpace(p.git("rev-parse", "HEAD")), "CI_MERGE_REQUEST_IID=7",
			"CI_PROJECT_ID=12", "CI_API_V4_URL=" + server.URL, "FABRIC_NOTE_TOKEN=token-of-the-project",
		} {
			args = append(args, "--variable", v)
		}
		out, err := oracle.GitLab(t, p.repo, p.env, args...)
		if (err != nil) != fails || !strings.Contains(out, "schema validated") {
			t.Fatalf("%s %q: %v\n%s", source, args, err, out)
		}
		return out
	}
	demand := func(out string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	}
	demand(run("merge_request_event", false), "PASS  rocec-fmt", "PASS  rocec-lint", "PASS  rocec-validate", "PASS  rocec-test", "PASS  rocec-plan ")
	if len(n.list) != 3 || !strings.Contains(n.list[2], "**Plan: 3 to add") {
		t.Errorf("notes: %q\n%q", n.list, n.said)
	}
	demand(run("push", false, "rocec-apply", "--needs"), "Apply complete: 3 applied", "Verify: 3 in sync, 0 drift, 0 unknown.", "PASS  rocec-apply")
	demand(run("schedule", false), "Verify: 3 in sync", "PASS  rocec-drift")

	// What is merged and not applied yet is a difference, too.
	p.replace("fabric.roce.hcl", "default     = 60", "default     = 70")
	run("merge_request_event", false, "rocec-plan")
	if len(n.list) != 3 || !strings.Contains(n.list[2], "-> 0:30% 3:70% 6:strict") {
		t.Errorf("notes: %q\n%q", n.list, n.said)
	}
	demand(run("schedule", true), "FAIL  rocec-drift", "Verify: 0 in sync, 3 drift, 0 unknown.")
}
