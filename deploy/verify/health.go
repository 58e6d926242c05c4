package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// Expect is what the source says of a device that no intent has.
type Expect struct {
	GPUDirect bool // its GPUs and NICs talk to each other, and no virtual machine is between them
	RDMA      bool // something of it carries RDMA
	Ports     map[string]ExpectPort
	Limits    map[string]map[string]int64 // of options, by the code of a rule, in place of its own
}

// limit is the value of an option of a rule.
func (x *Expect) limit(r *diag.Rule, name string) int64 {
	if n, set := x.Limits[r.ID][name]; set {
		return n
	}
	i := slices.IndexFunc(r.Options, func(o diag.Option) bool { return o.Name == name })
	return r.Options[i].Default
}

// ExpectPort is the same of one port.
type ExpectPort struct {
	PCIeGen, PCIeLanes uint8              // of its slot; 0: not written
	Mbps               uint32             // 0: not known
	GID                int                // that applications are told to use; negative: not written
	Marked             intent.PrioritySet // of classes that switches mark, and that hosts react to
}

// A pause lasts 65535 quanta of 512 bit times at most [IEEE 802.3, 31B.2].
const longestPauseBits = 65535 * 512

// shortReadBytes is what PCIe devices begin with: the bound of ROCE754.
const shortReadBytes = 512

// leastMemlockBytes is the limit below which RDMA is taken for impossible: the bound of ROCE714.
const leastMemlockBytes = 1 << 30

// usualMbps is the speed of ports of which none is known.
const usualMbps = 100_000

// Health judges how a device is: by what it shows now, and by what grew since
// an earlier look, so long ago. Without one (before is nil) counters say nothing.
func Health(address string, d *intent.Device, x *Expect, before, after *targets.Vitals, gap time.Duration) diag.List {
	h := &judge{address: address, device: d, expect: x, before: before, after: after, seconds: max(gap.Seconds(), 1)}
	h.host()
	for i := range d.Ports {
		if v := after.Ports[d.Ports[i].Name]; v != nil {
			h.port(&d.Ports[i], v)
		}
	}
	return h.list
}

type judge struct {
	address       string
	device        *intent.Device
	expect        *Expect
	before, after *targets.Vitals
	seconds       float64
	list          diag.List
}

// report enters a finding of a rule; a port that is nil makes it one of the device.
func (h *judge) report(r *diag.Rule, p *intent.Port, help, format string, args ...any) {
	address := h.address
	if p != nil {
		address = plan.Address(h.address, h.device.Kind, intent.OfPort, p.Name)
	}
	h.list.Add(diag.Diagnostic{
		Rule: r.ID, Severity: r.Severity, Address: address, Summary: diag.Printable(address + " " + fmt.Sprintf(format, args...)), Help: help,
	})
}

// host judges what is of the device and not of a port.
func (h *judge) host() {
	v := h.after
	if n := len(v.Redirecting); n > 0 && h.expect.GPUDirect {
		h.report(acs, nil, "turn them off in the BIOS or at boot, or write virtualised = true",
			"has access control services on at %s: what its GPUs and NICs send each other goes through the root complex", some(v.Redirecting))
	}
	if v.MemlockBytes != nil && *v.MemlockBytes != targets.Unlimited && h.expect.RDMA {
		r := *memlock
		if *v.MemlockBytes >= leastMemlockBytes {
			r.Severity = diag.Warning
		}
		h.report(&r, nil, "set memlock to unlimited in /etc/security/limits.d and in the units that use RDMA", "lets a login lock %d bytes of memory, and RDMA registers more", *v.MemlockBytes)
	}
	if h.device.Verify && len(v.Strict) > 0 { // rocec writes it for the hosts that it manages
		h.report(strictPaths, nil, strictPaths.Fix, "drops what comes in by another rail than its routes answer by: rp_filter is 1 on %s", some(v.Strict))
	}
	if len(v.Missing) > 0 {
		h.report(modules, nil, "install rdma-core and load it, at boot as well", "has not loaded %s", some(v.Missing))
	}
}

