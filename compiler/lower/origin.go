package lower

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// Origin leads from a field of a device's intent to where its value was
// written: the cause first, then, for what a qos says, the port that first uses
// it. A field that nobody wrote leads to the declaration of its object; the
// list is empty only if that is unknown too. It makes the intent again, so it
// is for messages, not for loops over fields; see Origins.
func Origin(f *fabric.Fabric, facts *derive.Facts, d fabric.DeviceID, p intent.Path) []diag.Label {
	return Origins(f, facts, d)(p)
}

// Origins is Origin for many fields of one device, whose intent it makes once.
func Origins(f *fabric.Fabric, facts *derive.Facts, d fabric.DeviceID) func(intent.Path) []diag.Label {
	b := build(f, facts, d)
	if b == nil {
		return func(intent.Path) []diag.Label { return nil }
	}
	return b.origin
}

func (b *builder) origin(p intent.Path) []diag.Label {
	f := b.f
	switch p.Object {
	case intent.OfPort:
		if id, ok := b.portNamed(p.Name); ok {
			return b.portOrigin(id, p)
		}
	case intent.OfLAG:
		for _, id := range b.lags {
			if l := &f.LAGs[id]; f.Text(l.Name) == p.Name {
				if p.Word() == "deny" {
					return b.denyOrigin(id, p)
				}
				if label, ok := b.found(l.Decl, l.Layers, netAttrs[p.Word()]...); !ok && p.Word() == "mtu" && len(b.members[id]) > 0 {
					return b.portOrigin(b.members[id][0], p)
				} else if ok {
					return []diag.Label{label}
				}
				return b.first(l.Decl, l.Layers, nil)
			}
		}
	case intent.OfIface:
		for _, id := range b.ifaces {
			if i := &f.Ifaces[id]; b.ifaceName(i) == p.Name {
				return b.first(i.Decl, i.Layers, append(netAttrs[p.Word()], b.subnetAttr(i, p.Word())))
			}
		}
	case intent.OfVLAN:
		if s := b.segment(p.Name); s != 0 {
			attr := schema.AVLAN
			if p.Word() == "mtu" {
				attr = schema.AMTU
			}
			return b.first(f.Segments[s].Decl, f.Segments[s].Layers, []schema.Attr{attr, schema.ASubnet})
		}
	case intent.OfQoS:
		for i := range b.out.QoS {
			if b.out.QoS[i].Name == p.Name {
				return b.qosOrigin(b.uses[i], p)
			}
		}
	case intent.OfOption:
		return b.optionOrigin(p.Name)
	}
	return b.deviceOrigin(p)
}

// subnetAttr is where the address of an interface comes from when nobody wrote it.
func (b *builder) subnetAttr(i *fabric.Iface, word string) schema.Attr {
	switch {
	case word != "address" && word != "gateway":
		return 0
	case i.Kind == fabric.LoopbackIface:
		return schema.ALoopback
	case i.Kind == fabric.RoutedIface && i.On != 0 && b.f.Ports[b.f.Ports[i.On].Peer].NIC == 0:
		return schema.AFabricSubnet
	}
	return schema.ASubnet
}

