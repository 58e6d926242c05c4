// Package windows holds the two targets for RDMA on Windows hosts. "netqos" sets
// Windows Server 2016 to 2025 by the NetQos, DcbQos, NetAdapter and Hyper-V
// cmdlets; "network-atc" gives Azure Local and Windows Server 2025 clusters the
// intents of Network ATC, which sets the same and keeps it so. Both take the
// intent of one node and return its data, host.psd1, beside a kit of programs
// that all hosts share: one that applies, one that compares (verify.ps1), one
// that undoes from the snapshot the first saved (undo.ps1), one that prints what
// Parse reads (capture.ps1), one that makes a change over a session a transaction
// which goes back by itself (rocec-live.ps1). For netqos there is also a configuration for
// Microsoft's Validate-DCB (validate-dcb.ps1), where that tool can express the host.
//
// Files are ASCII with CRLF: Windows PowerShell 5.1 reads a file without a byte
// order mark in the machine's code page. A host with names beyond ASCII gets such
// a mark on its own files; what capture.ps1 prints is ASCII always. The data are a
// table of literals, which Import-PowerShellDataFile reads without running
// anything; the programs are engine/*.ps1, put together once. What Network ATC has no override for and
// decides otherwise is refused.
//
// Left out are the client editions, guest RDMA and SR-IOV, stretched clusters,
// and every vendor keyword: what a NIC does with DSCP, DCQCN and CNPs on Windows
// is set by vendor tools whose options differ by release, and is refused.
package windows

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// What a capture is kept as, and the artifact of Validate-DCB.
const (
	readBack     = "netqos.json"
	validateFile = "validate-dcb.ps1"
)

// Names of options.
const (
	optionLiveMigration = "live_migration"
	optionTransport     = "live_migration_transport"
	optionRestart       = "live_restart"
)

var options = []targets.Option{
	{
		Name: optionLiveMigration, Kind: targets.OptionNumber, Default: "0",
		Doc: "percent of the SMB Direct class that live migration over SMB may use, written as the SMB bandwidth limit of the" +
			" node (installs FS-SMBBW); 0 leaves it alone, Microsoft's example is 29. A cluster of Server 2022 or newer may" +
			" replace the limit by its own (SetSMBBandwidthLimit)",
	},
	{
		Name: optionTransport, Kind: targets.OptionEnum, Values: []string{"keep", "smb", "compression", "tcpip"}, Default: "keep",
		Doc: "how Hyper-V moves the memory of virtual machines; keep leaves it alone, Microsoft advises smb where its share is 5 Gbit/s or more",
	},
	restartOption,
}

// restartOption is of both targets.
var restartOption = targets.Option{
	Name: optionRestart, Kind: targets.OptionBool, Default: "false",
	Doc: "whether a change over a session (rocec apply) may restart adapters, make virtual switches and let Network ATC change intents, as -AllowRestart" +
		" does; without it, such settings are stored and wait for a restart, and intents for a run by hand",
}

// Target is the emitter for Windows Server hosts.
var Target = targets.Target{
	Name:       "netqos",
	Title:      "NetQos and NetAdapter PowerShell for SMB Direct on Windows Server",
	OS:         []string{"windows-server"},
	Kinds:      []intent.Kind{intent.Node},
	Versions:   "2016 to 2025",
	Options:    options,
	Features:   features,
	Limits:     limits,
	Emit:       write,
	Written:    written,
	Left:       left,
	Probes:     []targets.Probe{{File: readBack, Command: run + captureFile}},
	Capture:    captureFile,
	Health:     &health,
	Parse:      parse,
	Impact:     impact,
	Observable: observable,
	Live:       live(netqosKit),
	Sources: []string{
		"MicrosoftDocs/windows-powershell-docs docset/winserver{2016,2019,2022,2025}-ps NetQos, DcbQos, NetAdapter, NetTCPIP, Hyper-V, SmbShare",
		"MicrosoftDocs/windows-driver-docs network/inf-requirements-for-ndkpi, enumeration-keywords, standardized-inf-keywords-for-ndis-qos",
		"MicrosoftDocs/windowsserverdocs networking/technologies/conv-nic, networking/technologies/dcb, failover-clustering (live migration SMB bandwidth)",
		"MicrosoftDocs/azure-stack-docs azure-local/concepts/host-network-requirements",
		"learn.microsoft.com dcbwmiprov MSFT_NetQosTrafficClassSettingData",
		"microsoft/Validate-DCB, microsoft/wmi",
	},
}

