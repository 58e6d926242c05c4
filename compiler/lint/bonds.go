package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/platform"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on paths that looks at how LAGs share their load, and at how they come up.

// oneAdapter is a host with a bond over two ports of one adapter; bond is said of the bond, first of
// its first NIC.
func oneAdapter(bond, first string) string {
	return edit(bonded(`speed = "100G"`+"\n    adapter = \"cx6\""), `nic "p0" {`, "nic \"p0\" {\n    adapter = \"cx6\"\n    "+first, `mode    = "lacp"`, bond)
}

var roce835 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE835", Name: "bond_hash", Severity: diag.Warning,
		Title: "a bond that carries RDMA chooses its links by MAC address alone",
		Why: "all that a host sends to one MAC address takes one link: behind a gateway that is everything, and of a storage node with one large client it is half. " +
			"An mlx5 adapter that hashes in hardware takes the policy of its bond for RDMA as well",
		Fix:        `write hash_policy = "layer3+4"`,
		Steps:      "one host at a time",
		Interrupts: "flows of the bond that take the other link and arrive out of order",
		Source:     "torvalds/linux Documentation/networking/bonding.rst, xmit_hash_policy; drivers/net/ethernet/mellanox/mlx5/core/lag/port_sel.c, mlx5_lag_set_definer",
		Bad:        oneAdapter("mode    = \"lacp\"\n    hash_policy = \"layer2\"", ""),
		Good:       oneAdapter("mode    = \"lacp\"\n    hash_policy = \"layer3+4\"", ""),
	},
	Run: bondHash,
}

func bondHash(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.LAGs); id++ {
		lag := &f.LAGs[id]
		dev := &f.Devices[lag.Device]
		if lag.Hash == 0 || dev.Kind != fabric.Node || lag.Mode != fabric.LACP && lag.Mode != fabric.Static || len(lag.Members) < 2 {
			continue
		}
		if how := f.Text(lag.Hash); how != "layer2" && how != "vlan+srcmac" || !p.RDMA(p.End(lag.Members[0])) {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s of %s hashes by %s: what it sends to one MAC address takes one of %d links", f.Text(lag.Name), f.Text(dev.Name), f.Text(lag.Hash), len(lag.Members)), Address: f.LAGAddress(fabric.LAGID(id)),
			Labels: []diag.Label{f.Label(lag.Decl, lag.Layers, schema.AHashPolicy, "")}, Help: `write hash_policy = "layer3+4"`,
		})
	}
}

var roce836 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE836", Name: "lag_rate", Severity: diag.Warning,
		Title: "one end of a LAG asks for fast LACPDUs and the other for slow ones",
		Why: "each end asks its peer for one LACPDU a second, or one in 30 s, and drops a link after three that do not come: where a link fails without going down, one end " +
			"leaves it after 3 s, and the other sends into it for 90 s",
		Fix: "write one rate at both ends, fast unless a device cannot",
		Source: "IEEE 802.1AX-2020, 6.4.4 (Fast_Periodic_Time 1 s, Slow_Periodic_Time 30 s, Short_Timeout_Time 3 s, Long_Timeout_Time 90 s); " +
			"torvalds/linux Documentation/networking/bonding.rst, lacp_rate (slow unless written)",
		Bad:  ratedLAG(`rate    = "slow"`),
		Good: ratedLAG(`rate    = "fast"`),
	},
	Run: lagRate,
}

