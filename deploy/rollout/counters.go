package rollout

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// look is a read-only command that shows counters, and what it shows of them. All
// counters that a look returns stand for something that shall not happen.
type look struct {
	command string
	parse   func([]byte) counts
}

// counts are counters by name. Those that count events grow; a state is there (1)
// or not (0).
type counts struct {
	events map[string]uint64
	states map[string]bool
}

// looks are how a target shows its discards, and its storms of pauses.
type looks struct{ discards, storms func(*intent.Device) []look }

// counting is what targets show. Of a target that is not here the gates cannot tell.
var counting = map[string]looks{
	"linux":   {linuxDiscards, linuxStorms},
	"sonic":   {sonicDiscards, sonicStorms},
	"cumulus": {cumulusDiscards, cumulusStorms},
}

// lossless are the priorities of a port that must not lose a packet.
func lossless(d *intent.Device, p *intent.Port) intent.PrioritySet {
	q := d.QoSNamed(p.QoS)
	if q == nil {
		return 0
	}
	if q.PFC.IsSet() {
		return q.PFC.Value
	}
	return q.Lossless
}

// perPort is a look at each port that has lossless priorities. The port's name is
// one word of the command.
func perPort(d *intent.Device, command string, parse func(d *intent.Device, p *intent.Port, b []byte) counts) []look {
	var list []look
	for i := range d.Ports {
		p := &d.Ports[i]
		word, err := emit.Shell(p.Name)
		if err != nil || lossless(d, p) == 0 {
			continue
		}
		list = append(list, look{fmt.Sprintf(command, word), func(b []byte) counts { return parse(d, p, b) }})
	}
	return list
}

// linuxDiscards: rx_prioN_discards of mlx5 counts what was dropped for lack of
// buffers, by priority [Linux drivers/net/ethernet/mellanox/mlx5/core/en_stats.c,
// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst].
// Other drivers count no discards by priority.
func linuxDiscards(d *intent.Device) []look {
	return perPort(d, "ethtool -S %s", func(d *intent.Device, p *intent.Port, b []byte) counts {
		var names []string
		for _, prio := range lossless(d, p).List() {
			names = append(names, fmt.Sprintf("rx_prio%d_discards", prio))
		}
		return pick(p.Name, b, names)
	})
}

// linuxStorms: tx_pause_storm_warning_events counts that the adapter stalled for
// longer than a watermark, ..._error_events that it gave up pausing [ibid.].
func linuxStorms(d *intent.Device) []look {
	return perPort(d, "ethtool -S %s", func(_ *intent.Device, p *intent.Port, b []byte) counts {
		return pick(p.Name, b, []string{"tx_pause_storm_warning_events", "tx_pause_storm_error_events"})
	})
}

// pick takes some of the lines "name: number".
func pick(port string, b []byte, names []string) counts {
	c := counts{events: map[string]uint64{}}
	for l := range lines(b) {
		name, value, ok := strings.Cut(l, ":")
		n, err := number(value)
		if name = strings.TrimSpace(name); ok && err == nil && slices.Contains(names, name) {
			c.events[port+" "+name] = n
		}
	}
	return c
}

