// Package sonic is the target for community SONiC. It takes the intent of one
// switch and returns fragments of config_db.json with the scripts that load,
// verify and undo them; with a captured running configuration it returns an
// RFC 6902 patch instead (Patch). Parse turns a running configuration into
// intent. The fragments hold what rocec manages and nothing else: no lanes and
// aliases but those of ports it splits, no object that the image or another tool
// made, save the rows that the image itself shares between all
// (CABLE_LENGTH|AZURE). It leaves out routing, ACLs but those that keep RDMA
// out, platform files and enterprise SONiC.
//
// The sources are sonic-net/sonic-buildimage (YANG models, qos_config.j2,
// buffers_config.j2), sonic-net/sonic-swss (cfgmgr, orchagent) and
// sonic-net/sonic-utilities (config, pfcwd, generic_config_updater), read per
// release branch from 202205 to 202605.
package sonic

import (
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/posix"
)

// running is the capture that Parse and Patch take, capture the command that
// prints it.
const (
	running = "running-config.json"
	capture = "sudo sonic-cfggen -d --print-data"
)

// optionModel names the option that says how the image sizes buffers.
const optionModel = "buffer_model"

// Values of the option buffer_model, in the words of DEVICE_METADATA.
const (
	traditional = "traditional"
	dynamic     = "dynamic"
)

// Target is the emitter for community SONiC.
var Target = targets.Target{
	Name:     "sonic",
	Title:    "config_db.json fragments and patches for community SONiC switches",
	OS:       []string{"sonic"},
	Kinds:    []intent.Kind{intent.Switch},
	Versions: "202205 to 202605 and master",
	Options: []targets.Option{{
		Name: optionModel, Kind: targets.OptionEnum, Values: []string{traditional, dynamic},
		Doc: "how the image sizes lossless buffers (DEVICE_METADATA|localhost buffer_model); by default dynamic on Spectrum, traditional elsewhere",
	}},
	Features: features,
	Limits:   limits,
	Emit:     write,
	Probes: []targets.Probe{
		{File: running, Command: capture},
	},
	Health:     &health,
	Neighbours: &targets.Probe{File: "lldp.txt", Command: "show lldp table"}, // sonic-utilities doc/Command-Reference.md, LLDP
	Parse:      parse,
	Rebase:     rebase,
	Delta:      []string{"*.patch.json"},
	Impact:     impact,
	Observable: observable,
	Live:       posix.Live(kit, "a systemd timer"),
	Sources: []string{
		"sonic-net/sonic-buildimage src/sonic-yang-models",
		"sonic-net/sonic-buildimage files/build_templates/qos_config.j2 and buffers_config.j2",
		"sonic-net/sonic-swss cfgmgr/buffermgr.cpp, cfgmgr/buffermgrdyn.cpp, orchagent/qosorch.cpp, orchagent/aclorch.cpp, cfgmgr/teammgr.cpp",
		"sonic-net/sonic-utilities config/main.py, config/mclag.py, pfcwd/main.py, acl_loader/main.py, generic_config_updater",
	},
}
