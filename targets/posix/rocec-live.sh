# Carries out one change of this device, from its beginning until it is confirmed or undone. A session starts the verbs and may
# break at any time: what is under way goes on, status tells what became of it, and without a confirmation the device goes back.
#   rocec-live.sh begin ID SECONDS HOST   in the folder of the device: keep what there is, schedule the revert
#   rocec-live.sh change ID               make the change; it ends when that does
#   rocec-live.sh status ID               one line of JSON
#   rocec-live.sh confirm ID [BOOT]       no revert any more, and the change lasts over a reboot; BOOT: that of the status before it was read back
#   rocec-live.sh revert ID               go back now, also after confirm
#   rocec-live.sh release ID              by hand, after a revert that did not go through: leave the device as it is, allow other changes
# exit: 0 done, 10 refused and nothing was done, 20 the change or its confirmation failed, 30 the revert failed, 1 anything else
#
# What it knows lies in $top/ID.state, where a reboot does not reach it, and is replaced whole. $top/.open names the change that is
# neither confirmed nor undone. Times are those of the kernel since it started: the clock of the day is not asked. What a loss of power
# cut off is undone as soon as the system is up again; what was changed by then has its whole time once more.

top=/var/lib/rocec/live
units=/etc/systemd/system
kept_changes=5
self=$(cd "$(dirname "$0")" && pwd)/${0##*/}

refuse() {
	echo "$*" >&2
	exit 10
}

# put FILE TEXT replaces a file whole, on the disk, and reads it again.
put() {
	if ! printf '%s\n' "$2" >"$1.new" || ! sync "$1.new" || ! mv -f "$1.new" "$1"; then
		rm -f "$1.new"
		return 1
	fi
	sync "${1%/*}" && [[ $(cat "$1") == "$2" ]]
} 2>/dev/null

uptime() {
	local up rest
	read -r up rest </proc/uptime
	echo "${up%%.*}"
}

# this_boot names this start of the system; every start has another one.
this_boot() { cat /proc/sys/kernel/random/boot_id; }

# load ID reads what is known of a change.
load() {
	local line value
	id=$1 state=$top/$1.state phase=none seconds=0 deadline=0 boot='' host='' here='' kit='' before='' pid='' message=''
	[[ -r $state/state ]] || return 0
	while IFS= read -r line; do
		value=${line#*=}
		case $line in
		phase=*) phase=$value ;;
		seconds=*) seconds=$value ;;
		deadline=*) deadline=$value ;;
		boot=*) boot=$value ;;
		host=*) host=$value ;;
		here=*) here=$value ;;
		kit=*) kit=$value ;;
		before=*) before=$value ;;
		pid=*) pid=$value ;;
		message=*) message=$value ;;
		esac
	done 2>/dev/null <"$state/state" # begun by another step and given up, it may just go
}

# save PHASE MESSAGE. When the disk is full, what was set aside at the beginning makes room.
save() {
	local text
	phase=$1
	message=$(printf '%s' "$2" | tr '\n\t' '  ' | tr -cd ' -~' | cut -c 1-400)
	text="phase=$phase
seconds=$seconds
deadline=$deadline
boot=$boot
host=$host
here=$here
kit=$kit
before=$before
pid=$pid
message=$message"
	put "$state/state" "$text" && return
	rm -f "$state/spare"
	put "$state/state" "$text"
}

# is_open: begun, and neither confirmed nor undone.
is_open() { [[ $phase != none && $phase != confirmed && $phase != reverted ]]; }

# cut_off: neither done nor undone when the system went down, and no step works on it since.
cut_off() {
	case $phase in begun | changing | failed | reverting) ;; *) return 1 ;; esac
	[[ $boot != "$(this_boot)" ]] && ! alive change.lock
}

# open_change prints the ID of the change that is open.
open_change() (
	other=$(cat "$top/.open" 2>/dev/null) # another step may take it away at any moment
	[[ -n $other ]] || return 0
	load "$other"
	! is_open || echo "$other"
)

# left prints the seconds until the device goes back by itself.
left() {
	local due=$deadline now
	case $phase in none | confirmed | reverted | stuck) due= ;; esac
	if [[ -z $due ]] || ! systemctl is-active --quiet "rocec-live-$id.timer"; then
		echo 0
		return
	fi
	now=$(uptime)
	if cut_off; then due=1; elif [[ $boot != "$(this_boot)" ]]; then due=$seconds; fi # the timer began anew with the system
	if ((due > now)); then echo $((due - now)); else echo 1; fi
}

# alive LOCK: whether a step that holds it, or a program that it started, still runs.
alive() { [[ -e $state/$1 ]] && ! flock -n "$state/$1" true; }

