package lint

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
)

// Facts of models that proofs rest on. Other rules compare what is stated with what
// is asked of it; what is asked and nobody states is told here, so that unknown
// never counts as capable.

var roce722 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE722", Name: "model_unstated", Severity: diag.Error,
		Title:  "the data of a model do not state what a proof asks of them",
		Why:    "whether a device can do what nobody states is not known: the proof that rests on it would hold on paper alone",
		Fix:    "state the fact in the block of the model, with its source",
		Source: "a house rule: unknown is not capable. docs/language: nic_model, switch_model, asic",
		Bad:    withNIC(`  roce            = ["v1", "v2"]`+"\n", ""),
		Good:   withNIC(),
	},
	Run: modelUnstated,
}

// rests is a fact of a model, and where a proof rests on it.
type rests[M any] struct {
	word   string // in the language
	model  string // block that states it
	soft   bool   // a warning for RDMA too: the device refuses by itself what it cannot do
	stated func(m *M) bool
	asked  func(p *Pass, u *use) bool
}

// use is what a port asks of its model.
type use struct {
	e     End
	rdma  *fabric.Class // nil: it carries none
	lossy *fabric.Class // RDMA without PFC that reacts to ECN
	marks bool          // some queue is marked
	share bool          // some queue has a share of the port
	used  int           // queues
}

func (u *use) pauses() bool    { return u.e.Profile.PFC != 0 }
func (u *use) roce() bool      { return u.rdma != nil && u.rdma.Transport != fabric.IWARP }
func (u *use) byDSCP() bool    { return u.e.Profile.Trust == fabric.TrustDSCP }
func (u *use) jumbo() bool     { return u.e.Port.Flags&fabric.MTUSet != 0 && u.e.Port.MTU > 1500 }
func (u *use) mapped() bool    { return u.used > 1 }
func known(f fabric.Fact) bool { return f != fabric.Unknown }

// nicFacts are those of adapters. Of pcie, interop and os nothing is asked that their
// absence does not answer: see ROCE721 and ROCE706; reordering is ROCE821. CNPs whose mark
// is not stated go by some queue, later perhaps and not lost.
var nicFacts = []rests[fabric.NICModel]{
	{
		word: "roce", model: "nic_model", stated: func(m *fabric.NICModel) bool { return known(m.RoCEv2) || m.IWARP == fabric.Yes },
		asked: func(_ *Pass, u *use) bool { return u.roce() },
	},
	{
		word: "iwarp", model: "nic_model", stated: func(m *fabric.NICModel) bool { return known(m.IWARP) },
		asked: func(_ *Pass, u *use) bool { return u.rdma != nil && !u.roce() },
	},
	{
		word: "speeds", model: "nic_model", stated: func(m *fabric.NICModel) bool { return len(m.Mbps) > 0 },
		asked: func(_ *Pass, u *use) bool { return u.e.Port.Flags&fabric.SpeedSet != 0 },
	},
	{
		word: "traffic_classes", model: "nic_model", stated: func(m *fabric.NICModel) bool { return m.TrafficClasses > 0 },
		asked: func(_ *Pass, u *use) bool { return u.mapped() && (u.rdma == nil || u.roce()) }, // iWARP runs over TCP
	},
	{
		word: "pfc_priorities", model: "nic_model", stated: func(m *fabric.NICModel) bool { return m.PFCPriorities > 0 },
		asked: func(_ *Pass, u *use) bool { return bits.OnesCount8(u.e.Profile.PFC) > 1 }, // one is the least that PFC is
	},
	{
		word: "dscp_trust", model: "nic_model", stated: func(m *fabric.NICModel) bool { return known(m.DSCPTrust) },
		asked: func(_ *Pass, u *use) bool { return u.roce() && u.byDSCP() },
	},
	{
		word: "resilient", model: "nic_model", stated: func(m *fabric.NICModel) bool { return known(m.Resilient) },
		asked: func(_ *Pass, u *use) bool { return u.lossy != nil },
	},
	{
		word: "max_mtu", model: "nic_model", soft: true, stated: func(m *fabric.NICModel) bool { return m.MaxMTU > 0 },
		asked: func(_ *Pass, u *use) bool { return u.jumbo() },
	},
}

