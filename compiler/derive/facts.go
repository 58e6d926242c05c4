// Package derive computes what follows from a fabric: headroom of every
// lossless priority group by DESIGN's precedence, ECN thresholds by speed and
// model, the MTU each class needs. Ports with equal inputs share one row, so
// that cost follows variety and not size. It judges nothing: compiler/lint does.
package derive

import "github.com/rocec/rocec/compiler/fabric"

// FactID is the index of a row of Facts.Rows; 0 = nothing derived.
type FactID uint32

// Facts are the derived values of a fabric.
type Facts struct {
	Of      []FactID // index = fabric.PortID
	Rows    []Port
	Buffers []Buffer // index = fabric.DeviceID; zero for nodes

	lags   grouped[fabric.LAGID]
	ifaces grouped[fabric.IfaceID]
}

// Port returns the derived values of a port.
func (f *Facts) Port(p fabric.PortID) *Port { return &f.Rows[f.Of[p]] }

// group lists the rows of each device.
func (f *Facts) group(fab *fabric.Fabric) {
	f.lags = groupBy(len(fab.Devices), len(fab.LAGs), func(l fabric.LAGID) fabric.DeviceID { return fab.LAGs[l].Device })
	f.ifaces = groupBy(len(fab.Devices), len(fab.Ifaces), func(i fabric.IfaceID) fabric.DeviceID { return fab.Ifaces[i].Device })
}

// LAGsOf lists the LAGs of a device, ascending.
func (f *Facts) LAGsOf(d fabric.DeviceID) []fabric.LAGID { return f.lags.of(d) }

// IfacesOf lists the interfaces of a device, ascending.
func (f *Facts) IfacesOf(d fabric.DeviceID) []fabric.IfaceID { return f.ifaces.of(d) }

// Buffer is the packet buffer of a switch as headroom and ECN bounds see it.
type Buffer struct {
	HeadroomBytes uint64 // of all lossless groups of its ports that are not shut down, in whole cells
	SharedBytes   uint64 // what is left for sharing; as written, else the buffer without headroom
	SharedKnown   bool   // SharedBytes is written or follows from the model's data
	Ports         uint32 // cabled ports that are not shut down: what can be congested at once
}

// Port is what is derived for one port. It is comparable and interned.
type Port struct {
	Headroom  [8]Headroom     // by priority; zero for lossy ones
	ECN       [8]ECN          // by queue
	Alpha     [8]fabric.Ratio // by priority: dynamic threshold of lossless ones on switches; zero where it is not known
	CapMbps   [8]uint32       // by queue: the rate cap with percents settled by the speed
	CableMm   uint32          // length that headroom was computed for, extra delay counted as cable; 0 = no lossless priority
	NeedMTU   uint16          // smallest IP MTU that carries every RDMA class of the port; 0 = none
	NeedClass uint8           // index of the class that needs it
	RDMAMTU   uint16          // RDMA path MTU that the port's MTU gives
}

// Source says where a headroom comes from, in the order of precedence.
type Source uint8

// Sources of headroom.
const (
	SourceNone      Source = iota
	SourceOperator         // written on the port or class
	SourceTable            // vendor table row
	SourceFormula          // vendor formula of that image
	SourceReference        // the reference formula
	SourceKept             // left to the device
)

// Headroom is the buffer of one lossless priority on one port, in bytes.
type Headroom struct {
	Source    Source
	Xoff      uint32
	Xon       uint32
	Size      uint32
	XonOffset uint32
	Alpha     int8 // dynamic threshold exponent of the class or table row
	HasAlpha  bool
	Minimum   uint32 // physical minimum: below it loss is certain
	Reference uint32 // reference formula
	Table     uint32 // xoff of the vendor's row, 0 if there is none
	TableMm   uint32 // cable length of that row: the port's own or the next longer one of the table
	ShorterMm uint32 // with TableMiss: longest listed length at this speed, 0 if the speed is not listed
	TableMiss bool   // the target looks its headroom up, and has no row for this speed that is long enough
	AssumedMm uint32 // cable length assumed because none is written
	Formula   uint32 // xoff by the vendor's formula, 0 if there is none

	// Of what the operator wrote only, and 0 where it is no less than Reference.
	ClassOnly uint32 // reference formula if no frame on the port were larger than those of its classes that carry RDMA
	WrittenMm uint32 // shorter cable for which it is exactly what the vendor's table or the reference formula gives, 0 if there is none
}

// ECN is the marking of one queue with its thresholds settled.
type ECN struct {
	On           bool
	Auto         bool // thresholds were derived
	MinBytes     uint32
	MaxBytes     uint32
	Probability  uint8
	RelaxedBytes uint32 // largest MinBytes at which ECN marks before PFC fires, one queue fed by one ingress; 0 = not known
	StrictBytes  uint32 // the same where one ingress feeds every queue of the switch
}
