package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/rocec/rocec/compiler/intent"
)

// Memo keeps files that many devices have alike, so that each is made and
// digested once. It is safe for several goroutines; a nil Memo keeps nothing.
type Memo struct {
	mu    sync.Mutex
	kept  map[memoKey][]Artifact
	bytes int
}

type memoKey struct {
	what string
	part [sha256.Size]byte
}

// memoBytes bounds what a Memo holds: in a fabric whose devices are all
// different it helps nothing and shall cost little.
const memoBytes = 64 << 20

// NewMemo is an empty Memo.
func NewMemo() *Memo { return &Memo{kept: map[memoKey][]Artifact{}} }

func (m *Memo) find(k memoKey) ([]Artifact, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list, ok := m.kept[k]
	return list, ok
}

func (m *Memo) keep(k memoKey, list []Artifact) {
	n := sha256.Size + len(k.what)
	for i := range list {
		n += len(list[i].Bytes)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes += n; m.bytes > memoBytes {
		clear(m.kept)
		m.bytes = n
	}
	m.kept[k] = list
}

// Alike adds the files that write makes of a part of a device: a copy in which
// reduce blanked or replaced fields that they do not depend on. Devices whose
// parts are equal get the same files, made for the first of them. The name says
// which files they are. Reduce must not change what the copy refers to, and
// write may use no kits.
func (o *Out) Alike(what string, d *intent.Device, reduce func(part *intent.Device), write func(part *intent.Device, out *Out)) {
	o.Artifacts = append(o.Artifacts, o.Parts(what, d, reduce, write)...)
}

// Parts are the files that Alike would add, not to be changed: for files that
// consist of them in part (File.Insert).
func (o *Out) Parts(what string, d *intent.Device, reduce func(part *intent.Device), write func(part *intent.Device, out *Out)) []Artifact {
	part := *d
	if o.Memo == nil || o.Trace {
		reduce(&part)
		one := &Out{Trace: o.Trace}
		write(&part, one)
		return one.Artifacts
	}
	sum, common := o.Like.part(what, reduce)
	if common {
		if list, ok := o.Memo.find(memoKey{what, sum}); ok {
			return list
		}
	}
	reduce(&part)
	key := memoKey{what, o.canonical(d).Part(&part)}
	list, ok := o.Memo.find(key)
	if !ok {
		one := &Out{}
		write(&part, one)
		list = one.Artifacts
		for i := range list {
			list[i].digest = list[i].Digest()
		}
		o.Memo.keep(key, list)
	}
	return list
}

// Digest is "sha256:" and 64 hex digits over the bytes.
func (a *Artifact) Digest() string {
	if a.digest != "" {
		return a.digest
	}
	sum := sha256.Sum256(a.Bytes)
	return "sha256:" + hex.EncodeToString(sum[:])
}
