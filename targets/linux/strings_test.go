package linux

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

var digestLine = regexp.MustCompile(`# intent sha256:[0-9a-f]+\n`)

// TestEveryString: whatever an intent holds, the scripts keep their shape, and
// the netplan file stays one that YAML reads with the same keys.
func TestEveryString(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"nvme-mlnx", "bond-pcp", "lossy", "rxe", "bnxt"} {
		t.Run(name, func(t *testing.T) {
			d := hosts()[name]
			if d.LAGs == nil { // one port says what two do, in half the time
				d.Ports, d.Ifaces = d.Ports[:1], d.Ifaces[:1]
			}
			want := map[string][]string{}
			var err error
			for _, a := range artifacts(t, d) {
				if a.Path == dataFile {
					if want[a.Path], err = commands(a.Bytes); err != nil {
						t.Fatal(err)
					}
				}
			}
			passed := map[string]bool{}
			targettest.EveryString(t, &Target, d, func(list []emit.Artifact) error { return keepsShape(want, passed, list) })
		})
	}
}

// keepsShape skips what has passed: most strings stand in one artifact of many.
func keepsShape(want map[string][]string, passed map[string]bool, list []emit.Artifact) error {
	for _, a := range list {
		text := a.Path + "\n" + string(digestLine.ReplaceAll(a.Bytes, nil))
		if passed[text] {
			continue
		}
		switch {
		case a.Path == dataFile:
			got, err := commands(a.Bytes)
			if err != nil {
				return fmt.Errorf("%s: %w", a.Path, err)
			}
			if !slices.Equal(got, want[a.Path]) {
				return fmt.Errorf("%s starts other commands", a.Path)
			}
		case a.Path == netplanFile:
			var f planFile
			dec := yamlv3.NewDecoder(bytes.NewReader(a.Bytes))
			if err := dec.Decode(&f); err != nil {
				return err
			}
		case strings.HasSuffix(a.Path, ".env"):
			if !variables.Match(a.Bytes) {
				return fmt.Errorf("%s is not a file of variables:\n%s", a.Path, a.Bytes)
			}
		case bytes.ContainsAny(a.Bytes, "\x00\r\x1b"):
			return fmt.Errorf("%s holds control characters", a.Path)
		}
		passed[text] = true
	}
	return nil
}

// variables is what systemd, containers and shells read alike.
var variables = regexp.MustCompile(`^(#[^\x00-\x08\x0b-\x1f]*\n|[A-Z_]+=[A-Za-z0-9_,=/.:-]*\n)*$`)

// commands lists the first words of all commands of a script that are no
// assignments, and every expansion: user text adds neither. The number of
// assignments and checks may follow the intent.
func commands(script []byte) ([]string, error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.CallExpr:
			if len(x.Args) > 0 {
				seen["command "+x.Args[0].Lit()] = true
			}
		case *syntax.CmdSubst:
			seen[fmt.Sprintf("substitution of %d", len(x.Stmts))] = true
		case *syntax.ParamExp:
			if x.Param != nil {
				seen["$"+x.Param.Value] = true
			}
		}
		return true
	})
	var list []string
	for s := range seen {
		if s != "command :" && !strings.HasPrefix(s, "command check_") && !strings.HasPrefix(s, "command qos") {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list, nil
}
