// Package sonic is a simulated switch with community SONiC: ConfigDB and the
// commands config, show, sonic-cfggen, sonic-db-cli and pfcwd over it, on a
// machine with a POSIX shell. It starts with a new image: ports, no QoS. What a
// change must satisfy is that of the config updater and of the YANG models, of
// which models.csv has the facts; those also where SONiC asks them not, by config
// load and sonic-cfggen, but not for what sonic-db-cli does to single fields, on whose way
// a database may have to be what no model accepts. The updater shuts the ports that
// SONiC's shuts for a change, and the buffer manager of the traditional model makes
// its groups beside it. No packets are switched. Texts and errors are those of
// sonic-net/sonic-utilities, commit 691b1bbc of July 2026: config/main.py,
// generic_config_updater, pfcwd/main.py, utilities_common.
package sonic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

// Machine is one switch.
type Machine struct {
	*posix.Host
	disk   *lab.Disk
	device *intent.Device
	faults *lab.Faults
	known  bool // the config updater knows the SKU

	mu  sync.Mutex
	db  database
	buf *bufferManager
	one sync.Mutex // one change after the other
}

const saved = "/etc/sonic/config_db.json"

// New starts the switch of an intent. Scripts may be shared with other machines.
func New(d *intent.Device, e lab.Environment, scripts *posix.Scripts) *Machine {
	m := &Machine{
		disk:   posix.NewDisk(e.Clock),
		device: d, faults: e.Faults,
	}
	_, m.known = hwsku(d.Model)
	_ = m.disk.MkdirAll("/etc/sonic", 0o755)
	_ = m.disk.WriteFile(saved, asFound(d).print(), 0o644)
	_ = m.disk.WriteFile("/etc/sonic/sonic_version.yml", fmt.Appendf(nil, "build_version: '%s-rocec-lab'\nasic_type: %s\n", d.OS.Version, m.asicType()), 0o644)
	m.Host = posix.NewHost(posix.Options{
		Name: d.Name, Disk: m.disk, Clock: e.Clock, User: e.User, Faults: e.Faults, Scripts: scripts, Changes: changes,
		Programs: map[string]posix.Program{
			"config": m.config, "show": m.show, "sonic-cfggen": m.cfggen, "sonic-db-cli": m.dbCLI, "pfcwd": m.pfcwd, "python3": m.python, "ecnconfig": m.ecnconfig,
		},
		Boot: func(context.Context, *posix.Host) { m.boot() },
	})
	return m
}

func (m *Machine) asicType() string {
	if strings.HasPrefix(m.device.ASIC, "spectrum") {
		return "mellanox"
	}
	return "broadcom"
}

// boot loads what is saved.
func (m *Machine) boot() {
	db := database{}
	if b, err := m.disk.ReadFile(saved); err == nil {
		if stored, err := read(b); err == nil {
			db = stored
		}
	}
	m.start(db)
}

// start makes a database the running one, of which the services hear when they begin.
func (m *Machine) start(db database) {
	m.mu.Lock()
	m.db, m.buf = nil, m.newBufferManager()
	m.mu.Unlock()
	m.put(db)
}

// changes tells the commands that set something.
func changes(line string) bool {
	f := strings.Fields(line)
	if len(f) < 2 || f[0] != "config" {
		return false
	}
	switch f[1] {
	case "list-checkpoints", "-h", "--help":
		return false
	}
	return true
}

// snapshot is the database as it is.
func (m *Machine) snapshot() database {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.db.clone()
}

// put makes a database the running one.
func (m *Machine) put(db database) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for table, rows := range db {
		if len(rows) == 0 {
			delete(db, table) // ConfigDB has no empty tables
		}
	}
	m.buf.heard(m.db, db)
	m.db = db
}

func (m *Machine) cfggen(_ context.Context, p *posix.Proc) int {
	var data, print, write bool
	var files []string
	variable, asJSON := "", ""
	for i := 0; i < len(p.Args); i++ {
		value := func() string {
			if i+1 < len(p.Args) {
				i++
				return p.Args[i]
			}
			return ""
		}
		switch p.Args[i] {
		case "-d", "--from-db":
			data = true
		case "--print-data":
			print = true
		case "-j", "--json":
			files = append(files, value())
		case "-w", "--write-to-db":
			write = true
		case "-v", "--var":
			variable = value()
		case "--var-json":
			asJSON = value()
		default:
			p.Fail("usage: sonic-cfggen [-h]\nsonic-cfggen: error: unrecognized arguments: %s", p.Args[i])
			return 2
		}
	}
	db := database{}
	if data {
		db = m.snapshot()
	}
	for _, f := range files {
		b, err := m.disk.ReadFile(p.Path(f))
		if err != nil {
			return p.Fail("FileNotFoundError: [Errno 2] No such file or directory: '%s'", f)
		}
		more, err := read(b)
		if err != nil {
			return p.Fail("json.decoder.JSONDecodeError: %v", err)
		}
		db.merge(more)
	}
	switch {
	case write:
		if err := m.load(db); err != nil {
			return m.refused(p, err)
		}
	case print:
		_, _ = p.Stdout.Write(db.print())
	case asJSON != "":
		b, err := json.MarshalIndent(db[asJSON], "", "    ")
		if err != nil {
			return p.Fail("%v", err)
		}
		p.Printf("%s\n", b)
	case variable != "":
		f := strings.SplitN(variable, ".", 3)
		for len(f) < 3 {
			f = append(f, "")
		}
		p.Printf("%s\n", db.text(f[0], f[1], f[2]))
	}
	return 0
}

