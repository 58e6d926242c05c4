package resolve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/schema"
)

// box is a switch of 16 ports for fabrics that are drawn by hand.
const box = contract + `
asic "t/x" {
  vendor  = "test"
  family  = "spectrum-4"
  cell    = 192
  buffer  = "160MiB"
  formula = "reference"
}
switch_model "t/x" {
  asic      = "t/x"
  ports     = { "cumulus-linux" = "swp[1-16]", sonic = "Ethernet[0-60:4]" }
  speeds    = { "*" = "400G" }
  jumbo_mtu = 9216
}
`

// nodes writes n nodes with NICs p0, p1, ... in slots from 1.
func nodes(n, nics int) string {
	return fmt.Sprintf(`
node "n" {
  for_each = { %s }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "p[0-%d]" {
    model = "nvidia/connectx-7"
    speed = "400G"
  }
}
`, strings.Join(members(n, "n%d = %d"), ", "), nics-1)
}

func members(n int, format string) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf(format, i+1, i+1))
	}
	return list
}

// wires lists the links as "lower/port upper/port", in their order.
func wires(f *fabric.Fabric) (list []string) {
	for i := 1; i < len(f.Links); i++ {
		a, b := f.Links[i].A, f.Links[i].B
		if f.Devices[f.Ports[a].Device].Tier > f.Devices[f.Ports[b].Device].Tier {
			a, b = b, a
		}
		list = append(list, f.PortName(a)+" "+f.PortName(b))
	}
	slices.Sort(list)
	return list
}

