package lang

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// packDir is the folder that capability data seems to stand in, and the prefix
// of its files' names.
const packDir = "pack:"

// untrusted is predeclared: one lossy class, marks ignored, no PFC.
const untrusted = `qos "untrusted" {
  trust = "none"
  class "default" {
    priority  = 0
    bandwidth = 100
    default   = true
  }
}
`

// packs is the capability data at hand. Its files are read one by one, when
// something in them is asked for.
type packs struct {
	fs    fs.FS
	index map[string]map[string]string // kind's word, or "", to name to file
	units map[string]*modinst          // by file; nil if it does not read
}

const packsHelp = "the capability data is part of the program: install rocec again"

// openPacks reads the index: names to files, at the top or by kind of block.
func (ld *loader) openPacks() {
	ld.packs = &packs{fs: ld.Packs, index: map[string]map[string]string{}, units: map[string]*modinst{}}
	if ld.Packs == nil {
		return
	}
	src, err := fs.ReadFile(ld.Packs, "index.json")
	if err != nil {
		ld.fail(source.Span{}, "index of capability data cannot be read: "+pathError(err), packsHelp)
		return
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(src, &raw); err != nil {
		ld.fail(source.Span{}, "index of capability data does not read: "+err.Error(), packsHelp)
		return
	}
	for name, value := range raw {
		var one string
		var many map[string]string
		switch {
		case json.Unmarshal(value, &one) == nil:
			ld.packs.add("", name, one)
		case json.Unmarshal(value, &many) == nil:
			for n, file := range many {
				ld.packs.add(name, n, file)
			}
		}
	}
}

func (p *packs) add(kind, name, file string) {
	if p.index[kind] == nil {
		p.index[kind] = map[string]string{}
	}
	p.index[kind][name] = file
}

// file is the file that holds a block, "" if none does.
func (p *packs) file(k schema.Kind, name string) string {
	if f, ok := p.index[k.String()][name]; ok {
		return f
	}
	return p.index[""][name]
}

func (p *packs) names(k schema.Kind) []string {
	var names []string
	for n := range p.index[k.String()] {
		names = append(names, n)
	}
	for n := range p.index[""] {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// predeclared reports whether there is a qos of a name without anybody writing it.
func (ld *loader) predeclared(name string) bool {
	_, ok := ld.packs.index[schema.QoS.String()][name]
	return ok || name == "untrusted"
}

// packFamily finds a predeclared block, and reads the file it stands in.
func (ld *loader) packFamily(k schema.Kind, name string) *family {
	file := ld.packs.file(k, name)
	if file == "" {
		if k == schema.QoS && name == "untrusted" {
			return ld.packIn("untrusted.roce.hcl", []byte(untrusted), k, name)
		}
		return nil
	}
	if m, ok := ld.packs.units[file]; ok {
		return ld.familyIn(m, k, name)
	}
	src, err := fs.ReadFile(ld.packs.fs, path.Clean(file))
	if err != nil {
		ld.packs.units[file] = nil
		ld.fail(source.Span{}, "capability data "+quoteWord(file)+" cannot be read: "+pathError(err), packsHelp)
		return nil
	}
	return ld.packIn(file, src, k, name)
}

// packIn reads one block of a pack file. The rest of the file is not parsed: a
// fabric names few of the models that share a file.
func (ld *loader) packIn(at string, src []byte, k schema.Kind, name string) *family {
	block := at + " " + k.String() + " " + name
	if m, ok := ld.packs.units[block]; ok {
		return ld.familyIn(m, k, name)
	}
	full := packDir + at
	id := ld.files.Lookup(full)
	if id == 0 {
		id = ld.files.Add(full, src)
	}
	f := reducePart(full, id, src, only(src, k.String(), name), ld.MaxFileBytes)
	f.shift = ld.tables.number(&f.tables)
	u := ld.joinUnit(packDir, []*file{f})
	ld.units[packDir+block] = u
	if u.broken {
		ld.packs.units[block] = nil
		return nil
	}
	m := ld.newModule(u, nil, "")
	ld.packs.units[block] = m
	return ld.familyIn(m, k, name)
}

// only is where one block stands in a file. Packs are in canonical layout (a
// test of theirs sees to it): a block begins and ends in the first column. Of a
// file in which the block does not show up that way it is the whole.
func only(src []byte, word, name string) place {
	head := []byte("\n" + word + " \"" + name + "\" {\n")
	start := bytes.Index(src, head) + 1
	if start == 0 && !bytes.HasPrefix(src, head[1:]) {
		return place{0, uint32(len(src))}
	}
	length := bytes.Index(src[start:], []byte("\n}\n"))
	if length < 0 {
		return place{0, uint32(len(src))}
	}
	return place{uint32(start), uint32(length + 3)}
}

func (ld *loader) familyIn(m *modinst, k schema.Kind, name string) *family {
	if m == nil {
		return nil
	}
	return m.byName[famKey{k, ld.str(name)}]
}

// userFamily finds a block of capability data that the user wrote: it wins.
func (ld *loader) userFamily(k schema.Kind, name Str) *family {
	for _, m := range ld.mods {
		if f := m.byName[famKey{k, name}]; f != nil && m.unit.dir != packDir {
			return f
		}
	}
	return nil
}

// evalWants evaluates the capability data that the fabric mentions, and what
// that mentions.
func (ld *loader) evalWants() {
	if ld.extern {
		ld.usePack(schema.QoS, "untrusted")
	}
	for i := 0; i < len(ld.wants); i++ {
		w := ld.wants[i]
		if ld.userFamily(w.kind, w.name) != nil {
			continue
		}
		name := ld.strs[w.name]
		if ld.usePack(w.kind, name) || w.kind == schema.PCIe {
			continue
		}
		ld.fail(w.at, "there is no "+modelWord(w.kind)+" "+quoteWord(name), ld.unknownModel(w.kind, name))
	}
	for i := 0; i < len(ld.mods); i++ {
		if m := ld.mods[i]; m.unit.dir == packDir {
			ld.trimPack(m)
		}
	}
}

// usePack evaluates a block of capability data.
func (ld *loader) usePack(k schema.Kind, name string) bool {
	f := ld.packFamily(k, name)
	if f == nil {
		return false
	}
	if ld.expand(f) == nil {
		for _, id := range f.insts {
			ld.evalTree(id)
		}
	}
	return true
}

// trimPack evaluates the families of a pack's file that were referred to, and
// forgets the others.
func (ld *loader) trimPack(m *modinst) {
	m.families = slices.DeleteFunc(m.families, func(f *family) bool { return f.state != finished })
	for _, f := range m.families {
		for _, id := range f.insts {
			ld.evalTree(id)
		}
	}
}

func modelWord(k schema.Kind) string {
	switch k {
	case schema.SwitchModel:
		return "switch model"
	case schema.NICModel:
		return "NIC model"
	case schema.ASIC:
		return "asic"
	case schema.Media:
		return "cable or transceiver"
	}
	return k.String()
}

func (ld *loader) unknownModel(k schema.Kind, name string) string {
	names := ld.packs.names(k)
	for _, m := range ld.mods {
		for _, f := range m.families {
			if f.kind == k && m.unit.dir != packDir {
				names = append(names, ld.strs[f.label])
			}
		}
	}
	write := "a `" + schema.Def(k).Word + "` block describes one that is not known"
	if len(names) == 0 {
		return write
	}
	if near := Nearest(name, names); near != "" {
		return "did you mean " + quoteWord(near) + "? " + write
	}
	return "the nearest are " + quotedList(nearestFirst(name, names, mostChoices), len(names)) + "; " + write
}

// functions makes the function table of a module.
func (ld *loader) functions(m *modinst) {
	sub, err := fs.Sub(ld.FS, m.unit.dir)
	if err != nil || m.unit.dir == packDir {
		sub = nil
	}
	m.ctx.Functions = funcs.Map(funcs.Table(funcs.Env{
		FS: sub, Headroom: ld.Headroom,
		Capability: func(model, fact string) (cty.Value, error) { return ld.capability(model, fact) },
		OnRead: func(name string, content []byte) {
			ld.files.Add(joinPath(m.unit.dir, path.Clean(name)), content)
		},
	}))
}

// capability reads a fact of a model: an attribute of its block, else one of
// its `facts`, else the same of its asic.
func (ld *loader) capability(model, fact string) (cty.Value, error) {
	n := ld.str(model)
	for _, k := range []schema.Kind{schema.SwitchModel, schema.NICModel, schema.ASIC} {
		f := ld.userFamily(k, n)
		if f == nil {
			f = ld.packFamily(k, model)
		} else {
			ld.asked[famKey{k, n}] = true
		}
		if f == nil {
			continue
		}
		if ld.expand(f) != nil || len(f.insts) == 0 {
			return cty.NilVal, errors.New("model " + quoteWord(model) + " does not read")
		}
		v, ok := ld.fact(f.insts[0], fact)
		if ok {
			return v, nil
		}
		if asic, ok := ld.fact(f.insts[0], "asic"); ok && k == schema.SwitchModel && asic.Type() == cty.String {
			return ld.capability(asic.AsString(), fact)
		}
		return cty.NilVal, nil
	}
	return cty.NilVal, errors.New("there is no model " + quoteWord(model))
}

func (ld *loader) fact(id instID, fact string) (cty.Value, bool) {
	if ad := schema.Lookup(ld.insts[id].kind, fact); ad != nil {
		if v, bad := ld.written(id, ad.Num); bad == nil && !v.IsNull() {
			return v, true
		}
	}
	facts, bad := ld.written(id, schema.AFacts)
	if bad != nil || facts.IsNull() || !facts.Type().IsObjectType() || !facts.Type().HasAttribute(fact) {
		return cty.NilVal, false
	}
	return facts.GetAttr(fact), true
}

// insideModule is the path in the tree of a file of a module.
func insideModule(dir, name string) (string, error) {
	clean := path.Clean(name)
	if name == "" || path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(name, "\\") {
		return "", errors.New("file " + quoteWord(name) + " is not inside of the module")
	}
	return path.Join(dir, clean), nil
}
