// Package machines says which machine of the lab stands for a device of which
// target. It takes the name of an emitter and returns what makes the machine.
// What machines do is left to their packages.
package machines

import (
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/cumulus"
	"github.com/rocec/rocec/deploy/lab/linux"
	"github.com/rocec/rocec/deploy/lab/posix"
	"github.com/rocec/rocec/deploy/lab/powershell"
	"github.com/rocec/rocec/deploy/lab/sonic"
	"github.com/rocec/rocec/deploy/lab/windows"
)

// All makes machines, which share what they can. It serves one lab.
type All struct {
	scripts posix.Scripts
	texts   powershell.Scripts
}

// Maker is what makes machines for a target; nil where none is simulated.
func (a *All) Maker(target string) lab.Maker {
	switch target {
	case "sonic":
		return func(d *intent.Device, e lab.Environment) (lab.Machine, error) {
			return sonic.New(d, e, &a.scripts), nil
		}
	case "cumulus":
		return func(d *intent.Device, e lab.Environment) (lab.Machine, error) {
			return cumulus.New(d, e, &a.scripts), nil
		}
	case "netqos", "network-atc":
		return windows.Maker(target, &a.texts)
	case "linux":
		return func(d *intent.Device, e lab.Environment) (lab.Machine, error) {
			return linux.New(d, e, &a.scripts), nil
		}
	}
	return nil
}

// Keeps tells whether the state of the machines for a target can be kept.
func Keeps(target string) bool {
	switch target {
	case "sonic", "cumulus", "linux":
		return true
	}
	return false
}

// User is who logs in on a machine for a target.
func User(target string) string {
	switch target {
	case "sonic":
		return "admin"
	case "cumulus":
		return "cumulus"
	case "netqos", "network-atc":
		return "Administrator"
	}
	return "root"
}
