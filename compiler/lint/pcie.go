package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the physical family that is about what is behind a NIC: its slot.

const (
	sourcePCIe = "PCI Express Base Specification 5.0, 2.2.1 (TLP header) and 4.2 (encoding); Neugebauer et al., Understanding PCIe " +
		"performance for " +
		"end host networking, SIGCOMM 2018, section 3; lang/packs/pcie.roce.hcl"
	formulaPCIe = "usable Gb/s = GT/s x lanes x encoding (128/130 of generation 3 to 5) x 256 / 280 (payload of 256 B and its headers)"
)

var roce110 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE110", Name: "host_pcie_slot", Severity: diag.Error,
		Title:   "the slot of a NIC carries less than its port",
		Why:     "a NIC that cannot hand over what it receives fills its buffer and pauses its switch: one slow slot slows everybody who sends to it",
		Fix:     "use a wider or newer slot, or a slower port",
		Source:  sourcePCIe,
		Formula: formulaPCIe,
		Bad:     twoNodesEdit(`fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`+"\n    pcie   = { gen = 3, lanes = 8 }"),
		Good:    twoNodesEdit(`fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`, `fec      = "rs"`+"\n    pcie   = { gen = 3, lanes = 16 }"),
	},
	Run: pcieSlot,
}

func pcieSlot(p *Pass) {
	f := p.Fabric
	for id := fabric.NICID(1); int(id) < len(f.NICs); id++ {
		n := &f.NICs[id]
		usable := p.slotMbps(n)
		if usable == 0 || f.Ports[n.Port].Mbps <= usable {
			continue
		}
		e := p.End(n.Port)
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("nic %s runs at %s, and its slot, %s, carries %s", p.Name(e), fabric.Speed(e.Port.Mbps), slotName(n), Rate(usable)),
			Address: f.PortAddress(e.ID), Labels: []diag.Label{p.AtPort(e, schema.APCIe, ""), p.atSpeed(e, "the speed")},
			Help: "use a wider or newer slot",
		})
	}
}

// slotMbps is what the slot of a NIC carries, 0 if that is not known.
func (p *Pass) slotMbps(n *fabric.NIC) uint32 {
	if n.PCIeGen == 0 || n.PCIeLanes == 0 {
		return 0
	}
	for i := range p.Fabric.PCIe {
		if g := &p.Fabric.PCIe[i]; g.Generation == n.PCIeGen {
			return g.UsableMbps[n.PCIeLanes]
		}
	}
	return 0
}

func slotName(n *fabric.NIC) string { return fmt.Sprintf("PCIe %d x%d", n.PCIeGen, n.PCIeLanes) }

// Rate shows Mb/s to a tenth of a Gb/s.
func Rate(mbps uint32) string {
	if mbps%1000 == 0 {
		return fabric.Speed(mbps)
	}
	return fmt.Sprintf("%d.%dG", mbps/1000, mbps%1000/100)
}

var roce111 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE111", Name: "host_pcie_shared", Severity: diag.Warning,
		Title:   "the slot of a card carries less than its ports that run together",
		Why:     "ports of one card share its slot: when both are busy the card pauses both switches, although each port alone would fit",
		Fix:     "use one port of the card, a wider slot, or two cards",
		Source:  sourcePCIe,
		Formula: formulaPCIe,
		Bad:     dualPort(`{ gen = 3, lanes = 16 }`),
		Good:    dualPort(`{ gen = 4, lanes = 16 }`),
	},
	Run: pcieShared,
}

// dualPort is twoNodes with one more host, both ports of whose card are cabled.
func dualPort(pcie string) string {
	return moreTor("Ethernet[8-12:4]", "100G", `node "d" {
  os   = "ubuntu/24.04"
  slot = 9
  nic "p[0-1]" {
    model   = "nvidia/connectx-6-dx"
    speed   = "100G"
    fec     = "rs"
    adapter = "mlx0"
    pcie    = `+pcie+`
  }
  bond "bond0" {
    mode    = "lacp"
    members = "p[0-1]"
    untagged = segment.storage
  }
}
link "d" {
  for_each = { p0 = "Ethernet8", p1 = "Ethernet12" }
  ends     = [node.d.nic[each.key], switch.tor.port[each.value]]
  cable    = { media = "dac", length = "3m" }
}
`)
}

func pcieShared(p *Pass) {
	f := p.Fabric
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Node {
			continue
		}
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			p.sharedSlot(id, first, end)
		}
	}
}

// sharedSlot judges the card of a port, once: at its first port that is cabled.
func (p *Pass) sharedSlot(id, first, end fabric.PortID) {
	f := p.Fabric
	usable := p.slotMbps(&f.NICs[f.Ports[id].NIC])
	if usable == 0 || !p.shares(id, id) {
		return
	}
	last, sum, ports := id, uint32(0), 0
	for other := first; other < end; other++ {
		switch {
		case !p.shares(other, id):
		case other < id || f.Ports[other].Mbps > usable:
			return // judged there, or ROCE110
		case p.standsBy(other, first):
		default:
			sum += f.Ports[other].Mbps
			last = other
			ports++
		}
	}
	if ports < 2 || sum <= usable {
		return
	}
	a, b := p.End(id), p.End(last)
	p.Report(diag.Diagnostic{
		Summary: fmt.Sprintf("%d ports of adapter %s, %s to %s, run at %s together, and its slot, %s, carries %s", ports, f.Text(f.NICs[a.Port.NIC].Adapter), p.Name(a), p.Name(b), Rate(sum), slotName(&f.NICs[a.Port.NIC]), Rate(usable)),
		Address: f.PortAddress(a.ID), Concerns: []string{f.PortAddress(b.ID)},
		Labels: []diag.Label{p.AtPort(a, schema.APCIe, ""), p.AtPort(b, schema.ASpeed, "the last of them")}, Help: "use one port of the card, a wider slot, or two cards",
	})
}

