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
	"sync"

	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// Delivery is what a bundle handed over.
type Delivery struct {
	Dir     string
	Devices []Handed // in the order given
	Removed []string // devices that rocec no longer manages
	waves   []Wave
}

// Handed is one device that was handed over.
type Handed struct {
	Name    string
	Address string
	Folder  string   // on this machine
	Common  []string // folders that it shares with other devices, on this machine
	Changed bool     // files were written; false: they were there already
	Steps   []Step
	// Captures read the device back; rocec verify finds what they print in
	// DIR/<name>/<file>. Empty where a step does.
	Captures []targets.Probe
	Wave     string // of the rollout, "" = none is written
	wave     int    // its number from 1
	rank     int    // inside of it
}

// pendingManifest is the next manifest of a bundle while its devices are being
// exchanged: what it lists is rocec's too, should the process die.
const pendingManifest = ".manifest.rocec-next.json"

// stagePrefix is that of stages inside a bundle.
const stagePrefix = ".rocec-stage-"

// Bundle writes each device's artifacts into dir/<output>/<device>/ and records
// it as handed over. A device's folder is exchanged whole, and only if its
// files differ; files in it that rocec did not write are kept. What devices
// share is in place before they are, and goes after the last device that needs
// it. Devices of an earlier bundle that are not among these stay, but for those
// in removed, which leave the bundle and the record. The record is written after
// the files are on the disk: an error or a crash leaves every device whole, and
// running again completes it. The lock must be held by the caller.
//
// A device is made three times, for the manifest, for its files and for the
// record, as that costs less than holding what all of them have.
func Bundle(dir string, src Source, devices Devices, removed []string, lock *record.Lock) (*Delivery, error) {
	d, err := bundle(dir, src, devices, removed, lock)
	if err != nil {
		return nil, fmt.Errorf("write bundle %s: %w", dir, err)
	}
	return d, nil
}

func bundle(dir string, src Source, devices Devices, removed []string, lock *record.Lock) (_ *Delivery, err error) {
	if err := devices.check(); err != nil {
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
	b := &bundling{dir: dir}
	if b.old, b.pending, err = bundleOwner(dir); err != nil {
		return nil, err
	}
	g := gather(src, devices)
	if err := devices.each(func(_ int, d *Device) error { _, err := g.add(d); return err }); err != nil {
		return nil, err
	}
	b.next = g.manifest
	if err := b.stay(removed); err != nil {
		return nil, err
	}
	encoded, err := b.next.Encode()
	if err != nil {
		return nil, err
	}
	if err := disk.WriteFile(filepath.Join(dir, pendingManifest), encoded, 0o644); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	out, err := b.devices(devices, g.kits)
	if err != nil {
		return nil, err
	}
	for _, name := range removed {
		if err := b.withdraw(name, b.old, b.pending); err != nil {
			return nil, fmt.Errorf("device %s: %w", name, err)
		}
		out.Removed = append(out.Removed, name)
	}
	if err := b.withdrawKits(); err != nil {
		return nil, err
	}
	if err := b.close(); err != nil {
		return nil, err
	}
	if err := disk.WriteFile(filepath.Join(dir, manifestPath), encoded, 0o644); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(dir, pendingManifest)); err != nil {
		return nil, err
	}
	return out, note(src, devices, removed, lock)
}

// bundling is a bundle being written.
type bundling struct {
	dir          string
	old, pending *Manifest // what was there, and what a process that died was about to write; may be nil
	next         *Manifest
	stage        *stage // nil: nothing was written yet
}

// open is the stage of the bundle. There is one for all devices, as looking for
// what died in the folder of thousands takes its time.
func (b *bundling) open() (*stage, error) {
	if b.stage == nil {
		s, err := newStage(b.dir, stagePrefix)
		if err != nil {
			return nil, err
		}
		b.stage = s
	}
	return b.stage, nil
}

// settle puts in place what waits in the stage.
func (b *bundling) settle() error {
	if b.stage == nil {
		return nil
	}
	return b.stage.settle()
}

func (b *bundling) close() error {
	if b.stage == nil {
		return nil
	}
	err := b.stage.close()
	b.stage = nil
	return err
}

