package linux

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/rocec/rocec/compiler/intent"
)

// planFile is what this target writes of netplan's schema.
type planFile struct {
	Network struct {
		Ethernets map[string]planDevice `yaml:"ethernets"`
		Bonds     map[string]planDevice `yaml:"bonds"`
		VLANs     map[string]planDevice `yaml:"vlans"`
	} `yaml:"network"`
}

type planDevice struct {
	Match struct {
		MAC string `yaml:"macaddress"`
	} `yaml:"match"`
	SetName    string   `yaml:"set-name"`
	MTU        uint16   `yaml:"mtu"`
	Addresses  []string `yaml:"addresses"`
	Activation string   `yaml:"activation-mode"`
	VFs        *uint16  `yaml:"virtual-function-count"`
	VFMode     string   `yaml:"embedded-switch-mode"`
	Routes     []struct {
		To  string `yaml:"to"`
		Via string `yaml:"via"`
	} `yaml:"routes"`
	Interfaces []string `yaml:"interfaces"`
	Parameters struct {
		Mode string `yaml:"mode"`
		Rate string `yaml:"lacp-rate"`
		Hash string `yaml:"transmit-hash-policy"`
	} `yaml:"parameters"`
	ID   uint16 `yaml:"id"`
	Link string `yaml:"link"`
}

const planName = "netplan.yaml"

// netplan reads the file as it was written: what the host shall be after boot.
func (r *reader) netplan() {
	text, ok := r.text(planName)
	if !ok {
		return
	}
	var f planFile
	if err := yamlv3.Unmarshal([]byte(text), &f); err != nil {
		r.bad(planName, 0, "not a netplan file: %v", err)
		return
	}
	n := f.Network
	for _, key := range sorted(n.Ethernets) {
		r.planPort(key, n.Ethernets[key])
	}
	for _, key := range sorted(n.Bonds) {
		r.planBond(key, n.Bonds[key])
	}
	for _, key := range sorted(n.VLANs) {
		v := n.VLANs[key]
		i := intent.Iface{Name: key, Kind: intent.VLANDev, On: v.Link, VLAN: v.ID}
		if v.MTU != 0 {
			i.MTU = intent.Some(v.MTU)
		}
		r.planAddresses(&i, v)
		r.got.Ifaces = append(r.got.Ifaces, i)
	}
}

func (r *reader) planPort(key string, e planDevice) {
	name := key
	if e.SetName != "" {
		name = e.SetName
	}
	p := r.portOf(name)
	p.NIC.MAC = strings.ToLower(e.Match.MAC)
	if e.MTU != 0 {
		p.MTU = intent.Some(e.MTU)
	}
	if e.Activation == "off" {
		p.Enabled = intent.Some(false)
	}
	if e.VFs != nil {
		v := intent.VFs{}
		if w := r.want.port[name]; w != nil && w.NIC != nil {
			v = w.NIC.VFs.Value // what netplan has no word for shows elsewhere
		}
		v.Count, v.Mode = *e.VFs, e.VFMode
		p.NIC.VFs = intent.Some(v)
	}
	r.planDirect(name, e)
}

func (r *reader) planBond(name string, e planDevice) {
	l := intent.LAG{Name: name, Members: e.Interfaces, Rate: e.Parameters.Rate, Hash: e.Parameters.Hash}
	for mode, m := range bondModes {
		if m.netplan == e.Parameters.Mode {
			l.Mode = mode
		}
	}
	if e.MTU != 0 {
		l.MTU = intent.Some(e.MTU)
	}
	r.got.LAGs = append(r.got.LAGs, l)
	r.planDirect(name, e)
}

// planDirect makes the untagged interface of a port or bond that has addresses.
func (r *reader) planDirect(name string, e planDevice) {
	i := intent.Iface{Name: name, Kind: intent.Direct, On: name}
	if w := r.want.on(name, intent.Direct); len(w) > 0 {
		i.Name, i.VLAN = w[0].Name, w[0].VLAN
	}
	r.planAddresses(&i, e)
	if i.Addresses.IsSet() {
		r.got.Ifaces = append(r.got.Ifaces, i)
	}
}

