package linux

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// How the families of adapters call themselves in intents.
const (
	mlx5  = "mlx5"
	ice   = "ice"
	bnxt  = "bnxt"
	qede  = "qede"
	cxgb4 = "cxgb4"
	rxe   = "rxe"
)

// kernelDrivers are the names of the drivers in sysfs.
var kernelDrivers = map[string]string{mlx5: "mlx5_core", bnxt: "bnxt_en", ice: "ice", qede: "qede", cxgb4: "cxgb4", rxe: "virtio_net"}

// nic is what one port of an adapter and its driver keep.
type nic struct {
	name, driver, mac, pci string
	first                  string // its name before udev gives it one
	firmware, version      string
	others                 *intent.Port // a port that somebody else sets
	iwarp, wantsIWARP      bool

	up         bool
	mtu        int
	speed      uint32
	auto       bool
	fec        string
	stormMs    uint16 // of mlx5: pfc-prevention-tout
	rx, tx     bool   // global pause
	agent      bool   // of ice: the firmware runs LLDP; it outlives a reboot
	host       bool   // the host owns DCBX
	dscp       map[int]int
	roce       int  // of bnxt: the priority of UDP port 4791, 0 for none
	shares     bool // of bnxt: ETS was set
	tsa        [8]string
	bw         [8]int
	prio       [8]int
	pfc        [8]bool
	cable      int
	mbps       [8]int // rate limits
	vfs        int
	vfMode     string
	vfTrust    map[int]bool
	vfVLAN     map[int]int
	congestion map[string]string // files of the driver, by name
}

// newNIC is a port as it is found. Firmware and driver are those that the intent
// expects: the lab has no other to show.
func newNIC(p *intent.Port, at int) *nic {
	n := &nic{name: p.Name, first: p.Name, driver: p.NIC.Driver, mac: p.NIC.MAC, pci: p.NIC.PCI, wantsIWARP: p.NIC.IWARP}
	if n.mac == "" {
		n.mac = fmt.Sprintf("02:00:00:00:%02x:%02x", at>>8&0xff, at&0xff)
	}
	if n.pci == "" {
		n.pci = fmt.Sprintf("0000:%02x:00.%d", 0x3b+at/2*8&0x7f, at%2)
	}
	n.firmware, n.version = versionFor(p.NIC.Firmware, "22.41.1000"), versionFor(p.NIC.DriverV, "6.8.0-48-generic")
	n.speed = 100_000
	if p.Mbps.IsSet() {
		n.speed = p.Mbps.Value
	}
	n.agent = n.driver == ice
	if p.Verify {
		n.others = p
	}
	n.start()
	return n
}

// versionFor is a version that meets what is expected.
func versionFor(expected, other string) string {
	first, _, _ := strings.Cut(expected, ",")
	first = strings.TrimSuffix(strings.Trim(first, " ~>=!<"), ".*")
	if first == "" {
		return other
	}
	return first
}

// start is what a loss of power leaves: the defaults of mlx5e_dcbnl_ieee_getets,
// bnxt_dcb_init and ice_dcb_sw_dflt_cfg.
func (n *nic) start() {
	n.up, n.mtu, n.auto, n.fec, n.rx, n.tx = false, 1500, true, "Auto", true, true
	n.host, n.dscp, n.roce, n.shares, n.pfc, n.mbps = false, map[int]int{}, 0, false, [8]bool{}, [8]int{}
	n.vfs, n.vfMode, n.vfTrust, n.vfVLAN = 0, "legacy", map[int]bool{}, map[int]int{}
	n.cable, n.bw, n.prio = 0, [8]int{}, [8]int{}
	n.iwarp = n.driver == cxgb4
	n.congestion = map[string]string{}
	for i := range 8 {
		n.tsa[i] = "strict"
	}
	switch n.driver {
	case mlx5:
		n.cable, n.stormMs, n.prio = 7, 8000, [8]int{1, 0, 2, 3, 4, 5, 6, 7}
		for i := range 8 {
			n.tsa[i], n.bw[i] = "vendor", 100
		}
		n.congestion = map[string]string{"np_cnp_dscp": "48", "np_cnp_prio": "6"}
	case bnxt:
		n.host = true
		n.congestion = map[string]string{"tos_ecn": "1", "enable_cc": "1", "cc_mode": "1", "tos_dscp": "26", "alt_vlan_pcp": "7", "alt_vlan_dscp": "48"}
	case ice:
		n.bw[0] = 100
		for i := range 8 {
			n.tsa[i] = "ets"
		}
		n.host = !n.agent
		n.congestion = map[string]string{"roce_dcqcn_enable": "0"}
	}
	if n.others != nil {
		n.up, n.mtu = n.others.Enabled.Or(true), int(n.others.MTU.Or(1500))
	}
}

// dcbs tells whether the driver lets the host set DCB.
func (n *nic) dcbs() bool { return n.driver == mlx5 || n.driver == bnxt || n.driver == ice }

