package lang

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/cabling"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// maxCables bounds the rows of all cable lists of a configuration.
const maxCables = 1 << 20

// cables reads the files of the cabling blocks of a module.
func (ld *loader) cables(m *modinst) {
	for _, f := range m.families {
		if f.kind != schema.Cabling {
			continue
		}
		for _, id := range f.insts {
			ld.cableList(m, id)
		}
	}
}

// cableInput is what the attributes of a cabling block say about its reading. It is nil if they lack something, or if two columns are one: then
// these are named.
func (ld *loader) cableInput(dir string, get func(schema.Attr) Value) (in *cableInput, first, second Str) {
	files, format := ld.elements(get(schema.AFile)), get(schema.AFormat)
	if len(files) == 0 || format.Kind != Text {
		return nil, 0, 0 // said where it is written
	}
	in = &cableInput{format: ld.strs[format.N], verify: ld.textOf(get(schema.AMode)) == "verify"}
	if v := get(schema.AColumns); v.Kind == Map {
		in.columns = map[string]string{}
		of := map[Str]Str{}
		for _, p := range ld.maps[v.N] {
			if first, ok := of[Str(p.Val.N)]; ok {
				return nil, first, Str(p.Key.N)
			}
			of[Str(p.Val.N)] = Str(p.Key.N)
			in.columns[ld.strs[p.Key.N]] = ld.strs[p.Val.N]
		}
	}
	if v := get(schema.ARename); v.Kind == Map {
		in.rename = map[string]string{}
		for _, p := range ld.maps[v.N] {
			in.rename[ld.strs[p.Key.N]] = ld.strs[p.Val.N]
		}
	}
	for _, v := range files {
		f := cableFile{name: ld.strs[v.N]}
		f.full, _ = insideModule(dir, f.name)
		if f.device = stem(f.name); get(schema.ADevice).Kind == Text {
			f.device = ld.textOf(get(schema.ADevice))
		}
		in.files = append(in.files, f)
	}
	return in, 0, 0
}

func (ld *loader) textOf(v Value) string {
	if v.Kind != Text {
		return ""
	}
	return ld.strs[v.N]
}

func (ld *loader) cableList(m *modinst, id instID) {
	get := func(n schema.Attr) Value { return ld.attrVal(id, n) }
	in, first, second := ld.cableInput(m.unit.dir, get)
	format := ld.textOf(get(schema.AFormat))
	if files := len(ld.elements(get(schema.AFile))); files == 0 || format == "" || !ld.cablingFits(id, format, ld.textOf(get(schema.AMode)) == "verify", files, get) {
		return // said where it is written, or now
	}
	di := ld.insts[id].decl
	if get(schema.AColumns).Kind == Absent && m.unit.has(&m.unit.decls[di], schema.AColumns) {
		return // refused where it is written
	}
	if in == nil {
		of := ld.attrVal(id, schema.AColumns)
		ld.fail(ld.spanOfAttr(id, schema.AColumns), ld.strs[first]+" and "+ld.strs[second]+" are both column "+quoteWord(ld.columnOf(of, second)), "a column tells one thing")
		return
	}
	d := ld.drafts[di]
	if delete(ld.drafts, di); d == nil || m.parent != nil || !d.same(in) {
		d = &cableDraft{cableInput: *in}
	}
	d.read(ld)
	ld.takeList(m, id, d)
}

// columnOf is the name that a list has for a column.
func (ld *loader) columnOf(v Value, word Str) string {
	for _, p := range ld.maps[v.N] {
		if Str(p.Key.N) == word {
			return ld.strs[p.Val.N]
		}
	}
	return ""
}

// takeList enters a list that was read, and reports what is wrong in its files.
func (ld *loader) takeList(m *modinst, id instID, d *cableDraft) {
	strs := make([]Str, len(d.strs))
	for i, text := range d.strs {
		strs[i] = ld.str(text)
	}
	settle := func(row *CableRow, file source.FileID) {
		for _, n := range [6]*Str{&row.ADevice, &row.APort, &row.BDevice, &row.BPort, &row.Media, &row.Label} {
			*n = strs[*n]
		}
		row.Span.File = file
	}
	list := CableList{Name: ld.insts[id].name, Block: BlockID(id), Decl: ld.insts[id].declID, Define: !d.verify, Format: d.format, Rows: d.rows}
	for _, from := range slices.Sorted(maps.Keys(d.rename)) {
		n, ok := d.lookup(from)
		_, used := d.renames[n]
		list.Renames = append(list.Renames, Rename{ld.str(from), ld.str(d.rename[from]), ok && used})
	}
	at := ld.spanOfAttr(id, schema.AFile)
	from, before, twice := 0, 0, 0
	for i := range d.parts {
		p := &d.parts[i]
		full := ld.listPath(m, id, d.files[i].name)
		if full == "" {
			continue
		}
		if p.err != nil {
			ld.listUnread(id, d.files[i].name, p.err)
			continue
		}
		file := ld.files.AddDigest(full, p.digest, p.size)
		if list.File == 0 {
			list.File = file
		}
		for k := from; k < p.end; k++ {
			settle(&list.Rows[k], file)
		}
		if before == 0 && p.twice > 0 {
			settle(&d.again, file)
			twice = ld.cableTwice(&d.again, &list.Rows[d.first])
		}
		from, before = p.end, p.twice
		ld.listFaults("cable list "+quoteWord(full), id, file, p.faults)
		if p.full {
			ld.fail(at, "cable lists have more than "+itoa(maxCables)+" rows", "divide the fabric: no site has as many cables")
		}
	}
	if twice > 0 && d.twice > 1 {
		ld.diags[twice-1].Count = d.twice
	}
	ld.wantMedia(id, d)
	ld.cfg.Cables = append(ld.cfg.Cables, list)
}

