# Each setting is read, compared, set only when it differs (a change of PFC
# takes the link of an mlx5 port down and up), and read again by a new process:
# dcb of iproute2 6.1 exits 0 when the kernel refused.

data=/etc/rocec/host.sh
mode=apply
captured=
dev=
failures=0
drifts=0

# What the data of a host say. An empty setting is not managed.
tool=dcb
ports=()
forget() {
	compare_only='' model='' driver='' pci='' mac='' firmware='' driver_version='' bond='' siblings=''
	admin='' autoneg='' speed='' fec='' mtu='' untagged='' pause='' storm=''
	dcbx='' trust='' dscp_prio='' dscp_rest='' prio_tc='' tsa='' bw='' rate='' pfc='' cable='' headroom='' egress=''
	vfs='' vf_mode='' vf_vlan='' vf_trust='' vf_rdma=''
	rdma='' roce_mode='' roce_tos='' roce_prio='' ecn='' dcqcn='' dcqcn_off='' cnp_dscp='' cnp_prio=''
}

# of PORT takes the settings of a port.
of() {
	forget
	want "$1"
}

say() { printf '%s: %s\n' "$dev" "$*"; }
fail() {
	failures=$((failures + 1))
	say "FAILED: $*" >&2
}
drift() {
	drifts=$((drifts + 1))
	say "differs: $*"
}
wrong() { if [[ $mode == check ]]; then drift "$@"; else fail "$@"; fi; }

# settle LABEL WANT READ SET: makes what READ prints equal to WANT by SET,
# which finds WANT as its argument.
settle() {
	local label=$1 want=$2 read=$3 set=$4 have out
	have=$("$read") || have="not readable"
	[[ $have == "$want" ]] && return 0
	if [[ $mode == check ]]; then
		drift "$label is $(shown "$have" "$want"), wanted $(shown "$want" "$have")"
		return 0
	fi
	say "$label: $(shown "$have" "$want") -> $(shown "$want" "$have")"
	out=$("$set" "$want" 2>&1)
	have=$("$read") || have="not readable"
	if [[ $have != "$want" ]]; then
		fail "$label is $(shown "$have" "$want") after the change, wanted $(shown "$want" "$have")${out:+: ${out//$'\n'/ | }}"
	fi
}

