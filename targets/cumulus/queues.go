package cumulus

import (
	"fmt"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// queueConflict are two QoS values that put a priority in queues that the one map of the switch cannot both have.
type queueConflict struct {
	a, b     *intent.QoS
	priority uint8
}

// queueMap is the map from priorities to queues, of which a switch has one [Quality of Service, Egress Queues:
// default-global], made of those of its ports. A priority that no mark of a contract leads to is in the queue that the
// other ports have it in, where that is idle in the contract: what comes by those ports and leaves by its own then has
// a queue to itself, without a share, as a queue that the scheduler profile does not name has the weight 0
// [qos_features.conf; Quality of Service, Egress Scheduler].
func queueMap(d *intent.Device) (tc [8]uint8, set bool, bad *queueConflict) {
	var all []*intent.QoS
	met := map[string]bool{}
	for i := range d.Ports {
		p := &d.Ports[i]
		if q := d.QoSNamed(p.QoS); !p.Verify && !met[p.QoS] && q != nil && q.TC.IsSet() {
			all = append(all, q)
			met[p.QoS] = true
		}
	}
	for p := range uint8(8) {
		by := userOf(all, p)
		for _, q := range all {
			first := by
			if first == nil {
				first = all[0]
			}
			tc[p] = first.TC.Value[p]
			if q.TC.Value[p] != tc[p] && (by == nil || occupies(q, p) || !idle(q, tc[p])) {
				return tc, true, &queueConflict{q, first, p}
			}
		}
	}
	return tc, len(all) > 0, nil
}

// userOf is the first of some QoS values in which a priority is in use, nil if it is so in none.
func userOf(all []*intent.QoS, priority uint8) *intent.QoS {
	for _, q := range all {
		if occupies(q, priority) {
			return q
		}
	}
	return nil
}

// occupies reports whether frames that come in by a port of a QoS value can have a priority, or the port pauses for it.
func occupies(q *intent.QoS, priority uint8) bool {
	if q.PFC.Value.Has(priority) || q.Lossless.Has(priority) || !q.Trust.IsSet() {
		return true
	}
	switch q.Trust.Value {
	case intent.TrustDSCP:
		for _, p := range q.DSCP.Value {
			if p == priority {
				return true
			}
		}
		return false
	case intent.TrustPCP:
		for _, p := range q.PCP.Value {
			if p == priority {
				return true
			}
		}
		return false
	}
	return targets.Untrusted(q) == priority
}

// idle reports whether a queue has neither traffic nor a share in a QoS value.
func idle(q *intent.QoS, queue uint8) bool {
	for p := range uint8(8) {
		if q.TC.Value[p] == queue && occupies(q, p) {
			return false
		}
	}
	return q.Sched.IsSet() && q.Sched.Value[queue].Kind == intent.SchedIdle && !q.ECN.Value[queue].On
}

func (l *limit) queues(at func(*intent.QoS, string) intent.Path) bool {
	_, _, bad := queueMap(l.device)
	if bad == nil {
		return true
	}
	l.refuse(fmt.Sprintf("priority %d is in queue %d in qos %q and in queue %d in qos %q, and the switch has one map"+
		" from priorities to queues for all its ports",
		bad.priority, bad.a.TC.Value[bad.priority], bad.a.Name, bad.b.TC.Value[bad.priority], bad.b.Name),
		"write one queue_map for both, on the port or with classes on the same queues; ports that lead outward count too",
		at(bad.a, "queue_map"), at(bad.b, "queue_map"))
	return false
}