# last_line FILE prints the last line with something to say.
last_line() { grep -v '^[[:space:]]*$' "$1" 2>/dev/null | tail -n 1; }

status() {
	local open open_left since=''
	case $phase in confirmed | reverted) since=$(cat "$top/.last" 2>/dev/null) ;; esac
	[[ $since != "$id" && $since != "$before" ]] || since=
	open=$(open_change)
	open_left=$([[ -z $open ]] || { load "$open" && left; })
	if [[ $phase != reverting ]] && cut_off; then
		phase=reverting message="the system went down before the change ended, and undoes it now"
	elif [[ $phase == changing ]] && ! alive change.lock; then
		phase=failed message="the change was cut off in the middle"
	elif [[ $phase == reverting ]] && ! alive revert.lock; then
		message="the revert was cut off in the middle; revert goes on with it"
	fi
	message=${message//\\/\\\\}
	printf '{"id":"%s","phase":"%s","left_seconds":%d,"open":"%s","open_left_seconds":%d,"since":"%s","message":"%s","boot":"%s"}\n' "$id" "$phase" "$(left)" "$open" "${open_left:-0}" "$since" "${message//\"/\\\"}" "$(this_boot)"
}

# arm schedules the revert. The timer counts from its start, and from the start of the system after a reboot; a revert that was
# killed runs again a minute later. Beside it stands what undoes a change at boot that was cut off; nothing waits for that.
arm() {
	local name=rocec-live-$id
	put "$units/$name.service" "[Unit]
Description=rocec: undo change $id, which was not confirmed
After=network.target

[Service]
Type=oneshot
ExecStart=/bin/bash $state/rocec-live.sh scheduled $id
TimeoutStartSec=1800" || return
	put "$units/$name.timer" "[Unit]
Description=rocec: time in which change $id has to be confirmed

[Timer]
OnActiveSec=${seconds}s
OnUnitInactiveSec=60s
AccuracySec=1s

[Install]
WantedBy=timers.target" || return
	put "$units/$name-boot.service" "[Unit]
Description=rocec: undo change $id, if the system went down before it ended
After=network.target

[Service]
Type=simple
ExecStart=/bin/bash $state/rocec-live.sh booted $id

[Install]
WantedBy=multi-user.target" || return
	systemctl daemon-reload && systemctl enable --quiet "$name-boot.service" && systemctl enable --quiet --now "$name.timer" || return
	sync
	systemctl is-active --quiet "$name.timer" && systemctl is-enabled --quiet "$name.timer"
}

disarm() {
	local name=rocec-live-$id
	[[ -e $units/$name.timer || -e $units/$name.service || -e $units/$name-boot.service ]] || return 0
	systemctl disable --quiet --now "$name.timer"
	systemctl disable --quiet "$name-boot.service"
	rm -f "$units/$name.timer" "$units/$name.service" "$units/$name-boot.service"
	systemctl daemon-reload
	sync "$units"
}

# closed: the change is not open any more.
closed() {
	disarm
	[[ $(cat "$top/.open" 2>/dev/null) != "$id" ]] || rm -f "$top/.open"
}

# over takes away what a change that has ended needs no more.
over() {
	closed
	rm -f "$state/spare"
	prune
}

