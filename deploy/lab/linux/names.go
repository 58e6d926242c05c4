package linux

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/lab/posix"
)

// rename gives a device another name, as the kernel does while it is down
// (__dev_change_name in net/core/dev.c).
func (m *Machine) rename(from, to string) error {
	l := m.links[from]
	switch {
	case from == to:
		return nil
	case m.links[to] != nil:
		return refusal("RTNETLINK answers: File exists")
	case l.up:
		return refusal("RTNETLINK answers: Device or resource busy")
	case to == "" || len(to) > 15 || strings.ContainsAny(to, "/ :"):
		return refusal("Error: argument \"%s\" is wrong: \"name\" not a valid ifname", to)
	}
	delete(m.links, from)
	l.name, m.links[to] = to, l
	for _, o := range m.links {
		if o.parent == from {
			o.parent = to
		}
		if o.master == from {
			o.master = to
		}
	}
	for i := range m.rules {
		if m.rules[i].dev == from {
			m.rules[i].dev = to
		}
	}
	for _, r := range m.rdma {
		if r.netdev == from {
			r.netdev = to
		}
	}
	if l.nic != nil {
		delete(m.nics, from)
		l.nic.name, m.nics[to] = to, l.nic
		m.order[slices.Index(m.order, from)] = to
	}
	return nil
}

// found gives ports the names that they have when their driver finds them, and
// udev those that .link files have for them: the first file that matches, by the
// order of names, those that netplan makes of set-name among them.
func (m *Machine) found(plan *plan) {
	nics := make([]*nic, len(m.order))
	for i, name := range m.order {
		nics[i] = m.nics[name]
	}
	files := m.linkFiles(plan)
	m.nics = map[string]*nic{}
	for i, n := range nics {
		n.name = n.first
		for _, file := range slices.Sorted(maps.Keys(files)) {
			f := files[file]
			if f["Path"] == "pci-"+n.pci || f["PermanentMACAddress"] != "" && strings.EqualFold(f["PermanentMACAddress"], n.mac) {
				n.name = f["Name"]
				break
			}
		}
		if m.nics[n.name] != nil {
			n.name = n.first // udev: the name is taken
		}
		m.nics[n.name], m.order[i] = n, n.name
	}
}

// linkFiles are the .link files by name, each as its keys: systemd.link(5).
func (m *Machine) linkFiles(plan *plan) map[string]map[string]string {
	all := map[string]map[string]string{}
	list, _ := m.disk.ReadDir("/etc/systemd/network")
	for _, e := range list {
		b, err := m.disk.ReadFile(path.Join("/etc/systemd/network", e.Name()))
		if err != nil || path.Ext(e.Name()) != ".link" {
			continue
		}
		keys := map[string]string{}
		for line := range strings.Lines(string(b)) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
				keys[key] = value
			}
		}
		if keys["Name"] != "" {
			all[e.Name()] = keys
		}
	}
	if plan == nil {
		return all
	}
	for id, d := range plan.Network.Ethernets {
		if d.Match.MAC != "" && d.SetName != "" {
			all["10-netplan-"+id+".link"] = map[string]string{"PermanentMACAddress": d.Match.MAC, "Name": d.SetName}
		}
	}
	return all
}

// python answers one script, dcbx.py of the kit: it gives DCBX of a port of mlx5 to
// the firmware (mlx5e_dcbnl_setdcbx).
func (m *Machine) python(_ context.Context, p *posix.Proc) int {
	if len(p.Args) != 2 || path.Base(p.Args[0]) != "dcbx.py" {
		return p.Fail("python3: only dcbx.py is simulated")
	}
	if _, ok := p.File(p.Args[0]); !ok {
		return p.Fail("python3: can't open file '%s': [Errno 2] No such file or directory", p.Args[0])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, why := m.nics[p.Args[1]], "the driver refuses"
	switch {
	case n == nil && m.links[p.Args[1]] == nil:
		why = "No such device"
	case n == nil || !n.dcbs():
		why = "Operation not supported"
	case n.driver == mlx5:
		n.host = false
		return 0
	}
	return p.Fail("%s: DCBX does not go back to the firmware: %s", p.Args[1], why)
}
