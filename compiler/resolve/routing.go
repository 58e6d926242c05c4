package resolve

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// routings reads what the proofs may assume of paths, and which topology names
// which. Devices and segments exist by now.
func (r *resolver) routings() {
	of, other := map[lang.BlockID]fabric.RoutingID{}, lang.BlockID(0)
	r.top(schema.Routing, func(b lang.BlockID) {
		row := fabric.Routing{
			Name: r.str(r.cfg.Blocks[b].Name), Address: r.f.Names.Add(r.cfg.Address(b)), Default: r.speaksForAll(b), Decl: r.decl(b),
			LocalRepair: r.cfg.Text(r.attr(b, schema.ARepair)) == "local", Model: routingModel(r.cfg.Text(r.attr(b, schema.APaths))),
			Adaptive: r.attr(b, schema.AAdaptive).N == 1, Reordering: r.attr(b, schema.AReordering).N == 1,
		}
		for _, v := range r.cfg.List(r.attr(b, schema.ALeak)) {
			from, to := r.cfg.Field(v, schema.AFrom), r.cfg.Field(v, schema.ATo)
			if from.Kind == lang.Handle && to.Kind == lang.Handle {
				row.Leaks = append(row.Leaks, fabric.Leak{From: r.segmentOf[lang.BlockID(from.N)], To: r.segmentOf[lang.BlockID(to.N)]})
			}
		}
		for _, v := range r.cfg.List(r.attr(b, schema.AAnnounce)) {
			p, err := netip.ParsePrefix(r.cfg.Text(v))
			if err != nil {
				continue // the loader has checked its form
			}
			if p != p.Masked() {
				r.fail(fmt.Sprintf("announced prefix %s has bits set beyond its length", p), fmt.Sprintf("write %s", p.Masked()), r.at(b, schema.AAnnounce, ""))
			}
			row.Announce = append(row.Announce, p.Masked())
		}
		file := r.attr(b, schema.AFile)
		switch {
		case row.Model == fabric.TableRouting && file.Kind == lang.Absent:
			r.fail(fmt.Sprintf("routing %s is by table and names no file", r.blockName(b)), "write file: CSV with the columns at, from, to, next and perhaps priority", r.at(b, schema.APaths, ""))
		case row.Model == fabric.TableRouting:
			row.Table = r.table(b)
		case file.Kind != lang.Absent:
			r.fail(fmt.Sprintf("routing %s has a file, and its paths are not by table", r.blockName(b)), `write paths = "table", or leave out file`,
				r.at(b, schema.AFile, ""), r.at(b, schema.APaths, "its paths"))
		}
		if row.Default {
			if other > 0 {
				r.fail(fmt.Sprintf("two routing blocks speak for all: %s and %s", r.cfg.Address(other), r.cfg.Address(b)), "keep one, and name the other in its topologies",
					r.f.DeclLabel(r.decl(b), ""), r.f.DeclLabel(r.decl(other), "the other"))
			}
			other = b
		}
		of[b] = fabric.RoutingID(len(r.f.Routings))
		r.f.Routings = append(r.f.Routings, row)
	})
	// Without topologies nothing could name it: it can only be meant for all.
	if rows := r.f.Routings; len(rows) == 2 && !rows[1].Default && len(r.topos) == 1 {
		rows[1].Default, rows[1].Alone = true, true
	}
	for _, t := range r.topos[1:] {
		if v := r.attr(t.block, schema.ARouting); v.Kind == lang.Handle {
			r.f.Topologies[t.id].Routing = of[lang.BlockID(v.N)]
		}
	}
}

// speaksForAll reports whether a routing block is for all that names none: it says so, or is called "default" and says nothing, as before language 1.
func (r *resolver) speaksForAll(b lang.BlockID) bool {
	if v := r.attr(b, schema.ADefault); v.Kind == lang.Int {
		return v.N == 1
	}
	return r.blockName(b) == "default"
}

// table reads the rows of a routing table. A name that no device has is
// reported once, at its first cell; its rows are left out.
func (r *resolver) table(b lang.BlockID) []fabric.Route {
	i := slices.IndexFunc(r.cfg.Routes, func(l lang.RouteList) bool { return l.Block == b })
	if i < 0 {
		return nil // the loader has said why it cannot be read
	}
	list := &r.cfg.Routes[i]
	t := routeTable{resolver: r, said: map[lang.Str]bool{}, host: map[fabric.DeviceID]bool{}}
	rows := make([]fabric.Route, 0, len(list.Rows))
	for i := range list.Rows {
		row := &list.Rows[i]
		at, from, to, next := t.device(row, row.At, lang.CellAt), t.device(row, row.From, lang.CellFrom), t.device(row, row.To, lang.CellTo), t.device(row, row.Next, lang.CellNext)
		if at == 0 || to == 0 || next == 0 || from == 0 && row.From != 0 {
			continue
		}
		if t.fits(row, at, to, next) {
			rows = append(rows, fabric.Route{At: at, From: from, To: to, Next: next, Priority: row.Priority, Row: row.Span})
		}
	}
	return rows
}

// routeTable is a routing table under way.
type routeTable struct {
	*resolver
	said   map[lang.Str]bool        // names that no device has
	host   map[fabric.DeviceID]bool // nodes that were refused as switches
	circle bool                     // a row that leads nowhere was refused
}

// device finds the device of a cell; 0 if there is none, or none is written.
func (t *routeTable) device(row *lang.RouteRow, name lang.Str, c lang.RouteCell) fabric.DeviceID {
	if name == 0 {
		return 0
	}
	d := t.named(name)
	if d == 0 && !t.said[name] {
		t.said[name] = true
		t.fail(fmt.Sprintf("no device is called %q", t.cfg.String(name)), "name a switch or node as the source does", diag.Label{Span: row.Cell(c)})
	}
	return d
}

// fits refuses rows that say nothing of a way: nodes forward no packets of
// others, and none stays where it is. Each is said once.
func (t *routeTable) fits(row *lang.RouteRow, at, to, next fabric.DeviceID) bool {
	switch {
	case t.f.Devices[at].Kind != fabric.Switch:
		if !t.host[at] {
			t.host[at] = true
			t.fail(fmt.Sprintf("%s is a node, and tables are of switches", t.cfg.String(row.At)), "leave its rows out: a node sends its own packets to its switch", diag.Label{Span: row.Cell(lang.CellAt)})
		}
		return false
	case at == next || at == to:
		if !t.circle {
			t.circle = true
			cell := lang.CellNext
			if at == to {
				cell = lang.CellTo
			}
			t.fail(fmt.Sprintf("a way at %s leads to %s itself", t.cfg.String(row.At), t.cfg.String(row.At)), "name another device", diag.Label{Span: row.Cell(cell)})
		}
		return false
	}
	return true
}

func routingModel(word string) fabric.RoutingModel {
	switch word {
	case "up_down":
		return fabric.UpDown
	case "ecmp":
		return fabric.ECMP
	case "table":
		return fabric.TableRouting
	}
	return fabric.RoutingUnset
}
