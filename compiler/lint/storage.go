package lint

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on capability that is about hosts of a cluster and of GPUs:
// what their makers ask for beyond the settings of a port.

// hostRules are the requirements of Microsoft for RDMA between the nodes of a cluster.
const hostRules = "Microsoft, Azure Local host network requirements"

var roce748 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE748", Name: "host_driver_inbox", Severity: diag.Warning,
		Title: "a node of a Windows cluster runs RDMA with the driver of the system",
		Why: "the driver that comes with Windows is not supported for storage: it lacks the maker's fixes and settings of RDMA, " +
			"and nobody helps with a cluster that has it",
		Fix:        `install the driver of the maker, and write driver_origin = "vendor"`,
		Source:     hostRules + ", Driver requirements: inbox drivers are not supported, Get-NetAdapter shows DriverProvider Microsoft",
		Steps:      "pause and drain one cluster node, install the driver and its firmware, resume it, then the next",
		Interrupts: "the adapter, while the driver is installed; its advanced properties may be set back",
		Bad:        storageCluster(`"b"`, `{ a = "Ethernet4" }`, "    observed = { driver_origin = \"inbox\" }\n"),
		Good:       storageCluster(`"b"`, `{ a = "Ethernet4" }`, "    observed = { driver_origin = \"vendor\" }\n"),
	},
	Run: inboxDriver,
}

func inboxDriver(p *Pass) {
	f := p.Fabric
	if !slices.ContainsFunc(f.NICs[1:], func(n fabric.NIC) bool { return n.Inbox == fabric.Yes }) {
		return
	}
	var last fabric.PortID
	p.hostRDMA(func(e End, n *fabric.NIC, _ *fabric.NICModel, _ *fabric.Class) {
		if n.Inbox != fabric.Yes || e.Device.Cluster == 0 || last == e.ID || !p.windows(e.Device) {
			return
		}
		last = e.ID
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("nic %s carries RDMA of cluster %s with the driver that comes with Windows", p.Name(e), f.Text(e.Device.Cluster)),
			Address: f.PortAddress(e.ID),
			Labels:  []diag.Label{p.AtPort(e, schema.ADriverOrigin, ""), f.Label(e.Device.Decl, e.Device.Layers, schema.ACluster, "the cluster")},
			Help:    `install the driver of the maker, and write driver_origin = "vendor"`,
		})
	})
}

var roce749 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE749", Name: "host_peer_memory", Severity: diag.Notice,
		Title: "nothing on a host shows that its NICs reach the memory of its GPUs",
		Why: "without nvidia_peermem, or DMA-BUF in its place, what a GPU sends is copied to the memory of the host first: " +
			"collectives run at half of the bandwidth or less, and nothing fails",
		Fix: "load nvidia_peermem at boot; where DMA-BUF serves (open kernel modules of the GPU, Linux 5.12 and later), silence this for the node",
		Source: "NVIDIA, GPUDirect RDMA documentation, 2.5 and nvidia-peermem in the README of the driver; " +
			"NCCL user guide, NCCL_NET_GDR_LEVEL and NCCL_DMABUF_ENABLE",
		Bad:  withGPU(`"nvidia"`),
		Good: withGPU(`"nvidia", "nvidia_peermem"`),
	},
	Run: peerMemory,
}

// withGPU is twoNodes with a GPU beside each NIC, and modules as found.
func withGPU(modules string) string {
	return knowing("observed = { modules = [\"mlx5_core\", \"mlx5_ib\", \"ib_uverbs\", " + modules + "] }\n  gpu \"g0\" {}")
}

