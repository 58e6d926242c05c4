package resolve

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// lags reads the LAGs of switches and the bonds of nodes, then makes the LAG
// at the other end of every bond that negotiates or hashes, unless a lag block
// holds those ports already.
func (r *resolver) lags() {
	r.lagOf = map[lang.BlockID]fabric.LAGID{}
	for d := 1; d < len(r.f.Devices); d++ {
		r.kidsByName(r.blockOf[d], schema.LAG, func(b lang.BlockID) { r.lag(fabric.DeviceID(d), b) })
		r.kidsByName(r.blockOf[d], schema.Bond, func(b lang.BlockID) { r.lag(fabric.DeviceID(d), b) })
	}
	for id := 1; id < len(r.f.LAGs); id++ {
		if lag := &r.f.LAGs[id]; r.f.Devices[lag.Device].Kind == fabric.Node && (lag.Mode == fabric.LACP || lag.Mode == fabric.Static) {
			r.implied(fabric.LAGID(id))
		}
	}
	for id := 1; id < len(r.f.LAGs); id++ {
		if lag := &r.f.LAGs[id]; r.f.Devices[lag.Device].Kind == fabric.Switch && (lag.Mode == fabric.LACP || lag.Mode == fabric.Static) {
			r.overPair(fabric.LAGID(id))
		}
	}
	r.numbers()
}

func (r *resolver) addLAG(row fabric.LAG, b lang.BlockID) fabric.LAGID {
	if len(r.lagBlock) == 0 {
		r.lagBlock = make([]lang.BlockID, 1)
	}
	id := fabric.LAGID(len(r.f.LAGs))
	r.f.LAGs = append(r.f.LAGs, row)
	r.lagBlock = append(r.lagBlock, b)
	for _, p := range row.Members {
		r.f.Ports[p].LAG = id
	}
	if b != 0 {
		r.lagOf[b] = id
	}
	return id
}

func (r *resolver) lag(d fabric.DeviceID, b lang.BlockID) {
	modes := map[string]fabric.LAGMode{"lacp": fabric.LACP, "static": fabric.Static, "active_backup": fabric.ActiveBackup, "set": fabric.SET}
	row := fabric.LAG{
		Device: d, Name: r.str(r.cfg.Blocks[b].Name), Mode: fabric.LACP, Decl: r.decl(b),
		Hash: r.text(r.attr(b, schema.AHashPolicy)), Number: uint16(r.attr(b, schema.AID).N), MTU: uint16(r.attr(b, schema.AMTU).N),
	}
	if v := r.attr(b, schema.AMode); v.Kind != lang.Absent {
		row.Mode = modes[r.cfg.Text(v)]
	}
	if v := r.attr(b, schema.ARate); v.Kind != lang.Absent {
		row.RateSet, row.Fast = true, r.cfg.Text(v) == "fast"
	}
	if r.adopt(row, b) {
		return
	}
	for _, v := range r.cfg.List(r.attr(b, schema.AMembers)) {
		p := r.port(d, r.text(v))
		switch {
		case p == 0:
			r.fail(fmt.Sprintf("%s has no port %s to be a member of %s", r.f.Text(r.f.Devices[d].Name), r.cfg.Text(v), r.blockName(b)),
				"name ports or NICs of the same device", r.at(b, schema.AMembers, ""))
		case r.f.Ports[p].LAG != 0:
			other := r.f.Ports[p].LAG
			r.fail(fmt.Sprintf("%s is a member of two aggregations: %s and %s", r.f.PortName(p), r.f.Text(r.f.LAGs[other].Name), r.blockName(b)),
				"a port belongs to one", r.at(b, schema.AMembers, ""), r.f.Label(r.f.LAGs[other].Decl, 0, schema.AMembers, "the other"))
		default:
			row.Members = append(row.Members, p)
		}
	}
	row.Layers = r.layersOn(b, r.blockOf[d])
	r.addLAG(row, b)
}

// adopt lets a block speak for the LAG of a peer link that has the same ports.
func (r *resolver) adopt(row fabric.LAG, b lang.BlockID) bool {
	names := r.cfg.List(r.attr(b, schema.AMembers))
	id := fabric.LAGID(0)
	for _, v := range names {
		p := r.port(row.Device, r.text(v))
		if p == 0 || r.f.Ports[p].LAG == 0 || id != 0 && r.f.Ports[p].LAG != id {
			return false
		}
		id = r.f.Ports[p].LAG
	}
	if id == 0 || r.lagBlock[id] != 0 || !r.f.LAGs[id].Implied || len(names) != len(r.f.LAGs[id].Members) {
		return false
	}
	own := &r.f.LAGs[id]
	row.Members, row.Peer = own.Members, own.Peer
	row.Layers = r.layersOn(b, r.blockOf[row.Device])
	*own = row
	r.lagBlock[id], r.lagOf[b] = b, id
	return true
}

