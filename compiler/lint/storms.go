package lint

import (
	"fmt"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on capability that is about NICs which pause without end.

var roce732 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE732", Name: "host_storm_prevention", Severity: diag.Warning, When: diag.Both, Fixable: true,
		Options: []diag.Option{{Name: "most", Unit: "ms", Default: 1000, Min: 80, Max: 8000, Doc: "longest time that a NIC may hold its switch by pause"}},
		Title:   "a NIC may hold its switch by pause for seconds",
		Why: "a NIC whose host takes nothing pauses without end, and the pause spreads from switch to switch; on its own a ConnectX gives up after 8 s, " +
			"when timeouts have ended the connections of others",
		Fix: `write pause_storm_timeout = "auto", which is 100 ms`,
		Source: "Guo et al., SIGCOMM 2016, 4.3 (the NIC's watchdog: 100 ms); Linux 4.17 mlx5/core/en_ethtool.c (2afa609f5c97: 80 to 8000 ms, auto 100 ms); " +
			"ethtool(8), --set-tunable pfc-prevention-tout; the bound of 1000 ms is a house limit",
		Bad:  twoNodesEdit(`nic "rail0" {`, "nic \"rail0\" {\n    pause_storm_timeout = \"8s\""),
		Good: twoNodesEdit(`nic "rail0" {`, "nic \"rail0\" {\n    pause_storm_timeout = \"auto\""),
	},
	Run:   stormPrevention,
	mends: set("pause_storm_timeout", `"auto"`),
}

func stormPrevention(p *Pass) {
	f, most := p.Fabric, p.option("most")
	p.Managed(func(e End) {
		if e.Port.NIC == 0 || e.Profile.PFC == 0 {
			return
		}
		storm := f.NICs[e.Port.NIC].Storm
		if !storm.Set || storm.Ms != 0 && int64(storm.Ms) <= most {
			return
		}
		says := "without end"
		if storm.Ms != 0 {
			says = fmt.Sprintf("for %d ms", storm.Ms)
		}
		at := p.AtPort(e, schema.APauseStormTimeout, "")
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("nic %s may pause its switch %s when its host takes nothing", p.Name(e), says), Address: f.PortAddress(e.ID),
			Labels: []diag.Label{at}, Help: `write pause_storm_timeout = "auto", which is 100 ms`,
		})
	})
}
