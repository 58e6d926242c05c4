package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/cabling"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// A row of a list that joins two known ports; index in CableList.Rows.
type listed struct {
	a, b fabric.PortID
	row  uint32
}

// lists makes the links of the lists that define, and finds the ports that the
// others name. Link blocks and topologies have made theirs by now.
func (r *resolver) lists() {
	r.f.Cablings = make([]fabric.Cabling, 1, 1+len(r.cfg.Cables))
	r.rowsOf = make([][]listed, 1, 1+len(r.cfg.Cables))
	r.loose = make([][]loose, 1, 1+len(r.cfg.Cables))
	links := 0
	for i := range r.cfg.Cables {
		if list := &r.cfg.Cables[i]; list.Define {
			links += len(list.Rows)
		}
	}
	r.roomForLinks(links)
	for i := range r.cfg.Cables {
		list := &r.cfg.Cables[i]
		row := fabric.Cabling{
			Name: r.str(list.Name), Address: r.f.Names.Add(r.cfg.Address(list.Block)), Mode: fabric.Compare, LLDP: list.LLDP(),
			Rows: uint32(len(list.Rows)), Decl: r.decl(list.Block),
		}
		if list.Define {
			row.Mode = fabric.Define
		}
		for _, n := range list.Renames {
			x := fabric.Rename{From: r.str(n.From), To: r.str(n.To), Used: n.Used, Known: r.named(n.To) != 0}
			if n.Used && !x.Known {
				x.Near = r.f.Names.Add(lang.Nearest(r.cfg.String(n.To), r.deviceNames()))
			}
			row.Renames = append(row.Renames, x)
		}
		id := fabric.CablingID(len(r.f.Cablings))
		r.f.Cablings = append(r.f.Cablings, row)
		r.loose = append(r.loose, nil)
		r.rowsOf = append(r.rowsOf, r.known(id, list))
		if list.Define {
			r.define(id, list)
		}
	}
}

// known joins the rows of a list with ports. A row that no port of the fabric is in is skipped: lists of a site have the cables for management too,
// from ports that the source does not have to switches that it does not have.
func (r *resolver) known(id fabric.CablingID, list *lang.CableList) []listed {
	out := make([]listed, 0, len(list.Rows))
	var last [2]struct { // lists are mostly sorted by device
		name lang.Str
		d    fabric.DeviceID
	}
	for i := range list.Rows {
		row := &list.Rows[i]
		var d [2]fabric.DeviceID
		for side, name := range [2]lang.Str{row.ADevice, row.BDevice} {
			if last[side].name != name || name == 0 {
				last[side].name, last[side].d = name, r.meant(list, name)
			}
			d[side] = last[side].d
		}
		if d[0] == 0 && d[1] == 0 {
			r.f.Cablings[id].Skipped++
			continue
		}
		ports := [2]lang.Str{row.APort, row.BPort}
		var p [2]fabric.PortID
		for side, name := range ports {
			if d[side] != 0 {
				p[side] = r.portByAlias(d[side], r.str(name))
			}
		}
		if p[1] == 0 && d[1] != 0 && row.Label != 0 && list.LLDP() {
			p[1] = r.portByAlias(d[1], r.str(row.Label))
		}
		switch {
		case p[0] != 0 && p[1] != 0:
			out = append(out, listed{p[0], p[1], uint32(i)})
		case list.LLDP():
			if p[0] != 0 || d[0] == 0 { // others were heard on ports that carry no RDMA
				r.loose[id] = append(r.loose[id], loose{uint32(i), p[0]})
			}
		case d[0] != 0 && d[1] != 0:
			side := 0
			if p[0] != 0 {
				side = 1
			}
			r.noPort(list, row, side, d[side], ports[side])
		case p[0] != 0 || p[1] != 0:
			r.loose[id] = append(r.loose[id], loose{uint32(i), max(p[0], p[1])})
		default:
			r.f.Cablings[id].Skipped++
		}
	}
	return out
}

