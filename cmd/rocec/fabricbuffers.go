package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
)

// switchesJSON is what the packet buffers of a fabric have to hold.
type switchesJSON struct {
	FormatVersion string        `json:"format_version"`
	Switches      []switchGroup `json:"switches"`
}

// switchGroup is what switches have that are alike in all of it.
type switchGroup struct {
	Count    int      `json:"count"`
	Switches []string `json:"switches"` // addresses
	names    []string
	switchBuffer
}

// switchBuffer is the packet buffer of a switch, in bytes. What the source and the
// model's data leave open is null.
type switchBuffer struct {
	Model      string         `json:"model"`
	OS         string         `json:"os"`
	Ports      uint32         `json:"ports"` // cabled and not shut down: what can be congested at once
	Buffer     *uint64        `json:"buffer_bytes"`
	Cell       *uint32        `json:"cell_bytes"`
	Headroom   uint64         `json:"headroom_bytes"` // of all lossless groups, in whole cells
	Pool       *uint64        `json:"headroom_pool_bytes"`
	Shared     *uint64        `json:"shared_bytes"`
	SharedFrom string         `json:"shared_from"` // written, model, or "" where it is not known
	Pools      *foundPools    `json:"pools"`       // as the source has found them; null where it does not say
	Classes    []bufferClass  `json:"classes"`
	Lossless   int            `json:"lossless_priorities"`
	Fit        *int64         `json:"lossless_fit"` // headroom of so many fits; there are 8, and lossless_most in the ASIC
	FitBytes   *uint64        `json:"per_priority_bytes"`
	Share      uint8          `json:"headroom_share_percent"`
	Most       *uint8         `json:"lossless_most"` // that the ASIC has
	Over       *headroomRatio `json:"headroom_pool_over"`
	FitUnknown string         `json:"lossless_fit_unknown,omitempty"`
}

// foundPools are the pools of a switch that is taken as found, null where they are
// not written.
type foundPools struct {
	Ingress        *uint64 `json:"ingress_bytes"`
	Headroom       *uint64 `json:"headroom_bytes"`
	EgressLossy    *uint64 `json:"egress_lossy_bytes"`
	EgressLossless *uint64 `json:"egress_lossless_bytes"` // a static threshold
}

// headroomRatio is how many times over a shared headroom pool is sold.
type headroomRatio struct {
	Num uint64 `json:"num"`
	Den uint64 `json:"den"`
}

// bufferClass is a class on the ports of a switch: least and most where they
// differ.
type bufferClass struct {
	Class    string      `json:"class"`
	Priority uint8       `json:"priority"`
	Queue    uint8       `json:"queue"`
	Lossless bool        `json:"lossless"`
	Ports    int         `json:"ports"`
	Xoff     *span       `json:"headroom"`
	Sources  []string    `json:"headroom_from"`
	Alpha    string      `json:"alpha"` // "" where it is not known or differs
	ECN      *bufferMark `json:"ecn"`
}

// bufferMark is the marking of a class, and the fill at which PFC pauses it.
type bufferMark struct {
	Min     span   `json:"min_bytes"`
	Max     span   `json:"max_bytes"`
	Relaxed *span  `json:"pfc_relaxed_bytes"` // one queue fed by one port
	Strict  *span  `json:"pfc_strict_bytes"`  // every queue fed by one port
	First   string `json:"first"`             // always, one_queue, never; "" where it is not known
}

type span struct {
	Least uint64 `json:"least"`
	Most  uint64 `json:"most"`
}

func (s *span) take(n uint64) *span {
	if s == nil {
		return &span{n, n}
	}
	return &span{min(s.Least, n), max(s.Most, n)}
}

func (s span) String() string {
	if s.Least == s.Most {
		return fmt.Sprintf("%d B", s.Least)
	}
	return fmt.Sprintf("%d to %d B", s.Least, s.Most)
}

