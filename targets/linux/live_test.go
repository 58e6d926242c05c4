package linux

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/posix"
	"github.com/rocec/rocec/targets/targettest"
)

// liveHost is a host with the files of a configuration, and one of another
// configuration that was installed by hand before. What sets ports is a model.
func liveHost(t *testing.T) targettest.LiveDevice {
	t.Helper()
	for _, p := range []string{oracle.Root, "bash", "flock", "setsid", "systemd-escape"} {
		oracle.Need(t, p)
	}
	d := pcpHost()
	d.Name = "leaf-1"
	files := map[string]string{}
	var program []byte
	for _, a := range artifacts(t, d) {
		files[a.Path] = string(a.Bytes)
	}
	for _, a := range kit().Artifacts {
		if a.Path == posix.File {
			program = a.Bytes
			continue
		}
		if a.Path == "rocec-qos" {
			a.Bytes = []byte("#!/bin/sh\n[ ! -e \"$ROCEC_FAKE/refuse\" ] || { echo 'PFC was refused'; exit 1; }\necho \"rocec-qos $*\" >>\"$ROCEC_FAKE/asked\"\n")
		}
		files["../common/kit/"+a.Path] = string(a.Bytes)
	}
	commands := map[string]string{"netplan": "#!/bin/sh\n[ ! -e \"$ROCEC_FAKE/bad-netplan\" ] || [ \"$1\" = apply ] || exit 1\necho \"netplan $1\" >>\"$ROCEC_FAKE/asked\"\n[ ! -e \"$ROCEC_FAKE/bad-apply\" ] || [ \"$1\" = generate ]\n"}
	for _, p := range []string{"udevadm", "sysctl", "dcb", "mlnx_qos", "ethtool", "ip", "rdma", "mstconfig", "devlink", "lldptool", "ibv_devinfo", "python3"} {
		commands[p] = "#!/bin/sh\n"
	}
	s := targettest.NewLiveDevice(t, program, commands, files)
	s.Write("etc/netplan/60-rocec.yaml", "old\n")
	s.Write("etc/systemd/system/rocec-qos@.service", "old unit\n")
	s.Write("etc/modules-load.d/rocec-old.conf", "gone in the new one\n")
	s.Write("var/installed", s.Root+"/etc/modules-load.d/rocec-old.conf\n"+s.Root+"/etc/netplan/60-rocec.yaml\n")
	s.Write("timers/rocec-qos@old.service", "")
	return s
}

// place is all that a change may have touched: files and what runs at boot.
func place(t *testing.T, s targettest.LiveDevice) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, dir := range []string{"etc", "usr", "timers"} {
		err := filepath.WalkDir(filepath.Join(s.Root, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), "rocec-live-") || strings.HasSuffix(e.Name(), ".rocec-new") {
				return err
			}
			text, err := os.ReadFile(path)
			m[path] = string(text)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	m["installed"] = s.Read("var/installed")
	return m
}

func TestLive(t *testing.T) {
	t.Parallel()
	s := liveHost(t)
	before := place(t, s)
	s.Do("a1", "begin")
	if diff := cmp.Diff(before, place(t, s)); diff != "" {
		t.Errorf("begin changes (-before +after):\n%s", diff)
	}
	s.Do("a1", "change")
	after := place(t, s)
	if after[s.Root+"/etc/modules-load.d/rocec-old.conf"] != "" || !strings.Contains(s.Read("etc/netplan/60-rocec.yaml"), "bond0") || s.Read("timers/rocec-qos@old.service") != "" {
		t.Errorf("after the change: %v", after)
	}
	if code := s.Expire("a1"); code != 0 {
		t.Errorf("the timer ends with %d:\n%s", code, s.Read("var/live/a1.state/log"))
	}
	if diff := cmp.Diff(before, place(t, s)); diff != "" {
		t.Errorf("the timer (-before +after):\n%s", diff)
	}
	if want := "rocec-qos --data " + s.Root + "/var/live/a1/leaf-1/host.sh --restore " + s.Root + "/var/live/a1.state/kept/runtime"; !strings.HasSuffix(s.Read("asked"), want) {
		t.Errorf("no restoration at the end of:\n%s", s.Read("asked"))
	}

	s.Do("b2", "begin", "change", "confirm")
	if diff := cmp.Diff(after, place(t, s)); diff != "" {
		t.Errorf("confirmed (-before +after):\n%s", diff)
	}
	if s.Read("var/previous/change") != "b2" {
		t.Error("rollback.sh by hand does not go back to before the change")
	}
	s.Do("b2", "revert")
	if diff := cmp.Diff(before, place(t, s)); diff != "" {
		t.Errorf("undone (-before +after):\n%s", diff)
	}
	if s.Read("var/previous/change") != "" {
		t.Error("rollback.sh by hand would undo the change again")
	}
}

