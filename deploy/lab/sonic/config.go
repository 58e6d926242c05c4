package sonic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab/posix"
)

// Where the config updater keeps checkpoints (generic_updater.py).
const (
	checkpoints   = "/etc/sonic/checkpoints"
	checkpointExt = ".cp.json"
)

func sortNatural(list []string) { slices.SortFunc(list, intent.Natural) }

// config is the command of the same name.
func (m *Machine) config(ctx context.Context, p *posix.Proc) int {
	if p.User() != "root" {
		return p.Fail("Root privileges are required for this operation")
	}
	args, yes := []string{}, false
	format, dry := "CONFIGDB", false
	for i := 0; i < len(p.Args); i++ {
		switch a := p.Args[i]; a {
		case "-y", "--yes":
			yes = true
		case "-v", "--verbose", "-n", "--ignore-non-yang-tables", "-l", "--load-predefined-config":
		case "-f", "--force", "--format":
			if len(args) > 0 && (args[0] == "apply-patch" || args[0] == "replace") && i+1 < len(p.Args) {
				i++
				format = strings.ToUpper(p.Args[i])
			}
		case "-d", "--dry-run":
			dry = true
		default:
			if strings.HasPrefix(a, "-") && a != "--ports" {
				return usage(p, strings.Join(args, " "), "No such option: "+a)
			}
			args = append(args, a)
		}
	}
	verb, operand := "", ""
	if len(args) > 0 {
		verb = args[0]
	}
	if len(args) > 1 {
		operand = args[1]
	}
	wants := map[string]string{"checkpoint": "CHECKPOINT_NAME", "rollback": "CHECKPOINT_NAME", "delete-checkpoint": "CHECKPOINT_NAME", "apply-patch": "PATCH_FILE_PATH", "replace": "TARGET_FILE_PATH"}[verb]
	if wants != "" && operand == "" {
		return usage(p, verb, "Missing argument '"+wants+"'.")
	}
	if format != "CONFIGDB" {
		return usage(p, verb, "only patches of CONFIGDB are simulated")
	}
	switch verb {
	case "checkpoint":
		return m.checkpoint(p, operand)
	case "rollback":
		return m.rollback(ctx, p, operand, dry)
	case "list-checkpoints":
		return m.listCheckpoints(p)
	case "delete-checkpoint":
		if !m.isCheckpoint(operand) {
			return failed(p, verb, "Failed to delete config checkpoint", fmt.Sprintf("Checkpoint '%s' does not exist", operand))
		}
		_ = m.disk.Remove(checkpointFile(operand))
		p.Printf("Checkpoint deleted successfully.\n")
		return 0
	case "apply-patch":
		return m.applyPatch(ctx, p, operand, dry)
	case "replace":
		return m.replace(ctx, p, operand, dry)
	case "save":
		return m.save(p, operand, yes)
	case "load", "reload":
		return m.loadFile(ctx, p, verb, operand, yes)
	case "interface":
		if operand == "breakout" && len(args) == 4 {
			return m.breakout(ctx, p, args[2], args[3], yes)
		}
	case "qos":
		if operand == "reload" { // of an image whose SKU has no templates
			p.Printf("Buffer definition template not found at /usr/share/sonic/device/x86_64-rocec_lab-r0/buffers.json.j2\n")
			return 0
		}
	}
	return usage(p, "", fmt.Sprintf("No such command '%s', or one that is not simulated.", strings.Join(args, " ")))
}

// refusal is what the config updater answers, in its words.
func refusal(format string, args ...any) error { return answer(fmt.Sprintf(format, args...)) }

type answer string

// Error is the text.
func (a answer) Error() string { return string(a) }

// usage is what click says of a command line.
func usage(p *posix.Proc, verb, text string) int {
	p.Fail("Usage: config %s [OPTIONS]\nTry 'config %s -h' for help.\n\nError: %s", verb, verb, text)
	return 2
}

