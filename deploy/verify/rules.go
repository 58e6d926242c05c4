package verify

import "github.com/rocec/rocec/lang/diag"

// Rules are those that only a device can decide, by code.
var Rules = []*diag.Rule{pcieDown, bitErrors, slowLink, pauseRate, slowReceiver, pfcRunning, noCNP, drifted, losslessDrops, losses, stalled, strictPaths, shortReads}

// The examples of these rules are what a device printed, as captures have it: of
// its settings, or of its health before and after; a test runs them.

var pcieDown = &diag.Rule{
	ID: "ROCE112", Name: "host_pcie_link", Severity: diag.Warning, When: diag.Live,
	Title:  "a NIC runs with fewer PCIe lanes, or an older generation, than its slot has",
	Why:    "at half of the lanes the host cannot take what the port delivers: it pauses its switch, and the switch the fabric",
	Fix:    "reseat the adapter or the riser, and look at the bifurcation in the BIOS",
	Source: "torvalds/linux Documentation/ABI/testing/sysfs-bus-pci, current_link_speed and current_link_width; lspci(8), LnkSta",
	Bad:    "-- after/health/rail0/pcie.txt --\n/sys/class/net/rail0/device/current_link_speed:8.0 GT/s PCIe\n/sys/class/net/rail0/device/current_link_width:8\n",
	Good:   "-- after/health/rail0/pcie.txt --\n/sys/class/net/rail0/device/current_link_speed:16.0 GT/s PCIe\n/sys/class/net/rail0/device/current_link_width:16\n",
}

var bitErrors = &diag.Rule{
	ID: "ROCE115", Name: "link_bit_errors", Severity: diag.Warning, When: diag.Live,
	Title: "a port loses frames to bit errors",
	Why: "each loss makes a NIC go back to the lost packet and send all that followed again; older firmware begins the message anew, " +
		"and then gets " +
		"nowhere at a loss of 0.4 %",
	Fix: "replace the cable or the module, clean the fibre, and look at the other end",
	Source: "Guo et al., SIGCOMM 2016, 4.1 (go-back-0 stood still at a loss of 1/256, go-back-N does not); torvalds/linux " +
		"Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst, rx_crc_errors_phy",
	Bad:  "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_crc_errors_phy: 4\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_crc_errors_phy: 9\n",
	Good: "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_crc_errors_phy: 4\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_crc_errors_phy: 4\n",
}

var slowLink = &diag.Rule{
	ID: "ROCE120", Name: "link_speed_negotiated", Severity: diag.Warning, When: diag.Live,
	Title:  "a link came up slower than declared",
	Why:    "headroom, thresholds and shares were computed for the declared one, and all that crosses the link waits for it",
	Fix:    "look at the module, at FEC and at autonegotiation of both ends",
	Source: "ethtool(8), Speed and Auto-negotiation; IEEE 802.3-2022, clause 73",
	Bad:    "-- capture/rail0/link.txt --\nSettings for rail0:\n\tSpeed: 25000Mb/s\n\tAuto-negotiation: on\n\tLink detected: yes\n",
	Good:   "-- capture/rail0/link.txt --\nSettings for rail0:\n\tSpeed: 100000Mb/s\n\tAuto-negotiation: on\n\tLink detected: yes\n",
}

var pauseRate = &diag.Rule{
	ID: "ROCE317", Name: "link_pause_rate", Severity: diag.Warning, When: diag.Live,
	Options: []diag.Option{{
		Name: "share", Unit: "%", Default: 50, Min: 1, Max: 1000, Doc: "pauses that stop the port for this share of the time, if each " +
			"lasts as long as a pause can",
	}},
	Title: "a port is paused, or pauses its peer, much of the time, or a watchdog had to end a storm",
	Why: "pauses spread from port to port: one NIC that sent two thousand of them a second stopped servers that had nothing to do with " +
		"it. What a " +
		"watchdog drops until the queue is restored is its own work, and no fault of buffers",
	Fix: "follow the pauses hop by hop to the device that sends them first",
	Source: "Guo et al., SIGCOMM 2016, 4.3 and 6.2; IEEE 802.3-2022, 31B.2 (a pause lasts 65535 quanta of 512 bit times at most); half " +
		"of the time is a " +
		"house limit",
	Formula: "pauses a second > share x speed / (65535 x 512 bit): 596 at 40G, 1490 at 100G, 5960 at 400G",
	Bad:     "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 100\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 20100\n",
	Good:    "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 100\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 120\n",
}

