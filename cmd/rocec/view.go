package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
	"github.com/rocec/rocec/compiler/resolve"
	"github.com/rocec/rocec/lang"
)

// fabricView is the compiled fabric as checks and the console see it: plain
// rows, read only.
type fabricView struct {
	f *fabric.Fabric
	t *tracer
}

// asking are the functions that ask it, for the page of functions: one for each of lang.Questions.
var asking = []struct {
	name, signature, doc, example string
	ask                           func(*fabricView, []string) ([]map[string]any, error)
}{
	{"devices", "devices(address...)", "Switches and nodes whose address fits one of the texts; all without. A row has address, name, kind (\"switch\" or \"node\"), role, tier, index, group, plane, rail, pod, rack, slot, cluster, tenant, site, os, model, manage and ports, their number; null is what the device does not have.", `alltrue([for d in devices("node.*") : d.rack != null])`, (*fabricView).Devices},
	{"links", "links(end, end)", "Links whose ends are what the two words say, in that order: \"node\", of a switch its `role`, its tier or \"switch\", or the address of a device; all links without arguments. A row has address, a, b, length (\"3m\"), length_m, media and up.", `alltrue([for l in links("node", "leaf") : l.a.index == l.b.switch.index])`, (*fabricView).Links},
	{"paths", "paths(from, to, class)", "Ways that the routing has from one NIC, node or IP address to another, a row for each shape: ways that treat the frames of the class alike (without it, of the first class that carries RDMA). A row has class, ways, links, ports, sound and fault. Ends that share no segment and no VRF have no ways.", `sum(paths(node.gpu["gpu01"], node.gpu["gpu02"])[*].ways) >= 4`, (*fabricView).Paths},
	{"peers", "peers(address...)", "Ports at the other ends of the cables of devices or ports, in rows like those of ports.", `length(peers(switch.tor)) == 16`, (*fabricView).Peers},
	{"ports", "ports(address...)", "Ports whose address, or whose device's, fits one of the texts; all without. A row has address, name, index, speed (\"400G\"), speed_mbps, mtu, device, role, linked, up, qos, rail of a NIC that has one, and node or switch.", `alltrue([for p in ports("switch.*.port[*]") : p.speed == "400G"])`, (*fabricView).Ports},
	{"segments", "segments(address...)", "Segments whose address fits one of the texts; all without. A row has address, name, vlan, subnet, gateway, vrf, qos, mtu, isolated and ports: the addresses of those that carry it.", `alltrue([for s in segments() : s.mtu >= 9000 if s.qos != null])`, (*fabricView).Segments},
}

// Ask answers one of the functions.
func (v *fabricView) Ask(function string, args []string) ([]map[string]any, error) {
	for _, f := range asking {
		if f.name == function {
			return f.ask(v, args)
		}
	}
	return nil, fmt.Errorf("nothing answers %s", function)
}

func (p *project) fabricView() *fabricView { return &fabricView{f: p.res.Fabric, t: p.tracer()} }

// Paths lists the ways from one NIC to another, a row for each shape: ways that
// treat the frames alike. Arguments are both ends, as trace takes them, and the
// name of a class; without, that of the first class that carries RDMA. Ends that
// share no segment have no ways, nor has one that nothing reaches by its address.
func (v *fabricView) Paths(args []string) ([]map[string]any, error) {
	if len(args) < 2 || len(args) > 3 {
		return nil, fmt.Errorf("paths takes two ends and perhaps a class, not %d arguments", len(args))
	}
	from, err := v.t.endpoints(args[0])
	if err != nil {
		return nil, err
	}
	to, err := v.t.endpoints(args[1])
	if err != nil {
		return nil, err
	}
	if from, to = v.up(from), v.up(to); len(from) == 0 || len(to) == 0 {
		return nil, nil
	}
	q := asked{class: append(args, "")[2]}
	list, err := v.t.follow(q, from, to)
	if errors.Is(err, paths.ErrApart) || errors.Is(err, paths.ErrUnreached) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rows []map[string]any
	for _, s := range list[0].Shapes {
		ports, fault := []string{}, ""
		for i := range s.Hops {
			h := &s.Hops[i]
			ports = append(ports, h.Out.Address, h.In.Address)
			if fault == "" {
				fault = h.Text
			}
		}
		rows = append(rows, map[string]any{"class": list[0].Class, "ways": s.Ways, "links": len(s.Hops), "ports": ports, "sound": fault == "", "fault": fault})
	}
	return rows, nil
}

