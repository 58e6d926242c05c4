package lang

import (
	"crypto/sha256"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocec/rocec/lang/cabling"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// cableInput is all that the reading of a cabling block's files depends on.
type cableInput struct {
	format  string
	columns map[string]string
	rename  map[string]string
	verify  bool
	files   []cableFile
}

// cableFile is one file of a list.
type cableFile struct {
	name   string // as written
	full   string // "": it is not inside of the module
	device string // who took it, if it is a capture
}

func (in *cableInput) same(o *cableInput) bool {
	return in.format == o.format && in.verify == o.verify && maps.Equal(in.columns, o.columns) && maps.Equal(in.rename, o.rename) && slices.Equal(in.files, o.files)
}

// cableDraft is a list in numbers of its own, as files have them while they are
// reduced: it takes nothing of what is evaluated besides, and is read meanwhile.
type cableDraft struct {
	cableInput
	once sync.Once
	tables
	parts   []cablePart // by file
	rows    []CableRow  // spans with no file yet
	renames map[Str]Str
	seen    map[[4]Str]int32 // by the two ends, the smaller first
	media   map[Str]bool
	twice   int // rows that are there twice
	again   CableRow
	first   int32 // in rows, what the first of them repeats
}

// cablePart is what came of one file.
type cablePart struct {
	err    error // it cannot be read
	digest source.Digest
	size   int
	faults []*cabling.Error
	end    int  // of its rows
	twice  int  // up to its end
	full   bool // it, or one before, has more rows than are kept
}

// read reads the files, once, whoever asks first; others wait for it.
func (d *cableDraft) read(ld *loader) {
	d.once.Do(func() {
		d.tables, d.seen, d.media, d.renames = newTables(), map[[4]Str]int32{}, map[Str]bool{}, make(map[Str]Str, len(d.rename))
		for i := range d.files {
			d.part(ld, &d.files[i])
			if i == 0 {
				d.expect(ld)
			}
		}
		d.seen = nil
	})
}

// expect makes room for the rows of all files, if they are as long as those of the first.
func (d *cableDraft) expect(ld *loader) {
	all := int64(0)
	for i := range d.files {
		if info, err := fs.Stat(ld.FS, d.files[i].full); err == nil && info.Mode().IsRegular() {
			all += min(info.Size(), cabling.MaxBytes)
		}
	}
	first := d.parts[0]
	if first.size == 0 || len(d.files) == 1 {
		return
	}
	n := min(int(int64(len(d.rows))*all/int64(first.size))*17/16, maxCables)
	d.rows = slices.Grow(d.rows, max(n-len(d.rows), 0))
	seen := make(map[[4]Str]int32, n)
	maps.Copy(seen, d.seen)
	d.seen = seen
}

func (d *cableDraft) part(ld *loader, f *cableFile) {
	p := cablePart{full: len(d.parts) > 0 && d.parts[len(d.parts)-1].full}
	if f.full != "" {
		var src []byte
		if src, p.err = readLimited(ld.FS, f.full, cabling.MaxBytes); p.err == nil {
			p.digest, p.size = sha256.Sum256(src), len(src)
			p.faults = cabling.Read(cabling.Options{Format: d.format, Columns: d.columns, Device: f.device}, src, func(in *cabling.Row) {
				p.full = !d.row(in) || p.full
			})
		}
	}
	p.end, p.twice = len(d.rows), d.twice
	d.parts = append(d.parts, p)
}

// name is the number of a device's name, of the one it is given if it is renamed.
func (d *cableDraft) name(b []byte) Str {
	n := d.bytesStr(b)
	if len(d.rename) == 0 {
		return n
	}
	to, ok := d.renames[n]
	if !ok {
		to = n
		if text, is := d.rename[d.strs[n]]; is {
			to = d.str(text)
		}
		d.renames[n] = to
	}
	return to
}

// row keeps one cable; false if there is no room. Cables that NetBox calls planned are not there to be found, and those to be taken out are not wanted.
func (d *cableDraft) row(in *cabling.Row) bool {
	if in.Gone || in.Planned && d.verify {
		return true
	}
	if len(d.rows) >= maxCables {
		return false
	}
	row := CableRow{
		ADevice: d.name(in.A.Device), APort: d.bytesStr(in.A.Port), BDevice: d.name(in.B.Device), BPort: d.bytesStr(in.B.Port),
		Media: d.bytesStr(in.Media), Label: d.bytesStr(in.Label), LengthMm: in.LengthMm, OffMm: in.OffMm, HasLength: in.HasLength, Panels: in.Panels, Cut: in.Cut,
		Span: source.Span{Start: in.At.Start, Len: in.At.Len},
	}
	for i, c := range [6]cabling.Cell{in.ADevice, in.APort, in.BDevice, in.BPort, in.MediaAt, in.LengthAt} {
		row.start[i], row.length[i] = c.Start, uint16(min(c.Len, 1<<16-1))
	}
	if row.Media != 0 {
		d.media[row.Media] = true
	}
	key := [4]Str{row.ADevice, row.APort, row.BDevice, row.BPort}
	if slices.Compare(key[2:], key[:2]) < 0 {
		key = [4]Str{key[2], key[3], key[0], key[1]}
	}
	if first, ok := d.seen[key]; ok {
		if d.format == "lldp" {
			return true // captures see most cables from both ends
		}
		if d.twice++; d.twice == 1 {
			d.again, d.first = row, first
		}
		return true
	}
	d.seen[key] = int32(len(d.rows))
	d.rows = append(d.rows, row)
	return true
}

// readAhead begins to read the lists of a folder's cabling blocks that are plain
// values, while the rest is evaluated. Whoever wants one waits for it, or reads it
// himself if nobody has begun. Nothing is read any more once stop returns.
func (ld *loader) readAhead(u *unit) (stop func()) {
	var drafts []*cableDraft
	ld.drafts = map[int32]*cableDraft{}
	for _, t := range u.top {
		if d := &u.decls[t]; d.kind == schema.Cabling && ld.Workers > 1 {
			if in := ld.plainList(u, d); in != nil {
				draft := &cableDraft{cableInput: *in}
				ld.drafts[t], drafts = draft, append(drafts, draft)
			}
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(ld.Workers-1, len(drafts)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(drafts)); i = next.Add(1) - 1 {
				drafts[i].read(ld)
			}
		})
	}
	return func() {
		next.Store(int64(len(drafts)))
		wg.Wait()
		ld.drafts = nil
	}
}

// plainList is what a cabling block will be read by, nil if something of it is
// not written as a plain value.
func (ld *loader) plainList(u *unit, d *udecl) *cableInput {
	of := map[schema.Attr]Value{}
	for _, a := range u.attrsOf(d) {
		if a.bad || a.expr() != 0 || pending(a.kind) {
			return nil
		}
		of[a.num] = a.value()
	}
	in, _, _ := ld.cableInput(u.dir, func(n schema.Attr) Value { return of[n] })
	return in
}
