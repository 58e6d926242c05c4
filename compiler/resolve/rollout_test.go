package resolve

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
)

// TestManyWaves: each glob looks at devices, and not at every other wave, which would
// outlast the test.
func TestManyWaves(t *testing.T) {
	const waves = 10_000
	var b strings.Builder
	b.WriteString("node \"n\" {\n  for_each = toset([\"a\", \"b\", \"c\"])\n  os = \"ubuntu/24.04\"\n}\nrollout {\n")
	for i := range waves {
		fmt.Fprintf(&b, "  wave \"w%d\" {\n    select = [%q]\n  }\n", i, []string{`node.n["a"]`, "*"}[min(i, 1)])
	}
	b.WriteString("}\n")
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(b.String())}}, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatal(diags[0])
	}
	_, diags = Fabric(cfg)
	if len(diags) != waves-2 || !strings.HasPrefix(diags[0].Summary, "wave w2 has no device of its own") {
		t.Errorf("%d findings, %v first", len(diags), diags[0])
	}
}
