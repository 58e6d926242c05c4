package sonicent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// What cannot be read is nobody's to change: no command takes it away, and where one that
// is to be given would, there is none.

// stays is what to do about a line that is not understood.
const stays = "it stays as it is, unless the setting of that very name is written: correct it on the switch or take it away there"

// blocked are the lines that are not understood and that what is wanted would replace,
// or take away with what they stand beside.
func blocked(d *intent.Device, seen *config) (list diag.List) {
	x := &drops{seen}
	refuse := func(what, in string) {
		list.Add(diag.Diagnostic{
			Severity: diag.Error, Summary: fmt.Sprintf("%s of %s is not understood, and %s", what, d.Name, in),
			Help: "correct it on the switch or take it away there, capture the running configuration again and repeat this",
		})
	}
	trunk := func(name string, tagged intent.Opt[[]uint16]) {
		text := x.iface(name).trunk
		if _, ok := numbers(text, 4094); text != "" && !ok && len(tagged.Or(nil)) > 0 {
			refuse(fmt.Sprintf("the trunk %q of %s", text, name), "its VLANs are to be written")
		}
	}
	lags := map[string]string{}
	for i := range d.LAGs {
		g := &d.LAGs[i]
		trunk(g.Name, g.Tagged)
		for _, m := range g.Members {
			lags[m] = g.Name
		}
	}
	for i := range d.Ports {
		p := &d.Ports[i]
		if p.Verify {
			continue
		}
		trunk(p.Name, p.Tagged)
		if g := x.iface(p.Name).group; g != "" && lags[p.Name] != "" && !lagName.MatchString("PortChannel"+g) {
			refuse(fmt.Sprintf("the channel-group %q of %s", g, p.Name), "it is to be in "+lags[p.Name])
		}
		if len(seen.unsplit) > 0 && p.Breakout != "" && !x.isSplit(p) {
			refuse(seen.unsplit[0], p.Name+" is to be split "+p.Breakout)
		}
	}
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		unread := x.iface(place(f)).unread
		if p := d.PortNamed(f.On); len(unread) == 0 || p != nil && p.Verify {
			continue
		}
		if gone := x.addresses(f); slices.ContainsFunc(gone, func(s string) bool { return !strings.HasPrefix(s, "no ipv6 address") }) ||
			x.iface(place(f)).vrf != f.VRF {
			refuse(fmt.Sprintf("the address %q of %s", unread[0], place(f)), "it would go with another one or with the VRF")
		}
	}
	if c := seen.domain; d.MLAG != nil && c != nil {
		if _, ok := numbers(c.id, 4095); !ok {
			refuse(fmt.Sprintf("mclag domain %q", c.id), "there is one domain at a time")
		}
	}
	return list
}
