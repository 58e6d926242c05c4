package source

import (
	"crypto/sha256"
	"slices"
	"sync"
)

// View shows the text behind spans. It reads files again through Read and
// takes only bytes with the digest that was compiled: of a file that has
// changed since, or that cannot be read, nothing but the name is known. A nil
// View, or one without Read, knows names only. It keeps the last few files;
// its methods may be called from several goroutines.
type View struct {
	Files *Files
	Read  Reader
	Shown func(name string) string // how the name of a file is shown; nil: as it is

	mu    sync.Mutex
	cache []*loaded // least recently used first
}

// viewFiles is how many files a view keeps. Findings come sorted by file, and
// each has at most three places.
const viewFiles = 8

type loaded struct {
	id     FileID
	digest Digest
	src    []byte
	lines  starts
	ok     bool
}

// Name is the name of a file, "" if there is none.
func (v *View) Name(id FileID) string {
	if v == nil || v.Files == nil {
		return ""
	}
	name := v.Files.Name(id)
	if v.Shown != nil && name != "" {
		return v.Shown(name)
	}
	return name
}

// Range is where a span starts and ends; false if its file is not at hand.
func (v *View) Range(s Span) (start, end Position, ok bool) {
	f := v.file(s.File)
	if f == nil {
		return Position{}, Position{}, false
	}
	return f.lines.locate(f.src, s.Start), f.lines.locate(f.src, s.End()), true
}

// Snippet is the source text of a span; false if its file is not at hand.
func (v *View) Snippet(s Span) (Snippet, bool) {
	f := v.file(s.File)
	if f == nil {
		return Snippet{}, false
	}
	return f.lines.excerpt(f.src, s.Start, s.End()), true
}

func (v *View) file(id FileID) *loaded {
	if id == 0 || v == nil || v.Files == nil || v.Read == nil {
		return nil
	}
	name, digest := v.Files.Name(id), v.Files.Digest(id)
	if name == "" {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if i := slices.IndexFunc(v.cache, func(f *loaded) bool { return f.id == id && f.digest == digest }); i >= 0 {
		f := v.cache[i]
		v.cache = append(slices.Delete(v.cache, i, i+1), f)
		return f.orNil()
	}
	f := &loaded{id: id, digest: digest}
	if src, err := v.Read(name); err == nil && sha256.Sum256(src) == digest {
		f.src, f.lines, f.ok = src, lineStarts(src), true
	}
	if len(v.cache) >= viewFiles {
		v.cache = slices.Delete(v.cache, 0, 1)
	}
	v.cache = append(v.cache, f)
	return f.orNil()
}

func (f *loaded) orNil() *loaded {
	if f.ok {
		return f
	}
	return nil
}
