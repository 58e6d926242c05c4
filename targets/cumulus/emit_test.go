package cumulus

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/feature"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

var fixtures = map[string]func() *intent.Device{
	"leaf": leaf, "tor": tor, "pair": pair,
	"roce-5.14": func() *intent.Device { return mode("5.14") }, "roce-5.15": func() *intent.Device { return mode("5.15.0") },
}

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
	for _, f := range targettest.Emit(&Target, d) {
		if f.Path == path {
			return string(f.Bytes)
		}
	}
	t.Fatalf("%s has no %s", d.Name, path)
	return ""
}

// TestByHand: what comes out for the leaf is what was written by hand before
// there was any code, but for the comments.
func TestByHand(t *testing.T) {
	want, err := os.ReadFile("testdata/leaf.by-hand.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(artifact(t, leaf(), patchFile), "does not stand here.\n")
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-by hand +emitted):\n%s", diff)
	}
}

func TestEveryField(t *testing.T) {
	left := targettest.Exempt{
		"QoS.Group":    "the groups that switchd makes may also be left to it; others are refused",
		"QoS.PFCQueue": "the queues of the priorities may also be left to it; others are refused",
		"QoS.Pause":    "no port has a link-pause profile by itself",
	}
	with := func(more targettest.Exempt) targettest.Exempt {
		maps.Copy(more, left)
		return more
	}
	small := leaf()
	small.Ports = append(small.Ports[:2:2], small.Ports[32])
	small.Ifaces = small.Ifaces[:3]
	targettest.EveryFieldExcept(t, &Target, with(targettest.Exempt{
		"Port.CableMm":    "whole metres",
		"Watchdog.Action": "it always drops",
		"Iface.Name":      "the interface of a VLAN is called by its number",
	}), small)
	targettest.EveryFieldExcept(t, &Target, with(targettest.Exempt{
		"Port.CableMm":    "without PFC a cable has no place",
		"Iface.Name":      "the interface of a VLAN is called by its number",
		"VLAN.MTU":        "without an interface of the VLAN its ports have to be large enough, and are checked",
		"DCBX.Version":    "IEEE is what Cumulus sends",
		"Watchdog.Action": "it always drops",
		"QoS.PFC":         "a port without PFC names no profile",
		"QoS.Watchdog":    "a port without PFC has no watchdog",
		"QoS.TC":          "all QoS values have the one map of the switch",
	}), tor())
	targettest.EveryFieldExcept(t, &Target, with(targettest.Exempt{
		"Iface.Name":      "the interface of a VLAN is called by its number",
		"LAG.ID":          "a bond that is no leg of an MLAG has no number",
		"VLAN.MTU":        "without an interface of the VLAN its ports have to be large enough, and are checked",
		"Watchdog.PollMs": "what is written is the interval that it has by itself",
		"Watchdog.Action": "it always drops",
	}), pair())
	two := mode("5.14")
	two.Ports = two.Ports[:2]
	targettest.EveryFieldExcept(t, &Target, with(targettest.Exempt{"DCBX.Version": "IEEE is what Cumulus sends", "Watchdog.Action": "it always drops"}), two)
}

func TestTable(t *testing.T) {
	rows := map[feature.ID]bool{}
	for _, r := range features.Rows {
		if rows[r.ID] {
			t.Errorf("two rows for %s", r.ID)
		}
		rows[r.ID] = true
	}
	for _, id := range feature.All {
		if !rows[id] {
			t.Errorf("no row for %s", id)
		}
	}
}

// calls are the commands of a shell text as words, and an error when it is no
// list of plain commands.
func calls(text string) (commands [][]string, err error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "commands")
	if err != nil {
		return nil, err
	}
	for _, s := range file.Stmts {
		c, ok := s.Cmd.(*syntax.CallExpr)
		if !ok || len(c.Assigns) > 0 || len(s.Redirs) > 0 || s.Background || s.Negated {
			return nil, fmt.Errorf("line %d is no plain command", s.Pos().Line())
		}
		var words []string
		for _, w := range c.Args {
			text := ""
			for _, part := range w.Parts {
				switch x := part.(type) {
				case *syntax.Lit:
					text += x.Value
				case *syntax.SglQuoted:
					text += x.Value
				default:
					return nil, fmt.Errorf("line %d holds more than words", s.Pos().Line())
				}
			}
			words = append(words, text)
		}
		commands = append(commands, words)
	}
	return commands, nil
}

// sound is what must hold of artifacts whatever the strings of the intent are.
func sound(files []emit.Artifact) error {
	for _, f := range files {
		switch filepath.Ext(f.Path) {
		case ".yaml":
			var list []map[string]map[string]any
			if err := yaml.Unmarshal(f.Bytes, &list); err != nil {
				return err
			}
			for _, part := range list {
				for key := range part {
					if key != "set" && key != "unset" {
						return fmt.Errorf("%s has a part %q", f.Path, key)
					}
				}
			}
		case ".txt":
			commands, err := calls(string(f.Bytes))
			if err != nil {
				return err
			}
			for _, c := range commands {
				if len(c) < 3 || c[0] != "nv" || c[1] != "set" && c[1] != "unset" {
					return fmt.Errorf("%s has the command %q", f.Path, c)
				}
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

func TestEveryString(t *testing.T) {
	t.Parallel()
	small := tor()
	small.Ports, small.VLANs = small.Ports[:1], small.VLANs[:3]
	small.Ifaces = small.Ifaces[:1]
	half := pair()
	half.Ports = half.Ports[1:3]
	half.LAGs[0].Members, half.LAGs[1].Members = []string{"swp2"}, []string{"swp31"}
	for _, d := range []*intent.Device{small, half} {
		for i := range d.QoS { // the maps hold no strings and many lines
			q := &d.QoS[i]
			q.Trust, q.DSCP, q.PCP = intent.Opt[intent.Trust]{}, intent.Opt[[64]uint8]{}, intent.Opt[[8]uint8]{}
		}
		targettest.EveryString(t, &Target, d, sound)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for name, device := range fixtures {
		for _, f := range targettest.Emit(&Target, device()) {
			if strings.HasSuffix(f.Path, ".sh") || strings.HasSuffix(f.Path, ".txt") {
				oracle.Shell(t, name+"/"+f.Path, f.Bytes)
			}
		}
	}
}
