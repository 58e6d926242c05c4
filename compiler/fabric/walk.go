package fabric

// Mask says which links and devices are down. The zero Mask, and a nil one,
// have everything up. It is what a walk takes to see a failure.
type Mask struct {
	Links   map[LinkID]bool
	Devices map[DeviceID]bool
}

// Up reports whether a link and the devices at both its ends are up. One with a port
// that is shut never is, whatever the mask says.
func (f *Fabric) Up(l LinkID, m *Mask) bool {
	if f.NoneShut && m == nil {
		return true
	}
	link := &f.Links[l]
	a, b := &f.Ports[link.A], &f.Ports[link.B]
	return (a.Flags|b.Flags)&ShutDown == 0 && (m == nil || !m.Links[l] && !m.Devices[a.Device] && !m.Devices[b.Device])
}

// ShutEnd is an end of a link that is shut, 0 if neither is.
func (f *Fabric) ShutEnd(l LinkID) PortID {
	if f.NoneShut {
		return 0
	}
	for _, id := range [2]PortID{f.Links[l].A, f.Links[l].B} {
		if f.Ports[id].Flags&ShutDown != 0 {
			return id
		}
	}
	return 0
}

// Adjacency is which links each device has: Links[Offsets[d]:Offsets[d+1]] are
// those of device d, ascending.
type Adjacency struct {
	Offsets []uint32
	Links   []LinkID
}

// Adjacency lays out the links of every device in two arrays.
func (f *Fabric) Adjacency() Adjacency {
	a := Adjacency{Offsets: make([]uint32, len(f.Devices)+1), Links: make([]LinkID, 2*(len(f.Links)-1))}
	ends := func(l LinkID) [2]DeviceID {
		return [2]DeviceID{f.Ports[f.Links[l].A].Device, f.Ports[f.Links[l].B].Device}
	}
	for l := 1; l < len(f.Links); l++ {
		for _, d := range ends(LinkID(l)) {
			a.Offsets[d+1]++
		}
	}
	for d := 1; d < len(a.Offsets); d++ {
		a.Offsets[d] += a.Offsets[d-1]
	}
	next := append([]uint32(nil), a.Offsets...)
	for l := 1; l < len(f.Links); l++ {
		for _, d := range ends(LinkID(l)) {
			a.Links[next[d]] = LinkID(l)
			next[d]++
		}
	}
	return a
}

// Of are the links of a device.
func (a Adjacency) Of(d DeviceID) []LinkID { return a.Links[a.Offsets[d]:a.Offsets[d+1]] }

// Reach visits every device that can be reached from one over links that are
// up, itself first, nearest first, with the number of hops.
func (f *Fabric) Reach(a Adjacency, from DeviceID, m *Mask, visit func(d DeviceID, hops int)) {
	if m != nil && m.Devices[from] {
		return
	}
	hops := map[DeviceID]int{from: 0}
	for queue := []DeviceID{from}; len(queue) > 0; queue = queue[1:] {
		d := queue[0]
		visit(d, hops[d])
		for _, l := range a.Of(d) {
			if !f.Up(l, m) {
				continue
			}
			link := &f.Links[l]
			next := f.Ports[link.A].Device
			if next == d {
				next = f.Ports[link.B].Device
			}
			if _, seen := hops[next]; !seen {
				hops[next] = hops[d] + 1
				queue = append(queue, next)
			}
		}
	}
}
