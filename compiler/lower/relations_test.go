package lower

import (
	"math/rand"
	"net/netip"
	"testing"
)

// TestDisjoint: prefixes are disjoint if no two of them overlap, be they of one
// family or of both.
func TestDisjoint(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	apart := 0
	for range 20_000 {
		var list []netip.Prefix
		v6 := random.Intn(4) == 0
		for range random.Intn(5) {
			a := netip.AddrFrom4([4]byte{byte(random.Intn(3)) << 7, 0, byte(random.Intn(2)), byte(random.Intn(256))})
			if v6 && random.Intn(2) == 0 {
				a = netip.AddrFrom16([16]byte{0x20, 1, 15: byte(random.Intn(256))})
			}
			bits := a.BitLen() - random.Intn(10)
			if random.Intn(20) == 0 {
				bits = random.Intn(a.BitLen() + 1)
			}
			list = append(list, netip.PrefixFrom(a, bits))
		}
		want := true
		for i := range list {
			for k := range i {
				want = want && !list[i].Overlaps(list[k])
			}
		}
		if got := (&relations{prefixes: list}).disjoint(); got != want {
			t.Fatalf("%v: %t, want %t", list, got, want)
		}
		if want && len(list) > 2 {
			apart++
		}
	}
	if apart < 1000 {
		t.Errorf("only %d lists are disjoint", apart)
	}
}
