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
	got, list := m.target.Parse(m.d, c)
	if list.HasErrors() {
		t.Fatal(list)
	}
	return got
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

func TestLinux(t *testing.T) {
	for _, example := range []string{"storage"} {
		for name, m := range compiled(t, example) {
			if m.target.Name != "linux" {
				continue
			}
			t.Run(example+"/"+name, func(t *testing.T) {
				machine := m.machine(t, lab.Environment{})
				at := time.Now()
				dir := m.put(t, machine, "/var/lib/rocec/live/x1")
				t.Log(run(t, machine, 0, "cd "+dir+" && bash "+m.out.Kits[0].Folder()+"/install.sh"))
				t.Log(time.Since(at))
				if d := m.differences(m.observed(t, machine)); len(d) > 0 {
					t.Errorf("after install.sh:\n%s", strings.Join(d, "\n"))
				}
				_ = cmp.Diff
			})
			break
		}
	}
}

// verb runs a verb of a transaction as the engine does.
func (m *made) verb(t testing.TB, machine lab.Machine, v targets.Verb, id string) (int, string) {
	t.Helper()
	tx := targets.Transaction{ID: id, Device: m.d, Confirm: 10 * time.Minute}
	line := m.target.Live.Command(v, tx)
	if v != targets.VerbStatus {
		line = "cd " + path.Join(m.target.Live.Root, id, m.d.Name) + " && " + line
	}
	var out bytes.Buffer
	code := machine.Exec(context.Background(), line, nil, &out, &out)
	return code, out.String()
}

func TestLinuxLive(t *testing.T) {
	for name, m := range compiled(t, "storage") {
		if m.target.Name != "linux" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			machine := m.machine(t, lab.Environment{})
			run(t, machine, 0, m.target.Live.Prepare(targets.Transaction{ID: "x1", Device: m.d, Confirm: 10 * time.Minute}))
			m.put(t, machine, m.target.Live.Root+"/x1")
			for _, v := range []targets.Verb{targets.VerbStatus, targets.VerbBegin, targets.VerbStatus, targets.VerbChange, targets.VerbStatus, targets.VerbConfirm, targets.VerbStatus, targets.VerbRevert, targets.VerbStatus} {
				at := time.Now()
				code, out := m.verb(t, machine, v, "x1")
				t.Log(v, code, out, time.Since(at))
			}
			t.Log(run(t, machine, 0, "cat /var/lib/rocec/live/x1.state/log; ls -a /etc/systemd/system /var/lib/rocec/live"))
		})
		break
	}
}

func TestSonicApply(t *testing.T) {
	for _, example := range []string{"smb-direct", "storage"} {
		for name, m := range compiled(t, example) {
			if m.target.Name != "sonic" {
				continue
			}
			t.Run(example+"/"+name, func(t *testing.T) {
				machine := m.machine(t, lab.Environment{User: "admin"})
				dir := m.put(t, machine, "/home/admin/x")
				t.Log(run(t, machine, 0, "cd "+dir+" && sudo ./apply.sh"))
				if d := m.differences(m.observed(t, machine)); len(d) > 0 {
					t.Errorf("after apply.sh:\n%s", strings.Join(d, "\n"))
				}
			})
			break
		}
	}
}

func TestCumulusApply(t *testing.T) {
	for name, m := range compiled(t, "gpu-pod") {
		if m.target.Name != "cumulus" || name != "pod1-leaf0" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			machine := m.machine(t, lab.Environment{User: "cumulus"})
			dir := m.put(t, machine, "/home/cumulus/x")
			t.Log(run(t, machine, 0, "cd "+dir+" && ./apply.sh"))
			t.Log(run(t, machine, 0, "nv config revision; nv config apply --confirm-status; nv config apply --confirm-yes; cat /etc/nvue.d/startup.yaml | head -30"))
			if d := m.differences(m.observed(t, machine)); len(d) > 0 {
				t.Errorf("after apply.sh:\n%s", strings.Join(d, "\n"))
			}
		})
		break
	}
}
