// Package intent is what one device should be: the only thing that targets
// see. It is plain data with names instead of IDs, serialises as versioned
// JSON, and is made, emitted and dropped device by device. A setting is in one
// of three states (Opt): not managed, left at the vendor's default, or a value.
// The same types, partly filled, hold what was read back from a device, so
// that one comparison serves plan, verify and drift. It holds nothing that no
// target needs: every field, changed, changes an artifact or is refused.
package intent

import "net/netip"

// Version is the version of the JSON form. It rises when a field changes its
// meaning; new fields do not raise it.
const Version = 1

// Kind says what a device is.
type Kind string

// Kinds of devices.
const (
	Switch Kind = "switch"
	Node   Kind = "node"
)

// OS is an operating system and the lowest version the source allows.
type OS struct {
	Name    string `json:"name"`              // "sonic", "windows-server", "ubuntu"
	Version string `json:"version,omitempty"` // "202405", "2025", "24.04"
}

// Device is the intent of one device.
type Device struct {
	Version int    `json:"version"`
	Name    string `json:"name"` // as the fabric calls it
	Kind    Kind   `json:"kind"`
	OS      OS     `json:"os"`
	Model   string `json:"model,omitempty"` // "nvidia/sn5600"; "" on nodes
	ASIC    string `json:"asic,omitempty"`  // family of the model's data: "spectrum-4", "trident3"

	// Verify marks a device that is compared and never written.
	Verify bool `json:"verify,omitempty"`

	Ports  []Port  `json:"ports,omitempty"`  // switch ports or NIC ports, in natural order of Name
	LAGs   []LAG   `json:"lags,omitempty"`   // switch LAGs, host bonds, SET teams
	Ifaces []Iface `json:"ifaces,omitempty"` // addresses: SVI, routed port, VLAN device, host vNIC, loopback
	VLANs  []VLAN  `json:"vlans,omitempty"`  // every VLAN the device carries, by ID
	QoS    []QoS   `json:"qos,omitempty"`    // distinct values; Port.QoS names one
	MLAG   *MLAG   `json:"mlag,omitempty"`
	Buffer Buffer  `json:"buffer,omitzero"` // device-wide packet buffer of a switch
	Hash   Hash    `json:"hash,omitzero"`   // of a switch
	Aging  Aging   `json:"aging,omitzero"`  // of a switch

	Firmware string `json:"firmware,omitempty"` // of a switch: expected, compared only; see Versions

	// Options are those of the target block that selected this device, by
	// name, in canonical text: "true", "30", "dynamic".
	Options map[string]string `json:"options,omitempty"`
}

// FEC is a forward error correction mode.
type FEC string

// FEC modes. FECAuto leaves it to negotiation.
const (
	FECNone FEC = "none"
	FECRS   FEC = "rs"
	FECFC   FEC = "fc"
	FECAuto FEC = "auto"
)

// Port is a physical switch port or one port of a NIC.
type Port struct {
	Name string `json:"name"` // in the words of the device's OS; on nodes the name the OS shall use
	// Verify marks a port whose settings are expectations: compared, never written.
	Verify bool `json:"verify,omitempty"`

	Enabled Opt[bool]   `json:"enabled,omitzero"`
	Mbps    Opt[uint32] `json:"mbps,omitzero"`
	FEC     Opt[FEC]    `json:"fec,omitzero"`
	// Breakout is the split that a port is a child of, on its first child: "4x100G".
	Breakout string      `json:"breakout,omitempty"`
	Split    *Split      `json:"split,omitempty"` // of every child, where the platform's own words are known
	Autoneg  Opt[bool]   `json:"autoneg,omitzero"`
	MTU      Opt[uint16] `json:"mtu,omitzero"` // IP MTU; a target converts it to its own count

	Native Opt[uint16]   `json:"native,omitzero"` // untagged VLAN
	Tagged Opt[[]uint16] `json:"tagged,omitzero"` // tagged VLANs, ascending
	Deny   Opt[[]RDMA]   `json:"deny,omitzero"`   // dropped as it comes in, in the order of the constants

	QoS      string      `json:"qos,omitempty"` // Name of one of Device.QoS; "" where QoS is not managed or kept
	CableMm  Opt[uint32] `json:"cable_mm,omitzero"`
	Headroom []Headroom  `json:"headroom,omitempty"` // one per lossless priority group, ascending

	NIC *NIC `json:"nic,omitempty"` // on nodes only
}

