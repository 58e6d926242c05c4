package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocec/rocec/cmd/rocec/internal/report"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// settings are those that hold for a folder, with what is wrong in them.
type settings struct {
	*lang.Settings
	file  string                       // as it is opened; "" if there is none
	rules map[string]*lang.RuleSetting // by code
	view  *source.View
	diags diag.List
	from  *disk.Checkout // that the file came with; nil: it is the user's own
}

// settle reads the settings of the working folder and chooses the form of the
// findings: that of the line, else that of the settings.
func (l *linter) settle() error {
	s, err := l.settingsOf(".")
	if err != nil {
		return err
	}
	f := l.flags
	if f.format == "" {
		f.format = s.Format.Text
	}
	switch f.format {
	case "":
		f.format = "text"
	case "auto":
		f.format = l.auto()
	}
	l.broken = s.diags.HasErrors()
	return nil
}

// settingsOf are the settings of a folder. Those of a file are read once.
func (l *linter) settingsOf(dir string) (*settings, error) {
	name, named, err := l.settingsFile(dir, l.flags.config)
	if err != nil {
		return nil, fmt.Errorf("look for settings: %w", err)
	}
	if s := l.settings[name]; s != nil {
		return s, nil
	}
	s := &settings{Settings: &lang.Settings{}, file: name, rules: map[string]*lang.RuleSetting{}}
	if name != "" {
		src, err := s.read(named)
		if err != nil {
			return nil, fmt.Errorf("read settings: %w", err)
		}
		files := source.NewFiles()
		s.view = &source.View{Files: files, Read: func(string) ([]byte, error) { return src, nil }}
		s.Settings, s.diags = lang.ReadSettings(files, fromHere(name), src)
		s.judge()
		diag.Sort(s.diags, files)
	}
	l.settings[name] = s
	return s, nil
}

// read reads the file. What was named on the line or by the environment, and what stands in the home folder, is the
// user's own; any other came with a checkout, as does one that was named and lies in that of the working folder.
func (s *settings) read(named bool) ([]byte, error) {
	c, err := checkoutAt(filepath.Dir(s.file))
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir()
	here, err := disk.CheckoutOf(".")
	if err != nil {
		return nil, err
	}
	if !here.Holds(s.file) && (named || filepath.Dir(s.file) == home) {
		return readFile(s.file)
	}
	s.from = &c
	if err := c.Check(s.file); err != nil {
		return nil, err
	}
	return readFile(s.file)
}

