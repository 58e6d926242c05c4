package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
)

// Edits that mend what rules find. They say which attribute is to have which
// value and where that stands; the text of the source says which bytes these are,
// and whether the value is written there at all or worked out from others. What
// states a fact, as the length of a cable or a setting that was found on a
// device, has no edit: writing something else does not make it so.

// mend is what is written where the findings of a rule point to.
type mend struct {
	path  string // "pfc", "watchdog.detect"
	value string // "" takes the attribute out
}

// set is the mend that writes a value at the cause of a finding.
func set(path, value string) []mend { return []mend{{path, value}} }

// drop is the mend that takes attributes out wherever a finding points to one of
// them: what they deviate from holds again.
func drop(paths ...string) []mend {
	list := make([]mend, len(paths))
	for i, p := range paths {
		list[i].path = p
	}
	return list
}

// mended are the edits of a rule for one of its findings.
func mended(mends []mend, labels []diag.Label) []diag.Edit {
	var edits []diag.Edit
	for _, m := range mends {
		for i, l := range labels {
			if !l.Span.IsZero() && (i == 0 || m.value == "") {
				edits = append(edits, diag.Edit{Span: l.Span, Attr: m.path, New: m.value})
			}
		}
	}
	return edits
}

// setAt is the edit that writes a value at one place.
func setAt(at diag.Label, path, value string) []diag.Edit {
	return mended(set(path, value), []diag.Label{at})
}

// roundBytes is a size in the unit in which it is short, as it is written.
func roundBytes(n uint64) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf(`"%dMB"`, n/1_000_000)
	case n >= 1000 && n%1000 == 0:
		return fmt.Sprintf(`"%dKB"`, n/1000)
	}
	return fmt.Sprint(n)
}

// atMost is the largest threshold below a bound that is a whole number of KB;
// nothing if that is less than two frames.
func atMost(at diag.Label, path string, bound uint32) []diag.Edit {
	n := uint64(bound-1) / 1000 * 1000
	if bound == 0 || n < 20_000 {
		return nil
	}
	return setAt(at, path, roundBytes(n))
}

// shutSpare are the edits that shut a port, if its block is about it and about
// others without a cable alone.
func (p *Pass) shutSpare(e End) []diag.Edit {
	f := p.Fabric
	if e.Port.Flags&fabric.Implicit != 0 || e.Port.Decl == e.Device.Decl {
		return nil
	}
	if p.inUse == nil {
		p.inUse = map[fabric.DeclID]bool{}
		for i := range f.Ports {
			if f.Ports[i].Link != 0 || f.Ports[i].LAG != 0 {
				p.inUse[f.Ports[i].Decl] = true
			}
		}
	}
	if p.inUse[e.Port.Decl] {
		return nil
	}
	return setAt(f.DeclLabel(e.Port.Decl, ""), "admin", `"down"`)
}
