package linux

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/deploy/lab/posix"
)

// mapped are addresses as GIDs have them.
func mapped(prefixes []string) []string {
	var list []string
	for _, s := range prefixes {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			continue
		}
		b := p.Addr().As16()
		var words []string
		for i := 0; i < 16; i += 2 {
			words = append(words, fmt.Sprintf("%02x%02x", b[i], b[i+1]))
		}
		list = append(list, strings.Join(words, ":"))
	}
	return list
}

// ip is ip of iproute2: devices, addresses and rules are shown, devices set.
func (m *Machine) ip(_ context.Context, p *posix.Proc) int {
	args := p.Args
	o := map[string]bool{}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-j", "-d", "-o", "-4", "-6", "-br", "-p", "-s":
			o[args[0]] = true
		default:
			return p.Fail("Option \"%s\" is unknown, try \"ip -help\".", args[0])
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return p.Fail("Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }")
	}
	object, verb, rest := args[0], "show", args[1:]
	if len(rest) > 0 {
		verb, rest = rest[0], rest[1:]
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case slices.Contains([]string{"addr", "address", "a", "link", "l"}, object) && slices.Contains([]string{"show", "list", "ls"}, verb):
		return m.show(p, o, object[0] == 'a', rest)
	case object == "rule" && (verb == "show" || verb == "list"):
		return m.showRules(p, o)
	case (object == "link" || object == "l") && verb == "set":
		return m.done(p, m.setLink(rest))
	case (object == "link" || object == "l") && (verb == "del" || verb == "delete"):
		return m.done(p, m.deleteLink(rest))
	case strings.HasPrefix(object, "a") && (verb == "add" || verb == "del"):
		return m.done(p, m.setAddress(verb == "add", rest))
	case object == "rule" && verb == "del":
		return m.done(p, m.deleteRule(rest))
	}
	return p.Fail("ip: %s %s is not simulated", object, verb)
}

// show prints devices, with or without their addresses.
func (m *Machine) show(p *posix.Proc, o map[string]bool, addresses bool, rest []string) int {
	names := m.names()
	if len(rest) > 0 && rest[0] == "dev" {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		if m.links[rest[0]] == nil {
			return p.Fail("Device \"%s\" does not exist.", rest[0])
		}
		names = rest[:1]
	}
	if o["-j"] {
		list := []any{}
		for _, n := range names {
			list = append(list, m.linkJSON(m.links[n], addresses))
		}
		b, err := json.Marshal(list)
		if err != nil {
			return p.Fail("ip: %v", err)
		}
		p.Printf("%s\n", b)
		return 0
	}
	for _, n := range names {
		l := m.links[n]
		if addresses && o["-o"] {
			for _, a := range l.addrs {
				p.Printf("%d: %s    %s %s%s scope global %s\\       valid_lft forever preferred_lft forever\n", l.index, n, familyOf(a), a, broadcast(a), n)
			}
			continue
		}
		sep := "\n   "
		if o["-o"] {
			sep = "\\   "
		}
		p.Printf("%d: %s: <%s> mtu %d qdisc mq state %s mode DEFAULT group default qlen 1000%s link/ether %s brd ff:ff:ff:ff:ff:ff", l.index, m.shownName(l), strings.Join(m.flags(l), ","), l.mtu, m.state(l), sep, l.mac)
		if l.nic != nil && l.mac != l.nic.mac {
			p.Printf(" permaddr %s", l.nic.mac)
		}
		if o["-d"] {
			p.Printf("%s", details(l))
		}
		if n := l.nic; n != nil {
			for i := range n.vfs {
				vlan := ""
				if v := n.vfVLAN[i]; v > 0 {
					vlan = fmt.Sprintf(", vlan %d", v)
				}
				p.Printf("%s vf %d     link/ether 00:00:00:00:00:00 brd ff:ff:ff:ff:ff:ff%s, spoof checking off, link-state auto, trust %s, query_rss off",
					sep, i, vlan, map[bool]string{true: "on", false: "off"}[n.vfTrust[i]])
			}
		}
		if addresses {
			for _, a := range l.addrs {
				p.Printf("%s %s %s%s scope global %s", sep, familyOf(a), a, broadcast(a), n)
			}
		}
		p.Printf("\n")
	}
	return 0
}

func familyOf(prefix string) string {
	if strings.Contains(prefix, ":") {
		return "inet6"
	}
	return "inet"
}

// broadcast is what ip shows behind an address that networkd set: its broadcast
// address, of IPv4 with room for one (address_set_broadcast in networkd-address.c,
// print_addrinfo in ip/ipaddress.c of iproute2).
func broadcast(prefix string) string {
	p, err := netip.ParsePrefix(prefix)
	if err != nil || !p.Addr().Is4() || p.Bits() > 30 {
		return ""
	}
	b := p.Addr().As4()
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])|(1<<(32-p.Bits())-1))
	return " brd " + netip.AddrFrom4(b).String()
}

