package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
)

// layer3 is a fabric about addresses: a switch and nodes n1 to n4, each on a port of
// its own. What is not written is a segment with a subnet, and every NIC in it by its
// slot.
type layer3 struct {
	segment string // attributes of segment s
	subnet  string // "10.1.0.0/24"; "-": none
	tor     string // in the switch
	port    string // in each of its ports
	ports   [4]string
	nic     string // in each NIC
	nics    [4]string
	node    string // in each node, beside its NIC
	more    string
}

// blocks are those of the fabric, in an order that does not matter.
func (x *layer3) blocks() []string {
	contract, _, _ := strings.Cut(lint.TwoNodes(""), `segment "storage"`)
	subnet := ""
	if x.subnet != "-" {
		subnet = fmt.Sprintf("  subnet = %q\n", or(x.subnet, "10.1.0.0/24"))
	}
	blocks := []string{contract, "segment \"s\" {\n  vlan = 100\n  qos = qos.roce\n  mtu = 9000\n" + subnet + "  " + x.segment + "\n}\n"}
	var ports strings.Builder
	for i := range 4 {
		fmt.Fprintf(&ports, "  port \"Ethernet%d\" {\n    speed = \"100G\"\n    fec = \"rs\"\n    mtu = 9000\n    %s\n  }\n", 4*i, or(x.ports[i], or(x.port, "untagged = segment.s")))
		blocks = append(blocks, fmt.Sprintf(`node "n%d" {
  os   = "ubuntu/24.04"
  slot = %d
  qos  = qos.roce
  nic "p" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    fec   = "rs"
    mtu   = 9000
    %s
  }
  %s
}
`, i+1, i+1, or(x.nics[i], or(x.nic, "untagged = segment.s")), x.node), fmt.Sprintf(`link "n%d" {
  ends  = [node.n%[1]d.nic["p"], switch.tor.port["Ethernet%d"]]
  cable = { media = "dac", length = "3m" }
}
`, i+1, 4*i))
	}
	return append(blocks, "switch \"tor\" {\n  model = \"nvidia/sn3700\"\n  os = \"sonic/202505\"\n  qos = qos.roce\n  "+x.tor+"\n"+ports.String()+"}\n", x.more)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// second is a switch with one cable to the first; body is said of its port, tor of
// that of the first.
func second(tor, body string) (ports, more string) {
	return "  port \"Ethernet16\" {\n    speed = \"100G\"\n    fec = \"rs\"\n    mtu = 9000\n    " + tor + "\n  }\n", `switch "far" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  qos   = qos.roce
  port "Ethernet0" {
    speed = "100G"
    fec   = "rs"
    mtu   = 9000
    ` + body + `
  }
}
link "far" {
  ends  = [switch.tor.port["Ethernet16"], switch.far.port["Ethernet0"]]
  cable = { media = "dac", length = "3m" }
}
`
}

// svi is an interface of the switch in the segment.
func svi(address string) string {
	return fmt.Sprintf("interface \"svi\" {\n    on = segment.s\n    address = [%s]\n  }\n", address)
}

// vlan is an interface of every node on its NIC.
func vlan(address string) string {
	return "interface \"v\" {\n    on = \"p\"\n    segment = segment.s\n    address = " + address + "\n  }"
}

// pairs are routed ports with addresses of one subnet at both ends.
func pairs(x layer3) layer3 {
	for i := range 4 {
		x.ports[i] = or(x.ports[i], fmt.Sprintf("address = \"10.9.0.%d/31\"", 2*i))
		x.nics[i] = or(x.nics[i], fmt.Sprintf("address = \"10.9.0.%d/31\"\n    gateway = \"10.9.0.%d\"", 2*i+1, 2*i))
	}
	return x
}

const (
	outside = "ROCE620: 10.2.0.12/24 of n2/p is not in 10.1.0.0/24, the subnet of segment s"
	mask    = "ROCE620: 10.1.0.12/16 of n2/p has another mask than 10.1.0.0/24, the subnet of segment s"
)

// written are NICs with addresses of their own.
func written(list ...string) (nics [4]string) {
	for i, a := range list {
		nics[i] = "untagged = segment.s\n    address = [" + a + "]"
	}
	return nics
}

func at(i int, text string) (list [4]string) {
	list[i-1] = text
	return list
}

// layer3Cases are fabrics by what is found in them; astray are the ports that the
// proofs leave out.
func layer3Cases() []struct {
	name   string
	fabric layer3
	want   []string
	astray []string
} {
	uplink := func(x layer3, tor, far string) layer3 {
		x.tor, x.more = second(tor, far)
		return x
	}
	lag := func(tor, far string) layer3 {
		x := layer3{}
		x.tor, x.more = second("", "")
		body := "  lag \"PortChannel1\" {\n    members = \"Ethernet%d\"\n  }\n  interface \"up\" {\n    on = \"PortChannel1\"\n    address = %q\n  }\n"
		x.tor += fmt.Sprintf(body, 16, tor)
		x.more = strings.Replace(x.more, "  port \"Ethernet0\"", fmt.Sprintf(body, 0, far)+"  port \"Ethernet0\"", 1)
		return x
	}
	return []struct {
		name   string
		fabric layer3
		want   []string
		astray []string
	}{
		{"by slot", layer3{}, nil, nil},
		{"outside", layer3{nics: written("", `"10.2.0.12/24"`)}, []string{outside}, []string{"n2/p"}},
		{"another mask", layer3{nics: written("", `"10.1.0.12/16"`)}, []string{mask}, nil},
		{"no mask", layer3{nics: written("", `"10.1.0.12/32"`)}, []string{strings.Replace(mask, "/16", "/32", 1)}, nil},
		{"beside one in the subnet", layer3{nics: written("", `"10.1.0.12/24", "10.2.0.12/24", "10.3.0.1/32"`)}, nil, nil},
		{"of IPv6 besides", layer3{nics: written("", `"10.1.0.12/24", "fd00::12/64"`)}, nil, nil},
		{"of IPv6 alone", layer3{nics: written("", `"fd00::12/64"`)}, nil, nil},
		{"of the link", layer3{nics: written("", `"169.254.3.4/16"`)}, nil, nil},
		{"IPv6, by slot", layer3{subnet: "fd00:1::/64"}, nil, nil},
		{"IPv6, outside", layer3{subnet: "fd00:1::/64", nics: written("", `"fd00:2::12/64"`)}, []string{
			"ROCE620: fd00:2::12/64 of n2/p is not in fd00:1::/64, the subnet of segment s",
		}, []string{"n2/p"}},
		{"IPv6, another mask", layer3{subnet: "fd00:1::/64", nics: written("", `"fd00:1::12/48"`)}, []string{
			"ROCE620: fd00:1::12/48 of n2/p has another mask than fd00:1::/64, the subnet of segment s",
		}, nil},
		{"IPv6, of one host, as routers tell the prefix", layer3{subnet: "fd00:1::/64", nics: written("", `"fd00:1::12/128"`)}, nil, nil},
		{"by the subnet of the NIC", layer3{nics: at(2, "untagged = segment.s\n    subnet = \"10.2.0.0/24\"")}, []string{outside}, []string{"n2/p"}},
		{"by an exception", layer3{more: `node "x" {
  os   = "ubuntu/24.04"
  slot = 9
  qos  = qos.roce
  nic "p" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    fec      = "rs"
    untagged = segment.s
    except "p" {
      address = ["10.2.0.12/24"]
      reason  = "a test"
    }
  }
}
link "x" {
  ends  = [node.x.nic["p"], switch.tor.port["Ethernet16"]]
  cable = { media = "dac", length = "3m" }
}
`, tor: "port \"Ethernet16\" {\n    speed = \"100G\"\n    fec = \"rs\"\n    mtu = 9000\n    untagged = segment.s\n  }\n"}, []string{strings.Replace(outside, "n2", "x", 1)}, []string{"x/p"}},
		{"tagged", layer3{port: "tagged = segment.s", nic: "segment = segment.s", nics: at(2, "segment = segment.s\n    address = \"10.2.0.12/24\"")}, []string{
			strings.Replace(outside, "n2/p", "n2/p.100", 1),
		}, []string{"n2/p"}},
		{"an interface, and another on the NIC that is right", layer3{
			nics: at(1, "address = \"10.7.0.1/24\""), ports: at(1, "tagged = segment.s\n    address = \"10.7.0.2/24\""), port: "tagged = segment.s", nic: "address = \"none\"",
			node: vlan(`[self.name == "n1" ? "10.2.0.11/24" : "10.1.0.${self.slot + 10}/24"]`),
		}, []string{"ROCE620: 10.2.0.11/24 of n1/v is not in 10.1.0.0/24, the subnet of segment s"}, nil},
		{"by the VLAN of the switch port alone", layer3{nics: at(2, "address = \"10.2.0.12/24\"")}, []string{outside}, []string{"n2/p"}},
		{"the switch outside", layer3{tor: svi(`"10.2.0.1/24"`)}, []string{"ROCE620: 10.2.0.1/24 of tor/Vlan100 is not in 10.1.0.0/24, the subnet of segment s"}, nil},
		{"the switch outside, and so the gateway nowhere", layer3{segment: `gateway = "10.1.0.1"`, tor: svi(`"10.2.0.1/24"`)}, []string{
			"ROCE620: 10.2.0.1/24 of tor/Vlan100 is not in 10.1.0.0/24, the subnet of segment s",
		}, nil},
		{"the switch with a further one", layer3{tor: svi(`"10.1.0.1/24", "10.2.0.1/24", "fd00::1/64"`)}, nil, nil},

		{"no subnet: one alone", layer3{subnet: "-", nics: written(`"10.1.0.11/24"`, `"10.2.0.12/24"`, `"10.1.0.13/24"`, `"10.1.0.14/24"`)}, []string{
			"ROCE623: 10.2.0.12/24 of n2/p is in another subnet than the others in segment s: 3 of 4 are in 10.1.0.0/24",
		}, nil},
		{"no subnet: one alone, IPv6", layer3{subnet: "-", nics: written(`"fd00:1::1/64"`, `"fd00:1::2/64"`, `"fd00:1::3/64"`, `"fd00:2::4/64"`)}, []string{
			"ROCE623: fd00:2::4/64 of n4/p is in another subnet than the others in segment s: 3 of 4 are in fd00:1::/64",
		}, nil},
		{"no subnet: two and two", layer3{subnet: "-", nics: written(`"10.1.0.11/24"`, `"10.2.0.12/24"`, `"10.1.0.13/24"`, `"10.2.0.14/24"`)}, nil, nil},
		{"no subnet: outside of the router's", layer3{subnet: "-", tor: svi(`"10.1.0.1/24"`), nics: written(`"10.1.0.11/24"`, `"10.2.0.12/24"`, `"10.1.0.13/24"`, `"10.1.0.14/24"`)}, []string{
			"ROCE623: 10.2.0.12/24 of n2/p is not in 10.1.0.0/24, the subnet of tor/Vlan100 in segment s",
		}, []string{"n2/p"}},
		{"no subnet: the router outside", layer3{subnet: "-", tor: svi(`"10.2.0.1/24"`), nics: written(`"10.1.0.11/24"`, `"10.1.0.12/24"`, `"10.1.0.13/24"`, `"10.1.0.14/24"`)}, []string{
			"ROCE623: 10.2.0.1/24 of tor/Vlan100 is in another subnet than the others in segment s: 4 of 5 are in 10.1.0.0/24",
		}, nil},
		{"no subnet: hosts that share one besides the router's", layer3{subnet: "-", tor: svi(`"10.1.0.1/24"`), nics: written(`"10.1.0.11/24"`, `"10.2.0.12/24"`, `"10.1.0.13/24"`, `"10.2.0.14/24"`)}, nil, nil},

		{"routed ports", pairs(layer3{}), nil, nil},
		{"a routed port and its host", pairs(layer3{nics: at(2, `address = "10.9.0.13/31"`)}), []string{
			"ROCE621: n2/p has 10.9.0.13/31 and its peer tor/Ethernet4 has 10.9.0.2/31: the ends of one cable are in two subnets",
		}, []string{"n2/p", "tor/Ethernet4"}},
		{"a routed port and its host, IPv6", pairs(layer3{ports: at(2, `address = "fd00::2/127"`), nics: at(2, `address = "fd00::4/127"`)}), []string{
			"ROCE621: n2/p has fd00::4/127 and its peer tor/Ethernet4 has fd00::2/127: the ends of one cable are in two subnets",
		}, []string{"n2/p", "tor/Ethernet4"}},
		{"two masks", pairs(layer3{nics: at(2, `address = "10.9.0.3/24"`)}), []string{
			"ROCE621: n2/p has 10.9.0.3/24 and its peer tor/Ethernet4 has 10.9.0.2/31: the ends of one cable have two masks",
		}, nil},
		{"IPv4 and IPv6", pairs(layer3{nics: at(2, `address = "fd00::1/127"`)}), []string{
			"ROCE621: n2/p has fd00::1/127 and its peer tor/Ethernet4 has 10.9.0.2/31: the ends of one cable are in two subnets",
		}, []string{"n2/p", "tor/Ethernet4"}},
		{"one family of two", pairs(layer3{ports: at(2, `address = ["10.9.0.2/31", "fd00::2/127"]`), nics: at(2, `address = ["10.9.0.3/31", "fd00::4/127"]`)}), []string{
			"ROCE621: n2/p has fd00::4/127 and its peer tor/Ethernet4 has fd00::2/127: the ends of one cable are in two subnets",
		}, nil},
		{"both families", pairs(layer3{ports: at(2, `address = ["10.9.0.2/31", "fd00::2/127"]`), nics: at(2, `address = ["fd00::3/127", "10.9.0.3/31"]`)}), nil, nil},
		{"a further address on an interface of its own", pairs(layer3{node: "interface \"alias\" {\n    on = \"p\"\n    address = \"10.77.${self.slot}.1/24\"\n  }"}), nil, nil},
		{"without an address on the host", pairs(layer3{nics: at(2, `address = "none"`)}), nil, nil},

		{"an uplink", uplink(layer3{}, `address = "10.99.0.0/31"`, `address = "10.99.0.1/31"`), nil, nil},
		{"an uplink in two subnets", uplink(layer3{}, `address = "10.99.0.0/31"`, `address = "10.99.0.5/31"`), []string{
			"ROCE621: far/Ethernet0 has 10.99.0.5/31 and its peer tor/Ethernet16 has 10.99.0.0/31: the ends of one cable are in two subnets",
		}, []string{"far/Ethernet0", "tor/Ethernet16"}},
		{"an uplink in two VRFs", uplink(layer3{}, "address = \"10.99.0.0/31\"\n    vrf = \"red\"", `address = "10.99.0.1/31"`), nil, nil},
		{"an uplink with an address at one end", uplink(layer3{}, `address = "10.99.0.0/31"`, ``), []string{
			"ROCE621: tor/Ethernet16 has 10.99.0.0/31, and its peer far/Ethernet0 has no address",
		}, nil},
		{"an uplink to a switch that somebody else writes", uplink(layer3{}, `address = "10.99.0.0/31"`, `manage = "none"`), nil, nil},
		{"an unnumbered uplink", uplink(layer3{}, ``, ``), nil, nil},
		{"an uplink with the addresses of the loopbacks", uplink(layer3{}, `address = "10.0.0.1/32"`, `address = "10.0.0.2/32"`), nil, nil},
		{"an uplink of the link's own addresses", uplink(layer3{}, `address = "fe80::1/64"`, `address = "fe80::2/64"`), nil, nil},
		{"a LAG", lag("10.99.0.0/31", "10.99.0.1/31"), nil, nil},
		{"a LAG in two subnets", lag("10.99.0.0/31", "10.99.0.5/31"), []string{
			"ROCE621: far/up has 10.99.0.5/31 and its peer tor/up has 10.99.0.0/31: the ends of one cable are in two subnets",
		}, []string{"far/Ethernet0", "tor/Ethernet16"}},

		{"a gateway that the switch has", layer3{segment: `gateway = "10.1.0.1"`, tor: svi(`"10.1.0.1/24"`)}, nil, nil},
		{"a gateway that the switch does not have", layer3{segment: `gateway = "10.1.0.1"`, tor: svi(`"10.1.0.2/24"`)}, []string{"ROCE622: nothing in segment s has 10.1.0.1, its gateway"}, nil},
		{"the same, IPv6", layer3{subnet: "fd00:1::/64", segment: `gateway = "fd00:1::1"`, tor: svi(`"fd00:1::2/64"`)}, []string{"ROCE622: nothing in segment s has fd00:1::1, its gateway"}, nil},
		{"a gateway that nobody has", layer3{segment: `gateway = "10.1.0.1"`}, []string{"ROCE622: nothing in segment s has 10.1.0.1, its gateway"}, nil},
		{"a gateway that a node has", layer3{segment: `gateway = "10.1.0.14"`, nics: written(`"10.1.0.21/24"`, `"10.1.0.22/24"`, `"10.1.0.23/24"`)}, []string{
			"ROCE614: 10.1.0.14 is the address of n4/p and of its gateway",
		}, nil},
		{"a gateway outside of the fabric", layer3{segment: "gateway = \"10.1.0.1\"\n  external_gateway = true"}, nil, nil},
		{"a gateway outside of the fabric, and a switch that routes", layer3{segment: "gateway = \"10.1.0.1\"\n  external_gateway = true", tor: svi(`"10.1.0.2/24"`)}, nil, nil},
		{"a gateway behind an external port", layer3{segment: `gateway = "10.1.0.1"`, tor: "port \"Ethernet16\" {\n    external = true\n    tagged = segment.s\n  }\n"}, nil, nil},
		{"a gateway on a switch that is taken as it is", layer3{segment: `gateway = "10.1.0.1"`, tor: `manage = "none"`}, nil, nil},
		{"a segment without hosts", layer3{segment: `gateway = "10.1.0.1"`, nic: `address = "none"`}, nil, nil},
		{"an isolated segment", layer3{segment: "gateway = \"10.1.0.1\"\n  isolated = true"}, nil, nil},
		{"the gateway of a host", layer3{tor: svi(`"10.1.0.1/24"`), nics: at(2, "untagged = segment.s\n    address = \"10.1.0.12/24\"\n    gateway = \"10.1.0.3\"")}, []string{
			"ROCE622: nothing in segment s has 10.1.0.3, the gateway of n2/p",
		}, nil},
		{"the gateway of a host, marked", layer3{
			tor: svi(`"10.1.0.1/24"`), nics: at(2, "untagged = segment.s\n    address = \"10.1.0.12/24\"\n    gateway = \"10.1.0.3\"\n    external_gateway = true"),
		}, nil, nil},
		{"the gateway of a routed port", pairs(layer3{ports: at(2, `address = "10.9.1.1/24"`), nics: at(2, "address = \"10.9.1.9/24\"\n    gateway = \"10.9.1.2\"")}), []string{
			"ROCE622: nothing at the other end of n2/p has 10.9.1.2, its gateway",
		}, nil},
		{"the gateway of a port without an address", layer3{port: "admin = \"up\"", nic: `address = "none"`, nics: at(2, "address = \"10.9.1.9/24\"\n    gateway = \"10.9.1.2\"")}, []string{
			"ROCE622: nothing at the other end of n2/p has 10.9.1.2, its gateway",
		}, nil},
	}
}

const layer3Rules = "ROCE614 ROCE620 ROCE621 ROCE622 ROCE623"

// TestNeighbours: every address fits what is around it, or a rule says which does not,
// whatever the order of the blocks.
func TestNeighbours(t *testing.T) {
	for _, x := range layer3Cases() {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			blocks := x.fabric.blocks()
			for range 2 {
				r := compiledResult(t, strings.Join(blocks, ""))
				if d := cmp.Diff(x.want, findings(r.Diags, layer3Rules)); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
				for _, d := range r.Diags {
					if strings.HasPrefix(d.Rule, "ROCE62") && len(d.Labels) < 2 && !strings.Contains(d.Summary, "nothing ") {
						t.Errorf("%s shows one line", d.Summary)
					}
				}
				if d := cmp.Diff(x.astray, astray(r.Fabric)); d != "" {
					t.Errorf("ports that the proofs leave out (-want +got)\n%s", d)
				}
				slices.Reverse(blocks)
			}
		})
	}
}

