package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on buffers that looks at what a switch shares: alpha
// and pools.

// recarves is the traffic that stops while a switch takes other sizes of buffers.
const recarves = "all traffic of the switch, where it takes pools and groups at a reload only, as the traditional buffer model of SONiC does"

var roce505 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE505", Name: "buffer_alpha_extreme", Severity: diag.Warning, Fixable: true,
		Options: []diag.Option{{Name: "most", Default: 8, Min: 1, Max: 64, Doc: "largest alpha"}, {Name: "least", Default: 32, Min: 1, Max: 1024, Doc: "smallest alpha, as the number that 1 is divided by"}},
		Title:   "alpha is tiny or huge",
		Why:     "with a tiny alpha a port pauses while most of the buffer is free, and one incast stops a rack; with a huge one a single port takes all of it",
		Fix:     "write an alpha from 1/32 to 8",
		Source: "house limit: 1/32 to 8, options least and most. Guo et al., SIGCOMM 2016, section 6.2, shows the harm of 1/64 " +
			"where 1/16 was meant",
		Bad:  twoNodesEdit(`switch "tor" {`, "switch \"tor\" {\n  buffer = { alpha = \"1/64\" }"),
		Good: twoNodesEdit(`switch "tor" {`, "switch \"tor\" {\n  buffer = { alpha = \"1/16\" }"),
	},
	Run: alphaExtreme,
}

func alphaExtreme(p *Pass) {
	f := p.Fabric
	extreme := func(r fabric.Ratio) bool {
		return r.Den > 0 && (int64(r.Num)*p.option("least") < int64(r.Den) || int64(r.Num) > p.option("most")*int64(r.Den))
	}
	report := func(what, address string, r fabric.Ratio, at diag.Label) {
		way, nearest := "a single port can take nearly the whole buffer", fmt.Sprint(p.option("most"))
		if r.Num < r.Den {
			way, nearest = fmt.Sprintf("a port pauses once it holds %d/%d of the free buffer", r.Num, r.Den), fmt.Sprintf(`"1/%d"`, p.option("least"))
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("alpha of %s is %s", what, alphaWords(r)), Address: address, Labels: []diag.Label{at},
			Notes: []string{way}, Help: fmt.Sprintf("write an alpha from 1/%d to %d", p.option("least"), p.option("most")), Edits: setAt(at, "buffer.alpha", nearest),
		})
	}
	for d := 1; d < len(f.Devices); d++ {
		if dev := &f.Devices[d]; dev.Kind == fabric.Switch && dev.Manage != fabric.HandsOff && extreme(dev.Buffer.Alpha) {
			report("switch "+f.Text(dev.Name), f.Text(dev.Address), dev.Buffer.Alpha, f.Label(dev.Decl, dev.Layers, schema.ABuffer, ""))
		}
	}
	for q := 1; q < len(f.QoS); q++ {
		for i := range f.QoS[q].Classes {
			if c := &f.QoS[q].Classes[i]; extreme(c.Alpha) {
				report("class "+f.Text(c.Name), f.Text(f.QoS[q].Address), c.Alpha, f.Label(c.Decl, 0, schema.ABuffer, ""))
			}
		}
	}
}

// pooled is the packet buffer of a switch in bytes, 0 where something is not
// known. What is written to the device goes before what was found on it.
type pooled struct {
	id       fabric.DeviceID
	dev      *fabric.Device
	whole    uint64 // by the model's data
	ingress  uint64
	headroom uint64
	out      fabric.Pools
}

// eachPooled calls visit for each switch of which a pool is written.
func (p *Pass) eachPooled(visit func(pooled)) {
	f := p.Fabric
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Kind != fabric.Switch || dev.Pools == (fabric.Pools{}) && dev.Buffer.SharedBytes == 0 && dev.Buffer.HeadroomBytes == 0 {
			continue
		}
		b := pooled{id: d, dev: dev, whole: f.Models[dev.Model].BufferBytes, ingress: dev.Buffer.SharedBytes, headroom: dev.Buffer.HeadroomBytes, out: dev.Pools}
		if b.ingress == 0 {
			b.ingress = dev.Pools.IngressBytes
		}
		if b.headroom == 0 {
			b.headroom = dev.Pools.HeadroomBytes
		}
		visit(b)
	}
}

// atPools are the places where the pools of a switch stand.
func (p *Pass) atPools(dev *fabric.Device) []diag.Label {
	var at []diag.Label
	for _, n := range [2]schema.Attr{schema.APools, schema.ABuffer} {
		if _, _, ok := p.Fabric.Origin(dev.Decl, dev.Layers, n); ok {
			at = append(at, p.Fabric.Label(dev.Decl, dev.Layers, n, ""))
		}
	}
	if len(at) > 1 {
		at[1].Text = "and here"
	}
	return at
}

