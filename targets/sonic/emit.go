package sonic

import (
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// Files of the device's folder, and the program of the kit. None is called config_db.json: they are parts
// that are merged, and config reload of a part would lose the rest.
const (
	linksFile       = "rocec-ports.json"
	qosFile         = "rocec-qos.json"
	maintenanceFile = "rocec-maintenance.json"
	absentFile      = "rocec-absent.json"
	checkFile       = "rocec-check.py"
	beforeFile      = "rocec-before.json"
	checkpointFile  = "rocec-checkpoint"
	restartFile     = "rocec-restarts.txt"
	commandsFile    = "rocec-commands.txt"
)

// write is Target.Emit: fragments that config load merges, and the scripts around them.
func write(d *intent.Device, out *emit.Out) {
	breakouts := breakoutsOf(d)
	split := splitSteps(d, breakouts, out)
	first := len(out.Artifacts)
	linkFragment(d, out)
	out.Alike("qos", d, anonymous, func(d *intent.Device, out *emit.Out) { fragments(qosOf(d), out) })
	var files []string
	window := false
	for _, a := range out.Artifacts[first:] {
		if a.Path == maintenanceFile {
			window = true
		} else {
			files = append(files, a.Path)
		}
	}
	if len(files) == 0 && !window && !split {
		return
	}
	last := len(out.Artifacts)
	out.Alike("absent", d, unaddressed, func(d *intent.Device, out *emit.Out) { forbid(absences(d), out) })
	gone := len(out.Artifacts) > last
	out.Use(kit())
	if len(files) > 0 {
		s := script(d, out, "apply.sh", emit.Apply,
			"Merges the fragments into ConfigDB, verifies them and saves. It removes nothing: rows that",
			"overlap with it or that have to go stop it before the first change.", liveNote)
		if split {
			s.before(append([]string{breakoutFile}, files...))
			s.splitFirst()
		} else {
			s.before(files)
		}
		s.canHash(d)
		s.overlap(files)
		s.absent(beforeFile, gone, files)
		if slices.ContainsFunc(d.Ifaces, func(f intent.Iface) bool { return f.VRF != "" }) {
			s.Line("python3 \"$check\" moves %s %s", beforeFile, linksFile)
		}
		s.checkpoint()
		for _, f := range files {
			s.Line("config load -y %s", f)
		}
		s.restarts(d, files)
		s.after(d, gone, files)
	}
	if window {
		maintenance(d, familyOf(d.ASIC) == broadcom && globalMap(d) != nil, out, maintenanceFile)
	}
	verifier(d, len(breakouts) > 0, gone, files, out)
	loaded := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == linksFile })
	if window {
		loaded = append(loaded, maintenanceFile)
	}
	undo(d, loaded, out)
	if split {
		undoSplit(d, out)
	}
}

// anonymous leaves of a device what its QoS and its buffers depend on.
func anonymous(d *intent.Device) { d.Name, d.Ifaces, d.MLAG = "", nil, nil }

// unaddressed leaves of a device what its absences depend on: interfaces with
// their kind and place, and whether there are addresses.
func unaddressed(d *intent.Device) {
	d.Name = ""
	if d.MLAG != nil {
		d.MLAG = &intent.MLAG{Domain: d.MLAG.Domain}
	}
	ifaces := make([]intent.Iface, len(d.Ifaces))
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		ifaces[i] = intent.Iface{Name: f.Name, Kind: f.Kind, On: f.On, VLAN: f.VLAN}
		ifaces[i].Addresses.State = f.Addresses.State
	}
	d.Ifaces = ifaces
}

// fragments writes the parts of the configuration and returns the names of
// those that a normal run loads.
func fragments(c config, out *emit.Out) []string {
	var files []string
	for _, part := range []struct {
		file   string
		tables []string
	}{{linksFile, links}, {qosFile, order[len(links):]}} {
		if t := c.normal.only(part.tables); len(t) > 0 {
			t.write(out.File(part.file, 0o644, emit.Data))
			files = append(files, part.file)
		}
	}
	if len(c.maintenance) > 0 {
		c.maintenance.write(out.File(maintenanceFile, 0o644, emit.Data))
	}
	return files
}

// linkFragment writes the part below the QoS: tables that many switches have
// alike, and those with addresses.
func linkFragment(d *intent.Device, out *emit.Out) {
	own := routesOf(d).normal
	printed := out.Parts("links", d, anonymous, func(d *intent.Device, out *emit.Out) { bridgeOf(d).normal.print(out) })
	for i := range printed {
		if own[printed[i].Path] != nil { // an SVI writes to the row of its VLAN
			printed, own = nil, build(d).normal.only(links)
			break
		}
	}
	if len(own)+len(printed) > 0 {
		own.writeWith(printed, out.File(linksFile, 0o644, emit.Data))
	}
}