var slowReceiver = &diag.Rule{
	ID: "ROCE318", Name: "host_slow_receiver", Severity: diag.Warning, When: diag.Live,
	Options: []diag.Option{{Name: "rate", Unit: "/s", Default: 10, Min: 1, Max: 100_000, Doc: "pauses a second that a host may send " +
		"while its switch sends none"}},
	Title: "a host pauses a switch that does not pause it",
	Why:   "a host that cannot take its own traffic, for its PCIe link, its page tables or RDMA to itself, spreads pauses into a fabric that is not loaded",
	Fix:   "look at its PCIe link, at page sizes, and at RDMA that it sends to itself",
	Source: "Guo et al., SIGCOMM 2016, 4.4 (slow receiver symptom); Bai et al., NSDI 2023, 8.3 (RDMA of a host to itself); ten a " +
		"second is a house limit",
	Bad:  "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 7\n     tx_prio3_pause: 100\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 7\n     tx_prio3_pause: 600\n",
	Good: "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 7\n     tx_prio3_pause: 100\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_pause: 90\n     tx_prio3_pause: 600\n",
}

var pfcRunning = &diag.Rule{
	ID: "ROCE319", Name: "link_pfc_operational", Severity: diag.Error, When: diag.Live,
	Title:      "a port runs PFC on other priorities than declared",
	Why:        "DCBX from the switch, or a tool on the host, has changed what was set: pauses stop another class, or none",
	Fix:        "find who else sets it (DCBX willing, lldpad, a vendor tool), and apply again",
	Interrupts: "traffic of the port while its buffers are carved again",
	Source:     "IEEE 802.1Q-2018, clause 38 (DCBX: willing ends take the peer's PFC); dcb-pfc(8)",
	Bad:        "-- capture/rail0/pfc.json --\n{\"pfc_cap\":8,\"macsec_bypass\":false,\"delay\":0,\"prio_pfc\":[false,false,false,false,true,false,false,false]}\n",
	Good:       "-- capture/rail0/pfc.json --\n{\"pfc_cap\":8,\"macsec_bypass\":false,\"delay\":0,\"prio_pfc\":[false,false,false,true,false,false,false,false]}\n",
}

var noCNP = &diag.Rule{
	ID: "ROCE419", Name: "host_cnp_sent", Severity: diag.Warning, When: diag.Live,
	Title:  "a NIC that receives marked packets sends no congestion notifications",
	Why:    "marks that nobody answers slow nobody down: the class runs into its pauses as if there were no ECN",
	Fix:    "enable the notification point, and look at the queue of notifications and at the firmware",
	Source: "torvalds/linux drivers/infiniband/hw/mlx5/counters.c; NVIDIA/nccl #394; Gangidi et al., SIGCOMM 2024",
	Bad: "-- before/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets:5\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:5\n" +
		"-- after/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets:9000\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:5\n",
	Good: "-- before/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets:5\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:5\n" +
		"-- after/health/rail0/hw_counters.txt --\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets:9000\n/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:800\n",
}

var drifted = &diag.Rule{
	ID: "ROCE904", Name: "plan_drift", Severity: diag.Warning, When: diag.Live,
	Title:  "a device is not set as the source says",
	Why:    "what was proven was proven of the source: a device that differs is another fabric",
	Fix:    "apply again, or take what the device has into the source",
	Source: "rocec plan; rocec verify",
	Bad:    "-- capture/addr.json --\n[{\"ifname\":\"rail0\",\"mtu\":1500,\"flags\":[\"UP\"],\"addr_info\":[]}]\n",
	Good:   "-- capture/addr.json --\n[{\"ifname\":\"rail0\",\"mtu\":9000,\"flags\":[\"UP\"],\"addr_info\":[]}]\n",
}

var losslessDrops = &diag.Rule{
	ID: "ROCE913", Name: "buffer_lossless_drops", Severity: diag.Warning, When: diag.Live,
	Title: "a lossless priority drops frames",
	Why: "its frames were promised room: headroom is too small for the cable, or somebody on the path does not pause. While a " +
		"watchdog restores a queue it drops its frames on purpose: see its events first",
	Fix: "unless a watchdog ended a storm then, which drops the class until it restores: look at headroom and cable length, " +
		"and whether PFC is on along the whole path",
	Source: "Linux mlx5 counters.rst, rx_prio[i]_discards; sonic-utilities scripts/pg-drop",
	Bad:    "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_discards: 0\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio3_discards: 12\n",
	Good:   "-- before/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio0_discards: 0\n-- after/health/rail0/counters.txt --\nNIC statistics:\n     rx_prio0_discards: 12\n",
}