// RDMA is traffic that an edge can keep out by what its packets are.
type RDMA string

// Kinds of RDMA traffic: UDP to port 4791 over IPv4 and IPv6, and frames of the
// EtherType 0x8915 [InfiniBand Architecture Specification, annexes A17 and A16].
const (
	RoCEv2 RDMA = "roce_v2"
	RoCEv1 RDMA = "roce_v1"
)

// Split is how the platform spells the split that a port is a child of, and
// what it gives that child.
type Split struct {
	Parent string `json:"parent"` // "Ethernet8"
	Mode   string `json:"mode"`   // "4x25G[10G]"
	Number uint8  `json:"number"` // of the child, from 1
	Lanes  string `json:"lanes"`  // of the ASIC: "8,9"
	Alias  string `json:"alias"`  // "etp2a"
	Index  uint16 `json:"index"`  // of the cage on the front panel
}

// Headroom is the buffer of one lossless priority group of one port.
type Headroom struct {
	Group     uint8  `json:"group"`
	XoffBytes uint32 `json:"xoff_bytes"` // what may still arrive after the pause was decided
	XonBytes  uint32 `json:"xon_bytes,omitempty"`
	SizeBytes uint32 `json:"size_bytes,omitempty"` // reserved in all
	XonOffset uint32 `json:"xon_offset_bytes,omitempty"`
	Alpha     *int8  `json:"alpha_exponent,omitempty"` // dynamic threshold 2^n of a table row
	// Written: the operator or a vendor table fixed this size. False: it
	// follows from cable, speed and MTU, and a device that computes the same
	// by itself may be left to do so.
	Written bool `json:"written,omitempty"`
}

// NIC is what the host side of a port adds.
type NIC struct {
	Model    string           `json:"model"`             // "nvidia/connectx-6-dx"
	Driver   string           `json:"driver"`            // family: "mlx5", "ice", "bnxt", "qede", "cxgb4", "rxe"
	PCI      string           `json:"pci,omitempty"`     // "0000:3b:00.0"
	MAC      string           `json:"mac,omitempty"`     // lower case, colons
	Adapter  string           `json:"adapter,omitempty"` // ports of one card share it
	RDMA     Opt[bool]        `json:"rdma,omitzero"`     // this port itself carries RDMA (not only its vNICs)
	RoCE     Opt[string]      `json:"roce,omitzero"`     // "v2", "v1"
	StormMs  Opt[uint16]      `json:"storm_ms,omitzero"` // until it drops instead of pausing its peer; 0: never
	IWARP    bool             `json:"iwarp,omitempty"`
	VFs      Opt[VFs]         `json:"vfs,omitzero"`
	RDMAMTU  uint16           `json:"rdma_mtu,omitempty"` // 1024, 2048, 4096: largest that the classes use
	DCBX     Opt[DCBX]        `json:"dcbx,omitzero"`
	GPU      string           `json:"gpu,omitempty"`      // beside it: the order of NICs that applications are told
	Firmware string           `json:"firmware,omitempty"` // expected, compared only; see Versions
	DriverV  string           `json:"driver_version,omitempty"`
	Facts    map[string]int64 `json:"facts,omitempty"` // numbers of the model's data a target asks for: "max_tc"
}

// VFs are the virtual functions of a NIC port.
type VFs struct {
	Count uint16 `json:"count"`
	Mode  string `json:"mode,omitempty"` // "legacy", "switchdev"
	RDMA  bool   `json:"rdma,omitempty"`
	VLAN  uint16 `json:"vlan,omitempty"` // of the VFs' segment
	Trust bool   `json:"trust,omitempty"`
}

// DCBX says who negotiates on a host port.
type DCBX struct {
	Mode    string `json:"mode"`              // "off", "advertise", "willing"
	Version string `json:"version,omitempty"` // "ieee", "cee"
	Owner   string `json:"owner,omitempty"`   // "os", "firmware", "lldpad"
}

