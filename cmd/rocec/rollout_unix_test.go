//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestBetweenWaves ends an apply while its first wave is watched, in the way of a
// person and in that of a crash. The next apply watches that wave again, to its end,
// before it goes on with the others.
func TestBetweenWaves(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		signal syscall.Signal
		code   int
		says   []string
		stands string // in the list of applies
	}{
		{syscall.SIGINT, 130, []string{`"failure":"wave canary: interrupted"`, `Apply failed: 1 applied, 0 rolled back, 2 unchanged.`}, "applied to 1 of 3"},
		{syscall.SIGKILL, -1, nil, "applied to 1 of 3"},
	} {
		t.Run(end.signal.String(), func(t *testing.T) {
			t.Parallel()
			s := onLab(t, "live", `gate   = ["verify"]`, "soak   = \"20m\"\n    gate   = [\"verify\"]")
			s.args = applyHosts
			c := exec.Command("rocec", append(s.args, "--json")...)
			c.Dir, c.Env = s.dir, append(os.Environ(), s.env...)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				all.WriteString(lines.Text() + "\n")
				if strings.Contains(lines.Text(), `"soak_seconds":1200,"type":"apply_progress"`) {
					if end.signal == syscall.SIGKILL {
						s.breakIn()
					}
					_ = c.Process.Signal(end.signal)
				}
			}
			if _ = c.Wait(); c.ProcessState.ExitCode() != end.code {
				t.Errorf("exit code %d, expected %d:\n%s", c.ProcessState.ExitCode(), end.code, &all)
			}
			for _, says := range end.says {
				if !strings.Contains(all.String(), says) {
					t.Errorf("it does not say %s:\n%s", says, &all)
				}
			}
			if strings.Contains(all.String(), `"@message":"Wave rest`) {
				t.Errorf("the second wave began:\n%s", &all)
			}
			if list := s.run(0, []string{"rollback", "--status"}, end.stands); strings.Contains(list, "not at its end") {
				t.Errorf("nothing is between two states:\n%s", list)
			}
			s.editIn("rollout.roce.hcl", "20m", "1s")
			if end.signal == syscall.SIGKILL { // also when the devices to be watched are not asked for
				s.args = append(slices.Clone(s.args), "--wave=rest")
			}
			text := s.run(0, s.args, "Wave canary was changed by an earlier apply, and not watched to its end", "Wave rest: 2 devices", "Apply complete: 2 applied, 0 rolled back, 0 unchanged.")
			if strings.Index(text, "Wave canary is watched for 1 s") > strings.Index(text, "Wave rest: 2 devices") {
				t.Errorf("the canary is not watched first:\n%s", text)
			}
			s.run(0, []string{"plan", "--detailed-exitcode", "--exclude=switch.tor"}, "No changes.")
		})
	}
}

// breakIn breaks the lock of an apply that lives. Nobody writes its journal all the same.
func (s *liveSite) breakIn() {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "record", "lab", ".lock.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var lock struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		s.t.Fatal(err)
	}
	s.run(0, []string{"force-unlock", lock.ID})
	for _, args := range [][]string{{"rollback", "--auto-approve"}, {"confirm"}, s.args} {
		s.run(1, args, "another rocec on this machine is at work with", "and lives, though its lock was broken: wait for it, or end it")
	}
}
