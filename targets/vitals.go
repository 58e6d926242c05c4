package targets

import (
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// Health reads what says whether a device is well, besides its settings: links as
// they came up, what the system lacks, and counters, which mean something when
// they are read twice.
type Health struct {
	// Probes are read-only commands, whose files lie in a folder of their own.
	Probes []Probe
	// Capture is Target.Capture for these probes.
	Capture string
	// Read turns what they print into vitals. What it cannot read is not known; like
	// captures the text is hostile.
	Read func(d *intent.Device, c Captured) (*Vitals, diag.List)
}

// Runs are the probes of one device, as Target.Runs has those of its settings.
func (h *Health) Runs(d *intent.Device) []Probe {
	t := Target{Probes: h.Probes}
	return t.Runs(d)
}

// Asking is the target with other probes: for whoever reads something else than
// settings, in the way in which those are read. Capture is the artifact that runs
// the probes, "" where none does.
func (t *Target) Asking(capture string, probes ...Probe) *Target {
	return &Target{Name: t.Name, Live: t.Live, Parse: t.Parse, Emit: t.Emit, Capture: capture, Probes: probes}
}

// Vitals are what a device shows of its health.
type Vitals struct {
	Ports map[string]*PortVitals // by name
	// MemlockBytes is how much memory a process may lock; Unlimited is no bound. Nil: not known.
	MemlockBytes *uint64
	Missing      []string // kernel modules that its ports need and that are not loaded
	// Redirecting are PCI bridges with access control services on, which send what
	// two devices below them say to each other through the root complex.
	Redirecting []string
	// Strict are network devices with RDMA, of several, that drop what comes in by another device than the way back.
	Strict []string
	// LLDPDaemon says that a daemon of the host speaks DCBX.
	LLDPDaemon bool
}

// Unlimited is no bound on locked memory.
const Unlimited = ^uint64(0)

// PortVitals are what a device shows of a port.
type PortVitals struct {
	PCIeGen, PCIeLanes uint8 // as negotiated; 0: not known
	FirmwareDCBX       bool  // the firmware of the adapter speaks DCBX
	// DCQCNOff are priorities on which the adapter does not notify or not react.
	DCQCNOff         intent.PrioritySet
	GIDs             map[int]GID // of its RDMA device, by index
	Counters         map[Counter]uint64
	ReadRequestBytes uint32 // most that it asks memory for at a time; 0: not known
	// StormMs is how long the adapter may pause its switch before it drops what it cannot take; 0 is for ever. Nil: not known.
	StormMs *uint16
	// Stormed are priorities that a watchdog holds back now.
	Stormed intent.PrioritySet
}

// GID is one address of an RDMA device.
type GID struct {
	Address string
	Type    string // as the kernel has it: "RoCE v2", "IB/RoCE v1"
}

// Counter is what is counted, and of which priority: the one that a lossless class
// has, or its queue or group where a system counts those.
type Counter struct {
	Of       Count
	Priority int8 // NoPriority where it is of the port
}

// NoPriority is that of a counter of the whole port.
const NoPriority = -1

// Count is what a counter counts.
type Count string

// What is counted. None of them is ever reset: two samples tell what grows.
const (
	PauseReceived Count = "pauses received"
	PauseSent     Count = "pauses sent"
	Discarded     Count = "frames dropped"
	Uncorrected   Count = "frames lost to bit errors"
	Storms        Count = "pause storms"
	Stalls        Count = "pauses given up"
	Marked        Count = "marked packets received"
	CNPSent       Count = "congestion notifications sent"
	OutOfSequence Count = "packets out of sequence"
	AckTimeouts   Count = "acknowledgements timed out"
)

// Add counts for a port, which is entered when it is new.
func (v *Vitals) Add(port string, c Counter, n uint64) {
	p := v.Port(port)
	if p.Counters == nil {
		p.Counters = map[Counter]uint64{}
	}
	p.Counters[c] += n
}

// Port is a port of the vitals, which is entered when it is new.
func (v *Vitals) Port(name string) *PortVitals {
	if v.Ports == nil {
		v.Ports = map[string]*PortVitals{}
	}
	if v.Ports[name] == nil {
		v.Ports[name] = &PortVitals{}
	}
	return v.Ports[name]
}
