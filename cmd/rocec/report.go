package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// ruleOf finds what a rule says of itself, wherever it lives.
func ruleOf(codeOrName string) *diag.Rule {
	if r := lint.Find(codeOrName); r != nil {
		return &r.Rule
	}
	if codeOrName == targets.ROCE717.ID || codeOrName == targets.ROCE717.Name {
		return &targets.ROCE717
	}
	return nil
}

// rules are all rules, by code.
func rules() []*diag.Rule {
	var list []*diag.Rule
	added := false
	for _, r := range lint.All {
		if !added && r.ID > targets.ROCE717.ID {
			list, added = append(list, &targets.ROCE717), true
		}
		list = append(list, &r.Rule)
	}
	return list
}

// print writes findings for people, to standard error.
func (a *app) print(p *project, list diag.List) {
	diag.Text(a.err, list, p.view, diag.TextOptions{Color: a.colored(a.err), Width: a.width(a.err), Rules: ruleOf})
}

// errorsOnly is what validate, build, plan and apply stop at; warnings come
// with it.
func atLeast(list diag.List, least diag.Severity) diag.List {
	var out diag.List
	for _, d := range list {
		if d.Severity <= least {
			out.Add(d)
		}
	}
	return out
}

// verdict is the JSON that validate ends with.
type verdict struct {
	FormatVersion string `json:"format_version"`
	Valid         bool   `json:"valid"`
	ErrorCount    int    `json:"error_count"`
	WarningCount  int    `json:"warning_count"`
	Diagnostics   any    `json:"diagnostics"`
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
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	if a.jsonTo != "" {
		if err := os.WriteFile(a.jsonTo, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", a.jsonTo, err)
		}
	}
	if a.json {
		_, err := io.Copy(a.out, &b)
		return err
	}
	return nil
}

// wantsJSON reports whether any JSON is asked for.
func (a *app) wantsJSON() bool { return a.json || a.jsonTo != "" }

// stopOnErrors prints what stands in the way of going on. It is nil when
// nothing does.
func (a *app) stopOnErrors(p *project) error {
	list := atLeast(p.diags, diag.Warning)
	if p.diags.HasErrors() {
		if a.json {
			a.writeJSON(p.verdict(list))
		} else {
			a.print(p, list)
		}
		return exit(1)
	}
	if !a.json && !a.quiet {
		a.print(p, list)
	}
	return nil
}

// count is "1 error", "3 errors".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
