package windows

import (
	"cmp"
	"math"
	"strconv"

	"github.com/rocec/rocec/targets/feature"
)

const (
	native   = feature.Native
	emulated = feature.Emulated
)

const stormNote = "remove it: Windows has no standardised keyword for it, and what a driver offers differs by maker and version"

// Sources of rows, by the names of the documents.
const (
	srcNetAdapter = "windows-powershell-docs NetAdapter"
	srcNetQos     = "windows-powershell-docs NetQos/New-NetQosPolicy"
	srcDcbQos     = "windows-powershell-docs DcbQos"
	srcHyperV     = "windows-powershell-docs Hyper-V"
	srcTCPIP      = "windows-powershell-docs NetTCPIP"
	srcKeywords   = "windows-driver-docs network/enumeration-keywords"
	srcNDKPI      = "windows-driver-docs network/inf-requirements-for-ndkpi"
	srcConvNIC    = "windowsserverdocs networking/technologies/conv-nic/cnic-datacenter"
	srcHost       = "azure-stack-docs azure-local/concepts/host-network-requirements"
	srcNone       = "no cmdlet or standardised keyword in the four document sets"
)

var features = feature.Table{
	Compare: compareVersions,
	Rows: []feature.Row{
		{ID: feature.PortSpeed, Support: emulated, Note: "the NIC negotiates its speed; verify.ps1 compares it", Source: srcNetAdapter},
		{ID: feature.PortFEC, Note: "remove fec from this end: Windows has no setting for it, the NIC follows the switch", Source: srcNone},
		{ID: feature.PortBreakout, Note: "NIC ports are not split", Source: srcNone},
		{ID: feature.PortAutoneg, Note: "remove autoneg from this end: Windows has no setting for it above 10 Gbit/s", Source: srcKeywords},
		{ID: feature.PortAdmin, Support: native, Source: srcNetAdapter},
		{ID: feature.PortMTU, Support: native, Note: "*JumboPacket, the IP MTU and 14 bytes of Ethernet header", Source: "windows-driver-docs standardised keyword *JumboPacket; Validate-DCB"},
		{ID: feature.VLANTrunk, Support: native, Note: "one VLAN per adapter (VlanID); more by the vNICs of a SET team", Source: srcConvNIC},
		{ID: feature.VLANNative, Support: native, Note: "VlanID 0, or an untagged vNIC", Source: srcConvNIC},
		{ID: feature.VLANMTU, Note: "write mtu on the nic or the interface", Source: srcNone},
		{ID: feature.TrustByDSCP, Support: emulated, Note: "by the DSCP that NetQos policies write; not for RDMA, whose DSCP only vendor tools set", Source: srcNetQos},
		{ID: feature.TrustByPCP, Support: native, Note: "policies write 802.1p, and the adapter tags", Source: srcNetQos},
		{ID: feature.TrustNothing, Note: `write qos = "keep" on the nic, or trust = "pcp"`, Source: srcNone},
		{ID: feature.DSCPMap, Support: emulated, Note: "only the map that the classes' own marks make", Source: srcNetQos},
		{ID: feature.PCPMap, Support: emulated, Note: "PCP and priority are one on a NIC; others must share the traffic class", Source: srcDcbQos},
		{ID: feature.QueueMap, Support: native, Note: "priorities of named traffic classes; the number is the driver's", Source: srcDcbQos},
		{ID: feature.GroupMap, Note: "remove group_map: drivers give every lossless priority its own receive buffer", Source: srcNone},
		{ID: feature.PFC, Support: native, Source: srcDcbQos},
		{ID: feature.PFCQueueMap, Note: "remove pfc_queue_map: a pause frame stops the traffic class of its priority", Source: srcNone},
		{ID: feature.DenyRoCEv2, Note: "write it for the switch: a host keeps nothing out of the fabric", Source: srcNone},
		{ID: feature.DenyRoCEv1, Note: "write it for the switch: a host keeps nothing out of the fabric", Source: srcNone},
		{ID: feature.GlobalPause, Support: native, Note: "*FlowControl 3", Source: srcKeywords},
		{ID: feature.PauseOff, Support: native, Note: "*FlowControl 0", Source: srcKeywords},
		{ID: feature.ETS, Support: native, Note: "1 percent at least", Source: srcDcbQos},
		{ID: feature.Strict, Support: native, Source: srcDcbQos},
		{ID: feature.RateCap, Note: "remove max_rate: DCB traffic classes have no upper bound", Source: srcDcbQos},
		{ID: feature.ECN, Note: "mark ECN on the switch: a Windows host has no marking queue", Source: srcNone},
		{ID: feature.Watchdog, Note: "put the watchdog on the switch port", Source: srcNone},
		{ID: feature.WatchdogTimes, Note: "put the watchdog on the switch port", Source: srcNone},
		{ID: feature.DCBXOff, Support: native, Note: "Set-NetQosDcbxSetting -Willing $false", Source: srcDcbQos},
		{ID: feature.DCBXAdvertise, Note: `write dcbx = "off": no cmdlet makes Windows advertise`, Source: srcDcbQos},
		{ID: feature.DCBXWilling, Support: native, Note: "Set-NetQosDcbxSetting -Willing $true", Source: srcDcbQos},
		{ID: feature.Rewrite, Note: "give the class the DSCP it shall have: a host has nothing to rewrite", Source: srcNone},
		{ID: feature.CableLength, Support: emulated, Note: "the driver sizes its receive buffer; verify.ps1 shows the length", Source: srcNone},
		{ID: feature.Headroom, Note: "remove headroom: the driver sizes its receive buffer", Source: srcNone},
		{ID: feature.SharedBuffer, Note: "a host has no shared packet buffer", Source: srcNone},
		{ID: feature.HeadroomPool, Note: "a host has no shared packet buffer", Source: srcNone},
		{ID: feature.Alpha, Note: "a host has no shared packet buffer", Source: srcNone},
		{ID: feature.HashFunction, Note: "write it for the switch; a host spreads no flows over links of equal cost", Source: srcNone},
		{ID: feature.HashSeed, Note: "write it for the switch; a host spreads no flows over links of equal cost", Source: srcNone},
		{ID: feature.ARPTimeout, Note: "write it for the switch", Source: srcNone},
		{ID: feature.MACTimeout, Note: "write it for the switch", Source: srcNone},
		{ID: feature.LAGLACP, Note: `write mode = "set": RDMA works neither on LBFO teams nor over LACP`, Source: srcHost},
		{ID: feature.LAGStatic, Note: `write mode = "set": RDMA does not work on LBFO teams`, Source: srcHost},
		{ID: feature.LAGActiveBkp, Note: `write mode = "set": RDMA does not work on LBFO teams`, Source: srcHost},
		{ID: feature.LAGSet, Support: native, Source: srcHyperV},
		{ID: feature.LAGRate, Note: "remove rate: a SET team speaks no LACP", Source: srcHyperV},
		{ID: feature.LAGHash, Note: "remove hash_policy: a SET team balances by Hyper-V port", Source: srcHost},
		{ID: feature.MLAG, Note: "a SET team is independent of the switches", Source: srcHost},
		{ID: feature.SVI, Note: "an SVI is a switch's", Source: srcNone},
		{ID: feature.RoutedPort, Note: "put the address on the nic, or on a vNIC of a SET team", Source: srcNone},
		{ID: feature.LoopbackIface, Note: "put the address on a nic", Source: srcNone},
		{ID: feature.HostAddress, Support: native, Source: srcTCPIP},
		{ID: feature.VLANDevice, Note: `Windows has no VLAN devices: use one segment per nic, or a bond of mode "set" and its interfaces`, Source: srcNone},
		{ID: feature.HostVNIC, Support: native, Source: srcHyperV},
		{ID: feature.VNICPin, Support: native, Source: srcHyperV},
		{ID: feature.Gateway, Support: native, Source: srcTCPIP},
		{ID: feature.VRF, Note: "remove vrf: Windows hosts have no VRFs", Source: srcNone},
		{ID: feature.IPv6, Support: native, Source: srcTCPIP},
		{ID: feature.RDMAEnable, Support: native, Source: srcNetAdapter},
		{ID: feature.RoCEv2, Support: native, Note: "*NetworkDirectTechnology 4, on NVIDIA, Broadcom, Marvell and Intel 800 adapters", Source: srcNDKPI},
		{ID: feature.RoCEv1, Support: native, Note: "*NetworkDirectTechnology 3", Source: srcNDKPI},
		{ID: feature.IWARP, Support: native, Note: "*NetworkDirectTechnology 1, on Chelsio, Intel and Marvell adapters", Source: srcNDKPI},
		{ID: feature.StormTimeout, Note: stormNote, Source: srcNone},
		{ID: feature.VFs, Note: "remove vfs: SR-IOV belongs to the virtual machines' tools", Source: srcNone},
		{ID: feature.NICMatch, Support: native, Note: "found by PCI address or permanent MAC, and renamed", Source: srcNetAdapter},
		{ID: feature.HostMarks, Support: native, Source: srcNetQos},
		{ID: feature.HostDSCP, Support: native, Note: "not together with a NetworkDirect match", Source: srcNetQos},
		{ID: feature.NetDirectMatch, Support: native, Source: srcNetQos},
		{ID: feature.TCPMatch, Support: native, Note: "the port of either end (IPPortMatchCondition), so that a server's answers are marked as well", Source: srcNetQos},
		{ID: feature.UDPMatch, Support: native, Note: "the port of either end (IPPortMatchCondition)", Source: srcNetQos},
		{ID: feature.CNPMark, Note: "remove the class, or its mark from this node's qos: only vendor tools set the mark of CNPs on Windows", Source: srcNone},
		{ID: feature.DCQCN, Note: `remove congestion_control = "dcqcn" for Windows nodes: only vendor tools such as mlx5cmd set it, ecn needs nothing on the host`, Source: srcNone},
		{ID: feature.ClusterClass, Support: native, Note: "the Cluster template of NetQos", Source: srcNetQos},
	},
}

// builds are the first builds of each version.
var builds = map[string]int{"2016": 14393, "2019": 17763, "2022": 20348, "2025": 26100}

// compareVersions orders versions by year. What is no year counts as newest.
func compareVersions(a, b string) int { return cmp.Compare(year(a), year(b)) }

func year(version string) int {
	if n, err := strconv.Atoi(version); err == nil {
		return n
	}
	return math.MaxInt
}
