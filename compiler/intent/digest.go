package intent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Digest is "sha256:" and 64 hex digits over the canonical JSON of a device:
// fields in the order of the struct, map keys sorted, no white space. Two
// intents with one digest write the same artifacts.
func Digest(d *Device) string {
	b, err := json.Marshal(d)
	if err != nil {
		panic("intent of " + d.Name + " has no JSON form: " + err.Error()) // plain data only: cannot happen
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