// withPools is twoNodes with pools as found.
func withPools(pools string) string {
	return twoNodesEdit(`switch "tor" {`, "switch \"tor\" {\n  observed = { pools = { "+pools+" } }")
}

var roce506 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE506", Name: "buffer_pools", Severity: diag.Error,
		Title:      "pools of a switch do not fit into its buffer",
		Why:        "pools that promise more memory than there is fail when all of it is asked for: headroom is full before the pause takes hold",
		Fix:        "shrink a pool",
		Interrupts: recarves,
		Source:     "Bai et al., NSDI 2023, appendix A: pools of a shared buffer",
		Formula:    "ingress pool + shared headroom pool <= buffer, in bytes",
		Bad:        withPools(`ingress = "30MB", headroom = "6MB"`),
		Good:       withPools(`ingress = "28MB", headroom = "6MB"`),
	},
	Run: poolsFit,
}

func poolsFit(p *Pass) {
	p.eachPooled(func(b pooled) {
		need := b.ingress + b.headroom
		// Images for Trident 2 and 3 give the ingress pool the whole buffer and count
		// the headroom pool inside it: "size" 32756480 and "xoff" 2621440 of 32756480.
		if b.ingress <= b.whole && b.ingress > b.whole-b.whole/100 && b.headroom <= b.whole {
			need = b.ingress
		}
		if b.whole == 0 || need <= b.whole {
			return
		}
		model := p.Fabric.Text(p.Fabric.Models[b.dev.Model].Name)
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("pools of %s need %d B, and %s has %d B", p.Fabric.Text(b.dev.Name), need, model, b.whole), Address: p.Fabric.Text(b.dev.Address),
			Labels: p.atPools(b.dev), Notes: []string{fmt.Sprintf("ingress %d B and shared headroom %d B", b.ingress, b.headroom)}, Help: "shrink a pool",
		})
	})
}

var roce507 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE507", Name: "buffer_egress_lossy", Severity: diag.Error,
		Title:      "lossy traffic on its way out can take more than the ingress pool",
		Why:        "what is queued at egress is held by the ingress pool: beyond its size lossy queues would sit in PFC headroom, and lossless frames are dropped",
		Fix:        "make the lossy egress pool at most as large as the ingress pool",
		Interrupts: recarves,
		Source:     "Bai et al., NSDI 2023, 6.2",
		Formula:    "lossy egress pool <= ingress pool, in bytes",
		Bad:        withPools(`ingress = "18MB", egress_lossy = "20MB"`),
		Good:       withPools(`ingress = "18MB", egress_lossy = "14MB"`),
	},
	Run: egressLossy,
}

func egressLossy(p *Pass) {
	p.eachPooled(func(b pooled) {
		if b.ingress == 0 || b.out.EgressLossyBytes <= b.ingress {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("the lossy egress pool of %s is %d B, and its ingress pool %d B: lossy traffic can take headroom", p.Fabric.Text(b.dev.Name), b.out.EgressLossyBytes, b.ingress),
			Address: p.Fabric.Text(b.dev.Address), Labels: p.atPools(b.dev), Help: "make the lossy egress pool at most as large as the ingress pool",
		})
	})
}

var roce508 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE508", Name: "buffer_egress_lossless", Severity: diag.Error,
		Title:      "lossless traffic can be dropped on its way out",
		Why:        "admission of lossless frames is decided at ingress alone: a threshold at egress that can be reached drops what PFC has promised to keep",
		Fix:        "write the buffer's size as the static threshold",
		Interrupts: recarves,
		Source:     "Bai et al., NSDI 2023, 6.2",
		Formula:    "lossless threshold at egress >= 95 % of the buffer, in bytes: images leave out what queues and the CPU reserve",
		Bad:        withPools(`egress_lossless = "18MB"`),
		Good:       withPools(`egress_lossless = "34MB"`),
	},
	Run: egressLossless,
}

func egressLossless(p *Pass) {
	p.eachPooled(func(b pooled) {
		t := b.out.EgressLosslessBytes
		// Images leave out what queues and the CPU reserve, one or two percent.
		if t == 0 || b.whole == 0 || t >= b.whole-b.whole/20 {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("the lossless threshold at egress of %s is %d B of %d B: lossless packets can be dropped there", p.Fabric.Text(b.dev.Name), t, b.whole), Address: p.Fabric.Text(b.dev.Address),
			Labels: []diag.Label{p.Fabric.Label(b.dev.Decl, b.dev.Layers, schema.APools, "")}, Help: "write the buffer's size as the static threshold",
		})
	})
}

