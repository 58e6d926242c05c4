package lower

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// ordered is the interfaces of a device by what they stand on: loopbacks, those
// of ports and LAGs, those of VLANs. What a device is told depends neither on the
// order of the source, nor on its split into files, nor on whether a topology, a
// port or a block of its own says it.
func (b *builder) ordered(ids []fabric.IfaceID) []fabric.IfaceID {
	rank := func(i *fabric.Iface) int {
		switch i.Kind {
		case fabric.LoopbackIface:
			return 0
		case fabric.SVI:
			return 2
		}
		return 1
	}
	order := func(x, y fabric.IfaceID) int {
		i, j := &b.f.Ifaces[x], &b.f.Ifaces[y]
		if c := cmp.Compare(rank(i), rank(j)); c != 0 {
			return c
		}
		if c := cmp.Compare(i.On, j.On); c != 0 { // mostly says it
			return c
		}
		if c := b.compareLAGs(i.OnLAG, j.OnLAG); c != 0 {
			return c
		}
		if c := cmp.Compare(b.f.Segments[i.Segment].VLAN, b.f.Segments[j.Segment].VLAN); c != 0 {
			return c
		}
		return cmp.Or(b.compareNames(i.Name, j.Name), cmp.Compare(i.Kind, j.Kind), slices.CompareFunc(b.f.Addresses(i), b.f.Addresses(j), netip.Prefix.Compare))
	}
	if slices.IsSortedFunc(ids, order) {
		return ids
	}
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, order)
	return ids
}

// orderedLAGs is the LAGs of a device in natural order of their names.
func (b *builder) orderedLAGs(ids []fabric.LAGID) []fabric.LAGID {
	if slices.IsSortedFunc(ids, b.compareLAGs) {
		return ids
	}
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, b.compareLAGs)
	return ids
}

// orderedMembers is the ports of a LAG. The first of an active-backup bond is the
// one that its driver takes first, so those keep the order they are written in.
func orderedMembers(l *fabric.LAG) []fabric.PortID {
	if l.Mode == fabric.ActiveBackup || slices.IsSorted(l.Members) {
		return l.Members
	}
	return slices.Sorted(slices.Values(l.Members))
}

// classOrder is the classes of a contract by the priority that they have on a
// port, the default class last, whatever order they are written in.
func (b *builder) classOrder(p *fabric.Profile, classes []fabric.Class) []int {
	order := make([]int, len(classes))
	for i := range order {
		order[i] = i
	}
	last := func(c *fabric.Class) int {
		if c.Default {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(i, j int) int {
		x, y := &classes[i], &classes[j]
		return cmp.Or(cmp.Compare(last(x), last(y)), cmp.Compare(p.On[i].Priority, p.On[j].Priority), b.compareNames(x.Name, y.Name))
	})
	return order
}

func (b *builder) compareLAGs(x, y fabric.LAGID) int {
	if x == y || x == 0 || y == 0 {
		return cmp.Compare(x, y)
	}
	return b.compareNames(b.f.LAGs[x].Name, b.f.LAGs[y].Name)
}

func (b *builder) compareNames(x, y fabric.Str) int {
	if x == y {
		return 0
	}
	return intent.Natural(b.f.Text(x), b.f.Text(y))
}
