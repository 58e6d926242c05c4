package windows

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/diag"
)

// more tells of policies of names that are written here which match or do more than any
// that is: apply.ps1 refuses to make them anew, as that would be lost (Get-Conflict of
// engine/guards.ps1).
func (o *observer) more(c captureOf) (list diag.List) {
	q := hostQoS(o.want, true)
	if q == nil || o.atc {
		return nil
	}
	for i := range o.s.Policies {
		row := &o.s.Policies[i]
		others := slices.Concat(row.OtherMatchConditions, row.OtherActions)
		ours := false
		for j := range q.Marks {
			ours = ours || sameName(row.Name, policyName(&q.Marks[j]))
		}
		if !ours || len(others) == 0 {
			continue
		}
		words := make([]string, len(others))
		for j := range others {
			words[j] = string(others[j])
		}
		at := max(bytes.Index(c.Files[c.file], []byte(`"`+string(row.Name)+`"`)), 0)
		list.Add(c.finding(at, 1, diag.Warning, fmt.Sprintf("policy %q of node %q has more than rocec writes and stays as it is: %s",
			string(row.Name), o.want.Name, strings.Join(words, ", ")),
			"take that away, or rename the policy: where it has to change, "+applyFile+" changes nothing without -ReplaceConflicting"))
	}
	return list
}
