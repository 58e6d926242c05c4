package lint

import (
	"fmt"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce923 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE923", Name: "observation_among_settings", Severity: diag.Warning,
		Title: "what was seen stands among what is wanted",
		Why: "a setting is written to the device, and what was seen never is: side by side nobody can tell them apart, " +
			"and nothing can renew what was seen without a look at what is wanted",
		Fix:    "move it into `observed = { ... }` of its block, or run `rocec fmt --fix`, which does",
		Source: "docs/language/blocks.md, observed",
		Bad:    twoNodesEdit("switch \"tor\" {\n", "switch \"tor\" {\n  stp = \"off\"\n"),
		Good:   twoNodesEdit("switch \"tor\" {\n", "switch \"tor\" {\n  observed = { stp = \"off\" }\n"),
	},
	Run: observationAmongSettings,
}

func observationAmongSettings(p *Pass) {
	f := p.Fabric
	for i := range f.Misplaced {
		m := &f.Misplaced[i]
		words := make([]string, len(m.Attrs))
		for k, n := range m.Attrs {
			words[k] = n.Name()
		}
		is := "says what was seen, and stands"
		if len(words) > 1 {
			is = "say what was seen, and stand"
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s %s among the settings", list(words), is), Address: f.Text(m.Address), Count: m.Count,
			Labels: []diag.Label{{Span: m.At, Where: f.Where(m.Decl)}}, Help: fmt.Sprintf("write %s = { %s = ... }, or run rocec fmt --fix", schema.AObserved.Name(), words[0]),
		})
	}
}
