package oracle

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// guestDirEnv names the folder for the guest's kernel image and module, about 500 MB.
const guestDirEnv = "ROCEC_GUEST_DIR"

// jobSeconds bounds one job inside the guest that says no bound of its own, bootSeconds what is added for the boot itself: emulation is slow, a hang is longer.
const (
	jobSeconds  = 240
	bootSeconds = 180
)

// GuestJob is one thing to do in the guest.
type GuestJob struct {
	Name   string            // for messages
	Files  map[string][]byte // absolute path in the guest -> content; executable when it begins with #!
	Script string            // bash, run as root with / as working directory

	// Seconds is how long it may take; 0 = 240. Emulation on a loaded machine is many times slower than on an idle one.
	Seconds int

	// PowerCut: the power fails before the job. The kernel starts anew, and of what the jobs before it made there is what had reached the disk.
	PowerCut bool
}

func (j *GuestJob) seconds() int {
	if j.Seconds > 0 {
		return j.Seconds
	}
	return jobSeconds
}

// GuestResult is what one job did. Output is what it wrote to stdout and stderr, in order; ExitCode is 124 when it took longer than it may.
type GuestResult struct {
	Name     string
	Output   string
	ExitCode int
}

// Steps are the parts of the output by their names: each begins with a line of an at sign, a space and its name.
func (r *GuestResult) Steps() map[string]string {
	m := map[string]string{}
	for part := range strings.SplitSeq(r.Output, "\n@ ") {
		name, body, _ := strings.Cut(strings.TrimPrefix(part, "@ "), "\n")
		m[name] = body
	}
	return m
}

