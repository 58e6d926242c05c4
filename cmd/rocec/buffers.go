package main

import (
	"fmt"

	"github.com/rocec/rocec/cmd/rocec/internal/picture"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// buffersJSON is the buffer graph for programs: a part for switches that reach
// each other.
type buffersJSON struct {
	FormatVersion string           `json:"format_version"`
	Acyclic       bool             `json:"acyclic"` // false: some part has a circle, or is not proven
	Parts         []bufferPartJSON `json:"parts"`
}

type bufferPartJSON struct {
	Switches  int          `json:"switches"`
	Links     int          `json:"links"`
	Routing   string       `json:"routing"`
	Assumed   bool         `json:"assumed"` // no routing block says how packets go
	Repair    string       `json:"repair"`
	Proof     string       `json:"proof"` // "folded", "search"; "" if it is not proven
	Vertices  int64        `json:"vertices"`
	Edges     int64        `json:"edges"`
	Circles   []int64      `json:"scc_sizes"` // of more than one vertex, largest first
	Shortest  bool         `json:"cycle_is_shortest"`
	Cycle     []bufferJSON `json:"cycle"`
	Valleys   int64        `json:"valleys"` // edges from down to up
	Lost      int64        `json:"no_way"`  // pairs of a switch and a destination
	NotProven []string     `json:"not_proven"`
}

// bufferJSON is one vertex of the circle; it waits for the next one by Flow.
type bufferJSON struct {
	From     string          `json:"from"`
	To       string          `json:"to"`
	Priority uint8           `json:"priority"`
	Links    []string        `json:"links"`
	Range    *diag.JSONRange `json:"range,omitempty"`
	Flow     *flowJSON       `json:"flow,omitempty"` // none: it is flooded, or was not looked for
}

type flowJSON struct {
	From       string   `json:"from"`
	To         string   `json:"to"`
	Path       []string `json:"path"`
	Priorities []int    `json:"priorities"` // on each hop; -1 is lossy
}

// Beyond this many waits a picture shows what is around the circle only.
const maxWaits = 1200

// buffers prints the buffer graph of every part of the fabric.
func (a *app) buffers(in *inputs, fail []string, format string) error {
	p, err := a.load(in, false)
	if err != nil {
		return err
	}
	if !p.loaded() {
		return a.stopOnErrors(p)
	}
	f := p.res.Fabric
	mask, err := maskOf(f, fail)
	if err != nil {
		return err
	}
	out := buffersJSON{FormatVersion: "1.0", Acyclic: true, Parts: []bufferPartJSON{}}
	drawn := &bufferPicture{f: f, at: map[bufferKey]int{}}
	for _, part := range paths.Parts(f) {
		j := p.buffersOf(part, mask, format, drawn)
		out.Acyclic = out.Acyclic && len(j.Circles)+len(j.NotProven) == 0
		out.Parts = append(out.Parts, j)
	}
	if format == "json" {
		return encodeJSON(a.out, out)
	}
	return picture.BufferFormats[format](a.out, drawn.picture(out.Parts))
}

// buffersOf counts the graph of one part, and draws it unless only counts are
// asked for.
func (p *project) buffersOf(part *paths.Part, mask *fabric.Mask, format string, drawn *bufferPicture) bufferPartJSON {
	net, o, down := &part.Net, part.Options(p.res.Fabric.Analysis.BudgetSteps), part.Down(mask)
	if homes := part.HomedDown(mask); homes != nil || part.Homed.Crossed() { // nodes that go round the failure, and floods
		net, o, down = &part.Homed.Net, part.HomedOptions(o.Steps), homes
	}
	o.Down, o.Search = down, true
	j := bufferPartJSON{
		Switches: part.Net.Switches, Links: len(part.Net.Links), Routing: part.Routing.Base.String(), Assumed: part.Assumed, Repair: "global",
		Circles: []int64{}, Cycle: []bufferJSON{}, NotProven: []string{},
	}
	if part.Routing.LocalRepair {
		j.Repair = "local"
	}
	for _, g := range part.Gaps {
		if !g.Failing || o.Down != nil {
			j.NotProven = append(j.NotProven, g.What)
		}
	}
	b, err := paths.Deadlock(net, o)
	if err != nil {
		j.NotProven = append(j.NotProven, err.Error())
		return j
	}
	j.Proof, j.Vertices, j.Edges, j.Valleys, j.Lost, j.Shortest = b.Proof.String(), b.Vertices, b.Edges, b.Valleys, b.Holes, b.Shortest
	j.Circles, j.Cycle = append(j.Circles, b.Circles...), append(j.Cycle, p.cycle(part, b)...)
	if format != "json" {
		drawn.part(part, net, o, b)
	}
	return j
}

// cycle is the shortest circle of a part with its places and flows.
func (p *project) cycle(part *paths.Part, b *paths.Buffers) (list []bufferJSON) {
	f := p.res.Fabric
	address := func(s paths.Switch) string { return f.Text(f.Devices[part.Device(s)].Address) }
	for i, v := range b.Cycle {
		j := bufferJSON{From: address(v.From), To: address(v.To), Priority: v.Priority, Links: []string{}}
		for k, l := range part.LinksOf(v) {
			j.Links = append(j.Links, f.LinkAddress(l))
			if k == 0 {
				j.Range = p.rangeOf(f.LinkLabel(l, schema.AEnds, ""))
			}
		}
		if i < len(b.Flows) && len(b.Flows[i].Path) > 0 {
			j.Flow = &flowJSON{From: address(b.Flows[i].From), To: address(b.Flows[i].To)}
			for _, s := range b.Flows[i].Path {
				j.Flow.Path = append(j.Flow.Path, address(s))
			}
			for _, pr := range b.Flows[i].Priority {
				n := int(pr)
				if pr == paths.Lossy {
					n = -1
				}
				j.Flow.Priorities = append(j.Flow.Priorities, n)
			}
		}
		list = append(list, j)
	}
	return list
}

// rangeOf is the place of a label for programs.
func (p *project) rangeOf(l diag.Label) *diag.JSONRange {
	return diag.JSON(diag.List{{Labels: []diag.Label{l}}}, p.view, ruleOf)[0].Range
}

// bufferKey is a buffer of the whole fabric.
type bufferKey struct {
	from, to fabric.DeviceID
	priority uint8
}

// bufferPicture collects what is drawn of all parts.
type bufferPicture struct {
	f   *fabric.Fabric
	out picture.Buffers
	at  map[bufferKey]int
}

// part adds the buffers of a part: all of them, or with many those that wait for
// a buffer of the circle or are waited for by one.
func (d *bufferPicture) part(part *paths.Part, net *paths.Net, o paths.Options, b *paths.Buffers) {
	few := b.Edges <= maxWaits
	if !few && len(b.Cycle) == 0 {
		return
	}
	marked, step := map[paths.Vertex]bool{}, map[[2]paths.Vertex]bool{}
	for i, v := range b.Cycle {
		marked[v], step[[2]paths.Vertex{v, b.Cycle[(i+1)%len(b.Cycle)]}] = true, true
	}
	top := uint8(0)
	for _, l := range net.Level {
		top = max(top, l)
	}
	name := func(s paths.Switch) string { return d.f.Text(d.f.Devices[part.Device(s)].Name) }
	node := func(v paths.Vertex) int {
		k := bufferKey{part.Device(v.From), part.Device(v.To), v.Priority}
		i, ok := d.at[k]
		if !ok {
			i = len(d.out.Nodes)
			d.at[k] = i
			row := int(net.Level[v.From])
			if to := net.Level[v.To]; to < net.Level[v.From] {
				row = 2*int(top) - int(to)
			}
			d.out.Nodes = append(d.out.Nodes, picture.Buffer{Name: name(v.From) + " > " + name(v.To), Note: fmt.Sprintf("priority %d", v.Priority), Row: row, Marked: marked[v]})
		}
		return i
	}
	o.Whole = true
	o.Each = func(v, w paths.Vertex) {
		if on := step[[2]paths.Vertex{v, w}]; few || on || len(d.out.Waits) < maxWaits && (marked[v] || marked[w]) {
			d.out.Waits = append(d.out.Waits, picture.Wait{From: node(v), To: node(w), Marked: on})
		}
	}
	_, _ = paths.Deadlock(net, o) // it went through before
}

// picture is what was collected, with a title that says how much that is.
func (d *bufferPicture) picture(parts []bufferPartJSON) *picture.Buffers {
	vertices, edges, circles := int64(0), int64(0), 0
	for _, p := range parts {
		vertices, edges, circles = vertices+p.Vertices, edges+p.Edges, circles+len(p.Circles)
	}
	d.out.Title = fmt.Sprintf("%d lossless buffers, %d waits, no circle", vertices, edges)
	if circles > 0 {
		d.out.Title = fmt.Sprintf("%d lossless buffers, %d waits, a circle", vertices, edges)
	}
	if shown := len(d.out.Waits); int64(shown) < edges {
		d.out.Title += fmt.Sprintf(" (%d waits are drawn)", shown)
	}
	return &d.out
}
