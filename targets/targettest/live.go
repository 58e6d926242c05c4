package targettest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rocec/rocec/targets"
)

// liveHook stands before every program that changes something: it counts the calls,
// and before the one that is asked for it kills all programs up to the test
// itself. systemctl and hostname are models.
const liveHook = `#!/bin/sh
name=${0##*/}
kill_all() {
	p=$$
	while [ "$p" -gt 1 ] && [ "$p" != "$ROCEC_TEST" ]; do
		all="$p $all"
		p=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$p/stat")
	done
	echo "$all" | xargs kill -9
}
case ${ROCEC_KILL-}$name in
[0-9]*mv | [0-9]*rm | [0-9]*cp | [0-9]*mkdir | [0-9]*systemctl)
	read -r n <"$ROCEC_FAKE/calls"
	n=$((n + 1))
	echo $n >"$ROCEC_FAKE/calls"
	[ "$n" != "$ROCEC_KILL" ] || kill_all
	;;
esac
[ ! -e "$ROCEC_FAKE/fail-$name" ] || exit 1
case $name in
hostname) if [ "${1-}" = -s ]; then echo leaf-1; else echo leaf-1.example; fi ;;
id) if [ "$1" = -un ]; then echo admin; else echo "${ROCEC_UID-0}"; fi ;;
sudo) exit 1 ;;
sync) ;; # what the kernel has written is not lost with a program
df) printf 'Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/x 100 1 %s 1%% /\n' "$(cat "$ROCEC_FAKE/free")" ;;
systemctl)
	verb=$1
	for unit; do :; done
	at=$ROCEC_FAKE/timers/$unit
	case $verb in
	daemon-reload | restart) ;;
	is-active | is-enabled) [ -e "$at" ] ;;
	list-unit-files) for at in "$ROCEC_FAKE"/timers/$unit; do [ ! -e "$at" ] || echo "${at##*/} enabled enabled"; done ;;
	enable)
		case $unit in *@*) unit=${unit%%@*}@.service ;; esac
		[ -e "$ROCEC_FAKE/etc/systemd/system/$unit" ] && : >"$at"
		;;
	disable) rm -f "$at" ;;
	*) exit 1 ;;
	esac
	;;
*) exec "/usr/bin/$name" "$@" ;;
esac
`

// LiveDevice is a folder that rocec-live.sh takes for its device, called leaf-1,
// with models of the programs that would reach outside of it.
type LiveDevice struct {
	T    testing.TB
	Root string
	Env  []string // besides that of the test

	program []byte
	files   map[string]string
}

// NewLiveDevice is a device with transactions a1 and b2 laid out. Programs of the
// system are commands by name, shell scripts that know $ROCEC_FAKE; files are what
// lies beside the artifacts, in the device's folder.
func NewLiveDevice(t testing.TB, program []byte, commands, files map[string]string) LiveDevice {
	t.Helper()
	d := LiveDevice{T: t, Root: t.TempDir(), program: program, files: files}
	for _, dir := range []string{"bin", "timers", "etc/systemd/system", "run/systemd/system"} {
		d.must(os.MkdirAll(filepath.Join(d.Root, dir), 0o755))
	}
	d.Write("free", "1000000\n")
	d.Write("proc/uptime", "1000.50 2000.00\n")
	d.Write("proc/sys/kernel/random/boot_id", "first\n")
	d.must(os.WriteFile(filepath.Join(d.Root, "hook"), []byte(liveHook), 0o755))
	for _, p := range []string{"hostname", "id", "sudo", "df", "systemctl", "mv", "rm", "cp", "mkdir", "sync"} {
		d.must(os.Symlink(filepath.Join(d.Root, "hook"), filepath.Join(d.Root, "bin", p)))
	}
	for name, text := range commands {
		d.must(os.WriteFile(filepath.Join(d.Root, "bin", name), []byte(d.moved(text)), 0o755))
	}
	for _, id := range []string{"a1", "b2"} {
		d.Put(id)
	}
	return d
}

// Put lays a transaction out.
func (d LiveDevice) Put(id string) {
	text := strings.Replace(d.moved(string(d.program)), `PATH="$PATH:`, `PATH="`+d.Root+`/bin:$PATH:`, 1)
	d.Write("var/live/"+id+"/common/kit/rocec-live.sh", text)
	d.must(os.MkdirAll(filepath.Join(d.Root, "var/live", id, "leaf-1"), 0o755))
	for name, text := range d.files {
		name = filepath.Join("var/live", id, "leaf-1", name)
		d.Write(name, d.moved(text))
		d.must(os.Chmod(filepath.Join(d.Root, name), 0o755))
	}
}

