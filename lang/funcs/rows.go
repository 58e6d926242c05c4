package funcs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/rocec/rocec/lang/cabling"
	"github.com/zclconf/go-cty/cty"
)

// MaxFileBytes is the size of the largest file that is read.
const MaxFileBytes = 512 << 20

// Rows is a CSV table with a key column. Text is in Unicode normal form C, as
// every string of the language is.
type Rows struct {
	Header    []string
	Keys      []string   // of each record, in file order; unique, none empty
	Records   [][]string // each as long as Header
	KeyOffset []Span     // of each record
}

// Span is where a record stands in its file, in bytes, without the line end.
// Row is the line it starts on, so the header of a plain table is row 1.
type Span struct {
	Start, Len, Row uint32
}

// RowsError is a table that does not read. Start and Len are the bytes at
// fault, Row the line (0: the file as a whole), Column the name from the header
// or "".
type RowsError struct {
	File       string
	Start, Len int
	Row        int
	Column     string
	Msg, Help  string
}

// Error names the file, the row and the column before what is wrong there.
func (e *RowsError) Error() string {
	where := e.File
	if e.Row > 0 {
		where += fmt.Sprintf(" row %d", e.Row)
	}
	if e.Column != "" {
		where += fmt.Sprintf(", column %q", clip(e.Column))
	}
	return where + ": " + e.Msg
}

// ParseRows reads CSV, whose first record is the header, with the column key as key;
// the name of the file is for messages. Cells are separated by commas, semicolons or
// tabs, whichever the first line has most of. A byte order mark is skipped, empty lines
// are too. Refused are files that are not UTF-8, carriage returns alone outside of
// quotes, tables without records, records of another length than the header, columns and
// keys that are empty or there twice, and more than MaxFileBytes. Errors are a *RowsError.
func ParseRows(content []byte, name, key string) (*Rows, error) {
	p := rowsParser{name: name, src: content, line: 1}
	if len(content) > MaxFileBytes {
		return nil, p.fail(Span{}, "", "divide it", "file has %d bytes, at most %d are allowed", len(content), MaxFileBytes)
	}
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		return nil, p.fail(Span{Row: 1}, "", "save it as UTF-8", "file is UTF-16, UTF-8 is needed")
	}
	if i := bytes.IndexByte(content, 0); i >= 0 {
		row := 1 + bytes.Count(content[:i], []byte("\n"))
		return nil, p.fail(Span{uint32(i), 1, uint32(row)}, "", "save it as text, in UTF-8", "file holds a NUL byte: it is no text")
	}
	if bytes.HasPrefix(content, []byte("\xef\xbb\xbf")) {
		p.pos = 3
	}
	p.base = p.pos
	p.csv = csv.NewReader(bytes.NewReader(content[p.pos:]))
	p.csv.Comma = rune(cabling.Separator(content[p.pos:]))
	p.csv.FieldsPerRecord = -1
	p.csv.ReuseRecord = false
	return p.parse(key)
}

// cellSpan returns the bytes of one cell within the bytes of a record, quotes
// included. The column counts from 0.
func cellSpan(record []byte, column int, separator rune) (start, length int) {
	for ; ; column-- {
		end := cellEnd(record, start, separator)
		if column == 0 {
			return start, end - start
		}
		if end == len(record) {
			return 0, len(record)
		}
		start = end + 1
	}
}

func cellEnd(record []byte, start int, separator rune) int {
	quoted := start < len(record) && record[start] == '"'
	for i := start; i < len(record); i++ {
		switch {
		case i > start && record[i] == '"':
			quoted = !quoted
		case rune(record[i]) == separator && !quoted:
			return i
		}
	}
	return len(record)
}

type rowsParser struct {
	name string
	src  []byte
	csv  *csv.Reader
	base int // offset of what the csv reader calls 0
	pos  int // end of the last record
	line int // line at pos
}

func (p *rowsParser) fail(at Span, column, help, format string, args ...any) error {
	return &RowsError{p.name, int(at.Start), int(at.Len), int(at.Row), column, fmt.Sprintf(format, args...), help}
}

