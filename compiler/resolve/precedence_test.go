package resolve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/schema"
)

// heights is a fabric with a mark in every place that can say an attribute of a port or
// NIC, and those marks in the order in which they count, the least first. Those in one
// list stand at one height.
type heights struct {
	name, text string
	places     [][]string
	value      func(f *fabric.Fabric) any
	says       func(i int) string // the attribute with the value of a place
	is         func(i int) any
}

// override is an override that sets an attribute.
func override(on, set string) string {
	return fmt.Sprintf("override {\n  on      = %s\n  set     = { %s }\n  reason  = \"r\"\n  expires = \"2999-01-01\"\n}\n", on, set)
}

const placesOfNIC = contract + `
defaults "node" {
  @defaults_node
}
defaults "nic" {
  @defaults_nic
}
segment "s" {
  vlan = 5
  @segment
}
node "n" {
  for_each = toset(["a", "b"])
  os       = "ubuntu/24.04"
  @node
  nic "p[0-1]" {
    model  = "nvidia/connectx-6-dx"
    speed  = "100G"
    untagged = segment.s
    @nic
    except "p0" {
      reason = "r"
      @except_nic
    }
  }
  bond "bond0" {
    mode    = "lacp"
    members = "p[0-1]"
    @bond
  }
  except "a" {
    reason = "r"
    @except_node
    nic "p0" {
      @inner_nic
    }
    bond "bond0" {
      @inner_bond
    }
  }
}
`

const placesOfPort = contract + `
defaults "switch" {
  @defaults_switch
}
defaults "port" {
  @defaults_port
}
segment "s" {
  vlan = 5
  @segment
}
switch "s" {
  for_each = toset(["a", "b"])
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  @switch
  port "Ethernet[0-4:4]" {
    tagged = [segment.s]
    @port
    except "Ethernet0" {
      reason = "r"
      @except_port
    }
  }
  lag "PortChannel1" {
    members = "Ethernet[0-4:4]"
    @lag
  }
  except "a" {
    reason = "r"
    @except_switch
    port "Ethernet0" {
      @inner_port
    }
    lag "PortChannel1" {
      @inner_lag
    }
  }
}
`

const placesOfLink = contract + `
defaults "link" {
  @defaults_link
}
defaults "nic" {
  @defaults_nic
}
node "n" {
  for_each = toset(["a", "b"])
  os       = "ubuntu/24.04"
  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
    @nic
    except "p0" {
      reason = "r"
      @except_nic
    }
  }
}
switch "s" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
}
link "l" {
  for_each = { a = "Ethernet0", b = "Ethernet4" }
  ends     = [node.n[each.key].nic["p0"], switch.s.port[each.value]]
  @link
}
`

const placesOfTopology = contract + `
topology "leaf_spine" "t" {
  nodes = node.n
  nics  = "p[0-1]"
  @topology
  leaf {
    count      = 2
    model      = "nvidia/sn3700"
    os         = "sonic/202505"
    node_ports = "Ethernet[0-4:4]"
    up_ports   = "Ethernet[8-12:4]"
    @leaf
    except "t-leaf0" {
      reason = "r"
      @except_leaf
    }
  }
  spine {
    count      = 2
    down_ports = "Ethernet[0-4:4]"
  }
}
segment "s" {
  vlan = 5
  @segment
}
defaults "nic" {
  @defaults_nic
}
node "n" {
  for_each = { a = 1, b = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value
  @node
  nic "p[0-1]" {
    model  = "nvidia/connectx-6-dx"
    untagged = segment.s
    @nic
  }
}
`

func allHeights() []heights {
	mtu := func(i int) string { return fmt.Sprintf("mtu = %d", 2000+100*i) }
	isMTU := func(i int) any { return uint16(2000 + 100*i) }
	port := func(f *fabric.Fabric, name string) *fabric.Port {
		for p := range f.Ports {
			if p > 0 && f.PortName(fabric.PortID(p)) == name {
				return &f.Ports[p]
			}
		}
		return &fabric.Port{}
	}
	trusts := []string{"dscp", "pcp", "none"}
	return []heights{
		{
			"MTU of a NIC", placesOfNIC,
			[][]string{
				{"defaults_node"},
				{"defaults_nic"},
				{"node"},
				{"except_node"},
				{"segment"},
				{"bond"},
				{"inner_bond"},
				{"nic"},
				{"except_nic", "inner_nic"},
				{
					"override node.n[\"a\"]",
					"override segment.s",
					"override node.n[\"a\"].bond[\"bond0\"]",
					"override node.n[\"a\"].nic[\"p0\"]",
					"override \"node.n[*]\"",
				},
			},
			func(f *fabric.Fabric) any { return port(f, "a/p0").MTU }, mtu, isMTU,
		},
		{
			"MTU of a port", placesOfPort,
			[][]string{
				{"defaults_switch"},
				{"defaults_port"},
				{"switch"},
				{"except_switch"},
				{"segment"},
				{"lag"},
				{"inner_lag"},
				{"port"},
				{"except_port", "inner_port"},
				{
					"override switch.s[\"a\"]",
					"override segment.s",
					"override switch.s[\"a\"].lag[\"PortChannel1\"]",
					"override switch.s[\"a\"].port[\"Ethernet0\"]",
					"override \"switch.*.port[*]\"",
				},
			},
			func(f *fabric.Fabric) any { return port(f, "a/Ethernet0").MTUFloor }, mtu, isMTU,
		},
		{
			"FEC of a link", placesOfLink,
			[][]string{
				{"defaults_link"},
				{"defaults_nic"},
				{"link"},
				{"nic"},
				{"except_nic"},
				{"override link.l[\"a\"]", "override node.n[\"a\"].nic[\"p0\"]"},
			},
			func(f *fabric.Fabric) any { return port(f, "a/p0").FEC },
			func(i int) string { return fmt.Sprintf("fec = %q", []string{"rs", "fc", "off", "auto"}[i%4]) },
			func(i int) any { return fecOf([]string{"rs", "fc", "off", "auto"}[i%4]) },
		},
		{
			"MTU in a topology", placesOfTopology,
			[][]string{
				{"defaults_nic"},
				{"topology"},
				{"leaf"},
				{"except_leaf"},
				{"node"},
				{"segment"},
				{"nic"},
				{"override node.n[\"a\"]", "override topology.t.leaf[0]", "override segment.s"},
			},
			func(f *fabric.Fabric) any { return port(f, "a/p0").MTU }, mtu, isMTU,
		},
		{
			"MTU below a leaf", placesOfTopology,
			[][]string{{"topology"}, {"leaf"}, {"except_leaf"}, {"override topology.t.leaf[0]", "override \"topology.t.leaf[*]\""}},
			func(f *fabric.Fabric) any { return port(f, "t-leaf0/Ethernet8").MTU }, mtu, isMTU,
		},
		{
			"trust of a port", placesOfPort,
			[][]string{
				{"defaults_switch"},
				{"defaults_port"},
				{"switch"},
				{"except_switch"},
				{"port"},
				{"except_port", "inner_port"},
				{"override switch.s[\"a\"]", "override switch.s[\"a\"].port[\"Ethernet0\"]"},
			},
			func(f *fabric.Fabric) any { return f.Profiles[port(f, "a/Ethernet0").Profile].Trust },
			func(i int) string { return fmt.Sprintf("trust = %q", trusts[i%3]) },
			func(i int) any { return trustOf(trusts[i%3]) },
		},
	}
}

