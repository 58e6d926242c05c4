package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on capability that looks at adapters: versions, where
// drivers come from, and who runs RDMA with whom.

var roce708 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE708", Name: "nic_validated", Severity: diag.Warning,
		Title:  "firmware or a driver is none of those that were tested",
		Why:    "an untested version may count buffers, mark packets or react to CNPs in another way, and the fabric was accepted with the old one",
		Fix:    "use a version of the list, or test this one and add it to validated",
		Source: "rocec { validated } of the source; Bai et al., NSDI 2023, 7.2: NICs of three generations interact",
		Bad:    validatedPair("22.43.2026"),
		Good:   validatedPair("22.41.1000"),
	},
	Run: validatedVersions,
}

func validatedPair(firmware string) string {
	return twoNodesEdit(`fec      = "rs"
    untagged = segment.storage
  }
}
link`, "fec      = \"rs\"\n    untagged = segment.storage\n    firmware = \""+firmware+"\"\n  }\n}\nlink") + `rocec {
  validated = { "nvidia/connectx-6-dx" = { firmware = ["22.41.*", "22.39.1002"] } }
}
`
}

// untested reports whether a version that the source writes is surely none of
// some that were tested. Of conditions only those are judged that are in the list
// word by word.
func (p *Pass) untested(v fabric.Str, tested []fabric.Str) bool {
	text := p.Fabric.Text(v)
	if v == 0 || tested == nil || slices.Contains(tested, v) || strings.ContainsAny(text, "<>=!~*,") {
		return false
	}
	for _, t := range tested {
		if versions, err := intent.ParseVersions(p.Fabric.Text(t)); err == nil && versions.Allow(text) {
			return false
		}
	}
	return true
}

func validatedVersions(p *Pass) {
	f := p.Fabric
	if len(f.Validated) == 0 {
		return
	}
	of := func(model fabric.Str) fabric.Validated {
		if i := slices.IndexFunc(f.Validated, func(v fabric.Validated) bool { return v.Model == model }); i >= 0 {
			return f.Validated[i]
		}
		return fabric.Validated{}
	}
	words := func(tested []fabric.Str) string {
		all := make([]string, len(tested))
		for i, t := range tested {
			all[i] = f.Text(t)
		}
		return list(all)
	}
	report := func(what, whose, address string, v fabric.Str, tested []fabric.Str, at diag.Label, row *fabric.Validated) {
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("%s of %s is %s, which was not tested", what, whose, f.Text(v)), Address: address,
			Labels: []diag.Label{at, {Span: row.At, Where: "rocec", Text: "the list"}}, Help: "use a version of the list, or test this one and add it to validated",
		}
		if len(tested) > 0 {
			d.Notes = []string{fmt.Sprintf("tested with %s: %s", f.Text(row.Model), words(tested))}
		}
		p.Report(d)
	}
	for id := 1; id < len(f.NICs); id++ {
		n := &f.NICs[id]
		if n.Firmware == 0 && n.Driver == 0 || n.Port == 0 {
			continue
		}
		row := of(f.NICModels[n.Model].Name)
		e := p.End(n.Port)
		if p.untested(n.Firmware, row.Firmware) {
			report("firmware", "nic "+p.Name(e), f.PortAddress(n.Port), n.Firmware, row.Firmware, p.AtPort(e, schema.AFirmware, ""), &row)
		}
		if p.untested(n.Driver, row.Driver) {
			report("driver", "nic "+p.Name(e), f.PortAddress(n.Port), n.Driver, row.Driver, p.AtPort(e, schema.ADriver, ""), &row)
		}
	}
	for d := 1; d < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Kind != fabric.Switch || dev.Firmware == 0 {
			continue
		}
		if row := of(f.Models[dev.Model].Name); p.untested(dev.Firmware, row.Firmware) {
			report("firmware", "switch "+f.Text(dev.Name), f.Text(dev.Address), dev.Firmware, row.Firmware, f.Label(dev.Decl, dev.Layers, schema.AFirmware, ""), &row)
		}
	}
}

