package lower

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
)

// relations are the addresses of a device, for what holds between them: which
// are equal, which prefix holds which address, which prefixes overlap.
type relations struct {
	prefixes []netip.Prefix // of interfaces, in their order
	singles  []netip.Addr   // gateways and keepalive addresses
	macs     []fabric.Str
}

// prefix enters an address of an interface. It is false if the address is of a
// kind that has a meaning of its own.
func (r *relations) prefix(p netip.Prefix) bool {
	r.prefixes = append(r.prefixes, p)
	return p.IsValid() && ordinaryAddr(p.Addr())
}

func (r *relations) address(a netip.Addr) bool {
	r.singles = append(r.singles, a)
	return ordinaryAddr(a)
}

// mac enters a MAC address; false if another adapter has it.
func (r *relations) mac(m fabric.Str) bool {
	if slices.Contains(r.macs, m) {
		return false
	}
	r.macs = append(r.macs, m)
	return true
}

func ordinaryAddr(a netip.Addr) bool {
	return a.IsValid() && a.Zone() == "" && !a.Is4In6() && !a.IsUnspecified() && !a.IsMulticast() && !a.IsLoopback() && !a.IsLinkLocalUnicast()
}

// append writes families, lengths and relations. Equal texts of two devices mean
// that whatever holds between two addresses of one holds between those of the other.
func (r *relations) append(b []byte) []byte {
	for _, p := range r.prefixes {
		b = append(b, byte(p.Bits()), family(p.Addr()))
	}
	for _, a := range r.singles {
		b = append(b, family(a))
	}
	if len(r.singles) == 0 && r.disjoint() {
		return append(b, 0) // nothing relates to anything
	}
	b = append(b, 1)
	for _, parent := range r.forest() {
		b = binary.LittleEndian.AppendUint32(b, parent)
	}
	return b
}

func family(a netip.Addr) byte {
	if a.Is6() {
		return 6
	}
	return 4
}

// disjoint reports whether no two prefixes overlap. In the order of addresses it
// is enough to look at neighbours: prefixes hold each other or nothing of each
// other, so one that holds a later address holds all between.
func (r *relations) disjoint() bool {
	list := r.prefixes
	if apart, known := disjoint4(list); known {
		return apart
	}
	byAddress := func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) }
	if !slices.IsSortedFunc(list, byAddress) {
		list = slices.Clone(list)
		slices.SortFunc(list, byAddress)
	}
	for i := 1; i < len(list); i++ {
		if list[i].Overlaps(list[i-1]) {
			return false
		}
	}
	return true
}

// disjoint4 is disjoint for prefixes of IPv4, as nearly all are; it is not known
// for others.
func disjoint4(list []netip.Prefix) (apart, known bool) {
	const lengthBits = 8
	keys := make([]uint64, len(list)) // address and length
	for i, p := range list {
		if !p.Addr().Is4() {
			return false, false
		}
		four := p.Addr().As4()
		keys[i] = uint64(binary.BigEndian.Uint32(four[:]))<<lengthBits | uint64(p.Bits())
	}
	slices.Sort(keys)
	for i := 1; i < len(keys); i++ {
		shorter := min(keys[i-1]%(1<<lengthBits), keys[i]%(1<<lengthBits))
		if (keys[i-1]^keys[i])>>lengthBits>>(32-shorter) == 0 {
			return false, true
		}
	}
	return true, true
}

// forest says for every prefix, for every address of one and for every single
// address which of them is the smallest that holds it, 0 for none; of equal ones
// the earlier holds the later. Who holds whom follows by going upwards.
func (r *relations) forest() []uint32 {
	type item struct {
		netip.Prefix
		number uint32 // from 1
	}
	items := make([]item, 0, 2*len(r.prefixes)+len(r.singles))
	add := func(p netip.Prefix) { items = append(items, item{p, uint32(len(items) + 1)}) }
	for _, p := range r.prefixes {
		add(p.Masked())
		add(netip.PrefixFrom(p.Addr(), p.Addr().BitLen()))
	}
	for _, a := range r.singles {
		add(netip.PrefixFrom(a, a.BitLen()))
	}
	slices.SortFunc(items, func(a, b item) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.Bits(), b.Bits()), cmp.Compare(a.number, b.number))
	})
	parents := make([]uint32, len(items))
	var holders []item
	for _, it := range items {
		for len(holders) > 0 && !holders[len(holders)-1].Overlaps(it.Prefix) {
			holders = holders[:len(holders)-1]
		}
		if len(holders) > 0 {
			parents[it.number-1] = holders[len(holders)-1].number
		}
		holders = append(holders, it)
	}
	return parents
}