// astray are the ports on which no address fits.
func astray(f *fabric.Fabric) (list []string) {
	for p := fabric.PortID(1); int(p) < len(f.Ports); p++ {
		if f.Ports[p].Flags&fabric.Astray != 0 {
			list = append(list, f.PortName(p))
			if f.Unneighbourly(p) == nil {
				list = append(list, f.PortName(p)+" for no reason")
			}
		}
	}
	slices.Sort(list)
	return list
}

// tiered is a topology whose leaves have a subnet each; body is said of the second NIC
// of its nodes by an exception.
func tiered(leaf, body string) string {
	contract, _, _ := strings.Cut(lint.TwoNodes(""), `segment "storage"`)
	return contract + `node "gpu" {
  for_each = { gpu1 = 1, gpu2 = 2, gpu3 = 3 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "rail[0-1]" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    mtu   = 9000
    except "rail1" {
      reason = "a test"
      ` + body + `
    }
  }
}
topology "rail_optimized" "pod" {
  qos   = qos.roce
  nodes = node.gpu
  leaf {
    count      = 2
    model      = "nvidia/sn3700"
    os         = "sonic/202505"
    node_ports = "Ethernet[0-12:4]"
    up_ports   = "Ethernet[64-76:4]"
    subnet     = "10.${1 + leaf.index}.0.0/24"
    speed      = "100G"
    fec        = "rs"
    cable      = { media = "dac", length = "3m" }
    ` + leaf + `
  }
  spine {
    count = 2
    model = "nvidia/sn3700"
    os    = "sonic/202505"
    ports = "Ethernet[0-12:4]"
    speed = "100G"
    fec   = "rs"
    cable = { media = "dr", length = "20m" }
  }
}
`
}

