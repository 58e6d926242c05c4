package windows

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab/powershell"
	lab "github.com/rocec/rocec/deploy/lab/windows"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/feature"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

func TestGolden(t *testing.T) {
	for name, d := range samples() {
		t.Run(name, func(t *testing.T) {
			if list := targets.Check(&Target, d, nil); list.HasErrors() {
				t.Fatalf("refused:\n%s", targettest.Refusals(list))
			}
			for _, a := range targettest.Emit(&Target, d) {
				targettest.Golden(t, filepath.Join("testdata", name, a.Path), string(a.Bytes))
			}
		})
	}
}

func TestScriptsAreASCIIWithCRLF(t *testing.T) {
	for name, d := range samples() {
		for _, a := range emitted(&Target, d) {
			if bytes.Count(a.Bytes, []byte("\n")) != bytes.Count(a.Bytes, []byte("\r\n")) {
				t.Errorf("%s/%s has bare line feeds", name, a.Path)
			}
			if i := bytes.IndexFunc(a.Bytes, func(r rune) bool { return r > '~' || r < ' ' && r != '\r' && r != '\n' }); i >= 0 {
				t.Errorf("%s/%s has %q", name, a.Path, a.Bytes[i])
			}
			if bytes.Contains(a.Bytes, []byte("# rocec:")) {
				t.Errorf("%s/%s has a part that was not put in", name, a.Path)
			}
		}
	}
}

func TestCommands(t *testing.T) {
	for name, d := range samples() {
		for _, a := range emitted(&Target, d) {
			t.Run(name+"/"+a.Path, func(t *testing.T) { oracle.PowerShellCommands(t, a.Bytes) })
		}
	}
}

func TestGrammar(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []string
	seen := map[string]bool{}
	put := func(tg *targets.Target, name string, d *intent.Device) {
		for _, a := range emitted(tg, d) {
			if seen[string(a.Bytes)] {
				continue // of a kit
			}
			seen[string(a.Bytes)] = true
			path := filepath.Join(dir, name+"-"+a.Path)
			if err := os.WriteFile(path, a.Bytes, 0o644); err != nil {
				t.Fatal(err)
			}
			files = append(files, path)
		}
	}
	for name, d := range samples() {
		put(&Target, name, d)
	}
	put(&Target, "hostile", hostile())
	put(&Target, "worldly", worldly())
	for name, d := range atcSamples() {
		put(&NetworkATC, name, d)
	}
	tx := targets.Transaction{ID: "a1", Device: s2d(), Confirm: time.Minute}
	for _, tg := range []*targets.Target{&Target, &NetworkATC} {
		texts := map[string]string{"prepare": tg.Live.Prepare(tx)}
		for _, v := range []targets.Verb{targets.VerbBegin, targets.VerbChange, targets.VerbStatus, targets.VerbConfirm, targets.VerbRevert} {
			texts[string(v)] = tg.Live.Command(v, tx)
		}
		for name, text := range texts {
			path := filepath.Join(dir, tg.Name+"-"+name+".ps1")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			files = append(files, path)
		}
	}
	slices.Sort(files)
	oracle.PSCheck(t, files...)
}

// hostile has names that Windows allows and scripts trip over.
func hostile() *intent.Device {
	d := s2d()
	return renamed(d, "O'Brien's; exit 1 #", "$(throw) '+' {0}")
}

// worldly has names that only a byte order mark saves, and every quote that PowerShell takes for a plain one.
func worldly() *intent.Device {
	return renamed(hostile(), "Müller\u2019s Speicher; exit 1 #", "\u2018a\u2019 + \u201ab\u201b $(throw) \u5b58\u5132 \U0001f600")
}

func renamed(d *intent.Device, a, b string) *intent.Device {
	rename := map[string]string{d.Ports[0].Name: a, d.Ports[1].Name: b}
	for i := range d.Ports {
		d.Ports[i].Name = rename[d.Ports[i].Name]
		d.Ports[i].NIC.Model = `x' } ; Remove-Item "C:" #> <#`
	}
	for i := range d.Ifaces {
		d.Ifaces[i].Name, d.Ifaces[i].On = rename[d.Ifaces[i].Name], rename[d.Ifaces[i].On]
	}
	return d
}

