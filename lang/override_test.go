package lang

import (
	"testing"

	"github.com/rocec/rocec/lang/schema"
)

// TestGlobKind: the last word of a glob says what it names, whatever stands before.
func TestGlobKind(t *testing.T) {
	for glob, want := range map[string]schema.Kind{
		"switch.tor":                               schema.Switch,
		"switch.*":                                 schema.Switch,
		"switch.tor.port[Ethernet*]":               schema.Port,
		"switch[\"a b\"].port[*]":                  schema.Port,
		"switch.port":                              schema.Switch,
		"switch.port[a]":                           schema.Switch,
		"node.gpu[*].nic[rail3]":                   schema.NIC,
		"node.n[a.nic].bond[*]":                    schema.Bond,
		"module.r[*].node.h[a]":                    schema.Node,
		"module.r.node.h[a].nic[*]":                schema.NIC,
		"module.a.module.b[*].switch.tor.lag[*]":   schema.LAG,
		"module.node.segment.s":                    schema.Segment,
		"module[\"a b\"].switch.tor.interface[lo]": schema.Interface,
		"module.*.nic[*]":                          schema.NIC,
		"topology.t.leaf[*]":                       schema.Leaf,
		"topology.t.leaf[0].port[swp1]":            schema.Port,
		"link.*":                                   schema.Link,
		"module.r":                                 schema.None,
		"rollout.wave[canary]":                     schema.Wave,
		"*":                                        schema.None,
	} {
		if got := schema.GlobKind(glob); got != want {
			t.Errorf("%s names %s, want %s", glob, got, want)
		}
	}
}
