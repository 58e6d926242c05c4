package verify

import "github.com/rocec/rocec/lang/diag"

// Rules are those that only a device can decide, by code.
var Rules = []*diag.Rule{pcieDown, bitErrors, slowLink, pauseRate, slowReceiver, pfcRunning, noCNP, drifted, losslessDrops, losses, stalled}

// The examples of these rules are what a device printed, as captures have it: of
// its settings, or of its health before and after; a test runs them.

var pcieDown = &diag.Rule{
	ID: "ROCE112", Name: "host_pcie_link", Severity: diag.Warning, When: diag.Live,
	Title:  "a NIC runs with the PCIe lanes and the generation of its slot",
	Why:    "at half of the lanes the host cannot take what the port delivers: it pauses its switch, and the switch the fabric",
	Fix:    "reseat the adapter or the riser, and look at the bifurcation in the BIOS",
	Source: "Linux Documentation/ABI/testing/sysfs-bus-pci; lspci LnkSta",
	Bad:    "-- after/health/rail0/pcie.txt --\n/sys/class/net/rail0/device/current_link_speed:8.0 GT/s PCIe\n/sys/class/net/rail0/device/current_link_width:8\n",
	Good:   "-- after/health/rail0/pcie.txt --\n/sys/class/net/rail0/device/current_link_speed:16.0 GT/s PCIe\n/sys/class/net/rail0/device/current_link_width:16\n",
}

var bitErrors = &diag.Rule{
	ID: "ROCE115", Name: "link_bit_errors", Severity: diag.Warning, When: diag.Live,
	Title:  "no frame of a port is lost to bit errors",
	Why:    "RDMA that goes back to the first lost packet stops at a fraction of a percent of loss",
	Fix:    "replace the cable or the module, clean the fibre, and look at the other end",
	Source: "Guo et al., SIGCOMM 2016, 4.1; Linux mlx5 counters.rst",
	Bad:    "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_crc_errors_phy: 4\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_crc_errors_phy: 9\n",
	Good:   "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_crc_errors_phy: 4\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_crc_errors_phy: 4\n",
}

var slowLink = &diag.Rule{
	ID: "ROCE120", Name: "link_speed_negotiated", Severity: diag.Warning, When: diag.Live,
	Title:  "a link comes up at its declared speed",
	Why:    "headroom, thresholds and shares were computed for the declared one, and all that crosses the link waits for it",
	Fix:    "look at the module, at FEC and at autonegotiation of both ends",
	Source: "theory I1; ethtool(8)",
	Bad:    "-- capture/rail0/link.txt --\nSettings for rail0:\n\tSpeed: 25000Mb/s\n\tAuto-negotiation: on\n\tLink detected: yes\n",
	Good:   "-- capture/rail0/link.txt --\nSettings for rail0:\n\tSpeed: 100000Mb/s\n\tAuto-negotiation: on\n\tLink detected: yes\n",
}

var pauseRate = &diag.Rule{
	ID: "ROCE317", Name: "link_pause_rate", Severity: diag.Warning, When: diag.Live,
	Title:  "pauses are rare, and no watchdog had to end a storm",
	Why:    "one NIC that pauses two thousand times a second stopped half of the servers of a data centre",
	Fix:    "follow the pauses hop by hop to the device that sends them first",
	Source: "Guo et al., SIGCOMM 2016, 4.3 and 6.2",
	Bad:    "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 100\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 20100\n",
	Good:   "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 100\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 120\n",
}

var slowReceiver = &diag.Rule{
	ID: "ROCE318", Name: "host_slow_receiver", Severity: diag.Warning, When: diag.Live,
	Title:  "no host pauses a switch that does not pause it",
	Why:    "a host that cannot take its own traffic, for its PCIe link, its page tables or RDMA to itself, spreads pauses into a fabric that is not loaded",
	Fix:    "look at its PCIe link, at page sizes, and at RDMA that it sends to itself",
	Source: "Guo et al., SIGCOMM 2016, 4.4; Gao et al., NSDI 2023, 8.3",
	Bad:    "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 7\n     tx_prio3_pause: 100\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 7\n     tx_prio3_pause: 600\n",
	Good:   "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 7\n     tx_prio3_pause: 100\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 90\n     tx_prio3_pause: 600\n",
}

var pfcRunning = &diag.Rule{
	ID: "ROCE319", Name: "link_pfc_operational", Severity: diag.Error, When: diag.Live,
	Title:  "a port runs PFC on the declared priorities",
	Why:    "DCBX from the switch, or a tool on the host, has changed what was set: pauses stop another class, or none",
	Fix:    "find who else sets it (DCBX willing, lldpad, a vendor tool), and apply again",
	Source: "IEEE 802.1Q 38.5.4; theory I19; dcb-pfc(8)",
	Bad:    "-- capture/rail0/pfc.json --\n{\"pfc_cap\":8,\"macsec_bypass\":false,\"delay\":0,\"prio_pfc\":[false,false,false,false,true,false,false,false]}\n",
	Good:   "-- capture/rail0/pfc.json --\n{\"pfc_cap\":8,\"macsec_bypass\":false,\"delay\":0,\"prio_pfc\":[false,false,false,true,false,false,false,false]}\n",
}