// failed is what the commands say when they fail: their own line, and ctx.fail.
func failed(p *posix.Proc, verb, line, reason string) int {
	p.Fail("%s", line)
	return usage(p, verb, reason)
}

func checkpointFile(name string) string { return checkpoints + "/" + name + checkpointExt }

func (m *Machine) isCheckpoint(name string) bool {
	_, err := m.disk.Stat(checkpointFile(name))
	return err == nil && name != "" && !strings.Contains(name, "/")
}

func (m *Machine) checkpoint(p *posix.Proc, name string) int {
	const line = "Failed to create a config checkpoint"
	if strings.Contains(name, "/") {
		return failed(p, "checkpoint", line, "[Errno 2] No such file or directory: '"+checkpointFile(name)+"'")
	}
	err := m.disk.MkdirAll(checkpoints, 0o755)
	if err == nil {
		err = m.disk.WriteFile(checkpointFile(name), m.snapshot().print(), 0o644)
	}
	if err != nil {
		_ = m.disk.Remove(checkpointFile(name))
		return failed(p, "checkpoint", line, "[Errno 28] No space left on device")
	}
	p.Printf("Checkpoint created successfully.\n")
	return 0
}

func (m *Machine) listCheckpoints(p *posix.Proc) int {
	list, _ := m.disk.ReadDir(checkpoints)
	names := []string{}
	for _, e := range list {
		if name, ok := strings.CutSuffix(e.Name(), checkpointExt); ok {
			names = append(names, name)
		}
	}
	b, err := json.MarshalIndent(names, "", "    ")
	if err != nil {
		return p.Fail("%v", err)
	}
	p.Printf("%s\n", b)
	return 0
}

func (m *Machine) rollback(ctx context.Context, p *posix.Proc, name string, dry bool) int {
	const line = "Failed to rollback config"
	if !m.isCheckpoint(name) {
		return failed(p, "rollback", line, fmt.Sprintf("Checkpoint '%s' does not exist", name))
	}
	if err := m.become(ctx, checkpointFile(name), dry); err != nil {
		return failed(p, "rollback", line, err.Error())
	}
	p.Printf("Config rolled back successfully.\n")
	return 0
}

func (m *Machine) replace(ctx context.Context, p *posix.Proc, file string, dry bool) int {
	if err := m.become(ctx, p.Path(file), dry); err != nil {
		return failed(p, "replace", "Failed to replace config", err.Error())
	}
	p.Printf("Config replaced successfully.\n")
	return 0
}

// become makes a file the running configuration, by the differences.
func (m *Machine) become(ctx context.Context, file string, dry bool) error {
	b, err := m.disk.ReadFile(file)
	if err != nil {
		return err
	}
	target, err := read(b)
	if err != nil {
		return err
	}
	return m.update(ctx, func(database) (database, error) { return target, nil }, dry)
}

func (m *Machine) applyPatch(ctx context.Context, p *posix.Proc, file string, dry bool) int {
	fail := func(err error) int {
		return failed(p, "apply-patch", "Failed to apply patch due to: "+err.Error(), err.Error())
	}
	b, err := m.disk.ReadFile(p.Path(file))
	if err != nil {
		return fail(fmt.Errorf("[Errno 2] No such file or directory: '%s'", file))
	}
	patch, err := jsonpatch.DecodePatch(b)
	if err != nil {
		return fail(err)
	}
	p.Printf("Patch Applier: localhost: Patch application starting.\n")
	err = m.update(ctx, func(db database) (database, error) {
		after, err := patch.Apply(db.print())
		if err != nil {
			return nil, err
		}
		return read(after)
	}, dry)
	if err != nil {
		return fail(err)
	}
	p.Printf("Patch Applier: localhost patch application completed.\nPatch applied successfully.\n")
	return 0
}

