package linux

import (
	"slices"

	"github.com/rocec/rocec/compiler/intent"
)

// How the families of adapters call themselves in intents.
const (
	mlx5  = "mlx5"
	ice   = "ice"
	bnxt  = "bnxt"
	qede  = "qede"
	cxgb4 = "cxgb4"
	rxe   = "rxe"
)

// family is what this target knows of a family of adapters.
type family struct {
	module string // that makes its RDMA devices
	dcb    bool   // the host sets trust, maps, ETS and PFC
	cable  bool   // takes the length of the cable
	caps   bool   // takes rate limits
	cnp    bool   // the host sets the mark of CNPs
	storms bool   // takes a time after which it stops pausing
	roce   []string
	iwarp  bool
	why    string // why the host cannot set DCB
}

// families rests on the DCB operations of the drivers: mlx5/core/en_dcbnl.c,
// bnxt/bnxt_dcb.c and ice/ice_dcb_nl.c set all. qed_dcbx.c takes settings only
// while DCBX runs with a switch, and no DSCP; cxgb4_dcb.c has no ieee_setets and
// no ieee_setpfc and says that the switch always dictates. CNPs: mlx5/cong.c,
// bnxt_re/debugfs.c; of irdma no source tells. RoCE and iWARP: drivers/infiniband/hw.
// Storms: mlx5/core/en_ethtool.c; bnxt_ethtool.c has it since fa18932afb29, after the
// kernels of the systems served, with a bound that only its firmware knows.
var families = map[string]family{
	mlx5: {module: "mlx5_ib", dcb: true, cable: true, caps: true, cnp: true, storms: true, roce: []string{"v1", "v2"}},
	bnxt: {module: "bnxt_re", dcb: true, cnp: true, roce: []string{"v1", "v2"}},
	ice:  {module: "irdma", dcb: true, roce: []string{"v2"}, iwarp: true},
	qede: {
		module: "qedr", roce: []string{"v1", "v2"}, iwarp: true,
		why: "qede takes DCB settings only from DCBX with the switch, and knows no DSCP",
	},
	cxgb4: {module: "iw_cxgb4", iwarp: true, why: "cxgb4 takes DCB settings only from the switch"},
	rxe:   {module: "rdma_rxe", roce: []string{"v2"}, why: "soft-RoCE has no queues and no PFC of its own"},
}

// familyNames are those that a refusal offers.
const familyNames = "mlx5, bnxt, ice, qede, cxgb4 or rxe"

func familyOf(p *intent.Port) family {
	if p.NIC == nil {
		return family{}
	}
	return families[p.NIC.Driver]
}

// reached are the priorities that a map of DSCPs leads to.
func reached(m [64]uint8) intent.PrioritySet {
	var set intent.PrioritySet
	for _, p := range m {
		set = set.With(p & 7)
	}
	return set
}

// ownClasses are the traffic classes of ice while it trusts DSCP: each priority
// has the class of its own number (ice_dcbnl_setapp). Classes of priorities that
// the map never gives stay idle. It is false where two priorities that the map
// gives share a class.
func ownClasses(q *intent.QoS) (tc [8]uint8, sched [8]intent.Sched, ok bool) {
	used := map[uint8]bool{}
	for i := range tc {
		tc[i] = uint8(i)
	}
	for _, p := range reached(q.DSCP.Value).List() {
		class := q.TC.Value[p] & 7
		if used[class] {
			return tc, sched, false
		}
		used[class] = true
		sched[p] = q.Sched.Value[class]
	}
	return tc, sched, true
}

// fewClasses are the traffic classes of bnxt, numbered from 0 without a gap:
// by the profile in its NVRAM an adapter has 8 of them or 3 (bnxt_ets_validate).
// Their order stays, and with it the rank of strict ones.
func fewClasses(q *intent.QoS) (tc [8]uint8, sched [8]intent.Sched) {
	var used [8]bool
	for _, class := range q.TC.Value {
		used[class&7] = true
	}
	var number [8]uint8
	next := uint8(0)
	for class := range number {
		if used[class] {
			number[class] = next
			sched[next] = q.Sched.Value[class]
			next++
		}
	}
	for prio, class := range q.TC.Value {
		tc[prio] = number[class&7]
	}
	return tc, sched
}

// classesOn are the traffic classes of a qos as the adapter of a port numbers them.
func classesOn(p *intent.Port, q *intent.QoS) (tc [8]uint8, sched [8]intent.Sched) {
	switch {
	case isOwn(p, q):
		tc, sched, _ = ownClasses(q)
	case p.NIC != nil && p.NIC.Driver == bnxt:
		tc, sched = fewClasses(q)
	default:
		tc, sched = q.TC.Value, q.Sched.Value
	}
	return tc, sched
}

// isOwn reports whether a port has the classes of ownClasses.
func isOwn(p *intent.Port, q *intent.QoS) bool {
	return p.NIC != nil && p.NIC.Driver == ice && q.Trust.Or("") == intent.TrustDSCP && q.DSCP.IsSet()
}

// rocePriority is the priority that bnxt gives to RoCE, one for a port: that of
// its RDMA classes. It is false where they have several.
func rocePriority(q *intent.QoS) (prio uint8, some, one bool) {
	for _, m := range q.Marks {
		if m.Carries != "rdma" || m.Transport == "iwarp" {
			continue
		}
		if some && m.Priority != prio {
			return 0, true, false
		}
		prio, some = m.Priority, true
	}
	return prio, some, true
}

// drivers are the families of the ports that carry RDMA, sorted.
func (h *host) drivers() []string {
	var list []string
	for i := range h.Ports {
		if p := &h.Ports[i]; h.rdma(p) && !slices.Contains(list, p.NIC.Driver) {
			list = append(list, p.NIC.Driver)
		}
	}
	slices.Sort(list)
	return list
}
