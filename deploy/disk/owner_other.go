//go:build !unix

package disk

import "io/fs"

// mine reports whether a file's mode says who may read it: here it never does.
func mine(fs.FileInfo) bool { return false }
