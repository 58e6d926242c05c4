package sonicent

import (
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// reboots is what setting up lossless buffers does [Broadcom RoCEv2 high level
// design, CLI functional behaviours: configs are saved and the system reboots].
const reboots = " saves the configuration and reboots the switch: lossless buffers are carved when it starts (Broadcom RoCEv2 high level design)"

// stopsRDMA is what another access list does.
const stopsRDMA = "RDMA that is denied stops at "

// impact is Target.Impact, by the field that changes.
func impact(d *intent.Device, c targets.Change) targets.Impact {
	name := c.Path.Name
	switch c.Path.Object {
	case intent.OfPort:
		switch c.Path.Word() {
		case "pfc":
			if setup := initsBuffers(d); setup != "" && none(c.Before) && !none(c.After) {
				return targets.Impact{Interrupts: true, Whole: true, Note: setup + reboots}
			}
			return targets.Impact{Interrupts: true, Note: "frames of the priorities that change may be lost for a moment"}
		case "breakout":
			note := "the port is split anew: its links go down and its settings go"
			if setup := initsBuffers(d); setup != "" {
				note += "; ports made after " + setup + " have lossless buffers only after a reboot (Broadcom RoCEv2 high level design)"
			}
			return targets.Impact{Interrupts: true, Note: note}
		case "speed", "autoneg", "fec":
			return targets.Impact{Interrupts: true, Note: "the link of " + name + " goes down and comes up"}
		case "enabled":
			return targets.Impact{Interrupts: c.After == "false", Note: "the link of " + name + " changes its state"}
		case "native", "segments":
			return targets.Impact{Interrupts: true, Note: "frames of the VLANs that go are dropped"}
		case "deny":
			return targets.Impact{Interrupts: true, Note: stopsRDMA + name}
		case "cable":
			return targets.Impact{Interrupts: true, Note: "the headroom of " + name + " changes; packets may be lost for a moment"}
		case "trust", "dscp_map", "pcp_map", "queue_map", "group_map":
			return targets.Impact{Interrupts: true, Note: "frames in flight change their class while the map is replaced"}
		}
	case intent.OfLAG:
		switch c.Path.Field {
		case "deny":
			return targets.Impact{Interrupts: true, Note: stopsRDMA + name}
		case "members", "mode", "rate":
			return targets.Impact{Interrupts: true, Note: "LACP of " + name + " negotiates anew"}
		case "mlag":
			return targets.Impact{Interrupts: true, Note: name + " goes down until both switches agree on it"}
		}
	case intent.OfIface:
		switch c.Path.Field {
		case "vrf":
			return targets.Impact{Interrupts: true, Note: "the addresses of " + name + " are taken away and written again"}
		case "address":
			return targets.Impact{Interrupts: true, Note: "neighbours and routes of " + name + " are learnt anew"}
		}
	case intent.OfDevice:
		switch c.Path.Word() {
		case "buffer":
			return targets.Impact{Interrupts: true, Note: "the shared headroom is sized anew; packets may be lost for a moment"}
		case "mlag":
			return targets.Impact{Interrupts: true, Note: "the MCLAG session restarts"}
		}
	}
	return targets.Impact{}
}

// none reports whether the text of a set of priorities has none.
func none(text string) bool { return text == "" || text == "[]" || text == intent.AtDefault }

// observable is Target.Observable: what stands in no line of the configuration.
func observable(d *intent.Device, p intent.Path) bool {
	switch {
	case p.Object == intent.OfDevice && (p.Field == "mlag.peer" || p.Field == "os"):
		return false
	case p.Object == intent.OfPort && (p.Field == "headroom" || p.Field == "dcbx.version"):
		return false
	case p.Object == intent.OfPort && p.Field == "autoneg": // a fixed speed shows none
		port := d.PortNamed(p.Name)
		return port == nil || port.Autoneg.Or(false)
	case p.Object == intent.OfVLAN && p.Field == "mtu": // that of its interface is the same
		for i := range d.Ifaces {
			if f := &d.Ifaces[i]; f.Kind == intent.SVI && decimal(f.VLAN) == p.Name && f.MTU.IsSet() {
				return false
			}
		}
	}
	return true
}
