package fabric

import (
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// Strings is the string table of a fabric. The zero value is ready.
type Strings struct {
	text []string
	ids  map[string]Str
}

// StringsFrom is a table that starts with the given strings under their own
// indices; text[0] must be "".
func StringsFrom(text []string) Strings { return Strings{text: text} }

func (s *Strings) index() {
	if s.ids != nil {
		return
	}
	if len(s.text) == 0 {
		s.text = []string{""}
	}
	s.ids = make(map[string]Str, len(s.text))
	for i, t := range s.text {
		if _, dup := s.ids[t]; !dup {
			s.ids[t] = Str(i)
		}
	}
}

// Add returns the number of a string, entering it if needed.
func (s *Strings) Add(text string) Str {
	if text == "" {
		return 0
	}
	s.index()
	if id, ok := s.ids[text]; ok {
		return id
	}
	id := Str(len(s.text))
	s.text = append(s.text, text)
	s.ids[text] = id
	return id
}

// Text returns a string by number.
func (s *Strings) Text(id Str) string {
	if id == 0 {
		return ""
	}
	return s.text[id]
}

// Find returns the number of a string, 0 if it was never entered.
func (s *Strings) Find(text string) Str {
	s.index()
	return s.ids[text]
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

// LinkAddress is the address of a link: `link.tor["1"]`.
func (f *Fabric) LinkAddress(l LinkID) string {
	link := &f.Links[l]
	a := f.Text(f.Decls[link.Decl].Module) + "link." + f.Text(link.Name)
	if link.Key != 0 {
		a += `["` + f.Text(link.Key) + `"]`
	}
	return a
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
func (f *Fabric) Origin(d DeclID, l LayersID, n schema.Attr) (at AttrSpan, by DeclID, ok bool) {
	for _, by := range f.Layers[l].Before {
		if at, ok = f.attrOf(by, n); ok {
			return at, by, true
		}
	}
	if at, ok = f.attrOf(d, n); ok {
		return at, d, true
	}
	for _, by := range f.Layers[l].Chain {
		if at, ok = f.attrOf(by, n); ok {
			return at, by, true
		}
	}
	return AttrSpan{}, 0, false
}

func (f *Fabric) attrOf(d DeclID, n schema.Attr) (AttrSpan, bool) {
	for _, a := range f.Decls[d].Attrs {
		if a.Num == n {
			return a, true
		}
	}
	return AttrSpan{}, false
}

// PortLabel is a label for an attribute of a port: at the place where the value
// was written, else at the port's (or its device's) declaration.
func (f *Fabric) PortLabel(p PortID, n schema.Attr, text string) diag.Label {
	port := &f.Ports[p]
	return f.Label(port.Decl, port.Layers, n, text)
}

// Label is a label for an attribute of any row with a declaration and layers.
func (f *Fabric) Label(d DeclID, l LayersID, n schema.Attr, text string) diag.Label {
	if at, by, ok := f.Origin(d, l, n); ok {
		return diag.Label{Span: at.Span, Where: f.Where(by), Text: text}
	}
	for _, by := range append([]DeclID{d}, f.Layers[l].Chain...) {
		if s := f.Decls[by].Span; !s.IsZero() {
			return diag.Label{Span: s, Where: f.Where(by), Text: text}
		}
	}
	return diag.Label{Text: text}
}

// DeclLabel is a label for a declaration as a whole.
func (f *Fabric) DeclLabel(d DeclID, text string) diag.Label {
	return diag.Label{Span: f.Decls[d].Span, Where: f.Where(d), Text: text}
}
