# DCB through dcb of iproute2, one process for each command: batches of 6.1 break.

# dcb_show OBJECT prints its JSON, of the device or of a capture. Since iproute2 6.5 a blank stands behind the numbers of an entry of
# app, as a third element (dcb_app_print_filtered in dcb/dcb_app.c).
dcb_show() {
	local json
	if [[ -n $captured ]]; then json=$(cat "$captured/$dev/$1.json"); else json=$(dcb -j "$1" show dev "$dev" 2>/dev/null); fi
	[[ -n $json ]] || return
	json=${json//[[:space:]]/}
	echo "${json//,\"\"/}"
}

have_dcbx_dcb() {
	local json
	json=$(dcb_show dcbx) || return
	if [[ $json == *'"host":true'* ]]; then echo host; else echo firmware; fi
}
# dcb has no word for the firmware. dcbx.py lies beside this program in the kit, from which settings are brought back.
set_dcbx_dcb() { if [[ $1 == host ]]; then dcb dcbx set dev "$dev" host ieee; else python3 "$(dirname "${BASH_SOURCE[0]}")/dcbx.py" "$dev"; fi; }

# An empty table means that the port classifies by PCP. A DSCP with two
# entries shows both, so that it never equals a wanted map.
have_dscp_dcb() {
	local json map=() i
	json=$(dcb_show app) || return
	[[ $json =~ \"dscp_prio\":\[(\[[0-9,]+\](,\[[0-9,]+\])*)\] ]] || { echo none; return; }
	json=${BASH_REMATCH[1]}
	for ((i = 0; i < 64; i++)); do map[i]=-; done
	while [[ $json =~ ^,?\[([0-9]+),([0-9]+)\](.*)$ ]]; do
		i=${BASH_REMATCH[1]}
		if [[ ${map[i]} == - ]]; then map[i]=${BASH_REMATCH[2]}; else map[i]+=+${BASH_REMATCH[2]}; fi
		json=${BASH_REMATCH[3]}
	done
	echo "${map[*]}"
}
# replace is the verb that leaves one entry for each DSCP. mlx5 drops the old
# entry by itself, so that the command may report that it was gone.
set_dscp_dcb() {
	local aim current now entries=() i
	if [[ $1 == none ]]; then
		dcb app flush dev "$dev" dscp-prio
		return
	fi
	read -ra aim <<<"$1"
	current=$(have_dscp_dcb)
	read -ra now <<<"${current/none/}"
	for ((i = 0; i < 64; i++)); do
		[[ ${aim[i]} == - || ${aim[i]} == "${now[i]-}" ]] || entries+=("$i:${aim[i]}")
	done
	if ((${#entries[@]} > 0)); then
		dcb app replace dev "$dev" dscp-prio "${entries[@]}"
		# dcb of iproute2 before 6.2 leaves the answer to its read in the socket (their commit d0e02f35). When the second
		# turns before it writes, it says "Attribute write: Protocol error" of a write that took effect, and stops before
		# it removes the old entries.
		[[ $(have_dscp_dcb) != *+* ]] || dcb app replace dev "$dev" dscp-prio "${entries[@]}"
	fi
	for ((i = 0; i < 64; i++)); do
		[[ ${aim[i]} != - || ${now[i]--} == - ]] || dcb app del dev "$dev" dscp-prio "$i:${now[i]}"
	done
}

# tsa / bandwidth / traffic class of each priority. The bandwidth of a class
# that is not ets is a dash: mlx5 reports 100 for strict ones.
have_ets_dcb() {
	local json t b prio kind share i
	json=$(dcb_show ets) || return
	[[ $json =~ \"tc_tsa\":\[([a-z\",]*)\] ]] || return
	t=${BASH_REMATCH[1]//\"/}
	[[ $json =~ \"tc_bw\":\[([0-9,]*)\] ]] || return
	b=${BASH_REMATCH[1]}
	[[ $json =~ \"prio_tc\":\[([0-9,]*)\] ]] || return
	prio=${BASH_REMATCH[1]}
	IFS=, read -ra kind <<<"$t"
	IFS=, read -ra share <<<"$b"
	for ((i = 0; i < 8; i++)); do [[ ${kind[i]-} == ets ]] || share[i]=-; done
	echo "${kind[*]} / ${share[*]} / ${prio//,/ }"
}
# All three maps in one command: dcb adds up the shares of all eight classes.
set_ets_dcb() {
	local kind share prio rest i t=() b=() p=()
	rest=${1#* / }
	read -ra kind <<<"${1%% / *}"
	read -ra share <<<"${rest%% / *}"
	read -ra prio <<<"${rest#* / }"
	for ((i = 0; i < 8; i++)); do
		t+=("$i:${kind[i]}")
		[[ ${share[i]} == - ]] || b+=("$i:${share[i]}")
		p+=("$i:${prio[i]}")
	done
	dcb ets set dev "$dev" willing off tc-tsa "${t[@]}" tc-bw all:0 "${b[@]}" prio-tc "${p[@]}"
}

# dcb before 6.18 sets rates that are off by 125: they are never set with it.
have_rate_dcb() { return 1; }
set_rate_dcb() { return 1; }

have_pfc_dcb() {
	local json
	json=$(dcb_show pfc) || return
	[[ $json =~ \"prio_pfc\":\[([a-z,]*)\] ]] || return
	json=${BASH_REMATCH[1]//true/1}
	json=${json//false/0}
	echo "${json//,/ }"
}
set_pfc_dcb() {
	local bits on=() i
	read -ra bits <<<"$1"
	for ((i = 0; i < 8; i++)); do ((bits[i] == 0)) || on+=("$i:on"); done
	dcb pfc set dev "$dev" prio-pfc all:off "${on[@]}"
}

# On mlx5 delay is the length of the cable in metres.
have_cable_dcb() { [[ $(dcb_show pfc) =~ \"delay\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }
set_cable_dcb() { dcb pfc set dev "$dev" delay "$1"; }

