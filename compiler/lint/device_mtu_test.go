package lint_test

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/lint"
)

// TestDeviceMTU: an MTU of a switch that a port of it does not have is told, once, and one
// that every port can keep is not.
func TestDeviceMTU(t *testing.T) {
	good := lint.Find("ROCE806").Good
	at := `switch "tor" {`
	for _, c := range []struct{ name, text, want string }{
		{"below its segment", strings.Replace(good, at, at+"\n  mtu = 1500", 1), "mtu 1500 of tor does not hold: its port tor/Ethernet0 takes 9216, and the peer n1/rail0 sends 9000"},
		{"by defaults", good + "defaults \"switch\" {\n  mtu = 1500\n}\n", ""},
		{"as its segment", strings.Replace(good, at, at+"\n  mtu = 9000", 1), ""},
		{"above its segment", strings.Replace(good, at, at+"\n  mtu = 9100", 1), ""},
		{"by override", good + "override {\n  on      = switch.tor\n  set     = { mtu = 1500 }\n  reason  = \"r\"\n  expires = \"2099-01-01\"\n}\n", "mtu 1500 of tor does not hold"},
	} {
		found := findings(compiled(t, c.text), "ROCE806")
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || !strings.Contains(found[0], c.want)) {
			t.Errorf("%s: %q", c.name, found)
		}
	}
}
