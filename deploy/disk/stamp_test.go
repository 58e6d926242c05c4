package disk_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/disk"
)

func TestStamp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	stamp := func() disk.Stamp {
		t.Helper()
		s, err := disk.StampOf(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	put := func(text string, written time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Unix(1_700_000_000, 0)
	put("one", now)
	first := stamp()
	if first != stamp() {
		t.Error("a file that nobody touched has two stamps")
	}
	if (disk.Stamp{WrittenNs: now.UnixNano()}).Settled(now.Add(time.Second)) || !(disk.Stamp{WrittenNs: now.UnixNano()}).Settled(now.Add(3*time.Second)) {
		t.Error("a file is settled some seconds after it was written, and not before")
	}
	put("three", now)
	if stamp() == first {
		t.Error("another size is the same stamp")
	}
	put("two", now.Add(time.Nanosecond*1_000_000))
	if stamp() == first {
		t.Error("another time is the same stamp")
	}
	if _, err := disk.StampOf(filepath.Join(dir, "missing")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := disk.StampOf(dir); err == nil {
		t.Error("a folder has a stamp")
	}
}
