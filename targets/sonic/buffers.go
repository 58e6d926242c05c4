package sonic

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rocec/rocec/compiler/intent"
)

// Names that the images use for their pool and profiles (buffermgr.h,
// buffers_config.j2).
const (
	losslessPool  = "ingress_lossless_pool"
	losslessQueue = "egress_lossless_profile"
	computed      = "NULL"         // the dynamic model computes the profile
	looked        = "pg_lossless_" // begins the names of those that the traditional model looks up
)

// buffers writes what the image does not size by itself. Every row of it
// re-carves the packet buffer or is refused by the config updater, so all but
// the plain BUFFER_PG rows of the dynamic model wait for a maintenance window.
func (b *builder) buffers() {
	d, at := b.device, intent.Path{Object: intent.OfDevice, Field: "buffer"}
	pool := func(field string, size intent.Opt[uint64]) {
		if size.IsSet() {
			b.maintenance.row("BUFFER_POOL", losslessPool).set(field, strconv.FormatUint(size.Value, 10), at)
		}
	}
	pool("size", d.Buffer.SharedBytes)
	pool("xoff", d.Buffer.HeadroomBytes)
	if d.Buffer.AlphaExponent.IsSet() && bufferModel(d) == dynamic {
		b.maintenance.row("DEFAULT_LOSSLESS_BUFFER_PARAMETER", shared).
			set("default_dynamic_th", decimal(int(d.Buffer.AlphaExponent.Value)), at)
	}
	for i := range d.Ports {
		if p := &d.Ports[i]; !p.Verify {
			b.portBuffers(p)
		}
	}
}

func (b *builder) portBuffers(p *intent.Port) {
	d := b.device
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	}
	q := d.QoSNamed(p.QoS)
	var groups []uint8
	if q != nil {
		groups = losslessGroups(q)
	}
	if bufferModel(d) == traditional {
		for _, h := range p.Headroom {
			if h.Written {
				b.profile(lookupProfile(d, p), h, at("headroom"))
			}
		}
	} else {
		b.groups(p, groups, at)
	}
	if q == nil {
		return
	}
	// The image binds egress_lossless_profile to queues 3 and 4 only, and has the
	// others in rows for ranges, 0-2 and 5-6 mostly, which Rebase takes apart.
	for _, queue := range losslessQueues(q) {
		b.maintenance.share("BUFFER_QUEUE", p.Name+"|"+decimal(queue), b.shared(q.Name, losslessQueue))
	}
}

// groups binds the lossless groups of the dynamic model: to a profile of fixed
// size where one was written, else to none, which has it computed.
func (b *builder) groups(p *intent.Port, groups []uint8, at func(string) intent.Path) {
	var left []uint8
	for _, g := range groups {
		i := slices.IndexFunc(p.Headroom, func(h intent.Headroom) bool { return h.Group == g && h.Written })
		if i < 0 {
			left = append(left, g)
			continue
		}
		name := staticProfile(b.device, p.Headroom[i])
		b.profile(name, p.Headroom[i], at("headroom"))
		b.maintenance.row("BUFFER_PG", p.Name+"|"+decimal(g)).set("profile", name, at("headroom"))
	}
	for _, run := range runs(left) {
		b.normal.share("BUFFER_PG", p.Name+"|"+run, b.shared(p.QoS, computed))
	}
}

// shared is a row that names a profile because of the PFC of a QoS.
func (b *builder) shared(qos, profile string) row {
	key := [2]string{qos, profile}
	if b.profiles[key] == nil {
		b.profiles[key] = row{"profile": {value: profile, from: intent.Path{Object: intent.OfQoS, Name: qos, Field: "pfc"}}}
	}
	return b.profiles[key]
}

func (b *builder) profile(name string, h intent.Headroom, at intent.Path) {
	r := b.maintenance.row("BUFFER_PROFILE", name)
	r.set("pool", losslessPool, at)
	r.set("size", strconv.FormatUint(sizeOf(b.device, h), 10), at)
	r.set("xon", decimal(h.XonBytes), at)
	if h.XonOffset > 0 {
		r.set("xon_offset", decimal(h.XonOffset), at)
	}
	r.set("xoff", decimal(h.XoffBytes), at)
	if th, ok := threshold(b.device, h); ok {
		r.set("dynamic_th", decimal(int(th)), at)
	}
}

// sizeOf is the reserved size of a profile. Spectrum profiles count it as xon
// and xoff together; for others it is written, which Limits sees to.
func sizeOf(d *intent.Device, h intent.Headroom) uint64 {
	if h.SizeBytes == 0 && familyOf(d.ASIC) == mellanox {
		return uint64(h.XonBytes) + uint64(h.XoffBytes)
	}
	return uint64(h.SizeBytes)
}

// threshold is the exponent of a profile: its own, else the switch's.
func threshold(d *intent.Device, h intent.Headroom) (int8, bool) {
	if h.Alpha != nil {
		return *h.Alpha, true
	}
	return d.Buffer.AlphaExponent.Value, d.Buffer.AlphaExponent.IsSet()
}

// lookupProfile is the profile that the traditional buffer manager binds to
// every lossless group of a port. It keeps one that exists, so a written size
// takes its name; under any other name it would be unbound again.
func lookupProfile(d *intent.Device, p *intent.Port) string {
	return fmt.Sprintf(looked+"%d_%s_profile", p.Mbps.Value, cable(p.CableMm.Value))
}

// staticProfile names a fixed size by its content, so that equal ones are one.
func staticProfile(d *intent.Device, h intent.Headroom) string {
	th, _ := threshold(d, h)
	return fmt.Sprintf("%spg_%d_%d_%d_%d_%d", prefix, sizeOf(d, h), h.XonBytes, h.XonOffset, h.XoffBytes, th)
}

// losslessGroups are the priority groups of the lossless priorities, ascending.
func losslessGroups(q *intent.QoS) []uint8 {
	var groups []uint8
	for _, p := range q.Lossless.List() {
		if q.Group.IsSet() {
			p = q.Group.Value[p]
		}
		groups = append(groups, p)
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// losslessQueues are the queues of lossless priorities that the image leaves lossy.
func losslessQueues(q *intent.QoS) []uint8 {
	var queues []uint8
	for _, p := range q.Lossless.List() {
		if q.TC.IsSet() {
			p = q.TC.Value[p]
		}
		if p != 3 && p != 4 {
			queues = append(queues, p)
		}
	}
	slices.Sort(queues)
	return slices.Compact(queues)
}

// runs writes ascending numbers as the image does: "3-4", so that its own row
// for the same groups is met and not doubled.
func runs(numbers []uint8) []string {
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		s := decimal(numbers[i])
		if j > i {
			s += "-" + decimal(numbers[j])
		}
		out = append(out, s)
		i = j + 1
	}
	return out
}
