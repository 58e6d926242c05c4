package lint

import (
	"sync"

	"github.com/rocec/rocec/compiler/fabric"
)

// once holds what many rules walk by and no rule changes. The first pass that
// asks for it works it out, and all passes over the fabric share it.
type once struct {
	ranks                     func() []uint8 // by DeviceID
	switches                  func() []tiered
	alike, headrooms, marking func() []alike
	outward                   func() []fabric.PortID
}

// shared is what passes share; a pass that is copied afterwards shares it with its copies.
func (p *Pass) shared() *once {
	if p.once == nil {
		by := *p
		by.once = &once{
			ranks:     sync.OnceValue(by.tierRanks),
			switches:  sync.OnceValue(by.tieredSwitches),
			alike:     sync.OnceValue(func() []alike { return by.alikePorts(nil) }),
			headrooms: sync.OnceValue(func() []alike { return by.headroomRows(nil) }),
			marking:   sync.OnceValue(func() []alike { return by.markingRows(nil) }),
			outward:   sync.OnceValue(by.portsOutward),
		}
		p.once = by.once
	}
	return p.once
}
