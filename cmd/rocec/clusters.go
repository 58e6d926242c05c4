package main

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/targets"
)

// clusters compares the devices of each cluster where an emitter writes for the
// cluster as a whole: all must be of that emitter, and say the same.
func (p *project) clusters(list []served) (found diag.List) {
	f := p.res.Fabric
	of, shared := map[fabric.Str][]*served{}, map[fabric.Str]bool{}
	var names []fabric.Str // in the order of their first devices
	for i := range list {
		name := f.Devices[list[i].id].Cluster
		if name == 0 {
			continue
		}
		if of[name] = append(of[name], &list[i]); list[i].target.Shared != nil && !shared[name] {
			shared[name], names = true, append(names, name)
		}
	}
	for _, name := range names {
		found = append(found, p.cluster(of[name])...)
	}
	return found
}

func (p *project) cluster(of []*served) (found diag.List) {
	f := p.res.Fabric
	first := of[slices.IndexFunc(of, func(s *served) bool { return s.target.Shared != nil })]
	peer := func(s *served) targets.Peer {
		return targets.Peer{Device: p.lower(s).intent, Origin: func(at intent.Path) []diag.Label { return p.res.Origin(s.id, at) }}
	}
	one := peer(first)
	for _, s := range of {
		dev := &f.Devices[s.id]
		switch {
		case s == first:
		case s.target != first.target:
			found.Add(diag.Diagnostic{
				Summary: fmt.Sprintf("%s of cluster %s is of target %s, %s of %s, which writes for the whole cluster", s.name, f.Text(dev.Cluster), s.target.Name, first.name, first.target.Name),
				Address: s.address, Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.ACluster, "")},
				Help: "select all nodes of the cluster in one of the two targets, or give the nodes different clusters",
			})
		default:
			for _, d := range targets.Alike(first.target, one, peer(s)) {
				d.Address = address(&intent.Device{Kind: one.Device.Kind, Name: s.name}, s.address, d.Address)
				found = append(found, d)
			}
		}
	}
	return found
}
