// Package sonicent is the target for Enterprise SONiC (Broadcom, Dell and
// others, 4.x), which is configured through its management CLI and not through
// ConfigDB. It takes the intent of one switch and returns a file of CLI commands,
// scripts that apply, show and undo them, and a script for what reboots the
// switch: splitting ports and setting up lossless buffers. With a captured
// configuration the commands also take away what has to go. Parse turns the
// output of show running-configuration into intent. It leaves out routing, access
// lists but for those that keep RDMA out, users, buffer profiles and everything
// for which no two documents agree on a command.
//
// The sources are those of Target.Sources; testdata/oracles/sonic-enterprise
// lists every command with the documents that have it.
package sonicent

import (
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// osName is the operating system in the words of the source.
const osName = "sonic-enterprise"

// running is the capture that Parse and Rebase take, show the command that
// prints it: one command per -c [githedgehog show-tech.sh; noolex/sonic-mgmt-framework
// CLI/klish/clish_start, include/pipe.xml no-more].
const (
	running = "running-configuration.txt"
	show    = `sonic-cli -c "show running-configuration | no-more"`
)

// The option that says who sets up lossless buffers, and its values.
const (
	buffersOption = "buffers"
	buffersInit   = "init" // buffer init lossless: buffers and nothing else
	buffersRoCE   = "roce" // roce enable: buffers, and maps of the image on every port
	buffersKept   = "kept" // they are set up already, or somebody else does
)

var bufferSetup = targets.Option{
	Name: buffersOption, Kind: targets.OptionEnum, Values: []string{buffersInit, buffersRoCE, buffersKept}, Default: buffersInit,
	Doc: "how lossless buffers are set up, which saves the configuration and reboots the switch: by \"buffer init lossless\", " +
		"by \"roce enable\" with the image's own maps, or not by rocec",
}

// Target is the emitter for Enterprise SONiC.
var Target = targets.Target{
	Name:     osName,
	Title:    "management CLI commands for Enterprise SONiC switches (Dell, Broadcom 4.x)",
	OS:       []string{osName},
	Kinds:    []intent.Kind{intent.Switch},
	Versions: "4.1 to 4.5",
	Options:  []targets.Option{bufferSetup},
	Features: features,
	Limits:   limits,
	Emit:     write,
	Written:  []targets.Written{{Settings: "all of them", Place: "the running configuration", Lasts: "`write memory`, which `apply.sh` leaves to an operator"}},
	Left: []string{
		"what the switch starts with: no two documents have a command that shows it as commands, so that it is not compared with what runs",
	},
	Probes: []targets.Probe{
		{File: running, Command: show},
	},
	Parse:      parse,
	Rebase:     rebase,
	Delta:      []string{configFile},
	Impact:     impact,
	Observable: observable,
	Sources: []string{
		"Broadcom RoCEv2 high level design for Enterprise SONiC 4.1: roce enable, buffer init, defaults, limits",
		"ansible-collections/dellemc.enterprise_sonic 4.1.0 plugins/modules (Enterprise SONiC 4.0 to 4.5): listings of show running-configuration",
		"sonic-net/sonic-mgmt spytest/apis (Broadcom): commands of type klish",
		"noolex/sonic-mgmt-framework branch broadcom_sonic_3.x_share CLI/clitree and CLI/actioner: grammar and show running-configuration",
		"AMD Instinct documentation, RoCE cluster network: configuration of a Dell Z9664F by sonic-cli",
	},
}

// initsBuffers is the command that sets up lossless buffers for a device, "" if
// none is wanted.
func initsBuffers(d *intent.Device) string {
	if !pausesAny(d) {
		return ""
	}
	switch bufferSetup.Value(d) {
	case buffersRoCE:
		return "roce enable"
	case buffersKept:
		return ""
	}
	return "buffer init lossless"
}

// pausesAny reports whether a written port has PFC.
func pausesAny(d *intent.Device) bool {
	for i := range d.Ports {
		if q := d.QoSNamed(d.Ports[i].QoS); q != nil && !d.Ports[i].Verify && q.PFC.Or(0) != 0 {
			return true
		}
	}
	return false
}
