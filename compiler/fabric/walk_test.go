package fabric

import (
	"fmt"
	"testing"
)

// ring is n devices in a ring, one port towards each neighbour.
func ring(n int) *Fabric {
	f := &Fabric{Devices: make([]Device, n+1), Ports: make([]Port, 1), Links: make([]Link, 1)}
	for d := 1; d <= n; d++ {
		f.Ports = append(f.Ports, Port{Device: DeviceID(d)}, Port{Device: DeviceID(d)})
	}
	for d := range n {
		f.Links = append(f.Links, Link{A: PortID(2*d + 2), B: PortID(2*((d+1)%n) + 1)})
	}
	return f
}

func TestReachTakesAMask(t *testing.T) {
	f := ring(6)
	a := f.Adjacency()
	reach := func(m *Mask) string {
		var text string
		f.Reach(a, 1, m, func(d DeviceID, hops int) { text += fmt.Sprintf("%d@%d ", d, hops) })
		return text
	}
	for want, m := range map[string]*Mask{
		"1@0 2@1 6@1 3@2 5@2 4@3 ": nil,
		"1@0 6@1 5@2 4@3 3@4 2@5 ": {Links: map[LinkID]bool{1: true}},
		"1@0 2@1 6@1 5@2 4@3 ":     {Devices: map[DeviceID]bool{3: true}},
		"1@0 2@1 3@2 4@3 ":         {Links: map[LinkID]bool{6: true}, Devices: map[DeviceID]bool{5: true}},
		"":                         {Devices: map[DeviceID]bool{1: true}},
	} {
		if got := reach(m); got != want {
			t.Errorf("mask %v: reached %q, want %q", m, got, want)
		}
	}
}

func TestAdjacencyHasBothEnds(t *testing.T) {
	f := ring(5)
	a := f.Adjacency()
	for d := DeviceID(1); d <= 5; d++ {
		if n := len(a.Of(d)); n != 2 {
			t.Errorf("device %d has %d links, want 2", d, n)
		}
	}
}
