package format

import (
	"maps"
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/schema"
)

// Fixed is a file in the words of the newest edition of the language.
type Fixed struct {
	Text    []byte
	Left    []Problem // what is to be done by hand
	Problem *Problem  // why nothing was changed
}

// Folder is Fix for the files of one folder, by name; those that are not asked for stay as they are. A folder whose files of configuration
// all are in the words of the newest edition afterwards says so: in the `rocec` block that it has, or, where it is asked for as a whole,
// in a new one in its first file. Done is false where something is left to do by hand, which keeps that from being written.
func Folder(files map[string][]byte, asked func(name string) bool, whole bool) (out map[string]Fixed, done bool) {
	names := slices.Sorted(maps.Keys(files))
	edition, holder, first := 0, "", ""
	for _, name := range names {
		if !isConfiguration(name) {
			continue
		}
		if first == "" && !strings.HasSuffix(name, ".json") {
			first = name
		}
		e, has := Language(name, files[name])
		if edition = max(edition, e); has {
			holder = name
		}
	}
	out, done = map[string]Fixed{}, true
	for _, name := range names {
		var f Fixed
		f.Text, f.Left, f.Problem = Fix(name, files[name], edition)
		taken := asked(name)
		if taken {
			out[name] = f
		}
		if isConfiguration(name) {
			done = done && f.Problem == nil && len(f.Left) == 0 && (taken || string(f.Text) == string(files[name]))
		}
	}
	if holder == "" && whole {
		holder = first
	}
	if f, ok := out[holder]; ok && done && edition < schema.Language {
		f.Text, f.Problem = SetLanguage(holder, f.Text)
		out[holder] = f
	}
	return out, done
}

// isConfiguration reports whether a fabric is read from a file.
func isConfiguration(name string) bool {
	return strings.HasSuffix(name, ".roce.hcl") || strings.HasSuffix(name, ".roce.json")
}
