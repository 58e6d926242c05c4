package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The pipeline's files, from this folder.
const (
	actionFile = "../../action.yml"
	setupFile  = "../../.github/actions/setup-rocec/action.yml"
	gitlabFile = "../../.gitlab/rocec.gitlab-ci.yml"
	hooksFile  = "../../.pre-commit-hooks.yaml"
	gitopsDir  = "../../examples/gitops"
)

// step is a step of a job or of a composite action.
type step struct {
	ID, If, Uses, Run, Shell string
	WorkingDirectory         string            `yaml:"working-directory"`
	With                     map[string]string `yaml:"with"`
	Env                      map[string]string
}

type job struct {
	Needs, If   string
	Environment string
	Env         map[string]string
	Outputs     map[string]string
	Steps       []step
	Permissions map[string]string
}

type workflow struct {
	Name        string
	Permissions map[string]string
	Jobs        map[string]job
}

type action struct {
	Name, Description string
	Inputs            map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

func parsed[T any](t *testing.T, file string) (out T) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return out
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	files, err := filepath.Glob(gitopsDir + "/.github/workflows/*.yml")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	list := map[string]workflow{}
	for _, f := range files {
		list[filepath.Base(f)] = parsed[workflow](t, f)
	}
	return list
}

// runner does what a runner does with the steps of a job, as far as the files of
// this repository use it: run steps in bash, composite actions of this
// repository, and artifacts. A checkout is what the test did before.
type runner struct {
	t         *testing.T
	repo      string // the work tree
	temp      string // RUNNER_TEMP
	artifacts string
	env       []string
	context   map[string]string // github.*, secrets.*, vars.*, runner.*
	summary   string
	log       strings.Builder
}

// expression is what stands between the braces of ${{ }}: a context.
var expression = regexp.MustCompile(`\$\{\{\s*([^}]*?)\s*\}\}`)

func (r *runner) value(name string, in map[string]string) string {
	if v, ok := in[name]; ok {
		return v
	}
	v, ok := r.context[name]
	if root, _, _ := strings.Cut(name, "."); !ok && root != "steps" && root != "needs" && !strings.HasPrefix(name, "github.event.") {
		r.t.Errorf("nothing is called %s", name)
	}
	return v
}

func (r *runner) text(s string, in map[string]string) string {
	return expression.ReplaceAllStringFunc(s, func(e string) string { return r.value(expression.FindStringSubmatch(e)[1], in) })
}

// holds evaluates a condition: terms joined by &&, each a context or a
// comparison with a quoted text. Without always() it takes success.
func (r *runner) holds(cond string, in map[string]string, failed bool) bool {
	if cond == "" {
		return !failed
	}
	always := false
	for term := range strings.SplitSeq(cond, "&&") {
		term = strings.TrimSpace(term)
		if term == "always()" {
			always = true
			continue
		}
		name, want, compares := term, "", false
		equal := true
		for _, op := range []string{"==", "!="} {
			if l, right, ok := strings.Cut(term, op); ok {
				name, want, compares, equal = strings.TrimSpace(l), strings.Trim(strings.TrimSpace(right), "'"), true, op == "=="
			}
		}
		if v := r.value(name, in); compares && (v == want) != equal || !compares && (v == "" || v == "false") {
			return false
		}
	}
	return always || !failed
}

// steps runs a list of steps; ids of steps give outputs to those after them.
func (r *runner) steps(list []step, in map[string]string, env map[string]string) (outputs map[string]string, failed bool) {
	in = maps.Clone(in)
	for i := range list {
		s := &list[i]
		if !r.holds(s.If, in, failed) {
			continue
		}
		out, err := r.step(s, in, env)
		if err != nil {
			fmt.Fprintf(&r.log, "step %s%s: %v\n", s.ID, s.Uses, err)
			failed = true
		}
		for k, v := range out {
			in["steps."+s.ID+".outputs."+k] = v
		}
	}
	return in, failed
}

