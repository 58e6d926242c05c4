package oracle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Netplan runs netplan's generator over files, keyed by name below /etc/netplan, as one machine would have them. It fails t with
// netplan's message when they are refused, and else returns what was generated for systemd-networkd, keyed by name below
// /run/systemd/network.
func Netplan(t testing.TB, files map[string][]byte) (generated map[string][]byte) {
	t.Helper()
	Need(t, "netplan")
	generated, err := netplan(t.TempDir(), files)
	if err != nil {
		t.Fatalf("netplan refuses the files: %v", err)
	}
	return generated
}

func netplan(root string, files map[string][]byte) (map[string][]byte, error) {
	if len(files) == 0 {
		return nil, errors.New("no files: netplan would generate nothing and be content")
	}
	dir := filepath.Join(root, "etc", "netplan")
	for name := range files {
		// netplan reads *.yaml of that folder and silently passes over everything else.
		if filepath.Base(name) != name || filepath.Ext(name) != ".yaml" {
			return nil, fmt.Errorf("netplan does not read a file called %s", name)
		}
	}
	if err := writeFiles(dir, files, 0o600); err != nil {
		return nil, err
	}
	if _, err := run(root, nil, "netplan", "generate", "--root-dir", root); err != nil {
		return nil, err
	}
	out := filepath.Join(root, "run", "systemd", "network")
	entries, err := os.ReadDir(out)
	if errors.Is(err, os.ErrNotExist) {
		return map[string][]byte{}, nil // a file for another renderer
	}
	if err != nil {
		return nil, err
	}
	generated := map[string][]byte{}
	for _, e := range entries {
		if generated[e.Name()], err = os.ReadFile(filepath.Join(out, e.Name())); err != nil {
			return nil, err
		}
	}
	return generated, nil
}
