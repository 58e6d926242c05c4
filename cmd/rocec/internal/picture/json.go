package picture

import (
	"encoding/json"
	"io"

	"github.com/rocec/rocec/compiler/fabric"
)

type jsonPicture struct {
	Nodes    int        `json:"nodes"`
	NICs     int        `json:"nics"`
	Switches int        `json:"switches"`
	Cables   int        `json:"cables"`
	Grouped  bool       `json:"grouped"` // a box is a group of devices that are alike
	Boxes    []jsonBox  `json:"boxes"`
	Wires    []jsonWire `json:"wires"`
}

type jsonBox struct {
	Name    string   `json:"name"`
	Tier    int      `json:"tier"` // nodes are in tier 0
	Devices []string `json:"devices"`
}

type jsonWire struct {
	A      int      `json:"a"` // index of a box, the upper one
	B      int      `json:"b"`
	Cables int      `json:"cables"`
	Ports  []string `json:"ports,omitempty"` // of a cabling picture: "port - port", the upper box's first
}

// JSON writes boxes and wires for other programs to draw. A cabling picture
// names the ports of every cable.
func JSON(to io.Writer, f *fabric.Fabric, o Options) error {
	p := arrange(f, o, maxPairs)
	out := jsonPicture{p.totals.nodes, p.totals.nics, p.totals.switches, p.totals.cables, p.grouped, make([]jsonBox, len(p.boxes)), make([]jsonWire, len(p.wires))}
	for i := range p.boxes {
		b := &p.boxes[i]
		out.Boxes[i] = jsonBox{Name: p.name(b), Tier: b.tier}
		for _, d := range b.devices {
			out.Boxes[i].Devices = append(out.Boxes[i].Devices, f.Text(f.Devices[d].Address))
		}
	}
	at := map[[2]int32]int{}
	for i, w := range p.wires {
		out.Wires[i] = jsonWire{A: int(w.a), B: int(w.b), Cables: w.cables}
		at[[2]int32{w.a, w.b}] = i
	}
	if o.Kind == Cabling {
		for l := 1; l < len(f.Links); l++ {
			a, b := f.Links[l].A, f.Links[l].B
			i, ok := at[[2]int32{p.boxOf[f.Ports[a].Device], p.boxOf[f.Ports[b].Device]}]
			if !ok {
				a, b = b, a
				i = at[[2]int32{p.boxOf[f.Ports[a].Device], p.boxOf[f.Ports[b].Device]}]
			}
			out.Wires[i].Ports = append(out.Wires[i].Ports, f.PortAddress(a)+" - "+f.PortAddress(b))
		}
	}
	enc := json.NewEncoder(to)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}
