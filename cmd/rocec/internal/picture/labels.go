package picture

import (
	"fmt"
	"io"
	"slices"
)

// label is what a line between two boxes says of its cables.
type label struct {
	text, colour string
	whole        string // what text stands for where there is little room
	tiers        [2]int // of the boxes, the upper one first
	spots        [][2]float64
	below        float64 // top of the lower box
}

// along is where on a line its label may stand, best first.
var along = [...]float64{0.6, 0.42, 0.78, 0.28}

// labels are those of all lines of a drawing.
type labels []label

// draw says once, at the left, what all lines between two tiers have in common,
// and writes on lines what they have for themselves, as far as there is room for
// it: what is not written is in the title of the line.
func (all labels) draw(w io.Writer) {
	const high = 11 // of a text
	var taken [][3]float64
	room := len(all) <= maxLabels
	for _, tiers := range all.gaps() {
		common, lines := all.common(tiers)
		if common != nil && lines > 1 && tiers[0] != tiers[1] {
			fmt.Fprintf(w, `<text x="%d" y="%.0f" font-size="10" fill="#777">each line:</text>`+"\n", margin, common.below-tierGap/2)
			fmt.Fprintf(w, `<text x="%d" y="%.0f" font-size="10" fill="#777">%s</text>`+"\n", margin, common.below-tierGap/2+lineHeight, escaped(short(common.whole)))
			continue
		}
		for i := range all {
			if l := &all[i]; room && l.tiers == tiers {
				half := float64(len([]rune(l.text))) * charWidth / 2.4
				for _, at := range l.spots {
					if slices.ContainsFunc(taken, func(t [3]float64) bool {
						return max(t[1]-at[1], at[1]-t[1]) < high && max(t[0]-at[0], at[0]-t[0]) < t[2]+half
					}) {
						continue
					}
					taken = append(taken, [3]float64{at[0], at[1], half})
					fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="middle" font-size="10" fill="%s" stroke="#fff" stroke-width="3" paint-order="stroke">%s</text>`+"\n", at[0], at[1], l.colour, escaped(l.text))
					break
				}
			}
		}
	}
}

// gaps are the pairs of tiers between which lines are, from the top.
func (all labels) gaps() [][2]int {
	var gaps [][2]int
	for i := range all {
		if !slices.Contains(gaps, all[i].tiers) {
			gaps = append(gaps, all[i].tiers)
		}
	}
	slices.SortFunc(gaps, func(a, b [2]int) int { return slices.Compare(b[:], a[:]) })
	return gaps
}

// common is the label that all lines between two tiers have, nil if they differ,
// and how many lines there are.
func (all labels) common(tiers [2]int) (one *label, lines int) {
	for i := range all {
		l := &all[i]
		switch {
		case l.tiers != tiers:
			continue
		case lines == 0:
			one = l
		case one != nil && one.whole != l.whole:
			one = nil
		}
		lines++
	}
	if one != nil && one.whole == "" {
		one = nil
	}
	return one, lines
}
