package record

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRetries: what a server or the way to it did wrong is tried again, and an
// answer that was lost is no failure of what was carried out.
func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		list   []fault
		ok     bool
	}{
		"get, 503 twice":         {"GET", []fault{{before: 503}, {before: 503}}, true},
		"get, too many requests": {"GET", []fault{{before: 429, header: "7"}}, true},
		"get, 500 for ever":      {"GET", []fault{{before: 500}, {before: 500}, {before: 500}, {before: 500}}, false},
		"get, cut":               {"GET", []fault{{cut: true}, {cut: true}}, true},
		"get, redirect":          {"GET", []fault{{before: 302}}, false},
		"lock, answer lost":      {"LOCK", []fault{{cut: true}}, true},
		"lock, 502 afterwards":   {"LOCK", []fault{{after: 502}}, true},
		"lock, 500 before":       {"LOCK", []fault{{before: 500}}, true},
		"post, answer lost":      {"POST", []fault{{cut: true}}, true},
		"post, 504 afterwards":   {"POST", []fault{{after: 504}, {after: 504}}, true},
		"post, 413":              {"POST", []fault{{before: 413}}, false},
		"post, 500 for ever":     {"POST", []fault{{before: 500}, {before: 500}, {before: 500}, {before: 500}}, false},
		"unlock, answer lost":    {"UNLOCK", []fault{{cut: true}}, true},
		"put, answer lost":       {"PUT", []fault{{cut: true}}, true},
		"put, 503 afterwards":    {"PUT", []fault{{}, {}, {after: 503}}, true},
		"put, 409":               {"PUT", []fault{{}, {}, {before: 409}, {before: 409}}, true},
		"put, 500 for ever":      {"PUT", []fault{{}, {}, {before: 500}, {before: 500}, {before: 500}, {before: 500}}, false},
		"delete, answer lost":    {"DELETE", []fault{{cut: true}}, true},
		"delete, 503 afterwards": {"DELETE", []fault{{after: 503}, {before: 503}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			states, objects := newStateServer(t, false), newBucketServer(t)
			env := func(name string) string {
				return map[string]string{"AWS_ACCESS_KEY_ID": objects.keyID, "AWS_SECRET_ACCESS_KEY": objects.secret}[name]
			}
			settings, faults := Settings{Kind: HTTP, Address: states.URL + "/s"}, &states.faults
			if c.method == "PUT" || c.method == "DELETE" {
				settings = Settings{Kind: S3, Bucket: objects.bucket, Region: objects.region, Endpoint: objects.URL, PathStyle: true, Env: env}
				faults = &objects.faults
			}
			s := opened(t, settings)
			begun := s.now()
			faults.add(c.method, c.list...)
			err := func() error {
				l, err := s.Lock(t.Context(), "apply", "0.1.0", 0)
				if err != nil {
					return err
				}
				_, err = l.Put(sample("tor", 1500), "")
				return errors.Join(err, l.Unlock())
			}()
			if (err == nil) != c.ok {
				t.Fatalf("%v, with %v", err, faults.seen)
			}
			if len(c.list) > 1 && c.list[0].before >= 500 && s.now().Equal(begun) {
				t.Error("it did not wait between attempts")
			}
			if name == "get, too many requests" && s.now().Sub(begun) != 7*time.Second {
				t.Errorf("it waited %s, and was asked to wait 7s", s.now().Sub(begun))
			}
			if !c.ok {
				return
			}
			again := opened(t, settings)
			if e, _, err := again.Get("tor"); err != nil || e == nil {
				t.Errorf("afterwards the entry is %v, %v", e, err)
			}
			l, err := again.Lock(t.Context(), "apply", "0.1.0", 0)
			must(t, err)
			must(t, l.Unlock())
		})
	}
}

// TestNoAnswer: a server that says nothing is given up after the attempts.
func TestNoAnswer(t *testing.T) {
	states := newStateServer(t, false)
	release := make(chan struct{})
	defer close(release)
	states.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })
	s := opened(t, Settings{Kind: HTTP, Address: states.URL + "/s"})
	s.backend.(*server).wait = time.Millisecond
	if _, _, err := s.Get("tor"); err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("no answer: %v", err)
	}
}

