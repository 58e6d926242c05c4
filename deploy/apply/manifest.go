package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"

	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/targets/emit"
)

// ManifestVersion is the format version of a manifest. Minor versions only add keys.
const ManifestVersion = "1.1"

// ManifestKind tells a manifest from a plan and a record.
const ManifestKind = "rocec manifest"

const (
	manifestPath     = "manifest.json"
	maxManifestBytes = 1 << 30
)

// Manifest says what a tree holds and what it was made from. The tool's version
// and the digests of the sources stand here and in no artifact. The fields are
// in the order of their keys, so that its encoding is canonical as it is.
type Manifest struct {
	Common        map[string]ManifestKit    `json:"common,omitempty"` // by folder, from the root of the tree
	Devices       map[string]ManifestDevice `json:"devices"`          // by name
	FormatVersion string                    `json:"format_version"`
	Kind          string                    `json:"kind"`
	RocecVersion  string                    `json:"rocec_version"`
	Sources       map[string]string         `json:"sources"`   // file -> "sha256:..."
	Variables     map[string]string         `json:"variables"` // variable from outside -> digest of its value
}

// ManifestDevice is one device of a manifest.
type ManifestDevice struct {
	Address   string             `json:"address"`
	Artifacts []ManifestArtifact `json:"artifacts"`        // in the order of the emitter
	Common    []string           `json:"common,omitempty"` // folders of the kits it needs
	Emitter   string             `json:"emitter"`
	Intent    string             `json:"intent_digest"`
	Output    string             `json:"output,omitempty"`
}

// ManifestKit is a set of files that devices share.
type ManifestKit struct {
	Artifacts []ManifestArtifact `json:"artifacts"`
	Digest    string             `json:"digest"`
}

// ManifestArtifact is one file of a device or a kit.
type ManifestArtifact struct {
	Mode   string    `json:"mode"` // "0755"
	Path   string    `json:"path"` // from the root of the tree
	Run    string    `json:"run,omitempty"`
	SHA256 string    `json:"sha256"` // "sha256:..."
	Step   emit.Step `json:"step"`
}

// Source is what a tree is made from, for its manifest.
type Source struct {
	RocecVersion string
	Sources      map[string]string // file -> "sha256:..."
	Variables    map[string]string // variable -> digest of its value
}

