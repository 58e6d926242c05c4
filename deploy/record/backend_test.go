package record

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocec/rocec/compiler/intent"
)

// place is somewhere a record can be: open names it again, as another process
// does.
type place struct {
	name string
	open func(t testing.TB) *Store
	// tells is false where nobody is told who has the lock but who asks for it.
	tells bool
}

// quick makes waiting take no time, on a clock that it moves.
func quick(s *Store) *Store {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var mu sync.Mutex
	s.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	s.sleep = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
		return ctx.Err()
	}
	switch b := s.backend.(type) {
	case *server:
		b.caller.sleep, b.now = s.sleep, s.now
	case *bucket:
		b.caller.sleep, b.now = s.sleep, s.now
	case *pushed:
		b.sleep = s.sleep
	}
	return s
}

func opened(t testing.TB, s Settings) *Store {
	t.Helper()
	store, err := OpenAt(s, "default")
	if err != nil {
		t.Fatal(err)
	}
	return quick(store)
}

// git runs the program in a folder.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// nobody takes away whatever git knows of who runs the tests: settings, the environment, and what it makes of account and host.
func nobody(t testing.TB, config string) {
	t.Helper()
	must(t, os.WriteFile(config, []byte("[user]\n\tuseConfigOnly = true\n"), 0o600))
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"} {
		t.Setenv(name, "") // so that it comes back
		os.Unsetenv(name)
	}
}

// workTrees is a bare repository and clones of it.
func workTrees(t testing.TB, n int) (bare string, clones []string) {
	t.Helper()
	root := t.TempDir()
	nobody(t, filepath.Join(root, "gitconfig"))
	bare = filepath.Join(root, "bare.git")
	git(t, root, "init", "--quiet", "--bare", "--initial-branch=main", bare)
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("clone%d", i))
		git(t, root, "clone", "--quiet", bare, dir)
		if i == 0 {
			if err := os.WriteFile(filepath.Join(dir, "fabric.roce.hcl"), []byte("# a fabric\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "add", ".")
			git(t, dir, "commit", "--quiet", "-m", "first")
			git(t, dir, "push", "--quiet", "origin", "HEAD:main")
		}
		clones = append(clones, dir)
	}
	return bare, clones
}

// places are all of them; each call makes new ones.
func places(t testing.TB) []place {
	t.Helper()
	dir := t.TempDir()
	_, clones := workTrees(t, 2)
	terraform, gitlab := newStateServer(t, false), newStateServer(t, true)
	gitlab.user, gitlab.password = "ci", "hunter2"
	amazon := newBucketServer(t)
	env := func(name string) string {
		return map[string]string{"CI_USER": "ci", "CI_TOKEN": "hunter2", "AWS_ACCESS_KEY_ID": amazon.keyID, "AWS_SECRET_ACCESS_KEY": amazon.secret}[name]
	}
	n := 0
	return []place{
		{"folder", func(t testing.TB) *Store { return opened(t, Settings{Source: dir}) }, true},
		{"work tree", func(t testing.TB) *Store {
			return opened(t, Settings{Kind: Git, Source: filepath.Join(clones[0], "site", "record")})
		}, true},
		{"work tree with a remote", func(t testing.TB) *Store {
			return opened(t, Settings{Kind: Git, Source: filepath.Join(clones[0], "record"), Remote: "origin"})
		}, true},
		{"branch", func(t testing.TB) *Store {
			n++ // from another clone each time
			return opened(t, Settings{Kind: Git, Source: filepath.Join(clones[n%len(clones)], "pushed"), Push: true, Branch: "records"})
		}, true},
		{"terraform", func(t testing.TB) *Store {
			return opened(t, Settings{Kind: HTTP, Address: terraform.URL + "/state/fabric"})
		}, false},
		{"gitlab", func(t testing.TB) *Store {
			at := gitlab.URL + "/api/v4/projects/1/terraform/state/{workspace}"
			return opened(t, Settings{Kind: HTTP, Address: at, LockAddress: at + "/lock", LockMethod: "POST", UnlockMethod: "DELETE", UsernameEnv: "CI_USER", PasswordEnv: "CI_TOKEN", Env: env})
		}, false},
		{"s3 by path", func(t testing.TB) *Store {
			return opened(t, Settings{Kind: S3, Bucket: amazon.bucket, Region: amazon.region, Endpoint: amazon.URL, Prefix: "sites/fra 1+", PathStyle: true, Env: env})
		}, true},
		{"s3 by host", func(t testing.TB) *Store {
			s := opened(t, Settings{Kind: S3, Bucket: amazon.bucket, Region: amazon.region, Endpoint: strings.Replace(amazon.URL, "127.0.0.1", "localhost", 1), Prefix: "by/host", Env: env})
			s.backend.(*bucket).client.Transport = &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) { // no name server knows the bucket
				return (&net.Dialer{}).DialContext(ctx, network, amazon.Listener.Addr().String())
			}}
			return s
		}, true},
	}
}

