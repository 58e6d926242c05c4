package picture

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
)

// DOT writes a graph for Graphviz. A cabling graph has one edge for each cable
// in the form of a prescriptive topology, "device":"port" -- "device":"port",
// which ptmd and `cabling` blocks read; there it never goes by groups. Its nodes
// are records of the ports that are cabled, which those readers pass by.
func DOT(to io.Writer, f *fabric.Fabric, o Options) error {
	w := bufio.NewWriter(to)
	fmt.Fprintln(w, "graph fabric {")
	if o.Kind == Cabling {
		fmt.Fprintln(w, "  ranksep=1.2\n  node [shape=record]")
		for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
			dotRecord(w, f, d)
		}
		for l := 1; l < len(f.Links); l++ {
			link := &f.Links[l]
			fmt.Fprintf(w, "  %s -- %s\n", dotEnd(f, link.A), dotEnd(f, link.B))
		}
	} else {
		arrange(f, o, maxPairs).dot(w)
	}
	fmt.Fprintln(w, "}")
	return w.Flush()
}

// dotRecord writes a device as a record that has a field for each cabled port.
func dotRecord(w io.Writer, f *fabric.Fabric, d fabric.DeviceID) {
	var fields []string
	first, end := f.PortsOf(d)
	for p := first; p < end; p++ {
		if f.Ports[p].Link != 0 {
			name := recordText.Replace(f.Text(f.Ports[p].Name))
			fields = append(fields, "<"+name+"> "+name)
		}
	}
	name := f.Text(f.Devices[d].Name)
	if len(fields) > 0 {
		fmt.Fprintf(w, "  %s [label=\"{%s|{%s}}\"]\n", dotText(name), recordText.Replace(name), strings.Join(fields, "|"))
	}
}

func dotEnd(f *fabric.Fabric, p fabric.PortID) string {
	return dotText(f.Text(f.Devices[f.Ports[p].Device].Name)) + ":" + dotText(f.Text(f.Ports[p].Name))
}

func (p *picture) dot(w io.Writer) {
	title, labels := p.legend()
	fmt.Fprintf(w, "  label=%s\n  ranksep=1.2\n  ordering=out\n  node [shape=box]\n", dotText(strings.Join(title, "\n")))
	for t := p.tiers - 1; t >= 0; t-- {
		fmt.Fprintln(w, "  { rank=same")
		for _, i := range p.inTier(t) {
			b := &p.boxes[i]
			style := ""
			if b.marked {
				style = " color=red penwidth=2"
			}
			fmt.Fprintf(w, "    b%d [label=%s%s]\n", i, dotText(strings.Join(p.text(b), "\n")), style)
		}
		fmt.Fprintln(w, "  }")
	}
	for i := range p.wires {
		e := &p.wires[i]
		var style []string
		if labels[i] != "" {
			style = append(style, "label="+dotText(labels[i]))
		}
		if e.marked {
			style = append(style, "color=red")
		}
		fmt.Fprintf(w, "  b%d -- b%d [%s]\n", e.a, e.b, strings.Join(style, " "))
	}
}

// recordText is text in the label of a record, where braces and the like make fields.
var recordText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "{", `\{`, "}", `\}`, "|", `\|`, "<", `\<`, ">", `\>`, "\r\n", " ", "\n", " ", "\r", " ")

// dotText is a double-quoted string of DOT; in it a backslash begins an escape
// of labels, and only the quote ends it.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