// settingsFile is where the settings of a folder stand: where the line or the
// environment says, else in the nearest file upwards, else in the home folder.
func (a *app) settingsFile(dir, line string) (name string, named bool, err error) {
	if line == "" {
		line = a.env["ROCEC_CONFIG_FILE"]
	}
	if line != "" {
		return line, true, nil
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return "", false, err
	}
	for {
		name := filepath.Join(at, lang.SettingsName)
		switch _, err := os.Lstat(name); {
		case err == nil:
			return name, false, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return "", false, err
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	if home, err := os.UserHomeDir(); err == nil {
		if name := filepath.Join(home, lang.SettingsName); exists(name) {
			return name, false, nil
		}
	}
	return "", false, nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// judge checks what only the program knows: rules and forms.
func (s *settings) judge() {
	fail := func(at source.Span, summary, help string, more ...diag.Label) {
		s.diags.Add(diag.Diagnostic{Summary: summary, Help: help, Labels: append([]diag.Label{{Span: at}}, more...)})
	}
	if form := s.Format; form.Text != "" {
		if err := oneOf("`format`", form.Text, append(lintForms(), "auto")...); err != nil {
			fail(form.At, err.Error(), "")
		}
	}
	for i := range s.Rules {
		set := &s.Rules[i]
		r := ruleOf(set.Name.Text)
		if r == nil {
			fail(set.Name.At, fmt.Sprintf("there is no rule %q", set.Name.Text), "rocec lint --list-rules lists them")
			continue
		}
		if first := s.rules[r.ID]; first != nil {
			fail(set.Name.At, fmt.Sprintf("rule %s %s is set twice", r.ID, r.Name), "", diag.Label{Span: first.Name.At, Text: "first written"})
			continue
		}
		s.rules[r.ID] = set
		s.judgeOptions(set, r)
		if set.Severity != nil && r.Severity == diag.Error && *set.Severity != diag.Error {
			fail(set.SeverityAt, fmt.Sprintf("%s %s finds errors, which no setting weakens", r.ID, r.Name), "accept single findings in an override block with a reason and an end date")
		}
	}
}

// judgeOptions checks the options of one rule.
func (s *settings) judgeOptions(set *lang.RuleSetting, r *diag.Rule) {
	var names []string
	for _, o := range r.Options {
		names = append(names, o.Name)
	}
	for _, x := range set.Options {
		i := slices.Index(names, x.Name.Text)
		if i < 0 {
			help := "it has none"
			if len(names) > 0 {
				help = "it has " + strings.Join(names, ", ")
			}
			s.diags.Add(diag.Diagnostic{Summary: fmt.Sprintf("%s %s has no option %q", r.ID, r.Name, x.Name.Text), Help: help, Labels: []diag.Label{{Span: x.Name.At}}})
			continue
		}
		if o := r.Options[i]; x.Value < o.Min || x.Value > o.Max {
			s.diags.Add(diag.Diagnostic{
				Summary: fmt.Sprintf("option %s of %s %s is %s to %s, not %d", o.Name, r.ID, r.Name, unitOf(o, o.Min), unitOf(o, o.Max), x.Value), Labels: []diag.Label{{Span: x.At}},
			})
		}
	}
}

// unitOf is a value of an option with its unit.
func unitOf(o diag.Option, n int64) string { return strings.TrimSpace(fmt.Sprintf("%d %s", n, o.Unit)) }

// limits are the options of all rules that are set.
func (s *settings) limits() lint.Limits {
	all := lint.Limits{}
	for id, set := range s.rules {
		for _, x := range set.Options {
			if all[id] == nil {
				all[id] = map[string]int64{}
			}
			all[id][x.Name.Text] = x.Value
		}
	}
	return all
}

// enabled is the word of the settings on a rule: its block's, else the preset's.
func (s *settings) enabled(r *diag.Rule, severity diag.Severity) bool {
	if set := s.rules[r.ID]; set != nil && set.Enabled != nil {
		return *set.Enabled
	}
	switch s.Preset.Text {
	case "none":
		return false
	case "recommended":
		return !r.Pedantic && s.severity(r, severity) <= diag.Warning
	case "all":
		return true
	}
	return !r.Pedantic
}

// severity is how severe a finding of a rule is under the settings. Errors stay.
func (s *settings) severity(r *diag.Rule, found diag.Severity) diag.Severity {
	if set := s.rules[r.ID]; set != nil && set.Severity != nil && found != diag.Error {
		return *set.Severity
	}
	return found
}

func (s *settings) ignorable(r *diag.Rule) bool {
	set := s.rules[r.ID]
	return set == nil || set.Ignorable == nil || *set.Ignorable
}

// weigh gives findings the severity that the settings say.
func (s *settings) weigh(list diag.List) diag.List {
	for i := range list {
		if r := ruleOf(list[i].Rule); r != nil {
			list[i].Severity = s.severity(r, list[i].Severity)
		}
	}
	return list
}

// exempt are the findings of a project, and those that its source takes out.
// Comments that the settings do not let count take out nothing.
func (s *settings) exempt(p *project) (diag.List, []exempt) {
	list := slices.Clone(p.diags)
	if p.res == nil {
		return list, nil
	}
	var out []exempt
	for _, e := range p.res.Exempt {
		taken := e.Findings
		if e.Comment {
			bare := s.RequireReason && e.Reason == ""
			if bare {
				list.Add(diag.Diagnostic{
					Severity: diag.Warning, Summary: "comment silences a rule without a reason",
					Labels: []diag.Label{{Span: e.At}}, Notes: []string{fromHere(s.file) + " requires one, so that it silences nothing"},
					Help: "say why behind the rule: # rocec-ignore: RULE # reason",
				})
			}
			taken = nil
			for _, d := range e.Findings {
				switch r := ruleOf(d.Rule); {
				case r != nil && !s.ignorable(r):
					d.Notes = append(slices.Clone(d.Notes), fromHere(s.file)+" lets no comment silence it")
					list.Add(d)
				case bare:
					list.Add(d)
				default:
					taken.Add(d)
				}
			}
		}
		if len(taken) > 0 {
			out = append(out, exempt{taken, report.Exemption{InSource: e.Comment, Reason: e.Reason}})
		}
	}
	return diag.Sort(list, p.cfg.Files), out
}
