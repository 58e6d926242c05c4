package picture

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
)

// maxMermaid is below the number of edges at which Mermaid refuses a chart
// unless its user raises maxEdges, 500 (mermaid-js/mermaid,
// packages/mermaid/src/schemas/config.schema.yaml).
const maxMermaid = 490

// Mermaid writes a flow chart. A cabling chart names both ports on each line.
func Mermaid(to io.Writer, f *fabric.Fabric, o Options) error {
	w := bufio.NewWriter(to)
	p := arrange(f, o, maxMermaid)
	cables := o.Kind == Cabling && !p.grouped && len(f.Links)-1 <= maxMermaid
	title, labels := p.legend()
	if cables {
		title = title[:1]
	}
	fmt.Fprintf(w, "---\ntitle: %q\n---\nflowchart TB\n", strings.Join(title, "; "))
	for t := p.tiers - 1; t >= 0; t-- {
		for _, i := range p.inTier(t) {
			b := &p.boxes[i]
			fmt.Fprintf(w, "  b%d[%s]\n", i, mermaidText(p.text(b)...))
			if b.marked {
				fmt.Fprintf(w, "  style b%d stroke:#d00,stroke-width:3px\n", i)
			}
		}
	}
	if cables {
		for l := 1; l < len(f.Links); l++ {
			a, b := f.Links[l].A, f.Links[l].B
			if p.boxes[p.boxOf[f.Ports[a].Device]].tier < p.boxes[p.boxOf[f.Ports[b].Device]].tier {
				a, b = b, a
			}
			fmt.Fprintf(w, "  b%d ---|%s| b%d\n", p.boxOf[f.Ports[a].Device], mermaidText(f.Text(f.Ports[a].Name)+" - "+f.Text(f.Ports[b].Name)), p.boxOf[f.Ports[b].Device])
		}
		return w.Flush()
	}
	for i := range p.wires {
		e := &p.wires[i]
		line := "---"
		if labels[i] != "" {
			line += "|" + mermaidText(labels[i]) + "|"
		}
		fmt.Fprintf(w, "  b%d %s b%d\n", e.a, line, e.b)
	}
	return w.Flush()
}

// mermaidText is a quoted label. What would end it or be read as markup stands
// as an entity code, which Mermaid writes with a number sign (mermaid.js.org,
// Flowchart syntax, Entity codes to escape characters).
func mermaidText(lines ...string) string {
	escape := strings.NewReplacer("#", "#35;", ";", "#59;", "&", "#amp;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", "\n", " ")
	for i, l := range lines {
		lines[i] = escape.Replace(l)
	}
	return `"` + strings.Join(lines, "<br/>") + `"`
}
