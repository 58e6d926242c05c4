// Package apply puts artifacts where an operator or a pipeline takes them from:
// a tree of files with a manifest (WriteTree, CheckTree, WriteTar), and bundles
// for manual delivery, whose devices are then recorded as handed over. It takes
// devices that are made one by one, and holds the files of a few of them at a
// time; it returns what is to be run on each device, in order. A tree is
// exchanged whole, a bundle device by device; whatever kills the process, no
// folder is half written, and what rocec did not write is never touched.
// Sessions to devices are left out.
package apply

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// Device is one device with everything its emitter wrote.
type Device struct {
	Name      string
	Address   string
	Emitter   string
	Output    string // folder of the target block inside the tree, "" for none
	Intent    *intent.Device
	Digest    string // of Intent; "" where nobody has computed it yet
	Artifacts []emit.Artifact
	Kits      []*emit.Kit       // files that it shares with other devices
	Captures  []targets.Probe   // what is run to read it back, where none of its files does
	Inputs    map[string]string // inputs of derived values, for the record
}

// Place is where the device's files go.
func (d *Device) Place() Place { return Place{d.Name, d.Output} }

// Folder is where the device's artifacts lie in a tree.
func (d *Device) Folder() string { return d.Place().Folder() }

// intentDigest is the digest of the device's intent.
func (d *Device) intentDigest() string {
	if d.Digest != "" {
		return d.Digest
	}
	return intent.Digest(d.Intent)
}

// Digests are the digests of the artifacts by path in the device's folder, and of
// the kits by what they are: a new version of a kit is a change and no new file.
func (d *Device) Digests() map[string]string {
	m := make(map[string]string, len(d.Artifacts)+len(d.Kits))
	for _, a := range d.Artifacts {
		m[a.Path] = a.Digest()
	}
	for _, k := range d.Kits {
		m[path.Join(emit.KitFolder, k.Base)] = k.Digest
	}
	return m
}

// File is one file of a tree.
type File struct {
	Path  string // from the root of the tree, forward slashes
	Mode  fs.FileMode
	Bytes []byte
}

// files are the files of a device, by path. Paths that some system could not
// hold, or that meet, are errors.
func (d *Device) files() ([]File, error) {
	list := make([]File, 0, len(d.Artifacts))
	folder := d.Folder()
	for i := range d.Artifacts {
		a := &d.Artifacts[i]
		if err := disk.CheckPath(a.Path); err != nil {
			return nil, fmt.Errorf("artifact of device %s: %w", d.Name, err)
		}
		list = append(list, File{path.Join(folder, a.Path), fs.FileMode(a.Mode) & fs.ModePerm, a.Bytes})
	}
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return list, meet(list)
}

// meet refuses paths that are one file, or a file and a folder, on a system
// that does not tell case apart. Lists are short: each path is held against each.
func meet(list []File) error {
	keys := make([]string, len(list))
	for i, f := range list {
		keys[i] = strings.ToLower(f.Path)
		if other := slices.Index(keys[:i], keys[i]); other >= 0 {
			return fmt.Errorf("%s and %s are one file where case does not count", list[other].Path, f.Path)
		}
	}
	for i, file := range keys {
		for j, key := range keys {
			if len(key) > len(file) && key[len(file)] == '/' && key[:len(file)] == file {
				return fmt.Errorf("%s is a file, and a folder of %s", list[i].Path, list[j].Path)
			}
		}
	}
	return nil
}

// Step is one artifact that an operator runs on a device.
type Step struct {
	Path string    // from the device's folder
	Run  string    // the command line
	Step emit.Step // apply, maintenance, verify or rollback
}

// Steps are what an operator runs on a device, in its folder: apply, then verify,
// in the order of the emitter; apart from these what needs a maintenance window,
// and last what goes back. Files of kits come after the device's own.
func (d *Device) Steps() []Step {
	var list []Step
	for _, s := range []emit.Step{emit.Apply, emit.Verify, emit.Maintenance, emit.Rollback} {
		put := func(folder string, files []emit.Artifact) {
			for _, a := range files {
				if a.Step == s && a.Run != "" {
					list = append(list, Step{path.Join(folder, a.Path), a.Run, s})
				}
			}
		}
		put("", d.Artifacts)
		for _, k := range d.Kits {
			put(k.Folder(), k.Artifacts)
		}
	}
	return list
}

// SourcesDigest is one digest over the sources and variables of a compilation,
// by name.
func SourcesDigest(sources, variables map[string]string) string {
	var b strings.Builder
	for _, m := range []map[string]string{sources, variables} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(&b, "%q %q\n", name, m[name])
		}
		b.WriteByte('\n')
	}
	return record.Digest([]byte(b.String()))
}
