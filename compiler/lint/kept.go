package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var roce236 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE236", Name: "kept_setting_unknown", Severity: diag.Error,
		Title:  "what RDMA rests on is left as the device has it, and nobody states it",
		Why:    "\"keep\" takes a setting out of what is written, not out of the path of the packets: what nobody states of it proves nothing",
		Fix:    "write the value, state the vendor's default in the data of the model, or compare the device with manage = \"verify\"",
		Source: "docs/language/blocks.md: \"keep\" leaves a setting as the device has it",
		Bad:    twoNodes(`mtu = "keep"`),
		Good:   twoNodes(`mtu = 9000`),
	},
	Run: keptUnknown,
}

// restsOnKept are the settings that RDMA rests on, where a port keeps them. What is soft is a warning: the device drops or delays by
// itself what does not fit.
var restsOnKept = []struct {
	attr schema.Attr
	soft bool
	asks func(e End) bool // nil: any RDMA does
}{
	{attr: schema.ATrust},
	{attr: schema.ADSCPMap, asks: func(e End) bool { return e.Profile.Trust == fabric.TrustDSCP }},
	{attr: schema.APCPMap, asks: func(e End) bool { return e.Profile.Trust == fabric.TrustPCP }},
	{attr: schema.AQueueMap},
	{attr: schema.AGroupMap},
	{attr: schema.APFC, asks: func(e End) bool { return e.Profile.PFC != 0 }},
	{attr: schema.APFCQueueMap, asks: func(e End) bool { return e.Profile.PFC != 0 }},
	{attr: schema.AETS, soft: true},
	{attr: schema.AMTU, soft: true},
	{attr: schema.ASegments, soft: true},
	{attr: schema.ANative, soft: true},
}

func keptUnknown(p *Pass) {
	p.Managed(func(e End) {
		unknown := e.Profile.Kept
		if e.Profile.Known {
			unknown = 0
		}
		class := p.rdmaClass(e)
		if class == nil || unknown == 0 && e.Port.Kept == 0 || e.Port.Flags&fabric.Kept != 0 {
			return
		}
		for _, r := range restsOnKept {
			if unknown&fabric.DeviationBit(r.attr) == 0 && !e.Port.Kept.Has(r.attr) || r.asks != nil && !r.asks(e) {
				continue
			}
			d := diag.Diagnostic{
				Summary: fmt.Sprintf("%s of %s is left as the device has it, nobody states what that is, and class %s rests on it",
					r.attr.Name(), p.Name(e), p.Fabric.Text(class.Name)),
				Address: p.Fabric.PortAddress(e.ID), Labels: []diag.Label{p.Fabric.PortLabel(e.ID, r.attr, "")},
				Help: "write " + r.attr.Name() + `, or set manage = "verify", which compares the device with the source and writes nothing`,
			}
			if r.soft {
				d.Severity = diag.Warning
			} else {
				d.Help = "write " + r.attr.Name() + ", or state the vendor's default as `defaults` of the model, with its source"
			}
			p.Report(d)
		}
	})
}