// update is the config updater: what it does not allow changes nothing.
func (m *Machine) update(ctx context.Context, change func(database) (database, error), dry bool) error {
	m.one.Lock()
	defer m.one.Unlock()
	before := m.snapshot()
	after, err := change(before.clone())
	if err != nil {
		return err
	}
	if err := m.allowed(before, after); err != nil {
		return err
	}
	var empty []string
	for table, rows := range after {
		if len(rows) == 0 {
			empty = append(empty, table)
		}
	}
	if len(empty) > 0 {
		slices.Sort(empty)
		return fmt.Errorf("localhost: given patch is not valid because it will result in empty tables which is not allowed in ConfigDb. Table%s: %s",
			map[bool]string{true: "s", false: ""}[len(empty) != 1], strings.Join(empty, ", "))
	}
	if err := m.valid(ctx, after); err != nil {
		return fmt.Errorf("given patch will produce invalid config. Error: %w", err)
	}
	if !dry {
		m.put(after)
	}
	return nil
}

// allowed is validate_field_operation of gu_common.py.
func (m *Machine) allowed(before, after database) error {
	for _, one := range [][3]string{{"PFC_WD", "GLOBAL", "POLL_INTERVAL"}, {"PFC_WD", "GLOBAL", ""}, {"LOOPBACK_INTERFACE", "Loopback0", ""}} {
		table, key, field := one[0], one[1], one[2]
		had, has := before[table][key], after[table][key]
		gone := had != nil && has == nil && after[table] != nil
		at := "/" + table + "/" + key
		if field != "" {
			_, was := had[field]
			_, is := has[field]
			gone, at = was && !is && has != nil, at+"/"+field
		}
		if gone {
			return refusal("Given patch operation is invalid. Operation: remove is illegal on field: %s", at)
		}
	}
	for _, table := range []string{"BUFFER_POOL", "BUFFER_PROFILE", "PFC_WD"} {
		if ok, function := m.mayChange(table, before[table], after[table]); !ok {
			return refusal("Modification of %s table is illegal- validating function generic_config_updater.field_operation_validators.%s returned False", table, function)
		}
	}
	return nil
}

// mayChange is rdma_config_update_validator and that of buffer profiles.
func (m *Machine) mayChange(table string, before, after map[string]map[string]any) (bool, string) {
	const function = "rdma_config_update_validator"
	if equalRows(before, after) {
		return true, function
	}
	switch table {
	case "BUFFER_POOL":
		return false, function
	case "PFC_WD":
		return m.known, function
	}
	for key, fields := range after { // whole profiles may come and go
		old := before[key]
		if old == nil {
			continue
		}
		for name, v := range fields {
			if was, ok := old[name]; ok && fmt.Sprint(was) == fmt.Sprint(v) {
				continue
			} else if !m.known || !ok || name != "dynamic_th" && name != "xoff" {
				return false, "buffer_profile_config_update_validator"
			}
		}
		for name := range old {
			if _, ok := fields[name]; !ok {
				return false, "buffer_profile_config_update_validator"
			}
		}
	}
	return true, function
}

func equalRows(a, b map[string]map[string]any) bool {
	return maps.EqualFunc(a, b, func(x, y map[string]any) bool {
		return maps.EqualFunc(x, y, func(v, w any) bool { return fmt.Sprint(v) == fmt.Sprint(w) })
	})
}

func (m *Machine) save(p *posix.Proc, file string, yes bool) int {
	if !yes {
		return aborted(p, "Existing files will be overwritten, continue?")
	}
	target := saved
	if file != "" {
		target = p.Path(file)
	}
	p.Printf("Running command: /usr/local/bin/sonic-cfggen -d --print-data > %s\n", target)
	b := m.snapshot().print()
	scratch := target + ".lab"
	if err := m.disk.WriteFile(scratch, b, 0o644); err != nil {
		_ = m.disk.Remove(scratch)
		return p.Fail("OSError: [Errno 28] No space left on device")
	}
	_ = m.disk.Rename(scratch, target)
	return 0
}

// aborted is what click says where nobody can answer its question.
func aborted(p *posix.Proc, question string) int {
	p.Printf("%s [y/N]: \n", question)
	return p.Fail("Aborted!")
}

