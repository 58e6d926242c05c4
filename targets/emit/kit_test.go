package emit

import (
	"strings"
	"testing"
)

// TestKit: whatever a file is made of is in the digest, and no two lists of
// files have one.
func TestKit(t *testing.T) {
	base := []Artifact{{Path: "a", Mode: 0o755, Step: Apply, Bytes: []byte("one")}, {Path: "b", Mode: 0o644, Step: Data, Bytes: []byte("two")}}
	k := NewKit("linux", base)
	if !strings.HasPrefix(k.Name, "linux-") || len(k.Name) != len("linux-")+12 || !strings.HasPrefix(k.Digest, "sha256:"+k.Name[6:]) {
		t.Errorf("%q of %q", k.Name, k.Digest)
	}
	if k.Folder() != "../common/"+k.Name {
		t.Error(k.Folder())
	}
	seen := map[string]string{k.Digest: "the kit itself"}
	for name, files := range map[string][]Artifact{
		"path":  {{Path: "c", Mode: 0o755, Step: Apply, Bytes: []byte("one")}, base[1]},
		"mode":  {{Path: "a", Mode: 0o644, Step: Apply, Bytes: []byte("one")}, base[1]},
		"step":  {{Path: "a", Mode: 0o755, Step: Verify, Bytes: []byte("one")}, base[1]},
		"bytes": {{Path: "a", Mode: 0o755, Step: Apply, Bytes: []byte("on")}, base[1]},
		"fewer": base[:1],
		"moved": {{Path: "a", Mode: 0o755, Step: Apply, Bytes: []byte("onetwo")}, {Path: "b", Mode: 0o644, Step: Data}},
	} {
		d := NewKit("linux", files).Digest
		if seen[d] != "" {
			t.Errorf("%s: the digest is that of %s", name, seen[d])
		}
		seen[d] = name
	}
	if NewKit("linux", base).Digest != k.Digest {
		t.Error("two kits of the same files differ")
	}
	var o Out
	o.Use(k)
	o.Use(k)
	if len(o.Kits) != 1 {
		t.Errorf("%d kits", len(o.Kits))
	}
}
