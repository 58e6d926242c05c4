# shellcheck shell=bash disable=SC2154 # set by guest.sh or many.sh
# Hosts in namespaces of their own (processes, mounts, name, cgroups, network or not): each is Debian's systemd, udev, D-Bus and
# OpenSSH, started by their own units, on a layer over the root of the machine, which outlives its processes. What is read before
# this says where they are, guest.sh or many.sh: rocec runs in $site, cgroup2 is $groups, $apart are namespaces besides, and $furnish
# is what init does for a host there.

# prepare NAME PORT PLACE: what is written once on the disk of a host, before it starts for the first time; known_hosts is to name it
# by PLACE. Nothing starts with it but what the change of a host needs.
prepare() {
	local etc=/mnt/$1/u/etc
	mkdir -p /mnt/"$1"/{u,w,root} "$etc"/{ssh/sshd_config.d,netplan,systemd/system/multi-user.target.wants} "/mnt/$1/u/usr/local/sbin"
	echo "$1" >"$etc/hostname"
	ssh-keygen -q -t ed25519 -N '' -f "$etc/ssh/lab_key"
	cp "$site/key.pub" "$etc/ssh/lab_keys"
	echo "$3 $(<"$etc/ssh/lab_key.pub")" >>"$site/known_hosts"
	cat >"$etc/ssh/sshd_config.d/lab.conf" <<-END
		Port $2
		HostKey /etc/ssh/lab_key
		AuthorizedKeysFile /etc/ssh/lab_keys
		PermitRootLogin prohibit-password
		UsePAM no
	END
	printf '[Unit]\nAfter=systemd-udevd.service\n[Service]\nType=oneshot\nExecStart=udevadm trigger --action=add --subsystem-match=net\n' >"$etc/systemd/system/lab-trigger.service"
	ln -s ../lab-trigger.service /lib/systemd/system/ssh.service "$etc/systemd/system/multi-user.target.wants/"
}

# init is the first process of a host until it becomes systemd. Bash reads .bashrc for each command of sshd, and that of the machine
# may do a lot.
# shellcheck disable=SC2016 # for the shell that it is
init='
name=$1 root=/mnt/$1/root
hostname "$name"
shopt -s extglob
mount -t overlay -o "lowerdir=/,upperdir=/mnt/$name/u,workdir=/mnt/$name/w" host "$root"
rm -f "$root/root/.bashrc"
for m in proc:proc sysfs:sys cgroup2:sys/fs/cgroup tmpfs:run; do mount -t "${m%%:*}" "$name" "$root/${m#*:}"; done
eval "$2"
cd "$root/lib/systemd/system" || exit 1
rm -f {sysinit,basic,timers,local-fs,multi-user,graphical}.target.wants/!(systemd-udevd.service|systemd-modules-load.service|systemd-sysctl.service) \
	sockets.target.wants/!(dbus.socket|systemd-udevd-*) "$root"/etc/systemd/system/{sysinit,sockets}.target.wants/*
rm -f "$root"/etc/systemd/system/{timers,multi-user}.target.wants/!(rocec-*|lab-*|ssh.service) ../system-generators/!(netplan)
exec chroot "$root" /usr/bin/env -i PATH="$PATH" LC_ALL=C container=rocec /lib/systemd/systemd --unit=multi-user.target --show-status=false --log-target=null
'

# start NAME
start() {
	local name=$1 space first=''
	mkdir -p "$groups/$name" /run/hosts
	(
		echo "$BASHPID" >"$groups/$name/cgroup.procs"
		exec setsid unshare --fork --pid --mount --uts --ipc --cgroup "${apart[@]}" bash -c "$init" - "$name" "$furnish"
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
	nsenter --target "$pid" --all --root --wd -- "$@"
}

# up NAME...: until these have started, and let somebody in.
up() {
	local n
	for n; do
		until [[ $(at "$n" cat /proc/1/comm) == systemd ]] && at "$n" systemctl is-active --quiet multi-user.target ssh.service; do sleep 0.5; done 2>/dev/null
	done
}

step() { echo "@ $1"; shift; "$@"; echo "exit $?"; }
rocec() { (cd "$site" && HOME=$site timeout 1800 ./rocec --color=never "$@"); }

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
