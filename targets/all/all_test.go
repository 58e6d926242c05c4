package all

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/targets/feature"
)

// TestTablesAreComplete demands a row for every feature in every table: native
// and emulated ones with a source, emulated and refused ones with a note.
func TestTablesAreComplete(t *testing.T) {
	for _, tg := range Targets {
		t.Run(tg.Name, func(t *testing.T) {
			for _, id := range feature.All {
				rows := slices.DeleteFunc(slices.Clone(tg.Features.Rows), func(r feature.Row) bool { return r.ID != id })
				if len(rows) == 0 {
					t.Errorf("no row for %s", id)
				}
				for _, r := range rows {
					if r.Support != feature.Refused && strings.TrimSpace(r.Source) == "" {
						t.Errorf("%s is %s and has no source", id, r.Support)
					}
					if r.Support != feature.Native && strings.TrimSpace(r.Note) == "" {
						t.Errorf("%s is %s and does not say how, or what to do instead", id, r.Support)
					}
				}
			}
			for _, r := range tg.Features.Rows {
				if !slices.Contains(feature.All, r.ID) {
					t.Errorf("row for %s, which is no feature", r.ID)
				}
			}
			if tg.Title == "" || tg.Versions == "" || len(tg.OS) == 0 || len(tg.Sources) == 0 || tg.Parse == nil || len(tg.Probes) == 0 {
				t.Error("title, versions, systems, sources, probes and parser belong to a target")
			}
			for _, o := range tg.Options {
				if o.Doc == "" || o.Kind == "" {
					t.Errorf("option %s does not say what it is", o.Name)
				}
			}
		})
	}
}

func TestNamesAreSortedAndFound(t *testing.T) {
	if !slices.IsSorted(Names()) {
		t.Errorf("targets stand as %v", Names())
	}
	for _, n := range Names() {
		if Find(n) == nil || Find(n).Name != n {
			t.Errorf("%s is not found", n)
		}
	}
	if Find("nx-os") != nil {
		t.Error("a target that does not exist is found")
	}
}