// switchBuffers is what every switch has to hold, equal ones together, in the order of
// the first of each.
func (p *project) switchBuffers() *switchesJSON {
	f := p.res.Fabric
	out := &switchesJSON{FormatVersion: "1.0", Switches: []switchGroup{}}
	at := map[string]int{}
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		if f.Devices[d].Kind != fabric.Switch {
			continue
		}
		b := p.switchBuffer(d)
		key := b.key()
		i, ok := at[key]
		if !ok {
			i = len(out.Switches)
			at[key] = i
			out.Switches = append(out.Switches, switchGroup{switchBuffer: *b})
		}
		g := &out.Switches[i]
		g.Count++
		g.Switches, g.names = append(g.Switches, f.Text(f.Devices[d].Address)), append(g.names, f.Text(f.Devices[d].Name))
	}
	return out
}

// key is equal for switches that have the same.
func (b *switchBuffer) key() string {
	var w strings.Builder
	_ = encodeJSON(&w, b) // of numbers and texts
	return w.String()
}

func (p *project) switchBuffer(d fabric.DeviceID) *switchBuffer {
	f, facts := p.res.Fabric, p.res.Facts
	dev := &f.Devices[d]
	m := &f.Models[dev.Model]
	buf := &facts.Buffers[d]
	b := &switchBuffer{
		Model: f.Text(m.Name), OS: f.Text(dev.OSName), Ports: buf.Ports, Headroom: buf.HeadroomBytes, Buffer: stated(m.BufferBytes), Cell: stated(m.CellBytes),
		Pool: stated(dev.Buffer.HeadroomBytes), Classes: []bufferClass{}, Most: stated(m.MaxLossless), Share: m.HeadroomSharePercent,
	}
	if v := f.Text(dev.OSVersion); v != "" {
		b.OS += "/" + v
	}
	if b.Share == 0 {
		half := headroom.DefaultHeadroomShare()
		b.Share = uint8(100 * half.Num / half.Den)
	}
	if buf.SharedKnown {
		b.Shared, b.SharedFrom = &buf.SharedBytes, "model"
		if dev.Buffer.SharedBytes > 0 {
			b.SharedFrom = "written"
		}
	}
	if x := dev.Pools; x != (fabric.Pools{}) {
		b.Pools = &foundPools{stated(x.IngressBytes), stated(x.HeadroomBytes), stated(x.EgressLossyBytes), stated(x.EgressLosslessBytes)}
	}
	var each uint64 // bytes of one more priority, over all ports
	bare := 0       // ports without a lossless priority
	priorities := uint8(0)
	first, end := f.PortsOf(d)
	for id := first; id < end; id++ {
		port := &f.Ports[id]
		if port.Link == 0 || port.Flags&(fabric.IsLAG|fabric.ShutDown) != 0 {
			continue
		}
		x := facts.Port(id)
		largest := uint64(0)
		for prio, h := range x.Headroom {
			if h.Source != derive.SourceNone {
				priorities |= 1 << prio
				largest = max(largest, wholeCells(h.Xoff, m.CellBytes))
			}
		}
		if each += largest; largest == 0 {
			bare++
		}
		b.classes(f, port, x)
	}
	for set := priorities; set != 0; set &= set - 1 {
		b.Lossless++
	}
	for i := range b.Classes {
		b.Classes[i].judge()
	}
	b.fits(each, bare)
	return b
}

// stated is a number that data or source state, null where they do not.
func stated[T uint8 | uint32 | uint64](n T) *T {
	if n == 0 {
		return nil
	}
	return &n
}

func wholeCells(bytes, cell uint32) uint64 {
	c := uint64(max(cell, 1))
	return (uint64(bytes) + c - 1) / c * c
}

// classes adds what a port says of each class.
func (b *switchBuffer) classes(f *fabric.Fabric, port *fabric.Port, x *derive.Port) {
	profile := &f.Profiles[port.Profile]
	if port.Profile == 0 {
		return
	}
	for i := range f.QoS[profile.QoS].Classes {
		c, on := &f.QoS[profile.QoS].Classes[i], profile.On[i]
		mark := x.ECN[on.Queue&7]
		if !c.Lossless && !(mark.On && c.Carries == fabric.CarriesRDMA) {
			continue
		}
		row := b.class(f.Text(c.Name), on, c.Lossless)
		row.Ports++
		if h := &x.Headroom[on.Priority&7]; c.Lossless && h.Source != derive.SourceNone {
			if h.Source != derive.SourceKept {
				row.Xoff = row.Xoff.take(uint64(h.Xoff))
			}
			if s := sourceName(h.Source); !slices.Contains(row.Sources, s) {
				row.Sources = append(row.Sources, s)
			}
		}
		if c.Lossless {
			row.alpha(x.Alpha[on.Priority&7])
		}
		if mark.On {
			row.mark(&mark)
		}
	}
}

