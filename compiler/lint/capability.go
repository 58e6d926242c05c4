package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

var capability = []*Rule{
	roce701, roce702, roce703, roce704, roce705, roce706, roce707, roce708, roce709, roce710, roce711, roce712, roce713, roce714,
	roce715, roce716, roce718, roce719, roce720, roce721, roce722, roce723, roce724, roce726, roce729, roce730, roce731, roce732, roce748, roce749, roce750, roce751,
}

// eachRDMANIC calls visit for every NIC port whose contract carries RDMA.
func (p *Pass) eachRDMANIC(visit func(e End, n *fabric.NIC, m *fabric.NICModel, c *fabric.Class)) {
	f := p.Fabric
	p.Managed(func(e End) {
		if e.Port.NIC == 0 || e.Port.Flags&fabric.InfiniBand != 0 {
			return
		}
		n := &f.NICs[e.Port.NIC]
		if n.Model == 0 {
			return
		}
		p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
			if c.Carries == fabric.CarriesRDMA {
				visit(e, n, &f.NICModels[n.Model], c)
			}
		})
	})
}

// atModel are the two places a capability finding shows: the NIC's model, and
// the class that asks.
func (p *Pass) atModel(e End, c *fabric.Class, n schema.Attr) []diag.Label {
	return []diag.Label{p.AtPort(e, schema.AModel, ""), p.Fabric.Label(c.Decl, 0, n, "the class")}
}

// exampleNIC is a NIC model for examples, with edits of its facts.
func exampleNIC(edits ...string) string {
	return edit(strings.Replace(fragileNIC("true"), "example/fragile", "example/nic", 1), edits...)
}

func withNIC(edits ...string) string {
	return strings.ReplaceAll(twoNodes(``), "nvidia/connectx-6-dx", "example/nic") + exampleNIC(edits...)
}

var roce701 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE701", Name: "nic_rdma", Severity: diag.Error,
		Title:  "a NIC of an RDMA class cannot do RDMA",
		Why:    "the host falls back to TCP without a word, or does not connect",
		Fix:    "change the NIC or the class",
		Source: "sources of the nic_model, fields roce and iwarp (lang/packs): each names the driver or document of the maker",
		Bad:    withNIC(`roce            = ["v1", "v2"]`, `roce            = []`+"\n  iwarp = false"),
		Good:   withNIC(),
	},
	Run: nicRDMA,
}

func nicRDMA(p *Pass) {
	p.eachRDMANIC(func(e End, _ *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		if m.RoCEv1 != fabric.No || m.RoCEv2 != fabric.No || m.IWARP == fabric.Yes {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("nic %s (%s) cannot do RDMA, and class %s carries it", p.Name(e), p.Fabric.Text(m.Name), p.Fabric.Text(c.Name)), Address: p.Fabric.PortAddress(e.ID),
			Labels: p.atModel(e, c, schema.ACarries), Help: "change the NIC or the class",
		})
	})
}

var roce702 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE702", Name: "nic_roce_version", Severity: diag.Error,
		Title: "a NIC of a RoCE v2 class speaks RoCE v1 only",
		Why:   "v1 frames are not routed and not understood by v2 endpoints",
		Fix:   `use transport = "roce_v1", or a newer NIC`,
		Source: "RHEL 7 Networking Guide 13.2, Transferring Data Using RoCE: versions by adapter; IBTA Architecture Specification " +
			"1.2.1, Annex A17",
		Steps:      "a class of another transport first on the switches, then all hosts of the class in one wave",
		Interrupts: "RDMA between hosts that are changed and hosts that are not yet",
		Bad:        withNIC(`roce            = ["v1", "v2"]`, `roce            = ["v1"]`),
		Good:       withNIC(),
	},
	Run: nicRoCEVersion,
}

func nicRoCEVersion(p *Pass) {
	p.eachRDMANIC(func(e End, n *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		if c.Transport == fabric.RoCEv1 || c.Transport == fabric.IWARP || m.RoCEv2 != fabric.No || m.RoCEv1 != fabric.Yes {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("nic %s (%s) speaks RoCE v1 only, and class %s is RoCE v2", p.Name(e), p.Fabric.Text(m.Name), p.Fabric.Text(c.Name)), Address: p.Fabric.PortAddress(e.ID),
			Labels: p.atModel(e, c, schema.ATransport), Help: `use transport = "roce_v1", or a newer NIC`,
		})
	})
}