func (r *runner) step(s *step, in, env map[string]string) (map[string]string, error) {
	if env = maps.Clone(env); env == nil {
		env = map[string]string{}
	}
	for k, v := range s.Env {
		env[k] = r.text(v, in)
	}
	with := map[string]string{}
	for k, v := range s.With {
		with[k] = r.text(v, in)
	}
	name, _, _ := strings.Cut(s.Uses, "@")
	switch name {
	case "":
		return r.script(s, in, env)
	case "actions/checkout", "rocec/rocec/.github/actions/setup-rocec": // both are there
		return nil, nil
	case "rocec/rocec":
		return r.composite(with, env)
	case "actions/upload-artifact":
		for file := range strings.FieldsSeq(with["path"]) {
			if whole := filepath.Join(r.repo, file); !filepath.IsAbs(file) { // a folder: what is in it
				if with["include-hidden-files"] != "true" {
					return nil, fmt.Errorf("%s is hidden", file)
				}
				if err := os.CopyFS(filepath.Join(r.artifacts, with["name"]), os.DirFS(whole)); err != nil {
					return nil, err
				}
				continue
			}
			if err := copyTo(file, filepath.Join(r.artifacts, with["name"], filepath.Base(file))); err != nil {
				return nil, err
			}
		}
		return nil, nil
	case "actions/download-artifact":
		files, err := filepath.Glob(filepath.Join(r.artifacts, with["name"], "*"))
		if len(files) == 0 {
			err = errors.Join(err, fmt.Errorf("no artifact %s", with["name"]))
		}
		for _, f := range files {
			err = errors.Join(err, copyTo(f, filepath.Join(r.repo, with["path"], filepath.Base(f))))
		}
		return nil, err
	}
	return nil, fmt.Errorf("uses %s", s.Uses)
}

func copyTo(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o644))
}

// composite runs the action of this repository.
func (r *runner) composite(with, env map[string]string) (map[string]string, error) {
	a := parsed[action](r.t, actionFile)
	in := map[string]string{}
	for name, i := range a.Inputs {
		in["inputs."+name] = r.text(i.Default, nil)
		if v, ok := with[name]; ok {
			in["inputs."+name] = v
		} else if i.Required {
			return nil, fmt.Errorf("input %s is not given", name)
		}
	}
	for name := range with {
		if _, ok := a.Inputs[name]; !ok {
			r.t.Errorf("the action has no input %s", name)
		}
	}
	outputs, failed := r.steps(a.Runs.Steps, in, env)
	result := map[string]string{}
	for name, o := range a.Outputs {
		result[name] = r.text(o.Value, outputs)
	}
	if failed {
		return result, errors.New("the action failed")
	}
	return result, nil
}

// script runs the lines of a step, as a runner runs `shell: bash`.
func (r *runner) script(s *step, in, env map[string]string) (map[string]string, error) {
	output := filepath.Join(r.temp, "output")
	summary := filepath.Join(r.temp, "summary")
	file := filepath.Join(r.temp, "step.sh")
	if err := errors.Join(os.WriteFile(output, nil, 0o600), os.WriteFile(summary, nil, 0o600), os.WriteFile(file, []byte(s.Run), 0o600)); err != nil {
		return nil, err
	}
	c := exec.CommandContext(r.t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", file)
	c.Dir = filepath.Join(r.repo, r.text(s.WorkingDirectory, in))
	c.Env = append(slices.Clone(r.env), "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary)
	for k, v := range env {
		c.Env = append(c.Env, k+"="+v)
	}
	text, err := c.CombinedOutput()
	r.log.Write(text)
	page, _ := os.ReadFile(summary)
	r.summary += string(page)
	result := map[string]string{}
	lines, _ := os.ReadFile(output)
	for line := range strings.Lines(string(lines)) {
		if k, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			result[k] = v
		}
	}
	return result, err
}

// run runs the jobs of a workflow, those that need another after it, and says
// which of them ran and whether one failed.
func (r *runner) run(w workflow) (ran []string, failed bool) {
	needs := map[string]string{}
	for _, name := range slices.SortedFunc(maps.Keys(w.Jobs), func(a, b string) int { return strings.Compare(w.Jobs[a].Needs+a, w.Jobs[b].Needs+b) }) {
		j := w.Jobs[name]
		if !r.holds(j.If, needs, failed) {
			continue
		}
		ran = append(ran, name)
		env := map[string]string{}
		for k, v := range j.Env {
			env[k] = r.text(v, nil)
		}
		outputs, bad := r.steps(j.Steps, needs, env)
		failed = failed || bad
		for k, v := range j.Outputs {
			needs["needs."+name+".outputs."+k] = r.text(v, outputs)
		}
	}
	return ran, failed
}
