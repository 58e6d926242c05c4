package cabling

import (
	"bytes"
	"strings"
)

// columns are the positions of what a cable list tells; -1: it does not.
type columns struct {
	aDevice, aPort, aType, bDevice, bPort, bType int
	media, length, unit, label, status           int
}

// csv reads a table whose columns are named as the language names them, or as Columns says.
func (r *reader) csv() {
	t, ok := r.open()
	if !ok {
		return
	}
	var missing []string
	find := func(word string, needed bool) int {
		name, written := r.Columns[word]
		if !written {
			name = word
		}
		i := -1
		for k, h := range t.header {
			if h == name {
				i = k
			}
		}
		if i < 0 && !written {
			i = t.find(name)
		}
		if i < 0 && (needed || written) {
			missing = append(missing, name)
		}
		return i
	}
	c := columns{
		aDevice: find("a_device", true), aPort: find("a_port", true), bDevice: find("b_device", true), bPort: find("b_port", true),
		media: find("media", false), length: find("length", false), unit: find("length_unit", false), label: find("label", false),
		aType: -1, bType: -1, status: -1,
	}
	if missing != nil {
		t.missing(missing, "where they have other names: columns = { a_device = \"From\", a_port = \"From port\", ... }")
		return
	}
	t.read(&c)
}

// netbox reads the cable lists of NetBox: the headers of its bulk import (netbox/dcim/forms/bulk_import.py, class CableImportForm: side_a_device,
// side_a_type, side_a_name, the same of side_b, status, type, label, length, length_unit; unchanged since 2.5), and those of its table export
// (netbox/dcim/tables/cables.py: "Device A", "Termination A" and so on; before 3.3 "Side A" in place of "Device A"). The oldest export
// (termination_a_type, termination_a_id) has the numbers of its database alone (netbox#5270, netbox#2543) and is refused.
func (r *reader) netbox() {
	t, ok := r.open()
	if !ok {
		return
	}
	c := columns{
		aDevice: t.find("side_a_device", "device_a", "side_a"), aPort: t.find("side_a_name", "termination_a"), aType: t.find("side_a_type"),
		bDevice: t.find("side_b_device", "device_b", "side_b"), bPort: t.find("side_b_name", "termination_b"), bType: t.find("side_b_type"),
		media: t.find("type"), length: t.find("length"), unit: t.find("length_unit"), label: t.find("label"), status: t.find("status"),
	}
	const export = "export the table of cables with the columns Device A, Termination A, Device B and Termination B, or write the import columns side_a_device, side_a_type, side_a_name, and the same of side_b"
	if c.aDevice < 0 && t.find("termination_a_id") >= 0 {
		i := t.find("termination_a_id")
		f := t.heads[i]
		r.fail("ids", f.start, f.end-f.start, 1, "this export of NetBox has numeric IDs in place of names", export)
		return
	}
	var missing []string
	for _, need := range []struct {
		at   int
		name string
	}{{c.aDevice, "side_a_device"}, {c.aPort, "side_a_name"}, {c.bDevice, "side_b_device"}, {c.bPort, "side_b_name"}} {
		if need.at < 0 {
			missing = append(missing, need.name)
		}
	}
	if missing != nil {
		t.missing(missing, export)
		return
	}
	t.read(&c)
}

// read reads the rows of a table.
func (t *table) read(c *columns) {
	r := t.r
	named, rows, kept := false, 0, 0
	var first, row Row // row: of one after the other
	t.rows(func(s *scanner) {
		rows++
		row = Row{Number: s.row, At: Cell{uint32(s.start), uint32(s.end - s.start)}}
		var skip bool
		if row.A.Kind, skip = t.kind(c.aType, "side_a_type"); skip {
			return
		}
		if row.B.Kind, skip = t.kind(c.bType, "side_b_type"); skip {
			return
		}
		if !t.name(c.aDevice, &row.A.Device, &row.ADevice) || !t.name(c.aPort, &row.A.Port, &row.APort) ||
			!t.name(c.bDevice, &row.B.Device, &row.BDevice) || !t.name(c.bPort, &row.B.Port, &row.BPort) {
			return
		}
		if c.aType < 0 && r.Format == "netbox" && (bytes.IndexByte(row.A.Port, ',') >= 0 || bytes.IndexByte(row.B.Port, ',') >= 0) {
			r.fail("several", s.start, s.end-s.start, s.row, "cable ends in several ports at one side", "a breakout is one row for each of its links")
			return
		}
		if !t.length(c, &row) {
			return
		}
		if c.media >= 0 {
			f := s.cells[c.media]
			row.Media, row.MediaAt = mediaWord(s.text(f)), f.at()
		}
		if c.label >= 0 {
			row.Label = s.text(s.cells[c.label])
		}
		if c.status >= 0 {
			switch strings.ToLower(string(s.text(s.cells[c.status]))) {
			case "planned":
				row.Planned = true
			case "decommissioning":
				row.Gone = true
			}
		}
		if r.Format == "netbox" && !named {
			if named = !digits(row.A.Device) || !digits(row.B.Device); !named && first.Number == 0 {
				first = row
			}
		}
		kept++
		r.done(&row)
	})
	if r.Format == "netbox" && !named && first.Number > 0 {
		r.fail("ids", int(first.ADevice.Start), int(first.ADevice.Len), first.Number, "devices of this list are numeric IDs in place of names", "export the names: the columns Device A and Device B of the table of cables")
		return
	}
	if kept == 0 && len(r.errs) == 0 {
		msg := "list has a header and no rows"
		if rows > 0 {
			msg = "rows of the list are of consoles, power and circuits, none joins two network ports"
		}
		r.fail("empty", t.heads[0].start, t.heads[len(t.heads)-1].end-t.heads[0].start, 1, msg, emptyHelp)
	}
	r.join()
}

