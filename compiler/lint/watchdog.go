package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on PFC that is about its watchdog.

var roce307 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE307", Name: "port_watchdog", Severity: diag.Error, Fixable: true,
		Title: "a switch port with PFC has no PFC watchdog that ends a storm",
		Why: "one NIC that pauses for ever stops its port, then every port that feeds it, then the fabric. A watchdog that only alerts " +
			"writes a log " +
			"line and touches no queue: the storm goes on",
		Fix: `leave watchdog at "auto", or give it times, and the action "drop"`,
		Source: "Guo et al., SIGCOMM 2016, 4.3; Bai et al., NSDI 2023, 3.1; sonic-net/sonic-swss orchagent/pfcwdorch.cpp at 0408e945, " +
			"startWdActionOnQueue (alert: a log line and counters); sonic-net/sonic-mgmt docs/pfcwd/PFCWD_MMU_Change.md (mitigation is drop " +
			"or forward)",
		Bad:  twoNodes(`watchdog = "off"`),
		Good: twoNodes(`watchdog = "auto"`),
	},
	Run: watchdogOff,
}

func watchdogOff(p *Pass) {
	f := p.Fabric
	p.EachProfile(func(e End, ports int) {
		w := e.Profile.Watchdog
		if e.Device.Kind != fabric.Switch || e.Profile.PFC == 0 || w.Mode == fabric.Keep {
			return
		}
		m := &f.Models[e.Device.Model]
		has, known := m.Watchdog[f.Text(e.Device.OSName)]
		if !known {
			has = m.Watchdog["*"]
		}
		d := diag.Diagnostic{Address: f.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.atWatchdog(e)}}
		switch off := w.Mode == fabric.Off || w.Mode == fabric.Unwritten; {
		case has && off:
			d.Summary = fmt.Sprintf("port %s has PFC and no watchdog: one bad NIC can stop the fabric", p.Name(e))
			d.Help = `leave watchdog at "auto", or give it times`
			d.Edits = setAt(d.Labels[0], "watchdog", `"auto"`)
		case w.Mode == fabric.Written && w.Action == fabric.Alert:
			d.Summary = fmt.Sprintf("the watchdog of port %s only alerts: one bad NIC can stop the fabric", p.Name(e))
			d.Help = `write action = "drop", or leave it out`
			d.Edits = setAt(d.Labels[0], "watchdog.action", `"drop"`)
		case !has && e.Device.Model != 0:
			d.Severity, d.Help = diag.Warning, "watch its pause counters by other means"
			d.Summary = fmt.Sprintf("port %s has PFC, and the data of %s knows no watchdog for os %s", p.Name(e), f.Text(m.Name), f.Text(e.Device.OSName))
		default:
			return
		}
		p.Report(d)
	})
}

var roce308 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE308", Name: "port_watchdog_detect", Severity: diag.Warning, Fixable: true,
		Options: []diag.Option{
			{Name: "least", Unit: "ms", Default: 100, Min: 1, Max: 5000, Doc: "shortest time to detect a storm"},
			{Name: "most", Unit: "ms", Default: 5000, Min: 1, Max: 60_000, Doc: "longest time"},
		},
		Title: "the PFC watchdog detects too fast, too slowly, or faster than it polls",
		Why:   "too fast it takes congestion for a storm and drops lossless frames; too slow the fabric stands still",
		Fix: "leave the times out: the device's own grow with its ports, on SONiC 200 ms for each 32 ports with PFC. Large chassis are " +
			"run with " +
			"600 ms",
		Source: "sonic-net/sonic-utilities pfcwd/main.py at 015521a5, start_default; sonic-net/sonic-swss orchagent/pfcwdorch.cpp, " +
			"PFC_WD_DETECTION_TIME_MIN and _MAX (100 ms and 5 s); sonic-pfcwd.yang; sonic-net/sonic-buildimage #21914 (600 ms); " +
			"sonic-net/sonic-mgmt #2205",
		Formula: "SONiC's own time = 200 ms x max(1, ceil(ports with PFC / 32)), to detect and to restore",
		Bad:     foundSwitch(`watchdog = { detect = "50ms", restore = "400ms" }`),
		Good:    foundSwitch(`watchdog = { detect = "200ms", restore = "400ms", poll = "200ms" }`),
	},
	Run: watchdogDetect,
}

func watchdogDetect(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		w := e.Profile.Watchdog
		least, most := p.option("least"), p.option("most")
		if w.Mode != fabric.Written || w.DetectMs == 0 || int64(w.DetectMs) >= least && int64(w.DetectMs) <= most && w.DetectMs >= w.PollMs {
			return
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("watchdog on %s detects in %d ms", p.Name(e), w.DetectMs), Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.atWatchdog(e)}, Help: "leave the times out: the device's own grow with its ports; or write 200 ms for " +
				"each 32 ports with PFC",
			Edits: setAt(p.atWatchdog(e), "watchdog", ownTimes(w.Action)),
		}
		switch {
		case w.DetectMs < w.PollMs:
			d.Summary += fmt.Sprintf(" and polls every %d ms", w.PollMs)
		case int64(w.DetectMs) < least:
			d.Summary += ": it takes congestion for a storm"
		default:
			d.Summary += ": the fabric stands still that long"
		}
		p.Report(d)
	})
}

// ownTimes is a watchdog with an action, and with the times of its device.
func ownTimes(a fabric.WatchdogAction) string {
	if a == fabric.ActionUnset {
		return `"auto"`
	}
	return `{ action = "` + [...]string{fabric.Drop: "drop", fabric.Forward: "forward", fabric.Alert: "alert"}[a] + `" }`
}

