package linux

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
)

// TestMeets: the script judges versions as the compiler does.
func TestMeets(t *testing.T) {
	t.Parallel()
	script, err := scripts.ReadFile("scripts/qos.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(script), "# meets ")
	text, _, ok := strings.Cut("# meets "+text, "\nhave_admin()")
	if !ok {
		t.Fatal("the functions are not where they were")
	}
	versions := []string{
		"28.43.2026", "28.43.0098", "28.43", "28.9", "29.0", "28.43.2026 (MT_0000000838)", "229.0.154.0/pkg 229.1.123.0", "4.40 0x8001b2a5 1.3429.0",
		"5.8-2.0.3", "24.10-rc1", "v1.2", "N/A", "", "1",
		"mfw 8.25.7.0 storm 8.20.0.0", "mbi 15.20.6 [mfw 8.52.16.0]",
	}
	expected := []string{
		"28.43.2026", "28.43.98", "28.43.*", "28.*", ">= 28.43, < 29", ">28.43", "<= 28.43", "!= 28.43.2026", "~> 28.43", "~> 28.43.1", "~> 28",
		"229.0.154.0", ">= 4.40", ">= 5.8-1.9", "24.10-rc1", "< 24.10-rc2", "v1.2", "= 1",
		"8.25.7.0", ">= 15.20, < 16",
	}
	var want []string
	run := &strings.Builder{}
	run.WriteString("set -u\n" + text + "\n")
	for _, e := range expected {
		v, err := intent.ParseVersions(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, have := range versions {
			want = append(want, fmt.Sprintf("%s of %s: %t", have, e, v.Allow(have)))
			fmt.Fprintf(run, "if meets '%s' '%s'; then r=true; else r=false; fi; echo '%s of %s:' $r\n", have, e, have, e)
		}
	}
	out, err := exec.Command("bash", "-c", run.String()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d\n%s", len(got), len(want), out)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("the script says %q, the compiler %q", got[i], want[i])
		}
	}
}
