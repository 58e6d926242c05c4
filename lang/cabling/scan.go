package cabling

import (
	"bytes"
	"strconv"
	"strings"
)

// scanner cuts a table into rows and cells without copying. Cells are separated by commas, semicolons or tabs, whichever the header has;
// rows end in LF, CRLF or CR; a cell in quotes may hold all of these, and a quote twice is one.
type scanner struct {
	src   []byte
	pos   int
	line  int // at pos
	delim byte
	cells []field
	start int // of the row
	end   int
	row   int // line of the row
}

type field struct {
	start, end int // with quotes
	quoted     bool
}

func newScanner(src []byte) *scanner {
	s := &scanner{src: src, line: 1}
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		s.pos = 3
	}
	s.delim = Separator(src[s.pos:])
	return s
}

// Separator is what separates the cells of a table: a comma, a semicolon or a tab,
// whichever its header, the first line that is not empty, has most of.
func Separator(table []byte) byte {
	head := bytes.TrimLeft(table, "\r\n")
	if i := bytes.IndexAny(head, "\r\n"); i >= 0 {
		head = head[:i]
	}
	best, most := byte(','), bytes.Count(head, []byte(","))
	for _, d := range []byte(";\t") {
		if n := bytes.Count(head, []byte{d}); n > most {
			best, most = d, n
		}
	}
	return best
}

// next reads a row; false at the end or on a fault, which it returns.
func (s *scanner) next() (bool, *Error) {
	for s.pos < len(s.src) && (s.src[s.pos] == '\n' || s.src[s.pos] == '\r') {
		s.newline()
	}
	if s.pos >= len(s.src) {
		return false, nil
	}
	s.cells, s.start, s.row = s.cells[:0], s.pos, s.line
	for {
		f, err := s.cell()
		if err != nil {
			return false, err
		}
		s.cells = append(s.cells, f)
		if s.pos < len(s.src) && s.src[s.pos] == s.delim {
			s.pos++
			continue
		}
		s.end = s.pos
		s.newline()
		return true, nil
	}
}

func (s *scanner) newline() {
	switch {
	case s.pos >= len(s.src):
		return
	case s.src[s.pos] == '\r' && s.pos+1 < len(s.src) && s.src[s.pos+1] == '\n':
		s.pos++
	}
	s.pos++
	s.line++
}

func (s *scanner) cell() (field, *Error) {
	f := field{start: s.pos}
	if s.pos < len(s.src) && s.src[s.pos] == '"' {
		return s.quoted(f)
	}
	for s.pos < len(s.src) {
		if c := s.src[s.pos]; c == s.delim || c == '\n' || c == '\r' {
			break
		}
		s.pos++
	}
	f.end = s.pos
	return f, nil
}

func (s *scanner) quoted(f field) (field, *Error) {
	f.quoted = true
	line := s.line
	s.pos++
	for {
		i := bytes.IndexByte(s.src[s.pos:], '"')
		if i < 0 {
			return f, &Error{Start: f.start, Len: 1, Row: line, Msg: "quote is never closed", Help: "a quote inside of a cell is written twice"}
		}
		s.line += bytes.Count(s.src[s.pos:s.pos+i], []byte("\n"))
		s.pos += i + 1
		if s.pos < len(s.src) && s.src[s.pos] == '"' {
			s.pos++
			continue
		}
		f.end = s.pos
		if s.pos < len(s.src) && s.src[s.pos] != s.delim && s.src[s.pos] != '\n' && s.src[s.pos] != '\r' {
			return f, &Error{Start: s.pos - 1, Len: 1, Row: s.line, Msg: "quote that neither ends the cell nor is written twice", Help: "a quote inside of a cell is written twice"}
		}
		return f, nil
	}
}

// text is the content of a cell, without quotes and blanks around.
func (s *scanner) text(f field) []byte {
	b := s.src[f.start:f.end]
	if f.quoted {
		b = b[1 : len(b)-1]
		if bytes.Contains(b, []byte(`""`)) {
			b = bytes.ReplaceAll(b, []byte(`""`), []byte(`"`))
		}
	}
	return bytes.TrimSpace(b)
}

func (f field) at() Cell { return Cell{uint32(f.start), uint32(f.end - f.start)} }

// emptyHelp is for tables without rows.
const emptyHelp = "export it again with its rows, or leave out the block that reads it"

// table reads the rows below a header: for each it calls row with the cell of a column, by the position that columns gave it.
type table struct {
	r      *reader
	s      *scanner
	header []string
	heads  []field
}

// open reads the header. False: it was reported.
func (r *reader) open() (*table, bool) {
	t := &table{r: r, s: newScanner(r.src)}
	ok, err := t.s.next()
	switch {
	case err != nil:
		r.fail("syntax", err.Start, err.Len, err.Row, err.Msg, err.Help)
		return nil, false
	case !ok:
		r.fail("empty", 0, 0, 1, "list is empty", "the first line names the columns")
		return nil, false
	}
	seen := map[string]bool{}
	for i, f := range t.s.cells {
		name := string(t.s.text(f))
		if seen[name] && name != "" {
			r.fail("twice", f.start, f.end-f.start, t.s.row, "column "+clip([]byte(name))+" is there twice", "name each column once: nobody can tell which of them counts")
			return nil, false
		}
		if i > 1000 {
			r.fail("columns", f.start, f.end-f.start, t.s.row, "header has more than 1000 columns", "leave out columns that tell nothing of cables")
			return nil, false
		}
		seen[name] = true
		t.header = append(t.header, name)
	}
	t.heads = append([]field(nil), t.s.cells...)
	return t, true
}

// find is the position of a column by one of its names, -1 if it is not there.
func (t *table) find(names ...string) int {
	for _, n := range names {
		for i, h := range t.header {
			if strings.EqualFold(h, n) || strings.EqualFold(strings.ReplaceAll(h, " ", "_"), n) {
				return i
			}
		}
	}
	return -1
}

// missing reports columns that are not there.
func (t *table) missing(names []string, help string) {
	end := t.heads[len(t.heads)-1].end
	word := "are no columns "
	if len(names) == 1 {
		word = "is no column "
	}
	shown := t.header
	if len(shown) > 20 {
		shown = shown[:20]
	}
	t.r.fail("missing", t.heads[0].start, end-t.heads[0].start, 1, "there "+word+quoteAll(names)+"; the header has "+clipList(shown), "the first line names the columns; "+help)
}

func quoteAll(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(n))
	}
	return b.String()
}

func clipList(names []string) string {
	s := strings.Join(names, ", ")
	if len(s) > 200 {
		return s[:197] + "..."
	}
	return s
}

// rows calls f for each row below the header that has its number of cells.
func (t *table) rows(f func(s *scanner)) {
	for {
		ok, err := t.s.next()
		if err != nil {
			t.r.fail("syntax", err.Start, err.Len, err.Row, err.Msg, err.Help)
			return
		}
		if !ok {
			return
		}
		if n := len(t.s.cells); n != len(t.header) {
			if n == 1 && len(t.s.text(t.s.cells[0])) == 0 {
				continue // blanks only
			}
			t.r.fail("cells", t.s.start, t.s.end-t.s.start, t.s.row, "row has "+plural(n, "cell")+", the header has "+strconv.Itoa(len(t.header)), "write a cell for each column: nothing between two separators where it is empty, quotes around one that holds a separator")
			continue
		}
		f(t.s)
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
