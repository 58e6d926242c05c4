package windows

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/targets"
)

// TestWithheld: what a plan says that a session would not change is what is left of
// it after one, and what goes through is not held back.
func TestWithheld(t *testing.T) {
	for name, want := range map[string][]string{
		"s2d":       nil,
		"converged": {`lag["team"].members`},
		"iwarp":     {`interface["storage"].mtu`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := samples()[name]
				r := newRig(t, &Target, d, lab.Environment{Clock: lab.RealTime{}})
				withheld := func() (list []string) {
					b, err := json.Marshal(r.settings())
					if err != nil {
						t.Fatal(err)
					}
					have, found := Target.Parse(d, captured(string(b)))
					if found.HasErrors() {
						t.Fatal(found)
					}
					for _, x := range intent.Diff(d, have) {
						i := Target.Impact(d, targets.Change{Path: x.Path, Before: x.Before, After: x.After})
						if i.Withheld && x.Path.Field != "" {
							list = append(list, x.Path.String())
							if !i.Interrupts || !strings.Contains(i.Note, "options = { live_restart = true }") {
								t.Errorf("%s: %+v", x.Path, i)
							}
						}
					}
					return list
				}
				before := withheld()
				r.want(targets.VerbBegin, targets.ExitDone)
				r.want(targets.VerbChange, targets.ExitDone)
				if after := withheld(); !slices.Equal(before, want) || !slices.Equal(after, want) {
					t.Errorf("held back %q, left afterwards %q, want %q", before, after, want)
				}
			})
		})
	}
	d := converged()
	d.Options = map[string]string{optionRestart: "true"}
	at := targets.Change{Path: intent.Path{Object: intent.OfLAG, Name: "team", Field: "members"}}
	if i := Target.Impact(d, at); i.Withheld || !i.Interrupts {
		t.Errorf("with live_restart: %+v", i)
	}
	if i := NetworkATC.Impact(d, at); i.Withheld || !i.Interrupts {
		t.Errorf("Network ATC with live_restart: %+v", i)
	}
	if i := NetworkATC.Impact(atcConverged(), at); !i.Withheld || !strings.Contains(i.Note, "live_restart") {
		t.Errorf("Network ATC: %+v", i)
	}
}

// TestRestartIsSaidOfBothDeliveries: what waits for a restart by hand waits over a
// session too, unless the option of the target allows it there.
func TestRestartIsSaidOfBothDeliveries(t *testing.T) {
	d := s2d()
	at := targets.Change{Path: intent.Path{Object: intent.OfPort, Name: d.Ports[0].Name, Field: "rdma"}, After: "true"}
	for allowed, says := range map[string]bool{"": true, "false": true, "true": false} {
		d.Options = map[string]string{optionRestart: allowed}
		note := Target.Impact(d, at).Note
		if !strings.Contains(note, "by hand only with -AllowRestart") || strings.Contains(note, "over a session only with live_restart = true") != says {
			t.Errorf("live_restart %q: %s", allowed, note)
		}
	}
}
