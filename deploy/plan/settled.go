package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/rocec/rocec/deploy/disk"
)

// Key is a digest of all that a device's intent and files are made from, and of
// the program that makes them: devices of one key are handed over alike.
type Key [sha256.Size]byte

// Settled remembers devices whose plan had nothing to change, so that the next
// plan need not make their intents and files again: as long as what they are made
// from and their entry in the record are the same, there is still nothing. It is
// a help and no truth, and may be lost at any time. Find may run on several
// goroutines, Keep and Drop may not.
type Settled struct {
	devices map[string]settled
	paths   [][]string        // of artifacts, sorted: most devices have the same
	known   map[string]uint32 // index of paths by their text, once somebody asked
}

// settled is one device.
type settled struct {
	key             Key
	stamp           disk.Stamp // of its file in the record
	awaiting        bool
	intent, version sum
	paths           uint32 // index of Settled.paths
	sums            []byte // of the artifacts, in the order of their paths
}

type sum = [sha256.Size]byte

// Find is the part of a device in the plan, nil if it has to be made. The stamp
// is that of the device's file in the record.
func (s *Settled) Find(name, address string, key Key, stamp disk.Stamp) *Part {
	d, ok := s.devices[name]
	if !ok || d.key != key || d.stamp != stamp {
		return nil
	}
	part := &Part{address: address, name: name, artifacts: func() map[string]string { return s.artifacts(&d) }}
	part.print = Fingerprint{Address: address, Intent: digestText(d.intent[:]), Record: digestText(d.version[:])}
	if d.awaiting {
		part.awaiting = []Awaited{{address, name, part.print.Intent}}
	}
	return part
}

func (s *Settled) artifacts(d *settled) map[string]string {
	paths := s.paths[d.paths]
	m := make(map[string]string, len(paths))
	for i, p := range paths {
		m[p] = digestText(d.sums[i*sha256.Size : (i+1)*sha256.Size])
	}
	return m
}

// Keep remembers a device if there is nothing to change and all of it was seen.
// What is known by now of a device of that name is forgotten. It reports whether
// anything is another than before.
func (s *Settled) Keep(part *Part, key Key, stamp disk.Stamp) bool {
	_, known := s.devices[part.name]
	delete(s.devices, part.name)
	print := &part.print
	if len(part.changes)+len(part.drift)+len(part.unseen) > 0 || print.Observed != "" {
		return known
	}
	d := settled{key: key, stamp: stamp, awaiting: len(part.awaiting) > 0}
	paths := slices.Sorted(maps.Keys(print.Artifacts))
	ok := parseDigest(print.Intent, d.intent[:]) && parseDigest(print.Record, d.version[:])
	d.sums = make([]byte, len(paths)*sha256.Size)
	for i, p := range paths {
		ok = ok && parseDigest(print.Artifacts[p], d.sums[i*sha256.Size:(i+1)*sha256.Size])
	}
	if !ok {
		return known
	}
	d.paths = s.index(paths)
	if s.devices == nil {
		s.devices = map[string]settled{}
	}
	s.devices[part.name] = d
	return true
}

// index is the index of a list of paths, which is entered if it is new.
func (s *Settled) index(paths []string) uint32 {
	const apart = "\x00" // is in no path: disk.CheckPath
	if s.known == nil {
		s.known = map[string]uint32{}
		for i, list := range s.paths {
			s.known[strings.Join(list, apart)] = uint32(i)
		}
	}
	text := strings.Join(paths, apart)
	at, ok := s.known[text]
	if !ok {
		at = uint32(len(s.paths))
		s.known[text], s.paths = at, append(s.paths, paths)
	}
	return at
}

// Drop forgets devices, and reports whether there were any.
func (s *Settled) Drop(gone func(name string) bool) bool {
	before := len(s.devices)
	maps.DeleteFunc(s.devices, func(name string, _ settled) bool { return gone(name) })
	return len(s.devices) < before
}

func digestText(sum []byte) string {
	const prefix = "sha256:"
	b := make([]byte, 0, len(prefix)+2*sha256.Size)
	return string(hex.AppendEncode(append(b, prefix...), sum))
}

func parseDigest(text string, into []byte) bool {
	digits, ok := strings.CutPrefix(text, "sha256:")
	if !ok || len(digits) != 2*sha256.Size || strings.ToLower(digits) != digits {
		return false
	}
	_, err := hex.Decode(into, []byte(digits))
	return err == nil
}

