// Package picture draws a compiled fabric: its devices by tiers and the cables
// between them, as DOT, Mermaid or SVG. A small fabric is drawn device by
// device; a large one by groups of devices that are alike and belong together,
// with counts. It takes a fabric and returns text; it reads nothing and judges
// nothing.
package picture

import (
	"fmt"
	"io"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
)

// Kind is what a picture shows of the cables.
type Kind uint8

// Physical: which devices are joined, by how many cables. Cabling: which port
// is cabled to which.
const (
	Physical Kind = iota
	Cabling
)

// Options choose what is drawn.
type Options struct {
	Kind      Kind
	Highlight map[fabric.DeviceID]bool
}

// Formats are the names of the formats, each with what writes it.
var Formats = map[string]func(io.Writer, *fabric.Fabric, Options) error{
	"dot": DOT, "json": JSON, "mermaid": Mermaid, "svg": SVG,
}

// Beyond these a picture goes by groups: more boxes than a screen holds, more
// lines than an eye or a renderer follows.
const (
	maxDevices = 160
	maxPairs   = 2500
	fewColumns = 16 // their texts can lie
	maxColumns = 32
)

// picture is a fabric as boxes in tiers, the nodes in tier 0.
type picture struct {
	f       *fabric.Fabric
	boxes   []box
	wires   []wire // between boxes, the upper one first; by (a, b)
	tiers   int
	columns int
	grouped bool
	boxOf   []int32 // by DeviceID
	totals  totals
}

// box is one device, or a group of devices that are alike.
type box struct {
	tier, column int
	devices      []fabric.DeviceID
	marked       bool
}

// wire is all cables between two boxes.
type wire struct {
	a, b   int32
	cables int
	sample fabric.LinkID
	alike  bool // all have the speed, medium and length of the sample
	marked bool
}

type totals struct{ nodes, nics, switches, cables int }

// arrange puts devices into boxes. limit is the largest number of lines.
func arrange(f *fabric.Fabric, o Options, maxLines int) *picture {
	p := &picture{f: f, boxOf: make([]int32, len(f.Devices))}
	tier := tiersOf(f)
	for d := 1; d < len(f.Devices); d++ {
		p.tiers = max(p.tiers, tier[d]+1)
		if f.Devices[d].Kind == fabric.Node {
			p.totals.nodes++
		} else {
			p.totals.switches++
		}
	}
	p.totals.nics, p.totals.cables = len(f.NICs)-1, len(f.Links)-1
	p.byDevice(tier)
	if len(f.Devices)-1 > maxDevices || len(p.wires) > maxLines {
		p.byGroup(tier)
	}
	for i := range p.boxes {
		for _, d := range p.boxes[i].devices {
			p.boxes[i].marked = p.boxes[i].marked || o.Highlight[d]
		}
	}
	for i := range p.wires {
		w := &p.wires[i]
		w.marked = p.boxes[w.a].marked && p.boxes[w.b].marked
	}
	return p
}

// byDevice makes a box of each device.
func (p *picture) byDevice(tier []int) {
	p.boxes = make([]box, 0, len(p.f.Devices))
	for d := 1; d < len(p.f.Devices); d++ {
		p.boxOf[d] = int32(len(p.boxes))
		p.boxes = append(p.boxes, box{tier: tier[d], devices: []fabric.DeviceID{fabric.DeviceID(d)}})
	}
	p.columns = 1
	p.join()
}

// byGroup makes a box of all devices of one tier that are alike and hang
// together when the tiers above are taken away: the pods of a fabric. It takes
// the finest division whose columns can still be told apart.
func (p *picture) byGroup(tier []int) {
	p.grouped = true
	best, columns := partition{}, 0
	for _, most := range []int{fewColumns, maxColumns} {
		if columns > 1 {
			break
		}
		for cut := 1; cut <= p.tiers; cut++ {
			if part := divide(p.f, tier, cut); part.columns <= most && part.columns >= columns {
				best, columns = part, part.columns
			}
		}
	}
	p.columns = max(columns, 1)
	type key struct {
		tier, column int
		like         likeness
	}
	at := map[key]int32{}
	p.boxes = nil
	for d := 1; d < len(p.f.Devices); d++ {
		k := key{tier: tier[d], column: -1, like: likenessOf(p.f, fabric.DeviceID(d))}
		if best.of != nil {
			k.column = best.of[d]
		}
		i, ok := at[k]
		if !ok {
			i = int32(len(p.boxes))
			at[k] = i
			p.boxes = append(p.boxes, box{tier: k.tier, column: k.column})
		}
		p.boxOf[d] = i
		p.boxes[i].devices = append(p.boxes[i].devices, fabric.DeviceID(d))
	}
	p.join()
}

