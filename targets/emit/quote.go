package emit

import (
	"errors"
	"fmt"
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
	return q, nil
}

// PowerShell is a text as a single-quoted literal, in which only quotes are
// special: PowerShell takes U+0027 and U+2018 to U+201B alike, so each of them
// is doubled (as CodeGeneration.EscapeSingleQuotedStringContent does,
// PowerShell/PowerShell engine/lang/codegen.cs). Scripts are pure ASCII, since
// Windows PowerShell 5.1 reads a file without a byte order mark in the ANSI
// code page; a character outside ASCII is therefore an error that names it, as
// is a control character. PowerShellASCII writes the former.
func PowerShell(s string) (string, error) {
	if err := powerShellText(s); err != nil {
		return "", err
	}
	for _, r := range s {
		if r > 0x7e {
			return "", fmt.Errorf("quote %s for PowerShell: %U (%c) is not ASCII", short(s), r, r)
		}
	}
	return singleQuoted(s), nil
}

// PowerShellText is any printable text as a single-quoted literal. It is for
// files that begin with a byte order mark (Artifact.Mark), which every PowerShell
// reads as what they are.
func PowerShellText(s string) (string, error) {
	if err := powerShellText(s); err != nil {
		return "", err
	}
	return singleQuoted(s), nil
}

// PowerShellASCII is any printable text as an expression in pure ASCII. It is
// what PowerShell yields where that can say it; else a concatenation in
// parentheses, ('caf' + [char]0x00e9), fit for an argument or an assignment.
// It starts with a string, so that "+" joins and does not add.
func PowerShellASCII(s string) (string, error) {
	if err := powerShellText(s); err != nil {
		return "", err
	}
	var parts []string
	for s != "" || len(parts) == 0 {
		n := strings.IndexFunc(s, func(r rune) bool { return r > 0x7e })
		if n < 0 {
			n = len(s)
		}
		if n > 0 || len(parts) == 0 {
			parts = append(parts, singleQuoted(s[:n]))
		}
		if s = s[n:]; s == "" {
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		if r > 0xffff { // .NET characters are UTF-16 units
			parts = append(parts, fmt.Sprintf("[char]::ConvertFromUtf32(0x%x)", r))
		} else {
			parts = append(parts, fmt.Sprintf("[char]0x%04x", r))
		}
		s = s[size:]
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return "(" + strings.Join(parts, " + ") + ")", nil
}

// PowerShellWildcard is a text as a single-quoted literal for parameters that
// take patterns, as -Name of the NetAdapter cmdlets does: the characters of
// patterns and the backtick, which escapes them, stand for themselves
// (WildcardPatternParser.Parse, PowerShell/PowerShell engine/regex.cs).
func PowerShellWildcard(s string) (string, error) {
	return PowerShell(strings.NewReplacer("`", "``", "*", "`*", "?", "`?", "[", "`[", "]", "`]").Replace(s))
}

// doubledQuotes is built once: a Windows script quotes hundreds of names.
var doubledQuotes = strings.NewReplacer("'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019", "\u201a", "\u201a\u201a", "\u201b", "\u201b\u201b")

func singleQuoted(s string) string { return "'" + doubledQuotes.Replace(s) + "'" }

func powerShellText(s string) error {
	if err := printable(s); err != nil {
		return fmt.Errorf("quote %s for PowerShell: %w", short(s), err)
	}
	return nil
}

// SystemdValue is a text as the whole value of a setting of a unit, .link or
// .network file that takes one string, such as Description=: percent signs are
// doubled, as they start specifiers (systemd.unit(5), SPECIFIERS). What the
// value cannot hold is an error: control characters, blanks at an end, which
// are stripped, and a backslash at the end, which joins lines
// (systemd.syntax(7)). Settings that take several words need SystemdWord.
func SystemdValue(s string) (string, error) {
	err := printable(s)
	switch {
	case err != nil:
	case s == "":
		err = errors.New("an empty value resets a setting")
	case strings.TrimSpace(s) != s:
		err = errors.New("blanks at its ends would be stripped")
	case strings.HasSuffix(s, `\`):
		err = errors.New("a backslash at its end would join lines")
	}
	if err != nil {
		return "", fmt.Errorf("write %s for systemd: %w", short(s), err)
	}
	return strings.ReplaceAll(s, "%", "%%"), nil
}

// SystemdWord is a text as one argument of an Exec line: in double quotes, with
// backslashes and quotes escaped (systemd.syntax(7), QUOTING), percent signs
// doubled (systemd.unit(5), SPECIFIERS) and dollar signs doubled
// (systemd.service(5), COMMAND LINES). Control characters are an error.
func SystemdWord(s string) (string, error) {
	if err := printable(s); err != nil {
		return "", fmt.Errorf("quote %s for systemd: %w", short(s), err)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(s) + `"`, nil
}

// SystemdInstance is a text as the part of a unit's name behind the "@", by the
// rules of systemd-escape(1): "/" becomes "-", and every byte but letters,
// digits, ":", "_" and "." becomes \xNN, as does a "." at the start. An empty
// text and NUL are errors.
func SystemdInstance(s string) (string, error) {
	if s == "" {
		return "", errors.New("name a unit: an instance must not be empty")
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == 0:
			return "", fmt.Errorf("name a unit after %s: a name cannot hold NUL", short(s))
		case c == '/':
			b.WriteByte('-')
		case c == '.' && i == 0:
			b.WriteString(`\x2e`)
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == ':', c == '_', c == '.':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String(), nil
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
