package resolve

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

func (r *resolver) segments() {
	r.segmentOf = map[lang.BlockID]fabric.SegmentID{}
	r.top(schema.Segment, func(b lang.BlockID) {
		s := fabric.Segment{
			Name: r.str(r.cfg.Blocks[b].Name), VLAN: uint16(r.attr(b, schema.AVLAN).N), First: 11,
			VRF: r.text(r.attr(b, schema.AVRF)), Isolated: r.attr(b, schema.AIsolated).N == 1,
			MTU: uint16(r.attr(b, schema.AMTU).N), Decl: r.decl(b), Address: r.f.Names.Add(r.cfg.Address(b)),
		}
		s.Subnet = r.subnet(b)
		if v := r.attr(b, schema.AFirst); v.Kind == lang.Int {
			s.First = uint32(v.N)
		}
		if t := r.cfg.Text(r.attr(b, schema.AGateway)); t != "" {
			s.Gateway, _ = netip.ParseAddr(t) // the loader has checked its form
			if s.Subnet.IsValid() && !s.Subnet.Contains(s.Gateway) {
				r.fail(fmt.Sprintf("gateway %s of segment %s is not in its subnet %s", t, r.f.Text(s.Name), s.Subnet),
					"write a host address of the subnet", r.at(b, schema.AGateway, ""), r.at(b, schema.ASubnet, "the subnet"))
			}
		}
		if v := r.attr(b, schema.AQoS); v.Kind == lang.Handle {
			s.QoS = r.qosOf[lang.BlockID(v.N)]
		}
		r.segmentOf[b] = fabric.SegmentID(len(r.f.Segments))
		r.f.Segments = append(r.f.Segments, s)
	})
}

// subnet is the subnet attribute of a block, with host bits refused.
func (r *resolver) subnet(b lang.BlockID) netip.Prefix {
	t := r.cfg.Text(r.attr(b, schema.ASubnet))
	if t == "" {
		return netip.Prefix{}
	}
	p, err := netip.ParsePrefix(t)
	if err != nil {
		return netip.Prefix{}
	}
	if p != p.Masked() {
		r.fail(fmt.Sprintf("subnet %s has bits set beyond its length", t), fmt.Sprintf("write %s", p.Masked()), r.at(b, schema.ASubnet, ""))
	}
	return p.Masked()
}

// devices makes a row for each switch and node, in the order of the source,
// and refuses names that are equal but for case.
func (r *resolver) devices() {
	r.deviceOf = map[lang.BlockID]fabric.DeviceID{}
	r.blockOf = make([]lang.BlockID, 1)
	byName := map[string]lang.BlockID{}
	for _, b := range r.cfg.Top {
		kind := r.cfg.Blocks[b].Kind
		if kind != schema.Switch && kind != schema.Node {
			continue
		}
		name := r.blockName(b)
		if other, taken := byName[strings.ToLower(name)]; taken {
			r.fail(fmt.Sprintf("two devices are called %s: %s and %s", name, r.cfg.Address(other), r.cfg.Address(b)),
				"names are unique in the whole fabric, modules included, without regard to case; set name on one of them",
				r.nameLabel(b), withText(r.nameLabel(other), "the other"))
			continue
		}
		byName[strings.ToLower(name)] = b
		r.deviceOf[b] = fabric.DeviceID(len(r.f.Devices))
		r.f.Devices = append(r.f.Devices, r.device(b, kind))
		r.blockOf = append(r.blockOf, b)
	}
}

func (r *resolver) nameLabel(b lang.BlockID) diag.Label { return r.at(b, schema.AName, "") }

func withText(l diag.Label, text string) diag.Label { l.Text = text; return l }

