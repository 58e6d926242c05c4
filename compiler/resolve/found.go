package resolve

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// Some attributes say what a device does that rocec has no words for: they serve
// the proofs where it does not write the device, and are refused where it does,
// as nothing of them would reach it.

// found lays over a profile what is said of a port as found.
func (r *resolver) found(prof *fabric.Profile, p fabric.PortID, s *scope, host bool) {
	full := r.f.Ports[p].Manage == fabric.Full
	said := func(n schema.Attr) (lang.Value, bool) {
		v := s.get(n)
		if v.Kind != lang.Absent && full {
			r.foundAlone("port "+r.f.PortName(p), n.Name(), r.f.PortLabel(p, n, ""))
		}
		return v, v.Kind != lang.Absent
	}
	if v, ok := said(schema.APFCDirection); ok {
		prof.Direction = map[string]fabric.Direction{"receive": fabric.ReceiveOnly, "send": fabric.SendOnly}[r.cfg.Text(v)]
	}
	if prof.DCBX.Rivals && full {
		r.fail(fmt.Sprintf("dcbx of port %s has several owners, and rocec writes one", r.f.PortName(p)),
			`name the one that shall own it, or set manage = "verify"`, r.f.PortLabel(p, schema.ADCBX, ""))
	}
	if host {
		if v, ok := said(schema.AToS); ok {
			prof.ToSSet, prof.ToS = true, uint8(v.N)
		}
		if v, ok := said(schema.ADCQCN); ok {
			prof.DCQCNSet, prof.DCQCN = true, r.prioritySet(v)
		}
		return
	}
	if c := r.cfg.Field(s.get(schema.AECN), schema.AColors); c.Kind != lang.Absent && full {
		r.foundAlone("port "+r.f.PortName(p), "colors of ecn", r.f.PortLabel(p, schema.AECN, ""))
	}
	if v, ok := said(schema.AECNColors); ok {
		for q := range prof.ECN {
			if m := prof.ECN[q].Mode; m == fabric.Auto || m == fabric.Written {
				prof.ECN[q].Unmarked = r.unmarked(v)
			}
		}
	}
	if v, ok := said(schema.ARemark); ok {
		prof.Remarks = true
		for d := range prof.Remark {
			prof.Remark[d] = uint8(d)
		}
		for _, e := range r.cfg.Pairs(v) {
			prof.Remark[e.Key.N&63] = uint8(e.Val.N) & 63
		}
	}
}

func (r *resolver) foundAlone(of, what string, at diag.Label) {
	r.fail(fmt.Sprintf("%s of %s is taken as found, and rocec writes that device", what, of), `leave it out, or set manage = "verify"`, at)
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
