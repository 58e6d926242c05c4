package lint

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on capability that looks at what runs on hosts, and at
// what is known of them besides their settings.

// hostRDMA calls visit for every NIC port of a node with each class of its
// contract that carries RDMA: for all, also where they are alike.
func (p *Pass) hostRDMA(visit func(e End, n *fabric.NIC, m *fabric.NICModel, c *fabric.Class)) {
	f := p.Fabric
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		port := &f.Ports[id]
		if port.NIC == 0 || port.Profile == 0 || port.Flags&fabric.InfiniBand != 0 || f.NICs[port.NIC].Model == 0 {
			continue
		}
		e := p.End(id)
		n := &f.NICs[port.NIC]
		p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
			if c.Carries == fabric.CarriesRDMA {
				visit(e, n, &f.NICModels[n.Model], c)
			}
		})
	}
}

// anyDevice reports whether a device is such: of most facts no device says
// anything, and a rule that asks for them is done at once.
func (p *Pass) anyDevice(is func(*fabric.Device) bool) bool {
	for d := 1; d < len(p.Fabric.Devices); d++ {
		if is(&p.Fabric.Devices[d]) {
			return true
		}
	}
	return false
}

// onLinux reports whether a node runs Linux.
func (p *Pass) onLinux(dev *fabric.Device) bool {
	return dev.OSName != 0 && !p.windows(dev)
}

var roce713 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE713", Name: "class_consumers", Severity: diag.Warning,
		Title: "a class that carries RDMA has no consumers",
		Why: "a class that nobody uses takes a lossless priority with its headroom on every port: buffers of switches hold two " +
			"or three of them",
		Fix:    "write who uses it in observed.consumers, or drop the class",
		Source: "Guo et al., SIGCOMM 2016, 2: buffer for two lossless classes; IEEE 802.1Q Annex N: headroom of a priority",
		Bad:    operated(`observed = { consumers = [] }`),
		Good:   operated(`observed = { consumers = ["nvme-of"] }`),
	},
	Run: classConsumers,
}

func classConsumers(p *Pass) {
	named := false // a source that names none anywhere is not asked for them
	p.eachRDMAClass(func(_ *fabric.QoS, c *fabric.Class) { named = named || c.Consumers != nil })
	if !named {
		return
	}
	p.eachRDMAClass(func(q *fabric.QoS, c *fabric.Class) {
		if len(c.Consumers) > 0 {
			return
		}
		says := fmt.Sprintf("class %s has no consumers", p.Fabric.Text(c.Name))
		if c.Consumers == nil {
			says = fmt.Sprintf("class %s names no consumers, and others do", p.Fabric.Text(c.Name))
		}
		p.Report(p.ofClass(q, c, schema.AConsumers, says, "name its consumers, or drop the class"))
	})
}

var roce724 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE724", Name: "consumer_unknown", Severity: diag.Warning,
		Title: "a consumer of RDMA is not known to use it",
		Why: "a class that is kept for what does not use RDMA is used by nobody, and a word that is written in another way on a node " +
			"counts as another application",
		Fix:    "write the application by the word that is known, or declare it: rocec { consumers = [...] }",
		Source: "docs/language: consumers, the words that are known; rocec { consumers }, those that the source declares",
		Bad:    operated(`observed = { consumers = ["nginx"] }`),
		Good:   operated(`observed = { consumers = ["trading"] }`) + "rocec {\n  consumers = [\"trading\"]\n}\n",
	},
	Run: consumerUnknown,
}

func consumerUnknown(p *Pass) {
	f := p.Fabric
	if len(f.Strangers) == 0 {
		return
	}
	type place struct {
		decl fabric.DeclID
		word fabric.Str
	}
	said := map[place]bool{} // a class that others are derived from, and nodes of one block
	odd := func(words []fabric.Str, decl fabric.DeclID, whose, address string, at diag.Label) {
		for _, w := range words {
			near, is := f.Strangers[w]
			if !is || said[place{decl, w}] {
				continue
			}
			said[place{decl, w}] = true
			help := fmt.Sprintf("where it does, declare it: rocec { consumers = [%q] }", f.Text(w))
			if near != 0 {
				help = fmt.Sprintf("did you mean %q? %s", f.Text(near), help)
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s names %q as a consumer, which is not known to use RDMA", whose, f.Text(w)),
				Address: address, Labels: []diag.Label{at}, Help: help,
			})
		}
	}
	p.eachRDMAClass(func(q *fabric.QoS, c *fabric.Class) {
		odd(c.Consumers, c.Decl, "class "+f.Text(c.Name), f.Text(q.Address), f.Label(c.Decl, 0, schema.AConsumers, ""))
	})
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if dev := &f.Devices[d]; dev.Consumers != nil {
			odd(dev.Consumers, dev.Decl, f.Text(dev.Name), f.Text(dev.Address), f.Label(dev.Decl, dev.Layers, schema.AConsumers, ""))
		}
	}
}

