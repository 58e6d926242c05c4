// Package source names the bytes that a fabric was compiled from: files, spans
// and positions. A span is 12 bytes (file, start, length); line and column are
// computed only when a message is printed. Source text is not kept: whoever
// prints hands in a reader, and a file whose digest has changed since it was
// compiled is shown by name only. The package reads nothing itself.
package source

import (
	"crypto/sha256"
	"sync"
)

// FileID is the index of a file in a Files table. Zero means "no file".
type FileID uint32

// Span is a range of bytes in one file. The zero Span means "nowhere".
type Span struct {
	File  FileID
	Start uint32
	Len   uint32
}

// IsZero reports whether the span points nowhere.
func (s Span) IsZero() bool { return s.File == 0 }

// End is the offset of the first byte after the span.
func (s Span) End() uint32 { return s.Start + s.Len }

// Digest is the SHA-256 of a file's bytes.
type Digest [sha256.Size]byte

// Files is the table of every input file of one compilation: configuration,
// variable files, data files and captures alike. Adding is safe from several
// goroutines; IDs are handed out in the order of the calls, so that callers who
// want the same IDs on every run add their files in a fixed order.
type Files struct {
	mu   sync.RWMutex
	rows []file
	byID map[string]FileID
}

type file struct {
	name   string
	digest Digest
	size   int
}

// NewFiles returns an empty table.
func NewFiles() *Files {
	return &Files{rows: make([]file, 1), byID: map[string]FileID{}}
}

// Add enters a file and returns its ID. A name that is already there keeps its
// ID, and its digest is replaced.
func (f *Files) Add(name string, content []byte) FileID {
	return f.AddDigest(name, sha256.Sum256(content), len(content))
}

// AddDigest enters a file whose digest is already known.
func (f *Files) AddDigest(name string, d Digest, size int) FileID {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id, ok := f.byID[name]; ok {
		f.rows[id] = file{name, d, size}
		return id
	}
	id := FileID(len(f.rows))
	f.rows = append(f.rows, file{name, d, size})
	f.byID[name] = id
	return id
}

// Name is the path of a file as the user wrote it, relative to the root of the
// configuration, with forward slashes. It is "" for ID 0.
func (f *Files) Name(id FileID) string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if int(id) >= len(f.rows) {
		return ""
	}
	return f.rows[id].name
}

// Digest is the digest of the file as it was compiled.
func (f *Files) Digest(id FileID) Digest {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if int(id) >= len(f.rows) {
		return Digest{}
	}
	return f.rows[id].digest
}

// Lookup returns the ID of a file by name, 0 if it is not in the table.
func (f *Files) Lookup(name string) FileID {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.byID[name]
}

// Len is the number of files.
func (f *Files) Len() int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.rows) - 1
}

// Reader returns the bytes of a file by the name under which it was added.
type Reader func(name string) ([]byte, error)
