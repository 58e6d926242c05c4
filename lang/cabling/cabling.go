// Package cabling reads lists of cables: NetBox imports and exports, any CSV with named columns, graphs in DOT, and captures of LLDP neighbours.
// It takes the bytes of one file and hands over one row for each cable, with the place of every cell, without holding the rows itself; runs
// through patch panels are joined into one row. What does not read is an error at its bytes, one for each kind of fault, however many rows
// have it. Tables of routes are read by the same rules (Routes). It knows no devices of a fabric: whether the ends exist is for others to say.
package cabling

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Kind is what a side of a cable is plugged into.
type Kind uint8

// Kinds of sides. The zero value is a port of a device.
const (
	Port Kind = iota
	Front
	Rear
)

// Side is one end of a cable. The bytes belong to the file.
type Side struct {
	Device, Port []byte
	Kind         Kind
}

// Cell is where a cell stands in its file, in bytes. Len 0: it has no place of its own.
type Cell struct{ Start, Len uint32 }

// Row is one cable.
type Row struct {
	A, B              Side
	Media, Label      []byte // as the list has it, Media in the words of this language where they are known; of a capture what port B calls itself besides
	LengthMm          uint32
	OffMm             uint16 // by how much a length that was rounded in feet, inches or miles may differ
	HasLength         bool
	Planned, Gone     bool // NetBox: not yet built; to be taken out
	Panels            uint8
	Cut               bool // a run that leads no further than to side B, the port of a panel
	Number            int  // line the row starts on, from 1
	At                Cell
	ADevice, APort    Cell
	BDevice, BPort    Cell
	MediaAt, LengthAt Cell
}

// Options say how a file is to be read.
type Options struct {
	Format  string            // "netbox", "csv", "dot" or "lldp"
	Columns map[string]string // of "csv": the file's name for a column
	Device  string            // of "lldp": who took the capture
}

// Error is a fault of a file. Start and Len are its bytes, Row the line, 0 if it is the file as a whole.
type Error struct {
	Start, Len int
	Row        int
	Msg, Help  string
	More       int // further rows with the same fault
}

// Error is the message with the line before it.
func (e *Error) Error() string {
	msg := e.Msg
	if e.Row > 0 {
		msg = "line " + strconv.Itoa(e.Row) + ": " + msg
	}
	if e.More > 0 {
		msg += " (and in " + strconv.Itoa(e.More) + " more)"
	}
	return msg
}

// MaxBytes is the size of the largest list that is read: offsets are 32 bits wide.
const MaxBytes = 512 << 20

// Read reads a list and calls row for each cable in the order of the file; runs through panels come last. The row and what it points to are
// good until the function returns. Errors come in the order of the file; rows that are at fault are left out.
func Read(o Options, src []byte, row func(*Row)) []*Error {
	r := &reader{Options: o, src: src, emit: row, kinds: map[string]*Error{}}
	if r.encoded() {
		switch o.Format {
		case "netbox":
			r.netbox()
		case "csv":
			r.csv()
		case "dot":
			r.dot()
		case "lldp":
			r.lldp()
		default:
			r.fail("format", 0, 0, 0, "format "+strconv.Quote(o.Format)+" is not one of netbox, csv, dot and lldp", "write one of these")
		}
	}
	return r.errs
}

type reader struct {
	Options
	src   []byte
	emit  func(*Row)
	kinds map[string]*Error
	errs  []*Error
	runs  []Row // with a side in a panel
}

// fail adds an error, or counts it if there is one of its kind.
func (r *reader) fail(kind string, start, length, row int, msg, help string) {
	if e := r.kinds[kind]; e != nil {
		e.More++
		return
	}
	e := &Error{Start: start, Len: length, Row: row, Msg: msg, Help: help}
	r.kinds[kind] = e
	r.errs = append(r.errs, e)
}

// encoded refuses what is not UTF-8 text, and drops a byte order mark.
func (r *reader) encoded() bool {
	src := r.src
	switch {
	case len(src) > MaxBytes:
		r.fail("size", 0, 0, 0, "list has "+strconv.Itoa(len(src))+" bytes, at most "+strconv.Itoa(MaxBytes)+" are read", "split it")
		return false
	case bytes.HasPrefix(src, []byte("\xff\xfe")), bytes.HasPrefix(src, []byte("\xfe\xff")), len(src) > 3 && (src[0] == 0 || src[1] == 0):
		r.fail("encoding", 0, 0, 1, "list is UTF-16", "save it as UTF-8")
		return false
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		r.fail("encoding", i, 1, lineAt(src, i), "list holds a NUL byte: it is no text", "export it again as text, in UTF-8")
		return false
	}
	if !utf8.Valid(src) {
		i := 0
		for i < len(src) {
			c, size := utf8.DecodeRune(src[i:])
			if c == utf8.RuneError && size <= 1 {
				break
			}
			i += size
		}
		r.fail("encoding", i, 1, lineAt(src, i), "byte 0x"+strconv.FormatUint(uint64(src[i]), 16)+" is not UTF-8; the list looks like Latin-1 or Windows-1252", "save it as UTF-8")
		return false
	}
	return true
}

func lineAt(src []byte, i int) int { return 1 + bytes.Count(src[:i], []byte("\n")) }

// done hands over a row; rows that end in a panel wait for the others.
func (r *reader) done(row *Row) {
	if row.A.Kind != Port || row.B.Kind != Port {
		r.runs = append(r.runs, *row)
		return
	}
	r.emit(row)
}

// clip shortens a text of the file for a message.
func clip(b []byte) string {
	if len(b) > 60 {
		b = b[:57]
		for len(b) > 0 && !utf8.Valid(b) {
			b = b[:len(b)-1]
		}
		return strconv.Quote(string(b) + "...")
	}
	return strconv.Quote(string(b))
}

// nameFault says what is wrong with the name of a device or port, "" if nothing.
func nameFault(b []byte) string {
	switch {
	case len(b) == 0:
		return "is empty"
	case len(b) > 256:
		return "is longer than 256 bytes"
	}
	for _, c := range b {
		if c < 0x20 || c == 0x7f {
			return "has a control character"
		}
	}
	return ""
}
