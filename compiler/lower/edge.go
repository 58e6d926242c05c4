package lower

import (
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// edges says what RDMA a switch keeps out at the edge of the fabric without
// being told: what the ACLs of its system match. NVUE matches no EtherType but
// those of IP and ARP, so that RoCEv1, which no router passes on, is left to the
// pruning of VLANs there [NVUE command reference, acl rule match mac protocol].
// Other systems are given none unless it is written.
var edges = []struct {
	os     string
	denies []intent.RDMA
}{
	{"sonic", []intent.RDMA{intent.RoCEv2, intent.RoCEv1}},
	{"sonic-enterprise", []intent.RDMA{intent.RoCEv2, intent.RoCEv1}},
	{"cumulus-linux", []intent.RDMA{intent.RoCEv2}},
}

// denied is the RDMA that a port of a switch drops as it comes in.
func (b *builder) denied(port *fabric.Port) intent.Opt[[]intent.RDMA] {
	if b.host {
		return intent.Opt[[]intent.RDMA]{}
	}
	if port.Flags&fabric.DenySet != 0 {
		list := []intent.RDMA{}
		if port.Flags&fabric.DenyRoCEv2 != 0 {
			list = append(list, intent.RoCEv2)
		}
		if port.Flags&fabric.DenyRoCEv1 != 0 {
			list = append(list, intent.RoCEv1)
		}
		return intent.Some(list)
	}
	hostile := port.Peer != 0 && !b.f.Devices[b.f.Ports[port.Peer].Device].Trusted
	if port.Flags&fabric.External != 0 || hostile {
		for _, e := range edges {
			if e.os == b.f.Text(b.dev.OSName) {
				return intent.Some(slices.Clone(e.denies))
			}
		}
	}
	return intent.Opt[[]intent.RDMA]{}
}

// deniedBy is what a LAG drops: all that one of its members shall.
func (b *builder) deniedBy(members []fabric.PortID) intent.Opt[[]intent.RDMA] {
	var all intent.Opt[[]intent.RDMA]
	for _, p := range members {
		one := b.denied(&b.f.Ports[p])
		if !one.IsSet() {
			continue
		}
		list := all.Or([]intent.RDMA{})
		for _, x := range one.Value {
			if !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
		slices.SortFunc(list, func(x, y intent.RDMA) int { return rank(x) - rank(y) })
		all = intent.Some(list)
	}
	return all
}

func rank(x intent.RDMA) int { return slices.Index([]intent.RDMA{intent.RoCEv2, intent.RoCEv1}, x) }

// spare reports whether a port is one of those that the switch shuts because
// nothing uses them: it is there by the model alone, and no cable leads to it.
func (b *builder) spare(port *fabric.Port) bool {
	return b.dev.ShutSpare && port.Flags&fabric.Implicit != 0 && port.Link == 0 && port.LAG == 0 && port.Flags&(fabric.IsLAG|fabric.IsVNIC|fabric.RoutedPort|fabric.EnabledSet) == 0
}
