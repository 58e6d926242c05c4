// Package fabric is the one model of a fabric that the compiler works on:
// devices, ports, links and what hangs on them as rows in slices behind 32-bit
// IDs (0 = none). Ports are grouped by device; whatever many ports share
// (profiles, VLAN sets, layers of declarations) is interned and stands once.
// Where a value was written is looked up, not stored (Origin). A fabric is
// immutable once compiler/resolve has built it; derived facts live in slices of
// their own (compiler/derive). It holds no configuration syntax.
package fabric

import (
	"net/netip"
	"slices"

	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// IDs. The zero value means "none"; row 0 of every table is unused.
type (
	DeviceID   uint32
	PortID     uint32
	LinkID     uint32
	LAGID      uint32
	IfaceID    uint32
	NICID      uint32
	ProfileID  uint32
	VLANSetID  uint32
	QoSID      uint32
	SegmentID  uint32
	ModelID    uint32 // of switch models
	NICModelID uint32
	MLAGID     uint32
	MediaID    uint32
	DeclID     uint32
	LayersID   uint32
	Str        uint32 // interned string; 0 = ""
)

// Fabric is everything. The slices are indexed by their IDs.
type Fabric struct {
	Devices    []Device
	Ports      []Port // a device owns Ports[First : First+N], in natural order of their names
	Links      []Link
	NoneShut   bool                                                      // no port is shut, so that links need not be asked
	SomeAstray bool                                                      // some port is Astray, so that links have to be asked
	Loose      map[PortID]Link                                           // what ports without a link say of their cable
	Says       func(p PortID, n schema.Attr) []Said                      // who writes an attribute of a port, nearest first
	SaysAt     func(address string, n schema.Attr) ([]Said, schema.Kind) // the same of a block with an address, and its kind; None if there is none
	Carriers   map[PortID]DeclID                                         // the first interface that brings a VLAN to a port
	Inherits   map[DeclID]DeclID                                         // contracts and classes by `from`: what one leaves out the other says
	LAGs       []LAG
	Ifaces     []Iface
	NICs       []NIC
	GPUs       []GPU // by device, in natural order of their names
	Profiles   []Profile
	VLANSets   [][]SegmentID // interned, ascending by VLAN ID
	QoS        []QoS
	Segments   []Segment
	Models     []SwitchModel
	NICModels  []NICModel
	MLAGs      []MLAG
	Media      []Media
	PCIe       []PCIe
	Decls      []Decl
	Layers     []Layers
	Headrooms  []Headroom
	Breakouts  []Breakout

	Topologies []Topology
	Routings   []Routing
	Cablings   []Cabling
	Mismatches []CableMismatch // by list: cables that differ, swapped, moved or too many, missing

	Misaddressed []Misaddressed // in the order of Ifaces, then those of links, of gateways

	Validated  []Validated
	Strangers  map[Str]Str // consumers that are not known to use RDMA, and the known word that is nearest, 0 = none
	Selections []Selection // target blocks
	Ways       []Way       // connection blocks
	Rollout    Rollout     // the zero value: none is written
	Analysis   Analysis    // the zero value: none is written
	Overrides  []Override
	Ignores    []Ignore
	Unused     []Unused
	Misplaced  []Misplaced
	Names      Strings
	Spans      Spans       // of what declarations write
	Prefixes   PrefixTable // of Ifaces

	// Defaults of the platforms' headroom tables, in file order.
	HeadroomRows []HeadroomRow
}

// DeviceKind says what a device is.
type DeviceKind uint8

// Kinds of devices.
const (
	Switch DeviceKind = iota + 1
	Node
)

// Manage says who writes a device or port.
type Manage uint8

// Full: rocec writes it. Verify: proven and compared. Hands: taken as declared.
const (
	Full Manage = iota
	Verify
	HandsOff
)

// Device is a switch or a node.
type Device struct {
	Name        Str
	Kind        DeviceKind
	Manage      Manage
	Trusted     bool // false: ports of this node are hostile
	OSName      Str  // "sonic"
	OSVersion   Str
	Model       ModelID // of switches
	Role        Str     // free word; "" = switches of one model and OS count as one role
	Rack        Str
	Cluster     Str
	Site        Str
	About       Str          // its description
	Mgmt        Str          // address or name of the way in, as written
	Connection  ConnectionID // the way to it, 0 if none is written
	Tenant      Str          // of nodes
	Slot        uint32
	First       PortID
	NPorts      uint32
	MTU         uint16 // that it writes for its ports, itself or by an exception or override
	Decl        DeclID
	Layers      LayersID
	Address     Str // `switch.tor`, `node.gpu["gpu01"]`
	MLAG        MLAGID
	Buffer      DeviceBuffer
	Pools       Pools
	STP         STP
	ARPMs       uint32 // timeout of ARP entries, 0 = not written
	MACMs       uint32 // of learned MAC addresses
	Memlock     Memlock
	ACS         Fact // of a node: PCIe access control services are on
	Virtualised bool
	Persistent  Fact  // of a node: its settings survive a reboot
	Modules     []Str // kernel modules of a node; nil = not written
	Consumers   []Str // applications of a node that use RDMA; nil = not written
	Place             // in a topology, or as written; Tier is NoTier if it is in none
	Firmware    Str
	Hash        Hash
	ShutSpare   bool // spare_ports = "shut"
	// Passes no pauses on, as found.
	SemiLossless bool
}

// STP says whether a switch runs a spanning tree.
type STP uint8

// Whether it does; the zero value is not written.
const (
	STPUnset STP = iota
	STPOff
	STPOn
)

// Memlock is the limit of locked memory on a node.
type Memlock struct {
	Bytes     uint64
	Unlimited bool
	Written   bool
}

// Hash is how a switch spreads flows over links of equal cost.
type Hash struct {
	Function Str
	Seed     uint32
	SeedSet  bool
}

// DeviceBuffer is what the source says of a switch's packet buffer.
type DeviceBuffer struct {
	SharedBytes   uint64 // 0 = not written
	HeadroomBytes uint64 // shared headroom pool
	Alpha         Ratio  // zero = not written
	MaxOver       Ratio  // of the shared headroom pool; zero = not written
}

// Pools are buffer pools as found on a switch, in bytes; 0 = not written.
type Pools struct {
	IngressBytes, HeadroomBytes uint64
	EgressLossyBytes            uint64
	EgressLosslessBytes         uint64 // a static threshold
}

// Ratio is a fraction; Den 0 means "not written".
type Ratio struct{ Num, Den int32 }

// PortFlags are facts about a port.
type PortFlags uint32

// Flags of ports.
const (
	IsLAG      PortFlags = 1 << iota // a LAG or bond as a port; its row is in LAGs
	IsVNIC                           // host vNIC or VLAN device with a port's duties
	External                         // the peer is not of this fabric and not trusted
	ShutDown                         // admin = "down"
	EnabledSet                       // admin was written
	AutonegSet                       // autoneg was written
	Autoneg                          // and its value
	FECSet                           // fec was written
	MTUSet                           // some layer wrote the MTU
	SpeedSet                         // speed was written (else it follows from the model)
	Implicit                         // exists by its model and a reference only
	InfiniBand                       // link layer
	NativeSet                        // a native segment or "no native" was written
	RoutedPort                       // has an address of its own, not bridged
	Kept                             // qos = "keep": the profile is the vendor's default, and not managed
	DenySet                          // deny was written
	DenyRoCEv2                       // and holds RoCEv2
	DenyRoCEv1                       // and holds RoCEv1
	Follows                          // has the VLANs of the NIC at its other end
	Astray                           // no address on it fits what is around it: see Misaddressed
)

// FEC is a forward error correction mode.
type FEC uint8

// FEC modes; the zero value is not written.
const (
	FECUnset FEC = iota
	FECNone
	FECRS
	FECFC
	FECAuto
)

// PortRole is where a port leads.
type PortRole uint8

// Roles of ports, from the cable.
const (
	RoleUnused PortRole = iota
	RoleNode            // faces a node
	RoleFabric          // switch to switch
	RolePeerLink
	RoleHost // NIC
	RoleOutside
)

// Port is a switch port, NIC port, LAG or host vNIC.
type Port struct {
	Device   DeviceID
	Name     Str
	Peer     PortID // other end of its link, 0 if it has none
	Link     LinkID
	Profile  ProfileID // 0 = qos "keep" or none
	VLANs    VLANSetID // tagged segments
	Native   SegmentID // untagged segment
	Decl     DeclID
	Layers   LayersID
	NIC      NICID // of host ports
	LAG      LAGID // the LAG it is a member of, or that it is (IsLAG)
	Mbps     uint32
	MTU      uint16 // IP MTU in force; 0 = unknown, or kept
	MTUFloor uint16 // as written, where a bridged port carries more
	FEC      FEC
	Role     PortRole
	Manage   Manage
	MACsec   MACsec
	Flags    PortFlags
	Kept     Keeps      // what of the above is left as the device has it
	Headroom HeadroomID // as written on the port or device
	Split    uint32     // of children: 1 + index in Breakouts of the split, else 0
}

// HeadroomID is the index of a written headroom. 0 = none.
type HeadroomID uint32

// Link is one cable.
type Link struct {
	A, B          PortID // A < B
	CableMm       uint32 // 0 = not written
	DelayNs       uint32 // extra one-way delay
	Media         MediaID
	Decl          DeclID
	Name          Str
	Key           Str         // of for_each
	PeerLink      MLAGID      // of an MLAG pair, else 0
	List          CablingID   // that made it or gave it media or length, else 0
	Row           source.Span // the row of that list
	Origin        LinkOrigin
	Topology      TopologyID // of OfTopology
	LengthWritten bool       // a length stands in the source, even if it is 0 or negative
	BadLength     bool       // it is 0 or negative

	// What writes the length and the media, where that is not Decl or Row: a port,
	// a NIC, defaults or an override.
	LengthBy, MediaBy DeclID
}

// LAG is a switch LAG, host bond or SET team. Its members are ports of one device.
type LAG struct {
	Device  DeviceID
	Name    Str
	Number  uint16
	Mode    LAGMode
	Fast    bool
	RateSet bool
	Hash    Str
	Members []PortID
	Native  SegmentID
	VLANs   VLANSetID
	MTU     uint16
	Kept    Keeps  // by its members
	Port    PortID // the row that stands for the LAG as a port, 0 if none
	Peer    LAGID  // the LAG at the other end
	MLAG    MLAGID // set on both halves of a LAG over a pair
	Decl    DeclID
	Layers  LayersID
	Implied bool // made by a bond at the other end
}

// LAGMode is how a LAG is formed.
type LAGMode uint8

// Modes of LAGs.
const (
	LACP LAGMode = iota + 1
	Static
	ActiveBackup
	SET
)

// IfaceKind is what an interface sits on.
type IfaceKind uint8

// Kinds of interfaces.
const (
	SVI IfaceKind = iota + 1
	RoutedIface
	LoopbackIface
	DirectIface // address on a NIC or bond itself
	VLANIface   // VLAN device of a host
	VNICIface
)

// Iface is a layer-3 interface.
type Iface struct {
	Device    DeviceID
	Name      Str
	On        PortID // NIC or switch port, 0 if it sits on a LAG or segment
	OnLAG     LAGID
	Pin       PortID
	Segment   SegmentID // whose VLAN it is in
	Addresses Prefixes
	Gateway   Prefixes // one of a whole address, or none
	VRF       Str
	Decl      DeclID
	Layers    LayersID
	MTU       uint16
	Kind      IfaceKind
	Tagged    bool
	RDMA      bool
	Outside   bool // its gateway is a router that the source does not have
}

// NIC is the adapter side of a host port.
type NIC struct {
	Model     NICModelID
	Port      PortID
	Device    Str // name in the OS
	PCI       Str
	MAC       Str
	Adapter   Str // ports of one card share it
	RoCE      Str // "v2", "v1"; "" = not written
	Storm     StormTimeout
	Rail      int32 // -1 = not written
	Plane     int32
	Firmware  Str
	Driver    Str
	Inbox     Fact   // whether the driver is that of the operating system
	GIDIndex  int16  // -1 = not written
	RxBytes   uint32 // receive buffer of the lossless priorities as found; 0 = not written
	PCIeGen   uint8
	PCIeLanes uint8
	PXE       bool  // the node boots over it
	NUMA      int16 // of its slot, -1 = not written
	Switch    Str   // of PCIe, as written
	GPU       Str   // beside it, as written or the first of its PCIe switch
	VFs       VFs
}

// StormTimeout is how long a NIC may hold its peer by pause before it drops what it cannot take.
type StormTimeout struct {
	Set bool
	Ms  uint16 // 0: for ever
}

// GPU is one of a host.
type GPU struct {
	Device DeviceID
	Name   Str
	Switch Str   // of PCIe, "" = not written
	NUMA   int16 // -1 = not written
	Decl   DeclID
}

// VFs are the virtual functions of a NIC.
type VFs struct {
	Set     bool
	Count   uint16
	Mode    Str
	RDMA    bool
	Trust   bool
	Segment SegmentID
}

// Segment is a VLAN with its subnet.
type Segment struct {
	Name         Str
	VLAN         uint16
	Subnet       netip.Prefix
	First        uint32
	Gateway      netip.Addr
	Outside      bool // the gateway is a router that the source does not have
	Unrouted     bool // the gateway is mistaken: see GatewayMistaken
	VRF          Str
	QoS          QoSID
	Isolated     bool
	Tier         bool // a subnet of its own on each switch: the same VLAN on all, joined nowhere; topologies make such of the node ports of leaves
	MTU          uint16
	Overlay      bool // carried in VXLAN between switches
	OverlayMarks OverlayMarks
	Unknown      UnknownUnicast
	Decl         DeclID
	Layers       LayersID
	Address      Str
	About        Str // its description
	FloodClass   Str // class of its qos that floods are in, as found; "" = by their marks
	// The contract by which RDMA goes in it: its own, else that of the first NIC that
	// sends RDMA in it, wherever that is written. What a node that nobody trusts would
	// send does not count: it is not what the VLAN is for.
	RDMA QoSID
}

// OverlayMarks says what becomes of DSCP and ECN in the header of an overlay.
type OverlayMarks uint8

// What becomes of marks; the zero value is not written.
const (
	MarksUnknown OverlayMarks = iota
	MarksKept
	MarksLost
)

// UnknownUnicast says what becomes of frames to addresses that no switch knows.
type UnknownUnicast uint8

// Treatments of unknown unicast; the zero value is not written.
const (
	UnknownUnset UnknownUnicast = iota
	UnknownFlood
	UnknownLimit // flooded, and bounded by a storm control
)

// MLAG is a pair of switches.
type MLAG struct {
	Name       Str
	Switches   [2]DeviceID
	Domain     uint16
	Links      []LinkID // the peer link's cables
	LAGs       [2]LAGID // the peer link as a LAG on each side, if it has several
	Keepalive  [2]netip.Addr
	IntervalMs uint32
	TimeoutMs  uint32
	EVPN       bool // no MLAG: each LAG over both is a segment of EVPN multihoming, which somebody else sets up
	Decl       DeclID
	Layers     LayersID
}

// SwitchModel is a switch's hardware, its ASIC's facts folded in.
type SwitchModel struct {
	Name                   Str
	ASIC                   Str
	Family                 Str // "spectrum-4"
	Vendor                 Str
	PortNames              map[string][]string // by OS name
	Mbps                   map[string]uint32   // by port name of the first naming, or "*"
	Lanes                  uint8
	Speeds                 []uint32        // that its ports can run, of the chip; nil = unknown
	Autoneg                map[string]bool // of a port that nobody told, by OS
	MaxMTU                 uint16
	JumboMTU               uint16
	BufferBytes            uint64
	CellBytes              uint32
	MaxLossless            uint8
	LosslessPriorities     uint8 // set of the only ones, 0 = any
	Queues                 uint8
	HeadroomSharePercent   uint8
	Formula                Str // "reference", "spectrum", "mlxsw", "cisco"
	PipelineLatencyBytes   uint32
	MacPhyDelayBytes       uint32
	CompensationBytes      uint32
	Tile                   bool
	PauseResponseNs        uint32 // 0 = the standard's
	PFC, ECN, ETS, DSCPPFC Fact
	Watchdog               map[string]bool  // by OS
	Defaults               map[string]QoSID // the vendor's default as a qos, by OS
	Platform               Str
	HWSKU                  Str
	Facts                  map[string]int64 // thousandths
	Decl                   DeclID
}

// Fact is a yes/no fact of a data file.
type Fact uint8

// Unknown is the zero value: missing data is said, never guessed.
const (
	Unknown Fact = iota
	No
	Yes
)

// FactCCGlobal is the fact of a NIC model that says from which release on, the second number of its firmware, one setting of congestion
// control holds for all priorities.
const FactCCGlobal = "congestion_global_from"

// NICModel is a NIC's hardware.
type NICModel struct {
	PCIeGen, PCIeLanes        uint8 // widest slot that it uses; 0 = not stated
	Name                      Str
	Vendor                    Str
	Driver                    Str
	Ports                     uint8
	Mbps                      []uint32
	RoCEv1, RoCEv2, IWARP, IB Fact
	TrafficClasses            uint8
	PFCPriorities             uint8 // how many can have PFC at a time
	DSCPTrust                 Fact
	Resilient                 Fact
	Autoneg                   Fact  // of a port that nobody told
	Reordering                Fact  // takes packets of a connection in any order
	Interop                   []Str // vendors it runs RDMA with; nil = unknown
	MaxMTU                    uint16
	CNPDSCP                   int16 // -1 = unknown
	CNPPriority               int16
	MinOS                     map[string]string
	Defaults                  map[string]QoSID // the vendor's default as a qos, by OS
	Facts                     map[string]int64 // thousandths
	Decl                      DeclID
}

// Media is a kind of cable.
type Media struct {
	Name  Str
	Class Str
	Reach []Reach
	Decl  DeclID
}

// Reach is the longest cable from a speed upwards.
type Reach struct {
	MinMbps uint32
	MaxMm   uint32
}

// PCIe is what a generation carries.
type PCIe struct {
	Generation uint8
	UsableMbps map[uint8]uint32 // by lanes
}

// HeadroomRow is one row of a vendor's headroom table.
type HeadroomRow struct {
	Platform, SKU                                  Str
	Mbps                                           uint32
	CableMm                                        uint32
	SizeBytes, XonBytes, XonOffsetBytes, XoffBytes uint32
	AlphaExponent                                  int8
}

// Validated is what was tested of one model.
type Validated struct {
	Model            Str
	Firmware, Driver []Str // versions or conditions on them; nil = not written
	At               source.Span
}

// Selection is a target block.
type Selection struct {
	Emitter  Str
	Devices  []DeviceID // ascending; nil = every device the emitter serves
	Output   Str
	Delivery Str
	Options  []Option
	Decl     DeclID
}

// Option is one setting of a target block, in canonical text.
type Option struct {
	Name, Value Str
	Span        source.Span
}

// Override is a temporary exception.
type Override struct {
	Devices  []DeviceID
	Ports    []PortID
	Links    []LinkID
	LAGs     []LAGID
	Segments []SegmentID
	QoS      []QoSID
	Orders   []Str // addresses of waves and of the analysis
	Accept   []Str // rules
	Reason   Str
	Expires  Str // YYYY-MM-DD
	Decl     DeclID
}

// Unused is a variable, local, qos or segment that the source declares and nothing in
// it names.
type Unused struct {
	Kind          schema.Kind // schema.Locals for one of them
	Name, Address Str
	At            source.Span
	Decl          DeclID
}

// Misplaced are attributes of one file that say what was seen and stand among settings.
type Misplaced struct {
	Address Str           // of the block of the first
	Attrs   []schema.Attr // each once
	Count   int
	At      source.Span // of the first
	Decl    DeclID
}

// Ignore is a comment that silences rules over a range of source.
type Ignore struct {
	Rules  []Str
	Names  []source.Span // of each of Rules; nil where they cannot be edited
	Reason Str
	At     source.Span
	Covers source.Span
}

// Decl is a written block; all that came of it share it.
type Decl struct {
	Span   source.Span
	Head   Str // as written: `port "Ethernet[0-3]"`
	Module Str // address prefix of its module: "module.pod1."; 0 = root
	Parent DeclID
	Tier   bool // a tier of a topology: see TierSays
}

// Breakout is a port split into children.
type Breakout struct {
	Device   DeviceID
	Parent   Str // name of the port that is split
	Count    uint8
	Mbps     uint32
	Lanes    uint8          // of the parent that the children use, 0 = unknown
	Mode     Str            // the split in the platform's own spelling: "4x25G[10G]"; 0 where the model's data do not have it
	Parts    []BreakoutPart // by child, empty without Mode
	Children []PortID
	Overlaps []PortID // ports that exist beside the children and use the parent's lanes
	Decl     DeclID
}

// BreakoutPart is what a platform gives a child of a split port.
type BreakoutPart struct {
	Lanes Str // of the ASIC: "4,5"
	Alias Str
	Index uint16 // of the cage on the front panel
}

// SplitOf is the split that a port is a child of, and which child from 0; nil
// for a whole port.
func (f *Fabric) SplitOf(p PortID) (*Breakout, int) {
	n := f.Ports[p].Split
	if n == 0 {
		return nil, 0
	}
	b := &f.Breakouts[n-1]
	return b, slices.Index(b.Children, p)
}

// Headroom is what the source writes for the lossless classes of a port.
type Headroom struct {
	AllBytes uint32             // every lossless class; 0 = by class
	ByClass  [MaxClasses]uint32 // by index in the qos
	Keep     bool
	Zero     bool // a size of 0 is written
	// A size of 0 is written for the class.
	ZeroClass [MaxClasses]bool
}
