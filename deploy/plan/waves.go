package plan

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// Waves are the order in which devices change, for a plan that is joined.
type Waves struct {
	Names []string
	Of    func(owner string) int // 1 + index in Names by address of a device; 0: in none
}

// Wave is what a plan changes in one wave of the rollout.
type Wave struct {
	Name    string `json:"name"`
	Devices int    `json:"devices"`
	Ports   int    `json:"ports"` // of those devices, that change
}

// waves counts the changes wave by wave. What no wave has, as it is no longer in
// the configuration, is left out.
func waves(w Waves, changes []Change) []Wave {
	if len(w.Names) == 0 {
		return nil
	}
	list := make([]Wave, len(w.Names))
	for i, name := range w.Names {
		list[i].Name = name
	}
	last := ""
	for i := range changes { // the changes of a device stand together
		c := &changes[i]
		n := w.Of(c.Owner)
		if n == 0 {
			continue
		}
		if c.Owner != last {
			list[n-1].Devices++
			last = c.Owner
		}
		if c.Object == intent.OfPort {
			list[n-1].Ports++
		}
	}
	return list
}

// waveLine is what the line on the impact says of waves, "" where there are none.
func waveLine(list []Wave) string {
	var parts []string
	for _, w := range list {
		switch {
		case w.Ports > 0:
			parts = append(parts, fmt.Sprintf("%s (%s)", w.Name, plural(w.Ports, "port")))
		case w.Devices > 0:
			parts = append(parts, fmt.Sprintf("%s (%s)", w.Name, plural(w.Devices, "device")))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " Waves: " + strings.Join(parts, ", ") + "."
}
