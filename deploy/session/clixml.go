package session

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The mark before what PowerShell writes as objects.
const clixmlMark = "#< CLIXML"

// decodeCLIXML gives the text of what PowerShell wrote to stderr as objects: the
// lines of errors, warnings and the like. Progress is no text. What is none of
// PowerShell's, or is broken off, stays as it is.
func decodeCLIXML(b []byte) []byte {
	var out bytes.Buffer
	for {
		at := bytes.Index(b, []byte(clixmlMark))
		if at < 0 {
			out.Write(b)
			return out.Bytes()
		}
		out.Write(b[:at])
		text, length, ok := clixmlText(b[at+len(clixmlMark):])
		if !ok {
			out.Write(b[at:])
			return out.Bytes()
		}
		out.WriteString(text)
		b = b[at+len(clixmlMark)+length:]
	}
}

// clixmlText reads one Objs element, and any that follow it, and says how long they are.
func clixmlText(b []byte) (text string, length int, ok bool) {
	var out strings.Builder
	for {
		rest := bytes.TrimLeft(b[length:], "\r\n\t ")
		if !bytes.HasPrefix(rest, []byte("<Objs")) {
			return out.String(), length, ok
		}
		one, n, err := objsText(rest)
		if err != nil {
			return "", 0, false
		}
		length = len(b) - len(rest) + n
		out.WriteString(one)
		ok = true
	}
}

// objsText is the text of the strings that stand right below an Objs element and
// that have a stream's name, as <S S="Error">.
func objsText(b []byte) (text string, length int, err error) {
	d := xml.NewDecoder(bytes.NewReader(b))
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("no UTF-8") }
	var out strings.Builder
	depth, said := 0, false
	for {
		t, err := d.Token()
		if err != nil {
			return "", 0, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			depth++
			said = depth == 2 && t.Name.Local == "S" && stream(t) != "" && stream(t) != "progress"
		case xml.CharData:
			if said {
				out.WriteString(unescapeCLIXML(string(t)))
			}
		case xml.EndElement:
			said = false
			if depth--; depth == 0 {
				return out.String(), int(d.InputOffset()), nil
			}
		}
	}
}

func stream(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "S" {
			return strings.ToLower(a.Value)
		}
	}
	return ""
}

// [MS-PSRP] 2.2.5.3.2: a UTF-16 unit that XML cannot hold is written _xHHHH_.
var escaped = regexp.MustCompile(`(?:_[xX][0-9a-fA-F]{4}_)+`)

func unescapeCLIXML(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(run string) string {
		var units []uint16
		for ; len(run) > 0; run = run[7:] {
			u, err := strconv.ParseUint(run[2:6], 16, 16)
			if err != nil {
				return run
			}
			units = append(units, uint16(u))
		}
		return string(utf16.Decode(units))
	})
}