// RunGuest boots Debian's kernel once (testdata/lab/guest.sh) and runs jobs in it, one after the other, as root over a copy of this
// machine's root folder whose writes go to a disk that ends with the boot. Before each job rd0 and rd1, netdevs whose DCB layer stores
// and checks as an mlx5 port does, are made anew; everything else a job leaves behind is seen by those after it. $GUEST_MODS is the
// folder for modprobe -d, $DCBSTUB the module behind rd0, /mnt a folder on the disk where an overlay may write. The results come in the order of jobs; an exit code other than 0 is the caller's to judge, a guest
// that did not run every job fails t.
func RunGuest(t testing.TB, jobs []GuestJob) []GuestResult {
	t.Helper()
	Need(t, Guest)
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	results, err := runGuest(filepath.Join(root, "testdata", "lab", "guest.sh"), jobs)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// guestLack says which Debian packages a boot lacks. guest.sh knows them, kernel headers of the right version among them.
func guestLack(t testing.TB) error {
	root, err := repository()
	if err != nil {
		return err
	}
	for _, program := range []string{"bash", "apt-cache", "dpkg"} {
		if err := lack(t, program); err != nil {
			return fmt.Errorf("the guest needs Debian 12: %w", err)
		}
	}
	dir, err := cacheDir(guestDirEnv, "guest")
	if err != nil {
		return err
	}
	out, err := run(root, []string{guestDirEnv + "=" + dir}, "bash", filepath.Join(root, "testdata", "lab", "guest.sh"), "--missing")
	if err != nil {
		return fmt.Errorf("the guest cannot be booted here: %w", err)
	}
	if packages := strings.Fields(out); len(packages) > 0 {
		return fmt.Errorf("the guest cannot be booted here: apt-get install --no-install-recommends %s", strings.Join(packages, " "))
	}
	return nil
}

// runGuest writes the jobs where the guest sees them, boots, and takes its output apart.
func runGuest(guest string, jobs []GuestJob) ([]GuestResult, error) {
	if len(jobs) == 0 {
		return nil, errors.New("no jobs for the guest")
	}
	dir, err := cacheDir(guestDirEnv, "guest")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	place, err := guestPlace(guest, dir)
	if err != nil {
		return nil, err
	}
	defer place.Close()
	work, err := os.MkdirTemp(dir, "jobs.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	mark := "@@" + rand.Text() // so that no job can print a line that looks like the driver's
	if err := writeJobs(work, mark, jobs); err != nil {
		return nil, err
	}
	seconds := bootSeconds
	for i := range jobs {
		seconds += jobs[i].seconds()
		if jobs[i].PowerCut {
			seconds += bootSeconds
		}
	}
	cmd := exec.Command("bash", guest, filepath.Join(work, "driver"))
	cmd.Env = append(os.Environ(), "LC_ALL=C", guestDirEnv+"="+dir, "ROCEC_GUEST_SECONDS="+strconv.Itoa(seconds))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	results := splitOutput(stdout.String(), mark, jobs)
	if len(results) < len(jobs) {
		return nil, fmt.Errorf("the guest ended (%v) in job %q, %d of %d done: %s\n%s",
			runErr, jobs[len(results)].Name, len(results), len(jobs), strings.TrimSpace(stderr.String()), stdout.String())
	}
	return results, nil
}

// guestPlace prepares what every boot needs, and waits for one of as many places as this machine has cores: more boots than that take
// each other's time and miss their limits.
func guestPlace(guest, dir string) (*flock.Flock, error) {
	first := flock.New(filepath.Join(dir, ".lock"))
	if err := first.Lock(); err != nil {
		return nil, fmt.Errorf("lock of %s: %w", dir, err)
	}
	defer first.Close()
	prepare := exec.Command("bash", guest, "--prepare") // which may take its time: it fetches a kernel
	prepare.Env = append(os.Environ(), "LC_ALL=C", guestDirEnv+"="+dir)
	if out, err := prepare.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	for {
		for i := range runtime.NumCPU() {
			place := flock.New(filepath.Join(dir, ".lock"+strconv.Itoa(i)))
			if ok, err := place.TryLock(); err != nil {
				return nil, fmt.Errorf("lock of %s: %w", dir, err)
			} else if ok {
				return place, nil
			}
		}
		time.Sleep(time.Second)
	}
}

// writeJobs lays out dir/N/script and dir/N/files for each job, and dir/driver, which runs them in order. It is started again after a
// power cut, which it asks for with exit code 77, and goes on with the job before which that was.
func writeJobs(dir, mark string, jobs []GuestJob) error {
	driver := fmt.Sprintf("cd /\ncut=$(cat /.cut 2>/dev/null)\nfor ((i = ${cut:-0}; i < %d; i++)); do\n", len(jobs)) +
		fmt.Sprintf("\tif [[ -e '%s'/$i/cut && $i != \"$cut\" ]]; then echo $i >/.cut; sync /.cut; exit 77; fi\n", dir) +
		"\trmmod dcbstub 2>/dev/null\n" +
		"\tinsmod \"$DCBSTUB\" || exit 1\n" +
		fmt.Sprintf("\tcp -r '%s'/$i/files/. / || exit 1\n", dir) +
		fmt.Sprintf("\techo '%s begin'\n", mark) +
		fmt.Sprintf("\ttimeout -k 5 \"$(<'%s'/$i/seconds)\" bash '%s'/$i/script </dev/null 2>&1\n", dir, dir) +
		fmt.Sprintf("\tprintf '\\n%s end %%d\\n' $?\n", mark) +
		"done\n"
	if err := writeFiles(dir, map[string][]byte{"driver": []byte(driver)}, 0o644); err != nil {
		return err
	}
	for i, job := range jobs {
		base := filepath.Join(dir, strconv.Itoa(i))
		if err := os.MkdirAll(filepath.Join(base, "files"), 0o755); err != nil {
			return err
		}
		own := map[string][]byte{"script": []byte(job.Script), "seconds": []byte(strconv.Itoa(job.seconds()))}
		if job.PowerCut {
			own["cut"] = nil
		}
		if err := writeFiles(base, own, 0o644); err != nil {
			return err
		}
		for name, content := range job.Files {
			mode := os.FileMode(0o644)
			if bytes.HasPrefix(content, []byte("#!")) {
				mode = 0o755
			}
			if !filepath.IsAbs(name) {
				return fmt.Errorf("job %s: %s is not an absolute path", job.Name, name)
			}
			if err := writeFiles(filepath.Join(base, "files"), map[string][]byte{name: content}, mode); err != nil {
				return fmt.Errorf("job %s: %w", job.Name, err)
			}
		}
	}
	return nil
}

// splitOutput returns the results of the jobs that came to their end.
func splitOutput(out, mark string, jobs []GuestJob) []GuestResult {
	var results []GuestResult
	for _, job := range jobs {
		_, rest, ok := strings.Cut(out, mark+" begin\n")
		if !ok {
			break
		}
		body, rest, ok := strings.Cut(rest, "\n"+mark+" end ")
		if !ok {
			break
		}
		code, rest, _ := strings.Cut(rest, "\n")
		n, err := strconv.Atoi(code)
		if err != nil {
			break
		}
		results = append(results, GuestResult{Name: job.Name, Output: body, ExitCode: n})
		out = rest
	}
	return results
}
