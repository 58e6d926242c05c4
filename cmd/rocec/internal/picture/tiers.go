package picture

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// tiersOf gives every device its tier: nodes 0, and a switch one more than the
// nearest device below it, unless a topology says where it stands.
func tiersOf(f *fabric.Fabric) []int {
	const unknown = 1 << 30
	tier := make([]int, len(f.Devices))
	var queue []fabric.DeviceID
	for d := 1; d < len(f.Devices); d++ {
		tier[d] = unknown
		if f.Devices[d].Kind == fabric.Node {
			tier[d] = 0
			queue = append(queue, fabric.DeviceID(d))
		}
	}
	adjacent := f.Adjacency()
	for ; len(queue) > 0; queue = queue[1:] {
		for _, l := range adjacent.Of(queue[0]) {
			if next := otherEnd(f, l, queue[0]); tier[next] == unknown {
				tier[next] = tier[queue[0]] + 1
				queue = append(queue, next)
			}
		}
	}
	for d := 1; d < len(f.Devices); d++ {
		if t := f.Devices[d].Tier; t != fabric.NoTier {
			tier[d] = int(t)
		}
		if tier[d] == unknown {
			tier[d] = 1
		}
	}
	return tier
}

func otherEnd(f *fabric.Fabric, l fabric.LinkID, d fabric.DeviceID) fabric.DeviceID {
	if a := f.Ports[f.Links[l].A].Device; a != d {
		return a
	}
	return f.Ports[f.Links[l].B].Device
}

// partition puts the devices below a tier into columns: those that hang
// together without the tiers from there on. The others are in column -1.
type partition struct {
	of      []int // by DeviceID
	columns int
}

func divide(f *fabric.Fabric, tier []int, cut int) partition {
	root := make([]int, len(f.Devices))
	for d := range root {
		root[d] = d
	}
	find := func(d int) int {
		for root[d] != d {
			root[d] = root[root[d]]
			d = root[d]
		}
		return d
	}
	for l := 1; l < len(f.Links); l++ {
		a, b := int(f.Ports[f.Links[l].A].Device), int(f.Ports[f.Links[l].B].Device)
		if tier[a] < cut && tier[b] < cut {
			a, b = find(a), find(b)
			root[max(a, b)] = min(a, b)
		}
	}
	p := partition{of: make([]int, len(f.Devices))}
	number := map[int]int{}
	for d := 1; d < len(f.Devices); d++ {
		p.of[d] = -1
		if tier[d] >= cut {
			continue
		}
		r := find(d)
		n, ok := number[r]
		if !ok {
			n = len(number)
			number[r] = n
		}
		p.of[d] = n
	}
	p.columns = len(number)
	return p
}

// likeness is what devices of one group have in common.
type likeness struct {
	kind        fabric.DeviceKind
	model       fabric.ModelID
	os, version fabric.Str
	role        fabric.Str
	ports       uint32
}

func likenessOf(f *fabric.Fabric, id fabric.DeviceID) likeness {
	d := &f.Devices[id]
	k := likeness{kind: d.Kind, model: d.Model, os: d.OSName, version: d.OSVersion, role: d.Role}
	if d.Kind == fabric.Node {
		k.ports = d.NPorts
	}
	return k
}

// inTier lists the boxes of a tier from left to right.
func (p *picture) inTier(t int) []int {
	var list []int
	for i := range p.boxes {
		if p.boxes[i].tier == t {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return p.boxes[a].column - p.boxes[b].column })
	return list
}
