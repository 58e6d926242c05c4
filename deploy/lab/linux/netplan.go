package linux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/rocec/rocec/deploy/lab/posix"
)

// plan is what all files of netplan say together. Keys that are not here are
// refused, as netplan refuses what it does not know.
type plan struct {
	Network struct {
		Version   int                    `yaml:"version"`
		Renderer  string                 `yaml:"renderer"`
		Ethernets map[string]*planDevice `yaml:"ethernets"`
		Bonds     map[string]*planDevice `yaml:"bonds"`
		VLANs     map[string]*planDevice `yaml:"vlans"`
	} `yaml:"network"`
}

type planDevice struct {
	Match struct {
		MAC  string `yaml:"macaddress"`
		Name string `yaml:"name"`
	} `yaml:"match"`
	SetName    string   `yaml:"set-name"`
	MTU        int      `yaml:"mtu"`
	Addresses  []string `yaml:"addresses"`
	Activation string   `yaml:"activation-mode"`
	VFs        *int     `yaml:"virtual-function-count"`
	VFMode     string   `yaml:"embedded-switch-mode"`
	Rebind     bool     `yaml:"delay-virtual-functions-rebind"`
	Optional   bool     `yaml:"optional"`
	DHCP4      bool     `yaml:"dhcp4"`
	DHCP6      bool     `yaml:"dhcp6"`
	RA         *bool    `yaml:"accept-ra"`
	LinkLocal  []string `yaml:"link-local"`
	Routes     []struct {
		To    string `yaml:"to"`
		Via   string `yaml:"via"`
		Scope string `yaml:"scope"`
		Table int    `yaml:"table"`
	} `yaml:"routes"`
	Policy []struct {
		From     string `yaml:"from"`
		Table    int    `yaml:"table"`
		Priority int    `yaml:"priority"`
	} `yaml:"routing-policy"`
	Interfaces []string `yaml:"interfaces"`
	Parameters struct {
		Mode string `yaml:"mode"`
		Rate string `yaml:"lacp-rate"`
		Hash string `yaml:"transmit-hash-policy"`
		MII  int    `yaml:"mii-monitor-interval"`
	} `yaml:"parameters"`
	ID   int    `yaml:"id"`
	Link string `yaml:"link"`
}

