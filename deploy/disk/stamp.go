package disk

import (
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Stamp tells two states of a file apart without reading it, as far as the
// system does: size, time of the last write and, where there are such, the number
// of the file and the time of the last change of any kind. It is comparable.
type Stamp struct {
	SizeBytes, WrittenNs, ChangedNs int64
	Number                          uint64
}

// StampOf is the stamp of a regular file; the error is that of package os.
func StampOf(path string) (Stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stamp{}, err
	}
	if !info.Mode().IsRegular() {
		return Stamp{}, fmt.Errorf("%s is not a regular file", path)
	}
	return stampOf(info), nil
}

// Settled reports whether a later write would give another stamp: the file was
// last written well before now, by more than any file system rounds its times.
func (s Stamp) Settled(now time.Time) bool {
	const coarsest = 2 * time.Second // of FAT
	return max(s.WrittenNs, s.ChangedNs) < now.Add(-coarsest).UnixNano()
}

func plainStamp(info fs.FileInfo) Stamp {
	return Stamp{SizeBytes: info.Size(), WrittenNs: info.ModTime().UnixNano()}
}