// LAG is a switch LAG, a host bond or a SET team.
type LAG struct {
	Name    string        `json:"name"` // "PortChannel1", "bond0", "SET1"
	ID      uint16        `json:"id,omitempty"`
	Members []string      `json:"members"`
	Mode    string        `json:"mode"`           // "lacp", "static", "active_backup", "set"
	Rate    string        `json:"rate,omitempty"` // "fast", "slow"
	Hash    string        `json:"hash,omitempty"`
	MTU     Opt[uint16]   `json:"mtu,omitzero"`
	Native  Opt[uint16]   `json:"native,omitzero"`
	Tagged  Opt[[]uint16] `json:"tagged,omitzero"`
	Deny    Opt[[]RDMA]   `json:"deny,omitzero"`
	MLAG    bool          `json:"mlag,omitempty"` // one leg of a LAG over an MLAG pair
}

// IfaceKind says what an interface sits on.
type IfaceKind string

// Kinds of interfaces.
const (
	SVI      IfaceKind = "svi"      // VLAN interface of a switch
	Routed   IfaceKind = "routed"   // address on a switch port or LAG
	Loopback IfaceKind = "loopback" // loopback address
	Direct   IfaceKind = "direct"   // address on a host's NIC port or bond itself, untagged or by its one tagged segment
	VLANDev  IfaceKind = "vlan"     // Linux VLAN device
	VNIC     IfaceKind = "vnic"     // Hyper-V host virtual NIC
)

// Iface is a layer-3 interface.
type Iface struct {
	Name      string              `json:"name"`
	Kind      IfaceKind           `json:"kind"`
	On        string              `json:"on,omitempty"`  // port or LAG
	Pin       string              `json:"pin,omitempty"` // member port a vNIC prefers
	VLAN      uint16              `json:"vlan,omitempty"`
	MTU       Opt[uint16]         `json:"mtu,omitzero"`
	Addresses Opt[[]netip.Prefix] `json:"addresses,omitzero"`
	Gateway   Opt[netip.Addr]     `json:"gateway,omitzero"` // default gateway of the segment, for hosts
	VRF       string              `json:"vrf,omitempty"`
	RDMA      bool                `json:"rdma,omitempty"`
	// Unique: the other switch of the pair has another address in this VLAN, so
	// the two are not one gateway.
	Unique bool   `json:"unique,omitempty"`
	QoS    string `json:"qos,omitempty"` // whose priorities a VLAN device maps
}

// VLAN is one VLAN and the segments' names for it.
type VLAN struct {
	ID  uint16      `json:"id"`
	MTU Opt[uint16] `json:"mtu,omitzero"` // of the VLAN as such, where a device has one
}

// Trust says which mark a port classifies by.
type Trust string

// Trust modes.
const (
	TrustDSCP Trust = "dscp"
	TrustPCP  Trust = "pcp"
	TrustNone Trust = "none"
)

// QoS is what one port does with traffic. All maps are total.
type QoS struct {
	Name     string           `json:"name"` // unique in the device, [A-Za-z0-9._-]
	Trust    Opt[Trust]       `json:"trust,omitzero"`
	DSCP     Opt[[64]uint8]   `json:"dscp_priority,omitzero"` // DSCP -> priority
	PCP      Opt[[8]uint8]    `json:"pcp_priority,omitzero"`  // PCP -> priority
	TC       Opt[[8]uint8]    `json:"priority_tc,omitzero"`   // priority -> traffic class (egress queue)
	Group    Opt[[8]uint8]    `json:"priority_group,omitzero"`
	PFC      Opt[PrioritySet] `json:"pfc,omitzero"`
	PFCQueue Opt[[8]uint8]    `json:"pfc_queue,omitzero"` // priority of a received PFC frame -> queue it stops
	Sched    Opt[[8]Sched]    `json:"sched,omitzero"`     // by traffic class
	ECN      Opt[[8]ECN]      `json:"ecn,omitzero"`       // by traffic class
	Pause    Opt[bool]        `json:"pause,omitzero"`     // 802.3x global pause
	DCBX     Opt[DCBX]        `json:"dcbx,omitzero"`      // of a switch port
	Watchdog Opt[Watchdog]    `json:"watchdog,omitzero"`  // of a switch port
	Rewrite  Opt[[8]uint8]    `json:"rewrite,omitzero"`   // priority -> DSCP written on egress (declared remap)
	Lossless PrioritySet      `json:"lossless"`           // priorities of lossless classes
	Marks    []Mark           `json:"marks,omitempty"`    // what a host writes; empty on switches
}

