// Package cumulus is the target for NVIDIA Cumulus Linux with NVUE. It takes
// the intent of one switch and returns a YAML file for nv config patch, the
// same as nv set commands, and the scripts that apply, show and undo it; with a
// captured configuration the patch also unsets what has to go. Parse turns the
// output of nv config show into intent. What rocec does not manage stands in
// no file, and nothing is ever given to nv config replace. It leaves out
// routing, ACLs but those that keep RoCEv2 out, users and everything that NVUE
// has no object for.
//
// NVUE changed its words in 5.15, so what is written depends on the version.
// The sources are the user guides 5.9 to 5.16 and the NVUE command reference,
// in github.com/CumulusNetworks/docs; testdata/oracles/cumulus lists every key
// path with its page.
package cumulus

import (
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/posix"
)

// running is the capture that Parse and Rebase take, capture the command that
// prints it: a list of a header and a set map [public NVUE collectors of nv
// config show -o json]. The YAML form of the same is read too.
const (
	running = "nvue-config.json"
	capture = "nv config show -o json"
)

// stored is the capture of what the switch starts with, and startup the file that
// it is of, to which nv config save writes [NVUE command reference, nv config
// save]. A switch starts with it only where nvue-startup.service is enabled, and
// else as it runs [NVUE CLI, NVUE Configuration File]: then nothing is captured, nor
// while a change of rocec waits for its confirmation and what is stored is that of before.
const (
	stored        = "nvue-startup.yaml"
	startup       = "/etc/nvue.d/startup.yaml"
	captureStored = "[ ! -s " + posix.Open + " ] && systemctl is-enabled --quiet nvue-startup.service && sudo cat " + startup
)

// Target is the emitter for Cumulus Linux.
var Target = targets.Target{
	Name:     "cumulus",
	Title:    "NVUE patches and commands for NVIDIA Cumulus Linux switches",
	OS:       []string{"cumulus-linux"},
	Kinds:    []intent.Kind{intent.Switch},
	Versions: "5.9 to 5.15",
	Features: features,
	Limits:   limits,
	Emit:     write,
	Written: []targets.Written{{
		Settings: "all of them", Place: "the applied revision of NVUE, and `" + startup + "` by `nv config save`",
		Lasts: "`nvue-startup.service` applies the file at boot: where it holds something else, `plan` and `verify` show that as `stored.` settings, and `apply` stores what is applied",
	}},
	Probes: []targets.Probe{
		{File: running, Command: capture, Needed: true},
		{File: stored, Command: captureStored, Stored: true},
	},
	Neighbours: &targets.Probe{File: "lldp.json", Command: "nv show interface lldp -o json"}, // NVUE command reference, nv show interface lldp
	Parse:      parse,
	Rebase:     rebase,
	Delta:      []string{commandsFile},
	Stored:     boots,
	Saves:      "nv config save stores the whole applied configuration",
	Impact:     impact,
	Observable: observable,
	Health:     &health,
	Live:       live,
	Sources: []string{
		"CumulusNetworks/docs content/cumulus-linux-59 to content/cumulus-linux-516: Quality of Service, RoCE, Switch Port Attributes, VLAN-aware Bridge Mode, Bonding, MLAG, LLDP, VRF, Access Control Lists, NVUE CLI",
		"CumulusNetworks/docs content/nvue-reference: NVUE command reference",
		"CumulusNetworks/docs content/cumulus-linux-515/Whats-New/New-and-Changed-NVUE-Commands.md",
	},
}