// netplan generate and apply.
func (m *Machine) netplan(_ context.Context, p *posix.Proc) int {
	root, verb := "", ""
	for i := 0; i < len(p.Args); i++ {
		switch a := p.Args[i]; {
		case a == "--root-dir" && i+1 < len(p.Args):
			i++
			root = p.Path(p.Args[i])
		case strings.HasPrefix(a, "--root-dir="):
			root = p.Path(strings.TrimPrefix(a, "--root-dir="))
		case verb == "" && !strings.HasPrefix(a, "-"):
			verb = a
		default:
			return p.Fail("netplan: error: unrecognized arguments: %s", a)
		}
	}
	if verb != "generate" && verb != "apply" {
		return p.Fail("netplan: only generate and apply are simulated")
	}
	all, err := m.readPlan(root)
	if err != nil {
		return p.Fail("%v", err)
	}
	if root != "" {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	changed := m.generate(all)
	if verb == "apply" {
		m.renamePlanned(all)
		if changed || m.told {
			m.applyPlan(all)
		}
		m.probe()
		m.sync()
	}
	return 0
}

// networkctl reconfigure has networkd set devices anew, by the files that netplan's
// generator made last.
func (m *Machine) networkctl(_ context.Context, p *posix.Proc) int {
	if len(p.Args) < 2 || p.Args[0] != "reconfigure" {
		return p.Fail("networkctl: only reconfigure DEVICE... is simulated")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all plan
	if err := yaml.Unmarshal([]byte(m.networkd), &all); err != nil {
		return p.Fail("networkctl: %v", err)
	}
	for _, name := range p.Args[1:] {
		l := m.links[name]
		if l == nil {
			return p.Fail("Failed to resolve interface \"%s\": No such device", name)
		}
		for key, d := range all.Network.Ethernets {
			if m.matched(key, d) == l {
				m.applyDevice(l, d)
			}
		}
		if d := all.Network.Bonds[name]; d != nil {
			m.applyDevice(l, d)
		}
		if d := all.Network.VLANs[name]; d != nil {
			m.applyDevice(l, d)
			if parent := m.links[l.parent]; parent != nil {
				l.mtu = min(l.mtu, parent.mtu)
			}
		}
	}
	m.sync()
	return 0
}

// generate makes the files of networkd, and tells whether they change.
func (m *Machine) generate(f *plan) bool {
	b, err := yaml.Marshal(f)
	changed := err != nil || m.networkd != string(b)
	m.networkd = string(b)
	return changed
}

// generated is netplan's generator, which systemd runs whenever it reads its files.
func (m *Machine) generated() {
	f, err := m.readPlan("")
	if err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generate(f)
}

// restarted is a start of networkd, which makes the devices of its files that are
// missing and sets all of them.
func (m *Machine) restarted(unit string) {
	if unit != "systemd-networkd.service" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all plan
	if err := yaml.Unmarshal([]byte(m.networkd), &all); err != nil {
		return
	}
	m.applyPlan(&all)
	m.sync()
}

// renamePlanned gives devices the names that netplan has for them, which go down
// for it; members of bonds keep theirs until the next boot (process_link_changes
// in netplan_cli/cli/commands/apply.py of 0.106 and 1.1).
func (m *Machine) renamePlanned(f *plan) {
	member := map[string]bool{}
	for _, b := range f.Network.Bonds {
		for _, id := range b.Interfaces {
			member[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(f.Network.Ethernets)) {
		d := f.Network.Ethernets[id]
		if l := m.matched(id, d); l != nil && d.Match.MAC != "" && d.SetName != "" && d.SetName != l.name && !member[id] && m.links[d.SetName] == nil {
			m.setUp(l, false)
			_ = m.rename(l.name, d.SetName)
		}
	}
}

// readPlan reads the files of /etc/netplan as one; later ones win.
func (m *Machine) readPlan(root string) (*plan, error) {
	dir := path.Join("/", root, "/etc/netplan")
	list, _ := m.disk.ReadDir(dir)
	all := &plan{}
	all.Network.Ethernets, all.Network.Bonds, all.Network.VLANs = map[string]*planDevice{}, map[string]*planDevice{}, map[string]*planDevice{}
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".yaml") {
			continue
		}
		full := path.Join(dir, e.Name())
		b, err := m.disk.ReadFile(full)
		if err != nil {
			return nil, err
		}
		var one plan
		dec := yaml.NewDecoder(bytes.NewReader(b))
		dec.KnownFields(true)
		if err := dec.Decode(&one); err != nil && !errors.Is(err, io.EOF) {
			text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " ")
			return nil, refusal("%s: Error in network definition: %s", full, text)
		}
		if one.Network.Version != 2 {
			return nil, refusal("%s: Error in network definition: Only version 2 is supported", full)
		}
		for into, from := range map[*map[string]*planDevice]map[string]*planDevice{
			&all.Network.Ethernets: one.Network.Ethernets, &all.Network.Bonds: one.Network.Bonds, &all.Network.VLANs: one.Network.VLANs,
		} {
			for name, d := range from {
				if d == nil {
					d = &planDevice{}
				}
				(*into)[name] = d
			}
		}
	}
	return all, all.check(dir)
}

// check is what netplan demands of all files together.
func (f *plan) check(dir string) error {
	n := f.Network
	defined := func(name string) bool {
		return n.Ethernets[name] != nil || n.Bonds[name] != nil || n.VLANs[name] != nil
	}
	for name, d := range n.VLANs {
		if !defined(d.Link) {
			return refusal("%s: Error in network definition: %s: interface '%s' is not defined", dir, name, d.Link)
		}
		if d.ID < 0 || d.ID > 4094 {
			return refusal("%s: Error in network definition: %s: invalid id '%d' (allowed values are 0 to 4094)", dir, name, d.ID)
		}
	}
	for name, d := range n.Bonds {
		for _, m := range d.Interfaces {
			if !defined(m) {
				return refusal("%s: Error in network definition: %s: interface '%s' is not defined", dir, name, m)
			}
		}
	}
	for _, devices := range []map[string]*planDevice{n.Ethernets, n.Bonds, n.VLANs} {
		for name, d := range devices {
			for _, a := range d.Addresses {
				if _, err := netip.ParsePrefix(a); err != nil {
					return refusal("%s: Error in network definition: %s: malformed address '%s', must be X.X.X.X/NN or X:X:X:X:X:X:X:X/NN", dir, name, a)
				}
			}
		}
	}
	return nil
}

// applyPlan makes the devices what the files say, with the mutex held. What no
// file names stays as it is: networkd takes back nothing that it set on a device
// that it no longer has to manage, and removes no device; netplan apply removes
// those of a state that it is told of (apply.py of netplan), and is told of none.
func (m *Machine) applyPlan(f *plan) {
	n := f.Network
	for _, key := range slices.Sorted(maps.Keys(n.Ethernets)) {
		d := n.Ethernets[key]
		if l := m.matched(key, d); l != nil {
			m.free(l)
			m.applyDevice(l, d)
			m.applyVFs(l.nic, d)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Bonds)) {
		d := n.Bonds[name]
		l := m.links[name]
		if l == nil {
			l = &link{name: name, index: m.index(), kind: "bond", mtu: 1500}
			m.links[name] = l
		}
		l.mode, l.rate, l.hash = d.Parameters.Mode, d.Parameters.Rate, d.Parameters.Hash
		if l.mode == "802.3ad" && l.rate == "" {
			l.rate = "slow"
		}
		for _, member := range d.Interfaces {
			if p := m.links[member]; p != nil {
				p.master, p.up = name, true
				if l.mac == "" {
					l.mac = p.mac
				}
				p.mac = l.mac
				if d.MTU > 0 {
					m.setMTU(p, d.MTU)
				}
			}
		}
		m.applyDevice(l, d)
	}
	for _, name := range slices.Sorted(maps.Keys(n.VLANs)) {
		d := n.VLANs[name]
		parent := m.links[d.Link]
		if parent == nil || m.lies(parent, name) { // no device lies on itself
			continue
		}
		l := m.links[name]
		if l == nil || l.parent != d.Link || l.vlan != d.ID {
			l = &link{name: name, index: m.index(), kind: "vlan", parent: d.Link, vlan: d.ID, mtu: parent.mtu, mac: parent.mac}
			l.egress = m.networkdEgress(name)
			m.links[name] = l
		}
		m.applyDevice(l, d)
		l.mtu = min(l.mtu, parent.mtu)
	}
	m.probe()
}

// lies tells whether a device is one of a name, or lies on it.
func (m *Machine) lies(l *link, name string) bool {
	for l != nil && l.name != name {
		l = m.links[l.parent]
	}
	return l != nil
}

// matched is the device that an entry of ethernets means.
func (m *Machine) matched(key string, d *planDevice) *link {
	if d.Match.MAC != "" {
		for _, name := range m.order {
			if strings.EqualFold(m.nics[name].mac, d.Match.MAC) {
				return m.links[name]
			}
		}
		return nil
	}
	if d.Match.Name != "" {
		key = d.Match.Name
	}
	return m.links[key]
}

// free takes a port out of its bond.
func (m *Machine) free(l *link) {
	l.master = ""
	if l.nic != nil {
		l.mac = l.nic.mac
	}
}

func (m *Machine) applyDevice(l *link, d *planDevice) {
	l.up = d.Activation != "off" && d.Activation != "manual"
	if l.nic != nil {
		l.nic.up = l.up
	}
	if d.MTU > 0 {
		m.setMTU(l, d.MTU)
	}
	l.addrs = slices.Clone(d.Addresses)
	m.rules = slices.DeleteFunc(m.rules, func(r rule) bool { return r.dev == l.name })
	for _, r := range d.Policy {
		from, err := netip.ParsePrefix(r.From)
		text := r.From
		if err == nil && from.Bits() == from.Addr().BitLen() {
			text = from.Addr().String()
		}
		m.rules = append(m.rules, rule{priority: r.Priority, table: r.Table, from: text, dev: l.name})
	}
}

func (m *Machine) applyVFs(n *nic, d *planDevice) {
	if n == nil || d.VFs == nil {
		return
	}
	if n.vfs != *d.VFs {
		n.vfTrust, n.vfVLAN = map[int]bool{}, map[int]int{}
	}
	n.vfs = min(max(*d.VFs, 0), 64)
	if d.VFMode != "" {
		n.vfMode = d.VFMode
	}
}

// networkdEgress is the map that a drop-in gives a VLAN device when it is made.
func (m *Machine) networkdEgress(name string) (egress [8]int) {
	b, err := m.disk.ReadFile(fmt.Sprintf("/etc/systemd/network/10-netplan-%s.netdev.d/qos.conf", name))
	if err != nil {
		return egress
	}
	for line := range strings.Lines(string(b)) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "EgressQOSMaps=")
		if !ok {
			continue
		}
		for pair := range strings.FieldsSeq(value) {
			from, to, _ := strings.Cut(pair, "-")
			a, errA := number(from, 7)
			b, errB := number(to, 7)
			if errA == nil && errB == nil {
				egress[a] = b
			}
		}
	}
	return egress
}
