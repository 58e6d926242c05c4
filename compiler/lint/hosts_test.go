package lint_test

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
)

// TestLockedMemory: a limit that holds some transfers is a warning, one that systems begin with an error.
func TestLockedMemory(t *testing.T) {
	bad := lint.Find("ROCE714").Bad
	for memlock, want := range map[string]diag.Severity{"64KiB": diag.Error, "8MiB": diag.Error, "1023MiB": diag.Error, "1GiB": diag.Warning, "512GiB": diag.Warning} {
		found := compiled(t, strings.Replace(bad, "64MiB", memlock, 1)).Keep(func(d *diag.Diagnostic) bool { return d.Rule == "ROCE714" })
		if len(found) != 1 || found[0].Severity != want {
			t.Errorf("%s finds %+v", memlock, found)
		}
	}
}
