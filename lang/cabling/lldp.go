package cabling

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// formHelp says which captures are read.
const formHelp = "take it with lldpctl -f json, nv show interface lldp -o json, networkctl lldp --json=short, show lldp table, or from LLDP_ENTRY_TABLE"

// NoNeighbour is the message on a capture of a device that hears nobody, or nobody who can be told.
const NoNeighbour = "capture tells of no neighbour that has a name and a port"

// lldp reads what one device says of its neighbours, in any of these forms:
//
//	lldpctl -f json, lldpcli -f json show neighbors   lldpd, src/client/json_writer.c and tests/integration/test_lldpcli.py: "interface" is an
//	                                                  object, or a list of objects of one member where a port has several neighbours
//	lldpctl -f json0                                  the same with every value in a list
//	nv show interface lldp -o json                    NVUE: port, "lldp", "neighbor", name, "chassis" and "port" (as napalm's cumulus driver reads it)
//	networkctl lldp --json=short                      systemd 257 and later, src/network/networkctl-lldp.c
//	LLDP_ENTRY_TABLE of SONiC's APPL_DB               keys with lldp_rem_sys_name, lldp_rem_port_id (sonic-net/sonic-swss-common schema)
//	show lldp table, lldpshow                         SONiC, sonic-utilities/scripts/lldpshow
//
// The port of a neighbour is its port ID, or its description where the ID is a MAC address, as hosts send it. The label of a row is the description
// where it is not the port: SONiC sends the alias of a port as its ID, and its name as the description (sonic-buildimage, dockers/docker-lldp,
// lldpmgrd). A neighbour without a name goes by the ID of its chassis. Both ends of a cable see it, so the same cable may be in two captures.
func (r *reader) lldp() {
	if nameFault([]byte(r.Device)) != "" {
		r.fail("device", 0, 0, 0, "capture does not say which device took it", "write device = \"NAME\"")
		return
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(r.src, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) == 0 {
		r.fail("empty", 0, 0, 1, "capture is empty", formHelp)
		return
	}
	c := &capture{r: r}
	defer func() {
		if c.rows == 0 && len(r.errs) == 0 {
			r.fail("empty", 0, 0, 1, NoNeighbour, "take it again when the daemons at both ends run and have heard each other, or leave the file out")
		}
	}()
	if text[0] != '{' && text[0] != '[' {
		c.table()
		return
	}
	from := bytes.IndexByte(r.src, text[0])
	n, at, err := tree(r.src[from:])
	if err != nil {
		at = min(from+at, max(len(r.src)-1, 0))
		msg := err.Error()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = min(from+max(int(syntax.Offset)-1, 0), max(len(r.src)-1, 0))
			msg = strings.TrimPrefix(msg, "json: ")
		}
		r.fail("syntax", at, 1, lineAt(r.src, at), "capture is no JSON: "+msg, "take it again, with nothing but what the command printed")
		return
	}
	c.base = uint32(from)
	if !c.json(&n) {
		r.fail("form", 0, 0, 1, "capture has no form that is known", formHelp)
	}
}

type capture struct {
	r    *reader
	rows int
	base uint32
	line int // at lineAt
	last int
}

// neighbour hands over one row. Parts that are nil are not known.
func (c *capture) neighbour(local, device, id, idType, descr *node) {
	if descr != nil && strings.TrimSpace(descr.text) == "" {
		descr = nil
	}
	port := id
	if id == nil || descr != nil && (idType != nil && idType.text == "mac" || isMAC(id.text)) {
		port, descr = descr, nil
	}
	if local == nil || device == nil || port == nil || device.text == "" || port.text == "" || local.text == "" {
		return // a neighbour that tells neither name nor port is none that a cable can be checked against
	}
	start, end := min(local.start, device.start, port.start), max(local.end, device.end, port.end)
	row := Row{
		A: Side{Device: []byte(c.r.Device), Port: []byte(local.text)}, B: Side{Device: []byte(device.text), Port: []byte(port.text)},
		Number: c.lineOf(int(c.base + start)), At: Cell{c.base + start, end - start},
		APort: c.cell(local), BDevice: c.cell(device), BPort: c.cell(port),
	}
	if descr != nil && descr.text != port.text {
		row.Label = []byte(descr.text)
	}
	for _, b := range [][]byte{row.A.Port, row.B.Device, row.B.Port} {
		if why := nameFault(b); why != "" {
			c.r.fail("name"+why, int(row.At.Start), int(row.At.Len), row.Number, "name "+clip(b)+" "+why, "correct it on the device that sends it, or leave the neighbour out of the capture")
			return
		}
	}
	c.rows++
	c.r.done(&row)
}

func (c *capture) cell(n *node) Cell { return Cell{c.base + n.start, n.end - n.start} }

// lineOf counts lines on from the last place asked for.
func (c *capture) lineOf(at int) int {
	if at < c.last || c.line == 0 {
		c.last, c.line = 0, 1
	}
	c.line += bytes.Count(c.r.src[c.last:at], []byte("\n"))
	c.last = at
	return c.line
}

// isMAC reports whether a text is a MAC address: six pairs of hexadecimal digits.
func isMAC(s string) bool {
	if len(s) != 17 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i%3 == 2 {
			if c != ':' && c != '-' {
				return false
			}
			continue
		}
		if _, err := strconv.ParseUint(string(c), 16, 8); err != nil {
			return false
		}
	}
	return true
}