func (r *reader) planAddresses(i *intent.Iface, e planDevice) {
	var list []netip.Prefix
	for _, s := range e.Addresses {
		a, err := netip.ParsePrefix(s)
		if err != nil {
			r.bad(planName, 0, "%s has the address %q", i.Name, s)
			return
		}
		list = append(list, a)
	}
	if len(list) > 0 {
		i.Addresses = intent.Some(list)
	}
	for _, t := range e.Routes {
		if t.Via == "" || t.To != "0.0.0.0/0" && t.To != "::/0" && t.To != "default" {
			continue
		}
		if g, err := netip.ParseAddr(t.Via); err != nil {
			r.bad(planName, 0, "%s has the gateway %q", i.Name, t.Via)
		} else {
			i.Gateway = intent.Some(g)
		}
	}
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// linkJSON is one device of ip -j -d addr show.
type linkJSON struct {
	Name   string   `json:"ifname"`
	Link   string   `json:"link"`
	MTU    uint32   `json:"mtu"`
	Flags  []string `json:"flags"`
	MAC    string   `json:"address"`
	Perm   string   `json:"permaddr"`
	Parent string   `json:"parentdev"`
	Master string   `json:"master"`
	Info   struct {
		Kind string `json:"info_kind"`
		Data struct {
			ID   uint16 `json:"id"`
			Mode string `json:"mode"`
			Rate string `json:"ad_lacp_rate"`
			Hash string `json:"xmit_hash_policy"`
			// Of a VLAN device: PCP by kernel priority (vlan_print_map in ip/iplink_vlan.c of iproute2), absent where all are 0.
			Egress []struct {
				From uint32 `json:"from"`
				To   uint32 `json:"to"`
			} `json:"egress_qos"`
		} `json:"info_data"`
	} `json:"linkinfo"`
	Addrs []struct {
		Family string `json:"family"`
		Local  string `json:"local"`
		Length int    `json:"prefixlen"`
		Scope  string `json:"scope"`
	} `json:"addr_info"`
}

// live puts what ip shows over what the file says.
func (r *reader) live() {
	var links []linkJSON
	if !r.decode("addr.json", &links) {
		return
	}
	for i := range links {
		k := &links[i]
		if w := r.want.port[k.Name]; w != nil {
			r.portOf(k.Name)
		}
		if p := slices.IndexFunc(r.got.Ports, func(p intent.Port) bool { return p.Name == k.Name }); p >= 0 {
			r.livePort(&r.got.Ports[p], k)
		}
		r.unplanned(k)
		for j := range r.got.LAGs {
			if l := &r.got.LAGs[j]; l.Name == k.Name {
				r.liveBond(l, k, links)
			}
		}
		r.liveIface(k)
	}
	r.drop(links)
}

func (r *reader) livePort(p *intent.Port, k *linkJSON) {
	if k.MTU <= 65535 {
		p.MTU = intent.Some(uint16(k.MTU))
	}
	p.Enabled = intent.Some(slices.Contains(k.Flags, "UP"))
	if p.NIC.MAC = strings.ToLower(k.MAC); k.Perm != "" {
		p.NIC.MAC = strings.ToLower(k.Perm)
	}
	if isPCI(k.Parent) {
		p.NIC.PCI = k.Parent
	}
}

// unplanned makes a bond or VLAN device that runs and that no file of netplan has
// any more: to be missing there is a matter of what is stored.
func (r *reader) unplanned(k *linkJSON) {
	switch k.Info.Kind {
	case "bond":
		w := r.want.lag[k.Name]
		if w != nil && !slices.ContainsFunc(r.got.LAGs, func(l intent.LAG) bool { return l.Name == k.Name }) {
			l := intent.LAG{Name: k.Name}
			if w.Rate != "" {
				l.Rate = k.Info.Data.Rate
			}
			if w.Hash != "" {
				l.Hash = k.Info.Data.Hash
			}
			r.got.LAGs = append(r.got.LAGs, l)
		}
	case "vlan":
		named := func(f intent.Iface) bool { return f.Kind == intent.VLANDev && f.Name == k.Name }
		at := slices.IndexFunc(r.want.Ifaces, named)
		if at >= 0 && !slices.ContainsFunc(r.got.Ifaces, named) {
			i := intent.Iface{Name: k.Name, Kind: intent.VLANDev}
			if r.want.Ifaces[at].MTU.IsSet() {
				i.MTU = intent.Some[uint16](0) // replaced by the one in force
			}
			r.got.Ifaces = append(r.got.Ifaces, i)
		}
	}
}

func (r *reader) liveBond(l *intent.LAG, k *linkJSON, links []linkJSON) {
	if k.MTU <= 65535 {
		l.MTU = intent.Some(uint16(k.MTU))
	}
	for mode, m := range bondModes {
		if m.netplan == k.Info.Data.Mode {
			l.Mode = mode
		}
	}
	if l.Mode == "lacp" && k.Info.Data.Rate != "" && l.Rate != "" {
		l.Rate = k.Info.Data.Rate
	}
	if l.Hash != "" && k.Info.Data.Hash != "" {
		l.Hash = k.Info.Data.Hash
	}
	var members []string
	for _, o := range links {
		if o.Master == l.Name {
			members = append(members, o.Name)
		}
	}
	slices.Sort(members)
	if now := slices.Sorted(slices.Values(l.Members)); !slices.Equal(now, members) {
		l.Members = members
	}
}

// liveIface replaces the addresses of an interface by those in force.
func (r *reader) liveIface(k *linkJSON) {
	at := slices.IndexFunc(r.got.Ifaces, func(f intent.Iface) bool { return device(&f) == k.Name })
	var list []netip.Prefix
	for _, a := range k.Addrs {
		addr, err := netip.ParseAddr(a.Local)
		if err != nil || a.Length < 0 || a.Length > addr.BitLen() {
			r.bad("addr.json", 0, "%s has the address %q/%d", k.Name, a.Local, a.Length)
			return
		}
		if a.Scope == "global" {
			list = append(list, netip.PrefixFrom(addr, a.Length))
		}
	}
	if at < 0 {
		ours := r.want.port[k.Name] != nil || r.want.lag[k.Name] != nil
		if !ours || len(list) == 0 {
			return
		}
		r.got.Ifaces = append(r.got.Ifaces, intent.Iface{Name: k.Name, Kind: intent.Direct, On: k.Name})
		at = len(r.got.Ifaces) - 1
	}
	f := &r.got.Ifaces[at]
	if had := slices.Clone(f.Addresses.Or(nil)); !sameSet(had, list) {
		f.Addresses = intent.Some(list)
	}
	if f.Kind == intent.VLANDev && k.Info.Kind == "vlan" {
		f.VLAN, f.On = k.Info.Data.ID, k.Link
		if f.MTU.IsSet() && k.MTU <= 65535 {
			f.MTU = intent.Some(uint16(k.MTU))
		}
		r.liveTags(f, k)
	}
}

// liveTags keeps what a VLAN device writes into its tags, for tags to judge.
func (r *reader) liveTags(f *intent.Iface, k *linkJSON) {
	var m [8]uint8
	for _, e := range k.Info.Data.Egress {
		if e.From > 7 || e.To > 7 {
			r.bad("addr.json", 0, "%s maps priority %d to PCP %d", k.Name, e.From, e.To)
			return
		}
		m[e.From] = uint8(e.To)
	}
	if r.tagged == nil {
		r.tagged = map[string][8]uint8{}
	}
	r.tagged[f.Name] = m
}

// tags reads the pcp_map of VLAN devices. The intent has the priority of each
// PCP, the kernel the PCP of each of its own priorities, which follow from the
// TOS of RDMA and from applications. Where packets leave with the PCPs that their
// classes ask for, the map is as it is wanted; a PCP that its class does not get,
// or that others get too, has what stands there. A port with another PFC belongs
// to another configuration, and is no measure of this one: that is told by its PFC.
func (r *reader) tags() {
	for _, w := range r.want.Ifaces {
		q := r.want.qos[w.QoS]
		have, shown := r.tagged[w.Name]
		at := slices.IndexFunc(r.got.Ifaces, func(f intent.Iface) bool { return f.Kind == intent.VLANDev && f.Name == w.Name })
		if at < 0 || !shown || q == nil || !q.PCP.IsSet() {
			continue
		}
		pcp := q.PCP.Value
		if now := r.runs(r.got.Ifaces[at].On); now == nil || !now.PFC.IsSet() || now.PFC == q.PFC {
			want := egress(remarked(q, now))
			for from := range uint8(8) {
				switch to, marked := want[from]; {
				case marked && have[from] != to:
					pcp[to] = have[from]
				case !marked && have[from] != 0:
					pcp[have[from]] = from
				}
			}
		}
		f := &r.got.Ifaces[at]
		f.QoS = "tags of " + f.Name
		r.got.QoS = append(r.got.QoS, intent.QoS{Name: f.QoS, PCP: intent.Some(pcp)})
	}
}

// runs is what was read of the port below an interface, or of one of its bond.
func (r *reader) runs(on string) *intent.QoS {
	for _, p := range r.got.Ports {
		if p.Name != on && (r.want.bond[p.Name] == nil || r.want.bond[p.Name].Name != on) {
			continue
		}
		if i := slices.IndexFunc(r.got.QoS, func(q intent.QoS) bool { return q.Name == p.QoS }); i >= 0 {
			return &r.got.QoS[i]
		}
	}
	return nil
}

// remarked is a QoS with the mark of RDMA that a host has in force.
func remarked(q, now *intent.QoS) *intent.QoS {
	if now == nil {
		return q
	}
	has := slices.IndexFunc(now.Marks, func(m intent.Mark) bool { return m.Carries == "rdma" && m.DSCP.IsSet() })
	if has < 0 {
		return q
	}
	out := *q
	out.Marks = slices.Clone(q.Marks)
	for i := range out.Marks {
		if m := &out.Marks[i]; m.Carries == "rdma" && !m.Application && m.DSCP.IsSet() {
			m.DSCP, m.ECT = now.Marks[has].DSCP, now.Marks[has].ECT
		}
	}
	return &out
}

func sameSet(a, b []netip.Prefix) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, netip.Prefix.Compare)
	slices.SortFunc(b, netip.Prefix.Compare)
	return slices.Equal(a, b)
}

