# shellcheck shell=bash disable=SC2034 # for hosts.sh
# Two hosts in the guest. They share the network of the kernel, as the soft-RoCE of Linux 6.1 sends and receives there alone
# (init_net in drivers/infiniband/sw/rxe/rxe_net.c). Host a has the ports rd0 and rd1 of dcbstub, b has rd2, and a cable joins them.

site=/root/site groups=/sys/fs/cgroup apart=()
# shellcheck disable=SC2016 # for the shell of init
furnish='
mount -t configfs "$name" "$root/sys/kernel/config"
mount --bind /dev "$root/dev"
mkdir -p "$root/lib/modules" && mount --bind "$GUEST_MODS/lib/modules" "$root/lib/modules"
'

# equip NAME: what the disk of a host has besides. networkd would take away what the other host of the same network made.
equip() {
	local disk=/mnt/$1/u
	mkdir -p "$disk/etc/systemd/networkd.conf.d"
	printf '[Network]\nManageForeignRoutingPolicyRules=no\nManageForeignRoutes=no\n' >"$disk/etc/systemd/networkd.conf.d/lab.conf"
	# shellcheck disable=SC2016 # for the program
	printf '#!/bin/bash\n[[ "$1 $2" == "--json -a" ]] || exit 1\necho "[ { \\"ifname\\": \\"$3\\", \\"autonegotiate\\": false, \\"rx\\": false, \\"tx\\": false } ]"\n' >"$disk/usr/local/sbin/ethtool"
	chmod +x "$disk/usr/local/sbin/ethtool"
}

# by_cable: routes that take the cable. The kernel drops those of a device with its last address.
by_cable() {
	ip route replace 10.100.0.16/28 dev rd0 table 71
	ip route replace 10.100.0.0/28 dev rd2 table 72
}

# machine makes the ports, and starts the hosts.
machine() {
	local m p
	for m in crc32_generic sch_ingress cls_u32 act_gact configfs ib_uverbs rdma_ucm rdma_rxe; do modprobe -d "$GUEST_MODS" "$m"; done
	rmmod dcbstub
	insmod "$DCBSTUB" count=3 wire=1
	mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup
	ip link set lo up
	for p in rd0 rd1 rd2; do
		ip link set "$p" up
		rdma link add "rxe_$p" type rxe netdev "$p"
	done
	# What one host of the shared network sends to the other is to leave by its port, and not to stay in the kernel.
	ip rule add priority 10 iif lo to 10.100.0.16/28 lookup 71
	ip rule add priority 11 iif lo to 10.100.0.0/28 lookup 72
	by_cable
	ip rule add priority 20 lookup local
	ip rule del priority 0
	start a
	start b
	up a b
}

place() { if [[ $1 == rd2 ]]; then echo b; else echo a; fi; }
pfc() {
	local p
	for p; do at "$(place "$p")" dcb -j pfc show dev "$p"; echo; done
}
# settings PORT...: what dcb shows of them, and on one line each what a change sets by other means.
settings() {
	local p
	pfc "$@"
	for p; do
		# shellcheck disable=SC2016 # for the shell of the host
		at "$(place "$p")" bash -c 'echo "$1 mtu $(cat /sys/class/net/$1/mtu) arp $(cat /proc/sys/net/ipv4/conf/$1/{arp_ignore,arp_announce,rp_filter} | tr "\n" " ")tos $(cat /sys/kernel/config/rdma_cm/rxe_$1/ports/1/default_roce_tos) $(ip -o -4 addr show dev $1 | grep -o "inet [^ ]*")"' - "$p"
	done
}

# booted: until the unit of each port has run.
booted() {
	local p
	for p; do
		while [[ $(at "$(place "$p")" systemctl show --property=ActiveState --value "rocec-qos@$p.service") == @(inactive|activating) ]]; do sleep 1; done
	done
}

# crossed has host b write into the memory of host a, by rdma_cm, and counts what leaves the port of b for a queue pair of the
# reliable kind (the first three bits of the opcode are 0, IB_OPCODE_RC in include/rdma/ib_pack.h): with the TOS of the class, and any
# other. What rdma_cm says itself is of another kind, and the answer to the end of a connection may have any TOS. It fails unless
# both hosts end well.
crossed() {
	local roce=(u32 match ip protocol 17 0xff match ip dport 4791 0xffff match u8 0 0xe0 at 28) args=(ib_write_bw -R -F -n 20 -s 65536) server failed=1
	by_cable
	tc qdisc add dev rd2 clsact
	tc filter add dev rd2 egress protocol ip prio 1 "${roce[@]}" match ip tos 0x6a 0xff action ok
	tc filter add dev rd2 egress protocol ip prio 2 "${roce[@]}" action ok
	at a timeout 600 "${args[@]}" -d rxe_rd0 >/run/served 2>&1 &
	server=$!
	while kill -0 "$server" 2>/dev/null; do # until it listens
		if at b timeout 600 "${args[@]}" -d rxe_rd2 10.100.0.11; then
			failed=0
			break
		fi
		sleep 1
	done
	wait "$server" || { cat /run/served; failed=1; }
	tc -s filter show dev rd2 egress
	return "$failed"
}
