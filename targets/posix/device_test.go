package posix

import (
	"testing"

	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

// part is a system with one setting, in a file, and a store that outlives a
// reboot. Files tell it to fail (fail-change) or to wait (gate).
const part = `part_programs="sort"
part_check() { [[ ! -e $root/fail-check ]] || { echo "nothing was changed; the system says no" >&2; false; }; }
part_keep() { cp "$root/setting" "$1/setting" && cp "$root/saved" "$1/saved" && : >"$root/forgotten-$id"; }
part_forget() { rm -f "$root/forgotten-$1"; }
part_change() {
	echo "changing"
	echo half >"$root/setting"
	[[ ! -e $root/gate ]] || { echo waits >"$root/waits"; while [[ -e $root/gate ]]; do sleep 0.01; done; }
	[[ ! -e $root/fail-change ]] || { printf '%s\n' 'the "setting" \ is refused'; return 1; }
	echo new >"$root/setting"
}
part_confirm() { [[ ! -e $root/fail-confirm ]] && cp "$root/setting" "$root/saved"; }
part_revert() {
	[[ ! -e $root/revert-gate ]] || { echo waits >"$root/waits"; while [[ -e $root/revert-gate ]]; do sleep 0.01; done; }
	[[ ! -e $root/fail-revert ]] || { echo "no way back"; return 1; }
	cp "$1/setting" "$root/setting" && cp "$1/saved" "$root/saved"
}
`

// device is one with that system.
type device struct{ targettest.LiveDevice }

func newDevice(t testing.TB) device {
	t.Helper()
	for _, p := range []string{"bash", "flock", "setsid"} {
		oracle.Need(t, p)
	}
	d := device{targettest.NewLiveDevice(t, Program("root=$ROCEC_FAKE\n"+part).Bytes, nil, nil)}
	d.Write("setting", "old\n")
	d.Write("saved", "old\n")
	return d
}

func (d device) must(err error) {
	d.T.Helper()
	if err != nil {
		d.T.Fatal(err)
	}
}
