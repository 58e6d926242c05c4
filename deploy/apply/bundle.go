package apply

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/emit"
)

// Delivery is what a bundle handed over.
type Delivery struct {
	Dir     string
	Devices []Handed // in the order given
	Removed []string // devices that rocec no longer manages
}

// Handed is one device that was handed over.
type Handed struct {
	Name    string
	Address string
	Folder  string // on this machine
	Changed bool   // files were written; false: they were there already
	Steps   []Step
}

// pendingManifest is the next manifest of a bundle while its devices are being
// exchanged: what it lists is rocec's too, should the process die.
const pendingManifest = ".manifest.rocec-next.json"

// stagePrefix is that of stages inside a bundle.
const stagePrefix = ".rocec-stage-"

// Bundle writes each device's artifacts into dir/<output>/<device>/ and records
// it as handed over. A device's folder is exchanged whole, and only if its
// files differ; files in it that rocec did not write are kept. Devices of an
// earlier bundle that are not among these stay, but for those in removed, which
// leave the bundle and the record. The record is written after the files are on
// the disk: an error or a crash leaves every device whole, and running again
// completes it. The lock must be held by the caller.
func Bundle(dir string, src Source, devices []Device, removed []string, lock *record.Lock) (*Delivery, error) {
	d, err := bundle(dir, src, devices, removed, lock)
	if err != nil {
		return nil, fmt.Errorf("write bundle %s: %w", dir, err)
	}
	return d, nil
}

func bundle(dir string, src Source, devices []Device, removed []string, lock *record.Lock) (*Delivery, error) {
	list, err := files(devices)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := sweep(dir, stagePrefix); err != nil {
		return nil, err
	}
	if err := sweepManifests(dir); err != nil {
		return nil, err
	}
	old, pending, err := bundleOwner(dir)
	if err != nil {
		return nil, err
	}
	next, err := nextManifest(src, devices, removed, old)
	if err != nil {
		return nil, err
	}
	encoded, err := next.Encode()
	if err != nil {
		return nil, err
	}
	if err := disk.WriteFile(filepath.Join(dir, pendingManifest), encoded, 0o644); err != nil {
		return nil, err
	}
	out := &Delivery{Dir: dir}
	for i := range devices {
		h, err := hand(dir, &devices[i], list, old, pending)
		if err != nil {
			return nil, fmt.Errorf("device %s: %w", devices[i].Name, err)
		}
		out.Devices = append(out.Devices, h)
	}
	for _, name := range removed {
		if err := withdraw(dir, name, old, pending); err != nil {
			return nil, fmt.Errorf("device %s: %w", name, err)
		}
		out.Removed = append(out.Removed, name)
	}
	if err := disk.WriteFile(filepath.Join(dir, manifestPath), encoded, 0o644); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(dir, pendingManifest)); err != nil {
		return nil, err
	}
	return out, note(src, devices, removed, lock)
}

// leftover is the form of manifests that a process died in writing: a dot, the
// name, a number. Nobody else writes them while the record is locked.
var leftover = regexp.MustCompile(`^\.(manifest\.json|\.manifest\.rocec-next\.json)[0-9]+$`)

