package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/lint"
)

// TestBufferVariants are fabrics beside the examples of the rules on buffers:
// near misses that stay silent, and second ways to be wrong.
func TestBufferVariants(t *testing.T) {
	const pools = "ROCE506 ROCE507 ROCE508 ROCE509"
	const written = "ROCE501 ROCE511 ROCE514 ROCE519"
	headroom := func(n string) string { return lint.TwoNodes(`headroom = ` + n) }
	far := func(n string) string { // 200 m of cable behind one port
		return lint.Edit(headroom(n), `media = "dac", length = "3m"`, `media = "fr", length = each.key == "n1" ? "200m" : "3m"`)
	}
	shared := func(buffer string) string {
		return lint.TwoNodesEdit(`switch "tor" {`, "switch \"tor\" {\n  buffer = { "+buffer+" }")
	}
	for _, x := range []struct {
		name, rules, text string
		want              []string
	}{
		{"alpha of a class", "ROCE505", lint.TwoNodesEdit(`ecn       = "auto"`, "ecn       = \"auto\"\n    buffer    = { alpha = 16 }"), []string{"ROCE505: alpha of class rdma is 16"}},
		{"alpha at the limits", "ROCE505", lint.TwoNodesEdit(`ecn       = "auto"`, "ecn       = \"auto\"\n    buffer    = { alpha = 8 }", `switch "tor" {`, "switch \"tor\" {\n  buffer = { alpha = \"1/32\" }"), nil},

		{"headroom inside the ingress pool, as Trident 3 images have it", pools, swap(t, lint.WithPools(`ingress = 32756480, headroom = 2621440, egress_lossy = 24709632, egress_lossless = 32475136`), "nvidia/sn3700", "dell/s5232f-on"), nil},
		{"pools as Tomahawk images have them", pools, swap(t, lint.WithPools(`ingress = 10875072, headroom = 4194112, egress_lossy = 9243812, egress_lossless = 15982720`), "nvidia/sn3700", "dell/z9100-on"), nil},
		{"a pool larger than the chip", pools, lint.WithPools(`ingress = "40MB"`), []string{"ROCE506: pools of tor need 40000000 B, and nvidia/sn3700 has 34287552 B"}},
		{"what is written goes before what was found", pools, lint.TwoNodesEdit(`switch "tor" {`, "switch \"tor\" {\n  buffer = { shared = \"20MB\" }\n  observed = { pools = { ingress = \"40MB\", egress_lossy = \"19MB\" } }"), nil},
		{"written pools too", pools, shared(`shared = "30MB", headroom = "10MB"`), []string{"ROCE506: pools of tor need 40000000 B, and nvidia/sn3700 has 34287552 B"}},
		{"no ingress pool is known", pools, lint.WithPools(`egress_lossy = "30MB"`), nil},
		{"a pool with no limit", pools, shared(`headroom = "46KB"`), nil},
		{"a pool smaller than one group", pools, shared(`headroom = "40KB"`), []string{"ROCE509: the shared headroom pool of tor is 40000 B, and one of its lossless groups alone needs 45056 B"}},

		{"xon without a known threshold", "ROCE510", swap(t, lint.TightXon(`"1MB"`), `ecn       = { min = "70KB", max = "150KB", probability = 5 }`, `ecn       = "off"`), nil},
		{"xon two frames below", "ROCE510", lint.TightXon(`141567`), nil},
		{"xon one byte too high", "ROCE510", lint.TightXon(`141568`), []string{
			"ROCE510: class rdma resumes at 141568 B on tor/Ethernet0, which pauses at 159999 B at the latest: frames there have up to 9216 B",
		}},

		{"the physical minimum", written, headroom("18763"), []string{"ROCE519: headroom of priority 3 on tor/Ethernet0 is 18763 B, and the budget of IEEE 802.3 is 43979 B"}},
		{"below the physical minimum", written, headroom("18762"), []string{"ROCE501: headroom of priority 3 on tor/Ethernet0 is 18762 B, and the physical minimum for 3m is 18763 B"}},
		{"one byte below the budget of the frames of RDMA", written, headroom("34074"), []string{"ROCE519: headroom of priority 3 on tor/Ethernet0 is 34074 B, and the budget of IEEE 802.3 is 43979 B"}},
		{"the budget of the frames of RDMA", written, headroom("34200"), []string{
			"ROCE511: headroom of priority 3 on tor/Ethernet0 is 34200 B: enough for frames of RDMA, and the port carries frames of 9216 B, for which it takes 43979 B",
		}},
		{"the budget", written, headroom("43979"), nil},
		{"more than the budget for a longer cable", written, headroom("58752"), nil},
		{"the size for 5 m, on 200 m", written, far("44232"), []string{"ROCE514: headroom of priority 3 on tor/Ethernet0 is 44232 B, which is for a cable of 5m, and the cable has 200m"}},
		{"no size of whole metres, on 200 m", written, far("60000"), []string{
			"ROCE511: headroom of priority 3 on tor/Ethernet0 is 60000 B: enough for frames of RDMA, and the port carries frames of 9216 B, for which it takes 68853 B",
		}},

		{"the image takes them back", "ROCE515", swap(t, lint.IdlePort("qos = qos.roce"), `model = "example/no-dscp"`, `model = "nvidia/sn3700"`), nil},
		{"cells of a chip that says nothing", "ROCE517", swap(t, lint.Edit(lint.IdlePort("headroom = 60001"), `untagged = segment.storage
    }`, "untagged = segment.storage\n    headroom = 50001\n  }"), "  cell         = 256\n", ""), nil},
		{"four lanes of 100G", "ROCE518", swap(t, lint.LaneSwitch("4"), "lane_gbps = 50", "lane_gbps = 100"), nil},
		{"lanes of an unknown rate", "ROCE518", swap(t, lint.LaneSwitch("4"), "lane_gbps = 50", "other = 1"), nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(x.want, findings(compiled(t, x.text), x.rules)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestHostVariants are the same for what is known of hosts and adapters.
func TestHostVariants(t *testing.T) {
	gid := func(index string) string { return lint.FourNodes(``, `gid_index = `+index) }
	for _, x := range []struct {
		name, rules, text string
		want              []string
	}{
		{"a version with a wildcard", "ROCE708", lint.Validated("22.99.*"), nil},
		{"conditions", "ROCE708", lint.Validated(">= 22.99"), nil},
		{"the wildcard of the list", "ROCE708", lint.Validated("22.41.*"), nil},
		{"another version of it", "ROCE708", lint.Validated("22.39.1003"), []string{
			"ROCE708: firmware of nic n1/rail0 is 22.39.1003, which was not tested",
		}},
		{"no list for the model", "ROCE708", swap(t, lint.Validated("1.1"), `{ "nvidia/connectx-6-dx" =`, `{ "nvidia/connectx-7" =`), nil},
		{"two of two", "ROCE711", lint.TwoNodesEdit(`model    = "nvidia/connectx-6-dx"`, "model    = \"nvidia/connectx-6-dx\"\n    driver_origin = self.slot == 1 ? \"inbox\" : \"vendor\""), []string{
			"ROCE711: drivers differ between NICs that are alike: the system's on n1/rail0 and the maker's on n2/rail0",
		}},
		{"half of it is known", "ROCE711", lint.FourNodes(``, `driver_origin = self.name == "n1" ? "inbox" : null`), nil},
		{"a lab", "ROCE712", swap(t, lint.SoftNode("linux/rxe"), `"nvidia/connectx-6-dx"`, `"linux/rxe"`), nil},
		{"locked memory on Windows", "ROCE714", swap(t, lint.Knowing(`memlock  = "64MiB"`), "ubuntu/24.04", "windows-server/2025"), nil},
		{"modules on Windows", "ROCE716", swap(t, lint.Knowing(`modules  = []`), "ubuntu/24.04", "windows-server/2025"), nil},
		{"no modules", "ROCE716", lint.Knowing(`modules  = []`), []string{"ROCE716: n1 has not loaded mlx5_ib, and class rdma runs on its nvidia/connectx-6-dx"}},
		{"one GID of four", "ROCE715", gid(`self.name == "n2" ? 5 : 3`), []string{"ROCE715: nic n2/rail0 is used with GID 5, 3 of 4 NICs of its class with GID 3"}},
		{"two and two", "ROCE715", gid(`self.slot > 2 ? 5 : 3`), []string{"ROCE715: nic n1/rail0 is used with GID 3, nic n3/rail0 with GID 5"}},
		{"the first that is not link-local", "ROCE715", gid(`2`), nil},
		{"active-backup on Windows", "ROCE718", lint.WindowsTeam("active_backup"), []string{"ROCE718: bond0 of b is a team of mode active_backup, and b/p0 carries RDMA"}},
		{"consumers of the class", "ROCE713 ROCE719", lint.Edit(lint.Knowing(`consumers = ["nccl"]`), `ecn       = "auto"`, "ecn       = \"auto\"\n    consumers = [\"nccl\", \"nvme-of\"]"), nil},
		{"consumers of another class", "ROCE713 ROCE719", lint.Edit(lint.Knowing(`consumers = ["ceph"]`), `ecn       = "auto"`, "ecn       = \"auto\"\n    consumers = [\"nccl\"]"), []string{
			"ROCE719: n1 has NICs with class rdma, and nothing on it is a consumer of that class",
		}},
		{"no class names consumers", "ROCE713 ROCE719", lint.Knowing(`consumers = ["ceph"]`), nil},
		{"nothing says with whom it works", "ROCE721", lint.Mixed(``), nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			got := findings(compiled(t, x.text), x.rules)
			if d := cmp.Diff(x.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestTopologyVariants are the same for bonds, pairs, bridging and spreading.
func TestTopologyVariants(t *testing.T) {
	circle := `tagged = segment.storage`
	spines := func(class string) string {
		return lint.Edit(lint.TwoSpines(``, ``, lint.EvenUplinks), `ecn       = "auto"`, "ecn       = \"auto\"\n    "+class)
	}
	legs := func(port string) string { return lint.PairedLegs(port) }
	apart := func(segment, more string) string { // n2 on a switch of its own
		return lint.TwoNodesEdit(`  qos    = qos.roce`, "  qos    = qos.roce\n  "+segment, `switch "tor" {`, `switch "far" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  port "Ethernet[0-8:4]" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
  }
}
switch "tor" {
  port "Ethernet8" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
  }`, `switch.tor.port[each.value]]`, `each.key == "n2" ? switch.far.port["Ethernet0"] : switch.tor.port["Ethernet0"]]`) + more
	}
	const joined = "link \"isl\" {\n  ends  = [switch.far.port[\"Ethernet8\"], switch.tor.port[\"Ethernet8\"]]\n  cable = { media = \"dac\", length = \"3m\" }\n}\n"
	untold := func(nic string) string {
		const native = "    untagged = segment.storage"
		return lint.TwoNodesEdit(native, "    qos    = qos.roce", native, "    qos    = qos.roce", native, nic)
	}
	for _, x := range []struct {
		name, rules, text string
		want              []string
	}{
		{"a segment on two switches that nothing joins", "ROCE805", apart("", ""), []string{"ROCE805: n1 and n2 are both in segment storage, and no link carries VLAN 100 between their switches"}},
		{"a segment on two switches that a link joins", "ROCE805", apart("", joined), nil},
		{"a segment on two switches that is routed", "ROCE805", apart(`gateway = "10.100.0.1"`, ""), nil},

		{"NICs of which nothing is said, below ports with PFC", "ROCE322", untold(""), []string{
			"ROCE322: nic n1/rail0 has no qos, and its peer tor/Ethernet0 has PFC [3]: whether it honours pauses, and as what it sends, is not known",
			"ROCE322: nic n2/rail0 has no qos, and its peer tor/Ethernet4 has PFC [3]: whether it honours pauses, and as what it sends, is not known",
		}},
		{"and that others see to", "ROCE322", untold(`    manage = "none"`), nil},

		{"MTU 4192", "ROCE807 ROCE808", lint.SmallMTU("4192"), nil},
		{"MTU 4191", "ROCE807 ROCE808", lint.SmallMTU("4191"), []string{"ROCE808: MTU 4191 of n1/rail0 gives RDMA MTU 2048, and class rdma asks for 4096"}},
		{"MTU 4155", "ROCE808", lint.SmallMTU("4155"), nil},
		{"one adapter of an unknown slot", "ROCE812", lint.Bonded(`speed = "100G"`), nil},
		{"two models", "ROCE812", lint.Edit(lint.Bonded(`speed = "100G"`), `nic "p1" {
    model = "nvidia/connectx-6-dx"`, `nic "p1" {
    model = "nvidia/connectx-7"`), []string{"ROCE812: bond0 of b carries RDMA over two adapters: b/p0 is a nvidia/connectx-6-dx, b/p1 a nvidia/connectx-7"}},
		{"a bond without RDMA", "ROCE812", lint.Edit(lint.TwoAdapters("0000:5e:00.0"), `members = "p[0-1]"
    untagged = segment.storage`, `members = "p[0-1]"`), nil},
		{"one queue pair and one uplink", "ROCE813", lint.TwoNodesEdit(`ecn       = "auto"`, "ecn       = \"auto\"\n    qps       = 1"), nil},
		{"two queue pairs", "ROCE813", spines(`qps = 2`), nil},
		{"one queue pair over a bond", "ROCE813", lint.Edit(lint.Bonded(`speed = "100G"`), `ecn       = "auto"`, "ecn       = \"auto\"\n    qps       = 1"), []string{
			"ROCE813: peers of class rdma open 1 queue pair, which uses 1 of 2 links: bond0 of b",
		}},
		{"legs of other MTUs", "ROCE814", legs(`mtu = self.name == "tor1" ? 9216 : 9000`), nil}, // the jumbo limit of both holds
		{"buffers of a pair", "ROCE814", swap(t, legs(``), `os       = "cumulus-linux/5.9"`, "os       = \"cumulus-linux/5.9\"\n  buffer   = { alpha = self.name == \"tor1\" ? \"1/8\" : \"1/4\" }"), []string{
			"ROCE814: tor1 and tor2 are a pair and share their buffers in different ways: alpha is 1/8 and 1/4",
		}},
		{"VLANs of the legs", "ROCE814", swap(t, swap(t, legs(``), "    untagged = segment.storage\n    \n", "    untagged = self.name == \"tor1\" ? segment.storage : segment.office\n"), `mlag "pair" {`, "segment \"office\" {\n  vlan = 10\n  qos  = qos.roce\n}\nmlag \"pair\" {"), []string{
			"ROCE814: tor1/swp1 and tor2/swp1 are the legs of bond0 and differ in VLANs: 100 untagged and 10 untagged",
		}},
		{"tables that age together", "ROCE818", lint.Aging("1080s"), nil},
		{"a switch that does not route", "ROCE818", strings.Replace(lint.Aging("300s"), "on      = segment.storage\n    address = [\"10.100.0.1/24\"]", "on      = \"lo\"\n    address = [\"10.255.0.1/32\"]", 1), nil},
		{"a host elsewhere routes, and both are written", "ROCE818", lint.TwoNodesEdit(`switch "tor" {`, "switch \"tor\" {\n  arp_timeout = \"4h\"\n  mac_timeout = \"4h\""), nil},
		{"ARP of four hours, MAC of five minutes", "ROCE818", strings.Replace(lint.Aging("300s"), "mac_timeout", "arp_timeout = \"4h\"\n  mac_timeout", 1), []string{
			"ROCE818: tor keeps ARP entries for 14400 s and MAC addresses for 300 s: between the two it floods lossless frames",
		}},
		{"SONiC as it comes, which asks its neighbours again", "ROCE818", strings.NewReplacer(`"cumulus-linux/5.13"`, `"sonic/202505"`, `  mac_timeout = "300s"`, "", "swp1", "Ethernet0", "swp2", "Ethernet4").Replace(lint.Aging("300s")), nil},
		{"a system of which nothing is known", "ROCE818", strings.Replace(lint.Aging("300s"), "cumulus-linux/5.13", "junos/23.4", 1), nil},
		{"nothing is lossless", "ROCE818", swap(t, lint.Aging("300s"), `ecn       = "auto"`, "ecn       = \"auto\"\n    lossless  = false"), nil},
		{"a circle of which nothing is known", "ROCE819", lint.Triangle(``, circle), nil},
		{"a circle with one unknown switch", "ROCE819", lint.Triangle(`stp = self.name == "b" ? null : "off"`, circle), nil},
		{"a circle without the VLAN", "ROCE819", lint.Triangle(`stp = "off"`, `qos = qos.roce`), nil},
		{"a circle with one link shut", "ROCE819", lint.Triangle(`stp = "off"`, circle+"\n    admin = self.name == \"c\" && port.index != 1 ? \"down\" : \"up\""), nil},
		{"a pair is no circle", "ROCE819 ROCE820", swap(t, legs(``), `os       = "cumulus-linux/5.9"`, "os       = \"cumulus-linux/5.9\"\n  stp      = \"off\""), nil},
		{"active-backup over two switches", "ROCE820", swap(t, lint.Unpaired(``), `"lacp"`, `"active_backup"`), nil},
		{"two switches of which nothing is known", "ROCE820", swap(t, lint.Unpaired(``), `os       = "cumulus-linux/5.9"`, "os       = \"cumulus-linux/5.9\"\n  manage   = \"none\""), nil},
		{"a NIC that says nothing of order", "ROCE821", lint.Adaptive("intel/e810", "adaptive = true"), []string{"ROCE821: nic n1/rail0 (intel/e810) is not known to take packets out of order, and its fabric routes adaptively"}},
		{"NICs that can, and of which nothing says that they do", "ROCE821", lint.Adaptive("nvidia/connectx-6-dx", "adaptive = true"), []string{
			"ROCE821: routing default is adaptive, and nothing says that its NICs, n1/rail0 among them, are set to take packets in any order",
		}},
		{"the function that the system has by itself, on one tier", "ROCE816", lint.ThreeTiers(`hash = { function = "CRC" }`, ``), []string{
			"ROCE816: nothing makes tor and spine1 above it hash differently: their system gives both one seed",
		}},
		{"Cumulus Linux, which gives each switch a seed", "ROCE816", strings.NewReplacer("sonic/202505", "cumulus-linux/5.13", "Ethernet0", "swp1", "Ethernet4", "swp2", "Ethernet8", "swp3", "Ethernet12", "swp4").Replace(
			lint.ThreeTiers(``, ``)), nil},
		{"spines that have one way up", "ROCE816", strings.Replace(lint.ThreeTiers(``, ``), `Ethernet8 = "core1", Ethernet12 = "core2"`, `Ethernet8 = "core1"`, 2), nil},
		{"two tiers", "ROCE816", lint.TwoSpines(`hash = { function = "XOR" }`, `hash = { function = "XOR" }`, lint.EvenUplinks), nil},
		{"spines with less above than below", "ROCE809", lint.SlowSpines("4"), []string{
			"ROCE809: spine1 takes 400G from lower switches and its uplinks carry 50G: 8:1, and class rdma allows 4:1",
		}},
		{"spines with less above than below, and a class that allows it", "ROCE809", lint.SlowSpines("8"), nil},
		{"a LAG of SONiC that says no rate, beside a fast bond", "ROCE836", lint.RatedLAG(``), []string{
			"ROCE836: the LACP rates of a LAG differ: PortChannel8 of tor is slow (its system's own), bond0 of b is fast",
		}},
		{"ends that both say no rate", "ROCE836", swap(t, lint.RatedLAG(``), "rate    = \"fast\"", ""), nil},
		{"a bond by ports and addresses", "ROCE835", strings.Replace(lint.Bonded(``), `mode    = "lacp"`, "mode    = \"lacp\"\n    hash_policy = \"layer2+3\"", 1), nil},
		{"a pair that EVPN joins", "ROCE820 ROCE814", lint.MultihomedPair(), nil},
		{"routes of one flow", "ROCE821", swap(t, lint.Adaptive("nvidia/connectx-4", "adaptive = true"), "adaptive = true", "adaptive = false"), nil},
		{"rails that keep to themselves", "ROCE824", swap(t, lint.CrossRail(``), "cross_rail = true", "cross_rail = false"), nil},
		{"an overlay over bridged links", "ROCE826", swap(t, lint.Overlaid("9000"), `overlay = "vxlan"`, ``), nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			got := findings(compiled(t, x.text), x.rules)
			if d := cmp.Diff(x.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestKnownRefusals: what is known of devices is refused where it says nothing.
// TestMarkingVariants are the same for markings and priorities.
func TestMarkingVariants(t *testing.T) {
	step := func(probability string) string {
		return lint.TwoNodesEdit(`ecn       = "auto"`, `ecn       = { min = "150KB", max = "150KB", probability = `+probability+` }`)
	}
	two := func(most string) string {
		return swap(t, lint.Edit(lint.IdlePort("qos = qos.roce"), `  class "default" {`, `  class "two" {
    carries   = "other"
    lossless  = true
    dscp      = [34]
    priority  = 4
    bandwidth = 10
  }
  class "default" {`, "bandwidth = 50", "bandwidth = 40"), "max_lossless = 2", "max_lossless = "+most)
	}
	const marking = "ROCE403 ROCE418"
	for _, x := range []struct {
		name, rules, text string
		want              []string
	}{
		{"a step", marking, step("100"), []string{"ROCE418: ECN of class rdma on tor/Ethernet0 is a step at 150000 B"}},
		{"no slope for a probability", marking, step("5"), []string{"ROCE403: ECN of class rdma on tor/Ethernet0 marks 5 % between 150000 B and 150000 B, which are one"}},
		{"two lossless priorities, as many as the model carries", "ROCE305", two("2"), nil},
		{"two, and the model carries one", "ROCE305", two("1"), []string{"ROCE305: switch tor has 2 lossless priorities: [3, 4], and its model carries 1"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(x.want, findings(compiled(t, x.text), x.rules)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestRoutedV1Variants: RoCE v1 is in the way of nodes that only routers join.
func TestRoutedV1Variants(t *testing.T) {
	split := lint.RoutedV1("roce_v1")
	for _, x := range []struct {
		name, rules, text string
		want              []string
	}{
		{"nobody is in the second segment", "ROCE610", lint.Edit(split, `untagged = segment.far`, `untagged = segment.storage`, `each.key == "n2" ? segment.far : segment.storage`, `segment.storage`), nil},
		{"the second segment has no router", "ROCE610", lint.Edit(split, "  gateway = \"10.101.0.1\"\n", ""), nil},
		{"routers of two VRFs", "ROCE610", lint.Edit(split, `gateway = "10.101.0.1"`, "gateway = \"10.101.0.1\"\n  vrf     = \"red\""), nil},
		{"a segment in common besides", "ROCE610", lint.Edit(
			split, `segment "far" {`, "segment \"both\" {\n  vlan   = 102\n  subnet = \"10.102.0.0/24\"\n  qos    = qos.roce\n  mtu      = 9000\n}\nsegment \"far\" {",
			"untagged = segment.storage\n", "untagged = segment.storage\n    tagged = [segment.both]\n", "untagged = segment.far\n", "untagged = segment.far\n    tagged = [segment.both]\n",
			`segment.far : segment.storage`, "segment.far : segment.storage\n    tagged = [segment.both]",
		), nil},
		{"they are routed", "ROCE610", split, []string{"ROCE610: n1/rail0 in segment storage and n2/rail0 in segment far reach each other by routers, and class rdma is RoCE v1, which no router passes on"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(x.want, findings(compiled(t, x.text), x.rules)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestKnownRefusals(t *testing.T) {
	for text, want := range map[string]string{
		swap(t, lint.Aging("3s"), "mac_timeout = \"3s\"", "arp_timeout = \"1500ms\""): "arp_timeout of switch tor is 1.5 s",
		lint.Aging("0s"): "mac_timeout of switch tor is 0 s",
		swap(t, lint.Validated("22.41.1000"), "22.39.1002", "latest"): `validated of nvidia/connectx-6-dx: "latest" is neither a version nor a condition on one`,
	} {
		found := compiled(t, text)
		if len(found) != 1 || !strings.Contains(found[0].Summary, want) {
			t.Errorf("want %q, got %v", want, found)
		}
	}
}
