package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
	"github.com/rocec/rocec/compiler/resolve"
)

// fabricView is the compiled fabric as checks and the console see it: plain
// rows, read only.
type fabricView struct {
	f *fabric.Fabric
	t *tracer
}

// asking are the functions that ask it, for the page of functions.
var asking = []struct{ name, signature, doc, example string }{
	{"links", "links(role, role)", "Links whose ends have the two roles, in that order: \"node\", and of a switch its `role`, its tier or \"switch\"; all links without arguments. A row has address, a, b, length_m and media.", `alltrue([for l in links("node", "leaf") : l.a.index == l.b.switch.index])`},
	{"paths", "paths(from, to, class)", "Ways that the routing has from one NIC, node or IP address to another, a row for each shape: ways that treat the frames of the class alike (without it, of the first class that carries RDMA). A row has class, ways, links, ports, sound and fault. Ends that share no segment and no VRF have no ways.", `sum(paths(node.gpu["gpu01"], node.gpu["gpu02"])[*].ways) >= 4`},
	{"peers", "peers(address...)", "Ports at the other ends of the cables of devices or ports, in rows like those of ports.", `length(peers(switch.tor)) == 16`},
	{"ports", "ports(address...)", "Ports whose address fits one of the texts; all without. A row has address, name, index, speed_mbps, mtu, device, role, linked, qos, and node or switch.", `alltrue([for p in ports("switch.*.port[*]") : p.mtu >= 9000])`},
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

// Links lists links whose ends have the two given roles, in that order: "node",
// and of a switch its `role`, its tier in a topology or "switch". Without roles,
// all.
func (v *fabricView) Links(roles []string) []map[string]any {
	var rows []map[string]any
	for id := 1; id < len(v.f.Links); id++ {
		l := &v.f.Links[id]
		a, b := l.A, l.B
		if len(roles) == 2 {
			switch {
			case v.is(a, roles[0]) && v.is(b, roles[1]):
			case v.is(b, roles[0]) && v.is(a, roles[1]):
				a, b = b, a
			default:
				continue
			}
		}
		rows = append(rows, map[string]any{
			"address": v.f.LinkAddress(fabric.LinkID(id)), "a": v.port(a), "b": v.port(b),
			"length_m": float64(l.CableMm) / 1000, "media": v.f.Text(v.f.Media[l.Media].Name), "up": v.f.Up(fabric.LinkID(id), v.t.down),
		})
	}
	return rows
}

// Ports lists the ports whose address fits one of the patterns; all without any.
func (v *fabricView) Ports(patterns []string) []map[string]any {
	var rows []map[string]any
	for id := 1; id < len(v.f.Ports); id++ {
		address := v.f.PortAddress(fabric.PortID(id))
		fits := len(patterns) == 0
		for _, p := range patterns {
			fits = fits || resolve.Match(p, address)
		}
		if fits {
			rows = append(rows, v.port(fabric.PortID(id)))
		}
	}
	return rows
}

// Peers lists the ports at the other ends of a device's or port's cables.
func (v *fabricView) Peers(ref string) []map[string]any {
	var rows []map[string]any
	for id := 1; id < len(v.f.Ports); id++ {
		p := &v.f.Ports[id]
		if p.Peer == 0 {
			continue
		}
		if resolve.Match(ref, v.f.PortAddress(fabric.PortID(id))) || resolve.Match(ref, v.f.Text(v.f.Devices[p.Device].Address)) {
			rows = append(rows, v.port(p.Peer))
		}
	}
	return rows
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
	dev := &v.f.Devices[v.f.Ports[p].Device]
	return v.role(p) == word || dev.Tier.String() == word || kindWord(dev) == word
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
		"address": v.f.PortAddress(id), "name": v.f.Text(p.Name), "index": int(id - first), "speed_mbps": int(p.Mbps), "mtu": int(p.MTU),
		"device": v.f.Text(dev.Name), "role": v.role(id), "linked": p.Peer != 0, "up": p.Link != 0 && v.f.Up(p.Link, v.t.down),
		"qos":         v.f.Text(v.f.QoS[v.f.Profiles[p.Profile].QoS].Name),
		kindWord(dev): v.device(dev),
	}
	if p.NIC != 0 && v.f.NICs[p.NIC].Rail >= 0 {
		row["rail"] = int(v.f.NICs[p.NIC].Rail)
	}
	return row
}
