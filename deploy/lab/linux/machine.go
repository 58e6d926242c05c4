// Package linux is a simulated Linux host: its network devices, their drivers
// and the programs that set them, over a machine with a POSIX shell. It starts as
// a host is found: the adapters of the intent, none of its settings. What is not
// stored in files is lost with the power. No packets are sent.
package linux

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

// Machine is one host.
type Machine struct {
	*posix.Host
	disk   *lab.Disk
	faults *lab.Faults
	net    *lab.Net // may be nil

	mu       sync.Mutex
	nics     map[string]*nic
	order    []string // of nics
	links    map[string]*link
	rules    []rule
	lags     []intent.LAG // of the intent: where RDMA devices of bonds come from
	rdma     []*rdmaDevice
	tree     map[string]string // what sync wrote
	mlnxTool bool
	told     bool   // netplan apply is of a version that tells networkd of any change, not of those only that it sees
	networkd string // what netplan's generator made of its files last
}

// link is a network device: a port, a bond or a VLAN device.
type link struct {
	name   string
	index  int
	kind   string // "", "bond", "vlan"
	nic    *nic   // of a port
	up     bool
	mtu    int
	mac    string
	master string
	addrs  []string // prefixes
	parent string   // of a VLAN device
	vlan   int
	egress [8]int
	mode   string // of a bond: "802.3ad"
	rate   string
	hash   string
}

// rule sends what comes from an address to a table.
type rule struct {
	priority, table int
	from            string
	dev             string // whose network file has it
}

// rdmaDevice is one RDMA device.
type rdmaDevice struct {
	name   string
	netdev string
	nic    *nic
	bond   string // whose ports it takes over, "" for none
	cm     bool   // rdma_cm has a folder for it
	mode   string // default_roce_mode
	tos    int
}

// refusal is what a program or the kernel answers.
func refusal(format string, args ...any) error { return answer(fmt.Sprintf(format, args...)) }

type answer string

// Error is the text that the program prints.
func (a answer) Error() string { return string(a) }

// New starts the host of an intent. Scripts may be shared with other machines.
func New(d *intent.Device, e lab.Environment, scripts *posix.Scripts) *Machine {
	m := &Machine{
		disk:   posix.NewDisk(e.Clock),
		faults: e.Faults, net: e.Net, nics: map[string]*nic{}, links: map[string]*link{}, tree: map[string]string{},
		lags: d.LAGs, mlnxTool: d.Options["qos_tool"] == "mlnx_qos", told: d.OS.Name == "debian" && d.OS.Version == "12",
	}
	for i := range d.Ports {
		p := &d.Ports[i]
		if p.NIC == nil {
			continue
		}
		m.nics[p.Name] = newNIC(p, i)
		m.order = append(m.order, p.Name)
	}
	m.firstFiles(d)
	m.Host = posix.NewHost(posix.Options{
		Name: d.Name, Disk: m.disk, Clock: e.Clock, User: e.User, Faults: e.Faults, Scripts: scripts,
		Programs: m.programs(), Changes: changes, Boot: func(ctx context.Context, h *posix.Host) { m.boot(ctx, h) }, Reload: m.generated, Restarted: m.restarted,
	})
	m.Units.Fixed("systemd-networkd.service", true)
	m.Units.Fixed("systemd-modules-load.service", true)
	m.Units.Fixed("ssh.service", true)
	return m
}

// firstFiles are those of a host that somebody has just installed.
func (m *Machine) firstFiles(d *intent.Device) {
	name := map[string]string{"debian": "debian", "ubuntu": "ubuntu"}[d.OS.Name]
	if name == "" {
		name = "ubuntu"
	}
	for file, text := range map[string]string{
		"/etc/hostname":                  d.Name + "\n",
		"/etc/os-release":                fmt.Sprintf("ID=%s\nVERSION_ID=%q\n", name, d.OS.Version),
		"/etc/netplan/00-installer.yaml": "network:\n  version: 2\n",
	} {
		_ = m.disk.MkdirAll(path.Dir(file), 0o755)
		_ = m.disk.WriteFile(file, []byte(text), 0o644)
	}
	_ = m.disk.Chmod("/etc/netplan/00-installer.yaml", 0o600)
	for _, dir := range []string{"/etc/sysctl.d", "/etc/modules-load.d", "/etc/udev/rules.d", "/etc/systemd/network"} {
		_ = m.disk.MkdirAll(dir, 0o755)
	}
}

