package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce229 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE229", Name: "routing_unused", Severity: diag.Warning,
		Title:  "a routing block speaks for no part of the fabric",
		Why:    "what is proven of deadlock, isolation and failures rests on how packets go: a block that counts nowhere leaves them to be guessed",
		Fix:    "name it in the topology it is for, or write default = true: it then speaks for all that names none",
		Source: "Hu et al., HotNets 2016: routes decide whether buffers can wait for each other in a circle",
		Bad:    twoNodes(``) + "routing \"fabric\" {\n  paths = \"up_down\"\n}\n",
		Good:   twoNodes(``) + "routing \"fabric\" {\n  paths   = \"up_down\"\n  default = true\n}\n",
	},
	Run: routingUnused,
}

func routingUnused(p *Pass) {
	f := p.Fabric
	for i := 1; i < len(f.Routings); i++ {
		row := &f.Routings[i]
		if f.RoutingUsed(fabric.RoutingID(i)) && !row.Alone {
			continue
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("nothing uses routing %s: no topology names it, and it does not say default = true, by which it would speak for all", f.Text(row.Name)),
			Address: f.Text(row.Address), Labels: []diag.Label{f.Label(row.Decl, 0, schema.APaths, "")},
			Help: fmt.Sprintf("write routing = %s in the topology it is for, or default = true in it", f.Text(row.Address)),
		}
		if row.Alone {
			d.Summary = fmt.Sprintf("nothing names routing %s, and it does not say default = true, by which it would speak for all", f.Text(row.Name))
			d.Notes = []string{"it is the only one, and there is no topology that could name it: the proofs take it at its word, as if it said so"}
			d.Help = "write default = true in it"
		}
		p.Report(d)
	}
}
