package verify_test

import (
	"path/filepath"
	"testing"

	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/source"
)

// TestLabelEntersOnce: a capture is digested for the first finding in it, and not
// for each of them.
func TestLabelEntersOnce(t *testing.T) {
	dir := t.TempDir()
	save(t, filepath.Join(dir, "tor", "state.json"), "{}\n")
	files := source.NewFiles()
	captured, err := verify.Files(dir, want("tor", 1), fake, files)
	if err != nil {
		t.Fatal(err)
	}
	first := captured.Label("state.json", 0, 1).Span
	digest := files.Digest(first.File)
	captured.Files["state.json"] = []byte("another text")
	if second := captured.Label("state.json", 1, 1).Span; second.File != first.File || first.IsZero() {
		t.Errorf("%+v, then %+v", first, second)
	}
	if files.Digest(first.File) != digest {
		t.Error("the second finding digested the file anew")
	}
}
