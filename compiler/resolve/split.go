package resolve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// platform finds how the platform of a switch spells a split, and what it gives
// each child: the data of its model where there are any. A port that the data do
// not have stays without, and its target has to say what it lacks; data that
// have the port and not the split are a finding here. Enterprise SONiC, where it
// names ports by lanes, has the platform's cages and modes and some more [githedgehog
// fabric pkg/ctrl/switchprofile, NOSName and Offsets]; those are not known.
func (r *resolver) platform(d fabric.DeviceID, x *listedSplit, block lang.BlockID) {
	model := r.modelBlocks[r.f.Devices[d].Model]
	if os := r.f.Text(r.f.Devices[d].OSName); model == 0 || os != "sonic" && os != "sonic-enterprise" {
		return
	}
	parent := r.f.Text(x.parent)
	for _, row := range r.cfg.Pairs(r.attr(model, schema.ABreakouts)) {
		ports, err := lang.Members(r.cfg.Text(row.Key))
		at := slices.Index(ports, parent)
		if err != nil || at < 0 {
			continue
		}
		lanes, err1 := lang.Members(r.cfg.Text(r.cfg.Field(row.Val, schema.ALanes)))
		index, err2 := lang.Members(r.cfg.Text(r.cfg.Field(row.Val, schema.AIndex)))
		if err1 != nil || err2 != nil || len(lanes)%len(ports) != 0 || len(index) != len(ports) {
			r.fail(fmt.Sprintf("breakouts of switch_model %s have %d lanes and %d numbers for %d ports", r.blockName(model), len(lanes), len(index), len(ports)),
				`write ranges: { lanes = "[0-127]", index = "[1-32]" } for 32 ports of 4 lanes`, r.at(model, schema.ABreakouts, ""))
			return
		}
		own := lanes[at*len(lanes)/len(ports) : (at+1)*len(lanes)/len(ports)]
		mode, aliases, known := r.mode(row.Val, x, len(own))
		if mode.text == "" {
			r.fail(fmt.Sprintf("port %s of %s cannot be split %dx%dG", parent, r.blockName(model), x.count, x.mbps/1000),
				"its platform has "+strings.Join(known, ", "), r.at(block, schema.ABreakout, ""))
			return
		}
		if len(aliases) != len(ports)*int(x.count) {
			r.fail(fmt.Sprintf("mode %s of switch_model %s has %d aliases for %d ports split in %d", mode.text, r.blockName(model), len(aliases), len(ports), x.count),
				"name every child of every port, the children of the first port first", r.at(model, schema.ABreakouts, ""))
			return
		}
		number, _ := strconv.ParseUint(index[at], 10, 16)
		x.mode, x.lanes = r.f.Names.Add(mode.text), uint8(mode.lanes)
		each := mode.lanes / int(x.count)
		for i := range int(x.count) {
			x.parts = append(x.parts, fabric.BreakoutPart{
				Lanes: r.f.Names.Add(strings.Join(own[i*each:(i+1)*each], ",")), Index: uint16(number),
				Alias: r.f.Names.Add(aliases[at*int(x.count)+i]),
			})
		}
		return
	}
}

// mode is the platform's mode for a split: the one of that speed, else one whose
// ports can also run at it; and the aliases of its children, all ports in order.
// Of several, the one that leaves no lane idle. Known lists all there are.
func (r *resolver) mode(v lang.Value, x *listedSplit, lanes int) (best splitMode, aliases []string, known []string) {
	score := 0
	for _, p := range r.cfg.Pairs(r.cfg.Field(v, schema.AModes)) {
		m, ok := parseMode(r.cfg.Text(p.Key), lanes)
		if !ok {
			continue
		}
		known = append(known, m.text)
		s := 0
		switch {
		case m.count != int(x.count) || m.lanes > lanes || m.lanes < m.count:
			continue
		case m.mbps == x.mbps:
			s = 1000 + m.lanes
		case slices.Contains(m.also, x.mbps):
			s = 1 + m.lanes
		}
		if s <= score {
			continue
		}
		best, aliases, score = m, nil, s
		for _, text := range r.cfg.List(p.Val) {
			names, err := lang.Members(r.cfg.Text(text))
			if err != nil {
				names = nil
			}
			aliases = append(aliases, names...)
		}
	}
	return best, aliases, known
}

// splitMode is a uniform breakout mode: "4x25G[10G]", "4x100G(8)".
type splitMode struct {
	text  string
	count int
	mbps  uint32
	also  []uint32 // speeds its ports can run at besides
	lanes int      // of the port that it uses
}

// parseMode reads a mode as SONiC does: ports, speed, further speeds in brackets
// and the lanes it takes in parentheses, all of the port's unless it says so. A
// mode of unlike ports ("1x50G(2)+2x25G(2)") is not one of these.
// [sonic-buildimage src/sonic-config-engine/portconfig.py, BRKOUT_PATTERN]
func parseMode(text string, lanes int) (splitMode, bool) {
	m := splitMode{text: text, lanes: lanes}
	count, rest, ok := strings.Cut(text, "x")
	n, err := strconv.ParseUint(count, 10, 8)
	if !ok || err != nil || n == 0 {
		return m, false
	}
	m.count = int(n)
	end := strings.IndexAny(rest, "[(")
	if end < 0 {
		end = len(rest)
	}
	if m.mbps, ok = modeSpeed(rest[:end]); !ok {
		return m, false
	}
	for rest = rest[end:]; rest != ""; {
		closing := strings.IndexAny(rest, "])")
		if closing < 0 || rest[0] != '[' && rest[0] != '(' {
			return m, false
		}
		inner := rest[1:closing]
		if rest[0] == '(' {
			n, err := strconv.ParseUint(inner, 10, 8)
			if err != nil {
				return m, false
			}
			m.lanes = int(n)
		} else {
			for word := range strings.SplitSeq(inner, ",") {
				if mbps, ok := modeSpeed(word); ok {
					m.also = append(m.also, mbps)
				}
			}
		}
		rest = rest[closing+1:]
	}
	return m, true
}

func modeSpeed(s string) (uint32, bool) {
	g, isG := strings.CutSuffix(s, "G")
	n, err := strconv.ParseUint(g, 10, 20)
	if err != nil || n == 0 {
		return 0, false
	}
	if isG {
		n *= 1000
	}
	return uint32(n), true
}
