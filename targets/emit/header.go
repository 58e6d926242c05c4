package emit

import "github.com/rocec/rocec/compiler/intent"

// Header is what every artifact whose format has comments starts with: what
// made it, for which device, and the digest of that device's intent. The lines
// carry no comment marks. The tool's version is left out on purpose: it stands
// in the manifest, so that a new version alone changes no artifact.
func Header(d *intent.Device) []string {
	return []string{
		"made by rocec for " + Comment(d.Name),
		"intent " + intent.Digest(d),
	}
}
