package linux

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// rdmaJSON is one link of rdma -j link show.
type rdmaJSON struct {
	Name   string `json:"ifname"`
	Port   uint16 `json:"port"`
	Netdev string `json:"netdev"`
}

// rdmaCM reads which ports have an RDMA device, and what rdma_cm uses on it.
func (r *reader) rdmaCM() {
	var links []rdmaJSON
	if !r.decode("rdma.json", &links) {
		return
	}
	files, _ := r.text("rdma_cm.txt")
	for i := range r.got.Ports {
		p := &r.got.Ports[i]
		k := slices.IndexFunc(links, func(k rdmaJSON) bool { return r.shares(p.Name, k.Netdev) })
		if w := r.want.port[p.Name]; k >= 0 || w != nil && w.NIC != nil && w.NIC.RDMA.IsSet() {
			p.NIC.RDMA = intent.Some(k >= 0)
		}
		if k < 0 {
			continue
		}
		port := "/sys/kernel/config/rdma_cm/" + links[k].Name + "/ports/" + strconv.Itoa(int(links[k].Port)) + "/"
		switch value(files, port+"default_roce_mode") {
		case "RoCE v2":
			p.NIC.RoCE = intent.Some("v2")
		case "IB/RoCE v1":
			p.NIC.RoCE = intent.Some("v1")
		}
		t, err := strconv.ParseUint(value(files, port+"default_roce_tos"), 0, 8)
		switch {
		case err == nil:
			r.rdmaMark(p, uint8(t))
		case r.class(p, "rdma").DSCP.IsSet():
			// rdma_cm has no folder for the device, so nobody has set its TOS: connections go out with 0
			// (drivers/infiniband/core/cma_configfs.c makes the files with the folder; cma.c: default_roce_tos starts as 0).
			r.rdmaMark(p, 0)
		}
	}
}

// shares: a port's RDMA device is on itself, or on its bond or a sibling.
func (r *reader) shares(port, netdev string) bool {
	if port == netdev {
		return true
	}
	b := r.want.bond[port]
	return b != nil && (b.Name == netdev || slices.Contains(b.Members, netdev))
}

// value finds a line FILE:VALUE as grep -H prints it.
func value(text, file string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), file+":"); ok {
			return v
		}
	}
	return ""
}

// qosOf finds the QoS of a port, or makes it.
func (r *reader) qosOf(p *intent.Port) *intent.QoS {
	if p.QoS == "" {
		p.QoS = p.Name
		r.got.QoS = append(r.got.QoS, intent.QoS{Name: p.Name})
	}
	for i := range r.got.QoS {
		if r.got.QoS[i].Name == p.QoS {
			return &r.got.QoS[i]
		}
	}
	return &intent.QoS{} // the name was just set: cannot happen
}

// class is the wanted class of what carries it, for its name and what no
// device shows.
func (r *reader) class(p *intent.Port, carries string) intent.Mark {
	if w := r.want.port[p.Name]; w != nil {
		if q := r.want.qos[w.QoS]; q != nil {
			for _, m := range q.Marks {
				if m.Carries == carries && !m.Application {
					return m
				}
			}
		}
	}
	return intent.Mark{Class: carries, Carries: carries}
}

func (r *reader) rdmaMark(p *intent.Port, tos uint8) {
	q := r.qosOf(p)
	m := r.class(p, "rdma")
	m.ECT = tos&3 == 2
	if tos>>2 != 0 || m.DSCP.IsSet() {
		m.DSCP = intent.Some(tos >> 2)
	}
	if q.DSCP.IsSet() {
		m.Priority = q.DSCP.Value[tos>>2]
	}
	for _, prio := range r.roce[p.Name] {
		if prio != m.Priority { // of several the firmware keeps one, which is not told
			m.Priority = prio
			break
		}
	}
	q.Marks = append(q.Marks, m)
}

// marks reads the mark of CNPs: OFED shows it in sysfs, the drivers of the kernel in debugfs.
func (r *reader) marks(p *intent.Port, q *intent.QoS) {
	ofed, _ := r.text(p.Name + "/ecn.txt")
	debug, _ := r.text("cc_params.txt")
	base := "/sys/class/net/" + p.Name + "/ecn/roce_np/"
	dscp, prio := value(ofed, base+"cnp_dscp"), value(ofed, base+"cnp_802p_prio")
	pci := p.NIC.PCI
	if w := r.want.port[p.Name]; pci == "" && w != nil && w.NIC != nil {
		pci = w.NIC.PCI
	}
	if dscp == "" && pci != "" {
		base = "/sys/kernel/debug/mlx5/" + pci + "/cc_params/"
		dscp, prio = value(debug, base+"np_cnp_dscp"), value(debug, base+"np_cnp_prio")
	}
	if bcm, _ := r.text("cc_config.txt"); dscp == "" && pci != "" {
		base = "/sys/kernel/debug/bnxt_re/" + pci + "/cc_config/"
		dscp, prio = value(bcm, base+"alt_vlan_dscp"), value(bcm, base+"alt_vlan_pcp")
	}
	d, err := strconv.ParseUint(dscp, 0, 8)
	if err != nil || d > 63 {
		return
	}
	n, err := strconv.ParseUint(prio, 0, 8)
	if err != nil || n > 7 {
		return
	}
	m := r.class(p, "cnp")
	m.DSCP, m.Priority = intent.Some(uint8(d)), uint8(n)
	q.Marks = append(q.Marks, m)
}
