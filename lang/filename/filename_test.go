package filename_test

import (
	"testing"

	"github.com/rocec/rocec/lang/filename"
)

func TestReserved(t *testing.T) {
	for _, name := range []string{
		"con", "PRN", "Aux.d", "nul.tar.gz", "COM1", "lpt9.txt", "com0", "COM¹", "Lpt³.x", "conin$", "CONOUT$", "nul .txt", "con ",
	} {
		if !filename.Reserved(name) {
			t.Errorf("%q is taken", name)
		}
	}
	for _, name := range []string{"console", "com", "com10", "comx", "lpt", "gpu1", "leaf-con", "auxiliary", "a.con", "COM¹¹"} {
		if filename.Reserved(name) {
			t.Errorf("%q is refused", name)
		}
	}
}

func TestCheckPath(t *testing.T) {
	for _, path := range []string{"con", "a/aux.d/b", "a.", "a /b", "../a", "/a", "a//b", "a:b", `a\b`, "a\nb", ".", "a?", "x/LPT²"} {
		if filename.CheckPath(path) == nil {
			t.Errorf("%q is taken", path)
		}
	}
	for _, path := range []string{"a", "a/b.c", ".github/x", "windows/hosts"} {
		if err := filename.CheckPath(path); err != nil {
			t.Error(err)
		}
	}
}