// settledMagic begins a file of settled devices; what follows is a digest of the
// rest, so that a file that was damaged is none.
const settledMagic = "rocec settled 1\n"

var errSettled = errors.New("it is no list of settled devices, or was damaged")

// Encode is the text of a file: equal lists have equal texts.
func (s *Settled) Encode() []byte {
	names := slices.Sorted(maps.Keys(s.devices))
	var paths [][]string // those that are in use
	index := map[uint32]uint64{}
	for _, name := range names {
		old := s.devices[name].paths
		if _, ok := index[old]; !ok {
			index[old] = uint64(len(paths))
			paths = append(paths, s.paths[old])
		}
	}
	b := make([]byte, len(settledMagic)+sha256.Size, len(settledMagic)+sha256.Size+len(s.devices)*640)
	copy(b, settledMagic)
	text := func(t string) { b = append(binary.AppendUvarint(b, uint64(len(t))), t...) }
	b = binary.AppendUvarint(b, uint64(len(paths)))
	for _, list := range paths {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, p := range list {
			text(p)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(s.devices)))
	for _, name := range names {
		d := s.devices[name]
		text(name)
		b = append(b, d.key[:]...)
		for _, n := range []uint64{uint64(d.stamp.SizeBytes), uint64(d.stamp.WrittenNs), uint64(d.stamp.ChangedNs), d.stamp.Number} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
		awaiting := byte(0)
		if d.awaiting {
			awaiting = 1
		}
		b = append(append(append(b, awaiting), d.intent[:]...), d.version[:]...)
		b = append(binary.AppendUvarint(b, index[d.paths]), d.sums...)
	}
	digest := sha256.Sum256(b[len(settledMagic)+sha256.Size:])
	copy(b[len(settledMagic):], digest[:])
	return b
}

// DecodeSettled reads the text of a file. It keeps parts of it.
func DecodeSettled(b []byte) (*Settled, error) {
	rest, ok := bytes.CutPrefix(b, []byte(settledMagic))
	if !ok || len(rest) < sha256.Size || sha256.Sum256(rest[sha256.Size:]) != sum(rest[:sha256.Size]) {
		return nil, errSettled
	}
	return decodeSettled(rest[sha256.Size:])
}

// decodeSettled reads what the digest is of.
func decodeSettled(b []byte) (*Settled, error) {
	r := settledReader{b: b}
	s := &Settled{devices: map[string]settled{}}
	for range r.count() {
		var list []string
		for range r.count() {
			list = append(list, string(r.take(r.count())))
		}
		s.paths = append(s.paths, list)
	}
	for range r.count() {
		d := settled{}
		name := string(r.take(r.count()))
		copy(d.key[:], r.take(sha256.Size))
		d.stamp.SizeBytes, d.stamp.WrittenNs, d.stamp.ChangedNs = int64(r.number()), int64(r.number()), int64(r.number())
		d.stamp.Number = r.number()
		d.awaiting = bytes.Equal(r.take(1), []byte{1})
		copy(d.intent[:], r.take(sha256.Size))
		copy(d.version[:], r.take(sha256.Size))
		n, read := binary.Uvarint(r.b)
		if read <= 0 || n >= uint64(len(s.paths)) {
			return nil, errSettled
		}
		r.b = r.b[read:]
		d.paths, d.sums = uint32(n), r.take(len(s.paths[n])*sha256.Size)
		if _, twice := s.devices[name]; twice || r.bad {
			return nil, errSettled
		}
		s.devices[name] = d
	}
	if r.bad || len(r.b) > 0 {
		return nil, errSettled
	}
	return s, nil
}

// settledReader takes values off a text. Once it is bad it gives nothing.
type settledReader struct {
	b   []byte
	bad bool
}

// count is a number of things that follow, each of which takes a byte at least.
func (r *settledReader) count() int {
	n, read := binary.Uvarint(r.b)
	if r.bad || read <= 0 || n > uint64(len(r.b)-read) {
		r.bad = true
		return 0
	}
	r.b = r.b[read:]
	return int(n)
}

func (r *settledReader) take(n int) []byte {
	if r.bad || n > len(r.b) {
		r.bad = true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *settledReader) number() uint64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}
