package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce925 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE925", Name: "rename_of_nothing", Severity: diag.Warning,
		Title: "a rename names no device of the cable list, or none of the fabric",
		Why: "rows of devices that the fabric does not have are passed over, as those for management are: a mistyped name takes " +
			"all cables of its device with it, and nothing compares or makes them",
		Fix:    "write the name that the list has, and the one that the device has here",
		Source: "docs/language/blocks.md, cabling",
		Bad:    twoNodes(``) + renamed("HOST3", "n2"),
		Good:   edit(twoNodes(``)+renamed("x", "y"), `, "x" = "y"`, ``),
	},
	Run: renamesOfNothing,
}

// renamed is a cable list of twoNodes that calls its hosts HOST-1 and n2, and has one that is not here.
func renamed(from, to string) string {
	return `cabling "as_built" {
  file   = "cables.csv"
  format = "csv"
  mode   = "verify"
  rename = { "HOST-1" = "n1", "` + from + `" = "` + to + `" }
}
-- cables.csv --
a_device,a_port,b_device,b_port,media,length,length_unit
tor,Ethernet0,HOST-1,rail0,dac,3,m
tor,Ethernet4,n2,rail0,dac,3,m
TOR-2,Ethernet4,HOST-2,rail0,dac,3,m
`
}

// renamesOfNothing tells renames that no list has a device for: lists of several sites may share them.
func renamesOfNothing(p *Pass) {
	f := p.Fabric
	type names struct{ from, to fabric.Str }
	used, told := map[names]bool{}, map[names]bool{}
	for i := range f.Cablings {
		for _, r := range f.Cablings[i].Renames {
			n := names{r.From, r.To}
			used[n] = used[n] || r.Used
		}
	}
	for i := range f.Cablings {
		c := &f.Cablings[i]
		for _, r := range c.Renames {
			n := names{r.From, r.To}
			if told[n] || used[n] && (r.Known || !r.Used) {
				continue
			}
			told[n] = true
			from, to := f.Text(r.From), f.Text(r.To)
			d := diag.Diagnostic{
				Summary: fmt.Sprintf("%s renames %q, and no row of the list names it", f.Text(c.Address), from), Address: f.Text(c.Address),
				Labels: []diag.Label{f.Label(c.Decl, 0, schema.ARename, "")}, Help: "write the name as the list has it, or leave it out",
			}
			if used[n] {
				d.Summary = fmt.Sprintf("%s renames %q to %q, and no device has that name", f.Text(c.Address), from, to)
				d.Help = "write the name of the device, or leave it out"
				if near := f.Text(r.Near); near != "" {
					d.Help = fmt.Sprintf("did you mean %q?", near)
				}
			}
			p.Report(d)
		}
	}
}
