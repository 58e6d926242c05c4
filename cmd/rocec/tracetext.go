package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
)

// trace is one flow for programs.
type trace struct {
	From      string     `json:"from"`
	To        string     `json:"to"`
	Traffic   string     `json:"traffic,omitempty"` // whose it is: "NCCL data"
	Because   []string   `json:"because,omitempty"`
	QoS       string     `json:"qos"`
	Class     string     `json:"class"`
	Carries   string     `json:"carries,omitempty"`
	Lossless  bool       `json:"lossless"`
	Mark      mark       `json:"mark"`
	Ways      uint64     `json:"ways"`
	Shapes    []shape    `json:"shapes"`
	Back      *direction `json:"back,omitempty"`
	BackAlike bool       `json:"back_alike"`
	Notes     []string   `json:"notes,omitempty"`

	title    string
	declared bool // some class declares the mark
}

// direction is the way back.
type direction struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Mark   mark    `json:"mark"`
	Ways   uint64  `json:"ways"`
	Shapes []shape `json:"shapes"`
	title  string
}

// mark is what a frame carries.
type mark struct {
	DSCP uint8 `json:"dscp"`
	PCP  int8  `json:"pcp"` // -1 = none
}

// shape is ways that treat a frame alike, by the first.
type shape struct {
	Ways uint64     `json:"ways"`
	Hops []traceHop `json:"hops"`
}

// traceHop is a cable: how a frame leaves a port, and how the next takes it.
type traceHop struct {
	Out     tracePort `json:"out"`
	In      tracePort `json:"in"`
	Mark    mark      `json:"mark"`
	Rewrote *mark     `json:"rewrote,omitempty"` // what it was before
	Fault   string    `json:"fault,omitempty"`
	Text    string    `json:"text,omitempty"` // of the fault
}

// tracePort is what a port does with the frame.
type tracePort struct {
	Address  string `json:"address"`
	Priority uint8  `json:"priority"`
	Queue    *uint8 `json:"queue,omitempty"` // of the port out
	Group    *uint8 `json:"group,omitempty"` // of the port in
	PFC      bool   `json:"pfc"`
	Headroom uint32 `json:"headroom_bytes,omitempty"`
	Xoff     uint32 `json:"xoff_bytes,omitempty"`
	ECN      *ecn   `json:"ecn,omitempty"`
	MTU      uint16 `json:"mtu,omitempty"`
	name     string
	host     bool
}

// ecn is how a queue marks.
type ecn struct {
	On          bool   `json:"on"`
	MinBytes    uint32 `json:"min_bytes,omitempty"`
	MaxBytes    uint32 `json:"max_bytes,omitempty"`
	Probability uint8  `json:"probability,omitempty"`
}

func markOf(m paths.Mark) mark { return mark{m.DSCP, m.PCP} }

// shapes are the ways of a fan with what each port does.
func (t *tracer) shapes(fan *paths.Fan) []shape {
	list := []shape{}
	for _, s := range fan.Shapes {
		x := shape{Ways: s.Count}
		for i := range s.Way {
			x.Hops = append(x.Hops, t.hop(s.Way, i))
		}
		list = append(list, x)
	}
	return list
}

// hop is hop i of a way.
func (t *tracer) hop(way []paths.Hop, i int) traceHop {
	f, h := t.res.Fabric, &way[i]
	out, to := t.port(h.Out, h.Priority), t.port(h.To, h.Next)
	own, peer := &f.Profiles[f.Ports[h.Out].Profile], &f.Profiles[f.Ports[h.To].Profile]
	out.Queue = &h.Queue
	out.PFC, to.PFC = own.PFC>>h.Next&1 == 1, peer.PFC>>h.Next&1 == 1 // what the far end sends a pause for
	facts := t.res.Facts
	if !out.host {
		e := &facts.Port(h.Out).ECN[h.Queue&7]
		out.ECN = &ecn{e.On, e.MinBytes, e.MaxBytes, e.Probability}
	}
	if !to.host {
		group := peer.Group[h.Next]
		to.Group = &group
	}
	if room := &facts.Port(h.To).Headroom[h.Next]; room.Source != derive.SourceNone {
		to.Headroom, to.Xoff = max(room.Size, room.Xoff), room.Xoff
	}
	x := traceHop{Out: out, In: to, Mark: markOf(h.Mark)}
	if i > 0 && way[i-1].Mark.DSCP != h.Mark.DSCP {
		was := markOf(way[i-1].Mark)
		x.Rewrote = &was
	}
	if h.Fault != paths.Sound {
		x.Fault, x.Text = h.Fault.String(), faultText(f, h)
	}
	return x
}

