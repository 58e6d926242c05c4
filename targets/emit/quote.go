package emit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Shell is a text as one word of bash, quoted only where it has to be. The
// script must be run by bash: control characters come out as $'...'. A word
// that starts with a hyphen still reads as an option to the command it is given
// to; put "--" in front where the command knows it. NUL is an error.
func Shell(s string) (string, error) {
	q, err := syntax.Quote(s, syntax.LangBash)
	if err != nil {
		return "", fmt.Errorf("quote %s for the shell: %w", short(s), err)
	}
	return inBytes(q), nil
}

// inBytes writes the characters of $'...' that are escaped by number as their bytes: bash reads \u by the locale of whoever runs the
// script, and as it stands where that is C (bash(1), QUOTING).
func inBytes(q string) string {
	if !strings.HasPrefix(q, "$'") || !strings.Contains(strings.ToLower(q), `\u`) {
		return q
	}
	var b strings.Builder
	for i := 0; i < len(q); {
		digits := 0
		if q[i] == '\\' {
			digits = map[byte]int{'u': 4, 'U': 8}[q[i+1]]
		}
		if digits == 0 {
			n := 1
			if q[i] == '\\' {
				n = 2
			}
			b.WriteString(q[i : i+n])
			i += n
			continue
		}
		r, _ := strconv.ParseUint(q[i+2:i+2+digits], 16, 32) // as it was just written
		for _, c := range []byte(string(rune(r))) {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
		i += 2 + digits
	}
	return b.String()
}

// PowerShellText is any printable text as a single-quoted literal, in which only
// quotes are special: PowerShell takes U+0027 and U+2018 to U+201B alike, so each
// of them is doubled (as CodeGeneration.EscapeSingleQuotedStringContent does,
// PowerShell/PowerShell engine/lang/codegen.cs). It is for files that begin with a
// byte order mark (Artifact.Mark), which every PowerShell reads as what they are.
func PowerShellText(s string) (string, error) {
	if err := printable(s); err != nil {
		return "", fmt.Errorf("quote %s for PowerShell: %w", short(s), err)
	}
	return "'" + doubledQuotes.Replace(s) + "'", nil
}

// doubledQuotes is built once: a Windows script quotes hundreds of names.
var doubledQuotes = strings.NewReplacer("'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019", "\u201a", "\u201a\u201a", "\u201b", "\u201b\u201b")

// SystemdInstance is a text as the part of a unit's name behind the "@", by the
// rules of systemd-escape(1) (systemd.unit(5), string escaping): "/" becomes "-",
// and every byte but letters, digits, ":", "_" and "." becomes \xNN, as does a
// "." at the start.
func SystemdInstance(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '/':
			b.WriteByte('-')
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == ':', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String()
}

// printable names the first character that no quoting of a line-based language
// should carry.
func printable(s string) error {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return fmt.Errorf("byte 0x%02x is not UTF-8", s[i])
			}
		}
		if Unprintable(r) {
			return fmt.Errorf("%U is a control character", r)
		}
	}
	return nil
}

// short is a text for an error: quoted, and not longer than a line.
func short(s string) string {
	const most = 60
	if len(s) <= most {
		return fmt.Sprintf("%+q", s)
	}
	return fmt.Sprintf("%+q and %d bytes more", s[:most], len(s)-most)
}
