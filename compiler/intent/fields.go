package intent

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Value is a setting as text, for comparing and for showing. A setting left at
// the vendor's default has no text.
type Value struct {
	State State
	Text  string
}

// Present is the text of an object as such: a port, LAG, VLAN or interface
// that exists. Its path has no field.
const Present = "present"

// Word is the attribute of the language that a field belongs to: the field up
// to the first dot, "watchdog" for "watchdog.detect".
func (p Path) Word() string {
	word, _, _ := strings.Cut(p.Field, ".")
	return word
}

// OfQueue is a field of a QoS for one of its queues: "ecn.3".
func OfQueue(field string, queue int) string { return field + "." + strconv.Itoa(queue) }

// Queue is the queue of a field that OfQueue made.
func (p Path) Queue() (queue int, ok bool) {
	_, n, _ := strings.Cut(p.Field, ".")
	queue, err := strconv.Atoi(n)
	return queue, err == nil
}

// Fields yields every setting that a device states, in a stable order: device,
// VLANs, ports, LAGs, interfaces; each object first as such (Present), then
// its fields. What is not managed is left out. It has the form of an iterator.
//
// QoS stands under each port that names it, resolved, and never under the QoS:
// its name is an invention of whoever built the intent, a read-back has others,
// and a plan speaks of ports and groups those that change alike. On a host the
// NIC's DCBX replaces that of its QoS. Under a VLAN device stands the pcp_map
// of its QoS.
//
// A field is one text for all classes or priorities ("pfc" is "[3]"). Where a
// device may show a part only, or parts may be left to it, each part is a field
// of its own behind a dot: "watchdog.detect", "headroom.size", "vfs.mode",
// "class.smb.dscp", "mlag.domain", "buffer.alpha". Plain numbers and words that
// are zero, and plain flags that are false, count as not stated.
//
// Expectations ("firmware", "driver"; see Path.Expected) stand among them, as
// the source writes them: "28.43.*".
//
// Left out, as they are no settings that a device shows: kinds, models,
// versions, options, and how a NIC is found.
func (d *Device) Fields(yield func(Path, Value) bool) {
	f := &flat{device: d, yield: yield, qos: map[string][]fieldValue{}}
	f.head()
	for i := range d.VLANs {
		v := &d.VLANs[i]
		f.object(OfVLAN, strconv.Itoa(int(v.ID)))
		set(f, "mtu", v.MTU, number)
	}
	for i := range d.Ports {
		f.port(&d.Ports[i])
	}
	for i := range d.LAGs {
		f.lag(&d.LAGs[i])
	}
	for i := range d.Ifaces {
		f.iface(&d.Ifaces[i])
	}
}

type fieldValue struct {
	field string
	value Value
}

// flat flattens one device.
type flat struct {
	device *Device
	yield  func(Path, Value) bool
	done   bool
	at     Path
	qos    map[string][]fieldValue // by name, each flattened once
	into   *[]fieldValue           // where fields go while a QoS is flattened
}

func (f *flat) put(field string, v Value) {
	if f.into != nil {
		*f.into = append(*f.into, fieldValue{field, v})
		return
	}
	if f.done {
		return
	}
	p := f.at
	p.Field = field
	f.done = !f.yield(p, v)
}

func (f *flat) object(o Object, name string) {
	f.at = Path{Object: o, Name: name}
	f.put("", Value{Set, Present})
}

// set puts a setting unless it is not managed.
func set[T any](f *flat, field string, o Opt[T], text func(T) string) {
	switch o.State {
	case Set:
		f.put(field, Value{Set, text(o.Value)})
	case Default:
		f.put(field, Value{State: Default})
	}
}

// plain puts a value that has no state of its own unless it is zero.
func plain[T comparable](f *flat, field string, v T, text func(T) string) {
	var zero T
	if v != zero {
		f.put(field, Value{Set, text(v)})
	}
}

