package cabling

// Route is one row of a routing table. The bytes belong to the file.
type Route struct {
	At, From, To, Next []byte // names of devices; From is nil for a row that holds wherever a packet came from
	Priority           int8   // the new priority, -1 = the one the packet has
	Number             int    // line the row starts on, from 1
	Row                Cell
	AtCell, FromCell   Cell
	ToCell, NextCell   Cell
}

// Routes reads a routing table: CSV with the columns at, from, to, next and
// perhaps priority, in any order and among others. An empty from and "*" stand
// for every neighbour. It calls row for each in the order of the file; the row
// and what it points to are good until the function returns. Errors are as
// those of Read.
func Routes(src []byte, row func(*Route)) []*Error {
	r := &reader{src: src, kinds: map[string]*Error{}}
	if r.encoded() {
		r.routes(row)
	}
	return r.errs
}

func (r *reader) routes(emit func(*Route)) {
	t, ok := r.open()
	if !ok {
		return
	}
	at, from, to, next, priority := t.find("at"), t.find("from"), t.find("to"), t.find("next"), t.find("priority")
	var missing []string
	for _, c := range []struct {
		at   int
		name string
	}{{at, "at"}, {from, "from"}, {to, "to"}, {next, "next"}} {
		if c.at < 0 {
			missing = append(missing, c.name)
		}
	}
	if missing != nil {
		t.missing(missing, "the columns are at, from, to, next and perhaps priority")
		return
	}
	rows := 0
	t.rows(func(s *scanner) {
		rows++
		row := Route{Number: s.row, Row: Cell{uint32(s.start), uint32(s.end - s.start)}}
		if !t.name(at, &row.At, &row.AtCell) || !t.name(to, &row.To, &row.ToCell) || !t.name(next, &row.Next, &row.NextCell) {
			return
		}
		if text := s.text(s.cells[from]); len(text) > 0 && string(text) != "*" && !t.name(from, &row.From, &row.FromCell) {
			return
		}
		if row.Priority, ok = t.priority(priority); ok {
			emit(&row)
		}
	})
	if rows == 0 && len(r.errs) == 0 {
		r.fail("empty", t.heads[0].start, t.heads[len(t.heads)-1].end-t.heads[0].start, 1, "list has a header and no rows", emptyHelp)
	}
}

// priority reads a cell that may hold one.
func (t *table) priority(col int) (int8, bool) {
	if col < 0 {
		return -1, true
	}
	f := t.s.cells[col]
	text := t.s.text(f)
	switch {
	case len(text) == 0:
		return -1, true
	case len(text) == 1 && text[0] >= '0' && text[0] <= '7':
		return int8(text[0] - '0'), true
	}
	t.r.fail("priority", f.start, f.end-f.start, t.s.row, "priority "+clip(text)+" is not one of 0 to 7", "leave it empty where packets keep theirs")
	return 0, false
}
