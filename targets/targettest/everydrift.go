package targettest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// EveryDrift proves that read-back sees what it says it sees. A device that was
// given the base shows no difference, and everything observable of it. Then each
// setting is changed alone, the device is given that, and compared with the base:
// every field that has another value then, and that the target calls observable,
// has to come up as a difference, with the base's value as the wanted one.
//
// Show is what the device shows after it was given an intent. Exempt lists
// fields (as of EveryField) whose change may go unseen, each with the reason; an
// exemption that no field needs fails the test.
func EveryDrift(t *testing.T, tg *targets.Target, show func(*intent.Device) targets.Captured, exempt Exempt, base ...*intent.Device) {
	t.Helper()
	needed := map[string]bool{}
	for _, b := range base {
		if len(unseenDrifts(t, tg, show, Clone(t, b), exempt, needed)) == 0 {
			t.Errorf("%s: no change was compared", b.Name)
		}
	}
	for key, why := range exempt {
		if !needed[key] {
			t.Errorf("the exemption of %s (%s) is not needed", key, why)
		}
	}
}

// unseenDrifts reports what is not seen, and returns the keys of what was compared.
func unseenDrifts(t *testing.T, tg *targets.Target, show func(*intent.Device) targets.Captured, base *intent.Device, exempt Exempt, needed map[string]bool) map[string]bool {
	t.Helper()
	for _, x := range compared(t, tg, base, show(base)) {
		t.Errorf("%s: a device that was just given it has %s = %q, wanted %q", base.Name, x.Path, x.Before, x.After)
	}
	done, written := map[string]bool{}, rendering(tg, base)
	for _, c := range changes(base, tg.Options) {
		d := copied(base)
		c.apply(d)
		if c.key == "Device.Options" || targets.Check(tg, d, nil).HasErrors() || rendering(tg, d) == written {
			continue
		}
		want := observed(tg, base, intent.Diff(base, d))
		if !slices.ContainsFunc(want, visible) {
			continue // as of objects beside the base's, which nobody removes
		}
		done[c.key] = true
		got := compared(t, tg, base, show(d))
		for _, x := range want {
			switch {
			case !visible(x) || seenIn(got, x):
			case exempt[c.key] != "":
				needed[c.key] = true
			default:
				t.Errorf("%s: %s (%s): %s -> %s is not seen at %s, only at %s", base.Name, c.path, c.key, c.before, c.after, x.Path, paths(got))
			}
		}
	}
	return done
}

// visible reports whether a difference of two intents is one of two devices: a
// value for another, or a LAG, VLAN or interface that is gone. Where one of the
// intents says nothing, the device may have what the other says.
func visible(x intent.Difference) bool {
	if x.Path.Field == "" {
		return x.Path.Object != intent.OfPort
	}
	return x.Before != "" && x.Before != intent.AtDefault || x.Path.Field == "members"
}

// seenIn looks for a difference. Of an object that is gone anything may show it:
// the interface of a VLAN is there as soon as the VLAN is.
func seenIn(got []intent.Difference, want intent.Difference) bool {
	return slices.ContainsFunc(got, func(x intent.Difference) bool {
		if want.Path.Field == "" {
			return x.Path.Object == want.Path.Object && x.Path.Name == want.Path.Name
		}
		return x.Path == want.Path && x.After == want.After
	})
}

// compared are the observable differences of a base from what a device shows,
// which has to be readable.
func compared(t *testing.T, tg *targets.Target, base *intent.Device, c targets.Captured) []intent.Difference {
	t.Helper()
	seen, list := tg.Parse(base, c)
	if seen == nil || list.HasErrors() {
		t.Fatalf("%s: what the device shows cannot be read:\n%s", base.Name, Refusals(list))
	}
	return observed(tg, base, intent.Diff(base, seen))
}

func observed(tg *targets.Target, base *intent.Device, list []intent.Difference) []intent.Difference {
	return slices.DeleteFunc(list, func(x intent.Difference) bool {
		p := base.PortNamed(x.Path.Name)
		return tg.Observable != nil && !tg.Observable(base, x.Path) || x.Path.Object == intent.OfPort && p != nil && p.Verify
	})
}

func paths(list []intent.Difference) string {
	const most = 8
	var words []string
	for _, x := range list[:min(len(list), most)] {
		words = append(words, fmt.Sprintf("%s=%s", x.Path, x.Before))
	}
	return "[" + strings.Join(words, ", ") + "]"
}
