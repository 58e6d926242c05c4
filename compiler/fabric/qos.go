package fabric

import "github.com/rocec/rocec/lang/schema"

// MaxClasses is the largest number of classes in one qos.
const MaxClasses = 16

// QoS is a contract of classes as written, `from` folded in.
type QoS struct {
	Name      Str
	Trust     Trust
	Transport Transport
	DCBX      DCBX
	Classes   []Class // in the order written; at most MaxClasses; exactly one Default
	Decl      DeclID
	Layers    LayersID
	Address   Str
	Untrusted bool // the predeclared qos.untrusted
}

// Class is one traffic class of a contract.
type Class struct {
	Name                            Str
	Carries                         Carries
	DSCP                            uint64 // set of code points
	Priority                        uint8
	Queue                           uint8
	QueueSet                        bool
	Group                           uint8
	GroupSet                        bool
	Lossless                        bool
	Strict                          bool
	Default                         bool
	Remap                           bool
	Percent                         uint8
	PercentSet                      bool // 0 that is written is a share too: what the others leave
	CapMbps                         uint32
	CapPercent                      uint8
	ECN                             ECN
	Congestion                      Congestion
	CongestionSet                   bool
	ByRTT                           bool // round-trip times slow its senders, as vendors' tools have set the NICs
	Watchdog                        Watchdog
	Alpha                           Ratio
	HeadroomBytes                   uint32
	HeadroomZero                    bool // a size of 0 is written
	XonBytes                        uint32
	NetDirectPort, TCPPort, UDPPort uint16
	MarkByApplication               bool
	Transport                       Transport
	RDMAMTU                         uint16 // 0 = not written
	Redundancy                      uint8  // leaves that each of its nodes is cabled to, at least; 0 = not written
	MaxOversubscription             Ratio  // zero = not written
	MarkedOn                        Sides  // who writes the DSCP; 0 = not written: both sides
	LatencyBudgetUs                 uint32 // most that a queue may add; 0 = not written
	CNPIntervalUs                   uint32 // least time between CNPs that every NIC has been set to; 0 = not written
	Consumers                       []Str  // applications; nil = not written
	QPs                             uint16 // between two nodes; 0 = not written
	CrossRail                       bool
	Monitor                         Watched
	Baseline                        Str // where it is kept; 0 = not written
	Fallback                        Fallback
	Decl                            DeclID
}

// Watched is a set of what is watched of a class in operation.
type Watched uint8

// What may be watched.
const (
	WatchPause Watched = 1 << iota
	WatchECN
	WatchCNP
	WatchDiscards
	WatchLatency
)

// Fallback is what a service does when its RDMA stops.
type Fallback struct {
	Written, TCP, Tested, Alarm bool
}

// Sides is a set of the sides of a connection.
type Sides uint8

// Sides of a connection.
const (
	Initiators Sides = 1 << iota
	Responders
)

// Carries is what a class carries.
type Carries uint8

// What classes carry.
const (
	CarriesDefault Carries = iota
	CarriesRDMA
	CarriesCNP
	CarriesCluster
	CarriesOther
)

// Trust is which mark classifies a frame.
type Trust uint8

// Trust modes; the zero value is not written.
const (
	TrustUnset Trust = iota
	TrustDSCP
	TrustPCP
	TrustNone
)

// Transport of RDMA.
type Transport uint8

// Transports; the zero value is not written (RoCE v2).
const (
	TransportUnset Transport = iota
	RoCEv2
	RoCEv1
	IWARP
)

// Congestion says who slows a sender.
type Congestion uint8

// Congestion control.
const (
	CongestionNone Congestion = iota
	DCQCN
	Receiver
)

// DCBXMode says who decides on a link.
type DCBXMode uint8

// DCBX modes; the zero value is not written.
const (
	DCBXUnset DCBXMode = iota
	DCBXOff
	DCBXAdvertise
	DCBXWilling
)

// DCBX is one end's part in the negotiation.
type DCBX struct {
	Mode       DCBXMode
	CEE        bool // version; false = IEEE or not written
	VersionSet bool
	Owner      Owner
	Rivals     bool // several agents speak it, as found
}

// Owner is the agent of a host that speaks DCBX.
type Owner uint8

