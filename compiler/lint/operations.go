package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var operations = []*Rule{roce917}

var roce917 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE917", Name: "target_twice", Severity: diag.Error,
		Title:  "one emitter manages a device",
		Why:    "two definitions that write one setting undo each other, and each reports drift",
		Fix:    "select the device in one target block",
		Source: "cli-and-language section 9, who owns what",
		Bad:    twoNodes(``) + "target \"linux\" {\n  select = node.n\n}\ntarget \"linux\" {\n  select = [node.n[\"n1\"]]\n  options = { qos_tool = \"dcb\" }\n}\n",
		Good:   twoNodes(``) + "target \"linux\" {\n  select = node.n\n}\n",
	},
	Run: targetTwice,
}

func targetTwice(p *Pass) {
	f := p.Fabric
	by := map[fabric.DeviceID]int{}
	for i := range f.Selections {
		for _, d := range f.Selections[i].Devices {
			other, taken := by[d]
			if !taken {
				by[d] = i
				continue
			}
			if other == i {
				continue
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("%s is selected by target %s and by target %s", f.Text(f.Devices[d].Name), f.Text(f.Selections[other].Emitter), f.Text(f.Selections[i].Emitter)), Address: f.Text(f.Devices[d].Address),
				Labels: []diag.Label{f.Label(f.Selections[i].Decl, 0, schema.ASelect, ""), f.Label(f.Selections[other].Decl, 0, schema.ASelect, "the other")}, Help: "select it in one of them",
			})
		}
	}
}