func (f *flat) head() {
	f.at = Path{Object: OfDevice}
	if m := f.device.MLAG; m != nil {
		plain(f, "mlag.domain", m.Domain, number)
		plain(f, "mlag.peer", m.Peer, word)
		plain(f, "mlag.peer_link", m.PeerLink, word)
		plain(f, "mlag.source", m.Source, netip.Addr.String)
		plain(f, "mlag.peer_address", m.PeerAddress, netip.Addr.String)
		plain(f, "mlag.out_of_band", m.OutOfBand, strconv.FormatBool)
		plain(f, "mlag.interval", m.IntervalMs, milliseconds)
		plain(f, "mlag.timeout", m.TimeoutMs, milliseconds)
	}
	b := &f.device.Buffer
	set(f, "buffer.shared", b.SharedBytes, number)
	set(f, "buffer.headroom", b.HeadroomBytes, number)
	set(f, "buffer.alpha", b.AlphaExponent, number)
	set(f, "hash.function", f.device.Hash.Function, word)
	set(f, "hash.seed", f.device.Hash.Seed, number)
	set(f, "arp_timeout", f.device.Aging.ARPSeconds, seconds)
	set(f, "mac_timeout", f.device.Aging.MACSeconds, seconds)
	plain(f, "firmware", f.device.Firmware, word)
}

func (f *flat) port(p *Port) {
	f.object(OfPort, p.Name)
	set(f, "enabled", p.Enabled, strconv.FormatBool)
	set(f, "speed", p.Mbps, speed)
	set(f, "fec", p.FEC, word)
	plain(f, "breakout", p.Breakout, func(s string) string { return s })
	set(f, "autoneg", p.Autoneg, strconv.FormatBool)
	set(f, "mtu", p.MTU, number)
	set(f, "native", p.Native, number)
	set(f, "segments", p.Tagged, numbers)
	set(f, "deny", p.Deny, words[RDMA])
	set(f, "cable", p.CableMm, metres)
	f.headroom(p.Headroom)
	ownDCBX := false
	if n := p.NIC; n != nil {
		set(f, "rdma", n.RDMA, strconv.FormatBool)
		set(f, "roce_mode", n.RoCE, word)
		set(f, "pause_storm_timeout", n.StormMs, func(ms uint16) string {
			if ms == 0 {
				return "off"
			}
			return number(ms) + "ms"
		})
		f.vfs(n.VFs)
		f.dcbx(n.DCBX)
		ownDCBX = !n.DCBX.IsZero()
		plain(f, "gpu", n.GPU, word)
		plain(f, "firmware", n.Firmware, word)
		plain(f, "driver", n.DriverV, word)
	}
	for _, x := range f.flatQoS(p.QoS) {
		if ownDCBX && strings.HasPrefix(x.field, "dcbx") {
			continue
		}
		f.put(x.field, x.value)
	}
}

// headroom states each number apart: devices show some of them only.
func (f *flat) headroom(groups []Headroom) {
	for _, part := range []struct {
		field string
		of    func(Headroom) uint32
	}{
		{"headroom", func(h Headroom) uint32 { return h.XoffBytes }},
		{"headroom.size", func(h Headroom) uint32 { return h.SizeBytes }},
		{"headroom.xon", func(h Headroom) uint32 { return h.XonBytes }},
		{"headroom.xon_offset", func(h Headroom) uint32 { return h.XonOffset }},
	} {
		f.groups(groups, part.field, func(h Headroom) string {
			if n := part.of(h); n > 0 {
				return number(n)
			}
			return ""
		})
	}
	f.groups(groups, "headroom.alpha", func(h Headroom) string {
		if h.Alpha == nil {
			return ""
		}
		return number(*h.Alpha)
	})
}

func (f *flat) groups(groups []Headroom, field string, text func(Headroom) string) {
	var parts []string
	for _, h := range groups {
		if s := text(h); s != "" {
			parts = append(parts, number(h.Group)+": "+s)
		}
	}
	if len(parts) > 0 {
		f.put(field, Value{Set, strings.Join(parts, ", ")})
	}
}

func (f *flat) vfs(v Opt[VFs]) {
	set(f, "vfs", v, func(v VFs) string { return number(v.Count) })
	if !v.IsSet() {
		return
	}
	plain(f, "vfs.mode", v.Value.Mode, word)
	plain(f, "vfs.rdma", v.Value.RDMA, strconv.FormatBool)
	plain(f, "vfs.segment", v.Value.VLAN, number)
	plain(f, "vfs.trust", v.Value.Trust, strconv.FormatBool)
}

