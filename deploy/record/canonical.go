package record

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Canonical is any value as JSON in the form that records, manifests and plans
// have: keys sorted at every level, two spaces, a line feed at the end.
func Canonical(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	w := &sorter{text: b, out: make([]byte, 0, 2*len(b))}
	if err := w.value(0); err != nil {
		return nil, err
	}
	return append(w.out, '\n'), nil
}

// sorter writes a compact JSON text, which is one as the library has made it, anew.
type sorter struct {
	text    []byte
	at      int
	out     []byte
	members []member // of the objects that are open
	room    []byte   // for those of one that has to be sorted
}

// member is a name of an object and where it stands in out with its value.
type member struct {
	name       string
	start, end int
}

func (s *sorter) value(depth int) error {
	switch s.text[s.at] {
	case '{':
		return s.object(depth)
	case '[':
		return s.list(depth)
	case '"':
		_, err := s.string()
		return err
	}
	n := bytes.IndexAny(s.text[s.at:], ",]}")
	if n < 0 {
		n = len(s.text) - s.at
	}
	s.out = append(s.out, s.text[s.at:s.at+n]...)
	s.at += n
	return nil
}

func (s *sorter) list(depth int) error {
	s.out = append(s.out, '[')
	if s.at++; s.text[s.at] == ']' {
		s.at++
		s.out = append(s.out, ']')
		return nil
	}
	for more := true; more; s.at++ {
		s.line(depth + 1)
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if more = s.text[s.at] == ','; more {
			s.out = append(s.out, ',')
		}
	}
	s.line(depth)
	s.out = append(s.out, ']')
	return nil
}

func (s *sorter) object(depth int) error {
	s.out = append(s.out, '{')
	if s.at++; s.text[s.at] == '}' {
		s.at++
		s.out = append(s.out, '}')
		return nil
	}
	first, begin := len(s.members), len(s.out)
	for more := true; more; s.at++ {
		s.line(depth + 1)
		start := len(s.out)
		name, err := s.string()
		if err != nil {
			return err
		}
		s.at++ // the colon
		s.out = append(s.out, ": "...)
		if err := s.value(depth + 1); err != nil {
			return err
		}
		s.members = append(s.members, member{name, start, len(s.out)})
		if more = s.text[s.at] == ','; more {
			s.out = append(s.out, ',')
		}
	}
	list := s.members[first:]
	byName := func(a, b member) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(list, byName) {
		slices.SortStableFunc(list, byName) // a name that is there twice: the last counts, and stays the last
		s.room = append(s.room[:0], s.out[begin:]...)
		s.out = s.out[:begin]
		for i, m := range list {
			if i > 0 {
				s.out = append(s.out, ',')
			}
			s.line(depth + 1)
			s.out = append(s.out, s.room[m.start-begin:m.end-begin]...)
		}
	}
	s.members = s.members[:first]
	s.line(depth)
	s.out = append(s.out, '}')
	return nil
}

func (s *sorter) line(depth int) {
	s.out = append(s.out, '\n')
	for range depth {
		s.out = append(s.out, "  "...)
	}
}

// string copies a text and returns it. One with escapes in it is written anew, as
// some are of use in HTML only.
func (s *sorter) string() (string, error) {
	end := skip(s.text, s.at)
	raw := s.text[s.at:end]
	s.at = end
	if bytes.IndexByte(raw, '\\') < 0 {
		s.out = append(s.out, raw...)
		return string(raw[1 : len(raw)-1]), nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return "", err
	}
	s.out = append(s.out, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...)
	return text, nil
}
