package lint

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on capability that looks at what Windows counts and matches
// otherwise than the words suggest.

var roce729 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE729", Name: "windows_mtu_frame", Severity: diag.Warning, Fixable: true,
		Title: "the MTU of a Windows host is the size of a frame",
		Why: "drivers on Windows ask for the frame, 14 bytes of Ethernet header included, and rocec adds them: an MTU " +
			"that counts them already asks the driver for 14 bytes more than the others have",
		Fix: "write mtu = 9000",
		Source: "Microsoft, Standardized INF keywords for network devices, *JumboPacket; github.com/microsoft/Validate-DCB: 9014 " +
			"for an MTU of 9000",
		Bad:  strings.Replace(windowsPair(`match = { netdirect_port = 445 }`), "  mtu      = 9000", "  mtu      = 9014", 1),
		Good: windowsPair(`match = { netdirect_port = 445 }`),
	},
	Run: windowsFrame,
}

// ethernetHeader is what *JumboPacket counts beyond the MTU of IP.
const ethernetHeader = 14

// framesOf are sizes that drivers on Windows offer for a frame, as everybody knows
// them; what they leave for IP is what is meant.
var framesOf = map[uint16]bool{1500 + ethernetHeader: true, 9000 + ethernetHeader: true}

func windowsFrame(p *Pass) {
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Node || !framesOf[e.Port.MTU] || e.Port.Flags&fabric.MTUSet == 0 ||
			e.Port.Manage == fabric.HandsOff || !p.windows(e.Device) {
			return
		}
		at, ip := p.AtPort(e, schema.AMTU, ""), e.Port.MTU-ethernetHeader
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("mtu = %d on %s is the size of a frame: Windows would be told *JumboPacket %d",
				e.Port.MTU, p.Name(e), e.Port.MTU+ethernetHeader),
			Address: p.Fabric.PortAddress(e.ID),
			Labels:  []diag.Label{at},
			Help:    fmt.Sprintf("write mtu = %d: rocec adds the %d bytes of the Ethernet header", ip, ethernetHeader),
			Edits:   setAt(at, "mtu", fmt.Sprint(ip)),
		})
	})
}

var roce730 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE730", Name: "windows_smb_direct_port", Severity: diag.Warning, Fixable: true,
		Title: "SMB Direct over RoCE is matched on a NetworkDirect port that it does not have",
		Why: "5445 is the TCP port that SMB Direct has over iWARP: over RoCE nothing has it, the policy matches no " +
			"packet, and the traffic travels in the default class without PFC",
		Fix:    "write match = { netdirect_port = 445 }",
		Source: "Microsoft, [MS-SMBD] 1.9 (445, and 5445 on iWARP); New-NetQosPolicy, -NetDirectPortMatchCondition",
		Bad:    windowsPair(`match = { netdirect_port = 5445 }`),
		Good:   windowsPair(`match = { netdirect_port = 445 }`),
	},
	Run: smbDirectPort,
}

const iwarpSMB = 5445

func smbDirectPort(p *Pass) {
	f := p.Fabric
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Node || e.Port.Manage == fabric.HandsOff || !p.windows(e.Device) {
			return
		}
		p.Classes(e, func(c *fabric.Class, _ fabric.ClassOn) {
			if c.NetDirectPort != iwarpSMB || c.Carries != fabric.CarriesRDMA || transportOf(&f.QoS[e.Profile.QoS], c) == fabric.IWARP {
				return
			}
			at := f.Label(c.Decl, 0, schema.AMatch, "")
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("class %s of %s matches NetworkDirect port %d, and SMB Direct over RoCE has 445",
					f.Text(c.Name), p.Name(e), iwarpSMB),
				Address: f.PortAddress(e.ID),
				Labels:  []diag.Label{at, f.DeclLabel(e.Port.Decl, "used by")},
				Help:    "write match = { netdirect_port = 445 }",
				Edits:   setAt(at, "match.netdirect_port", "445"),
			})
		})
	})
}

var roce731 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE731", Name: "windows_vnic_pins", Severity: diag.Warning,
		Title: "two RDMA vNICs of a SET team are pinned to one member",
		Why: "SMB Multichannel takes each vNIC for a path of its own: two that are pinned to one member share its rate, and " +
			"the other member carries no RDMA at all",
		Fix: "pin each vNIC to a member of its own",
		Source: "Microsoft, Set-VMNetworkAdapterTeamMapping; github.com/microsoft/WSLab: each vRDMA NIC mapped to a separate " +
			"pRDMA NIC",
		Bad:  pinnedTeam("p0"),
		Good: pinnedTeam("p1"),
	},
	Run: vnicPins,
}

// pinnedTeam is windowsTeam of SET whose second vNIC is pinned to a member.
func pinnedTeam(second string) string {
	return strings.Replace(windowsTeam("set"), `pin     = "p1"`, `pin     = "`+second+`"`, 1)
}

func vnicPins(p *Pass) {
	f := p.Fabric
	pinned := map[fabric.PortID]fabric.IfaceID{} // the first RDMA vNIC of a member
	taken := map[fabric.LAGID]int{}              // members that have one
	for id := 1; id < len(f.Ifaces); id++ {
		if i := &f.Ifaces[id]; i.Kind == fabric.VNICIface && i.Pin != 0 && i.RDMA && pinned[i.Pin] == 0 {
			pinned[i.Pin] = fabric.IfaceID(id)
			taken[i.OnLAG]++
		}
	}
	for id := 1; id < len(f.Ifaces); id++ {
		i := &f.Ifaces[id]
		if i.Kind != fabric.VNICIface || i.Pin == 0 || !i.RDMA || pinned[i.Pin] == fabric.IfaceID(id) ||
			taken[i.OnLAG] == len(f.LAGs[i.OnLAG].Members) {
			continue
		}
		first, dev := &f.Ifaces[pinned[i.Pin]], f.Text(f.Devices[i.Device].Name)
		idle := ""
		for _, m := range f.LAGs[i.OnLAG].Members {
			if pinned[m] == 0 {
				idle = f.Text(f.Ports[m].Name)
				break
			}
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s/%s and %s are pinned to one member, %s, and no vNIC with RDMA to %s",
				dev, f.Text(i.Name), f.Text(first.Name), f.Text(f.Ports[i.Pin].Name), idle),
			Address: f.IfaceAddress(fabric.IfaceID(id)), Concerns: []string{f.IfaceAddress(pinned[i.Pin]), f.LAGAddress(i.OnLAG)},
			Labels: []diag.Label{
				f.Label(i.Decl, i.Layers, schema.APin, ""),
				f.Label(first.Decl, first.Layers, schema.APin, "the other vNIC"),
			},
			Help: "pin it to " + idle,
		})
	}
}