// join draws the wires between boxes.
func (p *picture) join() {
	at := map[[2]int32]int{}
	p.wires = nil
	for l := 1; l < len(p.f.Links); l++ {
		link := &p.f.Links[l]
		a, b := p.boxOf[p.f.Ports[link.A].Device], p.boxOf[p.f.Ports[link.B].Device]
		if p.boxes[a].tier < p.boxes[b].tier || p.boxes[a].tier == p.boxes[b].tier && a > b {
			a, b = b, a
		}
		i, ok := at[[2]int32{a, b}]
		if !ok {
			i = len(p.wires)
			at[[2]int32{a, b}] = i
			p.wires = append(p.wires, wire{a: a, b: b, sample: fabric.LinkID(l), alike: true})
		}
		w := &p.wires[i]
		w.cables++
		s := &p.f.Links[w.sample]
		w.alike = w.alike && s.CableMm == link.CableMm && s.Media == link.Media && p.f.Ports[s.A].Mbps == p.f.Ports[link.A].Mbps
	}
}

// name is what a box is called: its device, or how many there are of what.
func (p *picture) name(b *box) string {
	if !p.grouped {
		return p.f.Text(p.f.Devices[b.devices[0]].Name)
	}
	d := &p.f.Devices[b.devices[0]]
	what := "nodes"
	if d.Kind == fabric.Switch {
		what = "x " + p.model(d)
	}
	if len(b.devices) == 1 {
		return p.f.Text(d.Name)
	}
	return fmt.Sprintf("%d %s", len(b.devices), what)
}

// lines say what a box holds, below its name.
func (p *picture) lines(b *box) []string {
	first, last := &p.f.Devices[b.devices[0]], &p.f.Devices[b.devices[len(b.devices)-1]]
	var out []string
	if len(b.devices) > 1 {
		out = append(out, p.f.Text(first.Name)+" ... "+p.f.Text(last.Name))
	} else if first.Kind == fabric.Switch && first.Model != 0 {
		out = append(out, p.model(first))
	}
	if os := p.f.Text(first.OSName); os != "" {
		out = append(out, strings.TrimSpace(os+" "+p.f.Text(first.OSVersion)))
	}
	if first.Kind == fabric.Node {
		out = append(out, Count(int(first.NPorts), "NIC"))
	}
	return out
}

// text is the name of a box and what it holds; the name alone where many devices
// stand side by side.
func (p *picture) text(b *box) []string {
	out := []string{p.name(b)}
	if p.grouped || len(p.inTier(b.tier)) <= narrow {
		out = append(out, p.lines(b)...)
	}
	return out
}

func (p *picture) model(d *fabric.Device) string {
	if d.Model == 0 {
		return "switches"
	}
	return p.f.Text(p.f.Models[d.Model].Name)
}

// cable says what the cables of a wire are: "8 x 400G dac 3 m".
func (p *picture) cable(w *wire) string {
	s := &p.f.Links[w.sample]
	text := ""
	if w.cables > 1 {
		text = fmt.Sprintf("%d x ", w.cables)
	}
	if !w.alike {
		return text + "cables"
	}
	text += Speed(p.f.Ports[s.A].Mbps)
	if m := p.f.Text(p.f.Media[s.Media].Name); m != "" {
		text += " " + m
	}
	if s.CableMm > 0 {
		text += " " + Metres(s.CableMm)
	}
	return strings.TrimSpace(text)
}

// legend is the title of a picture whose renderer makes room for each label, and
// the label of each wire. Of many wires, what all between two tiers have in common
// is said in the title, and they have none: it would tear the boxes apart.
func (p *picture) legend() (title, onWires []string) {
	var all labels
	for i := range p.wires {
		w := &p.wires[i]
		all = append(all, label{whole: p.cable(w), tiers: [2]int{p.boxes[w.a].tier, p.boxes[w.b].tier}})
		onWires = append(onWires, all[i].whole)
	}
	title = []string{p.totals.String()}
	if len(all) <= maxLabels {
		return title, onWires
	}
	for _, tiers := range all.gaps() {
		common, lines := all.common(tiers)
		if common == nil || lines == 1 {
			continue
		}
		title = append(title, fmt.Sprintf("each line from %s to %s: %s", p.tierName(tiers[0]), p.tierName(tiers[1]), common.whole))
		for i := range all {
			if all[i].tiers == tiers {
				onWires[i] = ""
			}
		}
	}
	return title, onWires
}

func (t totals) String() string {
	return fmt.Sprintf("%s, %s, %s, %s", Count(t.nodes, "node"), Count(t.nics, "NIC"), Plural(t.switches, "switch", "switches"), Count(t.cables, "cable"))
}

// Count is a number with its word, which takes an s: "1 node", "2 nodes".
func Count(n int, what string) string { return Plural(n, what, what+"s") }

// Plural is a number with one of two words.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Speed is a rate as operators write it: "400G", "" if it is not known.
func Speed(mbps uint32) string {
	if mbps == 0 {
		return ""
	}
	return fabric.Speed(mbps)
}

// Metres is a length as operators write it: "1.5 m".
func Metres(mm uint32) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%03d", mm/1000, mm%1000), "0"), ".") + " m"
}
