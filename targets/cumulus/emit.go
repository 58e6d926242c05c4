package cumulus

import (
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// Files of the device's folder.
const (
	patchFile    = "nvue.yaml"
	commandsFile = "nvue-commands.txt"
	applyFile    = "apply.sh"
	verifyFile   = "verify.sh"
	rollbackFile = "rollback.sh"
)

// confirm is how long NVUE waits for the second command before it goes back by
// itself, its own default [NVUE CLI, Configuration Management Commands]. It is
// written with a unit, as a number alone counts minutes in some versions.
const confirm = "10m"

// write is Target.Emit.
func write(d *intent.Device, out *emit.Out) {
	files(d, build(d), nil, out)
}

// files writes the artifacts of a set, and of what is unset first.
func files(d *intent.Device, set, unset *node, out *emit.Out) {
	if len(set.kids) == 0 && (unset == nil || len(unset.kids) == 0) {
		return
	}
	out.Use(kit())
	patch(d, set, unset, out)
	commands(d, set, unset, out)
	apply(d, unset, out)
	verify(d, set, out)
	undo(d, out)
}

// patch writes the YAML. It is never for nv config replace, which would take
// away what it does not name, the users included [NVUE CLI, Default Startup File].
func patch(d *intent.Device, set, unset *node, out *emit.Out) {
	f := out.File(patchFile, 0o644, emit.Data)
	header(f, d)
	f.Line("# For nv config patch, not for nv config replace: that removes all that does not stand here.")
	if unset != nil && len(unset.kids) > 0 {
		f.Line("- unset:")
		unset.yaml(f, 4, true)
	}
	if len(set.kids) > 0 {
		f.Line("- set:")
		set.yaml(f, 4, false)
	}
}

// commands writes the same as commands. NVUE takes such a file too when it
// holds nothing but commands, comments and blank lines [NVUE CLI, Replace and
// Patch a Pending Configuration], and a shell runs it.
func commands(d *intent.Device, set, unset *node, out *emit.Out) {
	f := out.File(commandsFile, 0o644, emit.Data)
	header(f, d)
	f.Line("# The same as %s, one command a line: for reading, for nv config patch, or for a shell on the switch.", patchFile)
	f.Line("# Then: nv config diff")
	f.Line("#       nv config apply --confirm %s -y", confirm)
	f.Line("#       nv config apply --confirm-yes    (within %s, or the switch goes back)", confirm)
	if unset != nil {
		unset.commands(f, "unset")
	}
	set.commands(f, "set")
}

func header(f *emit.File, d *intent.Device) {
	for _, h := range f.Header(d) {
		f.Line("# %s", h)
	}
}

func script(d *intent.Device, out *emit.Out, file string, step emit.Step, run string, about ...string) *emit.File {
	f := out.File(file, 0o755, step)
	f.Run(run)
	f.Line("#!/bin/bash")
	header(f, d)
	f.Line("# %s", emit.Comment("model "+d.Model+", ASIC "+d.ASIC+", Cumulus Linux "+d.OS.Version))
	f.Line("#")
	for _, a := range about {
		f.Line("# %s", emit.Comment(a))
	}
	f.Line("set -euo pipefail")
	return f
}

func apply(d *intent.Device, unset *node, out *emit.Out) {
	about := []string{
		"Patches the pending configuration, shows what it changes and applies it with a timer: without",
		"nv config apply --confirm-yes within " + confirm + " the switch goes back by itself.",
		"A pending change of somebody else would be applied too, so it stops where there is one.",
		"ROCEC_CONFIRM=TIME: wait that long instead.",
	}
	if d.MLAG != nil {
		about = append(about, "One half of an MLAG pair: run it on one switch at a time. The other half is "+d.MLAG.Peer+".")
	}
	if d.Hash.Seed.IsSet() {
		about = append(about, "A hash seed that changes restarts switchd, and every port goes down: then run it in a maintenance window.")
	}
	if unset == nil {
		about = append(about, "It removes nothing; a plan made from the switch's own configuration does (nv config show).")
	}
	f := script(d, out, applyFile, emit.Apply, "./"+applyFile, about...)
	f.Line("cd \"$(dirname \"${BASH_SOURCE[0]}\")\"")
	f.Line("if [ -n \"$(nv config diff 2>/dev/null || true)\" ]; then")
	f.Line("    echo \"there are pending changes: nv config diff shows them, nv config detach puts them aside\" >&2")
	f.Line("    exit 1")
	f.Line("fi")
	f.Line("nv config patch \"$PWD/%s\"", patchFile) // NVUE wants the whole path [NVUE Snippets]
	f.Line("nv config diff")
	f.Line("nv config apply --confirm \"${ROCEC_CONFIRM-%s}\" -y", confirm)
	f.Line("./%s", verifyFile)
	f.Line("echo \"if all is well: nv config apply --confirm-yes\"")
}

// verify shows what was applied; whether it is what was wanted is for rocec to
// say from the output of nv config show.
func verify(d *intent.Device, set *node, out *emit.Out) {
	f := script(d, out, verifyFile, emit.Verify, "./"+verifyFile, "Read-only: shows the applied profiles, the watchdog and the links.")
	qos := set.get("qos")
	if qos != nil {
		for _, kind := range qos.kids {
			switch kind.key {
			case "mapping", "pfc", "congestion-control", "egress-scheduler":
				for _, p := range kind.kids {
					f.From(p.from, "nv show qos %s %s", kind.key, shell(p.key))
				}
			case "egress-queue-mapping":
				f.Line("nv show qos egress-queue-mapping %s", global)
			case "roce":
				if m := kind.get("mode"); m != nil {
					f.From(m.from, "nv show qos roce")
				}
			}
		}
	}
	if set.get("mlag") != nil {
		f.Line("nv show mlag")
	}
	f.Line("nv show interface")
}

func undo(d *intent.Device, out *emit.Out) {
	f := script(d, out, rollbackFile, emit.Rollback, "./"+rollbackFile+" REVISION",
		"Goes back to a revision of nv config history. Before the timer has run out, nv config apply --confirm-no does.")
	f.Text(strings.Join([]string{
		"if [ $# -ne 1 ]; then",
		"    nv config history",
		"    echo \"name the revision to go back to\" >&2",
		"    exit 1",
		"fi",
		"nv config apply \"$1\" -y",
		"",
	}, "\n"))
}