// drop takes out what stands in the file and not on the host.
func (r *reader) drop(links []linkJSON) {
	there := func(name string) bool {
		return slices.ContainsFunc(links, func(k linkJSON) bool { return k.Name == name })
	}
	r.got.Ports = slices.DeleteFunc(r.got.Ports, func(p intent.Port) bool { return !there(p.Name) })
	r.got.LAGs = slices.DeleteFunc(r.got.LAGs, func(l intent.LAG) bool { return !there(l.Name) })
	r.got.Ifaces = slices.DeleteFunc(r.got.Ifaces, func(f intent.Iface) bool { return !there(device(&f)) })
}

// Lines of ethtool and of ip link.
var (
	ethSpeed    = regexp.MustCompile(`(?m)^\s+Speed: (\d+)Mb/s$`)
	ethAutoneg  = regexp.MustCompile(`(?m)^\s+Auto-negotiation: (on|off)$`)
	ethFEC      = regexp.MustCompile(`(?m)Configured FEC encodings:[ \t]*([\w \t]+)$`)
	ethFECModes = regexp.MustCompile(`(?m)^\s+Advertised FEC modes:[ \t]*([\w \t]+)$`)
	ethBus      = regexp.MustCompile(`(?m)^bus-info: (\S+)$`)
	ethFirmware = regexp.MustCompile(`(?m)^firmware-version: (\S.*)$`)
	ethVersion  = regexp.MustCompile(`(?m)^version: (\S+)$`)
	ethStorm    = regexp.MustCompile(`(?m)^pfc-prevention-tout:\s+(\d+)$`) // print_tunable of ethtool.c
	vfLine      = regexp.MustCompile(`(?m)^ +vf \d+ (.*)$`)
	vfVLAN      = regexp.MustCompile(`, vlan (\d+)`)
)