// devices puts what devices share in place, then each device.
func (b *bundling) devices(devices Devices, kits map[string]*emit.Kit) (*Delivery, error) {
	out := &Delivery{Dir: b.dir}
	for _, folder := range slices.Sorted(maps.Keys(kits)) {
		k := kits[folder]
		_, err := b.exchange(folder, trim(kitFiles(folder, k), folder), within(folder, b.old.paths(), b.pending.paths()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
	}
	if err := b.settle(); err != nil {
		return nil, err
	}
	err := devices.inOrder(func(_ int, d *Device) error {
		h, err := b.hand(d)
		if err != nil {
			return fmt.Errorf("device %s: %w", d.Name, err)
		}
		out.Devices = append(out.Devices, h)
		return nil
	})
	if err == nil {
		err = b.settle()
	}
	return out, err
}

// leftover is the form of manifests that a process died in writing: a dot, the
// name, a number. Nobody else writes them while the record is locked.
var leftover = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.(manifest\.json|\.manifest\.rocec-next\.json)[0-9]+$`)
})

func sweepManifests(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && leftover().MatchString(e.Name()) {
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

// stay enters the devices of the old bundle that stay as they are.
func (b *bundling) stay(removed []string) error {
	folders := map[string]string{}
	for name, d := range b.next.Devices {
		folders[strings.ToLower(path.Join(d.Output, name))] = name
	}
	var clash error
	b.next.keep(b.old, func(name string) bool {
		if slices.Contains(removed, name) {
			return false
		}
		if other, ok := folders[strings.ToLower(path.Join(b.old.Devices[name].Output, name))]; ok && clash == nil {
			clash = fmt.Errorf("the bundle has device %s, which differs from %s in case only", name, other)
		}
		return true
	})
	return clash
}

// hand puts one device's files in place.
func (b *bundling) hand(d *Device) (h Handed, err error) {
	list, err := d.files()
	if err != nil {
		return h, err
	}
	folder := d.Folder()
	h = Handed{Name: d.Name, Address: d.Address, Folder: filepath.Join(b.dir, filepath.FromSlash(folder)), Steps: d.Steps(), Captures: d.Captures}
	for _, c := range b.next.Devices[d.Name].Common {
		h.Common = append(h.Common, filepath.Join(b.dir, filepath.FromSlash(c)))
	}
	if !slices.EqualFunc(b.next.Devices[d.Name].Artifacts, manifestArtifacts(folder, d.Artifacts), func(x, y ManifestArtifact) bool { return x == y }) {
		return h, errors.New("what it was made from has changed meanwhile")
	}
	// A device that moves to another folder leaves its old one.
	if was, ok := deviceOf(b.old, d.Name); ok && path.Join(was.Output, d.Name) != folder {
		if err := b.settle(); err != nil {
			return h, err
		}
		if err := b.withdraw(d.Name, b.old); err != nil {
			return h, err
		}
	}
	h.Changed, err = b.exchange(folder, trim(list, folder), within(folder, b.old.pathsOf(d.Name), b.pending.pathsOf(d.Name)))
	return h, err
}

// exchange makes a folder hold files, unless it does: what is written waits for
// settle. Owned are files of rocec that it may hold now.
func (b *bundling) exchange(folder string, list []File, owned map[string]bool) (changed bool, err error) {
	place := filepath.Join(b.dir, filepath.FromSlash(folder))
	if err := disk.Folder(b.dir).Check(place); err != nil {
		return false, err
	}
	if unchanged(place, list, maps.Clone(owned)) {
		return false, nil
	}
	s, err := b.open()
	if err != nil {
		return false, err
	}
	p, err := s.part(folder)
	if err != nil {
		return false, err
	}
	if err := p.fill(list, place, owned); err != nil {
		return false, err
	}
	if s.parts = append(s.parts, p); len(s.parts) == mostParts {
		err = s.settle()
	}
	return true, err
}

// unchanged reports whether a folder holds exactly these files, and of those
// that rocec wrote before no other.
func unchanged(dir string, list []File, before map[string]bool) bool {
	for _, f := range list {
		if difference(dir, f) != "" {
			return false
		}
		delete(before, f.Path)
	}
	for p := range before {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(p))); err == nil {
			return false
		}
	}
	return true
}

// trim are files by their paths from a folder on, which holds all of them.
func trim(list []File, folder string) []File {
	out := make([]File, len(list))
	for i, f := range list {
		out[i] = File{strings.TrimPrefix(f.Path, folder+"/"), f.Mode, f.Bytes}
	}
	return out
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
func (b *bundling) withdraw(name string, manifests ...*Manifest) error {
	for _, m := range manifests {
		d, ok := deviceOf(m, name)
		if !ok {
			continue
		}
		folder := path.Join(d.Output, name)
		if err := b.empty(folder, within(folder, m.pathsOf(name))); err != nil {
			return err
		}
	}
	return nil
}

// withdrawKits removes what no device needs any more.
func (b *bundling) withdrawKits() error {
	for _, m := range []*Manifest{b.old, b.pending} {
		if m == nil {
			continue
		}
		for _, folder := range slices.Sorted(maps.Keys(m.Common)) {
			if _, still := b.next.Common[folder]; still {
				continue
			}
			owned := map[string]bool{}
			enter(owned, m.Common[folder].Artifacts)
			if err := b.empty(folder, within(folder, owned)); err != nil {
				return fmt.Errorf("%s: %w", folder, err)
			}
			_ = os.Remove(filepath.Join(b.dir, filepath.FromSlash(path.Dir(folder)))) // stays if another kit is in it
		}
	}
	return nil
}

// empty takes what rocec wrote out of a folder, which goes unless something else
// is in it.
func (b *bundling) empty(folder string, owned map[string]bool) (err error) {
	place := filepath.Join(b.dir, filepath.FromSlash(folder))
	if err := disk.Folder(b.dir).Check(place); err != nil {
		return err
	}
	if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s, err := b.open()
	if err != nil {
		return err
	}
	p, err := s.part(folder)
	if err != nil {
		return err
	}
	if err := p.fill(nil, place, owned); err != nil {
		return err
	}
	s.parts = append(s.parts, p)
	if err := s.settle(); err != nil {
		return err
	}
	_ = os.Remove(place) // stays if something is in it
	return nil
}

// mostEntries bounds how many entries of the record are written at a time.
const mostEntries = 128

// note records the devices. An entry of the same files stays as it is, be it
// handed over or applied.
func note(src Source, devices Devices, removed []string, lock *record.Lock) error {
	store := lock.Store()
	sources := SourcesDigest(src.Sources, src.Variables)
	var news []record.Change
	put := func() error {
		err := lock.PutAll(news)
		news = news[:0]
		return err
	}
	err := devices.inOrder(func(_ int, d *Device) error {
		e := d.Entry(record.HandedOver, sources)
		before, version, err := store.GetUnless(d.Intent, e.IntentDigest)
		if err != nil {
			return err
		}
		if before != nil && before.Address == e.Address && before.Emitter == e.Emitter && before.Output == e.Output &&
			before.IntentDigest == e.IntentDigest && maps.Equal(before.Artifacts, e.Artifacts) && before.Observed == nil {
			return nil // the digest of the sources alone is no reason to touch every file of a repository
		}
		if news = append(news, record.Change{Entry: e, Expected: version}); len(news) == mostEntries {
			return put()
		}
		return nil
	})
	if err == nil {
		err = put()
	}
	if err != nil {
		return err
	}
	return Forget(removed, lock)
}

// Text prints what is to be run, device by device. What needs a maintenance
// window stands apart and is marked; devices whose files had not changed are
// named at the end.
func (d *Delivery) Text(w io.Writer) error {
	var b strings.Builder
	var same []string
	wave := 0
	for i := range d.Devices {
		h := &d.Devices[i]
		if !h.Changed {
			same = append(same, h.Address)
			continue
		}
		wave = d.heading(&b, wave, h)
		fmt.Fprintf(&b, "%s: copy %s:\n", diag.Printable(h.Address), diag.Printable(h.how()))
		h.steps(&b, "  ", emit.Apply, emit.Verify)
		h.captures(&b)
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
	d.heading(&b, wave, nil)
	if len(same) > 0 {
		fmt.Fprintf(&b, "Handed over before, unchanged: %s\n", diag.Printable(strings.Join(same, ", ")))
	}
	if len(d.Removed) > 0 {
		fmt.Fprintf(&b, "No longer managed; what was written to them stays there: %s\n", diag.Printable(strings.Join(d.Removed, ", ")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// how says what has to be copied and where to run what follows. The device's own
// files find those that it shares by their place.
func (h *Handed) how() string {
	if len(h.Common) == 0 {
		return h.Folder + " to the device, then run there"
	}
	return fmt.Sprintf("%s and %s to the device, placed to each other as here, then run in %s", h.Folder, strings.Join(h.Common, ", "), filepath.Base(h.Folder))
}

// captures prints what reads the device back, ready for a shell.
func (h *Handed) captures(b *strings.Builder) {
	if len(h.Captures) == 0 {
		return
	}
	b.WriteString("  to read it back, for rocec verify --from=DIR:\n")
	for _, c := range h.Captures {
		file, err := emit.Shell(path.Join(h.Name, c.File))
		if err != nil {
			continue // no file of that name could be read either
		}
		fmt.Fprintf(b, "    %s > DIR/%s\n", diag.Printable(c.Command), diag.Printable(file))
	}
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
