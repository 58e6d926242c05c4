package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/filename"
	"github.com/rocec/rocec/lang/schema"
)

// reach notes which blocks each override with `set` speaks to.
func (r *resolver) reach() {
	r.sets = map[lang.BlockID][]lang.BlockID{}
	r.top(schema.Override, func(o lang.BlockID) {
		if r.attr(o, schema.ASet).Kind == lang.Absent {
			return
		}
		for _, b := range r.matched(o, schema.AOn) {
			r.sets[b] = append(r.sets[b], o)
		}
		// What it sets is written at its `set`, as far as messages go.
		at := r.f.Label(r.decl(o), 0, schema.ASet, "").Span
		for _, p := range r.cfg.Pairs(r.attr(o, schema.ASet)) {
			r.f.Spans.Add(r.decl(o), schema.Attr(p.Key.N), at)
		}
	})
}

// matched lists the blocks that a list of references and quoted globs names. A
// glob that matches nothing is an error.
func (r *resolver) matched(o lang.BlockID, n schema.Attr) []lang.BlockID {
	var found []lang.BlockID
	for _, v := range r.cfg.List(r.attr(o, n)) {
		if v.Kind == lang.Handle {
			found = append(found, lang.BlockID(v.N))
			continue
		}
		glob := r.cfg.Text(v)
		if glob == "" {
			continue
		}
		before := len(found)
		for _, b := range r.cfg.Top {
			found = r.globbed(found, b, glob)
		}
		orders := r.cfg.Blocks[o].Kind == schema.Override && r.attr(o, schema.ASet).Kind == lang.Absent && len(r.ordersGlobbed(glob)) > 0
		g := overrideGlob{o, n, glob, len(found) > before || orders}
		r.globs = append(r.globs, g)
		if r.portBlock != nil || !g.mayNamePorts() { // else once there are ports
			r.unmatched(g)
		}
	}
	return found
}

// globbed adds the blocks at and below one that a glob names. What cannot begin
// like the glob is passed over with all that is below it.
func (r *resolver) globbed(found []lang.BlockID, b lang.BlockID, glob string) []lang.BlockID {
	if r.cfg.Blocks[b].Kind == schema.Rollout {
		return found // its waves are no objects, and each may have a glob
	}
	address := strings.ReplaceAll(r.cfg.Address(b), `"`, "")
	start, _, _ := strings.Cut(strings.ReplaceAll(glob, `"`, ""), "*")
	if n := min(len(start), len(address)); start[:n] != address[:n] {
		return found
	}
	if addressable(r.cfg.Blocks[b].Kind) && r.cfg.Blocks[b].Name != 0 && Match(glob, address) {
		found = append(found, b)
	}
	first, end := r.cfg.Kids(b)
	for k := first; k < end; k++ {
		found = r.globbed(found, k, glob)
	}
	return found
}

// ordersGlobbed lists the addresses that a glob names of what is no object of the
// fabric and has findings: `rollout`, `rollout.wave["canary"]` and `analysis`.
func (r *resolver) ordersGlobbed(glob string) (list []string) {
	add := func(address string) {
		if Match(glob, address) {
			list = append(list, address)
		}
	}
	r.top(schema.Analysis, func(lang.BlockID) { add(fabric.AnalysisAddress) })
	r.top(schema.Rollout, func(b lang.BlockID) {
		add(fabric.RolloutAddress)
		r.kids(b, schema.Wave, func(w lang.BlockID) { add(fabric.WaveAddress(r.blockName(w))) })
	})
	return list
}

// overrideGlob is a glob, which may name ports that have no block.
type overrideGlob struct {
	override lang.BlockID
	attr     schema.Attr
	glob     string
	found    bool // a block
}

func (g overrideGlob) mayNamePorts() bool { return strings.Contains(g.glob, "port[") }

// unmatched refuses a glob that names no block and no port.
func (r *resolver) unmatched(g overrideGlob) {
	if !g.found && (!g.mayNamePorts() || len(r.portsGlobbed(g.glob)) == 0) {
		r.fail(fmt.Sprintf("%q matches nothing", g.glob), `write an address such as switch.tor.port["Ethernet0"], with * for any run of characters`, r.at(g.override, g.attr, ""))
	}
}

// portsGlobbed lists the ports without a block that a glob names.
func (r *resolver) portsGlobbed(glob string) []fabric.PortID {
	var list []fabric.PortID
	for d := 1; d < len(r.f.Devices); d++ {
		address := strings.ReplaceAll(r.f.Text(r.f.Devices[d].Address), `"`, "")
		start, _, _ := strings.Cut(strings.ReplaceAll(glob, `"`, ""), "*")
		if n := min(len(start), len(address)); start[:n] != address[:n] {
			continue
		}
		first, end := r.f.PortsOf(fabric.DeviceID(d))
		for p := first; p < end; p++ {
			if r.portBlock[p] == 0 && Match(glob, r.f.PortAddress(p)) {
				list = append(list, p)
			}
		}
	}
	return list
}

// setsOnPorts notes what overrides set on ports that no block speaks of.
func (r *resolver) setsOnPorts() {
	r.portSets = map[fabric.PortID][]lang.BlockID{}
	for _, g := range r.globs {
		if !g.mayNamePorts() {
			continue
		}
		r.unmatched(g)
		for _, p := range r.portsGlobbed(g.glob) {
			r.portSets[p] = append(r.portSets[p], g.override)
		}
	}
}

