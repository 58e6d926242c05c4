package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocec/rocec/deploy/verify"
)

// TestFiles: what is no plain file in a plain folder is read, or refused, as os.Root
// does, and never waited for.
func TestFiles(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, tor string)
		says    string // of the error; "": swp1 shows 9000
	}{
		"plain": {func(t *testing.T, tor string) { save(t, filepath.Join(tor, "ports", "swp1.txt"), "9000") }, ""},
		"file linked within": {func(t *testing.T, tor string) {
			save(t, filepath.Join(tor, "kept", "x"), "9000")
			link(t, filepath.Join("..", "kept", "x"), filepath.Join(tor, "ports", "swp1.txt"))
		}, ""},
		"folder linked within": {func(t *testing.T, tor string) {
			save(t, filepath.Join(tor, "kept", "swp1.txt"), "9000")
			link(t, "kept", filepath.Join(tor, "ports"))
		}, ""},
		"device linked": {func(t *testing.T, tor string) {
			save(t, filepath.Join(tor+"-1", "ports", "swp1.txt"), "9000")
			link(t, tor+"-1", tor)
		}, ""},
		"folder linked outwards": {func(t *testing.T, tor string) {
			save(t, filepath.Join(tor+"-1", "swp1.txt"), "9000")
			link(t, filepath.Join("..", "tor-1"), filepath.Join(tor, "ports"))
		}, "escapes"},
		"file for a folder": {func(t *testing.T, tor string) { save(t, filepath.Join(tor, "ports"), "9000") }, "not a directory"},
		"pipe": {func(t *testing.T, tor string) {
			save(t, filepath.Join(tor, "ports", "swp2.txt"), "1500")
			if err := unix.Mkfifo(filepath.Join(tor, "ports", "swp1.txt"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "it is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			tor := filepath.Join(t.TempDir(), "tor")
			c.prepare(t, tor)
			got, err := verify.Files(filepath.Dir(tor), want("tor", 1), fake, nil)
			switch {
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%v, wanted %q in it", err, c.says)
			case c.says == "" && (err != nil || string(got.Files["ports/swp1.txt"]) != "9000"):
				t.Errorf("%v %v", got.Files, err)
			}
		})
	}
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		return
	}
	tor := filepath.Join(t.TempDir(), "tor")
	save(t, filepath.Join(tor, "ports", "swp1.txt"), "9000")
	count := func() int { list, _ := os.ReadDir("/proc/self/fd"); return len(list) }
	before := count()
	for range 50 {
		if _, err := verify.Files(filepath.Dir(tor), want("tor", 1), fake, nil); err != nil {
			t.Fatal(err)
		}
	}
	if after := count(); after > before {
		t.Errorf("%d files are open, were %d", after, before)
	}
}
