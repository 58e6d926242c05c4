package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/rocec/rocec/lang/diag"
)

// Strays are findings about folders in dir that have the name of no device of
// the configuration: their captures would be read by nobody, and the device
// that was meant be called unknown. Hidden folders and plain files are not
// looked at.
func Strays(dir string, devices []string) (diag.List, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(devices))
	for _, d := range devices {
		known[d] = true
	}
	var list diag.List
	for _, e := range entries {
		// What a link leads to may be a folder as well; os.Stat follows it.
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.IsDir() || known[e.Name()] || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		help := "name the folder after the device whose captures it holds, or move it away"
		if near := nearest(e.Name(), devices); near != "" {
			help = fmt.Sprintf("did you mean %q? %s", near, help)
		}
		list.Add(diag.Diagnostic{
			Severity: diag.Error, Summary: fmt.Sprintf("%s is the folder of no device of this configuration", filepath.ToSlash(filepath.Join(dir, e.Name()))), Help: help,
		})
	}
	return list, nil
}

// nearest is the device that a name most likely stands for, "" if none is
// close. A host is often captured under its full name, or in capitals.
func nearest(name string, devices []string) string {
	name = strings.ToLower(name)
	host, _, _ := strings.Cut(name, ".")
	best, found := 1+min(3, len(name)/2), ""
	for _, d := range devices {
		low := strings.ToLower(d)
		if low == host {
			return d
		}
		if n := levenshtein.Distance(name, low, nil); n < best {
			best, found = n, d
		}
	}
	return found
}
