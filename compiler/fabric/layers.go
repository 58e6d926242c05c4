package fabric

import "github.com/rocec/rocec/lang/schema"

// Height is where a declaration stands that says something of a row: the row's own
// block, or what the row is inside of, nearest first.
type Height uint8

// The heights. A segment says what a port is for, and so stands above its switch.
const (
	AtItself Height = iota
	AtLink
	AtLAG
	AtSegment
	AtDevice
	AtTier // a tier of a topology: of a generated switch its own block
	AtTopology
	AtDefaults
)

// Says reports whether what stands at a height speaks of an attribute of the rows inside of it.
func (h Height) Says(n schema.Attr, nic bool) bool {
	switch h {
	case AtLink:
		return ofLinks(n)
	case AtTier:
		return TierSays(n, nic)
	}
	return true
}

// ofLinks are the attributes that a link, or the tier that makes it, writes for the
// ports at both ends.
func ofLinks(n schema.Attr) bool {
	return n == schema.ASpeed || n == schema.AFEC || n == schema.AAutoneg || n == schema.AMACsec
}

// Layer is a declaration that says something of a row, and at which height.
type Layer struct {
	By DeclID
	At Height
}

// Layers is what speaks of a row beside its own declaration. Each distinct chain
// is stored once.
type Layers struct {
	Before []Layer // nearer than the row's own: overrides of all places, then exceptions
	Chain  []Layer // farther, nearest first
	Below  DeclID  // of a switch: the tier that its model and OS come from where no layer writes them
	NIC    bool    // of a NIC: a tier in the chain says no more than TierSays
}

// Form is how a declaration comes to say something of a row.
type Form uint8

// The forms.
const (
	ByBlock Form = iota
	ByExcept
	ByOverride
)

// Said is a layer that writes an attribute of a row.
type Said struct {
	Layer
	Form Form
	Text string // the value, where it is text, a number or a block
}
