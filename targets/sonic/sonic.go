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

// stored is the capture of what the switch starts with, and startup the file that
// it is of: config save writes it and a cold start loads it [sonic-utilities
// config/main.py DEFAULT_CONFIG_DB_FILE; sonic-buildimage
// files/build_templates/docker_image_ctl.j2]. A switch without it starts with the
// factory's configuration [sonic-buildimage files/image_config/config-setup]. While
// a change of rocec waits for its confirmation, what is stored is that of before, and
// nothing is captured.
const (
	stored        = "config_db.json"
	startup       = "/etc/sonic/config_db.json"
	captureStored = "[ -s " + posix.Open + " ] || if [ -e " + startup + " ]; then sudo cat " + startup + "; else echo '{}'; fi"
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
	Written: []targets.Written{{
		Settings: "all of them", Place: "ConfigDB, and `" + startup + "` by `config save`",
		Lasts: "a cold start loads the file: where it holds something else, `plan` and `verify` show that as `stored.` settings, and `apply` stores what runs",
	}},
	Probes: []targets.Probe{
		{File: running, Command: capture, Needed: true},
		{File: stored, Command: captureStored, Stored: true},
	},
	Health:     &health,
	Neighbours: &targets.Probe{File: "lldp.txt", Command: "show lldp table"}, // sonic-utilities doc/Command-Reference.md, LLDP
	Parse:      parse,
	Rebase:     rebase,
	Delta:      []string{"*.patch.json"},
	Impact:     impact,
	Observable: observable,
	Stored:     boots,
	Saves:      "config save stores the whole running configuration",
	Live:       posix.Live(kit, "a systemd timer"),
	Sources: []string{
		"sonic-net/sonic-buildimage src/sonic-yang-models",
		"sonic-net/sonic-buildimage files/build_templates/qos_config.j2 and buffers_config.j2",
		"sonic-net/sonic-swss cfgmgr/buffermgr.cpp, cfgmgr/buffermgrdyn.cpp, orchagent/qosorch.cpp, orchagent/aclorch.cpp, cfgmgr/teammgr.cpp",
		"sonic-net/sonic-utilities config/main.py, config/mclag.py, pfcwd/main.py, acl_loader/main.py, generic_config_updater",
	},
}