// programs are those of the packages that the intent's host has.
func (m *Machine) programs() map[string]posix.Program {
	all := map[string]posix.Program{
		"dcb": m.dcb, "ip": m.ip, "ethtool": m.ethtool, "rdma": m.rdmaTool, "netplan": m.netplan, "networkctl": m.networkctl, "sysctl": m.sysctl, "devlink": m.devlink, "modprobe": m.modprobe,
		"mount": m.mount, "python3": m.python, "mstconfig": m.mstconfig, "ibv_devinfo": m.devinfo, "mkdir": m.mkdir, "rmdir": m.rmdir, "rping": m.rping,
	}
	if m.mlnxTool {
		all["mlnx_qos"] = m.mlnxQoS
	}
	return all
}

// changes tells the commands that set something of a device: where faults strike.
func changes(line string) bool {
	f := strings.Fields(line)
	if len(f) < 2 {
		return false
	}
	switch f[0] {
	case "dcb":
		return len(f) > 2 && f[1] != "-j" && f[2] != "show"
	case "mlnx_qos":
		return !slices.Contains(f, "-a")
	case "ethtool":
		return f[1] == "-A" || f[1] == "-s" || strings.HasPrefix(f[1], "--set")
	case "ip":
		return slices.ContainsFunc([]string{"set", "add", "del"}, func(w string) bool { return slices.Contains(f, w) })
	case "netplan":
		return f[1] == "apply"
	case "networkctl":
		return f[1] == "reconfigure"
	case "rdma":
		return slices.Contains(f, "add")
	case "python3":
		return true
	case "devlink":
		return slices.Contains(f, "set")
	case "sysctl":
		return true
	}
	return false
}

// boot brings the host up from what is stored, as networkd, sysctl and the
// drivers do.
func (m *Machine) boot(ctx context.Context, h *posix.Host) {
	m.mu.Lock()
	m.links, m.rules, m.rdma, m.tree = map[string]*link{}, nil, nil, map[string]string{}
	plan, err := m.readPlan("")
	if err != nil {
		plan = nil
	}
	m.found(plan)
	for i, name := range m.order {
		n := m.nics[name]
		n.start()
		m.links[name] = &link{name: name, index: i + 2, nic: n, mac: n.mac, mtu: n.mtu, up: n.up}
	}
	m.mu.Unlock()
	for _, dir := range []string{"/sys/class/net", "/sys/class/infiniband", "/sys/kernel/config/rdma_cm", "/sys/kernel/debug", "/sys/module", "/proc/net"} {
		_ = m.disk.MkdirAll(dir, 0o755)
	}
	m.mu.Lock()
	for _, n := range m.nics {
		if n.driver == ice {
			_ = m.disk.MkdirAll("/sys/kernel/config/irdma", 0o755)
			_ = m.disk.MkdirAll("/sys/module/ice", 0o755)
		}
	}
	m.probe()
	if plan != nil {
		m.generate(plan)
		m.applyPlan(plan)
	}
	m.sync()
	m.mu.Unlock()
	list, _ := m.disk.ReadDir("/etc/sysctl.d")
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".conf") {
			b, _ := m.disk.ReadFile("/etc/sysctl.d/" + e.Name())
			_ = m.setSysctls(string(b))
		}
	}
}

