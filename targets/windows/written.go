package windows

import "github.com/rocec/rocec/targets"

// written rests on windows-powershell-docs: New-NetQosPolicy without -PolicyStore
// writes the computer's store, which outlives a restart, as New-NetIPAddress and
// New-NetRoute write both stores; nothing is written to ActiveStore alone.
var written = []targets.Written{
	{Settings: "policies, traffic classes, PFC, DCBX", Place: "NetQos and DcbQos, in the computer's store", Lasts: "Windows, over restarts"},
	{Settings: "VLAN, jumbo frames, RDMA, its technology and frame size, flow control, QoS of adapters", Place: "advanced properties (NetAdapter)", Lasts: "Windows, over restarts; after a driver was replaced, `verify.ps1` tells"},
	{Settings: "names and state of adapters", Place: "NetAdapter", Lasts: "Windows"},
	{Settings: "SET teams, vNICs, their VLAN, priority tag and team mapping", Place: "Hyper-V", Lasts: "Windows"},
	{Settings: "addresses, routes, IP MTU, NetworkDirect of the host", Place: "NetTCPIP, in the persistent store", Lasts: "Windows"},
	{Settings: "SMB bandwidth limit and transport of live migration", Place: "SmbShare, Hyper-V", Lasts: "Windows; a cluster of Server 2022 or newer may set its own limit"},
}

var left = []string{
	"DSCP of RDMA, DCQCN, CNPs and ECN of adapters: vendor tools set them, and a class that asks for them is refused",
	"the frame size of RoCE on adapters whose driver has neither the standard keyword nor that of Intel or of older WinOF-2: `verify.ps1` tells which they are",
	"settings of switches and of guests",
	"the GPU beside a NIC: it stands in a comment of `host.psd1`, applications on Windows are told nothing",
	"firmware and drivers: compared, never installed",
}

var atcWritten = []targets.Written{
	{Settings: "intents with their overrides, storage VLANs, global overrides of the cluster", Place: "Network ATC of the cluster", Lasts: "its service, which puts back on every node what differs"},
	{Settings: "addresses of storage vNICs and adapters that are written, names of adapters", Place: "NetTCPIP and NetAdapter", Lasts: "Windows"},
}
