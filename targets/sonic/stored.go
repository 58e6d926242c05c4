package sonic

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// storedFile is the copy of the stored configuration that the scripts keep.
const storedFile = "rocec-stored.json"

// boots is Target.Stored: what config_db.json has of the intent otherwise than
// ConfigDB. A file that is no configuration is one difference, and none is found
// in one that is what runs, as config save leaves it.
func boots(d *intent.Device, c targets.Captured) ([]intent.Difference, diag.List) {
	text, ok := c.Files[stored]
	if !ok || bytes.Equal(bytes.TrimSpace(text), bytes.TrimSpace(c.Files[running])) {
		return nil, nil
	}
	now, list := parse(d, targets.Captured{Files: c.Files})
	if now == nil || list.HasErrors() {
		return nil, nil // as Parse says
	}
	whole := func(before string) []intent.Difference {
		return []intent.Difference{{Path: intent.Path{Object: intent.OfDevice}.Stored(), Before: before, After: "what runs"}}
	}
	db, list := decode(stored, text, c.Label)
	switch {
	case list.HasErrors():
		for i := range list {
			list[i].Severity = diag.Warning // it is what the switch has, and to save mends it
		}
		return whole("no JSON"), list
	case len(db.rows("PORT")) == 0:
		return whole("nothing"), list
	}
	starts, list := db.device(d, list)
	runs, _ := decode(running, c.Files[running], nil) // it parsed
	return comesBack(d, db, runs, intent.Boots(d, now, starts)), list
}

// comesBack adds rows and fields that have to be absent, as what is wanted excludes
// them, and that the switch starts with and does not run, to a list that has some of
// them by the settings that they make.
func comesBack(d *intent.Device, starts, runs *database, list []intent.Difference) []intent.Difference {
	other := map[string][]string{} // rows that are stored otherwise than they run, by table
	for table, rows := range starts.tables {
		for _, key := range starts.keys(table) {
			if have, is := runs.rows(table)[key]; !is || !reflect.DeepEqual(rows[key], have) {
				other[table] = append(other[table], key)
			}
		}
	}
	m := merge{device: d, want: build(d)}
	starts.spell(m.want)
	known, found := map[intent.Path]bool{}, map[string]bool{}
	for _, x := range list {
		known[x.Path] = true
	}
	for _, a := range absences(d) {
		is := func(db *database, key string) bool {
			r, there := db.rows(a.table)[key]
			_, has := r[a.field]
			return there && (a.field == "" || has && matches(a.value, text(r[a.field])))
		}
		for _, key := range other[a.table] {
			wanted, whole := m.wanted(a.table, key)
			what, at := a.table+"|"+key, a.from
			if !a.row {
				what += " " + a.field
			}
			if at.Object == intent.OfQoS { // as comparisons speak of it
				at = intent.Path{Object: intent.OfDevice, Field: at.Field}
				if port, _, _ := strings.Cut(key, "|"); d.PortNamed(port) != nil {
					at.Object, at.Name = intent.OfPort, port
				}
			}
			if known[at.Stored()] || !matches(a.key, key) || slices.Contains(a.keep, key) || !is(starts, key) || is(runs, key) || a.row && whole || wanted[a.field].value != "" || found[what] {
				continue
			}
			found[what] = true
			list = append(list, intent.Difference{Path: at.Stored(), Before: what, After: "absent"})
		}
	}
	return list
}

// save writes what stores the running configuration where nothing else is to be
// done. What it leaves to rocec-live.sh is the saving itself.
func save(d *intent.Device, files []string, out *emit.Out) {
	s := script(d, out, "apply.sh", emit.Apply,
		"Stores the running configuration: it is as it shall be, and the switch would not start with it.",
		"Everything that runs is stored, also what others have changed and not saved. Nothing that runs changes.",
		liveNote)
	s.root()
	s.checks()
	s.Line("[ -z \"${ROCEC_LIVE-}\" ] || exit 0")
	s.Line("if [ -e %s ]; then cp -p %[1]s %s; else : >%[2]s; fi", startup, storedFile)
	s.checkpoint()
	s.Line("config save -y")
	if len(files) > 0 {
		s.Line("python3 \"$check\" missing %s %s", startup, strings.Join(files, " "))
	}
}

// unsave writes the way back from save.
func unsave(d *intent.Device, out *emit.Out) {
	s := script(d, out, "rollback.sh", emit.Rollback, "Puts the stored configuration back that was there before. Nothing that runs changes.")
	s.root()
	s.Text("if [ ! -e " + storedFile + " ]; then\n" +
		"    echo \"apply.sh was not run here: there is nothing to go back to\" >&2\n" +
		"    exit 1\n" +
		"fi\n")
	s.Line("if [ -s %s ]; then cp -p %[1]s %s; else rm -f %[2]s; fi", storedFile, startup)
}
