package oracle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitOutput(t *testing.T) {
	jobs := []GuestJob{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	got := splitOutput("noise\n@@M begin\none\n\n@@M end 0\nkernel: noise\n@@M begin\n\n@@M end 7\n@@M begin\ncut of", "@@M", jobs)
	want := []GuestResult{{Name: "a", Output: "one\n"}, {Name: "b", ExitCode: 7}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRunGuestRejects(t *testing.T) {
	t.Setenv(guestDirEnv, t.TempDir())
	dead := filepath.Join(t.TempDir(), "guest.sh")
	if err := os.WriteFile(dead, []byte("[ \"$1\" = --prepare ]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		jobs []GuestJob
		want string
	}{
		{nil, "no jobs"},
		{[]GuestJob{{Name: "a", Files: map[string][]byte{"etc/x": nil}}}, "not an absolute path"},
		{[]GuestJob{{Name: "a", Files: map[string][]byte{"/../x": nil}}}, "not a path below the root"},
	} {
		if _, err := runGuest(dead, c.jobs); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
	}
	_, err := runGuest(dead, []GuestJob{{Name: "first"}})
	if err == nil || !strings.Contains(err.Error(), `in job "first", 0 of 1 done`) {
		t.Errorf("error %v, want one that names the job a dead guest was in", err)
	}
}

// CheckGuest is run on a real guest by targets/linux; here it refuses what no guest that works can answer.
func TestCheckGuestRejects(t *testing.T) {
	var dead []GuestResult
	for _, j := range GuestJobs() {
		dead = append(dead, GuestResult{Name: j.Name})
	}
	rejects(t, "unexpected end of JSON input", func(t testing.TB) { CheckGuest(t, dead) })
	rejects(t, "6 results", func(t testing.TB) { CheckGuest(t, dead[1:]) })
}
