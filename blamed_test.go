package rocec_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"
)

// blamedElsewhere are findings whose first line is as it should be, and why.
var blamedElsewhere = map[string]string{
	"r04-pcp ROCE612": "of two lines that exclude each other the other one was taken out",
}

// TestBlamed: of each incident, a finding begins with a line that the repaired fabric
// does not have, or with the block that the repair writes something into.
func TestBlamed(t *testing.T) {
	used := map[string]bool{}
	for _, file := range cases(t, "testdata/incidents/*.txtar", 12) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		section := map[string]string{}
		for _, f := range txtar.Parse(text).Files {
			section[f.Name] = string(f.Data)
		}
		bad, fixed := section["fabric.roce.hcl"], strings.Split(section["fixed.roce.hcl"], "\n")
		m := build(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(bad)}}, "2026-06-01")
		for _, d := range m.Diags {
			at := d.Span()
			if at.IsZero() {
				t.Errorf("%s: %s has no place", caseName(file), d.Rule)
				continue
			}
			from := 1 + strings.LastIndexByte(bad[:at.Start], '\n')
			line, _, _ := strings.Cut(bad[from:], "\n")
			key := caseName(file) + " " + d.Rule
			used[key] = true
			if bad := slices.Contains(fixed, line) && !strings.HasSuffix(line, "{"); bad != (blamedElsewhere[key] != "") {
				t.Errorf("%s begins with a line that the repair leaves alone: %v: %s", key, bad, line)
			}
		}
	}
	for key := range blamedElsewhere {
		if !used[key] {
			t.Errorf("%s is not found any more", key)
		}
	}
}
