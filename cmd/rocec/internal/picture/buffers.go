package picture

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Buffers is a buffer graph to draw: which lossless buffer waits for which.
type Buffers struct {
	Title string
	Nodes []Buffer
	Waits []Wait
}

// Buffer is a lossless buffer. Rows stand below each other: where traffic climbs
// and descends, each waits for one further down.
type Buffer struct {
	Name   string // "leaf1 > spine2"
	Note   string // "priority 3"
	Row    int
	Marked bool // of a circle
}

// Wait is that the first of two buffers waits for the second, by index.
type Wait struct {
	From, To int
	Marked   bool
}

// BufferFormats are the formats of a buffer graph.
var BufferFormats = map[string]func(io.Writer, *Buffers) error{"dot": buffersDOT, "mermaid": buffersMermaid, "svg": buffersSVG}

func buffersDOT(to io.Writer, b *Buffers) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "digraph buffers {\n  label=%s\n  node [shape=box]\n", dotText(b.Title))
	for i, n := range b.Nodes {
		style := ""
		if n.Marked {
			style = " color=red penwidth=2"
		}
		fmt.Fprintf(w, "  b%d [label=%s%s]\n", i, dotText(n.Name+"\n"+n.Note), style)
	}
	for _, e := range b.Waits {
		style := ""
		if e.Marked {
			style = " [color=red penwidth=2]"
		}
		fmt.Fprintf(w, "  b%d -> b%d%s\n", e.From, e.To, style)
	}
	fmt.Fprintln(w, "}")
	return w.Flush()
}

func buffersMermaid(to io.Writer, b *Buffers) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "---\ntitle: %s\n---\nflowchart TB\n", b.Title)
	for i, n := range b.Nodes {
		fmt.Fprintf(w, "  b%d[%s]\n", i, mermaidText(n.Name, n.Note))
		if n.Marked {
			fmt.Fprintf(w, "  style b%d stroke:#d00,stroke-width:3px\n", i)
		}
	}
	for i, e := range b.Waits {
		fmt.Fprintf(w, "  b%d --> b%d\n", e.From, e.To)
		if e.Marked {
			fmt.Fprintf(w, "  linkStyle %d stroke:#d00,stroke-width:3px\n", i)
		}
	}
	return w.Flush()
}

const (
	bufferHeight = 34
	rowGap       = 96
	lineGap      = 64 // between lines of one row
	maxInLine    = 16
)

// lines are the buffers of each row, the topmost first; a long row goes on in
// lines of its own. most is how many the longest has.
func (b *Buffers) lines() (lines [][]int, most int) {
	rows := map[int][]int{}
	for i, n := range b.Nodes {
		rows[n.Row] = append(rows[n.Row], i)
	}
	most = 1
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		b.round(rows[row])
		for line := range slices.Chunk(rows[row], maxInLine) {
			lines, most = append(lines, line), max(most, len(line))
		}
	}
	return lines, most
}

// round puts the buffers of a circle first, each beside the one that it waits for.
func (b *Buffers) round(row []int) {
	next := map[int]int{}
	for _, e := range b.Waits {
		if e.Marked {
			next[e.From] = e.To
		}
	}
	place, n := map[int]int{}, 0
	for _, i := range row {
		for b.Nodes[i].Marked {
			if _, seen := place[i]; seen {
				break
			}
			place[i] = n
			n++
			to, ok := next[i]
			if !ok {
				break
			}
			i = to
		}
	}
	for _, i := range row {
		if _, marked := place[i]; !marked {
			place[i] = n
		}
	}
	slices.SortStableFunc(row, func(i, j int) int { return place[i] - place[j] })
}

// arc leads over the boxes of a line to one further on, and under them to one
// further back.
func arc(x1, x2, top float64) string {
	y, high := top, -min(lineGap/2, 12+(x2-x1)/16)
	if x2 < x1 {
		y, high = top+bufferHeight, min(lineGap/2, 12+(x1-x2)/16)
	}
	return fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x1, y, x1, y+1.4*high, x2, y+1.4*high, x2, y)
}

func buffersSVG(to io.Writer, b *Buffers) error {
	w := bufio.NewWriter(to)
	wide := 60.0
	for _, n := range b.Nodes {
		wide = max(wide, float64(max(len([]rune(n.Name)), len([]rune(n.Note))))*charWidth+14)
	}
	lines, most := b.lines()
	width := 2*margin + float64(most)*(wide+gap)
	x, y := make([]float64, len(b.Nodes)), make([]float64, len(b.Nodes))
	at := float64(2*margin + 16 + lineGap/2)
	for r, line := range lines {
		if r > 0 {
			at += lineGap
			if b.Nodes[line[0]].Row != b.Nodes[lines[r-1][0]].Row {
				at += rowGap - lineGap
			}
		}
		between := (width - 2*margin - float64(len(line))*wide) / float64(len(line)+1)
		for k, i := range line {
			x[i], y[i] = margin+between*float64(k+1)+wide*float64(k), at
		}
	}
	head(w, max(width, 480), at+margin+bufferHeight+lineGap/2, b.Title, "Each box is a lossless buffer, and an arrow leads to one that it waits for. A circle of them is red.")
	fmt.Fprintln(w, `<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>`)
	for _, marked := range []bool{false, true} { // what is marked lies on top
		for _, e := range b.Waits {
			if e.Marked != marked {
				continue
			}
			colour, thick := "#8899aa", 0.8
			if marked {
				colour, thick = "#d00000", 2.5
			}
			x1, y1, x2, y2 := x[e.From]+wide/2, y[e.From]+bufferHeight, x[e.To]+wide/2, y[e.To]
			path := fmt.Sprintf("M%.1f %.1fL%.1f %.1f", x1, y1, x2, y2)
			switch {
			case y[e.From] == y[e.To] && e.From != e.To:
				path = arc(x1, x2, y2)
			case y2 <= y1: // back up: round the side
				side := max(x1, x2) + wide*0.7
				path = fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x1, y1, side, y1+30, side, y2-30, x2, y2)
			}
			fmt.Fprintf(w, `<path d="%s" fill="none" stroke="%s" stroke-width="%.1f" marker-end="url(#a)"><title>%s</title></path>`+"\n",
				path, colour, thick, escaped(b.Nodes[e.From].Name+" waits for "+b.Nodes[e.To].Name))
		}
	}
	for i, n := range b.Nodes {
		line, thick := "#35556e", 1
		if n.Marked {
			line, thick = "#d00000", 3
		}
		fmt.Fprintf(w, `<g><rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="3" fill="#eef3f8" stroke="%s" stroke-width="%d"/>`, x[i], y[i], wide, bufferHeight, line, thick)
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="middle" font-size="11" font-weight="bold" fill="#111">%s</text>`, x[i]+wide/2, y[i]+14, escaped(n.Name))
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="middle" font-size="9.5" fill="#444">%s</text></g>`+"\n", x[i]+wide/2, y[i]+27, escaped(n.Note))
	}
	fmt.Fprintln(w, "</svg>")
	return w.Flush()
}
