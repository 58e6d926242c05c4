package resolve

import (
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// portByAlias finds a port by its name or by another that its system has for
// it: of a NIC the name on the host, of a SONiC port its alias (etp1, etp1a) or
// its standard name (Eth1/1, Eth1/1/2). 0 if there is none.
func (r *resolver) portByAlias(d fabric.DeviceID, name fabric.Str) fabric.PortID {
	if p := r.port(d, name); p != 0 {
		return p
	}
	dev := &r.f.Devices[d]
	if dev.Kind == fabric.Node {
		for p := dev.First; p < dev.First+fabric.PortID(dev.NPorts); p++ {
			if r.osName(r.portBlock[p]) == name {
				return p
			}
		}
		return 0
	}
	list := r.portsOf[d]
	if list.aliases == nil {
		list.aliases = r.aliases(d)
	}
	if i, ok := list.aliases[r.f.Text(name)]; ok {
		return dev.First + fabric.PortID(i)
	}
	return 0
}

// aliases are the other names of the ports of a switch. Front-panel ports are
// counted in the order of the model's list: standard names are Eth1/<port> and,
// of children, Eth1/<port>/<child> [osism/python-osism, tasks/conductor/sonic/interface.py].
// Aliases are what the platform calls them; that of a whole port is its
// children's without the letter [sonic-buildimage platform.json, breakout_modes].
func (r *resolver) aliases(d fabric.DeviceID) map[string]uint32 {
	dev, list := &r.f.Devices[d], r.portsOf[d]
	names := map[string]uint32{}
	if r.f.Text(dev.OSName) != "sonic" {
		return names
	}
	number := map[fabric.Str]int{} // of the front panel
	for i, n := range r.f.Models[dev.Model].PortNames["sonic"] {
		number[r.f.Names.Add(n)] = i + 1
	}
	for i, p := range list.ports {
		if p.split < 0 && number[p.name] > 0 {
			names["Eth1/"+strconv.Itoa(number[p.name])] = uint32(i)
		}
	}
	for _, x := range list.splits {
		for k, at := range x.children {
			names["Eth1/"+strconv.Itoa(number[x.parent])+"/"+strconv.Itoa(k+1)] = at
			if k < len(x.parts) {
				names[r.f.Text(x.parts[k].Alias)] = at
			}
		}
	}
	for _, row := range r.cfg.Pairs(r.attr(r.modelBlocks[dev.Model], schema.ABreakouts)) {
		r.wholeAliases(list, row, names)
	}
	return names
}

// wholeAliases adds the aliases of ports that are not split, by what the data
// of the model call their children.
func (r *resolver) wholeAliases(list *portList, row lang.Pair, names map[string]uint32) {
	modes := r.cfg.Pairs(r.cfg.Field(row.Val, schema.AModes))
	ports, err := lang.Members(r.cfg.Text(row.Key))
	if err != nil || len(ports) == 0 || len(modes) == 0 {
		return
	}
	var children []string
	for _, text := range r.cfg.List(modes[0].Val) {
		members, err := lang.Members(r.cfg.Text(text))
		if err != nil {
			return
		}
		children = append(children, members...)
	}
	each := len(children) / len(ports)
	for i, port := range ports {
		at, ok := list.at[r.f.Names.Find(port)]
		if !ok || each == 0 || list.ports[at].split >= 0 {
			continue
		}
		if stem := strings.TrimRight(children[i*each], "abcdefgh"); stem != children[i*each] {
			names[stem] = at
		}
	}
}
