package targets

import (
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// refusal is a family of what targets refuse, and the words of the paths that lead to
// it: "port.fec", "lag" for all other fields of a LAG, "qos.class" for those of classes.
type refusal struct {
	rule *diag.Rule
	of   string
}

// refusals are the families by what is written. What fits none is ROCE717.
var refusals = []refusal{
	{refusedDevice, "device. device.os device.kind device.model device.asic device.firmware"},
	{refusedOption, "option"},
	{refusedName, "device.name port.name lag.name interface.name qos.name vlan.name"},
	{refusedAdapter, "port.model port.driver port.firmware port.adapter port.pci port.mac port.gpu port.vfs " +
		"port.rdma port.roce_mode port.rdma_mtu port.pause_storm_timeout interface.rdma"},
	{refusedLink, "port.speed port.fec port.autoneg port.enabled port.breakout port.cable port.mtu lag.mtu"},
	{refusedVLAN, "vlan port.native port.segments port.segment port.deny lag.native lag.segments lag.deny"},
	{refusedLAG, "lag device.mlag"},
	{refusedAddress, "interface.address interface.gateway interface.vrf interface.on interface.pin interface.segment " +
		"interface.vlan interface.mtu interface.unique"},
	{refusedMap, "qos.trust qos.dscp_map qos.pcp_map qos.queue_map qos.group_map qos.pfc_queue_map qos.remap"},
	{refusedScheduler, "qos.ets qos.strict qos.cap"},
	{refusedPFC, "qos.pfc qos.pause qos.watchdog qos.dcbx port.dcbx"},
	{refusedBuffer, "qos.ecn port.headroom device.buffer"},
	{refusedClass, "qos.class"},
	{refusedForwarding, "device.hash device.arp_timeout device.mac_timeout"},
}

// Refusals are the rules of all that targets refuse: that of what has no family, and the families.
var Refusals = func() []*diag.Rule {
	list := []*diag.Rule{&ROCE717}
	for _, r := range refusals {
		list = append(list, r.rule)
	}
	return list
}()

var refusalOf = func() map[string]*diag.Rule {
	of := map[string]*diag.Rule{}
	for _, r := range refusals {
		for _, word := range strings.Fields(r.of) {
			of[word] = r.rule
		}
	}
	return of
}()

// Refusal is the rule under which a target refuses what a path leads to.
func Refusal(p intent.Path) *diag.Rule {
	field, _, _ := strings.Cut(p.Field, ".")
	if r := refusalOf[string(p.Object)+"."+field]; r != nil {
		return r
	}
	if r := refusalOf[string(p.Object)]; r != nil {
		return r
	}
	return &ROCE717
}

// refusalSource is where a reader finds what a target can say.
const refusalSource = "docs/targets.md: the table of the target names the manual or source file behind each row"

// refused is the rule of a family; edits make the fabric that it refuses of the one that it does not.
func refused(id, name, title, why, fix string, edits ...string) *diag.Rule {
	bad := refusalExample
	for i := 0; i+1 < len(edits); i += 2 {
		if !strings.Contains(bad, edits[i]) {
			bad = "the example has no " + edits[i]
			break
		}
		bad = strings.Replace(bad, edits[i], edits[i+1], 1)
	}
	return &diag.Rule{
		ID: id, Name: name, Severity: diag.Error, When: diag.Compile, Hard: true,
		Title: title, Why: why, Fix: fix, Source: refusalSource, Bad: bad, Good: refusalExample,
	}
}

// Places of the example at which its edits say more.
const (
	onNIC    = "    untagged = segment.storage\n    at "
	onHost   = "  nic \"eth0\" {"
	onPort   = "    speed    = \"100G\"\n"
	onClass  = "    ecn       = \"auto\"\n"
	onSwitch = "  os    = \"sonic/202505\"\n"
)

// refusalExample is a fabric of which no target refuses anything.
const refusalExample = `qos "storage" {
  trust = "dscp"
  class "nvme" {
    carries   = "rdma"
    dscp      = 26
    priority  = 3
    bandwidth = 50
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = 48
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}

segment "storage" {
  vlan   = 100
  subnet = "10.100.0.0/24"
  mtu    = 9000
  qos    = qos.storage
}

switch "tor" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  port "Ethernet[0-4:4]" {
    speed    = "100G"
    untagged = segment.storage
  }
}

node "host" {
  for_each = { host1 = "Ethernet0", host2 = "Ethernet4" }
  os       = "ubuntu/24.04"
  slot     = each.key == "host1" ? 1 : 2
  nic "eth0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    untagged = segment.storage
    at       = switch.tor.port[each.value]
    cable    = { media = "dac", length = "1m" }
  }
}

target "linux" {
  select = node.host
}

target "sonic" {
  select = switch.tor
}
`

var refusedDevice = refused(
	"ROCE734", "target_device", "a target does not serve this device or this version of its system",
	"commands and files of another system or an older version do not exist on the device: nothing of its configuration would take effect, or half of it",
	"choose another target, or the version that the help of the finding names",
	`"ubuntu/24.04"`, `"ubuntu/20.04"`,
)

var refusedOption = refused(
	"ROCE735", "target_option", "an option is none of the target's, or has a value that it does not take",
	"an option says how a target writes: one that is not understood would be without effect",
	"write one of the options that docs/targets.md lists for the target",
	"select = node.host\n", "select  = node.host\n  options = { qos_tool = \"tc\" }\n",
)

var refusedName = refused(
	"ROCE736", "target_name", "a name cannot be written on the platform",
	"the system refuses the name, cuts it off, or takes a part of it for something else: the setting reaches no port or another one",
	"shorten or rename it: the help of the finding says what the platform takes; ifname is the name of a NIC on its host",
	onNIC, "    ifname   = \"storage-network-0\"\n"+onNIC,
)

var refusedAdapter = refused(
	"ROCE737", "target_adapter", "an adapter or its driver cannot be told what is written of it",
	"drivers differ in what they take: a setting that one of them lacks is missing on that host alone, and is found under load",
	"take the setting off that adapter, correct its address, or use an adapter that has it",
	onNIC, "    pci      = \"3b:00.0\"\n"+onNIC,
)

var refusedLink = refused(
	"ROCE738", "target_link", "a port cannot have this speed, FEC, split, cable or MTU",
	"a port that takes another speed, FEC or MTU than its peer stays down, or drops what is too large for it",
	"write what the platform takes, as the help of the finding says, on both ends",
	onPort+onNIC, "    autoneg  = false\n"+onNIC,
)

var refusedVLAN = refused(
	"ROCE739", "target_vlan", "VLANs cannot be put on a port or LAG as they are written",
	"a VLAN that no file can carry is missing at one end: its traffic is dropped there, or lands in another VLAN",
	"write the VLANs as the help of the finding says: on a host each tagged VLAN needs an interface that uses it",
	`segment "storage" {`, backup+`segment "storage" {`,
	"    untagged = segment.storage\n  }", "    untagged = segment.storage\n    tagged   = segment.backup\n  }",
	onNIC, "    tagged   = segment.backup\n"+onNIC,
)

// backup is one more VLAN.
const backup = "segment \"backup\" {\n  vlan   = 200\n  subnet = \"10.200.0.0/24\"\n}\n\n"

var refusedLAG = refused(
	"ROCE740", "target_lag", "a LAG, bond or team cannot be made as it is written",
	"a LAG that differs at its two ends bundles nothing: links stay down, or frames arrive twice",
	"write a mode, members and hash that the platform has; RDMA asks for members of one adapter",
	onHost, `  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
  }
  bond "bond0" {
    members = "p[0-1]"
    mode    = "set" # a team of Hyper-V; Linux has none
  }
`+onHost,
)

var refusedAddress = refused(
	"ROCE741", "target_address", "an interface cannot be made, or have the address, gateway or VRF that is written",
	"a host without its address or gateway is not reached, and its routes lead elsewhere",
	"write the interface where the platform has it, with an address of its subnet",
	`segment "storage" {`, backup+`segment "storage" {`,
	"    untagged = segment.storage\n  }", "    untagged = segment.storage\n    tagged   = segment.backup\n  }",
	onHost, `  interface "eth0.200" {
    on      = "eth0"
    segment = segment.backup
    vrf     = "blue"
  }
`+onHost,
)

var refusedMap = refused(
	"ROCE742", "target_map", "marks cannot be mapped to priorities and queues as it is written",
	"traffic whose mark is mapped otherwise on one hop rides in another queue there, without PFC or with that of others",
	"use a map that every platform on the path has, or leave the map out where the platform has one of its own",
	onNIC, "    pcp_map  = { 3 = 4 }\n"+onNIC,
)

var refusedScheduler = refused(
	"ROCE743", "target_scheduler", "a queue cannot have the share, order or limit that is written",
	"a share that one hop lacks makes that hop the bottleneck of the class",
	"write shares that the platform can express, in whole percent, and take limits off where it has none",
	onClass, onClass+"    max_rate  = 40\n",
)

var refusedPFC = refused(
	"ROCE744", "target_pfc", "PFC, pause, the watchdog or DCBX cannot be set as it is written",
	"a hop whose PFC differs drops frames of a lossless class, and one without a watchdog lets a storm pass",
	"write what the platform has: the help of the finding names it",
	onPort, onPort+"    watchdog = { detect = \"200ms\", restore = \"400ms\", poll = \"33ms\" }\n",
)

var refusedBuffer = refused(
	"ROCE745", "target_buffer", "thresholds, headroom or pools cannot be set as they are written",
	"buffers that the platform sizes by itself, or in another unit, are not those that were proven",
	"leave them at auto, or write them in the form that the help of the finding names",
	onSwitch, onSwitch+"  buffer = { alpha = \"1/8\" }\n",
	"select = switch.tor\n", "select  = switch.tor\n  options = { buffer_model = \"traditional\" }\n",
)

var refusedClass = refused(
	"ROCE746", "target_class", "a host cannot match or mark the traffic of a class as it is written",
	"traffic that is not marked rides in the default class of every switch on its path: without PFC and without ECN",
	"remove the condition that the system lacks, or let the application mark",
	onClass, onClass+"    match     = { netdirect_port = 445 } # a NetQos condition; Linux has none\n",
)

var refusedForwarding = refused(
	"ROCE747", "target_forwarding", "hashing or the ageing of learned addresses cannot be set as it is written",
	"flows that are spread otherwise than was proven meet on one link, and an entry that ages too early floods lossless traffic",
	"leave the attribute out where the platform keeps its own",
	onSwitch, onSwitch+"  arp_timeout = \"4h\"\n",
)