// maintenance writes the script for what re-carves the packet buffer or what
// the config updater refuses; global says that the map of the whole switch is
// among it.
func maintenance(d *intent.Device, global bool, out *emit.Out, file string) {
	about := []string{
		"For a maintenance window: merges " + file + ", which changes tables that",
		"config apply-patch refuses or that re-carve the packet buffer. Traffic may be lost.",
	}
	if global {
		about = append(about, "The map of the whole switch (PORT_QOS_MAP|global) takes effect with the next config reload or reboot:",
			"the Broadcom SAI does not change it while the switch runs.")
	}
	s := script(d, out, "apply-maintenance.sh", emit.Maintenance, about...)
	s.before([]string{file})
	s.overlap([]string{file})
	s.checkpoint()
	s.Line("config load -y %s", file)
	s.Line("python3 \"$check\" missing <(sonic-cfggen -d --print-data) %s", file)
	s.Line("config save -y")
}

// verifier writes the read-only check.
func verifier(d *intent.Device, split, gone bool, files []string, out *emit.Out) {
	if split {
		files = append([]string{breakoutFile}, files...)
	}
	if len(files) == 0 {
		return
	}
	s := script(d, out, "verify.sh", emit.Verify,
		"Read-only: compares ConfigDB with the fragments, then shows the watchdog and the pause counters.")
	s.Line("cd \"$(dirname \"${BASH_SOURCE[0]}\")\"")
	s.checks()
	s.Line("python3 \"$check\" missing <(sonic-cfggen -d --print-data) %s", strings.Join(files, " "))
	s.absent("<(sonic-cfggen -d --print-data)", gone, files)
	if bufferModel(d) == traditional && strings.Contains(strings.Join(files, " "), qosFile) {
		s.Line("# the buffer manager makes the lossless groups by itself, unless its table has no row for the speed and cable")
		s.Line("python3 \"$check\" groups <(sonic-cfggen -d --print-data) %s", qosFile)
	}
	s.Line("pfcwd show config")
	s.Line("show pfc counters")
}

// undo writes the way back. What the config updater refuses to touch goes first, row
// by row and the rows that name others first: of the files that config load merged,
// and of what the buffer manager made since. sonic-db-cli hands a command to the
// database [sonic-net/sonic-swss-common sonic-db-cli/sonic-db-cli.cpp].
func undo(d *intent.Device, loaded []string, out *emit.Out) {
	about := []string{
		"Goes back to the checkpoint that the last apply script took. Where the config updater refuses,",
		"config reload -y " + beforeFile + " goes back too, but restarts the services.",
	}
	if d.Hash.Function.IsSet() {
		// [sonic-swss orchagent/switchorch.cpp: no removal of a switch hash]
		about = append(about, "A hash function that was not set before stays in the chip until that reload: orchagent removes none.")
	}
	s := script(d, out, "rollback.sh", emit.Rollback, about...)
	s.root()
	made := bufferModel(d) == traditional && len(d.QoS) > 0
	if len(loaded) > 0 || made {
		s.checks()
		s.database("back", append([]string{beforeFile, "<(sonic-cfggen -d --print-data)"}, loaded...))
		s.Line("back")
	}
	s.Line("config rollback \"$(cat %s)\"", checkpointFile)
	if len(loaded) > 0 || made {
		s.Line("back") // watchdogs start with the priorities that are back, groups are made anew when ports open
	}
	s.Line("config save -y")
}

// database writes a function that hands the commands to the database that the program
// prints for its name.
func (s scriptFile) database(name string, files []string) {
	s.Line("%s() {", name)
	s.Line("    python3 \"$check\" %s %s > %s", name, strings.Join(files, " "), commandsFile)
	s.Text("    while IFS=$'\\x1f' read -r -a step; do\n" +
		"        sonic-db-cli CONFIG_DB \"${step[@]}\" >/dev/null\n" +
		"    done < " + commandsFile + "\n}\n")
}

// scriptFile is a shell script under way.
type scriptFile struct{ *emit.File }

// liveNote says what the apply script leaves to rocec-live.sh.
const liveNote = "ROCEC_LIVE=ID: take no checkpoint and save nothing, since rocec-live.sh does both."