// nodesWithRDMA calls visit for each node with a NIC that carries RDMA, with the
// first such NIC and class.
func (p *Pass) nodesWithRDMA(visit func(dev *fabric.Device, e End, c *fabric.Class)) {
	var last fabric.DeviceID
	p.hostRDMA(func(e End, _ *fabric.NIC, _ *fabric.NICModel, c *fabric.Class) {
		if e.Port.Device != last {
			last = e.Port.Device
			visit(e.Device, e, c)
		}
	})
}

// knowing is twoNodes with what is known of the nodes.
func knowing(node string) string {
	return twoNodesEdit(`slot     = each.value`, "slot     = each.value\n  "+node)
}

var roce714 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE714", Name: "host_memlock", Severity: diag.Error, When: diag.Both,
		Title:  "users of RDMA may lock less memory than they register",
		Why:    "registration pins memory: beyond the limit it fails, mostly in the middle of a job; what systems begin with, 64 KiB to 8 MiB, holds no buffer of a transfer",
		Fix:    "set the limit to unlimited, for services and containers too",
		Source: "github.com/NVIDIA/nccl-tests issue 206; github.com/ceph/ceph pull 13655; setrlimit(2), RLIMIT_MEMLOCK; the bound of 1 GiB is a house limit",
		Bad:    knowing(`observed = { memlock = "64MiB" }`),
		Good:   knowing(`observed = { memlock = "unlimited" }`),
	},
	Run: lockedMemory,
}

// leastMemlockBytes is the limit below which RDMA is taken for impossible: an error,
// which no setting weakens. deploy/verify has it too.
const leastMemlockBytes = 1 << 30

func lockedMemory(p *Pass) {
	f := p.Fabric
	if !p.anyDevice(func(d *fabric.Device) bool { return d.Memlock.Written }) {
		return
	}
	p.nodesWithRDMA(func(dev *fabric.Device, _ End, c *fabric.Class) {
		if !dev.Memlock.Written || dev.Memlock.Unlimited || !p.onLinux(dev) {
			return
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("users of %s may lock %d B of memory, and class %s registers what it transfers",
				f.Text(dev.Name), dev.Memlock.Bytes, f.Text(c.Name)),
			Address: f.Text(dev.Address),
			Labels:  []diag.Label{f.Label(dev.Decl, dev.Layers, schema.AMemlock, "")}, Help: "set the limit to unlimited, for services and containers too",
		}
		if dev.Memlock.Bytes >= leastMemlockBytes {
			d.Severity = diag.Warning
		}
		p.Report(d)
	})
}

var roce715 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE715", Name: "nic_gid_index", Severity: diag.Error, When: diag.Both,
		Title: "a pinned GID index is link-local, or differs between nodes",
		Why:   "an index of a link-local GID reaches nobody behind a router, and applications are told one index for all nodes: connections end with retries exceeded",
		Fix:   "pin the index of the RoCE v2 GID of the address, as show_gids lists it, or none",
		Source: "Linux drivers/infiniband/core/cache.c, ib_cache_gid_set_default_gid: the first entries are the default GIDs, one " +
			"for each RoCE version; github.com/NVIDIA/nccl issues 426 and 769; github.com/uccl-project/uccl issue 803",
		Bad:  fourNodes(``, `observed = { gid_index = 1 }`),
		Good: fourNodes(``, `observed = { gid_index = 3 }`),
	},
	Run: gidIndex,
}