func sweepManifests(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && leftover.MatchString(e.Name()) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// bundleOwner reads the manifest of a bundle and the one that a process left
// pending; a folder with other things in it and neither of them is foreign.
func bundleOwner(dir string) (old, pending *Manifest, err error) {
	b, err := disk.ReadFile(filepath.Join(dir, pendingManifest), maxManifestBytes)
	if err == nil {
		pending, err = DecodeManifest(b)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", pendingManifest, err)
	}
	old, err = owner(dir)
	var foreign *ForeignError
	if errors.As(err, &foreign) && pending != nil {
		return nil, pending, nil
	}
	return old, pending, err
}

// nextManifest is that of these devices and of those of the old bundle that
// stay as they are.
func nextManifest(src Source, devices []Device, removed []string, old *Manifest) (*Manifest, error) {
	next := NewManifest(src, devices)
	if old == nil {
		return next, nil
	}
	folders := map[string]string{}
	for name, d := range next.Devices {
		folders[strings.ToLower(path.Join(d.Output, name))] = name
	}
	for name, d := range old.Devices {
		if _, ok := next.Devices[name]; ok || slices.Contains(removed, name) {
			continue
		}
		if other, ok := folders[strings.ToLower(path.Join(d.Output, name))]; ok {
			return nil, fmt.Errorf("the bundle has device %s, which differs from %s in case only", name, other)
		}
		next.Devices[name] = d
	}
	return next, nil
}

// hand puts one device's files in place.
func hand(dir string, d *Device, list []File, old, pending *Manifest) (h Handed, err error) {
	folder := d.Folder()
	h = Handed{Name: d.Name, Address: d.Address, Folder: filepath.Join(dir, filepath.FromSlash(folder)), Steps: d.Steps()}
	own, _ := slices.BinarySearchFunc(list, folder+"/", func(f File, p string) int { return strings.Compare(f.Path, p) })
	var fresh []File
	for _, f := range list[own:] {
		p, ok := strings.CutPrefix(f.Path, folder+"/")
		if !ok {
			break
		}
		fresh = append(fresh, File{p, f.Mode, f.Bytes})
	}
	owned := within(folder, old.paths(d.Name), pending.paths(d.Name))
	// A device that moves to another folder leaves its old one.
	if was, ok := deviceOf(old, d.Name); ok && path.Join(was.Output, d.Name) != folder {
		if err := withdraw(dir, d.Name, old, nil); err != nil {
			return h, err
		}
	}
	if unchanged(h.Folder, fresh, maps.Clone(owned)) {
		return h, nil
	}
	s, err := newStage(dir, stagePrefix)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.fill(fresh, h.Folder, owned); err != nil {
		return h, err
	}
	h.Changed = true
	return h, s.swap(folder)
}

func deviceOf(m *Manifest, name string) (ManifestDevice, bool) {
	if m == nil {
		return ManifestDevice{}, false
	}
	d, ok := m.Devices[name]
	return d, ok
}

// within are the paths of several sets that lie in a folder, from there on.
func within(folder string, sets ...map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, set := range sets {
		for p := range set {
			if tail, ok := strings.CutPrefix(p, folder+"/"); ok {
				out[tail] = true
			}
		}
	}
	return out
}

// withdraw removes the files of a device from a bundle, and its folder unless
// something else is in it.
func withdraw(dir, name string, manifests ...*Manifest) (err error) {
	for _, m := range manifests {
		d, ok := deviceOf(m, name)
		if !ok {
			continue
		}
		folder := path.Join(d.Output, name)
		place := filepath.Join(dir, filepath.FromSlash(folder))
		if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		s, err := newStage(dir, stagePrefix)
		if err != nil {
			return err
		}
		err = s.fill(nil, place, within(folder, m.paths(name)))
		if err == nil {
			err = s.swap(folder)
		}
		if err = errors.Join(err, s.close()); err != nil {
			return err
		}
		_ = os.Remove(place) // stays if something is in it
	}
	return nil
}

// note records the devices. An entry of the same files stays as it is, be it
// handed over or applied.
func note(src Source, devices []Device, removed []string, lock *record.Lock) error {
	store := lock.Store()
	sources := SourcesDigest(src.Sources, src.Variables)
	for i := range devices {
		d := &devices[i]
		e := &record.Entry{
			Device: d.Name, Address: d.Address, Emitter: d.Emitter, Output: d.Output, Status: record.HandedOver,
			IntentDigest: intent.Digest(d.Intent), SourcesDigest: sources, Artifacts: d.Digests(), Options: d.Intent.Options, Inputs: d.Inputs, Intent: d.Intent,
		}
		before, version, err := store.Get(d.Name)
		if err != nil {
			return err
		}
		if before != nil && before.Address == e.Address && before.Emitter == e.Emitter && before.Output == e.Output &&
			before.IntentDigest == e.IntentDigest && maps.Equal(before.Artifacts, e.Artifacts) {
			continue // the digest of the sources alone is no reason to touch every file of a repository
		}
		if _, err := lock.Put(e, version); err != nil {
			return err
		}
	}
	for _, name := range removed {
		_, version, err := store.Get(name)
		if err != nil {
			return err
		}
		if version == "" {
			continue
		}
		if err := lock.Delete(name, version); err != nil {
			return err
		}
	}
	return nil
}

// Text prints what is to be run, device by device. What needs a maintenance
// window stands apart and is marked; devices whose files had not changed are
// named at the end.
func (d *Delivery) Text(w io.Writer) error {
	var b strings.Builder
	var same []string
	for i := range d.Devices {
		h := &d.Devices[i]
		if !h.Changed {
			same = append(same, h.Address)
			continue
		}
		fmt.Fprintf(&b, "%s: copy %s to the device, then run there:\n", diag.Printable(h.Address), diag.Printable(h.Folder))
		h.steps(&b, "  ", emit.Apply, emit.Verify)
		if h.has(emit.Maintenance) {
			b.WriteString("  ! in a maintenance window only:\n")
			h.steps(&b, "  ! ", emit.Maintenance)
		}
		if h.has(emit.Rollback) {
			b.WriteString("  to go back:\n")
			h.steps(&b, "  ", emit.Rollback)
		}
		b.WriteByte('\n')
	}
	if len(same) > 0 {
		fmt.Fprintf(&b, "Handed over before, unchanged: %s\n", diag.Printable(strings.Join(same, ", ")))
	}
	if len(d.Removed) > 0 {
		fmt.Fprintf(&b, "No longer managed; what was written to them stays there: %s\n", diag.Printable(strings.Join(d.Removed, ", ")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (h *Handed) has(s emit.Step) bool {
	return slices.ContainsFunc(h.Steps, func(x Step) bool { return x.Step == s })
}

func (h *Handed) steps(b *strings.Builder, indent string, kinds ...emit.Step) {
	for _, x := range h.Steps {
		if slices.Contains(kinds, x.Step) {
			fmt.Fprintf(b, "%s  %s\n", indent, diag.Printable(x.Run))
		}
	}
}