// named is the device that a list calls by its name, 0 if there is none.
func (r *resolver) named(name lang.Str) fabric.DeviceID {
	if r.deviceNamed == nil {
		r.deviceNamed = make(map[fabric.Str]fabric.DeviceID, len(r.f.Devices))
		for d := 1; d < len(r.f.Devices); d++ {
			r.deviceNamed[r.f.Devices[d].Name] = fabric.DeviceID(d)
		}
	}
	return r.deviceNamed[r.str(name)]
}

func (r *resolver) deviceNames() []string {
	var names []string
	for d := 1; d < len(r.f.Devices); d++ {
		names = append(names, r.f.Text(r.f.Devices[d].Name))
	}
	return names
}

// meant is the device that a row of a list means. Hosts tell their neighbours the
// name with its domain, if they have one: in a capture the name before it will do.
func (r *resolver) meant(list *lang.CableList, name lang.Str) fabric.DeviceID {
	d := r.named(name)
	if host, _, domain := strings.Cut(r.cfg.String(name), "."); d == 0 && domain && list.LLDP() {
		d = r.deviceNamed[r.f.Names.Find(host)]
	}
	return d
}

// loose is a row from a known port to an unknown device, or, in a capture, to an unknown port.
type loose struct {
	row  uint32
	port fabric.PortID
}

func (r *resolver) cell(list *lang.CableList, row *lang.CableRow, c lang.Cell, text string) diag.Label {
	return diag.Label{Span: row.Cell(c), Where: r.cfg.Address(list.Block), Text: text}
}

func (r *resolver) noPort(list *lang.CableList, row *lang.CableRow, side int, d fabric.DeviceID, name lang.Str) {
	dev := &r.f.Devices[d]
	word, has := "port", []string{}
	if dev.Kind == fabric.Node {
		word = "NIC"
	}
	for _, p := range r.portsOf[d].ports {
		has = append(has, r.f.Text(p.name))
	}
	help := "it has none"
	if len(has) > 0 {
		help = "it has " + summarize(has)
	}
	r.failRow(list, 0, fmt.Sprintf("%s has no %s %s", r.f.Text(dev.Name), word, r.cfg.String(name)), help,
		r.cell(list, row, [2]lang.Cell{lang.CellAPort, lang.CellBPort}[side], ""), r.f.DeclLabel(dev.Decl, "the device"))
}

// maxRowFaults is how many rows of one list are reported one by one: a list
// with more is of another site, or has other names throughout.
const maxRowFaults = 100

// rowFaults is what was said of the rows of one list.
type rowFaults struct {
	said  int
	more  int // beyond maxRowFaults
	named map[lang.Str]rowFault
}

// rowFault is a name that several rows have wrong.
type rowFault struct{ at, rows int }

// failRow reports a row of a list. Rows with the same wrong name, if there is
// one, are one mistake; their number is said by sayRows.
func (r *resolver) failRow(list *lang.CableList, name lang.Str, summary, help string, labels ...diag.Label) {
	if r.rowFaults == nil {
		r.rowFaults = map[lang.BlockID]*rowFaults{}
	}
	x := r.rowFaults[list.Block]
	if x == nil {
		x = &rowFaults{named: map[lang.Str]rowFault{}}
		r.rowFaults[list.Block] = x
	}
	if f, ok := x.named[name]; ok && name != 0 {
		f.rows++
		x.named[name] = f
		return
	}
	if x.said == maxRowFaults {
		x.more++
		return
	}
	x.said++
	if name != 0 {
		x.named[name] = rowFault{len(r.diags), 1}
	}
	r.fail(summary, help, labels...)
}

// sayRows completes what failRow reported.
func (r *resolver) sayRows() {
	for i := range r.cfg.Cables {
		list := &r.cfg.Cables[i]
		x := r.rowFaults[list.Block]
		if x == nil {
			continue
		}
		for _, f := range x.named {
			if f.rows > 1 {
				r.diags[f.at].Summary += fmt.Sprintf(" (in %d rows)", f.rows)
			}
		}
		if x.more > 0 {
			r.fail(fmt.Sprintf("%d more rows of %s do not fit", x.more, r.cfg.Address(list.Block)),
				"compare the names in the list with those in the source: `rename` maps devices", r.at(list.Block, schema.AFile, ""))
		}
		delete(r.rowFaults, list.Block)
	}
}

