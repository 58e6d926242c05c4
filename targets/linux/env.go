package linux

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// environment is what an application has to be told to use one class of RDMA.
type environment struct {
	class   string
	qos     string // one that has it
	tos     uint8
	marked  bool  // tos is known
	prio    uint8 // the service level, where switches classify by PCP
	pcp     bool
	version string   // of RoCE
	own     bool     // the application marks, not rdma_cm
	devices []string // DEVICE=NETDEV/NETDEV...: what has the address, and what may have the RDMA device
	port    string   // the first
	gpus    []string // beside which they are, in order; none where no port says so
	away    []string // devices that are beside no GPU while others are
	v4, v6  bool     // families of the addresses on its devices
}

// agrees reports whether one file serves both.
func (e *environment) agrees(o *environment) bool {
	return e.tos == o.tos && e.marked == o.marked && e.prio == o.prio && e.pcp == o.pcp && e.version == o.version && e.own == o.own
}

// byGPU are the ports in the order of the GPUs beside them, as collective
// libraries count GPUs, then those that name none.
func (h *host) byGPU() []*intent.Port {
	list := make([]*intent.Port, len(h.Ports))
	for i := range h.Ports {
		list[i] = &h.Ports[i]
	}
	slices.SortStableFunc(list, func(a, b *intent.Port) int {
		x, y := gpuOf(a), gpuOf(b)
		if x == "" || y == "" {
			return cmp.Compare(y, x) // a name is more than none
		}
		return intent.Natural(x, y)
	})
	return list
}

func gpuOf(p *intent.Port) string {
	if p.NIC == nil {
		return ""
	}
	return p.NIC.GPU
}

// classes are the environments of a host, in the order of its ports, by GPU,
// and their classes. Where two ports differ, clash is told.
func (h *host) classes(clash func(a, b *environment)) []*environment {
	var list []*environment
	for _, p := range h.byGPU() {
		q := h.qos[p.QoS]
		if q == nil || p.Verify || !h.rdma(p) || p.NIC.IWARP {
			continue
		}
		for _, m := range q.Marks {
			if m.Carries != "rdma" || m.Transport == "iwarp" {
				continue
			}
			e := &environment{
				class: m.Class, qos: q.Name, pcp: q.Trust.Or("") == intent.TrustPCP, version: p.NIC.RoCE.Or("v2"), own: m.Application, port: p.Name,
			}
			e.tos, e.marked = classTOS(q, m)
			if e.pcp {
				e.prio = m.Priority
			}
			at := slices.IndexFunc(list, func(o *environment) bool { return o.class == e.class })
			if at < 0 {
				list = append(list, e)
				at = len(list) - 1
			} else if !list[at].agrees(e) {
				clash(list[at], e)
			}
			list[at].add(gpuOf(p), h.rdmaDevices(p))
			list[at].families(h.Ifaces, h.carries(p))
		}
	}
	return list
}

// add takes the devices of a port that is beside a GPU, or of none: traffic
// between GPUs has no business on those while others are beside one.
func (e *environment) add(gpu string, devices []string) {
	into := &e.devices
	switch {
	case gpu != "" && !slices.Contains(e.gpus, gpu):
		e.gpus = append(e.gpus, gpu)
	case gpu == "" && len(e.gpus) > 0:
		into = &e.away
	}
	for _, d := range devices {
		if !slices.Contains(e.devices, d) && !slices.Contains(e.away, d) {
			*into = append(*into, d)
		}
	}
}

// families takes those of the addresses that are on a carrier for RDMA.
func (e *environment) families(ifaces []intent.Iface, carrier string) {
	for i := range ifaces {
		f := &ifaces[i]
		if f.On != carrier || !f.RDMA {
			continue
		}
		for _, a := range f.Addresses.Or(nil) {
			e.v4, e.v6 = e.v4 || a.Addr().Is4(), e.v6 || a.Addr().Is6()
		}
	}
}

// classTOS is the TOS byte of a class of RDMA, and whether it has one. An
// application may set any DSCP that leads to its priority and to no other
// class's; it is told the lowest.
func classTOS(q *intent.QoS, m intent.Mark) (uint8, bool) {
	if m.DSCP.IsSet() || !m.Application {
		return tos(m), m.DSCP.IsSet() || m.ECT
	}
	if !q.DSCP.IsSet() || slices.ContainsFunc(q.Marks, func(o intent.Mark) bool { return o.Class != m.Class && o.Priority == m.Priority }) {
		return 0, false
	}
	d := slices.Index(q.DSCP.Value[:], m.Priority)
	if d < 0 {
		return 0, false
	}
	m.DSCP = intent.Some(uint8(d))
	return tos(m), true
}

