package paths

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// ErrUnreached is that the address of an endpoint fits nothing around it.
var ErrUnreached = errors.New("no packet passes between them")

// reached is an error where nothing reaches a NIC for its address.
func reached(f *fabric.Fabric, p fabric.PortID) error {
	if f.Ports[p].Flags&fabric.Astray == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrUnreached, f.MisaddressedText(f.Unneighbourly(p)))
}

// apart is ErrApart, with the gateway of a segment of one of two NICs that nobody has.
func apart(f *fabric.Fabric, ends ...fabric.PortID) error {
	for _, p := range ends {
		for _, s := range segmentsOf(f, p) {
			if i := slices.IndexFunc(f.Misaddressed, func(m fabric.Misaddressed) bool { return m.Segment == s }); i >= 0 && f.Segments[s].Unrouted {
				return fmt.Errorf("%w: %s", ErrApart, f.MisaddressedText(&f.Misaddressed[i]))
			}
		}
	}
	return ErrApart
}

// barred are the links of a site that routed packets do not cross for the addresses
// at their ends.
func (s *site) barred(f *fabric.Fabric) []fabric.LinkID {
	return slices.DeleteFunc(slices.Clone(s.links), func(l fabric.LinkID) bool { return !f.Unrouted(l) })
}
