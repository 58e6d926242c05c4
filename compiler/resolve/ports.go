package resolve

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// portList is the list of ports of a device, made once for all that are alike:
// switches of one model and OS whose blocks name the same ports, nodes with
// NICs of the same names.
type portList struct {
	ports  []listedPort // in natural order
	at     map[fabric.Str]uint32
	splits []listedSplit

	aliases map[string]uint32 // other names of the ports, made when first asked for
}

type listedPort struct {
	name  fabric.Str
	block int32  // ordinal among the port or NIC blocks of the device, -1 = by the model only
	split int32  // index in splits of the one it is a child of, -1 if none
	mbps  uint32 // by the model or the split, 0 if that is not known
}

// listedSplit is a port split into children.
type listedSplit struct {
	parent   fabric.Str
	block    int32        // ordinal as in listedPort, -1 = by says it
	by       lang.BlockID // inner block of an exception of the device
	count    uint8
	mbps     uint32
	lanes    uint8                 // of the port that the children use, 0 = unknown
	mode     fabric.Str            // see fabric.Breakout
	parts    []fabric.BreakoutPart // see fabric.Breakout; shared by all devices of the shape
	children []uint32              // places in ports
	overlaps []uint32              // of ports that stand beside the children
}

// of is the block that splits it, among those of a device.
func (x *listedSplit) of(blocks []lang.BlockID) lang.BlockID {
	if x.block < 0 {
		return x.by
	}
	return blocks[x.block]
}

// maxPorts is the greatest number of ports of one fabric: some thirty times
// those of 12,800 nodes with eight NICs each, and what memory still holds.
const maxPorts = 1 << 24

// ports makes the rows of all ports: those a switch has by its model, those
// that blocks name, and the children of split ones. It refuses more than
// maxPorts of them and then makes none.
func (r *resolver) ports() bool {
	f := r.f
	r.portsOf = make([]*portList, len(f.Devices))
	known := map[string]*portList{}
	var key []byte
	var blocks []lang.BlockID
	total, nics := 1, 0 // row 0 is none
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		blocks = r.portBlocks(blocks[:0], d)
		key = r.portListKey(key[:0], d, blocks)
		s := known[string(key)]
		if s == nil {
			before := len(r.diags)
			s = r.listPorts(d, blocks)
			if len(r.diags) == before { // what is wrong is said of each device
				known[string(key)] = s
			}
		}
		r.portsOf[d] = s
		f.Devices[d].First, f.Devices[d].NPorts = fabric.PortID(total), uint32(len(s.ports))
		total += len(s.ports)
		if total > maxPorts {
			label := r.at(r.blockOf[d], schema.AModel, "")
			r.fail(fmt.Sprintf("the fabric has more than %d ports: switch or node %s, with %d, is one of %d devices", maxPorts, f.Text(f.Devices[d].Name), len(s.ports), len(f.Devices)-1),
				"divide it into several fabrics", label)
			return false
		}
		if f.Devices[d].Kind == fabric.Node {
			nics += len(s.ports)
		}
	}
	f.Ports = make([]fabric.Port, total)
	f.NICs = slices.Grow(f.NICs, nics)
	r.portBlock = make([]lang.BlockID, total)
	r.portOf = make([]fabric.PortID, len(r.cfg.Blocks))
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		blocks = r.portBlocks(blocks[:0], d)
		r.fill(d, blocks)
	}
	return true
}

// portBlocks lists the blocks of a device that say something of its ports.
func (r *resolver) portBlocks(list []lang.BlockID, d fabric.DeviceID) []lang.BlockID {
	kind := r.portKind(d)
	first, end := r.cfg.Kids(r.blockOf[d])
	for b := first; b < end; b++ {
		if r.cfg.Blocks[b].Kind == kind {
			list = append(list, b)
		}
	}
	return list
}

// portKind is what the blocks of a device's ports are called.
func (r *resolver) portKind(d fabric.DeviceID) schema.Kind {
	if r.f.Devices[d].Kind == fabric.Node {
		return schema.NIC
	}
	return schema.Port
}

