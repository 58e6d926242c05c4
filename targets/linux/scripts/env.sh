# Prints the environment of applications of one class of RDMA: the file that install.sh put in place, and what only the
# running host knows, the names of its RDMA devices and their index of a GID.

dir=${ROCEC_ENV-/etc/rocec/env}

usage() {
	cat <<'USAGE'
usage: rocec-env [CLASS]       set -a; eval "$(rocec-env gpu)"        CLASS may be left out where there is one
                               rocec-env gpu | grep ^NCCL_ | grep -v GID_INDEX >/etc/nccl.conf
An index of a GID may be another after the next boot: no file is to hold it.
USAGE
}

# rdma_of NETDEV... prints DEVICE:PORT of the first that has one: a bond may stand under its own name or that of a member.
rdma_of() {
	local links object name
	for name; do
		links=$(rdma -j link show 2>/dev/null)
		links=${links//[[:space:]]/}
		while [[ $links =~ ^[^\{]*\{([^\}]*)\}(.*)$ ]]; do
			object=${BASH_REMATCH[1]} links=${BASH_REMATCH[2]}
			[[ $object == *"\"netdev\":\"$name\""* && $object =~ \"ifname\":\"([^\"]+)\" ]] || continue
			name=${BASH_REMATCH[1]}
			[[ $object =~ \"port\":([0-9]+) ]] && echo "$name:${BASH_REMATCH[1]}"
			return
		done
	done
	return 1
}

# gid_of DEVICE PORT NETDEV TYPE prints the first index of a GID of an address; those of fe80 are not. They follow the
# order in which addresses came, so that no file can hold them.
gid_of() {
	local base=/sys/class/infiniband/$1/ports/$2 i
	for ((i = 0; i < 256; i++)); do
		[[ -e $base/gids/$i ]] || return 1
		[[ $(cat "$base/gid_attrs/types/$i" 2>/dev/null) == "$4" && $(cat "$base/gid_attrs/ndevs/$i" 2>/dev/null) == "$3" ]] || continue
		[[ $(cat "$base/gids/$i") != fe80:* ]] || continue
		echo "$i"
		return
	done
	return 1
}

# told NAME prints a value of the file.
told() { sed -n "s/^$1=//p" "$file"; }

main() {
	local file=${1-} classes=("$dir"/*.env) entry names d i list=() index='' same=yes type='RoCE v2'
	if [[ $file == -* ]]; then
		usage
		[[ $file == --help ]]
		return
	fi
	if [[ -z $file ]]; then
		((${#classes[@]} == 1)) || { usage >&2; return 1; }
		file=${classes[0]}
	else
		file=$dir/$file.env
	fi
	[[ -r $file ]] || { echo "rocec-env: no file $file" >&2; return 1; }
	cat -- "$file"
	[[ $(told NCCL_IB_ROCE_VERSION_NUM) != 1 ]] || type='IB/RoCE v1'
	IFS=, read -ra names <<<"$(told ROCEC_PORTS)"
	for entry in "${names[@]}"; do
		# shellcheck disable=SC2086 # the words are names
		d=$(rdma_of ${entry//[=\/]/ }) || { echo "rocec-env: ${entry%%=*} has no RDMA device" >&2; continue; }
		list+=("$d")
		i=$(gid_of "${d%:*}" "${d#*:}" "${entry%%=*}" "$type") || i=none
		[[ -z $index || $index == "$i" ]] || same=''
		index=$i
	done
	((${#list[@]} > 0)) || return 1
	printf 'NCCL_IB_HCA==%s\nUCX_NET_DEVICES=%s\n' "$(IFS=,; echo "${list[*]}")" "$(IFS=,; echo "${list[*]}")"
	# Where the rails differ, NCCL 2.21 and newer finds the index of each by itself.
	[[ -z $same || $index == none ]] || printf 'NCCL_IB_GID_INDEX=%s\n' "$index"
}

main "$@"
