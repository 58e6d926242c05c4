// Package platform holds what the operating systems of devices do where nothing is
// written: defaults that rules judge as if they stood in the source.
package platform

import "github.com/rocec/rocec/compiler/fabric"

// Defaults are what a system does by itself. What is 0, or Unknown, is not known.
type Defaults struct {
	ARPMs     uint32 // how long an address of a neighbour is taken for known
	RefreshMs uint32 // how often the system asks every neighbour of its VLANs again, whatever ARPMs is
	MACMs     uint32 // how long an entry of the MAC table lives without a frame

	// Hash is the function by which a switch spreads flows. Seed says why switches that nobody told otherwise hash with one seed; "" where each has its own.
	Hash, Seed string

	FastLACP fabric.Fact // whether a LAG asks for a LACPDU each second
}

// defaults by the name of the system.
var defaults = map[string]Defaults{
	// sonic-net/sonic-buildimage: sysctl-net.conf base_reachable_time_ms; files/scripts/arp_update, which asks every neighbour of a VLAN each 300 s
	// or sooner, and those whose MAC has aged out; dockers/docker-orchagent/switch.json.j2 fdb_aging_time, and the seed by type; the presets t1 and
	// empty of sonic-config-engine config_samples.py; sonic-portchannel.yang fast_rate.
	// opencomputeproject/SAI inc/saiswitch.h, SAI_SWITCH_ATTR_ECMP_DEFAULT_HASH_ALGORITHM.
	"sonic": {
		ARPMs: 1_800_000, RefreshMs: 300_000, MACMs: 600_000,
		Hash: "CRC",
		Seed: "SONiC takes the seed from the type of the switch in DEVICE_METADATA: 10 for a LeafRouter, which its presets make of every switch, and 0 where there is no type",

		FastLACP: fabric.No,
	},
	// Cumulus Linux user guide: Address Resolution Protocol (18 minutes), Ethernet Bridging (1800 s), Bonding (lacp-rate fast). Without a seed each switch
	// has a random one of its own: Equal Cost Multipath Load Sharing, Unique Hash Seed.
	"cumulus-linux": {ARPMs: 1_080_000, MACMs: 1_800_000, FastLACP: fabric.Yes},
}

// Of is what a system does by itself.
func Of(os string) Defaults { return defaults[os] }