// portListKey is what the ports of a device follow from.
func (r *resolver) portListKey(key []byte, d fabric.DeviceID, blocks []lang.BlockID) []byte {
	dev := &r.f.Devices[d]
	key = append(key, byte(dev.Kind), byte(dev.Manage))
	if dev.Kind == fabric.Switch {
		key = binary.LittleEndian.AppendUint32(key, uint32(dev.Model))
		key = binary.LittleEndian.AppendUint32(key, uint32(dev.OSName))
	}
	for _, b := range blocks {
		key = binary.LittleEndian.AppendUint32(key, uint32(r.cfg.Blocks[b].Name))
		if dev.Kind == fabric.Node {
			continue
		}
		split := uint32(r.text(r.attr(b, schema.ABreakout))) << 1
		if r.isImplicit(b) {
			split |= 1
		}
		key = binary.LittleEndian.AppendUint32(key, split)
	}
	if dev.Kind == fabric.Switch && r.innerOf[d] {
		key = binary.LittleEndian.AppendUint32(key, uint32(d)) // its exceptions may split ports without a block
	}
	return key
}

func (r *resolver) listPorts(d fabric.DeviceID, blocks []lang.BlockID) *portList {
	s := &portList{at: map[fabric.Str]uint32{}}
	if r.f.Devices[d].Kind == fabric.Switch {
		r.listSwitchPorts(s, d, blocks)
	} else {
		for i, b := range blocks {
			s.ports = append(s.ports, listedPort{name: r.str(r.cfg.Blocks[b].Name), block: int32(i), split: -1})
		}
	}
	slices.SortStableFunc(s.ports, func(a, b listedPort) int { return intent.Natural(r.f.Text(a.name), r.f.Text(b.name)) })
	for i, p := range s.ports {
		s.at[p.name] = uint32(i)
		if p.split >= 0 {
			s.splits[p.split].children = append(s.splits[p.split].children, uint32(i))
			continue
		}
		for k := range s.splits {
			if s.splits[k].parent == p.name {
				s.splits[k].overlaps = append(s.splits[k].overlaps, uint32(i))
			}
		}
	}
	return s
}

// listSwitchPorts lists the ports of a switch: the model's, by the names of its
// OS; a split port's children in its place; and a block for a port the model
// does not have is an error.
func (r *resolver) listSwitchPorts(s *portList, d fabric.DeviceID, blocks []lang.BlockID) {
	dev := &r.f.Devices[d]
	model := &r.f.Models[dev.Model]
	names, named := model.PortNames[r.f.Text(dev.OSName)]
	if dev.Model != 0 && !named && dev.Manage != fabric.HandsOff && r.f.Text(dev.OSName) != "" {
		r.fail(fmt.Sprintf("model %s has no port names for os %s", r.f.Text(model.Name), r.f.Text(dev.OSName)),
			"name the ports of that os in the model's ports, or use an os it runs: "+strings.Join(sortedKeys(model.PortNames), ", "),
			r.at(r.blockOf[d], schema.AOS, ""))
	}
	if runs := r.cfg.List(r.attrOf(r.modelBlocks, dev.Model, schema.AOS)); named && len(runs) > 0 && dev.Manage != fabric.HandsOff &&
		!slices.ContainsFunc(runs, func(v lang.Value) bool { return r.text(v) == dev.OSName }) {
		r.fail(fmt.Sprintf("%s does not run %s", r.f.Text(model.Name), r.f.Text(dev.OSName)), "use an os it runs, or correct `os` of the model",
			r.at(r.blockOf[d], schema.AOS, ""), r.at(r.modelBlocks[dev.Model], schema.AOS, "its model"))
	}
	at := map[string]int32{}
	var order []string
	for i, b := range blocks {
		n := r.blockName(b)
		prev, dup := at[n]
		if dup && !r.isImplicit(blocks[prev]) {
			continue // the loader has reported it
		}
		if !dup {
			order = append(order, n)
		}
		at[n] = int32(i)
	}
	blockOf := func(name string) int32 {
		if i, ok := at[name]; ok {
			return i
		}
		return -1
	}
	known := map[string]bool{}
	add := func(name string, split int32, mbps uint32) {
		if !known[name] {
			known[name] = true
			s.ports = append(s.ports, listedPort{r.f.Names.Add(name), blockOf(name), split, mbps})
		}
	}
	split := func(n string, block int32, b lang.BlockID) {
		if split := r.split(s, d, n, block, b); split >= 0 {
			for _, child := range r.childNames(d, n, &s.splits[split]) {
				add(child, split, s.splits[split].mbps)
			}
			// Where children have other names, the whole port can still be named.
		}
	}
	for _, n := range names {
		if i := blockOf(n); i >= 0 {
			split(n, i, blocks[i])
		} else if r.innerOf[d] {
			for _, e := range r.innerExcepts(r.blockOf[d], schema.Port, n) {
				split(n, -1, e)
			}
		}
		add(n, -1, modelMbps(model, n))
	}
	for _, n := range order {
		if known[n] {
			continue
		}
		if dev.Model != 0 && named {
			b := blocks[at[n]]
			label := r.f.DeclLabel(r.decl(b), "")
			if r.isImplicit(b) {
				label.Where = "" // it stands where something refers to the port, not in the switch
			}
			r.fail(fmt.Sprintf("switch %s has no port %s", r.f.Text(dev.Name), n), fmt.Sprintf("%s has %s", r.f.Text(model.Name), summarize(names)), label)
			continue
		}
		add(n, -1, modelMbps(model, n))
	}
}

