package sonic

import (
	"regexp"
	"slices"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// impact is Target.Impact, by the field that changes.
func impact(d *intent.Device, c targets.Change) targets.Impact {
	switch c.Path.Object {
	case intent.OfPort:
		switch c.Path.Field {
		case "speed", "fec", "autoneg":
			// portsorch shuts a port before it sets these (sonic-swss orchagent/portsorch.cpp).
			return targets.Impact{Interrupts: true, Note: "the link of " + c.Path.Name + " goes down and comes up"}
		case "enabled":
			return targets.Impact{Interrupts: c.After == "false", Note: "the link of " + c.Path.Name + " changes its state"}
		case "cable", "headroom":
			return recarve
		case "breakout":
			return targets.Impact{Interrupts: true, Note: "the port is split in a maintenance window: it goes down, and what refers to it is removed"}
		case "mtu":
			if bufferModel(d) == dynamic {
				return targets.Impact{Note: "headroom is computed anew"}
			}
		case "native", "segments":
			return targets.Impact{Interrupts: true, Note: "frames of the VLANs that go are dropped"}
		case "deny":
			return targets.Impact{Interrupts: true, Note: "RDMA that comes in at " + c.Path.Name + " and is denied stops"}
		}
	case intent.OfLAG:
		if c.Path.Field == "rate" {
			return targets.Impact{Note: keepsRate}
		}
		if c.Path.Field == "mode" || c.Path.Field == "members" {
			return targets.Impact{Interrupts: true, Note: "LACP of " + c.Path.Name + " negotiates anew"}
		}
		if c.Path.Field == "deny" {
			return targets.Impact{Interrupts: true, Note: "RDMA that comes in at " + c.Path.Name + " and is denied stops"}
		}
	case intent.OfQoS:
		switch c.Path.Field {
		case "pfc", "trust":
			return targets.Impact{Interrupts: true, Note: shuts}
		case "group_map", "queue_map", "dscp_map", "pcp_map", "pfc_queue_map", "remap":
			return targets.Impact{Interrupts: true, Note: "frames in flight change their class while the map is replaced; a port that had another's map goes down and comes up"}
		case "ets", "ecn": // a queue that has a scheduler or profile keeps its row
			if !slices.Equal(queuesIn(c.Before), queuesIn(c.After)) {
				return targets.Impact{Interrupts: true, Note: shuts}
			}
		case "watchdog": // pfcwd_sw_enable; its times stand elsewhere
			if onOff(c.After == "on") == c.After && c.Before != c.After {
				return targets.Impact{Interrupts: true, Note: shuts}
			}
		}
	case intent.OfIface:
		if c.Path.Field == "address" || c.Path.Field == "vrf" {
			return targets.Impact{Interrupts: true, Note: "neighbours and routes of " + c.Path.Name + " are learnt anew"}
		}
	case intent.OfDevice:
		switch c.Path.Word() {
		case "buffer":
			return recarve
		case "hash":
			return targets.Impact{Interrupts: true, Note: "flows move to other links of equal cost; packets on the way may overtake each other"}
		case "mlag":
			return targets.Impact{Interrupts: true, Note: "the MCLAG session restarts"}
		}
	}
	return targets.Impact{}
}

// shuts is what the config updater does to a port whose rows of PORT_QOS_MAP,
// QUEUE, BUFFER_PG or BUFFER_QUEUE change: it is shut first and opened last
// [sonic-utilities generic_config_updater/patch_sorter.py RequiredValueIdentifier,
// alike from 202205 to master].
const shuts = "the link goes down and comes up: config apply-patch shuts the port"

// keepsRate is what a LAG does that there is already: teammgrd reads fast_rate
// when it makes one [sonic-swss cfgmgr/teammgr.cpp doLagTask, addLag, alike from
// 202305 to master].
const keepsRate = "takes effect with the next config reload or reboot: a LAG keeps the LACP rate that it was made with"

// shutTables are those tables.
var shutTables = []string{"PORT_QOS_MAP", "QUEUE", "BUFFER_PG", "BUFFER_QUEUE"}

var queueIn = regexp.MustCompile(`(?:^|[ ,])([0-7]):`)

// queuesIn are the queues that a setting in words speaks of.
func queuesIn(text string) (list []string) {
	for _, m := range queueIn.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// recarve is what every change of pools and profiles does.
var recarve = targets.Impact{Interrupts: true, Note: "the packet buffer is carved anew; run it in a maintenance window"}

// observable is Target.Observable: what ConfigDB has no field for.
func observable(d *intent.Device, p intent.Path) bool {
	switch {
	case p.Object == intent.OfPort && (p.Word() == "pause" || p.Word() == "dcbx"):
		return false
	case p.Object == intent.OfDevice && (p.Field == "os" || p.Field == "firmware" || p.Field == "mlag.peer"):
		return false
	}
	return true
}