// define makes a link of every row.
func (r *resolver) define(id fabric.CablingID, list *lang.CableList) {
	standard := r.attr(list.Block, schema.ADefaultCable)
	doubled := 0
	for _, x := range r.rowsOf[id] {
		row := &list.Rows[x.row]
		if x.a == x.b {
			r.failRow(list, 0, fmt.Sprintf("%s is cabled to itself", r.f.PortName(x.a)), "name two ports", r.cell(list, row, lang.CellBPort, ""))
			continue
		}
		if l := r.f.Ports[x.a].Link; l != 0 && r.f.Ports[x.a].Peer == x.b {
			if r.f.Links[l].Origin == fabric.OfMLAG { // the pair says what the cable is for, the list what it is
				r.take(id, l, list, row)
				continue
			}
			r.failRow(list, 0, fmt.Sprintf("the cable from %s to %s is declared twice", r.f.PortName(x.a), r.f.PortName(x.b)), "declare it in one place",
				diag.Label{Span: row.Span, Where: r.cfg.Address(list.Block)}, r.f.LinkLabel(l, 0, "the other"))
			continue
		}
		// ROCE104 tells of each port with two cables; a list of nothing else is no list of cables.
		if a, b := r.f.Ports[x.a].Link, r.f.Ports[x.b].Link; a != 0 || b != 0 {
			if doubled++; doubled > maxRowFaults {
				p, other := x.a, a
				if a == 0 {
					p, other = x.b, b
				}
				r.failRow(list, 0, fmt.Sprintf("port %s has a cable already", r.f.PortName(p)), "name another port in one of the two rows",
					diag.Label{Span: row.Span, Where: r.cfg.Address(list.Block)}, r.f.LinkLabel(other, 0, "the other"))
				continue
			}
		}
		link := r.cableOf(list.Block, standard)
		link.A, link.B, link.Decl, link.Origin = min(x.a, x.b), max(x.a, x.b), r.decl(list.Block), fabric.OfCabling
		link.List, link.Row, link.Name = id, row.Span, r.str(list.Name)
		r.overlayRow(&link, list, row)
		r.addLink(link, list.Block)
	}
}

// overlayRow lays what a row says of its cable over what was there.
func (r *resolver) overlayRow(link *fabric.Link, list *lang.CableList, row *lang.CableRow) {
	if m := r.mediaIn(list, row); m != 0 && !r.tellsNoMore(m, link.Media) {
		link.Media, link.MediaBy = m, 0
	}
	if row.HasLength {
		link.LengthBy = 0
		link.CableMm, link.LengthWritten, link.BadLength = row.LengthMm, true, row.LengthMm == 0
	}
}

// take gives a link what a row says and the source does not.
func (r *resolver) take(id fabric.CablingID, l fabric.LinkID, list *lang.CableList, row *lang.CableRow) {
	link := &r.f.Links[l]
	if m := r.mediaIn(list, row); m != 0 && link.Media == 0 {
		link.Media, link.List, link.Row = m, id, row.Span
	}
	if row.HasLength && !link.LengthWritten {
		link.CableMm, link.LengthWritten, link.BadLength = row.LengthMm, true, row.LengthMm == 0
		link.List, link.Row = id, row.Span
	}
}

// mediaIn is the kind of cable that a row names, 0 if it names none.
func (r *resolver) mediaIn(list *lang.CableList, row *lang.CableRow) fabric.MediaID {
	if row.Media == 0 {
		return 0
	}
	word := r.cfg.String(row.Media)
	if m := r.mediaNamed(word); m != 0 {
		return m
	}
	if m := r.mediaNamed(strings.ToLower(word)); m != 0 { // lists of people have DAC and AOC
		return m
	}
	if !r.mediaSaid[row.Media] {
		r.mediaSaid[row.Media] = true
		r.fail(fmt.Sprintf("media %q of a cable is not known", word), "write a media block of that name, or one that there is", r.cell(list, row, lang.CellMedia, ""))
	}
	return 0
}

