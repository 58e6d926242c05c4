package lang

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/rocec/rocec/lang/schema"
)

// adminFormer is `admin` under the name and in the values that it had in source that does not say its edition.
var adminFormer = schema.AttrDef{Num: schema.AAdmin, Type: schema.Type{
	Base: schema.String, Enum: []string{"up", "down"}, Words: []string{"keep"}, Was: map[string]string{"true": "up", "false": "down"},
}}

// formerAdmin takes `enabled` of ports and NICs for `admin`, as it was, in folders that do not say their edition. In others it says whether
// the block exists, as in every block that takes it.
func (ld *loader) formerAdmin(u *unit) {
	edition := false
	for i := range u.decls {
		d := &u.decls[i]
		edition = edition || d.kind == schema.Rocec && u.find(d, schema.ALanguage) != nil
	}
	for i := range u.decls {
		d := &u.decls[i]
		if d.flags&hasEnabled == 0 || d.kind != schema.Port && d.kind != schema.NIC && d.kind != schema.Except {
			continue
		}
		switch a := u.find(d, schema.AEnabled); {
		case a == nil:
		case edition && d.kind == schema.Except:
			ld.fail(a.at.in(u.fileOf(d, a).id), "an exception of a "+d.of.String()+" takes no `enabled`", `write admin = "up" or "down"`)
			a.bad = true
		case !edition:
			ld.wasEnabled(u, d, a)
		}
	}
}

// wasEnabled makes one attribute `enabled` what it is called now.
func (ld *loader) wasEnabled(u *unit, d *udecl, a *attr) {
	f := u.fileOf(d, a)
	if admin := u.find(d, schema.AAdmin); admin != nil {
		ld.fail(a.at.in(f.id), "attribute `admin` is written twice: `enabled` is a former name of it", "leave `enabled` out")
		a.bad = true
		return
	}
	was := former{at: a.at, summary: "`enabled` of a " + d.of.String() + " is called `admin` since language " + strconv.Itoa(schema.Language)}
	end := a.at.start + a.at.length
	if from := bytes.LastIndex(f.src[:a.at.start], []byte("enabled")); from >= 0 && !f.json {
		text := string(f.src[a.at.start:end])
		now := "(" + text + `) ? "up" : "down"`
		switch text {
		case "true":
			now = `"up"`
		case "false":
			now = `"down"`
		}
		was.at, was.edit = place{uint32(from), end - uint32(from)}, "admin = "+now
	}
	f.formers = append(f.formers, was)
	if a.kind == Int {
		word := "down"
		if a.n == 1 {
			word = "up"
		}
		a.set(Value{Text, int64(ld.str(word))})
	}
	a.num, a.def = schema.AAdmin, attrDef{schema.None, uint8(slices.Index(everyDef[:], &adminFormer))}
	d.flags &^= hasEnabled
	slices.SortFunc(u.files[d.file].attrs[d.attrs.first:d.attrs.first+d.attrs.n], func(a, b attr) int { return cmp.Compare(a.num, b.num) })
}
