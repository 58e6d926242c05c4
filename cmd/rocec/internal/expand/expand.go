// Package expand writes out what topologies generate: switches, their ports and
// interfaces, links, and what NICs are told. It takes a configuration with the
// fabric that was compiled from it, and returns text of the language and where
// in the source it belongs; it writes nothing. What comes of the text is for the
// caller to hold against what there was.
package expand

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// Change is one change of the source.
type Change struct {
	Block   source.Span // of the written block: from its word to its opening brace
	Head    string      // of the block, as it is written
	Replace string      // what stands in its place; "" leaves it
	Inside  string      // lines that are added to it
}

// Topologies returns the changes by which the source says itself what its
// topologies generate, in the order of the source.
func Topologies(cfg *lang.Config, f *fabric.Fabric) ([]Change, error) {
	x := &expander{
		cfg: cfg, f: f, deviceOf: map[string]fabric.DeviceID{}, inside: map[fabric.DeclID][]string{}, ifaces: make([][]fabric.IfaceID, len(f.Devices)),
		ports: map[fabric.PortID]fabric.IfaceID{}, blocks: make([]lang.BlockID, len(f.Topologies)), tiers: make([][fabric.CoreTier + 1][]lang.BlockID, len(f.Topologies)),
	}
	for d := 1; d < len(f.Devices); d++ {
		x.deviceOf[f.Text(f.Devices[d].Address)] = fabric.DeviceID(d)
	}
	for _, id := range cfg.Top {
		if cfg.Blocks[id].Kind == schema.Topology {
			x.index(id)
		}
	}
	for i := 1; i < len(f.Ifaces); i++ {
		row := &f.Ifaces[i]
		x.ifaces[row.Device] = append(x.ifaces[row.Device], fabric.IfaceID(i))
		if row.On != 0 && (row.Kind == fabric.RoutedIface || row.Kind == fabric.DirectIface) {
			x.ports[row.On] = fabric.IfaceID(i)
		}
	}
	// Topologies of one block, and all that they generate, replace it together.
	text := map[fabric.DeclID]*strings.Builder{}
	var order []fabric.DeclID
	for t := 1; t < len(f.Topologies); t++ {
		id, t := x.blocks[t], fabric.TopologyID(t)
		decl := f.Topologies[t].Decl
		if f.Text(f.Decls[decl].Module) != "" {
			return nil, fmt.Errorf("%s is in a module, which other calls may share: expand it in the module's own folder", cfg.Address(id))
		}
		if text[decl] == nil {
			text[decl] = &strings.Builder{}
			order = append(order, decl)
		} else {
			text[decl].WriteString("\n")
		}
		if err := x.generated(text[decl], id, t); err != nil {
			return nil, err
		}
	}
	x.listedPlaces(text)
	if err := x.nics(text); err != nil {
		return nil, err
	}
	var list []Change
	for _, decl := range order {
		list = append(list, Change{Block: f.Decls[decl].Span, Head: f.Text(f.Decls[decl].Head), Replace: strings.TrimSpace(text[decl].String())})
	}
	for decl, lines := range x.inside {
		list = append(list, Change{Block: f.Decls[decl].Span, Head: f.Text(f.Decls[decl].Head), Inside: strings.Join(lines, "\n")})
	}
	slices.SortFunc(list, func(a, b Change) int {
		if a.Block.File != b.Block.File {
			return strings.Compare(cfg.Files.Name(a.Block.File), cfg.Files.Name(b.Block.File))
		}
		return int(a.Block.Start) - int(b.Block.Start)
	})
	return list, nil
}