// implied makes the LAG of a bond at its switch, or one on each switch of a pair.
func (r *resolver) implied(bond fabric.LAGID) {
	sides := map[fabric.DeviceID][]fabric.PortID{}
	var order []fabric.DeviceID
	for _, m := range r.f.LAGs[bond].Members {
		peer := r.f.Ports[m].Peer
		if peer == 0 || r.f.Devices[r.f.Ports[peer].Device].Kind != fabric.Switch {
			continue
		}
		d := r.f.Ports[peer].Device
		if len(sides[d]) == 0 {
			order = append(order, d)
		}
		sides[d] = append(sides[d], peer)
	}
	for _, d := range order {
		ports := sides[d]
		lag := r.f.Ports[ports[0]].LAG
		if lag == 0 {
			src := r.f.LAGs[bond]
			lag = r.addLAG(fabric.LAG{
				Device: d, Mode: src.Mode, Fast: src.Fast, RateSet: src.RateSet, Members: ports, Number: src.Number,
				Decl: src.Decl, Implied: true,
			}, 0)
		}
		r.f.LAGs[lag].Peer = bond
		r.f.LAGs[bond].Peer = lag
		if pair := r.f.Devices[d].MLAG; pair != 0 && len(order) == 2 {
			r.f.LAGs[lag].MLAG = pair
		}
	}
}

// overPair makes the two LAGs at the other end of a switch's LAG the halves of one,
// where they are on the two switches of a pair.
func (r *resolver) overPair(id fabric.LAGID) {
	var halves []fabric.LAGID
	lag := &r.f.LAGs[id]
	for _, m := range lag.Members {
		peer := r.f.Ports[m].Peer
		if peer == 0 || r.f.Devices[r.f.Ports[peer].Device].Kind != fabric.Switch || r.f.Ports[peer].LAG == 0 {
			return
		}
		if half := r.f.Ports[peer].LAG; !slices.Contains(halves, half) {
			halves = append(halves, half)
		}
	}
	if len(halves) != 2 {
		return
	}
	a, b := &r.f.LAGs[halves[0]], &r.f.LAGs[halves[1]]
	pair := r.f.Devices[a.Device].MLAG
	if a.Device == b.Device || pair == 0 || pair != r.f.Devices[b.Device].MLAG || pair == r.f.Devices[lag.Device].MLAG {
		return
	}
	for _, half := range halves {
		r.f.LAGs[half].MLAG, r.f.LAGs[half].Peer, lag.Peer = pair, id, half
	}
}

// numbers gives each switch LAG its number: the one written, else that of its
// lowest port, the same on both switches of a pair; the next free one when it
// is taken. Names follow the OS.
func (r *resolver) numbers() {
	taken := map[fabric.DeviceID]map[uint16]bool{}
	use := func(d fabric.DeviceID, n uint16) {
		if taken[d] == nil {
			taken[d] = map[uint16]bool{}
		}
		taken[d][n] = true
	}
	for id := 1; id < len(r.f.LAGs); id++ {
		lag := &r.f.LAGs[id]
		if lag.Number == 0 && lag.Name != 0 && r.f.Devices[lag.Device].Kind == fabric.Switch {
			if _, n := splitTrailing(r.f.Text(lag.Name)); n > 0 && n < 65536 {
				lag.Number = uint16(n)
			}
		}
		if lag.Number != 0 {
			use(lag.Device, lag.Number)
		}
	}
	for id := 1; id < len(r.f.LAGs); id++ {
		lag := &r.f.LAGs[id]
		if r.f.Devices[lag.Device].Kind != fabric.Switch {
			continue
		}
		legs := []fabric.LAGID{fabric.LAGID(id)}
		if lag.MLAG != 0 {
			legs = r.legs(fabric.LAGID(id))
		}
		if lag.Number == 0 {
			n := r.lowest(legs)
			for slices.ContainsFunc(legs, func(l fabric.LAGID) bool { return taken[r.f.LAGs[l].Device][n] }) {
				n++
			}
			for _, l := range legs {
				if r.f.LAGs[l].Number == 0 {
					r.f.LAGs[l].Number = n
					use(r.f.LAGs[l].Device, n)
				}
			}
		}
		if lag.Name == 0 {
			lag.Name = r.f.Names.Add(lagName(r.f.Text(r.f.Devices[lag.Device].OSName), lag.Number))
		}
	}
}

// legs are the halves of a LAG over a pair: the LAGs that its bond's cables reach.
func (r *resolver) legs(id fabric.LAGID) []fabric.LAGID {
	var legs []fabric.LAGID
	for _, m := range r.f.LAGs[r.f.LAGs[id].Peer].Members {
		peer := r.f.Ports[m].Peer
		if peer == 0 {
			continue
		}
		if l := r.f.Ports[peer].LAG; l != 0 && !slices.Contains(legs, l) {
			legs = append(legs, l)
		}
	}
	return legs
}

// lowest is the smallest port number among the members of some LAGs, at least 1.
func (r *resolver) lowest(legs []fabric.LAGID) uint16 {
	low := -1
	for _, l := range legs {
		for _, p := range r.f.LAGs[l].Members {
			if _, n := splitTrailing(r.f.Text(r.f.Ports[p].Name)); n >= 0 && (low < 0 || n < low) {
				low = n
			}
		}
	}
	return uint16(min(max(low, 1), 4094))
}

// lagName is the name of a LAG that no block names.
func lagName(os string, number uint16) string {
	if os == "sonic" || os == "sonic-enterprise" {
		return "PortChannel" + strconv.Itoa(int(number))
	}
	return "lag" + strconv.Itoa(int(number))
}
