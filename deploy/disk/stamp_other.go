//go:build !linux

package disk

import "io/fs"

func stampOf(info fs.FileInfo) Stamp { return plainStamp(info) }
