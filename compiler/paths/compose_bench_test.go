package paths

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
)

// rails is a rail-optimised fabric of pods: each NIC of a node on a leaf of its
// own, spines above the leaves of a pod, cores above all spines.
func rails(pods, nodes, nics, leavesPerRail, spines, width, coresPerSpine int) *plot {
	m := newPlot(func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<26, 3) }, func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<34, 4) })
	f := m.Fabric
	f.Topologies = make([]fabric.Topology, 2)
	free := map[fabric.DeviceID]fabric.PortID{}
	device := func(kind fabric.DeviceKind, tier fabric.Tier, ports int) fabric.DeviceID {
		id := fabric.DeviceID(len(f.Devices))
		f.Devices = append(f.Devices, fabric.Device{Kind: kind, Trusted: true, First: fabric.PortID(len(f.Ports)), NPorts: uint32(ports), Place: fabric.Place{Tier: tier}})
		free[id] = fabric.PortID(len(f.Ports))
		profile := m.profile(1, kind == fabric.Node, nil)
		for range ports {
			f.Ports = append(f.Ports, fabric.Port{Device: id, Mbps: 400_000, MTU: 9000, Profile: profile})
		}
		return id
	}
	join := func(a, b fabric.DeviceID) {
		p, q := free[a], free[b]
		free[a]++
		free[b]++
		l := fabric.LinkID(len(f.Links))
		f.Ports[p].Peer, f.Ports[q].Peer, f.Ports[p].Link, f.Ports[q].Link = q, p, l, l
		f.Links = append(f.Links, fabric.Link{A: min(p, q), B: max(p, q), CableMm: 3000})
	}
	leaves := nics * leavesPerRail
	var cores []fabric.DeviceID
	for range spines * coresPerSpine {
		cores = append(cores, device(fabric.Switch, fabric.CoreTier, pods))
	}
	for range pods {
		var spine []fabric.DeviceID
		for s := range spines {
			spine = append(spine, device(fabric.Switch, fabric.SpineTier, leaves*width+coresPerSpine))
			for c := range coresPerSpine {
				join(spine[s], cores[s*coresPerSpine+c])
			}
		}
		var leaf []fabric.DeviceID
		for l := range leaves {
			leaf = append(leaf, device(fabric.Switch, fabric.LeafTier, nodes/leavesPerRail+spines*width))
			for _, s := range spine {
				for range width {
					join(leaf[l], s)
				}
			}
		}
		for n := range nodes {
			node := device(fabric.Node, fabric.NoTier, nics)
			for r := range nics {
				join(node, leaf[n/(nodes/leavesPerRail)*nics+r])
			}
		}
	}
	return m
}

// BenchmarkCompose proves fabrics of a known size [theory F]: a clean one, one in
// which the ways must be followed because half of the nodes has another
// contract, and that one with a link down.
func BenchmarkCompose(b *testing.B) {
	for _, n := range []struct {
		name string
		make func() *plot
		nics int
	}{
		{"fabric-4k", func() *plot { return rails(4, 128, 8, 2, 16, 1, 8) }, 4096},
		{"fabric-100k", func() *plot { return rails(25, 512, 8, 8, 64, 1, 16) }, 102_400},
	} {
		m := n.make()
		facts, _ := derive.Compute(m.Fabric, derive.Options{})
		for _, mixed := range []bool{false, true} {
			if mixed {
				twoKinds(m)
				facts, _ = derive.Compute(m.Fabric, derive.Options{})
			}
			for _, down := range []bool{false, true} {
				var mask *fabric.Mask
				if down {
					mask = &fabric.Mask{Links: map[fabric.LinkID]bool{1: true}}
				}
				b.Run(fmt.Sprintf("%s/mixed=%v/down=%v", n.name, mixed, down), func(b *testing.B) {
					b.ReportAllocs()
					var c *Composition
					for b.Loop() {
						c = Compose(m.Fabric, facts, mask)
					}
					b.ReportMetric(float64(c.Judged), "hops")
					if c.Limit != nil || c.Always == mixed || len(c.Breaks) > 0 {
						b.Errorf("%+v", c)
					}
					runtime.KeepAlive(c)
				})
			}
		}
	}
}

// twoKinds gives the nodes of every second leaf another class for RDMA. Above the
// leaves there are both; on the cables of the others there is the first alone, and
// the second would not survive there: only the ways show that it never comes.
func twoKinds(m *plot) {
	f := m.Fabric
	two := contract(f, 1<<34, 4)
	two.Classes[classRDMA].Name = f.Names.Add("other")
	both := contract(f, 1<<26, 3)
	both.Classes = append([]fabric.Class{two.Classes[classRDMA]}, both.Classes...)
	f.QoS = append(f.QoS[:2], two, both)
	up := m.profile(3, false, nil)
	nic, port := m.profile(2, true, nil), m.profile(2, false, nil)
	for l := 1; l < len(f.Links); l++ {
		a, b := &f.Ports[f.Links[l].A], &f.Ports[f.Links[l].B]
		if f.Devices[a.Device].Kind == fabric.Node {
			a, b = b, a
		}
		switch {
		case f.Devices[b.Device].Kind == fabric.Switch:
			leaf := a.Device
			if f.Devices[leaf].Tier != fabric.LeafTier {
				leaf = b.Device
			}
			if f.Devices[leaf].Tier != fabric.LeafTier || leaf%2 == 0 {
				a.Profile, b.Profile = up, up
			}
		case a.Device%2 == 0:
			a.Profile, b.Profile = port, nic
		}
	}
}