// switchFacts are those of switches. What headroom is computed from may be left out:
// the reference formula then takes the worst, and ROCE513 says so. Without a share that
// headroom may take, half of the buffer is. A watchdog that is not stated is ROCE307,
// speeds are ROCE123.
var switchFacts = []rests[fabric.SwitchModel]{
	{
		word: "buffer", model: "asic", stated: func(m *fabric.SwitchModel) bool { return m.BufferBytes > 0 },
		asked: func(_ *Pass, u *use) bool { return u.pauses() },
	},
	{
		word: "cell", model: "asic", stated: func(m *fabric.SwitchModel) bool { return m.CellBytes > 0 },
		asked: func(_ *Pass, u *use) bool { return u.pauses() },
	},
	{
		word: "queues", model: "asic", stated: func(m *fabric.SwitchModel) bool { return m.Queues > 0 },
		asked: func(_ *Pass, u *use) bool { return u.mapped() },
	},
	{
		word: "has_pfc", model: "asic", stated: func(m *fabric.SwitchModel) bool { return known(m.PFC) },
		asked: func(_ *Pass, u *use) bool { return u.pauses() },
	},
	{
		word: "has_ecn", model: "asic", stated: func(m *fabric.SwitchModel) bool { return known(m.ECN) },
		asked: func(_ *Pass, u *use) bool { return u.marks },
	},
	{
		word: "has_ets", model: "asic", stated: func(m *fabric.SwitchModel) bool { return known(m.ETS) },
		asked: func(_ *Pass, u *use) bool { return u.share },
	},
	{
		word: "dscp_pfc", model: "asic", stated: func(m *fabric.SwitchModel) bool { return known(m.DSCPPFC) },
		asked: func(_ *Pass, u *use) bool { return u.pauses() && u.byDSCP() },
	},
	{
		word: "max_mtu", model: "asic", soft: true, stated: func(m *fabric.SwitchModel) bool { return m.MaxMTU > 0 },
		asked: func(_ *Pass, u *use) bool { return u.jumbo() },
	},
}

// unstated is facts that a model lacks, with a port that asks for them.
type unstated struct {
	e     End
	hard  []string // RDMA rests on them
	mild  []string
	class *fabric.Class
	name  fabric.Str
	decl  fabric.DeclID
	block string
}

// lacking adds the facts that a port asks for and its model does not state.
func lacking[M any](p *Pass, facts []rests[M], m *M, u *use, into *unstated) {
	for i := range facts {
		fact := &facts[i]
		if fact.stated(m) || slices.Contains(into.hard, fact.word) || !fact.asked(p, u) {
			continue
		}
		into.block = fact.model
		switch {
		case u.rdma != nil && !fact.soft:
			into.hard = append(into.hard, fact.word)
			into.class, into.e = u.rdma, u.e
			into.mild = slices.DeleteFunc(into.mild, func(w string) bool { return w == fact.word })
		case !slices.Contains(into.mild, fact.word):
			into.mild = append(into.mild, fact.word)
			if len(into.hard) == 0 {
				into.e = u.e
			}
		}
	}
}

func modelUnstated(p *Pass) {
	f := p.Fabric
	nics, switches := make([]unstated, len(f.NICModels)), make([]unstated, len(f.Models))
	p.Managed(func(e End) {
		u := p.useOf(e)
		switch {
		case e.Device.Kind == fabric.Switch && e.Device.Model != 0:
			m := &f.Models[e.Device.Model]
			into := &switches[e.Device.Model]
			into.name, into.decl = m.Name, m.Decl
			lacking(p, switchFacts, m, u, into)
		case e.Port.NIC != 0 && e.Port.Flags&fabric.InfiniBand == 0 && f.NICs[e.Port.NIC].Model != 0:
			m := &f.NICModels[f.NICs[e.Port.NIC].Model]
			if f.Text(m.Driver) == "rxe" {
				return // all but RoCE is that of the adapter below it, and ROCE712 tells of it
			}
			if u.roce() && m.RoCEv1 == fabric.No && m.RoCEv2 == fabric.No {
				return // ROCE701, ROCE703
			}
			into := &nics[f.NICs[e.Port.NIC].Model]
			into.name, into.decl = m.Name, m.Decl
			lacking(p, nicFacts, m, u, into)
		}
	})
	for _, all := range [][]unstated{nics, switches} {
		for i := range all {
			p.reportUnstated(&all[i])
		}
	}
}

func (p *Pass) reportUnstated(u *unstated) {
	f := p.Fabric
	words, d := u.hard, diag.Diagnostic{}
	if len(words) == 0 {
		words, d.Severity = u.mild, diag.Warning
	}
	if len(words) == 0 {
		return
	}
	d.Summary = fmt.Sprintf("the data of %s do not state %s, and %s rests on it", f.Text(u.name), list(words), p.Name(u.e))
	if u.class != nil {
		d.Summary = fmt.Sprintf("the data of %s do not state %s, and class %s on %s rests on it", f.Text(u.name), list(words),
			f.Text(u.class.Name), p.Name(u.e))
	}
	d.Address = f.PortAddress(u.e.ID)
	d.Labels = []diag.Label{p.atHardware(u.e, ""), f.DeclLabel(u.decl, "the model")}
	d.Help = fmt.Sprintf("state %s in the %s block, with the source of it", list(words), u.block)
	p.Report(d)
}

// useOf is what a port asks of its model.
func (p *Pass) useOf(e End) *use {
	u := &use{e: e, rdma: p.rdmaClass(e)}
	p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
		ecn := c.ECN.Mode != fabric.Unwritten && c.ECN.Mode != fabric.Off
		if c.Carries == fabric.CarriesRDMA && !c.Lossless && c.Transport != fabric.IWARP && ecn {
			u.lossy = c
		}
	})
	for q := range e.Profile.Sched {
		s := &e.Profile.Sched[q]
		if s.Used {
			u.used++
		}
		u.share = u.share || s.Percent > 0 && s.Percent < 100
		u.marks = u.marks || e.Profile.ECN[q].Mode == fabric.Auto || e.Profile.ECN[q].Mode == fabric.Written
	}
	return u
}
