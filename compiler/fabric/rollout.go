package fabric

import (
	"cmp"
	"fmt"
)

// Rollout is the order in which devices are changed, as written.
type Rollout struct {
	UpstreamFirst   bool
	OrderSet        bool
	ConfirmMs       uint32 // 0 = not written
	Stop            bool   // on failure; false: roll back, or not written
	MaxSharePercent uint8  // 0 = not written
	MaxMismatchMs   uint32
	MismatchSet     bool
	Waves           []Wave // in the order written
	Of              []int  // by DeviceID: 1 + index of the device's wave, 0 = in none
	Decl            DeclID // 0 = no rollout is written
}

// Wave is devices that change together, part after part.
type Wave struct {
	Name     Str
	GroupBy  GroupBy
	SoakMs   uint32
	Gates    Gates
	Drain    bool
	Firmware bool // new firmware comes with it
	Rest     bool // takes what no wave before it selects
	Decl     DeclID
}

// RolloutAddress is the rollout as findings and overrides name it.
const RolloutAddress = "rollout"

// WaveAddress is a wave as findings and overrides name it.
func WaveAddress(name string) string { return fmt.Sprintf("%s.wave[%q]", RolloutAddress, name) }

// GroupBy is what parts of a wave have in common.
type GroupBy uint8

// What a wave is grouped by; the zero value is all at once.
const (
	GroupNone GroupBy = iota
	GroupRail
	GroupPlane
	GroupPod
	GroupRack
	GroupCluster
	GroupDevice
)

// Gates is a set of what must hold before the next part of a wave, and the next wave.
type Gates uint8

// Gates of waves.
const (
	GateVerify Gates = 1 << iota
	GateNoPauseStorm
	GateNoDiscards
	GateRDMAPing
)

// WaveGroup is the part of a wave that a device is in, "" if the wave has none.
func (f *Fabric) WaveGroup(w *Wave, d DeviceID) string {
	dev := &f.Devices[d]
	number := func(word string, n int32) string {
		if dev.Tier == NoTier || n < 0 {
			return "no " + word
		}
		return fmt.Sprintf("%s %d", word, n)
	}
	text := func(word string, s Str) string { return cmp.Or(f.Text(s), "no "+word) }
	switch w.GroupBy {
	case GroupRail:
		return number("rail", dev.Rail)
	case GroupPlane:
		return number("plane", dev.Plane)
	case GroupPod:
		return number("pod", dev.Pod)
	case GroupRack:
		return text("rack", dev.Rack)
	case GroupCluster:
		return text("cluster", dev.Cluster)
	case GroupDevice:
		return f.Text(dev.Name)
	}
	return ""
}
