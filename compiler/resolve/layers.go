package resolve

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// scope is the chain of blocks behind one row, nearest first. A value holds where it is
// written and in everything inside, and the innermost one counts; what an exception
// writes for a place counts above the place, and what an override writes above all.
type scope struct {
	cfg    *lang.Config
	before []layer // overrides, of whatever place; then the exceptions of the row's own block
	own    lang.BlockID
	chain  []layer // what stands around it, each place after its exceptions; defaults last
	nic    bool    // of a NIC: a tier in the chain says little of it
	id     fabric.LayersID
	clash  func(n schema.Attr, a, b lang.BlockID) // is told of two at one height that both write an attribute
}

// layer is a block that says something of a row, and at which height.
type layer struct {
	by     lang.BlockID
	height fabric.Height
}

// get is the value of an attribute in force, Absent if no layer writes it or what is
// there is kept.
func (s *scope) get(n schema.Attr) lang.Value {
	v, _ := s.find(n)
	return unlessKept(s.cfg, v)
}

// keeps reports whether the nearest layer that writes an attribute keeps what is there.
func (s *scope) keeps(n schema.Attr) bool {
	v, _ := s.find(n)
	return s.cfg.IsWord(v, keep)
}

// below is the nearest value of an attribute that is not the word to keep what is there.
func (s *scope) below(n schema.Attr) lang.Value {
	for _, l := range slices.Concat(s.before, []layer{{by: s.own}}, s.chain) {
		if l.by == 0 {
			continue
		}
		if v := s.says(l, n); v.Kind != lang.Absent && !s.cfg.IsWord(v, keep) {
			return v
		}
	}
	return lang.Value{}
}

// keep is the word that leaves a setting as the device has it.
const keep = "keep"

// unlessKept is a value, Absent where it is that word.
func unlessKept(cfg *lang.Config, v lang.Value) lang.Value {
	if cfg.IsWord(v, keep) {
		return lang.Value{}
	}
	return v
}

// find is get with the block that wrote the value.
func (s *scope) find(n schema.Attr) (lang.Value, lang.BlockID) {
	v, l := s.where(n)
	return v, l.by
}

// where is get with the layer that wrote the value.
func (s *scope) where(n schema.Attr) (lang.Value, layer) {
	if v, l := s.nearest(n); l.by != 0 {
		return v, l
	}
	for _, l := range s.chain {
		if v := s.says(l, n); v.Kind != lang.Absent {
			return v, l
		}
	}
	return lang.Value{}, layer{}
}

// nearest is what overrides, exceptions and the row's own block write.
func (s *scope) nearest(n schema.Attr) (lang.Value, layer) {
	for i, l := range s.before {
		if v := s.says(l, n); v.Kind != lang.Absent {
			if s.clash != nil {
				s.agree(n, l.by, s.before[i+1:])
			}
			return v, l
		}
	}
	if s.own != 0 {
		if v := s.cfg.Attr(s.own, n); v.Kind != lang.Absent {
			return v, layer{by: s.own}
		}
	}
	return lang.Value{}, layer{}
}

// agree tells of all that stand as high as the one that counts, and say something too:
// overrides do with overrides, and exceptions of one block with each other.
func (s *scope) agree(n schema.Attr, by lang.BlockID, others []layer) {
	override := s.cfg.Blocks[by].Kind == schema.Override
	for _, l := range others {
		if l.by != by && (s.cfg.Blocks[l.by].Kind == schema.Override) == override && s.says(l, n).Kind != lang.Absent {
			s.clash(n, by, l.by)
		}
	}
}

// says is what a layer writes, Absent where that is not about the row.
func (s *scope) says(l layer, n schema.Attr) lang.Value {
	if !l.height.Says(n, s.nic) {
		return lang.Value{}
	}
	return at(s.cfg, l.by, n)
}

// at reads one block: an override speaks through its `set`.
func at(cfg *lang.Config, b lang.BlockID, n schema.Attr) lang.Value {
	if cfg.Blocks[b].Kind == schema.Override {
		return cfg.Field(cfg.Attr(b, schema.ASet), n)
	}
	return cfg.Attr(b, n)
}

// itself makes layers of what speaks of a row's own block.
func itself(blocks []lang.BlockID) []layer {
	if len(blocks) == 0 {
		return nil
	}
	list := make([]layer, len(blocks))
	for i, b := range blocks {
		list[i].by = b
	}
	return list
}

// alone is the scope of a block that nothing stands around.
func (r *resolver) alone(b lang.BlockID) scope {
	return scope{cfg: r.cfg, own: b, before: itself(r.speak[b])}
}

// stands adds a block that a row is inside of: what overrides say of it to those of the
// row, before its exceptions, and the block after its own exceptions to the chain.
func (r *resolver) stands(before, chain []layer, b lang.BlockID, height fabric.Height) (_, _ []layer) {
	if b == 0 {
		return before, chain
	}
	if r.spokenOf(b) {
		for _, by := range r.speak[b] {
			l := layer{by, height}
			switch {
			case r.cfg.Blocks[by].Kind != schema.Override:
				chain = append(chain, l)
			case !slices.Contains(before, l):
				first := slices.IndexFunc(before, func(x layer) bool { return r.cfg.Blocks[x.by].Kind != schema.Override })
				if first < 0 {
					first = len(before)
				}
				before = slices.Insert(before[:len(before):len(before)], first, l)
			}
		}
	}
	return before, append(chain, layer{b, height})
}

