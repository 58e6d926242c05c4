package linux

import (
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/posix"
)

// Values of the option qos_tool.
const (
	dcbTool  = "dcb"
	mlnxTool = "mlnx_qos"
)

var qosTool = targets.Option{
	Name: "qos_tool", Kind: targets.OptionEnum, Values: []string{dcbTool, mlnxTool}, Default: dcbTool,
	Doc: `the program that sets DCB of mlx5 ports: "dcb" of iproute2, or "mlnx_qos" of mlnx-tools, which also sets rate limits`,
}

// Target writes the files of one Linux host.
var Target = targets.Target{
	Name:       "linux",
	Title:      "Ubuntu and Debian hosts with adapters of mlx5, bnxt, ice, qede and cxgb4 or soft-RoCE: netplan, dcb or mlnx_qos, systemd",
	OS:         []string{"ubuntu", "debian", "linux"},
	Kinds:      []intent.Kind{intent.Node},
	Versions:   "Ubuntu 22.04 and newer, Debian 12 and newer",
	Options:    []targets.Option{qosTool},
	Features:   table,
	Limits:     limits,
	Emit:       write,
	Written:    written,
	Left:       left,
	Probes:     probes,
	Neighbours: &targets.Probe{File: "lldp.json", Command: "lldpctl -f json"}, // lldpd, src/client/lldpctl.8.in
	Health:     &health,
	Capture:    "capture.sh",
	Parse:      parse,
	Impact:     impact,
	Observable: observable,
	Stored:     boots,
	Outdated:   outdated,
	Saves:      "install.sh puts it back; nothing is interrupted",
	Live:       posix.Live(kit, "a systemd timer"),
	Sources: []string{
		"Linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c and en/port_buffer.c",
		"Linux drivers/infiniband/hw/mlx5/cong.c, drivers/infiniband/core/cma.c and cma_configfs.c",
		"Linux drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c and drivers/infiniband/hw/bnxt_re/debugfs.c; Broadcom bnxt_setupcc.sh 233.2",
		"Linux drivers/net/ethernet/intel/ice/ice_dcb_nl.c; README of Intel's ice and irdma drivers",
		"Linux drivers/net/ethernet/qlogic/qed/qed_dcbx.c and drivers/net/ethernet/chelsio/cxgb4/cxgb4_dcb.c",
		"Linux net/ipv4/route.c: ip_tos2prio",
		"iproute2 dcb/ and the manual pages dcb-ets(8), dcb-pfc(8), dcb-app(8), dcb-dcbx(8)",
		"Mellanox/mlnx-tools python/mlnx_qos 26.07",
		"netplan reference, netplan(5) 0.106",
		"systemd.link(5), systemd.netdev(5), systemd.timer(5), sysctl.d(5), modules-load.d(5), systemd 252",
		"NVIDIA MLNX_OFED documentation: Explicit Congestion Notification, RoCE LAG",
		"linux-rdma/perftest manual pages, rping(1)",
		"NVIDIA NCCL user guide, environment variables; openucx/ucx src/uct/ib/base/ib_iface.c; nvme-connect(1)",
	},
}

// Files of a host's folder.
const (
	netplanFile = "netplan/60-rocec.yaml"
	dataFile    = "host.sh"
)

// impact: mlx5e_dcbnl_ieee_setpfc toggles the port, ice closes and opens the
// netdev at any change of DCB (ice_dcbnl_devreset), bnxt when lossless queues
// move (bnxt_queue_remap). On mlx5 ETS, maps and marks are taken while traffic
// runs; an MTU change reopens the channels of the netdev.
func impact(d *intent.Device, c targets.Change) targets.Impact {
	switch c.Path.Object {
	case intent.OfQoS:
		return qosImpact(d, c.Path)
	case intent.OfPort:
		switch c.Path.Field {
		case "mtu":
			return targets.Impact{Interrupts: true, Note: "the port is reopened for the new MTU"}
		case "speed", "autoneg", "fec", "enabled":
			return targets.Impact{Interrupts: true, Note: "the link is trained anew"}
		case "vfs":
			return targets.Impact{Interrupts: true, Note: "virtual functions are made anew"}
		case "name", "pci", "mac":
			return targets.Impact{Interrupts: true, Note: "the port is renamed at the next boot"}
		}
	case intent.OfDevice:
		return storedImpact(c)
	case intent.OfLAG:
		return targets.Impact{Interrupts: true, Note: "the bond is made anew; its RDMA device as well"}
	case intent.OfIface:
		switch c.Path.Field {
		case "address", "segment", "on":
			return targets.Impact{Interrupts: true, Note: "connections of the old address end"}
		case "gateway", "mtu":
			return targets.Impact{Interrupts: true, Note: anew}
		}
	}
	return targets.Impact{}
}

// anew is what netplan apply does, whatever has changed in its files: it has networkd reload them and configure every device of
// theirs again (netplan_cli/cli/commands/apply.py at 1.1.2), which drops what networkd had set (link_reconfigure_impl in
// src/network/networkd-link.c of systemd) and takes members of bonds down and up (systemd issue 25067).
const anew = "netplan apply sets every device anew: addresses are away for a moment, bonds go down for seconds"

// storedImpact: a file of netplan that is put back is applied, as nobody knows what networkd was told meanwhile. install.sh leaves
// it at that where only comments differ.
func storedImpact(c targets.Change) targets.Impact {
	at, stored := c.Path.Running()
	if !stored || at.Field != placeOf(netplanFile) || strings.HasPrefix(c.Before, "mode ") || strings.HasSuffix(c.Before, inComments) {
		return targets.Impact{}
	}
	return targets.Impact{Interrupts: true, Note: anew}
}

// qosImpact is the gravest of the ports that have the qos.
func qosImpact(d *intent.Device, p intent.Path) targets.Impact {
	on := map[string]bool{}
	for i := range d.Ports {
		if x := &d.Ports[i]; x.QoS == p.Name && x.NIC != nil && !x.Verify {
			on[x.NIC.Driver] = true
		}
	}
	switch p.Field {
	case "trust", "dscp_map", "queue_map", "ets", "pfc":
		if on[ice] {
			return targets.Impact{Interrupts: true, Note: "the port is closed and opened, once for each entry of a map (ice)"}
		}
	}
	switch {
	case p.Field != "pfc":
	case on[mlx5]:
		return targets.Impact{Interrupts: true, Note: "link flap, about 2 s per port (mlx5)"}
	case on[bnxt]:
		return targets.Impact{Interrupts: true, Note: "the port may be closed and opened (bnxt)"}
	}
	return targets.Impact{}
}

// compareVersions orders the versions of a distribution: "22.04", "24.04.1",
// "12". None at all is the newest.
func compareVersions(a, b string) int {
	if a == "" || b == "" {
		return len(b) - len(a)
	}
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}
