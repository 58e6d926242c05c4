package sonicent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

// lists is a switch whose first port has access lists of IPv4 and IPv6.
func lists(four, six string) string {
	return "!\nip access-list four\n" + four + "!\nipv6 access-list six\n" + six +
		"!\ninterface Eth1/1\n mtu 9216\n ip access-group four in\n ipv6 access-group six in\n!\n"
}

// TestDenied: a port drops RoCEv2 if its lists do so for both versions of IP,
// before a rule lets anything in, whoever made them.
func TestDenied(t *testing.T) {
	const drop = " seq 10 deny udp any any eq 4791\n"
	both := []intent.RDMA{intent.RoCEv2}
	for name, c := range map[string]struct {
		text string
		want []intent.RDMA
	}{
		"both":            {lists(drop+" seq 20 permit ip any any\n", drop), both},
		"remark":          {lists(" seq 10 deny udp any any eq 4791 remark no RDMA\n", drop), both},
		"denied before":   {lists(" seq 5 deny tcp any any\n"+drop, drop), both},
		"one":             {lists(drop, " seq 20 permit ipv6 any any\n"), nil},
		"permitted":       {lists(drop, strings.Replace(drop, "deny", "permit", 1)), nil},
		"let in before":   {lists(" seq 5 permit ip any any\n"+drop, drop), nil},
		"let in after":    {lists(drop+" seq 11 permit udp any any eq 4791\n", drop), both},
		"another port":    {lists(drop, " seq 10 deny udp any any eq 4792\n"), nil},
		"the source port": {lists(drop, " seq 10 deny udp any eq 4791 any\n"), nil},
		"one VLAN":        {lists(drop, " seq 10 deny udp any any eq 4791 vlan 7\n"), nil},
		"outbound":        {strings.Replace(lists(drop, drop), "six in", "six out", 1), nil},
		"not bound":       {strings.Replace(lists(drop, drop), " ip access-group four in\n", "", 1), nil},
		"no such list":    {strings.Replace(lists(drop, drop), "ipv6 access-group six", "ipv6 access-group sex", 1), nil},
		"RoCEv1":          {"mac access-list m\n seq 1 deny any any 0x8915\n!\ninterface Eth1/1\n mac access-group m in\n", []intent.RDMA{intent.RoCEv1}},
		"an own list that was changed": {
			"mac access-list rocec_deny_mac\n seq 10 deny any any 0x8915\n!\ninterface Eth1/1\n mac access-group rocec_deny_mac in\n", nil,
		},
	} {
		got, findings := parse(nil, shown(c.text))
		if len(findings) > 0 {
			t.Fatalf("%s: %v", name, findings)
		}
		if diff := cmp.Diff(intent.Some(c.want), got.Ports[0].Deny, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDenyRebase: a plan made from the switch unbinds what a port shall drop no
// more, mends a list that was changed, and leaves lists of others alone.
func TestDenyRebase(t *testing.T) {
	const drop = " seq 10 deny udp any any eq 4791\n"
	deny := func(list ...intent.RDMA) *intent.Device {
		d := leaf()
		d.Ports[0].Deny = intent.Some(list)
		return d
	}
	own := "ip access-list rocec_deny_ipv4\n seq 5 permit udp any any\n" + drop + " seq 20 deny ip any any\n!\ninterface Eth1/1\n ip access-group rocec_deny_ipv4 in\n mac access-group guests in\n"
	for name, c := range map[string]struct {
		device    *intent.Device
		text      string
		want, not []string
		refused   string
	}{
		"goes":      {deny(), own, []string{"\n no ip access-group rocec_deny_ipv4 in\n"}, []string{"access-list", "mac access-group"}, ""},
		"unmanaged": {leaf(), own, nil, []string{"access-"}, ""},
		"mended":    {deny(intent.RoCEv2), own, []string{"ip access-list rocec_deny_ipv4\n no seq 5\n no seq 20\n seq 10 deny udp any any eq 4791\n seq 20 permit ip any any\n"}, []string{"no ip access-group", "mac"}, ""},
		"another's drops": {
			deny(intent.RoCEv2), lists(drop, drop), nil, []string{"access-"}, "",
		},
		"another's does not": {
			deny(intent.RoCEv2), lists(drop, " seq 1 permit ipv6 any any\n"), nil, nil,
			`Eth1/1 has the ipv6 access-list "six" inbound, which does not begin with "deny udp any any eq 4791", and takes no second one`,
		},
	} {
		var out emit.Out
		findings := rebase(c.device, shown(c.text), &out)
		if got := targettest.Refusals(findings); (c.refused == "") != (len(findings) == 0) || !strings.Contains(got, c.refused) {
			t.Errorf("%s: findings %q", name, got)
		}
		config := targettest.Text(out.Artifacts, configFile)
		for _, want := range c.want {
			if !strings.Contains(config, want) {
				t.Errorf("%s: no %q in\n%s", name, want, config)
			}
		}
		for _, not := range c.not {
			if strings.Contains(config, not) {
				t.Errorf("%s: %q in\n%s", name, not, config)
			}
		}
	}
}
