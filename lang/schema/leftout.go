package schema

import (
	"slices"
	"strings"
)

// Omission is what happens of an attribute that is written nowhere.
type Omission uint8

// What may happen. The zero value says nothing, and no attribute has it.
const (
	Unsaid    Omission = iota
	Needed             // it is refused
	LeftAlone          // nothing of it is written: the device has what it has
	Computed           // rocec takes a value that follows from others, and writes it where it is a setting
	Unknown            // a fact that is not known: what a proof asks of it is said, or taken at its worst
	Nothing            // nothing: it says what something is, or how rocec is to work
)

// String is the word of the reference.
func (o Omission) String() string {
	return [...]string{"", "required", "left alone", "computed", "not known", "nothing"}[o]
}

// LeftOut is what happens where a block leaves an attribute out.
type LeftOut struct {
	From []string // blocks that it is then inherited from, the nearest first
	What Omission // if none of them writes it either
	As   string   // what is computed, from what; what stands in its place
}

// Text is that in words: "inherited from switch, defaults; else computed: by its role".
func (l LeftOut) Text() string {
	text := l.What.String()
	if l.As != "" {
		text += ": " + l.As
	}
	if len(l.From) > 0 {
		text = "inherited from " + strings.Join(l.From, ", ") + "; else " + text
	}
	return text
}

// LeftOutOf is what happens where a block of a kind leaves one of its attributes out.
func LeftOutOf(k Kind, a *AttrDef) LeftOut {
	l := omitted[a.Num]
	if own, ok := omittedIn[k]; ok {
		switch row, ok := own[a.Num]; {
		case ok:
			l = row
		case own[0].What != Unsaid: // of all others of the block
			l = own[0]
		}
	}
	if a.Required {
		l = LeftOut{What: Needed}
	}
	l.From = inherits(k, a.Num)
	return l
}

// chains are the blocks around a block, the nearest first, that say what it leaves out.
var chains = map[Kind][]Kind{
	Port: {LAG, Link, Segment, Switch, Leaf, Topology}, NIC: {Bond, Link, Segment, Node, Topology},
}

// OwnAlone are attributes that a block says of itself alone: no defaults speak for it.
var OwnAlone = []Attr{AVars, APlace}

// ownOnly are attributes of ports and NICs that nothing around says of them.
var ownOnly = []Attr{AName, AVRF, ABuffer, AHash, AModel, AFirmware, ACable, AGateway, AExternalGateway, ASubnet, AEnds}

// inherits lists what a block inherits an attribute from.
func inherits(k Kind, n Attr) (from []string) {
	if n == AName || n == AFacing || slices.Contains(OwnAlone, n) {
		return nil
	}
	for _, c := range chains[k] {
		if Lookup(c, n.Name()) == nil || slices.Contains(ownOnly, n) || c.Tier() && slices.Contains([]Attr{ASpeed, AFEC, AAutoneg}, n) && k == NIC {
			continue
		}
		if k == Port && c == LAG && slices.Contains([]Attr{AMode, AID, AAddress}, n) || (n == AAddress || n == ASegment) && c == Bond {
			continue
		}
		if c.Tier() {
			from = append(from, "tier")
			continue
		}
		from = append(from, c.String())
	}
	switch k {
	case Port, NIC:
		around := map[Kind]Kind{Port: Switch, NIC: Node}[k]
		from = append(from, "defaults \""+k.String()+"\"")
		if Lookup(around, n.Name()) != nil && !slices.Contains(ownOnly, n) {
			from = append(from, "defaults \""+around.String()+"\"")
		}
	case Switch, Node, Link:
		from = append(from, "defaults \""+k.String()+"\"")
	case Leaf, Spine, Core:
		if Lookup(Switch, n.Name()) != nil {
			from = append(from, "defaults \"switch\"")
		}
	case Class, QoS:
		if n != AFrom {
			from = append(from, "`from`")
		}
	}
	return from
}

func alone(as string) LeftOut    { return LeftOut{What: LeftAlone, As: as} }
func computed(as string) LeftOut { return LeftOut{What: Computed, As: as} }
func unknown(as string) LeftOut  { return LeftOut{What: Unknown, As: as} }
func nothing(as string) LeftOut  { return LeftOut{What: Nothing, As: as} }

// ofQoS is what a port restates of its contract.
var ofQoS = computed("what the qos says")