// mediaNamed is the kind of cable of a name, of the source or of NetBox, 0 if there is none.
func (r *resolver) mediaNamed(name string) fabric.MediaID {
	if m := r.mediaOf[name]; m != 0 {
		return m
	}
	return r.mediaOf[cabling.Media(name)]
}

// tellsNoMore reports whether a kind of cable is the bare fibre of another one: "smf" says nothing that "dr" does not say.
func (r *resolver) tellsNoMore(bare, of fabric.MediaID) bool {
	return of != 0 && len(r.f.Media[bare].Reach) == 0 && r.f.Media[bare].Class == r.f.Media[of].Class
}

// compare finds how the lists in verify mode differ from the links there are,
// and takes from them what the source does not say.
func (r *resolver) compare() {
	// A topology that does not fit may lack the devices: that it does not was said.
	fits := !slices.ContainsFunc(r.topos[1:], func(t *topology) bool { return !t.fits })
	if !fits {
		clear(r.loose)
	}
	for id := range r.f.Cablings {
		if id > 0 && r.f.Cablings[id].Mode == fabric.Compare {
			c := comparison{resolver: r, id: fabric.CablingID(id), list: &r.cfg.Cables[id-1], seen: make([]bool, len(r.f.Links))}
			c.run(r.rowsOf[id])
		}
	}
	for i := range r.cfg.Cables {
		list := &r.cfg.Cables[i]
		if !list.LLDP() { // those are compared
			r.looseEnds(list, r.loose[i+1])
		}
		if fits {
			r.elsewhereList(list, &r.f.Cablings[i+1])
		}
	}
	r.sayRows()
}

// elsewhereList refuses a list that knows none of the ports: it would make no
// cable, or compare none, and nobody would learn of it.
func (r *resolver) elsewhereList(list *lang.CableList, skipped *fabric.Cabling) {
	if skipped.Rows == 0 || skipped.Skipped < skipped.Rows {
		return
	}
	for i := range list.Rows {
		row := &list.Rows[i]
		if d := r.meant(list, row.ADevice); d != 0 {
			r.noPort(list, row, 0, d, row.APort)
			return
		}
		if d := r.meant(list, row.BDevice); d != 0 {
			r.noPort(list, row, 1, d, row.BPort)
			return
		}
	}
	r.fail(fmt.Sprintf("no row of %s names a device of this fabric: the first is of %s and %s", r.cfg.Address(list.Block), r.cfg.String(list.Rows[0].ADevice), r.cfg.String(list.Rows[0].BDevice)),
		"devices go by their names here: map those of the list with `rename`, or leave the list out", r.cell(list, &list.Rows[0], lang.CellADevice, ""), r.at(list.Block, schema.AFile, "the list"))
}

// looseEnds judges the rows of a list from known ports to unknown devices. Runs that end in panels are one mistake: a row that is missing leaves two.
func (r *resolver) looseEnds(list *lang.CableList, rows []loose) {
	var cut []string
	var labels []diag.Label
	for _, x := range rows {
		if r.external(x.port) {
			continue
		}
		row := &list.Rows[x.row]
		if !row.Cut {
			r.looseEnd(list, x)
			continue
		}
		cut = append(cut, fmt.Sprintf("%s at port %s of %s", r.f.PortName(x.port), r.cfg.String(row.BPort), r.cfg.String(row.BDevice)))
		if len(labels) < 2 {
			labels = append(labels, r.cell(list, row, lang.CellBDevice, [2]string{"", "the other"}[len(labels)]))
		}
	}
	if len(cut) > 0 {
		r.fail("runs lead into panels of "+r.cfg.Address(list.Block)+" and no further: from "+summarize(cut),
			"write the row that goes on from there, or correct its port: the front and rear ports of a panel belong together by their names, else by their numbers", labels...)
	}
}

