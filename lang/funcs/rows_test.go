package funcs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rocec/rocec/lang/cabling"
	"github.com/zclconf/go-cty/cty"
)

func TestParseRows(t *testing.T) {
	src := "\xef\xbb\xbfname,note,slot\r\n\r\ngpu01,\"a, \"\"b\"\"\r\nc\",1\n\ngpu02,,2"
	got, err := ParseRows([]byte(src), "nodes.csv", "name")
	if err != nil {
		t.Fatal(err)
	}
	want := &Rows{
		Header:    []string{"name", "note", "slot"},
		Keys:      []string{"gpu01", "gpu02"},
		Records:   [][]string{{"gpu01", "a, \"b\"\nc", "1"}, {"gpu02", "", "2"}},
		KeyOffset: []Span{{Start: 21, Len: 21, Row: 3}, {Start: 44, Len: 8, Row: 6}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	record := []byte(src)[21 : 21+21]
	for i, cell := range []string{"gpu01", "\"a, \"\"b\"\"\r\nc\"", "1"} {
		start, n := cellSpan(record, i, ',')
		if got := string(record[start : start+n]); got != cell {
			t.Errorf("cell %d is %q, want %q", i, got, cell)
		}
	}
}

// Spreadsheets of countries with decimal commas separate by semicolons.
func TestSeparators(t *testing.T) {
	for _, src := range []string{"\r\nname;note;slot\r\ng1;\"a;b\";1,5\r\n", "name\tnote\tslot\ng1\ta;b\t1,5\n", "name,note,slot\ng1,a;b,\"1,5\"\n"} {
		got, err := ParseRows([]byte(src), "x", "name")
		if err != nil || !cmp.Equal(got.Records, [][]string{{"g1", "a;b", "1,5"}}) {
			t.Errorf("%q: %v, %v", src, got, err)
		}
	}
}

func TestRowsAreNormalised(t *testing.T) {
	got, err := ParseRows([]byte("name\nu\u0308\n"), "x", "name")
	if err != nil {
		t.Fatal(err)
	}
	if got.Keys[0] != "ü" {
		t.Errorf("key %q is not in normal form C", got.Keys[0])
	}
	_, err = ParseRows([]byte("name\nu\u0308\nü\n"), "x", "name")
	if err == nil || !strings.Contains(err.Error(), "already in row 2") {
		t.Errorf("two spellings of one key: %v", err)
	}
}

func TestParseRowsErrors(t *testing.T) {
	tests := []struct {
		name, src, key string
		want           RowsError // File is always nodes.csv
	}{
		{"empty", "", "k", RowsError{Row: 1, Msg: "a header is needed"}},
		{"bom only", "\xef\xbb\xbf\n", "k", RowsError{Row: 1, Msg: "a header is needed"}},
		{"utf-16", "\xff\xfek\x00", "k", RowsError{Row: 1, Msg: "UTF-16"}},
		{"nul", "k\na\n\x00\n", "k", RowsError{Start: 4, Len: 1, Row: 3, Msg: "NUL byte"}},
		{"no such column", "a,b\n", "k", RowsError{Len: 3, Row: 1, Msg: `no column "k", the header has a, b`}},
		{"no rows", "\xef\xbb\xbfa,k\r\n", "k", RowsError{Start: 3, Len: 3, Row: 1, Msg: "a header and no rows"}},
		{"semicolons, key twice", "a;k\n1;\"x;y\"\n2;\"x;y\"\n", "k", RowsError{Start: 14, Len: 5, Row: 3, Column: "k", Msg: `key "x;y" stands already in row 2`}},
		{"column without a name", "k,\n", "k", RowsError{Start: 2, Len: 0, Row: 1, Msg: "column 2 is empty"}},
		{"column twice", "k,a,a\n", "k", RowsError{Start: 4, Len: 1, Row: 1, Column: "a", Msg: "twice"}},
		{"short row", "k,a\n\n1\n", "k", RowsError{Start: 5, Len: 1, Row: 3, Msg: "row has 1 cell, the header has 2"}},
		{"long row", "k,a\n1,2\n1,2,3", "k", RowsError{Start: 8, Len: 5, Row: 3, Msg: "row has 3 cells"}},
		{"empty key", "a,k\n1,\n", "k", RowsError{Start: 6, Len: 0, Row: 2, Column: "k", Msg: "key is empty"}},
		{"blank key", "a,k\n1, \n", "k", RowsError{Start: 6, Len: 1, Row: 2, Column: "k", Msg: "key is empty"}},
		{"key twice", "a,k\n1,x\n2,\"x\"\n", "k", RowsError{Start: 10, Len: 3, Row: 3, Column: "k", Msg: `key "x" stands already in row 2`}},
		{"not utf-8", "a,k\n1,x\n\xff,y\n", "k", RowsError{Start: 8, Len: 1, Row: 3, Column: "a", Msg: "UTF-8"}},
		{"line ends of old Macs", "a,k\r1,x\r", "k", RowsError{Start: 2, Len: 3, Row: 1, Msg: "without a line feed"}},
		{"carriage return alone", "a,k\n1,x\n2,\rb\n", "k", RowsError{Start: 10, Len: 2, Row: 3, Column: "k", Msg: "without a line feed"}},
		{"bare quote", "a,k\n1,x\"y\n", "k", RowsError{Start: 7, Len: 1, Row: 2, Column: "k", Msg: "does not start with one"}},
		{"open quote", "a,k\n\"1,x\n\n", "k", RowsError{Start: 4, Len: 1, Row: 2, Column: "a", Msg: "never closed"}},
		{"quote ends early", "a,k\n1,\"x\"y\n", "k", RowsError{Start: 8, Len: 1, Row: 2, Column: "k", Msg: "quote"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseRows([]byte(tt.src), "nodes.csv", tt.key)
			var got *RowsError
			if !errors.As(err, &got) {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(got.Msg, tt.want.Msg) {
				t.Errorf("message %q lacks %q", got.Msg, tt.want.Msg)
			}
			if got.Help == "" {
				t.Errorf("%q does not say what to do", got.Msg)
			}
			tt.want.Msg, tt.want.Help, tt.want.File = got.Msg, got.Help, "nodes.csv"
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	err := &RowsError{File: "nodes.csv", Row: 7, Column: "name", Msg: "key is empty"}
	if got, want := err.Error(), `nodes.csv row 7, column "name": key is empty`; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestReadFile(t *testing.T) {
	fsys := fstest.MapFS{"data/a.csv": {Data: []byte("k")}}
	for name, want := range map[string]string{"none.csv": "no file", "data": "regular"} {
		if _, err := readFile(fsys, name, MaxFileBytes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v lacks %q", name, err, want)
		}
	}
	if _, err := readFile(hugeFS{}, "big.csv", MaxFileBytes); err == nil || !strings.Contains(err.Error(), "536870913 bytes, at most 536870912") {
		t.Errorf("a file over the limit: %v", err)
	}
}

// hugeFS has one file that claims to be one byte over the limit.
type hugeFS struct{}

func (hugeFS) Open(string) (fs.File, error) { return hugeFS{}, nil }
func (hugeFS) Stat() (fs.FileInfo, error)   { return hugeFS{}, nil }
func (hugeFS) Read([]byte) (int, error)     { return 0, errors.New("must not be read") }
func (hugeFS) Close() error                 { return nil }
func (hugeFS) Name() string                 { return "big.csv" }
func (hugeFS) Size() int64                  { return MaxFileBytes + 1 }
func (hugeFS) Mode() fs.FileMode            { return 0o644 }
func (hugeFS) ModTime() time.Time           { return time.Time{} }
func (hugeFS) IsDir() bool                  { return false }
func (hugeFS) Sys() any                     { return nil }

// FuzzReadRows holds the table against encoding/csv, and each span against the
// record it is of.
func FuzzReadRows(f *testing.F) {
	for _, s := range []string{"name,slot\ngpu01,1\n", "\xef\xbb\xbfname\r\n\r\na\r\n", "name,b\n\"x\n\",\"\"\"\"\n", "name\n\"", "name\na\rb\n", "name,\"b\"\n\"a\"\",\",1", "\n\nname", "name;b\nx;\"y;\"\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		r, err := ParseRows(src, "x", "name")
		if err != nil {
			var re *RowsError
			if !errors.As(err, &re) || re.Start < 0 || re.Len < 0 || re.Start+re.Len > len(src) || re.Msg == "" {
				t.Fatalf("error %#v for %d bytes", err, len(src))
			}
			return
		}
		plain := bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
		separator := rune(cabling.Separator(plain))
		oracle := csv.NewReader(bytes.NewReader(plain))
		oracle.Comma = separator
		all, err := oracle.ReadAll()
		if err != nil {
			t.Fatalf("encoding/csv refuses what was read: %v", err)
		}
		for _, rec := range all {
			for i := range rec {
				rec[i] = cty.NormalizeString(rec[i])
			}
		}
		if got := append([][]string{r.Header}, r.Records...); !cmp.Equal(got, all) {
			t.Fatalf("records differ:\n%s", cmp.Diff(all, got))
		}
		key := slices.Index(r.Header, "name")
		for i, at := range r.KeyOffset {
			record := src[at.Start : at.Start+at.Len]
			if row := 1 + bytes.Count(src[:at.Start], []byte("\n")); row != int(at.Row) {
				t.Fatalf("record %d is in row %d, not %d", i, row, at.Row)
			}
			if r.Keys[i] != r.Records[i][key] {
				t.Fatalf("key %q, but the cell is %q", r.Keys[i], r.Records[i][key])
			}
			for c, want := range r.Records[i] {
				start, n := cellSpan(record, c, separator)
				cell := string(record[start : start+n])
				if inner, ok := strings.CutPrefix(cell, `"`); ok {
					cell = strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
				}
				cell = cty.NormalizeString(strings.ReplaceAll(cell, "\r\n", "\n"))
				if cell != want {
					t.Fatalf("cell %d of %q is %q, want %q", c, record, cell, want)
				}
			}
		}
	})
}

func BenchmarkParseRows(b *testing.B) {
	var src bytes.Buffer
	src.WriteString("name,rack,slot,mgmt\n")
	const rows = 10000
	for i := range rows {
		fmt.Fprintf(&src, "gpu%05d,r%d,%d,10.0.%d.%d\n", i, i/32, i%32, i/256, i%256)
	}
	b.SetBytes(int64(src.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseRows(src.Bytes(), "x", "name"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}
