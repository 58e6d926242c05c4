package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/disk"
)

// Store is the record of one workspace, wherever it is kept. The zero Store is
// not usable.
type Store struct {
	workspace string
	backend   Backend
	folder    *folder // the same, if it is a folder of this disk

	// Of locks; tests have their own.
	retryEvery time.Duration
	now        func() time.Time
	sleep      func(context.Context, time.Duration) error
}

// Open names the record of a workspace in a folder, root/workspace. Nothing is
// read or made.
func Open(root, workspace string) (*Store, error) {
	if err := disk.CheckName(workspace); err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	f := &folder{root: root, workspace: workspace}
	return &Store{workspace: workspace, backend: f, folder: f, retryEvery: retryLocal, now: time.Now, sleep: sleep}, nil
}

// Workspace is the name of the workspace.
func (s *Store) Workspace() string { return s.workspace }

// Where is the place of the record, for messages.
func (s *Store) Where() string { return s.backend.Where() }

// Dir is the folder of the workspace, "" if it is kept elsewhere.
func (s *Store) Dir() string {
	if s.folder == nil {
		return ""
	}
	return s.folder.dir()
}

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
// what Get returns. No entry is an error that is fs.ErrNotExist, as is a record that
// is in no folder.
func (s *Store) Stamp(device string) (disk.Stamp, error) {
	if s.folder == nil {
		return disk.Stamp{}, fs.ErrNotExist
	}
	return disk.StampOf(s.folder.file(device))
}

// GetUnless is Get for somebody who knows what the intent should be, and the
// digest of that: an entry that has exactly this intent comes without its Intent
// and its Inputs, and one that has another shares with it what both have. That is
// many times as fast.
func (s *Store) GetUnless(want *intent.Device, digest string) (*Entry, string, error) {
	return s.get(want.Name, want, digest)
}

func (s *Store) get(device string, want *intent.Device, digest string) (*Entry, string, error) {
	if err := disk.CheckName(device); err != nil {
		return nil, "", fmt.Errorf("read record: device %w", err)
	}
	b, err := s.backend.Get(context.Background(), device)
	if err != nil {
		return nil, "", fmt.Errorf("read record of %s: %w", device, err)
	}
	if b == nil {
		return nil, "", nil
	}
	if want != nil {
		if e := decodeLike(b, s.workspace, want, digest); e != nil {
			return e, Digest(b), nil
		}
	}
	e, err := Decode(b, s.workspace, device)
	if err != nil {
		return nil, "", fmt.Errorf("read record of %s: %s: %w", device, s.place(device), err)
	}
	return e, Digest(b), nil
}

// List is the devices that the record has, sorted. No workspace, no devices. Two
// files that one system keeps apart and another does not are an error.
func (s *Store) List() ([]string, error) {
	names, err := s.list(context.Background())
	if err != nil {
		return nil, fmt.Errorf("list record: %w", err)
	}
	return names, nil
}

func (s *Store) list(ctx context.Context) ([]string, error) {
	names, err := s.backend.List(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	folded := make(map[string]string, len(names))
	for _, name := range names {
		if err := disk.CheckName(name); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Where(), err)
		}
		if other, taken := folded[strings.ToLower(name)]; taken {
			return nil, fmt.Errorf("%s has %s and %s, which differ in case only", s.Where(), other+suffix, name+suffix)
		}
		folded[strings.ToLower(name)] = name
	}
	return names, nil
}

// place is the entry of a device, for messages.
func (s *Store) place(device string) string {
	if s.folder != nil {
		return s.folder.file(device)
	}
	return s.Where()
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

// Kind tells an export from a plan and a manifest.
const Kind = "rocec record"

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
	b, err := Canonical(map[string]any{"kind": Kind, "format_version": FormatVersion, "workspace": s.workspace, "devices": devices})
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
// returns its version. In a folder and in an object store it is there when Put
// returns, and a process that dies in it, or a disk that is full, leaves the old
// entry; elsewhere Sync and Unlock see to it. A *ConflictError says that the entry
// moved, a *LostError that somebody broke the lock.
func (l *Lock) Put(e *Entry, expected string) (string, error) {
	if err := disk.CheckName(e.Device); err != nil {
		return "", fmt.Errorf("write record: device %w", err)
	}
	e.FormatVersion, e.Workspace = FormatVersion, l.store.workspace
	b, err := Encode(e)
	if err != nil {
		return "", fmt.Errorf("write record of %s: %w", e.Device, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err = l.alone(e.Device); err == nil {
		err = l.store.backend.Put(context.Background(), l.Holder.ID, e.Device, b, expected)
	}
	if err != nil {
		return "", fmt.Errorf("write record of %s: %w", e.Device, err)
	}
	l.names[strings.ToLower(e.Device)] = e.Device
	return Digest(b), nil
}

// Change is an entry in place of the version that was read, "" for none.
type Change struct {
	Entry    *Entry
	Expected string
}

// PutAll is Put for several entries. In a folder they are flushed together, which
// is many times as fast; each is the old one or the new one whatever happens, and
// of several that fail the first is returned.
func (l *Lock) PutAll(list []Change) error {
	several, ok := l.store.backend.(interface {
		putAll(lockID string, list []putting) error
	})
	if !ok || len(list) < 2 {
		for _, c := range list {
			if _, err := l.Put(c.Entry, c.Expected); err != nil {
				return err
			}
		}
		return nil
	}
	texts := make([]putting, len(list))
	work := errgroup.Group{}
	work.SetLimit(runtime.GOMAXPROCS(0))
	failed := make([]error, len(list))
	for i, c := range list {
		work.Go(func() error {
			e := c.Entry
			if failed[i] = disk.CheckName(e.Device); failed[i] != nil {
				return nil
			}
			e.FormatVersion, e.Workspace = FormatVersion, l.store.workspace
			texts[i] = putting{device: e.Device, version: c.Expected}
			texts[i].text, failed[i] = Encode(e)
			return nil
		})
	}
	_ = work.Wait() // what failed is in its place
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range list {
		err := failed[i]
		if err == nil {
			err = l.alone(c.Entry.Device)
		}
		if err != nil {
			return fmt.Errorf("write record of %s: %w", c.Entry.Device, err)
		}
		l.names[strings.ToLower(c.Entry.Device)] = c.Entry.Device
	}
	if err := several.putAll(l.Holder.ID, texts); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// putting is an entry as bytes in place of a version.
type putting struct {
	device, version string
	text            []byte
}

// Delete removes the entry of a device that is of the version that was read.
func (l *Lock) Delete(device, expected string) error {
	if err := disk.CheckName(device); err != nil {
		return fmt.Errorf("delete record: device %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.alone(device)
	if err == nil {
		err = l.store.backend.Put(context.Background(), l.Holder.ID, device, nil, expected)
	}
	if err != nil {
		return fmt.Errorf("delete record of %s: %w", device, err)
	}
	delete(l.names, strings.ToLower(device))
	return nil
}

// alone refuses a name that differs from a recorded one in case only: on some
// systems both are one file.
func (l *Lock) alone(device string) error {
	if other, ok := l.names[strings.ToLower(device)]; ok && other != device {
		return fmt.Errorf("the record has %q, which differs in case only", other)
	}
	return nil
}
