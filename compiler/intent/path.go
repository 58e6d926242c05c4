package intent

import "strings"

// Path names one field of a device's intent: emitted lines carry it, refusals
// and plans point with it, and the compiler finds the source of its value.
type Path struct {
	Object Object
	Name   string // of the port, LAG, interface, VLAN, QoS or option; "" for the device
	Field  string // in the words of the language: "mtu", "pfc", "ecn"
}

// Object is the kind of thing a path starts at.
type Object string

// Objects of a device.
const (
	OfDevice Object = "device"
	OfPort   Object = "port"
	OfLAG    Object = "lag"
	OfIface  Object = "interface"
	OfVLAN   Object = "vlan"
	OfQoS    Object = "qos"
	OfOption Object = "option"
)

// Expected reports whether a field is a version that the source expects and
// nothing installs: it is compared by Versions, and never written.
func (p Path) Expected() bool {
	return (p.Object == OfDevice || p.Object == OfPort) && (p.Field == "firmware" || p.Field == "driver")
}

// stored begins the fields of paths of what a device starts with.
const stored = "stored"

// Stored is the path by which plans and comparisons speak of what a device starts
// with, where that is something else than what it runs: "stored.mtu"; of an object
// as such "stored".
func (p Path) Stored() Path {
	p.Field = strings.TrimSuffix(stored+"."+p.Field, ".")
	return p
}

// Running is the path of the setting that a path is about, and whether it is
// about what the device starts with.
func (p Path) Running() (Path, bool) {
	field, is := strings.CutPrefix(p.Field+".", stored+".")
	if is {
		p.Field = strings.TrimSuffix(field, ".")
	}
	return p, is
}

// String is the path as messages show it: `port["Ethernet0"].mtu`.
func (p Path) String() string {
	switch {
	case p.Object == OfDevice:
		return p.Field
	case p.Field == "":
		return string(p.Object) + `["` + p.Name + `"]`
	}
	return string(p.Object) + `["` + p.Name + `"].` + p.Field
}
