package main

import (
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/resolve"
)

// fabricView is the compiled fabric as checks and the console see it: plain
// rows, read only.
type fabricView struct{ f *fabric.Fabric }

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
			"length_m": float64(l.CableMm) / 1000, "media": v.f.Text(v.f.Media[l.Media].Name),
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
		"device": v.f.Text(dev.Name), "role": v.role(id), "linked": p.Peer != 0,
		"qos":         v.f.Text(v.f.QoS[v.f.Profiles[p.Profile].QoS].Name),
		kindWord(dev): v.device(dev),
	}
	if p.NIC != 0 && v.f.NICs[p.NIC].Rail >= 0 {
		row["rail"] = int(v.f.NICs[p.NIC].Rail)
	}
	return row
}