// attrOf is an attribute of the block of a model, Absent of none.
func (r *resolver) attrOf(blocks []lang.BlockID, m fabric.ModelID, n schema.Attr) lang.Value {
	if m == 0 {
		return lang.Value{}
	}
	return r.attr(blocks[m], n)
}

// modelMbps is the speed that a port has by its model.
func modelMbps(m *fabric.SwitchModel, name string) uint32 {
	if mbps, ok := m.Mbps[name]; ok {
		return mbps
	}
	return m.Mbps["*"]
}

// fill makes the rows of the ports of one device.
func (r *resolver) fill(d fabric.DeviceID, blocks []lang.BlockID) {
	dev, s := &r.f.Devices[d], r.portsOf[d]
	base := len(r.f.Breakouts)
	for i, p := range s.ports {
		id := dev.First + fabric.PortID(i)
		row := fabric.Port{Device: d, Name: p.name}
		if p.block >= 0 {
			b := blocks[p.block]
			row.Decl = r.decl(b)
			r.portOf[b], r.portBlock[id] = id, b
		} else {
			row.Flags |= fabric.Implicit
			row.Decl = dev.Decl
		}
		if p.split >= 0 {
			row.Split = uint32(base) + uint32(p.split) + 1
			if p.block < 0 {
				row.Decl = r.decl(r.writer(s.splits[p.split].of(blocks), schema.ABreakout))
			}
		}
		if dev.Kind == fabric.Node {
			row.NIC = fabric.NICID(len(r.f.NICs))
			r.f.NICs = append(r.f.NICs, fabric.NIC{Port: id, Rail: -1, Plane: -1, GIDIndex: -1})
		}
		r.f.Ports[id] = row
	}
	if len(s.splits) > 0 {
		r.fillSplits(d, blocks)
	}
}

func (r *resolver) fillSplits(d fabric.DeviceID, blocks []lang.BlockID) {
	dev := &r.f.Devices[d]
	ids := func(places []uint32) []fabric.PortID {
		if len(places) == 0 {
			return nil
		}
		list := make([]fabric.PortID, len(places))
		for i, at := range places {
			list[i] = dev.First + fabric.PortID(at)
		}
		return list
	}
	for _, x := range r.portsOf[d].splits {
		r.f.Breakouts = append(r.f.Breakouts, fabric.Breakout{
			Device: d, Parent: x.parent, Count: x.count, Mbps: x.mbps, Lanes: x.lanes, Mode: x.mode, Parts: x.parts,
			Children: ids(x.children), Overlaps: ids(x.overlaps), Decl: r.decl(r.writer(x.of(blocks), schema.ABreakout)),
		})
	}
}

