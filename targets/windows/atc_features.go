package windows

import (
	"github.com/rocec/rocec/targets/feature"
)

// Sources of rows, by the names of the documents.
const (
	srcATC       = "windowsserverdocs networking/network-atc/network-atc"
	srcATCManage = "windowsserverdocs networking/network-atc/manage-network-atc"
	srcATCAdd    = "windows-powershell-docs NetworkATC/Add-NetIntent"
	srcATCAdapt  = "windows-powershell-docs NetworkATC/New-NetIntentAdapterPropertyOverrides"
	srcATCQoS    = "windows-powershell-docs NetworkATC/New-NetIntentQoSPolicyOverrides"
	srcATCSwitch = "windows-powershell-docs NetworkATC/New-NetIntentSwitchConfigurationOverrides"
	srcTransport = "AzureLocal-Supportability TSG/Networking, change of the storage RDMA transport"
	srcToR       = "AzureLocal-Supportability TSG/Networking/Top-Of-Rack-Switch/Reference-TOR-QOS-Policy-Configuration"
)

var atcFeatures = feature.Table{Rows: []feature.Row{
	{ID: feature.PortSpeed, Support: emulated, Note: "the NIC negotiates its speed; verify.ps1 compares it", Source: srcNetAdapter},
	{ID: feature.PortFEC, Note: "remove fec from this end: Windows has no setting for it, the NIC follows the switch", Source: srcNone},
	{ID: feature.PortBreakout, Note: "NIC ports are not split", Source: srcNone},
	{ID: feature.PortAutoneg, Note: "remove autoneg from this end: Windows has no setting for it above 10 Gbit/s", Source: srcKeywords},
	{ID: feature.PortAdmin, Support: emulated, Note: "an adapter of an intent must be up, and is not touched before it is; none can be shut", Source: srcATC},
	{ID: feature.PortMTU, Support: native, Note: "override JumboPacket, the IP MTU and 14 bytes of Ethernet header", Source: srcATCAdapt},
	{ID: feature.VLANTrunk, Support: native, Note: "StorageVlans, one for each adapter; a virtual switch passes the rest", Source: srcATCAdd},
	{ID: feature.VLANNative, Support: emulated, Note: "of a team, for its management network (ManagementVlan 0)", Source: srcATCAdd},
	{ID: feature.VLANMTU, Note: "write mtu on the nic", Source: srcNone},
	{ID: feature.TrustByDSCP, Note: `write trust = "pcp": Network ATC marks by 802.1p`, Source: srcATC},
	{ID: feature.TrustByPCP, Support: native, Source: srcATC},
	{ID: feature.TrustNothing, Note: `write trust = "pcp": Network ATC marks by 802.1p`, Source: srcATC},
	{ID: feature.DSCPMap, Note: "remove dscp_map: Network ATC writes no DSCP", Source: srcATC},
	{ID: feature.PCPMap, Support: emulated, Note: "PCP and priority are one on a NIC; others must share the traffic class", Source: srcDcbQos},
	{ID: feature.QueueMap, Support: native, Note: "one traffic class for SMB Direct, one for the cluster, [Default] for the rest; the number is the driver's", Source: srcATC},
	{ID: feature.GroupMap, Note: "remove group_map: drivers give every lossless priority its own receive buffer", Source: srcNone},
	{ID: feature.PFC, Support: native, Note: "on the priority of SMB Direct, and on no other", Source: srcToR},
	{ID: feature.PFCQueueMap, Note: "remove pfc_queue_map: a pause frame stops the traffic class of its priority", Source: srcNone},
	{ID: feature.DenyRoCEv2, Note: "write it for the switch: a host keeps nothing out of the fabric", Source: srcNone},
	{ID: feature.DenyRoCEv1, Note: "write it for the switch: a host keeps nothing out of the fabric", Source: srcNone},
	{ID: feature.GlobalPause, Note: "switch global_pause off: Network ATC uses PFC", Source: srcToR},
	{ID: feature.PauseOff, Support: native, Note: "override FlowControl 0", Source: srcATCAdapt},
	{ID: feature.ETS, Support: native, Note: "overrides BandwidthPercentage_SMB and _Cluster", Source: srcATCQoS},
	{ID: feature.Strict, Note: "write a bandwidth: the classes of Network ATC are ETS", Source: srcATC},
	{ID: feature.RateCap, Note: "remove max_rate: DCB traffic classes have no upper bound", Source: srcDcbQos},
	{ID: feature.ECN, Note: "mark ECN on the switch: a Windows host has no marking queue", Source: srcNone},
	{ID: feature.Watchdog, Note: "put the watchdog on the switch port", Source: srcNone},
	{ID: feature.WatchdogTimes, Note: "put the watchdog on the switch port", Source: srcNone},
	{ID: feature.DCBXOff, Support: emulated, Note: "Network ATC leaves hosts unwilling; verify.ps1 compares it", Source: srcToR},
	{ID: feature.DCBXAdvertise, Note: `write dcbx = "off": no cmdlet makes Windows advertise`, Source: srcDcbQos},
	{ID: feature.DCBXWilling, Note: `write dcbx = "off": Network ATC configures the host, not the switch`, Source: srcToR},
	{ID: feature.Rewrite, Note: "give the class the mark it shall have: a host has nothing to rewrite", Source: srcNone},
	{ID: feature.CableLength, Support: emulated, Note: "the driver sizes its receive buffer; verify.ps1 shows the length", Source: srcNone},
	{ID: feature.Headroom, Note: "remove headroom: the driver sizes its receive buffer", Source: srcNone},
	{ID: feature.SharedBuffer, Note: "a host has no shared packet buffer", Source: srcNone},
	{ID: feature.HeadroomPool, Note: "a host has no shared packet buffer", Source: srcNone},
	{ID: feature.Alpha, Note: "a host has no shared packet buffer", Source: srcNone},
	{ID: feature.HashFunction, Note: "write it for the switch; a host spreads no flows over links of equal cost", Source: srcNone},
	{ID: feature.HashSeed, Note: "write it for the switch; a host spreads no flows over links of equal cost", Source: srcNone},
	{ID: feature.ARPTimeout, Note: "write it for the switch", Source: srcNone},
	{ID: feature.MACTimeout, Note: "write it for the switch", Source: srcNone},
	{ID: feature.LAGLACP, Note: `write mode = "set": the switch of Network ATC is a SET team`, Source: srcHost},
	{ID: feature.LAGStatic, Note: `write mode = "set": the switch of Network ATC is a SET team`, Source: srcHost},
	{ID: feature.LAGActiveBkp, Note: `write mode = "set": the switch of Network ATC is a SET team`, Source: srcHost},
	{ID: feature.LAGSet, Support: native, Note: "a compute intent; Network ATC names the switch", Source: srcATC},
	{ID: feature.LAGRate, Note: "remove rate: a SET team speaks no LACP", Source: srcHyperV},
	{ID: feature.LAGHash, Note: "remove hash_policy: a SET team balances by Hyper-V port", Source: srcATCSwitch},
	{ID: feature.MLAG, Note: "a SET team is independent of the switches", Source: srcHost},
	{ID: feature.SVI, Note: "an SVI is a switch's", Source: srcNone},
	{ID: feature.RoutedPort, Note: "put the address on the nic, or on an interface of a bond", Source: srcNone},
	{ID: feature.LoopbackIface, Note: "put the address on a nic", Source: srcNone},
	{ID: feature.HostAddress, Support: native, Note: "automatic addresses are switched off where storage addresses are written", Source: srcATC},
	{ID: feature.VLANDevice, Note: `Windows has no VLAN devices: use one segment per nic, or a bond of mode "set" and its interfaces`, Source: srcNone},
	{ID: feature.HostVNIC, Support: native, Note: "named by Network ATC: vSMB(bond#nic) for RDMA, vManagement(bond) for the other", Source: srcATC},
	{ID: feature.VNICPin, Support: native, Note: "one vNIC with RDMA for each adapter", Source: srcATC},
	{ID: feature.Gateway, Support: emulated, Note: "of the management network: Network ATC takes over what the adapter has; storage has none", Source: srcATC},
	{ID: feature.VRF, Note: "remove vrf: Windows hosts have no VRFs", Source: srcNone},
	{ID: feature.IPv6, Note: "write IPv4 addresses: nothing is documented of IPv6 on networks of Network ATC", Source: srcATC},
	{ID: feature.RDMAEnable, Support: native, Note: "override NetworkDirect", Source: srcATCAdapt},
	{ID: feature.RoCEv2, Support: native, Note: "override NetworkDirectTechnology 4", Source: srcTransport},
	{ID: feature.RoCEv1, Note: `write roce_mode = "v2": storage runs iWARP or RoCE v2`, Source: srcTransport},
	{ID: feature.IWARP, Support: native, Note: "override NetworkDirectTechnology 1", Source: srcTransport},
	{ID: feature.StormTimeout, Note: stormNote, Source: srcNone},
	{ID: feature.VFs, Note: "remove vfs: SR-IOV belongs to the virtual machines' tools", Source: srcNone},
	{ID: feature.NICMatch, Support: native, Note: "found by PCI address or permanent MAC, and renamed before an intent owns it", Source: srcNetAdapter},
	{ID: feature.HostMarks, Support: native, Source: srcATC},
	{ID: feature.HostDSCP, Note: "remove dscp from the class: Network ATC marks by 802.1p", Source: srcATC},
	{ID: feature.NetDirectMatch, Support: native, Note: "override NetDirectPortMatchCondition", Source: srcATCQoS},
	{ID: feature.TCPMatch, Note: "remove the class: Network ATC has SMB Direct, the cluster and the rest", Source: srcATC},
	{ID: feature.UDPMatch, Note: "remove the class: Network ATC has SMB Direct, the cluster and the rest", Source: srcATC},
	{ID: feature.CNPMark, Note: "remove the class, or its mark from this node's qos: only vendor tools set the mark of CNPs on Windows", Source: srcNone},
	{ID: feature.DCQCN, Note: `remove congestion_control = "dcqcn" for Windows nodes: only vendor tools set it, ecn needs nothing on the host`, Source: srcNone},
	{ID: feature.ClusterClass, Support: native, Source: srcATC},
}}
