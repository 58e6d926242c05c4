package windows

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// counted is what a host prints of its counters.
const counted = "health/counters.json"

// health asks a host what its drivers have counted. Only NVIDIA documents counters
// of priorities and of congestion: the counter sets of WinOF-2 [docs.nvidia.com
// winof2, Adapter Cards Counters], read through their classes [microsoft/wmi
// root/cimv2 Win32_PerfFormattedData_Mlx5Provider_*], which need no word of the
// system's language. Storms are counted by none of them.
var health = targets.Health{
	Probes:  []targets.Probe{{File: counted, Command: run + healthFile}},
	Capture: healthFile,
	Read:    vitals,
}

// counts are the read-back that health.ps1 prints.
type counts struct {
	Adapters          rows[countedAdapter]
	PortQoS           rows[map[string]text]
	PortTraffic       rows[map[string]text]
	CongestionControl rows[map[string]text]
	Diagnostics       rows[map[string]text]
}

type countedAdapter struct{ Name, InterfaceDescription text }

// Counters of a priority of a port, and those of the port.
var (
	ofPriority = map[string]targets.Count{
		"RcvPauseFrames": targets.PauseReceived, "SentPauseFrames": targets.PauseSent, "packetsreceiveddiscarded": targets.Discarded,
	}
	ofPort = map[string]targets.Count{
		"PacketsReceivedBadCRCError": targets.Uncorrected, "PacketsReceivedSymbolError": targets.Uncorrected,
		"NotificationPointRoCEv2ECNMarkedPackets": targets.Marked, "NotificationPointCNPsSentSuccessfully": targets.CNPSent,
		"ResponderOutofOrderSequenceReceived": targets.OutOfSequence, "RequesterTimeoutReceived": targets.AckTimeouts,
	}
)

// vitals is Health.Read.
func vitals(d *intent.Device, c targets.Captured) (*targets.Vitals, diag.List) {
	at := captureOf{c, counted}
	var list diag.List
	b, ok := c.Files[counted]
	if !ok {
		return &targets.Vitals{}, nil
	}
	s, read := new(state), new(counts)
	if err := decodeInto(b, s, read); err != nil {
		list.Add(at.finding(0, min(1, len(b)), diag.Error, fmt.Sprintf("%s of node %q cannot be read: %v", counted, d.Name, err), "keep exactly what "+healthFile+" prints"))
		return nil, list
	}
	o := &observer{want: d, s: s}
	v := &targets.Vitals{}
	for _, r := range read.PortQoS {
		if adapter, rest := read.adapter(r["Name"]); adapter != "" {
			if priority, ok := priorityIn(rest); ok {
				o.count(v, adapter, priority, r, ofPriority)
			}
		}
	}
	for _, rows := range [][]map[string]text{read.PortTraffic, read.CongestionControl, read.Diagnostics} {
		for _, r := range rows {
			if adapter, rest := read.adapter(r["Name"]); adapter != "" && strings.Trim(rest, " -:,") == "" {
				o.count(v, adapter, targets.NoPriority, r, ofPort)
			}
		}
	}
	return v, nil
}

// count enters the counters of a row for the port whose adapter it is of.
func (o *observer) count(v *targets.Vitals, adapter string, priority int8, row map[string]text, names map[string]targets.Count) {
	for i := range o.want.Ports {
		p := &o.want.Ports[i]
		if a := o.adapter(p); a == nil || !sameName(a.Name, adapter) {
			continue
		}
		for name, of := range names {
			if n, err := strconv.ParseUint(string(row[name]), 10, 64); err == nil {
				v.Add(p.Name, targets.Counter{Of: of, Priority: priority}, n)
			}
		}
	}
}

// adapter is the name of the adapter that an instance of a counter set is of, and
// what else is in the name of the instance. It is called by the name of its
// interface or by its description, whichever is in it and longest; where that is of
// two adapters it is of none.
func (c *counts) adapter(instance text) (name, rest string) {
	whole, longest := instanceName(string(instance)), ""
	for _, a := range c.Adapters {
		for _, called := range []text{a.Name, a.InterfaceDescription} {
			part := instanceName(string(called))
			switch {
			case part == "" || len(part) < len(longest) || !strings.Contains(whole, part):
			case part == longest && string(a.Name) != name:
				name = ""
			default:
				name, longest = string(a.Name), part
			}
		}
	}
	return name, strings.Replace(whole, longest, " ", 1)
}

// instanceName is a name as one of an instance of a counter set: parentheses are
// brackets there, and number signs and slashes underscores [PerformanceCounter.InstanceName].
func instanceName(s string) string {
	return strings.NewReplacer("(", "[", ")", "]", "#", "_", `\`, "_", "/", "_").Replace(strings.ToLower(strings.TrimSpace(s)))
}

// priorityIn is the priority in what is left of the name of an instance. No document
// says how it is written: it is the one number there is, or not known.
func priorityIn(rest string) (int8, bool) {
	numbers := strings.FieldsFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if len(numbers) != 1 || len(numbers[0]) != 1 || numbers[0] > "7" {
		return 0, false
	}
	return int8(numbers[0][0] - '0'), true
}