// probe makes the RDMA devices of the adapters, as their modules do when they
// are loaded. Ports of one bond on mlx5 share one.
func (m *Machine) probe() {
	old := map[string]*rdmaDevice{}
	for _, r := range m.rdma {
		old[r.name] = r
	}
	m.rdma = nil
	count := map[string]int{}
	taken := map[string]bool{}
	add := func(name, netdev string, n *nic, bond string) {
		r := old[name]
		if r == nil {
			r = &rdmaDevice{name: name, mode: "RoCE v2"} // CMA_PREFERRED_ROCE_GID_TYPE of drivers/infiniband/core/cma.c
		}
		r.netdev, r.nic, r.bond = netdev, n, bond
		m.rdma = append(m.rdma, r)
	}
	for _, name := range m.order {
		n := m.nics[name]
		prefix := map[string]string{mlx5: "mlx5_", bnxt: "bnxt_re", ice: "irdma", qede: "qedr", cxgb4: "cxgb4_"}[n.driver]
		if prefix == "" || taken[name] {
			continue
		}
		at := count[prefix]
		count[prefix]++
		if b := m.links[m.links[name].master]; b != nil && n.driver == mlx5 {
			for _, other := range m.order {
				taken[other] = taken[other] || m.links[other].master == b.name
			}
			add(fmt.Sprintf("mlx5_bond_%d", at), b.name, n, b.name)
			continue
		}
		add(fmt.Sprintf("%s%d", prefix, at), name, n, "")
	}
	for name, r := range old {
		if strings.HasPrefix(name, "rxe_") {
			m.rdma = append(m.rdma, r)
		}
	}
	slices.SortFunc(m.rdma, func(a, b *rdmaDevice) int { return intent.Natural(a.name, b.name) })
}

// index is a number for a new device.
func (m *Machine) index() int {
	n := 1
	for _, l := range m.links {
		n = max(n, l.index)
	}
	return n + 1
}

// names are all network devices, by index.
func (m *Machine) names() []string {
	list := slices.Collect(maps.Keys(m.links))
	slices.SortFunc(list, func(a, b string) int { return m.links[a].index - m.links[b].index })
	return list
}

// running tells whether a device carries traffic.
func (m *Machine) running(l *link) bool {
	switch l.kind {
	case "vlan":
		return l.up && m.links[l.parent] != nil && m.running(m.links[l.parent])
	case "bond":
		return l.up && slices.ContainsFunc(m.names(), func(n string) bool { return m.links[n].master == l.name && m.links[n].up })
	}
	return l.up
}

// sync makes sysfs and procfs show the state, with the mutex held.
func (m *Machine) sync() {
	now := map[string]string{}
	put := func(name, format string, args ...any) { now[name] = fmt.Sprintf(format, args...) + "\n" }
	var vlans, bonds []string
	for _, name := range m.names() {
		l := m.links[name]
		base := "/sys/class/net/" + name + "/"
		flags := 0x1002
		if l.up {
			flags |= 1
		}
		put(base+"mtu", "%d", l.mtu)
		put(base+"flags", "%#x", flags)
		put(base+"address", "%s", l.mac)
		put(base+"ifindex", "%d", l.index)
		state := "down"
		if m.running(l) {
			state = "up"
		}
		put(base+"operstate", "%s", state)
		if l.master != "" {
			now[base+"master"] = "-> /sys/class/net/" + l.master
		}
		switch l.kind {
		case "vlan":
			vlans = append(vlans, l.name)
		case "bond":
			bonds = append(bonds, l.name)
		}
		if n := l.nic; n != nil {
			if l.up {
				put(base+"speed", "%d", n.speed)
			}
			device := "/sys/devices/pci0000:3a/" + n.pci
			now[base+"device"] = "-> " + device
			now[device+"/driver"] = "-> /sys/bus/pci/drivers/" + kernelDrivers[n.driver]
			put("/sys/bus/pci/drivers/"+kernelDrivers[n.driver]+"/module", "")
			put(device+"/sriov_totalvfs", "64")
			put(device+"/sriov_numvfs", "%d", n.vfs)
			for i := range n.vfs {
				put(fmt.Sprintf("%s/virtfn%d/infiniband/%s_vf%d/node_type", device, i, name, i), "1: CA")
			}
		}
	}
	m.syncRDMA(put)
	if len(vlans) > 0 {
		text := "VLAN Dev name    | VLAN ID\nName-Type: VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD\n"
		for _, v := range vlans {
			text += fmt.Sprintf("%-15s| %d  | %s\n", v, m.links[v].vlan, m.links[v].parent)
		}
		now["/proc/net/vlan/config"] = text
	}
	for _, b := range bonds {
		now["/proc/net/bonding/"+b] = m.bonding(m.links[b])
	}
	m.write(now)
}

