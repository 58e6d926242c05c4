package headroom

// IPVersion is the network layer under RoCEv2.
type IPVersion uint8

// The two network layers.
const (
	IPv4 IPVersion = 4
	IPv6 IPVersion = 6
)

const (
	// VXLANv4Bytes is what VXLAN over IPv4 adds to a packet [roce-theory E.1].
	VXLANv4Bytes = 50
	// ethernetBytes is header, VLAN tag and FCS: what a switch counts that a
	// host's MTU does not.
	ethernetBytes = 22
	// roceReserve is what Linux keeps for headers: GRH 40, UDP 8, BTH 12, XRC 4,
	// AtomicETH 28, ICRC 4 (include/rdma/ib_addr.h).
	roceReserve = 96
	// roceHeaders is what an RDMA write costs on the wire above its payload: BTH 12,
	// RETH 16, ICRC 4, UDP 8.
	roceHeaders = 40
	// tlpBytes is header and framing of one PCIe TLP: 256 of 280 bytes are data.
	tlpBytes = 24
)

// RDMAMTU returns the path MTU that Linux gives to RoCE on a network device: the
// largest of 256, 512, 1024, 2048 and 4096 that leaves room for the headers
// [roce-theory E.1]. A device MTU too small for 256 is an *InputError.
func RDMAMTU(deviceMTUBytes int64) (int64, error) {
	for _, mtu := range [...]int64{4096, 2048, 1024, 512, 256} {
		if deviceMTUBytes-mtu >= roceReserve && deviceMTUBytes > 0 {
			return mtu, nil
		}
	}
	return 0, &InputError{Field: "deviceMTUBytes", Value: deviceMTUBytes, Want: "at least 352"}
}

// NeedBytes returns the IP packet, and so the MTU of every hop, that a class of an
// RDMA MTU needs: payload, BTH, RETH, ICRC, UDP and IP [roce-theory E.1]. An
// overlay adds VXLANv4Bytes.
func NeedBytes(rdmaMTUBytes int64, ip IPVersion) (int64, error) {
	switch rdmaMTUBytes {
	case 256, 512, 1024, 2048, 4096:
	default:
		return 0, &InputError{Field: "rdmaMTUBytes", Value: rdmaMTUBytes, Want: "256, 512, 1024, 2048 or 4096"}
	}
	switch ip {
	case IPv4:
		return rdmaMTUBytes + roceHeaders + 20, nil
	case IPv6:
		return rdmaMTUBytes + roceHeaders + 40, nil
	}
	return 0, &InputError{Field: "ip", Value: int64(ip), Want: "4 or 6"}
}

// SwitchFrameBytes returns the least layer 2 frame limit of a switch in front of
// a host of that MTU: header, tag and FCS more [roce-theory E.1].
func SwitchFrameBytes(hostMTUBytes int64) (int64, error) {
	var c calc
	c.atLeast("hostMTUBytes", hostMTUBytes, 1)
	return c.result(c.add(hostMTUBytes, ethernetBytes))
}

// PCIeUsableMbps returns what is left of a slot's raw rate (after line coding) for
// payload when every TLP carries payloadBytes, rounded down [roce-theory E.2].
func PCIeUsableMbps(rawMbps, payloadBytes int64) (int64, error) {
	var c calc
	c.atLeast("rawMbps", rawMbps, 1)
	c.atLeast("payloadBytes", payloadBytes, 1)
	num := c.mul(rawMbps, payloadBytes)
	den := c.add(payloadBytes, tlpBytes)
	if c.err != nil {
		return 0, c.err
	}
	return num / den, nil
}