func (h *host) rdmaDevices(p *intent.Port) []string {
	carrier := h.carries(p)
	names := carrier
	if b := h.bond[p.Name]; b != nil {
		names += "/" + strings.Join(b.Members, "/")
	}
	var list []string
	for i := range h.Ifaces {
		if f := &h.Ifaces[i]; f.RDMA && f.On == carrier {
			list = append(list, device(f)+"="+names)
		}
	}
	if len(list) == 0 {
		list = append(list, carrier+"="+names)
	}
	return list
}

// environments writes a file of variables for each class of RDMA, in the form
// that systemd, containers and shells read alike: no quotes. What changes from
// boot to boot, names of RDMA devices and indexes of GIDs, rocec-env adds.
//
// NCCL_IB_TC and UCX_IB_TRAFFIC_CLASS are the whole TOS byte, NCCL_IB_SL and
// UCX_IB_SL the priority that a tagged frame gets (NVIDIA NCCL user guide,
// environment variables; openucx/ucx src/uct/ib/base/ib_iface.c). NCCL looks for a
// GID of IPv4 unless NCCL_IB_ADDR_FAMILY says otherwise, and without one takes the
// first, of fe80 and RoCE v1 (the same guide, since 2.21); UCX looks for both. nvme --tos is
// the same byte (Linux drivers/nvme/host/rdma.c, rdma_set_service_type). Of
// ROCEC_PORTS rocec-env makes NCCL_IB_HCA, exact names with their ports, and
// UCX_NET_DEVICES, in this order.
func (h *host) environments(out *emit.Out) []placed {
	var files []placed
	for _, e := range h.classes(func(*environment, *environment) {}) {
		name := "env/" + e.class + ".env"
		files = append(files, placed{name, placeOf(name), 0o644})
		f := out.File(name, 0o644, emit.Data)
		h.header(f)
		h.environment(f, e)
	}
	return files
}

func (h *host) environment(f *emit.File, e *environment) {
	here, tos := at(intent.OfQoS, e.qos, "class."+e.class), itoa(e.tos)
	f.Put(here, "# For applications that use the class ", e.class, "; rocec-env ", e.class, " adds the names of the RDMA devices.")
	if len(e.gpus) > 0 {
		f.Put(at(intent.OfPort, e.port, "gpu"), "# In the order of the GPUs beside them: ", emit.Comment(strings.Join(e.gpus, ", ")))
	}
	for _, d := range e.away {
		name, _, _ := strings.Cut(d, "=")
		f.Put(here, "# Beside no GPU, and left out: ", name)
	}
	f.Put(here, "ROCEC_PORTS=", strings.Join(e.devices, ","))
	f.Put(at(intent.OfPort, e.port, "roce_mode"), "NCCL_IB_ROCE_VERSION_NUM=", strings.TrimPrefix(e.version, "v"))
	if e.v6 && !e.v4 {
		f.Put(here, "NCCL_IB_ADDR_FAMILY=AF_INET6")
	}
	if e.marked {
		f.Put(here, "NCCL_IB_TC=", tos)
		f.Put(here, "UCX_IB_TRAFFIC_CLASS=", tos)
	}
	if e.pcp {
		f.Put(here, "NCCL_IB_SL=", itoa(e.prio))
		f.Put(here, "UCX_IB_SL=", itoa(e.prio))
	}
	if !e.marked {
		return
	}
	f.Put(here, "# nvme connect --transport=rdma --tos=", tos, " ...")
	f.Put(here, "# ib_write_bw --tclass=", tos, ", or -R --tos=", tos)
	if e.own {
		f.Put(here, "# iSER, NFS and Lustre cannot be told: they get the default TOS of rdma_cm, which is not this class's")
		return
	}
	f.Put(here, "# iSER, NFS and Lustre take the default TOS of rdma_cm, which rocec-qos sets to ", tos)
}

// maxClassName keeps the name of an environment within what file systems take.
const maxClassName = 64

// plainName reports whether a class can name a file.
func plainName(s string) bool {
	if s == "" || len(s) > maxClassName || s[0] == '.' || s[0] == '-' {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}
