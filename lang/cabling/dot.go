package cabling

import (
	"bytes"
	"strings"
)

// dot reads a graph whose edges are cables: "leaf1":"swp1" -- "spine1":"swp1" [length="3m"]. This is the file that the Prescriptive Topology
// Manager reads (CumulusNetworks/ptm, topology.dot.sample; Cumulus Linux user guide, "Prescriptive Topology Manager"): an undirected graph,
// comments with #, // and /* */, assignments of templates, and attributes of edges, of which media, length and label mean something here.
// The grammar is Graphviz's (graphviz.org/doc/info/lang.html); what gives an edge no port, and edges of more than two ends, are refused. Defaults of
// edges hold to the end of the group that they stand in. A semicolon behind the graph is none of the grammar, and read by the manager.
func (r *reader) dot() {
	d := &dotReader{r: r, src: r.src, line: 1}
	if bytes.HasPrefix(d.src, []byte("\xef\xbb\xbf")) {
		d.pos = 3
	}
	if d.graph() && d.rows == 0 && len(r.errs) == 0 {
		r.fail("empty", 0, 0, 1, "graph has no edges", "edges look like \"leaf1\":\"swp1\" -- \"spine1\":\"swp1\"")
	}
}

type dotReader struct {
	r     *reader
	src   []byte
	pos   int
	line  int
	tok   token
	rows  int
	arrow bool
	edge  Row   // defaults of `edge [...]`
	outer []Row // those of the groups around
}

type token struct {
	kind  byte // 'i' an ID, 'e' an edge, 0 the end, else the character
	text  []byte
	start int
	end   int
	line  int
	plain bool // an ID without quotes
}

// fail reports a fault of the syntax at the current token.
func (d *dotReader) fail(msg string) bool {
	length := max(d.tok.end-d.tok.start, 0)
	if d.tok.kind == 0 {
		msg += " at the end of the file"
	} else {
		msg += " at " + clip(d.src[d.tok.start:d.tok.end])
	}
	d.r.fail("syntax", d.tok.start, length, d.tok.line, msg, "edges look like \"leaf1\":\"swp1\" -- \"spine1\":\"swp1\"")
	return false
}

// skip passes blanks and comments. False: a comment is never closed.
func (d *dotReader) skip() bool {
	for d.pos < len(d.src) {
		c := d.src[d.pos]
		rest := d.src[d.pos:]
		switch {
		case c == '\n':
			d.line++
			d.pos++
		case c == ' ' || c == '\t' || c == '\r':
			d.pos++
		case c == '#', bytes.HasPrefix(rest, []byte("//")):
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				i = len(rest)
			}
			d.pos += i
		case bytes.HasPrefix(rest, []byte("/*")):
			i := bytes.Index(rest[2:], []byte("*/"))
			if i < 0 {
				d.tok = token{'/', nil, d.pos, d.pos + 2, d.line, false}
				return d.fail("comment is never closed")
			}
			d.line += bytes.Count(rest[:i+4], []byte("\n"))
			d.pos += i + 4
		default:
			return true
		}
	}
	return true
}