func lagRate(p *Pass) {
	f := p.Fabric
	said := map[[2]fabric.LAGID]bool{}
	for id := fabric.LAGID(1); int(id) < len(f.LAGs); id++ {
		a := &f.LAGs[id]
		if a.Peer == 0 || a.Mode != fabric.LACP || said[[2]fabric.LAGID{a.Peer, id}] {
			continue
		}
		b := &f.LAGs[a.Peer]
		said[[2]fabric.LAGID{id, a.Peer}] = true
		one, other := p.fastLACP(a), p.fastLACP(b)
		if b.Mode != fabric.LACP || !a.RateSet && !b.RateSet || one == other || one == fabric.Unknown || other == fabric.Unknown {
			continue
		}
		words := func(l *fabric.LAG, fast fabric.Fact) string {
			rate := map[fabric.Fact]string{fabric.Yes: "fast", fabric.No: "slow"}[fast]
			if !l.RateSet {
				rate += " (its system's own)"
			}
			return fmt.Sprintf("%s of %s is %s", f.Text(l.Name), f.Text(f.Devices[l.Device].Name), rate)
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("the LACP rates of a LAG differ: %s, %s", words(a, one), words(b, other)), Address: f.LAGAddress(id), Concerns: []string{f.LAGAddress(a.Peer)},
			Labels: []diag.Label{f.Label(a.Decl, a.Layers, schema.ARate, ""), f.Label(b.Decl, b.Layers, schema.ARate, "the other end")}, Help: "write one rate at both ends",
		})
	}
}

// fastLACP is whether a LAG asks for fast LACPDUs, as written or by the system of its device.
func (p *Pass) fastLACP(l *fabric.LAG) fabric.Fact {
	dev := &p.Fabric.Devices[l.Device]
	switch {
	case l.RateSet && l.Fast:
		return fabric.Yes
	case l.RateSet, dev.Kind == fabric.Node && p.onLinux(dev):
		return fabric.No
	}
	return platform.Of(p.Fabric.Text(dev.OSName)).FastLACP
}

// ratedLAG is oneAdapter with a bond that asks for fast LACPDUs, and the LAG at its switch with a rate.
func ratedLAG(rate string) string {
	return edit(oneAdapter("mode    = \"lacp\"\n    rate    = \"fast\"", ""), `switch "tor" {`, `switch "tor" {
  lag "PortChannel8" {
    members = "Ethernet[8-12:4]"
    `+rate+`
  }`)
}

var roce837 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE837", Name: "pxe_bond", Severity: diag.Warning,
		Title: "a node boots over the network through a member of an LACP LAG",
		Why:   "the boot ROM speaks no LACP: the switch keeps the port out of its LAG, which forwards nothing, and the node never starts unless the LAG may come up without a partner",
		Fix:   "boot over a NIC outside of the bond, or have the LAG come up without LACP at the switch, and say so in a comment that silences this: rocec does not write it",
		Source: "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-portchannel.yang, fallback; Cumulus Linux user guide, Bonding, LACP Bypass; " +
			"Guo et al., SIGCOMM 2016, section 3, on PXE",
		Bad:  oneAdapter(`mode    = "lacp"`, "observed = { pxe = true }"),
		Good: oneAdapter(`mode    = "active_backup"`, "observed = { pxe = true }"),
	},
	Run: bootsOverLACP,
}

func bootsOverLACP(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.NICs); id++ {
		nic := &f.NICs[id]
		if !nic.PXE || nic.Port == 0 || f.Ports[nic.Port].Peer == 0 {
			continue
		}
		e, peer := p.End(nic.Port), p.End(f.Ports[nic.Port].Peer)
		if peer.Device.Kind != fabric.Switch || peer.Port.LAG == 0 || f.LAGs[peer.Port.LAG].Mode != fabric.LACP {
			continue
		}
		own := e.Port.LAG
		if own == 0 {
			own = peer.Port.LAG
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s boots over the network, and %s waits for LACP, which no boot ROM speaks", p.Name(e), p.Name(peer)), Address: f.PortAddress(e.ID), Concerns: []string{f.PortAddress(peer.ID)},
			Labels: []diag.Label{p.AtPort(e, schema.APXE, ""), f.Label(f.LAGs[own].Decl, f.LAGs[own].Layers, schema.AMode, "the LAG")},
			Help:   "boot over a NIC outside of the bond; where the switch lets the LAG come up without LACP, say so in a comment that silences this",
		})
	}
}
