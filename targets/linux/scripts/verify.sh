# Compares this host with its configuration, without changing it; with
# arguments, tests RDMA between two hosts and keeps the result as a baseline.

baseline=/var/lib/rocec/baseline
problems=0

bad() {
	problems=$((problems + 1))
	echo "differs: $*"
}

usage() {
	cat <<'USAGE'
usage: verify.sh                       compare settings, files and units
       verify.sh serve PORT ADDRESS    answer the tests of one other host
       verify.sh test PORT ADDRESS     test towards a host that serves, compare with the last result
exit: 0 as wanted, 1 differences or a failed test
USAGE
}

# rdma_dev_of PORT prints the RDMA device of a port, or of the bond it is in.
rdma_dev_of() {
	local links object name
	for name in "$1" $(master_of "$1"); do
		links=$(rdma -j link show 2>/dev/null)
		links=${links//[[:space:]]/}
		while [[ $links =~ ^[^\{]*\{([^\}]*)\}(.*)$ ]]; do
			object=${BASH_REMATCH[1]} links=${BASH_REMATCH[2]}
			[[ $object == *"\"netdev\":\"$name\""* && $object =~ \"ifname\":\"([^\"]+)\" ]] || continue
			echo "${BASH_REMATCH[1]}"
			return
		done
	done
	return 1
}
master_of() { [[ ! -e /sys/class/net/$1/master ]] || basename "$(readlink -f "/sys/class/net/$1/master")"; }

check_files() {
	local from to mode
	while IFS='|' read -r from to mode; do
		cmp -s -- "$from" "$to" || bad "$to is not the file of ${from%/*}"
		[[ ! -e $to || $(stat -c %a "$to") == "$mode" ]] || bad "$to has mode $(stat -c %a "$to"), wanted $mode"
	done < <(belongs)
}

check_units() {
	local p unit
	for p in "${ports[@]}"; do
		unit=$(unit_of "$p")
		systemctl is-enabled --quiet "$unit" || bad "$unit is not enabled: the settings end with the next boot"
	done
}

# check_rdma PORT
check_rdma() { rdma_dev_of "$1" >/dev/null || bad "$1 has no RDMA device"; }

# check_rdma_mtu PORT MTU: the largest payload that the classes use.
check_rdma_mtu() {
	local d mtu=
	d=$(rdma_dev_of "$1") || { bad "$1 has no RDMA device"; return; }
	[[ $(ibv_devinfo -d "$d" 2>/dev/null) =~ active_mtu:[[:space:]]*([0-9]+) ]] && mtu=${BASH_REMATCH[1]}
	((${mtu:-0} >= $2)) || bad "$1: RDMA MTU of $d is ${mtu:-not readable}, wanted at least $2"
}

# check_address DEVICE ADDRESS/LENGTH INTERFACE
check_address() {
	[[ " $(ip -o address show dev "$1" 2>/dev/null | tr '\n' ' ') " == *" $2 "* ]] || bad "$1 has no address $2 (interface $3)"
}

# check_gid DEVICE: an RDMA device must have an entry for it in its GID table.
check_gid() {
	grep -qsxF -- "$1" /sys/class/infiniband/*/ports/*/gid_attrs/ndevs/* || bad "no RDMA device has a GID of $1"
}

# check_vlan IFACE PARENT ID MTU
check_vlan() {
	local line
	line=$(ip -o -d link show dev "$1" 2>/dev/null)
	[[ $line == *" $1@$2: "* && $line == *" id $3 "* ]] || bad "$1 is not VLAN $3 of $2"
	[[ -z $4 || $line == *" mtu $4 "* ]] || bad "$1 has not MTU $4"
}

# check_bond BOND WHAT PEERS: every member in the aggregator that carries traffic.
check_bond() {
	local bond=$1 what=$2 peers=$3 text m
	shift 3
	text=$(cat "/proc/net/bonding/$bond" 2>/dev/null)
	[[ $text == *"Bonding Mode: $what"* ]] || bad "$bond is not in mode $what"
	for m; do
		[[ $text == *"Slave Interface: $m"* ]] || bad "$m is not a member of $bond"
	done
	[[ $what != *802.3ad* ]] || (($(grep '^Aggregator ID:' <<<"$text" | sort -u | wc -l) == 1)) ||
		bad "the members of $bond are in different aggregators: $peers"
}

# check_rule ADDRESS TABLE: the rule's priority is the number of the table.
check_rule() {
	{ ip -o -4 rule show && ip -o -6 rule show; } 2>/dev/null | grep -qE "^$2:.*from ${1//./\\.} lookup $2( |\$)" ||
		bad "no rule sends what comes from $1 to table $2"
}

# check_arp DEVICE: it answers and asks for its own addresses only, and takes what came by another rail.
check_arp() {
	local f
	for f in arp_ignore=1 arp_announce=2 rp_filter=2; do
		[[ $(cat "/proc/sys/net/ipv4/conf/$1/${f%=*}" 2>/dev/null) == "${f#*=}" ]] || bad "net.ipv4.conf of $1: ${f%=*} is not ${f#*=}"
	done
}

# measured FILE COLUMN: a field of the result line, which begins with the size.
measured() { awk -v c="$2" '$1 ~ /^[0-9]+$/ && NF >= 4 { v = $c } END { print v }' "$1"; }

serve() {
	local d
	d=$(rdma_dev_of "$1") || { echo "$1 has no RDMA device" >&2; return 1; }
	echo "rping, ib_write_bw and ib_write_lat wait on $2, in this order"
	rping -s -a "$2" -C 3 -v && ib_write_bw -d "$d" -R -F --report_gbits -D 10 && ib_write_lat -d "$d" -R -F
}

# rdma_cm carries the tests, so that the TOS of this configuration applies.
run_test() {
	local d result=$baseline/$1-$2 name column better now before
	d=$(rdma_dev_of "$1") || { echo "$1 has no RDMA device" >&2; return 1; }
	install -d "$baseline" || return 1
	rping -c -a "$2" -C 3 -v || { bad "rping to $2 failed"; return; }
	sleep 2
	ib_write_bw -d "$d" -R -F --report_gbits -D 10 "$2" >"$result.bw.new" || { bad "ib_write_bw to $2 failed"; return; }
	sleep 2
	ib_write_lat -d "$d" -R -F "$2" >"$result.lat.new" || { bad "ib_write_lat to $2 failed"; return; }
	for name in bw lat; do
		# average Gbit/s is column 4, typical latency in us column 5
		if [[ $name == bw ]]; then column=4 better=1; else column=5 better=-1; fi
		now=$(measured "$result.$name.new" "$column")
		before=''
		[[ ! -e $result.$name ]] || before=$(measured "$result.$name" "$column")
		echo "$name to $2 by $1: $now${before:+, before $before}"
		if [[ -n $before ]] && awk -v n="$now" -v b="$before" -v s="$better" 'BEGIN { exit !(s * (n - b) < -0.1 * b) }'; then
			bad "$name to $2 by $1 is more than 10 % worse than the baseline $result.$name"
			continue
		fi
		[[ -e $result.$name ]] || mv -- "$result.$name.new" "$result.$name"
	done
}

main() {
	case ${1-} in
	'')
		check_files
		check_units
		check_network
		bash "$kit/rocec-qos" --data "$here/host.sh" --all --check || problems=$((problems + 1))
		;;
	serve) serve "${2?port}" "${3?address}" || problems=1 ;;
	test) run_test "${2?port}" "${3?address}" || problems=1 ;;
	*)
		usage
		[[ $1 == --help ]] || problems=1
		;;
	esac
	((problems == 0))
}

main "$@"
