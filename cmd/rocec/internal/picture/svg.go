package picture

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
)

// Sizes of the drawing in pixels. A character of the font is some charWidth wide.
const (
	margin     = 24
	labelWidth = 150 // of the tiers, at the left
	charWidth  = 6.6
	gap        = 10
	lineHeight = 13
	tierGap    = 150 // room for the lines between two tiers
	longest    = 30  // characters of a text that are shown
	narrow     = 24  // boxes of one tier beyond which texts stand upright
	maxLabels  = 80  // lines that are labelled
)

// Colours that people with any colour vision tell apart (Okabe and Ito, Color
// Universal Design, 2008), without the yellow that white paper swallows.
var palette = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8b5a2b"}

// SVG draws the fabric by tiers, cores on top and nodes at the bottom. A
// cabling picture shows the face of each switch with what every port leads to.
func SVG(to io.Writer, f *fabric.Fabric, o Options) error {
	p := arrange(f, o, maxPairs)
	w := bufio.NewWriter(to)
	if o.Kind == Cabling && p.totals.switches <= maxFaces {
		p.faces(w)
		return w.Flush()
	}
	p.draw(w)
	return w.Flush()
}

func head(w io.Writer, width, height float64, title, about string) {
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" font-family="Helvetica, Arial, sans-serif">`+"\n", width, height, width, height)
	fmt.Fprintf(w, "<title>%s</title>\n<desc>%s</desc>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", escaped(title), escaped(about))
	fmt.Fprintf(w, `<text x="%d" y="%d" font-size="15" font-weight="bold">%s</text>`+"\n", margin, margin+4, escaped(title))
}

// placed is a box with its rectangle.
type placed struct {
	x, y, width, height float64
	text                []string
	upright             bool
}

// draw lays the boxes out tier by tier and joins them by straight lines.
func (p *picture) draw(w io.Writer) {
	at, width, height := p.layout()
	head(w, width, height, p.totals.String(), "The fabric by tiers, nodes at the bottom. A line stands for all cables between two boxes.")
	p.lanes(w, at)
	for t := 0; t < p.tiers; t++ {
		if list := p.inTier(t); len(list) > 0 {
			y := at[list[0]].y
			fmt.Fprintf(w, `<text x="%d" y="%.0f" font-size="12" fill="#555">%s</text>`+"\n", margin, y+18, escaped(p.tierName(t)))
			fmt.Fprintf(w, `<text x="%d" y="%.0f" font-size="10" fill="#777">%s</text>`+"\n", margin, y+32, escaped(p.tierCount(t)))
		}
	}
	for i := range p.boxes {
		p.rectangle(w, &p.boxes[i], &at[i])
	}
	fmt.Fprintln(w, "</svg>")
}

// layout finds the place of each box.
func (p *picture) layout() (at []placed, width, height float64) {
	at = make([]placed, len(p.boxes))
	columns := make([]float64, p.columns)
	rows := make([]float64, p.tiers)
	whole := 0.0
	for t := 0; t < p.tiers; t++ {
		list := p.inTier(t)
		need := make([]float64, p.columns)
		sum := 0.0
		for _, i := range list {
			at[i] = size(p.text(&p.boxes[i]), len(list) > narrow)
			rows[t] = max(rows[t], at[i].height)
			sum += at[i].width + gap
			if c := p.boxes[i].column; c >= 0 {
				need[c] += at[i].width + gap
			}
		}
		whole = max(whole, sum)
		for c := range need {
			columns[c] = max(columns[c], need[c])
		}
	}
	starts := make([]float64, p.columns)
	x := float64(margin + labelWidth)
	for c := range columns {
		starts[c] = x
		x += columns[c] + gap
	}
	// Boxes above all columns may need more room than the columns do.
	x = max(x, float64(margin+labelWidth)+whole)
	y := float64(2*margin + 16)
	for t := p.tiers - 1; t >= 0; t-- {
		list := p.inTier(t)
		for first := 0; first < len(list); {
			end := first
			for end < len(list) && p.boxes[list[end]].column == p.boxes[list[first]].column {
				end++
			}
			left, room := float64(margin+labelWidth), x-float64(margin+labelWidth)
			if c := p.boxes[list[first]].column; c >= 0 && p.columns > 1 {
				left, room = starts[c], columns[c]
			}
			spread(at, list[first:end], left, room, y)
			first = end
		}
		y += rows[t] + tierGap
	}
	if p.tiers > 0 {
		y -= tierGap
	}
	// Arcs over the boxes on top stay below the title.
	room := 0.0
	for i := range p.wires {
		if a, b := p.wires[i].a, p.wires[i].b; p.boxes[a].tier == p.tiers-1 && p.boxes[b].tier == p.tiers-1 {
			room = max(room, rise(&at[a], &at[b])-lineHeight)
		}
	}
	for i := range at {
		at[i].y += room
	}
	return at, x + margin, y + room + margin
}

