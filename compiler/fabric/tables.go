package fabric

import (
	"fmt"
	"net/netip"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// Strings is the string table of a fabric. The zero value is ready.
type Strings struct {
	text []string                 // those it began with
	find func(string) (Str, bool) // among them; nil: none
	more []string                 // all others: the first are far too many to be copied
	ids  map[string]Str           // of them
}

// StringsFrom is a table that starts with the given strings under their own
// indices; text[0] must be "". It keeps them, and find looks one of them up.
func StringsFrom(text []string, find func(string) (Str, bool)) Strings {
	return Strings{text: text, find: find}
}

// Add returns the number of a string, entering it if needed.
func (s *Strings) Add(text string) Str {
	if id := s.Find(text); id != 0 || text == "" {
		return id
	}
	if s.ids == nil {
		s.ids = map[string]Str{}
	}
	if len(s.text) == 0 {
		s.text = []string{""}
	}
	id := Str(len(s.text) + len(s.more))
	s.more = append(s.more, text)
	s.ids[text] = id
	return id
}

// Find returns the number of a string, 0 if it was never entered.
func (s *Strings) Find(text string) Str {
	if s.find != nil {
		if id, ok := s.find(text); ok {
			return id
		}
	}
	return s.ids[text]
}

// Text returns a string by number.
func (s *Strings) Text(id Str) string {
	if id == 0 {
		return ""
	}
	if n := int(id) - len(s.text); n >= 0 {
		return s.more[n]
	}
	return s.text[id]
}

// Spans is where attributes were written, by declaration. The zero value is ready.
type Spans struct {
	find func(DeclID, schema.Attr) source.Span // of what it began with, zero if it is not written; nil: none is
	more map[declAttr]source.Span

	unsure func(DeclID, schema.Attr) bool
}

type declAttr struct {
	by  DeclID
	num schema.Attr
}

// Unsure says which attributes of a declaration are null in some rows and not in others.
func (s *Spans) Unsure(in func(DeclID, schema.Attr) bool) { s.unsure = in }

// SpansFrom is a table of what find knows: a fabric has more attributes than of
// all else, and holds none of them twice.
func SpansFrom(find func(DeclID, schema.Attr) source.Span) Spans { return Spans{find: find} }

// Add enters an attribute that find does not know.
func (s *Spans) Add(by DeclID, n schema.Attr, at source.Span) {
	if s.more == nil {
		s.more = map[declAttr]source.Span{}
	}
	s.more[declAttr{by, n}] = at
}

// Find returns where a declaration writes an attribute, false if it does not.
func (s *Spans) Find(by DeclID, n schema.Attr) (source.Span, bool) {
	if s.find != nil {
		if at := s.find(by, n); !at.IsZero() {
			return at, true
		}
	}
	at, ok := s.more[declAttr{by, n}]
	return at, ok
}

// Text returns a string by number.
func (f *Fabric) Text(id Str) string { return f.Names.Text(id) }

// PortsOf returns the IDs of a device's ports as a range [first, end).
func (f *Fabric) PortsOf(d DeviceID) (first, end PortID) {
	dev := &f.Devices[d]
	return dev.First, dev.First + PortID(dev.NPorts)
}

// PortName is a port as messages name it: `tor/Ethernet0`.
func (f *Fabric) PortName(p PortID) string {
	port := &f.Ports[p]
	return f.Text(f.Devices[port.Device].Name) + "/" + f.Text(port.Name)
}

// PortAddress is the address of a port: `switch.tor.port["Ethernet0"]`.
func (f *Fabric) PortAddress(p PortID) string {
	port := &f.Ports[p]
	dev := &f.Devices[port.Device]
	word := "port"
	switch {
	case port.Flags&IsLAG != 0 && dev.Kind == Node:
		word = "bond"
	case port.Flags&IsLAG != 0:
		word = "lag"
	case dev.Kind == Node:
		word = "nic"
	}
	return f.Text(dev.Address) + "." + word + `["` + f.Text(port.Name) + `"]`
}

// MgmtAddr is the management address of a device, if it is an address.
func (f *Fabric) MgmtAddr(d DeviceID) (netip.Addr, bool) {
	text := f.Text(f.Devices[d].Mgmt)
	if text == "" {
		return netip.Addr{}, false
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return a, true
	}
	a, err := netip.ParseAddrPort(text)
	return a.Addr(), err == nil
}

// LinkAddress is the address of a link: `link.tor["1"]`, that of the upper port
// where a topology, list or NIC made it.
func (f *Fabric) LinkAddress(l LinkID) string {
	link := &f.Links[l]
	if link.Origin == OfTopology || link.Origin == OfCabling || link.Origin == OfNIC {
		p := link.B
		if a, b := &f.Devices[f.Ports[link.A].Device], &f.Devices[f.Ports[link.B].Device]; a.Kind != Node && (b.Kind == Node || a.Tier > b.Tier) {
			p = link.A
		}
		return f.PortAddress(p)
	}
	a := f.Text(f.Decls[link.Decl].Module) + "link." + f.Text(link.Name)
	if link.Key != 0 {
		a += `["` + f.Text(link.Key) + `"]`
	}
	return a
}

// CableAt is the link of a port, or what a port without one says of its cable.
func (f *Fabric) CableAt(p PortID) *Link {
	if l := f.Ports[p].Link; l != 0 {
		return &f.Links[l]
	}
	loose := f.Loose[p]
	return &loose
}

// LinkLabel is a label for an attribute of a link: where it was written, be that
// the row of a cable list, else the declaration of the link.
func (f *Fabric) LinkLabel(l LinkID, n schema.Attr, text string) diag.Label {
	link := &f.Links[l]
	if n == schema.ACable && link.LengthBy != 0 {
		return f.attrLabel(link.LengthBy, n, text)
	}
	return f.linkLabel(link, n, text)
}

// MediaLabel is LinkLabel for the kind of the cable, which another block may write
// than its length.
func (f *Fabric) MediaLabel(l LinkID, text string) diag.Label {
	link := &f.Links[l]
	if link.MediaBy != 0 {
		return f.attrLabel(link.MediaBy, schema.ACable, text)
	}
	return f.linkLabel(link, schema.ACable, text)
}

// attrLabel is a label for an attribute that a declaration writes.
func (f *Fabric) attrLabel(by DeclID, n schema.Attr, text string) diag.Label {
	at, _ := f.Spans.Find(by, n)
	return diag.Label{Span: at, Where: f.Where(by), Text: text}
}

func (f *Fabric) linkLabel(link *Link, n schema.Attr, text string) diag.Label {
	if _, ok := f.Spans.Find(link.Decl, schema.ACable); link.Origin == OfNIC && !(ok && n == schema.ACable) {
		n = schema.AAt // all else that the NIC says is of itself
		if _, ok := f.Spans.Find(link.Decl, n); !ok {
			n = schema.ASet // of an override
		}
	}
	if at, ok := f.Spans.Find(link.Decl, n); ok && link.Origin != OfCabling {
		return diag.Label{Span: at, Where: f.Where(link.Decl), Text: text}
	}
	if link.List != 0 && (link.Origin == OfCabling || n == schema.ACable) {
		return diag.Label{Span: link.Row, Where: f.Text(f.Cablings[link.List].Address), Text: text}
	}
	return f.DeclLabel(link.Decl, text)
}

// LAGAddress is the address of a LAG or bond.
func (f *Fabric) LAGAddress(l LAGID) string {
	lag := &f.LAGs[l]
	word := "lag"
	if f.Devices[lag.Device].Kind == Node {
		word = "bond"
	}
	return f.Text(f.Devices[lag.Device].Address) + "." + word + `["` + f.Text(lag.Name) + `"]`
}

// IfaceAddress is the address of an interface.
func (f *Fabric) IfaceAddress(i IfaceID) string {
	iface := &f.Ifaces[i]
	return f.Text(f.Devices[iface.Device].Address) + `.interface["` + f.Text(iface.Name) + `"]`
}

// Where is a declaration with its parents, as written: `switch "tor", port "Ethernet0"`.
func (f *Fabric) Where(d DeclID) string {
	if d == 0 {
		return ""
	}
	w := f.Text(f.Decls[d].Head)
	for p := f.Decls[d].Parent; p != 0; p = f.Decls[p].Parent {
		w = f.Text(f.Decls[p].Head) + ", " + w
	}
	return w
}

// Origin returns the declaration that wrote an attribute of a row with the
// given declaration and layers, and the attribute's place in it. ok is false
// when no declaration wrote it: the model or a built-in default did.
func (f *Fabric) Origin(d DeclID, l LayersID, n schema.Attr) (at source.Span, by DeclID, ok bool) {
	by, _, ok = f.Height(d, l, n)
	if ok {
		at, _ = f.Spans.Find(by, n)
	}
	return at, by, ok
}

// Height is Origin with the height at which the declaration stands.
func (f *Fabric) Height(d DeclID, l LayersID, n schema.Attr) (by DeclID, h Height, ok bool) {
	layers := &f.Layers[l]
	for _, x := range layers.Before {
		if f.says(x, n, layers.NIC) {
			return x.By, x.At, true
		}
	}
	// A port that no block speaks of has its switch's declaration.
	if _, ok = f.Spans.Find(d, n); ok && (l == 0 || !f.Decls[d].Tier || TierSays(n, layers.NIC)) {
		return d, AtItself, true
	}
	for _, x := range layers.Chain {
		if f.says(x, n, layers.NIC) {
			return x.By, x.At, true
		}
	}
	if n == schema.AModel || n == schema.AOS {
		if _, ok = f.Spans.Find(layers.Below, n); ok {
			return layers.Below, AtTier, true
		}
	}
	if up := f.Inherits[d]; up != 0 {
		return f.Height(up, 0, n)
	}
	return 0, 0, false
}

func (f *Fabric) says(x Layer, n schema.Attr, nic bool) bool {
	_, ok := f.Spans.Find(x.By, n)
	return ok && x.At.Says(n, nic)
}

// PortOrigin is Origin for a port. A cable is the link's, whoever says how long it is.
func (f *Fabric) PortOrigin(p PortID, n schema.Attr) (label diag.Label, ok bool) {
	port := &f.Ports[p]
	if port.Link != 0 && n == schema.ACable {
		label = f.LinkLabel(port.Link, n, "")
		return label, label.Span != f.Decls[f.Links[port.Link].Decl].Span
	}
	own := port.Decl
	if port.Flags&Implicit != 0 && port.Layers != 0 {
		own = 0 // the declaration is that of the switch, which is among the layers, or that of its split
	}
	if n == schema.ASpeed && port.Split != 0 && port.Flags&SpeedSet == 0 {
		return f.attrLabel(f.Breakouts[port.Split-1].Decl, schema.ABreakout, ""), true
	}
	at, by, ok := f.Origin(own, port.Layers, n)
	if ok && f.Spans.unsure != nil && f.Says != nil && f.Spans.unsure(by, n) {
		said := f.Says(p, n) // its own values say: the expression is null in some rows
		if ok = len(said) > 0; ok {
			by = said[0].By
			at, _ = f.Spans.Find(by, n)
		}
	}
	if !ok && f.Follows(p, n) {
		label, ok = f.PortOrigin(port.Peer, n)
		label.Values = append(label.Values, "follows its NIC")
		return label, ok
	}
	if by := f.Carriers[p]; !ok && by != 0 && carried(n) {
		if at, ok = f.Spans.Find(by, n); ok {
			return diag.Label{Span: at, Where: f.Where(by)}, true
		}
	}
	return diag.Label{Span: at, Where: f.Where(by)}, ok
}

// Follows reports whether a switch port has an attribute from the NIC at its other
// end, if neither the port nor what stands around it writes it.
func (f *Fabric) Follows(p PortID, n schema.Attr) bool {
	port := &f.Ports[p]
	if port.NIC != 0 || f.Ports[port.Peer].NIC == 0 {
		return false
	}
	return n == schema.ASpeed && port.Flags&SpeedSet != 0 || carried(n) && port.Flags&Follows != 0
}

// carried reports whether an attribute says which VLANs a port carries.
func carried(n schema.Attr) bool {
	return n == schema.ASegments || n == schema.ASegment || n == schema.ANative
}

// PortLabel is a label for an attribute of a port: at the place where the value
// was written, else at the port's (or its device's) declaration.
func (f *Fabric) PortLabel(p PortID, n schema.Attr, text string) diag.Label {
	if l, ok := f.PortOrigin(p, n); ok {
		l.Text = text
		return l
	}
	return f.Label(f.Ports[p].Decl, f.Ports[p].Layers, n, text)
}

// Label is a label for an attribute of any row with a declaration and layers.
func (f *Fabric) Label(d DeclID, l LayersID, n schema.Attr, text string) diag.Label {
	if at, by, ok := f.Origin(d, l, n); ok {
		return diag.Label{Span: at, Where: f.Where(by), Text: text}
	}
	for _, x := range append([]Layer{{By: d}}, f.Layers[l].Chain...) {
		if s := f.Decls[x.By].Span; !s.IsZero() && x.At != AtLink {
			return diag.Label{Span: s, Where: f.Where(x.By), Text: text}
		}
	}
	return diag.Label{Text: text}
}

// DeclLabel is a label for a declaration as a whole.
func (f *Fabric) DeclLabel(d DeclID, text string) diag.Label {
	return diag.Label{Span: f.Decls[d].Span, Where: f.Where(d), Text: text}
}

// Speed shows Mb/s as people write it.
func Speed(mbps uint32) string {
	if mbps%1000 == 0 {
		return fmt.Sprintf("%dG", mbps/1000)
	}
	return fmt.Sprintf("%dM", mbps)
}
