package main

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rocec/rocec/lang/diag"
)

// given is what has a line end in it on the command line and in the environment, or
// is the name of a file, so that no message gets a line that somebody else wrote.
type given struct{ broken []string }

// mostWords is how many words between "=" of one argument are looked at for themselves.
const mostWords = 5

// take notes each argument and ROCEC_ variable that has a line end, as a whole and what
// stands between "=" in it. An expression is no name: what it yields may be just itself.
func (g *given) take(args []string, env map[string]string) {
	for i, arg := range args {
		if strings.HasPrefix(strings.TrimLeft(arg, "-"), "expr=") || i > 0 && strings.TrimLeft(args[i-1], "-") == "expr" {
			continue
		}
		g.note(arg)
	}
	for name, value := range env {
		if strings.HasPrefix(name, "ROCEC_") {
			g.note(value)
		}
	}
	slices.SortFunc(g.broken, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
}

func (g *given) note(text string) {
	if !strings.Contains(text, "\n") {
		return
	}
	g.pieces(text)
	words := strings.SplitN(text, "=", mostWords)
	for from := range words {
		for to := len(words); to > from; to-- {
			if word := strings.Join(words[from:to], "="); strings.Contains(word, "\n") && strings.TrimSpace(word) != "" {
				g.broken = append(g.broken, word)
			}
		}
	}
}

// nearLineEnd is how much before and behind a line end tells it from others.
const nearLineEnd = 8

// pieces notes what stands around each line end of a text, as a message may hold a part
// of it: a file without the line that was asked for, a folder without its last name.
func (g *given) pieces(text string) {
	for i := range len(text) {
		if text[i] != '\n' {
			continue
		}
		from, to := max(i-nearLineEnd, 0), min(i+1+nearLineEnd, len(text))
		for from < i && !utf8.RuneStart(text[from]) {
			from++
		}
		for to < len(text) && !utf8.RuneStart(text[to]) {
			to--
		}
		if piece := text[from:to]; strings.TrimSpace(piece) != "" {
			g.broken = append(g.broken, piece)
		}
	}
}

// show writes the line ends of what was given as escapes.
func (g *given) show(text []byte) []byte {
	for _, word := range g.broken {
		text = bytes.ReplaceAll(text, []byte(word), []byte(diag.Printable(word)))
	}
	return text
}

// oneLine is the text of an error without the line ends of what was given and of the
// names of files.
func (g *given) oneLine(err error) string {
	names := given{g.broken}
	names.files(err)
	return string(names.show([]byte(err.Error())))
}

// files notes the names of files in an error.
func (g *given) files(err error) {
	switch e := err.(type) { //nolint:errorlint // each level is looked at
	case *fs.PathError:
		g.note(e.Path)
	case *os.LinkError:
		g.note(e.Old)
		g.note(e.New)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			g.files(one)
		}
	}
	if next := errors.Unwrap(err); next != nil {
		g.files(next)
	}
}
