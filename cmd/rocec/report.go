package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// ruleOf finds what a rule says of itself, wherever it lives.
func ruleOf(codeOrName string) *diag.Rule {
	if r := lint.Find(codeOrName); r != nil {
		return &r.Rule
	}
	return elsewhere(codeOrName)
}

// elsewhere finds one of the rules that are not decided over the fabric alone.
func elsewhere(codeOrName string) *diag.Rule {
	for _, r := range otherRules {
		if codeOrName == r.ID || codeOrName == r.Name {
			return r
		}
	}
	return nil
}

// otherRules are the rules that are not decided over the fabric alone.
var otherRules = slices.Concat(targets.Refusals, []*diag.Rule{&targets.ROCE908, &planDrain, &planFirstDeny, &recordLock}, verify.Rules)

// rules are all rules, by code.
func rules() []*diag.Rule {
	list := slices.Clone(otherRules)
	for _, r := range lint.All {
		list = append(list, &r.Rule)
	}
	slices.SortFunc(list, func(a, b *diag.Rule) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// ruleJSON is a rule for programs.
type ruleJSON struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Severity string `json:"severity"`
	Hard     bool   `json:"hard"` // nothing silences it
	Title    string `json:"title"`
	Why      string `json:"why"`
	Fix      string `json:"fix"`
	Steps    string `json:"steps,omitempty"`      // their order on a live fabric
	Breaks   string `json:"interrupts,omitempty"` // what stops meanwhile
	Source   string `json:"source"`
	Formula  string `json:"formula,omitempty"`
	Needs    string `json:"needs,omitempty"` // facts without which it finds nothing
	Bad      string `json:"bad"`
	Good     string `json:"good"`
}

func jsonOf(r *diag.Rule) ruleJSON {
	return ruleJSON{
		r.ID, r.Name, r.Severity.String(), r.Hard, r.Title, r.Why, r.Fix, r.Steps, r.Interrupts, r.Source, r.Formula, r.Needs,
		laidOut(r.Bad), laidOut(r.Good),
	}
}

// print writes findings into the stream, and for people to standard error.
func (a *app) print(p *project, list diag.List) {
	if len(list) == 0 { // as of most devices
		return
	}
	if a.stream != nil {
		a.stream.findings(p, list)
		if a.json {
			return
		}
	}
	diag.Text(a.err, list, p.view, a.textOptions(a.err))
}

// mostShown is how many findings are printed for people, above what a rule with a bound of
// its own lists before it says how many more there are; nobody reads the
// thousandth before the first is mended.
const mostShown = 200

// textOptions say how findings are printed for people.
func (a *app) textOptions(w io.Writer) diag.TextOptions {
	o := diag.TextOptions{Color: a.colored(w), Width: a.width(w), Rules: ruleOf}
	if !a.verbose {
		o.Limit, o.More = mostShown, "--verbose shows them"
	}
	return o
}

// atLeast are the findings of a severity and above.
func atLeast(list diag.List, least diag.Severity) diag.List {
	return list.Keep(func(d *diag.Diagnostic) bool { return d.Severity <= least })
}

// verdict is the JSON that validate ends with.
type verdict struct {
	FormatVersion string                `json:"format_version"`
	Valid         bool                  `json:"valid"`
	ErrorCount    int                   `json:"error_count"`
	WarningCount  int                   `json:"warning_count"`
	Diagnostics   []diag.JSONDiagnostic `json:"diagnostics"`
}

func (p *project) verdict(list diag.List) verdict {
	v := verdict{FormatVersion: "1.0", Diagnostics: diag.JSON(list, p.view, ruleOf)}
	for _, d := range list {
		switch n := max(d.Count, 1); d.Severity {
		case diag.Error:
			v.ErrorCount += n
		case diag.Warning:
			v.WarningCount += n
		}
	}
	v.Valid = v.ErrorCount == 0
	return v
}

// writeJSON prints one object, and to --json-into besides when that is asked for.
func (a *app) writeJSON(v any) error {
	var b bytes.Buffer
	if err := encodeJSON(&b, v); err != nil {
		return err
	}
	if a.jsonTo != "" {
		if err := replaceFile(a.jsonTo, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", a.jsonTo, err)
		}
	}
	if a.json {
		_, err := io.Copy(a.out, &b)
		return err
	}
	return nil
}

// encodeJSON writes a value as the commands print one.
func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// object is the result of a command that prints one: as JSON, as text, or text
// here and JSON into a file.
func (a *app) object(v any, text func() error) error {
	if a.wantsJSON() {
		if err := a.writeJSON(v); err != nil || a.json {
			return err
		}
	}
	return text()
}

// wantsJSON reports whether any JSON is asked for.
func (a *app) wantsJSON() bool { return a.json || a.jsonTo != "" }

// stopOnErrors prints what stands in the way of going on. It is nil when
// nothing does.
func (a *app) stopOnErrors(p *project) error {
	list := atLeast(p.diags, diag.Warning)
	if !p.diags.HasErrors() {
		a.print(p, list)
		return nil
	}
	if a.stream == nil && a.wantsJSON() {
		if err := a.writeJSON(p.verdict(list)); err != nil {
			return err
		}
	}
	if a.stream != nil || !a.json {
		a.print(p, list)
	}
	return exit(1)
}

// count is "1 error", "3 errors".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
