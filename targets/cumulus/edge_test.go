package cumulus

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

// TestDenied: a port drops RoCEv2 if lists of its own do, for both versions of
// IP and without another condition, whoever made them.
func TestDenied(t *testing.T) {
	const text = `- set:
    acl:
      four: {type: ipv4, rule: {'5': {match: {ip: {protocol: tcp}}, action: {permit: {}}}, '10': {RULE4}}}
      six: {type: ipv6, rule: {'10': {RULE6}}}
    interface:
      swp1: {type: swp, acl: {four: {inbound: {}}, six: {inbound: {}}}}
`
	const drop = `match: {ip: {protocol: udp, udp: {dest-port: {'4791': {}}}}}, action: {deny: {}}`
	for name, c := range map[string]struct {
		four, six string
		edit      [2]string
		want      []intent.RDMA
	}{
		"both":             {four: drop, six: drop, want: []intent.RDMA{intent.RoCEv2}},
		"one":              {four: drop, six: `action: {permit: {}}`},
		"permitted":        {four: drop, six: strings.Replace(drop, "deny", "permit", 1)},
		"another port":     {four: drop, six: strings.Replace(drop, "4791", "4792", 1)},
		"another protocol": {four: drop, six: strings.Replace(drop, "protocol: udp", "protocol: tcp", 1)},
		"one source":       {four: drop, six: strings.Replace(drop, "protocol: udp", "protocol: udp, source-ip: '2001:db8::/32'", 1)},
		"one source port":  {four: drop, six: strings.Replace(drop, "udp: {dest", "udp: {source-port: {'7': {}}, dest", 1)},
		"one VLAN":         {four: drop, six: strings.Replace(drop, "match: {ip", "match: {mac: {vlan: 7}, ip", 1)},
		"outbound":         {four: drop, six: drop, edit: [2]string{"six: {inbound", "six: {outbound"}},
		"not bound":        {four: drop, six: drop, edit: [2]string{"four: {inbound: {}}, ", ""}},
	} {
		capture := strings.NewReplacer("RULE4", c.four, "RULE6", c.six).Replace(text)
		if c.edit[0] != "" {
			capture = strings.Replace(capture, c.edit[0], c.edit[1], 1)
		}
		got, list := parse(nil, captured(capture))
		if len(list) > 0 {
			t.Fatalf("%s: %v", name, list)
		}
		if diff := cmp.Diff(intent.Some(c.want), got.Ports[0].Deny, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDenyGoes: a patch made from the switch unbinds the lists of a port that
// shall drop nothing, and leaves lists of others alone.
func TestDenyGoes(t *testing.T) {
	d := pair()
	before := targettest.Text(targettest.Emit(&Target, d), patchFile)
	before = strings.Replace(before, "          rocec_deny_ipv4:\n            inbound: {}\n", "          guests:\n            inbound: {}\n          rocec_deny_ipv4:\n            inbound: {}\n", 1)
	d.LAGs[0].Deny = intent.Some([]intent.RDMA{})
	var out emit.Out
	if list := rebase(d, captured(before), &out); len(list) > 0 {
		t.Fatal(list)
	}
	const want = "- unset:\n    interface:\n      bond1:\n        acl:\n          rocec_deny_ipv4:\n          rocec_deny_ipv6:\n- set:\n"
	if got := targettest.Text(out.Artifacts, patchFile); !strings.Contains(got, want) {
		t.Errorf("the patch is\n%s\nwithout\n%s", got, want)
	}
}
