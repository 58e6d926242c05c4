package oracle

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// recorder stands in for the test of a target, to see what a checker makes of it.
type recorder struct {
	testing.TB
	failed, skipped []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatal(args ...any) {
	r.failed = append(r.failed, fmt.Sprint(args...))
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skip(args ...any) {
	r.skipped = append(r.skipped, fmt.Sprint(args...))
	runtime.Goexit()
}

// record runs check against a recorder, to its end or to where it stopped itself.
func record(t *testing.T, check func(t testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(r)
	}()
	<-done
	return r
}

// rejects demands that check fails its test with a message that has want in it.
func rejects(t *testing.T, want string, check func(t testing.TB)) {
	t.Helper()
	r := record(t, check)
	if all := strings.Join(r.failed, "\n"); len(r.failed) == 0 || !strings.Contains(all, want) {
		t.Errorf("failures %q, want one about %q", all, want)
	}
}

// accepts demands that check neither fails nor skips its test.
func accepts(t *testing.T, check func(t testing.TB)) {
	t.Helper()
	if r := record(t, check); len(r.failed)+len(r.skipped) > 0 {
		t.Errorf("failed %q, skipped %q", r.failed, r.skipped)
	}
}

func TestNeed(t *testing.T) {
	const absent = "rocec-no-such-program"
	t.Setenv(checksEnv, "")
	r := record(t, func(t testing.TB) { Need(t, absent) })
	if len(r.skipped) != 1 || !strings.Contains(r.skipped[0], "apt-get install --no-install-recommends "+absent) || len(r.failed) != 0 {
		t.Errorf("skipped %q, failed %q; want one skip that says how to install it", r.skipped, r.failed)
	}
	t.Setenv(checksEnv, "required")
	rejects(t, absent+" is not installed", func(t testing.TB) { Need(t, absent) })
	accepts(t, func(t testing.TB) { Need(t, "go") })
}

// TestNeedOthers: texts that others wrote and that are not there are missed like programs, with where they come from.
func TestNeedOthers(t *testing.T) {
	for _, folder := range []string{t.TempDir(), "no/such/folder"} {
		t.Setenv(othersEnv, folder)
		t.Setenv(checksEnv, "")
		r := record(t, func(t testing.TB) { Need(t, SONiCModels) })
		said := strings.Join(append(r.skipped, r.failed...), "\n")
		if len(r.skipped) != 1 || strings.Contains(said, "\n") || !strings.Contains(said, ".ci/oracles") || !strings.Contains(said, "086b03bd") {
			t.Errorf("%s: skipped %q, failed %q; want one skip of one line that says where they come from", folder, r.skipped, r.failed)
		}
		t.Setenv(checksEnv, "required")
		rejects(t, "nothing is held against sonic-yang", func(t testing.TB) { Need(t, SONiCModels) })
	}
}

func TestNeedHostsInShortRun(t *testing.T) {
	t.Setenv(checksEnv, "required")
	t.Setenv("PATH", t.TempDir()) // nothing that they need is found
	for _, tool := range []string{Guest, Namespaces} {
		r := record(t, func(t testing.TB) { Need(t, tool) })
		if skipped := len(r.skipped) > 0; skipped != testing.Short() {
			t.Errorf("%s: skipped %q under short=%v; only the short run may skip it", tool, r.skipped, testing.Short())
		}
		if failed := len(r.failed) > 0; failed == testing.Short() {
			t.Errorf("%s: failed %q under short=%v", tool, r.failed, testing.Short())
		}
	}
}