func (t *tracer) port(id fabric.PortID, priority uint8) tracePort {
	f := t.res.Fabric
	return tracePort{Address: f.PortAddress(id), name: f.PortName(id), Priority: priority, MTU: f.Ports[id].MTU, host: f.Devices[f.Ports[id].Device].Kind == fabric.Node}
}

// faultText says what is wrong with a hop.
func faultText(f *fabric.Fabric, h *paths.Hop) string {
	out, to := f.PortName(h.Out), f.PortName(h.To)
	p, q := &f.Profiles[f.Ports[h.Out].Profile], &f.Profiles[f.Ports[h.To].Profile]
	switch h.Fault {
	case paths.Parted:
		return fmt.Sprintf("priority %d becomes priority %d at %s, and no class declares that", h.Priority, h.Next, to)
	case paths.Remarked:
		return fmt.Sprintf("%s gives it DSCP %d, which its class does not have", to, q.Remark[h.Mark.DSCP&63])
	case paths.Unpaused:
		if f.Ports[h.Out].Profile == 0 || f.Ports[h.To].Profile == 0 {
			return "lossy from here: one end of the cable has no qos"
		}
		who := out
		if p.PFC>>h.Next&1 == 1 {
			who = to
		}
		return fmt.Sprintf("lossy from here: %s has no PFC for priority %d", who, h.Next)
	case paths.Unstopped:
		return fmt.Sprintf("lossy from here: a pause for priority %d stops another queue of %s than %d", h.Next, out, h.Queue)
	case paths.Unbuffered:
		return fmt.Sprintf("lossy from here: %s has no headroom for priority %d", to, h.Next)
	case paths.Unmarked:
		return fmt.Sprintf("queue %d of %s does not mark ECN", h.Queue, out)
	case paths.Mixed:
		return "lossy, among what is lossless: it takes the headroom of another class"
	case paths.Oversized:
		return fmt.Sprintf("its packets are larger than the MTU of %s or %s", out, to)
	}
	return ""
}

// alike reports whether two directions treat frames alike at every hop.
func alike(a, b []shape) bool {
	if len(a) != 1 || len(b) != 1 || len(a[0].Hops) != len(b[0].Hops) {
		return false
	}
	n := len(a[0].Hops)
	for i := range a[0].Hops {
		x, y := &a[0].Hops[i], &b[0].Hops[n-1-i]
		if x.Fault != "" || y.Fault != "" || x.Mark != y.Mark || x.In.Priority != y.In.Priority || *x.Out.Queue != *y.Out.Queue {
			return false
		}
	}
	return true
}

// maxBarred is how many cables are named by which a way ends.
const maxBarred = 3

// note adds what is to be said of the ways as such.
func (t *tracer) note(r *trace, fan *paths.Fan) {
	f := t.res.Fabric
	for _, l := range fan.Barred[:min(len(fan.Barred), maxBarred)] {
		r.Notes = append(r.Notes, "a way ends where "+f.MisaddressedText(f.Unneighbourly(f.Links[l].A)))
	}
	if fan.Peer {
		r.Notes = append(r.Notes, "by the peer link of a pair: the routing has no other way")
	}
	if fan.Loop {
		r.Notes = append(r.Notes, "some ways lead back to where they were: the table has a loop")
	}
	if fan.More {
		r.Notes = append(r.Notes, "there are more shapes than are shown")
	}
}

// text prints a flow for people.
func (r *trace) text(w io.Writer, o *traceFlags) {
	class := fmt.Sprintf("class %s of qos %s", r.Class, r.QoS)
	if !r.declared {
		class += ", which takes what no class declares"
	}
	kind := "lossy"
	if r.Lossless {
		kind = "lossless"
	}
	what := fmt.Sprintf("%s: %s, %s", r.title, class, kind)
	if r.Traffic != "" {
		what = fmt.Sprintf("%s, %s", r.Traffic, what)
	}
	fmt.Fprintln(w, what)
	if len(r.Because) > 0 {
		fmt.Fprintf(w, "  %s; so the mark is DSCP %d, and priority %d in a tag\n", strings.Join(r.Because, ", "), r.Mark.DSCP, max(r.Mark.PCP, 0))
	}
	sound := "It keeps its treatment at every hop."
	if !r.declared {
		sound = "It is lossy, among what no class declares, at every hop."
	}
	printShapes(w, r.Ways, r.Shapes, o.all, sound)
	for _, n := range r.Notes {
		fmt.Fprintf(w, "  Note: %s.\n", n)
	}
	switch {
	case r.Back == nil:
	case r.BackAlike && !o.back:
		fmt.Fprintln(w, "  The way back is treated alike.")
	default:
		fmt.Fprintf(w, "\nback, %s:\n", r.Back.title)
		printShapes(w, r.Back.Ways, r.Back.Shapes, o.all, sound)
	}
}

