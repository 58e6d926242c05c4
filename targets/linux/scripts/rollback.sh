# Brings back the files that install.sh replaced last, and the DCB, pause and
# RoCE settings that were in force before it.
# ROCEC_KEPT=DIR: what was there before lies in DIR, and stays there.

# kept KIND NAME prints what install.sh noted of a device.
kept() {
	local kind name rest
	while read -r kind name rest; do
		[[ $kind != "$1" || $name != "$2" ]] || printf '%s\n' "$rest"
	done <"$previous/network"
}

# put_netplan: whether the change that is undone got as far as its netplan file, or had networkd set anew what the file says.
put_netplan() {
	[[ -e $previous/reconfigured || -e $previous/files/etc/netplan/60-rocec.yaml ]] || grep -qxF /etc/netplan/60-rocec.yaml "$previous/absent"
}

# back_netplan: whether the file of netplan comes back as one that says something else, as install.sh asks before netplan apply,
# which sets every device of every file anew; or names do, by which its files take devices.
back_netplan() {
	local f=/etc/netplan/60-rocec.yaml
	[[ ! -s $previous/runtime/names ]] || return 0
	if grep -qxF "$f" "$previous/absent"; then
		[[ -e $root$f ]]
	else
		[[ -e $previous/files$f ]] && ! cmp -s <(said "$previous/files$f") <(said "$root$f")
	fi
}

# unmake removes the bonds and VLAN devices that only the change made. networkd removes no device, and netplan apply only
# those of a state that it is told of (--state, netplan_cli/cli/commands/apply.py); ip-link(8).
unmake() {
	local d
	for d in "${made[@]}"; do
		[[ -e /sys/class/net/$d && -z $(kept link "$d") ]] || continue
		ip link del dev "$d" && echo "removed device $d"
		[[ ! -e /sys/class/net/$d ]] || failed=yes
	done
}

