# DCB through mlnx_qos of mlnx-tools, one concern for each call: a call is not atomic.

# mlnx_show prints the state of the device, or of a capture.
mlnx_show() {
	local text
	if [[ -n $captured ]]; then text=$(cat "$captured/$dev/mlnx_qos.txt"); else text=$(mlnx_qos -i "$dev" -a 2>/dev/null); fi
	[[ $text == *"PFC configuration:"* ]] || return
	echo "$text"
}

have_dcbx_mlnx() {
	local text
	text=$(mlnx_show) || return
	if [[ $text == *"DCBX mode: OS controlled"* ]]; then echo host; else echo firmware; fi
}
set_dcbx_mlnx() { if [[ $1 == host ]]; then mlnx_qos -i "$dev" -d os; else mlnx_qos -i "$dev" -d fw; fi; }

have_dscp_mlnx() {
	local text line map=() i d
	text=$(mlnx_show) || return
	[[ $text == *"Priority trust state: dscp"* ]] || { echo none; return; }
	for ((i = 0; i < 64; i++)); do map[i]=-; done
	while IFS= read -r line; do
		[[ $line =~ ^[[:space:]]+prio:([0-7])\ dscp:([0-9,]+) ]] || continue
		i=${BASH_REMATCH[1]}
		for d in ${BASH_REMATCH[2]//,/ }; do
			d=$((10#$d))
			if [[ ${map[d]} == - ]]; then map[d]=$i; else map[d]+=+$i; fi
		done
	done <<<"$text"
	echo "${map[*]}"
}
# --trust and --dscp2prio exclude each other in one call; trust comes first,
# and writes DSCP >> 3 for all 64.
set_dscp_mlnx() {
	local aim current now options=() i
	if [[ $1 == none ]]; then
		mlnx_qos -i "$dev" --trust pcp
		return
	fi
	[[ $(have_dscp_mlnx) != none ]] || mlnx_qos -i "$dev" --trust dscp
	read -ra aim <<<"$1"
	current=$(have_dscp_mlnx)
	read -ra now <<<"${current/none/}"
	for ((i = 0; i < 64; i++)); do
		[[ ${aim[i]} != "${now[i]-}" ]] || continue
		if [[ ${aim[i]} == - ]]; then options+=(--dscp2prio "del,$i,${now[i]}"); else options+=(--dscp2prio "set,$i,${aim[i]}"); fi
	done
	((${#options[@]} == 0)) || mlnx_qos -i "$dev" "${options[@]}"
}

# tsa / bandwidth / traffic class of each priority; a dash for the bandwidth
# of a class that is not ets.
have_ets_mlnx() {
	local text line tc='' kind=(- - - - - - - -) share=(- - - - - - - -) prio=(- - - - - - - -)
	text=$(mlnx_show) || return
	while IFS= read -r line; do
		if [[ $line =~ ^tc:\ ([0-7])\ .*tsa:\ ([a-z]+)(,\ bw:\ ([0-9]+)%)? ]]; then
			tc=${BASH_REMATCH[1]}
			kind[tc]=${BASH_REMATCH[2]}
			share[tc]=${BASH_REMATCH[4]:--}
		elif [[ -n $tc && $line =~ ^[[:space:]]+priority:\ +([0-7])$ ]]; then
			prio[BASH_REMATCH[1]]=$tc
		fi
	done <<<"$text"
	echo "${kind[*]} / ${share[*]} / ${prio[*]}"
}
set_ets_mlnx() {
	local t b p rest
	rest=${1#* / }
	t=${1%% / *} b=${rest%% / *} p=${rest#* / }
	b=${b//-/0}
	mlnx_qos -i "$dev" -p "${p// /,}" -s "${t// /,}" -t "${b// /,}"
}

# Gbit/s of each traffic class, 0 is unlimited.
have_rate_mlnx() {
	local text line limit=(- - - - - - - -)
	text=$(mlnx_show) || return
	while IFS= read -r line; do
		if [[ $line =~ ^tc:\ ([0-7])\ ratelimit:\ unlimited ]]; then
			limit[BASH_REMATCH[1]]=0
		elif [[ $line =~ ^tc:\ ([0-7])\ ratelimit:\ ([0-9]+)\.0\ Gbps ]]; then
			limit[BASH_REMATCH[1]]=${BASH_REMATCH[2]}
		fi
	done <<<"$text"
	echo "${limit[*]}"
}
set_rate_mlnx() { mlnx_qos -i "$dev" -r "${1// /,}"; }

have_pfc_mlnx() {
	[[ $(mlnx_show) =~ $'\n'[[:space:]]+enabled[[:space:]]+([01\ ]+) ]] || return
	local bits
	read -ra bits <<<"${BASH_REMATCH[1]}"
	echo "${bits[*]}"
}
set_pfc_mlnx() { mlnx_qos -i "$dev" --pfc "${1// /,}"; }

have_cable_mlnx() { [[ $(mlnx_show) =~ Cable\ len:\ ([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }
set_cable_mlnx() { mlnx_qos -i "$dev" --cable_len "$1"; }

