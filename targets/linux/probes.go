package linux

import (
	"strings"

	"github.com/rocec/rocec/targets"
)

// stormCommand shows how long an adapter may pause its switch before it drops [ethtool(8)].
const stormCommand = "ethtool --get-tunable %s pfc-prevention-tout"

// probes fill the folder that capture.sh writes. Files that a host cannot fill
// are absent: a probe of mlnx_qos where there is none, ECN files of OFED on an
// in-tree driver.
//
// What is stored is shown by three: what install.sh has put there, what is there now with its mode, which begins with a folder
// that every host has, and the digests of it, as far as the login may read it. sha256sum(1), stat(1) of coreutils.
var probes = []targets.Probe{
	{File: "addr.json", Command: "ip -j -d addr show", Needed: true},
	{File: "rule.json", Command: "ip -j rule show"},
	{File: railsFile, Command: "grep -Hr . /proc/sys/net/ipv4/conf --include=arp_ignore --include=arp_announce --include=rp_filter"},
	{File: "rdma.json", Command: "rdma -j link show"},
	{File: "netplan.yaml", Command: "cat /etc/netplan/60-rocec.yaml"},
	{File: installedFile, Command: "cat /var/lib/rocec/installed", Stored: true},
	{File: placesFile, Command: "stat -c '%a %n' " + strings.Join(append([]string{unitFolder, portUnits, enabledUnits}, filePatterns...), " "), Stored: true},
	{File: digestsFile, Command: "sha256sum " + strings.Join(append([]string{portUnits}, filePatterns...), " "), Stored: true},
	{File: "rdma_cm.txt", Command: "grep -Hr . /sys/kernel/config/rdma_cm --include=default_roce_mode --include=default_roce_tos"},
	{File: "cc_params.txt", Command: "grep -Hr . /sys/kernel/debug/mlx5 --include=np_cnp_dscp --include=np_cnp_prio"},
	{File: "cc_config.txt", Command: "grep -Hr . /sys/kernel/debug/bnxt_re --include=tos_ecn --include=enable_cc --include=cc_mode --include=tos_dscp --include=alt_vlan_pcp --include=alt_vlan_dscp"},
	{File: "%s/ets.json", Command: "dcb -j ets show dev %s", PerPort: true},
	{File: "%s/pfc.json", Command: "dcb -j pfc show dev %s", PerPort: true},
	{File: "%s/app.json", Command: "dcb -j app show dev %s", PerPort: true},
	{File: "%s/buffer.json", Command: "dcb -j buffer show dev %s", PerPort: true},
	{File: "%s/dcbx.json", Command: "dcb -j dcbx show dev %s", PerPort: true},
	{File: "%s/mlnx_qos.txt", Command: "mlnx_qos -i %s -a", PerPort: true},
	{File: "%s/pause.json", Command: "ethtool --json -a %s", PerPort: true},
	{File: "%s/storm.txt", Command: stormCommand, PerPort: true},
	{File: "%s/link.txt", Command: "ethtool %s", PerPort: true},
	{File: "%s/fec.txt", Command: "ethtool --show-fec %s", PerPort: true},
	{File: "%s/priv_flags.txt", Command: "ethtool --show-priv-flags %s", PerPort: true},
	{File: "%s/driver.txt", Command: "ethtool -i %s", PerPort: true},
	{File: "%s/vfs.txt", Command: "ip link show dev %s", PerPort: true},
	{File: "%s/ecn.txt", Command: "grep -Hr . /sys/class/net/%s/ecn/", PerPort: true},
}
