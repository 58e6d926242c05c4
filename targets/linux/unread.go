package linux

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/diag"
)

// What cannot be read is nobody's to change: install.sh removes no file that a line of
// its list names in another form, and puts none over somebody else's.

// foreign tells of both, as install.sh finds them.
func (r *reader) foreign() {
	k := keptOn(r.c)
	told := func(file, summary, help string) {
		d := diag.Diagnostic{Severity: diag.Warning, Summary: summary, Help: help, Labels: []diag.Label{{Where: file}}}
		if r.c.Label != nil {
			d.Labels = []diag.Label{r.c.Label(file, 0, 0)}
		}
		r.list.Add(d)
	}
	for _, line := range k.odd {
		told(installedFile, fmt.Sprintf("%s: %q names no file of rocec's on %s, and nothing is removed for it", installedFile, line, r.got.Name),
			"take the line out of /var/lib/rocec/installed, and the file away if it is rocec's")
	}
	for _, place := range slices.Sorted(maps.Keys(k.now)) {
		if _, ours := k.listed[place]; ours || strings.Contains(place, "rocec") {
			continue
		}
		if _, wanted := r.installs()[place]; wanted {
			told(placesFile, fmt.Sprintf("%s is on %s, and no list of install.sh has it", place, r.got.Name),
				"where rocec did not make it install.sh changes nothing: move what it says elsewhere and take it away")
		}
	}
}

// installs are the files of the wanted host, none of one that is not written.
func (r *reader) installs() map[string]file {
	if r.want.Verify {
		return nil
	}
	return installs(r.want.Device)
}
