package windows

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// limiter refuses what depends on values.
type limiter struct {
	d      *intent.Device
	refuse targets.Refuse
}

func limits(d *intent.Device, refuse targets.Refuse) {
	l := &limiter{d, refuse}
	l.device()
	l.size()
	l.names()
	for i := range d.Ports {
		l.port(&d.Ports[i])
	}
	for i := range d.LAGs {
		l.team(&d.LAGs[i])
	}
	for i := range d.Ifaces {
		l.iface(&d.Ifaces[i])
	}
	l.hostWide()
	if q := hostQoS(d, false); q != nil {
		l.qos(q)
	}
	l.options()
}

func (l *limiter) device() {
	at := intent.Path{Object: intent.OfDevice, Field: "os"}
	if v := l.d.OS.Version; v != "" && builds[v] == 0 {
		l.refuse(fmt.Sprintf("target netqos does not know windows-server %s of node %q", v, l.d.Name),
			"write one of 2016, 2019, 2022, 2025", at)
	}
	if l.d.Model != "" || l.d.ASIC != "" {
		l.refuse(fmt.Sprintf("node %q has the model %q %q, which Windows cannot be told", l.d.Name, l.d.Model, l.d.ASIC),
			"write the model on the nic", intent.Path{Object: intent.OfDevice, Field: "model"})
	}
}

// size refuses hosts whose data would have more values than
// Import-PowerShellDataFile takes, 5000 with the keys (IsSafeValueVisitor of
// Windows PowerShell 5.1): an adapter and its interface have some 80, an address
// has 7, a class some 20.
func (l *limiter) size() {
	addresses := 0
	for i := range l.d.Ifaces {
		addresses += len(l.d.Ifaces[i].Addresses.Value)
	}
	marks := 0
	if q := hostQoS(l.d, false); q != nil {
		marks = len(q.Marks)
	}
	for _, n := range []struct {
		count, most int
		what, help  string
	}{
		{len(l.d.Ports), 32, "adapters", `manage 32 adapters at most; leave others out with manage = "none"`},
		{len(l.d.Ifaces), 32, "interfaces", `manage 32 interfaces at most; leave others out with manage = "none"`},
		{addresses, 128, "addresses", "write 128 addresses at most"},
		{marks, 32, "classes", "join classes that are treated alike"},
	} {
		if n.count > n.most {
			l.refuse(fmt.Sprintf("node %q has %d %s, and its data would be more than Windows PowerShell reads", l.d.Name, n.count, n.what),
				n.help, intent.Path{Object: intent.OfDevice, Field: "name"})
		}
	}
}

// forbidden are characters that a connection name of Windows cannot have, and
// those that a -Name parameter would expand.
const forbidden = "\\/:*?\"<>|[]`"

// name refuses what cannot be the name of an adapter, a switch or a policy.
func (l *limiter) name(s string, at intent.Path) bool {
	// A mark that combines, as of a decomposed umlaut, makes names equal to PowerShell that are two to Windows.
	bad := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r) || unicode.IsMark(r) || strings.ContainsRune(forbidden, r)
	})
	switch {
	case bad >= 0 || !utf8.ValidString(s):
		l.refuse(fmt.Sprintf("the name %q has a character that Windows names or scripts cannot hold", s),
			`use letters (of one character each), digits, blanks and quotes, and none of `+forbidden, at)
	case strings.TrimSpace(s) != s:
		l.refuse(fmt.Sprintf("the name %q begins or ends with a blank", s), "remove the blank", at)
	default:
		return true
	}
	return false
}

// ascii refuses text that is compared with what is ASCII: names of computers, of
// models and versions.
func (l *limiter) ascii(s string, at intent.Path) {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		l.refuse(fmt.Sprintf("%q has characters beyond ASCII", s), "write it in ASCII", at)
	}
}

