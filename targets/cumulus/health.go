package cumulus

import (
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// health asks a switch for its counters: what the RoCE traffic of a port lost for
// lack of buffers [NVIDIA Cumulus Linux user guide, RDMA over Converged Ethernet],
// and what the watchdog held back [ibid., Quality of Service, PFC watchdog].
var health = targets.Health{
	Probes: []targets.Probe{
		{File: "health/%s/roce.txt", Command: "nv show interface %s qos roce counters", PerPort: true},
		{File: "health/%s/watchdog.txt", Command: "nv show interface %s qos pfc-watchdog", PerPort: true},
	},
	Read: vitals,
}

// vitals is Health.Read. The counters of RoCE traffic are of the port's lossless
// class; of several, the first stands for them.
func vitals(d *intent.Device, c targets.Captured) (*targets.Vitals, diag.List) {
	v := &targets.Vitals{}
	for i := range d.Ports {
		p := &d.Ports[i]
		if q := d.QoSNamed(p.QoS); q != nil {
			if list := q.PFC.Value.List(); len(list) > 0 {
				discards(v, p.Name, int8(list[0]), string(c.Files["health/"+p.Name+"/roce.txt"]))
			}
		}
		storms(v, p.Name, string(c.Files["health/"+p.Name+"/watchdog.txt"]))
	}
	return v, nil
}

// discards reads a tree of counters: a section by itself in a line, then its rows.
func discards(v *targets.Vitals, port string, priority int8, text string) {
	section := ""
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 1:
			section = words[0]
		case len(words) > 1 && (section == "rx-roce-stats" && words[0] == "no-buffer-discard" || section == "tx-roce-stats" && words[0] == "unicast-no-buffer-discard"):
			if n, err := counted(words[1]); err == nil {
				v.Add(port, targets.Counter{Of: targets.Discarded, Priority: priority}, n)
			}
		}
	}
}

// storms reads rows of traffic class, status and count of deadlocks.
func storms(v *targets.Vitals, port, text string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 3 {
			continue
		}
		class, err1 := counted(words[0])
		n, err2 := counted(words[2])
		if err1 != nil || err2 != nil || class > 7 {
			continue
		}
		v.Add(port, targets.Counter{Of: targets.Storms, Priority: int8(class)}, n)
		if strings.EqualFold(words[1], "DEADLOCK") {
			v.Port(port).Stormed = v.Port(port).Stormed.With(uint8(class))
		}
	}
}

// counted is a count, with separators of thousands or without.
func counted(s string) (uint64, error) {
	return strconv.ParseUint(strings.ReplaceAll(s, ",", ""), 10, 64)
}
