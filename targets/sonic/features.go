package sonic

import (
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/feature"
)

// Sources of the feature table.
const (
	yang     = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/"
	template = "sonic-net/sonic-buildimage files/build_templates/qos_config.j2"
	hostOnly = "a setting of hosts; switches have none"
)

var features = feature.Table{Compare: compare, Rows: []feature.Row{
	{ID: feature.PortSpeed, Support: feature.Native, Source: yang + "sonic-port.yang speed"},
	{ID: feature.PortFEC, Support: feature.Native, Source: yang + "sonic-port.yang fec"},
	{
		ID: feature.PortBreakout, Support: feature.Native,
		Note:   "config interface breakout, in a script of its own for a maintenance window; modes, lanes and aliases are data of the switch model",
		Source: "sonic-net/sonic-utilities config/main.py and config/config_mgmt.py; sonic-net/sonic-buildimage platform.json, sonic-config-engine portconfig.py",
	},
	{ID: feature.PortAutoneg, Support: feature.Native, Source: yang + "sonic-port.yang autoneg"},
	{ID: feature.PortAdmin, Support: feature.Native, Source: yang + "sonic-port.yang admin_status"},
	{ID: feature.PortMTU, Support: feature.Native, Source: "sonic-swss orchagent/portsorch.cpp: PORT mtu is the IP MTU, 22 bytes of headers are added for SAI"},
	{ID: feature.VLANTrunk, Support: feature.Native, Source: yang + "sonic-vlan.yang VLAN_MEMBER tagging_mode"},
	{ID: feature.VLANNative, Support: feature.Native, Source: yang + "sonic-vlan.yang VLAN_MEMBER tagging_mode"},
	{ID: feature.VLANMTU, Support: feature.Native, Source: yang + "sonic-vlan.yang VLAN mtu"},
	{
		ID: feature.DenyRoCEv2, Support: feature.Native, Note: "ACL tables of the types L3 and L3V6 of rocec's own, for UDP port 4791",
		Source: "sonic-net/sonic-buildimage src/sonic-yang-models/yang-templates/sonic-acl.yang.j2; sonic-net/sonic-swss orchagent/aclorch.cpp; sonic-net/sonic-utilities acl_loader/main.py",
	},
	{
		ID: feature.DenyRoCEv1, Support: feature.Native, Note: "an ACL table of the type L3 of rocec's own, for the EtherType 0x8915",
		Source: "sonic-net/sonic-swss orchagent/aclorch.cpp; sonic-net/sonic-utilities acl_loader/main.py ETHERTYPE_ROCE",
	},
	{ID: feature.TrustByDSCP, Support: feature.Native, Source: template + ": dscp_to_tc_map bound to the port"},
	{ID: feature.TrustByPCP, Support: feature.Native, Source: template + ": storage back-end switches bind dot1p_to_tc_map alone"},
	{ID: feature.TrustNothing, Support: feature.Emulated, Note: "a DSCP map of its own that gives every mark the same traffic class", Source: yang + "sonic-dscp-tc-map.yang"},
	{ID: feature.DSCPMap, Support: feature.Native, Source: yang + "sonic-dscp-tc-map.yang"},
	{ID: feature.PCPMap, Support: feature.Native, Source: yang + "sonic-dot1p-tc-map.yang"},
	{ID: feature.QueueMap, Support: feature.Native, Source: yang + "sonic-tc-queue-map.yang"},
	{ID: feature.GroupMap, Support: feature.Native, Source: yang + "sonic-tc-priority-group-map.yang"},
	{ID: feature.PFC, Support: feature.Native, Source: yang + "sonic-port-qos-map.yang pfc_enable"},
	{ID: feature.PFCQueueMap, Support: feature.Native, Source: yang + "sonic-pfc-priority-queue-map.yang"},
	{ID: feature.GlobalPause, Support: feature.Refused, Note: "ConfigDB has no table for 802.3x pause; use PFC", Source: yang + "sonic-port.yang has no such leaf"},
	{ID: feature.PauseOff, Support: feature.Emulated, Note: "nothing is written: no setting of SONiC switches 802.3x pause on", Source: yang + "sonic-port.yang has no such leaf"},
	{ID: feature.ETS, Support: feature.Native, Note: "1 percent at least", Source: yang + "sonic-scheduler.yang type DWRR, weight"},
	{ID: feature.Strict, Support: feature.Native, Source: yang + "sonic-scheduler.yang type STRICT"},
	{
		ID: feature.RateCap, Support: feature.Refused,
		Note:   "leave max_rate out: the model of images up to 202605 takes pir only with a guarantee (cir), which is another scheduler",
		Source: yang + "sonic-scheduler.yang; sonic-buildimage#29314",
	},
	{ID: feature.ECN, Support: feature.Native, Source: yang + "sonic-wred-profile.yang"},
	{ID: feature.Watchdog, Support: feature.Native, Source: yang + "sonic-pfcwd.yang; sonic-utilities pfcwd/main.py"},
	{ID: feature.WatchdogTimes, Support: feature.Native, Source: yang + "sonic-pfcwd.yang"},
	{ID: feature.DCBXOff, Support: feature.Native, Note: "nothing is written: SONiC sends no DCBX TLVs", Source: yang + "sonic-lldp.yang"},
	{ID: feature.DCBXAdvertise, Support: feature.Refused, Note: `write dcbx = "off" and configure the hosts: SONiC sends no DCBX TLVs`, Source: yang + "sonic-lldp.yang"},
	{ID: feature.DCBXWilling, Support: feature.Refused, Note: `write dcbx = "off": SONiC reads no DCBX TLVs`, Source: yang + "sonic-lldp.yang"},
	{
		ID: feature.Rewrite, Support: feature.Native, Since: "202411",
		Note:   "older images have no model of it, and with it in ConfigDB the config updater refuses every change",
		Source: yang + "sonic-tc-dscp-map.yang and sonic-port-qos-map.yang tc_to_dscp_map (sonic-buildimage#21395)",
	},
	{ID: feature.CableLength, Support: feature.Native, Source: yang + "sonic-cable-length.yang; whole metres, on the traditional model the lengths of pg_profile_lookup.ini"},
	{ID: feature.Headroom, Support: feature.Native, Note: "as a BUFFER_PROFILE, in the maintenance files", Source: "sonic-swss cfgmgr/buffermgr.cpp and buffermgrdyn.cpp"},
	{ID: feature.SharedBuffer, Support: feature.Native, Note: "size of ingress_lossless_pool, in the maintenance files", Source: yang + "sonic-buffer-pool.yang"},
	{ID: feature.HeadroomPool, Support: feature.Native, Note: "xoff of ingress_lossless_pool, in the maintenance files", Source: yang + "sonic-buffer-pool.yang"},
	{ID: feature.Alpha, Support: feature.Native, Note: "default_dynamic_th on the dynamic model, dynamic_th of written headroom", Source: yang + "sonic-default-lossless-buffer-parameter.yang"},
	{
		ID: feature.HashFunction, Support: feature.Native, Since: "202405",
		Note:   "SWITCH_HASH|GLOBAL ecmp_hash_algorithm, where the switch reports that it can",
		Source: yang + "sonic-hash.yang (sonic-buildimage#17079); sonic-net/SONiC doc/hash/hash-design.md",
	},
	{
		ID: feature.HashSeed, Support: feature.Refused,
		Note:   "leave seed out: up to 202605 the image takes it from the type of the switch (DEVICE_METADATA) when it starts, and ConfigDB has no field for it",
		Source: "sonic-net/sonic-buildimage dockers/docker-orchagent/switch.json.j2, #21335, #25441; sonic-net/SONiC doc/hash/hash-design.md",
	},
	{
		ID: feature.ARPTimeout, Support: feature.Refused,
		Note:   "leave arp_timeout out: the image sets the kernel's base_reachable_time_ms to half an hour, and ConfigDB has no field for it",
		Source: "sonic-net/sonic-buildimage files/image_config/sysctl/90-sonic.conf, src/sonic-yang-models/yang-models at 086b03bd",
	},
	{
		ID: feature.MACTimeout, Support: feature.Refused,
		Note:   "leave mac_timeout out: the image sets fdb_aging_time to 600 s when it starts, and ConfigDB has no field for it",
		Source: "sonic-net/sonic-buildimage dockers/docker-orchagent/switch.json.j2, src/sonic-yang-models/yang-models at 086b03bd; sonic-net/sonic-utilities at 691b1bbc has show mac aging-time only",
	},
	{ID: feature.LAGLACP, Support: feature.Native, Source: yang + "sonic-portchannel.yang"},
	{ID: feature.LAGStatic, Support: feature.Refused, Note: `write mode = "lacp": teammgrd starts LACP on every PortChannel`, Source: "sonic-swss cfgmgr/teammgr.cpp"},
	{ID: feature.LAGActiveBkp, Support: feature.Refused, Note: "a mode of host bonds", Source: "sonic-swss cfgmgr/teammgr.cpp"},
	{ID: feature.LAGSet, Support: feature.Refused, Note: "a mode of Windows teams", Source: "sonic-swss cfgmgr/teammgr.cpp"},
	{ID: feature.LAGRate, Support: feature.Native, Since: "202305", Source: "sonic-swss cfgmgr/teammgr.cpp and sonic-utilities config/main.py: fast_rate"},
	{ID: feature.LAGHash, Support: feature.Refused, Note: "leave hash_policy out: SWITCH_HASH holds one hash for the whole switch", Source: yang + "sonic-hash.yang"},
	{ID: feature.MLAG, Support: feature.Native, Note: "needs an image built with ICCPd", Source: yang + "sonic-mclag.yang; sonic-utilities config/mclag.py"},
	{ID: feature.SVI, Support: feature.Native, Source: yang + "sonic-vlan.yang VLAN_INTERFACE"},
	{ID: feature.RoutedPort, Support: feature.Native, Source: yang + "sonic-interface.yang"},
	{ID: feature.LoopbackIface, Support: feature.Native, Source: yang + "sonic-loopback-interface.yang"},
	{ID: feature.HostAddress, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.VLANDevice, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.HostVNIC, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.VNICPin, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.Gateway, Support: feature.Refused, Note: hostOnly + "; the switch has the address itself", Source: yang},
	{ID: feature.VRF, Support: feature.Native, Source: yang + "sonic-vrf.yang"},
	{ID: feature.IPv6, Support: feature.Native, Source: yang + "sonic-interface.yang ip-prefix"},
	{ID: feature.RDMAEnable, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.RoCEv2, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.RoCEv1, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.IWARP, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.StormTimeout, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.VFs, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.NICMatch, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.HostMarks, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.HostDSCP, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.NetDirectMatch, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.TCPMatch, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.UDPMatch, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.CNPMark, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.DCQCN, Support: feature.Refused, Note: hostOnly, Source: yang},
	{ID: feature.ClusterClass, Support: feature.Refused, Note: hostOnly, Source: yang},
}}

// oldest is the first branch whose tables were read: pfcwd_sw_enable and the
// switch-wide DSCP map came with it, and no older one has the field validators.
const oldest = "202205"

// emptySets reports whether the models of the image take "" for no priority in
// pfc_enable and pfcwd_sw_enable (sonic-buildimage#22252, since 202505). Older
// ones have none by leaving the field out, which is the same to orchagent on every
// branch; the buffer manager of the traditional model does not see it go, though,
// and makes the lossless groups anew whenever the row of the port is written, until it
// starts anew itself (buffermgr.cpp, doPortQosTableTask): apply.sh takes them away.
func emptySets(d *intent.Device) bool { return compare(d.OS.Version, "202505") >= 0 }

// compare orders two branches. "master", "" and what is no branch count as the newest.
func compare(a, b string) int { return branch(a) - branch(b) }

const newest = 999999

func branch(v string) int {
	year, _, _ := strings.Cut(v, ".")
	n, err := strconv.Atoi(year)
	if err != nil || len(year) != 6 {
		return newest
	}
	return n
}
