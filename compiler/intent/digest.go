package intent

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"sync"
)

// Digest is "sha256:" and 64 hex digits over the canonical JSON of a device:
// fields in the order of the struct, map keys sorted, no white space. Two
// intents with one digest write the same artifacts.
func Digest(d *Device) string { return Canonical(d).Digest() }

// Canon is the canonical JSON of a device, field by field, so that digests of
// parts of the device cost little more. The device must not change meanwhile.
type Canon struct {
	device Device
	fields [][]byte            // of deviceFields, empty for one that is left out
	sums   [][sha256.Size]byte // of fields, once somebody asked for a part
	like   *Canon              // one whose fields it has, where they are the same memory; may be nil
}

// Canonical is the canonical JSON of a device.
func Canonical(d *Device) *Canon {
	fields := deviceFields()
	c := &Canon{device: *d, fields: make([][]byte, len(fields))}
	b := make([]byte, 0, 32<<10)
	v := reflect.ValueOf(d).Elem()
	for i := range fields {
		start := len(b)
		b = fields[i].append(b, v)
		c.fields[i] = b[start:len(b):len(b)] // of the old array where b has moved: as good
	}
	return c
}

// Ready prepares a canonical form for others to be like it, on several goroutines.
func (c *Canon) Ready() *Canon {
	c.sum()
	return c
}

// CanonicalLike is Canonical for a device that shares lists with another one,
// whose form is ready: those are not read again.
func CanonicalLike(d *Device, like *Canon) *Canon {
	fields := deviceFields()
	c := &Canon{device: *d, fields: make([][]byte, len(fields)), like: like}
	v, other := reflect.ValueOf(d).Elem(), reflect.ValueOf(&like.device).Elem()
	for i := range fields {
		if shared(v.Field(fields[i].index), other.Field(fields[i].index)) {
			c.fields[i] = like.fields[i]
			continue
		}
		const more = 128 // values differ in length
		c.fields[i] = fields[i].append(make([]byte, 0, len(like.fields[i])+more), v)
	}
	return c
}

// sum computes the digests of the fields, once.
func (c *Canon) sum() {
	if c.sums != nil {
		return
	}
	sums := make([][sha256.Size]byte, len(c.fields))
	for i, f := range c.fields {
		if c.like != nil && len(f) > 0 && len(c.like.fields[i]) == len(f) && &f[0] == &c.like.fields[i][0] {
			sums[i] = c.like.sums[i]
			continue
		}
		sums[i] = sha256.Sum256(f)
	}
	c.sums = sums
}

// append writes a field of a device, nothing if it is left out.
func (f *canonField) append(b []byte, device reflect.Value) []byte {
	x := device.Field(f.index)
	if f.none != nil && f.none(x) {
		return b
	}
	return f.one(append(b, f.name...), x)
}

// Digest is that of the device.
func (c *Canon) Digest() string {
	sum := sumOf(c.fields)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Part is a digest of a copy of the device in which some fields were replaced:
// the same for two copies that say the same, whatever device they were made
// from. Fields that copy and device share, the same list in the same memory, are
// not read again.
func (c *Canon) Part(part *Device) [sha256.Size]byte {
	all := deviceFields()
	c.sum()
	v, own := reflect.ValueOf(part).Elem(), reflect.ValueOf(&c.device).Elem()
	text := make([]byte, 0, len(all)*sha256.Size)
	for i := range all {
		sum := c.sums[i]
		if f := &all[i]; !shared(v.Field(f.index), own.Field(f.index)) {
			sum = sha256.Sum256(f.append(nil, v))
		}
		text = append(text, sum[:]...)
	}
	return sha256.Sum256(text)
}

// shared reports whether two lists, maps or pointers are one.
func shared(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Slice:
		return a.Len() == b.Len() && a.UnsafePointer() == b.UnsafePointer()
	case reflect.Map, reflect.Pointer:
		return a.UnsafePointer() == b.UnsafePointer()
	}
	return false
}

// sumOf is the digest of the object that consists of fields.
func sumOf(fields [][]byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	put := func(b []byte) { _, _ = h.Write(b) } // a hash takes everything
	put([]byte{'{'})
	first := true
	for _, f := range fields {
		if len(f) == 0 {
			continue
		}
		if !first {
			put([]byte{','})
		}
		first = false
		put(f)
	}
	put([]byte{'}'})
	h.Sum(sum[:0])
	return sum
}

var deviceFields = sync.OnceValue(func() []canonField { return fieldsOf(reflect.TypeFor[Device](), false) })

// Sorted is the compact JSON of a device with the keys of every object in order,
// as records have it but for their white space.
func Sorted(d *Device) []byte {
	return sortedCanon()(make([]byte, 0, 32<<10), reflect.ValueOf(d).Elem())
}

var sortedCanon = sync.OnceValue(func() canon { return canonOf(reflect.TypeFor[Device](), true) })
