package cabling

import "testing"

// TestMedia: every cable type of NetBox that carries Ethernet has a word of this language, by value and by label.
func TestMedia(t *testing.T) {
	for word, want := range map[string]string{
		"dac-passive": "dac", "Direct Attach Copper (Passive)": "dac", "dac-active": "acc", "Direct Attach Copper (Active)": "acc",
		"aoc": "aoc", "AOC": "aoc", "Active Optical Cabling (AOC)": "aoc", "mmf": "mmf", "mmf-om1": "mmf", "mmf-om5": "mmf",
		"Multimode Fiber (OM4)": "mmf", "smf": "smf", "smf-os1": "smf", "SMF-OS2": "smf", "Singlemode Fiber (OS2)": "smf", "Single-mode Fiber": "smf",
		"cat6": "cat6", "CAT6a": "cat6a", "cat7": "cat6a", "cat7a": "cat6a", "cat8": "cat8",
		"coaxial": "coaxial", "power": "power", "smf-home": "smf-home", "dr": "dr",
	} {
		if got := Media(word); got != want {
			t.Errorf("%s: %s, not %s", word, got, want)
		}
		if got := string(mediaWord([]byte(word))); got != want {
			t.Errorf("%s in a list: %s, not %s", word, got, want)
		}
	}
}