// names refuses what Windows cannot name, and names that two things share:
// adapters, vNICs and switches are told apart without regard to case.
func (l *limiter) names() {
	l.ascii(l.d.Name, intent.Path{Object: intent.OfDevice, Field: "name"})
	seen := map[string]intent.Path{}
	add := func(s string, at intent.Path) {
		l.name(s, at)
		if first, taken := seen[strings.ToLower(s)]; taken && (first.Name != s || at.Object == intent.OfIface) {
			l.refuse(fmt.Sprintf("%s and %s have the same name on Windows", first, at), "rename one of them", at, first)
			return
		}
		seen[strings.ToLower(s)] = at
	}
	for i := range l.d.Ports {
		add(l.d.Ports[i].Name, intent.Path{Object: intent.OfPort, Name: l.d.Ports[i].Name, Field: "name"})
	}
	for i := range l.d.LAGs {
		add(l.d.LAGs[i].Name, intent.Path{Object: intent.OfLAG, Name: l.d.LAGs[i].Name, Field: "name"})
	}
	for i := range l.d.Ifaces {
		at := intent.Path{Object: intent.OfIface, Name: l.d.Ifaces[i].Name, Field: "name"}
		if l.d.Ifaces[i].Kind == intent.VNIC {
			add(l.d.Ifaces[i].Name, at)
		} else {
			l.name(l.d.Ifaces[i].Name, at)
		}
	}
}

// port refuses settings of one adapter.
func (l *limiter) port(p *intent.Port) {
	at := func(field string) intent.Path {
		return intent.Path{Object: intent.OfPort, Name: p.Name, Field: field}
	}
	inTeam := teamMember(l.d, p.Name)
	if len(p.Tagged.Value) > 1 && p.Tagged.IsSet() && !inTeam {
		l.refuse(fmt.Sprintf("adapter %q shall tag %d VLANs, Windows tags one per adapter", p.Name, len(p.Tagged.Value)),
			`give the nic one segment, or make a bond of mode "set" with an interface per segment`, at("segments"))
	}
	if len(p.Tagged.Value) > 0 && p.Tagged.IsSet() && p.Native.IsSet() && !inTeam {
		l.refuse(fmt.Sprintf("adapter %q shall have VLAN %d untagged beside tagged ones", p.Name, p.Native.Value),
			`give the nic one segment, or make a bond of mode "set" with an interface per segment`, at("native"))
	}
	if p.MTU.IsSet() && p.MTU.Value > 65535-ethernetHeader {
		l.refuse(fmt.Sprintf("adapter %q has the MTU %d", p.Name, p.MTU.Value), "write an MTU that Ethernet can carry", at("mtu"))
	}
	if p.Enabled.IsSet() && !p.Enabled.Value {
		l.shut(p, at)
	}
	if p.NIC != nil {
		l.nic(p, at)
	}
}

// shut refuses settings of an adapter that is to be disabled: a disabled
// driver takes none.
func (l *limiter) shut(p *intent.Port, at func(string) intent.Path) {
	n := p.NIC
	if p.QoS != "" || p.MTU.IsSet() || p.Tagged.IsSet() || p.Native.IsSet() || teamMember(l.d, p.Name) ||
		n != nil && (n.RDMA.IsSet() || n.RoCE.IsSet() || n.DCBX.IsSet() || n.RDMAMTU > 0 || n.IWARP) {
		l.refuse(fmt.Sprintf("adapter %q is disabled and has settings that a disabled driver does not take", p.Name),
			"leave out its mtu, segment, qos, dcbx and rdma settings, or enable it", at("enabled"))
	}
}

func (l *limiter) nic(p *intent.Port, at func(string) intent.Path) {
	n := p.NIC
	for _, s := range []string{n.Model, n.Driver, n.Adapter, n.Firmware, n.DriverV} {
		l.ascii(s, at("model"))
	}
	if n.PCI != "" && pciAddress(n.PCI) == "" {
		l.refuse(fmt.Sprintf("adapter %q has the PCI address %q", p.Name, n.PCI), `write it as "0000:3b:00.0"`, at("pci"))
	}
	if n.MAC != "" && macDigits(n.MAC) == "" {
		l.refuse(fmt.Sprintf("adapter %q has the MAC address %q", p.Name, n.MAC), `write it as "b8:3f:d2:00:00:01"`, at("mac"))
	}
	if n.RoCE.IsSet() && n.RoCE.Value != "v1" && n.RoCE.Value != "v2" {
		l.refuse(fmt.Sprintf("adapter %q has the RoCE version %q", p.Name, n.RoCE.Value), `write "v2" or "v1"`, at("roce_mode"))
	}
	if n.RoCE.IsSet() && n.IWARP {
		l.refuse(fmt.Sprintf("adapter %q is an iWARP adapter with RoCE %s", p.Name, n.RoCE.Value),
			"remove roce_mode: an adapter speaks one of the two", at("roce_mode"))
	}
	l.technology(p, at("model"))
	if n.RDMAMTU > 0 && (n.IWARP || !slices.Contains([]uint16{256, 512, 1024, 2048, 4096}, n.RDMAMTU)) {
		l.refuse(fmt.Sprintf("adapter %q cannot have the RDMA MTU %d", p.Name, n.RDMAMTU),
			"write 1024, 2048 or 4096 on RoCE adapters, and none on iWARP adapters", at("rdma_mtu"))
	}
	if teamMember(l.d, p.Name) && n.RDMA.IsSet() && n.RDMA.Value && !rdmaVNICs(l.d, teamOf(l.d, p.Name)) {
		l.refuse(fmt.Sprintf("adapter %q is in a team and cannot carry RDMA itself", p.Name),
			"put rdma on the interfaces of the team: SMB uses the host vNICs", at("rdma"))
	}
	l.dcbx(p, at("dcbx"))
	l.tag(p, at)
}