// sonicDiscards is the table of what priority groups dropped as it came in
// [sonic-utilities tests/pgdropstat_test.py].
func sonicDiscards(d *intent.Device) []look {
	wanted := map[string][]string{}
	for i := range d.Ports {
		p := &d.Ports[i]
		for _, prio := range lossless(d, p).List() {
			group := prio
			if q := d.QoSNamed(p.QoS); q.Group.IsSet() {
				group = q.Group.Value[prio]
			}
			wanted[p.Name] = append(wanted[p.Name], fmt.Sprintf("PG%d", group))
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return []look{{"show priority-group drop counters", func(b []byte) counts {
		c := counts{events: map[string]uint64{}}
		var head []string
		for l := range lines(b) {
			words := strings.Fields(l)
			switch {
			case len(words) > 1 && words[0] == "Port":
				head = words
			case len(words) > 0 && len(words) == len(head) && wanted[words[0]] != nil:
				for i := 1; i < len(head); i++ {
					if n, err := number(words[i]); err == nil && slices.Contains(wanted[words[0]], head[i]) {
						c.events[words[0]+" "+head[i]+" dropped packets"] = n
					}
				}
			}
		}
		return c
	}}}
}

// sonicStorms is the table of the watchdog: queues that are stormed, and how many
// storms were detected [sonic-utilities tests/pfcwd_input/pfcwd_test_vectors.py].
// A queue that the watchdog does not watch is not in it.
func sonicStorms(d *intent.Device) []look {
	ports := map[string]bool{}
	for i := range d.Ports {
		ports[d.Ports[i].Name] = lossless(d, &d.Ports[i]) != 0
	}
	if !slices.ContainsFunc(d.Ports, func(p intent.Port) bool { return ports[p.Name] }) {
		return nil
	}
	return []look{{"pfcwd show stats", func(b []byte) counts {
		c := counts{events: map[string]uint64{}, states: map[string]bool{}}
		for l := range lines(b) {
			words := strings.Fields(l)
			if len(words) < 3 {
				continue
			}
			port, _, queue := strings.Cut(words[0], ":")
			detected, _, slash := strings.Cut(words[2], "/")
			n, err := number(detected)
			if !queue || !slash || err != nil || !ports[port] {
				continue
			}
			c.events[words[0]+" storms"] = n
			c.states[words[0]+" is stormed"] = words[1] == "stormed"
		}
		return c
	}}}
}

// cumulusDiscards: no-buffer-discard of the RoCE traffic of a port [NVIDIA Cumulus
// Linux user guide, RDMA over Converged Ethernet, nv show interface qos roce
// counters].
func cumulusDiscards(d *intent.Device) []look {
	return perPort(d, "nv show interface %s qos roce counters", func(_ *intent.Device, p *intent.Port, b []byte) counts {
		c := counts{events: map[string]uint64{}}
		section := ""
		for l := range lines(b) {
			words := strings.Fields(l)
			switch {
			case len(words) == 1:
				section = words[0]
			case len(words) > 1 && section == "rx-roce-stats" && words[0] == "no-buffer-discard",
				len(words) > 1 && section == "tx-roce-stats" && words[0] == "unicast-no-buffer-discard":
				if n, err := number(words[1]); err == nil {
					c.events[p.Name+" "+section+" "+words[0]] = n
				}
			}
		}
		return c
	})
}

// cumulusStorms is the table of the watchdog: traffic class, status, count of
// deadlocks [NVIDIA Cumulus Linux user guide, Quality of Service, PFC watchdog].
func cumulusStorms(d *intent.Device) []look {
	return perPort(d, "nv show interface %s qos pfc-watchdog", func(_ *intent.Device, p *intent.Port, b []byte) counts {
		c := counts{events: map[string]uint64{}, states: map[string]bool{}}
		for l := range lines(b) {
			words := strings.Fields(l)
			if len(words) < 3 {
				continue
			}
			class, err1 := number(words[0])
			n, err2 := number(words[2])
			if err1 != nil || err2 != nil || class > 7 {
				continue
			}
			c.events[fmt.Sprintf("%s traffic class %d deadlocks", p.Name, class)] = n
			c.states[fmt.Sprintf("%s traffic class %d is in deadlock", p.Name, class)] = strings.EqualFold(words[1], "DEADLOCK")
		}
		return c
	})
}

// number is a count, with separators of thousands or without.
func number(s string) (uint64, error) {
	return strconv.ParseUint(strings.ReplaceAll(strings.TrimSpace(s), ",", ""), 10, 64)
}

// lines are the lines of what a device printed; one that is longer than any of a
// table ends it.
func lines(b []byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		s := bufio.NewScanner(bytes.NewReader(b))
		for s.Scan() {
			if !yield(s.Text()) {
				return
			}
		}
	}
}

// worse says what happened between two looks, "" if nothing did: events that were
// counted, and states that are there now. A counter that went back was cleared.
func worse(before, now counts) string {
	var list []string
	for name, n := range now.events {
		if was, ok := before.events[name]; ok && n > was {
			list = append(list, fmt.Sprintf("%s: %d more", name, n-was))
		}
	}
	for name, there := range now.states {
		if there {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	what := list[0]
	if more := len(list) - 1; more > 0 {
		what += fmt.Sprintf(", and %d more", more)
	}
	return short(what)
}
