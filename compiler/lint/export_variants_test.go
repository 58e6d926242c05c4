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

	ThreeTiers     = threeTiers
	RatedLAG       = ratedLAG
	MultihomedPair = multihomedPair
)

// SlowSpines is a leaf with 400G to its spine, and a spine with 50G to a core, under a limit.
func SlowSpines(limit string) string {
	slow := "port \"Ethernet16\" {\n    speed = \"50G\"\n  }\n"
	return edit(twoSpines("", "place = { tier = \"spine\" }\n  qos = qos.roce\n  "+slow, uplink("Ethernet8", "spine1", "Ethernet0")+uplink("Ethernet12", "spine1", "Ethernet4")),
		`ecn       = "auto"`, "ecn       = \"auto\"\n    max_oversubscription = "+limit) + `switch "core" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  place = { tier = "core" }
  port "Ethernet16" {
    speed = "50G"
  }
}
link "core" {
  ends  = [switch.spine["spine1"].port["Ethernet16"], switch.core.port["Ethernet16"]]
  cable = { media = "dac", length = "3m" }
}
`
}
