# Puts the files of a host in place, keeps what was there before for
# rollback.sh, and applies them. A second run changes nothing.
#   install.sh --dry-run   show what would change
#   install.sh --keep      note the state of now, change nothing
# ROCEC_KEPT=DIR: keep what was there before in DIR, not in /var/lib/rocec/previous.

scratch=

right_host() {
	local name
	[[ -z $root ]] || return 0
	[[ $EUID == 0 ]] || die "needs root"
	for name in "$(hostname)" "$(hostname -s)"; do
		[[ $name != "$host" ]] || return 0
	done
	die "these files are for $host, this is $(hostname)"
}

needs() {
	local p missing=()
	[[ -z $root ]] || return 0
	for p in "${programs[@]}"; do
		command -v "$p" >/dev/null || missing+=("$p")
	done
	((${#missing[@]} == 0)) && return 0
	echo "$me: not installed: ${missing[*]}" >&2
	echo "  apt-get install --no-install-recommends ${packages[*]}" >&2
	[[ " ${missing[*]} " != *" mlnx_qos "* ]] || echo "  mlnx_qos comes with NVIDIA DOCA, or from github.com/Mellanox/mlnx-tools" >&2
	exit 1
}

# The files of /etc/netplan are read as one: the whole must be valid before a byte is replaced.
netplan_valid() {
	local f
	[[ -d $scratch/etc/netplan ]] || install -d "$scratch/etc/netplan"
	for f in "$root"/etc/netplan/*.yaml; do
		[[ ! -e $f || ${f##*/} == 60-rocec.yaml ]] || install -m 600 "$f" "$scratch/etc/netplan/"
	done
	install -m 600 "$here/netplan/60-rocec.yaml" "$scratch/etc/netplan/"
	netplan generate --root-dir "$scratch" || die "netplan refuses the files; nothing was changed"
	netplan_alone
}

