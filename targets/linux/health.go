package linux

import (
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// health asks a host how it is. Counters are those of the drivers: mlx5 [kernel
// Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst,
// drivers/infiniband/hw/mlx5/counters.c] and bnxt [bnxt_ethtool.c,
// bnxt_re/hw_counters.c]; of irdma no source tells.
var health = targets.Health{
	Probes: []targets.Probe{
		{File: "health/modules.txt", Command: "ls /sys/module"},                                                 // [Documentation/ABI/stable/sysfs-module]
		{File: "health/limits.txt", Command: "cat /proc/self/limits"},                                           // [proc_pid_limits(5)]
		{File: "health/lldpad.txt", Command: "systemctl is-active lldpad.service"},                              // [systemctl(1)]
		{File: "health/acs.txt", Command: "lspci -vvv | grep -E '^[0-9a-f]|ACSCtl:'"},                           // [NCCL user guide, PCI Access Control Services]
		{File: "health/%s/pcie.txt", Command: pciOf("current_link_speed", "current_link_width"), PerPort: true}, // [ABI/testing/sysfs-bus-pci]
		{File: "health/%s/counters.txt", Command: "ethtool -S %s", PerPort: true},
		{File: "health/rp_filter.txt", Command: "grep -H . /proc/sys/net/ipv4/conf/*/rp_filter"}, // [ip-sysctl.rst]
		{File: "health/requests.txt", Command: "lspci -D -vvv | grep -E '^[0-9a-f]|MaxReadReq'"}, // [lspci(8)]
		{File: "health/%s/slot.txt", Command: "grep -H PCI_SLOT_NAME /sys/class/net/%s/device/uevent", PerPort: true},
		{File: "health/%s/storm.txt", Command: stormCommand, PerPort: true},
		{File: "health/%s/dcbx.json", Command: "dcb -j dcbx show dev %s", PerPort: true}, // [dcb-dcbx(8)]
		{File: "health/%s/hw_counters.txt", Command: "grep -H . /sys/class/net/%s/device/infiniband/*/ports/*/hw_counters/*", PerPort: true},
		{File: "health/%s/gids.txt", Command: "grep -H . /sys/class/net/%s/device/infiniband/*/ports/*/gids/* /sys/class/net/%s/device/infiniband/*/ports/*/gid_attrs/types/*", PerPort: true},
		{File: "health/%s/ecn.txt", Command: "grep -Hr . /sys/class/net/%s/ecn/", PerPort: true}, // [MLNX_OFED, Explicit Congestion Notification]
	},
	Read: vitals,
}

func pciOf(files ...string) string {
	c := "grep -H ."
	for _, f := range files {
		c += " /sys/class/net/%s/device/" + f
	}
	return c
}

// vitals is Health.Read.
func vitals(d *intent.Device, c targets.Captured) (*targets.Vitals, diag.List) {
	r := &reader{want: newHost(d), c: c, got: &intent.Device{}}
	v := &targets.Vitals{}
	for i := range d.Ports {
		name := d.Ports[i].Name
		r.pcie(v, name)
		if ms, shown := r.stormMs("health/" + name + "/storm.txt"); shown {
			v.Port(name).StormMs = &ms
		}
		r.counters(v, name)
		r.addresses(v, name)
		r.dcqcn(v, name)
		var dcbx map[string]bool
		if r.decode("health/"+name+"/dcbx.json", &dcbx) {
			v.Port(name).FirmwareDCBX = dcbx["lld-managed"] || dcbx["lld_managed"]
		}
	}
	r.host(v, d)
	r.readRequests(v, d)
	r.reversePaths(v, d)
	return v, r.list
}

// pcieGTs are the speeds of PCIe by generation, as the kernel writes them
// [drivers/pci/pci.h PCIE_SPEED2STR].
var pcieGTs = []string{"", "2.5 GT/s", "5.0 GT/s", "8.0 GT/s", "16.0 GT/s", "32.0 GT/s", "64.0 GT/s"}

func (r *reader) pcie(v *targets.Vitals, port string) {
	for file, text := range r.values("health/" + port + "/pcie.txt") {
		switch path.Base(file) {
		case "current_link_speed": // "16.0 GT/s PCIe"
			if gen := slices.Index(pcieGTs, strings.TrimSuffix(text, " PCIe")); gen > 0 {
				v.Port(port).PCIeGen = uint8(gen)
			}
		case "current_link_width":
			if n, err := strconv.ParseUint(text, 10, 8); err == nil {
				v.Port(port).PCIeLanes = uint8(n)
			}
		}
	}
}

// values are the lines of grep -H: path and text.
func (r *reader) values(file string) map[string]string {
	text, _ := r.text(file)
	m := map[string]string{}
	for line := range strings.Lines(text) {
		if at, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok && path.IsAbs(at) {
			m[at] = strings.TrimSpace(value)
		}
	}
	return m
}

// netCounters are counters of a port by the name that its driver gives them; # is a priority.
var netCounters = map[string]targets.Count{
	"rx_prio#_pause": targets.PauseReceived, "tx_prio#_pause": targets.PauseSent,
	"rx_prio#_discards": targets.Discarded, "rx_prio#_buf_discard": targets.Discarded,
	"rx_pfc_ena_frames_pri#": targets.PauseReceived, "tx_pfc_ena_frames_pri#": targets.PauseSent,
	"rx_crc_errors_phy": targets.Uncorrected, "rx_symbol_err_phy": targets.Uncorrected, "rx_fcs_err_frames": targets.Uncorrected,
	"tx_pause_storm_error_events": targets.Stalls, "tx_pause_storm_warning_events": targets.Storms,
}

// rdmaCounters are those of its RDMA device.
var rdmaCounters = map[string]targets.Count{
	"np_ecn_marked_roce_packets": targets.Marked, "np_cnp_sent": targets.CNPSent, "out_of_sequence": targets.OutOfSequence,
	"local_ack_timeout_err": targets.AckTimeouts, "oos_drop_count": targets.OutOfSequence, "to_retransmits": targets.AckTimeouts,
}

func (r *reader) counters(v *targets.Vitals, port string) {
	text, _ := r.text("health/" + port + "/counters.txt")
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
		if !ok || err != nil {
			continue
		}
		name, priority := numbered(name)
		if of, known := netCounters[name]; known {
			v.Add(port, targets.Counter{Of: of, Priority: priority}, n)
		}
	}
	for file, value := range r.values("health/" + port + "/hw_counters.txt") {
		n, err := strconv.ParseUint(value, 10, 64)
		if of, known := rdmaCounters[path.Base(file)]; known && err == nil {
			v.Add(port, targets.Counter{Of: of, Priority: targets.NoPriority}, n)
		}
	}
}

