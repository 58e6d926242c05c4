package linux
import ("testing";"github.com/rocec/rocec/targets/oracle")
func TestZZ(t *testing.T) {
	rs := oracle.RunGuest(t, liveJobs(t))
	for _, r := range rs {
		t.Logf("%s: exit %d\n%s", r.Name, r.ExitCode, r.Output)
	}
	liveResult(t, rs)
}
