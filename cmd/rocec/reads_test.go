package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// bench is the small fabric in a folder, with devices that answer over sessions:
// the switch by programs that run here, the nodes with what their program prints.
type bench struct {
	t     *testing.T
	dir   string
	bin   string
	mu    sync.Mutex
	nodes map[string]string // what a node prints, by name
	down  map[string]error  // of those that cannot be reached
	dials int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), bin: t.TempDir(), nodes: map[string]string{}, down: map[string]error{}}
	for _, name := range []string{"fabric.roce.hcl", "nodes.roce.hcl"} {
		b.put(name, string(b.read("testdata/smb/"+name)))
	}
	b.put("lab.json", `{"format_version": "1.0", "devices": {
		"tor": {"address": "127.0.0.1", "port": 1, "host_key": "SHA256:x"}, "n1": {"address": "127.0.0.1", "port": 2, "host_key": "SHA256:x"}, "n2": {"address": "127.0.0.1", "port": 3, "host_key": "SHA256:x"}}}`)
	// What the devices would show after the bundle was run on them.
	b.run(0, "build", "--out-dir=out")
	running := map[string]map[string]map[string]any{}
	for _, name := range []string{b.at("../smb/base-config.json"), filepath.Join(b.dir, "out/tor/rocec-ports.json"), filepath.Join(b.dir, "out/tor/rocec-qos.json")} {
		var part map[string]map[string]map[string]any
		if err := json.Unmarshal(b.read(name), &part); err != nil {
			t.Fatal(err)
		}
		for table, rows := range part {
			for key, row := range rows {
				for field, v := range row {
					if running[table] == nil {
						running[table] = map[string]map[string]any{}
					}
					if running[table][key] == nil {
						running[table][key] = map[string]any{}
					}
					running[table][key][field] = v
				}
			}
		}
	}
	text, err := json.Marshal(running)
	if err != nil {
		t.Fatal(err)
	}
	b.program("sudo", `[ "$1" != -n ] || shift; exec "$@"`)
	b.program("sonic-cfggen", "cat "+filepath.Join(b.bin, "running"))
	b.program("running", string(text))
	node := string(b.read("testdata/smb/netqos.json"))
	b.nodes["n1"] = node
	b.nodes["n2"] = strings.NewReplacer(`"N1"`, `"N2"`, "10.71.1.11", "10.71.1.12", "10.71.2.11", "10.71.2.12").Replace(node)
	return b
}

func (b *bench) at(name string) string { return filepath.Join("testdata", "script", name) }

func (b *bench) read(name string) []byte {
	b.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

func (b *bench) put(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// program is one on the switch; a text that is no script is a file beside them.
func (b *bench) program(name, text string) {
	b.t.Helper()
	if !strings.HasPrefix(text, "{") {
		text = "#!/bin/sh\n" + text + "\n"
	}
	if err := os.WriteFile(filepath.Join(b.bin, name), []byte(text), 0o755); err != nil {
		b.t.Fatal(err)
	}
}

// edit changes a text of the switch's configuration.
func (b *bench) edit(old, new string) {
	b.t.Helper()
	name := filepath.Join(b.bin, "running")
	text := string(b.read(name))
	if !strings.Contains(text, old) {
		b.t.Fatalf("the switch has no %s", old)
	}
	b.program("running", strings.ReplaceAll(text, old, new))
}

// run runs rocec in the folder and returns what it printed. It must end with a code.
func (b *bench) run(want int, args ...string) (out, errs string) {
	b.t.Helper()
	return b.runWith(b.t.Context(), nil, want, args...)
}

func (b *bench) runWith(ctx context.Context, set func(*app), want int, args ...string) (out, errs string) {
	b.t.Helper()
	var o, e bytes.Buffer
	env := []string{"ROCEC_CACHE_DIR=off"}
	if b.nodes["n1"] != "" {
		env = append(env, "ROCEC_LAB="+filepath.Join(b.dir, "lab.json"))
	}
	a := newApp(strings.NewReader(""), &o, &e, env)
	a.dialer = b
	if set != nil {
		set(a)
	}
	here, err := os.Getwd()
	if err != nil {
		b.t.Fatal(err)
	}
	code := a.run(ctx, append([]string{"--chdir=" + b.dir}, args...))
	if err := os.Chdir(here); err != nil {
		b.t.Fatal(err)
	}
	if code != want {
		b.t.Fatalf("rocec %v ended with %d, want %d:\n%s%s", args, code, want, o.String(), e.String())
	}
	return o.String(), e.String()
}

func (b *bench) Dial(_ context.Context, to session.Spec) (session.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dials++
	if err := b.down[to.Device]; err != nil {
		return nil, &session.Error{Device: to.Device, Op: "connect", Kind: session.KindUnreachable, Err: err}
	}
	if (to.Shell == targets.PowerShell) != (to.Device != "tor") {
		return nil, fmt.Errorf("%s has shell %s", to.Device, to.Shell)
	}
	return &way{b, to}, nil
}

// way is a session to one of the devices.
type way struct {
	b  *bench
	to session.Spec
}

func (w *way) Run(ctx context.Context, command string, stdin []byte) (session.Output, error) {
	if w.to.Shell == targets.PowerShell && strings.Contains(command, "-Verb status") { // nothing is open there
		return session.Output{Stdout: []byte(`{"id":"0","phase":"none","left_seconds":0,"open":"","open_left_seconds":0,"message":"","boot":""}`)}, nil
	}
	if w.to.Shell == targets.PowerShell { // the folder of the program that reads is made sure of
		if !strings.Contains(command, `\rocec\live'`) || !strings.Contains(command, `\read-only'`) {
			return session.Output{}, fmt.Errorf("nobody asked for %q", command)
		}
		return session.Output{}, nil
	}
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Env = []string{"PATH=" + w.b.bin + string(filepath.ListSeparator) + os.Getenv("PATH")}
	// it has stored what it runs
	c.Stdin = strings.NewReader(strings.ReplaceAll(string(stdin), "/etc/sonic/config_db.json", filepath.Join(w.b.bin, "running")))
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return session.Output{}, err
	}
	return session.Output{Stdout: out.Bytes(), Stderr: errs.Bytes(), Exit: c.ProcessState.ExitCode()}, nil
}

func (w *way) Configure(_ context.Context, c session.Change) (session.Output, error) {
	if len(c.Files) != 1 || !strings.Contains(c.Folder, "/read-only/netqos-") || !strings.HasSuffix(c.Command, "capture.ps1") {
		return session.Output{}, fmt.Errorf("nobody asked for %q in %s", c.Command, c.Folder)
	}
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	return session.Output{Stdout: []byte(w.b.nodes[w.to.Device])}, nil
}

func (w *way) Close() error { return nil }

// wants demands texts in an output, and with a "!" before them that they are not in it.
func wants(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if rest, not := strings.CutPrefix(text, "!"); not {
			if strings.Contains(out, rest) {
				t.Errorf("there is %q in:\n%s", rest, out)
			}
		} else if !strings.Contains(out, text) {
			t.Errorf("there is no %q in:\n%s", text, out)
		}
	}
}

