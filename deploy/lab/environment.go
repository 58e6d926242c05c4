package lab

import "github.com/rocec/rocec/compiler/intent"

// Environment is what a machine takes from the lab that it is in.
type Environment struct {
	Clock  Clock
	User   string // who logs in; "" is the first user of the system
	Faults *Faults
	Net    *Net // of the lab; nil for a machine alone
}

// Maker starts the machine of an intent. It refuses what it does not simulate.
type Maker func(d *intent.Device, e Environment) (Machine, error)
