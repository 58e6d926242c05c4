package sonic

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// headroom reads the fixed sizes of a port's lossless groups. Groups whose size
// the dynamic model computes have none in ConfigDB.
func (p *parser) headroom(port, hint *intent.Port) []intent.Headroom {
	var all []intent.Headroom
	seen := map[uint8]bool{}
	add := func(group uint8, profile string) {
		if h, ok := p.profile(group, profile, hint); ok && !seen[group] {
			seen[group] = true
			all = append(all, h)
		}
	}
	for _, key := range p.db.keys("BUFFER_PG") {
		owner, low, high, ok := span(key)
		if !ok || owner != port.Name {
			continue
		}
		for g := low; g <= high && g < 8; g++ {
			add(uint8(g), p.db.ref("BUFFER_PG", key, "profile"))
		}
	}
	if q := p.seen.QoSNamed(port.QoS); q != nil && bufferModel(p.seen) == traditional && port.Mbps.IsSet() {
		// Before the buffer manager has run, its profile can be told by its name.
		for _, g := range q.PFC.Value.List() {
			add(g, looked+strconv.FormatUint(uint64(port.Mbps.Value), 10)+"_"+p.cableText(port.Name)+"_profile")
		}
	}
	slices.SortFunc(all, func(a, b intent.Headroom) int { return cmp.Compare(a.Group, b.Group) })
	return all
}

func (p *parser) cableText(port string) string {
	for _, key := range p.db.keys("CABLE_LENGTH") {
		if v := p.db.value("CABLE_LENGTH", key, port); v != "" {
			return v
		}
	}
	return ""
}

func (p *parser) profile(group uint8, name string, hint *intent.Port) (intent.Headroom, bool) {
	const table = "BUFFER_PROFILE"
	if !p.db.has(table, name, "xoff") {
		return intent.Headroom{}, false
	}
	bytes := func(field string) uint32 { return number[uint32](p, table, name, field, 1<<32-1).Or(0) }
	h := intent.Headroom{
		Group: group, XoffBytes: bytes("xoff"), XonBytes: bytes("xon"), SizeBytes: bytes("size"), XonOffset: bytes("xon_offset"),
		Written: !strings.HasPrefix(name, looked),
	}
	if th, err := strconv.ParseInt(p.db.value(table, name, "dynamic_th"), 10, 8); err == nil {
		a := int8(th)
		h.Alpha = &a
	}
	i := slices.IndexFunc(hint.Headroom, func(w intent.Headroom) bool { return w.Group == group })
	if i < 0 {
		return h, true
	}
	w := hint.Headroom[i]
	h.Written = w.Written
	if th, ok := threshold(p.hint, w); w.Alpha == nil && ok && h.Alpha != nil && *h.Alpha == th {
		h.Alpha = nil
	}
	if w.SizeBytes == 0 && uint64(h.SizeBytes) == sizeOf(p.hint, w) {
		h.SizeBytes = 0
	}
	return h, true
}

// buffer reads the pools and the threshold of the switch.
func (p *parser) buffer() {
	b := &p.seen.Buffer
	b.SharedBytes = number[uint64](p, "BUFFER_POOL", losslessPool, "size", 1<<40)
	b.HeadroomBytes = number[uint64](p, "BUFFER_POOL", losslessPool, "xoff", 1<<40)
	if bufferModel(p.seen) != dynamic {
		return
	}
	b.AlphaExponent.State = intent.Default
	for _, key := range p.db.keys("DEFAULT_LOSSLESS_BUFFER_PARAMETER") {
		v := p.db.value("DEFAULT_LOSSLESS_BUFFER_PARAMETER", key, "default_dynamic_th")
		if v == "" {
			continue
		}
		n, err := strconv.ParseInt(v, 10, 8)
		if err != nil {
			p.odd("DEFAULT_LOSSLESS_BUFFER_PARAMETER", key, "default_dynamic_th")
			continue
		}
		b.AlphaExponent = intent.Some(int8(n))
	}
}
