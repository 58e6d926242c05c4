package resolve

import (
	"fmt"
	"strings"
	"testing"
)

// TestTeamAddress: a SET team takes no address from its untagged segment, as a vSwitch has none, unless one is written or asked for by a subnet or a
// tagged segment; any other bond does.
func TestTeamAddress(t *testing.T) {
	const node = `
segment "mgmt" {
  vlan   = 10
  subnet = "10.10.10.0/24"
  mtu    = 9000
}
node "hv" {
  os   = "windows-server/2025"
  slot = 1
  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
    speed = "25G"
  }
  bond "team" {
    mode    = %q
    members = "p[0-1]"
    %s
  }
  interface "Mgmt" {
    on       = "team"
    untagged = segment.mgmt
  }
}
`
	for _, c := range []struct {
		mode, more string
		want       int // interfaces of the bond itself
	}{
		{"set", "untagged = segment.mgmt", 0},
		{"set", "untagged = segment.mgmt\n    address = \"10.10.10.99/24\"", 1},
		{"set", "untagged = segment.mgmt\n    subnet = \"10.10.11.0/24\"", 1},
		{"set", "segment = segment.mgmt", 1},
		{"static", "untagged = segment.mgmt", 1},
	} {
		f := load(t, contract+fmt.Sprintf(node, c.mode, c.more))
		got := 0
		for i := range f.Ifaces {
			if f.Text(f.Ifaces[i].Name) == "team" || strings.HasPrefix(f.Text(f.Ifaces[i].Name), "team.") {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s, %s: %d interfaces of the team, not %d", c.mode, c.more, got, c.want)
		}
	}
}
