package oracle

import (
	"os"
	"strings"
	"testing"
)

// TestRunNamespaces: a job sees its files and a network of its own, cannot write to the machine, and what it leaves running is gone.
func TestRunNamespaces(t *testing.T) {
	r := RunNamespaces(t, GuestJob{Name: "x", Files: map[string][]byte{"sub/said": []byte("content\n")}, Script: `cat sub/said
pwd
ls /sys/class/net
touch /root/rocec-test /etc/rocec-test 2>/dev/null || echo read-only
ip link add rocec-test type veth peer name rocec-peer && mkdir "$CGROUPS/group" && echo made
setsid unshare --fork --pid sh -c 'echo 0 >"$CGROUPS/group/cgroup.procs"; exec sleep 1000003' &
until grep -q . "$CGROUPS/group/cgroup.procs"; do sleep 0.1; done
echo "in ${CGROUPS##*/}"
exit 5
`})
	said, group, _ := strings.Cut(strings.TrimSpace(r.Output), "\nin ")
	if want := "content\n/mnt/site\nlo\nread-only\nmade"; said != want || !strings.HasPrefix(group, "rocec-lab.") || r.ExitCode != 5 {
		t.Errorf("exit code %d:\n%s\nwanted 5:\n%s", r.ExitCode, r.Output, want)
	}
	if _, err := os.Stat("/sys/class/net/rocec-test"); err == nil {
		t.Error("a network device of the job is the machine's")
	}
	if out, err := run("/", nil, "pgrep", "-f", "sleep 1000003"); err == nil {
		t.Errorf("a process stays: %s", out)
	}
	if out, err := run("/", nil, "find", "/sys/fs/cgroup", "-name", group); err != nil || out != "" {
		t.Errorf("a group stays, %v:\n%s", err, out)
	}

	if r := RunNamespaces(t, GuestJob{Name: "y", Seconds: 1, Script: "sleep 1000004\n"}); r.ExitCode != 137 {
		t.Errorf("exit code %d of a job that hangs", r.ExitCode)
	}
}