func sample(name string, mtu uint16) *Entry {
	d := &intent.Device{
		Version: intent.Version, Name: name, Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202405"}, Model: "dell/s5232f",
		Ports: []intent.Port{{Name: "Ethernet0", MTU: intent.Some(mtu), QoS: "roce"}},
	}
	return &Entry{
		Device: name, Address: "switch." + name, Emitter: "sonic", Status: HandedOver, IntentDigest: intent.Digest(d), SourcesDigest: Digest(nil),
		Artifacts: map[string]string{"apply.sh": Digest([]byte("a"))}, Inputs: map[string]string{"port Ethernet0 cable": "3m <dac>"}, Intent: d,
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func locked(t testing.TB, s *Store) *Lock {
	t.Helper()
	l, err := s.Lock(t.Context(), "apply", "0.1.0", 0)
	must(t, err)
	return l
}

// TestBackends: every place keeps what it is given, in the same bytes, and tells
// who changed it since.
func TestBackends(t *testing.T) {
	var exports []string
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			s := p.open(t)
			if names, err := s.List(); err != nil || len(names) != 0 {
				t.Fatalf("at first there is %v, %v", names, err)
			}
			if e, v, err := s.Get("tor"); e != nil || v != "" || err != nil {
				t.Fatalf("at first tor is %v, %q, %v", e, v, err)
			}
			l := locked(t, s)
			var versions []string
			for i, name := range []string{"tor", "leaf-1", "leaf-2", "n.1"} {
				v, err := l.Put(sample(name, uint16(1500+i)), "")
				must(t, err)
				versions = append(versions, v)
			}
			if e, v, err := s.Get("tor"); err != nil || v != versions[0] || e.Intent.Ports[0].MTU.Value != 1500 {
				t.Fatalf("what was put is %v, %q, %v", e, v, err)
			}
			var moved *ConflictError
			if _, err := l.Put(sample("tor", 9000), ""); !errors.As(err, &moved) || moved.Have != versions[0] {
				t.Errorf("an entry that is there is put as a new one: %v", err)
			}
			if _, err := l.Put(sample("tor", 9000), versions[1]); !errors.As(err, &moved) {
				t.Errorf("an entry is replaced by who read another: %v", err)
			}
			if err := l.Delete("tor", versions[1]); !errors.As(err, &moved) {
				t.Errorf("an entry is deleted by who read another: %v", err)
			}
			if err := l.Delete("never", versions[1]); !errors.As(err, &moved) || moved.Have != "" {
				t.Errorf("an entry is deleted that is not there: %v", err)
			}
			if _, err := l.Put(sample("TOR", 9000), ""); err == nil || !strings.Contains(err.Error(), "case only") {
				t.Errorf("names that differ in case only: %v", err)
			}
			v, err := l.Put(sample("tor", 9000), versions[0])
			must(t, err)
			must(t, l.Sync())
			must(t, l.Delete("n.1", versions[3]))
			must(t, l.Unlock())

			again := p.open(t)
			if names, err := again.List(); err != nil || !slices.Equal(names, []string{"leaf-1", "leaf-2", "tor"}) {
				t.Errorf("another process finds %v, %v", names, err)
			}
			e, have, err := again.Get("tor")
			if err != nil || have != v || e.Intent.Ports[0].MTU.Value != 9000 {
				t.Errorf("another process reads %v, %q, %v", e, have, err)
			}
			want := sample("tor", 9000)
			if e, have, err := again.GetUnless(want.Intent, want.IntentDigest); err != nil || have != v || e.Intent != nil {
				t.Errorf("an entry that is as it should be: %v, %q, %v", e, have, err)
			}
			if list, err := again.All(); err != nil || len(list) != 3 {
				t.Errorf("all are %d, %v", len(list), err)
			}
			var b strings.Builder
			must(t, again.Export(&b))
			exports = append(exports, b.String())
			if b.String() != exports[0] {
				t.Errorf("the export is\n%s\nand elsewhere\n%s", b.String(), exports[0])
			}
			l = locked(t, again)
			must(t, l.Delete("tor", v))
			must(t, l.Unlock())
			if e, _, err := p.open(t).Get("tor"); e != nil || err != nil {
				t.Errorf("a deleted entry is %v, %v", e, err)
			}
		})
	}
}

