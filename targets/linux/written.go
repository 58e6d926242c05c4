package linux

import "github.com/rocec/rocec/targets"

// written: a setting that a boot or a driver that is loaded again would undo is
// made anew by systemd. The rule that sets sysctls of a device as it appears is
// 99-systemd.rules of systemd.
var written = []targets.Written{
	{Settings: "names of ports", Place: "systemd `.link` by PCI address, netplan `set-name` by MAC address", Lasts: "udev, whenever the device appears"},
	{Settings: "addresses, MTU, bonds, VLAN devices, routes and rules of each rail, count and mode of virtual functions", Place: "`/etc/netplan/60-rocec.yaml`", Lasts: "netplan and systemd-networkd at boot, and whenever the device appears (virtual functions: netplan, at boot)"},
	{Settings: "ARP and reverse path of hosts with several addresses", Place: "`/etc/sysctl.d/60-rocec.conf`", Lasts: "systemd-sysctl at boot, and by udev whenever the device appears"},
	{
		Settings: "trust, maps, ETS, PFC, rate limits, cable length, DCBX owner, global pause, autonegotiation, FEC; PCP of VLAN devices; trust and VLAN of virtual functions",
		Place:    "`/etc/rocec/host.sh`, `rocec-qos@PORT.service`", Lasts: "systemd at boot, and whenever the network device appears",
	},
	{Settings: "RoCE version and TOS of rdma_cm, DCQCN, marks of CNPs, soft-RoCE, RoCE or iWARP of an E810", Place: "`/etc/rocec/host.sh`, `rocec-qos.service`", Lasts: "udev, whenever an RDMA device appears, and with the network device"},
	{Settings: "modules of RDMA", Place: "`/etc/modules-load.d/rocec-*.conf`", Lasts: "systemd-modules-load at boot"},
	{Settings: "unlimited locked memory", Place: "`/etc/security/limits.d/60-rocec.conf`", Lasts: "PAM at every login; a systemd service needs `LimitMEMLOCK=infinity` of its own"},
	{
		Settings: "variables of applications for each class of RDMA (TOS and service level of NCCL and UCX, of a class with `marked_by = \"application\"` too), devices in the order of the GPUs beside them",
		Place:    "`/etc/rocec/env/CLASS.env`, `rocec-env`", Lasts: "`rocec-env` asks for the names of RDMA devices and the index of the GID whenever it is called; no file holds an index",
	},
	{
		Settings: "what of all this was put there: mode and digest of each file, and the units that start at boot", Place: "`/var/lib/rocec/installed`",
		Lasts: "`plan` and `verify` compare it with what is there, show what differs as `stored.` settings, and `apply` puts it back",
	},
}

var left = []string{
	"settings in the NVRAM of adapters (`mstconfig`): compared as far as RoCE stands on them, never written",
	"firmware and drivers: compared, never installed",
	"lldpad: reported where it runs beside these settings, never stopped",
	"MAC addresses of virtual functions, and what runs in guests",
	"access control of PCIe (ACS), IOMMU, interrupts and CPU settings, nvidia-peermem",
}
