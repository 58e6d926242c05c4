package linux

import (
	"context"
	"strconv"
	"strings"

	"github.com/rocec/rocec/deploy/lab/posix"
)

// ethtool 6.x: the link, pause frames, FEC, private flags, counters.
func (m *Machine) ethtool(_ context.Context, p *posix.Proc) int {
	args, asJSON := p.Args, false
	for len(args) > 0 && args[0] == "--json" {
		asJSON, args = true, args[1:]
	}
	option := ""
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		option, args = args[0], args[1:]
	}
	if len(args) == 0 {
		return p.Fail("ethtool: bad command line argument(s)\nFor more information run ethtool -h")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.links[args[0]]
	if l == nil {
		return p.Fail("netlink error: No such device")
	}
	n, words := l.nic, args[1:]
	if n == nil { // a device without hardware
		return p.Fail("netlink error: Operation not supported")
	}
	switch option {
	case "":
		return m.showLink(p, l)
	case "-a", "--show-pause":
		if n.driver == rxe {
			return p.Fail("netlink error: Operation not supported")
		}
		// ice_get_pauseparam: the autonegotiation of the link, and no pause while there is PFC.
		negotiated, rx, tx := n.driver == ice && n.auto, n.rx, n.tx
		if n.driver == ice && n.pfc != [8]bool{} {
			rx, tx = false, false
		}
		if asJSON {
			p.Printf("[ {\n        \"ifname\": \"%s\",\n        \"autonegotiate\": %v,\n        \"rx\": %v,\n        \"tx\": %v\n    } ]\n", n.name, negotiated, rx, tx)
			return 0
		}
		onOff := map[bool]string{true: "on", false: "off"}
		p.Printf("Pause parameters for %s:\nAutonegotiate:\t%s\nRX:\t\t%s\nTX:\t\t%s\n\n", n.name, onOff[negotiated], onOff[rx], onOff[tx])
		return 0
	case "-i", "--driver":
		p.Printf("driver: %s\nversion: %s\nfirmware-version: %s\nexpansion-rom-version: \nbus-info: %s\n", kernelDrivers[n.driver], n.version, n.firmware, n.pci)
		return 0
	case "-S", "--statistics":
		return m.showCounters(p, n)
	case "--show-fec":
		if n.driver == ice { // ice_get_fecparam: what its module can do
			p.Printf("FEC parameters for %s:\nSupported/Configured FEC encodings: Auto RS BaseR\nActive FEC encoding: RS\n", n.name)
			return 0
		}
		active := map[string]string{"Auto": "RS"}[n.fec]
		if active == "" {
			active = n.fec
		}
		p.Printf("FEC parameters for %s:\nSupported/Configured FEC encodings: %s\nActive FEC encoding: %s\n", n.name, n.fec, active)
		return 0
	case "--show-priv-flags":
		if n.driver != ice {
			return p.Fail("netlink error: Operation not supported")
		}
		p.Printf("Private flags for %s:\nlink-down-on-close : off\nfw-lldp-agent      : %s\n", n.name, map[bool]string{true: "on", false: "off"}[n.agent])
		return 0
	case "--get-tunable", "--set-tunable":
		return n.tunable(p, option, words)
	case "-A", "-s", "--set-fec", "--set-priv-flags":
		if len(words) == 0 || len(words)%2 != 0 {
			return p.Fail("ethtool: bad command line argument(s)\nFor more information run ethtool -h")
		}
		// ice_set_pauseparam: the autonegotiation is that of the link, and there is no PFC.
		if option == "-A" && n.driver == ice && (n.pfc != [8]bool{} || wrongAutoneg(words, n.auto)) {
			return p.Fail("netlink error: Operation not supported")
		}
		for i := 0; i < len(words); i += 2 {
			if err := n.setEthtool(option, words[i], words[i+1]); err != nil {
				return p.Fail("%v", err)
			}
		}
		m.sync()
		return 0
	}
	return p.Fail("ethtool: option %s is not simulated", option)
}

// tunable is pfc-prevention-tout, as mlx5 takes and shows it [mlx5/core/en_ethtool.c; print_tunable in ethtool.c].
func (n *nic) tunable(p *posix.Proc, option string, words []string) int {
	if len(words) == 0 || words[0] != "pfc-prevention-tout" || len(words) != map[string]int{"--get-tunable": 1, "--set-tunable": 2}[option] {
		return p.Fail("ethtool: bad command line argument(s)\nFor more information run ethtool -h")
	}
	if n.driver != mlx5 {
		return p.Fail("pfc-prevention-tout: Cannot get tunable")
	}
	if option == "--get-tunable" {
		p.Printf("pfc-prevention-tout: %d\n", n.stormMs)
		return 0
	}
	const auto = 65535
	ms, err := strconv.ParseUint(words[1], 10, 16)
	if ms == auto {
		ms = 100
	}
	if err != nil || ms != 0 && (ms < 80 || ms > 8000) {
		return p.Fail("pfc-prevention-tout: Invalid argument")
	}
	n.stormMs = uint16(ms)
	return 0
}

// wrongAutoneg reports whether options ask for another autonegotiation than the link's.
func wrongAutoneg(words []string, auto bool) bool {
	for i := 0; i+1 < len(words); i += 2 {
		if words[i] == "autoneg" && (words[i+1] == "on") != auto {
			return true
		}
	}
	return false
}

func (n *nic) setEthtool(option, key, value string) error {
	on := value == "on"
	bad := refusal("ethtool: bad command line argument(s)\nFor more information run ethtool -h")
	if value != "on" && value != "off" && key != "speed" && key != "encoding" {
		return bad
	}
	switch option + " " + key {
	case "-A autoneg":
		if on && n.driver != ice {
			return refusal("netlink error: Operation not supported")
		}
	case "-A rx":
		n.rx = on
	case "-A tx":
		n.tx = on
	case "-s autoneg":
		n.auto = on
	case "-s speed":
		v, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return bad
		}
		n.speed = uint32(v)
	case "--set-fec encoding":
		word, ok := map[string]string{"rs": "RS", "off": "Off", "baser": "BaseR", "auto": "Auto", "llrs": "LLRS"}[value]
		if !ok {
			return bad
		}
		n.fec = word
	case "--set-priv-flags fw-lldp-agent":
		if n.driver != ice {
			return refusal("netlink error: Operation not supported")
		}
		if on && len(n.dscp) > 0 { // ice_set_priv_flags
			return refusal("netlink error: Operation not supported")
		}
		n.agent, n.host = on, !on
	default:
		return bad
	}
	return nil
}

func (m *Machine) showLink(p *posix.Proc, l *link) int {
	n := l.nic
	speed, detected := "Unknown!", "no"
	if m.running(l) {
		speed, detected = strconv.FormatUint(uint64(n.speed), 10)+"Mb/s", "yes"
	}
	modes := "Not reported"
	if n.driver == ice { // ice_get_link_ksettings: what it was told
		modes = map[string]string{"Auto": "None\t RS\t BASER", "RS": "None\t RS", "BaseR": "None\t BASER", "Off": "None"}[n.fec]
	}
	p.Printf("Settings for %s:\n\tSupported ports: [ FIBRE ]\n\tAdvertised FEC modes: %s\n\tSpeed: %s\n\tDuplex: Full\n\tAuto-negotiation: %s\n\tPort: Direct Attach Copper\n\tLink detected: %s\n",
		n.name, modes, speed, map[bool]string{true: "on", false: "off"}[n.auto], detected)
	return 0
}