// omitted is what happens of an attribute, in whatever block it stands.
var omitted = map[Attr]LeftOut{
	// contracts
	AFrom: nothing(""), ATransport: computed("\"roce_v2\""), ACarries: nothing("the default class alone can leave it out"),
	ADSCP: nothing("no code point"), APriority: {What: Needed}, AQueue: computed("the priority"), APriorityGroup: computed("the priority of a lossless class, else 0"),
	ALossless: computed("true for RDMA"), ABandwidth: nothing("no share of its own"), AStrict: computed("true for CNP"), ACap: nothing("no limit"),
	AECN: alone(""), ACongestion: nothing("what the NIC does by itself"), AWatchdog: computed("\"auto\": on, with the device's times, where the device has one"),
	AMatch: nothing(""), AMark: computed("\"host\""), ARDMAMTU: computed("the largest that fits the path"),
	ARedundancy: nothing(""), AMaxOversubscription: nothing(""), ARemap: nothing("false"), ADefault: nothing("false"),
	AMarkOn: unknown("both sides"), AMonitor: unknown(""), ABaseline: unknown(""), AFallback: unknown(""), ALatencyBudget: unknown(""), ACNPInterval: unknown(""), ASlowedBy: unknown(""),
	AConsumers: unknown(""), AQPs: unknown(""), ACrossRail: unknown("false"),
	// segments
	ASubnet: nothing("no addresses follow"), AFirst: computed("11"), AGateway: nothing("not routed"), AExternalGateway: nothing("false"),
	AVRF: nothing("the default table"), AIsolated: nothing("false"), AFloodClass: unknown("by their marks"), AOverlay: unknown("none"), AEVPN: nothing("an MLAG pair"), AOverlayMarks: unknown("by its switches' operating system"), AUnknownUnicast: unknown(""),
	AQoS: alone("ports without a qos are not managed"), AMTU: alone(""),
	// devices
	AName: nothing("the label or key"), AOS: {What: Needed}, AModel: {What: Needed}, AMgmt: nothing(""), AConnection: nothing("`mgmt`, by the user's own SSH settings"),
	AManage: nothing("\"full\""), ASite: nothing(""), AVars: nothing(""), ARole: nothing("switches of one model and OS, or nodes of one OS, are alike"), AFirmware: unknown(""),
	AHash: alone(""), ASparePorts: alone(""), APools: unknown(""), ASTP: unknown(""), AARPTimeout: alone(""), AMACTimeout: alone(""), ARemark: unknown("none"),
	ASemiLossless: unknown("false"), APlace: nothing(""), ABuffer: alone(""),
	ARack: nothing(""), ASlot: nothing("no addresses follow"), ACluster: nothing(""), ATrusted: nothing("true"), ATenant: nothing(""), AACS: unknown(""), AVirtualised: unknown("false"),
	APersistent: unknown(""), AMemlock: unknown(""), AModules: unknown(""), AToS: unknown(""), ADCQCN: unknown(""),
	// ports
	ATrust: ofQoS, ADSCPMap: ofQoS, APCPMap: ofQoS, AQueueMap: ofQoS, AGroupMap: ofQoS, APFC: ofQoS, APFCQueueMap: ofQoS, AETS: ofQoS, APause: computed("false, where rocec writes the qos"),
	ADCBX: computed("what the qos says"), AHeadroom: computed("from speed, cable and MTU"), APFCDirection: unknown("\"both\""),
	AAdmin: alone(""), ASpeed: alone("the model's counts in proofs; a port of a topology follows its NIC"), AFEC: alone(""), AAutoneg: alone(""),
	AExternal: nothing("false"), ASegments: alone("on a bridged port, no VLANs but the untagged one"), ANative: alone("on a port with tagged VLANs, none"), ACable: nothing("the link's"),
	ADeny: computed("RDMA, on external ports and towards nodes that are not trusted"), ABreakout: nothing("whole"), AAddress: nothing("not routed"), AFacing: computed("from its cable"),
	AMACsec: unknown(""), AECNColors: unknown("all"), AObserved: unknown(""), ADescription: nothing(""),
	// NICs
	AIfname: nothing("the label"), APCI: nothing(""), AMAC: nothing(""), AAdapter: computed("from the PCI address"), APCIe: unknown(""), ALinkLayer: nothing("\"ethernet\""),
	APauseStormTimeout: alone("the NIC has what its maker ships, 8 s on ConnectX"),

	ARoCEMode: computed("by the transport of its RDMA classes"), ADriver: unknown(""), ARail: computed("by its place in the topology"), APlane: computed("by its place in the topology"),
	AGPU: computed("the first of its PCIe switch"), APCIeSwitch: unknown(""), ADriverOrigin: unknown(""), AGIDIndex: unknown(""), AReceiveBuffer: unknown(""), APXE: unknown("false"),
	AAt: computed("by slot in its topology"), AVFs: alone(""), ASegment: nothing("none"),
	// LAGs, interfaces, links
	AMode: computed("\"lacp\""), ARate: alone(""), AHashPolicy: alone(""), AID: computed("from the name, else the lowest member"), APin: nothing("any member"),
	ARDMA: computed("by the qos of its segment and ports"), ADomain: computed("1"), APeerLink: computed("the links between the two"), AKeepalive: nothing(""),
	// topologies
	ANodes: nothing("only switches are joined"), ANICs: computed("all of them"), APlanes: computed("1"), APods: nothing(""), ARouting: nothing("up and then down"),
	ACount: nothing("`switches` says which"), ASwitches: nothing("`count` are generated"), ALoopback: nothing("no loopback"), ANodePorts: computed("those that are left"),
	AUpPorts: nothing("none"), ADownPorts: nothing("none"), APorts: nothing("none"), AAddressing: computed("\"shared\""), AFabricSubnet: nothing("unnumbered"),
}