func peerMemory(p *Pass) {
	f := p.Fabric
	if len(f.GPUs) == 0 {
		return
	}
	gpus := map[fabric.DeviceID]fabric.DeclID{}
	for i := range f.GPUs {
		if d := f.GPUs[i].Device; gpus[d] == 0 {
			gpus[d] = f.GPUs[i].Decl
		}
	}
	has := func(dev *fabric.Device, modules ...string) bool {
		return slices.ContainsFunc(dev.Modules, func(s fabric.Str) bool { return slices.Contains(modules, f.Text(s)) })
	}
	p.nodesWithRDMA(func(dev *fabric.Device, e End, c *fabric.Class) {
		gpu := gpus[e.Port.Device]
		if gpu == 0 || !p.onLinux(dev) || !has(dev, "nvidia") || has(dev, "nvidia_peermem", "nv_peer_mem") {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s has GPUs and not nvidia_peermem: class %s may copy what they send through the memory of the host",
				f.Text(dev.Name), f.Text(c.Name)),
			Address: f.Text(dev.Address),
			Labels:  []diag.Label{f.Label(dev.Decl, dev.Layers, schema.AModules, ""), f.DeclLabel(gpu, "a GPU")},
			Help:    "load nvidia_peermem at boot, unless DMA-BUF serves",
		})
	})
}

var roce750 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE750", Name: "storage_spine", Severity: diag.Warning,
		Title: "RDMA of a Windows cluster crosses a third switch",
		Why: "storage of a cluster is layer-2 traffic between neighbouring switches of the racks: over a spine it meets what others send, a storm of one " +
			"node reaches racks of others, and Microsoft supports it neither there nor routed",
		Fix:    "put the NICs of one storage network of a cluster on one switch, or on two that are linked to each other",
		Source: hostRules + ", Network traffic types; Azure Local rack aware cluster reference architecture, Key network principles",
		Bad:    storageCluster(`"s"`, `{ a = "Ethernet0", b = "Ethernet4" }`, ""),
		Good:   storageCluster(`"b"`, `{ a = "Ethernet4" }`, ""),
	},
	Run: storageSpine,
}

// storageCluster is a Windows cluster with a node in each of two racks, a and b. From Ethernet4
// of racks lead links to ports of far; nic is said of its NICs.
func storageCluster(far, links, nic string) string {
	return `qos "storage" {
  trust = "pcp"
  class "smb" {
    carries   = "rdma"
    priority  = 3
    bandwidth = 50
    match     = { netdirect_port = 445 }
    ecn       = "auto"
  }
  class "heartbeat" {
    carries   = "cluster"
    priority  = 7
    bandwidth = 1
  }
  class "default" {
    priority  = 0
    bandwidth = 49
    default   = true
  }
}

segment "storage" {
  vlan   = 711
  subnet = "10.71.1.0/24"
  mtu    = 9000
  qos    = qos.storage
}

switch "rack" {
  for_each = toset(["a", "b", ` + far + `])
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  port "Ethernet[0-4:4]" {
    speed  = "100G"
    tagged = segment.storage
  }
}

node "n" {
  for_each = { n1 = "a", n2 = "b" }
  os       = "windows-server/2025"
  slot     = trimprefix(each.key, "n")
  cluster  = "s2d"
  nic "rail0" {
    model   = "nvidia/connectx-6-dx"
    speed   = "100G"
    segment = segment.storage
    at      = switch.rack[each.value].port["Ethernet0"]
    cable   = { media = "dac", length = "3m" }
` + nic + `  }
}

link "racks" {
  for_each = ` + links + `
  ends     = [switch.rack[each.key].port["Ethernet4"], switch.rack[` + far + `].port[each.value]]
  cable    = { media = "aoc", length = "10m" }
}
` + ownedByNetQos
}

// ownedByNetQos says who owns the adapters of a cluster.
const ownedByNetQos = `
target "netqos" {
  select = node.n
}
`

