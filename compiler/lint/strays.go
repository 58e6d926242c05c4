package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// strays reports code points that no class has and that land in the priority of
// a lossless class: a part of ROCE210, of traffic that has no class to name.
// Such marks come from maps as found; the contract's own put them into the
// default class.
func (p *Pass) strays(e End, ports int) {
	word, attr, marks := "DSCP", schema.ADSCPMap, e.Profile.DSCP[:]
	q := &p.Fabric.QoS[e.Profile.QoS]
	var declared uint64
	switch e.Profile.Trust {
	case fabric.TrustDSCP:
		for i := range q.Classes {
			declared |= q.Classes[i].DSCP
		}
	case fabric.TrustPCP:
		word, attr, marks = "PCP", schema.APCPMap, e.Profile.PCP[:]
		for i := range q.Classes {
			declared |= 1 << q.Classes[i].Priority
		}
	default:
		return
	}
	p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
		if !c.Lossless || c.Default || !on.PFC || Displaced(c, on) {
			return
		}
		var stray []string
		for mark, priority := range marks {
			if declared>>mark&1 == 0 && priority == on.Priority {
				stray = append(stray, fmt.Sprint(mark))
			}
		}
		if len(stray) == 0 {
			return
		}
		lands := "lands"
		if len(stray) > 1 {
			lands = "land"
		}
		if n := len(stray); n > 4 {
			stray = append(stray[:3:3], others(n-3))
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s %s, which no class has, %s in priority %d of lossless class %s on %s", word, list(stray), lands, on.Priority, p.Fabric.Text(c.Name), p.Name(e)),
			Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.AtContract(e, attr, c, schema.APriority, ""), p.AtContract(e, 0, c, schema.APriority, "the lossless class")},
			Notes:  []string{"whatever is marked so takes the headroom of " + p.Fabric.Text(c.Name) + " and causes pauses for it"},
			Help:   "take them out of the map, or give them to a class",
		})
	})
}
