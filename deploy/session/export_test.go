package session

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