// up are the ports whose cables are up.
func (v *fabricView) up(ports []fabric.PortID) []fabric.PortID {
	return slices.DeleteFunc(slices.Clone(ports), func(id fabric.PortID) bool {
		return v.f.Ports[id].Link != 0 && !v.f.Up(v.f.Ports[id].Link, v.t.down)
	})
}

// Links lists links whose ends are what two words say, in that order: "node",
// of a switch its `role`, its tier in a topology or "switch", or an address.
// Without words, all.
func (v *fabricView) Links(ends []string) ([]map[string]any, error) {
	if len(ends) != 0 && len(ends) != 2 {
		return nil, fmt.Errorf("links takes what its two ends are, or nothing, and not %d arguments", len(ends))
	}
	for _, word := range ends {
		if err := v.someoneIs(word); err != nil {
			return nil, err
		}
	}
	var rows []map[string]any
	for id := 1; id < len(v.f.Links); id++ {
		l := &v.f.Links[id]
		a, b := l.A, l.B
		if len(ends) == 2 {
			switch {
			case v.is(a, ends[0]) && v.is(b, ends[1]):
			case v.is(b, ends[0]) && v.is(a, ends[1]):
				a, b = b, a
			default:
				continue
			}
		}
		rows = append(rows, map[string]any{
			"address": v.f.LinkAddress(fabric.LinkID(id)), "a": v.port(a), "b": v.port(b), "length": lengthText(l.CableMm),
			"length_m": float64(l.CableMm) / 1000, "media": v.f.Text(v.f.Media[l.Media].Name), "up": v.f.Up(fabric.LinkID(id), v.t.down),
		})
	}
	return rows, nil
}

// Ports lists the ports whose address fits one of the patterns, or whose device's does; all without any.
func (v *fabricView) Ports(patterns []string) ([]map[string]any, error) {
	ids, err := v.portsAt(patterns)
	rows := make([]map[string]any, len(ids))
	for i, id := range ids {
		rows[i] = v.port(id)
	}
	return rows, err
}

// Peers lists the ports at the other ends of the cables of devices or ports.
func (v *fabricView) Peers(patterns []string) ([]map[string]any, error) {
	ids, err := v.portsAt(patterns)
	var rows []map[string]any
	for _, id := range ids {
		if peer := v.f.Ports[id].Peer; peer != 0 && len(patterns) > 0 {
			rows = append(rows, v.port(peer))
		}
	}
	return rows, err
}

// portsAt are the ports that patterns fit, each once; all without any.
func (v *fabricView) portsAt(patterns []string) ([]fabric.PortID, error) {
	var ids []fabric.PortID
	fitted := make([]bool, len(patterns))
	for d := 1; d < len(v.f.Devices); d++ {
		whole := v.fits(patterns, v.f.Text(v.f.Devices[d].Address), fitted)
		first, end := v.f.PortsOf(fabric.DeviceID(d))
		for id := first; id < end; id++ {
			if v.fits(patterns, v.f.PortAddress(id), fitted) || whole {
				ids = append(ids, id)
			}
		}
	}
	return ids, v.unfitted(patterns, fitted, func() []string {
		var names []string
		for id := 1; id < len(v.f.Ports); id++ {
			names = append(names, v.f.PortAddress(fabric.PortID(id)))
		}
		return append(names, v.devices()...)
	})
}

// fits reports whether an address is one of those that are asked for, and notes which patterns it fits.
func (v *fabricView) fits(patterns []string, address string, fitted []bool) bool {
	fits := len(patterns) == 0
	for i, p := range patterns {
		if resolve.Match(p, address) {
			fits, fitted[i] = true, true
		}
	}
	return fits
}

