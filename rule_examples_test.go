package rocec_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/targets"
)

// TestRuleExamples takes the examples of every rule on the fabric through every stage:
// what a rule shows as good is loaded, compiled and written by the emitters of its
// devices, and nothing is said of it; what it shows as bad is found by that rule alone.
// Targets may refuse what is an error anyway.
func TestRuleExamples(t *testing.T) {
	for _, r := range lint.All {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			good := buildExample(r, r.Good)
			if len(good.Diags) > 0 {
				t.Errorf("the good example has findings:\n%s", good.Findings)
			}
			if len(good.Devices) == 0 {
				t.Error("the good example gives no device anything")
			}
			bad := buildExample(r, r.Bad)
			if !slices.ContainsFunc(bad.Diags, func(d diag.Diagnostic) bool { return d.Rule == r.ID }) {
				t.Errorf("the bad example is not found:\n%s", bad.Findings)
			}
			if slices.ContainsFunc(bad.Diags, func(d diag.Diagnostic) bool {
				return d.Rule != r.ID && (r.Severity != diag.Error || !refuses(d.Rule))
			}) {
				t.Errorf("the bad example has other findings:\n%s", bad.Findings)
			}
		})
	}
}

// refuses reports whether a rule is of what targets refuse.
func refuses(id string) bool {
	return slices.ContainsFunc(targets.Refusals, func(r *diag.Rule) bool { return r.ID == id })
}

// buildExample builds the files of an example. A pedantic rule is asked for by name.
func buildExample(r *lint.Rule, text string) made {
	a := txtar.Parse([]byte(text))
	fsys := fstest.MapFS{"fabric.roce.hcl": {Data: a.Comment}}
	for _, f := range a.Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	m := buildWith(fsys, compiler.Options{AsOf: "2026-01-01", Rows: packs.HeadroomRows, Pedantic: r.Pedantic})
	if !r.Pedantic {
		return m
	}
	m.Diags = slices.DeleteFunc(m.Diags, func(d diag.Diagnostic) bool {
		other := lint.Find(d.Rule)
		return other != nil && other != r && other.Pedantic
	})
	return m
}

// sheets are words of notes that no reader has: a source is a document that can be opened.
var sheets = regexp.MustCompile(`\btheory\b|catalogue|linux-hosts|windows-esxi|switches-(linux|classic)-nos|cli-and-language|\bDESIGN\b|data of the model$`)

// TestRuleSources: what a rule names as its source can be opened.
func TestRuleSources(t *testing.T) {
	for _, r := range lint.All {
		if word := sheets.FindString(r.Source); word != "" || r.Source == "" {
			t.Errorf("%s names %q: %s", r.ID, word, r.Source)
		}
	}
}

// TestPairByEVPN: switches that EVPN multihoming joins have their LAGs written, and no MLAG.
func TestPairByEVPN(t *testing.T) {
	pair := lint.Find("ROCE820").Good
	before, rest, _ := strings.Cut(pair, "  peer_link = ")
	_, after, ok := strings.Cut(rest, "\n}\n")
	if !ok {
		t.Fatal("the example has no pair")
	}
	of := func(text string) (lags, mlags int) {
		m := buildExample(lint.Find("ROCE820"), text)
		if m.Findings != "" {
			t.Error(m.Findings)
		}
		for _, d := range m.Devices {
			if d.Target.Name == "cumulus" {
				lags += len(d.Intent.LAGs)
				for _, f := range d.Files {
					mlags += strings.Count(string(f.Bytes), "mlag")
				}
			}
		}
		return lags, mlags
	}
	if lags, mlags := of(before + "  evpn = true\n}\n" + after); lags != 2 || mlags > 0 {
		t.Errorf("by EVPN: %d LAGs, mlag %d times", lags, mlags)
	}
	if _, mlags := of(pair); mlags == 0 {
		t.Error("as a pair: no mlag")
	}
	for _, found := range buildExample(lint.Find("ROCE820"), before+"  evpn = true\n  peer_link = "+rest).Diags {
		if !strings.Contains(found.Summary, "mlag pair is multihomed by EVPN, and has ") {
			t.Error(found.Summary)
		}
	}
}
