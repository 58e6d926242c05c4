package oracle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Systemd fails t unless systemd-analyze verify has nothing to say about units, keyed by file name. bins are the absolute paths of the
// programs the units may start; a unit that starts another one is refused, as on a host that lacks it.
func Systemd(t testing.TB, units map[string][]byte, bins ...string) {
	t.Helper()
	Need(t, "systemd-analyze")
	if err := systemd(t.TempDir(), units, bins); err != nil {
		t.Errorf("systemd-analyze verify: %v", err)
	}
}

func systemd(root string, units map[string][]byte, bins []string) error {
	if len(units) == 0 {
		return errors.New("no units to verify")
	}
	dir := filepath.Join(root, "etc", "systemd", "system")
	if err := writeFiles(dir, units, 0o644); err != nil {
		return err
	}
	programs := map[string][]byte{}
	for _, b := range bins {
		if !filepath.IsAbs(b) {
			return fmt.Errorf("%s is not an absolute path", b)
		}
		programs[b] = []byte("#!/bin/sh\n")
	}
	if err := writeFiles(root, programs, 0o755); err != nil {
		return err
	}
	if err := stubTargets(filepath.Join(root, "usr", "lib", "systemd", "system")); err != nil {
		return err
	}
	var names []string
	for name := range units {
		names = append(names, name)
	}
	slices.Sort(names)
	// verify loads templates by instance only.
	for i, name := range names {
		if stem, suffix, ok := strings.Cut(name, "@."); ok {
			names[i] = stem + "@x." + suffix
		}
	}
	out, err := run(root, nil, "systemd-analyze", append([]string{"verify", "--man=no", "--recursive-errors=yes", "--root=" + root}, names...)...)
	if err != nil {
		return err
	}
	// An unknown key is ignored with a message and exit 0 on some versions: text is a finding whatever the exit code says.
	if text := strings.TrimSpace(out); text != "" {
		return errors.New(text)
	}
	return nil
}

// stubTargets gives the root empty copies of the targets this machine's systemd ships, so that a unit can be ordered against any of
// them and against no other. Their own dependencies are left out: they are not what is checked.
func stubTargets(dir string) error {
	stubs := map[string][]byte{}
	for _, from := range []string{"/usr/lib/systemd/system", "/lib/systemd/system"} {
		entries, err := os.ReadDir(from)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".target") {
				stubs[e.Name()] = []byte("[Unit]\nDescription=stub\nDefaultDependencies=no\n")
			}
		}
	}
	return writeFiles(dir, stubs, 0o644)
}
