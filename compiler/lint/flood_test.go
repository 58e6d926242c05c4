package lint

import (
	"testing"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
)

// chain is three switches in a row; the last has a port out of the fabric. The
// first and the middle one share VLAN 100 as a tag, the middle and the last one
// join it to VLAN 10 by their native segments.
func chain() *fabric.Fabric {
	f := &fabric.Fabric{
		QoS:      []fabric.QoS{{}, {Classes: []fabric.Class{{Carries: fabric.CarriesRDMA}}}},
		Segments: []fabric.Segment{{}, {VLAN: 100, QoS: 1}, {VLAN: 10}},
		VLANSets: [][]fabric.SegmentID{nil, {1}},
		Profiles: []fabric.Profile{{}}, Decls: make([]fabric.Decl, 1), Layers: make([]fabric.Layers, 1),
	}
	f.Devices = []fabric.Device{{}}
	f.Ports = []fabric.Port{{}}
	for _, ports := range [][]fabric.Port{
		{{VLANs: 1}},
		{{VLANs: 1}, {Native: 1}},
		{{Native: 2}, {Native: 2, Flags: fabric.External}},
	} {
		d := fabric.DeviceID(len(f.Devices))
		f.Devices = append(f.Devices, fabric.Device{Kind: fabric.Switch, Trusted: true, First: fabric.PortID(len(f.Ports)), NPorts: uint32(len(ports))})
		for _, p := range ports {
			p.Device = d
			f.Ports = append(f.Ports, p)
		}
	}
	f.Links = []fabric.Link{{}, {A: 1, B: 2}, {A: 3, B: 4}}
	for l := 1; l < len(f.Links); l++ {
		a, b := f.Links[l].A, f.Links[l].B
		f.Ports[a].Peer, f.Ports[a].Link = b, fabric.LinkID(l)
		f.Ports[b].Peer, f.Ports[b].Link = a, fabric.LinkID(l)
	}
	return f
}

// TestFlood follows a VLAN over tags and over native segments of other numbers,
// and not over a link or a switch that is down.
func TestFlood(t *testing.T) {
	tests := []struct {
		name string
		mask *fabric.Mask
		hops int // to the port out of the fabric; -1: it is not reached
	}{
		{"all up", nil, 1}, // from the middle switch, which carries the segment itself
		{"last link down", &fabric.Mask{Links: map[fabric.LinkID]bool{2: true}}, -1},
		{"last switch down", &fabric.Mask{Devices: map[fabric.DeviceID]bool{3: true}}, -1},
		{"first link down", &fabric.Mask{Links: map[fabric.LinkID]bool{1: true}}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := &Pass{Fabric: chain(), Facts: &derive.Facts{}}
			hops := -1
			p.flood(1, test.mask, func(at place, e End, path []step) {
				if e.ID != 5 || at.vlan != 10 {
					t.Errorf("port %d is visited in VLAN %d", e.ID, at.vlan)
				}
				hops = len(path)
			})
			if hops != test.hops {
				t.Errorf("the port outside is %d hops away, want %d", hops, test.hops)
			}
		})
	}
}

// TestPauseFlood follows pauses from a port of which nothing is known to the
// first port with PFC, and no further than a port that is known to have none.
func TestPauseFlood(t *testing.T) {
	const ( // ports of the chain
		first, left, right, inner, outer = 1, 2, 3, 4, 5
	)
	tests := []struct {
		name    string
		lossy   bool // the segment carries no RDMA
		hands   []fabric.PortID
		pfc     []fabric.PortID
		silent  []fabric.PortID // a contract without PFC
		reached fabric.PortID
	}{
		{"neighbour", true, []fabric.PortID{inner, outer}, []fabric.PortID{right}, nil, right},
		{"through another switch that nobody knows", true, []fabric.PortID{left, right, inner, outer}, []fabric.PortID{first}, nil, first},
		{"known not to pause outside", true, []fabric.PortID{inner}, []fabric.PortID{right}, []fabric.PortID{outer}, 0},
		{"known not to pause inwards", true, []fabric.PortID{inner, outer}, []fabric.PortID{right}, []fabric.PortID{inner}, 0},
		{"no PFC at the neighbour", true, []fabric.PortID{inner, outer}, nil, []fabric.PortID{right}, 0},
		{"managed, and nothing is written", true, nil, []fabric.PortID{right}, nil, 0},
		{"an RDMA VLAN on the way is another rule's", false, []fabric.PortID{inner, outer}, []fabric.PortID{right}, nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := chain()
			f.Profiles = append(f.Profiles, fabric.Profile{PFC: 1 << 3}, fabric.Profile{Trust: fabric.TrustNone})
			if test.lossy {
				f.Segments[1].QoS = 0
			}
			f.MarkRDMA()
			for _, id := range test.hands {
				f.Ports[id].Manage = fabric.HandsOff
			}
			for _, id := range test.pfc {
				f.Ports[id].Profile = 1
			}
			for _, id := range test.silent {
				f.Ports[id].Profile = 2
			}
			p := &Pass{Fabric: f, Facts: &derive.Facts{}}
			var reached fabric.PortID
			p.pauseFlood(func(e, outside End, path []step) {
				if outside.ID != outer || len(path) == 0 || path[len(path)-1].over != f.Ports[e.ID].Peer {
					t.Errorf("from port %d over %v", outside.ID, path)
				}
				reached = e.ID
			})
			if reached != test.reached {
				t.Errorf("pauses reach port %d, want %d", reached, test.reached)
			}
		})
	}
}