func gidIndex(p *Pass) {
	f := p.Fabric
	if !slices.ContainsFunc(f.NICs[1:], func(n fabric.NIC) bool { return n.GIDIndex >= 0 }) {
		return
	}
	var all tallies[int16, fabric.PortID]
	p.hostRDMA(func(e End, n *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		if n.GIDIndex < 0 || c.Transport == fabric.IWARP || !p.onLinux(e.Device) {
			return
		}
		defaults := int16(0)
		for _, has := range [2]fabric.Fact{m.RoCEv1, m.RoCEv2} {
			if has == fabric.Yes {
				defaults++
			}
		}
		if n.GIDIndex < defaults {
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("nic %s is used with GID %d, which is link-local", p.Name(e), n.GIDIndex), Address: f.PortAddress(e.ID),
				Labels: []diag.Label{p.AtPort(e, schema.AGIDIndex, ""), f.Label(c.Decl, 0, schema.ACarries, "the class")}, Help: "pin the index of the RoCE v2 GID of the address, or none",
			})
			return
		}
		if !p.excepted(e.Port.Layers, schema.AGIDIndex) {
			all.of(alikeKey{kind: fabric.Node, model: uint32(e.Profile.QoS), class: m.Driver}).add(n.GIDIndex, e.ID)
		}
	})
	for _, t := range all.list {
		uneven(t, func(id fabric.PortID, v int16, most counted[int16, fabric.PortID]) {
			e := p.End(id)
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("nic %s is used with GID %d, %d of %d NICs of its class with GID %d", p.Name(e), v, len(most.rows), t.of, most.value), Address: f.PortAddress(id),
				Labels: []diag.Label{p.AtPort(e, schema.AGIDIndex, ""), p.AtPort(p.End(most.rows[0]), schema.AGIDIndex, "the others")}, Help: "pin one index, or none",
			})
		}, func(values []counted[int16, fabric.PortID]) {
			a, b := p.End(values[0].rows[0]), p.End(values[1].rows[0])
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("nic %s is used with GID %d, nic %s with GID %d", p.Name(a), values[0].value, p.Name(b), values[1].value), Address: f.PortAddress(a.ID), Concerns: []string{f.PortAddress(b.ID)},
				Labels: []diag.Label{p.AtPort(a, schema.AGIDIndex, ""), p.AtPort(b, schema.AGIDIndex, "the other")}, Help: "pin one index, or none",
			})
		})
	}
}

// rdmaModule is the kernel module of a family of adapters that makes its RDMA
// devices [Linux drivers/infiniband/hw and sw].
func rdmaModule(driver string) string {
	switch driver {
	case "mlx5":
		return "mlx5_ib"
	case "mlx4":
		return "mlx4_ib"
	case "ice", "i40e":
		return "irdma"
	case "bnxt":
		return "bnxt_re"
	case "qede":
		return "qedr"
	case "cxgb4":
		return "iw_cxgb4"
	case "rxe":
		return "rdma_rxe"
	}
	return ""
}

var roce716 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE716", Name: "host_modules", Severity: diag.Error, When: diag.Both,
		Title:  "a host has not loaded what makes its RDMA devices",
		Why:    "without the module the adapter is an Ethernet card: applications fall back to TCP, or do not start",
		Fix:    "install rdma-core, and load the module at boot",
		Source: "Linux drivers/infiniband/hw, Kconfig and Makefile: the module of each adapter",
		Bad:    knowing(`observed = { modules = ["mlx5_core", "ib_uverbs"] }`),
		Good:   knowing(`observed = { modules = ["mlx5_core", "mlx5_ib", "ib_uverbs"] }`),
	},
	Run: hostModules,
}

func hostModules(p *Pass) {
	f := p.Fabric
	if !p.anyDevice(func(d *fabric.Device) bool { return d.Modules != nil }) {
		return
	}
	type lacking struct {
		d      fabric.DeviceID
		module string
	}
	said := map[lacking]bool{}
	p.hostRDMA(func(e End, _ *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		module := rdmaModule(f.Text(m.Driver))
		key := lacking{e.Port.Device, module}
		if e.Device.Modules == nil || module == "" || said[key] || !p.onLinux(e.Device) ||
			slices.ContainsFunc(e.Device.Modules, func(s fabric.Str) bool { return f.Text(s) == module }) {
			return
		}
		said[key] = true
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s has not loaded %s, and class %s runs on its %s", f.Text(e.Device.Name), module, f.Text(c.Name), f.Text(m.Name)), Address: f.Text(e.Device.Address),
			Labels: []diag.Label{f.Label(e.Device.Decl, e.Device.Layers, schema.AModules, ""), p.AtPort(e, schema.AModel, "the NIC")}, Help: "install rdma-core, and load the module at boot",
		})
	})
}

var roce718 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE718", Name: "windows_team_rdma", Severity: diag.Error,
		Title: "RDMA on Windows runs over a team that is not SET",
		Why:   "a team of LBFO, with LACP or without, hides RDMA from the system: SMB Direct runs on TCP, and a switch that negotiates LACP drops what a SET team sends",
		Fix:   `write mode = "set"`,
		Source: "Microsoft, Azure Local host network requirements, Switch Embedded Teaming (SET): the only teaming for RDMA, " +
			"switch independent",
		Steps: "pause and drain the cluster node, remove the team and the LAG of the switch in one window, make the SET team, " +
			"resume the node; then the next",
		Interrupts: "the network of the node, its virtual switch included, until the new team is up",
		Bad:        windowsTeam("lacp"),
		Good:       windowsTeam("set"),
	},
	Run: windowsTeaming,
}