// script begins a shell script for the switch.
func script(d *intent.Device, out *emit.Out, name string, step emit.Step, about ...string) scriptFile {
	f := out.File(name, 0o755, step)
	f.Run("sudo ./" + name)
	f.Line("#!/bin/bash")
	for _, h := range f.Header(d) {
		f.Line("# %s", h)
	}
	f.Line("# %s", emit.Comment("model "+d.Model+", ASIC "+d.ASIC+", "+bufferModel(d)+" buffer model"))
	f.Line("#")
	for _, a := range about {
		f.Line("# %s", emit.Comment(a))
	}
	if d.MLAG != nil && (step == emit.Apply || step == emit.Maintenance) {
		f.From(intent.Path{Object: intent.OfDevice, Field: "mlag"},
			"# One half of an MCLAG pair: run it on one switch at a time. The other half is %s.", emit.Comment(d.MLAG.Peer))
	}
	f.Line("#")
	f.Line("# Run on the switch: sudo ./%s", name)
	f.Line("set -euo pipefail")
	return scriptFile{f}
}

// root goes to the script's folder and demands what config demands.
func (s scriptFile) root() {
	s.Text("cd \"$(dirname \"${BASH_SOURCE[0]}\")\"\n" +
		"if [ \"$(id -u)\" -ne 0 ]; then\n" +
		"    echo \"run it with sudo\" >&2\n" +
		"    exit 1\n" +
		"fi\n")
}

// before demands the files, because config load says that a file is missing and
// exits with 0, and takes the checkpoint that rollback.sh goes back to.
func (s scriptFile) before(files []string) {
	s.root()
	s.checks()
	s.Line("for f in \"$check\" %s; do", strings.Join(files, " "))
	s.Text("    if [ ! -f \"$f\" ]; then\n" +
		"        echo \"$f is missing\" >&2\n" +
		"        exit 1\n" +
		"    fi\n" +
		"done\n")
	s.Line("sonic-cfggen -d --print-data > %s", beforeFile)
}

// overlap stops before rows such as QUEUE|Ethernet0|3-4 and QUEUE|Ethernet0|3
// would both exist: which of them wins is not defined.
func (s scriptFile) overlap(files []string) {
	s.Line("python3 \"$check\" overlap %s %s", beforeFile, strings.Join(files, " "))
}

// absent demands that what has to be none is not there.
func (s scriptFile) absent(database string, gone bool, files []string) {
	if gone {
		s.Line("python3 \"$check\" absent %s %s %s", database, absentFile, strings.Join(files, " "))
	}
}

// restarts stops the watchdogs that ran with something else before, and loads
// their rows again: see merge.restarts.
func (s scriptFile) restarts(d *intent.Device, files []string) {
	if !slices.Contains(files, qosFile) || !slices.ContainsFunc(d.QoS, func(q intent.QoS) bool { return q.Watchdog.IsSet() && q.Watchdog.Value.On }) {
		return
	}
	s.Line("python3 \"$check\" restarts %s %s > %s", beforeFile, qosFile, restartFile)
	s.Text("if [ -s " + restartFile + " ]; then\n" +
		"    readarray -t ports < " + restartFile + "\n" +
		"    pfcwd stop \"${ports[@]}\"\n" +
		"    config load -y " + qosFile + "\n" +
		"fi\n")
}

func (s scriptFile) checkpoint() {
	s.Text("if [ -z \"${ROCEC_LIVE-}\" ]; then\n" +
		"    checkpoint=rocec-$(date -u +%Y%m%dT%H%M%SZ)\n" +
		"    config checkpoint \"$checkpoint\"\n")
	s.Line("    printf '%%s\\n' \"$checkpoint\" > %s", checkpointFile)
	s.Line("fi")
}

// after verifies, with time for the buffer manager, and saves only what is right. What
// settle writes may be what is there: services hear of it all the same [redis
// src/t_hash.c, hsetCommand, which tells of each HSET].
func (s scriptFile) after(d *intent.Device, gone bool, files []string) {
	settles := gone && bufferModel(d) == traditional && slices.Contains(files, qosFile)
	if settles {
		s.database("settle", append([]string{"<(sonic-cfggen -d --print-data)", absentFile}, files...))
	}
	s.Text("for try in 1 2 3 4 5 6; do\n")
	if settles {
		s.Text("    settle\n")
	}
	s.Text("    if ./verify.sh; then\n" +
		"        [ -n \"${ROCEC_LIVE-}\" ] || config save -y\n" +
		"        exit 0\n" +
		"    fi\n" +
		"    echo \"not yet as wanted (try $try of 6)\" >&2\n" +
		"    sleep 5\n" +
		"done\n" +
		"echo \"verify.sh finds what is not as wanted, and nothing was saved; sudo ./rollback.sh goes back\" >&2\n" +
		"exit 1\n")
}
