//go:build unix

package apply_test

import "syscall"

// Tests compare the modes of files: they do not depend on the umask of whoever runs them.
func init() { syscall.Umask(0o022) }
