// Package targets says what a target is: a value that turns a device's intent
// into the files that configure it, and what was read back from a device into
// intent again. A target does no I/O, sees nothing but intent, and refuses
// what it cannot express before it writes a byte. Which targets exist stands
// in targets/all; what each can say stands in its feature table.
package targets

import (
	"io/fs"
	"maps"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/feature"
)

// Target is one emitter. Parts that are nil do not exist for it.
type Target struct {
	Name     string   // as the source names it: "sonic", "netqos", "linux"
	Title    string   // one line: what it writes, for whom
	OS       []string // names of operating systems it serves: "windows-server"
	Kinds    []intent.Kind
	Versions string // what it covers, in words, for the matrix: "202205 to 202605"
	Options  []Option
	Features feature.Table
	// Limits refuses what depends on values rather than on features. Of names of
	// devices in plain letters, of MAC addresses in their usual form and of IP
	// addresses that are neither loopback nor link-local it may ask how they
	// relate: which are equal, and which prefix holds which address. What they
	// are it must not ask: devices that differ in nothing else are judged as one
	// (lower.Shape).
	Limits func(d *intent.Device, refuse Refuse)
	// Shared lists what belongs to the cluster of a device and not to the device,
	// so that all devices of one cluster must have it alike, and be of this
	// target. Nil: devices are on their own.
	Shared func(d *intent.Device) []Shared
	// Emit writes every artifact of a device that passed Features and Limits.
	// It cannot fail.
	Emit func(d *intent.Device, out *emit.Out)
	// Written is, for the documentation, what Emit writes and what keeps it in
	// force; Left what of a device it leaves to others. May be nil.
	Written []Written
	Left    []string
	// Rebase writes what Emit writes, made to fit the device as it was captured:
	// a patch instead of whole artifacts. Nil: Emit is all there is. Like Parse
	// it takes hostile captures; with an error among its findings, out holds
	// nothing that may be used.
	Rebase func(d *intent.Device, c Captured, out *emit.Out) diag.List
	// Delta are patterns (path.Match) of the artifacts of Rebase that say, for people,
	// what will change on the device.
	Delta []string
	// Probes are the read-only commands whose output Parse takes.
	Probes []Probe
	// Neighbours is the read-only command that prints what neighbours say by LLDP, in
	// a form that cable lists of format "lldp" have. Nil: there is none.
	Neighbours *Probe
	// Health reads how the device is. Nil: it cannot be asked.
	Health *Health
	// Capture is the artifact that runs all probes and keeps what they print. "":
	// there is none, and an operator runs them one by one.
	Capture string
	// Parse turns captured output into what could be observed. Fields it could
	// not read stay unmanaged. Captures are hostile: errors are diagnostics.
	Parse func(d *intent.Device, c Captured) (*intent.Device, diag.List)
	// Stored reads of the same captures what the device starts with after a reboot:
	// the settings of an intent with which it runs and does not start, as
	// intent.Boots lists them. What no capture shows is not known, and no
	// difference. Rebase, where there is one, then writes an apply artifact that
	// stores what runs. Besides, and by paths that are not stored ones, what only
	// stored files have settings of and the device runs otherwise. Nil: what is
	// stored cannot be read.
	Stored func(d *intent.Device, c Captured) ([]intent.Difference, diag.List)
	// Outdated reads of the same captures what the device has of an older intent or
	// an older version of the emitter, though it runs and starts with the settings:
	// what a plan without other changes would write anew. That is no drift. Nil:
	// there is nothing of that kind.
	Outdated func(d *intent.Device, c Captured) []intent.Difference
	// Saves says how what runs is stored, for plans: "config save stores the whole
	// running configuration".
	Saves string
	// Impact says what a change does to traffic, one of what is stored by its stored
	// path. Nil: nothing interrupts.
	Impact func(d *intent.Device, c Change) Impact
	// Observable says whether Parse can show a field at all. Nil: every field.
	Observable func(d *intent.Device, p intent.Path) bool
	// Live says how devices are changed over a session. Nil: by bundles only.
	Live *Live
	// Sources are documents the emitter rests on, for capabilities and pages.
	Sources []string
}

// Write is Emit for the devices that rocec writes; one that is only compared
// gets no file.
func (t *Target) Write(d *intent.Device, out *emit.Out) {
	if !d.Verify {
		t.Emit(d, out)
	}
}

// Option is one setting of a target block.
type Option struct {
	Name    string
	Kind    OptionKind
	Values  []string // of an enumeration
	Default string
	Doc     string
}

// OptionKind is the form of an option's value.
type OptionKind string

// Forms of option values.
const (
	OptionBool   OptionKind = "bool"
	OptionNumber OptionKind = "number"
	OptionEnum   OptionKind = "enum"
	OptionString OptionKind = "string"
	OptionBytes  OptionKind = "bytes"
)

// Value is the option as the device has it, else its default.
func (o Option) Value(d *intent.Device) string {
	if v, ok := d.Options[o.Name]; ok {
		return v
	}
	return o.Default
}

// Refuse reports that a field cannot be expressed: summary in the form of
// package diag, help says what to write instead. Several paths make several
// labels; the first is the cause.
type Refuse func(summary, help string, at ...intent.Path)

// Written is a group of settings in one place of a device.
type Written struct {
	Settings string
	Place    string // file, service or store
	Lasts    string // what sets them again, and when
}

// Probe is one read-only command and the file that holds its output when
// output is captured by hand.
type Probe struct {
	File    string // "running-config.json"; a %s stands for a port's name
	Command string
	PerPort bool
	Needed  bool // every such device prints it: where a live one does not, nothing is told by the rest
	Stored  bool // it prints what the device starts with, and not what it runs
}

// Running are captures without what probes print that say what a device starts
// with: in the middle of a change that is always something else.
func (t *Target) Running(c Captured) Captured {
	files := maps.Clone(c.Files)
	for _, p := range t.Probes {
		if p.Stored {
			delete(files, p.File)
		}
	}
	return Captured{Files: files, Label: c.Label}
}

// Runs are the probes of one device, those of a port for each of its ports. A port
// that has no name for a file (fs.ValidPath) or for a shell has none.
func (t *Target) Runs(d *intent.Device) []Probe {
	var list []Probe
	for _, p := range t.Probes {
		if !p.PerPort {
			list = append(list, p)
			continue
		}
		for i := range d.Ports {
			name := d.Ports[i].Name
			file := strings.ReplaceAll(p.File, "%s", name)
			word, err := emit.Shell(name)
			if err == nil && fs.ValidPath(file) {
				list = append(list, Probe{File: file, Command: strings.ReplaceAll(p.Command, "%s", word), PerPort: true, Needed: p.Needed})
			}
		}
	}
	return list
}

// Captured is the output of probes by file name, and which source files they are.
type Captured struct {
	Files map[string][]byte
	Label func(file string, offset, length int) diag.Label // where a finding points; may be nil
	Armed *Armed                                           // what is open on the device; nil: nothing, or it was not asked
}

// Change is one field that differs.
type Change struct {
	Path   intent.Path
	Before string
	After  string
}

// Impact is what applying a change does.
type Impact struct {
	Interrupts bool
	Note       string // "link flap, about 2 s per port (mlx5)"
	// Whole is a change that interrupts the whole device: Note is said of its first
	// configuration too, where the fields are counted only.
	Whole bool
	// Withheld is a change that no transaction over a session makes as the device is
	// configured, so that one would be taken back: Note says what lets it.
	Withheld bool
}