// TestForeignState: what is no record under the address stays as it is.
func TestForeignState(t *testing.T) {
	for name, text := range map[string]string{
		"terraform": `{"version": 4, "serial": 3, "lineage": "x", "resources": []}`,
		"workspace": `{"kind": "rocec record", "format_version": "1.0", "workspace": "other", "serial": 1, "devices": {}}`,
		"later":     `{"kind": "rocec record", "format_version": "2.0", "workspace": "default", "devices": {}}`,
		"cut":       `{"kind": "rocec record", "format_version": "1.0", "work`,
		"serial":    `{"kind": "rocec record", "format_version": "1.0", "workspace": "default", "serial": -4, "devices": {}}`,
	} {
		t.Run(name, func(t *testing.T) {
			states := newStateServer(t, false)
			states.states["/s"] = []byte(text)
			s := opened(t, Settings{Kind: HTTP, Address: states.URL + "/s"})
			if l, err := s.Lock(t.Context(), "apply", "0.1.0", 0); err == nil {
				t.Error("it is locked as a record", l.Unlock())
			}
			if len(states.locks) != 0 || string(states.states["/s"]) != text {
				t.Errorf("it is now %s, locks %v", states.states["/s"], states.locks)
			}
		})
	}
}

// TestCareless: a store that passes over conditions is no place for locks.
func TestCareless(t *testing.T) {
	objects := newBucketServer(t)
	objects.careless = true
	env := func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": objects.keyID, "AWS_SECRET_ACCESS_KEY": objects.secret}[name]
	}
	settings := Settings{Kind: S3, Bucket: objects.bucket, Region: objects.region, Endpoint: objects.URL, PathStyle: true, Env: env}
	if _, err := opened(t, settings).Lock(t.Context(), "apply", "0.1.0", 0); err == nil || !strings.Contains(err.Error(), "If-None-Match") {
		t.Errorf("a store without conditions: %v", err)
	}
	if len(objects.objects) != 0 {
		t.Errorf("it left %v", objects.objects)
	}
	// One that knows no conditional deletes gets plain ones.
	objects.careless, objects.noConditional = false, true
	s := opened(t, settings)
	l := locked(t, s)
	v, err := l.Put(sample("tor", 1500), "")
	must(t, err)
	must(t, l.Unlock())
	l = locked(t, s)
	if err := l.Delete("tor", v); err == nil {
		t.Error("an entry is deleted without its condition")
	}
	must(t, l.Unlock())
	// What else may be in the bucket.
	objects.objects["default/deeper/x.json"], objects.objects["default/README"] = []byte("{}"), []byte("x")
	if names, err := s.List(); err != nil || len(names) != 1 {
		t.Errorf("the list is %v, %v", names, err)
	}
	objects.objects["default/a b.json"] = []byte("{}")
	if names, err := s.List(); err == nil {
		t.Errorf("a name that no device has is listed: %v", names)
	}
}

// TestWholeLocks: a server that compares locks as a whole gives them back, and says
// which one is to be broken.
func TestWholeLocks(t *testing.T) {
	states := newStateServer(t, false)
	states.whole = true
	s := opened(t, Settings{Kind: HTTP, Address: states.URL + "/state/fabric/default"})
	l := locked(t, s)
	v, err := l.Put(sample("tor", 1500), "")
	must(t, err)
	must(t, l.Unlock())

	l = locked(t, s)
	_, err = l.Put(sample("tor", 9000), v)
	must(t, err)
	other := opened(t, Settings{Kind: HTTP, Address: states.URL + "/state/fabric/default"})
	if err := other.ForceUnlock("other"); err == nil || !strings.Contains(err.Error(), l.Holder.ID) {
		t.Errorf("the lock is broken by a wrong ID: %v", err)
	}
	must(t, other.ForceUnlock(l.Holder.ID))
	if err := other.ForceUnlock(l.Holder.ID); err == nil || !strings.Contains(err.Error(), "is not locked") {
		t.Errorf("nobody has the lock: %v", err)
	}
	after := locked(t, other)
	var lost *LostError
	if err := l.Sync(); err == nil || !strings.Contains(err.Error(), "or the lock was broken") {
		t.Errorf("a broken lock writes: %v", err)
	}
	if err := l.Unlock(); !errors.As(err, &lost) {
		t.Errorf("a broken lock is given back: %v", err)
	}
	must(t, after.Unlock())
	if len(states.locks) != 0 {
		t.Errorf("there is a lock: %s", states.locks)
	}
	if _, have, err := other.Get("tor"); err != nil || have != v {
		t.Errorf("the entry is %q, %v; it was %q", have, err, v)
	}
}