// TestLocks: one at a time, the other is told who; it may wait; a broken lock
// writes no more.
func TestLocks(t *testing.T) {
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			a, b := p.open(t), p.open(t)
			held := locked(t, a)
			var busy *LockedError
			_, err := b.Lock(t.Context(), "verify", "0.1.0", 0)
			if !errors.As(err, &busy) || busy.Holder.ID != held.Holder.ID || busy.Workspace != "default" {
				t.Fatalf("a second lock: %v", err)
			}
			parts := []string{held.Holder.ID, "since 2026-01-02T03:04:05Z", held.Holder.Who}
			if p.name != "gitlab" { // which does not say
				parts = append(parts, `for "apply"`)
			}
			for _, part := range parts {
				if !strings.Contains(busy.Error(), part) {
					t.Errorf("%q is not in %q", part, busy)
				}
			}
			if strings.Contains(busy.Error(), "verify") {
				t.Errorf("what the other is for is not what this one is for: %s", busy)
			}
			begun := b.now()
			if _, err := b.Lock(t.Context(), "verify", "0.1.0", 6*time.Second); !errors.As(err, &busy) || busy.Age < 3*time.Second || !strings.Contains(busy.Error(), " ago)") {
				t.Errorf("a lock that waits in vain: %v", err)
			}
			if waited := b.now().Sub(begun); waited < 3*time.Second || waited > 6*time.Second {
				t.Errorf("it waited for %s", waited)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := b.Lock(ctx, "verify", "0.1.0", time.Hour); !errors.Is(err, context.Canceled) {
				t.Errorf("a wait that is interrupted: %v", err)
			}
			if h, err := b.Holder(); err != nil || p.tells && (h == nil || h.ID != held.Holder.ID) {
				t.Errorf("the holder is %v, %v", h, err)
			}
			// Given back while the other waits.
			wait := b.sleep
			b.sleep = func(ctx context.Context, d time.Duration) error {
				if held != nil {
					if err := held.Unlock(); err != nil {
						t.Error(err)
					}
					held = nil
				}
				return wait(ctx, d)
			}
			next, err := b.Lock(t.Context(), "verify", "0.1.0", time.Hour)
			must(t, err)
			v, err := next.Put(sample("tor", 1500), "")
			must(t, err)
			must(t, next.Sync())

			if err := a.ForceUnlock("wrong"); err == nil {
				t.Error("a wrong ID breaks the lock")
			}
			must(t, a.ForceUnlock(next.Holder.ID))
			if err := a.ForceUnlock(next.Holder.ID); err == nil {
				t.Error("a lock is broken twice")
			}
			after := locked(t, p.open(t))
			var lost *LostError
			_, err = next.Put(sample("tor", 9000), v)
			if err == nil {
				err = next.Sync()
			}
			if !errors.As(err, &lost) {
				t.Errorf("a broken lock writes: %v", err)
			}
			if err := next.Unlock(); !errors.As(err, &lost) {
				t.Errorf("a broken lock is given back: %v", err)
			}
			if _, have, err := p.open(t).Get("tor"); err != nil || have != v {
				t.Errorf("after all the entry is %q, %v; it was %q", have, err, v)
			}
			must(t, after.Unlock())
		})
	}
}

