package main

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/emit"
)

// judge asks emitters whether they can say all of each device. Most devices of a
// fabric differ in names and addresses only, and no emitter refuses one for
// those (targets.Target): where it refuses nothing of one device, it refuses
// nothing of the others of that kind. Where it does refuse something, every
// device is asked for, as each finding names its own.
type judge struct {
	project *project
	each    bool // ask for every device: for tests
	mu      sync.Mutex
	kinds   map[string]*kind // by target block and shape
	room    sync.Pool        // of *[]byte
}

// kind is all devices of one target block and shape.
type kind struct {
	once sync.Once
	fine bool // nothing is refused of the one that was asked for

	devices int // of this kind; nobody adds to them once all were seen

	common sync.Once
	whole  *intent.Device // of one of them; nil if there are too few to keep it for
	likes  *emit.Like     // whole, and what the others have of it

	bare     sync.Once
	skeleton [sha256.Size]byte // digest of what the intents have in common, options included
}

// kindFrom is how many devices of a kind there are at least for the intent of one
// to be kept for the others: a sixteenth of all intents fits into memory.
const kindFrom = 16

// like is the intent of a device, made of that of another one where that is kept.
func (k *kind) like(s *served, p *project) (*intent.Device, *emit.Like) {
	if k == nil || k.devices < kindFrom {
		return p.alone(s), nil
	}
	k.common.Do(func() {
		k.whole = p.alone(s)
		k.likes = emit.NewLike(k.whole, lower.Skeleton(k.whole))
	})
	return lower.Like(p.res.Fabric, p.res.Facts, s.id, k.whole), k.likes
}

// refusals are what the emitter of a device cannot say of it.
func (j *judge) refusals(s *served) (list diag.List) {
	// Not what devices of a kind have in common: those are being counted.
	ask := func() diag.List { return j.project.refusals(&compiled{served: s, intent: j.project.alone(s)}) }
	k := j.kindOf(s)
	if k == nil {
		return ask()
	}
	s.kind = k
	asked := false
	k.once.Do(func() {
		list, asked = ask(), true
		k.fine = len(list) == 0
	})
	if asked || k.fine {
		return list
	}
	return ask()
}

// kindOf is the kind of a device, nil if it is one of its own.
func (j *judge) kindOf(s *served) *kind {
	if j.each {
		return nil
	}
	room, ok := j.room.Get().(*[]byte)
	if !ok {
		room = &[]byte{}
	}
	defer j.room.Put(room)
	key := binary.LittleEndian.AppendUint32((*room)[:0], uint32(s.chosen.Decl))
	key = append(append(key, s.chosen.Emitter...), 0)
	key, ok = j.project.res.Shape(s.id, key)
	*room = key
	if !ok {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	k := j.kinds[string(key)]
	if k == nil {
		k = &kind{}
		j.kinds[string(key)] = k
	}
	k.devices++
	return k
}
