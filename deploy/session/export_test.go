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