// Words of intent paths and the attributes that can stand behind them, nearest
// in meaning first.
var (
	deviceAttrs = map[string][]schema.Attr{
		"": {schema.AName}, "name": {schema.AName}, "os": {schema.AOS}, "model": {schema.AModel}, "asic": {schema.AModel},
		"buffer": {schema.ABuffer}, "hash": {schema.AHash}, "firmware": {schema.AFirmware}, "kind": {schema.AOS},
		"arp_timeout": {schema.AARPTimeout}, "mac_timeout": {schema.AMACTimeout}, "spare_ports": {schema.ASparePorts},
	}
	portAttrs = map[string][]schema.Attr{
		"name": {schema.AIfname, schema.AName}, "enabled": {schema.AAdmin, schema.ASparePorts}, "speed": {schema.ASpeed}, "fec": {schema.AFEC},
		"autoneg": {schema.AAutoneg}, "mtu": {schema.AMTU}, "native": {schema.ANative, schema.ASubnet}, "segments": {schema.ASegments, schema.ASegment},
		"segment": {schema.ASegments, schema.ASegment, schema.ANative}, // either of both
		"deny":    {schema.ADeny, schema.AExternal}, "qos": {schema.AQoS}, "cable": {schema.ACable}, "headroom": {schema.AHeadroom}, "rdma": {schema.ARDMA}, "roce_mode": {schema.ARoCEMode},
		"pause_storm_timeout": {schema.APauseStormTimeout},
		"model":               {schema.AModel}, "driver": {schema.ADriver, schema.AModel}, "firmware": {schema.AFirmware}, "vfs": {schema.AVFs},
		"pci": {schema.APCI, schema.AMAC, schema.AIfname}, "mac": {schema.AMAC}, "adapter": {schema.AAdapter},
		"gpu": {schema.AGPU, schema.APCIeSwitch},
	}
	netAttrs = map[string][]schema.Attr{
		"name": {schema.AName}, "id": {schema.AID}, "members": {schema.AMembers}, "mode": {schema.AMode}, "rate": {schema.ARate},
		"hash": {schema.AHashPolicy}, "mtu": {schema.AMTU}, "native": {schema.ANative}, "segments": {schema.ASegments}, "mlag": {schema.AMembers},
		"on": {schema.AOn}, "pin": {schema.APin}, "segment": {schema.ASegment, schema.AOn}, "vlan": {schema.ASegment, schema.AOn},
		"address": {schema.AAddress}, "gateway": {schema.AGateway}, "vrf": {schema.AVRF}, "rdma": {schema.ARDMA}, "qos": {schema.AQoS},
	}
	mlagAttrs = map[string]schema.Attr{
		"mlag.domain": schema.ADomain, "mlag.peer": schema.ASwitches, "mlag.peer_link": schema.APeerLink, "mlag.source": schema.AKeepalive,
		"mlag.peer_address": schema.AKeepalive, "mlag.out_of_band": schema.AKeepalive, "mlag.interval": schema.AKeepalive, "mlag.timeout": schema.AKeepalive,
	}
	// deviations are the words of a qos that a port may restate.
	deviations = map[string]struct {
		bit  uint16
		attr schema.Attr
	}{
		"trust": {fabric.DeviatesTrust, schema.ATrust}, "dscp_map": {fabric.DeviatesDSCP, schema.ADSCPMap}, "pcp_map": {fabric.DeviatesPCP, schema.APCPMap},
		"queue_map": {fabric.DeviatesQueue, schema.AQueueMap}, "group_map": {fabric.DeviatesGroup, schema.AGroupMap}, "pfc": {fabric.DeviatesPFC, schema.APFC},
		"pfc_queue_map": {fabric.DeviatesPFCQueue, schema.APFCQueueMap}, "pause": {fabric.DeviatesPause, schema.APause},
		"ets": {fabric.DeviatesETS, schema.AETS}, "strict": {fabric.DeviatesETS, schema.AETS}, "dcbx": {fabric.DeviatesDCBX, schema.ADCBX},
		"ecn": {fabric.DeviatesECN, schema.AECN}, "watchdog": {fabric.DeviatesWatchdog, schema.AWatchdog},
	}
)

// Attrs are the attributes that can stand behind a field of an intent.
func Attrs(p intent.Path) []schema.Attr {
	word := p.Word()
	switch dev, deviates := deviations[word]; {
	case p.Object == intent.OfDevice:
		return deviceAttrs[word]
	case p.Object != intent.OfPort:
		return netAttrs[word]
	case deviates:
		return []schema.Attr{dev.attr, schema.AQoS}
	case word == "address": // of the interface on it
		return netAttrs[word]
	}
	return portAttrs[word]
}

// PortName is the name of a port in the intent of its device.
func PortName(f *fabric.Fabric, p fabric.PortID) string { return (&builder{f: f}).portName(p) }

// IfaceName is that of an interface.
func IfaceName(f *fabric.Fabric, i fabric.IfaceID) string {
	return (&builder{f: f}).ifaceName(&f.Ifaces[i])
}

// found is the label of the first attribute that some layer wrote.
func (b *builder) found(d fabric.DeclID, l fabric.LayersID, attrs ...schema.Attr) (diag.Label, bool) {
	for _, a := range attrs {
		if at, by, ok := b.f.Origin(d, l, a); ok {
			return diag.Label{Span: at, Where: b.f.Where(by)}, true
		}
	}
	return diag.Label{}, false
}