// shares reports whether a port is cabled and on the card and in the slot of another.
func (p *Pass) shares(id, of fabric.PortID) bool {
	a, b := &p.Fabric.Ports[id], &p.Fabric.Ports[of]
	if a.NIC == 0 || b.NIC == 0 || a.Link == 0 {
		return false
	}
	x, y := &p.Fabric.NICs[a.NIC], &p.Fabric.NICs[b.NIC]
	return x.Adapter != 0 && x.Adapter == y.Adapter && x.PCIeGen == y.PCIeGen && x.PCIeLanes == y.PCIeLanes
}

// standsBy reports whether a port only runs when another of its bond does not.
func (p *Pass) standsBy(id, first fabric.PortID) bool {
	lag := p.Fabric.Ports[id].LAG
	if lag == 0 || p.Fabric.LAGs[lag].Mode != fabric.ActiveBackup {
		return false
	}
	for other := first; other < id; other++ {
		if p.Fabric.Ports[other].LAG == lag && p.shares(other, id) {
			return true
		}
	}
	return false
}

var roce113 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE113", Name: "host_acs", Severity: diag.Warning, When: diag.Both,
		Title:  "access control services are on where GPUs and NICs talk to each other",
		Why:    "with them on, what a GPU and a NIC of one PCIe switch send each other goes up through the root complex: bandwidth is half of the link, or less",
		Fix:    "turn them off in the BIOS or at boot, or say that virtual machines need them",
		Source: "NVIDIA NCCL user guide, Troubleshooting, PCI Access Control Services (ACS); NVIDIA/nccl-tests #112",
		Bad:    gpuHosts("observed = { acs = true }"),
		Good:   gpuHosts("observed = { acs = true, virtualised = true }"),
	},
	Run: accessControl,
}

// gpuHosts is twoNodes with a GPU in each; node is said of the hosts.
func gpuHosts(node string) string {
	return twoNodesEdit(`  slot     = each.value`, "  slot     = each.value\n  "+node+"\n  gpu \"gpu0\" {\n    pcie_switch = \"a\"\n  }", `nic "rail0" {`, "nic \"rail0\" {\n    pcie_switch = \"a\"")
}

func accessControl(p *Pass) {
	f := p.Fabric
	gpus := map[fabric.DeviceID]bool{}
	for i := range f.GPUs {
		gpus[f.GPUs[i].Device] = true
	}
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.ACS != fabric.Yes || dev.Virtualised || !gpus[d] {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s has access control services on: what its GPUs and NICs send each other goes through the root complex", f.Text(dev.Name)), Address: f.Text(dev.Address),
			Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.AACS, "")}, Help: "turn them off, or write observed = { virtualised = true }",
		})
	}
}

var roce114 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE114", Name: "host_gpu_nic", Severity: diag.Warning,
		Title:  "a GPU and the NIC it uses are on different PCIe switches or NUMA nodes",
		Why:    "what a GPU sends through the NIC of another switch crosses the root complex or the link between the sockets: half of the bandwidth, and pauses from a host that looks idle",
		Fix:    "give the GPU the rail of the NIC on its own switch, or accept it with an override",
		Source: "NVIDIA NCCL user guide, NCCL_NET_GDR_LEVEL and NCCL_IB_HCA; NVIDIA/nccl #489",
		Bad:    besideGPU("sw1"),
		Good:   besideGPU("sw0"),
	},
	Run: gpuBeside,
}

// besideGPU is twoNodes with a GPU in each host and the NIC that it uses.
func besideGPU(pcieSwitch string) string {
	return twoNodesEdit(`nic "rail0" {`, `gpu "gpu0" {
    pcie_switch = "sw0"
  }
  nic "rail0" {
    gpu         = "gpu0"
    pcie_switch = "`+pcieSwitch+`"`)
}

func gpuBeside(p *Pass) {
	f := p.Fabric
	if len(f.GPUs) == 0 {
		return
	}
	type key struct {
		device fabric.DeviceID
		name   fabric.Str
	}
	rows := make(map[key]int, len(f.GPUs))
	for i := range f.GPUs {
		rows[key{f.GPUs[i].Device, f.GPUs[i].Name}] = i
	}
	for id := fabric.NICID(1); int(id) < len(f.NICs); id++ {
		n := &f.NICs[id]
		i, ok := rows[key{f.Ports[n.Port].Device, n.GPU}]
		if n.GPU == 0 || !ok {
			continue
		}
		g := &f.GPUs[i]
		var nic, gpu string
		switch {
		case n.Switch != 0 && g.Switch != 0:
			if n.Switch == g.Switch {
				continue
			}
			nic, gpu = "PCIe switch "+f.Text(n.Switch), f.Text(g.Switch)
		case n.NUMA >= 0 && g.NUMA >= 0 && n.NUMA != g.NUMA:
			nic, gpu = fmt.Sprintf("NUMA node %d", n.NUMA), fmt.Sprint(g.NUMA)
		default:
			continue // what is not written is not known
		}
		e := p.End(n.Port)
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("nic %s is on %s, and %s, which it is for, on %s", p.Name(e), nic, f.Text(g.Name), gpu), Address: f.PortAddress(e.ID),
			Labels: []diag.Label{p.AtPort(e, schema.AGPU, ""), f.DeclLabel(g.Decl, "the GPU")}, Help: "give the GPU the NIC on its own switch",
		})
	}
}
