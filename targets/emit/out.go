// Package emit holds the writers that targets share: artifacts built line by
// line with the intent field each line came from, and the quoting of user text
// for the languages it lands in (shell, PowerShell, names of units). It
// writes to memory only.
package emit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// Step says how an artifact is meant to be used. It is part of the manifest.
type Step string

// Steps of artifacts.
const (
	Apply       Step = "apply"       // part of the normal run
	Maintenance Step = "maintenance" // needs a window; never run by a normal apply
	Verify      Step = "verify"      // read-only
	Rollback    Step = "rollback"
	Data        Step = "data" // read by other artifacts or by other programs
)

// Artifact is one file for one device.
type Artifact struct {
	Path  string // relative to the device's folder, forward slashes
	Mode  uint32 // permission bits: 0o644, 0o755, 0o600
	Step  Step
	Run   string // how an operator runs it, one line; "" if it is not run by hand
	Bytes []byte
	Lines []Line // ascending, only when tracing was asked for

	digest string // of Bytes, where many devices have the file
}

// Mark puts the byte order mark of UTF-8 before text that is not ASCII. Windows
// PowerShell 5.1 takes a script or a data file without one to be in the ANSI code
// page of the machine, and both it and PowerShell 7 read one that has it as UTF-8
// (PowerShell-Docs 5.1 about_Character_Encoding).
func (a *Artifact) Mark() {
	const mark = "\ufeff"
	if bytes.ContainsFunc(a.Bytes, func(r rune) bool { return r > 0x7e }) && !bytes.HasPrefix(a.Bytes, []byte(mark)) {
		a.Bytes = append([]byte(mark), a.Bytes...)
	}
}

// Line says which intent field a line came from.
type Line struct {
	Number int // from 1
	Path   intent.Path
}

// Out collects the artifacts of one device.
type Out struct {
	Trace     bool // note the origin of lines
	Artifacts []Artifact
	Kits      []*Kit // files that it shares with other devices, each once
	Memo      *Memo  // files of other devices that it may have too; may be nil
	// Like is what the device has in common with others, whose intents share lists
	// with its own; may be nil.
	Like *Like

	canon  *intent.Canon // of the device, once somebody asked
	digest string        // of the device, likewise
}

// File starts a new artifact; what is written goes to it.
func (o *Out) File(path string, mode uint32, step Step) *File {
	o.Artifacts = append(o.Artifacts, Artifact{Path: path, Mode: mode, Step: step})
	return &File{out: o, index: len(o.Artifacts) - 1, line: 1, newline: "\n"}
}

// File writes one artifact.
type File struct {
	out     *Out
	index   int
	buf     bytes.Buffer
	line    int
	newline string
}

// CRLF makes lines end in CR LF, as Windows expects.
func (f *File) CRLF() { f.newline = "\r\n" }

// Run says how an operator runs the artifact.
func (f *File) Run(how string) { f.out.Artifacts[f.index].Run = how }

// Line writes one line that no single field explains.
func (f *File) Line(format string, args ...any) { f.From(intent.Path{}, format, args...) }

// From writes one line that came from a field of the intent. The text must not
// contain line breaks; user text in it must have been quoted.
func (f *File) From(p intent.Path, format string, args ...any) {
	if len(args) == 0 {
		f.buf.WriteString(format)
	} else {
		fmt.Fprintf(&f.buf, format, args...)
	}
	f.end(p)
}

// Grow makes room for so many more bytes, where they can be told beforehand.
func (f *File) Grow(n int) { f.buf.Grow(n) }

// Put writes one line of parts as they are, with the field of the intent that it
// came from. What From says of the text holds here too.
func (f *File) Put(p intent.Path, parts ...string) {
	for _, s := range parts {
		f.buf.WriteString(s)
	}
	f.end(p)
}

// Block writes lines that were written before, each ended by "\n", and where
// each of them came from. It is for files of such lines only (not for CRLF).
func (f *File) Block(text string, from []intent.Path) {
	f.buf.WriteString(text)
	a := &f.out.Artifacts[f.index]
	if f.out.Trace {
		for i, p := range from {
			if p != (intent.Path{}) {
				a.Lines = append(a.Lines, Line{f.line + i, p})
			}
		}
	}
	f.line += len(from)
	a.Bytes = f.buf.Bytes()
}

// Insert writes the lines of a file that was made before, and where each of them
// came from. Like Block it is not for CRLF.
func (f *File) Insert(made *Artifact) {
	f.buf.Write(made.Bytes)
	a := &f.out.Artifacts[f.index]
	if f.out.Trace {
		for _, l := range made.Lines {
			a.Lines = append(a.Lines, Line{f.line - 1 + l.Number, l.Path})
		}
	}
	f.line += bytes.Count(made.Bytes, []byte{'\n'})
	a.Bytes = f.buf.Bytes()
}

// end ends the line that stands in the buffer.
func (f *File) end(p intent.Path) {
	f.buf.WriteString(f.newline)
	a := &f.out.Artifacts[f.index]
	if f.out.Trace && p != (intent.Path{}) {
		a.Lines = append(a.Lines, Line{f.line, p})
	}
	f.line++
	a.Bytes = f.buf.Bytes()
}

// Text writes several lines of fixed text, given as one string with "\n".
func (f *File) Text(s string) {
	for len(s) > 0 {
		line := s
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			line, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		f.buf.WriteString(line)
		f.end(intent.Path{})
	}
}