// first is found, else the declaration itself.
func (b *builder) first(d fabric.DeclID, l fabric.LayersID, attrs []schema.Attr) []diag.Label {
	if label, ok := b.found(d, l, attrs...); ok {
		return []diag.Label{label}
	}
	return known(b.f.Label(d, l, 0, ""))
}

// known is a label as a list, empty if it points nowhere.
func known(l diag.Label) []diag.Label {
	if l.Span.IsZero() {
		return nil
	}
	return []diag.Label{l}
}

func (b *builder) deviceOrigin(p intent.Path) []diag.Label {
	if m, _ := b.pair(); m != nil && p.Object == intent.OfDevice && p.Word() == "mlag" {
		var attrs []schema.Attr
		if a, ok := mlagAttrs[p.Field]; ok {
			attrs = append(attrs, a)
		}
		return b.first(m.Decl, m.Layers, append(attrs, schema.ASwitches))
	}
	return b.first(b.dev.Decl, b.dev.Layers, deviceAttrs[p.Word()])
}

func (b *builder) portNamed(name string) (fabric.PortID, bool) {
	first, end := b.f.PortsOf(b.id)
	for p := first; p < end; p++ {
		if b.f.Ports[p].Flags&(fabric.IsLAG|fabric.IsVNIC) == 0 && b.portName(p) == name {
			return p, true
		}
	}
	return 0, false
}

// portOrigin also takes the words of a qos: read-back compares them by port.
func (b *builder) portOrigin(id fabric.PortID, p intent.Path) []diag.Label {
	port := &b.f.Ports[id]
	word := p.Word()
	if _, written := b.f.PortOrigin(id, schema.AMTU); word == "mtu" && !b.host && port.MTU != port.MTUFloor && (port.MTUFloor != 0 || !written) {
		return b.largerMTU(id)
	}
	for _, a := range portAttrs[word] {
		if label, ok := b.f.PortOrigin(id, a); ok {
			if word == "cable" {
				label.Values = b.toldLength(id)
			}
			return []diag.Label{label}
		}
	}
	switch word {
	case "headroom":
		if c := b.class(port.Profile, func(c *fabric.Class) bool { return c.Lossless }); c != nil {
			return b.first(c.Decl, 0, []schema.Attr{schema.ABuffer, schema.ALossless, schema.ACarries})
		}
	case "roce_mode", "rdma_mtu":
		asked := b.class(port.Profile, func(c *fabric.Class) bool { return c.Carries == fabric.CarriesRDMA && c.RDMAMTU > 0 })
		if label, ok := b.f.PortOrigin(id, schema.AMTU); word == "rdma_mtu" && asked == nil && ok {
			return []diag.Label{label}
		}
		of := schema.ATransport
		if word == "rdma_mtu" {
			of = schema.ARDMAMTU
		}
		bears := func(c *fabric.Class) bool {
			return c.Carries == fabric.CarriesRDMA && (of == schema.ATransport || c.RDMAMTU > 0)
		}
		if c := b.class(port.Profile, bears); c != nil {
			if label, ok := b.found(c.Decl, 0, of); ok {
				return []diag.Label{label}
			}
			q := &b.f.QoS[b.f.Profiles[port.Profile].QoS]
			if label, ok := b.found(q.Decl, q.Layers, of); ok {
				return []diag.Label{label}
			}
			return known(b.f.DeclLabel(c.Decl, "")) // without a word: because of what the class carries
		}
	case "rdma":
		if c := b.class(port.Profile, func(c *fabric.Class) bool { return c.Carries == fabric.CarriesRDMA }); c != nil {
			return b.first(c.Decl, 0, []schema.Attr{schema.ATransport, schema.ACarries})
		}
	case "class":
		return b.qosOrigin(id, p)
	case "deny":
		if port.Peer != 0 {
			peer := &b.f.Devices[b.f.Ports[port.Peer].Device]
			return b.first(peer.Decl, peer.Layers, []schema.Attr{schema.ATrusted})
		}
	default:
		if _, ok := deviations[word]; ok || word == "cap" || word == "remap" {
			return b.qosOrigin(id, p)
		}
	}
	return known(b.f.PortLabel(id, 0, ""))
}

