package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/resolve"
	"github.com/rocec/rocec/lang"
)

// named reports whether somebody means a thing: by its address, with globs, or by
// the name that messages print.
func named(what, address, name string) bool {
	return resolve.Match(what, address) || strings.EqualFold(what, name)
}

// devicesNamed are the devices that somebody means: `switch.tor`, `node.n[*]`, `tor`.
func devicesNamed(f *fabric.Fabric, what string) (list []fabric.DeviceID) {
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if named(what, f.Text(f.Devices[d].Address), f.Text(f.Devices[d].Name)) {
			list = append(list, d)
		}
	}
	return list
}

// portsNamed are the ports, NICs, bonds and LAGs that somebody means:
// `switch.tor.port[Ethernet0]`, `tor/Ethernet0`.
func portsNamed(f *fabric.Fabric, what string) (list []fabric.PortID) {
	for p := fabric.PortID(1); int(p) < len(f.Ports); p++ {
		if named(what, f.PortAddress(p), f.PortName(p)) {
			list = append(list, p)
		}
	}
	return list
}

// linksNamed are the links that somebody means, by address, with globs. That of a
// link which a topology or a list made is the address of a port.
func linksNamed(f *fabric.Fabric, what string) (list []fabric.LinkID) {
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		if resolve.Match(what, f.LinkAddress(l)) {
			list = append(list, l)
		}
	}
	return list
}

// meant ends a message on a name that nothing has: with the device, or the port
// after a slash or in the brackets of an address, that was likely meant, by name or
// address as it was asked for.
func meant(f *fabric.Fabric, what string) string {
	if end := strings.LastIndexByte(what, '['); end > 0 && strings.HasSuffix(what, "]") {
		block := max(strings.LastIndex(what[:end], ".port"), strings.LastIndex(what[:end], ".nic"), 0)
		near := portMeant(f, devicesNamed(f, what[:block]), strings.Trim(what[end:], `["]`))
		if near != 0 {
			return didYouMean(f.PortAddress(near))
		}
	}
	device, port, ported := strings.Cut(what, "/")
	word, bare, _ := strings.Cut(device, ".")
	var names, addresses []string
	for _, d := range f.Devices[1:] {
		names = append(names, f.Text(d.Name))
		if rest, same := strings.CutPrefix(f.Text(d.Address), word+"."); same { // what they begin with is no likeness
			addresses = append(addresses, rest)
		}
	}
	near := lang.Nearest(device, names)
	if rest := lang.Nearest(bare, addresses); near == "" && rest != "" {
		near = word + "." + rest
	}
	near = cmp.Or(near, lang.Nearest(bare, names)) // switch.pod-leaf0, where a topology made it
	if ported {
		p := portMeant(f, devicesNamed(f, near), port)
		if p == 0 {
			return ""
		}
		near += "/" + f.Text(f.Ports[p].Name)
	}
	if near == "" {
		return ""
	}
	return didYouMean(near)
}

// portMeant is the port of some devices that was likely meant by a name, 0 if there is none.
func portMeant(f *fabric.Fabric, devices []fabric.DeviceID, name string) fabric.PortID {
	var names []string
	var of []fabric.PortID
	for _, d := range devices {
		for first, end := f.PortsOf(d); first < end; first++ {
			names, of = append(names, f.Text(f.Ports[first].Name)), append(of, first)
		}
	}
	if i := slices.Index(names, lang.Nearest(name, names)); i >= 0 {
		return of[i]
	}
	return 0
}

func didYouMean(near string) string { return fmt.Sprintf("; did you mean %q?", near) }