// omittedIn is what differs in one block. Attribute 0 stands for all others of the block.
var omittedIn = map[Kind]map[Attr]LeftOut{
	Rocec: {0: nothing("")}, Variable: {0: nothing("")}, Output: {0: nothing("")}, Module: {0: nothing("")}, Defaults: {0: nothing("")}, Connection: {0: nothing("as ssh does")},
	Check: {0: nothing("")}, Target: {0: nothing("")}, Except: {0: nothing("")}, Override: {0: nothing("")}, Cabling: {0: nothing("")}, Routing: {0: nothing("")},
	Rollout: {0: nothing("")}, Wave: {0: nothing("")}, Analysis: {0: nothing("")}, GPU: {0: unknown("")},
	SwitchModel: {0: unknown("")}, NICModel: {0: unknown("")}, ASIC: {0: unknown("")}, Media: {0: unknown("")}, PCIe: {0: unknown("")},
	QoS:   {ATrust: {What: Needed}, ADCBX: alone("of switches; hosts are told \"off\"")},
	Class: {ABuffer: computed("the device's, and headroom from speed, cable and MTU")},
	Segment: {
		AQoS: nothing("what the ports say"), AMTU: nothing("what the ports say"),
	},
	Port: {AMTU: computed("the model's usual jumbo MTU on bridged ports and between switches"), AECN: ofQoS, AWatchdog: ofQoS},
	NIC: {
		AAddress: computed("by slot, in the subnet of its segment or leaf"), AGateway: computed("that of its segment or leaf"), ADeny: unknown("none"), ASpeed: alone("the model's counts in proofs"),
		AMTU: alone("1500 counts in proofs"), ADCBX: computed("\"off\""), AECN: nothing("a NIC has none"), AWatchdog: nothing("a NIC has none"), AGroupMap: nothing("a NIC has none"),
		ASubnet: nothing("that of its segment or leaf"), AHeadroom: unknown(""),
	},
	Node:      {AECN: nothing("a NIC has none"), AWatchdog: nothing("a NIC has none"), AGroupMap: nothing("a NIC has none"), ADCBX: computed("\"off\""), AHeadroom: unknown("")},
	Switch:    {AECN: ofQoS, AWatchdog: ofQoS},
	Leaf:      {AECN: ofQoS, AWatchdog: ofQoS},
	Spine:     {AECN: ofQoS, AWatchdog: ofQoS},
	Core:      {AECN: ofQoS, AWatchdog: ofQoS},
	Interface: {AAddress: computed("by slot, in the subnet of its segment"), AMTU: computed("the port's or the segment's"), AVRF: computed("the segment's"), ANative: nothing("none")},
	Bond:      {AAddress: computed("by slot, in the subnet of its segment"), AID: computed("from the lowest port of the switch")},
	LAG:       {AMTU: computed("that of its members")},
}
