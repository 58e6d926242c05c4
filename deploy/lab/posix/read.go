package posix

import (
	"context"
	"io"
	"strings"

	"mvdan.cc/sh/v3/interp"
)

// read does what read -r does where IFS has characters that are no space, and returns
// the assignments that are left to do: the interpreter passes over empty fields. Any
// other read is the interpreter's.
func (s *shell) read(ctx context.Context, args []string) []string {
	hc := interp.HandlerCtx(ctx)
	ifs := hc.Env.Get("IFS")
	raw, array, names := false, "", args[1:]
	for len(names) > 0 && strings.HasPrefix(names[0], "-") {
		letters := names[0][1:]
		names = names[1:]
		for i, c := range letters {
			switch {
			case c == 'r':
				raw = true
			case c == 'a' && i == len(letters)-1 && len(names) > 0:
				array, names = names[0], names[1:]
			default:
				return args
			}
		}
	}
	if !ifs.IsSet() || strings.Trim(ifs.Str, " \t\n") == "" || !raw || (array == "") == (len(names) == 0) {
		return args
	}
	var line strings.Builder
	end := "\nfalse" // of a text without an end of line
	for b := []byte{0}; ; line.WriteByte(b[0]) {
		if _, err := io.ReadFull(hc.Stdin, b); err != nil {
			break
		}
		if b[0] == '\n' {
			end = ""
			break
		}
	}
	f := fields{ifs.Str, line.String()}
	f.rest = strings.TrimFunc(f.rest, f.space)
	var text strings.Builder
	if array != "" {
		text.WriteString(array + "=(")
		for f.rest != "" {
			text.WriteString(value(f.next()) + " ")
		}
		text.WriteString(")")
	}
	for i, name := range names {
		one := ""
		if rest := f.rest; rest != "" {
			if one = f.next(); i == len(names)-1 && f.rest != "" {
				one = rest
			}
		}
		text.WriteString(name + "=" + value(one) + "\n")
	}
	return []string{"eval", text.String() + end}
}

// value quotes for an assignment: there the interpreter leaves a backslash where it is.
func value(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" }

// fields splits text as bash does: between two fields stands one character of ifs
// that is no space, with any spaces of ifs around it, or such spaces alone.
type fields struct{ ifs, rest string }

func (f *fields) space(c rune) bool {
	return strings.ContainsRune(" \t\n", c) && strings.ContainsRune(f.ifs, c)
}

// next takes the first field off.
func (f *fields) next() string {
	end := strings.IndexAny(f.rest, f.ifs)
	if end < 0 {
		end = len(f.rest)
	}
	one := f.rest[:end]
	f.rest = strings.TrimLeftFunc(f.rest[end:], f.space)
	if f.rest != "" && (strings.IndexAny(f.rest, f.ifs) == 0) {
		f.rest = strings.TrimLeftFunc(f.rest[1:], f.space)
	}
	return one
}