# netplan_alone: two definitions of one adapter pass netplan, and the first by name takes it (systemd.link(5), systemd.network(5)):
# with one as MAAS and cloud-init write it for every adapter, a port would neither get its name nor anything else.
netplan_alone() {
	local port mac f
	while read -r port mac; do
		for f in "$scratch"/run/systemd/network/10-netplan-*.link "$scratch"/run/systemd/network/10-netplan-*.network; do
			[[ -e $f && ${f##*/} != "10-netplan-$port.link" && ${f##*/} != "10-netplan-$port.network" ]] || continue
			! takes "$f" "$mac" || {
				f=${f##*/10-netplan-}
				die "the adapter of $port, $mac, is ${f%.*} in another file of /etc/netplan: take it out there, and keep what wrote it from doing so again; nothing was changed"
			}
		done
	done < <(
		for port in "${ports[@]}"; do
			mac='' compare_only=''
			want "$port" && [[ -n $mac && -z $compare_only ]] && echo "$port $mac"
		done
	)
}

# takes FILE MAC: whether a .link or .network file is for the adapter with this address.
takes() {
	local line match=''
	while IFS= read -r line; do
		case ${line,,} in
		'[match]') match=yes ;;
		'['*) match='' ;;
		"permanentmacaddress=$2" | "macaddress=$2") [[ -z $match ]] || return 0 ;;
		esac
	done <"$1"
	return 1
}

# keep PATH: the file as it is now, or that there was none, before its first change of this run.
keep() {
	[[ ! -e $next/files$1 ]] || return 0
	! grep -qxF -- "$1" "$next/absent" || return 0
	if [[ -e $root$1 ]]; then
		# Whole or not at all, and on the disk before the file itself is touched.
		{ install -d "$next/files$(dirname "$1")" && cp -a -- "$root$1" "$next/part" && sync "$next/part" && mv -f -- "$next/part" "$next/files$1"; } ||
			die "cannot keep $1; it was not changed"
	else
		{ echo "$1" >>"$next/absent" && sync "$next/absent"; } || die "cannot note that there is no $1; it was not made"
	fi
}

# begin notes the state before the first change. What a run that was cut off
# noted is still that state.
begin() {
	local p d names='' devices=()
	[[ ! -e $next/absent ]] || return 0
	rm -rf -- "${next:?}"
	install -d -m 700 "$next" || die "cannot make $next"
	if [[ -z $root ]]; then
		for p in "${ports[@]}"; do
			d=$(device_of "$p")
			[[ $d == "$p" ]] || { names+="$p $d"$'\n' && devices+=("$d"); }
		done
		{ install -d -m 700 "$next/runtime" && printf %s "$names" >"$next/runtime/names"; } || die "cannot write to $next"
		bash "$kit/rocec-qos" --data "$here/host.sh" --open "$next/runtime" || die "cannot see the settings of now"
		bash "$kit/capture.sh" "$next/runtime" "${devices[@]}" >/dev/null || die "cannot keep the settings of now"
		network >"$next/network" || die "cannot write to $next"
		enabled_units >"$next/units"
		sysctls >"$next/sysctl"
	fi
	[[ ! -e $state/installed ]] || cp -- "$state/installed" "$next/installed" || die "cannot write to $next"
	: >"$next/absent" || die "cannot write to $next"
}

# network prints what rollback.sh brings back of the devices that this configuration names, as far as they are there:
# link DEVICE up|down MTU, addr DEVICE ADDRESS..., and rule with each line of ip rule show. A port that is to be renamed stands
# there by the name that it has.
network() {
	local d line
	for d in "${links[@]}"; do
		d=$(named "$next/runtime" "$d")
		[[ -r /sys/class/net/$d/flags && -r /sys/class/net/$d/mtu ]] || continue
		echo "link $d $(admin_of "$d") $(mtu_of "$d")"
		while IFS= read -r line; do echo "addr $d $line"; done < <(addresses_of "$d")
	done
	((${#rules[@]} == 0)) || { ip rule show && ip -6 rule show; } 2>/dev/null | while IFS= read -r line; do echo "rule $line"; done
	sync "$next"
}

# sysctls prints the values of now, as sysctl -p takes them, of what this configuration or the one before sets.
sysctls() {
	local key file name
	cat "$here/sysctl.d/60-rocec.conf" /etc/sysctl.d/60-rocec.conf 2>/dev/null | sed -n 's/^\(net[^ =]*\) *=.*/\1/p' | sort -u | while IFS= read -r key; do
		name=${key#net/ipv4/conf/} name=${name%/*}
		key=net/ipv4/conf/$(named "$next/runtime" "$name")/${key##*/}
		file=/proc/sys/$key
		[[ ! -r $file ]] || echo "$key = $(cat "$file")"
	done
}

# made_before prints the bonds and VLAN devices that the configuration before this one made.
made_before() {
	local p
	for p in "$next/files/etc/rocec/host.sh" "$root/etc/rocec/host.sh"; do
		[[ -r $p ]] || continue
		bash -c 'made=() && . "$1" && printf "%s\n" "${made[@]}"' - "$p"
		return
	done
}

# changed are the files that are put or removed, moved those of them that say something else than before: every file of a host
# has the digest of its intent in a comment.
changed=() moved=()
place() {
	local from=$1 to=$2 mode=$3
	cmp -s -- "$from" "$root$to" && [[ $(stat -c %a "$root$to") == "$mode" ]] && return
	cmp -s <(said "$from") <(said "$root$to") || moved+=("$to")
	if [[ -n $dry ]]; then
		diff -u -- "$root$to" "$from" 2>/dev/null || [[ -e $root$to ]] || echo "new: $to"
		changed+=("$to")
		return
	fi
	begin
	keep "$to"
	install -D -m "$mode" -- "$from" "$root$to.rocec-new"
	mv -f -- "$root$to.rocec-new" "$root$to" || die "cannot write $to"
	changed+=("$to")
	echo "installed $to"
}

# foreign PATH: whether somebody else's file lies where one of these belongs. What is called after rocec is not.
foreign() { [[ $1 != *rocec* && -e $root$1 ]] && ! grep -q '^# made by rocec' -- "$root$1"; }

# A file of an earlier configuration that this one no longer has. Of the list, lines that nobody understands remove nothing.
drop_stale() {
	local line path
	[[ -r $state/installed ]] || return 0
	while IFS= read -r line; do
		[[ $line != 'enabled '* ]] || continue
		path=$line # alone in lists of older versions
		[[ ! $line =~ ^[0-7]+\ [0-9a-f]{64}\ (/.*)$ ]] || path=${BASH_REMATCH[1]}
		is_place "$path" || {
			echo "$me: passed over a line of $state/installed that names no file of these: $line" >&2
			continue
		}
		[[ " ${places[*]} " != *" $path "* && -e $root$path ]] || continue
		if [[ -n $dry ]]; then
			echo "no longer needed: $path"
		else
			begin
			keep "$path"
			rm -f -- "$root$path"
			echo "removed $path"
		fi
		changed+=("$path") moved+=("$path")
	done <"$state/installed"
}

# note_installed lists what is installed now, for the next run, and for whoever asks later whether it still is: mode, SHA-256 and
# path of each file, and the units that start at boot.
note_installed() {
	local list=$state/installed to mode sum unit
	install -d "$state" || die "cannot make $state"
	{
		while IFS='|' read -r _ to mode; do
			sum=$(sha256sum <"$root$to") || die "cannot read $to"
			echo "$mode ${sum%% *} $to"
		done < <(belongs)
		[[ -n $root ]] || for unit in "${units[@]}"; do echo "enabled $unit"; done
	} >"$list.new" || die "cannot write to $state"
	! cmp -s -- "$list.new" "$list" || { rm -f -- "$list.new" && return; }
	{ sync "$list.new" && mv -f -- "$list.new" "$list"; } || die "cannot write $list"
}

# unmasked refuses ports whose unit somebody has masked: it cannot be enabled, and the settings would end with the next boot.
unmasked() {
	local p unit
	for p in "${ports[@]}"; do
		unit=$(unit_of "$p")
		[[ $(systemctl is-enabled "$unit" 2>/dev/null) != masked* ]] ||
			die "$unit is masked, so that $p would lose its settings at the next boot: systemctl unmask '$unit'; nothing was changed"
	done
}

has_moved() { [[ " ${moved[*]-} " == *" $1"* ]]; }

# by_hand prints the devices that are not as the files of netplan have them, in their MTU or their addresses.
by_hand() {
	local d a mtu
	for d in "${links[@]}"; do
		[[ -r /sys/class/net/$d/mtu ]] || continue
		mtu=
		if want "$d" && [[ -n $mtu && $(mtu_of "$d") != "$mtu" ]]; then
			echo "$d"
			continue
		fi
		for a in "${owns[@]}"; do
			if [[ ${a%%=*} == "$d" ]] && ! has "$(addresses_of "$d")" "${a#*=}"; then
				echo "$d"
				break
			fi
		done
	done
}

# settled SECONDS waits for networkd, which takes its time.
settled() {
	local i
	for ((i = 0; i < 5 * $1; i++)); do
		[[ -n $(by_hand) ]] || return 0
		sleep 0.2
	done
	return 1
}

# reconfigure sets anew what somebody has set by hand, where the files of networkd are as they were: netplan apply of 1.1 sees
# nothing to tell networkd then. networkd is told as netplan does it (networkctl_reconfigure in netplan_cli/cli/utils.py), and
# sets MTUBytes= and Address= of the .network files (netplan writes both there, src/networkd.c; link_configure_mtu of networkd).
reconfigure() {
	local d devices=()
	while IFS= read -r d; do devices+=("$d"); done < <(by_hand)
	((${#devices[@]} > 0)) || return 0
	# Only a change that is confirmed or undone goes back behind what a hand did: no other keeps what was there without files.
	[[ -z ${ROCEC_KEPT-} ]] || { : >"$next/reconfigured" && sync "$next/reconfigured"; } || die "cannot write to $next"
	networkctl reconfigure "${devices[@]}" || die "networkctl reconfigure failed: run rollback.sh"
	echo "configured ${devices[*]} anew"
	settled 10
}

# gone prints the bonds and VLAN devices that should be there and are not.
gone() {
	local d
	for d in "${made[@]}"; do [[ -e /sys/class/net/$d ]] || echo "$d"; done
}

# there SECONDS waits until none is gone.
there() {
	local i
	for ((i = 0; i < 5 * $1; i++)); do
		[[ -n $(gone) ]] || return 0
		sleep 0.2
	done
	return 1
}

# remake has devices made anew that somebody has removed by hand. Neither networkctl reconfigure nor reload makes one whose
# .netdev file is as networkd knows it (systemd issues 23022 and 34907); a start of networkd makes all that are missing (issues
# 9627 and 20278), and leaves what is there. netplan apply restarts it too where a reload fails (netplan_cli/cli/commands/apply.py).
remake() {
	local p devices
	[[ -n $(gone) ]] || return 0
	[[ -z $told ]] || ! there 5 || return 0
	for p in "${ports[@]}"; do
		[[ -e /sys/class/net/$p ]] || return 0 # what lies on it comes when it has its name
	done
	devices=$(gone | tr '\n' ' ')
	[[ -z ${ROCEC_KEPT-} ]] || { : >"$next/reconfigured" && sync "$next/reconfigured"; } || die "cannot write to $next"
	systemctl restart systemd-networkd.service || die "systemctl restart systemd-networkd.service failed: run rollback.sh"
	if there 10; then
		echo "made ${devices% } anew"
		settled 10
		return
	fi
	echo "$me: $(gone | tr '\n' ' ')was not made: journalctl -u systemd-networkd says why" >&2
	failed=yes
}

apply() {
	local p unit told=''
	if has_moved /etc/udev/ || has_moved /etc/systemd/network/; then udevadm control --reload; fi
	if has_moved /etc/modules-load.d/; then systemctl restart systemd-modules-load.service; fi
	# Nothing that makes networkd's files anew may come before it, neither netplan generate nor a daemon-reload, which runs
	# netplan's generator, and which systemctl enable and disable do too: netplan apply of 1.1 tells networkd of a change only
	# where it sees the files of /run/systemd/network change while it runs itself (filecmp.dircmp in
	# netplan_cli/cli/commands/apply.py at 1.1; 0.106, 1.0, 1.1.1 and newer tell it whenever there are any). Each of these takes a
	# device down only to rename it and tells networkd last, and networkd leaves DCB and pause alone, but a new MTU makes mlx5
	# size its buffers anew: what rocec-qos sets comes after all this, and it waits for the MTU.
	if has_moved /etc/netplan/; then
		netplan apply || die "netplan apply failed: run rollback.sh"
		told=yes
		settled 10 # a new MTU may train the link anew, and networkd sets addresses when there is a carrier
	fi
	remake
	reconfigure
	systemctl daemon-reload
	# Neither networkd nor netplan apply removes a device that no file makes any more.
	for p in "${dropped[@]}"; do
		[[ ! -e /sys/class/net/$p ]] || { ip link del dev "$p" && echo "removed device $p"; }
	done
	# Whether or not the file moved: somebody may have set something else. Devices that come later are set by udev.
	[[ ! -e /etc/sysctl.d/60-rocec.conf ]] || sysctl -q -e -p /etc/sysctl.d/60-rocec.conf
	while IFS= read -r unit; do
		[[ " ${units[*]} " == *" $unit "* ]] || systemctl disable --quiet --now "$unit"
	done < <(enabled_units)
	for p in "${!ports[@]}"; do
		[[ -e /sys/class/net/${ports[p]} ]] || echo "${ports[p]} does not exist yet; it takes its name at the next boot" >&2
		systemctl enable --quiet "${units[p]}" || failed=yes
	done
	# One rail after the other: a change of PFC takes the link down for about two seconds.
	for p in "${ports[@]}"; do
		[[ ! -e /sys/class/net/$p ]] || /usr/local/sbin/rocec-qos "$p" || failed=yes
	done
}

main() {
	local dry='' failed='' units=() places=() dropped=() p from to mode
	case ${1-} in
	--dry-run) dry=yes ;;
	--keep | '') ;;
	*) die "usage: install.sh [--dry-run | --keep]" ;;
	esac
	right_host
	if [[ ${1-} == --keep ]]; then
		begin
		return
	fi
	needs
	[[ -n $root ]] || unmasked
	scratch=$(mktemp -d) || exit 1
	trap 'rm -rf -- "$scratch"' EXIT
	netplan_valid
	for p in "${ports[@]}"; do units+=("$(unit_of "$p")"); done
	while IFS= read -r p; do
		[[ -z $p || " ${made[*]} " == *" $p "* ]] || dropped+=("$p")
	done < <(made_before)
	while IFS='|' read -r from to mode; do
		! foreign "$to" || die "$to is there and rocec did not make it: move what it says elsewhere and take it away; nothing was changed"
	done < <(belongs)
	while IFS='|' read -r from to mode; do
		places+=("$to")
		place "$from" "$to" "$mode"
	done < <(belongs)
	drop_stale
	if [[ -n $dry ]]; then
		((${#changed[@]} == 0)) && echo "nothing to change"
		return 0
	fi
	if ((${#changed[@]} > 0)); then
		if [[ -z ${ROCEC_KEPT-} ]]; then
			rm -rf -- "$previous"
			mv -- "$next" "$previous"
		fi
	fi
	note_installed
	[[ -n $root ]] || apply
	if ((${#changed[@]} == 0)); then echo "files: nothing to change"; fi
	[[ -z $failed ]] || die "not every setting took: see above, and rocec-qos --all --check"
}

main "$@"