// Text is the changes for people to read: new blocks as they are, and what is
// added to others under a comment that names them.
func Text(cfg *lang.Config, changes []Change, read func(name string) ([]byte, error)) (string, error) {
	var b strings.Builder
	for i, c := range changes {
		if i > 0 {
			b.WriteString("\n")
		}
		name := cfg.Files.Name(c.Block.File)
		src, err := read(name)
		if err != nil {
			return "", err
		}
		line := 1 + strings.Count(string(src[:min(int(c.Block.Start), len(src))]), "\n")
		if c.Replace != "" {
			fmt.Fprintf(&b, "# in place of %s, %s:%d\n\n%s\n", c.Head, name, line, c.Replace)
		} else {
			fmt.Fprintf(&b, "# in %s, %s:%d\n#\n%s\n", c.Head, name, line, commented(c.Inside))
		}
	}
	out, problem := format.Source("expanded.roce.hcl", []byte(b.String()))
	if problem != nil {
		return "", fmt.Errorf("the expansion does not read: %w", problem)
	}
	return string(out), nil
}

func commented(lines string) string {
	return "# " + strings.ReplaceAll(lines, "\n", "\n# ")
}

// Files are the files of the source after the changes.
func Files(cfg *lang.Config, changes []Change, read func(name string) ([]byte, error)) (map[string][]byte, error) {
	byFile := map[source.FileID][]format.Splice{}
	for _, c := range changes {
		byFile[c.Block.File] = append(byFile[c.Block.File], format.Splice{At: int(c.Block.Start), Replace: c.Replace, Inside: c.Inside})
	}
	out := map[string][]byte{}
	for id, splices := range byFile {
		name := cfg.Files.Name(id)
		src, err := read(name)
		if err != nil {
			return nil, err
		}
		text, problem := format.Blocks(name, src, splices)
		if problem != nil {
			return nil, fmt.Errorf("%s: %w", name, problem)
		}
		out[name] = text
	}
	return out, nil
}

type expander struct {
	cfg      *lang.Config
	f        *fabric.Fabric
	deviceOf map[string]fabric.DeviceID // by address
	ifaces   [][]fabric.IfaceID         // by DeviceID
	ports    map[fabric.PortID]fabric.IfaceID
	inside   map[fabric.DeclID][]string            // lines for blocks that stay
	blocks   []lang.BlockID                        // by TopologyID
	tiers    [][fabric.CoreTier + 1][]lang.BlockID // by TopologyID and tier, in index order
}

var tierOf = map[schema.Kind]fabric.Tier{schema.Leaf: fabric.LeafTier, schema.Spine: fabric.SpineTier, schema.Core: fabric.CoreTier}

// index finds the rows of a topology and its tiers.
func (x *expander) index(id lang.BlockID) {
	address := x.cfg.Address(id)
	for t := range x.f.Topologies {
		if t == 0 || x.f.Text(x.f.Topologies[t].Address) != address {
			continue
		}
		x.blocks[t] = id
		first, end := x.cfg.Kids(id)
		for k := first; k < end; k++ {
			if tier, ok := tierOf[x.cfg.Block(k).Kind]; ok {
				x.tiers[t][tier] = append(x.tiers[t][tier], k)
			}
		}
	}
}