// port finds a port of a device by its name, 0 if it has none of it.
func (r *resolver) port(d fabric.DeviceID, name fabric.Str) fabric.PortID {
	if i, ok := r.portsOf[d].at[name]; ok {
		return r.f.Devices[d].First + fabric.PortID(i)
	}
	return 0
}

// portAt finds the row of a port or NIC block; another block may stand for the
// same port. 0 if there is none.
func (r *resolver) portAt(b lang.BlockID) fabric.PortID {
	if p := r.portOf[b]; p != 0 {
		return p
	}
	blk := &r.cfg.Blocks[b]
	if d := r.deviceOf[blk.Parent]; d != 0 && blk.Kind == r.portKind(d) {
		return r.port(d, r.str(blk.Name))
	}
	return 0
}

func (r *resolver) isImplicit(b lang.BlockID) bool { return len(r.cfg.AttrsOf(b)) == 0 }

// split reads the breakout of a port and enters it, -1 if the port is whole.
func (r *resolver) split(s *portList, d fabric.DeviceID, name string, block int32, b lang.BlockID) int32 {
	v := r.attr(b, schema.ABreakout)
	if v.Kind == lang.Absent {
		return -1
	}
	count, mbps, ok := parseBreakout(r.cfg.Text(v))
	if !ok {
		r.fail(fmt.Sprintf("breakout %q is not a number of ports and their speed", r.cfg.Text(v)), `write it as "4x100G"`, r.at(b, schema.ABreakout, ""))
		return -1
	}
	x := listedSplit{parent: r.f.Names.Add(name), block: block, by: b, count: count, mbps: mbps, lanes: r.f.Models[r.f.Devices[d].Model].Lanes}
	r.platform(d, &x, b)
	s.splits = append(s.splits, x)
	return int32(len(s.splits) - 1)
}

// parseBreakout reads "4x100G".
func parseBreakout(s string) (count uint8, mbps uint32, ok bool) {
	n, speed, found := strings.Cut(s, "x")
	k, err := strconv.ParseUint(n, 10, 8)
	g, found2 := strings.CutSuffix(speed, "G")
	gbps, err2 := strconv.ParseUint(g, 10, 16)
	if !found || !found2 || err != nil || err2 != nil || k < 2 || gbps == 0 {
		return 0, 0, false
	}
	return uint8(k), uint32(gbps) * 1000, true
}

// childNames are the names of a split port's children in the words of the OS.
// SONiC counts lanes: the children of 8-lane Ethernet8, split in 4, are
// Ethernet8, 10, 12 and 14 [sonic-buildimage platform.json, breakout_modes], on
// Enterprise SONiC too [githedgehog fabric pkg/ctrl/switchprofile, Offsets], unless
// that names ports by cage, and counts children from 1: Eth1/5/1.
// [dellemc.enterprise_sonic sonic_port_breakout.py]
// Cumulus adds s0, s1, ... to the name. [Cumulus Linux, Layer 1 and Switch Ports]
func (r *resolver) childNames(d fabric.DeviceID, parent string, x *listedSplit) []string {
	dev := &r.f.Devices[d]
	var names []string
	for i := range int(x.count) {
		os := r.f.Text(dev.OSName)
		switch stem, number := splitTrailing(parent); {
		case os == "sonic-enterprise" && strings.Contains(parent, "/"):
			names = append(names, parent+"/"+strconv.Itoa(i+1))
		case (os == "sonic" || os == "sonic-enterprise") && number >= 0:
			step := max(int(x.lanes/x.count), 1)
			names = append(names, stem+strconv.Itoa(number+i*step))
		case os == "sonic" || os == "sonic-enterprise":
			names = append(names, parent)
		default:
			names = append(names, parent+"s"+strconv.Itoa(i))
		}
	}
	return names
}

// splitTrailing splits a name before its trailing digits; number is -1 without any.
func splitTrailing(s string) (stem string, number int) {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	n, err := strconv.Atoi(s[i:])
	if err != nil {
		return s, -1
	}
	return s[:i], n
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// summarize shows a long list by its ends.
func summarize(names []string) string {
	if len(names) <= 4 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, %s ... %s (%d ports)", names[0], names[1], names[len(names)-1], len(names))
}