func digits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// name reads a cell that has to hold a name.
func (t *table) name(col int, text *[]byte, at *Cell) bool {
	f := t.s.cells[col]
	*text, *at = t.s.text(f), f.at()
	if why := nameFault(*text); why != "" {
		start, length := f.start, f.end-f.start
		if length == 0 {
			start, length = t.s.start, t.s.end-t.s.start
		}
		t.r.fail("name"+t.header[col]+why, start, length, t.s.row, "cell in column "+clip([]byte(t.header[col]))+" "+why, "write the name in every row, or leave the row out: what is not there needs none")
		return false
	}
	return true
}

// kind reads the type of a termination, as "dcim.interface", "dcim|interface" or "interface". Cables of consoles and power are none of ours.
func (t *table) kind(col int, word string) (Kind, bool) {
	if col < 0 {
		return Port, false
	}
	f := t.s.cells[col]
	switch string(t.s.text(f)) {
	case "dcim.interface", "interface":
		return Port, false
	}
	text := strings.ToLower(string(t.s.text(f)))
	if i := strings.LastIndexAny(text, ".|"); i >= 0 {
		text = text[i+1:]
	}
	switch strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "-", "") {
	case "interface":
		return Port, false
	case "frontport":
		return Front, false
	case "rearport":
		return Rear, false
	case "consoleport", "consoleserverport", "powerport", "poweroutlet", "powerfeed", "circuittermination":
		return Port, true
	}
	start, length := f.start, f.end-f.start
	if length == 0 {
		start, length = t.s.start, t.s.end-t.s.start
	}
	t.r.fail(word, start, length, t.s.row, word+" "+clip(t.s.text(f))+" is no kind of port", "write dcim.interface, dcim.frontport or dcim.rearport")
	return Port, true
}

// length reads the length and its unit, which stands in a column of its own or behind the number.
func (t *table) length(c *columns, row *Row) bool {
	if c.length < 0 {
		return true
	}
	f := t.s.cells[c.length]
	text := t.s.text(f)
	if len(text) == 0 || string(text) == "—" {
		return true
	}
	unit := []byte(nil)
	if c.unit >= 0 {
		unit = t.s.text(t.s.cells[c.unit])
	}
	mm, off, why := parseLength(text, unit)
	if why != "" {
		t.r.fail("length", f.start, f.end-f.start, t.s.row, "length "+clip(text)+" "+why, "write a number with a unit: m, cm, mm, km, ft, in or mi")
		return false
	}
	row.LengthMm, row.OffMm, row.HasLength, row.LengthAt = mm, off, true, f.at()
	return true
}

// micrometres of the units of NetBox (netbox/dcim/choices.py, class CableLengthUnitChoices), by their value and by the name that exports of
// 3.x show.
var units = map[string]uint64{
	"km": 1e9, "kilometers": 1e9, "m": 1e6, "meters": 1e6, "cm": 1e4, "centimeters": 1e4, "mm": 1e3,
	"mi": 1609344000, "miles": 1609344000, "ft": 304800, "feet": 304800, "in": 25400, "inches": 25400,
}

// parseLength reads "3", "2.5 m" or "10ft" with a unit that may stand elsewhere, and returns whole millimetres. A length in another system than
// the source's was rounded: off is half of its last digit, "9.84 ft" is what somebody made of 3 m.
func parseLength(text, unit []byte) (mm uint32, off uint16, why string) {
	i := 0
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.') {
		i++
	}
	number, own := text[:i], bytes.TrimSpace(text[i:])
	if i == 0 {
		return 0, 0, "is not understood"
	}
	if len(own) > 0 && len(unit) > 0 && !bytes.EqualFold(own, unit) {
		return 0, 0, "has a unit besides the one in its own column"
	}
	if len(own) == 0 {
		own = unit
	}
	if len(own) == 0 {
		return 0, 0, "has no unit"
	}
	um, ok := units[string(own)]
	if !ok {
		um, ok = units[strings.ToLower(string(own))]
	}
	if !ok {
		return 0, 0, "has the unit " + clip(own) + ", which is not known"
	}
	whole, frac, _ := bytes.Cut(number, []byte("."))
	if um%25400 == 0 { // a whole number of inches
		last := um / 2
		for range frac[:min(len(frac), 9)] {
			last /= 10
		}
		off = uint16(min((last+999)/1000, 1<<16-1))
	}
	frac = bytes.TrimRight(frac, "0")
	if len(whole)+len(frac) == 0 && len(number) < 2 || len(whole) > 7 || len(frac) > 4 || bytes.IndexByte(frac, '.') >= 0 {
		return 0, 0, "is not understood"
	}
	n, scale := uint64(0), uint64(1)
	for _, c := range whole {
		n = n*10 + uint64(c-'0')
	}
	for _, c := range frac {
		n, scale = n*10+uint64(c-'0'), scale*10
	}
	long := uint64(1 << 32)
	if n <= 1<<63/um {
		long = (n*um/scale + 500) / 1000
	}
	if long > 1<<31 {
		return 0, 0, "is longer than 2000 km"
	}
	return uint32(long), off, ""
}
