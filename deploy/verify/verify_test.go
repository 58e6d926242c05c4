package verify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/sonic"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// fake reads "state.json", an intent as JSON, and the MTU of each port from a
// file of its own.
var fake = &targets.Target{
	Name:   "fake",
	Probes: []targets.Probe{{File: "state.json"}, {File: "ports/%s.txt", PerPort: true}},
	Parse: func(d *intent.Device, c targets.Captured) (*intent.Device, diag.List) {
		seen := &intent.Device{}
		if b, ok := c.Files["state.json"]; ok {
			if err := json.Unmarshal(b, seen); err != nil {
				label := diag.Label{Where: "state.json"}
				if c.Label != nil {
					label = c.Label("state.json", 0, 1)
				}
				return nil, diag.List{{Severity: diag.Error, Summary: "state.json is no state", Labels: []diag.Label{label}}}
			}
		}
		for _, p := range d.Ports {
			var mtu uint16
			if b, ok := c.Files["ports/"+p.Name+".txt"]; ok {
				if _, err := fmt.Sscan(string(b), &mtu); err == nil {
					seen.Ports = append(seen.Ports, intent.Port{Name: p.Name, MTU: intent.Some(mtu)})
				}
			}
		}
		return seen, nil
	},
}

func want(name string, ports int) *intent.Device {
	d := &intent.Device{Version: intent.Version, Name: name, Kind: intent.Switch}
	for i := range ports {
		d.Ports = append(d.Ports, intent.Port{Name: fmt.Sprintf("swp%d", i+1), MTU: intent.Some(uint16(9000))})
	}
	return d
}

