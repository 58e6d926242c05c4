package lint_test

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/lint"
)

// TestWordsNear: slips are told at the rarer word, and what people call things alike is not.
func TestWordsNear(t *testing.T) {
	with := func(attr, first, second string) string {
		return strings.ReplaceAll(lint.Clusters(first, second), "cluster  =", attr+" =")
	}
	for _, x := range []struct{ attr, first, second, want string }{
		{"cluster", "storage", "stroage", `ROCE924: cluster "stroage" is almost "storage"`},
		{"cluster", "s2b", "s2d", `ROCE924: cluster "s2d" is almost "s2b"`},
		{"tenant", "acme", "amce", `ROCE924: tenant "amce" is almost "acme"`},
		{"tenant", "customer", "cutsomer", `ROCE924: tenant "cutsomer" is almost "customer"`},
		{"site", "harbour", "harbor", `ROCE924: site "harbour" is almost "harbor"`},
		{"rack", "west-12", "wset-13", `ROCE924: rack "wset-13" is almost "west-12"`},
		{"role", "gpu", "gup", `ROCE924: role "gup" is almost "gpu"`},
		{"rack", "r1", "r2", ""},
		{"rack", "r1a", "r1c", ""},
		{"rack", "row-a1", "row-b2", ""},
		{"rack", "1a", "1b", ""},
		{"cluster", "stor", "store", ""},
		{"cluster", "gpu", "cpu", ""},
		{"cluster", "east", "west", ""},
		{"cluster", "vrfa", "vrfb", ""},
		{"tenant", "t-a", "t-c", ""},
		{"tenant", "blue", "green", ""},
		{"site", "a", "b", ""},
	} {
		got := strings.Join(findings(compiled(t, with(x.attr, x.first, x.second)), "ROCE924"), "\n")
		if got != x.want {
			t.Errorf("%s %q and %q: %q, not %q", x.attr, x.first, x.second, got, x.want)
		}
	}
	vrf := lint.TwoNodesEdit("  mtu      = 9000\n}\nswitch", "  mtu      = 9000\n  vrf    = \"gpu\"\n}\nsegment \"other\" {\n  vlan = 200\n  vrf  = \"gup\"\n}\nswitch")
	if got := strings.Join(findings(compiled(t, vrf), "ROCE924"), "\n"); got != `ROCE924: vrf "gup" is almost "gpu"` {
		t.Errorf("vrf: %q", got)
	}
}
