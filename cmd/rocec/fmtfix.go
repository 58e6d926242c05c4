package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/schema"
)

// wording is a file in the words of the newest edition of the language.
type wording struct {
	text    []byte
	left    []format.Problem // what is to be done by hand
	problem *format.Problem
}

// done reports whether nothing is left to do.
func (w wording) done() bool { return w.problem == nil && len(w.left) == 0 }

// fixFiles writes files in the words of the newest edition, in memory. A folder whose files all are in them afterwards says so: in the
// `rocec` block that it has, or, where the folder as a whole was asked for, in a new one in its first file.
func (a *app) fixFiles(files, args []string, recursive bool) (map[string]wording, error) {
	out := map[string]wording{}
	folders := map[string][]string{}
	for _, name := range files {
		dir := filepath.Dir(name)
		folders[dir] = append(folders[dir], name)
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		asked := folders[dir]
		of, err := configuration(dir)
		if err != nil {
			return nil, err
		}
		texts := map[string][]byte{}
		edition, named := 0, ""
		for _, name := range slices.Concat(of, asked) {
			src, err := readFile(name)
			if err != nil {
				return nil, err
			}
			if texts[name] = src; !slices.Contains(of, name) {
				continue
			}
			e, has := format.Language(name, src)
			if edition = max(edition, e); has {
				named = name
			}
		}
		done := true
		for name, src := range texts {
			if notText(src) != "" {
				done = false
				continue
			}
			var w wording
			w.text, w.left, w.problem = format.Fix(name, src, edition)
			asked := slices.Contains(asked, name)
			if asked {
				out[name] = w
			}
			if slices.Contains(of, name) {
				done = done && w.done() && (asked || string(w.text) == string(src))
			}
		}
		if edition > 0 || len(of) == 0 {
			continue
		}
		switch whole := inFolders(dir, args, recursive); {
		case !done && whole:
			fmt.Fprintf(a.err, "%s: language = %d is not written, as something is left to do by hand\n", dir, schema.Language)
			continue
		case !done, named == "" && !whole:
			continue
		case named == "":
			named = of[0]
		}
		if w, ok := out[named]; ok {
			w.text, w.problem = format.SetLanguage(named, w.text)
			out[named] = w
		}
	}
	return out, nil
}

// configuration lists the files of a folder that a fabric is read from, by name.
func configuration(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if n := e.Name(); !e.IsDir() && !strings.HasPrefix(n, ".") && (strings.HasSuffix(n, ".roce.hcl") || strings.HasSuffix(n, ".roce.json")) {
			list = append(list, filepath.Join(dir, n))
		}
	}
	return list, nil
}

// inFolders reports whether a folder as a whole is among what was asked for.
func inFolders(dir string, args []string, recursive bool) bool {
	if len(args) == 0 {
		args = []string{"."}
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			return false
		}
		rel, err := filepath.Rel(arg, dir)
		return err == nil && (rel == "." || recursive && filepath.IsLocal(rel))
	})
}

// fixStream is fixFiles for standard input, which is taken as the whole of a folder if it has a `rocec` block.
func fixStream(src []byte) wording {
	edition, has := format.Language("-", src)
	var w wording
	if w.text, w.left, w.problem = format.Fix("-", src, edition); w.done() && edition == 0 && has {
		w.text, w.problem = format.SetLanguage("-", w.text)
	}
	return w
}

// problemAt is where a problem is, as fmt writes it.
func problemAt(name string, p format.Problem) string {
	return name + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) + ": " + p.Message
}
