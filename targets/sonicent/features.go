package sonicent

import (
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/feature"
)

// Sources of the feature table.
const (
	hld      = "Broadcom RoCEv2 high level design for Enterprise SONiC 4.1"
	ansible  = "dellemc.enterprise_sonic plugins/modules/"
	spytest  = "sonic-net/sonic-mgmt spytest/apis/"
	grammar  = "noolex/sonic-mgmt-framework broadcom_sonic_3.x_share CLI/clitree/cli-xml/"
	amd      = "AMD Instinct documentation, RoCE cluster network (Dell Z9664F)"
	hostOnly = "a setting of hosts; switches have none"
)

var features = feature.Table{Compare: compare, Rows: []feature.Row{
	{ID: feature.PortSpeed, Support: feature.Native, Source: ansible + "sonic_interfaces.py; " + grammar + "interface.xml speed"},
	{ID: feature.PortFEC, Support: feature.Native, Note: "rs, fc and auto; none is spelled in two ways", Source: ansible + "sonic_interfaces.py; " + spytest + "system/interface.py"},
	{
		ID: feature.PortBreakout, Support: feature.Native, Note: "in a script of its own for a maintenance window, before the lossless buffers are set up",
		Source: grammar + "dynamic_port_breakout.xml; " + spytest + "system/port.py; " + hld,
	},
	{ID: feature.PortAutoneg, Support: feature.Native, Note: "speed auto; a fixed speed is one without negotiation", Source: ansible + "sonic_interfaces.py; " + spytest + "system/interface.py"},
	{ID: feature.PortAdmin, Support: feature.Native, Source: ansible + "sonic_interfaces.py; " + grammar + "interface.xml shutdown"},
	{ID: feature.PortMTU, Support: feature.Native, Note: "1312 to 9216, the IP MTU", Source: grammar + "sonic_types.xml RANGE_MTU, renderer show_interface.j2; " + ansible + "sonic_interfaces.py"},
	{ID: feature.VLANTrunk, Support: feature.Native, Source: grammar + "interface.xml switchport trunk; " + spytest + "switching/vlan.py"},
	{ID: feature.VLANNative, Support: feature.Native, Source: grammar + "interface.xml switchport access; " + spytest + "switching/vlan.py"},
	{ID: feature.VLANMTU, Support: feature.Native, Source: grammar + "interface.xml mtu of a VLAN; " + ansible + "sonic_interfaces.py, sonic_vlans.py IP MTU"},
	{ID: feature.TrustByDSCP, Support: feature.Native, Note: "qos-map dscp-tc; frames that are not IP go by dot1p", Source: ansible + "sonic_qos_interfaces.py; " + grammar + "qos_interface.xml"},
	{ID: feature.TrustByPCP, Support: feature.Native, Note: "qos-map dot1p-tc alone", Source: ansible + "sonic_qos_interfaces.py; " + grammar + "qos_interface.xml"},
	{
		ID: feature.TrustNothing, Support: feature.Emulated, Note: "maps of their own that give every mark the same traffic class",
		Source: grammar + "qos_map_dscp.xml, qos_map_dot1p.xml; " + spytest + "qos/cos.py",
	},
	{ID: feature.DSCPMap, Support: feature.Native, Source: grammar + "qos_map_dscp.xml; " + spytest + "qos/cos.py"},
	{ID: feature.PCPMap, Support: feature.Native, Source: grammar + "qos_map_dot1p.xml; " + spytest + "qos/cos.py"},
	{ID: feature.QueueMap, Support: feature.Native, Source: grammar + "qos_map_tc_queue.xml; " + spytest + "qos/cos.py"},
	{
		ID: feature.GroupMap, Support: feature.Emulated, Note: "a lossless priority has the group of its number, 3 or 4; the group of all others is 7, the lossy one",
		Source: hld + "; " + grammar + "qos_map_tc_pg.xml; " + amd,
	},
	{ID: feature.PFC, Support: feature.Native, Note: "priorities 3 and 4; the buffers for it reboot the switch once", Source: hld + "; " + ansible + "sonic_qos_interfaces.py"},
	{ID: feature.PFCQueueMap, Support: feature.Native, Note: "one for the whole switch", Source: grammar + "qos_map_pfc_queue.xml; " + ansible + "sonic_qos_maps.py"},
	{
		ID: feature.DenyRoCEv2, Support: feature.Native, Note: "two access lists of rocec's own, for UDP port 4791 over IPv4 and IPv6, each with a permit of all after it; a port takes one list of each kind inbound",
		Source: grammar + "acl.xml, ../macro/acl_macro.xml; " + ansible + "sonic_l3_acls.py; " + spytest + "qos/acl.py",
	},
	{
		ID: feature.DenyRoCEv1, Support: feature.Native, Note: "a MAC access list of rocec's own, for EtherType 0x8915, with a permit of all after it",
		Source: grammar + "acl.xml, ../macro/acl_macro.xml; " + ansible + "sonic_l2_acls.py; " + spytest + "qos/acl.py",
	},
	{ID: feature.GlobalPause, Note: "use PFC: no command for 802.3x pause is known from two documents", Source: grammar + "interface.xml has none"},
	{ID: feature.PauseOff, Support: feature.Emulated, Note: "nothing is written: no setting of Enterprise SONiC switches 802.3x pause on", Source: grammar + "interface.xml has none"},
	{ID: feature.ETS, Support: feature.Native, Note: "1 percent at least", Source: grammar + "qos_scheduler.xml; " + amd},
	{ID: feature.Strict, Support: feature.Native, Source: grammar + "qos_scheduler.xml; " + amd},
	{ID: feature.RateCap, Support: feature.Native, Note: "pir in kbit/s, up to 400 Gb/s", Source: grammar + "qos_scheduler.xml, sonic_types.xml QUEUE_CIR_PIR; " + spytest + "qos/qos_shaper.py"},
	{ID: feature.ECN, Support: feature.Native, Note: "thresholds in kB of 1000 bytes, 1 to 12480", Source: grammar + "wred.xml, sonic_types.xml QoS_THRESHOLD; " + ansible + "sonic_qos_wred.py; " + amd},
	{ID: feature.Watchdog, Support: feature.Native, Source: ansible + "sonic_qos_interfaces.py; " + spytest + "system/pfc.py"},
	{ID: feature.WatchdogTimes, Support: feature.Native, Note: "the polling interval is one for the whole switch", Source: ansible + "sonic_qos_interfaces.py, sonic_qos_pfc.py; " + grammar + "qos_pfc.xml"},
	{ID: feature.DCBXOff, Support: feature.Emulated, Note: "nothing is written: images up to 4.4 have no DCBX, later ones have it off until dcbx enable", Source: hld + "; " + ansible + "sonic_dcbx.py"},
	{ID: feature.DCBXAdvertise, Note: `write dcbx = "off": DCBX came with the newest images, and one document has its commands`, Source: ansible + "sonic_dcbx.py"},
	{ID: feature.DCBXWilling, Note: `write dcbx = "off": DCBX came with the newest images, and one document has its commands`, Source: ansible + "sonic_dcbx.py"},
	{ID: feature.Rewrite, Support: feature.Native, Source: grammar + "qos_map_tc_dscp.xml; " + spytest + "qos/cos.py"},
	{ID: feature.CableLength, Support: feature.Emulated, Note: "the next of 5 m, 40 m and 300 m", Source: ansible + "sonic_qos_interfaces.py cable_length; " + hld},
	{ID: feature.Headroom, Note: "leave headroom out and write the cable: the switch has headroom by cable length, and no two documents say how a profile is put on a group", Source: hld},
	{ID: feature.SharedBuffer, Note: "leave it out: the sizes of pools are the platform's", Source: hld},
	{ID: feature.HeadroomPool, Support: feature.Native, Note: "shared-headroom-size of ingress_lossless_pool, once the buffers are set up", Source: hld + "; " + ansible + "sonic_qos_buffer.py"},
	{ID: feature.Alpha, Note: "leave it out: no two documents say how a buffer profile is put on a group", Source: hld},
	{ID: feature.HashFunction, Note: "leave hash out: no command of it is known from two documents", Source: grammar + "loadshare.xml"},
	{ID: feature.HashSeed, Note: "leave seed out: no command of it is known from two documents", Source: grammar + "loadshare.xml"},
	{ID: feature.ARPTimeout, Support: feature.Native, Note: "60 to 14400 s; of IPv4 only", Source: grammar + "ipv4-neighbors.xml; " + ansible + "sonic_ip_neighbor.py; " + spytest + "routing/arp.py"},
	{ID: feature.MACTimeout, Support: feature.Native, Note: "up to 1000000 s", Source: grammar + "mac.xml, sonic_types.xml MAC_AGE_TIMER; " + ansible + "sonic_mac.py; " + spytest + "switching/mac.py"},
	{ID: feature.LAGLACP, Support: feature.Native, Source: grammar + "interface.xml interface PortChannel; " + ansible + "sonic_lag_interfaces.py"},
	{ID: feature.LAGStatic, Support: feature.Native, Source: grammar + "sonic_types.xml PO_MODE; " + spytest + "switching/portchannel.py mode on"},
	{ID: feature.LAGActiveBkp, Note: "a mode of host bonds", Source: grammar + "sonic_types.xml PO_MODE"},
	{ID: feature.LAGSet, Note: "a mode of Windows teams", Source: grammar + "sonic_types.xml PO_MODE"},
	{ID: feature.LAGRate, Support: feature.Native, Note: "fast; slow is what a PortChannel has by itself", Source: ansible + "sonic_lag_interfaces.py; " + spytest + "switching/portchannel.py fast_rate"},
	{ID: feature.LAGHash, Note: "leave hash_policy out: it is one for the whole switch", Source: grammar + "loadshare.xml"},
	{ID: feature.MLAG, Support: feature.Native, Source: grammar + "mclag.xml; " + spytest + "switching/mclag.py"},
	{ID: feature.SVI, Support: feature.Native, Source: grammar + "interface.xml, ipv4.xml; " + ansible + "sonic_l3_interfaces.py"},
	{ID: feature.RoutedPort, Support: feature.Native, Source: grammar + "ipv4.xml; " + ansible + "sonic_l3_interfaces.py"},
	{ID: feature.LoopbackIface, Support: feature.Native, Source: grammar + "interface.xml interface Loopback; " + amd},
	{ID: feature.HostAddress, Note: hostOnly},
	{ID: feature.VLANDevice, Note: hostOnly},
	{ID: feature.HostVNIC, Note: hostOnly},
	{ID: feature.VNICPin, Note: hostOnly},
	{ID: feature.Gateway, Note: hostOnly + "; the switch has the address itself"},
	{ID: feature.VRF, Support: feature.Native, Source: grammar + "vrf.xml; " + spytest + "routing/vrf.py"},
	{ID: feature.IPv6, Support: feature.Native, Source: grammar + "ipv6.xml; " + ansible + "sonic_l3_interfaces.py"},
	{ID: feature.RDMAEnable, Note: hostOnly},
	{ID: feature.RoCEv2, Note: hostOnly},
	{ID: feature.RoCEv1, Note: hostOnly},
	{ID: feature.IWARP, Note: hostOnly},
	{ID: feature.StormTimeout, Note: hostOnly},
	{ID: feature.VFs, Note: hostOnly},
	{ID: feature.NICMatch, Note: hostOnly},
	{ID: feature.HostMarks, Note: hostOnly},
	{ID: feature.HostDSCP, Note: hostOnly},
	{ID: feature.NetDirectMatch, Note: hostOnly},
	{ID: feature.TCPMatch, Note: hostOnly},
	{ID: feature.UDPMatch, Note: hostOnly},
	{ID: feature.CNPMark, Note: hostOnly},
	{ID: feature.DCQCN, Note: hostOnly},
	{ID: feature.ClusterClass, Note: hostOnly},
}}

// The versions that the documents speak of: the design is of 4.1, the listings
// are of releases up to 4.5.
var oldest, newest = targets.Release{Major: 4, Minor: 1}, targets.Release{Major: 4, Minor: 5}

// compare orders two versions for the feature table; what is none is the newest.
func compare(a, b string) int {
	of := func(v string) targets.Release {
		if r, ok := targets.ParseRelease(v); ok {
			return r
		}
		return newest
	}
	return of(a).Compare(of(b))
}
