package sonic

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

// TestDenied: a port drops what rules on its own tables drop without a further
// condition, and RoCEv2 only if it does over IPv4 and IPv6.
func TestDenied(t *testing.T) {
	const (
		v4 = `"A|1": {"PRIORITY": "9", "PACKET_ACTION": "DROP", "IP_TYPE": "IP", "IP_PROTOCOL": "17", "L4_DST_PORT": "4791"}`
		v6 = `"B|1": {"PRIORITY": "9", "PACKET_ACTION": "DROP", "IP_TYPE": "IP", "IP_PROTOCOL": "17", "L4_DST_PORT": "4791"}`
		v1 = `"A|2": {"PRIORITY": "8", "PACKET_ACTION": "DROP", "ETHER_TYPE": "0x8915"}`
	)
	tables := `"A": {"type": "L3", "stage": "ingress", "ports": ["Ethernet4", "Ethernet0"]}, "B": {"type": "L3V6", "stage": "INGRESS", "ports": ["Ethernet0"]}`
	for name, c := range map[string]struct {
		tables, rules string
		want          []intent.RDMA
	}{
		"nothing":           {tables, "", nil},
		"all":               {tables, v4 + "," + v6 + "," + v1, []intent.RDMA{intent.RoCEv2, intent.RoCEv1}},
		"one family":        {tables, v4, nil},
		"the other family":  {tables, v6, nil},
		"both families":     {tables, v4 + "," + v6, []intent.RDMA{intent.RoCEv2}},
		"EtherType":         {tables, v1, []intent.RDMA{intent.RoCEv1}},
		"as acl-loader":     {tables, v4 + "," + strings.Replace(v6, `"IP"`, `"IPV6ANY"`, 1), []intent.RDMA{intent.RoCEv2}},
		"no IPv6 rule":      {tables, v4 + "," + strings.Replace(v6, `"IP"`, `"IPV4ANY"`, 1), nil},
		"one table of both": {strings.ReplaceAll(tables, `"L3"`, `"L3V4V6"`), v4, []intent.RDMA{intent.RoCEv2}},
		"egress":            {strings.ReplaceAll(tables, `"ingress"`, `"egress"`), v1, nil},
		"another port":      {strings.ReplaceAll(tables, `"Ethernet0"`, `"Ethernet8"`), v4 + "," + v6 + "," + v1, nil},
		"a condition more":  {tables, strings.Replace(v1, `"ETHER_TYPE"`, `"VLAN_ID": "7", "ETHER_TYPE"`, 1), nil},
		"forwarded":         {tables, strings.ReplaceAll(v1, "DROP", "FORWARD"), nil},
	} {
		db := `{"PORT": {"Ethernet0": {}}, "ACL_TABLE": {` + c.tables + `}, "ACL_RULE": {` + c.rules + `}}`
		got, list := parse(nil, captured([]byte(db)))
		if len(list) > 0 {
			t.Fatalf("%s: %v", name, list)
		}
		if diff := cmp.Diff(intent.Some(c.want), got.Ports[0].Deny, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDenyChanges: a port that drops something else is bound to another table,
// and the tables that nobody is bound to go, with their rules first.
func TestDenyChanges(t *testing.T) {
	d := leaf()
	c := build(d)
	before := loaded(t, bare(t, d), c.breakouts, c.normal, c.maintenance)
	for name, c := range map[string]struct {
		deny []intent.RDMA
		want []string
	}{
		"less": {[]intent.RDMA{intent.RoCEv2}, []string{
			"add /ACL_TABLE/rocec_deny_v2", "add /ACL_TABLE/rocec_deny_v2_ipv6", "add /ACL_RULE/rocec_deny_v2_ipv6|RULE_10", "add /ACL_RULE/rocec_deny_v2|RULE_10",
			"remove /ACL_RULE/rocec_deny_v2_v1_ipv6|RULE_10", "remove /ACL_RULE/rocec_deny_v2_v1|RULE_10", "remove /ACL_RULE/rocec_deny_v2_v1|RULE_20",
			"remove /ACL_TABLE/rocec_deny_v2_v1", "remove /ACL_TABLE/rocec_deny_v2_v1_ipv6",
		}},
		"nothing": {[]intent.RDMA{}, []string{"remove /ACL_RULE", "remove /ACL_TABLE"}},
	} {
		d.PortNamed("Ethernet16").Deny = intent.Some(c.deny)
		if list := targets.Check(&Target, d, nil); list.HasErrors() {
			t.Fatal(targettest.Refusals(list))
		}
		patch, _, rest, list := Patch(before, d)
		if rest != nil || len(list) > 0 {
			t.Fatalf("%s: %s, %v", name, rest, list)
		}
		var ops []struct{ Op, Path string }
		if err := json.Unmarshal(patch, &ops); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, op := range ops {
			got = append(got, op.Op+" "+op.Path)
		}
		// Of one table the order is free.
		if diff := cmp.Diff(c.want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		rules := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "remove /ACL_TABLE") })
		if last := slices.IndexFunc(got[rules:], func(s string) bool { return strings.HasPrefix(s, "remove /ACL_RULE") }); last >= 0 {
			t.Errorf("%s: a table goes before its rules: %v", name, got)
		}
	}
}
