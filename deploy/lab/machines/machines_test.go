package machines

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/all"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
)

// made is one device of an example, with its files.
type made struct {
	d      *intent.Device
	target *targets.Target
	out    emit.Out
}

// compiled are the devices of an example that a target writes.
func compiled(t testing.TB, example string) map[string]*made {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: os.DirFS("../../../examples/" + example), Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	res := compiler.Compile(cfg, compiler.Options{AsOf: "2026-01-01", Rows: packs.HeadroomRows})
	if res.Diags.HasErrors() {
		t.Fatal(res.Diags)
	}
	list := map[string]*made{}
	for id := 1; id < len(res.Fabric.Devices); id++ {
		d := fabric.DeviceID(id)
		whole := res.Intent(d)
		if whole == nil {
			continue
		}
		for _, chosen := range lower.Selected(res.Fabric, d) {
			mine := *whole
			mine.Options = chosen.Options
			m := &made{d: &mine, target: all.Find(chosen.Emitter)}
			m.target.Write(&mine, &m.out)
			list[mine.Name] = m
		}
	}
	return list
}

// machine starts the machine of a device.
func (m *made) machine(t testing.TB, e lab.Environment) lab.Machine {
	t.Helper()
	if e.Clock == nil {
		e.Clock = lab.RealTime{}
	}
	maker := new(All).Maker(m.target.Name)
	if maker == nil {
		t.Fatalf("no machine for %s", m.target.Name)
	}
	if m.target.Name == "sonic" {
		oracle.Need(t, "python3")
	}
	machine, err := maker(m.d, e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = machine.Close() })
	return machine
}

// put lays the files of a device into a folder of a machine, as sessions do, and
// returns the device's own folder.
func (m *made) put(t testing.TB, machine lab.Machine, root string) string {
	t.Helper()
	own := path.Join(root, m.d.Name)
	write := func(dir string, list []emit.Artifact) {
		for _, a := range list {
			name := path.Join(dir, a.Path)
			if err := machine.Disk().MkdirAll(path.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := machine.Disk().WriteFile(name, a.Bytes, os.FileMode(a.Mode)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(own, m.out.Artifacts)
	for _, k := range m.out.Kits {
		write(path.Join(own, k.Folder()), k.Artifacts)
	}
	return own
}

// run runs a command line and demands its exit code.
func run(t testing.TB, machine lab.Machine, code int, line string) string {
	t.Helper()
	var out bytes.Buffer
	if got := machine.Exec(context.Background(), line, nil, &out, &out); got != code {
		t.Errorf("%s: exit %d, wanted %d:\n%s", line, got, code, out.String())
	}
	return out.String()
}

// observed reads a machine by the target's probes.
func (m *made) observed(t testing.TB, machine lab.Machine) *intent.Device {
	t.Helper()
	got, list := m.target.Parse(m.d, m.captured(machine))
	if list.HasErrors() {
		t.Fatal(list)
	}
	return got
}

func (m *made) captured(machine lab.Machine) targets.Captured {
	c := targets.Captured{Files: map[string][]byte{}}
	probe := func(p targets.Probe, names ...any) {
		var out, errs bytes.Buffer
		file, command := p.File, p.Command
		if p.PerPort {
			file, command = fmt.Sprintf(p.File, names...), fmt.Sprintf(p.Command, names...)
		}
		machine.Exec(context.Background(), command, nil, &out, &errs)
		if out.Len() > 0 {
			c.Files[file] = out.Bytes()
		}
	}
	for _, p := range m.target.Probes {
		if !p.PerPort {
			probe(p)
			continue
		}
		for _, port := range m.d.Ports {
			probe(p, port.Name)
		}
	}
	return c
}

// differences are the fields that can be read back and differ.
func (m *made) differences(got *intent.Device) []string {
	var list []string
	for _, c := range intent.Diff(got, m.d) {
		if m.target.Observable(m.d, c.Path) {
			list = append(list, fmt.Sprintf("%v", c))
		}
	}
	return list
}

// verb runs a verb of a transaction as the engine does.
func (m *made) verb(t testing.TB, machine lab.Machine, v targets.Verb, id string) (int, string) {
	t.Helper()
	tx := targets.Transaction{ID: id, Device: m.d, Confirm: 10 * time.Minute}
	line := m.target.Live.Command(v, tx)
	if v != targets.VerbStatus {
		line = "cd " + path.Join(m.target.Live.Root, id, m.d.Name) + " && " + line
	}
	var out, errs bytes.Buffer
	code := machine.Exec(context.Background(), line, nil, &out, &errs)
	if v == targets.VerbStatus && errs.Len() > 0 {
		t.Errorf("status is one line of JSON, whatever else goes on, and says:\n%s", &errs)
	}
	return code, out.String() + errs.String()
}

// TestApply: the scripts of a bundle, run by hand, make devices what their intent says.
func TestApply(t *testing.T) {
	for _, c := range []struct{ example, device, line, after string }{
		{"smb-direct", "tor", "sudo ./apply.sh", ""},
		{"gpu-pod", "pod1-leaf0", "./apply.sh", "nv config apply --confirm-status && nv config apply --confirm-yes"},
		{"nvme-of", "stor1", "bash %s/install.sh && bash %[1]s/verify.sh", ""},
	} {
		t.Run(c.device, func(t *testing.T) {
			t.Parallel()
			m := compiled(t, c.example)[c.device]
			if m == nil {
				t.Fatalf("%s has no %s", c.example, c.device)
			}
			machine := m.machine(t, lab.Environment{User: User(m.target.Name)})
			dir := m.put(t, machine, "/var/tmp/bundle")
			found := ""
			if m.target.Name == "sonic" {
				found = run(t, machine, 0, "sonic-cfggen -d --print-data")
			}
			if strings.Contains(c.line, "%") {
				c.line = fmt.Sprintf(c.line, m.out.Kits[0].Folder())
			}
			run(t, machine, 0, "cd "+dir+" && "+c.line)
			if c.after != "" {
				run(t, machine, 0, c.after)
			}
			if d := m.differences(m.observed(t, machine)); len(d) > 0 {
				t.Errorf("after %s:\n%s", c.line, strings.Join(d, "\n"))
			}
			if m.target.Name != "sonic" {
				return
			}
			// The config updater does not know this model, and refuses what it restricts: the watchdog, ECN profiles and what the buffer manager made.
			run(t, machine, 0, "cd "+dir+" && sudo ./rollback.sh")
			if diff := cmp.Diff(found, run(t, machine, 0, "sonic-cfggen -d --print-data")); diff != "" {
				t.Errorf("rollback.sh leaves (-found +left):\n%s", diff)
			}
		})
	}
}
