package report

import (
	"encoding/json"
	"io"
)

// gitlabIssue is one finding of a GitLab Code Quality report: the part of the
// Code Climate form that GitLab reads (docs.gitlab.com, ci/testing/code_quality).
type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
		End   int `json:"end,omitempty"`
	} `json:"lines"`
}

// GitLab writes the report of Code Quality. A place is compulsory there, so that
// findings without one stand at the first line of the folder.
func GitLab(w io.Writer, r *Report) error {
	prints := r.fingerprints(r.Findings)
	issues := make([]gitlabIssue, len(r.Findings))
	for i := range r.Findings {
		d := &r.Findings[i].JSONDiagnostic
		x := &issues[i]
		*x = gitlabIssue{Description: text(d), CheckName: d.RuleName, Fingerprint: prints[i], Severity: "info"}
		switch d.Severity {
		case "error":
			x.Severity = "critical"
		case "warning":
			x.Severity = "minor"
		}
		if x.CheckName == "" {
			x.CheckName = d.Rule
		}
		if x.CheckName == "" {
			x.CheckName = "source"
		}
		x.Location.Path, x.Location.Lines.Begin = ".", 1
		if file, at, ok := r.place(d.Range); ok {
			x.Location.Path = file
			if at != nil {
				x.Location.Lines.Begin, x.Location.Lines.End = at.Start.Line, at.End.Line
			}
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(issues)
}