func storageSpine(p *Pass) {
	f := p.Fabric
	type network struct {
		cluster fabric.Str
		segment fabric.SegmentID
	}
	at := map[network][]End{} // the first NIC of each switch
	var order []network
	p.hostRDMA(func(e End, _ *fabric.NIC, _ *fabric.NICModel, _ *fabric.Class) {
		peer := &f.Ports[e.Port.Peer]
		if e.Port.Peer == 0 || e.Device.Cluster == 0 || f.Devices[peer.Device].Kind != fabric.Switch || !p.windows(e.Device) {
			return
		}
		segments := f.VLANSets[e.Port.VLANs]
		if e.Port.Native != 0 {
			segments = append(slices.Clone(segments), e.Port.Native)
		}
		for _, s := range segments {
			n := network{e.Device.Cluster, s}
			if at[n] == nil {
				order = append(order, n)
			}
			if !slices.ContainsFunc(at[n], func(o End) bool { return f.Ports[o.Port.Peer].Device == peer.Device }) {
				at[n] = append(at[n], e)
			}
		}
	})
	if len(order) == 0 {
		return
	}
	beside := map[[2]fabric.DeviceID]bool{}
	for l := 1; l < len(f.Links); l++ {
		a, b := f.Ports[f.Links[l].A].Device, f.Ports[f.Links[l].B].Device
		beside[[2]fabric.DeviceID{a, b}], beside[[2]fabric.DeviceID{b, a}] = true, true
	}
	for _, n := range order {
		one := at[n][0]
		for _, two := range at[n][1:] {
			a, b := f.Ports[one.Port.Peer].Device, f.Ports[two.Port.Peer].Device
			if beside[[2]fabric.DeviceID{a, b}] {
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("RDMA of cluster %s in segment %s crosses a third switch: %s is on %s, %s on %s, and no link joins the two",
					f.Text(n.cluster), f.Text(f.Segments[n.segment].Name), p.Name(one), f.Text(f.Devices[a].Name), p.Name(two), f.Text(f.Devices[b].Name)),
				Address: f.PortAddress(one.ID), Concerns: []string{f.PortAddress(two.ID), f.Text(f.Segments[n.segment].Address)},
				Labels: []diag.Label{f.DeclLabel(one.Port.Decl, ""), f.DeclLabel(two.Port.Decl, "the other node"), f.DeclLabel(f.Segments[n.segment].Decl, "the segment")},
				Help:   "put the NICs of one storage network of a cluster on one switch, or on two that are linked to each other",
			})
			break // of one network once
		}
	}
}

var roce751 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE751", Name: "nic_intel_windows", Severity: diag.Notice,
		Title: "an adapter of Intel runs RoCE on Windows",
		Why: "Intel and Microsoft test these adapters with iWARP there, which needs no PFC: the test tools of Microsoft call any other technology a fault, " +
			"and RoCE of an E810 has one lossless class and no congestion control that a host sets",
		Fix:    `write transport = "iwarp" in the qos of these nodes, or use an adapter that is tested with RoCE`,
		Source: "github.com/microsoft/Validate-DCB, modal tests, Network Direct Technology of each vendor; " + hostRules + ", iWARP and RoCE by vendor",
		Bad:    intelPair("", "    ecn       = \"auto\"\n"),
		Good:   intelPair("  transport = \"iwarp\"\n", "    lossless  = false\n"),
	},
	Run: intelRoCE,
}

// intelPair is windowsPair with adapters of Intel; qos is said of the contract, class of
// the class that carries RDMA.
func intelPair(qos, class string) string {
	return edit(windowsPair(`match = { netdirect_port = 445 }`), "trust = \"pcp\"\n", "trust = \"pcp\"\n"+qos,
		"    ecn       = \"auto\"\n", class, "nvidia/connectx-6-dx", "intel/e810")
}

func intelRoCE(p *Pass) {
	f := p.Fabric
	p.eachRDMANIC(func(e End, _ *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		if f.Text(m.Vendor) != "intel" || m.IWARP != fabric.Yes || transportOf(&f.QoS[e.Profile.QoS], c) == fabric.IWARP || !p.windows(e.Device) {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("class %s runs RoCE on %s (%s), which is tested with iWARP on Windows", f.Text(c.Name), p.Name(e), f.Text(m.Name)),
			Address: f.PortAddress(e.ID), Labels: p.atModel(e, c, schema.ATransport),
			Help: `write transport = "iwarp", or use an adapter that is tested with RoCE`,
		})
	})
}