func (f *flat) dcbx(x Opt[DCBX]) {
	set(f, "dcbx", x, func(x DCBX) string { return x.Mode })
	if x.IsSet() {
		plain(f, "dcbx.version", x.Value.Version, word)
		plain(f, "dcbx.owner", x.Value.Owner, word)
	}
}

func (f *flat) lag(l *LAG) {
	f.object(OfLAG, l.Name)
	plain(f, "id", l.ID, number)
	if l.Members != nil {
		f.put("members", Value{Set, strings.Join(slices.Sorted(slices.Values(l.Members)), ", ")})
	}
	plain(f, "mode", l.Mode, word)
	plain(f, "rate", l.Rate, word)
	plain(f, "hash", l.Hash, word)
	set(f, "mtu", l.MTU, number)
	set(f, "native", l.Native, number)
	set(f, "segments", l.Tagged, numbers)
	set(f, "deny", l.Deny, words[RDMA])
	plain(f, "mlag", l.MLAG, strconv.FormatBool)
}

func (f *flat) iface(i *Iface) {
	f.object(OfIface, i.Name)
	plain(f, "on", i.On, word)
	plain(f, "pin", i.Pin, word)
	plain(f, "segment", i.VLAN, number)
	set(f, "mtu", i.MTU, number)
	set(f, "address", i.Addresses, prefixes)
	set(f, "gateway", i.Gateway, netip.Addr.String)
	vrf := i.VRF
	if vrf == "" && i.Addresses.IsSet() && (i.Kind == SVI || i.Kind == Routed) {
		vrf = "default" // a switch has each address in some table, named or not
	}
	plain(f, "vrf", vrf, word)
	plain(f, "rdma", i.RDMA, strconv.FormatBool)
	plain(f, "unique", i.Unique, strconv.FormatBool)
	for _, x := range f.flatQoS(i.QoS) {
		if x.field == "pcp_map" {
			f.put(x.field, x.value)
		}
	}
}

func (f *flat) flatQoS(name string) []fieldValue {
	if name == "" {
		return nil
	}
	if list, ok := f.qos[name]; ok {
		return list
	}
	var list []fieldValue
	if i := slices.IndexFunc(f.device.QoS, func(q QoS) bool { return q.Name == name }); i >= 0 {
		f.into = &list
		f.oneQoS(&f.device.QoS[i])
		f.into = nil
	}
	f.qos[name] = list
	return list
}

func (f *flat) oneQoS(q *QoS) {
	eight := func(m [8]uint8) string { return runs(m[:]) }
	set(f, "trust", q.Trust, word)
	set(f, "dscp_map", q.DSCP, func(m [64]uint8) string { return runs(m[:]) })
	set(f, "pcp_map", q.PCP, eight)
	set(f, "queue_map", q.TC, eight)
	set(f, "group_map", q.Group, eight)
	set(f, "pfc", q.PFC, PrioritySet.String)
	set(f, "pfc_queue_map", q.PFCQueue, eight)
	set(f, "ets", q.Sched, schedule)
	set(f, "ecn", q.ECN, marking)
	set(f, "pause", q.Pause, strconv.FormatBool)
	f.dcbx(q.DCBX)
	set(f, "watchdog", q.Watchdog, func(w Watchdog) string { return onOff(w.On) })
	if w := q.Watchdog.Value; q.Watchdog.IsSet() && w.On {
		plain(f, "watchdog.detect", w.DetectMs, milliseconds)
		plain(f, "watchdog.restore", w.RestoreMs, milliseconds)
		plain(f, "watchdog.poll", w.PollMs, milliseconds)
		plain(f, "watchdog.action", w.Action, word)
	}
	set(f, "remap", q.Rewrite, eight)
	for i := range q.Marks {
		m := &q.Marks[i]
		at := "class." + m.Class + "."
		f.put(at+"priority", Value{Set, number(m.Priority)})
		set(f, at+"dscp", m.DSCP, number)
		plain(f, at+"netdirect_port", m.NetDirectPort, number)
		plain(f, at+"tcp_port", m.TCPPort, number)
		plain(f, at+"udp_port", m.UDPPort, number)
		plain(f, at+"congestion", m.Congestion, word)
	}
}
