package cabling

import "strings"

// netboxMedia are the types of cables of NetBox, by value and by label in lower case, and the media that they are in
// this language: a passive twinax is a dac, an active one an acc; fibre is told by its mode alone, and twisted pair of
// the categories 6a to 7a reaches alike at every speed they carry [netbox-community/netbox, netbox/dcim/choices.py,
// CableTypeChoices]. Others stay what they are.
var netboxMedia = map[string]string{
	"dac-passive": "dac", "direct attach copper (passive)": "dac",
	"dac-active": "acc", "direct attach copper (active)": "acc",
	"aoc": "aoc", "active optical cabling (aoc)": "aoc",
	"mmf": "mmf", "mmf-om1": "mmf", "mmf-om2": "mmf", "mmf-om3": "mmf", "mmf-om4": "mmf", "mmf-om5": "mmf",
	"smf": "smf", "smf-os1": "smf", "smf-os2": "smf",
	"cat6": "cat6", "cat6a": "cat6a", "cat7": "cat6a", "cat7a": "cat6a", "cat8": "cat8",
}

// Media is the word of this language for a kind of cable as lists and inventories have it, the word itself if it has none of its own.
func Media(word string) string {
	if own, ok := netboxMedia[word]; ok {
		return own
	}
	low := strings.ToLower(word)
	if own, ok := netboxMedia[low]; ok {
		return own
	}
	switch { // labels: Multimode Fiber (OM4), Singlemode Fiber (OS2)
	case strings.HasPrefix(low, "multimode fiber"), strings.HasPrefix(low, "multi-mode fiber"):
		return "mmf"
	case strings.HasPrefix(low, "singlemode fiber"), strings.HasPrefix(low, "single-mode fiber"):
		return "smf"
	}
	return word
}

// mediaWord is Media of a cell, nil if that is empty.
func mediaWord(cell []byte) []byte {
	switch string(cell) {
	case "":
		return nil
	case "dac", "aoc", "sr", "dr", "fr", "lr":
		return cell
	}
	return []byte(Media(string(cell)))
}
