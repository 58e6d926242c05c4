package expand

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// told is one attribute that topologies give to the NICs of one block.
type told struct {
	values map[fabric.PortID]string
	nics   []fabric.PortID
}

// nics adds to the blocks of NICs what topologies tell them: one attribute where
// all NICs of a block are told the same, else a look into a local table that
// stands beside the topology.
func (x *expander) nics(text map[fabric.DeclID]*strings.Builder) {
	all := map[fabric.DeclID]int{}
	said := map[fabric.DeclID]map[string]*told{}
	home := map[fabric.DeclID]fabric.TopologyID{}
	for p := 1; p < len(x.f.Ports); p++ {
		row := &x.f.Ports[p]
		if row.NIC == 0 {
			continue
		}
		all[row.Decl]++
		if row.Link == 0 || x.f.Links[row.Link].Origin != fabric.OfTopology {
			continue
		}
		x.module = x.f.Text(x.f.Decls[row.Decl].Module)
		for attr, value := range x.nicSays(fabric.PortID(p)) {
			if said[row.Decl] == nil {
				said[row.Decl] = map[string]*told{}
			}
			t := said[row.Decl][attr]
			if t == nil {
				t = &told{values: map[fabric.PortID]string{}}
				said[row.Decl][attr] = t
			}
			t.values[fabric.PortID(p)] = value
			t.nics = append(t.nics, fabric.PortID(p))
		}
		home[row.Decl] = x.f.Links[row.Link].Topology
	}
	decls := make([]fabric.DeclID, 0, len(said))
	for d := range said {
		decls = append(decls, d)
	}
	slices.Sort(decls)
	used := map[string]int{}
	for _, decl := range decls {
		attrs := make([]string, 0, len(said[decl]))
		for a := range said[decl] {
			attrs = append(attrs, a)
		}
		slices.Sort(attrs)
		for _, attr := range attrs {
			t := said[decl][attr]
			same := len(t.nics) == all[decl]
			for _, p := range t.nics {
				same = same && t.values[p] == t.values[t.nics[0]]
			}
			if same {
				x.inside[decl] = append(x.inside[decl], attr+" = "+t.values[t.nics[0]])
				continue
			}
			if attr == "rail" && len(t.nics) == all[decl] && x.byIndex(t) {
				x.inside[decl] = append(x.inside[decl], "rail = nic.index")
				continue
			}
			table := tableName(x.f.Text(x.f.Topologies[home[decl]].Name) + "_" + attr)
			if used[table]++; used[table] > 1 {
				table = fmt.Sprintf("%s_%d", table, used[table])
			}
			x.inside[decl] = append(x.inside[decl], fmt.Sprintf("%s = try(local.%s[self.name][nic.name], null)", attr, table))
			x.table(text[x.f.Topologies[home[decl]].Decl], table, t)
		}
	}
}

// byIndex reports whether every value is the index of its NIC among those of its
// block.
func (x *expander) byIndex(t *told) bool {
	next, last := 0, fabric.DeviceID(0)
	for _, p := range t.nics {
		if d := x.f.Ports[p].Device; d != last {
			next, last = 0, d
		}
		if t.values[p] != fmt.Sprint(next) {
			return false
		}
		next++
	}
	return true
}

// table writes the values of one attribute, by node and NIC.
func (x *expander) table(w *strings.Builder, name string, t *told) {
	fmt.Fprintf(w, "locals {\n%s = {\n", name)
	for i := 0; i < len(t.nics); {
		d := x.f.Ports[t.nics[i]].Device
		var cells []string
		for ; i < len(t.nics) && x.f.Ports[t.nics[i]].Device == d; i++ {
			cells = append(cells, quoted(x.f.Text(x.f.Ports[t.nics[i]].Name))+" = "+t.values[t.nics[i]])
		}
		fmt.Fprintf(w, "%s = %s\n", quoted(x.f.Text(x.f.Devices[d].Name)), braces(cells))
	}
	fmt.Fprint(w, "}\n}\n\n")
}

// nicSays is what a topology tells a NIC, by attribute: what is written on the
// NIC, its node or an exception goes before and is left out.
func (x *expander) nicSays(p fabric.PortID) map[string]string {
	row := &x.f.Ports[p]
	link := &x.f.Links[row.Link]
	says := map[string]string{}
	written := func(n schema.Attr) bool {
		at, by, ok := x.f.Origin(row.Decl, row.Layers, n)
		_ = at
		return ok && !x.ofTopology(by)
	}
	topology, tier := x.blocks[link.Topology], x.tierBlock(link)
	for _, n := range given {
		if written(n) {
			continue
		}
		for _, from := range []lang.BlockID{tier, topology} {
			if v := x.cfg.Attr(from, n); from != 0 && v.Kind != lang.Absent {
				says[n.Name()] = x.valueText(&schema.Lookup(schema.Topology, n.Name()).Type, v)
				break
			}
		}
	}
	for _, n := range []schema.Attr{schema.ASpeed, schema.AFEC, schema.AAutoneg, schema.AMACsec} {
		if v := x.cfg.Attr(tier, n); tier != 0 && v.Kind != lang.Absent && !written(n) {
			says[n.Name()] = x.valueText(&schema.Lookup(schema.Leaf, n.Name()).Type, v)
		}
	}
	nic := &x.f.NICs[row.NIC]
	if nic.Rail >= 0 && !written(schema.ARail) {
		says["rail"] = fmt.Sprint(nic.Rail)
	}
	if nic.Plane >= 0 && !written(schema.APlane) {
		says["plane"] = fmt.Sprint(nic.Plane)
	}
	if row.Native != 0 && x.f.Segments[row.Native].Tier {
		says["untagged"] = named("segment", x.f.Text(x.f.Segments[row.Native].Name))
	}
	if i, ok := x.ports[p]; ok && !written(schema.AAddress) && !written(schema.ASubnet) {
		iface := &x.f.Ifaces[i]
		if seg := &x.f.Segments[iface.Segment]; iface.Addresses.Len() > 0 && (iface.Segment == 0 || seg.Tier) {
			says["address"] = x.prefixes(iface)
			if a := x.f.Gateway(iface); a.IsValid() {
				says["gateway"] = quoted(a.String())
			}
		}
	}
	return says
}
