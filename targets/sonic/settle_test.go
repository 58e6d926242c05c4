package sonic

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocec/rocec/targets/oracle"
)

// TestBack: what the config updater refuses to take away, the program does: what was
// loaded of the tables that it guards, and what the buffer manager made since. What
// was there before, and what is as it was, is left alone.
func TestBack(t *testing.T) {
	const (
		before = `{"BUFFER_PROFILE": {"pg_lossless_100000_5m_profile": {"xoff": "1"}, "mine": {"xoff": "1"}},
			"BUFFER_PG": {"Ethernet0|3-4": {"profile": "pg_lossless_100000_5m_profile"}, "Ethernet4|3": {"profile": "pg_lossless_100000_5m_profile"}, "Ethernet8|3": {"profile": "mine"}},
			"QUEUE": {"Ethernet0|3": {"scheduler": "scheduler.1"}, "Ethernet4|3": {"scheduler": "s"}}, "PFC_WD": {"Ethernet0": {"action": "alert"}},
			"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_all"}}}`
		now = `{"BUFFER_PROFILE": {"pg_lossless_100000_5m_profile": {"xoff": "1"}, "pg_lossless_100000_40m_profile": {"xoff": "2"}, "pg_lossless_25000_5m_profile": {"xoff": "2"}, "mine": {"xoff": "1"}},
			"BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_100000_40m_profile"}, "Ethernet4|3": {"profile": "pg_lossless_100000_40m_profile"}, "Ethernet8|3": {"profile": "mine"}},
			"QUEUE": {"Ethernet0|3": {"scheduler": "rocec_a_q3", "wred_profile": "rocec_a_q3"}, "Ethernet4|3": {"scheduler": "s"}}, "PFC_WD": {"Ethernet0": {"action": "drop"}, "Ethernet4": {"action": "drop"}},
			"WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_all"}, "rocec_a_q3": {"ecn": "ecn_all"}}}`
		fragment = `{"SCHEDULER": {"rocec_a_q3": {"type": "DWRR"}}, "WRED_PROFILE": {"rocec_a_q3": {"ecn": "ecn_all"}},
			"QUEUE": {"Ethernet0|3": {"scheduler": "rocec_a_q3", "wred_profile": "rocec_a_q3"}, "Ethernet4|3": {"scheduler": "s"}},
			"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}}, "PFC_WD": {"Ethernet0": {"action": "drop"}, "Ethernet4": {"action": "drop"}}}`
	)
	undone := []string{
		"DEL PFC_WD|Ethernet4", "DEL PFC_WD|Ethernet0", "HSET PFC_WD|Ethernet0 action alert",
		"HSET QUEUE|Ethernet0|3 scheduler scheduler.1", "HDEL QUEUE|Ethernet0|3 wred_profile", "DEL WRED_PROFILE|rocec_a_q3",
	}
	made := []string{
		"DEL BUFFER_PG|Ethernet0|3", "HSET BUFFER_PG|Ethernet4|3 profile pg_lossless_100000_5m_profile",
		"DEL BUFFER_PROFILE|pg_lossless_100000_40m_profile", "DEL BUFFER_PROFILE|pg_lossless_25000_5m_profile",
	}
	dynamicNow := strings.Replace(now, "{", `{"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}, `, 1)
	for what, c := range map[string]struct {
		now  string
		want []string
	}{
		"traditional": {now, append(append([]string{}, undone...), made...)}, "dynamic": {dynamicNow, undone}, "back already": {before, undone[1:3]},
	} {
		out, err := runCheck(t, "back", before, c.now, fragment)
		if got := strings.ReplaceAll(strings.TrimSpace(out), "\x1f", " "); err != nil || got != strings.Join(c.want, "\n") {
			t.Errorf("%s: %v\n%s\nwanted\n%s", what, err, got, strings.Join(c.want, "\n"))
		}
	}
	if out, err := runCheck(t, "back", before, strings.Replace(now, `"Ethernet0|3": {"profile"`, `"Ethernet0|3\u0007": {"profile"`, 1)); err == nil || !strings.Contains(out, "cannot be put back") {
		t.Errorf("a name that no shell shall see: %v %s", err, out)
	}
}

// TestSettle: groups that the buffer manager made anew without PFC go, those of another
// speed or cable are made again, and verify.sh sees them until then.
func TestSettle(t *testing.T) {
	const (
		running = `{"PORT": {"Ethernet0": {"speed": "100000", "admin_status": "up"}, "Ethernet4": {"speed": "100000", "admin_status": "up"}, "Ethernet8": {"speed": "100000", "admin_status": "up"}, "Ethernet12": {"speed": "100000", "admin_status": "up"}},
			"CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m", "Ethernet4": "40m", "Ethernet8": "5m", "Ethernet12": "40m"}},
			"BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_100000_5m_profile"}, "Ethernet4|3": {"profile": "pg_lossless_100000_5m_profile"},
				"Ethernet8|3-4": {"profile": "pg_lossless_100000_5m_profile"}, "Ethernet8|0": {"profile": "ingress_lossy_profile"}, "Ethernet12|3": {"profile": "own_lossless"}}}`
		list     = `[{"table": "BUFFER_PG", "field": "profile", "value": "pg_lossless_*", "row": true, "keys": ["Ethernet8|*"], "keep": []}, {"table": "PORT", "field": "mtu", "value": "*", "row": false, "keys": ["Ethernet0"], "keep": []}]`
		fragment = `{"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}, "Ethernet4": {"pfc_enable": "3"}, "Ethernet8": {"tc_to_pg_map": "a"}, "Ethernet12": {"pfc_enable": "3"}}}`
	)
	out, err := runCheck(t, "settle", running, list, fragment)
	if got := strings.ReplaceAll(out, "\x1f", " "); err != nil || got != "DEL BUFFER_PG|Ethernet8|3-4\nHSET PORT|Ethernet4 speed 100000\n" {
		t.Errorf("%v: %s", err, got)
	}
	out, err = runCheck(t, "groups", running, fragment)
	if want := "BUFFER_PG|Ethernet4|3 has pg_lossless_100000_5m_profile, which is not for the speed and cable of Ethernet4: pg_profile_lookup.ini has no row for them\n"; err == nil || out != want {
		t.Errorf("%v: %s", err, out)
	}
}

// runCheck runs the program of the artifacts over texts.
func runCheck(t *testing.T, verb string, texts ...string) (string, error) {
	t.Helper()
	oracle.Need(t, "python3")
	args := []string{filepath.Join(t.TempDir(), checkFile), verb}
	if err := os.WriteFile(args[0], []byte(checkProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		file := filepath.Join(t.TempDir(), "part.json")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	out, err := exec.Command("python3", args...).CombinedOutput()
	return string(out), err
}