// identifier is what HCL takes for a name after a dot.
var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`) })

// named is a reference to a block by its label.
func named(word, label string) string {
	if identifier().MatchString(label) {
		return word + "." + label
	}
	return word + "[" + quoted(label) + "]"
}

// device is a reference to a device: what was generated is a switch by its name.
func (x *expander) device(d fabric.DeviceID) string {
	address := x.f.Text(x.f.Devices[d].Address)
	if strings.HasPrefix(address, "topology.") || strings.HasPrefix(address, "topology[") {
		return named("switch", x.f.Text(x.f.Devices[d].Name))
	}
	return address
}

// reference is a handle in an expression.
func (x *expander) reference(id lang.BlockID) string {
	if b := x.cfg.Block(id); b.Kind.Tier() {
		return named("switch", x.cfg.String(b.Name))
	} else if b.Kind == schema.Port && x.cfg.Block(b.Parent).Kind.Tier() {
		return x.reference(b.Parent) + ".port[" + quoted(x.cfg.String(b.Name)) + "]"
	}
	return x.cfg.Address(id)
}

// ofTier are the attributes of a tier that a switch does not have: they are
// said by links, ports and interfaces.
func ofTier(n schema.Attr) bool {
	return schema.Lookup(schema.Switch, n.Name()) == nil || n == schema.AName
}

// generated writes the switches and links of one topology.
func (x *expander) generated(w *strings.Builder, id lang.BlockID, t fabric.TopologyID) error {
	row := &x.f.Topologies[t]
	if err := x.segment(w, t); err != nil {
		return err
	}
	first, end := x.cfg.Kids(id)
	for k := first; k < end; k++ {
		b := x.cfg.Block(k)
		if !b.Kind.Tier() {
			continue
		}
		if b.Name == 0 {
			if b.Index > 0 {
				continue
			}
			if err := x.listed(row, b.Kind); err != nil {
				return err
			}
			continue
		}
		d, ok := x.deviceOf[x.cfg.Address(k)]
		if !ok {
			return fmt.Errorf("%s is no device", x.cfg.Address(k))
		}
		x.generatedSwitch(w, id, k, d)
	}
	x.links(w, t)
	return nil
}

// segment writes the VLAN that leaves with a shared subnet put their node ports in.
func (x *expander) segment(w *strings.Builder, t fabric.TopologyID) error {
	for s := 1; s < len(x.f.Segments); s++ {
		seg := &x.f.Segments[s]
		if !seg.Tier || seg.Address != x.f.Topologies[t].Address {
			continue
		}
		fmt.Fprintf(w, "segment %s {\nvlan = %d\n", quoted(x.f.Text(seg.Name)), seg.VLAN)
		if seg.VRF != 0 {
			fmt.Fprintf(w, "vrf = %s\n", quoted(x.f.Text(seg.VRF)))
		}
		if seg.MTU != 0 {
			fmt.Fprintf(w, "mtu = %d\n", seg.MTU)
		}
		if q := x.cfg.Attr(x.blocks[t], schema.AQoS); q.Kind == lang.Handle {
			fmt.Fprintf(w, "qos = %s\n", x.reference(lang.BlockID(q.N)))
		}
		fmt.Fprint(w, "}\n\n")
	}
	return nil
}

// listed notes what a topology says of the ports of switches that are written
// elsewhere. Switches of one block are told the same or not at all.
func (x *expander) listed(row *fabric.Topology, kind schema.Kind) error {
	rank := tierOf[kind]
	byDecl := map[fabric.DeclID]string{}
	for _, d := range row.Tiers[rank] {
		var b strings.Builder
		x.portBlocks(&b, 0, 0, d)
		x.interfaces(&b, d)
		decl := x.f.Devices[d].Decl
		if text, ok := byDecl[decl]; ok && text != b.String() {
			return fmt.Errorf("%s says different things of switches that %s makes: give each switch a block of its own first", x.f.Text(row.Address), x.f.Text(x.f.Decls[decl].Head))
		}
		if _, ok := byDecl[decl]; !ok && b.Len() > 0 {
			x.inside[decl] = append(x.inside[decl], strings.TrimSpace(b.String()))
		}
		byDecl[decl] = b.String()
	}
	return nil
}

func (x *expander) generatedSwitch(w *strings.Builder, topology, tier lang.BlockID, d fabric.DeviceID) {
	fmt.Fprintf(w, "switch %s {\n", quoted(x.f.Text(x.f.Devices[d].Name)))
	def := schema.Def(x.cfg.Block(tier).Kind)
	for _, a := range x.cfg.AttrsOf(tier) {
		if ofTier(a.Num) || a.Val.Kind == lang.Absent {
			continue
		}
		for i := range def.Attrs {
			if def.Attrs[i].Num == a.Num {
				fmt.Fprintf(w, "%s = %s\n", a.Num.Name(), x.valueText(&def.Attrs[i].Type, a.Val))
			}
		}
	}
	fmt.Fprintf(w, "place = %s\n", x.place(d))
	for _, n := range []schema.Attr{schema.AModel, schema.AOS} {
		if x.cfg.Attr(tier, n).Kind == lang.Absent {
			x.inherited(w, d, n)
		}
	}
	x.portBlocks(w, topology, tier, d)
	x.interfaces(w, d)
	fmt.Fprint(w, "}\n\n")
}

// place is where a switch stands in its topology, as a switch says it itself.
func (x *expander) place(d fabric.DeviceID) string {
	at := &x.f.Devices[d].Place
	items := []string{"tier = " + quoted(at.Tier.String()), fmt.Sprintf("index = %d", at.Index)}
	for _, f := range []struct {
		name string
		n    int32
	}{{"group", at.Group}, {"plane", at.Plane}, {"rail", at.Rail}, {"pod", at.Pod}} {
		if f.n >= 0 {
			items = append(items, fmt.Sprintf("%s = %d", f.name, f.n))
		}
	}
	return braces(items)
}

// listedPlaces gives switches that are written elsewhere the place that a
// topology lists them in: those of one block by a look into a table.
func (x *expander) listedPlaces(text map[fabric.DeclID]*strings.Builder) {
	of := map[fabric.DeclID][]fabric.DeviceID{}
	members := map[fabric.DeclID]int{}
	var order []fabric.DeclID
	for d := 1; d < len(x.f.Devices); d++ {
		dev := &x.f.Devices[d]
		if x.ofTopology(dev.Decl) {
			continue
		}
		members[dev.Decl]++
		if dev.Tier == fabric.NoTier || dev.Topology == 0 {
			continue
		}
		if of[dev.Decl] == nil {
			order = append(order, dev.Decl)
		}
		of[dev.Decl] = append(of[dev.Decl], fabric.DeviceID(d))
	}
	tables := 0
	for _, decl := range order {
		list := of[decl]
		if members[decl] == 1 {
			x.inside[decl] = append(x.inside[decl], "place = "+x.place(list[0]))
			continue
		}
		topology := &x.f.Topologies[x.f.Devices[list[0]].Topology]
		table := tableName(x.f.Text(topology.Name) + "_place")
		if tables++; tables > 1 {
			table = fmt.Sprintf("%s_%d", table, tables)
		}
		w := text[topology.Decl]
		fmt.Fprintf(w, "locals {\n%s = {\n", table)
		for _, d := range list {
			fmt.Fprintf(w, "%s = %s\n", quoted(x.f.Text(x.f.Devices[d].Name)), x.place(d))
		}
		fmt.Fprint(w, "}\n}\n\n")
		x.inside[decl] = append(x.inside[decl], "place = try(local."+table+"[self.name], null)")
	}
}

// tableName is the name of a local value: what else stands in it becomes a line.
func tableName(s string) string { return strings.NewReplacer(".", "_", "-", "_").Replace(s) }

// inherited writes what a tier takes over from the one below.
func (x *expander) inherited(w *strings.Builder, d fabric.DeviceID, n schema.Attr) {
	dev := &x.f.Devices[d]
	switch n {
	case schema.AModel:
		if dev.Model != 0 {
			fmt.Fprintf(w, "model = %s\n", quoted(x.f.Text(x.f.Models[dev.Model].Name)))
		}
	case schema.AOS:
		if dev.OSName != 0 {
			fmt.Fprintf(w, "os = %s\n", quoted(strings.TrimSuffix(x.f.Text(dev.OSName)+"/"+x.f.Text(dev.OSVersion), "/")))
		}
	}
}

// portBlocks writes a block for each run of ports that are told the same but
// for their addresses, which then stand in a list.
func (x *expander) portBlocks(w *strings.Builder, topology, tier lang.BlockID, d fabric.DeviceID) {
	type run struct {
		names []string
		text  string
	}
	var runs []run
	at := map[string]int{}
	addresses := map[string]string{}
	written := x.writtenPorts(tier)
	first, end := x.f.PortsOf(d)
	for p := first; p < end; p++ {
		name := x.f.Text(x.f.Ports[p].Name)
		text, address := x.portText(topology, tier, p, written[name])
		if text == "" && address == "" {
			continue
		}
		key := text
		if address != "" {
			addresses[name] = address
			key += "\x00"
		}
		i, ok := at[key]
		if !ok {
			i = len(runs)
			at[key] = i
			runs = append(runs, run{text: text})
		}
		runs[i].names = append(runs[i].names, name)
	}
	for _, r := range runs {
		for _, label := range ranges(r.names) {
			fmt.Fprintf(w, "port %s {\n%s", quoted(label.text), r.text)
			switch list := label.names; {
			case addresses[list[0]] == "":
			case len(list) == 1:
				fmt.Fprintf(w, "address = %s\n", addresses[list[0]])
			default:
				fmt.Fprint(w, "address = [\n")
				for _, n := range list {
					fmt.Fprintf(w, "%s,\n", addresses[n])
				}
				fmt.Fprint(w, "][port.index]\n")
			}
			fmt.Fprint(w, "}\n")
		}
	}
}

// writtenPorts are the port blocks of a tier, by name.
func (x *expander) writtenPorts(tier lang.BlockID) map[string]lang.BlockID {
	blocks := map[string]lang.BlockID{}
	if tier == 0 {
		return blocks
	}
	first, end := x.cfg.Kids(tier)
	for k := first; k < end; k++ {
		if b := x.cfg.Block(k); b.Kind == schema.Port {
			blocks[x.cfg.String(b.Name)] = k
		}
	}
	return blocks
}

// given are the attributes that a topology and its tiers give to the ports that
// they join, where nothing nearer writes them.
var given = []schema.Attr{schema.AQoS, schema.AMTU}

// portText is what the block of one port says, its address apart.
func (x *expander) portText(topology, tier lang.BlockID, p fabric.PortID, block lang.BlockID) (text, address string) {
	var b strings.Builder
	row := &x.f.Ports[p]
	has := map[schema.Attr]bool{}
	if block != 0 {
		def := schema.Def(schema.Port)
		say := slices.Clone(x.cfg.AttrsOf(block))
		first, end := x.cfg.Kids(block)
		for k := first; k < end; k++ {
			if x.cfg.Block(k).Kind != schema.Except {
				continue
			}
			for _, a := range x.cfg.AttrsOf(k) { // nearer than the port
				say = append(slices.DeleteFunc(say, func(b lang.Attr) bool { return b.Num == a.Num }), a)
			}
		}
		for _, a := range say {
			for i := range def.Attrs {
				if def.Attrs[i].Num == a.Num && a.Val.Kind != lang.Absent && a.Num != schema.AName {
					has[a.Num] = true
					fmt.Fprintf(&b, "%s = %s\n", a.Num.Name(), x.valueText(&def.Attrs[i].Type, a.Val))
				}
			}
		}
	}
	if row.Link == 0 || x.f.Links[row.Link].Origin != fabric.OfTopology {
		return b.String(), ""
	}
	x.layered(&b, p, has, func(n schema.Attr) bool { return tier != 0 && x.cfg.Attr(tier, n).Kind != lang.Absent })
	if i, ok := x.ports[p]; ok && !has[schema.AAddress] {
		iface := &x.f.Ifaces[i]
		if len(iface.Addresses) > 0 {
			address = prefixes(iface)
		}
		if iface.VRF != 0 && !has[schema.AVRF] {
			fmt.Fprintf(&b, "vrf = %s\n", quoted(x.f.Text(iface.VRF)))
		}
	}
	if row.Native != 0 && x.f.Segments[row.Native].Tier && !has[schema.ANative] {
		fmt.Fprintf(&b, "native = %s\n", named("segment", x.f.Text(x.f.Segments[row.Native].Name)))
	}
	return b.String(), address
}

// layered writes what the topology, or a tier at either end, says of a port.
func (x *expander) layered(b *strings.Builder, p fabric.PortID, has map[schema.Attr]bool, nearer func(schema.Attr) bool) {
	row := &x.f.Ports[p]
	link := &x.f.Links[row.Link]
	for _, n := range given {
		if has[n] || nearer(n) {
			continue
		}
		if v := x.cfg.Attr(x.blocks[link.Topology], n); v.Kind != lang.Absent {
			fmt.Fprintf(b, "%s = %s\n", n.Name(), x.valueText(&schema.Lookup(schema.Topology, n.Name()).Type, v))
		}
	}
	from := x.tierBlock(link)
	for _, n := range []schema.Attr{schema.ASpeed, schema.AFEC, schema.AAutoneg} {
		if v := x.cfg.Attr(from, n); from != 0 && !has[n] && v.Kind != lang.Absent {
			fmt.Fprintf(b, "%s = %s\n", n.Name(), x.valueText(&schema.Lookup(schema.Leaf, n.Name()).Type, v))
		}
	}
}

// tierBlock is the block of the tier above a link, which speaks of it.
func (x *expander) tierBlock(link *fabric.Link) lang.BlockID {
	a, b := &x.f.Devices[x.f.Ports[link.A].Device], &x.f.Devices[x.f.Ports[link.B].Device]
	upper := a
	if b.Tier > a.Tier {
		upper = b
	}
	blocks := x.tiers[upper.Topology][upper.Tier]
	if len(blocks) == 1 {
		return blocks[0]
	}
	if int(upper.Index) < len(blocks) {
		return blocks[upper.Index]
	}
	return 0
}

// interfaces writes the loopback and the SVIs that a tier makes.
func (x *expander) interfaces(w *strings.Builder, d fabric.DeviceID) {
	for _, i := range x.ifaces[d] {
		row := &x.f.Ifaces[i]
		if !x.ofTopology(row.Decl) {
			continue
		}
		on := ""
		switch row.Kind {
		case fabric.LoopbackIface:
			on = quoted("loopback")
		case fabric.SVI:
			on = named("segment", x.f.Text(x.f.Segments[row.Segment].Name))
		default:
			continue
		}
		fmt.Fprintf(w, "interface %s {\non = %s\naddress = %s\n", quoted(x.f.Text(row.Name)), on, prefixes(row))
		if row.VRF != 0 && row.VRF != x.f.Segments[row.Segment].VRF {
			fmt.Fprintf(w, "vrf = %s\n", quoted(x.f.Text(row.VRF)))
		}
		fmt.Fprint(w, "}\n")
	}
}

// ofTopology reports whether a declaration stands in a topology.
func (x *expander) ofTopology(d fabric.DeclID) bool {
	for ; d != 0; d = x.f.Decls[d].Parent {
		if x.cfg.Decls[d].Kind == schema.Topology {
			return true
		}
	}
	return false
}

func prefixes(row *fabric.Iface) string {
	var list []string
	for _, a := range row.Addresses {
		list = append(list, quoted(a.String()))
	}
	if len(list) == 1 {
		return list[0]
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// links writes a block for each pair of a switch and a family of devices, or of
// two switches, whose cables are alike.
func (x *expander) links(w *strings.Builder, t fabric.TopologyID) {
	type group struct {
		a, b  string // what stands before the port of each end; a may take the key of a node
		cable string
		rows  []string
	}
	var groups []*group
	at := map[[3]string]*group{}
	for l := 1; l < len(x.f.Links); l++ {
		link := &x.f.Links[l]
		if link.Origin != fabric.OfTopology || link.Topology != t {
			continue
		}
		lower, upper := link.A, link.B
		if x.f.Devices[x.f.Ports[lower].Device].Tier > x.f.Devices[x.f.Ports[upper].Device].Tier {
			lower, upper = upper, lower
		}
		low := &x.f.Devices[x.f.Ports[lower].Device]
		up, down := x.f.Text(x.f.Ports[upper].Name), x.f.Text(x.f.Ports[lower].Name)
		ref, row := x.device(x.f.Ports[lower].Device), ""
		if family, key, keyed := strings.Cut(ref, "["); low.Kind == fabric.Node && keyed {
			ref = family + "[each.value[0]].nic[each.value[1]]"
			row = fmt.Sprintf("%s = [%s, %s]", quoted(up), strings.TrimSuffix(key, "]"), quoted(down))
		} else {
			word := "port"
			if low.Kind == fabric.Node {
				word = "nic"
			}
			ref += "." + word + "[each.value]"
			row = fmt.Sprintf("%s = %s", quoted(up), quoted(down))
		}
		high, word := x.device(x.f.Ports[upper].Device), "port"
		if x.f.Devices[x.f.Ports[upper].Device].Kind == fabric.Node {
			word = "nic"
		}
		k := [3]string{ref, high + "." + word + "[each.key]", x.cable(link)}
		g := at[k]
		if g == nil {
			g = &group{a: k[0], b: k[1], cable: k[2]}
			at[k] = g
			groups = append(groups, g)
		}
		g.rows = append(g.rows, row)
	}
	for i, g := range groups {
		fmt.Fprintf(w, "link %s {\nfor_each = {\n%s\n}\nends = [%s, %s]\n", quoted(fmt.Sprintf("%s_%d", x.f.Text(x.f.Topologies[t].Name), i+1)), strings.Join(g.rows, "\n"), g.a, g.b)
		if g.cable != "" {
			fmt.Fprintf(w, "cable = %s\n", g.cable)
		}
		fmt.Fprint(w, "}\n\n")
	}
}

func (x *expander) cable(link *fabric.Link) string {
	var items []string
	if link.Media != 0 {
		items = append(items, "media = "+quoted(x.f.Text(x.f.Media[link.Media].Name)))
	}
	if link.CableMm != 0 {
		items = append(items, "length = "+quoted(metres(int64(link.CableMm))))
	}
	if link.DelayNs != 0 {
		items = append(items, fmt.Sprintf("delay = %q", fmt.Sprintf("%dns", link.DelayNs)))
	}
	if len(items) == 0 {
		return ""
	}
	return braces(items)
}

// label is a name or range of names, and what it stands for.
type label struct {
	text  string
	names []string
}

// ranges are the shortest labels that stand for names, in their order: members
// whose numbers follow each other in equal steps are one range.
func ranges(names []string) []label {
	slices.SortFunc(names, intent.Natural)
	var out []label
	for i := 0; i < len(names); {
		stem, n, ok := trailing(names[i])
		j, step := i+1, 0
		for ok && j < len(names) {
			s, m, numbered := trailing(names[j])
			_, before, _ := trailing(names[j-1])
			if !numbered || s != stem || step != 0 && m-before != step {
				break
			}
			step = m - before
			j++
		}
		if j-i < 3 && step > 1 || j-i < 2 {
			out = append(out, label{names[i], names[i : i+1]})
			i++
			continue
		}
		text := fmt.Sprintf("%s[%d-%d", stem, n, n+step*(j-i-1))
		if step > 1 {
			text += fmt.Sprintf(":%d", step)
		}
		out = append(out, label{text + "]", names[i:j]})
		i = j
	}
	return out
}

// trailing splits a name before the number it ends in, which has no leading zero.
func trailing(name string) (stem string, n int, ok bool) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' && len(name)-i < 9 {
		i--
	}
	digits := name[i:]
	if digits == "" || len(digits) > 1 && digits[0] == '0' {
		return name, 0, false
	}
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return name[:i], n, true
}