// printShapes prints ways: the first shape, or one of each.
func printShapes(w io.Writer, n uint64, shapes []shape, all bool, sound string) {
	switch {
	case len(shapes) == 0:
		fmt.Fprintln(w, "  no way leads there")
		return
	case len(shapes) > 1 && !all:
		fmt.Fprintf(w, "  %s, treated in %d ways; this one (--all-paths shows each):\n", ways(n), len(shapes))
		// What breaks is what one wants to see.
		first := 0
		for i := len(shapes) - 1; i >= 0; i-- {
			if broken(shapes[i]) > 0 {
				first = i
			}
		}
		shapes = shapes[first : first+1]
	case n > 1 && len(shapes) == 1:
		fmt.Fprintf(w, "  %s, all treated alike; one of them:\n", ways(n))
	}
	for i := range shapes {
		if all && len(shapes) > 1 {
			fmt.Fprintf(w, "\n  shape %d, %s:\n", i+1, ways(shapes[i].Ways))
		}
		table(w, &shapes[i], sound)
	}
}

func broken(s shape) (n int) {
	for i := range s.Hops {
		if s.Hops[i].Fault != "" {
			n++
		}
	}
	return n
}

// table prints the ports of a way, two to a cable. Faults stand below; sound is
// what is said where there are none.
func table(to io.Writer, s *shape, sound string) {
	fmt.Fprintln(to)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "    \tport\t\tmark\tprio\tqueue\tgroup\tPFC\theadroom\tECN\tMTU")
	for i := range s.Hops {
		h := &s.Hops[i]
		sign := " "
		if h.Fault != "" {
			sign = "!"
		}
		words := fmt.Sprintf("DSCP %d", h.Mark.DSCP)
		if h.Mark.PCP >= 0 {
			words += fmt.Sprintf(" PCP %d", h.Mark.PCP)
		}
		out := words
		if h.Rewrote != nil {
			out += fmt.Sprintf(" (was %d)", h.Rewrote.DSCP)
		}
		fmt.Fprintf(w, "  %s %d\t%s\tout\t%s\t%d\t%s\t-\t%s\t-\t%s\t%s\n", sign, i+1, h.Out.name, out, h.Out.Priority, number(h.Out.Queue), onOff(h.Out.PFC), ecnText(h.Out.ECN), mtuText(h.Out.MTU))
		fmt.Fprintf(w, "    \t%s\tin\t%s\t%d\t-\t%s\t%s\t%s\t-\t%s\n", h.In.name, words, h.In.Priority, number(h.In.Group), onOff(h.In.PFC), room(&h.In), mtuText(h.In.MTU))
	}
	w.Flush()
	fmt.Fprintln(to)
	if broken(*s) == 0 {
		fmt.Fprintln(to, "  "+sound)
	}
	for i := range s.Hops {
		if h := &s.Hops[i]; h.Fault != "" {
			fmt.Fprintf(to, "  ! hop %d: %s.\n", i+1, h.Text)
		}
	}
}

func number(n *uint8) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(int(*n))
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func mtuText(n uint16) string {
	if n == 0 {
		return "?"
	}
	return strconv.Itoa(int(n))
}

// room is the headroom of a port, and how much of it is above the pause.
func room(p *tracePort) string {
	switch {
	case p.Xoff == 0:
		return "-"
	case p.Headroom > p.Xoff:
		return fmt.Sprintf("%d B, xoff %d", p.Headroom, p.Xoff)
	}
	return fmt.Sprintf("xoff %d B", p.Xoff)
}

// ecnText is how a queue marks.
func ecnText(e *ecn) string {
	switch {
	case e == nil:
		return "-"
	case !e.On:
		return "off"
	}
	return fmt.Sprintf("%d-%d B %d%%", e.MinBytes, e.MaxBytes, e.Probability)
}
