package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/oracle"
)

// site is a folder that install.sh takes for a host's root.
type site struct {
	t    *testing.T
	root string
}

func (s site) run(code int, d *intent.Device, script string, args ...string) string {
	s.t.Helper()
	base := s.t.TempDir()
	dir := filepath.Join(base, "bundle")
	list := artifacts(s.t, d)
	for _, a := range kit().Artifacts {
		a.Path = kit().Folder() + "/" + a.Path
		list = append(list, a)
	}
	for _, a := range list {
		path := filepath.Join(dir, a.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, a.Bytes, os.FileMode(a.Mode)); err != nil {
			s.t.Fatal(err)
		}
	}
	c := exec.Command("bash", append([]string{filepath.Join(kit().Folder(), script)}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "ROCEC_ROOT="+s.root)
	out, _ := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != code {
		s.t.Fatalf("%s: exit %d, wanted %d:\n%s", script, got, code, out)
	}
	return string(out)
}

// files are what is under the root, without the state of the scripts.
func (s site) files() map[string]string {
	m := map[string]string{}
	err := filepath.WalkDir(s.root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(path, "/var/lib/rocec") {
			return err
		}
		text, err := os.ReadFile(path)
		info, _ := e.Info()
		m[strings.TrimPrefix(path, s.root)] = info.Mode().String() + "\n" + string(text)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func TestInstallAndRollback(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"netplan", "systemd-escape"} {
		oracle.Need(t, p)
	}
	s := site{t, t.TempDir()}
	own := "/etc/netplan/60-rocec.yaml"
	for name, text := range map[string]string{
		own:                              "network: {version: 2, ethernets: {eno1: {dhcp4: true}}}\n",
		"/etc/netplan/00-installer.yaml": "network: {version: 2, ethernets: {eno2: {dhcp4: true}}}\n",
	} {
		path := filepath.Join(s.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := s.files()

	if out := s.run(0, pcpHost(), "install.sh", "--dry-run"); !strings.Contains(out, "+++") || !cmp.Equal(first, s.files()) {
		t.Errorf("a dry run changes the host, or shows nothing:\n%s", out)
	}
	s.run(0, pcpHost(), "install.sh")
	second := s.files()
	dropIn := "/etc/systemd/network/10-netplan-bond0.100.netdev.d/qos.conf"
	if !strings.HasPrefix(second[own], "-rw-------") || !strings.HasPrefix(second["/usr/local/sbin/rocec-qos"], "-rwxr-xr-x") || second[dropIn] == "" {
		t.Errorf("installed %v", second)
	}
	if out := s.run(0, pcpHost(), "install.sh"); strings.Contains(out, "installed") || !strings.Contains(out, "nothing to change") {
		t.Errorf("a second run changes something:\n%s", out)
	}
	s.run(0, nvmeHost(), "install.sh")
	if third := s.files(); third[dropIn] != "" || cmp.Equal(third[own], second[own]) {
		t.Error("files of the earlier configuration stay")
	}
	s.run(0, nvmeHost(), "rollback.sh")
	if diff := cmp.Diff(second, s.files()); diff != "" {
		t.Errorf("rollback (-before +after):\n%s", diff)
	}
	s.run(1, nvmeHost(), "rollback.sh")

	// A host whose other files contradict these must stay as it is: here by a
	// definition of the same adapter, as cloud-init writes it.
	bad := filepath.Join(s.root, "etc/netplan/50-cloud-init.yaml")
	if err := os.WriteFile(bad, []byte("network: {version: 2, ethernets: {ens1f0np0: {match: {macaddress: 'B8:3F:D2:00:00:01'}, set-name: ens1f0np0}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := s.run(1, nvmeHost(), "install.sh", "--dry-run"); !strings.Contains(out, "the adapter of rail0, b8:3f:d2:00:00:01, is ens1f0np0 in another file of /etc/netplan") {
		t.Errorf("two definitions of an adapter:\n%s", out)
	}
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	bad = filepath.Join(s.root, "etc/netplan/00-installer.yaml")
	if err := os.WriteFile(bad, []byte("network: {version: 2, ethernets: {eno2: {nonsense: 1}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := s.files()
	s.run(1, nvmeHost(), "install.sh")
	if diff := cmp.Diff(before, s.files()); diff != "" {
		t.Errorf("a refused installation changes files:\n%s", diff)
	}
}

// TestWrongHost: the scripts of one host do nothing on another.
func TestWrongHost(t *testing.T) {
	t.Parallel()
	oracle.Need(t, oracle.Root) // nobody else gets as far as the name
	s := site{t, ""}
	d := nvmeHost()
	d.Name = "surely-not-this-machine"
	if out := s.run(1, d, "install.sh"); !strings.Contains(out, "these files are for surely-not-this-machine") {
		t.Error(out)
	}
}
