package lang

import (
	"github.com/rocec/rocec/lang/cabling"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// maxRoutes bounds the rows of one routing table.
const maxRoutes = 4 << 20

// routes reads the tables of the routing blocks of a module. A file beside
// another model is for others to refuse.
func (ld *loader) routes(m *modinst) {
	for _, f := range m.families {
		if f.kind != schema.Routing {
			continue
		}
		for _, id := range f.insts {
			model, file := ld.attrVal(id, schema.APaths), ld.attrVal(id, schema.AFile)
			if model.Kind == Text && ld.strs[model.N] == "table" && file.Kind == Text {
				ld.routeList(m, id, ld.strs[file.N])
			}
		}
	}
}

// attrVal is one attribute of an instance that was evaluated, the zero Value if it has none.
func (ld *loader) attrVal(id instID, n schema.Attr) Value {
	for _, a := range ld.attrsOf(id) {
		if a.Num == n {
			return a.Val()
		}
	}
	return Value{}
}

func (ld *loader) routeList(m *modinst, id instID, name string) {
	full := ld.listPath(m, id, name)
	if full == "" {
		return
	}
	src, err := readLimited(ld.FS, full, cabling.MaxBytes)
	if err != nil {
		ld.listUnread(id, name, err)
		return
	}
	file := ld.files.Add(full, src)
	list := RouteList{Block: BlockID(id), Decl: ld.insts[id].declID, File: file}
	seen := map[[4]Str]int32{}
	tooMany, twice, first := false, 0, 0
	faults := cabling.Routes(src, func(in *cabling.Route) {
		if tooMany = len(list.Rows) >= maxRoutes; tooMany {
			return
		}
		row := RouteRow{
			At: ld.bytesStr(in.At), From: ld.bytesStr(in.From), To: ld.bytesStr(in.To), Next: ld.bytesStr(in.Next), Priority: in.Priority,
			Span: source.Span{File: file, Start: in.Row.Start, Len: in.Row.Len},
		}
		for i, c := range [4]cabling.Cell{in.AtCell, in.FromCell, in.ToCell, in.NextCell} {
			row.start[i], row.length[i] = c.Start, uint16(min(c.Len, 1<<16-1))
		}
		key := [4]Str{row.At, row.From, row.To, row.Next}
		if old, ok := seen[key]; ok {
			if twice++; twice == 1 {
				first = ld.routeTwice(&row, &list.Rows[old])
			}
			return
		}
		seen[key] = int32(len(list.Rows))
		list.Rows = append(list.Rows, row)
	})
	ld.listFaults("routing table "+quoteWord(full), id, file, faults)
	if tooMany {
		ld.fail(ld.spanOfAttr(id, schema.AFile), "routing table has more than "+itoa(maxRoutes)+" rows", "leave out rows that tell a way twice: from = * stands for every neighbour")
	}
	if first > 0 {
		ld.diags[first-1].Count = twice
	}
	ld.cfg.Routes = append(ld.cfg.Routes, list)
}

// routeTwice reports a way that is there twice, and returns the position of the
// finding, counted from 1; 0 if it was not the first of its kind. A second next
// device for the same packets is another way, which they may take too.
func (ld *loader) routeTwice(row, old *RouteRow) int {
	before := len(ld.diags)
	from := "wherever"
	if row.From != 0 {
		from = ld.strs[row.From]
	}
	msg := "the way at " + ld.strs[row.At] + " from " + from + " to " + ld.strs[row.To] + " by " + ld.strs[row.Next] + " is in the table twice"
	help := "leave one out"
	if row.Priority != old.Priority {
		help = "leave one out: the two give packets different priorities"
	}
	ld.fail(row.Span, msg, help, diag.Label{Span: old.Span, Text: "first written"})
	if len(ld.diags) > before {
		return before + 1
	}
	return 0
}
