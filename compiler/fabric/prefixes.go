package fabric

import "net/netip"

// PrefixTable holds the addresses of interfaces, one behind the other, so that a
// row of Ifaces, of which a large fabric has more than of all others, holds no
// pointer. The zero value is ready.
type PrefixTable []netip.Prefix

// Prefixes is a list of prefixes in the table of a fabric.
type Prefixes struct{ first, n uint32 }

// Len is how many prefixes a list has.
func (l Prefixes) Len() int { return int(l.n) }

// Add enters a list of prefixes.
func (t *PrefixTable) Add(list ...netip.Prefix) Prefixes {
	l := Prefixes{uint32(len(*t)), uint32(len(list))}
	*t = append(*t, list...)
	return l
}

// AddAddr enters an address as a list of it alone.
func (t *PrefixTable) AddAddr(a netip.Addr) Prefixes { return t.Add(netip.PrefixFrom(a, a.BitLen())) }

// Of returns a list. It must not be changed.
func (t PrefixTable) Of(l Prefixes) []netip.Prefix { return t[l.first : l.first+l.n : l.first+l.n] }

// Addresses are those of an interface. The list must not be changed.
func (f *Fabric) Addresses(i *Iface) []netip.Prefix { return f.Prefixes.Of(i.Addresses) }

// Gateway is that of an interface, the zero address if it has none.
func (f *Fabric) Gateway(i *Iface) netip.Addr {
	if i.Gateway.Len() == 0 {
		return netip.Addr{}
	}
	return f.Prefixes.Of(i.Gateway)[0].Addr()
}
