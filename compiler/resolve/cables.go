package resolve

import (
	"fmt"
	"strconv"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// A cable is one thing, and several blocks may speak of it. An override counts
// before all. What speaks of this one cable (its link, a row of a list, the port or
// NIC at either end) counts before what speaks of many (a tier, a pair, the
// default_cable of a list), and that before defaults. What the nearest leaves out the
// next one fills in, and two of one rank that differ are an error: one of them is wrong.
type cableRank uint8

const (
	cableOverride cableRank = iota
	cableOwn
	cableOfMany
	cableDefaults
	cableUnsaid
)

// cablePart is one thing that is said of a cable.
type cablePart uint8

const (
	cableMedia cablePart = iota
	cableLength
	cableDelay
	cableParts
)

// cableSaid is what counts for one part of a cable so far.
type cableSaid struct {
	rank  cableRank
	value int64
	at    diag.Label
	by    lang.BlockID // 0: the link itself
}

// portCables lays what ports and NICs say of their cables over what links say.
func (r *resolver) portCables() {
	if !r.portsSayCables() {
		return
	}
	rows := r.rowCables()
	for l := 1; l < len(r.f.Links); l++ {
		id, link := fabric.LinkID(l), &r.f.Links[l]
		said := r.linkCable(id, rows)
		told := false
		for _, p := range [2]fabric.PortID{link.A, link.B} {
			if r.f.Ports[p].Link == id {
				told = r.portCable(p, &said) || told
			}
		}
		if told {
			r.layCable(link, &said)
		}
	}
	for p := 1; p < len(r.f.Ports); p++ {
		if r.f.Ports[p].Link != 0 {
			continue
		}
		said := unsaid()
		if id := fabric.PortID(p); r.portCable(id, &said) {
			if r.f.Loose == nil {
				r.f.Loose = map[fabric.PortID]fabric.Link{}
			}
			link := fabric.Link{A: id}
			r.layCable(&link, &said)
			r.f.Loose[id] = link
		}
	}
}

// portsSayCables reports whether some port, NIC, defaults of those or override says
// something of a cable, which is rare.
func (r *resolver) portsSayCables() bool {
	for id := range r.cfg.Decls {
		switch r.cfg.Decls[id].Kind {
		case schema.Port, schema.NIC, schema.Defaults, schema.Except:
			for _, s := range r.cfg.SpansOf(lang.DeclID(id)) {
				if s.Num == schema.ACable {
					return true
				}
			}
		}
	}
	for _, list := range r.sets {
		for _, o := range list {
			if r.cfg.Field(r.cfg.Attr(o, schema.ASet), schema.ACable).Kind != lang.Absent {
				return true
			}
		}
	}
	return false
}

func unsaid() (said [cableParts]cableSaid) {
	for i := range said {
		said[i].rank = cableUnsaid
	}
	return said
}

// rowCables are the rows of the lists that define, by the link they made.
func (r *resolver) rowCables() map[fabric.LinkID]*lang.CableRow {
	rows := map[fabric.LinkID]*lang.CableRow{}
	for i := range r.cfg.Cables {
		list := &r.cfg.Cables[i]
		for _, x := range r.rowsOf[i+1] {
			l, row := r.f.Ports[x.a].Link, &list.Rows[x.row]
			if list.Define && l != 0 && r.f.Links[l].Row == row.Span {
				rows[l] = row
			}
		}
	}
	return rows
}

// linkCable is what a link says of its cable by itself.
func (r *resolver) linkCable(id fabric.LinkID, rows map[fabric.LinkID]*lang.CableRow) [cableParts]cableSaid {
	link, said := &r.f.Links[id], unsaid()
	rank := cableOfMany
	if link.Origin == fabric.OfLink {
		rank = cableOwn
	}
	put := func(part cablePart, value int64, by fabric.DeclID, row bool) {
		of := rank
		switch {
		case by != 0 && r.cfg.Decls[by].Kind == schema.Override:
			of = cableOverride
		case by != 0 && r.cfg.Decls[by].Kind == schema.Defaults:
			of = cableDefaults
		case row:
			of = cableOwn
		}
		said[part] = cableSaid{rank: of, value: value, at: r.f.LinkLabel(id, schema.ACable, "")}
		if part == cableMedia {
			said[part].at = r.f.MediaLabel(id, "")
		}
	}
	row := rows[id]
	if link.Media != 0 {
		put(cableMedia, int64(link.Media), link.MediaBy, row != nil && row.Media != 0)
	}
	if link.LengthWritten {
		put(cableLength, int64(link.CableMm), link.LengthBy, row != nil && row.HasLength)
	}
	if link.DelayNs != 0 {
		put(cableDelay, int64(link.DelayNs), link.LengthBy, false)
	}
	return said
}

// portCable adds what a port says of its cable, itself and by its defaults, and
// reports whether it says something.
func (r *resolver) portCable(p fabric.PortID, said *[cableParts]cableSaid) bool {
	s := scope{cfg: r.cfg, own: r.portBlock[p], before: r.before(p)}
	v, l := s.nearest(schema.ACable)
	by := l.by
	rank := cableOwn
	if by != 0 && r.cfg.Blocks[by].Kind == schema.Override {
		rank = cableOverride
	}
	told := by != 0
	if told {
		r.sayCable(p, said, v, by, rank)
	}
	d := r.f.Ports[p].Device
	for _, by := range r.defaultsFor(r.blockOf[d], r.portKind(d).String()) {
		if v := r.cfg.Attr(by, schema.ACable); v.Kind != lang.Absent {
			r.sayCable(p, said, v, by, cableDefaults)
			return true
		}
	}
	return told
}

// sayCable adds what one block says of a cable.
func (r *resolver) sayCable(p fabric.PortID, said *[cableParts]cableSaid, v lang.Value, by lang.BlockID, rank cableRank) {
	at := r.at(by, schema.ACable, "")
	say := func(part cablePart, value int64) {
		old := &said[part]
		switch {
		case rank < old.rank:
			*old = cableSaid{rank, value, at, by}
		case rank == old.rank && value != old.value && old.at.Span != at.Span:
			other := old.at
			other.Text = r.cableWord(part, old.value)
			at.Text = r.cableWord(part, value)
			what := [...]string{"kinds of media", "lengths", "delays"}[part]
			r.fail(fmt.Sprintf("the cable at %s has two %s: %s and %s", r.f.PortName(p), what, at.Text, other.Text),
				"write what it is in one place: in the link, or on one of its two ends", at, other)
		}
	}
	if name := r.cfg.Text(r.cfg.Field(v, schema.AMediaName)); name != "" {
		say(cableMedia, int64(r.mediaNamed(name)))
	}
	if length := r.cfg.Field(v, schema.ALength); length.Kind == lang.Int {
		say(cableLength, length.N)
	}
	if delay := r.cfg.Field(v, schema.ADelay); delay.Kind != lang.Absent {
		say(cableDelay, delay.N)
	}
}

func (r *resolver) cableWord(part cablePart, value int64) string {
	switch part {
	case cableMedia:
		return r.f.Text(r.f.Media[value].Name)
	case cableLength:
		return strconv.FormatFloat(float64(value)/1000, 'f', -1, 64) + "m"
	}
	return strconv.FormatInt(value, 10) + "ns"
}

// layCable gives a link what counts.
func (r *resolver) layCable(link *fabric.Link, said *[cableParts]cableSaid) {
	if x := &said[cableMedia]; x.by != 0 {
		link.Media, link.MediaBy = fabric.MediaID(x.value), r.decl(x.by)
	}
	if x := &said[cableLength]; x.by != 0 {
		link.CableMm, link.LengthWritten, link.BadLength, link.LengthBy = uint32(max(x.value, 0)), true, x.value <= 0, r.decl(x.by)
	}
	if x := &said[cableDelay]; x.by != 0 {
		link.DelayNs = uint32(x.value)
	}
}