// newManifest is a manifest without devices.
func newManifest(src Source) *Manifest {
	return &Manifest{
		Kind: ManifestKind, FormatVersion: ManifestVersion, RocecVersion: src.RocecVersion,
		Sources: orEmpty(src.Sources), Variables: orEmpty(src.Variables), Devices: map[string]ManifestDevice{},
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func manifestDevice(d *Device) ManifestDevice {
	x := ManifestDevice{Address: d.Address, Emitter: d.Emitter, Output: d.Output, Intent: d.intentDigest(), Artifacts: manifestArtifacts(d.Folder(), d.Artifacts)}
	for _, k := range d.Kits {
		x.Common = append(x.Common, kitFolder(d.Output, k))
	}
	return x
}

func manifestKit(folder string, k *emit.Kit) ManifestKit {
	return ManifestKit{Digest: k.Digest, Artifacts: manifestArtifacts(folder, k.Artifacts)}
}

func manifestArtifacts(folder string, files []emit.Artifact) []ManifestArtifact {
	list := make([]ManifestArtifact, 0, len(files))
	for i := range files {
		a := &files[i]
		list = append(list, ManifestArtifact{
			Path: path.Join(folder, a.Path), SHA256: a.Digest(), Mode: mode(fs.FileMode(a.Mode)), Step: a.Step, Run: a.Run,
		})
	}
	return list
}

// kitFolder is where a kit lies in a tree.
func kitFolder(output string, k *emit.Kit) string { return path.Join(output, emit.KitFolder, k.Name) }

// mode is four octal digits.
func mode(m fs.FileMode) string {
	p := m.Perm()
	return string([]byte{'0', '0' + byte(p>>6&7), '0' + byte(p>>3&7), '0' + byte(p&7)})
}

// DecodeManifest reads a manifest. What is none, of an unknown format, or has
// paths that leave the tree, is an error.
func DecodeManifest(b []byte) (*Manifest, error) {
	var head struct {
		Kind          string `json:"kind"`
		FormatVersion string `json:"format_version"`
	}
	if err := record.Unmarshal(b, &head); err != nil {
		return nil, err
	}
	if head.Kind != ManifestKind {
		return nil, errors.New("it is not a manifest of rocec")
	}
	if err := record.CheckFormat(head.FormatVersion, ManifestVersion); err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := record.Unmarshal(b, m); err != nil {
		return nil, err
	}
	if m.Devices == nil {
		m.Devices = map[string]ManifestDevice{}
	}
	for name, d := range m.Devices {
		err := disk.CheckName(name)
		if err == nil && d.Output != "" {
			err = disk.CheckPath(d.Output)
		}
		for _, folder := range d.Common {
			if _, ok := m.Common[folder]; err == nil && !ok {
				err = fmt.Errorf("%s is not among the common folders", folder)
			}
		}
		if err = errors.Join(err, checkArtifacts(d.Artifacts)); err != nil {
			return nil, fmt.Errorf("device %q: %w", name, err)
		}
	}
	for folder, k := range m.Common {
		if err := errors.Join(disk.CheckPath(folder), checkArtifacts(k.Artifacts)); err != nil {
			return nil, fmt.Errorf("common folder %q: %w", folder, err)
		}
	}
	return m, nil
}

func checkArtifacts(list []ManifestArtifact) error {
	for _, a := range list {
		if err := disk.CheckPath(a.Path); err != nil {
			return err
		}
		if _, err := strconv.ParseUint(a.Mode, 8, 9); err != nil {
			return fmt.Errorf("mode of %s is %q", a.Path, a.Mode)
		}
	}
	return nil
}

// ReadManifest reads the manifest of a tree. It is an error that wraps
// fs.ErrNotExist when there is none.
func ReadManifest(dir string) (*Manifest, error) {
	file := filepath.Join(dir, manifestPath)
	b, err := disk.ReadFile(file, maxManifestBytes)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	m, err := DecodeManifest(b)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %s: %w", file, err)
	}
	return m, nil
}

// paths are the files that a manifest lists, those of kits included.
func (m *Manifest) paths() map[string]bool {
	set := map[string]bool{}
	if m == nil {
		return set
	}
	for _, d := range m.Devices {
		enter(set, d.Artifacts)
	}
	for _, k := range m.Common {
		enter(set, k.Artifacts)
	}
	return set
}

// pathsOf are the files of one device, without those of its kits.
func (m *Manifest) pathsOf(device string) map[string]bool {
	set := map[string]bool{}
	if m != nil {
		enter(set, m.Devices[device].Artifacts)
	}
	return set
}

func enter(set map[string]bool, list []ManifestArtifact) {
	for _, a := range list {
		set[a.Path] = true
	}
}

// keep takes over the devices of another manifest that are not in this one and
// that a function names, with their kits.
func (m *Manifest) keep(old *Manifest, wanted func(device string) bool) (kept []ManifestArtifact) {
	if old == nil || wanted == nil {
		return nil
	}
	for name, d := range old.Devices {
		if _, ok := m.Devices[name]; ok || !wanted(name) {
			continue
		}
		m.Devices[name] = d
		kept = append(kept, d.Artifacts...)
		for _, folder := range d.Common {
			if _, ok := m.Common[folder]; !ok {
				m.enterKit(folder, old.Common[folder])
				kept = append(kept, old.Common[folder].Artifacts...)
			}
		}
	}
	return kept
}

func (m *Manifest) enterKit(folder string, k ManifestKit) {
	if m.Common == nil {
		m.Common = map[string]ManifestKit{}
	}
	m.Common[folder] = k
}
