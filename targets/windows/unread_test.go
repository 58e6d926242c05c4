package windows

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/deploy/lab/windows"
	"github.com/rocec/rocec/lang/diag"
)

// TestUnreadStays: a policy of a name that is written here which has more than any that
// is written is there after apply as it was before, whatever else differs of it, and so
// are policies of others; where one has to change, nothing is changed without
// -ReplaceConflicting. A plan tells of it.
func TestUnreadStays(t *testing.T) {
	for _, name := range []string{"s2d", "converged", "iwarp"} {
		d, _ := hostFor(name)
		q := hostQoS(d, true)
		for i := range q.Marks {
			m := &q.Marks[i]
			if len(matches(m)) == 0 {
				continue // the application marks
			}
			for _, priority := range []int64{int64(m.Priority), 1 + int64(m.Priority)%7} {
				_, h := hostFor(name)
				odd := windows.Policy{
					Name: policyName(m), Template: "None", Protocol: "None", NetDirect: int64(m.NetDirectPort), App: `C:\theirs.exe`,
					Priority: priority, DSCP: -1, Precedence: 127,
				}
				theirs := windows.Policy{
					Name: "theirs", Template: "None", Protocol: "TCP", Port: 9, App: `C:\theirs.exe`, Priority: 5, DSCP: 7,
					Precedence: 127,
				}
				own, other := odd, theirs
				h.Policies = []*windows.Policy{&own, &other}
				_, list := parse(d, captured(string(capture(t, h, scripts(d)))))
				list = slices.DeleteFunc(list, func(x diag.Diagnostic) bool { return !strings.Contains(x.Summary, "policy") })
				code, lines, _ := h.Run(scripts(d), applyFile, nil)
				said := strings.Join(lines, "\n")
				if same := priority == int64(m.Priority) && m.NetDirectPort > 0; same == (code == 3) {
					t.Errorf("%s, policy %q with priority %d: exit %d\n%s", name, odd.Name, priority, code, said)
				}
				if code == 3 && (len(h.Changes) > 0 || !strings.Contains(said, "has more than is written here") || !strings.Contains(said, odd.Name)) {
					t.Errorf("%s, policy %q: changed %v\n%s", name, odd.Name, h.Changes, said)
				}
				have := map[string]windows.Policy{}
				for _, p := range h.Policies {
					have[p.Name] = *p
				}
				if diff := cmp.Diff([]windows.Policy{odd, theirs}, []windows.Policy{have[odd.Name], have["theirs"]}); diff != "" {
					t.Errorf("%s, policy %q (-before +after):\n%s", name, odd.Name, diff)
				}
				if len(list) != 1 || !strings.Contains(list[0].Summary, odd.Name) || list[0].Help == "" {
					t.Errorf("%s, policy %q is not told: %v", name, odd.Name, list)
				}
			}
		}
	}
}
