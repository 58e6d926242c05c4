package report

import (
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/rocec/rocec/lang/diag"
)

// home is where the program is at home.
const home = "https://github.com/rocec/rocec"

// schemaAt is where OASIS publishes the schema of the form.
const schemaAt = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// sourceRoot is the name that files are relative to: the root of the repository.
const sourceRoot = "%SRCROOT%"

// SARIF writes the Static Analysis Results Interchange Format 2.1.0 (OASIS,
// errata 01). What is exempt is in it with the reason, so that a platform shows
// it as closed and not as mended.
func SARIF(w io.Writer, r *Report) error {
	run := sarif.NewRunWithInformationURI("rocec", home)
	kind := "unicodeCodePoints"
	run.ColumnKind = &kind
	if r.Version != "" {
		run.Tool.Driver.Version = &r.Version
	}
	s := &sarifWriter{report: r, run: run, rules: map[string]int{}}
	all := slices.Concat(r.Findings, r.Exempt)
	s.addRules(all)
	prints := r.fingerprints(all)
	for i := range all {
		run.Results = append(run.Results, s.result(&all[i], prints[i]))
	}
	doc := sarif.NewReport()
	doc.Schema = schemaAt
	doc.AddRun(run)
	if err := doc.PrettyWrite(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type sarifWriter struct {
	report *Report
	run    *sarif.Run
	rules  map[string]int // index by code
}

// addRules lists the rules that the findings have, by code.
func (s *sarifWriter) addRules(all []Finding) {
	var ids []string
	for i := range all {
		if id := all[i].Rule; id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for i, id := range slices.Compact(ids) {
		d := sarif.NewReportingDescriptor()
		d.ID = &id
		if rule := s.report.find(id); rule != nil {
			page := home + "/blob/main/docs/rules/" + url.PathEscape(id) + ".md"
			d.Name, d.HelpURI = &rule.Name, &page
			d.ShortDescription = sentences(rule.Title)
			d.FullDescription = sentences(rule.Title, rule.Why)
			d.Help = sentences(rule.Why, rule.Fix)
			d.DefaultConfiguration = sarif.NewReportingConfiguration()
			d.DefaultConfiguration.Level = sarifLevel(rule.Severity.String())
			family, _, _ := strings.Cut(rule.Name, "_")
			d.Properties = sarif.NewPropertyBag()
			d.Properties.Tags = []string{family}
		}
		s.rules[id] = i
		s.run.Tool.Driver.Rules = append(s.run.Tool.Driver.Rules, d)
	}
}

func (r *Report) find(id string) *diag.Rule {
	if r.Rules == nil {
		return nil
	}
	return r.Rules(id)
}

// sentences joins what a rule says of itself.
func sentences(parts ...string) *sarif.MultiformatMessageString {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(upper(p))
	}
	m := sarif.NewMultiformatMessageString()
	text := b.String() // no placeholders here: these are no messages (3.12)
	m.Text = &text
	return m
}

// upper makes a sentence of what a rule says.
func upper(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

func (s *sarifWriter) result(f *Finding, print string) *sarif.Result {
	d := &f.JSONDiagnostic
	x := sarif.NewResult()
	x.Message = message(text(d))
	x.Level = sarifLevel(d.Severity)
	x.PartialFingerprints = map[string]string{"rocec/v1": print}
	if d.Rule != "" {
		x.RuleID, x.RuleIndex = &d.Rule, s.rules[d.Rule]
	}
	if d.Count > 1 {
		x.OccurrenceCount = &d.Count
	}
	if l := s.location(d.Range, d.Snippet, d.Address); l != nil {
		x.Locations = append(x.Locations, l)
	}
	related := func(words string, l *sarif.Location) {
		if l == nil {
			return
		}
		l.ID = len(x.RelatedLocations)
		if words != "" {
			l.Message = message(words)
		}
		x.RelatedLocations = append(x.RelatedLocations, l)
	}
	for _, rel := range d.Related {
		related(rel.Message, s.location(rel.Range, rel.Snippet, ""))
	}
	for i := range d.Follows {
		o := &d.Follows[i]
		related(follows(o), s.location(o.Range, o.Snippet, o.Address))
	}
	if len(d.Members) > 0 {
		x.Properties = sarif.NewPropertyBag().Add("members", d.Members)
	}
	if fix := s.fix(d.Fixes); fix != nil {
		if rule := s.report.find(d.Rule); rule != nil {
			fix.Description = message(upper(rule.Fix))
		}
		x.Fixes = append(x.Fixes, fix)
	}
	x.Suppressions = nil // an empty list says that someone looked and let it stand
	if e := f.Exemption; e != nil {
		kind := "external"
		if e.InSource {
			kind = "inSource"
		}
		sup := sarif.NewSuppression()
		sup.Kind = &kind
		if e.Reason != "" {
			sup.Justification = &e.Reason
		}
		x.Suppressions = []*sarif.Suppression{sup}
	}
	return x
}

// location is nil where there is neither a file nor an address.
func (s *sarifWriter) location(at *diag.JSONRange, snippet *diag.JSONSnippet, address string) *sarif.Location {
	l := sarif.NewLocation()
	if address != "" {
		logical := sarif.NewLogicalLocation()
		logical.FullyQualifiedName = &address
		l.LogicalLocations = append(l.LogicalLocations, logical)
	}
	if file, known, ok := s.report.place(at); ok {
		l.PhysicalLocation = sarif.NewPhysicalLocation()
		l.PhysicalLocation.ArtifactLocation = artifact(file)
		if known != nil {
			l.PhysicalLocation.Region = region(known)
			if code := exactly(known, snippet); code != "" {
				l.PhysicalLocation.Region.Snippet = content(code)
			}
		}
	}
	if l.PhysicalLocation == nil && address == "" {
		return nil
	}
	return l
}

// exactly is the text of a range, "" where the snippet shows less of it or shows
// it otherwise.
func exactly(at *diag.JSONRange, s *diag.JSONSnippet) string {
	if s == nil || s.HighlightEndOffset-s.HighlightStartOffset != int(at.End.Byte)-int(at.Start.Byte) {
		return ""
	}
	return s.Code[s.HighlightStartOffset:s.HighlightEndOffset]
}

func artifact(file string) *sarif.ArtifactLocation {
	a := sarif.NewArtifactLocation()
	uri := (&url.URL{Path: file}).String()
	base := sourceRoot
	if strings.HasPrefix(file, "/") {
		uri, base = (&url.URL{Scheme: "file", Path: file}).String(), ""
	}
	a.URI = &uri
	if base != "" {
		a.URIBaseID = &base
	}
	return a
}

func region(at *diag.JSONRange) *sarif.Region {
	x := sarif.NewRegion()
	start, end := at.Start, at.End
	length := int(end.Byte) - int(start.Byte)
	x.StartLine, x.StartColumn, x.EndLine, x.EndColumn = &start.Line, &start.Column, &end.Line, &end.Column
	x.ByteOffset, x.ByteLength = int(start.Byte), &length
	return x
}

func content(text string) *sarif.ArtifactContent {
	c := sarif.NewArtifactContent()
	c.Text = &text
	return c
}

// fix is the edits of a finding as one: they hold together. Nil if there are
// none, or if a file of theirs is not at hand.
func (s *sarifWriter) fix(edits []diag.JSONFix) *sarif.Fix {
	if len(edits) == 0 {
		return nil
	}
	fix := sarif.NewFix()
	index := map[string]int{}
	for _, e := range edits {
		file, at, ok := s.report.place(e.Range)
		if !ok || at == nil {
			return nil
		}
		n, seen := index[file]
		if !seen {
			n = len(fix.ArtifactChanges)
			index[file] = n
			change := sarif.NewArtifactChange()
			change.ArtifactLocation = artifact(file)
			fix.ArtifactChanges = append(fix.ArtifactChanges, change)
		}
		r := sarif.NewReplacement()
		r.DeletedRegion, r.InsertedContent = region(at), content(e.Text)
		fix.ArtifactChanges[n].Replacements = append(fix.ArtifactChanges[n].Replacements, r)
	}
	return fix
}

// message quotes text as a message, in which braces are placeholders (3.11.5)
// and brackets before a parenthesis are links (3.11.6).
func message(text string) *sarif.Message {
	text = sarifText.Replace(text)
	m := sarif.NewMessage()
	m.Text = &text
	return m
}

var sarifText = strings.NewReplacer("{", "{{", "}", "}}", "](", `\](`)

func sarifLevel(severity string) string {
	if severity == "notice" {
		return sarif.LevelNote
	}
	return severity
}