// heightOf is how a device stands around what it has.
func (r *resolver) heightOf(device lang.BlockID) fabric.Height {
	if r.cfg.Blocks[device].Kind.Tier() {
		return fabric.AtTier
	}
	return fabric.AtDevice
}

// layerTable interns chains of declarations.
type layerTable struct {
	ids      map[string]fabric.LayersID
	defaults map[defaultsKey]lang.BlockID
	key      []byte
}

type defaultsKey struct {
	prefix string
	label  string
}

// layersOf returns the ID of a chain, entering it if it is new.
func (r *resolver) layersOf(before, chain []layer, nic bool) fabric.LayersID {
	t := &r.layers
	if len(before)+len(chain) == 0 {
		return 0
	}
	if t.ids == nil {
		t.ids = map[string]fabric.LayersID{}
	}
	t.key = t.key[:0]
	for _, l := range before {
		t.key = append(binary.LittleEndian.AppendUint32(t.key, uint32(r.decl(l.by))), byte(l.height))
	}
	t.key = append(t.key, '|', 0)
	if nic {
		t.key[len(t.key)-1] = 1
	}
	for _, l := range chain {
		t.key = append(binary.LittleEndian.AppendUint32(t.key, uint32(r.decl(l.by))), byte(l.height))
	}
	if id, ok := t.ids[string(t.key)]; ok {
		return id
	}
	id := fabric.LayersID(len(r.f.Layers))
	r.f.Layers = append(r.f.Layers, fabric.Layers{Before: r.declsOf(before), Chain: r.declsOf(chain), NIC: nic})
	t.ids[string(t.key)] = id
	return id
}

// layersBelow is the chain of a switch whose model or OS is that of the tier below.
func (r *resolver) layersBelow(s *scope, below lang.BlockID) fabric.LayersID {
	key := fmt.Sprintf("%d below %d", s.id, r.decl(below))
	if r.layers.ids == nil {
		r.layers.ids = map[string]fabric.LayersID{}
	}
	id, ok := r.layers.ids[key]
	if !ok {
		id = fabric.LayersID(len(r.f.Layers))
		row := r.f.Layers[s.id]
		row.Below = r.decl(below)
		r.f.Layers = append(r.f.Layers, row)
		r.layers.ids[key] = id
	}
	return id
}

func (r *resolver) declsOf(list []layer) []fabric.Layer {
	if len(list) == 0 {
		return nil
	}
	rows := make([]fabric.Layer, len(list))
	for i, l := range list {
		rows[i] = fabric.Layer{By: r.decl(l.by), At: l.height}
	}
	return rows
}

// defaultsFor lists the defaults blocks of a kind that reach a block, nearest
// first: those of its module, then those of the modules around it.
func (r *resolver) defaultsFor(b lang.BlockID, label string) []lang.BlockID {
	t := &r.layers
	if t.defaults == nil {
		t.defaults = map[defaultsKey]lang.BlockID{}
		r.top(schema.Defaults, func(d lang.BlockID) {
			t.defaults[defaultsKey{r.cfg.ModulePrefix(r.cfg.Blocks[d].Decl), r.blockName(d)}] = d
		})
	}
	if len(t.defaults) == 0 {
		return nil
	}
	var found []lang.BlockID
	prefix := r.cfg.ModulePrefix(r.cfg.Blocks[b].Decl)
	for {
		if d, ok := t.defaults[defaultsKey{prefix, label}]; ok {
			found = append(found, d)
		}
		if prefix == "" {
			return found
		}
		i := strings.LastIndex(strings.TrimSuffix(prefix, "."), "module.")
		prefix = prefix[:max(i, 0)]
	}
}

// defaultLayers are the defaults of a kind for a block as layers.
func (r *resolver) defaultLayers(list []layer, b lang.BlockID, label string) []layer {
	for _, d := range r.defaultsFor(b, label) {
		list = append(list, layer{d, fabric.AtDefaults})
	}
	return list
}

// deviceLayers is the chain behind a device itself.
func (r *resolver) deviceLayers(b lang.BlockID) *scope {
	s := r.alone(b)
	word := schema.Switch
	if r.cfg.Blocks[b].Kind == schema.Node {
		word = schema.Node
	}
	s.chain = r.defaultLayers(nil, b, word.String())
	s.id = r.layersOf(s.before, s.chain, false)
	return &s
}

// excepts lists the exceptions that hold for a block.
func (r *resolver) excepts(b lang.BlockID) []lang.BlockID {
	var list []lang.BlockID
	r.kids(b, schema.Except, func(e lang.BlockID) { list = append(list, e) })
	return list
}

// innerExcepts lists what a device's exceptions say of one of its inner blocks.
func (r *resolver) innerExcepts(device lang.BlockID, k schema.Kind, name string) []lang.BlockID {
	var list []lang.BlockID
	for _, e := range r.excepts(device) {
		r.kids(e, k, func(in lang.BlockID) {
			if r.blockName(in) == name {
				list = append(list, in)
			}
		})
	}
	return list
}
