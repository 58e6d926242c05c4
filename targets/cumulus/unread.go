package cumulus

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// What cannot be read is nobody's to change: nothing of it is unset by itself, and what
// it stands under is not unset either, since it would go with that.

// pass marks a part of the capture as not understood, and says so.
func (d *document) pass(n *node, summary string) {
	d.mark(n, summary)
	d.helped(d.place[n], summary+" and was passed over", "it stays as it is: correct it on the switch, or take it away with nv unset")
}

// mark does so and says nothing.
func (d *document) mark(n *node, why string) {
	if n != nil {
		d.unread[n] = why
	}
}

// odd reports a value that NVUE could not have taken.
func (d *document) odd(n *node, what string) {
	d.pass(n, fmt.Sprintf("%s is %q, which is none of its values", what, n.text))
}

// foreign marks what a port has of bridges that are not read.
func (d *document) foreign(n *node) {
	own := n.get("bridge")
	if own == nil {
		return
	}
	for _, k := range own.kids {
		if k.key != "domain" {
			d.mark(k, k.key+" is nothing that is read of a bridge")
			continue
		}
		for _, domain := range k.kids {
			if domain.key != bridge {
				d.mark(domain, domain.key+" is another bridge than "+bridge)
			}
		}
	}
}

// within is the first part of a tree that was not understood, and why.
func (d *document) within(n *node) (why string) {
	if why := d.unread[n]; why != "" {
		return why
	}
	for _, k := range n.kids {
		if why := d.within(k); why != "" {
			return why
		}
	}
	return ""
}

// spare takes out of a tree of what goes what was not understood, and refuses to let
// go what such a part stands under. It reports whether anything is left to go.
func (d *document) spare(device string, goes, have *node, path []string) bool {
	if len(goes.kids) == 0 {
		why := d.within(have)
		if why != "" && d.unread[have] == "" {
			d.refuse(device, have, why, "nv unset "+strings.Join(path, " ")+" would take it away with what it stands in")
		}
		return why == ""
	}
	goes.kids = slices.DeleteFunc(goes.kids, func(k *node) bool {
		return !d.spare(device, k, have.get(k.key), append(slices.Clone(path), k.key))
	})
	goes.by = nil
	return len(goes.kids) > 0
}

// fits refuses values where the switch has something with more in it, and the other
// way round: what is there would go, and it is not what was read.
func (d *document) fits(device string, set, have *node, path []string) {
	switch {
	case have == nil:
		return
	case set.form != noForm && len(have.kids) > 0:
		d.refuse(device, have, strings.Join(path, " ")+" has more in it", "a value is to be written there")
		return
	case len(set.kids) > 0 && have.form != noForm && have.text != "" && len(have.kids) == 0 && have.key != "state":
		d.refuse(device, have, fmt.Sprintf("%s is %q", strings.Join(path, " "), have.text), "settings under it are to be written")
		return
	}
	for _, k := range set.kids {
		d.fits(device, k, have.get(k.key), append(slices.Clone(path), k.key))
	}
}

// splits refuses to split a port beside a mode that is not understood: it has one.
func (d *document) splits(want *intent.Device) {
	for i := range want.Ports {
		p := &want.Ports[i]
		if _, _, ok := splitOf(p.Breakout); !ok || p.Verify {
			continue
		}
		modes := d.root.get("interface", parentOf(p.Name), "link", "breakout")
		if modes == nil {
			continue
		}
		for _, mode := range modes.kids {
			if why := d.unread[mode]; why != "" {
				d.refuse(want.Name, mode, why, p.Breakout+" is to be written beside it")
			}
		}
	}
}

func (d *document) refuse(device string, n *node, why, in string) {
	d.list.Add(diag.Diagnostic{
		Severity: diag.Error, Summary: fmt.Sprintf("what %s has cannot be read (%s), and %s", device, why, in),
		Help: "correct it on the switch or take it away there, capture the configuration again and repeat this", Labels: d.labels(d.place[n]),
	})
}

// spell writes the addresses of a set as the switch has them: one address is one
// address, in capitals too.
func spell(set, have *node) {
	all := set.get("interface")
	if all == nil {
		return
	}
	for _, one := range all.kids {
		for _, family := range families {
			addresses := one.get(family, "address")
			if addresses == nil {
				continue
			}
			for _, key := range have.items("interface", one.key, family, "address") {
				a, err := netip.ParsePrefix(key)
				if k := addresses.get(a.String()); err == nil && k != nil && k.key != key {
					k.key, addresses.by = key, nil
				}
			}
		}
	}
}

// passAddress takes an entry of the addresses of an interface that is no address.
func (p *parser) passAddress(f *intent.Iface, n *node, family, key string) {
	at := n.get(family, "address", key)
	if key != "dhcp" && key != "dhcp6" {
		p.pass(at, "the address "+strconv.Quote(key)+" is none")
		return
	}
	h := p.known(func(h *intent.Iface) bool { return h.Kind == f.Kind && place(h) == place(f) })
	if h == nil || !h.Addresses.IsSet() {
		p.mark(at, key)
		return
	}
	p.pass(at, fmt.Sprintf("%s of %s gets an address by %s besides its own, which is none that is written", h.Name, p.hint.Name, key))
}
