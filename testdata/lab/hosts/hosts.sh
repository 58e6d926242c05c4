# shellcheck shell=bash
# Hosts in the guest: each is Debian's systemd, udev, D-Bus and OpenSSH, started by their own units, in namespaces of its own
# (processes, mounts, name, cgroups), on a layer of the disk that outlives a loss of power. They share the network of the kernel, as
# the soft-RoCE of Linux 6.1 sends and receives there alone (init_net in drivers/infiniband/sw/rxe/rxe_net.c). Host a has the ports
# rd0 and rd1 of dcbstub, b has rd2, and a cable joins them.

site=/root/site

# prepare NAME PORT: what is written once on the disk of a host, before it starts for the first time. Nothing starts with
# it but what the change of a host needs.
prepare() {
	local etc=/mnt/$1/u/etc
	mkdir -p /mnt/"$1"/{u,w,root} "$etc"/{ssh/sshd_config.d,netplan,systemd/networkd.conf.d,systemd/system/multi-user.target.wants} "/mnt/$1/u/usr/local/sbin"
	echo "$1" >"$etc/hostname"
	ssh-keygen -q -t ed25519 -N '' -f "$site/$1"
	echo "[127.0.0.1]:$2 $(<"$site/$1.pub")" >>"$site/known_hosts"
	cat >"$etc/ssh/sshd_config.d/lab.conf" <<-END
		Port $2
		ListenAddress 127.0.0.1
		HostKey $site/$1
		AuthorizedKeysFile $site/key.pub
		PermitRootLogin prohibit-password
		UsePAM no
	END
	# networkd would take away what the other host of the same network made.
	printf '[Network]\nManageForeignRoutingPolicyRules=no\nManageForeignRoutes=no\n' >"$etc/systemd/networkd.conf.d/lab.conf"
	printf '[Unit]\nAfter=systemd-udevd.service\n[Service]\nType=oneshot\nExecStart=udevadm trigger --action=add --subsystem-match=net\n' >"$etc/systemd/system/lab-trigger.service"
	ln -s ../lab-trigger.service /lib/systemd/system/ssh.service "$etc/systemd/system/multi-user.target.wants/"
	# shellcheck disable=SC2016 # for the program
	printf '#!/bin/bash\n[[ "$1 $2" == "--json -a" ]] || exit 1\necho "[ { \\"ifname\\": \\"$3\\", \\"autonegotiate\\": false, \\"rx\\": false, \\"tx\\": false } ]"\n' >"/mnt/$1/u/usr/local/sbin/ethtool"
	chmod +x "/mnt/$1/u/usr/local/sbin/ethtool"
}

# init is the first process of a host until it becomes systemd.
# shellcheck disable=SC2016 # for the shell that it is
init='
name=$1 root=/mnt/$1/root
hostname "$name"
mount -t overlay -o "lowerdir=/,upperdir=/mnt/$name/u,workdir=/mnt/$name/w" host "$root"
for m in proc:proc sysfs:sys cgroup2:sys/fs/cgroup configfs:sys/kernel/config tmpfs:run; do mount -t "${m%%:*}" "$name" "$root/${m#*:}"; done
mount --bind /dev "$root/dev"
mkdir -p "$root/lib/modules" && mount --bind "$GUEST_MODS/lib/modules" "$root/lib/modules"
cd "$root/lib/systemd/system" || exit 1
shopt -s extglob
rm -f {sysinit,basic,timers,local-fs,multi-user,graphical}.target.wants/!(systemd-udevd.service|systemd-modules-load.service|systemd-sysctl.service) \
	sockets.target.wants/!(dbus.socket|systemd-udevd-*) "$root"/etc/systemd/system/{sysinit,sockets}.target.wants/*
rm -f "$root"/etc/systemd/system/{timers,multi-user}.target.wants/!(rocec-*|lab-*|ssh.service) ../system-generators/!(netplan)
exec chroot "$root" /usr/bin/env -i PATH="$PATH" LC_ALL=C container=rocec /lib/systemd/systemd --unit=multi-user.target --show-status=false --log-target=null
'

# start NAME
start() {
	local name=$1 space first=''
	mkdir -p "/sys/fs/cgroup/$name" /run/hosts
	(
		echo "$BASHPID" >"/sys/fs/cgroup/$name/cgroup.procs"
		exec setsid unshare --fork --pid --mount --uts --ipc --cgroup bash -c "$init" - "$name"
	) </dev/null >"/run/hosts/$name.log" 2>&1 &
	space=$!
	until [[ -n $first ]]; do
		read -r first <"/proc/$space/task/$space/children" # which has no newline, so that its exit code says nothing
		[[ -n $first ]] || sleep 0.2
	done 2>/dev/null
	echo "$first" >"/run/hosts/$name"
}

# at NAME COMMAND...: on that host.
at() {
	local pid
	pid=$(<"/run/hosts/$1")
	shift
	nsenter --target "$pid" --mount --uts --ipc --pid --cgroup --root --wd -- "$@"
}

# up NAME...: until these have started, and let somebody in.
up() {
	local n
	for n; do
		until [[ $(at "$n" cat /proc/1/comm) == systemd ]] && at "$n" systemctl is-active --quiet multi-user.target ssh.service; do sleep 1; done 2>/dev/null
	done
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

step() { echo "@ $1"; shift; "$@"; echo "exit $?"; }
rocec() { (cd "$site" && HOME=/root timeout 1800 ./rocec --color=never "$@"); }
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

# crossed has host b write into the memory of host a, by rdma_cm, and counts what leaves the port of b: with the TOS of the class,
# and any other.
crossed() {
	local roce=(u32 match ip protocol 17 0xff match ip dport 4791 0xffff) args=(ib_write_bw -R -F -n 20 -s 65536) server i
	by_cable
	tc qdisc add dev rd2 clsact
	tc filter add dev rd2 egress protocol ip prio 1 "${roce[@]}" match ip tos 0x6a 0xff action ok
	tc filter add dev rd2 egress protocol ip prio 2 "${roce[@]}" action ok
	at a timeout 600 "${args[@]}" -d rxe_rd0 >/dev/null 2>&1 &
	server=$!
	for ((i = 0; i < 60; i++)); do # until the server listens
		! at b timeout 300 "${args[@]}" -d rxe_rd2 10.100.0.11 || break
		sleep 1
	done
	wait "$server"
	tc -s filter show dev rd2 egress
}

# open_change NAME tells of the changes of a host, and of the timers that would undo them; of one that could not be undone, all that
# was said.
open_change() {
	# shellcheck disable=SC2016 # for the shell of the host
	at "$1" bash -c 'for d in /var/lib/rocec/live/*.state; do
	d=${d%.state}; bash "$d.state/rocec-live.sh" status "${d##*/}"
	! grep -qx phase=stuck "$d.state/state" || cat "$d.state"/{log,revert.out}
done
systemctl list-timers --all --no-legend "rocec-live-*"'
}

# hour_over NAME: the time in which the open change of a host could have been confirmed ends in a second, and with it the change.
hour_over() {
	at "$1" bash -c 'sed -i "s/^OnActiveSec=.*/OnActiveSec=1s/" /etc/systemd/system/rocec-live-*.timer && systemctl daemon-reload && systemctl restart rocec-live-*.timer'
	# shellcheck disable=SC2016 # for the shell of the host
	until at "$1" bash -c 'cd /var/lib/rocec/live && { [[ ! -e .open ]] || grep -qx phase=stuck "$(<.open).state/state"; }'; do sleep 1; done
}
