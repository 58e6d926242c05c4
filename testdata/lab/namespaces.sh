#!/bin/bash
# Runs one script as root in namespaces of its own (processes, mounts, network, name), on the kernel of this machine: its root is
# read-only there, /mnt, /tmp and /run are empty and in memory, and the network has lo alone. What the script starts or makes, in
# further namespaces too, ends with it, or when its time is over whatever becomes of who started it.
#   namespaces.sh FOLDER    run FOLDER/script in a copy of FOLDER, /mnt/site; exits as it does, 137 when it took too long
#   namespaces.sh --check   say what stands in the way here, if anything does; exit 0 if nothing does
# Environment: ROCEC_NAMESPACES_SECONDS limit of one run (300).
# The script finds the namespace of its network as "lab" of ip netns, and in $CGROUPS a folder of cgroup2 for groups.
set -euo pipefail

# What the first process of the namespaces does before it becomes the script.
# shellcheck disable=SC2016 # for the shell that it is
first='
set -e
mount -t proc lab /proc
mount -t sysfs lab /sys
mkdir -p /run/netns
ip netns attach lab $$
ip link set lo up
cd /mnt/site
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/mnt/site LC_ALL=C CGROUPS="$1" bash ./script </dev/null 2>&1
'

# What a script may count on: layers, veth ports and a bridge between them.
# shellcheck disable=SC2016 # likewise
try='
mkdir -p /mnt/try/{u,w,root}
mount -t overlay -o lowerdir=/,upperdir=/mnt/try/u,workdir=/mnt/try/w try /mnt/try/root
ip link add try0 type bridge
ip link add try1 type veth peer name try2
ip link set try1 master try0
mkdir "$CGROUPS/try"
'

run() {
	local group rc=0
	mount -t tmpfs lab /mnt
	mkdir /mnt/{cgroup,site}
	if [[ $1 == --check ]]; then echo "set -e$try" >/mnt/site/script; else cp -r "$1/." /mnt/site; fi
	mount -t cgroup2 lab /mnt/cgroup
	# Below its own, so that what bounds this process bounds all of them.
	group=/mnt/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/rocec-lab.$$
	mkdir "$group"
	mount -t tmpfs lab /tmp
	mount -t tmpfs lab /run
	mount -o remount,bind,ro /
	timeout -s KILL "${ROCEC_NAMESPACES_SECONDS:-300}" unshare --fork --pid --kill-child --mount --net --uts --ipc bash -c "$first" - "$group" || rc=$?
	for _ in {1..100}; do # the kernel takes a moment to end them all
		! find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || break
		sleep 0.1
	done
	return "$rc"
}

case ${1-} in
--inside) run "$2" ;;
'') sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
*) exec unshare --mount bash "$0" --inside "$1" ;;
esac
