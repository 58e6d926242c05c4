package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce723 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE723", Name: "esxi_rdma_lag", Severity: diag.Error,
		Title: "uplinks of ESXi that carry RDMA are in a LAG",
		Why: "the RDMA stack of ESXi knows neither LACP nor IP hash: a connection stays on one uplink, and what the switch hashes to the " +
			"other is lost or falls back to TCP",
		Fix: "take the ports out of the LAG on both ends, and team the uplinks by originating port or explicit failover",
		Source: "Broadcom knowledge base 407307, Routing limitations when using RDMA for vSAN; VMware vSphere 6.7 networking: PVRDMA does not " +
			"support NIC teaming",
		Steps: "put the host into maintenance mode, take the LAG off at the switch and the host in one window, then the next " +
			"host",
		Interrupts: "the uplinks of the host",
		Bad:        esxiTeam("lacp"),
		Good:       esxiTeam("active_backup"),
	},
	Run: esxiLAG,
}

// esxiTeam is an ESXi host that others see to, with two uplinks in a bond of some mode.
func esxiTeam(mode string) string {
	return edit(bonded(``), `os   = "ubuntu/24.04"
  slot = 9`, "os   = \"esxi/8.0\" # rocec-ignore: os_not_seen # compared by hand\n  manage = \"none\"\n  slot = 9", `mode    = "lacp"`, `mode    = "`+mode+`"`)
}

func esxiLAG(p *Pass) {
	f := p.Fabric
	for id := fabric.LAGID(1); int(id) < len(f.LAGs); id++ {
		lag := &f.LAGs[id]
		if lag.Mode != fabric.LACP && lag.Mode != fabric.Static {
			continue
		}
		i := slices.IndexFunc(lag.Members, func(m fabric.PortID) bool { return p.uplink(p.End(m), id) != 0 })
		if i < 0 {
			continue
		}
		nic := p.End(p.uplink(p.End(lag.Members[i]), id))
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s of %s is a LAG of mode %s, and %s in it carries RDMA of ESXi", f.Text(lag.Name),
				f.Text(f.Devices[lag.Device].Name), lagWords[lag.Mode], p.Name(nic)), Address: f.LAGAddress(id),
			Concerns: []string{f.PortAddress(nic.ID)},
			Labels:   []diag.Label{f.Label(lag.Decl, 0, schema.AMode, ""), f.Label(nic.Device.Decl, nic.Device.Layers, schema.AOS, "the host")},
			Help:     "take the ports out of the LAG on both ends, and team the uplinks by originating port or explicit failover",
		})
	}
}

// uplink is the RDMA NIC of ESXi that a member of a LAG is or, where that NIC is in no
// bond of its own, faces; 0 if it is none.
func (p *Pass) uplink(e End, lag fabric.LAGID) fabric.PortID {
	if e.Device.Kind == fabric.Switch && e.Port.Peer != 0 {
		if peer := p.End(e.Port.Peer); peer.Port.LAG == 0 {
			e = peer
		}
	}
	os := strings.ToLower(p.Fabric.Text(e.Device.OSName))
	if e.Device.Kind != fabric.Node || !strings.Contains(os, "esxi") || !p.RDMA(e) || e.Port.LAG != 0 && e.Port.LAG != lag {
		return 0
	}
	return e.ID
}