// looseEnd judges a row from a known port to an unknown device.
func (r *resolver) looseEnd(list *lang.CableList, x loose) {
	row := &list.Rows[x.row]
	far, cell := [2]lang.Str{row.BDevice, row.BPort}, lang.CellBDevice
	if r.meant(list, row.ADevice) == 0 {
		far, cell = [2]lang.Str{row.ADevice, row.APort}, lang.CellADevice
	}
	if r.deviceNamed[r.str(far[1])] != 0 {
		r.failRow(list, list.Name, fmt.Sprintf("%s is no device here, and what stands for its port, %s, is one", r.cfg.String(far[0]), r.cfg.String(far[1])),
			"the columns of device and port are swapped: correct the header", r.cell(list, row, cell, ""))
		return
	}
	r.failRow(list, far[0], fmt.Sprintf("%s is cabled to %s, which is no device here", r.f.PortName(x.port), r.cfg.String(far[0])),
		"correct the name, map it with `rename`, or write external = true on the port", r.cell(list, row, cell, ""), r.f.PortLabel(x.port, 0, "the port"))
}

// external reports whether a port is written to lead outside.
func (r *resolver) external(p fabric.PortID) bool {
	a := r.around(r.f.Ports[p].Device)
	return r.portScope(p, &a, nil).get(schema.AExternal).N == 1
}

// comparison is one list against the links.
type comparison struct {
	*resolver
	id      fabric.CablingID
	list    *lang.CableList
	seen    []bool // by LinkID: a row has it, or a mismatch
	devices map[fabric.DeviceID]bool
	open    []listed // rows that no link has
	of      map[fabric.PortID]int
}

func (c *comparison) run(rows []listed) {
	c.devices = map[fabric.DeviceID]bool{}
	for i := range rows {
		x := &rows[i]
		c.devices[c.f.Ports[x.a].Device], c.devices[c.f.Ports[x.b].Device] = true, true
		if c.lower(x.b, x.a) {
			x.a, x.b = x.b, x.a
		}
		if l := c.f.Ports[x.a].Link; l != 0 && c.f.Ports[x.a].Peer == x.b {
			c.seen[l] = true
			c.same(l, x)
			continue
		}
		c.open = append(c.open, *x)
	}
	c.of = make(map[fabric.PortID]int, 2*len(c.open))
	for i, x := range c.open {
		c.of[x.a], c.of[x.b] = i, i
	}
	done := make([]bool, len(c.open))
	for i := range c.open {
		if !done[i] {
			c.swap(i, done)
		}
	}
	for i := range c.open {
		if !done[i] {
			c.moved(&c.open[i])
		}
	}
	for _, x := range c.loose[c.id] {
		c.heard(x)
	}
	c.missing()
}

// heard judges a neighbour that the source does not know at the port where it was heard. A port may hear several, as the firmware of a NIC beside
// the host: if one of them is the right one, the cable is.
func (c *comparison) heard(x loose) {
	row := &c.list.Rows[x.row]
	if c.meant(c.list, row.ADevice) == 0 {
		c.failRow(c.list, row.ADevice, fmt.Sprintf("%s took a capture of %s, and is no device here", c.cfg.String(row.ADevice), c.cfg.Address(c.list.Block)),
			"a capture is of the device that its file is called after: rename the file, write `device`, or map the name with `rename`",
			c.at(c.list.Block, schema.AFile, ""), c.cell(c.list, row, lang.CellBDevice, "what it saw"))
		return
	}
	link := c.free(x.port)
	if link == 0 || c.f.Links[link].Origin == fabric.OfMLAG || c.external(x.port) {
		return
	}
	c.seen[link] = true
	c.add(fabric.CableMismatch{
		Fault: fabric.CableMoved, Links: [2]fabric.LinkID{link}, Rows: [2]source.Span{row.Span}, A: x.port, Far: [2]fabric.Str{c.str(row.BDevice), c.str(row.BPort)},
	})
}

// lower reports whether port a is nearer to the nodes than b.
func (c *comparison) lower(a, b fabric.PortID) bool {
	rank := func(p fabric.PortID) int {
		d := &c.f.Devices[c.f.Ports[p].Device]
		if d.Kind == fabric.Node {
			return -1
		}
		return int(d.Tier)
	}
	x, y := rank(a), rank(b)
	return x < y || x == y && a < b
}

func (c *comparison) add(m fabric.CableMismatch) {
	m.List = c.id
	c.mismatch(m)
}

