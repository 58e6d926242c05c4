package linux

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
)

// oddLines are lines of the list of install.sh that nobody can read, or that name no file
// of rocec's. Each names a file that is there.
func oddLines(file string) []string {
	digest := strings.Repeat("0", 64)
	return []string{
		file, "644 " + digest + " " + file, "644 " + digest + "  " + file, "888 " + digest + " " + file, "644 abc " + file, "644 " + file,
		" 644 " + digest + " " + file,
		"644 " + strings.ToUpper(strings.Repeat("a", 64)) + " " + file, "disabled " + file,
		"644 " + digest + " /etc/rocec/env/.." + strings.TrimPrefix(file, "/etc"),
		"644 " + digest + " /etc/rocec/env/deeper" + file + ".env", "# " + file, digest + "  " + file, "./" + file, "enabled " + file,
	}
}

// TestUnreadStays: no line of its list that nobody can read makes install.sh remove a
// file, and it writes over nobody's file that is not called after rocec. Both are told.
func TestUnreadStays(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"netplan", "systemd-escape"} {
		oracle.Need(t, p)
	}
	s := site{t, t.TempDir()}
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(s.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.run(0, pcpHost(), "install.sh")
	list := filepath.Join(s.root, "var/lib/rocec/installed")
	known, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	lines := oddLines("/etc/theirs.conf")
	put("/etc/theirs.conf", "theirs\n")
	put("/etc/rocec/env/deeper/etc/theirs.conf.env", "theirs\n")
	put("/var/lib/rocec/installed", string(known)+strings.Join(lines, "\n")+"\n")
	before := s.files()
	for name := range before {
		if slices.Contains(filePatterns, name) || isPlace(name) {
			delete(before, name)
		}
	}
	out := s.run(0, nvmeHost(), "install.sh")
	after := s.files()
	for name := range after {
		if isPlace(name) {
			delete(after, name)
		}
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("files of others (-before +after):\n%s", diff)
	}
	c := targets.Captured{Files: map[string][]byte{installedFile: []byte(string(known) + strings.Join(lines, "\n") + "\n")}}
	_, told := parse(nvmeHost(), c)
	for _, line := range lines {
		if strings.HasPrefix(line, "enabled ") {
			continue // a unit of no port
		}
		if !strings.Contains(out, "names no file of these: "+line+"\n") {
			t.Errorf("install.sh does not tell of %q:\n%s", line, out)
		}
		if !slices.ContainsFunc(told, func(d diag.Diagnostic) bool { return strings.Contains(d.Summary, line) && d.Help != "" }) {
			t.Errorf("a plan does not tell of %q", line)
		}
	}

	other := site{t, t.TempDir()}
	s = other
	dropIn := "/etc/systemd/network/10-netplan-bond0.100.netdev.d/qos.conf"
	put(dropIn, "[VLAN]\nEgressQOSMaps=0-1\n")
	before = other.files()
	if out := other.run(1, pcpHost(), "install.sh"); !strings.Contains(out, dropIn+" is there and rocec did not make it") {
		t.Errorf("somebody's file is not told:\n%s", out)
	}
	if diff := cmp.Diff(before, other.files()); diff != "" {
		t.Errorf("a refused installation changes files:\n%s", diff)
	}
	_, told = parse(pcpHost(), targets.Captured{Files: map[string][]byte{placesFile: []byte("644 " + dropIn + "\n")}})
	if !slices.ContainsFunc(told, func(d diag.Diagnostic) bool { return strings.Contains(d.Summary, dropIn) }) {
		t.Errorf("a plan does not tell of %s: %v", dropIn, told)
	}
}