func (r *resolver) device(b lang.BlockID, kind schema.Kind) fabric.Device {
	base := r.deviceLayers(b)
	d := fabric.Device{
		Name: r.str(r.cfg.Blocks[b].Name), Kind: fabric.Node, Trusted: true, Decl: r.decl(b), Layers: base.id,
		Role: r.text(base.get(schema.ARole)), Rack: r.text(base.get(schema.ARack)), Cluster: r.text(base.get(schema.ACluster)),
		Slot: uint32(base.get(schema.ASlot).N), Address: r.f.Names.Add(r.cfg.Address(b)),
		Manage: manageOf(r.cfg.Text(base.get(schema.AManage))),
	}
	if v := base.get(schema.ATrusted); v.Kind == lang.Int {
		d.Trusted = v.N == 1
	}
	os := r.cfg.Text(base.get(schema.AOS))
	name, version, _ := strings.Cut(os, "/")
	d.OSName, d.OSVersion = r.f.Names.Add(name), r.f.Names.Add(version)
	if os == "" && d.Manage != fabric.HandsOff {
		r.fail(fmt.Sprintf("%s %s has no os", kind, r.blockName(b)),
			`write os = "name/version", or manage = "none" for a device that is taken as declared`, r.f.DeclLabel(r.decl(b), ""))
	}
	if kind != schema.Switch {
		return d
	}
	d.Kind = fabric.Switch
	if m := base.get(schema.AModel); m.Kind != lang.Absent {
		d.Model = r.modelOf[r.cfg.Text(m)] // the loader has refused unknown models
	} else if d.Manage != fabric.HandsOff {
		r.fail(fmt.Sprintf("switch %s has no model", r.blockName(b)),
			`write model = "vendor/model": its ports, buffers and limits follow from it`, r.f.DeclLabel(r.decl(b), ""))
	}
	buffer := base.get(schema.ABuffer)
	d.Buffer = fabric.DeviceBuffer{
		SharedBytes: uint64(r.cfg.Field(buffer, schema.AShared).N), HeadroomBytes: uint64(r.cfg.Field(buffer, schema.AHeadroom).N),
		Alpha: r.ratio(r.cfg.Field(buffer, schema.AAlpha)),
	}
	return d
}

func manageOf(word string) fabric.Manage {
	return map[string]fabric.Manage{"verify": fabric.Verify, "none": fabric.HandsOff}[word]
}

// portDraft is a port before rows are grouped and numbered.
type portDraft struct {
	name  string
	block lang.BlockID // 0 = by the model only
	split int          // index in Fabric.Breakouts of the split it is a child of, -1 if none
}

// ports makes the rows of all ports: those a switch has by its model, those
// that blocks name, and the children of split ones.
func (r *resolver) ports() {
	r.portOf = map[lang.BlockID]fabric.PortID{}
	r.portName = map[portKey]fabric.PortID{}
	r.portBlock = make([]lang.BlockID, 1)
	for id := 1; id < len(r.f.Devices); id++ {
		d := fabric.DeviceID(id)
		var drafts []portDraft
		if r.f.Devices[d].Kind == fabric.Switch {
			drafts = r.switchPorts(d)
		} else {
			r.kids(r.blockOf[d], schema.NIC, func(b lang.BlockID) { drafts = append(drafts, portDraft{r.blockName(b), b, -1}) })
		}
		slices.SortStableFunc(drafts, func(a, b portDraft) int { return natural(a.name, b.name) })
		r.addPorts(d, drafts)
	}
}

func (r *resolver) addPorts(d fabric.DeviceID, drafts []portDraft) {
	dev := &r.f.Devices[d]
	dev.First, dev.NPorts = fabric.PortID(len(r.f.Ports)), uint32(len(drafts))
	for _, p := range drafts {
		id := fabric.PortID(len(r.f.Ports))
		name := r.f.Names.Add(p.name)
		row := fabric.Port{Device: d, Name: name, Decl: r.decl(p.block)}
		if p.block == 0 {
			row.Flags |= fabric.Implicit
			row.Decl = dev.Decl
		} else {
			r.portOf[p.block] = id
		}
		if p.split >= 0 {
			b := &r.f.Breakouts[p.split]
			b.Children = append(b.Children, id)
			if p.block == 0 {
				row.Decl = b.Decl
			}
		}
		if p.split < 0 {
			r.whole(d, name, id)
		}
		r.portName[portKey{d, name}] = id
		r.f.Ports = append(r.f.Ports, row)
		r.portBlock = append(r.portBlock, p.block)
	}
}

// whole notes a port that stands beside the children it was split into.
func (r *resolver) whole(d fabric.DeviceID, name fabric.Str, id fabric.PortID) {
	for i := range r.f.Breakouts {
		if b := &r.f.Breakouts[i]; b.Device == d && b.Parent == name {
			b.Overlaps = append(b.Overlaps, id)
		}
	}
}