// mismatch keeps a difference of a list, or counts it.
func (r *resolver) mismatch(m fabric.CableMismatch) {
	if r.differ == nil {
		r.differ = make([]int, len(r.f.Cablings))
	}
	if r.differ[m.List]++; r.differ[m.List] > fabric.MaxMismatches {
		r.f.Cablings[m.List].Beyond++
		return
	}
	r.f.Mismatches = append(r.f.Mismatches, m)
}

func (c *comparison) span(x *listed) source.Span { return c.list.Rows[x.row].Span }

// same compares the cable of a row with that of its link. What the source does
// not say is taken from the list.
func (c *comparison) same(l fabric.LinkID, x *listed) {
	link, row := &c.f.Links[l], &c.list.Rows[x.row]
	m := c.mediaIn(c.list, row)
	at := fabric.CableMismatch{Links: [2]fabric.LinkID{l}, Rows: [2]source.Span{row.Span}, A: x.a, B: x.b, Media: m, MediaWord: c.str(row.Media), CableMm: row.LengthMm}
	if m != 0 && link.Media != 0 && m != link.Media && !c.tellsNoMore(m, link.Media) && !c.tellsNoMore(link.Media, m) {
		at.Fault = fabric.CableMedia
		c.add(at)
	}
	if row.HasLength && link.LengthWritten && max(link.CableMm, row.LengthMm)-min(link.CableMm, row.LengthMm) > uint32(row.OffMm) {
		at.Fault = fabric.CableLength
		c.add(at)
	}
	c.take(c.id, l, c.list, row)
}

// free is the link of a port, 0 if it has none or that is accounted for.
func (c *comparison) free(p fabric.PortID) fabric.LinkID {
	if l := c.f.Ports[p].Link; l != 0 && !c.seen[l] {
		return l
	}
	return 0
}

// swap finds the row that exchanged ends with row i: the two rows join the four
// ports of two links the other way round.
func (c *comparison) swap(i int, done []bool) {
	x := &c.open[i]
	la, lb := c.free(x.a), c.free(x.b)
	if la == 0 || lb == 0 || la == lb {
		return
	}
	far, near := c.f.Ports[x.a].Peer, c.f.Ports[x.b].Peer
	k, ok := c.of[far]
	if !ok || k == i || done[k] {
		return
	}
	y := &c.open[k]
	if (y.a != far || y.b != near) && (y.a != near || y.b != far) {
		return
	}
	done[i], done[k], c.seen[la], c.seen[lb] = true, true, true, true
	c.add(fabric.CableMismatch{Fault: fabric.CableSwapped, Links: [2]fabric.LinkID{la, lb}, Rows: [2]source.Span{c.span(x), c.span(y)}, A: x.a, B: x.b})
}

// moved reports a row that no link has: as that of the link whose lower end it
// has, else whose upper end, else as one too many.
func (c *comparison) moved(x *listed) {
	m := fabric.CableMismatch{Fault: fabric.CableMoved, Rows: [2]source.Span{c.span(x)}, A: x.a, B: x.b}
	la, lb := c.free(x.a), c.free(x.b)
	switch {
	case la != 0:
		m.Links = [2]fabric.LinkID{la, c.f.Ports[x.b].Link}
		c.seen[la] = true
	case lb != 0:
		m.A, m.B = x.b, x.a
		m.Links = [2]fabric.LinkID{lb, c.f.Ports[x.a].Link}
		c.seen[lb] = true
	default:
		m.Fault = fabric.CableExtra
		m.Links = [2]fabric.LinkID{c.f.Ports[x.a].Link, c.f.Ports[x.b].Link}
	}
	c.add(m)
}

// missing reports the links between devices that the list knows and that are
// in none of its rows.
func (c *comparison) missing() {
	for l := 1; l < len(c.f.Links); l++ {
		link := &c.f.Links[l]
		if c.seen[l] || link.Origin == fabric.OfMLAG || !c.devices[c.f.Ports[link.A].Device] || !c.devices[c.f.Ports[link.B].Device] {
			continue
		}
		c.add(fabric.CableMismatch{Fault: fabric.CableMissing, Links: [2]fabric.LinkID{fabric.LinkID(l)}, A: link.A, B: link.B})
	}
}
