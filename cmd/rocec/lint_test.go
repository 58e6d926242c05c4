package main

import (
	"slices"
	"testing"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/source"
)

// TestSettingsExample: what the help shows is a file of settings, and its rule
// and form are known.
func TestSettingsExample(t *testing.T) {
	files := source.NewFiles()
	s := &settings{rules: map[string]*lang.RuleSetting{}}
	s.Settings, s.diags = lang.ReadSettings(files, ".rocec.hcl", []byte(settingsExample))
	s.judge()
	if len(s.diags) > 0 || len(s.rules) != 2 || !slices.Contains(append(lintForms(), "auto"), s.Format.Text) {
		t.Errorf("%+v: %+v", s.Settings, s.diags)
	}
}

// TestForms: no form has two writers.
func TestForms(t *testing.T) {
	forms := lintForms()
	slices.Sort(forms)
	if n := len(slices.Compact(forms)); n != len(lintForms()) {
		t.Errorf("%d forms by %d names", len(lintForms()), n)
	}
}
