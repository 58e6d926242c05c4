package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/disk"
)

// Store is the record of one workspace: a folder. The zero Store is not usable.
type Store struct {
	root      string
	workspace string
}

// Open names the record of a workspace, root/workspace. Nothing is read or made.
func Open(root, workspace string) (*Store, error) {
	if err := disk.CheckName(workspace); err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	return &Store{root: root, workspace: workspace}, nil
}

// Workspace is the name of the workspace.
func (s *Store) Workspace() string { return s.workspace }

// Dir is the folder of the workspace.
func (s *Store) Dir() string { return filepath.Join(s.root, s.workspace) }

func (s *Store) file(device string) string { return filepath.Join(s.Dir(), device+suffix) }

const suffix = ".json"

// Digest is "sha256:" and 64 hex digits over bytes: the version of an entry
// over its file, and what artifacts are known by.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Get reads the entry of a device and its version. Both are zero, without an
// error, when there is none.
func (s *Store) Get(device string) (*Entry, string, error) { return s.get(device, nil, "") }

// Stamp is that of the file of a device's entry: as long as it is the same, so is
// what Get returns. No entry is an error that is fs.ErrNotExist.
func (s *Store) Stamp(device string) (disk.Stamp, error) { return disk.StampOf(s.file(device)) }

// GetUnless is Get for somebody who knows what the intent should be, and the
// digest of that: an entry that has exactly this intent comes without its Intent
// and its Inputs. That is many times as fast.
func (s *Store) GetUnless(want *intent.Device, digest string) (*Entry, string, error) {
	return s.get(want.Name, want, digest)
}

func (s *Store) get(device string, want *intent.Device, digest string) (*Entry, string, error) {
	if err := disk.CheckName(device); err != nil {
		return nil, "", fmt.Errorf("read record: device %w", err)
	}
	b, err := disk.ReadFile(s.file(device), maxEntryBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read record of %s: %w", device, err)
	}
	if want != nil {
		if e := decodeHead(b, s.workspace, want, digest); e != nil {
			return e, Digest(b), nil
		}
	}
	e, err := Decode(b, s.workspace, device)
	if err != nil {
		return nil, "", fmt.Errorf("read record of %s: %s: %w", device, s.file(device), err)
	}
	return e, Digest(b), nil
}

// List is the devices that the record has, sorted. No workspace, no devices. Two
// files that one system keeps apart and another does not are an error.
func (s *Store) List() ([]string, error) {
	entries, err := os.ReadDir(s.Dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list record: %w", err)
	}
	var names []string
	folded := map[string]string{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		if err := disk.CheckName(name); err != nil {
			return nil, fmt.Errorf("list record: %s: %w", s.Dir(), err)
		}
		if other, taken := folded[strings.ToLower(name)]; taken {
			return nil, fmt.Errorf("list record: %s has %s and %s, which differ in case only", s.Dir(), other+suffix, e.Name())
		}
		folded[strings.ToLower(name)] = name
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// All reads every entry, in the order of List. Entries that cannot be read are
// joined into the error; the others are returned all the same.
func (s *Store) All() ([]*Entry, error) {
	names, err := s.List()
	if err != nil {
		return nil, err
	}
	var list []*Entry
	var failed []error
	for _, name := range names {
		e, _, err := s.Get(name)
		if err != nil {
			failed = append(failed, err)
		} else if e != nil {
			list = append(list, e)
		}
	}
	return list, errors.Join(failed...)
}

// exportKind tells an export from a plan and a manifest.
const exportKind = "rocec record"

// Export writes every entry as one JSON object: kind, format version, workspace
// and the entries by the name of the device, in the form of Canonical. An entry
// that cannot be read is an error, for half a record is none.
func (s *Store) Export(w io.Writer) error {
	entries, err := s.All()
	if err != nil {
		return fmt.Errorf("export record: %w", err)
	}
	devices := make(map[string]*Entry, len(entries))
	for _, e := range entries {
		devices[e.Device] = e
	}
	b, err := Canonical(map[string]any{"kind": exportKind, "format_version": FormatVersion, "workspace": s.workspace, "devices": devices})
	if err != nil {
		return fmt.Errorf("export record: %w", err)
	}
	_, err = w.Write(b)
	return err
}

// ConflictError says that an entry is not the one that was read.
type ConflictError struct {
	Device string
	Want   string // version that was read, "" for none
	Have   string // version that is there, "" for none
}

// Error names the device and both versions.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("record of %s has changed since it was read: it is %s, expected %s", e.Device, version(e.Have), version(e.Want))
}

func version(v string) string {
	if v == "" {
		return "absent"
	}
	return v
}

// Put writes an entry in place of the version that was read ("" for none) and
// returns its version. It is on the disk when Put returns; a process that dies
// in it, or a disk that is full, leaves the old entry. A *ConflictError says
// that the entry moved, a *LostError that somebody broke the lock.
func (l *Lock) Put(e *Entry, expected string) (string, error) {
	if err := disk.CheckName(e.Device); err != nil {
		return "", fmt.Errorf("write record: device %w", err)
	}
	e.FormatVersion, e.Workspace = FormatVersion, l.store.workspace
	b, err := Encode(e)
	if err != nil {
		return "", fmt.Errorf("write record of %s: %w", e.Device, err)
	}
	err = l.guarded(func() error {
		if err := l.expect(e.Device, expected); err != nil {
			return err
		}
		return disk.WriteFile(l.store.file(e.Device), b, 0o644)
	})
	if err != nil {
		return "", fmt.Errorf("write record of %s: %w", e.Device, err)
	}
	l.names[strings.ToLower(e.Device)] = e.Device
	return Digest(b), nil
}

// Delete removes the entry of a device that is of the version that was read.
func (l *Lock) Delete(device, expected string) error {
	if err := disk.CheckName(device); err != nil {
		return fmt.Errorf("delete record: device %w", err)
	}
	err := l.guarded(func() error {
		if err := l.expect(device, expected); err != nil {
			return err
		}
		if err := os.Remove(l.store.file(device)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return disk.SyncDir(l.store.Dir())
	})
	if err != nil {
		return fmt.Errorf("delete record of %s: %w", device, err)
	}
	delete(l.names, strings.ToLower(device))
	return nil
}

// expect compares the version of an entry, and refuses a name that differs from
// a recorded one in case only: on some systems both are one file.
func (l *Lock) expect(device, expected string) error {
	if other, ok := l.names[strings.ToLower(device)]; ok && other != device {
		return fmt.Errorf("the record has %q, which differs in case only", other)
	}
	have := ""
	b, err := disk.ReadFile(l.store.file(device), maxEntryBytes)
	switch {
	case err == nil:
		have = Digest(b)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if have != expected {
		return &ConflictError{Device: device, Want: expected, Have: have}
	}
	return nil
}
