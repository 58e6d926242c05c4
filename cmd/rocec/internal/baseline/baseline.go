// Package baseline keeps the list of findings that are known and left for later:
// reads and writes it, and tells known findings from new ones. An entry holds
// what stays when lines move: the folder of the configuration, the rule, the
// address and the text that the finding points at. The package does no I/O and
// does not know what may be left for later.
package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Version is that of the form of the file.
const Version = "1.0"

// mostAlike is the highest count. Sums of counts cannot overflow.
const mostAlike = 1_000_000_000

// Entry is a known finding.
type Entry struct {
	Folder  string `json:"folder,omitempty"` // of the configuration, from that of the file; "" is the same
	Rule    string `json:"rule"`             // code
	Address string `json:"address,omitempty"`
	Source  string `json:"source,omitempty"` // text, its blanks one each
	Count   int    `json:"count,omitempty"`  // findings that are alike; 0 is one
}

// Known is an entry as read, with the bytes it stands at.
type Known struct {
	Entry
	Start, Len int
}

// Mistake is why a file cannot be read.
type Mistake struct {
	Start int // offset
	Text  string
	Ours  bool // the file is such a list, if a broken one: its text may be shown
}

type document struct {
	FormatVersion string  `json:"format_version"`
	Findings      []Entry `json:"findings"`
}

// Write writes entries in their order, those that are equal as one with a count.
func Write(w io.Writer, entries []Entry) error {
	doc := document{FormatVersion: Version, Findings: []Entry{}}
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, compare)
	for _, e := range entries {
		if n := len(doc.Findings); n > 0 && compare(doc.Findings[n-1], e) == 0 {
			doc.Findings[n-1].Count = min(max(doc.Findings[n-1].Count, 1)+max(e.Count, 1), mostAlike)
			continue
		}
		doc.Findings = append(doc.Findings, e)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

func compare(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Source, b.Source))
}

// Read reads the text of a file.
func Read(src []byte) ([]Known, *Mistake) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	r := reader{src: src, d: d}
	list, err := r.document()
	if err != nil {
		return nil, r.mistake(err)
	}
	return list, nil
}

type reader struct {
	src []byte
	d   *json.Decoder
	at  int // of the value at hand

	ours bool // it has a member that only such a list has
}

func (r *reader) document() ([]Known, error) {
	if err := r.open('{', "the file is an object with format_version and findings"); err != nil {
		return nil, err
	}
	var list []Known
	version, found := "", false
	for r.d.More() {
		r.next()
		key, err := r.d.Token()
		if err != nil {
			return nil, err
		}
		r.ours = r.ours || key == "format_version" || key == "findings"
		switch key {
		case "format_version":
			r.next()
			if err := r.d.Decode(&version); err != nil {
				return nil, err
			}
			if version != Version {
				return nil, fmt.Errorf("format_version is %q, this rocec reads %q", version, Version)
			}
		case "findings":
			if list, err = r.entries(); err != nil {
				return nil, err
			}
			found = true
		default:
			if !r.ours {
				return nil, errors.New("an object with format_version and findings is expected")
			}
			return nil, fmt.Errorf("there is no member %q", key)
		}
	}
	if _, err := r.d.Token(); err != nil {
		return nil, err
	}
	r.next()
	switch {
	case r.at < len(r.src):
		return nil, errors.New("something stands behind the object")
	case version == "":
		return nil, errors.New("format_version is missing")
	case !found:
		return nil, errors.New("findings is missing")
	}
	return list, nil
}

func (r *reader) entries() ([]Known, error) {
	if err := r.open('[', "findings is a list"); err != nil {
		return nil, err
	}
	var list []Known
	for r.d.More() {
		r.next()
		k := Known{Start: r.at}
		if r.at < len(r.src) && r.src[r.at] != '{' {
			return nil, errors.New("an entry is an object with rule, address and source")
		}
		if err := r.d.Decode(&k.Entry); err != nil {
			return nil, err
		}
		k.Len = int(r.d.InputOffset()) - k.Start
		switch {
		case k.Rule == "":
			return nil, errors.New("an entry names its rule")
		case k.Count < 0 || k.Count > mostAlike:
			return nil, fmt.Errorf("a count is not below 0 and not above %d", mostAlike)
		}
		list = append(list, k)
	}
	_, err := r.d.Token()
	return list, err
}

func (r *reader) open(mark json.Delim, otherwise string) error {
	r.next()
	t, err := r.d.Token()
	if err == nil && t != mark {
		err = errors.New(otherwise)
	}
	return err
}

// next goes to where the next value starts.
func (r *reader) next() {
	r.at = int(r.d.InputOffset())
	for r.at < len(r.src) && bytes.IndexByte([]byte(" \t\r\n,:"), r.src[r.at]) >= 0 {
		r.at++
	}
}

func (r *reader) mistake(err error) *Mistake {
	var syntax *json.SyntaxError
	m := &Mistake{Start: min(r.at, len(r.src)), Text: err.Error(), Ours: r.ours}
	switch {
	case errors.As(err, &syntax):
		m.Start = min(max(int(syntax.Offset)-1, 0), len(r.src))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		m.Start, m.Text = len(r.src), "the file ends too early"
	}
	return m
}

// Split says which findings of a folder are known, each entry standing for as
// many as it counts, and which entries of that folder stand for more than there
// are.
func Split(known []Known, folder string, found []Entry) (old []bool, stale []Known) {
	left := map[Entry]int{}
	for _, k := range known {
		left[k.key()] += max(k.Count, 1)
	}
	old = make([]bool, len(found))
	for i, e := range found {
		e.Folder = folder
		if k := e.key(); left[k] > 0 {
			left[k]--
			old[i] = true
		}
	}
	for _, k := range known {
		if key := k.key(); k.Folder == folder && left[key] > 0 {
			k.Count = left[key]
			left[key] = 0
			stale = append(stale, k)
		}
	}
	return old, stale
}

func (e Entry) key() Entry {
	e.Count = 0
	return e
}