// moved is a script with the places of a device in the folder.
func (d LiveDevice) moved(text string) string {
	return strings.NewReplacer("/var/lib/rocec", d.Root+"/var", "/etc/", d.Root+"/etc/", "/run/systemd/", d.Root+"/run/systemd/", "/proc/", d.Root+"/proc/", "/sys/", d.Root+"/sys/", "/usr/local/", d.Root+"/usr/local/").Replace(text)
}

func (d LiveDevice) must(err error) {
	d.T.Helper()
	if err != nil {
		d.T.Fatal(err)
	}
}

// Write makes a file of the device.
func (d LiveDevice) Write(name, text string) {
	d.T.Helper()
	path := filepath.Join(d.Root, name)
	d.must(os.MkdirAll(filepath.Dir(path), 0o755))
	d.must(os.WriteFile(path, []byte(text), 0o644))
}

// Read is the text of a file, without the space around it; "" where there is none.
func (d LiveDevice) Read(name string) string {
	b, _ := os.ReadFile(filepath.Join(d.Root, name))
	return strings.TrimSpace(string(b))
}

// Remove removes a file or a folder; "" is all there is.
func (d LiveDevice) Remove(name string) { d.must(os.RemoveAll(filepath.Join(d.Root, name))) }

// Command is a verb for a transaction.
func (d LiveDevice) Command(id, verb string) *exec.Cmd {
	args := []string{"../common/kit/rocec-live.sh", verb, id}
	if verb == "begin" {
		args = append(args, "600", "leaf-1")
	}
	return d.Program(id, args...)
}

// Program is the call of a program with arguments, in the folder of a transaction.
func (d LiveDevice) Program(id string, args ...string) *exec.Cmd {
	c := exec.Command("bash", args...)
	c.Dir = filepath.Join(d.Root, "var/live", id, "leaf-1")
	c.Env = append(append(os.Environ(), "ROCEC_FAKE="+d.Root, "ROCEC_TEST="+strconv.Itoa(os.Getpid())), d.Env...)
	return c
}

// Run runs a verb and returns its exit code, -1 when it was killed, and the last
// line of its stderr.
func (d LiveDevice) Run(id, verb string) (code int, why string) {
	d.T.Helper()
	return d.Finish(d.Command(id, verb))
}

// Finish runs a call and returns its exit code, -1 when it was killed, and the
// last line of its stderr; it demands that nothing is printed.
func (d LiveDevice) Finish(c *exec.Cmd) (code int, why string) {
	d.T.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run() // the exit code says it
	if out.Len() > 0 {
		d.T.Errorf("%v prints %s", c.Args, out.String())
	}
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	return c.ProcessState.ExitCode(), lines[len(lines)-1]
}

// Do demands that a verb goes well.
func (d LiveDevice) Do(id string, verbs ...string) {
	d.T.Helper()
	for _, v := range verbs {
		if code, why := d.Run(id, v); code != 0 {
			d.T.Fatalf("%s: exit %d: %s\n%s", v, code, why, d.Read("var/live/"+id+".state/log"))
		}
	}
}

// Status is what the verb prints.
func (d LiveDevice) Status(id string) targets.State {
	d.T.Helper()
	c := d.Command(id, "status")
	out, err := c.Output()
	var s targets.State
	if err != nil || json.Unmarshal(out, &s) != nil || strings.Count(string(out), "\n") != 1 {
		d.T.Fatalf("status: %v: %s", err, out)
	}
	return s
}

// Armed reports whether the timer runs.
func (d LiveDevice) Armed(id string) bool {
	_, err := os.Stat(filepath.Join(d.Root, "timers", "rocec-live-"+id+".timer"))
	return err == nil
}

// Expire is what the timer does.
func (d LiveDevice) Expire(id string) int {
	d.T.Helper()
	code, _ := d.Finish(d.Program(id, filepath.Join(d.Root, "var/live", id+".state/rocec-live.sh"), "scheduled", id))
	return code
}

// Keep copies the whole device to a folder.
func (d LiveDevice) Keep(dir string) {
	d.T.Helper()
	if out, err := exec.Command("cp", "-a", d.Root+"/.", dir).CombinedOutput(); err != nil {
		d.T.Fatalf("%s", out)
	}
}

// Restore makes the device what was kept.
func (d LiveDevice) Restore(dir string) {
	d.T.Helper()
	d.Remove("")
	if out, err := exec.Command("cp", "-a", dir+"/.", d.Root).CombinedOutput(); err != nil {
		d.T.Fatalf("%s", out)
	}
}
