# What rocec-live.sh does on Cumulus Linux [NVUE CLI and Config Commands of the user guides 5.9 to 5.15; napalm's cumulus driver for
# --confirm-yes, --confirm-no and the state "confirm"]: nv config apply --confirm, and the applied revision to go back to.
# Nothing says what NVUE does when the switch reboots while it waits for the confirmation: whether what waits is in startup.yaml already,
# and whether it goes on waiting. So the systemd timer is the one that goes back, at any time, to the revision, and puts
# startup.yaml in order; NVUE waits a minute longer, for the case that the timer is broken.
# shellcheck disable=SC2034 # read below
part_programs="cmp nv"
startup=/etc/nvue.d/startup.yaml

# revisions STATE prints those whose state begins so, the newest first.
revisions() {
	local rev what rest list=''
	while read -r rev what rest; do
		if [[ $rev =~ ^[0-9]+$ && $what == "$1"* ]]; then list="$rev $list"; fi
	done <<<"$(nv config revision)"
	echo "$list"
}

# same A B: whether two revisions are the same.
same() {
	local diff
	diff=$(nv config diff "$1" "$2") && [[ -z $diff ]]
}

part_check() {
	local rev
	if [[ ! -e apply.sh ]]; then
		echo "nothing is to be done here: it was changed, or what is applied was saved, since the plan was made; plan again"
		return 1
	fi
	if [[ -n $(nv config diff 2>/dev/null) ]]; then
		echo "there are pending changes: nv config diff shows them, nv config detach puts them aside"
		return 1
	fi
	rev=$(revisions confirm)
	if [[ -n $rev ]]; then
		echo "revision ${rev%% *} waits for its confirmation: nv config apply --confirm-yes or --confirm-no ends that"
		return 1
	fi
	[[ -n $(applied) ]] || { echo "nv config revision does not show the revision that is applied" && return 1; }
}

# applied prints the number of the revision that is applied.
applied() {
	local rev
	for rev in $(revisions applied); do
		if same "$rev" applied; then
			echo "$rev"
			return
		fi
	done
}

part_keep() {
	local rev
	rev=$(applied)
	[[ -n $rev ]] && echo "$rev" >"$1/revision" || return
	if same applied startup; then echo yes >"$1/saved"; else echo no >"$1/saved"; fi
	cp -p "$startup" "$1/startup.yaml"
}

part_forget() { :; }

part_change() { ROCEC_CONFIRM=$((seconds + 60))s ./apply.sh; }

# Where auto-save is off, confirming does not save. Without a patch there is nothing to confirm: then the change is to save.
part_confirm() {
	[[ ! -e nvue.yaml || -e $1/confirmed ]] || { nv config apply --confirm-yes && echo yes >"$1/confirmed"; } || return
	nv config save
}

part_revert() {
	local rev try
	rev=$(cat "$1/revision") || return
	for ((try = 0; try < 60; try++)); do # after a reboot NVUE answers later than the timer may come
		! nv config revision >/dev/null 2>&1 || break
		sleep 5
	done
	if [[ ! -e $1/confirmed ]]; then nv config apply --confirm-no; fi # fails where nothing waits
	if [[ -n $(nv config diff 2>/dev/null) ]]; then nv config detach; fi
	same "$rev" applied || nv config apply "$rev" -y
	if ! same "$rev" applied; then
		echo "revision $rev is not applied: nv config apply $rev goes back"
		return 1
	fi
	rm -f "$1/confirmed"
	if [[ $(cat "$1/saved") == yes ]]; then
		same applied startup || nv config save
	elif ! cmp -s "$1/startup.yaml" "$startup"; then
		cp -p "$1/startup.yaml" "$startup.rocec-new" && sync "$startup.rocec-new" && mv -f "$startup.rocec-new" "$startup"
	fi
}
