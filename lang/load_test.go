package lang

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// caseOptions reads a case: files, `vars` (FROM NAME=VALUE lines), and packs
// below pack/.
func caseOptions(a *txtar.Archive) (Options, fstest.MapFS) {
	files, packs := fstest.MapFS{}, fstest.MapFS{}
	o := Options{FS: files, Workers: 2, Keep: true}
	for _, f := range a.Files {
		switch {
		case strings.HasPrefix(f.Name, "want/"):
		case f.Name == "vars":
			for _, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
				from, rest, _ := strings.Cut(line, " ")
				if from == "--var-file" {
					o.Vars = append(o.Vars, Var{From: rest, File: fileOf(a, rest)})
					continue
				}
				name, text, _ := strings.Cut(rest, "=")
				v := Var{Name: name, From: from, Text: text}
				if strings.HasPrefix(from, "ROCEC_VAR_") {
					o.Env = append(o.Env, v)
				} else {
					o.Vars = append(o.Vars, v)
				}
			}
		case strings.HasPrefix(f.Name, "pack/"):
			packs[strings.TrimPrefix(f.Name, "pack/")] = &fstest.MapFile{Data: f.Data}
			o.Packs = packs
		default:
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return o, files
}

func fileOf(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	panic("no file " + name)
}

func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			o, files := caseOptions(a)
			c, ds := Load(o)
			for _, d := range ds {
				// Those of the HCL library say after a colon what they expected.
				if d.Help == "" && len(d.Notes) == 0 && !strings.Contains(d.Summary, ": ") {
					t.Errorf("%q does not say what to do", d.Summary)
				}
			}
			got := map[string]string{"want/diag": showDiags(c, ds, files)}
			if !ds.HasErrors() {
				got["want/config"] = dump(c, false)
				if text := reached(c, files); text != "" {
					got["want/reach"] = text
				}
			}
			for _, f := range a.Files {
				if exprs, ok := strings.CutPrefix(f.Name, "want/console"); ok && exprs == "" {
					got[f.Name] = consoleOf(c, string(f.Data), files)
				}
			}
			compare(t, path, a, got)
		})
	}
}

// consoleOf evaluates the lines that start with "> ".
func consoleOf(c *Config, script string, files fstest.MapFS) string {
	var b strings.Builder
	for _, line := range strings.Split(script, "\n") {
		expr, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		out, ds := Console(c, expr, nil)
		b.WriteString(line + "\n" + out)
		if out != "" {
			b.WriteByte('\n')
		}
		b.WriteString(showDiags(c, ds, files))
	}
	return b.String()
}

func compare(t *testing.T, path string, a *txtar.Archive, got map[string]string) {
	t.Helper()
	if *update {
		out := &txtar.Archive{Comment: a.Comment}
		for _, f := range a.Files {
			if !strings.HasPrefix(f.Name, "want/") {
				out.Files = append(out.Files, f)
			}
		}
		for _, name := range []string{"want/diag", "want/config", "want/reach", "want/console"} {
			if text, ok := got[name]; ok && (text != "" || name == "want/config") {
				out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(text)})
			}
		}
		if err := os.WriteFile(path, txtar.Format(out), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := map[string]string{"want/diag": ""}
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, "want/") {
			want[f.Name] = string(f.Data)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func mustLoad(t testing.TB, o Options) *Config {
	t.Helper()
	c, ds := Load(o)
	if ds.HasErrors() {
		t.Fatal(showDiags(c, ds, o.FS))
	}
	return c
}
