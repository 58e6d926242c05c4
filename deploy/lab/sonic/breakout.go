package sonic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/deploy/lab/posix"
)

// breakout is config interface breakout: the children of the mode that the
// intent's model has, and those of a whole port.
func (m *Machine) breakout(p *posix.Proc, parent, mode string, yes, force bool) int {
	if !yes {
		return aborted(p, "Do you want to Breakout the port, continue?")
	}
	m.one.Lock()
	defer m.one.Unlock()
	db := m.snapshot()
	row := db["BREAKOUT_CFG"][parent]
	added, index := m.children(parent, mode)
	switch {
	case len(db["BREAKOUT_CFG"]) == 0:
		p.Printf("[ERROR] BREAKOUT_CFG table is NOT present in CONFIG DB\n")
		return p.Fail("Aborted!")
	case row == nil:
		p.Printf("[ERROR] %s interface is NOT present in BREAKOUT_CFG table of CONFIG DB\n", parent)
		return p.Fail("Aborted!")
	case len(added) == 0:
		p.Printf("[ERROR] Target mode %s is not available for the port %s\n", mode, parent)
		return p.Fail("Aborted!")
	}
	p.Printf("\nRunning Breakout Mode : %v \nTarget Breakout Mode : %s\n", row["brkout_mode"], mode)
	if row["brkout_mode"] == mode {
		p.Printf("[WARNING] No action will be taken as current and desired Breakout Mode are same.\n")
		return 0
	}
	gone, come := map[string]string{}, map[string]string{}
	for name, fields := range db["PORT"] {
		if fields["index"] == index {
			gone[name] = fmt.Sprint(fields["speed"])
		}
	}
	for name, fields := range added {
		come[name] = fmt.Sprint(fields["speed"])
	}
	p.Printf("\nPorts to be deleted : \n %s\nPorts to be added : \n %s\n", listed(gone), listed(come))
	if needed := db.needing(slices.Sorted(maps.Keys(gone))); len(needed) > 0 && !force {
		p.Printf("Dependencies Exist. No further action will be taken\n*** Printing dependencies ***\n%s\n", strings.Join(needed, "\n"))
		return 1
	}
	for name := range gone {
		db.forget(name)
	}
	db.merge(database{"PORT": added})
	db.set("BREAKOUT_CFG", parent, "brkout_mode", mode)
	if err := m.accepted(db); err != nil {
		p.Printf("[ERROR] Port breakout Failed!!! Opting Out\nFailed to break out Port. Error: \n")
		return m.refused(p, err) // SONiC tells why in its log alone
	}
	m.put(db)
	p.Printf("Breakout process got successfully completed.\nPlease note loaded setting will be lost after system reboot. To preserve setting, run `config save`.\n")
	return 0
}

// children are the rows of the ports that a mode makes of a port, and the index
// that they share.
func (m *Machine) children(parent, mode string) (rows map[string]map[string]any, index string) {
	added := database{}
	for i := range m.device.Ports {
		s := m.device.Ports[i].Split
		if s == nil || s.Parent != parent {
			continue
		}
		index = strconv.Itoa(int(s.Index))
		if s.Mode == mode {
			added.set("PORT", m.device.Ports[i].Name, "lanes", s.Lanes, "alias", s.Alias, "index", index, "subport", strconv.Itoa(int(s.Number)), "speed", speedOf(mode), "mtu", "9100", "admin_status", "up")
		}
	}
	if whole := asFound(m.device)["PORT"][parent]; index != "" && mode == wholeMode && len(whole) > 0 {
		added = database{"PORT": {parent: whole}}
	}
	return added["PORT"], index
}

// listed is JSON as Python indents it.
func listed(ports map[string]string) string {
	b, err := json.MarshalIndent(ports, "", "    ")
	if err != nil {
		return "" // texts
	}
	return string(b)
}

// speedOf is the speed of a mode such as 4x25G[10G], in Mbit/s.
func speedOf(mode string) string {
	_, rest, _ := strings.Cut(mode, "x")
	n, _ := strconv.Atoi(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))])
	return strconv.Itoa(n * 1000)
}

// names tells whether the key of a row is one of a port, be it with others.
func names(table, key, port string) bool {
	return table != "BREAKOUT_CFG" && slices.Contains(strings.Split(key, "|"), port)
}

// needing are the rows that refer to ports, sorted.
func (db database) needing(ports []string) []string {
	var list []string
	for table, rows := range db {
		for key, fields := range rows {
			if slices.ContainsFunc(ports, func(port string) bool { return table != "PORT" && (names(table, key, port) || fields[port] != nil) }) {
				list = append(list, table+"|"+key)
			}
		}
	}
	slices.Sort(list)
	return list
}

// forget deletes a port with what refers to it.
func (db database) forget(port string) {
	for table, rows := range db {
		for key, fields := range rows {
			if names(table, key, port) {
				delete(rows, key)
				continue
			}
			delete(fields, port) // of CABLE_LENGTH
		}
		if len(rows) == 0 {
			delete(db, table)
		}
	}
}
