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

// fixFiles writes files in the words of the newest edition, in memory.
func (a *app) fixFiles(files, args []string, recursive bool) (map[string]format.Fixed, error) {
	out := map[string]format.Fixed{}
	folders := map[string][]string{}
	for _, name := range files {
		dir := filepath.Dir(name)
		folders[dir] = append(folders[dir], filepath.Clean(name))
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		asked := folders[dir]
		of, err := configuration(dir)
		if err != nil {
			return nil, err
		}
		texts := map[string][]byte{}
		for _, name := range slices.Concat(of, asked) {
			if texts[name], err = readFile(name); err != nil {
				return nil, err
			}
			if notText(texts[name]) != "" {
				texts[name] = []byte("=") // not read, and not in the words of any edition
			}
		}
		whole := inFolders(dir, args, recursive)
		fixed, done := format.Folder(texts, func(name string) bool { return slices.Contains(asked, name) }, whole)
		maps.Copy(out, fixed)
		if !done && whole {
			fmt.Fprintf(a.err, "%s: language = %d is not written, as something is left to do by hand\n", dir, schema.Language)
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
func fixStream(src []byte) format.Fixed {
	out, _ := format.Folder(map[string][]byte{"-.roce.hcl": src}, func(string) bool { return true }, false)
	return out["-.roce.hcl"]
}

// problemAt is where a problem is, as fmt writes it.
func problemAt(name string, p format.Problem) string {
	return name + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) + ": " + p.Message
}