func (m *Machine) bonding(l *link) string {
	mode := map[string]string{"802.3ad": "IEEE 802.3ad Dynamic link aggregation", "active-backup": "fault-tolerance (active-backup)", "balance-xor": "load balancing (xor)"}[l.mode]
	text := "Ethernet Channel Bonding Driver: v" + posix.Release + "\n\nBonding Mode: " + mode + "\nMII Status: up\nMII Polling Interval (ms): 100\n"
	for _, name := range m.names() {
		if m.links[name].master != l.name {
			continue
		}
		speed, mac := "Unknown", m.links[name].mac // of a device without hardware
		if n := m.links[name].nic; n != nil {
			speed, mac = fmt.Sprintf("%d Mbps", n.speed), n.mac
		}
		text += fmt.Sprintf("\nSlave Interface: %s\nMII Status: up\nSpeed: %s\nDuplex: full\nPermanent HW addr: %s\n", name, speed, mac)
		if l.mode == "802.3ad" {
			text += "Aggregator ID: 1\n"
		}
	}
	return text
}

// syncRDMA writes what RDMA devices show.
func (m *Machine) syncRDMA(put func(name, format string, args ...any)) {
	for _, r := range m.rdma {
		base := "/sys/class/infiniband/" + r.name + "/"
		kind := "1: CA"
		if r.nic != nil && r.nic.iwarp {
			kind = "4: RNIC"
		}
		put(base+"node_type", "%s", kind)
		at := 0
		for _, name := range m.names() {
			l := m.links[name]
			if !m.over(l, r.netdev) {
				continue
			}
			gids := append([]string{"fe80:0000:0000:0000:0000:0000:0000:0001"}, mapped(l.addrs)...)
			for _, gid := range gids {
				for _, kind := range []string{"IB/RoCE v1", "RoCE v2"} {
					put(fmt.Sprintf("%sports/1/gids/%d", base, at), "%s", gid)
					put(fmt.Sprintf("%sports/1/gid_attrs/types/%d", base, at), "%s", kind)
					put(fmt.Sprintf("%sports/1/gid_attrs/ndevs/%d", base, at), "%s", name)
					at++
				}
			}
		}
	}
}

// over tells whether a device is another or lies on it.
func (m *Machine) over(l *link, name string) bool {
	return l.name == name || l.kind == "vlan" && l.parent == name
}

// write makes the files those that are given, and removes what it wrote before
// and is not among them. A value that begins with an arrow is a link.
func (m *Machine) write(now map[string]string) {
	for name := range m.tree {
		if _, ok := now[name]; !ok {
			_ = m.disk.Remove(name)
			for dir := path.Dir(name); m.disk.Remove(dir) == nil; dir = path.Dir(dir) { // as far as they are empty
				if dir == "/" {
					break
				}
			}
		}
	}
	for name, text := range now {
		if m.tree[name] == text {
			continue
		}
		_ = m.disk.MkdirAll(path.Dir(name), 0o755)
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			_ = m.disk.MkdirAll(target, 0o755)
			_ = m.disk.Remove(name)
			_ = m.disk.Symlink(target, name)
			continue
		}
		_ = m.disk.WriteFile(name, []byte(text), fs.FileMode(0o444))
	}
	m.tree = now
	m.specials()
}