// class is the row of a class, which is made when it is first met.
func (b *switchBuffer) class(name string, on fabric.ClassOn, lossless bool) *bufferClass {
	for i := range b.Classes {
		if c := &b.Classes[i]; c.Class == name && c.Priority == on.Priority && c.Queue == on.Queue && c.Lossless == lossless {
			return c
		}
	}
	b.Classes = append(b.Classes, bufferClass{Class: name, Priority: on.Priority, Queue: on.Queue, Lossless: lossless, Sources: []string{}})
	return &b.Classes[len(b.Classes)-1]
}

func (c *bufferClass) alpha(a fabric.Ratio) {
	text := ""
	switch {
	case a.Num <= 0 || a.Den <= 0:
	case a.Den == 1:
		text = fmt.Sprint(a.Num)
	default:
		text = fmt.Sprintf("%d/%d", a.Num, a.Den)
	}
	if c.Ports == 1 {
		c.Alpha = text
	} else if c.Alpha != text {
		c.Alpha = ""
	}
}

func (c *bufferClass) mark(e *derive.ECN) {
	if c.ECN == nil {
		c.ECN = &bufferMark{Min: span{uint64(e.MinBytes), uint64(e.MinBytes)}, Max: span{uint64(e.MaxBytes), uint64(e.MaxBytes)}}
	}
	m := c.ECN
	m.Min, m.Max = *m.Min.take(uint64(e.MinBytes)), *m.Max.take(uint64(e.MaxBytes))
	if c.Lossless && e.RelaxedBytes > 0 {
		m.Relaxed, m.Strict = m.Relaxed.take(uint64(e.RelaxedBytes)), m.Strict.take(uint64(e.StrictBytes))
	}
}

// judge says whether marking begins before pausing, by the worst of the ports. A
// threshold that is as large as the bound still marks first [roce-theory B.2].
func (c *bufferClass) judge() {
	if c.ECN == nil || c.ECN.Relaxed == nil {
		return
	}
	switch m := c.ECN; {
	case m.Min.Most <= m.Strict.Least:
		m.First = "always"
	case m.Min.Most <= m.Relaxed.Least:
		m.First = "one_queue"
	default:
		m.First = "never"
	}
}

// fits says how many lossless priorities the buffer has room for, each with
// headroom on every cabled port as the largest that there is now [roce-theory B.5].
func (b *switchBuffer) fits(each uint64, bare int) {
	switch {
	case b.Pool != nil:
		b.Over = &headroomRatio{b.Headroom, *b.Pool}
		b.FitUnknown = "a shared headroom pool takes the place of reserves"
	case b.Buffer == nil:
		b.FitUnknown = "the data of the model states no buffer"
	case each == 0 || bare > 0:
		b.FitUnknown = fmt.Sprintf("%s no lossless class, so that the headroom of one more is not known", oneOrMore(bare))
		if each == 0 && bare == 0 {
			b.FitUnknown = "no port is cabled"
		}
	default:
		n, err := headroom.PriorityFit(int64(*b.Buffer), int64(each), headroom.Ratio{Num: int64(b.Share), Den: 100})
		if err != nil {
			b.FitUnknown = err.Error()
			return
		}
		b.Fit, b.FitBytes = &n, &each
	}
}

func oneOrMore(n int) string {
	if n == 1 {
		return "1 cabled port has"
	}
	return fmt.Sprintf("%d cabled ports have", n)
}

// maxGroupNames bounds the switches of a group that are named.
const maxGroupNames = 4