# shown VALUE OTHER: a map of all 64 DSCPs as the entries that differ.
shown() {
	local mine theirs i differing=''
	read -ra mine <<<"$1"
	read -ra theirs <<<"$2"
	if ((${#mine[@]} != 64)); then
		echo "$1"
		return
	fi
	((${#theirs[@]} == 64)) || read -ra theirs <<<"$(for ((i = 0; i < 64; i++)); do printf '0 '; done)"
	for ((i = 0; i < 64; i++)); do
		[[ ${mine[i]} == "${theirs[i]}" ]] || differing+=" $i:${mine[i]}"
	done
	echo "dscp${differing:- all 0}"
}

# settle_file LABEL WANT FILE: the same for a file that holds one value.
settle_file() {
	file=$3
	settle "$1" "$2" have_file set_file
}
have_file() { cat -- "$file" 2>/dev/null; }
set_file() { printf '%s\n' "$1" >"$file"; }

# until_ready COMMAND...: waits for what other services do at boot.
until_ready() {
	local deadline=$((SECONDS + 30))
	until "$@"; do
		((SECONDS < deadline)) || return 1
		sleep 1
	done
}

pci_of() { basename "$(readlink -f "/sys/class/net/$1/device")"; }

kernel_driver() {
	case $driver in
	mlx5) echo mlx5_core ;;
	bnxt) echo bnxt_en ;;
	*) echo "$driver" ;;
	esac
}

# A name that went to another adapter must not get this port's settings.
identify() {
	local have
	if [[ -n $pci ]]; then
		have=$(pci_of "$dev")
		[[ ${have,,} == "$pci" ]] || { wrong "sits at PCI ${have:-none}, wanted $pci ($model)"; return 1; }
	fi
	if [[ -n $mac ]]; then
		have=$(ip -d link show dev "$dev" 2>/dev/null)
		[[ ${have,,} =~ permaddr\ ([0-9a-f:]+) || ${have,,} =~ link/ether\ ([0-9a-f:]+) ]] || true
		have=${BASH_REMATCH[1]:-none}
		[[ $have == "$mac" ]] || { wrong "has MAC address $have, wanted $mac ($model)"; return 1; }
	fi
	if [[ $driver != rxe ]]; then
		have=$(readlink -f "/sys/class/net/$dev/device/driver" 2>/dev/null)
		[[ ! -e $have || ${have##*/} == "$(kernel_driver)" ]] || { wrong "is driven by ${have##*/}, wanted $(kernel_driver) ($model)"; return 1; }
	fi
	if [[ -n $firmware$driver_version && $mode == check ]]; then
		have=$(ethtool -i "$dev" 2>/dev/null)
		expect firmware firmware-version "$firmware"
		expect 'driver version' version "$driver_version"
	fi
}

# expect WHAT LABEL EXPECTED: what ethtool -i shows behind a label.
expect() {
	[[ -n $3 ]] || return 0
	[[ $'\n'$have =~ $'\n'$2:\ ([^$'\n']+) ]] || { drift "$1 cannot be seen, wanted $3"; return; }
	meets "${BASH_REMATCH[1]}" "$3" || drift "$1 is ${BASH_REMATCH[1]}, wanted $3"
}

# meets VERSION EXPECTED: EXPECTED is a version, one with .* at its end, or conditions with commas. Of what drivers print
# the first word with a digit counts ("mfw 8.25.7.0 storm 8.20.0.0").
meets() {
	local version='' words conditions condition order want
	read -ra words <<<"${1//[][\/(,]/ }"
	for version in "${words[@]}"; do [[ $version != *[0-9]* ]] || break; done
	[[ $version == *[0-9]* ]] || return 1
	IFS=, read -ra conditions <<<"$2"
	for condition in "${conditions[@]}"; do
		[[ $condition =~ ^\ *(!=|>=|<=|=|>|<|~>)?\ *([^ ]+)\ *$ ]] || return 1
		condition=${BASH_REMATCH[1]} want=${BASH_REMATCH[2]}
		if [[ $want == *.\* ]]; then
			under "$version" "${want%.\*}" || return 1
			continue
		fi
		order=$(order "$version" "$want")
		case $condition in
		'' | =) ((order == 0)) || return 1 ;;
		!=) ((order != 0)) || return 1 ;;
		'>') ((order > 0)) || return 1 ;;
		'>=') ((order >= 0)) || return 1 ;;
		'<') ((order < 0)) || return 1 ;;
		'<=') ((order <= 0)) || return 1 ;;
		'~>') { ((order >= 0)) && [[ $want != *[._+-]* ]]; } || { ((order >= 0)) && same "$version" "${want%[._+-]*}"; } || return 1 ;;
		esac
	done
}

