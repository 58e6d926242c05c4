package windows

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/powershell"
)

// Maker makes the machines of a target, "netqos" or "network-atc". What they read
// of their scripts is kept in texts, which all machines of a lab share.
func Maker(target string, texts *powershell.Scripts) lab.Maker {
	return func(d *intent.Device, e lab.Environment) (lab.Machine, error) {
		m, err := made(d, target, e, texts)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
}

// made starts the host of an intent as it is found before rocec sets it: its
// adapters are there as a driver leaves them, the roles that rocec does not
// install are, and where Network ATC is to take an address over, an adapter has it.
func made(d *intent.Device, target string, e lab.Environment, texts *powershell.Scripts) (*Machine, error) {
	h := NewHost(d.Name)
	h.Build = build(d.OS.Version)
	for i := range d.Ports {
		n, err := found(&d.Ports[i], i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		h.NICs = append(h.NICs, n)
	}
	switch target {
	case "netqos":
		if len(d.LAGs) > 0 {
			h.Features = []string{"Hyper-V"}
		}
	case "network-atc":
		h.Features = []string{"Hyper-V", "Failover-Clustering", "NetworkATC", "Data-Center-Bridging"}
		name := d.Options["cluster_name"]
		if name == "" {
			name = "cluster"
		}
		h.ATC = NewCluster(name)
		h.takenOver(d)
	default:
		return nil, fmt.Errorf("%s: no Windows host is simulated for the target %q", d.Name, target)
	}
	return newMachine(h, e, texts), nil
}

// builds are the first builds of the editions (learn.microsoft.com, Windows
// Server release information, Azure Local release information).
var builds = map[string]int64{"2016": 14393, "2019": 17763, "2022": 20348, "2025": 26100, "22H2": 20349, "23H2": 25398, "24H2": 26100}

func build(version string) int64 {
	if n := builds[version]; n > 0 {
		return n
	}
	return builds["2025"]
}

// found is an adapter. One that is looked for by its place or address has the
// name that Windows gave it.
func found(p *intent.Port, i int) (*NIC, error) {
	n := NewHost("", p.Name).NICs[0]
	n.GUID, n.Index = fmt.Sprintf("{guid-%d}", i), int64(10+i)
	n.Description = fmt.Sprintf("Simulated adapter #%d", i+1)
	n.MAC = fmt.Sprintf("02000000%04X", i)
	n.PCI = [4]int64{0, int64(0x3b + i/8), 0, int64(i % 8)}
	n.Mbps = int64(p.Mbps.Or(25000))
	if p.NIC == nil {
		return n, nil
	}
	n.WinOF = p.NIC.Driver == "mlx5"
	if p.NIC.Driver == "ice" { // icea 1.13 (intel/mfd-win-registry)
		n.Property("*NetworkDirectRoCEFrameSize").Keyword = "RdmaRoceFrameSize"
	}
	if p.NIC.PCI != "" {
		pci, err := place(p.NIC.PCI)
		if err != nil {
			return nil, err
		}
		n.PCI = pci
	}
	if p.NIC.MAC != "" {
		n.MAC = strings.ToUpper(strings.NewReplacer(":", "", "-", "").Replace(p.NIC.MAC))
	}
	if p.NIC.PCI != "" || p.NIC.MAC != "" {
		n.Name = fmt.Sprintf("Ethernet %d", i+2)
	}
	return n, nil
}

// place is a PCI address: domain, bus, device, function.
func place(s string) (at [4]int64, err error) {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == ':' || r == '.' })
	if len(parts) != len(at) {
		return at, fmt.Errorf("%q is no PCI address", s)
	}
	for i, p := range parts {
		if at[i], err = strconv.ParseInt(p, 16, 64); err != nil {
			return at, fmt.Errorf("%q is no PCI address", s)
		}
	}
	return at, nil
}

// takenOver puts the addresses of a team on its first member, where Network ATC
// finds them.
func (h *Host) takenOver(d *intent.Device) {
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		team := d.LAGNamed(f.On)
		if f.Kind != intent.VNIC || f.RDMA || !f.Addresses.IsSet() || team == nil || len(team.Members) == 0 {
			continue
		}
		for j := range d.Ports {
			if d.Ports[j].Name == team.Members[0] {
				h.NICs[j].Addresses = append([]netip.Prefix(nil), f.Addresses.Value...)
				if f.Gateway.IsSet() {
					h.Routes = append(h.Routes, [2]string{h.NICs[j].GUID, f.Gateway.Value.String()})
				}
			}
		}
	}
}
