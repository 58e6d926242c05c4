package session

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// Parsers of what comes from outside.
var (
	DecodeCLIXML = decodeCLIXML
	Plain        = plain
)

// ParsePin reads a pinned key and writes it as messages do.
func ParsePin(s string) (string, error) {
	p, err := parsePin(s)
	return p.String(), err
}

// Wildcard matches a name against a pattern.
var Wildcard = wildcard

// KnownLines are the numbers of the lines of a file that are for a name as it
// stands there, revoked keys aside.
func KnownLines(path, name string) ([]int, error) {
	k, err := new(knownFiles).open([]string{path}, true)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, l := range k.lines {
		if l.match([]string{name})[0] {
			found = append(found, l.line)
		}
	}
	return found, nil
}

// PowerShellScript is the script that a line of PowerShellLine runs; false
// for any other line.
func PowerShellScript(line string) (string, bool) {
	coded, ok := strings.CutPrefix(line, encodedPrefix)
	b, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(b)%2 != 0 {
		return "", false
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	script, ok := strings.CutPrefix(string(utf16.Decode(units)), powerShellStart)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(script, powerShellEnd)
}