// source is the fabric with an attribute in some places.
func (h *heights) source(says map[string]string) string {
	text := h.text
	if strings.HasPrefix(h.name, "trust") {
		text = strings.Replace(text, "    tagged = [segment.s]", "    tagged = [segment.s]\n    qos      = qos.q", 1)
	}
	for place, words := range says {
		if on, ok := strings.CutPrefix(place, "override "); ok {
			text += override(on, words)
		} else {
			text = strings.Replace(text, "@"+place+"\n", words+"\n", 1)
		}
	}
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "@") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// TestPrecedence writes an attribute in each two places that say it of one port or NIC.
// The one that is farther inside counts, an exception above its place, an override above
// all, in whatever order they are written. Of two at one height that differ neither does,
// and both lines are named; two that say the same are one.
func TestPrecedence(t *testing.T) {
	for _, h := range allHeights() {
		for low, places := range h.places {
			for high := low; high < len(h.places); high++ {
				for _, a := range places {
					for _, b := range h.places[high] {
						if a == b {
							continue
						}
						two := map[string]string{a: h.says(low), b: h.says(high + 1)}
						if low != high {
							if got := h.value(load(t, h.source(two))); got != h.is(high+1) {
								t.Errorf("%s: %s says %v and %s %v, and it is %v", h.name, a, h.is(low), b, h.is(high+1), got)
							}
							continue
						}
						if got := refused(t, h.source(two)); !strings.Contains(got, "is set twice, to two values") || strings.Count(got, " | ") < 2 {
							t.Errorf("%s: %s and %s say two things: %s", h.name, a, b, got)
						}
						two[b] = two[a]
						if got := h.value(load(t, h.source(two))); got != h.is(low) {
							t.Errorf("%s: %s and %s say %v, and it is %v", h.name, a, b, h.is(low), got)
						}
					}
				}
			}
		}
	}
}

// TestNullInOneMember: an expression that is null for a member is as if not written there,
// and is not where its value comes from; for another member it is.
func TestNullInOneMember(t *testing.T) {
	f := load(t, contract+`
defaults "nic" {
  mtu = 2000
}
node "n" {
  for_each = { a = 1, b = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "p0" {
    model = "nvidia/connectx-6-dx"
    mtu   = self.slot == 1 ? null : 4000
  }
}
`)
	for p, want := range map[fabric.PortID]string{1: `defaults "nic"`, 2: `node "n", nic "p0"`} {
		if l, ok := f.PortOrigin(p, schema.AMTU); !ok || l.Where != want {
			t.Errorf("the MTU %d of %s is said to come from %s", f.Ports[p].MTU, f.PortName(p), l.Where)
		}
		if said := f.Says(p, schema.AMTU); len(said) != int(p) || f.Where(said[0].By) != want {
			t.Errorf("%s: %+v", f.PortName(p), said)
		}
	}
}

// TestTwoNatives: a port is untagged in one segment, whatever says so.
func TestTwoNatives(t *testing.T) {
	const text = contract + `
segment "a" {
  vlan = 5
}
segment "b" {
  vlan = 6
}
node "n" {
  os = "ubuntu/24.04"
  nic "p0" {
    model = "nvidia/connectx-6-dx"
    @nic
  }
  interface "x" {
    on     = "p0"
    untagged = segment.a
  }
  interface "y" {
    on = "p0"
    @y
  }
}
`
	for _, c := range [][3]string{
		{"", "untagged = segment.b", "n/p0 is untagged in two segments: b and a | segment.b | segment.a"},
		{"untagged = segment.b", "rdma = false", "n/p0 is untagged in two segments: a and b | segment.a | segment.b"},
		{"untagged = segment.a", "untagged = segment.a", ""},
		{"", "segment = segment.b", ""},
	} {
		if got := refused(t, strings.NewReplacer("@nic", c[0], "@y", c[1]).Replace(text)); got != c[2] {
			t.Errorf("%s, %s: %q", c[0], c[1], got)
		}
	}
}
