package cumulus

import "github.com/rocec/rocec/targets"

// release is a version of Cumulus Linux as far as NVUE's words depend on it.
type release = targets.Release

// The versions whose documents were read, the first in which a port of a written
// speed negotiates it [Switch Port Attributes, Auto-negotiation and Link Speed],
// and the one that renamed things: 5.9 is the first with auto save and with two
// lanes for a quarter of an 8-lane port.
var (
	oldest     = release{Major: 5, Minor: 9}
	newest     = release{Major: 5, Minor: 15}
	negotiates = release{Major: 5, Minor: 14}
	renamed    = release{Major: 5, Minor: 15}
)

// releaseOf reads "5.9", "5.11.0" and the like. What is no version is the newest.
func releaseOf(version string) release {
	if r, ok := targets.ParseRelease(version); ok {
		return r
	}
	return newest
}

// compare orders two versions for the feature table.
func compare(a, b string) int { return releaseOf(a).Compare(releaseOf(b)) }

// words are the spellings that differ between versions [New and Changed NVUE
// Commands 5.15].
type words struct {
	on, off string // of flags that were on and off
	enable  string // the flag of a feature as a whole: enable on, state enabled
	split   bool   // addresses stand under ipv4 and ipv6, a VRF beside them
	forces  bool   // a speed ends negotiation
}

func wordsOf(version string) words {
	if releaseOf(version).Compare(renamed) >= 0 {
		return words{on: "enabled", off: "disabled", enable: "state", split: true}
	}
	return words{on: "on", off: "off", enable: "enable", forces: releaseOf(version).Compare(negotiates) < 0}
}

func (w words) flag(on bool) string {
	if on {
		return w.on
	}
	return w.off
}
