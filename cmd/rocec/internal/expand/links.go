package expand

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
)

// links writes a block for each pair of a switch and a family of devices, or of
// two switches, whose cables are alike.
func (x *expander) links(w *strings.Builder, t fabric.TopologyID) {
	type group struct {
		a, b  string // what stands before the port of each end; a may take the key of a node
		cable string
		rows  []string
	}
	var groups []*group
	at := map[[3]string]*group{}
	for l := 1; l < len(x.f.Links); l++ {
		link := &x.f.Links[l]
		if link.Origin != fabric.OfTopology || link.Topology != t {
			continue
		}
		lower, upper := link.A, link.B
		if x.f.Devices[x.f.Ports[lower].Device].Tier > x.f.Devices[x.f.Ports[upper].Device].Tier {
			lower, upper = upper, lower
		}
		low := &x.f.Devices[x.f.Ports[lower].Device]
		up, down := x.f.Text(x.f.Ports[upper].Name), x.f.Text(x.f.Ports[lower].Name)
		ref, row := x.device(x.f.Ports[lower].Device), ""
		if family, key, keyed := strings.Cut(ref, "["); low.Kind == fabric.Node && keyed {
			ref = family + "[each.value[0]].nic[each.value[1]]"
			row = fmt.Sprintf("%s = [%s, %s]", quoted(up), strings.TrimSuffix(key, "]"), quoted(down))
		} else {
			word := "port"
			if low.Kind == fabric.Node {
				word = "nic"
			}
			ref += "." + word + "[each.value]"
			row = fmt.Sprintf("%s = %s", quoted(up), quoted(down))
		}
		high, word := x.device(x.f.Ports[upper].Device), "port"
		if x.f.Devices[x.f.Ports[upper].Device].Kind == fabric.Node {
			word = "nic"
		}
		k := [3]string{ref, high + "." + word + "[each.key]", x.cable(link)}
		g := at[k]
		if g == nil {
			g = &group{a: k[0], b: k[1], cable: k[2]}
			at[k] = g
			groups = append(groups, g)
		}
		g.rows = append(g.rows, row)
	}
	for i, g := range groups {
		fmt.Fprintf(w, "link %s {\nfor_each = {\n%s\n}\nends = [%s, %s]\n", quoted(fmt.Sprintf("%s_%d", x.f.Text(x.f.Topologies[t].Name), i+1)), strings.Join(g.rows, "\n"), g.a, g.b)
		if g.cable != "" {
			fmt.Fprintf(w, "cable = %s\n", g.cable)
		}
		fmt.Fprint(w, "}\n\n")
	}
}

func (x *expander) cable(link *fabric.Link) string {
	var items []string
	if link.Media != 0 {
		items = append(items, "media = "+quoted(x.f.Text(x.f.Media[link.Media].Name)))
	}
	if link.CableMm != 0 {
		items = append(items, "length = "+quoted(metres(int64(link.CableMm))))
	}
	if link.DelayNs != 0 {
		items = append(items, fmt.Sprintf("delay = %q", fmt.Sprintf("%dns", link.DelayNs)))
	}
	if len(items) == 0 {
		return ""
	}
	return braces(items)
}