// Owners; the zero value is not written.
const (
	OwnerUnset Owner = iota
	OwnerOS
	OwnerFirmware
	OwnerLLDPAD
)

// Mode of a setting that may be computed.
type Mode uint8

// Modes; the zero value is not written.
const (
	Unwritten Mode = iota
	Off
	Auto
	Written
	Keep
)

// ECN is a written marking; thresholds that are Auto are derived by speed.
type ECN struct {
	Mode        Mode   // Off, Auto (all of it), Written (any part), Keep
	MinBytes    uint32 // 0 = auto
	MaxBytes    uint32
	Probability uint8
	Unmarked    Colors // colours that are not marked, as found
}

// Colors is a set of the colours that a meter gives packets.
type Colors uint8

// Colours. What no meter touches is green.
const (
	Green Colors = 1 << iota
	Yellow
	Red
)

// Direction is in which directions a port does PFC.
type Direction uint8

// Directions; the zero value is both.
const (
	BothWays    Direction = iota
	ReceiveOnly           // honours pauses and sends none
	SendOnly              // sends pauses and honours none
)

// MACsec is what is known of the encryption of a link on one port.
type MACsec uint8

// States of MACsec; the zero value is not written.
const (
	MACsecUnset MACsec = iota
	MACsecOff
	MACsecOn        // and nothing said of PFC frames
	MACsecClear     // PFC frames in clear
	MACsecProtected // PFC frames encrypted
)

// Watchdog is a written PFC watchdog.
type Watchdog struct {
	Mode                        Mode // Off, Auto, Written, Keep
	DetectMs, RestoreMs, PollMs uint32
	Action                      WatchdogAction
}

// WatchdogAction is what happens to a stuck queue.
type WatchdogAction uint8

// Actions; the zero value is the device's own.
const (
	ActionUnset WatchdogAction = iota
	Drop
	Forward
	Alert
)

// Profile is what a port does with traffic, each distinct value once. It is
// comparable and holds values only. All maps are total.
type Profile struct {
	QoS      QoSID
	Host     bool // of a NIC: nothing of queues and groups beyond traffic classes
	Trust    Trust
	DSCP     [64]uint8 // DSCP -> priority
	PCP      [8]uint8
	Queue    [8]uint8 // priority -> queue (traffic class)
	Group    [8]uint8
	PFCQueue [8]uint8
	PFC      uint8 // set of priorities
	Pause    bool
	PauseSet bool
	Sched    [8]Sched // by queue
	ECN      [8]ECN   // by queue
	DCBX     DCBX
	Watchdog Watchdog
	On       [MaxClasses]ClassOn // by index in QoS.Classes: where the maps put each class
	Deviates uint16              // set of Deviation bits: what the port restates
	Kept     uint16              // what it leaves as the device has it, in the same bits: the proofs take the vendor's default, where the model's data state it
	Known    bool                // they do

	// As found, where rocec does not write the port.
	Direction Direction
	Remarks   bool
	Remark    [64]uint8 // DSCP -> DSCP; counts with Remarks
	ToSSet    bool
	ToS       uint8 // byte written into RDMA traffic
	DCQCNSet  bool
	DCQCN     uint8 // set of priorities that have it
}

// ClassOn is where a class lands on a port, by composing that port's maps.
type ClassOn struct {
	Priority uint8
	Queue    uint8
	Group    uint8
	PFC      bool // the priority has PFC
	Split    bool // its code points land in different priorities
}

// Sched is the scheduler of one queue.
type Sched struct {
	Used       bool
	Strict     bool
	Percent    uint8
	PercentSet bool
	CapMbps    uint32
	CapPercent uint8
}

// Deviation bits of Profile.Deviates.
const (
	DeviatesTrust uint16 = 1 << iota
	DeviatesDSCP
	DeviatesPCP
	DeviatesQueue
	DeviatesGroup
	DeviatesPFC
	DeviatesPFCQueue
	DeviatesPause
	DeviatesETS
	DeviatesDCBX
	DeviatesECN
	DeviatesWatchdog
)

// DeviatesIn reports whether ports with a profile have an attribute of their own, whatever their contract says: a line that writes it
// for some ports of a block, and null for the others, makes no deviation of those.
func (p *Profile) DeviatesIn(n schema.Attr) bool { return p.Deviates&DeviationBit(n) != 0 }