// windowsTeam is a Windows host with a team of a mode and two vNICs, each pinned to a member.
func windowsTeam(mode string) string {
	return `qos "roce" {
  trust = "pcp"
  class "rdma" {
    carries   = "rdma"
    priority  = 3
    bandwidth = 50
    match     = { netdirect_port = 445 }
    ecn       = "auto"
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
  qos    = qos.roce
}

switch "tor" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  port "Ethernet[0-4:4]" {
    speed  = "100G"
    tagged = segment.storage
  }
}

node "b" {
  os   = "windows-server/2025"
  slot = 9
  nic "p0" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    at    = switch.tor.port["Ethernet0"]
    cable = { media = "dac", length = "3m" }
  }
  nic "p1" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    at    = switch.tor.port["Ethernet4"]
    cable = { media = "dac", length = "3m" }
  }
  bond "bond0" {
    mode    = "` + mode + `"
    members = "p[0-1]"
  }
  interface "smb0" {
    on      = "bond0"
    segment = segment.storage
    address = "10.100.0.21/24"
    pin     = "p0"
  }
  interface "smb1" {
    on      = "bond0"
    segment = segment.storage
    address = "10.100.0.22/24"
    pin     = "p1"
  }
}
`
}

func windowsTeaming(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.LAGs); id++ {
		lag := &f.LAGs[id]
		dev := &f.Devices[lag.Device]
		if dev.Kind != fabric.Node || dev.Manage == fabric.HandsOff || lag.Mode == fabric.SET || !p.windows(dev) {
			continue
		}
		i := slices.IndexFunc(lag.Members, func(m fabric.PortID) bool { return p.RDMA(p.End(m)) })
		if i < 0 {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s of %s is a team of mode %s, and %s carries RDMA", f.Text(lag.Name), f.Text(dev.Name), lagWords[lag.Mode], f.PortName(lag.Members[i])), Address: f.LAGAddress(fabric.LAGID(id)),
			Concerns: []string{f.PortAddress(lag.Members[i])},
			Labels:   []diag.Label{f.Label(lag.Decl, 0, schema.AMode, "")}, Help: `write mode = "set"`,
		})
	}
}

// lagWords are the modes in the words of the language.
var lagWords = [...]string{fabric.LACP: "lacp", fabric.Static: "static", fabric.ActiveBackup: "active_backup", fabric.SET: "set"}

var roce719 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE719", Name: "node_without_rdma", Severity: diag.Notice,
		Title:  "a node whose NICs carry RDMA runs nothing that uses it",
		Why:    "its ports hold headroom that nobody fills, and can pause the fabric with other traffic of the same mark",
		Fix:    "give its NICs a qos without RDMA, or write in observed.consumers what uses it",
		Source: "IEEE 802.1Q Annex N: headroom of a priority; Guo et al., SIGCOMM 2016, 4.3: one NIC that pauses",
		Bad:    knowing(`observed = { consumers = [] }`),
		Good:   knowing(`observed = { consumers = ["nvme-of"] }`),
	},
	Run: idleNode,
}

func idleNode(p *Pass) {
	f := p.Fabric
	if !p.anyDevice(func(d *fabric.Device) bool { return d.Consumers != nil }) {
		return
	}
	p.nodesWithRDMA(func(dev *fabric.Device, e End, _ *fabric.Class) {
		if dev.Consumers == nil {
			return
		}
		used, known := false, true
		var class *fabric.Class
		p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
			if c.Carries != fabric.CarriesRDMA {
				return
			}
			class = c
			known = known && c.Consumers != nil
			used = used || slices.ContainsFunc(c.Consumers, func(s fabric.Str) bool { return slices.Contains(dev.Consumers, s) })
		})
		if len(dev.Consumers) > 0 && (used || !known) {
			return
		}
		why := "nothing on it uses RDMA"
		if len(dev.Consumers) > 0 {
			why = "nothing on it is a consumer of that class"
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s has NICs with class %s, and %s", f.Text(dev.Name), f.Text(class.Name), why), Address: f.Text(dev.Address),
			Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.AConsumers, ""), f.Label(class.Decl, 0, schema.AConsumers, "the class")}, Help: "give its NICs a qos without RDMA, or name what uses it",
		})
	})
}
