package expand

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// portBlocks writes a block for each run of ports that are told the same but
// for their addresses, which then stand in a list.
func (x *expander) portBlocks(w *strings.Builder, topology, tier lang.BlockID, d fabric.DeviceID) {
	type run struct {
		names []string
		text  string
	}
	var runs []run
	at := map[string]int{}
	addresses := map[string]string{}
	written := x.writtenPorts(tier)
	first, end := x.f.PortsOf(d)
	for p := first; p < end; p++ {
		name := x.f.Text(x.f.Ports[p].Name)
		text, address := x.portText(topology, tier, p, written[name])
		if text == "" && address == "" {
			continue
		}
		key := text
		if address != "" {
			addresses[name] = address
			key += "\x00"
		}
		i, ok := at[key]
		if !ok {
			i = len(runs)
			at[key] = i
			runs = append(runs, run{text: text})
		}
		runs[i].names = append(runs[i].names, name)
	}
	for _, r := range runs {
		for _, label := range ranges(r.names) {
			fmt.Fprintf(w, "port %s {\n%s", quoted(label.text), r.text)
			switch list := label.names; {
			case addresses[list[0]] == "":
			case len(list) == 1:
				fmt.Fprintf(w, "address = %s\n", addresses[list[0]])
			default:
				fmt.Fprint(w, "address = [\n")
				for _, n := range list {
					fmt.Fprintf(w, "%s,\n", addresses[n])
				}
				fmt.Fprint(w, "][port.index]\n")
			}
			fmt.Fprint(w, "}\n")
		}
	}
}

// writtenPorts are the port blocks of a tier, by name.
func (x *expander) writtenPorts(tier lang.BlockID) map[string]lang.BlockID {
	blocks := map[string]lang.BlockID{}
	if tier == 0 {
		return blocks
	}
	first, end := x.cfg.Kids(tier)
	for k := first; k < end; k++ {
		if b := x.cfg.Block(k); b.Kind == schema.Port {
			blocks[x.cfg.String(b.Name)] = k
		}
	}
	return blocks
}

// given are the attributes that a topology and its tiers give to the ports that
// they join, where nothing nearer writes them.
var given = []schema.Attr{schema.AQoS, schema.AMTU}

// portText is what the block of one port says, its address apart.
func (x *expander) portText(topology, tier lang.BlockID, p fabric.PortID, block lang.BlockID) (text, address string) {
	var b strings.Builder
	row := &x.f.Ports[p]
	has := map[schema.Attr]bool{}
	if block != 0 {
		say := slices.Clone(x.cfg.AttrsOf(block))
		first, end := x.cfg.Kids(block)
		for k := first; k < end; k++ {
			if x.cfg.Block(k).Kind != schema.Except {
				continue
			}
			for _, a := range x.cfg.AttrsOf(k) { // nearer than the port
				say = append(slices.DeleteFunc(say, func(b lang.Attr) bool { return b.Num == a.Num }), a)
			}
		}
		has = x.attrs(&b, schema.Port, say)
	}
	if row.Link == 0 || x.f.Links[row.Link].Origin != fabric.OfTopology {
		return b.String(), ""
	}
	x.layered(&b, p, has, func(n schema.Attr) bool { return tier != 0 && x.cfg.Attr(tier, n).Kind != lang.Absent })
	if i, ok := x.ports[p]; ok && !has[schema.AAddress] {
		iface := &x.f.Ifaces[i]
		if iface.Addresses.Len() > 0 {
			address = x.prefixes(iface)
		}
		if iface.VRF != 0 && !has[schema.AVRF] {
			fmt.Fprintf(&b, "vrf = %s\n", quoted(x.f.Text(iface.VRF)))
		}
	}
	if row.Native != 0 && x.f.Segments[row.Native].Tier && !has[schema.ANative] {
		fmt.Fprintf(&b, "untagged = %s\n", named("segment", x.f.Text(x.f.Segments[row.Native].Name)))
	}
	return b.String(), address
}

// layered writes what the topology, or a tier at either end, says of a port.
func (x *expander) layered(b *strings.Builder, p fabric.PortID, has map[schema.Attr]bool, nearer func(schema.Attr) bool) {
	row := &x.f.Ports[p]
	link := &x.f.Links[row.Link]
	for _, n := range given {
		if has[n] || nearer(n) {
			continue
		}
		if v := x.cfg.Attr(x.blocks[link.Topology], n); v.Kind != lang.Absent {
			fmt.Fprintf(b, "%s = %s\n", n.Name(), x.valueText(&schema.Lookup(schema.Topology, n.Name()).Type, v))
		}
	}
	from := x.tierBlock(link)
	for _, n := range []schema.Attr{schema.ASpeed, schema.AFEC, schema.AAutoneg, schema.AMACsec} {
		if v := x.cfg.Attr(from, n); from != 0 && !has[n] && v.Kind != lang.Absent {
			fmt.Fprintf(b, "%s = %s\n", n.Name(), x.valueText(&schema.Lookup(schema.Leaf, n.Name()).Type, v))
		}
	}
}

// tierBlock is the block of the tier above a link, which speaks of it.
func (x *expander) tierBlock(link *fabric.Link) lang.BlockID {
	a, b := &x.f.Devices[x.f.Ports[link.A].Device], &x.f.Devices[x.f.Ports[link.B].Device]
	upper := a
	if b.Tier > a.Tier {
		upper = b
	}
	blocks := x.tiers[upper.Topology][upper.Tier]
	if len(blocks) == 1 {
		return blocks[0]
	}
	if int(upper.Index) < len(blocks) {
		return blocks[upper.Index]
	}
	return 0
}

// interfaces writes the loopback and the SVIs that a tier makes.
func (x *expander) interfaces(w *strings.Builder, d fabric.DeviceID) {
	for _, i := range x.ifaces[d] {
		row := &x.f.Ifaces[i]
		if !x.ofTopology(row.Decl) {
			continue
		}
		on := ""
		switch row.Kind {
		case fabric.LoopbackIface:
			on = quoted("loopback")
		case fabric.SVI:
			on = named("segment", x.f.Text(x.f.Segments[row.Segment].Name))
		default:
			continue
		}
		fmt.Fprintf(w, "interface %s {\non = %s\naddress = %s\n", quoted(x.f.Text(row.Name)), on, x.prefixes(row))
		if row.VRF != 0 && row.VRF != x.f.Segments[row.Segment].VRF {
			fmt.Fprintf(w, "vrf = %s\n", quoted(x.f.Text(row.VRF)))
		}
		fmt.Fprint(w, "}\n")
	}
}

// ofTopology reports whether a declaration stands in a topology.
func (x *expander) ofTopology(d fabric.DeclID) bool {
	for ; d != 0; d = x.f.Decls[d].Parent {
		if x.cfg.Decls[d].Kind == schema.Topology {
			return true
		}
	}
	return false
}

func (x *expander) prefixes(row *fabric.Iface) string {
	var list []string
	for _, a := range x.f.Addresses(row) {
		list = append(list, quoted(a.String()))
	}
	if len(list) == 1 {
		return list[0]
	}
	return "[" + strings.Join(list, ", ") + "]"
}