func (p *rowsParser) parse(key string) (*Rows, error) {
	header, headAt, err := p.next(nil)
	if err == io.EOF {
		return nil, p.fail(Span{Row: 1}, "", "the first line names the columns", "table is empty, a header is needed")
	}
	if err != nil {
		return nil, err
	}
	col, err := p.header(header, headAt, cty.NormalizeString(key))
	if err != nil {
		return nil, err
	}
	r := &Rows{Header: header}
	seen := map[string]int{}
	for {
		rec, at, err := p.next(header)
		if err == io.EOF && len(r.Keys) == 0 {
			return nil, p.fail(headAt, "", "export it again with its rows, or leave out what reads it", "table has a header and no rows")
		}
		if err == io.EOF {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		if len(rec) != len(header) {
			return nil, p.fail(at, "", "write a cell for each column: nothing between two separators where it is empty, quotes around one that holds a separator", "%s", lengths(len(rec), len(header)))
		}
		k := rec[col]
		if strings.TrimSpace(k) == "" {
			return nil, p.fail(p.cell(at, col), header[col], "write a key in every row, or leave the row out", "key is empty")
		}
		if first, ok := seen[k]; ok {
			return nil, p.fail(p.cell(at, col), header[col], "give each row a key of its own, or leave one out", "key %q stands already in row %d", clip(k), r.KeyOffset[first].Row)
		}
		seen[k] = len(r.Keys)
		r.Keys = append(r.Keys, k)
		r.Records = append(r.Records, rec)
		r.KeyOffset = append(r.KeyOffset, at)
	}
}

func lengths(row, header int) string {
	if row == 1 {
		return fmt.Sprintf("row has 1 cell, the header has %d", header)
	}
	return fmt.Sprintf("row has %d cells, the header has %d", row, header)
}

func (p *rowsParser) cell(at Span, col int) Span {
	start, length := cellSpan(p.src[at.Start:at.Start+at.Len], col, p.csv.Comma)
	return Span{at.Start + uint32(start), uint32(length), at.Row}
}

// header checks the column names and returns the position of key.
func (p *rowsParser) header(header []string, at Span, key string) (int, error) {
	col := -1
	seen := make(map[string]bool, len(header))
	for i, h := range header {
		if strings.TrimSpace(h) == "" {
			return 0, p.fail(p.cell(at, i), "", "name every column", "name of column %d is empty", i+1)
		}
		if seen[h] {
			return 0, p.fail(p.cell(at, i), h, "name each column once", "column is there twice")
		}
		seen[h] = true
		if h == key {
			col = i
		}
	}
	if col >= 0 {
		return col, nil
	}
	return 0, p.fail(at, "", "the first line names the columns: write it if it is missing, or name another column as the key", "there is no column %q, the header has %s", clip(key), clip(strings.Join(header, ", ")))
}

// next reads one record. The header, nil while it is read itself, names the
// column in errors.
func (p *rowsParser) next(header []string) ([]string, Span, error) {
	for p.pos < len(p.src) {
		if p.src[p.pos] == '\n' {
			p.pos++
		} else if bytes.HasPrefix(p.src[p.pos:], []byte("\r\n")) {
			p.pos += 2
		} else {
			break
		}
		p.line++
	}
	rec, err := p.csv.Read()
	if err == io.EOF {
		return nil, Span{}, io.EOF
	}
	end := p.base + int(p.csv.InputOffset())
	raw := p.src[p.pos:end]
	text := bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
	at := Span{uint32(p.pos), uint32(len(text)), uint32(p.line)}
	if err != nil {
		return nil, Span{}, p.syntax(err, at, header)
	}
	p.line += bytes.Count(raw, []byte("\n"))
	p.pos = end
	for i, cell := range rec {
		if !utf8.ValidString(cell) {
			return nil, Span{}, p.fail(p.cell(at, i), nameOf(header, i), "save the file as UTF-8: it looks like Latin-1 or Windows-1252", "cell is not UTF-8 text")
		}
		if strings.Contains(cell, "\r") && !bytes.HasPrefix(p.src[p.cell(at, i).Start:], []byte(`"`)) {
			return nil, Span{}, p.fail(p.cell(at, i), nameOf(header, i), "end lines as Linux or Windows do, and leave carriage returns out elsewhere", "cell holds a carriage return without a line feed")
		}
		rec[i] = normal(cell)
	}
	return rec, at, nil
}

func nameOf(header []string, i int) string {
	if i < len(header) {
		return header[i]
	}
	return ""
}

// normal leaves ASCII alone: normalising copies.
func normal(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cty.NormalizeString(s)
		}
	}
	return s
}

// syntax places an error of the csv package: its lines count from where the
// reader began, and its column from the start of that line.
func (p *rowsParser) syntax(err error, at Span, header []string) error {
	var pe *csv.ParseError
	if !errors.As(err, &pe) {
		return p.fail(at, "", "write the table as spreadsheets do", "%v", err)
	}
	from := int(at.Start)
	for n := pe.Line - pe.StartLine; n > 0; n-- {
		i := bytes.IndexByte(p.src[from:], '\n')
		if i < 0 {
			break
		}
		from += i + 1
	}
	from = min(from+max(pe.Column-1, 0), len(p.src))
	column, start := 0, int(at.Start)
	for {
		end := cellEnd(p.src[:from], start, p.csv.Comma)
		if end == from {
			break
		}
		column, start = column+1, end+1
	}
	spot := Span{uint32(from), 1, at.Row + uint32(pe.Line-pe.StartLine)}
	msg := pe.Err.Error()
	switch {
	case pe.Err == csv.ErrQuote && from == len(p.src):
		msg = "quote is never closed"
		spot.Start = uint32(start)
		spot.Row = at.Row + uint32(bytes.Count(p.src[at.Start:start], []byte("\n")))
	case pe.Err == csv.ErrQuote:
		msg = "quote that neither ends the cell nor is doubled"
	case pe.Err == csv.ErrBareQuote:
		msg = "quote inside a cell that does not start with one"
	}
	return p.fail(spot, nameOf(header, column), "a quote inside of a cell is written twice, and the cell stands in quotes", "%s", msg)
}
