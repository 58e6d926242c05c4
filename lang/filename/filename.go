// Package filename says which names and paths every system takes that a
// repository may be checked out on. It takes names and leaves out what becomes
// of them: the language refuses them where they are written, whoever writes
// files refuses them again.
package filename

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// devices are the names that Windows keeps, in any case, with any extension and with
// blanks before it: "Naming Files, Paths, and Namespaces" of the Win32 documentation.
// COM and LPT have a digit behind them, which may be a superscript one.
var devices = []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}

// Reserved reports whether Windows keeps a name for a device.
func Reserved(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.TrimRight(base, " ")
	if slices.ContainsFunc(devices, func(d string) bool { return strings.EqualFold(d, base) }) {
		return true
	}
	return len(base) > 3 && (strings.EqualFold(base[:3], "COM") || strings.EqualFold(base[:3], "LPT")) &&
		slices.Contains([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}, base[3:])
}

// CheckPath refuses what must not become the path of a file inside a folder:
// whatever is not a clean relative path with forward slashes, and on any part
// characters or names that some system has another use for.
func CheckPath(path string) error {
	if path == "." || !fs.ValidPath(path) {
		return fmt.Errorf("path %q is not a clean relative path", path)
	}
	for part := range strings.SplitSeq(path, "/") {
		if i := strings.IndexFunc(part, func(r rune) bool { return r < 0x20 || strings.ContainsRune(`\:*?"<>|`, r) || r == 0x7f }); i >= 0 {
			return fmt.Errorf("path %q has %q, which not every system takes in a file name", path, part[i])
		}
		if Reserved(part) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			return fmt.Errorf("path %q has the part %q, which cannot be a file on Windows", path, part)
		}
	}
	return nil
}
