package resolve

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
)

// plug makes the cables of NICs that write `at` and that no topology joins. A link
// that joins the same two ends says the same.
func (r *resolver) plug() {
	nics := make([]fabric.PortID, 0, len(r.atOf))
	for nic := range r.atOf {
		nics = append(nics, nic)
	}
	slices.Sort(nics)
	r.roomForLinks(len(nics))
	for _, nic := range nics {
		to := r.atOf[nic]
		own, other := r.f.Ports[nic].Link, r.f.Ports[to].Link
		switch {
		case own != 0 && own == other:
		case own != 0:
			r.twoPlaces(nic, own, fmt.Sprintf("another cable leads from it to %s", r.f.PortName(r.f.Ports[nic].Peer)))
		case other != 0:
			r.twoPlaces(nic, other, fmt.Sprintf("another cable leads from there to %s", r.f.PortName(r.f.Ports[to].Peer)))
		default:
			b := r.portBlock[nic]
			row := r.cableOf(b, lang.Value{})
			row.A, row.B = min(nic, to), max(nic, to)
			row.Decl, row.Origin = r.decl(r.atBlock[nic]), fabric.OfNIC
			r.addLink(row, b)
		}
	}
}

// twoPlaces refuses a NIC that says it is plugged where another cable says it is not.
func (r *resolver) twoPlaces(nic fabric.PortID, link fabric.LinkID, what string) {
	r.fail(fmt.Sprintf("%s is `at` %s, and %s", r.f.PortName(nic), r.f.PortName(r.atOf[nic]), what),
		"a port takes one cable: correct one of the two, or leave it out", r.atLabel(nic, ""), r.f.LinkLabel(link, 0, "the other cable"))
}
