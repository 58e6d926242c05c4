package resolve

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// scope is the chain of blocks behind one row, nearest first: overrides and
// exceptions, the row's own block, then what stands around it.
type scope struct {
	cfg    *lang.Config
	before []lang.BlockID
	own    lang.BlockID
	chain  []lang.BlockID
	nic    bool // of a NIC: a tier in the chain says little of it
	peer   peerWord
	id     fabric.LayersID
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
	if v, b := s.nearest(n); b != 0 {
		return v, b
	}
	for _, b := range s.chain {
		if s.cfg.Blocks[b].Kind.Tier() && !fabric.TierSays(n, s.nic) {
			continue
		}
		if v := s.at(b, n); v.Kind != lang.Absent {
			return v, b
		}
	}
	if s.peer.far {
		if v := s.cfg.Field(s.peer.says, n); v.Kind != lang.Absent {
			return v, s.peer.by
		}
	}
	return lang.Value{}, 0
}

// nearest is what exceptions, overrides and the row's own block write.
func (s *scope) nearest(n schema.Attr) (lang.Value, lang.BlockID) {
	for _, b := range s.before {
		if v := s.at(b, n); v.Kind != lang.Absent {
			return v, b
		}
	}
	if s.own != 0 {
		if v := s.cfg.Attr(s.own, n); v.Kind != lang.Absent {
			return v, s.own
		}
	}
	if s.peer.by != 0 && !s.peer.far {
		if v := s.cfg.Field(s.peer.says, n); v.Kind != lang.Absent {
			return v, s.peer.by
		}
	}
	return lang.Value{}, 0
}

// at reads one layer: an override speaks through its `set`.
func (s *scope) at(b lang.BlockID, n schema.Attr) lang.Value {
	if s.cfg.Blocks[b].Kind == schema.Override {
		return s.cfg.Field(s.cfg.Attr(b, schema.ASet), n)
	}
	return s.cfg.Attr(b, n)
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
func (r *resolver) layersOf(before, chain []lang.BlockID, nic bool) fabric.LayersID {
	t := &r.layers
	if len(before)+len(chain) == 0 {
		return 0
	}
	if t.ids == nil {
		t.ids = map[string]fabric.LayersID{}
	}
	t.key = t.key[:0]
	for _, b := range before {
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(r.decl(b)))
	}
	t.key = append(t.key, '|', 0)
	if nic {
		t.key[len(t.key)-1] = 1
	}
	for _, b := range chain {
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(r.decl(b)))
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

func (r *resolver) declsOf(blocks []lang.BlockID) []fabric.DeclID {
	if len(blocks) == 0 {
		return nil
	}
	ids := make([]fabric.DeclID, len(blocks))
	for i, b := range blocks {
		ids[i] = r.decl(b)
	}
	return ids
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

// deviceLayers is the chain behind a device itself.
func (r *resolver) deviceLayers(b lang.BlockID) *scope {
	s := &scope{cfg: r.cfg, own: b, before: r.speak[b]}
	word := schema.Switch
	if r.cfg.Blocks[b].Kind == schema.Node {
		word = schema.Node
	}
	s.chain = r.defaultsFor(b, word.String())
	s.id = r.layersOf(s.before, s.chain, false)
	return s
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