// Devices whose delivery is ssh are read; the record speaks for them when nobody
// wants that, and is marked when they are as they should be.
func TestReads(t *testing.T) {
	b := newBench(t)
	out, _ := b.run(0, "plan", "--detailed-exitcode")
	wants(t, out, "No changes. Your fabric matches the configuration.")
	if b.dials != 3 {
		t.Errorf("%d sessions were opened", b.dials)
	}
	out, _ = b.run(2, "plan", "--refresh=false", "--detailed-exitcode")
	wants(t, out, "Plan: 3 to add")
	if b.dials != 3 {
		t.Error("--refresh=false opens sessions")
	}
	out, _ = b.run(0, "verify", "--detailed")
	wants(t, out, "switch.tor: in sync", "Verify: 3 in sync, 0 drift, 0 unknown.")

	b.edit(`"mtu":"9216"`, `"mtu":"1500"`)
	out, _ = b.run(2, "plan", "--detailed-exitcode")
	wants(t, out, "  ~ mtu = 1500 -> 9216", "Plan: 0 to add, 4 to change, 0 to destroy.")
	out, _ = b.run(0, "plan", "--format=json")
	wants(t, out, `"read":{"device":3}`)
	out, _ = b.run(2, "verify")
	wants(t, out, "switch.tor: drift, expected -> found", "mtu = 9216 -> 1500")
	out, _ = b.run(0, "plan", "--commands", "--target=switch.tor")
	wants(t, out, "rocec-tor.patch.json:", `"path": "/PORT/Ethernet0/mtu"`)
}

// A device that cannot be read ends a plan, after the others were read; it is
// unknown to verify.
func TestReadsUnread(t *testing.T) {
	b := newBench(t)
	b.down["n2"] = errors.New("no route to host")
	b.program("sonic-cfggen", "echo 'permission denied' >&2; exit 1")
	out, errs := b.run(1, "plan", "--out=p")
	if out != "" || b.dials != 3 {
		t.Errorf("%d sessions, and a plan:\n%s", b.dials, out)
	}
	wants(t, errs, `switch.tor could not be read: sudo sonic-cfggen -d --print-data ended with exit code 1: permission denied`,
		`node.s2d["n2"] could not be read: connect: no route to host`, "--exclude='node.s2d[n2]'", "nodes.roce.hcl line")
	if _, err := os.Stat(filepath.Join(b.dir, "p")); err == nil {
		t.Error("half a plan was saved")
	}
	out, _ = b.run(0, "plan", "--exclude=switch.tor", "--exclude=node.s2d[n2]")
	wants(t, out, "No changes")
	out, _ = b.run(1, "verify")
	wants(t, out, "switch.tor: unknown, it could not be read: sudo sonic-cfggen", `node.s2d["n2"]: unknown, it could not be read: connect: no route to host`, "Verify: 1 in sync, 0 drift, 2 unknown.")
	out, _ = b.run(1, "verify", "--json")
	wants(t, out, `"status":"unknown"`)

	// What stands between us and all of them is one finding.
	b.down["n1"], b.down["n2"] = errors.New("jump host gate: no route to host"), errors.New("jump host gate: no route to host")
	_, errs = b.run(1, "plan", "--exclude=switch.tor")
	wants(t, errs, `node.s2d["n1"] and 1 more could not be read: connect: jump host gate: no route to host`, "--exclude=DEVICE for each")
	if n := strings.Count(errs, "could not be read"); n != 1 {
		t.Errorf("%d findings:\n%s", n, errs)
	}
}

