// Package posix is the program that changes a device with a POSIX shell from
// within: rocec-live.sh, which carries out the verbs of targets.Live. It takes
// from a target the few functions that differ between systems and returns the
// artifact for the target's kit, and the targets.Live that runs it. What a change
// is made of, and how a system goes back, is left to the targets.
package posix

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// Root is where transactions lie. Unlike /tmp and /run, /var/lib outlives a
// reboot, in the middle of which a device has to find its way back, and nobody but
// root can be there first.
const Root = "/var/lib/rocec/live"

// Open is the file that names the change that is neither confirmed nor undone.
const Open = Root + "/.open"

// File is the name of the program in a kit.
const File = "rocec-live.sh"

//go:embed rocec-live.sh
var core string

// Program is the artifact. The part of the target is shell text that defines
//
//	part_programs        variable: programs it needs besides those of the core
//	part_check           says why nothing may be begun here, and fails
//	part_keep DIR        keeps in DIR what part_revert needs; changes no setting
//	part_forget ID       takes away what part_keep made elsewhere, for that change
//	part_change DIR      makes the change
//	part_confirm DIR     makes it last over a reboot
//	part_revert DIR      goes back, also when it was cut off before, or the change
//
// All of them run in the device's folder, as root, and know id, kit (the folder
// of the program), host and seconds. What fails says why in its last line.
func Program(part string) emit.Artifact {
	const head = "#!/bin/bash\n# made by rocec, the same for every device\n"
	const setup = "\nset -u\nexport LC_ALL=C PATH=\"$PATH:/usr/local/sbin:/usr/sbin:/sbin\"\n\n"
	about, rest, _ := strings.Cut(core, "\n\n")
	return emit.Artifact{Path: File, Mode: 0o755, Step: emit.Data, Bytes: []byte(head + about + setup + part + "\n" + rest)}
}

// Live runs the program of a kit. The kit is asked for when a command is written.
// Confirms says what keeps the time.
func Live(kit func() *emit.Kit, confirms string) *targets.Live {
	return &targets.Live{
		Shell:   targets.POSIX,
		Root:    Root,
		Prepare: prepare,
		Command: func(v targets.Verb, tx targets.Transaction) string {
			if v == targets.VerbStatus {
				return status(tx.ID)
			}
			line := "bash " + kit().Folder() + "/" + File + " " + string(v) + " " + tx.ID
			if v == targets.VerbBegin {
				line += " " + strconv.Itoa(int(tx.Confirm.Seconds())) + " " + word(tx.Device.Name)
			}
			if v == targets.VerbConfirm && tx.Boot != "" {
				line += " " + word(tx.Boot)
			}
			return line
		},
		Manual: func(tx targets.Transaction) string {
			return "sudo bash " + stateOf(tx.ID) + "/" + File + " revert " + tx.ID
		},
		Confirms: confirms,
	}
}

// stateOf is the folder of what a device knows of a change; it holds a copy of
// the program too. IDs have no dot, so that no transaction is called so.
func stateOf(id string) string { return Root + "/" + id + ".state" }

// prepare makes the folder. It becomes the login's, who puts the files there:
// others can read it, to be told the status.
func prepare(tx targets.Transaction) string {
	return `d=` + Root + `/` + tx.ID + `; ` +
		`if [ "$(id -u)" = 0 ]; then mkdir -p "$d" && chmod 755 ` + Root + ` "$d" || exit ` + strconv.Itoa(targets.ExitRefused) + `; ` +
		`elif ! sudo -n true; then echo "$(id -un) is not root, and sudo asks for a password" >&2; exit ` + strconv.Itoa(targets.ExitRefused) + `; ` +
		`else sudo -n mkdir -p "$d" && sudo -n chmod 755 ` + Root + ` "$d" && sudo -n chown "$(id -u)" "$d" || exit ` + strconv.Itoa(targets.ExitRefused) + `; fi`
}

// status asks the program that began the change, else that of any other change,
// which knows what is open. Where there is none, nothing ever was.
func status(id string) string {
	return `for p in ` + stateOf(id) + `/` + File + ` ` + Root + `/*.state/` + File + `; do ` +
		`if [ -r "$p" ]; then bash "$p" status ` + id + `; exit; fi; done; ` +
		`echo '{"id":"` + id + `","phase":"none","left_seconds":0,"open":"","open_left_seconds":0,"message":"","boot":""}'`
}

// word quotes a name for the shell. One that cannot be quoted, which no target
// lets through, is no host's name either: it is refused there.
func word(name string) string {
	w, err := emit.Shell(name)
	if err != nil {
		return "''"
	}
	return w
}
