package linux

import "github.com/rocec/rocec/targets/feature"

// Notes and sources that several rows share.
const (
	laterNote   = "leave it to another tool; this target does not write it"
	switchNote  = "write it for the switch; an adapter has no such setting"
	stormNote   = "write it for the switch: a watchdog there ends the pauses of a queue; that a NIC stops pausing is its pause_storm_timeout"
	dcbnl       = "Linux mlx5/core/en_dcbnl.c, bnxt/bnxt_dcb.c, ice/ice_dcb_nl.c"
	noHostDCB   = "qede and cxgb4 take DCB from the switch only"
	netplanRef  = "netplan(5)"
	ethtoolRef  = "ethtool(8)"
	cmaConfigfs = "Linux drivers/infiniband/core/cma_configfs.c"
)

// table is what this target can say. Versions are no matter here: the systems
// it serves all have what it needs (limits refuses older ones).
var table = feature.Table{
	Compare: compareVersions,
	Rows: []feature.Row{
		{ID: feature.PortSpeed, Support: feature.Emulated, Note: "compared with the link; forced only where autonegotiation is off", Source: ethtoolRef},
		{ID: feature.PortBreakout, Note: "NIC ports are not split", Source: ethtoolRef},
		{ID: feature.PortFEC, Support: feature.Native, Note: "not on qede and cxgb4, which do not show what they were told", Source: ethtoolRef + "; Linux ice/ice_ethtool.c, bnxt/bnxt_ethtool.c"},
		{ID: feature.PortAutoneg, Support: feature.Native, Source: ethtoolRef},
		{ID: feature.PortAdmin, Support: feature.Native, Source: netplanRef + ", activation-mode; ip-link(8)"},
		{ID: feature.PortMTU, Support: feature.Native, Source: netplanRef},
		{ID: feature.VLANTrunk, Support: feature.Native, Note: "one VLAN device or the virtual functions for each tagged VLAN", Source: netplanRef + ", vlans"},
		{ID: feature.VLANNative, Support: feature.Emulated, Note: "a host sends untagged; the script checks that nothing tags the same VLAN", Source: "Linux net/8021q/vlanproc.c"},
		{ID: feature.VLANMTU, Note: "write the MTU at the VLAN device", Source: netplanRef},
		{ID: feature.TrustByDSCP, Support: feature.Native, Note: noHostDCB, Source: dcbnl},
		{ID: feature.TrustByPCP, Support: feature.Native, Note: noHostDCB, Source: dcbnl},
		{ID: feature.TrustNothing, Note: `write trust = "dscp" or "pcp"; adapters have no third state`, Source: dcbnl},
		{ID: feature.DSCPMap, Support: feature.Native, Source: dcbnl + ", dcb-app(8)"},
		{ID: feature.PCPMap, Support: feature.Native, Note: "adapters take the PCP as the priority; only that map is accepted", Source: dcbnl},
		{ID: feature.QueueMap, Support: feature.Native, Note: "bnxt and an E810 that trusts DSCP number the classes in ways of their own; the same priorities get the same shares there", Source: "dcb-ets(8); Linux ice/ice_dcb_nl.c"},
		{ID: feature.GroupMap, Note: "leave it out: an adapter chooses the receive buffer of a priority by itself", Source: "Linux mlx5/core/en/port_buffer.c"},
		{ID: feature.PFC, Support: feature.Native, Note: "one lossless class on an E810; on bnxt as many as the profile in NVRAM has", Source: "dcb-pfc(8); Intel 635330; Linux bnxt/bnxt_dcb.c"},
		{ID: feature.PFCQueueMap, Note: "leave it out: a received PFC frame stops the priority it names", Source: dcbnl},
		{ID: feature.DenyRoCEv2, Note: switchNote, Source: ethtoolRef},
		{ID: feature.DenyRoCEv1, Note: switchNote, Source: ethtoolRef},
		{ID: feature.GlobalPause, Support: feature.Native, Source: ethtoolRef},
		{ID: feature.PauseOff, Support: feature.Native, Source: ethtoolRef},
		{ID: feature.ETS, Support: feature.Native, Note: "0 percent on mlx5 only, which serves such a class after all others; bnxt rejects it", Source: "dcb-ets(8), " + dcbnl},
		{ID: feature.Strict, Support: feature.Native, Source: "dcb-ets(8), " + dcbnl},
		{ID: feature.RateCap, Support: feature.Native, Note: `on mlx5 with qos_tool = "mlnx_qos", in whole Gbit/s`, Source: "Mellanox/mlnx-tools python/mlnx_qos"},
		{ID: feature.ECN, Note: switchNote, Source: dcbnl},
		{ID: feature.Watchdog, Note: stormNote, Source: ethtoolRef + ", --set-tunable; Linux mlx5/core/en_ethtool.c"},
		{ID: feature.WatchdogTimes, Note: stormNote, Source: ethtoolRef + ", --set-tunable; Linux mlx5/core/en_ethtool.c"},
		{ID: feature.DCBXOff, Support: feature.Native, Note: "on an E810 the LLDP agent of the firmware goes off first", Source: dcbnl + ", dcb-dcbx(8); README of Intel's ice driver"},
		{ID: feature.DCBXAdvertise, Note: `write dcbx = { mode = "off" }: one owner sets a port, and lldpad is not covered`, Source: "lldptool(8)"},
		{ID: feature.DCBXWilling, Note: `write dcbx = { mode = "off" }: a willing port takes the switch's settings instead of these`, Source: dcbnl},
		{ID: feature.Rewrite, Note: switchNote, Source: "dcb-rewr(8): no such operation in " + dcbnl},
		{ID: feature.CableLength, Support: feature.Native, Note: "on mlx5, in metres, as the delay of PFC", Source: "Linux mlx5/core/en/port_buffer.c"},
		{ID: feature.Headroom, Note: "leave it out: adapters compute their buffers, mlx5 from the length of the cable", Source: "Linux mlx5/core/en/port_buffer.c"},
		{ID: feature.SharedBuffer, Note: switchNote, Source: dcbnl},
		{ID: feature.HeadroomPool, Note: switchNote, Source: dcbnl},
		{ID: feature.Alpha, Note: switchNote, Source: dcbnl},
		{ID: feature.HashFunction, Note: switchNote, Source: dcbnl},
		{ID: feature.HashSeed, Note: switchNote, Source: dcbnl},
		{ID: feature.ARPTimeout, Note: switchNote, Source: dcbnl},
		{ID: feature.MACTimeout, Note: switchNote, Source: dcbnl},
		{ID: feature.LAGLACP, Support: feature.Native, Source: netplanRef + ", bonds; NVIDIA RoCE LAG"},
		{ID: feature.LAGStatic, Support: feature.Native, Note: "balance-xor", Source: netplanRef + ", bonds; NVIDIA RoCE LAG"},
		{ID: feature.LAGActiveBkp, Support: feature.Native, Source: netplanRef + ", bonds; NVIDIA RoCE LAG"},
		{ID: feature.LAGSet, Note: `write mode = "lacp", "static" or "active_backup": switch-embedded teaming is of Windows`, Source: netplanRef + ", bonds"},
		{ID: feature.LAGRate, Support: feature.Native, Source: netplanRef + ", lacp-rate"},
		{ID: feature.LAGHash, Support: feature.Native, Source: netplanRef + ", transmit-hash-policy"},
		{ID: feature.MLAG, Support: feature.Emulated, Note: "a bond over an MLAG pair is an ordinary LACP bond; verify.sh checks that both legs are in one aggregator", Source: "Linux Documentation/networking/bonding.rst"},
		{ID: feature.SVI, Note: "write a VLAN device", Source: netplanRef},
		{ID: feature.RoutedPort, Note: "write the address at the port of the host", Source: netplanRef},
		{ID: feature.LoopbackIface, Note: laterNote, Source: netplanRef},
		{ID: feature.HostAddress, Support: feature.Native, Source: netplanRef},
		{ID: feature.VLANDevice, Support: feature.Native, Source: netplanRef + ", vlans; systemd.netdev(5)"},
		{ID: feature.HostVNIC, Note: "write a VLAN device: virtual NICs of the host are of Hyper-V", Source: netplanRef},
		{ID: feature.VNICPin, Note: "leave it out: only virtual NICs of Hyper-V have it", Source: netplanRef},
		{ID: feature.Gateway, Support: feature.Native, Note: "as a routing table and a rule for each interface", Source: netplanRef + ", routing-policy"},
		{ID: feature.VRF, Note: laterNote, Source: netplanRef + ", vrfs"},
		{ID: feature.IPv6, Support: feature.Native, Source: netplanRef},
		{ID: feature.RDMAEnable, Support: feature.Emulated, Note: "checked: the RDMA device of the port must exist", Source: "rdma-link(8)"},
		{ID: feature.RoCEv2, Support: feature.Native, Source: cmaConfigfs},
		{ID: feature.RoCEv1, Support: feature.Native, Source: cmaConfigfs},
		{ID: feature.IWARP, Support: feature.Emulated, Note: "checked on qede and cxgb4, chosen by devlink on ice; mlx5, bnxt and rxe have none", Source: "Linux drivers/infiniband/core/sysfs.c, node_type; ice devlink parameters enable_roce and enable_iwarp"},
		{
			ID: feature.StormTimeout, Support: feature.Native,
			Note:   "on mlx5, 80 ms to 8 s or off, where the firmware has stall detection; not on other adapters",
			Source: ethtoolRef + ", --set-tunable pfc-prevention-tout; Linux mlx5/core/en_ethtool.c since 4.17 (2afa609f5c97)",
		},
		{ID: feature.VFs, Support: feature.Native, Source: netplanRef + ", virtual-function-count; ip-link(8)"},
		{ID: feature.NICMatch, Support: feature.Native, Source: netplanRef + ", match; systemd.link(5), Path="},
		{ID: feature.HostMarks, Support: feature.Native, Source: cmaConfigfs},
		{ID: feature.HostDSCP, Support: feature.Native, Note: "as the default TOS of rdma_cm, and in a file of variables for applications", Source: cmaConfigfs + "; NVIDIA NCCL user guide; openucx/ucx"},
		{ID: feature.NetDirectMatch, Note: "remove the match: netdirect_port is a condition of Windows NetQos", Source: cmaConfigfs},
		{ID: feature.TCPMatch, Note: "remove the match: let the application mark its sockets", Source: cmaConfigfs},
		{ID: feature.UDPMatch, Note: "remove the match: RoCE is marked by rdma_cm, other traffic by its application", Source: cmaConfigfs},
		{ID: feature.CNPMark, Support: feature.Native, Note: "on mlx5 and bnxt; of irdma no source tells", Source: "Linux drivers/infiniband/hw/mlx5/cong.c, hw/bnxt_re/debugfs.c; MLNX_OFED documentation; Broadcom bnxt_setupcc.sh"},
		{ID: feature.DCQCN, Support: feature.Native, Note: "on mlx5, bnxt and ice", Source: "MLNX_OFED documentation; mstflint ROCE_CC_PRIO_MASK; Broadcom bnxt_setupcc.sh; README of Intel's irdma driver"},
		{ID: feature.ClusterClass, Note: "leave the class to Windows hosts: on Linux no program carries a cluster class", Source: cmaConfigfs},
	},
}
