package derive

import "github.com/rocec/rocec/compiler/fabric"

// grouped lists the rows of each device, whatever order the fabric has them in.
type grouped[ID ~uint32] struct {
	first []uint32 // by DeviceID, with one more at the end
	ids   []ID
}

// groupBy makes the lists of rows 1 to n-1.
func groupBy[ID ~uint32](devices, n int, owner func(ID) fabric.DeviceID) grouped[ID] {
	g := grouped[ID]{first: make([]uint32, devices+1), ids: make([]ID, max(n-1, 0))}
	for id := 1; id < n; id++ {
		g.first[owner(ID(id))+1]++
	}
	for d := range devices {
		g.first[d+1] += g.first[d]
	}
	next := append([]uint32(nil), g.first...)
	for id := 1; id < n; id++ {
		d := owner(ID(id))
		g.ids[next[d]] = ID(id)
		next[d]++
	}
	return g
}

func (g *grouped[ID]) of(d fabric.DeviceID) []ID {
	if int(d)+1 >= len(g.first) {
		return nil
	}
	return g.ids[g.first[d]:g.first[d+1]:g.first[d+1]]
}