// switchPorts lists the ports of a switch: the model's, by the names of its
// OS; a split port's children in its place; and a block for a port the model
// does not have is an error.
func (r *resolver) switchPorts(d fabric.DeviceID) []portDraft {
	dev := &r.f.Devices[d]
	model := &r.f.Models[dev.Model]
	names, named := model.PortNames[r.f.Text(dev.OSName)]
	if dev.Model != 0 && !named && dev.Manage != fabric.HandsOff {
		r.fail(fmt.Sprintf("model %s has no port names for os %s", r.f.Text(model.Name), r.f.Text(dev.OSName)),
			"name the ports of that os in the model's ports, or use an os it runs: "+strings.Join(sortedKeys(model.PortNames), ", "),
			r.at(r.blockOf[d], schema.AOS, ""))
	}
	blocks := map[string]lang.BlockID{}
	var order []string
	r.kids(r.blockOf[d], schema.Port, func(b lang.BlockID) {
		n := r.blockName(b)
		if prev, dup := blocks[n]; dup && !r.isImplicit(prev) {
			return // the loader has reported it
		}
		if _, dup := blocks[n]; !dup {
			order = append(order, n)
		}
		blocks[n] = b
	})
	var drafts []portDraft
	known := map[string]bool{}
	add := func(name string, split int) {
		if !known[name] {
			known[name] = true
			drafts = append(drafts, portDraft{name, blocks[name], split})
		}
	}
	has := map[string]bool{}
	for _, n := range names {
		has[n] = true
	}
	for _, n := range names {
		if split := r.breakout(d, n, blocks[n]); split >= 0 {
			for _, child := range r.childNames(d, n, r.f.Breakouts[split]) {
				add(child, split)
			}
			add(n, -1) // where children have other names, the whole port can still be named
			continue
		}
		add(n, -1)
	}
	for _, n := range order {
		if known[n] {
			continue
		}
		if dev.Model != 0 && named && !has[n] {
			at := r.f.DeclLabel(r.decl(blocks[n]), "")
			if r.isImplicit(blocks[n]) {
				at.Where = "" // it stands where something refers to the port, not in the switch
			}
			r.fail(fmt.Sprintf("switch %s has no port %s", r.f.Text(dev.Name), n), fmt.Sprintf("%s has %s", r.f.Text(model.Name), summarize(names)), at)
			continue
		}
		add(n, -1)
	}
	return drafts
}

func (r *resolver) isImplicit(b lang.BlockID) bool { return len(r.cfg.AttrsOf(b)) == 0 }

// breakout reads the split of a port and enters it, -1 if it is whole.
func (r *resolver) breakout(d fabric.DeviceID, name string, b lang.BlockID) int {
	if b == 0 {
		return -1
	}
	v := r.attr(b, schema.ABreakout)
	if v.Kind == lang.Absent {
		return -1
	}
	count, mbps, ok := parseBreakout(r.cfg.Text(v))
	if !ok {
		r.fail(fmt.Sprintf("breakout %q is not a number of ports and their speed", r.cfg.Text(v)), `write it as "4x100G"`, r.at(b, schema.ABreakout, ""))
		return -1
	}
	r.f.Breakouts = append(r.f.Breakouts, fabric.Breakout{
		Device: d, Parent: r.f.Names.Add(name), Count: count, Mbps: mbps,
		Lanes: r.f.Models[r.f.Devices[d].Model].Lanes, Decl: r.decl(b),
	})
	return len(r.f.Breakouts) - 1
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
// Ethernet8, 10, 12 and 14. [sonic-buildimage platform.json, breakout_modes]
// Cumulus adds s0, s1, ... to the name. [Cumulus Linux, Layer 1 and Switch Ports]
func (r *resolver) childNames(d fabric.DeviceID, parent string, b fabric.Breakout) []string {
	var names []string
	os := r.f.Text(r.f.Devices[d].OSName)
	for i := range int(b.Count) {
		switch stem, number := splitTrailing(parent); {
		case os == "sonic" && number >= 0:
			step := max(int(b.Lanes)/int(b.Count), 1)
			names = append(names, stem+strconv.Itoa(number+i*step))
		case os == "sonic":
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

// natural orders names so that runs of digits compare as numbers.
func natural(a, b string) int {
	for len(a) > 0 && len(b) > 0 {
		if digit(a[0]) && digit(b[0]) {
			x, y := digits(a), digits(b)
			m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if len(m) != len(n) {
				return len(m) - len(n)
			}
			if c := strings.Compare(m, n); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func digits(s string) int {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return n
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
