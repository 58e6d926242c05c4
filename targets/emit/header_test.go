package emit

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
)

func TestHeader(t *testing.T) {
	d := &intent.Device{Name: "leaf1\n#> Remove-Item", Kind: intent.Switch}
	got := (&Out{}).File("a", 0o644, Apply).Header(d)
	if len(got) != 2 || got[0] != "made by rocec for leaf1 #`> Remove-Item" || got[1] != "intent "+intent.Digest(d) {
		t.Errorf("%q", got)
	}
	if strings.ContainsAny(strings.Join(got, ""), "\r\n") {
		t.Errorf("line break in %q", got)
	}
}