// TestLockRace: of many who ask at once, one has it.
func TestLockRace(t *testing.T) {
	for _, p := range places(t) {
		if strings.HasPrefix(p.name, "work tree") {
			continue // its locks are those of the folder and of the branch
		}
		t.Run(p.name, func(t *testing.T) {
			var stores []*Store
			for range 4 {
				stores = append(stores, p.open(t))
			}
			var wg sync.WaitGroup
			var mu sync.Mutex
			var won []*Lock
			for _, s := range stores {
				wg.Go(func() {
					l, err := s.Lock(context.Background(), "apply", "0.1.0", 0)
					var busy *LockedError
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						won = append(won, l)
					case !errors.As(err, &busy):
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if len(won) != 1 {
				t.Fatalf("%d of 4 have the lock", len(won))
			}
			must(t, won[0].Unlock())
		})
	}
}

// faulty is a backend that fails now and then, before or after it did what it was
// asked.
type faulty struct {
	Backend
	dice *rand.Rand
}

var errFault = errors.New("the wire is cut")

func (f *faulty) maybe(do func() error) error {
	switch f.dice.IntN(6) {
	case 0:
		return errFault
	case 1:
		if err := do(); err != nil {
			return err
		}
		return errFault
	}
	return do()
}

func (f *faulty) Put(ctx context.Context, id, device string, b []byte, version string) error {
	return f.maybe(func() error { return f.Backend.Put(ctx, id, device, b, version) })
}

func (f *faulty) Sync(ctx context.Context, id string) error {
	return f.maybe(func() error { return f.Backend.Sync(ctx, id) })
}

func (f *faulty) Lock(ctx context.Context, h Holder) error {
	return f.maybe(func() error { return f.Backend.Lock(ctx, h) })
}

func (f *faulty) Unlock(ctx context.Context, id string) error {
	return f.maybe(func() error { return f.Backend.Unlock(ctx, id) })
}

// TestFaults: whatever fails, every entry is one that somebody put there, whole;
// what a run without an error put is there; and a lock that is left can be broken.
func TestFaults(t *testing.T) {
	const runs = 12
	for _, p := range places(t) {
		if strings.HasPrefix(p.name, "work tree") {
			continue // its entries are those of the folder, its commits have TestCommits
		}
		t.Run(p.name, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(7, 11))
			tried := map[uint16]bool{0: true}
			last := uint16(0)
			for run := range runs {
				if run == 3 && p.name == "branch" {
					break // programs take their time
				}
				s := p.open(t)
				clean := s.backend
				s.backend = &faulty{clean, dice}
				mtu := uint16(1000 + run)
				good := func() bool {
					l, err := s.Lock(t.Context(), "apply", "0.1.0", 0)
					if err != nil {
						return false
					}
					_, version, err := s.Get("tor")
					must(t, err)
					tried[mtu] = true
					_, err = l.Put(sample("tor", mtu), version)
					e := l.Unlock()
					return err == nil && e == nil
				}()
				found := uint16(0)
				e, _, err := p.open(t).Get("tor")
				must(t, err)
				if e != nil {
					found = e.Intent.Ports[0].MTU.Value
				}
				if !tried[found] || good && found != mtu || found < last {
					t.Fatalf("run %d, without an error %t: the entry is of run %d, before it was %d", run, good, found, last)
				}
				last = found
				// A lock that was left.
				next := p.open(t)
				l, err := next.Lock(t.Context(), "apply", "0.1.0", 0)
				var busy *LockedError
				if errors.As(err, &busy) {
					must(t, next.ForceUnlock(busy.Holder.ID))
					l, err = next.Lock(t.Context(), "apply", "0.1.0", 0)
				}
				must(t, err)
				must(t, l.Unlock())
			}
		})
	}
}
