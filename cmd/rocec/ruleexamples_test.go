package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// TestRuleExamples executes the examples of rules that are decided while
// something is done: all that the bad one runs succeeds but for what the rule
// stops, and the last of it is what finds the rule; the good one never does.
func TestRuleExamples(t *testing.T) {
	elsewhere := map[*diag.Rule]bool{&targets.ROCE908: true} // targets, TestReturns
	for _, r := range targets.Refusals {
		elsewhere[r] = true // TestRefusals
	}
	for _, r := range verify.Rules {
		elsewhere[r] = true // deploy/verify, TestRules
	}
	for _, r := range otherRules {
		if elsewhere[r] {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			bad, good := runExample(t, r.Bad), runExample(t, r.Good)
			for i, said := range bad {
				if found := strings.Contains(said.text, r.ID+" "+r.Name); found != (i == len(bad)-1) {
					t.Errorf("bad: %s finds it: %v\n%s", said.line, found, said.text)
				}
				if stops := r.Severity == diag.Error && i == len(bad)-1; said.failed != stops {
					t.Errorf("bad: %s fails: %v\n%s", said.line, said.failed, said.text)
				}
			}
			for _, said := range good {
				if said.failed || strings.Contains(said.text, r.ID) {
					t.Errorf("good: %s\n%s", said.line, said.text)
				}
			}
			if len(bad) == 0 || len(good) == 0 {
				t.Error("an example runs nothing")
			}
		})
	}
}

// said is what a command printed.
type said struct {
	line, text string
	failed     bool
}

// runExample writes the files of an example, and runs what it runs.
func runExample(t *testing.T, text string) (list []said) {
	t.Helper()
	dir, run := t.TempDir(), ""
	for _, f := range txtar.Parse([]byte(text)).Files {
		if f.Name == "run" {
			run = string(f.Data)
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(run) {
		words := strings.Fields(line)
		c := exec.Command(words[0], words[1:]...) // TestMain puts rocec into the path
		c.Dir = dir
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		list = append(list, said{strings.TrimSpace(line), string(out), err != nil})
	}
	return list
}
