package sonicent

import (
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// Files of the device's folder.
const (
	configFile      = "sonic-cli.txt"
	applyFile       = "apply.sh"
	verifyFile      = "verify.sh"
	rollbackFile    = "rollback.sh"
	maintenanceFile = "maintenance.sh"
)

// write is Target.Emit.
func write(d *intent.Device, out *emit.Out) { files(d, nil, out) }

// files writes the artifacts of a device. Drop is what a captured configuration
// must lose, nil without one.
func files(d *intent.Device, drop *drops, out *emit.Out) {
	lines := build(d, drop)
	steps := maintenance(d, drop, out)
	if len(lines) == 0 {
		return
	}
	commands(d, lines, out)
	apply(d, drop != nil, steps, out)
	verify(d, out)
	rollback(d, out)
}

func header(f *emit.File, d *intent.Device, mark string) {
	for _, h := range f.Header(d) {
		f.Line("%s %s", mark, h)
	}
}

// commands writes the CLI's commands, one a line. No user text stands in them but names
// that Limits has found to be letters, digits, hyphens and underscores, so
// nothing has to be quoted for the CLI.
func commands(d *intent.Device, lines []line, out *emit.Out) {
	f := out.File(configFile, 0o644, emit.Data)
	header(f, d, "!")
	f.Line("! For configure terminal of sonic-cli: apply.sh gives it the commands one by one; pasting does the same.")
	for _, l := range lines {
		f.Line("!")
		nested(f, l, "")
	}
}

// nested writes a command, what stands in its mode, and the way out of that.
func nested(f *emit.File, l line, indent string) {
	f.Put(l.from, indent, l.text)
	for _, x := range l.in {
		nested(f, x, indent+" ")
	}
	if len(l.in) > 0 || mode(l.text) {
		f.Put(l.from, indent, " exit")
	}
}

// mode reports whether a command without anything in it enters a mode all the same.
func mode(text string) bool {
	return strings.HasPrefix(text, "interface ") || strings.HasPrefix(text, "qos ")
}

func script(d *intent.Device, out *emit.Out, file string, step emit.Step, run string, about ...string) *emit.File {
	f := out.File(file, 0o755, step)
	f.Run(run)
	f.Line("#!/bin/bash")
	header(f, d, "#")
	f.Line("# %s", emit.Comment("model "+d.Model+", ASIC "+d.ASIC+", Enterprise SONiC "+d.OS.Version))
	f.Line("#")
	for _, a := range about {
		f.Line("# %s", emit.Comment(a))
	}
	f.Line("set -euo pipefail")
	return f
}

// inRunning is a condition in bash: a line of the captured configuration starts so.
func inRunning(pattern string) string { return `grep -qE '^` + pattern + `' <<<"$running"` }

// apply gives the CLI the commands. What goes wrong there is an output line with
// "%Error" and no exit status [spytest routing/vrf.py].
func apply(d *intent.Device, removes bool, steps []string, out *emit.Out) {
	about := []string{
		"Keeps the running configuration in before.txt, gives sonic-cli the commands and shows the outcome.",
		"Nothing is saved: until write memory, rollback.sh and a reboot go back to the startup configuration.",
	}
	if d.MLAG != nil {
		about = append(about, "One half of an MCLAG pair: run it on one switch at a time. The other half is "+d.MLAG.Peer+".")
	}
	if len(steps) > 0 {
		about = append(about, "Before it, in a maintenance window: "+strings.Join(steps, ", then ")+".")
	}
	if !removes {
		about = append(about, "It removes nothing; a plan made from the switch's own configuration does (show running-configuration).")
	}
	f := script(d, out, applyFile, emit.Apply, "./"+applyFile, about...)
	f.Line("cd \"$(dirname \"${BASH_SOURCE[0]}\")\"")
	f.Line("running=$(%s)", show)
	f.Line("echo \"$running\" >before.txt")
	if initsBuffers(d) != "" {
		f.Text(strings.Join([]string{
			"if ! " + inRunning("(buffer init lossless|roce enable)") + "; then",
			"    echo \"the lossless buffers are not set up: ./" + maintenanceFile + " buffers does, and reboots the switch\" >&2",
			"    exit 1",
			"fi",
			"",
		}, "\n"))
	}
	f.Text(strings.Join([]string{
		"args=(-c \"configure terminal\")",
		"while IFS= read -r command; do",
		"    command=${command#\"${command%%[! ]*}\"}",
		"    case $command in \"\" | \"!\"*) continue ;; esac",
		"    args+=(-c \"$command\")",
		"done <" + configFile,
		"sonic-cli \"${args[@]}\" -c end </dev/null 2>&1 | tee apply.log",
		"if grep -q '% *Error' apply.log; then",
		"    echo \"sonic-cli refused a command: apply.log has it; nothing was saved, ./" + rollbackFile + " goes back\" >&2",
		"    exit 1",
		"fi",
		"./" + verifyFile,
		"echo 'if all is well, save it: sonic-cli -c \"write memory\"'",
		"",
	}, "\n"))
}

// verify shows what was applied; whether it is what was wanted is for rocec to
// say from the output of show running-configuration.
func verify(d *intent.Device, out *emit.Out) {
	f := script(d, out, verifyFile, emit.Verify, "./"+verifyFile, "Read-only: shows maps, policies, the watchdog and the links.")
	view := func(from intent.Path, command string) {
		f.Put(from, `sonic-cli -c "show `, command, ` | no-more"`)
	}
	seen := map[string]bool{"": true}
	for i := range d.Ports {
		p := &d.Ports[i]
		if p.Verify || seen[p.QoS] || d.QoSNamed(p.QoS) == nil {
			continue
		}
		if len(seen) == 1 {
			view(intent.Path{}, "qos map dscp-tc")
			view(intent.Path{}, "qos wred-policy")
			view(intent.Path{}, "qos scheduler-policy")
			view(intent.Path{}, "priority-flow-control watchdog")
		}
		seen[p.QoS] = true
		view(intent.Path{Object: intent.OfPort, Name: p.Name, Field: "qos"}, "qos interface "+p.Name)
	}
	if d.MLAG != nil {
		view(intent.Path{}, "mclag brief")
	}
	if len(d.VLANs) > 0 {
		view(intent.Path{}, "Vlan")
	}
	view(intent.Path{}, "interface status")
}

func rollback(d *intent.Device, out *emit.Out) {
	f := script(d, out, rollbackFile, emit.Rollback, "./"+rollbackFile+" now",
		"Before write memory: loads the startup configuration over the running one. Core services restart and all links go down.",
		"What maintenance.sh did is saved, and stays.")
	f.Text(strings.Join([]string{
		"if [ \"${1-}\" != now ]; then",
		"    echo \"this restarts the core services of the switch: ./" + rollbackFile + " now\" >&2",
		"    exit 1",
		"fi",
		"sonic-cli -c \"copy startup-configuration running-configuration overwrite\"",
		"",
	}, "\n"))
}

// maintenance writes the steps that take the switch out of service, and returns
// how they are run. Ports are split before the buffers are set up: those made
// later have no lossless buffers until another reboot [Broadcom RoCEv2 high level
// design].
func maintenance(d *intent.Device, drop *drops, out *emit.Out) (steps []string) {
	var splits []line
	for i := range d.Ports {
		p := &d.Ports[i]
		if !p.Verify && p.Breakout != "" && !drop.isSplit(p) {
			at := intent.Path{Object: intent.OfPort, Name: p.Name, Field: "breakout"}
			splits = append(splits, line{text: "interface breakout port " + frontPort(p) + " mode " + p.Breakout, from: at})
		}
	}
	setup := initsBuffers(d)
	if drop.buffered() {
		setup = ""
	}
	if len(splits) > 0 {
		steps = append(steps, "./"+maintenanceFile+" breakout")
	}
	if setup != "" {
		steps = append(steps, "./"+maintenanceFile+" buffers")
	}
	if len(steps) == 0 {
		return nil
	}
	about := []string{"For a maintenance window, before apply.sh, and in this order:"}
	if len(splits) > 0 {
		about = append(about, "  breakout  splits ports. A port that is split goes down and loses its settings.")
	}
	if setup != "" {
		about = append(about, "  buffers   "+setup+": asks, SAVES the configuration and REBOOTS the switch.")
	}
	f := script(d, out, maintenanceFile, emit.Maintenance, strings.Join(steps, "; "), about...)
	f.Line("case ${1-} in")
	if len(splits) > 0 {
		f.Line("breakout)")
		f.Line("    sonic-cli -c \"configure terminal\" \\")
		for i, s := range splits {
			tail := " \\"
			if i+1 == len(splits) {
				tail = ""
			}
			f.Put(s.from, "        -c \"", s.text, "\"", tail)
		}
		f.Line("    echo \"wait until all are Completed:\"")
		f.Line("    sonic-cli -c \"show interface breakout | no-more\"")
		f.Line("    ;;")
	}
	if setup != "" {
		f.Line("buffers)")
		buffers(f, setup, splits)
		f.Line("    ;;")
	}
	f.Text(strings.Join([]string{
		"*)",
		"    echo \"run one of: " + strings.Join(steps, ", ") + "\" >&2",
		"    exit 1",
		"    ;;",
		"esac",
		"",
	}, "\n"))
	return steps
}

// buffers writes the step that reboots. The two commands exclude each other
// [Broadcom RoCEv2 high level design]; the question they ask is for the operator.
func buffers(f *emit.File, setup string, splits []line) {
	other := "roce enable"
	if setup == other {
		other = "buffer init lossless"
	}
	f.Line("    running=$(%s)", show)
	for _, s := range splits {
		f.Put(s.from, "    if ! ", inRunning(s.text), "; then echo \"", s.text, " comes first\" >&2; exit 1; fi")
	}
	f.Text(strings.Join([]string{
		"    if " + inRunning(setup) + "; then echo \"it is set up already\"; exit 0; fi",
		"    if " + inRunning(other) + "; then",
		"        echo \"" + other + " is there, which excludes it and has lossless buffers too: write options = { buffers = \\\"kept\\\" } in the target, or take it away, which reboots as well\" >&2",
		"        exit 1",
		"    fi",
		"    sonic-cli -c \"configure terminal\" -c \"" + setup + "\"",
		"",
	}, "\n"))
}
