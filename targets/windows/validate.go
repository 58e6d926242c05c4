package windows

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// validate emits a configuration for Microsoft's Validate-DCB, which compares a
// host with its own rules. It knows three policies at least (Default, Cluster,
// NetworkDirect), a VLAN on every RDMA adapter, and pinned vNICs; a host that
// is outside that gets no file. Only keys the tool takes are written.
func validate(d *intent.Device, out *emit.Out) {
	q := hostQoS(d, false)
	if q == nil || !q.Sched.IsSet() || !validatable(d, q) {
		return
	}
	f := out.File(validateFile, 0o644, emit.Data)
	f.CRLF()
	f.Run(`Assert-DCBValidation -ConfigFilePath .\` + validateFile + " -TestScope All")
	header(f, d)
	b := &block{f: f, d: d, q: q}
	b.open(intent.Path{}, "$Global:configData = @{")
	b.open(intent.Path{}, "AllNodes = @(")
	b.open(intent.Path{}, "@{")
	b.set(intent.Path{Object: intent.OfDevice, Field: "name"}, "NodeName", quote(d.Name))
	b.set(intent.Path{}, "Role", "'Storage'")
	var direct, disabled []*intent.Port
	for i := range d.Ports {
		p := &d.Ports[i]
		r := portRDMA(d, p)
		switch {
		case teamMember(d, p.Name):
		case r.Value:
			direct = append(direct, p)
		case r.IsSet():
			disabled = append(disabled, p)
		}
	}
	b.someRows("RDMAEnabledAdapters", len(direct), func(i int) {
		p := direct[i]
		id, _ := vlanID(d, p)
		jumbo := ""
		if mtu, managed := portMTU(d, p); managed {
			jumbo = fmt.Sprintf("; JumboPacket = %d", int(mtu)+ethernetHeader)
		}
		b.row(intent.Path{Object: intent.OfPort, Name: p.Name}, fmt.Sprintf("Name = %s; VLANID = %d%s", quote(p.Name), id, jumbo))
	})
	b.someRows("RDMADisabledAdapters", len(disabled), func(i int) {
		b.row(intent.Path{Object: intent.OfPort, Name: disabled[i].Name, Field: "rdma"}, "Name = "+quote(disabled[i].Name))
	})
	b.someRows("VMSwitch", len(d.LAGs), func(i int) { b.validateSwitch(&d.LAGs[i]) })
	b.close("}")
	b.close(")")
	b.open(intent.Path{}, "NonNodeData = @{")
	b.rows("NetQos", len(q.Marks), func(i int) { b.validatePolicy(q, &q.Marks[i]) })
	b.close("}")
	b.close("}")
}

// someRows leaves out an empty list: the tool takes a missing key for none.
func (b *block) someRows(key string, n int, write func(int)) {
	if n > 0 {
		b.rows(key, n, write)
	}
}

// validatable reports whether Validate-DCB can express the host.
func validatable(d *intent.Device, q *intent.QoS) bool {
	seen := map[uint8]bool{}
	kinds := map[string]bool{}
	for i := range q.Marks {
		m := &q.Marks[i]
		k := matches(m)
		tc := queueOf(q, m.Priority)
		// Each policy has a class of its own there.
		if len(k) != 1 || k[0] == matchTCP || k[0] == matchUDP || seen[tc] {
			return false
		}
		seen[tc], kinds[k[0]] = true, true
	}
	sum := 0
	for _, s := range q.Sched.Value {
		sum += int(s.Percent)
	}
	// A strict class has no share, and the tool wants one of every policy.
	if sum != 100 || strictQueue(q) || !kinds[matchDefault] || !kinds[matchCluster] || !kinds[matchNetDirect] || len(seen) < servedQueues(q) {
		return false
	}
	rdma := 0
	for i := range d.Ports {
		p := &d.Ports[i]
		if !portRDMA(d, p).Value || teamMember(d, p.Name) {
			continue
		}
		rdma++
		if id, _ := vlanID(d, p); id == 0 {
			return false
		}
	}
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		if f.Kind != intent.VNIC || !f.RDMA {
			continue
		}
		rdma++
		if f.Pin == "" || vnicVLAN(d, f) == 0 {
			return false
		}
	}
	return rdma > 0
}

func strictQueue(q *intent.QoS) bool {
	return slices.ContainsFunc(q.Sched.Value[:], func(s intent.Sched) bool { return s.Kind == intent.SchedStrict })
}

func servedQueues(q *intent.QoS) int {
	n := 0
	for _, s := range q.Sched.Value {
		if s.Kind != intent.SchedIdle {
			n++
		}
	}
	return n
}

func (b *block) validateSwitch(l *intent.LAG) {
	var rdma, other []*intent.Iface
	for i := range b.d.Ifaces {
		f := &b.d.Ifaces[i]
		switch {
		case f.Kind != intent.VNIC || f.On != l.Name || f.Pin == "":
		case f.RDMA:
			rdma = append(rdma, f)
		case !slices.ContainsFunc(b.d.Ifaces, func(o intent.Iface) bool { return o.RDMA && o.Pin == f.Pin }):
			other = append(other, f)
		}
	}
	b.open(intent.Path{Object: intent.OfLAG, Name: l.Name}, "@{")
	b.set(intent.Path{}, "Name", quote(l.Name))
	b.set(intent.Path{}, "EmbeddedTeamingEnabled", "$true")
	b.set(intent.Path{}, "LoadBalancingAlgorithm", "'HyperVPort'")
	b.rows("RDMAEnabledAdapters", len(rdma), func(i int) {
		f := rdma[i]
		jumbo := ""
		if f.MTU.IsSet() {
			jumbo = "; JumboPacket = " + strconv.Itoa(int(f.MTU.Value)+ethernetHeader)
		}
		b.row(intent.Path{Object: intent.OfIface, Name: f.Name}, fmt.Sprintf("Name = %s; VMNetworkAdapter = %s; VLANID = %d%s", quote(f.Pin), quote(f.Name), vnicVLAN(b.d, f), jumbo))
	})
	b.someRows("RDMADisabledAdapters", len(other), func(i int) {
		b.row(intent.Path{Object: intent.OfIface, Name: other[i].Name}, fmt.Sprintf("Name = %s; VMNetworkAdapter = %s", quote(other[i].Pin), quote(other[i].Name)))
	})
	b.close("}")
}

func (b *block) validatePolicy(q *intent.QoS, m *intent.Mark) {
	match := "Template = " + quote(matches(m)[0])
	if m.NetDirectPort > 0 {
		match = fmt.Sprintf("NetDirectPortMatchCondition = %d", m.NetDirectPort)
	}
	percent := q.Sched.Value[queueOf(q, m.Priority)].Percent
	b.row(intent.Path{Object: intent.OfQoS, Name: q.Name, Field: "class." + m.Class}, fmt.Sprintf(
		"Name = %s; %s; PriorityValue8021Action = %d; BandwidthPercentage = %d; Algorithm = 'ETS'", quote(policyName(m)), match, m.Priority, percent))
}
