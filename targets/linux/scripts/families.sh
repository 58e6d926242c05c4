# What the families of adapters do in ways of their own.

# The LLDP agent in the firmware of an E810 refuses every change of DCB while
# it runs. The flag outlives a reboot (intel/ethernet-linux-ice README).
have_agent() {
	local text
	if [[ -n $captured ]]; then text=$(cat "$captured/$dev/priv_flags.txt"); else text=$(ethtool --show-priv-flags "$dev" 2>/dev/null); fi
	[[ $text =~ fw-lldp-agent[[:space:]]*:[[:space:]]*(on|off) ]] && echo "${BASH_REMATCH[1]}"
}
set_agent() { ethtool --set-priv-flags "$dev" fw-lldp-agent "$1"; }

# ice of the kernel maps DSCPs since Linux 5.16 (commit 2a87bd73e50d) and took such entries without effect before; the driver
# of Intel has a version of its own.
maps_dscp() { [[ $driver != ice || -e /sys/module/ice/version ]] || since 5 16; }

# irdma of the kernel asks the map of a VLAN device since Linux 6.6 (commit f877f22ac1e9, "Implement egress VLAN priority"), and
# tagged frames with the kernel priority of their TOS before.
maps_pcp() { [[ $driver != ice || -e /sys/module/irdma/version ]] || since 6 6; }