// largerMTU is where the MTU of a switch port comes from that has more than what is
// written for it: of its NIC, as both ends of a routed link have one, else of its model.
func (b *builder) largerMTU(id fabric.PortID) []diag.Label {
	port := &b.f.Ports[id]
	if peer := &b.f.Ports[port.Peer]; port.MTUFloor == 0 && peer.NIC != 0 && port.Native == 0 && port.VLANs == 0 && port.LAG == 0 && peer.MTU == port.MTU {
		if label, ok := b.f.PortOrigin(port.Peer, schema.AMTU); ok {
			return []diag.Label{label}
		}
	}
	list := b.first(b.dev.Decl, b.dev.Layers, []schema.Attr{schema.AModel})
	if b.model != nil && len(list) > 0 {
		list[0].Values = []string{"the usual jumbo MTU of the model: what is written for such a port is a floor"}
		if says, ok := b.found(b.model.Decl, 0, schema.AJumboMTU); ok {
			list = append(list, says)
		}
	}
	return list
}

// toldLength says why a device is told another length of a cable than is written.
func (b *builder) toldLength(id fabric.PortID) []string {
	link := b.f.CableAt(id)
	var told intent.Port
	told.QoS = "set"
	b.cable(id, &told)
	if written := derive.Length(link); told.CableMm.IsSet() && told.CableMm.Value != written && written > 0 {
		return []string{"the device is told the next length that its table has"}
	}
	return nil
}

// denyOrigin is where the first member of a LAG that drops something says so.
func (b *builder) denyOrigin(id fabric.LAGID, p intent.Path) []diag.Label {
	for _, m := range b.members[id] {
		if b.denied(&b.f.Ports[m]).IsSet() {
			return b.portOrigin(m, p)
		}
	}
	return known(b.f.Label(b.f.LAGs[id].Decl, b.f.LAGs[id].Layers, 0, ""))
}

// qosOrigin is where a word of the qos of a port was decided: on the port if it
// restates it, else in the class or the qos; then where the port names the qos.
func (b *builder) qosOrigin(id fabric.PortID, p intent.Path) []diag.Label {
	port := &b.f.Ports[id]
	profile := &b.f.Profiles[port.Profile]
	word := p.Word()
	if dev, ok := deviations[word]; ok && (profile.Deviates&dev.bit != 0 || word == "watchdog" || word == "dcbx") {
		if label, ok := b.f.PortOrigin(id, dev.attr); ok {
			return []diag.Label{label}
		}
	}
	labels := b.decided(port.Profile, p)
	for _, n := range [...]schema.Attr{schema.AQoS, schema.ASegments, schema.ASegment, schema.ANative} {
		if used, ok := b.f.PortOrigin(id, n); ok && len(labels) > 0 {
			if used.Span != labels[0].Span {
				used.Text = "used by " + b.f.PortName(id)
				labels = append(labels, used)
			}
			break
		}
	}
	if len(labels) == 0 {
		return known(b.f.PortLabel(id, schema.AQoS, ""))
	}
	return labels
}

