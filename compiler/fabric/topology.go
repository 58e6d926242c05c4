package fabric

import (
	"net/netip"
	"slices"

	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// IDs of what stands above devices. 0 = none.
type (
	TopologyID uint32
	RoutingID  uint32
	CablingID  uint32
)

// Tier is the rank of a switch in a topology.
type Tier uint8

// Tiers, from the nodes up; the zero value is a device in no topology.
const (
	NoTier Tier = iota
	LeafTier
	SpineTier
	CoreTier
)

// String is the word of the language.
func (t Tier) String() string { return [...]string{"", "leaf", "spine", "core"}[t] }

// Place is where a switch stands in a topology, or says it stands. Group, Plane,
// Rail and Pod are -1 where the kind of the topology does not have them.
type Place struct {
	Topology TopologyID // 0 for a switch that writes its place itself
	Tier     Tier
	Index    uint32 // in its tier, from 0
	Group    int32  // of nodes, of a leaf
	Plane    int32
	Rail     int32
	Pod      int32 // position in `pods` of the topology with the core
}

// TopologyKind is the wiring rule of a topology.
type TopologyKind uint8

// Kinds of topologies.
const (
	RailOptimized TopologyKind = iota + 1
	LeafSpine
	Clos3
	DualToR
	Ring
	FullMesh
)

// String is the word of the language.
func (k TopologyKind) String() string {
	return [...]string{"", "rail_optimized", "leaf_spine", "clos3", "dual_tor", "ring", "full_mesh"}[k]
}

// Topology is a generated part of the fabric, or switches that play one.
type Topology struct {
	Name    Str
	Address Str // `topology.pod1`
	Kind    TopologyKind
	Rails   uint32 // of rail_optimized, else 0
	Planes  uint32 // 1 unless written
	Nodes   []DeviceID
	Tiers   [CoreTier + 1][]DeviceID // by Tier, in index order; NoTier is empty
	Pods    []TopologyID             // that its core joins, in order
	Routing RoutingID
	Decl    DeclID
}

// RoutingModel is how packets find their way.
type RoutingModel uint8

// Models of routing; the zero value is not written.
const (
	RoutingUnset RoutingModel = iota
	UpDown
	ECMP
	TableRouting
)

// Routing is what the proofs may assume of the ways of packets.
type Routing struct {
	Name        Str
	Address     Str  // `routing.default`
	Default     bool // speaks for the whole fabric, where a topology names no other
	Alone       bool // does so as the only one of a fabric without topologies, though it is not called default
	Model       RoutingModel
	Adaptive    bool // packets of one flow take several paths
	Reordering  bool // NICs are set to take them in any order
	LocalRepair bool // a switch goes round a failure by itself; false: global, or not written
	Leaks       []Leak
	Announce    []netip.Prefix // what leaves by external ports
	Table       []Route        // of TableRouting, in the order of the file
	Decl        DeclID
}

// Leak is a declared way between two segments whose VRFs differ.
type Leak struct{ From, To SegmentID }

// Route is one row of a routing table: at a switch, packets that came from a
// neighbour to a destination go on to the next device.
type Route struct {
	At, From, To, Next DeviceID // From 0: from wherever
	Priority           int8     // the new priority, -1 = the one they came with
	Row                source.Span
}

// LinkOrigin says what made a link.
type LinkOrigin uint8

// Origins of links.
const (
	OfLink     LinkOrigin = iota // a link block
	OfMLAG                       // the peer link of a pair
	OfTopology                   // a tier: Decl is the one whose `cable` speaks of the link
	OfCabling                    // a row of a cable list: Row
	OfNIC                        // `at` of a NIC: Decl writes it
)

// CablingMode is what a cable list is for.
type CablingMode uint8

// Define: rows make links. Compare: rows are compared with the links there are.
const (
	Define CablingMode = iota + 1
	Compare
)

// Cabling is a cable list.
type Cabling struct {
	Name    Str
	Address Str // `cabling.as_built`
	Mode    CablingMode
	LLDP    bool   // what neighbours say of themselves, not what somebody wrote down
	Rows    uint32 // in the file
	Skipped uint32 // of no port that the source has
	Beyond  uint32 // differences from the source beyond MaxMismatches, which are in no table
	Renames []Rename
	Decl    DeclID
}

// Rename is a device that a list calls otherwise than the fabric does.
type Rename struct {
	From, To Str
	Used     bool // some row has it
	Known    bool // some device is called To
	Near     Str  // the device that is called almost so, of one that is not known
}

// MaxMismatches is how many differences of one list from the source are kept: a
// list with more is of another fabric.
const MaxMismatches = 10_000

// CableFault is how a row of a list and the source differ.
type CableFault uint8

// Faults of cables.
const (
	CableMissing CableFault = iota + 1 // Links[0] is in no row
	CableExtra                         // Rows[0] from A to B, and the source has none there; Links are others at A and B, if any
	CableMoved                         // Rows[0] from A to B; Links[0] has A at another port, and Links[1] B, if it has one
	CableSwapped                       // the far ends of two links are exchanged: Rows[0] joins A to B, Rows[1] the two others
	CableMedia                         // Rows[0] has other media than Links[0]: Media
	CableLength                        // Rows[0] has another length than Links[0]: CableMm
)

// CableMismatch is one difference between a list in verify mode and the source.
// Each cable is in one of them.
type CableMismatch struct {
	Fault     CableFault
	List      CablingID
	Links     [2]LinkID
	Rows      [2]source.Span // rows of the list
	A, B      PortID         // what Rows[0] joins; B is 0 where the far end is no port of the fabric
	Far       [2]Str         // then, its device and port as the list calls them
	Media     MediaID        // of the row, 0 if its word stands for a class of media or none is given
	MediaWord Str            // as the list has it
	CableMm   uint32         // of the row
}

// RoutingOf is what holds for a topology: its own routing, else the default, 0
// if nothing is declared.
func (f *Fabric) RoutingOf(t TopologyID) RoutingID {
	if r := f.Topologies[t].Routing; r != 0 {
		return r
	}
	for r := 1; r < len(f.Routings); r++ {
		if f.Routings[r].Default {
			return RoutingID(r)
		}
	}
	return 0
}

// RoutingUsed reports whether a routing speaks for some part of the fabric.
func (f *Fabric) RoutingUsed(r RoutingID) bool {
	return f.Routings[r].Default || slices.ContainsFunc(f.Topologies, func(t Topology) bool { return t.Routing == r })
}

// linksBelow are the attributes of a tier that speak of the links below it, and
// so of ports at both of their ends, but of none by being around it.
func linksBelow(n schema.Attr) bool {
	return n == schema.ASpeed || n == schema.AFEC || n == schema.AAutoneg || n == schema.ACable || n == schema.AMACsec
}

// TierSays reports whether a tier speaks of an attribute of the ports around
// which it stands: of its own switches all but what is about links, of the NICs
// that they serve no more than the contract, the MTU and the subnet.
func TierSays(n schema.Attr, nic bool) bool {
	if nic {
		return n == schema.AQoS || n == schema.AMTU || n == schema.ASubnet
	}
	return !linksBelow(n)
}