// TestGather: a state is not sent for each entry.
func TestGather(t *testing.T) {
	states := newStateServer(t, true)
	states.gitlab = true
	at := states.URL + "/s"
	s := opened(t, Settings{Kind: HTTP, Address: at, LockAddress: at + "/lock", LockMethod: "POST", UnlockMethod: "DELETE"})
	l := locked(t, s)
	sent := func() (n int) {
		for _, r := range states.seen {
			if r == "POST /s" {
				n++
			}
		}
		return n
	}
	for _, name := range []string{"a", "b", "c"} {
		_, err := l.Put(sample(name, 1500), "")
		must(t, err)
	}
	if sent() != 0 {
		t.Errorf("three entries in no time were sent %d times", sent())
	}
	must(t, s.sleep(t.Context(), gatherFor))
	_, err := l.Put(sample("d", 1500), "")
	must(t, err)
	if sent() != 1 {
		t.Errorf("after a while they were sent %d times", sent())
	}
	must(t, l.Sync())
	must(t, l.Unlock())
	if sent() != 1 {
		t.Errorf("without a change they were sent %d times", sent())
	}
}

// TestCommits: what is committed, and what is left alone.
func TestCommits(t *testing.T) {
	_, clones := workTrees(t, 1)
	dir := clones[0]
	must(t, os.WriteFile(filepath.Join(dir, "fabric.roce.hcl"), []byte("# changed\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "staged"), []byte("x"), 0o644))
	git(t, dir, "add", "staged")
	s := opened(t, Settings{Kind: Git, Source: filepath.Join(dir, "site", "record")})
	l := locked(t, s)
	v, err := l.Put(sample("tor", 1500), "")
	must(t, err)
	must(t, l.Unlock())
	if got := git(t, dir, "show", "--name-only", "--format=%s%n%an", "HEAD"); got != "rocec record: workspace default, 1 device [skip ci]\nrocec\n\nsite/record/default/.gitignore\nsite/record/default/tor.json\n" {
		t.Errorf("the commit is\n%s", got)
	}
	if got := git(t, dir, "status", "--porcelain"); got != " M fabric.roce.hcl\nA  staged\n" {
		t.Errorf("the work tree is\n%s", got)
	}
	head := git(t, dir, "rev-parse", "HEAD")
	l = locked(t, s)
	must(t, l.Unlock())
	if again := git(t, dir, "rev-parse", "HEAD"); again != head {
		t.Error("nothing is committed")
	}
	l = locked(t, s)
	must(t, l.Delete("tor", v))
	must(t, l.Unlock())
	if got := git(t, dir, "ls-tree", "-r", "--name-only", "HEAD", "site"); got != "site/record/default/.gitignore\n" {
		t.Errorf("after a delete there is\n%s", got)
	}
	if got := git(t, dir, "status", "--porcelain"); got != " M fabric.roce.hcl\nA  staged\n" {
		t.Errorf("the work tree is\n%s", got)
	}
}

// TestAdopts: what a process that died did not commit is in the next commit, and
// nothing else.
func TestAdopts(t *testing.T) {
	_, clones := workTrees(t, 1)
	dir := clones[0]
	must(t, os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte("record/\n"), 0o644)) // as where a lab is tried
	s := opened(t, Settings{Kind: Git, Source: filepath.Join(dir, "record")})
	next := func(commits int) {
		t.Helper()
		must(t, locked(t, s).Unlock())
		if got := git(t, dir, "rev-list", "--count", "HEAD"); got != fmt.Sprintln(commits) {
			t.Errorf("%s commits, not %d", strings.TrimSpace(got), commits)
		}
		if got := git(t, dir, "status", "--porcelain"); got != "" {
			t.Errorf("the work tree is\n%s", got)
		}
	}
	left := func(do func(l *Lock)) {
		t.Helper()
		l := locked(t, s)
		do(l)
		must(t, s.ForceUnlock(l.Holder.ID))
	}
	var tor, leaf string
	left(func(l *Lock) {
		var err error
		tor, err = l.Put(sample("tor", 1500), "")
		must(t, err)
		leaf, err = l.Put(sample("leaf", 1500), "")
		must(t, err)
	})
	next(2)
	if got := git(t, dir, "show", "--name-only", "--format=%s", "HEAD"); got != "rocec record: workspace default, 2 devices [skip ci]\n\nrecord/default/.gitignore\nrecord/default/leaf.json\nrecord/default/tor.json\n" {
		t.Errorf("the commit is\n%s", got)
	}
	left(func(l *Lock) {
		_, err := l.Put(sample("tor", 9000), tor)
		must(t, err)
		must(t, l.Delete("leaf", leaf))
	})
	next(3)
	if got := git(t, dir, "show", "--name-status", "--format=", "HEAD"); got != "D\trecord/default/leaf.json\nM\trecord/default/tor.json\n" {
		t.Errorf("the commit is\n%s", got)
	}
	git(t, dir, "read-tree", "HEAD^") // died between the commit and the index
	next(3)

	must(t, os.WriteFile(filepath.Join(dir, "record", "default", "tor.json"), []byte("<<<<<<< ours\n"), 0o644))
	must(t, locked(t, s).Unlock())
	if got := git(t, dir, "status", "--porcelain"); got != " M record/default/tor.json\n" {
		t.Errorf("what no rocec wrote is committed:\n%s", got)
	}
}

// TestPushes: somebody else pushes meanwhile.
func TestPushes(t *testing.T) {
	bare, clones := workTrees(t, 2)
	settings := func(i int) Settings {
		return Settings{Kind: Git, Source: filepath.Join(clones[i], "record"), Push: true, Branch: "main"}
	}
	elsewhere := func(name, text string) {
		t.Helper()
		dir := clones[1]
		git(t, dir, "fetch", "--quiet", "origin", "main")
		git(t, dir, "reset", "--quiet", "--hard", "FETCH_HEAD")
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		git(t, dir, "add", ".")
		git(t, dir, "commit", "--quiet", "-m", "elsewhere")
		git(t, dir, "push", "--quiet", "origin", "HEAD:main")
	}
	s := opened(t, settings(0))
	l := locked(t, s)
	v, err := l.Put(sample("tor", 1500), "")
	must(t, err)
	elsewhere("fabric.roce.hcl", "# of somebody else\n")
	must(t, l.Unlock())
	if got := git(t, bare, "log", "--format=%s", "main"); got != "rocec record: workspace default, 1 device [skip ci]\nelsewhere\nfirst\n" {
		t.Errorf("the branch is\n%s", got)
	}
	if got := git(t, clones[0], "status", "--porcelain"); got != "" {
		t.Errorf("the work tree is\n%s", got)
	}
	// The same entry changed: nothing is pushed over it.
	l = locked(t, s)
	_, err = l.Put(sample("tor", 9000), v)
	must(t, err)
	elsewhere("record/default/tor.json", "{}\n")
	var moved *ConflictError
	if err := l.Sync(); !errors.As(err, &moved) {
		t.Errorf("an entry that changed on the branch too: %v", err)
	}
	if err := l.Unlock(); !errors.As(err, &moved) {
		t.Errorf("an entry that changed on the branch too: %v", err)
	}
	if got := git(t, bare, "show", "main:record/default/tor.json"); got != "{}\n" {
		t.Errorf("the entry is now %s", got)
	}
	// A remote that refuses.
	must(t, os.WriteFile(filepath.Join(bare, "hooks", "update"), []byte("#!/bin/sh\ncase $1 in refs/heads/*) echo 'protected https://ci:hunter2@example.net' >&2; exit 1;; esac\n"), 0o755))
	s = opened(t, settings(0))
	l = locked(t, s)
	_, err = l.Put(sample("leaf", 9000), "")
	must(t, err)
	if err := l.Unlock(); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "git push") {
		t.Errorf("a remote that refuses: %v", err)
	}
	if refs := git(t, bare, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main\n" {
		t.Errorf("on the remote there are\n%s", refs)
	}
}