// A file with a name beyond ASCII begins with a byte order mark, others have none; programs are ASCII always.
func TestNamesBeyondASCII(t *testing.T) {
	const mark = "\ufeff"
	d := worldly()
	if list := targets.Check(&Target, d, nil); list.HasErrors() {
		t.Fatalf("refused:\n%s", targettest.Refusals(list))
	}
	for path, text := range scripts(d) {
		beyond := strings.ContainsFunc(strings.TrimPrefix(text, mark), func(r rune) bool { return r > '~' })
		if beyond != strings.HasPrefix(text, mark) || beyond != (path == dataFile || path == validateFile) {
			t.Errorf("%s: beyond ASCII %v, mark %v", path, beyond, strings.HasPrefix(text, mark))
		}
		t.Run(path, func(t *testing.T) { oracle.PowerShellCommands(t, []byte(text)) })
	}
	if text := scripts(d)[dataFile]; !strings.Contains(text, "'Müller\u2019\u2019s Speicher; exit 1 #'") {
		t.Errorf("the name is not quoted:\n%s", text)
	}
	for path, text := range scripts(hostile()) {
		if strings.HasPrefix(text, mark) {
			t.Errorf("%s has a mark and is ASCII", path)
		}
	}
	h := lab.NewHost("N1", d.Ports[0].Name, d.Ports[1].Name)
	h.DHCP = []string{"{guid-0}"}
	s := scripts(d)
	code, lines, _ := h.Run(s, applyFile, map[string]any{"allowrestart": true})
	expect(t, "apply", 2, code, lines)
	code, lines, _ = h.Run(s, verifyFile, nil)
	expect(t, "verify", 0, code, lines)
	shown := capture(t, h, s)
	if i := bytes.IndexFunc(shown, func(r rune) bool { return r > '~' }); i >= 0 {
		t.Errorf("capture.ps1 prints %q", shown[i:min(i+20, len(shown))])
	}
	got, list := parse(d, captured(string(shown)))
	if list.HasErrors() {
		t.Fatal(list)
	}
	d.VLANs = nil // no capture shows them as such
	if differences := intent.Diff(d, got); len(differences) > 0 {
		t.Errorf("the host is not as wanted: %v", differences)
	}
}

func TestHostileNamesAreQuoted(t *testing.T) {
	d := hostile()
	if list := targets.Check(&Target, d, nil); list.HasErrors() {
		t.Fatalf("refused:\n%s", targettest.Refusals(list))
	}
	if text := scripts(d)[dataFile]; !strings.Contains(text, "'O''Brien''s; exit 1 #'") {
		t.Errorf("the name is not quoted:\n%s", text)
	}
}

func TestEveryField(t *testing.T) {
	t.Parallel()
	targettest.EveryField(t, &Target, s2d(), converged(), chelsio())
}

func TestFeaturesHaveRowsAndSources(t *testing.T) {
	rows := map[feature.ID]feature.Row{}
	for _, r := range features.Rows {
		if _, twice := rows[r.ID]; twice {
			t.Errorf("%s has two rows", r.ID)
		}
		rows[r.ID] = r
		if r.Source == "" {
			t.Errorf("%s has no source", r.ID)
		}
		if r.Support == feature.Refused && r.Note == "" {
			t.Errorf("%s is refused without a word on what to do", r.ID)
		}
	}
	for _, id := range feature.All {
		if _, ok := rows[id]; !ok {
			t.Errorf("%s has no row", id)
		}
	}
	if len(rows) != len(feature.All) {
		t.Errorf("rows %v, features %v", slices.Sorted(maps.Keys(rows)), feature.All)
	}
}

// A host that is only verified gets nothing that could change it.
func TestVerifyOnlyHostGetsNoApply(t *testing.T) {
	d := s2d()
	for i := range d.Ports {
		d.Ports[i].Verify = true
	}
	for _, a := range emitted(&Target, d) {
		if a.Step == emit.Apply || a.Step == emit.Rollback {
			t.Errorf("%s is emitted", a.Path)
		}
		if a.Path == dataFile && (!bytes.Contains(a.Bytes, []byte("Name = 'SMB_Direct'")) || !bytes.Contains(a.Bytes, []byte("ManageQos = $false"))) {
			t.Errorf("the QoS is not to be compared:\n%s", a.Bytes)
		}
	}
}

