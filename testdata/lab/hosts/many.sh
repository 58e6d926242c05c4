# shellcheck shell=bash disable=SC2034 # for hosts.sh
# Many hosts on this machine's own kernel (namespaces.sh), beside hosts.sh, each with a network of its own: its ports are veth, oob of
# the management network, r0 and r1 of two rails, which bridges join. Such a port has no DCB and no RDMA. Their disks are in memory.

site=/mnt/site groups=$CGROUPS apart=(--net)

# Nothing of the machine is to be reached through /proc and /dev, and of its configuration nothing is to be at work.
# shellcheck disable=SC2016 # for the shell of init
furnish='
for port in oob:oob r0:rail0 r1:rail1; do
	ip link add "${port%:*}" type veth peer name "$name-${port%:*}" netns lab
	ip -n lab link set "$name-${port%:*}" master "${port#*:}" mtu 9216 up
done
for d in proc/sys proc/sys/net; do mount --bind "$root/$d" "$root/$d"; done
mount -o remount,bind,ro "$root/proc/sys"
[[ ! -e $root/proc/sysrq-trigger ]] || { mount --bind "$root/proc/sysrq-trigger" "$root/proc/sysrq-trigger" && mount -o remount,bind,ro "$root/proc/sysrq-trigger"; }
cat /proc/sys/kernel/random/uuid >"/mnt/$name/boot" && mount --bind "/mnt/$name/boot" "$root/proc/sys/kernel/random/boot_id"
mount -t tmpfs "$name" "$root/dev"
for d in null zero full random urandom tty; do : >"$root/dev/$d" && mount --bind "/dev/$d" "$root/dev/$d"; done
rm -rf "$root"/etc/netplan/!(01-oob|60-rocec).yaml "$root"/{etc,lib}/udev/rules.d/!(70-rocec|75-net-description|80-net-setup-link|99-systemd).rules
'

# equip NAME ADDRESS: what the disk of a host has besides. MAC addresses of veth follow from the ID of the machine.
equip() {
	local etc=/mnt/$1/u/etc
	md5sum <<<"$1" | cut -c 1-32 >"$etc/machine-id"
	printf 'network:\n  version: 2\n  renderer: networkd\n  ethernets:\n    oob:\n      addresses: ["%s/24"]\n' "$2" >"$etc/netplan/01-oob.yaml"
	chmod 600 "$etc/netplan/01-oob.yaml"
}

# machine NAME...: the networks, and on them these hosts, as the source counts them.
machine() {
	local n i=0
	for n in oob rail0 rail1; do ip link add "$n" mtu 9216 type bridge && ip link set "$n" up; done
	ip addr add 192.0.2.254/24 dev oob
	ssh-keygen -q -t ed25519 -N '' -f "$site/key"
	for n; do
		i=$((i + 1))
		prepare "$n" 22 "192.0.2.$i"
		equip "$n" "192.0.2.$i"
	done
}

# power_cut NAME: all of its processes end at once, and its ports lose their peers.
power_cut() {
	local p
	echo 1 >"$groups/$1/cgroup.kill"
	while [[ -e /proc/$(<"/run/hosts/$1") ]]; do sleep 0.1; done
	for p in oob r0 r1; do ip link del "$1-$p" 2>/dev/null; done
}

# settings NAME...: what ip and sysctl of these hosts show of each rail, a line each.
settings() {
	local h
	for h; do
		# shellcheck disable=SC2016 # for the shell of the host
		at "$h" bash -c 'for p in r0 r1; do
	echo "$1 $p mtu $(cat /sys/class/net/$p/mtu) arp $(sysctl -n net.ipv4.conf.$p.{arp_ignore,arp_announce,rp_filter} | tr "\n" " ")$(ip -o -4 addr show dev $p | grep -o "inet [^ ]*")"
done' - "$h"
	done
}

# halts NAME: in the middle of its next change this host stops, and says so on its disk.
halts() {
	# shellcheck disable=SC2016 # for the program
	printf '#!/bin/bash\n[[ $1 != apply ]] || { : >/var/lib/halted; sleep infinity; }\nexec /usr/sbin/netplan "$@"\n' >"/mnt/$1/u/usr/local/sbin/netplan"
	chmod +x "/mnt/$1/u/usr/local/sbin/netplan"
}

# cut_halted NAME: once it has, its power is cut, and comes back.
cut_halted() {
	until [[ -e /mnt/$1/u/var/lib/halted ]]; do sleep 0.2; done
	power_cut "$1"
	rm "/mnt/$1/u/usr/local/sbin/netplan"
	start "$1"
}

# crossed NAME...: what the next of them answers to each, by each rail, to packets of 9000 bytes that are not to be cut in pieces.
crossed() {
	local from=$1 to port address
	for to in "${@:2}" "$1"; do
		for port in r0 r1; do
			address=$(at "$to" ip -o -4 addr show dev "$port" | grep -o '10[.0-9]*' | head -n 1)
			at "$from" ping -q -M "do" -I "$port" -s 8972 -c 1 -W 10 "$address" >/dev/null && echo "$from $port $to"
		done
		from=$to
	done
}
