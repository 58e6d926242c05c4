package lower

import (
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// nic is the host side of a port; managed says that its QoS is.
func (b *builder) nic(p fabric.PortID, managed bool) *intent.NIC {
	port := &b.f.Ports[p]
	nic := &b.f.NICs[port.NIC]
	model := &b.f.NICModels[nic.Model]
	out := &intent.NIC{
		Model: b.f.Text(model.Name), Driver: b.f.Text(model.Driver), PCI: b.f.Text(nic.PCI), MAC: b.f.Text(nic.MAC),
		Adapter: b.f.Text(nic.Adapter), GPU: b.f.Text(nic.GPU), Firmware: b.f.Text(nic.Firmware), DriverV: b.f.Text(nic.Driver), Facts: numbers(model),
	}
	if v := nic.VFs; v.Set {
		out.VFs = intent.Some(intent.VFs{Count: v.Count, Mode: b.f.Text(v.Mode), RDMA: v.RDMA, Trust: v.Trust, VLAN: b.f.Segments[v.Segment].VLAN})
	}
	if mode := b.f.Text(nic.RoCE); mode != "" {
		out.RoCE = intent.Some(mode)
	}
	if nic.Storm.Set {
		out.StormMs = intent.Some(nic.Storm.Ms)
	}
	if managed {
		if b.f.Profiles[port.Profile].Kept&fabric.DeviatesDCBX == 0 {
			out.DCBX = intent.Some(b.hostDCBX(port))
		}
		b.transport(p, out)
	}
	return out
}

// numbers are a model's facts in plain units, with those that it states by name. What rules alone ask for is no matter of a device.
func numbers(m *fabric.NICModel) map[string]int64 {
	facts := make(map[string]int64, len(m.Facts)+2)
	for name, thousandths := range m.Facts {
		if name != fabric.FactCCGlobal {
			facts[name] = thousandths / 1000
		}
	}
	if m.TrafficClasses > 0 {
		facts["max_tc"] = int64(m.TrafficClasses)
	}
	if m.PFCPriorities > 0 {
		facts["pfc_priorities"] = int64(m.PFCPriorities)
	}
	if len(facts) == 0 {
		return nil
	}
	return facts
}

// hostDCBX is off unless the host restates it: the dcbx of a qos speaks for
// switch ports.
func (b *builder) hostDCBX(port *fabric.Port) intent.DCBX {
	profile := &b.f.Profiles[port.Profile]
	if profile.Deviates&fabric.DeviatesDCBX == 0 || profile.DCBX.Mode == fabric.DCBXUnset {
		return intent.DCBX{Mode: "off"}
	}
	return dcbxOf(profile.DCBX)
}

// transport says what RDMA runs on the port. Members of a SET team carry it for
// the team's virtual NICs, which say so themselves.
func (b *builder) transport(p fabric.PortID, out *intent.NIC) {
	port := &b.f.Ports[p]
	var v1, v2 bool
	var asked uint16
	for _, c := range b.f.QoS[b.f.Profiles[port.Profile].QoS].Classes {
		if c.Carries != fabric.CarriesRDMA {
			continue
		}
		switch c.Transport {
		case fabric.IWARP:
			out.IWARP = true
			continue
		case fabric.RoCEv1:
			v1 = true
		default:
			v2 = true
		}
		asked = max(asked, c.RDMAMTU)
	}
	if !v1 && !v2 && !out.IWARP {
		return
	}
	if port.LAG == 0 || b.f.LAGs[port.LAG].Mode != fabric.SET {
		out.RDMA = intent.Some(true)
	}
	if !v1 && !v2 {
		return
	}
	if asked == 0 {
		asked = b.facts.Port(p).RDMAMTU
	}
	out.RDMAMTU = asked
	if !out.RoCE.IsZero() {
		return
	}
	out.RoCE = intent.Some("v2")
	if !v2 {
		out.RoCE = intent.Some("v1")
	}
}

// speaks reports whether there is anything to set or compare in a NIC.
func speaks(n *intent.NIC) bool {
	return n.PCI != "" || n.MAC != "" || n.Firmware != "" || n.DriverV != "" || n.IWARP ||
		!n.RDMA.IsZero() || !n.RoCE.IsZero() || !n.StormMs.IsZero() || !n.VFs.IsZero() || !n.DCBX.IsZero()
}

func dcbxOf(x fabric.DCBX) intent.DCBX {
	modes := [...]string{fabric.DCBXOff: "off", fabric.DCBXAdvertise: "advertise", fabric.DCBXWilling: "willing"}
	owners := [...]string{fabric.OwnerUnset: "", fabric.OwnerOS: "os", fabric.OwnerFirmware: "firmware", fabric.OwnerLLDPAD: "lldpad"}
	out := intent.DCBX{Mode: modes[x.Mode], Owner: owners[x.Owner]}
	if x.VersionSet {
		out.Version = "ieee"
		if x.CEE {
			out.Version = "cee"
		}
	}
	return out
}
