package cumulus

import (
	"slices"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// storedFile is the copy of the stored configuration that apply.sh keeps.
const storedFile = "rocec-startup.yaml"

// boots is Target.Stored: what startup.yaml has of the intent otherwise than the
// applied configuration. A file that is no configuration is one difference.
func boots(d *intent.Device, c targets.Captured) ([]intent.Difference, diag.List) {
	text, ok := c.Files[stored]
	if !ok {
		return nil, nil
	}
	now, list := parse(d, c)
	if now == nil || list.HasErrors() {
		return nil, nil // as Parse says
	}
	doc := decode(stored, text, c.Label)
	if doc.list.HasErrors() {
		for i := range doc.list {
			doc.list[i].Severity = diag.Warning // it is what the switch has, and to save mends it
		}
		return []intent.Difference{{Path: intent.Path{Object: intent.OfDevice}.Stored(), Before: "no configuration", After: "what is applied"}}, doc.list
	}
	starts, list := doc.device(d)
	return intent.Boots(d, now, starts), list
}

// savesOnly reports whether a switch has applied what it shall be and does not
// start with it.
func savesOnly(d *intent.Device, c targets.Captured) bool {
	lost, _ := boots(d, c)
	if len(lost) == 0 {
		return false
	}
	now, _ := parse(d, c)
	return !slices.ContainsFunc(intent.Diff(d, now), func(x intent.Difference) bool { return d.Writes(x.Path) })
}

// save writes what stores the applied configuration, and the way back from that:
// startup.yaml may be replaced [NVUE CLI, NVUE Configuration File]. live.sh knows
// such a change by the patch that it has not.
func save(d *intent.Device, out *emit.Out) {
	out.Use(kit())
	f := script(d, out, applyFile, emit.Apply, "./"+applyFile,
		"Stores the applied configuration: it is as it shall be, and the switch would not start with it.",
		"All of it is stored, also what others have applied and not saved. Nothing that runs changes.",
		"ROCEC_CONFIRM is set: leave that to rocec-live.sh.")
	f.Text("cd \"$(dirname \"${BASH_SOURCE[0]}\")\"\n" +
		"[ -z \"${ROCEC_CONFIRM-}\" ] || exit 0\n" +
		"sudo cp -p " + startup + " " + storedFile + "\n" +
		"nv config save\n")
	f = script(d, out, rollbackFile, emit.Rollback, "./"+rollbackFile, "Puts the stored configuration back that was there before. Nothing that runs changes.")
	f.Text("cd \"$(dirname \"${BASH_SOURCE[0]}\")\"\n" +
		"sudo cp -p " + storedFile + " " + startup + "\n")
}
