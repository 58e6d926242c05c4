package expand

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

func (x *expander) generatedSwitch(w *strings.Builder, topology, tier lang.BlockID, d fabric.DeviceID) {
	fmt.Fprintf(w, "switch %s {\n", quoted(x.f.Text(x.f.Devices[d].Name)))
	x.attrs(w, x.cfg.Block(tier).Kind, slices.DeleteFunc(slices.Clone(x.cfg.AttrsOf(tier)), func(a lang.Attr) bool { return ofTier(a.Num) }))
	fmt.Fprintf(w, "place = %s\n", x.place(d))
	for _, n := range []schema.Attr{schema.AModel, schema.AOS} {
		if x.cfg.Attr(tier, n).Kind == lang.Absent {
			x.inherited(w, d, n)
		}
	}
	x.portBlocks(w, topology, tier, d)
	x.interfaces(w, d)
	fmt.Fprint(w, "}\n\n")
}

// attrs writes attributes of a block, what was seen last, and returns which they are.
func (x *expander) attrs(w *strings.Builder, kind schema.Kind, list []lang.Attr) map[schema.Attr]bool {
	has := map[schema.Attr]bool{}
	var seen []string
	for _, a := range list {
		def := schema.Lookup(kind, a.Num.Name())
		if def == nil || a.Val().Kind == lang.Absent || a.Num == schema.AName {
			continue
		}
		has[a.Num] = true
		line := a.Num.Name() + " = " + x.valueText(&def.Type, a.Val())
		if def.Observed {
			seen = append(seen, line)
			continue
		}
		fmt.Fprintln(w, line)
	}
	if seen != nil {
		fmt.Fprintf(w, "%s = %s\n", schema.AObserved.Name(), braces(seen))
	}
	return has
}

// place is where a switch stands in its topology, as a switch says it itself.
func (x *expander) place(d fabric.DeviceID) string {
	at := &x.f.Devices[d].Place
	items := []string{"tier = " + quoted(at.Tier.String()), fmt.Sprintf("index = %d", at.Index)}
	for _, f := range []struct {
		name string
		n    int32
	}{{"group", at.Group}, {"plane", at.Plane}, {"rail", at.Rail}, {"pod", at.Pod}} {
		if f.n >= 0 {
			items = append(items, fmt.Sprintf("%s = %d", f.name, f.n))
		}
	}
	return braces(items)
}

// listedPlaces gives switches that are written elsewhere the place that a
// topology lists them in: those of one block by a look into a table.
func (x *expander) listedPlaces(text map[fabric.DeclID]*strings.Builder) {
	of := map[fabric.DeclID][]fabric.DeviceID{}
	members := map[fabric.DeclID]int{}
	var order []fabric.DeclID
	for d := 1; d < len(x.f.Devices); d++ {
		dev := &x.f.Devices[d]
		if x.ofTopology(dev.Decl) {
			continue
		}
		members[dev.Decl]++
		if dev.Tier == fabric.NoTier || dev.Topology == 0 {
			continue
		}
		if of[dev.Decl] == nil {
			order = append(order, dev.Decl)
		}
		of[dev.Decl] = append(of[dev.Decl], fabric.DeviceID(d))
	}
	tables := 0
	for _, decl := range order {
		list := of[decl]
		if members[decl] == 1 {
			x.inside[decl] = append(x.inside[decl], "place = "+x.place(list[0]))
			continue
		}
		topology := &x.f.Topologies[x.f.Devices[list[0]].Topology]
		table := tableName(x.f.Text(topology.Name) + "_place")
		if tables++; tables > 1 {
			table = fmt.Sprintf("%s_%d", table, tables)
		}
		w := text[topology.Decl]
		fmt.Fprintf(w, "locals {\n%s = {\n", table)
		for _, d := range list {
			fmt.Fprintf(w, "%s = %s\n", quoted(x.f.Text(x.f.Devices[d].Name)), x.place(d))
		}
		fmt.Fprint(w, "}\n}\n\n")
		x.inside[decl] = append(x.inside[decl], "place = try(local."+table+"[self.name], null)")
	}
}

// tableName is the name of a local value: what else stands in it becomes a line.
func tableName(s string) string { return strings.NewReplacer(".", "_", "-", "_").Replace(s) }

// inherited writes what a tier takes over from the one below.
func (x *expander) inherited(w *strings.Builder, d fabric.DeviceID, n schema.Attr) {
	dev := &x.f.Devices[d]
	switch n {
	case schema.AModel:
		if dev.Model != 0 {
			fmt.Fprintf(w, "model = %s\n", quoted(x.f.Text(x.f.Models[dev.Model].Name)))
		}
	case schema.AOS:
		if dev.OSName != 0 {
			fmt.Fprintf(w, "os = %s\n", quoted(strings.TrimSuffix(x.f.Text(dev.OSName)+"/"+x.f.Text(dev.OSVersion), "/")))
		}
	}
}
