package lab

import (
	"context"

	"github.com/rocec/rocec/compiler/intent"
)

// Environment is what a machine takes from the lab that it is in.
type Environment struct {
	Clock  Clock
	User   string // who logs in; "" is the first user of the system
	Faults *Faults
	// Accept is why SONiC's models do not accept a config_db.json, nil where they do.
	// Nil checks no values.
	Accept func(ctx context.Context, configDB []byte) error
	Net    *Net // of the lab; nil for a machine alone
}

// Maker starts the machine of an intent. It refuses what it does not simulate.
type Maker func(d *intent.Device, e Environment) (Machine, error)