// text prints a group.
func (g *switchGroup) text(w io.Writer) {
	names := g.names
	if len(names) > maxGroupNames {
		names = append(slices.Clone(names[:maxGroupNames-1]), fmt.Sprintf("%d more", len(names)-maxGroupNames+1))
	}
	fmt.Fprintf(w, "%s: %s (%s, %s)\n", countOf(g.Count, "switch", "switches"), strings.Join(names, ", "), orNone(g.Model, "no model"), orNone(g.OS, "no os"))
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-9s %s\n", what, fmt.Sprintf(format, args...))
	}
	line("ports", "%d cabled", g.Ports)
	switch {
	case g.Buffer == nil:
		line("buffer", "not known: the data of the model states none")
	case g.Cell == nil:
		line("buffer", "%d B", *g.Buffer)
	default:
		line("buffer", "%d B in cells of %d B", *g.Buffer, *g.Cell)
	}
	switch {
	case g.Pool != nil:
		line("headroom", "%d B of all lossless groups, in a shared pool of %d B, sold %.2f times", g.Headroom, *g.Pool, float64(g.Over.Num)/float64(g.Over.Den))
	case g.Buffer != nil:
		line("headroom", "%d B of all lossless groups, %.1f %% of the buffer; at most %d %%", g.Headroom, 100*float64(g.Headroom)/float64(*g.Buffer), g.Share)
	default:
		line("headroom", "%d B of all lossless groups", g.Headroom)
	}
	switch g.SharedFrom {
	case "written":
		line("shared", "%d B, as written", *g.Shared)
	case "model":
		taken := g.Headroom
		if g.Pool != nil {
			taken = *g.Pool
		}
		of := ""
		if g.Buffer != nil && *g.Shared+taken < *g.Buffer {
			of = " of the pools that the image sets up"
		}
		line("shared", "%d B, what headroom leaves%s", *g.Shared, of)
	default:
		line("shared", "not known")
	}
	if p := g.Pools; p != nil {
		var list []string
		for _, x := range []struct {
			name  string
			bytes *uint64
		}{{"ingress", p.Ingress}, {"headroom", p.Headroom}, {"egress lossy", p.EgressLossy}, {"egress lossless", p.EgressLossless}} {
			if x.bytes != nil {
				list = append(list, fmt.Sprintf("%s %d B", x.name, *x.bytes))
			}
		}
		line("pools", "%s, as found", strings.Join(list, ", "))
	}
	for i := range g.Classes {
		g.Classes[i].text(line)
	}
	most := ""
	if g.Most != nil {
		most = fmt.Sprintf("; the ASIC has %d", *g.Most)
	}
	if g.Fit == nil {
		line("lossless", "%s; how many fit is not known: %s%s", countOf(g.Lossless, "priority", "priorities"), g.FitUnknown, most)
		return
	}
	line("lossless", "%s; headroom of %d fits, at %d B each%s", countOf(g.Lossless, "priority", "priorities"), *g.Fit, *g.FitBytes, most)
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func orNone(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

func (c *bufferClass) text(line func(what, format string, args ...any)) {
	kind := "lossy"
	if c.Lossless {
		kind = "lossless"
	}
	line("class", "%s, %s: priority %d in queue %d on %s", c.Class, kind, c.Priority, c.Queue, count(c.Ports, "port"))
	if c.Lossless {
		size := "no headroom"
		switch {
		case c.Xoff != nil:
			size = "headroom " + c.Xoff.String() + " by " + strings.Join(c.Sources, " and ")
		case len(c.Sources) > 0:
			size = "headroom left to the device"
		}
		line("", "%s, alpha %s", size, orNone(c.Alpha, "not known"))
	}
	if c.ECN == nil {
		line("", "no ECN")
		return
	}
	line("", "ECN from %s to %s", c.ECN.Min, c.ECN.Max)
	if !c.Lossless {
		return
	}
	if c.ECN.Relaxed == nil {
		line("", "where PFC pauses is not known")
		return
	}
	verdict := map[string]string{"always": "ECN marks first in both", "one_queue": "ECN marks first in the former only", "never": "PFC pauses first in both"}[c.ECN.First]
	line("", "PFC pauses above %s with one queue fed by one port, above %s with all fed by one: %s", c.ECN.Relaxed, c.ECN.Strict, verdict)
}
