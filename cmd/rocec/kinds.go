package main

import (
	"encoding/binary"
	"sync"

	"github.com/rocec/rocec/lang/diag"
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
}

// refusals are what the emitter of a device cannot say of it.
func (j *judge) refusals(s *served) (list diag.List) {
	ask := func() diag.List { return j.project.refusals(j.project.lower(s)) }
	k := j.kindOf(s)
	if k == nil {
		return ask()
	}
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
	return k
}
