package lint

// More fabrics that examples vary, for tests of their variants.
var (
	WithPools   = withPools
	PairedLegs  = pairedLegs
	Unpaired    = unpaired
	Triangle    = triangle
	TwoAdapters = twoAdapters
	Aging       = aging
	Overlaid    = overlaid
	CrossRail   = crossRail
	Knowing     = knowing
	Validated   = validatedPair
	Adaptive    = adaptiveWith
	SmallMTU    = smallMTU
	TwoSpines   = twoSpines
	EvenUplinks = evenUplinks
	Bonded      = bonded
	TightXon    = tightXon
	LaneSwitch  = laneSwitch
	IdlePort    = idlePort
	WindowsTeam = windowsTeam
	SoftNode    = softNode
	Mixed       = mixedVendors
	RoutedV1    = routedV1
	Rolled      = rolled

	RatedLAG       = ratedLAG
	MultihomedPair = multihomedPair
)