# restore_link DEVICE ADMIN MTU. networkd leaves what it set on a device that no file names any more, and takes away what
# others had set on one that a file names. What is as it was is not touched. ip-link(8), ip-address(8).
restore_link() {
	local d=$1 before now line address
	[[ $(mtu_of "$d") == "$3" ]] || { ip link set dev "$d" mtu "$3" && echo "$d: MTU $3"; }
	[[ $(admin_of "$d") == "$2" ]] || { ip link set dev "$d" "$2" && echo "$d: $2"; }
	before=$(kept addr "$d") now=$(addresses_of "$d")
	for line in "${owned[@]}"; do
		address=${line#*=}
		if [[ ${line%%=*} == "$d" ]] && ! has "$before" "$address" && has "$now" "$address"; then
			ip addr del "$address" dev "$d" && echo "$d: without $address"
		fi
	done
	while read -ra line; do
		address=$(bare "${line[*]}")
		[[ -n $address ]] || continue
		has "$now" "$address" || { ip addr add "${line[@]}" dev "$d" && echo "$d: $address"; }
	done <<<"$before"
	# networkd may do the same at the same time: what counts is how it is in the end.
	now=$(addresses_of "$d")
	for line in "${owned[@]}"; do
		[[ ${line%%=*} != "$d" ]] || has "$before" "${line#*=}" || ! has "$now" "${line#*=}" || wrong "$d" "${line#*=} is still there"
	done
	while IFS= read -r line; do
		[[ -z $line ]] || has "$now" "$(bare "$line")" || wrong "$d" "$(bare "$line") did not come back"
	done <<<"$before"
	[[ $(mtu_of "$d") == "$3" && $(admin_of "$d") == "$2" ]] || wrong "$d" "it is $(admin_of "$d") with MTU $(mtu_of "$d"), and was $2 with MTU $3"
}
wrong() {
	echo "$me: $1: $2" >&2
	failed=yes
}

# rename_back gives ports the names that they had before the change. A device has to be down for it, as netplan apply renames
# them too; since one may have the name that another had, each waits under a name of its own in between. ip-link(8),
# netplan_cli/cli/commands/apply.py. With again, what fails is tried again later.
rename_back() {
	local port old now from=() to=() waits=() i
	while read -r port old; do
		now=$(device_of "$port")
		[[ $now == "$old" || ! -e /sys/class/net/$now ]] || { from+=("$now") && to+=("$old") && waits+=("rocec-if$(cat "/sys/class/net/$now/ifindex")"); }
	done <"$previous/runtime/names"
	for i in "${!from[@]}"; do
		ip link set dev "${from[i]}" down
		[[ ${from[i]} == "${waits[i]}" ]] || ip link set dev "${from[i]}" name "${waits[i]}"
	done
	for i in "${!from[@]}"; do
		if ip link set dev "${waits[i]}" name "${to[i]}"; then
			echo "${from[i]} is ${to[i]} again"
		else
			[[ ${1-} == again ]] || wrong "${from[i]}" "it was ${to[i]} before, and cannot be renamed"
			[[ ! -e /sys/class/net/${waits[i]} ]] || ip link set dev "${waits[i]}" name "${from[i]}"
		fi
	done
}

# restore_rules removes the rules of the change that were not there before; ip-rule(8).
restore_rules() {
	local entry table address family
	for entry in "${rules[@]}"; do
		table=${entry%%=*} address=${entry#*=} family=-4
		[[ $address != *:* ]] || family=-6
		! has_rule "$(kept rule "$table:")" || continue
		has_rule "$(rules_now)" || continue
		ip "$family" rule del priority "$table" from "$address" table "$table" && echo "removed the rule for $address"
		! has_rule "$(rules_now)" || wrong "rule for $address" "it is still there"
	done
}
rules_now() { ip "$family" rule show | sed -n "s/^$table:[[:space:]]*//p"; }
has_rule() { [[ $'\n'$1 == *$'\n'"from $address lookup "* ]]; }

restore_network() {
	local d admin mtu owned=()
	for d in "${owns[@]}"; do owned+=("$(named "$previous/runtime" "${d%%=*}")=${d#*=}"); done
	for d in "${links[@]}"; do
		d=$(named "$previous/runtime" "$d")
		read -r admin mtu <<<"$(kept link "$d")"
		[[ -n $admin ]] || continue
		[[ -e /sys/class/net/$d ]] || { wrong "$d" "it was there before, and is not"; continue; }
		restore_link "$d" "$admin" "$mtu"
	done
	restore_rules
}

# The settings first: a change of them may need the tools and units of now.
main() {
	local path p unit failed='' anew=''
	[[ -n $root || $EUID == 0 ]] || die "needs root"
	[[ -d $previous ]] || die "nothing to roll back: $previous does not exist"
	if [[ -e $previous/netplan ]] || back_netplan; then
		anew=yes
		: >"$previous/netplan" && sync "$previous/netplan" # should this be cut off and run again, with the file back by then
	fi
	if [[ -z $root ]]; then
		for p in "${ports[@]}"; do
			systemctl disable --quiet --now "$(unit_of "$p")"
		done
		while IFS= read -r unit; do
			systemctl disable --quiet --now "$unit"
		done < <(enabled_units)
	fi
	while IFS= read -r path; do
		rm -f -- "$root$path"
		echo "removed $path"
	done <"$previous/absent"
	if [[ -d $previous/files ]]; then
		while IFS= read -r path; do
			{ install -d "$root$(dirname "$path")" && cp -a -- "$previous/files$path" "$root$path.rocec-new" && mv -f -- "$root$path.rocec-new" "$root$path"; } ||
				failed=yes
			echo "restored $path"
		done < <(cd "$previous/files" && find . -type f | cut -c2-)
	fi
	if [[ -z $root ]]; then
		udevadm control --reload
		# The names first, by which the files of before may take a device; a second time should a rule that was just taken away
		# still have been at work.
		[[ ! -s $previous/runtime/names ]] || rename_back again
		# Then netplan apply, where it has something to say: it tells networkd of files that went, and in 1.1 of any change, only if it makes it itself, and both
		# netplan generate and a daemon-reload, which runs its generator, would be before it (see install.sh).
		[[ -z $anew ]] || netplan apply || failed=yes
		systemctl daemon-reload
		[[ ! -s $previous/runtime/names ]] || rename_back
		[[ ! -e $previous/network ]] || ! put_netplan || unmake
		[[ ! -d $previous/runtime ]] || bash "$kit/rocec-qos" --data "$here/host.sh" --restore "$previous/runtime" || failed=yes
		[[ ! -e $previous/network ]] || ! put_netplan || restore_network
		[[ ! -s $previous/sysctl ]] || sysctl -q -e -p "$previous/sysctl" || failed=yes
		if [[ -e $previous/units ]]; then
			while IFS= read -r unit; do
				systemctl enable --quiet "$unit" || failed=yes
			done <"$previous/units"
		elif [[ -x /usr/local/sbin/rocec-qos ]]; then # kept by an older install.sh
			for p in "${ports[@]}"; do
				systemctl enable --quiet "$(unit_of "$p")"
			done
		fi
	fi
	[[ -z $failed ]] || die "not everything could be brought back: see above"
	if [[ -e $previous/installed ]]; then cp -- "$previous/installed" "$state/installed"; else rm -f -- "$state/installed"; fi
	[[ -n ${ROCEC_KEPT-} ]] || mv -- "$previous" "$state/rolled-back.$(date +%Y%m%dT%H%M%S)"
}

main "$@"