// numbered takes the priority out of the name of a counter: rx_prio3_pause is
// rx_prio#_pause of priority 3.
func numbered(name string) (string, int8) {
	for _, mark := range []string{"_prio", "_pri"} {
		at := strings.Index(name, mark)
		if at < 0 || at+len(mark) >= len(name) {
			continue
		}
		if c := name[at+len(mark)]; c >= '0' && c <= '7' {
			return name[:at+len(mark)] + "#" + name[at+len(mark)+1:], int8(c - '0')
		}
	}
	return name, targets.NoPriority
}

// addresses are the GIDs of the port's RDMA device [Documentation/ABI/stable/sysfs-class-infiniband].
func (r *reader) addresses(v *targets.Vitals, port string) {
	all := r.values("health/" + port + "/gids.txt")
	for file, value := range all {
		dir, index := path.Split(file)
		n, err := strconv.ParseUint(index, 10, 15)
		if err != nil || !strings.HasSuffix(dir, "/gids/") || value == "0000:0000:0000:0000:0000:0000:0000:0000" {
			continue
		}
		p := v.Port(port)
		if p.GIDs == nil {
			p.GIDs = map[int]targets.GID{}
		}
		p.GIDs[int(n)] = targets.GID{Address: value, Type: all[strings.TrimSuffix(dir, "gids/")+"gid_attrs/types/"+index]}
	}
}