var noCNP = &diag.Rule{
	ID: "ROCE419", Name: "host_cnp_sent", Severity: diag.Warning, When: diag.Live,
	Title:  "a NIC that receives marked packets sends congestion notifications",
	Why:    "marks that nobody answers slow nobody down: the class runs into its pauses as if there were no ECN",
	Fix:    "enable the notification point, and look at the queue of notifications and at the firmware",
	Source: "Linux drivers/infiniband/hw/mlx5/counters.c; NVIDIA/nccl #394; Gangidi et al., SIGCOMM 2024",
	Bad: "-- before/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets:5\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:5\n" +
		"-- after/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets:9000\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:5\n",
	Good: "-- before/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets:5\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:5\n" +
		"-- after/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets:9000\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:800\n",
}

var drifted = &diag.Rule{
	ID: "ROCE904", Name: "plan_drift", Severity: diag.Warning, When: diag.Live,
	Title:  "a device is set as the source says",
	Why:    "what was proven was proven of the source: a device that differs is another fabric",
	Fix:    "apply again, or take what the device has into the source",
	Source: "rocec plan; rocec verify",
	Bad:    "-- capture/addr.json --\n[{\"ifname\":\"rail0\",\"mtu\":1500,\"flags\":[\"UP\"],\"addr_info\":[]}]\n",
	Good:   "-- capture/addr.json --\n[{\"ifname\":\"rail0\",\"mtu\":9000,\"flags\":[\"UP\"],\"addr_info\":[]}]\n",
}

var losslessDrops = &diag.Rule{
	ID: "ROCE913", Name: "buffer_lossless_drops", Severity: diag.Warning, When: diag.Live,
	Title:  "a lossless priority drops nothing",
	Why:    "its frames were promised room: headroom is too small for the cable, or somebody on the path does not pause",
	Fix:    "look at headroom and cable length, and whether PFC is on along the whole path",
	Source: "Linux mlx5 counters.rst, rx_prio[i]_discards; sonic-utilities scripts/pg-drop",
	Bad:    "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_discards: 0\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_discards: 12\n",
	Good:   "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio0_discards: 0\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio0_discards: 12\n",
}

var losses = &diag.Rule{
	ID: "ROCE916", Name: "host_rdma_losses", Severity: diag.Warning, When: diag.Live,
	Title:  "the RDMA of a NIC loses nothing",
	Why:    "packets out of sequence and acknowledgements that do not come mean that some hop drops what should be lossless",
	Fix:    "look for drops along the path of its class",
	Source: "Linux drivers/infiniband/hw/mlx5/counters.c; NVIDIA/nccl #394",
	Bad: "-- before/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:3\n" +
		"-- after/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:4\n",
	Good: "-- before/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:3\n" +
		"-- after/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:3\n",
}

var stalled = &diag.Rule{
	ID: "ROCE733", Name: "host_stalled", Severity: diag.Error, When: diag.Live,
	Title: "a host takes nothing, and its NIC drops",
	Why: "the NIC has paused its switch until pause_storm_timeout ended: from then on it drops what it receives, " +
		"on lossless priorities too, and every connection to the host stands still",
	Fix:    "look at the PCIe link, memory and firmware of the host, and drain it meanwhile: its switch port is the start of a pause storm",
	Source: "Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst, tx_pause_storm_error_events; " +
		"Guo et al., SIGCOMM 2016, 4.3",
	Bad: "-- before/health/rail0/counters.txt --\nNIC statistics:\n     tx_pause_storm_error_events: 0\n" +
		"-- after/health/rail0/counters.txt --\nNIC statistics:\n     tx_pause_storm_error_events: 2\n",
	Good: "-- before/health/rail0/counters.txt --\nNIC statistics:\n     tx_pause_storm_error_events: 2\n" +
		"-- after/health/rail0/counters.txt --\nNIC statistics:\n     tx_pause_storm_error_events: 2\n",
}

// Rules whose other half the compiler decides, over what the source says was
// found: it says what they are.
var (
	acs        = &diag.Rule{ID: "ROCE113", Severity: diag.Warning}
	dcbxOwners = &diag.Rule{ID: "ROCE217", Severity: diag.Warning}
	dcqcnOff   = &diag.Rule{ID: "ROCE412", Severity: diag.Warning}
	noHeadroom = &diag.Rule{ID: "ROCE512", Severity: diag.Error, Fix: "set the cable length, and apply again"}
	memlock    = &diag.Rule{ID: "ROCE714", Severity: diag.Error}
	gidIndex   = &diag.Rule{ID: "ROCE715", Severity: diag.Error}
	modules    = &diag.Rule{ID: "ROCE716", Severity: diag.Error}

	stormPrevention = &diag.Rule{ID: "ROCE732", Severity: diag.Warning}
)