var roce703 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE703", Name: "class_transport", Severity: diag.Error, Hard: true,
		Title: "NICs of one class speak different transports",
		Why:   "RoCE, iWARP and InfiniBand endpoints cannot talk to each other",
		Fix:   "one transport per class: change the NIC, or write transport on the class",
		Source: "IBTA Architecture Specification 1.2.1, Annex A17 (RoCE v2); RFC 5040 and RFC 5044 (iWARP over TCP): two wire " +
			"formats",
		Bad:  strings.ReplaceAll(twoNodes(``), "nvidia/connectx-6-dx", "chelsio/t6"),
		Good: twoNodes(``),
	},
	Run: classTransport,
}

func classTransport(p *Pass) {
	p.eachRDMANIC(func(e End, _ *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		roce := m.RoCEv1 == fabric.Yes || m.RoCEv2 == fabric.Yes
		want, have := "RoCE", "iWARP"
		switch {
		case c.Transport == fabric.IWARP && m.IWARP == fabric.No && roce:
			want, have = "iWARP", "RoCE"
		case c.Transport != fabric.IWARP && !roce && m.IWARP == fabric.Yes:
		default:
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("class %s is %s, and nic %s (%s) speaks %s: they cannot talk", p.Fabric.Text(c.Name), want, p.Name(e), p.Fabric.Text(m.Name), have), Address: p.Fabric.PortAddress(e.ID),
			Labels: p.atModel(e, c, schema.ATransport), Help: "one transport per class",
		})
	})
}

var roce704 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE704", Name: "class_roce_mode", Severity: diag.Error,
		Title: "endpoints of a class use different RoCE versions",
		Why:   "a v2 client never connects to a v1 server, while a v1 client reaches a v2 server: it works or not by who calls",
		Fix:   "set one roce_mode",
		Source: "RHEL 7 Networking Guide 13.2, Transferring Data Using RoCE: a v2 client and a v1 server never connect; Linux " +
			"drivers/infiniband/core/cma_configfs.c, default_roce_mode",
		Steps:      "all hosts of the class in one wave, applications restarted after it",
		Interrupts: "new connections between hosts that are changed and hosts that are not yet; open ones stay",
		Bad:        twoNodesEdit(`model    = "nvidia/connectx-6-dx"`, `model    = "nvidia/connectx-6-dx"`+"\n    roce_mode = self.slot == 1 ? \"v1\" : \"v2\""),
		Good:       twoNodes(``),
	},
	Run: roceMode,
}

func roceMode(p *Pass) {
	f := p.Fabric
	if !slices.ContainsFunc(f.NICs[1:], func(n fabric.NIC) bool { return n.RoCE != 0 }) {
		return // each has that of its class
	}
	type user struct {
		port  fabric.PortID
		class fabric.Str
	}
	var all tallies[string, user]
	p.hostRDMA(func(e End, n *fabric.NIC, _ *fabric.NICModel, c *fabric.Class) {
		if c.Transport == fabric.IWARP {
			return
		}
		mode := f.Text(n.RoCE)
		switch {
		case mode != "":
		case c.Transport == fabric.RoCEv1:
			mode = "v1"
		default:
			mode = "v2"
		}
		all.of(alikeKey{kind: fabric.Node, model: uint32(e.Profile.QoS), class: c.Name}).add(mode, user{e.ID, c.Name})
	})
	report := func(one, two user, summary, whose string) {
		a, b := p.End(one.port), p.End(two.port)
		p.Report(diag.Diagnostic{
			Summary: summary, Address: f.PortAddress(a.ID), Concerns: []string{f.PortAddress(b.ID)},
			Labels: []diag.Label{p.AtPort(a, schema.ARoCEMode, ""), p.AtPort(b, schema.ARoCEMode, whose)}, Help: "set one roce_mode",
		})
	}
	for _, t := range all.list {
		uneven(t, func(u user, mode string, most counted[string, user]) {
			report(u, most.rows[0], fmt.Sprintf("class %s: %s uses RoCE %s, %d of %d NICs of the class use %s", f.Text(u.class), f.PortName(u.port), mode, len(most.rows), t.of, most.value), "the others")
		}, func(values []counted[string, user]) {
			a, b := values[0].rows[0], values[1].rows[0]
			report(a, b, fmt.Sprintf("class %s: %s uses RoCE %s, %s uses %s", f.Text(a.class), f.PortName(a.port), values[0].value, f.PortName(b.port), values[1].value), "the other")
		})
	}
}

