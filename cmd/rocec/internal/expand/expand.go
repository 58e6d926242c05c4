// Package expand writes out what topologies generate: switches, their ports and
// interfaces, links, and what NICs are told. It takes a configuration with the
// fabric that was compiled from it, and returns text of the language and where
// in the source it belongs; it writes nothing. What comes of the text is for the
// caller to hold against what there was.
package expand

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// Change is one change of the source.
type Change struct {
	Block   source.Span // of the written block: from its word to its opening brace
	Head    string      // of the block, as it is written
	Module  string      // the call that it is written for: "module.pod1"; "" in the root
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
		if text[decl] == nil {
			text[decl] = &strings.Builder{}
			order = append(order, decl)
		} else {
			text[decl].WriteString("\n")
		}
		x.module = f.Text(f.Decls[decl].Module)
		if err := x.generated(text[decl], id, t); err != nil {
			return nil, err
		}
	}
	x.listedPlaces(text)
	x.nics(text)
	var list []Change
	for _, decl := range order {
		list = append(list, x.change(decl, strings.TrimSpace(text[decl].String()), ""))
	}
	for decl, lines := range x.inside {
		list = append(list, x.change(decl, "", strings.Join(lines, "\n")))
	}
	slices.SortFunc(list, func(a, b Change) int {
		if a.Block.File != b.Block.File {
			return strings.Compare(cfg.Files.Name(a.Block.File), cfg.Files.Name(b.Block.File))
		}
		return cmp.Or(int(a.Block.Start)-int(b.Block.Start), strings.Compare(a.Module, b.Module))
	})
	return list, nil
}

func (x *expander) change(decl fabric.DeclID, replace, inside string) Change {
	row := &x.f.Decls[decl]
	return Change{Block: row.Span, Head: x.f.Text(row.Head), Module: strings.TrimSuffix(x.f.Text(row.Module), "."), Replace: replace, Inside: inside}
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
		where := ""
		if c.Module != "" {
			where = ", as of " + c.Module
		}
		line := 1 + strings.Count(string(src[:min(int(c.Block.Start), len(src))]), "\n")
		if c.Replace != "" {
			fmt.Fprintf(&b, "# in place of %s, %s:%d%s\n\n%s\n", c.Head, name, line, where, c.Replace)
		} else {
			fmt.Fprintf(&b, "# in %s, %s:%d%s\n#\n%s\n", c.Head, name, line, where, commented(c.Inside))
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

// Files are the files of the source after the changes. References to what was
// generated are to the switches that stand for it; `at`, which only moves what a
// topology cables, goes, and so does what override files say of topologies. What a
// module that is called more than once generates has no one text, and is refused.
func Files(cfg *lang.Config, f *fabric.Fabric, changes []Change, read func(name string) ([]byte, error)) (map[string][]byte, error) {
	byFile := map[source.FileID][]format.Splice{}
	for i, c := range changes {
		if i > 0 && c.Block == changes[i-1].Block {
			return nil, fmt.Errorf("%s stands in %s, which %s and %s share: give each its own module, or write the switches by hand", c.Head, cfg.Files.Name(c.Block.File), changes[i-1].Module, c.Module)
		}
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
	leave := format.Leave{
		Word: "topology", Refer: references(f),
		Drop: func(block, attr string) bool {
			return block == "topology" && attr == "" || block == "nic" && attr == "at"
		},
	}
	for id := 1; id <= cfg.Files.Len(); id++ {
		name := cfg.Files.Name(source.FileID(id))
		if path.Dir(name) != "." || !strings.HasSuffix(name, ".roce.hcl") || strings.HasPrefix(name, "pack:") {
			continue // of a module, which has its own topologies, of a pack, or no source
		}
		src, changed := out[name]
		if !changed {
			var err error
			if src, err = read(name); err != nil {
				return nil, err
			}
		}
		text, problem := format.Without(name, src, leave)
		if problem != nil {
			return nil, fmt.Errorf("%s: %w", name, problem)
		}
		if changed || !bytes.Equal(text, src) {
			out[name] = text
		}
	}
	return out, nil
}

// references tells what a reference to a tier, or to a switch of it, is when its
// topology is written out: `topology.pod.leaf[3]` is a switch by its name, and
// `topology.pod.leaf` the list of all.
func references(f *fabric.Fabric) func([]format.Step) (string, int) {
	x := &expander{f: f}
	of := map[string]*fabric.Topology{}
	for t := 1; t < len(f.Topologies); t++ {
		of[f.Text(f.Topologies[t].Address)] = &f.Topologies[t]
	}
	return func(steps []format.Step) (string, int) {
		address, n := "topology", 0
		for ; n < len(steps) && (n == 0 || n == 1 && steps[n].Index); n++ {
			if steps[n].Index {
				address += "[" + quoted(steps[n].Text) + "]"
			} else {
				address += "." + steps[n].Text
			}
		}
		row := of[address]
		if row == nil || n == len(steps) {
			return "", 0
		}
		var tier []fabric.DeviceID
		for rank := fabric.LeafTier; rank <= fabric.CoreTier; rank++ {
			if rank.String() == steps[n].Text {
				tier = row.Tiers[rank]
			}
		}
		if n++; n < len(steps) && steps[n].Index {
			for i, d := range tier {
				if steps[n].Text == strconv.Itoa(i) || steps[n].Text == f.Text(f.Devices[d].Name) {
					return x.device(d), n + 1
				}
			}
			return "", 0
		}
		var all []string
		for _, d := range tier {
			all = append(all, x.device(d))
		}
		return "[" + strings.Join(all, ", ") + "]", n
	}
}

type expander struct {
	cfg      *lang.Config
	f        *fabric.Fabric
	deviceOf map[string]fabric.DeviceID // by address
	ifaces   [][]fabric.IfaceID         // by DeviceID
	ports    map[fabric.PortID]fabric.IfaceID
	module   string                                // that the block at hand stands in, as addresses have it
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
	address := strings.TrimPrefix(x.f.Text(x.f.Devices[d].Address), x.module)
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
	return strings.TrimPrefix(x.cfg.Address(id), x.module)
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