// dbCLI answers what scripts ask of STATE_DB, and hands commands on to CONFIG_DB,
// which takes anything.
func (m *Machine) dbCLI(_ context.Context, p *posix.Proc) int {
	a := p.Args
	switch {
	case len(a) == 2 && a[1] == "PING":
		p.Printf("PONG\n")
		return 0
	case len(a) == 4 && a[0] == "STATE_DB" && a[1] == "HGET" && a[2] == "SWITCH_CAPABILITY|switch":
		p.Printf("%s\n", map[string]string{
			"ECMP_HASH_ALGORITHM_CAPABLE": "true", "ECMP_HASH_ALGORITHM": "CRC,XOR,RANDOM,CRC_32LO,CRC_32HI,CRC_CCITT,CRC_XOR",
		}[a[3]])
		return 0
	case len(a) == 3 && a[0] == "STATE_DB" && a[1] == "KEYS" && strings.HasPrefix(a[2], "INTERFACE_TABLE|"):
		db, name := m.snapshot(), strings.TrimPrefix(a[2], "INTERFACE_TABLE|")
		for _, table := range []string{"INTERFACE", "LOOPBACK_INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE"} {
			if db[table][name] != nil {
				p.Printf("%s\n", a[2])
			}
		}
		return 0
	case len(a) == 4 && a[0] == "CONFIG_DB" && a[1] == "HGET":
		table, key, _ := strings.Cut(a[2], "|")
		p.Printf("%s\n", m.snapshot().text(table, key, a[3]))
		return 0
	case len(a) == 3 && a[0] == "CONFIG_DB" && a[1] == "DEL", len(a) == 4 && a[0] == "CONFIG_DB" && a[1] == "HDEL",
		len(a) == 5 && a[0] == "CONFIG_DB" && a[1] == "HSET":
		p.Printf("%d\n", m.redis(a[1], a[2], a[3:]))
		return 0
	}
	return p.Fail("sonic-db-cli: %s is not simulated", strings.Join(a, " "))
}

// redis does one of DEL, HDEL and HSET to a row, and returns what Redis answers:
// how many keys or fields went or came.
func (m *Machine) redis(verb, name string, words []string) (changed int) {
	m.one.Lock()
	defer m.one.Unlock()
	db := m.snapshot()
	table, key, _ := strings.Cut(name, "|")
	row, there := db[table][key]
	switch {
	case verb == "HSET":
		if db[table] == nil {
			db[table] = map[string]map[string]any{}
		}
		if row == nil {
			row = map[string]any{}
			db[table][key] = row
		}
		if row[words[0]] == nil {
			changed = 1
		}
		row[words[0]] = words[1]
	case !there:
		return 0
	case verb == "DEL":
		changed = 1
		delete(db[table], key)
	default:
		if row[words[0]] != nil {
			changed = 1
		}
		delete(row, words[0])
		if len(row) == 0 { // a hash without fields is none
			delete(db[table], key)
		}
	}
	m.put(db)
	if verb == "HSET" && table == "PORT" { // Redis tells of what is written, not of what changes
		m.mu.Lock()
		defer m.mu.Unlock()
		m.buf.groups(m.db, key)
	}
	return changed
}

// python runs a script of the disk in the python3 of this computer: with copies
// of the files that its arguments name, and nothing else of the disk.
func (m *Machine) python(ctx context.Context, p *posix.Proc) int {
	program, err := exec.LookPath("python3")
	if err != nil {
		p.Fail("rocec lab: python3 is not installed on this computer, and a simulated SONiC runs its scripts there")
		return 127
	}
	dir, err := os.MkdirTemp("", "rocec-lab-")
	if err != nil {
		return p.Fail("python3: %v", err)
	}
	defer os.RemoveAll(dir)
	args := []string{"-I", "-B"}
	for i, a := range p.Args {
		b, ok := p.File(a)
		if !ok {
			args = append(args, a)
			continue
		}
		copied := filepath.Join(dir, fmt.Sprintf("%d-%s", i, path.Base(a)))
		if err := os.WriteFile(copied, b, 0o600); err != nil {
			return p.Fail("python3: %v", err)
		}
		args = append(args, copied)
	}
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = dir, []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}, p.Stdin, p.Stdout, p.Stderr
	err = c.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1)
	}
	return p.Fail("python3: %v", err)
}

