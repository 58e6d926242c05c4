package linux

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/rocec/rocec/deploy/lab/posix"
)

// done ends a command of ip that set something.
func (m *Machine) done(p *posix.Proc, err error) int {
	if err != nil {
		p.Fail("%v", err)
		return 2
	}
	m.probe()
	m.sync()
	return 0
}

// deleteLink takes a bond or VLAN device away, with what lies on it; the members
// of a bond are on their own again, and down (__bond_release_one).
func (m *Machine) deleteLink(args []string) error {
	if len(args) > 0 && args[0] == "dev" {
		args = args[1:]
	}
	if len(args) != 1 {
		return refusal("Not enough information: \"dev\" argument is required.")
	}
	l := m.links[args[0]]
	switch {
	case l == nil:
		return refusal("Cannot find device \"%s\"", args[0])
	case l.kind == "":
		return refusal("RTNETLINK answers: Operation not supported")
	}
	for _, name := range m.names() {
		o := m.links[name]
		if o.kind == "vlan" && o.parent == l.name {
			delete(m.links, name)
		}
		if o.master == l.name {
			m.free(o)
			m.setUp(o, false)
		}
	}
	delete(m.links, l.name)
	return nil
}

func (m *Machine) setUp(l *link, up bool) {
	l.up = up
	if l.nic != nil {
		l.nic.up = up
	}
}

// setAddress takes what follows ip addr add and ip addr del.
func (m *Machine) setAddress(add bool, args []string) error {
	var prefix, dev string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case i+1 < len(args) && (a == "dev" || a == "brd" || a == "metric"):
			i++
			if a == "dev" {
				dev = args[i]
			}
		case prefix == "":
			prefix = a
		default:
			return refusal("Error: either \"local\" is duplicate, or \"%s\" is a garbage.", a)
		}
	}
	if _, err := netip.ParsePrefix(prefix); err != nil {
		return refusal("Error: any valid prefix is expected rather than \"%s\".", prefix)
	}
	l := m.links[dev]
	if l == nil {
		return refusal("Cannot find device \"%s\"", dev)
	}
	at := slices.Index(l.addrs, prefix)
	switch {
	case add && at >= 0:
		return refusal("RTNETLINK answers: File exists")
	case add:
		l.addrs = append(l.addrs, prefix)
	case at < 0:
		return refusal("RTNETLINK answers: Cannot assign requested address")
	default:
		l.addrs = slices.Delete(l.addrs, at, at+1)
	}
	return nil
}

// deleteRule takes what follows ip rule del.
func (m *Machine) deleteRule(args []string) error {
	var want rule
	for i := 0; i+1 < len(args); i += 2 {
		v, err := strconv.Atoi(args[i+1])
		switch {
		case args[i] == "from":
			want.from = args[i+1]
		case args[i] == "priority" && err == nil:
			want.priority = v
		case args[i] == "table" && err == nil:
			want.table = v
		default:
			return refusal("Error: argument \"%s\" is wrong: invalid", args[i+1])
		}
	}
	at := slices.IndexFunc(m.rules, func(r rule) bool { return r.priority == want.priority && r.table == want.table && r.from == want.from })
	if at < 0 {
		return refusal("RTNETLINK answers: No such file or directory")
	}
	m.rules = slices.Delete(m.rules, at, at+1)
	return nil
}
