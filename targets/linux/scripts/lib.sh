# What the scripts of this folder share. They are started in the folder of a host, which holds its data.

root=${ROCEC_ROOT-} # a folder to install into, without touching the running system
# shellcheck disable=SC2034 # not every script uses it
state=$root/var/lib/rocec
# A change that is confirmed or undone by rocec-live.sh keeps what was there before in a folder of its own, which stays.
# shellcheck disable=SC2034
next=${ROCEC_KEPT-$state/next} previous=${ROCEC_KEPT-$state/previous}
# shellcheck disable=SC2034
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
here=$PWD
me=${0##*/}

die() {
	echo "$me: $*" >&2
	exit 1
}

# What the data of a host say.
# shellcheck disable=SC2034 # not every script uses it
host=''
# shellcheck disable=SC2034
ports=() programs=() packages=() parts=() files=() links=() made=() owns=() rules=()
[[ -r $here/host.sh ]] || die "no host.sh here: start it in the folder of the host"
# shellcheck source=/dev/null # the data of the host
. "$here/host.sh"

# enabled_units prints the units of ports that start at boot. systemctl list-unit-files prints the template only, as "indirect"
# (systemd 252): an instance has no file of its own, but the links that systemctl enable makes.
enabled_units() {
	local link
	for link in /etc/systemd/system/*.wants/rocec-qos@*.service; do
		[[ ! -L $link ]] || echo "${link##*/}"
	done
}
unit_of() { systemd-escape --template=rocec-qos@.service -- "$1"; }

# said FILE prints a file without the lines that are comments; nothing where there is none.
said() { sed '/^[[:space:]]*#/d' "$1" 2>/dev/null; }

# admin_of and mtu_of DEVICE: the flags of netdevice(7), of which 1 is IFF_UP, and the MTU (Documentation/ABI/testing/sysfs-class-net).
admin_of() { if (($(cat "/sys/class/net/$1/flags") & 1)); then echo up; else echo down; fi; }
mtu_of() { cat "/sys/class/net/$1/mtu"; }

# addresses_of DEVICE prints its static addresses, one on a line, as ip addr add takes them. What a lease or an advertisement
# gave and what the kernel makes itself is left out (print_addrinfo in ip/ipaddress.c of iproute2: local/length, peer, metric,
# brd, then scope and flags).
addresses_of() {
	local line
	while IFS= read -r line; do
		[[ $line =~ \ inet6?\ ([^\\]+)\ scope\ (global|site)([^\\]*) ]] || continue
		[[ ${BASH_REMATCH[3]} == *" dynamic"* || ${BASH_REMATCH[3]} == *" mngtmpaddr"* ]] || echo "${BASH_REMATCH[1]}"
	done < <(ip -o addr show dev "$1" 2>/dev/null)
}

# bare ADDRESS...: an address without what does not tell it from others.
bare() {
	local text=${1%% brd *}
	echo "${text%% metric *}"
}
# has LIST ADDRESS: whether a list of addresses has one.
has() {
	local line
	while IFS= read -r line; do
		[[ $(bare "$line") != "$2" ]] || return 0
	done <<<"$1"
	return 1
}

# device_of PORT prints the name that the adapter of a port has now: by the permanent MAC address that netplan takes it by
# (print_linkinfo in ip/ipaddress.c of iproute2), else by the PCI address of its .link file. What is no such adapter, or where
# several are, as with the representors of one, has the name of the port.
device_of() {
	local d have found=() pci='' mac='' compare_only=''
	if ! want "$1" || [[ -n $compare_only || -z $pci$mac ]]; then
		echo "$1"
		return
	fi
	for d in /sys/class/net/*/device; do
		d=${d%/device}
		if [[ -n $mac ]]; then
			have=$(ip -o -d link show dev "${d##*/}" 2>/dev/null)
			[[ ${have,,} =~ permaddr\ ([0-9a-f:]+) || ${have,,} =~ link/ether\ ([0-9a-f:]+) ]] || continue
			[[ ${BASH_REMATCH[1]} == "$mac" ]] || continue
		else
			have=$(readlink -f "$d/device")
			[[ ${have##*/} == "$pci" ]] || continue
		fi
		[[ ${d##*/} != "$1" ]] || { echo "$1"; return; }
		found+=("${d##*/}")
	done
	if ((${#found[@]} == 1)); then echo "${found[0]}"; else echo "$1"; fi
}
