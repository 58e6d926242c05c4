package lang

import (
	"path"
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/cabling"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// maxCables bounds the rows of all cable lists of a configuration.
const maxCables = 4 << 20

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

// cableReader is the list being read.
type cableReader struct {
	ld     *loader
	list   *CableList
	file   source.FileID
	rename map[Str]Str
	seen   map[[4]Str]int32 // by the two ends, the smaller first
	verify bool
	both   bool // the same cable may be seen from both ends
	full   bool
	twice  int // rows that are there twice, beyond the first
	first  int // index+1 in diags of the finding on the first
	media  map[Str]bool
}

func (ld *loader) cableList(m *modinst, id instID) {
	get := func(n schema.Attr) Value { return ld.attrVal(id, n) }
	files, format := ld.elements(get(schema.AFile)), get(schema.AFormat)
	if len(files) == 0 || format.Kind != Text {
		return // said where it is written
	}
	o := cabling.Options{Format: ld.strs[format.N]}
	verify := get(schema.AMode).Kind == Text && ld.strs[get(schema.AMode).N] == "verify"
	if !ld.cablingFits(id, o.Format, verify, len(files), get) {
		return
	}
	v := get(schema.AColumns)
	if d := &m.unit.decls[ld.insts[id].decl]; v.Kind == Absent && m.unit.has(d, schema.AColumns) {
		return // refused where it is written
	}
	if v.Kind == Map {
		o.Columns = map[string]string{}
		of := map[Str]Str{}
		for _, p := range ld.maps[v.N] {
			if first, ok := of[Str(p.Val.N)]; ok {
				ld.fail(ld.spanOfAttr(id, schema.AColumns), ld.strs[first]+" and "+ld.strs[p.Key.N]+" are both column "+quoteWord(ld.strs[p.Val.N]), "a column tells one thing")
				return
			}
			of[Str(p.Val.N)] = Str(p.Key.N)
			o.Columns[ld.strs[p.Key.N]] = ld.strs[p.Val.N]
		}
	}
	list := &CableList{Name: ld.insts[id].name, Block: BlockID(id), Decl: ld.insts[id].declID, Define: !verify, Format: o.Format}
	r := &cableReader{ld: ld, list: list, verify: verify, both: o.Format == "lldp", seen: map[[4]Str]int32{}, rename: map[Str]Str{}, media: map[Str]bool{}}
	if v := get(schema.ARename); v.Kind == Map {
		for _, p := range ld.maps[v.N] {
			r.rename[Str(p.Key.N)] = Str(p.Val.N)
		}
	}
	for _, v := range files {
		o.Device = stem(ld.strs[v.N])
		if d := get(schema.ADevice); d.Kind == Text {
			o.Device = ld.strs[d.N]
		}
		r.read(m, id, ld.strs[v.N], o)
	}
	r.wantMedia(id)
	ld.cfg.Cables = append(ld.cfg.Cables, *list)
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

func (r *cableReader) read(m *modinst, id instID, name string, o cabling.Options) {
	ld := r.ld
	full, src := "", []byte(nil)
	if full, src, r.file = ld.listFile(m, id, name); r.file == 0 {
		return
	}
	if r.list.File == 0 {
		r.list.File = r.file
	}
	ld.listFaults("cable list "+quoteWord(full), id, r.file, cabling.Read(o, src, r.row))
	at := ld.spanOfAttr(id, schema.AFile)
	if r.full {
		ld.fail(at, "cable lists have more than "+itoa(maxCables)+" rows", "divide the fabric: no site has as many cables")
	}
	if r.twice > 0 {
		ld.diags[r.first-1].Count = r.twice + 1
	}
}

// listFile reads the file that `file` of a block names. The ID is 0 if it was refused.
func (ld *loader) listFile(m *modinst, id instID, name string) (string, []byte, source.FileID) {
	at := ld.spanOfAttr(id, schema.AFile)
	full, err := insideModule(m.unit.dir, name)
	if err != nil {
		ld.fail(at, err.Error(), "paths start at the folder of the module and stay inside of it, with / between folders")
		return "", nil, 0
	}
	src, err := readLimited(ld.FS, full, cabling.MaxBytes)
	if err != nil {
		ld.fail(at, "file "+quoteWord(name)+" cannot be read: "+pathError(err), "name a file by its path from the folder that this block stands in")
		return "", nil, 0
	}
	return full, src, ld.files.Add(full, src)
}

// listFaults reports what is wrong in a file, and where it is read.
func (ld *loader) listFaults(what string, id instID, file source.FileID, faults []*cabling.Error) {
	at := ld.spanOfAttr(id, schema.AFile)
	for _, e := range faults {
		ld.fail(source.Span{File: file, Start: uint32(e.Start), Len: uint32(e.Len)}, what+", "+e.Error(), e.Help, diag.Label{Span: at, Where: ld.whereIs(at), Text: "read here"})
	}
}

func (r *cableReader) name(b []byte) Str {
	n := r.ld.bytesStr(b)
	if to, ok := r.rename[n]; ok {
		return to
	}
	return n
}

// row keeps one cable. Cables that NetBox calls planned are not there to be found, and those to be taken out are not wanted.
func (r *cableReader) row(in *cabling.Row) {
	ld := r.ld
	if in.Gone || in.Planned && r.verify {
		return
	}
	if len(r.list.Rows) >= maxCables {
		r.full = true
		return
	}
	row := CableRow{
		ADevice: r.name(in.A.Device), APort: ld.bytesStr(in.A.Port), BDevice: r.name(in.B.Device), BPort: ld.bytesStr(in.B.Port),
		Media: ld.bytesStr(in.Media), Label: ld.bytesStr(in.Label), LengthMm: in.LengthMm, OffMm: in.OffMm, HasLength: in.HasLength, Panels: in.Panels,
		Span: source.Span{File: r.file, Start: in.At.Start, Len: in.At.Len},
	}
	for i, c := range [6]cabling.Cell{in.ADevice, in.APort, in.BDevice, in.BPort, in.MediaAt, in.LengthAt} {
		row.start[i], row.length[i] = c.Start, uint16(min(c.Len, 1<<16-1))
	}
	if row.Media != 0 {
		r.media[row.Media] = true
	}
	key := [4]Str{row.ADevice, row.APort, row.BDevice, row.BPort}
	if slices.Compare(key[2:], key[:2]) < 0 {
		key = [4]Str{key[2], key[3], key[0], key[1]}
	}
	if first, ok := r.seen[key]; ok {
		r.again(&row, first)
		return
	}
	r.seen[key] = int32(len(r.list.Rows))
	r.list.Rows = append(r.list.Rows, row)
}

// again reports a cable that is there twice. Captures see most cables from both ends.
func (r *cableReader) again(row *CableRow, first int32) {
	old := &r.list.Rows[first]
	if r.both {
		return
	}
	if r.first > 0 {
		r.twice++
		return
	}
	ld := r.ld
	before := len(ld.diags)
	ld.fail(row.Span, "cable "+ld.strs[row.ADevice]+" "+ld.strs[row.APort]+" - "+ld.strs[row.BDevice]+" "+ld.strs[row.BPort]+" is in the list twice", "leave one out",
		diag.Label{Span: old.Span, Text: "first written"})
	if len(ld.diags) > before {
		r.first = before + 1
	}
}

// wantMedia asks for the capability data of the media that rows name. A word that no data has is for those who compare it.
func (r *cableReader) wantMedia(id instID) {
	words := make([]string, 0, len(r.media))
	for n := range r.media {
		words = append(words, r.ld.strs[n])
	}
	slices.Sort(words)
	for _, w := range words {
		if r.ld.packs.file(schema.Media, w) != "" {
			r.ld.wants = append(r.ld.wants, want{kind: schema.Media, name: r.ld.str(w), at: r.ld.spanOfAttr(id, schema.AFile)})
		}
	}
}
