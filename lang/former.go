package lang

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// formerHelp is what to do about words of earlier editions.
const formerHelp = "`rocec fmt --fix` writes the new words"

// former is a word of an earlier edition that stands in a file. The summary says what it is now.
type former struct {
	at      place
	summary string
	edit    string // what is to stand in its place; "": nobody knows what
	attr    string // of the block at that place, which is to have the value `edit`; "": the text there is the word
}

// formerName says what an attribute is called that stands under a former name.
func formerName(ad *schema.AttrDef, name string) string {
	return "`" + name + "` is called `" + ad.Num.Name() + "` since language " + strconv.Itoa(schema.Language)
}

// formerWord notes a name that an attribute, or a field of an object, had in an earlier edition.
func (f *file) formerWord(at place, ad *schema.AttrDef, name string) {
	f.formers = append(f.formers, former{at: at, summary: formerName(ad, name), edit: asWritten(f.src, at, name, ad.Num.Name())})
}

// formerDefault notes a routing block that speaks for all by its label alone.
func (ld *loader) formerDefault(u *unit, d *udecl) {
	if d.kind != schema.Routing || ld.strs[d.label] != schema.ADefault.Name() || u.has(d, schema.ADefault) {
		return
	}
	w := former{
		at: d.at, edit: "true", attr: schema.ADefault.Name(),
		summary: "a routing block speaks for all by `default = true` since language " + strconv.Itoa(schema.Language) + ", and not by being called \"default\"",
	}
	f := u.files[d.file]
	if f.json {
		w.edit, w.attr = "", ""
	}
	f.formers = append(f.formers, w)
}

// asWritten is a new name for the text at a place: in quotes where the old one has quotes; "" where that text is something else.
func asWritten(src []byte, at place, old, name string) string {
	if int(at.start+at.length) > len(src) {
		return ""
	}
	switch text := string(src[at.start : at.start+at.length]); text {
	case old:
		return name
	case `"` + old + `"`:
		return `"` + name + `"`
	}
	return ""
}

// formerStep notes a former name in a reference, at the step that it is.
func (ld *loader) formerStep(at source.Span, name string) {
	ad, f := ld.stepped, ld.fileAt(at.File)
	ld.stepped = nil
	if f == nil || int(at.End()) > len(f.src) {
		return
	}
	if i := strings.LastIndex(string(f.src[at.Start:at.End()]), name); i >= 0 {
		at.Start, at.Len = at.Start+uint32(i), uint32(len(name))
	}
	ld.formerOnce(f, place{at.Start, at.Len}, ad, name)
}

// fileAt is a file of the configuration, nil if it is another one.
func (ld *loader) fileAt(id source.FileID) *file {
	for _, u := range ld.units {
		for _, f := range u.files {
			if f.id == id {
				return f
			}
		}
	}
	return nil
}

// formerOnce is formerWord for what is met at each instance of a block.
func (ld *loader) formerOnce(f *file, at place, ad *schema.AttrDef, name string) {
	if span := at.in(f.id); !ld.formerAt[span] {
		ld.formerAt[span] = true
		f.formerWord(at, ad, name)
	}
}

// converted is an attribute whose value was evaluated and gets the type of the attribute.
type converted struct {
	file *file
	attr *attr
}

// formerKeys notes a former name that an evaluated object has for a field or attribute: where its keys are written in the expression, else at the whole.
func (ld *loader) formerKeys(ad *schema.AttrDef, name string) {
	f, a, found := ld.converted.file, ld.converted.attr, false
	if f == nil {
		return
	}
	if a.expr() != 0 {
		hclsyntax.VisitAll(f.exprs[a.expr()-1].tree, func(n hclsyntax.Node) hcl.Diagnostics {
			obj, ok := n.(*hclsyntax.ObjectConsExpr)
			for i := 0; ok && i < len(obj.Items); i++ {
				if word, _ := keyText(obj.Items[i].KeyExpr); word == name {
					found = true
					ld.formerOnce(f, placeOf(obj.Items[i].KeyExpr.Range()), ad, name)
				}
			}
			return nil
		})
	}
	if !found {
		ld.formerOnce(f, a.at, ad, name)
	}
}

// formerFindings are the words of earlier editions in the files of the configuration: one finding for each word of a file, at the first place.
func (ld *loader) formerFindings() diag.List {
	var list diag.List
	for _, dir := range slices.Sorted(maps.Keys(ld.units)) {
		for _, f := range ld.units[dir].files {
			list = append(list, ld.formersOf(f)...)
		}
	}
	return list
}

func (ld *loader) formersOf(f *file) diag.List {
	slices.SortFunc(f.formers, func(a, b former) int {
		return cmp.Or(cmp.Compare(a.at.start, b.at.start), strings.Compare(a.summary, b.summary))
	})
	var list diag.List
	of := map[string]int{}
	count := []int{}
	for _, w := range slices.Compact(f.formers) {
		i, ok := of[w.summary]
		if !ok {
			span := w.at.in(f.id)
			i, of[w.summary] = len(list), len(list)
			list.Add(diag.Diagnostic{Severity: diag.Warning, Summary: w.summary, Help: formerHelp, Labels: []diag.Label{{Span: span, Where: ld.whereIs(span)}}})
			count = append(count, 0)
		}
		count[i]++
		if w.edit != "" {
			list[i].Edits = append(list[i].Edits, diag.Edit{Span: w.at.in(f.id), New: w.edit, Attr: w.attr})
		}
	}
	for i, n := range count {
		if n > 1 {
			list[i].Notes = []string{"it stands in " + counted(n-1, "more place") + " of the file"}
		}
	}
	return list
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// twiceNamed refuses an attribute that stands under its name and a former one.
func (r *reducer) twiceNamed(at place, ad *schema.AttrDef, name string, first place) {
	r.say(diag.Diagnostic{
		Summary: "attribute `" + ad.Num.Name() + "` is written twice: `" + name + "` is a former name of it", Help: "leave `" + name + "` out",
		Labels: []diag.Label{{Span: at.in(r.id), Where: r.where()}, {Span: first.in(r.id), Text: "first written"}},
	})
}