// Each fabric here was drawn by hand from the rules of the language.
func TestWiring(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   string
	}{
		// 2 NICs are 2 rails: 2 groups of 2 slots, leaf = group x 2 + rail.
		// 2 spines, 4 uplinks: 2 for each pair, port leaf x 2 + u mod 2.
		"rail_optimized": {nodes(3, 2) + `
topology "rail_optimized" "t" {
  nodes = node.n
  leaf {
    count      = 4
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp[1-2]"
    up_ports   = "swp[11-14]"
  }
  spine {
    count = 2
    ports = "swp[1-8]"
  }
}`, `
n1/p0 t-leaf0/swp1
n1/p1 t-leaf1/swp1
n2/p0 t-leaf0/swp2
n2/p1 t-leaf1/swp2
n3/p0 t-leaf2/swp1
n3/p1 t-leaf3/swp1
t-leaf0/swp11 t-spine0/swp1
t-leaf0/swp12 t-spine0/swp2
t-leaf0/swp13 t-spine1/swp1
t-leaf0/swp14 t-spine1/swp2
t-leaf1/swp11 t-spine0/swp3
t-leaf1/swp12 t-spine0/swp4
t-leaf1/swp13 t-spine1/swp3
t-leaf1/swp14 t-spine1/swp4
t-leaf2/swp11 t-spine0/swp5
t-leaf2/swp12 t-spine0/swp6
t-leaf2/swp13 t-spine1/swp5
t-leaf2/swp14 t-spine1/swp6
t-leaf3/swp11 t-spine0/swp7
t-leaf3/swp12 t-spine0/swp8
t-leaf3/swp13 t-spine1/swp7
t-leaf3/swp14 t-spine1/swp8`},
		// 4 NICs in 2 planes are 2 rails: NIC i is rail i div 2, plane i mod 2;
		// leaf = plane x 2 + rail; each plane has a spine of its own.
		"planes": {nodes(1, 4) + `
topology "rail_optimized" "t" {
  nodes  = node.n
  planes = 2
  leaf {
    count      = 4
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp1"
    up_ports   = "swp2"
  }
  spine {
    count = 2
    ports = "swp[1-2]"
  }
}`, `
n1/p0 t-leaf0/swp1
n1/p1 t-leaf2/swp1
n1/p2 t-leaf1/swp1
n1/p3 t-leaf3/swp1
t-leaf0/swp2 t-spine0/swp1
t-leaf1/swp2 t-spine0/swp2
t-leaf2/swp2 t-spine1/swp1
t-leaf3/swp2 t-spine1/swp2`},
		// All NICs of a node on one leaf, at consecutive ports; a leaf takes 2 slots.
		"leaf_spine": {nodes(3, 2) + `
topology "leaf_spine" "t" {
  nodes = node.n
  leaf {
    count      = 2
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp[1-4]"
    up_ports   = "swp[5-6]"
  }
  spine {
    count = 2
    ports = "swp[1-2]"
  }
}`, `
n1/p0 t-leaf0/swp1
n1/p1 t-leaf0/swp2
n2/p0 t-leaf0/swp3
n2/p1 t-leaf0/swp4
n3/p0 t-leaf1/swp1
n3/p1 t-leaf1/swp2
t-leaf0/swp5 t-spine0/swp1
t-leaf0/swp6 t-spine1/swp1
t-leaf1/swp5 t-spine0/swp2
t-leaf1/swp6 t-spine1/swp2`},
		// NIC i goes to leaf 2 x group + i mod 2: two NICs of a node on each.
		"dual_tor": {nodes(3, 4) + `
topology "dual_tor" "t" {
  nodes = node.n
  leaf {
    count      = 4
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp[1-4]"
  }
}`, `
n1/p0 t-leaf0/swp1
n1/p1 t-leaf1/swp1
n1/p2 t-leaf0/swp2
n1/p3 t-leaf1/swp2
n2/p0 t-leaf0/swp3
n2/p1 t-leaf1/swp3
n2/p2 t-leaf0/swp4
n2/p3 t-leaf1/swp4
n3/p0 t-leaf2/swp1
n3/p1 t-leaf3/swp1
n3/p2 t-leaf2/swp2
n3/p3 t-leaf3/swp2`},
		// 2 pods of 2 spines, 4 cores: cores 0 and 1 serve spine 0 of each pod,
		// 2 and 3 spine 1; one link for each pair, core port = pod.
		"clos3 with pods": {`
topology "leaf_spine" "p" {
  for_each = toset(["a", "b"])
  leaf {
    count    = 1
    name     = "${each.key}-l${leaf.index}"
    model    = "t/x"
    os       = "cumulus-linux/5.11"
    up_ports = "swp[1-2]"
  }
  spine {
    count      = 2
    name       = "${each.key}-s${spine.index}"
    down_ports = "swp1"
    up_ports   = "swp[2-3]"
  }
}
topology "clos3" "c" {
  pods = topology.p
  core {
    count = 4
    name  = "c${core.index}"
    ports = "swp[1-2]"
  }
}`, `
a-l0/swp1 a-s0/swp1
a-l0/swp2 a-s1/swp1
a-s0/swp2 c0/swp1
a-s0/swp3 c1/swp1
a-s1/swp2 c2/swp1
a-s1/swp3 c3/swp1
b-l0/swp1 b-s0/swp1
b-l0/swp2 b-s1/swp1
b-s0/swp2 c0/swp2
b-s0/swp3 c1/swp2
b-s1/swp2 c2/swp2
b-s1/swp3 c3/swp2`},
		// The same rule with tiers of its own: it is its only pod.
		"clos3 alone": {`
topology "clos3" "c" {
  leaf {
    count    = 2
    model    = "t/x"
    os       = "cumulus-linux/5.11"
    up_ports = "swp1"
  }
  spine {
    count      = 1
    down_ports = "swp[1-2]"
    up_ports   = "swp[3-6]"
  }
  core {
    count = 2
    ports = "swp[1-2]"
  }
}`, `
c-leaf0/swp1 c-spine0/swp1
c-leaf1/swp1 c-spine0/swp2
c-spine0/swp3 c-core0/swp1
c-spine0/swp4 c-core0/swp2
c-spine0/swp5 c-core1/swp1
c-spine0/swp6 c-core1/swp2`},
		// The first half of the ports goes to the next switch.
		"ring": {`
topology "ring" "t" {
  leaf {
    count    = 3
    model    = "t/x"
    os       = "cumulus-linux/5.11"
    up_ports = "swp[1-2]"
  }
}`, `
t-leaf0/swp1 t-leaf1/swp2
t-leaf0/swp2 t-leaf2/swp1
t-leaf1/swp1 t-leaf2/swp2`},
		"ring of two": {`
topology "ring" "t" {
  leaf {
    count    = 2
    model    = "t/x"
    os       = "cumulus-linux/5.11"
    up_ports = "swp[1-2]"
  }
}`, `
t-leaf0/swp1 t-leaf1/swp2
t-leaf0/swp2 t-leaf1/swp1`},
		"full mesh of nodes": {nodes(3, 2) + `
topology "full_mesh" "t" {
  nodes = node.n
}`, `
n1/p0 n2/p0
n1/p1 n3/p0
n2/p1 n3/p1`},
		// NIC p1 of n2 is cabled to a free port; the others stay where they were.
		"at": {strings.Replace(nodes(2, 2), "slot     = each.value\n", `slot     = each.value
  except "n2" {
    nic "p1" {
      at = topology.t.leaf[1].port["swp9"]
    }
    reason = "swp2 is broken"
  }
`, 1) + `
topology "rail_optimized" "t" {
  nodes = node.n
  leaf {
    count      = 2
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp[1-2]"
  }
}`, `
n1/p0 t-leaf0/swp1
n1/p1 t-leaf1/swp1
n2/p0 t-leaf0/swp2
n2/p1 t-leaf1/swp9`},
		// Written switches play the tiers, in the order of the list.
		"switches": {nodes(1, 2) + `
switch "s" {
  for_each = toset(["b", "a", "c"])
  model    = "t/x"
  os       = "sonic/202505"
}
topology "rail_optimized" "t" {
  nodes = node.n
  nics  = ["p1", "p0"]
  leaf {
    switches   = [switch.s["b"], switch.s["a"]]
    node_ports = "Ethernet0"
    up_ports   = "Ethernet[4-8:4]"
  }
  spine {
    switches = [switch.s["c"]]
    ports    = "Ethernet[0-12:4]"
  }
}`, `
a/Ethernet4 c/Ethernet8
a/Ethernet8 c/Ethernet12
b/Ethernet4 c/Ethernet0
b/Ethernet8 c/Ethernet4
n1/p0 a/Ethernet0
n1/p1 b/Ethernet0`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimSpace(c.want), strings.Join(wires(load(t, box+c.source)), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// refused are the errors of a source, with where their labels point.
func refused(t *testing.T, text string) string {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(text)}}, Packs: packs.Files()})
	if !diags.HasErrors() {
		_, diags = Fabric(cfg)
	}
	var out []string
	for _, d := range diags {
		line := d.Summary
		for _, l := range d.Labels {
			at := text[min(int(l.Span.Start), len(text)):min(int(l.Span.Start+l.Span.Len), len(text))]
			line += " | " + strings.SplitN(at, "\n", 2)[0]
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

const rail = `
topology "rail_optimized" "t" {
  nodes = node.n
  leaf {
    count      = 4
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp[1-2]"
    up_ports   = "swp[11-14]"
  }
  spine {
    count = 2
    ports = "swp[1-8]"
  }
}
`

func TestTopologiesThatDoNotFit(t *testing.T) {
	edit := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	for name, c := range map[string]struct{ source, want string }{
		"uplinks":        {nodes(1, 2) + edit(rail, "swp[11-14]", "swp[11-13]"), "topology.t: 3 `up_ports` of a leaf do not divide evenly over 2 spines | \"swp[11-13]\" | 2"},
		"spine ports":    {nodes(1, 2) + edit(rail, "swp[1-8]", "swp[1-7]"), "topology.t: 7 `ports` of a spine are too few: 4 leaves with 2 links to each spine need 8 | \"swp[1-7]\" | 4"},
		"rails":          {nodes(1, 3) + rail, "topology.t: 4 leaves do not divide evenly over the 3 NICs of a node: each needs a leaf of its own in every group | 4 | node.n"},
		"no slot":        {edit(nodes(1, 2), "slot     = each.value", "") + rail, "node n1 has no slot, and topology.t places nodes by it | node \"n\" | node.n"},
		"one slot twice": {edit(nodes(2, 2), "n2 = 2", "n2 = 1") + rail, "nodes n1 and n2 both have slot 1 in topology.t | each.value | each.value"},
		"slot too large": {edit(nodes(2, 2), "n2 = 2", "n2 = 5") + rail, "node n2 has slot 5, and topology.t has 4: 2 groups of 2 node_ports at 1 port a node | each.value | \"swp[1-2]\""},
		"no such port":   {nodes(1, 2) + edit(rail, "swp[11-14]", "swp[14-17]"), "switch t-leaf0 has no port swp17 | \"swp[14-17]\" | \"t/x\""},
		"up and down":    {nodes(1, 2) + edit(rail, "swp[11-14]", "swp[2-5]"), "port t-leaf0/swp2 is in node_ports and in up_ports | \"swp[1-2]\" | \"swp[2-5]\""},
		"two topologies": {nodes(1, 2) + rail + edit(rail, `"t"`, `"u"`), "n1/p0 is joined by topology.t and by topology.u | node.n | node.n\nn1/p1 is joined by topology.t and by topology.u | node.n | node.n"},
		"at taken": {
			edit(nodes(2, 2), "slot     = each.value\n", "slot = each.value\nexcept \"n2\" {\n nic \"p1\" {\n at = topology.t.leaf[0].port[\"swp1\"]\n }\n reason = \"r\"\n}\n") + rail,
			"n1/p0 lands on t-leaf0/swp1, which n2/p1 takes by `at` | nic \"p[0-1]\" | topology.t.leaf[0].port[\"swp1\"]",
		},
		"unlike nodes":    {nodes(1, 2) + edit(nodes(1, 1), `"n"`, `"m"`, "n1 = 1", "m1 = 2") + edit(rail, "node.n", "concat(values(node.n), values(node.m))"), "node m1 has 1 NICs in topology.t, and n1 has 2 | node \"m\" | node \"n\""},
		"no node ports":   {nodes(1, 2) + edit(rail, `node_ports = "swp[1-2]"`, ""), "topology.t has nodes, and its leaves have no ports for them | leaf | node.n"},
		"switch in two":   {"switch \"s\" {\n model = \"t/x\"\n os = \"cumulus-linux/5.11\"\n}\ntopology \"ring\" \"a\" {\n leaf {\n switches = [switch.s, switch.s]\n up_ports = \"swp[1-2]\"\n }\n}\n", "switch s is listed in topology.a.leaf[1], and is in topology.a.leaf[0] already | [switch.s, switch.s] | [switch.s, switch.s]"},
		"no os":           {nodes(1, 2) + edit(rail, `os         = "cumulus-linux/5.11"`, ""), "leaf t-leaf0 has no os | leaf"},
		"no switch":       {"topology \"ring\" \"a\" {\n leaf {\n switches = []\n up_ports = \"swp[1-2]\"\n }\n}\n", "topology.a.leaf lists no switch | []"},
		"name of a node":  {nodes(1, 2) + edit(rail, `model      = "t/x"`, "name = \"n${leaf.index}\"\nmodel      = \"t/x\""), "two devices are called n1: topology.t.leaf[1] and node.n[\"n1\"] | node \"n\" | \"n${leaf.index}\""},
		"slots too large": {edit(nodes(3, 2), "n2 = 2", "n2 = 5", "n3 = 3", "n3 = 6") + rail, "node n2 has slot 5, and topology.t has 4: 2 groups of 2 node_ports at 1 port a node | each.value | \"swp[1-2]\""},
		"spine up":        {nodes(1, 2) + edit(rail, `ports = "swp[1-8]"`, "down_ports = \"swp[1-8]\"\n    up_ports = \"swp[9-10]\""), "`up_ports` of a spine is for links to cores: topology.t has none, and no clos3 has it among its pods | \"swp[9-10]\""},
		"spine addresses": {nodes(1, 2) + edit(rail, `ports = "swp[1-8]"`, "ports = \"swp[1-8]\"\n    fabric_subnet = \"10.0.0.0/24\""), "`fabric_subnet` of a spine is for links to cores: topology.t has none, and no clos3 has it among its pods | \"10.0.0.0/24\""},
		"leaf addresses":  {nodes(1, 1) + "topology \"leaf_spine\" \"a\" {\n nodes = node.n\n leaf {\n count = 1\n model = \"t/x\"\n os = \"cumulus-linux/5.11\"\n node_ports = \"swp1\"\n fabric_subnet = \"10.0.0.0/24\"\n }\n}\n", "`fabric_subnet` of a leaf is for links to spines, and topology.a has none | \"10.0.0.0/24\""},
		"clos3, no core":  {nodes(1, 2) + edit(rail, `"rail_optimized"`, `"clos3"`), "`topology \"clos3\" \"t\"` has no core tier | topology \"clos3\" \"t\""},
		"plane of a pair": {edit(nodes(1, 2), `speed = "400G"`, "plane = 0") + edit(rail, `"rail_optimized" "t" {`, "\"dual_tor\" \"t\" {\n  planes = 2"), "n1/p1 writes plane 0, and in the dual_tor topology.t it is in plane 1 by its position | 0 | topology \"dual_tor\" \"t\""},
		"nics, no nodes":  {edit(rail, "nodes = node.n", `nics = "p[0-2]"`), "topology.t: 4 leaves do not divide evenly over the 3 NICs of a node: each needs a leaf of its own in every group | 4 | \"p[0-2]\""},
		"two places":      {"switch \"s\" {\n model = \"t/x\"\n os = \"cumulus-linux/5.11\"\n place = { tier = \"leaf\" }\n}\nswitch \"u\" {\n model = \"t/x\"\n os = \"cumulus-linux/5.11\"\n place = { index = 1 }\n}\ntopology \"ring\" \"a\" {\n leaf {\n switches = [switch.s, switch.u]\n up_ports = \"swp[1-2]\"\n }\n}\n", "switch s writes its place, and topology.a.leaf[0] gives it one | { tier = \"leaf\" } | [switch.s, switch.u]\nswitch u writes its place, and topology.a.leaf[1] gives it one | { index = 1 } | [switch.s, switch.u]"},
		"half a place":    {"switch \"s\" {\n model = \"t/x\"\n os = \"cumulus-linux/5.11\"\n place = { index = 1 }\n}\n", "place of switch s does not say of which tier it is | { index = 1 }"},
		"role of a list":  {"switch \"s\" {\n model = \"t/x\"\n os = \"cumulus-linux/5.11\"\n}\ntopology \"ring\" \"a\" {\n leaf {\n switches = [switch.s, switch.s]\n role = \"x\"\n up_ports = \"swp[1-2]\"\n port \"swp1\" {\n speed = \"400G\"\n }\n }\n}\n", "`role` of a tier of written switches says nothing | \"x\""},
		"port of another": {"switch \"s\" {\n model = \"t/x\"\n os = \"cumulus-linux/5.11\"\n}\ntopology \"ring\" \"a\" {\n leaf {\n switches = [switch.s]\n up_ports = \"swp[1-2]\"\n port \"swp1\" {\n speed = \"400G\"\n }\n }\n}\n", "`port` in a tier of written switches says nothing | port \"swp1\""},
		"model is wanted": {nodes(1, 2) + edit(rail, `model      = "t/x"`, ""), "leaf t-leaf0 has no model | leaf"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, refused(t, box+c.source)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Adding a node in a new slot moves no link of another, and no device, port or
// address.
func TestANodeMoreMovesNothing(t *testing.T) {
	few, more := load(t, box+nodes(2, 2)+rail), load(t, box+nodes(3, 2)+rail)
	had := wires(few)
	has := wires(more)
	for _, w := range had {
		if !slices.Contains(has, w) {
			t.Errorf("%s moved", w)
		}
	}
	if len(has) != len(had)+2 {
		t.Errorf("%d links, then %d", len(had), len(has))
	}
}

// The order of files and of blocks does not matter to what is joined.
func TestOrderOfFilesDoesNotMatter(t *testing.T) {
	one := fstest.MapFS{"a.roce.hcl": {Data: []byte(box)}, "b.roce.hcl": {Data: []byte(nodes(3, 2))}, "c.roce.hcl": {Data: []byte(rail)}}
	two := fstest.MapFS{"c.roce.hcl": {Data: []byte(box)}, "b.roce.hcl": {Data: []byte(nodes(3, 2))}, "a.roce.hcl": {Data: []byte(rail)}}
	var got [2][]string
	for i, fsys := range []fstest.MapFS{one, two} {
		f, diags := Fabric(config(t, fsys))
		if diags.HasErrors() {
			t.Fatalf("%+v", diags)
		}
		got[i] = wires(f)
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" || len(got[0]) == 0 {
		t.Error(diff)
	}
}

// TestTierPrecedence: segment < topology < tier < device < port, and a tier
// speaks of a NIC's contract and MTU only.
func TestTierPrecedence(t *testing.T) {
	f := load(t, box+nodes(1, 2)+`
topology "rail_optimized" "t" {
  nodes = node.n
  mtu   = 4000
  qos   = qos.q
  leaf {
    count      = 2
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    manage     = "verify"
    mtu        = leaf.rail == 0 ? 5000 : null
    node_ports = "swp[1-2]"
    up_ports   = "swp[11-12]"
    link {
      speed = "200G"
    }
    port "swp11" {
      mtu = 6000
    }
  }
  spine {
    count = 1
    ports = "swp[1-4]"
    link {
      fec = "rs"
    }
  }
}`)
	for name, want := range map[string]struct {
		mtu    uint16
		mbps   uint32
		fec    fabric.FEC
		manage fabric.Manage
		qos    bool
	}{
		"n1/p0":         {5000, 400_000, 0, fabric.Full, true},
		"n1/p1":         {4000, 400_000, 0, fabric.Full, true},
		"t-leaf0/swp1":  {5000, 200_000, 0, fabric.Verify, true},
		"t-leaf1/swp1":  {4000, 200_000, 0, fabric.Verify, true},
		"t-leaf0/swp11": {6000, 400_000, fabric.FECRS, fabric.Verify, true},
		"t-leaf0/swp12": {5000, 400_000, fabric.FECRS, fabric.Verify, true},
		"t-spine0/swp1": {4000, 400_000, fabric.FECRS, fabric.Full, true},
	} {
		p := portNamed(t, f, name)
		row := &f.Ports[p]
		if row.MTU != want.mtu || row.Mbps != want.mbps || row.FEC != want.fec || row.Manage != want.manage || (row.Profile != 0) != want.qos {
			t.Errorf("%s: MTU %d, %d Mb/s, FEC %d, manage %d, profile %d; want %+v", name, row.MTU, row.Mbps, row.FEC, row.Manage, row.Profile, want)
		}
	}
	for _, c := range []struct {
		port string
		attr schema.Attr
		want string
	}{
		{"t-leaf0/swp1", schema.ASpeed, `topology "rail_optimized" "t", leaf`},
		{"t-leaf0/swp11", schema.AFEC, `topology "rail_optimized" "t", spine`},
		{"t-leaf0/swp11", schema.AMTU, `topology "rail_optimized" "t", leaf, port "swp11"`},
		{"t-leaf0/swp12", schema.AMTU, `topology "rail_optimized" "t", leaf`},
		{"t-spine0/swp1", schema.AMTU, `topology "rail_optimized" "t"`},
		{"n1/p0", schema.AQoS, `topology "rail_optimized" "t"`},
		{"n1/p0", schema.AMTU, `topology "rail_optimized" "t", leaf`},
		{"n1/p0", schema.AManage, `node "n", nic "p[0-1]"`}, // nobody wrote it
	} {
		if got := f.PortLabel(portNamed(t, f, c.port), c.attr, "").Where; got != c.want {
			t.Errorf("%s of %s is said to be written in %s, want %s", c.attr.Name(), c.port, got, c.want)
		}
	}
	if d := f.Devices[f.Ports[portNamed(t, f, "t-spine0/swp1")].Device]; f.Text(d.OSName) != "cumulus-linux" || d.Model == 0 {
		t.Error("the spine does not have the model and OS of the leaf")
	} else if l := f.Label(d.Decl, d.Layers, schema.AModel, ""); l.Where != `topology "rail_optimized" "t", leaf` {
		t.Errorf("its model is said to be written in %s", l.Where)
	}
}

func portNamed(t *testing.T, f *fabric.Fabric, name string) fabric.PortID {
	t.Helper()
	for p := 1; p < len(f.Ports); p++ {
		if f.PortName(fabric.PortID(p)) == name {
			return fabric.PortID(p)
		}
	}
	t.Fatalf("no port %s", name)
	return 0
}

// A node port runs at the speed of its NIC, and messages say who wrote it.
func TestPortsFollowNICs(t *testing.T) {
	f := load(t, box+strings.Replace(nodes(1, 1), "400G", "200G", 1)+`
topology "leaf_spine" "t" {
  nodes = node.n
  leaf {
    count      = 1
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp[1-4]"
  }
}`)
	p := portNamed(t, f, "t-leaf0/swp1")
	if row := f.Ports[p]; row.Mbps != 200_000 || row.Flags&fabric.SpeedSet == 0 {
		t.Errorf("%d Mb/s", row.Mbps)
	}
	if l := f.PortLabel(p, schema.ASpeed, ""); l.Where != `node "n", nic "p[0-0]"` {
		t.Errorf("the speed is said to be written in %q", l.Where)
	}
}

// Addresses of every kind that a tier gives, worked out by hand.
func TestTierAddresses(t *testing.T) {
	f := load(t, box+nodes(3, 2)+`
topology "rail_optimized" "t" {
  nodes = node.n
  leaf {
    count         = 4
    model         = "t/x"
    os            = "cumulus-linux/5.11"
    loopback      = "10.255.0.${leaf.index}/32"
    vrf           = "blue"
    subnet        = cidrsubnet("10.1.0.0/16", 8, leaf.index)
    addressing    = leaf.rail == 0 ? "shared" : "per_port"
    fabric_subnet = "10.9.0.0/24"
    node_ports    = "swp[1-2]"
    up_ports      = "swp[11-12]"
  }
  spine {
    count    = 2
    ports    = "swp[1-4]"
    loopback = "10.254.0.0/24"
  }
}`)
	got := addresses(f)
	want := `
n1 p0 [10.1.0.11/24] via 10.1.0.1
n1 p1 [10.1.1.1/31] via 10.1.1.0
n2 p0 [10.1.0.12/24] via 10.1.0.1
n2 p1 [10.1.1.3/31] via 10.1.1.2
n3 p0 [10.1.2.11/24] via 10.1.2.1
n3 p1 [10.1.3.1/31] via 10.1.3.0
t-leaf0 Vlan2 [10.1.0.1/24] blue
t-leaf0 lo [10.255.0.0/32]
t-leaf0 swp11 [10.9.0.0/31] blue
t-leaf0 swp12 [10.9.0.2/31] blue
t-leaf1 lo [10.255.0.1/32]
t-leaf1 swp1 [10.1.1.0/31] blue
t-leaf1 swp11 [10.9.0.4/31] blue
t-leaf1 swp12 [10.9.0.6/31] blue
t-leaf1 swp2 [10.1.1.2/31] blue
t-leaf2 Vlan2 [10.1.2.1/24] blue
t-leaf2 lo [10.255.0.2/32]
t-leaf2 swp11 [10.9.0.8/31] blue
t-leaf2 swp12 [10.9.0.10/31] blue
t-leaf3 lo [10.255.0.3/32]
t-leaf3 swp1 [10.1.3.0/31] blue
t-leaf3 swp11 [10.9.0.12/31] blue
t-leaf3 swp12 [10.9.0.14/31] blue
t-spine0 lo [10.254.0.0/32]
t-spine0 swp1 [10.9.0.1/31]
t-spine0 swp2 [10.9.0.5/31]
t-spine0 swp3 [10.9.0.9/31]
t-spine0 swp4 [10.9.0.13/31]
t-spine1 lo [10.254.0.1/32]
t-spine1 swp1 [10.9.0.3/31]
t-spine1 swp2 [10.9.0.7/31]
t-spine1 swp3 [10.9.0.11/31]
t-spine1 swp4 [10.9.0.15/31]`
	if diff := cmp.Diff(strings.TrimSpace(want), strings.Join(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, vlan := range map[string]uint16{"t-leaf0/swp1": tierVLAN, "n1/p0": tierVLAN, "t-leaf1/swp1": 0, "t-leaf0/swp11": 0} {
		if got := f.Segments[f.Ports[portNamed(t, f, name)].Native].VLAN; got != vlan {
			t.Errorf("%s is in VLAN %d, want %d", name, got, vlan)
		}
	}
}

// What an exception of a node says of a NIC holds like what the NIC says, and
// defaults where neither says anything.
func TestExceptionsReachInside(t *testing.T) {
	f := load(t, box+`
segment "a" {
  vlan   = 5
  subnet = "10.5.0.0/24"
  qos    = qos.q
}
segment "b" {
  vlan   = 6
  subnet = "10.6.0.0/24"
  qos    = qos.q
}
`+strings.Replace(nodes(2, 2), "slot     = each.value\n", `slot     = each.value
  except "n2" {
    nic "p0" {
      segment = segment.b
      ifname  = "ens9"
    }
    nic "p1" {
      address = "10.2.0.99/24"
    }
    reason = "r"
  }
`, 1)+`
override {
  on      = node.n["n1"].nic["p1"]
  set     = { tagged = [segment.b] }
  reason  = "r"
  expires = "2999-01-01"
}
defaults "nic" {
  segment = segment.a
}
`)
	var got []string
	for i := 1; i < len(f.Ifaces); i++ {
		x := &f.Ifaces[i]
		got = append(got, fmt.Sprintf("%s %s %v", f.Text(f.Devices[x.Device].Name), f.Text(x.Name), f.Addresses(x)))
	}
	want := []string{"n1 p0.5 [10.5.0.11/24]", "n1 p1.5 [10.5.0.11/24]", "n2 ens9.6 [10.6.0.12/24]", "n2 p1.5 [10.2.0.99/24]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, vlan := range map[string]uint16{"n1/p0": 5, "n2/p0": 6, "n2/p1": 5} {
		set := f.VLANSets[f.Ports[portNamed(t, f, name)].VLANs]
		if len(set) != 1 || f.Segments[set[0]].VLAN != vlan {
			t.Errorf("%s carries %v", name, set)
		}
	}
}

func TestRouting(t *testing.T) {
	source := box + `
segment "a" {
  vlan = 5
  qos  = qos.q
}
segment "b" {
  vlan = 6
  qos  = qos.q
}
routing "default" {
  paths   = "ecmp"
  default = true
}
routing "pods" {
  paths    = "up_down"
  repair   = "local"
  leak     = [{ from = segment.a, to = segment.b }]
  announce = ["10.0.0.0/8"]
}
topology "ring" "r" {
  routing = routing.pods
  leaf {
    count    = 2
    model    = "t/x"
    os       = "cumulus-linux/5.11"
    up_ports = "swp[1-2]"
  }
}
topology "ring" "q" {
  leaf {
    count    = 2
    model    = "t/x"
    os       = "cumulus-linux/5.11"
    up_ports = "swp[1-2]"
  }
}
`
	f := load(t, source)
	pods := f.Routings[f.RoutingOf(2)]
	if pods.Model != fabric.UpDown || !pods.LocalRepair || len(pods.Leaks) != 1 || f.Text(f.Segments[pods.Leaks[0].To].Name) != "b" || fmt.Sprint(pods.Announce) != "[10.0.0.0/8]" {
		t.Errorf("%+v", pods)
	}
	if other := f.Routings[f.RoutingOf(1)]; other.Model != fabric.ECMP || !other.Default {
		t.Errorf("%+v", other)
	}
	for edit, want := range map[string]string{
		`announce = ["10.0.0.1/8"]`: "announced prefix 10.0.0.1/8 has bits set beyond its length | [\"10.0.0.1/8\"]",
		`file = "x.csv"`:            "routing pods has a file, and its paths are not by table | \"x.csv\" | \"up_down\"",
	} {
		if diff := cmp.Diff(want, refused(t, strings.Replace(source, `announce = ["10.0.0.0/8"]`, edit, 1))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestRoutingTable: rows become devices, and what names none is said once, at
// its first cell.
func TestRoutingTable(t *testing.T) {
	source := box + nodes(2, 1) + `
routing "default" {
  paths   = "table"
  file    = "cables.csv"
  default = true
}
topology "leaf_spine" "t" {
  nodes = node.n
  leaf {
    count      = 2
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp[1-2]"
    up_ports   = "swp[11-14]"
  }
  spine {
    count = 2
    ports = "swp[1-8]"
  }
}
`
	f, said := withList(t, source, "at,from,to,next,priority\nt-leaf0,n1,n2,t-spine0,3\nt-spine0,*,n2,t-leaf1,\n")
	if said != "" {
		t.Fatal(said)
	}
	var got []string
	for _, r := range f.Routings[1].Table {
		got = append(got, fmt.Sprintf("%s: %s > %s via %s %d", f.Text(f.Devices[r.At].Name), f.Text(f.Devices[r.From].Name), f.Text(f.Devices[r.To].Name), f.Text(f.Devices[r.Next].Name), r.Priority))
	}
	if diff := cmp.Diff([]string{"t-leaf0: n1 > n2 via t-spine0 3", "t-spine0:  > n2 via t-leaf1 -1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f, said = withList(t, source, "at,from,to,next\nt-leaf0,n9,n2,t-spine0\nt-leaf0,n9,n2,t-spine1\nt-leaf7,n1,n2,t-spine0\nt-leaf0,n1,n2,t-spine9\nn1,,n2,t-leaf0\nn1,,n2,t-leaf1\n"+
		"t-leaf0,,n2,t-leaf0\nt-leaf0,,t-leaf0,t-spine0\nt-leaf0,n1,N2,t-spine1\n")
	want := strings.Join([]string{
		`no device is called "n9" | n9`, `no device is called "t-leaf7" | t-leaf7`, `no device is called "t-spine9" | t-spine9`,
		"n1 is a node, and tables are of switches | n1", "a way at t-leaf0 leads to t-leaf0 itself | t-leaf0", `no device is called "N2" | N2`,
	}, "\n")
	if diff := cmp.Diff(want, said); diff != "" || len(f.Routings[1].Table) > 0 {
		t.Errorf("%d rows, (-want +got):\n%s", len(f.Routings[1].Table), diff)
	}
	if diff := cmp.Diff("routing default is by table and names no file | \"table\"", refused(t, strings.Replace(source, `file    = "cables.csv"`, "", 1))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestExceptionsMoveNICs: `at` of an exception, of the NIC or inside of its node,
// comes before the NIC's own, and that of an override before both.
func TestExceptionsMoveNICs(t *testing.T) {
	source := func(except, rest string) string {
		text := strings.Replace(nodes(3, 1), "slot     = each.value\n", "slot     = each.value\n"+except, 1)
		text = strings.Replace(text, `speed = "400G"`, `speed = "400G"
    at    = topology.t.leaf[0].port["swp${each.value}"]`, 1)
		return box + text + rest + `
topology "leaf_spine" "t" {
  nodes = node.n
  leaf {
    count      = 2
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp[1-6]"
    up_ports   = "swp[11-14]"
  }
  spine {
    count = 2
    ports = "swp[1-8]"
  }
}
`
	}
	inner := func(node, port string) string {
		return "except \"" + node + "\" {\n nic \"p0\" {\n at = topology.t.leaf[0].port[\"" + port + "\"]\n }\n reason = \"r\"\n}\n"
	}
	override := `override {
  on      = node.n["n1"].nic["p0"]
  set     = { at = topology.t.leaf[1].port["swp6"] }
  reason  = "r"
  expires = "2999-01-01"
}
`
	for name, c := range map[string]struct {
		source string
		want   []string // of n1, n2, n3
	}{
		"own":        {source("", ""), []string{"t-leaf0/swp1", "t-leaf0/swp2", "t-leaf0/swp3"}},
		"moved":      {source(inner("n2", "swp5"), ""), []string{"t-leaf0/swp1", "t-leaf0/swp5", "t-leaf0/swp3"}},
		"exchanged":  {source(inner("n1", "swp2")+inner("n2", "swp1"), ""), []string{"t-leaf0/swp2", "t-leaf0/swp1", "t-leaf0/swp3"}},
		"overridden": {source(inner("n1", "swp2")+inner("n2", "swp1"), override), []string{"t-leaf1/swp6", "t-leaf0/swp1", "t-leaf0/swp3"}},
	} {
		f := load(t, c.source)
		var got []string
		for _, n := range []string{"n1/p0", "n2/p0", "n3/p0"} {
			got = append(got, f.PortName(f.Ports[portNamed(t, f, n)].Peer))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := refused(t, source(inner("n1", "swp3"), "")); !strings.HasPrefix(got, "n1/p0 and n3/p0 are both at t-leaf0/swp3 | ") {
		t.Errorf("two at one port: %s", got)
	}
}

// addresses lists the interfaces with their addresses, VRF and gateway, sorted.
func addresses(f *fabric.Fabric) []string {
	var got []string
	for i := 1; i < len(f.Ifaces); i++ {
		x := &f.Ifaces[i]
		line := f.Text(f.Devices[x.Device].Name) + " " + f.Text(x.Name) + " " + fmt.Sprint(f.Addresses(x))
		if x.VRF != 0 && f.Devices[x.Device].Kind == fabric.Switch {
			line += " " + f.Text(x.VRF)
		}
		if x.Gateway.Len() > 0 {
			line += " via " + f.Gateway(x).String()
		}
		got = append(got, line)
	}
	slices.Sort(got)
	return got
}

// Each link of a ring or full mesh has one pair of addresses, numbered at the
// switch that the links are counted at; switches of a list have their own values
// of the tier, by their place in it.
func TestFlatAddresses(t *testing.T) {
	const boxes = `
switch "s" {
  for_each = toset(["a", "b", "c"])
  model    = "t/x"
  os       = "cumulus-linux/5.11"
}
`
	tier := func(kind, switches string) string {
		return fmt.Sprintf(box+boxes+`
topology %q "t" {
  leaf {
    switches      = %s
    up_ports      = "swp[1-2]"
    fabric_subnet = "10.9.0.0/24"
    loopback      = "10.255.${leaf.index}.${leaf.name == "b" ? 7 : 8}/32"
  }
}`, kind, switches)
	}
	for name, c := range map[string]struct{ source, want string }{
		"ring":      {tier("ring", "switch.s"), "a lo [10.255.0.8/32]\na swp1 [10.9.0.0/31]\na swp2 [10.9.0.9/31]\nb lo [10.255.1.7/32]\nb swp1 [10.9.0.4/31]\nb swp2 [10.9.0.1/31]\nc lo [10.255.2.8/32]\nc swp1 [10.9.0.8/31]\nc swp2 [10.9.0.5/31]"},
		"full_mesh": {tier("full_mesh", "[switch.s[\"b\"], switch.s[\"a\"], switch.s[\"c\"]]"), "a lo [10.255.1.8/32]\na swp1 [10.9.0.1/31]\na swp2 [10.9.0.6/31]\nb lo [10.255.0.7/32]\nb swp1 [10.9.0.0/31]\nb swp2 [10.9.0.2/31]\nc lo [10.255.2.8/32]\nc swp1 [10.9.0.3/31]\nc swp2 [10.9.0.7/31]"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, strings.Join(addresses(load(t, c.source)), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
