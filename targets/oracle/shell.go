package oracle

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// Shell fails t unless script, called name in messages, is accepted by bash -n (sh -n when its first line says sh), by shellcheck at
// severity style, and by the parser of mvdan.cc/sh in the same dialect. A script without a first line #! is taken as bash.
func Shell(t testing.TB, name string, script []byte) {
	t.Helper()
	Need(t, "bash")
	Need(t, "shellcheck")
	if err := shell(t.TempDir(), script); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func shell(scratch string, script []byte) error {
	dialect, lang := "bash", syntax.LangBash
	first, _, _ := bytes.Cut(script, []byte("\n"))
	if bytes.HasPrefix(first, []byte("#!")) && (bytes.HasSuffix(first, []byte("/sh")) || bytes.Contains(first, []byte("/sh "))) {
		dialect, lang = "sh", syntax.LangPOSIX
	}
	var errs []error
	if _, err := syntax.NewParser(syntax.Variant(lang)).Parse(bytes.NewReader(script), "script"); err != nil {
		errs = append(errs, err)
	}
	path := filepath.Join(scratch, "script")
	if err := os.WriteFile(path, script, 0o644); err != nil {
		return err
	}
	if _, err := run(scratch, nil, dialect, "-n", "script"); err != nil {
		errs = append(errs, err)
	}
	if _, err := run(scratch, nil, "shellcheck", "--norc", "-s", dialect, "-S", "style", "-f", "gcc", "script"); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
