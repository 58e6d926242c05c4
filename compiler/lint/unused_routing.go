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
		Title:  "every routing block speaks for a part of the fabric",
		Why:    "what is proven of deadlock, isolation and failures rests on how packets go: a block that counts nowhere leaves them to be guessed",
		Fix:    "name it in the topology it is for, or call it \"default\": that one speaks for all that names none",
		Source: "theory C: which turns packets take decides whether buffers can wait for each other in a circle",
		Bad:    twoNodes(``) + "routing \"fabric\" {\n  model = \"up_down\"\n}\n",
		Good:   twoNodes(``) + "routing \"default\" {\n  model = \"up_down\"\n}\n",
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
			Summary: fmt.Sprintf("nothing uses routing %s: no topology names it, and it is not called \"default\", which speaks for all", f.Text(row.Name)),
			Address: f.Text(row.Address), Labels: []diag.Label{f.Label(row.Decl, 0, schema.APaths, "")},
			Help: fmt.Sprintf("write routing = %s in the topology it is for, or call it \"default\"", f.Text(row.Address)),
		}
		if row.Alone {
			d.Summary = fmt.Sprintf("nothing names routing %s, and it is not called \"default\", which speaks for all", f.Text(row.Name))
			d.Notes = []string{"it is the only one, and there is no topology that could name it: the proofs take it at its word, as if it were called \"default\""}
			d.Help = `call it "default"`
		}
		p.Report(d)
	}
}