// cablingFits reports attributes that say nothing in a format or mode.
func (ld *loader) cablingFits(id instID, format string, verify bool, files int, get func(schema.Attr) Value) bool {
	switch {
	case format != "csv" && get(schema.AColumns).Kind != Absent:
		ld.fail(ld.spanOfAttr(id, schema.AColumns), "columns names those of a csv list, and this is "+format, "leave out `columns`, or write format = \"csv\"")
	case format != "lldp" && get(schema.ADevice).Kind != Absent:
		ld.fail(ld.spanOfAttr(id, schema.ADevice), "device says who took an lldp capture, and this is "+format, "leave out `device`")
	case get(schema.ADevice).Kind != Absent && files > 1:
		ld.fail(ld.spanOfAttr(id, schema.ADevice), "device speaks for one capture, and there are "+itoa(files), "leave it out: each file is called after its device")
	case format == "lldp" && !verify:
		ld.fail(ld.spanOfInst(id), "`"+ld.addrOf(id)+"` would make links of what is plugged in now", "captures are for mode = \"verify\"")
	default:
		return true
	}
	return false
}

// stem is the name of a file without its folder and what follows the last dot.
func stem(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// cableTwice reports a cable that is there twice, and returns the position of the
// finding, counted from 1; 0 if that place has one.
func (ld *loader) cableTwice(row, old *CableRow) int {
	before := len(ld.diags)
	ld.fail(row.Span, "cable "+ld.strs[row.ADevice]+" "+ld.strs[row.APort]+" - "+ld.strs[row.BDevice]+" "+ld.strs[row.BPort]+" is in the list twice", "leave one out",
		diag.Label{Span: old.Span, Text: "first written"})
	if len(ld.diags) > before {
		return before + 1
	}
	return 0
}

// listPath is the path of the file that `file` of a block names, "" if it was refused.
func (ld *loader) listPath(m *modinst, id instID, name string) string {
	full, err := insideModule(m.unit.dir, name)
	if err != nil {
		ld.fail(ld.spanOfAttr(id, schema.AFile), err.Error(), "paths start at the folder of the module and stay inside of it, with / between folders")
		return ""
	}
	return full
}

// listUnread reports a file that cannot be read.
func (ld *loader) listUnread(id instID, name string, err error) {
	ld.fail(ld.spanOfAttr(id, schema.AFile), "file "+quoteWord(name)+" cannot be read: "+pathError(err), "name a file by its path from the folder that this block stands in")
}

// listFaults reports what is wrong in a file, and where it is read.
func (ld *loader) listFaults(what string, id instID, file source.FileID, faults []*cabling.Error) {
	at := ld.spanOfAttr(id, schema.AFile)
	for _, e := range faults {
		ld.fail(source.Span{File: file, Start: uint32(e.Start), Len: uint32(e.Len)}, what+", "+e.Error(), e.Help, diag.Label{Span: at, Where: ld.whereIs(at), Text: "read here"})
	}
}

// wantMedia asks for the capability data of the media that rows name. A word that no data has is for those who compare it.
func (ld *loader) wantMedia(id instID, d *cableDraft) {
	words := make([]string, 0, len(d.media))
	for n := range d.media {
		words = append(words, d.strs[n], strings.ToLower(d.strs[n]))
	}
	slices.Sort(words)
	words = slices.Compact(words)
	for _, w := range words {
		ld.asked[famKey{schema.Media, ld.str(w)}], ld.asked[famKey{schema.Media, ld.str(cabling.Media(w))}] = true, true
		if ld.packs.file(schema.Media, w) != "" {
			ld.wants = append(ld.wants, want{kind: schema.Media, name: ld.str(w), at: ld.spanOfAttr(id, schema.AFile)})
		}
	}
}
