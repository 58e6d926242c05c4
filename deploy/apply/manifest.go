package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/targets/emit"
)

// ManifestVersion is the format version of a manifest. Minor versions only add keys.
const ManifestVersion = "1.0"

const (
	manifestPath     = "manifest.json"
	manifestKind     = "rocec manifest"
	maxManifestBytes = 1 << 30
)

// Manifest says what a tree holds and what it was made from. The tool's version
// and the digests of the sources stand here and in no artifact.
type Manifest struct {
	Kind          string                    `json:"kind"`
	FormatVersion string                    `json:"format_version"`
	RocecVersion  string                    `json:"rocec_version"`
	Sources       map[string]string         `json:"sources"`   // file -> "sha256:..."
	Variables     map[string]string         `json:"variables"` // variable from outside -> digest of its value
	Devices       map[string]ManifestDevice `json:"devices"`   // by name
}

// ManifestDevice is one device of a manifest.
type ManifestDevice struct {
	Address   string             `json:"address"`
	Emitter   string             `json:"emitter"`
	Output    string             `json:"output,omitempty"`
	Intent    string             `json:"intent_digest"`
	Artifacts []ManifestArtifact `json:"artifacts"` // in the order of the emitter
}

// ManifestArtifact is one file of a device.
type ManifestArtifact struct {
	Path   string    `json:"path"`   // from the root of the tree
	SHA256 string    `json:"sha256"` // "sha256:..."
	Mode   string    `json:"mode"`   // "0755"
	Step   emit.Step `json:"step"`
	Run    string    `json:"run,omitempty"`
}

// Source is what a tree is made from, for its manifest.
type Source struct {
	RocecVersion string
	Sources      map[string]string // file -> "sha256:..."
	Variables    map[string]string // variable -> digest of its value
}

// NewManifest is the manifest of devices.
func NewManifest(src Source, devices []Device) *Manifest {
	m := &Manifest{
		Kind: manifestKind, FormatVersion: ManifestVersion, RocecVersion: src.RocecVersion,
		Sources: orEmpty(src.Sources), Variables: orEmpty(src.Variables), Devices: map[string]ManifestDevice{},
	}
	for i := range devices {
		m.Devices[devices[i].Name] = manifestDevice(&devices[i])
	}
	return m
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func manifestDevice(d *Device) ManifestDevice {
	x := ManifestDevice{Address: d.Address, Emitter: d.Emitter, Output: d.Output, Intent: intent.Digest(d.Intent), Artifacts: []ManifestArtifact{}}
	for _, a := range d.Artifacts {
		x.Artifacts = append(x.Artifacts, ManifestArtifact{
			Path: path.Join(d.Folder(), a.Path), SHA256: record.Digest(a.Bytes), Mode: mode(fs.FileMode(a.Mode)), Step: a.Step, Run: a.Run,
		})
	}
	return x
}

func mode(m fs.FileMode) string { return fmt.Sprintf("%04o", m.Perm()) }

// Encode is the manifest as its file holds it.
func (m *Manifest) Encode() ([]byte, error) { return record.Canonical(m) }

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
	if head.Kind != manifestKind {
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
		for _, a := range d.Artifacts {
			if err == nil {
				err = disk.CheckPath(a.Path)
			}
			if _, e := strconv.ParseUint(a.Mode, 8, 9); err == nil && e != nil {
				err = fmt.Errorf("mode of %s is %q", a.Path, a.Mode)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("device %q: %w", name, err)
		}
	}
	return m, nil
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

// paths are the files that a manifest lists, of one device or, with "", of all.
func (m *Manifest) paths(device string) map[string]bool {
	set := map[string]bool{}
	if m == nil {
		return set
	}
	for name, d := range m.Devices {
		if device != "" && name != device {
			continue
		}
		for _, a := range d.Artifacts {
			set[a.Path] = true
		}
	}
	return set
}
