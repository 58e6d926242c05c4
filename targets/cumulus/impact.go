package cumulus

import (
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// recarve is what every change of PFC and of pools does [Quality of Service,
// switchd and QoS].
var recarve = targets.Impact{Interrupts: true, Note: "switchd carves the packet buffer anew; packets may be lost for a moment"}

// impact is Target.Impact, by the field that changes. NVUE reloads switchd and
// does not restart it, on all versions from 5.9 to 5.15, but for the hash seed.
func impact(d *intent.Device, c targets.Change) targets.Impact {
	name := c.Path.Name
	switch c.Path.Object {
	case intent.OfPort:
		switch c.Path.Word() {
		case "": // the port is not there: see exists
			return targets.Impact{Interrupts: true, Note: "where its cage is split otherwise, all links of that go down"}
		case "speed", "autoneg":
			note := "the link of " + name + " goes down and comes up"
			if c.Path.Field == "speed" && wordsOf(d.OS.Version).forces {
				note += "; before 5.14 a speed without autoneg also switches negotiation off"
			}
			return targets.Impact{Interrupts: true, Note: note}
		case "fec":
			return targets.Impact{Interrupts: true, Note: "the link of " + name + " goes down and comes up when both ends have the same fec"}
		case "breakout":
			return targets.Impact{Interrupts: true, Note: "the port is split anew: all its links go down, and in nonatomic ACL mode the ACLs are installed again"}
		case "enabled":
			return targets.Impact{Interrupts: c.After == "false", Note: "the link of " + name + " changes its state"}
		case "native", "segments":
			return targets.Impact{Interrupts: true, Note: "frames of the VLANs that go are dropped"}
		case "deny":
			return stopsRDMA(name)
		case "pfc":
			if note := recarve; isRoCE(d) {
				note.Note += "; qos roce is that of every port of the switch, declared or not"
				return note
			}
			return recarve
		case "cable":
			return recarve
		case "queue_map":
			return targets.Impact{Interrupts: true, Note: "frames in flight change their class while the map is replaced, on every port of the switch, declared or not"}
		case "trust", "dscp_map", "pcp_map":
			return targets.Impact{Interrupts: true, Note: "frames in flight change their class while the map is replaced"}
		}
	case intent.OfLAG:
		switch c.Path.Field {
		case "members", "mode", "rate":
			return targets.Impact{Interrupts: true, Note: "LACP of " + name + " negotiates anew"}
		case "deny":
			return stopsRDMA(name)
		case "mlag", "id":
			return targets.Impact{Interrupts: true, Note: name + " goes down until both switches agree on it"}
		}
	case intent.OfIface:
		if f := c.Path.Field; f == "address" || f == "vrf" {
			return targets.Impact{Interrupts: true, Note: "neighbours and routes of " + name + " are learnt anew"}
		}
	case intent.OfDevice:
		switch c.Path.Word() {
		case "buffer":
			return recarve
		case "mlag":
			return targets.Impact{Interrupts: true, Note: "the MLAG session restarts"}
		case "hash": // [Equal Cost Multipath Load Sharing, Unique Hash Seed]
			return targets.Impact{Interrupts: true, Whole: true, Note: "switchd restarts: every port of the switch goes down, and the hardware is set up anew"}
		}
	}
	return targets.Impact{}
}

// stopsRDMA is what other lists on a port or bond do [Access Control List
// Configuration, Nonatomic Update Mode and Atomic Update Mode].
func stopsRDMA(name string) targets.Impact {
	return targets.Impact{Interrupts: true, Note: "RDMA that comes in at " + name + " and is denied stops; in nonatomic ACL mode other traffic may stop for a moment too"}
}

// observable is Target.Observable: what stands in no key of NVUE.
func observable(d *intent.Device, p intent.Path) bool {
	switch {
	case p.Object == intent.OfDevice && (p.Field == "mlag.peer" || p.Field == "mlag.source" || p.Field == "os" || p.Field == "firmware"):
		return false
	case p.Object == intent.OfPort && (p.Field == "watchdog.action" || p.Field == "dcbx.version"):
		return false
	case p.Object == intent.OfPort && p.Field == "headroom": // switchd's own, from the cable
		return false
	case p.Object == intent.OfPort && p.Field == "cable":
		q := d.QoSNamed(portOf(d, p.Name).QoS)
		return q != nil && q.PFC.Or(0) != 0
	case p.Object == intent.OfLAG && p.Field == "id":
		for i := range d.LAGs {
			if d.LAGs[i].Name == p.Name {
				return d.LAGs[i].MLAG
			}
		}
	case p.Object == intent.OfVLAN && p.Field == "mtu":
		for i := range d.Ifaces {
			f := &d.Ifaces[i]
			if f.Kind == intent.SVI && decimal(f.VLAN) == p.Name {
				return !f.MTU.IsSet()
			}
		}
		return false
	}
	return true
}

func portOf(d *intent.Device, name string) intent.Port {
	for i := range d.Ports {
		if d.Ports[i].Name == name {
			return d.Ports[i]
		}
	}
	return intent.Port{}
}