func idByte(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// next reads a token. A name in angle brackets is text of HTML, with such brackets in pairs.
func (d *dotReader) next() bool {
	if !d.skip() {
		return false
	}
	t := token{start: d.pos, end: d.pos, line: d.line}
	if d.pos >= len(d.src) {
		d.tok = t
		return true
	}
	c := d.src[d.pos]
	switch {
	case c == '"':
		return d.quoted(t)
	case c == '<':
		return d.html(t)
	case d.edgeAt(d.pos):
		t.kind, t.end = 'e', d.pos+2
	case idByte(c), c == '-' && d.pos+1 < len(d.src) && idByte(d.src[d.pos+1]):
		t.kind, t.plain = 'i', true
		t.end++
		for t.end < len(d.src) && idByte(d.src[t.end]) {
			t.end++
		}
		t.text = d.src[t.start:t.end]
		if t.end < len(d.src) && d.src[t.end] == '-' && !d.edgeAt(t.end) {
			for t.end < len(d.src) && (idByte(d.src[t.end]) || d.src[t.end] == '-' && !d.edgeAt(t.end)) {
				t.end++
			}
			d.r.fail("syntax", t.start, t.end-t.start, t.line, "name "+clip(d.src[t.start:t.end])+" has a hyphen and no quotes", "write it in quotes, as all names that hold more than letters, digits, _ and dots")
			return false
		}
	default:
		t.kind, t.end = c, d.pos+1
	}
	d.tok, d.pos = t, t.end
	return true
}

// edgeAt reports whether an edge is written at a place.
func (d *dotReader) edgeAt(i int) bool {
	return d.src[i] == '-' && i+1 < len(d.src) && (d.src[i+1] == '-' || d.src[i+1] == '>')
}

func (d *dotReader) html(t token) bool {
	depth, i := 0, d.pos
	for ; i < len(d.src); i++ {
		switch d.src[i] {
		case '\n':
			d.line++
		case '<':
			depth++
		case '>':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	d.tok = t
	if i == len(d.src) {
		d.tok.kind, d.tok.end = '<', t.start+1
		return d.fail("text of HTML is never closed")
	}
	d.tok.kind, d.tok.end, d.tok.text = 'i', i+1, d.src[t.start+1:i]
	d.pos = i + 1
	return true
}

func (d *dotReader) quoted(t token) bool {
	i := d.pos + 1
	escaped := false
	for ; i < len(d.src) && d.src[i] != '"'; i++ {
		if d.src[i] == '\n' {
			d.line++
		}
		if d.src[i] == '\\' && i+1 < len(d.src) && (d.src[i+1] == '"' || d.src[i+1] == '\\') {
			escaped = escaped || d.src[i+1] == '"'
			i++
		}
	}
	d.tok = t
	if i >= len(d.src) {
		d.tok.kind, d.tok.end = '"', t.start+1
		return d.fail("quote is never closed")
	}
	d.tok.kind, d.tok.end = 'i', i+1
	d.tok.text = d.src[t.start+1 : i]
	if escaped {
		d.tok.text = bytes.ReplaceAll(d.tok.text, []byte(`\"`), []byte(`"`))
	}
	d.pos = i + 1
	return true
}

func (d *dotReader) word(s string) bool {
	return d.tok.kind == 'i' && d.tok.plain && strings.EqualFold(string(d.tok.text), s)
}

func (d *dotReader) graph() bool {
	if !d.next() {
		return false
	}
	if d.word("strict") && !d.next() {
		return false
	}
	switch {
	case d.word("graph"):
	case d.word("digraph"):
		d.arrow = true
	default:
		return d.fail("a graph is wanted")
	}
	if !d.next() {
		return false
	}
	if d.tok.kind == 'i' && !d.next() {
		return false
	}
	if d.tok.kind != '{' {
		return d.fail("an opening brace is wanted")
	}
	if !d.next() {
		return false
	}
	for open := true; open; {
		switch {
		case d.tok.kind == 0:
			return d.fail("a closing brace is wanted")
		case d.tok.kind == '}':
			if open = len(d.outer) > 0; open {
				d.edge, d.outer = d.outer[len(d.outer)-1], d.outer[:len(d.outer)-1]
			}
			if !d.next() {
				return false
			}
		case d.tok.kind == ';':
			if !d.next() {
				return false
			}
		case d.tok.kind == '{', d.word("subgraph"):
			if !d.subgraph() {
				return false
			}
		case !d.statement():
			return false
		}
	}
	for d.tok.kind == ';' {
		if !d.next() {
			return false
		}
	}
	if d.tok.kind != 0 {
		return d.fail("one graph is read, and something follows")
	}
	return true
}

// subgraph passes to the inside of a group, whose edges count like others.
func (d *dotReader) subgraph() bool {
	if d.word("subgraph") {
		if !d.next() {
			return false
		}
		if d.tok.kind == 'i' && !d.next() {
			return false
		}
	}
	if d.tok.kind != '{' {
		return d.fail("an opening brace is wanted")
	}
	d.outer = append(d.outer, d.edge)
	return d.next()
}

// statement reads a node, an edge, an assignment or defaults.
func (d *dotReader) statement() bool {
	if d.tok.kind != 'i' {
		return d.fail("a device is wanted")
	}
	defaults := d.word("edge")
	other := d.word("node") || d.word("graph")
	row := Row{Number: d.tok.line, At: Cell{Start: uint32(d.tok.start)}}
	if !d.end(&row.A, &row.ADevice, &row.APort) {
		return false
	}
	switch {
	case d.tok.kind == '=':
		return d.next() && d.value()
	case d.tok.kind == '[':
		into := &Row{}
		if defaults && !other {
			into = &d.edge
		}
		return d.attributes(into)
	case d.tok.kind != 'e':
		return true
	}
	if want := map[bool]string{false: "--", true: "->"}[d.arrow]; string(d.src[d.tok.start:d.tok.end]) != want {
		return d.fail("edges of this graph are written " + want + ", and this is another")
	}
	if !d.next() {
		return false
	}
	if d.tok.kind != 'i' || d.word("subgraph") {
		return d.fail("the other end of the cable is wanted")
	}
	if !d.end(&row.B, &row.BDevice, &row.BPort) {
		return false
	}
	if d.tok.kind == 'e' {
		return d.fail("a cable has two ends, and here is a third")
	}
	row.Media, row.MediaAt, row.LengthMm, row.OffMm, row.HasLength, row.LengthAt, row.Label = d.edge.Media, d.edge.MediaAt, d.edge.LengthMm, d.edge.OffMm, d.edge.HasLength, d.edge.LengthAt, d.edge.Label
	row.At.Len = row.BPort.Start + row.BPort.Len - row.At.Start
	if d.tok.kind == '[' && !d.attributes(&row) {
		return false
	}
	d.rows++
	d.cable(&row)
	return true
}

// cable hands over an edge that has its ports.
func (d *dotReader) cable(row *Row) {
	for _, s := range []struct {
		text []byte
		what string
		at   Cell
	}{{row.A.Device, "device", row.ADevice}, {row.B.Device, "device", row.BDevice}, {row.A.Port, "port", row.APort}, {row.B.Port, "port", row.BPort}} {
		if s.what == "port" && s.at.Len == 0 {
			d.r.fail("no port", int(row.At.Start), int(max(row.BDevice.Start+row.BDevice.Len, row.At.Start)-row.At.Start), row.Number, "edge does not say which port of a device it joins", "write \"leaf1\":\"swp1\" -- \"spine1\":\"swp1\"")
			return
		}
		if why := nameFault(s.text); why != "" {
			d.r.fail("name"+s.what+why, int(s.at.Start), int(s.at.Len), row.Number, "name of a "+s.what+" "+why, "write the name of a device and, behind a colon, that of its port")
			return
		}
	}
	if row.At.Len > 1<<20 {
		row.At.Len = row.ADevice.Len
	}
	d.r.done(row)
}

// end reads a device and its port.
func (d *dotReader) end(s *Side, device, port *Cell) bool {
	s.Device, *device = d.tok.text, Cell{uint32(d.tok.start), uint32(d.tok.end - d.tok.start)}
	if !d.next() {
		return false
	}
	for n := 0; d.tok.kind == ':'; n++ {
		if !d.next() {
			return false
		}
		if d.tok.kind != 'i' {
			return d.fail("a port is wanted")
		}
		switch {
		case n == 0:
			s.Port, *port = d.tok.text, Cell{uint32(d.tok.start), uint32(d.tok.end - d.tok.start)}
		case n > 1 || !compass(d.tok.text):
			return d.fail("a device has one port here")
		}
		if !d.next() {
			return false
		}
	}
	return true
}

func compass(b []byte) bool {
	switch string(b) {
	case "n", "ne", "e", "se", "s", "sw", "w", "nw", "c", "_":
		return true
	}
	return false
}

// value passes the value of an assignment.
func (d *dotReader) value() bool {
	if d.tok.kind != 'i' {
		return d.fail("a value is wanted")
	}
	return d.next()
}

// attributes reads lists in brackets and keeps what a cable has.
func (d *dotReader) attributes(row *Row) bool {
	for d.tok.kind == '[' {
		if !d.next() {
			return false
		}
		for d.tok.kind != ']' {
			if d.tok.kind == ',' || d.tok.kind == ';' {
				if !d.next() {
					return false
				}
				continue
			}
			if d.tok.kind != 'i' {
				return d.fail("an attribute is wanted")
			}
			name := strings.ToLower(string(d.tok.text))
			if !d.next() {
				return false
			}
			if d.tok.kind != '=' {
				return d.fail("an equals sign is wanted")
			}
			if !d.next() {
				return false
			}
			if d.tok.kind != 'i' {
				return d.fail("a value is wanted")
			}
			d.attribute(row, name)
			if !d.next() {
				return false
			}
		}
		if !d.next() {
			return false
		}
	}
	return true
}

func (d *dotReader) attribute(row *Row, name string) {
	at := Cell{uint32(d.tok.start), uint32(d.tok.end - d.tok.start)}
	switch name {
	case "media":
		row.Media, row.MediaAt = mediaWord(d.tok.text), at
	case "label":
		row.Label = d.tok.text
	case "length":
		mm, off, why := parseLength(bytes.TrimSpace(d.tok.text), nil)
		if why != "" {
			d.r.fail("length", d.tok.start, d.tok.end-d.tok.start, d.tok.line, "length "+clip(d.tok.text)+" "+why, "write a number with a unit: m, cm, mm, km, ft, in or mi")
			return
		}
		row.LengthMm, row.OffMm, row.HasLength, row.LengthAt = mm, off, true, at
	}
}