// unfitted is the error of what nothing has: an address, or a glob of ports or interfaces of a device that is not there. A glob over
// devices may fit none.
func (v *fabricView) unfitted(patterns []string, fitted []bool, names func() []string) error {
	for i, p := range patterns {
		if fitted[i] {
			continue
		}
		if !strings.Contains(p, "*") {
			return nothingAt(p, names())
		}
		for _, inner := range []string{".port[", ".nic["} {
			of, _, ok := strings.Cut(p, inner)
			if ok && !strings.Contains(of, "*") && !slices.ContainsFunc(v.devices(), func(d string) bool { return resolve.Match(of, d) }) {
				return nothingAt(of, v.devices())
			}
		}
	}
	return nil
}

func nothingAt(address string, names []string) error {
	if near := lang.Nearest(address, names); near != "" {
		return fmt.Errorf("nothing has the address %s: did you mean %s?", address, near)
	}
	return fmt.Errorf("nothing has the address %s", address)
}

// devices are the addresses of all devices.
func (v *fabricView) devices() []string {
	var list []string
	for d := 1; d < len(v.f.Devices); d++ {
		list = append(list, v.f.Text(v.f.Devices[d].Address))
	}
	return list
}

// someoneIs is an error where no device can be what a word says.
func (v *fabricView) someoneIs(word string) error {
	words := []string{"node", "switch"}
	for t := fabric.NoTier + 1; t <= fabric.CoreTier; t++ {
		words = append(words, t.String())
	}
	if slices.Contains(words, word) {
		return nil
	}
	for d := 1; d < len(v.f.Devices); d++ {
		dev := &v.f.Devices[d]
		if v.deviceIs(dev, word) {
			return nil
		}
		if role := v.f.Text(dev.Role); role != "" && !slices.Contains(words, role) {
			words = append(words, role)
		}
	}
	if near := lang.Nearest(word, append(words, v.devices()...)); near != "" {
		return fmt.Errorf("no device has the role or address %q: did you mean %q?", word, near)
	}
	return fmt.Errorf("no device has the role or address %q: roles are %s", word, strings.Join(words, ", "))
}

// Devices lists the devices whose address fits one of the patterns; all without any.
func (v *fabricView) Devices(patterns []string) ([]map[string]any, error) {
	var rows []map[string]any
	fitted := make([]bool, len(patterns))
	for d := 1; d < len(v.f.Devices); d++ {
		dev := &v.f.Devices[d]
		if !v.fits(patterns, v.f.Text(dev.Address), fitted) {
			continue
		}
		row := map[string]any{"tier": nil, "index": nil, "group": nil, "plane": nil, "rail": nil, "pod": nil}
		maps.Copy(row, v.device(dev))
		model := ""
		if dev.Model != 0 {
			model = v.f.Text(v.f.Models[dev.Model].Name)
		}
		maps.Copy(row, map[string]any{
			"address": v.f.Text(dev.Address), "kind": kindWord(dev), "role": orNull(v.f.Text(dev.Role)), "rack": orNull(v.f.Text(dev.Rack)), "cluster": orNull(v.f.Text(dev.Cluster)),
			"tenant": orNull(v.f.Text(dev.Tenant)), "site": orNull(v.f.Text(dev.Site)), "model": orNull(model), "manage": [...]string{fabric.Full: "full", fabric.Verify: "verify", fabric.HandsOff: "none"}[dev.Manage], "ports": int(dev.NPorts),
			"os": orNull(strings.TrimSuffix(v.f.Text(dev.OSName)+"/"+v.f.Text(dev.OSVersion), "/")),
		})
		if dev.Slot == 0 {
			row["slot"] = nil
		}
		rows = append(rows, row)
	}
	return rows, v.unfitted(patterns, fitted, v.devices)
}

