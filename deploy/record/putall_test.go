package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPutAll: whoever puts many finds each of them afterwards, from elsewhere too;
// what moved is refused, and so is what differs in case only.
func TestPutAll(t *testing.T) {
	const many = 20
	list := func(mtu uint16, expected map[string]string) []Change {
		var out []Change
		for i := range many {
			e := sample(fmt.Sprintf("sw%02d", i), mtu)
			out = append(out, Change{e, expected[e.Device]})
		}
		return out
	}
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			l := locked(t, p.open(t))
			must(t, l.PutAll(nil))
			must(t, l.PutAll(list(1500, nil)))
			versions := map[string]string{}
			for i := range many {
				name := fmt.Sprintf("sw%02d", i)
				e, version, err := l.Store().Get(name)
				must(t, err)
				if e == nil || e.Intent.Ports[0].MTU.Value != 1500 {
					t.Fatalf("%s is %+v", name, e)
				}
				versions[name] = version
			}
			var moved *ConflictError
			if err := l.PutAll(list(9000, nil)); !errors.As(err, &moved) {
				t.Fatalf("entries that are there already were replaced: %v", err)
			}
			if err := l.PutAll([]Change{{sample("SW01", 1500), ""}, {sample("other", 1500), ""}}); err == nil || !strings.Contains(err.Error(), "case only") {
				t.Fatalf("a name that differs in case only: %v", err)
			}
			must(t, l.PutAll(list(9000, versions)))
			must(t, l.Unlock())
			entries, err := p.open(t).All()
			must(t, err)
			var got []string
			for _, e := range entries {
				got = append(got, fmt.Sprint(e.Device, " ", e.Intent.Ports[0].MTU.Value))
			}
			var want []string
			for i := range many {
				want = append(want, fmt.Sprintf("sw%02d 9000", i))
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestPutAllLeaves: a file that cannot be replaced fails the call, leaves every
// entry as it was or new, and nothing pending behind.
func TestPutAllLeaves(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, "default")
	must(t, err)
	l := locked(t, s)
	must(t, os.Mkdir(filepath.Join(dir, "default", "b.json"), 0o755)) // no file can take its place
	if err := l.PutAll([]Change{{sample("a", 1500), ""}, {sample("b", 1500), ""}, {sample("c", 1500), ""}}); err == nil {
		t.Fatal("a folder was replaced by an entry")
	}
	must(t, os.Remove(filepath.Join(dir, "default", "b.json")))
	must(t, l.Unlock())
	left, err := filepath.Glob(filepath.Join(dir, "default", ".*.json*"))
	must(t, err)
	for _, name := range left {
		if leftover().MatchString(filepath.Base(name)) {
			t.Errorf("%s is left", name)
		}
	}
	if _, err := s.All(); err != nil {
		t.Error(err)
	}
}
