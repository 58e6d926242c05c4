package apply

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/rocec/rocec/lang/diag"
)

// Wave is devices that change together, for the text of a delivery.
type Wave struct {
	Name string
	By   string // what its parts, one after the other, have in common: "rail"; "" = it has none
	Then string // what has to happen before the next wave, and the next part, in words; may be ""
}

// InWaves puts the devices of a delivery into the order of waves. Place gives the
// wave of a device, from 1, and its rank inside of it; those of one rank keep
// their order.
func (d *Delivery) InWaves(waves []Wave, place func(address string) (wave, rank int)) {
	d.waves = waves
	for i := range d.Devices {
		h := &d.Devices[i]
		h.wave, h.rank = place(h.Address)
		if h.wave > 0 {
			h.Wave = waves[h.wave-1].Name
		}
	}
	slices.SortStableFunc(d.Devices, func(a, b Handed) int { return cmp.Or(cmp.Compare(a.wave, b.wave), cmp.Compare(a.rank, b.rank)) })
}

// heading prints where a wave begins and where one ends, before the device that
// comes next; after the last one h is nil.
func (d *Delivery) heading(w io.Writer, last int, h *Handed) int {
	now := 0
	if h != nil {
		now = h.wave
	}
	if now == last {
		return now
	}
	if last > 0 && d.waves[last-1].Then != "" {
		after := "Then"
		if by := d.waves[last-1].By; by != "" {
			after = "After each " + by
		}
		fmt.Fprintf(w, "%s: %s.\n\n", after, diag.Printable(d.waves[last-1].Then))
	}
	if now > 0 {
		fmt.Fprintf(w, "Wave %s", diag.Printable(d.waves[now-1].Name))
		if by := d.waves[now-1].By; by != "" {
			fmt.Fprintf(w, ", one %s after the other", by)
		}
		fmt.Fprint(w, "\n\n")
	}
	return now
}