var roce711 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE711", Name: "driver_origin_role", Severity: diag.Warning,
		Title: "nodes of one role have their drivers from different places",
		Why:   "the driver of the system and the package of the maker differ in defaults, tools and what a reload resets: the node that differs is slow or loses its settings",
		Fix:   "choose one, and write an except block with its reason for what waits",
		Source: "MLNX_OFED documentation, Explicit Congestion Notification: sysfs files of the maker's driver alone; Linux " +
			"drivers/infiniband/hw/mlx5/cong.c: debugfs of the kernel's; Azure Local host network requirements, Driver " +
			"requirements",
		Bad:  fourNodes(``, `observed = { driver_origin = self.name == "n1" ? "inbox" : "vendor" }`),
		Good: fourNodes(``, `observed = { driver_origin = "vendor" }`),
	},
	Run: driverOrigin,
}

func driverOrigin(p *Pass) {
	f := p.Fabric
	words := [...]string{fabric.No: "the maker's", fabric.Yes: "the system's"}
	var all tallies[fabric.Fact, fabric.PortID]
	for id := 1; id < len(f.NICs); id++ {
		n := &f.NICs[id]
		if n.Inbox == fabric.Unknown || p.excepted(f.Ports[n.Port].Layers, schema.ADriverOrigin) {
			continue
		}
		all.of(alikeKey{kind: fabric.Node, role: f.Devices[f.Ports[n.Port].Device].Role, class: f.NICModels[n.Model].Driver}).add(n.Inbox, n.Port)
	}
	for _, t := range all.list {
		uneven(t, func(id fabric.PortID, v fabric.Fact, most counted[fabric.Fact, fabric.PortID]) {
			e := p.End(id)
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("driver of nic %s is %s, %d of %d NICs like it have %s", p.Name(e), words[v], len(most.rows), t.of, words[most.value]), Address: f.PortAddress(id),
				Labels: []diag.Label{p.AtPort(e, schema.ADriverOrigin, ""), p.AtPort(p.End(most.rows[0]), schema.ADriverOrigin, "the others")}, Help: "choose one",
			})
		}, func(values []counted[fabric.Fact, fabric.PortID]) {
			a, b := p.End(values[0].rows[0]), p.End(values[1].rows[0])
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("drivers differ between NICs that are alike: %s on %s and %s on %s", words[values[0].value], p.Name(a), words[values[1].value], p.Name(b)), Address: f.PortAddress(a.ID),
				Concerns: []string{f.PortAddress(b.ID)}, Labels: []diag.Label{p.AtPort(a, schema.ADriverOrigin, ""), p.AtPort(b, schema.ADriverOrigin, "the other")}, Help: "choose one",
			})
		})
	}
}

var roce712 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE712", Name: "nic_software", Severity: diag.Warning,
		Title:  "soft-RoCE serves a class that adapters carry",
		Why:    "soft-RoCE takes a processor for a fraction of the speed, sends no CNPs of its own and knows no PFC: its peers wait for it",
		Fix:    "use an adapter that carries RDMA",
		Source: "Linux drivers/infiniband/sw/rxe; Linux net/dcb: rxe has no DCB operations",
		Bad:    softNode("linux/rxe"),
		Good:   softNode("nvidia/connectx-6-dx"),
	},
	Run: softwareRDMA,
}

// softNode is twoNodes with a lossy class and nodes that are compared, of which one has another model.
func softNode(model string) string {
	return twoNodesEdit("ecn       = \"auto\"", "lossless  = false\n    ecn       = \"auto\"", "slot     = each.value", "slot     = each.value\n  manage   = \"verify\"", `model    = "nvidia/connectx-6-dx"`, `model    = self.slot == 2 ? "`+model+`" : "nvidia/connectx-6-dx"`)
}