# parts VERSION: its numbers without leading zeros, and words.
parts() {
	local part list
	IFS=._+- read -ra list <<<"${1#v}"
	for part in "${list[@]}"; do
		[[ -n $part ]] || continue
		[[ $part == *[!0-9]* ]] || while [[ $part == 0?* ]]; do part=${part#0}; done
		printf '%s ' "$part"
	done
}
same() { [[ $(parts "$1") == "$(parts "$2")"* ]]; }
under() { same "$1" "$2" && [[ $(parts "$1") != "$(parts "$2")" ]]; }

# order A B: 0, 1 or -1 as A is B, newer or older.
order() {
	local a b i
	read -ra a <<<"$(parts "$1")"
	read -ra b <<<"$(parts "$2")"
	for ((i = 0; i < ${#a[@]} && i < ${#b[@]}; i++)); do
		[[ ${a[i]} != "${b[i]}" ]] || continue
		if [[ ${a[i]}${b[i]} != *[!0-9]* ]] && ((${#a[i]} != ${#b[i]})); then
			((${#a[i]} > ${#b[i]})) && echo 1 || echo -1
		else
			LC_ALL=C
			[[ ${a[i]} > ${b[i]} ]] && echo 1 || echo -1
		fi
		return
	done
	echo $((${#a[@]} > ${#b[@]} ? 1 : ${#a[@]} < ${#b[@]} ? -1 : 0))
}

have_admin() { if (($(cat "/sys/class/net/$dev/flags") & 1)); then echo up; else echo down; fi; }
set_admin() { ip link set dev "$dev" "$1"; }

show_link() { if [[ -n $captured ]]; then cat "$captured/$dev/link.txt"; else ethtool "$dev" 2>/dev/null; fi; }
have_autoneg() { [[ $(show_link) =~ Auto-negotiation:\ (on|off) ]] && echo "${BASH_REMATCH[1]}"; }
set_autoneg() {
	if [[ $1 == on ]]; then ethtool -s "$dev" autoneg on; else ethtool -s "$dev" autoneg off speed "$speed"; fi
}
have_speed() { cat "/sys/class/net/$dev/speed" 2>/dev/null; }
set_speed() { ethtool -s "$dev" autoneg off speed "$1"; }
speed_ok() { [[ $(have_speed) == "$speed" ]]; }
has_link() { [[ $(cat "/sys/class/net/$dev/carrier" 2>/dev/null) == 1 ]]; }
# settle_speed: a driver shows the speed of the link (get_speed_duplex in en_ethtool.c of mlx5), which is trained
# anew for seconds after a change, and none without a peer. There it has to do that the driver took it.
settle_speed() {
	local out i
	speed_ok && return 0
	if [[ $mode == check ]]; then
		[[ $admin == down ]] || drift "speed is $(have_speed), wanted $speed Mbit/s"
		return 0
	fi
	say "speed: $(have_speed) -> $speed"
	out=$(set_speed "$speed" 2>&1) || { fail "the driver does not take the speed $speed: ${out//$'\n'/ | }"; return; }
	for ((i = 0; i < 10; i++)); do
		! speed_ok || return 0
		[[ $admin != down ]] || break
		sleep 1
	done
	if has_link; then fail "speed is $(have_speed) after the change, wanted $speed"; else say "speed: there is no link that shows it"; fi
}

# What was configured. ice shows there what its module can do, and what it was told as the modes that it advertises
# (ice_get_fecparam and ice_get_link_ksettings in ice_ethtool.c); bnxt says none for off, and beside auto what that chose.
have_fec() {
	local text words
	if [[ $driver == ice ]]; then
		text=$(show_link)
		[[ $text =~ Advertised\ FEC\ modes:[[:blank:]]*([A-Za-z[:blank:]]*) ]] || return
		words=${BASH_REMATCH[1],,}
		case $words in
		*reported*) return 1 ;;
		*baser*rs* | *rs*baser*) echo auto ;;
		*baser*) echo baser ;;
		*rs*) echo rs ;;
		*) echo off ;;
		esac
		return
	fi
	if [[ -n $captured ]]; then text=$(cat "$captured/$dev/fec.txt"); else text=$(ethtool --show-fec "$dev" 2>/dev/null); fi
	[[ $text =~ Configured\ FEC\ encodings:[[:blank:]]*([A-Za-z[:blank:]]*) ]] || return
	words=${BASH_REMATCH[1],,}
	case " $words " in
	*" auto "*) echo auto ;;
	" none ") echo off ;;
	*)
		read -ra words <<<"$words"
		echo "${words[*]}"
		;;
	esac
}
set_fec() { ethtool --set-fec "$dev" encoding "$1"; }

# A device without pause frames has none to switch off. With whole set, it is told as well whether pause is negotiated; on ice
# that is no setting of its own but that of the link.
have_pause() {
	local json rx tx how=''
	if [[ -n $captured ]]; then json=$(cat "$captured/$dev/pause.json"); else json=$(ethtool --json -a "$dev" 2>&1); fi
	if [[ $json == *"not supported"* ]]; then
		echo "rx off tx off"
		return
	fi
	json=${json//[[:space:]]/}
	[[ $json =~ \"rx\":(true|false) ]] && rx=${BASH_REMATCH[1]}
	[[ $json =~ \"tx\":(true|false) ]] && tx=${BASH_REMATCH[1]}
	[[ -n ${rx-} && -n ${tx-} ]] || return
	[[ -z ${whole-} || $driver == ice || $json != *'"autonegotiate":true'* ]] || how="autoneg on "
	[[ $rx == true ]] && rx=on || rx=off
	[[ $tx == true ]] && tx=on || tx=off
	echo "${how}rx $rx tx $tx"
}
# ice refuses whatever has another autonegotiation than the link (ice_set_pauseparam).
set_pause() {
	local how="autoneg off"
	[[ $driver != ice && $1 != autoneg* ]] || how=
	# shellcheck disable=SC2086 # the words are options
	ethtool -A "$dev" $how $1
}
# Pause and PFC exclude each other, and while there is PFC ice takes no change of pause (ice_set_pauseparam): what ends goes first.
settle_pause() { [[ $pause != "$1" ]] || settle "global pause" "rx $pause tx $pause" have_pause set_pause; }

# How long the adapter may hold its switch by pause before it drops what it cannot take, in milliseconds; 0 is for ever.
# print_tunable of ethtool.c
have_storm() {
	local text
	if [[ -n $captured ]]; then text=$(cat "$captured/$dev/storm.txt"); else text=$(ethtool --get-tunable "$dev" pfc-prevention-tout 2>/dev/null); fi
	[[ $text =~ pfc-prevention-tout:[[:blank:]]+([0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}
set_storm() { ethtool --set-tunable "$dev" pfc-prevention-tout "$1"; }

mtu_ok() { [[ $(cat "/sys/class/net/$dev/mtu") == "$mtu" ]]; }

# The untagged VLAN of the switch port must not be tagged here as well.
untagged_ok() {
	local name id parent
	[[ -r /proc/net/vlan/config ]] || return 0
	while IFS='|' read -r name id parent; do
		[[ ${parent// /} == "$dev" && ${id// /} == "$untagged" ]] || continue
		wrong "VLAN $untagged is untagged on this port, but ${name// /} tags it"
	done </proc/net/vlan/config
}

settle_link() {
	[[ -z $admin ]] || settle "administrative state" "$admin" have_admin set_admin
	[[ -z $autoneg ]] || settle "autonegotiation" "$autoneg" have_autoneg set_autoneg
	[[ -z $speed ]] || [[ $autoneg != off && $mode != check ]] || settle_speed
	[[ -z $fec ]] || settle "FEC" "$fec" have_fec set_fec
	settle_pause off
	if [[ -n $mtu ]] && ! mtu_ok; then
		wrong "MTU is $(cat "/sys/class/net/$dev/mtu"), wanted $mtu: run netplan apply"
	fi
	[[ -z $untagged ]] || untagged_ok
}

# 64 priorities by DSCP, "none" where the port does not classify by DSCP.
wanted_dscp() {
	local map=() i e
	if [[ $trust == pcp ]]; then
		echo none
		return
	fi
	for ((i = 0; i < 64; i++)); do map[i]=$dscp_rest; done
	for e in $dscp_prio; do map[${e%:*}]=${e#*:}; done
	echo "${map[*]}"
}

# The order is that of the family. mlx5 takes the map before ETS; bnxt refuses PFC before ETS; on ice the first entry of the
# map puts ETS and PFC back to defaults.
settle_dcb() {
	local via=dcb step
	[[ $driver != mlx5 || $tool != mlnx_qos ]] || via=mlnx
	[[ $driver != ice || -z $dcbx ]] || settle "LLDP agent of the firmware" off have_agent set_agent
	if [[ -n $dcbx ]]; then
		settle "DCBX owner" "$dcbx" "have_dcbx_$via" "set_dcbx_$via"
		if [[ $(systemctl is-active lldpad.service 2>/dev/null) == active ]]; then
			wrong "lldpad runs and may overwrite these settings: systemctl disable --now lldpad"
		fi
	fi
	if [[ $trust == dscp ]] && ! maps_dscp; then
		wrong "ice of this kernel, $(uname -r), has no priorities by DSCP: use Linux 5.16 or newer, or the driver of Intel"
		return
	fi
	for step in $(dcb_order); do
		case $step in
		map) [[ -z $trust ]] || settle "priority by DSCP (trust)" "$(wanted_dscp)" "have_dscp_$(map_via)" "set_dscp_$(map_via)" ;;
		ets) [[ -z $tsa ]] || settle "ETS" "$tsa / $bw / $prio_tc" "have_ets_$via" "set_ets_$via" ;;
		rate) [[ -z $rate ]] || settle "rate limits" "$rate" "have_rate_$via" "set_rate_$via" ;;
		pfc) [[ -z $pfc ]] || settle "PFC" "$pfc" "have_pfc_$via" "set_pfc_$via" ;;
		cable) [[ -z $cable ]] || settle "cable length" "$cable" "have_cable_$via" "set_cable_$via" ;;
		port) [[ -z $roce_prio ]] || settle "priority of RoCE (UDP port 4791)" "$roce_prio" have_roce_port set_roce_port ;;
		esac
	done
}
dcb_order() {
	case $driver in
	mlx5) echo map ets rate pfc cable ;;
	ice) echo map ets pfc ;;
	bnxt) echo ets pfc map port ;;
	esac
}
# map_via is the suffix of the functions that read and set the map.
map_via() {
	case $driver-$tool in
	mlx5-mlnx_qos) echo mlnx ;;
	ice-* | bnxt-*) echo "$driver" ;;
	*) echo dcb ;;
	esac
}

vf_line() { ip link show dev "$dev" | grep -E "^ +vf $vf "; }
have_vf() {
	local line trust=off vlan=0
	line=$(vf_line) || return
	[[ $line == *"trust on"* ]] && trust=on
	[[ $line =~ ,\ vlan\ ([0-9]+) ]] && vlan=${BASH_REMATCH[1]}
	echo "trust $trust vlan $vlan"
}
set_vf() {
	# shellcheck disable=SC2086 # the words are options
	ip link set dev "$dev" vf "$vf" $1
}
vfs_ok() { [[ $(cat "/sys/class/net/$dev/device/sriov_numvfs" 2>/dev/null) == "$vfs" ]]; }
settle_vfs() {
	if ! vfs_ok; then
		wrong "has $(cat "/sys/class/net/$dev/device/sriov_numvfs" 2>/dev/null || echo no) virtual functions, wanted $vfs: run netplan apply"
		return
	fi
	for ((vf = 0; vf < vfs; vf++)); do
		[[ $vf_mode == switchdev ]] || settle "virtual function $vf" "trust $vf_trust vlan ${vf_vlan:-0}" have_vf set_vf
		if [[ -n $vf_rdma && $mode == check && ! -d /sys/class/net/$dev/device/virtfn$vf/infiniband ]]; then
			drift "virtual function $vf has no RDMA device"
		fi
	done
}

# rdma_of sets rdma_dev and rdma_port: the RDMA link of the port, or of the
# bond it is in (RoCE LAG has one RDMA device for both ports).
rdma_of() {
	local links object name
	rdma_dev='' rdma_port=''
	for name in "$dev" $bond $siblings; do
		links=$(rdma -j link show 2>/dev/null)
		links=${links//[[:space:]]/}
		while [[ $links =~ ^[^\{]*\{([^\}]*)\}(.*)$ ]]; do
			object=${BASH_REMATCH[1]} links=${BASH_REMATCH[2]}
			[[ $object == *"\"netdev\":\"$name\""* ]] || continue
			[[ $object =~ \"ifname\":\"([^\"]+)\" ]] && rdma_dev=${BASH_REMATCH[1]}
			[[ $object =~ \"port\":([0-9]+) ]] && rdma_port=${BASH_REMATCH[1]}
			[[ -n $rdma_dev && -n $rdma_port ]] && return 0
		done
	done
	return 1
}
have_rxe() { if rdma_of; then echo present; else echo absent; fi; }
set_rxe() {
	modprobe rdma_rxe
	rdma link add "rxe_$dev" type rxe netdev "$dev"
}

cm=/sys/kernel/config/rdma_cm
open_cm() {
	[[ $mode == check ]] && return 0
	modprobe rdma_cm 2>/dev/null
	[[ -d $cm ]] || mount -t configfs none /sys/kernel/config
	# It stays: without it the values could not be read back.
	[[ -d $cm/$rdma_dev ]] || mkdir "$cm/$rdma_dev"
}

settle_rdma() {
	local tclass
	[[ $driver != rxe ]] || settle "soft-RoCE device" present have_rxe set_rxe
	if ! rdma_of; then
		case $driver in
		rxe) wrong "has no RDMA device: rdma link add rxe_$dev type rxe netdev $dev" ;;
		mlx5 | ice) wrong "has no RDMA device: load its module, and see: devlink dev param show pci/$(pci_of "$dev") name enable_roce" ;;
		*) wrong "has no RDMA device: load its module" ;;
		esac
		return
	fi
	settle_protocol
	if [[ -n $roce_mode$roce_tos ]] && ! open_cm; then
		fail "no $cm/$rdma_dev: load rdma_cm and mount configfs"
		return
	fi
	[[ -z $roce_mode ]] || settle_file "RoCE version of rdma_cm" "$roce_mode" "$cm/$rdma_dev/ports/$rdma_port/default_roce_mode"
	[[ -z $roce_tos ]] || settle_file "TOS of rdma_cm" "$roce_tos" "$cm/$rdma_dev/ports/$rdma_port/default_roce_tos"
	# Only OFED and DOCA drivers have this file: the mark of queue pairs made without rdma_cm.
	tclass=/sys/class/infiniband/$rdma_dev/tc/$rdma_port/traffic_class
	if [[ -n $roce_tos && -e $tclass ]]; then
		file=$tclass
		settle "traffic class of plain queue pairs" "$roce_tos" have_tclass set_file
	fi
}
have_tclass() { [[ $(cat "$file") =~ tclass=([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }

# nvram_mask prints ROCE_CC_PRIO_MASK, which the in-tree driver does not show.
nvram_mask() {
	local address tool name
	address=$(pci_of "$dev")
	name=ROCE_CC_PRIO_MASK_P$((${address##*.} + 1))
	for tool in mstconfig mlxconfig; do
		[[ $("$tool" -d "$address" q "$name" 2>/dev/null) =~ ${name}[[:space:]]+(0x[0-9a-fA-F]+|[0-9]+) ]] || continue
		echo $((BASH_REMATCH[1]))
		return
	done
	return 1
}

# settle_congestion makes ECN, DCQCN and the mark of CNPs those of the classes.
settle_congestion() {
	case $driver in
	mlx5)
		settle_dcqcn
		[[ -z $cnp_dscp ]] || settle_cnp "DSCP of CNPs" "$cnp_dscp" cnp_dscp np_cnp_dscp CNP_DSCP
		[[ -z $cnp_prio ]] || settle_cnp "priority of CNPs" "$cnp_prio" cnp_802p_prio np_cnp_prio CNP_802P_PRIO
		;;
	ice) [[ -z $dcqcn$dcqcn_off ]] || settle_irdma ;;
	bnxt) [[ -z $ecn$dcqcn$dcqcn_off$cnp_prio ]] || settle_bnxt ;;
	esac
}

settle_dcqcn() {
	local p role mask
	for p in $dcqcn; do
		if [[ -e /sys/class/net/$dev/ecn/roce_np/enable/$p ]]; then
			for role in np rp; do
				settle_file "DCQCN roce_$role of priority $p" 1 "/sys/class/net/$dev/ecn/roce_$role/enable/$p"
			done
		elif ! mask=$(nvram_mask); then
			wrong "cannot show that DCQCN runs on priority $p: no /sys/class/net/$dev/ecn, and mstconfig (package mstflint) does not print ROCE_CC_PRIO_MASK"
		elif ! ((mask >> p & 1)); then
			wrong "DCQCN is off for priority $p: ROCE_CC_PRIO_MASK is $mask; set it with mstconfig and reset the adapter"
		fi
	done
	for p in $dcqcn_off; do
		for role in np rp; do
			[[ ! -e /sys/class/net/$dev/ecn/roce_$role/enable/$p ]] ||
				settle_file "DCQCN roce_$role of priority $p" 0 "/sys/class/net/$dev/ecn/roce_$role/enable/$p"
		done
	done
}

# settle_cnp LABEL WANT OFED-FILE DEBUGFS-FILE NVRAM-NAME
settle_cnp() {
	local name found
	for name in "$dev" $siblings; do
		for found in "/sys/class/net/$name/ecn/roce_np/$3" "/sys/kernel/debug/mlx5/$(pci_of "$name")/cc_params/$4"; do
			[[ -e $found ]] || continue
			settle_file "$1" "$2" "$found"
			return
		done
	done
	wrong "cannot set $1 to $2: neither ecn/roce_np/$3 nor debugfs cc_params/$4 exists; set $5 with mstconfig and reset the adapter"
}

settle_port() {
	dev=$1
	local mode=$mode
	rdma_dev='' rdma_port=''
	if ! of "$dev"; then
		fail "is not a port of this configuration"
		return
	fi
	[[ -z $compare_only ]] || mode=check
	if [[ ! -e /sys/class/net/$dev ]]; then
		wrong "no such network device ($model)"
		return
	fi
	identify || return
	settle_link
	settle_dcb
	settle_pause on
	[[ -z $storm ]] || settle "time until it stops pausing (ms)" "$storm" have_storm set_storm
	settle_egress
	[[ -z $vfs ]] || settle_vfs
	[[ -z $rdma ]] || settle_rdma
	[[ -z $rdma_dev ]] || settle_congestion
	check_buffers
}

# await waits, before the lock is taken, until what the port builds on is there.
await() {
	dev=$1
	of "$dev" && [[ -z $compare_only && -e /sys/class/net/$dev ]] || return 0
	until_ready is_ready || true
}
is_ready() {
	local entry vlan
	[[ -z $mtu ]] || mtu_ok || return 1
	[[ -z $vfs ]] || vfs_ok || return 1
	[[ -z $rdma || $driver == rxe ]] || rdma_of || return 1
	for entry in $egress; do
		vlan=${entry%%=*}
		vlan_made || return 1
	done
}

# The adapter computes its receive buffers from MTU, cable and PFC by itself.
check_buffers() {
	local entry json sizes prios need
	[[ -n $headroom && $mode == check ]] || return 0
	json=$(dcb -j buffer show dev "$dev" 2>/dev/null)
	[[ $json =~ \"prio_buffer\":\[([0-9,]*)\] ]] || return 0
	IFS=, read -ra prios <<<"${BASH_REMATCH[1]}"
	[[ $json =~ \"buffer_size\":\[([0-9,]*)\] ]] || return 0
	IFS=, read -ra sizes <<<"${BASH_REMATCH[1]}"
	for entry in $headroom; do
		need=${entry#*:}
		((sizes[prios[${entry%:*}]] >= need)) ||
			drift "receive buffer of priority ${entry%:*} has ${sizes[prios[${entry%:*}]]} bytes, its headroom needs $need"
	done
}

# PCP by kernel priority of a VLAN device. networkd sets it only when it makes
# the device; a map of zero is not shown.
have_egress() {
	local text maps=() e
	text=$(ip -d link show dev "$vlan" 2>/dev/null)
	[[ $text =~ egress-qos-map\ \{([^\}]*)\} ]] || { [[ -n $text ]] && echo none; return; }
	for e in ${BASH_REMATCH[1]}; do maps[${e%:*}]=$e; done
	echo "${maps[*]}"
}
set_egress() {
	local map=() e i
	for ((i = 0; i < 8; i++)); do map[i]=$i:0; done
	for e in ${1#none}; do map[${e%:*}]=$e; done
	ip link set dev "$vlan" type vlan egress-qos-map "${map[@]}"
}
vlan_made() { [[ -e /sys/class/net/$vlan ]]; }
settle_egress() {
	local entry vlan
	for entry in $egress; do
		vlan=${entry%%=*} entry=${entry#*=}
		if ! vlan_made; then
			wrong "no VLAN device $vlan: run netplan apply"
			continue
		fi
		settle "PCP by kernel priority of $vlan" "${entry//,/ }" have_egress set_egress
		if [[ -n $roce_tos && $entry != none ]] && ! maps_pcp && ! unmapped "${entry//,/ }"; then
			wrong "irdma of this kernel, $(uname -r), leaves the map of $vlan aside: use Linux 6.6 or newer, or the driver of Intel"
		fi
	done
}
# unmapped MAP: whether the kernel priority of RDMA, rt_tos2priority of its TOS, is the PCP as well.
unmapped() {
	local of=(0 2 6 4) prio
	prio=${of[roce_tos >> 3 & 3]}
	[[ " $1 " == *" $prio:$prio "* ]]
}

# restore_egress: a VLAN device that stays keeps the map that it has, whatever its files say again.
restore_egress() {
	local entry vlan all map
	[[ -n $egress && -r $from/addr.json ]] || return 0
	all=$(<"$from/addr.json")
	for entry in $egress; do
		vlan=${entry%%=*}
		[[ $all == *"\"ifname\":\"$vlan\","* ]] || continue # the change made it
		vlan_made || continue
		map=${all#*"\"ifname\":\"$vlan\","}
		map=${map%%\"ifname\":*}
		if [[ $map =~ \"egress_qos\":\[([^]]*)\] ]]; then
			# {"from":2,"to":3},{"from":6,"to":7}: vlan_print_map in ip/iplink_vlan.c of iproute2
			map=${BASH_REMATCH[1]//\},\{/ } map=${map//,\"to\"/} map=${map//\"from\":/} map=${map//[\{\}]/}
		else
			map=none
		fi
		settle "PCP by kernel priority of $vlan" "$map" have_egress set_egress
	done
}

# open_port lets rdma_cm show what it has for a port: it does so only for devices that have a folder there, and what capture.sh
# does not see restore_port cannot bring back.
open_port() {
	dev=$1
	of "$dev" || return
	dev=$(named "$from" "$1")
	[[ -z $roce_mode$roce_tos || ! -e /sys/class/net/$dev ]] || ! rdma_of || open_cm || fail "no $cm/$rdma_dev: load rdma_cm and mount configfs"
}

# restore_port brings back what capture.sh saw: DCB, pause, RoCE defaults, CNP marks.
restore_port() {
	local setting wanted via=dcb whole=yes first=yes
	dev=$1
	of "$dev" || return
	# One that the configuration renamed was captured by the name that it had, and has again.
	dev=$(named "$from" "$1")
	[[ -d $from/$dev || -e /sys/class/net/$dev ]] || return 0 # it was not there, and is not
	[[ -d $from/$dev && -e /sys/class/net/$dev ]] || { fail "nothing was captured of it in $from"; return; }
	[[ $driver != mlx5 || $tool != mlnx_qos ]] || via=mlnx
	# The owner of DCBX goes last, since it takes the port over: on mlx5 by that name, on ice by the agent.
	for setting in autoneg fec pause "dscp_$(map_via)" "ets_$via" "rate_$via" "pfc_$via" "cable_$via" storm roce_port pause "dcbx_$via" agent; do
		case $setting in
		# The link is trained anew by these: only where this configuration changed them.
		autoneg) [[ -n $autoneg ]] || continue ;;
		fec) [[ -n $fec ]] || continue ;;
		storm) [[ -n $storm ]] || continue ;;
		dcbx_*) [[ -n $dcbx && $driver == mlx5 ]] || continue ;;
		dscp_*) [[ -n $trust ]] || continue ;;
		ets_*) [[ -n $tsa ]] || continue ;;
		pfc_*) [[ -n $pfc ]] || continue ;;
		# Only these families have them.
		rate_* | cable_*) [[ $driver == mlx5 ]] || continue ;;
		roce_port) [[ $driver == bnxt ]] || continue ;;
		agent) [[ $driver == ice ]] || continue ;;
		esac
		captured=$from
		wanted=$("have_$setting" 2>/dev/null) || wanted=
		captured=
		# As in settle_pause.
		if [[ $setting == pause && -n $first ]]; then
			first=
			[[ $wanted == *"rx off tx off" ]] || continue
		fi
		[[ -z $wanted ]] || settle "${setting%_*}" "$wanted" "have_$setting" "set_$setting"
	done
	restore_egress
	# After a start rdma_cm has no folder for a device before the boot unit made it: what was there goes into one.
	if rdma_of && grep -qs "^$cm/$rdma_dev/" "$from/rdma_cm.txt"; then
		open_cm || fail "no $cm/$rdma_dev: load rdma_cm and mount configfs"
		restore_files "$cm/$rdma_dev/ports/$rdma_port/" "$from/rdma_cm.txt"
	fi
	restore_files "/sys/class/net/$dev/ecn/" "$from/$dev/ecn.txt"
	restore_files "/sys/kernel/debug/mlx5/$(pci_of "$dev")/cc_params/" "$from/cc_params.txt"
	restore_files "/sys/kernel/debug/bnxt_re/$(pci_of "$dev")/cc_config/" "$from/cc_config.txt"
}

# restore_files PREFIX CAPTURE: lines FILE:VALUE, as grep -H prints them.
restore_files() {
	local line
	[[ -r $2 ]] || return 0
	while IFS= read -r line; do
		[[ $line == "$1"* && -e ${line%:*} ]] || continue
		settle_file "${line%:*}" "${line##*:}" "${line%:*}"
	done <"$2"
}

usage() {
	cat <<'USAGE'
usage: rocec-qos [--data FILE] [--check] PORT... | --all     bring ports to their settings, or report differences
       rocec-qos [--data FILE] --open DIR                    before capture.sh writes into DIR: let all be shown that --restore brings back
       rocec-qos [--data FILE] --restore DIR                 bring back what capture.sh wrote into DIR
exit: 0 as wanted, 1 something failed, 2 differences found by --check
USAGE
}

main() {
	local all='' from='' each=settle_port list=() p
	while (($#)); do
		case $1 in
		--check) mode=check ;;
		--all) all=yes ;;
		--data) data=${2-} && shift ;;
		--open | --restore) each=${1#--}_port from=${2-} && shift ;;
		-h | --help)
			usage
			return 0
			;;
		-*)
			usage >&2
			return 1
			;;
		*) list+=("$1") ;;
		esac
		shift
	done
	if [[ ! -r $data ]]; then
		echo "rocec-qos: no file $data" >&2
		return 1
	fi
	# shellcheck source=/dev/null # the data of the host
	. "$data"
	[[ -z $all && -z $from ]] || list=("${ports[@]}")
	if ((${#list[@]} == 0)); then
		usage >&2
		return 1
	fi
	if [[ $mode == apply ]]; then
		[[ -n $from ]] || for p in "${list[@]}"; do await "$p"; done
		# Units of several ports start at once, and ports of one adapter share settings.
		if ! { exec 9>/run/rocec-qos.lock && flock -w 240 9; }; then
			echo "rocec-qos: another one runs for more than four minutes" >&2
			return 1
		fi
	fi
	for p in "${list[@]}"; do
		"$each" "$p"
	done
	((failures == 0)) || return 1
	((drifts == 0)) || return 2
}

main "$@"
