# Writes what this host shows of its settings into a folder that rocec reads.
# It changes nothing.
#   capture.sh DIR [DEVICE...]   devices besides those of the configuration

# save FILE COMMAND...: the output of a command; a file only if there was any.
save() {
	local file=$dir/$1
	shift
	install -d "$(dirname "$file")"
	"$@" >"$file" 2>/dev/null
	[[ -s $file ]] || rm -f -- "$file"
}

main() {
	local p dir=${1-}
	if [[ -z $dir ]]; then
		echo "usage: capture.sh DIR" >&2
		return 1
	fi
	install -d -m 700 "$dir" || return 1
	probe_host
	shift
	for p in "${ports[@]}" "$@"; do
		[[ ! -e /sys/class/net/$p ]] || probe_port "$p"
	done
	echo "captured into $dir"
}

main "$@"