# prune forgets all but the last changes that ended.
prune() {
	local d list='' n=0
	[[ -e $top/.done ]] || : >"$top/.done"
	while IFS= read -r d; do
		[[ $d == "$id" ]] || { list+=$d$'\n' && n=$((n + 1)); }
	done <"$top/.done"
	list+=$id
	while ((n >= kept_changes)); do
		d=${list%%$'\n'*} list=${list#*$'\n'} n=$((n - 1))
		part_forget "$d" >/dev/null 2>&1
		rm -rf "${top:?}/$d.state" "${top:?}/$d"
	done
	put "$top/.done" "$list"
}

begin() {
	local p name other kib
	[[ $phase == none || $phase == begun ]] || refuse "change $id is $phase already; another change needs another ID"
	for p in cat cmp cp cut df flock grep head hostname mkdir mv rm setsid sync systemctl tail tr $part_programs; do
		command -v "$p" >/dev/null || refuse "$p is not installed"
	done
	[[ -d /run/systemd/system ]] || refuse "systemd does not run here, so that the revert cannot be scheduled"
	[[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || refuse "the time to confirm is $2, not a number of seconds"
	name=$(hostname)
	[[ $3 == "$name" || $3 == "${name%%.*}" ]] || refuse "these files are for $3, this is $name"
	other=$(open_change)
	if [[ -n $other && $other != "$id" ]]; then
		load "$other"
		[[ $phase != stuck ]] || refuse "change $other could not be undone here: a person has to look, then rocec-live.sh release $other"
		refuse "change $other is $phase here, it is undone by itself in $(left) s unless it is confirmed"
	fi
	for p in "$top" "$units"; do
		kib=$(df -Pk "$p" | tail -n 1 | tr -s ' ' | cut -d ' ' -f 4)
		((${kib:-0} >= 32768)) || refuse "no room on the disk: ${kib:-0} KiB are free for $p, 32768 are needed"
	done
	if [[ $phase == none ]]; then
		here=$PWD kit=${self%/*} host=$3 seconds=$2
		p=$(part_check 2>&1) || refuse "${p//$'\n'/; }"
		rm -rf "$state"
		if ! mkdir -p "$state/kept" || ! chmod 700 "$state/kept" || ! : >"$state/change.lock" || ! : >"$state/revert.lock" ||
			! cp "$self" "$state/rocec-live.sh" || ! head -c 65536 /dev/zero >"$state/spare"; then
			rm -rf "$state"
			refuse "cannot write to $state"
		fi
		before=$(cat "$top/.last" 2>/dev/null)
		if ! part_keep "$state/kept" >"$state/log" 2>&1; then
			p=$(last_line "$state/log")
			part_forget "$id" >/dev/null 2>&1
			rm -rf "$state"
			refuse "cannot keep what there is: $p"
		fi
		sync
	fi
	boot=$(this_boot) deadline=$(($(uptime) + seconds))
	if ! put "$top/.open" "$id" || ! save begun "begun" || ! arm; then
		disarm 2>/dev/null
		part_forget "$id" >/dev/null 2>&1
		rm -rf "$state" "$top/.open"
		refuse "the revert cannot be scheduled: no file could be written to $top and $units, or systemctl refused"
	fi
}

# start is the first step of a change: whether it may run, which nothing else may decide in between.
start() {
	case $phase in
	begun) ;;
	changed | confirmed) exit 0 ;;
	changing) save failed "the change was cut off in the middle" && exit 20 ;;
	failed) exit 20 ;;
	none) refuse "change $id was not begun" ;;
	*) refuse "change $id is $phase" ;;
	esac
	(($(left) > 0)) || refuse "the revert of change $id is not scheduled"
	pid=$2
	save changing "the change is under way" || refuse "cannot write to $state"
	exit 77
}

# ended CODE is its last step.
ended() {
	[[ $phase == changing ]] || return 0
	pid=
	if [[ $2 == 0 ]]; then save changed "changed"; else save failed "$(last_line "$state/log")"; fi
}

# run GROUP makes the change, in a session of its own, where the end of a login does not reach it.
run() {
	local code
	flock "$top/.lock" bash "$self" _start "$id" "$2"
	code=$?
	((code == 77)) || return $code
	cd "$here" && part_change "$state/kept" >"$state/log" 2>&1
	code=$?
	sync # what was written outlasts the power before the state says so
	flock "$top/.lock" bash "$self" _ended "$id" "$code"
	return 0
}

change() {
	local code why
	[[ $phase != none ]] || refuse "change $id was not begun"
	setsid -w bash "$self" _apart "$id" </dev/null >"$state/change.out" 2>&1
	code=$?
	why=$(last_line "$state/change.out")
	load "$id"
	case $phase in
	changed | confirmed) return 0 ;;
	begun) refuse "${why:-the change did not begin}" ;;
	changing) why="the change was cut off in the middle" ;;
	failed) why=$message ;;
	reverting | reverted | stuck)
		((code != 10)) || refuse "$why"
		why="the change was undone before it ended"
		;;
	esac
	echo "$why" >&2
	return 20
}

confirm() {
	case $phase in
	confirmed)
		over
		return 0
		;;
	# What was read back may not be what this start of the system has brought.
	changed) [[ ${2:-$boot} == "$(this_boot)" ]] || refuse "it was started again since it was read back: it has to be read again before it is confirmed" ;;
	begun) refuse "change $id is begun, and there is nothing to confirm" ;;
	changing)
		alive change.lock && refuse "change $id is under way"
		echo "the change was cut off in the middle" >&2
		return 20
		;;
	failed)
		echo "the change failed: $message" >&2
		return 20
		;;
	none) refuse "change $id was not begun" ;;
	*) refuse "change $id is $phase" ;;
	esac
	cd "$here" || refuse "$here is gone"
	if ! part_confirm "$state/kept" >>"$state/log" 2>&1; then
		echo "cannot be confirmed: $(last_line "$state/log")" >&2
		return 20
	fi
	sync
	# From here on it holds: what is left of it is taken away now, or by the timer.
	if ! put "$top/.last" "$id" || ! save confirmed "confirmed"; then
		echo "cannot be confirmed: cannot write to $state" >&2
		return 20
	fi
	over
}

# stop ends a change that is under way, with all that it started.
stop() {
	alive change.lock || return 0
	[[ -z $pid ]] || kill -TERM -- "-$pid" 2>/dev/null
	flock -w 20 "$state/change.lock" true && return
	[[ -z $pid ]] || kill -KILL -- "-$pid" 2>/dev/null
	flock -w 20 "$state/change.lock" true
}

# undo WHO goes back; WHO is scheduled, booted or revert.
undo() {
	local other was=$phase
	[[ $2 != booted ]] || cut_off || return 0
	case $phase in
	none)
		closed
		return 0
		;;
	reverted)
		over
		return 0
		;;
	confirmed)
		if [[ $2 == scheduled ]]; then
			over
			return 0
		fi
		other=$(cat "$top/.last" 2>/dev/null)
		[[ $other == "$id" ]] || refuse "change ${other:-of others} came after $id: undo that one first"
		other=$(open_change)
		[[ -z $other ]] || refuse "change $other is open here, and is undone by itself in $(load "$other" && left) s unless it is confirmed"
		put "$top/.open" "$id" || refuse "cannot write to $top"
		;;
	esac
	save reverting "the revert is under way"
	: >>"$state/log"
	if ! stop >>"$state/log" 2>&1; then
		save stuck "a program of the change does not end"
		disarm
		return 30
	fi
	pid=
	if [[ $was == begun ]] || { cd "$here" && part_revert "$state/kept" >>"$state/log" 2>&1; }; then
		sync
		# .last is this change only if it was confirmed.
		[[ $(cat "$top/.last" 2>/dev/null) != "$id" ]] || put "$top/.last" "$before"
		other=undone
		[[ $2 != booted ]] || other="the system went down before the change ended, and undid it when it was up again"
		save reverted "$other" || return 1
		over
		return 0
	fi
	if [[ $2 == booted ]]; then # the timer tries again, when more of the system is up
		boot=$(this_boot) deadline=$seconds
		save failed "the change was cut off in the middle, and could not be undone at boot: $(last_line "$state/log")"
		return 20
	fi
	save stuck "the revert failed: $(last_line "$state/log")"
	disarm
	return 30
}

revert() {
	local code
	[[ -d $state ]] || return 0 # never begun: the device is as it was
	setsid -w flock -w 1200 -E 75 "$top/.lock" flock "$state/revert.lock" bash "$self" _undo "$id" "$1" </dev/null >"$state/revert.out" 2>&1
	code=$?
	case $code in
	0) return 0 ;;
	10) refuse "$(last_line "$state/revert.out")" ;;
	75) refuse "another step works here for more than 20 minutes" ;;
	esac
	load "$id"
	echo "$message" >&2
	return $code
}

release() {
	[[ $phase == stuck ]] || refuse "change $id is $phase"
	closed
}

usage() {
	grep '^#   rocec-live.sh' "$self" | cut -c 5- >&2
	exit 1
}

# one STEP...: while no other step changes the state.
one() {
	local code
	setsid -w flock -w 60 -E 75 "$top/.lock" bash "$self" "$@"
	code=$?
	((code != 75)) || refuse "another step works here for more than a minute"
	return $code
}

main() {
	local verb=${1-}
	[[ ${2-} =~ ^[a-z0-9]{1,32}$ ]] || usage
	load "$2"
	case $verb in
	status)
		status
		return
		;;
	begin) [[ $# == 4 ]] || usage ;;
	change | confirm | revert | release | scheduled | booted | _*) ;;
	*) usage ;;
	esac
	if [[ $(id -u) != 0 ]]; then
		command -v sudo >/dev/null || refuse "$(id -un) is not root, and there is no sudo"
		sudo -n true 2>/dev/null || refuse "$(id -un) is not root, and sudo asks for a password"
		exec sudo -n bash "$self" "$@"
	fi
	umask 022
	case $verb in
	begin)
		mkdir -p "$top" || refuse "cannot make $top"
		one _begin "$2" "$3" "$4"
		;;
	change) change ;;
	confirm) one _confirm "$2" "${3-}" ;;
	revert) revert revert ;;
	scheduled | booted) revert "$verb" ;;
	release) one _release "$2" ;;
	_begin) begin "$2" "$3" "$4" ;;
	_apart) flock "$state/change.lock" bash "$self" _run "$id" $$ ;;
	_run) run "$2" "$3" ;;
	_start) start "$2" "$3" ;;
	_ended) ended "$2" "$3" ;;
	_confirm) confirm "$2" "${3-}" ;;
	_undo) undo "$2" "$3" ;;
	_release) release ;;
	esac
}

main "$@"
