// Package document writes what people read of a compiled fabric: the list of
// its cables for those who lay them, and a description of the whole in
// Markdown. It takes a fabric with its derived facts and returns text; it reads
// nothing and judges nothing.
package document

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/cmd/rocec/internal/picture"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// cable is one line of the list.
type cable struct {
	number   int
	a, b     end
	kind     fabric.MediaID
	media    string
	lengthMm uint32
	length   string // in metres, "" if not written
	mbps     uint32
	speed    string
}

type end struct{ rack, device, port string }

// columns are the heads of the list. a_device to length_unit are those a
// `cabling` block reads with format = "csv" and no columns of its own.
var columns = []string{"number", "a_rack", "a_device", "a_port", "b_rack", "b_device", "b_port", "media", "length", "length_unit", "speed"}

// cables lists every cable from the switch to what hangs on it, in the order of
// racks, devices and ports: the order in which they are laid.
func cables(f *fabric.Fabric) []cable {
	list := make([]cable, 0, len(f.Links)-1)
	for l := 1; l < len(f.Links); l++ {
		link := &f.Links[l]
		a, b := link.A, link.B
		if f.Devices[f.Ports[a].Device].Kind == fabric.Node && f.Devices[f.Ports[b].Device].Kind == fabric.Switch {
			a, b = b, a
		}
		c := cable{a: endOf(f, a), b: endOf(f, b), media: f.Text(f.Media[link.Media].Name), lengthMm: link.CableMm, kind: link.Media, mbps: f.Ports[a].Mbps}
		if link.CableMm > 0 {
			c.length = strconv.FormatFloat(float64(link.CableMm)/1000, 'f', -1, 64)
		}
		c.speed = picture.Speed(c.mbps)
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(x, y cable) int { return order(x.a, y.a) })
	for i := range list {
		list[i].number = i + 1
	}
	return list
}

func order(x, y end) int {
	if c := intent.Natural(x.rack, y.rack); c != 0 {
		return c
	}
	if c := intent.Natural(x.device, y.device); c != 0 {
		return c
	}
	return intent.Natural(x.port, y.port)
}

func endOf(f *fabric.Fabric, p fabric.PortID) end {
	d := &f.Devices[f.Ports[p].Device]
	return end{f.Text(d.Rack), f.Text(d.Name), f.Text(f.Ports[p].Name)}
}

// CablesCSV writes the list of cables as a table for spreadsheets and for
// `cabling` blocks.
func CablesCSV(to io.Writer, f *fabric.Fabric) error {
	w := csv.NewWriter(to)
	if err := w.Write(columns); err != nil {
		return err
	}
	for _, c := range cables(f) {
		unit := ""
		if c.length != "" {
			unit = "m"
		}
		if err := w.Write([]string{
			strconv.Itoa(c.number), noFormula(c.a.rack), noFormula(c.a.device), noFormula(c.a.port),
			noFormula(c.b.rack), noFormula(c.b.device), noFormula(c.b.port), noFormula(c.media), c.length, unit, c.speed,
		}); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// noFormula keeps a spreadsheet from computing a cell that is a name: an apostrophe
// in front of what begins a formula there makes it text (OWASP, CSV Injection).
// Such a name does not come back through a `cabling` block as it was.
func noFormula(s string) string {
	s = diag.Printable(s) // a line is a cable
	if s != "" && strings.IndexByte("=+-@", s[0]) >= 0 {
		return "'" + s
	}
	return s
}

// CablesMarkdown writes the same list with a box to tick for each cable, under
// a heading for each device, and what to order before it.
func CablesMarkdown(to io.Writer, f *fabric.Fabric) error {
	w := bufio.NewWriter(to)
	list := cables(f)
	fmt.Fprintf(w, "# Cables\n\n%s.\n", picture.Count(len(list), "cable"))
	order := billOf(list)
	if len(order) > 0 {
		fmt.Fprint(w, "\n## What is needed\n\n")
		table(w, []string{"cables", "media", "length", "speed"}, order)
	}
	device := ""
	var rows [][]string
	flush := func() {
		if len(rows) > 0 {
			fmt.Fprintf(w, "\n## %s\n\n", cell(device))
			table(w, []string{"", "no.", "port", "to", "port", "rack", "media", "length", "speed"}, rows)
		}
		rows = nil
	}
	for _, c := range list {
		if c.a.device != device {
			flush()
			device = c.a.device
		}
		rows = append(rows, []string{"☐", strconv.Itoa(c.number), c.a.port, c.b.device, c.b.port, c.b.rack, c.media, metres(c.length), c.speed})
	}
	flush()
	return w.Flush()
}

// billOf counts the cables of each kind, length and speed.
func billOf(list []cable) [][]string {
	type key struct {
		kind   fabric.MediaID
		length uint32
		mbps   uint32
	}
	first := map[key]int{}
	var keys []key
	number := map[key]int{}
	for i, c := range list {
		k := key{c.kind, c.lengthMm, c.mbps}
		if number[k]++; number[k] == 1 {
			first[k] = i
			keys = append(keys, k)
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int {
		if c := strings.Compare(list[first[a]].media, list[first[b]].media); c != 0 {
			return c
		}
		return int(int64(a.length) - int64(b.length))
	})
	var rows [][]string
	for _, k := range keys {
		c := &list[first[k]]
		rows = append(rows, []string{strconv.Itoa(number[k]), orDash(c.media), orDash(metres(c.length)), orDash(c.speed)})
	}
	return rows
}

func metres(length string) string {
	if length == "" {
		return ""
	}
	return length + " m"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