func save(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// results has a device in sync, one with drift, one with gaps, one without captures.
func results(t *testing.T) []*verify.Result {
	t.Helper()
	dir := t.TempDir()
	var list []*verify.Result
	for _, name := range []string{"good", "drift", "gaps", "broken", "none"} {
		d := want(name, 4)
		for i, p := range d.Ports {
			mtu := "9000"
			if name == "drift" && i < 2 {
				mtu = "1500"
			}
			if name != "none" && (name != "drift" || i < 3) {
				save(t, filepath.Join(dir, name, "ports", p.Name+".txt"), mtu)
			}
		}
		if name == "gaps" {
			d.Ports[0].FEC, d.Ports[1].FEC = intent.Some(intent.FECRS), intent.Some(intent.FECRS)
		}
		if name == "broken" {
			save(t, filepath.Join(dir, name, "state.json"), "{")
		}
		r, err := captures(dir, "switch."+name, d, fake, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Reason = strings.ReplaceAll(r.Reason, dir+string(filepath.Separator), "captures/")
		list = append(list, r)
	}
	return list
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wanted, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(wanted), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// captures reads the files of a device in a folder and compares them with the intent.
func captures(dir, address string, d *intent.Device, t *targets.Target, files *source.Files) (*verify.Result, error) {
	captured, err := verify.Files(dir, d, t, files)
	if err != nil {
		return nil, err
	}
	if len(captured.Files) == 0 {
		return verify.Unread(address, d, verify.NoCaptures(dir, d, t)), nil
	}
	return verify.Compare(address, d, t, captured), nil
}

func TestGoldens(t *testing.T) {
	list := results(t)
	for name, o := range map[string]verify.TextOptions{"text.txt": {}, "detailed.txt": {Detailed: true}} {
		var b bytes.Buffer
		if err := verify.Text(&b, list, o); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
	var b, indented bytes.Buffer
	if err := verify.JSON(&b, list, nil, "0.1.0", nil); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&indented, b.Bytes(), "", " "); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", indented.Bytes())
}

func TestExit(t *testing.T) {
	list := results(t)
	for name, c := range map[string]struct {
		list []*verify.Result
		want int
	}{"none": {nil, 0}, "in sync": {list[:1], 0}, "drift": {list[:3], 2}, "unknown": {list, 1}, "gaps": {list[2:3], 0}} {
		if got := verify.Exit(c.list); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestStrays: a folder of no device is an error that names the device that is
// near; files, hidden folders and folders of devices are none.
func TestStrays(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"host01", "host-1", "HOST02.example.net", "elsewhere", ".git"} {
		save(t, filepath.Join(dir, name, "x"), "")
	}
	save(t, filepath.Join(dir, "README"), "")
	list, err := verify.Strays(dir, []string{"host01", "host02", "tor"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		if d.Severity != diag.Error {
			t.Errorf("%s is no error", d.Summary)
		}
		got = append(got, filepath.Base(strings.Fields(d.Summary)[0])+": "+strings.SplitAfter(d.Help+"?", "?")[0])
	}
	want := []string{
		`HOST02.example.net: did you mean "host02"?`,
		"elsewhere: name the folder after the device whose captures it holds, or move it away?", `host-1: did you mean "host01"?`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := verify.Strays(filepath.Join(dir, "absent"), nil); err == nil {
		t.Error("a folder that is not there has no strays")
	}
}

// TestPlaces: what differs is shown with the line that wants it otherwise.
func TestPlaces(t *testing.T) {
	text := "switch \"tor\" {\n  mtu = 9000\n}\n"
	files := source.NewFiles()
	id := files.Add("f.roce.hcl", []byte(text))
	view := &source.View{Files: files, Read: func(string) ([]byte, error) { return []byte(text), nil }}
	r := results(t)[1]
	at := strings.Index(text, "mtu")
	r.Locate(func(p intent.Path) []diag.Label {
		if p.Field != "mtu" {
			return nil
		}
		return []diag.Label{{Span: source.Span{File: id, Start: uint32(at), Len: 3}}}
	})
	var b bytes.Buffer
	if err := verify.Text(&b, []*verify.Result{r}, verify.TextOptions{View: view}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`port["swp[1-2]"].mtu = 9000 -> 1500 (f.roce.hcl:2)`, "port[\"swp4\"] is missing\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := verify.JSON(&b, []*verify.Result{r}, nil, "", view); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), `"source":"f.roce.hcl:2"`); got != 3 {
		t.Errorf("%d places:\n%s", got, b.String())
	}
}

func TestHostileCaptures(t *testing.T) {
	outside := t.TempDir()
	save(t, filepath.Join(outside, "secret.json"), `{"ports":[{"name":"swp1","mtu":{"value":9000}}]}`)
	cases := map[string]struct {
		prepare func(t *testing.T, dir string)
		device  string
		want    string
	}{
		"no folder": {func(t *testing.T, dir string) { _ = os.Remove(dir) }, "tor", "no such file"},
		"name":      {func(*testing.T, string) {}, "../tor", `name "../tor"`},
		"link outwards": {func(t *testing.T, dir string) {
			link(t, filepath.Join(outside, "secret.json"), filepath.Join(dir, "tor", "state.json"))
		}, "tor", "escapes"},
		"folder": {func(t *testing.T, dir string) { save(t, filepath.Join(dir, "tor", "state.json", "x"), "") }, "tor", "it is not a regular file"},
		"too large": {func(t *testing.T, dir string) {
			large(t, filepath.Join(dir, "tor", "state.json"), verify.MaxCaptureBytes+1)
		}, "tor", "the file is too large"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.prepare(t, dir)
			d := want("tor", 1)
			d.Name = c.device
			if _, err := captures(dir, "switch.tor", d, fake, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
	t.Run("a port's name that leads elsewhere", func(t *testing.T) {
		dir := t.TempDir()
		d := want("tor", 1)
		d.Ports[0].Name = "../../../secret"
		save(t, filepath.Join(dir, "secret.txt"), "9000")
		if r, err := captures(dir, "switch.tor", d, fake, nil); err != nil || r.Status != verify.Unknown {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("nothing that matters", func(t *testing.T) {
		dir := t.TempDir()
		save(t, filepath.Join(dir, "tor", "state.json"), `{"ports":[{"name":"swp1"}]}`)
		if r, err := captures(dir, "switch.tor", want("tor", 1), fake, nil); err != nil || r.Status != verify.Unknown || !strings.Contains(r.Reason, "none of the settings") {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(to, at)); err != nil {
		t.Fatal(err)
	}
}

func large(t *testing.T, path string, size int64) {
	t.Helper()
	save(t, path, "")
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func TestLabels(t *testing.T) {
	dir := t.TempDir()
	save(t, filepath.Join(dir, "tor", "state.json"), "broken")
	files := source.NewFiles()
	r, err := captures(dir, "switch.tor", want("tor", 1), fake, files)
	if err != nil || len(r.Findings) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if span := r.Findings[0].Labels[0].Span; span.Len != 1 || !strings.HasSuffix(files.Name(span.File), "/tor/state.json") {
		t.Errorf("%+v in %q", span, files.Name(span.File))
	}
}

// The record follows only a device that was handed over, is wanted as it was
// handed over, and shows it.
func TestConfirm(t *testing.T) {
	s, err := record.Open(t.TempDir(), "default")
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Lock(t.Context(), "verify", "0.1.0", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Unlock() }()
	list := results(t)
	for _, r := range list {
		d := want(r.Device, 4)
		if r.Device == "gaps" {
			d.Model = "another" // handed over before the configuration moved on
		}
		e := &record.Entry{Device: r.Device, Address: r.Address, Emitter: "fake", Status: record.HandedOver, IntentDigest: intent.Digest(d), Intent: d}
		if _, err := l.Put(e, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := verify.Confirm(list, l); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		e, _, err := s.Get(r.Device)
		if err != nil {
			t.Fatal(err)
		}
		if applied := e.Status == record.Applied; applied != (r.Device == "good") || applied != r.Confirmed {
			t.Errorf("%s is %s, confirmed %v", r.Device, e.Status, r.Confirmed)
		}
	}
	if got := verify.Tally(list); got != "Verify: 2 in sync, 1 drift, 2 unknown. Recorded as applied: 1." {
		t.Error(got)
	}
}

// With a real target: a running configuration as SONiC prints it.
func TestSonic(t *testing.T) {
	dir := t.TempDir()
	d := &intent.Device{
		Version: intent.Version, Name: "tor", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202405"}, ASIC: "trident3",
		Ports: []intent.Port{{Name: "Ethernet0", MTU: intent.Some(uint16(9100)), Mbps: intent.Some(uint32(100000))}},
	}
	compare := func(mtu string) *verify.Result {
		save(t, filepath.Join(dir, "tor", "running-config.json"), `{"PORT": {"Ethernet0": {"mtu": "`+mtu+`", "speed": "100000"}}}`)
		r, err := captures(dir, "switch.tor", d, &sonic.Target, source.NewFiles())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	drifted := compare("1500")
	if drifted.Status != verify.Drift || len(drifted.Differences) != 1 {
		t.Fatalf("%+v", drifted)
	}
	shown := drifted.Differences[0]
	if shown.After != "9100" || shown.Path.String() != `port["Ethernet0"].mtu` {
		t.Errorf("%+v", shown)
	}
	if r := compare("9100"); r.Status != verify.InSync {
		t.Errorf("%+v", r)
	}
	save(t, filepath.Join(dir, "tor", "running-config.json"), `{"PORT": [`)
	if r, err := captures(dir, "switch.tor", d, &sonic.Target, nil); err != nil || r.Status != verify.Unknown || !r.Findings.HasErrors() {
		t.Errorf("%+v, %v", r, err)
	}
}

// Versions that are expected are compared and never a reason to write; what no
// capture shows is said to be unseen.
func TestExpected(t *testing.T) {
	dir := t.TempDir()
	d := &intent.Device{
		Version: intent.Version, Name: "h", Kind: intent.Node,
		Ports: []intent.Port{{Name: "eth0", NIC: &intent.NIC{Firmware: "28.43.*", DriverV: ">= 24.10"}}},
	}
	compare := func(nic string) *verify.Result {
		save(t, filepath.Join(dir, "h", "state.json"), `{"ports": [{"name": "eth0", "nic": {`+nic+`}}]}`)
		r, err := captures(dir, "node.h", d, fake, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := compare(`"firmware": "28.43.2026 (MT_0000000838)", "driver_version": "24.10-0.7.0"`); r.Status != verify.InSync || len(r.Unseen) > 0 {
		t.Errorf("%+v", r)
	}
	if r := compare(`"firmware": "28.43.1"`); r.Status != verify.InSync || len(r.Unseen) != 1 || r.Unseen[0].Fields[0] != "driver" {
		t.Errorf("%+v", r)
	}
	r := compare(`"firmware": "28.44.1000", "driver_version": "23.10"`)
	if r.Status != verify.Drift || len(r.Differences) != 2 || r.Differences[0].Before != "28.44.1000" || r.Differences[0].After != "28.43.*" || r.Differences[1].Path.Field != "driver" {
		t.Errorf("%+v", r)
	}
	sw := &intent.Device{Version: intent.Version, Name: "tor", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202405"}, Firmware: "5.2", Ports: []intent.Port{{Name: "Ethernet0", MTU: intent.Some(uint16(9100))}}}
	save(t, filepath.Join(dir, "tor", "running-config.json"), `{"PORT": {"Ethernet0": {"mtu": "9100"}}}`)
	r, err := captures(dir, "switch.tor", sw, &sonic.Target, nil)
	if err != nil || r.Status != verify.InSync || len(r.Unseen) != 1 || r.Unseen[0].Fields[0] != "firmware" || !r.Unseen[0].Never {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestPartial: what RoCE stands on and a capture leaves out keeps a device from
// being taken as applied; what no output shows does not.
func TestPartial(t *testing.T) {
	for name, c := range map[string]struct {
		unseen plan.Unseen
		want   bool
	}{
		"pfc":        {plan.Unseen{Fields: []string{"headroom", "pfc"}}, true},
		"headroom":   {plan.Unseen{Fields: []string{"headroom"}}, false},
		"never seen": {plan.Unseen{Never: true, Fields: []string{"pfc"}}, false},
	} {
		r := &verify.Result{Status: verify.InSync, Unseen: []plan.Unseen{c.unseen}}
		if got := r.Partial(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