var roce705 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE705", Name: "nic_connectx3_lossy", Severity: diag.Error,
		Title: "a ConnectX-3 Pro or older is in a lossy class",
		Why: "it has no congestion control in hardware: packets are lost whenever a queue is full, and each loss sends again " +
			"all that followed",
		Fix: "enable PFC for the class",
		Source: "Mellanox Community DOC-2499, Introduction to Resilient RoCE, FAQ: ConnectX-4 and later; ConnectX-3 Pro always " +
			"with flow control",
		Bad:  strings.NewReplacer("nvidia/connectx-6-dx", "example/nic", "ecn       = \"auto\"", "ecn       = \"auto\"\n    lossless  = false").Replace(twoNodes(``)) + exampleNIC(`driver          = "mlx5"`, `driver          = "mlx4"`, "resilient       = true", "resilient       = false"),
		Good: twoNodes(``),
	},
	Run: connectX3,
}

func connectX3(p *Pass) {
	p.eachRDMANIC(func(e End, _ *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		if p.Fabric.Text(m.Driver) != "mlx4" || c.Lossless || c.Transport == fabric.IWARP {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("nic %s (%s) needs a lossless class, and %s is lossy", p.Name(e), p.Fabric.Text(m.Name), p.Fabric.Text(c.Name)), Address: p.Fabric.PortAddress(e.ID),
			Labels: p.atModel(e, c, schema.ALossless), Help: "enable PFC for the class",
		})
	})
}

var roce706 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE706", Name: "nic_os_version", Severity: diag.Error,
		Title:  "the operating system is older than the NIC needs",
		Why:    "an older driver does not know the adapter, or lacks the settings that are written to it",
		Fix:    "upgrade the system, or use another NIC",
		Source: "attribute os of nic_model, where an operator writes the least version that the release notes of the driver name",
		Needs:  `a least version of the system: os = { ubuntu = "24.04" } in a nic_model. No shipped model states one, as makers ship drivers for systems whose own is too old`,
		Bad:    withNIC("max_mtu         = 9978", "max_mtu         = 9978\n  os = { ubuntu = \"26.04\" }"),
		Good:   withNIC("max_mtu         = 9978", "max_mtu         = 9978\n  os = { ubuntu = \"22.04\" }"),
	},
	Run: nicOS,
}

func nicOS(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.Ports); id++ {
		e := p.End(fabric.PortID(id))
		if e.Port.NIC == 0 {
			continue
		}
		m := &f.NICModels[f.NICs[e.Port.NIC].Model]
		least, ok := m.MinOS[f.Text(e.Device.OSName)]
		if !ok || older(f.Text(e.Device.OSVersion), least) >= 0 || e.Device.OSVersion == 0 {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s runs %s %s, and %s needs %s or newer", f.Text(e.Device.Name), f.Text(e.Device.OSName), f.Text(e.Device.OSVersion), f.Text(m.Name), least), Address: f.PortAddress(e.ID),
			Labels: []diag.Label{f.Label(e.Device.Decl, e.Device.Layers, schema.AOS, ""), p.AtPort(e, schema.AModel, "the NIC")}, Help: "upgrade, or use another NIC",
		})
	}
}

// older compares two dotted versions number by number: negative if a is older.
func older(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		var m, n int
		if i < len(x) {
			m, _ = strconv.Atoi(x[i])
		}
		if i < len(y) {
			n, _ = strconv.Atoi(y[i])
		}
		if m != n {
			return m - n
		}
	}
	return 0
}

var roce707 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE707", Name: "switch_features", Severity: diag.Error,
		Title: "a switch lacks what the design uses of it",
		Why:   "PFC, ECN or ETS that a switch does not have is silently absent at that hop",
		Fix:   "replace the switch, or design without it",
		Source: "has_pfc, has_ecn and has_ets of the switch model or its asic, with their sources (lang/packs, or your own " +
			"switch_model)",
		Bad:  strings.ReplaceAll(twoNodes(``), "nvidia/sn3700", "example/no-dscp") + strings.Replace(noDSCP("true"), "has_ecn      = true", "has_ecn      = false", 1),
		Good: strings.ReplaceAll(twoNodes(``), "nvidia/sn3700", "example/no-dscp") + noDSCP("true"),
	},
	Run: switchFeatures,
}

