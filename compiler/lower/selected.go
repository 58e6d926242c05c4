package lower

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// Chosen is a target block that selects a device, or the emitter a device gets
// without one.
type Chosen struct {
	Emitter  string
	Options  map[string]string // canonical text; nil if the block has none
	Output   string            // folder inside the output directory
	Delivery string            // "ssh", "bundle"; "" = not written
	Decl     fabric.DeclID     // the target block, 0 if there is none
}

// emitters are the systems that an emitter serves: those it is the default of,
// and others that a target block without select takes. Whether a block that
// names a device fits it is for the target to say. Nothing but network-atc may
// configure Azure Local.
var emitters = []struct {
	name string
	main []string
	also []string
}{
	{name: "cumulus", main: []string{"cumulus-linux"}},
	{name: "sonic", main: []string{"sonic"}},
	{name: "sonic-enterprise", main: []string{"sonic-enterprise"}},
	{name: "netqos", main: []string{"windows-server"}},
	{name: "network-atc", main: []string{"azure-local"}, also: []string{"windows-server"}},
	{name: "linux", main: []string{"ubuntu", "debian", "linux"}},
}

// emitterOf is the emitter that devices of an operating system get by default,
// "" if there is none.
func emitterOf(os string) string {
	for _, e := range emitters {
		if slices.Contains(e.main, os) {
			return e.name
		}
	}
	return ""
}

// Served reports whether some emitter serves an operating system, and so whether a
// device that runs it can be compared at all.
func Served(os string) bool { return emitterOf(os) != "" }

// StartsShut reports whether the ports of a system are down until something enables
// them: those of SONiC, whose model has admin_status default to down
// [sonic-buildimage, sonic-port.yang].
func StartsShut(os string) bool { return emitterOf(os) == "sonic" }

// Selected lists the target blocks that select a device, in the order written.
// If any block names the device, blocks that take every device do not count for
// it: that is how one node leaves its cluster's emitter. Without any block it is
// the default emitter of its operating system; an empty list means that there
// is none. A device that is taken as declared has none either.
func Selected(f *fabric.Fabric, d fabric.DeviceID) []Chosen {
	dev := &f.Devices[d]
	if dev.Manage == fabric.HandsOff {
		return nil
	}
	var named, general []Chosen
	for i := range f.Selections {
		sel := &f.Selections[i]
		_, names := slices.BinarySearch(sel.Devices, d)
		switch {
		case names:
			named = append(named, chosen(f, sel))
		case sel.Devices == nil && serves(f.Text(sel.Emitter), f.Text(dev.OSName)):
			general = append(general, chosen(f, sel))
		}
	}
	switch {
	case named != nil:
		return named
	case general != nil:
		return general
	}
	if name := emitterOf(f.Text(dev.OSName)); name != "" {
		return []Chosen{{Emitter: name}}
	}
	return nil
}

// Undecided reports whether the source has to say who owns a device's adapters:
// a node of a Windows Server 2025 cluster is either Network ATC's, which
// remediates on its own, or NetQos's, and there is no silent default.
func Undecided(f *fabric.Fabric, d fabric.DeviceID) bool {
	dev := &f.Devices[d]
	if dev.Manage == fabric.HandsOff || dev.Cluster == 0 || f.Text(dev.OSName) != "windows-server" || f.Text(dev.OSVersion) < "2025" {
		return false
	}
	for _, c := range Selected(f, d) {
		if c.Decl != 0 {
			return false
		}
	}
	return true
}

func serves(emitter, os string) bool {
	for _, e := range emitters {
		if e.name == emitter {
			return slices.Contains(e.main, os) || slices.Contains(e.also, os)
		}
	}
	return false
}

func chosen(f *fabric.Fabric, sel *fabric.Selection) Chosen {
	c := Chosen{Emitter: f.Text(sel.Emitter), Output: f.Text(sel.Output), Delivery: f.Text(sel.Delivery), Decl: sel.Decl}
	for _, o := range sel.Options {
		if c.Options == nil {
			c.Options = map[string]string{}
		}
		c.Options[f.Text(o.Name)] = f.Text(o.Value)
	}
	return c
}

// Delivery is how the artifacts of a device get there under a target block that
// selects it: what the block says, else fabric.SSH where the device has a
// connection, else fabric.Bundle.
func Delivery(f *fabric.Fabric, d fabric.DeviceID, c *Chosen) string {
	switch {
	case c.Delivery != "":
		return c.Delivery
	case f.Devices[d].Connection != 0:
		return fabric.SSH
	}
	return fabric.Bundle
}