// TestNeighboursAround: bonds, teams, generated leaves, and segments that are one
// number on many switches.
func TestNeighboursAround(t *testing.T) {
	const perPort = "addressing = \"per_port\"\n    fabric_subnet = \"10.253.0.0/24\""
	second := func(address string) string { return `address = self.name == "gpu2" ? ["` + address + `"] : ` }
	team := lint.Edit(lint.WindowsTeam("set"), "10.100.0.22/24", "10.101.0.40/24")
	for _, x := range []struct {
		name, text, at string
		want           []string
		astray         []string
	}{
		{"a bond", lint.Edit(lint.Bonded(""), "    members = \"p[0-1]\"\n", "    members = \"p[0-1]\"\n    address = \"10.101.0.19/24\"\n"), `10.101.0.19`, []string{
			"ROCE620: 10.101.0.19/24 of b/bond0 is not in 10.100.0.0/24, the subnet of segment storage",
		}, []string{"b/p0", "b/p1"}},
		{"a vNIC of a team", team, `10.101.0.40`, []string{
			"ROCE620: 10.101.0.40/24 of b/smb1 is not in 10.100.0.0/24, the subnet of segment storage",
		}, []string{"b/p1"}},
		{"generated", tiered("", ""), "", nil, nil},
		{"generated, by port", tiered(perPort, ""), "", nil, nil},
		{"a leaf and its host", tiered("", second("10.1.0.99/24")+`["10.2.0.${10 + self.slot}/24"]`), "10.1.0.99", []string{
			"ROCE623: 10.1.0.99/24 of gpu2/rail1 is not in 10.2.0.0/24, the subnet of pod-leaf1/Vlan2 in segment pod",
		}, []string{"gpu2/rail1"}},
		{"a leaf's port and its host", tiered(perPort, second("10.2.0.9/31")+`["10.2.0.${2 * self.slot - 1}/31"]`), "10.2.0.9", []string{
			"ROCE621: gpu2/rail1 has 10.2.0.9/31 and its peer pod-leaf1/Ethernet4 has 10.2.0.2/31: the ends of one cable are in two subnets",
		}, []string{"gpu2/rail1", "pod-leaf1/Ethernet4"}},
		{"a leaf and the gateway of its host", tiered("", second("10.2.0.12/24")+"[\"10.2.0.${10 + self.slot}/24\"]\n      gateway = self.name == \"gpu2\" ? \"10.2.0.7\" : \"10.2.0.1\""), `"10.2.0.7"`, []string{
			"ROCE622: nothing in segment pod has 10.2.0.7, the gateway of gpu2/rail1",
		}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			r := compiledResult(t, x.text)
			if d := cmp.Diff(x.want, findings(r.Diags, layer3Rules)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if d := cmp.Diff(x.astray, astray(r.Fabric)); d != "" {
				t.Errorf("ports that the proofs leave out (-want +got)\n%s", d)
			}
			for _, d := range r.Diags {
				if span := d.Labels[0].Span; strings.HasPrefix(d.Rule, "ROCE62") && !strings.Contains(x.text[span.Start:span.Start+span.Len], x.at) {
					t.Errorf("%s: at %q", d.Summary, x.text[span.Start:span.Start+span.Len])
				}
			}
		})
	}
}