// decided is the place in the contract that a word of a qos comes from: the
// attribute of the first class that bears on it, else the qos's own.
func (b *builder) decided(profile fabric.ProfileID, p intent.Path) []diag.Label {
	q := &b.f.QoS[b.f.Profiles[profile].QoS]
	if p.Word() == "class" {
		return b.markOrigin(q, p.Field)
	}
	lossless := func(c *fabric.Class) bool { return c.Lossless }
	var bears func(*fabric.Class) bool
	var attrs []schema.Attr
	switch p.Word() {
	case "trust":
		return b.first(q.Decl, q.Layers, []schema.Attr{schema.ATrust})
	case "dcbx":
		return b.first(q.Decl, q.Layers, []schema.Attr{schema.ADCBX})
	case "dscp_map":
		bears, attrs = func(c *fabric.Class) bool { return c.DSCP != 0 }, []schema.Attr{schema.ADSCP}
	case "pcp_map":
		bears, attrs = func(c *fabric.Class) bool { return !c.Default }, []schema.Attr{schema.APriority}
	case "queue_map":
		bears, attrs = func(c *fabric.Class) bool { return c.Queue != c.Priority }, []schema.Attr{schema.AQueue}
	case "group_map":
		bears, attrs = func(c *fabric.Class) bool { return c.GroupSet }, []schema.Attr{schema.APriorityGroup}
	case "pfc", "pfc_queue_map", "pause", "lossless":
		bears, attrs = lossless, []schema.Attr{schema.ALossless, schema.ACarries}
	case "ets":
		bears, attrs = func(c *fabric.Class) bool { return c.PercentSet }, []schema.Attr{schema.ABandwidth}
	case "strict":
		bears, attrs = func(c *fabric.Class) bool { return c.Strict }, []schema.Attr{schema.AStrict, schema.ACarries}
	case "cap":
		bears, attrs = func(c *fabric.Class) bool { return c.CapMbps > 0 || c.CapPercent > 0 }, []schema.Attr{schema.ACap}
	case "ecn":
		bears, attrs = func(c *fabric.Class) bool { return c.ECN.Mode != fabric.Unwritten }, []schema.Attr{schema.AECN}
	case "watchdog":
		bears, attrs = func(c *fabric.Class) bool { return c.Watchdog.Mode != fabric.Unwritten }, []schema.Attr{schema.AWatchdog}
		if b.class(profile, bears) == nil { // on by itself: because of the lossless class
			bears, attrs = lossless, []schema.Attr{schema.ALossless, schema.ACarries}
		}
	case "remap":
		bears, attrs = func(c *fabric.Class) bool { return c.Remap }, []schema.Attr{schema.ARemap}
	}
	if queue, ok := p.Queue(); ok && bears != nil {
		anywhere, on := bears, b.f.Profiles[profile].On
		bears = func(c *fabric.Class) bool {
			i := slices.IndexFunc(q.Classes, func(x fabric.Class) bool { return x.Decl == c.Decl })
			return int(on[i].Queue) == queue && anywhere(c)
		}
	}
	if bears != nil {
		if c := b.class(profile, bears); c != nil {
			return b.first(c.Decl, 0, attrs)
		}
	}
	return b.first(q.Decl, q.Layers, nil)
}

// markOrigin is the class of a field such as "class.smb.dscp". Names of classes
// may hold dots.
func (b *builder) markOrigin(q *fabric.QoS, field string) []diag.Label {
	attrs := map[string][]schema.Attr{
		"priority": {schema.APriority}, "dscp": {schema.ADSCP}, "congestion": {schema.ACongestion}, "carries": {schema.ACarries},
		"netdirect_port": {schema.AMatch}, "tcp_port": {schema.AMatch}, "udp_port": {schema.AMatch}, "transport": {schema.ATransport},
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(field, "class"), ".")
	for i := range q.Classes {
		c := &q.Classes[i]
		word, ok := strings.CutPrefix(rest, b.f.Text(c.Name))
		if !ok || word != "" && word[0] != '.' {
			continue
		}
		word = strings.TrimPrefix(word, ".")
		if word == "" { // as a whole: what makes it more than a priority
			return b.first(c.Decl, 0, []schema.Attr{schema.AMatch, schema.ACarries})
		}
		return b.first(c.Decl, 0, attrs[word])
	}
	return b.first(q.Decl, q.Layers, nil)
}

// class is the first class of a profile's contract that fits, nil if none does.
func (b *builder) class(profile fabric.ProfileID, fits func(*fabric.Class) bool) *fabric.Class {
	classes := b.f.QoS[b.f.Profiles[profile].QoS].Classes
	if i := slices.IndexFunc(classes, func(c fabric.Class) bool { return fits(&c) }); i >= 0 {
		return &classes[i]
	}
	return nil
}

// segment is the first segment of a VLAN, 0 if there is none.
func (b *builder) segment(vlan string) fabric.SegmentID {
	id, err := strconv.ParseUint(vlan, 10, 16)
	if err != nil {
		return 0
	}
	return b.segments[uint16(id)]
}

// optionOrigin is where a target block that selects the device writes an option.
func (b *builder) optionOrigin(name string) []diag.Label {
	var labels []diag.Label
	selected := Selected(b.f, b.id)
	for i := range b.f.Selections {
		sel := &b.f.Selections[i]
		if !slices.ContainsFunc(selected, func(c Chosen) bool { return c.Decl == sel.Decl && c.Decl != 0 }) {
			continue
		}
		for _, o := range sel.Options {
			if b.f.Text(o.Name) == name && !o.Span.IsZero() {
				labels = append(labels, diag.Label{Span: o.Span, Where: b.f.Where(sel.Decl)})
			}
		}
	}
	if labels == nil {
		for _, c := range selected {
			labels = append(labels, known(b.f.DeclLabel(c.Decl, ""))...)
		}
	}
	return labels
}
