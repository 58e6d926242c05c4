package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// canaryFile stands in the files outside of the checkout, in a block that fmt would lay out anew.
const canaryFile = "credentials \"app.terraform.io\" { token    = \"CANARYTOKEN123\" }\n"

// lay makes a repository in a folder of its own, with the small fabric, and files and an empty folder beside it.
func lay(t *testing.T) (repo, outside string) {
	t.Helper()
	top := t.TempDir()
	repo, outside = filepath.Join(top, "repo"), filepath.Join(top, "outside")
	for _, dir := range []string{filepath.Join(repo, ".git"), filepath.Join(outside, "folder")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(repo, os.DirFS(small(t))); err != nil {
		t.Fatal(err)
	}
	put(t, outside, "secret", []byte(canaryFile))
	return repo, outside
}

// contents are the files of a folder by name, folders by their names alone.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[name] = ""
			return err
		}
		text, err := os.ReadFile(name)
		all[name] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLinksOut puts a link in the place of each file and folder that a command reads or writes by a name that a checkout
// decides. Nothing of what it leads to is shown, nothing is written there, and the link is named.
func TestLinksOut(t *testing.T) {
	const run = "run \"x\" {\n  command = validate\n}\n"
	for _, c := range []struct {
		name  string
		links map[string]string // name in the repository -> target
		files map[string]string
		args  []string
		told  string // "" = the name of the first link
	}{
		{name: "fmt diff", links: map[string]string{"a.roce.hcl": "../outside/secret"}, args: []string{"fmt", "--check", "--diff", "--recursive"}},
		{name: "fmt", links: map[string]string{"a.roce.hcl": "../outside/secret"}, args: []string{"fmt"}},
		{name: "fmt of a file", links: map[string]string{"a.roce.hcl": "../outside/secret"}, args: []string{"fmt", "a.roce.hcl"}},
		{name: "fmt of a folder", links: map[string]string{"d": "../outside"}, args: []string{"fmt", "d/secret"}, told: "d"},
		{name: "fmt absolute", links: map[string]string{"a.roce.hcl": "ABS/secret"}, args: []string{"fmt", "--diff"}},
		{name: "fmt --fix", links: map[string]string{"a.roce.hcl": "../outside/secret"}, args: []string{"fmt", "--fix", "--diff", "fabric.roce.hcl"}},
		{name: "validate", links: map[string]string{"a.roce.hcl": "../outside/secret"}, args: []string{"validate"}},
		{name: "lint --fix", links: map[string]string{"a.roce.hcl": "../outside/secret"}, args: []string{"lint", "--fix"}},
		{name: "values", links: map[string]string{"a.auto.rocevars.hcl": "../outside/secret"}, args: []string{"validate"}},
		{name: "named values", links: map[string]string{"v.rocevars.hcl": "../outside/secret"}, args: []string{"validate", "--var-file=v.rocevars.hcl"}},
		{name: "addresses", links: map[string]string{"list": "../outside/secret"}, args: []string{"build", "--target-file=list"}},
		{name: "settings", links: map[string]string{".rocec.hcl": "../outside/secret"}, args: []string{"lint"}},
		{name: "named settings", links: map[string]string{"ci.hcl": "../outside/secret"}, args: []string{"lint", "--config=ci.hcl"}},
		{
			name: "baseline", links: map[string]string{"base.json": "../outside/secret"},
			files: map[string]string{".rocec.hcl": `lint { baseline = "base.json" }`}, args: []string{"lint"},
		},
		{
			name: "baseline outside", files: map[string]string{".rocec.hcl": `lint { baseline = "../outside/secret" }`},
			args: []string{"lint"}, told: "outside of the repository",
		},
		{
			name: "baseline outside, absolute", files: map[string]string{".rocec.hcl": `lint { baseline = "ABS/secret" }`},
			args: []string{"lint", "--format=json"}, told: "outside of the repository",
		},
		{
			name: "baseline outside of named settings", files: map[string]string{"ci.hcl": `lint { baseline = "../outside/secret" }`},
			args: []string{"lint", "--config=ci.hcl"}, told: "outside of the repository",
		},
		{name: "baseline of the line", links: map[string]string{"base.json": "../outside/secret"}, args: []string{"lint", "--baseline=base.json"}},
		{name: "new baseline", links: map[string]string{"base.json": "../outside/new"}, args: []string{"lint", "--baseline=base.json", "--write-baseline"}},
		{name: "report", links: map[string]string{"x.sarif": "../outside/secret"}, args: []string{"lint", "--output=sarif=x.sarif"}},
		{name: "report in a folder", links: map[string]string{"reports": "../outside/folder"}, args: []string{"lint", "--output=sarif=reports/x.sarif"}},
		{name: "JSON", links: map[string]string{"x.json": "../outside/secret"}, args: []string{"validate", "--json-into=x.json"}},
		{name: "JSON stream", links: map[string]string{"x.json": "../outside/new"}, args: []string{"plan", "--json-into=x.json"}},
		{name: "JUnit", links: map[string]string{"x.xml": "../outside/secret"}, files: map[string]string{"x.rocetest.hcl": run}, args: []string{"test", "--junit-xml=x.xml"}},
		{name: "test", links: map[string]string{"x.rocetest.hcl": "../outside/secret"}, args: []string{"test"}},
		{name: "tests", links: map[string]string{"tests": "../outside"}, args: []string{"test", "--test-directory=tests"}},
		{name: "build", links: map[string]string{"out": "../outside/folder"}, args: []string{"build", "--out-dir=out"}},
		{name: "build, absolute", links: map[string]string{"out": "ABS/folder"}, args: []string{"build"}},
		{name: "build, dangling", links: map[string]string{"out": "../outside/new"}, args: []string{"build"}},
		{name: "build in a folder", links: map[string]string{"d": "../outside/folder"}, args: []string{"build", "--out-dir=d/e/out"}},
		{name: "build --check", links: map[string]string{"out": "../outside/folder"}, args: []string{"build", "--check"}},
		{name: "archive", links: map[string]string{"out.tar": "../outside/secret"}, args: []string{"build", "--archive=out.tar"}},
		{name: "documents", links: map[string]string{"doc": "../outside/folder"}, args: []string{"doc", "--out-dir=doc"}},
		{name: "pages", links: map[string]string{"docs": "../outside/folder"}, args: []string{"docs", "docs"}},
		{name: "generate", links: map[string]string{"g": "../outside/folder"}, args: []string{"generate", "--nodes=2", "--nics=1", "g"}},
		{name: "expand", links: map[string]string{"a.roce.hcl": "../outside/secret"}, args: []string{"expand", "--write"}},
		{name: "plan file", links: map[string]string{"p.rocplan": "../outside/new"}, args: []string{"plan", "--out=p.rocplan"}},
		{name: "plan file in a folder", links: map[string]string{"plans": "../outside/folder"}, args: []string{"plan", "--out=plans/p.rocplan"}},
		{name: "show", links: map[string]string{"p.rocplan": "../outside/secret"}, args: []string{"show", "p.rocplan"}},
		{name: "apply of a plan", links: map[string]string{"p.rocplan": "../outside/secret"}, args: []string{"apply", "p.rocplan"}},
		{name: "apply of a plan in a folder", links: map[string]string{"plans": "../outside"}, args: []string{"apply", "plans/secret"}},
		{name: "captures", links: map[string]string{"captured": "../outside"}, args: []string{"plan", "--from=captured"}},
		{name: "captures to verify", links: map[string]string{"captured": "../outside"}, args: []string{"verify", "--from=captured"}},
		{name: "record", links: map[string]string{"record": "../outside/folder"}, args: []string{"apply", "--auto-approve"}},
		{name: "record of a workspace", links: map[string]string{"record/default": "../../outside/folder"}, args: []string{"apply", "--auto-approve"}},
		{name: "guard of the record", links: map[string]string{"record/default/.guard": "../../../outside/new"}, args: []string{"apply", "--auto-approve"}, told: ".guard"},
		{name: "record list", links: map[string]string{"record": "../outside/folder"}, args: []string{"record", "list"}},
		{name: "record export", links: map[string]string{"r.json": "../outside/secret"}, args: []string{"record", "export", "--out=r.json"}},
		{name: "bundle", links: map[string]string{"bundle": "../outside/folder"}, args: []string{"apply", "--auto-approve"}},
		{name: "bundle of a device", links: map[string]string{"bundle/tor": "../../outside/folder"}, args: []string{"apply", "--auto-approve"}, told: "tor"},
		{name: "working data", links: map[string]string{".rocec": "../outside/folder"}, args: []string{"plan"}},
		{name: "journal", links: map[string]string{".rocec/journal": "../../outside/folder"}, args: []string{"apply", "--auto-approve"}, told: "journal"},
		{name: "cache", links: map[string]string{".rocec/cache": "../../outside/folder"}, args: []string{"plan"}, told: "cache"},
		{name: "lab", links: map[string]string{".rocec": "../outside/folder"}, args: []string{"lab", "up"}},
		{name: "ask a lab", links: map[string]string{".rocec/lab": "../../outside/folder"}, args: []string{"lab", "status"}, told: "lab"},
		{name: "variables of a job", links: map[string]string{"job.env": "../outside/secret"}, args: []string{"trace", "--from=x", "--to=y", "--env=job.env"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo, outside := lay(t)
			told := c.told
			for name, text := range c.files {
				put(t, repo, name, []byte(strings.ReplaceAll(text, "ABS", filepath.ToSlash(outside))))
			}
			for name, to := range c.links {
				at := filepath.Join(repo, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(strings.ReplaceAll(to, "ABS", outside), at); err != nil {
					t.Fatal(err)
				}
				if told == "" {
					told = name
				}
			}
			before := contents(t, outside)
			code, out, said := rocec(t, repo, nil, c.args...)
			if all := out + said; strings.Contains(all, "CANARY") {
				t.Errorf("it shows what lies outside:\n%s", all)
			} else if code == 0 || !strings.Contains(all, told) {
				t.Errorf("code %d, and %q is not named:\n%s", code, told, all)
			}
			if after := contents(t, outside); !maps.Equal(before, after) {
				t.Errorf("it writes outside:\nbefore %v\nafter  %v", before, after)
			}
		})
	}
}

// TestLinksInside has links that stay in the checkout, and names that lead elsewhere without one: both are as good as any.
func TestLinksInside(t *testing.T) {
	repo, outside := lay(t)
	for _, dir := range []string{"fab", "built", "plans"} {
		if err := os.Mkdir(filepath.Join(repo, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"out": "built", "fab/x.roce.hcl": "../nodes.roce.hcl", "fab/p": "../plans"} {
		if err := os.Symlink(to, filepath.Join(repo, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"build", "--out-dir=out"},
		{"build", "--out-dir=" + filepath.Join(outside, "a", "out")},
		{"build", "--out-dir=../outside/b"},
		{"fmt", "--check", "fab"},
		{"lint", "--output=sarif=../outside/x.sarif", "--baseline=../outside/new.json", "--write-baseline", "--minimum-failure-severity=error"},
		{"plan", "--out=fab/p/x.rocplan"},
		{"show", "plans/x.rocplan"},
	} {
		if code, out, said := rocec(t, repo, nil, args...); code != 0 {
			t.Errorf("%q: code %d\n%s%s", args, code, out, said)
		}
	}
}

// TestBaselineUnshown has a baseline that is none: where it is wrong is told, and nothing of what stands there.
func TestBaselineUnshown(t *testing.T) {
	repo, outside := lay(t)
	for _, form := range []string{"text", "json"} {
		code, out, said := rocec(t, repo, nil, "lint", "--format="+form, "--baseline="+filepath.Join(outside, "secret"))
		if code != 1 || strings.Contains(out+said, "CANARY") || !strings.Contains(out+said, "baseline cannot be read") {
			t.Errorf("%s: code %d\n%s%s", form, code, out, said)
		}
	}
}

// git runs the program in a repository of the test.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.net", "-c", "init.defaultBranch=main"}, args...)...)
	c.Dir, c.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// TestCommittedWorkingData has working data that a commit brought: no command believes it, and each says what to do. Once
// git tracks it no more it is what this computer wrote.
func TestCommittedWorkingData(t *testing.T) {
	journal := `{"event":"open","at":"2027-01-31T12:00:00Z","kind":"rocec journal","format_version":"1.0","id":"x1","workspace":"default"}` + "\n" +
		`{"event":"device","at":"2027-01-31T12:00:00Z","device":"ghost","address":"switch.ghost"}` + "\n" +
		`{"event":"revert","at":"2027-01-31T12:00:00Z","device":"ghost"}` + "\n"
	for _, c := range []struct {
		file, text string
		commands   [][]string
	}{
		{".rocec/journal/default/x1.ndjson", journal, [][]string{{"plan"}, {"apply", "--auto-approve"}, {"confirm"}, {"rollback"}, {"rollback", "--status"}}},
		{".rocec/record/default-0123456789ab/ghost.json", "{}", [][]string{{"plan"}, {"apply", "--auto-approve"}, {"record", "list"}}},
		{".rocec/cache/plan-0123456789abcdef", "{}", [][]string{{"plan"}}},
		{".rocec/lab/lab.json", "{}", [][]string{{"lab", "status"}, {"lab", "up"}, {"lab", "down"}}},
		{".Rocec/Journal/default/x1.ndjson", journal, [][]string{{"plan"}}},
	} {
		t.Run(c.file, func(t *testing.T) {
			repo, _ := lay(t)
			if err := os.Remove(filepath.Join(repo, ".git")); err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(repo, filepath.FromSlash(c.file))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			gitIn(t, repo, "init", "-q")
			gitIn(t, repo, "add", "-f", ".")
			gitIn(t, repo, "commit", "-q", "-m", "x")
			clone := filepath.Join(filepath.Dir(repo), "clone")
			gitIn(t, repo, "clone", "-q", ".", clone)
			if low := strings.ToLower(c.file); low != c.file { // as a file system does that takes both for one
				if err := os.MkdirAll(filepath.Join(clone, filepath.Dir(filepath.FromSlash(low))), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, args := range c.commands {
				code, out, said := rocec(t, clone, nil, args...)
				if code == 0 || !strings.Contains(said, "git rm -r --cached") || !strings.Contains(strings.ToLower(said), strings.ToLower(c.file)) {
					t.Errorf("%q: code %d\n%s%s", args, code, out, said)
				}
			}
			gitIn(t, clone, "rm", "-q", "-r", "--cached", ".")
			if code, out, said := rocec(t, clone, nil, c.commands[0]...); strings.Contains(said, "git rm") {
				t.Errorf("untracked: code %d\n%s%s", code, out, said)
			}
		})
	}
}

// TestSecretDigests gives sensitive variables in each way there is: what is written holds no digest that could be compared
// with those of guesses, neither of the value nor of a file that has it, and another value that changes nothing is no news.
func TestSecretDigests(t *testing.T) {
	const value = "CANARYSENS"
	lines := "pw = \"" + value + "\"\n"
	for name, give := range map[string]func(dir, value string) (env, args []string){
		"environment": func(_, v string) ([]string, []string) { return []string{"ROCEC_VAR_pw=" + v}, nil },
		"line":        func(_, v string) ([]string, []string) { return nil, []string{"--var", "pw=" + v} },
		"named file": func(dir, v string) ([]string, []string) {
			put(t, dir, "s.rocevars.hcl", []byte(strings.ReplaceAll(lines, value, v)))
			return nil, []string{"--var-file=s.rocevars.hcl"}
		},
		"file": func(dir, v string) ([]string, []string) {
			put(t, dir, "s.auto.rocevars.hcl", []byte(strings.ReplaceAll(lines, value, v)))
			return nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := small(t)
			put(t, dir, "v.roce.hcl", []byte("variable \"pw\" {\n  sensitive = true\n}\nvariable \"plain\" {\n  default = \"\"\n}\n"))
			env, args := give(dir, value)
			must := func(more ...string) {
				t.Helper()
				if code, out, said := rocec(t, dir, env, more...); code != 0 {
					t.Fatalf("%q: code %d\n%s%s", more, code, out, said)
				}
			}
			must(append([]string{"build", "--var=plain=x"}, args...)...)
			must(append([]string{"plan", "--out=p.rocplan", "--var=plain=x"}, args...)...)
			for _, file := range []string{"out/manifest.json", "p.rocplan"} {
				text, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				for _, secret := range []string{value, lines} {
					if bytes.Contains(text, fmt.Appendf(nil, "%x", sha256.Sum256([]byte(secret)))) {
						t.Errorf("%s has the digest of %q", file, secret)
					}
				}
				if !bytes.Contains(text, fmt.Appendf(nil, "%x", sha256.Sum256([]byte("x")))) {
					t.Errorf("%s has no digest of a variable that is no secret", file)
				}
			}
			env, args = give(dir, "another")
			must(append([]string{"apply", "p.rocplan", "--var=plain=x"}, args...)...)
		})
	}
}

// TestSavedPlanShown edits what a saved plan shows: show says so where the digest is not made anew, and apply where it is.
func TestSavedPlanShown(t *testing.T) {
	dir := small(t)
	if code, out, said := rocec(t, dir, nil, "plan", "--out=p.rocplan"); code != 0 {
		t.Fatalf("%s%s", out, said)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "p.rocplan"))
	if err != nil {
		t.Fatal(err)
	}
	var saved map[string]any
	if err := json.Unmarshal(whole, &saved); err != nil {
		t.Fatal(err)
	}
	of := func(m map[string]any, key string) map[string]any { return m[key].(map[string]any) }
	for name, edit := range map[string]func(plan map[string]any){
		"no changes": func(p map[string]any) {
			p["resource_changes"], p["summary"] = []any{}, map[string]any{"add": 0, "change": 0, "destroy": 0, "interrupted_devices": 0}
		},
		"another value": func(p map[string]any) {
			first := p["resource_changes"].([]any)[0].(map[string]any)
			first["note"] = "nothing of importance"
		},
		"summary": func(p map[string]any) { of(p, "summary")["interrupted_devices"] = 7 },
		"awaiting": func(p map[string]any) {
			p["awaiting"] = []any{map[string]any{"address": "switch.x", "device": "x", "intent_digest": ""}}
		},
		"unseen": func(p map[string]any) {
			p["unseen"] = []any{map[string]any{"address": "switch.x", "device": "x", "fields": []any{"y"}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var forged map[string]any
			if err := json.Unmarshal(whole, &forged); err != nil {
				t.Fatal(err)
			}
			edit(of(forged, "plan"))
			write := func() {
				text, err := json.Marshal(forged)
				if err != nil {
					t.Fatal(err)
				}
				put(t, dir, "forged.rocplan", text)
			}
			write()
			for _, args := range [][]string{{"show", "forged.rocplan"}, {"show", "--json", "forged.rocplan"}, {"apply", "forged.rocplan"}} {
				if code, out, said := rocec(t, dir, nil, args...); code != 1 || !strings.Contains(out+said, "was edited") {
					t.Errorf("%q: code %d\n%s%s", args, code, out, said)
				}
			}
			// With the digest that the message of show names.
			_, _, said := rocec(t, dir, nil, "show", "forged.rocplan")
			_, digest, _ := strings.Cut(said, "has the digest ")
			digest, _, _ = strings.Cut(digest, " ")
			forged["plan_digest"] = strings.TrimSpace(digest)
			write()
			if code, out, said := rocec(t, dir, nil, "show", "forged.rocplan"); code != 0 {
				t.Fatalf("the digest is not made anew: code %d\n%s%s", code, out, said)
			}
			if code, out, said := rocec(t, dir, nil, "apply", "forged.rocplan"); code != 1 || !strings.Contains(said, "Saved plan is stale") {
				t.Errorf("apply: code %d\n%s%s", code, out, said)
			}
		})
	}
	for _, args := range [][]string{{"apply", "--verbose", "p.rocplan"}} { // what is shown is told at another length only
		if code, out, said := rocec(t, dir, nil, args...); code != 0 {
			t.Errorf("%q: code %d\n%s%s", args, code, out, said)
		}
	}
}