// verify.ps1 and capture.ps1 call nothing that changes a host.
func TestReadOnlyScripts(t *testing.T) {
	verbs := []string{"Set-Net", "New-", "Remove-", "Enable-", "Disable-", "Restart-", "Rename-", "Add-", "Install-", "Set-VM", "Set-Smb", "Set-Content"}
	for _, a := range emitted(&Target, converged()) {
		if a.Step != emit.Verify {
			continue
		}
		for _, v := range verbs {
			if bytes.Contains(a.Bytes, []byte(v)) {
				t.Errorf("%s contains %s", a.Path, v)
			}
		}
	}
}

func TestLiveMigrationBytes(t *testing.T) {
	// host-network-requirements: two ports of 25G in a team, SMB half of them,
	// live migration 29 % of that are 7.25 Gbit/s.
	if got := liveMigrationBytes(converged()); got != 7_250_000_000/8 {
		t.Errorf("two ports of 25G: %d bytes/s", got)
	}
	d := converged()
	for i := range d.Ports {
		d.Ports[i].Mbps = intent.Some(uint32(100000))
	}
	if got := liveMigrationBytes(d); got != 29_000_000_000/8 {
		t.Errorf("two ports of 100G: %d bytes/s", got)
	}
}

// No text of an intent gets out of its literal: the data of a host are one table
// of literals, whatever stands in it.
func TestEveryString(t *testing.T) {
	t.Parallel()
	team, plain := converged(), chelsio()
	team.Ports, team.LAGs[0].Members, team.Ifaces, team.Options = team.Ports[1:], []string{"SMB 2"}, team.Ifaces[1:2], nil
	plain.Ports = plain.Ports[:1]
	plain.QoS[0].Marks = plain.QoS[0].Marks[1:]
	plain.QoS[0].Sched.Value = [8]intent.Sched{0: {Kind: intent.SchedETS, Percent: 90}, 4: {Kind: intent.SchedETS, Percent: 10}, 6: {Kind: intent.SchedStrict}}
	for _, base := range []*intent.Device{team, plain} {
		targettest.EveryString(t, &Target, base, contained)
	}
}

// contained demands that files are literals behind the two lines of the header.
func contained(files []emit.Artifact) error {
	for _, a := range files {
		text := strings.TrimPrefix(string(a.Bytes), "\ufeff")
		for range 2 {
			line, rest, _ := strings.Cut(text, "\r\n")
			if !strings.HasPrefix(line, "# ") {
				return fmt.Errorf("%s: the header is %q", a.Path, line)
			}
			text = rest
		}
		if err := literals(strings.Replace(text, "$Global:configData =", "", 1)); err != nil {
			return fmt.Errorf("%s: %w", a.Path, err)
		}
	}
	return nil
}

// literals demands that a text is one table of literals, lists and tables.
func literals(block string) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%v", x)
		}
	}()
	var walk func(n powershell.Node)
	walk = func(n powershell.Node) {
		switch n := n.(type) {
		case *powershell.Literal:
		case *powershell.Unary:
			walk(n.X)
		case *powershell.Var:
			if n.Name != "true" && n.Name != "false" && n.Name != "null" {
				panic("variable " + n.Name)
			}
		case *powershell.Hash:
			for _, v := range n.Values {
				walk(v)
			}
		case *powershell.Array:
			for _, v := range n.Body {
				walk(v)
			}
		case *powershell.Comma:
			for _, v := range n.Items {
				walk(v)
			}
		default:
			panic(fmt.Sprintf("%T in a data block", n))
		}
	}
	b, err := powershell.Parse(block)
	if err != nil {
		return err
	}
	body := b.Body
	if len(body) != 1 {
		return fmt.Errorf("%d statements", len(body))
	}
	walk(body[0])
	return nil
}