func (r *reader) ethtool(p *intent.Port) {
	link, _ := r.text(p.Name + "/link.txt")
	if m := ethSpeed.FindStringSubmatch(link); m != nil {
		if n, err := strconv.ParseUint(m[1], 10, 32); err == nil {
			p.Mbps = intent.Some(uint32(n))
		}
	}
	if m := ethAutoneg.FindStringSubmatch(link); m != nil {
		p.Autoneg = intent.Some(m[1] == "on")
	}
	r.fec(p, link)
	driver, _ := r.text(p.Name + "/driver.txt")
	if m := ethBus.FindStringSubmatch(driver); m != nil && isPCI(m[1]) {
		p.NIC.PCI = m[1]
	}
	if m := ethFirmware.FindStringSubmatch(driver); m != nil {
		p.NIC.Firmware = m[1]
	}
	if m := ethVersion.FindStringSubmatch(driver); m != nil {
		p.NIC.DriverV = m[1]
	}
	if ms, shown := r.stormMs(p.Name + "/storm.txt"); shown {
		p.NIC.StormMs = intent.Some(ms)
	}
	vfs, _ := r.text(p.Name + "/vfs.txt")
	if lines := vfLine.FindAllStringSubmatch(vfs, -1); p.NIC.VFs.IsSet() && vfs != "" {
		r.liveVFs(&p.NIC.VFs.Value, lines)
	}
}

