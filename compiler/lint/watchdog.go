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
		Title:  "a switch port with PFC has a PFC watchdog",
		Why:    "one NIC that pauses for ever stops its port, then every port that feeds it, then the fabric",
		Fix:    `leave watchdog at "auto", or give it times`,
		Source: "Guo et al., SIGCOMM 2016, 4.3; Bai et al., NSDI 2023, 3.1",
		Bad:    twoNodes(`watchdog = "off"`),
		Good:   twoNodes(`watchdog = "auto"`),
	},
	Run:   watchdogOff,
	mends: set("watchdog", `"auto"`),
}

func watchdogOff(p *Pass) {
	f := p.Fabric
	p.EachProfile(func(e End, ports int) {
		if e.Device.Kind != fabric.Switch || e.Profile.PFC == 0 || e.Profile.Watchdog.Mode == fabric.Keep {
			return
		}
		m := &f.Models[e.Device.Model]
		has, known := m.Watchdog[f.Text(e.Device.OSName)]
		if !known {
			has = m.Watchdog["*"]
		}
		d := diag.Diagnostic{
			Address: f.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.atWatchdog(e)},
			Summary: fmt.Sprintf("port %s has PFC and no watchdog: one bad NIC can stop the fabric", p.Name(e)), Help: `leave watchdog at "auto", or give it times`,
		}
		switch off := e.Profile.Watchdog.Mode == fabric.Off || e.Profile.Watchdog.Mode == fabric.Unwritten; {
		case has && off:
			p.Report(d)
		case !has && e.Device.Model != 0:
			d.Severity, d.Help = diag.Warning, "watch its pause counters by other means"
			d.Summary = fmt.Sprintf("port %s has PFC, and the data of %s knows no watchdog for os %s", p.Name(e), f.Text(m.Name), f.Text(e.Device.OSName))
			p.Report(d)
		}
	})
}

var roce308 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE308", Name: "port_watchdog_detect", Severity: diag.Warning, Fixable: true,
		Options: []diag.Option{{Name: "least", Unit: "ms", Default: 100, Min: 1, Max: 5000, Doc: "shortest time to detect a storm"}, {Name: "most", Unit: "ms", Default: 5000, Min: 1, Max: 60_000, Doc: "longest time"}},
		Title:   "the watchdog detects within 100 ms to 5 s, and not faster than it polls",
		Why:     "too fast it takes congestion for a storm and drops lossless frames; too slow the fabric stands still",
		Fix:     "use 200 to 400 ms",
		Source:  "SONiC pfcwd defaults; sonic-pfcwd.yang; sonic-net/sonic-mgmt #2205",
		Bad:     twoNodes(`watchdog = { detect = "50ms", restore = "400ms" }`),
		Good:    twoNodes(`watchdog = { detect = "200ms", restore = "400ms", poll = "200ms" }`),
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
			Labels: []diag.Label{p.atWatchdog(e)}, Help: "use 200 to 400 ms, and not less than the poll interval", Edits: p.slowerWatchdog(e),
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

// slowerWatchdog are the edits that make a watchdog detect in 200 ms, or what the
// limits and its poll interval have nearest to that.
func (p *Pass) slowerWatchdog(e End) []diag.Edit {
	w, at := e.Profile.Watchdog, p.atWatchdog(e)
	ms := max(uint32(min(max(200, p.option("least")), p.option("most"))), uint32(w.PollMs))
	edits := setAt(at, "watchdog.detect", fmt.Sprintf(`"%dms"`, ms))
	if w.RestoreMs != 0 && uint32(w.RestoreMs) < ms {
		edits = append(edits, setAt(at, "watchdog.restore", fmt.Sprintf(`"%dms"`, ms))...)
	}
	return edits
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
		Title:  "the watchdog restores no faster than it detects",
		Why:    "a queue that is restored before a storm can be detected again flaps between dropping and pausing",
		Fix:    "make restore at least detect",
		Source: "sonic-net/sonic-buildimage #29203",
		Bad:    twoNodes(`watchdog = { detect = "400ms", restore = "200ms" }`),
		Good:   twoNodes(`watchdog = { detect = "400ms", restore = "400ms" }`),
	},
	Run: watchdogRestore,
}

func watchdogRestore(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		w := e.Profile.Watchdog
		if w.Mode != fabric.Written || w.RestoreMs == 0 || w.RestoreMs >= w.DetectMs {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("watchdog on %s restores after %d ms and detects after %d ms: it will flap", p.Name(e), w.RestoreMs, w.DetectMs),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.atWatchdog(e)}, Help: "make restore at least detect",
			Edits: setAt(p.atWatchdog(e), "watchdog.restore", fmt.Sprintf(`"%dms"`, w.DetectMs)),
		})
	})
}
