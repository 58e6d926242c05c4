// Package all lists the targets: the one place that imports them.
package all

import (
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/cumulus"
	"github.com/rocec/rocec/targets/linux"
	"github.com/rocec/rocec/targets/sonic"
	"github.com/rocec/rocec/targets/sonicent"
	"github.com/rocec/rocec/targets/windows"
)

// Targets are all emitters, by name.
var Targets = []*targets.Target{&cumulus.Target, &linux.Target, &windows.Target, &windows.NetworkATC, &sonic.Target, &sonicent.Target}

// Find returns a target by the name that the source uses, nil if there is none.
func Find(name string) *targets.Target {
	for _, t := range Targets {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Names are the names of all targets.
func Names() []string {
	var names []string
	for _, t := range Targets {
		names = append(names, t.Name)
	}
	return names
}
