package lint

import (
	"cmp"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
)

// Ports and links of one kind are the same to a rule but for their names: what
// it finds at one it finds at all. So a walk looks at the first of each kind,
// and at the others only where the first gave a finding: cost follows variety.

// kindID numbers kinds from 1.
type kindID uint32

// portKind is all that a rule may see of a port without looking at others.
type portKind struct {
	port        fabric.Port // without names and numbers of its own
	linked      bool
	lag         bool
	lagVLANs    fabric.VLANSetID
	fact        uint32
	device      fabric.DeviceKind
	manage      fabric.Manage
	trusted     bool
	model       fabric.ModelID
	os, version fabric.Str
	nic         bool
	nicModel    fabric.NICModelID
	roce        fabric.Str
	firmware    fabric.Str
	storm       fabric.StormTimeout
	gid         int16
	rxBytes     uint32
	pcieGen     uint8
	pcieLanes   uint8
	splits      uint8 // of the split that it is a child of, 0 for a whole port
	splitLanes  uint8
}

// linkKind is all that a rule may see of a link.
type linkKind struct {
	a, b     kindID
	link     fabric.Link // likewise
	peerLink bool
}

// pairKind is a port with the port at the other end of its cable.
type pairKind struct{ own, peer kindID }

// kinds are the kinds of all ports and links of a fabric.
type kinds struct {
	ports     []kindID // by PortID: of the port alone
	pairs     []kindID // by PortID: with its peer
	links     []kindID // by LinkID
	firstPair []int    // row of the first of each kind, by kindID less one, ascending
	firstLink []int
}

func (p *Pass) kinds() *kinds {
	if p.kind != nil {
		return p.kind
	}
	f := p.Fabric
	k := &kinds{ports: make([]kindID, len(f.Ports)), pairs: make([]kindID, len(f.Ports)), links: make([]kindID, len(f.Links))}
	ports := interned[portKind]{}
	for id := 1; id < len(f.Ports); id++ {
		k.ports[id] = ports.of(p.portKind(fabric.PortID(id)))
	}
	pairs := interned[pairKind]{}
	for id := 1; id < len(f.Ports); id++ {
		if k.pairs[id] = pairs.of(pairKind{k.ports[id], k.ports[f.Ports[id].Peer]}); int(k.pairs[id]) > len(k.firstPair) {
			k.firstPair = append(k.firstPair, id)
		}
	}
	links := interned[linkKind]{}
	for id := 1; id < len(f.Links); id++ {
		l := f.Links[id]
		of := linkKind{a: k.ports[l.A], b: k.ports[l.B], peerLink: l.PeerLink != 0}
		of.link = fabric.Link{CableMm: l.CableMm, DelayNs: l.DelayNs, Media: l.Media, LengthWritten: l.LengthWritten, BadLength: l.BadLength}
		if k.links[id] = links.of(of); int(k.links[id]) > len(k.firstLink) {
			k.firstLink = append(k.firstLink, id)
		}
	}
	p.kind = k
	return k
}

func (p *Pass) portKind(id fabric.PortID) portKind {
	f := p.Fabric
	k := portKind{port: f.Ports[id]}
	port, dev := &f.Ports[id], &f.Devices[f.Ports[id].Device]
	k.port.Device, k.port.Name, k.port.Peer, k.port.Link, k.port.Decl, k.port.Layers, k.port.NIC, k.port.LAG, k.port.Split = 0, 0, 0, 0, 0, 0, 0, 0, 0
	k.linked, k.lag, k.lagVLANs = port.Link != 0, port.LAG != 0, f.LAGs[port.LAG].VLANs
	k.fact = uint32(p.Facts.Of[id])
	k.device, k.manage, k.trusted, k.model, k.os, k.version = dev.Kind, dev.Manage, dev.Trusted, dev.Model, dev.OSName, dev.OSVersion
	if b, _ := f.SplitOf(id); b != nil {
		k.splits, k.splitLanes = b.Count, b.Lanes
	}
	if port.NIC != 0 {
		n := &f.NICs[port.NIC]
		k.nic, k.nicModel, k.roce, k.firmware, k.gid, k.rxBytes, k.pcieGen, k.pcieLanes = true, n.Model, n.RoCE, n.Firmware, n.GIDIndex, n.RxBytes, n.PCIeGen, n.PCIeLanes
		k.storm = n.Storm
	}
	return k
}

// interned numbers distinct values. Neighbours are mostly alike, so that the
// last one is tried first.
type interned[T comparable] struct {
	ids map[T]kindID
	at  T
	id  kindID
}

func (i *interned[T]) of(v T) kindID {
	if i.id != 0 && v == i.at {
		return i.id
	}
	if i.ids == nil {
		i.ids = map[T]kindID{}
	}
	id, seen := i.ids[v]
	if !seen {
		id = kindID(len(i.ids) + 1)
		i.ids[v] = id
	}
	i.at, i.id = v, id
	return id
}

// walk calls visit for each of many rows of which kinds tells the kind (0: none of this walk's): for all of a kind whose first row
// has findings, for the first alone of the others. Findings stand in the order of the rows.
func (p *Pass) walk(of []kindID, first []int, visit func(row int)) {
	if p.everyRow {
		for row, k := range of {
			if k != 0 {
				visit(row)
			}
		}
		return
	}
	type finding struct {
		row int
		diag.Diagnostic
	}
	var found []finding
	before := p.found
	look := func(row int) (faulty bool) {
		p.found = nil
		visit(row)
		for _, d := range p.found {
			found = append(found, finding{row, d})
		}
		return len(p.found) > 0
	}
	faulty := make([]bool, len(first)+1)
	any := false
	for k, row := range first {
		if look(row) {
			faulty[k+1], any = true, true
		}
	}
	if any {
		for row, k := range of {
			if faulty[k] && row != first[k-1] {
				look(row)
			}
		}
		slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(a.row, b.row) })
	}
	p.found = before
	for i := range found {
		p.found = append(p.found, found[i].Diagnostic)
	}
}
