package rollout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/targets"
)

// decisive are the fields that RoCE stands on: a device on which one of them
// could be seen, and was not, is not known to be as it shall be.
var decisive = []string{"pfc", "trust", "dscp_map", "pcp_map", "ets", "mtu"}

// unlike says in which way a device is not what it shall be, "" if it is.
func unlike(address string, want, have *intent.Device, t *targets.Target) string {
	if list := intent.Diff(want, have); len(list) > 0 {
		return sample(address, want.Kind, list)
	}
	for _, p := range intent.Unseen(want, have) {
		if slices.Contains(decisive, p.Field) && (t.Observable == nil || t.Observable(want, p)) {
			return fmt.Sprintf("%s cannot be seen", place(address, want.Kind, p))
		}
	}
	return ""
}

// withheld says what of a change a transaction would not make, so that it would be
// taken back; "" where there is nothing of that kind.
func withheld(address string, want, have *intent.Device, t *targets.Target) string {
	for _, x := range intent.Diff(want, have) {
		if !want.Writes(x.Path) {
			continue
		}
		if i := plan.Impact(t, want, x); i.Withheld {
			return place(address, want.Kind, x.Path) + ": " + i.Note
		}
	}
	return ""
}

// sample is the first of some differences, and how many more there are:
// `switch.tor.port["Ethernet0"].mtu is 1500, not 9000, and 2 more differ`.
func sample(address string, kind intent.Kind, list []intent.Difference) string {
	x := list[0]
	var b strings.Builder
	switch where := place(address, kind, x.Path); {
	case x.Creates():
		fmt.Fprintf(&b, "%s is missing", where)
	case x.Before == "":
		fmt.Fprintf(&b, "%s is not set, expected %s", where, short(x.After))
	default:
		fmt.Fprintf(&b, "%s is %s, expected %s", where, short(x.Before), short(x.After))
	}
	if more := len(list) - 1; more > 0 {
		fmt.Fprintf(&b, ", and %d more differ", more)
	}
	return b.String()
}

func place(address string, kind intent.Kind, p intent.Path) string {
	at := plan.Address(address, kind, p.Object, p.Name)
	if p.Field == "" {
		return at
	}
	return at + "." + p.Field
}