# since MAJOR MINOR: whether the kernel is of this release or a later one.
since() {
	local release major
	release=$(uname -r)
	major=${release%%.*} release=${release#*.}
	((major > $1 || major == $1 && ${release%%[!0-9]*} >= $2))
}

# ice refuses a second entry for a DSCP, and bnxt forgets a DSCP when its old
# entry goes after the new one came: what is there goes first.
have_dscp_ice() { have_dscp_dcb; }
set_dscp_ice() { exchange_dscp "$1"; }

# bnxt gives a DSCP without an entry priority 0, so that only the others have one.
have_dscp_bnxt() {
	local map i
	map=$(have_dscp_dcb) || return
	[[ $map != none || $trust != dscp ]] || map=$(for ((i = 0; i < 64; i++)); do printf -- '- '; done)
	map=${map% }
	echo "${map//-/0}"
}
set_dscp_bnxt() { exchange_dscp "${1//0/-}"; }

exchange_dscp() {
	local aim current now have old=() new=() i p
	if [[ $1 == none ]]; then
		dcb app flush dev "$dev" dscp-prio
		return
	fi
	read -ra aim <<<"$1"
	current=$(have_dscp_dcb)
	read -ra now <<<"${current/none/}"
	for ((i = 0; i < 64; i++)); do
		have=${now[i]--}
		[[ ${aim[i]} != "$have" ]] || continue
		for p in ${have//+/ }; do [[ $p == - ]] || old+=("$i:$p"); done
		[[ ${aim[i]} == - ]] || new+=("$i:${aim[i]}")
	done
	((${#old[@]} == 0)) || dcb app del dev "$dev" dscp-prio "${old[@]}"
	((${#new[@]} == 0)) || dcb app add dev "$dev" dscp-prio "${new[@]}"
}

# The entry for UDP port 4791 tells the firmware of bnxt which priority RoCE has (bnxt_dcb.c, bnxt_hwrm_set_dcbx_app).
have_roce_port() {
	local json list=()
	json=$(dcb_show app) || return
	[[ $json =~ \"dgram_port_prio\":\[(\[[0-9,]+\](,\[[0-9,]+\])*)\] ]] || { echo none; return; }
	json=${BASH_REMATCH[1]}
	while [[ $json =~ ^,?\[([0-9]+),([0-9]+)\](.*)$ ]]; do
		json=${BASH_REMATCH[3]}
		[[ ${BASH_REMATCH[1]} != 4791 ]] || list+=("${BASH_REMATCH[2]}")
	done
	echo "${list[*]-none}"
}
set_roce_port() {
	local p
	for p in $(have_roce_port); do
		[[ $p == none || $p == "$1" ]] || dcb app del dev "$dev" dgram-port-prio "4791:$p"
	done
	[[ $1 == none || " $(have_roce_port) " == *" $1 "* ]] || dcb app add dev "$dev" dgram-port-prio "4791:$1"
}

# An E810 runs RoCE or iWARP, one at a time; a device of iWARP is an RNIC.
have_protocol() {
	local kind
	kind=$(cat "/sys/class/infiniband/$rdma_dev/node_type" 2>/dev/null) || return
	if [[ $kind == *RNIC* ]]; then echo iwarp; else echo roce; fi
}
set_protocol() {
	local at other=roce
	at=pci/$(pci_of "$dev")
	[[ $1 == iwarp ]] || other=iwarp
	devlink dev param set "$at" name "enable_$other" value false cmode runtime
	devlink dev param set "$at" name "enable_$1" value true cmode runtime
	until_ready rdma_of
}
settle_protocol() {
	case $driver in
	ice) settle "RDMA protocol" "$rdma" have_protocol set_protocol ;;
	qede | cxgb4) [[ $(have_protocol) == "$rdma" ]] || wrong "RDMA protocol is $(have_protocol), wanted $rdma" ;;
	esac
}

# irdma of Intel has a folder for each device that one makes; while it is there the driver cannot be unloaded.
settle_irdma() {
	local base=/sys/kernel/config/irdma
	if [[ ! -d $base ]]; then
		[[ -z $dcqcn ]] || wrong "cannot show that DCQCN runs: no $base, which only the driver of Intel has"
		return
	fi
	mkdir -p "$base/$rdma_dev"
	settle_file "DCQCN" "$([[ -n $dcqcn ]] && echo 1 || echo 0)" "$base/$rdma_dev/roce_dcqcn_enable"
	rmdir "$base/$rdma_dev" 2>/dev/null
}

# settle_bnxt: the driver of Broadcom has a folder in configfs, where older versions collect settings until "apply"; the
# one of the kernel has files in debugfs. NAME=VALUE of each setting, in one text.
settle_bnxt() {
	local own=/sys/kernel/config/bnxt_re kernel places='' wanted='' changed='' e
	kernel=/sys/kernel/debug/bnxt_re/$(pci_of "$dev")/cc_config
	if [[ -d $own ]]; then
		mkdir -p "$own/$rdma_dev"
		places=$own/$rdma_dev/ports/$rdma_port/cc
		[[ $trust != dscp ]] || wanted+=" disable_prio_vlan_tx=1"
		[[ $trust != pcp ]] || wanted+=" disable_prio_vlan_tx=0"
		for e in ecn_marking="${ecn:+1}" ecn_enable="$(cc_runs)" cc_mode="${dcqcn:+1}" roce_prio="$roce_prio" \
			roce_dscp="$(cc_dscp)" cnp_prio="$cnp_prio" cnp_dscp="$cnp_dscp"; do
			[[ $e == *= ]] || wanted+=" $e"
		done
	elif [[ -d $kernel ]]; then
		places=$kernel
		for e in tos_ecn="${ecn:+1}" enable_cc="$(cc_runs)" cc_mode="${dcqcn:+1}" tos_dscp="$(cc_dscp)" \
			alt_vlan_pcp="$cnp_prio" alt_vlan_dscp="$cnp_dscp"; do
			[[ $e == *= ]] || wanted+=" $e"
		done
	else
		wrong "cannot show its congestion control: neither $own nor $kernel exists"
		return
	fi
	wanted=${wanted# }
	[[ $(have_cc) == "$wanted" ]] || changed=yes
	settle "congestion control" "$wanted" have_cc set_cc
	if [[ -n $changed && $mode == apply && -e $places/apply ]]; then
		printf 0x1 >"$places/apply" || fail "the driver did not take the settings of congestion control"
	fi
	[[ ! -d $own/$rdma_dev ]] || rmdir "$own/$rdma_dev" 2>/dev/null
}
# ECN-capable packets without congestion control would only be marked; receiver-driven classes have none.
cc_runs() { if [[ -n $ecn$dcqcn && -z $dcqcn_off ]]; then echo 1; elif [[ -n $dcqcn_off ]]; then echo 0; fi; }
cc_dscp() { [[ -z $roce_tos ]] || echo $((roce_tos >> 2)); }
have_cc() {
	local e value list=()
	for e in $wanted; do
		value=$(cat "$places/${e%%=*}" 2>/dev/null) || value=absent
		[[ ! $value =~ ^(0x[0-9a-fA-F]+|[0-9]+)$ ]] || value=$((value))
		list+=("${e%%=*}=$value")
	done
	echo "${list[*]}"
}
# Hexadecimal with its mark, which every version reads the same.
set_cc() {
	local e
	for e in $1; do printf '0x%x' "${e#*=}" >"$places/${e%%=*}"; done
}

