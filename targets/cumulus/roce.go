package cumulus

import "github.com/rocec/rocec/compiler/intent"

// roceCableMm is the length of cable that the RoCE mode assumes [RoCE, nv show qos roce].
const roceCableMm = 100_000

// Thresholds of the RoCE mode, in bytes and percent.
const roceMin, roceMax, roceProbability = 150_000, 1_500_000, 100

// isRoCE reports whether nv set qos roce, mode lossless, says exactly what the
// intent says, on every port of the device: DSCP n on priority n/8 and PCP 1:1,
// priorities 3 and 6 on queues of their own, half of the port each for queues 0
// and 3 and 6 strict, marking on queues 0 and 3, PFC on priority 3 with 100 m
// of cable, and the DCBX TLVs. The mode trusts both marks, DSCP first, which is
// what a port that trusts DSCP with the PCP map 1:1 says. It is not used where a
// port has no QoS, other QoS, or is only verified, as it speaks for all ports.
// The other modes are always written out. [RoCE, Default RoCE Configuration]
func isRoCE(d *intent.Device) bool {
	if len(d.Ports) == 0 {
		return false
	}
	known := map[string]bool{}
	for i := range d.Ports {
		p := &d.Ports[i]
		if p.Verify || !p.CableMm.IsSet() || p.CableMm.Value != roceCableMm {
			return false
		}
		is, ok := known[p.QoS]
		if !ok {
			q := d.QoSNamed(p.QoS)
			is = q != nil && saysRoCE(q)
			known[p.QoS] = is
		}
		if !is {
			return false
		}
	}
	return true
}

func saysRoCE(q *intent.QoS) bool {
	for mark, p := range q.DSCP.Value {
		if int(p) != mark/8 {
			return false
		}
	}
	for mark, p := range q.PCP.Value {
		if int(p) != mark {
			return false
		}
	}
	mark := intent.ECN{On: true, MinBytes: roceMin, MaxBytes: roceMax, Probability: roceProbability}
	half := intent.Sched{Kind: intent.SchedETS, Percent: 50}
	return q.Trust.IsSet() && q.Trust.Value == intent.TrustDSCP && q.DSCP.IsSet() && q.PCP.IsSet() &&
		q.TC.IsSet() && q.TC.Value == [8]uint8{3: 3, 6: 6} &&
		q.PFC.IsSet() && q.PFC.Value == 1<<3 &&
		q.Sched.IsSet() && q.Sched.Value == [8]intent.Sched{0: half, 3: half, 6: {Kind: intent.SchedStrict}} &&
		q.ECN.IsSet() && q.ECN.Value == [8]intent.ECN{0: mark, 3: mark} &&
		q.DCBX.IsSet() && q.DCBX.Value.Mode == "advertise" && !q.Rewrite.IsSet()
}

// hasRoCE reports whether a switch has the RoCE mode on: naming it does that [RoCE].
func hasRoCE(root *node) bool {
	n := root.get("qos", "roce")
	return n != nil && n.value("state") != "disabled" && n.value("enable") != "off"
}