func switchFeatures(p *Pass) {
	f := p.Fabric
	p.EachProfile(func(e End, ports int) {
		if e.Device.Kind != fabric.Switch {
			return
		}
		m := &f.Models[e.Device.Model]
		var lacks []string
		if m.PFC == fabric.No && e.Profile.PFC != 0 {
			lacks = append(lacks, "PFC")
		}
		marks, shares := false, false
		for q := range e.Profile.ECN {
			marks = marks || e.Profile.ECN[q].Mode == fabric.Auto || e.Profile.ECN[q].Mode == fabric.Written
			shares = shares || e.Profile.Sched[q].Percent > 0 && e.Profile.Sched[q].Percent < 100
		}
		if m.ECN == fabric.No && marks {
			lacks = append(lacks, "ECN")
		}
		if m.ETS == fabric.No && shares {
			lacks = append(lacks, "ETS")
		}
		if len(lacks) == 0 {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("switch %s (%s) cannot do %s", f.Text(e.Device.Name), f.Text(m.Name), list(lacks)), Address: f.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{f.Label(e.Device.Decl, e.Device.Layers, schema.AModel, ""), p.AtPort(e, schema.AQoS, "used by")}, Help: "replace the switch, or design without it",
		})
	})
}

var roce710 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE710", Name: "nic_dscp_trust", Severity: diag.Error,
		Title: "a NIC is told to trust DSCP and cannot",
		Why:   "a NIC that knows PCP only puts received RDMA into its default buffer, and drops there",
		Fix:   `use trust = "pcp" with tagged segments`,
		Source: "dscp_trust of the nic_model, with its source (lang/packs): Linux drivers/net/ethernet, operations ieee_setapp " +
			"and trust of each driver",
		Bad:  withNIC("dscp_trust      = true", "dscp_trust      = false"),
		Good: withNIC(),
	},
	Run: nicDSCP,
}

func nicDSCP(p *Pass) {
	p.eachRDMANIC(func(e End, _ *fabric.NIC, m *fabric.NICModel, c *fabric.Class) {
		if e.Profile.Trust != fabric.TrustDSCP || m.DSCPTrust != fabric.No || c.Transport == fabric.IWARP {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("nic %s (%s) cannot trust DSCP", p.Name(e), p.Fabric.Text(m.Name)), Address: p.Fabric.PortAddress(e.ID),
			Labels: []diag.Label{p.AtPort(e, schema.AModel, ""), p.AtContract(e, schema.ATrust, nil, 0, "trust")}, Help: `use trust = "pcp" with tagged segments`,
		})
	})
}

var roce720 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE720", Name: "mtu_maximum", Severity: diag.Error, Fixable: true,
		Title:  "an MTU is above what the hardware takes",
		Why:    "the device refuses the value, or drops what is larger than it can take",
		Fix:    "lower the MTU",
		Source: "max_mtu of the model, with its source (lang/packs): for NICs the limit in the Linux driver",
		Bad:    twoNodesEdit(`mtu      = 9000`, `mtu      = 9500`),
		Good:   twoNodes(``),
	},
	Run: mtuMaximum,
}

func mtuMaximum(p *Pass) {
	f := p.Fabric
	for id := 1; id < len(f.Ports); id++ {
		e := p.End(fabric.PortID(id))
		most, model := f.Models[e.Device.Model].MaxMTU, f.Models[e.Device.Model].Name
		if e.Port.NIC != 0 {
			m := &f.NICModels[f.NICs[e.Port.NIC].Model]
			most, model = m.MaxMTU, m.Name
		}
		if most == 0 || e.Port.Flags&fabric.MTUSet == 0 || e.Port.MTU <= most {
			continue
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("MTU %d of %s is above the %d that %s takes", e.Port.MTU, p.Name(e), most, f.Text(model)), Address: f.PortAddress(e.ID),
			Labels: []diag.Label{p.AtPort(e, schema.AMTU, "")}, Help: fmt.Sprintf("write at most %d", most), Edits: setAt(p.AtPort(e, schema.AMTU, ""), "mtu", fmt.Sprint(most)),
		})
	}
}
