package lower

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// TestValues draws MAC addresses, IP addresses and the order of the rows: two
// fabrics in which a device has one skeleton give it one intent if and only if
// its values are equal.
func TestValues(t *testing.T) {
	seen, alike := map[bool]int{}, 0
	for name := range samples() {
		rapid.Check(t, func(rt *rapid.T) {
			a, b := samples()[name], samples()[name]
			scramble(rt, a)
			scramble(rt, b)
			one, two := facts(t, a), facts(t, b)
			for id := fabric.DeviceID(1); int(id) < len(a.Devices); id++ {
				x, y := Device(a.Fabric, one, id), Device(b.Fabric, two, id)
				if x == nil || y == nil || text(rt, Skeleton(x)) != text(rt, Skeleton(y)) {
					continue
				}
				s1, _ := Shape(a.Fabric, one, id, nil)
				if s2, ok := Shape(b.Fabric, two, id, nil); ok && string(s1) == string(s2) {
					if like := text(rt, Like(b.Fabric, two, id, x)); like != text(rt, y) {
						rt.Fatalf("%s of %s is, made of another one,\n%s\nand\n%s\nby itself", x.Name, name, like, text(rt, y))
					}
					alike++
				}
				same := string(Values(a.Fabric, one, id, nil)) == string(Values(b.Fabric, two, id, nil))
				if equal := intent.Digest(x) == intent.Digest(y); equal != same {
					rt.Fatalf("%s of %s: equal intents: %v, equal values: %v\n%s\n%s", x.Name, name, equal, same, text(rt, x), text(rt, y))
				}
				seen[same]++
			}
		})
	}
	if alike == 0 {
		t.Error("no device was made of another one")
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("values were equal and unequal %v times", seen)
	}
}

// scramble gives a fabric few of many addresses, and its interfaces and LAGs
// another order.
func scramble(t *rapid.T, d *draft) {
	few := rapid.IntRange(0, 1)
	for i := 1; i < len(d.NICs); i++ {
		if d.NICs[i].MAC != 0 {
			d.NICs[i].MAC = d.s([]string{"02:00:00:00:00:aa", "02:00:00:00:00:bb"}[few.Draw(t, "mac")])
		}
	}
	rows := d.Ifaces[1:]
	for i := range rows {
		list := slices.Clone(d.Addresses(&rows[i]))
		for k, p := range list {
			if few.Draw(t, "moves") == 1 && p.Addr().Is4() {
				list[k] = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 7, byte(few.Draw(t, "net")), 9}), p.Bits())
			}
		}
		rows[i].Addresses = d.Prefixes.Add(list...)
	}
	for i := range rows {
		k := rapid.IntRange(0, i).Draw(t, "row")
		rows[i], rows[k] = rows[k], rows[i]
	}
}

func text(t *rapid.T, d *intent.Device) string {
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSkeletonCopies: the intent stays as it was.
func TestSkeletonCopies(t *testing.T) {
	for name, d := range samples() {
		f := facts(t, d)
		for id := fabric.DeviceID(1); int(id) < len(d.Devices); id++ {
			whole := Device(d.Fabric, f, id)
			if whole == nil {
				continue
			}
			before := intent.Digest(whole)
			if bare := Skeleton(whole); bare.Name != "" || intent.Digest(whole) != before {
				t.Errorf("%s: the intent of %s has changed with its skeleton, which is named %q", name, whole.Name, bare.Name)
			}
		}
	}
}