// stormMs is what stormCommand printed.
func (r *reader) stormMs(file string) (uint16, bool) {
	text, _ := r.text(file)
	m := ethStorm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseUint(m[1], 10, 16)
	return uint16(n), err == nil
}

// fec is what have_fec of rocec-qos prints, as a word of the intent. An ice
// shows what it was told as the modes that it advertises.
func (r *reader) fec(p *intent.Port, link string) {
	text, _ := r.text(p.Name + "/fec.txt")
	shown := ethFEC.FindStringSubmatch(text)
	if p.NIC.Driver == ice {
		shown = ethFECModes.FindStringSubmatch(link)
	}
	if shown == nil {
		return
	}
	words := strings.Fields(strings.ToLower(shown[1]))
	has := func(w string) bool { return slices.Contains(words, w) }
	switch {
	case has("reported"): // Not reported
	case has("auto"), p.NIC.Driver == ice && has("rs") && has("baser"):
		p.FEC = intent.Some(intent.FECAuto)
	case p.NIC.Driver != ice && len(words) > 1: // none of ours
	case has("rs"):
		p.FEC = intent.Some(intent.FECRS)
	case has("baser"):
		p.FEC = intent.Some(intent.FECFC)
	case has("off"), has("none"):
		p.FEC = intent.Some(intent.FECNone)
	}
}

// liveVFs: one that differs from the others shows as the setting of all.
func (r *reader) liveVFs(v *intent.VFs, lines [][]string) {
	v.Count = uint16(min(len(lines), 65535))
	trust, vlan := v.Trust, v.VLAN
	for _, m := range lines {
		n := uint16(0)
		if id := vfVLAN.FindStringSubmatch(m[1]); id != nil {
			if x, err := strconv.ParseUint(id[1], 10, 16); err == nil {
				n = uint16(x)
			}
		}
		if on := strings.Contains(m[1], "trust on"); on != trust {
			v.Trust = on
		}
		if n != vlan {
			v.VLAN = n
		}
	}
}
