package lint

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
)

// EachProfile calls visit once for every distinct profile in use on a model of
// switch or none and an operating system, with the first port that has it and how many have: cost
// follows variety. Where that finds something, it calls visit for each of the others by itself, as
// what is alike may have been written in several places.
func (p *Pass) EachProfile(visit func(first End, ports int)) {
	if p.alike.rows == nil {
		p.alike.rows, p.alike.find = p.shared().alike(), p.alikePorts
	}
	for i := range p.alike.rows {
		p.alike.visit(p, i, visit)
	}
}

// alikeRows are the ports that some rules judge alike.
type alikeRows struct {
	rows   []alike
	others [][]fabric.PortID // but the first of each row; made when one of them is needed
	find   func(other func(row int, id fabric.PortID)) []alike
}

// visit judges one row: the first port for all, and if something is found, each of the others too.
func (a *alikeRows) visit(p *Pass, row int, visit func(e End, ports int)) {
	ports, before := a.rows[row].ports, len(p.found)
	visit(p.End(a.rows[row].first), ports)
	if len(p.found) == before || ports == 1 {
		return
	}
	if a.others == nil {
		a.others = make([][]fabric.PortID, len(a.rows))
		a.find(func(row int, id fabric.PortID) { a.others[row] = append(a.others[row], id) })
	}
	var all diag.Folder
	first := slices.Clone(p.found[before:])
	for i := range first {
		d := first[i]
		d.Count = 0
		all.Add(&d)
	}
	more := false
	for _, id := range a.others[row] {
		p.found = p.found[:before]
		visit(p.End(id), 1)
		for i := range p.found[before:] {
			all.Add(&p.found[before+i])
			more = true
		}
	}
	if p.found = append(p.found[:before], first...); more { // else the rule speaks of a contract once
		p.found = append(p.found[:before], all.List()...)
	}
}

// alike is ports that rules judge once, by the first of them.
type alike struct {
	first fabric.PortID
	ports int
}

// alikePorts are the rows of EachProfile. It calls other for what is in a row besides its first.
func (p *Pass) alikePorts(other func(row int, id fabric.PortID)) []alike {
	type key struct {
		profile fabric.ProfileID
		model   fabric.ModelID
		os      fabric.Str
	}
	of := func(id fabric.PortID) key {
		port := &p.Fabric.Ports[id]
		dev := &p.Fabric.Devices[port.Device]
		return key{port.Profile, dev.Model, dev.OSName}
	}
	list := []alike{}
	at := map[key]int{}
	// An override is about single ports: what is found for many by one of them
	// could not be told apart. Equal findings are folded afterwards.
	alone := p.single()
	last := 0 // neighbours are mostly alike
	for id := fabric.PortID(1); int(id) < len(p.Fabric.Ports); id++ {
		if p.Fabric.Ports[id].Profile == 0 {
			continue
		}
		k := of(id)
		i, seen := last, last < len(list) && of(list[last].first) == k
		if !seen {
			i, seen = at[k]
		}
		if !seen || alone {
			i = len(list)
			at[k] = i
			list = append(list, alike{first: id})
		} else if other != nil {
			other(i, id)
		}
		list[i].ports++
		last = i
	}
	return list
}

// single reports whether ports that are alike are judged one by one: overrides
// are about single ones, and so are edits.
func (p *Pass) single() bool { return p.each || p.Accepting() }

// Accepting reports whether any override accepts a rule.
func (p *Pass) Accepting() bool {
	return slices.ContainsFunc(p.Fabric.Overrides, func(o fabric.Override) bool { return len(o.Accept) > 0 })
}

// Displaced reports whether a class lands elsewhere on a port than its contract
// says. The rules on priorities (ROCE205, 208, 209, 302) speak of that; the
// others judge classes where they belong, so that one mistake is one message.
func Displaced(c *fabric.Class, on fabric.ClassOn) bool {
	return on.Split || on.Priority != c.Priority
}

// contested reports whether classes of a contract claim the same code points
// or priority: ROCE209 says so, and where they land is anybody's guess.
func (p *Pass) contested(id fabric.QoSID) bool {
	q := &p.Fabric.QoS[id]
	for i := range q.Classes {
		for j := range i {
			if _, clash := clash(&q.Classes[j], &q.Classes[i]); clash {
				return true
			}
		}
	}
	return false
}

// RDMA reports whether a port's contract has a class that carries RDMA.
func (p *Pass) RDMA(e End) bool {
	found := false
	p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) { found = found || c.Carries == fabric.CarriesRDMA })
	return found
}

// Lossless reports whether a port's contract has a lossless class.
func (p *Pass) Lossless(e End) bool {
	found := false
	p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) { found = found || c.Lossless })
	return found
}

// Land is where the frames of a class end up on a port: by the class's own
// index when the port has the same contract, else by the marks that the class
// puts on the wire.
func (p *Pass) Land(q fabric.QoSID, index int, e End) fabric.ClassOn {
	if e.Profile.QoS == q {
		return e.Profile.On[index]
	}
	c := &p.Fabric.QoS[q].Classes[index]
	on := fabric.ClassOn{Priority: 0}
	switch {
	case e.Profile.Trust == fabric.TrustDSCP && c.DSCP != 0:
		first := true
		for d := range e.Profile.DSCP {
			if c.DSCP>>d&1 == 0 {
				continue
			}
			if pr := e.Profile.DSCP[d]; first {
				on.Priority, first = pr, false
			} else if pr != on.Priority {
				on.Split = true
			}
		}
	case e.Profile.Trust == fabric.TrustPCP:
		on.Priority = e.Profile.PCP[c.Priority]
	case e.Profile.Trust == fabric.TrustDSCP:
		on.Priority = e.Profile.DSCP[0]
	default:
		on.Priority = e.Profile.PCP[0]
	}
	on.Queue, on.Group = e.Profile.Queue[on.Priority&7], e.Profile.Group[on.Priority&7]
	on.PFC = e.Profile.PFC>>on.Priority&1 == 1
	return on
}

// LinkClasses calls visit for every class of either end's contract, by name
// once, with where it lands at both ends.
func (p *Pass) LinkClasses(a, b End, visit func(c *fabric.Class, onA, onB fabric.ClassOn)) {
	qa, qb := a.Profile.QoS, b.Profile.QoS
	for i := range p.Fabric.QoS[qa].Classes {
		visit(&p.Fabric.QoS[qa].Classes[i], a.Profile.On[i], p.Land(qa, i, b))
	}
	if qa == qb {
		return
	}
	for i := range p.Fabric.QoS[qb].Classes {
		c := &p.Fabric.QoS[qb].Classes[i]
		known := false
		for _, o := range p.Fabric.QoS[qa].Classes {
			known = known || o.Name == c.Name
		}
		if !known {
			visit(c, p.Land(qb, i, a), b.Profile.On[i])
		}
	}
}

// Tagged reports whether the RDMA of a port travels tagged: none of its
// traffic with this contract is on the native segment or on no VLAN at all.
func (p *Pass) Tagged(e End) bool {
	f := p.Fabric
	if e.Port.Native != 0 {
		q := f.Segments[e.Port.Native].QoS
		if q == e.Profile.QoS || q == 0 && e.Port.VLANs == 0 {
			return false
		}
	}
	return e.Port.VLANs != 0 || e.Port.LAG != 0 && f.LAGs[e.Port.LAG].VLANs != 0
}
