# What rocec-live.sh does on SONiC [sonic-net/sonic-utilities config/main.py and generic_config_updater/generic_updater.py, 202205 to
# 202605]: a checkpoint, the apply script without a config save, and config rollback. A reboot before the confirmation starts from the
# saved configuration, which is the old one; a warm reboot keeps the running one. The timer goes back after either.
# shellcheck disable=SC2034 # read below
part_programs="cmp config python3 sonic-cfggen sonic-db-cli"
saved=/etc/sonic/config_db.json

part_check() {
	if [[ ! -e apply.sh ]]; then
		if [[ -e apply-maintenance.sh || -e apply-breakout.sh ]]; then
			echo "what is to be done here needs a maintenance window: $(echo apply-*.sh)"
		else
			echo "nothing is to be done here: it was changed, or what runs was stored, since the plan was made; plan again"
		fi
		return 1
	fi
	sonic-cfggen -d --print-data >/dev/null || { echo "ConfigDB does not answer" && return 1; }
}

part_keep() {
	sonic-cfggen -d --print-data >"$1/running.json" || return
	[[ ! -e $saved ]] || cp "$saved" "$1/config_db.json" || return
	config checkpoint "rocec-$id"
}

part_forget() { config delete-checkpoint "rocec-$1"; }

part_change() { ROCEC_LIVE=$id ./apply.sh; }

part_confirm() { config save -y; }

# unload takes away what the config updater refuses to touch: what the apply script merged by config load, and what the buffer manager
# made of it [sonic-net/sonic-swss-common sonic-db-cli/sonic-db-cli.cpp: a command to the database].
unload() {
	local f files=() step
	for f in rocec-*.load.json; do
		[[ ! -e $f ]] || files+=("$f")
	done
	python3 "$kit/rocec-check.py" back "$1" <(sonic-cfggen -d --print-data) "${files[@]}" >"$2" || return
	while IFS=$'\x1f' read -r -a step; do
		sonic-db-cli CONFIG_DB "${step[@]}" >/dev/null || return
	done <"$2"
}

# The saved file first, so that whatever comes, the next reboot starts from what was there before.
part_revert() {
	local try
	if [[ ! -e $1/config_db.json ]]; then
		rm -f "$saved" || return
	elif ! cmp -s "$1/config_db.json" "$saved"; then
		cp -p "$1/config_db.json" "$saved.rocec-new" && sync "$saved.rocec-new" && mv -f "$saved.rocec-new" "$saved" || return
	fi
	for ((try = 0; try < 60; try++)); do # after a reboot the database comes later than the timer may
		! sonic-cfggen -d --print-data 2>/dev/null | grep -q DEVICE_METADATA || break
		sleep 5
	done
	# again after it: a watchdog starts with the priorities of that moment, and groups are made anew when ports open
	unload "$1/running.json" "$1/unload" && config rollback "rocec-$id" && unload "$1/running.json" "$1/unload" && return
	sonic-cfggen -d --print-data >"$1/now.json" && cmp -s "$1/now.json" "$1/running.json" && return
	echo "config rollback was refused: config reload -y $1/running.json goes back, but restarts the services, and traffic is lost"
	return 1
}
