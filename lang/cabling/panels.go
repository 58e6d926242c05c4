package cabling

import "strconv"

// spot is a port of a panel.
type spot struct {
	device, port string
	kind         Kind
}

// end is one side of a run that waits to be joined.
type end struct {
	row int
	b   bool // side B
}

// panel is the ports of one panel that cables end in.
type panel struct{ fronts, rears face }

// face is the ports of one side of a panel.
type face struct {
	count int
	last  string
	names map[string]bool
	tails map[string]string // by the number at the end; "" if several ports have it
}

func (f *face) add(name string) {
	if f.names == nil {
		f.names, f.tails = map[string]bool{}, map[string]string{}
	}
	f.count++
	f.last = name
	f.names[name] = true
	if t := tail(name); t != "" {
		if _, twice := f.tails[t]; twice {
			name = ""
		}
		f.tails[t] = name
	}
}

// match is the port of the same name, else the only one of the same number; "" if there is none.
func (f *face) match(name string) string {
	if f.names[name] {
		return name
	}
	if t := tail(name); t != "" {
		return f.tails[t]
	}
	return ""
}

// trunk is the one rear port of a panel, if it may be where all of its front ports lead to: another number than 1 is that of a single fibre.
func (f *face) trunk() string {
	if t := tail(f.last); f.count == 1 && (t == "" || t == "1") {
		return f.last
	}
	return ""
}

// join follows the runs that go through panels. A list says which cable ends in which front or rear port, but not which front port leads to which
// rear port; they belong together when they have one name, else one number at the end, and a panel with a single rear port is the end of a
// trunk, which leads to the front port of that name or number on the panel at its other end. A run that leads no further is handed over as it is.
func (r *reader) join() {
	if len(r.runs) == 0 {
		return
	}
	ends := map[spot]end{}
	panels := map[string]*panel{}
	for i := range r.runs {
		row := &r.runs[i]
		for _, e := range []end{{i, false}, {i, true}} {
			s := r.side(e)
			if s.Kind == Port {
				continue
			}
			at := spot{string(s.Device), string(s.Port), s.Kind}
			if first, ok := ends[at]; ok {
				r.fail("panel twice", int(row.At.Start), int(row.At.Len), row.Number, "port "+clip(s.Port)+" of panel "+clip(s.Device)+" has a cable already, in line "+strconv.Itoa(r.runs[first.row].Number), "a port of a panel takes one cable on each of its faces: correct the port in one of the two rows")
				continue
			}
			ends[at] = e
			p := panels[at.device]
			if p == nil {
				p = &panel{}
				panels[at.device] = p
			}
			if at.kind == Front {
				p.fronts.add(at.port)
			} else {
				p.rears.add(at.port)
			}
		}
	}
	done := make([]bool, len(r.runs))
	for i := range r.runs {
		row := &r.runs[i]
		if done[i] || row.A.Kind != Port && row.B.Kind != Port {
			continue
		}
		done[i] = true
		r.run(i, row.A.Kind != Port, ends, panels, done)
	}
}

func (r *reader) side(e end) *Side {
	if e.b {
		return &r.runs[e.row].B
	}
	return &r.runs[e.row].A
}

// run follows one run from a row with a device at one end, which is side B if back is set.
func (r *reader) run(i int, back bool, ends map[spot]end, panels map[string]*panel, done []bool) {
	out := r.runs[i]
	if back {
		out.A, out.B = out.B, out.A
		out.ADevice, out.BDevice, out.APort, out.BPort = out.BDevice, out.ADevice, out.BPort, out.APort
	}
	position := ""
	for steps := 0; out.B.Kind != Port && steps < 64; steps++ {
		at := spot{string(out.B.Device), string(out.B.Port), out.B.Kind}
		next, ok := panels[at.device].through(at, &position)
		if !ok {
			break
		}
		e, ok := ends[next]
		if !ok || e.row == i {
			break
		}
		piece := &r.runs[e.row]
		far, farDevice, farPort := piece.B, piece.BDevice, piece.BPort
		if e.b {
			far, farDevice, farPort = piece.A, piece.ADevice, piece.APort
		}
		out.B, out.BDevice, out.BPort = far, farDevice, farPort
		out.Panels++
		out.HasLength = out.HasLength && piece.HasLength
		out.LengthMm += piece.LengthMm
		out.OffMm += min(piece.OffMm, 1<<16-1-out.OffMm)
		if len(out.Media) == 0 {
			out.Media, out.MediaAt = piece.Media, piece.MediaAt
		} else if len(piece.Media) > 0 && string(piece.Media) != string(out.Media) {
			r.fail("panel media", int(piece.At.Start), int(piece.At.Len), piece.Number, "this piece is "+clip(piece.Media)+", and the run it belongs to begins with "+clip(out.Media)+" in line "+strconv.Itoa(out.Number), "the pieces of a run are of one kind: correct the type in one of the two rows")
		}
		out.Planned, out.Gone = out.Planned || piece.Planned, out.Gone || piece.Gone
		if far.Kind == Port {
			done[e.row] = true
		}
	}
	if !out.HasLength {
		out.LengthMm = 0
	}
	out.Cut = out.B.Kind != Port
	out.A.Kind, out.B.Kind = Port, Port
	r.emit(&out)
}

// through is the port on the other face of a panel. The position is that of a fibre in a trunk.
func (p *panel) through(at spot, position *string) (spot, bool) {
	if p == nil {
		return spot{}, false
	}
	across, kind := &p.rears, Rear
	if at.kind == Rear {
		across, kind = &p.fronts, Front
	}
	name := at.port
	if at.kind == Rear && *position != "" {
		name, *position = *position, ""
	}
	found := across.match(name)
	if t := across.trunk(); kind == Rear && t != "" {
		found, *position = t, name // the fibre keeps its place in the trunk
	}
	return spot{at.device, found, kind}, found != ""
}

func tail(s string) string {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	for i < len(s)-1 && s[i] == '0' {
		i++
	}
	return s[i:]
}
