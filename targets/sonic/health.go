package sonic

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// health asks a switch for its counters. All are tables of sonic-utilities, which
// prints them by tabulate: a heading, a line of dashes that says where columns
// are, and rows [sonic-utilities doc/Command-Reference.md; scripts/pfcstat,
// pg-drop, portstat; pfcwd/main.py; sonic-mgmt tests/layer1/test_fec_error.py].
var health = targets.Health{
	Probes: []targets.Probe{
		{File: "health/pfc.txt", Command: "show pfc counters"},
		{File: "health/pg_drops.txt", Command: "show priority-group drop counters"},
		{File: "health/watchdog.txt", Command: "pfcwd show stats --empty"}, // else queues without a storm are left out, and nobody could tell that they had none
		{File: "health/fec.txt", Command: "show interfaces counters fec-stats"},
	},
	Read: vitals,
}

// vitals is Health.Read. Ports that are not of the intent are passed over. What a
// group dropped counts for the lossless priorities that are in it.
func vitals(d *intent.Device, c targets.Captured) (*targets.Vitals, diag.List) {
	v := &targets.Vitals{}
	ours := map[string]bool{}
	for i := range d.Ports {
		ours[d.Ports[i].Name] = true
	}
	count := func(port string, of targets.Count, priority int8, text string) {
		if n, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64); err == nil && ours[port] { // N/A: not counted
			v.Add(port, targets.Counter{Of: of, Priority: priority}, n)
		}
	}
	eachRow(string(c.Files["health/pfc.txt"]), func(head, row []string) {
		of := targets.PauseReceived
		if head[0] == "Port Tx" {
			of = targets.PauseSent
		}
		for i := range row {
			if p, ok := numbered(head[i], "PFC"); ok {
				count(row[0], of, p, row[i])
			}
		}
	})
	eachRow(string(c.Files["health/pg_drops.txt"]), func(head, row []string) {
		for i := range row {
			if group, ok := numbered(head[i], "PG"); ok {
				for _, p := range prioritiesIn(d, row[0], uint8(group)) {
					count(row[0], targets.Discarded, int8(p), row[i])
				}
			}
		}
	})
	eachRow(string(c.Files["health/watchdog.txt"]), func(head, row []string) {
		port, queue, _ := strings.Cut(row[0], ":")
		p, ok := numbered(queue, "")
		if i := slices.Index(head, "STATUS"); i >= 0 && row[i] == "N/A" { // nobody watches it: its zeros say nothing
			return
		}
		for i := range row {
			if detected, _, both := strings.Cut(row[i], "/"); ok && both && head[i] == "STORM DETECTED/RESTORED" {
				count(port, targets.Storms, p, detected)
			}
			if ok && head[i] == "STATUS" && row[i] == "stormed" && ours[port] {
				v.Port(port).Stormed = v.Port(port).Stormed.With(uint8(p))
			}
		}
	})
	eachRow(string(c.Files["health/fec.txt"]), func(head, row []string) {
		for i := range row {
			if head[i] == "FEC_UNCORR" {
				count(row[0], targets.Uncorrected, targets.NoPriority, row[i])
			}
		}
	})
	return v, nil
}

// prioritiesIn are the lossless priorities of a port that are in a group; those that
// no map speaks of are in the group of their number.
func prioritiesIn(d *intent.Device, port string, group uint8) (list []uint8) {
	p := d.PortNamed(port)
	if p == nil {
		return nil
	}
	q := d.QoSNamed(p.QoS)
	if q == nil {
		return nil
	}
	for _, priority := range q.PFC.Value.List() {
		if in := q.Group; !in.IsSet() && priority == group || in.IsSet() && in.Value[priority] == group {
			list = append(list, priority)
		}
	}
	return list
}

// numbered is the priority in "PFC3".
func numbered(text, prefix string) (int8, bool) {
	n, ok := strings.CutPrefix(text, prefix)
	if !ok || len(n) != 1 || n[0] < '0' || n[0] > '7' {
		return 0, false
	}
	return int8(n[0] - '0'), true
}

// eachRow visits the rows of the tables in a text, each with the heading of its table.
func eachRow(text string, visit func(head, row []string)) {
	var columns [][2]int
	var head []string
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case dashes(line):
			columns = spansOf(line)
			head = cells(last, columns)
		case line == "":
			columns = nil
		case columns != nil:
			if row := cells(line, columns); row[0] != "" {
				visit(head, row)
			}
		}
		last = line
	}
}

// dashes reports whether a line says where columns are.
func dashes(line string) bool {
	return strings.Contains(line, "-") && strings.Trim(line, "- ") == ""
}

// spansOf are the places of runs of dashes.
func spansOf(line string) (list [][2]int) {
	for at := 0; at < len(line); {
		if line[at] != '-' {
			at++
			continue
		}
		end := at
		for end < len(line) && line[end] == '-' {
			end++
		}
		list = append(list, [2]int{at, end})
		at = end
	}
	return list
}

// cells are the parts of a line in its columns, the last one to the end of the line.
func cells(line string, columns [][2]int) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		if c[0] >= len(line) {
			break
		}
		end := min(c[1], len(line))
		if i == len(columns)-1 {
			end = len(line)
		}
		out[i] = strings.TrimSpace(line[c[0]:end])
	}
	return out
}