func TestLiveRefused(t *testing.T) {
	t.Parallel()
	s := liveHost(t)
	before := place(t, s)
	s.Write("bad-netplan", "")
	if code, why := s.Run("a1", "begin"); code != targets.ExitRefused || !strings.Contains(why, "netplan refuses the files; nothing was changed") {
		t.Errorf("begin: exit %d: %s", code, why)
	}
	s.Remove("bad-netplan")
	s.Do("a1", "begin")
	s.Write("refuse", "")
	s.Write("sys/class/net/"+pcpHost().Ports[0].Name+"/mtu", "9000")
	if code, why := s.Run("a1", "change"); code != targets.ExitFailed || !strings.Contains(why, "not every setting took") {
		t.Errorf("change: exit %d: %s", code, why)
	}
	if code, why := s.Run("a1", "revert"); code != targets.ExitStuck || !strings.Contains(why, "not everything could be brought back") {
		t.Errorf("revert: exit %d: %s", code, why)
	}
	s.Remove("refuse")
	s.Do("a1", "revert")
	if diff := cmp.Diff(before, place(t, s)); diff != "" {
		t.Errorf("undone (-before +after):\n%s", diff)
	}
}

// TestLiveNetplan: a way back runs netplan apply, which sets every device of the host anew, only where its file comes back as one
// that says something else; and again where the first way back was cut off after that.
func TestLiveNetplan(t *testing.T) {
	t.Parallel()
	s := liveHost(t)
	const own = "etc/netplan/60-rocec.yaml"
	applied := func(want int, when string) {
		t.Helper()
		if n := strings.Count(s.Read("asked"), "netplan apply"); n != want {
			t.Errorf("%s: netplan apply %d times, wanted %d", when, n, want)
		}
	}
	s.Do("a1", "begin", "change", "confirm")
	applied(1, "changed")
	s.Write("etc/systemd/system/rocec-qos@.service", "by hand\n")
	s.Write(own, s.Read(own)+"\n# by hand\n")
	s.Do("b2", "begin", "change", "revert")
	applied(1, "of other files, and a comment")
	if s.Read("etc/systemd/system/rocec-qos@.service") != "by hand" || !strings.HasSuffix(s.Read(own), "# by hand") {
		t.Error("not every file came back")
	}
	s.Write(own, "by hand")
	s.Put("c3")
	s.Do("c3", "begin", "change")
	applied(2, "of the file")
	s.Write("bad-apply", "")
	if code, why := s.Run("c3", "revert"); code != targets.ExitStuck || !strings.Contains(why, "not everything could be brought back") {
		t.Errorf("revert: exit %d: %s", code, why)
	}
	applied(3, "on the way back")
	s.Remove("bad-apply")
	s.Do("c3", "revert")
	applied(4, "on the way back, once more")
	s.Remove(own)
	s.Put("d4")
	s.Do("d4", "begin", "change", "revert")
	applied(6, "of a file that was not there")
}

// TestLiveKilled: wherever install.sh is cut off, every file comes back.
func TestLiveKilled(t *testing.T) {
	t.Parallel()
	s := liveHost(t)
	before := place(t, s)
	s.Do("a1", "begin")
	begun := t.TempDir()
	s.Keep(begun)
	for n := 1; ; n += 8 {
		s.Write("calls", "0\n")
		s.Env = []string{"ROCEC_KILL=" + strconv.Itoa(n)}
		s.Run("a1", "change")
		s.Env = nil
		calls, _ := strconv.Atoi(s.Read("calls"))
		if code := s.Expire("a1"); code != 0 {
			t.Fatalf("killed at call %d, the timer ends with %d:\n%s", n, code, s.Read("var/live/a1.state/log"))
		}
		if diff := cmp.Diff(before, place(t, s)); diff != "" {
			t.Errorf("killed at call %d (-before +after):\n%s", n, diff)
		}
		if calls < n {
			if n < 10 {
				t.Errorf("%d calls", calls)
			}
			return
		}
		s.Restore(begun)
	}
}
