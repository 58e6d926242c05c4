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
func Digest(d *Device) string {
	sum := sha256.Sum256(deviceCanon()(make([]byte, 0, 16<<10), reflect.ValueOf(d).Elem()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

var deviceCanon = sync.OnceValue(func() canon { return canonOf(reflect.TypeFor[Device]()) })