// dcqcn are the priorities on which OFED has notification or reaction point off.
func (r *reader) dcqcn(v *targets.Vitals, port string) {
	for file, value := range r.values("health/" + port + "/ecn.txt") {
		dir, n := path.Split(file)
		if value == "0" && strings.HasSuffix(dir, "/enable/") && len(n) == 1 && n[0] >= '0' && n[0] <= '7' {
			p := v.Port(port)
			p.DCQCNOff = p.DCQCNOff.With(n[0] - '0')
		}
	}
}

// host reads what is of the host and not of a port.
func (r *reader) host(v *targets.Vitals, d *intent.Device) {
	limits, _ := r.text("health/limits.txt")
	for line := range strings.Lines(limits) {
		rest, ok := strings.CutPrefix(line, "Max locked memory ")
		if fields := strings.Fields(rest); ok && len(fields) > 0 { // the soft limit stands first
			n, err := strconv.ParseUint(fields[0], 10, 64)
			if fields[0] == "unlimited" {
				n, err = targets.Unlimited, nil
			}
			if err == nil {
				v.MemlockBytes = &n
			}
		}
	}
	daemon, _ := r.text("health/lldpad.txt")
	v.LLDPDaemon = strings.TrimSpace(daemon) == "active"
	if text, ok := r.text("health/modules.txt"); ok {
		loaded := strings.Fields(text)
		for _, m := range needed(d) {
			if !slices.Contains(loaded, m) {
				v.Missing = append(v.Missing, m)
			}
		}
	}
	acs, _ := r.text("health/acs.txt")
	bridge := ""
	for line := range strings.Lines(acs) {
		switch rest, control := strings.CutPrefix(strings.TrimSpace(line), "ACSCtl:"); {
		case !control:
			bridge, _, _ = strings.Cut(line, " ")
		case strings.Contains(rest, "SrcValid+") && bridge != "" && !slices.Contains(v.Redirecting, bridge):
			v.Redirecting = append(v.Redirecting, bridge)
		}
	}
}

// maxReadReq is what lspci prints of the PCI Express capability of a device.
var maxReadReq = regexp.MustCompile(`MaxReadReq (\d+) bytes`)

// readRequests are the most bytes that the adapters ask memory for at a time.
func (r *reader) readRequests(v *targets.Vitals, d *intent.Device) {
	text, _ := r.text("health/requests.txt")
	bySlot, slot := map[string]uint32{}, ""
	for line := range strings.Lines(text) {
		if m := maxReadReq.FindStringSubmatch(line); m != nil {
			n, err := strconv.ParseUint(m[1], 10, 32)
			if err == nil {
				bySlot[slot] = uint32(n)
			}
		} else {
			slot, _, _ = strings.Cut(line, " ")
		}
	}
	for i := range d.Ports {
		name := d.Ports[i].Name
		for _, text := range r.values("health/" + name + "/slot.txt") {
			if n := bySlot[strings.TrimPrefix(text, "PCI_SLOT_NAME=")]; n > 0 {
				v.Port(name).ReadRequestBytes = n
			}
		}
	}
}

// reversePaths are the devices with RDMA that drop what their routes would not answer: the kernel takes the larger of
// the setting of a device and that of all [ip-sysctl.rst]. With one of them there is no other way in.
func (r *reader) reversePaths(v *targets.Vitals, d *intent.Device) {
	set := r.values("health/rp_filter.txt")
	of := func(name string) string { return set["/proc/sys/net/ipv4/conf/"+name+"/rp_filter"] }
	var rails []string
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		if f.RDMA && slices.ContainsFunc(f.Addresses.Or(nil), func(a netip.Prefix) bool { return a.Addr().Is4() }) {
			rails = append(rails, device(f))
		}
	}
	slices.Sort(rails)
	if rails = slices.Compact(rails); len(rails) < 2 {
		return
	}
	for _, name := range rails {
		if of(name) != "" && max(of(name), of("all")) == "1" {
			v.Strict = append(v.Strict, name)
		}
	}
}

// needed are the kernel modules without which the ports of a host carry no RDMA.
func needed(d *intent.Device) []string {
	var list []string
	for i := range d.Ports {
		n := d.Ports[i].NIC
		if n == nil || !n.RDMA.IsSet() || !n.RDMA.Value {
			continue
		}
		list = append(list, "ib_uverbs", "rdma_cm")
		if f, ok := families[n.Driver]; ok {
			list = append(list, f.module)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