func (m *Machine) loadFile(ctx context.Context, p *posix.Proc, verb, file string, yes bool) int {
	if file == "" {
		file = saved
	}
	if !yes {
		return aborted(p, "Load config from the file(s) "+file+" ?")
	}
	full := p.Path(file)
	b, err := m.disk.ReadFile(full)
	if err != nil {
		p.Printf("The config_db file %s doesn't exist\n", file)
		return 0 // as config load does
	}
	more, err := read(b)
	if err != nil {
		return p.Fail("json.decoder.JSONDecodeError: %s: %v", file, err)
	}
	if verb == "reload" {
		m.one.Lock()
		defer m.one.Unlock()
		if err := m.valid(ctx, more); err != nil {
			return p.Fail("rocec lab: not what the SONiC YANG models accept: %v", err)
		}
		p.Printf("Stopping SONiC target ...\nRunning command: /usr/local/bin/sonic-cfggen  -j %s  --write-to-db\nRestarting SONiC target ...\n", file)
		m.put(more)
		return 0
	}
	p.Printf("Running command: /usr/local/bin/sonic-cfggen -j %s --write-to-db\n", file)
	if err := m.load(ctx, more); err != nil {
		return p.Fail("%v", err)
	}
	return 0
}

// breakout is config interface breakout: the children of the mode that the
// intent's model has, and those of a whole port.
func (m *Machine) breakout(ctx context.Context, p *posix.Proc, parent, mode string, yes bool) int {
	m.one.Lock()
	defer m.one.Unlock()
	db := m.snapshot()
	row := db["BREAKOUT_CFG"][parent]
	if row == nil {
		p.Printf("[ERROR] %s interface is NOT present in BREAKOUT_CFG table of CONFIG DB\n", parent)
		return p.Fail("Aborted!")
	}
	added := database{}
	index, whole := "", map[string]any{}
	for i := range m.device.Ports {
		s := m.device.Ports[i].Split
		if s == nil || s.Parent != parent {
			continue
		}
		index = strconv.Itoa(int(s.Index))
		whole = asFound(m.device)["PORT"][parent]
		if s.Mode == mode {
			added.set("PORT", m.device.Ports[i].Name, "lanes", s.Lanes, "alias", s.Alias, "index", index, "subport", strconv.Itoa(int(s.Number)), "speed", speedOf(mode), "mtu", "9100", "admin_status", "up")
		}
	}
	if mode == wholeMode && len(whole) > 0 {
		added = database{"PORT": {parent: whole}}
	}
	if len(added) == 0 {
		p.Printf("[ERROR] Target mode %s is not available for the port %s\n", mode, parent)
		return p.Fail("Aborted!")
	}
	if !yes {
		return aborted(p, "Do you want to Breakout the port, continue?")
	}
	deleted := map[string]string{}
	for name, fields := range db["PORT"] {
		if fields["index"] == index {
			deleted[name] = fmt.Sprint(fields["speed"])
		}
	}
	p.Printf("\nRunning Breakout Mode : %v \nTarget Breakout Mode : %s\n", row["brkout_mode"], mode)
	for name := range deleted {
		db.forget(name)
	}
	db.merge(added)
	db.set("BREAKOUT_CFG", parent, "brkout_mode", mode)
	if err := m.valid(ctx, db); err != nil {
		p.Printf("Failed to break out Port. Error: %v\n", err)
		return 1
	}
	m.put(db)
	p.Printf("Breakout process got successfully completed.\nPlease note loaded setting will be lost after system reboot. To preserve setting, run `config save`.\n")
	return 0
}

// speedOf is the speed of a mode such as 4x25G[10G], in Mbit/s.
func speedOf(mode string) string {
	_, rest, _ := strings.Cut(mode, "x")
	n, _ := strconv.Atoi(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))])
	return strconv.Itoa(n * 1000)
}

// forget deletes a port with what refers to it.
func (db database) forget(port string) {
	for table, rows := range db {
		for key, fields := range rows {
			parts := strings.Split(key, "|")
			if slices.Contains(parts, port) && table != "BREAKOUT_CFG" {
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
