package apply

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"
)

// TestManifestEncode: a manifest is written as encoding/json writes it, whatever
// is in it: every field, and texts that have to be escaped.
func TestManifestEncode(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	check := func(m *Manifest) {
		t.Helper()
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(m); err != nil {
			t.Fatal(err)
		}
		got, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want.String(), string(got)); d != "" {
			t.Fatalf("-library +own:\n%s", d)
		}
	}
	check(&Manifest{})
	check(newManifest(Source{}))
	check(&Manifest{Devices: map[string]ManifestDevice{"": {}, "a": {Artifacts: []ManifestArtifact{}, Common: []string{"<&>", "a\"b\\", "\u2028", "\xff\x00"}}}, Sources: map[string]string{}})
	for range 50 {
		m, ok := quick.Value(reflect.TypeFor[Manifest](), random)
		if !ok {
			t.Fatal("no manifest at random")
		}
		x := m.Interface().(Manifest)
		check(&x)
	}
}
