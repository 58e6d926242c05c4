package sonic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

// priorities is how many priorities, queues and groups a port has.
const priorities = 8

// lossless are the priorities of a port with PFC.
func lossless(db database, port string) (list []int) {
	for word := range strings.SplitSeq(db.text("PORT_QOS_MAP", port, "pfc_enable"), ",") {
		if n, err := strconv.Atoi(word); err == nil && n >= 0 && n < priorities {
			list = append(list, n)
		}
	}
	return list
}

// showGroupDrops is pg-drop -c show: what the groups of ports dropped [sonic-utilities
// tests/pgdropstat_test.py]. A priority without a group in a map has that of its number.
func (m *Machine) showGroupDrops(p *posix.Proc, db database) {
	header := []string{"Port"}
	for i := range priorities {
		header = append(header, fmt.Sprint("PG", i))
	}
	var rows [][]string
	for _, port := range db.ports() {
		var drops [priorities]uint64
		for _, n := range lossless(db, port) {
			group := n
			if in, err := strconv.Atoi(db.text("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", db.text("PORT_QOS_MAP", port, "pfc_to_pg_map"), strconv.Itoa(n))); err == nil && in >= 0 && in < priorities {
				group = in
			}
			drops[group] += m.faults.Count(lab.FaultDrops, fmt.Sprint(port, " ", n))
		}
		row := []string{port}
		for _, n := range drops {
			row = append(row, strconv.FormatUint(n, 10))
		}
		rows = append(rows, row)
	}
	p.Printf("Ingress PG dropped packets:\n")
	table(p.Stdout, header, rows)
}

// showWatchdog is pfcwd show stats: without --empty it has no queue for which nothing
// was counted, and a queue that no watchdog watches has the status N/A [sonic-utilities
// pfcwd/main.py].
func (m *Machine) showWatchdog(p *posix.Proc, db database, empty bool) {
	var rows [][]string
	for _, port := range db.ports() {
		watched := len(db["PFC_WD"][port]) > 0
		for i := range priorities {
			status, storms := "N/A", uint64(0)
			if watched && slices.Contains(lossless(db, port), i) {
				status, storms = "operational", m.faults.Count(lab.FaultStorm, fmt.Sprint(port, " ", i))
			}
			if storms > 0 || empty {
				rows = append(rows, []string{fmt.Sprintf("%s:%d", port, i), status, fmt.Sprintf("%d/%d", storms, storms), "0/0", "0/0", "0/0", "0/0"})
			}
		}
	}
	table(p.Stdout, []string{"QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP"}, rows)
}
