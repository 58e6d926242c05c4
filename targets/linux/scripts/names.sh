# named DIR PORT prints the name that a port had before the change whose runtime settings are in DIR.
named() {
	local port old
	[[ ! -r $1/names ]] || while read -r port old; do
		[[ $port != "$2" ]] || { echo "$old"; return; }
	done <"$1/names"
	echo "$2"
}