// some are the first of a list, and how many more there are.
func some(list []string) string {
	const most = 3
	if n := len(list) - most; n > 0 {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(list, ", ")
}

// port judges one port.
func (h *judge) port(p *intent.Port, v *targets.PortVitals) {
	x, known := h.expect.Ports[p.Name]
	if known && v.PCIeGen > 0 && v.PCIeLanes > 0 && (v.PCIeGen < x.PCIeGen || v.PCIeLanes < x.PCIeLanes) {
		h.report(pcieDown, p, "reseat it, and look at the bifurcation of the slot in the BIOS", "runs PCIe %d x%d instead of %d x%d", v.PCIeGen, v.PCIeLanes, max(x.PCIeGen, v.PCIeGen), max(x.PCIeLanes, v.PCIeLanes))
	}
	if v.PCIeGen >= 5 && v.PCIeLanes >= 16 && v.ReadRequestBytes > 0 && v.ReadRequestBytes <= shortReadBytes {
		h.report(shortReads, p, shortReads.Fix, "reads %d bytes of memory at a time over PCIe %d x%d", v.ReadRequestBytes, v.PCIeGen, v.PCIeLanes)
	}
	if v.FirmwareDCBX && h.after.LLDPDaemon {
		h.report(dcbxOwners, p, "choose one owner of DCBX", "has DCBX of its firmware, and lldpad speaks it as well")
	}
	if off := v.DCQCNOff & x.Marked; known && off != 0 {
		h.report(dcqcnOff, p, "enable notification and reaction point on the priority", "has DCQCN off on priorities %s, which switches mark", off)
	}
	if known && x.GID >= 0 && v.GIDs != nil {
		h.gid(p, x.GID, v.GIDs)
	}
	if ms := v.StormMs; ms != nil && (*ms == 0 || int64(*ms) > h.expect.limit(stormPrevention, "most")) && (p.NIC == nil || p.NIC.StormMs.IsZero()) && h.lossless(p) != 0 {
		lasts := fmt.Sprintf("for %d ms", *ms)
		if *ms == 0 {
			lasts = "without end"
		}
		h.report(stormPrevention, p, `write pause_storm_timeout = "auto", which is 100 ms`,
			"may pause its switch %s when its host takes nothing", lasts)
	}
	if v.Stormed != 0 {
		h.report(pauseRate, p, "find who pauses, and why it does", "is stormed: the watchdog holds back %s", v.Stormed)
	}
	if h.before == nil || h.before.Ports[p.Name] == nil {
		return
	}
	h.counters(p, Grown(h.before.Ports[p.Name], v))
}

func (h *judge) gid(p *intent.Port, index int, gids map[int]targets.GID) {
	const help = "pin the index of the routable RoCE v2 address, or none and let the library choose"
	g, there := gids[index]
	switch {
	case !there:
		h.report(gidIndex, p, help, "has no GID %d", index)
	case g.Type != "" && g.Type != "RoCE v2":
		h.report(gidIndex, p, help, "has at GID %d an address of type %s", index, g.Type)
	case strings.HasPrefix(g.Address, "fe80:"):
		h.report(gidIndex, p, help, "has at GID %d a link-local address", index)
	}
}

// Grown is by how much counters grew. One that fell began anew, and says nothing.
func Grown(before, after *targets.PortVitals) map[targets.Counter]uint64 {
	grown := map[targets.Counter]uint64{}
	for c, n := range after.Counters {
		if was, ok := before.Counters[c]; ok && n >= was {
			grown[c] = n - was
		}
	}
	return grown
}

func (h *judge) counters(p *intent.Port, grown map[targets.Counter]uint64) {
	at := func(of targets.Count) (uint64, bool) {
		n, ok := grown[targets.Counter{Of: of, Priority: targets.NoPriority}]
		return n, ok
	}
	if n, _ := at(targets.Uncorrected); n > 0 {
		h.report(bitErrors, p, "replace the cable or the module, and look at the other end", "lost %d frames to bit errors in %.0f s", n, h.seconds)
	}
	if marked, known := at(targets.Marked); known && marked > 0 {
		if sent, known := at(targets.CNPSent); known && sent == 0 {
			h.report(noCNP, p, "enable the notification point, and look at the queue of notifications and the firmware", "received %d marked packets in %.0f s and sent no congestion notification", marked, h.seconds)
		}
	}
	outOf, _ := at(targets.OutOfSequence)
	late, _ := at(targets.AckTimeouts)
	if outOf+late > 0 {
		h.report(losses, p, "look for drops on the path of its class (ROCE302, ROCE501, ROCE913)", "saw %d packets out of sequence and %d acknowledgements time out in %.0f s", outOf, late, h.seconds)
	}
	lossless := h.lossless(p)
	for priority := range int8(8) {
		h.priority(p, priority, lossless.Has(uint8(priority)), grown)
	}
	if n, _ := at(targets.Storms); n > 0 {
		h.report(pauseRate, p, "find who pauses, and why it does", "had %d pause storms in %.0f s", n, h.seconds)
	}
	if n, _ := at(targets.Stalls); n > 0 {
		h.report(stalled, p, stalled.Fix, "took nothing for so long that its NIC stopped pausing and dropped, %d times in %.0f s", n, h.seconds)
	}
}

// lossless are the priorities of a port with PFC.
func (h *judge) lossless(p *intent.Port) intent.PrioritySet {
	if q := h.device.QoSNamed(p.QoS); q != nil {
		return q.PFC.Value
	}
	return 0
}

// priority judges the counters of one priority of a port.
func (h *judge) priority(p *intent.Port, priority int8, lossless bool, grown map[targets.Counter]uint64) {
	n := func(of targets.Count) uint64 { return grown[targets.Counter{Of: of, Priority: priority}] }
	rate := func(of targets.Count) float64 { return float64(n(of)) / h.seconds }
	if dropped := n(targets.Discarded); dropped > 0 && lossless {
		h.report(losslessDrops, p, "look at its headroom and cable length, and whether PFC is on along the whole path (ROCE302, ROCE501, ROCE508)", "dropped %d frames of lossless priority %d in %.0f s", dropped, priority, h.seconds)
	}
	if storms := n(targets.Storms); storms > 0 {
		h.report(pauseRate, p, "find who pauses, and why it does", "had %d pause storms on priority %d in %.0f s", storms, priority, h.seconds)
	}
	still := float64(cmp.Or(h.expect.Ports[p.Name].Mbps, usualMbps)) * 1e6 / longestPauseBits // so many a second stop it all the time
	many := still * float64(h.expect.limit(pauseRate, "share")) / 100
	switch received, sent := rate(targets.PauseReceived), rate(targets.PauseSent); {
	case received > many:
		h.report(pauseRate, p, "follow the pauses to the device that sends them first", "is paused %.0f times a second on priority %d", received, priority)
	case sent > many:
		h.report(pauseRate, p, "follow the pauses to the device that sends them first", "pauses its peer %.0f times a second on priority %d", sent, priority)
	case h.device.Kind == intent.Node && sent >= float64(h.expect.limit(slowReceiver, "rate")) && received == 0:
		h.report(slowReceiver, p, "look at its PCIe link, at translation of addresses (page sizes), and at RDMA to itself", "pauses its switch %.0f times a second on priority %d, and is not paused itself: it is a slow receiver", sent, priority)
	}
}

// Settings are the rules that differing settings of a device break: a speed that
// came up lower, PFC that runs otherwise, PFC without headroom; what else differs
// is drift. Equal ones of several ports are one finding.
func (r *Result) Settings(want *intent.Device) diag.List {
	type kind struct {
		rule          *diag.Rule
		before, after string
	}
	ports := map[kind][]string{}
	var order []kind
	rest := map[string]bool{}
	count := 0
	for _, x := range r.Differences {
		k := kind{before: x.Before, after: x.After}
		switch {
		case x.Path.Object != intent.OfPort || x.Before == "":
		case x.Path.Field == "speed" && slower(x.Before, x.After):
			k.rule = slowLink
		case x.Path.Field == "pfc":
			k.rule = pfcRunning
		case x.Path.Field == "headroom" && noRoom(want, x.Path.Name, x.Before):
			k.rule = noHeadroom
		}
		if k.rule == nil {
			rest[x.Path.Word()] = true
			count++
			continue
		}
		if ports[k] == nil {
			order = append(order, k)
		}
		ports[k] = append(ports[k], x.Path.Name)
	}
	var list diag.List
	for _, k := range order {
		where := plan.Ranges(ports[k])
		address := plan.Address(r.Address, r.Kind, intent.OfPort, strings.Join(where, ","))
		says := map[*diag.Rule]string{
			slowLink: "came up at %s, declared is %s", pfcRunning: "runs PFC %s, declared is %s", noHeadroom: "has PFC on and the headroom %s, declared is %s",
		}[k.rule]
		list.Add(diag.Diagnostic{
			Rule: k.rule.ID, Severity: k.rule.Severity, Address: address, Count: len(ports[k]),
			Summary: diag.Printable(address + " " + fmt.Sprintf(says, k.before, k.after)), Help: k.rule.Fix,
		})
	}
	if count > 0 {
		names := slices.Sorted(maps.Keys(rest))
		for i, n := range names {
			if n == "" {
				names[i] = "whole objects"
			}
		}
		list.Add(diag.Diagnostic{
			Rule: drifted.ID, Severity: drifted.Severity, Address: r.Address, Help: drifted.Fix,
			Summary: diag.Printable(fmt.Sprintf("%s differs from the source in %s: %s", r.Address, settings(count), some(names))),
		})
	}
	return list
}

func settings(n int) string {
	if n == 1 {
		return "1 setting"
	}
	return fmt.Sprintf("%d settings", n)
}

// slower reports whether a speed as an intent writes it is below another: "25G", "100G".
func slower(found, declared string) bool {
	mbps := func(s string) (n uint64) {
		var unit string
		if k, err := fmt.Sscanf(s, "%d%s", &n, &unit); err != nil || k != 2 {
			return 0
		}
		return n * map[string]uint64{"M": 1, "G": 1000, "T": 1_000_000}[unit]
	}
	a, b := mbps(found), mbps(declared)
	return a > 0 && a < b
}

// noRoom reports whether a port has PFC for a priority of which the headroom that
// was found is 0: "3: 0".
func noRoom(want *intent.Device, port, found string) bool {
	p := want.PortNamed(port)
	if p == nil {
		return false
	}
	q := want.QoSNamed(p.QoS)
	for part := range strings.SplitSeq(found, ",") {
		var priority uint8
		var bytes uint64
		if n, _ := fmt.Sscanf(strings.TrimSpace(part), "%d: %d", &priority, &bytes); n == 2 && bytes == 0 && q != nil && q.PFC.Value.Has(priority) {
			return true
		}
	}
	return false
}
