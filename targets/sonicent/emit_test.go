package sonicent

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

var fixtures = map[string]func() *intent.Device{"leaf": leaf, "tor": tor, "pair": pair}

func TestGolden(t *testing.T) {
	for name, device := range fixtures {
		targettest.Golden(t, filepath.Join("testdata", name+".txtar"), targettest.EmitString(&Target, device()))
	}
}

// artifact is one file of what is emitted for a device that has to be accepted.
func artifact(t testing.TB, d *intent.Device, path string) string {
	t.Helper()
	if list := targets.Check(&Target, d, nil); list.HasErrors() {
		t.Fatalf("%s is refused:\n%s", d.Name, targettest.Refusals(list))
	}
	return targettest.Text(targettest.Emit(&Target, d), path)
}

// TestByHand: what comes out for the leaf is what was written by hand before
// there was any code, but for the header.
func TestByHand(t *testing.T) {
	want, err := os.ReadFile("testdata/leaf.by-hand.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(artifact(t, leaf(), configFile), "does the same.\n")
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-by hand +emitted):\n%s", diff)
	}
}

// TestMaintenance: what reboots stands in the maintenance script and nowhere
// else, and nothing saves by itself.
func TestMaintenance(t *testing.T) {
	for name, c := range map[string]struct {
		device *intent.Device
		want   []string
		not    []string
	}{
		"buffers":          {leaf(), []string{`-c "buffer init lossless"`, "./maintenance.sh buffers", "SAVES the configuration and REBOOTS"}, []string{`-c "roce enable"`, "breakout)"}},
		"breakout, before": {tor(), []string{`-c "interface breakout port 1/1 mode 4x25G"`, "./maintenance.sh breakout; ./maintenance.sh buffers", "comes first"}, nil},
		"roce":             {pair(), []string{`-c "roce enable"`}, []string{`-c "buffer init lossless"`}},
	} {
		t.Run(name, func(t *testing.T) {
			text := artifact(t, c.device, maintenanceFile)
			for _, f := range targettest.Emit(&Target, c.device) {
				if f.Path == maintenanceFile && f.Step != emit.Maintenance {
					t.Errorf("the step is %s", f.Step)
				}
				if f.Path == maintenanceFile {
					text = f.Run + "\n" + text
					continue
				}
				for _, command := range []string{`-c "buffer init`, `-c "roce enable`, "\nbuffer init", "\nroce enable", "\nwrite memory", "\ninterface breakout"} {
					if strings.Contains(string(f.Bytes), command) {
						t.Errorf("%s has %q", f.Path, command)
					}
				}
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range c.not {
				if strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
		})
	}
	kept := leaf()
	kept.Options = map[string]string{buffersOption: buffersKept}
	if text := artifact(t, kept, maintenanceFile); text != "" {
		t.Errorf("buffers that are kept are set up:\n%s", text)
	}
}

func TestEveryField(t *testing.T) {
	with := func(more targettest.Exempt) targettest.Exempt {
		maps.Copy(more, targettest.Exempt{
			"QoS.Pause":    "no setting of the switch switches pause on",
			"QoS.DCBX":     "DCBX is off until somebody switches it on",
			"Port.Autoneg": "a fixed speed is one without negotiation",
		})
		return more
	}
	targettest.EveryFieldExcept(t, &Target, with(targettest.Exempt{
		"Iface.Name":   "the interface of a VLAN is called by its number",
		"Port.CableMm": "the next of three lengths",
		"Port.Tagged":  "a VLAN is left only by a plan from the switch's configuration",
	}), leaf())
	targettest.EveryFieldExcept(t, &Target, with(targettest.Exempt{
		"Iface.Name":   "the interface of a VLAN is called by its number",
		"Port.CableMm": "the next of three lengths",
		"Split.Parent": "the cage says which port is split",
		"Split.Mode":   "the port's own word for the split is the CLI's",
		"Split.Lanes":  "the CLI knows the lanes",
		"Split.Alias":  "the CLI knows the alias",
		"QoS.DSCP":     "a port that trusts nothing has one priority for all marks",
		"QoS.PCP":      "a port that trusts nothing has one priority for all marks",
		"QoS.PFC":      "a priority is left only by a plan from the switch's configuration",
		"QoS.ECN":      "a policy is left only by a plan from the switch's configuration",

		"Watchdog.Action": "drop is what is written where none is",
	}), tor())
	targettest.EveryFieldExcept(t, &Target, with(targettest.Exempt{
		"MLAG.OutOfBand":  "mclag domain has the addresses alone, of whatever interface",
		"Port.MTU":        "a member has the MTU of its PortChannel; another is refused",
		"Watchdog.Action": "drop is what is written where none is",
	}), pair())
}

// sound is what must hold of artifacts whatever the strings of the intent are:
// every line of the commands is a comment or one that the table knows, and no
// string becomes a command of a script.
func sound(all []command) func([]emit.Artifact) error {
	return func(files []emit.Artifact) error {
		for _, f := range files {
			switch filepath.Ext(f.Path) {
			case ".txt":
				if bad := unknown(all, string(f.Bytes)); len(bad) > 0 {
					return fmt.Errorf("%s has %q", f.Path, bad)
				}
			case ".sh":
				file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(string(f.Bytes)), f.Path)
				if err != nil {
					return err
				}
				bad := error(nil)
				syntax.Walk(file, func(n syntax.Node) bool {
					if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && strings.Contains(c.Args[0].Lit(), "touch") {
						bad = fmt.Errorf("%s: a string became a command", f.Path)
					}
					return true
				})
				if bad != nil {
					return bad
				}
			}
		}
		return nil
	}
}

func TestEveryString(t *testing.T) {
	t.Parallel()
	all := commandTable(t)
	small, half := tor(), pair()
	small.Ports, small.VLANs, small.QoS = small.Ports[:1], small.VLANs[:3], small.QoS[:1]
	small.Ifaces = small.Ifaces[:1]
	half.Ports = half.Ports[1:3]
	half.LAGs[0].Members, half.LAGs[1].Members = []string{"Eth1/2"}, []string{"Eth1/31"}
	for _, d := range []*intent.Device{small, half} {
		for i := range d.QoS { // the maps hold no strings and many lines
			q := &d.QoS[i]
			q.Trust, q.DSCP, q.PCP = intent.Opt[intent.Trust]{}, intent.Opt[[64]uint8]{}, intent.Opt[[8]uint8]{}
		}
		targettest.EveryString(t, &Target, d, sound(all))
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for name, device := range fixtures {
		for _, f := range targettest.Emit(&Target, device()) {
			if strings.HasSuffix(f.Path, ".sh") {
				oracle.Shell(t, name+"/"+f.Path, f.Bytes)
			}
		}
	}
}
