package disk

import (
	"io/fs"
	"syscall"
)

func stampOf(info fs.FileInfo) Stamp {
	s := plainStamp(info)
	if x, ok := info.Sys().(*syscall.Stat_t); ok {
		s.ChangedNs, s.Number = x.Ctim.Nano(), x.Ino
	}
	return s
}
