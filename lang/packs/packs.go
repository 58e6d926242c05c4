// Package packs holds the capability data that rocec ships: switch chips and
// switches, NICs, cables, PCI Express generations, contracts to start from, and
// the headroom tables of SONiC platforms. It hands out the files as they are
// written, in the language itself, with an index of what stands where, and the
// rows of a table as values. It evaluates and judges nothing, and it invents
// nothing: every block names its source, and what no source states is missing.
package packs

import (
	"embed"
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"sync"
)

//go:embed *.roce.hcl index.json
var files embed.FS

// Files is the tree of the data, with an index.json at its top that gives the
// file of each block by kind and name.
func Files() fs.FS { return files }

// index is read when something asks for it: compiling a fabric does not, since
// the loader reads index.json by itself.
var index = sync.OnceValue(func() map[string]map[string]string {
	src, err := files.ReadFile("index.json")
	if err != nil {
		panic(err) // it is embedded
	}
	var ix map[string]map[string]string
	if err := json.Unmarshal(src, &ix); err != nil {
		panic(err) // a test reads it
	}
	return ix
})

// Index gives the file of each block, by the word of its kind ("switch_model",
// "qos") and its name. The result is the caller's own.
func Index() map[string]map[string]string {
	ix := make(map[string]map[string]string, len(index()))
	for kind, names := range index() {
		ix[kind] = maps.Clone(names)
	}
	return ix
}

// Names lists the names of all blocks in order, each once.
func Names() []string {
	var names []string
	for _, of := range index() {
		names = slices.AppendSeq(names, maps.Keys(of))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// FileOf is the file that a block stands in. Where several kinds have a block
// of that name, the kind that is first in the alphabet answers.
func FileOf(name string) (file string, ok bool) {
	ix := index()
	for _, kind := range slices.Sorted(maps.Keys(ix)) {
		if file, ok = ix[kind][name]; ok {
			return file, true
		}
	}
	return "", false
}
