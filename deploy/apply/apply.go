// Package apply puts artifacts where an operator or a pipeline takes them from:
// a tree of files with a manifest (WriteTree, CheckTree, WriteTar), and bundles
// for manual delivery, whose devices are then recorded as handed over. It takes
// devices with their artifacts; it returns what is to be run on each device, in
// order. A tree is exchanged whole, a bundle device by device; whatever kills
// the process, no folder is half written, and what rocec did not write is never
// touched. Sessions to devices are left out.
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
	"github.com/rocec/rocec/targets/emit"
)

// Device is one device with everything its emitter wrote.
type Device struct {
	Name      string
	Address   string
	Emitter   string
	Output    string // folder of the target block inside the tree, "" for none
	Intent    *intent.Device
	Artifacts []emit.Artifact
	Inputs    map[string]string // inputs of derived values, for the record
}

// Folder is where the device's artifacts lie in a tree.
func (d *Device) Folder() string { return path.Join(d.Output, d.Name) }

// Digests are the digests of the artifacts by path in the device's folder.
func (d *Device) Digests() map[string]string {
	m := make(map[string]string, len(d.Artifacts))
	for _, a := range d.Artifacts {
		m[a.Path] = record.Digest(a.Bytes)
	}
	return m
}

// File is one file of a tree.
type File struct {
	Path  string // from the root of the tree, forward slashes
	Mode  fs.FileMode
	Bytes []byte
}

// files are the files of devices, by path. Names and paths that some system
// could not hold, or that meet, are errors.
func files(devices []Device) ([]File, error) {
	var list []File
	names := map[string]string{}
	for i := range devices {
		d := &devices[i]
		if err := disk.CheckName(d.Name); err != nil {
			return nil, fmt.Errorf("device %w", err)
		}
		if d.Output != "" {
			if err := disk.CheckPath(d.Output); err != nil {
				return nil, fmt.Errorf("output of device %s: %w", d.Name, err)
			}
		}
		if other, taken := names[strings.ToLower(d.Name)]; taken {
			return nil, fmt.Errorf("device %s is there twice, as %s", d.Name, other)
		}
		names[strings.ToLower(d.Name)] = d.Name
		for _, a := range d.Artifacts {
			if err := disk.CheckPath(a.Path); err != nil {
				return nil, fmt.Errorf("artifact of device %s: %w", d.Name, err)
			}
			list = append(list, File{path.Join(d.Folder(), a.Path), fs.FileMode(a.Mode) & fs.ModePerm, a.Bytes})
		}
	}
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return list, meet(list, devices)
}

// meet refuses paths that are one file, or a file and a folder, on a system
// that does not tell case apart, and a device's folder inside another's.
func meet(list []File, devices []Device) error {
	taken := map[string]string{manifestPath: manifestPath}
	dirs := map[string]string{}
	for _, f := range list {
		key := strings.ToLower(f.Path)
		if other, ok := taken[key]; ok {
			return fmt.Errorf("%s and %s are one file where case does not count", other, f.Path)
		}
		taken[key] = f.Path
		for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = f.Path
		}
	}
	for key, f := range taken {
		if other, ok := dirs[key]; ok {
			return fmt.Errorf("%s is a file, and a folder of %s", f, other)
		}
	}
	folders := map[string]string{}
	for i := range devices {
		folders[strings.ToLower(devices[i].Folder())] = devices[i].Name
	}
	for folder, name := range folders {
		for dir := path.Dir(folder); dir != "."; dir = path.Dir(dir) {
			if other, ok := folders[dir]; ok {
				return fmt.Errorf("the folder of device %s lies in that of %s", name, other)
			}
		}
	}
	return nil
}

// Step is one artifact that an operator runs on a device.
type Step struct {
	Path string    // in the device's folder
	Run  string    // the command line
	Step emit.Step // apply, maintenance, verify or rollback
}

// Steps are what an operator runs on a device: apply, then verify, in the order
// of the emitter; apart from these what needs a maintenance window, and last
// what goes back.
func (d *Device) Steps() []Step {
	var list []Step
	for _, s := range []emit.Step{emit.Apply, emit.Verify, emit.Maintenance, emit.Rollback} {
		for _, a := range d.Artifacts {
			if a.Step == s && a.Run != "" {
				list = append(list, Step{a.Path, a.Run, s})
			}
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
