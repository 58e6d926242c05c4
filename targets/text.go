package targets

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// text refuses strings that no target could write: names with control or
// direction marks, and enumerations that are not a word. An intent may come
// from a file, so the compiler's own care is no proof. What a language does
// with quotes and blanks is the matter of the target that writes it.
func (c *check) text() {
	d := c.device
	at := func(field string) intent.Path { return intent.Path{Object: intent.OfDevice, Field: field} }
	c.printable(at("name"), d.Name, string(d.Kind), d.OS.Name, d.OS.Version)
	c.printable(at("model"), d.Model, d.ASIC)
	c.printable(at("hash"), d.Hash.Function.Value)
	c.printable(at("firmware"), d.Firmware)
	for i := range d.Ports {
		c.portText(&d.Ports[i])
	}
	for i := range d.LAGs {
		l := &d.LAGs[i]
		at := func(field string) intent.Path {
			return intent.Path{Object: intent.OfLAG, Name: l.Name, Field: field}
		}
		c.printable(at("name"), l.Name)
		c.printable(at("members"), l.Members...)
		c.word(at("mode"), l.Mode)
		c.word(at("rate"), l.Rate)
		c.word(at("hash"), l.Hash)
	}
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		at := func(field string) intent.Path {
			return intent.Path{Object: intent.OfIface, Name: f.Name, Field: field}
		}
		c.printable(at("name"), f.Name, f.QoS)
		c.word(at("on"), string(f.Kind))
		c.printable(at("on"), f.On)
		c.printable(at("pin"), f.Pin)
		c.printable(at("vrf"), f.VRF)
		for _, a := range f.Addresses.Value {
			c.zone(at("address"), a.Addr().Zone())
		}
		c.zone(at("gateway"), f.Gateway.Value.Zone())
	}
	for i := range d.QoS {
		c.qosText(&d.QoS[i])
	}
	if m := d.MLAG; m != nil {
		c.printable(at("mlag"), m.Peer, m.PeerLink)
		c.zone(at("mlag"), m.Source.Zone())
		c.zone(at("mlag"), m.PeerAddress.Zone())
	}
}

func (c *check) portText(p *intent.Port) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	}
	c.printable(at("name"), p.Name, p.QoS)
	c.word(at("fec"), string(p.FEC.Value))
	n := p.NIC
	if n == nil {
		return
	}
	c.printable(at("model"), n.Model)
	c.word(at("driver"), n.Driver)
	c.pci(at("pci"), n.PCI)
	c.mac(at("mac"), n.MAC)
	c.printable(at("adapter"), n.Adapter)
	c.word(at("roce_mode"), n.RoCE.Value)
	c.word(at("vfs"), n.VFs.Value.Mode)
	c.dcbx(at("dcbx"), n.DCBX.Value)
	c.printable(at("firmware"), n.Firmware)
	c.printable(at("driver"), n.DriverV)
	c.printable(at("model"), slices.Sorted(maps.Keys(n.Facts))...)
}

func (c *check) qosText(q *intent.QoS) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfQoS, Name: q.Name, Field: field}
	}
	if strings.Trim(q.Name, letters+upper+digits+"._-") != "" {
		c.refuse(fmt.Sprintf("qos %q has a name with other characters than letters, digits, dot, underscore and hyphen", q.Name),
			"rename it", at("name"))
	}
	c.word(at("trust"), string(q.Trust.Value))
	for _, s := range q.Sched.Value {
		c.word(at("ets"), string(s.Kind))
	}
	c.dcbx(at("dcbx"), q.DCBX.Value)
	c.word(at("watchdog"), q.Watchdog.Value.Action)
	for i := range q.Marks {
		m := &q.Marks[i]
		at := at("class." + m.Class)
		c.printable(at, m.Class)
		c.word(at, m.Carries)
		c.word(at, m.Congestion)
		c.word(at, m.Transport)
	}
}

func (c *check) dcbx(at intent.Path, x intent.DCBX) {
	c.word(at, x.Mode)
	c.word(at, x.Version)
	c.word(at, x.Owner)
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func (c *check) printable(at intent.Path, texts ...string) {
	for _, s := range texts {
		if r, bad := unprintable(s); bad {
			c.refuse(fmt.Sprintf("%s is %q, which no configuration can hold", at, s), "remove the character "+r, at)
		}
	}
}

// word takes the values of enumerations. Which of them a platform knows is
// decided by its features and limits; that they are words is decided here.
func (c *check) word(at intent.Path, s string) {
	if strings.Trim(s, letters+digits+"_+.-") != "" || strings.HasPrefix(s, "-") {
		c.refuse(fmt.Sprintf("%s is %q, which is not a word", at, s), "write a value that the language reference lists", at)
	}
}

func (c *check) pci(at intent.Path, s string) {
	if strings.Trim(s, "0123456789abcdefABCDEF:.") != "" {
		c.refuse(fmt.Sprintf("%s is %q, which is not a PCI address", at, s), `write it as "0000:3b:00.0"`, at)
	}
}

func (c *check) mac(at intent.Path, s string) {
	if strings.Trim(s, "0123456789abcdef:") != "" {
		c.refuse(fmt.Sprintf("%s is %q, which is not a MAC address", at, s), `write it as "b8:3f:d2:00:00:01"`, at)
	}
}

func (c *check) zone(at intent.Path, zone string) {
	if zone != "" {
		c.refuse(fmt.Sprintf("%s has the zone %q, which only one host knows", at, zone), "write the address without a zone", at)
	}
}
