package lint

import (
	"fmt"
	"maps"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// uncabled is a NIC that carries RDMA and has no cable, where most of its peers have
// one: those of its name on nodes of its role.
type uncabled struct {
	nic        fabric.PortID
	peer       fabric.PortID // one that has a cable
	cabled, of int           // of the peers, the NIC included
}

// uncabled lists them. NICs of which most have no cable were left out on purpose, and
// of two one is enough.
func (p *Pass) uncabled() (list []uncabled) {
	f := p.Fabric
	const quiet = fabric.ShutDown | fabric.IsLAG | fabric.IsVNIC | fabric.External
	differs := map[fabric.PortID]bool{} // from a cable list, which is ROCE121
	for _, m := range f.Mismatches {
		differs[m.A], differs[m.B] = true, true
	}
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		port := &f.Ports[id]
		if port.Link == 0 && port.NIC != 0 && port.Flags&quiet == 0 && f.Devices[port.Device].Manage != fabric.HandsOff && p.RDMA(p.End(id)) && !differs[id] && !likeRange(f.Text(port.Name)) {
			list = append(list, uncabled{nic: id})
		}
	}
	if len(list) == 0 || p.doubled() { // else some cable is listed at the wrong port: ROCE104
		return nil
	}
	type key struct {
		role alikeKey
		name fabric.Str
	}
	keyOf := func(e End) key { return key{p.roleKey(e.Device), e.Port.Name} }
	peers := map[key]*uncabled{}
	for _, u := range list {
		peers[keyOf(p.End(u.nic))] = &uncabled{}
	}
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		e := p.End(id)
		if e.Port.NIC == 0 || e.Port.Flags&quiet != 0 {
			continue
		}
		if u := peers[keyOf(e)]; u != nil {
			if u.of++; e.Port.Link != 0 {
				u.cabled++
				u.peer = id
			}
		}
	}
	found := list[:0]
	for _, u := range list {
		if of := peers[keyOf(p.End(u.nic))]; 2*of.cabled > of.of || of.cabled == 1 && of.of == 2 {
			found = append(found, uncabled{u.nic, of.peer, of.cabled, of.of})
		}
	}
	return found
}

// forsaken reports them: a part of ROCE805.
func (p *Pass) forsaken() {
	f := p.Fabric
	list := p.uncabled()
	if len(list) == 0 {
		return
	}
	waiting := p.waiting(p.spares(), list)
	for _, u := range list {
		e := p.End(u.nic)
		d := diag.Diagnostic{
			Severity: diag.Warning, Summary: fmt.Sprintf("%s carries RDMA and has no cable", p.Name(e)), Address: f.PortAddress(u.nic),
			Labels: []diag.Label{f.DeclLabel(e.Port.Decl, ""), f.LinkLabel(f.Ports[u.peer].Link, schema.AEnds, "the cable of "+f.PortName(u.peer))},
			Notes:  []string{fmt.Sprintf("%d of %d nodes of %s have one at %s", u.cabled, u.of, p.roleName(e.Device), f.Text(e.Port.Name))},
			Help:   "add its cable, or write admin = \"down\" on it",
		}
		if free := waiting[p.fit(u.nic)]; len(free) > 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("%s has none either", f.PortName(free[0])))
			d.Concerns = []string{f.PortAddress(free[0])}
			waiting[p.fit(u.nic)] = free[1:]
		}
		p.Report(d)
	}
}

// waiting are the spare ports of switches that uncabled NICs are as many as, by what
// fits: the cable between the two is what is missing, and nothing is spare.
func (p *Pass) waiting(spares []fabric.PortID, list []uncabled) map[fit][]fabric.PortID {
	nics, ports := map[fit]int{}, map[fit][]fabric.PortID{}
	for _, u := range list {
		nics[p.fit(u.nic)]++
	}
	for _, id := range spares {
		k := p.fit(id)
		ports[k] = append(ports[k], id)
	}
	maps.DeleteFunc(ports, func(k fit, of []fabric.PortID) bool { return len(of) > nics[k] })
	return ports
}

// fit is what two ports have in common that could be joined.
type fit struct {
	qos  fabric.QoSID
	mbps uint32
}

func (p *Pass) fit(id fabric.PortID) fit {
	e := p.End(id)
	return fit{e.Profile.QoS, e.Port.Mbps}
}