// json finds out which form a capture has.
func (c *capture) json(n *node) bool {
	switch {
	case n.get("lldp") != nil:
		c.lldpd(n.get("lldp").get("interface"))
		return true
	case n.get("Neighbors") != nil:
		c.networkd(n.get("Neighbors"))
		return true
	}
	if n.kind != '{' {
		return false
	}
	known := len(n.kids) == 0
	for i := range n.kids {
		name, kid := &n.names[i], &n.kids[i]
		if local, ok := strings.CutPrefix(name.text, "LLDP_ENTRY_TABLE:"); ok {
			if v := kid.get("value"); v != nil {
				kid = v
			}
			at := *name
			at.text = local
			c.neighbour(&at, kid.get("lldp_rem_sys_name").str(), kid.get("lldp_rem_port_id").str(), nil, kid.get("lldp_rem_port_desc").str())
			known = true
			continue
		}
		if lldp := kid.get("lldp"); lldp != nil {
			known = true
			c.nvue(name, lldp.get("neighbor"))
			continue
		}
		known = known || kid.kind == '{' && len(kid.kids) == 0 // a port without neighbours
	}
	return known
}

func (c *capture) nvue(local, ns *node) {
	if ns == nil || ns.kind != '{' {
		return
	}
	for i := range ns.kids {
		port := ns.kids[i].get("port")
		device := ns.kids[i].get("chassis").get("system-name").str()
		if device == nil {
			device = &ns.names[i]
		}
		c.neighbour(local, device, port.get("name").str(), port.get("type").str(), port.get("description").str())
	}
}

func (c *capture) networkd(list *node) {
	for i := range list.kids {
		local := list.kids[i].get("InterfaceName").str()
		ns := list.kids[i].get("Neighbors")
		if ns == nil {
			continue
		}
		for k := range ns.kids {
			n := &ns.kids[k]
			device := n.get("SystemName").str()
			if device == nil {
				device = n.get("ChassisID").str()
			}
			c.neighbour(local, device, n.get("PortID").str(), nil, n.get("PortDescription").str())
		}
	}
}

// lldpd reads the neighbours as lldpcli prints them.
func (c *capture) lldpd(n *node) {
	if n == nil {
		return
	}
	if n.kind == '[' {
		for i := range n.kids {
			if name := n.kids[i].get("name").str(); name != nil && n.kids[i].get("port") != nil {
				c.lldpdPort(name, &n.kids[i])
				continue
			}
			c.lldpd(&n.kids[i])
		}
		return
	}
	for i := range n.kids {
		if n.kind == '{' {
			c.lldpdPort(&n.names[i], &n.kids[i])
		}
	}
}

func (c *capture) lldpdPort(local, n *node) {
	if n.get("status") != nil {
		c.r.fail("own", int(c.base+local.start), int(local.end-local.start), c.lineOf(int(c.base+local.start)), "capture is of what the device says of itself: it has the status of ports", "take it with lldpctl -f json, or lldpcli -f json show neighbors")
		return
	}
	chassis, port := n.get("chassis"), n.get("port")
	device := chassis.get("name").str()
	if device == nil && chassis != nil && chassis.kind == '{' && len(chassis.kids) == 1 && chassis.names[0].text != "id" {
		device = &chassis.names[0]
	}
	if device == nil {
		device = chassis.get("id").str()
	}
	id := port.get("id")
	kind := id.get("type")
	c.neighbour(local, device, id.str(), kind, port.get("descr").str())
}

// table reads the columns of `show lldp table`: their places follow from the line of dashes.
func (c *capture) table() {
	var heads []string
	var from []int
	pos, line := 0, 0
	dashes := false
	for pos < len(c.r.src) {
		end := bytes.IndexByte(c.r.src[pos:], '\n')
		if end < 0 {
			end = len(c.r.src) - pos
		}
		text := bytes.TrimRight(c.r.src[pos:pos+end], "\r ")
		start := pos
		pos += end + 1
		line++
		switch {
		case len(text) == 0:
		case heads == nil:
			if words := strings.Fields(string(text)); len(words) >= 3 && words[0] == "LocalPort" && words[1] == "RemoteDevice" && words[2] == "RemotePortID" {
				heads = words
			}
		case !dashes:
			if bytes.Trim(text, "- ") != nil && len(bytes.Trim(text, "- ")) > 0 {
				c.r.fail("form", start, len(text), line, "a line of dashes is wanted under the header", "keep the table as show lldp table prints it")
				return
			}
			for i := range text {
				if text[i] == '-' && (i == 0 || text[i-1] == ' ') {
					from = append(from, i)
				}
			}
			dashes = true
			if len(from) < 3 {
				c.r.fail("form", start, len(text), line, "table has fewer than 3 columns", "keep the table as show lldp table prints it")
				return
			}
		case bytes.HasPrefix(text, []byte("--")):
			return
		default:
			c.tableRow(text, start, line, from)
		}
	}
	if heads == nil {
		c.r.fail("form", 0, 0, 1, "capture has no form that is known", formHelp)
	}
}

func (c *capture) tableRow(text []byte, start, line int, from []int) {
	var cells [5]*node
	for i := range min(len(from), len(cells)) {
		a, b := from[i], len(text)
		if i+1 < len(from) {
			b = min(from[i+1], len(text))
		}
		if a >= b {
			continue
		}
		for a < b && text[a] == ' ' { // a column of numbers is set to the right
			a++
		}
		cell := bytes.TrimRight(text[a:b], " ")
		if len(cell) > 0 {
			cells[i] = &node{kind: '"', text: string(cell), start: uint32(start + a), end: uint32(start + a + len(cell))}
		}
	}
	c.line, c.last = line, start
	c.neighbour(cells[0], cells[1], cells[2], nil, cells[4])
}
