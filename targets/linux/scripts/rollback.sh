# Brings back the files that install.sh replaced last, and the DCB, pause and
# RoCE settings that were in force before it.
# ROCEC_KEPT=DIR: what was there before lies in DIR, and stays there.

# The settings first: a change of them may need the tools and units of now.
main() {
	local path p unit failed=''
	[[ -n $root || $EUID == 0 ]] || die "needs root"
	[[ -d $previous ]] || die "nothing to roll back: $previous does not exist"
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
		systemctl daemon-reload
		udevadm control --reload
		netplan generate && netplan apply || failed=yes
		[[ ! -d $previous/runtime ]] || bash "$kit/rocec-qos" --data "$here/host.sh" --restore "$previous/runtime" || failed=yes
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