// rise is how high above two boxes of a tier the arc between them goes.
func rise(a, b *placed) float64 {
	return min(60, 14+math.Abs(a.x+a.width/2-b.x-b.width/2)/12)
}

// spread puts boxes side by side with equal room between them.
func spread(at []placed, list []int, left, room, y float64) {
	used := 0.0
	for _, i := range list {
		used += at[i].width
	}
	between := (room - used) / float64(len(list)+1)
	for _, i := range list {
		left += between
		at[i].x, at[i].y = left, y
		left += at[i].width
	}
}

func size(text []string, crowded bool) placed {
	r := placed{text: text}
	chars := 0
	for i := range r.text {
		r.text[i] = short(r.text[i])
		chars = max(chars, len([]rune(r.text[i])))
	}
	long, wide := float64(chars)*charWidth+14, float64(len(r.text))*lineHeight+9
	if crowded && long > wide {
		r.upright = true
		r.width, r.height = wide, long
		return r
	}
	r.width, r.height = long, wide
	return r
}

// short leaves out the middle of a text: names of one row differ at their ends.
func short(s string) string {
	if r := []rune(s); len(r) > longest {
		return string(r[:longest/2-1]) + "…" + string(r[len(r)-longest/2:])
	}
	return s
}

func (p *picture) rectangle(w io.Writer, b *box, r *placed) {
	fill, line, thick := "#eef3f8", "#35556e", 1
	if p.f.Devices[b.devices[0]].Kind == fabric.Node {
		fill, line = "#f3f6ee", "#5b6f3a"
	}
	if b.marked {
		line, thick = "#d00000", 3
	}
	first, last := p.f.Text(p.f.Devices[b.devices[0]].Address), p.f.Text(p.f.Devices[b.devices[len(b.devices)-1]].Address)
	about := first
	if len(b.devices) > 1 {
		about = fmt.Sprintf("%d devices: %s to %s", len(b.devices), first, last)
	}
	fmt.Fprintf(w, `<g><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="3" fill="%s" stroke="%s" stroke-width="%d"/>`, escaped(about), r.x, r.y, r.width, r.height, fill, line, thick)
	for i, t := range r.text {
		weight, size, colour := "normal", 9.5, "#444"
		if i == 0 {
			weight, size, colour = "bold", 11, "#111"
		}
		if r.upright {
			x, y := r.x+14+float64(i)*lineHeight, r.y+r.height/2
			fmt.Fprintf(w, `<text transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle" font-size="%g" font-weight="%s" fill="%s">%s</text>`, x, y, size, weight, colour, escaped(t))
			continue
		}
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="middle" font-size="%g" font-weight="%s" fill="%s">%s</text>`, r.x+r.width/2, r.y+14+float64(i)*lineHeight, size, weight, colour, escaped(t))
	}
	fmt.Fprintln(w, "</g>")
}

// lanes draws the wires below the boxes: a line from the bottom of the upper
// box to the top of the lower one, an arc above two boxes of one tier.
func (p *picture) lanes(w io.Writer, at []placed) {
	order := map[int32]int{}
	for t := p.tiers - 1; t >= 0; t-- {
		for n, i := range p.inTier(t) {
			order[int32(i)] = n
		}
	}
	wide := 1.0
	if len(p.wires) > 200 {
		wide = 0.7
	}
	var on labels
	for i := range p.wires {
		e := &p.wires[i]
		a, b := &at[e.a], &at[e.b]
		colour, thick := palette[order[e.a]%len(palette)], wide
		if e.cables > 1 {
			thick += 0.8
		}
		if e.marked {
			colour, thick = "#d00000", 2.5
		}
		x1, y1, x2, y2 := a.x+a.width/2, a.y+a.height, b.x+b.width/2, b.y
		path := fmt.Sprintf("M%.1f %.1fL%.1f %.1f", x1, y1, x2, y2)
		spots := make([][2]float64, 0, len(along))
		for _, part := range along {
			spots = append(spots, [2]float64{x1 + (x2-x1)*part, y1 + (y2-y1)*part})
		}
		if p.boxes[e.a].tier == p.boxes[e.b].tier {
			y1 = a.y
			up := rise(a, b)
			path = fmt.Sprintf("M%.1f %.1fQ%.1f %.1f %.1f %.1f", x1, y1, (x1+x2)/2, y1-2*up, x2, y2)
			spots = [][2]float64{{(x1 + x2) / 2, y1 - up - 2}}
		}
		fmt.Fprintf(w, `<path d="%s" fill="none" stroke="%s" stroke-width="%.1f" stroke-opacity="0.75"><title>%s</title></path>`+"\n", path, colour, thick, escaped(p.name(&p.boxes[e.a])+" - "+p.name(&p.boxes[e.b])+": "+p.cable(e)))
		on = append(on, label{text: p.onLine(e), whole: p.cable(e), colour: colour, tiers: [2]int{p.boxes[e.a].tier, p.boxes[e.b].tier}, spots: spots, below: b.y})
	}
	on.draw(w)
}

// onLine is the label of a wire: where many columns stand side by side there is
// room for the count only, and the rest is in the title.
func (p *picture) onLine(e *wire) string {
	if p.columns > fewColumns {
		return fmt.Sprint(e.cables)
	}
	return p.cable(e)
}

func (p *picture) tierName(t int) string {
	switch {
	case t == 0:
		return "nodes"
	case t == 1 && p.tiers == 2:
		return "switches"
	case t == 1:
		return "leaves"
	case t == 2:
		return "spines"
	case t == 3:
		return "cores"
	}
	return fmt.Sprintf("tier %d", t)
}

func (p *picture) tierCount(t int) string {
	n := 0
	for _, i := range p.inTier(t) {
		n += len(p.boxes[i].devices)
	}
	if t == 0 {
		return Count(n, "node")
	}
	return Plural(n, "switch", "switches")
}

// Faces of switches.
const (
	maxFaces   = 64
	cellWidth  = 74
	cellHeight = 36
)

// faces draws the front of each switch, its ports in two rows as they mostly
// stand, each with the port it is cabled to. Without switches the nodes are
// drawn.
func (p *picture) faces(w io.Writer) {
	var list []fabric.DeviceID
	for t := p.tiers - 1; t >= 0; t-- {
		if t == 0 && len(list) > 0 {
			break
		}
		for _, i := range p.inTier(t) {
			list = append(list, p.boxes[i].devices...)
		}
	}
	width, height := 0.0, float64(2*margin+20)
	for _, d := range list {
		shown := p.shown(d)
		width = max(width, float64((len(shown)+1)/2*cellWidth+2*margin))
		height += 2*cellHeight + 40
	}
	head(w, max(width, 480), height, p.totals.String(), "The ports of each switch in two rows, with the port at the other end of the cable.")
	y := float64(2*margin + 20)
	for _, d := range list {
		p.face(w, d, y)
		y += 2*cellHeight + 40
	}
	fmt.Fprintln(w, "</svg>")
}

// shown lists the ports of a device that have a place on its front.
func (p *picture) shown(d fabric.DeviceID) []fabric.PortID {
	var list []fabric.PortID
	first, end := p.f.PortsOf(d)
	for id := first; id < end; id++ {
		if p.f.Ports[id].Flags&(fabric.IsLAG|fabric.IsVNIC) == 0 {
			list = append(list, id)
		}
	}
	return list
}

func (p *picture) face(w io.Writer, d fabric.DeviceID, y float64) {
	dev := &p.f.Devices[d]
	about := p.f.Text(dev.Name)
	if dev.Kind == fabric.Switch && dev.Model != 0 {
		about += "  " + p.model(dev)
	}
	colour := "#111"
	if p.boxes[p.boxOf[d]].marked {
		colour = "#d00000"
	}
	fmt.Fprintf(w, `<text x="%d" y="%.0f" font-size="12" font-weight="bold" fill="%s">%s</text>`+"\n", margin, y-5, colour, escaped(about))
	for i, id := range p.shown(d) {
		row := &p.f.Ports[id]
		fill := "#fff"
		lines := []string{p.f.Text(row.Name)}
		if row.Peer != 0 {
			other := &p.f.Devices[p.f.Ports[row.Peer].Device]
			fill = "#dcebf7"
			if other.Kind == fabric.Node {
				fill = "#e6f0d8"
			}
			lines = append(lines, p.f.Text(other.Name), p.f.Text(p.f.Ports[row.Peer].Name))
		}
		if row.Flags&fabric.ShutDown != 0 {
			fill = "#ddd"
		}
		cx, cy := float64(margin+i/2*cellWidth), y+float64(i%2*cellHeight)
		tip := p.f.PortAddress(id)
		if row.Peer != 0 {
			tip += " - " + p.f.PortAddress(row.Peer)
		}
		fmt.Fprintf(w, `<g><title>%s</title><rect x="%.1f" y="%.1f" width="%d" height="%d" fill="%s" stroke="#888" stroke-width="0.6"/>`, escaped(tip), cx, cy, cellWidth-2, cellHeight-2, fill)
		for n, line := range lines {
			weight := "normal"
			if n == 0 {
				weight = "bold"
			}
			fmt.Fprintf(w, `<text x="%.1f" y="%.1f" font-size="8.5" font-weight="%s" fill="#333">%s</text>`, cx+3, cy+10+float64(n*10), weight, escaped(clip(line, 13)))
		}
		fmt.Fprintln(w, "</g>")
	}
}

// clip keeps the end of a text, where names of ports differ.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return "…" + string(r[len(r)-n+1:])
	}
	return s
}

// escaped is text of an element or attribute, without line ends: no line of the file is
// one that a name brought along.
func escaped(s string) string {
	return html.EscapeString(lineEnds.Replace(s))
}

var lineEnds = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
