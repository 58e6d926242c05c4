package windows

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
)

// TestAddressImpact: a change that would leave an address beside those that are wanted is
// refused before a session changes anything, with what to type; one that only adds is not.
func TestAddressImpact(t *testing.T) {
	for _, c := range []struct {
		have, says string
	}{
		{"", ""},
		{"10.71.1.11/24", ""},
		{"10.71.5.11/24", "Remove-NetIPAddress -IPAddress 10.71.5.11, then apply again"},
		{"10.71.1.11/24 10.71.5.11/24 fd00::1/64", "on the host, Remove-NetIPAddress -IPAddress 10.71.5.11; Remove-NetIPAddress -IPAddress fd00::1, then"},
		{"10.71.1.11/16", ""}, // which is set
	} {
		want := s2d()
		want.Ifaces[0].Addresses = intent.Some([]netip.Prefix{netip.MustParsePrefix("10.71.1.11/24")})
		have := s2d()
		list := []netip.Prefix{}
		for _, a := range strings.Fields(c.have) {
			list = append(list, netip.MustParsePrefix(a))
		}
		have.Ifaces[0].Addresses = intent.Some(list)
		said, withheld := "", false
		for _, x := range intent.Diff(want, have) {
			if x.Path.Field == "address" {
				i := plan.Impact(&Target, want, x)
				said, withheld = i.Note, i.Withheld
			}
		}
		if withheld != (c.says != "") || strings.Contains(said, "none") || !strings.Contains(said, c.says) {
			t.Errorf("%q: withheld %t: %s", c.have, withheld, said)
		}
	}
}