// A saved plan knows what the devices had, and that it was read from them.
func TestReadsSaved(t *testing.T) {
	b := newBench(t)
	b.edit(`"mtu":"9216"`, `"mtu":"1500"`)
	b.run(0, "plan", "--out=p")
	var saved struct {
		Devices map[string]struct {
			From     string `json:"observed_from"`
			Observed string `json:"observed_digest"`
		}
	}
	if err := json.Unmarshal(b.read(filepath.Join(b.dir, "p")), &saved); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tor", "n1", "n2"} {
		if d := saved.Devices[name]; d.From != "device" || len(d.Observed) != len("sha256:")+64 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	b.edit(`"mtu":"1500"`, `"mtu":"2000"`)
	_, errs := b.run(1, "apply", "p")
	wants(t, errs, "Saved plan is stale: ", "switch.tor")
}

// Again and again, what changed is printed, and nothing while nothing does.
func TestReadsInterval(t *testing.T) {
	b := newBench(t)
	n := 0
	step := func(a *app) {
		a.after = func(d time.Duration) <-chan time.Time {
			if d != time.Minute {
				t.Errorf("it waits for %s", d)
			}
			switch n++; n {
			case 2:
				b.edit(`"mtu":"9216"`, `"mtu":"1500"`)
			case 4:
				b.edit(`"mtu":"1500"`, `"mtu":"9216"`)
			}
			c := make(chan time.Time, 1)
			c <- time.Time{}
			return c
		}
	}
	out, _ := b.runWith(t.Context(), step, 0, "verify", "--interval=1m", "--count=6")
	_, after, _ := strings.Cut(out, "Verify: 3 in sync, 0 drift, 0 unknown.\n")
	want := "switch.tor: drift, expected -> found\n"
	for i := range 4 {
		want += fmt.Sprintf("  ~ port[\"Ethernet%d\"].mtu = 9216 -> 1500 (fabric.roce.hcl:50)\n", i)
	}
	want += "\nVerify: 2 in sync, 1 drift, 0 unknown.\nswitch.tor: in sync\n\nVerify: 3 in sync, 0 drift, 0 unknown.\n"
	if lines := func(s string) string { return strings.ReplaceAll(s, ":50)", ")") }; stripLines(after) != lines(want) {
		t.Errorf("it printed\n%s\nwant\n%s", after, want)
	}
	ctx, stop := context.WithCancel(t.Context())
	out, _ = b.runWith(ctx, func(a *app) {
		a.after = func(time.Duration) <-chan time.Time {
			stop()
			return nil
		}
	}, interrupted, "verify", "--interval=1h")
	wants(t, out, "Verify: 3 in sync")
}

// stripLines takes the numbers of lines out of places.
func stripLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if i := strings.LastIndex(line, "hcl:"); i >= 0 {
			line = line[:i+3] + ")\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// Neighbours are asked over the same sessions.
func TestReadsNeighbours(t *testing.T) {
	b := newBench(t)
	table := func(second, third string) string {
		return "cat <<'END'\nLocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr\n-----------  --------------  -----------------  ------------  -----------------\n" +
			"Ethernet0    n1              smb_a              OR            x\n" + second + third + "Ethernet3    n2              smb_b              OR            x\n--------------------------------------------------\nTotal entries displayed:  4\nEND"
	}
	b.program("show", table("Ethernet1    n1              smb_b              OR            x\n", "Ethernet2    n2              smb_a              OR            x\n"))
	out, errs := b.run(0, "verify", "--lldp", "--detailed")
	wants(t, out+errs, "The neighbours are those of the source.", "!Error")
	b.program("show", table("Ethernet1    n2              smb_a              OR            x\n", "Ethernet2    n1              smb_b              OR            x\n"))
	_, errs = b.run(2, "verify", "--lldp")
	wants(t, errs, "n2/smb_a and n1/smb_b are swapped", "ROCE119")
	b.program("show", "echo 'lldp is not running' >&2; exit 1")
	_, errs = b.run(0, "verify", "--lldp")
	wants(t, errs, "the neighbours of switch.tor are not known: none of its commands printed anything; show lldp table ended with exit code 1: lldp is not running")
}