func (m *Machine) pfcwd(_ context.Context, p *posix.Proc) int {
	if len(p.Args) > 1 && p.Args[0] == "stop" {
		return m.stopWatchdog(p, p.Args[1:])
	}
	if len(p.Args) < 2 || p.Args[0] != "show" {
		return p.Fail("pfcwd: only show config, show stats and stop are simulated")
	}
	db := m.snapshot()
	switch p.Args[1] {
	case "config":
		header := []string{"PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY"}
		var rows [][]string
		for _, port := range db.ports() {
			if w := db["PFC_WD"][port]; len(w) > 0 {
				or := func(field, other string) string {
					if v := db.text("PFC_WD", port, field); v != "" {
						return v
					}
					return other
				}
				rows = append(rows, []string{port, or("action", "drop"), or("detection_time", "N/A"), or("restoration_time", "infinite"), or("pfc_stat_history", "disable")})
			}
		}
		if poll := db.text("PFC_WD", "GLOBAL", "POLL_INTERVAL"); poll != "" && len(rows) > 0 {
			p.Printf("Changed polling interval to %sms\n", poll)
		}
		table(p.Stdout, header, rows)
	case "stats":
		m.showWatchdog(p, db, slices.Contains(p.Args[2:], "-e") || slices.Contains(p.Args[2:], "--empty"))
	default:
		return p.Fail("Error: No such command '%s'.", p.Args[1])
	}
	return 0
}

// stopWatchdog is pfcwd stop: names that are no ports are passed over, and no model is asked.
func (m *Machine) stopWatchdog(p *posix.Proc, ports []string) int {
	if p.User() != "root" {
		return p.Fail("Root privileges are required for this operation")
	}
	m.one.Lock()
	defer m.one.Unlock()
	db := m.snapshot().clone()
	for _, port := range ports {
		if db["PORT"][port] != nil {
			delete(db["PFC_WD"], port)
		}
	}
	if len(db["PFC_WD"]) == 0 {
		delete(db, "PFC_WD")
	}
	m.put(db)
	return 0
}

func (m *Machine) ecnconfig(_ context.Context, p *posix.Proc) int {
	if len(p.Args) != 1 || p.Args[0] != "-l" {
		return p.Fail("ecnconfig: only -l is simulated")
	}
	db := m.snapshot()
	for _, name := range slices.SortedFunc(maps.Keys(db["WRED_PROFILE"]), intent.Natural) {
		var rows [][]string
		for _, field := range slices.Sorted(maps.Keys(db["WRED_PROFILE"][name])) {
			rows = append(rows, []string{field, fmt.Sprint(db["WRED_PROFILE"][name][field])})
		}
		p.Printf("Profile: %s\n", name)
		simple(p.Stdout, nil, rows, "%-*s")
		p.Printf("\n")
	}
	return 0
}

func (m *Machine) show(_ context.Context, p *posix.Proc) int {
	db := m.snapshot()
	switch strings.Join(p.Args, " ") {
	case "runningconfiguration all":
		_, _ = p.Stdout.Write(db.print())
	case "priority-group drop counters":
		m.showGroupDrops(p, db)
	case "pfc counters":
		header := []string{"", "PFC0", "PFC1", "PFC2", "PFC3", "PFC4", "PFC5", "PFC6", "PFC7"}
		for _, way := range []string{"Rx", "Tx"} {
			header[0] = "Port " + way
			var rows [][]string
			for _, port := range db.ports() {
				rows = append(rows, []string{port, "0", "0", "0", "0", "0", "0", "0", "0"})
			}
			table(p.Stdout, header, rows)
			p.Printf("\n")
		}
	case "lldp table":
		p.Printf("Capability codes: (R) Router, (B) Bridge, (O) Other\n")
		simple(p.Stdout, []string{"LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"}, nil, "%-*s")
		p.Printf("--------------------------------------------------\nTotal entries displayed:  0\n")
	case "version":
		sku, _ := hwsku(m.device.Model)
		p.Printf("\nSONiC Software Version: SONiC.%s-rocec-lab\nHwSKU: %s\nASIC: %s\n", m.device.OS.Version, sku, m.asicType())
	default:
		return p.Fail("Error: show %s is not simulated", strings.Join(p.Args, " "))
	}
	return 0
}

// table is tabulate's "simple" form, aligned to the right: a column is wider than its
// header by two at least.
func table(w io.Writer, header []string, rows [][]string) {
	simple(w, header, rows, "%*s")
}

// simple is the same with the alignment that a format gives.
func simple(w io.Writer, header []string, rows [][]string, format string) {
	var width []int
	for _, h := range header {
		width = append(width, len(h)+2)
	}
	if header == nil && len(rows) > 0 {
		width = make([]int, len(rows[0]))
	}
	for _, r := range rows {
		for i, cell := range r {
			width[i] = max(width[i], len(cell))
		}
	}
	line := func(cells []string) {
		padded := make([]string, len(cells))
		for i, c := range cells {
			padded[i] = fmt.Sprintf(format, width[i], c)
		}
		_, _ = fmt.Fprintln(w, strings.TrimRight(strings.Join(padded, "  "), " "))
	}
	rule := make([]string, len(width))
	for i := range rule {
		rule[i] = strings.Repeat("-", width[i])
	}
	if header != nil {
		line(header)
	}
	line(rule)
	for _, r := range rows {
		line(r)
	}
	if header == nil {
		line(rule)
	}
}
