package resolve

import (
	"fmt"
	"strconv"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// contracts reads the qos blocks. A qos with `from` starts as a copy; a class
// of the same name then replaces single attributes and stays the same class.
func (r *resolver) contracts() {
	r.qosOf = map[lang.BlockID]fabric.QoSID{}
	r.top(schema.QoS, func(b lang.BlockID) { r.contract(b) })
	r.predeclareUntrusted()
}

// contract reads one qos, its origin first. The loader has refused cycles.
func (r *resolver) contract(b lang.BlockID) fabric.QoSID {
	if id, done := r.qosOf[b]; done {
		return id
	}
	var q fabric.QoS
	chain := []lang.BlockID{b}
	if from := r.attr(b, schema.AFrom); from.Kind == lang.Handle {
		q = r.f.QoS[r.contract(lang.BlockID(from.N))]
		q.Classes = append([]fabric.Class(nil), q.Classes...)
		for up := from; up.Kind == lang.Handle; up = r.attr(lang.BlockID(up.N), schema.AFrom) {
			chain = append(chain, lang.BlockID(up.N))
		}
	}
	id := fabric.QoSID(len(r.f.QoS))
	r.qosOf[b] = id
	q.Name, q.Decl, q.Layers, q.Address = r.str(r.cfg.Blocks[b].Name), r.decl(b), r.layersOn(b), r.f.Names.Add(r.cfg.Address(b))
	q.Untrusted = false
	if v := r.attr(b, schema.ATrust); v.Kind != lang.Absent {
		q.Trust = trustOf(r.cfg.Text(v))
	}
	if v := r.attr(b, schema.ATransport); v.Kind != lang.Absent {
		q.Transport = transportOf(r.cfg.Text(v))
	}
	if v := r.wrote(b, schema.ADCBX); v.Kind != lang.Absent {
		q.DCBX = r.dcbx(v)
	}
	r.f.QoS = append(r.f.QoS, q)
	if len(chain) > 1 {
		r.inherit(b, chain[1])
	}
	r.classes(b, chain, &q)
	r.f.QoS[id] = q
	return id
}

// inherit notes that what a contract or class leaves out is what another one says.
func (r *resolver) inherit(b, from lang.BlockID) {
	d, up := r.decl(b), r.decl(from)
	for at := up; at != 0; at = r.f.Inherits[at] { // two families of contracts may start from members of each other
		if at == d {
			return
		}
	}
	if r.f.Inherits == nil {
		r.f.Inherits = map[fabric.DeclID]fabric.DeclID{}
	}
	r.f.Inherits[d] = up
}

// classes folds the written classes of a qos into those it starts from.
func (r *resolver) classes(b lang.BlockID, chain []lang.BlockID, q *fabric.QoS) {
	written := map[string][]lang.BlockID{} // nearest first, along the chain of `from`
	for _, from := range chain {
		r.kids(from, schema.Class, func(c lang.BlockID) {
			n := r.blockName(c)
			written[n] = append(written[n], c)
		})
	}
	at := map[fabric.Str]int{}
	for i := range q.Classes {
		at[q.Classes[i].Name] = i
	}
	r.kids(b, schema.Class, func(c lang.BlockID) {
		if up := written[r.blockName(c)]; len(up) > 1 { // itself first
			r.inherit(c, up[1])
		}
		class := r.class(c, layered{r.cfg, written[r.blockName(c)]}, q)
		if i, inherited := at[class.Name]; inherited {
			q.Classes[i] = class
			return
		}
		if len(q.Classes) == fabric.MaxClasses {
			r.fail(fmt.Sprintf("qos %s has more than %d classes", r.blockName(b), fabric.MaxClasses), "merge classes", r.f.DeclLabel(r.decl(c), ""))
			return
		}
		at[class.Name] = len(q.Classes)
		q.Classes = append(q.Classes, class)
	})
	r.oneDefault(b, q)
	r.undecided(b, q)
}

// oneDefault makes sure that every undeclared code point has a class to go to.
func (r *resolver) oneDefault(b lang.BlockID, q *fabric.QoS) {
	def := -1
	for i := range q.Classes {
		if !q.Classes[i].Default {
			continue
		}
		if def >= 0 {
			r.fail("qos "+r.blockName(b)+" has two default classes: "+r.f.Text(q.Classes[def].Name)+" and "+r.f.Text(q.Classes[i].Name),
				"leave default = true on one of them",
				r.f.Label(q.Classes[i].Decl, 0, schema.ADefault, ""), r.f.Label(q.Classes[def].Decl, 0, schema.ADefault, "the other"))
		}
		def = i
	}
	if def < 0 {
		r.fail("qos "+r.blockName(b)+" has no default class",
			"add a class with default = true: it takes every code point that no other class declares", r.f.DeclLabel(r.decl(b), ""))
	}
}

// undecided demands what a contract cannot leave open.
func (r *resolver) undecided(b lang.BlockID, q *fabric.QoS) {
	for i := range q.Classes {
		c := &q.Classes[i]
		if c.Carries == fabric.CarriesDefault && !c.Default {
			r.fail("class "+r.f.Text(c.Name)+" does not say what it carries",
				`write carries = "rdma", "cnp", "cluster" or "other": nothing becomes lossless by inference`, r.f.DeclLabel(c.Decl, ""))
		}
	}
	if q.Trust == fabric.TrustUnset {
		r.fail("qos "+r.blockName(b)+" does not say which mark it trusts", `write trust = "dscp", "pcp" or "none"`, r.f.DeclLabel(r.decl(b), ""))
	}
}

func (r *resolver) class(c lang.BlockID, l layered, q *fabric.QoS) fabric.Class {
	k := fabric.Class{Name: r.str(r.cfg.Blocks[c].Name), Decl: r.decl(c), Transport: q.Transport}
	k.Default = l.get(schema.ADefault).N == 1
	k.Carries = carriesOf(r.cfg.Text(l.get(schema.ACarries)))
	for _, v := range r.cfg.List(l.get(schema.ADSCP)) {
		k.DSCP |= 1 << uint(v.N&63)
	}
	if v := l.get(schema.APriority); v.Kind == lang.Absent {
		r.fail("class "+r.f.Text(k.Name)+" has no priority", "write priority = 0 to 7", r.f.DeclLabel(k.Decl, ""))
	} else {
		k.Priority = uint8(v.N)
	}
	k.Queue = k.Priority
	if v := l.get(schema.AQueue); v.Kind != lang.Absent {
		k.Queue, k.QueueSet = uint8(v.N), true
	}
	k.Lossless = k.Carries == fabric.CarriesRDMA
	if v := l.get(schema.ALossless); v.Kind != lang.Absent {
		k.Lossless = v.N == 1
	}
	if v := l.get(schema.APriorityGroup); v.Kind != lang.Absent {
		k.Group, k.GroupSet = uint8(v.N), true
	} else if k.Lossless {
		k.Group = k.Priority
	}
	k.Strict = k.Carries == fabric.CarriesCNP
	if v := l.get(schema.AStrict); v.Kind != lang.Absent {
		k.Strict = v.N == 1
	}
	if v := l.get(schema.ABandwidth); v.Kind != lang.Absent {
		k.Percent, k.PercentSet = uint8(v.N), true
	}
	switch v := l.get(schema.ACap); v.Kind {
	case lang.Percent:
		k.CapPercent = uint8(v.N)
	case lang.Int:
		k.CapMbps = uint32(v.N)
	}
	k.ECN = r.ecn(l.get(schema.AECN))
	if v := l.get(schema.ACongestion); v.Kind != lang.Absent {
		k.CongestionSet = true
		k.Congestion = map[string]fabric.Congestion{"dcqcn": fabric.DCQCN, "receiver": fabric.Receiver}[r.cfg.Text(v)]
	}
	k.Watchdog = r.watchdog(l.get(schema.AWatchdog))
	buffer := l.get(schema.ABuffer)
	k.Alpha = r.ratio(r.cfg.Field(buffer, schema.AAlpha))
	if v := r.cfg.Field(buffer, schema.AHeadroom); v.Kind == lang.Int {
		k.HeadroomBytes, k.HeadroomZero = uint32(v.N), v.N == 0
	}
	k.XonBytes = uint32(r.cfg.Field(buffer, schema.AXon).N)
	match := l.get(schema.AMatch)
	k.NetDirectPort = uint16(r.cfg.Field(match, schema.ANetDirectPort).N)
	k.TCPPort = uint16(r.cfg.Field(match, schema.ATCPPort).N)
	k.UDPPort = uint16(r.cfg.Field(match, schema.AUDPPort).N)
	k.MarkByApplication = r.cfg.Text(l.get(schema.AMark)) == "application"
	if v := l.get(schema.ATransport); v.Kind != lang.Absent {
		k.Transport = transportOf(r.cfg.Text(v))
	}
	if n, err := strconv.ParseUint(r.cfg.Text(l.get(schema.ARDMAMTU)), 10, 16); err == nil {
		k.RDMAMTU = uint16(n)
	}
	k.Remap = l.get(schema.ARemap).N == 1
	k.Redundancy = uint8(l.get(schema.ARedundancy).N)
	k.MaxOversubscription = r.ratio(l.get(schema.AMaxOversubscription))
	for _, side := range r.cfg.List(l.get(schema.AMarkOn)) {
		k.MarkedOn |= map[string]fabric.Sides{"initiators": fabric.Initiators, "responders": fabric.Responders}[r.cfg.Text(side)]
	}
	k.LatencyBudgetUs, k.CNPIntervalUs = uint32(l.get(schema.ALatencyBudget).N), uint32(l.get(schema.ACNPInterval).N)
	k.ByRTT = r.cfg.Text(l.get(schema.ASlowedBy)) == "rtt"
	k.Consumers, k.QPs, k.CrossRail = r.consumers(l.get(schema.AConsumers)), uint16(l.get(schema.AQPs).N), l.get(schema.ACrossRail).N == 1
	for _, v := range r.cfg.List(l.get(schema.AMonitor)) {
		k.Monitor |= watched[r.cfg.Text(v)]
	}
	k.Baseline = r.text(l.get(schema.ABaseline))
	if v := l.get(schema.AFallback); v.Kind != lang.Absent {
		k.Fallback = fabric.Fallback{
			Written: true, TCP: r.cfg.Text(r.cfg.Field(v, schema.ATo)) == "tcp",
			Tested: r.cfg.Field(v, schema.ATested).N == 1, Alarm: r.cfg.Field(v, schema.AAlarm).N == 1,
		}
	}
	return k
}

// predeclareUntrusted makes qos.untrusted: one lossy class, marks ignored.
func (r *resolver) predeclareUntrusted() {
	for id := range r.f.QoS {
		if id > 0 && r.f.Text(r.f.QoS[id].Name) == "untrusted" {
			r.f.QoS[id].Untrusted = true
			r.untrusted = fabric.QoSID(id)
			return
		}
	}
	r.untrusted = fabric.QoSID(len(r.f.QoS))
	r.f.QoS = append(r.f.QoS, fabric.QoS{
		Name: r.f.Names.Add("untrusted"), Address: r.f.Names.Add("qos.untrusted"), Trust: fabric.TrustNone, Untrusted: true,
		Classes: []fabric.Class{{Name: r.f.Names.Add("default"), Default: true, Percent: 100, PercentSet: true}},
	})
}

func (r *resolver) ecn(v lang.Value) fabric.ECN {
	switch {
	case v.Kind == lang.Absent:
		return fabric.ECN{}
	case r.cfg.IsWord(v, "off"):
		return fabric.ECN{Mode: fabric.Off}
	case r.cfg.IsWord(v, "auto"):
		return fabric.ECN{Mode: fabric.Auto}
	case r.cfg.IsWord(v, "keep"):
		return fabric.ECN{Mode: fabric.Keep}
	}
	e := fabric.ECN{Mode: fabric.Written}
	if x := r.cfg.Field(v, schema.AMin); x.Kind == lang.Int {
		e.MinBytes = uint32(x.N)
	}
	if x := r.cfg.Field(v, schema.AMax); x.Kind == lang.Int {
		e.MaxBytes = uint32(x.N)
	}
	if x := r.cfg.Field(v, schema.AProbability); x.Kind == lang.Int || x.Kind == lang.Percent {
		e.Probability = uint8(x.N)
	}
	return e
}

// unmarked are the colours beside those that are marked.
func (r *resolver) unmarked(marked lang.Value) fabric.Colors {
	rest := fabric.Green | fabric.Yellow | fabric.Red
	for _, c := range r.cfg.List(marked) {
		rest &^= map[string]fabric.Colors{"green": fabric.Green, "yellow": fabric.Yellow, "red": fabric.Red}[r.cfg.Text(c)]
	}
	return rest
}

func (r *resolver) watchdog(v lang.Value) fabric.Watchdog {
	switch {
	case v.Kind == lang.Absent:
		return fabric.Watchdog{}
	case r.cfg.IsWord(v, "off"):
		return fabric.Watchdog{Mode: fabric.Off}
	case r.cfg.IsWord(v, "auto"):
		return fabric.Watchdog{Mode: fabric.Auto}
	case r.cfg.IsWord(v, "keep"):
		return fabric.Watchdog{Mode: fabric.Keep}
	}
	ms := func(n schema.Attr) uint32 { return uint32(r.cfg.Field(v, n).N / 1000) }
	actions := map[string]fabric.WatchdogAction{"drop": fabric.Drop, "forward": fabric.Forward, "alert": fabric.Alert}
	return fabric.Watchdog{
		Mode: fabric.Written, DetectMs: ms(schema.ADetect), RestoreMs: ms(schema.ARestore), PollMs: ms(schema.APoll),
		Action: actions[r.cfg.Text(r.cfg.Field(v, schema.AAction))],
	}
}

func (r *resolver) dcbx(v lang.Value) fabric.DCBX {
	modes := map[string]fabric.DCBXMode{"off": fabric.DCBXOff, "advertise": fabric.DCBXAdvertise, "willing": fabric.DCBXWilling}
	if v.Kind == lang.Word || v.Kind == lang.Text {
		return fabric.DCBX{Mode: modes[r.cfg.Text(v)]}
	}
	x := fabric.DCBX{Mode: modes[r.cfg.Text(r.cfg.Field(v, schema.AMode))]}
	if version := r.cfg.Field(v, schema.AVersion); version.Kind != lang.Absent {
		x.VersionSet, x.CEE = true, r.cfg.Text(version) == "cee"
	}
	owners := map[string]fabric.Owner{"os": fabric.OwnerOS, "firmware": fabric.OwnerFirmware, "lldpad": fabric.OwnerLLDPAD}
	for i, owner := range r.cfg.List(r.cfg.Field(v, schema.AOwner)) {
		x.Owner, x.Rivals = owners[r.cfg.Text(owner)], i > 0
	}
	return x
}

func (r *resolver) ratio(v lang.Value) fabric.Ratio {
	if v.Kind == lang.Absent {
		return fabric.Ratio{}
	}
	q := r.cfg.Fraction(v)
	return fabric.Ratio{Num: int32(q.Num), Den: int32(q.Den)}
}

func trustOf(s string) fabric.Trust {
	return map[string]fabric.Trust{"dscp": fabric.TrustDSCP, "pcp": fabric.TrustPCP, "none": fabric.TrustNone}[s]
}

func transportOf(s string) fabric.Transport {
	return map[string]fabric.Transport{"roce_v2": fabric.RoCEv2, "roce_v1": fabric.RoCEv1, "iwarp": fabric.IWARP}[s]
}

func carriesOf(s string) fabric.Carries {
	return map[string]fabric.Carries{"rdma": fabric.CarriesRDMA, "cnp": fabric.CarriesCNP, "cluster": fabric.CarriesCluster, "other": fabric.CarriesOther}[s]
}

// watched are the words for what is watched of a class.
var watched = map[string]fabric.Watched{
	"pause": fabric.WatchPause, "ecn": fabric.WatchECN, "cnp": fabric.WatchCNP, "discards": fabric.WatchDiscards, "latency": fabric.WatchLatency,
}