var roce509 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE509", Name: "buffer_headroom_pool", Severity: diag.Warning,
		Title:      "a shared headroom pool is oversubscribed more than the source allows",
		Why:        "when more ports pause at a time than the pool was sized for, it is full and lossless frames are lost",
		Fix:        "enlarge the pool, or allow the ratio where so many ports never pause at a time",
		Interrupts: recarves,
		Source:     "Bai et al., NSDI 2023, 7.1",
		Formula: "headroom of all lossless groups <= max_oversubscription * shared headroom pool, and the largest one <= the " +
			"pool, in bytes",
		Bad:  twoNodesEdit(`switch "tor" {`, "switch \"tor\" {\n  buffer = { headroom = \"50KB\", max_oversubscription = 1.5 }"),
		Good: twoNodesEdit(`switch "tor" {`, "switch \"tor\" {\n  buffer = { headroom = \"80KB\", max_oversubscription = 1.5 }"),
	},
	Run: headroomPool,
}

func headroomPool(p *Pass) {
	f := p.Fabric
	largest := make([]uint32, len(f.Devices))
	p.eachHeadroom(func(e End, _ int, h derive.Headroom, _ int) {
		largest[e.Port.Device] = max(largest[e.Port.Device], h.Xoff)
	})
	p.eachPooled(func(b pooled) {
		need, limit := p.Facts.Buffers[b.id].HeadroomBytes, b.dev.Buffer.MaxOver
		var why string
		switch {
		case b.headroom == 0 || need == 0:
			return
		case uint64(largest[b.id]) > b.headroom:
			why = fmt.Sprintf("one of its lossless groups alone needs %d B", largest[b.id])
		case limit.Den > 0 && need*uint64(limit.Den) > b.headroom*uint64(limit.Num):
			why = fmt.Sprintf("its lossless groups need %d B: %s:1, and the source allows %s:1", need,
				hundredths(need, b.headroom), hundredths(uint64(limit.Num), uint64(limit.Den)))
		default:
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("the shared headroom pool of %s is %d B, and %s", f.Text(b.dev.Name), b.headroom, why), Address: f.Text(b.dev.Address),
			Labels: p.atPools(b.dev), Help: "enlarge the pool, or allow the ratio where so many ports never pause at a time",
		})
	})
}

var roce516 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE516", Name: "buffer_lossy_starved", Severity: diag.Error,
		Title:      "headroom leaves less of the buffer than one frame for every lossy queue",
		Why:        "lossy queues live from the shared pool: without a frame of room each, control traffic and TCP are dropped while lossless classes run",
		Fix:        "reduce headroom, or enlarge the shared pool",
		Interrupts: recarves,
		Source:     "Guo et al., SIGCOMM 2016, section 2: headroom is taken from what all share",
		Formula:    "shared pool after headroom >= sum over ports of lossy queues in use * MTU, in bytes",
		Bad:        twoNodesEdit("ecn       = \"auto\"", "ecn       = \"auto\"\n    lossless  = false", `switch "tor" {`, "switch \"tor\" {\n  buffer = { shared = \"20KB\" }"),
		Good:       twoNodesEdit("ecn       = \"auto\"", "ecn       = \"auto\"\n    lossless  = false", `switch "tor" {`, "switch \"tor\" {\n  buffer = { shared = \"20MB\" }"),
	},
	Run: lossyStarved,
}

func lossyStarved(p *Pass) {
	f := p.Fabric
	sums := p.headroomSums()
	lossy := make([]int, len(f.Profiles))
	for i := range lossy {
		lossy[i] = lossyQueues(&f.Profiles[i])
	}
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		b, dev := p.Facts.Buffers[d], &f.Devices[d]
		if _, most := p.headroomShare(d); !b.SharedKnown || most > 0 && sums[d] > most { // the latter is ROCE502
			continue
		}
		queues, need := 0, uint64(0)
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			port := &f.Ports[id]
			if port.Profile == 0 || port.Link == 0 || port.Flags&(fabric.ShutDown|fabric.IsLAG) != 0 || port.MTU == 0 {
				continue
			}
			queues, need = queues+lossy[port.Profile], need+uint64(lossy[port.Profile])*uint64(port.MTU)
		}
		if need <= b.SharedBytes {
			continue
		}
		at := schema.AModel
		if dev.Buffer.SharedBytes > 0 {
			at = schema.ABuffer
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s has %d B to share, and one frame for each of its %d lossy queues takes %d B", f.Text(dev.Name), b.SharedBytes, queues, need), Address: f.Text(dev.Address),
			Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, at, "")}, Notes: []string{fmt.Sprintf("headroom takes %d B", b.HeadroomBytes)}, Help: "reduce headroom, or enlarge the shared pool",
		})
	}
}

// lossyQueues counts the queues in use that no priority with PFC is in.
func lossyQueues(prof *fabric.Profile) int {
	n := 0
	for q := range prof.Sched {
		lossless := false
		for priority, queue := range prof.Queue {
			lossless = lossless || int(queue) == q && prof.PFC>>priority&1 == 1
		}
		if prof.Sched[q].Used && !lossless {
			n++
		}
	}
	return n
}