func (m *Machine) shownName(l *link) string {
	if l.kind == "vlan" {
		return l.name + "@" + l.parent
	}
	return l.name
}

func (m *Machine) flags(l *link) []string {
	list := []string{"BROADCAST", "MULTICAST"}
	switch {
	case l.kind == "bond":
		list = append(list, "MASTER")
	case l.master != "":
		list = append(list, "SLAVE")
	}
	if l.up {
		list = append(list, "UP")
	}
	if m.running(l) {
		list = append(list, "LOWER_UP")
	}
	return list
}

func (m *Machine) state(l *link) string {
	if m.running(l) {
		return "UP"
	}
	return "DOWN"
}

func details(l *link) string {
	switch l.kind {
	case "vlan":
		text := fmt.Sprintf(" promiscuity 0 minmtu 0 maxmtu 65535\\    vlan protocol 802.1Q id %d <REORDER_HDR> ", l.vlan)
		if pairs := egressPairs(l.egress); pairs != "" {
			text += "egress-qos-map { " + pairs + " } "
		}
		return text
	case "bond":
		return " promiscuity 0\\    bond mode " + l.mode + " miimon 100 "
	}
	return " promiscuity 0 minmtu 68 maxmtu 9978"
}

func egressPairs(m [8]int) string {
	var list []string
	for from, to := range m {
		if to > 0 {
			list = append(list, fmt.Sprintf("%d:%d", from, to))
		}
	}
	return strings.Join(list, " ")
}

// egressJSON is the same for -j: vlan_print_map in ip/iplink_vlan.c of iproute2.
func egressJSON(m [8]int) (list []any) {
	for from, to := range m {
		if to > 0 {
			list = append(list, map[string]any{"from": from, "to": to})
		}
	}
	return list
}

// linkJSON is what ip -j -d prints of a device.
func (m *Machine) linkJSON(l *link, addresses bool) map[string]any {
	v := map[string]any{
		"ifindex": l.index, "ifname": l.name, "flags": m.flags(l), "mtu": l.mtu, "qdisc": "mq", "operstate": m.state(l), "link_type": "ether", "address": l.mac,
		"broadcast": "ff:ff:ff:ff:ff:ff",
	}
	if l.master != "" {
		v["master"] = l.master
		if l.nic != nil && l.nic.mac != l.mac {
			v["permaddr"] = l.nic.mac
		}
	}
	if l.nic != nil {
		v["parentbus"], v["parentdev"] = "pci", l.nic.pci
	}
	switch l.kind {
	case "vlan":
		v["link"] = l.parent
		data := map[string]any{"protocol": "802.1Q", "id": l.vlan, "flags": []string{"REORDER_HDR"}}
		if maps := egressJSON(l.egress); len(maps) > 0 {
			data["egress_qos"] = maps
		}
		v["linkinfo"] = map[string]any{"info_kind": "vlan", "info_data": data}
	case "bond":
		data := map[string]any{"mode": l.mode, "miimon": 100}
		if l.rate != "" {
			data["ad_lacp_rate"] = l.rate
		}
		if l.hash != "" {
			data["xmit_hash_policy"] = l.hash
		}
		v["linkinfo"] = map[string]any{"info_kind": "bond", "info_data": data}
	}
	if addresses {
		list := []any{}
		for _, a := range l.addrs {
			pre, err := netip.ParsePrefix(a)
			if err != nil {
				continue
			}
			list = append(list, map[string]any{"family": familyOf(a), "local": pre.Addr().String(), "prefixlen": pre.Bits(), "scope": "global", "label": l.name})
		}
		v["addr_info"] = list
	}
	return v
}

func (m *Machine) showRules(p *posix.Proc, o map[string]bool) int {
	all := slices.Concat([]rule{{priority: 0, from: "all"}}, m.rules, []rule{{priority: 32766, from: "all", table: -1}, {priority: 32767, from: "all", table: -2}})
	slices.SortStableFunc(all, func(a, b rule) int { return a.priority - b.priority })
	list := []any{}
	for _, r := range all {
		table := map[int]string{0: "local", -1: "main", -2: "default"}[r.table]
		if table == "" {
			table = strconv.Itoa(r.table)
		}
		v6 := strings.Contains(r.from, ":")
		if r.from != "all" && (o["-4"] && v6 || o["-6"] && !v6) {
			continue
		}
		list = append(list, map[string]any{"priority": r.priority, "src": r.from, "table": table})
		if !o["-j"] {
			p.Printf("%d:\tfrom %s lookup %s\n", r.priority, r.from, table)
		}
	}
	if o["-j"] {
		b, err := json.Marshal(list)
		if err != nil {
			return p.Fail("ip: %v", err)
		}
		p.Printf("%s\n", b)
	}
	return 0
}