func (l *limiter) dcbx(p *intent.Port, at intent.Path) {
	if !p.NIC.DCBX.IsSet() {
		return
	}
	x := p.NIC.DCBX.Value
	switch {
	case x.Owner != "" && x.Owner != "os":
		l.refuse(fmt.Sprintf("adapter %q leaves DCBX to %s, which Windows cannot set", p.Name, x.Owner),
			"hand DCBX to the host in the vendor's tool and write dcbx = \"off\", or leave this node out of the target", at)
	case x.Version != "":
		l.refuse(fmt.Sprintf("adapter %q shall speak DCBX version %q, which Windows does not let choose", p.Name, x.Version),
			"remove version", at)
	}
	if q := l.d.QoSNamed(p.QoS); x.Mode == "willing" && q != nil && (q.PFC.IsSet() || q.Sched.IsSet()) {
		l.refuse(fmt.Sprintf("adapter %q takes PFC and ETS from the switch (dcbx willing) and from qos %q", p.Name, q.Name),
			`write dcbx = "off": while DCBX is willing, Windows programs nothing into the NIC`, at,
			intent.Path{Object: intent.OfQoS, Name: q.Name, Field: "pfc"})
	}
}

// tag refuses RoCE with PFC on untagged frames: the priority of a frame is in
// its VLAN tag (Network ATC: InvalidIsolationID).
func (l *limiter) tag(p *intent.Port, at func(string) intent.Path) {
	q := l.d.QoSNamed(p.QoS)
	if q == nil || q.PFC.Or(0) == 0 || p.NIC.IWARP || teamMember(l.d, p.Name) || !portRDMA(l.d, p).Value {
		return
	}
	if id, _ := vlanID(l.d, p); id == 0 {
		l.refuse(fmt.Sprintf("adapter %q sends RoCE untagged, so that its frames carry no priority for PFC", p.Name),
			"give the nic a tagged segment", at("segments"))
	}
}

// technologies are those of *NetworkDirectTechnology that a family of adapters
// has on Windows: the vendors of host-network-requirements (NVIDIA and Broadcom
// RoCE, Chelsio iWARP, Marvell and Intel both), the values that Validate-DCB
// demands of each driver, and of Intel X722 iWARP alone. Which of them a driver
// lists is asked on the host, before anything is changed.
var technologies = map[string][]int{
	"mlx5": {3, 4}, "bnxt": {4}, "ice": {1, 4}, "i40e": {1}, "qede": {1, 4}, "cxgb4": {1}, "rxe": {},
}

// technology refuses a kind of RDMA that the adapter does not have on Windows.
func (l *limiter) technology(p *intent.Port, at intent.Path) {
	has, known := technologies[p.NIC.Driver]
	t := technology(p.NIC)
	if !known || t == 0 || slices.Contains(has, t) {
		return
	}
	if len(has) == 0 {
		l.refuse(fmt.Sprintf("adapter %q is %s, which has no driver for Windows", p.Name, p.NIC.Model), "choose an adapter that Windows has a driver for", at)
		return
	}
	words := make([]string, len(has))
	for i, h := range has {
		words[i] = transports[h]
	}
	l.refuse(fmt.Sprintf("adapter %q (%s) speaks %s on Windows, not %s", p.Name, p.NIC.Model, strings.Join(words, " and "), transports[t]),
		fmt.Sprintf("write transport = %q in the class that carries RDMA, or choose another adapter", words[len(words)-1]), at)
}