var losses = &diag.Rule{
	ID: "ROCE916", Name: "host_rdma_losses", Severity: diag.Warning, When: diag.Live,
	Title:  "the RDMA of a NIC loses packets",
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
	Fix: "look at the PCIe link, memory and firmware of the host, and drain it meanwhile: its switch port is the start of a pause storm",
	Source: "Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst, tx_pause_storm_error_events; " +
		"Guo et al., SIGCOMM 2016, 4.3",
	Bad: "-- before/health/rail0/counters.txt --\nNIC statistics:\n     tx_pause_storm_error_events: 0\n" +
		"-- after/health/rail0/counters.txt --\nNIC statistics:\n     tx_pause_storm_error_events: 2\n",
	Good: "-- before/health/rail0/counters.txt --\nNIC statistics:\n     tx_pause_storm_error_events: 2\n" +
		"-- after/health/rail0/counters.txt --\nNIC statistics:\n     tx_pause_storm_error_events: 2\n",
}

var strictPaths = &diag.Rule{
	ID: "ROCE753", Name: "host_rp_filter", Severity: diag.Warning, When: diag.Live,
	Title: "a host with several rails drops what comes in by another rail than its routes answer by",
	Why: "with rp_filter 1 the kernel drops ARP, connection set-up and TCP between rails, and rdma_cm refuses the connection: " +
		"collectives hang at the start, on this host alone",
	Fix: "set net.ipv4.conf.DEVICE.rp_filter and that of all to 2, at boot as well",
	Source: "Linux Documentation/networking/ip-sysctl.rst, rp_filter; drivers/infiniband/core/cma.c, validate_ipv4_net_dev; " +
		"github.com/NVIDIA/nccl issue 1109",
	Bad: "-- after/health/rp_filter.txt --\n/proc/sys/net/ipv4/conf/all/rp_filter:0\n" +
		"/proc/sys/net/ipv4/conf/rail0/rp_filter:1\n/proc/sys/net/ipv4/conf/rail1/rp_filter:1\n",
	Good: "-- after/health/rp_filter.txt --\n/proc/sys/net/ipv4/conf/all/rp_filter:0\n" +
		"/proc/sys/net/ipv4/conf/rail0/rp_filter:2\n/proc/sys/net/ipv4/conf/rail1/rp_filter:2\n",
}

var shortReads = &diag.Rule{
	ID: "ROCE754", Name: "pcie_read_request", Severity: diag.Warning, When: diag.Live,
	Title: "an adapter in a fast slot asks memory for 512 bytes at a time",
	Why: "the slot is wide enough and the reads are too many: the adapter cannot send at its rate, fills, and pauses its switch " +
		"although nothing else is wrong with the host",
	Fix: "set MaxReadReq to 4096 with the tool of the maker or setpci, at boot as well, and look at relaxed ordering in the BIOS",
	Source: "Mellanox Community, Understanding PCIe Configuration for Maximum Performance, PCIe Max Read Request; lspci(8); " +
		"a slot of PCIe 5 x16 as the bound is a house limit",
	Bad: shortReadsOf("512"), Good: shortReadsOf("4096"),
}

// shortReadsOf is what a host prints of an adapter in a slot of PCIe 5.
func shortReadsOf(bytes string) string {
	return "-- after/health/requests.txt --\n0000:3b:00.0 Ethernet controller: Mellanox Technologies MT2910\n" +
		"\t\t\tMaxPayload 512 bytes, MaxReadReq " + bytes + " bytes\n" +
		"-- after/health/rail0/slot.txt --\n/sys/class/net/rail0/device/uevent:PCI_SLOT_NAME=0000:3b:00.0\n" +
		"-- after/health/rail0/pcie.txt --\n/sys/class/net/rail0/device/current_link_speed:32.0 GT/s PCIe\n" +
		"/sys/class/net/rail0/device/current_link_width:16\n"
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

	stormPrevention = &diag.Rule{ID: "ROCE732", Severity: diag.Warning, Options: []diag.Option{{Name: "most", Unit: "ms", Default: 1000}}}
)