// setLink takes what follows ip link set.
func (m *Machine) setLink(args []string) error {
	if len(args) > 0 && args[0] == "dev" {
		args = args[1:]
	}
	if len(args) == 0 {
		return refusal("Not enough information: \"dev\" argument is required.")
	}
	l := m.links[args[0]]
	if l == nil {
		return refusal("Cannot find device \"%s\"", args[0])
	}
	args = args[1:]
	for len(args) > 0 {
		value := ""
		if len(args) > 1 {
			value = args[1]
		}
		switch args[0] {
		case "up", "down":
			l.up = args[0] == "up"
			if l.nic != nil {
				l.nic.up = l.up
			}
			args = args[1:]
			continue
		case "name":
			if err := m.rename(l.name, value); err != nil {
				return err
			}
		case "mtu":
			v, err := strconv.Atoi(value)
			if err != nil || v < 68 || v > 9978 {
				return refusal("Error: mtu greater than device maximum.")
			}
			m.setMTU(l, v)
		case "vf":
			return m.setVF(l, args[1:])
		case "type":
			if value != "vlan" || l.kind != "vlan" || len(args) < 3 || args[2] != "egress-qos-map" {
				return refusal("RTNETLINK answers: Operation not supported")
			}
			for _, pair := range args[3:] {
				from, to, _ := strings.Cut(pair, ":")
				a, err := number(from, 7)
				if err != nil {
					return refusal("Error: argument \"%s\" is wrong: egress-qos-map is invalid", pair)
				}
				b, err := number(to, 7)
				if err != nil {
					return refusal("Error: argument \"%s\" is wrong: egress-qos-map is invalid", pair)
				}
				l.egress[a] = b
			}
			return nil
		default:
			return refusal("Error: either \"dev\" is duplicate, or \"%s\" is a garbage.", args[0])
		}
		args = args[min(2, len(args)):]
	}
	return nil
}

func (m *Machine) setMTU(l *link, v int) {
	l.mtu = v
	if l.nic != nil {
		l.nic.mtu = v
	}
}

func (m *Machine) setVF(l *link, args []string) error {
	if l.nic == nil || len(args) < 3 {
		return refusal("RTNETLINK answers: Operation not supported")
	}
	vf, err := number(args[0], l.nic.vfs-1)
	if err != nil {
		return refusal("RTNETLINK answers: Invalid argument")
	}
	for pair := range slices.Chunk(args[1:], 2) {
		if len(pair) < 2 {
			return refusal("Command line is not complete. Try option \"help\"")
		}
		switch pair[0] {
		case "trust":
			l.nic.vfTrust[vf] = pair[1] == "on"
		case "vlan":
			v, err := number(pair[1], 4094)
			if err != nil {
				return refusal("Error: argument \"%s\" is wrong: Invalid \"vlan\" value", pair[1])
			}
			l.nic.vfVLAN[vf] = v
		default:
			return refusal("Error: either \"vf\" is duplicate, or \"%s\" is a garbage.", pair[0])
		}
	}
	return nil
}

// rdmaTool is rdma of iproute2.
func (m *Machine) rdmaTool(_ context.Context, p *posix.Proc) int {
	args, asJSON := p.Args, false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		asJSON = asJSON || args[0] == "-j"
		args = args[1:]
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case len(args) >= 2 && args[0] == "link" && args[1] == "show" || len(args) == 1 && args[0] == "link":
		list := []any{}
		for i, r := range m.rdma {
			l := m.links[r.netdev]
			if l == nil {
				continue
			}
			state := map[bool]string{true: "ACTIVE", false: "DOWN"}[m.running(l)]
			list = append(list, map[string]any{"ifindex": i, "ifname": r.name, "port": 1, "state": state, "physical_state": "LINK_UP", "netdev": r.netdev, "netdev_index": l.index})
			if !asJSON {
				p.Printf("link %s/1 state %s physical_state LINK_UP netdev %s \n", r.name, state, r.netdev)
			}
		}
		if asJSON {
			b, err := json.Marshal(list)
			if err != nil {
				return p.Fail("rdma: %v", err)
			}
			p.Printf("%s\n", b)
		}
		return 0
	case len(args) == 7 && args[0] == "link" && args[1] == "add" && args[3] == "type" && args[5] == "netdev":
		if args[4] != "rxe" || m.links[args[6]] == nil {
			return p.Fail("error: Invalid argument")
		}
		if slices.ContainsFunc(m.rdma, func(r *rdmaDevice) bool { return r.name == args[2] || r.netdev == args[6] }) {
			return p.Fail("error: File exists")
		}
		m.rdma = append(m.rdma, &rdmaDevice{name: args[2], netdev: args[6], nic: m.nics[args[6]], mode: "RoCE v2"})
		m.sync()
		return 0
	}
	return p.Fail("rdma: only link show and link add NAME type rxe netdev DEVICE are simulated")
}