func addressable(k schema.Kind) bool {
	switch k {
	case schema.Leaf, schema.Spine, schema.Core,
		schema.Switch, schema.Port, schema.LAG, schema.Interface, schema.Node, schema.NIC, schema.Bond, schema.Link, schema.MLAG, schema.Segment, schema.QoS:
		return true
	}
	return false
}

// Match reports whether an address fits a pattern: * stands for any run of
// characters, and quotes around keys may be left out, because shells and
// PowerShell mangle them.
func Match(pattern, address string) bool {
	return wild(strings.ReplaceAll(pattern, `"`, ""), strings.ReplaceAll(address, `"`, ""))
}

func wild(p, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && p[i] == s[j]:
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// overrides makes the rows of accepted rules.
func (r *resolver) overrides() {
	r.top(schema.Override, func(b lang.BlockID) {
		row := fabric.Override{Reason: r.text(r.attr(b, schema.AReason)), Expires: r.text(r.attr(b, schema.AExpires)), Decl: r.decl(b)}
		for _, v := range r.cfg.List(r.attr(b, schema.AAccept)) {
			row.Accept = append(row.Accept, r.text(v))
		}
		before := len(r.globs)
		for _, on := range r.matched(b, schema.AOn) {
			r.overrideOn(&row, on)
		}
		for _, g := range r.globs[before:] {
			for _, address := range r.ordersGlobbed(g.glob) {
				row.Orders = append(row.Orders, r.f.Names.Add(address))
			}
			if !g.mayNamePorts() {
				continue
			}
			row.Ports = append(row.Ports, r.portsGlobbed(g.glob)...)
		}
		r.f.Overrides = append(r.f.Overrides, row)
	})
}

func (r *resolver) overrideOn(row *fabric.Override, b lang.BlockID) {
	if d := r.deviceOf[b]; d != 0 {
		row.Devices = append(row.Devices, d)
	} else if p := r.portAt(b); p != 0 {
		row.Ports = append(row.Ports, p)
	} else if l, ok := r.linkOf[b]; ok {
		row.Links = append(row.Links, l)
	} else if l, ok := r.lagOf[b]; ok {
		row.LAGs = append(row.LAGs, l)
	} else if s, ok := r.segmentOf[b]; ok {
		row.Segments = append(row.Segments, s)
	} else if q, ok := r.qosOf[b]; ok {
		row.QoS = append(row.QoS, q)
	}
}

// selected are the devices that a block selects, in the order in which it names them. A topology stands for its switches.
func (r *resolver) selected(b lang.BlockID) (devices []fabric.DeviceID) {
	for _, s := range r.matched(b, schema.ASelect) {
		if d := r.deviceOf[s]; d != 0 {
			devices = append(devices, d)
		} else if t := r.topoOf[s]; t != nil {
			for _, tier := range t.tiers {
				devices = append(devices, tier.devices...)
			}
		}
	}
	return devices
}

// selections reads the target blocks.
func (r *resolver) selections() {
	r.top(schema.Target, func(b lang.BlockID) {
		row := fabric.Selection{
			Emitter: r.str(r.cfg.Blocks[b].Name), Output: r.text(r.attr(b, schema.AOutput)), Delivery: r.text(r.attr(b, schema.ADelivery)), Decl: r.decl(b),
		}
		if output := r.f.Text(row.Output); output != "" {
			if err := filename.CheckPath(output); err != nil {
				r.fail(fmt.Sprintf("output of target %q is no folder on every system: %v", r.blockName(b), err),
					`write a folder inside the output folder, such as output = "switches/sonic"`, r.at(b, schema.AOutput, ""))
			}
		}
		if r.attr(b, schema.ASelect).Kind != lang.Absent {
			row.Devices = []fabric.DeviceID{}
			row.Devices = append(row.Devices, r.selected(b)...)
			slices.Sort(row.Devices)
			row.Devices = slices.Compact(row.Devices)
		}
		at := r.at(b, schema.AOptions, "").Span
		for _, p := range r.cfg.Pairs(r.attr(b, schema.AOptions)) {
			row.Options = append(row.Options, fabric.Option{Name: r.text(p.Key), Value: r.text(p.Val), Span: at})
		}
		r.f.Selections = append(r.f.Selections, row)
	})
}

// unused copies what the source declares and never names, and what stands in the wrong place.
func (r *resolver) unused() {
	for _, u := range r.cfg.Unused {
		row := fabric.Unused{Kind: u.Kind, Name: r.f.Names.Add(u.Name), Address: r.f.Names.Add(u.Address), At: u.Span, Decl: fabric.DeclID(u.Decl)}
		r.f.Unused = append(r.f.Unused, row)
	}
	for _, m := range r.cfg.Misplaced {
		r.f.Misplaced = append(r.f.Misplaced, fabric.Misplaced{Address: r.f.Names.Add(m.Address), Attrs: m.Attrs, Count: m.Count, At: m.Span, Decl: fabric.DeclID(m.Decl)})
	}
}

// silences copies the comments that silence rules.
func (r *resolver) silences() {
	for _, i := range r.cfg.Ignores {
		row := fabric.Ignore{Reason: r.f.Names.Add(i.Reason), Names: i.Names, At: i.At, Covers: i.Covers}
		for _, name := range i.Rules {
			row.Rules = append(row.Rules, r.f.Names.Add(name))
		}
		r.f.Ignores = append(r.f.Ignores, row)
	}
}