// PrioritySet is a set of priorities, bit n for priority n.
type PrioritySet uint8

// SchedKind is how a traffic class is served.
type SchedKind string

// Scheduling kinds. Idle is a traffic class that no class uses.
const (
	SchedIdle   SchedKind = ""
	SchedETS    SchedKind = "ets"
	SchedStrict SchedKind = "strict"
)

// Sched is the scheduler of one traffic class.
type Sched struct {
	Kind    SchedKind `json:"kind,omitempty"`
	Percent uint8     `json:"percent,omitempty"` // ETS share, the shares of one port sum to 100
	CapMbps uint32    `json:"cap_mbps,omitempty"`
}

// ECN is the marking of one egress queue.
type ECN struct {
	On          bool   `json:"on,omitempty"`
	MinBytes    uint32 `json:"min_bytes,omitempty"`
	MaxBytes    uint32 `json:"max_bytes,omitempty"`
	Probability uint8  `json:"probability_percent,omitempty"`
}

// Watchdog is the PFC watchdog of a port. Zero times mean the device's own.
type Watchdog struct {
	On        bool   `json:"on"`
	DetectMs  uint32 `json:"detect_ms,omitempty"`
	RestoreMs uint32 `json:"restore_ms,omitempty"`
	PollMs    uint32 `json:"poll_ms,omitempty"`
	Action    string `json:"action,omitempty"` // "drop", "forward", "alert"
}

// Mark is one class as a host has to mark and match it.
type Mark struct {
	Class         string     `json:"class"`
	Carries       string     `json:"carries"` // "rdma", "cnp", "cluster", "other"; "" for the default class
	Priority      uint8      `json:"priority"`
	DSCP          Opt[uint8] `json:"dscp,omitzero"`
	Application   bool       `json:"application,omitempty"` // the application writes the mark, not the host
	NetDirectPort uint16     `json:"netdirect_port,omitempty"`
	TCPPort       uint16     `json:"tcp_port,omitempty"`
	UDPPort       uint16     `json:"udp_port,omitempty"`
	ECT           bool       `json:"ect,omitempty"`        // sends ECN-capable packets
	Congestion    string     `json:"congestion,omitempty"` // "dcqcn", "receiver"
	Transport     string     `json:"transport,omitempty"`  // "roce_v2", "roce_v1", "iwarp"
	Default       bool       `json:"default,omitempty"`
}

// MLAG is a device's half of a pair.
type MLAG struct {
	Domain      uint16     `json:"domain"`
	Peer        string     `json:"peer"`            // the other device's name
	PeerLink    string     `json:"peer_link"`       // port or LAG towards it
	Source      netip.Addr `json:"source,omitzero"` // keepalive addresses
	PeerAddress netip.Addr `json:"peer_address,omitzero"`
	OutOfBand   bool       `json:"out_of_band,omitempty"` // those are the switches' management addresses, and of no interface of the intent
	IntervalMs  uint32     `json:"interval_ms,omitempty"`
	TimeoutMs   uint32     `json:"timeout_ms,omitempty"`
}

// Buffer is the shared packet buffer of a switch.
type Buffer struct {
	SharedBytes   Opt[uint64] `json:"shared_bytes,omitzero"`
	HeadroomBytes Opt[uint64] `json:"headroom_bytes,omitzero"` // shared headroom pool
	AlphaExponent Opt[int8]   `json:"alpha_exponent,omitzero"` // 2^n, ingress lossless
}

// Aging is how long a switch keeps what it has learned.
type Aging struct {
	ARPSeconds Opt[uint32] `json:"arp_seconds,omitzero"`
	MACSeconds Opt[uint32] `json:"mac_seconds,omitzero"`
}

// Hash is how a switch spreads flows over links of equal cost.
type Hash struct {
	Function Opt[string] `json:"function,omitzero"` // in the words of the OS
	Seed     Opt[uint32] `json:"seed,omitzero"`
}