// Segments lists the segments whose address fits one of the patterns; all without any.
func (v *fabricView) Segments(patterns []string) ([]map[string]any, error) {
	f := v.f
	carriers := map[fabric.SegmentID][]string{}
	for id := 1; id < len(f.Ports); id++ {
		p := &f.Ports[id]
		on := slices.Clone(f.VLANSets[p.VLANs])
		if p.Native != 0 && !slices.Contains(on, p.Native) {
			on = append(on, p.Native)
		}
		for _, s := range on {
			carriers[s] = append(carriers[s], f.PortAddress(fabric.PortID(id)))
		}
	}
	var rows []map[string]any
	var names []string
	fitted := make([]bool, len(patterns))
	for id := 1; id < len(f.Segments); id++ {
		s := &f.Segments[id]
		names = append(names, f.Text(s.Address))
		if !v.fits(patterns, f.Text(s.Address), fitted) {
			continue
		}
		row := map[string]any{
			"address": f.Text(s.Address), "name": f.Text(s.Name), "vlan": int(s.VLAN), "subnet": nil, "gateway": nil, "vrf": orNull(f.Text(s.VRF)),
			"qos": orNull(f.Text(f.QoS[s.QoS].Name)), "mtu": nil, "isolated": s.Isolated, "ports": append([]string{}, carriers[fabric.SegmentID(id)]...),
		}
		if s.Subnet.IsValid() {
			row["subnet"] = s.Subnet.String()
		}
		if s.Gateway.IsValid() {
			row["gateway"] = s.Gateway.String()
		}
		if s.MTU != 0 {
			row["mtu"] = int(s.MTU)
		}
		rows = append(rows, row)
	}
	return rows, v.unfitted(patterns, fitted, func() []string { return names })
}

// orNull is a text, or null where there is none.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// lengthText is a length as the source has it, null where nobody knows it.
func lengthText(mm uint32) any {
	if mm == 0 {
		return nil
	}
	return strconv.FormatFloat(float64(mm)/1000, 'f', -1, 64) + "m"
}

// speedText is a speed as the source has it, null where nobody knows it.
func speedText(mbps uint32) any {
	if mbps == 0 {
		return nil
	}
	return fabric.Speed(mbps)
}

func (v *fabricView) role(p fabric.PortID) string {
	dev := &v.f.Devices[v.f.Ports[p].Device]
	if dev.Role != 0 {
		return v.f.Text(dev.Role)
	}
	if dev.Tier != fabric.NoTier {
		return dev.Tier.String()
	}
	return kindWord(dev)
}

// is reports whether the device of a port is what a word says.
func (v *fabricView) is(p fabric.PortID, word string) bool {
	return v.deviceIs(&v.f.Devices[v.f.Ports[p].Device], word)
}

func (v *fabricView) deviceIs(dev *fabric.Device, word string) bool {
	return v.f.Text(dev.Role) == word || dev.Tier.String() == word || kindWord(dev) == word || resolve.Match(word, v.f.Text(dev.Address))
}

func kindWord(dev *fabric.Device) string {
	if dev.Kind == fabric.Node {
		return "node"
	}
	return "switch"
}

// device is what a check can ask of the device of a port.
func (v *fabricView) device(dev *fabric.Device) map[string]any {
	m := map[string]any{"name": v.f.Text(dev.Name), "role": v.f.Text(dev.Role), "rack": v.f.Text(dev.Rack), "slot": int(dev.Slot)}
	if dev.Tier != fabric.NoTier {
		m["tier"], m["index"] = dev.Tier.String(), int(dev.Index)
		for name, n := range map[string]int32{"group": dev.Group, "plane": dev.Plane, "rail": dev.Rail, "pod": dev.Pod} {
			if n >= 0 {
				m[name] = int(n)
			}
		}
	}
	return m
}

// port is one port with its device under the word of its kind.
func (v *fabricView) port(id fabric.PortID) map[string]any {
	p := &v.f.Ports[id]
	dev := &v.f.Devices[p.Device]
	first, _ := v.f.PortsOf(p.Device)
	row := map[string]any{
		"address": v.f.PortAddress(id), "name": v.f.Text(p.Name), "index": int(id - first), "speed": speedText(p.Mbps), "speed_mbps": int(p.Mbps), "mtu": int(p.MTU),
		"device": v.f.Text(dev.Name), "role": v.role(id), "linked": p.Peer != 0, "up": p.Link != 0 && v.f.Up(p.Link, v.t.down),
		"qos":         v.f.Text(v.f.QoS[v.f.Profiles[p.Profile].QoS].Name),
		kindWord(dev): v.device(dev),
	}
	if p.NIC != 0 && v.f.NICs[p.NIC].Rail >= 0 {
		row["rail"] = int(v.f.NICs[p.NIC].Rail)
	}
	return row
}
