package apply_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocec/rocec/targets"
)

// What reads a device back is told behind what is run on it, quoted for a shell,
// and not at all where a step of the device does it.
func TestCapturesAreTold(t *testing.T) {
	root := t.TempDir()
	l := locked(t, filepath.Join(root, "record"))
	told, quiet := tor("sw1", "", "1"), tor("host", "", "1")
	told.Captures = []targets.Probe{{File: "all.json", Command: "show all"}, {File: "ports/it's.txt", Command: "show it", PerPort: true}}
	var out strings.Builder
	if err := bundle(t, filepath.Join(root, "bundle"), l, nil, told, quiet).Text(&out); err != nil {
		t.Fatal(err)
	}
	const want = "    ./verify.sh\n  to read it back, for rocec verify --from=DIR:\n" +
		"    show all > DIR/sw1/all.json\n    show it > DIR/\"sw1/ports/it's.txt\"\n  ! in a maintenance window only:\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("%s\nwithout\n%s", out.String(), want)
	}
	if n := strings.Count(out.String(), "to read it back"); n != 1 {
		t.Errorf("told %d times", n)
	}
}