// impact says that a change of what the driver reads at start needs a restart,
// which the script makes only when it is told to.
func impact(d *intent.Device, c targets.Change) targets.Impact {
	if x := &c.Path; waits(d, x) {
		return targets.Impact{Interrupts: true, Withheld: true, Note: alone("it is made by a restart of adapters, or by making a virtual switch of them")}
	}
	restart := "restart of the adapter, its link is down for seconds, one adapter at a time; by hand only with -AllowRestart"
	if d.Options[optionRestart] != "true" {
		restart += ", over a session only with " + optionRestart + " = true: it is stored and waits else"
	}
	switch {
	case c.Path.Object == intent.OfPort && c.Path.Field == "enabled" && c.After == "false":
		return targets.Impact{Interrupts: true, Note: "the adapter is disabled"}
	case c.Path.Object == intent.OfPort:
		switch c.Path.Field {
		case "mtu", "segments", "native", "rdma", "roce_mode", "rdma_mtu", "qos":
			return targets.Impact{Interrupts: true, Note: restart}
		case "name", "pci":
			return targets.Impact{Note: "the adapter is renamed"}
		}
	case c.Path.Object == intent.OfQoS && c.Path.Field == "pause":
		return targets.Impact{Interrupts: true, Note: restart}
	case c.Path.Object == intent.OfLAG:
		return targets.Impact{Interrupts: true, Note: "making or changing a virtual switch interrupts its adapters"}
	case c.Path.Object == intent.OfIface && (c.Path.Field == "mtu" || c.Path.Field == "rdma"):
		return targets.Impact{Interrupts: true, Note: restart}
	case c.Path.Object == intent.OfIface && c.Path.Field == "address":
		return addressImpact(c)
	case c.Path.Object == intent.OfQoS && (c.Path.Field == "pfc" || c.Path.Field == "queue_map"):
		return targets.Impact{Note: "losses are possible while the tables of the NIC change"}
	}
	return targets.Impact{}
}

// addressImpact: apply.ps1 adds addresses (engine/addresses.ps1) and takes none away, as it
// cannot tell who put one there: a change that leaves one beside those that are wanted
// would be read back as another, and go back.
func addressImpact(c targets.Change) targets.Impact {
	addresses := func(text string) (list []string) {
		for word := range strings.SplitSeq(text, ", ") {
			if p, err := netip.ParsePrefix(word); err == nil { // and not "none"
				list = append(list, p.Addr().String())
			}
		}
		return list
	}
	wanted := addresses(c.After)
	var remove []string
	for _, a := range addresses(c.Before) {
		if !slices.Contains(wanted, a) {
			remove = append(remove, "Remove-NetIPAddress -IPAddress "+a)
		}
	}
	const note = "connections on the old address end"
	if len(remove) == 0 {
		return targets.Impact{Interrupts: true, Note: note}
	}
	return targets.Impact{
		Interrupts: true, Withheld: true,
		Note: note + "; rocec takes no address away, and apply over a session refuses the change while one is left: on the host, " + strings.Join(remove, "; ") + ", then apply again",
	}
}

// alone is the note of what a change over a session does not make by itself.
func alone(why string) string {
	return why + "; apply over a session refuses that without options = { " + optionRestart + " = true } in the target block; by hand: apply.ps1 -AllowRestart"
}

// waits says what is not in force before a restart that nobody has allowed to a
// change over a session, and is read back as it is in force: a switch and its
// members (Step-Switches), and the MTU of an interface on an adapter, which
// Get-NetIPInterface shows as its driver was started. Keywords of adapters are read
// back as they are stored.
func waits(d *intent.Device, p *intent.Path) bool {
	switch {
	case d.Options[optionRestart] == "true":
		return false
	case p.Object == intent.OfLAG:
		return p.Field == "" || p.Field == "members"
	case p.Object == intent.OfIface && p.Field == "mtu":
		return slices.ContainsFunc(d.Ifaces, func(f intent.Iface) bool { return f.Name == p.Name && f.Kind == intent.Direct })
	}
	return false
}

// observable says which fields the read-back shows. No cmdlet shows the VLAN
// of untagged frames, trust, ECN, cables, models or firmware.
func observable(d *intent.Device, p intent.Path) bool {
	switch p.Object {
	case intent.OfPort:
		switch p.Field {
		case "enabled", "speed", "mtu", "qos", "rdma", "roce_mode", "dcbx", "pci", "name", "driver", "":
			return true
		case "segments":
			// The tags of a team are set on its vNICs.
			return !teamMember(d, p.Name)
		}
		return false
	case intent.OfLAG:
		return p.Field == "members" || p.Field == "mode" || p.Field == "name" || p.Field == ""
	case intent.OfIface:
		return p.Field != "qos"
	case intent.OfQoS:
		switch p.Field {
		case "pfc", "ets", "strict", "queue_map", "pcp_map", "pause", "name", "":
			return true
		}
		return strings.HasPrefix(p.Field, "class.")
	case intent.OfOption:
		return p.Name != optionRestart
	}
	return false
}

func teamMember(d *intent.Device, port string) bool { return teamOf(d, port) != nil }
