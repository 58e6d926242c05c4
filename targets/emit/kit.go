package emit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
)

// KitFolder is the folder of kits, beside the folders of devices: from a
// device's folder a kit is "../common/NAME".
const KitFolder = "common"

// Kit is a set of files that are the same for every device that uses it:
// programs, whose data stand in the device's own folder. A tree holds it once.
// It is made once by its target and never changed.
type Kit struct {
	Base      string     // what it is, the same for all its versions: "linux"
	Name      string     // Base and 12 hex digits of Digest: "linux-3f1c09ab52de"
	Digest    string     // "sha256:" and 64 hex digits over paths, modes, steps and bytes
	Artifacts []Artifact // paths from the kit's folder; Run is started in the device's folder, as that of its own files
}

// NewKit makes a kit of files. How they are run is not part of the digest, since
// it names the kit.
func NewKit(base string, files []Artifact) *Kit {
	sum := sha256.New()
	put := func(b []byte) { // each part with its length, so that no two lists of files are one text
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b)))) // a hash takes everything
		_, _ = sum.Write(b)
	}
	for _, f := range files {
		put([]byte(f.Path))
		put(binary.BigEndian.AppendUint32(nil, f.Mode))
		put([]byte(f.Step))
		put(f.Bytes)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	return &Kit{Base: base, Name: base + "-" + digest[:12], Digest: "sha256:" + digest, Artifacts: files}
}

// Folder is where the kit lies, seen from the device's folder.
func (k *Kit) Folder() string { return "../" + KitFolder + "/" + k.Name }

// Use notes that the device needs a kit.
func (o *Out) Use(k *Kit) {
	if !slices.Contains(o.Kits, k) {
		o.Kits = append(o.Kits, k)
	}
}
