#!/bin/bash
# made by rocec for gpu1
# intent sha256:c7a368a7a6fb5a43f783ee2173cc16b1a462a7763263bb8b7f2c776876dcaf3c
set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"

ports=(rail0 rail1)

# The read-only commands and the file that each one fills.
probe_host() {
	save addr.json ip -j -d addr show
	save rule.json ip -j rule show
	save rdma.json rdma -j link show
	save netplan.yaml cat /etc/netplan/60-rocec.yaml
	save rdma_cm.txt grep -Hr . /sys/kernel/config/rdma_cm --include=default_roce_mode --include=default_roce_tos
	save cc_params.txt grep -Hr . /sys/kernel/debug/mlx5 --include=np_cnp_dscp --include=np_cnp_prio
}
probe_port() {
	local port=$1
	save "$port/ets.json" dcb -j ets show dev "$port"
	save "$port/pfc.json" dcb -j pfc show dev "$port"
	save "$port/app.json" dcb -j app show dev "$port"
	save "$port/buffer.json" dcb -j buffer show dev "$port"
	save "$port/dcbx.json" dcb -j dcbx show dev "$port"
	save "$port/mlnx_qos.txt" mlnx_qos -i "$port" -a
	save "$port/pause.json" ethtool --json -a "$port"
	save "$port/link.txt" ethtool "$port"
	save "$port/fec.txt" ethtool --show-fec "$port"
	save "$port/driver.txt" ethtool -i "$port"
	save "$port/vfs.txt" ip link show dev "$port"
	save "$port/ecn.txt" grep -Hr . /sys/class/net/"$port"/ecn/
}

# Writes what this host shows of its settings into a folder that rocec reads.
# It changes nothing.

# save FILE COMMAND...: the output of a command; a file only if there was any.
save() {
	local file=$dir/$1
	shift
	install -d "$(dirname "$file")"
	"$@" >"$file" 2>/dev/null
	[[ -s $file ]] || rm -f -- "$file"
}

main() {
	local p dir=${1-}
	if [[ -z $dir ]]; then
		echo "usage: capture.sh DIR" >&2
		return 1
	fi
	install -d -m 700 "$dir" || return 1
	probe_host
	for p in "${ports[@]}"; do
		[[ ! -e /sys/class/net/$p ]] || probe_port "$p"
	done
	echo "captured into $dir"
}

main "$@"
