package resolve

import (
	"fmt"
	"math/bits"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// What `observed` says of a device that rocec does not write serves the proofs. Of one
// that it writes, what its settings decide is theirs: an observation that says otherwise
// is an error, as one of the two is wrong. What rocec never writes is taken as it was
// seen on every device.

// found lays over a profile what was seen of a port.
func (r *resolver) found(prof *fabric.Profile, p fabric.PortID, s *scope, host bool) {
	full := r.f.Ports[p].Manage == fabric.Full
	if v := s.get(schema.APFCDirection); v.Kind != lang.Absent {
		way := map[string]fabric.Direction{"receive": fabric.ReceiveOnly, "send": fabric.SendOnly}[r.cfg.Text(v)]
		if !full {
			prof.Direction = way
		} else if way != fabric.BothWays && prof.PFC != 0 {
			r.contradicts(fmt.Sprintf("pfc_direction of port %s is %q, and rocec turns PFC on in both directions", r.f.PortName(p), r.cfg.Text(v)),
				r.f.PortLabel(p, schema.APFCDirection, ""), r.lossless(prof, p))
		}
	}
	if prof.DCBX.Rivals && full {
		r.fail(fmt.Sprintf("dcbx of port %s has several owners, and rocec writes one", r.f.PortName(p)),
			`name the one that shall own it, or set manage = "verify"`, r.f.PortLabel(p, schema.ADCBX, ""))
	}
	if host {
		r.foundToS(prof, p, s, full)
		r.foundDCQCN(prof, p, s, full)
		return
	}
	if full && s.get(schema.ASemiLossless).N == 1 && prof.PFC != 0 {
		r.contradicts(fmt.Sprintf("switch %s is semi-lossless, and rocec turns PFC on for port %s", r.f.Text(r.f.Devices[r.f.Ports[p].Device].Name), r.f.PortName(p)),
			r.f.PortLabel(p, schema.ASemiLossless, ""), r.lossless(prof, p))
	}
	r.foundColors(prof, p, s, full)
	if v := s.get(schema.ARemark); v.Kind != lang.Absent {
		prof.Remarks = true
		for d := range prof.Remark {
			prof.Remark[d] = uint8(d)
		}
		for _, e := range r.cfg.Pairs(v) {
			prof.Remark[e.Key.N&63] = uint8(e.Val.N) & 63
		}
	}
}

// foundToS takes the ToS byte that a host was seen to write. rocec writes that of the
// contract's RDMA, but for what applications mark.
func (r *resolver) foundToS(prof *fabric.Profile, p fabric.PortID, s *scope, full bool) {
	v := s.get(schema.AToS)
	if v.Kind == lang.Absent {
		return
	}
	if !full {
		prof.ToSSet, prof.ToS = true, uint8(v.N)
		return
	}
	var class *fabric.Class
	q := &r.f.QoS[prof.QoS]
	for i := range q.Classes {
		switch c := &q.Classes[i]; {
		case c.Carries != fabric.CarriesRDMA:
		case c.MarkByApplication || c.DSCP == 0 || c.DSCP>>(v.N>>2&63)&1 == 1:
			return
		case class == nil:
			class = c
		}
	}
	if class != nil && prof.Trust == fabric.TrustDSCP {
		r.contradicts(fmt.Sprintf("tos of nic %s is %d, which is DSCP %d, and rocec writes that of class %s: DSCP %d", r.f.PortName(p), v.N, v.N>>2, r.f.Text(class.Name), bits.TrailingZeros64(class.DSCP)),
			r.f.PortLabel(p, schema.AToS, ""), r.f.Label(class.Decl, 0, schema.ADSCP, "the class"))
	}
}

// foundDCQCN takes the priorities on which a NIC was seen to answer marks. rocec writes
// those of classes that say how they are slowed down, and leaves the others alone.
func (r *resolver) foundDCQCN(prof *fabric.Profile, p fabric.PortID, s *scope, full bool) {
	v := s.get(schema.ADCQCN)
	if v.Kind == lang.Absent {
		return
	}
	prof.DCQCNSet, prof.DCQCN = true, r.prioritySet(v)
	q := &r.f.QoS[prof.QoS]
	for i := range q.Classes {
		c := &q.Classes[i]
		on := c.Congestion == fabric.DCQCN
		if !full || !c.CongestionSet || on == (prof.DCQCN>>c.Priority&1 == 1) || !on && c.Congestion != fabric.Receiver {
			continue
		}
		prof.DCQCN ^= 1 << c.Priority
		is, wants := "on", "off"
		if on {
			is, wants = "off", "on"
		}
		r.contradicts(fmt.Sprintf("dcqcn of nic %s is %s for priority %d, and rocec turns it %s for class %s", r.f.PortName(p), is, c.Priority, wants, r.f.Text(c.Name)),
			r.f.PortLabel(p, schema.ADCQCN, ""), r.f.Label(c.Decl, 0, schema.ACongestion, "the class"))
	}
}

// foundColors takes the colours that a switch was seen to mark. rocec has it mark all.
func (r *resolver) foundColors(prof *fabric.Profile, p fabric.PortID, s *scope, full bool) {
	v := s.get(schema.AECNColors)
	if v.Kind == lang.Absent {
		v = r.cfg.Field(s.get(schema.AECN), schema.AColors) // where it was written once
	}
	if v.Kind == lang.Absent {
		return
	}
	rest := r.unmarked(v)
	q := &r.f.QoS[prof.QoS]
	for k := range prof.ECN {
		if m := prof.ECN[k].Mode; m != fabric.Auto && m != fabric.Written {
			continue
		}
		if prof.ECN[k].Unmarked = rest; !full || rest == 0 {
			continue
		}
		prof.ECN[k].Unmarked = 0
		of := r.f.DeclLabel(q.Decl, "the qos")
		for i := range q.Classes {
			if c := &q.Classes[i]; int(c.Queue) == k {
				of = r.f.Label(c.Decl, 0, schema.AECN, "the class")
			}
		}
		n := schema.AECNColors
		if s.get(n).Kind == lang.Absent {
			n = schema.AECN
		}
		r.contradicts(fmt.Sprintf("port %s marks some colours only, and rocec writes ECN for all", r.f.PortName(p)), r.f.PortLabel(p, n, ""), of)
	}
}

// lossless is what makes a port pause: its own line, or a class.
func (r *resolver) lossless(prof *fabric.Profile, p fabric.PortID) diag.Label {
	if prof.Deviates&fabric.DeviatesPFC != 0 {
		return r.f.PortLabel(p, schema.APFC, "what rocec writes")
	}
	q := &r.f.QoS[prof.QoS]
	for i := range q.Classes {
		if c := &q.Classes[i]; c.Lossless {
			return r.f.Label(c.Decl, 0, schema.ALossless, "what rocec writes")
		}
	}
	return r.f.DeclLabel(q.Decl, "what rocec writes")
}

// foundPools compares the buffer that was seen with the one that rocec writes.
func (r *resolver) foundPools(d *fabric.Device, base *scope) {
	if d.Manage != fabric.Full {
		return
	}
	for _, x := range []struct {
		name         string
		seen, wanted uint64
	}{{"the shared pool", d.Pools.IngressBytes, d.Buffer.SharedBytes}, {"the shared headroom pool", d.Pools.HeadroomBytes, d.Buffer.HeadroomBytes}} {
		if x.seen != 0 && x.wanted != 0 && x.seen != x.wanted {
			r.contradicts(fmt.Sprintf("%s of switch %s has %d B, and rocec writes %d B", x.name, r.f.Text(d.Name), x.seen, x.wanted),
				r.f.Label(d.Decl, base.id, schema.APools, ""), r.f.Label(d.Decl, base.id, schema.ABuffer, "what rocec writes"))
		}
	}
}

// contradicts refuses what was seen and is not what rocec writes; once for two lines.
func (r *resolver) contradicts(summary string, seen, setting diag.Label) {
	key := [2]source.Span{seen.Span, setting.Span}
	if r.contradicted[key] {
		return
	}
	if r.contradicted == nil {
		r.contradicted = map[[2]source.Span]bool{}
	}
	r.contradicted[key] = true
	r.fail(summary, `leave out what is no longer so, or set manage = "verify"`, seen, setting)
}

// macsec reads what is known of encryption.
func (r *resolver) macsec(v lang.Value) fabric.MACsec {
	switch {
	case v.Kind == lang.Absent:
		return fabric.MACsecUnset
	case r.cfg.IsWord(v, "off"):
		return fabric.MACsecOff
	case r.cfg.IsWord(v, "on"):
		return fabric.MACsecOn
	}
	switch r.cfg.Text(r.cfg.Field(v, schema.APFCFrames)) {
	case "clear":
		return fabric.MACsecClear
	case "protected":
		return fabric.MACsecProtected
	}
	return fabric.MACsecOn
}

// floodClass refuses a class of floods that the segment's qos does not have.
func (r *resolver) floodClass(b lang.BlockID, s *fabric.Segment) {
	if s.FloodClass == 0 {
		return
	}
	for i := range r.f.QoS[s.Contract()].Classes {
		if r.f.QoS[s.Contract()].Classes[i].Name == s.FloodClass {
			return
		}
	}
	at := r.at(b, schema.AFloodClass, "")
	if s.Contract() == 0 {
		r.fail(fmt.Sprintf("flood_class of segment %s is %s, and the segment has no qos", r.f.Text(s.Name), r.f.Text(s.FloodClass)), "write qos on the segment", at)
		return
	}
	r.fail(fmt.Sprintf("flood_class of segment %s is %s, which qos %s does not have", r.f.Text(s.Name), r.f.Text(s.FloodClass), r.f.Text(r.f.QoS[s.Contract()].Name)),
		"name a class of its qos", at, r.f.DeclLabel(r.f.QoS[s.Contract()].Decl, "its qos"))
}
