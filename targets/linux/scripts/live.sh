# What rocec-live.sh does on a Linux host: install.sh and rollback.sh, which keep to a folder of this change what there was before.
# shellcheck disable=SC2034 # read below
part_programs="awk bash cmp diff install mktemp netplan systemd-escape udevadm"

# A dry run demands the host, the programs, and that netplan takes the files.
part_check() { bash "$kit/install.sh" --dry-run >/dev/null; }
part_keep() { ROCEC_KEPT=$1 bash "$kit/install.sh" --keep; }
part_forget() { :; }
part_change() { ROCEC_KEPT=$1 bash "$kit/install.sh"; }

# The boot units set again what is installed. A later rollback.sh by hand goes back to before this change as well.
part_confirm() {
	local last=/var/lib/rocec/previous
	[[ -d $1/files || -s $1/absent ]] || return 0
	rm -rf "$last.new" && cp -a "$1" "$last.new" && echo "$id" >"$last.new/change" && rm -rf "$last" && mv "$last.new" "$last"
}

part_revert() {
	local last=/var/lib/rocec/previous
	ROCEC_KEPT=$1 bash "$kit/rollback.sh" || return
	[[ $(cat "$last/change" 2>/dev/null) != "$id" ]] || rm -rf "$last"
}
