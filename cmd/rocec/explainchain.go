package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// chain is every place that writes an attribute of a thing, nearest first, for programs.
type chain struct {
	Address   string   `json:"address"`
	Attribute string   `json:"attribute"`
	Value     string   `json:"value,omitempty"` // that the device is told; "" where it is told none under this name
	Chain     []linkOf `json:"chain"`
	Notes     []string `json:"notes,omitempty"`
}

// linkOf is one place of a chain.
type linkOf struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	In     string `json:"in"`
	Text   string `json:"text"` // as written
	Height string `json:"height"`
	Counts bool   `json:"counts"`
}

// explainChain shows who writes ADDRESS.ATTRIBUTE, and which of them counts; false if
// that is no attribute of something in the fabric.
func (a *app) explainChain(p *project, what string) (bool, error) {
	address, name, ok := cutLast(what)
	if !ok {
		return false, nil
	}
	f := p.res.Fabric
	var list []chain
	for _, id := range portsNamed(f, address) {
		kind := schema.Port
		if f.Ports[id].NIC != 0 {
			kind = schema.NIC
		}
		if ad := schema.LookupFormer(kind, name); ad != nil {
			list = append(list, p.portChain(id, ad, kind))
		}
	}
	if len(list) == 0 {
		addresses := []string{address}
		for _, id := range devicesNamed(f, address) {
			addresses = append(addresses[:0:0], f.Text(f.Devices[id].Address))
		}
		for _, at := range addresses {
			_, kind := f.SaysAt(at, 0)
			if ad := schema.LookupFormer(kind, name); kind != schema.None && ad != nil {
				said, _ := f.SaysAt(at, ad.Num)
				list = append(list, p.chain(at, ad, said, kind))
			}
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	return true, a.object(list, func() error {
		for i := range list {
			list[i].text(a)
		}
		return nil
	})
}

func cutLast(what string) (before, after string, ok bool) {
	i := strings.LastIndexByte(what, '.')
	if i < 0 || strings.ContainsAny(what[i:], `]"[/:`) {
		return "", "", false
	}
	return strings.TrimSuffix(what[:i], "."+schema.AObserved.Name()), what[i+1:], true
}

// portChain is the chain of a port or NIC: where nothing writes what a switch port has of its NIC, that of the NIC.
func (p *project) portChain(id fabric.PortID, ad *schema.AttrDef, kind schema.Kind) chain {
	f := p.res.Fabric
	said, from := f.Says(id, ad.Num), kind
	follows := len(said) == 0 && f.Follows(id, ad.Num)
	if follows {
		said, from = f.Says(f.Ports[id].Peer, ad.Num), schema.NIC
	}
	c := p.chain(f.PortAddress(id), ad, said, from)
	if follows {
		c.Notes = []string{"the port writes none, and follows its NIC: " + f.PortAddress(f.Ports[id].Peer)}
	}
	c.Value = p.portValue(id, ad)
	c.Notes = append(c.Notes, portNotes(f, id, ad.Num, c)...)
	return c
}

func (p *project) chain(address string, ad *schema.AttrDef, said []fabric.Said, kind schema.Kind) chain {
	n := ad.Num
	c := chain{Address: address, Attribute: n.Name(), Chain: []linkOf{}}
	counts := 0
	if n == schema.AManage {
		counts = strictest(said)
	}
	for i, x := range said {
		at, _ := p.res.Fabric.Spans.Find(x.By, n)
		pos, _, _ := p.view.Range(at)
		c.Chain = append(c.Chain, linkOf{
			File: p.view.Name(at.File), Line: pos.Line, In: p.res.Fabric.Where(x.By), Text: p.lineText(at),
			Height: heightText(x, kind), Counts: i == counts,
		})
	}
	switch {
	case len(said) == 0:
		c.Notes = []string{"nothing writes it"}
	case len(said) > 1 && len(ad.Type.Fields) > 0:
		c.Notes = []string{"a value in braces counts whole: what only another place writes in it does not hold"}
	}
	return c
}

// lineText is the text of a value in one line.
func (p *project) lineText(at source.Span) string {
	s, ok := p.view.Snippet(at)
	if !ok {
		return ""
	}
	words := strings.FieldsFunc(s.Code[s.HighlightStart:s.HighlightEnd], func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) })
	return strings.Join(words, " ")
}

// strictest is which of several values of `manage` counts: the one that lets rocec do least.
func strictest(said []fabric.Said) int {
	rank := map[string]int{"verify": 1, "none": 2}
	most := 0
	for i := range said {
		if rank[said[i].Text] > rank[said[most].Text] {
			most = i
		}
	}
	return most
}

// heightText is where a place stands around a thing of some kind.
func heightText(x fabric.Said, kind schema.Kind) string {
	own := map[schema.Kind]string{schema.NIC: "node", schema.Bond: "node"}[kind]
	if own == "" {
		own = "switch"
	}
	lag := map[bool]string{true: "bond", false: "LAG"}[own == "node"]
	at := [...]string{
		"the " + kind.String() + " itself", "its link", "its " + lag, "its segment, which says what it is for", "its " + own, "its tier",
		"its topology", "defaults, below all",
	}[x.At]
	switch x.Form {
	case fabric.ByOverride:
		return "override of " + at + ", above everything"
	case fabric.ByExcept:
		return "except of " + at + ", above it"
	}
	return at
}

// portNotes says where something beside the chain decides.
func portNotes(f *fabric.Fabric, id fabric.PortID, n schema.Attr, c chain) (notes []string) {
	port := &f.Ports[id]
	switch {
	case n == schema.AManage && len(c.Chain) > 1:
		notes = append(notes, "of `manage` the strictest counts, not the nearest: \"none\" before \"verify\" before \"full\"")
	case n == schema.AMTU && port.MTU > port.MTUFloor && port.NIC == 0:
		notes = append(notes, "on a bridged switch port mtu is a floor, and the model's usual jumbo MTU is larger")
	case n == schema.AQoS && port.Flags&fabric.External != 0:
		notes = append(notes, "an external port has qos.untrusted unless it or its LAG says otherwise")
	}
	return notes
}

// portValue is what a device is told of a port under a name, which plans and records have as it was in the first edition.
func (p *project) portValue(id fabric.PortID, ad *schema.AttrDef) string {
	names := append([]string{ad.Num.Name()}, ad.Former...)
	if ad.Num == schema.AAdmin {
		names = append(names, schema.AEnabled.Name())
	}
	dev := p.res.Intent(p.res.Fabric.Ports[id].Device)
	if dev == nil {
		return ""
	}
	for path, v := range dev.Fields {
		if path.Object == intent.OfPort && path.Name == portIntentName(p.res.Fabric, id) && slices.Contains(names, path.Field) && v.State != intent.Unmanaged {
			return v.Text
		}
	}
	return ""
}

func (c *chain) text(a *app) {
	if c.Value == "" {
		fmt.Fprintf(a.out, "%s of %s\n", c.Attribute, c.Address)
	} else {
		fmt.Fprintf(a.out, "%s of %s = %s\n", c.Attribute, c.Address, c.Value)
	}
	for _, l := range c.Chain {
		mark := "  "
		if l.Counts {
			mark = "=>"
		}
		fmt.Fprintf(a.out, "%s %s\n     %s:%d, in %s: %s\n", mark, l.Height, l.File, l.Line, l.In, l.Text)
	}
	for _, n := range c.Notes {
		fmt.Fprintf(a.out, "   %s\n", n)
	}
}