// setDCB carries out one command of dcb of iproute2 6.1: KEY PAIR PAIR KEY PAIR,
// where pairs belong to the word before them. A refusal of the kernel still
// exits 0 there. What it returns is an error of the program.
func (n *nic) setDCB(object, verb string, words []string) error {
	if n.driver == ice && n.agent || n.driver == bnxt && object == "pfc" && !n.shares {
		return nil
	}
	next := *n
	next.dscp = maps.Clone(n.dscp)
	key := ""
	for _, w := range words {
		left, right, pair := strings.Cut(w, ":")
		if !pair {
			key = w
		}
		if err := next.put(object, verb, key, left, right, pair, w); err != nil {
			return err
		}
	}
	if object == "ets" {
		next.shares = true
		sum, any := 0, false
		for i := range 8 {
			sum += next.bw[i]
			any = any || next.tsa[i] == "ets"
		}
		if expected := map[bool]int{true: 100, false: 0}[any]; sum != expected {
			return refusal("Bandwidth percentages in tc-bw sum to %d%%, expected %d%%", sum, expected)
		}
		for i := range 8 {
			if next.tsa[i] != "ets" && n.driver == mlx5 {
				next.bw[i] = 100
			}
		}
		if n.driver == ice && len(n.dscp) > 0 { // ice_dcbnl_setets: in DSCP mode the map cannot change
			next.prio = [8]int{0, 1, 2, 3, 4, 5, 6, 7}
		}
	}
	*n = next
	return nil
}

func number(s string, most int) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v < 0 || v > most {
		return 0, refusal("Invalid number %q", s)
	}
	return v, nil
}

func (n *nic) put(object, verb, key, left, right string, pair bool, word string) error {
	switch object + " " + key {
	case "dcbx host", "dcbx ieee":
		n.host = true
	case "app dscp-prio":
		return n.putDSCP(verb, left, right, pair)
	case "app dgram-port-prio":
		if !pair {
			return nil
		}
		v, err := number(right, 7)
		switch {
		case err != nil:
			return err
		case n.driver != bnxt || left != "4791":
			return refusal("Attribute write: Invalid argument")
		case verb == "add":
			n.roce = v
		case verb == "del" && n.roce == v:
			n.roce = 0
		}
	case "ets willing", "ets off", "ets on":
	case "ets tc-tsa", "ets tc-bw", "ets prio-tc":
		if !pair {
			return nil
		}
		return n.putETS(key, left, right)
	case "pfc prio-pfc":
		if !pair {
			return nil
		}
		i, err := 0, error(nil)
		if left != "all" {
			i, err = number(left, 7)
		}
		if err != nil || right != "on" && right != "off" {
			return refusal("Invalid value of prio-pfc: %q", word)
		}
		for k := range 8 {
			if left == "all" || k == i {
				n.pfc[k] = right == "on"
			}
		}
	case "pfc delay":
	default:
		if v, err := number(word, 65535); err == nil && object == "pfc" {
			n.cable = v
			return nil
		}
		return refusal("What is \"%s\"?\nUsage: dcb %s help", word, object)
	}
	return nil
}

func (n *nic) putDSCP(verb, left, right string, pair bool) error {
	if verb == "flush" {
		n.dscp = map[int]int{}
		if n.driver == ice { // back to VLAN mode and its defaults
			n.prio, n.pfc = [8]int{}, [8]bool{}
		}
		return nil
	}
	if !pair {
		return nil
	}
	d, err := number(left, 63)
	if err != nil {
		return err
	}
	v, err := number(right, 7)
	if err != nil {
		return err
	}
	switch verb {
	case "add":
		if _, taken := n.dscp[d]; taken {
			return refusal("Attribute write: File exists")
		}
		if n.driver == ice && len(n.dscp) == 0 { // the first entry switches to DSCP mode
			n.prio, n.bw = [8]int{0, 1, 2, 3, 4, 5, 6, 7}, [8]int{100}
		}
		n.dscp[d] = v
	case "replace":
		n.dscp[d] = v
	case "del":
		if old, ok := n.dscp[d]; !ok || old != v {
			return refusal("Attribute write: No such file or directory")
		}
		delete(n.dscp, d)
	}
	return nil
}

func (n *nic) putETS(key, left, right string) error {
	only := -1
	if left != "all" {
		i, err := number(left, 7)
		if err != nil {
			return err
		}
		only = i
	}
	v := 0
	if key != "tc-tsa" {
		var err error
		if v, err = number(right, map[string]int{"tc-bw": 100, "prio-tc": 7}[key]); err != nil {
			return err
		}
	} else if right != "strict" && right != "ets" && right != "vendor" && right != "cbs" {
		return refusal("Invalid TSA \"%s\"", right)
	}
	for i := range 8 {
		if only >= 0 && i != only {
			continue
		}
		switch key {
		case "tc-tsa":
			n.tsa[i] = right
		case "tc-bw":
			n.bw[i] = v
		case "prio-tc":
			n.prio[i] = v
		}
	}
	return nil
}
