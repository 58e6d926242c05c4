package oracle

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// RunNamespaces runs a job as root in namespaces of this machine's own kernel (testdata/lab/namespaces.sh): its files lie in /mnt/site,
// whose other writable places are /mnt, /tmp and /run, all in memory, its network has nothing but lo, and whatever it starts or makes
// ends with it. An exit code other than 0 is the caller's to judge; it is 137 when the job took longer than it may.
func RunNamespaces(t testing.TB, job GuestJob) GuestResult {
	t.Helper()
	Need(t, Namespaces)
	script, err := namespacesScript()
	if err != nil {
		t.Fatal(err)
	}
	site := t.TempDir()
	if err := writeFiles(site, job.Files, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeFiles(site, map[string][]byte{"script": []byte(job.Script)}, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", script, site)
	cmd.Env = append(os.Environ(), "ROCEC_NAMESPACES_SECONDS="+strconv.Itoa(job.seconds()))
	out, err := cmd.CombinedOutput()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return GuestResult{Name: job.Name, Output: string(out), ExitCode: cmd.ProcessState.ExitCode()}
}

// namespacesLack tries what RunNamespaces relies on.
func namespacesLack(t testing.TB) error {
	for _, tool := range []string{Root, "bash", "ip", "unshare"} {
		if err := lack(t, tool); err != nil {
			return err
		}
	}
	script, err := namespacesScript()
	if err != nil {
		return err
	}
	if _, err := run(filepath.Dir(script), nil, "bash", script, "--check"); err != nil {
		return fmt.Errorf("hosts in namespaces cannot be started here, which takes CAP_SYS_ADMIN, and overlay, cgroup2, veth and bridge of the kernel: %s", strings.TrimSpace(err.Error()))
	}
	return nil
}

func namespacesScript() (string, error) {
	root, err := repository()
	return filepath.Join(root, "testdata", "lab", "namespaces.sh"), err
}
