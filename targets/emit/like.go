package emit

import (
	"crypto/sha256"
	"sync"

	"github.com/rocec/rocec/compiler/intent"
)

// Like is what devices have in common whose intents differ in nothing but names
// and addresses. It is safe for several goroutines; a nil Like knows nothing.
type Like struct {
	device *intent.Device // one of them
	bare   *intent.Device // the same without names and addresses
	canon  *intent.Canon  // of device

	mu    sync.Mutex
	parts map[string]partLike // by the name of the files
}

// partLike is the part of a device that some files are made of.
type partLike struct {
	sum    [sha256.Size]byte
	common bool // all devices have the same
}

// NewLike takes one of the devices, and the same one with every name and address
// replaced that others have differently. Neither is to be changed.
func NewLike(device, bare *intent.Device) *Like {
	return &Like{device: device, bare: bare, canon: intent.Canonical(device).Ready(), parts: map[string]partLike{}}
}

// part is the digest of the part of a device that reduce leaves, and whether all
// of them have the same: it is so if reduce leaves as much of a device without
// names and addresses.
func (l *Like) part(what string, reduce func(part *intent.Device)) (sum [sha256.Size]byte, common bool) {
	if l == nil {
		return sum, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p, known := l.parts[what]
	if !known {
		one, bare := *l.device, *l.bare
		reduce(&one)
		reduce(&bare)
		p.sum = l.canon.Part(&one)
		p.common = p.sum == l.canon.Part(&bare)
		l.parts[what] = p
	}
	return p.sum, p.common
}
