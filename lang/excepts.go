package lang

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
)

// exceptsHit reports except blocks whose label is no member of what they stand
// in.
func (ld *loader) exceptsHit(m *modinst) {
	u := m.unit
	var members map[int32]exceptNames
	for i := range u.decls {
		d := &u.decls[i]
		if d.kind != schema.Except || d.parent < 0 {
			continue
		}
		st := &m.state[i]
		label := ld.strs[d.label]
		ranged := strings.ContainsAny(label, "[]")
		if st.matched && !ranged {
			continue
		}
		if members == nil {
			members = ld.exceptMembers(m)
		}
		names, keys := members[d.parent].names, members[d.parent].keys
		if len(names) == 0 {
			continue // nothing is there to be excepted: enabled is false, or it failed
		}
		at := d.labelP.in(u.files[d.file].id)
		if !st.matched {
			ld.fail(at, "except "+quoteWord(label)+" matches no member of `"+ld.strs[u.decls[d.parent].head]+"`", listHelp(label, distinct(names)))
			continue
		}
		r, err := funcs.ParseRange(label)
		if err != nil {
			continue
		}
		if err := r.Each(func(mem funcs.Member) bool {
			if slices.Contains(names, mem.Name) || slices.Contains(keys, mem.Name) {
				return true
			}
			ld.fail(at, "except "+quoteWord(label)+" names "+quoteWord(mem.Name)+", which is no member of `"+ld.strs[u.decls[d.parent].head]+"`", listHelp(mem.Name, distinct(names)))
			return false
		}); err != nil {
			ld.fail(at, "label "+rangeProblem(label, err), rangeHelp(r, err))
		}
	}
}

type exceptNames struct{ names, keys []string }

// exceptMembers lists the instances of the blocks that have an except, by block.
func (ld *loader) exceptMembers(m *modinst) map[int32]exceptNames {
	u := m.unit
	out := map[int32]exceptNames{}
	for i := range u.decls {
		if d := &u.decls[i]; d.kind == schema.Except && d.parent >= 0 {
			out[d.parent] = exceptNames{}
		}
	}
	for id := 1; id < len(ld.insts); id++ {
		in := &ld.insts[id]
		if in.mod != m.id || in.decl < 0 {
			continue
		}
		if l, ok := out[in.decl]; ok {
			out[in.decl] = exceptNames{append(l.names, ld.strs[in.name]), append(l.keys, ld.strs[in.key])}
		}
	}
	return out
}

func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
