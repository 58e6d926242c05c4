package cumulus

import "github.com/rocec/rocec/targets/feature"

// Sources of the feature table: pages of the user guide, in
// CumulusNetworks/docs content/cumulus-linux-59 to 516, and the NVUE command
// reference beside them.
const (
	guideQoS  = "Cumulus Linux user guide, Quality of Service, "
	guideLink = "Cumulus Linux user guide, Switch Port Attributes, "
	guideVLAN = "Cumulus Linux user guide, VLAN-aware Bridge Mode, "
	guideBond = "Cumulus Linux user guide, Bonding - Link Aggregation"
	guideMLAG = "Cumulus Linux user guide, Multi-Chassis Link Aggregation - MLAG"
	guideECMP = "Cumulus Linux user guide, Equal Cost Multipath Load Sharing"
	guideLLDP = "Cumulus Linux user guide, Link Layer Discovery Protocol, LLDP DCBX TLVs"
	guideVRF  = "Cumulus Linux user guide, Virtual Routing and Forwarding - VRF"
	guideACL  = "Cumulus Linux user guide, Access Control List Configuration, Install and Manage ACL Rules with NVUE"
	reference = "NVUE command reference, nv set "
	hostOnly  = "a setting of hosts; switches have none"
)

var features = feature.Table{Compare: compare, Rows: []feature.Row{
	{ID: feature.PortSpeed, Support: feature.Native, Source: guideLink + "Auto-negotiation and Link Speed"},
	{
		ID: feature.PortFEC, Support: feature.Native, Note: "wanted of a port of 25G or 100G that does not negotiate: its link stays down with the fec that it has by itself",
		Source: guideLink + "Enable or Disable FEC; Considerations, Auto-negotiation and FEC",
	},
	{ID: feature.PortBreakout, Support: feature.Native, Source: guideLink + "Configure a Breakout Port"},
	{
		ID: feature.PortAutoneg, Support: feature.Native, Note: "before 5.14 not beside a speed of the port, which ends negotiation",
		Source: guideLink + "Auto-negotiation and Link Speed",
	},
	{ID: feature.PortAdmin, Support: feature.Native, Source: reference + "interface <interface-id> link state"},
	{ID: feature.PortMTU, Support: feature.Native, Source: guideLink + "MTU: 552 to 9216, that of Linux, without the frame's header"},
	{ID: feature.VLANTrunk, Support: feature.Native, Source: guideVLAN + "VLAN Pruning and Drop Untagged Frames"},
	{ID: feature.VLANNative, Support: feature.Native, Source: guideVLAN + "Access Ports and Tagged Packets"},
	{
		ID: feature.VLANMTU, Support: feature.Emulated,
		Note:   "on the VLAN's own interface where the switch has one; the bridge takes what its ports take, so no port of the VLAN may have a smaller one",
		Source: guideLink + "Bridge MTU",
	},
	{
		ID: feature.DenyRoCEv2, Support: feature.Native, Note: "two lists of rocec's own, for UDP port 4791 over IPv4 and IPv6; they take room in the TCAM, where atomic mode leaves half of it",
		Source: guideACL + ", 5.14; " + reference + "interface <interface-id> acl <acl-id> inbound",
	},
	{
		ID: feature.DenyRoCEv1, Note: `write deny = ["roce_v2"] and keep the RDMA VLAN off the port, which no router carries RoCEv1 past: NVUE matches no EtherType but those of IP and ARP`,
		Source: reference + "acl <acl-id> rule <rule-id> match mac protocol",
	},
	{ID: feature.TrustByDSCP, Support: feature.Native, Source: guideQoS + "Trust DSCP"},
	{ID: feature.TrustByPCP, Support: feature.Native, Source: guideQoS + "Trust 802.1p Marking"},
	{ID: feature.TrustNothing, Support: feature.Native, Source: guideQoS + "Trust Port"},
	{ID: feature.DSCPMap, Support: feature.Native, Source: guideQoS + "Trust DSCP"},
	{ID: feature.PCPMap, Support: feature.Native, Source: guideQoS + "Trust 802.1p Marking"},
	{ID: feature.QueueMap, Support: feature.Native, Note: "one for the whole switch", Source: guideQoS + "Egress Queues: NVUE only supports default-global"},
	{
		ID: feature.GroupMap, Support: feature.Emulated,
		Note:   "switchd gives each priority with PFC a lossless group of its own and leaves the others in the lossy one (bulk); other groups are refused",
		Source: guideQoS + "Traffic Pools and Flow Control Buffers",
	},
	{
		ID: feature.PFC, Support: feature.Native,
		Note:   "nv set qos roce where it says just what the source does, else profiles, with the mode off; the mode is that of every port, declared or not, and a plan from the switch's configuration names those that get or lose it",
		Source: guideQoS + "Priority Flow Control (PFC); RDMA over Converged Ethernet - RoCE",
	},
	{
		ID: feature.PFCQueueMap, Support: feature.Emulated,
		Note:   "a received pause stops the queue that the priority is mapped to; another map is refused",
		Source: guideQoS + "Priority Flow Control (PFC) and Egress Queues",
	},
	{ID: feature.GlobalPause, Note: "use PFC: link pause stops every class of the port, and the two exclude each other", Source: guideQoS + "Link Pause"},
	{ID: feature.PauseOff, Support: feature.Emulated, Note: "nothing is written: no port has a link-pause profile by itself; a plan from the switch's configuration unsets one", Source: guideQoS + "Link Pause"},
	{ID: feature.ETS, Support: feature.Native, Note: "0 percent: the class is left out of the scheduler, which gives it the weight 0", Source: guideQoS + "Egress Scheduler"},
	{ID: feature.Strict, Support: feature.Native, Source: guideQoS + "Egress Scheduler"},
	{ID: feature.RateCap, Support: feature.Native, Source: guideQoS + "Shaping: max-rate in kbit/s"},
	{ID: feature.ECN, Support: feature.Native, Source: guideQoS + "Congestion Control (ECN)"},
	{ID: feature.Watchdog, Support: feature.Native, Source: guideQoS + "PFC Watchdog"},
	{
		ID: feature.WatchdogTimes, Support: feature.Native,
		Note: "one for the whole switch: polling interval times robustness; there is no restoration time, and no action but to drop, which it always does", Source: guideQoS + "PFC Watchdog",
	},
	{ID: feature.DCBXOff, Support: feature.Native, Source: guideLLDP},
	{ID: feature.DCBXAdvertise, Support: feature.Native, Note: "the PFC, ETS and ETS recommendation TLVs of IEEE 802.1Q", Source: guideLLDP},
	{ID: feature.DCBXWilling, Note: `write dcbx = "advertise": Cumulus sends TLVs and follows none`, Source: guideLLDP},
	{ID: feature.Rewrite, Support: feature.Native, Note: "on every port or on none: the port of ingress decides whether a mark is rewritten", Source: guideQoS + "Remarking"},
	{ID: feature.CableLength, Support: feature.Native, Note: "whole metres, of ports with PFC", Source: reference + "qos pfc <profile-id> cable-length: 1 to 100000"},
	{
		ID:     feature.Headroom,
		Note:   "leave headroom out and write the cable: switchd computes the headroom from it, and the guide and the reference disagree on what port-buffer and xoff-threshold count",
		Source: guideQoS + "PFC; " + reference + "qos pfc <profile-id> port-buffer",
	},
	{ID: feature.SharedBuffer, Note: "leave it out: pools are sized in percent of the memory, half for lossless traffic", Source: guideQoS + "Traffic Pools"},
	{ID: feature.HeadroomPool, Note: "leave it out: a shared headroom pool came with 5.17", Source: reference + "qos advance-buffer-config <profile-id> shared-headroom"},
	{ID: feature.Alpha, Support: feature.Native, Source: guideQoS + "Advanced Buffer Tuning, Buffer Regions"},
	{ID: feature.HashFunction, Note: "leave function out: NVUE chooses the fields that are hashed, not the function over them", Source: guideECMP},
	{ID: feature.HashSeed, Support: feature.Native, Note: "setting it restarts switchd: every port goes down", Source: guideECMP + ", Unique Hash Seed; " + reference + "system forwarding hash-seed: 0 to 4294967295, since 5.2"},
	{
		ID: feature.ARPTimeout, Note: "leave arp_timeout out: NVUE sets static entries only; the time is the kernel's base_reachable_time_ms, 18 minutes since 3.4",
		Source: reference + "interface neighbor, since 5.7; Cumulus knowledge base, Changing ARP timers in Cumulus Linux",
	},
	{ID: feature.MACTimeout, Support: feature.Native, Note: "ageing of the bridge, up to 65535 s", Source: reference + "bridge domain ageing: 0 to 65535, since 5.5"},
	{ID: feature.LAGLACP, Support: feature.Native, Source: guideBond},
	{ID: feature.LAGStatic, Support: feature.Native, Source: guideBond},
	{ID: feature.LAGActiveBkp, Note: "a mode of host bonds", Source: guideBond},
	{ID: feature.LAGSet, Note: "a mode of Windows teams", Source: guideBond},
	{ID: feature.LAGRate, Support: feature.Native, Source: reference + "interface <interface-id> bond lacp-rate"},
	{ID: feature.LAGHash, Note: "leave hash_policy out: system forwarding lag-hash is one for the whole switch", Source: guideBond + ", Custom Hashing"},
	{ID: feature.MLAG, Support: feature.Native, Source: guideMLAG},
	{ID: feature.SVI, Support: feature.Native, Source: guideVLAN + "VLAN Layer 3 Addressing"},
	{ID: feature.RoutedPort, Support: feature.Native, Source: reference + "interface <interface-id> ip address"},
	{ID: feature.LoopbackIface, Support: feature.Native, Source: reference + "interface <interface-id> ip address, on lo"},
	{ID: feature.HostAddress, Note: hostOnly},
	{ID: feature.VLANDevice, Note: hostOnly},
	{ID: feature.HostVNIC, Note: hostOnly},
	{ID: feature.VNICPin, Note: hostOnly},
	{ID: feature.Gateway, Note: hostOnly + "; the switch has the address itself"},
	{ID: feature.VRF, Support: feature.Native, Source: guideVRF},
	{ID: feature.IPv6, Support: feature.Native, Source: guideVLAN + "VLAN Layer 3 Addressing"},
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
