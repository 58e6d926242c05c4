package schema

// order is in which order the attributes of a block are written: what it stands for and how often, who it is, where it is, what it is
// made of, its link, its VLANs, its addresses, its contract, and what was seen of it. A new attribute is a word in one of the rows.
var order = [][]Attr{
	{AForEach, AEnabled, ACount, ASwitches, ANodes, ANICs, APlanes, APods, AEnds, AFrom},
	{AName, ADescription, AModel, AOS, AIfname, ARole, AFacing, AMgmt, AConnection, AManage, AVars},
	{ASite, ARack, ASlot, ACluster, ATenant, ATrusted, APlace, AAt, AOn, APin},
	{APorts, ANodePorts, AUpPorts, ADownPorts, APCI, AMAC, AAdapter, APCIe, ARail, APlane, APCIeSwitch, AGPU, ANUMA, ALinkLayer, ARoCEMode, AFirmware, ADriver, AVFs},
	{AMode, AMembers, ARate, AHashPolicy, AID, ADomain, APeerLink, AKeepalive},
	{ABreakout, ASpeed, AFEC, AAutoneg, ACable, AExternal},
	{AVLAN, ASegment, ANative, ASegments},
	{ALoopback, AVRF, ASubnet, AFirst, AAddress, AGateway, AExternalGateway, AFabricSubnet, AAddressing, ARouting},
	{ASparePorts, AHash, AARPTimeout, AMACTimeout},
	{ACarries, AQoS, APeer, AIsolated, ARDMA, AMTU, ADeny},
	{ATrust, ADSCP, APriority, AQueue, APriorityGroup, ALossless, ABandwidth, AStrict, ACap, AMatch, AECN, ACongestion, AWatchdog, ABuffer},
	{AMark, ATransport, ARDMAMTU, ARedundancy, AMaxOversubscription, ALatencyBudget, ARemap, ADefault},
	{ADSCPMap, APCPMap, AQueueMap, AGroupMap, APFC, APFCQueueMap, APause, AETS, ADCBX, AHeadroom},
	{AObserved},
}

// ordered are the kinds of blocks whose attributes have an order: those that have an address, and what is in them. What was seen has
// none of its own: its fields follow those of its block.
var ordered = [KindCount]bool{
	QoS: true, Class: true, Segment: true, Switch: true, Port: true, LAG: true, Interface: true, Node: true, NIC: true, GPU: true, Bond: true,
	MLAG: true, Link: true, Topology: true, Leaf: true, Spine: true, Core: true,
}

var ranks = func() (r [AttrCount]int) {
	n := 0
	for _, row := range order {
		for _, a := range row {
			n++
			r[a] = n
		}
	}
	return r
}()

// Rank is the place of an attribute, by its name of now or before, among those of a block. It is 0 where the attributes of the kind
// are written in any order; what is unknown, or stands outside of `observed` where it is one of its fields, comes last.
func Rank(k Kind, name string) int {
	switch {
	case !ordered[k]:
		return 0
	case name == names[AForEach]:
		return ranks[AForEach]
	case name == names[AEnabled]:
		return ranks[AEnabled]
	}
	if def := LookupFormer(k, name); def != nil && !def.Observed && ranks[def.Num] > 0 {
		return ranks[def.Num]
	}
	return ranks[AObserved]
}
