package lint

import (
	"fmt"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce919 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE919", Name: "declaration_unused", Severity: diag.Warning,
		Title: "something is declared and not used",
		Why: "a qos that no port has, a segment that no cable carries, a model that no device is and a variable that nobody reads " +
			"look as if they were in force: what is changed there changes no device. Mostly the line that should name it was lost, or names another",
		Fix:    "name it where it was meant to be, or leave it out",
		Source: "terraform-linters/tflint-ruleset-terraform, terraform_unused_declarations",
		Bad:    twoNodes(``) + "locals {\n  spare = 1\n}\n",
		Good:   twoNodes(``),
	},
	Run: declarationUnused,
}

// unusedWords is what messages call the kinds of what is not used, and what to do.
var unusedWords = map[schema.Kind]struct{ what, help string }{
	schema.Variable: {"variable", "read it as %s, or leave it out with what sets it"},
	schema.Locals:   {"local", "read it as %s, or leave it out"},
	schema.QoS:      {"qos", "write qos = %s on the segment, port, device or topology that it is for, or leave it out"},
	schema.Segment:  {"segment", "write %s in untagged, segment or tagged of what is in it, or leave it out"},

	schema.SwitchModel: {"switch_model", "write its name as model of the switches or tier that it is for, or leave %s out"},
	schema.NICModel:    {"nic_model", "write its name as model of the NICs that it is for, or leave %s out"},
	schema.ASIC:        {"asic", "write its name as asic of the switch_model that it is for, or leave %s out"},
	schema.Media:       {"media", "write its name as media of the cables that it is for, or leave %s out"},
}

func declarationUnused(p *Pass) {
	f := p.Fabric
	for i := range f.Unused {
		u := &f.Unused[i]
		w := unusedWords[u.Kind]
		own := f.Text(u.Address)[len(f.Text(f.Decls[u.Decl].Module)):] // as its own module names it
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s %s is declared, and nothing uses it", w.what, f.Text(u.Name)), Address: f.Text(u.Address),
			Labels: []diag.Label{{Span: u.At, Where: f.Where(u.Decl)}}, Help: fmt.Sprintf(w.help, own),
		})
	}
}