// atWatchdog points at the restated watchdog of a port, else at that of the
// lossless class that wrote it.
func (p *Pass) atWatchdog(e End) diag.Label {
	var c *fabric.Class
	p.Classes(e, func(k *fabric.Class, _ fabric.ClassOn) {
		if c == nil && k.Watchdog.Mode != fabric.Unwritten {
			c = k
		}
	})
	return p.AtContract(e, schema.AWatchdog, c, schema.AWatchdog, "")
}

var roce309 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE309", Name: "port_watchdog_restore", Severity: diag.Warning, Fixable: true,
		Options: []diag.Option{{Name: "ratio", Default: 10, Min: 1, Max: 600, Doc: "how many times as long as to detect it may take to " +
			"restore"}},
		Title: "the PFC watchdog restores faster than it detects, or much later",
		Why: "a queue that is restored before a storm can be detected again flaps between dropping and pausing; one that is not restored " +
			"for long " +
			"drops a lossless class although the storm is over",
		Fix: "restore after one to two times as long as it takes to detect",
		Source: "sonic-net/sonic-utilities pfcwd/main.py at 015521a5, start_cmd (restoration time, if left out: twice the detection time); " +
			"sonic-net/sonic-buildimage #29203; ten times is a house limit",
		Bad:  twoNodes(`watchdog = { detect = "400ms", restore = "200ms" }`),
		Good: twoNodes(`watchdog = { detect = "400ms", restore = "400ms" }`),
	},
	Run: watchdogRestore,
}

func watchdogRestore(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		w := e.Profile.Watchdog
		if w.Mode != fabric.Written || w.RestoreMs == 0 || w.DetectMs == 0 {
			return
		}
		d := diag.Diagnostic{
			Summary: fmt.Sprintf("watchdog on %s restores after %d ms and detects after %d ms: ", p.Name(e), w.RestoreMs, w.DetectMs),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.atWatchdog(e)},
		}
		restore := w.DetectMs
		switch {
		case w.RestoreMs < w.DetectMs:
			d.Summary += "it will flap"
			d.Help = "make restore at least detect"
		case int64(w.RestoreMs) > p.option("ratio")*int64(w.DetectMs):
			d.Summary += "it drops a lossless class for long after a storm"
			d.Help, restore = "make restore one to two times detect", 2*w.DetectMs
		default:
			return
		}
		d.Edits = setAt(d.Labels[0], "watchdog.restore", fmt.Sprintf(`"%dms"`, restore))
		p.Report(d)
	})
}

var roce324 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE324", Name: "port_watchdog_forwards", Severity: diag.Notice, Fixable: true,
		Title: "the PFC watchdog of a port forwards to a peer that takes nothing",
		Why: "forward ignores the pauses of a storm and goes on sending: the peer that could not take frames drops them, or cannot even " +
			"do that. Drop " +
			"empties the queue, and the switch answers for what is lost",
		Fix: `write action = "drop", or leave it out`,
		Source: "sonic-net/sonic-mgmt docs/pfcwd/PFCWD_MMU_Change.md; sonic-net/SONiC wiki, PFC Watchdog Design, actions; " +
			"sonic-net/sonic-swss " +
			"orchagent/pfcwdorch.cpp at 0408e945, createEntry (drop where nothing is written; one action for the whole switch where " +
			"Broadcom's SAI recovers)",
		Bad:  twoNodes(`watchdog = { detect = "400ms", restore = "400ms", action = "forward" }`),
		Good: twoNodes(`watchdog = { detect = "400ms", restore = "400ms", action = "drop" }`),
	},
	Run:   watchdogForwards,
	mends: set("watchdog.action", `"drop"`),
}

func watchdogForwards(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		if w := e.Profile.Watchdog; e.Profile.PFC == 0 || w.Mode != fabric.Written || w.Action != fabric.Forward {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("the watchdog of port %s forwards in a storm: its peer is sent what it does not take", p.Name(e)),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.atWatchdog(e)}, Help: `write action = "drop", or leave it out`,
		})
	})
}

var roce325 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE325", Name: "port_watchdog_retries", Severity: diag.Warning,
		Options: []diag.Option{{
			Name: "retries", Unit: "ms", Default: 30_000, Min: 100, Max: 600_000,
			Doc: "how long connections of the fabric retry: 4.096 us x 2^timeout x retry count",
		}},
		Title: "a storm and its PFC watchdog take longer than RDMA connections retry",
		Why: "while a storm lasts, and until the queue is restored, nothing of the class gets through: connections that run out of " +
			"retries end with " +
			"an error, and the job with them. NCCL retries for 30 s (timeout 20, 7 times); the settings of applications are not in the source",
		Fix:     "shorten the times of the watchdog, or let applications retry for longer",
		Source:  "NVIDIA NCCL user guide, environment variables NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT; ibv_modify_qp(3), timeout and retry_cnt",
		Formula: "detect + restore > 4.096 us x 2^timeout x retry count",
		Bad:     twoNodes(`watchdog = { detect = "5s", restore = "40s" }`),
		Good:    twoNodes(`watchdog = { detect = "5s", restore = "10s" }`),
	},
	Run: watchdogRetries,
}

func watchdogRetries(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		w := e.Profile.Watchdog
		retries := p.option("retries")
		if w.Mode != fabric.Written || !p.RDMA(e) || int64(w.DetectMs)+int64(w.RestoreMs) <= retries {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("watchdog on %s takes %d ms to detect a storm and %d ms to restore, and connections retry for %d ms", p.Name(e), w.DetectMs,
				w.RestoreMs, retries),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.atWatchdog(e)},
			Help: "shorten both, or state how long connections retry by the option of this rule",
		})
	})
}
