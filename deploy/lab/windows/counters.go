package windows

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

// counterSets are those that WinOF-2 brings, by the ends of the names of their
// classes, with the counters that are answered here [microsoft/wmi root/cimv2
// Win32_PerfFormattedData_Mlx5Provider_*]. Nothing is ever counted but what a fault
// makes up.
var counterSets = map[string][]string{
	"PortQoS":           {"RcvPauseFrames", "SentPauseFrames", "packetsreceiveddiscarded"},
	"PortTraffic":       {"PacketsReceivedBadCRCError", "PacketsReceivedSymbolError"},
	"CongestionControl": {"NotificationPointRoCEv2ECNMarkedPackets", "NotificationPointCNPsSentSuccessfully"},
	"Diagnostics":       {"ResponderOutofOrderSequenceReceived", "RequesterTimeoutReceived"},
}

// counters are the rows of a class of counters, and whether a driver here brings it.
// How NVIDIA's driver writes the instances of priorities is in no document.
func (h *Host) counters(class string) (rows []any, known bool) {
	for end, names := range counterSets {
		if !strings.EqualFold(class, "Win32_PerfFormattedData_Mlx5Provider_MellanoxWinOF2"+end) {
			continue
		}
		for _, n := range h.NICs {
			if n.Virtual || !n.WinOF {
				continue
			}
			known = true
			if end != "PortQoS" {
				rows = append(rows, row(n.Name, names, 0))
				continue
			}
			for priority, lossless := range h.PFC {
				dropped := uint64(0)
				if lossless && h.Dropped != nil {
					dropped = h.Dropped(fmt.Sprint(n.GUID, " ", priority))
				}
				rows = append(rows, row(fmt.Sprintf("%s Priority %d", n.Name, priority), names, dropped))
			}
		}
	}
	return rows, known
}

// row is one instance; what is dropped is counted where the class counts that.
func row(name string, counters []string, dropped uint64) *powershell.Object {
	o := powershell.NewObject("Name", name)
	for _, c := range counters {
		n := int64(0)
		if c == "packetsreceiveddiscarded" {
			n = int64(dropped)
		}
		o.Set(c, n)
	}
	return o
}