func softwareRDMA(p *Pass) {
	f := p.Fabric
	soft := func(m *fabric.NICModel) bool { return f.Text(m.Driver) == "rxe" }
	if !slices.ContainsFunc(f.NICModels[1:], func(m fabric.NICModel) bool { return soft(&m) }) {
		return
	}
	adapters := map[fabric.QoSID]fabric.PortID{} // a fabric of soft-RoCE alone is a lab
	p.hostRDMA(func(e End, _ *fabric.NIC, m *fabric.NICModel, _ *fabric.Class) {
		if q := e.Profile.QoS; !soft(m) && adapters[q] == 0 {
			adapters[q] = e.ID
		}
	})
	p.hostRDMA(func(e End, _ *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		other := adapters[e.Profile.QoS]
		if !soft(m) || other == 0 {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("nic %s is soft-RoCE, and class %s runs on adapters elsewhere", p.Name(e), f.Text(c.Name)), Address: f.PortAddress(e.ID),
			Labels: []diag.Label{p.AtPort(e, schema.AModel, ""), p.AtPort(p.End(other), schema.AModel, "an adapter")}, Help: "use an adapter that carries RDMA",
		})
	})
}

var roce721 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE721", Name: "class_vendors", Severity: diag.Warning,
		Title: "a class joins NICs of makers that are not listed as running RDMA with each other",
		Why: "makers differ in how their NICs slow down under DCQCN, and some support their own adapters alone: the ones that yield more get less, " +
			"or connections fail",
		Fix: "use NICs of one maker in a class, or write in the nic_model with whom it was tested: interop = [...]",
		Source: "Broadcom knowledge base 382163, Configuring RDMA for vSAN: no mix of NIC vendors in a cluster; Bai et al., NSDI 2023, 7.2: " +
			"three generations of NICs that did not share a link",
		Needs: "interop in the nic_model: with whom it was tested. No shipped model states it, and a mixed class is then not judged",
		Bad:   mixedVendors(`interop = ["example"]`),
		Good:  mixedVendors(`interop = ["example", "nvidia"]`),
	},
	Run: mixedNICs,
}

func mixedVendors(interop string) string {
	return twoNodesEdit(`model    = "nvidia/connectx-6-dx"`, `model    = self.slot == 1 ? "nvidia/connectx-6-dx" : "example/nic"`) + exampleNIC("max_mtu         = 9978", "max_mtu         = 9978\n  "+interop)
}

func mixedNICs(p *Pass) {
	f := p.Fabric
	if !slices.ContainsFunc(f.NICModels, func(m fabric.NICModel) bool { return m.Interop != nil }) {
		return
	}
	type met struct {
		e     End
		class *fabric.Class
	}
	models := map[fabric.QoSID][]fabric.NICModelID{}
	first := map[[2]uint32]met{}
	p.hostRDMA(func(e End, n *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		key := [2]uint32{uint32(e.Profile.QoS), uint32(n.Model)}
		if _, seen := first[key]; !seen && f.Text(m.Driver) != "rxe" { // ROCE712
			first[key] = met{e, c}
			models[e.Profile.QoS] = append(models[e.Profile.QoS], n.Model)
		}
	})
	for q := fabric.QoSID(1); int(q) < len(f.QoS); q++ {
		for _, a := range models[q] {
			for _, b := range models[q] {
				x, y := &f.NICModels[a], &f.NICModels[b]
				if x.Interop == nil || x.Vendor == y.Vendor || slices.Contains(x.Interop, y.Vendor) {
					continue
				}
				one, two := first[[2]uint32{uint32(q), uint32(a)}], first[[2]uint32{uint32(q), uint32(b)}]
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("class %s joins %s (%s) and %s (%s), and the first is not known to run RDMA with adapters of %s", f.Text(one.class.Name),
						p.Name(one.e), f.Text(x.Name), p.Name(two.e), f.Text(y.Name), f.Text(y.Vendor)),
					Address: f.PortAddress(one.e.ID), Concerns: []string{f.PortAddress(two.e.ID), f.Text(f.QoS[q].Address)},
					Labels: []diag.Label{p.AtPort(one.e, schema.AModel, ""), p.AtPort(two.e, schema.AModel, "the other")},
					Help:   "use NICs of one maker, or write interop in the nic_model once it was tested",
				})
			}
		}
	}
}
