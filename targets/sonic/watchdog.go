package sonic

import (
	"github.com/rocec/rocec/compiler/intent"
)

// Arithmetic of pfcwd start_default and pfcwd start (sonic-utilities
// pfcwd/main.py): the times grow with each started block of 32 ports, and a
// restoration time that is left out is twice the detection time.
const (
	watchdogStepMs  = 200
	watchdogPorts   = 32
	watchdogMaxPoll = 1000
	watchdogAction  = "drop"
)

// Ranges of sonic-pfcwd.yang, in milliseconds.
const (
	minDetect, maxDetect   = 100, 5000
	minRestore, maxRestore = 100, 60000
	minPoll, maxPoll       = 100, 1000
)

// ownTimes fills in what a watchdog leaves to the device.
func ownTimes(d *intent.Device, w intent.Watchdog) intent.Watchdog {
	own := watchdogStepMs * uint32(max(1, (len(d.Ports)-1)/watchdogPorts+1))
	switch {
	case w.DetectMs == 0 && w.RestoreMs == 0:
		w.DetectMs, w.RestoreMs = own, own
	case w.DetectMs == 0:
		w.DetectMs = own
	case w.RestoreMs == 0:
		w.RestoreMs = 2 * w.DetectMs
	}
	if w.Action == "" {
		w.Action = watchdogAction
	}
	return w
}

// pollMs is the one polling interval of the switch: what a watchdog asks for,
// else the device's own, but never longer than a time it has to measure.
func pollMs(d *intent.Device) uint32 {
	poll := min(watchdogStepMs*uint32(max(1, (len(d.Ports)-1)/watchdogPorts+1)), watchdogMaxPoll)
	for i := range d.QoS {
		if w := d.QoS[i].Watchdog; w.IsSet() && w.Value.On {
			if w.Value.PollMs > 0 {
				return w.Value.PollMs
			}
			own := ownTimes(d, w.Value)
			poll = min(poll, own.DetectMs, own.RestoreMs)
		}
	}
	return poll
}

func (b *builder) watchdog(x *binding, q *intent.QoS, at intent.Path) {
	w := ownTimes(b.device, q.Watchdog.Value)
	if !w.On {
		if emptySets(b.device) {
			x.port.set("pfcwd_sw_enable", "", at)
		}
		return
	}
	x.port.set("pfcwd_sw_enable", priorities(q.PFC.Or(q.Lossless)), at)
	x.watchdog = row{}
	x.watchdog.set("action", w.Action, at)
	x.watchdog.set("detection_time", decimal(w.DetectMs), at)
	x.watchdog.set("restoration_time", decimal(w.RestoreMs), at)
	b.normal.row("PFC_WD", "GLOBAL").set("POLL_INTERVAL", decimal(pollMs(b.device)), at)
}

// restarts reports whether a watchdog has to be stopped or to come after the
// patch, and sees to it. orchagent registers the queues of a port when its row
// comes, by the priorities of that moment, and keeps the action of a queue that is
// registered already: a row that changes in place, or a change of pfcwd_sw_enable,
// leaves both as they were [sonic-swss orchagent/pfcwdorch.cpp registerInWdDb,
// m_entryMap.emplace; orchagent/qosorch.cpp, setPortPfcWatchdogStatus]. pfcwd
// start takes a row away before it writes it too [sonic-utilities pfcwd/main.py
// verify_pfc_enable_status_per_port].
func (m *merge) restarts(port string, r row) bool {
	have, old := m.db.rows("PFC_WD")[port], m.db.value("PORT_QOS_MAP", port, "pfcwd_sw_enable")
	same := m.want.normal.at("PORT_QOS_MAP", port)["pfcwd_sw_enable"].value == old
	if have == nil && (same || old == "") {
		return false
	}
	for field, c := range r {
		same = same && text(have[field]) == c.value
	}
	if same {
		return true
	}
	m.stop(port)
	for field := range have { // what is not written here stays
		m.loads.row("PFC_WD", port).set(field, text(have[field]), intent.Path{})
	}
	for field, c := range r {
		m.loads.row("PFC_WD", port)[field] = c
	}
	return true
}

// stop takes the watchdog off a port by its own command [sonic-utilities
// pfcwd/main.py stop].
func (m *merge) stop(port string) {
	for field := range m.db.rows("PFC_WD")[port] {
		m.stops.row("PFC_WD", port).set(field, m.db.value("PFC_WD", port, field), intent.Path{Object: intent.OfPort, Name: port, Field: "qos"})
	}
}
