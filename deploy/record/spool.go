package record

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rocec/rocec/deploy/disk"
)

// spool is a backend that gathers what is put, with a folder of this disk where it
// lies until it is sent. What a process that died left there is put again by the
// next one that takes the lock, unless the entry changed meanwhile.
type spool struct {
	Backend
	dir string
}

// newSpool is the spool of one record in a folder.
func newSpool(b Backend, dir, workspace string) *spool {
	of := sha256.Sum256([]byte(b.Where()))
	return &spool{b, filepath.Join(dir, fmt.Sprintf("%s-%x", workspace, of[:6]))}
}

// waiting is a change that is not sent yet.
type waiting struct {
	Device  string          `json:"device"`
	Version string          `json:"version"` // that it replaces, "" for none
	Entry   json.RawMessage `json:"entry"`   // null: it is deleted
}

// Put puts a change and keeps it here.
func (s *spool) Put(ctx context.Context, id, device string, b []byte, version string) error {
	if err := s.Backend.Put(ctx, id, device, b, version); err != nil {
		return err
	}
	w := waiting{Device: device, Version: version, Entry: b}
	if old, err := s.read(device); err == nil { // it replaces what is not sent either
		w.Version = old.Version
	}
	text, err := Canonical(w)
	if err == nil {
		err = s.make()
	}
	if err == nil {
		err = disk.WriteFile(s.file(device), text, 0o644)
	}
	return err
}

// make makes the folder, which is no part of a repository.
func (s *spool) make() error {
	if _, err := os.Stat(s.dir); err == nil {
		return nil
	}
	if err := disk.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(s.dir, ignoreFile), []byte("*\n"), 0o644)
}

func (s *spool) file(device string) string { return filepath.Join(s.dir, device+suffix) }

func (s *spool) read(device string) (*waiting, error) {
	b, err := disk.ReadFile(s.file(device), 2*maxEntryBytes)
	if err != nil {
		return nil, err
	}
	w := &waiting{}
	if err := Unmarshal(b, w); err != nil {
		return nil, fmt.Errorf("%s: %w", s.file(device), err)
	}
	if w.Device != device {
		return nil, fmt.Errorf("%s is of device %q", s.file(device), short(w.Device))
	}
	return w, nil
}

// Sync sends what was put, which then lies here no more.
func (s *spool) Sync(ctx context.Context, id string) error {
	if err := s.Backend.Sync(ctx, id); err != nil {
		if files, e := os.ReadDir(s.dir); e == nil && len(files) > 0 {
			err = fmt.Errorf("%w; what was recorded lies in %s, and the next apply from here sends it", err, s.dir)
		}
		return err
	}
	if err := os.RemoveAll(s.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Lock takes the lock, and puts again what a process that died has left here.
func (s *spool) Lock(ctx context.Context, h Holder) error {
	if err := s.Backend.Lock(ctx, h); err != nil {
		return err
	}
	if err := s.replay(ctx, h.ID); err != nil {
		return errors.Join(fmt.Errorf("take over what was not sent: %w", err), s.Backend.Unlock(ctx, h.ID))
	}
	return nil
}

func (s *spool) replay(ctx context.Context, id string) error {
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		device, ok := strings.CutSuffix(f.Name(), suffix)
		if !ok || disk.CheckName(device) != nil {
			continue
		}
		w, err := s.read(device)
		if err != nil {
			return err
		}
		var b []byte
		if len(w.Entry) > 0 && string(w.Entry) != "null" {
			if b, err = Canonical(w.Entry); err != nil {
				return err
			}
		}
		err = s.Backend.Put(ctx, id, device, b, w.Version)
		var moved *ConflictError
		if errors.As(err, &moved) {
			continue // it was sent, or somebody has recorded the device since
		}
		if err != nil {
			return err
		}
	}
	return nil
}
