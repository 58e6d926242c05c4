package fabric

import (
	"slices"

	"github.com/rocec/rocec/lang/schema"
)

// Keeps is a set of attributes that are kept: left as the device has them, whatever
// is written of them around.
type Keeps uint16

// keepable are those that a port, LAG or interface can keep apart from its contract.
// Of others that take the word nothing is written unless a value is.
var keepable = [...]schema.Attr{
	schema.AAdmin, schema.ASpeed, schema.AFEC, schema.AAutoneg, schema.AMTU, schema.ASegments, schema.ANative, schema.ADeny, schema.ARoCEMode,
}

// Keepable lists the attributes that a set can hold.
func Keepable() []schema.Attr { return keepable[:] }

// Has reports whether an attribute is kept.
func (k Keeps) Has(n schema.Attr) bool {
	i := slices.Index(keepable[:], n)
	return i >= 0 && k>>i&1 == 1
}

// With is the set with an attribute that it can hold.
func (k Keeps) With(n schema.Attr) Keeps { return k | 1<<slices.Index(keepable[:], n) }

// deviations are the attributes of the bits of Profile.Deviates and Profile.Kept, by bit.
var deviations = [...]schema.Attr{
	schema.ATrust, schema.ADSCPMap, schema.APCPMap, schema.AQueueMap, schema.AGroupMap, schema.APFC, schema.APFCQueueMap, schema.APause, schema.AETS,
	schema.ADCBX, schema.AECN, schema.AWatchdog,
}

// DeviationBit is the bit of an attribute in Profile.Deviates and Profile.Kept, 0 if it has none.
func DeviationBit(n schema.Attr) uint16 {
	if i := slices.Index(deviations[:], n); i >= 0 {
		return 1 << i
	}
	return 0
}
