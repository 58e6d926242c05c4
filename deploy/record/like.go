package record

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/rocec/rocec/compiler/intent"
)

// decodeLike reads an entry by what its intent should be, and the digest of that:
// most of an entry is the text of its intent, and most of that is mostly the text
// of the other. It is compared, and only what differs is decoded. An entry of
// exactly this intent comes without Intent and Inputs. It knows the form that
// Encode writes only, and returns nil for anything else, right or wrong.
func decodeLike(b []byte, workspace string, want *intent.Device, digest string) *Entry {
	const mark = "\n  \"intent\": "
	first := bytes.Index(b, []byte(mark+"{\n"))
	last := bytes.LastIndex(b, []byte("\n  },\n  \"intent_digest\": ")) // a raw line feed is in no string
	if first < 0 || last < first {
		return nil
	}
	text, sorted := b[first+len(mark):last+len("\n  }")], intent.Sorted(want)
	same := spaced(text, sorted)
	if inputs := bytes.Index(b[:first], []byte("\n  \"inputs\": {\n")); same && inputs >= 0 {
		first = inputs
	}
	head := make([]byte, 0, first+len(b)-last)
	head = append(append(head, b[:first]...), b[last+len("\n  },"):]...)
	e := &Entry{}
	if json.Unmarshal(head, e) != nil || e.Intent != nil || CheckFormat(e.FormatVersion, FormatVersion) != nil {
		return nil
	}
	if same {
		if e.IntentDigest != digest || errors.Join(e.checkPlace(workspace, want.Name), e.checkDigests()) != nil {
			return nil
		}
		return e
	}
	if e.Intent = deviceLike(text, sorted, want); e.Intent == nil || e.check(workspace, want.Name) != nil {
		return nil
	}
	return e
}

// deviceLike decodes a device. Ports and whatever else it has many of come from
// another device, whose compact text is given, where they stand there alike. It is
// nil if that cannot be told.
func deviceLike(text, compact []byte, other *intent.Device) *intent.Device {
	have, ok := members(text)
	if !ok {
		return nil
	}
	known, ok := members(compact)
	if !ok {
		return nil
	}
	d := &intent.Device{}
	rest := []byte{'{'}
	for name, value := range have {
		ok := true
		switch name {
		case "ports":
			d.Ports, ok = listLike(value, known[name], other.Ports)
		case "lags":
			d.LAGs, ok = listLike(value, known[name], other.LAGs)
		case "ifaces":
			d.Ifaces, ok = listLike(value, known[name], other.Ifaces)
		case "vlans":
			d.VLANs, ok = listLike(value, known[name], other.VLANs)
		case "qos":
			d.QoS, ok = listLike(value, known[name], other.QoS)
		default:
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			rest = append(append(append(append(rest, '"'), name...), `":`...), value...)
		}
		if !ok {
			return nil
		}
	}
	if json.Unmarshal(append(rest, '}'), d) != nil {
		return nil
	}
	return d
}

// listLike decodes a list, of which it takes from another one what is alike at the
// same place.
func listLike[T any](text, compact []byte, other []T) ([]T, bool) {
	have, ok := elements(text)
	if !ok {
		return nil, false
	}
	var known [][]byte
	if compact != nil {
		if known, ok = elements(compact); !ok || len(known) != len(other) {
			return nil, false
		}
	}
	list := make([]T, len(have))
	for i, element := range have {
		if i < len(known) && spaced(element, known[i]) {
			list[i] = other[i]
		} else if json.Unmarshal(element, &list[i]) != nil {
			return nil, false
		}
	}
	return list, true
}

// members are the values of a JSON object by their names. It is false for names
// that are not written as those of an intent are, which the library takes for one
// of them, or that stand there twice, and for what is no object; the values may be
// no JSON.
func members(text []byte) (map[string][]byte, bool) {
	m := map[string][]byte{}
	ok := parts(text, '{', '}', func(part []byte) bool {
		end := skip(part, 0)
		if part[0] != '"' || end < 0 || len(bytes.Trim(part[1:end-1], "abcdefghijklmnopqrstuvwxyz0123456789_")) > 0 {
			return false
		}
		name, value := string(part[1:end-1]), bytes.TrimLeft(part[end:], blanks)
		if _, twice := m[name]; twice || len(value) == 0 || value[0] != ':' {
			return false
		}
		m[name] = bytes.TrimLeft(value[1:], blanks)
		return len(m[name]) > 0
	})
	return m, ok
}

// elements are those of a JSON list, each of which may be no JSON.
func elements(text []byte) (list [][]byte, ok bool) {
	ok = parts(text, '[', ']', func(part []byte) bool { list = append(list, part); return true })
	return list, ok
}

const blanks = " \t\r\n"

// parts yields what stands between the commas of an object or list, without the
// blanks around it.
func parts(text []byte, first, last byte, yield func([]byte) bool) bool {
	text = bytes.Trim(text, blanks)
	if len(text) < 2 || text[0] != first || text[len(text)-1] != last {
		return false
	}
	if text = bytes.Trim(text[1:len(text)-1], blanks); len(text) == 0 {
		return true
	}
	start := 0
	for i := 0; i < len(text); {
		if text[i] != ',' {
			if i = skip(text, i); i < 0 {
				return false
			}
			if i < len(text) {
				continue
			}
		}
		part := bytes.Trim(text[start:i], blanks)
		if len(part) == 0 || !yield(part) {
			return false
		}
		i++
		start = i
		if i == len(text) {
			return false // a comma and nothing behind it
		}
	}
	return true
}

// skip is the place behind a string, an object or a list that begins at i, and
// the next one behind any other byte; negative if it does not end.
func skip(text []byte, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				return -1
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth < 0 {
			return -1
		}
		if depth == 0 {
			return i + 1
		}
	}
	return -1
}

// spaced reports whether a text is compact JSON with white space added between
// its words.
func spaced(text, compact []byte) bool {
	quoted, last, apart := false, byte(0), false // the last byte that was no blank, and whether blanks follow it
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !quoted && (c == ' ' || c == '\n') {
			apart = true
			continue
		}
		if len(compact) == 0 || compact[0] != c || apart && inWord(last) && inWord(c) {
			return false
		}
		compact, last, apart = compact[1:], c, false
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted: // what it escapes is no quote
			if i++; i == len(text) || len(compact) == 0 || compact[0] != text[i] {
				return false
			}
			compact = compact[1:]
		}
	}
	return len(compact) == 0
}

// inWord reports whether a byte may stand in a number or another word, of which
// blanks would make two.
func inWord(c byte) bool { return !bytes.ContainsRune([]byte("{}[],:\""), rune(c)) }
